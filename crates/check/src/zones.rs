//! Zones: a naive model of their states, written out as the table of transitions that the specification draws, and where units of a
//! zone may lie.
//!
//! The arithmetic of places is not known here: a zone's block groups are those that its stripes were seen to take, one after the other.
//! A random write area is the set of the units that were written and have no place, and its commits are counted granule by granule.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::{Dropped, SimulationError, View};
use ninescope_ftl::{ZoneError, ZoneState, Zones, ZrwaConfig, ZrwaCounts};
use ninescope_model::{BlockGroup, Lpa, Op, Ppa, Request, ZoneCommand};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What is known of a zone.
#[derive(Clone, Debug)]
struct Zone {
    state: ZoneState,
    /// Units before the write pointer.
    pointer: u32,
    /// Units that have places, padding among them.
    placed: u32,
    /// The groups that its stripes took, in that order.
    groups: Vec<BlockGroup>,
    /// When it was opened last by a write, in openings.
    opened: u64,
    /// Whether it has a random write area that takes writes.
    has_area: bool,
    /// Units that such an area holds, from the beginning of the zone on: those behind the write pointer, and those that were committed
    /// and have no place yet.
    held: BTreeSet<u32>,
}

/// All zones.
#[derive(Debug)]
pub struct ZoneBook {
    zones: Vec<Zone>,
    size: u32,
    capacity: u32,
    open_max: usize,
    active_max: usize,
    zrwa: Option<ZrwaConfig>,
    openings: u64,
    /// Groups that are to be erased, because their zone was reset.
    to_erase: Vec<BlockGroup>,
    /// Resets and finishes under way, by command.
    under_way: BTreeMap<u32, (ZoneCommand, u32)>,
    /// What commands are to have placed when they are over: so many units of a zone.
    committing: BTreeMap<u32, (u32, u32)>,
    /// Commands that their zone refused.
    refused: Vec<u32>,
    /// Counted since measuring began.
    commands: [u64; ZoneCommand::ALL.len()],
    errors: [u64; ZoneError::ALL.len()],
    zrwa_counts: ZrwaCounts,
}

