//! The flash of a drive: its shape, its time constants, what its blocks bear.

use ninescope_engine::MergeBy;
use ninescope_ftl::BreakdownConfig;
use ninescope_kernel::{Ns, Rate};
use ninescope_media::health::{LimitByWear, SuspendLimit, WearPoint};
use ninescope_media::nand::{EraseLoops, LoopShares, NandTiming, PageTypes, PlaneGroups, PlaneReads, Stagger, Wear};
use ninescope_model::units::Duration;
use ninescope_model::{Geometry, PLANES_MAX};

use super::{one_shot, slc_cache, times};
use crate::config::{
    EraseLoopsConfig, GeometryConfig, LoadedDrive, NandConfig, PageTypesConfig, PlaneGroupsConfig, PlaneReadsConfig,
    SuspendLimitConfig,
};
use crate::error::Error;

/// The most P/E cycles a drive may begin with.
const CYCLES_MAX: u32 = 10_000_000;

/// A drive of flash alone, as it is where nothing says otherwise, without a table of flash.
pub fn no_table(drive: &LoadedDrive, table: &str) -> Error {
    drive.error_missing(&format!("the table [{table}] is missing, which a drive of flash needs"))
}

/// The shape of a drive's flash, whose table was found to be there.
fn flash_shape(drive: &LoadedDrive) -> Result<&GeometryConfig, Error> {
    drive.config.geometry.as_ref().ok_or_else(|| no_table(drive, "geometry"))
}

/// The constants of a drive's flash, whose table was found to be there.
fn flash(drive: &LoadedDrive) -> Result<&NandConfig, Error> {
    drive.config.nand.as_ref().ok_or_else(|| no_table(drive, "nand"))
}

pub fn geometry(drive: &LoadedDrive) -> Result<Geometry, Error> {
    let shape = flash_shape(drive)?;
    let ftl = &drive.config.ftl;
    let small = |key: &str, bytes: u64| {
        u32::try_from(bytes).map_err(|_| drive.error_at(key, &format!("is {bytes} B, which is too large")))
    };
    Geometry::checked(
        shape.channels,
        shape.packages_per_channel,
        shape.dies_per_package,
        shape.planes_per_die,
        shape.blocks_per_plane,
        shape.pages_per_block,
        small("geometry.page_size", shape.page_size.0)?,
        small("ftl.mapping_unit", ftl.mapping_unit.0)?,
        ftl.frontier_planes.unwrap_or(shape.planes_per_die),
    )
    .and_then(|geometry| geometry.with_parity(ftl.parity))
    .and_then(|geometry| geometry.with_superblock(ftl.superblock))
    .and_then(|geometry| geometry.with_pages_per_program(one_shot::pages_per_program(&drive.config)))
    .map_err(|error| {
        if error.key == "pages_per_program" {
            return drive.error_at(
                one_shot::KEY,
                "is \"one-shot\", and block groups lie on several dies: a drive has one of the two",
            );
        }
        if let ("frontier_planes", Some(planes)) = (error.key, ftl.frontier_planes) {
            let (frontier, all) = ("ftl.frontier_planes", "geometry.planes_per_die");
            let value = |key: &str, value: u32| format!("{value}{}", drive.whence(key));
            let values = [(frontier, value(frontier, planes)), (all, value(all, shape.planes_per_die))];
            if planes > 0 && shape.planes_per_die > 0 {
                return drive.error_between(&values, "ftl.frontier_planes must divide geometry.planes_per_die");
            }
        }
        let table = if matches!(
            error.key,
            "mapping_unit" | "frontier_planes" | "parity.stripe" | "superblock" | "superblock.dies"
        ) {
            "ftl"
        } else {
            "geometry"
        };
        drive.error_at(&format!("{table}.{}", error.key), &error.message)
    })
}

