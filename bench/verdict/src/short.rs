//! What a record is worth when it is short: of so many comparisons in place of all there are.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::consensus::Record;
use tribunal_core::verdict::Method;

use crate::data::Item;
use crate::panels::{PANELS, Panel};
use crate::{Known, add_to, score};

/// So many comparisons a record is made of.
const LENGTHS: [usize; 5] = [2, 5, 10, 20, 50];

/// So often they are drawn.
const DRAWS: u64 = 40;

/// Prints for each panel and length how many points a record gains over the plain mean: on average, and
/// in the worst draw.
pub fn print(items: &[Item]) {
    println!(
        "points gained over the mean by a record of so many comparisons (worst of {DRAWS} draws)"
    );
    print!("{:<22}", "");
    LENGTHS.iter().for_each(|length| print!("{length:>16}"));
    println!();
    for panel in PANELS.iter().filter(|panel| !panel.everybody) {
        let heard: Vec<&Item> = items
            .iter()
            .filter(|item| panel.ballots(item).is_some())
            .collect();
        let plain = score(items, panel, Method::Mean, Known::Nothing, &BTreeMap::new()).right;
        print!("{:<22}", panel.name);
        for length in LENGTHS {
            let gains = (0..DRAWS).map(|draw| {
                let records = drawn(&heard, panel, length, draw);
                let with = score(items, panel, Method::Mean, Known::OtherSubsets, &records).right;
                (with - plain) * 100.0
            });
            let gains: Vec<f64> = gains.collect();
            let mean = gains.iter().sum::<f64>() / gains.len() as f64;
            let worst = gains.iter().copied().fold(f64::INFINITY, f64::min);
            print!("{:>16}", format!("{mean:+.1} ({worst:+.1})"));
        }
        println!();
    }
}

/// Returns records of `length` comparisons outside of each subset, about the judges of the panel.
fn drawn<'i>(
    heard: &[&'i Item],
    panel: &Panel,
    length: usize,
    draw: u64,
) -> BTreeMap<&'i str, Record> {
    let subsets: BTreeSet<&str> = heard.iter().map(|item| item.subset.as_str()).collect();
    let mut state = 1 + draw;
    let mut below = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let mut records = BTreeMap::new();
    for subset in subsets {
        let mut pool: Vec<&&Item> = heard.iter().filter(|item| item.subset != subset).collect();
        let mut record = Record::default();
        for _ in 0..length.min(pool.len()) {
            let item = pool.swap_remove(below(pool.len()));
            let ballots = panel.ballots(item).unwrap_or_default();
            ballots
                .iter()
                .for_each(|ballot| add_to(&mut record, ballot, &item.truth));
        }
        records.insert(subset, record);
    }
    records
}
