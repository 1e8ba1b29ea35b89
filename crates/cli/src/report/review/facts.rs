//! What printers say in the same words: who, how sure, how it stands, what was left out.

use std::collections::BTreeMap;

use tribunal_core::consensus::{TraceLine, Verdict};
use tribunal_core::dispute::Basis;
use tribunal_core::review::coverage::{Coverage, LeftOut, Omission};
use tribunal_core::review::gate::{Gate, Obligation};
use tribunal_core::review::report::{
    ReviewReport, ReviewedFinding, ReviewerState, ReviewerSummary, Standing, SuppressedFinding,
    Voice,
};

use super::arbitrated;
use super::shown::{NAME, PROSE, one_line};
use crate::report::words;

/// The family of the built-in reviewers.
const BUILTIN_FAMILY: &str = "builtin";
/// How the families of linters begin.
const TOOL_FAMILY_PREFIX: &str = "tool:";

/// The findings of one verdict under their heading.
pub(super) struct List<'a> {
    pub(super) verdict: Verdict,
    pub(super) heading: &'static str,
    /// In their order; there is at least one.
    pub(super) findings: Vec<&'a ReviewedFinding>,
}

/// Returns the findings by verdict, what counts most first. A verdict that nothing has is left out.
pub(super) fn lists(report: &ReviewReport) -> impl Iterator<Item = List<'_>> {
    let headings = [
        (Verdict::Accepted, "Accepted"),
        (Verdict::Disputed, "Disputed"),
        (Verdict::Rejected, "Rejected"),
    ];
    let lists = headings.into_iter().map(move |(verdict, heading)| List {
        verdict,
        heading,
        findings: of(report, verdict).collect(),
    });
    lists.filter(|list| !list.findings.is_empty())
}

/// Returns the findings of one verdict, in their order.
pub(super) fn of(
    report: &ReviewReport,
    verdict: Verdict,
) -> impl Iterator<Item = &ReviewedFinding> {
    let wanted = move |finding: &&ReviewedFinding| finding.verdict == verdict;
    report.findings.iter().filter(wanted)
}

/// Tells whether `finding` is one of those behind a FAIL.
pub(super) fn fails(report: &ReviewReport, finding: &ReviewedFinding) -> bool {
    report.verdict_for_gate(finding) == Verdict::Accepted && report.binds(finding)
}

/// Tells whether `finding` keeps the gate from being decided.
pub(super) fn is_undecided(report: &ReviewReport, finding: &ReviewedFinding) -> bool {
    report.verdict_for_gate(finding) == Verdict::Disputed && report.binds(finding)
}

/// Returns the word of the gate. A PASS for which no model looked says so, because rules find some
/// defects and understand no design.
pub(super) fn verdict(report: &ReviewReport) -> String {
    match report.gate {
        Gate::Pass if is_by_rules_only(report) => format!("{} (rules only)", report.gate),
        _ => report.gate.to_string(),
    }
}

/// Tells whether files were reviewed, and by rules and linters alone.
pub(super) fn is_by_rules_only(report: &ReviewReport) -> bool {
    let is_rule = |one: &ReviewerSummary| {
        one.family == BUILTIN_FAMILY || one.family.starts_with(TOOL_FAMILY_PREFIX)
    };
    !report.coverage.reviewed.is_empty()
        && !report.reviewers.is_empty()
        && report.reviewers.iter().all(is_rule)
}

/// Returns a number with its noun: `1 file`, `2 files`.
pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Returns words as the beginning of a sentence.
pub(super) fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().collect::<String>() + chars.as_str(),
        None => String::new(),
    }
}

/// Returns the gate in one sentence without a full stop.
pub(super) fn gate(report: &ReviewReport) -> String {
    match &report.gate {
        Gate::Pass => {
            if let Some(why) = report.needed_nobody() {
                return one_line(&why, NAME);
            }
            let seen = count(report.coverage.reviewed.len(), "file");
            let condition = arbitrated::condition(report);
            let condition = condition.map_or_else(String::new, |words| format!(", {words}"));
            format!("{seen} reviewed, no blocking finding is open{condition}")
        }
        Gate::Fail { open } => words::open_findings(*open),
        Gate::Inconclusive { causes } => {
            let causes: Vec<String> = causes.iter().map(|cause| one_line(cause, NAME)).collect();
            causes.join("; ")
        }
    }
}

