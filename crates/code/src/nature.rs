//! What a file is, by its name and its first lines: code, configuration, prose or data.
//!
//! The name decides where it is a known one. Where it is not, the text decides, and whatever may
//! be code is code: nobody may get a program past the gate by calling it `notes`.

#[cfg(test)]
mod tests;

use crate::language::Language;

/// What a text file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Code of a language with a grammar in this build.
    Code(Language),
    /// Configuration, a script or a schema that the built-in readers understand.
    Config(Format),
    /// Text for people.
    Prose,
    /// Tables, records and recorded outputs.
    Data,
    /// Code that no built-in reader understands, or text that may be code.
    OtherCode,
}

/// The formats of configuration and scripts that have a built-in reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Build descriptions: Gradle, `CMake`, Bazel, Nix, Meson, just.
    Build,
    /// Style sheets.
    Css,
    /// Container descriptions.
    Dockerfile,
    /// Web pages.
    Html,
    /// JSON in all its dialects.
    Json,
    /// Make.
    Makefile,
    /// Interface descriptions: protobuf, GraphQL, Thrift.
    Schema,
    /// Lines of settings: INI, properties, ignore files and other dotfiles.
    Settings,
    /// Shell scripts.
    Shell,
    /// SQL.
    Sql,
    /// Text with holes, such as Jinja or Mustache.
    Template,
    /// Terraform and other HCL.
    Terraform,
    /// TOML.
    Toml,
    /// XML in all its dialects.
    Xml,
    /// YAML.
    Yaml,
}

impl Nature {
    /// Returns what the file at `path` with this text is.
    #[must_use]
    pub fn of(path: &str, text: &str) -> Self {
        let by_name = Self::by_name(path);
        match (by_name, by_shebang(text)) {
            // A script stays one, whatever its name promises.
            (Some(Self::Prose | Self::Data) | None, Some(script)) => script,
            (Some(Self::Config(format)), Some(script)) if is_beaten_by(format, script) => script,
            (Some(Self::OtherCode), _) if is_notebook_without_code(path, text) => Self::Data,
            (Some(_), None) if holds_program(path, text) => Self::OtherCode,
            (Some(nature), _) => nature,
            (None, None) if is_manual_page(path, text) => Self::Prose,
            (None, None) if is_completion(text) => Self::Config(Format::Shell),
            (None, None) => {
                by_place(path)
                    .or_else(|| by_form(text))
                    .unwrap_or(match is_surely_no_code(text) {
                        true => Self::Data,
                        false => Self::OtherCode,
                    })
            }
        }
    }

    /// Tells whether the built-in reviewers have rules for it, so that it counts as read.
    #[must_use]
    pub fn has_reader(self) -> bool {
        matches!(self, Self::Code(_) | Self::Config(_))
    }

    /// Tells whether nobody looks for defects of code in it.
    #[must_use]
    pub fn is_prose_or_data(self) -> bool {
        matches!(self, Self::Prose | Self::Data)
    }

    fn by_name(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let lower = name.to_ascii_lowercase();
        if let Some(language) = Language::from_extension(path) {
            let known = language.is_available().then_some(Self::Code(language));
            return Some(known.unwrap_or(Self::OtherCode));
        }
        if lower.ends_with(".gradle.kts") || lower.ends_with(".h.in") {
            return Some(Self::Config(Format::Build));
        }
        if matches!(lower.rsplit('.').next(), Some("patch" | "diff")) {
            // What lies in a folder of patches is applied to code.
            let is_applied = path.split('/').any(|folder| folder == "patches");
            return Some(if is_applied {
                Self::OtherCode
            } else {
                Self::Data
            });
        }
        let is_requirements = path.contains("requirements") && lower.ends_with(".in");
        if is_requirements {
            return Some(Self::Config(Format::Settings));
        }
        if let Some(format) = format_of_name(&lower) {
            return Some(Self::Config(format));
        }
        let ending = lower.rsplit_once('.').map_or("", |(_, ending)| ending);
        if let Some(format) = format_of_ending(ending) {
            return Some(Self::Config(format));
        }
        if CODE.contains(&ending) || CODE_NAMES.contains(&lower.as_str()) {
            return Some(Self::OtherCode);
        }
        if PROSE.contains(&ending) || is_prose_name(&lower) {
            return Some(Self::Prose);
        }
        if DATA.contains(&ending) {
            return Some(Self::Data);
        }
        // `config.yml.example` is YAML, `setup.py.in` is a program.
        let inner = lower
            .rsplit_once('.')
            .filter(|(_, ending)| SHELLS.contains(ending));
        match Self::by_name(inner?.0)? {
            Self::Code(_) => Some(Self::OtherCode),
            nature => Some(nature),
        }
    }
}

