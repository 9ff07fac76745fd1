//! The translation layer of a drive, and how much of its flash the host sees.

use ninescope_engine::policies::mapping::{CachedBy, HOST_ACCESS, UPDATES_IN_FLIGHT};
use ninescope_engine::{Interface, mapping};
use ninescope_ftl::policies::StreamChoiceConfig;
use ninescope_ftl::{BreakdownConfig, FtlConfig, FtlError};
use ninescope_kernel::Ns;
use ninescope_model::units::Bytes;
use ninescope_model::{Geometry, Pool, Stream};
use ninescope_tier::PlacementConfig;

use super::controller::TIME_MAX;
use super::{block_maps, flash, slc_cache};
use crate::config::LoadedDrive;
use crate::error::Error;

/// Numbers of blocks that are tried for one that is enough: with an over-provisioning that needs more nobody is helped.
const TRIED_MAX: usize = 1 << 20;
/// The most spare bytes to a byte of the host: beyond it is a typing error, and the drive would be nothing but spare.
const OVER_PROVISIONING_MAX: f64 = 100.0;
/// A map of no more pages is so small that a cache of single entries may take less than a page: drives of tests and of small models.
const SMALL_MAP_PAGES: u32 = 8;
/// The most that an entry of the map takes, with which a page of 4 KiB tells of 64 units [B].
const ENTRY_BYTES_MAX: u64 = 64;

/// The translation layer of a drive without flash.
pub fn no_ftl(geometry: Geometry, seed: u64) -> FtlConfig {
    FtlConfig { seed, ..FtlConfig::bare(geometry) }
}

pub fn ftl_config(drive: &LoadedDrive, geometry: Geometry, seed: u64) -> Result<FtlConfig, Error> {
    let section = &drive.config.ftl;
    let over_provisioning = over_provisioning(drive)?;
    let blocks = ("geometry.blocks_per_plane", geometry.blocks_per_plane.to_string());
    let reserve = ("ftl.gc_reserve_blocks", section.gc_reserve_blocks.to_string());
    if section.gc_reserve_blocks >= geometry.blocks_per_plane {
        let message = format!("the reserve must be smaller than the {} blocks of a plane", geometry.blocks_per_plane);
        return Err(drive.error_between(&[reserve, blocks], &message));
    }
    if section.gc_reserve_blocks == 0 {
        return Err(
            drive.error_at("ftl.gc_reserve_blocks", "must be at least 1: garbage collection needs a block to move to")
        );
    }
    check_policies(drive, &geometry)?;
    let logical_units = logical_units(u64::from(geometry.units()), over_provisioning) as u32;
    if let Some(map) = section.map.chosen().by_blocks() {
        let breakdown = flash::breakdown(drive)?;
        return block_maps::ftl_config(drive, map, (geometry, logical_units, seed), breakdown.as_ref());
    }
    if section.streams.knows_clean() && section.gc_reserve_blocks < 2 {
        let message = "must be at least 2 where clean data is kept apart: moves may need a block of either kind";
        return Err(drive.error_at("ftl.gc_reserve_blocks", message));
    }
    check_planes_as_die(drive, &geometry)?;
    let breakdown = flash::breakdown(drive)?;
    let kept = u32::from(breakdown.as_ref().is_some_and(BreakdownConfig::breaks_in_use));
    let (translation_entries, translation_units) = map_pages(drive, &geometry, logical_units)?;
    let config = FtlConfig {
        geometry,
        logical_units,
        translation_units,
        translation_entries,
        // Where blocks break, one more is kept for when one does.
        reserve_groups: section.gc_reserve_blocks + kept,
        page_allocation: section.page_allocation.clone(),
        stream_choice: section.streams.clone(),
        free_block_choice: section.free_block_choice.clone(),
        gc_trigger: section.gc_trigger.clone(),
        victim_selection: section.victim.clone(),
        partitions: Vec::new(),
        homes: homes(drive, &geometry)?,
        zones: None,
        block_map: None,
        slc_cache: slc_cache::rules(drive, &geometry)?,
        breakdown,
        wear_leveling: section.wear_leveling.clone(),
        seed,
    };
    let spare = ("ftl.over_provisioning", over_provisioning.to_string());
    config.check().map_err(|error| {
        if let FtlError::Homes(problem) = error {
            return drive.error_at("ftl.stream_channels", &format!("is given, and {problem}"));
        }
        if let FtlError::TooManyBadBlocks { good, needed, .. } = error {
            let message = format!(
                "leaves {good} good blocks in a plane that needs {needed}; raise ftl.over_provisioning or \
                 geometry.blocks_per_plane"
            );
            return drive.error_at("nand.factory_bad_blocks", &message);
        }
        let held = config.spare_groups_needed();
        let enough = blocks_that_suffice(&config, over_provisioning).map_or_else(
            || "no number of blocks would do".to_owned(),
            |blocks| format!("{blocks} blocks per plane are enough"),
        );
        let message = format!(
            "over-provisioning leaves fewer spare blocks than the {held} that each plane needs for frontiers, reserve and \
             garbage collection; raise over_provisioning or blocks_per_plane: {enough} with this over_provisioning"
        );
        match section.streams.kinds() {
            (1, 1) => drive.error_between(&[spare, blocks, reserve], &message),
            _ => drive.error_between(&[spare, blocks, reserve, ("ftl.streams", section.streams.name().to_owned())], &message),
        }
    })?;
    Ok(config)
}

