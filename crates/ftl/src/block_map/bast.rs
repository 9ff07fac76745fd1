//! BAST, block-associative sector translation: a logical block that is overwritten has a log block of its own, in which its pages lie in
//! the order in which they come (Kim et al., "A space-efficient flash translation layer for `CompactFlash` systems", IEEE Transactions on
//! Consumer Electronics 48(2), 2002). One whose pages are all there in their order takes the place of the data block (switch merge), one
//! that has the first of them is filled up from it (partial merge), any other is merged with it into a free block (full merge). Where all
//! log blocks are taken the one written longest ago makes way.

use super::{Next, PoolView, Role, Scheme};

/// A log block by logical block.
pub struct Bast;

impl Scheme for Bast {
    fn next(&self, pool: &PoolView<'_>) -> Next {
        if let Some(next) = pool.in_place() {
            return next;
        }
        match pool.logs.iter().find(|log| log.owner == pool.block) {
            Some(log) if (pool.written)(log.group) < pool.pages => Next::Append(log.group),
            // A full one in order has become the data block.
            Some(_) => PoolView::merge(pool.block, None),
            None if (pool.logs.len() as u32) < pool.log_blocks => Next::Open(Role::Log),
            None => {
                let oldest = pool.logs[0];
                PoolView::merge(oldest.owner, oldest.in_order.then_some(oldest.group))
            }
        }
    }
}
