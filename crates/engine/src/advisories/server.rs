//! Records from an OSV-compatible server: `v1/query` by package, `v1/vulns/ID` by id.

use serde_json::{Value, json};
use tribunal_agents::AgentError;
use tribunal_agents::http::JsonService;
use tribunal_code::advisory::{Index, IndexBuilder, Subjects};

/// So many packages and ids are asked about in one review.
const MOST_QUESTIONS: usize = 200;

/// So many pages of one answer are read.
const MOST_PAGES: usize = 20;

/// Longer texts are no ids of advisories.
const LONGEST_ID: usize = 64;

/// Returns what the server below `url` knows about `subjects`, and what could not be read.
///
/// # Errors
///
/// The server cannot be reached or refuses to answer.
pub(crate) async fn from_server(
    url: &str,
    subjects: &Subjects,
) -> Result<(Index, Vec<String>), AgentError> {
    let service = JsonService::new(url)?;
    let mut builder = IndexBuilder::new();
    let mut notes = Vec::new();
    let asked = subjects.packages.len() + subjects.ids.len();
    if asked > MOST_QUESTIONS {
        let left = asked - MOST_QUESTIONS;
        notes.push(format!("{left} packages or ids were not looked up"));
    }
    let mut names: Vec<(&str, &str)> = subjects
        .packages
        .iter()
        .map(|package| (package.ecosystem.as_str(), package.name.as_str()))
        .collect();
    // One question for all versions of a package.
    names.dedup();
    let ids = subjects.ids.iter().filter(|id| id.len() <= LONGEST_ID);
    for id in ids.take(MOST_QUESTIONS) {
        let id = spelled(id);
        if let Some(record) = service.get(&["v1", "vulns", &id]).await? {
            builder.add_json(&id, &record);
        }
    }
    for (ecosystem, name) in names.into_iter().take(MOST_QUESTIONS) {
        by_package(&service, &mut builder, ecosystem, name).await?;
    }
    let (index, problems) = builder.finish();
    notes.extend(problems.iter().map(super::sentence));
    Ok((index, notes))
}

/// Returns an id as its database writes it: all use capitals, but one only for its name.
fn spelled(id: &str) -> String {
    match id.strip_prefix("GHSA-") {
        Some(rest) => format!("GHSA-{}", rest.to_ascii_lowercase()),
        None => id.to_owned(),
    }
}

/// Adds all records about a package, whichever versions they affect: also that a version has the
/// patch is an answer.
async fn by_package(
    service: &JsonService,
    builder: &mut IndexBuilder,
    ecosystem: &str,
    name: &str,
) -> Result<(), AgentError> {
    let mut page: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let mut question = json!({"package": {"ecosystem": ecosystem, "name": name}});
        if let Some(token) = &page {
            question["page_token"] = json!(token);
        }
        let Some(answer) = service.post(&["v1", "query"], &question).await? else {
            return Ok(());
        };
        let read: Value = serde_json::from_slice(&answer).unwrap_or(Value::Null);
        let empty = read.as_object().is_some_and(serde_json::Map::is_empty);
        if !empty {
            builder.add_json(&format!("{ecosystem}/{name}"), &answer);
        }
        match read.get("next_page_token").and_then(Value::as_str) {
            Some(token) if !token.is_empty() => page = Some(token.to_owned()),
            _ => return Ok(()),
        }
    }
    Ok(())
}
