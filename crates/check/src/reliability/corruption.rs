//! Corrupt units: from when their bits were flipped until their group is erased, no read takes them for good.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_engine::reliability::corruption::Corruption as Injection;
use ninescope_engine::reliability::{NandCode, ReliabilityCounters};
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Lpa, Ppa, SECTOR_BYTES, Source};

use super::decoders::Decoding;
use super::{code_of, reliability};
use crate::rule::{Checked, require};

/// A place in one of its lives.
pub type Copy = (u32, u32);

/// Who met a corrupt unit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    ByNobody,
    Corrected,
    ByHost,
    ByMove,
    ByScrub,
}

/// The checker's own book of corrupt units.
#[derive(Debug, Default)]
pub struct Corruption {
    /// It is known which units page accesses bring.
    knows_units: bool,
    /// With when that was: a page is drawn when it is sensed, and decoded later [ns].
    copies: BTreeMap<Copy, (Met, Ns)>,
    /// Those of `copies` whose group was erased since.
    erased: u64,
    under_edc: u64,
    /// When each unit goes wrong that goes wrong at a time of its own [ns].
    drawn: BTreeMap<u32, Ns>,
}

fn copy(view: &View<'_>, place: Ppa) -> Copy {
    (place.0, view.ftl.group(view.ftl.geometry().group_and_offset(place).0).erase_count)
}

/// What is known of a unit that was decoded.
#[derive(Clone, Debug)]
pub struct Told {
    pub lpa: Lpa,
    pub place: Ppa,
    /// Its sectors that were asked for, one bit each.
    pub sectors: u32,
    pub corrupt: Option<Copy>,
    /// Corrupt ones among the other units of its codeword.
    pub mates: Vec<Copy>,
    /// It was decoded now, not at an earlier attempt.
    pub decoded: bool,
    pub failed: bool,
    pub undetected: bool,
}

/// Units that one codeword of a code of flash holds data of, one where there are several codewords to a unit.
fn units_per_codeword(view: &View<'_>, code: NandCode) -> u32 {
    let user_bytes = reliability(view).nand_code(code).map_or(0, |code| code.scheme().user_bytes());
    (user_bytes / view.ftl.geometry().unit_bytes).max(1)
}

/// The sectors of a unit that the first of its codewords holds, one bit each; all where codewords are longer.
pub fn first_codeword(view: &View<'_>, place: Ppa) -> u32 {
    let code = reliability(view).nand_code(code_of(view, place));
    let user_bytes = code.map_or(u32::MAX, |code| code.scheme().user_bytes());
    if user_bytes >= view.ftl.geometry().unit_bytes {
        return u32::MAX;
    }
    u32::MAX >> (32 - user_bytes.div_ceil(SECTOR_BYTES as u32))
}

impl Corruption {
    pub fn new(knows_units: bool) -> Self {
        Self { knows_units, ..Self::default() }
    }

    /// It was drawn which units go wrong at times of their own: each once, within the time of the injection.
    pub fn drawn(&mut self, view: &View<'_>) -> Checked {
        let Some(part) = reliability(view).corruption() else { return Ok(()) };
        let (from, until) = part.timed();
        for &(at, place) in part.coming() {
            let twice = self.drawn.insert(place.0, at);
            require!(
                from <= at && at < until && twice.is_none(),
                CorruptPassed,
                view.now,
                "unit {place} is to go wrong at {at}, within {from} to {until}, and at {twice:?}"
            );
        }
        Ok(())
    }

    /// No unit is to go wrong that should have before now.
    #[inline]
    pub fn time_passes(view: &View<'_>) -> Checked {
        let part = reliability(view);
        let Some(next) = part.corruption().and_then(Injection::next_time) else { return Ok(()) };
        require!(
            next >= view.now || part.host_ended(),
            CorruptPassed,
            view.now,
            "a unit was to go wrong at {next} and has not"
        );
        Ok(())
    }

    /// A unit becomes corrupt: one that holds something and is on the media.
    pub fn corrupted(&mut self, view: &View<'_>, place: Ppa) -> Checked {
        let in_time = reliability(view).corruption().filter(|part| part.takes_time() && !part.has_rate());
        if in_time.is_some() {
            let due = self.drawn.get(&place.0).copied();
            require!(
                due == Some(view.now),
                CorruptPassed,
                view.now,
                "unit {place} becomes corrupt, which was to at {due:?}"
            );
        }
        let rests = view.ftl.is_valid(place) && !view.ftl.is_in_flight(place);
        let before = self.copies.insert(copy(view, place), (Met::ByNobody, Ns::NEVER));
        require!(
            rests && before.is_none(),
            CorruptPassed,
            view.now,
            "unit {place} becomes corrupt, which is {} and was {before:?}",
            if rests { "there" } else { "not there" }
        );
        self.under_edc += u64::from(code_of(view, place) == NandCode::Edc);
        Ok(())
    }

