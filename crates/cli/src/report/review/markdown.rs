//! A review in Markdown: for comments on pull requests and step summaries.

mod escape;

use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};

use escape::cell_code;

pub(super) use escape::{code, rich};
pub(crate) use escape::{fenced, inline, paragraphs};

use super::arbitrated;
use super::said::said_of;
use super::shown::{NAME, PROSE, TITLE, one_line, prose};
use super::{Options, facts, frame};
use crate::report::words;

/// A comment may have 65,536 characters; what would go beyond this many is only listed.
const MOST: usize = 50_000;

/// How many rows a table has.
const ROWS: usize = 50;

/// How many files are named that nobody saw.
const NAMED: usize = 10;

/// Returns the whole review.
pub(super) fn render(report: &ReviewReport, options: &Options) -> String {
    let mut out = head(report);
    out.push_str(&table(report));
    let mut more = 0;
    for list in facts::lists(report) {
        let (heading, findings) = (list.heading, list.findings);
        out.push_str(&format!("### {heading} ({})\n\n", findings.len()));
        for finding in findings {
            let whole = if list.verdict == Verdict::Rejected && !options.details {
                rejected(finding)
            } else {
                folded(report, finding)
            };
            if out.len() + whole.len() <= MOST {
                out.push_str(&whole);
            } else if out.len() < MOST {
                out.push_str(&format!("- {}\n", headline(finding)));
            } else {
                more += 1;
            }
        }
        if !out.ends_with("\n\n") {
            out.push('\n');
        }
    }
    if more > 0 {
        out.push_str(&format!(
            "And {more} more, for which a comment has no room.\n\n"
        ));
    }
    out.push_str(&arbitration(report));
    out.push_str(&reviewers(report));
    out.push_str(&coverage(report, options));
    out.push_str(&endnotes(report));
    out
}

/// Returns what came of putting the findings to a coder.
fn arbitration(report: &ReviewReport) -> String {
    let Some(arbitration) = &report.arbitration else {
        return String::new();
    };
    let mut out = "### Arbitration\n\n".to_owned();
    for (number, story) in arbitrated::stories(arbitration).enumerate() {
        if number >= ROWS {
            let more = arbitration.findings.len() - ROWS;
            out.push_str(&format!("- and {more} more\n"));
            break;
        }
        let (id, title) = (code(&story.id), rich(&story.title));
        out.push_str(&format!("- {id} {title}: **{}**\n", story.state));
        for (who, says) in story.steps {
            let says = one_line(&says, NAME);
            out.push_str(&format!("  - {}: {}\n", inline(&who), rich(&says)));
        }
    }
    if !arbitration.findings.is_empty() {
        out.push('\n');
    }
    for line in arbitrated::summary(report) {
        out.push_str(&format!("{}.\n", rich(&facts::sentence(&line))));
    }
    out + "\n"
}

/// Returns gate and summary.
pub(super) fn head(report: &ReviewReport) -> String {
    let sign = match report.gate {
        Gate::Pass => "✅",
        Gate::Fail { .. } => "❌",
        Gate::Inconclusive { .. } => "⚠️",
    };
    let mut out = format!("## {sign} Tribunal: {}\n\n", facts::verdict(report));
    match &report.gate {
        Gate::Inconclusive { causes } => {
            out.push_str(&format!("{}:\n\n", facts::inconclusive(report)));
            for cause in causes {
                out.push_str(&format!("- {}\n", rich(&one_line(cause, NAME))));
            }
            out.push('\n');
        }
        _ => out.push_str(&format!(
            "**{}.**\n\n",
            facts::sentence(&facts::gate(report))
        )),
    }
    for step in arbitrated::next_steps(report) {
        out.push_str(&format!("{}\n\n", rich(&step.sentence())));
    }
    let title = code(&one_line(&report.change.title, NAME));
    out.push_str(&format!("Review of {title}: {}.\n\n", facts::tally(report)));
    out
}

/// Returns the findings that stand or are open, a row each.
fn table(report: &ReviewReport) -> String {
    let open = |finding: &&ReviewedFinding| finding.verdict != Verdict::Rejected;
    let findings: Vec<_> = report.findings.iter().filter(open).collect();
    if findings.is_empty() {
        return String::new();
    }
    let mut out =
        "| | Severity | Confidence | Finding | Where |\n|---|---|--:|---|---|\n".to_owned();
    let more = findings.len().saturating_sub(ROWS);
    for finding in findings.into_iter().take(ROWS) {
        let mark = match finding.verdict {
            _ if facts::fails(report, finding) => "❌ blocking",
            Verdict::Disputed => "⚠️ disputed",
            _ if !finding.counts => arbitrated::word(report, finding).unwrap_or("does not count"),
            _ => "",
        };
        out.push_str(&format!(
            "| {mark} | {} | {} | {} | {} |\n",
            facts::labelled_severity(finding),
            finding.confidence,
            inline(&one_line(&finding.title, 120)),
            cell_code(&one_line(&finding.location.to_string(), NAME)),
        ));
    }
    if more > 0 {
        out.push_str(&format!("| | | | and {more} more | |\n"));
    }
    out + "\n"
}

fn headline(finding: &ReviewedFinding) -> String {
    format!(
        "**{} {}** {} {}",
        facts::labelled_severity(finding),
        finding.confidence,
        rich(&one_line(&finding.title, TITLE)),
        code(&one_line(&finding.location.to_string(), NAME)),
    )
}

fn rejected(finding: &ReviewedFinding) -> String {
    let why: Vec<String> = finding
        .reasons
        .iter()
        .map(|why| one_line(why, NAME))
        .collect();
    format!("- {}: {}\n", headline(finding), rich(&why.join(" ")))
}

