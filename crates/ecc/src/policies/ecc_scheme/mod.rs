//! Which code protects the data of a medium.

use ninescope_model::policy_registry;
use ninescope_model::units::Bytes;

use crate::error::CodeError;
use crate::scheme::Scheme;

/// What a code can be told.
pub trait EccSchemeParameters {
    /// The code with its codec.
    ///
    /// # Errors
    /// For a parameter that no code can have, by its key in this table.
    fn build(&self) -> Result<Scheme, CodeError>;

    /// Whether its decoder takes more than one bit for a cell.
    fn decodes_softly(&self) -> bool {
        false
    }
}

policy_registry! {
    /// Which code protects the data of a medium.
    EccSchemeConfig as dyn EccSchemeParameters;
    "none" => none::NoCode, "no code: every bit that fails passes as good";
    "crc" => crc::Crc, "a cyclic redundancy check: detects errors, corrects none";
    "bch" => bch::Bch, "a binary BCH code: corrects up to t errors of a codeword, with m t bits of parity";
    "ldpc" => ldpc::Ldpc, "a low-density parity-check code with hard decisions: a threshold of errors, fixed latencies";
}

impl EccSchemeConfig {
    /// The code with its codec.
    ///
    /// # Errors
    /// For a parameter that no code can have, by its key in this table.
    pub fn build(&self) -> Result<Scheme, CodeError> {
        self.chosen().build()
    }
}

/// A size in bits; what does not fit is more than any code is made for.
fn bits(size: Bytes) -> u32 {
    size.0.checked_mul(8).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(u32::MAX)
}
