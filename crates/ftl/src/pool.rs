//! The state of one pool: its free groups, its frontiers and its garbage collection.

use std::collections::VecDeque;

use ninescope_kernel::NONE;
use ninescope_model::Stream;

/// Streams a pool keeps a frontier for: host and garbage collection.
pub const STREAMS: usize = 2;

/// The open group of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    /// The group, `NONE` when the next write opens one.
    pub group: u32,
    /// The next unit offset in it.
    pub next: u32,
}

impl Default for Frontier {
    fn default() -> Self {
        Self { group: NONE, next: 0 }
    }
}

/// The victim whose units are being handed out.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The victim.
    pub group: u32,
    /// The next unit offset to look at.
    pub cursor: u32,
    /// It was chosen to fill a page of moves, whatever it holds: what is left of it is collected only
    /// where that is worth it.
    pub to_fill: bool,
}

/// State of one pool.
#[derive(Clone, Debug)]
pub struct PoolRecord {
    /// Erased groups in the order in which they became free.
    pub free: VecDeque<u32>,
    /// One frontier per stream.
    pub frontiers: [Frontier; STREAMS],
    /// The victim being handed out, if any.
    pub collection: Option<Collection>,
    /// Victims handed out completely whose moves have not all ended.
    pub draining: Vec<u32>,
    /// Groups whose erase was asked for and has not ended.
    pub erasing: u32,
    /// Units handed out to be moved that were neither placed nor dropped.
    pub handed_out: u32,
}

impl PoolRecord {
    /// A pool whose groups `first..first + count` are all free.
    pub fn new(first: u32, count: u32) -> Self {
        Self {
            free: (first..first + count).collect(),
            frontiers: [Frontier::default(); STREAMS],
            collection: None,
            draining: Vec::with_capacity(8),
            erasing: 0,
            handed_out: 0,
        }
    }

    /// Groups that are free or will be when what was handed out has ended.
    pub fn free_in_prospect(&self) -> u32 {
        self.free.len() as u32 + self.erasing + self.draining.len() as u32
    }

    /// Units that the open page of moves still takes; a whole page where none is partly filled.
    pub fn rest_of_open_page(&self, units_per_page: u32) -> u32 {
        let frontier = self.frontiers[Stream::GC.index()];
        let filled = if frontier.group == NONE { 0 } else { frontier.next % units_per_page };
        units_per_page - filled
    }

    /// Units that moves may still take, beyond those handed out already. Of the free groups it counts those
    /// that the host cannot take before the moves are placed.
    pub fn space_for_moves(&self, units_per_group: u32, reserve: u32) -> u32 {
        let frontier = self.frontiers[Stream::GC.index()];
        let open = if frontier.group == NONE { 0 } else { units_per_group - frontier.next };
        (open + reserve.min(self.free.len() as u32) * units_per_group).saturating_sub(self.handed_out)
    }
}
