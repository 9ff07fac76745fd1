//! Namespaces: parts of a drive's addresses that jobs name.

use crate::support::{input_error, result_of, tiny_request};
use serde_json::{Value, json};

/// Jobs on the small drive of 4 MiB with namespaces of so much.
fn request(sizes: &[&str], jobs: Value) -> Value {
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{{size=\"{size}\"}}")).collect();
    let set = format!("namespaces=[{}]", sizes.join(","));
    let mut request = tiny_request(&[&set]);
    request["workload"] = json!({});
    request["workload"]["job"] = jobs;
    request["log_requests"] = json!(true);
    request
}

fn run(request: &Value) -> Value {
    result_of(request).unwrap_or_else(|error| panic!("{error}\n{request}"))
}

#[test]
fn what_is_read_and_written_is_told_by_namespace() {
    let jobs = json!([
        { "name": "first", "rw": "randread", "requests": 300 },
        { "name": "second", "namespace": 2, "rw": "randwrite", "requests": 200 },
        { "name": "again", "namespace": 2, "rw": "trim", "bs": "8k", "requests": 10 },
    ]);
    let result = run(&request(&["1MiB", "512KiB", "256KiB"], jobs));
    let told = |key: &str| -> Vec<u64> {
        let entries = result["by_namespace"].as_array().expect("entries");
        entries.iter().map(|entry| entry[key].as_u64().expect("a number")).collect()
    };
    assert_eq!(told("namespace"), [1, 2, 3]);
    assert_eq!(told("bytes"), [1 << 20, 512 << 10, 256 << 10]);
    assert_eq!(told("requests"), [300, 210, 0]);
    assert_eq!(told("bytes_read"), [300 * 4096, 0, 0]);
    assert_eq!(told("bytes_written"), [0, 200 * 4096, 0]);
    assert_eq!(told("bytes_trimmed"), [0, 10 * 8192, 0]);
    assert_eq!(result["by_namespace"][1]["jobs"], json!(["second", "again"]));
}

#[test]
fn a_job_alone_is_told_too_and_no_namespaces_are_not() {
    let result = run(&request(&["1MiB", "1MiB"], json!({ "rw": "randread", "namespace": 2, "requests": 100 })));
    assert_eq!(
        (&result["by_namespace"][0]["requests"], &result["by_namespace"][1]["requests"]),
        (&json!(0), &json!(100))
    );
    let mut plain = tiny_request(&[]);
    plain["workload"] = json!({ "job": { "rw": "randread", "requests": 10 } });
    assert_eq!(run(&plain)["by_namespace"], Value::Null);
}

#[test]
fn addresses_are_those_of_the_namespace() {
    // The second one is filled to its end: twice as many trims forget nothing of its neighbours.
    let fill = json!({ "rw": "write", "namespace": 2, "requests": 128 });
    let result = run(&request(&["1MiB", "512KiB", "1MiB"], fill));
    assert_eq!(result["ftl"]["host_units"], 128);
    let mut trims =
        request(&["1MiB", "512KiB", "1MiB"], json!({ "rw": "trim", "namespace": 2, "bs": "64k", "requests": 16 }));
    trims["prefill"] = json!("full");
    let result = run(&trims);
    assert_eq!(result["ftl"]["trimmed_units"], 128, "512 KiB in units of 4 KiB, once");
}

#[test]
fn what_belongs_to_no_namespace_is_not_filled() {
    let mut full = request(&["1MiB", "512KiB"], json!({ "rw": "randread", "requests": 1 }));
    full["prefill"] = json!("full");
    assert_eq!(run(&full)["prepared_units"], 384, "1.5 MiB in units of 4 KiB");
}

#[test]
fn a_region_lies_within_its_namespace() {
    let error = |job: Value| input_error(&request(&["1MiB", "512KiB"], job));
    let of_two = json!([{ "name": "a", "rw": "read" }, { "name": "b", "rw": "read", "namespace": 2, "size": "1m" }]);
    let told = error(of_two);
    assert!(told.contains("`b`") && told.contains("size"), "{told}");
    let told = error(json!({ "rw": "read", "namespace": 2, "offset": "512k" }));
    assert!(told.contains("offset") && told.contains("512KiB"), "{told}");
    for number in [0, 3] {
        let told = error(json!({ "rw": "read", "namespace": number }));
        assert!(told.contains(&format!("namespace: there is no namespace {number}, the drive has 2")), "{told}");
    }
    let mut plain = tiny_request(&[]);
    plain["workload"] = json!({ "job": { "rw": "randread", "namespace": 2 } });
    assert!(input_error(&plain).contains("there is no namespace 2"));
}

#[test]
fn namespaces_that_do_not_fit_name_their_key() {
    let error = |sizes: &[&str]| input_error(&request(sizes, json!({ "rw": "read" })));
    for (sizes, wanted) in [
        (&["1MiB", "1TiB"][..], &["namespaces[1].size", "1TiB", "of the drive"][..]),
        (&["1MiB", "0B"], &["namespaces[1].size", "must not be zero"]),
        (&["1000KiB", "1KiB"], &["namespaces[1].size is 1KiB", "no multiple of 4KiB"]),
    ] {
        let told = error(sizes);
        assert!(wanted.iter().all(|part| told.contains(part)), "{told}");
        assert!(told.starts_with("--set namespaces=["), "whoever set them is blamed: {told}");
    }
}
