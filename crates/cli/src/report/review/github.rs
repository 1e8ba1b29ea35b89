//! A review for GitHub: annotations of a workflow, and the body of a review of a pull request.

use serde_json::{Value, json};
use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};
use tribunal_core::scale::Severity;

use super::shown::{NAME, TITLE, one_line, prose, shown};
use super::{arbitrated, facts, json, markdown};

/// A step shows this many annotations of one kind and drops the rest.
const SHOWN: usize = 10;

/// A review with more comments than this is refused or times out.
const COMMENTS: usize = 30;

/// The longest text about findings outside of the diff; a body may have 65,536 characters.
const BODY: usize = 50_000;

/// The kinds of annotations, the most pressing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Error,
    Warning,
    Notice,
}

impl Kind {
    fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// Returns workflow commands, a line each: what binds first, then by weight. Where a step would
/// drop the rest, the last annotation of that kind says how many there are.
pub(super) fn annotations(report: &ReviewReport) -> String {
    let mut out = String::new();
    if let Gate::Inconclusive { .. } = report.gate {
        let title = property("Tribunal: INCONCLUSIVE");
        out.push_str(&format!(
            "::error title={title}::{}\n",
            data(&facts::gate(report))
        ));
    }
    for kind in [Kind::Error, Kind::Warning, Kind::Notice] {
        let of_kind = |finding: &&ReviewedFinding| kind_of(report, finding) == Some(kind);
        let findings: Vec<_> = report.findings.iter().filter(of_kind).collect();
        // An inconclusive review has used one already.
        let room = if kind == Kind::Error && !out.is_empty() {
            SHOWN - 1
        } else {
            SHOWN
        };
        let fitting = if findings.len() > room {
            room - 1
        } else {
            findings.len()
        };
        for finding in &findings[..fitting] {
            out.push_str(&annotation(report, finding, kind));
        }
        if fitting < findings.len() {
            let more = facts::count(findings.len() - fitting, "more finding");
            let title = property(&format!("Tribunal: {more}"));
            let command = kind.command();
            out.push_str(&format!(
                "::{command} title={title}::The report lists them all.\n"
            ));
        }
    }
    let gate = data(&facts::gate(report));
    out.push_str(&format!("Tribunal: {}: {gate}\n", facts::verdict(report)));
    for step in arbitrated::next_steps(report) {
        out.push_str(&format!("Tribunal: {}\n", data(&step.sentence())));
    }
    out
}

/// Returns how pressing a finding is, or nothing when it is not shown.
fn kind_of(report: &ReviewReport, finding: &ReviewedFinding) -> Option<Kind> {
    match finding.verdict {
        Verdict::Rejected => None,
        _ if !finding.counts => None,
        Verdict::Accepted if report.binds(finding) => Some(Kind::Error),
        _ if finding.severity == Severity::Low => Some(Kind::Notice),
        _ => Some(Kind::Warning),
    }
}

fn annotation(report: &ReviewReport, finding: &ReviewedFinding, kind: Kind) -> String {
    let mut place = Vec::new();
    if !finding.location.file.is_empty() {
        place.push(format!("file={}", property(&shown(&finding.location.file))));
        if let Some((first, last)) = finding.location.lines() {
            place.push(format!("line={first}"));
            place.push(format!("endLine={last}"));
        }
    }
    let disputed = if finding.verdict == Verdict::Disputed {
        "disputed, "
    } else {
        ""
    };
    let rule = match one_line(facts::rule_of(finding), NAME) {
        rule if rule.is_empty() => rule,
        rule => format!(", {rule}"),
    };
    let title = format!(
        "{} {} ({disputed}{}{rule}): {}",
        finding.severity,
        finding.confidence,
        one_line(&finding.id, NAME),
        one_line(&finding.title, TITLE)
    );
    place.push(format!("title={}", property(&title)));
    let mut message = prose(&finding.description);
    for (name, text) in [("Trigger", &finding.trigger), ("Fix", &finding.suggestion)] {
        if !text.trim().is_empty() {
            message.push_str(&format!("\n{name}: {}", prose(text)));
        }
    }
    let (said, standing) = (
        facts::voices_and_ratings(finding),
        facts::standing(report, finding),
    );
    message.push_str(&format!("\nSaid by {said}; {standing}."));
    format!(
        "::{} {}::{}\n",
        kind.command(),
        place.join(","),
        data(message.trim())
    )
}

/// Returns `text` as the message of a workflow command.
fn data(text: &str) -> String {
    let text = shown(text);
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Returns `text` as the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Returns the body of `POST /repos/{owner}/{repo}/pulls/{number}/reviews`.
///
/// Findings on lines of the diff become comments. All others stand in the text of the review,
/// since one comment outside of the diff makes GitHub refuse the whole.
pub(crate) fn review_json(report: &ReviewReport) -> String {
    let mut comments = Vec::new();
    let mut others = String::new();
    for finding in report
        .findings
        .iter()
        .filter(|one| kind_of(report, one).is_some())
    {
        let comment = if comments.len() < COMMENTS {
            comment(report, finding)
        } else {
            None
        };
        match comment {
            Some(comment) => comments.push(comment),
            None => outside(&mut others, report, finding),
        }
    }
    let mut body = markdown::head(report);
    if !comments.is_empty() {
        body.push_str(&format!(
            "{} at the lines concerned.\n\n",
            facts::count(comments.len(), "comment")
        ));
    }
    if !others.is_empty() {
        body.push_str("### Outside of the diff\n\n");
        body.push_str(&others);
    }
    let event = match report.gate {
        Gate::Fail { .. } => "REQUEST_CHANGES",
        Gate::Pass | Gate::Inconclusive { .. } => "COMMENT",
    };
    json::pretty(&json!({
        "event": event,
        "body": body.trim_end(),
        "comments": comments,
    }))
}

/// Returns the comment on a finding whose lines are in the diff.
fn comment(report: &ReviewReport, finding: &ReviewedFinding) -> Option<Value> {
    let (first, last) = finding.location.lines()?;
    if !finding.in_diff || finding.location.file.is_empty() {
        return None;
    }
    let body = format!(
        "{}\n\n{}",
        headline(finding),
        markdown::body(report, finding)
    );
    let mut comment = json!({
        "path": finding.location.file,
        "line": last,
        "side": "RIGHT",
        "body": body.trim_end(),
    });
    if first < last {
        comment["start_line"] = json!(first);
        comment["start_side"] = json!("RIGHT");
    }
    Some(comment)
}

/// Adds a finding to the text of the review; once that is long, its headline alone.
fn outside(text: &mut String, report: &ReviewReport, finding: &ReviewedFinding) {
    let place = markdown::code(&one_line(&finding.location.to_string(), NAME));
    let head = format!("#### {} {place}\n\n", headline(finding));
    let whole = format!("{head}{}\n", markdown::body(report, finding));
    match BODY.checked_sub(text.len()) {
        Some(room) if whole.len() < room => text.push_str(&whole),
        Some(_) if !text.ends_with(FULL) => text.push_str(FULL),
        _ => {}
    }
}

/// Stands in place of what no longer fits.
const FULL: &str = "More findings are in the report of the workflow.\n";

fn headline(finding: &ReviewedFinding) -> String {
    let disputed = if finding.verdict == Verdict::Disputed {
        ", disputed"
    } else {
        ""
    };
    format!(
        "**{} {}{disputed}:** {}",
        facts::labelled_severity(finding),
        finding.confidence,
        markdown::rich(&one_line(&finding.title, TITLE))
    )
}
