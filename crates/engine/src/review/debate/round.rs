//! One round: everybody is asked at the same time, each in as few questions as fit.

use std::collections::BTreeMap;

use tribunal_core::agent::Role;
use tribunal_core::event::EventKind;
use tribunal_core::prompt::{RoundPrompt, ask_again};
use tribunal_core::reply::Statements;
use tribunal_core::review::{Defense, Examination};

use super::super::ask::{Unanswered, attempt_step, repeated_step};
use super::super::hear::AgentMember;
use super::super::{count, nonce};
use super::Floor;
use super::statement::Statement;
use super::topics::{Sheet, Source, Topic, shuffle};
use crate::case::CaseError;
use crate::stopping::finish_all;

/// What one reviewer said in a round.
#[derive(Debug)]
pub(super) struct Spoken<T> {
    pub(super) reviewer: String,
    /// What it said, by group.
    pub(super) said: Vec<(usize, T)>,
    pub(super) problems: Vec<String>,
    /// Why at least one question has no usable answer.
    pub(super) silent: Option<String>,
    /// What holds a finding that could not be read, also when it was asked for again.
    pub(super) unread: Option<String>,
}

/// One reviewer and what it is asked about.
struct Turn<'a> {
    member: &'a AgentMember,
    topics: Vec<Topic>,
}

impl<'a> Floor<'a> {
    /// Round 2: everybody examines the findings of others.
    pub(super) async fn examine(
        self,
        source: Source<'_>,
        groups: &[usize],
        debaters: &[AgentMember],
    ) -> Result<Vec<Spoken<Examination>>, CaseError> {
        let topics = |member: &AgentMember| source.to_examine(groups, member.name.as_str());
        self.hold(source, debaters, topics).await
    }

    /// Round 3: authors answer what was said about their findings.
    pub(super) async fn defend(
        self,
        source: Source<'_>,
        groups: &[usize],
        debaters: &[AgentMember],
    ) -> Result<Vec<Spoken<Defense>>, CaseError> {
        let topics = |member: &AgentMember| source.to_defend(groups, member.name.as_str());
        self.hold(source, debaters, topics).await
    }

    async fn hold<T: Statement>(
        self,
        source: Source<'_>,
        debaters: &[AgentMember],
        topics: impl Fn(&AgentMember) -> Vec<Topic>,
    ) -> Result<Vec<Spoken<T>>, CaseError> {
        let turns = debaters.iter().map(|member| {
            let mut topics = topics(member);
            shuffle(&mut topics, &self.request.seed, member.name.as_str());
            Turn { member, topics }
        });
        let turns: Vec<Turn<'_>> = turns.filter(|turn| !turn.topics.is_empty()).collect();
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let mut findings: Vec<usize> = turns
            .iter()
            .flat_map(|turn| turn.topics.iter().map(|topic| topic.group))
            .collect();
        findings.sort_unstable();
        findings.dedup();
        let opened = EventKind::RoundOpened {
            round: T::ROUND.number(),
            findings: count(findings.len()),
            reviewers: turns
                .iter()
                .map(|turn| turn.member.name.to_string())
                .collect(),
        };
        self.asking.case.record([opened]).await?;
        finish_all(turns.iter().map(|turn| self.take_turn(source, turn))).await
    }

    /// Puts all questions to one reviewer and records what came.
    async fn take_turn<T: Statement>(
        self,
        source: Source<'_>,
        turn: &Turn<'_>,
    ) -> Result<Spoken<T>, CaseError> {
        let limit = self.request.part_chars.max(1_000) as usize;
        let reviewer = turn.member.name.to_string();
        let sheets = source.sheets(&turn.topics, &reviewer, limit);
        let parts = sheets.len();
        let asked = (1..).zip(&sheets).map(|(part, sheet)| {
            let key = format!("{} {reviewer} {part}/{parts}", T::STEP);
            self.put(source, turn.member, key, (part, parts), sheet.clone())
        });
        let answers: Vec<Spoken<T>> = finish_all(asked).await?;
        let mut spoken = Spoken {
            reviewer: reviewer.clone(),
            said: Vec::new(),
            problems: Vec::new(),
            silent: None,
            unread: None,
        };
        for answer in answers {
            spoken.said.extend(answer.said);
            spoken.problems.extend(answer.problems);
            spoken.silent = spoken.silent.or(answer.silent);
            spoken.unread = spoken.unread.or(answer.unread);
        }
        let mut said: BTreeMap<String, u32> = BTreeMap::new();
        for (_, statement) in &spoken.said {
            *said.entry(statement.word().to_owned()).or_default() += 1;
        }
        let round = T::ROUND.number();
        let heard = EventKind::DebaterHeard {
            round,
            reviewer: reviewer.clone(),
            asked: count(turn.topics.len()),
            said,
            problems: spoken.problems.clone(),
        };
        let missed = spoken.silent.clone().map(|why| EventKind::DebaterMissed {
            round,
            reviewer,
            why,
        });
        // Who gave no answer at all has not been heard.
        let heard = (missed.is_none() || !spoken.said.is_empty()).then_some(heard);
        self.asking
            .case
            .record(heard.into_iter().chain(missed))
            .await?;
        Ok(spoken)
    }

