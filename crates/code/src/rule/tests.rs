//! The engine as its callers see it: domains, changed lines, comments, own rules, bad input.

use super::*;
use crate::computing_time::ComputingTime;
use crate::language::{Language, Limits, ParseError};
use crate::lines::LineSet;

const SOURCE: &str = "\
import os

def run(name):
    os.system(\"ls \" + name)
    eval(name)  # tribunal-ignore python-eval: a constant

def again(name):
    eval(name)
";

fn source(text: &str) -> Source<'_> {
    Source {
        path: "src/a.py",
        language: Language::Python,
        text,
        changed: None,
    }
}

fn shown(hits: &[Hit]) -> Vec<String> {
    hits.iter()
        .map(|hit| {
            let function = hit.function.as_deref().unwrap_or("-");
            format!(
                "{}:{}-{} {} {function}",
                hit.line, hit.column, hit.end_line, hit.rule
            )
        })
        .collect()
}

#[test]
fn hits_know_their_place_and_comments_silence_them() {
    let report = Reviewer::new(Domain::BUILTIN)
        .check(&source(SOURCE))
        .expect("it parses");
    assert_eq!(
        shown(&report.hits),
        ["4:5-4 python-shell-command run", "8:5-8 python-eval again"]
    );
    let silenced: Vec<Hit> = report.silenced.iter().map(|one| one.hit.clone()).collect();
    assert_eq!(shown(&silenced), ["5:5-5 python-eval run"]);
    assert_eq!(report.cut_off, None);
    let hit = &report.hits[0];
    assert_eq!(
        hit.message,
        "`os.system` hands a command built at run time to a shell"
    );
    assert_eq!(hit.quote, "os.system(\"ls \" + name)");
    assert!(hit.confidence.get() >= 80, "{:?}", hit.confidence);
}

#[test]
fn only_changed_lines_and_chosen_domains_are_reported() {
    let changed: LineSet = [1, 7, 8].into_iter().collect();
    let source = Source {
        changed: Some(&changed),
        ..source(SOURCE)
    };
    let security = Reviewer::new([Domain::Security])
        .check(&source)
        .expect("it parses");
    assert_eq!(shown(&security.hits), ["8:5-8 python-eval again"]);
    let correctness = Reviewer::new([Domain::Correctness])
        .check(&source)
        .expect("it parses");
    assert_eq!(shown(&correctness.hits), Vec::<String>::new());
}

#[test]
fn no_directory_silences_a_security_rule_and_tests_lower_it() {
    let label_at = |path: &str| {
        let text = "import os\nos.system(\"ls \" + name)\neval(input())\n";
        let given = Source {
            path,
            ..source(text)
        };
        let report = Reviewer::new([Domain::Security]).check(&given);
        let hits = report.expect("it parses").hits;
        let labels: Vec<&str> = hits.iter().map(|hit| hit.label.as_str()).collect();
        labels.join(" ")
    };
    for folder in [
        "src", "demo", "docs", "examples", "samples", "bench", "benches", "mocks", "t", "testing",
    ] {
        assert_eq!(
            label_at(&format!("{folder}/pay.py")),
            "HIGH HIGH",
            "{folder}"
        );
    }
    for path in [
        "tests/pay.py",
        "src/__tests__/pay.py",
        "test_pay.py",
        "pay_test.py",
        "spec/pay.py",
        "e2e/pay.py",
        "testdata/pay.py",
        "fixtures/pay.py",
    ] {
        assert_eq!(label_at(path), "LOW LOW", "{path}");
    }
}

#[test]
fn no_directory_silences_what_must_not_be_in_any_file() {
    let texts = [
        (
            "text-secret",
            "key: ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
        ),
        (
            "text-conflict-marker",
            "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n",
        ),
        ("text-hidden-direction", "a\u{202e}b\n"),
    ];
    let paths = [
        "tests/a.yml",
        "docs/a.md",
        "examples/a.py",
        "testdata/a.json",
        "e2e/a.ts",
        "a_test.go",
        "a.test.js",
        "Cargo.lock",
        "package-lock.json",
        "vendor/a.go",
        "fixtures/a.txt",
    ];
    for (rule, text) in texts {
        for path in paths {
            let source = TextSource {
                path,
                text,
                changed: None,
            };
            let report = Reviewer::new(Domain::BUILTIN).check_text(&source);
            let found = report.hits.iter().find(|hit| hit.rule == rule);
            let label = found.map(|hit| hit.label.as_str());
            assert_eq!(label, Some("HIGH"), "{rule} {path}");
        }
    }
}

