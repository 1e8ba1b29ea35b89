//! Findings in lines that did not change, which the change made true: dormant code that it wakes.
//!
//! A comment that no longer is one, a quote that is gone, or another first line can make a program
//! of lines that nobody touched. So the rules also read the file as it was before.

use std::collections::BTreeSet;

use tribunal_code::language::Language;
use tribunal_code::rule::{Hit, Refusal, Refused, Report, Reviewer, Source, TextSource};
use tribunal_core::review::coverage::FileStatus;

use super::builtin::CountedMarkers;
use crate::change::ChangedFile;

/// Why a file was not checked to the end.
pub(super) const CUT_OFF: &str = "it took too long, or too many rules matched";

/// Adds to `report` what the rules find in unchanged lines of `file`, and did not find there before.
pub(super) fn add_woken(
    report: &mut Report,
    reviewer: &Reviewer,
    file: &ChangedFile,
    markers: CountedMarkers,
) -> Result<(), String> {
    let is_edited = matches!(file.status, FileStatus::Modified | FileStatus::Renamed);
    let Some(old) = file.base_text.as_deref().filter(|_| is_edited) else {
        return Ok(());
    };
    let now = survey(reviewer, &file.path, &file.text)?;
    let silenced = report.silenced.iter().map(|one| &one.hit);
    let seen: BTreeSet<_> = places(report.hits.iter().chain(silenced));
    let is_unseen = |hit: &Hit| !seen.contains(&(hit.rule.clone(), hit.line));
    let hits: Vec<Hit> = now.hits.into_iter().filter(&is_unseen).collect();
    let mut silenced = now.silenced;
    silenced.retain(|one| is_unseen(&one.hit));
    if hits.is_empty() && silenced.is_empty() {
        return Ok(());
    }
    let old_path = file.old_path.as_deref().unwrap_or(&file.path);
    let before = survey(reviewer, old_path, old)?;
    let were_hits = places(before.hits.iter());
    let were_silenced = places(before.silenced.iter().map(|one| &one.hit));
    let place = |hit: &Hit| {
        let line = file.diff.old_line(hit.line)?;
        Some((hit.rule.clone(), line))
    };
    let hits = hits.into_iter();
    report
        .hits
        .extend(hits.filter(|hit| place(hit).is_none_or(|it| !were_hits.contains(&it))));
    silenced.retain(|one| {
        let is_old = |it: &(String, u32)| were_hits.contains(it) || were_silenced.contains(it);
        place(&one.hit).is_none_or(|it| !is_old(&it))
    });
    for one in silenced {
        match markers {
            CountedMarkers::All => report.silenced.push(one),
            // Nobody judged the comment while there was nothing to suppress.
            CountedMarkers::Settled => {
                report.refused.push(Refused {
                    rule: one.hit.rule.clone(),
                    line: one.hit.line,
                    why: Refusal::OfTheChange,
                });
                report.hits.push(one.hit);
            }
        }
    }
    Ok(())
}

fn places<'a>(hits: impl Iterator<Item = &'a Hit>) -> BTreeSet<(String, u32)> {
    hits.map(|hit| (hit.rule.clone(), hit.line)).collect()
}

/// Returns all that the rules say about a file, whatever changed in it.
fn survey(reviewer: &Reviewer, path: &str, text: &str) -> Result<Report, String> {
    let source = TextSource {
        path,
        text,
        changed: None,
    };
    let scripts = reviewer.check_scripts(&source);
    let mut reports = vec![
        reviewer.survey_text(&source),
        scripts.map_err(|error| error.to_string())?,
    ];
    if let Some(language) = Language::detect(path, text) {
        let source = Source {
            path,
            language,
            text,
            changed: None,
        };
        reports.push(
            reviewer
                .survey(&source)
                .map_err(|error| error.to_string())?,
        );
    }
    let mut all = Report::default();
    for report in reports {
        if report.cut_off.is_some() {
            return Err(CUT_OFF.to_owned());
        }
        all.hits.extend(report.hits);
        all.silenced.extend(report.silenced);
    }
    Ok(all)
}
