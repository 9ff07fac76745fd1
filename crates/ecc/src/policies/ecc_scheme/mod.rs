//! Which code protects the data of a medium.

pub mod bch;
pub mod crc;
pub mod ldpc;
pub mod none;

use ninescope_model::policy_registry;
use ninescope_model::units::Bytes;

use crate::error::CodeError;
use crate::scheme::Scheme;

policy_registry! {
    /// Which code protects the data of a medium.
    EccSchemeConfig;
    "none" => None(none::NoCode), "no code: every bit that fails passes as good";
    "crc" => Crc(crc::Crc), "a cyclic redundancy check: detects errors, corrects none";
    "bch" => Bch(bch::Bch), "a binary BCH code: corrects up to t errors of a codeword, with m t bits of parity";
    "ldpc" => Ldpc(ldpc::Ldpc), "a low-density parity-check code with hard decisions: a threshold of errors, fixed latencies";
}

impl EccSchemeConfig {
    /// The code with its codec.
    ///
    /// # Errors
    /// For a parameter that no code can have, by its key in this table.
    pub fn build(&self) -> Result<Scheme, CodeError> {
        match self {
            Self::None(parameters) => parameters.build(),
            Self::Crc(parameters) => parameters.build(),
            Self::Bch(parameters) => parameters.build(),
            Self::Ldpc(parameters) => parameters.build(),
        }
    }
}

/// A size in bits; what does not fit is more than any code is made for.
fn bits(size: Bytes) -> u32 {
    size.0.checked_mul(8).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(u32::MAX)
}
