//! What belongs to a run, and to no part of the drive: time, wake-ups, the accesses under way, what is counted.
//!
//! Whoever owns a part of the drive is lent it with each call. Knows nothing of any part.

use ninescope_kernel::{Ns, RunDigest, WakeQueue};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Occupancy, Source};

use crate::counters::EngineCounters;
use crate::firmware::{Decision, Firmware, Step};
use crate::meter::Meter;
use crate::power::Power;
use crate::resources::Resources;
use crate::transaction::{QueueClass, TenantWaits, TransactionStore};

/// Time and what everybody writes to.
#[derive(Debug)]
pub struct Run<Q> {
    /// Simulated time.
    pub now: Ns,
    /// At most one wake-up of each resource.
    pub queue: Q,
    /// Who owns which wake-up.
    pub resources: Resources,
    /// The accesses under way, with where their time went.
    pub transactions: TransactionStore,
    /// What was counted.
    pub counters: EngineCounters,
    /// What was measured.
    pub meter: Meter,
    /// Of everything that was done.
    pub digest: RunDigest,
    /// The cores that whoever has a decision to make asks, where decisions take time.
    pub firmware: Option<Box<Firmware>>,
    /// What the drive draws, where that is counted.
    pub power: Option<Box<Power>>,
}

impl<Q: WakeQueue> Run<Q> {
    /// A run of `lanes` lanes that has not begun.
    pub fn new(resources: Resources, mut transactions: TransactionStore, lanes: usize) -> Self {
        transactions.tenants = (lanes > 1).then(|| Box::new(TenantWaits::new(lanes, resources.stages as usize)));
        Self {
            now: Ns::ZERO,
            queue: Q::new(resources.count()),
            resources,
            transactions,
            counters: EngineCounters::default(),
            meter: Meter::new(Ns::ZERO, lanes),
            digest: RunDigest::default(),
            firmware: None,
            power: None,
        }
    }

    /// A decision about so many units is asked for. Returns whether it takes time: then it is told when it is made.
    #[inline(never)]
    pub fn decides_later(&mut self, decision: Decision, number: u32, units: u32) -> bool {
        let now = self.now;
        let takes_time = self.firmware.as_ref().is_some_and(|firmware| firmware.takes_time(decision)) && units > 0;
        if takes_time {
            self.ask_firmware(Step::of(decision, number, units, now));
        }
        takes_time
    }

    /// Asks for a step, which is taken up before time moves on if a core is free.
    pub fn ask_firmware(&mut self, step: Step) {
        if let Some(firmware) = &mut self.firmware {
            firmware.ask(step);
            self.queue.schedule(self.resources.firmware(), self.now);
        }
    }

    /// How long an access waited for the firmware before it was queued.
    #[inline]
    pub fn scheduling_time(&self, access: u32) -> Ns {
        self.firmware.as_ref().map_or(Ns::ZERO, |firmware| firmware.time_of_access(access))
    }

    /// When a program was to be queued on its die, or the first one of its page that failed.
    pub fn queued_first(&self, index: u32) -> Ns {
        self.transactions.slab[index].queued - self.scheduling_time(index) - self.transactions.failing(index)
    }

    /// Counts from now on: end of warm-up.
    pub fn begin_measuring(&mut self) {
        let events = self.counters.events;
        self.counters = EngineCounters { events, ..EngineCounters::default() };
        self.meter.begin(self.now);
    }

    /// The data of a page is in the register of its die.
    #[inline]
    pub fn page_sensed(&mut self, index: u32) {
        if self.transactions.slab[index].tracked {
            self.transactions.sensed(index, self.now);
        }
    }

    /// All pages of a program command are on the media, so many in each plane. They are counted before anything completes on them. Returns whether
    /// they are the host's, or what it waits for.
    pub fn count_programs(&mut self, command: &FlashCommand, pages: u32) -> bool {
        // All pages of a command belong to one class.
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        self.counters.one_shot_programs += u64::from(pages > 1);
        let of_host = self.transactions.slab[first].class == QueueClass::HostProgram;
        for plane in command.addressed_planes() {
            let counters = &mut self.counters;
            *match self.transactions.slab[command.transaction[plane]].source {
                Source::Migration => &mut counters.migration_page_programs,
                Source::Mapping => &mut counters.map_page_programs,
                Source::Parity => &mut counters.parity_page_programs,
                Source::Rebuild => &mut counters.rebuild_page_programs,
                Source::GarbageCollection => &mut counters.gc_page_programs,
                _ => &mut counters.host_page_programs,
            } += u64::from(pages);
        }
        of_host
    }

    /// Counts a command that was issued to a die.
    #[inline]
    pub fn count_command(&mut self, command: &FlashCommand) {
        let many = u64::from(command.plane_count() > 1);
        let counters = &mut self.counters;
        match command.kind {
            CommandKind::Read => {
                counters.read_commands += 1;
                counters.multi_plane_reads += many;
            }
            CommandKind::Program => {
                counters.program_commands += 1;
                counters.multi_plane_programs += many;
            }
            CommandKind::Erase => {
                counters.erase_commands += 1;
                counters.multi_plane_erases += many;
            }
        }
    }

    /// Takes it into the digest.
    #[inline]
    pub fn digest_command(&mut self, command: &FlashCommand) {
        let plane = command.planes.trailing_zeros() as usize;
        let address = u64::from(command.block[plane]) << 32 | u64::from(command.page[plane]);
        let what = u64::from(command.die.0) << 16 | u64::from(command.planes) << 8 | command.kind as u64;
        self.digest.word(self.now.0);
        self.digest.word(what);
        self.digest.word(address);
    }
}

/// What accesses under way say, whatever wakes the parts of the drive.
impl<Q> Run<Q> {
    /// The page access that a command counts for: its first one. What reads or writes the map, or parity, and something of the
    /// host as well counts as the host's.
    #[inline]
    pub fn first_access(&self, command: &FlashCommand) -> u32 {
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        // Those are the last sources.
        if self.transactions.slab[first].source < Source::Mapping {
            return first;
        }
        let mut accesses = command.addressed_planes().map(|plane| command.transaction[plane]);
        accesses.find(|&access| self.transactions.slab[access].source < Source::Mapping).unwrap_or(first)
    }

    /// What a die is occupied with while it works on a command.
    #[inline]
    pub fn occupancy_of(&self, command: &FlashCommand) -> Occupancy {
        self.transactions.slab[self.first_access(command)].occupancy()
    }
}
