//! Blame: whom each request waited for, worked out anew from what dies and channels are seen to do.
//!
//! The device splits waits by ledgers that it reads twice. Here every stretch of work of a die or channel is kept with the
//! requests for which it was, as long as somebody who may have waited through it is inside, and waits are laid over them. So it is
//! with tenants: each stretch counts for one of them, or for the drive.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ninescope_engine::meter::{Parts, SPLIT, SPLIT_WHOLE, Waits as Behind};
use ninescope_engine::{Access, Dropped, QueueClass, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand, PlaneReads};
use ninescope_model::{Cause, DieId, Lpa, Op, Pool, Ppa, Source};

use crate::map_holders::MapHolders;
use crate::rule::{Checked, require};
use crate::wordlines::program_of;

/// Nobody: the number of no request.
const NOBODY: u64 = u64::MAX;
/// Who waits for a read of the map: no request by itself.
const MAP_READER: u64 = u64::MAX - 1;

/// Requests for which something is done, one per plane.
type Owners = [u64; 4];

/// The causes of waits behind requests and what is done for somebody, in the order of [`Waits`], and what dies do for nobody.
const CAUSES: [Cause; SPLIT_WHOLE + 5] = [
    Cause::DieWaitingForChannel,
    Cause::DieHostRead,
    Cause::DieHostProgram,
    Cause::Channel,
    Cause::DieMigration,
    Cause::DieMapping,
    Cause::DieGcRead,
    Cause::DieGcProgram,
    Cause::DieErase,
    Cause::OwnParts,
    Cause::DieParity,
    Cause::DieRebuild,
    Cause::DieWaitingForPower,
    Cause::DieThrottledByHeat,
];
const CHANNEL: usize = 3;
/// The first of those in which no part of a request is done, whatever else is in the command.
const MIGRATION: usize = 4;
const OWN: usize = SPLIT_WHOLE;
/// Of these and those behind, time is no holder's.
const PARITY: usize = OWN + 1;
const REBUILD: usize = PARITY + 1;
const POWER: usize = REBUILD + 1;
const HEAT: usize = POWER + 1;

/// Time by these causes [ns], and of those before own parts by holder: each tenant, and then the drive.
#[derive(Clone, Debug, Default)]
struct Waits {
    causes: [u64; CAUSES.len()],
    behind: BTreeMap<u16, [u64; SPLIT_WHOLE]>,
}

impl Waits {
    fn add(&mut self, lane: usize, holder: u16, time: u64) {
        self.causes[lane] += time;
        if lane < OWN {
            self.behind.entry(holder).or_default()[lane] += time;
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.causes.iter_mut().zip(other.causes).for_each(|(sum, wait)| *sum += wait);
        for (&holder, waits) in &other.behind {
            let sums = self.behind.entry(holder).or_default();
            sums.iter_mut().zip(waits).for_each(|(sum, wait)| *sum += wait);
        }
    }
}

/// A stretch of work; `lane` is what waiting for it is called, where that is a cause of [`CAUSES`], and `holder` for whom it
/// counts.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Ns,
    until: Ns,
    lane: Option<usize>,
    holder: u16,
    owners: Owners,
}

impl Stretch {
    /// What waiting for it is called for a request, if it is called anything.
    fn lane_of(&self, owner: u64) -> Option<usize> {
        let is_own = |lane: usize| lane < MIGRATION && self.owners.contains(&owner);
        self.lane.map(|lane| if is_own(lane) { OWN } else { lane })
    }

    /// How much of it lies between two times [ns].
    fn within(&self, from: Ns, until: Ns) -> u64 {
        self.until.min(until).saturating_since(self.from.max(from)).0
    }
}

/// What a die works on.
#[derive(Clone, Debug, Default)]
struct Die {
    done: VecDeque<Stretch>,
    owners: Owners,
    /// What its command is, of those lanes; none of what the drive does for itself.
    lane: Option<usize>,
    /// For whom it counts, and by plane whose accesses these are.
    holder: u16,
    tenants: [u16; 4],
    since: Ns,
    /// Since when it waits for power, if it does.
    without_power: Option<Ns>,
    /// Whose operation is parked.
    parked: (Owners, Option<usize>, u16),
}

/// The planes of a die that read each by itself: while they do, waits for the die are behind the first of them.
#[derive(Clone, Debug, Default)]
struct Leaders {
    /// Their places among dies and planes, and until when their data leave, where they do.
    order: Vec<(usize, Option<Ns>)>,
    /// Since when the first of them is.
    since: Ns,
}

