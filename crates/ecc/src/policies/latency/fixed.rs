//! Given times per codeword, one after the other: what a data sheet or a paper says of a codec it does not describe.

use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LONGEST, LatencyParameters};
use crate::code::Code;
use crate::error::CodeError;
use crate::timing::CodecTiming;

/// Times per codeword. The defaults are those of the BCH code of `FlexECC` (USENIX ATC 2014).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fixed {
    /// Encoding one [ns].
    pub encode: Duration,
    /// Decoding one without errors [ns].
    pub clean: Duration,
    /// Decoding one with errors [ns].
    pub corrupted: Duration,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { encode: Duration(800), clean: Duration(5000), corrupted: Duration(10_000) }
    }
}

impl LatencyParameters for Fixed {
    fn build(&self, _code: &Code) -> Result<CodecTiming, CodeError> {
        let times =
            [("latency.encode", self.encode), ("latency.clean", self.clean), ("latency.corrupted", self.corrupted)];
        if let Some((key, time)) = times.into_iter().find(|(_, time)| time.0 > LONGEST) {
            return Err(CodeError::new(key, format!("is {time}, more than 1s for a codeword")));
        }
        if self.corrupted < self.clean {
            let message = format!(
                "is {}, a codeword with errors takes at least as long as a clean one ({})",
                self.corrupted, self.clean
            );
            return Err(CodeError::new("latency.corrupted", message));
        }
        Ok(CodecTiming {
            encode: Ns(self.encode.0),
            syndromes: Ns(self.clean.0),
            key_equation: Ns(self.corrupted.0 - self.clean.0),
            search: Ns::ZERO,
            pipelined: false,
        })
    }
}
