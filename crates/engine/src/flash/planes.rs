//! Planes that read each by itself, where the part can.
//!
//! A die has one queue, and programs and erases take all of it, as ever. Beside each die stand its planes, which are stations of their
//! own: with a ledger, a wake-up and a place in the queue of the channel, and nothing queued. A read goes to its plane as soon as that
//! is free, past others whose planes are not. What takes the whole die, once chosen, is next: until its planes are through, no other
//! read begins.
//!
//! Every nanosecond of a die and of each of its planes lies in one occupancy here, too. While planes read, a die is occupied with what
//! the first of them to begin is; a plane that reads nothing is occupied with what its die is, as long as that keeps it from reading.
//! So it is with whom that is for.

use ninescope_kernel::{NONE, WakeQueue};
use ninescope_media::nand::{CommandKind, DieState, Ended, FlashCommand};
use ninescope_model::{DieId, Geometry, Occupancy, PLANES_MAX};

use super::dispatch::Turn;
use super::merging;
use super::place::place_of;
use super::{Flash, Nand};
use crate::error::SimulationError;
use crate::meter::LastingShare;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{QueueClass, Transaction, TransactionStore};

/// What a die does next as soon as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    /// It takes up what waits in this class.
    Class(QueueClass),
    /// It takes its parked operation up again.
    Resume,
}

/// What the planes of a die read.
#[derive(Clone, Copy, Debug, Default)]
struct DieReads {
    /// The planes that do, the first to begin in front.
    order: [u8; PLANES_MAX as usize],
    /// How many do.
    count: usize,
    /// What was chosen, and waits for a plane or for all of them.
    chosen: Option<Chosen>,
}

impl DieReads {
    fn begins(&mut self, plane: u32) {
        self.order[self.count] = plane as u8;
        self.count += 1;
    }

    fn ends(&mut self, plane: u32) {
        if let Some(at) = self.order[..self.count].iter().position(|&other| u32::from(other) == plane) {
            self.order.copy_within(at + 1..self.count, at);
            self.count -= 1;
        }
    }

    fn reads(&self, plane: u32) -> bool {
        self.order[..self.count].iter().any(|&other| u32::from(other) == plane)
    }

    fn first(&self) -> Option<u32> {
        self.order[..self.count].first().map(|&plane| u32::from(plane))
    }

    /// It begins nothing but what was chosen.
    fn is_held(&self) -> bool {
        match self.chosen {
            Some(Chosen::Class(class)) => !class.is_read(),
            Some(Chosen::Resume) => true,
            None => false,
        }
    }
}

/// The planes of all dies.
#[derive(Debug)]
pub(super) struct Planes {
    /// Of each die.
    count: u32,
    /// The station of the first one.
    first: u32,
    dies: Vec<DieReads>,
    /// By station: what commands have of it for which another one works that it follows.
    beside: Vec<[LastingShare; PLANES_MAX as usize]>,
    /// The read that was found for a free plane: what is before it in its queue, and itself.
    found: (u32, u32),
}

impl Planes {
    /// Nothing where the planes of a die read together.
    pub fn new(geometry: &Geometry, nand: &Nand) -> Option<Box<Self>> {
        let (first, count) = (geometry.dies(), geometry.planes_per_die);
        nand.planes_read_independently().then(|| {
            Box::new(Self {
                count,
                first,
                dies: vec![DieReads::default(); first as usize],
                beside: vec![[LastingShare::NONE; PLANES_MAX as usize]; (first * (1 + count)) as usize],
                found: (NONE, NONE),
            })
        })
    }

    fn station(&self, die: DieId, plane: u32) -> u32 {
        self.first + die.0 * self.count + plane
    }
}

impl Flash {
    /// Where a command runs: on its die, or on the plane that reads by itself.
    #[inline]
    pub(super) fn station_of(&self, command: &FlashCommand) -> u32 {
        if self.planes.is_some() { self.plane_of(command) } else { command.die.0 }
    }

