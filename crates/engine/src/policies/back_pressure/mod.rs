//! How a cache pushes back: when a write of the host that goes there is taken in.
//!
//! Whatever a policy says, a write that was taken in and finds no free slot waits for one.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

pub use paced::Paced;

/// What is known of a cache, or of a tenant's part of it, when a write comes.
#[derive(Clone, Copy, Debug)]
pub struct CacheView {
    /// The time.
    pub now: Ns,
    /// Slots there are.
    pub slots: u32,
    /// Those that are free, or will be as soon as those have read them that are about to.
    pub free: u32,
    /// Pages on their way down.
    pub leaving: u32,
}

/// When a write is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Now.
    Now,
    /// Not before a page that is on its way down is there: it is asked for again then.
    WhenOneIsBelow,
    /// At that time, unless others are before it.
    At(Ns),
}

/// Says when the write that is next is taken in. Asked once when nobody is before it, and again where it said so.
pub trait BackPressure: Debug + Send {
    /// The write that is next.
    fn admit(&mut self, view: &CacheView) -> Admission;
}

/// What a policy can be told.
pub trait BackPressureParameters {
    /// The policy, for each part of a cache; `None` where writes are taken in as they come. The drive has so many planes of flash,
    /// or banks, below.
    fn build(&self, planes: u32) -> Option<Box<dyn BackPressure>>;

    /// What is wrong with its parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// How a cache pushes back.
    BackPressureConfig as dyn BackPressureParameters;
    "free-slots" => free_slots::FreeSlots, "writes are taken in as they come, and wait for a slot where none is free";
    "pages-in-flight" => pages_in_flight::PagesInFlight, "a write waits while so many pages are on their way down, whatever is free: as MQSim's limit";
    "paced" => paced::Paced, "from a watermark on writes are taken in one by one, the further apart the less is free: no cliff where it is full";
}
