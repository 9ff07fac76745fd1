//! The run digest: one number that says whether two runs did the same things at the same times.

/// A rolling, order-sensitive 128-bit hash of what a device did. Not cryptographic.
///
/// Two lanes with different odd multipliers, each a multiply and a rotate per word: about a
/// nanosecond, identical on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunDigest {
    lanes: [u64; 2],
}

impl Default for RunDigest {
    fn default() -> Self {
        Self { lanes: [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f] }
    }
}

impl RunDigest {
    /// Takes one word in.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.lanes[0] = (self.lanes[0] ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
        self.lanes[1] = (self.lanes[1] ^ word).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(37);
    }

    /// The digest so far as 32 hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        format!("{:016x}{:016x}", self.lanes[0], self.lanes[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_value_both_count() {
        let digest = |words: &[u64]| {
            let mut digest = RunDigest::default();
            for &word in words {
                digest.word(word);
            }
            digest.to_hex()
        };
        assert_eq!(digest(&[1, 2]), digest(&[1, 2]));
        assert_ne!(digest(&[1, 2]), digest(&[2, 1]));
        assert_ne!(digest(&[1, 2]), digest(&[1, 2, 0]));
    }
}