/// Endings around another ending.
const SHELLS: [&str; 7] = [
    "default", "dist", "example", "in", "orig", "sample", "template",
];

/// Endings of programming languages without a grammar here.
const CODE: &[&str] = &[
    "4th",
    "abap",
    "ada",
    "adb",
    "ads",
    "applescript",
    "asm",
    "awk",
    "bas",
    "bat",
    "bsl",
    "cbl",
    "clj",
    "cljs",
    "cmd",
    "cob",
    "cobol",
    "coffee",
    "comp",
    "cpy",
    "cr",
    "cs",
    "cshtml",
    "csx",
    "cu",
    "cyp",
    "cypher",
    "d",
    "dart",
    "ejs",
    "el",
    "elm",
    "erb",
    "erl",
    "ex",
    "exp",
    "expect",
    "exs",
    "f",
    "f03",
    "f77",
    "f90",
    "f95",
    "for",
    "forth",
    "frag",
    "fs",
    "fth",
    "gd",
    "gemspec",
    "glsl",
    "groovy",
    "haml",
    "hlsl",
    "hrl",
    "hs",
    "hx",
    "idr",
    "ipynb",
    "jl",
    "jsp",
    "kt",
    "kts",
    "lisp",
    "lsp",
    "lua",
    "m",
    "metal",
    "ml",
    "mli",
    "mm",
    "mumps",
    "nim",
    "odin",
    "pas",
    "pde",
    "php",
    "phtml",
    "pl",
    "pli",
    "plx",
    "pm",
    "podspec",
    "pony",
    "prolog",
    "ps",
    "ps1",
    "psm1",
    "pth",
    "purs",
    "r",
    "rake",
    "raku",
    "razor",
    "rb",
    "rego",
    "rex",
    "rexx",
    "rkt",
    "ru",
    "s",
    "scala",
    "scm",
    "sed",
    "sol",
    "sv",
    "svelte",
    "swift",
    "tcl",
    "vala",
    "vb",
    "vbs",
    "vert",
    "vhd",
    "vhdl",
    "vim",
    "vue",
    "wgsl",
    "wsf",
    "xq",
    "xquery",
    "zig",
];

/// Names of programs in such languages.
const CODE_NAMES: &[&str] = &[
    "authorized_keys",
    "authorized_keys2",
    "brewfile",
    "dangerfile",
    "fastfile",
    "gemfile",
    "guardfile",
    "podfile",
    "rakefile",
    "vagrantfile",
    "jakefile",
];

const PROSE: [&str; 23] = [
    "md", "markdown", "mdown", "mkd", "rst", "txt", "text", "adoc", "asciidoc", "org", "tex",
    "textile", "rdoc", "wiki", "bib", "pod", "po", "pot", "license", "news", "rtf", "help", "typ",
];

