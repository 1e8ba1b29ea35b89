//! Questions to the person at the terminal.

use async_trait::async_trait;
use inquire::{InquireError, Select, Text};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use tribunal_core::dispute::{Decision, Dispute, Party, Recourse};
use tribunal_core::finding::Location;
use tribunal_core::text::{for_terminal, truncate_chars};
use tribunal_engine::human::{DisputeBackground, Human, Interrupted};

use crate::exit::Exit;
use crate::report::without_progress;
use crate::stopping::stop_signal;

/// Longest text of a side that is shown above the menu, in characters.
const LONGEST_POSITION: usize = 2_000;

/// How many lines of code are shown above the menu.
const MOST_LINES: usize = 24;

/// The person who started the program.
pub(crate) struct Terminal;

#[async_trait]
impl Human for Terminal {
    async fn choose_recourse(
        &self,
        dispute: &Dispute,
        background: &DisputeBackground,
        has_judge: bool,
        preselected: Recourse,
    ) -> Result<Recourse, Interrupted> {
        let summary = summary(dispute, background);
        at_terminal(move || {
            tell(&summary);
            let choices = choices(has_judge);
            let start = choices.iter().position(|(one, _)| *one == preselected);
            let labels: Vec<&str> = choices.iter().map(|(_, label)| *label).collect();
            if !has_judge {
                tell(&tip());
            }
            let menu = Select::new("How to resolve?", labels)
                .with_starting_cursor(start.unwrap_or(0))
                .raw_prompt()?;
            Ok(choices[menu.index].0)
        })
        .await
    }

    async fn rule(&self, dispute: &Dispute) -> Result<(Decision, String), Interrupted> {
        let summary = format!("You decide about {}.\n", dispute.id);
        at_terminal(move || {
            tell(&summary);
            let labels = vec![
                "Enforce: the coder carries it out",
                "Dismiss: the finding falls",
                "Amend: the coder does something else",
            ];
            let choice = Select::new("Your ruling?", labels).raw_prompt()?.index;
            let decision = match choice {
                0 => Decision::Enforce,
                1 => Decision::Dismiss,
                _ => Decision::Amend {
                    instructions: required("What is the coder to do?")?,
                },
            };
            let notes = required("Why?")?;
            Ok((decision, notes))
        })
        .await
    }
}

/// Asks where waiting does no harm; whoever leaves without an answer has decided nothing.
async fn at_terminal<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, InquireError> + Send + 'static,
) -> Result<T, Interrupted> {
    // What has happened is told before the question, and nothing while it stands there.
    tokio::task::yield_now().await;
    let before = tcgetattr(std::io::stdin()).ok();
    let asked = tokio::task::spawn_blocking(|| without_progress(ask));
    tokio::select! {
        asked = asked => match asked {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) | Err(_) => Err(Interrupted),
        },
        // A terminal that is gone answers every read with nothing, for ever, and the thread that asks
        // cannot be called back. Nothing is lost: the case goes on from what is on disk.
        () = stop_signal() => {
            if let Some(before) = before {
                let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &before);
            }
            std::process::exit(Exit::Interrupted as i32);
        }
    }
}

fn required(question: &str) -> Result<String, InquireError> {
    loop {
        let answer = Text::new(question).prompt()?;
        if !answer.trim().is_empty() {
            return Ok(answer.trim().to_owned());
        }
        tell("Please write something; it goes on record.\n");
    }
}

fn choices(has_judge: bool) -> Vec<(Recourse, &'static str)> {
    let mut choices = Vec::new();
    if has_judge {
        choices.push((Recourse::Judge, "1. Use AI judge"));
        choices.push((Recourse::Human, "2. I'll decide"));
        choices.push((Recourse::Discard, "3. Discard opinion"));
    } else {
        choices.push((Recourse::Human, "1. I'll decide"));
        choices.push((Recourse::Discard, "2. Discard opinion"));
    }
    choices
}

fn tip() -> String {
    let yellow = anstyle::AnsiColor::Yellow.on_default();
    format!(
        "{yellow}Tip: You can assign a judge with: tribunal connect <agent> --role judge{yellow:#}\n"
    )
}

