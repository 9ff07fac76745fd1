//! Sectors in the place of whole units and pages: what a read brings and a program takes over the channel, and of which units
//! written in part the rest has to be read.
//!
//! Knows nothing of commands: it is told which sectors of a unit are used, and how many went into a page.

use ninescope_ftl::Ftl;
use ninescope_model::{Geometry, Lpa, Ppa, SECTOR_BYTES, Source};

use super::Flash;
use crate::config::{Forwarding, SectorRules};
use crate::transaction::Transaction;

/// All sectors of a unit that has so many, a bit each.
#[inline]
pub fn all_sectors(per_unit: u32) -> u32 {
    ((1_u64 << per_unit) - 1) as u32
}

/// What is kept by sector.
#[derive(Debug)]
pub(super) struct Sectors {
    rules: SectorRules,
    /// By unit: the sectors that the host has used since the drive was prepared, or before. Empty where the rest of any unit is read.
    used: Box<[u32]>,
    /// By unit: the sectors that were written of it since its last program ended, while it waits for the next; empty where nobody asks.
    waiting: Box<[u32]>,
    /// By pool and stream, as stripes are: sectors written into the open page, and by plane into filled ones.
    open: Box<[u16]>,
    filled: Box<[[u16; 4]]>,
}

impl Sectors {
    /// Nothing where units and pages are moved and merged whole.
    pub fn new(rules: &SectorRules, ftl: &Ftl, stripes: usize, forwards: Forwarding) -> Option<Box<Self>> {
        (*rules != SectorRules::default()).then(|| {
            let per_unit = ftl.geometry().sectors_per_unit();
            let used_before = |unit| match ftl.translate(Lpa(unit)) {
                Ppa::UNMAPPED => 0,
                _ => rules.used_before(unit, per_unit),
            };
            let units = if rules.rests { ftl.logical_units() } else { 0 };
            let waiting = if forwards == Forwarding::Written { units } else { 0 };
            Box::new(Self {
                rules: rules.clone(),
                used: (0..units).map(used_before).collect(),
                waiting: vec![0; waiting as usize].into(),
                open: vec![0; stripes].into(),
                filled: vec![[0; 4]; stripes].into(),
            })
        })
    }

    /// What an access moves over the channel, a read or a program [B].
    pub fn moved(&self, access: &Transaction, geometry: &Geometry, is_read: bool) -> u32 {
        let by_sector = match (is_read, access.source) {
            // What is brought up is brought up whole.
            (true, Source::Host) => self.rules.reads && access.asked_of_first != 0,
            (true, Source::ReadModifyWrite) => self.rules.reads,
            (true, _) => false,
            (false, _) => self.rules.programs && access.sectors > 0,
        };
        match (by_sector, is_read) {
            (true, _) => u32::from(access.sectors) * SECTOR_BYTES as u32,
            (false, true) => access.read_bytes(geometry.unit_bytes),
            (false, false) => geometry.page_bytes * access.pages(geometry.units_per_page()),
        }
    }

    /// So many sectors went into the open page of a stripe.
    pub fn page_gets(&mut self, stripe: usize, sectors: u16) {
        self.open[stripe] += sectors;
    }

    /// The open page of a stripe is full, in this plane.
    pub fn page_filled(&mut self, stripe: usize, plane: u32) {
        self.filled[stripe][plane as usize] = std::mem::take(&mut self.open[stripe]);
    }

    /// The sectors of a filled page that goes to its die.
    pub fn take_page(&mut self, stripe: usize, plane: u32) -> u16 {
        std::mem::take(&mut self.filled[stripe][plane as usize])
    }
}

impl Flash {
    /// Whether anything is kept by sector.
    #[inline]
    pub fn counts_sectors(&self) -> bool {
        self.sectors.is_some()
    }

    /// What goes by sector.
    pub fn sector_rules(&self) -> SectorRules {
        self.sectors.as_ref().map_or_else(SectorRules::default, |sectors| sectors.rules.clone())
    }

    /// The sectors of a unit that were used, where that is kept.
    fn used_of(&mut self, lpa: Lpa) -> Option<&mut u32> {
        self.sectors.as_mut()?.used.get_mut(lpa.index())
    }

    /// The host wrote sectors of a unit that lay at `old`: they are there from now on.
    pub fn sectors_written(&mut self, lpa: Lpa, mask: u32, old: Ppa) {
        if let Some(used) = self.used_of(lpa) {
            *used |= mask;
        }
        let waits = old != Ppa::UNMAPPED && self.ftl.is_in_flight(old);
        if let Some(waiting) = self.sectors.as_mut().and_then(|sectors| sectors.waiting.get_mut(lpa.index())) {
            *waiting = if waits { *waiting | mask } else { mask };
        }
    }

    /// Whether all of these sectors were written of a unit that waits for its program.
    pub fn has_written(&self, lpa: Lpa, mask: u32) -> bool {
        let waiting = self.sectors.as_ref().and_then(|sectors| sectors.waiting.get(lpa.index()));
        waiting.is_none_or(|waiting| mask & !waiting == 0)
    }

    /// The host reads sectors of a unit. Those of one of which nothing was used yet are there from now on, as a drive has it
    /// that gives a unit its place when it is read first.
    pub fn sectors_read(&mut self, lpa: Lpa, mask: u32) {
        if let Some(used) = self.used_of(lpa).filter(|used| **used == 0) {
            *used = mask;
        }
    }

    /// A unit is forgotten.
    pub fn sectors_forgotten(&mut self, lpa: Lpa) {
        if let Some(used) = self.used_of(lpa) {
            *used = 0;
        }
    }

    /// How many sectors have to be read of a unit of which `mask` is written.
    pub fn sectors_of_rest(&self, lpa: Lpa, mask: u32) -> u32 {
        let all = all_sectors(self.geometry.sectors_per_unit());
        let used = self.sectors.as_ref().and_then(|sectors| sectors.used.get(lpa.index()));
        (used.copied().unwrap_or(all) & !mask & all).count_ones()
    }
}
