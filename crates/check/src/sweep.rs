//! The walk over everything: what the cheap checks take for granted between two changes.

use ninescope_engine::{SimulationError, View};
use ninescope_ftl::GroupState;
use ninescope_model::{BlockGroup, DieId, Geometry, Lpa, Pool, Ppa, Stream};

use crate::blocks::Blocks;
use crate::die_sets::{data_dies, parity_die};
use crate::groups::Groups;
use crate::rule::{Checked, require};
use crate::units::Units;

/// Walks the map, the groups, the free lists and the media's tables. Returns how many units are handed out
/// and not programmed.
pub fn sweep(view: &View<'_>, units: Option<&Units>, groups: &Groups, blocks: &Blocks) -> Result<u64, SimulationError> {
    let valid = walk_map(view, units)?;
    walk_valid_bits(view, &valid)?;
    walk_partition(view)?;
    blocks.sweep(view)?;
    walk_groups(view, groups, blocks, &valid)
}

/// Every mapped unit lies where its content is and is valid there: no two units share a place. Returns the
/// mapped units of each group.
fn walk_map(view: &View<'_>, units: Option<&Units>) -> Result<Vec<u32>, SimulationError> {
    let ftl = view.ftl;
    let mut tally = vec![0_u32; ftl.geometry().groups() as usize];
    let mut mapped = 0;
    for lpa in (0..ftl.logical_units() + ftl.translation_units()).map(Lpa) {
        let place = ftl.translate(lpa);
        if let Some(units) = units {
            let seen = units.get(lpa);
            let what = || format!("unit {lpa} is mapped to {place}, it was put at {seen}");
            if seen != place {
                return Err(crate::Rule::Mapping.violated(view.now, what()));
            }
        }
        if place != Ppa::UNMAPPED {
            crate::units::agrees(view, lpa, place)?;
            tally[ftl.geometry().group_and_offset(place).0.index()] += 1;
            mapped += u32::from(!ftl.is_translation(lpa));
        }
    }
    if mapped != ftl.mapped_units() {
        let what = format!("{mapped} units are mapped, the FTL counts {}", ftl.mapped_units());
        return Err(crate::Rule::Ledger.violated(view.now, what));
    }
    Ok(tally)
}

/// No valid bit is set but those of mapped units.
fn walk_valid_bits(view: &View<'_>, mapped: &[u32]) -> Checked {
    let geometry = view.ftl.geometry();
    for (id, &mapped) in mapped.iter().enumerate() {
        let first = geometry.first_unit(BlockGroup(id as u32)).0;
        let bits = (first..first + geometry.units_per_group()).filter(|&unit| view.ftl.is_valid(Ppa(unit))).count();
        require!(
            bits == mapped as usize,
            Mapping,
            view.now,
            "group {id} has {bits} valid bits, {mapped} units are mapped there"
        );
    }
    Ok(())
}

/// Free lists and frontiers hold the groups whose state says so, each once.
fn walk_partition(view: &View<'_>) -> Checked {
    let ftl = view.ftl;
    let geometry = ftl.geometry();
    let mut listed = vec![0_u32; geometry.groups() as usize];
    for pool in (0..geometry.pools()).map(Pool) {
        for group in ftl.free_list(pool) {
            listed[group.index()] += 1;
            let state = ftl.group(group).state;
            require!(
                state == GroupState::Free && geometry.pool_and_block(group).0 == pool,
                BlockPartition,
                view.now,
                "group {group} is {state:?} and on the free list of pool {pool}"
            );
        }
        if let Some(group) = ftl.left_group(pool) {
            listed[group.index()] += 1;
        }
        for stream in Stream::of_kinds(ftl.kinds()) {
            let Some(group) = ftl.frontier(pool, stream) else { continue };
            listed[group.index()] += 1;
            let record = ftl.group(group);
            require!(
                record.state == GroupState::Open && u32::from(record.stream) == stream.0,
                BlockPartition,
                view.now,
                "group {group} is {:?} of stream {} and the frontier of stream {stream} in pool {pool}",
                record.state,
                record.stream
            );
        }
    }
    for group in (0..geometry.groups()).map(BlockGroup) {
        let state = ftl.group(group).state;
        // Zones that are written know their groups themselves, and so does a map of blocks.
        let knows_itself = view.ftl.zones().is_some() || view.ftl.block_map().is_some();
        let is_frontier = state == GroupState::Open && !knows_itself;
        let expected = u32::from(state == GroupState::Free || is_frontier);
        require!(
            listed[group.index()] == expected,
            BlockPartition,
            view.now,
            "group {group} is {state:?} and listed {} times",
            listed[group.index()]
        );
    }
    Ok(())
}

