//! The rules of the consensus, case by case: `cases/*.md` say what was given and what comes out.

mod common;

use tribunal_core::consensus::{Policy, reversals, settle};

#[test]
fn normalizing_and_grouping() {
    check(include_str!("cases/grouping.md"));
}

#[test]
fn agreement() {
    check(include_str!("cases/agreement.md"));
}

#[test]
fn conflict() {
    check(include_str!("cases/conflict.md"));
}

#[test]
fn judgements() {
    check(include_str!("cases/judgement.md"));
}

#[test]
fn single_voices_and_scrutiny() {
    check(include_str!("cases/unique.md"));
}

#[test]
fn rounds_two_and_three() {
    check(include_str!("cases/rounds.md"));
}

#[test]
fn assembly_advisories_and_escalation() {
    check(include_str!("cases/assembly.md"));
}

#[test]
fn what_would_reverse_it() {
    check(include_str!("cases/reversal.md"));
}

/// One case: what is given, and lines of what comes out.
#[derive(Default)]
struct Case<'a> {
    name: &'a str,
    policy: Option<&'a str>,
    given: Vec<&'a str>,
    expected: Vec<&'a str>,
}

/// Runs every case of a file and shows all that came out differently.
#[track_caller]
fn check(file: &str) {
    let mut differences = Vec::new();
    for case in cases(file) {
        let mut actual = run(&case);
        for told in ["because ", "note ", "reverse "] {
            let wanted = case.expected.iter().any(|line| line.starts_with(told));
            actual.retain(|line| wanted || !line.starts_with(told));
        }
        if case.expected != actual {
            let lines = actual.join("\n    => ");
            differences.push(format!("## {}\n    => {lines}\n", case.name));
        }
    }
    assert!(
        differences.is_empty(),
        "came out:\n{}",
        differences.join("\n")
    );
}

fn cases(file: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case {
                name,
                ..Case::default()
            });
        } else if let (Some(line), Some(case)) = (line.strip_prefix("    "), cases.last_mut()) {
            if let Some(expected) = line.strip_prefix("=> ") {
                case.expected.push(expected);
            } else if let Some(policy) = line.strip_prefix("policy ") {
                case.policy = Some(policy);
            } else {
                case.given.push(line);
            }
        }
    }
    cases
}

fn run(case: &Case<'_>) -> Vec<String> {
    let policy = Policy::preset(case.policy.unwrap_or("arena")).expect("a preset");
    let input = common::input(&case.given);
    let settlement = settle(input.clone(), &policy);
    let reversals = reversals(input, &policy, &settlement);
    let report = settlement.report();
    let mut lines = Vec::new();
    let notes = report
        .consensus
        .accepted
        .iter()
        .map(|one| &one.resolution_notes);
    let disputed = report.consensus.disputed.iter();
    let disputed: Vec<String> = disputed
        .map(|one| format!("{} {}", one.notes, one.unresolved_questions.join(" ")))
        .collect();
    let rejected = report
        .consensus
        .rejected
        .iter()
        .map(|one| &one.rejection_reason);
    let notes: Vec<&String> = notes.chain(&disputed).chain(rejected).collect();
    for (index, group) in settlement.groups.iter().enumerate() {
        lines.push(common::outcome(&settlement, group));
        lines.push(format!("because {}", group.trace));
        lines.push(format!("note {}", notes[index]));
        lines.push(format!(
            "reverse {}",
            reversals[index].sentences().join(" ")
        ));
    }
    lines.extend(report.problems.iter().map(|text| format!("problem {text}")));
    lines.extend(
        report
            .incomplete
            .iter()
            .map(|text| format!("incomplete {text}")),
    );
    if settlement.groups.is_empty() {
        lines.push(format!("summary {}", report.summary));
    }
    lines
}
