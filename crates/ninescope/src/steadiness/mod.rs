//! Whether a measured window had settled: the drift of its write amplification, and its erases against its programs.
//!
//! The window is cut into tenths of what the host wrote. A line is laid through the logarithms of their write amplifications,
//! which sees what goes on, and the first is compared with the others, which sees what soon ends. The judgement is a
//! function of what was written alone; `docs/results.md` says what it can see.

mod student;

use ninescope_engine::meter::Written;
use serde::Serialize;

pub use student::{interval_of_mean, t_of};
use student::{mean, two_sided};

/// Pieces of a window that a line is laid through.
pub const BATCHES: usize = 10;
/// How often a window without drift may be called drifting.
pub const FALSE_ALARMS: f64 = 0.01;
/// A smaller change of write amplification over the window is none, however certain.
pub const LEAST_CHANGE: f64 = 0.01;
/// The level of each interval that is told: that at which is judged. Two changes are looked at.
pub const LEVEL: f64 = 1.0 - FALSE_ALARMS / 2.0;
/// A window that does not rule a change by this factor out, up or down, cannot tell.
pub const RESOLUTION: f64 = 1.25;
/// What rounding leaves of no change at all.
const ALIKE: f64 = 1e-9;
/// Rounds of block groups that each piece must have, so that bursts of moves do not show.
const ROUNDS_PER_BATCH: u64 = 2;
/// By how many rounds, beside [`LEAST_CHANGE`], erases may lag behind programs in a drive that has settled, and by how many
/// its first tenth may have more or fewer: pools that were prepared without time collect in step until they have lost it.
const ROUNDS_OF_SLACK: u64 = 2;
/// Degrees of freedom of the scatter about a line through all pieces, and of that of all but the first.
const DEGREES: u32 = BATCHES as u32 - 2;
/// How far from zero Student's t with so many is once in `1 / (1 - LEVEL)`.
const T_OF_LEVEL: f64 = 3.832_518_685;
/// The same with `BATCHES - 1` degrees of freedom.
const T_OF_MEAN: f64 = 3.689_662_392;

/// What can be said of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its write amplification drifts, it lives on blocks that were free, or it takes no more writes.
    NotSteady,
    /// Nothing of the kind shows.
    NoDriftShown,
    /// It is too short to tell, or its pieces scatter too much.
    #[default]
    CannotBeTold,
}

/// Why a window is not steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Its write amplification drifts.
    Drift,
    /// It programs blocks that were free, and erases fewer.
    FreeBlocks,
    /// It erases more than it programs.
    EmptiedBlocks,
    /// The drive takes no more writes.
    ReadOnly,
}

/// By how much write amplification changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// 0.1 is 10 % more.
    pub change: f64,
    /// Its interval, which holds no change at all unless `p` is below one minus its level: the lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The level of the interval: [`LEVEL`].
    pub level: f64,
    /// How often a window without drift shows so much, by Student's t.
    pub p: f64,
}

/// The judgement of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Steadiness {
    /// In a word.
    pub verdict: Verdict,
    /// Why it is not steady, all that holds; empty where it is not told to be so.
    pub reasons: Vec<Reason>,
    /// In a sentence.
    pub words: String,
    /// From its beginning to its end, by the line; absent where the window is too short for it.
    pub drift: Option<Change>,
    /// From its first tenth to the others.
    pub start: Option<Change>,
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
        for &one in intervals {
            all.add(one);
        }
        if all.flash == 0 || all.host == 0 {
            return None;
        }
        let long_enough = all.flash >= needed(round_bytes);
        let waf = if long_enough { batches(intervals, all.host) } else { None };
        let changes = waf.as_deref().map(|waf| (drift(waf), start(waf)));
        let reasons = reasons(all, changes.as_ref(), round_bytes);
        let (verdict, words) = judge(all, changes, &reasons, round_bytes);
        let waf = waf.unwrap_or_default().into_iter().map(|(_, waf)| waf).collect();
        let (drift, start) = changes.unzip();
        Some(Self { verdict, reasons, words, drift, start, waf, programmed_bytes: all.flash, erased_bytes: all.erased })
    }
}

/// What must be programmed to see a drift [B].
fn needed(round_bytes: u64) -> u64 {
    ROUNDS_PER_BATCH * BATCHES as u64 * round_bytes
}

