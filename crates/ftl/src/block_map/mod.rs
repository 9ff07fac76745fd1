//! Maps by block, and what each scheme does with a write: a page of the host's addresses lies at its own place in the block that its
//! logical block has, or, for a while, in a log block.
//!
//! Each pool of blocks is a map of its own, of the logical blocks that are its share. Where units lie, which blocks are free, and how a
//! merge is carried out is not known here: [`super::Ftl`] asks a scheme where a page goes, and is told what is to be merged first.

mod bast;
mod block;
mod fast;

use ninescope_kernel::{NONE, SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold};
use serde::{Deserialize, Serialize};

/// How writes are taken that do not fit the block of their logical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockScheme {
    /// They are not: the block is written anew (block mapping).
    Block,
    /// By a log block of that logical block (BAST).
    Bast,
    /// By log blocks that all logical blocks share, and one for sequential writes (FAST).
    Fast,
}

/// A map by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockMapConfig {
    /// What becomes of writes.
    pub scheme: BlockScheme,
    /// Log blocks of a pool at most [count].
    pub log_blocks: u32,
}

impl BlockMapConfig {
    /// Blocks of a pool beyond those of its logical blocks: the logs, and one to merge into.
    pub fn spare_blocks(&self) -> u32 {
        self.log_blocks.saturating_add(1)
    }
}

/// A log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The block group.
    pub group: u32,
    /// The logical block that it is of, [`NONE`] where it is of all.
    pub owner: u32,
    /// Each of its pages lies at its own place.
    pub in_order: bool,
}

/// What a log block is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The pages of a logical block, each at its place.
    Data,
    /// Pages in the order in which they come.
    Log,
    /// Pages of one logical block from its first one on, of all that are written so (FAST).
    Sequential,
}

/// What is to be merged before a page can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOf {
    /// The logical block.
    pub block: u32,
    /// The block group that is filled up to hold all of it; `None`: a free one.
    pub into: Option<u32>,
    /// The place of the page that is to be written into it on the way.
    pub awaits: Option<u32>,
    /// A merge, or a block that is filled up to a page ahead of those that it has.
    pub is_merge: bool,
}

/// Where a page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To the next page of an open group.
    Append(u32),
    /// To the first page of a group that is opened for it.
    Open(Role),
    /// Nowhere, until a logical block is merged.
    Merge(MergeOf),
    /// Nowhere, until a log block is erased that holds nothing valid: the one of this number.
    Release(usize),
}

/// What a scheme sees of a pool when a page is to be written.
pub struct PoolView<'a> {
    /// The logical block.
    pub block: u32,
    /// The page of it.
    pub offset: u32,
    /// The group that holds it, each page at its place.
    pub data: Option<u32>,
    /// The pool's log blocks, those first that are merged first.
    pub logs: &'a [Log],
    /// The log block of sequential writes.
    pub sequential: Option<Log>,
    /// Log blocks that there may be.
    pub log_blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Pages of a group that are written.
    pub written: &'a dyn Fn(u32) -> u32,
    /// The logical block of the first valid page of a group.
    pub first_valid: &'a dyn Fn(u32) -> Option<u32>,
}

impl PoolView<'_> {
    /// The page is the next one of the group that holds its logical block, or the first one of all.
    fn in_place(&self) -> Option<Next> {
        match self.data {
            Some(data) if (self.written)(data) == self.offset => Some(Next::Append(data)),
            None if self.offset == 0 => Some(Next::Open(Role::Data)),
            _ => None,
        }
    }

    /// Merges a logical block into a group, or a free one.
    fn merge(block: u32, into: Option<u32>) -> Next {
        Next::Merge(MergeOf { block, into, awaits: None, is_merge: true })
    }
}

/// What one of the maps by block decides.
pub trait Scheme {
    /// Where a page goes now. Nothing of its logical block is being merged.
    fn next(&self, pool: &PoolView<'_>) -> Next;
}

impl BlockScheme {
    /// What decides.
    pub fn rules(self) -> &'static dyn Scheme {
        match self {
            Self::Block => &block::InPlace,
            Self::Bast => &bast::Bast,
            Self::Fast => &fast::Fast,
        }
    }
}

