//! Whether a measured window had settled: the drift of its write amplification, and its erases against its programs.
//!
//! The window is cut into tenths of what the host wrote, and a line is laid through the logarithms of their write
//! amplifications. The judgement is a function of what was written alone; `docs/results.md` says what it can see.

use ninescope_engine::meter::Written;
use serde::Serialize;

/// Pieces of a window that a line is laid through.
pub const BATCHES: usize = 10;
/// How often a window without drift may be called drifting.
pub const FALSE_ALARMS: f64 = 0.01;
/// A smaller change of write amplification over the window is none, however certain.
pub const LEAST_CHANGE: f64 = 0.01;
/// Rounds of block groups that each piece must have, so that bursts of moves do not show.
const ROUNDS_PER_BATCH: u64 = 2;
/// By how many rounds, beside [`LEAST_CHANGE`], erases may lag behind programs in a drive that has settled.
const ROUNDS_OF_SLACK: u64 = 2;
/// 97.5 % quantile of Student's t with `BATCHES - 2` degrees of freedom.
const T_OF_95: f64 = 2.306_004_135;

/// What can be said of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its write amplification drifts, or it lives on blocks that were free.
    NotSteady,
    /// Nothing of the kind shows.
    NoDriftShown,
    /// It is too short to tell.
    CannotBeTold,
}

/// How write amplification changed from the beginning of a window to its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The change by the line: 0.1 is 10 % more at the end.
    pub change: f64,
    /// Its 95 % interval: the lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How often a window without drift shows so much, by Student's t.
    pub p: f64,
}

/// The judgement of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steadiness {
    /// In a word.
    pub verdict: Verdict,
    /// In a sentence.
    pub words: String,
    /// The drift of write amplification; absent where the window is too short for it.
    pub drift: Option<Drift>,
    /// Write amplification of each tenth of the window, where `drift` is told.
    pub waf: Vec<f64>,
    /// Programmed in the window [B].
    pub programmed_bytes: u64,
    /// Erased in it [B].
    pub erased_bytes: u64,
}

impl Steadiness {
    /// Of a window given by what was written in each of its intervals. `round_bytes` is what fills one block group in each
    /// pool [B]: pools collect in step. `None` where nothing was programmed.
    pub fn of(intervals: &[Written], round_bytes: u64) -> Option<Self> {
        let mut all = Written::default();
        intervals.iter().for_each(|&one| all.add(one));
        if all.flash == 0 || all.host == 0 {
            return None;
        }
        let long_enough = all.flash >= ROUNDS_PER_BATCH * BATCHES as u64 * round_bytes;
        let waf = if long_enough { batches(intervals, all.host) } else { None };
        let drift = waf.as_deref().map(Drift::of);
        let (verdict, words) = judge(all, drift, round_bytes);
        let waf = waf.unwrap_or_default().into_iter().map(|(_, waf)| waf).collect();
        Some(Self { verdict, words, drift, waf, programmed_bytes: all.flash, erased_bytes: all.erased })
    }
}

fn judge(all: Written, drift: Option<Drift>, round_bytes: u64) -> (Verdict, String) {
    let slack = ROUNDS_OF_SLACK * round_bytes;
    let lag = all.flash.abs_diff(all.erased);
    if lag as f64 > slack as f64 + LEAST_CHANGE * all.flash as f64 {
        let erased = 100.0 * all.erased as f64 / all.flash as f64;
        let how = if all.erased < all.flash { "lives on blocks that were free" } else { "empties blocks" };
        return (Verdict::NotSteady, format!("the drive {how}: {erased:.0} % of what was programmed was erased"));
    }
    match drift {
        Some(drift) if drift.is_one() => (Verdict::NotSteady, drift.words()),
        Some(drift) => (Verdict::NoDriftShown, drift.words()),
        None => {
            let needed = ROUNDS_PER_BATCH * BATCHES as u64 * round_bytes;
            let share = 100.0 * all.flash as f64 / needed as f64;
            (Verdict::CannotBeTold, format!("too short: {share:.2} % of what must be programmed to see a drift"))
        }
    }
}

