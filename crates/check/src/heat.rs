//! How warm a drive is: what it draws is laid out anew in windows from the start of the run, followed by the law itself in floating point,
//! and the steps of the throttle are held to that.

use ninescope_engine::{HeatConfig, HeatSeen, ThrottleTimes, View};
use ninescope_kernel::Ns;

use crate::rule::{Checked, require};

/// The checker's own account.
#[derive(Debug)]
pub struct HeatBook {
    config: HeatConfig,
    /// Of the way to where it goes, what is gone in a window.
    gone: f64,
    /// Up to which the device, which counts in whole numbers, may differ [K].
    tolerance: f64,
    /// All that was drawn until then is known, and how much of it in the present window [fJ].
    until: Ns,
    drawn: u128,
    ends: Ns,
    /// At the end of the last one [C].
    celsius: f64,
    step: usize,
    /// Since when it is that, and since when that counts.
    changed: Ns,
    since: Ns,
    /// As the device said last.
    told: usize,
    begun: u64,
    times: Vec<ThrottleTimes>,
    highest: (f64, Ns),
    /// Where it was warmer than all before by more than the device may differ, and when it was so the last time but one, and last.
    rise: (f64, [Ns; 2]),
    /// The means of windows, in sum, and how many they are.
    means: f64,
    over: u64,
}

impl HeatBook {
    /// Of a drive that warms itself, if it is one.
    pub fn started(config: Option<&HeatConfig>) -> Option<Self> {
        let config = config?.clone();
        let gone = gone_in(config.window.0 as f64 / config.time_constant.0 as f64);
        let celsius = config.begins_at as f64 / 1e6;
        Some(Self {
            gone,
            tolerance: 1e-9 + 1e-11 / gone,
            until: Ns::ZERO,
            drawn: 0,
            ends: config.window,
            celsius,
            step: 0,
            changed: Ns::ZERO,
            since: Ns::ZERO,
            told: 0,
            begun: 0,
            times: vec![ThrottleTimes::default(); config.throttle.len()],
            highest: (celsius, Ns::ZERO),
            rise: (celsius, [Ns::ZERO; 2]),
            means: 0.0,
            over: 0,
            config,
        })
    }

    /// Whether it may have less power while it is hot.
    pub fn has_throttle(&self) -> bool {
        !self.config.throttle.is_empty()
    }

    /// Steps of the throttle that are in force.
    pub fn step(&self) -> usize {
        self.step
    }

    /// What may be drawn because of that [uW].
    pub fn cap(&self) -> Option<u64> {
        self.step.checked_sub(1).map(|step| self.config.throttle[step].cap)
    }

    // ---- time --------------------------------------------------------------------------------------

    /// An energy is taken at once [fJ].
    pub fn takes(&mut self, energy: u128) {
        self.drawn += energy;
    }

    /// Time has come this far, of which `drawn` says what was drawn between two times [fJ], and from `steady` on always as much. While
    /// dies wait, the device is to say when they have more power, or less.
    pub fn passes(&mut self, view: &View<'_>, drawn: impl Fn(Ns, Ns) -> u128, steady: Ns, dies_wait: bool) -> Checked {
        let now = view.now;
        while self.until < now {
            let until = self.ends.min(now);
            let from = std::mem::replace(&mut self.until, until);
            let is_whole = self.drawn == 0 && until - from == self.config.window;
            self.drawn += drawn(from, until);
            if until < self.ends {
                break;
            }
            let (before, step) = (self.celsius, self.step);
            self.window_ends(view);
            require!(
                step == self.step || !dies_wait || until == now,
                Heat,
                now,
                "dies wait for power in step {step} of the throttle, and nobody says that it is step {} since {until}",
                self.step
            );
            // Whatever else is like it changes nothing any more.
            if is_whole && from >= steady && before.to_bits() == self.celsius.to_bits() && step == self.step {
                self.alike((now - self.until).0 / self.config.window.0);
            }
        }
        Ok(())
    }

    fn window_ends(&mut self, view: &View<'_>) {
        let window = self.config.window;
        let watts = std::mem::take(&mut self.drawn) as f64 / window.0 as f64 / 1e6;
        let target = self.config.ambient as f64 / 1e6 + watts * self.config.resistance as f64 / 1e6;
        let warmer = (target - self.celsius) * self.gone;
        self.means += target - warmer * self.config.time_constant.0 as f64 / window.0 as f64;
        self.over += 1;
        self.celsius += warmer;
        if self.celsius > self.highest.0 {
            self.highest = (self.celsius, self.ends);
            if self.celsius > self.rise.0 + self.tolerance {
                self.rise = (self.celsius, [self.rise.1[1], self.ends]);
            }
        }
        self.step_now(view);
        self.ends += window;
    }

    /// So many windows are as the last one was.
    fn alike(&mut self, count: u64) {
        let time = Ns(self.config.window.0 * count);
        (self.until, self.ends) = (self.until + time, self.ends + time);
        (self.over, self.means) = (self.over + count, self.means + self.celsius * count as f64);
    }