impl ZoneBook {
    /// Takes over what a drive was told, and what preparing left; none where it has no zones.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let zones = view.ftl.zones()?;
        let (layout, (open_max, active_max)) = (zones.layout(), zones.limits());
        let of = |number: u32| {
            let told = zones.zone(number);
            Zone {
                state: told.state,
                pointer: told.written,
                placed: told.placed,
                groups: Vec::new(),
                opened: 0,
                has_area: false,
                held: BTreeSet::new(),
            }
        };
        let mut book = Self {
            zones: (0..layout.zones()).map(of).collect(),
            size: layout.size(),
            capacity: layout.capacity(),
            open_max: open_max as usize,
            active_max: active_max as usize,
            zrwa: zones.zrwa().copied(),
            openings: 0,
            to_erase: Vec::new(),
            under_way: BTreeMap::new(),
            committing: BTreeMap::new(),
            refused: Vec::new(),
            commands: [0; ZoneCommand::ALL.len()],
            errors: [0; ZoneError::ALL.len()],
            zrwa_counts: ZrwaCounts::default(),
        };
        for lpa in (0..view.ftl.logical_units()).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place != Ppa::UNMAPPED {
                book.stripe_lies(view, lpa.0 / book.size, lpa.0 % book.size, place).ok()?;
            }
        }
        Some(book)
    }

    fn count(&self, is: impl Fn(ZoneState) -> bool) -> usize {
        self.zones.iter().filter(|zone| is(zone.state)).count()
    }

    // ---- commands ----------------------------------------------------------------------------------

    /// What a zone has to say to a command, and what becomes of all zones with it.
    fn answer(&mut self, command: ZoneCommand, lpa: Lpa, units: u32, marks: &mut Marks) -> Result<Lpa, ZoneError> {
        let (number, offset) = ((lpa.0 / self.size) as usize, lpa.0 % self.size);
        let (state, pointer) = (self.zones[number].state, self.zones[number].pointer);
        if self.zones[number].has_area
            && matches!(command, ZoneCommand::None | ZoneCommand::Append | ZoneCommand::Commit)
        {
            return self.answer_of_area(command, (lpa, number), (offset, units), marks);
        }
        if command == ZoneCommand::Commit {
            return Err(ZoneError::InvalidOperation);
        }
        let writes = matches!(command, ZoneCommand::None | ZoneCommand::Append);
        if writes {
            let refused = match state {
                ZoneState::Offline => Some(ZoneError::ZoneIsOffline),
                ZoneState::ReadOnly => Some(ZoneError::ZoneIsReadOnly),
                ZoneState::Full => Some(ZoneError::ZoneIsFull),
                _ if command == ZoneCommand::Append && pointer + units > self.capacity => {
                    Some(ZoneError::BoundaryError)
                }
                _ if command == ZoneCommand::None && offset + units > self.capacity => Some(ZoneError::BoundaryError),
                _ if command == ZoneCommand::None && offset != pointer => Some(ZoneError::InvalidWrite),
                _ => None,
            };
            if let Some(error) = refused {
                return Err(error);
            }
        }
        let to = if writes { ZoneState::ImplicitlyOpened } else { Self::transition(command, state)? };
        if command == ZoneCommand::OpenZrwa {
            let most = self.zrwa.ok_or(ZoneError::InvalidOperation)?.zones as usize;
            if self.zones.iter().filter(|zone| zone.has_area).count() >= most {
                return Err(ZoneError::ZrwaUnavailable);
            }
        }
        let opens = matches!(to, ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened);
        let is_open = |state| matches!(state, ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened);
        if opens && !is_open(state) {
            self.make_room(state, marks)?;
        }
        // A write leaves open what the host opened.
        let to = if writes && is_open(state) { state } else { to };
        let zone = &mut self.zones[number];
        if to == ZoneState::ImplicitlyOpened && state != to {
            self.openings += 1;
            zone.opened = self.openings;
        }
        zone.state = to;
        let first = lpa.0 - offset + if writes { pointer } else { 0 };
        match command {
            ZoneCommand::Reset => {
                (zone.pointer, zone.placed, zone.has_area) = (0, 0, false);
                self.zrwa_counts.dropped_units += zone.held.len() as u64;
                if !zone.held.is_empty() {
                    marks.hit(Mark::ZrwaDropped);
                }
                zone.held.clear();
            }
            ZoneCommand::Finish => {
                (zone.pointer, zone.has_area) = (self.capacity, false);
                if !zone.held.is_empty() {
                    marks.hit(Mark::ZrwaFinished);
                }
            }
            ZoneCommand::OpenZrwa => zone.has_area = true,
            _ if writes => zone.pointer += units,
            _ => {}
        }
        if writes && zone.pointer == self.capacity {
            zone.state = ZoneState::Full;
        }
        Ok(Lpa(first))
    }

    /// What a zone with a random write area has to say to a write and a commit, and what becomes of it.
    fn answer_of_area(
        &mut self,
        command: ZoneCommand,
        (lpa, number): (Lpa, usize),
        (offset, units): (u32, u32),
        marks: &mut Marks,
    ) -> Result<Lpa, ZoneError> {
        let (state, pointer) = (self.zones[number].state, self.zones[number].pointer);
        let ZrwaConfig { size, granularity, .. } = self.zrwa.ok_or(ZoneError::InvalidOperation)?;
        let end = offset + units;
        match command {
            ZoneCommand::Append => return Err(ZoneError::InvalidOperation),
            ZoneCommand::None if end > self.capacity => return Err(ZoneError::BoundaryError),
            ZoneCommand::None if offset < pointer || end > pointer + 2 * size => return Err(ZoneError::InvalidWrite),
            ZoneCommand::Commit if units <= pointer || units > self.capacity || units > pointer + size => {
                return Err(ZoneError::BoundaryError);
            }
            ZoneCommand::Commit if (units - pointer) % granularity > 0 => return Err(ZoneError::InvalidField),
            _ => {}
        }
        if state == ZoneState::Closed {
            self.make_room(state, marks)?;
            self.openings += 1;
            (self.zones[number].state, self.zones[number].opened) = (ZoneState::ImplicitlyOpened, self.openings);
        }
        let (zone, counts) = (&mut self.zones[number], &mut self.zrwa_counts);
        if command == ZoneCommand::Commit {
            zone.pointer = units;
            marks.hit(Mark::ZrwaCommit);
            if units == self.capacity {
                (zone.state, zone.has_area) = (ZoneState::Full, false);
            }
            return Ok(lpa);
        }
        for unit in offset..end {
            counts.written_units += 1;
            if !zone.held.insert(unit) {
                counts.overwritten_units += 1;
                marks.hit(Mark::ZrwaOverwrite);
            }
        }
        while end > zone.pointer + size {
            zone.pointer += granularity;
        }
        if zone.pointer > pointer {
            counts.implicit_commits += 1;
            marks.hit(Mark::ZrwaImplicitCommit);
        }
        Ok(lpa)
    }

    /// Where a command of management takes a zone.
    fn transition(command: ZoneCommand, from: ZoneState) -> Result<ZoneState, ZoneError> {
        use ZoneState::{Closed, Empty, ExplicitlyOpened, Full, ImplicitlyOpened, Offline, ReadOnly};
        match (from, command) {
            (Empty | ImplicitlyOpened | ExplicitlyOpened | Closed | Full, ZoneCommand::Reset) => Ok(Empty),
            (Empty | ImplicitlyOpened | ExplicitlyOpened | Closed | Full, ZoneCommand::Finish) => Ok(Full),
            (Empty | ImplicitlyOpened | ExplicitlyOpened | Closed, ZoneCommand::Open)
            | (Empty, ZoneCommand::OpenZrwa) => Ok(ExplicitlyOpened),
            (ImplicitlyOpened | ExplicitlyOpened | Closed, ZoneCommand::OpenZrwa) => Err(ZoneError::InvalidOperation),
            (ImplicitlyOpened | ExplicitlyOpened | Closed, ZoneCommand::Close) => Ok(Closed),
            (Empty | Full, ZoneCommand::Close)
            | (Full, ZoneCommand::Open | ZoneCommand::OpenZrwa)
            | (ReadOnly | Offline, _) => Err(ZoneError::InvalidTransition),
            (_, ZoneCommand::None | ZoneCommand::Append | ZoneCommand::Commit) => Err(ZoneError::InvalidField),
        }
    }

    /// One more zone is to be open.
    fn make_room(&mut self, from: ZoneState, marks: &mut Marks) -> Result<(), ZoneError> {
        use ZoneState::{Closed, ExplicitlyOpened, ImplicitlyOpened};
        let is_active = |state| matches!(state, ImplicitlyOpened | ExplicitlyOpened | Closed);
        if !is_active(from) && self.count(is_active) >= self.active_max {
            return Err(ZoneError::TooManyActiveZones);
        }
        if self.count(|state| matches!(state, ImplicitlyOpened | ExplicitlyOpened)) < self.open_max {
            return Ok(());
        }
        let implicit = self.zones.iter_mut().filter(|zone| zone.state == ImplicitlyOpened);
        let oldest = implicit.min_by_key(|zone| zone.opened).ok_or(ZoneError::TooManyOpenZones)?;
        oldest.state = Closed;
        marks.hit(Mark::ZoneClosedForAnother);
        Ok(())
    }

    /// A zone answers a command. Returns whether it is a write whose units are in a random write area now.
    pub fn answered(
        &mut self,
        view: &View<'_>,
        (slot, request): (u32, &Request),
        (command, lpa, units): (ZoneCommand, Lpa, u32),
        answer: Result<Lpa, ZoneError>,
        marks: &mut Marks,
    ) -> Result<bool, SimulationError> {
        let per_unit = view.ftl.geometry().sectors_per_unit();
        let number = (lpa.0 / self.size) as usize;
        let into_area = request.op == Op::Write && self.zones[number].has_area && answer.is_ok();
        let pointer = self.zones[number].pointer;
        let expected = match request.op {
            Op::Read => {
                let last = ((request.end() - 1) / u64::from(per_unit)) as u32 / self.size;
                let zones = (request.lba.0 / u64::from(per_unit)) as u32 / self.size..=last;
                let mut states = zones.map(|zone| self.zones[zone as usize].state);
                if states.any(|state| state == ZoneState::Offline) { Err(ZoneError::ZoneIsOffline) } else { Ok(lpa) }
            }
            Op::Write => {
                let is_whole = request.lba.0 % u64::from(per_unit) == 0 && request.sectors % per_unit == 0;
                let is_write = matches!(request.remark.zone(), ZoneCommand::None | ZoneCommand::Append);
                if is_whole && is_write && !request.fua {
                    self.answer(request.remark.zone(), lpa, units, marks)
                } else {
                    Err(ZoneError::InvalidField)
                }
            }
            _ if matches!(command, ZoneCommand::None | ZoneCommand::Append) => Err(ZoneError::InvalidField),
            _ if command == ZoneCommand::Commit => self.answer_to_commit(per_unit, request, marks),
            _ => self.answer(command, lpa, 0, marks),
        };
        require!(
            answer == expected,
            Zones,
            view.now,
            "zone {number} says {answer:?} to {command:?} of {units} units at {lpa} ({request:?}), and is to say {expected:?}: {:?}",
            self.zones[number]
        );
        match answer {
            Ok(_) => {
                self.commands[command as usize] += 1;
                if matches!(command, ZoneCommand::Reset | ZoneCommand::Finish) {
                    self.under_way.insert(slot, (command, number as u32));
                    marks.hit(if command == ZoneCommand::Reset { Mark::ZoneReset } else { Mark::ZoneFinished });
                }
                if command == ZoneCommand::Append {
                    marks.hit(Mark::ZoneAppend);
                }
                if (into_area || command == ZoneCommand::Commit) && self.zones[number].pointer > pointer {
                    self.committing.insert(slot, (number as u32, self.zones[number].pointer));
                }
            }
            Err(error) => {
                self.errors[error as usize] += 1;
                self.refused.push(slot);
                marks.hit(Mark::ZoneRefuses);
            }
        }
        self.agrees(view, number as u32)?;
        Ok(into_area)
    }

    /// What is to be said to a commit: it goes to the end of what it is of, which is one of a unit.
    fn answer_to_commit(&mut self, per_unit: u32, request: &Request, marks: &mut Marks) -> Result<Lpa, ZoneError> {
        let zone = (request.lba.0 / u64::from(per_unit)) as u32 / self.size;
        let first = zone * self.size;
        let sectors = request.end() - u64::from(first) * u64::from(per_unit);
        if !sectors.is_multiple_of(u64::from(per_unit)) {
            return Err(ZoneError::InvalidField);
        }
        self.answer(ZoneCommand::Commit, Lpa(first), (sectors / u64::from(per_unit)) as u32, marks)
    }

    /// Whether the newest content of a unit is in an area.
    pub fn holds(&self, lpa: Lpa) -> bool {
        self.zones[(lpa.0 / self.size) as usize].held.contains(&(lpa.0 % self.size))
    }

    /// The device says the same of a zone, and of how many are open.
    fn agrees(&self, view: &View<'_>, number: u32) -> Checked {
        let Some(zones) = view.ftl.zones() else { return Ok(()) };
        let (told, own) = (zones.zone(number), &self.zones[number as usize]);
        require!(
            (told.state, told.written, told.placed) == (own.state, own.pointer, own.placed)
                && zones.takes_any_order(number) == own.has_area,
            Zones,
            view.now,
            "zone {number} is said to be {told:?}, it is {own:?}"
        );
        let open = self.count(|state| matches!(state, ZoneState::ImplicitlyOpened | ZoneState::ExplicitlyOpened));
        let active = open + self.count(|state| state == ZoneState::Closed);
        let said = zones.resources();
        require!(
            (said.0 as usize, said.1 as usize) == (open, active) && open <= self.open_max && active <= self.active_max,
            Zones,
            view.now,
            "{said:?} zones are said to be open and active, {open} and {active} are, of {} and {}",
            self.open_max,
            self.active_max
        );
        Ok(())
    }

    /// The host is told of a command. Returns whether its zone refused it.
    pub fn completed(&mut self, view: &View<'_>, slot: u32) -> Result<bool, SimulationError> {
        self.done(view, slot)?;
        let refused = self.refused.iter().position(|&other| other == slot);
        Ok(refused.map(|at| self.refused.swap_remove(at)).is_some())
    }

    /// A command completes: what it was to do to its zone is done.
    pub fn done(&mut self, view: &View<'_>, slot: u32) -> Checked {
        if let Some((command, number)) = self.under_way.remove(&slot) {
            let zone = &self.zones[number as usize];
            let group = |group: &BlockGroup| view.ftl.group(*group);
            let (is_done, what) = if command == ZoneCommand::Reset {
                (!zone.groups.iter().any(|group| self.to_erase.contains(group)), "and is not erased")
            } else {
                let all = zone.placed == self.capacity || (zone.placed == 0 && zone.held.is_empty());
                let programmed = zone.groups.iter().all(|id| group(id).programmed == group(id).write_pointer);
                (all && programmed, "and is not all on the media")
            };
            if !is_done {
                let what = format!("{command:?} of zone {number} is over {what}: {zone:?}");
                return Err(crate::Rule::Zones.violated(view.now, what));
            }
        }
        if let Some((number, until)) = self.committing.remove(&slot) {
            let placed = self.zones[number as usize].placed;
            require!(
                placed >= until,
                Zones,
                view.now,
                "{until} units of zone {number} are committed, and {placed} have places"
            );
        }
        Ok(())
    }

    // ---- units -------------------------------------------------------------------------------------

    /// A unit of a zone, or padding, lies there: stripes go round the groups of the zone, which are of blocks of one number.
    fn stripe_lies(&mut self, view: &View<'_>, number: u32, offset: u32, place: Ppa) -> Checked {
        let geometry = view.ftl.geometry();
        let (group, within) = geometry.group_and_offset(place);
        let per_stripe = geometry.units_per_stripe();
        let width = (self.capacity / geometry.units_per_group()) as usize;
        let stripe = (offset / per_stripe) as usize;
        let zone = &mut self.zones[number as usize];
        if zone.groups.len() == stripe && stripe < width && !zone.groups.contains(&group) {
            zone.groups.push(group);
        }
        let block = |group: BlockGroup| geometry.pool_and_block(group).1;
        let expected = ((stripe / width) as u32 * per_stripe) + offset % per_stripe;
        require!(
            zone.groups.get(stripe % width) == Some(&group)
                && block(group) == block(zone.groups[0])
                && within == expected,
            Zones,
            view.now,
            "unit {offset} of zone {number} lies at {place}, unit {within} of group {group}; its groups are {:?}",
            zone.groups
        );
        Ok(())
    }

    /// A unit of the host got its place: the next one of its zone.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        let (number, offset) = (lpa.0 / self.size, lpa.0 % self.size);
        let zone = &mut self.zones[number as usize];
        require!(
            zone.placed == offset && offset < zone.pointer && !zone.has_area && zone.held.is_empty(),
            Zones,
            view.now,
            "unit {offset} of zone {number} is placed where {} is next, of {} that the zone took",
            zone.placed,
            zone.pointer
        );
        zone.placed += 1;
        self.stripe_lies(view, number, offset, place)
    }

    /// A unit that was committed got its place: the next one of its zone, and padding where nobody had written it. Returns whether its
    /// zone is finished.
    pub fn committed(
        &mut self,
        view: &View<'_>,
        lpa: Lpa,
        place: Ppa,
        is_written: bool,
        marks: &mut Marks,
    ) -> Result<bool, SimulationError> {
        let (number, offset) = (lpa.0 / self.size, lpa.0 % self.size);
        let zone = &mut self.zones[number as usize];
        let was_held = zone.held.remove(&offset);
        require!(
            zone.placed == offset && offset < zone.pointer && is_written == was_held,
            Zones,
            view.now,
            "unit {offset} of zone {number} is committed where {} is next, of {}; its area held it: {was_held}",
            zone.placed,
            zone.pointer
        );
        zone.placed += 1;
        self.zrwa_counts.committed_units += u64::from(is_written);
        if !is_written {
            marks.hit(Mark::ZrwaHole);
        }
        self.stripe_lies(view, number, offset, place)?;
        Ok(self.under_way.values().any(|under_way| *under_way == (ZoneCommand::Finish, number)))
    }

    /// A page was filled with padding: of a zone that is being finished.
    pub fn padded(&mut self, view: &View<'_>, last: Ppa, units: u32) -> Checked {
        let finishing = self.under_way.values().filter(|(command, _)| *command == ZoneCommand::Finish);
        let mut fits = finishing.map(|(_, number)| *number).filter(|number| {
            let told = view.ftl.zones().map(|zones| zones.zone(*number).placed);
            told == Some(self.zones[*number as usize].placed + units)
        });
        let Some(number) = fits.next() else {
            return Err(crate::Rule::Zones.violated(view.now, format!("{last} is padding of no zone that is finished")));
        };
        let held = &self.zones[number as usize].held;
        require!(held.is_empty(), Zones, view.now, "zone {number} is padded, and its area holds {held:?}");
        let offset = self.zones[number as usize].placed + units - 1;
        self.zones[number as usize].placed += units;
        self.stripe_lies(view, number, offset, last)
    }

    /// A group of a zone that was reset holds nothing any more.
    pub fn dropped(&mut self, view: &View<'_>, dropped: &Dropped, marks: &mut Marks) -> Checked {
        let resets = self.under_way.values().filter(|(command, _)| *command == ZoneCommand::Reset);
        let is_reset =
            resets.into_iter().any(|(_, number)| self.zones[*number as usize].groups.contains(&dropped.group));
        require!(
            is_reset && dropped.units < view.ftl.geometry().units_per_stripe(),
            Zones,
            view.now,
            "{dropped:?}, and none of its zones is reset"
        );
        if dropped.units > 0 {
            marks.hit(Mark::ZoneDropsUnits);
        }
        if dropped.erase {
            self.to_erase.push(dropped.group);
        }
        Ok(())
    }

    /// A group is erased: its zone was reset.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) -> Checked {
        let Some(at) = self.to_erase.iter().position(|&other| other == group) else {
            return Err(
                crate::Rule::Zones.violated(view.now, format!("group {group} is erased, and no zone was reset"))
            );
        };
        self.to_erase.swap_remove(at);
        Ok(())
    }

    pub fn measuring_began(&mut self) {
        (self.commands, self.errors) = ([0; ZoneCommand::ALL.len()], [0; ZoneError::ALL.len()]);
        self.zrwa_counts = ZrwaCounts::default();
    }

    /// The device says the same of all zones, and counts what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        (0..self.zones.len() as u32).try_for_each(|number| self.agrees(view, number))?;
        let Some(counts) = view.ftl.zones().map(Zones::counts) else { return Ok(()) };
        require!(
            counts.commands == self.commands && counts.errors == self.errors,
            Zones,
            view.now,
            "commands {:?} and errors {:?} of zones are counted, {:?} and {:?} were seen",
            counts.commands,
            counts.errors,
            self.commands,
            self.errors
        );
        let said = view.ftl.zones().map(Zones::zrwa_counts).copied().unwrap_or_default();
        require!(
            said == self.zrwa_counts,
            Zones,
            view.now,
            "{said:?} are counted of random write areas, {:?} were seen",
            self.zrwa_counts
        );
        if self.zrwa.is_some() {
            self.areas_agree(view)?;
        }
        Ok(())
    }

    /// The device says the same of what areas hold.
    fn areas_agree(&self, view: &View<'_>) -> Checked {
        let Some(told) = view.ftl.zones() else { return Ok(()) };
        for (zone, number) in self.zones.iter().zip(0..) {
            for unit in 0..self.capacity {
                let (said, held) = (told.holds(Lpa(number * self.size + unit)), zone.held.contains(&unit));
                require!(
                    said == held,
                    Zones,
                    view.now,
                    "the area of zone {number} is said to hold unit {unit}: {said}; {held} is seen"
                );
            }
        }
        Ok(())
    }
}
