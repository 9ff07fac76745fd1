//! Drawing from weights and from quantiles.

use std::collections::BTreeMap;

use ninescope_kernel::RandomStream;

/// Buckets per power of two of a [`Spread`]: a value is kept to 1 in 128.
const SPREAD_BITS: u32 = 7;

/// Draws indices by weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Sums of the weights up to and with each index.
    sums: Vec<f64>,
}

impl Choice {
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums = weights.into_iter().map(|weight| {
            sum += weight;
            sum
        });
        Self { sums: sums.collect() }
    }

    /// The index at `unit`, from 0 to 1, of the weights; `None` if all are zero.
    #[inline]
    pub fn at(&self, unit: f64) -> Option<usize> {
        let total = self.sums.last().copied().filter(|&total| total > 0.0)?;
        let drawn = unit * total;
        Some(self.sums.partition_point(|&sum| sum <= drawn).min(self.sums.len() - 1))
    }

    /// An index; `None`, and no random number drawn, if there is none.
    #[inline]
    pub fn draw(&self, stream: &mut RandomStream) -> Option<usize> {
        if self.sums.is_empty() { None } else { self.at(stream.unit()) }
    }
}

/// Draws values by weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Weighted {
    values: Vec<u32>,
    choice: Choice,
}

impl Weighted {
    pub fn new(pairs: &[(u32, u64)]) -> Self {
        Self {
            values: pairs.iter().map(|&(value, _)| value).collect(),
            choice: Choice::new(pairs.iter().map(|&(_, weight)| weight as f64)),
        }
    }

    /// Whether a value is among them.
    #[inline]
    pub fn holds(&self, value: u32) -> bool {
        self.values.contains(&value)
    }

    /// The value at `unit`, from 0 to 1, of the weights; `None` if there is none.
    #[inline]
    pub fn at(&self, unit: f64) -> Option<u32> {
        self.choice.at(unit).map(|index| self.values[index])
    }

    /// A value; `None`, and no random number drawn, if there is none.
    #[inline]
    pub fn draw(&self, stream: &mut RandomStream) -> Option<u32> {
        if self.values.is_empty() { None } else { self.at(stream.unit()) }
    }
}

/// The value at `unit`, from 0 to 1, of quantiles at equal steps, least and greatest with them: evenly between two of
/// them, by ratio where that has a meaning, so that a long tail keeps its shape.
#[inline]
pub(super) fn from_quantiles(quantiles: &[u64], unit: f64) -> f64 {
    let position = unit * (quantiles.len() - 1) as f64;
    let index = position as usize;
    let share = position - index as f64;
    let (below, above) = (quantiles[index], quantiles[(index + 1).min(quantiles.len() - 1)]);
    let (low, high) = (below as f64, above as f64);
    if below == above {
        low
    } else if below == 0 {
        high * share
    } else {
        low * libm::pow(high / low, share)
    }
}

/// How values are spread, in memory that grows with the logarithm of their range.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    counts: BTreeMap<u64, u64>,
    min: u64,
    max: u64,
    pub total: u64,
    pub sum: f64,
}

impl Spread {
    pub fn add(&mut self, value: u64) {
        let dropped = u64::BITS.saturating_sub(value.leading_zeros() + SPREAD_BITS + 1);
        *self.counts.entry(value >> dropped << dropped).or_default() += 1;
        self.min = if self.total == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.total += 1;
        self.sum += value as f64;
    }

    /// `points` quantiles at equal steps; the first is the least, the last the greatest.
    pub fn quantiles(&self, points: usize) -> Vec<u64> {
        let mut buckets = self.counts.iter();
        let (mut below, mut value) = (0, self.min);
        let steps = points.saturating_sub(1).max(1) as u64;
        let mut quantiles: Vec<u64> = (0..steps)
            .map(|step| {
                let rank = self.total * step / steps;
                while below <= rank {
                    let Some((&bucket, &count)) = buckets.next() else { break };
                    (value, below) = (bucket, below + count);
                }
                value.clamp(self.min, self.max)
            })
            .collect();
        quantiles.push(self.max);
        quantiles
    }
}
