//! The drives of worlds: flash alone, storage-class memory alone, and drives of two media.

use std::collections::BTreeMap;

use ninescope::Plan;
use ninescope::config::{
    Cell, ControllerConfig, DriveConfig, EraseLoopsConfig, FirmwareConfig, FtlSection, GeometryConfig,
    LoopSharesConfig, NandConfig, PageTypesConfig, PlaneGroupsConfig, PlaneReadsConfig, ProgramMoves, ProgramsConfig,
    ReadMoves, SchedulerConfig, SuspendLimitConfig,
};
use ninescope_engine::{Dealing, Forwarding, Interface, LinkCarries, LinkReads, NoProbe, OnHeap, WriteCompletion};
use ninescope_model::SECTOR_BYTES;
use ninescope_model::units::{Bytes, Duration, Hertz};
use ninescope_tier::PlacementConfig;
use ninescope_tier::policies::Below;

use super::World;
use super::block_maps;
use super::codes::{self, Wants, bytes_at};
use super::dice::Dice;
use super::keys::{policy_name, put_at, take_at, text, value_at};
use super::policies::set_policy;
use super::scm::{dram, scm, shared_dram, tier};

/// Drives of this many mapping units at most.
const UNITS_MAX: u64 = 6_000;
/// The largest page that may be a slot.
const SLOT_MAX: Bytes = Bytes(16_384);

/// A drive of a placement, which may be refused.
pub(super) fn drive(dice: &mut Dice, name: &str) -> toml::Table {
    let below = placement(name).chosen().below();
    let of_scm_alone = name == "scm-only" || below == Below::Scm;
    let slot = Bytes(512 << dice.small(0, 5));
    let wants = Wants::draw(dice, !of_scm_alone, (name == "nand-only", matches!(name, "nand-only" | "wb")));
    let geometry = geometry(dice, (below == Below::Flash).then_some(slot), wants.more_blocks());
    let config = DriveConfig {
        summary: String::new(),
        geometry: (!of_scm_alone).then_some(geometry),
        nand: (!of_scm_alone).then(|| nand(dice)),
        dram: None,
        power: None,
        firmware: (name == "nand-only").then(|| firmware(&mut dice.of("firmware"))).flatten(),
        scm: (name != "nand-only").then(|| scm(dice, slot, 1)),
        storage_scm: (below == Below::Scm).then(|| scm(dice, slot, 8)),
        tier: tier(dice, below),
        ftl: if of_scm_alone { FtlSection::default() } else { ftl(dice, &geometry, below == Below::Flash) },
        controller: controller(dice),
        scheduler: SchedulerConfig { multi_plane: dice.chance(75), ..SchedulerConfig::default() },
        zns: None,
        namespaces: Vec::new(),
        backing_store: None,
        scrub: None,
        refresh: None,
        endurance: Default::default(),
        sources: BTreeMap::new(),
    };
    let mut table = toml::Table::try_from(&config).expect("a drive is TOML");
    if name != "nand-only" {
        table.entry("tier").or_insert_with(|| toml::Table::new().into());
        set_policy(dice, &mut table, "tier.placement", name);
        dram(&mut dice.of("dram"), &mut table, placement(name).chosen().is_cache());
    }
    if !of_scm_alone && (name == "nand-only" || table.contains_key("dram")) {
        shared_dram(&mut dice.of("shared dram"), &mut table);
    }
    for (key, policies) in ninescope::policies() {
        let dice = &mut dice.of(key);
        let policies = &block_maps::without(key, policies);
        let name = dice.policy(key, policies);
        // What pushes back and what makes way is above another medium; placements are set by now.
        let fits = key != "tier.placement" && (!key.starts_with("tier.") || below != Below::Nothing);
        if fits && wants.key(dice, key, !of_scm_alone) {
            set_policy(dice, &mut table, key, wants.name(key, name));
        }
        if let Some(entry) = key.strip_prefix("scm.") {
            let key_below = format!("storage_scm.{entry}");
            let name = dice.policy(&key_below, policies);
            if wants.key(dice, key, !of_scm_alone) {
                set_policy(dice, &mut table, &key_below, name);
            }
        }
    }
    codes::complete(dice, &mut table);
    stream_channels(&mut dice.of("stream channels"), &mut table);
    commands_per_queue(&mut dice.of("commands per queue"), &mut table);
    more_on_the_link(&mut dice.of("link"), &mut table);
    on_sata(&mut dice.of("sata"), &mut table);
    if of_scm_alone {
        leave_out_flash(&mut table);
    } else {
        by_sector(&mut dice.of("by sector"), &mut table);
        planes_apart(&mut dice.of("planes apart"), &mut table);
        planes_as_die(&mut dice.of("planes as die"), &mut table);
        time_of_trims(&mut dice.of("trims"), &mut table);
        staggered(&mut dice.of("page types"), &mut table);
    }
    table
}

