//! Prompts among the files of their runs. They are most of what a ledger takes up, so long ones are
//! deflated.

use std::fs;
use std::io;
use std::path::Path;

use super::squeeze::{deflate, inflate};
use crate::files;

/// Name of a prompt.
pub(crate) const PROMPT_FILE: &str = "prompt.md";

/// Name of a prompt that is deflated.
pub(crate) const DEFLATED_FILE: &str = "prompt.md.z";

/// Shorter prompts take up a few blocks at most, and people may want to look at them.
const LONG: usize = 16 << 10;

/// Writes the prompt of a run into its directory.
pub(crate) fn write_prompt(run_dir: &Path, prompt: &str) -> io::Result<()> {
    let plain = run_dir.join(PROMPT_FILE);
    // Where it lies already as it is, a second form would be one too many.
    match prompt.len() < LONG || plain.exists() {
        true => files::write_in_place(&plain, prompt.as_bytes()),
        false => files::write_in_place(&run_dir.join(DEFLATED_FILE), &deflate(prompt.as_bytes())?),
    }
}

/// Returns the prompt that lies deflated in the directory of a run.
pub(crate) fn read_deflated(run_dir: &Path) -> io::Result<Vec<u8>> {
    inflate(&fs::read(run_dir.join(DEFLATED_FILE))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_prompts_are_deflated_and_short_ones_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        write_prompt(folder.path(), "short").expect("written");
        assert_eq!(
            fs::read(folder.path().join(PROMPT_FILE)).expect("a file"),
            b"short"
        );
        assert!(read_deflated(folder.path()).is_err());

        let folder = tempfile::tempdir().expect("a folder");
        let long = "a line of a long prompt\n".repeat(2_000);
        write_prompt(folder.path(), &long).expect("written");
        assert!(!folder.path().join(PROMPT_FILE).exists());
        assert_eq!(
            read_deflated(folder.path()).expect("a prompt"),
            long.as_bytes()
        );
        let size = fs::metadata(folder.path().join(DEFLATED_FILE))
            .expect("a file")
            .len();
        assert!(size < 4_096, "{size}");
    }
}
