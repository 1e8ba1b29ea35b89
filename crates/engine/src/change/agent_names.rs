//! Files with which a repository speaks to coding agents, or sets them up: one table for all programs.

/// What one agent program reads in a repository, by its documentation at one version.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "what a row is for is read by people and tests")
)]
struct AgentProgram {
    /// The program.
    name: &'static str,
    /// Its package in `tests/agents/package.json`, with the version that the row was made for and is
    /// tested with. Programs that the tests do not drive have none.
    pinned: Option<(&'static str, &'static str)>,
    /// Files and directories that only tell it something, and start nothing.
    instructions: &'static [&'static str],
    /// Files and directories that set it up: settings, plugins, hooks, tools, skills, commands.
    settings: &'static [&'static str],
}

/// The table. A name stands for a file or a directory at any depth; with a slash it stands for that
/// sequence of names, with a star at its end for all names that begin so. Names are in lower case.
const PROGRAMS: &[AgentProgram] = &[
    AgentProgram {
        name: "Claude Code",
        pinned: Some(("@anthropic-ai/claude-code", "2.1.325")),
        instructions: &["claude.md", "claude.local.md"],
        settings: &[".claude*", ".mcp.json", ".worktreeinclude"],
    },
    AgentProgram {
        name: "Codex",
        pinned: Some(("@openai/codex", "0.166.0")),
        instructions: &["agents.md", "agents.override.md"],
        settings: &[".codex*", ".agents"],
    },
    AgentProgram {
        name: "Gemini CLI",
        pinned: Some(("@google/gemini-cli", "0.61.0")),
        instructions: &["gemini.md", "agents.md"],
        settings: &[".gemini*", ".agents", "gemini-extension.json"],
    },
    AgentProgram {
        name: "opencode",
        pinned: Some(("opencode-ai", "1.18.33")),
        instructions: &["agents.md", "claude.md", "context.md"],
        settings: &[".opencode*", "opencode.json*", ".claude*", ".agents"],
    },
    AgentProgram {
        name: "Aider",
        pinned: None,
        instructions: &[],
        settings: &[".aider*"],
    },
    AgentProgram {
        name: "Amazon Q and Kiro",
        pinned: None,
        instructions: &[],
        settings: &[".amazonq", ".kiro"],
    },
    AgentProgram {
        name: "Amp",
        pinned: None,
        instructions: &["agent.md", "agents.md"],
        settings: &[".amp"],
    },
    AgentProgram {
        name: "Augment",
        pinned: None,
        instructions: &[],
        settings: &[".augment*"],
    },
    AgentProgram {
        name: "Cline, Roo Code and Kilo Code",
        pinned: None,
        instructions: &[".clinerules"],
        settings: &[".cline", ".roo*", ".kilocode*", ".kilo"],
    },
    AgentProgram {
        name: "Continue",
        pinned: None,
        instructions: &[],
        settings: &[".continue*"],
    },
    AgentProgram {
        name: "Copilot",
        pinned: None,
        instructions: &[".github/copilot-instructions.md", ".github/instructions"],
        settings: &[
            ".copilot*",
            ".github/agents",
            ".github/chatmodes",
            ".github/copilot",
            ".github/hooks",
            ".github/prompts",
            ".github/skills",
        ],
    },
    AgentProgram {
        name: "Crush",
        pinned: None,
        instructions: &["crush.md", "crush.local.md"],
        settings: &[".crush*", "crush.json"],
    },
    AgentProgram {
        name: "Cursor",
        pinned: None,
        instructions: &[".cursorrules"],
        settings: &[".cursor*"],
    },
    AgentProgram {
        name: "Factory",
        pinned: None,
        instructions: &[],
        settings: &[".factory", ".droid"],
    },
    AgentProgram {
        name: "Goose",
        pinned: None,
        instructions: &[".goosehints"],
        settings: &[".goose*"],
    },
    AgentProgram {
        name: "Junie",
        pinned: None,
        instructions: &[],
        settings: &[".junie", ".aiassistant", ".aiignore"],
    },
    AgentProgram {
        name: "OpenHands",
        pinned: None,
        instructions: &[".openhands_instructions"],
        settings: &[".openhands*"],
    },
    AgentProgram {
        name: "Qwen Code",
        pinned: None,
        instructions: &["qwen.md"],
        settings: &[".qwen*"],
    },
    AgentProgram {
        name: "Trae",
        pinned: None,
        instructions: &[],
        settings: &[".trae*"],
    },
    AgentProgram {
        name: "Warp",
        pinned: None,
        instructions: &["warp.md"],
        settings: &[".warp"],
    },
    AgentProgram {
        name: "Windsurf",
        pinned: None,
        instructions: &[".windsurfrules"],
        settings: &[".windsurf*", ".codeium*"],
    },
    AgentProgram {
        name: "Zed",
        pinned: None,
        instructions: &[".rules"],
        settings: &[".zed"],
    },
    AgentProgram {
        name: "others",
        pinned: None,
        instructions: &[
            "agents.local.md",
            "copilot.md",
            "codex.md",
            "iflow.md",
            "replit.md",
        ],
        settings: &[
            ".agent",
            ".ai",
            ".airules",
            ".codebuddy",
            ".devin",
            ".firebender*",
            ".forge",
            ".idx",
            ".iflow",
            ".lingma",
            ".mcp",
            ".mux",
            ".pi",
            ".plandex*",
            ".qoder*",
            ".qodo*",
            ".rovodev*",
            ".ruler",
            ".serena",
            ".tabnine*",
            ".vibe",
            ".void*",
            ".zencoder",
            "mcp.json",
        ],
    },
    // Editors and shells run what stands there when somebody enters the directory.
    AgentProgram {
        name: "editors and shells",
        pinned: None,
        instructions: &[],
        settings: &[".envrc", ".vscode"],
    },
];

