//! Disputes: what each event does in each state, what follows from it, and the page for people.

use tribunal_core::dispute::{
    Answer, Chooser, Decision, Dispute, Effect, Gravity, Grounds, Hearing, JudgeNamed, Opening,
    Origin, Party, Position, Recourse, Referral, Ruler, Subject, TaskChange, Terms,
};
use tribunal_core::event::DisputeEvent;
use tribunal_core::finding::{Category, Location};
use tribunal_core::ids::{CaseId, DisputeId};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::Standing;
use tribunal_core::scale::Severity;
use tribunal_core::time::Timestamp;

#[path = "disputes/page.rs"]
mod page;

fn id(figures: u64) -> DisputeId {
    DisputeId::of_case(&CaseId::from_bits(figures))
}

fn position(author: &str, text: &str) -> Position {
    Position {
        author: author.to_owned(),
        model: Some(format!("{author}-4")),
        family: Some(author.to_owned()),
        text: text.to_owned(),
    }
}

fn about_task() -> Opening {
    Opening {
        key: "task t-1".to_owned(),
        subject: Subject::Task {
            task: "t-1".to_owned(),
            title: "Fix login bug".to_owned(),
        },
        origin: Origin::Objection,
        gravity: Gravity::Major,
        grounds: Grounds::ArchitectureDisagreement,
        objection: None,
        coder: Some(position("sonnet", "JWT tokens scale better.")),
        reviewer: Some(position("opus", "Sessions are more secure.")),
        rule: String::new(),
        evidence: Vec::new(),
        files: vec!["src/auth/jwt.ts".to_owned()],
        material: None,
        notes: String::new(),
        created_by: None,
    }
}

fn about_finding() -> Opening {
    let finding = TrackedFinding {
        fingerprint: "0123456789ab".to_owned(),
        location: Location {
            file: "src/db.rs".to_owned(),
            line: Some(10),
            ..Location::default()
        },
        category: Category::Security,
        severity: Severity::High,
        label: None,
        title: "query built by hand".to_owned(),
        code: "q".to_owned(),
        standing: Standing::Open,
        claimed: Vec::new(),
        branches: std::collections::BTreeMap::new(),
    };
    Opening {
        subject: Subject::Finding {
            review: CaseId::from_bits(9),
            finding: Box::new(finding),
        },
        ..about_task()
    }
}

fn judge() -> JudgeNamed {
    JudgeNamed {
        agent: "judy".to_owned(),
        model: None,
        family: "j".to_owned(),
        kin: false,
    }
}

fn heard(answer: Option<Answer>) -> DisputeEvent {
    DisputeEvent::JudgeHeard {
        hearing: Box::new(Hearing {
            judge: judge(),
            answer,
            reason: "because".to_owned(),
            reversal: "a test".to_owned(),
        }),
    }
}

fn ruled(decision: Decision, ruler: Ruler, overrules: bool) -> DisputeEvent {
    DisputeEvent::DisputeRuled {
        decision,
        reason: "because".to_owned(),
        reversal: String::new(),
        ruler,
        terms: Terms::default(),
        overrules,
    }
}

fn chosen(recourse: Recourse) -> DisputeEvent {
    DisputeEvent::RecourseChosen {
        recourse,
        by: Chooser::Human,
    }
}

/// Returns the dispute after all `events`, or the first refusal.
fn after(opening: Opening, events: &[DisputeEvent]) -> Result<(Dispute, Vec<Effect>), String> {
    let opened = Dispute::open(id(1), opening, Timestamp(0));
    let mut now = opened.map_err(|refusal| refusal.to_string())?;
    for event in events {
        let next = now.0.apply(event, Timestamp(1));
        now = next.map_err(|refusal| refusal.to_string())?;
    }
    Ok(now)
}

fn state_word(dispute: &Dispute) -> String {
    let value = serde_json::to_value(&dispute.state).expect("a state serializes");
    value["state"].as_str().expect("a word").to_owned()
}

