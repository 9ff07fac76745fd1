//! What is said of a part that the drive has not: refused by its key, or, where one file goes to drives with and without it, noted.

use std::path::Path;

use crate::support::{Scratch, expect, input_error, result_of, tiny_request};
use serde_json::{Value, json};

fn with_preset(preset: &str, set: &str) -> Value {
    let job = json!({ "rw": "randrw", "requests": 100, "size": "1MiB" });
    json!({ "drive": { "preset": preset }, "workload": { "job": job }, "set": ["scm.capacity=8MiB", set], "seed": 1 })
}

fn with_example(example: &str, set: &str) -> Value {
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drives").join(example);
    let job = json!({ "rw": "randrw", "requests": 100, "size": "1MiB" });
    json!({ "drive": { "file": drive }, "workload": { "job": job }, "set": [set], "seed": 1 })
}

fn notes(request: &Value) -> Vec<String> {
    let result = result_of(request).unwrap_or_else(|error| panic!("{error}"));
    result["notes"].as_array().expect("notes").iter().map(|note| note.as_str().expect("a note").to_owned()).collect()
}

/// The notes of a job on the small drive.
fn notes_of_job(job: &Value, sets: &[&str]) -> Vec<String> {
    let mut request = tiny_request(sets);
    request["workload"] = json!({ "job": job });
    notes(&request)
}

#[test]
fn what_is_of_flash_is_refused_on_a_drive_without() {
    for set in [
        "controller.write_completion=program",
        "controller.buffered_pages=2",
        "controller.shared_buffered_pages=70",
        "controller.page_timeout=20us",
        "scheduler.suspend=immediate",
        "scheduler.multi_plane=false",
        "scheduler.merge_window=1",
        "scheduler.merge_by=touch",
        "ftl.map=entries",
        "ftl.merges=sectors",
        "ftl.throttle=proportional",
        "ftl.victim=fifo",
        "ftl.wear_leveling=threshold",
        "ftl.stream_channels=[[0]]",
        "ftl.over_provisioning=0.2",
    ] {
        let key = set.split_once('=').expect("a key").0;
        expect(&with_preset("m-scm", set), &[&format!("--set {set}: {key} is of flash, and the drive has none")]);
    }
    assert!(result_of(&with_preset("m-scm", "scheduler.transactions=fifo")).is_ok(), "banks go by it");
}

#[test]
fn what_is_of_a_memory_above_another_is_refused_without() {
    expect(
        &tiny_request(&["tier.migrations_in_flight=2"]),
        &["tier.migrations_in_flight is given, and tier.placement = \"nand-only\" has no memory above another"],
    );
    for (set, key) in [("dram.banks=3", "dram.banks"), ("dram.power_protected=true", "dram.power_protected")] {
        let message = format!("{key} is of a cache, and tier.placement = \"nand-only\" makes none of DRAM");
        expect(
            &with_example(
                "without-dram.toml",
                &format!(
                    "dram={{capacity=\"64MiB\",access=\"30ns\",rate=\"3.2GB/s\",map=true,{}}}",
                    set.trim_start_matches("dram.")
                ),
            ),
            &[&message],
        );
    }
}

#[test]
fn no_namespaces_at_all_are_no_list_of_them() {
    expect(&tiny_request(&["namespaces=[]"]), &["--set namespaces=[]: namespaces: the list is empty"]);
}

#[test]
fn sata_knows_no_memory_of_the_host() {
    let map = "ftl.map={policy=\"entries\",size=\"1MiB\",host_memory=\"1MiB\"}";
    let message = input_error(&with_example("sata.toml", map));
    assert!(message.contains("ftl.map.host_memory is given, and SATA (controller.interface)"), "{message}");
}

