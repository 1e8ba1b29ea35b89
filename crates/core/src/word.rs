//! Types whose values are the words of a closed list.

/// Shows a type as the word that its `as_str` returns.
macro_rules! shown_as_word {
    ($name:ty) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use shown_as_word;