const DATA: [&str; 40] = [
    "csv", "tsv", "jsonl", "ndjson", "geojson", "log", "snap", "out", "output", "golden",
    "approved", "expected", "actual", "stdout", "stderr", "dat", "map", "ics", "vcf", "srt", "vtt",
    "gpx", "kml", "pub", "crt", "cer", "csr", "pem", "asc", "sig", "puml", "plantuml", "dot", "gv",
    "mmd", "fasta", "fa", "ttl", "fnt", "edn",
];

fn is_prose_name(lower: &str) -> bool {
    let stem = lower.split(['.', '-', '_']).next().unwrap_or_default();
    let named = matches!(
        stem,
        "license"
            | "licence"
            | "copying"
            | "notice"
            | "authors"
            | "contributors"
            | "maintainers"
            | "changelog"
            | "changes"
            | "history"
            | "news"
            | "readme"
            | "todo"
            | "thanks"
            | "credits"
            | "patents"
            | "unlicense"
    );
    // Instructions for agents are words, however many there are.
    let instructs = matches!(
        lower,
        ".cursorrules" | ".windsurfrules" | ".clinerules" | ".goosehints"
    );
    // `readme.md` has an ending of its own; these have none.
    instructs || named && !lower.contains('.')
}

fn format_of_name(lower: &str) -> Option<Format> {
    let is_dotfile = lower.starts_with('.');
    match lower {
        "dockerfile" | "containerfile" => Some(Format::Dockerfile),
        "makefile" | "gnumakefile" | "makefile.am" | "makefile.in" | "kbuild" => {
            Some(Format::Makefile)
        }
        "cmakelists.txt" | "meson.build" | "meson_options.txt" | "meson.options" | "build"
        | "workspace" | "justfile" | ".justfile" | "jenkinsfile" | "flake.nix" | "tiltfile" => {
            Some(Format::Build)
        }
        ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".bash_aliases" | ".envrc"
        | "pkgbuild" | "apkbuild" => Some(Format::Shell),
        ".babelrc"
        | ".eslintrc"
        | ".prettierrc"
        | ".stylelintrc"
        | ".swcrc"
        | "composer.lock"
        | ".all-contributorsrc"
        | ".jshintrc"
        | ".mocharc"
        | ".nycrc"
        | ".c8rc" => Some(Format::Json),
        "go.mod" | "go.work" | "codeowners" | "procfile" | "pipfile" | "cname" | "manifest.in"
        | "py.typed" | ".env.example" | ".env.sample" | ".env.template" | ".env.dist"
        | "robots.txt" | "caddyfile" | "manifest.mf" | "doxyfile" | ".sqlfluff" | ".rspec"
        | "pom.properties" | "owners" | "_redirects" | "_headers" => Some(Format::Settings),
        "cargo.lock" => Some(Format::Toml),
        ".clang-format" | ".clang-tidy" | ".clangd" | ".yamllint" => Some(Format::Yaml),
        _ if lower.starts_with("dockerfile.") || lower.starts_with("containerfile.") => {
            Some(Format::Dockerfile)
        }
        _ if lower.starts_with("makefile.") => Some(Format::Makefile),
        _ if (lower.starts_with("requirements") || lower.starts_with("constraints"))
            && lower.ends_with(".txt") =>
        {
            Some(Format::Settings)
        }
        _ if is_dotfile && !lower[1..].contains('.') => {
            let known = lower.ends_with("ignore")
                || lower.ends_with("rc")
                || lower.ends_with("-version")
                || lower.ends_with("keep")
                || matches!(
                    lower,
                    ".gitattributes"
                        | ".gitmodules"
                        | ".mailmap"
                        | ".editorconfig"
                        | ".tool-versions"
                        | ".flake8"
                        | ".gitconfig"
                        | ".dockerfile"
                        | ".htaccess"
                        | ".nojekyll"
                        | ".browserslistrc"
                        | ".git-blame-ignore-revs"
                        | ".typos"
                        | ".buildinfo"
                );
            known.then_some(Format::Settings)
        }
        _ => None,
    }
}

