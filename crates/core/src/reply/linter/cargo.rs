//! `cargo --message-format=json`: what rustc and clippy say, one event per line.

use std::collections::BTreeSet;

use serde_json::Value;

use super::paths;
use super::rules::{Kind, Level, Weight, rust, weigh};
use super::sink::{Draft, Sink, line, text, value_at};

/// A build, of which events are read one by one.
#[derive(Default)]
pub(super) struct Build {
    events: usize,
    /// Messages about code; judged at the end, when all is known about their lints.
    messages: Vec<(usize, Value)>,
    /// Whether the final event came, and what it says.
    finished: Option<bool>,
    clippy: bool,
    /// The main files of what was built.
    built: BTreeSet<(bool, String)>,
}

impl Build {
    /// Takes the next event.
    pub(super) fn event(&mut self, mut event: Value) {
        self.events += 1;
        match text(&event, "/reason") {
            "compiler-message" => {
                self.clippy |= text(&event, "/message/code/code").starts_with("clippy::");
                if let Some(message) = event.get_mut("message").and_then(Value::as_object_mut) {
                    // The same once more, drawn for a terminal.
                    message.remove("rendered");
                }
                self.messages.push((self.events, event));
            }
            "build-finished" => {
                let success = event.get("success").and_then(Value::as_bool);
                // Several builds in one output are as good as the worst of them.
                self.finished = Some(success == Some(true) && self.finished != Some(false));
            }
            "compiler-artifact" => {
                let kinds = value_at(&event, "/target/kind").and_then(Value::as_array);
                let is_script = |kind: &Value| kind.as_str() == Some("custom-build");
                let alone = kinds.is_some_and(|kinds| kinds.iter().any(is_script));
                let file = text(&event, "/target/src_path").to_owned();
                self.built.insert((alone, file));
            }
            // What follows a build.
            _ => {}
        }
    }

    /// Tells whether there was any event, and how the build is called.
    pub(super) fn tool(&self) -> Option<&'static str> {
        (self.events > 0).then_some(if self.clippy { "clippy" } else { "rustc" })
    }

    /// Tells whether the output stops before the build ended.
    pub(super) fn is_cut_off(&self) -> bool {
        self.events > 0 && self.finished.is_none()
    }

    /// Hands over what the events say.
    pub(super) fn finish(self, sink: &mut Sink<'_>) {
        let denied = denied_by_default(&self.messages);
        for (alone, file) in self.built.iter().filter(|(_, file)| !file.is_empty()) {
            match alone {
                // A build script lies beside all that it is not about.
                true => sink.looked_at(file),
                false => sink.looked_around(file),
            }
        }
        let mut errors = 0_usize;
        for (number, event) in &self.messages {
            errors += usize::from(text(event, "/message/level").starts_with("error"));
            finding(event, &format!("event {number}"), &denied, sink);
        }
        if self.finished == Some(false) && errors == 0 {
            let what = "the build failed for a reason that is no error in the code";
            sink.incomplete("build-finished", what);
        }
    }
}

/// Returns the lints that the compiler itself treats as errors. It says so only once for each;
/// others became errors because somebody asked for it.
fn denied_by_default(messages: &[(usize, Value)]) -> BTreeSet<&str> {
    let mut denied = BTreeSet::new();
    for (_, event) in messages {
        let lint = text(event, "/message/code/code");
        let says = format!("#[deny({lint})]` on by default");
        let by_default = |note: &Value| text(note, "/message").contains(&says);
        if !lint.is_empty() && children(event).any(by_default) {
            denied.insert(lint);
        }
    }
    denied
}

fn children(event: &Value) -> impl Iterator<Item = &Value> {
    let children = value_at(event, "/message/children").and_then(Value::as_array);
    children.into_iter().flatten()
}

fn finding(event: &Value, at: &str, denied: &BTreeSet<&str>, sink: &mut Sink<'_>) {
    let lint = text(event, "/message/code/code");
    let message = text(event, "/message/message");
    let span = primary_span(event);
    let level = match text(event, "/message/level") {
        "failure-note" => return,
        // What the compiler counts at its end is no finding of its own.
        _ if span.is_none() && is_summary(message) => return,
        level => level,
    };
    let weight = weight(level, lint, denied);
    if weight.severity.is_none() {
        sink.problem(at, &format!("{level:?} is no level that is known"));
    }
    let mut draft = Draft {
        rule: lint.to_owned(),
        message: with_notes(event, message),
        suggestion: suggestion(event),
        weight,
        ..Draft::default()
    };
    if let Some(span) = span.map(|span| outermost(span, sink.root)) {
        draft.file = file(event, text(span, "/file_name"), sink.root);
        draft.line = line(span, "/line_start", at, sink);
        draft.end_line = line(span, "/line_end", at, sink);
        draft.quote = quote(span);
    }
    sink.add(at, draft);
}

fn weight(level: &str, lint: &str, denied: &BTreeSet<&str>) -> Weight {
    let is_code = lint.starts_with('E') && lint.chars().skip(1).all(|sign| sign.is_ascii_digit());
    match level {
        "error" | "error: internal compiler error" if lint.is_empty() || is_code => {
            weigh(Kind::Bug, Level::Broken)
        }
        "error" if denied.contains(lint) => weigh(Kind::Bug, Level::Error),
        "error" => weigh(rust(lint), Level::Error),
        "warning" => weigh(rust(lint), Level::Warning),
        "note" | "help" => weigh(rust(lint), Level::Note),
        _ => Weight::default(),
    }
}

