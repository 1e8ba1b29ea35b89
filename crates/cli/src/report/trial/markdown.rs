//! A trial in Markdown. Foreign text stays text, whatever it looks like.

use std::fmt::Write as _;

use tribunal_core::text::headline;
use tribunal_core::trial::report::{JudgeReport, TrialReport};

use super::text::{decree_text, designer, handed_in, hindsight_text};
use crate::report::review::markdown::{fenced, inline, paragraphs};
use crate::report::words;

/// Returns the report.
pub(super) fn render(report: &TrialReport) -> String {
    let mut text = format!("# Trial: {}\n\n", inline(&headline(&report.challenge, 100)));
    let _ = writeln!(text, "Case `{}`\n", report.case);
    if let Some(summary) = &report.summary {
        let _ = writeln!(text, "**{}**\n", inline(summary));
    }
    text.push_str("## Challenge\n\n");
    let _ = writeln!(text, "{}\n", paragraphs(&report.challenge));
    verdict(&mut text, report);
    matrix(&mut text, report);
    for judge in report.panel.iter().flat_map(|panel| &panel.judges) {
        reasons(&mut text, report, judge);
    }
    answers(&mut text, report);
    if !report.notes.is_empty() {
        text.push_str("## Notes\n\n");
        for note in &report.notes {
            let _ = writeln!(text, "- {}", inline(note));
        }
        text.push('\n');
    }
    if let Some(decree) = &report.decree {
        let note = decree
            .note
            .as_ref()
            .map(|note| format!(" ({})", inline(note)));
        let what = inline(&decree_text(report, &decree.decree));
        let _ = writeln!(text, "## Decree\n\n{what}{}\n", note.unwrap_or_default());
    }
    if let Some(hindsight) = &report.hindsight {
        let what = inline(&hindsight_text(report, hindsight));
        let _ = writeln!(text, "## In hindsight\n\n{what}\n");
    }
    let _ = writeln!(
        text,
        "{} runs, {}, cost: {}",
        report.spend.runs,
        words::tokens(report.spend.usage),
        words::spend(&report.spend)
    );
    text
}

/// Returns title and body of an issue that carries the result elsewhere.
pub(crate) fn issue(report: &TrialReport) -> String {
    let mut text = format!("# {}\n\n", inline(&headline(&report.challenge, 80)));
    let _ = writeln!(text, "{}\n", paragraphs(&report.challenge));
    if let Some(summary) = &report.summary {
        let _ = writeln!(text, "A trial came to this: **{}**\n", inline(summary));
    }
    let winner = report
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.winner.clone());
    let winner = winner.and_then(|id| {
        let mut all = report.contestants.iter();
        all.find(|one| one.contestant.id == id)
    });
    if let Some(output) = winner.and_then(|one| one.output.as_ref()) {
        let _ = writeln!(
            text,
            "## The winning answer\n\n{}\n",
            paragraphs(&output.text)
        );
        if let Some(work) = &output.work {
            let _ = writeln!(
                text,
                "Branch `{}`, commit `{}`.\n",
                work.branch, work.commit
            );
        }
    }
    if !report.reasoning.is_empty() {
        text.push_str("## What the judges said\n\n");
        for said in &report.reasoning {
            let _ = writeln!(text, "{}\n", paragraphs(said));
        }
    }
    let doubts = report.verdict.iter().flat_map(|verdict| &verdict.doubts);
    let doubts: Vec<String> = doubts
        .map(|doubt| format!("- {}\n", inline(&doubt.sentence(|id| report.name_of(id)))))
        .collect();
    if !doubts.is_empty() {
        let _ = writeln!(text, "## Doubts\n\n{}", doubts.concat());
    }
    text
}