fn format_of_ending(ending: &str) -> Option<Format> {
    Some(match ending {
        "yml" | "yaml" | "cff" | "dvc" | "prefab" | "unity" | "neon" => Format::Yaml,
        "json" | "jsonc" | "json5" | "webmanifest" | "arb" | "code-workspace" | "avsc" | "har"
        | "gltf" | "excalidraw" | "jsonld" | "topojson" | "sublime-project" => Format::Json,
        "toml" => Format::Toml,
        "xml" | "xsd" | "xsl" | "xslt" | "svg" | "plist" | "csproj" | "vcxproj" | "vcproj"
        | "fsproj" | "vbproj" | "props" | "targets" | "resx" | "nuspec" | "pom" | "wsdl"
        | "xib" | "storyboard" | "iml" | "rss" | "xaml" | "config" | "drawio" | "fxml" | "xlf"
        | "xliff" | "xhtml" | "natvis" | "natstepfilter" | "dotsettings" | "runsettings"
        | "ruleset" | "slnx" | "vsixmanifest" | "manifest" | "rels" | "csl" | "opf" | "ncx"
        | "xcscheme" | "xcworkspacedata" | "edmx" | "jmx" | "ui" | "entitlements" | "tmx"
        | "rdf" | "owl" => Format::Xml,
        "html" | "htm" | "mdx" => Format::Html,
        "css" | "scss" | "sass" | "less" | "styl" | "pcss" => Format::Css,
        "sql" | "psql" | "pgsql" | "ddl" => Format::Sql,
        "sh" | "bash" | "zsh" | "ksh" | "fish" | "bats" | "ebuild" | "command" => Format::Shell,
        "dockerfile" | "containerfile" => Format::Dockerfile,
        "mk" | "mak" | "make" => Format::Makefile,
        "ini" | "cfg" | "conf" | "properties" | "editorconfig" | "desktop" | "service"
        | "timer" | "socket" | "env-example" | "gitignore" | "dockerignore" | "pc" | "spec"
        | "rules" | "cnf" | "sln" | "filters" | "mod" | "types" | "lock" | "sum" | "list"
        | "strings" | "xcconfig" | "opam" | "godot" | "tscn" | "tres" | "import" | "pbxproj" => {
            Format::Settings
        }
        "proto" | "graphql" | "graphqls" | "gql" | "thrift" | "prisma" | "fbs" | "capnp"
        | "xdr" => Format::Schema,
        "tf" | "tfvars" | "hcl" | "nomad" => Format::Terraform,
        "gradle" | "cmake" | "bzl" | "bazel" | "star" | "nix" | "bp" | "gn" | "gni" | "just"
        | "pri" | "pro" | "ac" | "m4" | "am" | "sbt" | "ninja" => Format::Build,
        "j2" | "jinja" | "jinja2" | "mustache" | "hbs" | "handlebars" | "tmpl" | "tpl"
        | "liquid" | "njk" | "gohtml" | "ftl" | "gotmpl" | "twig" => Format::Template,
        _ => return None,
    })
}

/// Tells whether a first line that names a program says more than the format that the name promises.
/// Lists of work in YAML may name the program that carries them out, and stay YAML.
fn is_beaten_by(format: Format, script: Nature) -> bool {
    match format {
        Format::Json | Format::Settings | Format::Toml => true,
        Format::Yaml => matches!(script, Nature::Code(_) | Nature::Config(Format::Shell)),
        _ => false,
    }
}

/// Directories whose files the shell reads, unless their first line names another program: hooks, and
/// what the system runs from time to time.
const HOOK_FOLDERS: [&str; 14] = [
    ".git-hooks",
    ".githooks",
    ".husky",
    "cron.d",
    "cron.daily",
    "cron.hourly",
    "cron.monthly",
    "cron.weekly",
    "git-hooks",
    "githooks",
    "hooks",
    "init.d",
    "profile.d",
    "rc.d",
];

