//! Who reviews: the configured reviewers, the built-in ones, and what was brought along.

use serde::{Deserialize, Serialize};
use tribunal_code::language::Language;
use tribunal_code::rule::Domain;
use tribunal_core::agent::Role;
use tribunal_core::ids::AgentName;

use super::builtin;
use super::debate::JudgeSeat;
use super::tool::ToolSeat;
use crate::Engine;
use crate::case::CaseError;
use crate::config::{AgentSettings, Builtin, Roster, Settings};

/// One member of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Member {
    /// A built-in reviewer.
    Builtin {
        /// What it looks after.
        domain: Domain,
    },
    /// A configured agent.
    Agent {
        /// Its name.
        name: AgentName,
        /// The family of its model.
        family: String,
        /// The fields that it is asked to stay within; empty for all.
        domains: Vec<String>,
        /// Whether it is a tool that takes no question and answers in its own format.
        is_tool: bool,
        /// What is known of the tool; absent for others, and in records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<ToolSeat>,
    },
    /// Findings of another tool, read from a file.
    Import {
        /// Its name: that of the file.
        name: String,
        /// Hash of the stored contents.
        contents: String,
        /// The family of the tool, where the report or its name tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<String>,
    },
    /// A reviewer of the config who is not asked, because nobody trusts what it runs or sends.
    Unasked {
        /// Its name.
        name: AgentName,
    },
}

impl Member {
    /// Returns its name in events and reports.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Builtin { domain } => builtin::name(*domain),
            Self::Agent { name, .. } => name.to_string(),
            Self::Import { name, .. } => name.clone(),
            Self::Unasked { name } => name.to_string(),
        }
    }

    /// Returns the family as whose voice it counts.
    #[must_use]
    pub fn family(&self) -> String {
        match self {
            Self::Builtin { .. } => builtin::FAMILY.to_owned(),
            Self::Agent { family, .. } => family.clone(),
            Self::Import { name, family, .. } => match family {
                Some(family) => family.clone(),
                None => format!("tool:{name}"),
            },
            Self::Unasked { name } => format!("unasked:{name}"),
        }
    }
}

/// Returns the panel: the reviewers of the config and the built-in ones, or those named.
///
/// A name is that of an agent, `builtin` for all built-in reviewers, or `builtin:security`.
pub(crate) fn choose(
    engine: &Engine,
    settings: &Settings,
    named: &[String],
) -> Result<Vec<Member>, CaseError> {
    let roster = Roster::new(settings);
    if named.is_empty() {
        let agents = roster.with_role(Role::Reviewer);
        let mut members = agents
            .map(|agent| member(engine, agent))
            .collect::<Result<Vec<_>, _>>()?;
        members.extend(settings.review.builtin.iter().map(|one| of_domain(*one)));
        return Ok(members);
    }
    let mut members: Vec<Member> = Vec::new();
    for name in named {
        let chosen = match name.strip_prefix("builtin") {
            Some("") => Builtin::ALL.map(of_domain).to_vec(),
            Some(rest) if rest.starts_with(':') => vec![builtin_named(&rest[1..])?],
            _ => {
                let agent = roster.get(name).ok_or_else(|| unknown(&roster, name))?;
                vec![member(engine, agent)?]
            }
        };
        members.extend(chosen);
    }
    members.dedup();
    Ok(members)
}

/// Returns the judges who can be asked to weigh evidence; none when that is switched off.
pub(crate) fn judges(engine: &Engine, settings: &Settings) -> Vec<JudgeSeat> {
    if !settings.review.judge.weigh {
        return Vec::new();
    }
    let roster = Roster::new(settings);
    let seats = roster.with_role(Role::Judge).filter_map(|agent| {
        let seat = engine.seat(&agent.name).ok()?;
        Some(JudgeSeat {
            name: agent.name.clone(),
            family: seat.agent.profile().family.clone(),
        })
    });
    seats.collect()
}

fn member(engine: &Engine, agent: &AgentSettings) -> Result<Member, CaseError> {
    let seat = engine.seat(&agent.name)?;
    Ok(Member::Agent {
        name: agent.name.clone(),
        family: seat.agent.profile().family.clone(),
        domains: agent.domain.clone(),
        is_tool: agent.is_tool(),
        tool: agent.tool().map(|name| ToolSeat {
            name,
            family_is_set: agent.family.is_some(),
            accept_empty: agent.accept_empty,
            named_files: agent
                .command
                .as_ref()
                .map_or_else(Vec::new, |command| named_files(command.argv())),
        }),
    })
}

/// Returns what may be files of the repository with settings of the tool that `argv` starts: what
/// it starts itself, what follows an option about settings, and whatever is no code.
fn named_files(argv: &[String]) -> Vec<String> {
    let words = argv
        .iter()
        .flat_map(|word| word.split(|c: char| c.is_whitespace() || "=;&|<>'\"".contains(c)))
        .filter(|word| !word.is_empty());
    let mut named: Vec<String> = Vec::new();
    let mut is_told = true;
    let mut is_first = true;
    for word in words {
        let path = word.trim_start_matches("./");
        let is_path = !word.starts_with(['-', '/', '$', '{', '~']) && path.contains(['.', '/']);
        let is_code = Language::detect(path, "").is_some();
        if is_path && (is_told || !is_code) && !path.ends_with('/') {
            named.push(path.to_owned());
        }
        let option = word.trim_start_matches('-');
        let is_option = word.starts_with('-');
        is_told = is_first
            || (is_option
                && ["c", "conf", "rule", "ignore"]
                    .iter()
                    .any(|one| option.starts_with(one)));
        is_first = false;
    }
    named.sort();
    named.dedup();
    named
}

fn of_domain(domain: Builtin) -> Member {
    let domain = match domain {
        Builtin::Security => Domain::Security,
        Builtin::Correctness => Domain::Correctness,
        Builtin::Tests => Domain::Tests,
    };
    Member::Builtin { domain }
}

fn builtin_named(name: &str) -> Result<Member, CaseError> {
    let domain = name.parse::<Domain>().ok();
    let domain = domain.filter(|domain| Domain::BUILTIN.contains(domain));
    domain
        .map(|domain| Member::Builtin { domain })
        .ok_or_else(|| {
            let known = Domain::BUILTIN
                .map(|domain| format!("builtin:{domain}"))
                .join(", ");
            CaseError::UnknownReviewer {
                name: format!("builtin:{name}"),
                known,
            }
        })
}

fn unknown(roster: &Roster, name: &str) -> CaseError {
    let mut known: Vec<String> = roster
        .with_role(Role::Reviewer)
        .map(|agent| agent.name.to_string())
        .collect();
    known.push("builtin".to_owned());
    CaseError::UnknownReviewer {
        name: name.to_owned(),
        known: known.join(", "),
    }
}
