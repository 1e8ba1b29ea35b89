//! What judges and the arbiter are shown of what a contestant handed in.

use tribunal_core::text::truncate_chars;
use tribunal_core::trial::{AnswerMask, Output};

use super::Hall;
use crate::case::CaseError;

/// A third of what may be shown of an answer is enough for what is said about changes.
const SUMMARY: usize = 3;

impl Hall<'_> {
    /// Returns what others are shown of the output with this hash.
    pub(super) fn material(&self, hash: &str) -> Result<String, CaseError> {
        let output: Output = self.engine.get_json(hash)?;
        let shown = shown(&output, self.request.answer_chars);
        let Some(hidden) = &self.request.hidden else {
            return Ok(shown);
        };
        let place = self.engine.dir.worktrees(self.case.id());
        let resolved = place.canonicalize().ok();
        let places = resolved.into_iter().chain([place]);
        let places = places.map(|place| place.display().to_string()).collect();
        Ok(AnswerMask::new(hidden.iter().map(String::as_str), places).hide(&shown))
    }
}

/// Returns how much of an output others see, in percent, if they do not see all of it.
pub(super) fn shown_percent(output: &Output, most: usize) -> Option<u8> {
    let seen = |text: &str, most: usize| {
        let all = text.chars().count();
        (all.min(most), all)
    };
    let (shown, all) = match &output.work {
        None => seen(&output.text, most),
        Some(work) => {
            let (text, diff) = (seen(&output.text, most / SUMMARY), seen(&work.diff, most));
            (text.0 + diff.0, text.1 + diff.1)
        }
    };
    // Rounded down: what was cut is never called whole.
    (shown < all).then(|| u8::try_from(shown * 100 / all).unwrap_or(99))
}

/// Returns an output as others see it, shortened to what is allowed.
fn shown(output: &Output, most: usize) -> String {
    let shorten = |text: &str, most: usize| -> String {
        match text.chars().count() > most {
            true => format!("{}\n[shortened by the program]", truncate_chars(text, most)),
            false => text.to_owned(),
        }
    };
    let Some(work) = &output.work else {
        return shorten(&output.text, most);
    };
    let summary = shorten(&output.text, most / SUMMARY);
    let mut parts = vec![format!("## Summary\n\n{summary}")];
    if let Some(tested) = &work.tested {
        let (command, ending) = (&tested.command, &tested.ending);
        let printed = &tested.output;
        parts.push(format!(
            "## Outcome of `{command}`\n\n{ending}\n\n{printed}"
        ));
    }
    parts.push(format!("## Changes\n\n{}", shorten(&work.diff, most)));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use tribunal_core::trial::Work;

    use super::*;

    #[test]
    fn an_output_is_whole_exactly_when_nothing_of_it_was_shortened() {
        for (text, diff) in [
            (30, None),
            (31, None),
            (10, Some(30)),
            (11, Some(5)),
            (5, Some(31)),
        ] {
            let output = Output {
                text: "x".repeat(text),
                work: diff.map(|diff| Work {
                    commit: String::new(),
                    branch: String::new(),
                    files: Vec::new(),
                    diff: "y".repeat(diff),
                    left_out: Vec::new(),
                    tested: None,
                }),
            };
            let shortened = shown(&output, 30).contains("[shortened by the program]");
            assert_eq!(
                shown_percent(&output, 30).is_some(),
                shortened,
                "{text} {diff:?}"
            );
        }
    }
}
