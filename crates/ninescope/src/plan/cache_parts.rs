//! Parts of the memory above another that tenants have for themselves: how many slots each has, and whose they are.
//!
//! A tenant that says `cache_size` has a part of that size. What is left is for all others together, or in equal parts for each
//! (`tier.parts`). How a part is given away and emptied is not known here.

use ninescope_engine::TierConfig;
use ninescope_generators::{JobConfig, JobError};
use ninescope_model::SECTOR_BYTES;
use ninescope_model::units::Bytes;
use ninescope_tier::Tier;

use crate::assembly::Assembly;
use crate::config::CacheParts;

/// What is wrong: a job of that number, or the drive's `tier.parts`.
#[derive(Debug)]
pub(super) enum Refused {
    Job(usize, JobError),
    Drive(String),
}

const KEY: &str = "cache_size";

/// Divides the upper memory of a drive among tenants.
///
/// # Errors
/// Whose key is at fault.
pub(super) fn divide(assembly: &mut Assembly, tenants: &[&JobConfig]) -> Result<(), Refused> {
    let of_job = |index: usize, problem: String| Refused::Job(index, JobError::new(KEY, problem));
    let named = tenants.iter().position(|job| job.cache_size.is_some());
    let (Some(upper), Some(tier)) = (assembly.scm.upper().copied(), &assembly.tier) else {
        let problem = "the drive has no memory above another (tier.placement), of which a job could have a part";
        return named.map_or(Ok(()), |index| Err(of_job(index, problem.to_owned())));
    };
    let separate = assembly.config.tier.parts == CacheParts::Separate;
    if named.is_none() && !separate {
        return Ok(());
    }
    let slot_bytes = u64::from(upper.sectors_per_slot) * SECTOR_BYTES;
    let (mut parts, mut of_tenant) = (Vec::new(), vec![None; tenants.len()]);
    let mut left = upper.slots;
    for (index, job) in tenants.iter().enumerate() {
        let Some(size) = job.cache_size else { continue };
        let slots = size.0 / slot_bytes;
        if slots == 0 {
            return Err(of_job(index, format!("is {size}, which is less than one page of {}", Bytes(slot_bytes))));
        }
        if slots > u64::from(left) {
            let problem = format!(
                "is {size}, and of the {} there {} left by the jobs before",
                Bytes(u64::from(upper.slots) * slot_bytes),
                if left == 0 {
                    "is nothing".to_owned()
                } else {
                    format!("are {}", Bytes(u64::from(left) * slot_bytes))
                },
            );
            return Err(of_job(index, problem));
        }
        left -= slots as u32;
        of_tenant[index] = Some(parts.len() as u32);
        parts.push(slots as u32);
    }
    let others: Vec<usize> = (0..tenants.len()).filter(|&index| of_tenant[index].is_none()).collect();
    let shares = if separate { others.len() as u32 } else { others.len().min(1) as u32 };
    if left < shares {
        let last = (0..tenants.len()).rev().find_map(|index| Some((index, tenants[index].cache_size?)));
        return Err(match last {
            Some((index, size)) => of_job(index, nothing_left(size, left, &others, tenants)),
            None => Refused::Drive(format!("is separate, and {left} pages are left for {} of them", others.len())),
        });
    }
    for (turn, &index) in (0..).zip(&others) {
        let share = if separate { turn } else { 0 };
        if parts.len() as u32 == (tenants.len() - others.len()) as u32 + share {
            // The first ones have what does not divide.
            parts.push(left / shares + u32::from(share < left % shares));
        }
        of_tenant[index] = Some((tenants.len() - others.len()) as u32 + share);
    }
    let of_tenant: Vec<u32> = of_tenant.into_iter().flatten().collect();
    check_reserves(tier, &parts, &of_tenant, separate && named.is_none())?;
    if let Some(tier) = &mut assembly.tier {
        (tier.parts, tier.part_of_tenant) = (parts, of_tenant);
    }
    Ok(())
}

/// What is wrong with a part that leaves no page for each of those who say nothing.
fn nothing_left(size: Bytes, left: u32, others: &[usize], tenants: &[&JobConfig]) -> String {
    let names: Vec<&str> = others.iter().map(|&index| tenants[index].name.as_str()).collect();
    let names = names.join(", ");
    format!(
        "is {size}, which with the parts of others leaves {left} pages of the cache for those that say none ({names})"
    )
}

/// That pages stay in each part.
fn check_reserves(tier: &TierConfig, parts: &[u32], of_tenant: &[u32], of_drive: bool) -> Result<(), Refused> {
    let divided = Tier::divided(&tier.placement, parts, 1, 1);
    let Some(reserve) = divided.map(|tier| move |part: usize| tier.reserve(part)) else { return Ok(()) };
    let Some(part) = (0..parts.len()).find(|&part| reserve(part) >= parts[part]) else { return Ok(()) };
    let what = format!(
        "a part of {} pages keeps {} of them free (tier.placement.evict_free), so that no page stays there",
        parts[part],
        reserve(part)
    );
    if of_drive {
        return Err(Refused::Drive(format!("is separate, and {what}")));
    }
    let index = of_tenant.iter().position(|&of| of as usize == part).unwrap_or_default();
    Err(Refused::Job(index, JobError::new(KEY, what)))
}
