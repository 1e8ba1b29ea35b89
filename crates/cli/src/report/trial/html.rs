//! A trial as one page that needs nothing else: no script, no request, no font, no image.

use std::fmt::Write as _;

use tribunal_core::text::{for_terminal, headline};
use tribunal_core::trial::report::{JudgeReport, TrialReport};
use tribunal_core::trial::{Evaluation, State};

use super::text::{decree_text, designer, handed_in, hindsight_text};
use crate::report::html::escaped;
use crate::report::words;

/// How the page looks.
const STYLE: &str = include_str!("style.css");

/// The hash of [`STYLE`], by which the page allows it and no other style.
pub(super) const STYLE_HASH: &str = "sha256-aEfo1Va3XyGpByOWDXN/tcLZXYTayy8eUJgYMaocVn4=";

/// Returns the page.
pub(super) fn render(report: &TrialReport) -> String {
    let title = text(&headline(&report.challenge, 100));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Trial: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    );
    page.push_str(&head(report, &title));
    page.push_str("<main>\n");
    page.push_str(&matrix(report));
    page.push_str(&verdict(report));
    page.push_str(&judges(report));
    page.push_str(&contestants(report));
    page.push_str(&notes(report));
    page.push_str("</main>\n");
    let _ = writeln!(
        page,
        "<footer>Case {} · {} runs, {}, cost: {}</footer>",
        report.case,
        report.spend.runs,
        words::tokens(report.spend.usage),
        text(&words::spend(&report.spend))
    );
    page + "</body>\n</html>\n"
}

/// Returns a judge's score of a contestant; of two orders the mean, rounded.
pub(super) fn score_of(judge: &JudgeReport, contestant: &str) -> Option<u32> {
    let of = |evaluation: &Evaluation| {
        let mut cards = evaluation.cards.iter();
        let card = cards.find(|card| card.contestant == contestant)?;
        Some(u32::try_from(card.score.rounded()).unwrap_or(0))
    };
    let first = of(judge.evaluation.as_ref()?)?;
    match judge.swapped.as_ref().and_then(of) {
        Some(second) => Some((first + second).div_ceil(2)),
        None => Some(first),
    }
}

fn head(report: &TrialReport, title: &str) -> String {
    let outcome = match (&report.summary, &report.state) {
        (Some(summary), _) => text(summary),
        (None, State::Failed { phase, cause }) => format!("Failed while {phase}: {}", text(cause)),
        (None, State::In { phase }) => format!("{phase}: there is no verdict yet"),
    };
    format!(
        "<header>\n<p class=\"kind\">Trial</p>\n<h1>{title}</h1>\n<p class=\"outcome\">{outcome}</p>\n\
         <details><summary>The whole challenge</summary>{}</details>\n</header>\n",
        prose(&report.challenge)
    )
}

