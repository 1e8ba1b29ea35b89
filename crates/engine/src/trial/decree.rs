//! The decree: what a person does about a verdict. It ends the trial. What turns out afterwards can
//! be added.

use tribunal_core::case::{CaseState, Outcome};
use tribunal_core::event::{EventKind, TrialEvent};
use tribunal_core::ids::EffectKey;
use tribunal_core::text::headline;
use tribunal_core::trial::report::{ContestantReport, TrialReport};
use tribunal_core::trial::{Decree, Next, Trial, Work};
use tribunal_store::CaseRecord;

use super::iterate::NextTrial;
use super::{Tried, follow, merge, read_request, told};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::config::Settings;

/// What the user wants to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecreeWish {
    /// Merge a contestant's branch into the current one; the winner's when none is named.
    Merge {
        /// Its id or name.
        contestant: Option<String>,
    },
    /// Adopt a text, or a contestant's answer.
    Adopt {
        /// The text; the contestant's answer when there is none.
        text: Option<String>,
        /// Id or name of the contestant whose answer it is or comes from.
        contestant: Option<String>,
    },
    /// Hold another trial that goes on from this one.
    Iterate,
    /// Turn the result into an issue.
    Issue,
    /// Do nothing more.
    Close,
}

/// What came of a decree.
#[derive(Debug)]
pub struct Decreed {
    /// The trial as it stands now.
    pub report: TrialReport,
    /// What was done.
    pub decree: Decree,
    /// The trial that goes on from it.
    pub next: Option<Tried>,
}

/// A decree that is being made.
pub(super) struct Asked<'a> {
    /// The trial, taken over for it.
    pub(super) case: &'a Case,
    pub(super) record: &'a CaseRecord,
    pub(super) report: &'a TrialReport,
    /// The user's word on it.
    pub(super) note: Option<&'a str>,
}

impl Engine {
    /// Does what the user wants about a verdict, and ends the trial.
    pub async fn decree(
        &self,
        settings: &Settings,
        record: &CaseRecord,
        wish: DecreeWish,
        note: Option<String>,
    ) -> Result<Decreed, CaseError> {
        let mut trial = told(&self.events_of(&record.id).await?)?;
        if trial.next() != Next::AwaitDecree {
            return Err(CaseError::Request(not_now(record, &trial)));
        }
        let report = self.trial_report(&record.id).await?;
        let case = self.take_over(&record.id).await?;
        let asked = Asked {
            case: &case,
            record,
            report: &report,
            note: note.as_deref(),
        };
        let made = self.make_decree(settings, &asked, &wish).await;
        let (decree, next) = match made {
            Ok(made) => made,
            // Nothing was done: the trial waits for another decree.
            Err(error) => {
                if let CaseState::Parked { why, until } = record.state.clone() {
                    case.park(why, until).await?;
                }
                return Err(error);
            }
        };
        let issued = TrialEvent::DecreeIssued {
            decree: decree.clone(),
            note: note.clone(),
        };
        follow(&mut trial, &issued)?;
        // Before the decree is stored: whoever is killed here decrees again, and nothing is left over.
        self.clear_branches(&case, record, &report, &decree).await?;
        case.note(EventKind::from(issued)).await;
        case.close(Outcome::Completed).await?;
        tribunal_store::crashpoint!("trial.decreed");
        let next = match next {
            Some(next) => Some(self.go_on(next).await?),
            None => None,
        };
        let report = self.trial_report(&record.id).await?;
        Ok(Decreed {
            report,
            decree,
            next,
        })
    }

    /// Does what is wanted, and returns with it the trial that goes on from this one.
    /// Records what turned out after a trial: whose answer proved the best, or that nobody's did.
    /// The record of judges follows it instead of the decree.
    pub async fn state_hindsight(
        &self,
        record: &CaseRecord,
        contestant: Option<&str>,
        note: Option<String>,
    ) -> Result<TrialReport, CaseError> {
        let mut trial = told(&self.events_of(&record.id).await?)?;
        if trial.decree.is_none() {
            return Err(CaseError::Request(format!(
                "trial {} has no decree yet; say what is done about it with `tribunal trial decree {}`",
                record.id, record.id
            )));
        }
        let report = self.trial_report(&record.id).await?;
        let named = contestant.map(|name| find(&report, name)).transpose()?;
        if let Some(silent) = named.filter(|one| one.output.is_none()) {
            let name = &silent.contestant.name;
            return Err(CaseError::Request(format!("{name} handed nothing in")));
        }
        let stated = TrialEvent::HindsightStated {
            contestant: named.map(|one| one.contestant.id.clone()),
            note: note.map(|note| self.redactor.redact(&note)),
        };
        follow(&mut trial, &stated)?;
        let case = self.take_over(&record.id).await?;
        case.note(EventKind::from(stated)).await;
        case.close(Outcome::Completed).await?;
        self.trial_report(&record.id).await
    }