    #[inline(never)]
    fn plane_of(&self, command: &FlashCommand) -> u32 {
        match &self.planes {
            Some(planes) if command.kind == CommandKind::Read => {
                planes.station(command.die, command.first_plane() as u32)
            }
            _ => command.die.0,
        }
    }

    /// The station that a transaction waits for, where planes read by themselves: its plane or its die.
    #[inline(never)]
    fn awaited_station(&self, die: DieId, access: &Transaction) -> u32 {
        match &self.planes {
            Some(planes) if access.class.is_read() => planes.station(die, place_of(access, &self.geometry).plane),
            _ => die.0,
        }
    }

    /// Queues a transaction where planes read by themselves.
    #[inline(never)]
    pub(super) fn join_plane<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId, index: u32, access: &Transaction) {
        let station = self.awaited_station(die, access);
        if access.tracked || access.class == QueueClass::HostRead {
            let command = Self::command_with_shares(run, access);
            let [_, channel] = self.die_and_channel(die);
            run.transactions.join_share(index, command, [self.dies.resource(station), channel]);
        }
        if access.tracked {
            self.dies.begin_wait(run, station, index);
        }
        self.dies.join_queue(run, die.0, index, access.class);
    }

    /// How many planes of a die read by themselves.
    pub(super) fn planes_reading(&self, die: DieId) -> u32 {
        self.planes.as_ref().map_or(0, |planes| planes.dies[die.index()].count as u32)
    }

    /// When the last plane of a die is through with what it senses, or was by now, if none does.
    pub(super) fn planes_sense_until(&self, die: DieId, now: u64) -> u64 {
        let Some(planes) = &self.planes else { return now };
        let ends = (0..planes.count).filter_map(|plane| self.nand.plane_read(die, plane));
        ends.map(|read| read.end().0).fold(now, u64::max)
    }

    // ---- choosing --------------------------------------------------------------------------------

    /// What a die does next whose planes read by themselves. What waits for a plane or for all of them stays chosen.
    #[inline(never)]
    pub(super) fn turn_by_planes<Q>(&mut self, run: &mut Run<Q>, die: DieId) -> Option<Turn> {
        let unit = &self.dies[die.0];
        let parked = match self.nand.state(die) {
            DieState::Idle => false,
            DieState::Suspended { .. } => true,
            _ => return None,
        };
        if unit.phase() != Phase::Free {
            return None;
        }
        let kept = self.reads_of(die).chosen.filter(|chosen| match chosen {
            Chosen::Class(class) => unit.has_waiting(*class),
            Chosen::Resume => true,
        });
        let chosen = kept.or_else(|| self.choose(run, die, parked));
        let was_held = self.reads_of(die).is_held();
        let turn = self.turn_with(run, die, (parked, chosen));
        if self.reads_of(die).is_held() != was_held {
            self.settle_planes(run, die);
        }
        turn
    }

    /// What it is to do: the scheduler's choice, or beside a parked operation reads, or that operation before those.
    fn choose<Q>(&mut self, run: &Run<Q>, die: DieId, parked: bool) -> Option<Chosen> {
        let reads_wait = self.dies[die.0].has_waiting(QueueClass::HostRead);
        match self.next_class(run, die, parked) {
            Some(class) => Some(Chosen::Class(class)),
            None if parked && reads_wait => Some(Chosen::Resume),
            None => None,
        }
    }

    /// What it does of that now.
    fn turn_with<Q>(&mut self, run: &Run<Q>, die: DieId, (parked, chosen): (bool, Option<Chosen>)) -> Option<Turn> {
        let all_free = self.reads_of(die).count == 0;
        self.reads_of_mut(die).chosen = chosen;
        let turn = match chosen {
            Some(Chosen::Class(class)) if class.is_read() => return self.turn_to_read(run, die, class, parked),
            Some(Chosen::Class(class)) => Turn::Issue(class),
            Some(Chosen::Resume) => Turn::Resume,
            None if parked => Turn::Resume,
            None => Turn::Rest,
        };
        if all_free {
            self.reads_of_mut(die).chosen = None;
        }
        all_free.then_some(turn)
    }

    /// A read of a class goes if its plane is free; if it is not, one of another class may, which is not in its way.
    fn turn_to_read<Q>(&mut self, run: &Run<Q>, die: DieId, class: QueueClass, parked: bool) -> Option<Turn> {
        if self.find_read(run, die, class) {
            self.reads_of_mut(die).chosen = None;
            return Some(Turn::Issue(class));
        }
        if parked {
            self.reads_of_mut(die).chosen = None;
        }
        let others = if parked { &[][..] } else { &[QueueClass::HostRead, QueueClass::MoveRead] };
        let other = others.iter().copied().find(|&other| other != class && self.find_read(run, die, other));
        other.map(Turn::Issue)
    }

    /// Looks for the first read of a class whose plane is free.
    fn find_read<Q>(&mut self, run: &Run<Q>, die: DieId, class: QueueClass) -> bool {
        let reads = *self.reads_of(die);
        let (mut previous, mut index) = (NONE, self.dies[die.0].queue(class).head());
        let Some(planes) = &mut self.planes else { return false };
        while reads.count < planes.count as usize && index != NONE {
            let access = &run.transactions.slab[index];
            if !reads.reads(place_of(access, &self.geometry).plane) {
                planes.found = (previous, index);
                return true;
            }
            (previous, index) = (index, access.next);
        }
        false
    }

    /// The command of the read that was found for a free plane, which leaves its queue.
    #[inline(never)]
    pub(super) fn form_plane_read<Q>(&mut self, run: &mut Run<Q>, die: DieId, class: QueueClass) -> FlashCommand {
        let (previous, index) = self.planes.as_ref().map_or((NONE, NONE), |planes| planes.found);
        let slab = &mut run.transactions.slab;
        self.dies[die.0].queue(class).remove_after(slab, previous, TransactionStore::link);
        self.dies[die.0].taken_from(class);
        let access = slab[index];
        let bytes = match &self.sectors {
            Some(sectors) => sectors.moved(&access, &self.geometry, true),
            None => access.read_bytes(self.geometry.unit_bytes),
        };
        let mut command = FlashCommand { kind: CommandKind::Read, die, ..FlashCommand::default() };
        merging::add(&mut command, place_of(&access, &self.geometry), index, bytes);
        command.page_type = self.merging.page_type(&access, &self.nand);
        // Another plane may be free.
        self.dies.touch(die.0);
        command
    }

    /// A plane takes up a read, which is its station's command by now.
    #[inline(never)]
    pub(super) fn plane_begins<Q>(&mut self, run: &mut Run<Q>, command: &FlashCommand) {
        self.follows_no_more(run, self.station_of(command));
        let reads = self.reads_of_mut(command.die);
        run.counters.reads_beside_reads += u64::from(reads.count > 0);
        reads.begins(command.first_plane() as u32);
        self.settle_planes(run, command.die);
    }

    // ---- what planes do --------------------------------------------------------------------------

    /// A plane has sensed its page.
    ///
    /// # Errors
    /// Where the media has not.
    pub fn end_plane_read<Q>(&mut self, run: &Run<Q>, station: u32) -> Result<Ended, SimulationError> {
        let FlashCommand { die, .. } = self.dies[station].work.command;
        let plane = self.dies[station].work.command.first_plane() as u32;
        self.nand.end_plane_read(die, plane, run.now).map_err(|source| SimulationError::Illegal { at: run.now, source })
    }

    /// The data of a plane have left: it is free, and its die may have something for it.
    pub(super) fn plane_is_free<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let FlashCommand { die, .. } = self.dies[station].work.command;
        let plane = self.dies[station].work.command.first_plane() as u32;
        self.dies[station].enter(run.now, Phase::Free, Occupancy::Idle);
        self.reads_of_mut(die).ends(plane);
        self.settle_planes(run, die);
        self.dies.touch(die.0);
    }

    // ---- where their time goes -------------------------------------------------------------------

    /// Something of a die or of a plane has changed: where planes read by themselves, so does what others are occupied with.
    #[inline]
    pub(super) fn planes_follow<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        if self.planes.is_some() {
            self.settle_planes(run, die);
        }
    }

    #[inline(never)]
    fn settle_planes<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        let Some(planes) = &self.planes else { return };
        let (reads, count) = (planes.dies[die.index()], planes.count);
        let station = planes.station(die, 0);
        let works = self.dies[die.0].phase() != Phase::Free;
        if !works {
            self.follow(run, die.0, reads.first().map(|plane| station + plane));
        }
        let held = works || reads.is_held() || self.nand.parked(die).is_some();
        for plane in (0..count).filter(|&plane| !reads.reads(plane)) {
            self.follow(run, station + plane, held.then_some(die.0));
        }
    }

    /// A die is occupied with what a plane of it does, or a plane with what its die does; with nothing, where there is none to follow.
    fn follow<Q>(&mut self, run: &mut Run<Q>, station: u32, leader: Option<u32>) {
        let now = run.now;
        let occupancy = leader.map_or(Occupancy::Idle, |leader| self.dies[leader].occupied_with());
        self.dies[station].enter(now, Phase::Free, occupancy);
        self.follows_no_more(run, station);
        let Some(leader) = leader else { return };
        self.works_for_whom(run, station, leader);
        // What a die does for reads of its planes, it does for the first of them.
        let worker = match &self.planes {
            Some(planes) if leader < planes.first && self.dies[leader].phase() == Phase::Free => {
                planes.dies[leader as usize].first().map(|plane| planes.station(DieId(leader), plane))
            }
            _ => Some(leader),
        };
        let Some(command) = worker.map(|worker| self.dies[worker].work.command) else { return };
        let resource = self.dies.resource(station);
        let mut beside = [LastingShare::NONE; PLANES_MAX as usize];
        for (share, plane) in beside.iter_mut().zip(command.addressed_planes()) {
            let ledger = self.dies[station].ledger(now);
            *share = run.transactions.open_share_beside(command.transaction[plane], resource, ledger);
        }
        if let Some(planes) = &mut self.planes {
            planes.beside[station as usize] = beside;
        }
    }

    /// What a die or plane was occupied with for commands of others ends, or changes.
    fn follows_no_more<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let Some(planes) = &mut self.planes else { return };
        for share in std::mem::replace(&mut planes.beside[station as usize], [LastingShare::NONE; _]) {
            run.transactions.close_share_beside(share, run.now, self.dies[station].ledger(run.now));
        }
    }

    fn reads_of(&self, die: DieId) -> &DieReads {
        &self.planes.as_ref().expect("planes read by themselves").dies[die.index()]
    }

    fn reads_of_mut(&mut self, die: DieId) -> &mut DieReads {
        &mut self.planes.as_mut().expect("planes read by themselves").dies[die.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_plane_to_begin_leads_until_it_ends() {
        let mut reads = DieReads::default();
        for plane in [2, 0, 3] {
            reads.begins(plane);
        }
        assert_eq!((reads.first(), reads.reads(0), reads.reads(1)), (Some(2), true, false));
        reads.ends(0);
        assert_eq!((reads.first(), reads.count), (Some(2), 2));
        reads.ends(2);
        assert_eq!(reads.first(), Some(3));
        reads.begins(2);
        reads.ends(3);
        assert_eq!(reads.first(), Some(2));
        reads.ends(2);
        assert_eq!((reads.first(), reads.count), (None, 0));
    }

    #[test]
    fn what_takes_the_die_holds_its_planes_and_a_read_does_not() {
        let held = |chosen| DieReads { chosen, ..DieReads::default() }.is_held();
        assert!(held(Some(Chosen::Resume)) && held(Some(Chosen::Class(QueueClass::Erase))));
        assert!(!held(None) && !held(Some(Chosen::Class(QueueClass::MoveRead))));
    }
}
