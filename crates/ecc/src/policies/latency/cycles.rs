//! Cycles of a hardware BCH codec.
//!
//! T = [ceil(n / p) + KES(t) + ceil(k / p)] / f: the syndromes take all n bits of a codeword, p at a time; the key
//! equation takes KES(t) cycles; the Chien search looks at the k bits of user data. Both laws of KES are in the papers:
//! a t for an inversionless Berlekamp-Massey array, b t^2 where its multipliers are folded into few.

use ninescope_kernel::Ns;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LONGEST, LatencyParameters};
use crate::code::Code;
use crate::error::CodeError;
use crate::timing::CodecTiming;

/// How the cycles of the key equation grow with the number t of errors that a code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyEquation {
    /// `factor` t.
    Linear,
    /// `factor` t^2.
    Quadratic,
}

/// A hardware codec. The defaults are the set fitted to the six decoders of Sun, Rose and Zhang (`SiPS` 2006), which lie
/// within 10 % of it: 8 bits per cycle at 100 MHz, 0.16 t^2 cycles, syndromes and search overlapped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cycles {
    /// Bits of a codeword that enter the encoder, the syndromes and the search in a cycle, p.
    #[schemars(transform = above_zero)]
    pub bits_per_cycle: u32,
    /// A cycle of the clock, 1 / f [ns].
    #[schemars(transform = above_zero)]
    pub cycle: Duration,
    /// The law of the key equation.
    pub key_equation: KeyEquation,
    /// Cycles of the key equation: times t, or times t^2.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub factor: f64,
    /// Whether the search shares its pass over the codeword with the syndromes of the next one, and takes no time of
    /// its own.
    pub overlapped: bool,
    /// Whether the codewords of an access follow each other through the stages, or each waits for the one before.
    pub pipelined: bool,
}

impl Default for Cycles {
    fn default() -> Self {
        Self {
            bits_per_cycle: 8,
            cycle: Duration(10),
            key_equation: KeyEquation::Quadratic,
            factor: 0.16,
            overlapped: true,
            pipelined: true,
        }
    }
}

impl LatencyParameters for Cycles {
    fn build(&self, code: &Code) -> Result<CodecTiming, CodeError> {
        if self.bits_per_cycle == 0 {
            return Err(CodeError::new("latency.bits_per_cycle", "is 0, a codec takes in at least 1 bit per cycle"));
        }
        if self.cycle.0 == 0 {
            return Err(CodeError::new("latency.cycle", "is 0, a clock takes time: 10ns are 100 MHz"));
        }
        if !(0.0..=1e9).contains(&self.factor) {
            return Err(CodeError::new("latency.factor", format!("is {}, it must be from 0 to 1e9", self.factor)));
        }
        let pass = self.time(u64::from(code.codeword_bits().div_ceil(self.bits_per_cycle)))?;
        let corrects = code.correctable() > 0;
        let search = if corrects && !self.overlapped { code.user_bits().div_ceil(self.bits_per_cycle) } else { 0 };
        Ok(CodecTiming {
            encode: pass,
            syndromes: pass,
            key_equation: self.time(self.key_equation_cycles(code.correctable()))?,
            search: self.time(u64::from(search))?,
            pipelined: self.pipelined,
        })
    }

    fn counts_stages_of_bch(&self) -> bool {
        true
    }
}

impl Cycles {
    /// Cycles of the key equation of a code that corrects `correctable` errors, rounded up.
    fn key_equation_cycles(&self, correctable: u32) -> u64 {
        let t = f64::from(correctable);
        let law = match self.key_equation {
            KeyEquation::Linear => t,
            KeyEquation::Quadratic => t * t,
        };
        (self.factor * law).ceil() as u64
    }

    fn time(&self, cycles: u64) -> Result<Ns, CodeError> {
        let time = cycles.saturating_mul(self.cycle.0);
        if time > LONGEST {
            let message = format!(
                "is {}: {cycles} cycles of it, to which `factor` and `bits_per_cycle` lead, are more than 1s for a codeword",
                self.cycle
            );
            return Err(CodeError::new("latency.cycle", message));
        }
        Ok(Ns(time))
    }
}
