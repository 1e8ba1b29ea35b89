//! Lists the rule files, so that adding one is enough to embed it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("rules");
    println!("cargo::rerun-if-changed=rules");
    let mut list = String::from("static RULE_FILES: &[RuleFile] = &[\n");
    for folder in sorted(&root)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in sorted(&folder)? {
            if file.extension().is_some_and(|ending| ending == "yml") {
                let _ = writeln!(
                    list,
                    "RuleFile {{ domain: {:?}, name: {:?}, text: include_str!({:?}) }},",
                    folder.file_name().unwrap_or_default(),
                    file.file_stem().unwrap_or_default(),
                    file,
                );
            }
        }
    }
    list.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("rules.rs"), list)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
