//! One small file for each language of the built-in rules: with a blocking defect, and without.

/// A file in one language; `MARKER` is the line above the defect.
pub(crate) struct PlantedDefect {
    pub(crate) language: &'static str,
    pub(crate) path: &'static str,
    pub(crate) rule: &'static str,
    comment: &'static str,
    before: &'static str,
    defect: &'static str,
    mended: &'static str,
    after: &'static str,
}

impl PlantedDefect {
    /// Returns the file with the defect.
    pub(crate) fn broken(&self) -> String {
        format!("{}{}\n{}", self.before, self.defect, self.after)
    }

    /// Returns the file without the defect.
    pub(crate) fn clean(&self) -> String {
        format!("{}{}\n{}", self.before, self.mended, self.after)
    }

    /// Returns the file with the defect and a comment above it.
    pub(crate) fn broken_below(&self, comment: &str) -> String {
        format!(
            "{}    {} {comment}\n{}\n{}",
            self.before, self.comment, self.defect, self.after
        )
    }

    /// Returns the file with the defect and a comment at the end of its line.
    pub(crate) fn broken_beside(&self, comment: &str) -> String {
        format!(
            "{}{}  {} {comment}\n{}",
            self.before, self.defect, self.comment, self.after
        )
    }

    /// Returns the file with the defect and a comment in its first line.
    pub(crate) fn broken_under_heading(&self, comment: &str) -> String {
        format!("{} {comment}\n{}", self.comment, self.broken())
    }
}

pub(crate) const PLANTED_DEFECTS: &[PlantedDefect] = &[
    PlantedDefect {
        language: "Python",
        path: "src/run.py",
        rule: "python-eval",
        comment: "#",
        before: "def run(text):\n",
        defect: "    return eval(text)",
        mended: "    return int(text)",
        after: "",
    },
    PlantedDefect {
        language: "JavaScript",
        path: "src/run.js",
        rule: "javascript-eval",
        comment: "//",
        before: "export function run(text) {\n",
        defect: "    return eval(text);",
        mended: "    return Number(text);",
        after: "}\n",
    },
    PlantedDefect {
        language: "TypeScript",
        path: "src/run.ts",
        rule: "javascript-eval",
        comment: "//",
        before: "export function run(text: string): unknown {\n",
        defect: "    return eval(text);",
        mended: "    return Number(text);",
        after: "}\n",
    },
    PlantedDefect {
        language: "Go",
        path: "cmd/run.go",
        rule: "go-shell-command",
        comment: "//",
        before: "package cmd\n\nimport \"os/exec\"\n\nfunc Run(dir string) error {\n",
        defect: "    return exec.Command(\"sh\", \"-c\", \"ls \"+dir).Run()",
        mended: "    return exec.Command(\"ls\", dir).Run()",
        after: "}\n",
    },
    PlantedDefect {
        language: "Java",
        path: "src/Ping.java",
        rule: "java-shell-command",
        comment: "//",
        before: "class Ping {\n    void run(String host) throws Exception {\n",
        defect: "        Runtime.getRuntime().exec(\"ping \" + host);",
        mended: "        new ProcessBuilder(\"ping\", host).start();",
        after: "    }\n}\n",
    },
    PlantedDefect {
        language: "C",
        path: "src/read.c",
        rule: "c-unbounded-input",
        comment: "//",
        before: "#include <stdio.h>\n\nvoid read_name(char *name) {\n",
        defect: "    scanf(\"%s\", name);",
        mended: "    scanf(\"%63s\", name);",
        after: "}\n",
    },
    PlantedDefect {
        language: "C++",
        path: "src/read.cpp",
        rule: "c-unbounded-input",
        comment: "//",
        before: "#include <cstdio>\n\nvoid read_name(char *name) {\n",
        defect: "    scanf(\"%s\", name);",
        mended: "    scanf(\"%63s\", name);",
        after: "}\n",
    },
    PlantedDefect {
        language: "Rust",
        path: "src/run.rs",
        rule: "rust-shell-command",
        comment: "//",
        before: "use std::process::Command;\n\npub fn run(dir: &str) -> std::io::Result<std::process::ExitStatus> {\n",
        defect: "    Command::new(\"sh\").arg(\"-c\").arg(format!(\"ls {dir}\")).status()",
        mended: "    Command::new(\"ls\").arg(dir).status()",
        after: "}\n",
    },
];
