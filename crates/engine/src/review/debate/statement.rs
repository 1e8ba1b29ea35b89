//! What one reviewer says about one finding in round 2 or 3.

use tribunal_agents::Reply;
use tribunal_core::prompt::Round;
use tribunal_core::reply::{Statements, read_signed_defenses, read_signed_examinations};
use tribunal_core::review::{Defense, Examination};

use super::super::hear::AgentMember;

/// What differs between the rounds: how an answer is read and to what it refers.
pub(super) trait Statement: Sized + PartialEq {
    const ROUND: Round;
    /// The first word of its steps.
    const STEP: &'static str;

    fn read(reply: &Reply, nonce: &str, member: &AgentMember, asked: &[String])
    -> Statements<Self>;
    fn finding_id(&self) -> &str;
    fn word(&self) -> &'static str;
    /// Points it at a finding by its own id, in place of the neutral name.
    fn point_at(&mut self, id: &str, reviewer: &str);
}

impl Statement for Examination {
    const ROUND: Round = Round::Examine;
    const STEP: &'static str = "examine";

    fn read(
        reply: &Reply,
        nonce: &str,
        member: &AgentMember,
        asked: &[String],
    ) -> Statements<Self> {
        let structured = reply.structured.as_ref();
        read_signed_examinations(&reply.text, structured, nonce, &member.author(), asked)
    }

    fn finding_id(&self) -> &str {
        &self.finding_id
    }

    fn word(&self) -> &'static str {
        self.stance.as_str()
    }

    fn point_at(&mut self, id: &str, reviewer: &str) {
        id.clone_into(&mut self.finding_id);
        self.original_model = Some(reviewer.to_owned());
    }
}

impl Statement for Defense {
    const ROUND: Round = Round::Defend;
    const STEP: &'static str = "defend";

    fn read(
        reply: &Reply,
        nonce: &str,
        member: &AgentMember,
        asked: &[String],
    ) -> Statements<Self> {
        let structured = reply.structured.as_ref();
        read_signed_defenses(&reply.text, structured, nonce, &member.author(), asked)
    }

    fn finding_id(&self) -> &str {
        &self.finding_id
    }

    fn word(&self) -> &'static str {
        self.plea.as_str()
    }

    fn point_at(&mut self, id: &str, _reviewer: &str) {
        id.clone_into(&mut self.finding_id);
    }
}
