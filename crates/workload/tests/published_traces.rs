//! Summaries of real traces against the statistics published with them.
//!
//! The traces do not belong to this repository. Where they are absent the test says so and passes.

use std::path::{Path, PathBuf};

use ninescope_workload::{TraceFormat, TraceOptions, TraceSummary};

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
    sequential_percent: f64,
    duration_s: f64,
}

const DAY_S: f64 = 86_400.0;

#[rustfmt::skip]
const PUBLISHED: [Published; 9] = [
    Published { file: "msr/rsrch_1.csv.zst", format: TraceFormat::Msr, requests: 13_780, write_percent: 99.7, read_kib: Some(13.2), write_kib: Some(12.2), footprint_gib: 0.110, written_gib: Some(0.110), rewrite: Some((0.319, 0.0005)), sequential_percent: 1.3, duration_s: 6.67 * DAY_S },
    Published { file: "msr/wdev_1.csv.zst", format: TraceFormat::Msr, requests: 1_055, write_percent: 100.0, read_kib: None, write_kib: Some(5.1), footprint_gib: 0.0014, written_gib: Some(0.0014), rewrite: Some((0.728, 0.0005)), sequential_percent: 0.9, duration_s: 6.89 * DAY_S },
    Published { file: "msr/wdev_3.csv.zst", format: TraceFormat::Msr, requests: 682, write_percent: 98.4, read_kib: Some(63.3), write_kib: Some(4.4), footprint_gib: 0.0012, written_gib: None, rewrite: Some((0.905, 0.0005)), sequential_percent: 1.6, duration_s: 6.91 * DAY_S },
    Published { file: "msr/hm_0.window7016.csv.zst", format: TraceFormat::Msr, requests: 7_016, write_percent: 17.1, read_kib: Some(13.0), write_kib: Some(5.8), footprint_gib: 0.052, written_gib: Some(0.005), rewrite: Some((0.422, 0.0005)), sequential_percent: 4.5, duration_s: 148.0 },
    Published { file: "msr/hm_0.head1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 49.2, read_kib: Some(11.7), write_kib: Some(7.1), footprint_gib: 0.007, written_gib: None, rewrite: Some((0.493, 0.0005)), sequential_percent: 3.9, duration_s: 127.0 },
    Published { file: "msr/hm_0.writes1000.csv.zst", format: TraceFormat::Msr, requests: 1_000, write_percent: 100.0, read_kib: None, write_kib: Some(6.7), footprint_gib: 0.004, written_gib: None, rewrite: Some((0.48, 0.005)), sequential_percent: 1.5, duration_s: 190.0 },
    Published { file: "other/cloudPhysicsIO.vscsi.zst", format: TraceFormat::Vscsi, requests: 113_872, write_percent: 58.8, read_kib: Some(37.4), write_kib: Some(35.2), footprint_gib: 1.027, written_gib: Some(0.796), rewrite: Some((0.682, 0.0005)), sequential_percent: 26.0, duration_s: 7_200.0 },
    Published { file: "other/mqsim_tpcc-small.trace.zst", format: TraceFormat::MqSim, requests: 6_999, write_percent: 37.4, read_kib: Some(8.1), write_kib: Some(8.7), footprint_gib: 0.078, written_gib: Some(0.030), rewrite: Some((0.017, 0.0005)), sequential_percent: 0.1, duration_s: 0.136 },
    Published { file: "other/mqsim_wsrch-small.trace.zst", format: TraceFormat::MqSim, requests: 24_783, write_percent: 0.02, read_kib: Some(15.1), write_kib: Some(8.0), footprint_gib: 0.352, written_gib: None, rewrite: None, sequential_percent: 5.8, duration_s: 60.0 },
];

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
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
    assert_eq!((summary.skipped_lines, summary.trims), (0, 0), "{}", published.file);

    // Half a unit of the last published digit, and a little for numbers that were rounded twice.
    let near = |name: &str, measured: f64, expected: Option<f64>, tolerance: f64| {
        let Some(expected) = expected else { return };
        assert!((measured - expected).abs() <= tolerance, "{}: {name} {measured}, not {expected}", published.file);
    };
    near("write %", write_percent, Some(published.write_percent), 0.056);
    near("read KiB", kib(summary.mean_read_bytes), published.read_kib, 0.051);
    near("write KiB", kib(summary.mean_write_bytes), published.write_kib, 0.051);
    near("footprint", gib(summary.footprint_bytes), Some(published.footprint_gib), 0.00051);
    near("written footprint", gib(summary.written_footprint_bytes), published.written_gib, 0.00056);
    if let Some((expected, half_digit)) = published.rewrite {
        near("rewrite", summary.rewrite_ratio, Some(expected), half_digit * 1.1);
    }
    near("sequential %", summary.sequential_share * 100.0, Some(published.sequential_percent), 0.051);
    near("duration", duration_s, Some(published.duration_s), published.duration_s * 0.005);
}
