//! The volumes of a trace: which there are, which are read, and where they lie on the drive.

use std::collections::BTreeMap;
use std::sync::Arc;

use ninescope_model::{Op, PAGE_BYTES, SECTOR_BYTES};
use serde::Serialize;

use super::record::TraceRecord;
use super::text::excerpt;
use crate::LineProblem;
use crate::page_set::PageRanks;

/// How many volumes are told apart; further ones are read, but not counted, so that memory stays constant.
const VOLUMES_MAX: usize = 65_536;

/// One volume of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceVolume {
    /// Its name in the trace.
    pub name: String,
    /// Its requests, read or not.
    pub requests: u64,
    /// The byte after the highest one that they touch, in the volume.
    pub max_address: u64,
    /// Where it begins on the drive [bytes].
    pub base: u64,
    #[serde(skip)]
    pub(super) device: u64,
    #[serde(skip)]
    is_chosen: bool,
}

/// Where a trace's addresses lie on the drive. By default each lies where the trace says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddressMap {
    /// Where each volume begins [sectors]; `None`: all at zero.
    bases: Option<Arc<BTreeMap<u64, u64>>>,
    fold: Fold,
    /// Where all of it begins in the end [sectors].
    offset: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Fold {
    #[default]
    None,
    /// Modulo this many sectors.
    Wrap(u64),
    /// Each touched page gets the place of its rank among all touched ones.
    Compact(Arc<PageRanks>),
}

impl AddressMap {
    /// The volumes one after the other in the order of their first requests, each from a whole MiB on.
    /// `None`: together they are larger than any drive.
    pub fn in_order(volumes: &[TraceVolume]) -> Option<Self> {
        const ALIGNMENT: u64 = 1 << 20;
        let mut next = 0_u64;
        let mut bases = BTreeMap::new();
        for volume in volumes.iter().filter(|volume| volume.is_chosen) {
            bases.insert(volume.device, next / SECTOR_BYTES);
            next = next.checked_add(volume.max_address.checked_next_multiple_of(ALIGNMENT)?)?;
        }
        Some(Self { bases: Some(Arc::new(bases)), fold: Fold::None, offset: 0 })
    }

    /// Each volume at the byte that `bases` says. The error names a volume without one.
    ///
    /// # Errors
    /// In words.
    pub fn at(volumes: &[TraceVolume], bases: &BTreeMap<String, u64>) -> Result<Self, String> {
        if let Some(unknown) = bases.keys().find(|name| volumes.iter().all(|volume| volume.name != **name)) {
            return Err(format!("the trace has no volume `{unknown}`; it has {}", names_of(volumes)));
        }
        let mut sectors = BTreeMap::new();
        for volume in volumes.iter().filter(|volume| volume.is_chosen) {
            let base = bases.get(&volume.name).ok_or_else(|| format!("volume `{}` has no place", volume.name))?;
            if !base.is_multiple_of(PAGE_BYTES) {
                return Err(format!("volume `{}` does not begin at a multiple of 4 KiB: {base}", volume.name));
            }
            sectors.insert(volume.device, base / SECTOR_BYTES);
        }
        Ok(Self { bases: Some(Arc::new(sectors)), fold: Fold::None, offset: 0 })
    }

    /// Also takes addresses modulo the drive's size. A request that would reach beyond its end lies before it.
    #[must_use]
    pub fn wrapped(self, drive_sectors: u64) -> Self {
        Self { fold: Fold::Wrap(drive_sectors), ..self }
    }

    /// Also puts the touched pages next to each other, in the order of their addresses.
    #[must_use]
    pub fn compacted(self, touched: PageRanks) -> Self {
        Self { fold: Fold::Compact(Arc::new(touched)), ..self }
    }

