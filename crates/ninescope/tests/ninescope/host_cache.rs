//! Runs through a host cache: what is shipped, what the result says of them, and what is refused.

use crate::support::{Scratch, data, input_error, result_of};
use ninescope::{PresetKind, presets_of};
use serde_json::{Value, json};

const SMALL_JOB: &str = r#"
[job]
rw = "randrw"
rwmixread = 50
size = "8MiB"
rate_iops = 2000.0
random_distribution = "zipf:1.1"

[host_cache]
size = "2MiB"
ways = 64
"#;

/// A request for the small drive.
fn request(workload: &Value) -> Value {
    json!({ "drive": { "file": data("tiny.toml") }, "workload": workload, "seed": 1, "requests": 5000 })
}

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} is no number in {result}"))
}

#[test]
fn a_result_tells_what_the_cache_did_and_asked_for() {
    let scratch = Scratch::new("cached-job");
    let file = scratch.file("job.toml", SMALL_JOB);
    let result = result_of(&request(&json!({ "job_file": file }))).expect("a legal run");
    assert_eq!(count(&result, "/requests"), 5000);
    assert_eq!(count(&result, "/host_cache/blocks"), 512);
    let hint = |name: &str| count(&result, &format!("/hints/{name}/count"));
    let hints = [hint("dirty_write"), hint("clean_write"), hint("host_read"), hint("flush_read")];
    assert!(hints.iter().all(|&count| count > 100), "{hints:?}");
    assert_eq!(hints.iter().sum::<u64>(), 5000, "every request has a hint");
    assert_eq!(hint("host_read") + hint("flush_read"), count(&result, "/throughput/read/requests"));
    assert_eq!(count(&result, "/hints/flush_read/bytes"), hint("flush_read") * 4096);
    assert_eq!(result.pointer("/workload/host_cache/ways"), Some(&json!(64)));
    // The cache is a request or two ahead of the drive.
    for (made, asked) in [("dirty_writes", hints[0]), ("clean_writes", hints[1]), ("flush_reads", hints[3])] {
        assert!((asked..asked + 8).contains(&count(&result, &format!("/host_cache/{made}"))), "{made}");
    }
}

#[test]
fn without_a_cache_there_is_nothing_to_tell() {
    let result = result_of(&request(&json!({ "trace": data("tiny.csv") }))).expect("a legal run");
    assert_eq!((&result["hints"], &result["host_cache"]), (&json!({}), &Value::Null));
}

#[test]
fn a_trace_goes_through_a_cache_that_is_smaller_than_its_disk() {
    let scratch = Scratch::new("cached-trace");
    let cache = scratch.file("cache.toml", "[host_cache]\nsize = \"2MiB\"\nways = 16\ndirty_threshold = 0\n");
    // Half of them beyond the drive, which has not 4 MiB.
    let lines: Vec<String> = (0..2000_u64)
        .map(|index| {
            let place = (index * 7919 % 5000) * (1 << 16);
            format!("{},disk,0,{},{place},8192,0\n", 1_000_000 + index * 10_000, ["Read", "Write"][index as usize % 2])
        })
        .collect();
    let trace = scratch.file("disk.csv", lines.concat());
    let result = result_of(&request(&json!({ "trace": trace, "host_cache": cache }))).expect("a legal run");
    assert_eq!(count(&result, "/host_cache/reads"), 2000, "two blocks each of a thousand reads");
    assert_eq!(count(&result, "/host_cache/writes"), 2000);
    assert!(count(&result, "/hints/flush_read/count") > 100);
}

#[test]
fn a_full_cache_is_on_the_drive_before_the_run() {
    let scratch = Scratch::new("full-cache");
    let file = scratch.file("job.toml", SMALL_JOB.replace("[host_cache]", "[host_cache]\ninitial = \"full\""));
    let result = result_of(&request(&json!({ "job_file": file }))).expect("a legal run");
    assert_eq!(count(&result, "/prepared_units"), 512);
    assert_eq!(count(&result, "/counters/unmapped_units"), 0);
}

/// Every shipped job runs on the drive that is made for it, the same way each time.
#[test]
fn what_is_shipped_runs() {
    for preset in presets_of(PresetKind::Jobs) {
        assert!(!preset.summary().is_empty(), "{}", preset.name);
        let small = json!({ "workload": { "preset": preset.name }, "seed": 1, "requests": 3000, "prefill": "none" });
        let result = result_of(&small).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert_eq!(count(&result, "/requests"), 3000, "{}", preset.name);
        let again = result_of(&small).expect("runs again");
        assert_eq!(result["digest"], again["digest"], "{}", preset.name);
    }
}

