//! Giving a free die its next command.

use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, DieState, FlashCommand};
use ninescope_model::{DieId, Lpa, Pool, Source};

use super::DiePhase;
use super::transaction_scheduler::DieView;
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Access, Event, observe};
use crate::transaction::{CLASSES, QueueClass, Transaction, TransactionStore};

/// How many waiting transactions are looked at to fill the other planes of a command.
const MERGE_WINDOW: usize = 8;

impl<K: Kind> Device<K> {
    /// Issues the next command of a die if it is free and something waits; resumes a parked operation if
    /// nothing does.
    pub(crate) fn dispatch(&mut self, die: DieId) -> Result<(), SimulationError> {
        self.free_after_data_out(die);
        if self.dies[die.index()].phase != DiePhase::Free {
            return Ok(());
        }
        let parked = match self.nand.state(die) {
            DieState::Idle => false,
            DieState::Suspended { .. } => true,
            _ => return Ok(()),
        };
        match self.next_class(die, parked) {
            Some(class) => self.issue(die, class)?,
            None if parked => self.resume_parked(die)?,
            None => {}
        }
        self.take_late_snapshot(die);
        Ok(())
    }

    /// The class to serve: the scheduler's choice, or reads alone beside a parked operation.
    fn next_class(&mut self, die: DieId, parked: bool) -> Option<QueueClass> {
        if self.dies[die.index()].waiting == 0 {
            return None;
        }
        if parked {
            let reads_wait = self.dies[die.index()].has_waiting(QueueClass::HostRead);
            return (reads_wait && !self.parked_goes_before_reads(die)).then_some(QueueClass::HostRead);
        }
        let unit = &self.dies[die.index()];
        let idle_reads = 1 << QueueClass::IdleRead as u8;
        let waiting = unit.waiting & !idle_reads;
        // One class alone is no decision.
        if waiting == 1 << QueueClass::HostRead as u8 {
            return Some(QueueClass::HostRead);
        }
        if waiting == 0 {
            return Some(QueueClass::IdleRead);
        }
        let mut head_queued = [Ns::ZERO; CLASSES];
        for (queued, queue) in head_queued.iter_mut().zip(&unit.queues) {
            if !queue.is_empty() {
                *queued = self.transactions.slab[queue.head()].queued;
            }
        }
        let pools_per_die = self.geometry.pools_per_die();
        let first_pool = die.0 * pools_per_die;
        let is_urgent = |pool: Pool| self.ftl.gc_is_urgent(pool) && !self.ftl.is_refreshing(pool);
        let gc_is_urgent = (first_pool..first_pool + pools_per_die).map(Pool).any(is_urgent);
        self.scheduler.pick(&DieView { waiting, head_queued, gc_is_urgent })
    }

    fn issue(&mut self, die: DieId, class: QueueClass) -> Result<(), SimulationError> {
        let mut command =
            if class == QueueClass::Erase { self.form_erase(die) } else { self.form_page_command(die, class) };
        if self.reliability.as_ref().is_some_and(|part| part.shapes_commands) {
            self.code_command(&mut command);
        }
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        let unit = &mut self.dies[die.index()];
        unit.command = command;
        unit.occupancy = class.occupancy(self.transactions.slab[first].source);
        unit.phase = DiePhase::WaitingToSend;
        unit.shared = false;
        if class == QueueClass::HostRead || class == QueueClass::HostProgram {
            self.close_queue_waits(die);
        }
        if self.dies[die.index()].shared {
            self.open_shares(die);
        }
        self.request_channel(die);
        if K::ACTIVE {
            let mut planes = [Access::default(); 4];
            let accesses = self.accesses_of(&command, &mut planes);
            observe!(self, Event::Dispatched { command: &command, class, accesses });
        }
        Ok(())
    }

