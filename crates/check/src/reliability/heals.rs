//! The store behind the drive: when what is fetched is there, and that it is written anew where it is wanted.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_model::{Lpa, Ppa};

use super::reliability;
use crate::rule::{Checked, Rule, require};

/// A fetched unit that is to be written anew.
#[derive(Clone, Copy, Debug)]
struct Heal {
    lpa: Lpa,
    /// Its copy that is no good, and the erases of its group then.
    from: Ppa,
    life: u32,
    /// It was the unit's copy still.
    resided: bool,
    /// When it is there [ns].
    ready: Ns,
    /// The host asked for it, and another copy is on its way by then: it need not be written.
    spare: bool,
}

/// All fetched units that are to be written anew, and what the store is busy with.
#[derive(Debug, Default)]
pub struct Heals {
    open: Vec<Heal>,
    /// By server of the store: when it is through with what is waited for, and with everything [ns].
    free_at: Vec<[Ns; 2]>,
}

fn life(view: &View<'_>, place: Ppa) -> u32 {
    view.ftl.group(view.ftl.geometry().group_and_offset(place).0).erase_count
}

impl Heals {
    pub fn started(&mut self, servers: u32) {
        self.free_at = vec![[Ns::ZERO; 2]; servers as usize];
    }

    /// The store is asked for a unit. Returns when it is there: what is waited for goes before what the scrubber asks for,
    /// each by who is free first.
    pub fn fetch(&mut self, view: &View<'_>, wanted: bool) -> Ns {
        let read = reliability(view)
            .backing_store()
            .map_or(Ns::ZERO, ninescope_engine::reliability::backing_store::BackingStore::read_time);
        let queue = usize::from(!wanted);
        let Some(server) = self.free_at.iter_mut().min_by_key(|server| server[queue]) else { return view.now };
        for free_at in &mut server[queue..] {
            *free_at = view.now.max(*free_at) + read;
        }
        server[queue]
    }

    /// What was fetched is to be written anew, unless its unit lies elsewhere by then.
    pub fn will_heal(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa, ready: Ns) {
        let resided = view.ftl.translate(lpa) == from;
        self.open.push(Heal { lpa, from, life: life(view, from), resided, ready, spare: false });
    }

    /// Whether another copy of a unit is on its way.
    pub fn is_healing(&self, lpa: Lpa) -> bool {
        self.open.iter().any(|heal| heal.lpa == lpa)
    }

    /// The host has what it asked for of a unit: nothing has to be done with it where another copy is on its way.
    pub fn is_spare(&mut self, lpa: Lpa, from: Ppa, ready: Ns) {
        if self.open.iter().filter(|heal| heal.lpa == lpa).count() > 1 {
            let is_it = |heal: &&mut Heal| !heal.spare && (heal.lpa, heal.from, heal.ready) == (lpa, from, ready);
            if let Some(heal) = self.open.iter_mut().find(is_it) {
                heal.spare = true;
            }
        }
    }

    /// The unit of a fetch is dealt with, as `heals` says.
    pub fn dealt_with(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa, heals: bool) -> Checked {
        let has_come = |heal: &Heal| (heal.lpa, heal.from) == (lpa, from) && heal.ready <= view.now;
        let resides = |heal: &Heal| {
            let same_life = heal.resided && life(view, from) == heal.life;
            same_life && (heals || view.ftl.translate(lpa) == from)
        };
        // A drive that takes no more writes drops what it cannot place.
        let may_drop = !heals && view.ftl.is_read_only();
        let fits = |heal: &Heal| has_come(heal) && (may_drop || resides(heal) == heals);
        let needed = self.open.iter().position(|heal| fits(heal) && !heal.spare);
        let Some(position) = needed.or_else(|| self.open.iter().position(fits)) else {
            let others: Vec<&Heal> = self.open.iter().filter(|heal| heal.lpa == lpa).collect();
            let what = if heals { "written anew" } else { "dropped" };
            let what = format!("what was fetched of unit {lpa} for its copy at {from} is {what}: {others:?}");
            return Err(Rule::CopyBehind.violated(view.now, what));
        };
        self.open.remove(position);
        Ok(())
    }

    pub fn finished(&self, view: &View<'_>) -> Checked {
        let forgotten = self.open.iter().find(|heal| !heal.spare);
        require!(forgotten.is_none(), Leftover, view.now, "what was fetched is forgotten: {forgotten:?}");
        Ok(())
    }
}