/// What was drawn for flash says nothing on a drive without any, which is refused.
fn leave_out_flash(drive: &mut toml::Table) {
    drive.remove("ftl");
    let of_flash = ["write_completion", "buffered_pages", "shared_buffered_pages", "page_timeout"];
    for key in of_flash.map(|key| format!("controller.{key}")) {
        take_at(drive, &key);
    }
    for key in ["scheduler.suspend", "scheduler.multi_plane", "scheduler.merge_window", "scheduler.merge_by"] {
        take_at(drive, key);
    }
}

/// Planes of some dies read each by itself, where nothing counts on a die doing one thing at a time.
pub(super) fn planes_read_apart(dice: &mut Dice, drive: &mut toml::Table) {
    let planes = value_at(drive, "geometry.planes_per_die").and_then(toml::Value::as_integer).unwrap_or(1);
    let by_class = policy_name(drive, "scheduler.transactions").is_some_and(|name| name == "by-class");
    let one_at_a_time = by_class || ["power", "nand.die_failures"].iter().any(|key| value_at(drive, key).is_some());
    if planes > 1 && !one_at_a_time && dice.chance(40) {
        put_at(drive, "nand.plane_reads", "independently");
    }
}

/// Some dies program the pages of a wordline in one go, unless they have something that does not go with that.
pub(super) fn wordlines_in_one_go(dice: &mut Dice, world: &mut World) {
    let bits =
        value_at(&world.drive, "nand.cell").and_then(|cell| cell.clone().try_into::<Cell>().ok()).map(Cell::bits);
    let Some(bits) = bits.filter(|_| dice.chance(70)).and_then(|bits| i64::try_from(bits).ok()) else { return };
    let before = world.drive.clone();
    let drive = &mut world.drive;
    let program =
        value_at(drive, "nand.program").and_then(toml::Value::as_array).and_then(|times| times.first()).cloned();
    if let Some(program) = program {
        put_at(drive, "nand.program", toml::Value::Array(vec![program]));
    }
    put_at(drive, "nand.programs", "one-shot");
    if dice.chance(60) {
        put_at(drive, "nand.program_load", text(dice.time(0, 5)));
    }
    let pages = value_at(drive, "geometry.pages_per_block").and_then(toml::Value::as_integer).unwrap_or(1);
    put_at(drive, "geometry.pages_per_block", (pages + bits - 1) / bits * bits);
    // Wordlines of all planes of a die have to find room.
    for key in ["controller.buffered_pages", "controller.shared_buffered_pages"] {
        if let Some(pages) = value_at(drive, key).and_then(toml::Value::as_integer) {
            put_at(drive, key, pages * bits + i64::from(dice.small(0, 9)));
        }
    }
    if !world.plan().is_ok_and(|plan| plan.into_device::<OnHeap>(NoProbe).is_ok()) {
        world.drive = before;
    }
}

/// Pages of some dies leave from second registers, where nothing counts on a die doing one thing at a time.
pub(super) fn reads_are_cached(dice: &mut Dice, drive: &mut toml::Table) {
    let held = ["nand.ecc.holds_die", "nand.edc.holds_die"];
    let apart = ["power", "nand.plane_reads"].iter().any(|key| value_at(drive, key).is_some())
        || held.iter().any(|key| value_at(drive, key) == Some(&toml::Value::Boolean(true)));
    let reads = value_at(drive, "nand.read").and_then(toml::Value::as_array).into_iter().flatten();
    let slowest = reads.filter_map(|time| time.clone().try_into::<Duration>().ok()).map(|time| time.0).max();
    if let Some(slowest) = slowest.filter(|_| !apart)
        && dice.chance(30)
    {
        // A move that takes longer than a read is refused.
        put_at(drive, "nand.cache_read", text(Duration(dice.one_of(&[0, 1, 500, slowest]).min(slowest))));
    }
}

