//! A real codec: it encodes bytes, and finds and corrects the bits that were flipped since. It is what the statistical
//! model of [`crate::Code`] is checked against; no simulation runs it.
//!
//! This room must not know rates, times, nor how errors are drawn.

mod bch;
mod crc;
mod field;
mod generator;
mod key_equation;
mod search;

pub use bch::BchCodec;
pub use crc::CrcCodec;
pub use field::CODEC_FIELD_DEGREES;

/// More errors than are corrected, where that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the codeword holds more errors than are corrected")]
pub struct Uncorrectable;
