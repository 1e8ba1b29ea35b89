//! Where each program finds its model and its login, as far as we know.

use tribunal_core::sandbox::HostPattern;

use super::hosts::AllowedHosts;
use crate::spec::{Cli, CommandSpec};

/// Claude Code: its model, and where tokens of a login are renewed.
const CLAUDE: &[&str] = &[
    "api.anthropic.com",
    "claude.ai",
    "console.anthropic.com",
    "platform.claude.com",
];

/// Codex: its model with a key, with a login, and where tokens are renewed.
const CODEX: &[&str] = &["api.openai.com", "auth.openai.com", "chatgpt.com"];

/// Gemini CLI: its model with a key, with a login, and where tokens are renewed.
const GEMINI: &[&str] = &[
    "cloudcode-pa.googleapis.com",
    "generativelanguage.googleapis.com",
    "oauth2.googleapis.com",
    "www.googleapis.com",
];

/// The hosts of opencode's models, by the first word of the model's name.
const OPENCODE: &[(&str, &[&str])] = &[
    ("anthropic", CLAUDE),
    ("deepseek", &["api.deepseek.com"]),
    ("google", &["generativelanguage.googleapis.com"]),
    ("groq", &["api.groq.com"]),
    ("mistral", &["api.mistral.ai"]),
    ("opencode", &["opencode.ai"]),
    ("openai", CODEX),
    ("openrouter", &["openrouter.ai"]),
    ("xai", &["api.x.ai"]),
];

/// Parts of the names of variables by which a program is sent to other hosts.
const ELSEWHERE: [&str; 6] = [
    "BASE_URL", "ENDPOINT", "BEDROCK", "VERTEX", "FOUNDRY", "API_HOST",
];

/// The hosts that a program needs.
pub(crate) struct ProviderHosts {
    /// They, and those that the user names.
    pub(crate) hosts: AllowedHosts,
    /// Whether they are all that it needs, as far as we know.
    pub(crate) are_known: bool,
}

impl ProviderHosts {
    /// Returns the hosts for the program of `spec`, which asks `model`, and those that the user names.
    pub(crate) fn of(spec: &CommandSpec, model: Option<&str>, named: &[HostPattern]) -> Self {
        let mut hosts = AllowedHosts::default();
        let usual = match (&spec.base_url, spec.cli) {
            (Some(url), cli) => {
                hosts.add_base_url(url);
                (!matches!(cli, Cli::Custom | Cli::Linter)).then_some(&[][..])
            }
            (None, Cli::Claude) => Some(CLAUDE),
            (None, Cli::Codex) => Some(CODEX),
            (None, Cli::Gemini) => Some(GEMINI),
            (None, Cli::Opencode) => hosts_of_model(model),
            (None, Cli::Custom | Cli::Linter) => None,
        };
        for host in usual.into_iter().flatten() {
            hosts.add_provider(host);
        }
        for pattern in named {
            hosts.add_pattern(pattern);
        }
        let mut variables = spec.env.keys().chain(&spec.pass_env);
        let is_sent_elsewhere = variables.any(|name| {
            let name = name.to_ascii_uppercase();
            ELSEWHERE.iter().any(|part| name.contains(part))
        });
        Self {
            hosts,
            are_known: usual.is_some() && !is_sent_elsewhere,
        }
    }
}

fn hosts_of_model(model: Option<&str>) -> Option<&'static [&'static str]> {
    let (provider, _) = model?.split_once('/')?;
    let mut known = OPENCODE.iter().filter(|(name, _)| *name == provider);
    known.next().map(|(_, hosts)| *hosts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::network::hosts::AskedAs;
    use crate::spec::Login;

    fn spec(cli: Cli) -> CommandSpec {
        CommandSpec {
            cli,
            argv: Vec::new(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            login: Login::Isolated,
            home: PathBuf::new(),
            base_url: None,
            api_key: None,
            supervisor: PathBuf::new(),
            sandbox: Box::new(crate::sandbox::SandboxSpec::default()),
        }
    }

    fn reaches(found: &ProviderHosts, host: &str) -> bool {
        found.hosts.find(host, 443, AskedAs::Tunnel).is_ok()
    }

    #[test]
    fn hosts_are_known_for_programs_that_are_not_sent_elsewhere() {
        for (cli, model, host) in [
            (Cli::Claude, None, "api.anthropic.com"),
            (Cli::Codex, None, "api.openai.com"),
            (Cli::Gemini, None, "generativelanguage.googleapis.com"),
            (
                Cli::Opencode,
                Some("openrouter/qwen/qwen3"),
                "openrouter.ai",
            ),
        ] {
            let found = ProviderHosts::of(&spec(cli), model, &[]);
            assert!(found.are_known && reaches(&found, host), "{host}");
            assert!(!reaches(&found, "example.com"));
        }
        for (cli, model) in [
            (Cli::Custom, None),
            (Cli::Linter, None),
            (Cli::Opencode, None),
            (Cli::Opencode, Some("nobody/knows")),
        ] {
            assert!(!ProviderHosts::of(&spec(cli), model, &[]).are_known);
        }
        let elsewhere = CommandSpec {
            pass_env: vec!["ANTHROPIC_BEDROCK_BASE_URL".to_owned()],
            ..spec(Cli::Claude)
        };
        assert!(!ProviderHosts::of(&elsewhere, None, &[]).are_known);
    }

    #[test]
    fn a_base_url_takes_the_place_of_the_vendors_hosts() {
        let own = CommandSpec {
            base_url: Some("https://models.corp/v1".to_owned()),
            ..spec(Cli::Claude)
        };
        let found = ProviderHosts::of(&own, None, &[]);
        assert!(found.are_known && reaches(&found, "models.corp"));
        assert!(!reaches(&found, "api.anthropic.com"));
    }
}
