//! Where findings come from: files, standard input, and who wrote them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tribunal_core::agent::family_of;
use tribunal_core::consensus::{Input, Reviewer};
use tribunal_core::debate::{author_of, by_reviewer};
use tribunal_core::reply::{
    Author, Findings, Message, Problem, extract_json, findings_in_value, read_findings,
    read_messages, read_own_review,
};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Files beyond this many bytes are refused.
const MOST_BYTES: u64 = 64 << 20;

/// All that was read.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) input: Input,
    /// What could not be used, as sentences without a full stop.
    pub(super) problems: Vec<String>,
    /// Whether every input was an answer.
    pub(super) all_read: bool,
    /// Whether some of the findings could not be read as they stand.
    pub(super) in_part: bool,
}

/// Reads the findings and the messages of later rounds.
pub(super) fn gather(
    invocation: &Invocation,
    files: &[String],
    rounds: &[String],
) -> Result<Gathered, CliError> {
    let mut gathered = Gathered {
        all_read: true,
        ..Gathered::default()
    };
    let mut origins: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let source = Source::new(invocation, file);
        let text = match source.text()? {
            Ok(text) => text,
            Err(why) => {
                gathered.refuse(&source, "", &why);
                gathered.input.silent.push(source.default_name());
                continue;
            }
        };
        let (voices, notes) = read_source(&source, &text);
        let notes = notes.into_iter();
        let notes = notes.map(|note| format!("{}: {note}", source.shown));
        gathered.problems.extend(notes);
        for (author, read) in voices {
            let before = origins.insert(author.reviewer.clone(), source.shown.clone());
            if let Some(before) = before.filter(|before| *before != source.shown) {
                gathered.problems.push(format!(
                    "{before} and {} are both of {}; they count as one voice",
                    source.shown, author.reviewer
                ));
            }
            gathered.take(&source, author, read);
        }
    }
    for file in rounds {
        let source = Source::new(invocation, file);
        match source.text()? {
            Ok(text) => gathered.take_rounds(&source, &text),
            Err(why) => gathered.refuse(&source, "", &why),
        }
    }
    Ok(gathered)
}

impl Gathered {
    fn take(&mut self, source: &Source, author: Author, read: Findings) {
        self.in_part |= !read.problems.is_empty();
        for problem in &read.problems {
            self.problems.push(format!("{}: {problem}", source.shown));
        }
        if read.answered {
            self.input.panel.push(Reviewer {
                name: author.reviewer,
                family: author.family,
            });
        } else {
            self.all_read = false;
            self.input.silent.push(author.reviewer);
        }
        self.input.findings.extend(read.findings);
    }

    /// Takes messages: one JSON value, or one on each line.
    fn take_rounds(&mut self, source: &Source, text: &str) {
        if let Some(lines) = json_lines(text) {
            for (number, line) in lines {
                let at = format!(":{number}");
                match line {
                    Ok(value) => self.take_message(source, &at, &value),
                    Err(why) => self.refuse(source, &at, &why),
                }
            }
            return;
        }
        match extract_json(text) {
            Ok(value) => self.take_message(source, "", &value),
            Err(error) => self.refuse(source, "", &error.to_string()),
        }
    }

    /// Notes that a part of an input is no answer at all.
    fn refuse(&mut self, source: &Source, at: &str, why: &str) {
        self.all_read = false;
        self.problems.push(format!("{}{at}: {why}", source.shown));
    }