    /// What a probe is told of a command's transactions.
    fn accesses_of<'a>(&self, command: &FlashCommand, planes: &'a mut [Access; 4]) -> &'a [Access] {
        let mut count = 0;
        for plane in command.addressed_planes() {
            let transaction = command.transaction[plane];
            let access = self.transactions.slab[transaction];
            let Transaction { queued, source, class, tracked, .. } = access;
            let (slot, lpa) = match (class, source) {
                (QueueClass::HostRead, Source::Host) => (access.command(), Lpa::NONE),
                (QueueClass::HostRead, Source::ReadModifyWrite) => {
                    let record = &self.transactions.units[access.records()];
                    (record.parent, record.lpa)
                }
                (QueueClass::HostProgram, Source::Host) if tracked => {
                    (self.transactions.units[access.records()].parent, Lpa::NONE)
                }
                _ => (NONE, Lpa::NONE),
            };
            planes[count] = Access { transaction, ppa: access.ppa(), queued, source, slot, lpa };
            count += 1;
        }
        &planes[..count]
    }

    /// Takes the first transaction of a queue and those behind it that can run in other planes beside it.
    fn form_page_command(&mut self, die: DieId, class: QueueClass) -> FlashCommand {
        let link = TransactionStore::link;
        let queue = &mut self.dies[die.index()].queues[class as usize];
        let slab = &mut self.transactions.slab;
        let first = queue.pop_front(slab, link).expect("the scheduler picks a class that waits");
        let kind = match class {
            QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead => CommandKind::Read,
            _ => CommandKind::Program,
        };
        let first_unit = self.geometry.locate(slab[first].ppa());
        let (pool, block) = self.geometry.pool_and_block(first_unit.group);
        let plane = self.geometry.first_plane_of_pool(pool) + first_unit.plane_in_group;
        let mut command = FlashCommand { kind, die, page: first_unit.page, ..FlashCommand::default() };
        let unit_bytes = self.geometry.unit_bytes;
        let add = |command: &mut FlashCommand, plane: u32, block: u32, index: u32, units: u8| {
            let plane = plane as usize;
            command.planes |= 1 << plane;
            command.block[plane] = block;
            // A read moves the units asked for, a program the whole page.
            command.bytes[plane] =
                if kind == CommandKind::Read { u32::from(units) * unit_bytes } else { self.geometry.page_bytes };
            command.transaction[plane] = index;
        };
        add(&mut command, plane, block, first, slab[first].units);
        // What is read again is sensed in its own way.
        if self.multi_plane && slab[first].attempts == 0 {
            let any_block = kind == CommandKind::Read && self.read_any_block;
            let (mut previous, mut index) = (NONE, queue.head());
            // A program that cannot run beside the first one holds back those behind it in its pool: the pages of
            // a group are programmed in order.
            let mut taken = command.planes;
            let planes_of_pool = (1 << self.geometry.frontier_planes) - 1;
            for _ in 0..MERGE_WINDOW {
                if index == NONE || command.plane_count() == self.geometry.planes_per_die {
                    break;
                }
                let Transaction { next, units, attempts, .. } = slab[index];
                let other = self.geometry.locate(slab[index].ppa());
                let (other_pool, other_block) = self.geometry.pool_and_block(other.group);
                let other_plane = self.geometry.first_plane_of_pool(other_pool) + other.plane_in_group;
                let fits = taken >> other_plane & 1 == 0
                    && attempts == 0
                    && other.page == first_unit.page
                    && (any_block || other_block == block);
                if fits {
                    taken |= 1 << other_plane;
                    queue.remove_after(slab, previous, link);
                    add(&mut command, other_plane, other_block, index, units);
                } else {
                    if kind == CommandKind::Program {
                        taken |= planes_of_pool << self.geometry.first_plane_of_pool(other_pool);
                    }
                    previous = index;
                }
                index = next;
            }
        }
        if queue.is_empty() {
            self.dies[die.index()].waiting &= !(1 << class as u8);
        }
        command
    }

    /// An erase covers a whole group: one block in each of its planes.
    fn form_erase(&mut self, die: DieId) -> FlashCommand {
        let unit = &mut self.dies[die.index()];
        let queue = &mut unit.queues[QueueClass::Erase as usize];
        let index = queue
            .pop_front(&mut self.transactions.slab, TransactionStore::link)
            .expect("the scheduler picks a class that waits");
        if queue.is_empty() {
            unit.waiting &= !(1 << QueueClass::Erase as u8);
        }
        let group = self.geometry.group_and_offset(self.transactions.slab[index].ppa()).0;
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

    /// The command's transactions leave the queue: the difference of the die's ledger since they were
    /// queued is their wait, split by what held the die.
    #[inline]
    fn close_queue_waits(&mut self, die: DieId) {
        let now = self.now;
        let unit = &mut self.dies[die.index()];
        for plane in unit.command.addressed_planes() {
            let index = unit.command.transaction[plane];
            let Transaction { tracked, class, .. } = self.transactions.slab[index];
            let track = &self.transactions.tracks[index as usize];
            if !tracked && class == QueueClass::HostProgram {
                unit.shared |= self.own_parts.of_lasting(track.filled_by) != NONE;
                continue;
            }
            unit.shared |= track.share != NONE;
            if !tracked {
                continue;
            }
            if unit.unsnapped == index {
                unit.unsnapped = NONE;
            }
            debug_assert!(track.snapshot_taken || track.mark == now, "a transaction that waits has a snapshot");
            let ledger = unit.ledger.read(now);
            self.transactions.end_wait(&self.own_parts, index, now, ledger);
        }
    }

    /// A transaction that was queued on the idle die at this instant and was not issued now has to wait:
    /// the ledger still stands where it stood then.
    #[inline]
    fn take_late_snapshot(&mut self, die: DieId) {
        let unit = &mut self.dies[die.index()];
        let index = std::mem::replace(&mut unit.unsnapped, NONE);
        if index != NONE {
            let ledger = unit.ledger.read(self.now);
            self.transactions.begin_wait(&self.own_parts, index, self.now, ledger);
        }
    }
}