    /// A place in its present life, if what lies there is corrupt.
    pub fn found(&self, view: &View<'_>, place: Ppa) -> Option<Copy> {
        Some(copy(view, place)).filter(|key| self.copies.contains_key(key))
    }

    /// Those of the other units of a place's codeword that are corrupt.
    pub fn mates(&self, view: &View<'_>, place: Ppa) -> Vec<Copy> {
        if self.copies.is_empty() {
            return Vec::new();
        }
        let span = units_per_codeword(view, code_of(view, place));
        // Pages hold whole codewords.
        let first = place.0 - place.0 % span;
        let others = (first..first + span).map(Ppa).filter(|&other| other != place);
        others.filter_map(|other| self.found(view, other)).collect()
    }

    /// A page that was sensed at a time was decoded: of what was corrupt in it when it was sensed, nothing passes as good.
    pub fn decoded(&mut self, view: &View<'_>, decoding: &Decoding, sensed: Ns, units: &[Told]) -> Checked {
        let corrects = reliability(view).nand_code(decoding.code).is_some_and(|code| code.scheme().correctable() > 0);
        for unit in units.iter().filter(|unit| unit.decoded) {
            let noticed = unit.failed || unit.undetected;
            // A second look decides for the units alone that were asked for.
            let mates = if noticed || decoding.attempt > 0 { &[] } else { unit.mates.as_slice() };
            for &mate in mates {
                self.meet(mate, Met::Corrected, sensed);
            }
            let Some(key) = unit.corrupt else { continue };
            require!(
                noticed || corrects || decoding.attempt > 0,
                CorruptPassed,
                view.now,
                "unit {} at {} is corrupt and passes as good under {:?}",
                unit.lpa,
                unit.place,
                decoding.code
            );
            if !noticed {
                self.meet(key, Met::Corrected, sensed);
            }
        }
        Ok(())
    }

    fn meet(&mut self, key: Copy, by: Met, at: Ns) {
        if let Some(met) = self.copies.get_mut(&key).filter(|met| met.1 > at) {
            *met = (by, at);
        }
    }

    /// A copy of a unit was no good: the unit is fetched on behalf of somebody, or given up.
    pub fn failed(&mut self, view: &View<'_>, place: Ppa, source: Source) {
        let by = match source {
            Source::Scrub => Met::ByScrub,
            Source::GarbageCollection => Met::ByMove,
            _ => Met::ByHost,
        };
        self.meet(copy(view, place), by, view.now);
    }

    /// A group was erased. Its count of erases is that of its new life already.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        let first = view.ftl.geometry().first_unit(group).0;
        let life = view.ftl.group(group).erase_count - 1;
        let units = first..first + view.ftl.geometry().units_per_group();
        self.erased += units.filter(|&unit| self.copies.contains_key(&(unit, life))).count() as u64;
    }

    /// The device's walk over what is corrupt, and its ledger.
    pub fn finished(&self, view: &View<'_>, counted: &ReliabilityCounters) -> Checked {
        let said = (0..view.ftl.geometry().units()).filter(|&unit| reliability(view).is_corrupt(Ppa(unit))).count();
        let there = self.copies.len() as u64 - self.erased;
        require!(
            said as u64 == there,
            CorruptPassed,
            view.now,
            "{said} units are said to be corrupt at the end, {there} are"
        );
        for (name, counted, seen) in [
            ("corruptions", counted.corruptions, self.copies.len() as u64),
            ("corruptions_under_edc", counted.corruptions_under_edc, self.under_edc),
        ] {
            require!(counted == seen, Ledger, view.now, "reliability.{name} is {counted}, {seen} were seen");
        }
        if self.knows_units { self.compare_met(view, counted) } else { Ok(()) }
    }

    /// Who met what first.
    fn compare_met(&self, view: &View<'_>, counted: &ReliabilityCounters) -> Checked {
        let met = |by| self.copies.values().filter(|met| met.0 == by).count() as u64;
        let unmet_there =
            self.copies.iter().filter(|(key, met)| met.0 == Met::ByNobody && copy(view, Ppa(key.0)) == **key).count()
                as u64;
        for (name, counted, seen) in [
            ("corruptions_corrected", counted.corruptions_corrected, met(Met::Corrected)),
            ("corruptions_met_by_host", counted.corruptions_met_by_host, met(Met::ByHost)),
            ("corruptions_met_by_moves", counted.corruptions_met_by_moves, met(Met::ByMove)),
            ("corruptions_met_by_scrub", counted.corruptions_met_by_scrub, met(Met::ByScrub)),
            ("corruptions_erased", counted.corruptions_erased, met(Met::ByNobody) - unmet_there),
        ] {
            require!(counted == seen, Ledger, view.now, "reliability.{name} is {counted}, {seen} were seen");
        }
        Ok(())
    }
}
