//! What goes next over a channel that is free: a command, or data.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;

/// What waits for a channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelView {
    /// When the first that waits to send a command asked for the channel.
    pub command_asked: Ns,
    /// When the first that waits to move data asked for it.
    pub data_asked: Ns,
}

/// Orders what crosses a channel. Asked when it is free and both a command and data wait; within each of the two it is
/// first come, first served.
pub trait ChannelArbitration: Debug + Send {
    /// Whether the data go first.
    fn data_first(&mut self, view: &ChannelView) -> bool;
}

/// What an order can be told.
pub trait ChannelArbitrationParameters {
    /// The policy; `None` where commands always go first, so that nobody need be asked.
    fn build(&self) -> Option<Box<dyn ChannelArbitration>>;

    /// Whether a program, which brings its data with it, waits among the commands and not among the data.
    fn programs_are_commands(&self) -> bool {
        false
    }
}

policy_registry! {
    /// What goes next over a channel that is free.
    ChannelArbitrationConfig as dyn ChannelArbitrationParameters;
    "commands-first" => commands_first::CommandsFirst, "commands of reads and erases before data, so that dies sense while data move";
    "first-come" => first_come::FirstCome, "in the order of asking, whatever it is";
    "read-data-first" => read_data_first::ReadDataFirst, "data of reads before commands and programs: dies that are idle wait for what their neighbours have read";
}