/// Returns the scores as a heat map: a row per judge, a column per contestant.
fn matrix(report: &TrialReport) -> String {
    let Some(panel) = &report.panel else {
        return String::new();
    };
    let ranked: Vec<String> = match &report.verdict {
        Some(verdict) => verdict
            .ranking
            .iter()
            .map(|one| one.contestant.clone())
            .collect(),
        None => {
            let answered = report.contestants.iter().filter(|one| one.output.is_some());
            answered.map(|one| one.contestant.id.clone()).collect()
        }
    };
    let mut out = String::from(
        "<section>\n<h2>Scores</h2>\n<div class=\"wide\"><table class=\"heat\">\n<thead><tr><th>Judge</th>",
    );
    for id in &ranked {
        let _ = write!(out, "<th>{}</th>", text(&report.name_of(id)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for judge in &panel.judges {
        let _ = write!(out, "<tr><th>{}</th>", text(&judge.judge.name));
        for id in &ranked {
            match score_of(judge, id) {
                Some(score) => {
                    let _ = write!(out, "<td class=\"h{}\">{score}</td>", score.min(100) / 10);
                }
                None => out.push_str("<td class=\"none\">–</td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n");
    if let Some(verdict) = &report.verdict {
        out.push_str("<tfoot><tr><th>Average</th>");
        for one in &verdict.ranking {
            let heat = one.average.rounded().clamp(0, 100) / 10;
            let _ = write!(out, "<td class=\"h{heat}\">{}</td>", one.average.tenths());
        }
        out.push_str("</tr></tfoot>\n");
    }
    out + "</table></div>\n</section>\n"
}

fn verdict(report: &TrialReport) -> String {
    let Some(verdict) = &report.verdict else {
        return String::new();
    };
    let mut out = String::from("<section>\n<h2>Verdict</h2>\n<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", text(&value));
    };
    let weighted = if verdict.weighted {
        ", judges weighted by their record"
    } else {
        ""
    };
    fact("Method", format!("{}{weighted}", verdict.method));
    if let Some(margin) = &verdict.margin {
        let between = margin.interval.map_or_else(String::new, |(low, high)| {
            format!(", 95 % within {} to {}", low.tenths(), high.tenths())
        });
        let clear = if margin.clear { "clear" } else { "not clear" };
        let over = report.name_of(&margin.over);
        fact(
            "Margin",
            format!(
                "{} points over {over}{between}: {clear}",
                margin.points.tenths()
            ),
        );
    }
    if let Some(sure) = verdict.confidence {
        fact("Confidence", format!("{sure} %"));
    }
    if let Some(agreement) = verdict.agreement {
        let (alpha, n) = (agreement.alpha.hundredths(), agreement.n);
        fact(
            "Agreement",
            format!("Krippendorff's α {alpha} over {n} scores"),
        );
    }
    out.push_str("</dl>\n");
    if !verdict.doubts.is_empty() {
        out.push_str("<h3>Doubts</h3>\n<ul class=\"doubts\">\n");
        for doubt in &verdict.doubts {
            let _ = writeln!(
                out,
                "<li>{}</li>",
                text(&doubt.sentence(|id| report.name_of(id)))
            );
        }
        out.push_str("</ul>\n");
    }
    for dissent in &report.minority {
        let _ = writeln!(
            out,
            "<blockquote><p><strong>Dissent: {} prefers {}.</strong> {}</p></blockquote>",
            text(&dissent.judge),
            text(&dissent.prefers.join(" and ")),
            text(&dissent.summary)
        );
    }
    out + "</section>\n"
}

fn judges(report: &TrialReport) -> String {
    let Some(panel) = &report.panel else {
        return String::new();
    };
    let mut out = format!(
        "<section>\n<h2>Judges <small>{}</small></h2>\n{}",
        text(&designer(&panel.by)),
        prose(&panel.reasoning)
    );
    for judge in &panel.judges {
        let one = &judge.judge;
        let _ = write!(
            out,
            "<article>\n<h3>{} <small>{}</small></h3>\n{}<ol>",
            text(&one.name),
            text(one.agent.as_str()),
            prose(&one.focus)
        );
        for criterion in &one.criteria {
            let _ = write!(out, "<li>{}</li>", text(criterion));
        }
        let _ = writeln!(out, "</ol>\n<p class=\"why\">{}</p>", text(&one.reasoning));
        if let Some(why) = &judge.failed {
            let _ = writeln!(out, "<p class=\"failed\">Not counted: {}</p>", text(why));
        }
        if let Some(evaluation) = &judge.evaluation {
            out.push_str(&cards(report, evaluation, ""));
        }
        if let Some(evaluation) = &judge.swapped {
            out.push_str(&cards(report, evaluation, " in reverse order"));
        }
        out.push_str("</article>\n");
    }
    out + "</section>\n"
}

fn cards(report: &TrialReport, evaluation: &Evaluation, how: &str) -> String {
    let mut out = String::new();
    for card in &evaluation.cards {
        let heat = u32::try_from(card.score.rounded().clamp(0, 100)).unwrap_or(0) / 10;
        let _ = write!(
            out,
            "<details open><summary><span class=\"score h{heat}\">{}</span> {}{how}</summary>\n{}<ul>",
            card.score,
            text(&report.name_of(&card.contestant)),
            prose(&card.reasoning)
        );
        for strength in &card.strengths {
            let _ = write!(out, "<li class=\"plus\">{}</li>", text(strength));
        }
        for weakness in &card.weaknesses {
            let _ = write!(out, "<li class=\"minus\">{}</li>", text(weakness));
        }
        out.push_str("</ul></details>\n");
    }
    out + &prose(&evaluation.summary)
}

fn contestants(report: &TrialReport) -> String {
    let mut out = String::from("<section>\n<h2>Contestants</h2>\n");
    for one in &report.contestants {
        let _ = write!(
            out,
            "<article>\n<h3>{} {} <small>{}: {}</small></h3>\n",
            one.label,
            text(&one.contestant.name),
            text(one.contestant.agent.as_str()),
            text(&handed_in(one))
        );
        if !one.contestant.persona.is_empty() {
            let _ = writeln!(
                out,
                "<p class=\"why\">{}</p>",
                text(&one.contestant.persona)
            );
        }
        if let Some(output) = &one.output {
            let _ = writeln!(
                out,
                "<details><summary>What it handed in</summary><pre>{}</pre></details>",
                text(&output.text)
            );
            if let Some(work) = &output.work {
                if let Some(tested) = &work.tested {
                    let _ = writeln!(
                        out,
                        "<details><summary>{}</summary><pre>{}</pre></details>",
                        text(&format!("{}: {}", tested.command, tested.ending)),
                        text(&tested.output)
                    );
                }
                let _ = writeln!(
                    out,
                    "<details><summary>Its changes</summary><pre>{}</pre></details>",
                    text(&work.diff)
                );
            }
        }
        out.push_str("</article>\n");
    }
    out + "</section>\n"
}

fn notes(report: &TrialReport) -> String {
    let mut out = String::new();
    if !report.notes.is_empty() {
        out.push_str("<section>\n<h2>Notes</h2>\n<ul>\n");
        for note in &report.notes {
            let _ = writeln!(out, "<li>{}</li>", text(note));
        }
        out.push_str("</ul>\n</section>\n");
    }
    if let Some(decree) = &report.decree {
        let note = decree.note.as_deref().unwrap_or_default();
        let _ = writeln!(
            out,
            "<section>\n<h2>Decree</h2>\n<p>{}</p>\n{}</section>",
            text(&decree_text(report, &decree.decree)),
            prose(note)
        );
    }
    if let Some(hindsight) = &report.hindsight {
        let _ = writeln!(
            out,
            "<section>\n<h2>In hindsight</h2>\n<p>{}</p>\n</section>",
            text(&hindsight_text(report, hindsight))
        );
    }
    out
}

/// Returns foreign text as text of a page.
fn text(foreign: &str) -> String {
    escaped(&for_terminal(foreign))
}

/// Returns foreign text as paragraphs.
fn prose(foreign: &str) -> String {
    let parts = foreign.split("\n\n").filter(|part| !part.trim().is_empty());
    parts
        .map(|part| format!("<p>{}</p>\n", text(part.trim())))
        .collect()
}