/// A page access that a request waits for.
#[derive(Clone, Debug, Default)]
struct Part {
    owner: u64,
    /// Of a program: the last unit of its owner in the page.
    lpa: Lpa,
    waits: Waits,
    /// Of a read of the rests of units written in part, or of the map: that access.
    merges: Option<Access>,
    /// Since when it waits for its channel.
    mark: Ns,
    /// It is read again: all that follows is retry.
    repeats: bool,
    /// When its wait and work were over as far as dies go.
    ended: Ns,
}

/// Who wrote into a page first, the last unit that somebody waits for, and who wrote last out of a write buffer.
type KnownPage = (Option<u16>, Option<Lpa>, Option<u64>);

/// Who waits for whom.
#[derive(Debug, Default)]
pub struct Blame {
    /// Dies, and behind them the planes that read each by itself.
    dies: Vec<Die>,
    /// How many of a die do; 0 where those of a die read together.
    planes: usize,
    /// By die: the planes that read, the first to be taken up in front.
    leaders: Vec<Leaders>,
    /// By die: the page that was sensed last and has not left, by the number of its first plane's access; `NONE` for none. Empty where
    /// no page leaves from a second register.
    sensed: Vec<u32>,
    /// By die: the same of the page in its second register, which is a place behind the dies.
    followed: Vec<u32>,
    channels: Vec<VecDeque<Stretch>>,
    parts: Vec<Part>,
    /// By slot: the request in it.
    slots: Vec<u64>,
    /// By slot: the tenant whose request it is.
    tenants: Vec<u16>,
    /// The drive, as a holder.
    drive: u16,
    /// It is throttled because it is hot.
    is_hot: bool,
    /// By migration under way: whose page it moves.
    movers: BTreeMap<u32, u16>,
    /// By pool: who opened a block group of it last.
    openers: BTreeMap<Pool, u16>,
    /// Who has opened any.
    have_opened: BTreeSet<u16>,
    /// By access that read a page of the map last: for whom it did.
    map_readers: BTreeMap<u32, u16>,
    /// Pages of the map that are read for commands: since when.
    map_fetches: BTreeMap<u32, Ns>,
    /// By page of the map that was read for commands: what the read waited for, by holder [ns].
    map_reads: BTreeMap<u32, Vec<u64>>,
    /// When each request inside was taken in.
    inside: BTreeMap<u64, Ns>,
    /// Whether writes complete when they are programmed.
    at_program: bool,
    /// By slot: whether its write completes when it is programmed, as all do or as it asks.
    ends_at_program: Vec<bool>,
    /// By slot: the unit that got its place last, and when.
    written: Vec<(Lpa, Ns)>,
    /// By first unit of a page that is to be programmed for a request: the last unit in it.
    last_in_page: BTreeMap<u32, Lpa>,
    /// By first unit of a page that is to be programmed out of a write buffer: who wrote into it last.
    last_writers: BTreeMap<u32, u64>,
    /// By first unit of a page that is to be programmed: who wrote into it first.
    first_writers: BTreeMap<u32, u16>,
    /// By first unit of a page that was taken up to be programmed, on a drive whose programs fail: what was known of it.
    issued_pages: BTreeMap<u32, KnownPage>,
    /// Accesses of rebuilds the rest of whose stripe is read.
    rebuilt: BTreeSet<u32>,
    /// By request and unit written in part: what the reads of the rest of the unit waited for.
    merges: BTreeMap<(u64, u32), Waits>,
}

impl Blame {
    pub fn started(view: &View<'_>, completes_at_program: bool, tenants: usize) -> Self {
        let (geometry, drive) = (view.ftl.geometry(), tenants as u16);
        let idle = Die { owners: [NOBODY; 4], holder: drive, parked: ([NOBODY; 4], None, drive), ..Die::default() };
        let apart = view.nand.timing().plane_reads == PlaneReads::Independently;
        let planes = if apart { geometry.planes_per_die as usize } else { 0 };
        let registers = if view.nand.timing().cache_read.is_some() { geometry.dies() as usize } else { 0 };
        Self {
            dies: vec![idle; geometry.dies() as usize * (1 + planes) + registers],
            sensed: vec![NONE; registers],
            followed: vec![NONE; registers],
            planes,
            leaders: vec![Leaders::default(); if apart { geometry.dies() as usize } else { 0 }],
            channels: vec![VecDeque::new(); geometry.channels as usize],
            at_program: completes_at_program,
            drive,
            is_hot: false,
            ..Self::default()
        }
    }

