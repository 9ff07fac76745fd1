//! How warm a drive is that warms itself, and in which step of its throttle that is: a resistance towards the air around it, and a time in
//! which it follows.
//!
//! From window to window a temperature goes `1 - exp(-window / time_constant)` of its way towards what the power of the window would bring
//! it to in the end. A power [uW] through a resistance [uK/W] is a temperature [pK]: all but that one share is whole numbers.

use ninescope_kernel::Ns;

use super::windows::{Over, Windows};

/// 2^56, of which shares are told.
const WHOLE: i128 = 1 << 56;
/// Picokelvins of a microkelvin.
const PICO: i128 = 1_000_000;
/// No power brings it further, however absurd: a billion kelvin [pK].
const HOTTEST: i128 = 1_000_000_000 * 1_000_000_000_000;

/// How warm a drive gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatConfig {
    /// The air around it [millionths of a degree Celsius].
    pub ambient: i64,
    /// How much warmer than that it gets by each watt in the end [uK/W].
    pub resistance: u64,
    /// In which it goes 63 % of the way there.
    pub time_constant: Ns,
    /// How warm it is when the run begins, as `ambient`.
    pub begins_at: i64,
    /// How often it is measured, from then on.
    pub window: Ns,
    /// Steps of its throttle, each warmer than the one before and with less power.
    pub throttle: Vec<ThrottleStep>,
}

/// A step of a throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleStep {
    /// It is in force when the drive was warmer than that [millionths of a degree Celsius].
    pub above: i64,
    /// Until it is as cool as that.
    pub until: i64,
    /// What is drawn at rest and by commands of dies that are under way is at most so much meanwhile [uW].
    pub cap: u64,
}

/// How often a drive came to a step of its throttle, and how long it was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleTimes {
    /// Times it came from a lower one, or from none.
    pub entries: u64,
    /// Time in it, and in none above.
    pub time: Ns,
}

/// How warm a drive was since measuring began, by the ends of windows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatSeen {
    /// At the end of the last one [C].
    pub celsius: f64,
    /// At most, and when.
    pub highest: f64,
    /// When it was.
    pub highest_at: Ns,
    /// In the mean over time; `None`: no window is over.
    pub mean: Option<f64>,
    /// Times it began to be throttled.
    pub begun: u64,
    /// By step.
    pub times: Vec<ThrottleTimes>,
    /// Steps that are in force.
    pub step: usize,
}

/// How far a drive is.
#[derive(Clone, Debug)]
pub(super) struct Heat {
    config: HeatConfig,
    pub windows: Windows,
    /// Of the way to the temperature that a power leads to, what is gone in a window.
    share: i128,
    /// How much warmer than the air it was at the end of the last window [pK].
    above_air: i128,
    /// Steps in force, since when that is so, and since when it counts.
    step: usize,
    changed: Ns,
    since: Ns,
    /// Steps as they were told.
    told: usize,
    times: Vec<ThrottleTimes>,
    begun: u64,
    /// Of them those that were counted.
    counted: u64,
    highest: (i128, Ns),
    /// Since measuring began: as warm as it was then, windows, and what was drawn in them [fJ].
    at_first: i128,
    over: u64,
    drawn: u128,
}

impl Heat {
    pub fn new(config: &HeatConfig) -> Self {
        let of_time = config.window.0 as f64 / config.time_constant.0 as f64;
        let above_air = i128::from(config.begins_at - config.ambient) * PICO;
        Self {
            windows: Windows::new(Ns::ZERO, config.window),
            share: (-libm::expm1(-of_time) * WHOLE as f64) as i128,
            above_air,
            step: 0,
            changed: Ns::ZERO,
            since: Ns::ZERO,
            told: 0,
            times: vec![ThrottleTimes::default(); config.throttle.len()],
            begun: 0,
            counted: 0,
            highest: (above_air, Ns::ZERO),
            at_first: above_air,
            over: 0,
            drawn: 0,
            config: config.clone(),
        }
    }

    /// As much is drawn until then.
    pub fn draw(&mut self, power: u64, until: Ns) {
        for over in self.windows.draw(power, until).into_iter().flatten() {
            self.over(over);
        }
    }

    fn over(&mut self, Over { since, count, energy }: Over) {
        (self.over, self.drawn) = (self.over + count, self.drawn + energy * u128::from(count));
        let (target, mut ends) = (self.leads_to(energy), since);
        for _ in 0..count {
            ends += self.config.window;
            let (before, step) = (self.above_air, self.step);
            self.above_air += ((target - before) * self.share + WHOLE / 2) >> 56;
            if self.above_air > self.highest.0 {
                self.highest = (self.above_air, ends);
            }
            self.step_now(ends);
            // Whatever else is like it changes nothing any more.
            if (before, step) == (self.above_air, self.step) {
                break;
            }
        }
    }

