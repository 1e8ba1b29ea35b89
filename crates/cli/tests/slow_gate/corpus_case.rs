//! A case of the corpus, and how a family of cases is run.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::common::Ran;

/// How many cases of one family run at the same time.
const CASES_AT_ONCE: usize = 2;

/// One attempt to get a wrong PASS, or one harmless change.
pub(crate) struct CorpusCase {
    name: String,
    check: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

/// Returns a case: a sentence that says what it tries, and what sets the scene, runs the program
/// and says what went wrong.
pub(crate) fn corpus_case(
    name: impl Into<String>,
    check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
) -> CorpusCase {
    CorpusCase {
        name: name.into(),
        check: Box::new(check),
    }
}

/// Runs all cases of a family, and panics with the list of those that failed.
pub(crate) fn run_family(cases: Vec<CorpusCase>) {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "two cases have the same name");
    let only = std::env::var("CORPUS_CASE").unwrap_or_default();
    let chosen: Vec<&CorpusCase> = cases
        .iter()
        .filter(|case| case.name.contains(&only))
        .collect();
    let next = Mutex::new(chosen.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CASES_AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(case) = next.lock().unwrap().next() else {
                        break;
                    };
                    if let Err(what) = outcome_of_case(case) {
                        let told = format!("CASE {}\n  {}", case.name, what.replace('\n', "\n  "));
                        failures.lock().unwrap().push(told);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed:\n{}",
        failures.len(),
        chosen.len(),
        failures.join("\n")
    );
}

/// Runs one case; a panic while the scene is set is a failure of this case alone.
fn outcome_of_case(case: &CorpusCase) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (case.check)())).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(format!(
            "HARNESS: {}",
            text.unwrap_or_else(|| "a panic without a text".to_owned())
        ))
    })
}

/// Checks that the gate is shut for a reason of the review: FAIL or INCONCLUSIVE.
pub(crate) fn expect_no_pass(ran: &Ran) -> Result<(), String> {
    expect_no_pass_or_code(ran, &[])
}

/// Checks that the gate is shut, or that the program stopped with one of these codes before it
/// came to a gate.
pub(crate) fn expect_no_pass_or_code(ran: &Ran, other_codes: &[i32]) -> Result<(), String> {
    let gate = gate_of(ran);
    let is_other = ran.code.is_some_and(|code| other_codes.contains(&code));
    match (ran.code, gate.as_deref()) {
        (Some(1), Some("fail")) | (Some(5), Some("inconclusive")) => Ok(()),
        (_, Some("pass")) => Err(told("a wrong PASS", ran)),
        _ if is_other => Ok(()),
        _ => Err(told("neither FAIL nor INCONCLUSIVE", ran)),
    }
}

/// Checks that the gate is FAIL.
pub(crate) fn expect_fail(ran: &Ran) -> Result<(), String> {
    match (ran.code, gate_of(ran).as_deref()) {
        (Some(1), Some("fail")) => Ok(()),
        _ => Err(told("not FAIL", ran)),
    }
}

/// Checks that the gate is open.
pub(crate) fn expect_pass(ran: &Ran) -> Result<(), String> {
    match (ran.code, gate_of(ran).as_deref()) {
        (Some(0), Some("pass")) => Ok(()),
        _ => Err(told("not PASS", ran)),
    }
}

/// Says that a failure is one of the control, not of the trick itself.
pub(crate) fn control(result: Result<(), String>) -> Result<(), String> {
    result.map_err(|what| format!("CONTROL: {what}"))
}

/// Returns the gate of a report in JSON.
pub(crate) fn gate_of(ran: &Ran) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).ok()?;
    report["gate"].as_str().map(str::to_owned)
}

/// Describes how a command ended: code, gate, findings, causes and errors.
fn told(what: &str, ran: &Ran) -> String {
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let mut text = format!(
        "{what}: exit {:?}, gate {}, causes {}",
        ran.code, report["gate"], report["causes"]
    );
    for finding in report["findings"].as_array().into_iter().flatten() {
        text += &format!(
            "\n{} {} {} at {}:{} ({})",
            finding["verdict"],
            finding["severity"],
            finding["title"],
            finding["location"]["file"],
            finding["location"]["line"],
            finding["standing"],
        );
    }
    let errors: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("Error") || line.starts_with("Hint"))
        .collect();
    format!("{text}\n{}", errors.join("\n"))
        .trim_end()
        .to_owned()
}
