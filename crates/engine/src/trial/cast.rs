//! Who takes part: from what the user wished and the config has.

use std::time::Duration;

use tribunal_core::agent::Role;
use tribunal_core::consensus::Record;
use tribunal_core::ids::AgentName;
use tribunal_core::trial::archetype::{ARCHETYPES, Archetype};
use tribunal_core::trial::{
    AnswerMask, Contestant, FEWEST_CONTESTANTS, MOST_CONTESTANTS, MOST_DESIGNED, MOST_JUDGES, Mode,
    slug,
};

use super::{Cast, CastWish, Player, TrialRequest, TrialWish};
use crate::Engine;
use crate::case::CaseError;
use crate::config::{AgentSettings, Roster, Settings, Weighing};
use crate::stats::record_of_judges;

/// Names of providers and families that tell nothing about who answered.
const MEANINGLESS: [&str; 5] = ["custom", "scripted", "unknown", "other", "project"];

impl Engine {
    /// Returns the request that the ledger keeps.
    pub(super) async fn trial_request(
        &self,
        settings: &Settings,
        wish: &TrialWish,
    ) -> Result<TrialRequest, CaseError> {
        let roster = Roster::new(settings);
        let most_judges = wish.judges.unwrap_or(settings.trial.judges as usize);
        if !(1..=MOST_JUDGES).contains(&most_judges) {
            let text = format!("there are between 1 and {MOST_JUDGES} judges, not {most_judges}");
            return Err(CaseError::Request(text));
        }
        let cast = self.cast(settings, &roster, wish)?;
        let challenge = self.redactor.redact(&wish.challenge);
        let challenge = self
            .dir
            .put_blob(challenge.as_bytes())
            .map_err(CaseError::file("store the challenge"))?;
        let millis = |wall: Duration| u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        let mut request = TrialRequest {
            directory: wish.directory.clone(),
            challenge,
            mode: wish.mode,
            seed: format!("{:016x}{:016x}", crate::random_bits(), crate::random_bits()),
            cast,
            arbiter: self.arbiter(settings, &roster, wish)?,
            judges: self.judge_players(&roster, wish)?,
            most_judges,
            method: wish.method.unwrap_or(settings.trial.method),
            swap: wish.swap || settings.trial.swap,
            answer_chars: settings.trial.answer_chars as usize,
            contestant_wall_ms: settings.trial.contestant_wall.map(|wall| millis(wall.0)),
            start: None,
            record: self.record_for(settings, wish).await?,
            from: wish.from.clone(),
            judges_named: wish.judges_named,
            max_cost: wish.max_cost,
            hidden: None,
        };
        request.hidden = Some(match &wish.hidden {
            Some(hidden) => hidden.clone(),
            None => self.names_to_hide(&request.cast, &wish.challenge),
        });
        if wish.mode == Mode::Code {
            let here = self.start_of_work(&request).await?;
            request.start = Some(wish.start.clone().unwrap_or(here));
        }
        Ok(request)
    }

    /// Returns the names by which a judge could tell who answered. A name that the challenge itself
    /// speaks of is its subject: without it nobody could judge the answers.
    fn names_to_hide(&self, cast: &Cast, challenge: &str) -> Vec<String> {
        let agents: Vec<&AgentName> = match cast {
            Cast::Named { contestants } => contestants.iter().map(|one| &one.agent).collect(),
            Cast::Designed { players, .. } | Cast::Archetypes { players, .. } => {
                players.iter().map(|one| &one.name).collect()
            }
        };
        let mut names = std::collections::BTreeSet::new();
        for agent in agents {
            names.insert(agent.to_string());
            let Ok(seat) = self.seat(agent) else { continue };
            let profile = seat.agent.profile();
            names.extend(profile.model.clone());
            for word in [&profile.family, &profile.provider] {
                names.extend(
                    Some(word.clone()).filter(|word| !MEANINGLESS.contains(&word.as_str())),
                );
            }
        }
        let is_subject =
            |name: &String| AnswerMask::new([name.as_str()], Vec::new()).names_in(challenge);
        names.into_iter().filter(|name| !is_subject(name)).collect()
    }

    /// Returns what is known about the judges when their words shall weigh by it. It is kept with
    /// the trial, so that a later decree changes nothing about it.
    async fn record_for(
        &self,
        settings: &Settings,
        wish: &TrialWish,
    ) -> Result<Option<Record>, CaseError> {
        match (&wish.record, settings.trial.weights) {
            (Some(record), _) => Ok(Some(record.clone())),
            (None, Weighing::Equal) => Ok(None),
            (None, Weighing::Record) => {
                let store = self.ledger.store();
                Ok(Some(Record {
                    judges: record_of_judges(store.as_ref()).await?,
                    ..Record::default()
                }))
            }
        }
    }

    fn cast(
        &self,
        settings: &Settings,
        roster: &Roster,
        wish: &TrialWish,
    ) -> Result<Cast, CaseError> {
        match &wish.contestants {
            CastWish::Named(named) => Ok(Cast::Named {
                contestants: self.named(roster, named)?,
            }),
            CastWish::Designed(count) => {
                let count = count.unwrap_or(settings.trial.contestants as usize);
                check_count(count)?;
                let players = self.players(roster, wish.mode)?;
                Ok(Cast::Designed { count, players })
            }
            CastWish::Archetypes(count) => {
                check_count(*count)?;
                let players = self.players(roster, wish.mode)?;
                Ok(Cast::Archetypes {
                    count: *count,
                    players,
                })
            }
        }
    }

