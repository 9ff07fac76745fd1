//! Several jobs in one run: from TOML, from fio's files and from a request, with their limits and their results.

use crate::support::{Scratch, data, input_error, result_of, tiny_request};
use serde_json::{Value, json};

/// Jobs on the small drive.
fn jobs(jobs: Value) -> Value {
    let mut request = tiny_request(&[]);
    request["workload"] = json!({});
    request["workload"]["job"] = jobs;
    request
}

fn file(scratch: &Scratch, name: &str, text: &str) -> Value {
    let mut request = tiny_request(&[]);
    request["workload"] = json!({ "job_file": scratch.file(name, text) });
    request
}

fn run(request: &Value) -> Value {
    result_of(request).unwrap_or_else(|error| panic!("{error}\n{request}"))
}

/// A fact of each job, in their order.
fn each<T>(result: &Value, fact: impl Fn(&Value) -> T) -> Vec<T> {
    result["by_job"].as_array().expect("several jobs").iter().map(fact).collect()
}

fn names(result: &Value) -> Vec<&str> {
    result["by_job"].as_array().expect("several jobs").iter().map(|job| job["name"].as_str().expect("a name")).collect()
}

fn counts(result: &Value) -> Vec<u64> {
    each(result, |job| job["requests"].as_u64().expect("a count"))
}

#[test]
fn a_job_of_several_is_told_by_itself_and_all_sum_to_the_whole() {
    let result = run(&jobs(json!([
        { "name": "reader", "rw": "randread", "iodepth": 4, "requests": 600 },
        { "name": "mixer", "rw": "randrw", "bs": "8k", "iodepth": 2, "requests": 300 },
        { "name": "log", "rw": "write", "rate_iops": 1000, "requests": 50, "flush_every": 10 },
    ])));
    assert_eq!(names(&result), ["reader", "mixer", "log"]);
    // Four flushes: none follows the last request.
    assert_eq!(counts(&result), [600, 300, 54]);
    assert_eq!(result["requests"], 954);
    for op in ["read", "write", "flush"] {
        for key in ["requests", "bytes"] {
            let of_jobs: u64 =
                each(&result, |job| job["throughput"][op][key].as_u64().unwrap_or_default()).iter().sum();
            assert_eq!(result["throughput"][op][key], of_jobs, "{op} {key}");
        }
        let slowest = each(&result, |job| job["latency"][op]["max_ns"].as_u64().unwrap_or_default());
        assert_eq!(result["latency"][op]["max_ns"].as_u64(), slowest.into_iter().max(), "{op}");
    }
    let fio: Vec<&str> =
        result["jobs"].as_array().expect("entries").iter().filter_map(|job| job["jobname"].as_str()).collect();
    assert_eq!(fio, ["reader", "mixer", "log"]);
    assert_eq!(result["jobs"][0]["read"]["total_ios"], 600);
    assert_eq!(result["jobs"][0]["read"]["lat_ns"]["max"], result["by_job"][0]["latency"]["read"]["max_ns"]);
    assert_eq!(result["workload"]["jobs"][1]["bs"], "8KiB");
    let alone = run(&jobs(json!([{ "rw": "randread", "requests": 10 }])));
    assert!(alone.get("by_job").is_none() && alone["workload"]["job"]["rw"] == "randread");
    assert_eq!(alone["jobs"][0]["jobname"], "job");
    assert_eq!(alone["jobs"][0]["job options"]["rw"], "randread");
}