/// That planes which count as a die are a part of one.
fn check_planes_as_die(drive: &LoadedDrive, geometry: &Geometry) -> Result<(), Error> {
    let Some(planes) = drive.config.ftl.page_allocation.chosen().planes_as_die() else { return Ok(()) };
    if planes > 0 && geometry.planes_per_die.is_multiple_of(planes) && planes >= geometry.frontier_planes {
        return Ok(());
    }
    let message = format!(
        "is {planes}, and a die has {} planes, which frontiers of {} share",
        geometry.planes_per_die, geometry.frontier_planes
    );
    Err(drive.error_at("ftl.page_allocation.planes_as_die", &message))
}

/// The pools of the channels that each kind of data has for itself.
fn homes(drive: &LoadedDrive, geometry: &Geometry) -> Result<Vec<Vec<u32>>, Error> {
    let (lists, streams) = (&drive.config.ftl.stream_channels, &drive.config.ftl.streams);
    let refused = |message: &str| Err(drive.error_at("ftl.stream_channels", message));
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let kinds = streams.kinds().0;
    if lists.len() != kinds as usize || kinds == 1 {
        let values =
            [("ftl.stream_channels", format!("a list of {}", lists.len())), ("ftl.streams", streams.name().to_owned())];
        let message = match kinds {
            1 => "one kind of data is written, which has all channels".to_owned(),
            _ => format!("{kinds} kinds of data are written, each of which is to have its channels"),
        };
        return Err(drive.error_between(&values, &message));
    }
    let channels = geometry.channels;
    for (kind, list) in lists.iter().enumerate() {
        let first = |channel: &u32| list.iter().position(|other| other == channel);
        if list.is_empty() {
            return refused(&format!("gives kind {kind} no channel"));
        }
        if let Some(channel) = list.iter().find(|channel| **channel >= channels) {
            return refused(&format!("names channel {channel}, and the drive has {channels}, from 0 on"));
        }
        if let Some((_, channel)) = list.iter().enumerate().find(|(index, channel)| first(channel) != Some(*index)) {
            return refused(&format!("names channel {channel} twice for kind {kind}"));
        }
    }
    if let Some(channel) = (0..channels).find(|channel| !lists.iter().any(|list| list.contains(channel))) {
        return refused(&format!("gives channel {channel} to no kind of data"));
    }
    let channel_of = |pool: &u32| geometry.channel_of_die(geometry.die_of_pool(Pool(*pool))).0;
    let of_list = |list: &Vec<u32>| (0..geometry.pools()).filter(|pool| list.contains(&channel_of(pool))).collect();
    Ok(lists.iter().map(of_list).collect())
}

/// What programs that wait for the map do not go with. Blocks that break are refused beside any map in flash.
fn check_programs_that_wait(drive: &LoadedDrive, writes_wait: bool) -> Result<(), Error> {
    let refused = |key: &str, value: &str, message: &str| {
        let programs = ("ftl.map.programs_wait", "true".to_owned());
        Err(drive.error_between(&[programs, (key, value.to_owned())], message))
    };
    if writes_wait {
        let message = "either a write waits for what is missing or its program does: say ftl.map.writes_wait = false";
        return refused("ftl.map.writes_wait", "true", message);
    }
    if matches!(drive.config.tier.placement, PlacementConfig::Wb(_)) {
        let message = "what the host writes goes to the cache above flash, and what leaves that does not wait: it would change nothing";
        return refused("tier.placement", "wb", message);
    }
    if drive.config.nand.as_ref().is_some_and(|nand| !nand.die_failures.is_empty()) {
        let message = "a program that waits for the map would not move to the spare die: a drive has one of the two";
        return refused("nand.die_failures", "given", message);
    }
    Ok(())
}

