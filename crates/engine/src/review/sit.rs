//! The panel at work: agents, tools, built-in reviewers and what was brought along, side by side.

use std::path::PathBuf;

use tribunal_code::rule::{Domain, Reviewer, load_user_rules};
use tribunal_core::reply::{
    Author, family_of_tool_named, is_known_tool, read_tool_report, tool_name, tool_report_of,
};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::report::ReviewerState;

use super::ask::Asking;
use super::cited_path::tools_path;
use super::hear::{self, AgentMember, Heard, Hearing};
use super::{Member, ReviewRequest, builtin, hidden_findings, material};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::{self, Change, Repository};
use crate::stopping::finish_all;

impl Engine {
    /// Hears all members at the same time.
    pub(super) async fn hear_all(
        &self,
        asking: Asking<'_>,
        repository: &Repository,
        request: &ReviewRequest,
        change: &Change,
    ) -> Result<Vec<Heard>, CaseError> {
        let parts = material::parts(change, request.part_chars.max(1_000) as usize);
        let hearing = Hearing {
            asking,
            repository,
            request,
            parts: &parts,
        };
        let agents = request
            .members
            .iter()
            .enumerate()
            .filter_map(|(index, member)| {
                let Member::Agent {
                    name,
                    family,
                    domains,
                    is_tool,
                    tool,
                } = member
                else {
                    return None;
                };
                let member = AgentMember {
                    name: name.clone(),
                    family: family.clone(),
                    domains: domains.clone(),
                    tool: tool.clone(),
                };
                let is_tool = *is_tool;
                Some(async move {
                    // Nobody is asked about a change without a file, or without one that fits a question.
                    let is_idle = match is_tool {
                        true => change.files.is_empty(),
                        false => change.files.iter().all(|file| file.is_large),
                    };
                    let heard = if is_idle {
                        Heard::idle(&member)
                    } else if is_tool {
                        hearing.tool(&member, change).await?
                    } else {
                        hearing.agent(&member).await?
                    };
                    Ok::<_, CaseError>((index, heard))
                })
            });
        let (agents, builtin) =
            tokio::join!(finish_all(agents), self.hear_builtin(request, change));
        let mut heard = agents?;
        heard.extend(builtin?);
        heard.extend(self.hear_imports(repository, request, change).await?);
        heard.extend(unasked(request));
        heard.sort_by_key(|(index, _)| *index);
        Ok(heard.into_iter().map(|(_, heard)| heard).collect())
    }

    /// Runs the built-in reviewers of the panel.
    async fn hear_builtin(
        &self,
        request: &ReviewRequest,
        change: &Change,
    ) -> Result<Vec<(usize, Heard)>, CaseError> {
        let members: Vec<(usize, Domain)> = request
            .members
            .iter()
            .enumerate()
            .filter_map(|(index, member)| match member {
                Member::Builtin { domain } => Some((index, *domain)),
                Member::Agent { .. } | Member::Import { .. } | Member::Unasked { .. } => None,
            })
            .collect();
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let reviewer = rule_reviewer(request, members.iter().map(|(_, domain)| *domain))?;
        let markers = request.markers();
        let owned = change.clone();
        let check = move || builtin::check(&owned, &reviewer, markers);
        let checked = tokio::task::spawn_blocking(check);
        let mut checked = checked
            .await
            .map_err(|error| CaseError::Request(format!("a built-in reviewer failed: {error}")))?;
        let unread = checked.unread.clone();
        let covered: Vec<String> = change
            .files
            .iter()
            .filter(|file| builtin::reads(file) || file.status == FileStatus::Deleted)
            .filter(|file| unread.iter().all(|(path, _)| *path != file.path))
            .map(|file| file.path.clone())
            .collect();
        // The project's own rules speak through the first built-in reviewer of the panel.
        let mut own = checked
            .findings
            .remove(&Domain::Project)
            .unwrap_or_default();
        let mut refused = std::mem::take(&mut checked.refused);
        let mut suppressed = std::mem::take(&mut checked.suppressed);
        let heard = members.into_iter().map(|(index, domain)| {
            let mut findings = checked.findings.remove(&domain).unwrap_or_default();
            findings.append(&mut own);
            for finding in &mut findings {
                finding.reviewer = builtin::name(domain);
            }
            let state = match unread.first() {
                Some((path, why)) => ReviewerState::Missing {
                    class: None,
                    why: format!("it could not check {path}: {why}"),
                },
                None if covered.is_empty() && findings.is_empty() => ReviewerState::Idle,
                None => ReviewerState::Answered,
            };
            let heard = Heard {
                name: builtin::name(domain),
                family: builtin::FAMILY.to_owned(),
                findings,
                state,
                problems: unread
                    .iter()
                    .map(|(path, why)| format!("{path}: {why}"))
                    .collect(),
                covered: covered.clone(),
                elsewhere: 0,
                notes: std::mem::take(&mut refused),
                suppressed: std::mem::take(&mut suppressed),
            };
            (index, heard)
        });
        Ok(heard.collect())
    }

    pub(super) fn imports(&self, files: &[PathBuf]) -> Result<Vec<Member>, CaseError> {
        let read = |path: &PathBuf| {
            let doing = format!("read {}", path.display());
            let bytes = std::fs::read(path).map_err(CaseError::file(doing))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = self.redactor.redact(&String::from_utf8_lossy(&bytes));
            let contents = self
                .dir
                .put_blob(text.as_bytes())
                .map_err(CaseError::file("store the findings of another tool"))?;
            let report = tool_report_of(text.as_bytes());
            let told = report.ok().and_then(|report| report.tool);
            // A report that finds nothing often does not say whose it is; its name may.
            let by_name = || Some(tool_name(&name)).filter(|tool| is_known_tool(tool));
            Ok(Member::Import {
                family: told
                    .or_else(by_name)
                    .map(|tool| family_of_tool_named(&tool)),
                name: name.into_owned(),
                contents,
            })
        };
        files.iter().map(read).collect()
    }

