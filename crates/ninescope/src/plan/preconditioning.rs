//! How the drive of a run is preconditioned, by what the request asks for and what the workload touches and writes.

use std::ops::Range;

use super::zones;
use crate::assembly::Assembly;
use crate::error::Error;
use crate::precondition::{Composition, Overwriting, Preconditioning, PrefillMode, WearIn};
use crate::request::RunRequest;

/// How the drive is preconditioned, and what is to be said of it. `own` are the writes that wear it in where they do.
pub fn preconditioning(
    request: &RunRequest,
    footprint: impl FnOnce() -> Vec<Range<u32>>,
    assembly: &Assembly,
    own: impl FnOnce() -> Result<WearIn, Error>,
) -> Result<(Preconditioning, Option<String>), Error> {
    let geometry = &assembly.geometry;
    // What belongs to no namespace is never written.
    let overwritten = 0..assembly.addressed_units();
    let all = overwritten.end == assembly.ftl.logical_units;
    let round = geometry.units_per_group() * geometry.pools();
    // A map that is never written lies on the media as it was before anything else did.
    let whole_map = assembly.config.ftl.map.chosen().rules().is_some_and(|rules| !rules.written);
    let made = |fill, overwriting| {
        let made = Preconditioning::new(fill, overwriting, round, request.seed);
        made.in_order(request.prefill_order).with_whole_map(whole_map)
    };
    if assembly.ftl.zones.is_some() {
        let fill = zones::filled(request, footprint, assembly)?;
        return Ok((made(fill, Overwriting::None), None));
    }
    // What is overwritten in place needs no preparing: every sector is there.
    let mode = if geometry.pools() == 0 { PrefillMode::None } else { request.prefill };
    let whole = || vec![overwritten.clone()];
    let uniform = |composed| {
        let overwriting = made(whole(), Overwriting::UntilSteady(overwritten.clone()));
        if composed && all { overwriting.composed(&assembly.ftl, request.seed) } else { overwriting }
    };
    // What is composed is alike everywhere.
    let is_large = assembly.ftl.partitions.is_empty() && Composition::is_quicker(&assembly.ftl);
    Ok(match mode {
        PrefillMode::None => (made(Vec::new(), Overwriting::None), None),
        PrefillMode::Footprint => (made(footprint(), Overwriting::None), None),
        PrefillMode::Full => (made(whole(), Overwriting::None), None),
        PrefillMode::Raw => {
            let rest = u64::from(geometry.units()).saturating_sub(overwritten.len() as u64);
            (made(whole(), Overwriting::Units(overwritten.clone(), rest)), None)
        }
        PrefillMode::SteadyUniform => (uniform(is_large), None),
        PrefillMode::SteadyOverwritten => (uniform(false), None),
        PrefillMode::SteadyComposed if assembly.ftl.breakdown.is_some() || assembly.ftl.wear_leveling.levels() => {
            let message = "prefill = \"steady-composed\" makes all planes like one, and the wear of this drive's is levelled, or its blocks break: use steady-overwritten";
            return Err(Error::Input(message.to_owned()));
        }
        PrefillMode::SteadyComposed if assembly.ftl.block_map.is_some() => {
            let message = "prefill = \"steady-composed\" makes places of units of its own, and a map of blocks (ftl.map) has them at their places: use steady-overwritten";
            return Err(Error::Input(message.to_owned()));
        }
        PrefillMode::SteadyComposed if assembly.ftl.homes.is_empty() => (uniform(true), None),
        PrefillMode::SteadyComposed => {
            let note = "channels that streams have for themselves (ftl.stream_channels) make planes unlike each other: the \
                        drive was overwritten (steady-overwritten)";
            (uniform(false), Some(note.to_owned()))
        }
        PrefillMode::Steady => match own_of_flash(assembly, own)? {
            WearIn::Own(own) => {
                let note = own.note().map(str::to_owned);
                (made(whole(), Overwriting::ByWorkload(overwritten.clone(), own)), note)
            }
            WearIn::Uniform(reason) => {
                let note = format!("{reason}: the drive was worn in by uniform random writes (steady-uniform)");
                (uniform(is_large), Some(note))
            }
        },
    })
}

/// The writes that wear flash in; those of a drive with a tier are not known before its run.
fn own_of_flash(assembly: &Assembly, own: impl FnOnce() -> Result<WearIn, Error>) -> Result<WearIn, Error> {
    let reason = "which writes reach flash only the tier's run shows";
    if assembly.scm.media.is_empty() { own() } else { Ok(WearIn::Uniform(reason)) }
}

/// What is to be said where a drive was to be prepared and there is nothing to prepare.
pub fn prefill_note(request: &RunRequest, assembly: &Assembly) -> Option<String> {
    let asked = !matches!(request.prefill, PrefillMode::None | PrefillMode::Footprint);
    (asked && assembly.timing.is_none()).then(|| "memory that is overwritten in place needs no prefill".to_owned())
}
