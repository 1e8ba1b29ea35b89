//! Puts the change to every reviewer, in parallel and blind, and reads what comes back.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::{ErrorClass, Role};
use tribunal_core::event::EventKind;
use tribunal_core::finding::{Finding, Source};
use tribunal_core::ids::AgentName;
use tribunal_core::prompt::{FindPrompt, ask_again};
use tribunal_core::reply::{Author, Findings, Problem, first_of_each_result, read_signed_findings};
use tribunal_core::review::report::{ReviewerState, SuppressedFinding};
use tribunal_core::text::truncate_chars;

use super::ask::{Asking, Unanswered, attempt_step, repeated_step};
use super::cited_path::tools_path;
use super::material::Part;
use super::tool::ToolSeat;
use super::{ReviewRequest, nonce};
use crate::case::CaseError;
use crate::change::{Change, Repository};

/// A part is halved at most so often for a model whose context is too small.
const MOST_HALVINGS: u32 = 6;

/// Most findings that one answer may report.
const MOST_FINDINGS: usize = 1_000;

/// Longest text of a finding, in characters.
const LONGEST_TEXT: usize = 20_000;

/// What came from one member of the panel.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    /// Its name.
    pub(crate) name: String,
    /// Its family.
    pub(crate) family: String,
    /// What it reported.
    pub(crate) findings: Vec<Finding>,
    /// Whether everything it was asked has a complete answer.
    pub(crate) state: ReviewerState,
    /// What of its answers could not be used.
    pub(crate) problems: Vec<String>,
    /// The files that it gave a complete answer about.
    pub(crate) covered: Vec<String>,
    /// How many findings of a tool are about code that is not under review.
    pub(crate) elsewhere: usize,
    /// What people should know about it, one sentence each.
    pub(crate) notes: Vec<String>,
    /// What it does not report because a comment suppresses it.
    pub(crate) suppressed: Vec<SuppressedFinding>,
}

/// An agent as a member of the panel.
#[derive(Debug, Clone)]
pub(crate) struct AgentMember {
    pub(crate) name: AgentName,
    pub(crate) family: String,
    pub(crate) domains: Vec<String>,
    /// What is known of it before it runs, where it is a tool.
    pub(crate) tool: Option<ToolSeat>,
}

impl AgentMember {
    pub(super) fn author(&self) -> Author {
        Author {
            reviewer: self.name.to_string(),
            family: self.family.clone(),
        }
    }
}

/// What all questions of a review share.
#[derive(Clone, Copy)]
pub(crate) struct Hearing<'a> {
    pub(crate) asking: Asking<'a>,
    pub(crate) repository: &'a Repository,
    pub(crate) request: &'a ReviewRequest,
    /// The parts of the change.
    pub(crate) parts: &'a [Part],
}

/// What came of one part.
pub(super) enum PartAnswer {
    /// An answer that was read, perhaps with problems.
    Read(Findings),
    /// No answer: the run failed.
    Failed(AgentError),
    /// The provider waits; others go on.
    Parked(String),
}