/// What accesses take depends on layer and wear on some drives; no pulse of a program gets shorter than a nanosecond, and no erase
/// shorter than it was, beside which suspensions were drawn.
pub(super) fn times_vary(dice: &mut Dice, drive: &mut toml::Table) {
    if value_at(drive, "nand").is_none() || !dice.chance(30) {
        return;
    }
    let pulses = value_at(drive, "nand.program_pulses").and_then(toml::Value::as_integer).unwrap_or(1).cast_unsigned();
    let programs = value_at(drive, "nand.program").and_then(toml::Value::as_array).into_iter().flatten();
    let programs = programs.chain(value_at(drive, "nand.slc_program"));
    let shortest = programs.filter_map(|time| time.clone().try_into::<Duration>().ok()).map(|time| time.0).min();
    let least = if shortest.is_some_and(|time| time >= 8 * pulses) { 0.5 } else { 1.0 };
    let pages = value_at(drive, "geometry.pages_per_block").and_then(toml::Value::as_integer).unwrap_or(1);
    let mut layers = |least: f64| -> toml::Value {
        let count = dice.small(0, 3).min(pages as u32);
        (0..count).map(|_| toml::Value::from(dice.one_of(&[least, 1.0, 1.3, 2.5]))).collect::<Vec<_>>().into()
    };
    let mut section: toml::Table = [("read_layers", layers(1.0)), ("program_layers", layers(least))]
        .map(|(key, of)| (key.to_owned(), of))
        .into_iter()
        .collect();
    let mut row = |cycles: i64| {
        let factors = [("program", dice.one_of(&[least, 1.0, 1.7])), ("erase", dice.one_of(&[1.0, 1.001, 2.0]))];
        let mut row: toml::Table = factors.map(|(key, factor)| (key.to_owned(), factor.into())).into_iter().collect();
        row.insert("cycles".to_owned(), cycles.into());
        row
    };
    // A few erases already make a difference.
    let wear = vec![row(0), row(7), row(1_000)];
    section.insert("wear".to_owned(), wear.into());
    put_at(drive, "nand.times", section);
}

/// Some orders by address go over the frontiers of a die as over dies.
fn planes_as_die(dice: &mut Dice, drive: &mut toml::Table) {
    let planes = |key: &str| value_at(drive, key).and_then(toml::Value::as_integer);
    let frontier = planes("ftl.frontier_planes").or_else(|| planes("geometry.planes_per_die")).unwrap_or(1);
    let by_address = policy_name(drive, "ftl.page_allocation").is_some_and(|name| name == "static");
    if by_address && dice.chance(30) {
        put_at(drive, "ftl.page_allocation.planes_as_die", frontier);
    }
}

/// Some controllers take their time for the entries that a TRIM changes at once.
fn time_of_trims(dice: &mut Dice, drive: &mut toml::Table) {
    let at_once = policy_name(drive, "ftl.trim").is_none_or(|name| name == "at-once");
    if at_once && dice.chance(20) {
        let mut trim = toml::Table::new();
        trim.insert("policy".to_owned(), "at-once".into());
        trim.insert("entry_time".to_owned(), text(dice.time(1, 5)));
        put_at(drive, "ftl.trim", trim);
    }
}

/// Some dies take commands for some of their planes only, of whole frontiers.
fn planes_apart(dice: &mut Dice, drive: &mut toml::Table) {
    let planes = |key: &str| value_at(drive, key).and_then(toml::Value::as_integer);
    let frontier = planes("ftl.frontier_planes").or_else(|| planes("geometry.planes_per_die")).unwrap_or(1);
    if dice.chance(30) {
        put_at(drive, "nand.planes_per_command", frontier * i64::from(dice.small(1, 2)));
        if frontier == 1 && dice.of("interleaved").chance(50) {
            put_at(drive, "nand.plane_groups", "interleaved");
        }
    }
    if dice.of("merge window").chance(40) {
        put_at(drive, "scheduler.merge_window", i64::from(dice.of("window").small(1, 40)));
    }
    let mut any_page = dice.of("any page");
    if frontier == 1 && any_page.chance(30) {
        put_at(drive, "nand.any_page", true);
        let unit_of_page = bytes_at(drive, "ftl.mapping_unit") == bytes_at(drive, "geometry.page_size");
        if any_page.chance(60) && unit_of_page {
            put_at(drive, "scheduler.merge_by", any_page.one_of(&["write", "touch"]));
        }
    }
}

