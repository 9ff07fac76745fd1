//! The controller's DRAM: what lies in it, whether there is room for that, and its bus for the engine.

use ninescope_engine::policies::mapping::ENTRY_BYTES;
use ninescope_engine::{DramConfig, EngineConfig, TransferTimes};
use ninescope_ftl::FtlConfig;
use ninescope_kernel::{Ns, Rate};
use ninescope_model::Geometry;
use ninescope_model::units::Bytes;

use super::controller::TIME_MAX;
use crate::config::{self, LoadedDrive};
use crate::error::Error;

/// The DRAM of a drive.
#[derive(Clone, Debug)]
pub struct DramAssembly {
    /// Its bus, and who takes it.
    pub bus: DramConfig,
    /// The part of it that caches what is below; 0: there is none [B].
    pub cache: u64,
}

/// What lies in DRAM, by the key that says how much.
struct Share {
    key: &'static str,
    bytes: u64,
    words: String,
}

impl DramAssembly {
    /// Checks the table `[dram]` against what lies there. `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn new(
        drive: &LoadedDrive,
        geometry: &Geometry,
        ftl: &FtlConfig,
        engine: &EngineConfig,
    ) -> Result<Option<Self>, Error> {
        let Some(dram) = &drive.config.dram else { return Ok(None) };
        let caches = drive.config.tier.placement.chosen().is_cache();
        check_users(drive, dram, caches)?;
        if dram.capacity.0 == 0 {
            return Err(drive.error_at("dram.capacity", "must not be zero"));
        }
        check_times(drive, dram)?;
        let mut shares = shares(drive, dram, geometry, (ftl, engine));
        let others: u64 = shares.iter().map(|share| share.bytes).sum();
        let cache = match dram.cache {
            None if !caches => 0,
            None if shares.is_empty() => dram.capacity.0,
            // What the others leave, in whole pages for each bank; what is wrong with these is said where they are made.
            None => {
                let step = u64::from(geometry.page_bytes).saturating_mul(dram.banks.into()).max(1);
                let cache = dram.capacity.0.saturating_sub(others) / step * step;
                if cache == 0 {
                    let message = format!("they leave no page of a cache for each of {} banks", dram.banks);
                    return Err(too_much(drive, dram, &shares, &message));
                }
                cache
            }
            Some(Bytes(bytes)) => {
                shares.insert(0, Share { key: "dram.cache", bytes, words: Bytes(bytes).to_string() });
                bytes
            }
        };
        let all: u64 = shares.iter().map(|share| share.bytes).sum();
        if all > dram.capacity.0 {
            let message = format!("they take {} together, more than there is", Bytes(all));
            return Err(too_much(drive, dram, &shares, &message));
        }
        let told = dram.transfer_times.iter().map(|told| (told.size.0, Ns(told.time.0))).collect();
        let bus = DramConfig {
            times: TransferTimes::new(told),
            in_turn: dram.jobs_in_turn,
            access: Ns(dram.access.0),
            rate: Rate(dram.rate.0),
            write_buffer: dram.write_buffer,
            cut_through: dram.cut_through,
            read_data: dram.read_data,
            map: dram.map,
            cache: cache > 0,
        };
        Ok(Some(Self { bus, cache }))
    }
}

/// The times of sizes must be of sizes that rise.
fn check_times(drive: &LoadedDrive, dram: &config::DramConfig) -> Result<(), Error> {
    let beside_cache = dram.write_buffer || dram.read_data || dram.map;
    if !beside_cache && !dram.transfer_times.is_empty() {
        let message = "is told, and nothing but the cache takes the bus, whose pages cross at dram.rate";
        return Err(drive.error_at("dram.transfer_times", message));
    }
    let mut before = 0;
    for (number, told) in dram.transfer_times.iter().enumerate() {
        if told.size.0 <= before {
            let key = format!("dram.transfer_times[{number}].size");
            let message = format!("is {}, it must be above {}, the size before it", told.size, Bytes(before));
            return Err(drive.error_at(&key, &message));
        }
        if told.time.0 > TIME_MAX {
            return Err(drive.error_at(&format!("dram.transfer_times[{number}].time"), "is longer than an hour"));
        }
        before = told.size.0;
    }
    Ok(())
}

/// Who has something in DRAM must be there.
fn check_users(drive: &LoadedDrive, dram: &config::DramConfig, caches: bool) -> Result<(), Error> {
    let name = drive.config.tier.placement.name();
    if dram.cache.is_some() && !caches {
        let message = format!(
            "is given, and tier.placement = \"{name}\" makes no cache of it: `wb`, `rewritten`, `read-cache` and `nv-wb` do"
        );
        return Err(drive.error_at("dram.cache", &message));
    }
    if dram.cache == Some(Bytes(0)) {
        let message = format!("must not be zero: tier.placement = \"{name}\" makes a cache of it");
        return Err(drive.error_at("dram.cache", &message));
    }
    if dram.cut_through && !dram.write_buffer {
        return Err(
            drive.error_at("dram.cut_through", "is set, and dram.write_buffer is not: no written data lie there")
        );
    }
    let users = [("dram.write_buffer", dram.write_buffer), ("dram.read_data", dram.read_data), ("dram.map", dram.map)];
    match users.into_iter().find(|(_, is_there)| *is_there && drive.config.geometry.is_none()) {
        Some((key, _)) => Err(drive.error_at(key, "is set, and the drive has no flash")),
        None => Ok(()),
    }
}

/// What lies in DRAM beside a cache. What is read passes through and takes no room.
fn shares(
    drive: &LoadedDrive,
    dram: &config::DramConfig,
    geometry: &Geometry,
    (ftl, engine): (&FtlConfig, &EngineConfig),
) -> Vec<Share> {
    let mut shares = Vec::new();
    if dram.write_buffer {
        let of_dies = u64::from(engine.buffered_pages) * u64::from(geometry.dies());
        let (key, filled) = match engine.shared_buffered_pages.map(u64::from).filter(|shared| *shared < of_dies) {
            Some(shared) => ("controller.shared_buffered_pages", shared),
            None => ("controller.buffered_pages", of_dies),
        };
        let open = u64::from(geometry.pools());
        let bytes = (filled + open) * u64::from(geometry.page_bytes);
        let each = if key.contains("shared") {
            filled.to_string()
        } else {
            format!("{} for each of {} dies", engine.buffered_pages, geometry.dies())
        };
        let words = format!("{each} ({} with {open} that fill)", Bytes(bytes));
        shares.push(Share { key, bytes, words });
    }
    if dram.map {
        let (key, bytes) = match drive.config.ftl.map.chosen().rules() {
            Some(rules) => ("ftl.map.size", rules.size.0),
            None => ("ftl.map", u64::from(ftl.logical_units) * u64::from(ENTRY_BYTES)),
        };
        let all = if key == "ftl.map" { format!("{} (", drive.config.ftl.map.name()) } else { String::new() };
        let words = if all.is_empty() { Bytes(bytes).to_string() } else { format!("{all}{})", Bytes(bytes)) };
        shares.push(Share { key, bytes, words });
    }
    shares
}

fn too_much(drive: &LoadedDrive, dram: &config::DramConfig, shares: &[Share], message: &str) -> Error {
    let of_shares = shares.iter().map(|share| (share.key, share.words.clone()));
    let values: Vec<_> = std::iter::once(("dram.capacity", dram.capacity.to_string())).chain(of_shares).collect();
    drive.error_between(&values, message)
}