#[test]
fn files_of_both_kinds_describe_the_same_run() {
    let scratch = Scratch::new("both");
    let toml = "[[jobs]]\nname = \"a\"\nrw = \"randread\"\nnumjobs = 2\nrequests = 100\n\n\
        [[jobs]]\nname = \"b\"\nrw = \"randwrite\"\nbs = \"16KiB\"\niodepth = 3\nrequests = 40\nstartdelay = \"2ms\"\n";
    let fio = "[global]\nioengine=libaio\nfilename=x\nnorandommap\nrw=randread\nnumber_ios=100\n[a]\nnumjobs=2\n\
        [b]\nrw=randwrite\nbs=16k\niodepth=3\nnumber_ios=40\nstartdelay=2ms\n";
    let (first, second) = (run(&file(&scratch, "j.toml", toml)), run(&file(&scratch, "j.fio", fio)));
    assert_eq!(names(&first), ["a.0", "a.1", "b"]);
    assert_eq!(first["digest"], second["digest"]);
    assert_eq!(first["by_job"], second["by_job"]);
    assert_eq!(first["workload"]["jobs"], second["workload"]["jobs"]);
    assert_eq!(each(&first, |job| job["began_ns"].as_u64()), [Some(0), Some(0), Some(2_000_000)]);
    let means = each(&first, |job| job["latency"]["read"]["mean_ns"].as_f64());
    assert_ne!(means[0], means[1], "copies draw their own addresses");
}

#[test]
fn a_job_alone_that_begins_late_has_its_rates_over_its_own_time() {
    let scratch = Scratch::new("late");
    for (ends, requests, time) in [("runtime=50ms\ntime_based", 50, 50_000_000), ("number_ios=20", 20, 20_000_000)] {
        let text = format!("[a]\nioengine=libaio\nfilename=x\nrw=randread\nrate_iops=1000\nstartdelay=1\n{ends}\n");
        let result = run(&file(&scratch, "late.fio", &text));
        assert_eq!(result["requests"], requests, "{ends}");
        let measured = result["measured_ns"].as_u64().expect("a time");
        assert!(measured.abs_diff(time) < 2_000_000, "{ends}: {measured}");
        let runtime = result["jobs"][0]["read"]["runtime"].as_u64().expect("a runtime");
        assert!(runtime.abs_diff(time / 1_000_000) <= 2, "{ends}: {runtime}");
        let rate = result["throughput"]["read"]["iops"].as_f64().expect("a rate");
        assert!((900.0..1_100.0).contains(&rate), "{ends}: {rate}");
    }
}

#[test]
fn a_wall_is_waited_for_by_everything_behind_it() {
    let scratch = Scratch::new("wall");
    let fio = "[global]\nfilename=x\n[a]\nrw=randread\nnumber_ios=80\n[b]\nrw=randread\nnumber_ios=30\n\
        [c]\nstonewall\nrw=randread\nnumber_ios=20\nnumjobs=2\n[d]\nrw=randread\nnumber_ios=5\n";
    let result = run(&file(&scratch, "wall.fio", fio));
    let spans = each(&result, |job| {
        let began = job["began_ns"].as_u64().expect("it began");
        (began, began + job["measured_ns"].as_u64().expect("a time"))
    });
    let [a, b, c0, c1, d] = spans[..] else { panic!("five jobs: {spans:?}") };
    assert!(a.0 == 0 && b.0 == 0 && b.1 < a.1, "{spans:?}");
    assert!([c0, c1, d].iter().all(|span| span.0 == a.1), "{spans:?}");
}

#[test]
fn limits_of_the_run_hold_for_all_jobs_together() {
    let two = json!([
        { "name": "a", "rw": "randread", "requests": 400 },
        { "name": "b", "rw": "randread", "duration": "1s" },
        { "name": "c", "rw": "randread" },
    ]);
    let mut limited = jobs(two.clone());
    limited["requests"] = json!(500);
    assert_eq!(counts(&run(&limited)).iter().sum::<u64>(), 500);
    let mut limited = jobs(two.clone());
    limited["duration"] = json!("2ms");
    let result = run(&limited);
    let ends = each(&result, |job| job["measured_ns"].as_u64().expect("a time"));
    assert!(ends.iter().all(|&end| (1_900_000..2_300_000).contains(&end)), "{ends:?}");
    let mut warmed = jobs(two);
    warmed["requests"] = json!(500);
    warmed["warmup"] = json!(100);
    let result = run(&warmed);
    assert_eq!(counts(&result).iter().sum::<u64>(), 400);
    assert_eq!(result["requests"], 400);
}

