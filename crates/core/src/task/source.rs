//! The part of a document that a task names as its source: `docs/SPEC.md#login`.

/// Returns the file and the heading that a source names.
#[must_use]
pub fn split_source(source: &str) -> (&str, Option<&str>) {
    match source.split_once('#') {
        Some((file, heading)) if !heading.is_empty() => (file, Some(heading)),
        Some((file, _)) => (file, None),
        None => (source, None),
    }
}

/// Returns the text under the heading whose name, as links write it, is `anchor`: from the heading
/// to the next one of its level or above.
#[must_use]
pub fn section_of(text: &str, anchor: &str) -> Option<String> {
    let wanted = anchor.to_lowercase();
    let mut found: Option<(usize, String)> = None;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        fenced ^= start.starts_with("```") || start.starts_with("~~~");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = !fenced && (1..=6).contains(&level) && line[level..].starts_with(' ');
        match &mut found {
            Some((own, _)) if is_heading && level <= *own => break,
            Some((_, section)) => section.push_str(line),
            None if is_heading && slug(&line[level..]) == wanted => {
                found = Some((level, line.to_owned()));
            }
            None => {}
        }
    }
    found.map(|(_, section)| section)
}

/// Returns the name of a heading as links write it.
fn slug(heading: &str) -> String {
    let heading = heading.trim().trim_end_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_a_file_and_perhaps_a_heading() {
        for (source, file, heading) in [
            ("docs/SPEC.md#login", "docs/SPEC.md", Some("login")),
            ("docs/SPEC.md", "docs/SPEC.md", None),
            ("docs/SPEC.md#", "docs/SPEC.md", None),
        ] {
            assert_eq!(split_source(source), (file, heading));
        }
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let text =
            "# Spec\nall\n## Login & Out\none\n```\n## no heading\n```\n### More\ntwo\n## Shop\nx";
        let login = "## Login & Out\none\n```\n## no heading\n```\n### More\ntwo\n";
        for (anchor, section) in [
            ("login--out", Some(login)),
            ("Login--Out", Some(login)),
            ("more", Some("### More\ntwo\n")),
            ("shop", Some("## Shop\nx")),
            ("no-heading", None),
            ("nowhere", None),
        ] {
            assert_eq!(section_of(text, anchor).as_deref(), section, "{anchor}");
        }
    }
}
