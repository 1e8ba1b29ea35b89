//! A judge's ruling under contract: one closed word, the reason, what would reverse it, the nonce.

use serde_json::Value;

use super::beside::{MORE_TEXT, is_courtesy};
use super::signed::complete_object;
use super::wording::{is_sentence, normalized};
use crate::dispute::Answer;
use crate::text::truncate_chars;

/// What a judge answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeAnswer {
    /// The word.
    pub answer: Answer,
    /// Why.
    pub reason: String,
    /// What would reverse it.
    pub reversal: String,
    /// Why this may not be what the judge means, as far as the text around it tells.
    pub doubt: Option<String>,
}

/// What a reason says when it argues for another ruling, in small letters.
///
/// Such lists have no end. They are the second net; the first is what the judge must say in closed
/// words before it rules.
const FOR_THE_REVIEWER: [&str; 132] = [
    "there is a bug",
    "there is a defect",
    "there is an error",
    "there is a problem",
    "the reviewer is right",
    "the reviewer is correct",
    "the finding is right",
    "the finding is correct",
    "the finding is valid",
    "the finding is true",
    "the finding holds",
    "the finding applies",
    "the coder is wrong",
    "the objection fails",
    "the objection is wrong",
    "the objection does not hold",
    "must be enforced",
    "should be enforced",
    "must be fixed",
    "should be fixed",
    "has to be fixed",
    "needs to be fixed",
    "must be carried out",
    "should be carried out",
    "must carry",
    "should carry",
    "has to carry",
    "coder must",
    "coder should",
    "coder has to",
    "i uphold",
    "is upheld",
    "be upheld",
    "cannot be dismissed",
    "can't be dismissed",
    "can not be dismissed",
    "not be dismissed",
    "cannot dismiss",
    "can't dismiss",
    "not dismiss",
    "claim is true",
    "claim is correct",
    "claim is right",
    "claim is valid",
    "claim holds",
    "claim stands",
    "finding stands",
    "accept the finding",
    "agree with the finding",
    "agree with the reviewer",
    "bug is real",
    "defect is real",
    "problem is real",
    "issue is real",
    "finding is real",
    "risk is real",
    "reviewer has a point",
    "reviewer is partly right",
    "reviewer is mostly right",
    "objection is without merit",
    "objection has no merit",
    "objection lacks merit",
    "objection is unfounded",
    "objection is invalid",
    "objection does not",
    "objection is not",
    "coder is mistaken",
    "coder is not right",
    "i was wrong",
    "needs a fix",
    "needs fixing",
    "hat recht",
    "hat einen punkt",
    "fehler ist echt",
    "fehler besteht",
    "problem besteht",
    "muss behoben",
    "sollte behoben",
    "muss korrigiert",
    "muss geändert",
    "muss umgesetzt",
    "befund ist richtig",
    "befund ist berechtigt",
    "befund stimmt",
    "befund trifft zu",
    "befund gilt",
    "behauptung stimmt",
    "behauptung ist wahr",
    "behauptung trifft zu",
    "einwand ist unbegründet",
    "einwand trägt nicht",
    "einwand greift nicht",
    "einwand überzeugt nicht",
    "nicht abgewiesen",
    "nicht verworfen",
    "please enforce",
    "i enforce",
    "enforce this",
    "enforce the",
    "enforce it",
    "sustained",
    "reviewer wins",
    "reviewer is right",
    "reviewer is correct",
    "reviewer was right",
    "the defect exists",
    "the bug exists",
    "the problem exists",
    "the issue exists",
    "has to go",
    "must go",
    "needs to go",
    "shown no evidence",
    "shows no evidence",
    "brings no evidence",
    "brought no evidence",
    "no evidence that",
    "does not show",
    "doesn't show",
    "has not shown",
    "hasn't shown",
    "is a mistake",
    "is plainly a mistake",
    "is clearly a mistake",
    "get a wrong",
    "gets a wrong",
    "gives a wrong",
    "returns a wrong",
    "told me to",
    "asked me to",
    "instructed me",
    "ordered me to",
];
const FOR_THE_CODER: [&str; 30] = [
    "the coder is right",
    "the coder is correct",
    "the objection is right",
    "the objection is correct",
    "the objection is valid",
    "the objection holds",
    "the reviewer is wrong",
    "the finding is wrong",
    "the finding does not hold",
    "the finding does not apply",
    "must be dismissed",
    "should be dismissed",
    "has to be dismissed",
    "need not be fixed",
    "cannot be enforced",
    "not be enforced",
    "cannot enforce",
    "claim is false",
    "claim is wrong",
    "claim does not hold",
    "no defect",
    "coder has a point",
    "reviewer is mistaken",
    "objection stands",
    "i was wrong",
    "befund ist falsch",
    "befund trifft nicht zu",
    "einwand ist berechtigt",
    "einwand ist richtig",
    "einwand stimmt",
];
/// What a reason says when its author cannot decide.
const FOR_A_PERSON: [&str; 45] = [
    "hard to say",
    "difficult to say",
    "impossible to say",
    "cannot see",
    "can't see",
    "cannot decide",
    "can not decide",
    "can't decide",
    "could not decide",
    "unable to decide",
    "not able to decide",
    "cannot be decided",
    "let me decide",
    "let us decide",
    "cannot rule",
    "cannot tell",
    "can't tell",
    "cannot judge",
    "cannot determine",
    "can't determine",
    "cannot be determined",
    "cannot say",
    "i do not know",
    "i don't know",
    "i am not sure",
    "i'm not sure",
    "am unsure",
    "not certain",
    "uncertain",
    "unclear",
    "must be escalated",
    "should be escalated",
    "person should",
    "person must",
    "person has to",
    "human should",
    "human must",
    "human has to",
    "unklar",
    "nicht sicher",
    "nicht entscheiden",
    "nicht entscheidbar",
    "weiß nicht",
    "mensch muss",
    "mensch sollte",
];

