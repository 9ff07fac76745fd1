//! Write amplification is what the dies programmed over what the host wrote, lane by lane.

use std::time::Duration;

use crate::support::{data, result_of, tiny_request};
use ninescope::{Plan, RunRequest, Simulation};
use ninescope_engine::{Event, Probe, SimulationError, View, Watched};
use ninescope_media::nand::CommandKind;
use ninescope_model::BlockGroup;
use ninescope_oracles::write_amplification::greedy;
use serde_json::{Value, json};

const LANES: [&str; 11] = [
    "host",
    "partial_writes",
    "migration",
    "gc",
    "scrub",
    "wear",
    "padding",
    "map",
    "failed_programs",
    "parity",
    "rebuild",
];

/// Counts pages that dies programmed, by the ends of their commands.
#[derive(Default)]
struct ProgrammedPages(u64);

impl Probe for ProgrammedPages {
    fn observe(&mut self, _view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        match event {
            Event::MeasuringBegan => self.0 = 0,
            Event::CommandEnded { command } if command.kind == CommandKind::Program => {
                self.0 += u64::from(command.plane_count());
            }
            _ => {}
        }
        Ok(())
    }
}

/// The result of a request, and the bytes that its dies programmed or are about to.
fn counted(request: &Value) -> (Value, u64) {
    let request = RunRequest::from_json(&request.to_string()).expect("a request");
    let plan = Plan::new(&request).expect("a plan");
    let mut run = Simulation::<Watched>::of_plan(plan, Box::new(ProgrammedPages::default())).expect("a run");
    while !run.run_slice(Duration::from_secs(1)).expect("it runs").finished {}
    let device = run.device().expect("it ran");
    let (pages, ftl) = (device.probe::<ProgrammedPages>().0, device.ftl());
    // What was handed out of pages that are not full yet: those of the host time out, those of moves wait for more.
    let records = (0..ftl.geometry().groups()).map(|group| ftl.group(BlockGroup(group)));
    let open_units: u32 = records.map(|record| record.write_pointer - record.programmed).sum();
    let open = u64::from(open_units * ftl.geometry().unit_bytes);
    let result: Value = serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON");
    let page = match result["config"]["drive"]["geometry"]["page_size"].as_str().expect("a size") {
        "16KiB" => 16_384,
        "4KiB" => 4_096,
        other => panic!("pages of {other}"),
    };
    (result, pages * page + open)
}

/// The lanes sum to the whole, in bytes exactly, and the ratios are theirs.
fn assert_lanes(waf: &Value) {
    let bytes = |lane: &str| waf["bytes"][lane].as_u64().expect("bytes");
    assert_eq!(LANES.iter().map(|lane| bytes(lane)).sum::<u64>(), waf["flash_bytes"].as_u64().expect("bytes"), "{waf}");
    assert_eq!(waf["bytes"].as_object().expect("lanes").len(), LANES.len(), "a new lane: it belongs into the sum");
    let host = waf["host_bytes"].as_f64().expect("bytes");
    let ratio = |lane: &str| waf[lane].as_f64().expect("a ratio");
    for lane in LANES {
        assert!((ratio(lane) - bytes(lane) as f64 / host).abs() < 1e-12, "{lane} of {waf}");
    }
    assert!((ratio("total") - LANES.iter().map(|lane| ratio(lane)).sum::<f64>()).abs() < 1e-9, "{waf}");
}

#[allow(clippy::needless_pass_by_value)] // a job is written where it is asked for
fn job(drive: &str, sets: &[&str], job: Value, prefill: &str) -> Value {
    json!({ "drive": { "file": data(drive) }, "set": sets, "workload": { "job": job }, "prefill": prefill, "seed": 7 })
}

#[test]
fn the_lanes_sum_to_what_the_dies_programmed() {
    let mixed = json!({ "rw": "randwrite", "bssplit": "512/40:4k/30:20k/30", "requests": 4_000, "iodepth": 8 });
    let whole = json!({ "rw": "randwrite", "bs": "16k", "requests": 2_000, "iodepth": 8 });
    for request in [
        job("tiny.toml", &[], mixed.clone(), "full"),
        job("tiny.toml", &[], whole.clone(), "full"),
        job("tiny.toml", &["ftl.mapping_unit=16KiB"], mixed.clone(), "full"),
        job("tiny-coded.toml", &[], mixed.clone(), "full"),
        job("tiny-tier.toml", &[], mixed, "full"),
        job("tiny-hybrid.toml", &[], whole, "full"),
        tiny_request(&[]),
    ] {
        let (result, programmed) = counted(&request);
        let waf = &result["waf"];
        assert_lanes(waf);
        assert_eq!(waf["flash_bytes"], json!(programmed), "{request}");
        let written: u64 = result["throughput"]["write"]["bytes"].as_u64().expect("bytes");
        assert_eq!(waf["host_bytes"], json!(written), "{request}");
        let medium = &result["endurance"]["media"]["nand"];
        assert_eq!((&medium["bytes_written"], &medium["write_amplification"]), (&waf["flash_bytes"], &waf["total"]));
    }
}