/// A merge under way.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    /// What is merged.
    pub of: MergeOf,
    /// Pages that were copied, or left empty.
    pub filled: u32,
    /// Behind the page that was awaited the host may write on as long as the next page is not copied.
    pub next: Option<u32>,
    /// It does: its page waits for room in the write buffer.
    pub comes: bool,
}

impl Merge {
    /// The page of the host that is or may be written into it.
    pub fn expects(&self) -> Option<u32> {
        self.of.awaits.or(self.next)
    }
}

/// A pool's logs, and what it does about them.
#[derive(Clone, Debug, Default)]
pub struct PoolLogs {
    /// Log blocks, those first that are merged first.
    pub logs: Vec<Log>,
    /// The log block of sequential writes.
    pub sequential: Option<Log>,
    /// The merge under way.
    pub merge: Option<Merge>,
    /// The logical block and the page of it that wait for one.
    pub waiting: Option<(u32, u32)>,
    /// What waited may be written now, and nobody was told.
    pub may_go_on: bool,
}

impl PoolLogs {
    /// Takes a log block of a logical block out, those before the sequential one; returns its group.
    pub(crate) fn take_log_of(&mut self, block: u32) -> Option<u32> {
        let log = match self.logs.iter().position(|log| log.owner == block) {
            Some(position) => self.logs.remove(position),
            None => self.sequential.take_if(|log| log.owner == block)?,
        };
        Some(log.group)
    }
}

/// What a map by block keeps in memory.
#[derive(Clone, Debug)]
pub struct BlockMap {
    /// What it was told.
    pub config: BlockMapConfig,
    /// Pages of a block.
    pub pages: u32,
    /// By logical block: the group that holds it, [`NONE`] for none.
    pub data: Vec<u32>,
    /// By pool.
    pub pools: Vec<PoolLogs>,
}

impl BlockMap {
    /// A map of nothing, of so many units of the host in groups of so many `pages`.
    pub fn new(config: BlockMapConfig, units: u32, pages: u32, pools: u32) -> Self {
        Self {
            config,
            pages,
            data: vec![NONE; units.div_ceil(pages) as usize],
            pools: vec![PoolLogs::default(); pools as usize],
        }
    }

    /// Bytes that such a map takes on a drive: an entry of four bytes for each logical block, and for each log block and each of its
    /// pages [B].
    pub fn bytes(&self) -> u64 {
        let logs = self.pools.len() as u64 * u64::from(self.config.log_blocks);
        4 * (self.data.len() as u64 + logs * (1 + u64::from(self.pages)))
    }
}

impl Snapshot for BlockMap {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.begin("block map")?;
        to.column(self.data.iter().copied())?;
        for pool in &self.pools {
            if pool.merge.is_some() || pool.waiting.is_some() {
                return Err(SnapshotError::NotQuiet("a logical block is merged".to_owned()));
            }
            to.u32(pool.logs.len() as u32)?;
            to.u32(u32::from(pool.sequential.is_some()))?;
            for log in pool.logs.iter().chain(&pool.sequential) {
                to.u32(log.group)?;
                to.u32(log.owner)?;
                to.u32(u32::from(log.in_order))?;
            }
        }
        Ok(())
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        from.begin("block map")?;
        from.column(&mut self.data, |group| group)?;
        for number in 0..self.pools.len() {
            let (logs, sequential) = (from.u32()?, from.u32()?);
            let most = self.config.log_blocks;
            must_hold(sequential <= 1 && logs.saturating_add(sequential) <= most, || {
                format!("pool {number} has {logs} log blocks and {sequential}, of {most}")
            })?;
            let mut log = || -> Result<Log, SnapshotError> {
                let (group, owner, in_order) = (from.u32()?, from.u32()?, from.u32()? != 0);
                let there = owner == NONE || (owner as usize) < self.data.len();
                must_hold(there, || format!("log block {group} is of logical block {owner}"))?;
                Ok(Log { group, owner, in_order })
            };
            let logs = (0..logs).map(|_| log()).collect::<Result<_, _>>()?;
            let sequential = if sequential == 1 { Some(log()?) } else { None };
            self.pools[number] = PoolLogs { logs, sequential, ..PoolLogs::default() };
        }
        Ok(())
    }
}