/// Directories of programs in any language.
const PROGRAM_FOLDERS: [&str; 5] = ["bin", "libexec", "sbin", "script", "scripts"];

/// Names of programs that people or packages start.
const PROGRAM_NAMES: [&str; 9] = [
    "autogen",
    "bootstrap",
    "configure",
    "deploy",
    "entrypoint",
    "postinst",
    "postrm",
    "preinst",
    "prerm",
];

/// Returns what a file without an ending and without a telling first line is by the place where it lies.
fn by_place(path: &str) -> Option<Nature> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folders.rsplit('/').next().unwrap_or_default();
    if name.contains('.') {
        None
    } else if HOOK_FOLDERS.contains(&folder) || name == "crontab" {
        Some(Nature::Config(Format::Shell))
    } else if PROGRAM_FOLDERS.contains(&folder) || PROGRAM_NAMES.contains(&name) {
        Some(Nature::OtherCode)
    } else {
        None
    }
}

/// Returns what a text of an unknown name is by its form: JSON as a whole, or XML that says so and holds
/// no instruction for a program, such as `<?php`.
fn by_form(text: &str) -> Option<Nature> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----") && !text.contains("PRIVATE") {
        return Some(Nature::Data);
    }
    if text.starts_with(['{', '[']) {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        return is_json.then_some(Nature::Config(Format::Json));
    }
    let inner = text.strip_prefix("<?xml ")?;
    let is_plain = !inner.contains("<?") && !inner.contains("<%");
    is_plain.then_some(Nature::Config(Format::Xml))
}

fn by_shebang(text: &str) -> Option<Nature> {
    if !text.starts_with("#!") {
        return None;
    }
    if let Some(language) = Language::from_shebang(text) {
        let known = language.is_available().then_some(Nature::Code(language));
        return Some(known.unwrap_or(Nature::OtherCode));
    }
    let line = text.lines().next().unwrap_or_default();
    let is_make = line
        .split(['/', ' ', '\t'])
        .any(|word| matches!(word, "make" | "gmake"));
    if is_make {
        return Some(Nature::Config(Format::Makefile));
    }
    let is_shell = line.split(['/', ' ', '\t']).any(|word| {
        matches!(
            word,
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "bats"
        )
    });
    Some(match is_shell {
        true => Nature::Config(Format::Shell),
        false => Nature::OtherCode,
    })
}

/// Tells whether a text under the name of prose or settings holds a program: TeX that starts programs or
/// holds Lua, and Prolog, which shares its ending with settings of other tools.
fn holds_program(path: &str, text: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "tex" => [
            "write18",
            "\\directlua",
            "\\luaexec",
            "\\luadirect",
            "\\ShellEscape",
        ]
        .iter()
        .any(|sign| text.contains(sign)),
        "pro" => text.contains(":-"),
        _ => false,
    }
}

/// Tells whether a file is a notebook, and all of its cells are text.
fn is_notebook_without_code(path: &str, text: &str) -> bool {
    is_notebook(path) && code_cells(text).is_some_and(|cells| cells.is_empty())
}

/// Tells whether a file is a notebook, and its code is the same in both texts: only what it printed, or
/// prose, is another.
#[must_use]
pub fn has_same_cells(path: &str, before: &str, after: &str) -> bool {
    let cells = |text: &str| {
        let cells = code_cells(text).filter(|_| is_notebook(path))?;
        Some((cells, kernel_name(text)))
    };
    cells(before).is_some_and(|before| Some(before) == cells(after))
}

/// Returns which program runs a notebook: the same cells are another program to another kernel.
fn kernel_name(text: &str) -> Option<serde_json::Value> {
    let notebook: serde_json::Value = serde_json::from_str(text).ok()?;
    notebook.pointer("/metadata/kernelspec/name").cloned()
}

fn is_notebook(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".ipynb")
}

