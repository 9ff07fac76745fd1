//! Golden digests: what a small trace does under every policy of every registry. The numbers are copied from
//! our own output; they say that behaviour changed, not that it is right. `NINESCOPE_BLESS=1 cargo test -p
//! ninescope --test ninescope golden` renews them.

use std::fmt::Write;

use crate::support::{data, data_text, result_of, tiny_request};
use serde_json::{Value, json};

const FILE: &str = "golden.txt";

/// Every policy with its defaults, and some variants of the drive that no policy covers.
fn cases() -> Vec<String> {
    let policies = ninescope::policies_of_flash();
    let mut cases: Vec<String> =
        policies.iter().flat_map(|(key, list)| list.iter().map(move |(name, _)| format!("{key}={name}"))).collect();
    let variants = [
        "controller.write_completion=program",
        "ftl.frontier_planes=1",
        "ftl.mapping_unit=512B",
        "ftl.mapping_unit=16KiB",
        "scheduler.multi_plane=false",
        "ftl.gc_pages_in_flight=1",
    ];
    cases.extend(variants.map(str::to_owned));
    cases.extend(SCM_CASES.map(str::to_owned));
    cases.extend(TIER_CASES.map(str::to_owned));
    cases.extend(CODED_CASES.map(str::to_owned));
    cases
}

/// The same trace on storage-class memory.
const SCM_CASES: [&str; 10] = [
    "scm.wear_leveling=none",
    "scm.wear_leveling=ladder",
    "scm.wear_leveling=weak-ladder",
    "scm.wear_leveling=start-gap",
    "scm.wear_leveling_copies=in-memory",
    "scm.pulse_order=in-turn",
    "scm.verify=to-the-cap",
    "scm.verify={policy=\"to-the-cap\",cycles_set=2,cycles_reset=5}",
    "scm.verify=until-pass",
    "scm.verify={policy=\"until-pass\",accept_bits=3,verify_read=\"40ns\"}",
];

/// The same trace on two media.
const TIER_CASES: [&str; 9] = [
    "tier.placement=wb",
    "tier.placement=wo-dm",
    "tier.placement=rwb-dm",
    "tier.placement=nv-wb",
    "tier.placement={policy=\"wo-dm\",victim=\"sequential-first\",evict_free=0.2,evict_stop=0.3}",
    "tier.placement={policy=\"wo-dm\",victim=\"fifo\",migration=\"foreground\"}",
    "tier.placement={policy=\"wo-dm\",migration=\"foreground-reads\",evict_free=0.2,evict_stop=0.2}",
    "tier.placement={policy=\"rwb-dm\",moves=\"hot-or-random\",keep_copy=false}",
    "tier.placement={policy=\"wb\",fetch_on_write=true,migration=\"background\",evict_free=0.1,evict_stop=0.1}",
];

/// The same trace behind a cache, on flash whose bits fail, under codes and with what depends on them.
const CODED_CASES: [&str; 21] = [
    "ftl.streams=single",
    "ftl.streams=clean-apart",
    "nand.ecc=none",
    "nand.ecc=crc",
    "nand.ecc=bch",
    "nand.ecc=ldpc",
    "nand.ecc={policy=\"bch\",user_data=4096,correctable=20,shared=true,decoders=2}",
    "nand.ecc={policy=\"bch\",user_data=1024,correctable=9,holds_die=true,moves_parity=false}",
    "nand.ecc.latency=cycles",
    "nand.ecc.latency=fixed",
    "nand.errors=constant",
    "nand.errors=power-law",
    "nand.errors=table",
    "nand.retry=levels",
    "nand.retry=shifted-reference",
    "nand.retry=soft-sensing",
    "nand.corruption={initial_rber=1e-5,at=\"0s\",hourly_rber=0.5}",
    "nand.corruption={initial_rber=1e-4,at=\"100us\",until=\"3ms\"}",
    "refresh={policy=\"limits\",reads=20}",
    "refresh={policy=\"limits\",retention=\"30d\",period=\"1ms\"}",
    "scrub={policy=\"periodic\",period=\"2ms\"}",
];

