//! Golden digests: what a small trace does under every policy of every registry. The numbers are copied from
//! our own output; they say that behaviour changed, not that it is right. `NINESCOPE_BLESS=1 cargo test -p
//! ninescope --test ninescope golden` renews them.

use std::fmt::Write;

use crate::policy_cases::{Case, Setting, cases, is_of_one_medium, with_parameters};
use crate::support::{data, data_text, result_of, tiny_request};
use serde_json::{Value, json};

const FILE: &str = "golden.txt";

/// What the trace does on storage-class memory: it reads and overwrites.
fn check_on_scm(case: &str, result: &Value) {
    let count = |key: &str| result["scm"]["counters"][key].as_u64().unwrap_or_default();
    assert!(count("sectors_read") > 100 && count("sectors_written") > 100, "{case}: {}", result["scm"]);
    assert!(result["scm"]["wear"]["writes_max"].as_u64() > Some(1), "{case} overwrites");
}

/// On two media pages move.
fn check_on_two_media(case: &str, result: &Value) {
    let count = |key: &str| result["tier"]["counters"][key].as_u64().unwrap_or_default();
    // Of a cache of reads alone pages leave when they are written.
    let leave = count("evicted_dirty").max(count("replaced_above"));
    assert!(leave > 10 && count("page_hits") > 10, "{case}: {}", result["tier"]);
}

/// On flash under codes some of it does not decode.
fn check_under_codes(case: &str, result: &Value) {
    let hint = |name: &str| result["hints"][name]["count"].as_u64().unwrap_or_default();
    assert!(hint("clean_write") > 100 && hint("flush_read") > 100, "{case}: {}", result["hints"]);
    let code = &result["reliability"]["codes"]["nand"];
    assert!(code["corrupted_codewords"].as_u64() > Some(10), "{case}: {}", result["reliability"]);
}

/// On flash alone garbage is collected and partial writes are merged.
fn check_on_flash(case: &str, result: &Value) {
    let count = |key: &str| result["counters"][key].as_u64().unwrap_or_default();
    assert!(count("group_erases") > 5 && count("gc_page_reads") > 5, "{case} collects garbage: {}", result["counters"]);
    let merges = count("read_modify_write_reads") + count("read_modify_write_forwarded");
    assert!(merges > 10 || case == "ftl.mapping_unit=512B", "{case} merges partial writes");
}

/// The case's digest, after a check that the trace does what it is there for.
fn digest((case, setting): &Case) -> String {
    let mut request = setting.request(case);
    request["prefill"] = json!(if setting.has_flash(case) { "full" } else { "none" });
    let result = result_of(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
    match setting {
        Setting::Flash => check_on_flash(case, &result),
        Setting::Coded => check_under_codes(case, &result),
        Setting::Scm => check_on_scm(case, &result),
        Setting::Tier => check_on_two_media(case, &result),
    }
    // What a cache in front of a drive asks of it besides are requests, too.
    assert!(*setting == Setting::Coded || result["requests"] == json!(400), "{case}");
    result["digest"].as_str().expect("a digest").to_owned()
}

/// The digest of a case in the file.
fn stored_digest<'a>(golden: &'a str, case: &str) -> Option<&'a str> {
    golden.lines().find_map(|line| line.strip_prefix(case)?.strip_prefix(' '))
}

#[test]
fn every_policy_gives_its_golden_digest() {
    let mut measured = String::new();
    for case in cases() {
        let digest = digest(&case);
        writeln!(measured, "{} {digest}", case.0).expect("a string grows");
    }
    if std::env::var_os("NINESCOPE_BLESS").is_some() {
        std::fs::write(data(FILE), &measured).expect("tests/data can be written");
    }
    let golden = data_text(FILE);
    // A case without a line is a policy that joined since the file was renewed: there is no behaviour that it could have changed.
    let is_new = |line: &str| line.rsplit_once(' ').is_some_and(|(case, _)| stored_digest(&golden, case).is_none());
    let changed: Vec<String> = measured
        .lines()
        .filter(|line| !golden.lines().any(|known| known == *line) && !is_new(line))
        .map(|line| format!("  now  {line}"))
        .chain(
            golden
                .lines()
                .filter(|line| !measured.lines().any(|new| new == *line))
                .map(|line| format!("  file {line}")),
        )
        .collect();
    assert!(
        changed.is_empty(),
        "the behaviour of these cases changed:\n{}\nIf that is meant, say why in the commit and renew the file with\n  \
         NINESCOPE_BLESS=1 cargo test -p ninescope --test ninescope golden",
        changed.join("\n")
    );
}

#[test]
fn a_policy_that_is_named_differs_from_its_neighbours_or_is_the_default() {
    // A registry whose names all lead to one behaviour would make the golden file say nothing.
    let golden = data_text(FILE);
    // The trace trims nothing.
    let shows = |key: &str| key != "ftl.trim";
    for (key, list) in ninescope::policies().into_iter().filter(|(key, list)| list.len() > 1 && shows(key)) {
        let names = list.iter().map(|(name, _)| *name).filter(|name| !is_of_one_medium(key, name));
        let digests: std::collections::BTreeSet<_> =
            names.filter_map(|name| stored_digest(&golden, &with_parameters(format!("{key}={name}")))).collect();
        assert!(digests.len() > 1, "{key}: {digests:?}");
    }
}

#[test]
fn the_slices_of_a_run_do_not_show_in_its_digest() {
    let request = tiny_request(&[]);
    let whole = result_of(&request).expect("the tiny run")["digest"].clone();
    let mut simulation = crate::support::simulation(&request).expect("the tiny run");
    while !simulation.run_slice(std::time::Duration::ZERO).expect("the tiny run").finished {}
    let sliced: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
    assert_eq!(sliced["digest"], whole);
    let mut logged = request;
    logged["log_requests"] = json!(true);
    logged["warmup"] = json!(100);
    assert_eq!(result_of(&logged).expect("the tiny run")["digest"], whole, "neither log nor warm-up show");
}
