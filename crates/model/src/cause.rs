//! Why time passes: what occupies a die, and what a request waits for.

/// What a die (or an SCM bank) is doing. Every nanosecond lies in exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Occupancy {
    /// Nothing.
    Idle,
    /// An operation holds the die and waits for its channel.
    WaitingForChannel,
    /// A host read: command, array and data out.
    HostRead,
    /// A host program: command, data in and array.
    HostProgram,
    /// A read that garbage collection asked for.
    GcRead,
    /// A program that garbage collection asked for.
    GcProgram,
    /// An erase.
    Erase,
    /// Recovery after a suspend and the ramp before a resume.
    SuspendOverhead,
    /// Data moving between tiers.
    Migration,
    /// Reads and programs of the mapping table.
    Mapping,
    /// Scrubbing and refresh.
    Scrub,
    /// Wear levelling.
    WearLeveling,
    /// Programs of parity over dies, and reads of a stripe for a page that could not be corrected.
    Parity,
    /// Reads and programs of a rebuild, which writes again what lay on a die that failed.
    Rebuild,
    /// Nothing: what it would do next would draw more power than may be drawn.
    WaitingForPower,
    /// The same while the drive is hot, and less may be drawn because of that.
    ThrottledByHeat,
}

/// Number of occupancies: lanes of a die's ledger.
pub const OCCUPANCIES: usize = 16;

/// What a nanosecond of a request's latency was spent on. The first [`OCCUPANCIES`] say what held the
/// die while the request waited in its queue; the others are the request's own stages and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The die was idle while the request waited (a scheduler that holds work back).
    DieIdle,
    /// The die waited for its channel on behalf of another operation.
    DieWaitingForChannel,
    /// The die ran a read of another host request.
    DieHostRead,
    /// The die programmed what another host request wrote.
    DieHostProgram,
    /// The die ran a read for garbage collection.
    DieGcRead,
    /// The die ran a program for garbage collection.
    DieGcProgram,
    /// The die ran an erase.
    DieErase,
    /// The die recovered from a suspend or ramped up to a resume.
    DieSuspendOverhead,
    /// The die moved data between tiers.
    DieMigration,
    /// The die accessed the mapping table.
    DieMapping,
    /// The die scrubbed.
    DieScrub,
    /// The die levelled wear.
    DieWearLeveling,
    /// The die programmed parity of other dies' pages, or read for one of those that could not be corrected.
    DieParity,
    /// The die read or programmed for a rebuild of a die that failed.
    DieRebuild,
    /// The die waited until there was power for what it was to do.
    DieWaitingForPower,
    /// The die waited for that while the drive was hot.
    DieThrottledByHeat,
    /// Queued in the host, because the device held `queue_depth` commands or fetched others.
    HostQueue,
    /// The controller's per-command cost and the wait for it.
    CommandProcessing,
    /// The host link: transfer and the wait for it.
    Link,
    /// No free page that host writes may take.
    AllocationStall,
    /// Too many filled pages not yet programmed.
    BufferStall,
    /// Waiting for an earlier command.
    Ordering,
    /// Reading the mapping table.
    MappingRead,
    /// Reading the rest of a unit that is written in part.
    ReadModifyWrite,
    /// The channel was busy with something else than the request itself.
    Channel,
    /// Command and address cycles and the array operation.
    CommandArray,
    /// Data transfer on the channel.
    Transfer,
    /// The decoder was busy.
    DecoderWait,
    /// Decoding.
    Decode,
    /// Read retries.
    Retry,
    /// Fetching lost data from elsewhere.
    Refetch,
    /// Waiting for buffered data to be programmed (FLUSH, or writes that complete at program end).
    ProgramWait,
    /// Waiting for a migration: for a slot that one frees, or for one that the request caused.
    MigrationWait,
    /// Encoding.
    Encode,
    /// Another part of the same request had its die or its channel: the request has more parts than may run at once.
    OwnParts,
    /// The controller's DRAM: accesses to it and the wait for its bus.
    Dram,
    /// Completed, and the host was not told: completions are gathered.
    Interrupt,
    /// The controller reads the command out of the host's queue.
    Fetch,
    /// A decision of the firmware, and the wait for a core to make it.
    Firmware,
    /// A program failed, of what the request wrote or of something before it in its block: the time until it was queued again.
    ProgramFailure,
    /// Reading the other pages of a parity stripe, for one that could not be corrected.
    DegradedRead,
    /// The drive left a state of less power, into which it had gone because it had nothing to do.
    Waking,
}

/// Number of causes: lanes of a request's parts.
pub const CAUSES: usize = 42;

