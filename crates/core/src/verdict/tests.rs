//! The verdict as a whole, on small panels.

use super::*;

/// Reads a panel such as `ann: a=80 b=60`, one judge a line; `| a=…` is the reversed pass, `ann@x` a
/// judge of the family `x`.
fn panel(text: &str) -> Sitting {
    let mut contestants = BTreeSet::new();
    let pass = |text: &str| -> BTreeMap<String, Points> {
        let pairs = text.split_whitespace();
        let pairs = pairs.map(|pair| pair.split_once('=').expect("id=score"));
        let read = |(id, score): (&str, &str)| (id.to_owned(), score.parse().expect("a score"));
        pairs.map(read).collect()
    };
    let ballots: Vec<Ballot> = text
        .lines()
        .map(|line| {
            let (judge, scores) = line.trim().split_once(':').expect("a judge");
            let (first, second) = match scores.split_once('|') {
                Some((first, second)) => (first, Some(second)),
                None => (scores, None),
            };
            let (judge, family) = match judge.split_once('@') {
                Some((judge, family)) => (judge, Some(family.to_owned())),
                None => (judge, None),
            };
            Ballot {
                judge: judge.to_owned(),
                family,
                scores: pass(first),
                swapped: second.map(pass),
            }
        })
        .collect();
    for ballot in &ballots {
        contestants.extend(ballot.scores.keys().cloned());
    }
    Sitting {
        contestants,
        ballots,
        ..Sitting::default()
    }
}

/// Returns the verdict in a few words.
fn verdict(text: &str) -> String {
    told(decide(&panel(text), Method::Mean, None))
}

fn told(found: Result<Verdict, NoVerdict>) -> String {
    let found = match found {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let mut words = vec![format!(
        "{} {:?}",
        found.winner.as_deref().unwrap_or("tie"),
        found.confidence
    )];
    for one in &found.ranking {
        let (error, interval) = (one.error, one.interval);
        let error = error.map_or_else(String::new, |error| format!(" ± {}", error.tenths()));
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", low.tenths(), high.tenths())
        });
        words.push(format!(
            "{}. {} {}{error}{interval}",
            one.rank,
            one.contestant,
            one.average.tenths()
        ));
    }
    if let Some(margin) = &found.margin {
        let clear = if margin.clear { "clear" } else { "not clear" };
        words.push(format!("margin {} {clear}", margin.points.tenths()));
    }
    if let Some(agreement) = found.agreement {
        words.push(format!("alpha {} of {}", agreement.alpha, agreement.n));
    }
    for judge in &found.judges {
        let (lean, prefers) = (judge.lean.tenths(), judge.prefers.join("="));
        words.push(format!("{} leans {lean}, prefers {prefers}", judge.judge));
    }
    let minority: Vec<&str> = found.minority().map(|one| one.judge.as_str()).collect();
    if !minority.is_empty() {
        words.push(format!("minority {}", minority.join(", ")));
    }
    words.extend(found.doubts.iter().map(ToString::to_string));
    words.join("\n")
}

