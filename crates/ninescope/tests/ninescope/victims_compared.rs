//! The comparison of victim policies in docs/comparisons/victims.md: what its sweep measured is what closed forms say, where there
//! are any, and the page shows both.

use std::fs;
use std::path::Path;

use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_oracles::write_amplification as oracle;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/comparisons");
/// Units of a block group.
const UNITS: u32 = 128;
/// Block groups of a pool, and those among them that hold data or garbage: two or three are free, two are open and count half.
const GROUPS: f64 = 256.0;
const CANDIDATES: f64 = 252.5;
const SPARE_FACTOR: f64 = 1.28 * CANDIDATES / GROUPS;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(PAGES).join(name)).expect(name)
}

/// Rows of the kept numbers, each by the names of its columns.
fn rows() -> Vec<Vec<(String, String)>> {
    let text = text("victims.csv");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heads = lines.next().expect("a line of names");
    lines.map(|row| heads.iter().cloned().zip(row).collect()).collect()
}

fn cell<'a>(row: &'a [(String, String)], column: &str) -> &'a str {
    &row.iter().find(|(name, _)| name == column).expect(column).1
}

/// The mean write amplification over the seeds.
fn measured(workload: &str, victim: &str) -> f64 {
    let rows = rows();
    let of = rows.iter().filter(|row| cell(row, "workload") == workload && cell(row, "ftl.victim") == victim);
    let found: Vec<f64> = of.map(|row| cell(row, "waf_total").parse().expect("a number")).collect();
    assert_eq!(found.len(), 3, "{workload}, {victim}: seeds");
    found.iter().sum::<f64>() / found.len() as f64
}

#[test]
fn every_policy_is_compared() {
    for (victim, _) in VictimSelectionConfig::LIST {
        for workload in ["uniform", "nine of ten to a tenth", "prxy_0"] {
            assert!(measured(workload, victim) > 1.0);
        }
    }
}

#[test]
fn measured_means_are_what_closed_forms_say() {
    let class = |write_share, data_share| oracle::TrafficClass { write_share, data_share };
    let page = text("victims.md");
    for (name, workload, victim, expected) in [
        ("`greedy`", "uniform", "greedy", oracle::greedy(SPARE_FACTOR, UNITS)),
        ("`fifo`", "uniform", "fifo", oracle::fifo(SPARE_FACTOR)),
        ("`random`", "uniform", "random", oracle::random(SPARE_FACTOR)),
        ("`random-invalid`", "uniform", "random-invalid", oracle::random_invalid(SPARE_FACTOR, UNITS)),
        ("`d-choices`", "uniform", "d-choices", oracle::d_choices(SPARE_FACTOR, UNITS, 10)),
        (
            "`windowed-greedy`",
            "uniform",
            "windowed-greedy",
            oracle::windowed_greedy(SPARE_FACTOR, UNITS, 64.0 / CANDIDATES),
        ),
        ("`second-chance`", "uniform", "second-chance", oracle::second_chance(SPARE_FACTOR, UNITS, 0.75)),
        (
            "`fifo`, the hot tenth",
            "nine of ten to a tenth",
            "fifo",
            oracle::fifo_hot_cold(SPARE_FACTOR, &[class(0.9, 0.1), class(0.1, 0.9)]),
        ),
    ] {
        let mean = measured(workload, victim);
        assert!((mean / expected - 1.0).abs() < 0.02, "{workload}, {victim}: {mean}, and {expected} in the limit");
        let row = format!("| {name} | {mean:.3} | {expected:.3} |\n");
        assert!(page.contains(&row), "the page has not got this row:\n{row}");
    }
}
