//! Tests of lists.

use proptest::prelude::*;

use super::merge::path_between;
use super::*;
use crate::task::ListLine;
use crate::task::transition::Move;

const LIST: &str = "\
# Work\r
Some words, and a [link](x).
- [a link](y)
- [?] strange

## Auth
* [ ] Fix login bug   <!-- c-00000000aa -->
  source: docs/SPEC.md#login
  Sessions end too early.
    - [-] deeper
1. [o] Reviewed\tone
- [x] Done
- [x] Done
- [ ]

```
- [ ] in a fence
```
~~~ts
```
- [ ] in another
~~~
## Shop ##
+ [!] Disputed
  priority: high
  domain: backend
  after: Done
+ [F] Fäiled
+ [S] Skipped without an end";

fn shown(list: &List) -> String {
    let mut text = String::new();
    for item in &list.items {
        let section = item.section.as_deref().unwrap_or("-");
        let (marker, title) = (item.state.marker(), &item.title);
        text += &format!("{section}/{title} [{marker}] {}", item.repeat);
        for more in [&item.source, &item.domain].into_iter().flatten() {
            text += &format!(" {more}");
        }
        if !item.details.is_empty() {
            text += &format!(" ({})", item.details);
        }
        for after in &item.after {
            text += &format!(" after {after}");
        }
        text += "\n";
    }
    text + &list.problems.join("\n")
}

#[test]
fn tasks_are_read_with_their_sections_and_what_stands_below() {
    let expected = "\
Auth/Fix login bug [ ] 0 docs/SPEC.md#login (Sessions end too early.)
Auth/deeper [-] 0
Auth/Reviewed\tone [o] 0
Auth/Done [x] 0
Auth/Done [x] 1
Shop/Disputed [!] 0 backend after Done
Shop/Fäiled [F] 0
Shop/Skipped without an end [S] 0
line 4: `[?]` is no marker of a task
line 14: the task has no title";
    let list = List::read(LIST);
    assert_eq!(shown(&list), expected);
    assert_eq!(list.items[0].id, Some(CaseId::from_bits(0xaa)));
    assert_eq!(list.items[5].priority, Priority::High);
}

#[test]
fn what_was_read_is_written_byte_for_byte() {
    for text in [
        LIST,
        "",
        "\n",
        "- [ ] a",
        "- [ ] a\r\n- [x] b\r\n",
        "\u{feff}- [ ] a\n",
    ] {
        let list = List::read(text);
        let same = list.render(
            |item| Some(item.state),
            &[],
            &BTreeMap::new(),
            Ids::AsTheyAre,
        );
        assert_eq!(same, text);
        assert_eq!(
            list.render(|_| None, &[], &BTreeMap::new(), Ids::AsTheyAre),
            text
        );
    }
}

#[test]
fn only_the_marker_of_a_moved_task_is_changed() {
    let list = List::read(LIST);
    let text = list.render(
        |_| Some(TaskState::Completed),
        &[],
        &BTreeMap::new(),
        Ids::AsTheyAre,
    );
    let changed: Vec<(&str, &str)> = LIST
        .lines()
        .zip(text.lines())
        .filter(|(old, new)| old != new)
        .collect();
    assert_eq!(
        changed,
        [
            (
                "* [ ] Fix login bug   <!-- c-00000000aa -->",
                "* [x] Fix login bug   <!-- c-00000000aa -->"
            ),
            ("    - [-] deeper", "    - [x] deeper"),
            ("1. [o] Reviewed\tone", "1. [x] Reviewed\tone"),
            ("+ [!] Disputed", "+ [x] Disputed"),
            ("+ [F] Fäiled", "+ [x] Fäiled"),
            (
                "+ [S] Skipped without an end",
                "+ [x] Skipped without an end"
            ),
        ]
    );
}

fn task(id: u64, section: Option<&str>, title: &str, state: TaskState) -> Task {
    Task {
        id: CaseId::from_bits(id),
        brief: Brief {
            title: title.to_owned(),
            section: section.map(str::to_owned),
            ..Brief::default()
        },
        state,
        rejections: 0,
        instructions: None,
        commit: None,
    }
}

#[test]
fn tasks_that_are_not_in_the_list_are_added_to_their_sections() {
    let mut first = task(1, Some("Auth"), "Add OAuth", TaskState::Pending);
    first.brief.source = Some("docs/SPEC.md#oauth".into());
    first.brief.depends_on = vec![CaseId::from_bits(2)];
    let other = task(2, Some("New"), "Begin", TaskState::InProgress);
    let titles = BTreeMap::from([(other.id.clone(), other.brief.title.clone())]);
    let list = List::read("## Auth\n- [x] one\n  more\n\nwords\n## B\n- [ ] two");
    let text = list.render(|_| None, &[&first, &other], &titles, Ids::AsTheyAre);
    assert_eq!(
        text,
        "## Auth\n- [x] one\n  more\n- [ ] Add OAuth\n  source: docs/SPEC.md#oauth\n  \
         after: Begin\n\nwords\n## B\n- [ ] two\n\n## New\n\n- [-] Begin\n"
    );
    // What was written is read again as what it was.
    let again = List::read(&text);
    assert_eq!(again.items[1].brief(0).source, first.brief.source);
    assert_eq!(again.items[1].after, ["Begin"]);
}

/// Imports `text` into a list with these tasks and returns what happens.
fn import(text: &str, tasks: &[Task]) -> String {
    let import = plan_import(&List::read(text), "TASKS.md", tasks);
    let mut said = Vec::new();
    for change in &import.changes {
        said.push(match change {
            Change::Add { brief, state } => {
                format!("add {} [{}]", brief.title, state.marker())
            }
            Change::Update {
                id,
                brief,
                edited,
                moves,
            } => {
                let stored = brief.as_ref().map_or("", |_| " noted");
                let stored = if *edited { " edited" } else { stored };
                format!("{id}{stored} {moves:?}")
            }
        });
    }
    said.extend(import.missing.iter().map(|id| format!("missing {id}")));
    said.extend(import.problems);
    said.join("; ")
}

/// Returns the task that importing `line` alone would make.
fn imported(id: u64, line: &str, now: TaskState) -> Task {
    let list = List::read(line);
    let item = &list.items[0];
    let mut brief = item.brief(1);
    brief.list = Some(ListLine {
        file: "TASKS.md".into(),
        shown: item.state,
        after: Vec::new(),
        written: false,
    });
    Task {
        brief,
        ..task(id, None, "", now)
    }
}

#[test]
fn importing_again_changes_nothing() {
    let known = imported(1, "- [ ] one", TaskState::Pending);
    assert_eq!(import("- [ ] one", &[]), "add one [ ]");
    assert_eq!(
        import("- [ ] one", std::slice::from_ref(&known)),
        "c-0000000001 []"
    );
    let moved = imported(1, "- [ ] one", TaskState::Completed);
    assert_eq!(import("- [ ] one", &[moved]), "c-0000000001 []");
}

#[test]
fn a_line_means_the_task_with_its_id_or_else_with_its_section_and_title() {
    let one = imported(1, "- [ ] one", TaskState::Pending);
    let again = imported(2, "- [ ] one", TaskState::Pending);
    for (text, tasks, expected) in [
        (
            "- [ ] two <!-- c-0000000001 -->",
            vec![one.clone()],
            "c-0000000001 edited []",
        ),
        (
            "- [ ] one\n- [ ] one\n- [ ] one",
            vec![one.clone(), again],
            "c-0000000001 []; c-0000000002 edited []; add one [ ]",
        ),
        (
            "# Other\n- [ ] one",
            vec![one.clone()],
            "add one [ ]; missing c-0000000001",
        ),
        ("words", vec![one], "missing c-0000000001"),
        (
            "- [ ] typed",
            vec![task(3, None, "typed", TaskState::Pending)],
            "c-0000000003 noted []",
        ),
    ] {
        assert_eq!(import(text, &tasks), expected, "{text}");
    }
}

#[test]
fn a_marker_changed_by_hand_moves_the_task() {
    for (now, marker, expected) in [
        (TaskState::Pending, 'x', " noted [Start, Submit, Approve]"),
        (TaskState::Pending, 'S', " noted [Skip]"),
        (TaskState::Pending, 'o', " noted [Start, Submit]"),
        // What was not taken over is not noted, so that the next import says so again.
        (
            TaskState::Pending,
            '!',
            " []; `[!] one` was not taken over: a dispute is opened with `tribunal dispute create`",
        ),
        (
            TaskState::InReview,
            'x',
            " []; `[x] one` was not taken over: the task has moved since the list was written",
        ),
    ] {
        let known = imported(1, "- [ ] one", now);
        assert_eq!(
            import(&format!("- [{marker}] one"), &[known]),
            format!("c-0000000001{expected}"),
        );
    }
}

/// Exports `tasks` into `text` as `file`, notes it, and returns what is written.
fn export(file: &str, text: &str, tasks: &mut [Task], ids: Ids) -> String {
    let written = List::read(text).with_tasks(file, tasks, ids);
    for (id, line) in List::read(&written).written_lines(file, tasks) {
        let task = tasks.iter_mut().find(|task| task.id == id);
        task.expect("a known task").brief.set_line(line);
    }
    written
}

#[test]
fn the_id_of_another_ledger_counts_as_none() {
    let one = imported(1, "- [ ] one", TaskState::Pending);
    let text = "- [ ] one <!-- c-00000000ff -->";
    assert_eq!(import(text, std::slice::from_ref(&one)), "c-0000000001 []");
    assert_eq!(
        export("TASKS.md", text, &mut [one], Ids::AsTheyAre),
        text,
        "it is in the list already"
    );
}

#[test]
fn a_file_that_is_not_a_list_yet_gets_the_tasks_of_every_list() {
    let mut tasks = [imported(1, "- [ ] one", TaskState::Pending)];
    let new = export("NEW.md", "", &mut tasks, Ids::AsTheyAre);
    assert_eq!(new, "## Tasks\n\n- [ ] one\n");
    assert_eq!(export("NEW.md", &new, &mut tasks, Ids::AsTheyAre), new);
    // It is known in both files from now on.
    assert_eq!(import("- [ ] one", &tasks), "c-0000000001 []");
    // A copy made before by other means is recognised as well.
    let mut tasks = [imported(1, "- [ ] one", TaskState::Completed)];
    assert_eq!(
        export("COPY.md", "- [ ] one", &mut tasks, Ids::AsTheyAre),
        "- [x] one"
    );
}

#[test]
fn two_lists_that_were_imported_stay_apart() {
    let mut other = imported(2, "- [ ] two", TaskState::Pending);
    if let Some(line) = &mut other.brief.list {
        line.file = "OTHER.md".to_owned();
    }
    let typed = task(3, None, "three", TaskState::Pending);
    let mut tasks = [imported(1, "- [ ] one", TaskState::Pending), other, typed];
    assert_eq!(
        export("TASKS.md", "- [ ] one\n", &mut tasks, Ids::AsTheyAre),
        "- [ ] one\n- [ ] three\n"
    );
}

fn any_task(id: u64) -> impl Strategy<Value = Task> {
    let sections = ["Auth", "Tasks", "C#", "C #", "#"];
    let section = proptest::option::of(proptest::sample::select(sections.to_vec()));
    let title = proptest::sample::select(vec!["one", "two", "x  y", "# three", "[x] four"]);
    let lines = vec![
        "words",
        "",
        "- [ ] below",
        "  deeper",
        "- dash",
        "# no heading",
    ];
    let details = proptest::collection::vec(proptest::sample::select(lines), 0..4);
    let priorities = vec![Priority::High, Priority::Normal, Priority::Low];
    let priority = proptest::sample::select(priorities);
    let state = proptest::sample::select(TaskState::ALL.to_vec());
    (section, title, details, priority, state).prop_map(
        move |(section, title, details, priority, state)| {
            let mut task = task(id, section, title, state);
            task.brief.details = details.join("\n").trim().to_owned();
            task.brief.priority = priority;
            task.brief.position = id;
            task
        },
    )
}

fn any_tasks() -> impl Strategy<Value = Vec<Task>> {
    (any_task(1), any_task(2), any_task(3), any_task(4)).prop_map(|(one, two, three, four)| {
        let mut tasks = vec![one, two, three, four];
        // In the order in which the ledger returns them.
        tasks.sort_by_key(|task| {
            let brief = &task.brief;
            (brief.section.clone(), brief.priority, brief.position)
        });
        tasks
    })
}

proptest! {
    #[test]
    fn what_was_exported_is_exported_and_imported_again_without_a_change(
        mut tasks in any_tasks(),
        start in proptest::sample::select(vec![
            "", "words", "# Plan\n", "- [ ] one", "## Tasks\n- [x] two\n\n## Auth\n\nwords\n", LIST,
        ]),
        with_ids in proptest::bool::ANY,
    ) {
        let ids = if with_ids { Ids::Written } else { Ids::AsTheyAre };
        for file in ["TASKS.md", "OTHER.md"] {
            let text = export(file, start, &mut tasks, ids);
            prop_assert_eq!(&export(file, &text, &mut tasks, ids), &text);
            let plan = plan_import(&List::read(&text), file, &tasks);
            for change in &plan.changes {
                match change {
                    // What stood there before and means no task.
                    Change::Add { brief, .. } => prop_assert!(start.contains(&brief.title)),
                    Change::Update { brief, moves, .. } => {
                        prop_assert!(moves.is_empty(), "{text}");
                        // A line that somebody typed may ask for something else than its task.
                        let typed = start.contains("- [");
                        prop_assert!(brief.is_none() || typed, "{text}\n{brief:#?}");
                    }
                }
            }
            let updates = plan.changes.iter().filter(|one| matches!(one, Change::Update { .. }));
            prop_assert_eq!(updates.count(), tasks.len(), "{}", text);
            prop_assert!(plan.missing.is_empty());
        }
    }
}

#[test]
fn every_way_by_hand_is_made_of_possible_moves() {
    for from in TaskState::ALL {
        for to in TaskState::ALL {
            let Ok(way) = path_between(from, to) else {
                assert!(from == TaskState::Disputed || to == TaskState::Disputed);
                continue;
            };
            let walk = |state: TaskState, done: &Move| {
                crate::task::transition::step(state, *done).expect("a possible move")
            };
            assert_eq!(way.iter().fold(from, walk), to);
        }
    }
}

#[test]
fn what_stands_below_nested_tasks_belongs_to_the_task_whose_indent_it_has() {
    let text = "- [ ] parent\n  - [ ] child\n    of the child\n  note of the parent\n\n  priority: HIGH\n\
                - [ ] next\n\nA paragraph.\n  of nobody\n";
    let list = List::read(text);
    let found: Vec<(&str, &str, Priority)> = list
        .items
        .iter()
        .map(|item| (item.title.as_str(), item.details.as_str(), item.priority))
        .collect();
    assert_eq!(
        found,
        [
            ("parent", "note of the parent", Priority::High),
            ("child", "of the child", Priority::Normal),
            ("next", "", Priority::Normal),
        ]
    );
    assert!(list.problems.is_empty(), "{:?}", list.problems);
}

#[test]
fn lines_that_are_meant_as_tasks_and_are_none_are_named() {
    let text = "- [] one\n- [ ]two\n-[ ] three\n- [x](link)\n- [x]: link\n- [a](b)\n- []\n";
    let list = List::read(text);
    assert_eq!(
        list.problems,
        [
            "line 1: `[]` is no marker of a task; write `[ ]`",
            "line 2: a space belongs on either side of `[ ]`",
            "line 3: a space belongs on either side of `[ ]`",
            "line 7: `[]` is no marker of a task; write `[ ]`",
        ]
    );
    assert!(list.items.is_empty());
}

#[test]
fn underlined_headings_are_sections_and_rules_and_prefaces_are_not() {
    let text = "---\ntitle: x\n---\n- [ ] a\n\nFirst\n-----\n- [ ] b\n\n---\n- [ ] c\n\nSecond\n==\n- [ ] d\n";
    let list = List::read(text);
    let found: Vec<(&str, Option<&str>)> = list
        .items
        .iter()
        .map(|item| (item.title.as_str(), item.section.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", None),
            ("b", Some("First")),
            ("c", Some("First")),
            ("d", Some("Second")),
        ]
    );
}
