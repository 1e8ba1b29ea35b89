//! A linter on the panel: its report, and the evidence that it looked at the files.
//!
//! "Nothing found" is worth something only about files that were read. Some reports list them. A
//! known tool whose report does not is proven once: it runs in a second checkout with a planted
//! defect, which it has to report.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tribunal_core::finding::Finding;
use tribunal_core::ids::StepKey;
use tribunal_core::reply::{
    Findings, Problem, ToolReport, family_of_tool_named, is_known_tool, planted_defect,
    read_tool_report, tool_reads,
};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::report::ReviewerState;

use super::ask::Asking;
use super::cited_path::tools_path;
use super::hear::{AgentMember, Heard, Hearing, PartAnswer, number, tools_own};
use super::hidden_findings::HiddenFindings;
use crate::case::{CaseError, Then, blocking};
use crate::change::{self, Change};
use crate::files::{Durability, create_private_dir, hash_of, write_private};
use crate::worktree::remove_tree;

/// First word of the step that records what a tool looked at; its name follows.
pub(crate) const STEP: &str = "looked";

/// The defect is planted in at most so many files.
const MOST_PLANTS: usize = 200;

/// Files with which a project tells tools what to leave out. A proof holds only as long as they
/// stay the same.
const CONFIG_FILES: &[&str] = &[
    ".bandit",
    ".clippy.toml",
    ".eslintignore",
    ".eslintrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yaml",
    ".eslintrc.yml",
    ".flake8",
    ".gitignore",
    ".golangci.json",
    ".golangci.toml",
    ".golangci.yaml",
    ".golangci.yml",
    ".ignore",
    ".mypy.ini",
    ".oxlintrc.json",
    ".ruff.toml",
    ".semgrepignore",
    "Cargo.toml",
    "biome.json",
    "biome.jsonc",
    "clippy.toml",
    "eslint.config.cjs",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.ts",
    "go.mod",
    "go.work",
    "mypy.ini",
    "package.json",
    "pyproject.toml",
    "pyrightconfig.json",
    "ruff.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
];

/// What is known of a tool on the panel before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSeat {
    /// The name of the tool that the command starts.
    pub name: String,
    /// Whether the config names its family.
    pub family_is_set: bool,
    /// Whether the config accepts an empty report without evidence.
    pub accept_empty: bool,
    /// Files of the repository that its command line names as its settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named_files: Vec<String>,
}

impl ToolSeat {
    /// Returns what earlier versions recorded: nothing but the family.
    fn recorded(family: &str) -> Self {
        Self {
            name: family.trim_start_matches("tool:").to_owned(),
            family_is_set: true,
            accept_empty: true,
            named_files: Vec::new(),
        }
    }

    /// Returns the name of the tool: as the command says, or else as the report says.
    fn tool(&self, report: &ToolReport) -> String {
        match &report.tool {
            Some(told) if !is_known_tool(&self.name) => told.clone(),
            _ => self.name.clone(),
        }
    }
}

/// What a tool looked at, as the ledger keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// The changed files that it looked at.
    covered: Vec<String>,
    /// Why its report is no answer; empty when it is one.
    #[serde(default)]
    fault: String,
    /// Whether the change has nothing that it reads.
    #[serde(default)]
    is_idle: bool,
    /// What it says without the markers that the change adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unsilenced: Option<HiddenFindings>,
}

/// Evidence by the name of the reviewer.
pub(crate) type RecordedEvidence = BTreeMap<String, Evidence>;

/// That a tool reports a planted defect.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Proof {
    is_proven: bool,
    /// The files in which it did not report the defect.
    blind: Vec<String>,
}

/// What the evidence is taken from.
struct Matter<'a> {
    member: &'a AgentMember,
    seat: &'a ToolSeat,
    tool: &'a str,
    change: &'a Change,
    report: &'a ToolReport,
}

