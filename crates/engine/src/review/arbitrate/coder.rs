//! The coder at work: one question in a place of its own, once more for what it left out.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tribunal_agents::AgentError;
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::dispute::Decision;
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::ids::{RunId, StepKey};
use tribunal_core::prompt::{ArbitrationPrompt, AssignedFinding, ask_again, json_lines};
use tribunal_core::reply::{AskedFinding, read_signed_responses};
use tribunal_core::review::arbitration::{ChangedPath, CoderRound};
use tribunal_core::review::docket::Docket;
use tribunal_core::review::response::Response;

use super::super::excerpt::Excerpts;
use super::super::{count, nonce};
use super::{Bench, CoderSeat};
use crate::call::Question;
use crate::case::{CaseError, Then, blocking};
use crate::change::AgentFiles;
use crate::worktree::{Collected, Signature, TouchedFile, Worktree, remove_tree};

/// So many files are named; a number tells of the rest.
const NAMED: usize = 5;

/// What came of a round of the coder.
pub(super) struct Worked {
    /// Its answers by position on the docket; nothing where none could be read, asked twice.
    pub(super) responses: Vec<(usize, Option<Response>)>,
    /// The commit with its work.
    pub(super) commit: String,
    pub(super) files: Vec<TouchedFile>,
    not_taken: Vec<String>,
    /// The paths of what was not taken.
    missing: Vec<String>,
    /// Build output that was left where it was.
    products: Vec<String>,
    pub(super) problems: Vec<String>,
    disturbed: Vec<String>,
}

/// The recorded result of one run of the coder.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stint {
    run: RunId,
    collected: Collected,
    /// Files of the user that changed meanwhile, whoever did it. Earlier versions recorded them
    /// here; now they are an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disturbed: Vec<String>,
}

impl Worked {
    /// Returns the round as the report tells it.
    pub(super) fn record(&self, round: u32) -> CoderRound {
        let path = |file: &TouchedFile| ChangedPath {
            path: file.path.clone(),
            status: file.status,
        };
        CoderRound {
            round,
            commit: self.commit.clone(),
            files: self.files.iter().map(path).collect(),
            not_taken: self.not_taken.clone(),
            problems: self.problems.clone(),
        }
    }

    /// Returns what the user should know about their own files, if they changed meanwhile.
    pub(super) fn warning(&self, coder: &CoderSeat) -> Option<String> {
        let files = self.disturbed.join("`, `");
        (!self.disturbed.is_empty()).then(|| {
            format!(
                "`{files}` of your own files changed while {} worked elsewhere; if that was not \
                 you, the coder wrote outside of its place",
                coder.name
            )
        })
    }

    /// Returns what of the work was not taken: the rest may not work without it.
    pub(super) fn gap(&self, coder: &CoderSeat) -> Option<String> {
        let missing = named(&self.missing)?;
        let coder = &coder.name;
        Some(format!(
            "not all that the coder {coder} wrote was taken: {missing} is missing"
        ))
    }

    /// Returns which build output was left out.
    pub(super) fn remark(&self, coder: &CoderSeat) -> Option<String> {
        let products = named(&self.products)?;
        let coder = &coder.name;
        Some(format!(
            "build output of the coder {coder} was not taken: {products}"
        ))
    }

    fn take(&mut self, stint: &Stint) {
        self.commit.clone_from(&stint.collected.commit);
        self.files.extend(stint.collected.files.iter().cloned());
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.files.dedup_by(|one, other| one.path == other.path);
        let left_out = stint.collected.left_out.iter();
        self.missing
            .extend(left_out.clone().map(|left| left.path.clone()));
        self.products
            .extend(stint.collected.products.iter().cloned());
        self.disturbed.extend(stint.disturbed.iter().cloned());
        self.not_taken
            .extend(left_out.map(|left| match left.detail.as_str() {
                "" => format!("`{}`: {}", left.path, left.why),
                detail => format!("`{}`: {detail}", left.path),
            }));
    }
}