/// Returns how the causes of an inconclusive gate begin.
pub(super) fn inconclusive(report: &ReviewReport) -> &'static str {
    match report.findings.iter().any(|one| fails(report, one)) {
        true => "The review cannot be decided yet",
        false => "No blocking finding was accepted, but that is not enough to approve",
    }
}

/// Returns how many findings ended in which list, and how many files were seen.
pub(super) fn tally(report: &ReviewReport) -> String {
    let number = |verdict| of(report, verdict).count();
    let left_out = match report.coverage.left_out.len() {
        0 => String::new(),
        n => format!(", {n} left out"),
    };
    let urgent = report.findings.iter().filter(|one| one.escalate).count();
    let urgent = match urgent {
        0 => String::new(),
        1 => " (1 needs a human before merging)".to_owned(),
        n => format!(" ({n} need a human before merging)"),
    };
    format!(
        "{} accepted, {} disputed{urgent}, {} rejected; {} reviewed{left_out}",
        number(Verdict::Accepted),
        number(Verdict::Disputed),
        number(Verdict::Rejected),
        count(report.coverage.reviewed.len(), "file"),
    )
}

/// Returns the id of the rule that found it; empty when none did.
pub(crate) fn rule_of(finding: &ReviewedFinding) -> &str {
    let of_voices = finding.voices.iter().map(|voice| voice.rule.as_str());
    let mut all = std::iter::once(finding.rule.as_str()).chain(of_voices);
    all.find(|rule| !rule.is_empty()).unwrap_or_default()
}

/// Returns a reviewer with its family, its rule and what it stated: `ann (anthropic, high 85)`,
/// `builtin:security (builtin, rule python-eval, high 88)`.
pub(super) fn voice(voice: &Voice) -> String {
    let severity = voice.severity.map(|severity| severity.to_string());
    let confidence = voice.confidence.map(|confidence| confidence.to_string());
    let stated: Vec<String> = [severity, confidence].into_iter().flatten().collect();
    let family = one_line(&voice.family, NAME);
    let rule = match one_line(&voice.rule, NAME) {
        rule if rule.is_empty() => rule,
        rule => format!("rule {rule}"),
    };
    let parts = [family, rule, stated.join(" ")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => one_line(&voice.reviewer, NAME),
        parts => format!("{} ({})", one_line(&voice.reviewer, NAME), parts.join(", ")),
    }
}

