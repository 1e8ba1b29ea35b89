//! Bad configs get one sentence: where, what, what was expected, what was probably meant.

use super::World;

/// Checks that the project config `text` is refused with `message`, which begins with the place.
#[track_caller]
fn refuses(text: impl AsRef<[u8]>, message: &str) {
    let complaint = World::new().project(text).complaint();
    assert_eq!(complaint, format!(".tribunal/config.yml:{message}"));
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    refuses(
        "reviw:\n  x: 1\n",
        "1:1: there is no key `reviw`; did you mean `review`?",
    );
    refuses(
        "review:\n  on_dispute:\n    defualt: judge\n",
        "3:5: in `review.on_dispute`, there is no key `defualt`; did you mean `default`?",
    );
    refuses(
        "review:\n  zzzzz: 1\n",
        "2:3: in `review`, there is no key `zzzzz`; \
         known here: `builtin`, `rules`, `policy`, `weights`, `rounds`, `debate_all`, `part_chars`, `ignore`, `may_skip`, `allow_new_suppressions`, `max_file`, `max_files`, `opinions`, `issues`, `arbitration`, `on_dispute`, `judge`",
    );
    refuses(
        "agents:\n- name: ann\n  limits: {wal: 5m}\n",
        "3:12: in `agents.ann.limits`, there is no key `wal`; did you mean `wall`?",
    );
    refuses(
        "providers:\n  antropic: {concurrency: 1}\n",
        "2:3: there is no provider `antropic`; did you mean `anthropic`?",
    );
}

#[test]
fn rules_that_do_not_exist_are_refused_with_the_nearest_ids() {
    refuses(
        "review:\n  rules:\n    pyton-eval: off\n",
        "3:5: in `review.rules`, there is no rule `pyton-eval`; did you mean `python-eval`?",
    );
    refuses(
        "review:\n  rules: {eval: off}\n",
        "2:11: in `review.rules`, there is no rule `eval`; \
         did you mean `python-eval` or `javascript-eval`?",
    );
    refuses(
        "review: {rules: {zzz: off}}\n",
        "1:18: in `review.rules`, there is no rule `zzz`; `tribunal rules` lists all rules",
    );
    refuses(
        "review: {rules: {python-eval: error}}\n",
        "1:31: `review.rules.python-eval` must be one of `off`, `low`, `medium`, `high`, \
         not `error`",
    );
}

#[test]
fn rules_of_the_project_have_levels_as_well() {
    let world = World::new().project("review: {rules: {noPrint.x: off}}\n");
    let rules = world.project_dir().join(".tribunal/rules");
    std::fs::create_dir_all(&rules).unwrap();
    let rule = "id: noPrint.x\nlanguage: python\nrule: {pattern: print($A)}\n";
    std::fs::write(rules.join("a.yml"), rule).unwrap();
    let loaded = world.loaded();
    assert_eq!(loaded.settings.review.rules["noPrint.x"].as_str(), "off");
}

#[test]
fn variables_and_flags_change_the_level_of_a_rule() {
    let world = World::new()
        .env("TRIBUNAL_REVIEW__RULES__PYTHON_EVAL", "off")
        .set("review.rules.go-sleep=high");
    let rules = world.loaded().settings.review.rules;
    let shown: Vec<String> = rules
        .iter()
        .map(|(id, level)| format!("{id} {level}"))
        .collect();
    assert_eq!(shown, ["go-sleep high", "python-eval off"]);
}

#[test]
fn wrong_types_are_refused() {
    for (text, message) in [
        ("review: 5\n", "1:9: `review` must be a mapping, not `5`"),
        (
            "review:\n  on_dispute:\n    prompt_user: maybe\n",
            "3:18: `review.on_dispute.prompt_user` must be `true` or `false`, not `maybe`",
        ),
        (
            "disputes:\n  timeout_days: soon\n",
            "2:17: `disputes.timeout_days` must be a whole number, not `soon`",
        ),
        (
            "disputes:\n  timeout_days: -1\n",
            "2:17: `disputes.timeout_days` must be a whole number from 1 to 3650, not `-1`",
        ),
        (
            "disputes:\n  timeout_days:\n",
            "2:15: `disputes.timeout_days` must be a whole number, not empty",
        ),
        (
            "- a\n",
            "1:1: the config must be a mapping of settings such as `review:`",
        ),
        (
            "agents:\n  ann:\n    command: claude\n",
            "2:3: `agents` must be a list; begin each agent with `- name: …`",
        ),
        (
            "agents: [ann]\n",
            "1:10: each entry of `agents` must be a mapping with a name; \
             write `- name: …` with its keys below",
        ),
        (
            "agents:\n- name: ann\n  command: []\n",
            "3:12: `agents.ann.command` must be a program with arguments, as text or as a list of \
             texts, not an empty one",
        ),
        (
            "agents:\n- name: ann\n  command: 'a \"b'\n",
            "3:12: `agents.ann.command` must be a program with arguments, as text or as a list of \
             texts, not `a \"b`",
        ),
    ] {
        refuses(text, message);
    }
}

