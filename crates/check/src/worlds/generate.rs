//! Worlds from seeds. Every draw is made from one stream, so that a seed is a world; numbers are small, so
//! that everything collides.

use std::collections::BTreeMap;

use ninescope::PrefillMode;
use ninescope::config::{
    Cell, ControllerConfig, DriveConfig, EraseLoopsConfig, FtlSection, GeometryConfig, LoopSharesConfig, NandConfig,
    SchedulerConfig, SuspendLimitConfig,
};
use ninescope_engine::WriteCompletion;
use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use ninescope_model::{Lba, Op, Request};

use super::world::Line;
use super::{ArrivalKind, World};

/// Drives of this many mapping units at most.
const UNITS_MAX: u64 = 6_000;
/// Attempts at a drive that is accepted: most are refused for want of spare blocks.
const ATTEMPTS: u32 = 200;

/// Draws of a world.
struct Dice(RandomStream);

impl Dice {
    /// `low..=high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    fn small(&mut self, low: u32, high: u32) -> u32 {
        self.between(u64::from(low), u64::from(high)) as u32
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    /// A duration of any order of magnitude below 10^`digits` ns, at least `least`.
    fn time(&mut self, least: u64, digits: u32) -> Duration {
        let scale = 10_u64.pow(self.small(0, digits));
        Duration(self.between(least, (scale * 9).max(least)))
    }
}

/// The world of a seed.
///
/// # Panics
/// When no drive of a seed is accepted, which a test over the first thousands of seeds rules out.
pub fn generate(seed: u64) -> World {
    let mut dice = Dice(RandomStream::new(seed, "worlds", "world"));
    for _ in 0..ATTEMPTS {
        let drive = drive(&mut dice);
        let mut world = World {
            seed,
            about: String::new(),
            arrival: dice.one_of(&[ArrivalKind::Open, ArrivalKind::Closed]),
            queue_depth: dice.small(1, 40),
            warmup: 0,
            prefill: dice.one_of(&[
                PrefillMode::Footprint,
                PrefillMode::Footprint,
                PrefillMode::Full,
                PrefillMode::Full,
                PrefillMode::Steady,
                PrefillMode::Raw,
                PrefillMode::None,
            ]),
            requests: Vec::new(),
            drive,
        };
        let Ok(plan) = world.plan() else { continue };
        world.requests = requests(&mut dice, plan.logical_sectors(), plan.sectors_per_unit());
        if dice.chance(25) {
            world.warmup = dice.between(1, world.requests.len() as u64 - 1);
        }
        return world;
    }
    panic!("no drive of seed {seed} is accepted");
}

// ---- drives ----------------------------------------------------------------------------------------

fn drive(dice: &mut Dice) -> toml::Table {
    let geometry = geometry(dice);
    let config = DriveConfig {
        summary: String::new(),
        geometry: Some(geometry),
        nand: Some(nand(dice)),
        scm: None,
        storage_scm: None,
        tier: Default::default(),
        ftl: FtlSection::default(),
        controller: controller(dice),
        scheduler: SchedulerConfig { multi_plane: dice.chance(75), ..SchedulerConfig::default() },
        endurance: Default::default(),
        sources: BTreeMap::new(),
    };
    let ftl = ftl(dice, &geometry);
    let config = DriveConfig { ftl, ..config };
    let mut table = toml::Table::try_from(&config).expect("a drive is TOML");
    for (key, policies) in ninescope::policies_of_flash() {
        let (name, _) = policies[dice.0.below(policies.len() as u64) as usize];
        set_policy(dice, &mut table, key, name);
    }
    table
}

