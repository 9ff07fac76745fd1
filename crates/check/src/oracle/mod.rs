//! The data-version oracle: every write gives its sectors a new version, the version goes where the data
//! goes (buffer, media, moves, merges), and each read must return versions that some order of the
//! overlapping commands explains.
//!
//! The device simulates no data. What a read returns is what lay at the place the device says it read, at
//! the time it read it: [`content`] follows the places, [`history`] judges the versions. On drives larger
//! than [`UNITS_FOLLOWED_MAX`] a fixed share of the units is followed.

mod above;
mod areas;
mod behind;
pub mod content;
pub mod history;

use std::collections::VecDeque;

use ninescope_engine::{MergedWith, ReadFrom, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BlockGroup, Lpa, Op, Ppa, Request, SlotId};

use crate::Rule;
use crate::blocks::Blocks;
use crate::marks::{Mark, Marks};
use crate::requests::{Inside, mask_of, sectors_per_unit, units_of};
use crate::rule::{Checked, require};
use above::Above;
use content::{Content, Contents, FIRST_COMMAND, NEVER_WRITTEN, PREPARED, Pending, SPOILED, Version};
use history::{History, Stale};

/// Units followed at most; of a larger drive one in 2, 4, 8 ...
pub const UNITS_FOLLOWED_MAX: u32 = 4 << 20;

/// Sectors of a unit that a host read returns.
#[derive(Clone, Copy, Debug)]
struct ReadUnit {
    lpa: Lpa,
    /// Those of them that come from here.
    mask: u32,
    /// Where in flash, [`Ppa::UNMAPPED`] for a slot and for nowhere.
    place: Ppa,
    content: Content,
    /// What was never written, or trimmed: the version of its zeros.
    zeros: Option<Version>,
    arrived: bool,
}

/// Who reads a page of flash.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// The command of a slot.
    Command(u32),
    /// A migration.
    Migration(u32),
}

/// What the oracle knows of a command inside the device.
#[derive(Debug, Default)]
struct Command {
    version: Version,
    reads: Vec<ReadUnit>,
    /// Old content of units written in part, as it was read: at most both ends.
    merges: Vec<(Lpa, Content)>,
    /// Where the units of a write were placed.
    placed: Vec<Buffered>,
    /// When the last page of a read has left its die [ns].
    data_out: Ns,
    /// For a FLUSH: something written before it was not on the media when it came.
    waits: bool,
    /// For a FLUSH: sectors above that a loss of power would have taken away when it came, with what they held.
    to_be_lost: Vec<(SlotId, Lpa, usize, Version)>,
}

/// A host unit on its way to the media.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    place: Ppa,
    /// Erases of its group when it was placed.
    erases: u32,
    /// Its place in the order of fetches and completions.
    order: u64,
}

/// The oracle.
#[derive(Debug)]
pub struct Oracle {
    contents: Contents,
    history: History,
    /// By unit: the version of its zeros, [`NEVER_WRITTEN`] until it is trimmed.
    zeros: Vec<Version>,
    /// What random write areas of zones hold, by unit.
    areas: std::collections::BTreeMap<u32, Content>,
    /// By unit: what it held at the start.
    prepared: Vec<bool>,
    commands: Vec<Command>,
    /// Content under way by record of a move.
    moves: Vec<Content>,
    /// Units that moves are under way of.
    moving: std::collections::BTreeMap<u32, u32>,
    buffered: VecDeque<Buffered>,
    flushes_inside: u32,
    completes_at_program: bool,
    /// By die: those whose data are in its registers, with the plane.
    sensed_for: Vec<Vec<(Reader, usize)>>,
    /// The same of what is in the second registers of its planes.
    followed_for: Vec<Vec<(Reader, usize)>>,
    /// What is sensed next lay on a die that failed.
    missing: Option<Ppa>,
    /// The slots above, on a drive with two media.
    above: Option<Above>,
    /// What lies behind a drive of flash that tells clean data from dirty data, sector by sector; empty for others.
    behind: Vec<Version>,
    next_version: Version,
    /// A unit is followed if these bits of its scrambled number are zero.
    sample_mask: u32,
    sectors: u32,
}

