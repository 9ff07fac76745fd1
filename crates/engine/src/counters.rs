//! Mechanisms counted: each modelled mechanism has a counter that rises when it acts.

use serde::Serialize;

/// Counts since the last warm-up end; each is a number of events unless its name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EngineCounters {
    /// Read commands issued to dies.
    pub read_commands: u64,
    /// Program commands issued to dies.
    pub program_commands: u64,
    /// Erase commands issued to dies.
    pub erase_commands: u64,
    /// Read commands to more than one plane.
    pub multi_plane_reads: u64,
    /// Reads that a plane began by itself while another plane of its die was at one.
    pub reads_beside_reads: u64,
    /// Reads whose page left its die while the next one was sensed.
    pub cached_reads: u64,
    /// Program commands to more than one plane.
    pub multi_plane_programs: u64,
    /// Program commands of all pages of a wordline in each plane.
    pub one_shot_programs: u64,
    /// Erase commands to more than one plane.
    pub multi_plane_erases: u64,
    /// Pages read for the host.
    pub host_page_reads: u64,
    /// Pages read for garbage collection.
    pub gc_page_reads: u64,
    /// Pages read to complete a unit that is written in part.
    pub read_modify_write_reads: u64,
    /// Pages read to complete pages that go down from a tier above, or to complete one above.
    pub migration_page_reads: u64,
    /// Pages read that hold a page of the map.
    pub map_page_reads: u64,
    /// Pages programmed for the host.
    pub host_page_programs: u64,
    /// Pages programmed that came down from a tier above.
    pub migration_page_programs: u64,
    /// Pages programmed that hold pages of the map.
    pub map_page_programs: u64,
    /// Pages programmed for garbage collection.
    pub gc_page_programs: u64,
    /// Pages programmed that hold parity of other dies' pages.
    pub parity_page_programs: u64,
    /// Pages programmed that lay on a die that failed, on the one that stands for it.
    pub rebuild_page_programs: u64,
    /// Sectors of the host in units that got a place in flash: with what such a unit holds besides, they are programmed.
    pub host_sectors_placed: u64,
    /// Those of the pages programmed for garbage collection that dies copied by themselves: they crossed no channel, and are not
    /// among the pages read.
    pub copybacks: u64,
    /// Pages that garbage collection moved through the controller because they had been copied as often in a row as may be.
    pub copybacks_at_limit: u64,
    /// Programs of what the host wrote that waited for entries of the map that were read beside it, or behind such a program.
    pub held_programs: u64,
    /// Block groups erased.
    pub group_erases: u64,
    /// Units read from the controller's copy, because their page was not yet programmed.
    pub forwarded_units: u64,
    /// Units of host reads whose page was sensed on its die although it was not programmed yet [count].
    pub sensed_while_waiting: u64,
    /// Units read that were never written (answered with zeros).
    pub unmapped_units: u64,
    /// Partly written units whose rest was still in the controller.
    pub read_modify_write_forwarded: u64,
    /// Partly written units that had never been written.
    pub read_modify_write_unmapped: u64,
    /// Partly written units read again, because they lay elsewhere by then: another write changed them, or
    /// garbage collection moved them.
    pub read_modify_write_repeated: u64,
    /// Waits of host writes for a free page; one of several units may wait more than once.
    pub allocation_stalls: u64,
    /// Waits of host writes for room in the write buffer; one of several units may wait more than once.
    pub buffer_stalls: u64,
    /// Those of them for room in a part of it that is a tenant's own, or is left for others.
    pub part_stalls: u64,
    /// Pages padded because a FLUSH, a timeout or the absence of a write buffer sent them out.
    pub padded_pages: u64,
    /// Pages padded because of `page_timeout`.
    pub page_timeouts: u64,
    /// Pages of moves padded because no victim was left to fill them.
    pub gc_padded_pages: u64,
    /// Pages of nothing but padding that were programmed, of the host's or of moves, because their wordline is programmed in one go.
    pub wordline_padding_pages: u64,
    /// Erases that waited for reads queued on their group.
    pub erases_delayed_by_readers: u64,
    /// Pages that were programmed again elsewhere, because their program had failed or was to be in a block after one that had.
    pub pages_programmed_again: u64,
    /// Pages that have no place to be programmed again, and stay in the controller.
    pub pages_kept: u64,
    /// Commands of the host that answer with an error, because the drive takes no more writes.
    pub refused_commands: u64,
    /// Times the drive was erased as a whole: formatted or sanitized.
    pub whole_erases: u64,
    /// How long that took, from when nothing was under way any more [ns].
    pub whole_erase_ns: u64,
    /// Commands of the host that were aborted meanwhile.
    pub aborted_commands: u64,
    /// Times a die came to rest, where the trigger of garbage collection goes by that.
    pub die_rests: u64,
    /// Times garbage collection had been put off for long enough.
    pub overdue_collections: u64,
    /// Units of the host after which the next one was held back, or would have been, because little was free.
    pub throttled_units: u64,
    /// Erases and programs suspended.
    pub suspends: u64,
    /// Erase loops that were stopped and have to begin anew.
    pub loops_restarted: u64,
    /// Suspended operations resumed.
    pub resumes: u64,
    /// Sectors of TRIM commands that cover a unit only in part and were ignored.
    pub trim_sectors_ignored: u64,
    /// Units of TRIMs that were noted, to be forgotten later.
    pub deferred_trims: u64,
    /// Of these, those that were forgotten while the host left the drive in peace.
    pub trims_at_rest: u64,
    /// Those that were forgotten so that garbage collection knew of them.
    pub trims_before_collection: u64,
    /// Those that were forgotten because they were written.
    pub trims_before_writes: u64,
    /// Units that garbage collection moved although they were trimmed.
    pub trimmed_units_moved: u64,
    /// Accesses that a die took up before others that had waited longer, because of the class of the job that they are for.
    pub class_passes: u64,
    /// Times a die had to wait for power with what it would have done next.
    pub power_waits: u64,
    /// Times a command of the host found the drive in a state of less power, or on its way into one.
    pub power_wakes: u64,
    /// Times the drive was too hot and began to be throttled.
    pub thermal_throttles: u64,
    /// Times an operation waited for its channel.
    pub channel_waits: u64,
    /// Commands that write and are to complete when that is on the media.
    pub fua_writes: u64,
    /// Requests larger than a command may be.
    pub split_requests: u64,
    /// Commands of such requests.
    pub split_commands: u64,
    /// Commands that had the drive for themselves: TRIM and FLUSH, on SATA.
    pub non_queued_commands: u64,
    /// TRIMs that went beside other commands on SATA.
    pub queued_trims: u64,
    /// Requests for entries and for what is written, entries and completions that crossed the link.
    pub link_messages: u64,
    /// Reads of several parts whose data crossed the link together.
    pub whole_reads: u64,
    /// Commands that were taken in as soon as the drive had room for another one of their queue, and had waited.
    pub full_queue_waits: u64,
    /// Fetches of commands out of the host's queues, where they take time.
    pub fetches: u64,
    /// Commands that they brought.
    pub fetched_commands: u64,
    /// Interrupts, each of which told the host of what was gathered.
    pub interrupts: u64,
    /// Completions that they told of.
    pub gathered_completions: u64,
    /// Events taken from the queue.
    pub events: u64,
}
