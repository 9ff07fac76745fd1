//! Verify-program: after the pulses of a sector write the sector is read, and cells that did not take their value get
//! another pulse; cycle by cycle.
//!
//! Kinoshita et al. (error remedies of SCM), section 3 (Ning et al., JJAP 2014; Matsui et al., SSDM 2017): a write
//! takes `t_pulse`, and each cycle a verify read and another pulse more; 20 cycles cut the bit error rate by 49 %. A
//! policy says when to stop. It draws how many cycles a sector takes; what they last and whom they delay is asked
//! elsewhere.

pub mod curve;

use std::fmt::Debug;

use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::policy_registry;
use ninescope_model::units::Duration;

use crate::parameter::{PULSE_TIME_MAX, ParameterError};
use curve::VerifyCurve;

/// More cycles than anybody pulses a cell: a slip.
const CYCLES_MAX: u32 = 1_000;

/// The loop of a sector write: in cycle `v` a verify read, then set pulses if `v <= set` and reset pulses if
/// `v <= reset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyLoop {
    /// The most cycles in which cells are set [count].
    pub set: u32,
    /// The most cycles in which cells are reset [count].
    pub reset: u32,
    /// A verify read of a sector; `None`: as long as any read of it [ns].
    pub read: Option<Ns>,
    /// What the cycles do to bit errors.
    pub curve: VerifyCurve,
}

/// When the verifying of a sector write ends.
pub trait ProgramVerify: Debug + Send + Sync {
    /// Its loop.
    fn verify_loop(&self) -> &VerifyLoop;

    /// Cycles that one sector takes after its first pulses, at most those of the loop [count]. Nothing but the stream
    /// changes.
    fn cycles(&self, stream: &mut RandomStream) -> u32;

    /// Verify reads of a sector that took so many cycles [count].
    fn reads(&self, cycles: u32) -> u32;

    /// Bit errors in the mean over all sectors, as a share of those without verifying.
    fn ber_factor(&self) -> f64;
}

/// What is written: the cells of a sector, as far as a policy has to know them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenCells {
    /// How many [count].
    pub count: u32,
    /// Which share of them fails after the first pulses, if the memory says it.
    pub rber: Option<f64>,
}

/// What verifying can be told.
pub trait ProgramVerifyParameters {
    /// The policy for a memory.
    ///
    /// # Errors
    /// Names the first parameter that makes no sense.
    fn build(&self, cells: &WrittenCells) -> Result<Box<dyn ProgramVerify>, ParameterError>;
}

policy_registry! {
    /// When the verifying of a sector write ends.
    ProgramVerifyConfig as dyn ProgramVerifyParameters;
    "to-the-cap" => to_the_cap::ToTheCap, "all cycles, whether cells still fail or not";
    "until-pass" => until_pass::UntilPass, "cycles until no more than accept_bits cells fail, drawn per sector";
}

impl ProgramVerifyConfig {
    /// The policy for a memory.
    ///
    /// # Errors
    /// Names the first parameter that makes no sense.
    pub fn build(&self, cells: &WrittenCells) -> Result<Box<dyn ProgramVerify>, ParameterError> {
        self.chosen().build(cells)
    }
}

impl VerifyLoop {
    /// Of parameters: `cycles` are the cap of both kinds of pulse where none of its own is given.
    fn of(
        cycles: u32,
        (set, reset): (Option<u32>, Option<u32>),
        read: Option<Duration>,
        curve: VerifyCurve,
    ) -> Result<Self, ParameterError> {
        for (key, cap) in [("cycles", Some(cycles)), ("cycles_set", set), ("cycles_reset", reset)] {
            if let Some(cap) = cap.filter(|&cap| cap > CYCLES_MAX) {
                return Err(ParameterError::new(key, format!("is {cap}, at most {CYCLES_MAX} are supported")));
            }
        }
        if read == Some(Duration(0)) {
            return Err(ParameterError::new("verify_read", "must not be zero"));
        }
        if let Some(read) = read.filter(|read| read.0 > PULSE_TIME_MAX.0) {
            let message = format!("is {read}, more than {PULSE_TIME_MAX}");
            return Err(ParameterError::new("verify_read", message));
        }
        let read = read.map(|read| Ns(read.0));
        Ok(Self { set: set.unwrap_or(cycles), reset: reset.unwrap_or(cycles), read, curve: curve.checked()? })
    }

    /// The most cycles a sector takes [count].
    pub fn cap(&self) -> u32 {
        self.set.max(self.reset)
    }

    /// Bit errors of cells that are set, and of those that are reset, after so many cycles of the loop, as shares of
    /// those without verifying.
    fn factors(&self, cycles: u32) -> [f64; 2] {
        [self.set, self.reset].map(|cap| self.curve.factor(cycles.min(cap)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: WrittenCells = WrittenCells { count: 4096, rber: Some(1e-3) };

    fn problem(text: &str) -> ParameterError {
        let config: ProgramVerifyConfig = toml::from_str(text).expect("readable");
        config.build(&CELLS).expect_err(text)
    }

    #[test]
    fn every_policy_is_found_by_name_and_its_defaults_verify() {
        for config in ProgramVerifyConfig::all() {
            let text = toml::to_string(&config).expect("a policy can be written");
            assert_eq!(toml::from_str::<ProgramVerifyConfig>(&text).expect("and read back"), config);
            let policy = config.build(&WrittenCells { rber: None, ..CELLS }).expect("defaults are legal");
            assert_eq!(policy.verify_loop().cap(), 20);
            assert!((0.4..0.6).contains(&policy.ber_factor()), "{}: {}", config.name(), policy.ber_factor());
            let mut stream = RandomStream::new(1, "tests", "verify");
            for _ in 0..1_000 {
                let cycles = policy.cycles(&mut stream);
                let reads = policy.reads(cycles);
                assert!(cycles <= 20 && cycles <= reads && reads <= 20.min(cycles + 1));
            }
        }
    }

    #[test]
    fn parameters_without_a_meaning_name_their_key() {
        for policy in ["to-the-cap", "until-pass"] {
            for (line, key) in [
                ("cycles = 1001", "cycles"),
                ("cycles_set = 4000", "cycles_set"),
                ("cycles_reset = 4000", "cycles_reset"),
                ("verify_read = 0", "verify_read"),
                ("verify_read = '9000h'", "verify_read"),
                ("reduction = 1.5", "reduction"),
                ("reference_cycles = 0", "reference_cycles"),
                ("decay = 0.0", "decay"),
                ("decay = -1.0", "decay"),
            ] {
                assert_eq!(problem(&format!("policy = '{policy}'\n{line}")).key, key, "{policy}: {line}");
            }
        }
        for (line, key) in [("accept_bits = 4096", "accept_bits"), ("rber = 0.6", "rber"), ("rber = -0.1", "rber")] {
            assert_eq!(problem(&format!("policy = 'until-pass'\n{line}")).key, key, "{line}");
        }
        let without_name: Result<ProgramVerifyConfig, _> = toml::from_str("policy = 'to-the-cap'\naccept_bits = 1");
        assert!(without_name.is_err(), "all cycles are made whatever passes");
    }
}
