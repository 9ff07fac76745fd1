//! The statistics of a trace against theory and against the definition, computed the slow way.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::TemporaryFile;
use ninescope_kernel::RandomStream;
use ninescope_oracles::caches::{che_lru, king_lru, zipf};
use ninescope_traces::ReuseCurve;
use ninescope_traces::{TraceOptions, TraceStatistics};
use proptest::prelude::*;

/// One access of one page: (page, whether it writes).
fn trace_of(accesses: impl IntoIterator<Item = (u64, bool)>) -> String {
    accesses.into_iter().zip(0..).fold(String::new(), |mut text, ((page, is_write), time)| {
        let _ = writeln!(text, "{} 0 {} 8 {}", time * 1000, page * 8, u8::from(!is_write));
        text
    })
}

fn statistics(name: &str, content: &str, pages_max: usize) -> TraceStatistics {
    let file = TemporaryFile::new(name, content.as_bytes());
    TraceStatistics::scan_following(&file.0, &TraceOptions::default(), pages_max).expect("a good trace")
}

/// The hit ratio of a cache of so many pages.
fn hit_ratio(curve: &ReuseCurve, pages: u64) -> f64 {
    let found = curve.miss_ratio.iter().find(|&&(bytes, _)| bytes == pages * 4096);
    1.0 - found.expect("a size of the curve").1
}

/// Independent references by popularity.
fn references(popularity: &[f64], count: usize) -> Vec<u64> {
    let mut random = RandomStream::new(1, "test", "references");
    let mut sum = 0.0;
    let borders: Vec<f64> = popularity
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect();
    let mut draw = || {
        let drawn = random.unit();
        borders.partition_point(|&border| border < drawn).min(borders.len() - 1) as u64
    };
    (0..count).map(|_| draw()).collect()
}

#[test]
fn the_reuse_curve_is_kings_for_few_pages() {
    let popularity = zipf(6, 1.0);
    let accesses = references(&popularity, 400_000).into_iter().map(|page| (page, false));
    let curve = statistics("king", &trace_of(accesses), 1 << 20).reuse;
    for slots in 1..6 {
        let (measured, exact) = (hit_ratio(&curve, slots), king_lru(&popularity, slots as usize));
        assert!((measured - exact).abs() < 0.003, "{slots} slots: {measured}, not {exact}");
    }
}

#[test]
fn the_reuse_curve_is_ches_for_many_pages_also_from_a_sample() {
    let popularity = zipf(10_000, 0.8);
    let all = references(&popularity, 600_000);
    let text = trace_of(all.into_iter().map(|page| (page, page % 2 == 0)));
    for (pages_max, tolerance) in [(1 << 20, 0.012), (3_000, 0.035)] {
        let statistics = statistics("che", &text, pages_max);
        assert_eq!(statistics.page_sample.exact, pages_max > 10_000);
        assert!(statistics.page_sample.pages <= pages_max as u64);
        for slots in [64, 256, 1024, 4096] {
            let (measured, expected) = (hit_ratio(&statistics.reuse, slots), che_lru(&popularity, slots as usize));
            assert!(
                (measured - expected).abs() < tolerance,
                "{slots} slots of {pages_max}: {measured}, not {expected}"
            );
        }
    }
}

#[test]
fn a_sample_estimates_what_it_does_not_see() {
    let all = references(&zipf(20_000, 0.6), 300_000);
    let text = trace_of(all.into_iter().map(|page| (page, true)));
    let exact = statistics("exact", &text, 1 << 20);
    let sampled = statistics("sampled", &text, 4_000);
    assert!(exact.page_sample.exact && exact.page_sample.pages * 4096 == exact.summary.footprint_bytes);
    assert_eq!((sampled.page_sample.exact, sampled.page_sample.share), (false, 0.125));
    assert_eq!(sampled.summary, exact.summary, "the summary is never sampled");
    let near = |name: &str, one: f64, other: f64, tolerance: f64| {
        assert!((one - other).abs() <= tolerance * other, "{name}: {one}, not {other}");
    };
    let (one, other) = (&sampled.rewrite_interval, &exact.rewrite_interval);
    near("intervals", one.count as f64, other.count as f64, 0.1);
    near("median", one.p50_ns as f64, other.p50_ns as f64, 0.1);
    near("p90", one.p90_ns as f64, other.p90_ns as f64, 0.1);
    let tops = [&sampled, &exact].map(|found| found.top_1_percent_write_share.expect("writes"));
    near("top 1 %", tops[0], tops[1], 0.25);
}

proptest! {
    #[test]
    fn the_reuse_curve_is_that_of_a_list(accesses in prop::collection::vec((0_u64..60, any::<bool>()), 1..400)) {
        let curve = statistics("list", &trace_of(accesses.iter().copied()), 1 << 20).reuse;
        let (mut stack, mut depths): (Vec<u64>, BTreeMap<usize, u64>) = (Vec::new(), BTreeMap::new());
        for &(page, _) in &accesses {
            if let Some(depth) = stack.iter().position(|&other| other == page) {
                stack.remove(depth);
                *depths.entry(depth).or_default() += 1;
            }
            stack.insert(0, page);
        }
        prop_assert_eq!(curve.accesses, accesses.len() as u64);
        for &(bytes, miss_ratio) in &curve.miss_ratio {
            let hits: u64 = depths.range(..(bytes / 4096) as usize).map(|(_, hits)| hits).sum();
            let expected = (accesses.len() as u64 - hits) as f64 / accesses.len() as f64;
            prop_assert!((miss_ratio - expected).abs() < 1e-12);
        }
        prop_assert_eq!(curve.miss_ratio.last().map(|point| point.1), Some(curve.cold_share));
    }
}
