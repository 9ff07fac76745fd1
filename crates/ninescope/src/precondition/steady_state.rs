//! How overwriting ended: whether write amplification had become stationary, and what its windows declare.

use serde::Serialize;

use crate::steadiness::{interval_of_mean, t_of};

/// A drive is overwritten so many times at most, and so far ahead it is looked whether it goes on as it is [drive writes].
pub const DRIVE_WRITES_MAX: u32 = 20;
/// Parts that must agree, how far each may lie from their mean, and how steep their line may be from one to the next.
const PARTS: usize = 5;
pub const SPREAD: f64 = 0.01;
const SLOPE: f64 = 0.001;
/// How often the interval of what is declared may miss.
pub const MISSED: f64 = 0.05;
/// Of a workload's own overwriting so many parts are looked back on: its last half.
const LOOKS_BACK_ON: usize = 2 * PARTS;
/// Of what a workload's overwriting has not touched yet so much may still be, by the garbage that there is.
pub const UNREACHED: f64 = 0.05;

/// Who overwrote a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OverwrittenBy {
    /// Random writes, all addresses alike.
    #[default]
    Uniform,
    /// The workload.
    Workload,
}

/// How overwriting ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SteadyState {
    /// Who did it.
    pub by: OverwrittenBy,
    /// One pool was overwritten, and all others made like it; all that is said of overwriting is said of that pool. The drive
    /// then did as the pool had.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    /// Write amplification became stationary, and of a workload's own overwriting wear too (otherwise the limit of drive
    /// writes was reached).
    pub converged: bool,
    /// Overwrites, in multiples of the logical space.
    pub drive_writes: f64,
    /// How often a trace was replayed; absent for other workloads.
    pub replays: Option<f64>,
    /// Share of the garbage at the end that lies in blocks which overwriting never erased.
    pub unreached: f64,
    /// Write amplification at the end: of random overwriting the mean over all windows since it had settled, of a workload's
    /// own that over the last half.
    pub waf: f64,
    /// Its 95 % interval: the lower end.
    pub waf_low: f64,
    /// The upper end.
    pub waf_high: f64,
    /// Write amplification of each window: a tenth of the overwritten space, in whole rounds of block groups or replays of
    /// a trace.
    pub window_waf: Vec<f64>,
}

impl SteadyState {
    /// The same with what follows from its windows.
    #[must_use]
    pub fn judged(self) -> Self {
        match self.by {
            OverwrittenBy::Uniform => self.judged_since_settled(),
            OverwrittenBy::Workload => self.judged_by_parts(),
        }
    }

    /// By all windows since it had settled, each a part. Those whose agreement ended the overwriting are the last of them, and by
    /// themselves would scatter less than windows do: they were waited for.
    fn judged_since_settled(self) -> Self {
        let windows = settled(&self.window_waf);
        // Of one pool windows are alike in what was programmed, of a drive in what the host wrote: that is to be summed up.
        let waf = if self.composed { harmonic_mean(windows) } else { mean(windows) };
        let (waf_low, waf_high) = interval(waf, windows);
        Self { waf, waf_low, waf_high, ..self }
    }

    /// By parts of what is looked back on: windows of a workload's own hang together.
    fn judged_by_parts(self) -> Self {
        let parts = means_of_parts(self.looked_back_on());
        let waf = mean(&parts);
        let (waf_low, waf_high) = interval(waf, &parts);
        let (low, high) = self.swing(waf);
        Self { waf, waf_low: waf_low.min(low), waf_high: waf_high.max(high), ..self }
    }

    /// The windows that are judged.
    fn looked_back_on(&self) -> &[f64] {
        let windows = self.window_waf.len();
        &self.window_waf[windows - horizon(self.by, windows).min(windows)..]
    }

    /// Whether the last two fifths are no further apart than the interval is wide: then chance is in the way, and no trend.
    fn scatters(&self) -> bool {
        match means_of_parts(&self.window_waf)[..] {
            [.., before, last] => (last - before).abs() <= self.waf_high - self.waf_low,
            _ => false,
        }
    }

