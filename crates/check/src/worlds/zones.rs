//! Worlds whose drives have zones: what of a drive goes with them, and a host that writes zones in order, manages them, and gets it wrong
//! now and then.

use ninescope::{PrefillMode, PrefillOrder};
use ninescope_ftl::{ZoneConfig, ZrwaConfig};
use ninescope_kernel::Ns;
use ninescope_model::{Geometry, Lba, Op, Remark, Request, ZoneCommand};
use toml::{Table, Value};

use super::World;
use super::dice::Dice;
use super::keys::{OF_RELIABILITY, put_at, take_at, value_at};
use super::world::Line;

/// What does not go with zones, by its key.
const OTHERS: [&str; 16] = [
    "dram",
    "tier",
    "namespaces",
    "nand.read_moves",
    "nand.program_moves",
    "ftl.map",
    "ftl.merges",
    "ftl.streams",
    "ftl.stream_channels",
    "ftl.gc_trigger",
    "ftl.throttle",
    "ftl.trim",
    "controller.page_timeout",
    "controller.write_completion",
    "controller.interface",
    "controller.queued_trims",
];

/// Some drives of flash alone have zones.
pub(super) fn divide(dice: &mut Dice, world: &mut World) {
    if world.drive.contains_key("scm") || !dice.chance(14) {
        return;
    }
    let plain = world.drive.clone();
    for key in OF_RELIABILITY.into_iter().chain(OTHERS) {
        take_at(&mut world.drive, key);
    }
    let mut zns = Table::new();
    let count = |value: u32| Value::from(i64::from(value));
    let shape = |key: &str| value_at(&plain, key).and_then(Value::as_integer).unwrap_or(1);
    let planes = shape("geometry.planes_per_die");
    let dies = shape("geometry.channels") * shape("geometry.packages_per_channel") * shape("geometry.dies_per_package");
    let groups = dies * planes / value_at(&plain, "ftl.frontier_planes").and_then(Value::as_integer).unwrap_or(planes);
    let widths: Vec<i64> = (1..=groups).filter(|width| groups % width == 0).collect();
    if dice.chance(80) {
        zns.insert("zone_width".to_owned(), dice.one_of(&widths).into());
    }
    let active = dice.small(1, 5);
    if dice.chance(80) {
        zns.insert("active_zones".to_owned(), count(active));
        if dice.chance(60) {
            let open = dice.small(1, active);
            zns.insert("open_zones".to_owned(), count(open));
        }
    }
    for key in ["read_only_zones", "offline_zones"] {
        if dice.chance(15) {
            zns.insert(
                key.to_owned(),
                Value::Array(vec![count(u32::from(key == "offline_zones") + dice.small(0, 1) * 2)]),
            );
        }
    }
    world.drive.insert("zns".to_owned(), zns.into());
    // Room for a stripe of each zone that is active.
    take_at(&mut world.drive, "controller.buffered_pages");
    take_at(&mut world.drive, "controller.shared_buffered_pages");
    if let Some(zones) = world.plan().ok().and_then(|plan| plan.shape().ftl.zones.clone())
        && dice.chance(30)
    {
        let unit = value_at(&world.drive, "ftl.mapping_unit").cloned();
        let unit =
            unit.and_then(|unit| unit.try_into::<ninescope_model::units::Bytes>().ok()).map_or(4096, |unit| unit.0);
        let size = (u64::from(zones.size) + u64::from(dice.small(0, 9))) * unit;
        put_at(&mut world.drive, "zns.zone_size", size.cast_signed());
    }
    (world.prefill, world.prefill_order) = (
        dice.one_of(&[PrefillMode::None, PrefillMode::None, PrefillMode::Footprint, PrefillMode::Full]),
        PrefillOrder::Ascending,
    );
    give_areas(&mut dice.of("areas"), world);
}

