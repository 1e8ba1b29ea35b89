//! What follows the findings on the page.

use tribunal_core::consensus::Verdict;
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, ReviewerState};

use super::super::facts;
use super::super::shown::{NAME, PROSE, TITLE, one_line};
use super::{rich, text};

/// How many files are named in one list.
const NAMED: usize = 2_000;

/// From this many findings on, the page has a list of them.
const MANY: usize = 6;

/// Returns the findings as links, in the order of their cards.
pub(super) fn index(report: &ReviewReport) -> String {
    if report.findings.len() < MANY {
        return String::new();
    }
    let verdicts = [Verdict::Accepted, Verdict::Disputed, Verdict::Rejected];
    let in_order = verdicts
        .into_iter()
        .flat_map(|verdict| facts::of(report, verdict));
    let entry = |(number, finding): (usize, &ReviewedFinding)| {
        let binds = if facts::fails(report, finding) {
            " binds"
        } else {
            ""
        };
        let verdict = match finding.verdict {
            Verdict::Accepted => String::new(),
            other => format!(" <small>{other}</small>"),
        };
        format!(
            "<li class=\"finding-link {}{binds}\"><a href=\"#finding-{number}\">{}</a>{verdict} \
             <code>{}</code></li>\n",
            finding.severity,
            rich(&one_line(&finding.title, TITLE)),
            text(&one_line(&finding.location.to_string(), NAME)),
        )
    };
    let entries: String = (1..).zip(in_order).map(entry).collect();
    format!(
        "<details class=\"index\"><summary>{} at a glance</summary>\n<ul>\n{entries}</ul>\n</details>\n",
        facts::count(report.findings.len(), "finding")
    )
}

/// Returns who reviewed and what it took.
pub(super) fn reviewers(report: &ReviewReport) -> String {
    let mut rows = String::new();
    for reviewer in &report.reviewers {
        let (state, why) = facts::state(reviewer);
        let class = match reviewer.state {
            ReviewerState::Answered => "answered",
            ReviewerState::Missing { .. } => "missing",
            ReviewerState::Idle => "idle",
        };
        let mut problems = why;
        for problem in &reviewer.problems {
            problems.push_str(&format!("\n{}", one_line(problem, PROSE)));
        }
        let problems = text(problems.trim()).replace('\n', "<br>");
        let [time, tokens, cost] = facts::effort(reviewer).map(|one| text(&one));
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td><span class=\"state {class}\">{state}</span>\
             <div class=\"why\">{problems}</div></td><td class=\"n\">{}</td><td class=\"n\">{time}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            text(&one_line(&reviewer.name, NAME)),
            text(&one_line(&reviewer.family, NAME)),
            reviewer.findings,
            tokens.replace(" tokens", ""),
            cost.replace("cost ", ""),
        ));
    }
    format!(
        "<section id=\"reviewers\">\n<h2>Reviewers</h2>\n<div class=\"wide\"><table>\n<thead><tr>\
         <th>Name</th><th>Family</th><th>State</th><th class=\"n\">Findings</th><th class=\"n\">Time</th>\
         <th class=\"n\">Tokens</th><th class=\"n\">Cost</th></tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n</section>\n"
    )
}

