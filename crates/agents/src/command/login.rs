//! Finds out whether a program can reach its model, without asking the model.
//!
//! Claude Code, Codex and opencode have a command for it. Gemini CLI has none, so its files and
//! variables are looked at.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::Variables;
use super::reader::text_at;
use super::short_question::{self, ShortAnswer};
use crate::LoginState;
use crate::spec::{Cli, CommandSpec, Login};

/// Variables that Gemini CLI takes a login from.
const GEMINI_VARIABLES: [&str; 4] = [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
];

/// Returns what can be seen of the login of the program `argv`, which gets `variables`.
pub(super) async fn state(
    spec: &CommandSpec,
    argv: &[String],
    variables: &Variables,
) -> LoginState {
    if spec.api_key.is_some() {
        return LoginState::Found("the key of its settings".to_owned());
    }
    if let Some(url) = &spec.base_url {
        return LoginState::Unknown(format!("it talks to {url} without a key"));
    }
    let ask = |words| short_question::ask(argv, words, Path::new("/"), variables);
    let missing = || LoginState::Missing {
        remedy: remedy(spec),
    };
    match spec.cli {
        Cli::Claude => match ask(&["auth", "status"]).await {
            Ok(answer) => claude(&answer).unwrap_or_else(missing),
            Err(why) => LoginState::Unknown(format!("`auth status` {why}")),
        },
        Cli::Codex => match ask(&["login", "status"]).await {
            Ok(answer) => codex(&answer).unwrap_or_else(missing),
            Err(why) => LoginState::Unknown(format!("`login status` {why}")),
        },
        Cli::Opencode => match ask(&["auth", "list"]).await {
            Ok(answer) => opencode(&answer),
            Err(why) => LoginState::Unknown(format!("`auth list` {why}")),
        },
        Cli::Gemini => gemini(variables).unwrap_or_else(missing),
        Cli::Custom | Cli::Linter => LoginState::NotNeeded,
    }
}

/// Reads the JSON of `claude auth status`; nothing means that nobody is logged in.
fn claude(answer: &ShortAnswer) -> Option<LoginState> {
    let Ok(status) = serde_json::from_str::<Value>(&answer.stdout) else {
        let told = "this version does not tell whether somebody is logged in";
        return Some(LoginState::Unknown(told.to_owned()));
    };
    let logged_in = status.get("loggedIn").and_then(Value::as_bool)?;
    let how = ["apiKeySource", "email", "authMethod"]
        .iter()
        .find_map(|name| text_at(&status, &[name]));
    logged_in.then(|| LoginState::Found(how.unwrap_or("logged in").to_owned()))
}

/// Reads the sentence of `codex login status`; nothing means that nobody is logged in.
fn codex(answer: &ShortAnswer) -> Option<LoginState> {
    let told = format!("{}{}", answer.stdout, answer.stderr);
    let sentence = told.lines().find(|line| line.contains("ogged in"));
    match sentence {
        Some(sentence) if answer.success => Some(LoginState::Found(sentence.trim().to_owned())),
        Some(_) => None,
        None => {
            let told = "this version does not tell whether somebody is logged in";
            Some(LoginState::Unknown(told.to_owned()))
        }
    }
}

/// Reads the list of `opencode auth list`. Free and local models need no entry in it.
fn opencode(answer: &ShortAnswer) -> LoginState {
    let count_before = |word: &str| {
        let mut lines = answer.stdout.lines();
        let line = lines.find(|line| line.contains(word))?;
        let mut numbers = line.split_whitespace().filter_map(|part| part.parse().ok());
        numbers.next_back()
    };
    let stored: u32 = count_before(" credential").unwrap_or(0);
    let set: u32 = count_before(" environment variable").unwrap_or(0);
    match stored + set {
        0 => LoginState::Unknown(
            "no provider is set up, so only free and local models answer; \
             `opencode auth login` adds one"
                .to_owned(),
        ),
        1 => LoginState::Found("1 provider is set up".to_owned()),
        count => LoginState::Found(format!("{count} providers are set up")),
    }
}

