//! The line of writes that wait for a place: for a free page, or for room in the write buffer. Where some addresses have planes
//! of their own, each partition of the drive has a line of its own, so that nobody waits for what he will not get; and so has each
//! part of a write buffer that is divided.

use std::collections::VecDeque;

use ninescope_ftl::policies::Told;
use ninescope_ftl::{Ftl, Partitions, Residence};
use ninescope_kernel::{NONE, Ns};
use ninescope_model::{Cause, Lpa, Source};

use super::Flash;
use super::merged::MergedUnits;
use crate::meter::{Parts, Spells};
use crate::run::Run;
use crate::transaction::Harm;

/// Units of one command that are to be placed in order. At most three per command: its whole units and a
/// partly written one at each end.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // four independent facts of an entry
pub struct WriteEntry {
    /// On whose behalf: the host's, or a migration's.
    pub source: Source,
    /// The command, or the migration.
    pub command: u32,
    /// When the parts of the command set out.
    pub set_out: Ns,
    /// The next unit to place.
    pub next: u32,
    /// The unit after the last one.
    pub end: u32,
    /// For a unit written in part: where the content it was merged with lay ([`Residence::NONE`] for no
    /// content). `None` for whole units.
    pub merged_with: Option<Residence>,
    /// What it was merged with is no good: the unit is lost, or wrong.
    pub damage: Option<Harm>,
    /// The part of the write buffer that its pages are of.
    pub part: u32,
    /// Another copy of what is written exists.
    pub clean: bool,
    /// Its command waits for its units to be programmed, and its pages go out as soon as they are placed.
    pub at_program: bool,
    /// What its command says of it, where that is of any consequence.
    pub told: Told,
    /// Its turn had come before, and the rest of its unit had to be read again.
    pub had_turn: bool,
    /// Some of its units have their places: where it waits for its program nobody else comes into its page.
    pub begun: bool,
    /// For a unit written in part whose rest was read: where its time went until then, among the
    /// [`merges`](crate::transaction::TransactionStore::merges); `NONE` for others.
    pub merge: u32,
    /// How long it was stalled.
    pub stalls: Stalls,
}

/// How long somebody was stalled in the line, and what the line knows of him.
#[derive(Clone, Copy, Debug)]
pub struct Stalls {
    /// For want of a free page [ns].
    allocation: Ns,
    /// Behind a full write buffer [ns].
    buffer: Ns,
    /// Since when it is stalled, and why.
    since: (Ns, Cause),
    /// Which of all that had to wait it is, in their order.
    came: u64,
    /// While it waits and is merged with what lay on the media: its number among those.
    merged: u32,
}

impl WriteEntry {
    /// Whole units of a command, whose parts set out then.
    pub fn of_whole_units(source: Source, command: u32, set_out: Ns, next: u32, end: u32, now: Ns) -> Self {
        Self {
            source,
            command,
            set_out,
            next,
            end,
            merged_with: None,
            damage: None,
            part: 0,
            told: Told::default(),
            clean: false,
            at_program: false,
            had_turn: false,
            begun: false,
            merge: NONE,
            stalls: Stalls {
                allocation: Ns::ZERO,
                buffer: Ns::ZERO,
                since: (now, Cause::BufferStall),
                came: u64::MAX,
                merged: NONE,
            },
        }
    }

    /// Why it waits, or waited last.
    pub fn stall_cause(&self) -> Cause {
        self.stalls.since.1
    }

    /// Whether it is merged with what lay on the media. (What heals a unit names the copy that is no good.)
    fn is_merged_with_media(&self) -> bool {
        self.source != Source::Scrub && self.merged_with.is_some_and(|residence| residence != Residence::NONE)
    }

    /// How long it was stalled, and of that, behind a full write buffer.
    pub fn stalled(&self) -> (Ns, Ns) {
        (self.stalls.allocation + self.stalls.buffer, self.stalls.buffer)
    }

    /// Adds how long it was stalled.
    pub fn add_stalls(&self, parts: &mut Parts) {
        parts.add(Cause::AllocationStall, self.stalls.allocation);
        parts.add(Cause::BufferStall, self.stalls.buffer);
    }
}

/// Who waits, in order, for the planes of each partition.
#[derive(Debug)]
pub(super) struct WriteLines {
    lines: Vec<VecDeque<WriteEntry>>,
    /// By line: its first one was tried, and waits.
    tried: Vec<bool>,
    /// How many had to wait so far.
    came: u64,
    /// How many wait.
    stalled: usize,
    /// Those of them that are merged with what lay on the media. What each is merged with stands there, and nowhere else.
    merged: MergedUnits,
    /// The times in which one was stalled.
    spells: Spells,
    /// Space or buffer room appeared since they were last tried.
    retry: bool,
}