/// Returns what was seen and what was not.
pub(super) fn coverage(report: &ReviewReport) -> String {
    let coverage = &report.coverage;
    let seen: String = coverage
        .reviewed
        .iter()
        .take(NAMED)
        .map(|file| {
            let lines = facts::count(file.changed_lines as usize, "line");
            let status = match file.status {
                FileStatus::Added => "added",
                FileStatus::Modified => "modified",
                FileStatus::Renamed => "renamed",
                FileStatus::Deleted => "deleted",
                FileStatus::Whole => "as a whole",
            };
            let path = text(&one_line(&file.path, NAME));
            format!("<li><code>{path}</code> <small>{status}, {lines}</small></li>\n")
        })
        .collect();
    let (listed, _) = facts::left_out(coverage, NAMED);
    let mut out = format!(
        "<section id=\"coverage\">\n<h2>Coverage</h2>\n<details><summary>{} reviewed</summary>\
         <ul class=\"files\">{seen}</ul>{}</details>\n",
        facts::count(coverage.reviewed.len(), "file"),
        more(coverage.reviewed.len()),
    );
    if !listed.is_empty() {
        let total = facts::count(coverage.left_out.len(), "file");
        out.push_str(&format!(
            "<details open><summary>{total} left out</summary>\n<dl class=\"fields\">\n"
        ));
        for (why, files) in listed {
            let files: String = files
                .into_iter()
                .map(|file| {
                    let (path, detail) = (one_line(&file.path, NAME), one_line(&file.detail, NAME));
                    format!(
                        "<li><code>{}</code> <small>{}</small></li>",
                        text(&path),
                        text(&detail)
                    )
                })
                .collect();
            out.push_str(&format!(
                "<div><dt>{why}</dt><dd><ul class=\"files\">{files}</ul></dd></div>\n"
            ));
        }
        out.push_str(&format!(
            "</dl>{}</details>\n",
            more(coverage.left_out.len())
        ));
    }
    if let Some(told) = facts::withheld(coverage) {
        out.push_str(&format!("<p>{}</p>\n", text(&told)));
    }
    out + "</section>\n"
}

fn more(total: usize) -> String {
    match total.checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!("<p>and {more} more</p>"),
    }
}

/// Returns which earlier findings are gone.
pub(super) fn fixed(report: &ReviewReport) -> String {
    if report.fixed.is_empty() {
        return String::new();
    }
    let fixed: String = report
        .fixed
        .iter()
        .map(|one| {
            format!(
                "<li><s>{}</s> <code>{}</code> <small>{}</small></li>\n",
                rich(&one_line(&one.title, TITLE)),
                text(&one_line(&one.location.to_string(), NAME)),
                text(&one_line(&one.id, NAME))
            )
        })
        .collect();
    format!(
        "<section id=\"fixed\">\n<h2>Fixed</h2>\n<ul class=\"plain\">{fixed}</ul>\n</section>\n"
    )
}

/// Returns what does not count because a comment in the code suppresses it.
pub(super) fn suppressed(report: &ReviewReport) -> String {
    if report.suppressed.is_empty() {
        return String::new();
    }
    let count = report.suppressed.len();
    let items = report.suppressed.iter().map(|one| {
        let text = one_line(&facts::suppressed(one), PROSE);
        format!("<li>{}</li>\n", rich(&text))
    });
    let items: String = items.collect();
    format!(
        "<section id=\"suppressed\">\n<h2>Suppressed: {count}</h2>\n<ul class=\"plain\">{items}</ul>\n</section>\n"
    )
}

/// Returns what else to know.
pub(super) fn notes(report: &ReviewReport) -> String {
    if report.notes.is_empty() {
        return String::new();
    }
    let notes: String = report
        .notes
        .iter()
        .map(|note| format!("<li>{}</li>\n", rich(&one_line(note, PROSE))))
        .collect();
    format!(
        "<section id=\"notes\">\n<h2>Notes</h2>\n<ul class=\"plain\">{notes}</ul>\n</section>\n"
    )
}

/// Returns what identifies the review.
pub(super) fn foot(report: &ReviewReport) -> String {
    let commit = |name: &str, id: &Option<String>| match id {
        Some(id) => format!("; {name} <code>{}</code>", text(&one_line(id, NAME))),
        None => String::new(),
    };
    format!(
        "<footer>Tribunal {}; case <code>{}</code>; policy {}{}{}</footer>\n",
        env!("CARGO_PKG_VERSION"),
        text(report.case.as_str()),
        text(&one_line(&report.policy, NAME)),
        commit("from", &report.change.base),
        commit("to", &report.change.head),
    )
}