#[test]
fn unknown_words_are_refused_with_the_known_ones() {
    let roles = "`coder`, `reviewer`, `judge`, `arbiter`, `contestant`";
    refuses(
        "review:\n  on_dispute:\n    default: jugde\n",
        "3:14: `review.on_dispute.default` must be one of `judge`, `human`, `discard`, \
         not `jugde`; did you mean `judge`?",
    );
    refuses(
        "review:\n  judge:\n    escalate_to: robot\n",
        "3:18: `review.judge.escalate_to` must be `human`, not `robot`",
    );
    refuses(
        "agents:\n- name: ann\n  role: coderr\n",
        &format!(
            "3:9: `agents.ann.role` must be one of {roles}, not `coderr`; did you mean `coder`?"
        ),
    );
    refuses(
        "agents:\n- name: ann\n  role: [coder, jduge]\n",
        &format!(
            "3:17: `agents.ann.role` must be one of {roles}, not `jduge`; did you mean `judge`?"
        ),
    );
    refuses(
        "review:\n  issues:\n    mandatory: [HGIH]\n",
        "3:17: `review.issues.mandatory` must be one of `MUST`, `SHOULD`, `CRITICAL`, `HIGH`, \
         `MEDIUM`, `LOW`, not `HGIH`; did you mean `HIGH`?",
    );
}

#[test]
fn bad_durations_sizes_and_amounts_are_refused() {
    for (text, message) in [
        (
            "limits:\n  wall: 5x\n",
            "2:9: `limits.wall` must be a duration such as `30s`, `5m` or `1h30m`, or a whole \
             number of seconds, not `5x`",
        ),
        (
            "limits:\n  wall: 0\n",
            "2:9: `limits.wall` must be longer than zero",
        ),
        (
            "limits:\n  output: big\n",
            "2:11: `limits.output` must be a size such as `64MiB` or `500KB`, or a whole number of \
             bytes, not `big`",
        ),
        (
            "budget:\n  per_day: -3\n",
            "2:12: `budget.per_day` must be an amount in US dollars such as `2.50`, not `-3`",
        ),
        (
            "arbiter:\n  temperature: 3\n",
            "2:16: `arbiter.temperature` must be a number from 0 to 2, not `3`",
        ),
        (
            "budget:\n  per_day: .inf\n",
            "2:12: a number is infinite or not a number; quote it if it is a text",
        ),
        (
            "providers:\n  claude: {concurrency: 0}\n",
            "2:25: `providers.claude.concurrency` must be at least 1, not `0`",
        ),
        (
            "retry:\n  attempts: 21\n",
            "2:13: `retry.attempts` must be at most 20, not `21`",
        ),
        (
            "trial:\n  contestants: 1\n",
            "2:16: `trial.contestants` must be at least 2, not `1`",
        ),
        (
            "trial:\n  judges: 9\n",
            "2:11: `trial.judges` must be at most 5, not `9`",
        ),
        (
            "review:\n  max_file: 0\n",
            "2:13: `review.max_file` must be at least 1, not `0`",
        ),
        (
            "run:\n  branch: a..b c\n",
            "2:11: `run.branch` cannot be the name of a branch: `a..b c`",
        ),
        (
            "run:\n  coordinate_at: [9, 2, 2, 0]\n",
            "2:18: `run.coordinate_at` must be numbers of rejections in rising order, from 1; \
             for example `[2, 5, 9]`",
        ),
    ] {
        refuses(text, message);
    }
}

