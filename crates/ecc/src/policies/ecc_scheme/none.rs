//! No code: bits that fail pass as good, and nobody is told. What the simulator counts as wrong is what a code would have
//! had to find.

use ninescope_model::schema::above_zero;
use ninescope_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EccSchemeParameters, bits};
use crate::code::Code;
use crate::error::CodeError;
use crate::scheme::{Decoders, Scheme};
use crate::timing::CodecTiming;

/// Data without parity, counted in pieces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoCode {
    /// What is counted as one piece, good or wrong as a whole [bytes].
    #[schemars(transform = above_zero)]
    pub user_data: Bytes,
}

impl Default for NoCode {
    fn default() -> Self {
        Self { user_data: Bytes(512) }
    }
}

impl EccSchemeParameters for NoCode {
    fn build(&self) -> Result<Scheme, CodeError> {
        let code = Code::none(bits(self.user_data))?;
        let decoders = Decoders { count: 1, shared: false, moves_parity: false, holds_die: false };
        Scheme::new(code, CodecTiming::default(), decoders)
    }
}
