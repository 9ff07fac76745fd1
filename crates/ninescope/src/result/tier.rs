//! What lay where on a drive of two media, and what moved, as JSON.

use ninescope_engine::{Seen, TierPart};
use ninescope_model::SECTOR_BYTES;
use ninescope_tier::{ClassCounters, SlotState, TierCounters};
use serde_json::{Value, json};

use crate::error::Error;

/// The section `tier`; absent for a drive of one medium. Counts are of the measured time, slots are as they are now.
pub fn section(device: &Seen<'_>, placement: &str) -> Result<Option<Value>, Error> {
    let Some(part) = device.tier else { return Ok(None) };
    let tier = part.tier();
    let counters = tier.counters();
    let residency = tier.residency();
    let (mut resident, mut dirty) = (0_u32, 0_u32);
    for slot in (0..residency.slots()).map(|slot| residency.slot(slot)) {
        let holds = matches!(slot.state, SlotState::Resident | SlotState::Leaving);
        resident += u32::from(holds);
        dirty += u32::from(holds && slot.dirty != 0);
    }
    let hit_ratio = (counters.page_accesses > 0).then(|| counters.page_hits as f64 / counters.page_accesses as f64);
    Ok(Some(json!({
        "placement": placement,
        "slots": residency.slots(),
        "pages": residency.pages(),
        "slots_holding": resident,
        "slots_dirty": dirty,
        "hit_ratio": hit_ratio,
        "bytes": bytes(counters),
        "counters": serde_json::to_value(counters).map_err(|error| Error::Internal(error.to_string()))?,
    })))
}

/// What a job has of the upper medium, and what it found there.
pub fn of_job(part: &TierPart, job: usize) -> Value {
    let (pages, own) = (part.pages_of(job), part.part_of(job as u16));
    let residency = part.tier().residency();
    json!({
        "part": own,
        "slots": residency.slots_of(own),
        "page_accesses": pages.page_accesses,
        "page_hits": pages.page_hits,
        "hit_ratio": (pages.page_accesses > 0).then(|| pages.page_hits as f64 / pages.page_accesses as f64),
    })
}

/// Host bytes by class of access and medium.
fn bytes(counters: &TierCounters) -> Value {
    let class = |class: &ClassCounters| {
        json!({
            "read_upper": class.read_upper * SECTOR_BYTES,
            "read_lower": class.read_lower * SECTOR_BYTES,
            "written_upper": class.written_upper * SECTOR_BYTES,
            "written_lower": class.written_lower * SECTOR_BYTES,
        })
    };
    json!({
        "hot_random": class(&counters.hot_random),
        "hot_sequential": class(&counters.hot_sequential),
        "cold_random": class(&counters.cold_random),
        "cold_sequential": class(&counters.cold_sequential),
    })
}
