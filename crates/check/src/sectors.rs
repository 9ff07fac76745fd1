//! What goes by sector, written out anew: bytes that cross a channel, and which rests are read.
//!
//! What the host used of a unit is kept as the requests say it, and what went into a page as its units come.

use std::collections::BTreeMap;

use ninescope_engine::{Access, ReadFrom, SectorRules, View};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Lpa, Ppa, SECTOR_BYTES, Source};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The sectors of a unit that were used.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    sectors: u32,
    /// Those of them that were used before the run, and not since.
    before: u32,
    /// It was forgotten: what is read for it may have been wanted before that.
    forgotten: bool,
}

impl Used {
    /// What was used of a unit of a prepared drive before the run is as the drive has it; of what it does not hold it was nothing.
    fn at_start(view: &View<'_>, rules: &SectorRules, unit: u32) -> Self {
        let is_held = view.ftl.translate(Lpa(unit)) != Ppa::UNMAPPED;
        let sectors = if is_held { rules.used_before(unit, view.ftl.geometry().sectors_per_unit()) } else { 0 };
        Self { sectors, before: sectors, forgotten: false }
    }

    fn writes(&mut self, mask: u32) {
        self.sectors |= mask;
        self.before &= !mask;
    }
}

/// What is known of sectors.
#[derive(Debug)]
pub struct SectorBook {
    rules: SectorRules,
    has_tier: bool,
    used: Vec<Used>,
    /// Sectors that went into a page, by its first unit, until it is programmed.
    pages: BTreeMap<u32, u32>,
    /// By slot: bytes that the media have of what its read asks for, and bytes that came.
    reads: BTreeMap<u32, (u64, u64)>,
}

impl SectorBook {
    /// None where whole units and pages go.
    pub fn started(view: &View<'_>, rules: &SectorRules) -> Option<Self> {
        (*rules != SectorRules::default()).then(|| Self {
            has_tier: view.tier.is_some(),
            used: (0..view.ftl.logical_units()).map(|unit| Used::at_start(view, rules, unit)).collect(),
            rules: rules.clone(),
            pages: BTreeMap::new(),
            reads: BTreeMap::new(),
        })
    }

    /// A read of sectors of a unit found out where that is.
    pub fn read(&mut self, slot: u32, lpa: Lpa, mask: u32, from: ReadFrom) {
        if !matches!(from, ReadFrom::Media(_)) {
            return;
        }
        self.reads.entry(slot).or_default().0 += u64::from(mask.count_ones()) * SECTOR_BYTES;
        let used = &mut self.used[lpa.index()];
        if used.sectors == 0 {
            used.sectors = mask;
        }
    }

    /// Sectors of a unit were written to a place.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, new: Ppa, mask: u32) {
        self.used[lpa.index()].writes(mask);
        self.page_gets(view, new, mask.count_ones());
    }

    /// The rest of a unit, of which `mask` is written, is not read, because nothing of it was used.
    pub fn rest_is_empty(&self, view: &View<'_>, lpa: Lpa, mask: u32, marks: &mut Marks) -> Checked {
        marks.hit(Mark::RestIsEmpty);
        let rest = self.used[lpa.index()].sectors & !mask;
        require!(
            self.rules.rests && rest == 0,
            SectorMoves,
            view.now,
            "sectors {mask:#x} of unit {lpa} are written, and {rest:#x} beside them, which were used, are not read"
        );
        Ok(())
    }

    /// So many sectors of a unit at a place are new to its page.
    pub fn page_gets(&mut self, view: &View<'_>, new: Ppa, sectors: u32) {
        *self.pages.entry(view.ftl.geometry().first_unit_of_page(new).0).or_default() += sectors;
    }

    /// A unit was forgotten.
    pub fn forgotten(&mut self, lpa: Lpa) {
        self.used[lpa.index()] = Used { forgotten: true, ..Used::default() };
    }

    /// The rest of a unit, of which `mask` is written, is in its die's register.
    pub fn rest_sensed(&self, view: &View<'_>, lpa: Lpa, mask: u32, marks: &mut Marks) -> Checked {
        let Used { sectors, before, forgotten } = self.used[lpa.index()];
        if sectors & !mask != 0 && sectors & !mask == before & !mask {
            marks.hit(Mark::RestUsedAtStart);
        }
        require!(
            !self.rules.rests || sectors & !mask != 0 || forgotten,
            SectorMoves,
            view.now,
            "the rest of unit {lpa} is read beside sectors {mask:#x}, and {sectors:#x} of it were used"
        );
        Ok(())
    }

    /// A command leaves its die's queue with what it moves.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        accesses: &[Access],
        marks: &mut Marks,
    ) -> Checked {
        let geometry = view.ftl.geometry();
        for (plane, access) in command.addressed_planes().zip(accesses) {
            let bytes = command.bytes[plane];
            match (command.kind, access.source) {
                (CommandKind::Read, Source::Host) => self.reads.entry(access.slot).or_default().1 += u64::from(bytes),
                (CommandKind::Program, _) => {
                    let new = self.pages.remove(&geometry.first_unit_of_page(access.ppa).0).unwrap_or(0);
                    let expected = if new > 0 { new * SECTOR_BYTES as u32 } else { geometry.page_bytes };
                    if self.rules.programs && expected < geometry.page_bytes {
                        marks.hit(Mark::PageMovedInPart);
                    }
                    require!(
                        !self.rules.programs || bytes == expected || command.copies,
                        SectorMoves,
                        view.now,
                        "a program of {new} new sectors moves {bytes} B, not {expected}"
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The command of a slot is done: what its reads moved is what it asked for of the media.
    pub fn completed(&mut self, view: &View<'_>, slot: u32, marks: &mut Marks) -> Checked {
        let Some((asked, moved)) = self.reads.remove(&slot) else { return Ok(()) };
        let unit = u64::from(view.ftl.geometry().unit_bytes);
        if self.rules.reads && asked % unit != 0 {
            marks.hit(Mark::UnitReadInPart);
        }
        require!(
            self.has_tier || !self.rules.reads || asked == moved,
            SectorMoves,
            view.now,
            "{moved} B were read of the media for slot {slot}, which asked for {asked} of them"
        );
        Ok(())
    }
}
