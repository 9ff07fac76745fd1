//! The controller of a drive: queues, buffers, links, schedulers.

use ninescope_engine::{
    BufferPartsConfig, Coalescing, EngineConfig, Fetch, Interface, LinkCarries, ProtocolConfig, SectorRules,
    WriteCompletion,
};
use ninescope_ftl::ZoneConfig;
use ninescope_kernel::{Chance, Ns, Rate};
use ninescope_model::units::Bytes;
use ninescope_model::{Geometry, QUEUES_MAX, SECTOR_BYTES};
use ninescope_tier::PlacementConfig;

use crate::config::{ControllerConfig, DriveConfig, LoadedDrive, Merges, ProgramMoves, ReadMoves};
use crate::error::Error;

/// No stage of a command may take longer [ns]: beyond it is a typing error, and sums of times cannot overflow.
pub(super) const TIME_MAX: u64 = 3_600_000_000_000;
/// The most entries of a queue or buffer: NVMe's largest queue.
pub(crate) const ENTRIES_MAX: u64 = 65_535;
/// The most commands inside a drive on SATA: native command queueing numbers so many.
const NCQ_DEPTH_MAX: u32 = 32;
/// The most entries of a queue of the host: what NVMe can number.
const QUEUE_ENTRIES_MAX: u32 = 65_536;
/// The most completions of one interrupt: NVMe's aggregation threshold has eight bits, from 1 on.
const COALESCED_MAX: u32 = 256;
/// The fastest link of SATA [B/s]: 6 Gb/s, of which eight bits in ten are data.
const SATA_RATE_MAX: u64 = 600_000_000;
/// The slowest link and channel [B/s]: the longest transfer must be short beside the simulated time there is.
const RATE_MIN: u64 = 1_000;

/// Checks the controller's keys and derives what the engine takes.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn engine_config(
    drive: &LoadedDrive,
    geometry: &Geometry,
    zones: Option<&ZoneConfig>,
    log_requests: bool,
) -> Result<EngineConfig, Error> {
    check_entries(drive)?;
    check_rates(drive)?;
    check_times(drive)?;
    let controller = &drive.config.controller;
    let buffered_pages = buffered_pages(drive, geometry, zones)?;
    let scheduler = &drive.config.scheduler;
    if let Some((key, message)) = scheduler.suspend.chosen().problem() {
        return Err(drive.error_at(&format!("scheduler.suspend.{key}"), &message));
    }
    if let Some((key, message)) = scheduler.transactions.chosen().problem() {
        return Err(drive.error_at(&format!("scheduler.transactions.{key}"), &message));
    }
    if let Some((key, message)) = scheduler.arbitration.chosen().problem() {
        return Err(drive.error_at(&format!("scheduler.arbitration.{key}"), &message));
    }
    check_trims(drive)?;
    if let Some((key, message)) = drive.config.ftl.throttle.chosen().problem() {
        return Err(drive.error_at(&format!("ftl.throttle.{key}"), &message));
    }
    Ok(EngineConfig {
        queue_depth: controller.queue_depth,
        command_cost: Ns(controller.command_cost.0),
        link_rate: Rate(controller.link_rate.0),
        write_completion: controller.write_completion,
        forwards: controller.forwards,
        protocol: protocol(drive)?,
        buffered_pages,
        shared_buffered_pages: controller.shared_buffered_pages,
        buffer_parts: BufferPartsConfig::default(),
        page_timeout: controller.page_timeout.map(|timeout| Ns(timeout.0)),
        multi_plane: scheduler.multi_plane,
        merge_window: merge_window(drive)?,
        merge_by: scheduler.merge_by,
        sectors: sector_rules(drive)?,
        gc_pages_in_flight: drive
            .config
            .ftl
            .gc_pages_in_flight
            .unwrap_or(4 * geometry.frontier_planes * geometry.data_dies()),
        gc_copybacks: drive.config.ftl.gc_copybacks,
        slc_fold_after: drive.config.ftl.slc_cache.and_then(|cache| cache.fold_after).map(|after| Ns(after.0)),
        throttle: drive.config.ftl.throttle.clone(),
        trim: drive.config.ftl.trim.clone(),
        scheduler: scheduler.transactions.clone(),
        channel: scheduler.channel.clone(),
        arbitration: scheduler.arbitration.clone(),
        suspend: scheduler.suspend.clone(),
        log_requests,
    })
}

