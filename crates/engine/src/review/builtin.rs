//! The built-in reviewers: rules on syntax trees, without a model, a key or a network.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tribunal_code::language::Language;
use tribunal_code::nature::Nature;
use tribunal_code::rule::{
    Domain, Hit, Refusal, Report, Reviewer, Silenced, Source, TextSource, foreign_coding,
};
use tribunal_core::finding::{Finding, Grounding, Label, Location, Source as Told};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::report::SuppressedFinding;
use tribunal_core::scale::Severity;

use super::woken_findings::{CUT_OFF, add_woken};
use crate::change::{Change, ChangedFile};

/// The family of all built-in reviewers: they share their author, so they are one voice.
pub(crate) const FAMILY: &str = "builtin";

/// What the built-in reviewers say about a change.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The findings by domain.
    pub(crate) findings: BTreeMap<Domain, Vec<Finding>>,
    /// Files that could not be checked to the end, each with the reason.
    pub(crate) unread: Vec<(String, String)>,
    /// Findings that a comment suppresses.
    pub(crate) suppressed: Vec<SuppressedFinding>,
    /// What is to be said about comments that suppress nothing, and about code that does not parse.
    pub(crate) refused: Vec<String>,
}

/// Whose comments suppress findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedMarkers {
    /// Those that were there before the change.
    Settled,
    /// All of them.
    All,
}

/// Checks all files of a change: those with a grammar by their syntax, all by their text, and those
/// that nobody reviews for what must not be in any file. Blocks; meant for a thread of its own.
pub(crate) fn check(change: &Change, reviewer: &Reviewer, markers: CountedMarkers) -> Checked {
    let reviewed = change
        .files
        .iter()
        .filter(|file| file.status != FileStatus::Deleted)
        .map(|file| (file, check_file as Check));
    let searched = change
        .searched
        .iter()
        .map(|file| (file, search_file as Check));
    let readable: Vec<(&ChangedFile, Check)> = reviewed.chain(searched).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        while let Some((file, check)) = readable.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((file.path.as_str(), check(reviewer, file, markers)));
        }
        done
    };
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(readable.len()))
            .map(|_| scope.spawn(work))
            .collect();
        let joined = workers.into_iter().map(|worker| {
            // A panic of a worker is one of ours: pass it on.
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.flatten().collect()
    });
    results.sort_by_key(|(path, _)| *path);
    let mut checked = Checked::default();
    for (path, result) in results {
        match result {
            Ok(report) => {
                checked.refused.extend(refused(path, &report));
                checked.refused.extend(unparsed(path, &report));
                let silenced = report.silenced.into_iter();
                checked
                    .suppressed
                    .extend(silenced.map(|one| suppressed(path, one)));
                for hit in report.hits {
                    let list = checked.findings.entry(hit.domain).or_default();
                    list.push(finding(path, hit));
                }
            }
            Err(reason) => checked.unread.push((path.to_owned(), reason)),
        }
    }
    checked
}

/// Tells whether the built-in reviewers can read a file. What was deleted has no defects.
///
/// Every text is searched for what must not stand in any file; that alone is no reading of code.
pub(crate) fn reads(file: &ChangedFile) -> bool {
    // Nothing is in an empty file, whatever its language is.
    let is_empty = file.text.trim().is_empty();
    let has_reader = is_empty || Nature::of(&file.path, &file.text).has_reader();
    has_reader && file.status != FileStatus::Deleted
}

/// How a file is checked.
type Check = fn(&Reviewer, &ChangedFile, CountedMarkers) -> Result<Report, String>;

/// Searches a file that nobody reviews for what must not be in any file.
fn search_file(
    reviewer: &Reviewer,
    file: &ChangedFile,
    markers: CountedMarkers,
) -> Result<Report, String> {
    let is_whole = file.status == FileStatus::Whole;
    let mut report = reviewer.search_text(&TextSource {
        path: &file.path,
        text: &file.text,
        changed: (!is_whole).then(|| file.diff.added()),
    });
    if markers == CountedMarkers::Settled {
        report.refuse_markers_on(&file.unsettled);
    }
    match report.cut_off {
        Some(_) => Err("too many rules matched".to_owned()),
        None => Ok(report),
    }
}

fn check_file(
    reviewer: &Reviewer,
    file: &ChangedFile,
    markers: CountedMarkers,
) -> Result<Report, String> {
    let whole = file.status == FileStatus::Whole;
    let changed = (!whole).then(|| file.diff.added());
    let mut reports = vec![reviewer.check_text(&TextSource {
        path: &file.path,
        text: &file.text,
        changed,
    })];
    if let Some(language) = file.language {
        let source = Source {
            path: &file.path,
            language,
            text: &file.text,
            changed,
        };
        reports.push(reviewer.check(&source).map_err(|error| error.to_string())?);
    }
    let scripts = reviewer.check_scripts(&TextSource {
        path: &file.path,
        text: &file.text,
        changed,
    });
    reports.push(scripts.map_err(|error| error.to_string())?);
    if reports.iter().any(|report| report.cut_off.is_some()) {
        return Err(CUT_OFF.to_owned());
    }
    let mut all = Report::default();
    for report in reports {
        all.hits.extend(report.hits);
        all.silenced.extend(report.silenced);
        all.refused.extend(report.refused);
        all.unparsed = all.unparsed.or(report.unparsed);
    }
    if markers == CountedMarkers::Settled {
        all.refuse_markers_on(&file.unsettled);
    }
    add_woken(&mut all, reviewer, file, markers)?;
    if file.language == Some(Language::Python)
        && let Some(coding) = foreign_coding(&file.text)
        && all.hits.iter().all(|hit| hit.rule != "python-odd-coding")
    {
        return Err(format!(
            "it declares the coding `{coding}`, which is not read; store it in UTF-8"
        ));
    }
    report_each_secret_once(&mut all);
    Ok(all)
}

