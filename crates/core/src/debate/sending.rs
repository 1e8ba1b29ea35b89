//! What the arbitrator sends: the consensus, requests to send again, and notes.

use super::floor;
use super::{Debate, Outgoing, Stage};

/// So many different notes are kept; what comes after them is counted.
const MOST_NOTES: usize = 500;

impl Debate {
    /// Settles what there is and sends it to the lead.
    pub(super) fn conclude(&mut self) -> Outgoing {
        let settlement = self.floor.settle(&self.policy);
        let mut report = settlement.report();
        for gap in self.floor.gaps() {
            report.summary.push_str(&format!(" {gap}."));
            report.incomplete.push(gap.clone());
        }
        report.problems.extend(self.notes.iter().cloned());
        if self.more_notes > 0 {
            let more = self.more_notes;
            report
                .problems
                .push(format!("{more} more notes of this kind"));
        }
        let lists = &report.consensus;
        let summary = format!(
            "Debate consensus: {} confirmed, {} dismissed, {} disputed",
            lists.accepted.len(),
            lists.rejected.len(),
            lists.disputed.len()
        );
        // A report is made of text, numbers and lists, which always have a JSON form.
        let content = serde_json::to_string(&report).unwrap_or_default();
        self.stage = Stage::Settled(Box::new(report));
        self.to_lead(content, &summary)
    }

    pub(super) fn ask_again(
        &self,
        who: &str,
        round: u8,
        problems: &[String],
        recipient: &str,
    ) -> Outgoing {
        let problems = floor::sentences(problems);
        Outgoing::Message {
            recipient: recipient.to_owned(),
            content: format!(
                "What {who} sent in round {round} could not be read in full: {problems}. \
                 Please send that again."
            ),
            summary: format!("Please re-send: {who}, round {round}"),
        }
    }

    /// Keeps a note for the report and tells the lead, once.
    pub(super) fn note(&mut self, text: String) -> Vec<Outgoing> {
        if self.keep(&text) {
            self.notice(text)
        } else {
            Vec::new()
        }
    }

    /// Keeps a note for the report, and tells whether it is a new one.
    pub(super) fn keep(&mut self, text: &str) -> bool {
        if self.notes.contains(text) {
            return false;
        }
        if self.notes.len() >= MOST_NOTES {
            self.more_notes += 1;
            return false;
        }
        self.notes.insert(text.to_owned())
    }

    pub(super) fn notice(&self, text: String) -> Vec<Outgoing> {
        vec![self.to_lead(text, "Note on the debate")]
    }

    pub(super) fn to_lead(&self, content: String, summary: &str) -> Outgoing {
        Outgoing::Message {
            recipient: self.lead.clone(),
            content,
            summary: summary.to_owned(),
        }
    }
}
