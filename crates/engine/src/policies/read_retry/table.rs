//! A table of attempts: how many a page takes, by its P/E cycles and the age of its data.
//!
//! A drive that reads again goes through a list of reference voltages that its vendor put there. How far down the list the right
//! ones stand depends on how far the cells have drifted, and so on wear and age: "state-of-the-art approaches incur over 3 read
//! retries on average once the flash is aged to 3K P/E cycles" (Ye et al., "Achieving Near-Zero Read Retry for 3D NAND Flash Memory",
//! ASPLOS 2024, from its abstract). The table says which share of the pages that do not decode takes how many attempts; between
//! rows and columns shares change linearly, in cycles as in time, and with them the mean; beyond the edges they stay.

use ninescope_kernel::RandomStream;
use ninescope_media::health::place;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attempt, ReadRetry, ReadRetryParameters, Undecoded, check_count, check_share};

/// The most rows and the most columns: more is no table that somebody measured.
const LENGTH_MAX: usize = 1_000;
/// By how much shares may exceed 1 in sum: no binary fraction is 0.1.
const ROUNDING: f64 = 1e-9;

/// Shares by P/E cycles and retention time. The default rows are chosen, so that of old data after 3,000 cycles a page takes 3.35
/// attempts on average: over three, as the abstract says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    /// Retention times of the columns, ascending [ns].
    pub retention: Vec<Duration>,
    /// Rows, their cycles ascending.
    pub rows: Vec<SharesRow>,
}

/// What it takes after so many P/E cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharesRow {
    /// P/E cycles [count].
    pub cycles: u32,
    /// At each retention time: the first share of the pages takes one attempt, the second two, and so on; what they lack to 1 is not
    /// brought back.
    pub shares: Vec<Vec<f64>>,
}

impl Default for Table {
    fn default() -> Self {
        let row = |cycles, shares: [&[f64]; 3]| SharesRow { cycles, shares: shares.map(<[f64]>::to_vec).to_vec() };
        Self {
            retention: [0, 30, 365].map(|days| Duration(days * 86_400_000_000_000)).to_vec(),
            rows: vec![
                row(0, [&[1.0], &[0.9, 0.1], &[0.7, 0.3]]),
                row(1_000, [&[0.9, 0.1], &[0.6, 0.3, 0.1], &[0.3, 0.4, 0.2, 0.1]]),
                row(3_000, [&[0.6, 0.3, 0.1], &[0.2, 0.3, 0.3, 0.2], &[0.05, 0.15, 0.35, 0.3, 0.15]]),
            ],
        }
    }
}

impl ReadRetryParameters for Table {
    fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(LaidOut {
            cycles: self.rows.iter().map(|row| f64::from(row.cycles)).collect(),
            retention: self.retention.iter().map(|time| time.0 as f64).collect(),
            attempts: self.rows.iter().flat_map(|row| &row.shares).map(Vec::len).max().unwrap_or(0) as u32,
            shares: self.rows.iter().flat_map(|row| row.shares.clone()).collect(),
        }))
    }
}

impl Table {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let columns = self.retention.len();
        for (key, length) in [("retention", columns), ("rows", self.rows.len())] {
            if length == 0 || length > LENGTH_MAX {
                return Err((key, format!("has {length} entries, it needs 1 to {LENGTH_MAX}")));
            }
        }
        if let Some((before, after)) =
            self.retention.iter().zip(&self.retention[1..]).find(|(before, after)| after <= before)
        {
            return Err(("retention", format!("has {after} after {before}: times must ascend")));
        }
        let cycles: Vec<u32> = self.rows.iter().map(|row| row.cycles).collect();
        if let Some((before, after)) = cycles.iter().zip(&cycles[1..]).find(|(before, after)| after <= before) {
            let message = format!("has {after} cycles after {before}: rows must ascend");
            return Err(("rows", message));
        }
        for SharesRow { cycles, shares } in &self.rows {
            if shares.len() != columns {
                let message =
                    format!("has {} lists of shares at {cycles} cycles for {columns} retention times", shares.len());
                return Err(("rows", message));
            }
            for shares in shares {
                check_count("rows", shares.len())?;
                shares.iter().try_for_each(|&share| check_share("rows", share))?;
                let sum: f64 = shares.iter().sum();
                if sum > 1.0 + ROUNDING {
                    return Err(("rows", format!("has shares of {sum} in sum at {cycles} cycles, they are at most 1")));
                }
            }
        }
        Ok(())
    }
}

/// A table laid out for questions.
#[derive(Clone, Debug)]
struct LaidOut {
    /// Of the rows.
    cycles: Vec<f64>,
    /// Of the columns [ns].
    retention: Vec<f64>,
    /// Row by row.
    shares: Vec<Vec<f64>>,
    attempts: u32,
}

impl ReadRetry for LaidOut {
    fn attempts(&self) -> u32 {
        self.attempts
    }

