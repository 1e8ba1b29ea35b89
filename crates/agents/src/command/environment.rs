//! The environment of an agent: empty but for what is listed here or asked for.

use std::collections::BTreeMap;

use tribunal_core::ids::RunId;
use tribunal_core::secret::{Redactor, Secret};

use super::order::MARKER;
use crate::spec::{Cli, CommandSpec, Login};

/// Variables that every program may see.
const ALLOWED: &[&str] = &[
    "PATH",
    "LANG",
    "TZ",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
];

/// Variables that tell where the user's own configuration and login lie.
const USER: &[&str] = &[
    "HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "GEMINI_CONFIG_DIR",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
];

/// Variables that tell linters where their toolchains lie.
const TOOLCHAIN: &[&str] = &[
    "ASDF_DATA_DIR",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOCACHE",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NODE_PATH",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Variables as names and values. Those that are not valid Unicode are left out.
pub(super) type Variables = BTreeMap<String, String>;

/// Returns our own environment.
pub(super) fn own() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Returns the environment of a run, made from `own` and the variables `planned` for the program.
///
/// What the config sets goes before what we plan; nothing goes before the mark of the run.
pub(super) fn environment(
    own: &Variables,
    spec: &CommandSpec,
    planned: &Variables,
    run: &RunId,
) -> Variables {
    let is_users = |name: &str| {
        USER.contains(&name)
            || name.starts_with("XDG_")
            || spec.cli == Cli::Linter && TOOLCHAIN.contains(&name)
    };
    let passes = |name: &str| {
        ALLOWED.contains(&name)
            || name.starts_with("LC_")
            || spec.pass_env.iter().any(|passed| passed == name)
            || spec.login == Login::User && is_users(name)
    };
    let mut variables: Variables = own
        .iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut set = |name: &str, value: &str| {
        variables.insert(name.to_owned(), value.to_owned());
    };
    set("TERM", "dumb");
    if spec.login == Login::Isolated {
        set("HOME", &spec.home.to_string_lossy());
    }
    variables
        .entry("LANG".to_owned())
        .or_insert_with(|| "C.UTF-8".to_owned());
    variables.extend(planned.clone());
    variables.extend(spec.env.clone());
    variables.insert(MARKER.to_owned(), run.as_str().to_owned());
    variables
}

/// Returns what hides the keys of an agent in messages.
pub(super) fn redactor(own: &Variables, spec: &CommandSpec) -> Redactor {
    let telling = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD"]
            .iter()
            .any(|word| name.contains(word))
    };
    let passed = spec
        .pass_env
        .iter()
        .filter_map(|name| own.get_key_value(name));
    let values = spec.env.iter().chain(passed);
    let secrets = values
        .filter(|(name, _)| telling(name))
        .map(|(_, value)| Secret::new(value.as_str()));
    Redactor::new(secrets.chain(spec.api_key.clone()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn spec(login: Login) -> CommandSpec {
        CommandSpec {
            cli: Cli::Custom,
            argv: vec!["agent".to_owned()],
            env: BTreeMap::from([("SET".to_owned(), "config".to_owned())]),
            pass_env: vec!["PASSED".to_owned(), "ABSENT".to_owned()],
            login,
            home: PathBuf::from("/agents/ann"),
            base_url: None,
            api_key: None,
            supervisor: PathBuf::new(),
            sandbox: Box::new(crate::sandbox::SandboxSpec::default()),
        }
    }

    fn check(login: Login, expected: &[(&str, &str)]) {
        check_spec(&spec(login), expected);
    }

    fn check_spec(spec: &CommandSpec, expected: &[(&str, &str)]) {
        let own = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("TERM", "xterm"),
            ("XDG_CONFIG_HOME", "/home/me/cfg"),
            ("CODEX_HOME", "/home/me/codex"),
            ("PASSED", "yes"),
            ("CARGO_HOME", "/home/me/cargo"),
            ("CANARY_API_KEY", "sk-canary"),
            ("TRIBUNAL_RUN", "r-0000"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let planned = [("SET", "plan"), ("PLANNED", "1"), (MARKER, "forged")];
        let planned = planned.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let run = RunId::new("r-1234").unwrap();
        let variables = environment(&own.into(), spec, &planned.into(), &run);
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(variables, expected);
    }

    #[test]
    fn an_isolated_agent_sees_the_list_and_its_own_home() {
        check(
            Login::Isolated,
            &[
                ("HOME", "/agents/ann"),
                ("LANG", "C.UTF-8"),
                ("LC_ALL", "C"),
                ("PASSED", "yes"),
                ("PATH", "/bin"),
                ("PLANNED", "1"),
                ("SET", "config"),
                ("TERM", "dumb"),
                ("TRIBUNAL_RUN", "r-1234"),
            ],
        );
    }

    #[test]
    fn an_agent_with_the_users_login_sees_the_users_directories() {
        check(
            Login::User,
            &[
                ("CODEX_HOME", "/home/me/codex"),
                ("HOME", "/home/me"),
                ("LANG", "C.UTF-8"),
                ("LC_ALL", "C"),
                ("PASSED", "yes"),
                ("PATH", "/bin"),
                ("PLANNED", "1"),
                ("SET", "config"),
                ("TERM", "dumb"),
                ("TRIBUNAL_RUN", "r-1234"),
                ("XDG_CONFIG_HOME", "/home/me/cfg"),
            ],
        );
    }

    #[test]
    fn a_linter_with_the_users_login_sees_the_users_toolchains() {
        let spec = CommandSpec {
            cli: Cli::Linter,
            ..spec(Login::User)
        };
        check_spec(
            &spec,
            &[
                ("CARGO_HOME", "/home/me/cargo"),
                ("CODEX_HOME", "/home/me/codex"),
                ("HOME", "/home/me"),
                ("LANG", "C.UTF-8"),
                ("LC_ALL", "C"),
                ("PASSED", "yes"),
                ("PATH", "/bin"),
                ("PLANNED", "1"),
                ("SET", "config"),
                ("TERM", "dumb"),
                ("TRIBUNAL_RUN", "r-1234"),
                ("XDG_CONFIG_HOME", "/home/me/cfg"),
            ],
        );
    }
}