impl Bench<'_> {
    /// Lets the coder work on these findings, starting from the commit `start`.
    ///
    /// Returns why not when it could not be heard at all.
    pub(super) async fn work(
        &self,
        coder: &CoderSeat,
        docket: &Docket,
        to_do: &[usize],
        start: &str,
    ) -> Result<Result<Worked, String>, CaseError> {
        let round = docket.round();
        let binding = to_do.iter().filter(|index| docket.items()[**index].binds());
        self.note(ArbitrationEvent::CoderAssigned {
            coder: coder.name.to_string(),
            round,
            findings: count(to_do.len()),
            binding: count(binding.count()),
        })
        .await;
        let (findings, asked) = assign(docket, to_do);
        let material = self.around(docket, to_do, start).await?;
        let key = format!("respond round {round}");
        let data = format!("{findings}\n{material}");
        let nonce = nonce(&self.request.seed, &key, &data);
        let prompt = ArbitrationPrompt {
            nonce: &nonce,
            title: &self.request.pinned.title,
            count: to_do.len(),
            findings: &findings,
            material: &material,
        }
        .respond();
        let mut worked = Worked {
            responses: to_do.iter().map(|index| (*index, None)).collect(),
            commit: start.to_owned(),
            files: Vec::new(),
            not_taken: Vec::new(),
            missing: Vec::new(),
            products: Vec::new(),
            problems: Vec::new(),
            disturbed: Vec::new(),
        };
        let mut question = prompt.clone();
        for key in [key.clone(), format!("{key} again")] {
            let stint = match self.stint(coder, &key, question, &worked.commit).await? {
                Ok(stint) => stint,
                // What was answered before is better than nothing; what it lacks is known.
                Err(_) if worked.commit != start || has_answer(&worked) => break,
                Err(why) => return Ok(Err(why)),
            };
            worked.take(&stint);
            let reply = self.engine().reply_of(&stint.run)?;
            let structured = reply.structured.as_ref();
            let read = read_signed_responses(&reply.text, structured, &nonce, &asked);
            for (id, response) in read.statements {
                let position = asked.iter().position(|one| one.id == id);
                let place = position.and_then(|position| worked.responses.get_mut(position));
                if let Some((_, place @ None)) = place {
                    *place = Some(response);
                }
            }
            let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
            worked.problems.extend(problems.iter().cloned());
            let Some(lack) = lack(&worked, &asked, &problems) else {
                break;
            };
            question = ask_again(&prompt, &lack);
        }
        self.check_evidence(&mut worked, start).await?;
        Ok(Ok(worked))
    }

    /// Puts one question to the coder in a place of its own and stores what it wrote there.
    async fn stint(
        &self,
        coder: &CoderSeat,
        key: &str,
        prompt: String,
        start: &str,
    ) -> Result<Result<Stint, String>, CaseError> {
        let step = StepKey::new(key)?;
        let (engine, case) = (self.engine(), self.asking.case);
        let place = engine.dir.worktrees(case.id()).join(key.replace(' ', "-"));
        let recorded: Option<Stint> = self
            .wish
            .recorded
            .as_ref()
            .and_then(|recorded| recorded.step(key));
        let mut failure: Option<AgentError> = None;
        let work = async {
            let worktree = match &recorded {
                Some(_) => None,
                None => Some(self.furnish(place.clone(), start.to_owned()).await?),
            };
            let question = Question {
                agent: coder.name.clone(),
                role: Role::Coder,
                prompt,
                system: None,
                schema: None,
                access: Access::Write,
                directory: worktree.as_ref().map_or(PathBuf::new(), Worktree::path),
            };
            let answer = match engine.put(case, &step, &question).await? {
                Ok(answer) => answer,
                Err(error) => {
                    failure = Some(error);
                    return Ok(None);
                }
            };
            tribunal_store::crashpoint!("arbitrate.coder.answered");
            let collected = match (worktree, &recorded) {
                (Some(worktree), _) => self.collect(worktree, coder).await?,
                (None, Some(recorded)) => recorded.collected.clone(),
                (None, None) => return Ok(None),
            };
            tribunal_store::crashpoint!("arbitrate.coder.collected");
            Ok(Some(Stint {
                run: answer.run,
                collected,
                disturbed: Vec::new(),
            }))
        };
        let stint = case.step_if_answered(&step, Then::GoOn, work).await?;
        // What was written is stored, or of no use to anybody.
        remove_tree(&place).map_err(CaseError::file("remove the coder's files"))?;
        Ok(stint.ok_or_else(|| {
            let unknown = || AgentError::new(ErrorClass::Crash, "no answer came");
            failure.unwrap_or_else(unknown).message
        }))
    }

    async fn furnish(&self, place: PathBuf, start: String) -> Result<Worktree, CaseError> {
        let repository = self.repository.clone();
        blocking(move || Worktree::create(&repository, &place, &start, AgentFiles::LeftOut)).await
    }

    async fn collect(&self, worktree: Worktree, coder: &CoderSeat) -> Result<Collected, CaseError> {
        let author = coder.name.to_string();
        let message = format!(
            "Answer the findings of {}\n\n{}\n",
            self.case_id(),
            self.request.pinned.title
        );
        let at = self.wish.at;
        blocking(move || {
            worktree.collect(Signature {
                author: &author,
                message: &message,
                at,
            })
        })
        .await
    }

    /// Returns the code around findings as it is now.
    async fn around(
        &self,
        docket: &Docket,
        positions: &[usize],
        commit: &str,
    ) -> Result<String, CaseError> {
        let change = self.change_at(commit).await?;
        let mut excerpts = Excerpts::new(&change);
        for index in positions {
            excerpts.add(&docket.items()[*index].finding.location);
        }
        Ok(excerpts.render())
    }
}

