//! What the name of a file says about it, before anybody reads it.

use tribunal_code::nature::{Format, Nature};
use tribunal_core::review::coverage::Omission;

/// Directories that hold somebody else's code.
const VENDORED: [&str; 14] = [
    "vendor",
    "node_modules",
    "bower_components",
    "jspm_packages",
    "third_party",
    "third-party",
    "thirdparty",
    "Godeps",
    "Pods",
    "Carthage",
    "site-packages",
    ".venv",
    "venv",
    ".yarn",
];

/// Directories that programs write.
const GENERATED_FOLDERS: [&str; 5] = ["dist", "generated", "__generated__", ".next", ".nuxt"];

/// Endings of files that programs write.
const GENERATED_ENDINGS: [&str; 22] = [
    ".min.js",
    ".min.mjs",
    ".min.css",
    ".bundle.js",
    ".js.map",
    ".mjs.map",
    ".css.map",
    ".pb.go",
    ".pb.gw.go",
    ".pb.cc",
    ".pb.h",
    ".pb.rs",
    ".pb.swift",
    "_pb2.py",
    "_pb2.pyi",
    "_pb2_grpc.py",
    "_pb.js",
    "_pb.ts",
    ".g.dart",
    ".freezed.dart",
    ".designer.cs",
    ".g.cs",
];

const LOCK_FILES: [&str; 33] = [
    "buildscript-gradle.lockfile",
    "bun.lock",
    "bun.lockb",
    "cabal.project.freeze",
    "cargo.lock",
    "cartfile.resolved",
    "chart.lock",
    "composer.lock",
    "conda-lock.yml",
    "deno.lock",
    "flake.lock",
    "gemfile.lock",
    "gems.locked",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "mix.lock",
    "module.bazel.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.resolved",
    "packages.lock.json",
    "paket.lock",
    "pdm.lock",
    "pipfile.lock",
    "pixi.lock",
    "pnpm-lock.yaml",
    "podfile.lock",
    "poetry.lock",
    "pubspec.lock",
    "stack.yaml.lock",
    "uv.lock",
    "yarn.lock",
];

/// Files that programs keep passwords and tokens in.
const CREDENTIAL_FILES: [&str; 21] = [
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    ".vault_pass",
    "_netrc",
    "application_default_credentials.json",
    "client_secret.json",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "kubeconfig",
];

/// The same, where the name alone is too common.
const CREDENTIAL_PATHS: [&str; 4] = [
    ".aws/credentials",
    ".docker/config.json",
    ".kube/config",
    ".cargo/credentials.toml",
];

/// Endings of files that hold keys or remember secrets.
const CREDENTIAL_ENDINGS: [&str; 13] = [
    ".env",
    ".jks",
    ".kdbx",
    ".key",
    ".keystore",
    ".p12",
    ".p8",
    ".pem",
    ".pfx",
    ".pkcs12",
    ".ppk",
    ".tfstate",
    ".tfstate.backup",
];

/// What the names of files end in that show which settings exist, without their values.
const EXAMPLES: [&str; 8] = [
    "default", "defaults", "dist", "example", "sample", "schema", "template", "tpl",
];

/// Tells whether a file belongs to Tribunal: its settings, rules, rulings and ledger, and the
/// rendering of its disputes.
pub(crate) fn is_own(path: &str) -> bool {
    path.starts_with(".tribunal/") || matches!(path, "dispute.md" | ".dispute.md.unfinished")
}

/// Returns why a file of this name is left out, if it is.
pub(crate) fn omission(path: &str) -> Option<Omission> {
    if may_hold_credentials(path) {
        Some(Omission::Credentials)
    } else if vendored_folder(path).is_some() {
        Some(Omission::Vendored)
    } else if LOCK_FILES.contains(&file_name(path).to_lowercase().as_str()) {
        Some(Omission::LockFile)
    } else if is_generated(path) {
        Some(Omission::Generated)
    } else {
        None
    }
}

/// Tells whether nobody reviews a large file of this name, because it holds prose, data or the
/// exact versions of dependencies.
pub(super) fn is_only_searched(path: &str) -> bool {
    Nature::of(path, "").is_prose_or_data() || omission(path) == Some(Omission::LockFile)
}

/// Tells whether the built-in reviewers read a file of this name although it is too large for a
/// question: it has a format in which much of what is written is data.
pub(super) fn is_read_when_large(path: &str) -> bool {
    let Nature::Config(format) = Nature::of(path, "") else {
        return false;
    };
    matches!(
        format,
        Format::Css
            | Format::Json
            | Format::Settings
            | Format::Sql
            | Format::Toml
            | Format::Xml
            | Format::Yaml
    )
}

