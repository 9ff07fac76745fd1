//! Traces that are replayed beside others: each as it is replayed alone, in the place that its description says.

use crate::support::{Scratch, data, input_error, result_of, tiny_request};
use serde_json::{Value, json};

/// A file of jobs on the small drive.
fn file(scratch: &Scratch, text: &str) -> Value {
    let mut request = tiny_request(&[]);
    request["workload"] = json!({ "job_file": scratch.file("jobs.toml", text) });
    request
}

fn run(request: &Value) -> Value {
    result_of(request).unwrap_or_else(|error| panic!("{error}\n{request}"))
}

/// A `[[traces]]` entry of the small trace.
fn entry(more: &str) -> String {
    format!("[[traces]]\ntrace = \"{}\"\n{more}\n", data("tiny.csv").display())
}

/// Requests of the columns of an MSR trace: what is asked of where, and when [us].
fn trace(requests: &[(u64, &str, u64, u64)]) -> String {
    let line =
        |&(time, op, offset, size): &(u64, &str, u64, u64)| format!("{},h,0,{op},{offset},{size},0\n", time * 10);
    requests.iter().map(line).collect()
}

const KIB: u64 = 1024;

#[test]
fn a_trace_by_itself_is_replayed_as_if_it_had_been_named() {
    let scratch = Scratch::new("tenant-alone");
    for (more, keys) in [
        ("", json!({})),
        ("time_scale = 0.5", json!({ "time_scale": 0.5 })),
        ("closed_loop = true\niodepth = 3", json!({ "closed_loop": true, "iodepth": 3 })),
        ("loop = 2", json!({ "loop": 2 })),
    ] {
        let mut named = tiny_request(&[]);
        for (key, value) in keys.as_object().expect("a table") {
            named["workload"][key] = value.clone();
        }
        let (named, described) = (run(&named), run(&file(&scratch, &entry(more))));
        assert_eq!(described["digest"], named["digest"], "{more}");
        assert_eq!(described["requests"], named["requests"], "{more}");
        assert_eq!(described["workload"]["traces"][0]["hash"], named["workload"]["hash"], "{more}");
    }
    let cut = run(&file(&scratch, &entry("requests = 7")));
    assert_eq!(cut["requests"], 7);
    let mut limited = file(&scratch, &entry(""));
    limited["requests"] = 9.into();
    assert_eq!(run(&limited)["requests"], 9);
}

#[test]
fn an_offset_puts_a_trace_where_its_addresses_would_have_put_it() {
    let scratch = Scratch::new("tenant-offset");
    scratch.file("writes.csv", trace(&[(0, "Write", 0, 8 * KIB), (100, "Write", 64 * KIB, 4 * KIB)]));
    let far = 512 * KIB;
    scratch.file("reads.csv", trace(&[(9_000, "Read", far, 8 * KIB), (9_100, "Read", far + 64 * KIB, 4 * KIB)]));
    let unmapped = |offset: &str| {
        let (writes, reads) =
            (format!("[[traces]]\ntrace = \"writes.csv\"\n{offset}\n"), "[[traces]]\ntrace = \"reads.csv\"\n");
        let mut request = file(&scratch, &format!("{writes}{reads}startdelay = \"9ms\"\n"));
        request["prefill"] = "none".into();
        run(&request)["counters"]["unmapped_units"].as_u64()
    };
    // The reads find what was written behind the offset, of which paths lie beside the file that has them.
    assert_eq!((unmapped("offset = \"512KiB\""), unmapped("")), (Some(0), Some(3)));
}

#[test]
fn traces_and_jobs_share_a_drive_and_are_told_apart() {
    let scratch = Scratch::new("tenant-beside");
    scratch.file("writes.csv", trace(&[(0, "Write", 0, 8 * KIB), (50, "Write", 64 * KIB, 4 * KIB)]));
    let text = format!(
        "{}[[traces]]\nname = \"late\"\ntrace = \"writes.csv\"\nstartdelay = \"10ms\"\n\
         [[jobs]]\nname = \"reader\"\nrw = \"randread\"\nrequests = 40\n",
        entry("name = \"recorded\"")
    );
    let result = run(&file(&scratch, &text));
    let jobs = result["by_job"].as_array().expect("three of them");
    let facts: Vec<(&str, u64)> = jobs
        .iter()
        .map(|job| (job["name"].as_str().expect("a name"), job["requests"].as_u64().expect("a count")))
        .collect();
    let recorded = run(&tiny_request(&[]))["requests"].as_u64().expect("a count");
    assert_eq!(facts, [("reader", 40), ("recorded", recorded), ("late", 2)]);
    assert_eq!(jobs[2]["throughput"]["write"]["bytes"], 12 * KIB);
    // One of them alone, on the same drive.
    let mut alone = file(&scratch, &text);
    alone["only_job"] = "late".into();
    let alone = run(&alone);
    assert_eq!((&alone["requests"], &alone["workload"]["traces"][0]["name"]), (&2.into(), &"late".into()));
    // The second begins so late that it ends the run.
    assert!(alone["simulated_ns"].as_u64() > Some(10_000_000), "{}", alone["simulated_ns"]);
}

