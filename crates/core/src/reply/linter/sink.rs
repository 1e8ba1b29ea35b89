//! Where the readers of all formats put what they find.

use std::collections::BTreeSet;

use serde_json::Value;

use super::looked::Looked;
use super::paths;
use super::rules::Weight;
use crate::finding::{Finding, Location};
use crate::reply::Problem;
use crate::reply::find::{Author, Findings};
use crate::scale::Confidence;
use crate::text::{headline, truncate_chars};

/// Problems beyond this many are only counted.
const MOST_PROBLEMS: usize = 100;

/// Characters of one text that are kept.
const LONGEST_TEXT: usize = 8_000;

/// One result of a tool, in the tool's words.
#[derive(Debug, Default)]
pub(in crate::reply) struct Draft {
    /// Path as the tool writes it.
    pub(in crate::reply) file: String,
    pub(in crate::reply) line: Option<u32>,
    pub(in crate::reply) end_line: Option<u32>,
    pub(in crate::reply) function: Option<String>,
    /// Name of the rule that was broken; empty when there is none.
    pub(in crate::reply) rule: String,
    pub(in crate::reply) message: String,
    pub(in crate::reply) suggestion: String,
    pub(in crate::reply) quote: String,
    /// Which result it is one place of, where the result names several; else empty.
    pub(in crate::reply) result: String,
    pub(in crate::reply) weight: Weight,
}

/// What was read so far.
pub(in crate::reply) struct Sink<'a> {
    author: &'a Author,
    /// The directory in which the tool ran, for paths.
    pub(in crate::reply) root: Option<&'a str>,
    found: Findings,
    /// Results that could not be read.
    unread: usize,
    /// Problems that are only counted.
    uncounted: usize,
    /// Results that somebody has suppressed.
    set_aside: usize,
    looked: Looked,
}

impl<'a> Sink<'a> {
    pub(in crate::reply) fn new(author: &'a Author, root: Option<&'a str>) -> Self {
        Self {
            author,
            root,
            found: Findings {
                answered: true,
                ..Findings::default()
            },
            unread: 0,
            uncounted: 0,
            set_aside: 0,
            looked: Looked::default(),
        }
    }

    /// Takes one result, which stands at `at`.
    pub(in crate::reply) fn add(&mut self, at: &str, draft: Draft) {
        let message = draft.message.trim();
        if message.is_empty() && draft.rule.is_empty() {
            self.unread(at, "a result without message and rule says nothing");
            return;
        }
        let kept = |text: &str| truncate_chars(text.trim(), LONGEST_TEXT).into_owned();
        let title = if message.is_empty() {
            &draft.rule
        } else {
            message
        };
        let description = match (draft.rule.as_str(), message) {
            ("", message) => kept(message),
            (rule, message) => format!("{} ({rule})", kept(message)),
        };
        self.found.findings.push(Finding {
            id: draft.result,
            reviewer: self.author.reviewer.clone(),
            family: self.author.family.clone(),
            rule: draft.rule.trim().to_owned(),
            location: Location {
                file: paths::relative(&draft.file, self.root),
                line: draft.line,
                end_line: draft.end_line,
                function: draft.function,
            },
            category: draft.weight.category,
            severity: draft.weight.severity,
            confidence: Confidence::new(draft.weight.confidence.into()).ok(),
            title: headline(title, 120).into_owned(),
            description: description.trim().to_owned(),
            suggestion: kept(&draft.suggestion),
            quote: kept(&draft.quote),
            ..Finding::default()
        });
    }

    /// Notes that the tool looked at a file.
    pub(in crate::reply) fn looked_at(&mut self, file: &str) {
        let path = paths::relative(file, self.root);
        if !path.is_empty() {
            self.looked.files.insert(path);
        }
    }

    /// Notes that the tool did not read `file`, or not all of it, whatever else it says about it.
    pub(in crate::reply) fn passed_over(&mut self, file: &str) {
        let path = paths::relative(file, self.root);
        self.looked.passed_over.insert(path);
    }

    /// Notes that the tool failed at `file`, so that its silence about it says nothing.
    pub(in crate::reply) fn failed_at(&mut self, file: &str, at: &str, what: &str) {
        let path = paths::relative(file, self.root);
        self.looked.passed_over.insert(path.clone());
        self.looked.failed.insert(path);
        self.problem(at, what);
    }

