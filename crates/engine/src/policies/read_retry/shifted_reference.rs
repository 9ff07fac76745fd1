//! Shifted reference voltages: each attempt reads nearer to where the cells have drifted, and leaves a share of the bits
//! that failed (Cai et al., "Data retention in MLC NAND flash memory: characterization, optimization, and recovery", HPCA
//! 2015, show that the optimal reference removes most retention errors; the share per step is chosen).

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ATTEMPTS_MAX, Attempt, ReadRetry, ReadRetryParameters, Undecoded, check_share};

/// How far beyond what is correctable the errors of a codeword are told.
const ERRORS_BEYOND: u32 = 256;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShiftedReference {
    /// Attempts before the data is given up [count].
    pub attempts: u32,
    /// Share of the failing bits that an attempt leaves.
    pub remaining: f64,
}

impl Default for ShiftedReference {
    fn default() -> Self {
        Self { attempts: 8, remaining: 0.7 }
    }
}

impl ReadRetryParameters for ShiftedReference {
    fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(*self))
    }
}

impl ShiftedReference {
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.attempts == 0 || self.attempts as usize > ATTEMPTS_MAX {
            return Err(("attempts", format!("is {}, it must lie between 1 and {ATTEMPTS_MAX}", self.attempts)));
        }
        check_share("remaining", self.remaining)
    }
}

impl ReadRetry for ShiftedReference {
    fn attempts(&self) -> u32 {
        self.attempts
    }

    fn errors_told(&self, correctable: u32) -> u32 {
        correctable.saturating_add(ERRORS_BEYOND)
    }

    fn attempt(&self, _attempt: u32, page: &Undecoded, stream: &mut RandomStream) -> Attempt {
        // Each failing bit by itself: a page that is read again is rare, and its errors are some hundreds.
        let left = (0..page.errors).filter(|_| stream.unit() < self.remaining).count() as u32;
        if left <= page.correctable { Attempt::Decoded } else { Attempt::Failed(left) }
    }
}
