//! Codes that detect and correct bit errors: as mathematics ([`Code`]), as latency ([`Scheme`]), and as counts of
//! errors drawn per codeword ([`ErrorSampler`]).
//!
//! This crate must not know where data lies, why its bits fail, nor who waits for a decoder.

mod code;
pub mod codec;
mod error;
pub mod policies;
mod rates;
mod sampler;
mod scheme;
pub mod tail;
mod timing;

pub use code::{Code, FIELD_DEGREES};
pub use error::CodeError;
pub use policies::{EccSchemeConfig, LatencyConfig};
pub use rates::{RBER_MAX, checked_rber, checked_uber};
pub use sampler::{ErrorSampler, RberLevel};
pub use scheme::Scheme;
pub use timing::CodecTiming;