#[test]
fn a_link_that_carries_the_map_is_blamed_where_jobs_share_it() {
    let mut request = with_example(
        "without-dram.toml",
        "ftl.map={policy=\"entries\",size=\"1MiB\",host_memory=\"1MiB\",host_link=true}",
    );
    let job = |name: &str| json!({ "name": name, "rw": "randread", "requests": 10, "size": "1MiB" });
    request["workload"]["job"] = json!([job("a"), job("b")]);
    let message = input_error(&request);
    assert!(
        message.starts_with("--set ftl.map={") && message.contains("ftl.map.host_link is true, and several jobs share")
    );
}

#[test]
fn a_mistyped_value_of_a_job_is_told_before_its_place() {
    let scratch = Scratch::new("a-mistyped-value");
    let text = "[[jobs]]\nname = \"a\"\nrw = \"randread\"\npriority = \"urgnt\"\n";
    let mut request = tiny_request(&[]);
    request["workload"] = json!({ "job_file": scratch.file("jobs.toml", text) });
    let message = input_error(&request);
    let mut lines = message.lines();
    let first = lines.next().expect("a line");
    assert!(
        first.ends_with("jobs[0].priority: unknown name `urgnt`, expected one of `urgent`, `high`, `medium`, `low`"),
        "{message}"
    );
    assert_eq!(lines.next(), Some("  did you mean `urgent`?"), "{message}");
    assert_eq!(lines.next(), Some("  at line 4, column 12"), "{message}");
    assert!(message.contains("4 | priority = \"urgnt\""), "{message}");
}

#[test]
fn what_a_job_says_that_its_drive_does_not_hear_is_noted() {
    let writes = |stream: u32| json!({ "rw": "randwrite", "requests": 50, "stream": stream });
    let reads = json!({ "rw": "randread", "requests": 50, "stream": 3 });
    let hinted = "ftl.streams={policy=\"hinted\",streams=2}";
    let roomy = "geometry.blocks_per_plane=32";
    let about = |job: &Value, sets: &[&str]| {
        let told = notes_of_job(job, sets);
        told.into_iter().filter(|note| note.starts_with("`stream`")).collect::<Vec<_>>()
    };
    let of_single =
        "`stream` (job job) changes nothing on a drive whose ftl.streams is single: `hinted` and `fdp` hear it";
    assert_eq!(about(&writes(3), &[]), [of_single]);
    assert_eq!(about(&reads, &[hinted, roomy]), ["`stream` (job job) changes nothing of a job that writes nothing"]);
    assert_eq!(about(&writes(1), &[hinted, roomy]), [""; 0]);
    let beyond =
        "`stream` of job job is 3, and ftl.streams has 0 to 1: `hinted` takes the last one for it, `fdp` the first";
    assert_eq!(about(&writes(3), &[hinted, roomy]), [beyond]);
    let queues = |sets: &[&str]| {
        let job = json!({ "rw": "randread", "requests": 50, "queues": 2 });
        notes_of_job(&job, sets).iter().filter(|note| note.starts_with("`queues` (job job) changes nothing")).count()
    };
    assert_eq!(
        (queues(&[]), queues(&["controller.queue_entries=8"]), queues(&["controller.fetch_time=1us"])),
        (1, 0, 0)
    );
}

#[test]
fn bounds_that_are_never_reached_and_cores_without_work_are_noted() {
    let about = |sets: &[&str], key: &str| {
        let told = notes_of_job(&json!({ "rw": "randwrite", "requests": 50 }), sets);
        told.iter().filter(|note| note.contains(key) && note.contains("changes nothing")).count()
    };
    let each = "controller.buffered_pages=4";
    let shared = |pages: u32| format!("controller.shared_buffered_pages={pages}");
    // The small drive has two dies.
    assert_eq!(about(&[each, &shared(9)], "controller.shared_buffered_pages"), 1);
    assert_eq!(about(&[each, &shared(7)], "controller.shared_buffered_pages"), 0);
    assert_eq!(about(&["firmware={cores=2,clock=\"1GHz\"}"], "firmware"), 1);
    assert_eq!(about(&["firmware={cores=2,clock=\"1GHz\",move=10}"], "firmware"), 0);
}
