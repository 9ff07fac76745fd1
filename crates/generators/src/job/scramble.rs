//! A fixed permutation of `0..len` that looks random.

/// Spreads the ranks of a skewed law over the address space, so that hot blocks are not neighbours.
///
/// The same for every seed: which addresses are hot is a property of the job, not of the run. Each round
/// (odd multiplication, then xor-shift) permutes the next power of two; values outside `0..len` are mapped
/// again until they fall inside ("cycle walking"), fewer than two times on average.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scramble {
    len: u64,
    mask: u64,
    shift: u32,
}

const MULTIPLIERS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl Scramble {
    /// The permutation of `0..len`, `len` positive and at most 2^63.
    pub fn new(len: u64) -> Self {
        let bits = len.next_power_of_two().trailing_zeros().max(1);
        Self { len, mask: (1 << bits) - 1, shift: bits.div_ceil(2) }
    }

    /// Where `rank` (below `len`) goes.
    #[inline]
    pub fn apply(self, rank: u64) -> u64 {
        let mut value = rank;
        loop {
            for multiplier in MULTIPLIERS {
                // The added constant keeps rank 0, the hottest, from staying at the region's beginning.
                value = value.wrapping_add(multiplier >> 7).wrapping_mul(multiplier) & self.mask;
                value ^= value >> self.shift;
            }
            if value < self.len {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_permutation_of_every_length() {
        for len in (1..200).chain([1000, 4096, 5000, 65_537]) {
            let scramble = Scramble::new(len);
            let mut images: Vec<u64> = (0..len).map(|rank| scramble.apply(rank)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..len), "length {len}");
        }
    }

    #[test]
    fn neighbours_are_spread_evenly() {
        let scramble = Scramble::new(1_000_000);
        let mut counts = [0_u32; 100];
        (0..10_000).for_each(|rank| counts[(scramble.apply(rank) / 10_000) as usize] += 1);
        // Each tenth of a thousandth expects 100 with a standard deviation of 10.
        assert!(counts.iter().all(|&count| (50..150).contains(&count)), "{counts:?}");
    }
}
