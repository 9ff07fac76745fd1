//! The checker's own judgement, on histories and books made by hand.

use std::time::Duration;

use ninescope::{CheckLevel, Plan, RunRequest, Simulation};
use ninescope_check::{Checker, Rule};
use ninescope_engine::{Event, Probe, SimulationError, View, Watched};

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
    while !run.run_slice(Duration::from_secs(1)).expect("no violation").finished {}
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
    let refused = Simulation::new(&request("full", "")).expect_err("the library alone has no checker");
    assert!(refused.to_string().contains("check"), "{refused}");
    assert_eq!(request("off", "").check, CheckLevel::Off);
}

/// Finds a fault when the hundredth request completes.
struct Fussy(u32);

impl Probe for Fussy {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        self.0 += u32::from(matches!(event, Event::Completed { .. }));
        if self.0 == 100 {
            return Err(Rule::StaleData.violated(view.now, "request 99 reads old data of unit 7".into()));
        }
        Ok(())
    }
}

#[test]
fn a_violation_says_what_where_when_and_with_which_seed() {
    let plan = Plan::new(&request("off", "")).expect("a legal request");
    let mut run = Simulation::<Watched>::of_plan(plan, Box::new(Fussy(0))).expect("a legal drive");
    let error = loop {
        match run.run_slice(Duration::from_secs(1)) {
            Ok(progress) => assert!(!progress.finished, "the fault was passed over"),
            Err(error) => break error.to_string(),
        }
    };
    for words in
        ["stale-data", "request 99 reads old data of unit 7", "seed 3", "100 completed requests", "events", "at "]
    {
        assert!(error.contains(words), "`{words}` is missing in: {error}");
    }
}

#[test]
fn every_invariant_is_in_the_documentation_as_it_is_in_the_code() {
    let page = include_str!("../../../../docs/checking.md");
    for rule in Rule::ALL {
        let row = format!("| `{}` | {} |", rule.name(), rule.summary());
        assert!(page.contains(&row), "docs/checking.md lacks the row\n{row}");
    }
}

/// Tells a checker of jobs that are not as they are.
struct Liar {
    checker: Checker,
    /// A depth that is this much smaller.
    less_depth: u32,
    /// The lane that every command of the first is said to be of.
    lane: u16,
}

impl Probe for Liar {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        let depths: Vec<u32>;
        let mut event = event;
        match &mut event {
            Event::Started { lane_depths, .. } => {
                depths = lane_depths.iter().map(|depth| depth - self.less_depth).collect();
                *lane_depths = &depths;
            }
            Event::Fetched { lane, .. } if *lane == 0 => *lane = self.lane,
            _ => {}
        }
        self.checker.observe(view, event)
    }
}

#[test]
fn the_books_of_jobs_are_compared_with_what_was_seen() {
    let run = |less_depth, lane| {
        let plan = Plan::new(&request("off", "")).expect("a legal request");
        let liar = Liar { checker: Checker::new(CheckLevel::Cheap), less_depth, lane };
        let mut run = Simulation::<Watched>::of_plan(plan, Box::new(liar)).expect("a legal drive");
        loop {
            match run.run_slice(Duration::from_secs(1)) {
                Ok(progress) if progress.finished => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    };
    assert_eq!(run(0, 0), Ok(()));
    let deep = run(1, 0).expect_err("its depth is 16");
    assert!(deep.contains("lane-depth") && deep.contains("number 16") && deep.contains("depth is 15"), "{deep}");
    let unknown = run(0, 1).expect_err("there is one job");
    assert!(unknown.contains("lane-depth") && unknown.contains("which is none"), "{unknown}");
}