    pub fn fetched(&mut self, now: Ns, slot: u32, (id, tenant): (u64, u16), fua: bool) {
        if self.slots.len() <= slot as usize {
            self.slots.resize(slot as usize + 1, NOBODY);
            self.tenants.resize(slot as usize + 1, 0);
            self.ends_at_program.resize(slot as usize + 1, false);
            self.written.resize(slot as usize + 1, (Lpa::NONE, Ns::NEVER));
        }
        self.written[slot as usize] = (Lpa::NONE, Ns::NEVER);
        self.slots[slot as usize] = id;
        self.tenants[slot as usize] = tenant;
        self.ends_at_program[slot as usize] = self.at_program || fua;
        self.inside.insert(id, now);
    }

    /// A unit that a request wrote got a place.
    pub fn unit_written(&mut self, view: &View<'_>, slot: u32, lpa: Lpa, place: Ppa) {
        self.written[slot as usize] = (lpa, view.now);
        let page = self.placed_for(view, place, self.tenants[slot as usize]);
        if self.ends_at_program[slot as usize] {
            self.last_in_page.insert(page, lpa);
            self.last_writers.remove(&page);
        } else {
            self.last_writers.insert(page, self.slots[slot as usize]);
        }
    }

    /// A migration sets out, with a page of a tenant.
    pub fn migration_began(&mut self, migration: u32, tenant: u16) {
        self.movers.insert(migration, tenant);
    }

    /// A page that goes down, or one of the map, got a place, and is programmed for whose it is.
    pub fn page_placed(&mut self, view: &View<'_>, place: Ppa, holder: u16) {
        self.placed_for(view, place, holder);
    }

    /// A unit got a place for a holder, in a page that is for the first one of it. Returns which page that is.
    fn placed_for(&mut self, view: &View<'_>, place: Ppa, holder: u16) -> u32 {
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(place);
        if offset == 0 && view.ftl.zones().is_none() {
            self.openers.insert(geometry.pool_and_block(group).0, holder);
            self.have_opened.insert(holder);
        }
        let page = program_of(view, place);
        self.first_writers.entry(page).or_insert(holder);
        page
    }

    /// Whose page a migration moves.
    pub fn mover(&self, migration: u32) -> u16 {
        self.movers.get(&migration).copied().unwrap_or(self.drive)
    }

    /// A page whose group failed has another place: who wrote into it waits for that.
    pub fn page_rewritten(&mut self, from: Ppa, to: Ppa) {
        let known = self.issued_pages.remove(&from.0).unwrap_or_default();
        if let Some(first) = self.first_writers.remove(&from.0).or(known.0) {
            self.first_writers.insert(to.0, first);
        }
        if let Some(last) = self.last_in_page.remove(&from.0).or(known.1) {
            self.last_in_page.insert(to.0, last);
        }
        if let Some(writer) = self.last_writers.remove(&from.0).or(known.2) {
            self.last_writers.insert(to.0, writer);
        }
    }

    /// What is known of the pages of a program is kept until it is known whether it fails.
    fn keep_pages(&mut self, view: &View<'_>, command: &FlashCommand, accesses: &[Access]) {
        if command.kind == CommandKind::Program && view.ftl.blocks_break() {
            for page in accesses.iter().map(|access| access.ppa.0) {
                let known = (
                    self.first_writers.get(&page).copied(),
                    self.last_in_page.get(&page).copied(),
                    self.last_writers.get(&page).copied(),
                );
                self.issued_pages.insert(page, known);
            }
        }
    }

    /// A unit that no request wrote got a place.
    pub fn unit_healed(&mut self, view: &View<'_>, place: Ppa) {
        let page = self.placed_for(view, place, self.drive);
        self.last_writers.remove(&page);
    }

    /// Units of a group of a zone that was reset are forgotten: its pages are nobody's.
    pub fn dropped(&mut self, view: &View<'_>, dropped: &Dropped) {
        let geometry = view.ftl.geometry();
        let begin = geometry.first_unit(dropped.group).0 + view.ftl.group(dropped.group).write_pointer;
        for page in (begin..begin + dropped.units).step_by(geometry.units_per_page() as usize) {
            self.first_writers.remove(&page);
            self.last_writers.remove(&page);
        }
    }

