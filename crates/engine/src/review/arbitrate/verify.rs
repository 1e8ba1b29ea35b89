//! Whether the coder's work helped: whoever raised a finding says so, or the rule that found it.

use std::collections::BTreeMap;

use tribunal_code::code_change;
use tribunal_core::agent::Role;
use tribunal_core::consensus::Verdict;
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::ids::AgentName;
use tribunal_core::prompt::{ArbitrationPrompt, ask_again};
use tribunal_core::reply::read_signed_checks;
use tribunal_core::review::arbitration::{FindingState, Verification};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::docket::{Docket, Item};
use tribunal_core::review::report::ReviewedFinding;
use tribunal_core::text::truncate_chars;

use super::super::ask::{Unanswered, attempt_step, repeated_step};
use super::super::excerpt::Excerpts;
use super::super::panel::Member;
use super::super::{builtin, material, nonce, read_change, report};
use super::Bench;
use super::coder::assign;
use super::recheck::hidden_in;
use crate::case::CaseError;
use crate::change::{Change, ChangedFile, Pinned};
use crate::stopping::finish_all;

/// Who can tell whether a finding is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verifier {
    Rules,
    Linter(AgentName),
    Agent(AgentName),
    Nobody,
}

/// What was said about one finding on the docket.
pub(super) type Said = (usize, Verification);

