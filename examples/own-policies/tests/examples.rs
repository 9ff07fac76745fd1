//! What docs/own-policies.md says of policies that live in a crate of their own: its examples are these programs, and print
//! what it says; a policy that was added is read, refused, kept and found again as one of the registry is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ninescope::engine::policies::suspend::{SuspendPolicy, SuspendPolicyParameters};
use ninescope::ftl::policies::VictimSelectionConfig;
use ninescope::ftl::policies::victim_selection::{CandidateView, VictimSelection, VictimSelectionParameters};
use ninescope::{engine::SuspendPolicyConfig, kernel::Snapshot, model::Geometry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The lines that the two files of an example have together at most.
const LINES_MAX: usize = 60;

const PROGRAMS: [(&str, &str); 4] = [
    ("victim", env!("CARGO_BIN_EXE_victim")),
    ("stream", env!("CARGO_BIN_EXE_stream")),
    ("allocation", env!("CARGO_BIN_EXE_allocation")),
    ("suspend", env!("CARGO_BIN_EXE_suspend")),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the project's root").to_owned()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// What a program prints, of each line the numbers in it.
fn printed(name: &str) -> (String, Vec<Vec<f64>>) {
    let program = PROGRAMS.iter().find(|(known, _)| *known == name).expect("a program of that name").1;
    let done = Command::new(program).current_dir(root()).output().expect("it starts");
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).expect("text");
    let numbers = |line: &str| line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let lines = text.lines().map(numbers).collect();
    (text, lines)
}

#[test]
fn the_page_shows_the_programs_and_what_they_print() {
    let page = text("docs/own-policies.md");
    let manifest = text("examples/own-policies/Cargo.toml");
    assert!(page.contains(&format!("```toml\n{manifest}```\n")), "the page has another Cargo.toml");
    for (name, _) in PROGRAMS {
        let program = text(&format!("examples/own-policies/src/bin/{name}.rs"));
        assert!(page.contains(&format!("```rust\n{program}```\n")), "the page has another {name}.rs");
        let lines = manifest.lines().count() + program.lines().count();
        assert!(lines <= LINES_MAX, "the example of {name} has {lines} lines");
        let shown = printed(name).0;
        assert!(page.contains(&format!("```text\n{shown}```\n")), "the page says otherwise than {name} does:\n{shown}");
    }
}

#[test]
fn cost_age_times_moves_less_than_greedy_and_wears_more_evenly() {
    let [greedy, own, without_wear] = &printed("victim").1[..] else { panic!("three runs") };
    let spread = |line: &[f64]| line[2] - line[1];
    assert!(own[0] < 0.7 * greedy[0], "{own:?}, greedy {greedy:?}");
    assert!(spread(own) < spread(without_wear) && spread(without_wear) < spread(greedy));
}

#[test]
fn hot_metadata_that_lies_apart_is_moved_less() {
    let [single, own] = &printed("stream").1[..] else { panic!("two runs") };
    assert!(own[0] < 0.97 * single[0], "{own:?}, in one stream {single:?}");
}

#[test]
fn pages_at_random_wait_for_each_other() {
    let [in_turn, at_random] = &printed("allocation").1[..] else { panic!("two runs") };
    // Of four pages on four dies 2.125 lie on the fullest on average, in turn one; of the rest of a read nothing changes.
    let most = 256.0 / 256.0 + (256.0 - 24.0) / 256.0 + (4.0 * 12.0 + 4.0) / 256.0 + 4.0 / 256.0;
    assert!(at_random[0] > 1.4 * in_turn[0] && at_random[0] < most * in_turn[0], "{at_random:?} and {in_turn:?} ns");
}

#[test]
fn patience_lies_between_never_and_always() {
    let [never, always, own] = &printed("suspend").1[..] else { panic!("three runs") };
    assert!(always[0] < own[0] && own[0] < never[0], "{always:?}, {own:?}, {never:?} ns");
    assert!(never[1] == 0.0 && own[1] > 0.0 && own[1] < always[1]);
}

/// A victim that is drawn by a rule of its own, with parameters.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Last {
    passed: u32,
}

impl VictimSelectionParameters for Last {
    fn build(&self, _geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(*self)
    }

    fn problem(&self, _geometry: &Geometry) -> Option<(&'static str, String)> {
        (self.passed > 9).then(|| ("passed", "is more than nine".to_owned()))
    }
}

impl VictimSelection for Last {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let gains = |index: &u32| view.valid_units(*index).is_some_and(|valid| valid < view.units_per_group);
        (0..view.len()).rev().filter(gains).nth(self.passed as usize)
    }
}

impl Snapshot for Last {}