/// Entries of a page of a map that lies in flash, and its pages; 0 where all of it is in memory.
fn map_pages(drive: &LoadedDrive, geometry: &Geometry, units: u32) -> Result<(u32, u32), Error> {
    let section = &drive.config.ftl;
    let Some(rules) = section.map.chosen().rules() else { return Ok((0, 0)) };
    let page = u64::from(geometry.unit_bytes);
    if !(1..=ENTRY_BYTES_MAX).contains(&rules.entry_size.0) {
        let message = format!("is {}, and an entry takes 1 to {ENTRY_BYTES_MAX} B", rules.entry_size);
        return Err(drive.error_at("ftl.map.entry_size", &message));
    }
    if rules.programs_wait {
        check_programs_that_wait(drive, rules.writes_wait)?;
    }
    let (entries, pages) = mapping::map_pages(&rules, geometry, units);
    let item = u64::from(rules.policy.item_bytes(entries, entries));
    let (what, least) = match rules.policy.cached_by() {
        // Of a map of a few pages a page is so much that next to nothing would leave the cache.
        CachedBy::Entry if pages > SMALL_MAP_PAGES => ("a page of the map", page.max(item)),
        CachedBy::Entry => ("an entry", item),
        CachedBy::Page => ("a page of the map", item),
    };
    let sizes = [("ftl.map.size", Some(rules.size.0)), ("ftl.map.host_memory", rules.host_memory.map(|size| size.0))];
    for (key, size) in sizes {
        if let Some(size) = size.filter(|size| *size < least) {
            return Err(
                drive.error_at(key, &format!("is {size} B, and {what} may take {least} B of it, which is the least"))
            );
        }
    }
    if !(0.0..=1.0).contains(&rules.changed_at_start) {
        let message = format!("is {}, and a share of entries is from 0 to 1", rules.changed_at_start);
        return Err(drive.error_at("ftl.map.changed_at_start", &message));
    }
    if let Some(Bytes(size)) = rules.fetch_size {
        let unit = u64::from(geometry.unit_bytes);
        if size == 0 || size > unit {
            return Err(drive.error_at("ftl.map.fetch_size", &format!("is {size} B, and takes 1 to {unit} B, a page")));
        }
        if rules.policy.cached_by() == CachedBy::Page && size < unit {
            let message = format!("is {size} B, and whole pages of {unit} B are cached");
            return Err(drive.error_at("ftl.map.fetch_size", &message));
        }
    }
    for (key, time) in [("host_access", rules.host_access), ("rebuild_time", rules.rebuild_time)] {
        if time.0 > TIME_MAX {
            return Err(drive.error_at(&format!("ftl.map.{key}"), "is longer than an hour"));
        }
    }
    // What a result writes out has the default.
    if rules.host_memory.is_none() && rules.host_access != Ns(HOST_ACCESS) {
        let message = "is given, and there is no memory of the host: give ftl.map.host_memory";
        return Err(drive.error_at("ftl.map.host_access", message));
    }
    if rules.host_memory.is_some() && drive.config.controller.interface == Interface::Sata {
        let message = "is given, and SATA (controller.interface) knows no memory of the host";
        return Err(drive.error_at("ftl.map.host_memory", message));
    }
    if rules.host_link && rules.host_memory.is_none() {
        let message = "is true, and there is no memory of the host: give ftl.map.host_memory";
        return Err(drive.error_at("ftl.map.host_link", message));
    }
    if !rules.written && rules.updates_in_flight != UPDATES_IN_FLIGHT {
        let message = "is given, and nothing of the map is written (ftl.map.written = false)";
        return Err(drive.error_at("ftl.map.updates_in_flight", message));
    }
    if rules.updates_in_flight == 0 {
        return Err(drive.error_at("ftl.map.updates_in_flight", "must be at least 1, or nothing of the map is written"));
    }
    if section.streams != StreamChoiceConfig::default() {
        let streams = ("ftl.streams", section.streams.name().to_owned());
        let message =
            "a map that lies in flash is kept apart, and so are these streams: a drive keeps one of them apart";
        return Err(drive.error_between(&[("ftl.map", section.map.name().to_owned()), streams], message));
    }
    Ok((entries, pages))
}

/// The units that the host sees of so many on the media.
fn logical_units(units: u64, over_provisioning: f64) -> u64 {
    (units as f64 / (1.0 + over_provisioning)).floor() as u64
}