fn geometry(dice: &mut Dice) -> GeometryConfig {
    loop {
        let planes_per_die = dice.one_of(&[1, 1, 2, 2, 3, 4]);
        let shape = GeometryConfig {
            channels: dice.small(1, 3),
            packages_per_channel: dice.small(1, 2),
            dies_per_package: dice.small(1, 2),
            planes_per_die,
            blocks_per_plane: dice.small(5, 14),
            pages_per_block: dice.small(1, 10),
            page_size: Bytes(512 << dice.small(0, 6)),
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
        program_pulses,
        erase_loop,
        erase_loops: erase_loops(dice),
        command_address: dice.time(0, 3),
        suspend_recover: within_half_a_loop(dice.time(0, 5)),
        resume_ramp: within_half_a_loop(dice.time(0, 5)),
        read_any_block: dice.chance(30),
        endurance_cycles: None,
        bit_cost: None,
        initial_cycles: Some(dice.one_of(&[0, 1, 99, 250, 999, 5_000])),
        channel_rate: rate(dice),
        suspend_limit: dice.chance(50).then(|| SuspendLimitConfig {
            young_cycles: dice.small(1, 100),
            young_suspensions: dice.small(3, 5),
            worn_cycles: dice.small(101, 1_000),
            worn_suspensions: dice.small(1, 3),
            rber_factor: 1e-6,
            rber_exponent: 1.5,
        }),
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

/// 1 MB/s to 1 TB/s.
fn rate(dice: &mut Dice) -> BytesPerSecond {
    BytesPerSecond(10_u64.pow(dice.small(6, 11)) * dice.between(1, 9))
}

fn ftl(dice: &mut Dice, shape: &GeometryConfig) -> FtlSection {
    let unit = shape.page_size.0 >> dice.small(0, 3);
    let divisors: Vec<u32> =
        (1..=shape.planes_per_die).filter(|&planes| shape.planes_per_die.is_multiple_of(planes)).collect();
    FtlSection {
        mapping_unit: Bytes(unit.clamp(512, 16_384)),
        over_provisioning: dice.one_of(&[0.1, 0.28, 0.5, 1.0, 2.0, 4.0]),
        frontier_planes: Some(dice.one_of(&divisors)),
        gc_reserve_blocks: dice.small(1, 2),
        gc_pages_in_flight: dice.chance(50).then(|| dice.small(1, 9)),
        ..FtlSection::default()
    }
}

fn controller(dice: &mut Dice) -> ControllerConfig {
    ControllerConfig {
        queue_depth: dice.small(1, 64),
        link_rate: rate(dice),
        command_cost: dice.time(0, 4),
        write_completion: if dice.chance(65) { WriteCompletion::Buffer } else { WriteCompletion::Program },
        buffered_pages: dice.chance(60).then(|| dice.small(1, 20)),
        page_timeout: dice.chance(30).then(|| dice.time(1, 7)),
    }
}

/// Sets a policy with parameters about its defaults. A parameter that the policy refuses goes back to its default.
fn set_policy(dice: &mut Dice, drive: &mut toml::Table, key: &str, name: &str) {
    let Some((section, entry)) = key.split_once('.') else { return };
    let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) else { return };
    section.insert(entry.to_owned(), toml::Value::String(name.to_owned()));
    let Some(defaults) = resolved_policy(drive, key) else { return };
    for (parameter, value) in defaults.iter().filter(|(parameter, _)| *parameter != "policy") {
        let Some(other) = other_value(dice, value) else { continue };
        let before = drive.clone();
        let mut policy = resolved_policy(drive, key).unwrap_or_else(|| defaults.clone());
        policy.insert(parameter.clone(), other);
        let (section, entry) = key.split_once('.').expect("checked above");
        if let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) {
            section.insert(entry.to_owned(), toml::Value::Table(policy));
        }
        if resolved_policy(drive, key).is_none() {
            *drive = before;
        }
    }
}

/// The table of a policy with all parameters; `None` where the drive is refused.
fn resolved_policy(drive: &toml::Table, key: &str) -> Option<toml::Table> {
    let config: DriveConfig = drive.clone().try_into().ok()?;
    let resolved = toml::Table::try_from(&config).ok()?;
    let (section, entry) = key.split_once('.')?;
    resolved.get(section)?.get(entry)?.as_table().cloned()
}

fn other_value(dice: &mut Dice, value: &toml::Value) -> Option<toml::Value> {
    match value {
        toml::Value::Boolean(_) => Some(toml::Value::Boolean(dice.chance(50))),
        toml::Value::Integer(number) => Some(toml::Value::Integer(dice.one_of(&[1, 2, 3, *number, number * 2]))),
        toml::Value::Float(number) => Some(toml::Value::Float(dice.one_of(&[0.5, 1.0, 2.0]) * number)),
        _ => None,
    }
}

// ---- workloads -------------------------------------------------------------------------------------

/// What the requests of a world look like.
struct Habits {
    read_percent: u64,
    trim_percent: u64,
    flush_percent: u64,
    aligned_percent: u64,
    /// Sectors that most requests fall into.
    hot_sectors: u64,
    hot_percent: u64,
    units_max: u64,
    /// Mean gap [ns].
    gap: u64,
    burst: u64,
}

fn habits(dice: &mut Dice, sectors: u64, per_unit: u64) -> Habits {
    Habits {
        read_percent: dice.one_of(&[0, 10, 30, 50, 50, 70, 95]),
        trim_percent: dice.one_of(&[0, 0, 5, 20]),
        flush_percent: dice.one_of(&[0, 0, 1, 10]),
        aligned_percent: dice.one_of(&[0, 50, 90, 100]),
        hot_sectors: dice.between(1, 4 * per_unit).min(sectors),
        hot_percent: dice.one_of(&[0, 30, 80]),
        units_max: dice.one_of(&[1, 2, 3, 12]),
        gap: dice.time(0, 6).0,
        burst: dice.between(1, 20),
    }
}

fn requests(dice: &mut Dice, sectors: u64, per_unit: u64) -> Vec<Line> {
    let habits = habits(dice, sectors, per_unit);
    let count = dice.one_of(&[20, 100, 300, 800, 2_000]);
    let mut now = 0;
    (0..count)
        .map(|index| {
            if index % habits.burst == 0 && habits.gap > 0 {
                now += dice.between(0, 2 * habits.gap * habits.burst);
            }
            Line(request(dice, &habits, now, sectors, per_unit))
        })
        .collect()
}

fn request(dice: &mut Dice, habits: &Habits, now: u64, sectors: u64, per_unit: u64) -> Request {
    let submitted = Ns(now);
    let op = if dice.chance(habits.flush_percent) {
        return Request { submitted, op: Op::Flush, ..Request::default() };
    } else if dice.chance(habits.trim_percent) {
        Op::Trim
    } else if dice.chance(habits.read_percent) {
        Op::Read
    } else {
        Op::Write
    };
    let space = if dice.chance(habits.hot_percent) { habits.hot_sectors } else { sectors };
    let length = dice.between(1, habits.units_max * per_unit).min(space);
    let begin = dice.between(0, space - length);
    let aligned = dice.chance(habits.aligned_percent);
    let (begin, end) = if aligned {
        let first = begin / per_unit * per_unit;
        (first, (begin + length).next_multiple_of(per_unit).min(sectors))
    } else {
        (begin, begin + length)
    };
    Request { submitted, lba: Lba(begin), sectors: (end - begin) as u32, op, ..Request::default() }
}
