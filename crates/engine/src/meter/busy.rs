//! How busy resources were in a part of the run: what their busy times were at moments of it.

use ninescope_kernel::Ns;

/// The most moments; when a run outgrows them, every other one is dropped and they are twice as far apart from then on.
const MOMENTS: usize = 64;

/// Busy times of all resources since measuring began, after so many completions each.
#[derive(Clone, Debug)]
pub struct BusyMoments {
    /// Completions from one moment to the next.
    every: u64,
    count: u64,
    at: Vec<Ns>,
    /// The times of all resources at one moment after those at the one before [ns].
    times: Vec<u64>,
    resources: usize,
}

impl Default for BusyMoments {
    fn default() -> Self {
        Self { every: 1, count: 0, at: Vec::with_capacity(MOMENTS), times: Vec::new(), resources: 0 }
    }
}

impl BusyMoments {
    /// Counts a completion. Returns whether the busy times are to be noted.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.count += 1;
        self.count.is_multiple_of(self.every)
    }

    /// Notes the busy times at `now`: of as many resources, in the same order, each time.
    pub fn note(&mut self, now: Ns, resources: usize, times: impl Iterator<Item = u64>) {
        self.resources = resources;
        if self.times.capacity() == 0 {
            self.times.reserve_exact(resources * MOMENTS);
        }
        if self.at.len() == MOMENTS {
            for moment in 0..MOMENTS / 2 {
                let kept = 2 * moment + 1;
                self.at[moment] = self.at[kept];
                self.times.copy_within(kept * resources..(kept + 1) * resources, moment * resources);
            }
            self.at.truncate(MOMENTS / 2);
            self.times.truncate(MOMENTS / 2 * resources);
            self.every *= 2;
            if !self.count.is_multiple_of(self.every) {
                return;
            }
        }
        self.at.push(now);
        self.times.extend(times);
        debug_assert_eq!(self.times.len(), self.at.len() * resources, "as many resources each time");
    }

    /// How long each resource was busy from the first moment at `since` or later to the last one, and how long that is
    /// [ns]. `None`: no time passed.
    pub fn since(&self, since: Ns) -> Option<(u64, Vec<u64>)> {
        let first = self.at.partition_point(|&at| at < since);
        let last = self.at.len().checked_sub(1).filter(|&last| last > first)?;
        let of = |moment: usize| &self.times[moment * self.resources..(moment + 1) * self.resources];
        let elapsed = (self.at[last] - self.at[first]).0;
        let busy = of(last).iter().zip(of(first)).map(|(last, first)| last - first);
        (elapsed > 0).then(|| (elapsed, busy.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two resources: one is busy for the first half of a run and idle from then on, the other the reverse.
    #[test]
    fn a_part_of_the_run_has_its_own_busy_times() {
        for completions in [10_u64, 64, 65, 1_000, 100_000] {
            let (mut moments, half) = (BusyMoments::default(), completions * 5);
            for now in (1..=completions).map(|number| number * 10) {
                if moments.is_due() {
                    moments.note(Ns(now), 2, [now.min(half), now.saturating_sub(half)].into_iter());
                }
            }
            let (elapsed, busy) = moments.since(Ns(half + completions)).expect("time passed");
            assert_eq!(busy, [0, elapsed], "{completions}");
            assert!(elapsed >= completions * 3, "{completions}: {elapsed}");
            let (elapsed, busy) = moments.since(Ns(0)).expect("time passed");
            assert_eq!(busy.iter().sum::<u64>(), elapsed, "{completions}: one of them at any time");
            assert!(busy[0] > 0 && busy[1] > 0, "{completions}: {busy:?}");
        }
        assert_eq!(BusyMoments::default().since(Ns(0)), None);
    }
}