    async fn hear_imports(
        &self,
        repository: &Repository,
        request: &ReviewRequest,
        change: &Change,
    ) -> Result<Vec<(usize, Heard)>, CaseError> {
        let mut members = request.members.iter();
        if !members.any(|member| matches!(member, Member::Import { .. })) {
            return Ok(Vec::new());
        }
        let earlier = hidden_findings::earlier_settings(repository, request, Vec::new());
        let settings = earlier.await?;
        let mut all = Vec::new();
        for (index, member) in request.members.iter().enumerate() {
            let Member::Import { name, contents, .. } = member else {
                continue;
            };
            let bytes = self
                .dir
                .get_blob(contents)
                .map_err(CaseError::file(format!("read the findings of {name}")))?;
            let author = Author {
                reviewer: name.clone(),
                family: member.family(),
            };
            let root = request.directory.to_string_lossy();
            let report = read_tool_report(&bytes, Some(&root), &author);
            let is_proven =
                !report.is_empty || report.looked.is_list() || report.looked.count.is_some();
            let tool = report
                .tool
                .unwrap_or_else(|| tool_name(&member.family().replace("tool:", "")));
            let (mut found, elsewhere) = hear::tools_own(report.findings, change);
            if request.refuse_new_suppressions {
                let markers = hidden_findings::of_markers(&tool, change, &author);
                found.findings.extend(markers);
                let edited = hidden_findings::of_settings(&tool, &settings, change, &author);
                found.findings.extend(edited);
            }
            hear::number(&mut found.findings);
            let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
            let mut failed = report.looked.failed.iter();
            let failed = failed.find_map(|path| tools_path(change, path));
            let missing = match (found.answered, failed) {
                (true, None) => None,
                (true, Some(path)) => Some(format!("the tool failed at {path}")),
                (false, _) => Some(format!(
                    "the file could not be read: {}",
                    problems.join("; ")
                )),
            };
            let state = missing.map_or(ReviewerState::Answered, |why| ReviewerState::Missing {
                class: None,
                why,
            });
            let heard = Heard {
                name: name.clone(),
                family: member.family(),
                findings: found.findings,
                state,
                problems,
                // Nobody knows what the tool looked at.
                covered: Vec::new(),
                elsewhere,
                notes: match found.answered && !is_proven {
                    true => vec![format!(
                        "{name} is an empty report that does not say which files were looked at: \
                         it proves nothing"
                    )],
                    false => Vec::new(),
                },
                suppressed: Vec::new(),
            };
            all.push((index, heard));
        }
        Ok(all)
    }

    /// Tells whether one of these looks at files by itself.
    pub(super) fn is_looked_around_by(&self, members: &[Member]) -> bool {
        members.iter().any(|member| match member {
            Member::Agent { name, .. } => self
                .seat(name)
                .is_ok_and(|seat| seat.agent.works_in_directory()),
            Member::Builtin { .. } | Member::Import { .. } | Member::Unasked { .. } => false,
        })
    }

    /// Makes a checkout for agents that look at files; an empty path when nobody does.
    pub(super) async fn prepare_checkout(
        &self,
        case: &Case,
        repository: &Repository,
        request: &ReviewRequest,
    ) -> Result<PathBuf, CaseError> {
        let needs = self.is_looked_around_by(&request.members);
        let place = self.dir.workplace(case.id());
        if !needs || request.pinned.empty.is_some() {
            return Ok(place);
        }
        let target = self
            .dir
            .make_workplace(case.id())
            .map_err(CaseError::file("make a directory for the agents"))?
            .join(match request.phase.as_str() {
                "" => "checkout".to_owned(),
                phase => format!("checkout {}", phase.trim_end_matches([':', ' '])),
            });
        let (repository, pinned, into) =
            (repository.clone(), request.pinned.clone(), target.clone());
        if !target.is_dir() {
            blocking(move || change::checkout(&repository, &pinned, &into)).await?;
        }
        Ok(target)
    }
}

/// Returns the reviewers who were not asked, as what they are: missing.
fn unasked(request: &ReviewRequest) -> impl Iterator<Item = (usize, Heard)> {
    let members = request.members.iter().enumerate();
    members.filter_map(|(index, member)| {
        let Member::Unasked { name } = member else {
            return None;
        };
        let heard = Heard {
            name: name.to_string(),
            family: member.family(),
            findings: Vec::new(),
            state: ReviewerState::not_trusted(),
            problems: Vec::new(),
            covered: Vec::new(),
            elsewhere: 0,
            notes: Vec::new(),
            suppressed: Vec::new(),
        };
        Some((index, heard))
    })
}

/// Returns the built-in reviewers of `domains`, with the rules and the levels of the review.
pub(super) fn rule_reviewer(
    request: &ReviewRequest,
    domains: impl IntoIterator<Item = Domain>,
) -> Result<Reviewer, CaseError> {
    let rules = load_user_rules(&request.rules.join("\n---\n"))
        .map_err(|error| CaseError::Request(error.to_string()))?;
    let reviewer = Reviewer::new(domains).with_rules(rules);
    Ok(reviewer.with_levels(request.rule_levels.clone()))
}
