//! What crosses the link for each command beside data, and how long it is.

/// What a packet has beside what it carries [B]: a header of four words, its digest, a sequence number, a checksum and framing
/// (PCI Express Base Specification, transaction and data link layer).
const PACKET: u64 = 16 + 4 + 2 + 4 + 2;
/// An entry of a queue of submissions, and of completions [B] (NVM Express Base Specification).
const SUBMISSION: u64 = 64;
const COMPLETION: u64 = 16;

/// What crosses the link for a command beside data, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkMessage {
    /// The drive asks for the entry of a queue.
    EntryRequest,
    /// The entry comes.
    Entry,
    /// The drive asks for what is written.
    DataRequest,
    /// The command is done.
    Completion,
}

impl LinkMessage {
    /// How long it is on the link [B].
    pub fn bytes(self) -> u64 {
        match self {
            Self::EntryRequest | Self::DataRequest => PACKET,
            Self::Entry => PACKET + SUBMISSION,
            Self::Completion => PACKET + COMPLETION,
        }
    }
}