impl Bench<'_> {
    /// Lets whoever can tell check what the coder calls implemented.
    pub(super) async fn verify(
        &self,
        docket: &mut Docket,
        start: &str,
        commit: &str,
        now: &Change,
    ) -> Result<(), CaseError> {
        let mut by_verifier: BTreeMap<Verifier, Vec<usize>> = BTreeMap::new();
        for index in docket.standing(FindingState::Claimed) {
            for verifier in self.verifiers(&docket.items()[index]) {
                by_verifier.entry(verifier).or_default().push(index);
            }
        }
        let work = self.work_between(start, commit).await?;
        let asked = by_verifier.iter().map(|(verifier, positions)| {
            let docket = &*docket;
            let (work, now) = (&work, now);
            async move {
                match verifier {
                    Verifier::Rules => self.check_rules(docket, positions, work, now).await,
                    Verifier::Linter(name) => {
                        let place = (commit, work, now);
                        self.run_linter(docket, positions, name, place).await
                    }
                    Verifier::Agent(name) => {
                        self.ask_reviewer(docket, positions, name, work, now).await
                    }
                    Verifier::Nobody => Ok(unheard(
                        docket,
                        positions,
                        "nobody",
                        "no member of the panel can check it",
                    )),
                }
            }
        });
        let mut said: Vec<Said> = finish_all(asked).await?.into_iter().flatten().collect();
        if self.wish.is_thorough {
            said.extend(unworked(docket, &work, now));
        }
        said.sort_by_key(|(index, _)| *index);
        let mut by_finding: BTreeMap<usize, Vec<Verification>> = BTreeMap::new();
        for (index, verification) in said {
            self.note(ArbitrationEvent::FixChecked {
                finding: docket.items()[index].record.id.clone(),
                by: verification.by.clone(),
                fixed: verification.fixed,
                reason: verification.reason.clone(),
            })
            .await;
            by_finding.entry(index).or_default().push(verification);
        }
        for (index, verifications) in by_finding {
            docket.check(index, verifications);
        }
        Ok(())
    }

    /// Returns all who raised a finding and can look again, each once; the lead first.
    ///
    /// What came from elsewhere is checked by the first agent of the panel.
    fn verifiers(&self, item: &Item) -> Vec<Verifier> {
        let agents = || {
            let members = self.request.members.iter();
            members.filter_map(|member| match member {
                Member::Agent { name, is_tool, .. } => Some((name, *is_tool)),
                Member::Builtin { .. } | Member::Import { .. } | Member::Unasked { .. } => None,
            })
        };
        let mut verifiers: Vec<Verifier> = Vec::new();
        for voice in &item.finding.voices {
            let mut agents = agents();
            let found = match voice.family == builtin::FAMILY {
                true => Some(Verifier::Rules),
                false => agents
                    .find(|(name, _)| name.as_str() == voice.reviewer)
                    .map(|(name, is_tool)| match is_tool {
                        true => Verifier::Linter(name.clone()),
                        false => Verifier::Agent(name.clone()),
                    }),
            };
            verifiers.extend(found.filter(|one| !verifiers.contains(one)));
        }
        if verifiers.is_empty() {
            let mut models = agents().filter(|(_, is_tool)| !is_tool);
            let other = models.next().map(|(name, _)| Verifier::Agent(name.clone()));
            verifiers.push(other.unwrap_or(Verifier::Nobody));
        }
        if !self.wish.is_thorough {
            verifiers.truncate(1);
        }
        verifiers
    }

    /// Returns the coder's work as a change of its own.
    pub(super) async fn work_between(
        &self,
        start: &str,
        commit: &str,
    ) -> Result<Change, CaseError> {
        read_change(self.repository, &work_pinned(self.request, start, commit)).await
    }

    /// Runs a linter again, on the change with the coder's work.
    async fn run_linter(
        &self,
        docket: &Docket,
        positions: &[usize],
        linter: &AgentName,
        (commit, work, now): (&str, &Change, &Change),
    ) -> Result<Vec<Said>, CaseError> {
        let is_linter =
            |member: &&Member| matches!(member, Member::Agent { name, .. } if name == linter);
        let members: Vec<Member> = self
            .request
            .members
            .iter()
            .filter(is_linter)
            .cloned()
            .collect();
        let phase = format!("check {linter} {}: ", docket.round());
        let pinned = Pinned {
            head: Some(commit.to_owned()),
            ..self.request.pinned.clone()
        };
        let seen = self
            .look(&self.request_for_look(pinned, members, phase), now)
            .await?;
        let missing = report::missing(&seen.reviewers);
        if let Some(why) = missing.first() {
            return Ok(unheard(docket, positions, linter.as_str(), why));
        }
        let said = |index: &usize| {
            let item = &docket.items()[*index];
            let is_thorough = self.wish.is_thorough;
            let key = linted(&item.finding, is_thorough);
            let of_rule = |items: &mut dyn Iterator<Item = &Item>| {
                items
                    .filter(|item| linted(&item.finding, is_thorough) == key)
                    .count()
            };
            let before = of_rule(&mut docket.items().iter());
            let claimed = of_rule(&mut positions.iter().map(|index| &docket.items()[*index]));
            let counted = |one: &&ReviewedFinding| {
                !is_thorough || (one.counts && one.verdict != Verdict::Rejected)
            };
            let left = seen
                .findings
                .iter()
                .filter(counted)
                .filter(|one| linted(one, is_thorough) == key)
                .count();
            let is_reported = |item: &&Item| {
                let mut findings = seen.findings.iter();
                findings.any(|one| one.fingerprint == item.record.fingerprint)
            };
            // Others that are reported as before say nothing about this one.
            let mut others = positions.iter().map(|index| &docket.items()[*index]);
            let kept = match is_thorough {
                true => of_rule(&mut others.by_ref().filter(is_reported)),
                false => 0,
            };
            let is_gone = !is_reported(&item) && left + claimed - kept <= before;
            let hidden = is_thorough.then(|| hidden_in(item, work, now)).flatten();
            let (fixed, reason) = match hidden {
                _ if !is_gone => (
                    Some(false),
                    "the linter that found it still reports it".to_owned(),
                ),
                Some(file) => (None, format!("its code is in `{file}` now")),
                None => (
                    Some(true),
                    "the linter that found it reports it no more".to_owned(),
                ),
            };
            let verification = Verification {
                round: docket.round(),
                by: linter.to_string(),
                fixed,
                reason,
            };
            (*index, verification)
        };
        Ok(positions.iter().map(said).collect())
    }

    /// Asks a reviewer about its findings, once more if it leaves any out. What an earlier sitting left
    /// without an answer is asked for anew, as a step of its own.
    async fn ask_reviewer(
        &self,
        docket: &Docket,
        positions: &[usize],
        reviewer: &AgentName,
        work: &Change,
        now: &Change,
    ) -> Result<Vec<Said>, CaseError> {
        let key = format!("verify {reviewer} round {}", docket.round());
        let recorded = &self.request.recorded;
        let mut attempt = 1;
        loop {
            let anew = self.asking.may_ask_anew(recorded, &key, attempt).await?;
            let step = attempt_step(&key, attempt);
            let shown = (work, now);
            let said = self.ask_once(docket, positions, reviewer, step, shown);
            let said = said.await?;
            if !anew || said.iter().all(|(_, one)| one.fixed.is_some()) {
                return Ok(said);
            }
            attempt += 1;
        }
    }

    async fn ask_once(
        &self,
        docket: &Docket,
        positions: &[usize],
        reviewer: &AgentName,
        key: String,
        (work, now): (&Change, &Change),
    ) -> Result<Vec<Said>, CaseError> {
        let (findings, asked) = assign(docket, positions);
        let asked: Vec<String> = asked.into_iter().map(|one| one.id).collect();
        let material = self.shown_work(docket, positions, work, now);
        let nonce = nonce(&self.request.seed, &key, &format!("{findings}\n{material}"));
        let prompt = ArbitrationPrompt {
            nonce: &nonce,
            title: &self.request.pinned.title,
            count: positions.len(),
            findings: &findings,
            material: &material,
        }
        .verify();
        let mut said: Vec<Option<Verification>> = vec![None; positions.len()];
        let mut why = "it gave no answer".to_owned();
        let mut question = prompt.clone();
        for key in [key.clone(), repeated_step(&key)] {
            let asking = self.asking.ask(reviewer, Role::Reviewer, &key, question);
            let reply = match asking.await? {
                Ok(reply) => reply,
                Err(unanswered) => {
                    why = Unanswered::why(unanswered);
                    break;
                }
            };
            let read = read_signed_checks(&reply.text, reply.structured.as_ref(), &nonce, &asked);
            for check in read.statements {
                let position = asked.iter().position(|id| *id == check.finding_id);
                let place = position.and_then(|position| said.get_mut(position));
                if let Some(place @ None) = place {
                    *place = Some(Verification {
                        round: docket.round(),
                        by: reviewer.to_string(),
                        fixed: Some(check.fixed),
                        reason: check.reason,
                    });
                }
            }
            let missing = asked.iter().zip(&said).filter(|(_, said)| said.is_none());
            let missing: Vec<&str> = missing.map(|(id, _)| id.as_str()).collect();
            if missing.is_empty() {
                break;
            }
            let problems = read.problems.iter().take(5).map(ToString::to_string);
            let mut lack: Vec<String> = problems.collect();
            lack.push(format!("there is no answer to {}", missing.join(", ")));
            why = lack.join("; ");
            question = ask_again(&prompt, &why);
        }
        let unheard = Verification {
            round: docket.round(),
            by: reviewer.to_string(),
            fixed: None,
            reason: why,
        };
        let said = said
            .into_iter()
            .map(|one| one.unwrap_or_else(|| unheard.clone()));
        Ok(positions.iter().copied().zip(said).collect())
    }

    /// Returns the coder's work, and the code around findings in files that it did not touch.
    fn shown_work(
        &self,
        docket: &Docket,
        positions: &[usize],
        work: &Change,
        now: &Change,
    ) -> String {
        let limit = self.request.part_chars.max(1_000) as usize;
        let parts = material::parts(work, limit);
        let mut shown: String = parts.iter().map(|part| part.material.as_str()).collect();
        // Much other work must not push the place of a finding out of sight.
        let is_cut = shown.chars().count() > limit;
        if is_cut {
            shown = truncate_chars(&shown, limit).into_owned();
            shown.push_str("\n      … (the rest of the work is not shown)\n");
        }
        let mut excerpts = Excerpts::new(now);
        for index in positions {
            let location = &docket.items()[*index].finding.location;
            if is_cut || work.file(&location.file).is_none() {
                excerpts.add(location);
            }
        }
        shown.push_str(&excerpts.render());
        shown
    }
}

