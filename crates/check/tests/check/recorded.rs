//! The checker and the recorder beside one run.

use std::time::Duration;

use ninescope::record::{RecordSettings, Recorder};
use ninescope::{CheckLevel, RunRequest};
use ninescope_check::Checker;
use ninescope_check::worlds::{World, generate};
use ninescope_engine::{Pair, Watched};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Occupancy, Op};
use serde_json::{Value, json};

fn result(extra: &Value) -> (Value, Option<String>) {
    let drive = "base = \"tlc\"\n[geometry]\nchannels = 2\npackages_per_channel = 1\nblocks_per_plane = 16\n\
                 pages_per_block = 16\n[ftl]\nover_provisioning = 0.5\n[scheduler.suspend]\npolicy = \"between-loops\"\n";
    let mut request = json!({
        "seed": 3, "requests": 20_000, "prefill": "full", "drive": { "toml": drive },
        "workload": { "job": { "rw": "randrw", "bs": "4k", "iodepth": 16 } },
    });
    for (key, value) in extra.as_object().expect("an object") {
        request[key] = value.clone();
    }
    let request = RunRequest::from_json(&request.to_string()).expect("a legal request");
    let mut run = ninescope_check::simulation(&request).expect("a legal run");
    while !run.run_slice(Duration::from_secs(1)).expect("no violation").finished {}
    let result = serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON");
    (result, run.timeline_json())
}

#[test]
fn the_checker_and_the_recorder_share_a_run_and_change_nothing_in_it() {
    let (plain, nothing) = result(&json!({}));
    assert!(nothing.is_none() && plain.get("slowest").is_none());
    let window = json!({ "from": "1ms", "until": "3ms" });
    for check in ["off", "full"] {
        let (recorded, timeline) = result(&json!({ "check": check, "explain_slowest": 5, "trace_window": window }));
        assert_eq!(recorded["digest"], plain["digest"], "{check}");
        assert_eq!(recorded["slowest"]["read"].as_array().map(Vec::len), Some(5), "{check}");
        assert!(timeline.is_some_and(|text| text.contains("traceEvents")), "{check}");
        assert_eq!(recorded["notes"].to_string().contains("checked (full)"), check == "full");
    }
    let (only_slowest, nothing) = result(&json!({ "explain_slowest": 5 }));
    assert!(nothing.is_none() && only_slowest["digest"] == plain["digest"]);
}

/// Random drives, policies and requests that collide: what the events say of a request and what the device's ledgers and marks say
/// agree, cause by cause.
#[test]
fn in_random_worlds_the_stages_of_every_request_sum_to_its_parts() {
    let (mut requests, mut waited, mut behind, mut failed, mut at_banks, mut in_dram) = (0, 0, 0, 0, 0, 0);
    // Of dies that do several things at a time nothing is recorded.
    let together = |world: &World| {
        let of_nand = |key: &str| world.drive.get("nand").and_then(|nand| nand.get(key));
        of_nand("cache_read").is_none()
            && of_nand("plane_reads").is_none_or(|rule| rule.as_str() != Some("independently"))
    };
    for (seed, world) in (1..=180).map(|seed| (seed, generate(seed))).filter(|(_, world)| together(world)) {
        let settings = RecordSettings { slowest: 10_000, window: Some((Ns(0), Ns(2_000_000))) };
        let probe = Pair(Checker::new(CheckLevel::Cheap), Recorder::new(settings));
        let plan = world.plan().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut device = plan.into_device::<Watched>(Box::new(probe)).expect("a drive");
        device.run().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let recorder = &device.probe::<Pair<Checker, Recorder>>().1;
        for account in [Op::Read, Op::Write].into_iter().flat_map(|op| recorder.slowest(op)) {
            assert_eq!(account.parts_of_stages(), account.parts, "seed {seed}: {account:?}");
            let mut reached = account.request.submitted;
            for stage in &account.stages {
                assert_eq!(stage.from, reached, "seed {seed}: {account:?}");
                reached = stage.until;
                behind += u64::from(stage.behind_others);
                // What a request is blamed for is what others did, but for a page of its own that goes down from a tier meanwhile.
                let own = account.id;
                let in_queue = stage.acts.listed.iter().filter(|_| stage.cause.is_none());
                for act in in_queue.filter(|act| act.work.requests.ids().eq([own])) {
                    assert!(
                        matches!(act.occupancy(), Occupancy::SuspendOverhead | Occupancy::Migration) || act.is_for(own),
                        "seed {seed}: {account:?}"
                    );
                }
                waited += u64::from(stage.cause.is_none());
                failed += u64::from(stage.cause == Some(Cause::ProgramFailure));
                at_banks += u64::from(stage.name == "bank_queue");
                in_dram += u64::from(stage.cause == Some(Cause::Dram));
            }
            assert_eq!(reached, account.completed, "seed {seed}: {account:?}");
            requests += 1;
        }
        let timeline = recorder.timeline_json().expect("it was asked for");
        serde_json::from_str::<Value>(&timeline).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    let counts = (requests, waited, behind, failed);
    assert!(requests > 5_000 && waited > 1_000 && behind > 100 && failed > 10, "{counts:?}");
    assert!(at_banks > 1_000 && in_dram > 1_000, "{at_banks} waits for banks, {in_dram} stages in DRAM");
}
