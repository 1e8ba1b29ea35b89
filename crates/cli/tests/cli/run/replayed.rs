//! A run that is decided again comes to the same choices, decisions and gates.

use super::{add, project};

#[test]
fn a_run_replays_to_the_same_decisions() {
    for parallel in ["1", "3"] {
        let env = project("run: {max_iterations: 2, max_rejections: 2}\n");
        let first = add(&env, &["easy"]);
        for title in ["never passes", "does nothing", "agent dies"] {
            add(&env, &[title]);
        }
        add(&env, &["late", "--depends", &first]);
        let ran = env.run(["run", "--json", "--parallel", parallel]);
        let case = ran.assert_code(5).json()["case"]
            .as_str()
            .unwrap()
            .to_owned();
        let again = env
            .run(["replay", &case, "--format", "json"])
            .assert_code(0);
        assert_eq!(again.json()["same"], true, "{}", again.stdout);
    }
}
