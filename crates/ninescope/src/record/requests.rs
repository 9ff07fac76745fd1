//! Host requests inside the drive: which way each has gone, until it completes and is described.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ninescope_engine::meter::Parts;
use ninescope_engine::{Access, LinkMessage, QueueClass, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Cause, DieId, Lpa, Ppa, Request, Source};

use super::account::{Account, Journey, Step, Visit, Wait};
use super::banks::BankBook;
use super::dies::DieBook;
use super::work::{Requests, Work};

/// Waits of writes at the head of the line that are kept.
const LINE_MAX: usize = 1 << 16;

/// A request inside the drive.
#[derive(Clone, Debug, Default)]
struct Inside {
    present: bool,
    id: u64,
    request: Request,
    /// When the drive took it in [ns].
    fetched: Ns,
    /// Its entry was in the controller, where that crosses the link, and its completion in the host's memory [ns].
    entry: Option<Ns>,
    told: Option<Ns>,
    /// Its data crossed the link towards the drive, from and until [ns].
    link_in: Option<(Ns, Ns)>,
    /// How long it was in DRAM before it set out [ns].
    in_dram: Ns,
    /// How long the firmware decided what it asks for, and then about its units [ns].
    decided: [Ns; 2],
    /// When its last data towards the host set out [ns].
    link_out: Ns,
    /// Units that wait for a place: the next unit of each part of it that stalls.
    waits: Vec<Wait>,
    /// The last unit that it placed in each page.
    placed: Vec<Placed>,
    /// Reads of the rest of units written in part.
    partial: Vec<Visit>,
}

/// The last unit that a request placed in a page.
#[derive(Clone, Copy, Debug)]
struct Placed {
    lpa: Lpa,
    /// The first unit of the page.
    page: Ppa,
    /// Its wait, if it had to wait.
    wait: Option<usize>,
}

impl Inside {
    /// The rest of a unit written in part is in the controller, if it had to be read.
    fn rest_is_there(&mut self, now: Ns, lpa: Lpa) {
        if let Some(visit) = self.partial.iter_mut().find(|visit| visit.lpa == lpa && visit.there == Ns::NEVER) {
            visit.there = now;
        }
    }

    /// The rest of a unit is read, for the first time or again.
    fn is_read_again(&mut self, now: Ns, lpa: Lpa) {
        self.rest_is_there(now, lpa);
        self.waits.iter_mut().filter(|wait| wait.next == lpa).for_each(|wait| wait.in_vain = true);
    }

    /// The unit that ended it: the last one in its last page, or the last one that got a place in the buffer; or one that has
    /// none where it ended with that.
    fn last(&self, slot: u32, page: Option<Ppa>, unplaced: Option<Unplaced>) -> Option<Placed> {
        let in_page = |page: Ppa| self.placed.iter().rfind(|placed| placed.page == page).copied();
        match (page, unplaced) {
            (Some(page), _) => in_page(page),
            (None, Some(Unplaced::Unit(of, lpa))) if of == slot => {
                let wait = self.waits.iter().rposition(|wait| wait.next == lpa && !wait.in_vain);
                Some(Placed { lpa, page: Ppa::UNMAPPED, wait })
            }
            (None, Some(Unplaced::Page(page))) => in_page(page).or(self.placed.last().copied()),
            (None, _) => self.placed.last().copied(),
        }
    }
}

/// All requests inside the drive, and the page accesses under way.
#[derive(Debug, Default)]
pub struct RequestBook {
    /// By slot.
    inside: Vec<Inside>,
    /// By transaction.
    visits: Vec<Visit>,
    /// Accesses of slots.
    pub banks: BankBook,
    /// By transaction: since when it is decided that it goes to its die, where that takes time [ns].
    asked: Vec<Option<Ns>>,
    /// How the writes at the head of the line waited for places, oldest first.
    line: VecDeque<Step>,
    /// When the last write that had waited got a place [ns].
    last_placed: Ns,
    /// Who wrote into the pages that have not gone to their die yet, by first unit.
    writers: BTreeMap<u32, Writers>,
    /// The same of pages that their die programs, with the die, where programs may fail.
    programming: Vec<(DieId, u32, Writers)>,
    /// Accesses of rebuilds the rest of whose stripe is read.
    rebuilt: BTreeSet<u32>,
    /// What has just found no place: who waits for it is told next.
    unplaced: Option<Unplaced>,
}

/// What finds no place on a drive that takes no more writes.
#[derive(Clone, Copy, Debug)]
enum Unplaced {
    /// A page whose program failed.
    Page(Ppa),
    /// A unit that the request of a slot was to write.
    Unit(u32, Lpa),
}