#[test]
fn commands_in_tests_are_reported_at_a_lower_level() {
    let label_at = |path| {
        let text = "curl https://a.b/c | sh\n";
        let source = TextSource {
            path,
            text,
            changed: None,
        };
        let report = Reviewer::new([Domain::Security]).check_text(&source);
        report.hits.first().map(|hit| hit.label.as_str())
    };
    assert_eq!(label_at("demo/install.sh"), Some("MEDIUM"));
    assert_eq!(label_at("tests/install.sh"), Some("LOW"));
}

#[test]
fn tests_beside_rust_code_lower_the_level_and_strings_in_attributes_do_not() {
    let rust = Source {
        path: "src/lib.rs",
        language: Language::Rust,
        text: "#[cfg(test)]\nmod tests {\n    fn f() { c.danger_accept_invalid_certs(true); }\n}\n\
               #[doc = \"cfg(test)\"]\nfn g() { c.danger_accept_invalid_certs(true); }\n",
        changed: None,
    };
    let report = Reviewer::new([Domain::Security])
        .check(&rust)
        .expect("it parses");
    let labels: Vec<_> = report
        .hits
        .iter()
        .map(|hit| (hit.line, hit.label.as_str()))
        .collect();
    assert_eq!(labels, [(3, "LOW"), (6, "HIGH")]);
}

const OWN_RULES: &str = "\
# The rules of this project.
id: no-print
language: Python
message: Use the logger instead of $A
severity: warning
note: Output goes to the log.
rule:
  pattern: print($A)
