//! What codes found, what was done about it, and what a cache-oriented drive came to, as JSON.

use ninescope_engine::Seen;
use ninescope_engine::policies::read_retry::ReadRetry;
use ninescope_engine::reliability::code::Code;
use ninescope_engine::reliability::read_ages::{AGES, CYCLES, ReadsOfClass};
use ninescope_engine::reliability::{NandCode, Reliability};
use serde_json::{Map, Value, json};

use crate::error::Error;

/// The section `reliability`; absent for a drive without codes. Counts are of the measured time, but for corruptions, which
/// are counted from the start.
pub fn section(device: &Seen<'_>) -> Result<Option<Value>, Error> {
    let Some(part) = device.reliability else { return Ok(None) };
    let codes = [
        ("nand", part.nand_code(NandCode::Ecc)),
        ("nand_edc", part.nand_code(NandCode::Edc)),
        ("scm", part.scm_code(0)),
        ("storage_scm", part.scm_code(1)),
    ];
    let mut by_code = Map::new();
    for (name, code) in codes {
        if let Some(code) = code {
            by_code.insert(name.to_owned(), code_entry(code, device)?);
        }
    }
    let mut section = json!({
        "codes": by_code,
        "counters": serde_json::to_value(part.counters()).map_err(|error| Error::Internal(error.to_string()))?,
    });
    if device.ftl.knows_clean() {
        section["cache"] = cache(part);
    }
    if part.nand_code(NandCode::Ecc).or(part.nand_code(NandCode::Edc)).is_some() {
        section["reads_by_age"] = reads_by_age(part);
        section["reads_by_wear"] = reads_by_wear(part);
    }
    Ok(Some(section))
}

/// Reads of flash by the age of what they read, class by class; those without any are left out.
fn reads_by_age(part: &Reliability) -> Value {
    let classes = part.reads_by_age().by_age.iter().enumerate().filter(|(_, class)| class.reads() > 0);
    classes
        .map(|(number, class)| {
            let mut entry = attempts_of(class, part);
            entry["from_ns"] = json!(AGES[number].0);
            entry["until_ns"] = json!(AGES.get(number + 1).map(|until| until.0));
            entry["mean_age_ns"] = json!(class.sum as f64 / class.reads() as f64);
            entry
        })
        .collect()
}

/// The same by the P/E cycles of the blocks that they lay in.
fn reads_by_wear(part: &Reliability) -> Value {
    let classes = part.reads_by_age().by_wear.iter().enumerate().filter(|(_, class)| class.reads() > 0);
    classes
        .map(|(number, class)| {
            let mut entry = attempts_of(class, part);
            entry["from_cycles"] = json!(CYCLES[number]);
            entry["until_cycles"] = json!(CYCLES.get(number + 1));
            entry["mean_cycles"] = json!(class.sum as f64 / class.reads() as f64);
            entry
        })
        .collect()
}

/// How many attempts the reads of a class took: of `attempts` the first number is of those that were not read again.
fn attempts_of(class: &ReadsOfClass, part: &Reliability) -> Value {
    let (reads, retries) = (class.reads(), class.retries());
    let retried = reads - class.by_attempts[0];
    let most = class.by_attempts.iter().rposition(|&reads| reads > 0).unwrap_or(0);
    json!({
        "reads": reads,
        "retried": retried,
        "retries": retries,
        "mean_attempts": retries as f64 / reads as f64,
        "soft": if part.retry().is_some_and(ReadRetry::is_soft) { retried } else { 0 },
        "undecoded": class.undecoded,
        "attempts": class.by_attempts[..=most],
    })
}

/// A code, and what its decoders did.
fn code_entry(code: &Code, device: &Seen<'_>) -> Result<Value, Error> {
    let scheme = code.scheme();
    let mut entry = serde_json::to_value(code.counters).map_err(|error| Error::Internal(error.to_string()))?;
    let elapsed = device.now.saturating_since(device.meter.since).0;
    let decoders = code.decoder_count();
    let per = |time: u64, count: u64| if count == 0 { Value::Null } else { json!(time as f64 / count as f64) };
    entry["user_bytes"] = json!(scheme.user_bytes());
    entry["codeword_bits"] = json!(scheme.codeword_bits());
    entry["parity_bytes"] = json!(scheme.parity_bytes());
    entry["correctable"] = json!(scheme.correctable());
    entry["decoders"] = json!(decoders);
    entry["decoder_utilisation"] = per(code.counters.decoder_busy_ns, elapsed * decoders as u64);
    entry["failed_share"] = per(code.counters.failed_codewords, code.counters.codewords);
    Ok(entry)
}

/// The tables of Huang et al., "FlexECC" (USENIX ATC 2014), in words.
fn cache(part: &Reliability) -> Value {
    let counters = part.counters();
    let met = counters.corruptions_corrected
        + counters.corruptions_met_by_host
        + counters.corruptions_met_by_moves
        + counters.corruptions_met_by_scrub;
    json!({
        "ecc_reads": counters.ecc_units_read,
        "edc_reads": counters.edc_units_read,
        "ecc_moved": counters.ecc_units_moved,
        "edc_moved": counters.edc_units_moved,
        "ecc_to_edc": counters.units_moved_to_edc,
        "corruptions": counters.corruptions,
        "corruptions_under_edc": counters.corruptions_under_edc,
        "refetches": counters.refetched,
        "refetches_for_moves": counters.refetched_for_moves,
        "prefetched": counters.prefetched,
        "corrected": counters.corruptions_corrected,
        "met_by_host": counters.corruptions_met_by_host,
        "met_by_moves": counters.corruptions_met_by_moves,
        "met_by_scrubber": counters.corruptions_met_by_scrub,
        "overwritten": counters.corruptions_erased,
        "never_met": counters.corruptions.saturating_sub(met),
    })
}