impl Oracle {
    /// Takes over what preparing left.
    pub fn new(view: &View<'_>, completes_at_program: bool) -> Self {
        let geometry = view.ftl.geometry();
        let above = Above::new(view);
        let of_scm = above.as_ref().is_some_and(|above| !above.is_above_flash());
        let units = if of_scm { view.scm.layout().medium(1).slots } else { view.ftl.logical_units() };
        let sectors = sectors_per_unit(view);
        let has_store = above.is_none() && view.ftl.knows_clean();
        let of_map = view.ftl.translation_units();
        let mut oracle = Self {
            contents: Contents::new(geometry.units(), sectors),
            history: History::new(units, sectors),
            zeros: vec![NEVER_WRITTEN; units as usize],
            areas: Default::default(),
            prepared: vec![false; (units + of_map) as usize],
            commands: Vec::new(),
            moves: Vec::new(),
            moving: Default::default(),
            buffered: VecDeque::new(),
            flushes_inside: 0,
            completes_at_program,
            sensed_for: vec![Vec::new(); geometry.dies() as usize],
            followed_for: vec![Vec::new(); geometry.dies() as usize],
            missing: None,
            above,
            behind: vec![NEVER_WRITTEN; if has_store { (units * sectors) as usize } else { 0 }],
            next_version: FIRST_COMMAND,
            sample_mask: units.div_ceil(UNITS_FOLLOWED_MAX).next_power_of_two() - 1,
            sectors,
        };
        for lpa in (0..view.ftl.logical_units() + of_map).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place != Ppa::UNMAPPED {
                oracle.prepared[lpa.index()] = true;
                if view.ftl.is_clean(lpa) {
                    oracle.put_behind(lpa, u32::MAX, |_, _| PREPARED);
                }
                if oracle.follows(lpa) {
                    oracle.contents.put(place, Content::prepared(lpa));
                }
            }
        }
        oracle
    }

    #[inline]
    fn follows(&self, lpa: Lpa) -> bool {
        // Multiplying spreads neighbours over all residues.
        lpa.0.wrapping_mul(0x9e37_79b1) >> 7 & self.sample_mask == 0
    }

    fn initial(&self, lpa: Lpa) -> Version {
        if self.prepared[lpa.index()] { PREPARED } else { NEVER_WRITTEN }
    }

    /// The sectors of a unit that a request covers.
    fn mask(&self, lpa: Lpa, request: &Request) -> u32 {
        mask_of(request, lpa, self.sectors)
    }

    fn units_of(&self, request: &Request) -> std::ops::Range<u32> {
        units_of(request, self.sectors)
    }

    fn command(&mut self, slot: u32) -> &mut Command {
        if self.commands.len() <= slot as usize {
            self.commands.resize_with(slot as usize + 1, Command::default);
        }
        &mut self.commands[slot as usize]
    }

    // ---- commands ----------------------------------------------------------------------------------

    pub fn fetched(&mut self, slot: u32, request: &Request, blocks: &Blocks, view: &View<'_>, marks: &mut Marks) {
        let version = self.next_version;
        if matches!(request.op, Op::Write | Op::Trim) {
            self.next_version += 1;
        }
        let waits = request.op == Op::Flush && self.something_is_buffered(blocks, view);
        let command = self.command(slot);
        command.version = version;
        command.reads.clear();
        command.merges.clear();
        command.placed.clear();
        command.data_out = Ns::ZERO;
        command.waits = waits;
        if request.op == Op::Flush {
            marks.hit(if waits { Mark::FlushWaits } else { Mark::FlushOfNothing });
            self.flushes_inside += 1;
            if self.flushes_inside > 1 {
                marks.hit(Mark::TwoFlushes);
            }
        }
    }

    // ---- writes ------------------------------------------------------------------------------------

    #[allow(clippy::too_many_arguments)] // an event and what it is judged by
    pub fn written(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (inside, order): (&Inside, u64),
        lpa: Lpa,
        (old, new): (Ppa, Ppa),
        merged_with: MergedWith,
        marks: &mut Marks,
    ) -> Checked {
        self.superseded(view, lpa, old, marks);
        let group = view.ftl.geometry().group_and_offset(new).0;
        let erases = view.ftl.group(group).erase_count;
        let unit = Buffered { place: new, erases, order };
        if inside.request.fua {
            self.mark_fua_beside_others(view, slot, new, marks);
        }
        if view.ftl.zones().is_none() {
            // What a zone took is safe where it is: a FLUSH waits for nothing.
            self.buffered.push_back(unit);
        }
        if self.completes_at_program || inside.request.fua {
            self.command(slot).placed.push(unit);
        }
        if !self.follows(lpa) {
            return Ok(());
        }
        let mask = self.mask(lpa, &inside.request);
        let version = self.command(slot).version;
        let whole = mask == self.history.all_sectors();
        let (rest, zeros) = self.rest_of(slot, lpa, merged_with, marks);
        require!(
            whole == (merged_with == MergedWith::Nothing),
            LostData,
            view.now,
            "request {} writes sectors {mask:#x} of unit {lpa} and merges them with {merged_with:?}",
            inside.id
        );
        if !whole {
            let holds = self.contents.lpa(rest);
            require!(
                zeros.is_some() || holds == lpa,
                MisdirectedData,
                view.now,
                "request {} completes unit {lpa} from {merged_with:?}, which holds unit {holds}",
                inside.id
            );
            if self.history.is_open(lpa, version) {
                marks.hit(Mark::MergedPartWrites);
            }
        }
        let content = self.contents.create(lpa, |contents, sector| {
            if mask >> sector & 1 == 1 { version } else { zeros.unwrap_or_else(|| contents.version(rest, sector)) }
        });
        self.contents.release(rest);
        self.contents.put(new, content);
        self.history.written(lpa, mask, version, inside.invocation, self.initial(lpa));
        Ok(())
    }

    /// What completes a unit written in part: content with a reference for the caller, or zeros.
    fn rest_of(
        &mut self,
        slot: u32,
        lpa: Lpa,
        merged_with: MergedWith,
        marks: &mut Marks,
    ) -> (Content, Option<Version>) {
        match merged_with {
            MergedWith::Nothing => (Content::NONE, None),
            MergedWith::Zeros => {
                marks.hit(Mark::MergedWithZeros);
                (Content::NONE, Some(self.zeros[lpa.index()]))
            }
            MergedWith::Controller(place) => {
                marks.hit(Mark::MergedFromController);
                (self.contents.share(self.contents.at(place)), None)
            }
            MergedWith::Read(place) => {
                marks.hit(Mark::MergedFromMedia);
                let merges = &mut self.command(slot).merges;
                match merges.iter().position(|(unit, _)| *unit == lpa) {
                    Some(position) => (merges.swap_remove(position).1, None),
                    // The controller held it when the write began, and has kept it since.
                    None => (self.contents.share(self.contents.at(place)), None),
                }
            }
        }
    }

    /// Nothing of the rest of a unit is used: what was read of it before, perhaps ahead of a TRIM, is not merged.
    pub fn rest_is_empty(&mut self, slot: u32, lpa: Lpa) {
        let merges = &mut self.command(slot).merges;
        if let Some(position) = merges.iter().position(|(unit, _)| *unit == lpa) {
            let before = merges.swap_remove(position).1;
            self.contents.release(before);
        }
    }

    /// The old content of a unit written in part was read.
    pub fn merge_sensed(&mut self, slot: u32, lpa: Lpa, place: Ppa) {
        let content = self.contents.share(self.contents.at(place));
        let merges = &mut self.command(slot).merges;
        match merges.iter().position(|(unit, _)| *unit == lpa) {
            Some(position) => {
                let before = std::mem::replace(&mut merges[position].1, content);
                self.contents.release(before);
            }
            None => merges.push((lpa, content)),
        }
    }

    pub fn trimmed(&mut self, view: &View<'_>, slot: u32, inside: &Inside, lpa: Lpa, old: Ppa, marks: &mut Marks) {
        if old == Ppa::UNMAPPED {
            marks.hit(Mark::TrimUnmapped);
        }
        self.superseded(view, lpa, old, marks);
        self.leaves_area(lpa);
        let version = self.command(slot).version;
        self.is_zeros(lpa, Pending { version, invocation: inside.invocation });
    }

    /// The version that the command of a slot gives what it changes.
    pub fn version_of_command(&mut self, slot: u32) -> Version {
        self.command(slot).version
    }

    /// A unit reads as zeros from now on, because of a TRIM.
    pub fn is_zeros(&mut self, lpa: Lpa, trim: Pending) {
        if self.follows(lpa) {
            let Pending { version, invocation } = trim;
            self.zeros[lpa.index()] = version;
            let all = self.history.all_sectors();
            self.history.written(lpa, all, version, invocation, self.initial(lpa));
            self.put_behind(lpa, all, |_, _| version);
        }
    }

    /// A unit that was trimmed is not in the map any more. Where reads returned what it held before, `pending` takes effect now: for
    /// who reads it is as if it had been under way until then.
    pub fn forgotten(
        &mut self,
        view: &View<'_>,
        (lpa, old): (Lpa, Ppa),
        pending: Option<Pending>,
        (order, oldest): (u64, u64),
        marks: &mut Marks,
    ) {
        self.superseded(view, lpa, old, marks);
        if let Some(trim) = pending.filter(|_| self.follows(lpa)) {
            self.is_zeros(lpa, trim);
            self.history.write_completed(lpa, trim.version, order, oldest);
        }
    }

    /// A page of the map got a place.
    pub fn map_page_written(&mut self, lpa: Lpa, new: Ppa) {
        if self.follows(lpa) {
            let version = self.next_version;
            let content = self.contents.create(lpa, |_, _| version);
            self.contents.put(new, content);
        }
    }

    /// A page of the map was read.
    pub fn map_page_sensed(&self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        let holds = self.contents.lpa(self.contents.at(place));
        require!(
            !self.follows(lpa) || holds == lpa,
            MisdirectedData,
            view.now,
            "page {lpa} of the map is read at {place}, which holds unit {holds}"
        );
        Ok(())
    }

    fn superseded(&mut self, view: &View<'_>, lpa: Lpa, old: Ppa, marks: &mut Marks) {
        if old != Ppa::UNMAPPED && view.ftl.is_in_flight(old) {
            marks.hit(Mark::OverwriteInController);
        }
        if self.moving.contains_key(&lpa.0) {
            marks.hit(Mark::OverwriteWhileMoved);
        }
    }

    // ---- reads -------------------------------------------------------------------------------------

    /// The command of a slot reads the sectors `mask` of a unit.
    pub fn read(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (lpa, mask): (Lpa, u32),
        from: ReadFrom,
        marks: &mut Marks,
    ) -> Checked {
        if !self.follows(lpa) {
            return Ok(());
        }
        if self.moving.contains_key(&lpa.0) {
            marks.hit(Mark::ReadWhileMoved);
        }
        let unit = match from {
            ReadFrom::Nowhere => ReadUnit {
                lpa,
                mask,
                place: Ppa::UNMAPPED,
                content: Content::NONE,
                zeros: Some(self.zeros[lpa.index()]),
                arrived: true,
            },
            ReadFrom::Controller(place) => {
                let content = self.contents.share(self.contents.at(place));
                self.require_content_of(view, slot, lpa, place, content)?;
                ReadUnit { lpa, mask, place, content, zeros: None, arrived: true }
            }
            ReadFrom::Area => {
                let content = self.in_area(lpa);
                self.require_content_of(view, slot, lpa, Ppa::UNMAPPED, content)?;
                ReadUnit { lpa, mask, place: Ppa::UNMAPPED, content, zeros: None, arrived: true }
            }
            ReadFrom::Media(place) => {
                ReadUnit { lpa, mask, place, content: Content::NONE, zeros: None, arrived: false }
            }
        };
        self.command(slot).reads.push(unit);
        Ok(())
    }

    fn require_content_of(&self, view: &View<'_>, slot: u32, lpa: Lpa, place: Ppa, content: Content) -> Checked {
        let holds = self.contents.lpa(content);
        require!(
            holds == lpa,
            MisdirectedData,
            view.now,
            "the command of slot {slot} reads unit {lpa} at {place}, which holds {}",
            if holds == Lpa::NONE { "nothing".to_owned() } else { format!("unit {holds}") }
        );
        Ok(())
    }

    /// A page of a host read is in its die's register, and is brought up by a migration if there is one.
    pub fn sensed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (first, units): (Ppa, u8),
        brings_up: u32,
        marks: &mut Marks,
    ) -> Checked {
        if units > 1 {
            marks.hit(Mark::MultiUnitPage);
        }
        self.sense(view, first, Reader::Command(slot));
        self.migration_sensed_with_host(view, first, brings_up);
        for place in (first.0..first.0 + u32::from(units)).map(Ppa) {
            let content = self.contents.at(place);
            let reads = &mut self.command(slot).reads;
            let Some(read) = reads.iter_mut().find(|read| read.place == place && !read.arrived) else { continue };
            read.arrived = true;
            read.content = content;
            let lpa = read.lpa;
            self.contents.share(content);
            self.require_content_of(view, slot, lpa, place, content)?;
        }
        Ok(())
    }

    /// A page is in its die's register for somebody.
    fn sense(&mut self, view: &View<'_>, place: Ppa, reader: Reader) {
        let geometry = view.ftl.geometry();
        let die = geometry.die_of(place);
        let place = geometry.locate(place);
        let pool = geometry.pool_and_block(place.group).0;
        let plane = (geometry.first_plane_of_pool(pool) + place.plane_in_group) as usize;
        let is_missing = |missing: Ppa| geometry.locate(missing).page == place.page && geometry.die_of(missing) == die;
        if self.missing.is_some_and(is_missing) {
            // What lay on a die that failed is in no register.
            if let Reader::Migration(migration) = reader {
                self.migration_leaves(migration, view.now);
            }
            return;
        }
        self.sensed_for[die.index()].push((reader, plane));
    }

    // ---- completions -------------------------------------------------------------------------------

    /// A command completes. Of a read, units of `excused` were told to be lost, or are counted as wrong.
    #[allow(clippy::too_many_arguments)] // an event and what it is judged by
    pub fn completed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        inside: &Inside,
        (completion, oldest): (u64, u64),
        excused: &[Lpa],
        blocks: &Blocks,
        marks: &mut Marks,
    ) -> Checked {
        match inside.request.op {
            Op::Read => self.read_completed(view, slot, inside, (completion, oldest), excused, marks),
            Op::Write | Op::Trim => {
                if !inside.refused {
                    self.require_programmed(view, slot, inside, blocks)?;
                }
                let version = self.command(slot).version;
                for lpa in self.units_of(&inside.request).map(Lpa) {
                    if self.follows(lpa) {
                        self.history.write_completed(lpa, version, completion, oldest);
                    }
                }
                Ok(())
            }
            Op::Flush => {
                self.flushes_inside -= 1;
                if inside.refused { Ok(()) } else { self.flush_completed(view, inside, blocks) }
            }
        }
    }

    /// Without a write buffer, or where it asks for that, a write completes when its units are on the media.
    fn require_programmed(&mut self, view: &View<'_>, slot: u32, inside: &Inside, blocks: &Blocks) -> Checked {
        let placed = std::mem::take(&mut self.command(slot).placed);
        let rule = if self.completes_at_program { Rule::WriteDurability } else { Rule::FuaDurability };
        if let Some(unit) = placed.iter().find(|unit| !Self::is_durable(view, blocks, unit)) {
            let what = format!("request {} completes before its unit at {} is programmed", inside.id, unit.place);
            return Err(rule.violated(view.now, what));
        }
        self.command(slot).placed = placed;
        Ok(())
    }

    /// What is sensed next is of a page that lay on a die that failed, or of none.
    pub fn is_missing(&mut self, page: Option<Ppa>) {
        self.missing = page;
    }

    /// The data in a die's registers begin to leave, plane by plane.
    pub fn data_leave(&mut self, view: &View<'_>, command: &FlashCommand, from_second: bool) {
        let die = command.die.index();
        let list = if from_second { &mut self.followed_for[die] } else { &mut self.sensed_for[die] };
        let mut sensed = std::mem::take(list);
        let mut left = view.now;
        for plane in command.addressed_planes() {
            left += view.nand.data_time(u64::from(command.bytes[plane]));
            for &(reader, _) in sensed.iter().filter(|(_, of_plane)| *of_plane == plane) {
                match reader {
                    Reader::Migration(migration) => self.migration_leaves(migration, left),
                    Reader::Command(slot) => {
                        let reader = self.command(slot);
                        reader.data_out = reader.data_out.max(left);
                    }
                }
            }
        }
        // Planes that read by themselves have registers of their own. The list keeps its space.
        sensed.retain(|(_, of_plane)| command.planes >> of_plane & 1 == 0);
        let list = if from_second { &mut self.followed_for[die] } else { &mut self.sensed_for[die] };
        *list = sensed;
    }

    /// What a die has sensed moves to the second registers of its planes.
    pub fn page_moves(&mut self, die: ninescope_model::DieId) {
        let sensed = &mut self.sensed_for[die.index()];
        self.followed_for[die.index()].append(sensed);
    }

    fn read_completed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        inside: &Inside,
        (completion, oldest): (u64, u64),
        excused: &[Lpa],
        marks: &mut Marks,
    ) -> Checked {
        let data_out = self.command(slot).data_out;
        require!(
            view.now >= data_out,
            LostData,
            view.now,
            "request {} completes before its data have left their die at {data_out}",
            inside.id
        );
        let reads = std::mem::take(&mut self.command(slot).reads);
        let followed = self.units_of(&inside.request).map(Lpa).filter(|&lpa| self.follows(lpa));
        let asked: u32 = followed.map(|lpa| self.mask(lpa, &inside.request).count_ones()).sum();
        let sectors_of =
            |reads: &mut dyn Iterator<Item = &ReadUnit>| reads.map(|read| read.mask.count_ones()).sum::<u32>();
        let arrived = sectors_of(&mut reads.iter().filter(|read| read.arrived));
        let looked_for = sectors_of(&mut reads.iter());
        require!(
            arrived == asked && looked_for == asked,
            LostData,
            view.now,
            "request {} completes with {arrived} of its {asked} sectors ({looked_for} looked for)",
            inside.id
        );
        mark_dies(view, &reads, marks);
        for read in &reads {
            if !excused.contains(&read.lpa) {
                self.judge(view, inside, read, (completion, oldest), marks)?;
            }
            self.contents.release(read.content);
        }
        // The list keeps its space for the next command of the slot.
        self.command(slot).reads = reads;
        Ok(())
    }

    /// Judges the versions of one unit that a read returned, run by run of equal versions.
    fn judge(
        &mut self,
        view: &View<'_>,
        inside: &Inside,
        read: &ReadUnit,
        (completion, oldest): (u64, u64),
        marks: &mut Marks,
    ) -> Checked {
        let lpa = read.lpa;
        let mask = read.mask;
        let open_write = self.history.is_open(lpa, 0);
        if open_write {
            marks.hit(Mark::ReadOverlapsWrite);
        }
        let mut left = mask;
        let mut kinds = 0;
        while left != 0 {
            let version = self.version_of(read, left.trailing_zeros() as usize);
            let same = (0..self.sectors)
                .filter(|&sector| left >> sector & 1 == 1 && self.version_of(read, sector as usize) == version)
                .fold(0_u32, |same, sector| same | 1 << sector);
            left &= !same;
            kinds += 1;
            require!(
                version != SPOILED,
                UnreportedDamage,
                view.now,
                "request {} reads unit {lpa}, whose sectors {same:#x} are no good, and is not told",
                inside.id
            );
            if version >= FIRST_COMMAND && read.zeros.is_some() {
                marks.hit(Mark::ReadOfTrimmed);
            }
            let span = (inside.invocation, completion);
            let initial = self.initial(lpa);
            if open_write {
                // Where every write that has not completed is the one that was read, it is the newest.
                let older = self.history.is_open(lpa, version);
                marks.hit(if older { Mark::ReadReturnsOlder } else { Mark::ReadReturnsNewest });
            }
            if let Err(stale) = self.history.read(lpa, same, version, span, initial, oldest) {
                return Err(Rule::StaleData
                    .violated(view.now, stale_words(&format!("request {}", inside.id), read, version, &stale)));
            }
        }
        if kinds > 1 {
            marks.hit(Mark::ReadOfMixedVersions);
        }
        Ok(())
    }

    fn version_of(&self, read: &ReadUnit, sector: usize) -> Version {
        read.zeros.unwrap_or_else(|| self.contents.version(read.content, sector))
    }

    // ---- moves and erases --------------------------------------------------------------------------

    pub fn move_sensed(&mut self, view: &View<'_>, record: u32, lpa: Lpa, from: Ppa) -> Checked {
        *self.moving.entry(lpa.0).or_default() += 1;
        if self.moves.len() <= record as usize {
            self.moves.resize(record as usize + 1, Content::NONE);
        }
        if !self.follows(lpa) {
            return Ok(());
        }
        let content = self.contents.share(self.contents.at(from));
        self.moves[record as usize] = content;
        let holds = self.contents.lpa(content);
        require!(
            holds == lpa,
            MisdirectedData,
            view.now,
            "garbage collection moves unit {lpa} from {from}, which holds unit {holds}"
        );
        Ok(())
    }

    pub fn move_placed(&mut self, view: &View<'_>, record: u32, lpa: Lpa, to: Ppa) -> Checked {
        let content = std::mem::replace(&mut self.moves[record as usize], Content::NONE);
        let holds = self.contents.lpa(content);
        require!(
            !self.follows(lpa) || holds == lpa,
            LostData,
            view.now,
            "garbage collection puts unit {holds} at {to} as unit {lpa}"
        );
        self.contents.put(to, content);
        Ok(())
    }

    /// A die copies a unit as it is, which stays where it was until the copy is there.
    pub fn move_copied(&mut self, view: &View<'_>, lpa: Lpa, (from, to): (Ppa, Ppa)) -> Checked {
        *self.moving.entry(lpa.0).or_default() += 1;
        if !self.follows(lpa) {
            return Ok(());
        }
        let content = self.contents.share(self.contents.at(from));
        let holds = self.contents.lpa(content);
        require!(
            holds == lpa,
            MisdirectedData,
            view.now,
            "unit {lpa} is copied by its die from {from}, which holds unit {holds}"
        );
        self.contents.put(to, content);
        Ok(())
    }

    pub fn move_dropped(&mut self, record: u32, lpa: Lpa) {
        let content = std::mem::replace(&mut self.moves[record as usize], Content::NONE);
        self.contents.release(content);
        self.move_over(lpa);
    }

    /// Whether two places hold one content.
    pub fn hold_the_same(&self, place: Ppa, other: Ppa) -> bool {
        let content = self.contents.at(place);
        content != Content::NONE && content == self.contents.at(other)
    }

    /// The program of a move ended, whatever became of it.
    pub fn move_over(&mut self, lpa: Lpa) {
        if let Some(count) = self.moving.get_mut(&lpa.0) {
            *count -= 1;
            if *count == 0 {
                self.moving.remove(&lpa.0);
            }
        }
    }

    /// A page whose group failed has another place, with all that it holds.
    pub fn page_rewritten(&mut self, view: &View<'_>, from: Ppa, to: Ppa) {
        let geometry = view.ftl.geometry();
        for number in 0..geometry.units_per_page() {
            let content = self.contents.share(self.contents.at(Ppa(from.0 + number)));
            self.contents.put(Ppa(to.0 + number), content);
        }
        let before = view.ftl.group(geometry.group_and_offset(from).0).erase_count;
        let erases = view.ftl.group(geometry.group_and_offset(to).0).erase_count;
        let all = self.buffered.iter_mut().chain(self.commands.iter_mut().flat_map(|command| &mut command.placed));
        for unit in all.filter(|unit| geometry.first_unit_of_page(unit.place) == from && unit.erases == before) {
            (unit.place, unit.erases) = (Ppa(to.0 + (unit.place.0 - from.0)), erases);
        }
    }

    /// What a group held is gone.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        let geometry = view.ftl.geometry();
        let first = geometry.first_unit(group).0;
        for place in (first..first + geometry.units_per_group()).map(Ppa) {
            self.contents.put(place, Content::NONE);
        }
    }

    /// A page that a write is to wait for holds what others wrote, and do not wait for.
    fn mark_fua_beside_others(&mut self, view: &View<'_>, slot: u32, place: Ppa, marks: &mut Marks) {
        let page = |place: Ppa| view.ftl.geometry().first_unit_of_page(place);
        let beside = |unit: &&Buffered| page(unit.place) == page(place);
        let in_page = self.buffered.iter().filter(beside).count();
        if in_page > self.command(slot).placed.iter().filter(beside).count() {
            marks.hit(Mark::FuaBesideOthers);
        }
    }

    // ---- durability --------------------------------------------------------------------------------

    /// Whether a unit is on the media, or its group was erased since: it was superseded then.
    fn is_durable(view: &View<'_>, blocks: &Blocks, unit: &Buffered) -> bool {
        blocks.is_programmed(view, unit.place, unit.erases)
    }

    fn something_is_buffered(&mut self, blocks: &Blocks, view: &View<'_>) -> bool {
        self.programs_ended(blocks, view);
        self.buffered.iter().any(|unit| !Self::is_durable(view, blocks, unit))
    }

    /// Forgets the oldest buffered units that are durable by now.
    pub fn programs_ended(&mut self, blocks: &Blocks, view: &View<'_>) {
        while self.buffered.front().is_some_and(|unit| Self::is_durable(view, blocks, unit)) {
            self.buffered.pop_front();
        }
    }

    fn flush_completed(&mut self, view: &View<'_>, inside: &Inside, blocks: &Blocks) -> Checked {
        self.programs_ended(blocks, view);
        for unit in &self.buffered {
            require!(
                unit.order >= inside.invocation || Self::is_durable(view, blocks, unit),
                FlushDurability,
                view.now,
                "FLUSH {} completes, and the unit at {} that was written before it is not on the media",
                inside.id,
                unit.place
            );
        }
        Ok(())
    }
}

