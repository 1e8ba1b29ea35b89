//! The corpus of the gate: attempts to get a wrong PASS, and harmless changes that must pass.
//!
//! Every case sets a scene in a repository of its own, runs the real program and looks at exit code
//! and gate. A family is a rule and its variations; one test runs a family and lists all cases that
//! failed. `CORPUS_CASE=words` runs only the cases whose name holds these words.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

#[path = "../common/mod.rs"]
mod common;

mod corpus_case;
mod gate_scene;
mod harmless_code;
mod harmless_files;
mod harmless_panels;
mod harmless_repository_states;
mod large_and_public_files;
mod linked_files;
mod planted_defects;
mod reported_claim;
mod unusual_branches;
mod wrong_pass_arbitration;
mod wrong_pass_dormant_code;
mod wrong_pass_earlier_rulings;
mod wrong_pass_excused_files;
mod wrong_pass_hidden_text;
mod wrong_pass_judges;
mod wrong_pass_linters;
mod wrong_pass_one_reviewer;
mod wrong_pass_own_settings;
mod wrong_pass_places;
mod wrong_pass_several_reviewers;
mod wrong_pass_suppressions;
mod wrong_pass_unfit_answers;

use corpus_case::{CorpusCase, run_family};

/// How many attempts to get a wrong PASS the corpus has at least.
const LEAST_ATTEMPTS: usize = 132;

/// How many harmless changes the corpus has at least.
const LEAST_HARMLESS: usize = 64;

type Family = fn() -> Vec<CorpusCase>;

const ATTEMPTS: &[Family] = &[
    wrong_pass_one_reviewer::cases,
    wrong_pass_several_reviewers::cases,
    wrong_pass_earlier_rulings::cases,
    wrong_pass_own_settings::cases,
    wrong_pass_suppressions::cases,
    wrong_pass_excused_files::cases,
    wrong_pass_arbitration::cases,
    wrong_pass_judges::cases,
    wrong_pass_linters::cases,
    wrong_pass_unfit_answers::cases,
    wrong_pass_places::cases,
    wrong_pass_hidden_text::cases,
    wrong_pass_dormant_code::cases,
    linked_files::wrong_pass_cases,
    large_and_public_files::wrong_pass_cases,
    unusual_branches::cases,
];

const HARMLESS: &[Family] = &[
    harmless_files::cases,
    harmless_code::cases,
    harmless_repository_states::cases,
    harmless_panels::cases,
    linked_files::harmless_cases,
    large_and_public_files::harmless_cases,
];

#[test]
fn the_corpus_is_large_enough() {
    let count = |families: &[Family]| families.iter().map(|cases| cases().len()).sum::<usize>();
    assert!(count(ATTEMPTS) >= LEAST_ATTEMPTS, "{}", count(ATTEMPTS));
    assert!(count(HARMLESS) >= LEAST_HARMLESS, "{}", count(HARMLESS));
}

#[test]
fn a_grave_item_of_one_reviewer_is_never_lost_in_a_mild_one() {
    run_family(wrong_pass_one_reviewer::cases());
}

#[test]
fn a_grave_item_of_one_reviewer_is_never_outweighed_by_fewer_than_three_families() {
    run_family(wrong_pass_several_reviewers::cases());
}

#[test]
fn a_ruling_covers_nothing_but_the_claim_that_was_ruled_on() {
    run_family(wrong_pass_earlier_rulings::cases());
}

#[test]
fn a_change_cannot_loosen_its_own_gate() {
    run_family(wrong_pass_own_settings::cases());
}

#[test]
fn a_change_cannot_silence_the_rules_about_itself() {
    run_family(wrong_pass_suppressions::cases());
}

#[test]
fn a_change_cannot_excuse_its_own_files() {
    run_family(wrong_pass_excused_files::cases());
}

#[test]
fn work_that_is_missing_or_only_offered_does_not_pass() {
    run_family(wrong_pass_arbitration::cases());
}

#[test]
fn an_unfit_ruling_dismisses_nothing() {
    run_family(wrong_pass_judges::cases());
}

#[test]
fn a_linter_that_saw_nothing_or_says_less_opens_nothing() {
    run_family(wrong_pass_linters::cases());
}

#[test]
fn an_unfit_answer_is_no_approval() {
    run_family(wrong_pass_unfit_answers::cases());
}

#[test]
fn an_odd_place_does_not_lose_a_real_finding() {
    run_family(wrong_pass_places::cases());
}

#[test]
fn hidden_text_and_dangerous_settings_are_reported() {
    run_family(wrong_pass_hidden_text::cases());
}

#[test]
fn dormant_code_does_not_wake_unseen() {
    run_family(wrong_pass_dormant_code::cases());
}

#[test]
fn harmless_files_pass() {
    run_family(harmless_files::cases());
}

#[test]
fn harmless_code_passes() {
    run_family(harmless_code::cases());
}

#[test]
fn harmless_states_of_a_repository_pass() {
    run_family(harmless_repository_states::cases());
}

#[test]
fn harmless_panels_pass() {
    run_family(harmless_panels::cases());
}

#[test]
fn links_within_the_repository_pass() {
    run_family(linked_files::harmless_cases());
}

#[test]
fn a_link_hides_nothing() {
    run_family(linked_files::wrong_pass_cases());
}

#[test]
fn large_data_and_public_keys_pass() {
    run_family(large_and_public_files::harmless_cases());
}

#[test]
fn size_and_names_of_keys_hide_nothing() {
    run_family(large_and_public_files::wrong_pass_cases());
}

#[test]
fn a_default_branch_of_any_name_decides() {
    run_family(unusual_branches::cases());
}
