//! The kept snapshots are of the format that is read today; others would only show that they are refused.
//! `NINESCOPE_BLESS=1 cargo test -p ninescope-fuzzing --test fuzzing snapshots` writes them anew.

use std::path::{Path, PathBuf};

use ninescope::{DriveSource, Plan, PreparedDrive, RunRequest};
use serde_json::json;

const DRIVE: &str = include_str!("../../data/drive.toml");

/// What is kept: a name, how the drive is prepared, and what is changed in it.
const KEPT: [(&str, &str, &[&str]); 6] = [
    ("footprint.snapshot", "footprint", &[]),
    ("full.snapshot", "full", &["ftl.page_allocation=static"]),
    ("raw-fifo.snapshot", "raw", &["ftl.victim=fifo", "ftl.frontier_planes=1"]),
    ("steady.snapshot", "steady", &["geometry.pages_per_block=4"]),
    ("steady-d-choices.snapshot", "steady", &["ftl.victim=d-choices", "ftl.free_block_choice=least-worn"]),
    (
        "steady-clean-apart.snapshot",
        "steady",
        &["ftl.streams=clean-apart", "ftl.gc_reserve_blocks=2", "geometry.blocks_per_plane=24"],
    ),
];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/snapshot")
}

fn plan(prefill: &str, sets: &[&str]) -> Plan {
    let job = json!({ "rw": "randrw", "size": "1MiB", "requests": 10 });
    let request = json!({ "workload": { "job": job }, "prefill": prefill, "set": sets, "seed": 1 });
    let mut request = RunRequest::from_json(&request.to_string()).expect("a request");
    request.drive = Some(DriveSource::Toml(DRIVE.to_owned()));
    Plan::new(&request).expect("a run")
}

#[test]
fn kept_snapshots_are_of_todays_format() {
    for (name, prefill, sets) in KEPT {
        let path = corpus().join(name);
        if std::env::var_os("NINESCOPE_BLESS").is_some() {
            let mut plan = plan(prefill, sets);
            let shape = plan.shape();
            plan.prepare().and_then(|drive| drive.save(&shape, &path)).expect("the corpus can be written");
        }
        let file = std::fs::read(&path).expect(name);
        let shape = PreparedDrive::read_shape(file.as_slice()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        PreparedDrive::read(&shape, file.as_slice()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    }
}