/// Some drives fill their wordlines staggered.
fn staggered(dice: &mut Dice, drive: &mut toml::Table) {
    let Ok(config) = drive.clone().try_into::<DriveConfig>() else { return };
    let (Some(shape), Some(nand)) = (config.geometry, config.nand) else { return };
    if !dice.chance(30) {
        return;
    }
    let last_type = nand.cell.bits() as u32 - 1;
    let mut some = |least, most| (0..dice.small(least, most)).map(|_| dice.small(0, last_type) as u8).collect();
    let half = shape.pages_per_block / 2;
    let types = PageTypesConfig { first: some(0, half), then: some(1, 6), last: some(0, half) };
    put_at(drive, "nand.page_types", toml::Value::try_from(types).expect("lists of numbers"));
}

/// Some drives move sectors, where no code covers more than one, and merge by them.
fn by_sector(dice: &mut Dice, drive: &mut toml::Table) {
    let has_code = ["nand.ecc", "nand.edc"].iter().any(|key| policy_name(drive, key).is_some());
    let keys = ["nand.read_moves", "nand.program_moves", "ftl.merges"];
    for (key, chance) in keys.into_iter().zip([30, 30, 30]) {
        if dice.chance(chance) && !has_code {
            put_at(drive, key, "sectors");
        }
    }
    let mut before = dice.of("used at start");
    if policy_name(drive, "ftl.merges").as_deref() == Some("sectors") && before.chance(50) {
        // A unit has at least one sector, and most have as many as two halves.
        let pieces = if bytes_at(drive, "ftl.mapping_unit") >= Some(1024) { before.small(1, 2) } else { 1 };
        let shares = (0..pieces).map(|_| toml::Value::Float(f64::from(before.small(0, 4)) / 4.0)).collect();
        put_at(drive, "ftl.used_at_start", toml::Value::Array(shares));
    }
}

/// On some drives decisions take cores, few of which are fast.
fn firmware(dice: &mut Dice) -> Option<FirmwareConfig> {
    if !dice.chance(18) {
        return None;
    }
    let [command, look_up, allocation, transaction, victim, moving] =
        [70, 60, 60, 70, 60, 60].map(|percent| if dice.chance(percent) { dice.small(1, 4_000) } else { 0 });
    Some(FirmwareConfig {
        cores: dice.small(1, 5),
        clock: Hertz(dice.one_of(&[100_000_000, 333_000_000, 1_000_000_000, 1_500_000_000])),
        dealing: dice.one_of(&[Dealing::Shared, Dealing::ByRole]),
        command,
        look_up,
        allocation,
        transaction,
        victim,
        moving,
    })
}

/// On some drives of several kinds of data these have channels of their own.
fn stream_channels(dice: &mut Dice, drive: &mut toml::Table) {
    let Ok(config) = drive.clone().try_into::<DriveConfig>() else { return };
    let (kinds, channels) = (config.ftl.streams.kinds().0, config.geometry.map_or(0, |shape| shape.channels));
    let by_address = policy_name(drive, "ftl.page_allocation").is_some_and(|name| name == "static");
    if kinds < 2 || channels < 2 || by_address || config.ftl.map.chosen().rules().is_some() || !dice.chance(60) {
        return;
    }
    let mut lists = vec![Vec::new(); kinds as usize];
    // Each channel has a kind, and each kind a channel.
    for channel in 0..channels {
        lists[dice.small(0, kinds - 1) as usize].push(channel);
    }
    for list in &mut lists {
        let channel = dice.small(0, channels - 1);
        if list.is_empty() || dice.chance(30) && !list.contains(&channel) {
            list.push(channel);
        }
    }
    let lists: toml::Value = lists.into();
    let ftl = drive.get_mut("ftl").and_then(toml::Value::as_table_mut);
    if let Some(ftl) = ftl {
        ftl.insert("stream_channels".to_owned(), lists);
    }
}

/// Some drives have few commands of a queue at a time.
fn commands_per_queue(dice: &mut Dice, drive: &mut toml::Table) {
    if dice.chance(12) {
        put_at(drive, "controller.commands_per_queue", i64::from(dice.small(1, 8)));
    }
}

/// Some send more than data over the link, and some the data of a read together.
fn more_on_the_link(dice: &mut Dice, drive: &mut toml::Table) {
    if dice.chance(12) {
        put_at(drive, "controller.link_carries", "commands");
        for key in ["fetch_time", "fetch_entries", "fetches_in_flight"] {
            take_at(drive, &format!("controller.{key}"));
        }
    }
    if dice.chance(12) {
        put_at(drive, "controller.link_reads", "whole");
    }
}

