//! Whether the write amplification that wearing in declared is the one that was measured.

use ninescope_engine::Utilization;
use serde::Serialize;

use crate::precondition::{OverwrittenBy, SteadyState};
use crate::steadiness::{LEAST_CHANGE, LEVEL, Steadiness};

/// A die that is busy for so much of the time never rests long enough to collect what one write leaves before the next.
const SATURATED: f64 = 0.9;
/// Where writes waited for the write buffer, or for a free page, for so much of the time, they were not taken one by one.
const WAITED: f64 = 0.01;

/// A measured write amplification beside the one that was declared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredWaf {
    /// Whether the two are apart by no more than both are uncertain and [`LEAST_CHANGE`].
    pub as_declared: bool,
    /// Bytes programmed per byte of the host in the measured window.
    pub waf: f64,
    /// Its interval, by the scatter of the window's tenths: the lower end.
    pub waf_low: f64,
    /// The upper end.
    pub waf_high: f64,
    /// The level of the interval.
    pub level: f64,
}

impl MeasuredWaf {
    /// Of a window that programmed `waf` bytes per byte of the host. `None` where nothing steady was declared, or the window
    /// is too short to tell.
    pub fn of(steady: Option<&SteadyState>, told: Option<&Steadiness>, waf: f64) -> Option<Self> {
        let steady = steady.filter(|steady| steady.converged)?;
        let (waf_low, waf_high) = told?.interval_of(waf)?;
        // Logarithms: twice as much is as far as half as much. Of both intervals the ends count that face each other; a lower
        // end is cut off at a WAF of 1, which nothing measured lies below.
        let facing = if waf > steady.waf { (steady.waf_high, waf_low) } else { (steady.waf_low, waf_high) };
        let margin = |end: f64, middle: f64| libm::log(end / middle).abs();
        let uncertain = margin(facing.0, steady.waf) + margin(facing.1, waf) + libm::log1p(LEAST_CHANGE);
        let as_declared = libm::log(waf / steady.waf).abs() <= uncertain;
        Some(Self { as_declared, waf, waf_low, waf_high, level: LEVEL })
    }

    /// What a reader must know where they differ. Without time each write's garbage is collected before the next one, as in a
    /// run that lets the drive: where it did not differ in that, preparing ended too soon.
    /// Of writes in passes what is declared is the mean over passes.
    pub fn note(&self, steady: &SteadyState, used: &Utilization, in_passes: bool) -> Option<String> {
        if self.as_declared {
            return None;
        }
        let SteadyState { waf, waf_low, waf_high, by, .. } = steady;
        let declared = format!("declared was a WAF of {}", with_ends(*waf, *waf_low, *waf_high));
        let measured = format!("measured is {}", with_ends(self.waf, self.waf_low, self.waf_high));
        let wear_in = "`--warmup` lets the run itself wear the drive in";
        let (why, remedy) = match by {
            OverwrittenBy::Uniform if was_under_load(used) => (
                "that was of uniform random writes, the garbage of each collected before the next one; a run under load collects \
                 later, and this workload may be another",
                "`--prefill steady` wears in with the workload and tells which it is",
            ),
            OverwrittenBy::Uniform => {
                ("the steady state of uniform random writes is not that of this workload", wear_in)
            }
            OverwrittenBy::Workload if in_passes => (
                "a job writes each block once in each pass, and write amplification goes up and down with the pass; what was \
                 declared is the mean over passes, under no load",
                "a run over whole passes shows that mean, and `norandommap` (`random_map = false`) does without passes",
            ),
            OverwrittenBy::Workload if was_under_load(used) => (
                "the drive was worn in without time, with the garbage of each write collected before the next one; a run under load \
                 collects later",
                "what it measures is that of its load, and `--warmup` leaves out how it gets there",
            ),
            OverwrittenBy::Workload => (
                "no die was saturated and no write waited, so that it is not the load: the drive had not settled when preparing \
                 ended",
                wear_in,
            ),
        };
        Some(format!("{declared}, {measured}: {why}; {remedy}"))
    }
}

/// A write amplification with the ends of its interval, where these are not the value itself.
fn with_ends(waf: f64, low: f64, high: f64) -> String {
    let [value, low, high] = [waf, low, high].map(|waf| format!("{waf:.3}"));
    if low == value && high == value { value } else { format!("{value} ({low} to {high})") }
}

/// Whether some die was saturated, or writes waited.
fn was_under_load(used: &Utilization) -> bool {
    let share = |time: u64| time as f64 / used.elapsed.0.max(1) as f64;
    let [dies, _, _, _, _, stalls, ..] = used.busy();
    dies.into_iter().any(|busy| share(busy) >= SATURATED) || stalls.into_iter().any(|stall| share(stall) >= WAITED)
}

#[cfg(test)]
mod tests {
    use ninescope_engine::meter::Written;
    use ninescope_kernel::Ns;
    use ninescope_model::{OCCUPANCIES, Occupancy};

    use super::*;

    /// A steady state of 2.5, from 2.48 to 2.52.
    fn declared(by: OverwrittenBy) -> SteadyState {
        SteadyState { by, converged: true, waf: 2.5, waf_low: 2.48, waf_high: 2.52, ..SteadyState::default() }
    }

    /// A window whose tenths are all alike: its own margin is nothing.
    fn window() -> Steadiness {
        Steadiness::of(&[Written { host: 1_000, flash: 2_500, erased: 2_500 }; 100], 100).expect("written")
    }

