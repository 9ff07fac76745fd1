//! Levels: attempt `i` succeeds with chance `success[i]`, whatever the errors were. Senses of a page that did not decode:
//! 1 + q0 + q0 q1 + ... with the chances q of failing, which makes it the one to check a drive with.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attempt, ReadRetry, ReadRetryParameters, Undecoded, check_count, check_share};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Levels {
    /// Chance that each attempt brings the data, given that those before did not.
    pub success: Vec<f64>,
}

impl Default for Levels {
    /// Chosen: most pages that need it are good after one or two of a few levels.
    fn default() -> Self {
        Self { success: vec![0.8, 0.8, 0.8, 0.8] }
    }
}

impl ReadRetryParameters for Levels {
    fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)> {
        self.check()?;
        Ok(Box::new(self.clone()))
    }
}

impl Levels {
    fn check(&self) -> Result<(), (&'static str, String)> {
        check_count("success", self.success.len())?;
        self.success.iter().try_for_each(|&chance| check_share("success", chance))
    }
}

impl ReadRetry for Levels {
    fn attempts(&self) -> u32 {
        self.success.len() as u32
    }

    fn attempt(&self, attempt: u32, page: &Undecoded, stream: &mut RandomStream) -> Attempt {
        let chance = self.success.get(attempt as usize).copied().unwrap_or(0.0);
        if stream.unit() < chance { Attempt::Decoded } else { Attempt::Failed(page.errors) }
    }
}
