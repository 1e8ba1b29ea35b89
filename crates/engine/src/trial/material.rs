//! What judges and the arbiter are shown of what a contestant handed in.

use tribunal_core::text::truncate_chars;
use tribunal_core::trial::Output;

use super::Hall;
use crate::case::CaseError;

/// A third of what may be shown of an answer is enough for what is said about changes.
const SUMMARY: usize = 3;

impl Hall<'_> {
    /// Returns what others are shown of the output with this hash.
    pub(super) fn material(&self, hash: &str) -> Result<String, CaseError> {
        let output: Output = self.engine.get_json(hash)?;
        Ok(shown(&output, self.request.answer_chars))
    }
}

/// Tells whether others see an output whole.
pub(super) fn is_shown_whole(output: &Output, most: usize) -> bool {
    let fits = |text: &str, most: usize| text.chars().count() <= most;
    match &output.work {
        None => fits(&output.text, most),
        Some(work) => fits(&output.text, most / SUMMARY) && fits(&work.diff, most),
    }
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
            assert_eq!(is_shown_whole(&output, 30), !shortened, "{text} {diff:?}");
        }
    }
}