    /// Puts one question, in halves if the model cannot take it whole.
    async fn put<T: Statement>(
        self,
        source: Source<'_>,
        member: &AgentMember,
        key: String,
        part: (usize, usize),
        sheet: Sheet,
    ) -> Result<Spoken<T>, CaseError> {
        let mut spoken = Spoken {
            reviewer: member.name.to_string(),
            said: Vec::new(),
            problems: Vec::new(),
            silent: None,
            unread: None,
        };
        match self.answer::<T>(member, &key, part, &sheet).await? {
            Ok(read) => {
                let mut problems = read.problems.iter();
                spoken.unread = read.unread.clone();
                if read.statements.is_empty() {
                    let first = problems.next();
                    spoken.silent =
                        first.map(|first| format!("its answer could not be used: {first}"));
                } else {
                    spoken.problems = problems.map(ToString::to_string).collect();
                }
                if spoken.silent.is_none() && !read.left_out.is_empty() {
                    let (left, asked) = (read.left_out.len(), sheet.topics.len());
                    spoken.problems.push(format!(
                        "it said nothing usable about {left} of {asked} findings"
                    ));
                }
                spoken.said = sheet.resolve(source, read.statements);
            }
            Err(unanswered) if unanswered.is_too_long() && sheet.topics.len() > 1 => {
                let (first, second) = sheet.topics.split_at(sheet.topics.len() / 2);
                for (letter, topics) in [('a', first), ('b', second)] {
                    let half = source.sheet(topics, member.name.as_str());
                    let key = format!("{key}{letter}");
                    let answer: Spoken<T> =
                        Box::pin(self.put(source, member, key, part, half)).await?;
                    spoken.said.extend(answer.said);
                    spoken.problems.extend(answer.problems);
                    spoken.silent = spoken.silent.or(answer.silent);
                    spoken.unread = spoken.unread.or(answer.unread);
                }
            }
            Err(unanswered) => spoken.silent = Some(unanswered.why()),
        }
        Ok(spoken)
    }

    /// Asks. An answer of an earlier sitting that says nothing usable is asked for anew, as a step of
    /// its own.
    async fn answer<T: Statement>(
        self,
        member: &AgentMember,
        key: &str,
        part: (usize, usize),
        sheet: &Sheet,
    ) -> Result<Result<Statements<T>, Unanswered>, CaseError> {
        // What is asked may change when a case is resumed: another question is another step.
        let data = format!("{}\n{}", sheet.findings, sheet.material);
        let digest: String = blake3::hash(data.as_bytes())
            .to_hex()
            .chars()
            .take(8)
            .collect();
        let key = format!("{key} {digest}");
        let recorded = &self.request.recorded;
        let mut attempt = 1;
        loop {
            let anew = self.asking.may_ask_anew(recorded, &key, attempt).await?;
            let step = attempt_step(&key, attempt);
            match self.attempt::<T>(member, step, part, sheet).await? {
                Ok(read) if read.statements.is_empty() && anew => attempt += 1,
                answered => return Ok(answered),
            }
        }
    }

    /// Asks; once more if something of the answer cannot be read.
    async fn attempt<T: Statement>(
        self,
        member: &AgentMember,
        key: String,
        (part, parts): (usize, usize),
        sheet: &Sheet,
    ) -> Result<Result<Statements<T>, Unanswered>, CaseError> {
        let data = format!("{}\n{}", sheet.findings, sheet.material);
        let nonce = nonce(&self.request.seed, &key, &data);
        let prompt = RoundPrompt {
            round: T::ROUND,
            nonce: &nonce,
            title: &self.request.pinned.title,
            part,
            parts,
            count: sheet.topics.len(),
            findings: &sheet.findings,
            material: &sheet.material,
        }
        .render();
        let ask = |key: String, prompt: String| async move {
            let asked = self.asking.ask(&member.name, Role::Reviewer, &key, prompt);
            asked.await
        };
        let mut read = match ask(key.clone(), prompt.clone()).await? {
            Ok(reply) => T::read(&reply, &nonce, member, &sheet.labels),
            Err(unanswered) => return Ok(Err(unanswered)),
        };
        if read.answered && read.problems.is_empty() {
            return Ok(Ok(read));
        }
        let problems: Vec<String> = read
            .problems
            .iter()
            .take(5)
            .map(ToString::to_string)
            .collect();
        let again = ask_again(&prompt, &problems.join("; "));
        match ask(repeated_step(&key), again).await? {
            Ok(reply) => {
                let second = T::read(&reply, &nonce, member, &sheet.labels);
                if second.answered {
                    read = merge(read, second);
                }
                Ok(Ok(read))
            }
            // The first answer is better than none; what it lacks is known.
            Err(_) if read.answered || read.unread.is_some() => Ok(Ok(read)),
            Err(unanswered) => Ok(Err(unanswered)),
        }
    }
}

/// Corrects a first answer by a second one: what the second says counts, the rest stays.
fn merge<T: Statement>(first: Statements<T>, second: Statements<T>) -> Statements<T> {
    let repeated = |one: &T| {
        let mut corrected = second.statements.iter();
        corrected.any(|other| other.finding_id() == one.finding_id())
    };
    let mut statements: Vec<T> = first.statements;
    statements.retain(|one| !repeated(one));
    statements.extend(second.statements);
    let left_out = second.left_out.into_iter();
    let left_out = left_out.filter(|id| statements.iter().all(|one| one.finding_id() != id));
    Statements {
        left_out: left_out.collect(),
        statements,
        problems: second.problems,
        unread: second.unread,
        answered: true,
    }
}

impl Sheet {
    /// Returns the statements by group, pointed at the findings behind the neutral names.
    fn resolve<T: Statement>(&self, source: Source<'_>, statements: Vec<T>) -> Vec<(usize, T)> {
        let resolved = statements.into_iter().filter_map(|mut statement| {
            let labels = self.labels.iter();
            let at = labels
                .zip(&self.topics)
                .find(|(label, _)| *label == statement.finding_id());
            let topic = at?.1;
            let finding = &source.settlement.findings[topic.shown as usize];
            statement.point_at(&finding.id, &finding.reviewer);
            Some((topic.group, statement))
        });
        resolved.collect()
    }
}
