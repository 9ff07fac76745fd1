//! What is drawn at a time, the window of time in which most was, and how warm that makes the drive.

use ninescope_kernel::Ns;

use super::Peak;
use super::heat::Heat;
use super::windows::{Over, Windows};

/// A power that rises and falls, and energies beside it that are taken in no time.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    power: u64,
    /// By how much it rises later, and when.
    to_come: Vec<(Ns, u64)>,
    /// Those since measuring began, and the one of them that is over in which most was drawn.
    windows: Windows,
    most: Option<Peak>,
    /// What it does to the drive, where that is followed.
    heat: Option<Heat>,
}

impl Draw {
    pub fn new(since: Ns, window: Ns, heat: Option<Heat>) -> Self {
        Self { power: 0, to_come: Vec::new(), windows: Windows::new(since, window), most: None, heat }
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
        self.windows.takes(energy);
        if let Some(heat) = &mut self.heat {
            heat.windows.takes(energy);
        }
    }

    pub fn begin_measuring(&mut self, now: Ns) {
        self.advance(now);
        (self.windows, self.most) = (Windows::new(now, self.windows.window()), None);
        if let Some(heat) = &mut self.heat {
            heat.begin_measuring(now);
        }
    }

    pub fn peak(&self, now: Ns) -> Option<Peak> {
        let mut seen = self.clone();
        seen.advance(now);
        let (since, window) = seen.windows.whole();
        let whole = Peak { since, window, energy: seen.windows.present() };
        seen.most.or((window > Ns::ZERO).then_some(whole))
    }

    /// How warm it is, all that was drawn until now being counted.
    pub fn heat(&mut self, now: Ns) -> Option<&mut Heat> {
        self.advance(now);
        self.heat.as_mut()
    }

    /// The same as it was when something was told last.
    pub fn heat_before(&self) -> Option<&Heat> {
        self.heat.as_ref()
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
        for over in self.windows.draw(self.power, until).into_iter().flatten() {
            self.over(over);
        }
        if let Some(heat) = &mut self.heat {
            heat.draw(self.power, until);
        }
    }

    /// Windows are over. Of several in which as much was drawn the first one counts.
    fn over(&mut self, Over { since, energy, .. }: Over) {
        if self.most.is_none_or(|most| energy > most.energy) {
            self.most = Some(Peak { since, window: self.windows.window(), energy });
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
            let (mut draw, mut stretches, mut taken, mut now) =
                (Draw::new(Ns::ZERO, Ns(window), None), vec![], vec![], 0);
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
        let mut draw = Draw::new(Ns(5), Ns(10), None);
        draw.rises(Ns(5), 3, Ns(9));
        draw.falls(Ns(1_000_009), 3);
        let peak = draw.peak(Ns(2_000_000)).expect("a window");
        assert_eq!(peak, Peak { since: Ns(15), window: Ns(10), energy: 30 });
        draw.begin_measuring(Ns(2_000_000));
        assert_eq!(draw.peak(Ns(2_000_000)), None);
    }
}
