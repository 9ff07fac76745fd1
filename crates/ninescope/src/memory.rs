//! How much memory a drive takes, said before it is allocated.

use ninescope_engine::EngineConfig;
use ninescope_ftl::FtlConfig;
use ninescope_model::Geometry;

use crate::error::Error;
use crate::scm::ScmAssembly;

/// Bytes of media state per block [B]: programmed pages and erase count.
const MEDIA_BYTES_PER_BLOCK: u64 = 8;
/// Bytes of a command inside the device with the page accesses it may have, of a page on its way through a
/// die, and of a unit that garbage collection moves [B]; each rounded up.
const BYTES_PER_COMMAND: u64 = 2_048;
const BYTES_PER_PAGE: u64 = 256;
const BYTES_PER_MOVED_UNIT: u64 = 32;
/// Bytes that a tier keeps of a page [B]: its slot, its entry among recent pages, a bit; and those of slot and entry.
const TIER_BYTES_PER_PAGE: u64 = 8 + 64;
/// Share of the machine's free memory that a drive may take.
const SHARE_OF_AVAILABLE: f64 = 0.9;

/// Bytes of all tables that grow with the drive and with what may be under way in it [B].
pub fn drive_bytes(geometry: &Geometry, logical_units: u32, engine: &EngineConfig) -> u64 {
    let blocks = u64::from(geometry.groups()) * u64::from(geometry.frontier_planes);
    let moved_pages = u64::from(geometry.pools()) * u64::from(engine.gc_pages_in_flight) * 2;
    let pages = u64::from(geometry.dies()) * u64::from(engine.buffered_pages) + moved_pages;
    FtlConfig::table_bytes(geometry, logical_units)
        + blocks * MEDIA_BYTES_PER_BLOCK
        + u64::from(engine.queue_depth) * BYTES_PER_COMMAND
        + pages * BYTES_PER_PAGE
        + moved_pages * u64::from(geometry.units_per_page()) * BYTES_PER_MOVED_UNIT
}

/// Refuses a drive whose tables do not fit; returns what they take [B].
pub fn check(geometry: &Geometry, logical_units: u32, engine: &EngineConfig) -> Result<u64, Error> {
    let bytes = drive_bytes(geometry, logical_units, engine);
    let Some((needed, available)) = too_much(bytes) else { return Ok(bytes) };
    Err(Error::Input(format!(
        "geometry: the drive's tables need {needed:.1} GiB of memory ({} mapping units), {available:.1} GiB are available; \
         use fewer blocks per plane or a larger ftl.mapping_unit, for a trace of addresses far apart --addresses compact",
        geometry.units(),
    )))
}

/// Refuses a translation layer whose tables do not fit, where no drive is built around it.
pub fn check_tables(ftl: &FtlConfig) -> Result<(), Error> {
    let Some((needed, available)) = too_much(FtlConfig::table_bytes(&ftl.geometry, ftl.logical_units)) else {
        return Ok(());
    };
    Err(Error::Input(format!("the drive's tables need {needed:.1} GiB of memory, {available:.1} GiB are available")))
}

/// Refuses storage-class memory whose tables do not fit; returns what they take [B]. `pages` are those that a tier
/// looks after.
pub fn check_scm(scm: &ScmAssembly, pages: u32, engine: &EngineConfig) -> Result<u64, Error> {
    let tier = u64::from(pages) * TIER_BYTES_PER_PAGE;
    let bytes = scm.table_bytes() + tier + u64::from(engine.queue_depth) * BYTES_PER_COMMAND;
    let Some((needed, available)) = too_much(bytes) else { return Ok(bytes) };
    Err(Error::Input(format!(
        "scm.capacity: the tables of {} sectors need {needed:.1} GiB of memory, {available:.1} GiB are available",
        scm.raw_sectors(),
    )))
}

/// What is needed and what there is [GiB], where that is too little.
fn too_much(needed: u64) -> Option<(f64, f64)> {
    let available = available_bytes()?;
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    (needed as f64 > available as f64 * SHARE_OF_AVAILABLE).then(|| (gibibytes(needed), gibibytes(available)))
}

/// Memory that can be taken without swapping, where the system says [B].
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
