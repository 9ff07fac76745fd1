//! How host writes are held back while little is free, before nothing is.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

/// Holds writes back. Asked whenever a unit of the host got its place.
pub trait WriteThrottle: Debug + Send {
    /// How long after a unit the next one of the host may be placed, where so many groups beyond the reserve are free in the pool that
    /// took it.
    fn gap(&self, free: u32) -> Ns;
}

/// What a throttle can be told.
pub trait WriteThrottleParameters {
    /// The policy; `None` where nothing is held back, so that nobody need be asked.
    fn build(&self) -> Option<Box<dyn WriteThrottle>>;

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// How host writes are held back while little is free.
    WriteThrottleConfig as dyn WriteThrottleParameters;
    "stop-and-go" => stop_and_go::StopAndGo, "not at all: writes go on until nothing is free, and stop until something is";
    "proportional" => proportional::Proportional, "the less is free, the longer after each other they are placed";
}
