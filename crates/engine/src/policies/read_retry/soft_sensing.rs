//! Soft sensing: the decoder of an LDPC code is given more than one bit per cell, each attempt more, for which the page is
//! sensed several times; it corrects more errors then, and takes longer (Zhao et al., "LDPC-in-SSD: making advanced error
//! correction codes work effectively in solid state drives", FAST 2013, which this project knows by its abstract; numbers
//! chosen).

use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attempt, ReadRetry, ReadRetryParameters, Undecoded, check_count};

/// Most senses of an attempt: a slip of the key beyond.
const SENSES_MAX: u32 = 64;

/// Parameters; one value of each list per attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SoftSensing {
    /// Bits of a codeword that are corrected then [bit].
    pub correctable: Vec<u32>,
    /// How often the page is sensed [count].
    pub senses: Vec<u32>,
    /// What the decoder takes beyond a hard decision [ns].
    pub decode: Vec<Duration>,
}

impl Default for SoftSensing {
    fn default() -> Self {
        Self {
            correctable: vec![100, 130, 150],
            senses: vec![2, 4, 6],
            decode: vec![Duration(10_000), Duration(20_000), Duration(40_000)],
        }
    }
}

impl ReadRetryParameters for SoftSensing {
    fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(self.clone()))
    }

    fn needs_soft_decoding(&self) -> bool {
        true
    }
}

impl SoftSensing {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let attempts = self.correctable.len();
        check_count("correctable", attempts)?;
        for (key, count) in [("senses", self.senses.len()), ("decode", self.decode.len())] {
            if count != attempts {
                return Err((key, format!("has {count} values, `correctable` has {attempts}: give one per attempt")));
            }
        }
        if !self.correctable.is_sorted() {
            return Err(("correctable", "must not fall from one attempt to the next".to_owned()));
        }
        match self.senses.iter().find(|&&senses| senses == 0 || senses > SENSES_MAX) {
            Some(senses) => {
                Err(("senses", format!("has the value {senses}, a page is sensed 1 to {SENSES_MAX} times")))
            }
            None => Ok(()),
        }
    }
}

impl ReadRetry for SoftSensing {
    fn attempts(&self) -> u32 {
        self.correctable.len() as u32
    }

    fn errors_told(&self, correctable: u32) -> u32 {
        self.correctable.last().copied().unwrap_or(0).max(correctable)
    }

    fn senses(&self, attempt: u32) -> u32 {
        self.senses.get(attempt as usize).copied().unwrap_or(1)
    }

    fn is_soft(&self) -> bool {
        true
    }

    fn more_decoding(&self, attempt: u32) -> Ns {
        self.decode.get(attempt as usize).map_or(Ns::ZERO, |time| Ns(time.0))
    }

    fn attempt(&self, attempt: u32, page: &Undecoded, _stream: &mut RandomStream) -> Attempt {
        let corrects = self.correctable.get(attempt as usize).copied().unwrap_or(0);
        if page.errors <= corrects { Attempt::Decoded } else { Attempt::Failed(page.errors) }
    }
}