/// The requests that wrote into a page.
#[derive(Clone, Copy, Debug, Default)]
struct Writers {
    /// The first of them.
    requests: Requests,
    /// The last one; none where what came last is of no request.
    last: Option<u64>,
}

impl RequestBook {
    /// When the oldest request inside the drive was taken in; never when there is none [ns].
    pub fn oldest(&self) -> Ns {
        self.inside.iter().filter(|inside| inside.present).map(|inside| inside.fetched).min().unwrap_or(Ns::NEVER)
    }

    fn inside(&mut self, slot: u32) -> &mut Inside {
        let index = slot as usize;
        if self.inside.len() <= index {
            self.inside.resize_with(index + 1, Inside::default);
        }
        &mut self.inside[index]
    }

    /// A request is taken in.
    pub fn fetched(&mut self, now: Ns, slot: u32, id: u64, request: Request) {
        let inside = self.inside(slot);
        inside.waits.clear();
        inside.partial.clear();
        inside.placed.clear();
        let Inside { waits, partial, placed, .. } = std::mem::take(inside);
        *inside = Inside { present: true, id, request, fetched: now, waits, partial, placed, ..Inside::default() };
    }

    /// It is gone.
    pub fn left(&mut self, slot: u32) {
        self.inside(slot).present = false;
    }

    /// Its data cross the link towards the drive.
    pub fn link_in(&mut self, slot: u32, from: Ns, until: Ns) {
        self.inside(slot).link_in = Some((from, until));
    }

    /// What is no data crosses the link for it until then.
    pub fn message(&mut self, slot: u32, message: LinkMessage, until: Ns) {
        match message {
            LinkMessage::Entry => self.inside(slot).entry = Some(until),
            LinkMessage::Completion => self.inside(slot).told = Some(until),
            LinkMessage::EntryRequest | LinkMessage::DataRequest => {}
        }
    }

    /// When its completion was in the host's memory, where that crosses the link.
    pub fn completion_of(&mut self, slot: u32) -> Option<Ns> {
        self.inside(slot).told
    }

    /// It is in DRAM for so long before it sets out.
    pub fn in_dram(&mut self, slot: u32, time: Ns) {
        self.inside(slot).in_dram += time;
    }

    /// The firmware decides about it for so long; `units`: about its units.
    pub fn decided(&mut self, slot: u32, units: bool, time: Ns) {
        self.inside(slot).decided[usize::from(units)] += time;
    }

    /// It is decided when page accesses go to their die, since `asked`.
    pub fn scheduled(&mut self, accesses: &[u32], asked: Ns) {
        for &access in accesses {
            if self.asked.len() <= access as usize {
                self.asked.resize(access as usize + 1, None);
            }
            self.asked[access as usize] = Some(asked);
        }
    }

    /// Its data have crossed the link towards the host since `from`.
    pub fn link_out(&mut self, slot: u32, from: Ns) {
        self.inside(slot).link_out = from;
    }

    // ---- places for written units ----------------------------------------------------------------

    /// A unit finds no place.
    pub fn stalled(&mut self, now: Ns, slot: u32, lpa: Lpa, cause: Cause) {
        self.inside(slot).rest_is_there(now, lpa);
        let wait = Wait { next: lpa, since: now, cause, in_line: None, steps: Vec::new(), in_vain: false };
        self.inside(slot).waits.push(wait);
    }

    /// A unit got its place.
    pub fn unit_written(&mut self, view: &View<'_>, slot: u32, lpa: Lpa, new: Ppa) {
        let (die, page) = (die_of(view, new), view.ftl.geometry().first_unit_of_page(new));
        let head = self.last_placed;
        let inside = self.inside(slot);
        let id = inside.id;
        inside.rest_is_there(view.now, lpa);
        let wait = inside.waits.iter().rposition(|wait| wait.next == lpa && !wait.in_vain);
        if inside.placed.last().is_some_and(|placed| placed.page == page) {
            inside.placed.pop();
        }
        inside.placed.push(Placed { lpa, page, wait });
        if let Some(wait) = wait.map(|wait| &mut inside.waits[wait]) {
            let step = wait.placed(view.now, (die, id), head);
            self.last_placed = view.now;
            if self.line.len() == LINE_MAX {
                self.line.pop_front();
            }
            // Whoever waits behind it has waited for a place since the last one, also while this one was read again.
            self.line.extend(step.map(|step| Step { from: step.from.min(head), ..step }));
        }
        let writers = self.writers.entry(page.0).or_default();
        writers.requests.add(id);
        writers.last = Some(id);
    }