/// What the first tenth of a window may differ by from the others in a drive that has settled.
fn least_of_start(all: Written, round_bytes: u64) -> f64 {
    LEAST_CHANGE + (ROUNDS_OF_SLACK * round_bytes * BATCHES as u64) as f64 / all.flash as f64
}

/// All that makes the window one that is not steady.
fn reasons(all: Written, changes: Option<&(Change, Change)>, round_bytes: u64) -> Vec<Reason> {
    let slack = ROUNDS_OF_SLACK * round_bytes;
    let lag = all.flash.abs_diff(all.erased);
    let lags = lag as f64 > slack as f64 + LEAST_CHANGE * all.flash as f64;
    let of_blocks = if all.erased < all.flash { Reason::FreeBlocks } else { Reason::EmptiedBlocks };
    let drifts =
        changes.is_some_and(|(drift, start)| drift.is_one() || start.is_more_than(least_of_start(all, round_bytes)));
    [lags.then_some(of_blocks), drifts.then_some(Reason::Drift)].into_iter().flatten().collect()
}

fn judge(all: Written, changes: Option<(Change, Change)>, reasons: &[Reason], round_bytes: u64) -> (Verdict, String) {
    let of_blocks = match reasons.first() {
        Some(Reason::FreeBlocks) => Some("lives on blocks that were free"),
        Some(Reason::EmptiedBlocks) => Some("empties blocks"),
        Some(Reason::Drift | Reason::ReadOnly) | None => None,
    };
    if let Some(how) = of_blocks {
        let erased = 100.0 * all.erased as f64 / all.flash as f64;
        return (Verdict::NotSteady, format!("the drive {how}: {erased:.0} % of what was programmed was erased"));
    }
    match changes {
        Some((drift, _)) if drift.is_one() => {
            let how = if drift.change > 0.0 { "rises" } else { "falls" };
            let by = 100.0 * drift.change.abs();
            (Verdict::NotSteady, format!("WAF {how} by {by:.1} % over the window ({})", drift.interval()))
        }
        Some((_, start)) if start.is_more_than(least_of_start(all, round_bytes)) => {
            let (by, how) = (100.0 * start.change.abs(), if start.change > 0.0 { "higher" } else { "lower" });
            let interval = start.interval();
            let words = format!(
                "WAF after the first tenth of the window is {by:.1} % {how} than in it ({interval}), which a warm-up leaves out"
            );
            (Verdict::NotSteady, words)
        }
        Some((drift, _)) if !drift.is_resolved() => {
            let (by, interval, most) = (100.0 * drift.change, drift.interval(), 100.0 * (RESOLUTION - 1.0));
            let words = format!("WAF {by:+.1} % over the window ({interval}): a drift of {most:.0} % is not ruled out");
            (Verdict::CannotBeTold, words)
        }
        Some((drift, _)) => {
            let (by, interval) = (100.0 * drift.change, drift.interval());
            let least =
                if drift.is_certain() { format!(" beyond {:.0} %", 100.0 * LEAST_CHANGE) } else { String::new() };
            (Verdict::NoDriftShown, format!("no drift of WAF{least} shown: {by:+.1} % over the window ({interval})"))
        }
        None if all.flash >= needed(round_bytes) => {
            let words = "the writes come in so few intervals of the series that not every tenth of them has one";
            (Verdict::CannotBeTold, words.to_owned())
        }
        None => {
            let share = 100.0 * all.flash as f64 / needed(round_bytes) as f64;
            (Verdict::CannotBeTold, format!("too short: {share:.2} % of what must be programmed to see a drift"))
        }
    }
}

impl Steadiness {
    /// The same of a window in which the drive `refused` commands, since it takes no more writes: whatever else shows, that
    /// goes before it.
    #[must_use]
    pub fn of_read_only(mut self, refused: u64) -> Self {
        self.verdict = Verdict::NotSteady;
        self.reasons.insert(0, Reason::ReadOnly);
        let commands = if refused == 1 { "command" } else { "commands" };
        self.words = format!("the drive became read-only, and refused {refused} {commands}");
        self
    }

    /// The interval of the window's write amplification `waf`, at [`LEVEL`], by the scatter of its tenths: its lower and its upper
    /// end; `None` where it is too short for that.
    pub fn interval_of(&self, waf: f64) -> Option<(f64, f64)> {
        (self.waf.len() == BATCHES).then(|| interval_of_mean(waf, &self.waf, T_OF_MEAN))
    }
}