fn walk_groups(view: &View<'_>, groups: &Groups, blocks: &Blocks, mapped: &[u32]) -> Result<u64, SimulationError> {
    let geometry = view.ftl.geometry();
    let mut open_units = 0;
    for id in (0..geometry.groups()).map(BlockGroup) {
        let (record, own) = (view.ftl.group(id), groups.get(id));
        let said = (record.write_pointer, view.ftl.valid_units(id), record.readers, record.pending);
        let seen = (own.write_pointer, own.valid, own.readers, own.pending);
        if said != seen || own.valid != mapped[id.index()] {
            let what = format!(
                "group {id}: the FTL says (units handed out, valid, reads, moves) = {said:?}, seen were {seen:?}, {} units \
                 are mapped there",
                mapped[id.index()]
            );
            return Err(crate::Rule::ValidCount.violated(view.now, what));
        }
        let programmed = programmed_units(view, blocks, id, own.kept)?;
        open_units += u64::from(record.write_pointer.saturating_sub(programmed));
    }
    Ok(open_units)
}

/// Units of a group that lies on several dies, as far as all before them are programmed; the last page of a stripe counts with its parity.
fn counted_units(geometry: &Geometry, blocks: &Blocks, id: BlockGroup) -> u32 {
    let (pool, block) = geometry.pool_and_block(id);
    let first_plane = geometry.first_plane_of_pool(pool) as usize;
    let holds =
        |die: DieId, plane: u32, page: u32| blocks.programmed_pages(die, first_plane + plane as usize, block) > page;
    let (planes, dies) = (geometry.frontier_planes, data_dies(geometry, id));
    let parity = parity_die(geometry, id);
    let mut units = 0;
    for page in 0..geometry.pages_per_block {
        for (number, &die) in dies.iter().enumerate() {
            for plane in 0..planes {
                let is_last = number + 1 == dies.len() && plane + 1 == planes;
                let whole = || (0..planes).all(|plane| parity.is_none_or(|parity| holds(parity, plane, page)));
                if !holds(die, plane, page) || is_last && !whole() {
                    return units;
                }
                units += geometry.units_per_page();
            }
        }
    }
    units
}

/// Units of a group that lies on several dies on the media; in which order they came there the dies do not tell.
fn programmed_in_set(view: &View<'_>, blocks: &Blocks, id: BlockGroup) -> Result<u32, SimulationError> {
    let (geometry, record) = (view.ftl.geometry(), view.ftl.group(id));
    if record.state == GroupState::Erasing {
        return Ok(record.write_pointer);
    }
    let counted = counted_units(geometry, blocks, id);
    if counted != record.programmed {
        let what = format!("group {id}: the FTL says {} programmed units, {counted} count", record.programmed);
        return Err(crate::Rule::ProgramOrder.violated(view.now, what));
    }
    let (pool, block) = geometry.pool_and_block(id);
    let first_plane = geometry.first_plane_of_pool(pool) as usize;
    let planes = first_plane..first_plane + geometry.frontier_planes as usize;
    let of_die = |die: DieId| planes.clone().map(|plane| blocks.programmed_pages(die, plane, block)).sum::<u32>();
    let pages: u32 = data_dies(geometry, id).into_iter().map(of_die).sum();
    Ok(pages * geometry.units_per_page())
}

/// Units of a group on the media. Its blocks fill stripe by stripe and were erased equally often.
fn programmed_units(view: &View<'_>, blocks: &Blocks, id: BlockGroup, kept: bool) -> Result<u32, SimulationError> {
    let geometry = view.ftl.geometry();
    let record = view.ftl.group(id);
    let (pool, block) = geometry.pool_and_block(id);
    let first_plane = geometry.first_plane_of_pool(pool) as usize;
    let planes = first_plane..first_plane + geometry.frontier_planes as usize;
    let mut units = 0;
    for die in data_dies(geometry, id).into_iter().chain(parity_die(geometry, id)) {
        for plane in planes.clone() {
            let erases = blocks.erases(die, plane, block);
            units += blocks.programmed_pages(die, plane, block) * geometry.units_per_page();
            // Between the end of an erase on the media and the FTL's hearing of it no sweep happens; of several dies one erases first.
            let erased_by_some = geometry.spans_dies() && record.state == GroupState::Erasing;
            if erases != record.erase_count && !(erased_by_some && erases == record.erase_count + 1) {
                let what =
                    format!("group {id}: the FTL says {} erases, plane {plane} had {erases}", record.erase_count);
                return Err(crate::Rule::Wear.violated(view.now, what));
            }
        }
    }
    if geometry.spans_dies() {
        return programmed_in_set(view, blocks, id);
    }
    // What stays in the controller is not taken for programmed, whatever the media holds.
    if units != record.programmed && !(kept && units > record.programmed) {
        let what = format!("group {id}: the FTL says {} programmed units, the media has {units}", record.programmed);
        return Err(crate::Rule::ProgramOrder.violated(view.now, what));
    }
    Ok(units)
}