impl Hearing<'_> {
    /// Lets a tool look at the checkout and reads its report.
    pub(crate) async fn tool(
        self,
        member: &AgentMember,
        change: &Change,
    ) -> Result<Heard, CaseError> {
        let mut heard = Heard::nothing_yet(member);
        let key = format!("{}review {}", self.request.phase, member.name);
        let reply = match self.ask(member, &key, String::new()).await? {
            Ok(reply) => reply,
            Err(answer) => {
                heard.take(Vec::new(), answer);
                self.record_if_missing(&heard).await?;
                return Ok(heard);
            }
        };
        let root = self.asking.directory.to_string_lossy();
        let report = read_tool_report(reply.text.as_bytes(), Some(&root), &member.author());
        let recorded = || ToolSeat::recorded(&member.family);
        let seat = member.tool.clone().unwrap_or_else(recorded);
        let tool = seat.tool(&report);
        if !seat.family_is_set {
            heard.family = family_of_tool_named(&tool);
        }
        let matter = Matter {
            member,
            seat: &seat,
            tool: &tool,
            change,
            report: &report,
        };
        let is_whole = report.findings.answered && report.findings.problems.is_empty();
        let evidence = match is_whole {
            true => self.evidence(&matter).await?,
            false => Evidence::default(),
        };
        let hidden = evidence.unsilenced.unwrap_or_default();
        let mut all = report.findings;
        all.findings.extend(hidden.findings);
        let (mut found, elsewhere) = tools_own(all, change);
        for finding in &mut found.findings {
            finding.family.clone_from(&heard.family);
        }
        heard.elsewhere = elsewhere;
        self.note_heard(member, 1, 1, &found).await;
        heard.take(evidence.covered, PartAnswer::Read(found));
        if !hidden.note.is_empty() {
            heard.notes.push(hidden.note);
        }
        if !evidence.fault.is_empty() {
            heard.miss(None, evidence.fault);
        } else if !hidden.fault.is_empty() {
            heard.miss(None, hidden.fault);
        } else if evidence.is_idle && heard.findings.is_empty() && is_whole {
            heard.state = ReviewerState::Idle;
        }
        number(&mut heard.findings);
        self.record_if_missing(&heard).await?;
        Ok(heard)
    }

    /// Returns what the tool looked at. It is recorded, so that doing the review again comes to the
    /// same end wherever the checkout lies and whatever is remembered.
    async fn evidence(self, matter: &Matter<'_>) -> Result<Evidence, CaseError> {
        let name = matter.member.name.as_str();
        let phase = &self.request.phase;
        if let Some(recorded) = &self.request.evidence {
            // Earlier versions recorded one look for the review and the coder's work.
            let of_phase = recorded.get(&format!("{phase}{name}"));
            let found = of_phase.or_else(|| recorded.get(name));
            return Ok(found.cloned().unwrap_or_default());
        }
        // The coder's work is another thing to look at than the change.
        let key = StepKey::new(format!("{STEP} {phase}{name}"))?;
        let work = async {
            let mut evidence = self.find_evidence(matter).await?;
            let Matter {
                member,
                tool,
                change,
                report,
                ..
            } = matter;
            let told = self.hidden_findings(member, tool, change, &report.findings);
            evidence.unsilenced = told.await?;
            Ok(Some(evidence))
        };
        let case = self.asking.case;
        let found = case.step_if_answered(&key, Then::GoOn, work).await?;
        Ok(found.unwrap_or_default())
    }

    async fn find_evidence(self, matter: &Matter<'_>) -> Result<Evidence, CaseError> {
        let Matter { change, report, .. } = matter;
        let named = named_files(change, report);
        if report.looked.is_list() {
            return Ok(Evidence {
                covered: with_deleted(matter, |path| named.contains(&path.to_owned())),
                ..Evidence::default()
            });
        }
        if report.looked.count.is_some() {
            return Ok(Evidence {
                covered: with_deleted(matter, |path| tool_reads(matter.tool, path)),
                ..Evidence::default()
            });
        }
        let Some(defect) = planted_defect(matter.tool) else {
            let accepted = !report.is_empty || matter.seat.accept_empty;
            let fault = "its report is empty and does not say which files it looked at; set \
                         `accept_empty: true` for this agent if that is how it reports a clean run";
            let hint = match matter.tool {
                "semgrep" => ". Semgrep lists the files with `--json`",
                _ => "",
            };
            return Ok(Evidence {
                covered: named,
                fault: if accepted {
                    String::new()
                } else {
                    format!("{fault}{hint}")
                },
                ..Evidence::default()
            });
        };
        let concerned: Vec<String> = change
            .files
            .iter()
            .filter(|file| file.status != FileStatus::Deleted)
            .filter(|file| tool_reads(matter.tool, &file.path))
            .map(|file| file.path.clone())
            .collect();
        if concerned.is_empty() {
            return Ok(Evidence {
                covered: with_deleted(matter, |path| named.contains(&path.to_owned())),
                is_idle: true,
                ..Evidence::default()
            });
        }
        let proof = self.prove(matter, defect, &concerned).await?;
        if proof.is_proven {
            let is_seen = |path: &str| {
                tool_reads(matter.tool, path) && proof.blind.iter().all(|blind| blind != path)
            };
            return Ok(Evidence {
                covered: with_deleted(matter, is_seen),
                ..Evidence::default()
            });
        }
        let accepted = !report.is_empty || matter.seat.accept_empty;
        let first = concerned.first().map_or("", String::as_str);
        let fault = format!(
            "it did not report a defect that was planted in `{first}`, so its empty report does not \
             show that it looked at the files"
        );
        Ok(Evidence {
            covered: named,
            fault: if accepted { String::new() } else { fault },
            ..Evidence::default()
        })
    }

    /// Finds out whether the tool reports a defect in the files that it is concerned with, unless
    /// that is known.
    async fn prove(
        self,
        matter: &Matter<'_>,
        defect: &'static str,
        concerned: &[String],
    ) -> Result<Proof, CaseError> {
        let kept = self.place_of_proof(matter, defect, concerned).await?;
        let remembered = std::fs::read(&kept).ok();
        let remembered = remembered.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(proof) = remembered {
            return Ok(proof);
        }
        let name = &matter.member.name;
        let planted = concerned
            .iter()
            .take(MOST_PLANTS)
            .cloned()
            .collect::<Vec<_>>();
        let files = planted.clone();
        let key = format!("{}review {name}: planted defect", self.request.phase);
        let prepare = move |root: &Path| plant(root, &files, defect);
        let looked = self.look_in_second_checkout(matter.member, &key, prepare);
        let told = looked.await?.unwrap_or_else(|what| Findings {
            problems: vec![Problem {
                at: String::new(),
                what,
            }],
            ..Findings::default()
        });
        let before = &matter.report.findings;
        let is_reported = |path: &&String| !reports(matter.change, &told, before, path);
        let blind: Vec<String> = planted.iter().filter(is_reported).cloned().collect();
        let proof = Proof {
            is_proven: blind.len() < planted.len(),
            blind,
        };
        if proof.is_proven {
            let unfit = |error: serde_json::Error| CaseError::Request(error.to_string());
            let bytes = serde_json::to_vec(&proof).map_err(unfit)?;
            let parent = kept.parent().unwrap_or(Path::new("."));
            create_private_dir(parent)
                .and_then(|()| write_private(&kept, &bytes, Durability::Process))
                .map_err(CaseError::file("remember that a linter works"))?;
        }
        Ok(proof)
    }

    /// Lets the tool look at a second checkout, which `prepare` has changed. Returns what it
    /// reported, whole or not, or why it reported nothing.
    pub(super) async fn look_in_second_checkout(
        self,
        member: &AgentMember,
        key: &str,
        prepare: impl FnOnce(&Path) -> std::io::Result<()> + Send + 'static,
    ) -> Result<Result<Findings, String>, CaseError> {
        let digest = hash_of(key.as_bytes());
        let dir = &self.asking.engine.dir;
        let place = dir
            .workplace(self.asking.case.id())
            .join(format!("checkout-{}", &digest[..8]));
        let (repository, pinned) = (self.repository.clone(), self.request.pinned.clone());
        let target = place.clone();
        blocking(move || {
            let doing = || change::ChangeError::file("prepare a second checkout");
            remove_tree(&target).map_err(doing())?;
            change::checkout(&repository, &pinned, &target)?;
            prepare(&target).map_err(doing())
        })
        .await?;
        let hearing = Hearing {
            asking: Asking {
                directory: &place,
                ..self.asking
            },
            ..self
        };
        let asked = hearing.ask(member, key, String::new()).await?;
        // The next linter needs the room; the rest goes with the case.
        let _ = remove_tree(&place);
        Ok(match asked {
            Ok(reply) => {
                let root = place.to_string_lossy();
                let report = read_tool_report(reply.text.as_bytes(), Some(&root), &member.author());
                Ok(report.findings.of_second_run())
            }
            Err(PartAnswer::Failed(error)) => Err(error.message),
            Err(PartAnswer::Parked(why)) => Err(why),
            Err(PartAnswer::Read(found)) => Ok(found),
        })
    }

    /// Returns the file that remembers a proof. It is another one for another program, version,
    /// command line, defect, or config of the project.
    async fn place_of_proof(
        self,
        matter: &Matter<'_>,
        defect: &str,
        concerned: &[String],
    ) -> Result<PathBuf, CaseError> {
        let engine = self.asking.engine;
        let seat = engine.seat(&matter.member.name)?;
        let stamp = seat.agent.stamp().unwrap_or_default();
        let version = seat.agent.version().await.ok().flatten();
        let version = version.unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for text in [&stamp, &version, matter.tool, defect] {
            hasher.update(text.as_bytes()).update(&[0]);
        }
        for folder in folders_above(concerned) {
            for name in CONFIG_FILES {
                let path = folder.join(name);
                if let Ok(bytes) = std::fs::read(self.asking.directory.join(&path)) {
                    hasher
                        .update(path.as_os_str().as_encoded_bytes())
                        .update(&[0]);
                    hasher.update(blake3::hash(&bytes).as_bytes());
                }
            }
        }
        let name: String = hasher.finalize().to_hex().chars().take(32).collect();
        Ok(engine.dir.proofs().join(name))
    }
}

