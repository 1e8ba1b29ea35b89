//! Who takes part in a debate, what was said, and who did not answer.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Context, read_list};
use super::speech::Speech;
use crate::consensus::{self, Kind, Policy, Reviewer, Settlement};
use crate::finding::Finding;
use crate::reply::{Author, Findings, Message, read_messages};
use crate::review::{Defense, Examination, Stance};

/// So many problems of one message are named.
const MOST_PROBLEMS: usize = 5;

/// All that was said so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Floor {
    /// How many rounds are held.
    pub(super) rounds: u8,
    seats: BTreeMap<String, Seat>,
    /// Who is awaited in the rounds; tools that only report are not.
    active: BTreeSet<String>,
    findings: Vec<Finding>,
    /// How many of the findings came with the opening.
    opened_with: usize,
    examinations: BTreeSet<Examination>,
    defenses: BTreeSet<Defense>,
    attendance: BTreeMap<(u8, String), Attendance>,
    expected: BTreeMap<u8, BTreeSet<String>>,
    silent: BTreeSet<String>,
    gaps: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Seat {
    family: String,
    reported: Reported,
}

/// What came of a reviewer in round 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    Read,
    Unread,
    Nothing,
}

#[derive(Debug, Clone, Default)]
struct Attendance {
    answered: bool,
    /// Length and problems of what could not be read, by which a repeated message is known.
    unreadable: BTreeSet<(usize, String)>,
}

/// What was made of one message.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) who: String,
    pub(super) forwarded: bool,
    /// How many of its statements count.
    pub(super) counted: usize,
    /// Whether it was a list of statements.
    pub(super) batch: bool,
    /// What was left out on purpose.
    pub(super) notes: Vec<String>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
    pub(super) unreadable: Unreadable,
}

/// Which of a reviewer's unreadable messages of a round one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Unreadable {
    /// It could be read.
    #[default]
    None,
    First,
    Second,
    /// A later one, or one that was delivered again.
    Again,
}

impl Floor {
    /// Takes the opening in, and returns those whose findings could not be read, with the problems.
    pub(super) fn open(&mut self, context: Context) -> Vec<(String, Vec<String>)> {
        self.rounds = context.rounds;
        self.active = context.active;
        let mut unread = Vec::new();
        for Reviewer { name, family } in context.reviewers {
            let reported = Reported::Nothing;
            self.seats.insert(name, Seat { family, reported });
        }
        for (author, read) in context.lists {
            if let Some(problems) = self.take_findings(&author.reviewer, read) {
                unread.push((author.reviewer, problems));
            }
        }
        self.opened_with = self.findings.len();
        let nothing = |(_, seat): &(&String, &Seat)| seat.reported == Reported::Nothing;
        let absent = self.seats.iter().filter(nothing);
        self.silent.extend(absent.map(|(name, _)| name.clone()));
        self.expect_examiners();
        unread
    }

    /// Tells whether `context` is the opening, delivered again.
    pub(super) fn was_opened_with(&self, context: &Context) -> bool {
        let again = context.lists.iter().flat_map(|(_, read)| &read.findings);
        let mut names = context.reviewers.iter().map(|one| &one.name);
        again.eq(&self.findings[..self.opened_with])
            && context.reviewers.len() == self.seats.len()
            && names.all(|one| self.is_seated(one))
    }

    /// Adds the findings of round 1 of a reviewer, and returns the problems, if there are any.
    fn take_findings(&mut self, who: &str, read: Findings) -> Option<Vec<String>> {
        if let Some(seat) = self.seats.get_mut(who) {
            seat.reported = match seat.reported {
                Reported::Read => Reported::Read,
                _ if read.answered => Reported::Read,
                _ => Reported::Unread,
            };
        }
        self.findings.extend(read.findings);
        let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
        (!problems.is_empty()).then_some(problems)
    }

    fn expect_examiners(&mut self) {
        let others = |name: &String| self.findings.iter().any(|one| one.reviewer != *name);
        let examiners = self.active.iter().filter(|name| others(name)).cloned();
        self.expected.insert(2, examiners.collect());
    }

    pub(super) fn is_seated(&self, name: &str) -> bool {
        self.seats.contains_key(name)
    }

