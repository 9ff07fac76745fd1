//! The checksum CRC-32 (IEEE 802.3), from a library.

/// Detects errors with 32 bits of parity.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrcCodec;

impl CrcCodec {
    /// The checksum of user data.
    pub fn encode(self, user: &[u8]) -> u32 {
        crc32fast::hash(user)
    }

    /// Whether user data and checksum fit; errors that both agree on pass.
    pub fn passes(self, user: &[u8], checksum: u32) -> bool {
        self.encode(user) == checksum
    }
}
