//! The map and places: where units are, and what the flow of requests has changed in them.

use ninescope_ftl::policies::Told;
use ninescope_ftl::{Placed, Residence};
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa};

use super::{Flash, WriteEntry};
use crate::config::Forwarding;
use crate::counters::EngineCounters;

/// Where a unit's content comes from when the host reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// From the media: a page read is queued.
    Media(Ppa),
    /// From the controller, which still holds what goes to this place.
    Controller(Ppa),
    /// From the random write area of its zone, which has no place for it yet.
    Area,
    /// From nowhere: it was never written, or was trimmed, and reads as zeros.
    Nowhere,
}

/// What completes a unit that the host wrote in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedWith {
    /// Nothing: the host wrote all of it.
    Nothing,
    /// What a read brought from the media, which the probe is told of when it is sensed.
    Read(Ppa),
    /// What the controller held for this place.
    Controller(Ppa),
    /// Zeros: nothing was mapped.
    Zeros,
}

impl Flash {
    /// The mapping unit that holds a sector.
    #[inline]
    pub fn unit_of(&self, lba: u64) -> Lpa {
        // `sectors_per_unit` is a power of two, and the address was checked against the drive.
        Lpa((lba >> self.geometry.sectors_per_unit().trailing_zeros()) as u32)
    }

    /// The group of a unit.
    #[inline]
    pub fn group_of(&self, ppa: Ppa) -> BlockGroup {
        self.geometry.group_and_offset(ppa).0
    }

    /// The pool of a unit.
    #[inline]
    pub fn pool_of(&self, ppa: Ppa) -> Pool {
        self.geometry.pool_and_block(self.group_of(ppa)).0
    }

    /// Where the content of a unit is, of which the sectors are asked for that `mask` says.
    #[inline]
    pub fn find_content(&self, counters: &mut EngineCounters, lpa: Lpa, mask: impl FnOnce() -> u32) -> ReadFrom {
        let ppa = self.ftl.translate(lpa);
        if ppa == Ppa::UNMAPPED || self.reads_as_trimmed(lpa) {
            if self.ftl.is_in_area(lpa) {
                counters.forwarded_units += 1;
                return ReadFrom::Area;
            }
            counters.unmapped_units += 1;
            return ReadFrom::Nowhere;
        }
        if self.ftl.is_in_flight(ppa) {
            if self.is_forwarded(lpa, mask) {
                counters.forwarded_units += 1;
                return ReadFrom::Controller(ppa);
            }
            counters.sensed_while_waiting += 1;
        }
        ReadFrom::Media(ppa)
    }

    /// Whether the controller gives the sectors of a unit that waits for its program.
    #[inline]
    fn is_forwarded(&self, lpa: Lpa, mask: impl FnOnce() -> u32) -> bool {
        match self.forwards {
            Forwarding::All => true,
            Forwarding::Written => self.has_written(lpa, mask()),
            Forwarding::Nothing => false,
        }
    }

    /// Whether a unit lies where a page access would go on from the units that it has.
    #[inline]
    pub fn continues_page(&self, first: Ppa, units: u8, ppa: Ppa) -> bool {
        ppa.0 == first.0 + u32::from(units)
            && self.geometry.first_unit_of_page(ppa) == self.geometry.first_unit_of_page(first)
    }

    /// A page read is about to be queued: its group, which is returned, is not erased before it ends.
    #[inline]
    pub fn read_queued(&mut self, ppa: Ppa) -> BlockGroup {
        let group = self.group_of(ppa);
        self.ftl.read_queued(group);
        group
    }

    // ---- changes -----------------------------------------------------------------------------------

    /// Gives a unit of the host its place; `None` where no pool takes it now.
    #[inline]
    pub fn write_as(&mut self, now: Ns, lpa: Lpa, clean: bool, told: Told) -> Option<Placed> {
        self.tell_loads(now, lpa);
        self.ftl.write_as(lpa, clean, told)
    }

    /// The same for a page that goes down from a tier.
    pub fn take_down(&mut self, now: Ns, lpa: Lpa) -> Option<Placed> {
        if !self.part_has_room(0) {
            return None;
        }
        self.tell_loads(now, lpa);
        self.ftl.take_down(lpa)
    }

    /// The same for a page of the map.
    pub fn write_map_page(&mut self, page: u32) -> Option<Placed> {
        if !self.part_has_room(0) {
            return None;
        }
        let placed = self.ftl.write_translation(page)?;
        if placed.old != Ppa::UNMAPPED {
            self.touch_gc_of(placed.old);
        }
        Some(placed)
    }

    /// The same for what was fetched from the backing store.
    pub fn heal(&mut self, now: Ns, lpa: Lpa) -> Option<Placed> {
        self.tell_loads(now, lpa);
        let placed = self.ftl.heal(lpa)?;
        self.touch_gc_of(placed.old);
        Some(placed)
    }

    /// Forgets a unit; returns where it was.
    pub fn trim(&mut self, lpa: Lpa) -> Ppa {
        let old = self.ftl.trim(lpa);
        if old != Ppa::UNMAPPED {
            self.touch_gc_of(old);
        }
        old
    }

    /// Has garbage collection empty a group; returns whether it will.
    pub fn refresh(&mut self, group: BlockGroup) -> bool {
        let will = self.ftl.refresh(group);
        if will {
            self.collection.touch(self.geometry.pool_and_block(group).0);
        }
        will
    }

    // ---- units written in part ---------------------------------------------------------------------

    /// Whether a unit lies elsewhere than when its content was read for merging: another write changed it, or
    /// garbage collection moved it, which places alone do not tell apart. A newer content that the controller
    /// holds (or none) is merged at once; one that is on the media must be read.
    #[inline]
    pub fn must_read_again(&self, entry: &WriteEntry) -> bool {
        let Some(merged_with) = entry.merged_with else { return false };
        let current = self.ftl.translate(Lpa(entry.next));
        self.ftl.residence(current) != merged_with && current != Ppa::UNMAPPED && !self.ftl.is_in_flight(current)
    }

    /// Whether a unit written in part is merged with what was read for it, not with something newer, or with nothing.
    pub fn is_merged_with_what_was_read(&self, entry: &WriteEntry) -> bool {
        entry.merged_with.is_some_and(|read| self.ftl.resides(Lpa(entry.next), read))
    }

    /// What a unit written in part is merged with when it is placed now.
    pub fn content_merged_with(&self, entry: &WriteEntry) -> MergedWith {
        if entry.merged_with.is_none() {
            return MergedWith::Nothing;
        }
        let current = self.ftl.translate(Lpa(entry.next));
        if current == Ppa::UNMAPPED {
            MergedWith::Zeros
        } else if self.ftl.is_in_flight(current) {
            MergedWith::Controller(current)
        } else {
            MergedWith::Read(current)
        }
    }

    /// Where a unit's content is, to complete it: on the media, or with what the controller has or nothing at all.
    pub fn rest_of(&self, lpa: Lpa) -> (ReadFrom, Residence) {
        let ppa = self.ftl.translate(lpa);
        let from = match ppa {
            Ppa::UNMAPPED => ReadFrom::Nowhere,
            _ if self.forwards != Forwarding::Nothing && self.ftl.is_in_flight(ppa) => ReadFrom::Controller(ppa),
            _ => ReadFrom::Media(ppa),
        };
        (from, self.ftl.residence(ppa))
    }
}