impl Change {
    /// From a difference of logarithms, its standard error and the degrees of freedom that this is known by.
    fn of(difference: f64, error: f64) -> Self {
        let change = |difference: f64| libm::expm1(difference);
        let p = if difference == 0.0 { 1.0 } else { two_sided(difference.abs() / error, DEGREES) };
        let margin = T_OF_LEVEL * error;
        let (low, high) = (change(difference - margin), change(difference + margin));
        Self { change: change(difference), low, high, level: LEVEL, p }
    }

    /// Whether it is more than chance: its interval is to one side of nothing.
    fn is_certain(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether it is more than chance, and more than nothing.
    fn is_one(&self) -> bool {
        self.is_more_than(LEAST_CHANGE)
    }

    /// Whether it is more than chance, and more than `least`.
    fn is_more_than(&self, least: f64) -> bool {
        self.is_certain() && self.change.abs() > least
    }

    /// Whether a change by [`RESOLUTION`] is ruled out.
    fn is_resolved(&self) -> bool {
        1.0 + self.high < RESOLUTION && (1.0 + self.low) * RESOLUTION > 1.0
    }

    /// Its interval in words: none, where nothing scatters.
    fn interval(&self) -> String {
        if self.low.abs().max(self.high.abs()) < ALIKE {
            return "all tenths are alike".to_owned();
        }
        format!("{:.1} %: {:+.1} to {:+.1} %", 100.0 * self.level, 100.0 * self.low, 100.0 * self.high)
    }
}

/// The line through positions in the window, from 0 to 1, and logarithms of write amplifications.
fn drift(batches: &[(f64, f64)]) -> Change {
    let points: Vec<(f64, f64)> = batches.iter().map(|&(place, waf)| (place, libm::log(waf))).collect();
    let (middle, level) = (mean(points.iter().map(|point| point.0)), mean(points.iter().map(|point| point.1)));
    let (mut places, mut heights, mut both) = (0.0, 0.0, 0.0);
    for (place, height) in points {
        places += (place - middle) * (place - middle);
        heights += (height - level) * (height - level);
        both += (place - middle) * (height - level);
    }
    let slope = both / places;
    let rest = (heights - slope * both).max(0.0);
    Change::of(slope, libm::sqrt(rest / f64::from(DEGREES) / places))
}

/// The logarithm of the first against those of the others.
fn start(batches: &[(f64, f64)]) -> Change {
    let others = || batches[1..].iter().map(|batch| libm::log(batch.1));
    let level = mean(others());
    let squares: f64 = others().map(|height| (height - level) * (height - level)).sum();
    let count = (batches.len() - 1) as f64;
    Change::of(level - libm::log(batches[0].1), libm::sqrt(squares / f64::from(DEGREES) * (1.0 + 1.0 / count)))
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
        for (t, degrees, p) in [(2.306_004, 8, 0.05), (3.355_387, 8, 0.01), (4.302_653, 2, 0.05), (9.924_843, 2, 0.01)]
        {
            assert!((two_sided(t, degrees) - p).abs() < 1e-6, "t {t}, {degrees} degrees");
            assert!((t_of(p, degrees) - t).abs() < 1e-5, "{p}, {degrees} degrees");
        }
    }

    #[test]
    fn windows_without_drift_are_called_drifting_as_seldom_as_promised() {
        const WINDOWS: u64 = 20_000;
        let told: Vec<Steadiness> = (0..WINDOWS).map(|seed| window(seed, |_, noise| 2.5 + 0.5 * noise)).collect();
        let p_of = |which: fn(&Steadiness) -> Option<Change>| told.iter().map(move |told| which(told).expect("long").p);
        for level in [0.05, FALSE_ALARMS / 2.0] {
            let expected = WINDOWS as f64 * level;
            // Four standard deviations of a binomial count.
            let most = 4.0 * (expected * (1.0 - level)).sqrt();
            for small in [p_of(|told| told.drift), p_of(|told| told.start)] {
                let count = small.filter(|&p| p < level).count();
                assert!((count as f64 - expected).abs() < most, "{count} below {level}");
            }
        }
        let alarms = told.iter().filter(|told| told.verdict == Verdict::NotSteady).count() as f64;
        let promised = WINDOWS as f64 * FALSE_ALARMS;
        assert!(alarms < promised + 4.0 * promised.sqrt(), "{alarms} of {WINDOWS}");
    }