    /// A free die takes up a command: the waits of its accesses for it are over. Reads of the map are for whom `map` says.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        (class, accesses): (QueueClass, &[Access]),
        map: Option<&MapHolders>,
    ) {
        self.keep_pages(view, command, accesses);
        self.page_is_followed(view.now, command.die);
        let (now, id) = (view.now, self.place(command));
        self.settle(command.die, now);
        let mut owners = [NOBODY; 4];
        for (owner, access) in owners.iter_mut().zip(accesses) {
            *owner = if access.slot == NONE { NOBODY } else { self.slots[access.slot as usize] };
        }
        for (mut owner, access) in owners.into_iter().zip(accesses) {
            let is_of_map = access.source == Source::Mapping && class == QueueClass::HostRead;
            if is_of_map {
                owner = MAP_READER;
            }
            if !self.begins_part(access, owner, is_of_map) {
                continue;
            }
            let lpa = match command.kind {
                CommandKind::Read => Lpa::NONE,
                _ => self.last_in_page.remove(&access.ppa.0).unwrap_or(Lpa::NONE),
            };
            let merges = (access.source == Source::ReadModifyWrite || is_of_map).then_some(*access);
            let part = &mut self.parts[access.transaction as usize];
            *part = Part { owner, lpa, merges, mark: now, ..Part::default() };
            lay_over(&self.dies[id].done, access.queued, now, owner, &mut part.waits);
            if id != command.die.index() {
                // A plane that reads nothing is kept from it by its die.
                let (of_die, of_plane) = (&self.dies[command.die.index()].done, &self.dies[id].done);
                lay_beside(of_die, of_plane, (access.queued, now), owner, &mut part.waits);
            }
        }
        // What reads or writes the map, or parity, or is of a rebuild, and something of the host counts as the host's.
        let beside = |source| matches!(source, Source::Mapping | Source::Parity | Source::Rebuild);
        let counts = accesses.iter().position(|access| !beside(access.source)).unwrap_or(0);
        let first = accesses.get(counts).copied().unwrap_or_default();
        let tenants = self.tenants_of(view, command.kind, (class, accesses), map);
        if command.kind == CommandKind::Program && !self.at_program {
            // Nobody waits for the end of such a program, but reads for the same writes may wait behind it.
            let unawaited = |access: &Access| access.source == Source::Host && access.slot == NONE;
            for (owner, access) in owners.iter_mut().zip(accesses).filter(|(_, access)| unawaited(access)) {
                *owner = self.last_writers.remove(&access.ppa.0).unwrap_or(NOBODY);
            }
        }
        let die = &mut self.dies[id];
        die.owners = owners;
        (die.holder, die.tenants) = (tenants[counts], tenants);
        die.lane = match (command.kind, first.source) {
            (CommandKind::Read, Source::Host | Source::ReadModifyWrite) => Some(1),
            (CommandKind::Program, Source::Host) => Some(2),
            (_, Source::Migration) => Some(MIGRATION),
            (_, Source::Mapping) => Some(MIGRATION + 1),
            (CommandKind::Read, Source::GarbageCollection) => Some(MIGRATION + 2),
            (CommandKind::Program, Source::GarbageCollection) => Some(MIGRATION + 3),
            (CommandKind::Erase, _) => Some(MIGRATION + 4),
            (_, Source::Rebuild) => Some(REBUILD),
            (CommandKind::Read, Source::Parity) if self.rebuilt.contains(&first.number) => Some(REBUILD),
            (_, Source::Parity) => Some(PARITY),
            _ => None,
        };
        die.since = now;
        self.begins_to_read(now, command.die, id);
        self.forget(now, id);
    }

    /// Where a command runs, among dies and planes.
    fn place(&self, command: &FlashCommand) -> usize {
        let (die, plane) = (command.die.index(), command.planes.trailing_zeros() as usize);
        match command.kind {
            CommandKind::Read if self.planes > 0 => self.leaders.len() + die * self.planes + plane,
            CommandKind::Read
                if self.followed.get(die).is_some_and(|&first| first == command.transaction[plane & 3]) =>
            {
                self.followed.len() + die
            }
            _ => die,
        }
    }

    /// A die takes something up: what it has sensed and has not sent, if there is any, is in its second register from now on.
    fn page_is_followed(&mut self, now: Ns, id: DieId) {
        let Some(&first) = self.sensed.get(id.index()).filter(|&&first| first != NONE) else { return };
        self.change((id, id.index()), now, true);
        let register = self.followed.len() + id.index();
        self.dies[register] = Die { done: VecDeque::new(), since: now, ..self.dies[id.index()].clone() };
        (self.sensed[id.index()], self.followed[id.index()]) = (NONE, first);
    }

    /// A page moves to its second register until then, and has waited for its channel up to now.
    pub fn page_moves(&mut self, view: &View<'_>, command: &FlashCommand, until: Ns) {
        self.channel_waits_end(view, command);
        for plane in command.addressed_planes() {
            if let Some(part) =
                self.parts.get_mut(command.transaction[plane] as usize).filter(|part| part.mark != Ns::NEVER)
            {
                part.mark = until;
            }
        }
    }

    /// A plane that reads by itself begins to.
    fn begins_to_read(&mut self, now: Ns, die: DieId, place: usize) {
        if place == die.index() {
            return;
        }
        let leaders = &mut self.leaders[die.index()];
        leaders.order.retain(|(other, _)| *other != place);
        if leaders.order.is_empty() {
            leaders.since = now;
        }
        leaders.order.push((place, None));
    }

    /// Planes whose data have left lead no more. What the next one has begun to do and ends by itself is known.
    fn settle(&mut self, die: DieId, now: Ns) {
        let Some(leaders) = self.leaders.get_mut(die.index()) else { return };
        while let Some(&(_, Some(until))) = leaders.order.first()
            && until <= now
        {
            leaders.since = leaders.since.max(until);
            leaders.order.remove(0);
            if let Some(&(next, Some(until))) = leaders.order.first()
                && until > leaders.since
                && let Some(&leaving) = self.dies[next].done.back()
            {
                let stretch = Stretch { from: leaving.from.max(leaders.since), ..leaving };
                self.dies[die.index()].done.push_back(stretch);
            }
        }
    }

    /// Keeps a stretch, of a plane that leads for its die too.
    fn keep(&mut self, die: DieId, place: usize, stretch: Stretch) {
        self.dies[place].done.push_back(stretch);
        let Some(leaders) = self.leaders.get(die.index()).filter(|_| place != die.index()) else { return };
        if leaders.order.first().is_some_and(|(first, _)| *first == place) {
            let stretch = Stretch { from: stretch.from.max(leaders.since), ..stretch };
            self.dies[die.index()].done.push_back(stretch);
        }
    }

    /// An access leaves its queue. Returns whether it is the first time, of one that somebody waits for.
    fn begins_part(&mut self, access: &Access, owner: u64, is_of_map: bool) -> bool {
        let index = access.transaction as usize;
        if self.parts.len() <= index {
            self.parts.resize(index + 1, Part { owner: NOBODY, ..Part::default() });
        }
        let part = &mut self.parts[index];
        if owner == NOBODY || !is_of_map && !matches!(access.source, Source::Host | Source::ReadModifyWrite) {
            part.owner = NOBODY;
            return false;
        }
        let repeats = part.owner == owner && std::mem::take(&mut part.repeats);
        if repeats {
            part.mark = Ns::NEVER;
        }
        !repeats
    }

    /// An access of what lay on a die that failed leaves the queue of that, or has not joined it.
    pub fn missing(&mut self, view: &View<'_>, access: &Access, class: QueueClass) {
        let (now, id) = (view.now, view.ftl.geometry().die_of(access.ppa).index());
        let is_of_map = access.source == Source::Mapping && class == QueueClass::HostRead;
        let owner = match access.slot {
            _ if is_of_map => MAP_READER,
            NONE => NOBODY,
            slot => self.slots[slot as usize],
        };
        if !self.begins_part(access, owner, is_of_map) {
            return;
        }
        let part = &mut self.parts[access.transaction as usize];
        *part = Part { owner, mark: Ns::NEVER, ended: now, ..Part::default() };
        if access.queued < now {
            lay_over(&self.dies[id].done, access.queued, now, owner, &mut part.waits);
        }
        for unit in access.units_in_part() {
            self.merges.entry((owner, unit.0)).or_default().add_all(&part.waits);
        }
        if is_of_map {
            let behind = |holder: u16| part.waits.behind.get(&holder).map_or(0, |waits| waits.iter().sum());
            self.map_reads.insert(access.number, (0..=self.drive).map(behind).collect());
        }
    }

    /// The rest of the stripe of an access is read from now on.
    pub fn degraded(&mut self, transaction: u32, source: Source) {
        if source == Source::Rebuild {
            self.rebuilt.insert(transaction);
        } else {
            self.rebuilt.remove(&transaction);
        }
    }

    /// For whom each access of a command counts.
    fn tenants_of(
        &mut self,
        view: &View<'_>,
        kind: CommandKind,
        (class, accesses): (QueueClass, &[Access]),
        map: Option<&MapHolders>,
    ) -> [u16; 4] {
        let mut tenants = [self.drive; 4];
        for (tenant, access) in tenants.iter_mut().zip(accesses) {
            *tenant = match (kind, access.source) {
                (CommandKind::Read, Source::Host | Source::ReadModifyWrite) => self.tenants[access.slot as usize],
                (CommandKind::Program, Source::Host | Source::Migration | Source::Mapping) => {
                    self.first_writers.remove(&access.ppa.0).unwrap_or(self.drive)
                }
                (CommandKind::Read, Source::Migration) => self.mover(access.number),
                (CommandKind::Read, Source::Mapping) => {
                    let for_commands = class == QueueClass::HostRead;
                    let reader = map.map_or(self.drive, |map| map.reader_of(access.number, for_commands));
                    self.map_readers.insert(access.transaction, reader);
                    reader
                }
                (_, Source::GarbageCollection) => self.collector(view, access.ppa),
                _ => self.drive,
            };
        }
        tenants
    }

    /// Of a request of a tenant that waited for a free page: nobody who has opened no block group yet is said to have kept it.
    pub fn waited_for_space(&self, now: Ns, (id, tenant): (u64, u16), behind: &[Behind]) -> Checked {
        let at = SPLIT.iter().position(|cause| *cause == Cause::AllocationStall).unwrap_or_default();
        for (holder, waits) in (0..).zip(behind).filter(|(_, waits)| waits[at] > 0) {
            require!(
                holder == self.drive || holder == tenant || self.have_opened.contains(&holder),
                Tenants,
                now,
                "request {id} waited {} ns for a free page behind tenant {holder}, which has opened no block group",
                waits[at]
            );
        }
        Ok(())
    }

    /// For whom garbage is collected where a unit lies: who opened a group of that pool last, unless its data are refreshed.
    fn collector(&self, view: &View<'_>, place: Ppa) -> u16 {
        let geometry = view.ftl.geometry();
        let pool = geometry.pool_and_block(geometry.locate(place).group).0;
        let opener = || self.openers.get(&pool).copied();
        if view.ftl.is_refreshing(pool) { self.drive } else { opener().unwrap_or(self.drive) }
    }

    /// A page of the map is about to be read for commands, all of which may come later.
    pub fn map_page_fetched(&mut self, now: Ns, page: u32) {
        self.map_fetches.insert(page, now);
    }

    /// For whom an access read a page of the map.
    pub fn map_reader(&self, transaction: u32) -> u16 {
        self.map_readers.get(&transaction).copied().unwrap_or(self.drive)
    }

    /// What the read of a page of the map for commands waited for, by holder; nothing where it was not read.
    pub fn take_map_read(&mut self, page: u32) -> Vec<u64> {
        self.map_fetches.remove(&page);
        self.map_reads.remove(&page).unwrap_or_default()
    }

    /// For whom the command counts that a die works on.
    pub fn holder_of_die(&self, die: DieId) -> u16 {
        self.dies[die.index()].holder
    }

    /// The data of a program are read from DRAM until then: it waits for its channel from then on.
    pub fn data_are_there(&mut self, command: &FlashCommand, at: Ns) {
        for plane in command.addressed_planes() {
            if let Some(part) = self.parts.get_mut(command.transaction[plane] as usize) {
                part.mark = at;
            }
        }
    }

    /// What a die did since the last time it changed is over.
    fn change(&mut self, (id, place): (DieId, usize), now: Ns, waited_for_channel: bool) {
        self.settle(id, now);
        let die = &mut self.dies[place];
        let lane = if waited_for_channel { Some(0) } else { die.lane };
        let stretch = Stretch { from: die.since, until: now, lane, holder: die.holder, owners: die.owners };
        die.since = now;
        self.keep(id, place, stretch);
    }

    /// The channel is granted to a command until `sent`.
    pub fn issued(&mut self, view: &View<'_>, command: &FlashCommand, sent: Ns) {
        let place = self.place(command);
        self.change((command.die, place), view.now, true);
        let channel = self.channel_waits_end(view, command);
        let Die { owners, holder, .. } = self.dies[place];
        self.channels[channel].push_back(Stretch { from: view.now, until: sent, lane: Some(CHANNEL), holder, owners });
    }

    /// The array phase ended.
    pub fn ended(&mut self, now: Ns, command: &FlashCommand) {
        self.change((command.die, self.place(command)), now, false);
        if let (CommandKind::Read, Some(sensed)) = (command.kind, self.sensed.get_mut(command.die.index())) {
            *sensed = command.transaction[command.planes.trailing_zeros() as usize & 3];
        }
        for plane in command.addressed_planes() {
            if let Some(part) = self.parts.get_mut(command.transaction[plane] as usize) {
                (part.ended, part.mark) = (now, if part.mark == Ns::NEVER { Ns::NEVER } else { now });
            }
        }
    }

    /// Data leave until `until`; the die is held until `held`.
    pub fn data_out(&mut self, view: &View<'_>, command: &FlashCommand, (until, held): (Ns, Ns)) {
        let place = self.place(command);
        self.change((command.die, place), view.now, true);
        let Die { owners, holder, tenants, .. } = self.dies[place];
        let channel = self.channel_waits_end(view, command);
        // Of its own command, the data of planes before it. What stays in the controller is there when those of all planes
        // have left, unless each of them goes on through a decoder.
        let together = view.reliability.is_none();
        for (position, plane) in command.addressed_planes().enumerate() {
            let Some(part) = self.parts.get_mut(command.transaction[plane] as usize) else { continue };
            let is_of_map = part.owner == MAP_READER;
            if !is_of_map && part.owner != owners[position] || part.owner == NOBODY || part.mark == Ns::NEVER {
                continue;
            }
            let merges = part.merges.is_some() && together;
            let others = command.addressed_planes().enumerate();
            for (other, beside) in others.filter(|&(other, _)| other < position || merges && other > position) {
                let time = view.nand.data_time(u64::from(command.bytes[beside])).0;
                part.waits.add(if owners[other] == part.owner { OWN } else { CHANNEL }, tenants[other], time);
            }
            for unit in part.merges.iter().flat_map(Access::units_in_part) {
                self.merges.entry((part.owner, unit.0)).or_default().add_all(&part.waits);
            }
            if let (true, Some(read)) = (is_of_map, &part.merges) {
                let behind = |holder: u16| part.waits.behind.get(&holder).map_or(0, |waits| waits.iter().sum());
                self.map_reads.insert(read.number, (0..=self.drive).map(behind).collect());
            }
        }
        self.channels[channel].push_back(Stretch { from: view.now, until, lane: Some(CHANNEL), holder, owners });
        let lane = self.dies[place].lane;
        self.keep(command.die, place, Stretch { from: view.now, until: held, lane, holder, owners });
        if place == command.die.index() {
            self.sensed.get_mut(place).into_iter().for_each(|sensed| *sensed = NONE);
        } else if let Some(followed) = self.followed.get_mut(command.die.index()) {
            *followed = NONE;
            self.dies[place].done.clear();
        }
        if let Some(leaders) = self.leaders.get_mut(command.die.index()) {
            leaders.order.iter_mut().filter(|(other, _)| *other == place).for_each(|(_, leaves)| *leaves = Some(held));
        }
    }

    /// Splits what the accesses of a command waited for their channel. Returns which one that is.
    fn channel_waits_end(&mut self, view: &View<'_>, command: &FlashCommand) -> usize {
        let channel = view.ftl.geometry().channel_of_die(command.die).index();
        let owners = self.dies[self.place(command)].owners;
        for (owner, plane) in owners.into_iter().zip(command.addressed_planes()) {
            let Some(part) = self.parts.get_mut(command.transaction[plane] as usize) else { continue };
            let owner = if part.owner == MAP_READER { MAP_READER } else { owner };
            if owner == NOBODY || part.owner != owner || part.mark == Ns::NEVER {
                continue;
            }
            let waited = (view.now - part.mark).0;
            let mut behind = Waits::default();
            lay_over(&self.channels[channel], part.mark, view.now, owner, &mut behind);
            // Whatever the channel was seen to do: what is not behind own parts is behind others.
            behind.causes[CHANNEL] = waited - behind.causes[OWN];
            part.waits.add_all(&behind);
        }
        channel
    }

    /// A die begins to wait for power, or need not any more.
    pub fn for_power(&mut self, now: Ns, id: DieId, waits: bool) {
        self.waited_for_power(now, id.index());
        self.dies[id.index()].without_power = waits.then_some(now);
    }

    /// The drive is hot, or is not any more: dies wait for power because of that.
    pub fn throttled(&mut self, now: Ns, is_hot: bool) {
        (0..self.dies.len()).for_each(|die| self.waited_for_power(now, die));
        self.is_hot = is_hot;
    }

    fn waited_for_power(&mut self, now: Ns, die: usize) {
        let (lane, holder) = (if self.is_hot { HEAT } else { POWER }, self.drive);
        let die = &mut self.dies[die];
        if let Some(from) = die.without_power {
            die.done.push_back(Stretch { from, until: now, lane: Some(lane), holder, owners: [NOBODY; 4] });
            die.without_power = Some(now);
        }
    }

    pub fn suspended(&mut self, now: Ns, id: DieId) {
        self.change((id, id.index()), now, false);
        let die = &mut self.dies[id.index()];
        die.parked = (die.owners, die.lane, die.holder);
    }

    pub fn resumed(&mut self, now: Ns, id: DieId) {
        let die = &mut self.dies[id.index()];
        (die.owners, die.lane, die.holder) = die.parked;
        die.since = now;
    }

    /// A page did not decode and is read again.
    pub fn repeats(&mut self, transaction: u32) {
        if let Some(part) = self.parts.get_mut(transaction as usize) {
            part.repeats = true;
        }
    }

    /// A request completed with these parts, of which so much was `behind` each holder.
    pub fn completed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        id: u64,
        (op, parts, behind, transaction): (Op, &Parts, &[Behind], u32),
    ) -> Checked {
        self.inside.remove(&id);
        let expected = self.waits_of(view.now, (slot, id), op, transaction);
        while let Some((&merge, _)) = self.merges.range((id, 0)..=(id, u32::MAX)).next() {
            self.merges.remove(&merge);
        }
        let Some(expected) = expected else { return Ok(()) };
        for (cause, expected) in CAUSES.into_iter().zip(expected.causes) {
            let said = parts.of(cause);
            require!(
                said == expected,
                Blame,
                view.now,
                "request {id} spent {said} ns on {}, by what its dies and channels did it is {expected} ns",
                cause.name()
            );
        }
        for (holder, said) in (0..).zip(behind) {
            let seen = expected.behind.get(&holder).copied().unwrap_or_default();
            require!(
                said[..SPLIT_WHOLE] == seen,
                Tenants,
                view.now,
                "request {id} waited {said:?} ns behind holder {holder}, by what its dies and channels did for it {seen:?} ns"
            );
        }
        Ok(())
    }

    /// What a request waited for that ended with this page access, or with a place in the write buffer; nothing is known of
    /// those that ended otherwise.
    fn waits_of(&self, now: Ns, (slot, id): (u32, u64), op: Op, transaction: u32) -> Option<Waits> {
        let merged = |lpa: Lpa| self.merges.get(&(id, lpa.0)).cloned().unwrap_or_default();
        if op == Op::Write && transaction == NONE {
            // What completes later than its last unit got a place in flash waited for one above.
            let (lpa, at) = self.written[slot as usize];
            let buffered = !self.ends_at_program[slot as usize];
            return (buffered && at == now).then(|| merged(lpa));
        }
        let part = self.parts.get(transaction as usize).filter(|part| part.owner == id)?;
        // Of a write the access may be one of another medium, under the number of one that has ended.
        if op == Op::Write && part.ended != now {
            return None;
        }
        let mut waits = part.waits.clone();
        if op == Op::Write {
            waits.add_all(&merged(part.lpa));
        }
        Some(waits)
    }

    /// Forgets what ended before the oldest request inside came, or the oldest read of the map for some. Data may leave for some time yet, which a request will wait for.
    fn forget(&mut self, now: Ns, place: usize) {
        let oldest = self.inside.first_key_value().map_or(now, |(_, &fetched)| fetched);
        let oldest = self.map_fetches.values().copied().fold(oldest, Ns::min);
        let of_die = place.checked_sub(self.leaders.len()).filter(|_| self.planes > 0);
        for at in of_die.map(|plane| plane / self.planes).into_iter().chain([place]) {
            let done = &mut self.dies[at].done;
            while done.front().is_some_and(|stretch| stretch.until < oldest) {
                done.pop_front();
            }
        }
        for channel in &mut self.channels {
            while channel.front().is_some_and(|stretch| stretch.until < oldest) {
                channel.pop_front();
            }
        }
    }
}

/// Adds what was done between two times to the waits of a request: its own, or by lane.
fn lay_over(done: &VecDeque<Stretch>, from: Ns, until: Ns, owner: u64, waits: &mut Waits) {
    for stretch in done.iter().rev().take_while(|stretch| stretch.until >= from) {
        if let Some(lane) = stretch.lane_of(owner) {
            waits.add(lane, stretch.holder, stretch.within(from, until));
        }
    }
}

/// Adds what a die did between two times, but for those in which a plane of it did something itself.
fn lay_beside(
    of_die: &VecDeque<Stretch>,
    of_plane: &VecDeque<Stretch>,
    (from, until): (Ns, Ns),
    owner: u64,
    waits: &mut Waits,
) {
    for stretch in of_die.iter().rev().take_while(|stretch| stretch.until >= from) {
        let Some(lane) = stretch.lane_of(owner) else { continue };
        let (from, until) = (stretch.from.max(from), stretch.until.min(until));
        let beside = of_plane.iter().rev().take_while(|own| own.until >= from);
        let own: u64 = beside.map(|own| own.within(from, until)).sum();
        waits.add(lane, stretch.holder, until.saturating_since(from).0 - own);
    }
}