/// That TRIMs are handled as they can be there: what is put off goes with drives of flash alone whose map is in memory.
fn check_trims(drive: &LoadedDrive) -> Result<(), Error> {
    let DriveConfig { ftl, tier, scm, zns, backing_store, .. } = &drive.config;
    if let Some((key, message)) = ftl.trim.chosen().problem() {
        return Err(drive.error_at(&format!("ftl.trim.{key}"), &message));
    }
    let others = [
        ("zones ([zns])", zns.is_some()),
        ("storage-class memory ([scm])", scm.is_some()),
        ("a cache (tier.placement)", tier.placement != PlacementConfig::default()),
        ("a map in flash (ftl.map)", ftl.map.chosen().rules().is_some()),
        ("clean data that is kept apart (ftl.streams)", ftl.streams.knows_clean()),
        ("a store behind the drive ([backing_store])", backing_store.is_some()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        Some((other, _)) if ftl.trim.chosen().deferral().is_some() => {
            Err(drive.error_at("ftl.trim", &format!("is \"{}\", which does not go with {other}", ftl.trim.name())))
        }
        _ => Ok(()),
    }
}

/// How many accesses are looked at to fill the planes of a command.
fn merge_window(drive: &LoadedDrive) -> Result<u32, Error> {
    match drive.config.scheduler.merge_window {
        0 => {
            Err(drive
                .error_at("scheduler.merge_window", "must not be zero: scheduler.multi_plane = false merges nothing"))
        }
        window => Ok(window),
    }
}

/// What goes by sector. A code covers more than one, and is of no use by the sector.
fn sector_rules(drive: &LoadedDrive) -> Result<SectorRules, Error> {
    let Some(nand) = &drive.config.nand else { return Ok(SectorRules::default()) };
    let rules = SectorRules {
        reads: nand.read_moves == ReadMoves::Sectors,
        programs: nand.program_moves == ProgramMoves::Sectors,
        rests: drive.config.ftl.merges == Merges::Sectors,
        used_at_start: used_at_start(drive)?,
    };
    let by_sector =
        [("nand.read_moves", rules.reads), ("nand.program_moves", rules.programs), ("ftl.merges", rules.rests)];
    let codes = [("nand.ecc", nand.ecc.is_some()), ("nand.edc", nand.edc.is_some())];
    match (by_sector.into_iter().find(|(_, given)| *given), codes.into_iter().find(|(_, given)| *given)) {
        (Some((key, _)), Some((code, _))) => {
            Err(drive.error_at(key, &format!("is \"sectors\", and codewords of {code} are read and written whole")))
        }
        _ => Ok(rules),
    }
}

/// How likely each piece of a unit was used before the run.
fn used_at_start(drive: &LoadedDrive) -> Result<Vec<Chance>, Error> {
    const KEY: &str = "ftl.used_at_start";
    let ftl = &drive.config.ftl;
    let (sectors, pieces) = (ftl.mapping_unit.0 / SECTOR_BYTES, ftl.used_at_start.len() as u64);
    if pieces == 0 {
        return Ok(Vec::new());
    }
    if ftl.merges == Merges::Units {
        return Err(drive.error_at(KEY, "goes with ftl.merges = \"sectors\" alone, which keeps what was used"));
    }
    if sectors % pieces != 0 {
        let problem =
            format!("has {pieces} shares, and a mapping unit of {sectors} sectors has no so many equal pieces");
        return Err(drive.error_at(KEY, &problem));
    }
    if let Some(share) = ftl.used_at_start.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        return Err(drive.error_at(KEY, &format!("has a share of {share}, and shares are from 0 to 1")));
    }
    Ok(ftl.used_at_start.iter().copied().map(Chance::of).collect())
}

/// What lies between the requests of the host and the drive's commands.
fn protocol(drive: &LoadedDrive) -> Result<ProtocolConfig, Error> {
    let controller = &drive.config.controller;
    check_interface(drive, controller)?;
    Ok(ProtocolConfig {
        interface: controller.interface,
        queued_trims: controller.queued_trims,
        max_transfer: max_transfer(drive, controller.max_transfer)?,
        queue_entries: queue_entries(drive, controller)?,
        commands_per_queue: controller.commands_per_queue,
        fetch: fetch(drive, controller)?,
        interrupts: interrupts(drive, controller)?,
        link_carries: link_carries(drive, controller)?,
        link_reads: controller.link_reads,
    })
}

