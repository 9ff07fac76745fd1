//! A cyclic redundancy check: an error detecting code (EDC). What it finds must be read again from elsewhere.

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

/// A checksum over each codeword. The defaults are those of `FlexECC` (USENIX ATC 2014): 0.8 us to encode, and to decode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Crc {
    /// Bits of the checksum.
    #[schemars(range(min = 1, max = 64))]
    pub width: u32,
    /// User data of a codeword [bytes].
    #[schemars(transform = above_zero)]
    pub user_data: Bytes,
    /// Checking units of a channel, or of the drive where they are shared [count].
    #[schemars(transform = above_zero)]
    pub decoders: u32,
    /// Whether all channels share them.
    pub shared: bool,
    /// Whether parity crosses the channel with its data.
    pub moves_parity: bool,
    /// Whether the die or bank keeps the data of a read until it is decoded, for want of a buffer in the codec.
    pub holds_die: bool,
    /// How long the codec takes.
    #[serde(deserialize_with = "string_or_table")]
    pub latency: LatencyConfig,
}

impl Default for Crc {
    fn default() -> Self {
        let time = Duration(800);
        let latency = LatencyConfig::Fixed(Fixed { encode: time, clean: time, corrupted: time });
        Self {
            width: 32,
            user_data: Bytes(4096),
            decoders: 1,
            shared: false,
            moves_parity: false,
            holds_die: false,
            latency,
        }
    }
}

impl EccSchemeParameters for Crc {
    fn build(&self) -> Result<Scheme, CodeError> {
        let code = Code::crc(bits(self.user_data), self.width)?;
        let decoders = Decoders {
            count: self.decoders,
            shared: self.shared,
            moves_parity: self.moves_parity,
            holds_die: self.holds_die,
        };
        Scheme::new(code, self.latency.build(&code)?, decoders)
    }
}
