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

    /// The digest of a text: its length, then its bytes, eight in a word.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let mut digest = Self::default();
        digest.word(text.len() as u64);
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            digest.word(u64::from_le_bytes(word));
        }
        digest
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
