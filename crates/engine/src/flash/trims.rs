//! TRIMs that are put off: which units are trimmed and still in the map.
//!
//! When they are forgotten is said by whoever knows what the host does; that collection is about to go on is told here.

use ninescope_kernel::{BitTable, Ns, WakeQueue};
use ninescope_model::{Lpa, Pool, Ppa};

use super::Flash;
use crate::policies::trim::{Deferral, TrimConfig, TrimmedReads};
use crate::run::Run;

/// What was trimmed and is not forgotten yet.
#[derive(Debug)]
pub(super) struct Trims {
    deferral: Deferral,
    /// By unit of the host.
    noted: BitTable,
    /// How many these are.
    count: u32,
    /// Those from here on are forgotten next, then those before.
    cursor: usize,
}

impl Trims {
    /// Nothing trimmed; nothing at all where TRIMs are not put off.
    pub fn new(config: &TrimConfig, logical_units: u32) -> Option<Box<Self>> {
        let deferral = config.chosen().deferral()?;
        Some(Box::new(Self { deferral, noted: BitTable::new(logical_units as usize), count: 0, cursor: 0 }))
    }

    fn is_noted(&self, lpa: Lpa) -> bool {
        self.noted.get(lpa.index())
    }
}

impl Flash {
    /// What TRIMs come to.
    pub fn trim_config(&self) -> &TrimConfig {
        &self.trim_config
    }

    /// How TRIMs are put off, where they are.
    #[inline]
    pub fn deferral(&self) -> Option<&Deferral> {
        self.trims.as_ref().map(|trims| &trims.deferral)
    }

    /// Units that are trimmed and not forgotten yet.
    #[inline]
    pub fn noted_trims(&self) -> u32 {
        self.trims.as_ref().map_or(0, |trims| trims.count)
    }

    /// Whether a unit is trimmed and not forgotten yet.
    pub fn is_trimmed_and_mapped(&self, lpa: Lpa) -> bool {
        self.trims.as_ref().is_some_and(|trims| trims.is_noted(lpa))
    }

    /// Notes that a unit is trimmed; returns whether it is put off to forget it. One that lies nowhere is forgotten already.
    pub fn note_trim(&mut self, lpa: Lpa) -> bool {
        let place = self.ftl.translate(lpa);
        let Some(trims) = self.trims.as_mut().filter(|_| place != Ppa::UNMAPPED) else { return false };
        if !trims.is_noted(lpa) {
            trims.noted.set(lpa.index());
            trims.count += 1;
        }
        if trims.deferral.before_collection {
            // It gains by that from now on.
            self.touch_gc_of(place);
        }
        true
    }

    /// A unit is about to be forgotten, or written: returns whether it was trimmed and still in the map.
    #[inline]
    pub fn takes_noted_trim(&mut self, lpa: Lpa) -> bool {
        let Some(trims) = &mut self.trims else { return false };
        let is_noted = trims.is_noted(lpa);
        if is_noted {
            trims.noted.clear(lpa.index());
            trims.count -= 1;
        }
        is_noted
    }

    /// The unit that is to be forgotten next, by their numbers, again and again.
    pub fn next_noted_trim(&mut self) -> Option<Lpa> {
        let trims = self.trims.as_mut().filter(|trims| trims.count > 0)?;
        let unit = trims.noted.next_set(trims.cursor).or_else(|| trims.noted.next_set(0))?;
        trims.cursor = unit + 1;
        Some(Lpa(unit as u32))
    }

    /// Whether a unit was trimmed and is in the map still.
    #[inline]
    pub fn is_noted_trim(&self, lpa: Lpa) -> bool {
        self.trims.as_ref().is_some_and(|trims| trims.is_noted(lpa))
    }

    /// Whether a read of a unit that is in the map returns zeros all the same.
    #[inline]
    pub fn reads_as_trimmed(&self, lpa: Lpa) -> bool {
        let of_zeros = |trims: &Trims| trims.deferral.reads == TrimmedReads::Zeros && trims.is_noted(lpa);
        self.trims.as_deref().is_some_and(of_zeros)
    }

    /// Whether what was trimmed is forgotten first, before a pool's collection goes on as it is about to.
    #[inline]
    pub fn forgets_before_collection<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool) -> bool {
        let forgets = |trims: &Trims| trims.deferral.before_collection && trims.count > 0;
        self.trims.as_deref().is_some_and(forgets) && self.collection_goes_on(run, pool)
    }

    fn collection_goes_on<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool) -> bool {
        self.is_put_off(run, pool);
        self.fills_open_moves(pool) || self.ftl.gc_goes_on(pool)
    }

    /// When the next unit is forgotten if the host has had nothing inside since `since`; `None` where there is none.
    pub fn next_trim_at(&self, since: Ns) -> Option<Ns> {
        let trims = self.trims.as_ref().filter(|trims| trims.count > 0)?;
        Some(since + trims.deferral.rest + trims.deferral.entry_time)
    }
}
