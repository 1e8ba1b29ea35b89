//! Hides who answered from those who judge: names of agents and models, and the paths of copies.

/// What stands where a name stood. It holds no letter, so that it can be no part of another name.
const HIDDEN: &str = "[…]";

/// What stands where the path of a contestant's copy of the project stood.
const PROJECT: &str = "/project";

/// Names of fewer characters are part of ordinary words and tell nothing.
const SHORTEST: usize = 2;

/// What judges must not learn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerMask {
    /// The longest first.
    names: Vec<Vec<char>>,
    /// Directories that hold one directory for each contestant.
    places: Vec<String>,
}

impl AnswerMask {
    /// Returns a mask for these names, and for what lies in the directories of these places.
    #[must_use]
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>, places: Vec<String>) -> Self {
        let names = names.into_iter().map(|name| name.trim().chars().collect());
        let mut names: Vec<Vec<char>> = names
            .filter(|name: &Vec<char>| name.len() >= SHORTEST)
            .filter(|name| name.iter().any(|c| c.is_alphanumeric()))
            .collect();
        names.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        names.dedup();
        let places = places.into_iter().filter(|place| place.len() > 1).collect();
        Self { names, places }
    }

    /// Returns `text` without what the mask hides.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for place in &self.places {
            text = without_place(&text, place);
        }
        let chars: Vec<char> = text.chars().collect();
        let mut shown = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(c) = chars.get(at) {
            // Diffs of new files name it, and it is nobody's name.
            if starts_with(&chars, at, "/dev/null") {
                shown.push_str("/dev/null");
                at += "/dev/null".len();
                continue;
            }
            match self.name_at(&chars, at) {
                Some(length) => {
                    shown.push_str(HIDDEN);
                    at += length;
                }
                None => {
                    shown.push(*c);
                    at += 1;
                }
            }
        }
        shown
    }

    /// Tells whether `text` holds one of the names as a word.
    #[must_use]
    pub fn names_in(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        (0..chars.len()).any(|at| self.name_at(&chars, at).is_some())
    }

    /// Returns the length of the name that begins at this place as a word of its own.
    fn name_at(&self, text: &[char], at: usize) -> Option<usize> {
        let is_word = |place: Option<usize>| {
            let found = place.and_then(|place| text.get(place));
            found.is_some_and(|c| c.is_alphanumeric())
        };
        let found = self.names.iter().find(|name| {
            let (Some(first), Some(last)) = (name.first(), name.last()) else {
                return false;
            };
            let (before, after) = (at.checked_sub(1), at + name.len());
            let begins = !first.is_alphanumeric() || !is_word(before);
            let ends = !last.is_alphanumeric() || !is_word(Some(after));
            begins && ends && is_same(text.get(at..after), name)
        });
        found.map(Vec::len)
    }
}

fn is_same(text: Option<&[char]>, name: &[char]) -> bool {
    let equal = |(one, other): (&char, &char)| one.to_lowercase().eq(other.to_lowercase());
    text.is_some_and(|text| text.iter().zip(name).all(equal))
}

fn starts_with(text: &[char], at: usize, word: &str) -> bool {
    let mut expected = word.chars().enumerate();
    expected.all(|(place, c)| text.get(at + place) == Some(&c))
}

/// Returns `text` with the directories inside of `place` called the project.
fn without_place(text: &str, place: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(place) {
        shown.push_str(before);
        shown.push_str(PROJECT);
        let inner = after.strip_prefix('/').map(|inner| {
            let end = inner.find(|c: char| !c.is_alphanumeric() && !"-_.".contains(c));
            &inner[end.unwrap_or(inner.len())..]
        });
        let inner = inner.unwrap_or(after);
        let tree = inner.strip_prefix("/tree");
        let goes_on = |tree: &&str| tree.starts_with(char::is_alphanumeric);
        rest = tree.filter(|tree| !goes_on(tree)).unwrap_or(inner);
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(names: &[&str]) -> AnswerMask {
        AnswerMask::new(names.iter().copied(), vec!["/state/trees/c-1".to_owned()])
    }

    #[test]
    fn names_and_paths_are_hidden_and_ordinary_words_are_not() {
        let mask = mask(&["claude", "claude-haiku-4", "dev", "o3", "x"]);
        for (text, shown) in [
            ("I am Claude.", "I am […]."),
            (
                "claude-haiku-4 wrote claude_notes.md",
                "[…] wrote […]_notes.md",
            ),
            ("claudette and x stay", "claudette and x stay"),
            ("--- /dev/null", "--- /dev/null"),
            ("o3 or gpt", "[…] or gpt"),
            (
                "File \"/state/trees/c-1/ab12/tree/a.py\", line 1",
                "File \"/project/a.py\", line 1",
            ),
            ("/state/trees/c-1/claude/tree", "/project"),
            ("/state/trees/c-1/ab.tests/x", "/project/x"),
            ("", ""),
        ] {
            assert_eq!(mask.hide(text), shown, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_name_of_an_agent_or_model_survives_in_any_text(
            names in proptest::collection::vec("[A-Za-z][A-Za-z0-9._-]{1,12}", 1..5),
            pieces in proptest::collection::vec(("[ a-z0-9_/:.\\-\n\"'(é]{0,8}", 0usize..8, any::<bool>()), 0..12),
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str)
                .filter(|name| !name.eq_ignore_ascii_case("dev") && !name.eq_ignore_ascii_case("null"))
                .collect();
            let mut text = String::new();
            for (piece, name, loud) in &pieces {
                text.push_str(piece);
                if let Some(name) = names.get(*name) {
                    text.push_str(&if *loud { name.to_uppercase() } else { (*name).to_owned() });
                }
                text.push_str("/state/trees/c-1/");
                text.push_str(names.first().copied().unwrap_or("ab12"));
                text.push_str("/tree/a.rs ");
            }
            let mask = mask(&names);
            let shown = mask.hide(&text);
            prop_assert!(!mask.names_in(&shown), "{shown}");
            prop_assert!(!shown.contains("/state/trees/c-1"), "{shown}");
            prop_assert_eq!(mask.hide(&shown), shown.clone());
        }

        #[test]
        fn a_text_without_names_stays_as_it_is(text in "[ -~é\n]{0,80}") {
            prop_assert_eq!(mask(&["no-such-agent", "nobody-4.5"]).hide(&text), text);
        }
    }
}
