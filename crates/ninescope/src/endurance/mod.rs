//! How long a drive lasts under the workload that was measured, and what it costs.
//!
//! Everything is extrapolated from the measured window, as if it were repeated from new to the end. The judgement is a
//! function of counts alone ([`MediumEndurance::of`], [`Lifetime::of`], [`Cost::of`]), one medium at a time; `nand` and
//! `scm` take the counts from what ran. `docs/endurance.md` states method, formulas and limits.

mod cost;
mod distribution;
mod lifetime;
mod medium;
mod nand;
mod scm;
mod wear_out;

use std::collections::BTreeMap;

use ninescope_engine::Seen;
use ninescope_engine::meter::OpMeter;
use ninescope_kernel::Ns;
use serde::Serialize;

use crate::config::{DriveConfig, LoadedDrive};
use crate::error::Error;

pub use cost::{Cost, MediumCost, Price};
pub use distribution::Distribution;
pub use lifetime::Lifetime;

pub use medium::{LifeBy, MediumEndurance, WearUnit, Window, Worn};
use wear_out::Borne;
pub use wear_out::WearOutLife;

/// How the figures come about, in one breath.
const METHOD: &str = "the measured window is one pass, repeated from new; flash is worn out when its blocks have reached \
    their rated P/E cycles on average (bytes programmed over bytes of flash), or, where each bears a number of its own, when \
    too few of them are left for more writes and wear is level; storage-class memory when the sector that \
    the window wrote most has reached its rated writes; years are at the measured rate, and a closed loop writes as fast \
    as the drive lets it";

/// More years than this are a slip of the unit.
const DWPD_YEARS_MAX: f64 = 1_000.0;

/// How long a drive lasts, by medium and in all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endurance {
    /// How the figures come about.
    pub method: &'static str,
    /// The measured time [ns].
    pub window_ns: u64,
    /// What the host wrote in it [B].
    pub host_bytes: u64,
    /// By medium.
    pub media: BTreeMap<&'static str, MediumEndurance>,
    /// Of the whole drive.
    pub lifetime: Lifetime,
    /// What the cycles that its blocks bear make of it, where each bears its own, and wear is level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wear_out: Option<WearOutLife>,
}

/// The keys that only these figures need have values that they can be told with.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn check(drive: &LoadedDrive) -> Result<(), Error> {
    let positive = |key: &str, value: f64| {
        let message = format!("is {value}, it must be a finite number greater than 0");
        if value.is_finite() && value > 0.0 { Ok(()) } else { Err(drive.error_at(key, &message)) }
    };
    let years = drive.config.endurance.dwpd_years;
    positive("endurance.dwpd_years", years)?;
    if years > DWPD_YEARS_MAX {
        let message = format!("is {years}, at most {DWPD_YEARS_MAX} are supported");
        return Err(drive.error_at("endurance.dwpd_years", &message));
    }
    let Some(nand) = &drive.config.nand else { return Ok(()) };
    if let Some(cost) = nand.bit_cost {
        positive("nand.bit_cost", cost)?;
    }
    if nand.endurance_cycles == Some(0) {
        return Err(drive.error_at("nand.endurance_cycles", "must not be zero"));
    }
    Ok(())
}

/// How long a drive that shows so many bytes lasts and what it costs, from what was measured over `elapsed`.
pub fn of_run(device: &Seen<'_>, config: &DriveConfig, logical_bytes: u64, elapsed: Ns) -> (Endurance, Cost) {
    let window = Window { ns: elapsed.0, host_bytes: device.written().host };
    let (mut worn, mut bit_costs) = (Vec::new(), Vec::new());
    let mut wear_out = None;
    if let Some(config) = &config.nand {
        let borne = Borne::of(device.ftl, config.initial_cycles.unwrap_or(0));
        worn.push(("nand", nand::worn(device.ftl, config, borne.map(|borne| borne.to_read_only))));
        wear_out = borne.map(|borne| WearOutLife::of(borne, worn[0].1.bytes_written, window));
        bit_costs.push((config.bit_cost, "nand.bit_cost"));
    }
    let memories = [
        ("scm", &config.scm, "scm.endurance_writes", "scm.bit_cost"),
        ("storage_scm", &config.storage_scm, "storage_scm.endurance_writes", "storage_scm.bit_cost"),
    ];
    for (medium, (name, config, rated_key, cost_key)) in memories.into_iter().enumerate() {
        let Some(config) = config else { continue };
        worn.push((name, scm::worn(device.scm, medium, config, rated_key)));
        bit_costs.push((config.bit_cost, cost_key));
    }
    let price = |(&(name, ref worn), &(bit_cost, key)): (&(_, Worn), &(_, _))| {
        (name, Price { raw_bytes: worn.raw_bytes, bit_cost, key })
    };
    let prices: Vec<_> = worn.iter().zip(&bit_costs).map(price).collect();
    let cost = Cost::of(&prices, logical_bytes, iops(device, elapsed));
    let media: Vec<_> = worn.iter().map(|(name, worn)| (*name, MediumEndurance::of(worn, window))).collect();
    let mut lifetime = Lifetime::of(&media, window, logical_bytes, config.endurance.dwpd_years);
    if device.ftl.is_read_only() {
        lifetime = lifetime.is_over();
    }
    let media = media.into_iter().collect();
    (Endurance { method: METHOD, window_ns: window.ns, host_bytes: window.host_bytes, media, lifetime, wear_out }, cost)
}

/// Requests of any kind, those answered with an error left out, per second of the measured time.
fn iops(device: &Seen<'_>, elapsed: Ns) -> Option<f64> {
    let requests: u64 = device.meter.ops.iter().map(OpMeter::done).sum();
    (elapsed > Ns::ZERO).then(|| requests as f64 * 1e9 / elapsed.0 as f64)
}
