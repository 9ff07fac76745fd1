//! The kinds of device there are: each is compiled once, in this crate, whoever runs it.
//!
//! The device is generic in its kind, and large. Were it generic in what its users choose (a type of probe, say), every
//! crate and every test program would compile all of it again.

use std::fmt::Debug;

use ninescope_ftl::Ftl;
use ninescope_kernel::{IndexedHeap, TournamentTree, WakeQueue};
use ninescope_media::nand::Nand;

use super::{Device, Progress};
use crate::config::{EngineConfig, RunLimits};
use crate::error::SimulationError;
use crate::host::LaneConfig;
use crate::probe::{NoProbe, Probe};
use crate::scm::ScmPart;

/// A kind of device: its wake-up queue (every queue gives the same run), and whether it is watched.
pub trait Kind: Sized + Debug + sealed::Compiled {
    /// What wakes its parts in order.
    type Queue: WakeQueue + Debug + Send;
    /// What is told each step.
    type Probe: Probe + Debug;
    /// Whether the device tells it anything at all.
    const ACTIVE: bool;
}

/// Nothing is watched, and nothing is told: the hot path.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// The same on the other wake-up queue, to compare with.
#[derive(Clone, Copy, Debug)]
pub struct OnHeap;

/// Each step is told to any probe there is, at the price of making the event and of a call through a table.
#[derive(Clone, Copy, Debug)]
pub struct Watched;

impl Kind for Plain {
    type Queue = TournamentTree;
    type Probe = NoProbe;
    const ACTIVE: bool = false;
}

impl Kind for OnHeap {
    type Queue = IndexedHeap;
    type Probe = NoProbe;
    const ACTIVE: bool = false;
}

impl Kind for Watched {
    type Queue = TournamentTree;
    type Probe = Box<dyn Probe>;
    const ACTIVE: bool = true;
}

mod sealed {
    use super::{Device, EngineConfig, Ftl, Kind, LaneConfig, Nand, Progress, RunLimits, ScmPart, SimulationError};

    /// What is large of a device, for each kind in functions that are not generic: whoever calls them finds them compiled.
    pub trait Compiled: Sized {
        fn assemble(
            config: &EngineConfig,
            limits: &RunLimits,
            media: (Ftl, Nand, ScmPart),
            lanes: Vec<LaneConfig>,
            probe: Self::Probe,
        ) -> Device<Self>
        where
            Self: Kind;

        fn run_slice(device: &mut Device<Self>, events: u64) -> Result<Progress, SimulationError>
        where
            Self: Kind;
    }
}

macro_rules! compiled {
    ($($kind:ty),*) => {
        $(impl sealed::Compiled for $kind {
            fn assemble(
                config: &EngineConfig,
                limits: &RunLimits,
                media: (Ftl, Nand, ScmPart),
                lanes: Vec<LaneConfig>,
                probe: <Self as Kind>::Probe,
            ) -> Device<Self> {
                Device::assemble(config, limits, media, lanes, probe)
            }

            fn run_slice(device: &mut Device<Self>, events: u64) -> Result<Progress, SimulationError> {
                device.handle_events(events)
            }
        })*
    };
}
compiled!(Plain, OnHeap, Watched);
