//! What a rule of a linter is worth: category, severity and confidence.
//!
//! Tools call nearly everything an error, so the rule counts more than the level:
//!
//! | The rule is about | error | warning | note |
//! | --- | --- | --- | --- |
//! | code that does not compile or parse | high 95 | | |
//! | security, bugs | high 85 | medium 75 | low 60 |
//! | performance, architecture, tests | medium 75 | low 65 | low 60 |
//! | anything else of a tool we know | medium 70 | low 60 | low 60 |
//! | a tool we do not know | high 80 | medium 70 | low 60 |

use crate::finding::Category;
use crate::scale::Severity;

/// What a finding of a tool is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::reply) struct Weight {
    pub(in crate::reply) category: Option<Category>,
    pub(in crate::reply) severity: Option<Severity>,
    pub(in crate::reply) confidence: u8,
}

/// How loudly the tool says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reply) enum Level {
    /// The code does not compile, or cannot even be parsed.
    Broken,
    Error,
    Warning,
    Note,
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reply) enum Kind {
    Security,
    Bug,
    Performance,
    Architecture,
    Tests,
    /// A rule of a tool we know, about style and the like.
    Other,
    /// A rule of a tool we do not know: its own level is all there is.
    Unknown,
}

/// Returns what a finding of this kind and level is worth.
pub(in crate::reply) fn weigh(kind: Kind, level: Level) -> Weight {
    use Severity::{High, Low, Medium};
    let category = match kind {
        _ if level == Level::Broken => Some(Category::Bug),
        Kind::Security => Some(Category::Security),
        Kind::Bug => Some(Category::Bug),
        Kind::Performance => Some(Category::Performance),
        Kind::Architecture => Some(Category::Architecture),
        Kind::Tests => Some(Category::TestCoverage),
        Kind::Other => Some(Category::Other),
        Kind::Unknown => None,
    };
    let (severity, confidence) = match (level, kind) {
        (Level::Broken, _) => (High, 95),
        (Level::Error, Kind::Security | Kind::Bug) => (High, 85),
        (Level::Warning, Kind::Security | Kind::Bug) => (Medium, 75),
        (Level::Error, Kind::Performance | Kind::Architecture | Kind::Tests) => (Medium, 75),
        (Level::Warning, Kind::Performance | Kind::Architecture | Kind::Tests) => (Low, 65),
        (Level::Error, Kind::Other) => (Medium, 70),
        (Level::Error, Kind::Unknown) => (High, 80),
        (Level::Warning, Kind::Unknown) => (Medium, 70),
        (Level::Warning, Kind::Other) | (Level::Note, _) => (Low, 60),
    };
    Weight {
        category,
        severity: Some(severity),
        confidence,
    }
}

/// Returns what a tool's own name for a field of quality means.
pub(in crate::reply) fn kind_of_word(word: &str) -> Option<Kind> {
    let word = word.trim().to_ascii_lowercase();
    Some(match word.as_str() {
        "security" | "vulnerability" => Kind::Security,
        "bug" | "bug risk" | "correctness" | "reliability" | "suspicious" => Kind::Bug,
        "performance" | "efficiency" | "perf" => Kind::Performance,
        "maintainability" | "complexity" | "duplication" | "architecture" => Kind::Architecture,
        "testing" | "tests" => Kind::Tests,
        "style" | "readability" | "clarity" | "compatibility" | "best-practice" | "a11y"
        | "nursery" | "formatting" => Kind::Other,
        _ => return None,
    })
}

