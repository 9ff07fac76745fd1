//! Parts of a cache that jobs say they want, and what is told of them.

use std::path::Path;

use crate::support::{input_error, result_of, tiny_request};
use serde_json::{Value, json};

/// Jobs on a drive with a cache of 1 MiB, 64 pages.
fn request(sets: &[&str], jobs: Value) -> Value {
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drives/dram-cache.toml");
    let mut all = vec!["dram.capacity=1MiB", "geometry.blocks_per_plane=64"];
    all.extend(sets);
    let mut request = json!({ "drive": { "file": drive }, "workload": {}, "set": all, "seed": 1 });
    request["workload"]["job"] = jobs;
    request
}

/// Two jobs of the given parts.
fn two(sets: &[&str], first: Value, second: Value) -> Value {
    let job = |name: &str, offset: &str, size: Value| {
        let mut job =
            json!({ "name": name, "rw": "randwrite", "bs": "16k", "size": "1MiB", "offset": offset, "requests": 200 });
        if !size.is_null() {
            job["cache_size"] = size;
        }
        job
    };
    request(sets, json!([job("a", "0", first), job("b", "4MiB", second)]))
}

/// Of each job the number of its part, and how many pages that has.
fn parts(request: &Value) -> Vec<(u64, u64)> {
    let result = result_of(request).unwrap_or_else(|error| panic!("{error}\n{request}"));
    let number = |job: &Value, key: &str| job["cache"][key].as_u64().expect("a number");
    let jobs = result["by_job"].as_array().expect("jobs").iter();
    for job in jobs.clone() {
        let (accesses, hits) = (number(job, "page_accesses"), number(job, "page_hits"));
        assert_eq!((accesses, job["cache"]["hit_ratio"].as_f64()), (200, Some(hits as f64 / 200.0)));
    }
    jobs.map(|job| (number(job, "part"), number(job, "slots"))).collect()
}

#[test]
fn jobs_share_the_cache_or_have_their_parts() {
    let separate = &["tier.parts=separate"][..];
    assert_eq!(parts(&two(&[], Value::Null, Value::Null)), [(0, 64), (0, 64)]);
    assert_eq!(parts(&two(separate, Value::Null, Value::Null)), [(0, 32), (1, 32)]);
    // What one says is its own, and the rest the others'.
    assert_eq!(parts(&two(&[], json!("256KiB"), Value::Null)), [(0, 16), (1, 48)]);
    assert_eq!(parts(&two(separate, Value::Null, json!("250KiB"))), [(1, 49), (0, 15)]);
    assert_eq!(parts(&two(&[], json!("256KiB"), json!("512KiB"))), [(0, 16), (1, 32)]);
    let mut three = two(separate, json!("256KiB"), Value::Null);
    let third = json!({ "name": "c", "rw": "randread", "bs": "16k", "size": "1MiB", "requests": 200 });
    three["workload"]["job"].as_array_mut().expect("jobs").push(third);
    assert_eq!(parts(&three), [(0, 16), (1, 24), (2, 24)]);
}

#[test]
fn a_job_alone_keeps_its_part() {
    let mut request = two(&["tier.parts=separate"], Value::Null, Value::Null);
    request["only_job"] = json!("b");
    let result = result_of(&request).expect("a run");
    // Its megabyte of random pages does not fit into half of the cache.
    let ratio = result["tier"]["hit_ratio"].as_f64().expect("a ratio");
    let mut whole = two(&[], Value::Null, Value::Null);
    whole["only_job"] = json!("b");
    let of_all = result_of(&whole).expect("a run")["tier"]["hit_ratio"].as_f64().expect("a ratio");
    assert!(ratio < of_all, "{ratio} of 32 pages, {of_all} of 64");
}

#[test]
fn how_a_cache_pushes_back_is_refused_where_it_means_nothing() {
    let refused = |set: &str, words: &str| {
        let message = input_error(&two(&[set], Value::Null, Value::Null));
        assert!(message.contains(words), "{message}");
    };
    refused("tier.back_pressure={policy=\"pages-in-flight\",pages=0}", "tier.back_pressure.pages is 0, with which");
    refused("tier.back_pressure={policy=\"paced\",from=0}", "tier.back_pressure.from is 0, it must be a share");
    refused("tier.back_pressure={policy=\"paced\",longest=\"0s\"}", "tier.back_pressure.longest is zero, with which");
    refused("tier.back_pressure={policy=\"paced\",longest=\"2h\"}", "tier.back_pressure.longest is more than an hour");
    for set in ["tier.parts=separate", "tier.back_pressure=paced", "tier.acknowledge=program"] {
        let mut flash_alone = tiny_request(&[set]);
        flash_alone["workload"] = json!({ "job": { "rw": "randread", "requests": 10 } });
        let words = format!(
            "{} is given, and tier.placement = \"nand-only\" has no memory",
            set.split_once('=').expect("a key").0
        );
        assert!(input_error(&flash_alone).contains(&words), "{}", input_error(&flash_alone));
    }
    // Some writes come too close together.
    let paced = two(&["tier.back_pressure=paced", "tier.placement.evict_free=0.1"], Value::Null, Value::Null);
    assert!(result_of(&paced).expect("a run")["tier"]["counters"]["writes_held"].as_u64() > Some(0));
}

