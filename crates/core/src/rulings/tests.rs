//! Which finding an entry is about, and what is wrong with a file.

use serde_json::json;

use super::*;
use crate::review::sample;

fn finding() -> ReviewedFinding {
    let mut finding = sample::finding("a1b2c3d4e5");
    finding.location.file = "src/pay.py".to_owned();
    finding.location.function = Some("total".to_owned());
    finding.title = "SQL from user input".to_owned();
    finding.voices = vec![voice("SQL from user input", "")];
    finding
}

fn voice(title: &str, rule: &str) -> Voice {
    serde_json::from_value(json!({
        "reviewer": "ann", "family": "a", "id": "1", "rule": rule, "title": title,
        "place": "desk-total-1", "description": TEXT, "trigger": "user = 1", "location": {"file": "src/pay.py", "line": 5}, "severity": null,
        "confidence": null, "grounding": "confirmed", "doubts": [],
    }))
    .expect("a voice")
}

const TEXT: &str = "The name of the user goes into the query.";
const CODE: &str = "rate=db.execute(user)";
const NOW: Timestamp = Timestamp(1_794_830_400_000);

fn ruling() -> TeamRuling {
    let terms = Terms {
        person: "Ann".to_owned(),
        ..Terms::default()
    };
    TeamRuling::of(&finding(), at(CODE), "It is escaped", &terms, NOW)
}

/// Returns the only place of its name with this code.
fn at(code: &str) -> CitedPlace {
    CitedPlace {
        code: code.to_owned(),
        scope: "Desk.total".to_owned(),
        signature: "(self,user)#0".to_owned(),
        is_only: true,
    }
}

/// Returns whether the finding counts after `change`, and the code at its place.
fn counts(ruling: &TeamRuling, change: impl Fn(&mut ReviewedFinding) -> &'static str) -> bool {
    let mut findings = [finding()];
    let code = change(&mut findings[0]);
    let mut place = at(code);
    if findings[0].location.function.as_deref() == Some("other") {
        place.scope = "Desk.other".to_owned();
    }
    dismiss(&mut findings, &[place], std::slice::from_ref(ruling));
    let [finding] = findings;
    assert_eq!(finding.counts, finding.team_ruling.is_none());
    finding.counts
}

#[test]
fn a_ruling_covers_its_claim_at_its_place_and_nothing_else() {
    type Change = fn(&mut ReviewedFinding) -> &'static str;
    let table: [(&str, Change, bool); 19] = [
        ("the same", |_| CODE, false),
        (
            "by the name of its place, in another ledger",
            |one| {
                one.fingerprint = "ffff".to_owned();
                CODE
            },
            false,
        ),
        (
            "an equal line of the same function",
            |one| {
                one.fingerprint = "ffff".to_owned();
                one.voices[0].place = "desk-total-2".to_owned();
                CODE
            },
            true,
        ),
        (
            "somebody claims it of an equal line besides",
            |one| {
                one.voices.push(one.voices[0].clone());
                one.voices[1].place = "desk-total-2".to_owned();
                CODE
            },
            true,
        ),
        (
            "no name of a place, same identity",
            |one| {
                one.voices[0].place.clear();
                CODE
            },
            false,
        ),
        (
            "no name of a place, another identity",
            |one| {
                one.fingerprint = "ffff".to_owned();
                one.voices[0].place.clear();
                CODE
            },
            true,
        ),
        (
            "the same title over another text",
            |one| {
                one.voices[0].description = "Anybody deletes all accounts.".to_owned();
                CODE
            },
            true,
        ),
        (
            "a sentence more",
            |one| {
                one.voices[0].description += " Also leaks the password.";
                CODE
            },
            true,
        ),
        (
            "less",
            |one| {
                one.voices[0].trigger.clear();
                CODE
            },
            false,
        ),
        (
            "another trigger",
            |one| {
                one.voices[0].trigger = "any visitor".to_owned();
                CODE
            },
            true,
        ),
        (
            "another function",
            |one| {
                one.fingerprint = "ffff".to_owned();
                one.location.function = Some("other".to_owned());
                CODE
            },
            true,
        ),
        (
            "another file",
            |one| {
                one.location.file = "src/b.py".to_owned();
                CODE
            },
            true,
        ),
        (
            "another category",
            |one| {
                one.category = Category::Performance;
                CODE
            },
            true,
        ),
        (
            "another claim",
            |one| {
                one.voices = vec![voice("It is slow", "")];
                CODE
            },
            true,
        ),
        (
            "spelled otherwise",
            |one| {
                one.voices = vec![voice(" sql  from User input. ", "")];
                CODE
            },
            false,
        ),
        (
            "somebody claims something else besides",
            |one| {
                one.voices.push(voice("The key is in the log", ""));
                CODE
            },
            true,
        ),
        (
            "a rule claims it besides",
            |one| {
                one.voices.push(voice("x", "B608"));
                CODE
            },
            true,
        ),
        (
            "upheld before",
            |one| {
                one.standing = Standing::Upheld;
                CODE
            },
            true,
        ),
        (
            "nobody claims it",
            |one| {
                one.voices.clear();
                CODE
            },
            true,
        ),
    ];
    for (what, change, expected) in table {
        assert_eq!(counts(&ruling(), change), expected, "{what}");
    }
}

