//! What suspensions do to the life of the drive: how often each erase was suspended, how often that was more than
//! it bears, and what this adds to the bit errors of its block.

use ninescope_kernel::Ns;

/// Erases suspended more often than this are counted together.
const SUSPENSIONS_MAX: usize = 256;

/// The ledger of all erases since measuring began.
#[derive(Clone, Debug)]
pub struct SuspensionLedger {
    /// `counts[s]`: erases that were suspended `s` times; the last entry holds those with more [count].
    counts: Vec<u64>,
    sum: u64,
    most: u32,
    over_limit: u64,
    excess_sum: u64,
    added_rber_sum: f64,
    added_rber_max: f64,
    lost_ns: u64,
    took_sum: u128,
    took_max: Ns,
}

impl Default for SuspensionLedger {
    fn default() -> Self {
        Self {
            counts: vec![0; SUSPENSIONS_MAX + 1],
            sum: 0,
            most: 0,
            over_limit: 0,
            excess_sum: 0,
            added_rber_sum: 0.0,
            added_rber_max: 0.0,
            lost_ns: 0,
            took_sum: 0,
            took_max: Ns::ZERO,
        }
    }
}

impl SuspensionLedger {
    /// An erase ended that had been suspended so often, `excess` times more than it bears, at the price of
    /// `added_rber` [bit errors per bit]; it `took` so long from its first pulse to its end [ns].
    #[inline]
    pub fn record(&mut self, suspensions: u32, excess: u32, added_rber: f64, took: Ns) {
        self.counts[(suspensions as usize).min(SUSPENSIONS_MAX)] += 1;
        self.took_sum += u128::from(took.0);
        self.took_max = self.took_max.max(took);
        if suspensions == 0 {
            return;
        }
        self.sum += u64::from(suspensions);
        self.most = self.most.max(suspensions);
        self.over_limit += u64::from(excess > 0);
        self.excess_sum += u64::from(excess);
        self.added_rber_sum += added_rber;
        self.added_rber_max = self.added_rber_max.max(added_rber);
    }

    /// A loop was stopped that has to begin anew: so much pulse time is lost [ns].
    #[inline]
    pub fn record_lost(&mut self, lost_ns: u64) {
        self.lost_ns += lost_ns;
    }

    /// Erases that ended [count].
    pub fn erases(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Those that were suspended at least once [count].
    pub fn suspended(&self) -> u64 {
        self.erases() - self.counts[0]
    }

    /// Suspensions of all of them [count].
    pub fn suspensions(&self) -> u64 {
        self.sum
    }

    /// Suspensions of the one that had most [count].
    pub fn most(&self) -> u32 {
        self.most
    }

    /// `(suspensions, erases)` where there are any; the last entry possible stands for more, too.
    pub fn histogram(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|&(_, erases)| erases > 0)
    }

    /// Erases suspended more often than they bear [count].
    pub fn over_limit(&self) -> u64 {
        self.over_limit
    }

    /// Suspensions beyond what erases bear [count].
    pub fn excess(&self) -> u64 {
        self.excess_sum
    }

    /// What an erase added to the bit error rate of its block on average, and at most [bit errors per bit].
    pub fn added_rber(&self) -> (f64, f64) {
        (self.added_rber_sum / self.erases().max(1) as f64, self.added_rber_max)
    }

    /// How long erases took from first pulse to end, with their suspensions: on average, and the longest [ns].
    pub fn took_ns(&self) -> (f64, u64) {
        (self.took_sum as f64 / self.erases().max(1) as f64, self.took_max.0)
    }

    /// Pulse time of loops that began anew [ns].
    pub fn lost_ns(&self) -> u64 {
        self.lost_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_erase_is_counted_once_and_excess_by_its_size() {
        let mut ledger = SuspensionLedger::default();
        for (suspensions, excess, added) in [(0, 0, 0.0), (0, 0, 0.0), (3, 0, 0.0), (40, 10, 1e-4), (1_000, 970, 1e-2)]
        {
            ledger.record(suspensions, excess, added, Ns(1_000 + u64::from(suspensions)));
        }
        assert_eq!((ledger.erases(), ledger.suspended(), ledger.suspensions(), ledger.most()), (5, 3, 1_043, 1_000));
        assert_eq!((ledger.over_limit(), ledger.excess()), (2, 980));
        assert!(ledger.histogram().eq([(0, 2), (3, 1), (40, 1), (SUSPENSIONS_MAX, 1)]));
        assert_eq!(ledger.took_ns(), (1_000.0 + 1_043.0 / 5.0, 2_000));
        let (mean, most) = ledger.added_rber();
        assert!((mean - 1.01e-2 / 5.0).abs() < 1e-15 && (most - 1e-2).abs() < 1e-15);
    }
}