    fn named(
        &self,
        roster: &Roster,
        named: &[(String, Option<String>)],
    ) -> Result<Vec<Contestant>, CaseError> {
        if named.len() < FEWEST_CONTESTANTS {
            return Err(CaseError::Request(
                "a trial needs at least two contestants; name another with `--contestant`, also the \
                 same agent as an archetype, such as `--contestant NAME=pragmatist,NAME=guardian`"
                    .to_owned(),
            ));
        }
        if named.len() > MOST_CONTESTANTS {
            let text = format!("at most {MOST_CONTESTANTS} contestants take part");
            return Err(CaseError::Request(text));
        }
        let mut contestants: Vec<Contestant> = Vec::new();
        for (name, archetype) in named {
            let agent = roster.get(name).ok_or_else(|| unknown(roster, name))?;
            let archetype = archetype.as_deref().map(archetype_named).transpose()?;
            let player = self.player(agent)?;
            contestants.push(contestant(&player, archetype, &contestants));
        }
        Ok(contestants)
    }

    /// Returns the agents over which contestants are spread.
    fn players(&self, roster: &Roster, mode: Mode) -> Result<Vec<Player>, CaseError> {
        let with = |role: Role| roster.with_role(role).filter(|agent| !agent.is_tool());
        let mut chosen: Vec<&AgentSettings> = with(Role::Contestant).collect();
        if chosen.is_empty() && mode == Mode::Code {
            chosen = with(Role::Coder).collect();
        }
        if chosen.is_empty() {
            return Err(CaseError::Request(
                "there is nobody to answer: no agent has the role contestant; name agents with \
                 `--contestant`, or add one with `tribunal connect AGENT --role contestant`"
                    .to_owned(),
            ));
        }
        chosen.into_iter().map(|agent| self.player(agent)).collect()
    }

    fn player(&self, agent: &AgentSettings) -> Result<Player, CaseError> {
        let seat = self.seat(&agent.name)?;
        Ok(Player {
            name: agent.name.clone(),
            family: seat.agent.profile().family.clone(),
            about: agent.when_to_use.clone().unwrap_or_default(),
        })
    }

    fn judge_players(&self, roster: &Roster, wish: &TrialWish) -> Result<Vec<Player>, CaseError> {
        let named = wish.judge_agents.iter().map(|name| {
            let agent = roster.get(name).ok_or_else(|| unknown(roster, name))?;
            self.player(agent)
        });
        let judges = match wish.judge_agents.is_empty() {
            true => {
                let usual = roster.with_role(Role::Judge);
                let usual = usual.map(|agent| self.player(agent));
                usual.collect::<Result<Vec<_>, _>>()?
            }
            false => named.collect::<Result<Vec<_>, _>>()?,
        };
        if judges.is_empty() {
            return Err(CaseError::Request(
                "there is nobody to judge: no agent has the role judge; name one with `--judge`, or \
                 add one with `tribunal connect AGENT --role judge`"
                    .to_owned(),
            ));
        }
        Ok(judges)
    }

    fn arbiter(
        &self,
        settings: &Settings,
        roster: &Roster,
        wish: &TrialWish,
    ) -> Result<Option<AgentName>, CaseError> {
        if let Some(name) = &wish.arbiter {
            let agent = roster.get(name).ok_or_else(|| unknown(roster, name))?;
            self.seat(&agent.name)?;
            return Ok(Some(agent.name.clone()));
        }
        Ok(roster.arbiter(settings))
    }
}

/// Returns so many archetypes, spread over the players.
pub(super) fn archetypes(count: usize, players: &[Player]) -> Vec<Contestant> {
    let mut contestants: Vec<Contestant> = Vec::new();
    for (archetype, player) in ARCHETYPES.iter().zip(players.iter().cycle()).take(count) {
        contestants.push(contestant(player, Some(archetype), &contestants));
    }
    contestants
}

fn contestant(player: &Player, archetype: Option<&Archetype>, before: &[Contestant]) -> Contestant {
    let taken: Vec<String> = before.iter().map(|one| one.id.clone()).collect();
    let name = archetype.map_or_else(|| player.name.to_string(), |one| one.name.to_owned());
    let id = slug(&name, &taken);
    // The same agent twice, or the same archetype of two agents, is told apart by number.
    let again = before
        .iter()
        .filter(|one| one.name == name || one.name.starts_with(&format!("{name} ")));
    let name = match again.count() {
        0 => name,
        others => format!("{name} {}", others + 1),
    };
    Contestant {
        id,
        name,
        persona: archetype.map_or_else(String::new, |one| one.persona.to_owned()),
        focus: archetype.map_or_else(String::new, |one| one.focus.to_owned()),
        agent: player.name.clone(),
        family: player.family.clone(),
        temperature_milli: None,
    }
}

fn archetype_named(id: &str) -> Result<&'static Archetype, CaseError> {
    let found = ARCHETYPES.iter().find(|one| one.id == id);
    found.ok_or_else(|| {
        let known = ARCHETYPES.map(|one| one.id).join(", ");
        CaseError::Request(format!("there is no archetype `{id}`; there are {known}"))
    })
}

fn check_count(count: usize) -> Result<(), CaseError> {
    match (FEWEST_CONTESTANTS..=MOST_DESIGNED).contains(&count) {
        true => Ok(()),
        false => Err(CaseError::Request(format!(
            "between {FEWEST_CONTESTANTS} and {MOST_DESIGNED} contestants can be designed, not {count}"
        ))),
    }
}

fn unknown(roster: &Roster, name: &str) -> CaseError {
    let known: Vec<String> = roster
        .agents()
        .iter()
        .map(|agent| agent.name.to_string())
        .collect();
    match AgentName::new(name) {
        Ok(name) => CaseError::UnknownAgent {
            name,
            known: known.join(", "),
        },
        Err(error) => CaseError::Request(error.to_string()),
    }
}
