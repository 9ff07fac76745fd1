//! How many page reads took how many attempts, by the age of what they read and by the wear of where it lay.
//!
//! A read counts when it is sensed for the last time: its age is that which error models and tables of attempts see then.

use ninescope_kernel::Ns;

use crate::policies::read_retry::ATTEMPTS_MAX;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// From which age on a class is, up to that of the next one [ns].
pub const AGES: [Ns; 12] = [
    Ns(0),
    Ns(SECOND),
    Ns(60 * SECOND),
    Ns(3_600 * SECOND),
    Ns(DAY),
    Ns(7 * DAY),
    Ns(30 * DAY),
    Ns(90 * DAY),
    Ns(180 * DAY),
    Ns(365 * DAY),
    Ns(1_095 * DAY),
    Ns(3_650 * DAY),
];

/// From how many P/E cycles on a class is, up to those of the next one [count].
pub const CYCLES: [u32; 12] = [0, 1, 10, 100, 300, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000];

/// The reads of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadsOfClass {
    /// By how often they were read again [count].
    pub by_attempts: [u64; ATTEMPTS_MAX + 1],
    /// Those of them that did not decode at last [count].
    pub undecoded: u64,
    /// All their ages, or P/E cycles, in sum [ns or count].
    pub sum: u128,
}

impl ReadsOfClass {
    const NONE: Self = Self { by_attempts: [0; ATTEMPTS_MAX + 1], undecoded: 0, sum: 0 };

    fn count(&mut self, (of, attempts): (u64, u8), decoded: bool) {
        self.by_attempts[usize::from(attempts).min(ATTEMPTS_MAX)] += 1;
        self.undecoded += u64::from(!decoded);
        self.sum += u128::from(of);
    }

    /// All of them [count].
    pub fn reads(&self) -> u64 {
        self.by_attempts.iter().sum()
    }

    /// Attempts to read again, of all of them [count].
    pub fn retries(&self) -> u64 {
        self.by_attempts.iter().zip(0..).map(|(reads, attempts)| reads * attempts).sum()
    }
}

/// The reads of all classes since measuring began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadsByAge {
    /// As [`AGES`] are.
    pub by_age: Box<[ReadsOfClass]>,
    /// As [`CYCLES`] are.
    pub by_wear: Box<[ReadsOfClass]>,
}

impl Default for ReadsByAge {
    fn default() -> Self {
        let none = || vec![ReadsOfClass::NONE; AGES.len()].into_boxed_slice();
        Self { by_age: none(), by_wear: none() }
    }
}

impl ReadsByAge {
    /// A read of data of that age, of a block of so many cycles, was sensed for the last time, after so many attempts.
    pub(super) fn count(&mut self, (cycles, age): (u32, Ns), attempts: u8, decoded: bool) {
        // The first class begins at zero.
        let of_age = AGES.partition_point(|&from| from <= age) - 1;
        let of_wear = CYCLES.partition_point(|&from| from <= cycles) - 1;
        self.by_age[of_age].count((age.0, attempts), decoded);
        self.by_wear[of_wear].count((u64::from(cycles), attempts), decoded);
    }

    /// Counts from now on.
    pub(super) fn clear(&mut self) {
        self.by_age.iter_mut().chain(&mut self.by_wear).for_each(|class| *class = ReadsOfClass::NONE);
    }
}
