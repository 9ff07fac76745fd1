//! From commands to transactions and back: reads, writes, programs, garbage collection, flushes.
//!
//! Here the FTL's answers become page accesses, and the ends of page accesses are reported to the FTL.

mod clean;
mod flush;
mod gc;
mod program;
mod read;
mod reliability;
mod scm_only;
mod tier;
mod write;

use ninescope_kernel::{NONE, Ns};
use ninescope_model::{BlockGroup, Lpa, Pool, Stream};

use crate::device::Device;
use crate::kind::Kind;

pub use clean::FlushRead;
pub use flush::FlushEpochs;
pub use gc::GcJob;
pub use program::{OpenStripe, PageDeadline};
pub use write::WriteEntry;

impl<K: Kind> Device<K> {
    /// The mapping unit that holds a sector.
    #[inline]
    pub(crate) fn unit_of(&self, lba: u64) -> Lpa {
        // `sectors_per_unit` is a power of two, and the address was checked against the drive.
        Lpa((lba >> self.geometry.sectors_per_unit().trailing_zeros()) as u32)
    }

    /// The streams that take what the host writes.
    pub(crate) fn host_streams(knows_clean: bool) -> &'static [Stream] {
        if knows_clean { &[Stream::HOST, Stream::CLEAN] } else { &[Stream::HOST] }
    }

    /// Index of a pool's stream in `stripes`.
    #[inline]
    pub(crate) fn stripe_index(pool: Pool, stream: Stream) -> usize {
        pool.index() * Stream::ALL.len() + stream.index()
    }
}

impl Default for PageDeadline {
    fn default() -> Self {
        Self { at: Ns::NEVER, pool: Pool(0), stream: Stream::HOST, group: BlockGroup(NONE), page_end: 0 }
    }
}
