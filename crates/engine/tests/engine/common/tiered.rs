//! Drives of two media put together by hand: slots of storage-class memory above the flash of a [`Bench`], or above
//! slower memory.

use ninescope_engine::policies::back_pressure::BackPressureConfig;
use ninescope_engine::{Device, DramConfig, LaneConfig, Lower, NoProbe, ScmPart, TierConfig};
use ninescope_ftl::Ftl;
use ninescope_ftl::policies::SectorWearLevelingConfig;
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::Nand;
use ninescope_media::scm::{CopyPath, PulseOrder, Scm, ScmTiming};
use ninescope_model::{ScmGeometry, Workload};
use ninescope_tier::{PlacementConfig, SlotState};

use super::{Bench, slc};

/// A drive of two media. Above flash, a page of the bench is a slot.
#[derive(Clone, Debug)]
pub struct TierBench {
    pub placement: PlacementConfig,
    /// Slots above; those below, where that is memory.
    pub slots: (u32, u32),
    /// Banks above and below, each on a channel of its own.
    pub banks: (u32, u32),
    pub times: (ScmTiming, ScmTiming),
    pub leveling: (SectorWearLevelingConfig, SectorWearLevelingConfig),
    pub flash: Bench,
    pub depth: u32,
    pub migrations_in_flight: u32,
    pub volatile: bool,
    pub acknowledges_at_program: bool,
    pub dram: Option<DramConfig>,
    /// When writes are taken in.
    pub back_pressure: BackPressureConfig,
    /// Slots of each workload's own; none: all share all.
    pub parts: Vec<u32>,
}

/// Reads and writes of `array` per sector behind a bus of `bus` per sector [ns].
pub fn symmetric(array: u64, bus: u64) -> ScmTiming {
    ScmTiming {
        read: Ns(array),
        set: Ns(array),
        reset: Ns(array),
        pulse_order: PulseOrder::Together,
        command_address: Ns::ZERO,
        channel_rate: Rate(512_000_000_000 / bus),
        copies: CopyPath::default(),
    }
}

/// A placement by its parameters.
pub fn placement(description: &serde_json::Value) -> PlacementConfig {
    serde_json::from_value(description.clone()).expect("a legal placement")
}

impl TierBench {
    /// Four slots of 16 KiB above one die, with round times: a sector of SCM takes 1000 and 100 of bus, a page of flash
    /// 100 000 to read or 1 000 000 to program, and 1000 of bus.
    pub fn round(description: &serde_json::Value) -> Self {
        let mut flash =
            Bench { unit_bytes: 16_384, blocks_per_plane: 64, timing: slc(100_000, 1_000_000), ..Bench::tiny() };
        flash.timing.command_address = Ns::ZERO;
        flash.timing.channel_rate = Rate(16_384_000_000);
        Self {
            placement: placement(description),
            slots: (4, 16),
            banks: (1, 1),
            times: (symmetric(1000, 100), symmetric(10_000, 100)),
            leveling: Default::default(),
            flash,
            depth: 1,
            migrations_in_flight: 4,
            volatile: false,
            acknowledges_at_program: false,
            dram: None,
            back_pressure: BackPressureConfig::default(),
            parts: Vec::new(),
        }
    }

    pub fn lower(&self) -> Lower {
        if matches!(self.placement, PlacementConfig::NvWb(_)) { Lower::Scm } else { Lower::Flash }
    }

    /// Host sectors of the drive.
    pub fn sectors(&self) -> u64 {
        match self.lower() {
            Lower::Flash => self.flash.logical_sectors(),
            Lower::Scm => u64::from(self.slots.1) * self.flash.sectors_per_unit(),
        }
    }

    /// A device ready to run.
    pub fn device(&self, workload: Box<dyn Workload>) -> Device {
        self.device_of(vec![workload])
    }

    /// The same with several workloads at the same time.
    pub fn device_of(&self, workloads: Vec<Box<dyn Workload>>) -> Device {
        let per_slot = self.flash.unit_bytes / 512;
        let medium = |slots: u32, banks: u32, leveling: &SectorWearLevelingConfig| {
            let spare = leveling.chosen().spare_sectors(slots / banks * per_slot);
            ScmGeometry::checked(banks, 1, slots, per_slot, spare).expect("a legal shape")
        };
        let upper = medium(self.slots.0, self.banks.0, &self.leveling.0);
        let mut media = vec![(upper, self.times.0, self.leveling.0.clone())];
        let (ftl, nand) = if self.lower() == Lower::Scm {
            media.push((medium(self.slots.1, self.banks.1, &self.leveling.1), self.times.1, self.leveling.1.clone()));
            (Ftl::absent(), Nand::absent())
        } else {
            let ftl = self.flash.ftl();
            let nand = self.flash.nand(&ftl);
            (ftl, nand)
        };
        let timings: Vec<_> = media.iter().map(|(shape, timing, _)| (*shape, *timing)).collect();
        let shapes: Vec<_> = media.into_iter().map(|(shape, _, leveling)| (shape, leveling)).collect();
        let scm = ScmPart::new(&shapes, Scm::of_media(&timings).expect("legal times"));
        let tier = TierConfig {
            placement: self.placement.clone(),
            lower: self.lower(),
            migrations_in_flight: self.migrations_in_flight,
            parts: self.parts.clone(),
            part_of_tenant: (0..self.parts.len() as u32).collect(),
            back_pressure: self.back_pressure.clone(),
            planes_below: 1,
            volatile: self.volatile,
            acknowledges_at_program: self.acknowledges_at_program,
        };
        let lanes: Vec<_> = workloads.into_iter().map(|workload| LaneConfig::new(workload, self.depth)).collect();
        let mut device = Device::of_tier(&self.flash.engine, &self.flash.limits, ftl, nand, scm, &tier, lanes, NoProbe);
        if let Some(dram) = &self.dram {
            device.set_dram(dram);
        }
        device.set_map(&self.flash.map);
        device
    }

    /// A device that has run its workload to the end.
    pub fn run(&self, workload: impl Workload + 'static) -> Device {
        let mut device = self.device(Box::new(workload));
        device.run().expect("the run ends well");
        device
    }
}

/// Page, valid and dirty sectors of every slot in use, by page.
pub fn slots_in_use(device: &Device) -> Vec<(u32, u32, u32)> {
    let part = device.seen().tier.expect("two media");
    let residency = part.tier().residency();
    let slots = (0..residency.slots()).map(|slot| residency.slot(slot)).filter(|slot| slot.state != SlotState::Free);
    let mut slots: Vec<_> = slots.map(|slot| (slot.page, slot.valid, slot.dirty)).collect();
    slots.sort_unstable();
    slots
}

/// Latencies in the order of the requests [ns].
pub fn latencies(device: &Device) -> Vec<u64> {
    let mut log: Vec<_> = device.request_log().iter().map(|entry| (entry.id, entry.latency.0)).collect();
    log.sort_unstable();
    log.into_iter().map(|(_, latency)| latency).collect()
}
