//! Namespaces of some worlds: parts of the addresses, into which its tenants go.

use ninescope::Plan;
use ninescope_model::SECTOR_BYTES;
use toml::{Table, Value};

use super::World;
use super::dice::Dice;
use super::keys::value_at;

/// Drives that have namespaces [%].
const DIVIDED: u64 = 20;

/// Divides the addresses of a world's drive, or some of them, or leaves it whole.
pub(super) fn divide(dice: &mut Dice, world: &mut World, plan: &Plan, per_unit: u64) {
    let units = plan.logical_sectors() / per_unit;
    if units < 8 || !world.partitions.is_empty() || !dice.chance(DIVIDED) {
        return;
    }
    let count = u64::from(dice.small(1, 4)).min(units);
    let mut left = units;
    let mut sizes = Vec::new();
    for namespace in 0..count {
        let most = left - (count - namespace - 1);
        let size = if dice.chance(30) { most } else { dice.between(1, most) };
        sizes.push(size * per_unit * SECTOR_BYTES);
        left -= size;
        if left == 0 {
            break;
        }
    }
    let table = |size: u64| Value::Table(Table::from_iter([("size".to_owned(), format!("{size}B").into())]));
    let mut divided = world.clone();
    divided.drive.insert("namespaces".to_owned(), Value::Array(sizes.into_iter().map(table).collect()));
    if divided.plan().is_ok() {
        *world = divided;
    }
}

/// The sizes of a world's namespaces [B].
pub(super) fn sizes(world: &World) -> Vec<u64> {
    let bytes = |namespace: &Value| {
        let size = namespace.get("size")?.clone().try_into::<ninescope_model::units::Bytes>().ok()?;
        Some(size.0)
    };
    let all = value_at(&world.drive, "namespaces").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(bytes).collect()
}

/// Into which of so many namespaces each of so many tenants goes: the last one first.
pub(super) fn of_tenants(namespaces: usize, tenants: usize) -> Vec<u32> {
    (0..tenants).map(|tenant| namespaces.max(1) as u32 - (tenant % namespaces.max(1)) as u32).collect()
}