impl WriteLines {
    /// Nobody in so many lines, with room for so many in each.
    pub fn with_capacity(lines: u32, entries: usize) -> Self {
        let tried = vec![false; lines as usize];
        let lines = (0..lines).map(|_| VecDeque::with_capacity(entries)).collect();
        let merged = MergedUnits::with_capacity(entries);
        Self { lines, tried, came: 0, stalled: 0, merged, spells: Spells::default(), retry: false }
    }

    /// Something has appeared that they may have waited for.
    #[inline]
    pub fn may_go_on(&mut self) {
        self.retry = self.stalled > 0;
    }

    /// What an entry is merged with is found by its unit from now on, where it lay on the media.
    fn note_merged(&mut self, entry: &mut WriteEntry) {
        entry.stalls.merged = match entry.merged_with {
            Some(with) if entry.is_merged_with_media() => self.merged.insert(Lpa(entry.next), with),
            _ => NONE,
        };
    }

    /// The first of a line goes on, or is another: what it was merged with is not followed any more.
    fn forget_merged(&mut self, line: usize) {
        let Some(first) = self.lines[line].front_mut() else { return };
        let merged = std::mem::replace(&mut first.stalls.merged, NONE);
        if merged != NONE {
            self.merged.remove(merged);
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.stalled
    }

    /// When the parts of the command set out that is first of the host's. A migration that waits names no command.
    pub fn oldest_of_host(&self) -> Option<Ns> {
        let first = |line: &VecDeque<WriteEntry>| line.iter().find(|entry| entry.source == Source::Host).copied();
        self.lines.iter().filter_map(first).map(|entry| entry.set_out).min()
    }

    /// Measures from `now` on.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.spells.begin_measuring(now);
    }

    /// How long somebody waited since measuring began.
    pub fn stall_time(&self, now: Ns) -> Ns {
        self.spells.measured(now)
    }
}

impl Flash {
    /// Whether writes that wait are to be tried before time moves on.
    #[inline]
    pub fn line_may_go_on(&self) -> bool {
        self.line.retry
    }

    /// The same, and they are tried now.
    #[inline]
    pub fn take_up_line(&mut self) -> bool {
        std::mem::take(&mut self.line.retry)
    }

    /// How many lines there are.
    pub fn lines(&self) -> usize {
        self.line.lines.len()
    }

    /// The line of a unit.
    #[inline]
    pub(super) fn line_of(&self, unit: u32) -> usize {
        if self.line.lines.len() == 1 {
            return 0;
        }
        if let Some(zones) = self.ftl.zones() {
            return zones.layout().set_of(zones.layout().zone_and_offset(Lpa(unit)).0) as usize;
        }
        self.ftl.partitions().map_or(0, |partitions| partitions.of_unit(Lpa(unit)) as usize)
    }

    /// The partition whose pages a unit may take.
    pub fn partition_of(&self, unit: Lpa) -> u32 {
        self.ftl.partitions().map_or(0, |partitions| partitions.of_unit(unit))
    }

    /// The line of an entry.
    #[inline]
    fn line_of_entry(&self, entry: &WriteEntry) -> usize {
        let lines = self.line.lines.len();
        if lines == 1 {
            return 0;
        }
        match &self.parts {
            None => self.line_of(entry.next),
            Some(parts) => self.line_of(entry.next) * parts.count() + entry.part as usize,
        }
    }

    /// The first unit behind this one that may have to wait in another line.
    #[inline]
    pub fn line_ends_at(&self, unit: u32) -> u32 {
        if self.ftl.zones().is_some() {
            // No write goes beyond its zone.
            return u32::MAX;
        }
        self.ftl.partitions().map_or(u32::MAX, |partitions| partitions.end_of(Lpa(unit)))
    }

    /// How many lines a drive has.
    pub(super) fn lines_of(ftl: &Ftl) -> u32 {
        match ftl.zones() {
            Some(zones) => zones.layout().sets(),
            None => ftl.partitions().map_or(1, Partitions::count),
        }
    }

    /// Whether a write that a zone took waits for its place.
    pub fn has_writes_waiting(&self, zone: u32) -> bool {
        let Some(zones) = self.ftl.zones().filter(|_| self.line.stalled > 0) else { return false };
        let line = &self.line.lines[zones.layout().set_of(zone) as usize];
        line.iter().any(|entry| zones.layout().zone_and_offset(Lpa(entry.next)).0 == zone)
    }

