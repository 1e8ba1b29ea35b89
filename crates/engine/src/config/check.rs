//! What types alone cannot say: settings that contradict each other or point nowhere.

use tribunal_core::agent::Role;
use tribunal_core::finding::Label;

use super::agent::{AgentSettings, Provider, Reach};
use super::disputes::StaleAlert;
use super::error::ConfigError;
use super::node::{Kind, Mark, Node};
use super::problem::did_you_mean;
use super::settings::{AdvisorySource, Settings};
use super::values::Span;
use super::work::{RuleQuestion, RuleSettings};

/// Checks the merged settings; `tree` tells where each value stands.
///
/// A label that one layer makes mandatory and another optional is what the later layer says.
pub(super) fn check(settings: &mut Settings, tree: &Node) -> Result<(), ConfigError> {
    let places = Places(tree);
    for agent in &settings.agents {
        check_agent(agent, places)?;
    }
    check_ranges(settings, places)?;
    check_disputes(settings, places)?;
    check_advisories(settings, places)?;
    check_arbiter(settings, places)?;
    check_providers(settings, places)?;
    let opinions = &mut settings.review.opinions;
    settle_labels(
        &mut opinions.mandatory,
        &mut opinions.optional,
        "opinions",
        places,
    )?;
    let issues = &mut settings.review.issues;
    settle_labels(
        &mut issues.mandatory,
        &mut issues.optional,
        "issues",
        places,
    )
}

/// Finds the places that complaints are about.
#[derive(Clone, Copy)]
struct Places<'t>(&'t Node);

impl<'t> Places<'t> {
    /// Returns the place of the value at `path`, or of the nearest thing around it.
    fn nearest(self, path: &[&str]) -> &'t Mark {
        let mut node = self.0;
        let mut mark = &node.mark;
        for part in path {
            let Some(entry) = node.entries().iter().find(|entry| entry.key == *part) else {
                break;
            };
            node = &entry.value;
            // An agent stands where its name does, not where its first key happens to be.
            mark = if node.entries().is_empty() {
                &node.mark
            } else {
                &entry.mark
            };
        }
        mark
    }

    fn error<T>(
        self,
        path: &[&str],
        message: String,
        hint: Option<&str>,
    ) -> Result<T, ConfigError> {
        let hint = hint.map(str::to_owned);
        Err(self.nearest(path).error(message, hint))
    }
}

fn check_agent(agent: &AgentSettings, places: Places<'_>) -> Result<(), ConfigError> {
    let name = agent.name.as_str();
    if agent.role.is_empty() {
        let hint = "add `role: reviewer`, or `coder`, `judge`, `arbiter`, `contestant`";
        return places.error(
            &["agents", name],
            format!("the agent `{name}` has no `role`"),
            Some(hint),
        );
    }
    check_reach(agent, places)?;
    if agent.is_tool() {
        check_tool(agent, places)?;
    } else if agent.accept_empty {
        let message = format!("`agents.{name}.accept_empty` is only for linters");
        return places.error(
            &["agents", name, "accept_empty"],
            message,
            Some("remove it"),
        );
    }
    check_names(agent, places)?;
    if let Some(url) = &agent.base_url {
        check_url(url, &["agents", name, "base_url"], places)?;
    }
    let limits = &agent.limits;
    let spans = [
        ("first_byte", limits.first_byte),
        ("idle", limits.idle),
        ("wall", limits.wall),
    ];
    for (key, span) in spans {
        check_not_zero(span, &["agents", name, "limits", key], places)?;
    }
    if agent.concurrency == Some(0) {
        return must_be_positive(&["agents", name, "concurrency"], places);
    }
    if agent.max_output_tokens == Some(0) {
        return must_be_positive(&["agents", name, "max_output_tokens"], places);
    }
    Ok(())
}

