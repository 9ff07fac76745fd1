//! What is lost or wrong, and whom that is told.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::reliability::Harm;
use ninescope_engine::{SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_model::Lpa;

use super::reliability;
use crate::rule::{Checked, require};

/// What a command's read is owed, or was told: by unit.
type Tales = BTreeMap<u32, Vec<(Lpa, Harm)>>;

/// Units that hold other than what they should.
#[derive(Debug, Default)]
pub struct Damage {
    lost: BTreeSet<u32>,
    wrong: BTreeSet<u32>,
    /// By slot of a host command: what it must be told before it completes.
    owed: Tales,
    told: Tales,
    /// It is known which units page accesses bring; else the device is believed when it names some.
    knows_units: bool,
    /// Harm that the device must tell next.
    due: Vec<(Lpa, Harm)>,
    /// Units that became lost, and wrong, since measuring began.
    pub units_lost: u64,
    pub units_wrong: u64,
    /// Host reads that said so, and that did not.
    pub reads_reported: u64,
    pub reads_wrong: u64,
}

impl Damage {
    pub fn new(knows_units: bool) -> Self {
        Self { knows_units, ..Self::default() }
    }

    pub fn is_damaged(&self, lpa: Lpa) -> bool {
        self.lost.contains(&lpa.0) || self.wrong.contains(&lpa.0)
    }

    // ---- harm --------------------------------------------------------------------------------------

    /// The drive used a unit that is no good: it must say so with its next word.
    pub fn is_due(&mut self, lpa: Lpa, harm: Harm) {
        self.due.push((lpa, harm));
    }

    /// The device speaks: whether what was due is said.
    pub fn spoke(&mut self, now: Ns, said: Option<(Lpa, Harm)>) -> Checked {
        let due = self.due.first().copied();
        require!(
            due.is_none() || due == said,
            Damage,
            now,
            "a read of the drive's own harmed {due:?}, and the device says {said:?}"
        );
        Ok(())
    }

    /// A unit is lost or wrong. `reason` says that a read of the drive's own found it so.
    pub fn harmed(&mut self, view: &View<'_>, lpa: Lpa, harm: Harm, reason: bool) -> Checked {
        let was_due = !self.due.is_empty();
        self.due.clear();
        require!(
            was_due || reason || !self.knows_units,
            Damage,
            view.now,
            "unit {lpa} is said to be {harm:?}, and no read of the drive's own failed that it needed"
        );
        let (units, count) = match harm {
            Harm::Lost => (&mut self.lost, &mut self.units_lost),
            Harm::Wrong => (&mut self.wrong, &mut self.units_wrong),
        };
        *count += u64::from(units.insert(lpa.0));
        Ok(())
    }

    /// A unit is good again.
    pub fn repaired(&mut self, view: &View<'_>, lpa: Lpa) -> Checked {
        let (lost, wrong) = (self.lost.remove(&lpa.0), self.wrong.remove(&lpa.0));
        require!(lost || wrong, Damage, view.now, "unit {lpa} is repaired, and was neither lost nor wrong");
        Ok(())
    }

    // ---- reads of the host -------------------------------------------------------------------------

    /// A command reads a unit: what is known of it must be told.
    pub fn read(&mut self, slot: u32, lpa: Lpa) {
        if self.lost.contains(&lpa.0) {
            self.owes(slot, lpa, Harm::Lost);
        } else if self.wrong.contains(&lpa.0) {
            self.owes(slot, lpa, Harm::Wrong);
        }
    }

    /// What a command read is no good.
    pub fn owes(&mut self, slot: u32, lpa: Lpa, harm: Harm) {
        self.owed.entry(slot).or_default().push((lpa, harm));
    }

    /// The device tells a command so.
    pub fn tells(&mut self, view: &View<'_>, slot: u32, lpa: Lpa, harm: Harm) -> Checked {
        let found = self.owed.get(&slot).is_some_and(|owed| owed.contains(&(lpa, harm)));
        let units = if harm == Harm::Lost { &self.lost } else { &self.wrong };
        let owed = found || units.contains(&lpa.0);
        require!(
            owed || !self.knows_units,
            UnreportedDamage,
            view.now,
            "the command of slot {slot} is told that unit {lpa} is {harm:?}, which is not what it read"
        );
        self.told.entry(slot).or_default().push((lpa, harm));
        Ok(())
    }

    /// Units of a read that the device did not pass off as good, or that it counts as wrong.
    pub fn excused(&self, slot: u32) -> Vec<Lpa> {
        self.told.get(&slot).into_iter().flatten().map(|(lpa, _)| *lpa).collect()
    }

    /// Whether a command was told that something is lost.
    pub fn reports(&self, slot: u32) -> bool {
        self.told.get(&slot).is_some_and(|told| told.iter().any(|(_, harm)| *harm == Harm::Lost))
    }

    /// A read completes: everything that it was owed was told.
    pub fn completes(&mut self, view: &View<'_>, slot: u32) -> Result<[bool; 2], SimulationError> {
        let (owed, told) = (self.owed.remove(&slot), self.told.remove(&slot).unwrap_or_default());
        let kept = |owed: &(Lpa, Harm)| told.contains(owed);
        let silent = owed.unwrap_or_default().into_iter().find(|owed| !kept(owed));
        require!(
            silent.is_none(),
            UnreportedDamage,
            view.now,
            "the command of slot {slot} completes and was not told of {silent:?}"
        );
        let lost = told.iter().any(|(_, harm)| *harm == Harm::Lost);
        Ok([lost, told.iter().any(|(_, harm)| *harm == Harm::Wrong)])
    }

    /// A request of the host is over, of which something was lost, or wrong.
    pub fn request_over(&mut self, [lost, wrong]: [bool; 2]) {
        self.reads_reported += u64::from(lost);
        self.reads_wrong += u64::from(!lost && wrong);
    }

    pub fn measuring_began(&mut self) {
        (self.units_lost, self.units_wrong, self.reads_reported, self.reads_wrong) = Default::default();
    }

    // ---- walks -------------------------------------------------------------------------------------

    /// The device's own book of `units` says the same.
    pub fn sweep(&self, view: &View<'_>, units: u32) -> Checked {
        let said = reliability(view).damage();
        for lpa in (0..units).map(Lpa) {
            let (said, seen) =
                ((said.is_lost(lpa), said.is_wrong(lpa)), (self.lost.contains(&lpa.0), self.wrong.contains(&lpa.0)));
            require!(
                said == seen,
                Damage,
                view.now,
                "unit {lpa}: (lost, wrong) are said to be {said:?}, they are {seen:?}"
            );
        }
        Ok(())
    }
}