/// A file that was written from a shipped one, and one without a cache.
#[test]
fn a_file_may_have_a_summary() {
    let scratch = Scratch::new("summary");
    for preset in presets_of(PresetKind::Jobs) {
        let file = scratch.file("copy.toml", preset.toml);
        let copy = json!({ "workload": { "job_file": file }, "seed": 1, "requests": 500, "prefill": "none" });
        let shipped = json!({ "workload": { "preset": preset.name }, "seed": 1, "requests": 500, "prefill": "none" });
        let digest = |request: &Value| result_of(request).expect("a legal run")["digest"].clone();
        assert_eq!(digest(&copy), digest(&shipped), "{}", preset.name);
    }
    let plain = scratch.file("plain.toml", "summary = \"reads\"\n[job]\nrw = \"randread\"\n");
    assert_eq!(count(&result_of(&request(&json!({ "job_file": plain }))).expect("a job"), "/requests"), 5000);
    let several = "summary = \"both\"\n[[jobs]]\nname = \"a\"\n[[jobs]]\nname = \"b\"\n";
    let several = scratch.file("several.toml", several);
    assert_eq!(count(&result_of(&request(&json!({ "job_file": several }))).expect("jobs"), "/requests"), 5000);
}

#[test]
fn mistakes_name_the_file_and_the_key() {
    let scratch = Scratch::new("bad-cache");
    let mut index = 0;
    let mut expect = |text: &str, wanted: &[&str]| {
        index += 1;
        let file = scratch.file(&format!("job-{index}.toml"), text);
        let message = input_error(&request(&json!({ "job_file": file })));
        for part in wanted.iter().chain(&["job-"]) {
            assert!(message.contains(part), "`{part}` is missing in: {message}");
        }
    };
    let with = |from: &str, to: &str| SMALL_JOB.replace(from, to);
    expect(&with("\"2MiB\"", "\"1GiB\""), &["host_cache.size", "1GiB", "more than the drive", "line 10,"]);
    expect(&with("\"2MiB\"", "\"0B\""), &["host_cache.size"]);
    expect(&with("ways = 64", "ways = 60"), &["host_cache.size", "not a multiple of a set of 60 blocks"]);
    expect(&with("ways = 64", "wys = 64"), &["line 11", "did you mean `ways`"]);
    expect(&with("size = \"8MiB\"\n", ""), &["job.size", "the disk behind it", "line 2,"]);
    expect(&with("rate_iops = 2000.0", "rate_iops = 0.0"), &["rate_iops", "line 6,"]);
    for key in ["numjobs = 2", "stonewall = true", "startdelay = \"1ms\"", "ramp_time = \"1ms\""] {
        expect(&with("rwmixread = 50", key), &["does not go with a host cache", "line 4,"]);
    }
    expect(&with("[job]", "[[jobs]]"), &["several jobs", "host cache", "line 2,"]);
    expect("[host_cache]\nsize = \"8MiB\"\n", &["needs requests"]);
    expect(&format!("{SMALL_JOB}[file_system]\npersonality = \"oltp\"\n"), &["line"]);
    let system = "[file_system]\npersonality = \"varmail\"\ndisk_size = \"1GiB\"\npage_cache = \"16MiB\"\n";
    expect(system, &["file_system.disk_size", "more than the drive"]);
    expect(&system.replace("varmail", "varmial"), &["did you mean `varmail`"]);
    expect(&system.replace("\"16MiB\"", "\"1KiB\""), &["file_system."]);
}

#[test]
fn mistakes_without_a_file_name_the_option() {
    let unknown = input_error(&request(&json!({ "preset": "varmial" })));
    assert!(unknown.contains("Did you mean `varmail`?"), "{unknown}");
    let two = input_error(&request(&json!({ "preset": "varmail", "trace": data("tiny.csv") })));
    assert!(two.contains("exactly one of"), "{two}");
    let scratch = Scratch::new("cache-of-a-job");
    let file = scratch.file("job.toml", SMALL_JOB);
    let job = input_error(&request(&json!({ "job_file": file, "host_cache": file })));
    assert!(job.contains("host_cache") && job.contains("for traces"), "{job}");
    let none = scratch.file("none.toml", "[job]\nrw = \"read\"\n");
    let none = input_error(&request(&json!({ "trace": data("tiny.csv"), "host_cache": none })));
    assert!(none.contains("no table [host_cache]"), "{none}");
    let mut endless = request(&json!({ "job_file": scratch.file("w.toml", SMALL_JOB) }));
    endless["requests"] = Value::Null;
    endless["warmup"] = json!(0.5);
    assert!(input_error(&endless).contains("warmup"), "{}", input_error(&endless));
}