/// An agent is reached in exactly one way, and says what that way needs.
fn check_reach(agent: &AgentSettings, places: Places<'_>) -> Result<(), ConfigError> {
    let name = agent.name.as_str();
    let Some(provider) = agent.provider() else {
        let hint = "add `command: claude`, for example, or `provider: anthropic`";
        let message = format!("the agent `{name}` has neither a `command` nor a `provider`");
        return places.error(&["agents", name], message, Some(hint));
    };
    let (word, reach) = (provider.as_str(), provider.reach());
    if agent.command.is_some() && !matches!(reach, Reach::Command(_)) {
        let message = format!("the agent `{name}` has both a `command` and the provider `{word}`");
        return places.error(
            &["agents", name, "provider"],
            message,
            Some("keep one of them"),
        );
    }
    if agent.command.is_none() && matches!(provider, Provider::Custom | Provider::Sarif) {
        let message = format!("the agent `{name}` is `{word}` but has no `command`");
        return places.error(
            &["agents", name, "provider"],
            message,
            Some("name the program to start"),
        );
    }
    let needs = [
        (
            "script",
            agent.script.is_some(),
            Reach::Scripted,
            "scripted",
        ),
        ("case", agent.case.is_some(), Reach::Replay, "replay"),
    ];
    for (key, given, of, of_word) in needs {
        if reach == of && !given {
            let message = format!("the agent `{name}` is `{of_word}` but has no `{key}`");
            return places.error(&["agents", name], message, Some("add it"));
        }
        if reach != of && given {
            let message = format!("`agents.{name}.{key}` is only for `provider: {of_word}`");
            return places.error(&["agents", name, key], message, Some("remove one of them"));
        }
    }
    Ok(())
}

/// A tool reports what it finds, and nothing can be said to it.
fn check_tool(agent: &AgentSettings, places: Places<'_>) -> Result<(), ConfigError> {
    let name = agent.name.as_str();
    if agent.role != [Role::Reviewer] {
        let message = format!("the agent `{name}` is a linter and can only be a `reviewer`");
        let hint = "write `role: reviewer`";
        return places.error(&["agents", name, "role"], message, Some(hint));
    }
    let meaningless = [
        ("model", agent.model.is_some()),
        ("instructions", agent.instructions.is_some()),
        ("base_url", agent.base_url.is_some()),
        ("api_key_env", agent.api_key_env.is_some()),
        ("temperature", agent.temperature.is_some()),
        ("max_output_tokens", agent.max_output_tokens.is_some()),
        ("price", agent.price.is_some()),
    ];
    for (key, given) in meaningless {
        if given {
            let message = format!("`agents.{name}.{key}` means nothing to a linter");
            return places.error(&["agents", name, key], message, Some("remove it"));
        }
    }
    Ok(())
}

/// Names that are handed to programs must not be mistaken for anything else.
fn check_names(agent: &AgentSettings, places: Places<'_>) -> Result<(), ConfigError> {
    let name = agent.name.as_str();
    for (key, value) in [("model", &agent.model), ("family", &agent.family)] {
        if let Some(value) = value {
            check_model_word(value, &["agents", name, key], places)?;
        }
    }
    if let Some(variable) = &agent.api_key_env {
        check_key_variable(variable, &["agents", name, "api_key_env"], places)?;
    }
    for variable in &agent.pass_env {
        if !is_variable_name(variable) {
            let message = format!("`agents.{name}.pass_env` must list names of variables");
            return places.error(&["agents", name, "pass_env"], message, None);
        }
    }
    for (variable, value) in &agent.env {
        if !is_variable_name(variable) || value.contains('\0') {
            let message = format!("`agents.{name}.env` must map names of variables to texts");
            return places.error(&["agents", name, "env", variable], message, None);
        }
    }
    Ok(())
}

fn check_key_variable(
    variable: &str,
    path: &[&str],
    places: Places<'_>,
) -> Result<(), ConfigError> {
    if is_variable_name(variable) {
        return Ok(());
    }
    // The value is probably the key itself, so it is not repeated.
    let message = format!("`{}` must be the name of a variable", path.join("."));
    let hint = "keys are never kept in config; put the key into a variable and name that here";
    places.error(path, message, Some(hint))
}

