//! Latency: percentiles, and the causes behind each band of them.

use ninescope_engine::meter::{Blocks, Histogram, OpMeter, Parts, bootstrap};
use ninescope_model::Cause;
use serde_json::{Map, Value, json};

/// Percentiles of results: name and parts per billion.
const PERCENTILES: [(&str, u64); 8] = [
    ("50", 500_000_000),
    ("90", 900_000_000),
    ("95", 950_000_000),
    ("99", 990_000_000),
    ("99.9", 999_000_000),
    ("99.99", 999_900_000),
    ("99.999", 999_990_000),
    ("99.9999", 999_999_000),
];

/// Ends of the attribution bands.
pub const BANDS: [(&str, u64); 8] = [
    ("p50", 500_000_000),
    ("p90", 900_000_000),
    ("p99", 990_000_000),
    ("p99.9", 999_000_000),
    ("p99.99", 999_900_000),
    ("p99.999", 999_990_000),
    ("p99.9999", 999_999_000),
    ("max", 1_000_000_000),
];

/// A percentile is trusted when at least this many samples lie beyond it.
const TAIL_SAMPLES_MIN: u128 = 10;

/// Count, extremes, mean and percentiles with what lies within 95 % of runs put together from blocks of this one;
/// percentiles with too few samples beyond them are listed.
pub fn summary(histogram: &Histogram, blocks: &Blocks) -> Value {
    let mut summary = summary_without_intervals(histogram);
    let parts = PERCENTILES.map(|(_, parts_per_billion)| parts_per_billion);
    let within = |bucket| Histogram::upper_bound(bucket).clamp(histogram.min(), histogram.max());
    let rows = if blocks.are_enough() { blocks.rows(histogram) } else { Vec::new() };
    let intervals = bootstrap(&rows, &parts);
    let named = PERCENTILES.iter().zip(intervals);
    let intervals: Map<String, Value> =
        named.map(|(&(name, _), (low, high))| (name.to_owned(), json!([within(low), within(high)]))).collect();
    summary["intervals_ns"] = Value::Object(intervals);
    summary
}

/// Count, extremes, mean and percentiles; those with too few samples beyond them are listed.
pub fn summary_without_intervals(histogram: &Histogram) -> Value {
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .map(|&(name, parts_per_billion)| (name.to_owned(), json!(histogram.percentile(parts_per_billion))))
        .collect();
    let insufficient: Vec<&str> = PERCENTILES
        .iter()
        .filter(|&&(_, parts_per_billion)| {
            u128::from(histogram.count()) * u128::from(1_000_000_000 - parts_per_billion)
                < TAIL_SAMPLES_MIN * 1_000_000_000
        })
        .map(|&(name, _)| name)
        .collect();
    json!({
        "count": histogram.count(),
        "min_ns": histogram.min(),
        "mean_ns": histogram.mean(),
        "max_ns": histogram.max(),
        "percentiles_ns": percentiles,
        "insufficient": insufficient,
    })
}

/// The mean parts of so many requests, largest first.
pub fn mean_parts(sums: &Parts, count: u64) -> Map<String, Value> {
    let mut parts: Vec<(Cause, u64)> = Cause::ALL.into_iter().map(|cause| (cause, sums.of(cause))).collect();
    parts.retain(|&(_, sum)| sum > 0);
    parts.sort_by_key(|&(cause, sum)| (std::cmp::Reverse(sum), cause));
    parts.into_iter().map(|(cause, sum)| (cause.name().to_owned(), json!(sum as f64 / count as f64))).collect()
}

/// The bands with requests in them, each with its mean parts, largest first.
pub fn attribution(meter: &OpMeter) -> Value {
    let bands = meter.attribution.bands(&meter.latency, &BANDS);
    let bands: Vec<Value> = bands
        .iter()
        .filter(|band| band.count > 0)
        .map(|band| {
            json!({
                "band": band.name,
                "count": band.count,
                "lower_ns": band.lower_ns,
                "upper_ns": band.upper_ns,
                "mean_ns": band.parts.total() as f64 / band.count as f64,
                "parts_ns": mean_parts(&band.parts, band.count),
            })
        })
        .collect();
    json!(bands)
}
