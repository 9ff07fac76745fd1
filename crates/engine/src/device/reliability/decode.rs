//! Page reads of flash between the page register and whoever asked.

use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{ChannelId, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Afterwards, Decoder, Ground, Passage, ones};
use crate::transaction::{Coding, Harm, QueueClass, Transaction};

impl<K: Kind> Device<K> {
    // ---- on the way to the media -----------------------------------------------------------------

    /// Codes and retries change what a command moves or senses.
    #[inline]
    pub(in crate::device) fn code_command(&self, command: &mut FlashCommand) {
        if let Some(part) = self.reliability.as_deref().filter(|part| part.shapes_commands()) {
            part.shape(self.flash.ftl(), &self.run.transactions, command);
        }
    }

    /// Time to encode what a command programs [ns].
    #[inline]
    pub(in crate::device) fn encode_time(&mut self, command: &FlashCommand) -> Ns {
        match &mut self.reliability {
            Some(part) if command.kind == CommandKind::Program && !command.copies => {
                part.encode_pages(self.flash.ftl(), &self.run.transactions, command)
            }
            _ => Ns::ZERO,
        }
    }

    /// A page is in its die's register: draws what its decoder will find. Returns whether its group must stay as it is, and why.
    #[inline]
    pub(in crate::device) fn draw_what_was_sensed(&mut self, index: u32) -> Afterwards {
        let Some(part) = &mut self.reliability else { return Afterwards::Nothing };
        let (ftl, nand) = (self.flash.ftl(), self.flash.nand());
        part.sense(Ground { now: self.run.now, ftl, nand, transactions: &self.run.transactions }, index)
    }

    /// Tells by which rate that was.
    pub(in crate::device) fn tell_rate_drawn(&mut self, index: u32) -> Result<(), SimulationError> {
        let transaction = self.run.transactions.slab[index];
        let Some(part) = self.reliability.as_ref().filter(|_| transaction.attempts == 0) else { return Ok(()) };
        let (ftl, nand) = (self.flash.ftl(), self.flash.nand());
        let ground = Ground { now: self.run.now, ftl, nand, transactions: &self.run.transactions };
        if let Some(rber) = part.rate_drawn(ground, transaction.ppa()) {
            observe!(self, Event::ErrorsDrawn { ppa: transaction.ppa(), rber });
        }
        Ok(())
    }

    // ---- leaving the die -------------------------------------------------------------------------

    /// A page `arrives` in the controller. Returns until when its die keeps it.
    pub(in crate::device) fn page_left(
        &mut self,
        index: u32,
        channel: ChannelId,
        arrives: Ns,
    ) -> Result<Ns, SimulationError> {
        match self.reliable().decoder_of_page(index) {
            Decoder::None => self.deliver(index, arrives, Coding::default()),
            Decoder::Shared => self.note(arrives, Appointment::AtDecoder { transaction: index }),
            Decoder::OfChannel { holds } => {
                let decoded = self.decode_page(index, channel.index(), arrives)?;
                return Ok(if holds { decoded } else { arrives });
            }
        }
        Ok(arrives)
    }

    /// Gives a page that `arrives` to a decoder. Returns when it is decoded, for better or worse.
    pub(super) fn decode_page(&mut self, index: u32, channel: usize, arrives: Ns) -> Result<Ns, SimulationError> {
        let transaction = self.run.transactions.slab[index];
        let passage = self.reliable().decode_page(&transaction, index, channel, arrives);
        let Some(Passage { begins, until, decoded, code }) = passage else { return Ok(arrives) };
        observe!(
            self,
            Event::PageDecoded {
                transaction: index,
                source: transaction.source,
                code,
                attempt: u32::from(transaction.attempts),
                arrived: arrives,
                begins,
                until,
                codewords: decoded.codewords,
                corrupted: decoded.corrupted,
                failed: decoded.failed,
                undetected: decoded.undetected,
            }
        );
        let coding = Coding { wait: begins - arrives, time: until - begins, ..Coding::default() };
        if decoded.failed == 0 {
            self.deliver(index, until, coding);
        } else {
            if transaction.attempts == 0 {
                self.run.transactions.decoded(index, coding);
            }
            self.note(until, Appointment::Failed { transaction: index });
        }
        if decoded.undetected != 0 && transaction.source == Source::Host {
            self.pass_wrong_units(&transaction, index, decoded.undetected)?;
        }
        Ok(until)
    }

    /// Units of a host read passed as good, and are wrong.
    fn pass_wrong_units(&mut self, read: &Transaction, index: u32, units: u32) -> Result<(), SimulationError> {
        for number in ones(units) {
            let lpa = self.unit_of_access(index, number).0;
            self.pass_wrong(read.command(), lpa)?;
        }
        if let Some(migration) = read.brings_up().get() {
            self.tiered().harm_in_flash(migration, Harm::Wrong);
        }
        Ok(())
    }

    /// The data of a page access is good, as far as anybody knows, when it is `ready`.
    fn deliver(&mut self, index: u32, ready: Ns, coding: Coding) {
        let transaction = self.run.transactions.slab[index];
        if transaction.class == QueueClass::HostRead {
            if transaction.attempts == 0 {
                self.run.transactions.decoded(index, coding);
            } else {
                self.run.transactions.retried(index, ready);
            }
        }
        if transaction.source != Source::Host {
            self.note(ready, Appointment::Decoded { transaction: index });
            return;
        }
        if let Some(migration) = transaction.brings_up().get() {
            self.note(ready, Appointment::BroughtUp { migration });
        }
        self.send_page(index, ready);
    }
}