#[test]
fn three_judges_who_agree_are_too_few_for_an_interval() {
    insta::assert_snapshot!(verdict("ann: a=80 b=60 c=40\nbob: a=84 b=61 c=43\ncat: a=78 b=62 c=44"), @"
    a Some(88)
    1. a 80.7
    2. b 61.0
    3. c 42.3
    margin 19.7 not clear
    alpha 0.982493 of 9
    ann leans -2.0, prefers a
    bob leans 2.0, prefers a
    cat leans 0.0, prefers a
    3 voices are too few for an interval: it takes four
    ");
}

#[test]
fn four_judges_who_agree_give_a_clear_verdict_within_the_scale() {
    let found = decide(
        &panel("ann: a=80 b=60\nbob: a=82 b=61\ncat: a=79 b=60\ndan: a=81 b=62"),
        Method::Mean,
        None,
    );
    let margin = found.expect("a verdict").margin.expect("a second");
    assert!(margin.clear);
    let wide = decide(
        &panel("ann: a=100 b=0\nbob: a=0 b=100\ncat: a=100 b=0\ndan: a=100 b=90"),
        Method::Mean,
        None,
    );
    let (low, high) = wide
        .expect("a verdict")
        .margin
        .and_then(|margin| margin.interval)
        .expect("an interval of four");
    assert!(low >= Points::whole(-100) && high <= Points::FULL);
}

#[test]
fn confidence_falls_with_every_judge_who_sat_and_does_not_count() {
    for ballots in [
        "ann: a=80 b=60",
        "ann: a=80 b=60\nbob: a=70 b=60",
        "ann: a=80 b=60\nbob: a=70 b=60\ncat: a=50 b=60",
    ] {
        let mut sitting = panel(ballots);
        let mut before = 100;
        for failed in 0..4 {
            let found = decide(&sitting, Method::Mean, None).expect("a verdict");
            let sure = found.confidence.expect("a second");
            assert!(sure < before && sure > 50, "{ballots}, {failed}: {sure}");
            before = sure;
            sitting.absent.push(Excluded {
                judge: format!("failed {failed}"),
                why: "no answer came".to_owned(),
            });
        }
    }
    // One of three judges is less than three of three who are divided.
    let mut one = panel("ann: a=80 b=60");
    for judge in ["bob", "cat"] {
        let why = "no answer came".to_owned();
        let judge = judge.to_owned();
        one.absent.push(Excluded { judge, why });
    }
    let sure = |sitting: &Sitting| decide(sitting, Method::Mean, None).map(|one| one.confidence);
    let divided = panel("ann: a=80 b=60\nbob: a=70 b=60\ncat: a=50 b=60");
    assert!(sure(&one).expect("a verdict") < sure(&divided).expect("a verdict"));
}

#[test]
fn another_method_names_its_own_number_and_who_leads_by_plain_average() {
    let text = "ann: a=50 b=0\nbob: a=50 b=40\ncat: a=10 b=45\ndan: a=0 b=100";
    let found = decide(&panel(text), Method::Median, None);
    let found = found.expect("a verdict");
    // Medians 30 and 42.5, averages 27.5 and 46.25.
    assert_eq!(
        crate::trial::report::summary(&found, str::to_owned),
        "b won with a median of 42.5/100; the plain average is 46.3."
    );
    let found = decide(
        &panel("ann: a=50 b=40\nbob: a=50 b=40\ncat: a=10 b=100"),
        Method::Median,
        None,
    );
    let found = found.expect("a verdict");
    assert_eq!(
        crate::trial::report::summary(&found, str::to_owned),
        "a won with a median of 50.0/100; by plain average b leads with 60.0."
    );
    let told: Vec<String> = found.doubts.iter().map(ToString::to_string).collect();
    assert!(
        told.contains(&"by plain average b leads with 60.0".to_owned()),
        "{told:?}"
    );
}

#[test]
fn a_tie_is_a_tie() {
    insta::assert_snapshot!(verdict("ann: a=80 b=60\nbob: a=60 b=80"), @"
    tie Some(50)
    1. a 70.0
    1. b 70.0
    margin 0.0 not clear
    alpha -0.5 of 4
    ann leans 0.0, prefers a
    bob leans 0.0, prefers b
    the first places are tied
    the judges hardly agree (α -0.50)
    ");
}

#[test]
fn one_judge_alone_and_one_contestant_alone_say_so() {
    insta::assert_snapshot!(verdict("ann: a=80 b=60"), @"
    a Some(75)
    1. a 80.0
    2. b 60.0
    margin 20.0 not clear
    ann leans 0.0, prefers a
    only one judge counts
    ");
    insta::assert_snapshot!(verdict("ann: a=80\nbob: a=60"), @"
    a None
    1. a 70.0
    ann leans 20.0, prefers a
    bob leans -20.0, prefers a
    only one contestant was left to judge
    ");
}

#[test]
fn judges_of_one_family_are_no_more_certain_than_one_of_them() {
    insta::assert_snapshot!(verdict("ann@x: a=80 b=60\nbob@x: a=80 b=60\ncat@x: a=80 b=60"), @"
    a Some(75)
    1. a 80.0
    2. b 60.0
    margin 20.0 not clear
    alpha 1 of 6
    ann leans 0.0, prefers a
    bob leans 0.0, prefers a
    cat leans 0.0, prefers a
    all 3 judges are of one family: they count as one voice
    ");
    insta::assert_snapshot!(verdict("ann@x: a=80 b=60\nbob@x: a=82 b=60\ncat@y: a=70 b=65"), @"
    a Some(82)
    1. a 77.3
    2. b 61.7
    margin 15.7 not clear
    alpha 0.734403 of 6
    ann leans 0.8, prefers a
    bob leans 2.3, prefers a
    cat leans -3.0, prefers a
    the 3 judges are of 2 families: those of one family count as one voice
    ");
}

#[test]
fn judges_of_whom_nothing_came_and_answers_seen_in_part_are_doubts() {
    let sitting = Sitting {
        absent: vec![Excluded {
            judge: "eve".to_owned(),
            why: "connection refused".to_owned(),
        }],
        shortened: BTreeMap::from([("b".to_owned(), 40)]),
        ..panel("ann: a=80 b=60\nbob: a=82 b=60\nzoe: a=3")
    };
    let found = decide(&sitting, Method::Mean, None).expect("a verdict");
    let excluded: Vec<String> = found
        .excluded
        .iter()
        .map(|one| format!("{}: {}", one.judge, one.why))
        .collect();
    assert_eq!(
        excluded,
        ["eve: connection refused", "zoe: it did not score `b`"]
    );
    let doubts: Vec<String> = found.doubts.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(doubts.join("\n"), @"
    2 voices are too few for an interval: it takes four
    2 judges were left out
    judges saw only 40 % of what b handed in
    ");
}

#[test]
fn whether_a_judge_decides_is_asked_of_the_method_that_is_used() {
    // By the mean eve decides; the median does not follow her in the first place.
    let sitting = panel("ann: a=70 b=60\nbob: a=72 b=62\neve: a=0 b=100");
    for (method, winner, decisive) in [(Method::Mean, "b", true), (Method::Median, "a", false)] {
        let found = decide(&sitting, method, None).expect("a verdict");
        assert_eq!(found.winner.as_deref(), Some(winner), "{method}");
        let lone = found.doubts.iter().find_map(|doubt| match doubt {
            Doubt::LoneJudge(lone) => Some(lone.decisive),
            _ => None,
        });
        assert_eq!(lone, Some(decisive), "{method}");
    }
}

#[test]
fn weighted_judges_are_outvoted_by_weight() {
    let counts = |upheld, dismissed| crate::consensus::Preferences {
        upheld,
        dismissed,
        even: 0,
    };
    let record = Record {
        judges: BTreeMap::from([
            ("ann".to_owned(), counts(90, 30)),
            ("bob".to_owned(), counts(80, 30)),
            ("cat".to_owned(), counts(80, 30)),
        ]),
        ..Record::default()
    };
    let sitting = panel("ann: a=50 b=60\nbob: a=50 b=60\ncat: a=99 b=0");
    let found = decide(&sitting, Method::Mean, Some(&record)).expect("a verdict");
    assert!(found.weighted);
    let doubts: Vec<String> = found.doubts.iter().map(ToString::to_string).collect();
    assert!(
        doubts.contains(&"judges of more weight prefer the second to the first".to_owned()),
        "{doubts:?}"
    );
}

#[test]
fn a_judge_who_obeys_a_contestant_stands_alone() {
    insta::assert_snapshot!(verdict("ann: a=70 b=40\nbob: a=72 b=45\neve: a=10 b=100"), @"
    b Some(37)
    1. b 61.7
    2. a 50.7
    margin 11.0 not clear
    alpha -0.203517 of 6
    ann leans -1.8, prefers a
    bob leans 3.5, prefers a
    eve leans -1.8, prefers b
    minority ann, bob
    3 voices are too few for an interval: it takes four
    more judges prefer the second than the first
    the judges hardly agree (α -0.20)
    eve stands alone: a 59 points below the others; without this judge another would have won
    ");
}

#[test]
fn a_judge_who_follows_the_order_is_told() {
    insta::assert_snapshot!(verdict("ann: a=80 b=70 | a=70 b=80\nbob: a=75 b=60 | a=74 b=60"), @"
    a Some(67)
    1. a 74.8
    2. b 67.5
    margin 7.3 not clear
    alpha -0.022701 of 4
    ann leans 7.8, prefers a=b
    bob leans -7.8, prefers a
    2 voices are too few for an interval: it takes four
    the judges hardly agree (α -0.02)
    1 of 2 judges ranked the first two otherwise when their order was reversed
    ");
}

#[test]
fn judges_who_missed_somebody_or_judged_twice_do_not_count() {
    let text = "ann: a=80 b=60\nbob: a=60\ncat: a=1 b=2\ncat: a=2 b=1";
    insta::assert_snapshot!(verdict(text), @"
    a Some(58)
    1. a 80.0
    2. b 60.0
    margin 20.0 not clear
    ann leans 0.0, prefers a
    only one judge counts
    2 judges were left out
    ");
    assert_eq!(
        verdict("ann: a=3\nbob: b=4"),
        "no judge counts (ann: it did not score `b`; bob: it did not score `a`)"
    );
}

#[test]
fn the_order_of_ballots_changes_nothing() {
    let mut sitting =
        panel("ann@x: a=80 b=60 c=11\nbob: a=60 b=81 c=90\ncat@x: a=33 b=44 c=55\ndan: a=1");
    for method in Method::ALL {
        let forth = decide(&sitting, method, None);
        sitting.ballots.reverse();
        assert_eq!(forth, decide(&sitting, method, None));
    }
}

#[test]
fn every_score_lies_within_its_judges_and_every_winner_is_a_contestant() {
    // A fixed sequence of pseudo-random panels.
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..300 {
        let (judges, count) = (1 + next(7), 1 + next(6));
        let ids: BTreeSet<String> = (0..count).map(|id| format!("c{id}")).collect();
        let ballots: Vec<Ballot> = (0..judges)
            .map(|judge| Ballot {
                judge: format!("j{judge}"),
                family: (judge % 3 == 0).then(|| "x".to_owned()),
                scores: ids
                    .iter()
                    .map(|id| (id.clone(), Points::whole(i32::try_from(next(101)).unwrap())))
                    .collect(),
                swapped: None,
            })
            .collect();
        let sitting = Sitting {
            contestants: ids.clone(),
            ballots,
            ..Sitting::default()
        };
        for method in Method::ALL {
            let found = decide(&sitting, method, None).expect("a verdict");
            assert_eq!(found.ranking.len(), ids.len());
            assert!(found.winner.as_ref().is_none_or(|id| ids.contains(id)));
            for one in &found.ranking {
                assert!(one.lowest <= one.average && one.average <= one.highest);
                assert!(one.score.is_score());
            }
            for pair in found.ranking.windows(2) {
                assert!(pair[0].score >= pair[1].score && pair[0].rank <= pair[1].rank);
            }
            let weights: i64 = found.judges.iter().map(|one| one.weight.rounded()).sum();
            assert!((95..=105).contains(&weights), "{weights}");
        }
    }
}

#[test]
fn a_crowd_is_refused() {
    let crowd = Sitting {
        contestants: (0..=MOST_CONTESTANTS).map(|id| id.to_string()).collect(),
        ..Sitting::default()
    };
    let refused = decide(&crowd, Method::Mean, None);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "101 contestants are more than the 100 that are compared"
    );
}