/// Returns the rules that match in a text as if it lay at `path`, each as often as it matches. What a
/// comment silences matches all the same.
pub(crate) fn rules_matching(
    reviewer: &Reviewer,
    path: &str,
    text: &str,
) -> Result<Vec<String>, String> {
    let source = TextSource {
        path,
        text,
        changed: None,
    };
    let mut reports = vec![reviewer.check_text(&source)];
    if let Some(language) = Language::detect(path, text) {
        let source = Source {
            path,
            language,
            text,
            changed: None,
        };
        reports.push(reviewer.check(&source).map_err(|error| error.to_string())?);
    }
    let mut rules = Vec::new();
    for report in reports {
        if report.cut_off.is_some() {
            return Err("it took too long, or too many rules matched".to_owned());
        }
        rules.extend(report.hits.into_iter().map(|hit| hit.rule));
        rules.extend(report.silenced.into_iter().map(|one| one.hit.rule));
    }
    Ok(rules)
}

/// Removes what one of two rules about credentials says of lines that the other one covers.
///
/// One looks at the strings of code, the other at all text. The higher level stays, else the first.
fn report_each_secret_once(report: &mut Report) {
    const IN_STRINGS: &str = "any-secret-in-source";
    const IN_TEXTS: &str = "text-secret";
    let of = |rule: &str| -> Vec<(u32, u32, Severity)> {
        let silenced = report.silenced.iter().map(|one| &one.hit);
        let hits = report.hits.iter().chain(silenced);
        let hits = hits.filter(|hit| hit.rule == rule);
        hits.map(|hit| (hit.line, hit.end_line, hit.label.severity()))
            .collect()
    };
    let (strings, texts) = (of(IN_STRINGS), of(IN_TEXTS));
    let overlap =
        |hit: &Hit, other: &(u32, u32, Severity)| hit.line <= other.1 && other.0 <= hit.end_line;
    report.hits.retain(|hit| {
        let severity = hit.label.severity();
        match hit.rule.as_str() {
            IN_TEXTS => !strings
                .iter()
                .any(|other| overlap(hit, other) && other.2 >= severity),
            IN_STRINGS => !texts
                .iter()
                .any(|other| overlap(hit, other) && other.2 > severity),
            _ => true,
        }
    });
}

/// Returns what to say about the comments of a file that suppress nothing.
fn refused(path: &str, report: &Report) -> Vec<String> {
    let refused = report.refused.iter().map(|one| {
        let (rule, line) = (&one.rule, one.line);
        let why = match one.why {
            Refusal::NoReason => "it gives no reason",
            Refusal::OfTheChange => "this change wrote it or edited the code",
        };
        format!("the comment that suppresses `{rule}` at {path}:{line} does not count: {why}")
    });
    refused.collect()
}

/// Returns what to say about code of a file that does not parse.
fn unparsed(path: &str, report: &Report) -> Option<String> {
    let lines = match report.unparsed? {
        (start, end) if start == end => format!("line {start} of {path} does"),
        (start, end) => format!("lines {start} to {end} of {path} do"),
    };
    Some(format!(
        "{lines} not parse, so the rules may have missed something there"
    ))
}

fn suppressed(path: &str, one: Silenced) -> SuppressedFinding {
    let reason = one.reason;
    let finding = finding(path, one.hit);
    SuppressedFinding {
        rule: finding.rule,
        reviewer: finding.reviewer,
        location: finding.location,
        title: finding.title,
        label: finding.label.unwrap_or(Label::Medium),
        reason,
    }
}

fn finding(path: &str, hit: Hit) -> Finding {
    Finding {
        location: Location {
            file: path.to_owned(),
            line: Some(hit.line),
            end_line: (hit.end_line > hit.line).then_some(hit.end_line),
            function: hit.function,
        },
        category: Some(hit.category),
        reviewer: name(hit.domain),
        id: format!("{}@{path}:{}:{}", hit.rule, hit.line, hit.column),
        family: FAMILY.to_owned(),
        rule: hit.rule,
        severity: Some(hit.label.severity()),
        confidence: Some(hit.confidence),
        label: Some(hit.label),
        title: hit.message,
        description: hit.reason,
        suggestion: hit.suggestion,
        quote: hit.quote,
        grounding: Grounding::Confirmed,
        source: Told::Tool,
        ..Finding::default()
    }
}

/// Returns the name of the built-in reviewer of a domain.
pub(crate) fn name(domain: Domain) -> String {
    format!("builtin:{domain}")
}