/// It has no parameters at all, and suspends nothing.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Never {}

impl SuspendPolicyParameters for Never {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        None
    }
}

fn read(told: Value) -> Result<VictimSelectionConfig, String> {
    VictimSelectionConfig::add::<Last>("last");
    serde_json::from_value(told).map_err(|error| error.to_string())
}

#[test]
fn what_is_added_is_read_written_and_compared_as_the_others_are() {
    let own = read(json!({"policy": "last"})).expect("legal");
    assert_eq!(own.name(), "last");
    assert_eq!(serde_json::to_value(&own).expect("text"), json!({"policy": "last", "passed": 0}));
    assert_eq!(own, read(json!({"policy": "last", "passed": 0})).expect("legal"));
    assert_ne!(own, read(json!({"policy": "last", "passed": 1})).expect("legal"));
    // The others are what they were.
    for known in VictimSelectionConfig::all() {
        let told = serde_json::to_value(&known).expect("text");
        assert_eq!(read(told), Ok(known));
    }
    let error = |told: Value| read(told).expect_err("it is not legal");
    assert!(error(json!({"policy": "last", "passt": 1})).contains("unknown field `passt`"));
    assert!(error(json!({"policy": "last", "passed": -1})).starts_with("passed: "));
    let unknown = error(json!({"policy": "least"}));
    assert!(unknown.contains("unknown variant `least`") && unknown.contains("`greedy`") && unknown.ends_with("`last`"));
}

#[test]
fn a_drive_names_it_in_its_file_and_its_problems_have_keys() {
    let own = |told: &str| {
        VictimSelectionConfig::add::<Last>("last");
        let drive = json!({"file": root().join("examples/drives/small.toml")});
        let job = json!({"rw": "randwrite", "bs": "4k"});
        let request = json!({"drive": drive, "set": [told], "workload": {"job": job}, "requests": 100});
        ninescope_check::run(&request)
    };
    let result = own("ftl.victim.passed=3").map_err(|error| error.to_string());
    assert!(result.is_err_and(|error| error.contains("ftl.victim")), "greedy has no such parameter");
    let result = own("ftl.victim={policy='last',passed=3}").expect("legal");
    assert_eq!(result["config"]["drive"]["ftl"]["victim"], json!({"policy": "last", "passed": 3}));
    let toml = result["drive_toml"].as_str().or(result["config"]["drive_toml"].as_str()).expect("the drive as text");
    assert!(toml.contains("policy = \"last\"\npassed = 3\n"), "{toml}");
    let error = own("ftl.victim={policy='last',passed=10}").expect_err("refused").to_string();
    assert!(error.contains("ftl.victim.passed") && error.contains("is more than nine"), "{error}");
    let error = own("ftl.victim={policy='last',passt=10}").expect_err("refused").to_string();
    assert!(error.contains("ftl.victim") && error.contains("passt"), "{error}");
}

#[test]
fn it_is_added_twice_and_no_other_by_its_name() {
    SuspendPolicyConfig::add::<Never>("never");
    SuspendPolicyConfig::add::<Never>("never");
    assert!(std::panic::catch_unwind(|| SuspendPolicyConfig::add::<Never>("immediate")).is_err());
    // Whoever caught that goes on.
    let own: SuspendPolicyConfig = serde_json::from_value(json!({"policy": "never"})).expect("legal");
    assert_eq!(own.name(), "never");
    assert_ne!(own, SuspendPolicyConfig::default());
}

#[test]
fn a_drive_that_it_prepared_is_kept_and_found_again() {
    VictimSelectionConfig::add::<Last>("last");
    let folder = std::env::temp_dir().join(format!("ninescope-own-{}", std::process::id()));
    let run = |prefill: &str, passed: u32| {
        let result = ninescope_check::run(&json!({
            "drive": {"file": root().join("examples/drives/small.toml")}, "snapshots": folder,
            "set": [format!("ftl.victim={{policy='last',passed={passed}}}")], "prefill": prefill,
            "workload": {"job": {"rw": "randwrite", "bs": "4k"}}, "requests": 4_000, "check": "full",
        }));
        result.expect("a run without faults")
    };
    let files = || fs::read_dir(&folder).expect("the folder").count();
    let prepared = run("steady-overwritten", 0);
    assert_eq!(files(), 1);
    assert_eq!(run("steady-overwritten", 0)["digest"], prepared["digest"]);
    assert_eq!(files(), 1, "it is found by what it was told");
    assert_ne!(run("steady-overwritten", 2)["digest"], prepared["digest"]);
    assert_eq!(files(), 2);
    fs::remove_dir_all(&folder).expect("it is there");
}
