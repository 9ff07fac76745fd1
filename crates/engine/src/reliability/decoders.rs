//! Decoders and encoders: what they add to the time of reads and writes, and to what crosses a channel.

use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::Lpa;

use super::code::{Asked, Code, Decoded};
use super::sense::units_asked;
use super::{NandCode, Reliability, Sensed};
use crate::transaction::{Transaction, TransactionStore};

/// Where data goes that leaves a die or bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoder {
    /// Through none.
    None,
    /// To those that all channels share: data of other channels may come before it.
    Shared,
    /// To that of its channel; with `holds` whoever was read keeps it until it is decoded.
    OfChannel { holds: bool },
}

impl Decoder {
    fn of(code: Option<&Code>) -> Self {
        match code.map(Code::scheme) {
            None => Self::None,
            Some(scheme) if scheme.shared() => Self::Shared,
            Some(scheme) => Self::OfChannel { holds: scheme.holds_die() },
        }
    }
}

/// Data in a decoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// The decoder has it from then on [ns].
    pub begins: Ns,
    /// And until then [ns].
    pub until: Ns,
    /// What it finds.
    pub decoded: Decoded,
    /// Under which code.
    pub code: NandCode,
}

impl Reliability {
    /// Whether codes or retries change what a command moves or senses.
    #[inline]
    pub(crate) fn shapes_commands(&self) -> bool {
        self.shapes_commands
    }

    /// Codewords are moved whole, with their parity where that moves too, and a page that is read again is sensed as the
    /// retry wants it.
    pub(crate) fn shape(&self, ftl: &Ftl, transactions: &TransactionStore, command: &mut FlashCommand) {
        if command.kind == CommandKind::Erase || command.copies {
            return;
        }
        for plane in command.addressed_planes() {
            let transaction = transactions.slab[command.transaction[plane]];
            let code = self.code_of(ftl, transaction.ppa());
            if let Some(code) = &self.nand[code as usize] {
                let units = match command.kind == CommandKind::Read {
                    true if code.spans_units() => {
                        code.whole_codewords(units_asked(ftl, transactions, &transaction)).count_ones()
                    }
                    true => u32::from(transaction.units),
                    false => ftl.geometry().units_per_page(),
                };
                let pages = if command.kind == CommandKind::Read { 1 } else { transaction.pages(units) };
                command.bytes[plane] = code.channel_bytes(units) * pages;
            }
            if let (Some(attempt), Some(retry)) = (transaction.attempts.checked_sub(1), &self.retry) {
                command.more_senses = retry.senses(u32::from(attempt)).saturating_sub(1) as u8;
            }
        }
    }

    /// Time to encode what a command programs. The die waits for it: the encoder feeds its page register [ns].
    pub(crate) fn encode_pages(&mut self, ftl: &Ftl, transactions: &TransactionStore, command: &FlashCommand) -> Ns {
        let units = ftl.geometry().units_per_page();
        command.addressed_planes().fold(Ns::ZERO, |time, plane| {
            let program = &transactions.slab[command.transaction[plane]];
            let (code, pages) = (self.code_of(ftl, program.ppa()), program.pages(units));
            let encode =
                |code: &mut Code| (0..pages).map(|_| code.encode(units)).fold(Ns::ZERO, |sum, time| sum + time);
            time + self.nand[code as usize].as_mut().map_or(Ns::ZERO, encode)
        })
    }

    /// The decoder of a page that leaves its die.
    pub(crate) fn decoder_of_page(&self, index: u32) -> Decoder {
        let code = self.sensed.get(index as usize).map_or(NandCode::Ecc, |sensed| sensed.code);
        Decoder::of(self.nand[code as usize].as_ref())
    }

    /// Gives a page that `arrives` to a decoder, of a channel where each has its own.
    pub(crate) fn decode_page(
        &mut self,
        transaction: &Transaction,
        index: u32,
        channel: usize,
        arrives: Ns,
    ) -> Option<Passage> {
        let Sensed { decoded, code: which, .. } = self.sensed[index as usize];
        let code = self.nand[which as usize].as_mut()?;
        let more = match (&self.retry, transaction.attempts.checked_sub(1)) {
            (Some(retry), Some(attempt)) => retry.more_decoding(u32::from(attempt)),
            _ => Ns::ZERO,
        };
        let time = code.scheme().decode_time(decoded.codewords, decoded.corrupted) + more;
        let begins = code.take_decoder(channel, arrives, time);
        Some(Passage { begins, until: begins + time, decoded, code: which })
    }

    // ---- storage-class memory ----------------------------------------------------------------------

    /// The decoder of sectors that leave a bank of a medium.
    pub(crate) fn decoder_of_medium(&self, medium: usize) -> Decoder {
        Decoder::of(self.scm_code(medium))
    }

    /// Gives sectors that `arrive` to a decoder: those of an access to memory that was written so often. Returns the page
    /// that the host reads as well.
    pub(crate) fn decode_sectors(
        &mut self,
        (medium, channel): (usize, usize),
        index: u32,
        (sectors, writes): (u32, u32),
        arrives: Ns,
    ) -> Option<(Passage, Lpa)> {
        let page = self.take_page_of_sectors(index);
        let of_medium = self.scm[medium].as_mut()?;
        let level = of_medium.level(writes);
        let code = &mut of_medium.code;
        let decoded = code.draw(level, sectors, 0, Asked::ALL);
        let time = code.scheme().decode_time(decoded.codewords, decoded.corrupted);
        let begins = code.take_decoder(channel, arrives, time);
        Some((Passage { begins, until: begins + time, decoded, code: NandCode::Ecc }, page))
    }

    /// Sectors that a bank read did not decode, and are given up.
    pub(crate) fn count_failed_sectors(&mut self) {
        self.counters.failed_reads += 1;
    }

    /// Time to encode sectors that are written. The bank waits for it [ns].
    pub(crate) fn encode_sectors(&mut self, medium: usize, sectors: u32) -> Ns {
        self.scm[medium].as_mut().map_or(Ns::ZERO, |of_medium| of_medium.code.encode(sectors))
    }

    /// Bytes that cross the channel for some sectors, where they are guarded by a code [B].
    pub(crate) fn bytes_of_sectors(&self, medium: usize, sectors: u32) -> Option<u64> {
        self.scm_code(medium).map(|code| u64::from(code.channel_bytes(sectors)))
    }
}
