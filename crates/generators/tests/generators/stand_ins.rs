//! The shipped profiles: each can be drawn from, always gives the same requests, and two short ones are as published.
//! `make stand-ins` measures all of them at full length; `NINESCOPE_BLESS=1` renews the golden digests here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ninescope_generators::profile::{Profile, ProfileWorkload};
use ninescope_kernel::RunDigest;
use ninescope_model::{Op, PAGE_BYTES, Workload};
use ninescope_traces::{Compression, TraceOptions, TraceStatistics, TraceWriter, WrittenFormat};

const GOLDEN_REQUESTS: u64 = 100_000;
const SEED: u64 = 1;
/// A small profile is the point of one.
const FILE_BYTES_MAX: usize = 20 << 10;

fn golden_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stand_ins.golden.txt")
}

/// Text and contents of all shipped profiles, by name.
fn profiles() -> BTreeMap<String, (String, Profile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../presets/profiles");
    let files = fs::read_dir(folder).expect("the folder of the profiles");
    let all = files.map(|file| {
        let path = file.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let profile = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.file_stem().expect("a name").to_string_lossy().into_owned(), (text, profile))
    });
    all.collect()
}

fn digest(profile: &Profile) -> String {
    let mut workload = ProfileWorkload::new(profile, Some(GOLDEN_REQUESTS), SEED).expect("a good profile");
    let mut digest = RunDigest::default();
    let mut requests = 0;
    while let Some(request) = workload.next_request().expect("a request") {
        assert!(request.end() * 512 <= profile.addresses.span.0, "{request:?} lies within the span");
        let fields = [request.submitted.0, request.lba.0, u64::from(request.sectors), request.op as u64];
        for word in fields {
            digest.word(word);
        }
        requests += 1;
    }
    assert_eq!(requests, GOLDEN_REQUESTS, "{}", profile.name);
    digest.to_hex()
}

#[test]
fn every_shipped_profile_is_valid_small_and_says_that_it_is_a_stand_in() {
    let profiles = profiles();
    let asked = [
        "prxy_0", "prxy_1", "hm_0", "proj_3", "proj_0", "src1_2", "mds_0", "rsrch_0", "src2_2", "stg_0", "src1_1",
        "proj_1",
    ];
    for name in asked {
        assert!(profiles.contains_key(name), "{name} is shipped");
    }
    for (name, (text, profile)) in &profiles {
        profile.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((&profile.name, profile.label.as_str()), (name, "stand-in"));
        assert!(profile.source.len() > 2, "{name} names its sources");
        assert!(text.len() <= FILE_BYTES_MAX, "{name} has {} bytes", text.len());
    }
}

#[test]
fn every_shipped_profile_gives_its_golden_digest() {
    let measured = profiles().iter().fold(String::new(), |mut text, (name, (_, profile))| {
        let _ = writeln!(text, "{name} {}", digest(profile));
        text
    });
    if std::env::var_os("NINESCOPE_BLESS").is_some() {
        fs::write(golden_file(), &measured).expect("tests/data can be written");
    }
    let golden = fs::read_to_string(golden_file()).expect("the golden digests");
    assert_eq!(measured, golden, "NINESCOPE_BLESS=1 renews {}", golden_file().display());
}

/// The whole stand-in, through a trace file, as `trace stat` sees it.
fn statistics(name: &str) -> (Profile, TraceStatistics) {
    let profile = profiles().remove(name).expect("a shipped profile").1;
    let mut workload = ProfileWorkload::new(&profile, None, SEED).expect("a good profile");
    let mut writer = TraceWriter::new(WrittenFormat::MqSim, Compression::None).expect("a writer");
    while let Some(request) = workload.next_request().expect("a request") {
        assert!(matches!(request.op, Op::Read | Op::Write));
        writer.add(&request).expect("a row");
    }
    let file = std::env::temp_dir().join(format!("ninescope-{}-stand_in_{name}.mqsim", std::process::id()));
    fs::write(&file, writer.finish().expect("a trace")).expect("the temporary directory can be written");
    let statistics = TraceStatistics::scan(&file, &TraceOptions::default());
    let _ = fs::remove_file(&file);
    (profile, statistics.expect("a good trace"))
}

fn assert_near(what: &str, achieved: f64, published: f64, tolerance: f64) {
    let deviation = achieved / published - 1.0;
    assert!(deviation.abs() <= tolerance, "{what}: {achieved} is {:+.1} % off {published}", deviation * 100.0);
}

/// What is published of a volume: `tools/stand_ins/volumes.toml` names the sources.
struct Published {
    requests: u64,
    write_share: f64,
    pages: f64,
    written_pages: f64,
    rewrite_ratio: f64,
    top_1_percent_write_share: f64,
    max_writes: f64,
    rewrite_s: [f64; 3],
    duration_s: f64,
}

fn assert_as_published(name: &str, published: &Published) {
    let (profile, found) = statistics(name);
    let summary = &found.summary;
    assert_eq!((summary.requests, profile.original.requests), (published.requests, published.requests));
    let pages = |bytes: u64| bytes as f64 / PAGE_BYTES as f64;
    assert_near("write share", summary.writes as f64 / summary.requests as f64, published.write_share, 0.02);
    assert_near("pages", pages(summary.footprint_bytes), published.pages, 0.1);
    assert_near("written pages", pages(summary.written_footprint_bytes), published.written_pages, 0.1);
    assert_near("rewrite ratio", summary.rewrite_ratio, published.rewrite_ratio, 0.02);
    let top = found.top_1_percent_write_share.expect("writes");
    assert_near("top 1 % share", top, published.top_1_percent_write_share, 0.1);
    assert_near("busiest page", found.popularity.write.max_accesses as f64, published.max_writes, 0.1);
    let intervals = &found.rewrite_interval;
    let quantiles = [intervals.p50_ns, intervals.p90_ns, intervals.p99_ns];
    for (quantile, published) in quantiles.into_iter().zip(published.rewrite_s) {
        assert_near("rewrite interval", quantile as f64 / 1e9, published, 0.12);
    }
    assert_near("duration", summary.duration_ns as f64 / 1e9, published.duration_s, 0.001);
}

#[test]
fn rsrch_0_is_as_published() {
    assert_as_published(
        "rsrch_0",
        &Published {
            requests: 1_433_655,
            write_share: 0.9068,
            pages: 93_773.0,
            written_pages: 75_878.0,
            rewrite_ratio: 0.97374,
            top_1_percent_write_share: 0.54447,
            max_writes: 125_991.0,
            rewrite_s: [60.109, 11_272.9, 171_652.0],
            duration_s: 604_796.0,
        },
    );
}

#[test]
fn wdev_0_is_as_published() {
    assert_as_published(
        "wdev_0",
        &Published {
            requests: 1_143_261,
            write_share: 0.7992,
            pages: 138_102.0,
            written_pages: 90_193.0,
            rewrite_ratio: 0.95327,
            top_1_percent_write_share: 0.54285,
            max_writes: 83_540.0,
            rewrite_s: [61.828, 25_862.0, 259_200.0],
            duration_s: 604_803.0,
        },
    );
}
