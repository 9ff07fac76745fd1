//! The channel: one transfer at a time. Bare commands (of reads and erases, which carry no data) go before
//! data, so that dies sense while data moves; within each kind, first come, first served.
//!
//! A transfer is a time stamp, not an event; a channel wakes only when somebody waits for it. Who gets it is
//! decided when everything else of an instant is done: a die freed at the instant at which its channel
//! frees is not too late.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::nand::CommandKind;
use ninescope_model::{ChannelId, DieId, Occupancy, Source};

use super::{DiePhase, DieUnit};
use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::transaction::QueueClass;

fn channel_link(dies: &mut [DieUnit], index: u32) -> &mut u32 {
    &mut dies[index as usize].channel_next
}

impl<K: Kind> Device<K> {
    /// Asks for the channel for the die's next phase. It is granted before time moves on if it is free.
    #[inline]
    pub(crate) fn request_channel(&mut self, die: DieId) {
        let channel_id = self.geometry.channel_of_die(die);
        let channel = &mut self.channels[channel_id.index()];
        let unit = &mut self.dies[die.index()];
        let bare = unit.phase == DiePhase::WaitingToSend && unit.command.kind != CommandKind::Program;
        unit.channel_requested = self.now;
        unit.ledger.enter(self.now, Occupancy::WaitingForChannel);
        let queue = if bare { &mut channel.commands } else { &mut channel.data };
        queue.push_back(&mut self.dies[..], die.0, channel_link);
        if self.dies[die.index()].shared {
            self.begin_shared_channel_wait(die);
        }
        self.channels_touched.set(channel_id.index());
    }

    /// Gives the channel to those that wait for it while it is free, and has it wake when it frees if some
    /// are left.
    #[inline]
    pub(crate) fn arbitrate_channel(&mut self, channel_id: ChannelId) -> Result<(), SimulationError> {
        loop {
            let channel = &mut self.channels[channel_id.index()];
            if channel.commands.is_empty() && channel.data.is_empty() {
                return Ok(());
            }
            if channel.free_at > self.now {
                self.queue.schedule(self.resources.channel(channel_id), channel.free_at);
                return Ok(());
            }
            let queue = if channel.commands.is_empty() { &mut channel.data } else { &mut channel.commands };
            let Some(die) = queue.pop_front(&mut self.dies[..], channel_link) else { return Ok(()) };
            self.counters.channel_waits += u64::from(self.dies[die as usize].channel_requested < self.now);
            self.grant_channel(DieId(die), channel_id)?;
        }
    }

    #[inline]
    fn grant_channel(&mut self, die: DieId, channel: ChannelId) -> Result<(), SimulationError> {
        if self.dies[die.index()].phase == DiePhase::WaitingToSend {
            self.send_command(die, channel)
        } else {
            self.send_data_out(die, channel)
        }
    }

    /// Command, address and, for a program, the data of each plane; the array starts right after.
    fn send_command(&mut self, die: DieId, channel: ChannelId) -> Result<(), SimulationError> {
        let now = self.now;
        let command = self.dies[die.index()].command;
        let encode = self.encode_time(&command);
        let mut data_in = Ns::ZERO;
        if command.kind == CommandKind::Program {
            for plane in command.addressed_planes() {
                data_in += self.nand.data_time(u64::from(command.bytes[plane]));
            }
        }
        let sent = now + self.nand.command_address_time(&command) + data_in;
        let unit = &mut self.dies[die.index()];
        unit.ledger.enter(now, unit.occupancy);
        unit.phase = DiePhase::Array;
        let unit = &mut self.channels[channel.index()];
        unit.busy += sent - now;
        unit.free_at = sent;
        let end = self
            .nand
            .begin_array(&command, sent + encode)
            .map_err(|source| SimulationError::Illegal { at: now, source })?;
        self.queue.schedule(self.resources.die(die), end);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if self.transactions.slab[index].tracked {
                let track = &mut self.transactions.tracks[index as usize];
                track.channel = now - track.mark;
                track.transfer = data_in;
                track.coding.time = encode;
                track.mark = now;
            }
        }
        if self.dies[die.index()].shared {
            self.end_shared_channel_wait(die, sent);
        }
        if command.kind != CommandKind::Read && self.dies[die.index()].has_waiting(QueueClass::HostRead) {
            // Reads that were queued while the command waited, for its turn or for the channel.
            self.consider_suspend(die);
        }
        self.count_command(&command);
        self.digest_command(&command);
        observe!(self, Event::CommandIssued { command: &command, sent, begins: sent + encode });
        Ok(())
    }

    /// Read data of each plane in turn. Each page goes on to whoever asked for it as soon as it has left.
    fn send_data_out(&mut self, die: DieId, channel: ChannelId) -> Result<(), SimulationError> {
        if self.reliability.is_some() {
            return self.send_coded_data_out(die, channel);
        }
        let now = self.now;
        let command = self.dies[die.index()].command;
        let mut left = now;
        let (mut staying_planes, mut brought_up) = (0, false);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let begins = left;
            left += self.nand.data_time(u64::from(command.bytes[plane]));
            let own_before = self.own_data_before(&command, plane);
            let transaction = self.transactions.slab[index];
            if transaction.source != Source::Host {
                staying_planes |= 1 << plane;
                continue;
            }
            brought_up |= transaction.brings_up().is_some();
            self.dies[die.index()].bringing_up[plane] = transaction.brings_up();
            let track = &mut self.transactions.tracks[index as usize];
            track.channel += begins - track.mark - own_before;
            track.own_parts += own_before;
            track.transfer = left - begins;
            let bytes = u64::from(transaction.sectors) * 512;
            self.queue_link_out(LinkJob { ready: left, bytes, command: transaction.command(), transaction: index });
        }
        for plane in command.addressed_planes().filter(|plane| staying_planes >> plane & 1 == 1) {
            if self.transactions.slab[command.transaction[plane]].tracked {
                self.data_stay_for_command(&command, plane, left);
            }
        }
        let unit = &mut self.channels[channel.index()];
        unit.busy += left - now;
        unit.free_at = left;
        if self.dies[die.index()].shared {
            self.end_shared_channel_wait(die, left);
            self.close_shares(die, left);
        }
        let unit = &mut self.dies[die.index()];
        unit.ledger.enter_until(now, unit.occupancy, left);
        unit.phase = DiePhase::DataOut;
        unit.data_out_end = left;
        unit.staying_planes = staying_planes;
        // Nobody has to decide anything at the end of a host read on a die with nothing else to do.
        if staying_planes != 0 || brought_up || unit.waiting != 0 || self.nand.parked(die).is_some() {
            self.queue.schedule(self.resources.die(die), left);
        }
        observe!(self, Event::DataOut { command: &command, until: left, held: left });
        Ok(())
    }
}
