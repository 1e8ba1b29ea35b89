//! Wording: the words and identifiers of a text, stemmed, without those that everybody uses.

/// Returns a title for comparison: lower case, letters and digits only, single spaces.
pub(super) fn normalized_title(title: &str) -> String {
    let mut normal = String::with_capacity(title.len());
    for c in title.chars() {
        if c.is_alphanumeric() {
            normal.extend(c.to_lowercase());
        } else if !normal.is_empty() && !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    if normal.ends_with(' ') {
        normal.pop();
    }
    normal
}