/// That SATA is given nothing of NVMe.
fn check_interface(drive: &LoadedDrive, controller: &ControllerConfig) -> Result<(), Error> {
    if controller.interface == Interface::Nvme {
        let problem = "is of controller.interface = \"sata\", and TRIMs of NVMe are commands among others";
        return if controller.queued_trims { Err(drive.error_at("controller.queued_trims", problem)) } else { Ok(()) };
    }
    let of_sata = "controller.interface = \"sata\"";
    if controller.queue_depth > NCQ_DEPTH_MAX {
        let problem =
            format!("is {}, at most {NCQ_DEPTH_MAX} are supported with {of_sata} (NCQ)", controller.queue_depth);
        return Err(drive.error_at("controller.queue_depth", &problem));
    }
    let of_nvme = [
        ("controller.queues", controller.queues.is_some()),
        ("controller.queue_entries", controller.queue_entries.is_some()),
        ("controller.commands_per_queue", controller.commands_per_queue.is_some()),
        ("controller.fetch_time", controller.fetch_time.is_some()),
        ("controller.fetch_entries", controller.fetch_entries.is_some()),
        ("controller.fetches_in_flight", controller.fetches_in_flight.is_some()),
        ("controller.link_carries", controller.link_carries != LinkCarries::Data),
        ("scheduler.arbitration", drive.config.scheduler.arbitration.chosen().knows_weights()),
    ];
    match of_nvme.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(drive.error_at(key, &format!("is about queues, of which {of_sata} has one"))),
        None => Ok(()),
    }
}

/// What a reader must know about a drive on SATA whose link is faster than any of SATA: it may be what a preset gives.
pub fn sata_note(config: &DriveConfig) -> Option<String> {
    let rate = config.controller.link_rate;
    (config.controller.interface == Interface::Sata && rate.0 > SATA_RATE_MAX).then(|| {
        let mega = rate.0 as f64 / 1e6;
        format!("controller.link_rate is {mega:.0} MB/s, and SATA's fastest link has 600 MB/s (6 Gb/s, 8b/10b)")
    })
}

/// What a reader must know about a drive whose writes complete above flash, whatever is said of those that do in flash.
pub fn completion_note(config: &DriveConfig) -> Option<String> {
    let all_above = matches!(config.tier.placement, PlacementConfig::Wb(_));
    (all_above && config.controller.write_completion == WriteCompletion::Program).then(|| {
        "controller.write_completion = \"program\" changes nothing: tier.placement = \"wb\" has every write complete in the \
         cache above flash"
            .to_owned()
    })
}

/// What a reader must know about a bound for all dies that the bounds of single dies never let it reach.
pub fn shared_buffer_note(engine: &EngineConfig, geometry: &Geometry) -> Option<String> {
    let of_dies = u64::from(engine.buffered_pages) * u64::from(geometry.dies());
    let shared = engine.shared_buffered_pages.map(u64::from).filter(|&shared| shared > of_dies)?;
    engine.buffer_parts.pages.is_empty().then(|| {
        format!(
            "controller.shared_buffered_pages is {shared} and changes nothing: with {} for each die \
             (controller.buffered_pages) all have {of_dies} at most",
            engine.buffered_pages
        )
    })
}

/// Queues and their entries, of which neither may be more than NVMe numbers.
fn queue_entries(drive: &LoadedDrive, controller: &ControllerConfig) -> Result<Option<u32>, Error> {
    let of_nvme = [
        ("controller.queues", controller.queues, 1, QUEUES_MAX),
        ("controller.queue_entries", controller.queue_entries, 2, QUEUE_ENTRIES_MAX),
        ("controller.commands_per_queue", controller.commands_per_queue, 1, QUEUES_MAX),
    ];
    for (key, value, least, most) in of_nvme {
        let problem = match value {
            Some(value) if value < least => format!("is {value}, at least {least} are needed"),
            Some(value) if value > most => format!("is {value}, at most {most} are supported, as by NVMe"),
            _ => continue,
        };
        return Err(drive.error_at(key, &problem));
    }
    Ok(controller.queue_entries)
}

