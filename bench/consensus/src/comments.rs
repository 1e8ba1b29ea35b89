//! Counts wrong merges on review comments from which duplicates were removed, and measures whether a
//! confidence means anything.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_core::consensus::{Policy, settle_line};

/// What experts said about the comments of one pull request.
#[derive(Debug, Deserialize)]
struct Opinions {
    valid: BTreeMap<String, bool>,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut policy = Policy::tribunal();
    let mut path = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--policy" => {
                let name = rest.next().ok_or("--policy needs a value")?;
                policy = Policy::preset(name).map_err(|error| error.to_string())?;
            }
            "--set" => {
                let change = rest.next().ok_or("--set needs a value")?;
                policy = crate::score::changed(&policy, change)?;
            }
            given => path = Some(given),
        }
    }
    let path = path.ok_or("comments FILE [--policy P]")?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let (mut comments, mut merged, mut groups) = (0, 0, 0);
    let mut rated: Vec<(u8, bool)> = Vec::new();
    for line in text.lines() {
        let opinions: Opinions = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let settled = settle_line(line, &policy, None).map_err(|error| error.to_string())?;
        for finding in settled.0.findings {
            comments += finding.ids.len();
            if finding.ids.len() > 1 {
                merged += finding.ids.len();
                groups += 1;
            }
            let valid = finding.ids.first().and_then(|id| opinions.valid.get(id.as_str()?));
            rated.extend(valid.map(|valid| (finding.confidence, *valid)));
        }
    }
    println!("policy {}: {comments} comments", policy.name);
    let share = 100.0 * merged as f64 / f64::from(u32::try_from(comments).unwrap_or(1).max(1));
    println!("in groups of two or more: {merged} ({share:.1} %), {groups} groups");
    println!("confidence against validity (AUC): {:.3}", auc(&rated));
    Ok(())
}

/// Returns how often a valid comment has more confidence than one that is not; ties count half.
fn auc(rated: &[(u8, bool)]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for (valid, _) in rated.iter().filter(|one| one.1) {
        for (other, _) in rated.iter().filter(|one| !one.1) {
            pairs += 1.0;
            won += match valid.cmp(other) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    if pairs == 0.0 { 0.5 } else { won / pairs }
}
