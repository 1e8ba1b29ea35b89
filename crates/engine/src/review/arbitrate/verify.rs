//! Whether the coder's work helped: whoever raised a finding says so, or the rule that found it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use tribunal_code::rule::Domain;
use tribunal_core::agent::Role;
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::ids::AgentName;
use tribunal_core::prompt::{ArbitrationPrompt, ask_again};
use tribunal_core::reply::read_signed_checks;
use tribunal_core::review::arbitration::{FindingState, Verification};
use tribunal_core::review::docket::{Docket, Item};
use tribunal_core::review::report::ReviewedFinding;
use tribunal_core::text::truncate_chars;

use super::super::ask::Unanswered;
use super::super::excerpt::Excerpts;
use super::super::ground::Ground;
use super::super::panel::Member;
use super::super::{builtin, material, nonce, read_change, report, sit};
use super::Bench;
use super::coder::assign;
use crate::case::CaseError;
use crate::change::{Change, Pinned};

/// Who can tell whether a finding is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verifier {
    Rules,
    Linter(AgentName),
    Agent(AgentName),
    Nobody,
}

/// What was said about one finding on the docket.
type Said = (usize, Verification);

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
            let verifier = self.verifier(&docket.items()[index]);
            by_verifier.entry(verifier).or_default().push(index);
        }
        let work = self.work_between(start, commit).await?;
        let asked = by_verifier.iter().map(|(verifier, positions)| {
            let docket = &*docket;
            let (work, now) = (&work, now);
            async move {
                match verifier {
                    Verifier::Rules => self.check_rules(docket, positions, now).await,
                    Verifier::Linter(name) => {
                        self.run_linter(docket, positions, name, commit, now).await
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
        let mut said: Vec<Said> = try_join_all(asked).await?.into_iter().flatten().collect();
        said.sort_by_key(|(index, _)| *index);
        for (index, verification) in said {
            self.note(ArbitrationEvent::FixChecked {
                finding: docket.items()[index].record.id.clone(),
                by: verification.by.clone(),
                fixed: verification.fixed,
                reason: verification.reason.clone(),
            })
            .await;
            docket.check(index, verification);
        }
        Ok(())
    }

    /// Returns who raised a finding and can look again; the lead before the others.
    ///
    /// What came from elsewhere is checked by the first agent of the panel.
    fn verifier(&self, item: &Item) -> Verifier {
        let agents = || {
            let members = self.request.members.iter();
            members.filter_map(|member| match member {
                Member::Agent { name, is_tool, .. } => Some((name, *is_tool)),
                Member::Builtin { .. } | Member::Import { .. } | Member::Unasked { .. } => None,
            })
        };
        let raised = item.finding.voices.iter().find_map(|voice| {
            if voice.family == builtin::FAMILY {
                return Some(Verifier::Rules);
            }
            let mut agents = agents();
            let (name, is_tool) = agents.find(|(name, _)| name.as_str() == voice.reviewer)?;
            Some(match is_tool {
                true => Verifier::Linter(name.clone()),
                false => Verifier::Agent(name.clone()),
            })
        });
        let other = || {
            let mut models = agents().filter(|(_, is_tool)| !is_tool);
            models.next().map(|(name, _)| Verifier::Agent(name.clone()))
        };
        raised.or_else(other).unwrap_or(Verifier::Nobody)
    }

    /// Returns the coder's work as a change of its own.
    pub(super) async fn work_between(
        &self,
        start: &str,
        commit: &str,
    ) -> Result<Change, CaseError> {
        read_change(self.repository, &work_pinned(self.request, start, commit)).await
    }

    /// Runs the built-in rules again.
    async fn check_rules(
        &self,
        docket: &Docket,
        positions: &[usize],
        now: &Change,
    ) -> Result<Vec<Said>, CaseError> {
        let reviewer = sit::rule_reviewer(self.request, Domain::BUILTIN)?;
        let owned = now.clone();
        let markers = self.request.markers();
        let check = move || builtin::check(&owned, &reviewer, markers);
        let checked = tokio::task::spawn_blocking(check);
        let checked = checked
            .await
            .map_err(|error| CaseError::Request(format!("a built-in reviewer failed: {error}")))?;
        let ground = Ground::new(now);
        let hits: Vec<(String, String)> = checked
            .findings
            .values()
            .flatten()
            .map(|finding| {
                let mut finding = finding.clone();
                ground.check(&mut finding);
                let identity = ground.identity(&finding);
                let print = tribunal_code::ground::place_name(&identity);
                (rule_and_file(&finding.id), print)
            })
            .collect();
        let unread: BTreeSet<&str> = checked
            .unread
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        let verdict = |index: &usize| {
            let item = &docket.items()[*index];
            let (fixed, reason) = if unread.contains(item.record.location.file.as_str()) {
                (None, "the file could not be read to its end".to_owned())
            } else if still_there(docket, positions, item, &hits) {
                (
                    Some(false),
                    "the rule that found it still matches".to_owned(),
                )
            } else {
                (
                    Some(true),
                    "the rule that found it matches no more".to_owned(),
                )
            };
            let voices = item.finding.voices.iter();
            let mut own = voices.filter(|voice| voice.family == builtin::FAMILY);
            let by = own.next().map_or(builtin::FAMILY, |voice| &voice.reviewer);
            let verification = Verification {
                round: docket.round(),
                by: by.to_owned(),
                fixed,
                reason,
            };
            (*index, verification)
        };
        Ok(positions.iter().map(verdict).collect())
    }

    /// Runs a linter again, on the change with the coder's work.
    async fn run_linter(
        &self,
        docket: &Docket,
        positions: &[usize],
        linter: &AgentName,
        commit: &str,
        now: &Change,
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
            let key = linted(&item.finding);
            let of_rule = |items: &mut dyn Iterator<Item = &Item>| {
                items.filter(|item| linted(&item.finding) == key).count()
            };
            let before = of_rule(&mut docket.items().iter());
            let claimed = of_rule(&mut positions.iter().map(|index| &docket.items()[*index]));
            let left = seen
                .findings
                .iter()
                .filter(|one| linted(one) == key)
                .count();
            let mut findings = seen.findings.iter();
            let is_there = findings.any(|one| one.fingerprint == item.record.fingerprint);
            let fixed = !is_there && left + claimed <= before;
            let reason = match fixed {
                true => "the linter that found it reports it no more",
                false => "the linter that found it still reports it",
            };
            let verification = Verification {
                round: docket.round(),
                by: linter.to_string(),
                fixed: Some(fixed),
                reason: reason.to_owned(),
            };
            (*index, verification)
        };
        Ok(positions.iter().map(said).collect())
    }

    /// Asks a reviewer about its findings, once more if it leaves any out.
    async fn ask_reviewer(
        &self,
        docket: &Docket,
        positions: &[usize],
        reviewer: &AgentName,
        work: &Change,
        now: &Change,
    ) -> Result<Vec<Said>, CaseError> {
        let (findings, asked) = assign(docket, positions);
        let asked: Vec<String> = asked.into_iter().map(|one| one.id).collect();
        let material = self.shown_work(docket, positions, work, now);
        let key = format!("verify {reviewer} round {}", docket.round());
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
        for key in [key.clone(), format!("{key} again")] {
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
        if shown.len() > limit {
            shown = truncate_chars(&shown, limit).into_owned();
            shown.push_str("\n      …\n");
        }
        let mut excerpts = Excerpts::new(now);
        for index in positions {
            let location = &docket.items()[*index].finding.location;
            if work.file(&location.file).is_none() {
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

/// Tells whether a rule still finds what it found.
///
/// A line that was reworded has another identity. So the matches of the rule in the file are
/// counted, too: there must be as many fewer as were called implemented.
fn still_there(docket: &Docket, claimed: &[usize], item: &Item, hits: &[(String, String)]) -> bool {
    let Some(rule) = rule_of(item) else {
        return true;
    };
    let has_print = |item: &Item| {
        let voices = item.finding.voices.iter();
        let mut own = voices.filter(|voice| voice.family == builtin::FAMILY);
        let place = own.next().map(|voice| &voice.place);
        hits.iter()
            .any(|(of, hit)| *of == rule && Some(hit) == place)
    };
    if has_print(item) {
        return true;
    }
    let of_rule = |item: &&Item| rule_of(item).as_ref() == Some(&rule);
    let others = docket
        .items()
        .iter()
        .enumerate()
        .filter(|(index, item)| !claimed.contains(index) && of_rule(item))
        .filter(|(_, item)| has_print(item))
        .count();
    let present = claimed
        .iter()
        .map(|index| &docket.items()[*index])
        .filter(of_rule)
        .filter(|item| has_print(item))
        .count();
    let matches = hits.iter().filter(|(of, _)| *of == rule).count();
    matches > others + present
}

/// Returns by which rule and in which file a linter reported a finding.
fn linted(finding: &ReviewedFinding) -> (&str, &str) {
    (&finding.rule, &finding.location.file)
}

/// Returns which rule found an item, and in which file.
fn rule_of(item: &Item) -> Option<String> {
    let voices = item.finding.voices.iter();
    let mut own = voices.filter(|voice| voice.family == builtin::FAMILY);
    own.next().map(|voice| rule_and_file(&voice.id))
}

/// Cuts line and column off the name that a built-in reviewer gives to a finding.
fn rule_and_file(id: &str) -> String {
    id.rsplitn(3, ':').last().unwrap_or(id).to_owned()
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