fn verdict(text: &mut String, report: &TrialReport) {
    let Some(verdict) = &report.verdict else {
        return;
    };
    text.push_str("## Verdict\n\n| Rank | Contestant | Average | ± | 95 % |\n| --- | --- | --- | --- | --- |\n");
    for one in &verdict.ranking {
        let error = one.error.map_or_else(String::new, |error| error.tenths());
        let within = one.interval.map_or_else(String::new, |(low, high)| {
            format!("{} to {}", low.tenths(), high.tenths())
        });
        let name = inline(&report.name_of(&one.contestant));
        let (rank, average) = (one.rank, one.average.tenths());
        let _ = writeln!(text, "| {rank} | {name} | {average} | {error} | {within} |");
    }
    text.push('\n');
    let mut facts = vec![format!("method: {}", verdict.method)];
    if let Some(margin) = &verdict.margin {
        facts.push(format!("margin: {} points", margin.points.tenths()));
    }
    if let Some(sure) = verdict.confidence {
        facts.push(format!("confidence: {sure} %"));
    }
    if let Some(agreement) = verdict.agreement {
        let (alpha, n) = (agreement.alpha.hundredths(), agreement.n);
        facts.push(format!("agreement: α {alpha} over {n} scores"));
    }
    let _ = writeln!(text, "{}\n", facts.join(" · "));
    for doubt in &verdict.doubts {
        let _ = writeln!(
            text,
            "- Doubt: {}",
            inline(&doubt.sentence(|id| report.name_of(id)))
        );
    }
    for dissent in &report.minority {
        let _ = writeln!(
            text,
            "- Dissent: {} prefers {}. {}",
            inline(&dissent.judge),
            inline(&dissent.prefers.join(" and ")),
            inline(&dissent.summary)
        );
    }
    text.push('\n');
}

fn matrix(text: &mut String, report: &TrialReport) {
    let Some(panel) = &report.panel else {
        return;
    };
    let _ = writeln!(
        text,
        "## Scores\n\nJudges {}. {}\n",
        inline(&designer(&panel.by)),
        inline(&panel.reasoning)
    );
    let answered = || report.contestants.iter().filter(|one| one.output.is_some());
    let names: Vec<String> = answered().map(|one| inline(&one.contestant.name)).collect();
    let _ = writeln!(text, "| Judge | {} |", names.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(names.len()));
    for judge in &panel.judges {
        let cells: Vec<String> = answered()
            .map(|one| super::html::score_of(judge, &one.contestant.id))
            .map(|score| score.map_or_else(|| "–".to_owned(), |score| score.to_string()))
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} |",
            inline(&judge.judge.name),
            cells.join(" | ")
        );
    }
    text.push('\n');
}

fn reasons(text: &mut String, report: &TrialReport, judge: &JudgeReport) {
    let one = &judge.judge;
    let _ = writeln!(
        text,
        "## Judge: {}\n\n{}\n",
        inline(&one.name),
        paragraphs(&one.focus)
    );
    for (number, criterion) in (1..).zip(&one.criteria) {
        let _ = writeln!(text, "{number}. {}", inline(criterion));
    }
    let _ = writeln!(text, "\nWhy it sits: {}\n", inline(&one.reasoning));
    if let Some(why) = &judge.failed {
        let _ = writeln!(text, "Not counted: {}\n", inline(why));
    }
    for (title, evaluation) in [
        ("", &judge.evaluation),
        (" (in reverse order)", &judge.swapped),
    ] {
        let Some(evaluation) = evaluation else {
            continue;
        };
        for card in &evaluation.cards {
            let name = inline(&report.name_of(&card.contestant));
            let _ = writeln!(
                text,
                "### {name}: {}{title}\n\n{}\n",
                card.score,
                paragraphs(&card.reasoning)
            );
            for strength in &card.strengths {
                let _ = writeln!(text, "- Strength: {}", inline(strength));
            }
            for weakness in &card.weaknesses {
                let _ = writeln!(text, "- Weakness: {}", inline(weakness));
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{}\n", paragraphs(&evaluation.summary));
    }
}

fn answers(text: &mut String, report: &TrialReport) {
    for one in &report.contestants {
        let name = inline(&one.contestant.name);
        let (label, agent) = (&one.label, &one.contestant.agent);
        let _ = writeln!(
            text,
            "## Contestant {label}: {name}\n\n`{agent}`, {}\n",
            inline(&handed_in(one))
        );
        if !one.contestant.persona.is_empty() {
            let _ = writeln!(text, "{}\n", paragraphs(&one.contestant.persona));
        }
        let Some(output) = &one.output else {
            continue;
        };
        let _ = writeln!(text, "{}\n", fenced(&output.text));
        if let Some(work) = &output.work {
            if let Some(tested) = &work.tested {
                let _ = writeln!(
                    text,
                    "{}\n\n{}\n",
                    inline(&tested.ending),
                    fenced(&tested.output)
                );
            }
            let _ = writeln!(text, "{}\n", fenced(&work.diff));
        }
    }
}
