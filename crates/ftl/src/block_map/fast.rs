//! FAST, fully associative sector translation: all logical blocks share the log blocks (Lee et al., "A log buffer-based flash translation
//! layer using fully-associative sector translation", ACM Transactions on Embedded Computing Systems 6(3), 2007). A write of the first page
//! of a logical block begins the one sequential log block, which takes the pages behind it and ends in a switch or a partial merge; all
//! others go to the random log blocks in the order in which they come. Where these are full, the one filled first makes way: each logical
//! block that has a valid page there is merged with all its newest pages, wherever they lie, into a free block.

use super::{Next, PoolView, Role, Scheme};

/// Log blocks of all.
pub struct Fast;

impl Scheme for Fast {
    fn next(&self, pool: &PoolView<'_>) -> Next {
        if let Some(next) = pool.in_place() {
            return next;
        }
        match pool.sequential {
            Some(log) if log.owner == pool.block && (pool.written)(log.group) == pool.offset => {
                return Next::Append(log.group);
            }
            // Its logical block is written otherwise, or another one from its beginning.
            Some(log) if log.owner == pool.block || pool.offset == 0 => {
                return PoolView::merge(log.owner, Some(log.group));
            }
            None if pool.offset == 0 => return Next::Open(Role::Sequential),
            _ => {}
        }
        match pool.logs.last() {
            Some(log) if (pool.written)(log.group) < pool.pages => Next::Append(log.group),
            // One is for sequential writes.
            _ if (pool.logs.len() as u32) + 1 < pool.log_blocks => Next::Open(Role::Log),
            _ => match (pool.first_valid)(pool.logs[0].group) {
                Some(block) => PoolView::merge(block, None),
                None => Next::Release(0),
            },
        }
    }
}
