//! Scores policies on labelled reviews: medians over all panels of three tools.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tribunal_core::consensus::{BatchFinding, Policy, Record, Rulings, settle_line};
use tribunal_core::finding::Category;

use crate::data::{Review, panels, read};
use crate::metrics::{Measures, measure, medians};

/// What was asked for.
struct Options {
    path: String,
    policy: Policy,
    /// Learn reliability from the reviews of other repositories.
    record: bool,
    /// Choose `--grid` values on other repositories.
    grid: Vec<(String, Vec<i64>)>,
    /// Look at every n-th panel only.
    every: usize,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = options(arguments)?;
    let reviews = read(&options.path)?;
    let panels: Vec<_> = panels(&reviews)
        .into_iter()
        .step_by(options.every)
        .collect();
    println!(
        "{} reviews, {} panels of three, policy {}",
        reviews.len(),
        panels.len(),
        options.policy.name
    );
    println!(
        "{:<34}{}",
        "",
        Measures::NAMES.map(|name| format!("{name:>10}")).concat()
    );
    let records = options.record.then(|| records(&reviews));
    let fixed = |_: &str| options.policy.clone();
    let all = score(&reviews, &panels, &fixed, records.as_ref());
    show("as it stands", &all);
    figures(&options.policy.name, options.record, &all);
    if !options.grid.is_empty() {
        leave_one_out(&options, &reviews, &panels, records.as_ref())?;
    }
    Ok(())
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        path: String::new(),
        policy: Policy::tribunal(),
        record: false,
        grid: Vec::new(),
        every: 1,
    };
    let mut changes = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--policy" => {
                options.policy = Policy::preset(value()?).map_err(|error| error.to_string())?
            }
            "--record" => options.record = true,
            "--every" => options.every = value()?.parse().map_err(|_| "--every N".to_owned())?,
            "--set" => changes.push(value()?.clone()),
            "--grid" => {
                let (key, values) = value()?.split_once('=').ok_or("--grid a.b=1,2,3")?;
                let values: Result<Vec<i64>, _> = values.split(',').map(str::parse).collect();
                options
                    .grid
                    .push((key.to_owned(), values.map_err(|error| error.to_string())?));
            }
            path => path.clone_into(&mut options.path),
        }
    }
    for change in changes {
        options.policy = changed(&options.policy, &change)?;
    }
    Ok(options)
}

/// Returns the policy with one number changed, given as `matching.text.threshold=240`.
pub fn changed(policy: &Policy, change: &str) -> Result<Policy, String> {
    let (key, number) = change.split_once('=').ok_or("--set a.b=N")?;
    set(policy, key, number.parse().map_err(|_| "--set a.b=N")?)
}

/// Returns the policy with one number changed, named as `matching.text.threshold`.
fn set(policy: &Policy, key: &str, number: i64) -> Result<Policy, String> {
    let keys = key.rsplit('.');
    let change = keys.fold(json!(number), |inner, key| json!({key: inner}));
    policy.changed(&change).map_err(|error| error.to_string())
}

/// Returns what the other repositories say about each tool, by the repository left out.
fn records(reviews: &[Review]) -> BTreeMap<String, Record> {
    let repositories: Vec<&str> = reviews.iter().map(|review| review.repo.as_str()).collect();
    let mut records = BTreeMap::new();
    for left_out in repositories {
        let mut record = Record::default();
        for review in reviews.iter().filter(|review| review.repo != left_out) {
            for (tool, findings) in &review.reviewers {
                let known = record.reviewers.entry(tool.clone()).or_default();
                let rulings: &mut Rulings = known.entry(Category::Other).or_default();
                for id in findings.iter().filter_map(|finding| finding["id"].as_str()) {
                    if review.truth[id].is_empty() {
                        rulings.dismissed += 1;
                    } else {
                        rulings.upheld += 1;
                    }
                }
            }
        }
        records.insert(left_out.to_owned(), record);
    }
    records
}

