//! When a drive that is overwritten has settled: the windows of its overwriting, one after another.

use ninescope_ftl::Ftl;
use ninescope_model::BlockGroup;

use super::steady_state::{DRIVE_WRITES_MAX, OverwrittenBy, SPREAD, SteadyState, UNREACHED, horizon, is_stationary};

/// By how many rounds, beside [`SPREAD`], erases may lag behind programs.
const ROUNDS_OF_SLACK: u64 = 2;

/// What was written in a window of overwriting [units, bytes of the host].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    host_bytes: u64,
    host_units: u64,
    pub programmed_units: u64,
    moved_units: u64,
    erased_units: u64,
}

impl Window {
    /// What was written so far. `host_bytes` are those of a workload's own writes [B].
    pub fn of(ftl: &Ftl, host_bytes: u64) -> Self {
        let counters = ftl.counters();
        Self {
            host_bytes,
            host_units: counters.host_units,
            programmed_units: counters.programmed_units(),
            moved_units: counters.gc_units,
            erased_units: counters.erased_units(ftl.geometry().units_per_group()),
        }
    }

    /// Units programmed per unit of the host.
    pub fn write_amplification(&self) -> f64 {
        self.programmed_units as f64 / self.host_units as f64
    }

    /// The same without what was written before.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host_bytes: self.host_bytes - before.host_bytes,
            host_units: self.host_units - before.host_units,
            programmed_units: self.programmed_units - before.programmed_units,
            moved_units: self.moved_units - before.moved_units,
            erased_units: self.erased_units - before.erased_units,
        }
    }
}

/// What lies where overwriting has not been yet, and in all blocks [units].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreached {
    /// Garbage in all blocks that are full.
    garbage_of_all: u64,
    /// Garbage in those never erased.
    garbage: u64,
    /// What lies where it was when overwriting began: what garbage can still be made of for the first time.
    untouched: u64,
}

impl Unreached {
    /// In a drive as it is, of which these groups were full when overwriting began. Erases are those since the counters were
    /// cleared.
    pub fn of(ftl: &Ftl, full_before: &[BlockGroup]) -> Self {
        let per_group = ftl.geometry().units_per_group();
        let mut found = Self::default();
        for (group, erases) in (0..).map(BlockGroup).zip(ftl.erases_since_cleared()) {
            if ftl.group(group).write_pointer < per_group {
                continue;
            }
            let garbage = u64::from(per_group - ftl.valid_units(group));
            found.garbage_of_all += garbage;
            found.garbage += if erases == 0 { garbage } else { 0 };
        }
        let erases: Vec<u32> = ftl.erases_since_cleared().collect();
        let never_erased = full_before.iter().filter(|group| erases[group.index()] == 0);
        found.untouched = never_erased.map(|&group| u64::from(ftl.valid_units(group))).sum();
        found
    }

    /// The share of the garbage that lies there.
    fn share(&self) -> f64 {
        self.garbage as f64 / self.garbage_of_all.max(1) as f64
    }
}

/// Windows of overwriting, as they come.
#[derive(Debug)]
pub struct Settling {
    by: OverwrittenBy,
    /// Units of the overwritten space, of a round of block groups, and of a replay of a trace [count].
    space: u64,
    round: u64,
    pass: Option<u64>,
    windows: Vec<Window>,
    waf: Vec<f64>,
    unreached: Vec<Unreached>,
    converged: bool,
}

impl Settling {
    /// Of random overwriting.
    pub fn uniform(space: usize) -> Self {
        Self::new(OverwrittenBy::Uniform, space, 0, None)
    }

    /// Of a workload's own.
    pub fn by_workload(space: usize, round: u32, pass: Option<u64>) -> Self {
        Self::new(OverwrittenBy::Workload, space, round, pass)
    }

    fn new(by: OverwrittenBy, space: usize, round: u32, pass: Option<u64>) -> Self {
        let (windows, waf, unreached) = Default::default();
        Self { by, space: space as u64, round: u64::from(round), pass, windows, waf, unreached, converged: false }
    }