    /// Also lets all of it begin so many sectors behind.
    #[must_use]
    pub fn moved(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    /// Where a volume begins [sectors].
    fn base(&self, device: u64) -> Option<u64> {
        self.bases.as_ref().map_or(Some(0), |bases| bases.get(&device).copied())
    }

    /// The record in its place.
    #[inline]
    fn place(&self, record: TraceRecord) -> Result<TraceRecord, LineProblem> {
        const TOO_FAR: LineProblem = LineProblem::Overflow("address on the drive");
        const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
        // A flush has no place.
        if record.op == Op::Flush || (self.bases.is_none() && self.offset == 0 && matches!(self.fold, Fold::None)) {
            return Ok(record);
        }
        let lba = self.base(record.device).and_then(|base| base.checked_add(record.lba)).ok_or(TOO_FAR)?;
        let sectors = u64::from(record.sectors);
        let lba = match &self.fold {
            Fold::None => lba,
            Fold::Wrap(drive) if sectors > *drive => return Err(LineProblem::Overflow("size")),
            Fold::Wrap(drive) => (lba % drive).min(drive - sectors),
            Fold::Compact(ranks) => ranks.rank(lba / PAGE_SECTORS).ok_or(TOO_FAR)? * PAGE_SECTORS + lba % PAGE_SECTORS,
        };
        let lba = lba.checked_add(self.offset).ok_or(TOO_FAR)?;
        let placed = TraceRecord::from_sectors(record.time_ns, record.device, lba, sectors, record.op);
        placed.map(|placed| TraceRecord {
            is_unaligned: record.is_unaligned,
            fua: record.fua,
            stream: record.stream,
            ..placed
        })
    }
}

/// Counts volumes, lets those through that are chosen, and puts their requests in place.
pub(super) struct Volumes {
    chosen: Vec<String>,
    map: AddressMap,
    list: Vec<TraceVolume>,
    index: BTreeMap<u64, usize>,
    latest: Option<(u64, usize)>,
}

impl Volumes {
    /// Volumes of which those named `chosen` are read, or all when none is named.
    pub fn new(chosen: Vec<String>, map: AddressMap) -> Self {
        Self { chosen, map, list: Vec::new(), index: BTreeMap::new(), latest: None }
    }

    /// The volumes found so far.
    pub fn list(&self) -> &[TraceVolume] {
        &self.list
    }

    /// Takes a record in; `name` is asked for the volume's name where it is new.
    #[inline]
    pub fn admit(&mut self, record: TraceRecord, name: impl Fn() -> String) -> Result<TraceRecord, LineProblem> {
        let place = match self.latest {
            Some((device, place)) if device == record.device => Some(place),
            _ => self.find(record.device, &name),
        };
        let is_chosen = match place {
            Some(place) => {
                self.latest = Some((record.device, place));
                let volume = &mut self.list[place];
                volume.requests += 1;
                if record.op != Op::Flush {
                    let end = (record.lba + u64::from(record.sectors)) * SECTOR_BYTES;
                    volume.max_address = volume.max_address.max(end);
                }
                volume.is_chosen
            }
            None => self.is_chosen(&name()),
        };
        if is_chosen { self.map.place(record) } else { Err(LineProblem::OtherVolume) }
    }

    fn find(&mut self, device: u64, name: &impl Fn() -> String) -> Option<usize> {
        if let Some(&place) = self.index.get(&device) {
            return Some(place);
        }
        if self.list.len() == VOLUMES_MAX {
            return None;
        }
        let name = excerpt(name().as_bytes());
        let is_chosen = self.is_chosen(&name);
        let base = self.map.base(device).unwrap_or(0) * SECTOR_BYTES;
        let place = self.list.len();
        self.index.insert(device, place);
        self.list.push(TraceVolume { name, requests: 0, max_address: 0, base, device, is_chosen });
        Some(place)
    }

    /// Whether the volume of a name is one of those that are read; nothing is taken in.
    pub fn are_read(&self, name: impl Fn() -> String) -> bool {
        self.chosen.is_empty() || self.is_chosen(&excerpt(name().as_bytes()))
    }

    fn is_chosen(&self, name: &str) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|chosen| chosen == name)
    }

    /// A chosen volume that was not found, and what there is instead.
    pub fn missing(&self) -> Option<String> {
        if self.list.len() == VOLUMES_MAX {
            return None; // those beyond are not listed
        }
        let is_absent = |chosen: &&String| self.list.iter().all(|volume| volume.name != **chosen);
        let absent = self.chosen.iter().find(is_absent)?;
        Some(format!("there is no volume `{absent}`; the trace has {}", names_of(&self.list)))
    }
}

/// The names of volumes in one phrase.
fn names_of(volumes: &[TraceVolume]) -> String {
    const SHOWN: usize = 20;
    let names: Vec<_> = volumes.iter().take(SHOWN).map(|volume| format!("`{}`", volume.name)).collect();
    let rest = volumes.len().saturating_sub(SHOWN);
    let names = names.join(", ");
    if rest == 0 { names } else { format!("{names} and {rest} more") }
}