    /// A unit that no request wrote got its place.
    pub fn unit_healed(&mut self, view: &View<'_>, new: Ppa) {
        let page = view.ftl.geometry().first_unit_of_page(new);
        self.writers.entry(page.0).or_default().last = None;
    }

    // ---- programs that fail ------------------------------------------------------------------------

    /// A page whose group failed has another place: who wrote into it waits for that.
    pub fn page_rewritten(&mut self, from: Ppa, to: Ppa) {
        let placed = self.inside.iter_mut().flat_map(|inside| &mut inside.placed);
        placed.filter(|placed| placed.page == from).for_each(|placed| placed.page = to);
        let programmed = self.programming.iter().find(|&&(_, page, _)| page == from.0).map(|&(_, _, writers)| writers);
        if let Some(writers) = self.writers.remove(&from.0).or(programmed) {
            self.writers.insert(to.0, writers);
        }
    }

    /// A page has no other place, and stays in the controller; none: whoever waited for one was told.
    pub fn page_kept(&mut self, page: Option<Ppa>) {
        self.unplaced = page.map(Unplaced::Page);
    }

    /// A unit will have no place.
    pub fn unit_refused(&mut self, now: Ns, slot: u32, lpa: Lpa) {
        self.inside(slot).rest_is_there(now, lpa);
        self.unplaced = Some(Unplaced::Unit(slot, lpa));
    }

    /// Who wrote into a page that goes to its die.
    fn writers_of(&mut self, view: &View<'_>, die: DieId, page: u32) -> Writers {
        let writers = self.writers.remove(&page).unwrap_or_default();
        if view.ftl.blocks_break() {
            self.programming.push((die, page, writers));
        }
        writers
    }

    // ---- visits to dies ----------------------------------------------------------------------------

