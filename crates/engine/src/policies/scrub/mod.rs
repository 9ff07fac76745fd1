//! When data at rest is read to see whether it is still good.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

/// Says when passes over the flash begin and how hard they push. Asked at the start and once per pass.
pub trait ScrubPolicy: Debug + Send {
    /// When the first pass begins [ns].
    fn first_pass(&self) -> Ns;

    /// From the beginning of a pass to that of the next one; a pass that takes longer delays it [ns].
    fn period(&self) -> Ns;

    /// Pages that are read at a time at most [count].
    fn pages_in_flight(&self) -> u32;
}

/// What a policy of this kind can be told.
pub trait ScrubPolicyParameters {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    fn build(&self) -> Result<Box<dyn ScrubPolicy>, (&'static str, String)>;
}

policy_registry! {
    /// When data at rest is read to see whether it is still good.
    ScrubPolicyConfig as dyn ScrubPolicyParameters;
    "periodic" => periodic::Periodic, "a pass over what is under a detecting code, again after a period";
}

impl ScrubPolicyConfig {
    /// The policy.
    ///
    /// # Errors
    /// The key at fault and what is wrong with it.
    pub fn build(&self) -> Result<Box<dyn ScrubPolicy>, (&'static str, String)> {
        self.chosen().build()
    }
}