/// How commands are read out of the queues.
fn fetch(drive: &LoadedDrive, controller: &ControllerConfig) -> Result<Option<Fetch>, Error> {
    let refused = |key: &str, problem: &str| Err(drive.error_at(&format!("controller.{key}"), problem));
    let counts = [("fetch_entries", controller.fetch_entries), ("fetches_in_flight", controller.fetches_in_flight)];
    let Some(time) = controller.fetch_time.map(|time| time.0) else {
        return match counts.into_iter().find(|(_, count)| count.is_some()) {
            Some((key, _)) => refused(key, "needs `fetch_time`"),
            None => Ok(None),
        };
    };
    if time == 0 || time > TIME_MAX {
        return refused("fetch_time", if time == 0 { "must not be zero" } else { "is longer than an hour" });
    }
    for (key, count) in counts {
        match count.map_or(1, u64::from) {
            0 => return refused(key, "must not be zero"),
            count if count > ENTRIES_MAX => {
                return refused(key, &format!("is {count}, at most {ENTRIES_MAX} are supported"));
            }
            _ => {}
        }
    }
    let [entries, in_flight] = counts.map(|(_, count)| count.unwrap_or(1));
    Ok(Some(Fetch { time: Ns(time), entries, in_flight }))
}

/// What crosses the link: an entry that is asked for over it takes no other time to come.
fn link_carries(drive: &LoadedDrive, controller: &ControllerConfig) -> Result<LinkCarries, Error> {
    if controller.link_carries == LinkCarries::Commands && controller.fetch_time.is_some() {
        let problem =
            "is how long an entry takes to come, which with controller.link_carries = \"commands\" the link says";
        return Err(drive.error_at("controller.fetch_time", problem));
    }
    Ok(controller.link_carries)
}

/// How completions are gathered: by a number and a time, both or none.
fn interrupts(drive: &LoadedDrive, controller: &ControllerConfig) -> Result<Option<Coalescing>, Error> {
    let refused = |key: &str, problem: &str| Err(drive.error_at(&format!("controller.{key}"), problem));
    let (completions, time) = match (controller.interrupt_threshold, controller.interrupt_time) {
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return refused("interrupt_threshold", "needs `interrupt_time`, or the last ones wait for ever");
        }
        (None, Some(_)) => return refused("interrupt_time", "needs `interrupt_threshold`"),
        (Some(completions), Some(time)) => (completions, Ns(time.0)),
    };
    match (completions, time) {
        (0, _) => refused("interrupt_threshold", "must not be zero"),
        (_, Ns::ZERO) => refused("interrupt_time", "must not be zero"),
        _ if completions > COALESCED_MAX => refused(
            "interrupt_threshold",
            &format!("is {completions}, at most {COALESCED_MAX} are supported, as by NVMe"),
        ),
        _ if time.0 > TIME_MAX => refused("interrupt_time", "is longer than an hour"),
        _ => Ok(Some(Coalescing { completions, time })),
    }
}

/// The sectors of the largest command.
fn max_transfer(drive: &LoadedDrive, bytes: Option<Bytes>) -> Result<Option<u32>, Error> {
    let Some(bytes) = bytes else { return Ok(None) };
    let sectors = u32::try_from(bytes.0 / SECTOR_BYTES).ok();
    let problem = match sectors {
        Some(0) => format!("is {bytes}, at least a sector of {SECTOR_BYTES} B is needed"),
        Some(_) if bytes.0.is_multiple_of(SECTOR_BYTES) => return Ok(sectors),
        Some(_) => format!("is {bytes}, which is no multiple of a sector of {SECTOR_BYTES} B"),
        None => format!("is {bytes}, at most {} are supported", Bytes(u64::from(u32::MAX) * SECTOR_BYTES)),
    };
    Err(drive.error_at("controller.max_transfer", &problem))
}

/// Numbers of which none may be zero, and those of entries, of which there may not be too many.
fn check_entries(drive: &LoadedDrive) -> Result<(), Error> {
    let controller = &drive.config.controller;
    for (key, value) in [
        ("controller.queue_depth", u64::from(controller.queue_depth)),
        ("controller.link_rate", controller.link_rate.0),
        ("controller.buffered_pages", u64::from(controller.buffered_pages.unwrap_or(1))),
        ("controller.shared_buffered_pages", u64::from(controller.shared_buffered_pages.unwrap_or(1))),
        ("ftl.gc_pages_in_flight", u64::from(drive.config.ftl.gc_pages_in_flight.unwrap_or(1))),
        ("controller.page_timeout", controller.page_timeout.map_or(1, |timeout| timeout.0)),
    ] {
        if value == 0 {
            return Err(drive.error_at(key, "must not be zero"));
        }
    }
    for (key, entries) in [
        ("controller.queue_depth", u64::from(controller.queue_depth)),
        ("controller.buffered_pages", u64::from(controller.buffered_pages.unwrap_or(1))),
        ("controller.shared_buffered_pages", u64::from(controller.shared_buffered_pages.unwrap_or(1))),
        ("ftl.gc_pages_in_flight", u64::from(drive.config.ftl.gc_pages_in_flight.unwrap_or(1))),
    ] {
        if entries > ENTRIES_MAX {
            return Err(drive.error_at(key, &format!("is {entries}, at most {ENTRIES_MAX} are supported")));
        }
    }
    Ok(())
}

