//! Whose command is taken in next, where several jobs have one ready and the drive has room.

use std::fmt::Debug;

use ninescope_model::{Turns, policy_registry};

/// Orders the queues of a host. Asked when the drive has room for a command and several lanes may have one ready.
pub trait HostArbitration: Debug + Send {
    /// The lane whose command is next, of those that are ready. Changes nothing: it may be asked again before one is taken.
    fn next(&self, ready: &dyn Fn(usize) -> bool) -> Option<usize>;

    /// Its command was taken in.
    fn taken(&mut self, lane: usize);
}

/// What an order can be told.
pub trait HostArbitrationParameters {
    /// The policy for lanes that say of themselves what they do; `None` where they take turns, one command each.
    fn build(&self, lanes: &[Turns]) -> Option<Box<dyn HostArbitration>>;

    /// Whether it looks at what lanes say of themselves.
    fn knows_weights(&self) -> bool;

    /// A value that makes no sense: its key and why.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// Whose command is taken in next, where several jobs have one ready.
    HostArbitrationConfig as dyn HostArbitrationParameters;
    "round-robin" => round_robin::RoundRobin, "jobs take turns, one command each";
    "weighted-round-robin" => weighted_round_robin::WeightedRoundRobin, "urgent jobs first, and the others in turn, each as many commands in a round as its weight";
}
