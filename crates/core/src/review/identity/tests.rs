//! Claims that are found again, and claims that are not.

use std::collections::BTreeMap;

use super::*;
use crate::finding::Location;
use crate::scale::Severity;

const ZERO: (&str, &str) = (
    "Division by zero",
    "An order without items has count 0, and the whole batch is lost.",
);
const FLOAT: (&str, &str) = (
    "Money is rounded as a float",
    "Amounts are cents; a float loses some, so that the shares do not add up.",
);

fn place(name: &str, category: Category) -> String {
    format!("{name} {category}")
}

fn claim(at: &str, rule: &str, (title, description): (&str, &str)) -> SightedClaim {
    SightedClaim {
        claimed: Claimed {
            place: place(at, Category::Bug),
            category: Category::Bug,
            rule: rule.to_owned(),
            text: ClaimText::new(title, description),
            scope: "A.run".to_owned(),
            signature: "(q)#0".to_owned(),
        },
        file: "a.py".to_owned(),
        places: Category::ALL.map(|category| place(at, category)).to_vec(),
        earlier_places: Vec::new(),
        is_only: true,
        has_code: !at.is_empty(),
    }
}

fn sighting(claims: &[SightedClaim]) -> Sighting {
    Sighting {
        claims: claims.to_vec(),
    }
}

fn known(name: &str, title: &str, standing: Standing, claims: &[SightedClaim]) -> TrackedFinding {
    TrackedFinding {
        fingerprint: name.to_owned(),
        location: Location::default(),
        category: Category::Bug,
        severity: Severity::High,
        label: None,
        title: title.to_owned(),
        code: "x".to_owned(),
        standing,
        claimed: claims.iter().map(|one| one.claimed.clone()).collect(),
        branches: BTreeMap::new(),
    }
}

fn dismissal(finding: TrackedFinding) -> Dismissal {
    Dismissal {
        finding,
        dispute: DisputeId::new("d-1a2b3c4d5e").expect("an id"),
        at: Timestamp(1_800_000_000_000),
    }
}

fn mint(sighting: &Sighting, number: u32) -> String {
    let lead = &sighting.claims[0].claimed;
    format!(
        "{} {} {} {number}",
        lead.place,
        lead.rule,
        lead.text.title()
    )
}

/// Returns the name of each sighting, with a mark for what is dismissed or like something dismissed.
fn names(
    sightings: &[Sighting],
    known: &[TrackedFinding],
    dismissals: &[Dismissal],
) -> Vec<(String, &'static str)> {
    let found = recognize(sightings, known, dismissals, mint).into_iter();
    let mark = |one: &Recognized| match (one.dismissed, &one.similar) {
        (true, _) => "dismissed",
        (false, Some(_)) => "similar",
        (false, None) => "",
    };
    found
        .map(|one| (one.fingerprint.clone(), mark(&one)))
        .collect()
}

#[test]
fn two_claims_about_one_line_or_without_a_file_have_two_names() {
    for at in ["line", ""] {
        let both = [
            sighting(&[claim(at, "", ZERO)]),
            sighting(&[claim(at, "", FLOAT)]),
        ];
        let found = names(&both, &[], &[]);
        assert_ne!(found[0].0, found[1].0);
        let rules = [
            sighting(&[claim(at, "no-eval", ("Bad", ""))]),
            sighting(&[claim(at, "no-with", ("Bad", ""))]),
        ];
        let found = names(&rules, &[], &[]);
        assert_ne!(found[0].0, found[1].0);
        // The very same claim twice is two findings of a report all the same.
        let twice = [
            sighting(&[claim(at, "", ZERO)]),
            sighting(&[claim(at, "", ZERO)]),
        ];
        let found = names(&twice, &[], &[]);
        assert_ne!(found[0].0, found[1].0);
    }
}

#[test]
fn a_claim_keeps_its_name_in_other_words_and_another_one_does_not_take_it() {
    let reworded = (
        "Division by zero for an empty order",
        "A batch is lost when an order has no items, because count is 0 then.",
    );
    let before = [known(
        "old",
        ZERO.0,
        Standing::Open,
        &[claim("line", "", ZERO)],
    )];
    for (now, kept) in [(ZERO, true), (reworded, true), (FLOAT, false)] {
        let found = names(&[sighting(&[claim("line", "", now)])], &before, &[]);
        assert_eq!(found[0].0 == "old", kept, "{now:?}");
    }
    let elsewhere = names(&[sighting(&[claim("other line", "", ZERO)])], &before, &[]);
    assert_ne!(elsewhere[0].0, "old");
}

