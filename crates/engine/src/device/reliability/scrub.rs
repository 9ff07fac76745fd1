//! The scrubber reads in the background.

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};
use crate::reliability::ScrubStep;
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    /// It is time for a pass.
    pub(super) fn begin_scrub_pass(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let part = self.reliability.as_mut().expect("a drive with codes");
        part.begin_scrub_pass(self.run.now, self.flash.ftl());
        observe!(self, Event::ScrubPassBegan);
        self.pump_scrub()
    }

    /// Reads on, as far as the policy lets it.
    fn pump_scrub(&mut self) -> Result<(), SimulationError> {
        loop {
            let part = self.reliability.as_mut().expect("a drive with codes");
            match part.next_scrub(self.flash.ftl()) {
                ScrubStep::Read(first) => {
                    let units = self.flash.geometry().units_per_page() as u8;
                    self.queue_read(Transaction::scrub_read(first, units))?;
                }
                ScrubStep::PassEnds => {
                    part.end_scrub_pass(&mut self.run);
                    observe!(self, Event::ScrubPassEnded);
                    return Ok(());
                }
                ScrubStep::Wait => return Ok(()),
            }
        }
    }

    /// A page that the scrubber read is decoded.
    pub(in crate::device) fn scrub_page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        self.run.transactions.slab.remove(transaction);
        self.reliable().scrub_read_ended();
        self.pump_scrub()
    }
}
