//! The arbiter at work: it designs contestants, and judges for what they handed in.

use tribunal_core::agent::{Access, Role};
use tribunal_core::event::TrialEvent;
use tribunal_core::ids::AgentName;
use tribunal_core::money::Cost;
use tribunal_core::prompt::{ContestantsPrompt, PanelPrompt, ShownAnswer};
use tribunal_core::reply::{read_signed_contestants, read_signed_panel};
use tribunal_core::trial::archetype::{Design, default_panel};
use tribunal_core::trial::{Contestant, DesignedBy, Judge, Panel, Trial, slug};

use super::ask::{Ask, Manner};
use super::{Cast, Hall, Player, cast};
use crate::case::CaseError;
use crate::review::nonce;

/// Room for the longest design, in tokens: what `arbiter.max_tokens` is meant for is far shorter.
const DESIGN_TOKENS: u32 = 8_192;

impl Hall<'_> {
    /// Decides who takes part.
    pub(super) async fn design_contestants(&self, trial: &mut Trial) -> Result<(), CaseError> {
        let (contestants, by, cost) = match &self.request.cast {
            Cast::Named { contestants } => (contestants.clone(), DesignedBy::User, None),
            Cast::Archetypes { count, players } => {
                let why = "archetypes were asked for".to_owned();
                let by = DesignedBy::Rules { why };
                (cast::archetypes(*count, players), by, None)
            }
            Cast::Designed { count, players } => self.designed(*count, players).await?,
        };
        let designed = TrialEvent::ContestantsDesigned {
            contestants,
            by,
            cost,
        };
        self.tell(trial, designed).await
    }

    async fn designed(
        &self,
        count: usize,
        players: &[Player],
    ) -> Result<(Vec<Contestant>, DesignedBy, Option<Cost>), CaseError> {
        let rules = |why: String, cost: Option<Cost>| {
            let by = DesignedBy::Rules { why };
            (cast::archetypes(count, players), by, cost)
        };
        let Some(arbiter) = &self.request.arbiter else {
            return Ok(rules("there is no arbiter".to_owned(), None));
        };
        let agents: Vec<AgentName> = players.iter().map(|one| one.name.clone()).collect();
        let listed: Vec<String> = players.iter().map(describe).collect();
        let listed = listed.join("\n");
        let key = "design contestants".to_owned();
        let material = format!("{}\n{listed}", self.challenge);
        let nonce = nonce(&self.request.seed, &key, &material);
        let prompt = ContestantsPrompt {
            nonce: &nonce,
            count,
            agents: &listed,
            challenge: self.challenge,
        }
        .render();
        let asked = self.ask_for(self.to_arbiter(arbiter, key, prompt), |reply| {
            let structured = reply.structured.as_ref();
            read_signed_contestants(&reply.text, structured, &nonce, count, &agents)
        });
        let used = match asked.await? {
            Ok(used) => used,
            Err(unheard) => {
                let why = format!("{arbiter} designed nobody: {}", unheard.why);
                return Ok(rules(why, Some(unheard.cost)));
            }
        };
        let mut contestants: Vec<Contestant> = Vec::new();
        for one in used.answer {
            let taken: Vec<String> = contestants.iter().map(|one| one.id.clone()).collect();
            let family = players.iter().find(|player| player.name == one.agent);
            contestants.push(Contestant {
                id: slug(&one.name, &taken),
                name: one.name,
                persona: one.persona,
                focus: one.focus,
                family: family.map_or_else(String::new, |player| player.family.clone()),
                agent: one.agent,
                temperature_milli: one.temperature_milli,
            });
        }
        let agent = arbiter.clone();
        Ok((contestants, DesignedBy::Arbiter { agent }, Some(used.cost)))
    }

    /// Designs the judges for what was handed in.
    pub(super) async fn empanel(&self, trial: &mut Trial) -> Result<(), CaseError> {
        let answers = self.shown_to_arbiter(trial)?;
        let outputs = u32::try_from(answers.len()).unwrap_or(u32::MAX);
        let arbiter = self.request.arbiter.clone();
        let message = match &arbiter {
            Some(_) => "The arbiter reads the answers and designs judges for them.",
            None => "There is no arbiter: the default panel sits.",
        };
        let started = TrialEvent::ArbiterStarted {
            agent: arbiter,
            outputs,
            message: message.to_owned(),
        };
        self.tell(trial, started).await?;
        let (reasoning, designs, by, cost) = self.panel(trial, &answers).await?;
        let families: Vec<&str> = trial
            .answered()
            .map(|(one, _)| one.family.as_str())
            .collect();
        let panel = Panel {
            reasoning,
            judges: self.seat_judges(designs, &families),
            by,
        };
        self.tell(trial, TrialEvent::PanelDesigned { panel, cost })
            .await
    }

    async fn panel(
        &self,
        trial: &Trial,
        answers: &[ShownAnswer],
    ) -> Result<(String, Vec<Design>, DesignedBy, Option<Cost>), CaseError> {
        let most = self.request.most_judges;
        let rules = |why: String, cost: Option<Cost>| {
            let reasoning = "The judges of the default panel look at any answer.".to_owned();
            let by = DesignedBy::Rules { why };
            (
                reasoning,
                default_panel(most, self.named_judges()),
                by,
                cost,
            )
        };
        let Some(arbiter) = &self.request.arbiter else {
            return Ok(rules("there is no arbiter".to_owned(), None));
        };
        let shown: Vec<&str> = answers.iter().map(|one| one.text.as_str()).collect();
        let material = format!("{}\n{}", self.challenge, shown.join("\n"));
        let key = "design judges".to_owned();
        let nonce = nonce(&self.request.seed, &key, &material);
        let prompt = PanelPrompt {
            nonce: &nonce,
            most,
            challenge: self.challenge,
            answers,
        }
        .render();
        // A judge's reason may call an answer by its label or by its persona's name.
        let labels = answers.iter().map(|one| one.label.clone());
        let names = trial.answered().map(|(one, _)| one.name.clone());
        let labels: Vec<String> = labels.chain(names).collect();
        let asked = self.ask_for(self.to_arbiter(arbiter, key, prompt), |reply| {
            let structured = reply.structured.as_ref();
            read_signed_panel(&reply.text, structured, &nonce, most, &labels)
        });
        Ok(match asked.await? {
            Ok(used) => {
                let (reasoning, designs) = used.answer;
                let agent = arbiter.clone();
                let by = DesignedBy::Arbiter { agent };
                (reasoning, designs, by, Some(used.cost))
            }
            Err(unheard) => {
                let why = format!("{arbiter} designed no judges: {}", unheard.why);
                rules(why, Some(unheard.cost))
            }
        })
    }

    fn to_arbiter<'s>(&'s self, arbiter: &'s AgentName, key: String, prompt: String) -> Ask<'s> {
        Ask {
            agent: arbiter,
            role: Role::Arbiter,
            key,
            attempt: 1,
            prompt,
            access: Access::ReadOnly,
            directory: &self.directory,
            manner: Manner {
                room: Some(DESIGN_TOKENS),
                ..Manner::default()
            },
        }
    }

    /// Returns the answers as the arbiter sees them: labels `C1`, `C2` in the order of the trial,
    /// with the names of personas, never of agents.
    fn shown_to_arbiter(&self, trial: &Trial) -> Result<Vec<ShownAnswer>, CaseError> {
        let answered = trial.answered().map(|(one, output)| {
            let material = self.material(output)?;
            let title = match one.persona.is_empty() {
                true => String::new(),
                false => format!("{}\n\n", one.name),
            };
            Ok(ShownAnswer {
                label: super::report::label(trial, &one.id),
                text: format!("{title}{material}"),
            })
        });
        answered.collect()
    }

    /// Returns how many agents the user named to judge.
    fn named_judges(&self) -> usize {
        match self.request.judges_named {
            true => self.request.judges.len(),
            false => 0,
        }
    }

    /// Finds an agent for every judge: of a family that does not take part where there is one, and
    /// of different families and different agents as far as they go round.
    fn seat_judges(&self, designs: Vec<Design>, families: &[&str]) -> Vec<Judge> {
        let players = &self.request.judges;
        let apart = |player: &&Player| !families.contains(&player.family.as_str());
        let (fit, related): (Vec<&Player>, Vec<&Player>) = players.iter().partition(apart);
        let (mut fit, related) = (by_turns(fit), by_turns(related));
        // Whom the user named sits where a seat is free, also beside its own family.
        if fit.is_empty() || self.request.judges_named {
            fit.extend(related);
        }
        let mut judges: Vec<Judge> = Vec::new();
        for (design, player) in designs.into_iter().zip(fit.into_iter().cycle()) {
            let taken: Vec<String> = judges.iter().map(|one| one.id.clone()).collect();
            judges.push(Judge {
                id: slug(&design.name, &taken),
                name: design.name,
                focus: design.focus,
                criteria: design.criteria,
                reasoning: design.reasoning,
                agent: player.name.clone(),
                family: player.family.clone(),
                related: families.contains(&player.family.as_str()),
            });
        }
        judges
    }
}

/// Returns the players so that one of each family comes before the second of any.
fn by_turns(players: Vec<&Player>) -> Vec<&Player> {
    let turn = |place: usize| {
        let before = players[..place].iter();
        before
            .filter(|other| other.family == players[place].family)
            .count()
    };
    let mut places: Vec<usize> = (0..players.len()).collect();
    places.sort_by_key(|place| turn(*place));
    places.into_iter().map(|place| players[place]).collect()
}

fn describe(player: &Player) -> String {
    let about = match player.about.is_empty() {
        true => String::new(),
        false => format!(": {}", player.about),
    };
    format!("- `{}` (family {}){about}", player.name, player.family)
}
