//! What goes through the controller's DRAM.

use ninescope_engine::{Access, DramAccess, ReadFrom, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BankId, Lpa, Source};

use super::Checker;
use crate::requests::{mask_of, sectors_per_unit};
use crate::rule::Checked;

impl Checker {
    /// The bus of DRAM is given to an access.
    #[inline(never)]
    pub(super) fn dram_taken(&mut self, view: &View<'_>, access: &DramAccess, until: Ns) -> Checked {
        let Some(book) = &mut self.dram else { return Ok(()) };
        let map_reader = self.blame.as_ref().map_or(0, |blame| blame.map_reader(access.transaction));
        let program = book.taken(view, (access, until), map_reader, &mut self.marks)?;
        if let (Some(command), Some(blame)) = (program, &mut self.blame) {
            blame.data_are_there(&command, until);
        }
        Ok(())
    }

    /// A read found out where a unit is, of which it asks for these sectors, `None` for all that the request covers.
    pub(super) fn dram_unit_read(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (lpa, mask): (Lpa, Option<u32>),
        from: ReadFrom,
    ) -> Checked {
        let Some(book) = &mut self.dram else { return Ok(()) };
        book.sets_out(view, slot)?;
        let request = self.requests.get(view, slot)?.request;
        let mask = mask.unwrap_or_else(|| mask_of(&request, lpa, sectors_per_unit(view)));
        book.unit_read(slot, from, u64::from(mask.count_ones()));
        Ok(())
    }

    /// A free die takes up a command.
    pub(super) fn dram_dispatched(&mut self, view: &View<'_>, command: &FlashCommand, accesses: &[Access]) {
        let holder = self.blame.as_ref().map_or(0, |blame| blame.holder_of_die(command.die));
        if let Some(book) = &mut self.dram {
            let wordlines = self.one_shot.as_ref();
            let pages = |plane| wordlines.map_or(1, |book| book.pages_held(view, command, plane));
            let sources = command.addressed_planes().zip(accesses).map(|(plane, access)| (access.source, pages(plane)));
            book.dispatched(view, command, sources, holder);
        }
    }

    /// A bank has its channel, which may be the bus of DRAM.
    pub(super) fn dram_bank(&mut self, view: &View<'_>, bank: BankId, until: Ns) -> Checked {
        let is_cache = view.scm.layout().medium_of_bank(bank) == 0;
        match (&mut self.dram, &self.banks) {
            (Some(book), Some(banks)) if is_cache => {
                let (source, owner) = banks.works_for(bank);
                let mover = || self.cache_holders.as_ref().map_or(0, |holders| holders.mover(owner));
                book.cache_takes(view, until, owner, (source == Source::Migration).then(mover))
            }
            _ => Ok(()),
        }
    }
}