/// Returns a finding that opens at a click; one that binds is open already.
fn folded(report: &ReviewReport, finding: &ReviewedFinding) -> String {
    let open = if facts::fails(report, finding) {
        " open"
    } else {
        ""
    };
    format!(
        "<details{open}><summary><b>{} {}</b> {} <code>{}</code></summary>\n\n{}\n</details>\n\n",
        facts::labelled_severity(finding),
        finding.confidence,
        escape::inside_html(&one_line(&finding.title, TITLE)),
        escape::inside_html(&one_line(&finding.location.to_string(), NAME)),
        body(report, finding)
    )
}

/// Returns all that is known of a finding, without its headline.
pub(super) fn body(report: &ReviewReport, finding: &ReviewedFinding) -> String {
    let mut out = String::new();
    if !finding.frame.is_empty() {
        out.push_str(&escape::fenced(&frame::plain(&finding.frame)));
        out.push_str("\n\n");
    }
    if !finding.description.trim().is_empty() {
        out.push_str(&paragraphs(&finding.description));
        out.push_str("\n\n");
    }
    for (name, text) in fields(finding) {
        if !text.is_empty() {
            out.push_str(&format!("**{name}:** {text}\n\n"));
        }
    }
    let id = code(&one_line(&finding.id, NAME));
    out.push_str(&format!(
        "<sub>{id}, {}, {}; confidence: {}</sub>\n",
        finding.category,
        rich(&facts::standing(report, finding)),
        inline(&facts::calculation(&finding.trace))
    ));
    out
}

fn fields(finding: &ReviewedFinding) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("Trigger", paragraphs(&finding.trigger)),
        ("Fix", paragraphs(&finding.suggestion)),
        ("Said by", inline(&facts::voices(finding))),
    ];
    for said in said_of(finding) {
        fields.push((said.name, rich(&said.sentence())));
    }
    for doubt in facts::doubts(finding) {
        fields.push(("Doubt", rich(&doubt)));
    }
    let why = match finding.verdict {
        Verdict::Accepted => "Why",
        Verdict::Disputed => "Open",
        Verdict::Rejected => "Rejected",
    };
    fields.push((why, paragraphs(&finding.reasons.join("\n"))));
    if finding.verdict != Verdict::Accepted {
        fields.push(("Settled by", paragraphs(&prose(&finding.reversal))));
    }
    fields
}

fn reviewers(report: &ReviewReport) -> String {
    let mut out = String::from(
        "<details><summary>Reviewers</summary>\n\n\
         | Reviewer | Family | State | Findings | Time | Tokens | Cost |\n\
         |---|---|---|--:|--:|--:|--:|\n",
    );
    for reviewer in &report.reviewers {
        let (state, why) = facts::state(reviewer);
        let state = if why.is_empty() {
            state.to_owned()
        } else {
            format!("**{state}**: {}", inline(&why))
        };
        let [time, tokens, cost] = facts::effort(reviewer);
        out.push_str(&format!(
            "| {} | {} | {state} | {} | {time} | {} | {} |\n",
            inline(&one_line(&reviewer.name, NAME)),
            inline(&one_line(&reviewer.family, NAME)),
            reviewer.findings,
            tokens.trim_end_matches(" tokens"),
            inline(cost.trim_start_matches("cost "))
        ));
    }
    let (tokens, cost) = (words::tokens(report.usage), words::cost(report.cost));
    out + &format!("\nIn all: {tokens}, {}.\n\n</details>\n\n", inline(&cost))
}

fn coverage(report: &ReviewReport, options: &Options) -> String {
    if report.coverage.left_out.is_empty() {
        return String::new();
    }
    let total = facts::count(report.coverage.left_out.len(), "file");
    let mut out = format!("<details><summary>Not reviewed: {total}</summary>\n\n");
    let most = if options.details { 500 } else { NAMED };
    let (listed, more) = facts::left_out(&report.coverage, most);
    for (why, files) in listed {
        for file in files {
            let path = code(&one_line(&file.path, NAME));
            let detail = match one_line(&file.detail, NAME) {
                detail if detail.is_empty() => String::new(),
                detail => format!(" ({})", inline(&detail)),
            };
            out.push_str(&format!("- {path}: {why}{detail}\n"));
        }
    }
    if more > 0 {
        out.push_str(&format!("- and {more} more\n"));
    }
    if let Some(told) = facts::withheld(&report.coverage) {
        out.push_str(&format!("\n{}\n", inline(&told)));
    }
    out + "\n</details>\n\n"
}

fn endnotes(report: &ReviewReport) -> String {
    let mut out = String::new();
    if !report.fixed.is_empty() {
        out.push_str("**Fixed since the last review:**\n\n");
        for fixed in &report.fixed {
            let title = rich(&one_line(&fixed.title, TITLE));
            let place = code(&one_line(&fixed.location.to_string(), NAME));
            out.push_str(&format!("- {title} {place}\n"));
        }
        out.push('\n');
    }
    if !report.suppressed.is_empty() {
        let count = report.suppressed.len();
        out.push_str(&format!("**Suppressed: {count}**\n\n"));
        for one in report.suppressed.iter().take(ROWS) {
            let text = one_line(&facts::suppressed(one), PROSE);
            out.push_str(&format!("- {}\n", rich(&text)));
        }
        if let Some(more) = count.checked_sub(ROWS).filter(|more| *more > 0) {
            out.push_str(&format!("- and {more} more\n"));
        }
        out.push('\n');
    }
    for note in &report.notes {
        out.push_str(&format!("> {}\n\n", rich(&one_line(note, PROSE))));
    }
    let (case, policy) = (&report.case, inline(&one_line(&report.policy, NAME)));
    out + &format!("<sub>Tribunal, case {case}, policy {policy}</sub>\n")
}