#[test]
fn agents_are_whole_and_reached_in_one_way() {
    let twice = "- name: ann\n  command: claude\n  role: coder\n".repeat(2);
    refuses(
        format!("agents:\n{twice}"),
        "5:9: the agent `ann` is defined twice, here and in line 2; rename or remove one of them",
    );
    for (agent, message) in [
        (
            "command: claude",
            "2:3: this agent has no `name`; give it a `name`",
        ),
        (
            "name: a b",
            "2:9: \"a b\" is not a valid agent name: it must start with a letter or digit and hold \
             at most 64 letters, digits, `-`, `_`, `.`, `:`",
        ),
        (
            "name: ann\n  command: claude",
            "2:9: the agent `ann` has no `role`; \
             add `role: reviewer`, or `coder`, `judge`, `arbiter`, `contestant`",
        ),
        (
            "name: ann\n  role: judge",
            "2:9: the agent `ann` has neither a `command` nor a `provider`; \
             add `command: claude`, for example, or `provider: anthropic`",
        ),
        (
            "name: ann\n  role: judge\n  command: claude\n  provider: anthropic",
            "5:13: the agent `ann` has both a `command` and the provider `anthropic`; \
             keep one of them",
        ),
        (
            "name: ann\n  role: judge\n  provider: custom",
            "4:13: the agent `ann` is `custom` but has no `command`; name the program to start",
        ),
        (
            "name: ann\n  role: judge\n  provider: scripted",
            "2:9: the agent `ann` is `scripted` but has no `script`; add it",
        ),
        (
            "name: ann\n  role: judge\n  provider: anthropic\n  case: c-12345678",
            "5:9: `agents.ann.case` is only for `provider: replay`; remove one of them",
        ),
        (
            "name: ann\n  role: judge\n  provider: anthropic\n  model: --yolo",
            "5:10: `agents.ann.model` must be a name without spaces or a leading dash",
        ),
    ] {
        refuses(format!("agents:\n- {agent}\n"), message);
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for (text, message) in [
        (
            "disputes:\n  alert_on_stale: webhook\n",
            "2:19: `disputes.alert_on_stale` is `webhook` but there is no address; \
             set `disputes.webhook`",
        ),
        (
            "review:\n  issues:\n    mandatory: [HIGH]\n    optional: [HIGH, LOW]\n",
            "4:15: `HIGH` is both mandatory and optional in `review.issues`; keep it in one list",
        ),
        (
            "arbiter:\n  agent: ann\n",
            "2:10: `arbiter.agent` names `ann`, but there is no such agent",
        ),
        (
            "arbiter:\n  provider: scripted\n",
            "2:13: `arbiter.provider` cannot be `scripted`, which needs more than a name; \
             define an agent with `role: arbiter` and name it with `arbiter.agent`",
        ),
        (
            "arbiter:\n  base_url: https://example.org\n",
            "2:13: `arbiter.base_url` belongs to `arbiter.provider`, which is not set; \
             set `arbiter.provider`, or give the key to the agent that is the arbiter",
        ),
        (
            "arbiter:\n  provider: anthropic\n  api_key_env: sk-1\n",
            "3:16: `arbiter.api_key_env` must be the name of a variable; keys are never kept in config; \
             put the key into a variable and name that here",
        ),
        (
            "provider:\n  default: copilot\n  copilot:\n    model: gpt-4\n",
            "1:1: there is no key `provider`; name the provider of each agent under `agents`, such as \
             `agents: [{name: developer, provider: openai_chat, model: gpt-4, role: coder}]`, and the \
             arbiter's with `arbiter.provider`",
        ),
        (
            "agents:\n- {name: planner, command: x, role: coder}\n- {name: ann, command: x, role: coder}\n\
             arbiter:\n  rules:\n  - {on: select_agent, then: nobody}\n",
            "6:30: rule 1 of `arbiter.rules` answers `select_agent` with `nobody`; known here: \
             `complete`, `retry`, `planner`, `developer`, `tester`, `reviewer`, `ann`",
        ),
    ] {
        refuses(text, message);
    }
}

#[test]
fn keys_do_not_belong_into_config_and_are_not_repeated() {
    refuses(
        "agents:\n- name: ann\n  api_key: sk-canary\n",
        "3:3: in `agents.ann`, there is no key `api_key`, because keys are never kept in config; \
         name the variable that holds it with `api_key_env`",
    );
    refuses(
        "agents:\n- name: ann\n  role: judge\n  provider: anthropic\n  api_key_env: sk-canary\n",
        "5:16: `agents.ann.api_key_env` must be the name of a variable; \
         keys are never kept in config; put the key into a variable and name that here",
    );
    refuses(
        "disputes:\n  webhook: https://user:sk-canary@host/x\n",
        "2:12: `disputes.webhook` must not carry a name or password; use `api_key_env` for keys",
    );
}

#[test]
fn addresses_are_of_the_web() {
    for url in ["file:///etc/passwd", "host/x", "https://", "http://a b"] {
        refuses(
            format!("disputes:\n  webhook: '{url}'\n"),
            "2:12: `disputes.webhook` must be an address that begins with `https://` or `http://`",
        );
    }
}

#[test]
fn damaged_yaml_is_refused_with_its_place() {
    let check = "check the indentation, quotes and brackets around here";
    for (text, message) in [
        (
            "review: {}\nreview: {}\n",
            "2:1: the key `review` stands here a second time; keep one of them".to_owned(),
        ),
        (
            "disputes:\n  timeoutDays: 1\n  timeout_days: 2\n",
            "3:3: `timeout_days` stands here a second time, after line 2; keep one of them"
                .to_owned(),
        ),
        (
            "review:\n\tjudge: 1\n",
            "2:2: a line is indented with a tab, which YAML does not allow; indent with spaces"
                .to_owned(),
        ),
        (
            "review:\n  a: b: c\n",
            format!(
                "2:7: this is not valid YAML: mapping values are not allowed in this context; {check}"
            ),
        ),
        (
            "review: {}\n---\nreview: {}\n",
            "3:1: a second document begins here, but a config is one document; \
             remove the `---` line"
                .to_owned(),
        ),
        (
            "review: !!python/object x\n",
            "1:25: a tag stands here, but settings are plain values; remove the `!…`".to_owned(),
        ),
        (
            "review: *nope\n",
            format!("1:9: this is not valid YAML: alias references unknown anchor; {check}"),
        ),
    ] {
        refuses(text, &message);
    }
}

#[test]
fn hostile_sizes_are_refused_quickly() {
    let start = std::time::Instant::now();
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (inner, outer) in ('a'..'i').zip('b'..='i') {
        let aliases = vec![format!("*{inner}"); 9].join(",");
        bomb += &format!("{outer}: &{outer} [{aliases}]\n");
    }
    refuses(
        bomb,
        "5:11: aliases or sheer number make the config larger than any sensible one; \
         write the values out",
    );
    let too_deep = "values are nested deeper here than any setting is; \
                    check the brackets and the indentation";
    refuses(
        format!("review: {}", "[".repeat(5_000)),
        &format!("1:264: {too_deep}"),
    );
    let staircase: String = (0..200).map(|depth| " ".repeat(depth) + "a:\n").collect();
    refuses(staircase, &format!("33:33: {too_deep}"));
    refuses(
        vec![b'#'; 10_000_000],
        "1:1: the config is larger than 1 MiB; is this the right file?",
    );
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn other_encodings_are_named() {
    let utf16 = "1:1: the config must be in UTF-8, but looks like UTF-16; save it as UTF-8";
    refuses([0xff, 0xfe, b'a', 0, b':', 0], utf16);
    refuses([b'a', 0, b':', 0], utf16);
    refuses(
        b"review:\n  \xc3\xa4: \xff\n",
        "2:6: the config must be in UTF-8, but a byte here is not; save it as UTF-8",
    );
}

#[test]
fn a_directory_or_pipe_is_not_a_config() {
    let world = World::new();
    std::fs::create_dir(world.project_file()).unwrap();
    assert_eq!(
        world.complaint(),
        ".tribunal/config.yml:1:1: the config must be a regular file"
    );
}

#[test]
fn variables_and_flags_are_named_as_the_place() {
    let complaint = |name, value| World::new().env(name, value).complaint();
    assert_eq!(
        complaint("TRIBUNAL_REVIEW__ON_DISPUTE__DEFAULT", "jugde"),
        "TRIBUNAL_REVIEW__ON_DISPUTE__DEFAULT: `review.on_dispute.default` must be one of \
         `judge`, `human`, `discard`, not `jugde`; did you mean `judge`?"
    );
    assert_eq!(
        complaint("TRIBUNAL_REVIEW_ON_DISPUTE_DEFAULT", "judge"),
        "TRIBUNAL_REVIEW_ON_DISPUTE_DEFAULT: this variable looks like a setting but names none; \
         did you mean `TRIBUNAL_REVIEW__ON_DISPUTE__DEFAULT`?"
    );
    assert_eq!(
        complaint("TRIBUNAL_REVIEW__ON_DISPUT__DEFAULT", "judge"),
        "TRIBUNAL_REVIEW__ON_DISPUT__DEFAULT: in `review`, there is no key `on_disput`; \
         did you mean `on_dispute`?"
    );
    assert_eq!(
        complaint("TRIBUNAL_AGENTS__NOBODY__MODEL", "x"),
        "TRIBUNAL_AGENTS__NOBODY__MODEL: there is no agent `nobody`"
    );
    let complaint = |given| World::new().set(given).complaint();
    assert_eq!(
        complaint("retry.attempts"),
        "--set retry.attempts: a value is missing; write `--set key=value`"
    );
    assert_eq!(
        complaint("retry.attempst=3"),
        "--set retry.attempst: in `retry`, there is no key `attempst`; did you mean `attempts`?"
    );
}

#[test]
fn what_means_nothing_to_a_linter_is_refused() {
    let agent = |keys: &str| format!("agents:\n- {{name: lint, kind: sarif, {keys}}}\n");
    refuses(
        agent("role: reviewer"),
        "2:22: the agent `lint` is `sarif` but has no `command`; name the program to start",
    );
    refuses(
        agent("command: ruff, role: [reviewer, coder]"),
        "2:50: the agent `lint` is a linter and can only be a `reviewer`; write `role: reviewer`",
    );
    refuses(
        agent("command: ruff, role: reviewer, model: m"),
        "2:67: `agents.lint.model` means nothing to a linter; remove it",
    );
    refuses(
        agent("provider: custom, command: ruff, role: reviewer"),
        "2:16: `kind` and `provider` are two names of one key; keep one of them",
    );
    refuses(
        "arbiter: {provider: sarif}\n",
        "1:21: `arbiter.provider` cannot be `sarif`, which needs more than a name; \
         define an agent with `role: arbiter` and name it with `arbiter.agent`",
    );
}

#[test]
fn rules_of_the_arbiter_must_be_answers_to_their_questions() {
    for (text, message) in [
        (
            "arbiter:\n  rules:\n    - {on: select_agent, then: ann}\n    - {on: select_agent, then: develper}\nagents:\n  - {name: ann, command: x, role: coder}\n",
            "4:32: rule 2 of `arbiter.rules` answers `select_agent` with `develper`; did you mean `developer`?",
        ),
        (
            "arbiter:\n  rules:\n    - {on: evaluate_progress, then: ann}\nagents:\n  - {name: ann, command: x, role: coder}\n",
            "3:37: rule 1 of `arbiter.rules` answers `evaluate_progress` with `ann`; known here: `continue`, `complete`, `retry`",
        ),
        (
            "arbiter:\n  rules:\n    - {on: select_agent, then: continue}\n",
            "3:32: rule 1 of `arbiter.rules` answers `select_agent` with `continue`; known here: `complete`, `retry`, `planner`, `developer`, `tester`, `reviewer`",
        ),
        // One who is no coder is never chosen.
        (
            "arbiter:\n  rules:\n    - {on: select_agent, then: rex}\nagents:\n  - {name: rex, command: x, role: reviewer}\n",
            "3:32: rule 1 of `arbiter.rules` answers `select_agent` with `rex`; known here: `complete`, `retry`, `planner`, `developer`, `tester`, `reviewer`",
        ),
    ] {
        refuses(text, message);
    }
}

#[test]
fn what_a_flag_sets_is_refused_as_it_would_be_in_a_file() {
    for (given, message) in [
        (
            "agents=[]",
            "--set agents: an empty list of agents changes nothing, because agents are merged by \
             name; leave one out with `agents.NAME.enabled=false`",
        ),
        (
            "run.branch={a: b}",
            "--set run.branch: `run.branch` must be a text, not a mapping",
        ),
        (
            "git.remote=[a]",
            "--set git.remote: `git.remote` must be a text, not a list",
        ),
    ] {
        assert_eq!(World::new().set(given).complaint(), message, "{given}");
    }
}
