//! Lock files of Rust, Python, Go and Java.

use tribunal_code::advisory::{LockKind, read_packages};

/// Packages as `line: ecosystem name version`, then problems as `line! what`.
#[track_caller]
pub(super) fn check(file: &str, text: &str, expected: &[&str]) {
    let found = read_packages(file, text.as_bytes());
    let line = |line: Option<u32>| line.map_or("-".to_owned(), |line| line.to_string());
    let packages = found.packages.iter().map(|package| {
        assert_eq!(package.file, file);
        let at = line(package.line);
        format!(
            "{at}: {} {} {}",
            package.ecosystem, package.name, package.version
        )
    });
    let problems = found.problems.iter().map(|problem| {
        let at = line(problem.line);
        format!("{at}! {}", problem.what)
    });
    let all: Vec<String> = packages.chain(problems).collect();
    assert_eq!(all, expected, "{file}");
}

#[test]
fn names_of_files_tell_their_kind() {
    for (path, kind) in [
        ("Cargo.lock", Some(LockKind::Cargo)),
        ("web/package-lock.json", Some(LockKind::Npm)),
        ("web\\npm-shrinkwrap.json", Some(LockKind::Npm)),
        ("requirements.txt", Some(LockKind::Requirements)),
        ("requirements-dev.txt", Some(LockKind::Requirements)),
        ("dev-requirements.txt", Some(LockKind::Requirements)),
        ("requirements/base.txt", Some(LockKind::Requirements)),
        ("go.sum", Some(LockKind::GoSum)),
        ("Cargo.toml", None),
        ("notes.txt", None),
        ("", None),
    ] {
        assert_eq!(LockKind::of(path), kind, "{path}");
    }
    check("notes.txt", "", &["-! not a lock file that we know"]);
}

#[test]
fn cargo() {
    check(
        "Cargo.lock",
        r#"# This file is generated.
version = 4

[[package]]
name = "mine"
version = "0.1.0"
dependencies = [
 "smallvec",
]

[[package]]
name = "smallvec"
version = "1.6.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "fe0f37c9e8f3c5a4a66ad655a93c74daac4ad00c441533bf5c6e7990bb42604e"

<<<<<<< ours
[[package]]
name = "torn"
source = "registry+https://github.com/rust-lang/crates.io-index"

[metadata]
name = "not a package"
"#,
        &[
            "12: crates.io smallvec 1.6.0",
            "17! a conflict left by a merge",
            "19! `torn` has no version",
        ],
    );
}

#[test]
fn requirements() {
    check(
        "requirements.txt",
        r#"# a comment
PyYAML==5.3.1  # pinned
requests[security] == 2.20.0 ; python_version < "3"
urllib3==1.26.0 \
    --hash=sha256:00 \
    --hash=sha256:01
odd===1.0-custom
django>=2.0
flask==1.*
--index-url https://example.org/simple
-r other.txt
https://example.org/x.tar.gz
"#,
        &[
            "2: PyPI PyYAML 5.3.1",
            "3: PyPI requests 2.20.0",
            "4: PyPI urllib3 1.26.0",
            "7: PyPI odd 1.0-custom",
            "8! `django>=2.0` is not pinned to one version",
            "9! `flask==1.*` is not pinned to one version",
            "11! `-r other.txt` was not followed",
            "12! `https://example.org/x.tar.gz` is not pinned to one version",
        ],
    );
}

#[test]
fn poetry() {
    check(
        "poetry.lock",
        r#"[[package]]
name = "pyyaml"
version = "5.3.1"
description = "name = nothing"
optional = false

[package.dependencies]
name = "not a package"

[[package]]
name = 'requests'
version = '2.20.0'

[metadata]
lock-version = "2.0"
"#,
        &["2: PyPI pyyaml 5.3.1", "11: PyPI requests 2.20.0"],
    );
}

#[test]
fn uv() {
    check(
        "uv.lock",
        r#"version = 1

[[package]]
name = "mine"
version = "0.1.0"
source = { editable = "." }
dependencies = [
    { name = "pyyaml" },
]

[[package]]
name = "root"
source = { virtual = "." }

[[package]]
name = "pyyaml"
version = "5.3.1"
source = { registry = "https://pypi.org/simple" }
"#,
        &["16: PyPI pyyaml 5.3.1"],
    );
}

#[test]
fn pipfile() {
    check(
        "Pipfile.lock",
        r#"{
  "_meta": { "sources": [] },
  "default": {
    "pyyaml": {
      "version": "==5.3.1"
    },
    "local": { "path": "." }
  },
  "develop": {
    "pytest": { "version": "==6.0.0" }
  }
}"#,
        &[
            "4: PyPI pyyaml 5.3.1",
            "10: PyPI pytest 6.0.0",
            "7! `local` has no pinned version",
        ],
    );
}