pub fn timing(drive: &LoadedDrive) -> Result<NandTiming, Error> {
    let nand = flash(drive)?;
    let bits = nand.cell.bits();
    if nand.read.len() != 1 && nand.read.len() != bits {
        let message = format!("has {} values; give one, or one per page type ({bits})", nand.read.len());
        return Err(drive.error_at("nand.read", &message));
    }
    let ns = |duration: &Duration| Ns(duration.0);
    // One value stands for every page type.
    let types = if nand.page_types.is_some() { bits } else { nand.read.len().max(nand.program.len()) };
    let by_type = |durations: &[Duration]| -> Vec<Ns> {
        let repeated = if durations.len() == 1 { types } else { 1 };
        durations.iter().flat_map(|duration| std::iter::repeat_n(ns(duration), repeated)).collect()
    };
    let timing = NandTiming {
        read: by_type(&nand.read),
        program: by_type(&nand.program),
        slc: slc_cache::times(drive)?,
        page_types: page_types(drive)?,
        program_pulses: nand.program_pulses,
        program_load: nand.program_load.as_ref().map_or(Ns::ZERO, ns),
        erase_loop: ns(&nand.erase_loop),
        erase_loops: match &nand.erase_loops {
            EraseLoopsConfig::Fixed(loops) => EraseLoops::Fixed(*loops),
            EraseLoopsConfig::ByWear(rows) => EraseLoops::ByWear(
                rows.iter().map(|row| LoopShares { cycles: row.cycles, shares: row.shares.clone() }).collect(),
            ),
        },
        command_address: ns(&nand.command_address),
        suspend_recover: ns(&nand.suspend_recover),
        resume_ramp: ns(&nand.resume_ramp),
        channel_rate: Rate(nand.channel_rate.0),
        read_any_block: nand.read_any_block,
        any_page: nand.any_page,
        planes_per_command: nand.planes_per_command.unwrap_or(PLANES_MAX),
        plane_groups: match nand.plane_groups {
            PlaneGroupsConfig::Neighbours => PlaneGroups::Neighbours,
            PlaneGroupsConfig::Interleaved => PlaneGroups::Interleaved,
        },
        plane_reads: match nand.plane_reads {
            PlaneReadsConfig::Together => PlaneReads::Together,
            PlaneReadsConfig::Independently => PlaneReads::Independently,
        },
        cache_read: nand.cache_read.as_ref().map(ns),
        times: times::factors(drive, nand, flash_shape(drive)?.pages_per_block)?,
    };
    check_planes_per_command(drive)?;
    check_any_page(drive)?;
    check_plane_reads(drive)?;
    check_cache_read(drive)?;
    timing.check().map_err(|error| drive.error_at(&format!("nand.{}", error.key), &error.message))?;
    let cost = timing.suspend_recover + timing.resume_ramp;
    if drive.config.scheduler.suspend.chosen().build().is_some() && cost > timing.shortest_erase_loop() {
        let key = if timing.suspend_recover >= timing.resume_ramp { "suspend_recover" } else { "resume_ramp" };
        let message = format!(
            "makes a suspension cost {cost} (suspend_recover and resume_ramp), more than the erase loop of {} \
             (nand.erase_loop) that it interrupts",
            timing.shortest_erase_loop()
        );
        return Err(drive.error_at(&format!("nand.{key}"), &message));
    }
    Ok(timing)
}

/// The type of each page of a block: all bits of a cell are told apart, whatever times they take.
pub fn types_of_pages(drive: &LoadedDrive, pages: u32) -> Result<Box<[u8]>, Error> {
    Ok(page_types(drive)?.of_block(pages, flash(drive)?.cell.bits()))
}

/// The order of page types, whose first and last pages a block has.
fn page_types(drive: &LoadedDrive) -> Result<PageTypes, Error> {
    let Some(PageTypesConfig { first, then, last }) = flash(drive)?.page_types.clone() else {
        return Ok(PageTypes::InTurn);
    };
    let (listed, pages) = (first.len() + last.len(), flash_shape(drive)?.pages_per_block);
    if listed > pages as usize {
        let message = format!(
            "has {listed} pages in first and last, and a block has {pages}{}",
            drive.whence("geometry.pages_per_block")
        );
        return Err(drive.error_at("nand.page_types", &message));
    }
    Ok(PageTypes::Staggered(Stagger { first, then, last }))
}