#[test]
fn different_claims_of_consecutive_reviews_about_one_line_have_different_names() {
    let text = "The division by count raises an error when count is zero.";
    let reviews = [
        ("Division by zero", text),
        ("Authentication can be bypassed", text),
        ("Rest by zero", text),
        (
            "Division by zero",
            "When count is zero, the division raises.",
        ),
        ("A division by zero is possible", text),
        (
            "Rest by zero",
            "When count is zero, the rest raises an error.",
        ),
    ];
    let mut before: Vec<TrackedFinding> = Vec::new();
    let mut found = Vec::new();
    for now in reviews {
        let claims = [claim("line", "", now)];
        let (name, _) = names(&[sighting(&claims)], &before, &[]).remove(0);
        before.retain(|one| one.fingerprint != name);
        before.push(known(&name, now.0, Standing::Open, &claims));
        found.push(name);
    }
    let first = |name: &String| found.iter().position(|one| one == name);
    let firsts: Vec<_> = found.iter().filter_map(first).collect();
    assert_eq!(firsts, [0, 1, 2, 0, 0, 2]);
}

#[test]
fn each_known_finding_is_found_once_and_the_best_match_has_it() {
    let before = [known(
        "old",
        ZERO.0,
        Standing::Open,
        &[claim("line", "", ZERO)],
    )];
    let like = ("Division by zero when an order is empty", "count is 0");
    let now = [
        sighting(&[claim("line", "", like)]),
        sighting(&[claim("line", "", ZERO)]),
    ];
    let found = names(&now, &before, &[]);
    assert_eq!(found[1].0, "old");
    assert_ne!(found[0].0, "old");
}

#[test]
fn findings_of_the_first_version_are_found_by_place_and_title() {
    // It recorded no claims, and the name of the place as fingerprint.
    let name = place("line", Category::Bug);
    let before = [known(&name, ZERO.0, Standing::Open, &[])];
    for (rule, now, kept) in [
        ("", ZERO, true),
        ("div-by-zero", ZERO, true),
        ("", FLOAT, false),
    ] {
        let found = names(&[sighting(&[claim("line", rule, now)])], &before, &[]);
        assert_eq!(found[0].0 == name, kept, "{rule} {now:?}");
    }
    let ruled = [dismissal(known(&name, ZERO.0, Standing::Dismissed, &[]))];
    let dismissed = [known(&name, ZERO.0, Standing::Dismissed, &[])];
    let now = [
        sighting(&[claim("line", "", ZERO)]),
        sighting(&[claim("line", "", FLOAT)]),
    ];
    let found = names(&now, &dismissed, &ruled);
    assert_eq!(found[0], (name.clone(), "dismissed"));
    assert_eq!(found[1].1, "");
    assert_ne!(found[1].0, name);
}

#[test]
fn a_dismissal_covers_what_was_shown_and_nothing_else() {
    let shown = [claim("line", "", ZERO)];
    let before = [known("old", ZERO.0, Standing::Dismissed, &shown)];
    let ruled = [dismissal(before[0].clone())];
    let similar = (
        "Division by zero in `refund`",
        "An order without items has count 0, and the whole batch is lost.",
    );
    let table = [
        (vec![claim("line", "", ZERO)], "dismissed"),
        (vec![claim("line", "", similar)], "similar"),
        (vec![claim("line", "", FLOAT)], ""),
        (vec![claim("line", "a-rule", ZERO)], ""),
        (vec![claim("other line", "", ZERO)], ""),
        // A finding that also claims something else is not covered.
        (
            vec![claim("line", "", ZERO), claim("line", "", FLOAT)],
            "similar",
        ),
        (
            vec![claim("line", "", FLOAT), claim("line", "", ZERO)],
            "similar",
        ),
    ];
    for (claims, expected) in table {
        let found = names(&[sighting(&claims)], &before, &ruled);
        assert_eq!(found[0].1, expected, "{claims:?}");
        assert_eq!(found[0].0 == "old", expected == "dismissed", "{claims:?}");
    }
}

#[test]
fn a_dismissal_covers_no_sentence_that_was_not_shown() {
    let shown = [claim("line", "", ZERO)];
    let before = [known("old", ZERO.0, Standing::Dismissed, &shown)];
    let ruled = [dismissal(before[0].clone())];
    let text = ZERO.1;
    for (description, expected) in [
        (text.to_owned(), "dismissed"),
        (text.to_uppercase(), "dismissed"),
        (text.replace("the whole batch", "whole batch"), "dismissed"),
        (String::new(), "dismissed"),
        (format!("{text} Also leaks the password."), "similar"),
        (format!("Attackers delete the database. {text}"), "similar"),
        (text.replace("lost", "sold"), "similar"),
        (text.replace("order", "admin"), "similar"),
    ] {
        let now = claim("line", "", (ZERO.0, &description));
        let found = names(&[sighting(&[now])], &before, &ruled);
        assert_eq!(found[0].1, expected, "{description}");
        assert_eq!(
            found[0].0 == "old",
            expected == "dismissed",
            "{description}"
        );
    }
    let mut with_trigger = claim("line", "", ZERO);
    let text = with_trigger.claimed.text.clone();
    with_trigger.claimed.text = text.with_details(&["Any visitor sends an empty order"]);
    let found = names(&[sighting(&[with_trigger])], &before, &ruled);
    assert_eq!(found[0].1, "similar");
}

