//! What a die works on: one command, in words that a reader understands.

use ninescope_engine::QueueClass;
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Occupancy, Source};

/// No request.
const NOBODY: u64 = u64::MAX;

/// The host requests that a command works for: the first four of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests([u64; 4]);

impl Default for Requests {
    fn default() -> Self {
        Self([NOBODY; 4])
    }
}

impl Requests {
    /// Adds one, if there is room and it is not there yet.
    pub fn add(&mut self, id: u64) {
        if let Some(place) = self.0.iter_mut().find(|place| **place == NOBODY || **place == id) {
            *place = id;
        }
    }

    /// Their numbers, in the order of adding.
    pub fn ids(&self) -> impl Iterator<Item = u64> + use<> {
        self.0.into_iter().take_while(|&id| id != NOBODY)
    }
}

/// One command on a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// What the die does for it.
    pub class: QueueClass,
    /// On whose behalf; of a page of a stripe that a rebuild wants, that of the rebuild.
    pub source: Source,
    /// Addressed planes: bit `p` is plane `p` of the die.
    pub planes: u8,
    /// Per plane: block index within the plane.
    pub block: [u32; 4],
    /// Page offset within each block; an erase has none.
    pub page: u32,
    /// The host requests it works for, as far as they are known.
    pub requests: Requests,
    /// Those of them whose own it is: they wait for it, or wrote last into a page that it programs out of a write buffer.
    pub own_of: Requests,
    /// Program pulses or erase loops, 1 for a read [count].
    pub segments: u32,
    /// Array time it needs [ns].
    pub total: Ns,
    /// How often it was suspended so far [count].
    pub suspensions: u32,
}

impl Work {
    /// A command that was just taken from its queue.
    pub fn of(
        command: &FlashCommand,
        (class, source): (QueueClass, Source),
        [requests, own_of]: [Requests; 2],
    ) -> Self {
        let FlashCommand { planes, block, .. } = *command;
        let page = command.first_page();
        Self { class, source, planes, block, page, requests, own_of, ..Self::default() }
    }

    /// What the die is occupied with while the array works or data moves.
    pub fn occupancy(&self) -> Occupancy {
        self.class.occupancy(self.source)
    }

    /// The blocks in the addressed planes, each named once.
    pub fn blocks(&self) -> Vec<u32> {
        let mut blocks: Vec<u32> =
            (0..4).filter(|plane| self.planes >> plane & 1 == 1).map(|plane| self.block[plane as usize]).collect();
        blocks.dedup();
        blocks
    }

    /// Its kind: "erase", "GC read".
    pub fn kind(&self) -> &'static str {
        match (self.class, self.source) {
            (QueueClass::HostRead, Source::ReadModifyWrite) => "read for a partial write",
            (QueueClass::HostRead | QueueClass::MoveRead, Source::Mapping) => "map read",
            (QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead, Source::Parity) => "stripe read",
            (QueueClass::HostRead, _) => "host read",
            (QueueClass::HostProgram, Source::Mapping) => "map program",
            (QueueClass::MoveRead, Source::Migration) => "migration read",
            (QueueClass::HostProgram, Source::Migration) => "migration program",
            (QueueClass::HostProgram | QueueClass::MoveProgram, Source::Parity) => "parity program",
            (QueueClass::MoveRead, Source::Rebuild) => "rebuild read",
            (_, Source::Rebuild) => "rebuild program",
            (QueueClass::HostProgram, _) => "host program",
            (QueueClass::MoveRead, _) => "GC read",
            (QueueClass::MoveProgram, _) => "GC program",
            (QueueClass::Erase, _) => "erase",
            (QueueClass::IdleRead, _) => "scrub read",
        }
    }

    /// One pulse or loop of it: "loop", "pulse"; `None` for reads, which have one.
    pub fn segment(&self) -> Option<&'static str> {
        match self.class {
            QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead => None,
            QueueClass::HostProgram | QueueClass::MoveProgram => Some("pulse"),
            QueueClass::Erase => Some("loop"),
        }
    }

    /// What it is and on what: "erase of block 17", "host read of request #12".
    pub fn title(&self) -> String {
        let ids: Vec<String> = self.requests.ids().map(|id| format!("#{id}")).collect();
        let kind = self.kind();
        match (self.class, ids.len()) {
            (QueueClass::HostRead, 1) => format!("{kind} of request {}", ids[0]),
            (QueueClass::HostRead, 2..) => format!("{kind} of requests {}", ids.join(", ")),
            _ => format!("{kind} of {}", self.place()),
        }
    }

    /// "block 17", "blocks 17, 18".
    fn place(&self) -> String {
        let blocks: Vec<String> = self.blocks().iter().map(ToString::to_string).collect();
        format!("block{} {}", if blocks.len() == 1 { "" } else { "s" }, blocks.join(", "))
    }

    /// The same, short: "erase block 17", "host read #12".
    pub fn name(&self) -> String {
        match (self.class, self.requests.ids().next()) {
            (QueueClass::HostRead, Some(id)) => format!("{} #{id}", self.kind()),
            _ => format!("{} {}", self.kind(), self.place()),
        }
    }

    /// The first and last of the loops or pulses (from 1) in which the array works between two amounts of pulse time.
    pub fn segments_between(&self, from: Ns, until: Ns) -> (u32, u32) {
        let (total, segments) = (u128::from(self.total.0.max(1)), u128::from(self.segments.max(1)));
        let first = (u128::from(from.0) * segments / total + 1).min(segments);
        let last = (u128::from(until.0) * segments).div_ceil(total).clamp(first, segments);
        (first as u32, last as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_counted_from_one_and_a_loop_cut_in_two_is_in_both_stretches() {
        let erase = Work { class: QueueClass::Erase, segments: 3, total: Ns(3_000), ..Work::default() };
        assert_eq!(erase.segments_between(Ns(0), Ns(3_000)), (1, 3));
        assert_eq!(erase.segments_between(Ns(0), Ns(2_000)), (1, 2));
        assert_eq!(erase.segments_between(Ns(2_000), Ns(3_000)), (3, 3));
        assert_eq!(erase.segments_between(Ns(0), Ns(1_500)), (1, 2));
        assert_eq!(erase.segments_between(Ns(1_500), Ns(1_600)), (2, 2));
        assert_eq!(Work::default().segments_between(Ns(0), Ns(0)), (1, 1), "no division by nothing");
    }

    #[test]
    fn a_command_is_called_by_what_a_reader_looks_for() {
        let mut requests = Requests::default();
        for id in [12, 12, 13] {
            requests.add(id);
        }
        let read = Work { planes: 1, requests, ..Work::default() };
        assert_eq!((read.title().as_str(), read.name().as_str()), ("host read of requests #12, #13", "host read #12"));
        let erase = Work { class: QueueClass::Erase, planes: 3, block: [17, 17, 0, 0], ..Work::default() };
        assert_eq!((erase.title().as_str(), erase.name().as_str()), ("erase of block 17", "erase block 17"));
        let spread = Work { block: [4, 9, 0, 0], ..erase };
        assert_eq!(spread.title(), "erase of blocks 4, 9");
    }
}