/// The fewest blocks per plane, above those there are, of which over-provisioning leaves enough spare ones: with each block
/// the host sees more, too.
fn blocks_that_suffice(config: &FtlConfig, over_provisioning: f64) -> Option<u64> {
    let geometry = &config.geometry;
    let per_index = u64::from(geometry.units()) / u64::from(geometry.blocks_per_plane);
    let (pools, per_group) = (u64::from(geometry.pools()), u64::from(geometry.units_per_group()));
    let held = |blocks: u64| u64::from(config.spare_groups_of(u32::try_from(blocks).unwrap_or(u32::MAX)));
    // Of a map that lies in flash there is as much more as there is more of what it tells of.
    let of_map = f64::from(config.translation_units) / f64::from(config.logical_units.max(1));
    let suffices = |blocks: &u64| {
        let logical = logical_units(per_index * blocks, over_provisioning);
        let logical = logical + (logical as f64 * of_map).ceil() as u64;
        logical > 0 && logical.div_ceil(pools).div_ceil(per_group) + held(*blocks) <= *blocks
    };
    // Spare are op / (1 + op) of them, and at most a block more by rounding: fewer than these cannot do.
    let least = (held(0) - 1) as f64 * (1.0 + over_provisioning) / over_provisioning;
    let first = (least as u64).max(u64::from(geometry.blocks_per_plane) + 1);
    let most = u64::from(u32::MAX) / per_index;
    (first..=most).take(TRIED_MAX).find(suffices)
}

pub fn over_provisioning(drive: &LoadedDrive) -> Result<f64, Error> {
    let share = drive.config.ftl.over_provisioning;
    let refused = |message: &str| Err(drive.error_at("ftl.over_provisioning", &format!("is {share}, {message}")));
    if !(share.is_finite() && share > 0.0) {
        return refused("it must be a finite number greater than 0");
    }
    if share > OVER_PROVISIONING_MAX {
        return refused(&format!(
            "at most {OVER_PROVISIONING_MAX} are supported; it is a share: 0.07 is 7 % of what the host sees"
        ));
    }
    Ok(share)
}

/// What levelling of wear does not go with: what it moves is a kind of data of its own, among those that are kept apart.
fn check_leveling(drive: &LoadedDrive) -> Result<(), Error> {
    let section = &drive.config.ftl;
    let leveling = ("ftl.wear_leveling", section.wear_leveling.name().to_owned());
    let (of_writes, of_moves) = section.streams.kinds();
    let streams = || ("ftl.streams", section.streams.name().to_owned());
    if section.streams.knows_clean() {
        let message = "where clean data is kept apart, data that lies still is not: wear is not levelled there";
        return Err(drive.error_between(&[leveling, streams()], message));
    }
    if section.streams.isolates() {
        let message = "what makes way so that wear is level lies together, and handles that are persistently isolated do not: a drive has one of the two";
        return Err(drive.error_between(&[leveling, streams()], message));
    }
    if of_writes.max(of_moves) >= Stream::KINDS_MAX {
        let message =
            "data that lies still is a kind of its own beside those of the streams, which are as many as may be";
        return Err(drive.error_between(&[leveling, streams()], message));
    }
    if section.map.chosen().rules().is_some() {
        let message = "where a map in flash is kept apart, data that lies still is not: wear is not levelled there";
        return Err(drive.error_between(&[leveling, ("ftl.map", section.map.name().to_owned())], message));
    }
    Ok(())
}

/// Parameters of policies that only mean something in proportion to the drive.
fn check_policies(drive: &LoadedDrive, geometry: &Geometry) -> Result<(), Error> {
    let section = &drive.config.ftl;
    let of_victim = section.victim.chosen().problem(geometry).map(|problem| ("ftl.victim", problem));
    let of_trigger = || section.gc_trigger.chosen().problem().map(|problem| ("ftl.gc_trigger", problem));
    let of_streams = || section.streams.chosen().problem().map(|problem| ("ftl.streams", problem));
    let of_leveling = || section.wear_leveling.chosen().problem().map(|problem| ("ftl.wear_leveling", problem));
    if section.wear_leveling.levels() {
        check_leveling(drive)?;
    }
    match of_victim.or_else(of_trigger).or_else(of_streams).or_else(of_leveling) {
        Some((table, (key, message))) => Err(drive.error_at(&format!("{table}.{key}"), &message)),
        None => Ok(()),
    }
}