/// Lints of rustc and clippy that warn and yet mean more than style.
const RUST: &[(Kind, &[&str])] = &[
    (
        Kind::Bug,
        &[
            "unused_must_use",
            "unreachable_code",
            "unreachable_patterns",
            "unconditional_recursion",
            "static_mut_refs",
            "clippy::almost_complete_range",
            "clippy::arc_with_non_send_sync",
            "clippy::await_holding_lock",
            "clippy::await_holding_refcell_ref",
            "clippy::blanket_clippy_restriction_lints",
            "clippy::cast_abs_to_unsigned",
            "clippy::cast_slice_different_sizes",
            "clippy::crate_in_macro_def",
            "clippy::drop_non_drop",
            "clippy::float_equality_without_abs",
            "clippy::forget_non_drop",
            "clippy::lines_filter_map_ok",
            "clippy::manual_unwrap_or_default",
            "clippy::missing_transmute_annotations",
            "clippy::multi_assignments",
            "clippy::mut_range_bound",
            "clippy::mutable_key_type",
            "clippy::no_effect_replace",
            "clippy::non_canonical_clone_impl",
            "clippy::non_canonical_partial_ord_impl",
            "clippy::octal_escapes",
            "clippy::print_in_format_impl",
            "clippy::rc_clone_in_vec_init",
            "clippy::repeat_vec_with_capacity",
            "clippy::suspicious_arithmetic_impl",
            "clippy::suspicious_assignment_formatting",
            "clippy::suspicious_command_arg_space",
            "clippy::suspicious_doc_comments",
            "clippy::suspicious_else_formatting",
            "clippy::suspicious_map",
            "clippy::suspicious_op_assign_impl",
            "clippy::suspicious_open_options",
            "clippy::suspicious_to_owned",
            "clippy::suspicious_unary_op_formatting",
            "clippy::swap_ptr_to_ref",
            "clippy::type_id_on_box",
            "clippy::zombie_processes",
        ],
    ),
    (
        Kind::Performance,
        &[
            "clippy::box_collection",
            "clippy::boxed_local",
            "clippy::cmp_owned",
            "clippy::collapsible_str_replace",
            "clippy::expect_fun_call",
            "clippy::extend_with_drain",
            "clippy::format_in_format_args",
            "clippy::iter_overeager_cloned",
            "clippy::large_const_arrays",
            "clippy::large_enum_variant",
            "clippy::manual_memcpy",
            "clippy::map_entry",
            "clippy::missing_spin_loop",
            "clippy::redundant_allocation",
            "clippy::redundant_clone",
            "clippy::result_large_err",
            "clippy::single_char_pattern",
            "clippy::slow_vector_initialization",
            "clippy::to_string_in_format_args",
            "clippy::unnecessary_to_owned",
            "clippy::useless_vec",
            "clippy::vec_init_then_push",
            "clippy::waker_clone_wake",
        ],
    ),
    (
        Kind::Architecture,
        &[
            "clippy::cognitive_complexity",
            "clippy::too_many_arguments",
            "clippy::too_many_lines",
            "clippy::type_complexity",
        ],
    ),
];

/// Returns what a lint of rustc or clippy is about.
pub(in crate::reply) fn rust(lint: &str) -> Kind {
    let known = RUST.iter().find(|(_, lints)| lints.contains(&lint));
    known.map_or(Kind::Other, |(kind, _)| *kind)
}

/// Families of Ruff's rules, by letters and the beginning of the number; the first that fits.
const RUFF: &[(&str, &str, Kind, Level)] = &[
    ("E", "9", Kind::Bug, Level::Broken),
    ("F", "401", Kind::Other, Level::Note),
    ("F", "403", Kind::Other, Level::Note),
    ("F", "541", Kind::Other, Level::Note),
    ("F", "841", Kind::Other, Level::Note),
    ("F", "7", Kind::Bug, Level::Error),
    ("F", "82", Kind::Bug, Level::Error),
    ("F", "", Kind::Bug, Level::Warning),
    ("PLE", "", Kind::Bug, Level::Error),
    ("PLW", "", Kind::Bug, Level::Warning),
    ("PLR", "", Kind::Architecture, Level::Note),
    ("B", "", Kind::Bug, Level::Warning),
    ("BLE", "", Kind::Bug, Level::Warning),
    ("ASYNC", "", Kind::Bug, Level::Warning),
    ("DTZ", "", Kind::Bug, Level::Warning),
    ("S", "", Kind::Security, Level::Warning),
    ("PERF", "", Kind::Performance, Level::Warning),
    ("C", "9", Kind::Architecture, Level::Warning),
    ("SLF", "", Kind::Architecture, Level::Warning),
    ("PT", "", Kind::Tests, Level::Note),
];

/// Returns what a rule of Ruff is about, and how much. Ruff itself calls everything an error.
pub(in crate::reply) fn ruff(code: &str) -> (Kind, Level) {
    if matches!(code, "" | "invalid-syntax" | "syntax-error" | "io-error") {
        return (Kind::Bug, Level::Broken);
    }
    let digits = code.find(|sign: char| sign.is_ascii_digit());
    let (letters, number) = code
        .split_at_checked(digits.unwrap_or(code.len()))
        .unwrap_or_default();
    let fits = |row: &&(&str, &str, Kind, Level)| row.0 == letters && number.starts_with(row.1);
    let known = RUFF.iter().find(fits);
    known.map_or((Kind::Other, Level::Note), |row| (row.2, row.3))
}
