//! The team's rulings: findings that do not count, in a file that is committed with the code.
//!
//! Here is what an entry says, how the file is written, and which finding an entry is about. An entry
//! covers the claim that was shown to whoever ruled, at its place, and nothing else.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::consensus::{ClaimText, Verdict};
use crate::dispute::{Basis, Terms, last_day};
use crate::finding::Category;
use crate::review::report::{ReviewedFinding, Standing, Voice};
use crate::time::Timestamp;

/// Where the file lies, from the root of the repository.
pub const FILE: &str = ".tribunal/rulings.yml";

/// The only key of the file.
const KEY: &str = "rulings";

/// What a new file begins with.
const HEADER: &str = "# What this team decided about findings of `tribunal review`. An entry counts for a change once it\n\
                      # is in the base commit of that change. `tribunal dismiss --team` writes this file.\n\
                      rulings:\n";

/// What an entry decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamDecision {
    /// The finding does not count.
    Dismiss,
}

/// An entry of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamRuling {
    /// Short name of the finding, such as `f-3c19a27e`.
    pub finding: String,
    /// Its identity.
    pub fingerprint: String,
    /// Path from the root of the repository; empty when the finding has no file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The function around it, where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// All names around it, joined by dots, such as `Account.pay`. Entries that were written before
    /// have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// What tells that code apart from other code with these names, such as parameters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// The cited line without its spaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// What kind of problem it is.
    pub category: Category,
    /// The rule that was broken, where one was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// The finding in one line.
    pub title: String,
    /// How other reviewers put the same finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What each reviewer claimed when it was ruled on. Entries that were written before have none, and
    /// cover only the finding of the same identity under the same title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<RuledClaim>,
    /// What was decided.
    pub decision: TeamDecision,
    /// On what ground.
    #[serde(default)]
    pub basis: Basis,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: String,
    /// When, as a date.
    pub date: String,
    /// The last day on which it holds; it holds for good when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A claim that was shown to whoever ruled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuledClaim {
    /// The name of its place in the structure of the code, which tells equal lines apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The rule that was broken, where a rule or a linter claims it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// The title, and below it in paragraphs the description, the trigger and the suggestion.
    pub text: String,
}

impl RuledClaim {
    fn of(voice: &Voice) -> Self {
        let parts = [
            &voice.title,
            &voice.description,
            &voice.trigger,
            &voice.suggestion,
        ];
        let parts = parts.into_iter().map(|part| part.trim());
        let shown: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        Self {
            place: voice.place.clone(),
            rule: voice.rule.clone(),
            text: shown.join("\n\n"),
        }
    }

    /// Tells whether a voice of a finding claims this, and nothing that was not shown. Where a place has
    /// no name, the identity of the finding must be the same.
    fn covers(&self, voice: &Voice, has_same_identity: bool, place: &CitedPlace) -> bool {
        let is_there = match self.place.is_empty() || voice.place.is_empty() {
            true => has_same_identity,
            false => self.place == voice.place,
        };
        // The message of a rule may change with its version; the rule and the code stay.
        let is_known_by_rule = !self.rule.is_empty() && !place.code.is_empty();
        let is_said = || {
            let text = ClaimText::new(&voice.title, &voice.description);
            let text = text.with_details(&[&voice.trigger, &voice.suggestion]);
            text.is_as_shown(&ClaimText::of_shown_text(&self.text))
        };
        is_there && self.rule == voice.rule && (is_known_by_rule || is_said())
    }
}

/// The place that a finding cites, as far as entries tell places apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CitedPlace {
    /// The cited line without its spaces.
    pub code: String,
    /// The names of the code around it, joined by dots.
    pub scope: String,
    /// What tells that code apart from other code with these names.
    pub signature: String,
    /// Whether no other code of the file has these names.
    pub is_only: bool,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamRulings {
    /// The entries that make sense, in their order.
    pub rulings: Vec<TeamRuling>,
    /// What is wrong with the others, one phrase each.
    pub problems: Vec<String>,
}