/// Returns id, rule, who reports it, what became of it and what to do, in that order.
pub(super) fn in_brief(finding: &ReviewedFinding) -> String {
    let mut names: Vec<String> = Vec::new();
    for voice in &finding.voices {
        let name = one_line(&voice.reviewer, NAME);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let rule = match one_line(rule_of(finding), NAME) {
        rule if rule.is_empty() => rule,
        rule => format!(" ({rule})"),
    };
    let ruled = finding.precedents.first();
    let standing = match (finding.standing, ruled) {
        (Standing::New, _) => String::new(),
        (Standing::Open, _) => ", seen before".to_owned(),
        (_, Some(precedent)) => format!(", {}", one_line(&precedent.phrase(), PROSE)),
        (_, None) => format!(", {}", history(finding)),
    };
    let standing = match &finding.team_ruling {
        Some(team) => format!("{standing}; {}", one_line(&team.phrase(), PROSE)),
        None => standing,
    };
    let standing = match &finding.similar {
        Some(similar) => format!("{standing}, {}", one_line(&similar.phrase(), PROSE)),
        None => standing,
    };
    let id = one_line(&finding.id, NAME);
    let to_do = match (finding.verdict, finding.suggestion.is_empty()) {
        (Verdict::Disputed, _) => finding.reasons.join(" "),
        (_, false) => format!("Fix: {}", finding.suggestion),
        (_, true) if finding.description != finding.title => finding.description.clone(),
        (_, true) => String::new(),
    };
    let to_do = one_line(&to_do, PROSE);
    format!("{id} by {}{rule}{standing}. {to_do}", joined(&names))
        .trim_end()
        .to_owned()
}

/// Returns everybody who reported a finding.
pub(super) fn voices(finding: &ReviewedFinding) -> String {
    let mut said: Vec<String> = Vec::new();
    for words in finding.voices.iter().map(voice) {
        if !said.contains(&words) {
            said.push(words);
        }
    }
    joined(&said)
}

/// Returns names as part of a sentence: `ann, bob and eve`.
fn joined(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns why a citation does not fully hold, for each reviewer of whom that is known.
pub(super) fn doubts(finding: &ReviewedFinding) -> Vec<String> {
    let doubted = finding
        .voices
        .iter()
        .filter(|voice| !voice.doubts.is_empty());
    doubted
        .map(|voice| {
            let doubts: Vec<String> = voice.doubts.iter().map(|one| one_line(one, NAME)).collect();
            format!("{}: {}", one_line(&voice.reviewer, NAME), doubts.join("; "))
        })
        .collect()
}

/// Returns the lines of a calculation that move something, and the first.
pub(super) fn terms(trace: &[TraceLine]) -> impl Iterator<Item = (usize, &TraceLine)> {
    let moving = |(index, line): &(usize, &TraceLine)| *index == 0 || line.amount != 0;
    trace.iter().enumerate().filter(moving)
}

/// Returns a calculation as a sum: `85 highest original + 10 agreement = 95`.
pub(super) fn calculation(trace: &[TraceLine]) -> String {
    let mut text = String::new();
    let mut sum = 0_i32;
    for (index, line) in terms(trace) {
        sum = sum.saturating_add(line.amount);
        let words = one_line(line.step.words(), NAME);
        let sign = match (index, line.amount < 0) {
            (0, true) => "-",
            (0, false) => "",
            (_, true) => " - ",
            (_, false) => " + ",
        };
        text.push_str(&format!("{sign}{} {words}", line.amount.unsigned_abs()));
    }
    match terms(trace).count() {
        // One number needs no sum.
        0 | 1 => text,
        _ => text + &format!(" = {sum}"),
    }
}

/// Returns the severity of a finding with the reviewer's own word for it: `high`, `MUST (high)`.
pub(crate) fn labelled_severity(finding: &ReviewedFinding) -> String {
    finding.label.with_severity(finding.severity)
}

/// Returns what became of a finding before, in a few words.
pub(super) fn history(finding: &ReviewedFinding) -> &'static str {
    match finding.standing {
        Standing::New => "new",
        Standing::Open => "open since an earlier review",
        Standing::Answered => "answered by the coder",
        Standing::Contested => "under dispute",
        Standing::Upheld => "upheld by a ruling",
        Standing::Dismissed if is_accepted_risk(finding) => "risk accepted, so it does not count",
        Standing::Dismissed => "dismissed before, so it does not count",
        Standing::Fixed => "fixed",
        Standing::Regressed => "was fixed and is back",
    }
}

/// Returns how a finding stands: whether it is blocking, and what became of it before.
pub(super) fn standing(report: &ReviewReport, finding: &ReviewedFinding) -> String {
    if let Some(outcome) = arbitrated::outcome(report, finding) {
        return outcome;
    }
    let before = history(finding);
    let obligation = match finding.obligation {
        _ if fails(report, finding) => "blocking",
        _ if report.binds(finding) => "blocking unless it is settled",
        Obligation::Mandatory => "mandatory",
        Obligation::Optional => "optional",
    };
    let not_counted = match finding.standing {
        Standing::Dismissed => "",
        _ if finding.counts || finding.verdict == Verdict::Rejected => "",
        _ => ", does not count for the gate",
    };
    let ruled = match finding.precedents.first() {
        Some(precedent) => format!("; {}", one_line(&precedent.phrase(), PROSE)),
        None => String::new(),
    };
    let ruled = match &finding.team_ruling {
        Some(team) => format!("{ruled}; {}", one_line(&team.phrase(), PROSE)),
        None => ruled,
    };
    let similar = match &finding.similar {
        Some(similar) => format!("; {}", one_line(&similar.phrase(), PROSE)),
        None => String::new(),
    };
    let linked = match finding.linked.is_empty() {
        true => String::new(),
        false => format!("; the same cause as {}", finding.linked.join(", ")),
    };
    let urgent = if finding.escalate {
        ", needs a human before merging"
    } else {
        ""
    };
    format!("{obligation}, {before}{not_counted}{urgent}{ruled}{similar}{linked}")
}

/// Tells whether a finding is set aside although it is true.
fn is_accepted_risk(finding: &ReviewedFinding) -> bool {
    let ruled = finding.precedents.first().map(|ruled| ruled.terms.basis);
    let by_team = finding.team_ruling.as_ref().map(|ruled| ruled.basis);
    ruled.or(by_team) == Some(Basis::RiskAccepted)
}

/// Returns what came from a reviewer, in a word and, where something went wrong, a sentence.
pub(super) fn state(reviewer: &ReviewerSummary) -> (&'static str, String) {
    match &reviewer.state {
        ReviewerState::Answered => ("answered", String::new()),
        ReviewerState::Idle => ("idle", "nothing that it reads".to_owned()),
        ReviewerState::Missing { class, why } => {
            let class = class.map(|class| class.as_str().replace('_', " "));
            let why = one_line(why, NAME);
            let words = match (class, why.is_empty()) {
                (Some(class), true) => class,
                (Some(class), false) => format!("{why} ({class})"),
                (None, _) => why,
            };
            ("missing", words)
        }
    }
}

/// Returns time, tokens and cost of a reviewer.
pub(super) fn effort(reviewer: &ReviewerSummary) -> [String; 3] {
    [
        words::duration(reviewer.elapsed_ms),
        words::tokens(reviewer.usage),
        words::cost(reviewer.cost),
    ]
}

/// Returns up to `most` of the files that nobody saw, by reason, and how many more there are.
/// A reason with many files does not push out the others.
pub(super) fn left_out(
    coverage: &Coverage,
    most: usize,
) -> (Vec<(Omission, Vec<&LeftOut>)>, usize) {
    let mut by_reason: BTreeMap<Omission, Vec<&LeftOut>> = BTreeMap::new();
    for file in &coverage.left_out {
        by_reason.entry(file.why).or_default().push(file);
    }
    let mut share = most;
    let shown = |share: usize| {
        let lengths = by_reason.values().map(|files| files.len().min(share));
        lengths.sum::<usize>()
    };
    while share > 1 && shown(share) > most {
        share -= 1;
    }
    let more = coverage.left_out.len() - shown(share);
    for files in by_reason.values_mut() {
        files.truncate(share);
    }
    (by_reason.into_iter().collect(), more)
}

/// Returns what agents that look around were not given, in a sentence.
pub(super) fn withheld(coverage: &Coverage) -> Option<String> {
    const SHOWN: usize = 20;
    let names = coverage.withheld.iter().take(SHOWN);
    let names: Vec<String> = names.map(|name| one_line(name, NAME)).collect();
    let more = match coverage.withheld.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| {
        format!(
            "Withheld from agents that look around, because of what these files tell agents or may \
             hold: {}{more}.",
            names.join(", ")
        )
    })
}

/// Returns the path of a file that nobody saw, with what else is known of it.
pub(super) fn left_out_file(file: &LeftOut) -> String {
    let path = one_line(&file.path, NAME);
    match one_line(&file.detail, NAME) {
        detail if detail.is_empty() => path,
        detail => format!("{path} ({detail})"),
    }
}

/// Returns what a comment suppresses, where, and why.
pub(super) fn suppressed(one: &SuppressedFinding) -> String {
    let SuppressedFinding {
        rule,
        reviewer,
        location,
        label,
        reason,
        ..
    } = one;
    format!("[{label}] `{rule}` at {location} ({reviewer}), because: {reason}")
}