#[test]
fn a_sector_written_at_random_costs_its_whole_unit() {
    // One pool of 2,048 blocks of 64 pages of one unit each: 512 B are a 32nd of what is programmed for them, and each of
    // these units is moved as uniform overwrites of units are.
    let over_provisioning = 0.4;
    let geometry = [
        "geometry.channels=1".to_owned(),
        "geometry.planes_per_die=1".to_owned(),
        "geometry.blocks_per_plane=2048".to_owned(),
        "geometry.pages_per_block=64".to_owned(),
        "ftl.mapping_unit=16KiB".to_owned(),
        format!("ftl.over_provisioning={over_provisioning}"),
    ];
    let sets: Vec<&str> = geometry.iter().map(String::as_str).collect();
    let sectors = json!({ "rw": "randwrite", "bs": 512, "requests": 40_000, "iodepth": 1 });
    let result = result_of(&job("tiny.toml", &sets, sectors, "steady-uniform")).expect("a run");
    let waf = &result["waf"];
    assert_lanes(waf);
    assert_eq!((&waf["host"], &waf["partial_writes"]), (&json!(1.0), &json!(31.0)));
    // Two block groups of the one pool lead in.
    assert_eq!(result["ftl"]["host_units"], json!(40_000 - 2 * 64));
    let theory = 32.0 * greedy(1.0 + over_provisioning, 64);
    let measured = waf["total"].as_f64().expect("a ratio");
    // Few blocks stay a little below the limit of many.
    assert!((measured / theory - 1.0).abs() < 0.02, "{measured}, theory {theory}");
}

#[test]
fn whole_units_count_as_units_do() {
    let whole = json!({ "rw": "randwrite", "bs": "8k", "requests": 3_000, "iodepth": 4 });
    let result = result_of(&job("tiny.toml", &[], whole, "full")).expect("a run");
    let waf = &result["waf"];
    assert_eq!((&waf["host"], &waf["partial_writes"]), (&json!(1.0), &json!(0.0)));
    assert!(waf["gc"].as_f64().expect("a ratio") > 0.1);
    assert_eq!(waf["total"], result["ftl"]["units_per_host_unit"], "the ledger of units says the same");
}

#[test]
fn what_a_tier_keeps_is_in_the_divisor_and_not_in_the_lane_of_the_host() {
    let rewrites = json!({ "rw": "randwrite", "bs": "16k", "size": "64k", "requests": 2_000, "iodepth": 1 });
    let result = result_of(&job("tiny-tier.toml", &[], rewrites, "full")).expect("a run");
    let waf = &result["waf"];
    assert_lanes(waf);
    let total = waf["total"].as_f64().expect("a ratio");
    assert!(total < 0.5, "four pages are rewritten above flash: {waf}");
    assert_eq!(waf["host_bytes"], json!(2_000 * 16_384));
}

#[test]
fn what_a_drive_collects_behind_the_last_completion_is_told_apart() {
    let writes = json!({ "rw": "randwrite", "bs": "4KiB", "iodepth": 32, "requests": 4_000, "random_map": false });
    let result =
        result_of(&job("tiny.toml", &["geometry.blocks_per_plane=64", "ftl.over_provisioning=0.1"], writes, "steady"))
            .expect("a run");
    let (waf, measured) = (&result["waf"], &result["steady_state_measured"]);
    let (all, before) =
        (waf["total"].as_f64().expect("a ratio"), waf["until_last_completion"].as_f64().expect("a ratio"));
    // Collecting behind the host adds moves and nothing of the host's.
    assert!(before < 0.99 * all, "{waf}");
    assert!(measured.is_null() || measured["waf"] == waf["until_last_completion"], "{measured} {waf}");
    let told = format!("WAF is {all:.2} with that, and {before:.2} without");
    assert!(result["notes"].to_string().contains(&told), "{told}: {}", result["notes"]);
}

#[test]
fn where_nothing_is_written_there_is_no_ratio() {
    let reads = json!({ "rw": "randread", "requests": 100 });
    let result = result_of(&job("tiny.toml", &[], reads, "full")).expect("a run");
    assert!(result["waf"]["total"].is_null() && result["steadiness"].is_null(), "{}", result["waf"]);
    let memory = json!({ "rw": "randwrite", "requests": 100 });
    let result = result_of(&job("tiny-scm.toml", &[], memory, "none")).expect("a run");
    assert!(result["waf"]["total"].is_null(), "there is no flash: {}", result["waf"]);
}