/// Words after which a reversal tells what could come, not what is.
const CONDITIONS: [&str; 20] = [
    "if",
    "when",
    "that",
    "where",
    "whether",
    "should",
    "unless",
    "proof",
    "proves",
    "showing",
    "shows",
    "evidence",
    "test",
    "requirement",
    "would",
    "wenn",
    "falls",
    "dass",
    "ob",
    "sollte",
];

/// What a judge may find about the claim of the reviewer.
const DEFECT_WORDS: [&str; 4] = ["exists", "absent", "intended", "unclear"];

/// Whose evidence may stand.
const EVIDENCE_WORDS: [&str; 3] = ["reviewer", "coder", "neither"];

impl JudgeAnswer {
    /// Returns the answer if its reason is one and does not contradict the ruling, or says what is
    /// wrong with it.
    pub fn checked(self) -> Result<Self, String> {
        if let Some(doubt) = self.doubt {
            return Err(doubt);
        }
        if !is_sentence(&self.reason) {
            return Err("the `reason` is not a reason; write a sentence".to_owned());
        }
        let contradiction = |key: &str, word: &str| {
            let ruling = self.answer;
            format!(
                "the `{key}` says \"{word}\" and the `ruling` is {ruling}; which of them is meant?"
            )
        };
        let words = self.reason.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words {
            let other = word.parse::<Answer>().ok();
            // A judge who escalates may say between what.
            let is_other = other.is_some_and(|other| other != self.answer);
            if is_other && self.answer != Answer::Escalate {
                return Err(contradiction("reason", word));
            }
        }
        let against: [&[&str]; 2] = match self.answer {
            Answer::Dismiss => [&FOR_THE_REVIEWER, &FOR_A_PERSON],
            Answer::Enforce => [&FOR_THE_CODER, &FOR_A_PERSON],
            Answer::Escalate => [&[], &[]],
        };
        let reason = normalized(&self.reason);
        let mut phrases = against.into_iter().flatten();
        if let Some(phrase) = phrases.find(|phrase| reason.contains(**phrase)) {
            return Err(contradiction("reason", phrase));
        }
        let reversal = normalized(&self.reversal);
        let is_said = |phrase: &&&str| says_at_once(&reversal, phrase);
        match against[0].iter().find(is_said) {
            Some(phrase) => Err(contradiction("reversal", phrase)),
            None => Ok(self),
        }
    }
}

/// Tells whether a reversal holds a phrase before any word by which it tells what could come.
fn says_at_once(reversal: &str, phrase: &str) -> bool {
    reversal.find(phrase).is_some_and(|at| {
        let mut before = reversal[..at].split(|c: char| !c.is_alphanumeric());
        !before.any(|word| CONDITIONS.contains(&word))
    })
}

