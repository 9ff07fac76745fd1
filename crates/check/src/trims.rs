//! TRIMs: how long they take, and what is put off of them: which units are trimmed and in the map still, until when, and what reads of
//! them return.

use std::collections::BTreeMap;

use ninescope_engine::{Deferral, Forgotten, ReadFrom, SimulationError, TrimConfig, TrimmedReads, View};
use ninescope_kernel::{BitTable, Ns};
use ninescope_model::{DriveErase, Lpa, Ppa, Request};

use crate::Rule;
use crate::oracle::content::Pending;
use crate::requests::units_of;
use crate::rule::{Checked, require};

/// What is known of TRIMs.
#[derive(Debug)]
pub struct TrimBook {
    /// Time for each entry that a TRIM itself changes.
    entry_time: Ns,
    deferral: Option<Deferral>,
    noted: BitTable,
    /// The TRIMs that were noted last, where reads return old data.
    pending: BTreeMap<u32, Pending>,
    /// By slot: when its command was fetched.
    fetched: Vec<Ns>,
    /// Commands inside.
    inside: u64,
    /// Since when there are none, and how many units were forgotten since.
    rest: Option<(Ns, u64)>,
    counts: Counts,
}

/// Since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    deferred: u64,
    at_rest: u64,
    before_collection: u64,
    before_writes: u64,
    moved: u64,
}

impl TrimBook {
    /// Of a drive of flash whose TRIMs take time, or are put off.
    pub fn started(view: &View<'_>, config: &TrimConfig) -> Option<Self> {
        let (entry_time, deferral) = (config.chosen().entry_time(), config.chosen().deferral());
        (entry_time > Ns::ZERO || deferral.is_some()).then(|| Self {
            entry_time,
            deferral,
            // Pages of the map lie behind, and are moved as well.
            noted: BitTable::new((view.ftl.logical_units() + view.ftl.translation_units()) as usize),
            pending: BTreeMap::new(),
            fetched: Vec::new(),
            inside: 0,
            rest: None,
            counts: Counts::default(),
        })
    }

    /// Whether reads return what was there before, until it is forgotten.
    pub fn returns_old_data(&self) -> bool {
        self.deferral.is_some_and(|deferral| deferral.reads == TrimmedReads::OldData)
    }

    /// Whether a unit was trimmed and is in the map still.
    pub fn is_noted(&self, lpa: Lpa) -> bool {
        self.noted.get(lpa.index())
    }

    /// A command is taken in.
    pub fn fetched(&mut self, now: Ns, slot: u32) {
        if self.fetched.len() <= slot as usize {
            self.fetched.resize(slot as usize + 1, Ns::ZERO);
        }
        self.fetched[slot as usize] = now;
        self.inside += 1;
        self.rest = None;
    }

    /// The host was told of a command.
    pub fn completed(&mut self, now: Ns) {
        self.inside -= 1;
        if self.inside == 0 {
            self.rest = Some((now, 0));
        }
    }

    /// A TRIM forgets a unit before it completes.
    pub fn trimmed(&mut self, view: &View<'_>, (slot, lpa, old): (u32, Lpa, Ppa), request: &Request) -> Checked {
        if request.remark.erase() != DriveErase::None {
            // What was noted is forgotten with all the rest.
            self.noted.clear(lpa.index());
            self.pending.remove(&lpa.0);
            return Ok(());
        }
        let units = units_of(request, view.ftl.geometry().sectors_per_unit()).len() as u64;
        let earliest = self.fetched[slot as usize] + Ns(self.entry_time.0 * units);
        require!(
            view.now >= earliest,
            Trims,
            view.now,
            "unit {lpa} is trimmed before its TRIM may have it at {earliest}"
        );
        let is_put_off = self.deferral.is_some() && old != Ppa::UNMAPPED;
        require!(!is_put_off, Trims, view.now, "unit {lpa} at {old} is forgotten at once, where that is put off");
        Ok(())
    }

