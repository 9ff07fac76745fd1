//! What the FTL counts. All counts are in mapping units unless named otherwise.

use serde::Serialize;

use crate::pool::STREAMS_MAX;

/// Operations since the counters were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FtlCounters {
    /// Units written by the host.
    pub host_units: u64,
    /// Units that came down from a tier above.
    pub migrated_units: u64,
    /// Units written anew because their copy was no good.
    pub healed_units: u64,
    /// Units of the map itself that were written.
    pub map_units: u64,
    /// Units handed out for garbage-collection moves.
    pub gc_units: u64,
    /// Units programmed without content, because a page had to go out before it was full.
    pub padding_units: u64,
    /// Units written to planes that their kind of data does not have for itself, because its own had no room.
    pub away_units: u64,
    /// Units that were programmed again, because the program had failed, or one before it in its block.
    pub rewritten_units: u64,
    /// Units of parity over dies that were programmed, with the last data of each stripe.
    pub parity_units: u64,
    /// Units of pages that lay on a die that failed and were written again.
    pub rebuilt_units: u64,
    /// Mapped units that were deallocated.
    pub trimmed_units: u64,
    /// Moves that ended and changed the map.
    pub moves_completed: u64,
    /// Moves dropped after their read, because the host had overwritten or trimmed the unit.
    pub moves_dropped_after_read: u64,
    /// Moves dropped after their program for the same reason: the copy was garbage when it landed.
    pub moves_dropped_after_program: u64,
    /// Victims chosen.
    pub gc_victims: u64,
    /// Valid units the victims held when chosen.
    pub gc_victim_valid_units: u64,
    /// Victims that were taken to be refreshed, not for their space.
    pub refreshed_groups: u64,
    /// Victims that were taken so that wear is level, not for their space.
    pub leveled_groups: u64,
    /// Of the units handed out for moves, those of such victims.
    pub leveled_units: u64,
    /// Units that the host wrote to groups of one bit in a cell.
    #[serde(skip)]
    pub slc_units: u64,
    /// Such groups that were folded into others.
    #[serde(skip)]
    pub folded_groups: u64,
    /// Of the units handed out for moves, those out of such groups.
    #[serde(skip)]
    pub folded_units: u64,
    /// Times that host writes began to wait for garbage collection in a pool although groups beyond the reserve were free.
    pub host_holds: u64,
    /// Log blocks that took the place of the data block as they were.
    pub switch_merges: u64,
    /// Log blocks that did so when they had been filled up from it.
    pub partial_merges: u64,
    /// Logical blocks whose pages were copied into a free block.
    pub full_merges: u64,
    /// Log blocks shared by all logical blocks that were emptied by such merges, or held nothing valid.
    pub log_blocks_emptied: u64,
    /// Block groups erased.
    pub erased_groups: u64,
    /// Units of these that had not been written.
    #[serde(skip)]
    pub erased_unwritten_units: u64,
    /// Units that each stream took, what is written and what is moved of each kind in turn; zeros where streams are not chosen.
    #[serde(skip)]
    pub streams: [u64; STREAMS_MAX],
}

impl FtlCounters {
    /// Units programmed for any reason.
    pub fn programmed_units(&self) -> u64 {
        self.host_units
            + self.migrated_units
            + self.healed_units
            + self.map_units
            + self.gc_units
            + self.padding_units
            + self.rewritten_units
            + self.parity_units
            + self.rebuilt_units
    }

    /// Units that had been written in groups of so many that were erased.
    pub fn erased_units(&self, units_per_group: u32) -> u64 {
        self.erased_groups * u64::from(units_per_group) - self.erased_unwritten_units
    }

    /// Units programmed per unit the host wrote, 0 when it wrote nothing: the write amplification of whole units.
    pub fn write_amplification(&self) -> f64 {
        if self.host_units == 0 {
            return 0.0;
        }
        self.programmed_units() as f64 / self.host_units as f64
    }
}
