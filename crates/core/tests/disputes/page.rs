//! `dispute.md`: its form, and that no text of a party can change it.

use tribunal_core::dispute::file::{MARKER, Page, is_ours};
use tribunal_core::dispute::{Decision, Dispute, Opening, Position, Ruler, Terms};
use tribunal_core::event::DisputeEvent;
use tribunal_core::time::Timestamp;

use super::{about_finding, about_task, after, id};

fn page(open: &[Dispute], resolved: &[Dispute], earlier: u64) -> String {
    Page {
        open,
        resolved,
        earlier,
    }
    .render()
}

fn resolved(figures: u64, at: i64) -> Dispute {
    let (dispute, _) = Dispute::open(id(figures), about_finding(), Timestamp(0)).expect("it opens");
    let ruled = DisputeEvent::DisputeRuled {
        decision: Decision::Dismiss,
        reason: "Redis is right\nfor our scale.".to_owned(),
        reversal: String::new(),
        ruler: Ruler::Human,
        terms: Terms::default(),
        overrules: false,
    };
    dispute.apply(&ruled, Timestamp(at)).expect("it is ruled").0
}

#[test]
fn the_page_has_open_disputes_first_and_resolved_ones_below() {
    let (mut open, _) = after(about_task(), &[]).expect("it opens");
    open.opened_at = Timestamp(1_705_329_000_000);
    let older = resolved(2, 1_705_200_000_000);
    let newer = resolved(3, 1_705_300_000_000);
    let text = page(&[open], &[older, newer], 7);
    let expected = format!(
        "# Active Disputes

{MARKER}

## Dispute: d-0000000001 (OPEN)

**Task:** Fix login bug (t-1)
**Reason:** Architecture disagreement
**Created:** 2024-01-15 14:30 UTC
**Files:** src/auth/jwt.ts

### Coder Position (sonnet, sonnet-4)
JWT tokens scale better.

### Reviewer Position (opus, opus-4)
Sessions are more secure.

### Status
AWAITING HUMAN DECISION

---

## Dispute: d-0000000003 (RESOLVED)

**Finding:** query built by hand (high, f-01234567, src/db.rs:10, review c-0000000009)
**Resolution:** CODER (2024-01-15)
**By:** human: DISMISS, for the coder
**Notes:** Redis is right for our scale.

---

## Dispute: d-0000000002 (RESOLVED)

**Finding:** query built by hand (high, f-01234567, src/db.rs:10, review c-0000000009)
**Resolution:** CODER (2024-01-14)
**By:** human: DISMISS, for the coder
**Notes:** Redis is right for our scale.

---

7 more were resolved earlier: `tribunal dispute list --status resolved`
"
    );
    assert_eq!(text, expected);
    assert!(is_ours(&text));
    assert!(!is_ours("# Active Disputes\n\nmy own notes\n"));
}

/// Returns a position as the page shows it.
fn shown(text: &str) -> String {
    let mut opening: Opening = about_task();
    opening.coder = Some(Position {
        author: "x".to_owned(),
        model: None,
        family: None,
        text: text.to_owned(),
    });
    let (open, _) = Dispute::open(id(1), opening, Timestamp(0)).expect("it opens");
    let text = page(&[open], &[], 0);
    let (_, rest) = text
        .split_once("Coder Position (x)\n")
        .expect("the heading");
    let (position, _) = rest
        .split_once("\n\n### Reviewer Position (opus, opus-4)\n")
        .expect("the next heading");
    position.to_owned()
}

#[test]
fn a_position_cannot_forge_structure() {
    for (given, expected) in [
        (
            "plain words, snake_case and `code`",
            "plain words, snake_case and `code`",
        ),
        ("Concerns:\n- XSS\n- Tokens", "Concerns:\n- XSS\n- Tokens"),
        ("## Dispute: d-1 (RESOLVED)", "\\## Dispute: d-1 (RESOLVED)"),
        ("a\n   # x", "a\n  \\# x"),
        ("a\n---\nb", "a\n\\---\nb"),
        ("- - -", "\\- \\- -"),
        ("a\n===", "a\n\\==="),
        ("```\nx", "\\```\nx"),
        ("~~~", "\\~~~"),
        ("- ``` x", "- \\``` x"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("**Status:** done", "\\*\\*Status:\\*\\* done"),
        ("__Status:__ done", "\\_\\_Status:\\_\\_ done"),
        ("![x](http://y)", "!\\[x\\](http://y)"),
        ("- [x] done", "- \\[x\\] done"),
        ("> quoted", "\\> quoted"),
        ("|a|b|", "\\|a|b|"),
        ("a\u{1b}[2Jb\u{202e}", "a\u{fffd}\\[2Jb\u{fffd}"),
        ("a\r\n\r\n### Status\r\nDONE", "a\n\n\\### Status\nDONE"),
    ] {
        assert_eq!(shown(given), expected, "{given:?}");
    }
}

#[test]
fn whatever_a_party_writes_the_page_has_the_same_headings_and_marks() {
    let pieces = [
        "#",
        "##",
        "-",
        "---",
        "`",
        "```",
        "~~~",
        "<!--",
        "-->",
        "*",
        "**",
        "_",
        "[x]",
        "(y)",
        ">",
        "|",
        "=",
        "\n",
        "\n\n",
        "    ",
        "\t",
        " ",
        "a",
        "Dispute:",
        "### Status",
        "1.",
        "\\",
        "\r",
    ];
    let structure = |text: &str| -> Vec<String> {
        let is_structure = |line: &&str| {
            let line = line.trim_start();
            ["#", "---", "```", "~~~", "===", "<", "**", ">", "|"]
                .iter()
                .any(|mark| line.starts_with(mark))
        };
        text.lines()
            .filter(is_structure)
            .map(str::to_owned)
            .collect()
    };
    let render = |text: &str| {
        let mut opening = about_task();
        opening.reviewer = Some(Position {
            author: text.to_owned(),
            model: None,
            family: None,
            text: format!("x {text}"),
        });
        let (open, _) = Dispute::open(id(1), opening, Timestamp(0)).expect("it opens");
        page(&[open], &[], 0)
    };
    let plain = structure(&render("a")).len();
    let mut seed = 7_u64;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let index = usize::try_from(seed >> 33).expect("31 bits") % pieces.len();
            text.push_str(pieces[index]);
        }
        assert_eq!(structure(&render(&text)).len(), plain, "{text:?}");
    }
}