fn check_model_word(word: &str, path: &[&str], places: Places<'_>) -> Result<(), ConfigError> {
    let fits = !word.is_empty()
        && !word.starts_with('-')
        && !word.contains(|c: char| c.is_whitespace() || c.is_control());
    if fits {
        return Ok(());
    }
    let message = format!(
        "`{}` must be a name without spaces or a leading dash",
        path.join(".")
    );
    places.error(path, message, None)
}

fn is_variable_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Keys are bound to a host, so an address must name one and carry no credentials itself.
fn check_url(url: &str, path: &[&str], places: Places<'_>) -> Result<(), ConfigError> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let clean = !url.contains(|c: char| c.is_whitespace() || c.is_control());
    let key = path.join(".");
    match authority {
        Some(authority) if authority.contains('@') => {
            let message = format!("`{key}` must not carry a name or password");
            places.error(path, message, Some("use `api_key_env` for keys"))
        }
        Some(authority) if clean && !authority.is_empty() => Ok(()),
        _ => {
            let message =
                format!("`{key}` must be an address that begins with `https://` or `http://`");
            places.error(path, message, None)
        }
    }
}

fn check_not_zero(
    span: Option<Span>,
    path: &[&str],
    places: Places<'_>,
) -> Result<(), ConfigError> {
    if span.is_some_and(|span| span.0.is_zero()) {
        let message = format!("`{}` must be longer than zero", path.join("."));
        return places.error(path, message, None);
    }
    Ok(())
}

fn must_be_positive(path: &[&str], places: Places<'_>) -> Result<(), ConfigError> {
    let message = format!("`{}` must be at least 1, not `0`", path.join("."));
    places.error(path, message, None)
}

fn check_ranges(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    let limits = &settings.limits;
    let spans = [
        ("first_byte", limits.first_byte),
        ("idle", limits.idle),
        ("wall", limits.wall),
    ];
    for (key, span) in spans {
        check_not_zero(Some(span), &["limits", key], places)?;
    }
    let (review, run, trial) = (&settings.review, &settings.run, &settings.trial);
    let ranges: [(&[&str], u32, u32, u32); 12] = [
        (
            &["review", "arbitration", "rounds"],
            review.arbitration.rounds,
            1,
            9,
        ),
        (&["review", "judge", "panel"], review.judge.panel, 1, 9),
        (&["run", "max_iterations"], run.max_iterations, 1, 1_000),
        (&["run", "max_rejections"], run.max_rejections, 1, 1_000),
        (&["trial", "contestants"], trial.contestants, 2, 6),
        (&["trial", "judges"], trial.judges, 1, 5),
        (
            &["trial", "answer_chars"],
            trial.answer_chars,
            1_000,
            u32::MAX,
        ),
        (&["git", "push_attempts"], settings.git.push_attempts, 1, 20),
        (
            &["disputes", "timeout_days"],
            settings.disputes.timeout_days,
            1,
            3_650,
        ),
        (
            &["precedents", "expire_days"],
            settings.precedents.expire_days,
            1,
            36_500,
        ),
        (
            &["arbiter", "max_tokens"],
            settings.arbiter.max_tokens,
            1,
            u32::MAX,
        ),
        (&["retry", "attempts"], settings.retry.attempts, 1, 20),
    ];
    for (path, value, least, most) in ranges {
        let key = path.join(".");
        if value < least {
            let message = format!("`{key}` must be at least {least}, not `{value}`");
            return places.error(path, message, None);
        }
        if value > most {
            let message = format!("`{key}` must be at most {most}, not `{value}`");
            return places.error(path, message, None);
        }
    }
    if review.max_file.0 == 0 {
        return must_be_positive(&["review", "max_file"], places);
    }
    check_run(settings, places)
}

