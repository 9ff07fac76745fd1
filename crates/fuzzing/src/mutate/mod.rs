//! Making new inputs from old ones: changes of bytes and lines, and changes that know a grammar.
//!
//! `bytes` knows lines, numbers and bits; `document` knows trees (JSON, and TOML through the same tree);
//! `archive` reaches through compression, `snapshot` through checksums. All draw from one [`Rng`], so that a number names a case.

mod archive;
mod bytes;
mod document;
mod snapshot;

use ninescope_kernel::RandomStream;

pub use archive::archive;
pub use bytes::trace;
pub use document::{json, toml};
pub use snapshot::snapshot;

/// The choices of a mutation.
pub struct Rng(RandomStream);

impl Rng {
    /// Choices drawn from `stream`.
    pub fn new(stream: RandomStream) -> Self {
        Self(stream)
    }

    /// The choices of a fuzzer that hands out seeds.
    pub fn of_seed(seed: u32) -> Self {
        Self(RandomStream::new(u64::from(seed), "fuzzing", "mutation"))
    }

    /// A number below `bound`; zero where there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound.max(1) as u64) as usize
    }

    /// One of `all`.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Yes in one of `chances` cases.
    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }
}
