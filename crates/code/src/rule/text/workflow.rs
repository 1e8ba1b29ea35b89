//! Workflows of GitHub: what strangers can put into them.

use std::collections::BTreeSet;

use serde_json::Value;
use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule, pattern, yaml};
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "workflow-script-injection",
        domain: Domain::Security,
        label: Label::High,
        scope: Scope::Anywhere,
        message: "`{}`, which strangers choose, becomes part of a script",
        reason: "The expression is put into the script before the shell reads it: a title or a \
                 branch name with a quote in it runs commands with the rights of the workflow.",
        suggestion: "Pass it through `env:` and use the variable in the script, in quotes.",
        find: script_injection,
        bad: &[
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - run: echo \"${{ github.event.issue.title }}\"\n",
                &[4],
            ),
            (
                ".github/workflows/a.yml",
                "    - name: x\n      run: |\n        set -e\n        git checkout ${{ github.head_ref }}\n    - run: ls\n",
                &[4],
            ),
            (
                ".github/workflows/a.yml",
                "  - uses: actions/github-script@v7\n    with:\n      script: |\n        core.info(`${{ github.event.comment.body }}`)\n",
                &[4],
            ),
            (
                ".github/workflows/a.yml",
                "jobs:\n  a:\n    steps:\n      - {run: 'echo ${{ github.event.issue.title }}'}\n",
                &[4],
            ),
            (
                ".github/workflows/a.yml",
                "  - \"run\": echo ${{ github.event['issue'][\"title\"] }}\n",
                &[1],
            ),
            (
                ".github/workflows/a.yml",
                "  - run : echo ${{ toJSON(github.event.issue) }}\n",
                &[1],
            ),
            (
                ".github/workflows/a.yml",
                "env:\n  T: ${{ github.event.issue.title }}\njobs:\n  a:\n    steps:\n      - run: echo ${{ env.T }}\n",
                &[6],
            ),
            (
                ".github/workflows/a.yml",
                "  - run: echo ${{ contains(github.ref, 'x') && GitHub.Event.Issue.Title }}\n",
                &[1],
            ),
        ],
        good: &[
            (
                ".github/workflows/a.yml",
                "  - run: echo \"$TITLE\"\n    env:\n      TITLE: ${{ github.event.issue.title }}\n",
            ),
            (
                ".github/workflows/a.yml",
                "  - run: echo ${{ github.sha }} ${{ github.event.number }}\n",
            ),
            (
                ".github/workflows/a.yml",
                "  - run: echo ${{ contains(github.event.pull_request.title, 'x') }}\n",
            ),
            ("docs/a.yml", "  - run: echo ${{ github.head_ref }}\n"),
        ],
    },
    TextRule {
        id: "workflow-untrusted-checkout",
        domain: Domain::Security,
        label: Label::High,
        scope: Scope::Anywhere,
        message: "A workflow with secrets checks out the code of a stranger's pull request",
        reason: "`pull_request_target` runs with the repository's token and secrets; whatever the \
                 checked out code runs (build scripts, tests, hooks) has them too.",
        suggestion: "Use `pull_request`, or do not check out and run the head of the pull request.",
        find: untrusted_checkout,
        bad: &[
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n",
                &[7],
            ),
            (
                ".github/workflows/a.yml",
                "on:\n  pull_request_target:\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with: { ref: \"refs/pull/${{ github.event.number }}/merge\" }\n",
                &[7],
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - run: gh pr checkout ${{ github.event.number }}\n",
                &[5],
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - run: |\n          git fetch origin pull/${{ github.event.number }}/head:pr\n          make\n",
                &[6],
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          repository: ${{ github.event.pull_request.head.repo.full_name }}\n",
                &[7],
            ),
        ],
        good: &[
            (
                ".github/workflows/a.yml",
                "on: pull_request\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n",
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n",
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          repository: acme/tools\n      - run: git fetch origin main\n",
            ),
            (
                ".github/workflows/a.yml",
                "on: pull_request\njobs:\n  a:\n    steps:\n      - run: gh pr checkout 1\n",
            ),
        ],
    },
    TextRule {
        id: "workflow-unpinned-action",
        domain: Domain::Security,
        label: Label::Low,
        scope: Scope::Anywhere,
        message: "`{}` can change without notice",
        reason: "A tag or a branch of somebody else's repository can be moved to other code, which \
                 then runs with the token and the secrets of this workflow.",
        suggestion: "Pin it to the full id of a commit, with the version in a comment.",
        find: unpinned_action,
        bad: &[
            (
                ".github/workflows/a.yml",
                "    - uses: someone/deploy@v3\n",
                &[1],
            ),
            (
                ".github/workflows/a.yml",
                "    - name: x\n      uses: someone/deploy/sub@main # why\n",
                &[2],
            ),
        ],
        good: &[
            (
                ".github/workflows/a.yml",
                "    - uses: actions/checkout@v4\n",
            ),
            (
                ".github/workflows/a.yml",
                "    - uses: ./local\n    - uses: docker://alpine:3\n",
            ),
            (
                ".github/workflows/a.yml",
                "    - uses: someone/deploy@0123456789abcdef0123456789abcdef01234567 # v3\n",
            ),
        ],
    },
];

