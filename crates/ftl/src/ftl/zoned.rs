//! Zones on the media: each unit goes to the place that its address names, and a zone is erased as a whole.
//!
//! Which commands a zone takes is known to `zones` alone.

use ninescope_model::{BlockGroup, Lpa, Pool, Ppa, Stream};

use super::{Ftl, Padded, Placed};
use crate::block::GroupState;
use crate::zones::Zones;

/// What a reset comes to in a block group of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetGroup {
    /// Units that were in the controller: their stripe was not full.
    pub dropped: u32,
    /// It is to be erased.
    pub erase: bool,
}

impl Ftl {
    /// The zones, where the host's addresses are zones.
    #[inline]
    pub fn zones(&self) -> Option<&Zones> {
        self.zones.as_deref()
    }

    /// The same, to be given commands.
    pub fn zones_mut(&mut self) -> Option<&mut Zones> {
        self.zones.as_deref_mut()
    }

    /// How many kinds of data each pool may have a frontier of: where there are zones, each block may be one.
    pub fn frontier_kinds(&self) -> u32 {
        if self.zones.is_some() { self.geometry.blocks_per_plane } else { self.kinds }
    }

    /// Places a unit of a zone. `None`: its die does not take it now, or its block is still to be erased.
    pub fn write_in_zone(&mut self, lpa: Lpa) -> Option<Placed> {
        let layout = self.zones.as_ref()?.layout();
        let (zone, offset) = layout.zone_and_offset(lpa);
        if offset >= layout.capacity() {
            return None;
        }
        let placed = self.fill_zone(zone, layout.place(zone, offset), lpa, true)?;
        self.zone_holds(lpa, placed.new);
        Some(placed)
    }

    /// A unit of a zone lies there.
    fn zone_holds(&mut self, lpa: Lpa, place: Ppa) {
        let before = self.remap(lpa, place);
        debug_assert!(before == Ppa::UNMAPPED, "a unit of a zone is placed once between two resets");
        self.mapped_units += 1;
        self.validate(place);
        self.counters.host_units += 1;
    }

    /// Places a unit that was committed, the next one of its zone, and says whether it was written: where nobody had, its place is
    /// padding. `None` as of [`Ftl::write_in_zone`]; without `needs_room` its die may hold more than it has room for.
    pub fn commit_in_zone(&mut self, lpa: Lpa, needs_room: bool) -> Option<(Placed, bool)> {
        let zones = self.zones.as_ref()?;
        let (zone, offset) = zones.layout().zone_and_offset(lpa);
        let (place, is_written) = (zones.layout().place(zone, offset), zones.holds(lpa));
        let placed = self.fill_zone(zone, place, if is_written { lpa } else { Lpa::NONE }, needs_room)?;
        if is_written {
            self.zone_holds(lpa, placed.new);
        } else {
            self.counters.padding_units += 1;
        }
        Some((placed, is_written))
    }

    /// The next place of a zone holds a unit, or padding, from now on. `None`: its block is still to be erased, or its die, which
    /// `needs_room`, has none.
    fn fill_zone(&mut self, zone: u32, place: Ppa, lpa: Lpa, needs_room: bool) -> Option<Placed> {
        let (group, offset) = self.geometry.group_and_offset(place);
        let (pool, stream) = self.zones.as_ref()?.layout().frontier(group);
        let record = self.groups[group.index()];
        let has_room = self.has_room.get(self.position_of[pool.index()] as usize);
        if record.state == GroupState::Erasing || needs_room && !has_room {
            return None;
        }
        debug_assert!(offset == record.write_pointer, "a zone is filled in order");
        let opened = offset == 0;
        if opened {
            let free = &mut self.pools[pool.index()].free;
            let position = free.iter().position(|&free| free == group.0)?;
            free.remove(position);
            self.groups[group.index()].state = GroupState::Open;
        }
        let next = offset + 1;
        self.put_content(place, lpa);
        self.groups[group.index()].write_pointer = next;
        let closed = next == self.geometry.units_per_group();
        if closed {
            self.close_group(pool, group);
        }
        if let Some(zones) = &mut self.zones {
            zones.placed(zone, 1);
        }
        let page_complete = next.is_multiple_of(self.geometry.units_per_page());
        let stripe_complete = page_complete && self.geometry.within_group(next).1 == 0;
        Some(Placed { new: place, old: Ppa::UNMAPPED, pool, stream, page_complete, stripe_complete, opened, closed })
    }

