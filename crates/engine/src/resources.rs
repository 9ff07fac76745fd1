//! The numbers under which dies, channels, banks and stages own their wake-ups.

use ninescope_kernel::ResourceId;
use ninescope_model::{BankId, ChannelId, DieId};

/// Wake-up slots in their order at equal times: resources that free, then timers, then arrivals, then interrupts, then fetches,
/// then writes that a cache holds back, then those that a throttle does, then cores of the firmware, then TRIMs that were put off,
/// then how warm the drive is.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// Dies, and behind them the planes that read each by itself.
    pub dies: u32,
    pub channels: u32,
    pub banks: u32,
    /// The first resource that is no medium.
    pub stages: u32,
}

impl Resources {
    pub fn new(dies: u32, channels: u32, banks: u32, bank_channels: u32) -> Self {
        Self { dies, channels, banks, stages: dies + channels + banks + bank_channels }
    }

    #[inline]
    #[allow(clippy::unused_self)] // dies come first: their ids are their resources
    pub fn die(self, die: DieId) -> ResourceId {
        ResourceId(die.0)
    }

    #[inline]
    pub fn channel(self, channel: ChannelId) -> ResourceId {
        ResourceId(self.dies + channel.0)
    }

    #[inline]
    pub fn bank(self, bank: BankId) -> ResourceId {
        ResourceId(self.dies + self.channels + bank.0)
    }

    #[inline]
    pub fn bank_channel(self, channel: ChannelId) -> ResourceId {
        ResourceId(self.dies + self.channels + self.banks + channel.0)
    }

    pub fn processor(self) -> ResourceId {
        ResourceId(self.stages)
    }

    pub fn link_in(self) -> ResourceId {
        ResourceId(self.stages + 1)
    }

    pub fn link_out(self) -> ResourceId {
        ResourceId(self.stages + 2)
    }

    pub fn page_timer(self) -> ResourceId {
        ResourceId(self.stages + 3)
    }

    pub fn timetable(self) -> ResourceId {
        ResourceId(self.stages + 4)
    }

    pub fn memory_timer(self) -> ResourceId {
        ResourceId(self.stages + 5)
    }

    pub fn rest_timer(self) -> ResourceId {
        ResourceId(self.stages + 6)
    }

    pub fn dram(self) -> ResourceId {
        ResourceId(self.stages + 7)
    }

    pub fn arrival(self) -> ResourceId {
        ResourceId(self.stages + 8)
    }

    pub fn interrupts(self) -> ResourceId {
        ResourceId(self.stages + 9)
    }

    pub fn fetch(self) -> ResourceId {
        ResourceId(self.stages + 10)
    }

    pub fn held_writes(self) -> ResourceId {
        ResourceId(self.stages + 11)
    }

    pub fn throttle(self) -> ResourceId {
        ResourceId(self.stages + 12)
    }

    pub fn firmware(self) -> ResourceId {
        ResourceId(self.stages + 13)
    }

    pub fn trims(self) -> ResourceId {
        ResourceId(self.stages + 14)
    }

    pub fn heat(self) -> ResourceId {
        ResourceId(self.stages + 15)
    }

    /// Those beside dies that have a wake-up while they work: not timers, arrivals, writes held back, TRIMs put off
    /// and heat, for which dies wait.
    pub fn at_work(self) -> impl Iterator<Item = ResourceId> {
        let stages = [self.processor(), self.link_in(), self.link_out(), self.memory_timer(), self.dram()];
        let others = [self.interrupts(), self.fetch(), self.firmware()];
        (self.dies..self.stages).map(ResourceId).chain(stages).chain(others)
    }

    pub fn count(self) -> usize {
        (self.stages + 16) as usize
    }
}