pub(super) fn is_workflow(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let is_yaml = lower.ends_with(".yml") || lower.ends_with(".yaml");
    let name = lower.rsplit('/').next().unwrap_or_default();
    is_yaml && (lower.contains(".github/") || matches!(name, "action.yml" | "action.yaml"))
}

pattern!(
    strangers_text,
    concat!(
        r"(?i)\bgithub\.head_ref",
        r"|\bgithub\.event\.(?:issue|discussion|pull_request)\.(?:title|body)",
        r"|\bgithub\.event\.(?:comment|review|review_comment)\.body",
        r"|\bgithub\.event\.pull_request\.head\.(?:ref|label|repo\.default_branch)",
        r"|\bgithub\.event\.(?:workflow_run\.)?head_commit\.(?:message|author\.(?:name|email))",
        r"|\bgithub\.event\.commits\S*\.(?:message|author\.(?:name|email))",
        r"|\bgithub\.event\.workflow_run\.head_branch",
        r"|\bgithub\.event\.pages\S*\.page_name",
        // A whole object has all of its texts.
        r"|\bgithub\.event(?:\.(?:issue|discussion|comment|review|review_comment|commits|pages|head_commit|workflow_run|pull_request(?:\.head)?))?\s*\)",
        r"|\btoJSON\(\s*github\s*\)",
    )
);
pattern!(expression, r"(?s)\$\{\{(.*?)\}\}");
pattern!(
    answer,
    r"(?i)\b(?:contains|startsWith|endsWith)\([^()]*\)|\btoJSON\(\s*github\.event\.number\s*\)"
);
pattern!(index, r#"\[\s*['"]([\w*-]+)['"]\s*\]"#);
pattern!(env_name, r"(?i)\benv\.([A-Za-z_]\w*)");
pattern!(
    script_key,
    r#"^(\s*(?:-\s+)*)["']?(?:run|script)["']?\s*:(.*)$"#
);
pattern!(
    fetched_head,
    r"\bgh\s+pr\s+checkout\b|\bgit\s+(?:\S+\s+)*?(?:fetch|pull)\b.*\bpull/\S.*/(?:head|merge)\b"
);
pattern!(
    action,
    r#"^\s*(?:-\s+)?uses:\s*["']?([\w.-]+)/([\w./-]+)@([^\s"'#]+)"#
);

/// Calls `look` with every line that is part of a script.
fn each_script_line(file: &TextFile<'_>, mut look: impl FnMut(usize, &str)) {
    let mut inside: Option<usize> = None;
    for (row, line) in file.lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(key) = inside {
            if line.trim().is_empty() || indent > key {
                look(row, line);
                continue;
            }
            inside = None;
        }
        if let Some(found) = script_key().captures(line) {
            inside = found.get(1).map(|before| before.as_str().len());
            look(row, found.get(2).map_or("", |rest| rest.as_str()));
        }
    }
}

fn script_injection(file: &TextFile<'_>) -> Vec<Found> {
    let mut all = Vec::new();
    if !is_workflow(file.path) {
        return all;
    }
    let content = yaml::parse(file);
    let tainted = content.as_ref().map(tainted_variables).unwrap_or_default();
    each_script_line(file, |row, line| {
        for (_, text) in strangers_expressions(line, &tainted) {
            all.push(Found::at(row, 0).named(&text));
        }
    });
    // Scripts in other spellings, such as `{run: …}`, are known to those who parse the file.
    let mut scripts = Vec::new();
    if let Some(content) = &content {
        yaml::each_entry(content, &mut |key, value| {
            if let ("run" | "script", Some(script)) = (key, value.as_str()) {
                scripts.push(script);
            }
        });
    }
    for (expression, text) in scripts
        .iter()
        .flat_map(|script| strangers_expressions(script, &tainted))
    {
        let first = expression.lines().next().unwrap_or_default().trim();
        let rows: Vec<usize> = (0..file.lines.len())
            .filter(|row| {
                file.lines
                    .get(*row)
                    .is_some_and(|line| line.contains(first))
            })
            .collect();
        let is_known = |found: &Found| rows.contains(&found.row) || found.what == text;
        if !all.iter().any(is_known) {
            all.push(Found {
                with: rows.clone(),
                ..Found::at(rows.last().copied().unwrap_or(0), 0).named(&text)
            });
        }
    }
    all
}

