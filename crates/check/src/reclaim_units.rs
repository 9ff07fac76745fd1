//! Flexible data placement: by which handle each unit was written, what lies in each reclaim unit, and what became of those.
//!
//! A reclaim unit is known here by what was put into it since it was erased, and a unit by the handle that the host's command
//! named. Streams are not: that two handles are apart is seen by where their units lie.

use ninescope_engine::View;
use ninescope_ftl::policies::stream_choice::fdp::Isolation;
use ninescope_ftl::{HandleCounts, PlacementCounts, UnitCounts};
use ninescope_model::{BlockGroup, Lpa, Ppa, Request};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What was put into a reclaim unit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holding {
    handle: u8,
    /// It is moved there.
    moves: bool,
}

/// What is known of handles and reclaim units.
#[derive(Debug)]
pub struct PlacementBook {
    isolation: Vec<Isolation>,
    /// By unit: the handle by which it was written last.
    handle_of: Vec<u8>,
    /// By group; none where it is erased.
    holds: Vec<Option<Holding>>,
    counts: PlacementCounts,
    /// Groups of which a program failed.
    failed: u64,
}

impl PlacementBook {
    /// Takes over what a drive was told and what lies there; none where it has no handles.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let isolation = view.ftl.rules().stream_choice.chosen().placement()?.handles.clone();
        let (ftl, geometry) = (view.ftl, view.ftl.geometry());
        let handle_of = (0..ftl.logical_units()).map(|unit| ftl.handle_of(Lpa(unit)) as u8).collect();
        let holds = (0..geometry.groups()).map(BlockGroup).map(|group| {
            let record = ftl.group(group);
            let (kind, moves) = (record.stream / 2, record.stream % 2 == 1);
            // What made way so that wear is level lies together, whatever its handles, as what is moved of all of them does.
            let handle = if usize::from(kind) < isolation.len() { kind } else { 0 };
            (record.write_pointer > 0).then_some(Holding { handle, moves })
        });
        let counts = PlacementCounts::default();
        let mut book = Self { holds: holds.collect(), handle_of, counts, isolation, failed: 0 };
        book.measuring_began();
        Some(book)
    }

    /// Counts begin anew.
    pub fn measuring_began(&mut self) {
        let handles = vec![HandleCounts::default(); self.isolation.len()];
        self.counts = PlacementCounts { handles, ..PlacementCounts::default() };
    }

    fn is_shared(&self, handle: u8) -> bool {
        self.isolation[usize::from(handle)] == Isolation::InitiallyIsolated
    }

    /// Of reclaim units that hold this.
    fn units_of(&mut self, holding: Holding) -> &mut UnitCounts {
        if holding.moves && self.is_shared(holding.handle) {
            &mut self.counts.shared
        } else {
            &mut self.counts.handles[usize::from(holding.handle)].units
        }
    }

    /// A unit was put there.
    fn put(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa, holding: Holding, marks: &mut Marks) -> Checked {
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(place);
        let first = self.holds[group.index()];
        let fits = first.is_none_or(|first| {
            first.moves == holding.moves
                && (first.handle == holding.handle
                    || holding.moves && self.is_shared(first.handle) && self.is_shared(holding.handle))
        });
        require!(
            fits && first.is_some() == (offset > 0),
            ReclaimUnits,
            view.now,
            "unit {lpa} goes to {place} in group {group}: {holding:?}, and the group holds {first:?}; handles are {:?}",
            self.isolation
        );
        if first.is_some_and(|first| first.handle != holding.handle) {
            marks.hit(Mark::HandlesShareMoves);
        }
        self.fills(view, (group, offset), holding);
        Ok(())
    }

    /// A place of a group is taken.
    fn fills(&mut self, view: &View<'_>, (group, offset): (BlockGroup, u32), holding: Holding) {
        let holds = *self.holds[group.index()].get_or_insert(holding);
        let units = self.units_of(holds);
        units.begun += u64::from(offset == 0);
        units.filled += u64::from(offset + 1 == view.ftl.geometry().units_per_group());
    }

    /// A unit was written, by a command of the host or by none.
    pub fn written(
        &mut self,
        view: &View<'_>,
        lpa: Lpa,
        (old, new): (Ppa, Ppa),
        request: Option<&Request>,
        marks: &mut Marks,
    ) -> Checked {
        let own = || if old == Ppa::UNMAPPED { 0 } else { self.handle_of[lpa.index()] };
        let named = request.map_or_else(own, |request| request.stream);
        let is_there = usize::from(named) < self.isolation.len();
        let handle = if is_there { named } else { 0 };
        if !is_there {
            self.counts.invalid_identifiers += 1;
            marks.hit(Mark::HandleThatIsNot);
        }
        self.handle_of[lpa.index()] = handle;
        let counts = &mut self.counts.handles[usize::from(handle)];
        counts.host_units += u64::from(request.is_some());
        counts.own_units += u64::from(request.is_none());
        self.put(view, lpa, new, Holding { handle, moves: false }, marks)
    }

    /// A unit that is moved got its place.
    pub fn moved(&mut self, view: &View<'_>, lpa: Lpa, to: Ppa, marks: &mut Marks) -> Checked {
        let handle = self.handle_of[lpa.index()];
        self.counts.handles[usize::from(handle)].moved_units += 1;
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(to);
        let left = view.ftl.free_groups(geometry.pool_and_block(group).0);
        if offset == 0 && !self.is_shared(handle) && left < view.ftl.reserve_groups() {
            marks.hit(Mark::IsolatedWithoutSpace);
        }
        self.put(view, lpa, to, Holding { handle, moves: true }, marks)
    }

    /// A page was filled up with so many units of padding, the last one there.
    pub fn padded(&mut self, view: &View<'_>, last: Ppa, padding: u32) {
        let (group, offset) = view.ftl.geometry().group_and_offset(last);
        if let Some(holds) = self.holds[group.index()] {
            self.units_of(holds).padding_units += u64::from(padding);
            self.fills(view, (group, offset), holds);
        }
    }

    /// A group is to be emptied for its space. Nothing of it has moved.
    pub fn victim(&mut self, view: &View<'_>, group: BlockGroup) {
        self.counts.media_reallocated += u64::from(view.ftl.valid_units(group) > 0);
    }

    /// A group was erased.
    pub fn erased(&mut self, group: BlockGroup) {
        if let Some(holds) = self.holds[group.index()].take() {
            self.units_of(holds).erased += 1;
        }
    }

    /// A page whose program failed, or that waited behind one, goes elsewhere.
    pub fn page_rewritten(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa), programmed: bool) {
        let geometry = view.ftl.geometry();
        let Some(holding) = self.holds[geometry.group_and_offset(from).0.index()] else { return };
        let (group, first) = geometry.group_and_offset(to);
        let units = geometry.units_per_page();
        for offset in first..first + units {
            self.fills(view, (group, offset), holding);
        }
        if programmed {
            self.units_of(holding).rewritten_units += u64::from(units);
        }
    }

    /// All that was to be programmed in a group that failed has another place: it is emptied some time.
    pub fn group_failed(&mut self) {
        self.failed += 1;
    }

    /// A group is used no more: of one of its blocks the erase that ended was the last, or the program of a page failed before.
    pub fn retired(&mut self, group: BlockGroup, erased: bool) {
        if let Some(holds) = self.holds[group.index()].take() {
            let units = self.units_of(holds);
            units.erased += u64::from(erased);
            units.retired += 1;
        }
    }

    /// What the drive counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let Some(units) = view.ftl.reclaim_units() else { return Ok(()) };
        let (seen, told) = (&self.counts, units.counts());
        // Of a group that is refreshed, makes way or failed nothing is told when that begins.
        let counters = view.ftl.counters();
        let refreshed = counters.refreshed_groups + counters.leveled_groups + self.failed;
        let reallocated = seen.media_reallocated..=seen.media_reallocated + refreshed;
        let same = (&seen.handles, &seen.shared, seen.invalid_identifiers)
            == (&told.handles, &told.shared, told.invalid_identifiers);
        require!(
            same && reallocated.contains(&told.media_reallocated),
            ReclaimUnits,
            view.now,
            "the drive counted {told:?}, and {seen:?} were seen, {refreshed} groups refreshed, levelled or failed"
        );
        Ok(())
    }

    /// The run is over.
    pub fn finished(&self, view: &View<'_>, marks: &mut Marks) -> Checked {
        if view.ftl.reclaim_units().is_some_and(|units| units.counts().victims_passed > 0) {
            marks.hit(Mark::VictimPassedOver);
        }
        self.compare(view)
    }
}