#[test]
fn a_ramp_is_not_measured_and_comes_before_the_duration() {
    let ramp = |count: usize| {
        let job = |index: usize| json!({ "name": format!("j{index}"), "rw": "randread", "duration": "4ms", "ramp_time": "3ms" });
        run(&jobs((0..count).map(job).collect()))
    };
    for count in [1, 2] {
        let result = ramp(count);
        let measured = result["measured_ns"].as_u64().expect("a time");
        assert!((4_000_000..4_200_000).contains(&measured), "{measured}");
        let reads = result["throughput"]["read"]["requests"].as_u64().expect("a count");
        let mean = result["latency"]["read"]["mean_ns"].as_f64().expect("a mean");
        assert!((reads as f64 * mean / (4e6 * count as f64) - 1.0).abs() < 0.05, "Little's law: {reads} of {mean} ns");
    }
    // The command line and the sweeps say that nothing is to be left out where nobody asked for a warm-up.
    for nothing in [json!(0), json!(0.0)] {
        let mut request = jobs(json!({ "rw": "randread", "duration": "4ms", "ramp_time": "3ms" }));
        request["warmup"] = nothing;
        let measured = run(&request)["measured_ns"].as_u64().expect("a time");
        assert!((4_000_000..4_200_000).contains(&measured), "{measured}");
    }
    let over = run(&jobs(json!({ "rw": "randread", "requests": 5, "ramp_time": "1s" })));
    assert_eq!(over["requests"], 0);
    let note = "job job: nothing was measured: no request completed after the ramp_time";
    assert!(over["notes"].to_string().contains(note), "{}", over["notes"]);
    // No time has no shares: dies were said to be busy all of it.
    assert_eq!((&over["utilisation"], &over["host_queue"]["resources"]), (&Value::Null, &json!([])));
    let mut both = jobs(json!({ "rw": "randread", "requests": 50, "ramp_time": "1s" }));
    both["warmup"] = json!(10);
    let both = run(&both);
    assert_eq!(both["requests"], 40);
    assert!(both["notes"].to_string().contains("takes the place of ramp_time"), "{}", both["notes"]);
}

#[test]
fn a_job_that_comes_to_its_end_behind_a_ramp_has_the_rate_of_its_own_time() {
    let job = |name: &str, key: &str, end: Value| {
        json!({ "name": name, "rw": "randread", "rate_iops": 1000.0,
        "ramp_time": "10ms", "duration": "90ms", key: end })
    };
    // One request each millisecond from the beginning on: the first ten, or eleven, are not measured.
    for (key, end) in [("requests", json!(40)), ("io_size", json!("160KiB"))] {
        let (short, long) = (job("short", key, end), job("long", "iodepth", json!(1)));
        for list in [json!(short), json!([short, long])] {
            let result = run(&jobs(list));
            let of_two = result["by_job"].get(0).is_some();
            let measured =
                (if of_two { &result["by_job"][0] } else { &result })["measured_ns"].as_u64().expect("a time");
            assert!(measured.abs_diff(29_000_000) < 1_100_000, "{key}: {measured}");
            let rate = result["jobs"][0]["read"]["iops"].as_f64().expect("a rate");
            assert!((980.0..1_080.0).contains(&rate), "{key}: {rate}");
            if of_two {
                assert_eq!(result["by_job"][1]["measured_ns"], 90_000_000);
            }
        }
    }
    // A warm-up in requests does not move the end of a job either.
    let timed = |name: &str| json!({ "name": name, "rw": "randread", "rate_iops": 1000.0, "duration": "100ms" });
    let mut warmed = jobs(json!([timed("a"), timed("b")]));
    warmed["warmup"] = json!(40);
    let result = run(&warmed);
    let job = &result["by_job"][0];
    let (began, measured) = (job["began_ns"].as_u64().expect("a time"), job["measured_ns"].as_u64().expect("a time"));
    assert!((19_000_000..21_000_000).contains(&began), "{began}");
    assert_eq!(began + measured, 100_000_000);
}