/// A frontier is erased by one command.
/// Commands of any page, and what goes together in them.
fn check_any_page(drive: &LoadedDrive) -> Result<(), Error> {
    let shape = flash_shape(drive)?;
    let frontier = drive.config.ftl.frontier_planes.unwrap_or(shape.planes_per_die);
    let merge_by = drive.config.scheduler.merge_by;
    if !flash(drive)?.any_page {
        return match merge_by {
            MergeBy::Page => Ok(()),
            MergeBy::Write | MergeBy::Touch => {
                let message = "asks for commands to different pages of the planes: give nand.any_page = true";
                Err(drive.error_at("scheduler.merge_by", message))
            }
        };
    }
    if frontier > 1 {
        let message =
            format!("is true, and {frontier} planes are programmed at one page: give ftl.frontier_planes = 1");
        return Err(drive.error_at("nand.any_page", &message));
    }
    let unit = drive.config.ftl.mapping_unit;
    if merge_by != MergeBy::Page && unit.0 != shape.page_size.0 {
        let message = format!(
            "counts pages by their units, and a unit is {unit} of a page of {}: give ftl.mapping_unit = \"{}\"",
            shape.page_size, shape.page_size
        );
        return Err(drive.error_at("scheduler.merge_by", &message));
    }
    Ok(())
}

