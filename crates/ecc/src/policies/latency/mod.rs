//! How long the codec of a code takes.

use ninescope_model::policy_registry;

use crate::code::Code;
use crate::error::CodeError;
use crate::timing::CodecTiming;

/// The longest a codec may take for one codeword, 1 s: anything longer is a slip in a unit, and sums stay small [ns].
const LONGEST: u64 = 1_000_000_000;

/// What a law of latency can be told.
pub trait LatencyParameters {
    /// The times of one codeword of `code`.
    ///
    /// # Errors
    /// For a parameter that no codec can have, by its key, `latency.` before it.
    fn build(&self, code: &Code) -> Result<CodecTiming, CodeError>;

    /// Whether it counts the stages of a BCH decoder, so that it says nothing of others.
    fn counts_stages_of_bch(&self) -> bool {
        false
    }
}

policy_registry! {
    /// How long the codec of a code takes.
    LatencyConfig as dyn LatencyParameters, by default Cycles;
    "fixed" => fixed::Fixed, "given times per codeword, to encode, to decode a clean and a corrupted one";
    "cycles" => cycles::Cycles, "cycles of a hardware codec: syndromes, key equation and Chien search";
}

impl LatencyConfig {
    /// The times of one codeword of `code`.
    ///
    /// # Errors
    /// For a parameter that no codec can have, by its key, `latency.` before it.
    pub fn build(&self, code: &Code) -> Result<CodecTiming, CodeError> {
        self.chosen().build(code)
    }
}
