//! Who waited for whom for a map that lies in flash: for pages of it that others have read or written, worked out by hand.

use crate::scenario::{COMMAND, Drive, PROGRAM, READ, policy_with};
use ninescope_engine::Device;
use ninescope_engine::meter::{BehindSum, SPLIT};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Lba, Op, Request};
use serde_json::json;

/// A unit of 512 B and a page of four on the channel [ns].
const UNIT_TRANSFER: u64 = 125;
const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;
/// A unit, or a page of the map, is read from its page [ns].
const UNIT_READ: u64 = COMMAND + READ + UNIT_TRANSFER;
/// A page of units, or of pages of the map, is programmed [ns].
const PAGE_PROGRAM: u64 = COMMAND + PAGE_TRANSFER + PROGRAM;
/// Units that a page of the map tells of.
const ENTRIES: u32 = 128;

fn request(at: u64, op: Op, unit: u32) -> Request {
    Request { submitted: Ns(at), lba: Lba(u64::from(unit)), sectors: 1, op, ..Request::default() }
}

fn read_at(at: u64, unit: u32) -> Request {
    request(at, Op::Read, unit)
}

fn write_at(at: u64, unit: u32) -> Request {
    request(at, Op::Write, unit)
}

/// A quiet and a noisy tenant, in this order, on one die whose map has four pages of 512 B, so much of which is in memory.
fn run(cached_by: &str, size: &str, quiet: Vec<Request>, noisy: Vec<Request>) -> Device {
    let drive = Drive::with(|drive| {
        (drive.page_bytes, drive.unit_bytes, drive.pages, drive.blocks) = (2_048, 512, 8, 30);
        drive.logical_units = 4 * ENTRIES;
        drive.prepared = (0..4 * ENTRIES).collect();
        drive.map = policy_with(&json!({ "policy": cached_by, "size": size }));
    });
    drive.run_jobs([quiet, noisy])
}

fn of_tenant(device: &Device, tenant: usize, op: Op) -> BehindSum {
    device.meter().lanes[tenant].ops[op as usize].behind.total()
}

/// By holder, the quiet tenant, the noisy one, the drive: waits of a cause.
fn behind(sum: &BehindSum, cause: Cause) -> Vec<u64> {
    let at = SPLIT.iter().position(|split| *split == cause).expect("it is split");
    sum.behind.iter().map(|waits| waits[at]).collect()
}

#[test]
fn a_page_of_the_map_is_read_for_who_misses_its_entry() {
    // The noisy one's page of the map is read from 0 on. The quiet one's waits for it from 100 on, is read before the noisy one's
    // data, and then waits for those.
    let device = run("entries", "1KiB", vec![read_at(100, 5)], vec![read_at(0, 2 * ENTRIES)]);
    let (quiet, noisy) = (of_tenant(&device, 0, Op::Read), of_tenant(&device, 1, Op::Read));
    assert_eq!(quiet.parts.of(Cause::MappingRead), 2 * UNIT_READ - 100);
    assert_eq!(behind(&quiet, Cause::MappingRead), [0, UNIT_READ - 100, 0], "its own read is behind nobody");
    assert_eq!(behind(&quiet, Cause::DieHostRead), [0, UNIT_READ, 0]);
    assert_eq!(noisy.parts.of(Cause::MappingRead), UNIT_READ);
    assert_eq!(behind(&noisy, Cause::MappingRead), [0; 3]);
    assert_eq!(behind(&noisy, Cause::DieMapping), [UNIT_READ, 0, 0]);
    assert_eq!(noisy.parts.of(Cause::DieMapping), UNIT_READ);
}

#[test]
fn who_comes_while_a_page_is_on_its_way_has_a_part_of_its_waits() {
    // The noisy one's second page of the map waits for its first from 10 on. The quiet one, who wants the same page, comes at 20,000.
    let noisy = vec![read_at(0, 2 * ENTRIES), read_at(10, 5)];
    let device = run("entries", "1KiB", vec![read_at(20_000, 6)], noisy);
    let quiet = of_tenant(&device, 0, Op::Read);
    let (all, of_this) = (2 * UNIT_READ - 10, 2 * UNIT_READ - 20_000);
    assert_eq!(quiet.parts.of(Cause::MappingRead), of_this);
    assert_eq!(behind(&quiet, Cause::MappingRead), [0, (UNIT_READ - 10) * of_this / all, 0]);
}

#[test]
fn a_page_of_the_map_is_written_for_who_changed_it() {
    // Room for one page. Each of the noisy one's writes pushes out the page before it, which it has changed; the fourth of them fills a
    // page of the media, whose program the quiet one's read waits for. Its own entry is in memory.
    let turn = 10_000_000;
    let noisy = (0..5).map(|number| write_at(number * turn, number as u32 % 4 * ENTRIES)).collect();
    let device = run("pages", "512B", vec![read_at(4 * turn + 100_000, 5)], noisy);
    let quiet = of_tenant(&device, 0, Op::Read);
    assert_eq!(device.counters().map_page_programs, 1);
    assert_eq!(behind(&quiet, Cause::DieMapping), [0, PAGE_PROGRAM - 100_000, 0]);
    assert_eq!(quiet.parts.total(), PAGE_PROGRAM - 100_000 + UNIT_READ);
}