impl TeamRulings {
    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// It is not a mapping with the one key `rulings` and a list; the text says what it is.
    pub fn read(document: &Value) -> Result<Self, String> {
        let entries = match document {
            Value::Null => return Ok(Self::default()),
            Value::Object(keys) => {
                if let Some(unknown) = keys.keys().find(|key| *key != KEY) {
                    return Err(format!("unknown key `{unknown}`; the only key is `{KEY}`"));
                }
                keys.get(KEY).unwrap_or(&Value::Null)
            }
            _ => return Err(format!("it is not a mapping with the key `{KEY}`")),
        };
        let entries = match entries {
            Value::Null => &[],
            Value::Array(entries) => entries.as_slice(),
            _ => return Err(format!("`{KEY}` is not a list")),
        };
        let mut read = Self::default();
        for (number, entry) in (1..).zip(entries) {
            match TeamRuling::read(entry) {
                Ok(ruling) => read.rulings.push(ruling),
                Err(problem) => read.problems.push(format!("entry {number}: {problem}")),
            }
        }
        Ok(read)
    }
}

impl TeamRuling {
    /// Returns the entry about `finding`, which cites `place`.
    #[must_use]
    pub fn of(
        finding: &ReviewedFinding,
        place: CitedPlace,
        reason: &str,
        terms: &Terms,
        now: Timestamp,
    ) -> Self {
        let titles: BTreeSet<&str> = finding
            .voices
            .iter()
            .map(|voice| voice.title.as_str())
            .filter(|title| plain(title) != plain(&finding.title))
            .collect();
        let mut claims: Vec<RuledClaim> = Vec::new();
        for claim in finding.voices.iter().map(RuledClaim::of) {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        Self {
            claims,
            finding: finding.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            file: finding.location.file.clone(),
            function: finding.location.function.clone().unwrap_or_default(),
            scope: place.scope,
            signature: place.signature,
            code: place.code,
            category: finding.category,
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            also: titles.into_iter().map(str::to_owned).collect(),
            decision: TeamDecision::Dismiss,
            basis: terms.basis,
            reason: reason.to_owned(),
            by: match terms.person.as_str() {
                "" => "human".to_owned(),
                name => name.to_owned(),
            },
            date: now.date(),
            expires: terms.expires.map(last_day),
        }
    }

    fn read(entry: &Value) -> Result<Self, String> {
        let ruling: Self =
            serde_json::from_value(entry.clone()).map_err(|error| error.to_string())?;
        let filled = [
            ("fingerprint", &ruling.fingerprint),
            ("title", &ruling.title),
            ("reason", &ruling.reason),
            ("by", &ruling.by),
        ];
        if let Some((key, _)) = filled.iter().find(|(_, text)| text.trim().is_empty()) {
            return Err(format!("`{key}` is empty"));
        }
        let dates = [Some(&ruling.date), ruling.expires.as_ref()];
        let is_wrong = |text: &&String| Timestamp::from_date(text).is_none();
        if let Some(text) = dates.into_iter().flatten().find(is_wrong) {
            return Err(format!("`{text}` is not a date such as `2026-12-31`"));
        }
        Ok(ruling)
    }

    /// Tells whether it does not hold any more.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        let Some(last) = &self.expires else {
            return false;
        };
        let over = Timestamp::from_date(last).map(|day| day.plus_days(1));
        over.is_none_or(|over| over <= now)
    }

    /// Returns it as part of a sentence: `dismissed by the team's rulings (by Ann on 2026-01-15): reason`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let until = match &self.expires {
            Some(last) => format!(" until {last}"),
            None => String::new(),
        };
        let (ruled, by, date) = (self.basis.phrase(), &self.by, &self.date);
        let reason = &self.reason;
        format!("{ruled}{until} by the team's rulings (by {by} on {date}): {reason}")
    }

    /// Tells whether it covers all that `finding` claims: what was shown, at the place that was shown.
    #[must_use]
    pub fn is_about(&self, finding: &ReviewedFinding, place: &CitedPlace) -> bool {
        self.category == finding.category
            && self.file == finding.location.file
            && self.is_in(place)
            && !finding.voices.is_empty()
            && self.covers_voices(finding, place)
    }

    /// Tells whether it is an entry about `finding`, whether or not it covers all that is claimed now.
    #[must_use]
    pub fn concerns(&self, finding: &ReviewedFinding, place: &CitedPlace) -> bool {
        self.has_identity_of(finding) || self.is_about(finding, place)
    }

    fn has_identity_of(&self, finding: &ReviewedFinding) -> bool {
        self.fingerprint == finding.fingerprint
    }

    /// Tells whether the code around is the same, and not an overload or a second definition. An entry
    /// that does not tell is about the only code of its name.
    fn is_in(&self, place: &CitedPlace) -> bool {
        match self.scope.is_empty() && self.claims.is_empty() {
            true => place.is_only,
            false => {
                self.scope == place.scope && (place.is_only || self.signature == place.signature)
            }
        }
    }

    /// Tells whether everybody who reports the finding claims what was ruled on, and nothing else.
    fn covers_voices(&self, finding: &ReviewedFinding, place: &CitedPlace) -> bool {
        let has_same_identity = self.has_identity_of(finding);
        if self.claims.is_empty() {
            return has_same_identity && self.has_titles_of(finding);
        }
        let is_covered = |voice: &Voice| {
            let is_overload = voice.scope == self.scope && voice.signature != self.signature;
            let mut claims = self.claims.iter();
            (place.is_only || !is_overload)
                && claims.any(|claim| claim.covers(voice, has_same_identity, place))
        };
        finding.voices.iter().all(is_covered)
    }

    /// Tells whether every title of the finding is in an entry that has no more than titles.
    fn has_titles_of(&self, finding: &ReviewedFinding) -> bool {
        let titles: Vec<String> = [&self.title]
            .into_iter()
            .chain(&self.also)
            .map(|one| plain(one))
            .collect();
        let is_covered = |voice: &Voice| {
            let by_rule = !self.rule.is_empty() && voice.rule == self.rule;
            by_rule || titles.contains(&plain(&voice.title))
        };
        finding.voices.iter().all(is_covered)
    }
}

