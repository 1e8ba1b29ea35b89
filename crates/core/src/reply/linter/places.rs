//! Where SARIF says that something is: addresses, and what they are relative to.

use serde_json::{Map, Value};

use super::paths;
use super::sink::{text, value_at};

/// Addresses may hang on others; deeper chains are circles.
const DEEPEST: usize = 8;

/// The addresses of one run.
pub(in crate::reply) struct Places<'a> {
    bases: Option<&'a Map<String, Value>>,
    artifacts: &'a [Value],
}

impl<'a> Places<'a> {
    pub(in crate::reply) fn of(run: &'a Value) -> Self {
        let artifacts = run.get("artifacts").and_then(Value::as_array);
        Self {
            bases: run.get("originalUriBaseIds").and_then(Value::as_object),
            artifacts: artifacts.map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// Returns the file of a result, relative to the checkout where that can be told.
    /// `place` is the number of the place in the result.
    pub(in crate::reply) fn file(
        &self,
        result: &Value,
        place: usize,
        root: Option<&str>,
    ) -> String {
        let path = format!("/locations/{place}/physicalLocation/artifactLocation");
        let location = value_at(result, &path);
        let Some(location) = location.or_else(|| result.get("analysisTarget")) else {
            return String::new();
        };
        // The address may stand in the run's list of files only.
        let listed = || {
            let index = usize::try_from(location.get("index")?.as_u64()?).ok()?;
            self.artifacts.get(index)?.get("location")
        };
        let location = match text(location, "/uri") {
            "" => listed().unwrap_or(location),
            _ => location,
        };
        self.path(location, root)
    }

    /// Returns the path of an artifact, relative to the checkout where that can be told.
    pub(in crate::reply) fn path(&self, location: &Value, root: Option<&str>) -> String {
        let uri = text(location, "/uri");
        if uri.starts_with("file:") || paths::is_absolute(uri) {
            return self.below_a_base(&directory(uri), root);
        }
        let mut path = paths::decoded(uri);
        let mut base = text(location, "/uriBaseId");
        for _ in 0..DEEPEST {
            let Some(above) = self.bases.and_then(|bases| bases.get(base)) else {
                break;
            };
            let uri = text(above, "/uri");
            if uri.starts_with("file:") || paths::is_absolute(uri) {
                let directory = directory(uri);
                // The checkout of another machine is as good as ours, so only a directory below
                // ours adds to the path.
                if let Some(inside) = root.and_then(|root| paths::below(&directory, root)) {
                    path = join(inside, &path);
                }
                break;
            }
            path = join(&paths::decoded(uri), &path);
            base = text(above, "/uriBaseId");
        }
        path
    }

    /// Returns an absolute path below the checkout, or below the root of the tool's own machine.
    fn below_a_base(&self, path: &str, root: Option<&str>) -> String {
        if let Some(inside) = root.and_then(|root| paths::below(path, root)) {
            return inside.to_owned();
        }
        let bases = self.bases.into_iter().flat_map(Map::values);
        let inside = bases.filter_map(|base| {
            let directory = directory(text(base, "/uri"));
            let inside = paths::below(path, &directory)?;
            // The outermost one is the root of the sources.
            Some((directory.len(), inside.to_owned()))
        });
        let outermost = inside.min_by_key(|(length, _)| *length);
        outermost.map_or_else(|| path.to_owned(), |(_, inside)| inside)
    }
}

/// Returns the path of an absolute address, which is encoded even where it has no scheme.
fn directory(uri: &str) -> String {
    match uri.starts_with("file:") {
        true => paths::local(uri),
        false => paths::local(&paths::decoded(uri)),
    }
}

fn join(directory: &str, path: &str) -> String {
    let directory = directory.trim_end_matches('/');
    if directory.is_empty() {
        path.to_owned()
    } else {
        format!("{directory}/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_are_decoded_once_whatever_they_are_relative_to() {
        for (uri, base, expected) in [
            ("src/a%20b.rs", "", "src/a b.rs"),
            ("%C3%A4.rs", "SUB", "my src/ä.rs"),
            ("100%2525.rs", "", "100%25.rs"),
            ("100%.rs", "", "100%.rs"),
            ("/work/my%20repo/a%20b.rs", "", "a b.rs"),
            ("file:///work/my%20repo/a%2520b.rs", "", "a%20b.rs"),
            ("/home/ci%2B1/src/a.rs", "", "src/a.rs"),
        ] {
            let run = json!({"originalUriBaseIds": {
                "SUB": {"uri": "my%20src/", "uriBaseId": "ROOT"},
                "ROOT": {"uri": "/home/ci%2B1/"},
            }});
            let result = json!({"locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri, "uriBaseId": base}}}]});
            let file = Places::of(&run).file(&result, 0, Some("/work/my repo"));
            assert_eq!(file, expected, "{uri}");
        }
    }
}