    /// One or two rounds of collections more or less in the first tenth are what pools do that collect in step.
    #[test]
    fn a_first_tenth_is_judged_beyond_what_two_rounds_come_to() {
        let host = 2_000_u64;
        // Twenty intervals; the first tenth lacks so many rounds.
        let verdict = |lacks: f64, noise: u64| {
            let flash = |index: u64| match index {
                0 | 1 => host * 4 - (lacks * ROUND as f64 / 2.0) as u64,
                _ => host * 4 + noise * (index / 2 % 2),
            };
            let intervals: Vec<Written> =
                (0..20).map(|index| Written { host, flash: flash(index), erased: flash(index) }).collect();
            Steadiness::of(&intervals, ROUND).expect("something was written").verdict
        };
        assert_eq!(verdict(1.5, 40), Verdict::NoDriftShown);
        assert_eq!(verdict(3.0, 40), Verdict::NotSteady);
    }

    #[test]
    fn a_drift_is_seen_with_its_direction_and_size() {
        let rising = window(1, |position, noise| 2.5 * (1.0 + 0.1 * position) + 0.05 * noise);
        assert_eq!(rising.verdict, Verdict::NotSteady);
        let drift = rising.drift.expect("a long window");
        assert!(drift.low < 0.1 && 0.1 < drift.high && drift.high - drift.low < 0.05, "{drift:?}");
        assert!(rising.words.starts_with("WAF rises by "), "{}", rising.words);
        let falling = window(1, |position, noise| 2.5 * (1.0 - 0.1 * position) + 0.05 * noise);
        assert!(falling.words.starts_with("WAF falls by "), "{}", falling.words);
        // What soon ends hardly tilts a line.
        let soon_over = window(1, |position, noise| 2.5 * (1.0 - 0.1 * libm::exp(-position * 20.0)) + 0.05 * noise);
        assert!(soon_over.words.contains("% higher than in it (99.5 %: +"), "{}", soon_over.words);
        // Certain, and of no account.
        let slightly = window(1, |position, _| 2.5 * (1.0 + 0.005 * position));
        assert!(slightly.drift.expect("long").p < 1e-6);
        assert_eq!(slightly.verdict, Verdict::NoDriftShown);
        assert!(slightly.words.starts_with("no drift of WAF beyond 1 % shown: +0.5 %"), "{}", slightly.words);
    }

    #[test]
    fn what_is_judged_is_what_the_interval_says() {
        let quantile = two_sided(T_OF_LEVEL, DEGREES);
        assert!((quantile - (1.0 - LEVEL)).abs() < 1e-9, "{quantile}");
        // Rises by 8 % that are told in some windows and not in others.
        let told: Vec<Steadiness> =
            (0..500).map(|seed| window(seed, |x, noise| 2.5 + 0.2 * x + 0.25 * noise)).collect();
        for told in &told {
            let drift = told.drift.expect("a long window");
            assert_eq!(drift.low > 0.0, drift.p < 1.0 - LEVEL, "{drift:?}");
            if told.words.starts_with("no drift of WAF shown") {
                assert!(drift.low <= 0.0 && drift.high >= 0.0, "{}", told.words);
            }
        }
        let drifting = told.iter().filter(|told| told.verdict == Verdict::NotSteady).count();
        assert!((50..450).contains(&drifting), "{drifting} of 500: both kinds are looked at");
    }

    #[test]
    fn a_window_that_scatters_too_much_to_see_a_quarter_cannot_tell() {
        let wild = window(1, |_, noise| 2.5 + 2.0 * noise);
        assert_eq!(wild.verdict, Verdict::CannotBeTold, "{}", wild.words);
        assert!(
            wild.words.contains("(99.5 %: -") && wild.words.ends_with("a drift of 25 % is not ruled out"),
            "{}",
            wild.words
        );
        let drift = wild.drift.expect("its interval is told nevertheless");
        assert!(drift.high > 0.25 || drift.low < -0.2, "{drift:?}");
        assert_eq!(window(1, |_, noise| 2.5 + 0.1 * noise).verdict, Verdict::NoDriftShown);
    }