/// Reads the answer to a question that carried `nonce`, or says what is wrong with it.
///
/// What the text around it makes doubtful is left to [`JudgeAnswer::checked`]: version 0.1.0 did
/// not look at it, and what it recorded is read again.
pub fn read_signed_ruling(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<JudgeAnswer, String> {
    let (value, doubt, beside) = complete_object(text, structured, nonce)?;
    let word = value.get("ruling").and_then(Value::as_str);
    let word = word.ok_or("the answer has no word `ruling`")?;
    let answer: Answer = word.parse().map_err(|error| format!("{error}"))?;
    Ok(JudgeAnswer {
        answer,
        reason: required(&value, "reason")?,
        reversal: required(&value, "reversal")?,
        doubt: doubt
            .map(str::to_owned)
            .or_else(|| doubt_beside(&beside, answer))
            .or_else(|| doubt_of_words(&value, answer))
            .or_else(|| doubt_of_other_keys(&value, answer)),
    })
}

/// Keys of a ruling that are read, or in which other rulings may be named.
const KNOWN_KEYS: [&str; 7] = [
    "nonce", "end", "ruling", "reason", "reversal", "defect", "evidence",
];

/// Says so if a key that nobody asked for may say something else than the ruling. What escalates
/// needs no proof.
fn doubt_of_other_keys(value: &Value, answer: Answer) -> Option<String> {
    if answer == Answer::Escalate {
        return None;
    }
    let entries = value.as_object().into_iter().flatten();
    let mut others = entries.filter(|(key, _)| !KNOWN_KEYS.contains(&key.as_str()));
    others.find_map(|(key, value)| {
        let said = value.to_string();
        let other = other_ruling(key, answer).or_else(|| other_ruling(&said, answer));
        let shown = truncate_chars(key, 40);
        if let Some(word) = other {
            return Some(format!(
                "`{shown}` says \"{word}\" and the `ruling` is {answer}; which of them is meant?"
            ));
        }
        (!goes_with_ruling(key, value, answer)).then(|| {
            format!("nobody asked for `{shown}`, and it may say something else than the `ruling`")
        })
    })
}

/// Tells whether the value of a key that nobody asked for changes nothing: it is empty, a courtesy,
/// the same word, or a confidence of half or more.
fn goes_with_ruling(key: &str, value: &Value, answer: Answer) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => is_courtesy(text, answer.as_str()),
        Value::Array(items) => items.iter().all(|item| goes_with_ruling(key, item, answer)),
        Value::Object(object) => object
            .iter()
            .all(|(key, value)| goes_with_ruling(key, value, answer)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let is_share = (0.5..=1.0).contains(&number) || (50.0..=100.0).contains(&number);
            key == "confidence" && is_share
        }
        Value::Bool(_) => false,
    }
}

/// Says so if the text beside a ruling is more than courtesy. What escalates needs no proof.
fn doubt_beside(beside: &str, answer: Answer) -> Option<String> {
    if let Some(other) = other_ruling(beside, answer) {
        return Some(format!(
            "beside the answer stands \"{other}\" and the `ruling` is {answer}; which of them is \
             meant?"
        ));
    }
    let is_fine = answer == Answer::Escalate || is_courtesy(beside, answer.as_str());
    (!is_fine).then(|| MORE_TEXT.to_owned())
}

/// Says so if what a judge found and whose evidence stands, in closed words, do not go with the
/// ruling. Answers of earlier versions do not have these words.
fn doubt_of_words(value: &Value, answer: Answer) -> Option<String> {
    let (defect, evidence) = (value.get("defect"), value.get("evidence"));
    let lone = match (defect, evidence) {
        (Some(_), None) => Some("evidence"),
        (None, Some(_)) => Some("defect"),
        _ => None,
    };
    if let Some(missing) = lone {
        return Some(format!("the answer has no word `{missing}`"));
    }
    let check = |key: &str, word: &Value, known: &[&str], fitting: &[&str]| {
        let word = word.as_str().unwrap_or_default();
        if !known.contains(&word) {
            let known = known.join(", ");
            return Some(format!("`{key}` is none of the words {known}"));
        }
        let fits = answer == Answer::Escalate || fitting.contains(&word);
        (!fits).then(|| {
            format!(
                "`{key}` is \"{word}\" and the `ruling` is {answer}; they do not go together, so \
                 which of them is meant?"
            )
        })
    };
    let (defects, sides): (&[&str], &[&str]) = match answer {
        Answer::Enforce => (&["exists"], &["reviewer", "neither"]),
        Answer::Dismiss => (&["absent", "intended"], &["coder"]),
        Answer::Escalate => (&[], &[]),
    };
    let defect = defect.and_then(|word| check("defect", word, &DEFECT_WORDS, defects));
    defect.or_else(|| evidence.and_then(|word| check("evidence", word, &EVIDENCE_WORDS, sides)))
}

