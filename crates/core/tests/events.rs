//! The JSON form of every event. It is part of the product: changing it is a deliberate act.

#[path = "events/arbitrations.rs"]
mod arbitrations;
#[path = "events/cases.rs"]
mod cases;
#[path = "events/disputes.rs"]
mod disputes;
#[path = "events/tasks.rs"]
mod tasks;
#[path = "events/trials.rs"]
mod trials;
#[path = "events/work.rs"]
mod work;

use std::collections::BTreeSet;

use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};
use tribunal_core::event::{
    ArbitrationEvent, DisputeEvent, Event, EventKind, TaskEvent, TrialEvent, WorkEvent,
};
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

/// One of each kind, with the JSON that it must have.
fn examples() -> Vec<(EventKind, Value)> {
    [
        cases::examples(),
        of_family(arbitrations::examples()),
        of_family(disputes::examples()),
        of_family(tasks::examples()),
        of_family(trials::examples()),
        of_family(work::examples()),
    ]
    .concat()
}

fn of_family(examples: Vec<(impl Into<EventKind>, Value)>) -> Vec<(EventKind, Value)> {
    let kinds = examples.into_iter();
    kinds.map(|(event, json)| (event.into(), json)).collect()
}

#[test]
fn every_event_has_its_json_and_is_read_back_from_it() {
    for (kind, expected) in examples() {
        let event = Event {
            case: CaseId::from_bits(1),
            seq: 3,
            at: Timestamp(4),
            kind,
        };
        let mut whole = json!({"case": "c-0000000001", "seq": 3, "at": 4});
        whole
            .as_object_mut()
            .expect("an object")
            .extend(expected.as_object().expect("an object").clone());
        let json = serde_json::to_value(&event).expect("an event serializes");
        assert_eq!(json, whole);
        let back: Event = serde_json::from_value(json).expect("an event is read back");
        assert_eq!(back, event);
    }
}

#[test]
fn every_kind_of_event_has_an_example() {
    let shown: BTreeSet<String> = examples()
        .iter()
        .filter_map(|(_, json)| json["type"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(shown, words_of::<EventKind>().into_iter().collect());
}

#[test]
fn every_family_knows_its_words() {
    assert_eq!(words_of::<ArbitrationEvent>(), ArbitrationEvent::TYPES);
    assert_eq!(words_of::<DisputeEvent>(), DisputeEvent::TYPES);
    assert_eq!(words_of::<TaskEvent>(), TaskEvent::TYPES);
    assert_eq!(words_of::<TrialEvent>(), TrialEvent::TYPES);
    assert_eq!(words_of::<WorkEvent>(), WorkEvent::TYPES);
}

#[test]
fn no_word_belongs_to_two_kinds_of_events() {
    let mut words = words_of::<EventKind>();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), all);
}

#[test]
fn a_field_that_was_renamed_is_read_by_its_old_name() {
    let old = json!({"type": "task_taken", "task": "c-0000000003", "title": "t", "turn": "start",
        "worker": 2});
    let EventKind::Work(WorkEvent::TaskTaken { lane, .. }) = serde_json::from_value(old).unwrap()
    else {
        panic!("it is another event");
    };
    assert_eq!(lane, 2);
}

#[test]
fn an_event_that_cannot_be_read_is_named_by_its_family() {
    for (body, why) in [
        (r#"{"type": "task_eaten"}"#, "unknown variant `task_eaten`"),
        (
            r#"{"type": "section_added", "name": "A"}"#,
            "missing field `position`",
        ),
        (
            r#"{"type": "dispute_escalated"}"#,
            "missing field `question`",
        ),
        (r#"{"type": "noted"}"#, "missing field `text`"),
        ("{}", "missing field `type`"),
    ] {
        let told = serde_json::from_str::<EventKind>(body).expect_err("no event");
        let told = told.to_string();
        assert!(told.starts_with(why), "{body}: {told}");
    }
}

/// Returns the `type` of every kind of `T`, as its schema tells; a new variant is always there.
fn words_of<T: JsonSchema>() -> Vec<String> {
    let schema = schema_for!(T).to_value();
    let mut words = Vec::new();
    collect_words(&schema, &schema, &mut words);
    words
}

fn collect_words(schema: &Value, whole: &Value, words: &mut Vec<String>) {
    if let Some(word) = schema["properties"]["type"]["const"].as_str() {
        words.push(word.to_owned());
    }
    if let Some(path) = schema["$ref"].as_str() {
        let place = path.trim_start_matches('#');
        let family = whole.pointer(place).expect("it refers to a definition");
        collect_words(family, whole, words);
    }
    let alternatives = ["oneOf", "anyOf"].map(|key| schema[key].as_array());
    for one in alternatives.into_iter().flatten().flatten() {
        collect_words(one, whole, words);
    }
}