/// Some drives are on SATA, which has one queue, so that nothing says whose turn it is.
fn on_sata(dice: &mut Dice, drive: &mut toml::Table) {
    let in_turn = policy_name(drive, "scheduler.arbitration").is_none_or(|name| name == "round-robin");
    if !(in_turn && dice.chance(15)) {
        return;
    }
    put_at(drive, "controller.interface", "sata");
    // It knows no memory of the host.
    for key in ["host_memory", "host_access", "host_link"] {
        take_at(drive, &format!("ftl.map.{key}"));
    }
    put_at(drive, "controller.queue_depth", i64::from(dice.small(1, 32)));
    if dice.of("queued trims").chance(40) {
        put_at(drive, "controller.queued_trims", true);
    }
    for key in
        ["queue_entries", "commands_per_queue", "fetch_time", "fetch_entries", "fetches_in_flight", "link_carries"]
    {
        take_at(drive, &format!("controller.{key}"));
    }
}

/// Half of the drives are of flash alone, whose mechanisms are most.
pub(super) fn placement_name(dice: &mut Dice) -> &'static str {
    let policies = ninescope::policies();
    let list = policies.iter().find(|(key, _)| *key == "tier.placement").map_or(&[][..], |(_, list)| list);
    if dice.chance(50) { "nand-only" } else { dice.one_of(list).0 }
}

fn placement(name: &str) -> PlacementConfig {
    let table = toml::Table::from_iter([("policy".to_owned(), toml::Value::from(name))]);
    table.try_into().expect("a name of the registry")
}

/// Sectors of what a drive maps: a page of two media, a slot, or a mapping unit.
pub(super) fn sectors_per_unit(drive: &toml::Table, plan: &Plan) -> u64 {
    let config: Option<DriveConfig> = drive.clone().try_into().ok();
    let slot = config.and_then(|config| config.scm).map(|scm| scm.slot_size.0 / SECTOR_BYTES);
    slot.unwrap_or_else(|| plan.sectors_per_unit())
}

/// The shape of the flash, with pages of a slot if it lies below slots.
fn geometry(dice: &mut Dice, slot: Option<Bytes>, more_blocks: u32) -> GeometryConfig {
    loop {
        let planes_per_die = dice.one_of(&[1, 1, 2, 2, 3, 4]);
        let shape = GeometryConfig {
            channels: dice.small(1, 3),
            packages_per_channel: dice.small(1, 2),
            dies_per_package: dice.small(1, 2),
            planes_per_die,
            blocks_per_plane: dice.small(5, 14) + more_blocks,
            pages_per_block: dice.small(1, 10),
            page_size: slot.unwrap_or(Bytes(512 << dice.small(0, 6))),
        };
        let planes = u64::from(shape.channels * shape.packages_per_channel * shape.dies_per_package * planes_per_die);
        let pages = planes * u64::from(shape.blocks_per_plane * shape.pages_per_block);
        if pages * 4 <= UNITS_MAX {
            return shape;
        }
    }
}

fn nand(dice: &mut Dice) -> NandConfig {
    let cell = dice.one_of(&[Cell::Slc, Cell::Mlc, Cell::Tlc, Cell::Qlc]);
    let types = if dice.chance(60) { cell.bits() } else { 1 };
    let program_pulses = dice.small(1, 6);
    let erase_loop = dice.time(1, 7);
    // A suspension that costs more than the loop it interrupts is refused.
    let within_half_a_loop = |time: Duration| Duration(time.0.min(erase_loop.0 / 2));
    NandConfig {
        cell,
        read: (0..types).map(|_| dice.time(1, 5)).collect(),
        program: (0..types).map(|_| dice.time(u64::from(program_pulses), 6)).collect(),
        slc_read: None,
        slc_program: None,
        page_types: None,
        program_pulses,
        erase_loop,
        erase_loops: erase_loops(dice),
        command_address: dice.time(0, 3),
        suspend_recover: within_half_a_loop(dice.time(0, 5)),
        resume_ramp: within_half_a_loop(dice.time(0, 5)),
        read_any_block: dice.chance(30),
        any_page: false,
        planes_per_command: None,
        plane_groups: PlaneGroupsConfig::default(),
        plane_reads: PlaneReadsConfig::default(),
        cache_read: None,
        times: None,
        programs: ProgramsConfig::Page,
        program_load: None,
        endurance_cycles: None,
        bit_cost: None,
        initial_cycles: Some(dice.one_of(&[0, 1, 99, 250, 999, 5_000])),
        channel_rate: dice.rate(),
        read_moves: ReadMoves::default(),
        program_moves: ProgramMoves::default(),
        suspend_limit: dice.chance(50).then(|| SuspendLimitConfig {
            young_cycles: dice.small(1, 100),
            young_suspensions: dice.small(3, 5),
            worn_cycles: dice.small(101, 1_000),
            worn_suspensions: dice.small(1, 3),
            rber_factor: 1e-6,
            rber_exponent: 1.5,
        }),
        spare_size: None,
        die_failures: Vec::new(),
        ecc: None,
        edc: None,
        errors: None,
        variation: None,
        initial_age: None,
        temperature: None,
        retry: None,
        wear_out: None,
        program_failures: None,
        erase_failures: None,
        failures_rise: None,
        factory_bad_blocks: None,
        corruption: None,
    }
}