/// Settles all reviews for all panels; the policy may depend on the repository.
fn score(
    reviews: &[Review],
    panels: &[[String; 3]],
    policy_for: &dyn Fn(&str) -> Policy,
    records: Option<&BTreeMap<String, Record>>,
) -> Vec<Measures> {
    let policies: BTreeMap<&str, Policy> = reviews
        .iter()
        .map(|review| (review.repo.as_str(), policy_for(&review.repo)))
        .collect();
    panels
        .iter()
        .map(|panel| {
            let settled: Vec<(&Review, Vec<BatchFinding>)> = reviews
                .iter()
                .map(|review| {
                    let record = records.and_then(|records| records.get(&review.repo));
                    let policy = &policies[review.repo.as_str()];
                    (review, settle_panel(review, panel, policy, record))
                })
                .collect();
            measure(&settled)
        })
        .collect()
}

fn settle_panel(
    review: &Review,
    panel: &[String; 3],
    policy: &Policy,
    record: Option<&Record>,
) -> Vec<BatchFinding> {
    let reviewers: BTreeMap<&String, Value> = panel
        .iter()
        .filter_map(|tool| Some((tool, Value::Array(review.reviewers.get(tool)?.clone()))))
        .collect();
    let line = json!({"pr_id": review.pr_id, "reviewers": reviewers}).to_string();
    let (settled, problems) = settle_line(&line, policy, record).expect("the line was just made");
    assert!(problems.is_empty(), "{}", problems[0]);
    settled.findings
}

/// Chooses the values of the grid on two repositories and applies them to the third.
fn leave_one_out(
    options: &Options,
    reviews: &[Review],
    panels: &[[String; 3]],
    records: Option<&BTreeMap<String, Record>>,
) -> Result<(), String> {
    let mut policies = vec![(String::new(), options.policy.clone())];
    for (key, values) in &options.grid {
        let mut next = Vec::new();
        for (name, policy) in &policies {
            for value in values {
                next.push((format!("{name} {key}={value}"), set(policy, key, *value)?));
            }
        }
        policies = next;
    }
    let mut repositories: Vec<&str> = reviews.iter().map(|review| review.repo.as_str()).collect();
    repositories.dedup();
    let mut best: BTreeMap<&str, (f64, Policy, String)> = BTreeMap::new();
    for (name, policy) in &policies {
        let fixed = |_: &str| policy.clone();
        show(name.trim(), &score(reviews, panels, &fixed, records));
        for left_out in &repositories {
            let others: Vec<Review> = read(&options.path)?
                .into_iter()
                .filter(|review| review.repo != *left_out)
                .collect();
            let medians = medians(&score(&others, panels, &fixed, records));
            // Grouping, ranking and acceptance count alike.
            let worth = medians[0] + medians[2] + medians[5];
            if best.get(left_out).is_none_or(|(most, ..)| worth > *most) {
                best.insert(left_out, (worth, policy.clone(), name.clone()));
            }
        }
    }
    for (left_out, (_, _, name)) in &best {
        println!("chosen without {left_out}:{name}");
    }
    let chosen = |repo: &str| best[repo].1.clone();
    show(
        "chosen on the other repositories",
        &score(reviews, panels, &chosen, records),
    );
    Ok(())
}

/// Prints what is asked of the default policy, for programs.
fn figures(policy: &str, record: bool, all: &[Measures]) {
    let with = if record { " with a record" } else { "" };
    for (name, value) in Measures::NAMES.into_iter().zip(medians(all)) {
        let bound = match (policy, record, name) {
            ("tribunal", false, "pair F1") => ">= 0.82",
            ("tribunal", false, "AP") => ">= 0.385",
            ("tribunal", false, "F1") => ">= 0.45",
            ("tribunal", false, "agreed P") => ">= 0.60",
            ("tribunal", false, "agreed R") => ">= 0.30",
            _ => "",
        };
        println!("figure\t{policy}{with}, {name}\t{value:.3}\t{bound}");
    }
}

fn show(name: &str, all: &[Measures]) {
    let columns = medians(all).map(|value| format!("{value:>10.3}")).concat();
    println!("{name:<34}{columns}");
}
