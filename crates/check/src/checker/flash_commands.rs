//! Accesses of flash: queued, sensed, taken up by their dies as commands, and ended.

use ninescope_engine::{QueueClass, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Ppa, Source};

use super::Checker;
use crate::blocks::group_of_block;
use crate::one_shot::{OneShotBook, Waiting};
use crate::rule::{Checked, require};

impl Checker {
    pub(super) fn host_units_sensed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (first, units): (Ppa, u8),
        brings_up: u32,
    ) -> Checked {
        for place in (first.0..first.0 + u32::from(units)).map(Ppa) {
            if let Some(codes) = &mut self.codes {
                codes.host_unit_sensed(view, place, view.ftl.content(place), slot, brings_up != NONE);
            }
        }
        if let Some(codes) = self.codes.as_mut().filter(|_| brings_up != NONE) {
            codes.reads.brought_up(first, view.ftl.content(first), brings_up);
        }
        match &mut self.oracle {
            Some(oracle) => oracle.sensed(view, slot, (first, units), brings_up, &mut self.marks),
            None => Ok(()),
        }
    }

    #[inline]
    pub(super) fn read_queued(&mut self, view: &View<'_>, ppa: Ppa, (source, class): (Source, QueueClass)) -> Checked {
        self.ledger.read_queued(source);
        if let Some(book) = &mut self.copybacks {
            book.read_queued(view, ppa, source, &mut self.marks);
        }
        if let Some(book) = &mut self.dram {
            book.read_queued(source);
        }
        if let (Source::Mapping, QueueClass::HostRead, Some(book), None) =
            (source, class, &mut self.map, &self.firmware)
        {
            book.read_queued(view, ppa, &mut self.marks);
        }
        if let (Source::Migration, Some(book)) = (source, &mut self.tier) {
            book.read_queued(view, ppa)?;
        }
        if let Some(codes) = &mut self.codes {
            codes.read_queued(view, ppa, source)?;
        }
        self.groups.read_queued(view, ppa)
    }

    pub(super) fn command_issued(&mut self, view: &View<'_>, command: &FlashCommand, sent: Ns, begins: Ns) -> Checked {
        self.ledger.issued(command);
        self.transfers.channel_taken(view, command.die, sent)?;
        if let Some(book) = &self.dram {
            book.issued(view, command)?;
        }
        if let Some(book) = &self.slc_cache {
            book.issued(view, command)?;
        }
        let moves = self.dies.page_moves_first(command.die, sent);
        self.dies.issued(view, command, begins, &mut self.marks)?;
        // The array begins that much later, whatever else it begins later by.
        let begins = Ns(begins.0.saturating_sub(moves.0));
        self.blocks.issued(view, command)?;
        if self.one_shot.is_some() {
            OneShotBook::issued(view, command, sent, &self.groups)?;
        }
        match &self.copybacks {
            Some(book) => book.issued(view, command, sent)?,
            None => require!(!command.copies, Copyback, view.now, "{command:?} of a drive whose dies copy nothing"),
        }
        if let Some(book) = &self.bad_blocks {
            book.issued(view, command)?;
        }
        if let Some(blame) = &mut self.blame {
            blame.issued(view, command, sent);
        }
        if let Some(codes) = &mut self.codes {
            codes.issued(view, command, (sent, begins))?;
        } else {
            require!(begins == sent, EncodeTime, view.now, "die {} begins at {begins}, not {sent}", command.die);
        }
        if command.kind == CommandKind::Erase {
            self.groups.erase_issued(view, command)?;
            if let Some(book) = &mut self.parity {
                book.erase_issued(view, command);
            }
            if let Some(oracle) = &mut self.oracle {
                let geometry = view.ftl.geometry();
                for plane in command.addressed_planes() {
                    if (plane as u32).is_multiple_of(geometry.frontier_planes) {
                        oracle.erased(view, group_of_block(geometry, command.die, plane, command.block[plane]));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn command_ended(&mut self, view: &View<'_>, command: &FlashCommand) -> Checked {
        self.dies.ended(view.now, command, &mut self.marks)?;
        if let Some(oracle) = self.oracle.as_mut().filter(|_| self.failed_dies.is_some()) {
            oracle.is_missing(None);
        }
        if let Some(book) = &mut self.dram {
            book.ended(view.now, command);
        }
        self.blocks.ended(view, command);
        if let Some(blame) = &mut self.blame {
            blame.ended(view.now, command);
        }
        // What is written again was programmed once, and is nobody's page.
        let again = self.failed_dies.as_mut().map_or(0, |book| book.ended_planes(command));
        let once = FlashCommand { planes: command.planes & !again, ..*command };
        self.ledger.ended(view, &once);
        if let Some(codes) = &mut self.codes {
            codes.ended(view, &once)?;
        }
        if let Some(book) = &mut self.copybacks {
            for from in book.ended(view, command, &mut self.marks) {
                self.groups.reader_leaves(view, from);
            }
        }
        match command.kind {
            CommandKind::Read => self.groups.read_ended(view, command)?,
            CommandKind::Program => {
                self.space.programmed(view, &once, self.one_shot.as_ref())?;
                if let Some(book) = &mut self.one_shot {
                    book.ended(view, command);
                }
                if let Some(oracle) = &mut self.oracle {
                    oracle.programs_ended(&self.blocks, view);
                }
            }
            CommandKind::Erase => {
                if let Some(book) = &mut self.failed_dies {
                    book.erased(command);
                }
            }
        }
        Ok(())
    }

    /// An open page was filled up with so many units of padding, or all of its wordline. Returns how many pages are nothing else.
    pub(super) fn wordline_padded(
        &mut self,
        view: &View<'_>,
        last: Ppa,
        units: u32,
    ) -> Result<u32, ninescope_engine::SimulationError> {
        let Some(book) = &mut self.one_shot else { return Ok(0) };
        let host = self.requests.any_inside(|request| book.makes_wait(request));
        let waiting = Waiting { host, erase: self.whole_erase.is_asked() };
        book.padded(view, (last, units), &self.groups, waiting)
    }
}
