//! Lock files of JavaScript.

use super::locks::check;

#[test]
fn npm_with_installed_paths() {
    check(
        "package-lock.json",
        r#"{
  "name": "mine", "lockfileVersion": 3,
  "packages": {
    "": { "name": "mine", "version": "1.0.0", "dependencies": { "lodash": "^4" } },
    "node_modules/lodash": {
      "version": "4.17.20",
      "resolved": "https://packages.example/lodash/-/lodash-4.17.20.tgz"
    },
    "node_modules/a/node_modules/@scope/b": { "version": "2.0.0-rc.1" },
    "node_modules/alias": { "name": "real", "version": "3.0.0" },
    "node_modules/member": { "resolved": "packages/member", "link": true },
    "packages/member": { "version": "0.0.0" },
    "node_modules/bare": {}
  },
  "dependencies": { "lodash": { "version": "4.17.20" } }
}"#,
        &[
            "5: npm lodash 4.17.20",
            "9: npm @scope/b 2.0.0-rc.1",
            "10: npm real 3.0.0",
            "13! `bare` has no version",
        ],
    );
}

#[test]
fn npm_with_nested_dependencies() {
    check(
        "npm-shrinkwrap.json",
        r#"{
  "lockfileVersion": 1,
  "dependencies": {
    "a": {
      "version": "1.0.0",
      "requires": { "lodash": "^3.0.0" },
      "dependencies": {
        "lodash": {
          "version": "3.10.1"
        }
      }
    },
    "lodash": { "version": "4.17.20" },
    "alias": { "version": "npm:real@3.0.0" },
    "forked": { "version": "git+ssh://git@example.org/forked.git#0123" }
  }
}"#,
        &[
            "4: npm a 1.0.0",
            "8: npm lodash 3.10.1",
            "13: npm lodash 4.17.20",
            "14: npm real 3.0.0",
            "15! `forked` comes from `git+ssh://git@example.org/forked.git#0123`, not from a registry",
        ],
    );
}

#[test]
fn yarn_classic() {
    check(
        "yarn.lock",
        r#"# yarn lockfile v1


"@babel/core@^7.0.0", "@babel/core@^7.1.0":
  version "7.12.3"
  resolved "https://packages.example/@babel/core/-/core-7.12.3.tgz"
  dependencies:
    version "1.0.0"

lodash@^4.17.15:
  version "4.17.20"

alias@npm:real@^1.0.0:
  version "1.0.1"

half@^1.0.0:
  resolved "https://packages.example/half"
"#,
        &[
            "4: npm @babel/core 7.12.3",
            "10: npm lodash 4.17.20",
            "13: npm real 1.0.1",
            "16! `half@^1.0.0` has no version",
        ],
    );
}

#[test]
fn yarn_since_version_2() {
    check(
        "yarn.lock",
        r#"__metadata:
  version: 6

"lodash@npm:^4.17.15":
  version: 4.17.20
  resolution: "lodash@npm:4.17.20"

"mine@workspace:.":
  version: 0.0.0-use.local

"@scope/a@npm:^1.0.0, @scope/a@npm:^1.2.0":
  version: 1.2.3
"#,
        &["4: npm lodash 4.17.20", "11: npm @scope/a 1.2.3"],
    );
}

#[test]
fn pnpm() {
    check(
        "pnpm-lock.yaml",
        r"lockfileVersion: '9.0'

importers:
  .:
    dependencies:
      lodash:
        specifier: ^4

packages:

  '@scope/a@1.0.0':
    resolution: {integrity: sha512-x}

  lodash@4.17.20:
    resolution: {integrity: sha512-y}

  /old/1.2.3:
    resolution: {integrity: sha512-y}

  /@scope/old/1.2.3_react@17.0.2:
    resolution: {integrity: sha512-z}

  /newer@2.0.0(react@18.0.0): {}

  forked@https://example.org/forked.tgz:
    resolution: {tarball: x}

  mine@file:../mine:
    resolution: {directory: x}

snapshots:

  lodash@4.17.20: {}
",
        &[
            "11: npm @scope/a 1.0.0",
            "14: npm lodash 4.17.20",
            "17: npm old 1.2.3",
            "20: npm @scope/old 1.2.3",
            "23: npm newer 2.0.0",
            "25! `forked@https://example.org/forked.tgz` is not a version of a registry",
        ],
    );
}