    /// A TRIM notes a unit.
    pub fn noted(&mut self, view: &View<'_>, lpa: Lpa, pending: Pending) -> Checked {
        let is_mapped = view.ftl.translate(lpa) != Ppa::UNMAPPED;
        require!(
            self.deferral.is_some() && is_mapped,
            Trims,
            view.now,
            "unit {lpa} is noted to be forgotten, {}",
            if is_mapped { "and TRIMs are not put off" } else { "and lies nowhere" }
        );
        self.noted.set(lpa.index());
        self.counts.deferred += 1;
        if self.returns_old_data() {
            self.pending.insert(lpa.0, pending);
        }
        Ok(())
    }

    /// A unit is forgotten that was trimmed. Returns its TRIM where reads returned old data.
    pub fn forgotten(
        &mut self,
        view: &View<'_>,
        (lpa, old): (Lpa, Ppa),
        why: Forgotten,
    ) -> Result<Option<Pending>, SimulationError> {
        let (now, noted) = (view.now, self.noted.get(lpa.index()));
        require!(noted && old != Ppa::UNMAPPED, Trims, now, "unit {lpa} at {old} is forgotten, and was not trimmed");
        self.noted.clear(lpa.index());
        let Some(deferral) = self.deferral else { return Ok(None) };
        match why {
            Forgotten::Written => self.counts.before_writes += 1,
            Forgotten::BeforeCollection => {
                require!(deferral.before_collection, Trims, now, "unit {lpa} is forgotten before collection goes on");
                self.counts.before_collection += 1;
            }
            Forgotten::AtRest => {
                let due =
                    self.rest.map(|(since, count)| since + deferral.rest + Ns(deferral.entry_time.0 * (count + 1)));
                if due != Some(now) {
                    let what = format!("unit {lpa} is forgotten at rest, where one may be at {due:?}");
                    return Err(Rule::Trims.violated(now, what));
                }
                self.rest = self.rest.map(|(since, count)| (since, count + 1));
                self.counts.at_rest += 1;
            }
        }
        Ok(self.pending.remove(&lpa.0))
    }

    /// A unit of the host got a place: nothing of it is to be forgotten any more.
    pub fn written(&self, view: &View<'_>, lpa: Lpa) -> Checked {
        let noted = self.noted.get(lpa.index());
        require!(!noted, Trims, view.now, "unit {lpa} is written while what was trimmed of it is in the map");
        Ok(())
    }

    /// Garbage collection moves a unit. Returns whether it was trimmed.
    pub fn moved(&mut self, lpa: Lpa) -> bool {
        let noted = self.is_noted(lpa);
        self.counts.moved += u64::from(noted);
        noted
    }

    /// A victim was chosen.
    pub fn victim(&self, view: &View<'_>) -> Checked {
        let knows =
            self.deferral.is_none_or(|deferral| !deferral.before_collection) || self.noted.next_set(0).is_none();
        require!(knows, Trims, view.now, "a group is to be emptied before what was trimmed is forgotten");
        Ok(())
    }

    /// Where a read of a unit is to find it, which the map has at `mapped`.
    pub fn place_of_read(&self, lpa: Lpa, mapped: Ppa) -> Ppa {
        if self.noted.get(lpa.index()) && !self.returns_old_data() { Ppa::UNMAPPED } else { mapped }
    }

    /// Whether a read brought what a TRIM is to take away.
    pub fn is_old_data(&self, lpa: Lpa, from: ReadFrom) -> bool {
        from != ReadFrom::Nowhere && self.noted.get(lpa.index())
    }

    pub fn measuring_began(&mut self) {
        self.counts = Counts::default();
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let engine = view.counters;
        let counted = Counts {
            deferred: engine.deferred_trims,
            at_rest: engine.trims_at_rest,
            before_collection: engine.trims_before_collection,
            before_writes: engine.trims_before_writes,
            moved: engine.trimmed_units_moved,
        };
        require!(counted == self.counts, Ledger, view.now, "{counted:?} are counted, {:?} were seen", self.counts);
        Ok(())
    }

    /// Nothing is left to be forgotten.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let left = self.noted.count_ones();
        require!(left == 0, Trims, view.now, "{left} units were trimmed and are in the map still");
        self.compare(view)
    }
}