/// Returns the findings as they are put to an agent, and how it is asked about them.
pub(super) fn assign(docket: &Docket, positions: &[usize]) -> (String, Vec<AskedFinding>) {
    let mut shown = Vec::new();
    let mut asked = Vec::new();
    for (number, index) in (1..).zip(positions) {
        let item = &docket.items()[*index];
        let id = format!("F{number}");
        let mut finding = AssignedFinding::new(id.clone(), &item.finding, item.record.obligation);
        finding.ruling = item.lock.as_ref().map(Decision::word);
        finding.instructions = match &item.lock {
            Some(Decision::Amend { instructions }) => Some(instructions),
            Some(Decision::Enforce | Decision::Dismiss) | None => None,
        };
        finding.not_settled_because = Some(item.unsettled.as_str()).filter(|why| !why.is_empty());
        shown.push(finding);
        asked.push(AskedFinding {
            id,
            obligation: item.record.obligation,
        });
    }
    (json_lines(shown), asked)
}

/// Returns a few of these paths, for people; nothing when there is none.
fn named(paths: &[String]) -> Option<String> {
    let all: BTreeSet<&String> = paths.iter().collect();
    let first: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|path| format!("`{path}`"))
        .collect();
    match all.len() {
        0 => None,
        n if n > NAMED => Some(format!("{} and {} more", first.join(", "), n - NAMED)),
        _ => Some(first.join(", ")),
    }
}

fn has_answer(worked: &Worked) -> bool {
    worked
        .responses
        .iter()
        .any(|(_, response)| response.is_some())
}

/// Returns what the coder is asked for once more, if anything is missing.
fn lack(worked: &Worked, asked: &[AskedFinding], problems: &[String]) -> Option<String> {
    let missing: Vec<&str> = worked
        .responses
        .iter()
        .zip(asked)
        .filter(|((_, response), _)| response.is_none())
        .map(|(_, asked)| asked.id.as_str())
        .collect();
    if missing.is_empty() {
        return None;
    }
    let mut lack: Vec<String> = problems.iter().take(5).cloned().collect();
    lack.push(format!("there is no answer to {}", missing.join(", ")));
    Some(lack.join("; "))
}

impl Bench<'_> {
    /// Lets the program look at the evidence of objections.
    async fn check_evidence(&self, worked: &mut Worked, start: &str) -> Result<(), CaseError> {
        for (_, response) in &mut worked.responses {
            let Some(response) = response else { continue };
            let tribunal_core::review::response::Answer::Objected { evidence, .. } =
                &mut response.answer
            else {
                continue;
            };
            for piece in evidence {
                piece.check = self.look_at(piece, start).await?;
            }
        }
        Ok(())
    }
}