    /// Whether the drive has settled.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// Windows so far [count].
    pub fn windows(&self) -> u64 {
        self.windows.len() as u64
    }

    /// What is to be said of it.
    pub fn state(&self) -> SteadyState {
        let written: u64 = self.windows.iter().map(|window| window.host_units).sum();
        let replays = self.pass.map(|pass| written as f64 / pass as f64);
        let drive_writes = written as f64 / self.space.max(1) as f64;
        let state = SteadyState {
            by: self.by,
            converged: self.converged,
            drive_writes,
            replays,
            unreached: self.unreached.last().map_or(0.0, Unreached::share),
            window_waf: self.waf.clone(),
            ..SteadyState::default()
        };
        state.judged()
    }

    /// Takes the next window in, with what overwriting has not reached at its end.
    pub fn take(&mut self, window: Window, unreached: Unreached, unit_bytes: u64) {
        self.windows.push(window);
        self.unreached.push(unreached);
        self.waf.push(match self.by {
            OverwrittenBy::Uniform => window.write_amplification(),
            OverwrittenBy::Workload => own_write_amplification(&window, unit_bytes),
        });
        let looked_back_on = horizon(self.by, self.waf.len());
        let Some(start) = self.waf.len().checked_sub(looked_back_on) else { return };
        let wear_settled = self.by == OverwrittenBy::Uniform || self.wear_settled(start);
        self.converged = wear_settled && is_stationary(&self.waf[start..], self.by);
    }

    /// Whether what lies where it was before overwriting stays there. It is overwritten, which makes garbage that nobody may collect
    /// for long, or moved when it is collected, and nothing adds to it. Going on as since a window, next to nothing of it may
    /// go within as many drive writes as a drive is overwritten at most, by the garbage that there is.
    fn reaches(&self, start: usize) -> bool {
        let [first, .., last] = &self.unreached[start..] else { return false };
        let written: u64 = self.windows[start + 1..].iter().map(|window| window.host_units).sum();
        let ahead = (u64::from(DRIVE_WRITES_MAX) * self.space) as f64 / written.max(1) as f64;
        let goes = (first.untouched.saturating_sub(last.untouched) as f64 * ahead).min(last.untouched as f64);
        goes <= UNREACHED * last.garbage_of_all as f64
    }

    /// Whether each window since one erased, and all of them as much as was programmed, so that none lives on free blocks; and
    /// whether erases have been wherever garbage is made. While they have not, what is overwritten seldom takes spare space away,
    /// more and more of it, however flat write amplification is.
    fn wear_settled(&self, start: usize) -> bool {
        let windows = &self.windows[start..];
        let sum = |value: fn(&Window) -> u64| windows.iter().map(value).sum::<u64>();
        let (programmed, erased) = (sum(|window| window.programmed_units), sum(|window| window.erased_units));
        let slack = (ROUNDS_OF_SLACK * self.round) as f64 + SPREAD * programmed as f64;
        windows.iter().all(|window| window.erased_units > 0)
            && programmed.abs_diff(erased) as f64 <= slack
            && self.reaches(start)
    }
}

