//! Programs that write where they have nothing to write: it is noticed, told, and spoils the answer.

use serde_json::Value;

use crate::common::{Ran, TestEnv};

/// Answers that there is nothing to find, after doing `act` in the user's project.
fn reviewer(act: &str) -> String {
    format!(
        "prompt=$(cat)\nnonce=$(printf '%s' \"$prompt\" | sed -n 's/^Nonce: //p' | head -n 1)\n\
         cd \"$PROJECT\" || exit 1\n{act}\n\
         printf '{{\"nonce\": \"%s\", \"findings\": [], \"end\": \"%s\"}}' \"$nonce\" \"$nonce\"\n"
    )
}

/// A project with these reviewers, which only answer, and a change to review.
fn project(acts: &[(&str, &str)]) -> TestEnv {
    let mut env = TestEnv::with_repository();
    env.set_env("PROJECT", env.project().display().to_string());
    let mut agents = String::new();
    for (name, act) in acts {
        let script = env.root().join(format!("{name}.sh"));
        std::fs::write(&script, reviewer(act)).unwrap();
        agents += &format!(
            "  - {{name: {name}, command: [sh, {}], role: reviewer, pass_env: PROJECT}}\n",
            script.display()
        );
    }
    env.write_user_config(&format!(
        "agents:\n{agents}review: {{builtin: [], rounds: 1}}\nretry: {{attempts: 2, base: 10ms}}\n"
    ));
    env.write("app.py", "def f(x):\n    return x\n");
    env.commit_all("second");
    env.write("app.py", "def f(x):\n    return x + 1\n");
    env
}

fn events(env: &TestEnv, review: &Ran, kind: &str) -> Vec<Value> {
    let case = review.json()["case"].as_str().unwrap().to_owned();
    let ran = env.run(["show", &case, "--format", "jsonl"]).assert_code(0);
    let lines = ran
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines
        .filter(|event: &Value| event["type"] == kind)
        .collect()
}

fn notes(ran: &Ran) -> String {
    ran.json()["notes"].to_string()
}

#[test]
fn what_git_would_run_or_believe_spoils_the_run_that_changed_it() {
    let rows = [
        ("git config core.pager evil", ".git/config"),
        ("echo '[user]' >> .git/config", ".git/config"),
        (
            "printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
            ".git/hooks/pre-commit",
        ),
        (
            "echo '* filter=x' > .git/info/attributes",
            ".git/info/attributes",
        ),
        ("echo app.py >> .git/info/exclude", ".git/info/exclude"),
        (
            "echo /x > .git/objects/info/alternates",
            ".git/objects/info/alternates",
        ),
        ("git update-ref refs/heads/evil HEAD", "refs/heads/evil"),
        ("git update-ref refs/tags/v1 HEAD", "refs/tags/v1"),
        (
            "git update-ref refs/heads/tribunal/work HEAD",
            "refs/heads/tribunal/work",
        ),
        ("git symbolic-ref HEAD refs/heads/evil", "HEAD"),
    ];
    for (act, place) in rows {
        let env = project(&[("ann", act)]);
        let ran = env.run(["review", "--json"]).assert_code(5);
        let told = format!("`{place}` of your repository changed while ann worked elsewhere");
        assert!(notes(&ran).contains(&told), "{act}: {}", notes(&ran));
        let causes = ran.json()["causes"].to_string();
        assert!(
            causes.contains("ann did not give a complete answer"),
            "{causes}"
        );
        let disturbed = events(&env, &ran, "repository_disturbed");
        assert_eq!(disturbed.len(), 1, "it is not asked again: {disturbed:?}");
        assert_eq!(disturbed[0]["places"], serde_json::json!([place]));
        assert_eq!(disturbed[0]["spoils"], true);
        env.assert_healthy();
    }
}

#[test]
fn what_users_do_all_day_is_told_and_spoils_nothing() {
    let rows = [
        ("echo '# more' >> app.py", "app.py"),
        ("echo new > other.txt", "other.txt"),
        ("rm README.md", "README.md"),
        ("chmod 755 README.md", "README.md"),
        ("git rm -q --cached README.md", "the index"),
    ];
    for (act, place) in rows {
        let env = project(&[("ann", act)]);
        let ran = env.run(["review", "--json"]).assert_code(0);
        let told = "of your own files changed while ann worked elsewhere; if that was not you, ann \
                    wrote outside of its place";
        let notes = notes(&ran);
        assert!(
            notes.contains(told) && notes.contains(place),
            "{act}: {notes}"
        );
        assert_eq!(
            events(&env, &ran, "repository_disturbed")[0]["spoils"],
            false
        );
    }
}

#[test]
fn what_is_ignored_refreshed_or_fetched_is_nobodys_business() {
    for act in [
        ":",
        "git status > /dev/null",
        "mkdir -p target && echo x > target/x",
        "git update-ref refs/remotes/origin/main HEAD",
        "git pack-refs --all",
    ] {
        let env = project(&[("ann", act)]);
        env.write(".gitignore", "target/\n");
        let ran = env.run(["review", "--json"]).assert_code(0);
        assert!(
            !notes(&ran).contains("changed while"),
            "{act}: {}",
            notes(&ran)
        );
        assert_eq!(events(&env, &ran, "repository_disturbed").len(), 0, "{act}");
    }
}

#[test]
fn all_who_ran_meanwhile_are_held_to_account() {
    // One writes when the other runs, and the other waits until that has happened.
    let write = "while [ ! -e ../bob ]; do sleep 0.05; done; touch .git/hooks/post-commit";
    let wait = "touch ../bob; while [ ! -e .git/hooks/post-commit ]; do sleep 0.05; done";
    let env = project(&[("ann", write), ("bob", wait)]);
    let ran = env.run(["review", "--json"]).assert_code(5);
    let causes = ran.json()["causes"].to_string();
    for name in ["ann", "bob"] {
        let told = format!("{name} did not give a complete answer");
        assert!(causes.contains(&told), "{causes}");
    }
    // When nobody writes any more, going on comes to an end.
    for name in ["ann", "bob"] {
        std::fs::write(env.root().join(format!("{name}.sh")), reviewer(":")).unwrap();
    }
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    let again = env.run(["review", "--json"]).assert_code(0);
    assert_ne!(again.json()["case"].as_str().unwrap(), case);
}
