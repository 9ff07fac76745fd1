//! What is drawn at a time, and the window of time in which most was.

use ninescope_kernel::Ns;

use super::Peak;

/// A power that rises and falls, and energies beside it that are taken in no time.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    /// All that went before is in the windows.
    until: Ns,
    power: u64,
    /// By how much it rises later, and when.
    to_come: Vec<(Ns, u64)>,
    /// When the first window began, and how long each is.
    since: Ns,
    window: Ns,
    /// What was drawn in the present one [fJ].
    in_window: u128,
    most: Option<Peak>,
}

impl Draw {
    pub fn new(since: Ns, window: Ns) -> Self {
        Self { until: since, power: 0, to_come: Vec::new(), since, window, in_window: 0, most: None }
    }

    /// From a time on that has not passed more is drawn.
    pub fn rises(&mut self, now: Ns, power: u64, at: Ns) {
        self.advance(now);
        if at > now { self.to_come.push((at, power)) } else { self.power += power }
    }

    /// Less is drawn, of what has risen.
    pub fn falls(&mut self, now: Ns, power: u64) {
        self.advance(now);
        self.power -= power;
    }

    /// An energy is taken in no time [fJ].
    pub fn takes(&mut self, now: Ns, energy: u128) {
        self.advance(now);
        self.in_window += energy;
    }

    pub fn begin_measuring(&mut self, now: Ns) {
        self.advance(now);
        *self = Self { power: self.power, to_come: std::mem::take(&mut self.to_come), ..Self::new(now, self.window) };
    }

    pub fn peak(&self, now: Ns) -> Option<Peak> {
        let mut seen = self.clone();
        seen.advance(now);
        let whole = Peak { since: seen.since, window: now - seen.since, energy: seen.in_window };
        seen.most.or((whole.window > Ns::ZERO).then_some(whole))
    }

    fn advance(&mut self, now: Ns) {
        while let Some(next) = (0..self.to_come.len()).min_by_key(|&index| self.to_come[index].0) {
            let (at, power) = self.to_come[next];
            if at > now {
                break;
            }
            self.draw_until(at);
            self.power += power;
            self.to_come.swap_remove(next);
        }
        self.draw_until(now);
    }

    /// As much is drawn until then.
    fn draw_until(&mut self, until: Ns) {
        let ends = |index: u64| self.since + Ns(self.window.0 * (index + 1));
        let index = |at: Ns| (at - self.since).0 / self.window.0;
        let (first, last) = (index(self.until), index(until));
        let energy = |from: Ns, until: Ns| u128::from(self.power) * u128::from((until - from).0);
        if first == last {
            self.in_window += energy(self.until, until);
        } else {
            let closed = self.in_window + energy(self.until, ends(first));
            let (of_window, left) = (energy(Ns::ZERO, self.window), energy(ends(last - 1), until));
            self.over(first, closed);
            // All between are alike.
            if last > first + 1 {
                self.over(first + 1, of_window);
            }
            self.in_window = left;
        }
        self.until = until;
    }

    /// A window is over. Of several in which as much was drawn the first one counts.
    fn over(&mut self, index: u64, energy: u128) {
        if self.most.is_none_or(|most| energy > most.energy) {
            let since = self.since + Ns(self.window.0 * index);
            self.most = Some(Peak { since, window: self.window, energy });
        }
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;

    /// The same from a list of everything that is drawn, nanosecond by nanosecond.
    fn naive(until: u64, window: u64, stretches: &[(u64, u64, u64)], taken: &[(u64, u64)]) -> Option<Peak> {
        let energy = |from: u64, to: u64| {
            let power = |at: u64| -> u64 {
                stretches.iter().filter(|(begin, end, _)| (*begin..*end).contains(&at)).map(|(.., power)| power).sum()
            };
            let lumps: u64 = taken.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, energy)| energy).sum();
            u128::from((from..to).map(power).sum::<u64>() + lumps)
        };
        let of = |index: u64| energy(index * window, (index + 1) * window);
        let most = (0..until / window).map(|index| (of(index), index)).rev().max_by_key(|(energy, _)| *energy);
        let taken_now: u64 = taken.iter().filter(|(at, _)| *at == until).map(|(_, energy)| energy).sum();
        let whole = || Peak { since: Ns::ZERO, window: Ns(until), energy: energy(0, until) + u128::from(taken_now) };
        let peak = |(energy, index)| Peak { since: Ns(index * window), window: Ns(window), energy };
        most.map(peak).or((until > 0).then(whole))
    }

    #[test]
    fn the_window_in_which_most_is_drawn_is_that_of_a_count_by_the_nanosecond() {
        for seed in 0..200 {
            let mut dice = RandomStream::new(seed, "test", "draw");
            let window = 1 + dice.below(40);
            let (mut draw, mut stretches, mut taken, mut now) = (Draw::new(Ns::ZERO, Ns(window)), vec![], vec![], 0);
            let mut ends: Vec<(u64, u64)> = Vec::new();
            for _ in 0..dice.below(30) {
                let next = now + dice.below(30);
                // Whatever ends before falls when it does.
                ends.sort_unstable();
                while ends.first().is_some_and(|(end, _)| *end <= next) {
                    let (end, power) = ends.remove(0);
                    draw.falls(Ns(end), power);
                }
                now = next;
                if dice.below(3) == 0 {
                    taken.push((now, dice.below(50)));
                    draw.takes(Ns(now), u128::from(taken[taken.len() - 1].1));
                } else {
                    let (begin, power) = (now + dice.below(20), 1 + dice.below(9));
                    let end = begin + dice.below(60);
                    stretches.push((begin, end, power));
                    ends.push((end, power));
                    draw.rises(Ns(now), power, Ns(begin));
                }
            }
            // A window that ends now is over; what is taken now belongs to the next one.
            assert_eq!(
                draw.peak(Ns(now)),
                naive(now, window, &stretches, &taken),
                "seed {seed}, until {now} by {window}"
            );
        }
    }

    #[test]
    fn what_is_drawn_for_long_is_one_window_like_the_others() {
        let mut draw = Draw::new(Ns(5), Ns(10));
        draw.rises(Ns(5), 3, Ns(9));
        draw.falls(Ns(1_000_009), 3);
        let peak = draw.peak(Ns(2_000_000)).expect("a window");
        assert_eq!(peak, Peak { since: Ns(15), window: Ns(10), energy: 30 });
        draw.begin_measuring(Ns(2_000_000));
        assert_eq!(draw.peak(Ns(2_000_000)), None);
    }
}
