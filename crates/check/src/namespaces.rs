//! Namespaces: parts of a drive's addresses, each of which jobs have for themselves.
//!
//! The engine knows nothing of them: what it is asked for must lie where the description says, and nothing lies outside.

use std::ops::Range;

use ninescope_engine::View;
use ninescope_model::{Lpa, Op, Request, SECTOR_BYTES};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The namespaces of a drive that has any, and whose commands go where.
#[derive(Debug, Default)]
pub struct Namespaces {
    /// One behind the other [512 B].
    sectors: Vec<Range<u64>>,
    /// By job: which one, from 1 on.
    of_lane: Vec<u32>,
    /// By command inside: its job.
    lanes: Vec<u16>,
}

impl Namespaces {
    /// Namespaces of so many bytes, and which of them each job goes into.
    pub fn new(bytes: &[u64], of_lane: Vec<u32>) -> Self {
        let mut end = 0;
        let mut behind = |bytes: &u64| {
            let begin = end;
            end += bytes / SECTOR_BYTES;
            begin..end
        };
        Self { sectors: bytes.iter().map(&mut behind).collect(), of_lane, lanes: Vec::new() }
    }

    fn of_slot(&self, slot: u32) -> (u32, &Range<u64>) {
        let number = self.of_lane[self.lanes[slot as usize] as usize];
        (number, &self.sectors[number as usize - 1])
    }

    /// A command of a job is taken in.
    pub fn fetched(
        &mut self,
        view: &View<'_>,
        (slot, id, lane): (u32, u64, u16),
        request: &Request,
        marks: &mut Marks,
    ) -> Checked {
        if self.sectors.is_empty() {
            return Ok(());
        }
        self.lanes.resize(self.lanes.len().max(slot as usize + 1), 0);
        self.lanes[slot as usize] = lane;
        let (number, sectors) = self.of_slot(slot);
        require!(
            request.op == Op::Flush || (sectors.start <= request.lba.0 && request.end() <= sectors.end),
            Namespace,
            view.now,
            "request {id} goes from sector {} to {}, namespace {number} has {sectors:?}",
            request.lba.0,
            request.end()
        );
        if number > 1 {
            marks.hit(Mark::OtherNamespace);
        }
        Ok(())
    }

    /// A command reads, writes or forgets a unit.
    pub fn uses(&self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        if self.sectors.is_empty() {
            return Ok(());
        }
        let (number, sectors) = self.of_slot(slot);
        let first = u64::from(lpa.0) * u64::from(view.ftl.geometry().sectors_per_unit());
        require!(
            sectors.contains(&first),
            Namespace,
            view.now,
            "the command of slot {slot}, which goes into namespace {number}, has to do with unit {lpa}, outside of {sectors:?}"
        );
        Ok(())
    }

    /// Nothing lies outside of all of them: what they hold sums to what the drive holds, each within its capacity.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        if self.sectors.is_empty() || view.ftl.logical_units() == 0 {
            return Ok(());
        }
        let per_unit = u64::from(view.ftl.geometry().sectors_per_unit());
        let mapped = |units: Range<u64>| {
            let is_mapped = |unit: &u64| view.ftl.translate(Lpa(*unit as u32)) != ninescope_model::Ppa::UNMAPPED;
            units.filter(is_mapped).count()
        };
        let of_each = self.sectors.iter().map(|sectors| mapped(sectors.start / per_unit..sectors.end / per_unit));
        let (held, all) = (of_each.sum::<usize>(), view.ftl.mapped_units() as usize);
        require!(held == all, Namespace, view.now, "the namespaces hold {held} units, the drive {all}");
        Ok(())
    }
}
