//! The engine as its callers see it: domains, changed lines, comments, own rules, bad input.

use super::*;
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
fn product_rules_are_quiet_in_tests() {
    let test = Source {
        path: "tests/test_a.py",
        ..source(SOURCE)
    };
    let report = Reviewer::new([Domain::Security])
        .check(&test)
        .expect("it parses");
    assert_eq!(report, Report::default());
    let rust = Source {
        path: "src/lib.rs",
        language: Language::Rust,
        text: "#[cfg(test)]\nmod tests {\n    fn f() { c.danger_accept_invalid_certs(true); }\n}\n\
               fn g() { c.danger_accept_invalid_certs(true); }\n",
        changed: None,
    };
    let report = Reviewer::new([Domain::Security])
        .check(&rust)
        .expect("it parses");
    assert_eq!(shown(&report.hits), ["5:10-5 rust-tls-unchecked g"]);
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
    let start = std::time::Instant::now();
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
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
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
