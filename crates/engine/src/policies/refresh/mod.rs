//! When data is written anew before its errors become too many.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

/// Why a block group is to be written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshReason {
    /// It was read too often.
    Reads,
    /// Its data is too old.
    Age,
    /// Too many of its bits are expected to fail.
    Rate,
}

/// Says which block groups are to be written anew.
pub trait RefreshPolicy: Debug + Send {
    /// Whether a group that was read so often since its erase is due. Asked at each read [count].
    fn is_due_by_reads(&self, reads: u32) -> bool;

    /// Whether a group whose data is so old is due. Asked for each group at each check [ns].
    fn is_due_by_age(&self, age: Ns) -> bool;

    /// Whether a group is due of whose bits this share is expected to fail. Asked for each group at each check, if the policy goes by
    /// that.
    fn is_due_by_rate(&self, rber: f64) -> bool;

    /// Whether a raw bit error rate, once it is known, decides.
    fn goes_by_rate(&self) -> bool {
        false
    }

    /// From one check of all groups to the next; none where time does not matter [ns].
    fn check_period(&self) -> Option<Ns>;
}

/// What a policy of this kind can be told.
pub trait RefreshPolicyParameters {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    fn build(&self) -> Result<Box<dyn RefreshPolicy>, (&'static str, String)>;
}

policy_registry! {
    /// When data is written anew before its errors become too many.
    RefreshPolicyConfig as dyn RefreshPolicyParameters;
    "limits" => limits::Limits, "groups whose data is too old or was read too often";
    "expected-errors" => expected_errors::ExpectedErrors, "groups of whose bits too many are expected to fail, by wear, age, warmth and reads together";
}

impl RefreshPolicyConfig {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    pub fn build(&self) -> Result<Box<dyn RefreshPolicy>, (&'static str, String)> {
        self.chosen().build()
    }
}
