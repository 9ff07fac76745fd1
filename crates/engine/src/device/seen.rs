//! What a device has done so far, for whoever reports it.

use std::any::Any;

use ninescope_ftl::Ftl;
use ninescope_kernel::{Ns, RunDigest};
use ninescope_media::nand::Nand;
use ninescope_model::{HostCacheStatistics, SECTOR_BYTES, ZoneLogStatistics};

use super::Device;
use super::kind::{Kind, Watched};
use crate::counters::EngineCounters;
use crate::dram::Dram;
use crate::firmware::Firmware;
use crate::host::RequestLogEntry;
use crate::mapping::Mapping;
use crate::meter::{Meter, Utilization, Written};
use crate::power::Power;
use crate::probe::Probe;
use crate::reliability::Reliability;
use crate::scm::ScmPart;
use crate::tier::TierPart;

/// What the host's last completion left behind, before the drive works on by itself.
#[derive(Clone, Debug)]
pub struct HostEnd {
    /// How the resources' time was used until then.
    pub utilization: Utilization,
    /// What was written until then.
    pub written: Written,
}

/// What a device has done so far, for whoever reports it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Simulated time.
    pub now: Ns,
    /// The digest of everything it did.
    pub digest: RunDigest,
    /// Commands completed, warm-up included.
    pub completed: u64,
    /// When the last of them completed.
    pub latest_completion: Ns,
    /// What there was then, if it is known to be the last of all.
    pub host_end: Option<&'a HostEnd>,
    /// What was measured.
    pub meter: &'a Meter,
    /// What was counted.
    pub counters: &'a EngineCounters,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The storage-class memory.
    pub scm: &'a ScmPart,
    /// What is above and below, on a drive with two media.
    pub tier: Option<&'a TierPart>,
    /// Failing bits and what is done about them.
    pub reliability: Option<&'a Reliability>,
    /// What is in memory of a map that lies in flash.
    pub mapping: Option<&'a Mapping>,
    /// The controller's DRAM.
    pub dram: Option<&'a Dram>,
    /// The cores of the firmware.
    pub firmware: Option<&'a Firmware>,
    /// What it drew.
    pub power: Option<&'a Power>,
    /// One entry per measured request, if they were to be logged.
    pub request_log: &'a [RequestLogEntry],
    /// What the cache in front of the drive did since the run began, where there is one.
    pub host_cache: Option<&'a HostCacheStatistics>,
    /// What the log on zones did since the run began, where there is one.
    pub zone_log: Option<&'a ZoneLogStatistics>,
}

impl Seen<'_> {
    /// What the host wrote since measuring began, and what flash did for it.
    pub fn written(&self) -> Written {
        written(self.ftl, self.scm, self.counters)
    }
}

impl<K: Kind> Device<K> {
    /// Counts from now on: end of warm-up.
    pub(super) fn begin_measuring(&mut self) {
        let now = self.run.now;
        self.run.begin_measuring();
        self.host.begin_measuring(now);
        self.flash.begin_measuring(now);
        self.scm.begin_measuring(now);
        if let Some(part) = &mut self.tier {
            part.begin_measuring();
        }
        if let Some(part) = &mut self.reliability {
            part.begin_measuring();
        }
        if let Some(part) = &mut self.mapping {
            part.begin_measuring();
        }
        if let Some(part) = &mut self.dram {
            part.begin_measuring(now);
        }
        if let Some(part) = &mut self.run.firmware {
            part.begin_measuring(now);
        }
        if let Some(power) = &mut self.run.power {
            power.begin_measuring(now);
        }
    }

    /// The digest of everything the device did so far.
    pub fn digest(&self) -> RunDigest {
        self.run.digest
    }

    /// Simulated time.
    pub fn now(&self) -> Ns {
        self.run.now
    }

    /// What was measured.
    pub fn meter(&self) -> &Meter {
        &self.run.meter
    }

    /// What was counted.
    pub fn counters(&self) -> &EngineCounters {
        &self.run.counters
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        self.flash.ftl()
    }

    /// The storage-class memory.
    pub fn scm(&self) -> &ScmPart {
        &self.scm
    }

    /// The media.
    pub fn nand(&self) -> &Nand {
        self.flash.nand()
    }

    /// What the host wrote since measuring began, and what flash did for it.
    pub fn written(&self) -> Written {
        written(self.flash.ftl(), &self.scm, &self.run.counters)
    }

    /// Sentences of its probe for the result.
    pub fn notes(&self) -> Vec<String> {
        self.probe.notes()
    }

    /// Commands completed so far, warm-up included.
    pub fn completed(&self) -> u64 {
        self.host.completed()
    }

    /// One entry per measured request, if they were to be logged.
    pub fn request_log(&self) -> &[RequestLogEntry] {
        self.host.request_log()
    }