    fn take_message(&mut self, source: &Source, at: &str, value: &Value) {
        if let Some(items) = value.as_array() {
            for (index, item) in items.iter().enumerate() {
                self.take_message(source, &format!("{at}[{index}]"), item);
            }
            return;
        }
        let sender = ["from", "sender"]
            .into_iter()
            .find_map(|name| value.get(name)?.as_str());
        let content = sender.and(value.get("content")).unwrap_or(value);
        let author = match self.speaker(source, sender, author_of(content)) {
            Ok(author) => author,
            Err(why) => {
                self.in_part = true;
                self.problems.push(format!("{}{at}: {why}", source.shown));
                return;
            }
        };
        let text = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let read = read_messages(&text, &author);
        let problems = read.problems.iter();
        self.problems
            .extend(problems.map(|problem| format!("{}{at}: {problem}", source.shown)));
        for message in read.messages {
            match message {
                Message::Examination(mut one) => {
                    one.reviewer.clone_from(&author.reviewer);
                    one.family.clone_from(&author.family);
                    self.input.examinations.push(one);
                }
                Message::Defense(mut one) => {
                    one.reviewer.clone_from(&author.reviewer);
                    self.input.defenses.push(one);
                }
                // The course of the debate is over; only what was said counts.
                Message::Signal(_) => {}
            }
        }
    }

    /// Returns who speaks: the sender, or whose words the sender passes on. Strangers do not vote.
    fn speaker(
        &self,
        source: &Source,
        sender: Option<&str>,
        named: Option<String>,
    ) -> Result<Author, String> {
        let sender = sender.map(str::to_owned);
        let claimed = [sender, named, source.name.clone()];
        let mut claimed = claimed.into_iter().flatten().peekable();
        let Some(first) = claimed.peek().cloned() else {
            return Err("nobody says who wrote this, so it is not counted; name the reviewer in `model`, or give NAME=FILE".to_owned());
        };
        let known = claimed.find_map(|name| {
            let family = self.family_of(&name)?;
            let reviewer = name;
            Some(Author { reviewer, family })
        });
        known.ok_or_else(|| format!("{first} is not on the panel, so this is not counted"))
    }

    /// Returns the family of a member of the panel.
    fn family_of(&self, name: &str) -> Option<String> {
        let seat = self.input.panel.iter().find(|one| one.name == name);
        let silent = || self.input.silent.iter().find(|one| *one == name);
        let seated = seat.map(|one| one.family.clone());
        seated.or_else(|| silent().map(|name| family_of(name, None)))
    }
}

/// One input as typed: a file or standard input, and perhaps a name for its reviewer.
struct Source {
    name: Option<String>,
    /// Nothing for standard input.
    path: Option<PathBuf>,
    shown: String,
}

impl Source {
    fn new(invocation: &Invocation, typed: &str) -> Self {
        // A file whose own name has an equals sign is meant as it stands.
        let (name, file) = match typed.split_once('=') {
            Some((name, file))
                if !name.is_empty() && !invocation.path(Path::new(typed)).exists() =>
            {
                (Some(name.to_owned()), file)
            }
            _ => (None, typed),
        };
        if file == "-" {
            return Self {
                name,
                path: None,
                shown: "standard input".to_owned(),
            };
        }
        Self {
            name,
            path: Some(invocation.path(Path::new(file))),
            shown: file.to_owned(),
        }
    }

