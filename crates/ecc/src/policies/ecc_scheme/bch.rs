//! A binary BCH code, shortened to its user data.

use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EccSchemeParameters, bits};
use crate::code::Code;
use crate::error::CodeError;
use crate::policies::latency::LatencyConfig;
use crate::scheme::{Decoders, Scheme};

/// A code that corrects `correctable` errors of each codeword. The default, 40 bits per KiB, is what MLC flash of about
/// 2012 asked for (chosen, no source).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bch {
    /// User data of a codeword [bytes].
    #[schemars(transform = above_zero)]
    pub user_data: Bytes,
    /// Errors corrected in a codeword, t [bits].
    #[schemars(transform = above_zero)]
    pub correctable: u32,
    /// Degree m of the field; the smallest that holds the codeword where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3, max = 24))]
    pub field_degree: Option<u32>,
    /// Decoders of a channel, or of the drive where they are shared [count].
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

impl Default for Bch {
    fn default() -> Self {
        Self {
            user_data: Bytes(1024),
            correctable: 40,
            field_degree: None,
            decoders: 1,
            shared: false,
            moves_parity: false,
            holds_die: false,
            latency: LatencyConfig::default(),
        }
    }
}

impl EccSchemeParameters for Bch {
    fn build(&self) -> Result<Scheme, CodeError> {
        let code = Code::bch(bits(self.user_data), self.correctable, self.field_degree)?;
        let decoders = Decoders {
            count: self.decoders,
            shared: self.shared,
            moves_parity: self.moves_parity,
            holds_die: self.holds_die,
        };
        Scheme::new(code, self.latency.build(&code)?, decoders)
    }
}
