//! Command lines as people type them.

/// Returns words as they are typed in a shell.
pub(crate) fn typed_command(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| typed_word(word)).collect();
    words.join(" ")
}

/// Returns a word as it is typed in a shell: in quotes where it needs them.
pub(crate) fn typed_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let has_meaning = |c: char| "\"$`\\!".contains(c);
    match word.chars().any(has_meaning) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => format!("\"{word}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_needs_them() {
        for (word, expected) in [
            ("review", "review"),
            ("--dir=/tmp/a", "--dir=/tmp/a"),
            ("two words", "\"two words\""),
            ("it's", "\"it's\""),
            ("a $b", "'a $b'"),
            ("$it's", "'$it'\\''s'"),
            ("", "\"\""),
        ] {
            assert_eq!(typed_word(word), expected, "{word}");
        }
    }
}
