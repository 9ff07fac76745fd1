//! Which group is emptied: what each policy may choose, by looking at all groups of the pool.
//!
//! How a policy finds its victim is not known here. Of those that draw at random, and of those that remember what groups do not
//! tell, nothing is said: other tests hold them.

use ninescope_engine::View;
use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::{BlockRecord, GroupState};
use ninescope_model::BlockGroup;

use crate::rule::{Checked, require};

/// What is known of a group.
#[derive(Clone, Copy)]
struct Known<'a> {
    valid: u32,
    record: &'a BlockRecord,
}

impl Known<'_> {
    /// Whether it was filled before another one; they are counted modulo 2^32.
    fn is_older_than(&self, other: &Self) -> bool {
        let later = other.record.closed_sequence.wrapping_sub(self.record.closed_sequence);
        later != 0 && later < 1 << 31
    }
}

/// The policy chose a group. Nothing of it has moved.
pub fn chosen(view: &View<'_>, group: BlockGroup) -> Checked {
    let (ftl, geometry) = (view.ftl, view.ftl.geometry());
    let (units, blocks) = (geometry.units_per_group(), geometry.blocks_per_plane);
    let first = geometry.pool_and_block(group).0.0 * blocks;
    let known = |group: BlockGroup| Known { valid: ftl.valid_units(group), record: ftl.group(group) };
    let victim = known(group);
    // What holds one bit in a cell is folded, and nobody's choice.
    let may_be = |&other: &BlockGroup| other != group && !ftl.is_slc(other);
    let others = || (first..first + blocks).map(BlockGroup).filter(may_be).map(known);
    let filled = || others().filter(|other| other.record.state == GroupState::Closed && !other.record.failed);
    let candidates = || filled().filter(|other| other.record.pending == 0 && other.record.programmed == units);
    let is_right = match &ftl.rules().victim_selection {
        VictimSelectionConfig::Greedy(_) => candidates().all(|other| other.valid >= victim.valid),
        VictimSelectionConfig::Fifo(_) => !candidates().any(|other| other.is_older_than(&victim)),
        VictimSelectionConfig::RandomInvalid(_) => victim.valid < units,
        VictimSelectionConfig::WindowedGreedy(parameters) => {
            let older_than = |one: &Known<'_>| filled().filter(|other| other.is_older_than(one)).count();
            let is_in_window = |one: &Known<'_>| {
                older_than(one) + usize::from(victim.is_older_than(one)) < parameters.window.get() as usize
            };
            if is_in_window(&victim) {
                candidates().filter(is_in_window).all(|other| other.valid >= victim.valid)
            } else {
                // Nothing in the window is on the media yet.
                !candidates().any(|other| is_in_window(&other) || other.is_older_than(&victim))
            }
        }
        VictimSelectionConfig::WearAware(parameters) => {
            let cycle = parameters.weight * f64::from(units);
            let weighs = |one: &Known<'_>| f64::from(one.valid) + cycle * f64::from(one.record.erase_count);
            // A cycle weighs whole parts of a unit there.
            let slack = 1e-3 * f64::from(victim.record.erase_count + 1);
            candidates().all(|other| weighs(&other) + slack >= weighs(&victim))
        }
        _ => true,
    };
    // Where pages of moves may have to be padded, a victim gives more than that takes.
    let is_right = is_right || ftl.isolates() && candidates().all(|other| other.valid >= victim.valid);
    require!(
        is_right,
        Victim,
        view.now,
        "group {group}, of whose {units} units {} are valid, erased {} times, is emptied although {:?} has others go before it",
        victim.valid,
        victim.record.erase_count,
        ftl.rules().victim_selection
    );
    Ok(())
}