#[test]
fn jobs_that_end_within_the_ramp_are_named() {
    let job = |name: &str, requests: u64| json!({ "name": name, "rw": "randread", "requests": requests, "rate_iops": 1000.0, "ramp_time": "10ms" });
    let notes = |list: Vec<Value>| {
        let result = run(&jobs(json!(list)));
        let notes = result["notes"].as_array().expect("a list").iter().filter_map(Value::as_str);
        notes.filter(|note| note.contains("nothing was measured")).map(str::to_owned).collect::<Vec<_>>()
    };
    // So many requests, one each millisecond.
    let some = notes(vec![job("a", 5), job("b", 50), job("c", 6)]);
    assert!(some.len() == 1 && some[0].starts_with("jobs a, c: nothing was measured"), "{some:?}");
    let all = notes(vec![job("a", 5), job("b", 6)]);
    assert!(all.len() == 1 && all[0].starts_with("jobs a, b: nothing was measured"), "{all:?}");
    assert_eq!(notes(vec![job("a", 20), job("b", 50)]), Vec::<String>::new());
}

#[test]
fn a_region_beyond_the_drive_is_laid_to_the_option_that_put_it_there() {
    let scratch = Scratch::new("beyond");
    for (own, words) in
        [("offset=30t\n", ["offset", "line 6"]), ("numjobs=3\noffset_increment=900g\n", ["offset_increment", "line 7"])]
    {
        let text = format!("[global]\nfilename=x\nsize=1m\n[a]\nrw=read\n{own}[b]\nrw=read\n");
        let mut request = file(&scratch, "beyond.fio", &text);
        for sized in [true, false] {
            if !sized {
                request["drive"] = json!({ "file": data("tiny.toml") });
            } else if words[0] == "offset_increment" {
                continue; // A drive that is sized to it holds it.
            } else {
                request.as_object_mut().expect("a table").remove("drive");
            }
            let message = input_error(&request);
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }
}

#[test]
fn a_share_is_no_warm_up_of_what_time_alone_ends() {
    let timed = json!({ "name": "a", "rw": "randread", "duration": "4ms" });
    for timed in [timed.clone(), json!([timed, { "name": "b", "rw": "read", "requests": 50 }])] {
        let mut request = jobs(timed);
        request["warmup"] = json!(0.1);
        let message = input_error(&request);
        assert!(message.contains("warmup: 0.1") && message.contains("ramp_time"), "{message}");
        request["requests"] = json!(40);
        assert_eq!(run(&request)["requests"], 36);
        request["requests"] = Value::Null;
        request["warmup"] = json!(10);
        assert!(run(&request)["requests"].as_u64().is_some_and(|requests| requests > 10));
    }
}

#[test]
fn a_drive_is_prefilled_where_any_of_the_jobs_reads() {
    let mut request = jobs(json!([
        { "name": "a", "rw": "read", "size": "256KiB" },
        { "name": "b", "rw": "read", "offset": "128KiB", "size": "512KiB" },
        { "name": "c", "rw": "read", "offset": "2MiB", "size": "64KiB" },
    ]));
    request["prefill"] = json!("footprint");
    let result = run(&request);
    assert_eq!(result["prepared_units"], (640 + 64) / 4);
    assert_eq!(result["counters"]["unmapped_units"], 0);
}

#[test]
fn mistakes_among_jobs_name_the_job_and_the_key() {
    let scratch = Scratch::new("mistakes");
    let ramp = |other: Value| json!([{ "name": "a", "ramp_time": "1ms" }, other]);
    for (jobs_of, wanted) in [
        (json!([{ "rw": "read" }, { "rw": "write" }]), &["two are called `job`", "name"][..]),
        (json!([{ "name": "a" }, { "name": "" }]), &["job ``: name: is empty"]),
        (json!({ "name": " ", "numjobs": 2 }), &["job: name: is empty"]),
        (json!([{ "name": "a" }, { "name": "b", "iodepth": 0 }]), &["job `b`", "iodepth"]),
        (json!([{ "name": "a" }, { "name": "b", "size": "1GiB" }]), &["job `b`", "size"]),
        (json!([{ "name": "a" }, { "name": "b", "numjobs": 300 }]), &["job `b`", "numjobs", "256"]),
        (json!([{ "name": "a", "numjobs": 200 }, { "name": "b", "numjobs": 57 }]), &["257", "256"]),
        (json!({ "numjobs": 0 }), &["job: numjobs"]),
        (json!({ "numjobs": 2, "iodepth": 0 }), &["job `job.0`", "iodepth"]),
        (json!([{ "name": "a.1" }, { "name": "a", "numjobs": 2 }]), &["`a.1`"]),
        (ramp(json!({ "name": "b" })), &["job `b`", "ramp_time", "same for all"]),
        (ramp(json!({ "name": "b", "ramp_time": "1ms", "startdelay": "1ms" })), &["job `b`", "ramp_time", "--warmup"]),
        (ramp(json!({ "name": "b", "ramp_time": "1ms", "stonewall": true })), &["job `b`", "ramp_time"]),
        (json!([]), &["job", "empty"]),
        (json!([{ "name": "a", "nmae": 3 }]), &["job", "nmae", "did you mean `name`"]),
    ] {
        let message = input_error(&jobs(jobs_of.clone()));
        for part in wanted {
            assert!(message.contains(part), "`{part}` is missing in: {message}\nfor {jobs_of}");
        }
    }
    for (text, wanted) in [
        ("jobs = []\n", &["j.toml", "empty"][..]),
        ("[[jobs]]\nrw = \"read\"\n[[jobs]]\nrw = \"raed\"\n", &["j.toml", "line 4", "raed"]),
        ("bs = \"4k\"\n[[jobs]]\nrw = \"read\"\n", &["j.toml", "line 1", "bs"]),
        ("[jobs]\nrw = \"read\"\n", &["j.toml"]),
        ("rw = \"read\"\nnumjobs = 300\n", &["j.toml: numjobs: 300", "line 2"]),
        ("[[jobs]]\nrw = \"read\"\n[[jobs]]\n", &["j.toml: jobs[1].name: two are called `job`", "line 3"]),
        ("[[jobs]]\nname = \"a\"\n[[jobs]]\nname = \"\"\n", &["j.toml: jobs[1].name: is empty", "line 4"]),
        ("[[jobs]]\nname = \"a\"\n[[jobs]]\nname = \"a\"\n", &["j.toml: jobs[1].name", "line 4"]),
        ("[[jobs]]\nname = \"a\"\n[[jobs]]\nnumjobs = 0\n", &["j.toml: jobs[1].numjobs: 0", "line 4"]),
        ("[[jobs]]\nbs = \"4k\"\n[[jobs]]\nname = \"b\"\nbs = 3\n", &["j.toml: jobs[1].bs: 3 bytes are", "line 5"]),
        ("jobs = [{ name = \"a\" }, { name = \"b\", bs = 3 }]\n", &["j.toml: jobs[1].bs: 3 bytes are"]),
        ("[job]\nnumjobs = 2\niodepth = 0\n", &["j.toml: iodepth", "line 3"]),
        ("[[jobs]]\nnumjobs = 200\n[[jobs]]\nname = \"b\"\nnumjobs = 57\n", &["j.toml: jobs: 257"]),
    ] {
        let message = input_error(&file(&scratch, "j.toml", text));
        for part in wanted {
            assert!(message.contains(part), "`{part}` is missing in: {message}\nfor {text}");
        }
    }
}

#[test]
fn mistakes_in_sections_of_fio_name_the_section_and_the_line() {
    let scratch = Scratch::new("sections");
    for (text, wanted) in [
        ("[a]\nrw=read\n[b]\nbs=1000\n", &["j.fio: line 4: bs: 1KB", "multiple of 512"][..]),
        ("[global]\nsize=1g\n[a]\nrw=read\n[b]\nrw=read\n", &["j.fio: job `a`: size: 1GiB", "line 2"]),
        ("[a]\nrw=read\nsize=8k\nbs=16k\n", &["j.fio: size: ", "line 3"]),
        ("[a]\nsize=8k\nsize=1g\nsize=2g\n", &["j.fio: size: 2GiB", "line 4"]),
        ("[a]\nsize=4k\nbs=8k\n", &["j.fio: size: ", "line 2"]),
    ] {
        let message = input_error(&file(&scratch, "j.fio", text));
        for part in wanted {
            assert!(message.contains(part), "`{part}` is missing in: {message}\nfor {text}");
        }
    }
}

#[test]
fn the_examples_of_several_jobs_run() {
    for (name, jobs) in [
        ("two-jobs.toml", &["tables", "log"][..]),
        ("readers-and-writer.fio", &["readers.0", "readers.1", "writer", "check"]),
    ] {
        let path = data("../../../../examples/jobs").join(name);
        let drive = data("../../../../examples/drives/demo.toml");
        let request = json!({ "workload": { "job_file": path }, "prefill": "footprint", "drive": { "file": drive }, "duration": "100ms" });
        let result = run(&request);
        assert_eq!(names(&result), jobs, "{name}");
    }
}

/// A rate that is far beyond the drive, ended by a number of requests and by the time in which so many arrive: it is the same
/// run, to the wait of each request.
#[test]
fn what_arrived_before_the_end_enters_behind_it_as_it_would_have() {
    const RATE: u64 = 2_000_000;
    let ended = |limit: (&str, Value)| {
        let mut request = tiny_request(&[]);
        request["workload"] = json!({ "job": { "rw": "randrw", "bs": "4k", "rate_iops": RATE } });
        request["workload"]["job"][limit.0] = limit.1;
        run(&request)
    };
    let (by_time, by_count) = (ended(("duration", json!("4ms"))), ended(("requests", json!(RATE / 250))));
    assert_eq!(by_time["requests"], json!(RATE / 250));
    for key in ["digest", "latency", "latency_without_host_queue", "attribution"] {
        assert_eq!(by_time[key], by_count[key], "{key}");
    }
    let waited = by_time["host_queue"]["share"]["read"].as_f64().expect("it waits");
    assert!(waited > 0.5, "{waited} of the time in the host's queue");
    let two = |limit: (&str, Value)| {
        let job = |name: &str| json!({ "name": name, "rw": "randread", "bs": "4k", "rate_iops": RATE, limit.0: limit.1.clone() });
        run(&jobs(json!([job("a"), job("b")])))["digest"].clone()
    };
    assert_eq!(two(("duration", json!("2ms"))), two(("requests", json!(RATE / 500))));
}

#[test]
fn a_value_that_is_no_such_thing_names_the_key_of_its_job() {
    let scratch = Scratch::new("wrong-values");
    for (name, text, key) in [
        (
            "several.toml",
            "[[jobs]]\nrw = \"read\"\n[[jobs]]\nrw = \"read\"\npriority = \"wild\"\n",
            "jobs[1].priority: ",
        ),
        ("table.toml", "[job]\nrw = \"read\"\niodepth = \"deep\"\n", "job.iodepth: "),
        ("plain.toml", "rw = \"read\"\nqueues = -1\n", "queues: "),
    ] {
        let told = input_error(&file(&scratch, name, text));
        let line = format!("at line {}", text.lines().count());
        assert!(told.contains(&format!("{name}: {key}")) && told.contains(&line), "{told}");
    }
    let told = input_error(&file(&scratch, "weight.toml", "[[jobs]]\nrw = \"read\"\nweight = 0\n"));
    assert!(told.contains("jobs[0].weight: 0 would never have its turn"), "{told}");
    for (key, value, words) in [
        ("queues", "65536", "the drive has 65535"),
        ("commands_per_queue", "0", "would have no commands"),
        ("commands_per_queue", "65536", "too many"),
        ("namespace", "2", "there is no namespace 2"),
    ] {
        let text = format!("[[jobs]]\nrw = \"read\"\n{key} = {value}\n");
        let told = input_error(&file(&scratch, "one.toml", &text));
        assert!(told.contains(&format!("jobs[0].{key}: ")) && told.contains(words), "{told}");
    }
}
