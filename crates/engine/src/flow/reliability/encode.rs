//! What codes change about commands on their way to the media.

use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::Ppa;

use crate::device::Device;
use crate::kind::Kind;
use crate::reliability::NandCode;

impl<K: Kind> Device<K> {
    /// The code of the group of a place: clean data kept apart has a code of its own, where the drive has one.
    pub(crate) fn nand_code_of(&self, ppa: Ppa) -> NandCode {
        let has_edc = self.reliability.as_ref().is_some_and(|part| part.nand[NandCode::Edc as usize].is_some());
        if has_edc && self.ftl.stream_of(ppa).is_of_clean_data() { NandCode::Edc } else { NandCode::Ecc }
    }

    /// Time to encode what a command programs. The die waits for it: the encoder feeds its page register [ns].
    #[inline]
    pub(crate) fn encode_time(&mut self, command: &FlashCommand) -> Ns {
        if self.reliability.is_none() || command.kind != CommandKind::Program {
            return Ns::ZERO;
        }
        self.encode_pages(command)
    }

    #[inline(never)]
    fn encode_pages(&mut self, command: &FlashCommand) -> Ns {
        let units = self.geometry.units_per_page();
        command.addressed_planes().fold(Ns::ZERO, |time, plane| {
            let ppa = self.transactions.slab[command.transaction[plane]].ppa();
            let code = self.nand_code_of(ppa);
            let encode = self.reliable().nand[code as usize].as_mut().map_or(Ns::ZERO, |code| code.encode(units));
            time + encode
        })
    }

    /// Codewords are moved whole, with their parity where that moves too, and a page that is read again is sensed as the
    /// retry wants it.
    #[inline(never)]
    pub(crate) fn code_command(&mut self, command: &mut FlashCommand) {
        if command.kind == CommandKind::Erase {
            return;
        }
        for plane in command.addressed_planes() {
            let transaction = self.transactions.slab[command.transaction[plane]];
            let of_page = self.geometry.units_per_page();
            let reads = command.kind == CommandKind::Read;
            let code = self.nand_code_of(transaction.ppa());
            if let Some(code) = self.reliability.as_ref().and_then(|part| part.nand[code as usize].as_ref()) {
                let units = match reads {
                    true if code.spans_units() => code.whole_codewords(self.units_asked(&transaction)).count_ones(),
                    true => u32::from(transaction.units),
                    false => of_page,
                };
                command.bytes[plane] = code.channel_bytes(units);
            }
            let part = self.reliable();
            if let (Some(attempt), Some(retry)) = (transaction.attempts.checked_sub(1), &part.retry) {
                command.more_senses = retry.senses(u32::from(attempt)).saturating_sub(1) as u8;
            }
        }
    }
}