/// What a file is to coding agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentFile {
    /// It tells them something, and starts nothing.
    Instructs,
    /// It sets them up, and may start programs.
    Configures,
}

/// Returns what a file is to coding agents; nothing when it is a file like others.
pub(crate) fn agent_file(path: &str) -> Option<AgentFile> {
    let parts: Vec<String> = path.split('/').map(folded).collect();
    let is_any = |names: &[&str]| names.iter().any(|name| is_named(&parts, name));
    let instructs = PROGRAMS.iter().any(|program| is_any(program.instructions));
    if instructs && !is_below_settings(&parts) {
        return Some(AgentFile::Instructs);
    }
    let configures = PROGRAMS.iter().any(|program| is_any(program.settings));
    configures.then_some(AgentFile::Configures)
}

/// Tells whether a file is one with which a repository speaks to coding agents.
pub(crate) fn speaks_to_agents(path: &str) -> bool {
    agent_file(path).is_some()
}

/// Tells whether a directory on the way to a file belongs to the settings of a program.
fn is_below_settings(parts: &[String]) -> bool {
    let folders = parts.split_last().map_or(&[][..], |(_, folders)| folders);
    PROGRAMS
        .iter()
        .flat_map(|program| program.settings)
        .any(|name| is_named(folders, name))
}

/// Tells whether the parts of a path hold what a row of the table names.
fn is_named(parts: &[String], name: &str) -> bool {
    let wanted: Vec<&str> = name.split('/').collect();
    parts.windows(wanted.len()).any(|some| {
        some.iter()
            .zip(&wanted)
            .all(|(part, wanted)| match wanted.strip_suffix('*') {
                Some(start) => part.starts_with(start),
                None => part == wanted,
            })
    })
}

