//! Files on a disk: a table that says which block follows which, and the lowest free block for whatever grows.

use ninescope_kernel::BitTable;

/// The end of a file.
const END: u32 = u32::MAX;

/// A file: a chain of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    first: u32,
    last: u32,
    /// Blocks.
    pub blocks: u32,
    /// Its length [B].
    pub bytes: u64,
}

impl Default for File {
    fn default() -> Self {
        Self { first: END, last: END, blocks: 0, bytes: 0 }
    }
}

impl File {
    /// Its last block.
    pub fn last(&self) -> Option<u32> {
        (self.last != END).then_some(self.last)
    }

    /// Its blocks in their order.
    pub fn chain(&self) -> Chain {
        Chain { next: self.first }
    }

    /// The same, to be found by their places in a file that does not change.
    pub fn blocks_in_order(&self, disk: &Disk) -> Box<[u32]> {
        let mut chain = self.chain();
        std::iter::from_fn(|| chain.next(disk)).collect()
    }
}

/// The blocks of the disk.
#[derive(Debug)]
pub struct Disk {
    after: Vec<u32>,
    free: BitTable,
    /// No block below it is free.
    lowest: u32,
    blocks: u32,
}

impl Disk {
    /// A disk of `blocks`, of which the first `reserved` belong to no file.
    pub fn new(blocks: u32, reserved: u32) -> Self {
        let mut free = BitTable::new(blocks as usize);
        (reserved..blocks).for_each(|block| free.set(block as usize));
        Self { after: vec![END; blocks as usize], free, lowest: reserved, blocks }
    }

    /// Blocks of the disk.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Gives a file one more block, the lowest that is free; `None` where the disk is full.
    pub fn grow(&mut self, file: &mut File) -> Option<u32> {
        let block = self.free.next_set(self.lowest as usize)? as u32;
        self.free.clear(block as usize);
        self.lowest = block + 1;
        self.after[block as usize] = END;
        match file.last {
            END => file.first = block,
            last => self.after[last as usize] = block,
        }
        file.last = block;
        file.blocks += 1;
        Some(block)
    }

    /// Makes a file empty, block by block; returns the block that is free now.
    pub fn shrink(&mut self, file: &mut File) -> Option<u32> {
        if file.first == END {
            *file = File::default();
            return None;
        }
        let block = file.first;
        file.first = self.after[block as usize];
        self.free.set(block as usize);
        self.lowest = self.lowest.min(block);
        Some(block)
    }
}

/// A walk along the blocks of a file that lets the disk change meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    next: u32,
}

impl Chain {
    /// The next block.
    pub fn next(&mut self, disk: &Disk) -> Option<u32> {
        let block = self.next;
        if block == END {
            return None;
        }
        self.next = disk.after[block as usize];
        Some(block)
    }
}