    /// Hears one speech in a round.
    pub(super) fn hear(&mut self, round: u8, speech: &Speech) -> Heard {
        let mut heard = Heard {
            who: speech.who.clone(),
            forwarded: speech.forwarded,
            batch: speech.is_batch(),
            ..Heard::default()
        };
        let author = Author {
            reviewer: speech.who.clone(),
            family: self
                .seats
                .get(&speech.who)
                .map_or_else(String::new, |seat| seat.family.clone()),
        };
        if speech.holds_findings() {
            self.hear_findings(round, speech, &author, &mut heard);
        } else {
            self.hear_statements(round, speech, &author, &mut heard);
        }
        self.count_unreadable(round, speech, &mut heard);
        heard
    }

    /// Takes findings that could not be read at the opening; later ones come too late.
    fn hear_findings(&mut self, round: u8, speech: &Speech, author: &Author, heard: &mut Heard) {
        let reported = self.seats.get(&speech.who).map(|seat| seat.reported);
        if reported != Some(Reported::Unread) || round != 2 {
            heard.notes.push(format!(
                "{} sent findings after round 1 was closed; they are not counted",
                speech.who
            ));
            return;
        }
        let read = read_list(&speech.content(), author);
        heard.counted = read.findings.len();
        heard.problems = self.take_findings(&speech.who, read).unwrap_or_default();
        self.expect_examiners();
    }

    fn hear_statements(&mut self, round: u8, speech: &Speech, author: &Author, heard: &mut Heard) {
        let read = read_messages(&speech.text, author);
        heard.problems = read.problems.iter().map(ToString::to_string).collect();
        if read.messages.is_empty() && heard.problems.is_empty() {
            // An empty list is an answer: there is nothing to say.
            let about = speech.round().unwrap_or(round);
            self.attend(about, &speech.who).answered = true;
        }
        for message in read.messages {
            let about = match &message {
                Message::Examination(_) => 2,
                Message::Defense(_) => 3,
                Message::Signal(_) => {
                    heard.notes.push(format!(
                        "{} put a control signal into a message; it was ignored",
                        speech.who
                    ));
                    continue;
                }
            };
            if let Some(stated) = speech.round().filter(|stated| *stated != about) {
                heard.problems.push(format!(
                    "round: it says {stated}, but its statements belong to round {about}"
                ));
                break;
            }
            if about > self.rounds {
                heard
                    .notes
                    .push(format!("{} defends, but no round 3 is held", speech.who));
                break;
            }
            if self.say(round, about, message, author) {
                heard.counted += 1;
            } else {
                heard.notes.push(format!(
                    "{} answered in round {about} after it was closed; late answers are not counted",
                    speech.who
                ));
            }
        }
        heard.notes.dedup();
    }

    /// Counts a statement, unless its round is closed. What is known already stays known.
    fn say(&mut self, round: u8, about: u8, message: Message, author: &Author) -> bool {
        let known = match message {
            Message::Examination(mut one) => {
                one.reviewer.clone_from(&author.reviewer);
                one.family.clone_from(&author.family);
                self.examinations.contains(&one) || about >= round && self.examinations.insert(one)
            }
            Message::Defense(mut one) => {
                one.reviewer.clone_from(&author.reviewer);
                self.defenses.contains(&one) || about >= round && self.defenses.insert(one)
            }
            Message::Signal(_) => false,
        };
        if known {
            self.attend(about, &author.reviewer).answered = true;
        }
        known
    }

    fn count_unreadable(&mut self, round: u8, speech: &Speech, heard: &mut Heard) {
        if heard.problems.is_empty() {
            return;
        }
        let problems = sentences(&heard.problems);
        let attendance = self.attend(round, &speech.who);
        let is_new = attendance.unreadable.insert((speech.text.len(), problems));
        heard.unreadable = match attendance.unreadable.len() {
            1 if is_new => Unreadable::First,
            2 if is_new => Unreadable::Second,
            _ => Unreadable::Again,
        };
    }

    fn attend(&mut self, round: u8, who: &str) -> &mut Attendance {
        self.attendance.entry((round, who.to_owned())).or_default()
    }

    /// Closes a round, and returns a sentence for each reviewer that was awaited in vain.
    pub(super) fn end_round(&mut self, round: u8, settlement: &Settlement) -> Vec<String> {
        let mut told = Vec::new();
        for who in self.awaited(round) {
            let attendance = self.attendance.get(&(round, who.clone()));
            if attendance.is_some_and(|one| !one.unreadable.is_empty()) {
                let gap = format!(
                    "Debate incomplete — what {who} sent in round {round} could not be read"
                );
                told.push(gap.clone());
                self.gaps.insert(gap);
            } else {
                told.push(format!("{who} did not respond"));
                self.silent.insert(who);
            }
        }
        if round == 2 {
            for (who, _) in self
                .seats
                .iter()
                .filter(|(_, seat)| seat.reported == Reported::Unread)
            {
                let gap = format!("Debate incomplete — the findings of {who} could not be read");
                told.push(gap.clone());
                self.gaps.insert(gap);
            }
            let mut authors = challenged(settlement);
            authors.retain(|name| self.active.contains(name));
            self.expected.insert(3, authors);
        }
        told
    }

