//! A verdict in words and figures, for people.

use std::fmt::Write as _;

use tribunal_core::text::for_terminal;
use tribunal_core::trial::report::summary;
use tribunal_core::verdict::{Points, Ranked, Seated, Verdict};

/// Returns the verdict as text; `name` tells how a contestant is called.
pub(crate) fn render(verdict: &Verdict, name: impl Fn(&str) -> String) -> String {
    let name = |id: &str| for_terminal(&name(id)).replace('\n', " ");
    let mut text = format!("{}\n\n", summary(verdict, name));
    let names: Vec<String> = verdict
        .ranking
        .iter()
        .map(|one| name(&one.contestant))
        .collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    for (one, name) in verdict.ranking.iter().zip(&names) {
        let _ = writeln!(
            text,
            "  {}. {name:<width$}  {}",
            one.rank,
            figures(verdict, one)
        );
    }
    text.push('\n');
    if let Some(margin) = &verdict.margin {
        let over = name(&margin.over);
        let points = margin.points.tenths();
        let sure = match (margin.interval, margin.clear) {
            (None, _) => ", too few judges for an interval".to_owned(),
            (Some(_), true) => format!("{}, clear", between(margin.interval)),
            (Some(_), false) => format!("{}, not clear", between(margin.interval)),
        };
        let _ = writeln!(text, "Margin: {points} points over {over}{sure}");
    }
    if let Some(sure) = verdict.confidence {
        let (counted, left_out) = (verdict.judges.len(), verdict.excluded.len());
        let of = match left_out {
            0 => String::new(),
            _ => format!(", {counted} of {} judges", counted + left_out),
        };
        let _ = writeln!(text, "Confidence: {sure} %{of}");
    }
    if let Some(agreement) = verdict.agreement {
        let (alpha, n) = (agreement.alpha.hundredths(), agreement.n);
        let _ = writeln!(text, "Agreement: Krippendorff's α {alpha} over {n} scores");
    }
    judges(&mut text, verdict, &name);
    if !verdict.doubts.is_empty() {
        text.push_str("Doubts:\n");
        for doubt in &verdict.doubts {
            let _ = writeln!(
                text,
                "  - {}",
                for_terminal(&doubt.sentence(name)).replace('\n', " ")
            );
        }
    }
    text
}

fn figures(verdict: &Verdict, one: &Ranked) -> String {
    let mut figures = format!("{:>5}", one.average.tenths());
    if let Some(error) = one.error {
        let _ = write!(figures, " ± {}", error.tenths());
    }
    figures.push_str(&between(one.interval));
    if one.score != one.average {
        let how = match verdict.weighted {
            true => format!("{}, weighted", verdict.method),
            false => verdict.method.to_string(),
        };
        let _ = write!(figures, "  {how}: {}", one.score.tenths());
    }
    figures
}

fn between(interval: Option<(Points, Points)>) -> String {
    match interval {
        Some((low, high)) => format!(", 95 % within {} to {}", low.tenths(), high.tenths()),
        None => String::new(),
    }
}

fn judges(text: &mut String, verdict: &Verdict, name: &impl Fn(&str) -> String) {
    text.push_str("Judges:\n");
    let clean = |judge: &str| for_terminal(judge).replace('\n', " ");
    for judge in &verdict.judges {
        let prefers: Vec<String> = judge.prefers.iter().map(|id| name(id)).collect();
        let _ = writeln!(
            text,
            "  {}: prefers {}{}{}{}",
            clean(&judge.judge),
            prefers.join(" and "),
            lean(judge),
            if verdict.weighted {
                format!(", weighs {} %", judge.weight.rounded())
            } else {
                String::new()
            },
            flips(judge, name),
        );
    }
    for one in &verdict.excluded {
        let _ = writeln!(
            text,
            "  {}: not counted, {}",
            clean(&one.judge),
            clean(&one.why)
        );
    }
}

fn lean(judge: &Seated) -> String {
    let points = judge.lean.rounded();
    let side = if points < 0 { "lower" } else { "higher" };
    match points.abs() {
        0 => String::new(),
        1 => format!("; scores 1 point {side} than others on average"),
        points => format!("; scores {points} points {side} than others on average"),
    }
}

fn flips(judge: &Seated, name: &impl Fn(&str) -> String) -> String {
    let flips: Vec<String> = judge
        .flips
        .iter()
        .map(|flip| format!("{} and {}", name(&flip.first), name(&flip.then)))
        .collect();
    match flips.is_empty() {
        true => String::new(),
        false => format!(", reversed {} with their order", flips.join("; ")),
    }
}