/// Returns what the dispute is about, the code, what both sides say, and what was ruled before.
fn summary(dispute: &Dispute, background: &DisputeBackground) -> String {
    let bold = anstyle::Style::new().bold();
    let clean = |text: &str| for_terminal(&truncate_chars(text, LONGEST_POSITION)).into_owned();
    let mut text = format!(
        "\n{bold}Dispute {}: {}{bold:#}\n",
        dispute.id,
        clean(dispute.opening.subject.title())
    );
    if let Some(finding) = dispute.opening.subject.finding() {
        let place = clean(&finding.location.to_string());
        text.push_str(&format!("{}  {place}\n", background.weight));
    }
    let finding = dispute.opening.subject.finding();
    let place = finding.map(|finding| &finding.location);
    for line in lines_around(&background.code, place) {
        text.push_str(&format!("  {}\n", clean(&line)));
    }
    for party in [Party::Reviewer, Party::Coder] {
        if let Some(position) = dispute.position(party) {
            let said = clean(&position.text).replace('\n', "\n  ");
            text.push_str(&format!("The {party} says:\n  {said}\n"));
        }
    }
    if let Some(objection) = &dispute.opening.objection {
        text.push_str(&format!("Ground: {}\n", clean(&objection.phrase())));
    }
    for evidence in &dispute.opening.evidence {
        text.push_str(&format!(
            "Evidence: {} {}, {}\n",
            evidence.kind.phrase(),
            clean(&evidence.reference),
            clean(&evidence.check.phrase())
        ));
    }
    if let Some(lack) = dispute.opening.lack_of_evidence() {
        text.push_str(&format!("Note: {lack}\n"));
    }
    for precedent in &background.precedents {
        text.push_str(&format!("Ruled before: {}\n", clean(precedent)));
    }
    text
}

/// Returns the lines of code that a person sees: those around `place`, with the name of the file,
/// or the first ones. What is left out is said.
fn lines_around(code: &str, place: Option<&Location>) -> Vec<String> {
    let lines: Vec<&str> = code.lines().skip_while(|line| line.is_empty()).collect();
    let number = |line: &str| line.split_whitespace().next()?.parse::<u32>().ok();
    let wanted = place.and_then(|place| {
        let file = place.file.as_str();
        let heading = lines.iter().position(|line| {
            let is_heading = line.starts_with("=== ") || line.starts_with("FILE ");
            is_heading && line.split_whitespace().nth(1) == Some(file)
        });
        let start = heading.unwrap_or(0);
        let (first, _) = place.lines()?;
        let row = lines[start..]
            .iter()
            .position(|line| number(line) == Some(first))?;
        Some((heading, start + row))
    });
    let (heading, row) = wanted.unwrap_or((None, 0));
    let from = row.saturating_sub(MOST_LINES / 2);
    let to = (from + MOST_LINES).min(lines.len());
    let mut shown = Vec::new();
    if let Some(heading) = heading.filter(|heading| *heading < from) {
        shown.push(lines[heading].to_owned());
    }
    if from > 0 {
        shown.push("…".to_owned());
    }
    shown.extend(lines[from..to].iter().map(|line| (*line).to_owned()));
    match lines.len() - to {
        0 => {}
        1 => shown.push("… and 1 more line".to_owned()),
        more => shown.push(format!("… and {more} more lines")),
    }
    shown
}

fn tell(text: &str) {
    use std::io::Write as _;
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> Location {
        Location {
            file: file.to_owned(),
            line: Some(line),
            ..Location::default()
        }
    }

    #[test]
    fn the_disputed_line_is_among_the_lines_that_are_shown() {
        let rows = |count: u32| -> String {
            let row = |number| format!("{number:>6} + line {number}\n");
            (1..=count).map(row).collect()
        };
        let code = format!(
            "\n=== a.py (changed)\n{}=== b.py (changed)\n{}",
            rows(160),
            rows(600)
        );
        for (file, line) in [
            ("a.py", 1),
            ("a.py", 81),
            ("a.py", 160),
            ("b.py", 3),
            ("b.py", 500),
        ] {
            let shown = lines_around(&code, Some(&place(file, line)));
            let row = format!("{line:>6} + line {line}");
            assert!(shown.contains(&row), "{file}:{line}: {shown:#?}");
            let heading = format!("=== {file} (changed)");
            let named = shown.iter().position(|one| *one == heading);
            let found = shown.iter().rposition(|one| *one == row);
            assert!(
                named.is_some() && named < found,
                "{file}:{line}: {shown:#?}"
            );
            assert!(shown.len() <= MOST_LINES + 3, "{file}:{line}");
        }
        // A place that the code does not have leaves its beginning.
        let shown = lines_around(&code, Some(&place("gone.py", 9_999)));
        assert_eq!(shown[0], "=== a.py (changed)");
        assert_eq!(lines_around("one\n", None), ["one"]);
        assert!(lines_around("", None).is_empty());
    }
}
