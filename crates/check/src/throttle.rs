//! Host writes that are held back: the time between two units of a line, by what is free where the first one went.

use ninescope_engine::{View, WriteThrottleConfig};
use ninescope_ftl::{GroupState, Partitions};
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Lpa, Ppa};

use crate::rule::{Checked, require};

/// When the next unit of each line may come.
#[derive(Debug)]
pub struct Throttle {
    below: u32,
    gap: Ns,
    next: Vec<Ns>,
}

impl Throttle {
    /// Of a drive that has one.
    pub fn started(view: &View<'_>, config: Option<&WriteThrottleConfig>) -> Option<Self> {
        let lines = view.ftl.partitions().map_or(1, Partitions::count) as usize;
        match config? {
            WriteThrottleConfig::StopAndGo(_) | WriteThrottleConfig::Added(_) => None,
            WriteThrottleConfig::Proportional(parameters) => {
                Some(Self { below: parameters.below.get(), gap: Ns(parameters.gap.0), next: vec![Ns::ZERO; lines] })
            }
        }
    }

    /// A unit of the host got a place.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        let (ftl, geometry) = (view.ftl, view.ftl.geometry());
        let line = ftl.partitions().map_or(0, |partitions| partitions.of_unit(lpa) as usize);
        let next = self.next[line];
        require!(next <= view.now, Throttle, view.now, "unit {lpa} is placed, and line {line} waits until {next}");
        let first = geometry.pool_and_block(geometry.group_and_offset(place).0).0.0 * geometry.blocks_per_plane;
        let groups = (first..first + geometry.blocks_per_plane).map(BlockGroup);
        let free = groups.filter(|&group| ftl.group(group).state == GroupState::Free).count() as u32;
        let missing = self.below.saturating_add(ftl.reserve_groups()).saturating_sub(free).min(self.below);
        self.next[line] = view.now + Ns(self.gap.0 * u64::from(missing) / u64::from(self.below));
        Ok(())
    }
}
