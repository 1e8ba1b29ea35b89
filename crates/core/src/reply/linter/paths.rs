//! Paths as tools write them, made relative to the root of the checkout.

/// Returns the path of `name`, which is a path or a `file:` address, from `root` where it lies
/// below it. What lies elsewhere stays as it is.
pub(in crate::reply) fn relative(name: &str, root: Option<&str>) -> String {
    let path = local(name);
    let path = match root.and_then(|root| below(&path, root)) {
        Some(inside) => inside.to_owned(),
        None => path,
    };
    plain(&path)
}

/// Returns the part of `path` below `root`.
pub(in crate::reply) fn below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let root = root.trim_end_matches('/');
    if root.is_empty() {
        return None;
    }
    path.strip_prefix(root)?.strip_prefix('/')
}

/// Tells whether `path` begins at the top of a file system.
pub(in crate::reply) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

/// Returns the path of an address on this machine, and a path as it is.
pub(in crate::reply) fn local(name: &str) -> String {
    let path = match name.strip_prefix("file:") {
        Some(address) => {
            let address = match address.strip_prefix("//") {
                // What stands between the second and the third slash is a host.
                Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest),
                None => address,
            };
            decoded(address)
        }
        None => name.to_owned(),
    };
    let unslashed = path.strip_prefix('/').filter(|rest| has_drive(rest));
    let path = unslashed.unwrap_or(&path);
    if has_drive(path) || path.starts_with(".\\") {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    }
}

/// Returns text without percent signs that stand for bytes; what is no valid text stays.
pub(in crate::reply) fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |byte: u8| {
            char::from(byte)
                .to_digit(16)
                .and_then(|n| u8::try_from(n).ok())
        };
        let coded = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match coded {
            Some((high, low)) => {
                bytes.push(high * 16 + low);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn has_drive(path: &str) -> bool {
    let mut signs = path.chars();
    let letter = signs.next().is_some_and(|sign| sign.is_ascii_alphabetic());
    letter && signs.next() == Some(':') && matches!(signs.next(), Some('/' | '\\'))
}

/// Returns `path` without `.` and without `..` that follow a name.
pub(in crate::reply) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !["", ".."].contains(last)) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_relative_to_the_root() {
        for (name, root, expected) in [
            ("src/a.rs", Some("/work"), "src/a.rs"),
            ("./src/a.rs", None, "src/a.rs"),
            ("src/x/../a.rs", None, "src/a.rs"),
            ("../a.rs", None, "../a.rs"),
            ("/work/src/a.rs", Some("/work"), "src/a.rs"),
            ("/work/src/a.rs", Some("/work/"), "src/a.rs"),
            ("/workshop/a.rs", Some("/work"), "/workshop/a.rs"),
            ("/work/a.rs", None, "/work/a.rs"),
            ("/work/a.rs", Some("/"), "/work/a.rs"),
            ("file:///work/a%20b.rs", Some("/work"), "a b.rs"),
            ("file://host/work/a.rs", Some("/work"), "a.rs"),
            ("file:/work/%C3%A4.rs", Some("/work"), "ä.rs"),
            ("/work/100%25.rs", Some("/work"), "100%25.rs"),
            ("file:///work/%ff%.rs", Some("/work"), "%ff%.rs"),
            ("C:\\work\\a.rs", Some("C:/work"), "a.rs"),
            ("file:///C:/work/a.rs", Some("C:/work"), "a.rs"),
            (".\\src\\a.cs", None, "src/a.cs"),
            ("", Some("/work"), ""),
        ] {
            assert_eq!(relative(name, root), expected, "{name} {root:?}");
        }
    }
}
