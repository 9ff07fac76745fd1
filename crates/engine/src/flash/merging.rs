//! Which of the accesses that wait for a die go in one command, each in a plane of its own.
//!
//! Knows a queue and where its accesses lie; nothing of what they are for, nor of who chose the first one.

use ninescope_ftl::Ftl;
use ninescope_kernel::{Fifo, NONE, Slab};
use ninescope_media::nand::{CommandKind, FlashCommand, Nand, SLC_PAGE_TYPE};
use ninescope_model::{Geometry, PLANES_MAX};

use super::place::{PlaceOnDie, place_of};
use super::turns::Turns;
use crate::config::EngineConfig;
use crate::transaction::{Transaction, TransactionStore};

/// The rules of one drive.
#[derive(Debug)]
pub struct Merging {
    is_on: bool,
    /// How many waiting accesses are looked at to fill the other planes of a command [count].
    window: u32,
    read_any_block: bool,
    /// By plane: those that no command addresses which addresses it, a bit each.
    planes_apart: [u8; PLANES_MAX as usize],
    /// Which turn of its plane each access is, where those of one turn go together; nothing where those of one page do.
    pub turns: Option<Box<Turns>>,
    /// Pages are of blocks of one bit in a cell from this number on.
    slc_from: u32,
}

impl Merging {
    /// The rules that the configuration and the part have.
    pub fn new(config: &EngineConfig, ftl: &Ftl, nand: &Nand) -> Self {
        Self {
            is_on: config.multi_plane,
            window: config.merge_window,
            read_any_block: nand.reads_any_block(),
            planes_apart: std::array::from_fn(|plane| nand.planes_apart_from(plane as u32)),
            turns: Turns::new(config.merge_by, ftl),
            slc_from: ftl.geometry().pages_per_block,
        }
    }

    /// The type of the pages of a command that begins with an access, where it does not follow from their places: in a block of one
    /// bit in a cell, and where it follows from the turn at which that was touched: its place is the one that it was given then.
    #[inline]
    pub fn page_type(&self, first: &Transaction, nand: &Nand) -> Option<u8> {
        if first.page >= self.slc_from {
            return Some(SLC_PAGE_TYPE);
        }
        let turns = self.turns.as_ref()?;
        turns.is_place().then(|| nand.page_type(first.page) as u8)
    }

    /// Has a command address what waits in `queue` and can run beside the access that it begins with. `moved` says what
    /// an access moves over the channel [B], and `goes_with` whether it takes its data from where the first one does.
    #[inline]
    pub fn add_those_beside(
        &mut self,
        command: &mut FlashCommand,
        (queue, slab): (&mut Fifo, &mut Slab<Transaction>),
        geometry: &Geometry,
        (moved, goes_with): (impl Fn(&Transaction) -> u32, impl Fn(&Transaction) -> bool),
    ) {
        let first_plane = command.planes.trailing_zeros() as usize & 3;
        let first = &slab[command.transaction[first_plane]];
        // What is read again is sensed in its own way.
        if !self.is_on || first.attempts > 0 {
            return;
        }
        if self.turns.is_some() {
            let (turn, apart) = (first.page, command.planes | self.planes_apart[first_plane]);
            return self.add_same_turn(command, (queue, slab), geometry, (turn, apart), moved);
        }
        let (first_page, block) = (first.page, command.block[first_plane]);
        let any_block = command.kind == CommandKind::Read && self.read_any_block;
        let (mut previous, mut index) = (NONE, queue.head());
        // A program that cannot run beside the first one holds back those behind it in its pool: the pages of
        // a group are programmed in order.
        // Planes that no command has together with the first one count as taken.
        let mut taken = command.planes | self.planes_apart[first_plane];
        let planes_of_pool = (1 << geometry.frontier_planes) - 1;
        for _ in 0..self.window {
            if index == NONE || command.plane_count() == geometry.planes_per_die {
                break;
            }
            let Transaction { next, attempts, page, .. } = slab[index];
            if command.kind == CommandKind::Read && page != first_page {
                // Most reads that wait: where else they lie is not asked.
                (previous, index) = (index, next);
                continue;
            }
            let other = place_of(&slab[index], geometry);
            let fits = taken >> other.plane & 1 == 0
                && attempts == 0
                && page == first_page
                && (any_block || other.block == block);
            if fits && goes_with(&slab[index]) {
                taken |= 1 << other.plane;
                queue.remove_after(slab, previous, TransactionStore::link);
                add(command, other, index, moved(&slab[index]));
            } else {
                if command.kind == CommandKind::Program {
                    taken |= planes_of_pool << (other.plane - other.plane % geometry.frontier_planes);
                }
                previous = index;
            }
            index = next;
        }
    }

    /// Those of the first one's turn, each in its plane. A plane programs its pages in order all the same: what it is to
    /// program next goes for the one that is found, and the turns of those between move up.
    #[inline(never)]
    fn add_same_turn(
        &mut self,
        command: &mut FlashCommand,
        (queue, slab): (&mut Fifo, &mut Slab<Transaction>),
        geometry: &Geometry,
        (turn, mut taken): (u32, u8),
        moved: impl Fn(&Transaction) -> u32,
    ) {
        // A bit for each plane for which one waits.
        let mut found = 0_u8;
        let mut index = queue.head();
        for _ in 0..self.window {
            if index == NONE || taken.count_ones() == geometry.planes_per_die {
                break;
            }
            let Transaction { next, attempts, page, .. } = slab[index];
            if page == turn && attempts == 0 {
                found |= 1 << place_of(&slab[index], geometry).plane & !taken;
                taken |= found;
            }
            index = next;
        }
        let in_order = command.kind == CommandKind::Program;
        // By plane: the turn that moves up.
        let mut moving = [NONE; PLANES_MAX as usize];
        let (mut previous, mut index) = (NONE, queue.head());
        while found != 0 && index != NONE {
            let Transaction { next, attempts, page, .. } = slab[index];
            let place = place_of(&slab[index], geometry);
            let plane = place.plane as usize & 3;
            // What is read again stays, whatever its turn.
            let is_of_it = found >> plane & 1 == 1 && attempts == 0;
            let goes = is_of_it && if in_order { moving[plane] == NONE } else { page == turn };
            if is_of_it && in_order {
                let given = if goes { turn } else { moving[plane] };
                slab[index].page = given;
                if let Some(turns) = &mut self.turns {
                    turns.is_programmed_at(slab[index].ppa(), given);
                }
                moving[plane] = page;
            }
            if is_of_it && page == turn {
                found &= !(1 << plane);
            }
            if goes {
                queue.remove_after(slab, previous, TransactionStore::link);
                add(command, place, index, moved(&slab[index]));
            } else {
                previous = index;
            }
            index = next;
        }
    }
}

/// Has a command address one more plane.
#[inline]
pub fn add(command: &mut FlashCommand, place: PlaceOnDie, index: u32, bytes: u32) {
    let plane = place.plane as usize & 3;
    command.planes |= 1 << plane;
    command.block[plane] = place.block;
    command.page[plane] = place.page;
    command.bytes[plane] = bytes;
    command.transaction[plane] = index;
}