#[test]
fn a_rule_is_known_by_its_id_and_its_code_and_not_by_its_words() {
    let mut of_rule = finding();
    of_rule.rule = "B608".to_owned();
    of_rule.voices = vec![voice("SQL from user input", "B608")];
    let of_rule = TeamRuling::of(&of_rule, at(CODE), "Fine", &Terms::default(), NOW);
    let titles_only = TeamRuling {
        claims: Vec::new(),
        ..of_rule.clone()
    };
    for (title, rule, code, expected) in [
        ("Reworded by a new version", "B608", CODE, false),
        ("Reworded by a new version", "B608", "", true),
        ("SQL from user input", "B608", "", false),
        ("Reworded by a new version", "B609", CODE, true),
        ("SQL from user input", "B609", CODE, true),
    ] {
        let found = counts(&of_rule, |one| {
            one.voices = vec![voice(title, rule)];
            code
        });
        assert_eq!(found, expected, "{title} {rule} {code}");
    }
    let old = |rule: &'static str| {
        counts(&titles_only, |one| {
            one.voices = vec![voice("Reworded by a new version", rule)];
            CODE
        })
    };
    assert_eq!([old("B608"), old("B609")], [false, true]);
}

#[test]
fn an_entry_without_claims_covers_its_title_under_its_identity() {
    let old = TeamRuling {
        claims: Vec::new(),
        ..ruling()
    };
    for (fingerprint, title, expected) in [
        ("a1b2c3d4e5", "SQL from user input", false),
        ("a1b2c3d4e5", "SQL from anybody", true),
        ("ffff", "SQL from user input", true),
    ] {
        let found = counts(&old, |one| {
            one.fingerprint = fingerprint.to_owned();
            one.voices = vec![voice(title, "")];
            CODE
        });
        assert_eq!(found, expected, "{fingerprint} {title}");
    }
    let mut document = serde_json::to_value(&old).expect("it is plain data");
    assert_eq!(document.get("claims"), None);
    document = json!({"rulings": [document]});
    let read = TeamRulings::read(&document).expect("it is a file");
    assert_eq!((read.rulings, read.problems.len()), (vec![old], 0));
}

#[test]
fn an_entry_concerns_its_finding_also_where_more_is_claimed_now() {
    let mut more = finding();
    more.voices[0].description += " Also leaks the password.";
    assert!(!ruling().is_about(&more, &at(CODE)));
    assert!(ruling().concerns(&more, &at(CODE)));
    more.fingerprint = "ffff".to_owned();
    assert!(!ruling().concerns(&more, &at(CODE)));
}

