//! What a die remembers of its blocks: how far each is programmed and how often it was erased.

use ninescope_model::{DieId, Geometry};

/// One block's record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// Pages programmed since the last erase, from page 0 up [count].
    pub(super) programmed_pages: u32,
    /// Erases so far [count].
    pub(super) erase_count: u32,
}

/// All blocks of the drive in one table, those of a plane next to each other.
#[derive(Clone, Debug)]
pub(super) struct BlockTable {
    records: Vec<Block>,
    pub(super) planes_per_die: u32,
    pub(super) blocks_per_plane: u32,
    pub(super) pages_per_block: u32,
}

impl BlockTable {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let planes = geometry.dies() as usize * geometry.planes_per_die as usize;
        Self {
            records: vec![Block::default(); planes * geometry.blocks_per_plane as usize],
            planes_per_die: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// Blocks of the drive [count].
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of a block among all blocks of the drive.
    #[inline]
    pub(super) fn index(&self, die: DieId, plane: usize, block: u32) -> usize {
        debug_assert!(plane < self.planes_per_die as usize && block < self.blocks_per_plane, "no such block");
        (die.index() * self.planes_per_die as usize + plane) * self.blocks_per_plane as usize + block as usize
    }

    #[inline]
    pub(super) fn get(&self, die: DieId, plane: usize, block: u32) -> Block {
        self.records[self.index(die, plane, block)]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, die: DieId, plane: usize, block: u32) -> &mut Block {
        let index = self.index(die, plane, block);
        &mut self.records[index]
    }
}