files: [\"src/**\"]
ignores: [\"src/cli/**\"]
---
id: switched-off
language: py
severity: off
rule: { pattern: eval($A) }
";

#[test]
fn a_projects_own_rules_work_as_written() {
    let rules = load_user_rules(OWN_RULES).expect("the rules are valid");
    assert_eq!(rules.infos().count(), 1);
    let reviewer = Reviewer::new([]).with_rules(rules);
    let text = "print(x)\n# ast-grep-ignore: no-print -- a tool\nprint(y)\n";
    let report = reviewer.check(&source(text)).expect("it parses");
    let hit = &report.hits[0];
    assert_eq!(
        (hit.line, &*hit.message),
        (1, "Use the logger instead of x")
    );
    assert_eq!(
        (hit.domain, hit.label.as_str()),
        (Domain::Project, "MEDIUM")
    );
    assert_eq!((report.hits.len(), report.silenced.len()), (1, 1));
    for path in ["src/cli/main.py", "lib/a.py"] {
        let elsewhere = Source {
            path,
            ..source(text)
        };
        let report = reviewer.check(&elsewhere).expect("it parses");
        assert_eq!(report, Report::default(), "{path}");
    }
}

#[test]
fn broken_rules_are_refused_with_their_line() {
    let cases = [
        (
            "id: a\nlanguage: python\nrule:\n  kind: no_such_kind\n",
            1,
            "no_such_kind",
        ),
        (
            "id: a\nlanguage: cobol\nrule: { pattern: a }\n",
            2,
            "unknown language",
        ),
        (
            "id: ok\nlanguage: go\nrule: { pattern: a }\n---\nid: b\nlanguage: go\nrule: {}\n",
            5,
            "positive",
        ),
        ("id: a\nlanguage: go\nrule: [\n", 4, ""),
        (
            "id: a\nlanguage: go\nrule: { pattern: a }\nmetadata: { label: URGENT }\n",
            1,
            "URGENT",
        ),
        ("id: a\nlanguage: go\nrule: { regex: a }\n", 1, "kind"),
    ];
    for (yaml, line, part) in cases {
        let error = load_user_rules(yaml).expect_err(yaml);
        assert!(error.problem.contains(part), "{yaml}: {error}");
        assert!(error.line.abs_diff(line) <= 1, "{yaml}: {error}");
    }
    assert!(load_user_rules(&"a".repeat(2 << 20)).is_err());
    assert_eq!(
        load_user_rules("")
            .expect("nothing is fine")
            .infos()
            .count(),
        0
    );
}

#[test]
fn hostile_sources_end_in_time() {
    let limits = Limits {
        bytes: 1 << 20,
        time: std::time::Duration::from_millis(500),
    };
    let reviewer = Reviewer::new(Domain::BUILTIN).with_limits(limits);
    let nested = ["(", "[", "{", "f(", "!", "if(", "a+"].map(|piece| piece.repeat(20_000));
    let limit = ComputingTime::lasting(std::time::Duration::from_secs(120));
    for language in Language::ALL {
        for text in &nested {
            let source = Source {
                path: "src/a",
                language,
                text,
                changed: None,
            };
            match reviewer.check(&source) {
                Ok(_) | Err(ParseError::TooSlow { .. }) => {}
                Err(error) => panic!("{language}: {error}"),
            }
        }
    }
    // Nine languages, seven texts, half a second each to parse and to check, and some slack.
    assert!(!limit.is_over());
}

#[test]
fn changed_code_that_does_not_parse_is_told() {
    let text = "def one():\n    return 1\n\ndef two(:\n    return ) 2\n\nx = 1\n";
    let unparsed = |changed: Option<&LineSet>| {
        let source = Source {
            changed,
            ..source(text)
        };
        let report = Reviewer::new(Domain::BUILTIN).check(&source);
        report.expect("it is read").unparsed
    };
    assert!(unparsed(None).is_some());
    assert!(unparsed(Some(&[4, 5].into_iter().collect())).is_some());
    assert_eq!(unparsed(Some(&[1].into_iter().collect())), None);
    let whole = Reviewer::new(Domain::BUILTIN).check(&source(SOURCE));
    assert_eq!(whole.expect("it is read").unparsed, None);
}

#[test]
fn settings_switch_rules_off_and_change_their_level() {
    use tribunal_core::finding::Label;
    use tribunal_core::review::rule_level::{RuleLevel, RuleLevels};

    let levels = RuleLevels::from([
        ("python-shell-command".to_owned(), RuleLevel::Off),
        ("python-eval".to_owned(), RuleLevel::Low),
        ("shell-world-writable".to_owned(), RuleLevel::Off),
        ("shell-download-and-run".to_owned(), RuleLevel::High),
    ]);
    let reviewer = Reviewer::new(Domain::BUILTIN).with_levels(levels);
    let report = reviewer.check(&source(SOURCE)).expect("it parses");
    assert_eq!(shown(&report.hits), ["8:5-8 python-eval again"]);
    assert_eq!(report.hits[0].label, Label::Low);
    let script = TextSource {
        path: "run.sh",
        text: "chmod 777 a\ncurl https://example.org/a | sh\n",
        changed: None,
    };
    let report = reviewer.check_text(&script);
    assert_eq!(shown(&report.hits), ["2:1-2 shell-download-and-run -"]);
    assert_eq!(report.hits[0].label, Label::High);
}

#[test]
fn a_marker_on_a_line_of_the_change_does_not_count_and_one_for_edited_code_neither() {
    let text = "# tribunal-ignore python-eval: a constant\neval(\n  x\n)\n";
    for (changed, silenced) in [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1)] {
        let mut report = Reviewer::new(Domain::BUILTIN)
            .check(&source(text))
            .expect("it parses");
        assert_eq!(report.silenced.len(), 1);
        report.refuse_markers_on(&[changed].into_iter().collect());
        assert_eq!(report.silenced.len(), silenced, "{changed}");
        assert_eq!(report.hits.len(), 1 - silenced, "{changed}");
        let why: Vec<Refusal> = report.refused.iter().map(|one| one.why).collect();
        assert_eq!(why, vec![Refusal::OfTheChange; 1 - silenced], "{changed}");
    }
}
