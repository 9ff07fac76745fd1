//! How long the codec of a code takes.

pub mod cycles;
pub mod fixed;

use ninescope_model::policy_registry;

use crate::code::Code;
use crate::error::CodeError;
use crate::timing::CodecTiming;

/// The longest a codec may take for one codeword, 1 s: anything longer is a slip in a unit, and sums stay small [ns].
const LONGEST: u64 = 1_000_000_000;

policy_registry! {
    /// How long the codec of a code takes.
    LatencyConfig;
    "fixed" => Fixed(fixed::Fixed), "given times per codeword, to encode, to decode a clean and a corrupted one";
    "cycles" => Cycles(cycles::Cycles), "cycles of a hardware codec: syndromes, key equation and Chien search";
}

impl LatencyConfig {
    /// The times of one codeword of `code`.
    ///
    /// # Errors
    /// For a parameter that no codec can have, by its key, `latency.` before it.
    pub fn build(&self, code: &Code) -> Result<CodecTiming, CodeError> {
        match self {
            Self::Fixed(parameters) => parameters.build(),
            Self::Cycles(parameters) => parameters.build(code),
        }
    }
}

impl Default for LatencyConfig {
    fn default() -> Self {
        Self::Cycles(cycles::Cycles::default())
    }
}