    fn attempt(&self, attempt: u32, page: &Undecoded, stream: &mut RandomStream) -> Attempt {
        let (row, next_row, down) = place(&self.cycles, f64::from(page.cycles));
        let (column, next_column, right) = place(&self.retention, page.retention.0 as f64);
        let cells = [
            (row, column, (1.0 - down) * (1.0 - right)),
            (row, next_column, (1.0 - down) * right),
            (next_row, column, down * (1.0 - right)),
            (next_row, next_column, down * right),
        ];
        let of_attempt = |attempt: u32| -> f64 {
            let share =
                |row: usize, column: usize| self.shares[row * self.retention.len() + column].get(attempt as usize);
            cells.iter().map(|&(row, column, part)| part * share(row, column).copied().unwrap_or(0.0)).sum()
        };
        // Of those that took all attempts before in vain.
        let left = 1.0 - (0..attempt).map(of_attempt).sum::<f64>();
        let chance = if left > ROUNDING { of_attempt(attempt) / left } else { 0.0 };
        if stream.unit() < chance { Attempt::Decoded } else { Attempt::Failed(page.errors) }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::Ns;

    use super::*;

    const DAY: u64 = 86_400_000_000_000;

    fn table(days: &[u64], rows: &[(u32, &[&[f64]])]) -> Table {
        Table {
            retention: days.iter().map(|days| Duration(days * DAY)).collect(),
            rows: rows
                .iter()
                .map(|(cycles, shares)| SharesRow {
                    cycles: *cycles,
                    shares: shares.iter().map(|of| of.to_vec()).collect(),
                })
                .collect(),
        }
    }

    /// How many pages of `pages` took each number of attempts; behind those, how many were given up.
    fn counts(table: &Table, cycles: u32, days: u64, pages: u32) -> Vec<u32> {
        let policy = table.build().expect("a table");
        let mut stream = RandomStream::new(3, "test", "retries");
        let page = Undecoded { errors: 99, correctable: 8, cycles, retention: Ns(days * DAY) };
        let mut counts = vec![0; policy.attempts() as usize + 1];
        for _ in 0..pages {
            let decoded =
                (0..policy.attempts()).find(|&attempt| policy.attempt(attempt, &page, &mut stream) == Attempt::Decoded);
            counts[decoded.unwrap_or(policy.attempts()) as usize] += 1;
        }
        counts
    }

    #[track_caller]
    fn assert_shares(counts: &[u32], shares: &[f64]) {
        let pages = f64::from(counts.iter().sum::<u32>());
        assert_eq!(counts.len(), shares.len());
        for (&count, &share) in counts.iter().zip(shares) {
            let deviation = (pages * share * (1.0 - share)).sqrt();
            assert!((f64::from(count) - pages * share).abs() <= 4.0 * deviation, "{counts:?} for {shares:?}");
        }
    }

    #[test]
    fn pages_take_as_many_attempts_as_their_shares_say() {
        let one = table(&[0], &[(0, &[&[0.5, 0.3, 0.1]])]);
        assert_shares(&counts(&one, 0, 0, 100_000), &[0.5, 0.3, 0.1, 0.1]);
        assert_shares(&counts(&one, 9_999, 9_999, 100_000), &[0.5, 0.3, 0.1, 0.1]);
        // All are brought back by the last one.
        let all = table(&[0], &[(0, &[&[0.1, 0.2, 0.7]])]);
        assert_shares(&counts(&all, 0, 0, 100_000), &[0.1, 0.2, 0.7, 0.0]);
    }

    #[test]
    fn between_rows_and_columns_shares_change_linearly() {
        let four = table(&[0, 100], &[(0, &[&[1.0], &[0.0, 1.0]]), (1_000, &[&[0.0, 1.0], &[0.0, 0.0, 1.0]])]);
        assert_shares(&counts(&four, 0, 0, 10_000), &[1.0, 0.0, 0.0, 0.0]);
        assert_shares(&counts(&four, 0, 25, 100_000), &[0.75, 0.25, 0.0, 0.0]);
        assert_shares(&counts(&four, 500, 0, 100_000), &[0.5, 0.5, 0.0, 0.0]);
        // A quarter of the way in time and half of it in cycles: parts of 3/8, 1/8, 3/8, 1/8.
        assert_shares(&counts(&four, 500, 25, 100_000), &[0.375, 0.5, 0.125, 0.0]);
        assert_shares(&counts(&four, 2_000, 200, 10_000), &[0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_default_takes_over_three_attempts_after_3000_cycles_and_never_fewer_with_age_or_wear() {
        let default = Table::default();
        let mean =
            |shares: &[f64]| shares.iter().zip(1..).map(|(share, attempt)| share * f64::from(attempt)).sum::<f64>();
        let last = default.rows.last().expect("rows");
        assert_eq!(last.cycles, 3_000);
        assert!((mean(last.shares.last().expect("columns")) - 3.35).abs() < 1e-12);
        for (row, shares) in
            default.rows.iter().enumerate().flat_map(|(row, of)| of.shares.iter().map(move |of| (row, of)))
        {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "row {row}");
        }
        for row in &default.rows {
            assert!(row.shares.windows(2).all(|pair| mean(&pair[1]) > mean(&pair[0])));
        }
        for rows in default.rows.windows(2) {
            assert!(rows[0].shares.iter().zip(&rows[1].shares).all(|(young, worn)| mean(worn) > mean(young)));
        }
    }

    #[test]
    fn tables_without_a_meaning_name_their_key() {
        let good: &[f64] = &[0.5, 0.5];
        for (table, key, word) in [
            (table(&[], &[(0, &[])]), "retention", "0 entries"),
            (table(&[0], &[]), "rows", "0 entries"),
            (table(&[1, 1], &[(0, &[good, good])]), "retention", "ascend"),
            (table(&[0], &[(5, &[good]), (5, &[good])]), "rows", "5 cycles after 5"),
            (table(&[0, 1], &[(0, &[good])]), "rows", "1 lists of shares at 0 cycles for 2"),
            (table(&[0], &[(0, &[&[]])]), "rows", "one per attempt"),
            (table(&[0], &[(0, &[&[0.5, -0.1]])]), "rows", "-0.1"),
            (table(&[0], &[(7, &[&[0.6, 0.6]])]), "rows", "1.2 in sum at 7 cycles"),
            (table(&[0], &[(0, &[&[f64::NAN]])]), "rows", "NaN"),
        ] {
            let (named, message) = table.build().expect_err(key);
            assert!(named == key && message.contains(word), "{named} {message}");
        }
    }
}
