//! From a drive description to its codes, its failing bits and what is done about them.

use ninescope_ecc::{EccSchemeConfig, Scheme};
use ninescope_engine::policies::refresh::RefreshPolicyConfig;
use ninescope_engine::reliability::backing_store::BackingStoreConfig;
use ninescope_engine::reliability::corruption::CorruptionConfig;
use ninescope_engine::reliability::health::Ageing;
use ninescope_engine::reliability::variation::VariationConfig;
use ninescope_engine::reliability::{NandReliability, ReliabilityConfig, ScmReliability};
use ninescope_kernel::Ns;
use ninescope_media::ParameterError;
use ninescope_media::health::{Arrhenius, RBER_MAX};
use ninescope_model::units::Bytes;
use ninescope_model::{Geometry, SECTOR_BYTES};

use super::flash;
use crate::config::{DriveConfig, LoadedDrive, NandConfig, ScmConfig, VariationSection};
use crate::error::Error;

/// The most reads that a backing store serves side by side: a slip of the key beyond.
const PARALLEL_MAX: u32 = 65_535;
/// The highest factor by which pages differ: more is a slip.
const FACTOR_MAX: f64 = 1_000.0;
/// The largest standard deviation of the logarithm of a block's factor: a slip beyond, where a few blocks have all errors.
const SIGMA_MAX: f64 = 3.0;

/// Checks what a description says about failing bits and derives the parts. The spare bytes of a page are filled in where
/// they were left out.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn config(drive: &LoadedDrive, geometry: &Geometry, seed: u64) -> Result<ReliabilityConfig, Error> {
    let DriveConfig { nand, scm, storage_scm, backing_store, scrub, refresh, .. } = &drive.config;
    let of_nand = match nand {
        Some(nand) => nand_reliability(drive, nand, geometry)?,
        None => NandReliability::default(),
    };
    let tables = [("scm", scm), ("storage_scm", storage_scm)];
    let tables = tables.into_iter().filter_map(|(table, config)| config.as_ref().map(|config| (table, config)));
    let scm = tables.map(|(table, config)| scm_reliability(drive, table, config)).collect::<Result<_, _>>()?;
    if let Some(scrub) = scrub {
        scrub.build().map_err(|(key, message)| drive.error_at(&format!("scrub.{key}"), &message))?;
        if of_nand.ecc.is_none() && of_nand.edc.is_none() {
            return Err(drive.error_at("scrub", "is there, and no code that could tell it anything: give nand.ecc"));
        }
    }
    if let Some(refresh) = refresh {
        refresh
            .build()
            .map_err(|(key, message)| drive.error_at(format!("refresh.{key}").trim_end_matches('.'), &message))?;
        if nand.is_none() {
            return Err(drive.error_at("refresh", "is there, and the drive has no flash"));
        }
        if matches!(refresh, RefreshPolicyConfig::ExpectedErrors(_)) && of_nand.errors.is_none() {
            let message = "goes by how many bits are expected to fail, which nobody says: give nand.errors";
            return Err(drive.error_at("refresh.policy", message));
        }
    }
    if let Some(store) = backing_store {
        if store.parallel == 0 || store.parallel > PARALLEL_MAX {
            let message = format!("is {}, it must lie between 1 and {PARALLEL_MAX}", store.parallel);
            return Err(drive.error_at("backing_store.parallel", &message));
        }
        if of_nand.edc.is_none() {
            return Err(drive.error_at("backing_store", "is there, and nothing is fetched from it without nand.edc"));
        }
    } else if of_nand.edc.is_some() {
        let message =
            "detects errors and corrects none: say where clean data is fetched from, in a table [backing_store]";
        return Err(drive.error_at("nand.edc", message));
    }
    Ok(ReliabilityConfig {
        nand: of_nand,
        scm,
        backing_store: backing_store
            .map(|store| BackingStoreConfig { read: Ns(store.read.0), parallel: store.parallel }),
        scrub: scrub.clone(),
        refresh: refresh.clone(),
        seed,
    })
}