    fn step_now(&mut self, view: &View<'_>) {
        let (steps, celsius) = (&self.config.throttle, self.celsius);
        let is_warmer_than = |limit: i64| celsius > limit as f64 / 1e6;
        // Too near to tell: as the device says.
        let doubted = |limit: i64| (celsius - limit as f64 / 1e6).abs() < self.tolerance;
        let mut step = self.step;
        while steps.get(step).is_some_and(|next| is_warmer_than(next.above)) {
            step += 1;
        }
        while step > 0 && !is_warmer_than(steps[step - 1].until) {
            step -= 1;
        }
        if steps.iter().any(|step| doubted(step.above) || doubted(step.until)) {
            step = view.power.and_then(|power| power.heat(view.now)).map_or(step, |told| told.step);
        }
        if step != self.step {
            self.leave_step(self.ends);
            self.begun += u64::from(self.step == 0);
            if step > self.step {
                self.times[step - 1].entries += 1;
            }
            (self.step, self.changed) = (step, self.ends);
        }
    }

    fn leave_step(&mut self, at: Ns) {
        if self.step > 0 {
            self.times[self.step - 1].time += at - self.since;
        }
        self.since = at;
    }

    // ---- what the device says ----------------------------------------------------------------------

    /// It is in so many steps since then.
    pub fn said(&mut self, now: Ns, step: usize, since: Ns) -> Checked {
        require!(
            step != self.told && (step, since) == (self.step, self.changed),
            Heat,
            now,
            "it is in step {step} of the throttle since {since}; by what it drew it is in step {} since {}, {} C warm",
            self.step,
            self.changed,
            self.celsius
        );
        self.told = step;
        Ok(())
    }

    /// A die asks for power, or waits for it: what there is must be known.
    pub fn is_known(&self, now: Ns) -> Checked {
        require!(
            self.told == self.step,
            Heat,
            now,
            "dies ask for power in step {} of the throttle; by what it drew it is in step {} since {}, {} C warm",
            self.told,
            self.step,
            self.changed,
            self.celsius
        );
        Ok(())
    }

    /// Counts from now on.
    pub fn measuring_began(&mut self, now: Ns) {
        (self.since, self.begun) = (now, 0);
        self.times.fill(ThrottleTimes::default());
        (self.highest, self.rise) = ((self.celsius, now), (self.celsius, [now; 2]));
        (self.means, self.over) = (0.0, 0);
    }

    /// The run is over: the same is told.
    pub fn finished(&mut self, view: &View<'_>) -> Checked {
        let now = view.now;
        self.leave_step(now);
        let Some(told) = view.power.and_then(|power| power.heat(now)) else { return Ok(()) };
        let HeatSeen { celsius, highest, highest_at, mean, begun, ref times, step } = told;
        let own_mean = (self.over > 0).then(|| self.means / self.over as f64);
        let is_near = |told: f64, own: f64| (told - own).abs() <= self.tolerance;
        let is_same_mean = match (mean, own_mean) {
            (Some(told), Some(own)) => is_near(told, own),
            (told, own) => told.is_none() && own.is_none(),
        };
        // Of times at which it was as warm but for less than that, any will do.
        let is_same_time = highest_at == self.highest.1 || highest_at >= self.rise.1[0];
        require!(
            is_near(celsius, self.celsius) && is_near(highest, self.highest.0) && is_same_time && is_same_mean,
            Heat,
            now,
            "by what it drew it is {} C warm, at most {:?}, {own_mean:?} in the mean, and {told:?} is told",
            self.celsius,
            self.highest
        );
        let counted = view.counters.thermal_throttles;
        require!(
            (begun, counted, step) == (self.begun, self.begun, self.step) && *times == self.times,
            Heat,
            now,
            "it was throttled {} times, for {:?}; {told:?} is told, and {counted} times counted",
            self.begun,
            self.times
        );
        Ok(())
    }
}

/// `1 - exp(-time)`, by the series.
fn gone_in(time: f64) -> f64 {
    let parts = time.ceil().max(1.0);
    let part = time / parts;
    let (mut term, mut gone) = (part, 0.0);
    for number in 2..30 {
        gone += term;
        term *= -part / f64::from(number);
    }
    if time <= 1.0 {
        return gone;
    }
    let mut left = 1.0;
    for _ in 0..parts as u64 {
        left *= 1.0 - gone;
    }
    1.0 - left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e^-1 = 0.36787944117144233, e^-3 = 0.049787068367863944, e^-0.001 = 0.9990004998333750.
    #[test]
    fn the_series_is_the_exponential() {
        for (time, left) in [(1.0, 0.367_879_441_171_442_33), (3.0, 0.049_787_068_367_863_944), (0.0, 1.0)] {
            assert!((1.0 - gone_in(time) - left).abs() < 1e-15, "{time}");
        }
        assert!((gone_in(1e-3) - 9.995_001_666_250_085e-4).abs() < 1e-18);
        assert!(gone_in(1_000.0) <= 1.0 && gone_in(1_000.0) > 1.0 - 1e-15);
    }
}
