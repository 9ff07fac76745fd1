//! Orders of `0..len` that look drawn at random, as many as there are keys: what a random map comes to.

/// A permutation of `0..len` without a table. Each round (a keyed addition, an odd multiplication, an xor-shift by half
/// the bits) permutes the next power of two; values outside `0..len` are mapped again until they fall inside, fewer than
/// two times on average. Three rounds leave neighbours related, as a test shows; six do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    len: u64,
    mask: u64,
    shift: u32,
    key: u64,
}

const MULTIPLIERS: [u64; 6] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xff51_afd7_ed55_8ccd,
    0xc4ce_b9fe_1a85_ec53,
    0xd6e8_feb8_6659_fd93,
];

impl Order {
    /// The order of `0..len` that a key gives, `len` positive and at most 2^63.
    pub fn new(len: u64, key: u64) -> Self {
        let bits = len.next_power_of_two().trailing_zeros().max(1);
        Self { len, mask: (1 << bits) - 1, shift: bits.div_ceil(2), key }
    }

    /// What comes at `index` (below `len`).
    #[inline]
    pub fn at(self, index: u64) -> u64 {
        let mut value = index;
        loop {
            let mut added = self.key;
            for multiplier in MULTIPLIERS {
                value = value.wrapping_add(added).wrapping_mul(multiplier) & self.mask;
                value ^= value >> self.shift;
                added = added.rotate_left(11) ^ multiplier;
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
    fn each_key_gives_an_order_of_every_length() {
        for len in (1..130).chain([1000, 4096, 4097]) {
            for key in [0, 1, 0xdead_beef, u64::MAX] {
                let mut all: Vec<u64> = (0..len).map(|index| Order::new(len, key).at(index)).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..len), "length {len}, key {key:x}");
            }
        }
    }

    #[test]
    fn orders_of_two_keys_have_nothing_in_common() {
        let (one, other) = (Order::new(10_000, 1), Order::new(10_000, 2));
        let alike = (0..10_000).filter(|&index| one.at(index) == other.at(index)).count();
        // Two random orders agree in one place on average, whatever their length.
        assert!(alike < 10, "{alike}");
    }
}