    /// Returns those who should still answer in a round.
    fn awaited(&self, round: u8) -> Vec<String> {
        let answered = |who: &&String| {
            let attendance = self.attendance.get(&(round, (*who).clone()));
            attendance.is_some_and(|one| one.answered)
        };
        let expected = self.expected.get(&round).into_iter().flatten();
        expected.filter(|who| !answered(who)).cloned().collect()
    }

    /// Settles what was said so far.
    pub(super) fn settle(&self, policy: &Policy) -> Settlement {
        let seated = self.seats.iter();
        let panel = seated
            .filter(|(_, seat)| seat.reported == Reported::Read)
            .map(|(name, seat)| Reviewer {
                name: name.clone(),
                family: seat.family.clone(),
            });
        let input = consensus::Input {
            findings: self.findings.clone(),
            examinations: self.examinations.iter().cloned().collect(),
            defenses: self.defenses.iter().cloned().collect(),
            panel: panel.collect(),
            silent: self.silent.iter().cloned().collect(),
            ..consensus::Input::default()
        };
        consensus::settle(input, policy)
    }

    /// Returns what the debate begins with, in words.
    pub(super) fn opening(&self, settlement: &Settlement) -> String {
        let by_name: Vec<String> = settlement
            .panel
            .iter()
            .map(|one| {
                let own = settlement.findings.iter();
                let number = own.filter(|finding| finding.reviewer == one.name).count();
                format!("{} {number}", one.name)
            })
            .collect();
        let groups = settlement.groups.iter();
        let agreed = groups.filter(|group| group.kind == Kind::Agreed).count();
        let mut text = format!(
            "Round 1 complete: findings: {} ({}); agreements: {agreed}; rounds held: {}",
            settlement.findings.len(),
            by_name.join(", "),
            self.rounds
        );
        for who in &self.silent {
            text.push_str(&format!("; {who} did not respond"));
        }
        text
    }

    /// Returns how far a round is, in words.
    pub(super) fn progress(&self, round: u8, who: &str, counted: usize) -> String {
        let awaited = self.awaited(round);
        let waiting = if awaited.is_empty() {
            "nobody is awaited".to_owned()
        } else {
            format!("awaited: {}", awaited.join(", "))
        };
        format!("Round {round} in progress: statements counted of {who}: {counted}; {waiting}")
    }

    /// Keeps why the debate is incomplete.
    pub(super) fn note_gap(&mut self, text: String) {
        self.gaps.insert(text);
    }

    /// Returns why the debate is incomplete, apart from reviewers that did not respond.
    pub(super) fn gaps(&self) -> &BTreeSet<String> {
        &self.gaps
    }
}

/// Returns the authors of findings about which somebody has doubts.
fn challenged(settlement: &Settlement) -> BTreeSet<String> {
    let mut authors = BTreeSet::new();
    for group in &settlement.groups {
        for &index in &group.examinations {
            let examination = &settlement.examinations[index as usize];
            if examination.stance == Stance::Agree {
                continue;
            }
            let members = group.members.iter();
            let members = members.map(|&member| &settlement.findings[member as usize]);
            let meant = members.filter(|finding| is_about(examination, finding));
            authors.extend(meant.map(|finding| finding.reviewer.clone()));
        }
    }
    authors
}

fn is_about(examination: &Examination, finding: &Finding) -> bool {
    let id = &examination.finding_id;
    let by = examination.original_model.as_ref();
    (finding.id == *id || finding.spoken_name() == *id)
        && finding.reviewer != examination.reviewer
        && by.is_none_or(|by| finding.reviewer == *by || finding.family == *by)
}

/// Returns the first problems as one text.
pub(super) fn sentences(problems: &[String]) -> String {
    let named: Vec<&str> = problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(String::as_str)
        .collect();
    let mut text = named.join("; ");
    if problems.len() > MOST_PROBLEMS {
        text.push_str(&format!("; and {} more", problems.len() - MOST_PROBLEMS));
    }
    text
}
