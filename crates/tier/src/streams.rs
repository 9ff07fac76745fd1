//! Reads that go on where one before them ended: what comes next of each of a few streams is worth fetching ahead.
//!
//! Knows nothing of slots, nor of what is above already.

use std::ops::Range;

/// Streams that are told apart [count].
const STREAMS: usize = 8;

/// A stream of reads.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The sector behind its last read.
    next: u64,
    /// The page behind those that were fetched ahead for it.
    fetched_to: u32,
    /// When it was used last.
    used: u64,
}

/// The streams used last.
#[derive(Clone, Debug)]
pub struct ReadStreams {
    streams: [Stream; STREAMS],
    reads: u64,
    /// Pages that are fetched ahead of a read.
    depth: u32,
    pages: u32,
    sectors_per_page: u32,
}

impl ReadStreams {
    /// None, on a drive of so many pages, `depth` of which are fetched ahead.
    pub fn new(depth: u32, pages: u32, sectors_per_page: u32) -> Self {
        Self { streams: [Stream::default(); STREAMS], reads: 0, depth, pages, sectors_per_page }
    }

    /// The host reads sectors. Returns the pages behind them that are to be fetched: none where it does not go on with a
    /// stream, and none twice for the same one.
    pub fn read(&mut self, lba: u64, sectors: u32) -> Range<u32> {
        self.reads += 1;
        let (end, used) = (lba + u64::from(sectors), self.reads);
        let behind = end.div_ceil(u64::from(self.sectors_per_page)) as u32;
        let goes_on = |stream: &&mut Stream| stream.used > 0 && stream.next == lba;
        if let Some(stream) = self.streams.iter_mut().find(goes_on) {
            let to = behind.saturating_add(self.depth).min(self.pages);
            let from = stream.fetched_to.max(behind).min(to);
            *stream = Stream { next: end, fetched_to: to, used };
            return from..to;
        }
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            *oldest = Stream { next: end, fetched_to: behind, used };
        }
        behind..behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_fetched_ahead_of_from_its_second_read_on() {
        let mut streams = ReadStreams::new(3, 100, 8);
        assert_eq!(streams.read(0, 8), 1..1, "who knows whether it goes on");
        assert_eq!(streams.read(8, 8), 2..5);
        assert_eq!(streams.read(16, 8), 5..6, "each page once");
        assert_eq!(streams.read(24, 4), 6..7, "a read that ends within a page");
        assert_eq!(streams.read(28, 4), 7..7);
        assert_eq!(streams.read(96, 8), 13..13, "another one");
        assert_eq!(streams.read(32, 8), 7..8, "the first goes on");
    }

    #[test]
    fn nothing_is_fetched_beyond_the_end() {
        let mut streams = ReadStreams::new(4, 10, 8);
        streams.read(48, 8);
        assert_eq!(streams.read(56, 8), 8..10);
        assert_eq!(streams.read(64, 8), 10..10);
    }

    #[test]
    fn eight_streams_are_told_apart() {
        let mut streams = ReadStreams::new(1, 10_000, 8);
        for stream in 0..9 {
            streams.read(stream * 1_000, 8);
        }
        assert_eq!(streams.read(8, 8), 2..2, "the first was forgotten for the ninth");
        assert_eq!(streams.read(2_008, 8), 252..253, "the third was not, and the second was for the first");
    }
}
