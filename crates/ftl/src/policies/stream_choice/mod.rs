//! Which write stream takes a unit, when it is written and when garbage collection moves it.
//!
//! Each stream has a frontier of its own in each pool, so that a block group holds units of one stream. What a stream
//! stands for beyond that (another code, say) is its readers' business.

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::{Stream, policy_registry};

/// Chooses streams. Asked once per unit written or moved, where clean data is known at all.
pub trait StreamChoice: Debug + Send + Snapshot {
    /// Whether it is of any consequence that data is clean, which costs one bit per unit to know.
    fn knows_clean(&self) -> bool {
        false
    }

    /// The stream that takes a unit from the host: [`Stream::HOST`] or [`Stream::APART`].
    fn of_write(&self, clean: bool) -> Stream;

    /// The stream that takes a unit that garbage collection moves: [`Stream::GC`] or [`Stream::GC_APART`].
    fn of_move(&self, clean: bool) -> Stream;
}

/// What a choice of streams can be told.
pub trait StreamChoiceParameters {
    /// The policy.
    fn build(&self) -> Box<dyn StreamChoice>;
}

policy_registry! {
    /// Which write stream takes a unit.
    StreamChoiceConfig as dyn StreamChoiceParameters;
    "single" => single::Single, "one stream for what the host writes, one for what garbage collection moves";
    "clean-apart" => clean_apart::CleanApart, "clean data, which lies elsewhere too, has streams of its own";
}

impl StreamChoiceConfig {
    pub(crate) fn build(&self) -> Box<dyn StreamChoice> {
        self.chosen().build()
    }

    /// Whether it tells clean data from dirty data.
    pub fn knows_clean(&self) -> bool {
        self.build().knows_clean()
    }
}
