//! A debate led by messages: the arbitrator among teammates, as a pure state machine.
//!
//! [`Debate::hear`] takes what arrives and returns what is to be sent. The lead opens the debate
//! with the findings of round 1, reviewers examine each other's findings in round 2 and defend
//! their own in round 3, the lead says when a round is complete, and the consensus goes to the
//! lead. Only the lead steers, and only by a message that is a signal as a whole: whatever stands
//! inside a reviewer's text is text. Neither the order of messages within a round nor a message
//! delivered twice changes the consensus.

mod changes;
mod context;
mod floor;
mod sending;
mod speech;
mod wire;

use std::collections::BTreeSet;

use schemars::Schema;
use serde_json::Value;

use crate::consensus::{Policy, Report};
use crate::text::truncate_chars;
use changes::Standings;
use floor::{Floor, Heard};
use wire::{Control, control};

pub use context::{author_of, by_reviewer};
pub use wire::{Outgoing, Reader};

/// Returns the JSON schema of the consensus that ends a debate.
#[must_use]
pub fn consensus_schema() -> Schema {
    schemars::schema_for!(Report)
}

/// What happens to the arbitrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Somebody says something.
    Message(Letter),
    /// Something arrived that is nobody's message; the text says what is wrong with it.
    Unreadable(String),
    /// The time for the round is over.
    Deadline,
    /// Nothing will arrive any more.
    Closed,
}

/// A message with its sender. Who carries messages vouches for the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Who sent it.
    pub from: String,
    /// What it says: text, or JSON.
    pub content: Value,
}

/// Where a debate stands.
#[derive(Debug, Clone)]
enum Stage {
    /// Nobody has opened it.
    Waiting,
    /// A round is in progress.
    Open(Round),
    /// The consensus was sent.
    Settled(Box<Report>),
}

/// The rounds in which messages are heard. The first one is over when a debate opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// Round 2: reviewers examine the findings of others.
    Examination,
    /// Round 3: authors defend their own.
    Defense,
}

impl Round {
    fn number(self) -> u8 {
        match self {
            Self::Examination => 2,
            Self::Defense => 3,
        }
    }
}

/// Why a round ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The lead says that it is complete.
    Signal,
    /// Its time is over.
    Deadline,
    /// Nothing will arrive any more.
    Closed,
}

/// One debate, from the opening message to the end.
#[derive(Debug, Clone)]
pub struct Debate {
    lead: String,
    policy: Policy,
    stage: Stage,
    floor: Floor,
    standings: Standings,
    notes: BTreeSet<String>,
    more_notes: usize,
    shut_down: bool,
    broken_off: bool,
}

impl Debate {
    /// Returns a debate that waits for `lead` to open it.
    #[must_use]
    pub fn new(lead: impl Into<String>, policy: Policy) -> Self {
        Self {
            lead: lead.into(),
            policy,
            stage: Stage::Waiting,
            floor: Floor::default(),
            standings: Standings::default(),
            notes: BTreeSet::new(),
            more_notes: 0,
            shut_down: false,
            broken_off: false,
        }
    }

    /// Takes what arrives and returns what is to be sent.
    pub fn hear(&mut self, input: Input) -> Vec<Outgoing> {
        match input {
            Input::Message(letter) => self.message(&letter),
            Input::Unreadable(what) => self.note(what),
            Input::Deadline => match self.stage {
                Stage::Open(round) => self.end_round(round, End::Deadline),
                Stage::Waiting | Stage::Settled(_) => Vec::new(),
            },
            Input::Closed => self.close(),
        }
    }

