//! Summaries of real traces against the statistics published with them.
//!
//! The traces do not belong to this repository. Where they are absent the test says so and passes.

use std::path::{Path, PathBuf};

use ninescope_traces::{TraceFormat, TraceOptions, TraceSummary};

/// What is published about one trace; `None` where nothing is.
struct Published {
    file: &'static str,
    format: TraceFormat,
    requests: u64,
    write_percent: f64,
    read_kib: Option<f64>,
    write_kib: Option<f64>,
    footprint_gib: f64,
    written_gib: Option<f64>,
    /// The value, and half a unit of its last digit.
    rewrite: Option<(f64, f64)>,
    sequential_percent: Option<f64>,
    duration_s: f64,
}

const DAY_S: f64 = 86_400.0;

#[rustfmt::skip]
const PUBLISHED: [Published; 21] = [
    Published { file: "msr/rsrch_1.csv.zst", format: TraceFormat::Msr, requests: 13_780, write_percent: 99.7, read_kib: Some(13.2), write_kib: Some(12.2), footprint_gib: 0.110, written_gib: Some(0.110), rewrite: Some((0.319, 0.0005)), sequential_percent: Some(1.3), duration_s: 6.67 * DAY_S },
    Published { file: "msr/wdev_1.csv.zst", format: TraceFormat::Msr, requests: 1_055, write_percent: 100.0, read_kib: None, write_kib: Some(5.1), footprint_gib: 0.0014, written_gib: Some(0.0014), rewrite: Some((0.728, 0.0005)), sequential_percent: Some(0.9), duration_s: 6.89 * DAY_S },
    Published { file: "msr/wdev_3.csv.zst", format: TraceFormat::Msr, requests: 682, write_percent: 98.4, read_kib: Some(63.3), write_kib: Some(4.4), footprint_gib: 0.0012, written_gib: None, rewrite: Some((0.905, 0.0005)), sequential_percent: Some(1.6), duration_s: 6.91 * DAY_S },
    Published { file: "msr/hm_0.window7016.csv.zst", format: TraceFormat::Msr, requests: 7_016, write_percent: 17.1, read_kib: Some(13.0), write_kib: Some(5.8), footprint_gib: 0.052, written_gib: Some(0.005), rewrite: Some((0.422, 0.0005)), sequential_percent: Some(4.5), duration_s: 148.0 },
    Published { file: "msr/hm_0.head1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 49.2, read_kib: Some(11.7), write_kib: Some(7.1), footprint_gib: 0.007, written_gib: None, rewrite: Some((0.493, 0.0005)), sequential_percent: Some(3.9), duration_s: 127.0 },
    Published { file: "msr/hm_0.writes1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 100.0, read_kib: None, write_kib: Some(6.7), footprint_gib: 0.004, written_gib: None, rewrite: Some((0.48, 0.005)), sequential_percent: Some(1.5), duration_s: 190.0 },
    Published { file: "other/cloudPhysicsIO.vscsi.zst", format: TraceFormat::Vscsi, requests: 113_872, write_percent: 58.8, read_kib: Some(37.4), write_kib: Some(35.2), footprint_gib: 1.027, written_gib: Some(0.796), rewrite: Some((0.682, 0.0005)), sequential_percent: Some(26.0), duration_s: 7_200.0 },
    Published { file: "other/mqsim_tpcc-small.trace.zst", format: TraceFormat::MqSim, requests: 6_999, write_percent: 37.4, read_kib: Some(8.1), write_kib: Some(8.7), footprint_gib: 0.078, written_gib: Some(0.030), rewrite: Some((0.017, 0.0005)), sequential_percent: Some(0.1), duration_s: 0.136 },
    Published { file: "other/mqsim_wsrch-small.trace.zst", format: TraceFormat::MqSim, requests: 24_783, write_percent: 0.02, read_kib: Some(15.1), write_kib: Some(8.0), footprint_gib: 0.352, written_gib: None, rewrite: None, sequential_percent: Some(5.8), duration_s: 60.0 },
    Published { file: "msr/web_3.caso.txt.zst", format: TraceFormat::MsrShort, requests: 31_380, write_percent: 68.0, read_kib: Some(74.9), write_kib: Some(20.8), footprint_gib: 0.59, written_gib: Some(0.42), rewrite: Some((0.172, 0.0005)), sequential_percent: Some(39.6), duration_s: 6.88 * DAY_S },
    Published { file: "msr/hm_1.writes13069.csv.zst", format: TraceFormat::Msr, requests: 13_069, write_percent: 100.0, read_kib: None, write_kib: Some(20.7), footprint_gib: 0.085, written_gib: None, rewrite: Some((0.673, 0.0005)), sequential_percent: Some(0.8), duration_s: 3.75 * DAY_S },
    Published { file: "msr/hm_1.head33304.no_op_no_time.mqsim.txt.zst", format: TraceFormat::MqSimBytes, requests: 33_304, write_percent: 100.0, read_kib: None, write_kib: Some(22.9), footprint_gib: 0.198, written_gib: None, rewrite: None, sequential_percent: Some(4.8), duration_s: 0.006_09 },
    Published { file: "msr/hm_0.writes816_later.csv.zst", format: TraceFormat::Msr, requests: 816, write_percent: 100.0, read_kib: None, write_kib: Some(6.2), footprint_gib: 0.002, written_gib: None, rewrite: Some((0.57, 0.005)), sequential_percent: Some(4.4), duration_s: 270.0 },
    Published { file: "msr/mds_0.writes1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 100.0, read_kib: None, write_kib: Some(5.8), footprint_gib: 0.002, written_gib: None, rewrite: Some((0.71, 0.005)), sequential_percent: Some(3.9), duration_s: 619.0 },
    Published { file: "msr/proj_0.writes1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 99.9, read_kib: None, write_kib: Some(6.9), footprint_gib: 0.002, written_gib: None, rewrite: Some((0.77, 0.005)), sequential_percent: Some(4.6), duration_s: 511.0 },
    Published { file: "msr/rsrch_2.writes1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 100.0, read_kib: None, write_kib: Some(4.3), footprint_gib: 0.003, written_gib: None, rewrite: Some((0.67, 0.005)), sequential_percent: Some(0.6), duration_s: 7.6 * 3600.0 },
    Published { file: "other/umass_web1_head.trace.zst", format: TraceFormat::Umass, requests: 50_000, write_percent: 0.02, read_kib: Some(15.2), write_kib: Some(8.0), footprint_gib: 0.708, written_gib: None, rewrite: None, sequential_percent: Some(6.0), duration_s: 129.0 },
    Published { file: "other/umass_fin1_head.trace.zst", format: TraceFormat::Umass, requests: 50_000, write_percent: 41.6, read_kib: Some(7.5), write_kib: Some(6.4), footprint_gib: 0.119, written_gib: Some(0.034), rewrite: Some((0.829, 0.0005)), sequential_percent: Some(0.6), duration_s: 853.0 },
    Published { file: "other/ms_DTRS100M.trace.zst", format: TraceFormat::MqSim, requests: 127_043, write_percent: 11.0, read_kib: Some(55.6), write_kib: Some(53.4), footprint_gib: 4.853, written_gib: Some(0.702), rewrite: Some((0.009, 0.0005)), sequential_percent: Some(20.1), duration_s: 8.33 * 3600.0 },
    // 19,095 events are published; one of them has a negative offset.
    Published { file: "other/wiscsee_sqlitewal_1.txt.zst", format: TraceFormat::Wiscsee, requests: 19_094, write_percent: 99.7, read_kib: Some(3.9), write_kib: Some(9.2), footprint_gib: 0.063, written_gib: None, rewrite: Some((0.62, 0.005)), sequential_percent: Some(11.0), duration_s: 2.3 },
    Published { file: "other/blkparse_f2fs.txt.zst", format: TraceFormat::Blkparse, requests: 5_727, write_percent: 17.6, read_kib: Some(111.0), write_kib: Some(427.0), footprint_gib: 0.89, written_gib: None, rewrite: None, sequential_percent: None, duration_s: 1_651.0 },
];

fn folder() -> Option<PathBuf> {
    // Beside the project, or where the variable says.
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("NINESCOPE_TRACES").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    // Not `eprintln!`: the test harness swallows that, and a skipped check must be seen.
    let message = format!("SKIPPED: no traces at {}; the published statistics are NOT checked\n", folder.display());
    std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes()).expect("stderr can be written");
    None
}

#[test]
fn summaries_equal_the_published_statistics() {
    let Some(folder) = folder() else { return };
    for published in &PUBLISHED {
        let summary = TraceSummary::scan(&folder.join(published.file), &TraceOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        compare(published, &summary);
    }
}

fn compare(published: &Published, summary: &TraceSummary) {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let kib = |bytes: Option<f64>| bytes.unwrap_or(0.0) / 1024.0;
    let write_percent = summary.writes as f64 * 100.0 / summary.requests as f64;
    let duration_s = summary.duration_ns as f64 / 1e9;
    println!(
        "{}: {} requests, {write_percent:.2} % writes, {:.1} / {:.1} KiB, {:.4} ({:.4}) GiB, rewrite {:.3}, \
         sequential {:.2} %, {duration_s:.3} s, reordered {}, clamped {}, unaligned {}, devices {}",
        published.file,
        summary.requests,
        kib(summary.mean_read_bytes),
        kib(summary.mean_write_bytes),
        gib(summary.footprint_bytes),
        gib(summary.written_footprint_bytes),
        summary.rewrite_ratio,
        summary.sequential_share * 100.0,
        summary.reordered,
        summary.clamped,
        summary.unaligned,
        summary.devices,
    );
    assert_eq!((summary.format, summary.requests), (published.format, published.requests), "{}", published.file);
    let broken = u64::from(published.format == TraceFormat::Wiscsee);
    assert_eq!((summary.broken_lines, summary.clamped, summary.trims), (broken, 0, 0), "{}", published.file);
    // Event lists also have events that are no requests, and their statistics are given with fewer digits.
    let is_coarse = matches!(published.format, TraceFormat::Blkparse | TraceFormat::Wiscsee);
    assert!(is_coarse || summary.skipped_lines == 0, "{}", published.file);
    let kib_half_digit = if published.format == TraceFormat::Blkparse { 0.51 } else { 0.056 };
    let gib_half_digit = if published.format == TraceFormat::Blkparse { 0.0051 } else { 0.00056 };

    // Half a unit of the last published digit, and a little for numbers that were rounded twice.
    let near = |name: &str, measured: f64, expected: Option<f64>, tolerance: f64| {
        let Some(expected) = expected else { return };
        assert!((measured - expected).abs() <= tolerance, "{}: {name} {measured}, not {expected}", published.file);
    };
    near("write %", write_percent, Some(published.write_percent), 0.056);
    near("read KiB", kib(summary.mean_read_bytes), published.read_kib, kib_half_digit);
    near("write KiB", kib(summary.mean_write_bytes), published.write_kib, kib_half_digit);
    near("footprint", gib(summary.footprint_bytes), Some(published.footprint_gib), gib_half_digit);
    near("written footprint", gib(summary.written_footprint_bytes), published.written_gib, 0.00056);
    if let Some((expected, half_digit)) = published.rewrite {
        near("rewrite", summary.rewrite_ratio, Some(expected), half_digit * 1.1);
    }
    near(
        "sequential %",
        summary.sequential_share * 100.0,
        published.sequential_percent,
        if is_coarse { 0.51 } else { 0.056 },
    );
    near(
        "duration",
        duration_s,
        Some(published.duration_s),
        published.duration_s * if is_coarse { 0.02 } else { 0.005 },
    );
}
