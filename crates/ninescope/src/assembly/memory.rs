//! How much memory a drive takes, said before it is allocated.

use std::fmt;

use ninescope_engine::EngineConfig;
use ninescope_ftl::FtlConfig;
use ninescope_model::Geometry;

use crate::error::Error;

use super::scm::ScmAssembly;

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
    let blocks = u64::from(geometry.groups()) * u64::from(geometry.frontier_planes * geometry.stripe_dies());
    let moved_pages = u64::from(geometry.pools()) * u64::from(engine.gc_pages_in_flight) * 2;
    let pages = u64::from(geometry.dies()) * u64::from(engine.buffered_pages) + moved_pages;
    let sectors_used = if engine.sectors.rests { u64::from(logical_units) * 4 } else { 0 };
    FtlConfig::table_bytes(geometry, logical_units)
        + sectors_used
        + blocks * MEDIA_BYTES_PER_BLOCK
        + u64::from(engine.queue_depth) * BYTES_PER_COMMAND
        + pages * BYTES_PER_PAGE
        + moved_pages * u64::from(geometry.units_per_page()) * BYTES_PER_MOVED_UNIT
}

/// Refuses a drive whose tables do not fit; returns what they take [B].
pub fn check(geometry: &Geometry, logical_units: u32, engine: &EngineConfig) -> Result<u64, Error> {
    let bytes = drive_bytes(geometry, logical_units, engine);
    let Some(shortage) = shortage(bytes) else { return Ok(bytes) };
    Err(Error::Input(format!(
        "geometry: the drive's tables need {shortage} ({} mapping units); use fewer blocks per plane or a larger \
         ftl.mapping_unit",
        geometry.units(),
    )))
}

/// Refuses a translation layer whose tables do not fit, where no drive is built around it.
pub fn check_tables(ftl: &FtlConfig) -> Result<(), Error> {
    let Some(shortage) = shortage(FtlConfig::table_bytes(&ftl.geometry, ftl.logical_units)) else { return Ok(()) };
    Err(Error::Input(format!("the drive's tables need {shortage}")))
}

/// Refuses storage-class memory whose tables do not fit; returns what they take [B]. `pages` are those that a tier
/// looks after.
pub fn check_scm(scm: &ScmAssembly, pages: u32, engine: &EngineConfig) -> Result<u64, Error> {
    let tier = u64::from(pages) * TIER_BYTES_PER_PAGE;
    let bytes = scm.table_bytes() + tier + u64::from(engine.queue_depth) * BYTES_PER_COMMAND;
    let Some(shortage) = shortage(bytes) else { return Ok(bytes) };
    Err(Error::Input(format!("scm.capacity: the tables of {} sectors need {shortage}", scm.raw_sectors())))
}

/// Tables that do not fit, in words that follow "need".
#[derive(Clone, Copy, Debug)]
pub struct Shortage {
    /// Bytes that the tables take [B].
    needed: u64,
    /// Bytes that are free [B].
    available: u64,
}

impl Shortage {
    /// Tables of `needed` bytes, where a run may not take as much of `available` ones.
    fn of(needed: u64, available: u64) -> Option<Self> {
        (needed as f64 > available as f64 * SHARE_OF_AVAILABLE).then_some(Self { needed, available })
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gibibytes = |bytes: f64| bytes / f64::from(1 << 30);
        let available = self.available as f64;
        write!(
            formatter,
            "{:.1} GiB of memory, and at most {:.1} GiB may be taken ({:.0} % of the {:.1} GiB that are free)",
            gibibytes(self.needed as f64),
            gibibytes(available * SHARE_OF_AVAILABLE),
            SHARE_OF_AVAILABLE * 100.0,
            gibibytes(available),
        )
    }
}

/// What is said of tables of `needed` bytes, where they do not fit.
pub fn shortage(needed: u64) -> Option<Shortage> {
    Shortage::of(needed, available_bytes()?)
}

/// Memory that can be taken without swapping, where the system says [B].
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_said_where_tables_would_fit_without_it() {
        let gibibytes = |number: u64| number << 30;
        assert!(Shortage::of(gibibytes(19), gibibytes(22)).is_none());
        let shortage =
            Shortage::of(gibibytes(20), gibibytes(22)).expect("more than 90 % of 22 GiB, which are 19.8 GiB");
        assert_eq!(
            shortage.to_string(),
            "20.0 GiB of memory, and at most 19.8 GiB may be taken (90 % of the 22.0 GiB that are free)"
        );
    }
}
