//! The invariants by name.

use ninescope_engine::{SimulationError, Violation};
use ninescope_kernel::Ns;

macro_rules! rules {
    ($($variant:ident, $name:literal, $summary:literal;)+) => {
        /// An invariant. Its name is what a violation is called in messages, tests and kept worlds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $(#[doc = $summary] $variant,)+ }

        impl Rule {
            /// All invariants, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in messages.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What must hold, one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)+ }
            }
        }
    };
}

rules! {
    Time, "time", "Simulated time does not go back.";
    RequestLifecycle, "request-lifecycle",
        "Requests are taken in by number, and each completes exactly once, as the request it was.";
    RequestSplit, "request-split",
        "The commands of a request follow each other, none is larger than one may be, and the request is over with the last of them.";
    Interrupts, "interrupts",
        "Where completions are gathered, the host is told of all of a queue with the last of so many, or so long after the first of them, whichever is first.";
    Messages, "messages",
        "Where more than data crosses the link, entry, request for data and completion of a command come in that order, each takes the same time for all, and a command is told of with its completion; where reads leave whole, nothing crosses between the data of one.";
    HostQueues, "host-queues",
        "No queue of the host has more commands than entries, and no more in the drive than it may, and the drive reads as many of one queue at a time as it may, for as long as that takes.";
    Classes, "classes",
        "Where dies go by the classes of jobs, no read of another class is taken up while one of an urgent job waits on its die.";
    NonQueued, "non-queued",
        "On SATA a FLUSH has the drive for itself, as does a TRIM that is not queued, and no more than 32 commands are inside.";
    LaneDepth, "lane-depth",
        "No job has more requests inside the device than its depth, and its requests are counted as its own.";
    Limit, "limit",
        "Of a job that has a limit no more requests or bytes are taken in between any two times than that and what was saved up.";
    Attribution, "attribution", "The parts of a request sum to its latency.";
    Blame, "blame",
        "A wait is behind others for as long as others held the die or channel, and behind own parts for the rest; a request alone is behind no other. A page that a write buffer programs is the own of the write whose unit came last into it.";
    Tenants, "tenants",
        "Of a request of one of several tenants, what it waited behind tenants and the drive sums to its waits for dies and channels, and each of them worked for that holder for so long: for commands, for pages that move, for a map in flash, for garbage; places of the queue, slots and pages on their way behind a cache, and pages of a map that are to be written, are counted anew from what is seen.";
    Mapping, "mapping",
        "The map, the reverse map and the valid bits agree, and the map changes only as the events say.";
    ValidCount, "valid-count", "A group's valid count is the number of valid bits in it.";
    BlockPartition, "block-partition",
        "Every group is in exactly one state, and the free lists and frontiers hold those whose state says so.";
    ProgramOrder, "program-order",
        "Units of a group are handed out and its pages programmed in ascending order, once between erases.";
    StreamChannels, "stream-channels",
        "A kind of data that has channels of its own is written there unless all of them are full, and no plane that is full takes a unit.";
    Space, "space",
        "Host writes leave the reserve alone, and all free groups where collection is in the foreground until it has gained enough or finds nothing to do; no page goes into a write buffer that is full, or into a tenant's part of it that is.";
    Throttle, "throttle", "While little is free, a unit that the host writes is placed as long after the one before it as the throttle says.";
    Trims, "trims",
        "A TRIM takes its time for each entry of the map; where it is put off, its units stay in the map until they are written, the drive has rested for so long or collection goes on, as the drive says, and reads of them return until then what it says.";
    DriveErase, "drive-erase",
        "The drive is erased as a whole when nothing is under way, commands that came after that are aborted until it is over and nothing is done for the host, and nothing is held then; a format completes then.";
    BadBlocks, "bad-blocks",
        "No program goes to a block of which one failed or that is retired; a group is retired empty, for a failure or when it is worn out; the drive takes no more writes when a pool has too few groups, and not before.";
    Parity, "parity",
        "Each page of a stripe lies on the die whose turn it is, each whole stripe gets its parity once and behind its data, if it has any, and a group is erased on all of its dies.";
    DegradedRead, "degraded-read",
        "A page that no decoder makes good is found again by the rest of its parity stripe, all of which is read and none of which is erased; units are lost where another page of the stripe has lost the same ones, and what was found for the host or the scrubber is written anew.";
    FailedDie, "failed-die",
        "A die fails at its time when nothing of it is under way; what lay on it is read from no die until it is written again from the rest of its stripe, in time and no more of it at a time than is said, and nothing that can be is left.";
    WearLeveling, "wear-leveling",
        "After an erase the group makes way that the policy says, one of a pool at a time; its data goes to the most worn groups that are free, and no other data does.";
    Victim, "victim", "A group that is emptied for its space is one that the policy may choose.";
    Trigger, "trigger", "A group is emptied for its space when the trigger has it needed, put off or in the background as dies rest.";
    Forwarding, "forwarding",
        "A unit that waits for its program is answered by the controller, or its page is sensed on its die, as the drive was told; one that is programmed is read from the media.";
    ReadUnprogrammed, "read-unprogrammed", "Only programmed pages are read, but on drives whose dies sense what waits for its program.";
    EraseWithValidUnits, "erase-with-valid-units", "No group that holds valid units is erased.";
    EraseUnderRead, "erase-under-read", "No group is erased while a read of it is queued or running.";
    EraseUnderMove, "erase-under-move", "No group is erased while it is filled or moves into it have not ended.";
    DieDoubleBooked, "die-double-booked",
        "A die runs one command at a time, from its channel phase to its last byte; where planes read each by itself, each of them runs one read at a time, beside nothing but reads of other planes.";
    SecondRegister, "second-register",
        "A page that was sensed is in the second register of its planes from when another read of its die is taken up, moves there when that is sent, in time, and leaves from there before another one comes, and before the die does anything else.";
    OneShot, "one-shot",
        "Where the pages of a wordline are programmed in one go, a program is of whole wordlines that are full, in all planes of their frontiers, whose pages come one after the other in the time that takes; none is padded for which nobody waits.";
    BankDoubleBooked, "bank-double-booked",
        "A bank of storage-class memory runs one access at a time, from its first copy to its last byte.";
    ChannelDoubleBooked, "channel-double-booked", "A channel moves one transfer at a time.";
    LinkDoubleBooked, "link-double-booked", "The host link moves one transfer at a time in each direction.";
    PlanesTogether, "planes-together", "A command addresses planes of one group, at one page of one block unless the part takes others.";
    PulseTime, "pulse-time", "An operation gets exactly the array time it needs, however often it is suspended.";
    PageType, "page-type",
        "Where pages are given their places as they are touched, a page is of one type from its program, or from its first read, until its block is erased.";
    CopyPath, "copy-path",
        "What wear levelling copies is read, crosses its channel both ways unless the memory copies by itself, and is written, before its write.";
    SuspendOrder, "suspend-order",
        "A suspended operation recovers, waits, and is resumed exactly once; beside it only reads run, none of its cells.";
    Partition, "partition",
        "A unit of an address that has planes of its own lies there, as does a page of the map whose first unit it is, and no other unit does.";
    Namespace, "namespace",
        "What a job asks for lies in its namespace, and nothing is outside of all of them.";
    Streams, "streams",
        "A unit is written to and moved to the stream that the choice of streams says of it, or to the first one of moves where space is short.";
    SlcCache, "slc-cache",
        "A group holds one bit in a cell where the host filled it as one of those that may, no further than its pages reach; commands say of pages what they are, and nothing is moved there.";
    Copyback, "copyback",
        "A page that a die copies by itself is a whole one, goes to its own plane and over no channel, and was not copied so more often in a row than may be.";
    SectorMoves, "sector-moves",
        "What crosses a channel by sector are the sectors that were asked for, or that were written, and a rest that is read by sector has been used.";
    ReclaimUnits, "reclaim-units",
        "A reclaim unit holds what was written by one handle, or what was moved of one, or of several that are initially isolated; what is counted of handles is what was seen.";
    Zones, "zones",
        "A zone takes a command as its state and the limits allow, and says why it does not; it is written in order, each stripe in the next of its block groups, and erased after a reset alone; what a random write area takes is committed by whole granules, and read there until then.";
    BlockMap, "block-map",
        "In a map of blocks each page of a logical block lies at its place in the block that holds it, or in one of as many log blocks as there may be, and merges are counted as what they leave.";
    Wear, "wear", "Erase counts of the FTL and of the media are the erases seen.";
    Ledger, "ledger",
        "Counters are the numbers of the events they count; units programmed = host + map + moves + padding.";
    BusyTime, "busy-time",
        "Busy, overhead, waiting and idle time of each die, channel and link direction sum to the time that passed.";
    LittlesLaw, "littles-law", "The integral of the commands inside the device is the sum of their times in it.";
    StaleData, "stale-data", "What reads return is linearizable with the writes and TRIMs that overlap them.";
    MisdirectedData, "misdirected-data", "A read returns content of the unit it asked for.";
    LostData, "lost-data",
        "A request completes when all its units are read, written or forgotten, and moves carry the unit's content.";
    FlushDurability, "flush-durability", "When a FLUSH completes, everything written before it is on the media.";
    WriteDurability, "write-durability",
        "Without a write buffer a write completes when all its units are on the media.";
    FuaDurability, "fua-durability", "When a write that asks for it completes, what it wrote is on the media, or in memory that keeps it.";
    SlotPartition, "slot-partition",
        "A slot is free, holds one page or waits for its last reads; a page has one slot at most, and is written there.";
    SlotPart, "slot-part", "A page gets a slot of the part of a tenant that asked for it.";
    BackPressure, "back-pressure", "Writes are taken into a cache in the order of coming, and when its policy says.";
    SlotMasks, "slot-masks",
        "Valid and dirty masks say what the sectors of a slot hold; only valid sectors are dirty, none is filled over.";
    CleanCopy, "clean-copy", "A sector that is valid and clean above is what the medium below holds.";
    BelowForgotten, "below-forgotten",
        "Flash forgets a page when all of its sectors are dirty above, and only then.";
    MigrationOrder, "migration-order",
        "A migration reads before it writes, ends once, on its medium or void, and no more are under way than may be; \
         whoever is to wait for one does.";
    DecoderDoubleBooked, "decoder-double-booked",
        "A decoder works on one access at a time, the first to arrive first, for the time its codewords take.";
    PageDecoded, "page-decoded",
        "A page that is read goes through a decoder before anybody gets it; one that fails is read again, fetched or given up.";
    ErrorRates, "error-rates",
        "The errors of a page are drawn by what the model says of its block's cycles, reads and age at its temperatures, times the factors of page and block, or said when reads and age were less by a 64th at most.";
    EncodeTime, "encode-time", "Programs and writes under a code begin when their data are encoded.";
    CorruptPassed, "corrupt-passed",
        "Units become corrupt at their times and stay so until they are erased; no read takes one for good that its code could not correct.";
    DirtyUnderDetection, "dirty-under-detection",
        "Where clean data is kept apart, its groups hold clean units alone, so that no dirty one is under a code that only detects.";
    CopyBehind, "copy-behind",
        "The store behind the drive holds what a clean unit holds, and what is fetched is what the unit held.";
    MapCache, "map-cache",
        "Of a map that lies in flash an entry is in memory from when its page was read until it is the one used longest ago; no command reads or writes a unit before its entry is.";
    MapWritten, "map-written",
        "What changed of a map that lies in flash is in memory or is to be written; its pages lie apart, and are read where they lie.";
    MapPrograms, "map-programs",
        "Where programs wait for a map that lies in flash, what was written while its page of the map was read is programmed when that has come.";
    MapLink, "map-link",
        "What is fetched of the host's memory comes to the link when it is there, what was asked for and no more, and is used when it has crossed.";
    MapFirst, "map-first",
        "Where a die reads pages of a map in flash first, it reads nothing else that commands wait for while one waits.";
    MapLost, "map-lost",
        "A page of a map that lies in flash that cannot be corrected is used by nobody before it was found again, and is written anew.";
    DramBus, "dram-bus",
        "The bus of DRAM carries one access at a time, the first asked for first, at once where it is free, and each for as long as its rows and bytes take.";
    DramAccount, "dram-account",
        "What goes through DRAM is what commands read, write and look up and what programs take from there, once; how long a request was there is told.";
    FirmwareCores, "firmware-cores",
        "A core of the firmware makes one decision at a time, the first asked for first, at once where a core for it is free, and each for as long as its cycles take.";
    FirmwareAccount, "firmware-account",
        "What commands ask for, their units, page accesses, victims and moves are each decided once, before they go on; how long a request waited for that is told.";
    Energy, "energy",
        "The energy that is told of each part and cause is what that draws for as long as it works, for the bytes it moves and the time that passes, and the peak is the most of any window.";
    PowerCap, "power-cap",
        "Commands of dies that are under way draw no more together than may be drawn beside what the drive draws at rest; a die waits for power only while too little is left of it or others wait, and the first come goes first.";
    PowerStates, "power-states",
        "A drive rests when no command is inside and nothing works, and goes into a state of less power for as long as it rests behind that; a command that comes meanwhile waits until the state is entered and left, is served no earlier and says so; times in states are those that are told.";
    Heat, "heat",
        "A drive is as warm at the end of each window as what it drew leads to by its resistance and time constant; it is in the steps of its throttle that follow from that, says so before a die asks for power and at once while one waits, and what it may draw goes by them; temperatures and times that are told are those.";
    Damage, "damage", "Lost and wrong are the units that a failed read of the drive's own left so, until they are written anew.";
    UnreportedDamage, "unreported-damage",
        "A read of what is lost says so, a read of what is wrong is counted as such, and no other.";
    ScrubCoverage, "scrub-coverage",
        "A pass of the scrubber reads every page it is there for and no other, and no more at a time than may be.";
    Refresh, "refresh", "Groups that are due are asked for once, by their reads or age, and are emptied.";
    Leftover, "leftover", "At the end nothing is outstanding.";
}

impl Rule {
    /// The error that ends the run.
    #[cold]
    pub fn violated(self, at: Ns, what: String) -> SimulationError {
        SimulationError::Violation(Box::new(Violation { at, rule: self.name(), what }))
    }
}

/// Ends the run unless `condition` holds. The words are only put together when it does not.
macro_rules! require {
    ($condition:expr, $rule:ident, $at:expr, $($words:tt)+) => {
        if !$condition {
            return Err($crate::rule::Rule::$rule.violated($at, format!($($words)+)));
        }
    };
}
pub(crate) use require;

/// What every check returns.
pub(crate) type Checked = Result<(), SimulationError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