#[test]
fn go_mod() {
    check(
        "go.mod",
        r#"module example.org/mine

go 1.21
toolchain go1.21rc2

require golang.org/x/text v0.3.7 // indirect

require (
	github.com/a/b v1.0.0
	"github.com/c/d/v2" v2.0.0+incompatible
	github.com/e/f v1.0.0
	github.com/g/h
)

replace github.com/a/b => github.com/fork/b v1.0.1
replace (
	github.com/e/f v1.0.0 => ../f
)
exclude github.com/c/d v1.9.0
"#,
        &[
            "4: Go stdlib 1.21.0-rc.2",
            "6: Go golang.org/x/text v0.3.7",
            "9: Go github.com/fork/b v1.0.1",
            "10: Go github.com/c/d/v2 v2.0.0+incompatible",
            "12! `github.com/g/h` requires nothing",
        ],
    );
}

#[test]
fn go_sum() {
    check(
        "go.sum",
        "golang.org/x/text v0.3.0/go.mod h1:NqM8EUOU14njkJ3fqMW+pc6Ldnwhi/IjpwHt7yyuwOQ=
golang.org/x/text v0.3.7 h1:olpwvP2KacW1ZWvsR7uQhoyTYvKAupfQrRGBFM352Gk=
torn
",
        &[
            "2: Go golang.org/x/text v0.3.7",
            "3! `torn` is not a checksum",
        ],
    );
}

#[test]
fn pom() {
    check(
        "pom.xml",
        r#"<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.mine</groupId><version>7</version></parent>
  <properties>
    <log4j.version>${log4j.major}.14.1</log4j.version>
    <log4j.major>2</log4j.major>
    <circle>${circle}</circle>
  </properties>
  <dependencyManagement><dependencies>
    <dependency><groupId>org.a</groupId><artifactId>managed</artifactId><version>1.1</version></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-core</artifactId>
      <version> ${log4j.version} </version>
      <exclusions><exclusion><groupId>x</groupId><artifactId>y</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.a</groupId><artifactId>managed</artifactId></dependency>
    <dependency><groupId>${project.groupId}</groupId><artifactId>sibling</artifactId><version>${project.version}</version></dependency>
    <dependency><groupId>org.a</groupId><artifactId>exact</artifactId><version>[3.0]</version></dependency>
    <dependency><groupId>org.a</groupId><artifactId>range</artifactId><version>[1,2)</version></dependency>
    <dependency><groupId>org.a</groupId><artifactId>turning</artifactId><version>${circle}</version></dependency>
    <dependency><groupId>org.a</groupId><artifactId>inherited</artifactId></dependency>
  </dependencies>
  <build><plugins><plugin><dependencies>
    <dependency><groupId>org.p</groupId><artifactId>plugin</artifactId><version>1</version></dependency>
  </dependencies></plugin></plugins></build>
</project>"#,
        &[
            "13: Maven org.apache.logging.log4j:log4j-core 2.14.1",
            "19: Maven org.a:managed 1.1",
            "20: Maven org.mine:sibling 7",
            "21: Maven org.a:exact 3.0",
            "22! `org.a:range` has a range of versions",
            "23! `org.a:turning` has no version in this file",
            "24! `org.a:inherited` has no version in this file",
        ],
    );
    check(
        "pom.xml",
        "<project><a></b>",
        &[
            "1! not XML: ill-formed document: expected `</a>`, but `</b>` was found",
            "-! the file ends in the middle of an element",
        ],
    );
}

#[test]
fn gradle() {
    check(
        "gradle.lockfile",
        "# Manual edits can break the build.
org.apache.logging.log4j:log4j-core:2.14.1=compileClasspath,runtimeClasspath
torn
empty=annotationProcessor
",
        &[
            "2: Maven org.apache.logging.log4j:log4j-core 2.14.1",
            "3! `torn` is not a coordinate",
        ],
    );
}

#[test]
fn marks_and_broken_letters_do_not_stop_reading() {
    let mut bytes = b"\xef\xbb\xbfa:b:1.0=x\r\n".to_vec();
    bytes.extend(b"c:d:2.0\xff=x\n");
    let found = read_packages("gradle.lockfile", &bytes);
    let versions: Vec<&str> = found
        .packages
        .iter()
        .map(|it| it.version.as_str())
        .collect();
    assert_eq!(versions, ["1.0", "2.0\u{fffd}"]);
    assert_eq!(found.problems.len(), 1);
}
