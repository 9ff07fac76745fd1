//! The checker's own judgement, on histories and books made by hand.

use ninescope::{CheckLevel, RunRequest};
use ninescope_check::Rule;

fn request(check: &str, extra: &str) -> RunRequest {
    RunRequest::from_json(&format!(
        r#"{{"seed": 3, "check": "{check}", "requests": 20000, "prefill": "full", {extra}
            "drive": {{"toml": "base = \"tlc\"\n[geometry]\nchannels = 2\npackages_per_channel = 1\nblocks_per_plane = 16\npages_per_block = 16\n[ftl]\nover_provisioning = 0.5\n"}},
            "workload": {{"job": {{"rw": "randrw", "bs": "4k", "iodepth": 16}}}}}}"#
    ))
    .expect("a legal request")
}

fn result(request: &RunRequest) -> serde_json::Value {
    let mut run = ninescope_check::simulation(request).expect("a legal run");
    while !run.run_slice(std::time::Duration::from_secs(1)).expect("no violation").finished {}
    serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON")
}

#[test]
fn a_checked_run_is_the_run_and_says_that_it_was_checked() {
    let plain = result(&request("off", ""));
    for level in ["cheap", "full"] {
        let checked = result(&request(level, r#""warmup": 1000,"#));
        let unchecked = result(&request("off", r#""warmup": 1000,"#));
        assert_eq!(checked["digest"], unchecked["digest"]);
        assert_eq!(checked["digest"], plain["digest"]);
        assert_eq!(checked["config"]["run"]["check"], level);
        let notes = checked["notes"].to_string();
        assert!(notes.contains(&format!("checked ({level})")) && notes.contains("no invariant violated"), "{notes}");
    }
}

#[test]
fn a_run_without_a_checker_does_not_claim_one() {
    let refused = ninescope::Simulation::new(&request("full", "")).expect_err("the library alone has no checker");
    assert!(refused.to_string().contains("check"), "{refused}");
    assert_eq!(request("off", "").check, CheckLevel::Off);
}

#[test]
fn every_invariant_is_in_the_documentation_as_it_is_in_the_code() {
    let page = include_str!("../../../docs/checking.md");
    for rule in Rule::ALL {
        let row = format!("| `{}` | {} |", rule.name(), rule.summary());
        assert!(page.contains(&row), "docs/checking.md lacks the row\n{row}");
    }
}
