//! Whether a built-in rule still finds what it found, wherever the coder put the code.
//!
//! A file that moved, vanished or became text is no fix. So the rule looks at all files of the
//! coder's work as if they lay where the finding was, and its matches there are counted before the
//! work and after it.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_code::nature::Nature;
use tribunal_code::rule::{Domain, Reviewer};
use tribunal_core::review::arbitration::{FindingState, Verification};
use tribunal_core::review::coverage::{FileStatus, Omission};
use tribunal_core::review::docket::{Docket, Item};
use tribunal_core::review::report::Voice;

use super::super::ground::Ground;
use super::super::{builtin, sit};
use super::Bench;
use super::verify::Said;
use crate::case::CaseError;
use crate::change::{Change, ChangedFile};

/// A cited line of fewer bytes may stand anywhere.
const SHORTEST_CODE: usize = 6;

/// The matches of a rule on the whole change, each by rule with file and by place.
type Hits = [(String, String)];

impl Bench<'_> {
    /// Runs the built-in rules again, on the change as it is now and on the coder's work.
    pub(super) async fn check_rules(
        &self,
        docket: &Docket,
        positions: &[usize],
        work: &Change,
        now: &Change,
    ) -> Result<Vec<Said>, CaseError> {
        let reviewer = sit::rule_reviewer(self.request, Domain::BUILTIN)?;
        let (owned, worked) = (now.clone(), work.clone());
        let markers = self.request.markers();
        let wanted = match self.wish.is_thorough {
            true => old_places(docket),
            false => BTreeSet::new(),
        };
        let check = move || {
            let checked = builtin::check(&owned, &reviewer, markers);
            (checked, Tallies::count(&reviewer, &worked, &wanted))
        };
        let (checked, tallies) = tokio::task::spawn_blocking(check)
            .await
            .map_err(|error| CaseError::Request(format!("a built-in reviewer failed: {error}")))?;
        let ground = Ground::new(now);
        let hits: Vec<(String, String)> = checked
            .findings
            .values()
            .flatten()
            .map(|finding| {
                let mut finding = finding.clone();
                ground.check(&mut finding);
                let identity = ground.identity(&finding);
                let print = tribunal_code::ground::place_name(&identity);
                (rule_and_file(&finding.id), print)
            })
            .collect();
        let unread: BTreeSet<&str> = checked
            .unread
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        let verdict = |index: &usize| {
            let item = &docket.items()[*index];
            let (fixed, reason) = if unread.contains(item.record.location.file.as_str()) {
                (None, "the file could not be read to its end".to_owned())
            } else if still_there(docket, positions, item, &hits) {
                let reason = "the rule that found it still matches";
                (Some(false), reason.to_owned())
            } else if let Some(elsewhere) = self
                .wish
                .is_thorough
                .then(|| tallies.elsewhere(docket, positions, item, &hits, work, now))
                .flatten()
            {
                elsewhere
            } else {
                let reason = "the rule that found it matches no more";
                (Some(true), reason.to_owned())
            };
            let by = own_voice(item).map_or(builtin::FAMILY, |voice| &voice.reviewer);
            let verification = Verification {
                round: docket.round(),
                by: by.to_owned(),
                fixed,
                reason,
            };
            (*index, verification)
        };
        Ok(positions.iter().map(verdict).collect())
    }
}

/// How often each rule matches in the files of the coder's work, seen from each old place.
#[derive(Default)]
struct Tallies {
    by_place: BTreeMap<String, Tally>,
}

/// The matches of the rules in each file of the work as if it lay at one old place.
#[derive(Default)]
struct Tally {
    /// By file and rule: matches before the work and after it.
    counts: BTreeMap<(String, String), (usize, usize)>,
    /// Files that no rule reads to the end.
    unread: Vec<String>,
    /// Files without a language of their own in which a rule matches all the same, by rule.
    disguised: BTreeSet<(String, String)>,
}

impl Tallies {
    fn count(reviewer: &Reviewer, work: &Change, places: &BTreeSet<String>) -> Self {
        let mut by_place = BTreeMap::new();
        for place in places {
            let mut tally = Tally::default();
            for file in touched(work) {
                tally.add(reviewer, place, file);
            }
            by_place.insert(place.clone(), tally);
        }
        Self { by_place }
    }