/// Returns where `events` lead, and what follows from the last one.
fn leads_to(opening: Opening, events: &[DisputeEvent]) -> String {
    match after(opening, events) {
        Ok((dispute, effects)) => {
            let effects: Vec<String> = effects.iter().map(effect_word).collect();
            format!("{}: {}", state_word(&dispute), effects.join(", "))
        }
        Err(refusal) => format!("refused: {refusal}"),
    }
}

fn effect_word(effect: &Effect) -> String {
    match effect {
        Effect::TrackFinding(finding) => format!("finding {:?}", finding.standing).to_lowercase(),
        Effect::MarkTask { change, .. } => match change {
            TaskChange::Disputed => "[!]".to_owned(),
            TaskChange::Completed => "[x]".to_owned(),
            TaskChange::PutBack => "[ ]".to_owned(),
            TaskChange::BackToCoder { instructions } => format!("[-] {instructions}"),
        },
        Effect::RenderFile => "render".to_owned(),
        Effect::KeepWork { .. } => "keep the work".to_owned(),
        Effect::ApproveWork { .. } => "approve the work".to_owned(),
        Effect::ReferNext { referral, .. } => {
            format!("next of {} ({})", referral.next.len() + 1, referral.rest)
        }
    }
}

#[test]
fn a_dispute_begins_where_its_positions_put_it() {
    let without = |coder: bool, reviewer: bool| {
        let mut opening = about_task();
        opening.coder = opening.coder.filter(|_| coder);
        opening.reviewer = opening.reviewer.filter(|_| reviewer);
        opening
    };
    let minor = |notes: &str| Opening {
        gravity: Gravity::Minor,
        notes: notes.to_owned(),
        ..without(false, false)
    };
    let by_system = Opening {
        origin: Origin::System,
        ..without(false, false)
    };
    let mut empty = about_task();
    empty.coder = Some(position("sonnet", " \n"));
    for (opening, expected) in [
        (about_task(), "open: [!], render, keep the work"),
        (about_finding(), "open: finding contested, render"),
        (
            without(true, false),
            "awaiting_position: [!], render, keep the work",
        ),
        (
            without(false, true),
            "awaiting_position: [!], render, keep the work",
        ),
        (by_system, "awaiting_human: [!], render, keep the work"),
        (
            without(false, false),
            "refused: a major dispute needs the position of at least one side",
        ),
        (empty, "refused: the position of the coder is empty"),
        (minor("camelCase or not"), "noted: "),
        (minor(" "), "refused: a minor dispute needs a note"),
    ] {
        assert_eq!(leads_to(opening, &[]), expected);
    }
}

#[test]
fn a_task_that_waits_for_findings_moves_with_the_last_ruling() {
    let referred = |next: &[u64], rest: &str| DisputeEvent::DisputeReferred {
        referral: Box::new(Referral {
            task: "t-1".to_owned(),
            title: "Fix login bug".to_owned(),
            next: next.iter().map(|figures| id(*figures)).collect(),
            rest: rest.to_owned(),
        }),
    };
    let for_coder = || ruled(Decision::Dismiss, Ruler::Human, false);
    let against = || ruled(Decision::Enforce, Ruler::Human, false);
    let enforced = "Ruled about \"query built by hand\" (src/db.rs:10): because";
    for (events, expected) in [
        (
            vec![referred(&[], "")],
            "open: [!], render, keep the work".to_owned(),
        ),
        (
            vec![referred(&[], ""), for_coder()],
            "ruled: finding dismissed, approve the work, [x], render".to_owned(),
        ),
        (
            vec![referred(&[], ""), against()],
            format!("ruled: finding upheld, [-] {enforced}, render"),
        ),
        // What else is wrong with the work stays, whatever is ruled.
        (
            vec![referred(&[], "mend a.rs"), for_coder()],
            "ruled: finding dismissed, [-] mend a.rs, render".to_owned(),
        ),
        (
            vec![referred(&[2, 3], ""), for_coder()],
            "ruled: finding dismissed, render, next of 2 ()".to_owned(),
        ),
        (
            vec![referred(&[2], "mend a.rs"), against()],
            format!("ruled: finding upheld, render, next of 1 (mend a.rs\n{enforced})"),
        ),
        // Ruled before the task came to wait for it.
        (
            vec![for_coder(), referred(&[], "")],
            "ruled: approve the work, [x], render".to_owned(),
        ),
    ] {
        assert_eq!(leads_to(about_finding(), &events), expected);
    }
    assert_eq!(
        leads_to(about_task(), &[referred(&[], "")]),
        format!("refused: dispute {} is about a task already", id(1))
    );
}