    /// How much warmer than the air it gets in the end if so much is drawn in each window [pK].
    fn leads_to(&self, energy: u128) -> i128 {
        let warmer = energy * u128::from(self.config.resistance) / u128::from(self.config.window.0);
        i128::try_from(warmer).unwrap_or(HOTTEST).min(HOTTEST)
    }

    /// Steps of the throttle begin and end with windows.
    fn step_now(&mut self, at: Ns) {
        let is_warmer_than = |celsius: i64| self.above_air > i128::from(celsius - self.config.ambient) * PICO;
        let steps = &self.config.throttle;
        let begun = steps.iter().take_while(|step| is_warmer_than(step.above)).count();
        let lasting = steps[..self.step].iter().take_while(|step| is_warmer_than(step.until)).count();
        let step = begun.max(lasting);
        if step == self.step {
            return;
        }
        self.leave_step(at);
        if step > self.step {
            self.times[step - 1].entries += 1;
            self.begun += u64::from(self.step == 0);
        }
        (self.step, self.changed) = (step, at);
    }

    /// What time the present step was in force belongs to it.
    fn leave_step(&mut self, at: Ns) {
        if self.step > 0 {
            self.times[self.step - 1].time += at.saturating_since(self.since);
        }
        self.since = at;
    }

    // ---- a throttle --------------------------------------------------------------------------------

    /// Steps that are in force, and since when.
    pub fn step(&self) -> (usize, Ns) {
        (self.step, self.changed)
    }

    /// What may be drawn because of them [uW]; `None`: any.
    pub fn cap(&self) -> Option<u64> {
        self.step.checked_sub(1).map(|step| self.config.throttle[step].cap)
    }

    /// Whether the step is another one than was told; it is told then.
    pub fn tell(&mut self) -> bool {
        std::mem::replace(&mut self.told, self.step) != self.step
    }

    /// Times it began to be throttled that were not counted yet.
    pub fn count(&mut self) -> u64 {
        self.begun - std::mem::replace(&mut self.counted, self.begun)
    }

