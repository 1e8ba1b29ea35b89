//! Ledgers on disks that are full or may not be written.

use crate::common::TestEnv;

/// Returns a place with a repository in which a review finds something.
fn with_finding() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write("app.py", "def f(x):\n    return eval(x)\n");
    env
}

#[test]
fn a_ledger_that_may_not_be_written_can_still_be_shown() {
    let env = with_finding();
    env.run(["review"]).assert_code(1);
    env.run(["ask", "scripted", "Hello"]).assert_code(0);
    env.run(["task", "add", "Sweep the floor"]).assert_code(0);
    let log = env.run(["log", "--json"]).assert_code(0).json();
    let cases = log["cases"].as_array().or(log.as_array()).unwrap();
    let case = cases[0]["id"].as_str().or(cases[0]["case"].as_str());
    let case = case.unwrap().to_owned();
    let commands = [
        // For people it tells ages, which grow meanwhile.
        "log --json".to_owned(),
        format!("show {case}"),
        format!("export {case}"),
        "stats".to_owned(),
        "explain f-".to_owned(),
        "task list".to_owned(),
        "dispute list".to_owned(),
        "section list".to_owned(),
        "precedent list".to_owned(),
        "agents".to_owned(),
        "trial list".to_owned(),
        "doctor --ledger-only".to_owned(),
    ];
    let mut script = "set -f\n".to_owned();
    for command in &commands {
        script += &format!("\"$T\" {command}; echo \"{command}: $?\"\n");
    }
    let Some(before) = env.run_with_mounts(&script) else {
        return;
    };
    let mount = "mount --bind \"$L\" \"$L\" && mount -o remount,bind,ro \"$L\" || exit 99\n";
    let after = env.run_with_mounts(&format!("{mount}{script}")).unwrap();
    assert_eq!(after.stdout, before.stdout, "{}", after.stderr);
    assert!(
        before.stdout.contains("doctor --ledger-only: 0"),
        "{}",
        before.stdout
    );
    assert!(
        before.stdout.contains("Sweep the floor"),
        "{}",
        before.stdout
    );

    for command in ["ask scripted Hello", "review", "task add More", "gc"] {
        let script = format!("{mount}exec \"$T\" {command}");
        let refused = env.run_with_mounts(&script).unwrap().assert_code(3);
        assert!(
            refused.stderr.contains("ledger"),
            "{command}: {}",
            refused.stderr
        );
    }
    env.assert_healthy();
}

/// Runs a command on a disk with little and then less room, until it has none; then makes room.
///
/// `place` is what lies on the small disk. Prints `code N` for every time the command was given.
fn script_of(place: &str, command: &str) -> String {
    format!(
        r#"
mkdir -p "{place}" && mount -t tmpfs -o size=8m,mode=700 none "{place}" || exit 99
"$T" {command} >/dev/null 2>&1; echo "normal $?"
for free in 0 8 24 48 80 120 180 260 400; do
    rm -f "{place}/filler"
    mount -o remount,size=8m "{place}"
    room=$(df -k --output=avail "{place}" | tail -1)
    head -c $(( (room - free) * 1024 )) /dev/zero > "{place}/filler"
    "$T" {command} > "$HOME/out" 2> "$HOME/err"; code=$?
    echo "code $code with $free"
    [ $code = 7 ] && grep -q "full\|No space left\|Out of diskspace" "$HOME/err" && echo "told"
    [ $code = 7 ] || [ $code -le 1 ] || cat "$HOME/out" "$HOME/err"
    "$T" log > /dev/null 2> "$HOME/err" || {{ echo "log failed"; cat "$HOME/err"; }}
done
rm "{place}/filler"
"$T" {command} > "$HOME/out" 2>&1; echo "again $?"
"$T" doctor --ledger-only; echo "doctor $?"
"#
    )
}

fn assert_full_disk_is_a_named_stop(place: &str, command: &str) {
    let env = with_finding();
    let Some(ran) = env.run_with_mounts(&script_of(place, command)) else {
        return;
    };
    let text = format!("{}{}", ran.stdout, ran.stderr);
    let normal = text.lines().find_map(|line| line.strip_prefix("normal "));
    let normal = normal.unwrap_or_else(|| panic!("{text}"));
    assert!(normal == "0" || normal == "1", "{text}");
    let codes: Vec<&str> = (text.lines())
        .filter_map(|line| line.strip_prefix("code ")?.split(' ').next())
        .collect();
    assert_eq!(codes.len(), 9, "{text}");
    assert!(
        codes.iter().all(|code| *code == normal || *code == "7"),
        "{text}"
    );
    assert_eq!(codes[0], "7", "{text}");
    let stops = codes.iter().filter(|code| **code == "7").count();
    let told = text.lines().filter(|line| *line == "told").count();
    assert_eq!(told, stops, "{text}");
    assert!(!text.contains("log failed"), "{text}");
    assert!(text.contains(&format!("again {normal}")), "{text}");
    assert!(text.contains("doctor 0"), "{text}");
}

#[test]
fn a_full_disk_under_the_ledger_stops_an_ask_and_says_so() {
    assert_full_disk_is_a_named_stop("$L", "ask scripted Hello");
}

#[test]
fn a_full_disk_under_the_ledger_stops_a_review_and_never_changes_its_verdict() {
    assert_full_disk_is_a_named_stop("$L", "review");
}

#[test]
fn a_full_disk_stops_what_opens_a_task() {
    assert_full_disk_is_a_named_stop("$L", "task add 'Sweep the floor'");
}
