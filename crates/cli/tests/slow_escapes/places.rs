//! The machine of a user, as far as a hostile program would look for it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::common::TestEnv;

/// What every secret holds.
pub(crate) const SECRET: &str = "CANARY-4711";

/// Secrets in the home of the user.
pub(crate) const SECRETS_AT_HOME: [&str; 18] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".bash_history",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg/secring.gpg",
    ".kube/config",
    ".local/share/keyrings/login.keyring",
    ".local/share/opencode/auth.json",
    ".netrc",
    ".npmrc",
];

/// A home with secrets, a repository with a key, and another agent that has a login.
pub(crate) fn machine() -> TestEnv {
    let mut env = TestEnv::with_repository();
    env.remove_env("TRIBUNAL_SANDBOX__WRITABLE");
    for place in SECRETS_AT_HOME {
        env.write(&format!("../home/{place}"), SECRET);
    }
    env.write("../home/.bashrc", "# mine\n");
    env.write("../home/other/project/.env", SECRET);
    env.write("app.py", "print(1)\n");
    env.commit_all("code");
    env.write(".env", SECRET);
    env.write("../world/notes.txt", SECRET);
    env.write("../ledger/homes/other/token", SECRET);
    for (place, mode) in [
        ("", 0o700),
        ("homes", 0o700),
        ("homes/other", 0o700),
        ("homes/other/token", 0o600),
    ] {
        let mode = Permissions::from_mode(mode);
        std::fs::set_permissions(env.ledger().join(place), mode).unwrap();
    }
    env.set_env("OTHER_API_KEY", format!("sk-{SECRET}-0123456789"));
    env
}