/// Returns a name as the most careless file system sees it: whatever the case, without signs that
/// nobody sees, and without dots and spaces at its end.
pub(crate) fn folded(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_unseen(*c));
    // Twice, because `ſ` and the sign for Kelvin have a partner in ASCII only on this way.
    let upper: String = seen.flat_map(char::to_uppercase).collect();
    let lower: String = upper.chars().flat_map(char::to_lowercase).collect();
    lower.trim_end_matches(['.', ' ']).to_owned()
}

/// Tells whether file systems or people pass over a sign.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_speaks_to_agents_is_known_at_any_depth() {
        use AgentFile::{Configures, Instructs};
        let rows = [
            ("CLAUDE.md", Some(Instructs)),
            ("a/b/agents.MD", Some(Instructs)),
            ("Claude.Local.md", Some(Instructs)),
            (".claude/CLAUDE.md", Some(Configures)),
            (".claude/settings.json", Some(Configures)),
            (".claude-plugin/plugin.json", Some(Configures)),
            ("x/.cursorrules", Some(Instructs)),
            (".cursor/rules/a.mdc", Some(Configures)),
            ("opencode.jsonc", Some(Configures)),
            (".opencode/plugins/e.js", Some(Configures)),
            (".agents/skills/x/SKILL.md", Some(Configures)),
            (".github/copilot-instructions.md", Some(Instructs)),
            ("sub/.github/instructions/a.md", Some(Instructs)),
            (".github/agents/a.md", Some(Configures)),
            (".github/skills/a/SKILL.md", Some(Configures)),
            (".aider.conf.yml", Some(Configures)),
            (".mcp.json", Some(Configures)),
            (".vscode/mcp.json", Some(Configures)),
            (".envrc", Some(Configures)),
            ("CRUSH.md", Some(Instructs)),
            (".crush.json", Some(Configures)),
            ("WARP.md", Some(Instructs)),
            (".rules", Some(Instructs)),
            (".trae/rules/x.md", Some(Configures)),
            (".amazonq/rules/x.md", Some(Configures)),
            (".augment-guidelines", Some(Configures)),
            (".kilocodemodes", Some(Configures)),
            (".openhands/microagents/repo.md", Some(Configures)),
            (".factory/droids/x.md", Some(Configures)),
            // The same on file systems that see less than others.
            ("AGENTS.md.", Some(Instructs)),
            ("AGENTS.md ", Some(Instructs)),
            ("AGENT\u{17f}.md", Some(Instructs)),
            ("AGENTS\u{200c}.md", Some(Instructs)),
            (".\u{212a}iro/steering/x.md", Some(Configures)),
            (".CLAUDE./settings.json", Some(Configures)),
            ("docs/claude.md.txt", None),
            ("src/agents.rs", None),
            ("src/agents/mod.rs", None),
            (".github/workflows/ci.yml", None),
            ("agents/readme.md", None),
            ("gemini.rs", None),
            ("rules/a.md", None),
        ];
        for (path, expected) in rows {
            assert_eq!(agent_file(path), expected, "{path}");
        }
    }

    #[test]
    fn the_table_is_for_the_versions_that_are_tested() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/package.json");
        let text = std::fs::read_to_string(file).unwrap();
        let package: serde_json::Value = serde_json::from_str(&text).unwrap();
        let pinned = package["dependencies"].as_object().unwrap();
        let rows: Vec<_> = PROGRAMS.iter().filter_map(|row| row.pinned).collect();
        for (name, version) in &rows {
            assert_eq!(
                pinned.get(*name).and_then(|version| version.as_str()),
                Some(*version),
                "{name}: look at its documentation, then write the new version into the table"
            );
        }
        assert_eq!(rows.len(), pinned.len(), "a program has no row");
    }

    #[test]
    fn names_in_the_table_are_as_they_are_compared() {
        for program in PROGRAMS {
            for name in program.instructions.iter().chain(program.settings) {
                let plain = name.trim_end_matches('*');
                let parts: Vec<String> = plain.split('/').map(folded).collect();
                assert_eq!(parts.join("/"), plain, "{}", program.name);
            }
        }
    }
}
