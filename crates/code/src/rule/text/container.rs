//! Containers that are none: with all rights, or with the keys of the house.

use serde_json::Value;
use tribunal_core::finding::Label;

use super::shell::commands;
use super::{Found, TextFile, TextRule, pattern, yaml};
use crate::nature::{Format, Nature};
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "container-privileged",
        domain: Domain::Security,
        label: Label::Medium,
        scope: Scope::Product,
        message: "The container has all rights of the machine",
        reason: "A privileged container can mount disks and load modules: whoever takes it over has \
                 taken over the machine.",
        suggestion: "Grant the single capabilities or devices that it needs.",
        find: privileged,
        bad: &[
            (
                "docker-compose.yml",
                "services:\n  a:\n    privileged: true\n",
                &[3],
            ),
            ("run.sh", "docker run --rm --privileged img\n", &[1]),
            (
                "docker-compose.yml",
                "services:\n  a: {image: b, privileged: true}\n",
                &[2],
            ),
            ("a.yml", "securityContext:\n  privileged: yes\n", &[2]),
            (
                "pod.json",
                "{\"securityContext\": {\n  \"privileged\": true\n}}\n",
                &[2],
            ),
            ("pod.json", "{\"a\": {\"privileged\": true}}\n", &[1]),
        ],
        good: &[
            (
                "docker-compose.yml",
                "services:\n  a:\n    privileged: false\n",
            ),
            ("docker-compose.yml", "# privileged: true\n"),
            ("run.sh", "docker run --cap-add NET_ADMIN img\n"),
        ],
    },
    TextRule {
        id: "container-engine-socket",
        domain: Domain::Security,
        label: Label::Medium,
        scope: Scope::Product,
        message: "The container can command the container engine",
        reason: "With the engine's socket it can start a privileged container of its own, which is \
                 the same as being root on the machine.",
        suggestion: "Leave the socket out, or put a proxy before it that allows only what is needed.",
        find: engine_socket,
        bad: &[
            (
                "docker-compose.yml",
                "volumes:\n  - /var/run/docker.sock:/var/run/docker.sock\n",
                &[2],
            ),
            (
                "run.sh",
                "docker run -v /var/run/docker.sock:/s img\n",
                &[1],
            ),
        ],
        good: &[
            ("docker-compose.yml", "volumes:\n  - ./data:/data\n"),
            (
                "docker-compose.yml",
                "# - /var/run/docker.sock:/var/run/docker.sock\n",
            ),
            ("run.sh", "test -S /var/run/docker.sock\n"),
        ],
    },
];

pattern!(
    yaml_privileged,
    r#"^\s*(?:-\s+)?["']?privileged["']?\s*:\s*["']?(?i:true|yes|on|y)["']?\s*,?\s*(?:#.*)?$"#
);
pattern!(
    run_privileged,
    r"\b(?:docker|podman|nerdctl)\b.*\s--privileged(?:\s|=true|$)"
);
pattern!(
    yaml_socket,
    r#"^\s*(?:-\s+|path:\s*)["']?/(?:var/)?run/docker\.sock"#
);
pattern!(
    run_socket,
    r"\b(?:docker|podman|nerdctl)\b.*\s(?:-v|--volume|--mount)[\s=]\S*docker\.sock"
);

fn privileged(file: &TextFile<'_>) -> Vec<Found> {
    let mut all = both(file, yaml_privileged(), run_privileged());
    let mut is_set = false;
    if let Some(content) = yaml::parse(file) {
        yaml::each_entry(&content, &mut |key, value| {
            is_set |= key == "privileged" && is_yes(value);
        });
    }
    // In another spelling, such as `{privileged: true}`.
    if is_set && all.is_empty() {
        let rows = file.lines.iter().enumerate();
        let rows = rows.filter(|(_, line)| line.contains("privileged") && !is_comment(line));
        all.extend(rows.map(|(row, _)| Found::at(row, 0)));
    }
    all
}

fn is_yes(value: &Value) -> bool {
    let word = value.as_str().map(str::to_ascii_lowercase);
    value.as_bool() == Some(true) || matches!(word.as_deref(), Some("true" | "yes" | "on" | "y"))
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

fn engine_socket(file: &TextFile<'_>) -> Vec<Found> {
    both(file, yaml_socket(), run_socket())
}

fn both(file: &TextFile<'_>, yaml: &regex::Regex, command: &regex::Regex) -> Vec<Found> {
    let mut all = Vec::new();
    if matches!(file.nature, Nature::Config(Format::Yaml | Format::Json)) {
        let rows = file.lines.iter().enumerate();
        let rows = rows.filter(|(_, line)| yaml.is_match(line));
        all.extend(rows.map(|(row, _)| Found::at(row, 0)));
    }
    for (row, end, text) in commands(file) {
        if command.is_match(&text) {
            all.push(Found {
                end,
                ..Found::at(row, 0)
            });
        }
    }
    all
}