    /// How many are before an entry. One whose turn had come keeps it: it is behind those that had their turn before, or have
    /// it in a page that is theirs alone.
    #[inline]
    pub fn before_in_line(&self, entry: &WriteEntry) -> usize {
        // Most often nobody waits, or all wait in one line.
        if self.line.stalled == 0 || !entry.had_turn && self.line.lines.len() == 1 {
            return self.line.stalled;
        }
        let line = &self.line.lines[self.line_of_entry(entry)];
        if !entry.had_turn {
            return line.len();
        }
        line.iter().take_while(|entry| entry.had_turn || entry.at_program && entry.begun).count()
    }

    /// An entry waits behind so many others. Returns why.
    pub fn join_line<Q>(&mut self, run: &mut Run<Q>, before_it: usize, mut entry: WriteEntry) -> Cause {
        let has_space = self.ftl.has_space_for(Lpa(entry.next), entry.clean, entry.told);
        // What is held back waits for space to be made, although there is some.
        let is_held = entry.source == Source::Host && self.is_held_back(entry.next, run.now);
        let cause = if has_space && !is_held { Cause::BufferStall } else { Cause::AllocationStall };
        let line = self.line_of_entry(&entry);
        entry.stalls.since = (run.now, cause);
        if self.line.stalled == 0 {
            self.line.spells.begin(run.now);
        }
        // What has waited before keeps its place among those of other lines.
        if entry.stalls.came == u64::MAX {
            entry.stalls.came = self.line.came;
            self.line.came += 1;
        }
        self.line.note_merged(&mut entry);
        self.line.stalled += 1;
        self.line.lines[line].insert(before_it, entry);
        if entry.source == Source::Host {
            let stalls = &mut run.counters;
            *(if cause == Cause::BufferStall { &mut stalls.buffer_stalls } else { &mut stalls.allocation_stalls }) += 1;
            stalls.part_stalls += u64::from(cause == Cause::BufferStall && !self.part_has_room(entry.part));
        }
        cause
    }

    /// While writes wait, every pool that cannot take them reconsiders: it may not have been asked since the
    /// last write that made a unit of it invalid.
    pub fn touch_gc_of_full_pools(&mut self) {
        for pool in self.ftl.pools_without_space() {
            self.collection.touch(pool);
        }
    }

    /// The first of a line, with how long it has waited until now.
    pub fn first_in_line(&self, line: usize, now: Ns) -> Option<WriteEntry> {
        let mut entry = self.line.lines[line].front().copied()?;
        let merged = std::mem::replace(&mut entry.stalls.merged, NONE);
        if merged != NONE {
            entry.merged_with = Some(self.line.merged.with(merged));
        }
        let (since, cause) = entry.stalls.since;
        let waited = now - since;
        match cause {
            Cause::AllocationStall => entry.stalls.allocation += waited,
            _ => entry.stalls.buffer += waited,
        }
        entry.stalls.since.0 = now;
        Some(entry)
    }

    /// None of the lines was tried yet.
    pub fn lines_are_tried(&mut self) {
        self.line.tried.fill(false);
    }

    /// The line whose first one came before those of all others, of those that are not tried: what all of them wait for is given
    /// away in the order of coming.
    pub fn next_line(&self) -> Option<usize> {
        if let [line] = &self.line.lines[..] {
            return (!line.is_empty() && !self.line.tried[0]).then_some(0);
        }
        let firsts = self.line.lines.iter().zip(&self.line.tried).enumerate();
        let untried = firsts.filter(|(_, (_, tried))| !**tried);
        let came = untried.filter_map(|(line, (entries, _))| Some((entries.front()?.stalls.came, line)));
        came.min().map(|(_, line)| line)
    }

    /// The first of a line goes on waiting, with what has become of it.
    pub fn keep_first_in_line(&mut self, line: usize, mut entry: WriteEntry) {
        self.line.tried[line] = true;
        self.line.forget_merged(line);
        self.line.note_merged(&mut entry);
        if let Some(front) = self.line.lines[line].front_mut() {
            *front = entry;
        }
    }

    /// The first of a line does not wait any more.
    pub fn first_leaves_line(&mut self, line: usize) {
        self.line.forget_merged(line);
        let left = self.line.lines[line].pop_front();
        self.line.stalled -= usize::from(left.is_some());
    }

    /// A unit was moved: whoever waits and is merged with it has the content of its new place as well, and need not read it
    /// again. (With reads of its own that make a block due for refresh it would otherwise wait for the move, for ever.)
    #[inline]
    pub(super) fn line_follows(&mut self, lpa: Lpa, from: Residence, to: Residence) {
        self.line.merged.follow(lpa, from, to);
    }

    /// Nobody waits any more, if nobody does.
    pub fn line_ends(&mut self, now: Ns) {
        if self.line.stalled == 0 {
            self.line.spells.end(now);
        }
    }
}