    #[test]
    fn the_mean_of_a_window_is_known_by_the_scatter_of_its_tenths() {
        let mut told = window(1, |_, _| 2.5);
        told.waf = vec![2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 2.0, 3.0];
        // Without a 2 the mean is 23/9, without a 3 it is 22/9: the error of its logarithm is the root of 9 times their half
        // distance, 0.022_226, times 3.690.
        let (low, high) = told.interval_of(2.5).expect("ten tenths");
        assert!((low - 1.954_77).abs() < 1e-4 && (high - 3.197_31).abs() < 1e-4, "{low} to {high}");
        told.waf.clear();
        assert_eq!(told.interval_of(2.5), None);
    }

    #[test]
    fn no_interval_of_a_write_amplification_reaches_what_is_impossible() {
        let mut stream = RandomStream::new(1, "steadiness", "tenths");
        for round in 0..20_000 {
            // From all alike to one that is a million times the others.
            let spread = f64::from(round % 20);
            let mut tenths = |least: f64| -> Vec<f64> {
                (0..BATCHES).map(|_| least + libm::exp(spread * stream.unit()) - 1.0).collect()
            };
            let whole = tenths(1.0);
            let waf = mean(whole.iter().copied());
            let (low, high) = interval_of_mean(waf, &whole, T_OF_MEAN);
            assert!((1.0..=waf).contains(&low) && high >= waf, "{low} to {high}: {whole:?}");
            let merged = tenths(0.01);
            let waf = mean(merged.iter().copied());
            let (low, high) = interval_of_mean(waf, &merged, T_OF_MEAN);
            assert!(low > 0.0 && low <= waf && high >= waf, "{low} to {high}: {merged:?}");
        }
    }

    #[test]
    fn a_narrow_interval_is_that_of_student() {
        let mut stream = RandomStream::new(2, "steadiness", "tenths");
        for _ in 0..1_000 {
            let tenths: Vec<f64> = (0..BATCHES).map(|_| 2.5 + 0.02 * stream.unit()).collect();
            let waf = mean(tenths.iter().copied());
            let squares: f64 = tenths.iter().map(|tenth| (tenth - waf).powi(2)).sum();
            let student = T_OF_MEAN * (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
            let (low, high) = interval_of_mean(waf, &tenths, T_OF_MEAN);
            assert!(((high - waf) / student - 1.0).abs() < 0.01 && ((waf - low) / student - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn a_drive_that_lives_on_free_blocks_is_not_steady_though_nothing_drifts() {
        let fresh = vec![Written { host: 1_000, flash: 1_000, erased: 0 }; 100];
        let told = Steadiness::of(&fresh, ROUND).expect("written");
        assert_eq!((told.verdict, told.drift.map(|drift| drift.change)), (Verdict::NotSteady, Some(0.0)));
        assert!(told.words.contains("lives on blocks that were free: 0 %"), "{}", told.words);
        assert_eq!(told.reasons, [Reason::FreeBlocks]);
        let rising = |n: u64| Written { host: 1_000, flash: 1_000 + 10 * n, erased: 0 };
        let told = Steadiness::of(&(0..100).map(rising).collect::<Vec<_>>(), ROUND).expect("written");
        assert_eq!(told.reasons, [Reason::FreeBlocks, Reason::Drift], "both hold");
        let worn_in = vec![Written { host: 1_000, flash: 1_000, erased: 1_000 }; 100];
        let told = Steadiness::of(&worn_in, ROUND).expect("written");
        assert_eq!(told.verdict, Verdict::NoDriftShown);
        let words = "no drift of WAF shown: +0.0 % over the window (all tenths are alike)";
        assert_eq!(told.words, words, "what does not scatter has no interval");
        assert_eq!(told.reasons, []);
    }

    #[test]
    fn what_is_too_short_is_not_judged() {
        let short = vec![Written { host: 190, flash: 190, erased: 0 }; 10];
        let told = Steadiness::of(&short, ROUND).expect("written");
        assert_eq!((told.verdict, told.drift), (Verdict::CannotBeTold, None));
        // Long enough, in one interval: there is no line through it.
        let one = [Written { host: 100_000, flash: 100_000, erased: 100_000 }];
        let told = Steadiness::of(&one, ROUND).expect("written");
        assert_eq!(told.verdict, Verdict::CannotBeTold);
        assert!(told.words.contains("so few intervals of the series"), "{}", told.words);
        assert_eq!(Steadiness::of(&[Written::default(); 5], ROUND), None);
    }
}
