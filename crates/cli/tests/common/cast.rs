//! A scripted cast for trials: contestants, an arbiter and judges who answer from files.

use serde_json::{Value, json};

use super::{Ran, TestEnv};

/// Where a scripted agent writes the nonce of its question.
pub const NONCE: &str = "{{line:Nonce: }}";

/// Beginnings of the questions of a trial.
pub const DESIGN: &str = "# Who should answer this challenge";
pub const EMPANEL: &str = "# Which judges these answers need";

/// What a cast begins with.
const SETTINGS: &str = "retry: {attempts: 1}\n";

/// A place with agents that answer from scripts.
pub struct Cast {
    pub env: TestEnv,
    agents: Vec<String>,
    settings: String,
}

impl Cast {
    pub fn new(env: TestEnv) -> Self {
        Self {
            env,
            agents: Vec::new(),
            settings: SETTINGS.to_owned(),
        }
    }

    /// Adds an agent, or replaces the answers of one.
    pub fn agent(&mut self, name: &str, family: &str, role: &str, replies: &[Value]) -> &mut Self {
        let script = self.env.root().join(format!("{name}.json"));
        std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
        let line = format!(
            "  - {{name: {name}, provider: scripted, script: {:?}, role: {role}, family: {family}}}\n",
            script.display().to_string()
        );
        if !self.agents.contains(&line) {
            self.agents.push(line);
        }
        self.write_config();
        self
    }

    /// Takes an agent out of the config, as if somebody had disconnected it.
    pub fn remove(&mut self, name: &str) -> &mut Self {
        let own = format!("{{name: {name},");
        self.agents.retain(|line| !line.contains(&own));
        self.write_config();
        self
    }

    fn write_config(&self) {
        let agents = self.agents.concat();
        let settings = &self.settings;
        self.env
            .write_user_config(&format!("agents:\n{agents}{settings}"));
    }

    /// Adds settings in YAML.
    pub fn set(&mut self, yaml: &str) -> &mut Self {
        self.settings.push_str(yaml);
        if !self.agents.is_empty() {
            self.write_config();
        }
        self
    }

    /// Takes back all settings that were added.
    pub fn unset(&mut self) -> &mut Self {
        SETTINGS.clone_into(&mut self.settings);
        self.write_config();
        self
    }

    /// Runs `trial` with these arguments and checks the ledger.
    pub fn trial(&self, args: &[&str]) -> Ran {
        let mut all = vec!["trial"];
        all.extend(args);
        let ran = self.env.run(all);
        self.env.assert_healthy();
        ran
    }

    /// Returns the newest trial with its events, runs and prompts.
    pub fn newest(&self) -> Value {
        let listed = self.env.run(["trial", "list", "--json"]).json();
        let case = listed["trials"][0]["case"].as_str().unwrap().to_owned();
        self.env.run(["export", &case]).json()
    }

    pub fn newest_id(&self) -> String {
        self.newest()["case"].as_str().unwrap().to_owned()
    }
}

/// The challenge of the example.
pub const CHALLENGE: &str = "How should we handle mid-epoch liquidations?";

/// Mid-epoch liquidations: three contestants, an arbiter, a judge of another family.
pub fn liquidations(env: TestEnv) -> Cast {
    let mut cast = Cast::new(env);
    let answers = [
        json!({"when": "Safety First", "text": "Queue them: liquidations wait for the epoch's end."}),
        json!({"when": "Gas Optimizer", "text": "Batch them: one transaction clears many."}),
        json!({"when": "Protocol Purist", "text": "Invariants first: liquidate only what breaks one."}),
    ];
    cast.agent("ann", "anthropic", "contestant", &answers);
    cast.agent("art", "google", "arbiter", &[contestants(), three_judges()]);
    cast.agent("jim", "openai", "judge", &liquidations_judges());
    cast
}

/// What the three judges of the example say.
pub fn liquidations_judges() -> Vec<Value> {
    [
        scoring(
            "Pragmatist Judge",
            &[("Queue", 82), ("Batch", 74), ("Invariants", 61)],
        ),
        scoring(
            "Safety Judge",
            &[("Queue", 88), ("Batch", 60), ("Invariants", 79)],
        ),
        scoring(
            "Innovation Judge",
            &[("Queue", 64), ("Batch", 90), ("Invariants", 70)],
        ),
    ]
    .concat()
}

/// The arbiter designs the three contestants of the example.
pub fn contestants() -> Value {
    let one = |name: &str, focus: &str| {
        json!({"name": name, "persona": format!("You are known as {name}."), "focus": focus,
            "agent": "ann", "temperature": 0.5})
    };
    json!({"when": DESIGN, "json": {"nonce": NONCE, "reasoning": "Three schools of thought.",
        "contestants": [one("Safety First", "no loss"), one("Gas Optimizer", "cost"),
            one("Protocol Purist", "invariants")], "end": NONCE}})
}

/// The arbiter designs the three judges of the example.
pub fn three_judges() -> Value {
    panel(&[
        (
            "Pragmatist Judge",
            "C1 and C2 both collect before they act: which is more practical?",
        ),
        ("Safety Judge", "C1, C2 and C3 all put something at risk."),
        ("Innovation Judge", "Gas Optimizer took a way of its own."),
    ])
}

/// The arbiter designs these judges.
pub fn panel(judges: &[(&str, &str)]) -> Value {
    let judges: Vec<Value> = judges
        .iter()
        .map(|(name, reasoning)| {
            json!({"name": name, "focus": format!("What the {name} sees."),
                "criteria": ["Would it work on Monday?", "What is left open?"],
                "reasoning": reasoning})
        })
        .collect();
    json!({"when": EMPANEL, "json": {"nonce": NONCE,
        "reasoning": "They differ in when they act.", "judges": judges, "end": NONCE}})
}

/// A judge who gives the answers that begin so these scores, in whatever order it sees them.
pub fn scoring(judge: &str, scores: &[(&str, u32)]) -> Vec<Value> {
    orders(scores)
        .iter()
        .map(|order| {
            let shown = (1..).zip(order);
            let mut when = vec![json!(format!("the judge \"{judge}\""))];
            when.extend(
                shown
                    .clone()
                    .map(|(n, (text, _))| json!(format!("R{n}\n{text}"))),
            );
            let cards: Vec<Value> = shown
                .map(|(n, (text, score))| card(&format!("R{n}"), &json!(score), text))
                .collect();
            json!({"when": when, "json": {"nonce": NONCE, "evaluations": cards,
                "summary": format!("As the {judge} sees it."), "end": NONCE}})
        })
        .collect()
}

/// One evaluation.
pub fn card(id: &str, score: &Value, text: &str) -> Value {
    json!({"id": id, "score": score, "strengths": [format!("{text} is concrete")],
        "weaknesses": [], "reasoning": format!("{id} says how, and when not.")})
}

/// Returns all orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.len() < 2 {
        return vec![list.to_vec()];
    }
    let mut all = Vec::new();
    for index in 0..list.len() {
        let mut rest = list.to_vec();
        let first = rest.remove(index);
        for order in orders(&rest) {
            all.push([vec![first.clone()], order].concat());
        }
    }
    all
}