/// The digest of a case on two media, after a check that pages move.
fn tier_digest(case: &str) -> String {
    let mut request = tiny_request(&[case]);
    let file = if case.ends_with("nv-wb") { "tiny-two-scm.toml" } else { "tiny-tier.toml" };
    request["drive"] = json!({ "file": data(file) });
    request["prefill"] = json!(if case.ends_with("nv-wb") { "none" } else { "full" });
    let result = result_of(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(result["requests"], json!(400), "{case}");
    let count = |key: &str| result["tier"]["counters"][key].as_u64().unwrap_or_default();
    assert!(count("evicted_dirty") > 10 && count("page_hits") > 10, "{case}: {}", result["tier"]);
    result["digest"].as_str().expect("a digest").to_owned()
}

/// The digest of a case on flash with codes, after a check that some of it did not decode.
fn coded_digest(case: &str) -> String {
    // Soft sensing is of LDPC codes.
    let ldpc = "nand.ecc={policy=\"ldpc\",user_data=1024,parity=128,correctable=8}";
    let sets = if case == "nand.retry=soft-sensing" { vec![ldpc, case] } else { vec![case] };
    let mut request = tiny_request(&sets);
    request["drive"] = json!({ "file": data("tiny-coded.toml") });
    request["workload"]["host_cache"] = json!(data("tiny-cache.toml"));
    request["prefill"] = json!("full");
    let result = result_of(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
    let hint = |name: &str| result["hints"][name]["count"].as_u64().unwrap_or_default();
    assert!(hint("clean_write") > 100 && hint("flush_read") > 100, "{case}: {}", result["hints"]);
    let code = &result["reliability"]["codes"]["nand"];
    assert!(code["corrupted_codewords"].as_u64() > Some(10), "{case}: {}", result["reliability"]);
    result["digest"].as_str().expect("a digest").to_owned()
}

/// The digest of a case on storage-class memory, after a check that the trace reads and overwrites.
fn scm_digest(case: &str) -> String {
    let mut request = tiny_request(&[case]);
    request["drive"] = json!({ "file": data("tiny-scm.toml") });
    let result = result_of(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(result["requests"], json!(400), "{case}");
    let count = |key: &str| result["scm"]["counters"][key].as_u64().unwrap_or_default();
    assert!(count("sectors_read") > 100 && count("sectors_written") > 100, "{case}: {}", result["scm"]);
    assert!(result["scm"]["wear"]["writes_max"].as_u64() > Some(1), "{case} overwrites");
    result["digest"].as_str().expect("a digest").to_owned()
}

/// The case's digest, after a check that the trace does what it is there for.
fn digest(case: &str) -> String {
    let mut request = tiny_request(&[case]);
    request["prefill"] = json!("full");
    let result = result_of(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(result["requests"], json!(400), "{case}");
    let count = |key: &str| result["counters"][key].as_u64().unwrap_or_default();
    assert!(count("group_erases") > 5 && count("gc_page_reads") > 5, "{case} collects garbage: {}", result["counters"]);
    let merges = count("read_modify_write_reads") + count("read_modify_write_forwarded");
    assert!(merges > 10 || case == "ftl.mapping_unit=512B", "{case} merges partial writes");
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
        let digest = match case.split('.').next() {
            _ if CODED_CASES.contains(&case.as_str()) => coded_digest(&case),
            Some("scm") => scm_digest(&case),
            Some("tier") => tier_digest(&case),
            _ => digest(&case),
        };
        writeln!(measured, "{case} {digest}").expect("a string grows");
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
    // A drive of one medium has its own cases.
    let tiered = |key: &str, name: &str| key != "tier.placement" || !name.ends_with("-only");
    for (key, list) in ninescope::policies().into_iter().filter(|(_, list)| list.len() > 1) {
        let names = list.iter().map(|(name, _)| *name).filter(|name| tiered(key, name));
        let digests: std::collections::BTreeSet<_> =
            names.filter_map(|name| stored_digest(&golden, &format!("{key}={name}"))).collect();
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
