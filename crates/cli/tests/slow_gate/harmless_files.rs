//! Prose, data, assets, and configuration without a defect: such a change passes and says why.

use crate::corpus_case::{CorpusCase, corpus_case, expect_pass};
use crate::gate_scene::GateScene;

/// One file that a harmless change edits, or adds when it was not there before.
struct HarmlessEdit {
    name: &'static str,
    path: &'static str,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

fn edit(
    name: &'static str,
    path: &'static str,
    before: impl AsRef<[u8]>,
    after: impl AsRef<[u8]>,
) -> HarmlessEdit {
    HarmlessEdit {
        name,
        path,
        before: Some(before.as_ref().to_vec()),
        after: after.as_ref().to_vec(),
    }
}

fn new(name: &'static str, path: &'static str, after: impl AsRef<[u8]>) -> HarmlessEdit {
    HarmlessEdit {
        name,
        path,
        before: None,
        after: after.as_ref().to_vec(),
    }
}

/// Returns the case: exit code 0, the gate in JSON, and a sentence for people.
fn passes(change: HarmlessEdit) -> CorpusCase {
    corpus_case(change.name, move || {
        let scene = GateScene::with_builtin_reviewers();
        if let Some(before) = &change.before {
            scene.write(change.path, before);
            scene.env.commit_all("before");
        }
        scene.write(change.path, &change.after);
        expect_pass(&scene.review(&[]))?;
        let text = scene.run(&["review"]);
        let is_told = text.code == Some(0) && text.stdout.contains("PASS");
        match is_told {
            true => Ok(()),
            false => Err(format!(
                "no sentence with PASS: {}{}",
                text.stdout, text.stderr
            )),
        }
    })
}

/// A picture of one pixel.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\0IEND\xaeB`\x82";

const WORKFLOW: &str = "name: ci\non: [push]\npermissions:\n  contents: read\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make test\n";

const NOTEBOOK: &str = r#"{"cells": [{"cell_type": "code", "source": ["print(a)"], "outputs": [{"text": ["before"]}]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;

pub(crate) fn cases() -> Vec<CorpusCase> {
    let pinned = format!(
        "{WORKFLOW}      - uses: dtolnay/rust-toolchain@{}\n",
        "1234567890abcdef".repeat(2) + "12345678"
    );
    let edits = vec![
        edit(
            "a typo in the README",
            "README.md",
            "A projcet.\n",
            "A project.\n",
        ),
        new(
            "a page of documentation",
            "docs/guide.md",
            "# Guide\n\nCall `eval(text)` at your own risk.\n\n```python\neval(input())\n```\n",
        ),
        edit(
            "a page in reStructuredText",
            "docs/index.rst",
            "Shop\n====\n",
            "Shop\n====\n\nNew words.\n",
        ),
        edit(
            "a page in AsciiDoc",
            "docs/manual.adoc",
            "= Shop\n",
            "= Shop\n\nNew words.\n",
        ),
        new(
            "a licence",
            "LICENSE",
            "MIT License\n\nPermission is hereby granted, free of charge.\n",
        ),
        edit(
            "a changelog",
            "CHANGELOG.md",
            "# Changes\n",
            "# Changes\n\n- Faster.\n",
        ),
        new("a file with names of authors", "AUTHORS", "Ann\nBob\n"),
        new(
            "settings of Gradle in Kotlin",
            "settings.gradle.kts",
            "rootProject.name = \"a\"\n",
        ),
        new("a template of Go", "web/a.gohtml", "<p>{{.Name}}</p>\n"),
        new(
            "a Makefile by its first line",
            "debian/rules",
            "#!/usr/bin/make -f\n%:\n\tdh $@\n",
        ),
        new("an empty file of Ruby", "lib/empty.rb", ""),
        new(
            "a translation for Apple's systems",
            "en/Localizable.strings",
            "\"a\" = \"b\";\n",
        ),
        new(
            "a patch",
            "fix.patch",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        ),
        new(
            "a notebook without code",
            "a.ipynb",
            "{\"cells\":[],\"metadata\":{},\"nbformat\":4,\"nbformat_minor\":5}\n",
        ),
        new("a project of Visual C++", "a.vcxproj", "<Project/>\n"),
        new("a list of owners", "OWNERS", "approvers:\n  - ann\n"),
        new("a header to be filled in", "config.h.in", "#undef HAVE_A\n"),
        new(
            "a diagram",
            "docs/a.puml",
            "@startuml\nA -> B : hello\n@enduml\n",
        ),
        new(
            "a large table of data",
            "data/large.csv",
            "a,b\n".repeat(800_000),
        ),
        new("plain text", "notes.txt", "Buy milk.\n"),
        new(
            "prose with emoji",
            "docs/emoji.md",
            "# Hello \u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}\n",
        ),
        new(
            "prose from right to left",
            "docs/arabic.md",
            "# \u{0645}\u{0631}\u{062d}\u{0628}\u{0627}\n\n\u{05e9}\u{05dc}\u{05d5}\u{05dd}\n",
        ),
        new("a picture", "assets/logo.png", PICTURE),
        edit(
            "a picture that changes",
            "assets/logo.png",
            PICTURE,
            [PICTURE, b"\0"].concat(),
        ),
        new(
            "a font",
            "assets/font.woff2",
            b"wOF2\0\x01\0\0\0\0\x04\xb0\0\x0d\0\0",
        ),
        new(
            "a drawing",
            "assets/logo.svg",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\"><rect width=\"4\" height=\"4\"/></svg>\n",
        ),
        new(
            "a table of data",
            "data/rates.csv",
            "country,rate\nde,19\nfr,20\n",
        ),
        new(
            "data in JSON",
            "data/countries.json",
            "[{\"code\": \"de\", \"name\": \"Germany\"}]\n",
        ),
        new(
            "data in lines of JSON",
            "data/events.jsonl",
            "{\"a\": 1}\n{\"a\": 2}\n",
        ),
        edit(
            "the settings of a package in JSON",
            "package.json",
            "{\"name\": \"shop\", \"version\": \"1.0.0\"}\n",
            "{\"name\": \"shop\", \"version\": \"1.0.1\"}\n",
        ),
        edit(
            "the settings of a compiler in JSON with comments",
            "tsconfig.json",
            "{\n  // strict\n  \"strict\": true\n}\n",
            "{\n  // strict\n  \"strict\": true,\n  \"noEmit\": true\n}\n",
        ),
        new(
            "a lock file of npm",
            "package-lock.json",
            "{\"name\": \"shop\", \"lockfileVersion\": 3, \"packages\": {}}\n",
        ),
        new(
            "a lock file of Cargo",
            "Cargo.lock",
            "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n",
        ),
        new(
            "a lock file of Poetry",
            "poetry.lock",
            "[[package]]\nname = \"six\"\nversion = \"1.16.0\"\n",
        ),
        new(
            "checksums of Go",
            "go.sum",
            "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=\n",
        ),
        edit(
            "a module file of Go",
            "go.mod",
            "module example.org/shop\n\ngo 1.22\n",
            "module example.org/shop\n\ngo 1.23\n",
        ),
        edit(
            "a manifest of Cargo",
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n",
            "[package]\nname = \"shop\"\nversion = \"0.1.1\"\n",
        ),
        edit(
            "a manifest of Python",
            "pyproject.toml",
            "[project]\nname = \"shop\"\n",
            "[project]\nname = \"shop\"\nrequires-python = \">=3.10\"\n",
        ),
        edit(
            "a list of requirements",
            "requirements.txt",
            "flask==3.0.0\n",
            "flask==3.0.3\n",
        ),
        edit(
            "a manifest of Maven",
            "pom.xml",
            "<project><version>1.0</version></project>\n",
            "<project><version>1.1</version></project>\n",
        ),
        edit(
            "settings in YAML",
            "config/app.yml",
            "workers: 2\n",
            "workers: 4\n",
        ),
        edit(
            "settings in INI",
            "setup.cfg",
            "[flake8]\nmax-line-length = 100\n",
            "[flake8]\nmax-line-length = 120\n",
        ),
        edit(
            "settings of an editor",
            ".editorconfig",
            "root = true\n",
            "root = true\n\n[*]\nindent_size = 4\n",
        ),
        edit(
            "what git ignores",
            ".gitignore",
            "target\n",
            "target\nnode_modules\n",
        ),
        edit(
            "attributes for git",
            ".gitattributes",
            "*.sh text\n",
            "*.sh text eol=lf\n",
        ),
        edit(
            "a Dockerfile",
            "Dockerfile",
            "FROM debian:12-slim\nUSER 1000\n",
            "FROM debian:12-slim\nRUN apt-get update && apt-get install -y --no-install-recommends curl\nUSER 1000\n",
        ),
        edit(
            "services of Compose",
            "docker-compose.yml",
            "services:\n  web:\n    image: nginx:1.27.0\n",
            "services:\n  web:\n    image: nginx:1.27.1\n",
        ),
        edit(
            "a Makefile",
            "Makefile",
            "test:\n\tcargo test\n",
            "test:\n\tcargo test\n\nlint:\n\tcargo clippy\n",
        ),
        edit(
            "a shell script",
            "scripts/build.sh",
            "#!/bin/sh\nset -eu\ncargo build\n",
            "#!/bin/sh\nset -eu\ncargo build --release\ncp target/release/shop \"$1\"\n",
        ),
        edit(
            "a script of Bash without an extension",
            "scripts/release",
            "#!/usr/bin/env bash\nset -euo pipefail\n",
            "#!/usr/bin/env bash\nset -euo pipefail\ngit tag \"v$1\"\n",
        ),
        new(
            "a migration in SQL",
            "migrations/001_orders.sql",
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, total BIGINT NOT NULL);\n",
        ),
        edit(
            "a stylesheet",
            "web/app.css",
            "body { margin: 0; }\n",
            "body { margin: 0; color: #222; }\n",
        ),
        edit(
            "a page in HTML",
            "web/index.html",
            "<!doctype html>\n<title>Shop</title>\n",
            "<!doctype html>\n<title>Shop</title>\n<p>Welcome.</p>\n",
        ),
        edit(
            "a workflow with an action of GitHub",
            ".github/workflows/ci.yml",
            WORKFLOW,
            WORKFLOW.replace("make test", "make test lint"),
        ),
        edit(
            "a workflow with a pinned action of somebody else",
            ".github/workflows/ci.yml",
            WORKFLOW,
            pinned,
        ),
        edit(
            "settings of Dependabot",
            ".github/dependabot.yml",
            "version: 2\n",
            "version: 2\nupdates:\n  - package-ecosystem: cargo\n    directory: /\n    schedule: {interval: weekly}\n",
        ),
        new(
            "a template for issues",
            ".github/ISSUE_TEMPLATE/bug.md",
            "---\nname: Bug\n---\nWhat happened?\n",
        ),
        new("owners of code", ".github/CODEOWNERS", "* @ann\n"),
        edit(
            "settings of pre-commit",
            ".pre-commit-config.yaml",
            "repos: []\n",
            "repos:\n  - repo: https://github.com/psf/black\n    rev: 24.4.2\n    hooks: [{id: black}]\n",
        ),
        new(
            "a schema of messages",
            "proto/shop.proto",
            "syntax = \"proto3\";\n\nmessage Order {\n  int64 id = 1;\n}\n",
        ),
        new(
            "a translation",
            "locale/de.po",
            "msgid \"Hello\"\nmsgstr \"Hallo\"\n",
        ),
        new(
            "a page that shows a conflict",
            "docs/git.md",
            "Then you see:\n\n```text\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> topic\n```\n",
        ),
        new(
            "a table in Parquet",
            "data/a.parquet",
            b"PAR1\x15\x00\x15\x02\xff\x00PAR1",
        ),
        new(
            "a database",
            "data/a.sqlite",
            b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20\xff\xfe",
        ),
        edit(
            "a notebook that printed something else",
            "docs/a.ipynb",
            NOTEBOOK,
            NOTEBOOK.replace("before", "after"),
        ),
        new(
            "settings of Caddy",
            "deploy/Caddyfile",
            "example.org {\n  respond \"Hello\"\n}\n",
        ),
        new(
            "a completion for zsh",
            "completions/_shop",
            "#compdef shop\n_arguments '--help[show help]'\n",
        ),
        new(
            "rules for an agent",
            ".cursorrules",
            "Use tabs; never call `eval()`.\n",
        ),
        new(
            "a hook of husky",
            ".husky/commit-msg",
            "npx --no -- commitlint --edit \"$1\"\n",
        ),
        new(
            "a hook of two commands",
            ".husky/pre-commit",
            "npm test && npm run lint\n",
        ),
        new(
            "a model for a game",
            "art/hero.gltf",
            "{\"asset\": {\"version\": \"2.0\"}}\n",
        ),
        new(
            "a scene of a game",
            "levels/one.tscn",
            "[gd_scene format=3]\n\n[node name=\"One\" type=\"Node\"]\n",
        ),
        new(
            "rights of an app",
            "ios/App.entitlements",
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict/></plist>\n",
        ),
        new(
            "a tracked data set",
            "data/train.csv.dvc",
            "outs:\n- md5: 0123\n  path: train.csv\n",
        ),
        new("a genome", "data/one.fasta", ">one\nACGT\n"),
        new(
            "numbers",
            "data/one.npy",
            b"\x93NUMPY\x01\0v\0{'descr': '<f8'}\n\0\0\0\0",
        ),
        new("an empty file", "src/.gitkeep", ""),
        new("an empty file of Python", "src/__init__.py", ""),
        new(
            "the page of disputes",
            "dispute.md",
            "# Disputes\n\neval(input())\n",
        ),
        new(
            "settings of Tribunal alone",
            ".tribunal/config.yml",
            "disputes: {timeout_days: 9}\n",
        ),
        edit(
            "settings of Tribunal that are edited",
            ".tribunal/config.yml",
            "disputes: {timeout_days: 9}\n",
            "disputes: {timeout_days: 5}\nreview: {rounds: 1}\n",
        ),
    ];
    edits.into_iter().map(passes).collect()
}