/// Bytes programmed per byte of the host. Moves come in bursts, of which a window that is no whole number of rounds has one
/// more or less; what its victims gave does not depend on that. In a drive that has settled the two are one: `E` units
/// erased of which `M` were moved make room for `E - M`.
fn own_write_amplification(window: &Window, unit_bytes: u64) -> f64 {
    let unit_writes = (window.host_units * unit_bytes) as f64 / window.host_bytes.max(1) as f64;
    let freed = window.erased_units.saturating_sub(window.moved_units);
    if freed == 0 {
        return window.programmed_units as f64 / window.host_units.max(1) as f64 * unit_writes;
    }
    window.erased_units as f64 / freed as f64 * unit_writes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window in which flash of 1,000 units is written and `moved` of them are.
    fn window(moved: u64, erased: u64) -> Window {
        let host_units = 1_000 - moved;
        let host_bytes = host_units * 4_096;
        Window { host_bytes, host_units, programmed_units: 1_000, moved_units: moved, erased_units: erased }
    }

    /// Of 2,000 units of garbage so many lie where nothing was erased; so much is where it was.
    fn unreached(garbage: f64, untouched: f64) -> Unreached {
        Unreached { garbage_of_all: 2_000, garbage: garbage as u64, untouched: untouched as u64 }
    }

    fn by_workload(windows: impl Iterator<Item = (Window, Unreached)>) -> (usize, SteadyState) {
        let mut settling = Settling::by_workload(10_000, 10, None);
        let taken = windows.take_while(|&(window, unreached)| {
            settling.take(window, unreached, 4_096);
            !settling.converged()
        });
        (taken.count() + 1, settling.state())
    }

    #[test]
    fn a_slow_change_is_waited_for() {
        // Write amplification goes from 2 to 2.5 as exp(-t/30): five windows in a row soon agree to a percent.
        let at = |t: u32| 2.5 - 0.5 * libm::exp(-f64::from(t) / 30.0);
        let windows =
            (0..1_000).map(|t| (window((1_000.0 * (1.0 - 1.0 / at(t))).round() as u64, 1_000), unreached(0.0, 0.0)));
        let (taken, state) = by_workload(windows);
        assert!(state.converged && taken > 100, "{taken} windows");
        assert!((state.waf / 2.5 - 1.0).abs() < 0.003, "{state:?}");
    }

    #[test]
    fn a_drive_that_does_not_erase_what_it_programs_has_not_settled() {
        let same = |window: Window| by_workload((0..50).map(|_| (window, unreached(0.0, 0.0)))).1.converged;
        assert!(same(window(600, 1_000)));
        assert!(!same(window(600, 900)), "it lives on free blocks");
        assert!(!same(window(0, 0)), "nothing is erased");
        assert!(same(window(0, 1_000)), "1 is a steady state");
    }

    /// Whether flat windows settle while what was never erased is this, by their number.
    fn settles_with(kept: impl Fn(f64) -> Unreached) -> SteadyState {
        by_workload((0..200).map(|t| (window(10, 1_000), kept(f64::from(t))))).1
    }

    #[test]
    fn garbage_that_gathers_where_nothing_is_erased_is_waited_for() {
        // Cold units, of which each window of a tenth of the drive overwrites a thousandth.
        let cold = |t: f64| 9_800.0 * libm::exp(-0.001 * t);
        let gathering = settles_with(|t| unreached(200.0 + 9_800.0 - cold(t), cold(t)));
        let words = gathering.trouble().expect("it has not settled");
        assert!(!gathering.converged && words.contains("98 % of its garbage"), "{words}");
        assert!(
            settles_with(|t| unreached(0.0, 9_800.0 * libm::exp(-t / 5.0))).converged,
            "it is collected in the end"
        );
        assert!(settles_with(|_| unreached(1_980.0, 0.0)).converged, "sequential writes never need some of the blocks");
        assert!(settles_with(|_| unreached(100.0, 5_000.0)).converged, "half of the drive is never written");
    }

    #[test]
    fn garbage_that_will_gather_is_waited_for_however_little_there_is_and_however_even_it_looks() {
        // One unit in each window, a tenth of a drive write: of 2,000 units of garbage a tenth in 20 drive writes.
        assert!(!settles_with(|t| unreached(20.0 + t, 9_800.0 - t)).converged);
        // As much is collected as is made: the share of the garbage stays, the blocks run out.
        assert!(!settles_with(|t| unreached(700.0, 9_800.0 - 20.0 * t)).converged);
        // A fortieth of the garbage in 20 drive writes is next to nothing.
        assert!(settles_with(|t| unreached(700.0, 9_800.0 - t / 4.0)).converged);
    }
}