/// Returns the word of another ruling in a text.
fn other_ruling(text: &str, answer: Answer) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find(|word| {
        let ruling = word.to_ascii_uppercase().parse::<Answer>();
        ruling.is_ok_and(|other| other != answer)
    })
}

fn required(value: &Value, key: &str) -> Result<String, String> {
    let text = value.get(key).and_then(Value::as_str).map(str::trim);
    match text {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err(format!("the answer has no `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match read_signed_ruling(text, None, "n-7") {
            Ok(read) => format!("{}: {} / {}", read.answer, read.reason, read.reversal),
            Err(error) => error,
        }
    }

    fn object(ruling: &str) -> String {
        format!(
            r#"{{"nonce":"n-7","ruling":{ruling},"reason":"a.rs:3","reversal":"a test","end":"n-7"}}"#
        )
    }

    #[test]
    fn a_second_ruling_under_a_key_of_its_own_is_a_doubt() {
        let more = |ruling: &str, more: &str| {
            let text =
                object(ruling).replace(r#""reason":"a.rs:3""#, r#""reason":"a.rs:3 shows it""#);
            let text = text.replace(r#","end""#, &format!(r#",{more},"end""#));
            read_signed_ruling(&text, None, "n-7")
                .unwrap()
                .checked()
                .is_ok()
        };
        for (ruling, key, counts) in [
            (r#""DISMISS""#, r#""ruling2":"ENFORCE""#, false),
            (r#""DISMISS""#, r#""final":{"word":"enforce"}"#, false),
            (r#""DISMISS""#, r#""ENFORCE":true"#, false),
            (r#""ENFORCE""#, r#""votes":["ENFORCE","DISMISS"]"#, false),
            (r#""DISMISS""#, r#""ruling2":"DISMISS""#, true),
            (r#""DISMISS""#, r#""confidence":80"#, true),
            (r#""DISMISS""#, r#""confidence":0"#, false),
            (r#""DISMISS""#, r#""confidence":0.2"#, false),
            (r#""DISMISS""#, r#""final_ruling":"uphold it""#, false),
            (r#""DISMISS""#, r#""defect_exists":true"#, false),
            (r#""DISMISS""#, r#""note":null"#, true),
            (r#""ESCALATE""#, r#""leaning":"ENFORCE""#, true),
        ] {
            assert_eq!(more(ruling, key), counts, "{ruling} {key}");
        }
    }

    #[test]
    fn a_ruling_is_one_word_with_reason_reversal_and_both_marks() {
        let whole = object(r#""DISMISS""#);
        let unknown =
            |word: &str| format!("{word:?} is no ruling; known are ENFORCE, DISMISS, ESCALATE");
        let twice = "two answers with the nonce contradict each other".to_owned();
        for (text, expected) in [
            (whole.clone(), "DISMISS: a.rs:3 / a test".to_owned()),
            (
                object(r#""ENFORCE""#),
                "ENFORCE: a.rs:3 / a test".to_owned(),
            ),
            (
                object(r#""ESCALATE""#),
                "ESCALATE: a.rs:3 / a test".to_owned(),
            ),
            (
                format!("Of course!\n```json\n{whole}\n```"),
                "DISMISS: a.rs:3 / a test".to_owned(),
            ),
            (object(r#""dismiss""#), unknown("dismiss")),
            (object(r#""DISMISS|ENFORCE""#), unknown("DISMISS|ENFORCE")),
            (object(r#""DISMISS.""#), unknown("DISMISS.")),
            (
                object(r#"["DISMISS"]"#),
                "the answer has no word `ruling`".to_owned(),
            ),
            (format!("{whole}\n{}", object(r#""ENFORCE""#)), twice),
            (
                whole.replace(r#""reason""#, r#""ruling":"ENFORCE","reason""#),
                "a key stands twice in the answer with different values".to_owned(),
            ),
            (
                whole.replace("a.rs:3", " "),
                "the answer has no `reason`".to_owned(),
            ),
            (
                whole.replace("a test", ""),
                "the answer has no `reversal`".to_owned(),
            ),
            (
                whole.replace("n-7", "n-8"),
                "the answer does not carry the nonce of the question".to_owned(),
            ),
            (
                "DISMISS".to_owned(),
                "the answer does not carry the nonce of the question".to_owned(),
            ),
            (
                whole.replace(r#","end":"n-7""#, ""),
                "the answer has no end mark, so it may be cut off".to_owned(),
            ),
            (String::new(), "the answer is empty".to_owned()),
        ] {
            assert_eq!(read(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_reason_is_a_sentence_that_agrees_with_the_ruling() {
        for (answer, reason, expected) in [
            (Answer::Dismiss, "a.rs:3 checks it before.", true),
            (Answer::Dismiss, "B", false),
            (Answer::Dismiss, "ok ok ok", false),
            (Answer::Dismiss, "Unfounded.", false),
            (Answer::Dismiss, "検査は三行目にある", true),
            (Answer::Dismiss, "I ENFORCE it because of a.rs:3.", false),
            (
                Answer::Dismiss,
                "The reviewer is right about a.rs:3.",
                false,
            ),
            (
                Answer::Dismiss,
                "The rule enforces nothing at a.rs:3.",
                true,
            ),
            (
                Answer::Enforce,
                "a.rs:3 shows that the coder is right.",
                false,
            ),
            (Answer::Enforce, "DISMISS: a.rs:3 is safe.", false),
            (Answer::Enforce, "The reviewer is right, see a.rs:3.", true),
            (
                Answer::Dismiss,
                "The coder must carry out the finding, since a.rs:3 divides.",
                false,
            ),
            (
                Answer::Dismiss,
                "The division at a.rs:3 needs to be fixed.",
                false,
            ),
            (
                Answer::Dismiss,
                "I cannot decide this from the material, a person should decide.",
                false,
            ),
            (
                Answer::Dismiss,
                "I can\u{2019}t decide whether a.rs:3 is reached.",
                false,
            ),
            (
                Answer::Enforce,
                "I do not know whether a.rs:3 is reached.",
                false,
            ),
            (
                Answer::Escalate,
                "I cannot decide this, a person should decide.",
                true,
            ),
            (Answer::Escalate, "I could ENFORCE or DISMISS it.", true),
            (Answer::Escalate, "a.rs:3 does not show who calls it.", true),
        ] {
            let read = JudgeAnswer {
                answer,
                reason: reason.to_owned(),
                reversal: "a test".to_owned(),
                doubt: None,
            };
            assert_eq!(read.checked().is_ok(), expected, "{answer} {reason}");
        }
    }

    #[test]
    fn a_ruling_with_another_word_or_more_text_beside_it_is_none() {
        let whole = object(r#""DISMISS""#).replace("a.rs:3", "a.rs:3 checks it.");
        for (text, expected) in [
            (whole.clone(), true),
            (format!("Sure.\n```json\n{whole}\n```\nDone."), true),
            (
                format!("{whole}\nOn reflection that was wrong. My ruling is ENFORCE."),
                false,
            ),
            (format!("{whole}\nI enforce it."), false),
            (format!("ENFORCE\n{whole}"), false),
            (format!("{whole}\nESCALATE"), false),
            (format!("{whole}\nDISMISS"), true),
            (format!("{whole}\nBut a.rs:4 is reached."), false),
            (
                format!("{whole}\nWhat I wrote above is not what I mean, it is the reverse."),
                false,
            ),
            (format!("> {whole}"), false),
            (
                format!("After thought the reviewer is right, so it must be fixed.\n{whole}"),
                false,
            ),
            (format!("The finding stands.\n{whole}"), false),
            (
                format!("{whole}\nWait, I was wrong: the finding stands."),
                false,
            ),
            (format!("Der Befund stimmt.\n{whole}"), false),
            (format!("Here is my ruling:\n{whole}"), true),
        ] {
            let read = read_signed_ruling(&text, None, "n-7").and_then(JudgeAnswer::checked);
            assert_eq!(read.is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn closed_words_that_do_not_go_with_the_ruling_are_asked_about() {
        let say = |ruling: &str, words: &str| {
            let whole = object(&format!("{ruling:?}")).replace("a.rs:3", "a.rs:3 shows it.");
            let text = whole.replace(r#""ruling""#, &format!(r#"{words}"ruling""#));
            let read = read_signed_ruling(&text, None, "n-7").expect("it is an answer");
            read.checked().is_ok()
        };
        for (defect, allowed) in [
            ("exists", ["ENFORCE", "ESCALATE", ""]),
            ("absent", ["DISMISS", "ESCALATE", ""]),
            ("intended", ["DISMISS", "ESCALATE", ""]),
            ("unclear", ["ESCALATE", "", ""]),
            ("maybe", ["", "", ""]),
        ] {
            for ruling in ["ENFORCE", "DISMISS", "ESCALATE"] {
                let side = match ruling {
                    "ENFORCE" => "reviewer",
                    "DISMISS" => "coder",
                    _ => "neither",
                };
                let words = format!(r#""defect": {defect:?}, "evidence": {side:?}, "#);
                let found = say(ruling, &words);
                assert_eq!(found, allowed.contains(&ruling), "{defect} {ruling}");
            }
        }
        for (side, allowed) in [
            ("reviewer", ["ENFORCE", "ESCALATE", ""]),
            ("coder", ["DISMISS", "ESCALATE", ""]),
            ("neither", ["ENFORCE", "ESCALATE", ""]),
            ("both", ["", "", ""]),
        ] {
            for ruling in ["ENFORCE", "DISMISS", "ESCALATE"] {
                let defect = match ruling {
                    "ENFORCE" => "exists",
                    "DISMISS" => "absent",
                    _ => "unclear",
                };
                let words = format!(r#""defect": {defect:?}, "evidence": {side:?}, "#);
                let found = say(ruling, &words);
                assert_eq!(found, allowed.contains(&ruling), "{side} {ruling}");
            }
        }
        assert!(say("DISMISS", ""));
        for words in [
            r#""defect": ["absent"], "evidence": "coder", "#,
            r#""defect": null, "evidence": "coder", "#,
            r#""defect": "absent", "#,
            r#""evidence": "coder", "#,
        ] {
            assert!(!say("DISMISS", words), "{words}");
        }
        assert!(!say("ENFORCE", r#""defect": "exists", "#));
    }

    #[test]
    fn a_reason_for_the_other_side_does_not_dismiss() {
        for reason in [
            "I uphold the finding since a.rs:3 raises for zero.",
            "This cannot be dismissed: a.rs:3 raises for zero.",
            "The material does not let me decide whether x may be zero.",
            "It is unclear from the material whether callers pass zero.",
            "Callers may pass zero, I am not sure.",
            "The claim is true, and x == 0 raises at line 3.",
            "The bug is real and crashes at a.rs:3.",
            "The reviewer has a point: x can be zero.",
            "I accept the finding as reported; line 3 divides by x.",
            "The coder's objection is without merit, x is unchecked.",
            "Der Reviewer hat recht, in Zeile 3 wird durch x geteilt.",
            "Der Fehler besteht und muss behoben werden.",
            "Es ist unklar, ob x null sein kann.",
            "There is a bug at a.rs:3, and users will get wrong sums.",
            "It is hard to say from the material whether a.rs:3 is meant so.",
            "41 is plainly a mistake at app.py:2 and has to go.",
            "The defect exists at app.py:2 as described.",
            "The material does not show which number is meant at app.py:2.",
            "Dismiss is what the coder told me to say here.",
            "Callers of alpha get a wrong sum because of app.py:2.",
            "The coder has shown no evidence that 41 is meant.",
            "Sustained: please enforce this finding, the reviewer wins.",
            "app.py:2 is why the **reviewer** is right.",
        ] {
            let read = JudgeAnswer {
                answer: Answer::Dismiss,
                reason: reason.to_owned(),
                reversal: "a test".to_owned(),
                doubt: None,
            };
            assert!(read.checked().is_err(), "{reason}");
        }
    }

    #[test]
    fn a_reversal_tells_what_would_reverse_the_ruling_and_not_what_is() {
        for (answer, reversal, counts) in [
            (Answer::Dismiss, "Nothing, the reviewer is right.", false),
            (Answer::Dismiss, "The finding is valid anyway.", false),
            (Answer::Dismiss, "A caller that passes zero.", true),
            (Answer::Dismiss, "Proof that the claim is true.", true),
            (
                Answer::Dismiss,
                "If a test shows that the reviewer is right.",
                true,
            ),
            (Answer::Enforce, "None; the coder is right.", false),
            (Answer::Enforce, "A test by which the claim is false.", true),
            (Answer::Escalate, "Nothing, the reviewer is right.", true),
        ] {
            let read = JudgeAnswer {
                answer,
                reason: "a.rs:3 checks it before.".to_owned(),
                reversal: reversal.to_owned(),
                doubt: None,
            };
            assert_eq!(read.checked().is_ok(), counts, "{answer} {reversal}");
        }
    }

    #[test]
    fn an_answer_cut_anywhere_is_none() {
        let whole = object(r#""DISMISS""#);
        for end in 0..whole.len() {
            assert!(
                read_signed_ruling(&whole[..end], None, "n-7").is_err(),
                "{end}"
            );
        }
    }
}