#[test]
fn of_two_findings_that_claim_the_same_at_one_place_none_is_dismissed_without_its_identity() {
    let mut findings = [finding(), finding()];
    findings[0].fingerprint = "ffff".to_owned();
    findings[1].fingerprint = "eeee".to_owned();
    dismiss(&mut findings, &[at(CODE), at(CODE)], &[ruling()]);
    assert!(findings.iter().all(|one| one.counts));
    findings[1].fingerprint = ruling().fingerprint;
    dismiss(&mut findings, &[at(CODE), at(CODE)], &[ruling()]);
    assert_eq!(findings.map(|one| one.counts), [true, false]);
}

#[test]
fn a_ruling_covers_its_function_and_no_other_of_that_name() {
    type Change = fn(&mut CitedPlace);
    let known = ruling().fingerprint;
    let old = TeamRuling {
        scope: String::new(),
        signature: String::new(),
        claims: Vec::new(),
        ..ruling()
    };
    let other_class = |place: &mut CitedPlace| place.scope = "Other.total".to_owned();
    let overload = |place: &mut CitedPlace| {
        place.signature = "(self,user,n)#0".to_owned();
        place.is_only = false;
    };
    let first_of_two = |place: &mut CitedPlace| place.is_only = false;
    let more_parameters = |place: &mut CitedPlace| place.signature = "(self,a,b)#0".to_owned();
    let table: [(&str, &TeamRuling, &str, Change, bool); 11] = [
        ("the same, moved", &ruling(), "ffff", |_| (), false),
        ("another class", &ruling(), "ffff", other_class, true),
        (
            "another class of that id",
            &ruling(),
            &known,
            other_class,
            true,
        ),
        ("an overload", &ruling(), "ffff", overload, true),
        ("an overload of that id", &ruling(), &known, overload, true),
        ("beside an overload", &ruling(), "ffff", first_of_two, false),
        (
            "with a parameter more",
            &ruling(),
            "ffff",
            more_parameters,
            false,
        ),
        ("old: the only one", &old, &known, |_| (), false),
        ("old: another id", &old, "ffff", |_| (), true),
        ("old: an overload", &old, &known, overload, true),
        ("old: beside an overload", &old, &known, first_of_two, true),
    ];
    for (what, ruling, fingerprint, change, expected) in table {
        let mut findings = [finding()];
        findings[0].fingerprint = fingerprint.to_owned();
        let mut place = at(CODE);
        change(&mut place);
        dismiss(&mut findings, &[place], std::slice::from_ref(ruling));
        assert_eq!(findings[0].counts, expected, "{what}");
    }
}

