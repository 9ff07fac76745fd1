//! Worlds from seeds. Every draw is made from one stream, so that a seed is a world; numbers are small, so
//! that everything collides.

use ninescope::{Plan, PrefillMode, PrefillOrder};
use ninescope_ftl::FtlConfig;
use ninescope_kernel::Ns;
use ninescope_model::{CacheHint, DriveErase, Lba, Op, Request};

use super::block_maps;
use super::breakage;
use super::codes;
use super::copybacks;
use super::dice::Dice;
use super::drives::{
    drive, placement_name, planes_read_apart, reads_are_cached, sectors_per_unit, times_vary, wordlines_in_one_go,
};
use super::forwarding;
use super::keys::{policy_name, put_at, take_at, value_at};
use super::run::TENANTS_MAX;
use super::world::{Line, WorldLimit};
use super::{ArrivalKind, World};
use super::{die_failures, namespaces, parity, partitions, power, slc_cache, superblocks, zones};

/// Attempts at a drive that is accepted: most are refused for want of spare blocks.
const ATTEMPTS: u32 = 200;

/// The world of a seed.
///
/// # Panics
/// When no drive of a seed is accepted, which a test over the first thousands of seeds rules out.
pub fn generate(seed: u64) -> World {
    let mut dice = Dice::new(seed);
    let placement = placement_name(&mut dice);
    for _ in 0..ATTEMPTS {
        let drive = drive(&mut dice, placement);
        let mut world = World {
            seed,
            about: String::new(),
            arrival: dice.one_of(&[ArrivalKind::Open, ArrivalKind::Closed]),
            queue_depth: dice.small(1, 40),
            warmup: 0,
            limit: limit(&mut dice.of("limit")),
            prefill: dice.one_of(&[
                PrefillMode::Footprint,
                PrefillMode::Footprint,
                PrefillMode::Full,
                PrefillMode::Full,
                PrefillMode::SteadyUniform,
                PrefillMode::SteadyComposed,
                PrefillMode::Raw,
                PrefillMode::None,
            ]),
            prefill_order: dice.one_of(&[PrefillOrder::Ascending, PrefillOrder::Ascending, PrefillOrder::Random]),
            requests: Vec::new(),
            partitions: Vec::new(),
            drive,
        };
        if placement == "nand-only" {
            zones::divide(&mut dice.of("zones"), &mut world);
        }
        let by_blocks = placement == "nand-only" && block_maps::take(&mut dice.of("block maps"), &mut world);
        power::add(&mut dice.of("power"), &mut world.drive);
        power::add_states(&mut dice.of("power states"), &mut world.drive);
        power::add_heat(&mut dice.of("heat"), &mut world.drive);
        let Ok(plan) = world.plan() else { continue };
        let ftl = plan.shape().ftl.clone();
        if let Some(told) = &ftl.zones {
            planes_read_apart(&mut dice.of("plane reads"), &mut world.drive);
            reads_are_cached(&mut dice.of("cache reads"), &mut world.drive);
            times_vary(&mut dice.of("times"), &mut world.drive);
            world.requests = zones::requests(&mut dice.of("requests of zones"), told, &ftl.geometry, ftl.logical_units);
            return world;
        }
        if !by_blocks {
            add_mechanisms(&dice, &mut world, &ftl, placement);
        }
        forwarding::add(&mut dice.of("forwarding"), &mut world);
        planes_read_apart(&mut dice.of("plane reads"), &mut world.drive);
        reads_are_cached(&mut dice.of("cache reads"), &mut world.drive);
        times_vary(&mut dice.of("times"), &mut world.drive);
        wordlines_in_one_go(&mut dice.of("programs"), &mut world);
        let Ok(plan) = world.plan() else { continue };
        let hinted = if codes::knows_clean(&world.drive) { dice.chance(90) } else { dice.chance(5) };
        let per_unit = sectors_per_unit(&world.drive, &plan);
        namespaces::divide(&mut dice.of("namespaces"), &mut world, &plan, per_unit);
        world.requests = requests(&mut dice, plan.logical_sectors(), per_unit, hinted);
        force_writes(&mut dice.of("fua"), &mut world.requests);
        name_streams(&mut dice.of("named streams"), &mut world);
        erase_drive(&mut dice.of("whole erases"), &mut world, &plan);
        if world.arrival == ArrivalKind::Open
            && let Some(last) = world.requests.last()
        {
            codes::slow_down(&mut world.drive, last.0.submitted);
        }
        if dice.chance(25) {
            world.warmup = dice.between(1, world.requests.len() as u64 - 1);
        }
        return world;
    }
    panic!("no drive of seed {seed} is accepted");
}

/// What some drives have that goes together with most others.
fn add_mechanisms(dice: &Dice, world: &mut World, ftl: &FtlConfig, placement: &str) {
    slc_cache::add(&mut dice.of("slc cache"), world);
    divide_cache(&mut dice.of("cache parts"), world);
    write_through(&mut dice.of("writes through"), world);
    partitions::divide(&mut dice.of("partitions"), world, ftl, placement);
    parity::add(&mut dice.of("parity"), world);
    superblocks::add(&mut dice.of("superblocks"), world);
    if placement == "nand-only" {
        breakage::add(&mut dice.of("breakage"), world);
    }
    if world.drive.contains_key("geometry") {
        breakage::level(&mut dice.of("wear leveling"), world);
    }
    die_failures::add(&mut dice.of("die failures"), world);
    copybacks::add(&mut dice.of("copybacks"), world);
    age_data(&mut dice.of("ages of data"), world);
}

