//! Block mapping: each page lies at its own place in the one block of its logical block. A write to a page that is written, or that
//! is not the next one, has the block written anew (Ban, "Flash file system", US patent 5,404,485, 1995, has blocks that are mapped
//! so; the trade is described by Chung et al., "A survey of flash translation layer", Journal of Systems Architecture 55, 2009).

use super::{MergeOf, Next, PoolView, Scheme};

/// No logs.
pub struct InPlace;

impl Scheme for InPlace {
    fn next(&self, pool: &PoolView<'_>) -> Next {
        if let Some(next) = pool.in_place() {
            return next;
        }
        // A page ahead of all that are written: the block is filled up to it, and nothing is copied.
        let ahead = pool.data.filter(|&data| (pool.written)(data) < pool.offset);
        let is_merge = ahead.is_none() && pool.data.is_some();
        Next::Merge(MergeOf { block: pool.block, into: ahead, awaits: Some(pool.offset), is_merge })
    }
}