/// Tells whether a file of this name may hold keys or passwords.
pub(crate) fn may_hold_credentials(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = file_name(&path);
    let ending = name.rsplit('.').next().unwrap_or_default();
    if EXAMPLES.contains(&ending) {
        return false;
    }
    name.starts_with(".env.")
        || CREDENTIAL_FILES.contains(&name)
        || CREDENTIAL_ENDINGS.iter().any(|end| name.ends_with(end))
        || CREDENTIAL_PATHS.iter().any(|end| has_ending(&path, end))
}

/// Tells whether a file of this name may hold keys, but often holds what everybody may see, so that its
/// content decides.
pub(crate) fn content_decides(path: &str) -> bool {
    PublicMaterial::of(path).is_some()
}

/// Tells whether a file that may hold keys, by its name, holds what everybody may see: certificates,
/// public keys, or settings of a registry without a token.
///
/// Whatever is not known to be public is not.
pub(crate) fn is_public(path: &str, bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        return false;
    };
    match PublicMaterial::of(path) {
        Some(PublicMaterial::Armor) => is_public_armor(text),
        Some(PublicMaterial::RegistrySettings) => has_no_registry_secret(text),
        None => false,
    }
}

/// What may be public in a file whose name speaks of keys.
enum PublicMaterial {
    /// Blocks in the form of PEM.
    Armor,
    /// Settings of npm.
    RegistrySettings,
}

impl PublicMaterial {
    fn of(path: &str) -> Option<Self> {
        let name = file_name(path).to_lowercase();
        if name == ".npmrc" {
            Some(Self::RegistrySettings)
        } else if name.ends_with(".pem") || name.ends_with(".key") {
            Some(Self::Armor)
        } else {
            None
        }
    }
}

/// What the blocks of PEM are called that hold no secret.
const PUBLIC_BLOCKS: [&str; 11] = [
    "CERTIFICATE",
    "CERTIFICATE REQUEST",
    "DH PARAMETERS",
    "EC PARAMETERS",
    "NEW CERTIFICATE REQUEST",
    "PKCS7",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "TRUSTED CERTIFICATE",
    "X509 CERTIFICATE",
    "X509 CRL",
];

fn is_public_armor(text: &str) -> bool {
    let mut blocks = text.split("-----BEGIN ").skip(1).peekable();
    let is_public = |block: &str| {
        let name = block.split_once("-----").map(|(name, _)| name);
        name.is_some_and(|name| PUBLIC_BLOCKS.contains(&name))
    };
    blocks.peek().is_some() && blocks.all(is_public) && !text.contains("PRIVATE KEY")
}

/// What the settings of npm are called that hold a secret.
const REGISTRY_SECRETS: [&str; 7] = [
    "_auth",
    "_authtoken",
    "_password",
    "key",
    "otp",
    "password",
    "token",
];

fn has_no_registry_secret(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim();
        if line.starts_with(['#', ';']) || line.is_empty() {
            return true;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.rsplit(':').next().unwrap_or_default().trim();
        let key = key.trim_end_matches("[]").to_lowercase();
        let value = value.trim().trim_matches(['"', '\'']);
        // A variable is named, not what it holds.
        let is_named = value.is_empty()
            || value
                .strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'))
                .is_some_and(|name| !name.contains(['$', '{', '}', ':']));
        let has_password = value.split_once("://").is_some_and(|(_, rest)| {
            rest.split('/')
                .next()
                .is_some_and(|host| host.contains('@'))
        });
        (is_named || !REGISTRY_SECRETS.contains(&key.as_str())) && !has_password
    })
}

/// Returns the path down to the first directory with somebody else's code.
pub(crate) fn vendored_folder(path: &str) -> Option<&str> {
    let mut end = 0;
    for part in path.split_inclusive('/') {
        end += part.len();
        let folder = part.strip_suffix('/')?;
        if VENDORED.contains(&folder) {
            return path.get(..end);
        }
    }
    None
}

/// Tells whether the start of a text is that of a private key.
pub(crate) fn starts_as_key(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    if start.starts_with(b"PuTTY-User-Key-File-") {
        return true;
    }
    let line = start
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    line.starts_with(b"-----BEGIN ") && line.windows(11).any(|window| window == b"PRIVATE KEY")
}

