//! The built-in reviewers: rules on syntax trees, without a model, a key or a network.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use tribunal_code::nature::Nature;
use tribunal_code::rule::{Domain, Hit, Refusal, Report, Reviewer, Source, TextSource};
use tribunal_core::finding::{Finding, Grounding, Location, Source as Told};
use tribunal_core::review::coverage::FileStatus;

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
    /// What is to be said about comments that silence a rule, or would.
    pub(crate) suppressions: Vec<String>,
}

/// Checks all files of a change: those with a grammar by their syntax, all by their text. Blocks; meant for a thread of its own.
pub(crate) fn check(change: &Change, reviewer: &Reviewer) -> Checked {
    let readable: Vec<&ChangedFile> = change
        .files
        .iter()
        .filter(|file| file.status != FileStatus::Deleted)
        .collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        while let Some(file) = readable.get(next.fetch_add(1, Ordering::Relaxed)) {
            let seen_as = place_of(&file.path, change);
            done.push((file.path.as_str(), check_file(reviewer, file, seen_as)));
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
                checked.suppressions.extend(suppressions(path, &report));
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
    Nature::of(&file.path, &file.text).has_reader() && file.status != FileStatus::Deleted
}

/// Returns the path by which rules tell product code from samples and tests.
///
/// Whoever names a directory of examples wants them reviewed as what they are, so the named part of
/// the path says nothing.
fn place_of<'a>(path: &'a str, change: &Change) -> &'a str {
    if !change.pinned.whole_files {
        return path;
    }
    let below = |named: &String| path.strip_prefix(named.as_str())?.strip_prefix('/');
    change.pinned.paths.iter().find_map(below).unwrap_or(path)
}

fn check_file(reviewer: &Reviewer, file: &ChangedFile, seen_as: &str) -> Result<Report, String> {
    let whole = file.status == FileStatus::Whole;
    let changed = (!whole).then(|| file.diff.added());
    let mut reports = vec![reviewer.check_text(&TextSource {
        path: seen_as,
        text: &file.text,
        changed,
    })];
    if let Some(language) = file.language {
        let source = Source {
            path: seen_as,
            language,
            text: &file.text,
            changed,
        };
        reports.push(reviewer.check(&source).map_err(|error| error.to_string())?);
    }
    if reports.iter().any(|report| report.cut_off.is_some()) {
        return Err("it took too long, or too many rules matched".to_owned());
    }
    let mut all = Report::default();
    for report in reports {
        all.hits.extend(report.hits);
        all.silenced.extend(report.silenced);
        all.refused.extend(report.refused);
    }
    Ok(all)
}

/// Returns what to say about the comments of a file that silence a rule, or would.
fn suppressions(path: &str, report: &Report) -> Vec<String> {
    let counted = report.silenced.iter().map(|one| {
        let (rule, line) = (&one.hit.rule, one.hit.line);
        format!(
            "suppressed: `{rule}` at {path}:{line}, because: {}",
            one.reason
        )
    });
    let refused = report.refused.iter().map(|one| {
        let (rule, line) = (&one.rule, one.line);
        let why = match one.why {
            Refusal::NoReason => "it gives no reason",
            Refusal::OfTheChange => "this change wrote it or edited the code",
        };
        format!("the comment that suppresses `{rule}` at {path}:{line} does not count: {why}")
    });
    counted.chain(refused).collect()
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