/// Checks what a run can only notice in its middle: a branch that git refuses, and rejections that
/// never come in this order.
fn check_run(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    if let Some(branch) = &settings.run.branch
        && !is_branch_name(branch)
    {
        let message = format!("`run.branch` cannot be the name of a branch: `{branch}`");
        return places.error(&["run", "branch"], message, None);
    }
    let rejections = &settings.run.coordinate_at;
    if rejections.contains(&0) || !rejections.is_sorted_by(|one, next| one < next) {
        let message = "`run.coordinate_at` must be numbers of rejections in rising order, from 1";
        let hint = "for example `[2, 5, 9]`";
        return places.error(&["run", "coordinate_at"], message.to_owned(), Some(hint));
    }
    Ok(())
}

/// Tells whether git takes `name` as the name of a branch (`git check-ref-format --branch`).
fn is_branch_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    let is_refused = |letter: char| {
        letter.is_control() || matches!(letter, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
    };
    !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && name != "@"
        && name != "HEAD"
        && !name.contains(is_refused)
        && name.split('/').all(is_part)
}

fn check_disputes(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    let disputes = &settings.disputes;
    match &disputes.webhook {
        Some(url) => check_url(url, &["disputes", "webhook"], places),
        None if disputes.alert_on_stale == StaleAlert::Webhook => places.error(
            &["disputes", "alert_on_stale"],
            "`disputes.alert_on_stale` is `webhook` but there is no address".to_owned(),
            Some("set `disputes.webhook`"),
        ),
        None => Ok(()),
    }
}

fn check_advisories(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    let advisories = &settings.advisories;
    if let Some(url) = &advisories.url {
        check_url(url, &["advisories", "url"], places)?;
    }
    let missing = match advisories.source {
        AdvisorySource::Directory if advisories.path.is_none() => "path",
        AdvisorySource::Server if advisories.url.is_none() => "url",
        AdvisorySource::Off | AdvisorySource::Directory | AdvisorySource::Server => return Ok(()),
    };
    let hint = format!("set `advisories.{missing}`");
    let message = format!("`advisories.source` needs `advisories.{missing}`, which is not set");
    places.error(&["advisories", "source"], message, Some(&hint))
}

fn check_arbiter(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    let arbiter = &settings.arbiter;
    if let Some(model) = &arbiter.model {
        check_model_word(model, &["arbiter", "model"], places)?;
    }
    let needs_more = |provider: &Provider| {
        matches!(
            provider,
            Provider::Scripted | Provider::Replay | Provider::Custom | Provider::Sarif
        )
    };
    if let Some(provider) = arbiter.provider.filter(needs_more) {
        let message = format!(
            "`arbiter.provider` cannot be `{}`, which needs more than a name",
            provider.as_str()
        );
        let hint = "define an agent with `role: arbiter` and name it with `arbiter.agent`";
        return places.error(&["arbiter", "provider"], message, Some(hint));
    }
    if let Some(url) = &arbiter.base_url {
        check_url(url, &["arbiter", "base_url"], places)?;
    }
    if let Some(variable) = &arbiter.api_key_env {
        check_key_variable(variable, &["arbiter", "api_key_env"], places)?;
    }
    let of_provider = [
        ("base_url", arbiter.base_url.is_some()),
        ("api_key_env", arbiter.api_key_env.is_some()),
        ("price", arbiter.price.is_some()),
    ];
    for (key, given) in of_provider {
        if given && arbiter.provider.is_none() {
            let message =
                format!("`arbiter.{key}` belongs to `arbiter.provider`, which is not set");
            let hint = "set `arbiter.provider`, or give the key to the agent that is the arbiter";
            return places.error(&["arbiter", key], message, Some(hint));
        }
    }
    for (index, rule) in arbiter.rules.iter().enumerate() {
        check_rule(settings, rule, index, places)?;
    }
    let Some(name) = &arbiter.agent else {
        return Ok(());
    };
    if arbiter.provider.is_some() {
        let message = "`arbiter` has both an `agent` and a `provider`".to_owned();
        return places.error(&["arbiter", "agent"], message, Some("keep one of them"));
    }
    let agents: Vec<_> = settings
        .agents
        .iter()
        .map(|agent| agent.name.as_str())
        .collect();
    match settings.agents.iter().find(|agent| agent.name == *name) {
        Some(agent) if agent.has_role(Role::Arbiter) => Ok(()),
        Some(_) => {
            let message = format!("`arbiter.agent` names `{name}`, which is not an arbiter");
            places.error(
                &["arbiter", "agent"],
                message,
                Some("add `arbiter` to its `role`"),
            )
        }
        None => {
            let hint = did_you_mean(name.as_str(), agents);
            let message = format!("`arbiter.agent` names `{name}`, but there is no such agent");
            places.error(&["arbiter", "agent"], message, hint.as_deref())
        }
    }
}