    /// Returns the consensus, once there is one.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        match &self.stage {
            Stage::Settled(report) => Some(report),
            Stage::Waiting | Stage::Open(_) => None,
        }
    }

    /// Returns the number of the round that is in progress.
    #[must_use]
    pub fn round(&self) -> Option<u8> {
        match self.stage {
            Stage::Open(round) => Some(round.number()),
            Stage::Waiting | Stage::Settled(_) => None,
        }
    }

    /// Tells whether the lead asked for the end and got it.
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Tells whether messages stopped before the lead had ended the last round.
    #[must_use]
    pub fn was_broken_off(&self) -> bool {
        self.broken_off
    }

    fn message(&mut self, letter: &Letter) -> Vec<Outgoing> {
        let from_lead = letter.from == self.lead;
        if let Some(control) = control(&letter.content) {
            if from_lead {
                return self.control(control);
            }
            let from = name(&letter.from);
            return self.note(format!(
                "{from} sent a control signal, which only {} may do; it was ignored",
                self.lead
            ));
        }
        match self.stage {
            Stage::Waiting if from_lead => self.open(&letter.content),
            Stage::Waiting => {
                let text = format!(
                    "{} spoke before the debate was opened; it was not heard",
                    name(&letter.from)
                );
                self.note(text)
            }
            Stage::Open(round) => self.discuss(round, letter),
            Stage::Settled(_) => {
                let from = name(&letter.from);
                let text = format!("{from} spoke after the consensus; nothing changes");
                self.notice(text)
            }
        }
    }

    fn control(&mut self, control: Control) -> Vec<Outgoing> {
        match control {
            Control::RoundComplete(number) => self.round_complete(number),
            Control::Shutdown { request_id } => {
                let content = match &self.stage {
                    Stage::Open(round) => Some(format!(
                        "Debate round {} is still in progress; the consensus is not complete yet",
                        round.number()
                    )),
                    Stage::Waiting | Stage::Settled(_) => None,
                };
                self.shut_down = content.is_none();
                vec![Outgoing::ShutdownResponse {
                    request_id,
                    approve: self.shut_down,
                    content,
                }]
            }
        }
    }

    /// Ends the round that the lead calls complete, and the one before it if it is still open.
    fn round_complete(&mut self, number: u8) -> Vec<Outgoing> {
        match (&self.stage, number) {
            (Stage::Open(round), _) if round.number() == number => {
                self.end_round(*round, End::Signal)
            }
            (Stage::Open(Round::Examination), 3) if self.floor.rounds == 3 => {
                let mut sent = self.end_round(Round::Examination, End::Signal);
                sent.extend(self.end_round(Round::Defense, End::Signal));
                sent
            }
            (Stage::Waiting, _) => self.notice(format!(
                "round {number} cannot be complete: the debate was not opened"
            )),
            (Stage::Open(round), _) => {
                let current = round.number();
                self.notice(format!(
                    "round {number} is not in progress, round {current} is"
                ))
            }
            (Stage::Settled(_), _) => self.notice(format!(
                "round {number} is not in progress: the consensus was sent"
            )),
        }
    }

    fn open(&mut self, content: &Value) -> Vec<Outgoing> {
        let context = match context::read(content) {
            Ok(context) => context,
            Err(what) => return self.notice(what.to_owned()),
        };
        let mut sent = Vec::new();
        for problem in &context.problems {
            sent.extend(self.note(problem.clone()));
        }
        let unread = self.floor.open(context);
        let settlement = self.floor.settle(&self.policy);
        self.standings = Standings::of(&settlement);
        sent.push(self.to_lead(self.floor.opening(&settlement), "Debate round 1 complete"));
        let waits = !unread.is_empty();
        for (who, problems) in unread {
            self.keep(&format!("{who}, round 1: {}", floor::sentences(&problems)));
            sent.push(self.ask_again(&who, 1, &problems, &who));
        }
        // Without findings, and with nobody left to ask, there is nothing to debate.
        if self.floor.rounds == 1 || settlement.findings.is_empty() && !waits {
            sent.push(self.conclude());
        } else {
            self.stage = Stage::Open(Round::Examination);
        }
        sent
    }

    /// Hears a message of a round.
    fn discuss(&mut self, round: Round, letter: &Letter) -> Vec<Outgoing> {
        if letter.from == self.lead
            && let Ok(context) = context::read(&letter.content)
        {
            // The same opening delivered twice is no event.
            if self.floor.was_opened_with(&context) {
                return Vec::new();
            }
            return self.note("the debate is open; a second opening was ignored".to_owned());
        }
        let mut sent = Vec::new();
        for speech in self.floor.speeches(letter, &self.lead) {
            let heard = match speech {
                Ok(speech) => self.floor.hear(round.number(), &speech),
                Err(what) => {
                    sent.extend(self.note(what));
                    continue;
                }
            };
            sent.extend(self.answer(round, heard));
        }
        sent
    }

    /// Turns what was heard into messages.
    fn answer(&mut self, round: Round, heard: Heard) -> Vec<Outgoing> {
        let mut sent = Vec::new();
        let (who, number) = (&heard.who, round.number());
        for note in heard.notes {
            sent.extend(self.note(note));
        }
        if !heard.problems.is_empty() {
            let text = floor::sentences(&heard.problems);
            self.keep(&format!("{who}, round {number}: {text}"));
        }
        match heard.unreadable {
            floor::Unreadable::None | floor::Unreadable::Again => {}
            floor::Unreadable::First => {
                let recipient = if heard.forwarded { &self.lead } else { who };
                sent.push(self.ask_again(who, number, &heard.problems, recipient));
            }
            floor::Unreadable::Second => sent.push(self.to_lead(
                format!(
                    "A second message of {who} in round {number} could not be read; what cannot \
                     be read counts as abstention: {}",
                    floor::sentences(&heard.problems)
                ),
                &format!("{who} abstains"),
            )),
        }
        if heard.batch {
            let text = self.floor.progress(number, who, heard.counted);
            sent.push(self.to_lead(text, &format!("Debate round {number} in progress")));
        }
        sent
    }

    fn end_round(&mut self, round: Round, end: End) -> Vec<Outgoing> {
        let settlement = self.floor.settle(&self.policy);
        let number = round.number();
        let missing = self.floor.end_round(number, &settlement);
        let standings = Standings::of(&settlement);
        let mut text = format!(
            "Round {number} complete: {}",
            standings.since(&self.standings)
        );
        self.standings = standings;
        match end {
            End::Signal => {}
            End::Deadline => text.push_str("; its time was over"),
            End::Closed => text.push_str("; messages stopped before its end"),
        }
        for sentence in missing {
            text.push_str("; ");
            text.push_str(&sentence);
        }
        let mut sent = vec![self.to_lead(text, &format!("Debate round {number} complete"))];
        let more = round == Round::Examination && self.floor.rounds == 3 && end != End::Closed;
        if more {
            self.stage = Stage::Open(Round::Defense);
        } else {
            sent.push(self.conclude());
        }
        sent
    }

    fn close(&mut self) -> Vec<Outgoing> {
        match self.stage {
            Stage::Settled(_) => Vec::new(),
            Stage::Waiting => {
                self.broken_off = true;
                self.floor
                    .note_gap("Debate incomplete — it was never opened".to_owned());
                vec![self.conclude()]
            }
            Stage::Open(round) => {
                self.broken_off = true;
                self.floor.note_gap(format!(
                    "Debate incomplete — messages stopped in round {}",
                    round.number()
                ));
                self.end_round(round, End::Closed)
            }
        }
    }
}

/// Returns a name of bounded length.
fn name(text: &str) -> std::borrow::Cow<'_, str> {
    truncate_chars(text, 60)
}