/// The same for all blocks, or more with wear: a few erases already make a difference.
fn erase_loops(dice: &mut Dice) -> EraseLoopsConfig {
    if dice.chance(60) {
        return EraseLoopsConfig::Fixed(dice.small(1, 5));
    }
    let row = |cycles, shares: &[f64]| LoopSharesConfig { cycles, shares: shares.to_vec() };
    EraseLoopsConfig::ByWear(vec![
        row(0, &[1.0]),
        row(dice.small(1, 50), &[0.5, 0.25, 0.25]),
        row(dice.small(51, 900), &[0.0, 0.25, 0.5, 0.25]),
    ])
}

fn ftl(dice: &mut Dice, shape: &GeometryConfig, unit_is_page: bool) -> FtlSection {
    let unit = shape.page_size.0 >> if unit_is_page { 0 } else { dice.small(0, 3) };
    let divisors: Vec<u32> =
        (1..=shape.planes_per_die).filter(|&planes| shape.planes_per_die.is_multiple_of(planes)).collect();
    FtlSection {
        mapping_unit: Bytes(unit.clamp(512, SLOT_MAX.0)),
        over_provisioning: dice.one_of(&[0.1, 0.28, 0.5, 1.0, 2.0, 4.0]),
        frontier_planes: Some(dice.one_of(&divisors)),
        gc_reserve_blocks: dice.small(1, 2),
        gc_pages_in_flight: dice.chance(50).then(|| dice.small(1, 9)),
        ..FtlSection::default()
    }
}

fn controller(dice: &mut Dice) -> ControllerConfig {
    // Of its own, so that worlds of before stay what they are.
    let protocol = &mut dice.of("protocol");
    let interrupts = protocol.chance(12).then(|| (protocol.small(1, 20), protocol.time(1, 6)));
    let fetch = protocol.chance(12).then(|| (protocol.time(1, 5), protocol.chance(70).then(|| protocol.small(1, 6))));
    ControllerConfig {
        queue_depth: dice.small(1, 64),
        interface: Interface::Nvme,
        queued_trims: false,
        link_rate: dice.rate(),
        link_carries: LinkCarries::Data,
        link_reads: LinkReads::ByPage,
        command_cost: dice.time(0, 4),
        max_transfer: protocol.chance(15).then(|| Bytes(512 * u64::from(protocol.small(1, 24)))),
        queues: None,
        queue_entries: protocol.chance(12).then(|| protocol.small(2, 12)),
        commands_per_queue: None,
        fetch_time: fetch.map(|(time, _)| time),
        fetch_entries: fetch.and_then(|(_, entries)| entries),
        fetches_in_flight: fetch.filter(|_| protocol.chance(50)).map(|_| protocol.small(1, 5)),
        interrupt_threshold: interrupts.map(|(threshold, _)| threshold),
        interrupt_time: interrupts.map(|(_, time)| time),
        forwards: Forwarding::All,
        write_completion: if dice.chance(65) { WriteCompletion::Buffer } else { WriteCompletion::Program },
        buffered_pages: dice.chance(60).then(|| dice.small(1, 20)),
        shared_buffered_pages: dice.chance(20).then(|| dice.small(1, 400)),
        page_timeout: dice.chance(30).then(|| dice.time(1, 7)),
    }
}