    /// From where to where the mean of as many windows as are judged lies over the last three quarters of all, and that of half as
    /// many among these: had overwriting ended earlier, it would be declared. Where cold data is collected in turns, write amplification swings for many drive
    /// writes, and its parts agree where it turns, too: the mean is known no better than that. Five windows show no swing among them.
    fn swing(&self, waf: f64) -> (f64, f64) {
        let judged = self.looked_back_on();
        let earlier = &self.window_waf[self.window_waf.len() / 4..];
        let halves = if judged.len() < LOOKS_BACK_ON { &[][..] } else { judged };
        let means = |windows: &[f64], length: usize| -> Vec<f64> {
            windows.windows(length.max(1)).map(|part| part.iter().sum::<f64>() / length as f64).collect()
        };
        let of_all = means(earlier, judged.len()).into_iter().chain(means(halves, judged.len() / 2));
        of_all.fold((waf, waf), |(low, high), mean| (low.min(mean), high.max(mean)))
    }

    /// Why it did not converge; `None` where it did.
    pub fn trouble(&self) -> Option<String> {
        if self.converged {
            return None;
        }
        let mut words = if self.scatters() {
            "whether write amplification had become stationary could not be told within the limit of drive writes, as its windows \
             scatter"
                .to_owned()
        } else {
            "write amplification had not become stationary when the limit of drive writes was reached".to_owned()
        };
        let unreached = 100.0 * self.unreached;
        let flat = self.window_waf.len() >= PARTS && is_stationary(self.looked_back_on(), self.by);
        if self.by == OverwrittenBy::Workload && (self.unreached > UNREACHED || flat && self.unreached > 0.0) {
            words = format!(
                "the drive had not become steady when the limit of drive writes was reached: {unreached:.0} % of its garbage \
                 lies in blocks that the workload has not had erased yet"
            );
        }
        if let [.., before, last] = means_of_parts(&self.window_waf)[..] {
            words = format!("{words} (WAF {before:.2}, then {last:.2} over the last two fifths)");
        }
        Some(words)
    }
}

/// The 95 % interval of the mean of parts; of few parts there is none but the mean itself.
fn interval(waf: f64, parts: &[f64]) -> (f64, f64) {
    if parts.len() < PARTS { (waf, waf) } else { interval_of_mean(waf, parts, t_of(MISSED, parts.len() as u32 - 1)) }
}

/// The windows since write amplification had settled, at least five and at least half of all: of all beginnings that leave so many
/// the one that leaves their mean with the least standard error (White, Simulation 69(6), 1997, who calls it MSER). Their number is odd,
/// as the degrees of freedom of Student's t are even.
fn settled(windows: &[f64]) -> &[f64] {
    let fewest = PARTS.max(windows.len().div_ceil(2));
    // Of the sum of squared deviations over the squared number, which has the same least place.
    let squared_error = |start: usize| {
        let kept = &windows[start..];
        let level = mean(kept);
        kept.iter().map(|waf| (waf - level) * (waf - level)).sum::<f64>() / (kept.len() * kept.len()) as f64
    };
    let starts = (0..=windows.len().saturating_sub(fewest)).filter(|start| (windows.len() - start) % 2 == 1);
    let best = starts.min_by(|&one, &other| squared_error(one).total_cmp(&squared_error(other)));
    &windows[best.unwrap_or(0)..]
}

/// How many windows are judged, of so many. Random overwriting settles at once: its last five. A workload with cold data takes
/// as long as that needs to be written, and near the end of so slow a change no five windows show it: the last half.
pub fn horizon(by: OverwrittenBy, windows: usize) -> usize {
    match by {
        OverwrittenBy::Uniform => PARTS,
        OverwrittenBy::Workload => PARTS * (windows / LOOKS_BACK_ON).max(1),
    }
}

/// The means of [`PARTS`] equal parts; of fewer windows, these themselves.
fn means_of_parts(windows: &[f64]) -> Vec<f64> {
    let each = (windows.len() / PARTS).max(1);
    windows.chunks_exact(each).map(|part| part.iter().sum::<f64>() / each as f64).collect()
}