impl Drift {
    /// Through positions in the window, from 0 to 1, and write amplifications.
    fn of(batches: &[(f64, f64)]) -> Self {
        let count = batches.len() as f64;
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| batches.iter().map(value).sum::<f64>() / count;
        let log = |batch: &(f64, f64)| libm::log(batch.1);
        let (middle, level) = (mean(&|batch| batch.0), mean(&log));
        let spread = |left: &dyn Fn(&(f64, f64)) -> f64, right: &dyn Fn(&(f64, f64)) -> f64| -> f64 {
            batches.iter().map(|batch| left(batch) * right(batch)).sum()
        };
        let (place, height) = (|batch: &(f64, f64)| batch.0 - middle, |batch: &(f64, f64)| log(batch) - level);
        let squares = spread(&place, &place);
        let slope = spread(&place, &height) / squares;
        let rest = (spread(&height, &height) - slope * slope * squares).max(0.0);
        let degrees = count - 2.0;
        let error = libm::sqrt(rest / degrees / squares);
        let change = |slope: f64| libm::expm1(slope);
        let p = if slope == 0.0 { 1.0 } else { two_sided(slope.abs() / error, BATCHES as u32 - 2) };
        Self { change: change(slope), low: change(slope - T_OF_95 * error), high: change(slope + T_OF_95 * error), p }
    }

    /// Whether it is more than chance, and more than nothing.
    pub fn is_one(&self) -> bool {
        self.p < FALSE_ALARMS && self.change.abs() > LEAST_CHANGE
    }

    fn words(&self) -> String {
        let percent = |share: f64| format!("{:+.1}", 100.0 * share);
        let (low, high) = (percent(self.low), percent(self.high));
        if self.is_one() {
            let how = if self.change > 0.0 { "rises" } else { "falls" };
            let by = 100.0 * self.change.abs();
            return format!("WAF {how} by {by:.1} % over the window (95 %: {low} to {high} %)");
        }
        format!("no drift of WAF shown: {} % over the window (95 %: {low} to {high} %)", percent(self.change))
    }
}

/// The middle and the write amplification of each tenth of what the host wrote. An interval belongs to the tenth that its
/// middle lies in. `None` where one has none.
fn batches(intervals: &[Written], host: u64) -> Option<Vec<(f64, f64)>> {
    let mut sums = [Written::default(); BATCHES];
    let mut before = 0_u64;
    for interval in intervals {
        let middle = (before as f64 + interval.host as f64 / 2.0) / host as f64;
        sums[((middle * BATCHES as f64) as usize).min(BATCHES - 1)].add(*interval);
        before += interval.host;
    }
    let mut before = 0.0;
    let mut batch = |sum: &Written| {
        let share = sum.host as f64 / host as f64;
        before += share;
        let is_one = sum.host > 0 && sum.flash > 0;
        is_one.then(|| (before - share / 2.0, sum.flash as f64 / sum.host as f64))
    };
    sums.iter().map(&mut batch).collect()
}

