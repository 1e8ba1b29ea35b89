//! Hidden files that reviewers are given although nothing of them changed.
//!
//! New agent programs look for new names, and all of them begin with a dot. So the files of that
//! kind are chosen, not excluded: what is known to be harmless, or what linters and builds need.

use super::agent_names::folded;

/// Names that begin with a dot and are known; with a star at the end, all that begin so.
const KNOWN: &[&str] = &[
    // What git and editors ignore or format.
    ".dockerignore",
    ".editorconfig",
    ".git-blame-ignore-revs",
    ".gitattributes",
    ".gitignore",
    ".gitkeep",
    ".gitmodules",
    ".helmignore",
    ".ignore",
    ".keep",
    ".mailmap",
    ".npmignore",
    ".rgignore",
    // Linters and formatters.
    ".ansible-lint*",
    ".babelrc*",
    ".bandit*",
    ".browserslistrc",
    ".buf*",
    ".checkov*",
    ".clang-format*",
    ".clang-tidy",
    ".clippy.toml",
    ".cmake-format*",
    ".codespell*",
    ".commitlintrc*",
    ".coveragerc",
    ".credo.exs",
    ".csslintrc",
    ".detekt*",
    ".dialyzer*",
    ".eslint*",
    ".flake8",
    ".formatter.exs",
    ".gitleaks*",
    ".golangci*",
    ".hadolint*",
    ".hlint.yaml",
    ".htmlhintrc",
    ".isort.cfg",
    ".jscpd*",
    ".jshintrc",
    ".ktlint*",
    ".lintr",
    ".luacheckrc",
    ".markdownlint*",
    ".mypy.ini",
    ".nycrc*",
    ".oxlintrc*",
    ".perlcriticrc",
    ".perltidyrc",
    ".php-cs-fixer*",
    ".phpcs*",
    ".phpstan*",
    ".prettier*",
    ".pycodestyle",
    ".pydocstyle*",
    ".pylintrc",
    ".reek*",
    ".remarkrc*",
    ".rspec",
    ".rubocop*",
    ".ruff.toml",
    ".rustfmt.toml",
    ".scalafix.conf",
    ".scalafmt.conf",
    ".semgrep*",
    ".shellcheckrc",
    ".solhint*",
    ".spectral*",
    ".sqlfluff*",
    ".standard*",
    ".stylelint*",
    ".stylua.toml",
    ".swift-format",
    ".swift-version",
    ".swiftlint*",
    ".tflint*",
    ".trivyignore*",
    ".vale*",
    ".yamllint*",
    // Builds and versions of tools. A linter that builds the project runs its code in any case.
    ".bazel*",
    ".cargo",
    ".config",
    ".go-version",
    ".java-version",
    ".mvn",
    ".node-version",
    ".nvmrc",
    ".pnp.*",
    ".python-version",
    ".ruby-version",
    ".sqlx",
    ".storybook",
    ".swcrc",
    ".terraform-version",
    ".terraform.lock.hcl",
    ".tool-versions",
    ".yarn",
    ".yarnrc.yml",
    // What runs on servers.
    ".circleci",
    ".drone.yml",
    ".forgejo",
    ".gitea",
    ".github",
    ".gitlab",
    ".gitlab-ci*",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".woodpecker*",
];

/// Endings of names that show which settings exist, without their values.
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dist"];

/// Tells whether a file is hidden, by its own name or that of a directory above it, and not known to
/// be harmless.
pub(super) fn is_unknown_dot_file(path: &str) -> bool {
    path.split('/').any(is_unknown)
}

fn is_unknown(part: &str) -> bool {
    let name = folded(part);
    if !name.starts_with('.') {
        return false;
    }
    let is_known = KNOWN.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    });
    let ending = name.rsplit('.').next().unwrap_or_default();
    !is_known && !EXAMPLES.contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_files_are_known_or_not() {
        let rows = [
            ("src/main.rs", false),
            (".gitignore", false),
            ("web/.eslintrc.json", false),
            (".github/workflows/ci.yml", false),
            (".github/scripts/a.py", false),
            (".cargo/config.toml", false),
            (".env.example", false),
            (".newagent/plugin.js", true),
            ("a/.newagentrc", true),
            (".github/.newagent/a", true),
            (".NewAgent/a", true),
            ("\u{200b}.newagent", true),
            (".husky/pre-commit", true),
        ];
        for (path, expected) in rows {
            assert_eq!(is_unknown_dot_file(path), expected, "{path}");
        }
    }

    #[test]
    fn no_known_name_belongs_to_an_agent_program() {
        for known in KNOWN {
            let name = known.trim_end_matches('*');
            assert!(!super::super::agent_names::speaks_to_agents(name), "{name}");
        }
    }
}