/// Returns what the coder did between two commits, ready to be read as a change.
pub(super) fn work_pinned(request: &super::ReviewRequest, start: &str, commit: &str) -> Pinned {
    Pinned {
        title: format!("the coder's work on {}", request.pinned.title),
        base: Some(start.to_owned()),
        settled: request.pinned.settled.clone(),
        head: Some(commit.to_owned()),
        whole_files: false,
        loose_patch: None,
        paths: Vec::new(),
        limits: request.pinned.limits,
        ignore: Vec::new(),
        partly_left_out: Vec::new(),
        left_out: Vec::new(),
        empty: None,
        moved_is_new: true,
    }
}

/// Words of a finding that a comment can settle.
const ABOUT_WORDS: [&str; 5] = ["comment", "doc", "typo", "spelling", "license"];

/// Returns the findings about code that work on comments and prose alone cannot have fixed, whatever
/// their reviewers say.
fn unworked(docket: &Docket, work: &Change, now: &Change) -> Vec<Said> {
    let leaves_code = |file: &ChangedFile| {
        let before = file.base_text.as_deref().unwrap_or_default();
        let stays = matches!(file.status, FileStatus::Added | FileStatus::Modified);
        stays && code_change::leaves_code_alone(&file.path, before, &file.text)
    };
    let mut touched = work.files.iter().chain(&work.searched).peekable();
    if touched.peek().is_none() || !work.left_out.is_empty() || !touched.all(leaves_code) {
        return Vec::new();
    }
    let is_about_code = |index: &usize| {
        let finding = &docket.items()[*index].finding;
        let told = [&finding.title, &finding.description, &finding.suggestion];
        let told = told.map(|text| text.to_lowercase()).join(" ");
        let location = &finding.location;
        let worked = work.file(&location.file);
        let worked = worked.and_then(|file| file.base_text.as_deref());
        let untouched = || now.file(&location.file).map(|file| &*file.text);
        let code = worked.or_else(untouched).zip(location.line);
        let is_code = code
            .is_some_and(|(text, line)| !code_change::is_without_code(&location.file, text, line));
        is_code && !ABOUT_WORDS.iter().any(|word| told.contains(word))
    };
    let claimed = docket.standing(FindingState::Claimed).into_iter();
    let said = claimed.filter(is_about_code).map(|index| {
        let verification = Verification {
            round: docket.round(),
            by: "tribunal".to_owned(),
            fixed: Some(false),
            reason: "the work changes no code, only comments or prose".to_owned(),
        };
        (index, verification)
    });
    said.collect()
}

/// Returns by which rule a linter reported a finding, and in which file, unless the file may have
/// moved and the rule has a name.
fn linted(finding: &ReviewedFinding, may_move: bool) -> (&str, &str) {
    match may_move && !finding.rule.is_empty() {
        true => (&finding.rule, ""),
        false => (&finding.rule, &finding.location.file),
    }
}

fn unheard(docket: &Docket, positions: &[usize], by: &str, why: &str) -> Vec<Said> {
    let said = |index: &usize| {
        let verification = Verification {
            round: docket.round(),
            by: by.to_owned(),
            fixed: None,
            reason: why.to_owned(),
        };
        (*index, verification)
    };
    positions.iter().map(said).collect()
}