/// Zones of some drives may have random write areas.
fn give_areas(dice: &mut Dice, world: &mut World) {
    let Ok(plan) = world.plan() else { return };
    let ftl = &plan.shape().ftl;
    let Some(zones) = ftl.zones.as_ref().filter(|_| dice.chance(50)) else { return };
    let (capacity, unit) = (zones.pools * ftl.geometry.units_per_group(), u64::from(ftl.geometry.unit_bytes));
    let granularities: Vec<u32> = (1..=capacity.min(16)).filter(|units| capacity.is_multiple_of(*units)).collect();
    let granularity = dice.one_of(&granularities);
    let size = dice.small(1, (capacity / granularity).min(12)) * granularity;
    put_at(&mut world.drive, "zns.zrwa_size", (u64::from(size) * unit).cast_signed());
    if granularity > 1 || dice.chance(50) {
        put_at(&mut world.drive, "zns.zrwa_granularity", (u64::from(granularity) * unit).cast_signed());
    }
    if dice.chance(50) {
        put_at(&mut world.drive, "zns.zrwa_zones", i64::from(dice.small(1, zones.active)));
    }
}

/// What the host knows of zones.
struct Host<'a> {
    zones: &'a ZoneConfig,
    capacity: u32,
    per_unit: u32,
    /// Where it believes write pointers to be.
    pointers: Vec<u32>,
    /// Whether it believes zones to have a random write area.
    areas: Vec<bool>,
    /// The zones that it works in most.
    hot: Vec<u32>,
}

/// The requests of a world whose drive has these zones.
pub(super) fn requests(dice: &mut Dice, zones: &ZoneConfig, geometry: &Geometry, units: u32) -> Vec<Line> {
    let count = units / zones.size;
    let hot = dice.small(1, 6).min(count);
    let mut host = Host {
        zones,
        capacity: zones.pools * geometry.units_per_group(),
        per_unit: geometry.sectors_per_unit(),
        pointers: vec![0; count as usize],
        areas: vec![false; count as usize],
        hot: (0..hot).map(|_| dice.small(0, count - 1)).collect(),
    };
    let requests = dice.one_of(&[20, 100, 300, 800, 2_000]);
    let (gap, burst) = (dice.time(0, 6).0, dice.between(1, 20));
    let most = dice.one_of(&[1, 2, 4, 12]);
    let wrong = dice.one_of(&[0, 2, 10]);
    let mut now = 0;
    (0..requests)
        .map(|index| {
            if index % burst == 0 && gap > 0 {
                now += dice.between(0, 2 * gap * burst);
            }
            Line(Request { submitted: Ns(now), ..host.request(dice, most, wrong) })
        })
        .collect()
}

