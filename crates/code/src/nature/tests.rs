//! What files are, by name, place and first line.

use super::*;

#[test]
fn a_notebook_that_only_printed_something_else_has_the_same_code() {
    let notebook = |source: &str, output: &str| {
        format!(
            r#"{{"cells": [{{"cell_type": "code", "source": ["{source}"], "outputs": ["{output}"]}}]}}"#
        )
    };
    let before = notebook("print(1)", "1");
    assert!(has_same_cells(
        "a.ipynb",
        &before,
        &notebook("print(1)", "2")
    ));
    assert!(!has_same_cells(
        "a.ipynb",
        &before,
        &notebook("eval(x)", "1")
    ));
    assert!(!has_same_cells("a.py", &before, &before));
    let of_kernel = |name: &str| {
        let kernel = format!(r#"{{"metadata": {{"kernelspec": {{"name": "{name}"}}}}, "#);
        before.replacen('{', &kernel, 1)
    };
    assert!(has_same_cells(
        "a.ipynb",
        &of_kernel("python3"),
        &of_kernel("python3")
    ));
    assert!(!has_same_cells(
        "a.ipynb",
        &of_kernel("python3"),
        &of_kernel("ir")
    ));
    assert!(!has_same_cells("a.ipynb", "x", "x"));
}

#[test]
fn names_and_first_lines_decide_and_doubt_is_code() {
    let config = |format| Nature::Config(format);
    let cases = [
        ("README.md", "", Nature::Prose),
        ("LICENSE", "MIT", Nature::Prose),
        ("LICENSE-APACHE", "x = 1", Nature::Prose),
        ("docs/a.rst", "", Nature::Prose),
        ("notes.txt", "text", Nature::Prose),
        (
            "notes.txt",
            "#!/usr/bin/env python3\n",
            Nature::Code(Language::Python),
        ),
        ("README.md", "#!/bin/sh\nrm -rf /\n", config(Format::Shell)),
        ("table.csv", "#!/usr/bin/perl\n", Nature::OtherCode),
        ("table.csv", "a,b\n", Nature::Data),
        ("settings.gradle.kts", "", config(Format::Build)),
        ("app.kts", "", Nature::OtherCode),
        ("config.h.in", "", config(Format::Build)),
        (
            "debian/rules",
            "#!/usr/bin/make -f\n",
            config(Format::Makefile),
        ),
        ("a.strings", "", config(Format::Settings)),
        ("en.ftl", "", config(Format::Template)),
        ("a.gohtml", "", config(Format::Template)),
        ("show.html.erb", "", Nature::OtherCode),
        ("fix.patch", "", Nature::Data),
        ("debian/patches/fix.patch", "", Nature::OtherCode),
        ("a.ipynb", "{\"cells\": []}", Nature::Data),
        ("a.ipynb", "", Nature::OtherCode),
        (
            "a.ipynb",
            "{\"cells\": [{\"cell_type\": \"code\"}]}",
            Nature::OtherCode,
        ),
        ("a.vcxproj", "", config(Format::Xml)),
        ("a.natvis", "", config(Format::Xml)),
        ("CITATION.cff", "", config(Format::Yaml)),
        ("app.manifest", "", config(Format::Xml)),
        (".sqlfluff", "[sqlfluff]\n", config(Format::Settings)),
        ("Doxyfile", "A = b\n", config(Format::Settings)),
        // Programs that look like words.
        (
            "a.cob",
            "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. A.\n",
            Nature::OtherCode,
        ),
        ("a.sed", "1e id\n", Nature::OtherCode),
        ("a.tex", "\\section{A}\n", Nature::Prose),
        ("a.tex", "\\immediate\\write18{id}\n", Nature::OtherCode),
        ("app.pro", "TEMPLATE = app\n", config(Format::Build)),
        ("app.pro", "main :- shell(\"id\").\n", Nature::OtherCode),
        (
            "KEYS",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQINBFxx\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n",
            Nature::Data,
        ),
        ("docs/examples/parse.output", "{\"a\": 1}", Nature::Data),
        ("list.approved", "a = b\n", Nature::Data),
        (
            "META-INF/MANIFEST.MF",
            "Main-Class: a.B\n",
            config(Format::Settings),
        ),
        // JSON and XML are known by their form where the name is not known.
        ("data/test1", "{\"a\": [1, 2]}\n", config(Format::Json)),
        ("data/test1", "{ a = 1 }", Nature::OtherCode),
        ("data/test1", "[1] + eval(x)", Nature::OtherCode),
        (
            "data/test2",
            "<?xml version=\"1.0\"?>\n<a/>\n",
            config(Format::Xml),
        ),
        (
            "data/test2",
            "<?xml version=\"1.0\"?>\n<?php eval($a); ?>\n",
            Nature::OtherCode,
        ),
        ("bin/tool", "{\"a\": 1}", Nature::OtherCode),
        ("a.puml", "", Nature::Data),
        ("OWNERS", "", config(Format::Settings)),
        ("deploy/Caddyfile", "", config(Format::Settings)),
        (".cursorrules", "Use tabs; never `eval`.\n", Nature::Prose),
        (
            "_shop",
            "#compdef shop\n_arguments\n",
            config(Format::Shell),
        ),
        ("certs/ca.pem", "", Nature::Data),
        ("requirements-dev.txt", "", config(Format::Settings)),
        ("requirements/min.in", "a==1\n", config(Format::Settings)),
        ("CMakeLists.txt", "", config(Format::Build)),
        (".github/workflows/ci.yml", "", config(Format::Yaml)),
        ("deploy/Dockerfile.prod", "", config(Format::Dockerfile)),
        ("app.csproj", "", config(Format::Xml)),
        (".gitignore", "", config(Format::Settings)),
        ("config.yml.example", "", config(Format::Yaml)),
        ("setup.py.in", "", Nature::OtherCode),
        ("load.cypher", "a", Nature::OtherCode),
        ("login.expect", "a", Nature::OtherCode),
        ("lib/tasks/a.rake", "a", Nature::OtherCode),
        ("a.gemspec", "a", Nature::OtherCode),
        (".ssh/authorized_keys", "a", Nature::OtherCode),
        ("a.rb", "", Nature::OtherCode),
        ("Gemfile", "", Nature::OtherCode),
        ("a.vue", "", Nature::OtherCode),
        ("bin/tool", "#!/usr/bin/env bash\n", config(Format::Shell)),
        ("bin/tool", "#!/usr/bin/env ruby\n", Nature::OtherCode),
        ("bin/tool", "puts 1\n", Nature::OtherCode),
        ("bin/install", "words and words\n", Nature::OtherCode),
        ("INSTALL", "Unpack it, then read on.\n", Nature::Data),
        ("setup", "npm install something\n", Nature::OtherCode),
        (
            "setup",
            "kubectl delete namespace production\n",
            Nature::OtherCode,
        ),
        (
            ".husky/pre-commit",
            "npx lint-staged\n",
            config(Format::Shell),
        ),
        (
            ".husky/commit-msg",
            "npx --no -- commitlint --edit \"$1\"\n",
            config(Format::Shell),
        ),
        (
            "tools/hooks/post-receive",
            "sh payload\n",
            config(Format::Shell),
        ),
        (
            "hooks/pre-push",
            "#!/usr/bin/env python3\n",
            Nature::Code(Language::Python),
        ),
        (
            "etc/cron.d/job",
            "* * * * * root nc example.org 4444\n",
            config(Format::Shell),
        ),
        ("src/A.groovy", "class A {}\n", Nature::OtherCode),
        ("a.pth", "import os\n", Nature::OtherCode),
        (
            "poetry.lock",
            "#!/usr/bin/env python3\neval(input())\n",
            Nature::Code(Language::Python),
        ),
        ("package-lock.json", "#!/bin/sh\n", config(Format::Shell)),
        (
            "play.yml",
            "#!/usr/bin/env ansible-playbook\n",
            config(Format::Yaml),
        ),
        ("play.yml", "#!/bin/sh\n", config(Format::Shell)),
        ("hero.gltf", "", config(Format::Json)),
        ("level.tscn", "", config(Format::Settings)),
        ("App.entitlements", "", config(Format::Xml)),
        ("genome.fasta", "", Nature::Data),
        ("a.xyz", "import os\n", Nature::OtherCode),
        ("a.xyz", "f(1)\n", Nature::OtherCode),
        (
            "a.xyz",
            "a sentence (like this one) is not code\n",
            Nature::Data,
        ),
        ("doc/tool.1", ".TH TOOL 1\n.SH NAME\n", Nature::Prose),
        (
            "doc/tool.1",
            ".ig\nA license\n..\n.TH TOOL 1\n",
            Nature::Prose,
        ),
        ("doc/tool.1", "print 1\n", Nature::OtherCode),
        ("empty", "", Nature::Data),
        ("a.rs", "", Nature::Code(Language::Rust)),
    ];
    for (path, text, expected) in cases {
        assert_eq!(Nature::of(path, text), expected, "{path} {text:?}");
    }
}