/// Looks at the variables and files of Gemini CLI; nothing means that there is no login.
fn gemini(variables: &Variables) -> Option<LoginState> {
    let is_set = |name: &&&str| variables.get(**name).is_some_and(|value| !value.is_empty());
    if let Some(name) = GEMINI_VARIABLES.iter().find(is_set) {
        return Some(LoginState::Found((*name).to_owned()));
    }
    let home = ["GEMINI_CLI_HOME", "HOME"]
        .iter()
        .find_map(|name| variables.get(*name).filter(|home| !home.is_empty()))?;
    let directory = PathBuf::from(home).join(".gemini");
    if directory.join("oauth_creds.json").is_file() {
        return Some(LoginState::Found("a Google login".to_owned()));
    }
    let settings = std::fs::read(directory.join("settings.json")).ok()?;
    let settings: Value = serde_json::from_slice(&settings).ok()?;
    let chosen = text_at(&settings, &["security", "auth", "selectedType"])?;
    Some(LoginState::Unknown(format!(
        "its settings choose `{chosen}`, and whether that works cannot be seen"
    )))
}

/// Returns what the user does so that the program reaches its model.
fn remedy(spec: &CommandSpec) -> String {
    let (key, command) = match spec.cli {
        Cli::Claude => ("ANTHROPIC_API_KEY", "claude auth login"),
        Cli::Codex => ("OPENAI_API_KEY", "codex login"),
        Cli::Gemini => ("GEMINI_API_KEY", "gemini"),
        Cli::Opencode => ("the key of its provider", "opencode auth login"),
        Cli::Custom | Cli::Linter => return String::new(),
    };
    match spec.login {
        Login::User => format!("run `{command}` and log in, or set {key}"),
        Login::Isolated => {
            format!("set {key}; or log in with `{command}` and give this agent `login: user`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(stdout: &str, success: bool) -> ShortAnswer {
        ShortAnswer {
            stdout: stdout.to_owned(),
            stderr: String::new(),
            success,
        }
    }

    #[test]
    fn the_answers_of_the_programs_are_read() {
        let found = |how: &str| Some(LoginState::Found(how.to_owned()));
        let key =
            r#"{"loggedIn": true, "authMethod": "api_key", "apiKeySource": "ANTHROPIC_API_KEY"}"#;
        assert_eq!(claude(&answer(key, true)), found("ANTHROPIC_API_KEY"));
        let none = r#"{"loggedIn": false, "authMethod": "none"}"#;
        assert_eq!(claude(&answer(none, false)), None);
        let unreadable = claude(&answer("error: unknown command 'auth'", false));
        assert!(matches!(unreadable, Some(LoginState::Unknown(_))));

        let sentence = "Logged in using ChatGPT";
        assert_eq!(codex(&answer(sentence, true)), found(sentence));
        assert_eq!(codex(&answer("Not logged in", false)), None);
        let unreadable = codex(&answer("error: unrecognized subcommand", false));
        assert!(matches!(unreadable, Some(LoginState::Unknown(_))));

        let empty = "┌  Credentials ~/auth.json\n│\n└  0 credentials\n";
        let none = opencode(&answer(empty, true));
        assert!(matches!(none, LoginState::Unknown(_)));
        let set = format!("{empty}┌  Environment\n●  Anthropic\n└  1 environment variable\n");
        let one = LoginState::Found("1 provider is set up".to_owned());
        assert_eq!(opencode(&answer(&set, true)), one);
    }

    #[test]
    fn gemini_has_a_login_when_a_variable_or_a_file_says_so() {
        let home = tempfile::tempdir().unwrap();
        let mut variables = Variables::from([(
            "HOME".to_owned(),
            home.path().to_string_lossy().into_owned(),
        )]);
        assert_eq!(gemini(&variables), None);

        let directory = home.path().join(".gemini");
        std::fs::create_dir(&directory).unwrap();
        let settings = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
        std::fs::write(directory.join("settings.json"), settings).unwrap();
        assert!(matches!(gemini(&variables), Some(LoginState::Unknown(_))));

        std::fs::write(directory.join("oauth_creds.json"), "{}").unwrap();
        let google = LoginState::Found("a Google login".to_owned());
        assert_eq!(gemini(&variables), Some(google));

        variables.insert("GEMINI_API_KEY".to_owned(), "k".to_owned());
        let key = LoginState::Found("GEMINI_API_KEY".to_owned());
        assert_eq!(gemini(&variables), Some(key));
    }
}