impl Occupancy {
    /// All occupancies, in lane order.
    pub const ALL: [Self; OCCUPANCIES] = [
        Self::Idle,
        Self::WaitingForChannel,
        Self::HostRead,
        Self::HostProgram,
        Self::GcRead,
        Self::GcProgram,
        Self::Erase,
        Self::SuspendOverhead,
        Self::Migration,
        Self::Mapping,
        Self::Scrub,
        Self::WearLeveling,
        Self::Parity,
        Self::Rebuild,
        Self::WaitingForPower,
        Self::ThrottledByHeat,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::WaitingForChannel => "waiting_for_channel",
            Self::HostRead => "host_read",
            Self::HostProgram => "host_program",
            Self::GcRead => "gc_read",
            Self::GcProgram => "gc_program",
            Self::Erase => "erase",
            Self::SuspendOverhead => "suspend_overhead",
            Self::Migration => "migration",
            Self::Mapping => "mapping",
            Self::Scrub => "scrub",
            Self::WearLeveling => "wear_leveling",
            Self::Parity => "parity",
            Self::Rebuild => "rebuild",
            Self::WaitingForPower => "waiting_for_power",
            Self::ThrottledByHeat => "throttled_by_heat",
        }
    }
}

impl Cause {
    /// All causes, in lane order.
    pub const ALL: [Self; CAUSES] = [
        Self::DieIdle,
        Self::DieWaitingForChannel,
        Self::DieHostRead,
        Self::DieHostProgram,
        Self::DieGcRead,
        Self::DieGcProgram,
        Self::DieErase,
        Self::DieSuspendOverhead,
        Self::DieMigration,
        Self::DieMapping,
        Self::DieScrub,
        Self::DieWearLeveling,
        Self::DieParity,
        Self::DieRebuild,
        Self::DieWaitingForPower,
        Self::DieThrottledByHeat,
        Self::HostQueue,
        Self::CommandProcessing,
        Self::Link,
        Self::AllocationStall,
        Self::BufferStall,
        Self::Ordering,
        Self::MappingRead,
        Self::ReadModifyWrite,
        Self::Channel,
        Self::CommandArray,
        Self::Transfer,
        Self::DecoderWait,
        Self::Decode,
        Self::Retry,
        Self::Refetch,
        Self::ProgramWait,
        Self::MigrationWait,
        Self::Encode,
        Self::OwnParts,
        Self::Dram,
        Self::Interrupt,
        Self::Fetch,
        Self::Firmware,
        Self::ProgramFailure,
        Self::DegradedRead,
        Self::Waking,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DieIdle => "die_idle",
            Self::DieWaitingForChannel => "die_waiting_for_channel",
            Self::DieHostRead => "die_host_read",
            Self::DieHostProgram => "die_host_program",
            Self::DieGcRead => "die_gc_read",
            Self::DieGcProgram => "die_gc_program",
            Self::DieErase => "die_erase",
            Self::DieSuspendOverhead => "die_suspend_overhead",
            Self::DieMigration => "die_migration",
            Self::DieMapping => "die_mapping",
            Self::DieScrub => "die_scrub",
            Self::DieWearLeveling => "die_wear_leveling",
            Self::DieParity => "die_parity",
            Self::DieRebuild => "die_rebuild",
            Self::DieWaitingForPower => "die_waiting_for_power",
            Self::DieThrottledByHeat => "die_throttled_by_heat",
            Self::HostQueue => "host_queue",
            Self::CommandProcessing => "command_processing",
            Self::Link => "link",
            Self::AllocationStall => "allocation_stall",
            Self::BufferStall => "buffer_stall",
            Self::Ordering => "ordering",
            Self::MappingRead => "mapping_read",
            Self::ReadModifyWrite => "read_modify_write",
            Self::Channel => "channel",
            Self::CommandArray => "command_array",
            Self::Transfer => "transfer",
            Self::DecoderWait => "decoder_wait",
            Self::Decode => "decode",
            Self::Retry => "retry",
            Self::Refetch => "refetch",
            Self::ProgramWait => "program_wait",
            Self::MigrationWait => "migration_wait",
            Self::Encode => "encode",
            Self::OwnParts => "own_parts",
            Self::Dram => "dram",
            Self::Interrupt => "interrupt",
            Self::Fetch => "fetch",
            Self::Firmware => "firmware",
            Self::ProgramFailure => "program_failure",
            Self::DegradedRead => "degraded_read",
            Self::Waking => "waking",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_numbered_in_order_and_die_causes_mirror_the_occupancies() {
        for (lane, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, lane);
        }
        for (lane, occupancy) in Occupancy::ALL.iter().enumerate() {
            assert_eq!(*occupancy as usize, lane);
            assert_eq!(Cause::ALL[lane].name(), format!("die_{}", occupancy.name()));
        }
    }
}
