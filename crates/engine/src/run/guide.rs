//! Coordination: after repeated rejections both sides are told how to go on, never twice the same.

use tribunal_core::arbiter::Source;
use tribunal_core::event::WorkEvent;
use tribunal_core::prompt::{GuidePrompt, ask_again};
use tribunal_core::reply::{Guidance, read_signed_guidance};
use tribunal_core::task::Task;

use super::brief;
use super::progress::Progress;
use super::visit::Visit;
use crate::arbiter::ARBITER_STEP;
use crate::case::CaseError;

/// How often the arbiter is asked for guidance before the program gives its own.
const ATTEMPTS: u32 = 2;

impl Visit<'_> {
    /// Gives guidance to both sides, once for this number of rejections. As with the limit, a ruling
    /// or a reopening begins the count anew.
    pub(super) async fn guide(
        &self,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<(), CaseError> {
        let due = self.settings.run.coordinate_at.contains(&progress.rejected);
        if !due || progress.guided_at == progress.rejected {
            return Ok(());
        }
        let (guidance, source) = self.guidance(task, progress).await?;
        let event = WorkEvent::GuidanceGiven {
            rejections: task.rejections,
            coder: guidance.coder,
            reviewer: guidance.reviewer,
            source,
        };
        progress.work(&event);
        self.case.record([event.into()]).await
    }

    async fn guidance(
        &self,
        task: &Task,
        progress: &Progress,
    ) -> Result<(Guidance, Source), CaseError> {
        let earlier = progress.guidance.iter().map(|one| one.coder.clone());
        let earlier: Vec<String> = earlier.collect();
        let Some(agent) = self.arbiter.agent() else {
            return Ok(own_guidance(task, progress, "no arbiter is configured"));
        };
        let outline = brief::outline(task);
        let question = GuidePrompt {
            task: &outline,
            rejections: task.rejections,
            history: &progress.history,
            reasons: &progress.reasons,
            earlier_guidance: &earlier,
        };
        let mut problem = String::new();
        for attempt in 1..=ATTEMPTS {
            let name = format!("{ARBITER_STEP}guide after {} #{attempt}", task.rejections);
            let material = question.render("");
            let nonce = crate::review::nonce(self.seed, &name, &material);
            let mut prompt = question.render(&nonce);
            if attempt > 1 {
                prompt = ask_again(&prompt, &problem);
            }
            let put = self
                .engine
                .put_to_arbiter(self.case, agent, &name, prompt)
                .await?;
            let reply = match put {
                Ok(reply) => reply,
                Err(why) => return Ok(own_guidance(task, progress, &why)),
            };
            match read_signed_guidance(&reply.text, reply.structured.as_ref(), &nonce) {
                Ok(guidance) if earlier.iter().any(|one| is_same(one, &guidance.coder)) => {
                    problem = "the guidance is the same as one that was given before".to_owned();
                }
                Ok(guidance) => return Ok((guidance, Source::Model { attempt })),
                Err(why) => problem = why,
            }
        }
        Ok(own_guidance(task, progress, &problem))
    }
}

/// Compares what was said, whatever its blanks and capitals.
fn is_same(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    words(one) == words(other)
}

/// Returns what the program itself can say. The count makes it another text each time.
fn own_guidance(task: &Task, progress: &Progress, because: &str) -> (Guidance, Source) {
    let count = task.rejections;
    let last = progress.reasons.last().map_or("", String::as_str);
    let again = progress
        .reasons
        .iter()
        .rev()
        .skip(1)
        .any(|reason| is_same(reason, last));
    let way = match (again, count) {
        (true, _) => {
            "The last rejection says the same as one before it: what was done about it did not help. Read the code around it anew and choose another approach."
        }
        (false, 0..=4) => {
            "Deal with the findings below one by one, each with a test, before anything else."
        }
        (false, _) => {
            "Make the smallest change that meets the findings below, and leave everything else as it was before."
        }
    };
    let guidance = Guidance {
        coder: format!("After {count} rejections: {way}\n\n{last}"),
        reviewer: format!(
            "After {count} rejections: look first at whether the findings of the last review were met."
        ),
    };
    let source = Source::Fallback {
        because: because.to_owned(),
    };
    (guidance, source)
}