#[test]
fn a_trace_on_channels_of_its_own_waits_for_nobody_on_another() {
    let scratch = Scratch::new("tenant-channels");
    let writer = "[[jobs]]\nname = \"writer\"\nrw = \"randwrite\"\niodepth = 8\noffset = \"1MiB\"\nsize = \"1MiB\"\nrequests = 300\n";
    let reads: Vec<(u64, &str, u64, u64)> =
        (0..200).map(|turn| (turn * 400, "Read", turn % 50 * 16 * KIB, 8 * KIB)).collect();
    scratch.file("reads.csv", trace(&reads));
    // What the trace waits for the writer at dies and channels, in the mean of its reads [ns].
    let waits = |result: &Value| -> f64 {
        let trace = &result["by_job"][1];
        assert_eq!((&trace["name"], &trace["requests"]), (&"reads.csv".into(), &200.into()));
        let behind = &trace["waits"]["read"]["behind_ns"]["writer"];
        let causes = ["die_waiting_for_channel", "die_host_read", "die_host_program", "channel"];
        causes.iter().filter_map(|cause| behind[cause].as_f64()).sum()
    };
    let reader = "[[traces]]\ntrace = \"reads.csv\"\n";
    let together = run(&file(&scratch, &format!("{reader}{writer}")));
    assert!(waits(&together) > 1_000.0, "{}", together["by_job"][1]["waits"]);
    let result = run(&file(&scratch, &format!("{reader}channels = [0]\n{writer}")));
    assert!(waits(&result) == 0.0, "{}", result["by_job"][1]["waits"]);
    assert_eq!(result["partitions"].as_array().map(Vec::len), Some(2), "{}", result["partitions"]);
}

#[test]
fn what_is_wrong_with_a_trace_beside_others_is_said_with_its_place() {
    let scratch = Scratch::new("tenant-wrong");
    let wrong = |text: &str| input_error(&file(&scratch, text));
    let cases = [
        ("[[traces]]\ntrace = \"nowhere.csv\"\n".to_owned(), "traces[0].trace: there is no file"),
        (entry("name = \"\""), "traces[0].name: is empty"),
        (entry("offset = \"1000B\""), "traces[0].offset: 1KB is no multiple of 4 KiB"),
        (entry("offset = \"1GiB\""), "traces[0].offset: 1GiB is beyond the drive"),
        (entry("namespace = 2"), "traces[0].namespace: there is no namespace 2"),
        (entry("time_scale = 0.0"), "traces[0].time_scale: 0 is not a positive number"),
        (entry("loop = 0"), "traces[0].loop: a trace is read at least once"),
        (entry("volumes = \"strange\""), "traces[0].volumes: `strange` is not one of"),
        (entry("weight = 0"), "traces[0].weight: 0 would never have its turn"),
        (entry("requests = 0"), "traces[0].requests: 0 is not a number of requests"),
        (entry("channels = []"), "traces[0].channels: is empty"),
        (entry("dies = [0, 99]"), "traces[0].dies: there is no die 99"),
        (entry("iodepth = 0"), "traces[0].iodepth: 0 requests outstanding"),
        (entry("limit_burst = \"1ms\""), "traces[0].limit_burst: is of a limit"),
        (entry("format = \"spss\""), "traces[0].format: `spss` is not a trace format"),
        (entry("offest = \"4KiB\""), "offest"),
        (entry("") + &entry(""), "traces[1].name: two are called `tiny.csv`"),
        ("traces = []\n".to_owned(), "`traces` is empty"),
    ];
    for (text, expected) in cases {
        let message = wrong(&text);
        assert!(message.contains(expected) && message.contains("jobs.toml"), "{message}\nfor {text}");
    }
}