/// Every event, by name.
fn events() -> Vec<(&'static str, DisputeEvent)> {
    use Decision::{Dismiss, Enforce};
    let by_judge = Ruler::Judge { judge: judge() };
    let stated = |party| DisputeEvent::PositionStated {
        party,
        position: position("x", "y"),
        files: Vec::new(),
        material: None,
    };
    vec![
        ("coder speaks", stated(Party::Coder)),
        ("reviewer speaks", stated(Party::Reviewer)),
        ("choose judge", chosen(Recourse::Judge)),
        ("choose human", chosen(Recourse::Human)),
        ("choose discard", chosen(Recourse::Discard)),
        ("judge enforces", heard(Some(Answer::Enforce))),
        ("judge is silent", heard(None)),
        (
            "escalated",
            DisputeEvent::DisputeEscalated {
                question: "unclear".to_owned(),
            },
        ),
        ("ruled by judge", ruled(Enforce, by_judge, false)),
        ("ruled by human", ruled(Dismiss, Ruler::Human, false)),
        ("overruled", ruled(Dismiss, Ruler::Human, true)),
        ("discarded", ruled(Dismiss, Ruler::Discard, false)),
        ("config discards", ruled(Dismiss, Ruler::Config, false)),
        (
            "precedent dropped",
            DisputeEvent::PrecedentDropped { why: "old".into() },
        ),
    ]
}

#[test]
fn what_each_event_does_in_each_state() {
    let awaiting = Opening {
        reviewer: None,
        ..about_task()
    };
    let noted = Opening {
        gravity: Gravity::Minor,
        notes: "x".to_owned(),
        ..about_task()
    };
    let starts: Vec<(&str, Opening, Vec<DisputeEvent>)> = vec![
        ("awaiting_position", awaiting, vec![]),
        ("open", about_task(), vec![]),
        ("before_judge", about_task(), vec![chosen(Recourse::Judge)]),
        (
            "heard",
            about_task(),
            vec![chosen(Recourse::Judge), heard(Some(Answer::Enforce))],
        ),
        (
            "awaiting_human",
            about_task(),
            vec![chosen(Recourse::Human)],
        ),
        (
            "ruled",
            about_task(),
            vec![ruled(Decision::Enforce, Ruler::Human, false)],
        ),
        ("noted", noted, vec![]),
    ];
    let mut table = String::new();
    for (name, opening, before) in starts {
        table.push_str(&format!("{name}\n"));
        for (event_name, event) in events() {
            let mut all = before.clone();
            all.push(event);
            let led = leads_to(opening.clone(), &all).replace("d-0000000001", "D");
            table.push_str(&format!("  {event_name:<18} {led}\n"));
        }
    }
    let expected = include_str!("disputes/table.txt");
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disputes/table.txt");
        update(path, &table);
        return;
    }
    assert_eq!(table, expected, "run with UPDATE=1 to accept the table");
}

#[expect(clippy::disallowed_methods, reason = "a test may write its own table")]
fn update(path: &str, text: &str) {
    std::fs::write(path, text).expect("the table can be written");
}

#[test]
fn a_ruling_acts_as_the_table_of_decisions_says() {
    let amend = Decision::Amend {
        instructions: "store it in a cookie".to_owned(),
    };
    for (opening, decision, expected) in [
        (
            about_task(),
            Decision::Dismiss,
            "ruled: approve the work, [x], render",
        ),
        (
            about_task(),
            Decision::Enforce,
            "ruled: [-] because, render",
        ),
        (
            about_task(),
            amend.clone(),
            "ruled: [-] store it in a cookie, render",
        ),
        (
            about_finding(),
            Decision::Dismiss,
            "ruled: finding dismissed, render",
        ),
        (
            about_finding(),
            Decision::Enforce,
            "ruled: finding upheld, render",
        ),
        (about_finding(), amend, "ruled: finding upheld, render"),
    ] {
        let event = ruled(decision, Ruler::Human, false);
        assert_eq!(leads_to(opening, &[event]), expected);
    }
}

