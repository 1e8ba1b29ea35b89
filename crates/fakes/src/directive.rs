//! Directives that a caller plants in a prompt to script what a fake says and does.

const BLOCK_BEGIN: &str = "FAKE-REPLY-BEGIN";
const BLOCK_END: &str = "FAKE-REPLY-END";

/// Returns the reply that the prompt dictates; the last directive wins.
pub(crate) fn reply(text: &str) -> Option<String> {
    let mut found = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == BLOCK_BEGIN {
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|l| l.trim() != BLOCK_END)
                .collect();
            found = Some(block.join("\n"));
        } else if let Some(value) = value_on(line, "FAKE-REPLY") {
            found = Some(unescape(value));
        }
    }
    found
}

/// Returns the value of the last `NAME: value` line, with escapes resolved.
pub(crate) fn value(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| value_on(line, name))
        .next_back()
        .map(unescape)
}

/// Replaces `{{NAME}}` by the value of the last `NAME: value` line of the prompt, where there is
/// one, so that a scripted reply can give back what only the prompt knows.
pub(crate) fn fill(reply: &str, prompt: &str) -> String {
    let mut filled = String::with_capacity(reply.len());
    let mut rest = reply;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let named = after.split_once("}}");
        let known = named.and_then(|(name, rest)| Some((value(prompt, name)?, rest)));
        if let Some((found, after)) = known {
            filled.push_str(&found);
            rest = after;
        } else {
            filled.push_str("{{");
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

fn value_on<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.trim_start()
        .strip_prefix(name)?
        .strip_prefix(':')
        .map(str::trim)
}

/// Resolves `\n`, `\t` and `\\`; any other escape is kept as it stands.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            plain.push(char);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('\\') => plain.push('\\'),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_directive_wins() {
        let prompt = "hello\n  FAKE-REPLY: one\\ntwo\nFAKE-REPLY-BEGIN\na\n b\nFAKE-REPLY-END\nend";
        assert_eq!(reply(prompt).as_deref(), Some("a\n b"));
    }

    #[test]
    fn line_directive_resolves_escapes() {
        assert_eq!(
            reply("FAKE-REPLY: a\\n\\\\b\\q").as_deref(),
            Some("a\n\\b\\q")
        );
    }

    #[test]
    fn prompt_without_directive_dictates_nothing() {
        assert_eq!(reply("say FAKE-REPLY: inside a line"), None);
    }

    #[test]
    fn named_values_are_read_from_their_own_line() {
        assert_eq!(
            value("x\nFAKE-FILE: /tmp/a b\n", "FAKE-FILE").as_deref(),
            Some("/tmp/a b")
        );
    }
}