    /// Returns the text, or why it cannot be read. Only what is missing is an error.
    fn text(&self) -> Result<Result<String, String>, CliError> {
        let Some(path) = &self.path else {
            return Ok(text_of(std::io::stdin().lock()));
        };
        match std::fs::File::open(path) {
            Ok(file) => Ok(text_of(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(missing(&self.shown, &error))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn default_name(&self) -> String {
        let stem = self.path.as_deref().and_then(Path::file_stem);
        let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
        let name = self.name.clone().or(stem);
        name.unwrap_or_else(|| "stdin".to_owned())
    }

    /// Returns the author of findings for which the content names `model`.
    fn author(&self, model: Option<&str>) -> Author {
        let named = self.name.as_deref().or(model).map(str::to_owned);
        let reviewer = named.unwrap_or_else(|| self.default_name());
        Author {
            family: family_of(&reviewer, model),
            reviewer,
        }
    }
}

/// Reads a file of settings, in which every fault is an error.
pub(in crate::commands) fn read_text(path: &Path) -> Result<String, CliError> {
    let shown = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| missing(&shown, &error))?;
    text_of(file).map_err(|why| CliError::new(Exit::Usage, format!("{shown}: {why}")))
}

fn missing(shown: &str, error: &std::io::Error) -> CliError {
    CliError::new(Exit::NotFound, format!("cannot read {shown}")).caused_by(error)
}

fn text_of(input: impl std::io::Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = input.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES) {
        return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// A numbered line, as JSON or with the reason why it is none.
type NumberedLine = (usize, Result<Value, String>);

/// Returns the lines of a text that holds one JSON object on each, of which the first is whole.
fn json_lines(text: &str) -> Option<Vec<NumberedLine>> {
    let text = text.trim_start_matches('\u{feff}');
    let filled = text.lines().enumerate();
    let mut filled = filled
        .filter(|(_, line)| !line.trim().is_empty())
        .peekable();
    let (_, first) = filled.peek()?;
    let is_object = serde_json::from_str::<Value>(first).is_ok_and(|value| value.is_object());
    let lines = filled.map(|(index, line)| {
        let read = serde_json::from_str(line);
        let read = read.map_err(|error| format!("the line is not JSON: {error}"));
        (index + 1, read)
    });
    is_object
        .then(|| lines.collect())
        .filter(|lines: &Vec<_>| lines.len() > 1)
}

/// Reads one input: the findings of each reviewer in it, and what was left out.
fn read_source(source: &Source, text: &str) -> (Vec<(Author, Findings)>, Vec<String>) {
    if let Some(lines) = json_lines(text) {
        return (read_lines(source, lines), Vec::new());
    }
    let Ok(value) = extract_json(text) else {
        let author = source.author(None);
        let read = read_findings(text, &author);
        return (vec![(author, read)], Vec::new());
    };
    if let Some(own) = read_own_review(&value) {
        return (own.voices, own.left_out);
    }
    let all = read_several(source, &value).unwrap_or_else(|| {
        let author = source.author(author_of(&value).as_deref());
        let read = read_findings(text, &author);
        vec![(author, read)]
    });
    (all, Vec::new())
}

/// Reads one finding or one report on each line. Lines that are none are reported.
fn read_lines(source: &Source, lines: Vec<NumberedLine>) -> Vec<(Author, Findings)> {
    let mut values = Vec::new();
    let mut problems = Vec::new();
    for (number, line) in lines {
        match line {
            Ok(value) => values.push(value),
            Err(what) => problems.push(Problem {
                at: format!("line {number}"),
                what,
            }),
        }
    }
    let whole = Value::Array(values);
    let mut all = read_several(source, &whole).unwrap_or_else(|| {
        let author = source.author(None);
        let read = findings_in_value(&whole, &author);
        vec![(author, read)]
    });
    if let Some((_, read)) = all.first_mut() {
        // A line that was lost may have held anything: the input is not read in full.
        read.answered &= problems.is_empty();
        read.problems.extend(problems);
    }
    all
}

/// Reads findings of several reviewers, if the value holds such.
fn read_several(source: &Source, value: &Value) -> Option<Vec<(Author, Findings)>> {
    if let Some(lists) = by_reviewer(value) {
        let named = lists.into_iter().map(|(name, list)| {
            let author = if name.is_empty() {
                source.author(None)
            } else {
                Author {
                    family: family_of(&name, None),
                    reviewer: name,
                }
            };
            let read = match &list {
                Value::String(text) => read_findings(text, &author),
                other => findings_in_value(other, &author),
            };
            (author, read)
        });
        return Some(named.collect());
    }
    let runs = value.get("runs")?.as_array()?;
    let read = runs.iter().map(|run| sarif_run(source, run));
    (!runs.is_empty()).then(|| read.collect())
}

/// Reads one run of SARIF, whose tool is the reviewer.
fn sarif_run(source: &Source, run: &Value) -> (Author, Findings) {
    let tool = run.pointer("/tool/driver/name").and_then(Value::as_str);
    let author = source.author(tool);
    let mut read = findings_in_value(&json!({ "runs": [run] }), &author);
    // A tool that reports no results did not finish; an empty list says that there are none.
    read.answered &= run.get("results").is_some_and(Value::is_array);
    (author, read)
}
