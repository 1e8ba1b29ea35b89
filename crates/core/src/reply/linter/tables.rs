//! Rules of ESLint and its relatives, and of the linters that golangci-lint runs.

use super::rules::Kind;

/// Rules about code that does the wrong thing, without the prefix of their plugin.
const BUGS: &[&str] = &[
    "array-callback-return",
    "await-thenable",
    "constructor-super",
    "eqeqeq",
    "for-direction",
    "getter-return",
    "no-async-promise-executor",
    "no-class-assign",
    "no-compare-neg-zero",
    "no-cond-assign",
    "no-const-assign",
    "no-constant-binary-expression",
    "no-constant-condition",
    "no-constructor-return",
    "no-control-regex",
    "no-debugger",
    "no-dupe-args",
    "no-dupe-class-members",
    "no-dupe-else-if",
    "no-dupe-keys",
    "no-duplicate-case",
    "no-empty-character-class",
    "no-empty-pattern",
    "no-ex-assign",
    "no-fallthrough",
    "no-floating-promises",
    "no-for-in-array",
    "no-func-assign",
    "no-import-assign",
    "no-invalid-regexp",
    "no-irregular-whitespace",
    "no-loss-of-precision",
    "no-misleading-character-class",
    "no-misused-promises",
    "no-new-native-nonconstructor",
    "no-obj-calls",
    "no-promise-executor-return",
    "no-prototype-builtins",
    "no-self-assign",
    "no-self-compare",
    "no-setter-return",
    "no-sparse-arrays",
    "no-template-curly-in-string",
    "no-this-before-super",
    "no-undef",
    "no-unexpected-multiline",
    "no-unmodified-loop-condition",
    "no-unreachable",
    "no-unreachable-loop",
    "no-unsafe-finally",
    "no-unsafe-negation",
    "no-unsafe-optional-chaining",
    "no-use-before-define",
    "require-atomic-updates",
    "restrict-plus-operands",
    "rules-of-hooks",
    "exhaustive-deps",
    "use-isnan",
    "valid-typeof",
];

const SECURITY: &[&str] = &[
    "no-eval",
    "no-implied-eval",
    "no-new-func",
    "no-script-url",
    "no-danger",
    "jsx-no-script-url",
    "jsx-no-target-blank",
];

/// Returns what a rule of ESLint or of a plugin is about.
pub(in crate::reply) fn eslint(rule: &str) -> Kind {
    let (plugin, bare) = rule.rsplit_once('/').unwrap_or(("", rule));
    let secure = ["secur", "sanitized", "no-secrets"];
    if SECURITY.contains(&bare) || secure.iter().any(|word| plugin.contains(word)) {
        Kind::Security
    } else if BUGS.contains(&bare) {
        Kind::Bug
    } else if bare == "no-await-in-loop" {
        Kind::Performance
    } else if matches!(
        bare,
        "complexity" | "max-lines" | "max-depth" | "max-params"
    ) {
        Kind::Architecture
    } else if ["jest", "vitest", "testing-library"].contains(&plugin) {
        Kind::Tests
    } else {
        Kind::Other
    }
}

/// The linters of golangci-lint that are about more than style.
const GOLANGCI: &[(Kind, &[&str])] = &[
    (Kind::Security, &["gosec", "bidichk"]),
    (
        Kind::Bug,
        &[
            "asasalint",
            "bodyclose",
            "contextcheck",
            "copyloopvar",
            "durationcheck",
            "errcheck",
            "errchkjson",
            "errorlint",
            "exhaustive",
            "fatcontext",
            "forcetypeassert",
            "gochecksumtype",
            "gosmopolitan",
            "govet",
            "loggercheck",
            "makezero",
            "musttag",
            "nilerr",
            "nilnesserr",
            "nilnil",
            "noctx",
            "reassign",
            "recvcheck",
            "rowserrcheck",
            "spancheck",
            "sqlclosecheck",
        ],
    ),
    (
        Kind::Performance,
        &["perfsprint", "prealloc", "wastedassign"],
    ),
    (
        Kind::Architecture,
        &[
            "cyclop",
            "depguard",
            "dupl",
            "funlen",
            "gocognit",
            "gocyclo",
            "interfacebloat",
            "maintidx",
            "nestif",
        ],
    ),
    (
        Kind::Tests,
        &[
            "paralleltest",
            "testifylint",
            "testpackage",
            "thelper",
            "tparallel",
        ],
    ),
];

/// Returns what a linter of golangci-lint is about, given what it says.
pub(in crate::reply) fn golangci(linter: &str, says: &str) -> Kind {
    // Staticcheck says in front which of its parts speaks; only `SA` is about mistakes.
    if linter == "staticcheck" {
        return if says.starts_with("SA") {
            Kind::Bug
        } else {
            Kind::Other
        };
    }
    let known = GOLANGCI
        .iter()
        .find(|(_, linters)| linters.contains(&linter));
    known.map_or(Kind::Other, |(kind, _)| *kind)
}