    /// Notes that the tool compiled the sources of the folder in which `file` lies.
    pub(in crate::reply) fn looked_around(&mut self, file: &str) {
        let path = paths::relative(file, self.root);
        if !paths::is_absolute(&path) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            self.looked.folders.insert(folder.to_owned());
        }
    }

    /// Notes how many files the tool counted; none is no answer.
    pub(in crate::reply) fn counted(&mut self, at: &str, files: u64) {
        if files == 0 {
            self.incomplete(at, "no file was looked at");
        }
        *self.looked.count.get_or_insert(0) += files;
    }

    /// Notes a result that somebody has suppressed.
    pub(in crate::reply) fn set_aside(&mut self) {
        self.set_aside += 1;
    }

    /// Tells whether the tool reported nothing at all.
    pub(in crate::reply) fn is_empty(&self) -> bool {
        self.found.findings.is_empty() && self.set_aside == 0
    }

    /// Returns what the tool looked at so far.
    pub(in crate::reply) fn looked(&self) -> &Looked {
        &self.looked
    }

    /// Notes something that does not make the report incomplete.
    pub(in crate::reply) fn problem(&mut self, at: &str, what: &str) {
        if self.found.problems.len() >= MOST_PROBLEMS {
            self.uncounted += 1;
            return;
        }
        self.found.problems.push(Problem {
            at: at.to_owned(),
            what: headline(what, 300).into_owned(),
        });
    }

    /// Notes a result that could not be read.
    pub(in crate::reply) fn unread(&mut self, at: &str, what: &str) {
        self.unread += 1;
        self.problem(at, what);
    }

    /// Notes that the report is not whole: what is missing from it proves nothing.
    pub(in crate::reply) fn incomplete(&mut self, at: &str, what: &str) {
        self.found.answered = false;
        self.problem(at, what);
    }

    /// Takes what another reader found.
    pub(in crate::reply) fn extend(&mut self, found: Findings) {
        self.found.answered &= found.answered;
        for mut finding in found.findings {
            finding.location.file = paths::relative(&finding.location.file, self.root);
            self.found.findings.push(finding);
        }
        for problem in found.problems {
            self.problem(&problem.at, &problem.what);
        }
    }

    /// Returns what was found, each thing once.
    pub(in crate::reply) fn finish(mut self) -> Findings {
        if self.found.findings.is_empty() && self.unread > 0 {
            // All that was reported is lost, so that silence would be a lie.
            self.found.answered = false;
        }
        if self.uncounted > 0 {
            let what = format!("{} more problems are not listed", self.uncounted);
            self.found.problems.push(Problem {
                at: String::new(),
                what,
            });
        }
        // Compilers report the same place once for each way to build it.
        let mut seen = BTreeSet::new();
        let findings = self.found.findings.iter();
        let first: Vec<bool> = findings.map(|one| seen.insert(told(one))).collect();
        let mut first = first.into_iter();
        self.found
            .findings
            .retain(|_| first.next().unwrap_or(false));
        self.found
    }
}

/// Returns what tells one finding of a tool from another.
fn told(one: &Finding) -> (Option<u32>, &str, &str, &str, Option<u32>) {
    let place = &one.location;
    let (title, description) = (&one.title, &one.description);
    (place.line, title, &place.file, description, place.end_line)
}

/// Returns what stands at `path`, such as `/locations/0/line`.
///
/// The like of [`Value::pointer`] makes new text for each step, which shows with 100,000 results.
pub(in crate::reply) fn value_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/')
        .skip(1)
        .try_fold(value, |value, step| match value {
            Value::Object(object) => object.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
}

/// Returns the text at `path`, empty when there is none.
pub(in crate::reply) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value_at(value, path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the line number at `path`. Zero stands for the whole file.
pub(in crate::reply) fn line(
    value: &Value,
    path: &str,
    place: &str,
    sink: &mut Sink<'_>,
) -> Option<u32> {
    let number = value_at(value, path).filter(|number| !number.is_null())?;
    match number.as_u64().map(u32::try_from) {
        Some(Ok(line)) => (line > 0).then_some(line),
        _ => {
            let shown = truncate_chars(&number.to_string(), 40).into_owned();
            sink.problem(place, &format!("{shown} is no line number"));
            None
        }
    }
}
