//! Zones on their way to the media: padding of what is finished, and blocks of what is reset.

use ninescope_ftl::{Padded, Placed, ZoneError, Zones};
use ninescope_kernel::WakeQueue;
use ninescope_model::{BlockGroup, Lpa};

use super::Flash;
use crate::run::Run;

/// What was in the controller of a block group whose zone is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The group.
    pub group: BlockGroup,
    /// Units that never come to the media.
    pub units: u32,
    /// Pages of them that were full, and counted as buffered.
    pub pages: u32,
    /// Whether the group is to be erased; else it is as it was.
    pub erase: bool,
}

impl Flash {
    /// The zones of a drive that has some.
    #[inline]
    pub fn zones(&self) -> Option<&Zones> {
        self.ftl.zones()
    }

    /// The same, to be given commands.
    #[inline]
    pub fn zones_mut(&mut self) -> Option<&mut Zones> {
        self.ftl.zones_mut()
    }

    /// A zone takes a write, or says why not.
    pub fn zone_takes(&mut self, lpa: Lpa, units: u32, append: bool) -> Result<Lpa, ZoneError> {
        self.ftl.zones_mut().map_or(Err(ZoneError::InvalidField), |zones| zones.write(lpa, units, append))
    }

    /// Gives a unit of a zone its place; `None` where its die does not take it now, or its block is still to be erased.
    pub fn write_in_zone(&mut self, lpa: Lpa) -> Option<Placed> {
        self.ftl.write_in_zone(lpa)
    }

    /// Gives a unit that was committed its place, and says whether it was written; the rest as of [`Ftl::commit_in_zone`].
    ///
    /// [`Ftl::commit_in_zone`]: ninescope_ftl::Ftl::commit_in_zone
    pub fn commit_in_zone(&mut self, lpa: Lpa, needs_room: bool) -> Option<(Placed, bool)> {
        self.ftl.commit_in_zone(lpa, needs_room)
    }

    /// Pads the next page of a zone that is finished. `None` where nothing is left to pad, or its die does not take it now.
    pub fn pad_zone<Q: WakeQueue>(&mut self, run: &mut Run<Q>, zone: u32) -> Option<Padded> {
        let (first, padded) = self.ftl.pad_zone(zone)?;
        run.counters.padded_pages += 1;
        self.page_filled(run, first.pool, first.stream, (padded.last, padded.last), padded.stripe_complete);
        Some(padded)
    }

    /// A group of a zone that was reset holds nothing that counts any more. `None` where it held nothing.
    pub fn reset_group<Q: WakeQueue>(&mut self, run: &mut Run<Q>, group: BlockGroup) -> Option<Dropped> {
        if self.ftl.group(group).write_pointer == 0 {
            return None;
        }
        let (pool, stream) = self.ftl.zones()?.layout().frontier(group);
        let reset = self.ftl.reset_group(group);
        let pages = reset.dropped / self.geometry.units_per_page();
        if reset.dropped > 0 {
            self.forget_stripe(run, pool, stream, pages);
        }
        Some(Dropped { group, units: reset.dropped, pages, erase: reset.erase })
    }
}