/// Returns the changed files that the report lists or says something about.
fn named_files(change: &Change, report: &ToolReport) -> Vec<String> {
    let findings = report.findings.findings.iter();
    let about = findings.filter_map(|one| tools_path(change, &one.location.file));
    let mut named: Vec<String> = about.collect();
    let listed = change
        .files
        .iter()
        .filter(|file| report.looked.has(&file.path));
    named.extend(listed.map(|file| file.path.clone()));
    named.sort();
    named.dedup();
    named
}

/// Returns the changed files that `is_seen`, and those that are gone and that the tool would read:
/// there is nothing in them to look at.
fn with_deleted(matter: &Matter<'_>, is_seen: impl Fn(&str) -> bool) -> Vec<String> {
    let files = matter.change.files.iter().filter(|file| {
        let is_gone = file.status == FileStatus::Deleted && tool_reads(matter.tool, &file.path);
        is_gone || is_seen(&file.path)
    });
    files.map(|file| file.path.clone()).collect()
}

/// Returns all folders in which a config for one of `paths` may lie, the root first.
fn folders_above(paths: &[String]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = paths
        .iter()
        .flat_map(|path| Path::new(path).ancestors().skip(1).map(Path::to_owned))
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Puts the defect at the end of each file that is there.
fn plant(root: &Path, files: &[String], defect: &str) -> std::io::Result<()> {
    for path in files.iter().map(|path| root.join(path)) {
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
        if is_file {
            let mut file = std::fs::OpenOptions::new().append(true).open(path)?;
            file.write_all(defect.as_bytes())?;
        }
    }
    Ok(())
}

/// Tells whether `told` has something about `path` that `before` has not.
fn reports(change: &Change, told: &Findings, before: &Findings, path: &str) -> bool {
    let is_here = |one: &&Finding| tools_path(change, &one.location.file).as_deref() == Some(path);
    let is_same = |one: &Finding, other: &Finding| {
        one.location.line == other.location.line && one.title == other.title
    };
    let known: Vec<&Finding> = before.findings.iter().filter(is_here).collect();
    let mut now = told.findings.iter().filter(is_here);
    let is_new = now.any(|one| known.iter().all(|other| !is_same(one, other)));
    is_new
        || told
            .problems
            .iter()
            .any(|one| one.to_string().contains(path))
}