/// Planes that read each by itself: what counts on a die doing one thing at a time does not go with them, nor does what is said of
/// reads of several planes.
fn check_plane_reads(drive: &LoadedDrive) -> Result<(), Error> {
    let (nand, scheduler) = (flash(drive)?, &drive.config.scheduler);
    if nand.plane_reads == PlaneReadsConfig::Together {
        return Ok(());
    }
    let refused = |message: &str| Err(drive.error_at("nand.plane_reads", &format!("is \"independently\", {message}")));
    if flash_shape(drive)?.planes_per_die == 1 {
        return refused("and a die has one plane: give geometry.planes_per_die");
    }
    let others = [
        ("what its parts draw ([power])", drive.config.power.is_some()),
        ("dies that fail (nand.die_failures)", !nand.die_failures.is_empty()),
        ("classes of jobs (scheduler.transactions = \"by-class\")", scheduler.transactions.chosen().knows_classes()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((other, _)) => refused(&format!("which does not go with {other}")),
        None => Ok(()),
    }
}

/// A second register for what a die has read: not where each plane reads by itself, nor where what a die draws follows from the one
/// thing that it does.
fn check_cache_read(drive: &LoadedDrive) -> Result<(), Error> {
    let nand = flash(drive)?;
    if nand.cache_read.is_none() {
        return Ok(());
    }
    let others = [
        ("planes that read each by itself (nand.plane_reads)", nand.plane_reads != PlaneReadsConfig::Together),
        ("what its parts draw ([power])", drive.config.power.is_some()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((other, _)) => Err(drive.error_at("nand.cache_read", &format!("is given, and does not go with {other}"))),
        None => Ok(()),
    }
}

fn check_planes_per_command(drive: &LoadedDrive) -> Result<(), Error> {
    let planes = flash_shape(drive)?.planes_per_die;
    let frontier = drive.config.ftl.frontier_planes.unwrap_or(planes);
    let nand = flash(drive)?;
    let Some(together) = nand.planes_per_command else {
        if nand.plane_groups != PlaneGroupsConfig::default() {
            let message =
                "is not \"neighbours\", and a command may address all planes of a die: give nand.planes_per_command";
            return Err(drive.error_at("nand.plane_groups", message));
        }
        return Ok(());
    };
    if nand.plane_groups == PlaneGroupsConfig::Interleaved && frontier > 1 {
        let message = format!(
            "is \"interleaved\", and {frontier} neighbouring planes are programmed and erased together: give \
             ftl.frontier_planes = 1"
        );
        return Err(drive.error_at("nand.plane_groups", &message));
    }
    if together < planes && together % frontier.max(1) != 0 {
        let message = format!(
            "is {together}, and {frontier} planes are programmed and erased together (ftl.frontier_planes): give a \
             multiple of that"
        );
        return Err(drive.error_at("nand.planes_per_command", &message));
    }
    Ok(())
}

/// What depends on the wear of blocks needs to know it.
pub fn wear(drive: &LoadedDrive) -> Result<Wear, Error> {
    let nand = flash(drive)?;
    if nand.initial_cycles.is_none() {
        let suspend = &drive.config.scheduler.suspend;
        let needed_by = if suspend.chosen().needs_wear() {
            Some(("scheduler.suspend", format!("`{}`", suspend.name())))
        } else if let EraseLoopsConfig::ByWear(_) = nand.erase_loops {
            Some(("nand.erase_loops", "a number of loops by wear".to_owned()))
        } else if nand.times.as_ref().is_some_and(|times| !times.wear.is_empty()) {
            Some(("nand.times.wear", "a factor by wear".to_owned()))
        } else {
            None
        };
        if let Some((key, what)) = needed_by {
            let message =
                format!("{what} needs the P/E cycles of the blocks: give nand.initial_cycles (0 for a new drive)");
            return Err(drive.error_at(key, &message));
        }
    }
    let initial_cycles = nand.initial_cycles.unwrap_or(0);
    if initial_cycles > CYCLES_MAX {
        let message = format!("is {initial_cycles}, at most {CYCLES_MAX} are supported");
        return Err(drive.error_at("nand.initial_cycles", &message));
    }
    let suspend_limit = nand.suspend_limit.as_ref().map(|limit| suspend_limit(drive, limit)).transpose()?;
    Ok(Wear { initial_cycles, suspend_limit })
}

/// The largest factor by which failures grow: beyond it is a slip.
const RISE_MAX: f64 = 1e9;

/// How blocks break; none where nothing says so.
pub fn breakdown(drive: &LoadedDrive) -> Result<Option<BreakdownConfig>, Error> {
    let nand = flash(drive)?;
    if let Some((key, message)) = nand.wear_out.as_ref().and_then(|law| law.chosen().problem()) {
        return Err(drive.error_at(&format!("nand.wear_out.{key}"), &message));
    }
    let chances = [
        ("nand.program_failures", nand.program_failures),
        ("nand.erase_failures", nand.erase_failures),
        ("nand.factory_bad_blocks", nand.factory_bad_blocks),
    ];
    for (key, chance) in chances {
        if let Some(chance) = chance.filter(|chance| !(0.0..=1.0).contains(chance)) {
            return Err(drive.error_at(key, &format!("is {chance}, a chance is 0 to 1")));
        }
    }
    let rise = nand.failures_rise.unwrap_or(1.0);
    if !(1.0..=RISE_MAX).contains(&rise) {
        return Err(drive.error_at("nand.failures_rise", &format!("is {rise}, it must be 1 to {RISE_MAX}")));
    }
    let [program_failures, erase_failures, factory_bad_blocks] = chances.map(|(_, chance)| chance.unwrap_or(0.0));
    if rise > 1.0 && program_failures + erase_failures == 0.0 {
        let message = "is given, and nothing fails: give nand.program_failures or nand.erase_failures";
        return Err(drive.error_at("nand.failures_rise", message));
    }
    if rise > 1.0 && nand.endurance_cycles.is_none() {
        let message = "is by how much failures grow in nand.endurance_cycles, which is missing";
        return Err(drive.error_at("nand.failures_rise", message));
    }
    let breaks = nand.wear_out.is_some() || program_failures + erase_failures + factory_bad_blocks > 0.0;
    Ok(breaks.then(|| BreakdownConfig {
        wear_out: nand.wear_out.clone(),
        program_failures,
        erase_failures,
        rise,
        rise_cycles: nand.endurance_cycles.unwrap_or(1).max(1),
        factory_bad_blocks,
        initial_cycles: nand.initial_cycles.unwrap_or(0),
    }))
}

/// How many suspensions an erase bears.
fn suspend_limit(drive: &LoadedDrive, limit: &SuspendLimitConfig) -> Result<SuspendLimit, Error> {
    let young = WearPoint { cycles: limit.young_cycles, per_loop: limit.young_suspensions };
    let worn = WearPoint { cycles: limit.worn_cycles, per_loop: limit.worn_suspensions };
    let limit = LimitByWear::new(young, worn)
        .and_then(|by_wear| SuspendLimit::new(by_wear, limit.rber_factor, limit.rber_exponent));
    limit.map_err(|error| {
        let key = match error.parameter {
            "young.cycles" => "young_cycles",
            "young.per_loop" => "young_suspensions",
            "worn.cycles" => "worn_cycles",
            "worn.per_loop" => "worn_suspensions",
            parameter => parameter,
        };
        drive.error_at(&format!("nand.suspend_limit.{key}"), error.problem)
    })
}
