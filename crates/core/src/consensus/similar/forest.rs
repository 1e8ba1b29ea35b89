//! Groups that grow by joining two of them.

/// Which claims are joined already.
pub(super) struct Forest {
    parents: Vec<u32>,
    /// The members of each root; those that were joined to another have none.
    pub(super) members: Vec<Vec<u32>>,
}

impl Forest {
    /// Returns as many groups of one member each.
    pub(super) fn new(size: usize) -> Self {
        let all = 0..u32::try_from(size).unwrap_or(u32::MAX);
        Self {
            parents: all.clone().collect(),
            members: all.map(|index| vec![index]).collect(),
        }
    }

    /// Returns the root of the group that a member belongs to.
    pub(super) fn root(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let parent = self.parents[index as usize];
            self.parents[index as usize] = self.parents[parent as usize];
            index = parent;
        }
        index
    }

    /// Joins two roots: the larger one takes the members of the smaller one, and is returned.
    pub(super) fn join(&mut self, a: u32, b: u32) -> u32 {
        let larger = self.members[a as usize].len() >= self.members[b as usize].len();
        let (keep, gone) = if larger { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut self.members[gone as usize]);
        self.members[keep as usize].extend(moved);
        self.parents[gone as usize] = keep;
        keep
    }
}