    /// All of the above at once.
    pub fn seen(&self) -> Seen<'_> {
        Seen {
            now: self.run.now,
            digest: self.run.digest,
            completed: self.host.completed(),
            latest_completion: self.host.latest_completion(),
            host_end: self.host_end.as_deref(),
            meter: &self.run.meter,
            counters: &self.run.counters,
            ftl: self.flash.ftl(),
            scm: &self.scm,
            tier: self.tier.as_ref(),
            reliability: self.reliability.as_deref(),
            mapping: self.mapping.as_deref(),
            dram: self.dram.as_deref(),
            firmware: self.run.firmware.as_deref(),
            power: self.run.power.as_deref(),
            request_log: self.request_log(),
            host_cache: self.host.host_cache(),
            zone_log: self.host.zone_log(),
        }
    }

    /// How the resources' time was used since measuring began, until the host had all it asked for.
    pub fn utilization_for_host(&mut self) -> Utilization {
        match &self.host_end {
            // Measuring may begin after it: of a run that is over within its ramp nothing is measured.
            Some(end) if self.run.meter.since < self.host.latest_completion() => end.utilization.clone(),
            _ => self.utilization(),
        }
    }

    /// The host's last command completed. Behind it the drive works on by itself: programs what it holds, collects garbage.
    #[cold]
    pub(super) fn note_host_end(&mut self) {
        // A job may begin when all others are over: then it ends anew.
        let Some(mut end) = self.host_end_to_be.take().or_else(|| self.host_end.take()) else { return };
        self.utilization_into(&mut end.utilization);
        end.written = self.written();
        self.host_end = Some(end);
        self.flash.no_die_rests_any_more(&mut self.run);
    }

    pub(super) fn host_end_now(&mut self) -> HostEnd {
        HostEnd { utilization: self.utilization(), written: self.written() }
    }

    /// The same until now.
    pub fn utilization(&mut self) -> Utilization {
        let mut utilization = Utilization::default();
        self.utilization_into(&mut utilization);
        utilization
    }

    fn utilization_into(&mut self, into: &mut Utilization) {
        fn renew<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) {
            list.clear();
            list.extend(items);
        }
        let now = self.run.now;
        into.elapsed = now - self.run.meter.since;
        renew(&mut into.dies, self.flash.die_ledgers(now));
        renew(&mut into.channels, self.flash.channel_times(now));
        renew(&mut into.banks, self.scm.bank_ledgers(now));
        renew(&mut into.bank_channels, self.scm.channel_times(now));
        into.write_stalls = self.flash.stall_time(now);
        [into.processor, into.link_in, into.link_out] = self.host.busy_until(now);
        renew(&mut into.dram, self.dram.iter().map(|dram| dram.busy_until(now)));
        renew(&mut into.cores, self.run.firmware.iter().flat_map(|firmware| firmware.busy_until(now)));
    }

    /// Notes how long each resource was busy so far, in the order of [`Utilization::busy`], without allocating.
    pub(super) fn note_busy(&mut self) {
        let now = self.run.now;
        let elapsed = (now - self.run.meter.since).0;
        let [processor, link_in, link_out] = self.host.busy_until(now).map(|busy| busy.0);
        let alone = [processor, self.flash.stall_time(now).0, link_in, link_out];
        let dram = self.dram.as_ref().map(|dram| dram.busy_until(now).0);
        let firmware = self.run.firmware.as_ref();
        let cores = firmware.map_or(0, |firmware| firmware.config().cores as usize);
        let of_cores = firmware.into_iter().flat_map(|firmware| firmware.busy_until(now)).map(|busy| busy.0);
        let count = self.flash.units() + self.scm.units() + alone.len() + usize::from(dram.is_some()) + cores;
        let of_media = self.flash.busy(now, elapsed).chain(self.scm.busy(now, elapsed));
        self.run.meter.busy.note(now, count, of_media.chain(alone).chain(dram).chain(of_cores));
    }
}

impl Device<Watched> {
    /// The probe it was given.
    ///
    /// # Panics
    /// If that is of another type.
    pub fn probe<P: Probe>(&self) -> &P {
        let probe: &dyn Any = &*self.probe;
        probe.downcast_ref().expect("a probe of the type it was given")
    }
}

fn written(ftl: &Ftl, scm: &ScmPart, counters: &EngineCounters) -> Written {
    let (geometry, of_flash) = (ftl.geometry(), ftl.counters());
    let taken = scm.counters(0).host_sectors_taken + scm.counters(1).host_sectors_taken;
    let unit_bytes = u64::from(geometry.unit_bytes);
    let into_areas = ftl.zones().map_or(0, |zones| zones.zrwa_counts().written_units);
    Written {
        host: (counters.host_sectors_placed + taken) * SECTOR_BYTES + into_areas * unit_bytes,
        flash: of_flash.programmed_units() * unit_bytes,
        erased: of_flash.erased_units(geometry.units_per_group()) * unit_bytes,
    }
}
