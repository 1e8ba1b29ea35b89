//! A model server with a fixed latency, and what is measured against it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tribunal_fakes::model::{FakeModel, Settings};

use crate::measure::{Used, measured};

/// Calls of the bulk case, and how many of them are under way at once.
pub const BULK: usize = 2_000;
pub const IN_FLIGHT: usize = 200;

const CONTESTANTS: usize = 8;
const JUDGES: usize = 5;
const NONCE: &str = "{{Nonce}}";

pub struct Scene {
    program: String,
    model: FakeModel,
    place: tempfile::TempDir,
}

impl Scene {
    pub fn new(program: &str, latency_ms: u64) -> Result<Self, String> {
        let settings = Settings {
            latency: Duration::from_millis(latency_ms),
            ..Settings::default()
        };
        let model = FakeModel::spawn_blocking_with(settings).map_err(|error| error.to_string())?;
        model.script("trial", replies());
        let scene = Self {
            program: std::path::absolute(program)
                .map_err(|error| error.to_string())?
                .display()
                .to_string(),
            model,
            place: tempfile::tempdir().map_err(|error| error.to_string())?,
        };
        scene.configure()?;
        Ok(scene)
    }

    pub fn trial(&self) -> Result<Used, String> {
        let names: Vec<String> = (1..=CONTESTANTS).map(|n| format!("c{n}")).collect();
        let names = names.join(",");
        let judges = JUDGES.to_string();
        self.ours(&[
            "-q",
            "trial",
            "How?",
            "--contestant",
            &names,
            "--judges",
            &judges,
            "--json",
        ])
    }

    pub fn bare_trial(&self) -> Result<Used, String> {
        self.bare(&format!("{CONTESTANTS},1,{JUDGES}"), CONTESTANTS, None)
    }

    /// Two thousand independent judge calls.
    pub fn bulk(&self) -> Result<Used, String> {
        let prompts: String = (0..BULK)
            .map(|n| json!({"id": format!("p{n}"), "prompt": "x".repeat(3000)}).to_string() + "\n")
            .collect();
        let file = self.place.path().join("prompts.jsonl");
        std::fs::write(&file, prompts).map_err(|error| error.to_string())?;
        let file = file.display().to_string();
        let in_flight = IN_FLIGHT.to_string();
        self.ours(&[
            "-q",
            "ask",
            "jim",
            "--role",
            "judge",
            "--batch",
            &file,
            "--parallel",
            &in_flight,
            "--json",
        ])
    }

    pub fn bare_bulk(&self) -> Result<Used, String> {
        self.bare(&BULK.to_string(), IN_FLIGHT, None)
    }

    /// The same calls by a client that keeps prompts and answers.
    pub fn keeping_bulk(&self) -> Result<Used, String> {
        let directory = self.place.path().join("kept");
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        self.bare(&BULK.to_string(), IN_FLIGHT, Some(&directory))
    }

    fn ours(&self, arguments: &[&str]) -> Result<Used, String> {
        let mut argv = vec![self.program.clone()];
        argv.extend(arguments.iter().map(ToString::to_string));
        let home = self.place.path().display().to_string();
        let project = self.place.path().join("project").display().to_string();
        argv.splice(1..1, ["-C".to_owned(), project]);
        let env = [
            ("HOME".to_owned(), home.clone()),
            ("BENCH_KEY".to_owned(), "k".to_owned()),
        ];
        measured(&argv, &env)
    }

    fn bare(
        &self,
        phases: &str,
        in_flight: usize,
        directory: Option<&Path>,
    ) -> Result<Used, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut argv = vec![
            own.display().to_string(),
            "bare".to_owned(),
            self.model.base_url("script", "trial"),
            phases.to_owned(),
            "3000".to_owned(),
            in_flight.to_string(),
        ];
        argv.extend(directory.map(|directory| directory.display().to_string()));
        measured(&argv, &[])
    }

    fn configure(&self) -> Result<(), String> {
        let url = self.model.base_url("script", "trial");
        let agent = |name: &str, role: &str, family: &str| {
            format!(
                "  - {{name: {name}, provider: anthropic, model: m, base_url: \"{url}\", api_key_env: BENCH_KEY, role: {role}, family: {family}, concurrency: {IN_FLIGHT}}}\n"
            )
        };
        let mut agents = agent("art", "arbiter", "a") + &agent("jim", "judge", "j");
        for n in 1..=CONTESTANTS {
            agents += &agent(&format!("c{n}"), "contestant", "c");
        }
        let yaml = format!(
            "agents:\n{agents}budget: {{per_case: null, per_day: null, max_runs_per_case: 100000}}\n"
        );
        let folder = self.place.path().join(".config/tribunal");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::create_dir_all(self.place.path().join("project/.tribunal")))
            .and_then(|()| std::fs::write(folder.join("config.yml"), yaml))
            .map_err(|error| error.to_string())
    }
}

/// What the model answers to each question of a trial.
fn replies() -> Vec<Value> {
    let judges: Vec<Value> = (1..=JUDGES)
        .map(|n| json!({"name": format!("Judge {n}"), "focus": "all", "criteria": ["good?"], "reasoning": "C1"}))
        .collect();
    let panel = json!({"nonce": NONCE, "reasoning": "r", "judges": judges, "end": NONCE});
    let cards: Vec<Value> = (1..=CONTESTANTS)
        .map(|n| json!({"id": format!("R{n}"), "score": 10 * n, "strengths": [], "weaknesses": [], "reasoning": "so"}))
        .collect();
    let scores = json!({"nonce": NONCE, "evaluations": cards, "summary": "s", "end": NONCE});
    vec![
        json!({"when": "# Which judges these answers need", "text": panel.to_string()}),
        json!({"when": "# Judging the answers", "text": scores.to_string()}),
        json!({"text": "An answer of a few words."}),
    ]
}
