//! How often a stored bit reads back wrong: the raw bit error rate (RBER) as a function of what its cells went
//! through.
//!
//! A model is a pure function. It draws nothing, knows no code that corrects, and keeps no history: who asks it says
//! what the data have behind them.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

use crate::ParameterError;

/// A bit cannot be worse than a coin: the highest raw bit error rate.
pub const RBER_MAX: f64 = 0.5;

/// What data and the cells that hold them have behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// P/E cycles of the block, or writes of the sector, over its life [count].
    pub cycles: u32,
    /// How long ago the data were written: a refresh begins anew [ns].
    pub retention: Ns,
    /// Reads of the block since its last erase, which disturb their neighbours [count].
    pub reads: u32,
    /// Suspensions of the block's last erase beyond what it bears: [`SuspendLimit::excess`] [count].
    ///
    /// [`SuspendLimit::excess`]: crate::health::SuspendLimit::excess
    pub suspensions: u32,
    /// Verify cycles of the write that made the data, 0 where the medium has none [count]. The models of this folder
    /// leave them to [`ProgramVerify::ber_factor`], which scales their answer; one that was measured with them may ask.
    ///
    /// [`ProgramVerify::ber_factor`]: crate::scm::ProgramVerify::ber_factor
    pub verify_cycles: u32,
}

/// The raw bit error rate of data.
pub trait ErrorModel: Debug + Send + Sync {
    /// The chance that a bit of data of this health reads back wrong, 0 to [`RBER_MAX`]. Equal health gives the same
    /// bits on every machine.
    fn rber(&self, health: &Health) -> f64;

    /// The one answer of [`rber`](Self::rber), bit for bit, if it is the same for data of any health. Who knows it need not
    /// ask again: it is asked once, when a drive is built.
    fn rber_of_all(&self) -> Option<f64> {
        None
    }
}

/// What a model can be told.
pub trait ErrorModelParameters {
    /// The model.
    ///
    /// # Errors
    /// Names the first parameter that makes no sense.
    fn build(&self) -> Result<Box<dyn ErrorModel>, ParameterError>;
}

policy_registry! {
    /// How often bits fail.
    ErrorModelConfig as dyn ErrorModelParameters;
    "constant" => constant::Constant, "one raw bit error rate, whatever the cells went through";
    "power-law" => power_law::PowerLaw, "grows with powers of P/E cycles, retention time, reads and suspensions (Kim et al., FAST 2019)";
    "table" => table::Table, "rows measured at P/E cycles and retention times, log-linear between them";
}

impl ErrorModelConfig {
    /// The model.
    ///
    /// # Errors
    /// Names the first parameter that makes no sense.
    pub fn build(&self) -> Result<Box<dyn ErrorModel>, ParameterError> {
        self.chosen().build()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn health() -> impl Strategy<Value = Health> {
        // Small numbers and the largest there are.
        let count = || prop_oneof![0..5_u32, 0..20_000_u32, Just(u32::MAX)];
        let time = prop_oneof![Just(0), 0..400 * 86_400_000_000_000_u64, Just(u64::MAX)];
        (count(), time, count(), count(), count()).prop_map(|(cycles, retention, reads, suspensions, verify_cycles)| {
            Health { cycles, retention: Ns(retention), reads, suspensions, verify_cycles }
        })
    }

    proptest! {
        #[test]
        fn every_model_says_a_chance_that_grows_with_what_the_cells_went_through(a in health(), b in health()) {
            let worse = Health {
                cycles: a.cycles.max(b.cycles),
                retention: a.retention.max(b.retention),
                reads: a.reads.max(b.reads),
                suspensions: a.suspensions.max(b.suspensions),
                verify_cycles: a.verify_cycles,
            };
            for config in ErrorModelConfig::all() {
                let model = config.build().expect("defaults are legal");
                let (rber, of_worse) = (model.rber(&a), model.rber(&worse));
                prop_assert!((0.0..=RBER_MAX).contains(&rber), "{}: {rber}", config.name());
                // A hair below: interpolated between equal values a logarithm may round.
                prop_assert!(of_worse >= rber * (1.0 - 1e-12), "{}: {of_worse} after {rber}", config.name());
                if let Some(of_all) = model.rber_of_all() {
                    prop_assert_eq!(of_all.to_bits(), rber.to_bits(), "{}", config.name());
                }
            }
        }
    }

    #[test]
    fn a_model_is_read_by_name_or_with_parameters_and_refuses_unknown_ones() {
        let read = |text: &str| serde_json::from_str::<ErrorModelConfig>(text);
        for (name, _) in ErrorModelConfig::LIST {
            let config = read(&format!(r#"{{"policy": "{name}"}}"#)).expect("a name of the list");
            assert_eq!(config.name(), *name);
            let written = toml::to_string(&config).expect("a policy can be written");
            assert_eq!(toml::from_str::<ErrorModelConfig>(&written).expect("and read back"), config);
        }
        let error = read(r#"{"policy": "constant", "rbr": 1e-4}"#).expect_err("misspelt").to_string();
        assert!(error.contains("`rbr`") && error.contains("`rber`"), "{error}");
    }
}