fn is_generated(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_lowercase();
    GENERATED_ENDINGS.iter().any(|end| name.ends_with(end))
        || name.starts_with("zz_generated.")
        || name.contains(".generated.")
        || folders
            .split('/')
            .any(|folder| GENERATED_FOLDERS.contains(&folder))
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn has_ending(path: &str, ending: &str) -> bool {
    let rest = path.strip_suffix(ending);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_left_out() {
        use Omission::{Credentials, Generated, LockFile, Vendored};
        let cases = [
            ("src/main.rs", None),
            ("src/vendor.rs", None),
            ("src/distance/a.rs", None),
            ("Cargo.lock", Some(LockFile)),
            ("web/pnpm-lock.yaml", Some(LockFile)),
            ("go.sum", Some(LockFile)),
            ("my.lock", None),
            ("vendor/x/y.go", Some(Vendored)),
            ("a/node_modules/b/index.js", Some(Vendored)),
            ("js/app.min.js", Some(Generated)),
            ("api/v1/api.pb.go", Some(Generated)),
            ("api/api_pb2.py", Some(Generated)),
            ("web/dist/app.js", Some(Generated)),
            ("src/Form.Designer.cs", Some(Generated)),
            (".env", Some(Credentials)),
            ("a/.env.production", Some(Credentials)),
            (".env.example", None),
            (".env.local.sample", None),
            ("docker/prod.env", Some(Credentials)),
            ("env.ts", None),
            ("keys/server.PEM", Some(Credentials)),
            ("home/.ssh/id_rsa", Some(Credentials)),
            ("home/.ssh/id_rsa.pub", None),
            (".aws/credentials", Some(Credentials)),
            ("src/aws/credentials", None),
            ("monkey", None),
            ("vendor/tls/server.key", Some(Credentials)),
        ];
        for (path, expected) in cases {
            assert_eq!(omission(path), expected, "{path}");
        }
    }

    #[test]
    fn keys_are_known_by_their_first_line() {
        // Written in parts so that no scanner takes this file for a key.
        let key = ["\n-----BEGIN RSA PRI", "VATE KEY-----\nabc"].concat();
        assert!(starts_as_key(key.as_bytes()));
        assert!(!starts_as_key(b"-----BEGIN CERTIFICATE-----\nPRIVATE KEY"));
        assert!(!starts_as_key(b"fn main() {}"));
    }

    #[test]
    fn content_tells_what_everybody_may_see() {
        // Written in parts so that no scanner takes this file for a key.
        let block = |name: &str| format!("-----BEGIN {name}-----\nMIIB\n-----END {name}-----\n");
        let key = block(&["PRI", "VATE KEY"].concat());
        let rsa = block(&["RSA PRI", "VATE KEY"].concat());
        let certificate = block("CERTIFICATE");
        let cases = [
            (
                "tls/ca.pem",
                format!("# Root\n{certificate}{certificate}"),
                true,
            ),
            ("tls/public.pem", block("PUBLIC KEY"), true),
            ("tls/server.key", block("PUBLIC KEY"), true),
            ("tls/server.key", key.clone(), false),
            ("tls/both.pem", format!("{certificate}{rsa}"), false),
            ("tls/odd.pem", block("SOMETHING"), false),
            ("tls/odd.pem", "secret".to_owned(), false),
            ("tls/empty.pem", String::new(), false),
            (
                ".npmrc",
                "registry=https://packages.example.org/\nsave-exact=true\n".to_owned(),
                true,
            ),
            (
                "a/.npmrc",
                "//npm.example.org/:_authToken=${NPM_TOKEN}\n".to_owned(),
                true,
            ),
            (
                ".npmrc",
                "//npm.example.org/:_authToken=npm_abc\n".to_owned(),
                false,
            ),
            (
                ".npmrc",
                "//npm.example.org/:_authToken=${NPM_TOKEN:-abc}\n".to_owned(),
                false,
            ),
            (".npmrc", "_password = abc\n".to_owned(), false),
            (
                ".npmrc",
                "registry=https://ann:abc@npm.example.org/\n".to_owned(),
                false,
            ),
            (".env", "A=1\n".to_owned(), false),
        ];
        for (path, text, expected) in cases {
            assert_eq!(is_public(path, text.as_bytes()), expected, "{path} {text}");
        }
        assert!(!is_public("a.pem", b"\xff-----BEGIN CERTIFICATE-----"));
    }

    #[test]
    fn a_vendored_folder_ends_where_it_is_named() {
        assert_eq!(vendored_folder("a/vendor/b/vendor/c"), Some("a/vendor/"));
        assert_eq!(vendored_folder("vendor"), None);
    }
}