impl Hearing<'_> {
    /// Puts every part to one agent and returns what it said in all.
    pub(crate) async fn agent(self, member: &AgentMember) -> Result<Heard, CaseError> {
        let mut heard = Heard::nothing_yet(member);
        let mut waiting = FuturesUnordered::new();
        for (index, part) in self.parts.iter().enumerate() {
            let phase = &self.request.phase;
            let (name, parts) = (&member.name, self.parts.len());
            let key = format!("{phase}review {name} {}/{parts}", index + 1);
            waiting.push(async move {
                let answers = self.part(member, key, index + 1, part.clone(), 0).await;
                (index, answers)
            });
        }
        let mut answers = Vec::new();
        let mut stopped = None;
        while let Some((index, result)) = waiting.next().await {
            match result {
                Ok(answer) => answers.push((index, answer)),
                // The other parts are under way, and their answers are kept.
                Err(error) => stopped = stopped.or(Some(error)),
            }
        }
        if let Some(error) = stopped {
            return Err(error);
        }
        answers.sort_by_key(|(index, _)| *index);
        for (paths, answer) in answers.into_iter().flat_map(|(_, answers)| answers) {
            heard.take(paths, answer);
        }
        number(&mut heard.findings);
        self.record_if_missing(&heard).await?;
        Ok(heard)
    }

    pub(super) async fn record_if_missing(self, heard: &Heard) -> Result<(), CaseError> {
        let ReviewerState::Missing { why, .. } = &heard.state else {
            return Ok(());
        };
        let missed = EventKind::ReviewerMissed {
            reviewer: heard.name.clone(),
            why: why.clone(),
        };
        self.asking.case.record([missed]).await
    }

    pub(super) async fn note_heard(
        self,
        member: &AgentMember,
        part: usize,
        parts: usize,
        found: &Findings,
    ) {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let heard = EventKind::ReviewerHeard {
            reviewer: member.name.to_string(),
            part: count(part),
            parts: count(parts),
            findings: count(found.findings.len()),
            problems: found.problems.iter().map(ToString::to_string).collect(),
        };
        self.asking.case.note(heard).await;
    }

    /// Puts one part, halved if the model cannot take it, and returns the answers with the files
    /// they are about.
    async fn part(
        self,
        member: &AgentMember,
        key: String,
        number: usize,
        part: Part,
        depth: u32,
    ) -> Result<Vec<(Vec<String>, PartAnswer)>, CaseError> {
        let answer = self.one_answer(member, &key, number, &part).await?;
        let too_long = |error: &AgentError| error.class == ErrorClass::ContextTooLong;
        let halves = match &answer {
            PartAnswer::Failed(error) if too_long(error) && depth < MOST_HALVINGS => part.halves(),
            _ => None,
        };
        let Some((first, second)) = halves else {
            return Ok(vec![(part.paths, answer)]);
        };
        let mut answers = Vec::new();
        for (letter, half) in [('a', first), ('b', second)] {
            let key = format!("{key}{letter}");
            answers.extend(Box::pin(self.part(member, key, number, half, depth + 1)).await?);
        }
        Ok(answers)
    }

    /// Asks about one part. An answer of an earlier sitting that could not be used is asked for anew,
    /// as a step of its own.
    async fn one_answer(
        self,
        member: &AgentMember,
        key: &str,
        number: usize,
        part: &Part,
    ) -> Result<PartAnswer, CaseError> {
        let recorded = &self.request.recorded;
        let mut best: Option<Findings> = None;
        for attempt in 1.. {
            let anew = self.asking.may_ask_anew(recorded, key, attempt).await?;
            let step = attempt_step(key, attempt);
            let found = match self.one_attempt(member, &step, number, part).await? {
                PartAnswer::Read(found) => found,
                // An answer that could be read in part is better than none.
                missing => return Ok(best.map_or(missing, PartAnswer::Read)),
            };
            let is_usable = found.answered && found.problems.is_empty();
            if is_usable || !anew {
                let found = match best {
                    Some(best) if !found.answered => best,
                    _ => found,
                };
                self.note_heard(member, number, self.parts.len(), &found)
                    .await;
                return Ok(PartAnswer::Read(found));
            }
            best = Some(found).filter(|found| found.answered).or(best);
        }
        Ok(PartAnswer::Read(Findings::default()))
    }

    /// Asks about one part; once more if the answer cannot be read.
    async fn one_attempt(
        self,
        member: &AgentMember,
        key: &str,
        number: usize,
        part: &Part,
    ) -> Result<PartAnswer, CaseError> {
        let guidance = &self.request.guidance;
        let nonce = nonce(
            &self.request.seed,
            key,
            &format!("{guidance}\n{}", part.material),
        );
        let prompt = FindPrompt {
            nonce: &nonce,
            title: &self.request.pinned.title,
            domains: &member.domains,
            mandatory: &self.request.mandatory,
            guidance,
            part: number,
            parts: self.parts.len(),
            material: &part.material,
        }
        .render();
        let author = member.author();
        let read = |reply: &Reply| {
            let structured = reply.structured.as_ref();
            bounded(read_signed_findings(
                &reply.text,
                structured,
                &nonce,
                &author,
            ))
        };
        let mut found = match self.ask(member, key, prompt.clone()).await? {
            Ok(reply) => read(&reply),
            Err(answer) => return Ok(answer),
        };
        if !found.answered || !found.problems.is_empty() {
            let again = ask_again(&prompt, &in_one_line(&found));
            let second = match self.ask(member, &repeated_step(key), again).await? {
                Ok(reply) => read(&reply),
                // The first answer is better than none; what it lacks is known.
                Err(PartAnswer::Failed(_)) if found.answered => Findings::default(),
                Err(answer) => return Ok(answer),
            };
            if second.answered {
                found = second;
            }
        }
        Ok(PartAnswer::Read(found))
    }

    /// Puts one question and returns the reply.
    pub(super) async fn ask(
        self,
        member: &AgentMember,
        key: &str,
        prompt: String,
    ) -> Result<Result<Reply, PartAnswer>, CaseError> {
        let asked = self.asking.ask(&member.name, Role::Reviewer, key, prompt);
        Ok(asked.await?.map_err(|unanswered| match unanswered {
            Unanswered::Failed(error) => PartAnswer::Failed(error),
            Unanswered::Parked(why) => PartAnswer::Parked(why),
        }))
    }
}