    /// A command leaves its queue; returns what the die works on from now on.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        class: QueueClass,
        accesses: &[Access],
    ) -> Work {
        let (mut requests, mut own_of) = (Requests::default(), Requests::default());
        if command.kind == CommandKind::Program {
            self.programming.retain(|&(die, ..)| die != command.die);
        }
        for access in accesses {
            if access.slot != NONE {
                let id = self.inside(access.slot).id;
                requests.add(id);
                own_of.add(id);
            }
            if class == QueueClass::HostProgram {
                let page = view.ftl.geometry().first_unit_of_page(access.ppa).0;
                let writers = self.writers_of(view, command.die, page);
                writers.last.into_iter().for_each(|id| own_of.add(id));
                own_of.ids().chain(writers.requests.ids()).for_each(|id| requests.add(id));
            }
            let index = access.transaction as usize;
            if self.visits_again(index) {
                continue;
            }
            let asked = self.asked.get_mut(index).and_then(Option::take).unwrap_or(access.queued);
            for unit in access.units_in_part() {
                // Where it is read again, that was decided when it was asked for.
                self.inside(access.slot).is_read_again(asked, unit);
            }
            self.visits[index] = Visit { asked, ..Visit::begun(view.now, command.die, access) };
        }
        // What reads or writes the map, or parity, and something of the host counts as the host's: those are the last sources.
        let of_host = accesses.iter().find(|access| access.source < Source::Mapping);
        let source = of_host.or(accesses.first()).map_or(Source::Host, |access| match access.source {
            Source::Parity if self.rebuilt.contains(&access.number) => Source::Rebuild,
            source => source,
        });
        Work::of(command, (class, source), [requests, own_of])
    }

    /// An access of flash leaves its queue. Returns whether it has done so before.
    fn visits_again(&mut self, index: usize) -> bool {
        self.banks.is_of_flash(index as u32);
        if self.visits.len() <= index {
            self.visits.resize(index + 1, Visit::default());
        }
        let visit = &mut self.visits[index];
        visit.again |= visit.repeats;
        visit.repeats
    }

    /// An access of what lay on a die that failed goes to no die, or leaves its queue.
    pub fn missing(&mut self, view: &View<'_>, access: &Access) {
        let index = access.transaction as usize;
        if self.visits_again(index) {
            return;
        }
        for unit in access.units_in_part() {
            self.inside(access.slot).is_read_again(access.queued, unit);
        }
        let die = die_of(view, access.ppa);
        let visit = Visit::missing(view.now, die, access);
        self.visits[index] = visit;
        if visit.rests > 0 {
            self.inside(visit.slot).partial.extend(visit.of_each_rest());
        }
    }

    fn visits(&mut self, command: &FlashCommand, mut change: impl FnMut(&mut Visit, usize)) {
        for plane in command.addressed_planes() {
            let visit = self.visits.get_mut(command.transaction[plane] as usize);
            if let Some(visit) = visit.filter(|visit| !visit.again) {
                change(visit, plane);
            }
        }
    }

    /// The channel is the command's until `sent`.
    pub fn issued(&mut self, now: Ns, command: &FlashCommand, sent: Ns) {
        self.visits(command, |visit, _| (visit.issued, visit.sent) = (now, sent));
    }

    /// Its array phase is over.
    pub fn ended(&mut self, now: Ns, command: &FlashCommand) {
        self.visits(command, |visit, _| visit.ended = now);
    }

    /// A page access that was sensed will not decode, and is read again.
    pub fn repeats(&mut self, transaction: u32) {
        if let Some(visit) = self.visits.get_mut(transaction as usize) {
            visit.repeats = true;
        }
    }

    /// A page access was in a decoder between these times, for good (`ends`) or not.
    pub fn decoded(&mut self, transaction: u32, (from, until): (Ns, Ns), ends: bool) {
        let Some(visit) = self.visits.get_mut(transaction as usize) else { return };
        visit.repeats &= !ends;
        if visit.decoded != Ns::ZERO {
            return;
        }
        (visit.decoder_taken, visit.decoded) = (from, until);
        let visit = *visit;
        for Visit { lpa, .. } in visit.of_each_rest() {
            let mut reads = self.inside(visit.slot).partial.iter_mut();
            if let Some(read) = reads.find(|read| read.lpa == lpa && read.there == Ns::NEVER) {
                (read.decoder_taken, read.decoded, read.repeats) = (from, until, visit.repeats);
            }
        }
    }

    /// The rest of the stripe of a page access is read from now on.
    pub fn degraded(&mut self, transaction: u32, source: Source, now: Ns) {
        if source == Source::Rebuild {
            self.rebuilt.insert(transaction);
            return;
        }
        self.rebuilt.remove(&transaction);
        let Some(&visit) = self.visits.get(transaction as usize) else { return };
        for Visit { lpa, .. } in visit.of_each_rest() {
            let mut reads = self.inside(visit.slot).partial.iter_mut();
            if let Some(read) = reads.find(|read| read.lpa == lpa && read.there == Ns::NEVER) {
                read.degraded = now;
            }
        }
    }

    /// Its data leave, plane after plane.
    pub fn data_out(&mut self, view: &View<'_>, command: &FlashCommand) {
        let mut left = view.now;
        self.visits(command, |visit, plane| {
            visit.data_from = left;
            left += view.nand.data_time(u64::from(command.bytes[plane]));
            visit.data_until = left;
        });
        debug_assert_eq!(command.kind, CommandKind::Read, "data leave after a read");
        for plane in command.addressed_planes() {
            let Some(&visit) = self.visits.get(command.transaction[plane] as usize) else { continue };
            if visit.rests > 0 && !visit.again {
                self.inside(visit.slot).partial.extend(visit.of_each_rest());
            }
        }
    }

    // ---- the end -------------------------------------------------------------------------------------

    /// Describes a request that completes now. With `dies` it also says what they did meanwhile, the last `most`
    /// stretches one by one.
    pub fn account(
        &self,
        view: &View<'_>,
        slot: u32,
        parts: &Parts,
        transaction: u32,
        dies: Option<(&DieBook, usize)>,
    ) -> Account {
        let unknown = Inside::default();
        let inside = self.inside.get(slot as usize).unwrap_or(&unknown);
        let bank = self.banks.visit(transaction);
        let visit = self.visits.get(transaction as usize).filter(|_| transaction != NONE && bank.is_none());
        let last = inside.last(slot, visit.map(|visit| visit.ppa), self.unplaced);
        let of_last = |visit: &&Visit| last.is_some_and(|last| last.lpa == visit.lpa);
        let waited_in_vain = |wait: &&Wait| wait.in_vain && last.is_some_and(|last| last.lpa == wait.next);
        Account::of(&Journey {
            now: view.now,
            id: inside.id,
            request: inside.request,
            fetched: inside.fetched,
            entry: inside.entry,
            link_in: inside.link_in,
            in_dram: inside.in_dram,
            decided: inside.decided,
            link_out: inside.link_out,
            line: &self.line,
            wait: last.and_then(|last| inside.waits.get(last.wait?)),
            partial: inside.partial.iter().filter(of_last).collect(),
            waits_before: inside.waits.iter().filter(waited_in_vain).collect(),
            visit,
            bank,
            parts,
            dies: dies.map(|(dies, _)| dies),
            most: dies.map_or(0, |(_, most)| most),
        })
    }
}

/// The die of a place.
fn die_of(view: &View<'_>, place: Ppa) -> DieId {
    let geometry = view.ftl.geometry();
    geometry.die_of(place)
}