fn harmonic_mean(parts: &[f64]) -> f64 {
    let sum = parts.iter().fold(0.0, |sum, part| sum + 1.0 / part);
    if parts.is_empty() { 0.0 } else { parts.len() as f64 / sum }
}

fn mean(parts: &[f64]) -> f64 {
    parts.iter().fold(0.0, |sum, part| sum + part) / (parts.len() as f64).max(1.0)
}

/// Whether five parts agree: each within 1 % of their mean, their least-squares line rising or falling by less than 0.1 % of
/// the mean from one to the next. Random overwriting without garbage collection does not count: before the first erase
/// write amplification is exactly 1 and says nothing.
pub fn is_stationary(windows: &[f64], by: OverwrittenBy) -> bool {
    let parts = means_of_parts(windows);
    let mean = mean(&parts);
    let middle = (PARTS - 1) as f64 / 2.0;
    let covariance: f64 = parts.iter().enumerate().map(|(i, waf)| (i as f64 - middle) * (waf - mean)).sum();
    let variance: f64 = (0..PARTS).map(|i| (i as f64 - middle) * (i as f64 - middle)).sum();
    (mean > 1.0 || by == OverwrittenBy::Workload)
        && parts.iter().all(|waf| (waf - mean).abs() <= SPREAD * mean)
        && (covariance / variance).abs() < SLOPE * mean
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;

    /// A swing that fades over many drive writes, about 3.275, looked at when five parts of its last half agree.
    #[test]
    fn an_interval_covers_a_mean_about_which_windows_still_swing() {
        let about = 3.275;
        let swing = |phase: f64| -> Vec<f64> {
            (0..80)
                .map(|at| about + 1.6 * libm::exp(-f64::from(at) / 40.0) * libm::sin(f64::from(at) / 1.4 + phase))
                .collect()
        };
        let (mut looked, mut missed_by_parts) = (0, 0);
        for phase in (0..240).map(|step| f64::from(step) / 40.0) {
            let windows = swing(phase);
            for until in (20..=windows.len()).filter(|&until| {
                let horizon = horizon(OverwrittenBy::Workload, until);
                is_stationary(&windows[until - horizon..until], OverwrittenBy::Workload)
            }) {
                let by = OverwrittenBy::Workload;
                let state =
                    SteadyState { by, window_waf: windows[..until].to_vec(), ..SteadyState::default() }.judged();
                let parts = means_of_parts(state.looked_back_on());
                let (low, high) = interval(state.waf, &parts);
                looked += 1;
                missed_by_parts += usize::from(!(low..=high).contains(&about));
                assert!((state.waf_low..=state.waf_high).contains(&about), "{phase} {until}: {state:?}");
            }
        }
        assert!(looked > 10 && missed_by_parts > 5, "{looked} looks, {missed_by_parts} of them missed by their parts");
    }

    /// The windows of `examples/drives/small.toml` under writes nine in ten of which go to a tenth (`--prefill steady --seed 1055`),
    /// which ended where a swing turned. Six runs of a million requests come to 4.703.
    #[test]
    fn an_interval_knows_how_far_the_mean_has_moved() {
        let window_waf = vec![
            1.0, 1.847, 3.687, 5.11, 5.296, 5.248, 5.18, 5.078, 5.007, 4.906, 4.831, 4.742, 4.643, 4.644, 4.611, 4.615,
            4.587, 4.595, 4.532, 4.629, 4.591, 4.593, 4.599, 4.582,
        ];
        let state = SteadyState { by: OverwrittenBy::Workload, window_waf, ..SteadyState::default() }.judged();
        let parts = means_of_parts(state.looked_back_on());
        let by_parts = interval(mean(&parts), &parts);
        assert!(by_parts.1 < 4.65, "{by_parts:?}");
        assert!(state.waf_low < 4.6 && (4.703..4.9).contains(&state.waf_high), "{state:?}");
    }

    /// Windows of random overwriting that climb to a level within the first three and scatter about it by chance, until five agree or
    /// there are 200.
    fn overwritten(seed: u64, level: f64, scatter: f64) -> Vec<f64> {
        let mut stream = RandomStream::new(seed, "settling", "windows");
        // The sum of twelve uniform numbers has variance 1.
        let mut noise = || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
        let mut windows = Vec::new();
        while windows.len() < 200 && !(windows.len() >= PARTS && settles(&windows)) {
            let climbs = 1.0 - 0.8 * libm::exp(-2.0 * windows.len() as f64);
            windows.push(level * climbs * (1.0 + scatter * noise()));
        }
        windows
    }

    #[test]
    fn an_interval_seldom_misses_though_agreement_ends_the_overwriting() {
        const RUNS: u64 = 2_000;
        let mut worst_by_five = 0;
        // Scatter of a window as victims give it: greedy, FIFO, drawn from few, drawn at random from blocks.
        for scatter in [0.006, 0.008, 0.015, 0.033] {
            let (mut missed, mut missed_by_five) = (0, 0_u32);
            for seed in 0..RUNS {
                let windows = overwritten(seed, 4.3, scatter);
                let five = &windows[windows.len() - PARTS..];
                let (low, high) = interval(mean(five), five);
                missed_by_five += u32::from(!(low..=high).contains(&4.3));
                let state = SteadyState { window_waf: windows, ..SteadyState::default() }.judged();
                missed += u32::from(!(state.waf_low..=state.waf_high).contains(&4.3));
            }
            // Chance alone gives 100. The five that agree are among all, and a climb is among the first of few: one in eight at most.
            assert!((50..=RUNS as u32 / 8).contains(&missed), "scatter {scatter}: {missed} of {RUNS} missed");
            worst_by_five = worst_by_five.max(missed_by_five);
        }
        assert!(worst_by_five > RUNS as u32 / 4, "five windows by themselves missed {worst_by_five} at most");
    }

    #[test]
    fn what_comes_before_it_has_settled_is_left_out() {
        let of = |windows: &[f64]| settled(windows).len();
        assert_eq!(of(&[1.0, 3.0, 4.0, 4.01, 3.99, 4.02, 3.98, 4.0, 4.01]), 7);
        assert_eq!(of(&[4.0, 4.01, 3.99, 4.02, 3.98, 4.0, 4.01]), 7, "nothing before it");
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 4.01, 3.99]), 5, "five at least");
        assert_eq!(of(&[1.0, 2.0, 3.0]), 3, "what there is");
        assert!(of(&[]) == 0);
    }

    fn settles(windows: &[f64]) -> bool {
        is_stationary(
            &windows[windows.len() - horizon(OverwrittenBy::Uniform, windows.len())..],
            OverwrittenBy::Uniform,
        )
    }

    #[test]
    fn stationary_means_flat_and_collecting() {
        assert!(!settles(&[1.0; 10]), "no garbage collection yet");
        assert!(settles(&[1.0, 3.0, 2.501, 2.5, 2.499, 2.5, 2.5]));
        assert!(!settles(&[2.5, 2.5, 2.5, 2.5, 2.6]), "one window is off");
        assert!(!settles(&[2.480, 2.490, 2.500, 2.510, 2.520]), "a steady rise");
    }

    #[test]
    fn what_is_declared_has_an_interval() {
        let of = |window_waf: Vec<f64>| SteadyState { window_waf, ..SteadyState::default() }.judged();
        let state = of(vec![9.0, 2.0, 2.1, 2.2, 2.3, 2.4]);
        // Without each in turn the means are 2.25, 2.225, 2.2, 2.175 and 2.15; their logarithms have a jackknife error of 0.03215,
        // times 2.776.
        let is = |value: f64, expected: f64| (value - expected).abs() < 1e-4;
        assert!(is(state.waf, 2.2) && is(state.waf_low, 2.012_15) && is(state.waf_high, 2.405_39), "{state:?}");
        let short = of(vec![1.0, 3.0]);
        assert_eq!((short.waf, short.waf_low, short.waf_high), (2.0, 2.0, 2.0));
        assert_eq!(of(Vec::new()).waf.to_bits(), 0);
    }
}
