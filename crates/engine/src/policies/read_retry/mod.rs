//! How a page that did not decode is read again.
//!
//! Each attempt occupies the die, the channel and the decoder anew. The decision is about the worst codeword of the
//! access: the others follow it.

use std::fmt::Debug;

use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::policy_registry;

/// Reads again. Asked once per page access that did not decode, and for each attempt.
pub trait ReadRetry: Debug + Send {
    /// Attempts before the data is given up [count].
    fn attempts(&self) -> u32;

    /// Up to which number the errors of a codeword must be told exactly, given how many the code corrects [bit].
    fn errors_told(&self, correctable: u32) -> u32 {
        correctable
    }

    /// How often attempt number `attempt` (from 0) senses the page [count].
    fn senses(&self, _attempt: u32) -> u32 {
        1
    }

    /// Whether attempts are decoded softly, by more than one bit of a cell.
    fn is_soft(&self) -> bool {
        false
    }

    /// What the decoder takes beyond a decode with errors [ns].
    fn more_decoding(&self, _attempt: u32) -> Ns {
        Ns::ZERO
    }

    /// Whether attempt number `attempt` brings the data of a page, and how many errors are left if it does not.
    fn attempt(&self, attempt: u32, page: &Undecoded, stream: &mut RandomStream) -> Attempt;
}

/// A page that did not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// Errors that were left in its worst codeword before the attempt, more than the correctable ones [bit].
    pub errors: u32,
    /// Errors that its code corrects in a codeword [bit].
    pub correctable: u32,
    /// P/E cycles of its block [count].
    pub cycles: u32,
    /// How old its data is, as old as an error model takes it to be [ns].
    pub retention: Ns,
}

/// What came of reading again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The data is there.
    Decoded,
    /// It is not, and so many errors are left [bit].
    Failed(u32),
}

/// What a policy of this kind can be told.
pub trait ReadRetryParameters {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)>;

    /// Whether it is of codes whose decoders take more than one bit for a cell.
    fn needs_soft_decoding(&self) -> bool {
        false
    }
}

policy_registry! {
    /// How a page that did not decode is read again.
    ReadRetryConfig as dyn ReadRetryParameters;
    "levels" => levels::Levels, "each attempt succeeds with a chance of its own";
    "shifted-reference" => shifted_reference::ShiftedReference, "each attempt leaves a share of the failing bits";
    "soft-sensing" => soft_sensing::SoftSensing, "each attempt senses more often and corrects more (LDPC)";
    "table" => table::Table, "as many attempts as P/E cycles and the age of the data say";
}

impl ReadRetryConfig {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    pub fn build(&self) -> Result<Box<dyn ReadRetry>, (&'static str, String)> {
        self.chosen().build()
    }
}

/// No page is read again more often: a slip of the key.
pub const ATTEMPTS_MAX: usize = 64;

/// Whether a list of attempts is of a sane length.
fn check_count(key: &'static str, count: usize) -> Result<(), (&'static str, String)> {
    if count == 0 || count > ATTEMPTS_MAX {
        return Err((key, format!("has {count} values, one per attempt: give 1 to {ATTEMPTS_MAX}")));
    }
    Ok(())
}

/// Whether a chance or share is one.
fn check_share(key: &'static str, share: f64) -> Result<(), (&'static str, String)> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err((key, format!("has the value {share}, it must lie between 0 and 1")))
}
