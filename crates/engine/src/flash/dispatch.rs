//! Giving a free die its next command.

use ninescope_kernel::{NONE, WakeQueue};
use ninescope_media::nand::{CommandKind, DieState, FlashCommand};
use ninescope_model::{DieId, Occupancy, Pool};

use super::copyback::{Copied, copied_from};
use super::place::place_of;
use super::{Flash, merging};
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{QueueClass, Transaction, TransactionStore};

/// What a free die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It takes up what waits in this class.
    Issue(QueueClass),
    /// It takes its parked operation up again: nothing that may run beside it waits, or it has waited long enough itself.
    Resume,
    /// It rests.
    Rest,
    /// It fails.
    Fail,
}

impl Flash {
    /// The next die that may be given a command before time moves on.
    #[inline]
    pub fn next_touched_die(&mut self) -> Option<DieId> {
        self.dies.next_touched().map(DieId)
    }

    /// What a die does next, if it is free.
    #[inline]
    pub fn turn_of<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) -> Option<Turn> {
        if self.planes.is_some() {
            return self.turn_by_planes(run, die);
        }
        self.dies.free_after_data_out(run, die.0);
        if self.dies[die.0].phase() != Phase::Free {
            return self.turn_after_sensing(run, die);
        }
        let parked = match self.nand.state(die) {
            DieState::Idle => false,
            DieState::Suspended { .. } => true,
            _ => return None,
        };
        if self.is_to_fail(die) {
            return Some(if parked { Turn::Resume } else { Turn::Fail });
        }
        Some(match self.next_class(run, die, parked) {
            Some(class) => Turn::Issue(class),
            None if parked => Turn::Resume,
            None => Turn::Rest,
        })
    }

    /// The class to serve: the scheduler's choice, or reads alone beside a parked operation.
    #[inline]
    pub(super) fn next_class<Q>(&mut self, run: &Run<Q>, die: DieId, parked: bool) -> Option<QueueClass> {
        if parked {
            let reads_wait = self.dies[die.0].has_waiting(QueueClass::HostRead);
            return (reads_wait && !self.parked_goes_before_reads(run, die)).then_some(QueueClass::HostRead);
        }
        let ftl = &self.ftl;
        let geometry = &self.geometry;
        let is_timed = self.collection.is_timed();
        let is_urgent = |pool: Pool| {
            let is_awaited = ftl.gc_is_urgent(pool) || is_timed && ftl.gc_is_overdue(pool);
            is_awaited && !ftl.is_refreshing(pool)
        };
        self.dies.pick(run, die.0, || geometry.pools_of_die(die).map(Pool).any(is_urgent))
    }

    /// Takes what a command is made of from its queue.
    #[inline]
    pub fn form_command<Q>(&mut self, run: &mut Run<Q>, die: DieId, class: QueueClass) -> FlashCommand {
        if self.planes.is_some() && class.is_read() {
            return self.form_plane_read(run, die, class);
        }
        if class == QueueClass::Erase { self.form_erase(run, die) } else { self.form_page_command(run, die, class) }
    }

    /// A die takes up a command, or a plane that reads by itself: it is to ask for its channel, at once or when the data are there.
    /// Returns which of them it is.
    #[inline]
    pub fn take_up<Q>(&mut self, run: &mut Run<Q>, command: &FlashCommand, class: QueueClass) -> u32 {
        let (die, station) = (command.die, self.station_of(command));
        let occupancy = run.occupancy_of(command);
        let unit = &mut self.dies[station];
        unit.work.command = *command;
        unit.work.shared = run.transactions.tenants.is_some();
        unit.occupancy = occupancy;
        unit.goes_on(Phase::WaitingToSend);
        if station != die.0 {
            self.plane_begins(run, command);
        }
        if let Some(power) = &mut run.power {
            power.takes(die, command.kind);
        }
        if class == QueueClass::HostRead || class == QueueClass::HostProgram {
            self.close_queue_waits(run, command, station);
        }
        if self.dies[station].work.shared {
            self.collection_counts_for_tenants(run, command);
            self.open_shares(run, station);
        }
        station
    }

    /// The data of the command of a die or plane are there, if it has any: it asks for its channel.
    #[inline]
    pub fn ask_to_send<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        self.request_channel(run, station, Phase::WaitingToSend);
    }

    /// They are not there yet, for which the die waits as it does for its channel.
    pub fn waits_for_data<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        self.dies[die.0].enter(run.now, Phase::WaitingForMemory, Occupancy::WaitingForChannel);
        self.planes_follow(run, die);
    }

    /// What a die was given at this instant and did not take up has to wait.
    #[inline]
    pub fn turn_ends<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        self.dies.take_late_snapshot(run, die.0);
    }

    /// Takes the first transaction of a queue and those behind it that can run in other planes beside it.
    fn form_page_command<Q>(&mut self, run: &mut Run<Q>, die: DieId, class: QueueClass) -> FlashCommand {
        if self.classes.is_some() {
            self.take_by_class(run, die, class);
        }
        let may_copy = class == QueueClass::MoveProgram && self.copybacks.is_some();
        let queue = self.dies[die.0].queue(class);
        let units = &run.transactions.units;
        let slab = &mut run.transactions.slab;
        let first = queue.pop_front(slab, TransactionStore::link).expect("the scheduler picks a class that waits");
        let kind = match class {
            QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead => CommandKind::Read,
            _ => CommandKind::Program,
        };
        let (geometry, sectors) = (&self.geometry, &self.sectors);
        // A read moves the units asked for, a program the whole page.
        let moved = |access: &Transaction| match (sectors, kind) {
            (Some(sectors), _) => sectors.moved(access, geometry, kind == CommandKind::Read),
            (None, CommandKind::Read) => access.read_bytes(geometry.unit_bytes),
            (None, _) if geometry.pages_per_program > 1 => u32::from(access.units) * geometry.unit_bytes,
            (None, _) => geometry.page_bytes,
        };
        let mut command = FlashCommand { kind, die, ..FlashCommand::default() };
        merging::add(&mut command, place_of(&slab[first], geometry), first, moved(&slab[first]));
        command.page_type = self.merging.page_type(&slab[first], &self.nand);
        let copied = |access: &Transaction| if may_copy { copied_from(units, geometry, access) } else { None };
        let (copy, any_block) = (copied(&slab[first]), self.nand.reads_any_block());
        let goes_with = |other: &Transaction| Copied::fit(copy, copied(other), any_block);
        self.merging.add_those_beside(&mut command, (&mut *queue, &mut *slab), geometry, (moved, goes_with));
        if kind == CommandKind::Program && geometry.pages_per_program > 1 {
            Self::add_rest_of_wordlines(&mut command, (queue, &mut *slab), geometry, moved);
        }
        if copy.is_some() {
            for plane in command.addressed_planes() {
                if let Some(copy) = copied(&slab[command.transaction[plane]]) {
                    copy.join(&mut command, plane as u32, &mut self.nand);
                }
            }
        }
        self.dies[die.0].taken_from(class);
        command
    }

    /// An erase covers a whole group: one block in each of its planes, of the die that it is for.
    fn form_erase<Q>(&mut self, run: &mut Run<Q>, die: DieId) -> FlashCommand {
        let index = self.dies.take_first(&mut run.transactions, die.0, QueueClass::Erase);
        let group = self.geometry.locate(run.transactions.slab[index].ppa()).group;
        let (pool, block) = self.geometry.pool_and_block(group);
        let first_plane = self.geometry.first_plane_of_pool(pool);
        let mut command = FlashCommand { kind: CommandKind::Erase, die, ..FlashCommand::default() };
        for plane in first_plane..first_plane + self.geometry.frontier_planes {
            command.planes |= 1 << plane;
            command.block[plane as usize] = block;
            command.transaction[plane as usize] = index;
        }
        command
    }

    /// The command's transactions leave the queue, in which they waited for the die.
    #[inline]
    fn close_queue_waits<Q>(&mut self, run: &mut Run<Q>, command: &FlashCommand, station: u32) {
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let Transaction { tracked, class, .. } = run.transactions.slab[index];
            let unit = &mut self.dies[station];
            if !tracked && class == QueueClass::HostProgram {
                unit.work.shared |= run.transactions.share_of(index) != NONE;
                continue;
            }
            unit.work.shared |= run.transactions.joined_share(index) != NONE;
            if !tracked {
                continue;
            }
            debug_assert!(run.transactions.wait_is_known(index, run.now), "a transaction that waits has a snapshot");
            self.dies.end_wait(run, station, index);
        }
    }
}