impl Heard {
    /// Returns what comes from a member who is asked nothing.
    pub(super) fn idle(member: &AgentMember) -> Self {
        Self {
            state: ReviewerState::Idle,
            ..Self::nothing_yet(member)
        }
    }

    pub(super) fn nothing_yet(member: &AgentMember) -> Self {
        Self {
            name: member.name.to_string(),
            family: member.family.clone(),
            findings: Vec::new(),
            state: ReviewerState::Answered,
            problems: Vec::new(),
            covered: Vec::new(),
            elsewhere: 0,
            notes: Vec::new(),
            suppressed: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, paths: Vec<String>, answer: PartAnswer) {
        match answer {
            PartAnswer::Read(found) => {
                let problems = found.problems.iter().map(ToString::to_string);
                self.problems.extend(problems);
                if found.answered && found.problems.is_empty() {
                    self.covered.extend(paths);
                } else {
                    let what = in_one_line(&found);
                    self.miss(None, format!("its answer could not be used: {what}"));
                }
                self.findings.extend(found.findings);
            }
            PartAnswer::Failed(error) => {
                self.miss(Some(error.class), error.message);
            }
            PartAnswer::Parked(why) => self.miss(None, why),
        }
    }

    /// Notes that something is missing; the first reason is told.
    pub(super) fn miss(&mut self, class: Option<ErrorClass>, why: String) {
        if !matches!(self.state, ReviewerState::Missing { .. }) {
            self.state = ReviewerState::Missing { class, why };
        }
    }
}

fn in_one_line(found: &Findings) -> String {
    let problems: Vec<String> = found
        .problems
        .iter()
        .take(5)
        .map(ToString::to_string)
        .collect();
    if problems.is_empty() {
        "it is no answer".to_owned()
    } else {
        problems.join("; ")
    }
}

/// Returns what a tool says about the lines under review, marked as the word of a program,
/// and how many findings are about something else.
///
/// A tool looks at all of the code. What it says about lines that nobody touched is not about the
/// change.
pub(super) fn tools_own(mut found: Findings, change: &Change) -> (Findings, usize) {
    let whole = change.pinned.whole_files;
    let all = results(&found.findings);
    found.findings.retain_mut(|finding| {
        if finding.location.file.is_empty() {
            // What has no place may be about the change as well as about anything else.
            finding.source = Source::Tool;
            return true;
        }
        let Some(path) = tools_path(change, &finding.location.file) else {
            return false;
        };
        finding.location.file = path;
        finding.source = Source::Tool;
        let lines = finding.location.lines();
        let file = change.file(&finding.location.file);
        let touches =
            |(first, last)| file.is_some_and(|file| file.diff.added().touches(first, last));
        whole || lines.is_none_or(touches)
    });
    first_of_each_result(&mut found.findings);
    let elsewhere = all - found.findings.len();
    (found, elsewhere)
}

/// Returns how many results these are; one that names several places stands there for each.
fn results(findings: &[Finding]) -> usize {
    let (alone, placed): (Vec<_>, Vec<_>) = findings.iter().partition(|one| one.id.is_empty());
    let placed: BTreeSet<&str> = placed.iter().map(|one| one.id.as_str()).collect();
    alone.len() + placed.len()
}

/// Refuses an answer that nobody could work through, and cuts texts that nobody would read.
fn bounded(mut found: Findings) -> Findings {
    if found.findings.len() > MOST_FINDINGS {
        let what = format!("it reports more than {MOST_FINDINGS} findings about one part");
        return Findings {
            problems: vec![Problem {
                at: String::new(),
                what,
            }],
            ..Findings::default()
        };
    }
    for finding in &mut found.findings {
        let Finding {
            title,
            description,
            suggestion,
            quote,
            trigger,
            ..
        } = finding;
        for text in [title, description, suggestion, quote, trigger] {
            if text.len() > LONGEST_TEXT {
                *text = truncate_chars(text, LONGEST_TEXT).into_owned();
            }
        }
    }
    found
}

/// Gives each finding a name that is unique among those of its reviewer, keeping its own in front.
pub(super) fn number(findings: &mut [Finding]) {
    for (index, finding) in (1..).zip(findings.iter_mut()) {
        finding.id = if finding.id.is_empty() {
            format!("{index}")
        } else {
            format!("{index}.{}", finding.id)
        };
    }
}