/// What is taken in of some worlds is limited, so much that it shows.
fn limit(dice: &mut Dice) -> Option<WorldLimit> {
    let burst = if dice.chance(50) { 0 } else { dice.time(1, 6).0 };
    let iops = dice.chance(50).then(|| dice.one_of(&[1e4, 1e5, 1e6]) * f64::from(dice.small(1, 9)));
    let bytes_per_second = (iops.is_none() || dice.chance(30)).then(|| dice.between(50, 5_000) * 1_000_000);
    dice.chance(12).then_some(WorldLimit { iops, bytes_per_second, burst })
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
    /// Requests say what a cache in front of the drive would know.
    hinted: bool,
    /// Mean gap [ns].
    gap: u64,
    burst: u64,
}

fn habits(dice: &mut Dice, sectors: u64, per_unit: u64, hinted: bool) -> Habits {
    Habits {
        hinted,
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

fn requests(dice: &mut Dice, sectors: u64, per_unit: u64, hinted: bool) -> Vec<Line> {
    let habits = habits(dice, sectors, per_unit, hinted);
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

/// In some worlds each tenant has a part of the upper memory of his own, where it is large enough for that.
fn divide_cache(dice: &mut Dice, world: &mut World) {
    if !world.drive.contains_key("tier") || !dice.chance(40) {
        return;
    }
    put_at(&mut world.drive, "tier.parts", "separate");
    if world.plan_of_tenants(TENANTS_MAX as usize).is_err() {
        take_at(&mut world.drive, "tier.parts");
    }
}

/// In some worlds all writes go through a cache that can be lost.
fn write_through(dice: &mut Dice, world: &mut World) {
    let is_lost = value_at(&world.drive, "dram.power_protected").is_some_and(|value| value.as_bool() == Some(false));
    if !world.drive.contains_key("tier") || !is_lost || !dice.chance(15) {
        return;
    }
    put_at(&mut world.drive, "tier.acknowledge", "program");
    if world.plan_of_tenants(TENANTS_MAX as usize).is_err() {
        take_at(&mut world.drive, "tier.acknowledge");
    }
}

/// In some worlds writes ask to be on the media.
fn force_writes(dice: &mut Dice, requests: &mut [Line]) {
    if !dice.chance(15) {
        return;
    }
    let share = dice.one_of(&[5, 30, 100]);
    for Line(request) in requests.iter_mut().filter(|Line(request)| request.op == Op::Write) {
        request.fua = dice.chance(share);
    }
}

/// In some worlds the drive is formatted or sanitized, once or more, where it can be.
fn erase_drive(dice: &mut Dice, world: &mut World, plan: &Plan) {
    if !plan.may_be_erased() || !dice.chance(15) {
        return;
    }
    for _ in 0..dice.small(1, 3) {
        let at = dice.between(0, world.requests.len() as u64 - 1) as usize;
        let Line(Request { submitted, .. }) = world.requests[at];
        let what = dice.one_of(&[DriveErase::Format, DriveErase::Sanitize, DriveErase::SanitizeCrypto]);
        let erase = Request { submitted, sectors: 1, op: Op::Trim, remark: what.into(), ..Request::default() };
        world.requests[at] = Line(erase);
    }
}

/// Where data are kept apart by temperature, most drives ask how old they are.
fn age_data(dice: &mut Dice, world: &mut World) {
    for key in ["hotter_within", "colder_after"] {
        let writes = dice.one_of(&[0.0, 0.05, 0.3, 1.0]);
        if dice.chance(60) && policy_name(&world.drive, "ftl.streams").as_deref() == Some("dac") {
            put_at(&mut world.drive, &format!("ftl.streams.{key}"), writes);
        }
    }
}

/// In some worlds the host names the streams of its writes, and in most of those whose drives hear it.
fn name_streams(dice: &mut Dice, world: &mut World) {
    let streams = policy_name(&world.drive, "ftl.streams");
    let hears = streams.is_some_and(|streams| ["hinted", "fdp"].contains(&streams.as_str()));
    if !(dice.chance(25) || hears && dice.of("heard").chance(90)) {
        return;
    }
    let most = u64::from(dice.small(1, 6));
    for Line(request) in world.requests.iter_mut().filter(|Line(request)| request.op == Op::Write) {
        request.stream = dice.between(0, most) as u8;
    }
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
    let hint = if habits.hinted { hint(dice, op) } else { CacheHint::None };
    Request { submitted, lba: Lba(begin), sectors: (end - begin) as u32, op, remark: hint.into(), ..Request::default() }
}

/// What a cache knows of a request. Data of a clean write lies on the disk from when the drive has it, so that the disk is
/// never ahead of the drive; the oracle keeps its account.
fn hint(dice: &mut Dice, op: Op) -> CacheHint {
    match op {
        Op::Read => dice.one_of(&[CacheHint::HostRead, CacheHint::FlushRead, CacheHint::None]),
        Op::Write => {
            dice.one_of(&[CacheHint::CleanWrite, CacheHint::CleanWrite, CacheHint::DirtyWrite, CacheHint::None])
        }
        Op::Trim | Op::Flush => CacheHint::None,
    }
}