fn mark_dies(view: &View<'_>, reads: &[ReadUnit], marks: &mut Marks) {
    let geometry = view.ftl.geometry();
    let die = |read: &ReadUnit| geometry.die_of(read.place);
    let mut dies = reads.iter().filter(|read| read.place != Ppa::UNMAPPED).map(die);
    if let Some(first) = dies.next()
        && dies.any(|other| other != first)
    {
        marks.hit(Mark::SeveralPools);
    }
}

fn stale_words(who: &str, read: &ReadUnit, version: Version, stale: &Stale) -> String {
    let what = match version {
        NEVER_WRITTEN => "the zeros of the start".to_owned(),
        SPOILED => "what is no good".to_owned(),
        PREPARED => "what preparing wrote".to_owned(),
        command => format!("version {command}"),
    };
    let why = match stale.excluded_by {
        Some(other) => format!("which version {other} excludes"),
        None => "which was superseded before the read was fetched, or never written".to_owned(),
    };
    let from = match (read.zeros, read.place) {
        (Some(_), _) => "nowhere".to_owned(),
        (None, Ppa::UNMAPPED) => "a slot, or an area".to_owned(),
        (None, place) => format!("{place}"),
    };
    format!("{who} reads {what} of unit {} (sectors {:#x}) from {from}, {why}", read.lpa, stale.mask)
}