fn is_summary(message: &str) -> bool {
    message.starts_with("aborting due to")
        || message.ends_with(" emitted") && message.contains("warning")
}

fn primary_span(event: &Value) -> Option<&Value> {
    let spans = value_at(event, "/message/spans")?.as_array()?;
    let primary = |span: &&Value| span.get("is_primary").and_then(Value::as_bool) == Some(true);
    spans.iter().find(primary).or_else(|| spans.first())
}

/// Returns where a macro was used whose inside lies in somebody else's code.
fn outermost<'v>(mut span: &'v Value, root: Option<&str>) -> &'v Value {
    let foreign = |span: &Value| {
        let file = text(span, "/file_name");
        let inside = root.is_some_and(|root| paths::below(file, root).is_some());
        file.starts_with('<') || file.starts_with('/') && !inside
    };
    while foreign(span)
        && let Some(outer) = value_at(span, "/expansion/span").filter(|s| s.is_object())
    {
        span = outer;
    }
    span
}

/// Returns the path from the root. The compiler works in the root of the workspace, which may
/// lie below that of the checkout; where, the manifest tells.
fn file(event: &Value, name: &str, root: Option<&str>) -> String {
    let manifest = text(event, "/manifest_path");
    let package = manifest.strip_suffix("/Cargo.toml").unwrap_or_default();
    let Some(package) = root.and_then(|root| paths::below(package, root)) else {
        return name.to_owned();
    };
    if paths::is_absolute(name) {
        return name.to_owned();
    }
    let parts: Vec<&str> = package.split('/').collect();
    let of_workspace = (0..=parts.len()).find(|from| {
        let within = parts.get(*from..).unwrap_or_default().join("/");
        within.is_empty() || paths::below(name, &within).is_some()
    });
    let above = parts.get(..of_workspace.unwrap_or(0)).unwrap_or_default();
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{}/{name}", above.join("/"))
    }
}

fn quote(span: &Value) -> String {
    let lines = span.get("text").and_then(Value::as_array);
    let lines = lines.into_iter().flatten().map(|one| text(one, "/text"));
    lines.take(20).collect::<Vec<_>>().join("\n")
}

/// Returns the message with the notes that say more than where a lint was turned on.
fn with_notes(event: &Value, message: &str) -> String {
    let mut whole = message.to_owned();
    for child in children(event) {
        let note = text(child, "/message");
        let about_lint = note.contains("on by default")
            || note.contains("implied by `")
            || note.contains("the lint level is defined here")
            || note.contains("to override `")
            || note.starts_with("requested on the command line");
        if text(child, "/level") == "note" && !about_lint {
            whole = format!("{whole}\n{note}");
        }
    }
    whole
}

/// Returns what the compiler proposes, with the text that it would put there.
fn suggestion(event: &Value) -> String {
    let mut lines = Vec::new();
    for child in children(event) {
        let help = text(child, "/message");
        if text(child, "/level") != "help" || help.starts_with("for further information visit") {
            continue;
        }
        let spans = child.get("spans").and_then(Value::as_array);
        let put = spans.into_iter().flatten().filter_map(|span| {
            let put = span.get("suggested_replacement")?.as_str()?.trim();
            (!put.is_empty()).then(|| format!("`{put}`"))
        });
        let put: Vec<String> = put.collect();
        lines.push(match put.as_slice() {
            [] => help.to_owned(),
            put => format!("{help}: {}", put.join(", ")),
        });
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;

    #[test]
    fn places_inside_macros_and_below_the_root_are_found() {
        let event = |manifest: &str, span: &str| {
            format!(
                "{{\"reason\":\"compiler-message\",\"manifest_path\":\"{manifest}\",\"message\":{{\
             \"level\":\"warning\",\"message\":\"m\",\"code\":null,\"children\":[],\
             \"spans\":[{span}]}}}}\n{{\"reason\":\"build-finished\",\"success\":true}}\n"
            )
        };
        let span = |file: &str, expansion: &str| {
            format!(
                "{{\"file_name\":\"{file}\",\"line_start\":2,\"line_end\":2,\"is_primary\":true,\
             \"text\":[],\"expansion\":{expansion}}}"
            )
        };
        let inside = format!("{{\"span\":{}}}", span("src/lib.rs", "null"));
        for (manifest, file, expansion, expected) in [
            ("/work/repo/Cargo.toml", "src/lib.rs", "null", "src/lib.rs"),
            (
                "/work/repo/tools/x/Cargo.toml",
                "src/lib.rs",
                "null",
                "tools/x/src/lib.rs",
            ),
            (
                "/work/repo/crates/a/Cargo.toml",
                "crates/a/src/lib.rs",
                "null",
                "crates/a/src/lib.rs",
            ),
            (
                "/work/repo/sub/crates/a/Cargo.toml",
                "crates/a/src/lib.rs",
                "null",
                "sub/crates/a/src/lib.rs",
            ),
            ("/elsewhere/Cargo.toml", "src/lib.rs", "null", "src/lib.rs"),
            (
                "/work/repo/Cargo.toml",
                "/rustc/1/library/core/src/macros.rs",
                &inside,
                "src/lib.rs",
            ),
            (
                "/work/repo/Cargo.toml",
                "<::std::macros>",
                &inside,
                "src/lib.rs",
            ),
        ] {
            let lines = shown(&event(manifest, &span(file, expansion)));
            assert_eq!(
                lines,
                [format!("other low 60 {expected}:2 m")],
                "{manifest}"
            );
        }
    }
}
