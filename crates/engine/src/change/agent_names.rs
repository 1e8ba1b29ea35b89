//! Files with which a repository speaks to coding agents.

/// Files with which a repository speaks to coding agents, or settings of theirs.
const AGENT_NAMES: [&str; 15] = [
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "gemini.md",
    "qwen.md",
    ".clinerules",
    ".goosehints",
    ".junie",
    ".kiro",
    ".mcp.json",
    ".qwen",
    ".roo",
    ".roomodes",
];

/// The same, told by how the name begins.
const AGENT_PREFIXES: [&str; 9] = [
    ".aider",
    ".claude",
    ".codex",
    ".continue",
    ".cursor",
    ".gemini",
    ".opencode",
    ".windsurf",
    "opencode.json",
];

/// The same, where the place matters.
const AGENT_PATHS: [&str; 4] = [
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".github/prompts",
    ".github/chatmodes",
];

/// Tells whether a file is one with which a repository speaks to coding agents.
pub(crate) fn speaks_to_agents(path: &str) -> bool {
    let path = path.to_lowercase();
    let by_part = path.split('/').any(|part| {
        AGENT_NAMES.contains(&part) || AGENT_PREFIXES.iter().any(|start| part.starts_with(start))
    });
    by_part
        || AGENT_PATHS.iter().any(|place| {
            let inside = format!("/{path}/");
            inside.contains(&format!("/{place}/"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_to_agents_is_known_at_any_depth() {
        let yes = [
            "CLAUDE.md",
            "a/b/agents.MD",
            ".claude/settings.json",
            "x/.cursorrules",
            ".cursor/rules/a.mdc",
            "opencode.jsonc",
            ".github/copilot-instructions.md",
            "sub/.github/instructions/a.md",
            ".aider.conf.yml",
            ".mcp.json",
        ];
        let no = [
            "docs/claude.md.txt",
            "src/agents.rs",
            ".github/workflows/ci.yml",
            "gemini.rs",
        ];
        let wrong: Vec<_> = yes.iter().filter(|path| !speaks_to_agents(path)).collect();
        assert_eq!(wrong, Vec::<&&str>::new());
        let wrong: Vec<_> = no.iter().filter(|path| speaks_to_agents(path)).collect();
        assert_eq!(wrong, Vec::<&&str>::new());
    }
}
