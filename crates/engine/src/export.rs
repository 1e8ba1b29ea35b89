//! Everything about a case in one piece: for reading, for sharing, and for doing it again.

use std::fmt::Write as _;

use serde_json::json;
use tribunal_agents::Reply;
use tribunal_core::event::{Event, EventKind, RunResult};
use tribunal_core::ids::CaseId;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::time::Timestamp;
use tribunal_store::{CaseRecord, RunRecord, Store, StoreError};

use crate::care::collected_at;
use crate::care::pack::CaseFiles;
use crate::case::CaseError;
use crate::files::LedgerDir;

/// Events are read from the ledger in pages of this size.
const PAGE: u32 = 1_000;

/// A case with all that belongs to it.
#[derive(Debug)]
pub struct Exported {
    /// The case itself.
    pub case: CaseRecord,
    /// All of its events.
    pub events: Vec<Event>,
    /// All of its runs with their texts.
    pub runs: Vec<ExportedRun>,
    /// When the files of its runs were collected, where they were.
    pub collected_at: Option<Timestamp>,
}

/// A run with its texts, as far as its files are there.
#[derive(Debug)]
pub struct ExportedRun {
    /// The run as the ledger lists it.
    pub record: RunRecord,
    /// What was asked.
    pub prompt: Option<String>,
    /// What came back.
    pub reply: Option<Reply>,
}

impl Exported {
    /// Returns the report of a review that came to its end; nothing for other cases.
    pub fn review(&self, dir: &LedgerDir) -> Result<Option<ReviewReport>, CaseError> {
        let settled = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.kind {
                EventKind::ReviewSettled { report, .. } => Some(report),
                _ => None,
            });
        let Some(hash) = settled else {
            return Ok(None);
        };
        let bytes = dir
            .get_blob(hash)
            .map_err(CaseError::file("read the recorded report"))?;
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| CaseError::Request(format!("the recorded report: {error}")))
    }

    /// Collects a case from its ledger.
    pub async fn read(
        store: &dyn Store,
        dir: &LedgerDir,
        case: &CaseRecord,
    ) -> Result<Self, StoreError> {
        let events = events(store, &case.id).await?;
        let files = CaseFiles::new(dir, &case.id);
        let with_texts = |record: RunRecord| {
            let prompt = files.read(&record.id, "prompt.md").ok();
            let prompt = prompt.and_then(|bytes| String::from_utf8(bytes).ok());
            let reply = files.read(&record.id, "reply.json").ok();
            let reply = reply.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            ExportedRun {
                record,
                prompt,
                reply,
            }
        };
        let runs = store
            .runs(&case.id)
            .await?
            .into_iter()
            .map(with_texts)
            .collect();
        Ok(Self {
            case: case.clone(),
            collected_at: collected_at(&events),
            events,
            runs,
        })
    }

    /// Returns the sentence that tells that the texts of a run were collected; nothing while they are
    /// there.
    #[must_use]
    pub fn collected(&self, run: &ExportedRun) -> Option<String> {
        let at = self.collected_at?;
        let is_gone = run.prompt.is_none() && run.record.started_at <= at;
        is_gone.then(|| format!("Its files were collected by gc on {}.", at.date()))
    }

    /// Refuses what needs the texts of runs, if they were collected.
    pub(crate) fn require_texts(&self, what: &str) -> Result<(), CaseError> {
        let gone = self.runs.iter().find_map(|run| self.collected(run));
        match (gone, self.collected_at) {
            (Some(_), Some(at)) => Err(CaseError::Request(format!(
                "case {} cannot be {what}: its files were collected by gc on {}",
                self.case.id,
                at.date()
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the case as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let runs: Vec<_> = self.runs.iter().map(run_json).collect();
        let mut json = json!({
            "schema": "tribunal.case.v1",
            "case": self.case.id,
            "kind": self.case.kind,
            "title": self.case.title,
            "state": self.case.state,
            "opened_at": self.case.opened_at,
            "updated_at": self.case.updated_at,
            "spend": self.case.spend,
            "events": self.events,
            "runs": runs,
        });
        if let (Some(at), Some(fields)) = (self.collected_at, json.as_object_mut()) {
            fields.insert("collected_at".to_owned(), json!(at));
        }
        json
    }

    /// Returns the case as a report to read. Foreign text stands in fences longer than itself.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let case = &self.case;
        let mut text = format!("# Case {}\n\n{}\n\n", case.id, fenced(&case.title));
        let _ = writeln!(
            text,
            "- Kind: {}\n- Events: {}\n- Runs: {}\n",
            case.kind, case.last_seq, case.spend.runs
        );
        for run in &self.runs {
            let record = &run.record;
            let _ = writeln!(text, "## {} on `{}`\n", record.agent, record.step);
            let how = match &record.result {
                Some(RunResult::Answered { .. }) => "answered".to_owned(),
                Some(RunResult::Failed { class, .. }) => format!("failed ({class})"),
                Some(RunResult::Abandoned) => "cut off".to_owned(),
                None => "not finished".to_owned(),
            };
            let _ = writeln!(
                text,
                "Run {}, {how}, {} tokens.\n",
                record.id,
                record.usage.total()
            );
            if let Some(told) = self.collected(run) {
                let _ = writeln!(text, "{told}\n");
            }
            if let Some(prompt) = &run.prompt {
                let _ = writeln!(text, "Asked:\n\n{}\n", fenced(prompt));
            }
            match (&run.reply, &record.result) {
                (Some(reply), _) => {
                    let _ = writeln!(text, "Answered:\n\n{}\n", fenced(&reply.text));
                }
                (None, Some(RunResult::Failed { message, .. })) => {
                    let _ = writeln!(text, "Failed:\n\n{}\n", fenced(message));
                }
                (None, _) => {}
            }
        }
        text
    }
}

/// Returns all events of a case.
pub(crate) async fn events(store: &dyn Store, case: &CaseId) -> Result<Vec<Event>, StoreError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = store.events(case, after, PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

fn run_json(run: &ExportedRun) -> serde_json::Value {
    let record = &run.record;
    json!({
        "run": record.id,
        "step": record.step,
        "agent": record.agent,
        "provider": record.provider,
        "model": record.model,
        "attempt": record.attempt,
        "started_at": record.started_at,
        "elapsed_ms": record.elapsed_ms,
        "result": record.result,
        "usage": record.usage,
        "cost": record.cost,
        "prompt": run.prompt,
        "reply": run.reply,
    })
}

/// Returns `text` in a Markdown fence that nothing in it can close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_its_content() {
        assert_eq!(fenced("a"), "```text\na\n```");
        assert_eq!(fenced("````\n# forged"), "`````text\n````\n# forged\n`````");
    }
}