/// Returns the expressions of a script that put in text which strangers choose, and that text.
fn strangers_expressions(script: &str, tainted: &BTreeSet<String>) -> Vec<(String, String)> {
    let expressions = expression().captures_iter(script);
    let found = expressions.filter_map(|found| {
        let inner = found.get(1)?.as_str();
        let text = strangers_choice(inner, tainted)?;
        Some((inner.trim().to_owned(), text))
    });
    found.collect()
}

/// Returns what strangers choose in an expression, if it gives their text and not an answer about it.
fn strangers_choice(inner: &str, tainted: &BTreeSet<String>) -> Option<String> {
    let dotted = index().replace_all(inner, ".$1");
    let asked = answer().replace_all(&dotted, "true");
    let is_compared = asked.contains("==") || asked.contains("!=");
    if is_compared && !asked.contains("||") && !asked.contains("&&") {
        return None;
    }
    if let Some(text) = strangers_text().find(&asked) {
        return Some(text.as_str().trim_end_matches([')', ' ']).to_owned());
    }
    let mut names = env_name().captures_iter(&asked);
    names.find_map(|found| {
        let name = found.get(1)?.as_str();
        let is_tainted = tainted.contains(&name.to_ascii_lowercase());
        is_tainted.then(|| format!("env.{name}"))
    })
}

/// Returns the names of variables that `env:` fills with text which strangers choose.
fn tainted_variables(content: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    yaml::each_entry(content, &mut |key, value| {
        let Some(variables) = value.as_object().filter(|_| key == "env") else {
            return;
        };
        for (name, value) in variables {
            let text = value.as_str().unwrap_or_default();
            if !strangers_expressions(text, &BTreeSet::new()).is_empty() {
                names.insert(name.to_ascii_lowercase());
            }
        }
    });
    names
}

fn untrusted_checkout(file: &TextFile<'_>) -> Vec<Found> {
    if !is_workflow(file.path) {
        return Vec::new();
    }
    let is_code = |line: &&str| !line.trim_start().starts_with('#');
    let trigger = file
        .lines
        .iter()
        .position(|line| is_code(line) && line.contains("pull_request_target"));
    let Some(trigger) = trigger else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let mut step: Option<usize> = None;
    for (row, line) in file
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_code(line))
    {
        if line.trim_start().starts_with("- ") {
            step = None;
        }
        if line.contains("uses:") && line.contains("actions/checkout") {
            step = Some(row);
        }
        let is_head = line.contains("ref:")
            && (line.contains("github.event.pull_request.head.")
                || line.contains("github.head_ref")
                || line.contains("refs/pull/"));
        let is_fork = line.contains("repository:") && line.contains("pull_request.head.repo.");
        if let (Some(step), true) = (step, is_head || is_fork) {
            all.push(Found {
                with: vec![trigger, step],
                ..Found::at(row, 0)
            });
        } else if fetched_head().is_match(line) {
            all.push(Found {
                with: vec![trigger],
                ..Found::at(row, 0)
            });
        }
    }
    all
}

fn unpinned_action(file: &TextFile<'_>) -> Vec<Found> {
    if !is_workflow(file.path) {
        return Vec::new();
    }
    let rows = file.lines.iter().enumerate();
    let found = rows.filter_map(|(row, line)| {
        let found = action().captures(line)?;
        let part = |index| found.get(index).map_or("", |part| part.as_str());
        let is_ours = matches!(part(1), "actions" | "github" | "." | "..");
        let is_pinned = part(3).len() >= 40 && part(3).chars().all(|c| c.is_ascii_hexdigit());
        let what = format!("{}/{}@{}", part(1), part(2), part(3));
        (!is_ours && !is_pinned).then(|| Found::at(row, 0).named(&what))
    });
    found.collect()
}
