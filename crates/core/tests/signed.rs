//! Twenty answers as reviewers write them, cut at every byte: what is cut off is never an answer.

use tribunal_core::reply::{Author, read_signed_findings};

const NONCE: &str = "5e1f0c9a7b3d2e4f6a80";

/// The forms in which one finding arrives under contract.
fn recordings() -> Vec<String> {
    let finding = r#"{"id": "1", "file": "a.rs", "line": 3, "label": "HIGH", "title": "bug"}"#;
    let compact = format!(r#"{{"nonce":"{NONCE}","findings":[{finding}],"end":"{NONCE}"}}"#);
    let spaced = format!(
        "{{\n  \"nonce\": \"{NONCE}\",\n  \"findings\": [\n    {finding}\n  ],\n  \"end\": \"{NONCE}\"\n}}"
    );
    let two = compact.replace(
        finding,
        &format!("{finding},{}", finding.replace("\"1\"", "\"2\"")),
    );
    let more = compact.replace(
        "\"HIGH\"",
        "\"HIGH\", \"quote\": \"if x { y[0] }\", \"suggestion\": \"z\"",
    );
    let lines = format!("REVIEW {NONCE}\n[HIGH] a.rs:3 - bug\nEND {NONCE}");
    let bullets = format!(
        "REVIEW {NONCE}\n- **[HIGH]** a.rs:3 - bug\n  with more words\n- [LOW] b.rs - other\nEND {NONCE}"
    );
    let json = [compact, spaced, two, more];
    let mut all = Vec::new();
    for text in &json {
        all.push(text.clone());
        all.push(format!("```json\n{text}\n```"));
        all.push(format!("Here is what I found:\n\n{text}\n\nThat is all."));
        all.push(format!("<answer>{text}</answer>"));
    }
    all.push(lines.clone());
    all.push(format!("Sure.\n\n{lines}\n\nDone."));
    all.push(bullets.clone());
    all.push(format!("**Review**\n\n{bullets}\n"));
    all
}

/// Returns how many findings a complete answer has; nothing if it is none.
fn read(text: &str) -> Option<usize> {
    let found = read_signed_findings(text, None, NONCE, &Author::default());
    found.answered.then_some(found.findings.len())
}

#[test]
fn an_answer_that_is_cut_at_any_byte_says_all_or_nothing() {
    let recordings = recordings();
    assert_eq!(recordings.len(), 20);
    for text in recordings {
        let whole = read(&text);
        assert!(whole.is_some_and(|findings| findings > 0), "{text}");
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let cut = read(&text[..end]);
            assert!(
                cut.is_none() || cut == whole,
                "{cut:?} from {}",
                &text[..end]
            );
        }
    }
}