    /// Returns what speaks against a fix beside the place of the finding, if anything does.
    fn elsewhere(
        &self,
        docket: &Docket,
        claimed: &[usize],
        item: &Item,
        hits: &Hits,
        work: &Change,
        now: &Change,
    ) -> Option<(Option<bool>, String)> {
        let voice = own_voice(item)?;
        let (place, rule) = (&voice.location.file, &voice.rule);
        let tally = self.by_place.get(place)?;
        let of_rule = || tally.counts.iter().filter(|((_, one), _)| one == rule);
        let before: usize = of_rule().map(|(_, (before, _))| before).sum();
        let after: usize = of_rule().map(|(_, (_, after))| after).sum();
        let gone = gone_matches(docket, claimed, rule, hits, work);
        if after + gone > before {
            let mut grown = of_rule().filter(|(_, (before, after))| after > before);
            let reason = match grown.next() {
                Some(((file, _), _)) => {
                    format!("the rule that found it matches in `{file}` now")
                }
                None => "the rule that found it still matches as often".to_owned(),
            };
            return Some((Some(false), reason));
        }
        if let Some(file) = tally.unread.first() {
            let reason = format!("`{file}`, which the coder changed, could not be read to its end");
            return Some((None, reason));
        }
        let unchecked = |file: &str| {
            let reason = format!("its code is in `{file}` now, which no rule reads");
            Some((None, reason))
        };
        if let Some(file) = holder_of(&code_of(item), place, work, is_no_code) {
            return unchecked(file);
        }
        if exists(work, now, place) {
            return None;
        }
        let mut disguised = tally.disguised.iter().filter(|(_, one)| one == rule);
        if let Some((file, _)) = disguised.next() {
            return unchecked(file);
        }
        let mut unseen = work.left_out.iter().filter(|left| {
            !matches!(left.why, Omission::Deleted | Omission::Unchanged) && left.path != *place
        });
        if let Some(left) = unseen.next() {
            let reason = format!(
                "its file is gone, and nobody can read `{}`, which the coder wrote",
                left.path
            );
            return Some((None, reason));
        }
        let mut left_out = work.left_out.iter().chain(&now.left_out);
        let is_it = |path: &str| path == place;
        left_out
            .any(|left| is_it(&left.path) && left.why != Omission::Deleted)
            .then(|| (None, "nobody can read its file any more".to_owned()))
    }
}

impl Tally {
    fn add(&mut self, reviewer: &Reviewer, place: &str, file: &ChangedFile) {
        let is_gone = file.status == FileStatus::Deleted;
        let has_language = !is_no_code(file);
        let seen_at = match file.path.as_str() {
            path if path == place => place.to_owned(),
            path if has_language => with_ending_of(place, path),
            path => path.to_owned(),
        };
        let before = file.base_text.as_deref();
        let before = before.and_then(|text| builtin::rules_matching(reviewer, &seen_at, text).ok());
        for rule in before.unwrap_or_default() {
            self.entry(file, rule).0 += 1;
        }
        if is_gone {
            return;
        }
        match builtin::rules_matching(reviewer, &seen_at, &file.text) {
            Ok(rules) => {
                for rule in rules {
                    self.entry(file, rule).1 += 1;
                }
            }
            Err(_) => self.unread.push(file.path.clone()),
        }
        if !has_language && file.base_text.is_none() {
            let rules = builtin::rules_matching(reviewer, place, &file.text).unwrap_or_default();
            let named = rules.into_iter().map(|rule| (file.path.clone(), rule));
            self.disguised.extend(named);
        }
    }

    fn entry(&mut self, file: &ChangedFile, rule: String) -> &mut (usize, usize) {
        let key = (file.path.clone(), rule);
        self.counts.entry(key).or_default()
    }
}

/// Returns the files of the coder's work, also those that nobody reviews.
fn touched(work: &Change) -> impl Iterator<Item = &ChangedFile> {
    work.files.iter().chain(&work.searched)
}

/// Returns where rules found what is on the docket.
fn old_places(docket: &Docket) -> BTreeSet<String> {
    let voices = docket.items().iter().filter_map(own_voice);
    voices.map(|voice| voice.location.file.clone()).collect()
}

/// Returns how many matches of a rule must be gone from the files of the work: those that the review
/// found there, and that are called implemented or were fixed before.
fn gone_matches(
    docket: &Docket,
    claimed: &[usize],
    rule: &str,
    hits: &Hits,
    work: &Change,
) -> usize {
    let items = docket.items().iter().enumerate();
    let items = items.filter(|(index, item)| {
        let is_fixed = item.record.state == FindingState::Fixed;
        let is_claimed = claimed.contains(index) && !has_print(item, hits);
        item.record.raised_in == 0 && (is_fixed || is_claimed)
    });
    let voices = items.flat_map(|(_, item)| &item.finding.voices);
    let voices = voices.filter(|voice| voice.family == builtin::FAMILY && voice.rule == rule);
    let is_touched = |voice: &&Voice| touched(work).any(|file| file.path == voice.location.file);
    voices.filter(is_touched).count()
}