    /// When it is measured next.
    pub fn measured_next(&self) -> Ns {
        self.windows.ends()
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// Counts from now on. The window under way counts as a whole.
    pub fn begin_measuring(&mut self, now: Ns) {
        (self.begun, self.counted, self.since) = (0, 0, now);
        self.times.fill(ThrottleTimes::default());
        self.highest = (self.above_air, now);
        (self.at_first, self.over, self.drawn) = (self.above_air, 0, 0);
    }

    pub fn seen(&self, now: Ns) -> HeatSeen {
        let mut until_now = self.clone();
        until_now.leave_step(now);
        let celsius = |above_air: f64| self.config.ambient as f64 / 1e6 + above_air / 1e12;
        HeatSeen {
            celsius: celsius(self.above_air as f64),
            highest: celsius(self.highest.0 as f64),
            highest_at: self.highest.1,
            mean: (self.over > 0).then(|| celsius(self.mean_above_air())),
            begun: self.begun,
            times: until_now.times,
            step: self.step,
        }
    }

    /// What was drawn and does not warm it has gone to the air, for which it had to be warmer: that says how much in the mean [pK].
    fn mean_above_air(&self) -> f64 {
        let time = self.over as f64 * self.config.window.0 as f64;
        let drawn = self.drawn as f64 * self.config.resistance as f64;
        let kept = (self.above_air - self.at_first) as f64 * self.config.time_constant.0 as f64;
        (drawn - kept) / time
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;

    /// Watts [uW].
    const W: u64 = 1_000_000;
    const WINDOW: u64 = 1_000;

    /// 10 K/W, in air of 20 C; steps above and until so many degrees.
    fn config(begins_at: i64, time_constant: u64, steps: &[(i64, i64)]) -> HeatConfig {
        let step =
            |&(above, until): &(i64, i64)| ThrottleStep { above: above * 1_000_000, until: until * 1_000_000, cap: W };
        HeatConfig {
            ambient: 20_000_000,
            resistance: 10_000_000,
            time_constant: Ns(time_constant),
            begins_at: begins_at * 1_000_000,
            window: Ns(WINDOW),
            throttle: steps.iter().map(step).collect(),
        }
    }

    #[test]
    fn each_window_goes_as_far_as_the_exponential_says() {
        for seed in 0..50 {
            let mut dice = RandomStream::new(seed, "test", "heat");
            let time_constant = 300 + dice.below(100_000);
            let mut heat = Heat::new(&config(dice.below(100).cast_signed(), time_constant, &[]));
            let (mut celsius, mut mean, mut now) = (heat.seen(Ns::ZERO).celsius, 0.0, 0);
            let left = libm::exp(-(WINDOW as f64) / time_constant as f64);
            for _ in 0..200 {
                // Two powers in each, and something at once.
                let (first, second, at_once) = (dice.below(9 * W), dice.below(9 * W), dice.below(W * WINDOW));
                let until = now + dice.below(WINDOW);
                heat.draw(first, Ns(until));
                heat.windows.takes(u128::from(at_once));
                let energy = first * (until - now) + at_once + second * (now + WINDOW - until);
                now += WINDOW;
                heat.draw(second, Ns(now));
                let leads_to = 20.0 + 10.0 * energy as f64 / WINDOW as f64 / 1e6;
                let next = leads_to + (celsius - leads_to) * left;
                mean += leads_to - (next - celsius) * time_constant as f64 / WINDOW as f64;
                celsius = next;
                let seen = heat.seen(Ns(now));
                assert!((seen.celsius - celsius).abs() < 1e-7, "seed {seed}: {seen:?}, not {celsius}");
            }
            let seen = heat.seen(Ns(now));
            assert!(seen.mean.is_some_and(|seen| (seen - mean / 200.0).abs() < 1e-6), "seed {seed}: {seen:?}");
        }
    }

    #[test]
    fn what_lasts_long_is_window_after_window() {
        for (begins_at, time_constant) in [(20, 5_000), (150, 5_000), (20, 500_000), (90, 900)] {
            let config = config(begins_at, time_constant, &[(60, 50), (65, 55)]);
            let (mut at_once, mut by_windows) = (Heat::new(&config), Heat::new(&config));
            let mut now = 0;
            for (power, windows) in [(5 * W, 3_000), (W, 2_000), (0, 1), (7 * W, 40_000)] {
                for window in 1..=windows {
                    by_windows.draw(power, Ns(now + window * WINDOW));
                }
                now += windows * WINDOW;
                at_once.draw(power, Ns(now));
                assert_eq!(at_once.seen(Ns(now)), by_windows.seen(Ns(now)));
                assert_eq!(at_once.above_air, by_windows.above_air);
            }
            // 7 W are 70 K.
            assert!((at_once.seen(Ns(now)).celsius - 90.0).abs() < 1e-6);
        }
    }

    /// Goes to where that power leads.
    fn settles(heat: &mut Heat, now: &mut u64, power: u64) -> usize {
        *now += 1_000 * WINDOW;
        heat.draw(power, Ns(*now));
        heat.step().0
    }

    #[test]
    fn a_step_lasts_until_it_is_cool_enough() {
        let mut heat = Heat::new(&config(20, 5_000, &[(62, 52), (82, 72)]));
        let mut now = 0;
        let mut step = |heat: &mut Heat, watts: u64| settles(heat, &mut now, watts * W);
        // Each watt is 10 degrees beyond 20.
        for (watts, expected) in [(4, 0), (5, 1), (4, 1), (7, 2), (6, 2), (5, 1), (4, 1), (9, 2), (0, 0), (9, 2)] {
            assert_eq!(step(&mut heat, watts), expected, "{watts} W");
        }
        // In the end it came to the second one by way of the first.
        assert_eq!(heat.seen(Ns(now)).times.iter().map(|times| times.entries).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(heat.count(), 2);
        assert_eq!(heat.count(), 0, "they were counted");
        assert!(heat.tell() && !heat.tell());
    }

    #[test]
    fn a_window_may_leave_out_a_step() {
        let mut heat = Heat::new(&config(20, 900, &[(30, 25), (40, 35)]));
        heat.draw(100 * W, Ns(WINDOW));
        assert_eq!(heat.step(), (2, Ns(WINDOW)));
        let times = heat.seen(Ns(3 * WINDOW)).times;
        assert_eq!(times, [(0, 0), (1, 2 * WINDOW)].map(|(entries, time)| ThrottleTimes { entries, time: Ns(time) }));
        heat.draw(0, Ns(20 * WINDOW));
        assert_eq!(heat.step().0, 0);
    }

    #[test]
    fn what_was_before_measuring_began_does_not_count() {
        let mut heat = Heat::new(&config(90, 5_000, &[(60, 50)]));
        heat.draw(0, Ns(2_500));
        assert_eq!((heat.count(), heat.step()), (1, (1, Ns(WINDOW))));
        heat.begin_measuring(Ns(2_500));
        let seen = heat.seen(Ns(2_700));
        assert_eq!((seen.begun, seen.highest, seen.highest_at, seen.mean), (0, seen.celsius, Ns(2_500), None));
        assert_eq!(seen.times, [ThrottleTimes { entries: 0, time: Ns(200) }]);
        // A power of nothing for a window has it cool: as warm in the mean as in between.
        heat.draw(0, Ns(3_000));
        let after = heat.seen(Ns(3_000));
        assert!(after.mean.is_some_and(|mean| mean < seen.celsius && mean > after.celsius), "{after:?}");
    }
}
