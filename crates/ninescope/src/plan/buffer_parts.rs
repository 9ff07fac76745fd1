//! Parts of the write buffer that tenants have for themselves: how many filled pages each may have, and whose they are.
//!
//! A tenant that says `buffer_pages` has as many of those that wait for their programs at a time. What is left of the bound is for all
//! others and for what the drive writes by itself.

use ninescope_engine::{BufferPartsConfig, EngineConfig, WriteCompletion};
use ninescope_generators::{JobConfig, JobError};

use crate::assembly::{Assembly, buffered_pages_min};

const KEY: &str = "buffer_pages";

/// Divides the write buffer of a drive among tenants.
///
/// # Errors
/// The job of that number, and what is wrong with its key.
pub(super) fn divide(assembly: &mut Assembly, tenants: &[&JobConfig]) -> Result<(), (usize, JobError)> {
    let refused = |index: usize, problem: String| Err((index, JobError::new(KEY, problem)));
    let Some(first) = tenants.iter().position(|job| job.buffer_pages.is_some()) else { return Ok(()) };
    let shared = match check_drive(assembly) {
        Ok(shared) => shared,
        Err(problem) => return refused(first, problem.to_owned()),
    };
    let of_die = buffered_pages_min(&assembly.config, &assembly.geometry, None);
    let least = EngineConfig::shared_buffered_pages_min(&assembly.geometry, of_die);
    let (mut left, mut parts) = (shared, BufferPartsConfig { pages: vec![0], of_tenant: vec![0; tenants.len()] });
    for (index, job) in tenants.iter().enumerate() {
        let Some(pages) = job.buffer_pages else { continue };
        if pages < least {
            return refused(index, format!("is {pages}, at least {least} are needed, or a stripe could never fill"));
        }
        if left < pages.saturating_add(least) {
            let for_others = format!("{least} stay for others and for the drive");
            return refused(
                index,
                format!(
                    "is {pages}, and of the {shared} of controller.shared_buffered_pages there are {left} left, of which {for_others}"
                ),
            );
        }
        left -= pages;
        parts.of_tenant[index] = parts.pages.len() as u32;
        parts.pages.push(pages);
    }
    parts.pages[0] = left;
    assembly.engine.buffer_parts = parts;
    Ok(())
}

/// How many pages there are, or why there is nothing to divide.
fn check_drive(assembly: &Assembly) -> Result<u32, &'static str> {
    if assembly.geometry.dies() == 0 || assembly.ftl.logical_units == 0 {
        return Err("the drive has no flash, to which its writes would go through a buffer");
    }
    if assembly.ftl.zones.is_some() {
        return Err("the drive has zones ([zns]), whose pages belong to whoever opened them");
    }
    if assembly.ftl.block_map.is_some() {
        return Err("the drive has a map of blocks (ftl.map), whose merges keep everybody waiting");
    }
    if assembly.engine.write_completion == WriteCompletion::Program {
        return Err("the drive has no write buffer (controller.write_completion = \"program\")");
    }
    assembly.engine.shared_buffered_pages.ok_or(
        "the drive has no bound for all dies (controller.shared_buffered_pages), of which a job could have a part",
    )
}

/// A tenant runs alone: what is his part is all of the buffer.
pub(super) fn leave_one(engine: &mut EngineConfig, tenant: usize) {
    let parts = std::mem::take(&mut engine.buffer_parts);
    if let Some(&part) = parts.of_tenant.get(tenant) {
        engine.shared_buffered_pages = parts.pages.get(part as usize).copied();
    }
}