/// Lets those findings not count that the team dismissed. `places` are what they cite.
///
/// What a ruling of the ledger upheld stays upheld.
pub fn dismiss(findings: &mut [ReviewedFinding], places: &[CitedPlace], rulings: &[TeamRuling]) {
    for ruling in rulings {
        let seen = || findings.iter().zip(places).enumerate();
        let mut about: Vec<usize> = seen()
            .filter(|(_, (finding, place))| {
                ruling.is_about(finding, place) && ruling.has_identity_of(finding)
            })
            .map(|(index, _)| index)
            .collect();
        if about.is_empty() {
            about = seen()
                .filter(|(_, (finding, place))| ruling.is_about(finding, place))
                .map(|(index, _)| index)
                .collect();
            // Of several that fit equally well nobody knows which was meant.
            if about.len() > 1 {
                continue;
            }
        }
        for index in about {
            let finding = &mut findings[index];
            let counts_anyway = finding.standing == Standing::Upheld;
            if counts_anyway || finding.verdict == Verdict::Rejected {
                continue;
            }
            finding.standing = Standing::Dismissed;
            (finding.counts, finding.escalate) = (false, false);
            finding.team_ruling = Some(Box::new(ruling.clone()));
        }
    }
}

/// Returns a file with these entries.
#[must_use]
pub fn render(rulings: &[TeamRuling]) -> String {
    let mut text = HEADER.to_owned();
    for ruling in rulings {
        write_entry(&mut text, ruling);
    }
    text
}

/// Returns the file `text` with one more entry at its end.
///
/// It is right for files in the form that [`render`] writes, whatever comments they hold; the caller
/// reads it again to be sure.
#[must_use]
pub fn with_entry(text: &str, ruling: &TeamRuling) -> String {
    let mut text = match text.trim().is_empty() {
        true => HEADER.to_owned(),
        false => format!("{}\n", text.trim_end()),
    };
    write_entry(&mut text, ruling);
    text
}

/// Returns the file `text` without the entry at `index`, under the same condition.
#[must_use]
pub fn without_entry(text: &str, index: usize) -> String {
    let mut kept = String::new();
    let mut entries = 0;
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("  - ") {
            inside = entries == index;
            entries += 1;
        } else if !line.starts_with("    ") {
            inside = false;
        }
        if !inside {
            kept.push_str(line);
        }
    }
    kept
}

fn write_entry(text: &mut String, ruling: &TeamRuling) {
    let Ok(Value::Object(keys)) = serde_json::to_value(ruling) else {
        return;
    };
    // In the order of the type, which JSON does not keep.
    let order = [
        "finding",
        "fingerprint",
        "file",
        "function",
        "scope",
        "signature",
        "code",
        "category",
        "rule",
        "title",
        "also",
        "claims",
        "decision",
        "basis",
        "reason",
        "by",
        "date",
        "expires",
    ];
    let present = order.iter().filter_map(|key| Some((key, keys.get(*key)?)));
    for (index, (key, value)) in present.enumerate() {
        let bullet = if index == 0 { "  - " } else { "    " };
        // A value in JSON is the same value in YAML.
        let _ = writeln!(text, "{bullet}{key}: {value}");
    }
}

/// Returns a title without what does not change its meaning.
fn plain(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_lowercase()
}