/// Returns the file in which the line that was found stands now, if its own file is gone.
pub(super) fn hidden_in<'a>(item: &Item, work: &'a Change, now: &Change) -> Option<&'a str> {
    let place = &item.finding.location.file;
    if exists(work, now, place) {
        return None;
    }
    holder_of(&code_of(item), place, work, |_| true)
}

/// Tells whether no rule about code reads a file.
fn is_no_code(file: &ChangedFile) -> bool {
    !matches!(Nature::of(&file.path, &file.text), Nature::Code(_))
}

/// Returns the file of this kind into which the coder wrote the line that was found.
fn holder_of<'a>(
    code: &str,
    place: &str,
    work: &'a Change,
    is_meant: fn(&ChangedFile) -> bool,
) -> Option<&'a str> {
    if code.len() < SHORTEST_CODE {
        return None;
    }
    let holds = |file: &&ChangedFile| {
        let lines = (1_u32..).zip(file.text.lines());
        let mut added = lines.filter(|(number, _)| file.diff.added().touches(*number, *number));
        file.status != FileStatus::Deleted
            && file.path != place
            && is_meant(file)
            && added.any(|(_, line)| compact(line) == code)
    };
    let file = touched(work).find(holds)?;
    Some(&file.path)
}

/// Tells whether a file that the coder may have removed is there and can be read.
fn exists(work: &Change, now: &Change, place: &str) -> bool {
    let is_it = |file: &&ChangedFile| file.path == place && file.status != FileStatus::Deleted;
    let untouched =
        work.file(place).is_none() && !work.left_out.iter().any(|one| one.path == place);
    touched(work).any(|file| is_it(&file)) || (untouched && touched(now).any(|file| is_it(&file)))
}

/// Returns the cited line as the frame of the finding shows it, without its spaces.
fn code_of(item: &Item) -> String {
    let mut frame = item.finding.frame.iter();
    let cited = frame.find(|line| line.marked);
    cited.map(|line| compact(&line.text)).unwrap_or_default()
}

fn compact(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns the path of `place` with the ending of another path.
fn with_ending_of(place: &str, path: &str) -> String {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let ending = name(path);
    let Some((_, ending)) = ending.rsplit_once('.') else {
        return place.to_owned();
    };
    let stem = match name(place).rsplit_once('.') {
        Some((_, old)) => place.strip_suffix(&format!(".{old}")).unwrap_or(place),
        None => place,
    };
    format!("{stem}.{ending}")
}

/// Tells whether a rule still finds what it found.
///
/// A line that was reworded has another identity. So the matches of the rule in the file are
/// counted, too: there must be as many fewer as were called implemented.
fn still_there(docket: &Docket, claimed: &[usize], item: &Item, hits: &Hits) -> bool {
    let Some(rule) = rule_of(item) else {
        return true;
    };
    if has_print(item, hits) {
        return true;
    }
    let of_rule = |item: &&Item| rule_of(item).as_ref() == Some(&rule);
    let others = docket
        .items()
        .iter()
        .enumerate()
        .filter(|(index, item)| !claimed.contains(index) && of_rule(item))
        .filter(|(_, item)| has_print(item, hits))
        .count();
    let present = claimed
        .iter()
        .map(|index| &docket.items()[*index])
        .filter(of_rule)
        .filter(|item| has_print(item, hits))
        .count();
    let matches = hits.iter().filter(|(of, _)| *of == rule).count();
    matches > others + present
}

/// Tells whether the rule that found an item matches at its very place.
fn has_print(item: &Item, hits: &Hits) -> bool {
    let (rule, place) = (rule_of(item), own_voice(item).map(|voice| &voice.place));
    hits.iter()
        .any(|(of, hit)| Some(of) == rule.as_ref() && Some(hit) == place)
}

/// Returns what the built-in reviewers say in a finding.
fn own_voice(item: &Item) -> Option<&Voice> {
    let mut voices = item.finding.voices.iter();
    voices.find(|voice| voice.family == builtin::FAMILY)
}

/// Returns which rule found an item, and in which file.
fn rule_of(item: &Item) -> Option<String> {
    own_voice(item).map(|voice| rule_and_file(&voice.id))
}

/// Cuts line and column off the name that a built-in reviewer gives to a finding.
fn rule_and_file(id: &str) -> String {
    id.rsplitn(3, ':').last().unwrap_or(id).to_owned()
}