impl Host<'_> {
    fn request(&mut self, dice: &mut Dice, most: u32, wrong: u64) -> Request {
        let all = self.pointers.len() as u32;
        let zone = if dice.chance(85) { dice.one_of(&self.hot) } else { dice.small(0, all - 1) };
        let first = zone * self.zones.size;
        let units = dice.small(1, most).min(self.capacity);
        if let Some(told) = self.zones.zrwa
            && dice.chance(if self.areas[zone as usize] { 90 } else { 40 })
            && let Some(request) = self.of_area(dice, told, zone, units)
        {
            return request;
        }
        let per_unit = self.per_unit;
        let of = |op, unit, units, zone| asks(per_unit, op, (unit, units), zone);
        let pointer = self.pointers[zone as usize];
        if dice.chance(wrong) {
            return self
                .wrong(dice, of(Op::Write, first + pointer.min(self.capacity - units), units, ZoneCommand::None));
        }
        match dice.between(0, 99) {
            // It takes no append.
            0..55 if self.areas[zone as usize] => of(Op::Write, first, units, ZoneCommand::Append),
            0..55 if pointer < self.capacity => {
                let units = units.min(self.capacity - pointer);
                self.pointers[zone as usize] += units;
                let append = dice.chance(30);
                let (unit, command) =
                    if append { (first, ZoneCommand::Append) } else { (first + pointer, ZoneCommand::None) };
                of(Op::Write, unit, units, command)
            }
            0..57 => {
                (self.pointers[zone as usize], self.areas[zone as usize]) = (0, false);
                if dice.chance(50) {
                    of(Op::Trim, first, self.zones.size, ZoneCommand::None)
                } else {
                    of(Op::Trim, first, 1, ZoneCommand::Reset)
                }
            }
            57..60 => {
                (self.pointers[zone as usize], self.areas[zone as usize]) = (self.capacity, false);
                of(Op::Trim, first, 1, ZoneCommand::Finish)
            }
            60..63 => of(Op::Trim, first, 1, ZoneCommand::Open),
            63..66 => of(Op::Trim, first, 1, ZoneCommand::Close),
            66..67 => Request { op: Op::Flush, ..Request::default() },
            _ => {
                let end = all * self.zones.size;
                let unit = (first + dice.small(0, pointer.max(1))).min(end - 1);
                of(Op::Read, unit, units.min(end - unit), ZoneCommand::None)
            }
        }
    }

    /// What concerns the random write area of a zone; nothing where the zone can have none now.
    fn of_area(&mut self, dice: &mut Dice, told: ZrwaConfig, zone: u32, units: u32) -> Option<Request> {
        let per_unit = self.per_unit;
        let of = |op, unit, units, zone| asks(per_unit, op, (unit, units), zone);
        let (first, end) = (zone * self.zones.size, self.pointers.len() as u32 * self.zones.size);
        let (pointer, has_area) = (&mut self.pointers[zone as usize], &mut self.areas[zone as usize]);
        let left = self.capacity - *pointer;
        if !*has_area {
            // A zone that is not empty gets none.
            *has_area = *pointer == 0;
            return (*has_area || dice.chance(3)).then(|| of(Op::Trim, first, 1, ZoneCommand::OpenZrwa));
        }
        let begins = first + *pointer;
        Some(match dice.between(0, 9) {
            0..7 => {
                let reach = if dice.chance(70) { told.size } else { 2 * told.size }.min(left);
                let units = units.min(reach);
                let offset = dice.small(0, reach - units);
                *pointer += (offset + units).saturating_sub(told.size).div_ceil(told.granularity) * told.granularity;
                of(Op::Write, begins + offset, units, ZoneCommand::None)
            }
            7 => {
                *pointer += dice.small(1, told.size.min(left) / told.granularity) * told.granularity;
                *has_area = *pointer < self.capacity;
                of(Op::Trim, first, *pointer, ZoneCommand::Commit)
            }
            _ => {
                let unit = (begins + dice.small(0, told.size)).min(end - 1);
                of(Op::Read, unit, units.min(end - unit), ZoneCommand::None)
            }
        })
    }

    /// A write that a zone may refuse.
    fn wrong(&self, dice: &mut Dice, request: Request) -> Request {
        let end = self.pointers.len() as u64 * u64::from(self.zones.size) * u64::from(self.per_unit);
        let lba = |sectors: u64| Lba(sectors.min(end - u64::from(request.sectors)));
        match dice.between(0, 3) {
            0 => Request { fua: true, ..request },
            1 => Request { lba: lba(request.lba.0 + 1), ..request },
            2 => Request { op: Op::Trim, sectors: 1, remark: Remark::None, ..request },
            _ => Request {
                lba: lba(request.lba.0 + u64::from(dice.small(1, self.capacity)) * u64::from(self.per_unit)),
                ..request
            },
        }
    }
}

/// A request of so many units from one on.
fn asks(per_unit: u32, op: Op, (unit, units): (u32, u32), zone: ZoneCommand) -> Request {
    Request {
        op,
        lba: Lba(u64::from(unit) * u64::from(per_unit)),
        sectors: units * per_unit,
        remark: zone.into(),
        ..Request::default()
    }
}
