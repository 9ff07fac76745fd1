//! Pages of a wordline that are programmed in one go (one-shot programming): all planes of a frontier at once, or not at all.
//!
//! What a plane has of a wordline is one [`Transaction`], whose units lie on as many pages as a cell has bits; so all that is known of a
//! program (who waits for it, for whom it counts, whose share it is) is known of that. A frontier fills as ever, page by page over its
//! planes; pages that are full wait in the controller (and in its write buffer, where they are the host's) until the last of their
//! wordline is, and what is read of them meanwhile comes from there as it does of any page that waits for its program. All planes of a
//! wordline are in one command, however far apart they wait on their die, because how far a group is programmed is one number.
//! Where somebody waits for what is in a wordline that is not full, all the rest of it is padded. Blocks of one bit in a cell have
//! wordlines of one page, and go on as ever.

use ninescope_ftl::Padded;
use ninescope_kernel::{Fifo, NONE, Slab, WakeQueue};
use ninescope_media::nand::{FlashCommand, SLC_PAGE_TYPE};
use ninescope_model::{BlockGroup, DieId, Geometry, Lpa, Pool, Ppa, Stream};

use super::place::place_of;
use super::{Flash, merging};
use crate::run::Run;
use crate::transaction::{Transaction, TransactionStore};

impl Flash {
    /// Pages of each plane that the program of a unit is of.
    #[inline]
    pub(super) fn pages_of_program(&self, ppa: Ppa) -> u32 {
        if self.geometry.pages_per_program == 1 {
            return 1;
        }
        self.ftl.pages_per_program(self.group_of(ppa))
    }

    /// Units of a group that are programmed together or not at all.
    pub(super) fn units_padded_together(&self, group: BlockGroup) -> u32 {
        let by_page = self.ftl.pages_per_program(group) == 1;
        if by_page { self.geometry.units_per_page() } else { self.geometry.units_per_program() }
    }

    /// Whether a page is of a wordline that is programmed in one go, and not the first page of it.
    #[inline]
    pub(super) fn goes_on_with_wordline(&self, group: BlockGroup, page: u32) -> bool {
        self.geometry.pages_per_program > 1 && !page.is_multiple_of(self.ftl.pages_per_program(group))
    }

    /// Up to where a group is programmed when a program that begins at an offset of it has ended; nothing where the program of an
    /// earlier plane of the same command has said so.
    #[inline]
    pub(super) fn end_of_program(&self, group: BlockGroup, offset: u32) -> Option<u32> {
        if self.geometry.pages_per_program == 1 || self.ftl.pages_per_program(group) == 1 {
            return Some(offset + self.geometry.units_per_page());
        }
        let is_first = self.geometry.within_group(offset).1 == 0;
        is_first.then(|| offset + self.geometry.units_per_program())
    }

    /// Pages of a program of the host that its buffer holds: all but those that are nothing but padding.
    #[inline]
    pub fn pages_held(&self, first: Ppa) -> u32 {
        if self.geometry.pages_per_program == 1 { 1 } else { self.pages_of_wordline_held(first) }
    }

    #[cold]
    fn pages_of_wordline_held(&self, first: Ppa) -> u32 {
        let pages =
            (0..self.pages_of_program(first)).map(|page| Ppa(first.0 + page * self.geometry.units_per_stripe()));
        pages.filter(|&page| self.ftl.content(page) != Lpa::NONE).count() as u32
    }

    // ---- padding -----------------------------------------------------------------------------------

    /// The rest of a wordline was padded: pages that are nothing else were programmed for nobody.
    #[cold]
    pub(super) fn wordline_is_padded<Q>(&self, run: &mut Run<Q>, stream: Stream, padded: &Padded) {
        let page = |unit: Ppa| unit.0 / self.geometry.units_per_page();
        let in_part = u64::from(self.is_in_page(padded.written));
        run.counters.padded_pages += if stream.is_of_moves() { 0 } else { in_part };
        run.counters.gc_padded_pages += if stream.is_of_moves() { in_part } else { 0 };
        run.counters.wordline_padding_pages += u64::from(page(padded.last) - page(padded.written));
    }

    /// Whether a unit is not the last one of its page.
    fn is_in_page(&self, unit: Ppa) -> bool {
        !(unit.0 + 1).is_multiple_of(self.geometry.units_per_page())
    }

    /// What was padded is filled, and goes to its die.
    pub fn send_padded<Q: WakeQueue>(&mut self, run: &mut Run<Q>, pool: Pool, stream: Stream, padded: &Padded) {
        let Padded { last, written, .. } = *padded;
        if self.pages_of_program(last) == 1 {
            return self.page_filled(run, pool, stream, (written, last), true);
        }
        if self.is_in_page(written) {
            let end = self.geometry.first_unit_of_page(written).0 + self.geometry.units_per_page() - 1;
            self.page_filled(run, pool, stream, (written, Ppa(end)), false);
        }
        self.send_pages(run, pool, stream, last, self.geometry.frontier_planes - 1);
    }

    // ---- commands ----------------------------------------------------------------------------------

    /// A command that was formed programs wordlines: what other planes of the same frontiers have of them goes along, wherever it waits.
    #[inline(never)]
    pub(super) fn add_rest_of_wordlines(
        command: &mut FlashCommand,
        (queue, slab): (&mut Fifo, &mut Slab<Transaction>),
        geometry: &Geometry,
        moved: impl Fn(&Transaction) -> u32,
    ) {
        if command.page_type == Some(SLC_PAGE_TYPE) {
            return;
        }
        let pool_of = |plane: u32| plane / geometry.frontier_planes;
        let (mut previous, mut index) = (NONE, queue.head());
        while index != NONE && command.plane_count() < geometry.planes_per_die {
            let next = slab[index].next;
            let place = place_of(&slab[index], geometry);
            let fits = |plane: usize| {
                pool_of(plane as u32) == pool_of(place.plane)
                    && (command.block[plane], command.page[plane]) == (place.block, place.page)
            };
            if command.planes >> place.plane & 1 == 0 && command.addressed_planes().any(fits) {
                queue.remove_after(slab, previous, TransactionStore::link);
                merging::add(command, place, index, moved(&slab[index]));
            } else {
                previous = index;
            }
            index = next;
        }
    }

    /// Pages of a program of the host are on the media: as many others may wait for theirs.
    #[inline]
    pub fn unbuffer_pages<Q>(&mut self, run: &mut Run<Q>, die: DieId, index: u32) {
        for _ in 0..self.pages_held(run.transactions.slab[index].ppa()) {
            self.unbuffer_page(die);
            if run.transactions.tenants.is_some() {
                self.unbuffered_for(run, index);
            }
        }
    }
}
