//! Between files and the disk: the page cache, and requests for what it does not hold or must let go.

use std::collections::VecDeque;

use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request, SECTOR_BYTES};

use super::BLOCK_BYTES;
use super::page_cache::PageCache;

/// Blocks that lie side by side and go to the disk as one request.
#[derive(Clone, Copy, Debug)]
struct Run {
    op: Op,
    first: u32,
    count: u32,
}

/// The page cache with the requests it causes.
#[derive(Debug)]
pub struct Pages {
    cache: PageCache,
    /// The longest request, and the disk [blocks].
    longest: u32,
    blocks: u32,
    run: Option<Run>,
    /// Requests that are made and not yet asked for.
    pub out: VecDeque<Request>,
    /// The time of the present operation.
    pub now: Ns,
}

impl Pages {
    /// An empty cache.
    pub fn new(cache: PageCache, blocks: u32, io_bytes: u64) -> Self {
        let longest = (io_bytes / BLOCK_BYTES).max(1) as u32;
        Self { cache, longest, blocks, run: None, out: VecDeque::with_capacity(4096), now: Ns::ZERO }
    }

    /// A block is in the cache from the beginning, clean.
    pub fn hold(&mut self, block: u32) {
        // Nothing is dirty yet, so that whatever leaves for it need not be written.
        let _ = self.cache.take_in(block);
    }

    /// A block is read.
    pub fn read(&mut self, block: u32) {
        if !self.cache.uses(block) {
            self.take_in(block);
            self.add(Op::Read, block);
        }
    }

    /// A block is written in the cache alone. One that is written in part (`whole` is false) must be there first.
    pub fn write(&mut self, block: u32, whole: bool) {
        if !whole {
            self.read(block);
        }
        self.take_in(block);
        self.cache.make_dirty(block, self.now);
    }

    /// A block is written and goes to the disk at once.
    pub fn write_through(&mut self, block: u32, whole: bool) {
        self.write(block, whole);
        self.sync(block);
    }

    /// A block goes to the disk, if it is dirty.
    pub fn sync(&mut self, block: u32) {
        if self.cache.make_clean(block) {
            self.add(Op::Write, block);
        }
    }

    /// A block that no cache holds is written: the journal's.
    pub fn write_past(&mut self, block: u32) {
        self.add(Op::Write, block);
    }

    /// The file of a block is gone.
    pub fn forget(&mut self, block: u32, discard: bool) {
        self.cache.forget(block);
        if discard {
            self.add(Op::Trim, block);
        }
    }

    /// What was written so far must be durable.
    pub fn flush(&mut self) {
        self.end_run();
        self.out.push_back(Request { submitted: self.now, op: Op::Flush, ..Request::default() });
    }

    /// Writes the oldest dirty blocks where there are too many, each with its dirty neighbours, as the kernel's
    /// write-back does; and ends the request that is being put together.
    pub fn settle(&mut self) {
        self.end_run();
        while let Some(oldest) = self.cache.next_to_write(self.now) {
            let mut block = oldest;
            while block - oldest < self.longest && block < self.blocks && self.cache.make_clean(block) {
                self.add(Op::Write, block);
                block += 1;
            }
            self.end_run();
        }
    }

    fn take_in(&mut self, block: u32) {
        if let Some(left) = self.cache.take_in(block) {
            // The run may be of reads: what leaves is written on its own.
            let run = self.run.take();
            self.add(Op::Write, left);
            self.end_run();
            self.run = run;
        }
    }

    /// Adds a block to the request that is being put together, or begins another.
    fn add(&mut self, op: Op, block: u32) {
        match &mut self.run {
            Some(run) if run.op == op && run.first + run.count == block && run.count < self.longest => run.count += 1,
            _ => {
                self.end_run();
                self.run = Some(Run { op, first: block, count: 1 });
            }
        }
    }

    fn end_run(&mut self) {
        const SECTORS: u64 = BLOCK_BYTES / SECTOR_BYTES;
        if let Some(run) = self.run.take() {
            self.out.push_back(Request {
                submitted: self.now,
                lba: Lba(u64::from(run.first) * SECTORS),
                sectors: run.count * SECTORS as u32,
                op: run.op,
                ..Request::default()
            });
        }
    }
}