    /// A second in which the busiest of two dies was busy, and writes waited, for so many thousandths.
    fn used(busy: u64, waited: u64) -> Utilization {
        let mut dies = vec![[0; OCCUPANCIES]; 2];
        for (die, busy) in dies.iter_mut().zip([0, busy]) {
            die[Occupancy::Idle as usize] = (1_000 - busy) * 1_000_000;
            die[Occupancy::HostProgram as usize] = busy * 1_000_000;
        }
        let (channels, banks, bank_channels) = Default::default();
        Utilization {
            elapsed: Ns(1_000_000_000),
            dies,
            channels,
            banks,
            bank_channels,
            processor: Ns(0),
            write_stalls: Ns(waited * 1_000_000),
            link_in: Ns(0),
            link_out: Ns(0),
            dram: Vec::new(),
            cores: Vec::new(),
        }
    }

    #[test]
    fn load_is_blamed_where_there_was_some() {
        let steady = declared(OverwrittenBy::Workload);
        let measured = MeasuredWaf::of(Some(&steady), Some(&window()), 3.4).expect("a long window");
        let note = |busy, waited| measured.note(&steady, &used(busy, waited), false).expect("far away");
        for (busy, waited) in [(990, 0), (70, 300), (1_000, 1_000)] {
            let note = note(busy, waited);
            assert!(note.contains("a run under load collects later") && !note.contains("settled"), "{note}");
        }
        for (busy, waited) in [(2, 0), (70, 1)] {
            let note = note(busy, waited);
            assert!(note.contains("had not settled when preparing ended") && !note.contains("under load"), "{note}");
        }
    }

    #[test]
    fn the_ends_of_lopsided_intervals_count_that_face_what_was_measured() {
        let lopsided = SteadyState { waf_low: 2.49, waf_high: 2.7, ..declared(OverwrittenBy::Workload) };
        let as_declared =
            |waf: f64| MeasuredWaf::of(Some(&lopsided), Some(&window()), waf).expect("a long window").as_declared;
        // By LEAST_CHANGE beyond the end that faces it, and by what is beyond that.
        for (waf, is) in [
            (2.49 / (1.0 + LEAST_CHANGE) + 0.01, true),
            (2.49 / (1.0 + LEAST_CHANGE) - 0.01, false),
            (2.7 * (1.0 + LEAST_CHANGE) - 0.01, true),
            (2.7 * (1.0 + LEAST_CHANGE) + 0.01, false),
        ] {
            assert_eq!(as_declared(waf), is, "{waf}");
        }
    }

    #[test]
    fn passes_are_blamed_where_a_job_writes_in_them() {
        let measured = MeasuredWaf::of(Some(&declared(OverwrittenBy::Workload)), Some(&window()), 3.4).expect("long");
        for busy in [2, 990] {
            let note = measured.note(&declared(OverwrittenBy::Workload), &used(busy, 0), true).expect("far away");
            assert!(note.contains("the mean over passes") && note.contains("norandommap"), "{note}");
            assert!(!note.contains("had not settled") && !note.contains("--warmup"), "{note}");
        }
        let uniform = declared(OverwrittenBy::Uniform);
        let note = measured.note(&uniform, &used(2, 0), true).expect("far away");
        assert!(note.contains("not that of this workload"), "{note}");
    }

    #[test]
    fn apart_by_more_than_both_are_uncertain_is_noted() {
        // 0.008 of the declared, none of the measured, and a hundredth, in logarithms: 2.5 times or by 1.0181.
        let steady = declared(OverwrittenBy::Workload);
        let told = |waf: f64| MeasuredWaf::of(Some(&steady), Some(&window()), waf).expect("a long window");
        let loaded = used(1_000, 0);
        assert_eq!(told(2.544).note(&steady, &loaded, false), None);
        assert!(!told(2.546).as_declared && !told(2.454).as_declared);
        let note = told(2.2).note(&steady, &loaded, false).expect("far away");
        let numbers = "declared was a WAF of 2.500 (2.480 to 2.520), measured is 2.200: ";
        // Nothing scatters in the window, and there is no interval to speak of.
        assert!(note.starts_with(numbers) && note.contains("without time") && note.contains("`--warmup`"), "{note}");
        let uniform = declared(OverwrittenBy::Uniform);
        let note = told(2.2).note(&uniform, &used(100, 0), false).expect("far away");
        assert!(note.contains("uniform random writes is not that of this workload"), "{note}");
        // Under load it may be the load, and more of it does not help.
        let note = told(2.2).note(&uniform, &loaded, false).expect("far away");
        assert!(note.contains("under load collects later") && !note.contains("--warmup"), "{note}");
    }

    #[test]
    fn what_declares_nothing_or_tells_nothing_is_not_compared() {
        let unsettled = SteadyState { converged: false, ..declared(OverwrittenBy::Workload) };
        assert_eq!(MeasuredWaf::of(Some(&unsettled), Some(&window()), 9.0), None);
        let short = Steadiness::of(&[Written { host: 10, flash: 10, erased: 10 }; 10], 100).expect("written");
        assert_eq!(MeasuredWaf::of(Some(&declared(OverwrittenBy::Uniform)), Some(&short), 9.0), None);
        assert_eq!(MeasuredWaf::of(None, Some(&window()), 9.0), None);
    }
}