/// Returns the sources of all cells of a notebook that may be code; nothing if it is not a notebook.
fn code_cells(text: &str) -> Option<Vec<serde_json::Value>> {
    let notebook: serde_json::Value = serde_json::from_str(text).ok()?;
    let cells = notebook.get("cells")?.as_array()?.iter();
    let is_code = |cell: &&serde_json::Value| {
        let kind = cell.get("cell_type").and_then(|kind| kind.as_str());
        !matches!(kind, Some("markdown" | "raw"))
    };
    let code = cells.filter(is_code).map(|cell| {
        let mut cell = cell.clone();
        if let Some(cell) = cell.as_object_mut() {
            for written in ["execution_count", "outputs", "id", "metadata"] {
                cell.remove(written);
            }
        }
        cell
    });
    Some(code.collect())
}

/// Tells whether a text is a function that zsh loads by itself.
fn is_completion(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let word = first.split_whitespace().next().unwrap_or_default();
    matches!(word, "#compdef" | "#autoload")
}

/// Tells whether a text is a page of a manual: `tool.1`, in the language of `man`.
fn is_manual_page(path: &str, text: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_section = matches!(ending.as_bytes(), [b'1'..=b'9']);
    let first = text.lines().next().unwrap_or_default();
    is_section
        && [".\\\"", ".ig", "'\\\"", ".TH", ".Dd"]
            .iter()
            .any(|mark| first.starts_with(mark))
}

/// Tells whether a text of unknown kind has nothing that programs are written with.
///
/// A sentence too many is taken for code, and never the other way round if it can be helped.
fn is_surely_no_code(text: &str) -> bool {
    if text.len() > 1 << 20 {
        return false;
    }
    text.lines().all(|line| {
        let line = line.trim();
        let has_sign = line.contains([
            '{', '}', ';', '=', '<', '>', '$', '`', '|', '&', '\\', '[', ']', '%', '~', '^',
        ]);
        let is_call = line
            .split('(')
            .next()
            .filter(|before| before.len() < line.len())
            .is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_statement = STATEMENTS.contains(&first.to_ascii_lowercase().as_str());
        let is_list = line.starts_with(['(', '"', '\'', '.', '@', '!', '#', '-', '/', ':']);
        !has_sign && !is_call && !is_statement && !is_list && !line.ends_with([':', ',', '"', '\''])
    })
}

/// First words of statements in many languages.
const STATEMENTS: [&str; 107] = [
    "apt-get",
    "awk",
    "aws",
    "bash",
    "begin",
    "brew",
    "bundle",
    "call",
    "cargo",
    "case",
    "cat",
    "cd",
    "chmod",
    "chown",
    "class",
    "composer",
    "const",
    "cp",
    "createdb",
    "crontab",
    "curl",
    "dd",
    "def",
    "del",
    "do",
    "docker",
    "done",
    "dotnet",
    "dropdb",
    "echo",
    "else",
    "end",
    "eval",
    "exec",
    "exit",
    "export",
    "fi",
    "fn",
    "for",
    "from",
    "fun",
    "func",
    "function",
    "gcloud",
    "git",
    "go",
    "goto",
    "grep",
    "helm",
    "if",
    "import",
    "include",
    "include:",
    "kubectl",
    "let",
    "ln",
    "load",
    "local",
    "mkdir",
    "mod",
    "module",
    "mv",
    "mvn",
    "mysql",
    "nc",
    "node",
    "npm",
    "npx",
    "open",
    "package",
    "perl",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "print",
    "proc",
    "psql",
    "public",
    "puts",
    "python",
    "python3",
    "raise",
    "require",
    "return",
    "rm",
    "rsync",
    "ruby",
    "run",
    "rustup",
    "scp",
    "sed",
    "sh",
    "source",
    "ssh",
    "sub",
    "sudo",
    "system",
    "systemctl",
    "tclsh",
    "terraform",
    "use",
    "var",
    "wget",
    "xargs",
    "yarn",
];
