//! From paths as typed to paths from the root.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use super::ChangeError;

/// Returns typed paths as paths from `root`; an empty list means everything.
///
/// `directory` is where the user stands, without symbolic links.
pub(super) fn resolve(
    root: &Path,
    directory: &Path,
    typed: &[String],
) -> Result<Vec<String>, ChangeError> {
    let mut paths = Vec::with_capacity(typed.len());
    for text in typed {
        let outside = || ChangeError::PathOutside {
            path: text.clone(),
            root: root.to_owned(),
        };
        let path = normalize(&directory.join(text)).ok_or_else(outside)?;
        // An absolute path may lead to the root by way of a symbolic link.
        let inner = match path.strip_prefix(root) {
            Ok(inner) => inner.to_owned(),
            Err(_) => {
                let real = path.canonicalize().map_err(|_| outside())?;
                let inner = real.strip_prefix(root).map_err(|_| outside())?;
                inner.to_owned()
            }
        };
        let inner = inner.to_str().ok_or_else(outside)?;
        if inner.is_empty() {
            return Ok(Vec::new());
        }
        paths.push(inner.to_owned());
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Tells whether `path` is one of `scope` or below one; everything is in an empty scope.
///
/// `scope` is sorted, as `resolve` returns it.
pub(super) fn is_within(scope: &[String], path: &str) -> bool {
    let has = |prefix: &str| {
        scope
            .binary_search_by(|typed| typed.as_str().cmp(prefix))
            .is_ok()
    };
    let mut ends = path.match_indices('/').map(|(end, _)| end);
    scope.is_empty() || has(path) || ends.any(|end| path.get(..end).is_some_and(has))
}

/// Tells whether a path from the root stays below it, whatever is there.
pub(super) fn stays_inside(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    path.split('/').all(is_name)
}

/// Returns the directory of another repository that a path leads into.
pub(super) fn repository_around<'a>(root: &Path, path: &'a str) -> Option<&'a str> {
    let mut ends = path
        .match_indices('/')
        .map(|(end, _)| end)
        .chain([path.len()]);
    ends.find_map(|end| {
        path.get(..end)
            .filter(|folder| root.join(folder).join(".git").exists())
    })
}

/// Returns the files at or below a path that git would not ignore there, as paths from `root`.
pub(super) fn files_below(root: &Path, path: &str) -> Vec<String> {
    let walk = WalkBuilder::new(root.join(path))
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let files = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    let names = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(root).ok()?;
        Some(path.to_str()?.to_owned())
    });
    names.collect()
}

/// Returns why a path that was typed may have matched nothing, in a sentence.
pub(super) fn why_nothing(root: &Path, path: &str) -> String {
    if let Some(folder) = repository_around(root, path) {
        format!("`{folder}` is a repository of its own; review it from there")
    } else if root.join(path).exists() {
        "It exists, but holds no file, or none that git does not ignore".to_owned()
    } else {
        String::new()
    }
}

/// Resolves `.` and `..` by their letters; nothing if the path climbs above the root.
fn normalize(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_paths_are_taken_from_where_the_user_stands() {
        let resolve = |directory: &str, typed: &str| {
            resolve(Path::new("/r"), Path::new(directory), &[typed.to_owned()]).ok()
        };
        let cases = [
            ("/r", "src", Some(vec!["src"])),
            ("/r", "./src//a b/", Some(vec!["src/a b"])),
            ("/r/sub", "x", Some(vec!["sub/x"])),
            ("/r/sub", "../x", Some(vec!["x"])),
            ("/r/sub", "..", Some(vec![])),
            ("/r/sub", "/r/-x", Some(vec!["-x"])),
            ("/r", "../elsewhere-that-is-not", None),
            ("/r", "../../../../..", None),
        ];
        for (directory, typed, expected) in cases {
            let expected = expected.map(|paths| paths.iter().map(ToString::to_string).collect());
            assert_eq!(resolve(directory, typed), expected, "{directory} {typed}");
        }
    }

    #[test]
    fn a_scope_holds_whole_names() {
        let scope = ["src/a".to_owned()];
        let inside = ["src/a", "src/a/b"].map(|path| is_within(&scope, path));
        let outside = ["src/ab", "src", "a"].map(|path| is_within(&scope, path));
        assert_eq!((inside, outside), ([true; 2], [false; 3]));
        assert!(is_within(&[], "x"));
    }
}
