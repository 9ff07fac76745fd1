//! Who answers a read of a unit that waits for its program: the controller, which holds it, or the die, as the drive was told.

use std::collections::BTreeMap;

use ninescope_engine::{Forwarding, ReadFrom, View};
use ninescope_model::{Lpa, Ppa};

use crate::rule::{Checked, require};

/// What is known of units on their way to the media.
#[derive(Debug, Default)]
pub struct ForwardingBook {
    forwards: Forwarding,
    /// By unit: the sectors that were written of it since it was last on the media, where that decides.
    written: BTreeMap<Lpa, u32>,
}

impl ForwardingBook {
    /// Nothing is on its way.
    pub fn started(forwards: Forwarding) -> Self {
        Self { forwards, written: BTreeMap::new() }
    }

    /// Sectors of a unit that lay at `old` got a place.
    #[inline]
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, mask: u32, old: Ppa) {
        if self.forwards != Forwarding::Written {
            return;
        }
        let waits = old != Ppa::UNMAPPED && view.ftl.is_in_flight(old);
        let written = self.written.entry(lpa).or_default();
        *written = if waits { *written | mask } else { mask };
    }

    /// A read of sectors of a unit found out where that is.
    #[inline]
    pub fn read(&self, view: &View<'_>, lpa: Lpa, mask: u32, from: ReadFrom) -> Checked {
        let (place, is_answered) = match from {
            ReadFrom::Nowhere | ReadFrom::Area => return Ok(()),
            ReadFrom::Controller(place) => (place, true),
            ReadFrom::Media(place) => (place, false),
        };
        let waits = view.ftl.is_in_flight(place);
        let is_to_be = waits
            && match self.forwards {
                Forwarding::All => true,
                Forwarding::Written => mask & !self.written.get(&lpa).copied().unwrap_or_default() == 0,
                Forwarding::Nothing => false,
            };
        require!(
            is_answered == is_to_be,
            Forwarding,
            view.now,
            "unit {lpa}, sectors {mask:#x}, is read from {from:?}; it waits for its program: {waits}, and the drive forwards {:?}",
            self.forwards
        );
        Ok(())
    }
}
