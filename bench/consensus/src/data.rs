//! Labelled reviews: findings of several tools, and the golden comments that they match.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// One pull request.
#[derive(Debug, Deserialize)]
pub struct Review {
    pub pr_id: String,
    pub repo: String,
    pub reviewers: BTreeMap<String, Vec<Value>>,
    pub golden: Vec<Golden>,
    /// The golden comments that each finding matches, by finding id.
    #[serde(skip)]
    pub truth: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct Golden {
    #[serde(rename = "id")]
    _id: String,
}

/// Reads a file of reviews. What tells the truth is taken out of the findings.
pub fn read(path: &str) -> Result<Vec<Review>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut reviews = Vec::new();
    for line in text.lines() {
        let mut review: Review = serde_json::from_str(line).map_err(|error| error.to_string())?;
        for finding in review.reviewers.values_mut().flatten() {
            let Some(object) = finding.as_object_mut() else {
                return Err("a finding is no object".to_owned());
            };
            let id = object["id"].as_str().unwrap_or_default().to_owned();
            let all = object.remove("truth_all").unwrap_or_default();
            let all: Vec<String> =
                serde_json::from_value(all).map_err(|error| error.to_string())?;
            review.truth.insert(id, all);
            object.remove("truth");
            object.remove("label");
        }
        reviews.push(review);
    }
    Ok(reviews)
}

/// Returns all panels of three tools, without those that hold two versions of one tool.
pub fn panels(reviews: &[Review]) -> Vec<[String; 3]> {
    let mut tools: Vec<String> = reviews
        .iter()
        .flat_map(|one| one.reviewers.keys().cloned())
        .collect();
    tools.sort();
    tools.dedup();
    let maker = |tool: &str| tool.split("-v").next().unwrap_or_default().to_owned();
    let mut panels = Vec::new();
    for a in 0..tools.len() {
        for b in a + 1..tools.len() {
            for c in b + 1..tools.len() {
                let panel = [&tools[a], &tools[b], &tools[c]];
                let mut makers: Vec<String> = panel.iter().map(|tool| maker(tool)).collect();
                makers.sort();
                makers.dedup();
                if makers.len() == 3 {
                    panels.push(panel.map(Clone::clone));
                }
            }
        }
    }
    panels
}
