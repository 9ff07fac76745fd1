//! What options of a job say that takes more than one of them to know.

use ninescope_model::units::{Bytes, Duration};

use crate::SizeRange;

/// What takes more than one option to know.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is an option of fio
pub struct Said {
    /// One size, of all directions or of each.
    pub bs: Option<SizeRange>,
    pub range: Option<SizeRange>,
    pub iodepth: u32,
    pub io_size: Option<u64>,
    pub number_ios: Option<u64>,
    pub runtime: Option<Duration>,
    pub time_based: bool,
    pub loops: u64,
    /// Of reads, writes and trims, [requests/s].
    pub rates: Option<[u64; 3]>,
    /// The same in bytes.
    pub byte_rates: Option<[u64; 3]>,
    /// How many of the reads, writes and trims jump [percent].
    pub jumps: Option<[u8; 3]>,
    pub norandommap: bool,
    pub lfsr: bool,
    /// Passes draw other numbers than the first.
    pub anew: bool,
    /// Each request is over when it is submitted.
    pub synchronous: bool,
    /// The smallest request of all directions, whether there are any of them or not.
    pub smallest: Bytes,
    pub thinking: Thinking,
}

/// The rests of a job.
#[derive(Default)]
pub struct Thinking {
    pub time: Option<Duration>,
    pub blocks: Option<u64>,
    /// What is issued is counted, not what completes.
    pub at_issue: bool,
}