#[test]
fn an_enforced_finding_is_weakened_by_a_human_only() {
    let enforced = [
        chosen(Recourse::Judge),
        heard(Some(Answer::Enforce)),
        ruled(Decision::Enforce, Ruler::Judge { judge: judge() }, false),
    ];
    let locked = "refused: dispute d-0000000001 was ruled before: ENFORCE by judge judy";
    let jury = Ruler::Jury { votes: 2, seats: 3 };
    for (ruler, overrules, expected) in [
        (Ruler::Judge { judge: judge() }, false, locked),
        (Ruler::Judge { judge: judge() }, true, locked),
        (jury, true, locked),
        (Ruler::Config, true, locked),
        (Ruler::Discard, true, locked),
        (Ruler::Human, false, locked),
        (Ruler::Human, true, "ruled: finding dismissed, render"),
    ] {
        let mut events = enforced.to_vec();
        events.push(ruled(Decision::Dismiss, ruler, overrules));
        assert_eq!(leads_to(about_finding(), &events), expected);
    }
}

#[test]
fn judges_rule_only_what_they_answered() {
    let unsupported =
        "refused: the answers of the judges in dispute d-0000000001 do not carry this ruling";
    let (yes, no, up) = (Answer::Enforce, Answer::Dismiss, Answer::Escalate);
    let one = Ruler::Judge { judge: judge() };
    let jury = |votes, seats| Ruler::Jury { votes, seats };
    let stands = "ruled: [-] because, render";
    for (answers, ruler, expected) in [
        (vec![Some(yes)], one.clone(), stands),
        (vec![Some(no)], one.clone(), unsupported),
        (vec![Some(up)], one.clone(), unsupported),
        (vec![None], one.clone(), unsupported),
        (vec![], one, unsupported),
        (vec![Some(yes), Some(yes), Some(no)], jury(2, 3), stands),
        (vec![Some(yes), Some(yes), None], jury(2, 3), stands),
        (vec![Some(yes), None, None], jury(1, 3), unsupported),
        (vec![Some(yes), None, None], jury(2, 3), unsupported),
        (vec![Some(yes), Some(no)], jury(1, 2), unsupported),
        (vec![Some(yes)], jury(1, 3), unsupported),
    ] {
        let mut events = vec![chosen(Recourse::Judge)];
        events.extend(answers.into_iter().map(heard));
        events.push(ruled(Decision::Enforce, ruler, false));
        assert_eq!(leads_to(about_task(), &events), expected, "{events:?}");
    }
}

#[test]
fn a_ruling_has_a_reason_and_an_amendment_its_instructions() {
    let empty = DisputeEvent::DisputeRuled {
        decision: Decision::Dismiss,
        reason: " ".to_owned(),
        reversal: String::new(),
        ruler: Ruler::Human,
        terms: Terms::default(),
        overrules: false,
    };
    assert_eq!(
        leads_to(about_task(), &[empty]),
        "refused: a ruling needs a reason"
    );
    let nothing = Decision::Amend {
        instructions: String::new(),
    };
    assert_eq!(
        leads_to(about_task(), &[ruled(nothing, Ruler::Human, false)]),
        "refused: a ruling that amends needs instructions"
    );
}

#[test]
fn a_dispute_is_open_for_whole_days_and_only_until_it_is_ruled() {
    let day = 86_400_000;
    let (open, _) = after(about_task(), &[]).expect("it opens");
    let (ruled, _) = after(
        about_task(),
        &[ruled(Decision::Dismiss, Ruler::Human, false)],
    )
    .expect("it is ruled");
    for (now, days) in [(0, 0), (day - 1, 0), (7 * day, 7), (7 * day + 1, 7)] {
        assert_eq!(open.days_open(Timestamp(now)), Some(days));
    }
    assert_eq!(ruled.days_open(Timestamp(day)), None);
}
