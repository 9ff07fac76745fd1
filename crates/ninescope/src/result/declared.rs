//! Whether the write amplification that wearing in declared is the one that was measured.

use serde::Serialize;

use crate::settling::{OverwrittenBy, SteadyState};
use crate::steadiness::{LEAST_CHANGE, LEVEL, Steadiness};

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
        let margin = told?.margin()?;
        let uncertain = margin + (steady.waf_high - steady.waf_low) / 2.0 + LEAST_CHANGE * steady.waf;
        let as_declared = (waf - steady.waf).abs() <= uncertain;
        Some(Self { as_declared, waf, waf_low: waf - margin, waf_high: waf + margin, level: LEVEL })
    }

    /// What a reader must know where they differ.
    pub fn note(&self, steady: &SteadyState) -> Option<String> {
        if self.as_declared {
            return None;
        }
        let SteadyState { waf, waf_low, waf_high, by, .. } = steady;
        let declared = format!("declared was a WAF of {waf:.3} ({waf_low:.3} to {waf_high:.3})");
        let measured = format!("measured is {:.3} ({:.3} to {:.3})", self.waf, self.waf_low, self.waf_high);
        let why = match by {
            OverwrittenBy::Uniform => "the steady state of uniform random writes is not that of this workload",
            OverwrittenBy::Workload => {
                "the drive was worn in without time, with the garbage of each write collected before the next one; a run under load \
                 collects later"
            }
        };
        Some(format!("{declared}, {measured}: {why}; `--warmup` lets the run itself wear the drive in"))
    }
}

#[cfg(test)]
mod tests {
    use ninescope_engine::meter::Written;

    use super::*;

    /// A steady state of 2.5, from 2.48 to 2.52.
    fn declared(by: OverwrittenBy) -> SteadyState {
        SteadyState { by, converged: true, waf: 2.5, waf_low: 2.48, waf_high: 2.52, ..SteadyState::default() }
    }

    /// A window whose tenths are all alike: its own margin is nothing.
    fn window() -> Steadiness {
        Steadiness::of(&[Written { host: 1_000, flash: 2_500, erased: 2_500 }; 100], 100).expect("written")
    }

    #[test]
    fn apart_by_more_than_both_are_uncertain_is_noted() {
        // 0.02 of the declared, none of the measured, and a hundredth of 2.5.
        let steady = declared(OverwrittenBy::Workload);
        let told = |waf: f64| MeasuredWaf::of(Some(&steady), Some(&window()), waf).expect("a long window");
        assert_eq!(told(2.544).note(&steady), None);
        assert!(!told(2.546).as_declared && !told(2.454).as_declared);
        let note = told(2.2).note(&steady).expect("far away");
        let numbers = "declared was a WAF of 2.500 (2.480 to 2.520), measured is 2.200 (2.200 to 2.200)";
        assert!(note.starts_with(numbers) && note.contains("without time") && note.contains("`--warmup`"), "{note}");
        let uniform = declared(OverwrittenBy::Uniform);
        let note = told(2.2).note(&uniform).expect("far away");
        assert!(note.contains("uniform random writes is not that of this workload"), "{note}");
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