fn nand_reliability(drive: &LoadedDrive, nand: &NandConfig, geometry: &Geometry) -> Result<NandReliability, Error> {
    let ecc = nand.ecc.as_ref().map(|ecc| nand_code(drive, "nand.ecc", ecc, geometry)).transpose()?;
    let edc = nand.edc.as_ref().map(|edc| nand_code(drive, "nand.edc", edc, geometry)).transpose()?;
    if edc.is_some() && !drive.config.ftl.streams.knows_clean() {
        let message = "guards clean data, which ftl.streams does not keep apart: set ftl.streams = \"clean-apart\"";
        return Err(drive.error_at("nand.edc", message));
    }
    if edc.is_some() && ecc.is_none() {
        return Err(drive.error_at("nand.edc", "guards clean data alone: give nand.ecc for the rest"));
    }
    for (key, is_there) in [
        ("nand.errors", nand.errors.is_some()),
        ("nand.retry", nand.retry.is_some()),
        ("nand.corruption", nand.corruption.is_some()),
    ] {
        if is_there && ecc.is_none() {
            return Err(drive.error_at(key, "is there, and no code that would see errors: give nand.ecc"));
        }
    }
    let decodes_softly = nand.ecc.as_ref().is_some_and(|ecc| ecc.chosen().decodes_softly());
    if nand.retry.as_ref().is_some_and(|retry| retry.chosen().needs_soft_decoding()) && !decodes_softly {
        let message = "is of LDPC codes, whose decoders take more than one bit per cell: give nand.ecc = \"ldpc\", or another retry";
        return Err(drive.error_at("nand.retry", message));
    }
    if let Some(errors) = &nand.errors {
        let built = errors.build();
        built.map_err(|error| drive.error_at(&format!("nand.errors.{}", error.key), &error.message))?;
    }
    if let Some(retry) = &nand.retry {
        retry.build().map_err(|(key, message)| drive.error_at(&format!("nand.retry.{key}"), &message))?;
    }
    Ok(NandReliability {
        ecc,
        edc,
        errors: nand.errors.clone(),
        variation: nand.variation.as_ref().map(|section| variation(drive, nand, section, geometry)).transpose()?,
        initial_cycles: nand.initial_cycles.unwrap_or(0),
        initial_age: nand.initial_age.map_or(Ns::ZERO, |age| Ns(age.0)),
        ageing: ageing(drive, nand)?,
        retry: nand.retry.clone(),
        corruption: corruption(drive, nand)?,
        ..NandReliability::default()
    })
}

/// By how much the pages of a block, and blocks, differ in what bits fail.
fn variation(
    drive: &LoadedDrive,
    nand: &NandConfig,
    section: &VariationSection,
    geometry: &Geometry,
) -> Result<VariationConfig, Error> {
    let VariationSection { page_types, layers, blocks } = section;
    let wrong =
        |key: &str, message: &str| Err(drive.error_at(format!("nand.variation.{key}").trim_end_matches('.'), message));
    if nand.errors.is_none() {
        return wrong("", "is there, and no rate that could vary: give nand.errors");
    }
    if page_types.is_empty() && layers.is_empty() && blocks.is_none() {
        return wrong("", "says nothing: give page_types, layers or blocks");
    }
    let bits = nand.cell.bits();
    if !(page_types.is_empty() || page_types.len() == bits) {
        return wrong("page_types", &format!("has {} values; give one per bit of the cell ({bits})", page_types.len()));
    }
    if layers.len() > geometry.pages_per_block as usize {
        let pages = geometry.pages_per_block;
        return wrong("layers", &format!("has {} values, and a block has {pages} pages", layers.len()));
    }
    for (key, factors) in [("page_types", page_types), ("layers", layers)] {
        if let Some(factor) = factors.iter().find(|&&factor| !(factor > 0.0 && factor <= FACTOR_MAX)) {
            return wrong(key, &format!("has the value {factor}, it must be above 0 and at most {FACTOR_MAX}"));
        }
    }
    let blocks = blocks.unwrap_or(0.0);
    if !(0.0..=SIGMA_MAX).contains(&blocks) {
        return wrong("blocks", &format!("is {blocks}, it must be 0 to {SIGMA_MAX}"));
    }
    let of_layer = |page: u32, pages: u32| {
        let layer = u64::from(page) * layers.len() as u64 / u64::from(pages.max(1));
        layers.get(layer as usize).copied().unwrap_or(1.0)
    };
    let types = flash::types_of_pages(drive, geometry.pages_per_block)?;
    let of_type = |page: usize| page_types.get(usize::from(types[page])).copied().unwrap_or(1.0);
    let (pages, slc_pages) = (geometry.pages_per_block, geometry.pages_per_block / bits as u32);
    Ok(VariationConfig {
        pages: (0..pages).map(|page| of_type(page as usize) * of_layer(page, pages)).collect(),
        slc_pages: (0..slc_pages).map(|page| of_layer(page, slc_pages)).collect(),
        blocks,
    })
}

/// How fast data ages at the temperatures of a drive.
fn ageing(drive: &LoadedDrive, nand: &NandConfig) -> Result<Option<Ageing>, Error> {
    let Some(section) = nand.temperature else { return Ok(None) };
    if nand.errors.is_none() {
        return Err(drive.error_at("nand.temperature", "is there, and nothing that age does: give nand.errors"));
    }
    if section.stored.is_some() && nand.initial_age.is_none() {
        let message = "is given, and no time that was spent at it: give nand.initial_age";
        return Err(drive.error_at("nand.temperature.stored", message));
    }
    let named = |error: ParameterError| drive.error_at(&format!("nand.temperature.{}", error.key), &error.message);
    let law = Arrhenius::new(section.activation_energy, section.reference).map_err(named)?;
    let factor = law.acceleration("running", section.running).map_err(named)?;
    let stored = section.stored.map(|celsius| law.acceleration("stored", celsius)).transpose().map_err(named)?;
    let initial = nand.initial_age.map_or(0.0, |age| age.0 as f64) * stored.unwrap_or(factor);
    Ok(Some(Ageing { initial: Ns(initial as u64), factor }))
}

