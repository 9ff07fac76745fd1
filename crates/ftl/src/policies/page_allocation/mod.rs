//! Which pool takes the next unit that the host writes.
//!
//! Pools are named by their *stripe position*: unless a policy has them in another order, position `p` lies on channel
//! `p % channels`, so that neighbours are on different channels, then on different dies of a channel, then on
//! different plane sets of a die.

use std::fmt::Debug;

use ninescope_kernel::{BitTable, Snapshot};
use ninescope_model::{Geometry, Lpa, policy_registry};

mod by_load;

/// Where the last unit was placed, for policies that follow the filling of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Stripe position of the pool.
    pub position: u32,
    /// The unit filled its page.
    pub page_complete: bool,
    /// The unit filled its stripe.
    pub stripe_complete: bool,
}

/// What a die may be measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Accesses that wait or run [count].
    Queued,
    /// When it will have done them [ns].
    FreeAt,
}

/// Chooses pools. Asked once per unit the host writes.
pub trait PageAllocation: Debug + Send + Snapshot {
    /// The stripe position that takes logical unit `lpa`; must be set in `accepting`. `None`: the write waits.
    fn choose(&mut self, lpa: Lpa, accepting: &BitTable) -> Option<u32>;

    /// Told where the unit went.
    fn placed(&mut self, _placement: Placement) {}

    /// Whether its next choice compares loads: they are told before, where there are any.
    fn asks_for_loads(&self) -> bool {
        false
    }

    /// Told the load of the die of a stripe position.
    fn load_is(&mut self, _position: u32, _load: u64) {}

    /// Units that each stripe position takes in turn, from position 0 on, before the next one does, if that is how units are
    /// placed that are written in order from `first` on while all pools accept them. Then a drive need not be filled unit by
    /// unit.
    fn in_turn(&self, _first: Lpa) -> Option<u32> {
        None
    }

    /// Units that go to each stripe position in turn if the address alone decides where a unit goes, however often it is written.
    fn turn_by_address(&self) -> Option<u32> {
        None
    }

    /// So many units were placed in turn.
    fn placed_in_turn(&mut self, _units: u32) {}
}

/// What an allocation can be told.
pub trait PageAllocationParameters {
    /// The policy, among the pools at some of the stripe positions, which ascend.
    fn build(&self, geometry: &Geometry, positions: &[u32]) -> Box<dyn PageAllocation>;

    /// What it wants to know of dies.
    fn load(&self) -> Option<Load> {
        None
    }

    /// Whether the address leaves open where a unit goes, so that it can be told to go to some pools alone.
    fn goes_anywhere(&self) -> bool {
        true
    }

    /// Planes of a die that count as one, if it says so.
    fn planes_as_die(&self) -> Option<u32> {
        None
    }

    /// The pool at each stripe position.
    fn pools_in_order(&self, geometry: &Geometry) -> Vec<u32> {
        channel_first(geometry)
    }
}

policy_registry! {
    /// Which pool takes the next unit that the host writes.
    PageAllocationConfig as dyn PageAllocationParameters;
    "round-robin" => round_robin::RoundRobin, "pools in turn, channel first; those that cannot take a write are passed over";
    "static" => static_striping::StaticStriping, "the logical address decides, in one of 24 orders of channel, way, die and plane";
    "least-queue" => least_queue::LeastQueue, "the die on which the fewest accesses wait or run";
    "earliest-free" => earliest_free::EarliestFree, "the die that will be through first with what it has to do";
}

impl PageAllocationConfig {
    pub(crate) fn build(&self, geometry: &Geometry, positions: &[u32]) -> Box<dyn PageAllocation> {
        self.chosen().build(geometry, positions)
    }
}

/// Pools in an order in which neighbours lie on different channels.
fn channel_first(geometry: &Geometry) -> Vec<u32> {
    let (channels, sets_per_channel) = geometry.sets_by_channel();
    let mut pools = Vec::with_capacity(geometry.pools() as usize);
    for sub in 0..geometry.pools_per_die() {
        for set_in_channel in 0..sets_per_channel {
            for channel in 0..channels {
                let set = channel * sets_per_channel + set_in_channel;
                pools.push(set * geometry.pools_per_die() + sub);
            }
        }
    }
    pools
}