    /// Fills the next page of a zone that is finished with padding. `None` where nothing is left to pad, or its die does not take
    /// another stripe now: one that is begun is filled whatever room there is, or its pages could wait for each other.
    pub fn pad_zone(&mut self, zone: u32) -> Option<(Placed, Padded)> {
        let mut placed = None;
        loop {
            let zones = self.zones.as_ref()?;
            let (layout, next) = (zones.layout(), zones.zone(zone).placed);
            if next == layout.capacity() {
                return None;
            }
            let place = layout.place(zone, next);
            let padding = self.fill_zone(zone, place, Lpa::NONE, layout.is_at_stripe(next))?;
            self.counters.padding_units += 1;
            let first: Placed = *placed.get_or_insert(padding);
            if padding.page_complete {
                let Placed { new: last, stripe_complete, closed, .. } = padding;
                return Some((first, Padded { last, written: last, stripe_complete, closed }));
            }
        }
    }

    /// Whether the newest content of a unit is in the random write area of its zone.
    #[inline]
    pub fn is_in_area(&self, lpa: Lpa) -> bool {
        self.zones.as_ref().is_some_and(|zones| zones.holds(lpa))
    }

    /// Whether nothing can be written into the zone of a unit, because its blocks are still to be erased.
    #[cold]
    pub(super) fn is_being_reset(&self, lpa: Lpa) -> bool {
        let Some(zones) = &self.zones else { return false };
        let (zone, offset) = zones.layout().zone_and_offset(lpa);
        let place = zones.layout().place(zone, offset.min(zones.layout().capacity() - 1));
        self.groups[self.geometry.group_and_offset(place).0.index()].state == GroupState::Erasing
    }

    /// A group of a zone that was reset holds nothing valid: units that are not with its die are forgotten, and it is to be erased
    /// where others are.
    pub fn reset_group(&mut self, group: BlockGroup) -> ResetGroup {
        let pool = &mut self.pools[self.geometry.pool_and_block(group).0.index()];
        let record = &mut self.groups[group.index()];
        let dropped = record.write_pointer % self.geometry.units_per_stripe();
        record.write_pointer -= dropped;
        let erase = record.write_pointer > 0;
        if erase {
            record.state = GroupState::Erasing;
            pool.erasing += 1;
        } else if dropped > 0 {
            record.state = GroupState::Free;
            pool.free.push_back(group.0);
        }
        self.refresh_candidate(group);
        if let Some(zones) = &mut self.zones {
            zones.dropped(dropped);
        }
        ResetGroup { dropped, erase }
    }

    /// Whether a group is to be erased, and all that was on its way to it has come: reads alone may hold it up.
    pub fn may_be_erased(&self, group: BlockGroup) -> bool {
        let record = &self.groups[group.index()];
        record.state == GroupState::Erasing && record.programmed == record.write_pointer
    }

    /// Whether a zone that was reset still has something to be erased.
    pub fn zone_is_being_erased(&self, zone: u32) -> bool {
        let state = |group: BlockGroup| self.groups[group.index()].state;
        self.zones().is_some_and(|zones| zones.layout().groups(zone).any(|group| state(group) == GroupState::Erasing))
    }

    /// Whether all that was put into a zone is on the media.
    pub fn zone_is_programmed(&self, zone: u32) -> bool {
        let record = |group: BlockGroup| &self.groups[group.index()];
        let programmed = |group| record(group).programmed == record(group).write_pointer;
        self.zones().is_none_or(|zones| zones.layout().groups(zone).all(programmed))
    }

    /// The last unit of a block that is partly filled: each is filled by itself.
    #[cold]
    pub(super) fn last_in_block(&self, pool: Pool, stream: Stream) -> Option<Ppa> {
        let group = BlockGroup(pool.0 * self.geometry.blocks_per_plane + stream.kind());
        let record = self.groups[group.index()];
        let open = record.state == GroupState::Open && record.write_pointer > 0;
        open.then(|| Ppa(self.geometry.first_unit(group).0 + record.write_pointer - 1))
    }

    /// Zones hold what their groups do: the drive was prepared, or loaded.
    pub(crate) fn prepare_zones(&mut self) {
        let Some(zones) = &mut self.zones else { return };
        for zone in 0..zones.layout().zones() {
            let placed = zones.layout().groups(zone).map(|group| self.groups[group.index()].write_pointer).sum();
            zones.is_prepared(zone, placed);
        }
    }
}
