//! Storage media as state machines: what a memory die does with a command, and how long it takes.
//!
//! The media answer three questions: may this command run now, how long do its phases take, and what is
//! the state of a die and its blocks afterwards. They decide nothing: when to issue, whom to serve first
//! and when to suspend are questions of the engine, which also owns the clock.
//!
//! This crate must not know logical addresses, requests, nor on whose behalf a command runs. Its own policies (`policies/`) are
//! laws of the media: how bits fail, and when verifying a write ends.

pub mod health;
pub mod nand;
mod parameter;
pub mod policies;
pub mod scm;

pub use nand::{
    CommandKind, DieState, Ended, EraseLoops, FlashCommand, IllegalCommand, LoopShares, Nand, NandTiming, Operation,
    PageTypes, PlaneGroups, PlaneReads, Stagger, TimeFactors, TimingError, Wear, WearFactors,
};
pub use parameter::ParameterError;
