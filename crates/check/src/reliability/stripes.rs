//! Accesses that are found again by the rest of their parity stripe: what that means to the books.

use ninescope_engine::reliability::Harm;
use ninescope_engine::{Access, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_model::{Lpa, Ppa, Source};

use super::ReliabilityBook;
use super::reads::{Rebuilt, Taker};
use crate::blocks::Blocks;
use crate::stripes::{StripePage, is_parity};

impl ReliabilityBook {
    /// Units of a page of a stripe are in the register, for an access that is found again by it.
    pub fn stripe_sensed(&mut self, view: &View<'_>, transaction: u32, first: Ppa, units: u8) {
        if is_parity(view.ftl.geometry(), first) {
            return;
        }
        for place in (first.0..first.0 + u32::from(units)).map(Ppa) {
            self.unit_sensed(view, place, view.ftl.content(place), Taker::Stripe(transaction));
        }
    }

    /// The rest of the stripe of an access is read. Returns the place of that, and the pages.
    pub fn degraded(
        &mut self,
        view: &View<'_>,
        access: (u32, Source),
        (pages, blocks): (u32, &Blocks),
    ) -> Result<(Ppa, Vec<StripePage>), SimulationError> {
        if access.1 != Source::Rebuild {
            self.counts.rebuilt[0] += 1;
            self.counts.rebuilt[1] += u64::from(pages);
        }
        self.reads.degraded(view, access, (pages, blocks))
    }

    /// All of the stripe of an access is there.
    pub fn rebuilt(
        &mut self,
        view: &View<'_>,
        (transaction, source): (u32, Source),
        harm: (u32, u32),
    ) -> Result<Rebuilt, SimulationError> {
        let rebuilt = self.reads.rebuilt(view, (transaction, source), harm)?;
        if source == Source::Rebuild {
            return Ok(rebuilt);
        }
        self.counts.rebuilt[2] += rebuilt.count;
        for &(_, place) in &rebuilt.found {
            self.corruption.failed(view, place, source);
        }
        match source {
            Source::Host => {
                // Of what is lost all of it is an error.
                for &lpa in rebuilt.wrong.iter().filter(|_| rebuilt.ends) {
                    self.damage.owes(rebuilt.slot, lpa, Harm::Wrong);
                }
                if rebuilt.ends {
                    self.part_is_ready(rebuilt.slot, view.now);
                }
            }
            Source::Scrub => self.scrub.arrives(view.now),
            _ => {}
        }
        Ok(rebuilt)
    }

    /// An access is of what lay on a die that failed at `since`, all of which is lost as far as the die goes. Returns whether it is
    /// to be found by its stripe.
    pub fn missing(
        &mut self,
        view: &View<'_>,
        (access, units): (&Access, u8),
        since: Ns,
    ) -> Result<bool, SimulationError> {
        let (is_rebuilt, again) = self.reads.missing(view, (access, units), &self.heals)?;
        // It was to be read again, and was counted so, if its die had not failed when that was decided.
        if let Some((failed, attempt)) = again.filter(|&(failed, _)| failed <= since) {
            self.count_retry((failed, attempt), failed == since);
        }
        if access.source == Source::Scrub && !is_rebuilt {
            self.scrub.arrives(view.now);
        }
        Ok(is_rebuilt)
    }

    /// What was found of a unit is to be written anew.
    pub fn heals(&mut self, view: &View<'_>, lpa: Lpa, from: Ppa) {
        if !self.heals.is_healing(lpa) && !self.damage.is_damaged(lpa) {
            self.heals.will_heal(view, lpa, from, view.now);
        }
    }
}
