//! What the address of a remote makes git do: reach another machine, or run a program on this one.
//!
//! The address stands in `.git/config`, which comes along with an archive or a copied directory. A
//! push to a path runs the hooks of the repository there, and some addresses name the program to run.

use super::git::Remote;

/// Transports that reach another machine.
const NETWORK: &str = "git:http:https:ssh";

/// How git goes about an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// It talks to another machine.
    Network,
    /// It runs `git receive-pack` on this one, and with it the hooks of the repository there.
    Local,
    /// It runs a program that the address names, or takes the address for an option.
    Program,
}

impl Remote {
    /// Returns the transports that git may use for this remote.
    ///
    /// # Errors
    ///
    /// The address needs one that is not allowed; the text says what to do.
    pub(super) fn protocols(&self) -> Result<&'static str, String> {
        match transport(&self.url) {
            Transport::Network => Ok(NETWORK),
            Transport::Local if self.allows_local => Ok("file:git:http:https:ssh"),
            Transport::Local => Err(format!(
                "`{}` is a repository on this machine, whose hooks would run with your rights; if you \
                 trust it, set `git.allow_local: true` in your own config, not in the project's \
                 (`tribunal config set git.allow_local true --user`), or push the branch yourself",
                self.url
            )),
            Transport::Program => Err(format!(
                "`{}` makes git run a program, which is never done; set the address with `git remote \
                 set-url {} ADDRESS`",
                self.url, self.name
            )),
        }
    }
}

/// Returns how git goes about an address, by git's own rules.
fn transport(url: &str) -> Transport {
    if url.is_empty() || url.starts_with('-') {
        return Transport::Program;
    }
    if let Some((scheme, rest)) = url.split_once("://")
        && is_scheme(scheme)
    {
        return match scheme.to_ascii_lowercase().as_str() {
            "file" => Transport::Local,
            "git" | "http" | "https" | "ssh" | "git+ssh" | "ssh+git" if !rest.starts_with('-') => {
                Transport::Network
            }
            // Git would look for a program `git-remote-SCHEME`.
            _ => Transport::Program,
        };
    }
    if let Some((helper, _)) = url.split_once("::")
        && is_scheme(helper)
    {
        return Transport::Program;
    }
    match (url.find(':'), url.find('/')) {
        (None, _) => Transport::Local,
        (Some(colon), Some(slash)) if slash < colon => Transport::Local,
        // `host:path`; whatever a host begins with, it is no option.
        (Some(_), _) => Transport::Network,
    }
}

fn is_scheme(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::Transport::{Local, Network, Program};
    use super::*;

    #[test]
    fn addresses_tell_what_git_would_do() {
        let rows = [
            ("https://example.org/a.git", Network),
            ("http://example.org/a.git", Network),
            ("ssh://git@example.org/a.git", Network),
            ("ssh://git@[::1]:22/a.git", Network),
            ("git@example.org:a/b.git", Network),
            ("host:a", Network),
            ("[::1]:a", Network),
            ("git://example.org/a", Network),
            ("/srv/a.git", Local),
            ("./vendor.git", Local),
            ("../a.git", Local),
            ("vendor.git", Local),
            ("~/a.git", Local),
            ("a/b:c", Local),
            ("file:///srv/a.git", Local),
            ("FILE:///srv/a.git", Local),
            ("file://localhost/srv/a.git", Local),
            ("ext::sh -c 'touch x'", Program),
            ("fd::17", Program),
            ("file::/srv/a.git", Program),
            ("ssh::host", Program),
            ("ext://sh", Program),
            ("foo://bar", Program),
            ("-oProxyCommand=touch x", Program),
            ("--upload-pack=touch x", Program),
            ("ssh://-oProxyCommand=touch/x", Program),
            ("", Program),
        ];
        for (url, expected) in rows {
            assert_eq!(transport(url), expected, "{url}");
        }
    }

    #[test]
    fn only_permission_opens_this_machine_and_nothing_opens_programs() {
        let remote = |url: &str, allows_local| Remote {
            name: "origin".to_owned(),
            url: url.to_owned(),
            allows_local,
        };
        assert_eq!(remote("https://a/b", true).protocols(), Ok(NETWORK));
        let refused = remote("./a.git", false).protocols().unwrap_err();
        assert!(refused.contains("git.allow_local: true"), "{refused}");
        let allowed = remote("./a.git", true).protocols();
        assert_eq!(allowed, Ok("file:git:http:https:ssh"));
        assert!(remote("ext::sh", true).protocols().is_err());
    }
}
