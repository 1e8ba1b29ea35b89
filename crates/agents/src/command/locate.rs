//! Finds the program to start.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tribunal_core::agent::ErrorClass;

use crate::AgentError;
use crate::spec::{Cli, CommandSpec};

/// Returns the program of `spec` as an absolute path, or says why there is none.
///
/// A name without a slash is looked up in `search`, the value of our `PATH`.
pub(super) fn locate(spec: &CommandSpec, search: Option<&str>) -> Result<PathBuf, AgentError> {
    let setup = |message: String| AgentError::new(ErrorClass::Setup, message);
    let Some(name) = spec.argv.first().filter(|name| !name.is_empty()) else {
        return Err(setup("No program is configured for this agent.".to_owned()));
    };
    let path = if name.contains('/') {
        // The agent works elsewhere, so a relative path would mean something else there.
        let path =
            std::path::absolute(name).map_err(|error| setup(format!("`{name}`: {error}")))?;
        check_executable(&path, name)?;
        path
    } else {
        which::which_in_global(name, search)
            .ok()
            .and_then(|mut found| found.next())
            .ok_or_else(|| setup(format!("The program `{name}` was not found in `PATH`.")))?
    };
    let launcher_alone = spec.cli == Cli::Codex && spec.argv.len() == 1;
    Ok(launcher_alone
        .then(|| native_codex(&path))
        .flatten()
        .unwrap_or(path))
}

fn check_executable(path: &Path, name: &str) -> Result<(), AgentError> {
    let problem = match path.metadata() {
        Err(_) => "was not found",
        Ok(metadata) if !metadata.is_file() => "is not a file",
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => "is not executable",
        Ok(_) => return Ok(()),
    };
    let message = format!("The program `{name}` {problem}.");
    Err(AgentError::new(ErrorClass::Setup, message))
}

/// Returns the program behind the launcher script of the npm package.
///
/// The launcher is a second process that takes longer to start and, when killed, leaves the real
/// one running.
fn native_codex(path: &Path) -> Option<PathBuf> {
    let launcher = path.canonicalize().ok()?;
    if !launcher.ends_with("@openai/codex/bin/codex.js") {
        return None;
    }
    let package = launcher.ancestors().nth(2)?;
    let (os, target) = match std::env::consts::OS {
        "linux" => ("linux", "unknown-linux-musl"),
        "macos" => ("darwin", "apple-darwin"),
        _ => return None,
    };
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    let arch = std::env::consts::ARCH;
    let binary = format!("vendor/{arch}-{target}/bin/codex");
    let sibling = format!("codex-{os}-{cpu}");
    let places = [
        package.with_file_name(&sibling),
        package.join("node_modules/@openai").join(&sibling),
        package.to_owned(),
    ];
    places
        .into_iter()
        .map(|place| place.join(&binary))
        .find(|binary| binary.is_file())
}

/// Returns a word of a command line, with size and time where it is the path of a file.
pub(super) fn stamp_of(word: &str) -> String {
    let Ok(data) = std::fs::metadata(word) else {
        return word.to_owned();
    };
    let changed = data.modified().ok();
    let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let millis = since.map_or(0, |since| since.as_millis());
    format!("{word} {} {millis}", data.len())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use crate::spec::Login;

    fn spec(cli: Cli, program: &str) -> CommandSpec {
        CommandSpec {
            cli,
            argv: vec![program.to_owned()],
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            login: Login::Isolated,
            home: PathBuf::new(),
            base_url: None,
            api_key: None,
            supervisor: PathBuf::new(),
            sandbox: Box::new(crate::sandbox::SandboxSpec::default()),
        }
    }

    #[test]
    fn missing_programs_are_named() {
        let message = |program: &str| {
            let error = locate(&spec(Cli::Custom, program), Some("/bin")).unwrap_err();
            assert_eq!(error.class, ErrorClass::Setup);
            error.message
        };
        assert_eq!(
            message("no-such-agent"),
            "The program `no-such-agent` was not found in `PATH`."
        );
        assert_eq!(
            message("/no/agent"),
            "The program `/no/agent` was not found."
        );
        assert_eq!(
            message("/etc/passwd"),
            "The program `/etc/passwd` is not executable."
        );
        assert_eq!(message("/etc"), "The program `/etc` is not a file.");
        assert!(locate(&spec(Cli::Custom, "sh"), Some("/bin")).is_ok());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn the_launcher_of_codex_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().canonicalize().unwrap().join("@openai");
        let launcher = modules.join("codex/bin/codex.js");
        let native = modules.join("codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
        for file in [&launcher, &native] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found = |cli| locate(&spec(cli, launcher.to_str().unwrap()), None).unwrap();
        assert_eq!(found(Cli::Codex), native);
        assert_eq!(found(Cli::Custom), launcher);
    }
}