#[test]
fn a_voice_about_an_overload_beside_the_lead_is_not_covered() {
    let first_of_two = CitedPlace {
        is_only: false,
        ..at(CODE)
    };
    for (signature, expected) in [("(self,user)#0", true), ("(self,user,n)#0", false)] {
        let mut merged = finding();
        let mut besides = merged.voices[0].clone();
        besides.scope.clone_from(&first_of_two.scope);
        besides.signature = signature.to_owned();
        merged.voices.push(besides);
        let is_about = ruling().is_about(&merged, &first_of_two);
        assert_eq!(is_about, expected, "{signature}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_named_and_does_not_count() {
    let good = serde_json::to_value(ruling()).expect("it is plain data");
    let with = |key: &str, value: Value| {
        let mut entry = good.clone();
        entry[key] = value;
        entry
    };
    let without = |key: &str| {
        let mut entry = good.clone();
        entry.as_object_mut().expect("an entry").remove(key);
        entry
    };
    for (document, expected) in [
        (json!(null), "0"),
        (json!({}), "0"),
        (json!({"rulings": null}), "0"),
        (json!({"rulings": [good]}), "1"),
        (json!([]), "it is not a mapping with the key `rulings`"),
        (json!("x"), "it is not a mapping with the key `rulings`"),
        (json!({"rulings": {}}), "`rulings` is not a list"),
        (
            json!({"rules": []}),
            "unknown key `rules`; the only key is `rulings`",
        ),
        (
            json!({"rulings": [without("reason"), good]}),
            "1, entry 1: missing field `reason`",
        ),
        (
            json!({"rulings": [good, with("reason", json!(" "))]}),
            "1, entry 2: `reason` is empty",
        ),
        (
            json!({"rulings": [with("by", json!(""))]}),
            "0, entry 1: `by` is empty",
        ),
        (
            json!({"rulings": [with("fingerprint", json!(""))]}),
            "0, entry 1: `fingerprint` is empty",
        ),
        (
            json!({"rulings": [with("expires", json!("soon"))]}),
            "0, entry 1: `soon` is not a date such as `2026-12-31`",
        ),
        (
            json!({"rulings": [with("date", json!("2026-02-30"))]}),
            "0, entry 1: `2026-02-30` is not a date such as `2026-12-31`",
        ),
    ] {
        let told = match TeamRulings::read(&document) {
            Ok(read) => {
                let mut told = vec![read.rulings.len().to_string()];
                told.extend(read.problems);
                told.join(", ")
            }
            Err(problem) => problem,
        };
        assert_eq!(told, expected, "{document}");
    }
    for (key, value) in [
        ("extra", json!(1)),
        ("decision", json!("enforce")),
        ("basis", json!("whim")),
        ("reason", json!(5)),
        ("category", json!("nonsense")),
    ] {
        let read = TeamRulings::read(&json!({"rulings": [with(key, value)]}));
        let read = read.expect("the file itself is right");
        assert_eq!((read.rulings.len(), read.problems.len()), (0, 1), "{key}");
    }
}

#[test]
fn entries_are_added_and_removed_without_touching_the_rest() {
    let first = ruling();
    let second = TeamRuling {
        reason: "a: \"b\"\n  - c # d".to_owned(),
        also: vec!["x".to_owned()],
        ..ruling()
    };
    let one = with_entry("", &first);
    assert_eq!(one, render(std::slice::from_ref(&first)));
    let noted = format!("# ours\n{one}    # a remark\n\n");
    let two = with_entry(&noted, &second);
    assert!(two.starts_with("# ours\n") && two.contains("# a remark"));
    assert_eq!(without_entry(&two, 1), noted.trim_end().to_owned() + "\n");
    assert_eq!(
        without_entry(&render(&[first.clone(), second.clone()]), 0),
        render(&[second])
    );
    assert_eq!(without_entry(&one, 7), one);
    insta::assert_snapshot!(one, @r#"
    # What this team decided about findings of `tribunal review`. An entry counts for a change once it
    # is in the base commit of that change. `tribunal dismiss --team` writes this file.
    rulings:
      - finding: "a1b2c3d4e5"
        fingerprint: "a1b2c3d4e5"
        file: "src/pay.py"
        function: "total"
        scope: "Desk.total"
        signature: "(self,user)#0"
        code: "rate=db.execute(user)"
        category: "bug"
        title: "SQL from user input"
        claims: [{"place":"desk-total-1","text":"SQL from user input\n\nThe name of the user goes into the query.\n\nuser = 1"}]
        decision: "dismiss"
        basis: "not_a_defect"
        reason: "It is escaped"
        by: "Ann"
        date: "2026-11-16"
    "#);
}

#[test]
fn a_ruling_ends_after_its_last_day() {
    let mut limited = ruling();
    limited.expires = Some("2026-11-16".to_owned());
    assert!(!limited.has_expired(NOW));
    assert!(limited.has_expired(NOW.plus_days(1)));
    limited.expires = Some("nonsense".to_owned());
    assert!(
        limited.has_expired(NOW),
        "what cannot be read does not hold"
    );
    limited.basis = Basis::RiskAccepted;
    limited.expires = Some("2026-12-31".to_owned());
    insta::assert_snapshot!(limited.phrase(), @"risk accepted until 2026-12-31 by the team's rulings (by Ann on 2026-11-16): It is escaped");
    insta::assert_snapshot!(ruling().phrase(), @"dismissed by the team's rulings (by Ann on 2026-11-16): It is escaped");
}