/// How often Student's t of an even number of degrees of freedom is so far from zero (Abramowitz and Stegun, 26.7.4).
fn two_sided(t: f64, degrees: u32) -> f64 {
    if !t.is_finite() {
        return 0.0;
    }
    let degrees_of_freedom = f64::from(degrees);
    let sine = t / libm::sqrt(degrees_of_freedom + t * t);
    let cosine_squared = 1.0 - sine * sine;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..degrees / 2 {
        term *= f64::from(2 * k - 1) / f64::from(2 * k) * cosine_squared;
        sum += term;
    }
    (1.0 - sine * sum).max(0.0)
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;

    const ROUND: u64 = 1_000;

    /// A window of 200 intervals whose write amplification is `level(position, noise)`, noise standard normal.
    fn window(seed: u64, level: impl Fn(f64, f64) -> f64) -> Steadiness {
        let mut stream = RandomStream::new(seed, "steadiness", "noise");
        // The sum of twelve uniform numbers has variance 1.
        let mut noise = || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
        let host = 100_000_u64;
        let intervals: Vec<Written> = (0..200)
            .map(|index| {
                let flash = (host as f64 * level(f64::from(index) / 200.0, noise())) as u64;
                Written { host, flash, erased: flash }
            })
            .collect();
        Steadiness::of(&intervals, ROUND).expect("something was written")
    }

    #[test]
    fn the_tail_of_students_t_is_that_of_the_tables() {
        // Two-sided 5 % and 1 % points of 8 and of 2 degrees of freedom.
        for (t, degrees, p) in [(2.306_004, 8, 0.05), (3.355_387, 8, 0.01), (4.302_653, 2, 0.05), (9.924_843, 2, 0.01)] {
            assert!((two_sided(t, degrees) - p).abs() < 1e-6, "t {t}, {degrees} degrees");
        }
    }

    #[test]
    fn windows_without_drift_are_called_drifting_as_seldom_as_promised() {
        const WINDOWS: u64 = 20_000;
        let small = (0..WINDOWS).filter(|&seed| window(seed, |_, noise| 2.5 + 0.5 * noise).drift.expect("long").p < FALSE_ALARMS);
        let expected = WINDOWS as f64 * FALSE_ALARMS;
        // Four standard deviations of a binomial count.
        let most = 4.0 * (expected * (1.0 - FALSE_ALARMS)).sqrt();
        assert!((small.count() as f64 - expected).abs() < most);
    }

    #[test]
    fn a_drift_is_seen_with_its_direction_and_size() {
        let rising = window(1, |position, noise| 2.5 * (1.0 + 0.1 * position) + 0.05 * noise);
        assert_eq!(rising.verdict, Verdict::NotSteady);
        let drift = rising.drift.expect("a long window");
        assert!(drift.low < 0.1 && 0.1 < drift.high && drift.high - drift.low < 0.03, "{drift:?}");
        assert!(rising.words.starts_with("WAF rises by "), "{}", rising.words);
        let falling = window(1, |position, noise| 2.5 * (1.0 - 0.1 * position) + 0.05 * noise);
        assert!(falling.words.starts_with("WAF falls by "), "{}", falling.words);
        // Certain, and of no account.
        let slightly = window(1, |position, _| 2.5 * (1.0 + 0.005 * position));
        assert!(slightly.drift.expect("long").p < 1e-6);
        assert_eq!(slightly.verdict, Verdict::NoDriftShown);
    }

    #[test]
    fn a_drive_that_lives_on_free_blocks_is_not_steady_though_nothing_drifts() {
        let fresh = vec![Written { host: 1_000, flash: 1_000, erased: 0 }; 100];
        let told = Steadiness::of(&fresh, ROUND).expect("written");
        assert_eq!((told.verdict, told.drift.map(|drift| drift.change)), (Verdict::NotSteady, Some(0.0)));
        assert!(told.words.contains("lives on blocks that were free: 0 %"), "{}", told.words);
        let worn_in = vec![Written { host: 1_000, flash: 1_000, erased: 1_000 }; 100];
        assert_eq!(Steadiness::of(&worn_in, ROUND).map(|told| told.verdict), Some(Verdict::NoDriftShown));
    }

    #[test]
    fn what_is_too_short_is_not_judged() {
        let short = vec![Written { host: 190, flash: 190, erased: 0 }; 10];
        let told = Steadiness::of(&short, ROUND).expect("written");
        assert_eq!((told.verdict, told.drift), (Verdict::CannotBeTold, None));
        // Long enough, in one interval: there is no line through it.
        let one = [Written { host: 100_000, flash: 100_000, erased: 100_000 }];
        assert_eq!(Steadiness::of(&one, ROUND).map(|told| told.verdict), Some(Verdict::CannotBeTold));
        assert_eq!(Steadiness::of(&[Written::default(); 5], ROUND), None);
    }
}