#[test]
fn a_ruling_on_a_merged_finding_covers_each_text_that_was_shown() {
    let shown = [claim("line", "", ZERO), claim("near line", "", FLOAT)];
    let before = [known("old", ZERO.0, Standing::Dismissed, &shown)];
    let ruled = [dismissal(before[0].clone())];
    let now = [sighting(&[shown[1].clone()]), sighting(&[shown[0].clone()])];
    let found = names(&now, &before, &ruled);
    assert_eq!([found[0].1, found[1].1], ["dismissed", "dismissed"]);
    assert_ne!(found[0].0, found[1].0);
    // The text of one about the place of the other was not shown.
    let moved = [sighting(&[claim("line", "", FLOAT)])];
    assert_eq!(names(&moved, &before, &ruled)[0].1, "");
}

#[test]
fn a_rule_is_known_by_its_id_and_its_code() {
    let shown = [claim(
        "line",
        "no-eval",
        ("`eval` runs text", "Anybody runs code."),
    )];
    let before = [known(
        "old",
        "`eval` runs text",
        Standing::Dismissed,
        &shown,
    )];
    let ruled = [dismissal(before[0].clone())];
    for (rule, at, expected) in [
        ("no-eval", "line", "dismissed"),
        ("no-eval", "other line", ""),
        ("no-exec", "line", ""),
    ] {
        // The message of a rule may change with its version.
        let now = claim(at, rule, ("Never call eval", ""));
        assert_eq!(
            names(&[sighting(&[now])], &before, &ruled)[0].1,
            expected,
            "{rule} {at}"
        );
    }
}

#[test]
fn without_a_dismissal_that_holds_a_finding_counts_again() {
    let shown = [claim("line", "", ZERO)];
    let before = [known("old", ZERO.0, Standing::Dismissed, &shown)];
    let found = names(&[sighting(&shown)], &before, &[]);
    assert_eq!(found[0], ("old".to_owned(), ""));
}

#[test]
fn a_ruling_covers_its_code_and_no_other_of_that_name() {
    let shown = claim("line", "no-eval", ("Bad", ""));
    let old = |mut one: SightedClaim| {
        one.claimed.scope = String::new();
        one.claimed.signature = String::new();
        one
    };
    let with = |signature: &str, is_only: bool| {
        let mut one = shown.clone();
        one.claimed.signature = signature.to_owned();
        one.is_only = is_only;
        one
    };
    let mut renamed = claim("other name of the line", "no-eval", ("Bad", ""));
    renamed.earlier_places = shown.places.clone();
    for (what, ruled, now, is_covered) in [
        ("the same", &shown, shown.clone(), true),
        ("beside an overload", &shown, with("(q)#0", false), true),
        ("an overload", &shown, with("(q,n)#0", false), false),
        ("a second definition", &shown, with("(q)#1", false), false),
        ("with a parameter more", &shown, with("(q,n)#0", true), true),
        (
            "old, the only one",
            &old(shown.clone()),
            shown.clone(),
            true,
        ),
        (
            "old, one of two",
            &old(shown.clone()),
            with("(q)#0", false),
            false,
        ),
        (
            "old, under its earlier name",
            &old(shown.clone()),
            renamed.clone(),
            true,
        ),
        ("new, under an earlier name", &shown, renamed.clone(), false),
    ] {
        let ruled = known(
            "old",
            "Bad",
            Standing::Dismissed,
            std::slice::from_ref(ruled),
        );
        let dismissals = [dismissal(ruled.clone())];
        let found = names(&[sighting(&[now])], &[ruled], &dismissals);
        let (name, mark) = &found[0];
        assert_eq!(*mark == "dismissed", is_covered, "{what}");
        assert_eq!(name == "old", is_covered, "{what}");
    }
}

#[test]
fn an_edited_line_is_said_to_be_similar_to_what_was_dismissed_and_counts() {
    let ruled = claim("old line", "eval", ZERO);
    let mut finding = known("f-1", ZERO.0, Standing::Dismissed, &[ruled]);
    "a.py".clone_into(&mut finding.location.file);
    let told = |claim: SightedClaim| {
        let all = [dismissal(finding.clone())];
        let recognized = recognize(&[sighting(&[claim])], &[finding.clone()], &all, mint);
        let one = recognized.into_iter().next().unwrap();
        assert!(!one.dismissed);
        one.similar.is_some()
    };
    let edited = || claim("new line", "eval", FLOAT);
    assert!(told(edited()));
    let mut elsewhere = edited();
    "b.py".clone_into(&mut elsewhere.file);
    assert!(!told(elsewhere), "another file");
    let mut other_code = edited();
    "B.run".clone_into(&mut other_code.claimed.scope);
    assert!(!told(other_code), "another function");
    assert!(!told(claim("new line", "shell", FLOAT)), "another rule");
    assert!(!told(claim("new line", "", FLOAT)), "another claim");
}