    async fn make_decree(
        &self,
        settings: &Settings,
        asked: &Asked<'_>,
        wish: &DecreeWish,
    ) -> Result<(Decree, Option<NextTrial>), CaseError> {
        let report = asked.report;
        let decree = match wish {
            DecreeWish::Merge { contestant } => {
                let (id, work) = to_merge(report, contestant.as_deref())?;
                self.merge(asked.case, asked.record, &work).await?;
                Decree::Merge {
                    contestant: id,
                    commit: work.commit,
                }
            }
            DecreeWish::Adopt { text, contestant } => {
                let (contestant, text) = to_adopt(report, text.as_deref(), contestant.as_deref())?;
                let text = self.redactor.redact(text);
                Decree::Adopt { text, contestant }
            }
            DecreeWish::Iterate => {
                let next = self.open_next(settings, asked).await?;
                let trial = next.id().clone();
                return Ok((Decree::Iterate { trial }, Some(next)));
            }
            DecreeWish::Issue => Decree::Issue {
                title: headline(&report.challenge, 80).into_owned(),
            },
            DecreeWish::Close => Decree::Close,
        };
        Ok((decree, None))
    }

    /// Merges a contestant's work into the branch on which the user stands.
    async fn merge(&self, case: &Case, record: &CaseRecord, work: &Work) -> Result<(), CaseError> {
        let request = read_request(record.request.clone())?;
        let repository = self.repository_of(&request)?;
        let key = EffectKey::new(format!("merge {}", work.commit))?;
        // Asked before anything is announced, so that a refusal leaves no intent behind.
        let (repo, commit) = (repository.clone(), work.commit.clone());
        blocking(move || merge::check(&repo, &commit)).await?;
        let probe = || async {
            let (repo, commit) = (repository.clone(), work.commit.clone());
            blocking(move || merge::is_merged(&repo, &commit)).await
        };
        let act = || async {
            let (repo, commit) = (repository.clone(), work.commit.clone());
            let message = format!("Merge {} of trial {}", work.branch, record.id);
            blocking(move || merge::merge(&repo, &commit, &message)).await
        };
        case.effect(&key, &format!("merge {}", work.branch), probe, act)
            .await?;
        Ok(())
    }
}

/// Returns whose work is merged.
fn to_merge(report: &TrialReport, named: Option<&str>) -> Result<(String, Work), CaseError> {
    let refuse = |text: String| Err(CaseError::Request(text));
    let winner = report
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.winner.as_deref());
    let Some(wanted) = named.or(winner) else {
        return refuse("there is a tie; say whose branch to merge with `--contestant`".to_owned());
    };
    let found = find(report, wanted)?;
    match found.output.as_ref().and_then(|output| output.work.clone()) {
        Some(work) => Ok((found.contestant.id.clone(), work)),
        None => refuse(format!(
            "`{}` handed in no code; a text is adopted with `tribunal trial decree {} adopt \
             --contestant {}`",
            found.contestant.name, report.case, found.contestant.id
        )),
    }
}

/// Returns the text to adopt, and from whom it comes where that was said.
fn to_adopt<'a>(
    report: &'a TrialReport,
    text: Option<&'a str>,
    named: Option<&str>,
) -> Result<(Option<String>, &'a str), CaseError> {
    let refuse = |text: String| Err(CaseError::Request(text));
    let winner = report
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.winner.as_deref());
    // A text alone is the user's own; without one it is the winner's answer.
    let wanted = named.or(winner.filter(|_| text.is_none()));
    let Some(wanted) = wanted else {
        return match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok((None, text)),
            None if text.is_some() => refuse("the adopted text is empty".to_owned()),
            None => refuse(
                "there is a tie; say whose answer to adopt with `--contestant`, or give a text"
                    .to_owned(),
            ),
        };
    };
    let found = find(report, wanted)?;
    let answer = found.output.as_ref().map(|output| output.text.as_str());
    match text.or(answer).filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok((Some(found.contestant.id.clone()), text)),
        None => refuse("the adopted text is empty".to_owned()),
    }
}

/// Returns the contestant of this id or name.
fn find<'a>(report: &'a TrialReport, wanted: &str) -> Result<&'a ContestantReport, CaseError> {
    let mut all = report.contestants.iter();
    let found = all.find(|one| one.contestant.id == wanted || one.contestant.name == wanted);
    found.ok_or_else(|| {
        let known = report.contestants.iter();
        let known: Vec<&str> = known.map(|one| one.contestant.id.as_str()).collect();
        CaseError::Request(format!(
            "there is no contestant `{wanted}`; there are {}",
            known.join(", ")
        ))
    })
}

fn not_now(record: &CaseRecord, trial: &Trial) -> String {
    let id = &record.id;
    match &trial.decree {
        Some((decree, _)) => format!("trial {id} has its decree already: {}", decree.as_str()),
        None => format!(
            "trial {id} has no verdict yet: it is {}; go on with `tribunal trial resume {id}`",
            trial.phase()
        ),
    }
}
