//! What the agent is told to do: by flags, by the environment, by rules and by the prompt itself.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::dialect::Dialect;
use crate::directive;

const GIB: u64 = 1024 * 1024 * 1024;

/// Everything that decides what the agent does.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) behave: String,
    /// The parameter of `exit N`, `write FILE` and `fail-first N`.
    pub(crate) param: Option<String>,
    pub(crate) dialect: Dialect,
    pub(crate) reply: Option<String>,
    pub(crate) log: Option<PathBuf>,
    pub(crate) bytes: u64,
    pub(crate) delay: Duration,
    pub(crate) status: u16,
    pub(crate) message: Option<String>,
    pub(crate) exit_code: Option<u8>,
    rules: Option<PathBuf>,
    /// Arguments meant for the CLI that the agent stands in for.
    pub(crate) rest: Vec<String>,
}

/// One rule of a `--rules` file: what to do with prompts that contain a text.
#[derive(Debug, Deserialize)]
struct Rule {
    when: String,
    behave: Option<String>,
    reply: Option<String>,
}

impl Options {
    /// Reads flags first and the environment for what they leave open.
    pub(crate) fn from_process() -> io::Result<Self> {
        let mut args = std::env::args();
        let program = args.next().unwrap_or_default();
        let mut options = Self::from_environment(&program)?;
        options.read_flags(args.collect())?;
        Ok(options)
    }

    /// Lets the rules and directives decide that fit the prompt.
    pub(crate) fn heed_prompt(&mut self, prompt: &str) -> io::Result<()> {
        if let Some(rule) = self.rule_for(prompt)? {
            self.reply = rule.reply.or(self.reply.take());
            if let Some(behave) = rule.behave {
                self.set_behave(&behave);
            }
        }
        if let Some(behave) = directive::value(prompt, "FAKE-BEHAVE") {
            self.set_behave(&behave);
        }
        if let Some(reply) = directive::reply(prompt) {
            self.reply = Some(reply);
        }
        Ok(())
    }

    /// Tells whether the caller only asks for the version of the CLI.
    pub(crate) fn asks_version(&self) -> bool {
        self.rest
            .first()
            .is_some_and(|first| first == "--version" || first == "-V")
    }

    /// Returns the value of a flag of the CLI that the agent stands in for.
    pub(crate) fn foreign(&self, flags: &[&str]) -> Option<&str> {
        let at = self
            .rest
            .iter()
            .position(|argument| flags.contains(&argument.as_str()))?;
        self.rest.get(at + 1).map(String::as_str)
    }

    fn from_environment(program: &str) -> io::Result<Self> {
        let read = |name: &str| std::env::var(format!("FAKE_AGENT_{name}")).ok();
        let named = Path::new(program)
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        let mut options = Self {
            behave: String::new(),
            param: None,
            dialect: Dialect::from_name(named).unwrap_or(Dialect::Plain),
            reply: read("REPLY"),
            log: read("LOG").map(PathBuf::from),
            bytes: GIB,
            delay: Duration::from_millis(300),
            status: 500,
            message: None,
            exit_code: None,
            rules: read("RULES").map(PathBuf::from),
            rest: Vec::new(),
        };
        options.set_behave(&read("BEHAVE").unwrap_or_else(|| "ok".to_owned()));
        if let Some(dialect) = read("DIALECT") {
            options.dialect = parse_dialect(&dialect)?;
        }
        Ok(options)
    }

    fn read_flags(&mut self, args: Vec<String>) -> io::Result<()> {
        let mut args = args.into_iter().peekable();
        while let Some(argument) = args.next() {
            let (flag, inline) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => {
                    (flag.to_owned(), Some(value.to_owned()))
                }
                _ => (argument.clone(), None),
            };
            if !is_own(&flag) {
                self.rest.push(argument);
                continue;
            }
            let missing = || invalid(format!("`{flag}` needs a value"));
            let value = inline.or_else(|| args.next()).ok_or_else(missing)?;
            self.set(&flag, value)?;
            if flag == "--behave" && self.wants_param() {
                self.param = args.next_if(|next| !next.starts_with("--"));
            }
        }
        Ok(())
    }

    fn set(&mut self, flag: &str, value: String) -> io::Result<()> {
        match flag {
            "--behave" => self.set_behave(&value),
            "--dialect" => self.dialect = parse_dialect(&value)?,
            "--reply" => self.reply = Some(value),
            "--log" => self.log = Some(value.into()),
            "--rules" => self.rules = Some(value.into()),
            "--message" => self.message = Some(value),
            "--bytes" => self.bytes = number(&value)?,
            "--delay-ms" => self.delay = Duration::from_millis(number(&value)?),
            "--status" => self.status = number(&value)?,
            "--exit-code" => self.exit_code = Some(number(&value)?),
            _ => return Err(invalid(format!("`{flag}` is not a flag of fake-agent"))),
        }
        Ok(())
    }

    /// Sets the behaviour; `exit:3` and `exit 3` carry a parameter.
    fn set_behave(&mut self, text: &str) {
        let (name, param) = match text.split_once([':', ' ']) {
            Some((name, param)) => (name, Some(param.trim().to_owned())),
            None => (text, None),
        };
        self.behave = name.to_owned();
        self.param = param;
    }

    fn wants_param(&self) -> bool {
        self.param.is_none() && matches!(self.behave.as_str(), "exit" | "write" | "fail-first")
    }

    fn rule_for(&self, prompt: &str) -> io::Result<Option<Rule>> {
        let Some(path) = &self.rules else {
            return Ok(None);
        };
        let rules: Vec<Rule> = serde_json::from_slice(&std::fs::read(path)?)?;
        Ok(rules.into_iter().find(|rule| prompt.contains(&rule.when)))
    }
}

fn is_own(flag: &str) -> bool {
    const OWN: [&str; 10] = [
        "--behave",
        "--dialect",
        "--reply",
        "--log",
        "--rules",
        "--message",
        "--bytes",
        "--delay-ms",
        "--status",
        "--exit-code",
    ];
    OWN.contains(&flag)
}

fn parse_dialect(name: &str) -> io::Result<Dialect> {
    Dialect::from_name(name).ok_or_else(|| invalid(format!("`{name}` is not a dialect")))
}

fn number<N: std::str::FromStr>(text: &str) -> io::Result<N> {
    text.parse()
        .map_err(|_| invalid(format!("`{text}` is not a number that fits")))
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