/// Checks that what a rule decides is an answer to its question, by somebody who can be chosen.
fn check_rule(
    settings: &Settings,
    rule: &RuleSettings,
    index: usize,
    places: Places<'_>,
) -> Result<(), ConfigError> {
    const ROLES: [&str; 4] = ["planner", "developer", "tester", "reviewer"];
    let decisions: &[&str] = match rule.on {
        RuleQuestion::SelectAgent => &["complete", "retry"],
        RuleQuestion::EvaluateProgress => &["continue", "complete", "retry"],
    };
    let mut known: Vec<&str> = decisions.to_vec();
    if rule.on == RuleQuestion::SelectAgent {
        let coders = settings.agents.iter();
        let coders = coders.filter(|agent| agent.has_role(Role::Coder));
        known.extend(ROLES);
        let names = coders.map(|agent| agent.name.as_str());
        known.extend(names.filter(|name| !ROLES.contains(name)));
    }
    let then = rule.then.as_str();
    if known.contains(&then) {
        return Ok(());
    }
    let (on, number) = (rule.on.as_str(), index + 1);
    let message = format!("rule {number} of `arbiter.rules` answers `{on}` with `{then}`");
    let listed: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    let hint = did_you_mean(then, known);
    let hint = hint.unwrap_or_else(|| format!("known here: {}", listed.join(", ")));
    let item = match places.0.at(&["arbiter", "rules"]).map(|node| &node.kind) {
        Some(Kind::List(items)) => items.get(index),
        _ => None,
    };
    match item.map(|item| item.get("then").unwrap_or(item)) {
        Some(node) => Err(node.mark.error(message, Some(hint))),
        None => places.error(&["arbiter", "rules"], message, Some(&hint)),
    }
}

fn check_providers(settings: &Settings, places: Places<'_>) -> Result<(), ConfigError> {
    let known = Provider::ALL.map(Provider::as_str);
    for (name, provider) in &settings.providers {
        if !known.contains(&name.as_str()) {
            let hint = did_you_mean(name, known);
            let message = format!("there is no provider `{name}`");
            return places.error(&["providers", name], message, hint.as_deref());
        }
        if provider.concurrency == 0 {
            return must_be_positive(&["providers", name, "concurrency"], places);
        }
    }
    Ok(())
}

fn settle_labels(
    mandatory: &mut Vec<Label>,
    optional: &mut Vec<Label>,
    section: &str,
    places: Places<'_>,
) -> Result<(), ConfigError> {
    let Some(both) = mandatory
        .iter()
        .find(|label| optional.contains(label))
        .copied()
    else {
        return Ok(());
    };
    let list = |key| places.0.at(&["review", section, key]);
    let layer = |key| list(key).map(|node| node.mark.source.layer);
    match layer("mandatory").cmp(&layer("optional")) {
        std::cmp::Ordering::Greater => optional.retain(|label| !mandatory.contains(label)),
        std::cmp::Ordering::Less => mandatory.retain(|label| !optional.contains(label)),
        std::cmp::Ordering::Equal => {
            let word = format!("{both:?}").to_uppercase();
            let message = format!("`{word}` is both mandatory and optional in `review.{section}`");
            return places.error(
                &["review", section, "optional"],
                message,
                Some("keep it in one list"),
            );
        }
    }
    Ok(())
}
