//! How often bits fail: what the drive draws errors by is what its model says of the block, as it is by the events.

use ninescope_engine::View;
use ninescope_engine::reliability::Reliability;
use ninescope_kernel::Ns;
use ninescope_media::health::Health;
use ninescope_model::{BlockGroup, Ppa};

use super::reliability;
use crate::rule::{Checked, require};
use crate::stripes::group_of;

/// A drive may keep an answer until reads or age have grown by a 64th.
const KEPT: f64 = 64.0 / 65.0;
/// No model tells ages apart that differ by less [ns].
const AGE_STEP: f64 = 1e6;
/// What the order of multiplications makes.
const ROUNDING: f64 = 1e-9;

/// What was programmed into a group, by the book of refresh.
#[derive(Clone, Copy, Debug)]
pub(super) enum Since {
    /// Before the run.
    TheStart,
    /// At a time of the run.
    Then(Ns),
}

/// How often bits of a group fail after so many reads, and when its data is so old [ns].
fn said(view: &View<'_>, group: BlockGroup, reads: f64, retention: f64) -> Option<f64> {
    let part = reliability(view);
    let suspensions = part.excess_suspensions(group);
    let health = Health {
        cycles: part.initial_cycles().saturating_add(view.ftl.group(group).erase_count),
        retention: Ns(retention.max(0.0) as u64),
        reads: reads.max(0.0) as u32,
        suspensions,
        verify_cycles: 0,
    };
    Some(part.error_model()?.rber(&health) + view.nand.added_rber(suspensions))
}

/// How often bits of a group fail now, at most.
pub(super) fn of_group(view: &View<'_>, group: BlockGroup, since: Since) -> Option<f64> {
    let reads = f64::from(view.ftl.group(group).reads_since_erase);
    Some(said(view, group, reads, retention(reliability(view), since, view.now))? * (1.0 + ROUNDING))
}

/// The errors of a page were drawn by a raw bit error rate.
pub(super) fn drawn(view: &View<'_>, ppa: Ppa, since: Since, rber: f64) -> Checked {
    if reliability(view).error_model().is_none() {
        return Ok(());
    }
    let group = group_of(view.ftl.geometry(), ppa);
    let reads = f64::from(view.ftl.group(group).reads_since_erase);
    let retention = retention(reliability(view), since, view.now);
    let said = |reads: f64, retention: f64| {
        said(view, group, reads, retention).map_or(0.0, |rber| rber * factor(view, group, ppa))
    };
    let most = said(reads, retention) * (1.0 + ROUNDING);
    let least = said((reads - 1.0) * KEPT, (retention * KEPT).min(retention - AGE_STEP)) * (1.0 - ROUNDING);
    require!(
        (least..=most).contains(&rber),
        ErrorRates,
        view.now,
        "the bits of unit {ppa} of group {group} fail at {rber:e}, and should at {least:e} to {most:e}: {reads} reads, {retention} ns"
    );
    Ok(())
}

/// How old data is where it is as warm as ages are told [ns].
fn retention(part: &Reliability, since: Since, now: Ns) -> f64 {
    let (by_clock, ageing) = part.age_at_start();
    let (initial, factor) = ageing.map_or((by_clock, 1.0), |ageing| (ageing.initial, ageing.factor));
    match since {
        Since::TheStart => initial.0 as f64 + now.0 as f64 * factor,
        Since::Then(programmed) => (now - programmed).0 as f64 * factor,
    }
}

/// By how much the rate of a page differs, by its place.
fn factor(view: &View<'_>, group: BlockGroup, ppa: Ppa) -> f64 {
    let geometry = view.ftl.geometry();
    let Some(variation) = reliability(view).variation() else { return 1.0 };
    let place = geometry.locate(ppa);
    let block = group.0 % geometry.blocks_per_plane;
    let pool = group.0 / geometry.blocks_per_plane;
    let plane = pool % geometry.pools_per_die() * geometry.frontier_planes + place.plane_in_group;
    let plane_of_drive = geometry.die_of(ppa).0 * geometry.planes_per_die + plane;
    let config = variation.config();
    let of_page = if view.ftl.is_slc(group) { &config.slc_pages } else { &config.pages };
    of_page[place.page as usize] * variation.of_block((plane_of_drive * geometry.blocks_per_plane + block) as usize)
}