fn corruption(drive: &LoadedDrive, nand: &NandConfig) -> Result<Option<CorruptionConfig>, Error> {
    let Some(section) = nand.corruption else { return Ok(None) };
    for (key, rber) in [("initial_rber", section.initial_rber), ("hourly_rber", section.hourly_rber)] {
        if !(0.0..=RBER_MAX).contains(&rber) {
            let message = format!("is {rber}, it must lie between 0 and {RBER_MAX}");
            return Err(drive.error_at(&format!("nand.corruption.{key}"), &message));
        }
    }
    if let Some(until) = section.until.filter(|until| *until <= section.at) {
        let message = format!("is {until}, it must lie after `at`, which is {}", section.at);
        return Err(drive.error_at("nand.corruption.until", &message));
    }
    Ok(Some(CorruptionConfig {
        initial_rber: section.initial_rber,
        at: Ns(section.at.0),
        until: section.until.map(|until| Ns(until.0)),
        hourly_rber: section.hourly_rber,
    }))
}

/// A code of the flash, whose codewords must fit its pages.
fn nand_code(drive: &LoadedDrive, table: &str, code: &EccSchemeConfig, geometry: &Geometry) -> Result<Scheme, Error> {
    let scheme = code_of(drive, table, code)?;
    let (user, page, unit) = (scheme.user_bytes(), geometry.page_bytes, geometry.unit_bytes);
    let at = |key: &str| format!("{table}.{key}");
    if !page.is_multiple_of(user) {
        let message = format!("is {}, and a page of {} holds no whole number of codewords", size(user), size(page));
        return Err(drive.error_at(&at("user_data"), &message));
    }
    if !(user.is_multiple_of(unit) || unit.is_multiple_of(user)) {
        let message = format!(
            "is {}, which neither divides the mapping unit of {} nor is a multiple of it",
            size(user),
            size(unit)
        );
        return Err(drive.error_at(&at("user_data"), &message));
    }
    if scheme.holds_die() && drive.config.nand.as_ref().is_some_and(|nand| nand.cache_read.is_some()) {
        let message =
            "cannot be with nand.cache_read: what waits for a second register is to wait for the channel alone";
        return Err(drive.error_at(&at("holds_die"), message));
    }
    let parity = page / user * scheme.parity_bytes();
    if let Some(spare) = drive.config.nand.as_ref().and_then(|nand| nand.spare_size)
        && spare.0 < u64::from(parity)
    {
        let message = format!(
            "is {} B, too small for the parity of {table}: {} codewords of {} B each need {parity} B, {} B more",
            spare.0,
            page / user,
            scheme.parity_bytes(),
            u64::from(parity) - spare.0,
        );
        return Err(drive.error_at("nand.spare_size", &message));
    }
    Ok(scheme)
}

fn code_of(drive: &LoadedDrive, table: &str, code: &EccSchemeConfig) -> Result<Scheme, Error> {
    let scheme = code.build().map_err(|error| drive.error_at(&format!("{table}.{}", error.key), &error.message))?;
    if scheme.decoders() > PARALLEL_MAX {
        let message = format!("is {}, it must be at most {PARALLEL_MAX}", scheme.decoders());
        return Err(drive.error_at(&format!("{table}.decoders"), &message));
    }
    if scheme.shared() && scheme.holds_die() {
        let message = "cannot be with `shared`: who waits for the decoders of other channels gives its die free";
        return Err(drive.error_at(&format!("{table}.holds_die"), message));
    }
    Ok(scheme)
}

fn scm_reliability(drive: &LoadedDrive, table: &str, config: &ScmConfig) -> Result<ScmReliability, Error> {
    let ecc = config.ecc.as_ref().map(|ecc| code_of(drive, &format!("{table}.ecc"), ecc)).transpose()?;
    if let Some(scheme) = &ecc
        && u64::from(scheme.user_bytes()) != SECTOR_BYTES
    {
        let message =
            format!("is {}, and a sector of 512 B is written by itself: it must be 512B", size(scheme.user_bytes()));
        return Err(drive.error_at(&format!("{table}.ecc.user_data"), &message));
    }
    if let Some(errors) = &config.errors {
        if ecc.is_none() {
            let message = format!("is there, and no code that would see errors: give {table}.ecc");
            return Err(drive.error_at(&format!("{table}.errors"), &message));
        }
        let built = errors.build();
        built.map_err(|error| drive.error_at(&format!("{table}.errors.{}", error.key), &error.message))?;
    }
    Ok(ScmReliability { ecc, errors: config.errors.clone() })
}

fn size(bytes: u32) -> Bytes {
    Bytes(u64::from(bytes))
}