fn check_rates(drive: &LoadedDrive) -> Result<(), Error> {
    let controller = &drive.config.controller;
    let channel_rates = [
        ("nand.channel_rate", drive.config.nand.as_ref().map(|nand| nand.channel_rate)),
        ("dram.rate", drive.config.dram.as_ref().map(|dram| dram.rate)),
        ("scm.channel_rate", drive.config.scm.as_ref().map(|scm| scm.channel_rate)),
        ("storage_scm.channel_rate", drive.config.storage_scm.as_ref().map(|scm| scm.channel_rate)),
    ];
    let channel_rates = channel_rates.into_iter().filter_map(|(key, rate)| Some((key, rate?)));
    for (key, rate) in std::iter::once(("controller.link_rate", controller.link_rate)).chain(channel_rates) {
        if rate.0 < RATE_MIN {
            let message = format!("is {rate}, at least {RATE_MIN} B/s are needed");
            return Err(drive.error_at(key, if rate.0 == 0 { "must not be zero" } else { &message }));
        }
    }
    Ok(())
}

fn check_times(drive: &LoadedDrive) -> Result<(), Error> {
    let controller = &drive.config.controller;
    for (key, time) in [
        ("controller.command_cost", Some(controller.command_cost)),
        ("controller.page_timeout", controller.page_timeout),
        ("dram.access", drive.config.dram.as_ref().map(|dram| dram.access)),
    ] {
        if time.is_some_and(|time| time.0 > TIME_MAX) {
            return Err(drive.error_at(key, "is longer than an hour"));
        }
    }
    Ok(())
}

/// Kinds of data that are kept apart.
fn kinds_of_data(drive: &DriveConfig) -> u32 {
    if drive.ftl.map.chosen().rules().is_some() { 2 } else { drive.ftl.streams.kinds().0 }
}

/// Filled pages of a die with which every stripe can fill.
pub(crate) fn buffered_pages_min(drive: &DriveConfig, geometry: &Geometry, zones: Option<&ZoneConfig>) -> u32 {
    let kinds = kinds_of_data(drive);
    match zones {
        // Of each kind of data all but the last page of a stripe wait for the rest of it; one more completes any of them.
        None => (EngineConfig::buffered_pages_min(geometry) - 1) * kinds + 1,
        Some(zones) => EngineConfig::zoned_pages_min(geometry, zones.active),
    }
}

/// Pages that wait for their die, which must be enough for a stripe to fill.
fn buffered_pages(drive: &LoadedDrive, geometry: &Geometry, zones: Option<&ZoneConfig>) -> Result<u32, Error> {
    let controller = &drive.config.controller;
    let ftl = &drive.config.ftl;
    let least = buffered_pages_min(&drive.config, geometry, zones);
    // Where nothing is said one completes a stripe of each kind of data at a time.
    let of_all_kinds = least + if zones.is_none() { kinds_of_data(&drive.config) - 1 } else { 0 };
    let of_two_commands = 2 * geometry.planes_per_die * geometry.pages_per_program;
    let buffered_pages = controller.buffered_pages.unwrap_or(of_two_commands.max(of_all_kinds)).max(1);
    if buffered_pages < least {
        let message = format!("at least {least} are needed, or a stripe could never fill");
        let streams = ("ftl.streams", ftl.streams.name().to_owned());
        let buffered = ("controller.buffered_pages", buffered_pages.to_string());
        return Err(match ftl.streams.kinds().0 {
            1 => drive.error_at(buffered.0, &format!("is {buffered_pages}, {message}")),
            _ => drive.error_between(&[buffered, streams], &message),
        });
    }
    let least_shared = EngineConfig::shared_buffered_pages_min(geometry, least);
    if let Some(shared) = controller.shared_buffered_pages.filter(|shared| *shared < least_shared) {
        let message = format!(
            "is {shared}, at least {least_shared} are needed: {} for each of {} dies, or a stripe could never fill",
            least - 1,
            geometry.die_sets()
        );
        return Err(drive.error_at("controller.shared_buffered_pages", &message));
    }
    Ok(buffered_pages)
}
