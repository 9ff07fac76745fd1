//! Rates measured at P/E cycles and retention times, as vendors and papers print them.
//!
//! Between rows and columns the logarithm of the rate changes linearly, in cycles as in time; beyond the edges of the
//! table it stays what it is there. Reads and suspensions are none of its columns.

use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorModel, ErrorModelParameters, Health, RBER_MAX};
use crate::ParameterError;

/// The most rows and the most columns: more is no table that somebody measured.
const LENGTH_MAX: usize = 1_000;

/// Rates by P/E cycles and retention time. The default rows are chosen: the default power law at these points, to
/// three digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    /// Retention times of the columns, ascending [ns].
    pub retention: Vec<Duration>,
    /// Rows, their cycles ascending.
    pub rows: Vec<TableRow>,
}

/// What was measured after so many P/E cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// P/E cycles [count].
    pub cycles: u32,
    /// Raw bit error rate at each retention time, above 0 and at most 0.5 [1/bit].
    pub rber: Vec<f64>,
}

impl Default for Table {
    fn default() -> Self {
        let row = |cycles, rber: [f64; 4]| TableRow { cycles, rber: rber.to_vec() };
        Self {
            retention: [0, 30, 90, 365].map(|days| Duration(days * 86_400_000_000_000)).to_vec(),
            rows: vec![
                row(0, [8.34e-5, 8.34e-5, 8.34e-5, 8.34e-5]),
                row(1_000, [8.79e-5, 8.92e-5, 1.41e-4, 5.68e-3]),
                row(3_000, [1.13e-4, 1.34e-4, 9.27e-4, 8.63e-2]),
            ],
        }
    }
}

impl ErrorModelParameters for Table {
    fn build(&self) -> Result<Box<dyn ErrorModel>, ParameterError> {
        Ok(Box::new(self.interpolated()?))
    }
}

impl Table {
    fn interpolated(&self) -> Result<LogTable, ParameterError> {
        let problem = |key, message: String| Err(ParameterError::new(key, message));
        let (columns, rows) = (self.retention.len(), self.rows.len());
        for (key, length) in [("retention", columns), ("rows", rows)] {
            if length == 0 || length > LENGTH_MAX {
                return problem(key, format!("has {length} entries, it needs 1 to {LENGTH_MAX}"));
            }
        }
        for (before, after) in self.retention.iter().zip(&self.retention[1..]) {
            if after <= before {
                return problem("retention", format!("has {after} after {before}: times must ascend"));
            }
        }
        for (before, after) in self.rows.iter().zip(&self.rows[1..]) {
            if after.cycles <= before.cycles {
                let message = format!("has {} cycles after {}: rows must ascend", after.cycles, before.cycles);
                return problem("rows", message);
            }
        }
        for TableRow { cycles, rber } in &self.rows {
            if rber.len() != columns {
                let message = format!("has {} rates at {cycles} cycles for {columns} retention times", rber.len());
                return problem("rows", message);
            }
            if let Some(rber) = rber.iter().find(|&&rber| !(rber > 0.0 && rber <= RBER_MAX)) {
                let message = format!("has rber {rber} at {cycles} cycles, it must be above 0 and at most {RBER_MAX}");
                return problem("rows", message);
            }
        }
        Ok(LogTable {
            cycles: self.rows.iter().map(|row| f64::from(row.cycles)).collect(),
            retention: self.retention.iter().map(|time| time.0 as f64).collect(),
            logarithms: self.rows.iter().flat_map(|row| row.rber.iter().map(|&rber| libm::log(rber))).collect(),
        })
    }
}

/// A table laid out for questions.
#[derive(Clone, Debug)]
pub(super) struct LogTable {
    /// Of the rows.
    cycles: Vec<f64>,
    /// Of the columns [ns].
    retention: Vec<f64>,
    /// Of the rates, row by row.
    logarithms: Vec<f64>,
}

/// Between which two of ascending points a value lies, and how far into that span, 0 to 1: beyond the edges at the edge.
pub fn place(points: &[f64], value: f64) -> (usize, usize, f64) {
    let after = points.partition_point(|&point| point <= value);
    let (low, high) = (after.saturating_sub(1), after.min(points.len() - 1));
    let span = points[high] - points[low];
    let into = if span > 0.0 { ((value - points[low]) / span).clamp(0.0, 1.0) } else { 0.0 };
    (low, high, into)
}

