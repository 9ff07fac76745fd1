//! When measuring begins, what was seen at the end, and when all is walked through in between.

use ninescope_engine::{SimulationError, Utilization, View};

use super::Checker;
use crate::marks::Mark;
use crate::rule::Checked;
use crate::sweep::sweep;

impl Checker {
    pub(super) fn measuring_began(&mut self, view: &View<'_>) {
        self.requests.measuring_began();
        self.ledger.measuring_began(self.groups.handed_out);
        (self.queues.non_queued, self.queues.queued_trims, self.queues.waited) = (0, 0, 0);
        self.messages.seen = 0;
        self.space.part_stalls = 0;
        self.dies.measuring_began(view.now);
        self.transfers.measuring_began(view.now);
        if let Some(banks) = &mut self.banks {
            banks.measuring_began(view.now);
        }
        if let Some(book) = &mut self.tier {
            book.measuring_began();
        }
        if let Some(codes) = &mut self.codes {
            codes.measuring_began(view.now);
        }
        if let Some(book) = &mut self.map {
            book.measuring_began();
        }
        if let Some(book) = &mut self.partitions {
            book.measuring_began();
        }
        if let Some(book) = &mut self.parity {
            book.measuring_began(self.groups.whole_stripes);
        }
        if let Some(book) = &mut self.dram {
            book.measuring_began(view.now);
        }
        if let Some(book) = &mut self.firmware {
            book.measuring_began(view.now);
        }
        if let Some(book) = &mut self.placement {
            book.measuring_began();
        }
        if let Some(book) = &mut self.trims {
            book.measuring_began();
        }
        if let Some(book) = &mut self.copybacks {
            book.measuring_began();
        }
        if let Some(book) = &mut self.one_shot {
            book.measuring_began();
        }
        self.whole_erase.measuring_began();
        if let Some(book) = &mut self.failed_dies {
            book.measuring_began();
        }
        if let Some(book) = &mut self.zones {
            book.measuring_began();
        }
        if let Some(book) = &mut self.block_map {
            book.measuring_began(view);
        }
        if let Some(book) = &mut self.slc_cache {
            book.measuring_began();
        }
    }

    pub(super) fn finished(&mut self, view: &View<'_>, used: &Utilization) -> Checked {
        self.requests.finished(view)?;
        self.interrupts.finished(view.now)?;
        self.messages.finished(view)?;
        if view.meter.limited.iter().any(|limited| limited.held > 0) {
            self.marks.hit(Mark::HeldByLimit);
        }
        self.dies.finished(view, used)?;
        self.transfers.finished(view, used)?;
        if let Some(banks) = &self.banks {
            banks.finished(view, used)?;
        }
        if let Some(book) = &self.tier {
            book.finished(view)?;
        }
        if let Some(oracle) = &mut self.oracle {
            let damage = self.codes.as_ref().map(|codes| &codes.damage);
            oracle.everything_is_found(view, self.tier.as_ref(), damage, self.requests.order())?;
        }
        if let Some(codes) = &self.codes {
            codes.finished(view)?;
        }
        if let Some(book) = &self.map {
            book.finished(view)?;
            book.compare(view)?;
        }
        if let Some(book) = &self.dram {
            book.finished(view, used)?;
        }
        if let Some(book) = &self.firmware {
            book.finished(view, used)?;
        }
        if let Some(book) = &self.parity {
            book.finished(view, &self.groups)?;
        }
        if let Some(book) = &self.placement {
            book.finished(view, &mut self.marks)?;
        }
        if let Some(book) = &self.trims {
            book.finished(view)?;
        }
        if let Some(book) = &self.block_map {
            book.finished(view)?;
        }
        self.whole_erase.finished(view)?;
        if let Some(book) = &self.failed_dies {
            book.finished(view)?;
        }
        self.queues.compare(view)?;
        self.dies.compare(view)?;
        self.space.compare(view)?;
        self.ledger.compare(view)?;
        if let Some(book) = &self.copybacks {
            book.compare(view)?;
        }
        if let Some(book) = &self.one_shot {
            book.compare(view)?;
        }
        if let Some(book) = &self.bad_blocks {
            book.compare(view)?;
        }
        if let Some(book) = &self.partitions {
            book.compare(view)?;
        }
        let open = self.sweep(view)?;
        self.ledger.programs_balance(view, self.groups.handed_out, open)
    }

    /// Walks over everything every so often. Only at the fetch of a command, when no step is half done.
    pub(super) fn sweep_when_due(&mut self, view: &View<'_>) -> Checked {
        if self.until_sweep > 0 {
            return Ok(());
        }
        self.until_sweep = self.sweep_interval;
        self.ledger.compare(view)?;
        if let Some(book) = &self.tier {
            book.compare(view)?;
        }
        if let Some(book) = &self.map {
            book.compare(view)?;
        }
        let open = self.sweep(view)?;
        self.ledger.programs_balance(view, self.groups.handed_out, open)
    }

    pub(super) fn sweep(&mut self, view: &View<'_>) -> Result<u64, SimulationError> {
        self.sweeps += 1;
        if let Some(book) = &self.tier {
            book.sweep(view)?;
            if let Some(oracle) = &self.oracle {
                oracle.clean_is_below(view, book)?;
            }
        }
        self.sweep_codes(view)?;
        if let Some(book) = &self.map {
            book.sweep(view)?;
        }
        if let Some(book) = &self.partitions {
            book.sweep(view)?;
        }
        if let Some(book) = &self.zones {
            book.compare(view)?;
        }
        if let Some(book) = &self.block_map {
            book.sweep(view)?;
        }
        if let Some(book) = &self.slc_cache {
            book.sweep(view)?;
        }
        if let Some(book) = &self.bad_blocks {
            book.sweep(view, &self.groups)?;
        }
        self.namespaces.sweep(view)?;
        self.space.sweep(view)?;
        sweep(view, self.units.as_ref(), &self.groups, &self.blocks)
    }
}
