//! Whom somebody waited for who waited for a place among those that several holders have at a time: the drive's queue of
//! commands, the pages of its write buffer, the slots of a cache.
//!
//! Of such a wait each holder has the share that it held of all places taken meanwhile, places times time. The shares are
//! rounded so that they sum to the wait to the nanosecond: each is the difference of two sums that are rounded down.
//!
//! Knows nothing of what the places are.

use std::collections::VecDeque;

use ninescope_kernel::Ns;

/// What is remembered of the past, changes times holders [count]. A wait that began before that is shared out by what is.
pub const REMEMBERED: usize = 1 << 18;

/// Of one holder, up to a change and from it on.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Places times time up to it [ns].
    sum: u64,
    /// Places that it holds from then on [count].
    held: u32,
}

/// The places and who holds them.
#[derive(Debug)]
pub struct SharedPlaces {
    holders: usize,
    /// When something changed, the last time behind.
    times: VecDeque<Ns>,
    /// By change and holder.
    cells: VecDeque<Cell>,
}

impl SharedPlaces {
    /// Nobody holds any.
    pub fn new(holders: usize) -> Self {
        Self { holders, times: VecDeque::from([Ns::ZERO]), cells: vec![Cell::default(); holders].into() }
    }

    /// A holder takes another place now.
    pub fn taken(&mut self, now: Ns, holder: u16) {
        self.cell(now, holder).held += 1;
    }

    /// A holder leaves one.
    pub fn left(&mut self, now: Ns, holder: u16) {
        self.cell(now, holder).held -= 1;
    }

    /// The cell of a holder that changes now.
    fn cell(&mut self, now: Ns, holder: u16) -> &mut Cell {
        let holders = self.holders;
        let last = *self.times.back().expect("the first change");
        if last < now {
            if self.cells.len() + holders > REMEMBERED.max(2 * holders) {
                self.times.pop_front();
                self.cells.drain(..holders);
            }
            let from = self.cells.len() - holders;
            for holder in 0..holders {
                let Cell { sum, held } = self.cells[from + holder];
                self.cells.push_back(Cell { sum: sum + u64::from(held) * (now - last).0, held });
            }
            self.times.push_back(now);
        }
        let from = self.cells.len() - holders;
        &mut self.cells[from + holder as usize]
    }

    /// Places times time of a holder up to `at`, which is not before the change of that number.
    fn sum_at(&self, change: usize, holder: usize, at: Ns) -> u64 {
        let Cell { sum, held } = self.cells[change * self.holders + holder];
        sum + u64::from(held) * (at - self.times[change]).0
    }

    /// Of the times between `from` and `until` that are remembered: the last changes before each, and the times.
    fn span(&self, (from, until): (Ns, Ns)) -> [(usize, Ns); 2] {
        let from = from.max(self.times[0]);
        [from, until.max(from)].map(|at| (self.times.partition_point(|&change| change <= at) - 1, at))
    }

    /// Shares a wait of so much `time` between `from` and `until` out: tells each holder's part. Where nobody held a place, all of
    /// it is behind `own`.
    pub fn share(&self, span: (Ns, Ns), time: Ns, own: u16, tell: impl FnMut(usize, u64)) {
        Self::share_of(&[self].into_iter(), span, time, own, tell);
    }

    /// The same of several kinds of places that were waited for at a time.
    pub fn share_of<'a>(
        kinds: &(impl Iterator<Item = &'a Self> + Clone),
        span: (Ns, Ns),
        time: Ns,
        own: u16,
        mut tell: impl FnMut(usize, u64),
    ) {
        let held = |holder: usize| -> u64 {
            let of_kind = |places: &Self| {
                let [first, last] = places.span(span).map(|(change, at)| places.sum_at(change, holder, at));
                last - first
            };
            kinds.clone().map(of_kind).sum()
        };
        let holders = kinds.clone().map(|places| places.holders).max().unwrap_or_default();
        let all: u64 = (0..holders).map(held).sum();
        if all == 0 {
            return tell(own as usize, time.0);
        }
        let (mut sum, mut told) = (0_u128, 0);
        for holder in 0..holders {
            sum += u128::from(held(holder));
            let up_to = (sum * u128::from(time.0) / u128::from(all)) as u64;
            tell(holder, up_to - told);
            told = up_to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(places: &SharedPlaces, span: (u64, u64), time: u64) -> Vec<u64> {
        let mut parts = vec![0; places.holders];
        places.share((Ns(span.0), Ns(span.1)), Ns(time), 1, |holder, part| parts[holder] += part);
        parts
    }

    #[test]
    fn a_wait_is_shared_by_places_times_time() {
        let mut places = SharedPlaces::new(2);
        places.taken(Ns(0), 0);
        places.taken(Ns(0), 1);
        places.taken(Ns(10), 1);
        places.left(Ns(30), 0);
        // Until 10 one each; until 30 one and two; from then on the second alone.
        assert_eq!(shared(&places, (0, 10), 10), [5, 5]);
        // 15 and 25 of 40.
        assert_eq!(shared(&places, (5, 20), 30), [30 * 15 / 40, 30 - 30 * 15 / 40]);
        assert_eq!(shared(&places, (30, 40), 7), [0, 7]);
    }

    #[test]
    fn shares_sum_to_the_wait_and_a_wait_for_nobody_is_ones_own() {
        let mut places = SharedPlaces::new(3);
        assert_eq!(shared(&places, (0, 9), 9), [0, 9, 0]);
        (0..3).for_each(|holder| places.taken(Ns(9), holder));
        for time in 0..20 {
            assert_eq!(shared(&places, (9, 20), time).iter().sum::<u64>(), time);
        }
        assert_eq!(shared(&places, (9, 20), 20), [6, 7, 7]);
    }

    #[test]
    fn places_of_several_kinds_count_together() {
        let (mut down, mut up) = (SharedPlaces::new(2), SharedPlaces::new(2));
        down.taken(Ns(0), 0);
        down.taken(Ns(0), 0);
        up.taken(Ns(10), 1);
        let mut parts = [0; 2];
        // 40 of the first and 10 of the second.
        SharedPlaces::share_of(&[&down, &up].into_iter(), (Ns(0), Ns(20)), Ns(10), 1, |holder, time| {
            parts[holder] += time;
        });
        assert_eq!(parts, [8, 2]);
    }

    #[test]
    fn what_lies_too_far_back_is_shared_by_what_is_remembered() {
        let mut places = SharedPlaces::new(2);
        places.taken(Ns(1), 0);
        for at in 0..REMEMBERED as u64 {
            places.taken(Ns(10 + 2 * at), 1);
            places.left(Ns(11 + 2 * at), 1);
        }
        assert!(places.cells.len() <= REMEMBERED && places.times.len() * 2 == places.cells.len());
        assert_eq!(shared(&places, (0, 10 + 2 * REMEMBERED as u64), 90), [60, 30]);
    }
}