impl ErrorModel for LogTable {
    fn rber(&self, health: &Health) -> f64 {
        let (row, next_row, down) = place(&self.cycles, f64::from(health.cycles));
        let (column, next_column, right) = place(&self.retention, health.retention.0 as f64);
        let of_row = |row: usize| {
            let at = |column: usize| self.logarithms[row * self.retention.len() + column];
            at(column) * (1.0 - right) + at(next_column) * right
        };
        libm::exp(of_row(row) * (1.0 - down) + of_row(next_row) * down).min(RBER_MAX)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::Ns;

    use super::*;
    use crate::policies::error_model::power_law::PowerLaw;

    const DAY: u64 = 86_400_000_000_000;

    fn table(days: &[u64], rows: &[(u32, &[f64])]) -> Table {
        Table {
            retention: days.iter().map(|days| Duration(days * DAY)).collect(),
            rows: rows.iter().map(|(cycles, rber)| TableRow { cycles: *cycles, rber: rber.to_vec() }).collect(),
        }
    }

    fn health(cycles: u32, hours: u64) -> Health {
        Health { cycles, retention: Ns(hours * DAY / 24), ..Health::default() }
    }

    #[test]
    fn rates_hold_at_their_points_and_change_by_equal_factors_between_them() {
        let table = table(&[0, 10], &[(100, &[1e-6, 1e-4]), (300, &[1e-4, 1e-2])]).interpolated().expect("a table");
        for (health, expected) in [
            (health(100, 0), 1e-6),
            (health(300, 240), 1e-2),
            // Half way in time, half way in cycles: the geometric mean. Both: of all four.
            (health(100, 120), 1e-5),
            (health(200, 0), 1e-5),
            (health(200, 120), 1e-4),
            // A quarter of the way: 1e-6 x 100^(1/4).
            (health(150, 0), 3.162_277_660_168_379e-6),
            // Beyond the edges it stays.
            (health(0, 0), 1e-6),
            (health(9_999, 99_999), 1e-2),
        ] {
            let rber = table.rber(&health);
            assert!((rber / expected - 1.0).abs() < 1e-12, "{health:?}: {rber} for {expected}");
        }
    }

    #[test]
    fn one_row_and_one_column_are_a_constant() {
        let table = table(&[30], &[(3_000, &[2e-3])]).interpolated().expect("a table");
        for health in [health(0, 0), health(3_000, 720), health(u32::MAX, 99_999)] {
            assert!((table.rber(&health) / 2e-3 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_default_rows_are_the_default_power_law_to_three_digits() {
        let table = Table::default();
        for row in &table.rows {
            for (retention, rber) in table.retention.iter().zip(&row.rber) {
                let health = Health { cycles: row.cycles, retention: Ns(retention.0), ..Health::default() };
                let law = PowerLaw::default().rber(&health);
                assert!((rber / law - 1.0).abs() < 0.005, "{} cycles, {retention}: {rber} for {law}", row.cycles);
            }
        }
    }

    #[test]
    fn tables_without_a_meaning_name_their_key() {
        let good: &[f64] = &[1e-6, 1e-5];
        for (table, key, word) in [
            (table(&[], &[(0, &[])]), "retention", "0 entries"),
            (table(&[0, 1], &[]), "rows", "0 entries"),
            (table(&[1, 1], &[(0, good)]), "retention", "ascend"),
            (table(&[0, 1], &[(5, good), (5, good)]), "rows", "5 cycles after 5"),
            (table(&[0, 1], &[(0, good), (5, &[1e-6])]), "rows", "1 rates at 5 cycles for 2"),
            (table(&[0, 1], &[(7, &[1e-6, 0.0])]), "rows", "rber 0 at 7 cycles"),
            (table(&[0, 1], &[(7, &[1e-6, 0.6])]), "rows", "at most 0.5"),
            (table(&[0, 1], &[(7, &[f64::NAN, 0.1])]), "rows", "NaN"),
        ] {
            let error = table.interpolated().expect_err(key);
            assert!(error.key == key && error.message.contains(word), "{error}");
        }
    }
}