#[test]
fn all_writes_go_through_a_cache_that_can_be_lost_and_through_no_other() {
    let through = |set: &str| {
        let result = result_of(&two(&[set], Value::Null, Value::Null)).expect("a run");
        result["counters"]["fua_writes"].clone()
    };
    // Two jobs of 200 writes.
    assert_eq!([through("tier.acknowledge=program"), through("tier.acknowledge=arrival")], [400, 0]);
    let sets = ["tier.acknowledge=program", "dram.power_protected=true"];
    let message = input_error(&two(&sets, Value::Null, Value::Null));
    assert!(message.contains("tier.acknowledge is `program`, and what is above keeps what it holds"), "{message}");
}

#[test]
fn what_cannot_be_divided_is_refused_by_its_key() {
    let refused = |request: &Value, words: &str| {
        let message = input_error(request);
        assert!(message.contains(words), "{message}");
    };
    refused(&two(&[], json!("0"), Value::Null), "cache_size: is 0B, which is less than one page of 16KiB");
    refused(&two(&[], json!("8KiB"), Value::Null), "cache_size: is 8KiB, which is less than one page of 16KiB");
    let beyond = two(&[], json!("768KiB"), json!("512KiB"));
    refused(&beyond, "cache_size: is 512KiB, and of the 1MiB there are 256KiB left by the jobs before");
    let nothing = two(&[], json!("1MiB"), Value::Null);
    refused(
        &nothing,
        "job `a`: cache_size: is 1MiB, which with the parts of others leaves 0 pages of the cache for those that say none (b)",
    );
    let few = two(
        &[
            "tier.parts=separate",
            "dram.capacity=128KiB",
            "tier.placement.evict_free=0.8",
            "tier.placement.evict_stop=0.8",
        ],
        Value::Null,
        Value::Null,
    );
    refused(&few, "tier.parts is separate, and a part of 4 pages keeps 4 of them free (tier.placement.evict_free)");
    let mut flash_alone = tiny_request(&[]);
    flash_alone["workload"] = json!({ "job": { "rw": "randread", "requests": 10, "cache_size": "1MiB" } });
    refused(&flash_alone, "cache_size: the drive has no memory above another (tier.placement)");
}

/// Two jobs that write, on a drive whose dies share so many pages of the write buffer, of which the jobs have these for themselves.
fn buffered(sets: &[&str], pages: [Option<u32>; 2]) -> Value {
    let mut request = tiny_request(sets);
    let job = |(name, pages): (&str, Option<u32>)| {
        let mut job = json!({ "name": name, "rw": "randwrite", "bs": "4k", "iodepth": 32, "requests": 400 });
        if let Some(pages) = pages {
            job["buffer_pages"] = pages.into();
        }
        job
    };
    request["workload"] = json!({ "job": [job(("a", pages[0])), job(("b", pages[1]))] });
    request
}

#[test]
fn jobs_have_parts_of_the_write_buffer() {
    let stalls = |request: &Value| {
        let result = result_of(request).unwrap_or_else(|error| panic!("{error}"));
        let count = |name: &str| result["counters"][name].as_u64().expect("a number");
        (count("buffer_stalls"), count("part_stalls"))
    };
    let sets = ["controller.shared_buffered_pages=60", "controller.buffered_pages=60"];
    let (of_all, none) = stalls(&buffered(&sets, [None, None]));
    assert!(of_all > 0 && none == 0);
    let (of_all, of_parts) = stalls(&buffered(&sets, [Some(20), None]));
    assert!(of_parts > 0 && of_parts <= of_all, "{of_parts} of {of_all}");
    // Alone a job has what is its own as all of the buffer.
    let mut alone = buffered(&sets, [Some(20), None]);
    alone["only_job"] = "a".into();
    let (of_all, of_parts) = stalls(&alone);
    assert!(of_all > 0 && of_parts == 0);
}

#[test]
fn a_write_buffer_that_cannot_be_divided_is_refused_by_its_key() {
    let refused = |sets: &[&str], pages: u32, words: &str| {
        let message = input_error(&buffered(sets, [None, Some(pages)]));
        assert!(message.contains("job `b`: buffer_pages: ") && message.contains(words), "{message}");
    };
    let shared = "controller.shared_buffered_pages=60";
    refused(&[], 8, "no bound for all dies (controller.shared_buffered_pages)");
    refused(&[shared], 0, "is 0, at least");
    refused(&[shared], 60, "is 60, and of the 60 of controller.shared_buffered_pages there are 60 left");
    refused(&[shared, "controller.write_completion=program"], 20, "has no write buffer");
}
