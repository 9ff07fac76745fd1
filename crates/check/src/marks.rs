//! Situations worth meeting: the checker counts those that no counter of the device tells apart, so that a
//! hunt over random worlds can say what it has met and what it has not.

macro_rules! marks {
    ($($variant:ident, $name:literal, $summary:literal;)+) => {
        /// A situation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mark { $(#[doc = $summary] $variant,)+ }

        impl Mark {
            /// All marks, in index order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it is, one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)+ }
            }
        }
    };
}

marks! {
    ReadOverlapsWrite, "read_overlaps_write", "A read met a write of the same unit that had not completed.";
    ReadReturnsNewest, "read_of_incomplete_write", "A read returned the data of a write that had not completed.";
    ReadReturnsOlder, "read_of_overwritten_version", "A read returned a version older than that of a write that had not completed.";
    ReadOfMixedVersions, "read_of_mixed_versions", "Sectors of one unit came from different writes.";
    ReadOfTrimmed, "read_of_trimmed", "A read returned zeros of a unit that had been trimmed.";
    ReadBesideErase, "read_beside_parked_erase", "A read ran beside a suspended erase.";
    ReadBesideProgram, "read_beside_parked_program", "A read ran beside a suspended program.";
    ReadBesideRead, "read_beside_read", "A plane read by itself while another plane of its die did.";
    WaitsForRegister, "waits_for_register", "A page was sensed while the one before it had not left its second register.";
    ReadOfParkedGroup, "read_of_parked_program_group", "A read took an earlier page of the group whose program was suspended.";
    SuspendedErase, "suspended_erase", "An erase was suspended.";
    SuspendedHostProgram, "suspended_program", "A program was suspended.";
    SuspendedWordline, "suspended_wordline", "The program of all pages of a wordline was suspended.";
    RestartedLoop, "restarted_loop", "An erase was stopped in a loop that it had to begin anew.";
    SuspendedTwice, "suspended_twice", "One operation was suspended more than once.";
    MergedFromMedia, "merged_from_media", "A unit written in part was completed from the media.";
    MergedFromController, "merged_from_controller", "A unit written in part was completed from the controller.";
    MergedWithZeros, "merged_with_zeros", "A unit written in part was completed with zeros.";
    MergedPartWrites, "concurrent_partial_writes", "Two partial writes of one unit were under way at a time.";
    TrimInController, "trim_of_unit_in_controller", "A unit was trimmed before it was on the media.";
    ZoneAppend, "zone_append", "A zone took an append.";
    ZoneReset, "zone_reset", "A zone was reset.";
    ZoneFinished, "zone_finished", "A zone was finished.";
    ZoneRefuses, "zone_refuses", "A zone refused a command.";
    ZoneClosedForAnother, "zone_closed_for_another", "The drive closed a zone to open another one.";
    ZoneDropsUnits, "zone_drops_units", "A zone was reset of which units were in the controller.";
    SwitchMerge, "switch_merge", "A log block took the place of the data block as it was.";
    PartialMerge, "partial_merge", "A log block was filled up from the data block.";
    FullMerge, "full_merge", "All pages of a logical block were copied into a free block.";
    ZrwaOverwrite, "zrwa_overwrite", "A unit in a random write area was overwritten there.";
    ZrwaImplicitCommit, "zrwa_implicit_commit", "A write behind a random write area moved the write pointer.";
    ZrwaCommit, "zrwa_commit", "The host committed a part of a random write area.";
    ZrwaHole, "zrwa_hole", "A unit was committed that nobody had written.";
    ZrwaRead, "zrwa_read", "A read was answered out of a random write area.";
    ZrwaFinished, "zrwa_finished", "A zone was finished whose random write area held something.";
    ZrwaDropped, "zrwa_dropped", "A zone was reset whose random write area held something.";
    TrimOfTrimmed, "trim_of_trimmed_unit", "A unit was trimmed that had been trimmed and was in the map still.";
    ReadOfOldData, "read_of_old_data", "A read returned what a unit held before it was trimmed.";
    MovedTrimmed, "moved_trimmed_unit", "Garbage collection moved a unit that had been trimmed.";
    DriveErased, "drive_erased", "The drive was erased as a whole.";
    TrimUnmapped, "trim_of_unmapped_unit", "A unit was trimmed that was not mapped.";
    OverwriteInController, "overwrite_in_controller", "A unit was overwritten before it was on the media.";
    OverwriteWhileMoved, "overwrite_while_moved", "A unit was overwritten or trimmed while garbage collection moved it.";
    ReadWhileMoved, "read_while_moved", "A unit was read while garbage collection moved it.";
    CopiedBack, "copied_back", "A die copied a page by itself, which had come from the controller.";
    CopiedAgain, "copied_again", "A die copied a page by itself that was such a copy.";
    CopiedTooOften, "copied_too_often", "A page went through the controller that had been copied as often in a row as may be.";
    FlushOfNothing, "flush_of_nothing", "A FLUSH found everything on the media.";
    FlushWaits, "flush_that_waits", "A FLUSH waited for programs.";
    FlushOfCache, "flush_of_cache", "A FLUSH found something in a cache that forgets without power.";
    TwoFlushes, "concurrent_flushes", "A FLUSH came while another was under way.";
    SeveralPools, "request_over_several_dies", "A read took data from more than one die.";
    ReadOfBothMedia, "read_of_both_media", "A page was read in part above and in part below.";
    ReadOfDrainingSlot, "read_of_draining_slot", "A slot was read that its page had left since.";
    WriteWhileLeaving, "write_while_leaving", "A page was written while its copy was on the way down.";
    TrimWhileLeaving, "trim_while_leaving", "A page was trimmed while it was on the way down.";
    TrimWhileFilled, "trim_while_filled", "A page was trimmed while it was on the way up.";
    EvictionOfPart, "eviction_of_part", "A page went down of which the slot held a part.";
    EvictionMergedInController, "eviction_merged_in_controller", "A page on its way down was completed with what the controller held.";
    SupersededInController, "superseded_in_controller", "A unit was forgotten below before it was on the media.";
    SuperblockErased, "superblock_erased", "A block group was erased on several dies, none of which held parity.";
    ParityProgrammed, "parity_programmed", "The parity of a stripe was programmed.";
    DegradedRead, "degraded_read", "The rest of a parity stripe was read for a page that was no good.";
    DegradedInController, "degraded_in_controller", "A page that was no good was found again, and some of its stripe was in the controller.";
    LostInStripe, "lost_in_stripe", "Two pages of a parity stripe were no good at the same place.";
    DieFailed, "die_failed", "A die failed as a whole.";
    MissingRead, "missing_read", "The host read what lay on a die that failed.";
    MissingInQueue, "missing_in_queue", "A die failed on which a read waited.";
    PageRebuilt, "page_rebuilt", "A page of a die that failed was written again.";
    RebuildLost, "rebuild_lost", "A page of a die that failed could not be found by the rest of its stripe.";
    DieRebuilt, "die_rebuilt", "Nothing was left of a die that failed to be written again.";
    BehindRebuild, "behind_rebuild", "A request waited for the rebuild of a die that failed.";
    EntryMissing, "entry_missing", "A command waited for a page of the map.";
    SeveralMapPages, "several_map_pages", "A command waited for more than one page of the map.";
    SharedMapPage, "shared_map_page", "Two commands waited for one page of the map.";
    EntryLeavesDirty, "entry_leaves_dirty", "An entry left memory that was not as it lay on the media.";
    MapReadAhead, "map_read_ahead", "A read of a page of the map went before other reads that waited for its die.";
    MapIsWarm, "map_is_warm", "A run began with the map in memory.";
    RestUsedAtStart, "rest_used_at_start", "The rest of a unit was read of which sectors were used before the run alone.";
    MapPageKept, "map_page_kept", "A page of the map stayed in the controller, because nothing of the map is written.";
    RestIsEmpty, "rest_is_empty", "A unit was written in part, and of its rest nothing was used, so that it was not read.";
    UnitReadInPart, "unit_read_in_part", "A read moved some sectors of a unit, and not all of it.";
    PageMovedInPart, "page_moved_in_part", "A program moved the sectors that were written, and not a whole page.";
    PagesOfTheirOwn, "pages_of_their_own", "Planes were programmed together at pages or blocks that differ.";
    SlcFixed, "slc_fixed", "The host filled a block of one bit in a cell that is kept for that.";
    SlcBorrowed, "slc_borrowed", "The host filled one that was borrowed.";
    SlcFolded, "slc_folded", "A unit was moved out of such a block.";
    PastSlc, "past_slc", "The host filled another block, although there may be such.";
    TypeByTurn, "type_by_turn", "A page was read or programmed whose type is that of its turn, and not of where it lies.";
    StaggeredPage, "staggered_page", "A page was read or programmed whose type is not the one whose turn it would be.";
    WriteBesideMap, "write_beside_map", "A write went on while its page of the map was read.";
    MapBehindData, "map_behind_data", "What was fetched of the host's memory waited for the link.";
    EntryInHostMemory, "entry_in_host_memory", "The host's memory held what a command wanted of the map.";
    MapPageLost, "map_page_lost", "A page of the map could not be corrected, and was found again.";
    MapPageMoved, "map_page_moved", "Garbage collection moved a page of the map.";
    OtherNamespace, "other_namespace", "A command went into a namespace that is not the first.";
    StalledBesideSpace, "stalled_beside_space", "A write waited for planes of its own while others had space.";
    MapPageApart, "map_page_apart", "A page of the map was written into planes that some addresses have for themselves.";
    WentDownApart, "went_down_apart", "A page went down into planes that some addresses have for themselves.";
    DramWait, "dram_wait", "An access to DRAM waited for one before it.";
    DramBehindCache, "dram_behind_cache", "An access to DRAM waited for one of a cache there.";
    WaitForCore, "wait_for_core", "A decision of the firmware waited for a core.";
    ParkedWithoutPower, "parked_without_power", "A suspended operation, or a read beside it, waited for power.";
    WokenOnTheWayIn, "woken_on_the_way_in", "A command came while the drive was on its way into a state of less power.";
    ThrottledByHeat, "throttled_by_heat", "A die waited for power while the drive was hot.";
    ThrottleEnds, "throttle_ends", "The drive had cooled while a die waited for power.";
    MoveNotApart, "move_not_apart", "A unit that was moved went to the first kind of data, for want of space.";
    HandlesShareMoves, "handles_share_moves", "What was moved of two handles went into one reclaim unit.";
    IsolatedWithoutSpace, "isolated_without_space", "What was moved of a handle took a block group of the reserve for itself.";
    VictimPassedOver, "victim_passed_over", "A victim was passed over, because padding might have taken what it gives.";
    HandleThatIsNot, "handle_that_is_not", "A write named a handle that there is not.";
    HeldByLimit, "held_by_limit", "The limit of a job held a request back.";
    FuaOfCache, "fua_of_cache", "A write that asked to be on the media went through a cache that forgets.";
    FuaBesideOthers, "fua_beside_others", "A write that asked to be on the media sent out a page with what others had buffered.";
    ProgramFailed, "program_failed", "The program of a page failed.";
    FailedGroupRetired, "failed_group_retired", "A group of which a program failed was emptied and retired.";
    PageKept, "page_kept", "A page whose program failed found no other place.";
    EraseFailed, "erase_failed", "An erase failed.";
    WornOut, "worn_out", "A group had as many cycles as it bears.";
    ReadOnlyBegan, "read_only_began", "A drive began to take no more writes.";
    CommandRefused, "command_refused", "A command was answered with an error, because the drive takes no more writes.";
    Leveled, "leveled", "A unit whose data lay still was moved to a more worn group.";
    BehindMigration, "behind_anothers_migration", "A request waited for a page of another tenant that moved between two media.";
    BehindMap, "behind_anothers_map", "A request waited for a page of the map that was read or written for another tenant.";
    BehindGarbage, "behind_anothers_garbage", "A request waited for garbage collection that counts for another tenant.";
    BehindFullPools, "behind_anothers_groups", "A write waited for a free page behind another tenant that had opened block groups.";
    MultiUnitPage, "several_units_of_one_page", "One page read delivered several units.";
}

/// How often each mark was hit.
#[derive(Clone, Debug)]
pub struct Marks {
    hits: Vec<u64>,
}

impl Default for Marks {
    fn default() -> Self {
        Self { hits: vec![0; Mark::ALL.len()] }
    }
}

impl Marks {
    /// Counts a sighting.
    #[inline]
    pub fn hit(&mut self, mark: Mark) {
        self.hits[mark as usize] += 1;
    }

    /// `(name, sightings)` of every mark.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Mark::ALL.iter().map(|&mark| (mark.name(), self.hits[mark as usize]))
    }
}
