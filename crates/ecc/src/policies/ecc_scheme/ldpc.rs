//! A low-density parity-check code decoded with hard decisions. How many errors it corrects has no closed form: it is
//! given as a threshold, below which a decoder is taken to converge always, and above never. What soft sensing adds is
//! a matter of read retry.

use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EccSchemeParameters, bits};
use crate::code::Code;
use crate::error::CodeError;
use crate::policies::latency::{LatencyConfig, fixed::Fixed};
use crate::scheme::{Decoders, Scheme};

/// A threshold of errors and fixed latencies. The defaults (rate 8/9 on 2 KiB, 0.4 % of the bits) are chosen: no
/// source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ldpc {
    /// User data of a codeword [bytes].
    #[schemars(transform = above_zero)]
    pub user_data: Bytes,
    /// Parity of a codeword [bytes].
    #[schemars(transform = above_zero)]
    pub parity: Bytes,
    /// The most errors of a codeword that hard decisions correct [bits].
    #[schemars(transform = above_zero)]
    pub correctable: u32,
    /// Decoders of a channel, or of the drive where they are shared [count].
    #[schemars(transform = above_zero)]
    pub decoders: u32,
    /// Whether all channels share them.
    pub shared: bool,
    /// Whether parity crosses the channel with its data.
    pub moves_parity: bool,
    /// Whether the die or bank keeps the data of a read until it is decoded, for want of a buffer in the codec.
    pub holds_die: bool,
    /// How long the codec takes: "fixed".
    #[serde(deserialize_with = "string_or_table")]
    pub latency: LatencyConfig,
}

impl Default for Ldpc {
    fn default() -> Self {
        let latency =
            LatencyConfig::Fixed(Fixed { encode: Duration(1000), clean: Duration(2000), corrupted: Duration(8000) });
        Self {
            user_data: Bytes(2048),
            parity: Bytes(256),
            correctable: 73,
            decoders: 1,
            shared: false,
            moves_parity: false,
            holds_die: false,
            latency,
        }
    }
}

impl EccSchemeParameters for Ldpc {
    fn build(&self) -> Result<Scheme, CodeError> {
        let code = Code::ldpc(bits(self.user_data), bits(self.parity), self.correctable)?;
        if self.latency.chosen().counts_stages_of_bch() {
            let message = format!(
                "is `{}`, which counts the stages of a BCH decoder; an LDPC decoder takes `fixed`",
                self.latency.name()
            );
            return Err(CodeError::new("latency", message));
        }
        let decoders = Decoders {
            count: self.decoders,
            shared: self.shared,
            moves_parity: self.moves_parity,
            holds_die: self.holds_die,
        };
        Scheme::new(code, self.latency.build(&code)?, decoders)
    }
    fn decodes_softly(&self) -> bool {
        true
    }
}
