//! All dies, or all banks, of a drive with their channels: queueing, choosing, waiting, and who has the channel.
//!
//! A wait is the difference of a station's ledger between queueing and issue. One that finds its station idle takes no
//! snapshot: it is issued at this instant, unless something else is.

use ninescope_kernel::{Fifo, NONE, Ns, ResourceId, Touched, WakeQueue};
use ninescope_model::{Occupancy, UrgencyClass};

use super::bus::Bus;
use super::station::{Phase, Station};
use crate::meter::{DieLedger, busy_of_unit};
use crate::policies::channel_arbitration::{ChannelArbitration, ChannelArbitrationConfig, ChannelView};
use crate::policies::transaction_scheduler::{DieView, TransactionScheduler};
use crate::run::Run;
use crate::transaction::{QueueClass, TransactionStore};

/// Stations with their channels. `W` is what one of them works on.
#[derive(Debug)]
pub struct Stations<W> {
    all: Vec<Station<W>>,
    /// How many there are but for those beside them.
    count: usize,
    buses: Vec<Bus>,
    /// Stations that may be given a command before time moves on.
    touched: Touched,
    /// Channels that may be granted before time moves on.
    buses_touched: Touched,
    scheduler: Box<dyn TransactionScheduler>,
    /// Who goes first over a channel; none: commands.
    arbitration: Option<Box<dyn ChannelArbitration>>,
    programs_are_commands: bool,
    /// The wake-ups of the first station and the first channel.
    first: ResourceId,
    first_bus: ResourceId,
}

fn bus_link<W>(stations: &mut [Station<W>], index: u32) -> &mut u32 {
    &mut stations[index as usize].bus_next
}

impl<W> std::ops::Index<u32> for Stations<W> {
    type Output = Station<W>;

    #[inline]
    fn index(&self, station: u32) -> &Station<W> {
        &self.all[station as usize]
    }
}

impl<W> std::ops::IndexMut<u32> for Stations<W> {
    #[inline]
    fn index_mut(&mut self, station: u32) -> &mut Station<W> {
        &mut self.all[station as usize]
    }
}

impl<W: Default> Stations<W> {
    /// Idle ones, whose wake-ups begin with `first`, and those of their channels with `first_bus`. Behind them are so many `beside`
    /// them, in which nothing is queued, and which have ledgers and wait for channels.
    pub fn new(
        (stations, beside, first): (u32, u32, ResourceId),
        (buses, first_bus): (u32, ResourceId),
        mut scheduler: Box<dyn TransactionScheduler>,
        channel: &ChannelArbitrationConfig,
    ) -> Self {
        scheduler.dies(stations);
        Self {
            all: (0..stations + beside).map(|_| Station::default()).collect(),
            count: stations as usize,
            buses: (0..buses).map(|_| Bus::default()).collect(),
            touched: Touched::new(stations as usize),
            buses_touched: Touched::new(buses as usize),
            scheduler,
            arbitration: channel.chosen().build(),
            programs_are_commands: channel.chosen().programs_are_commands(),
            first,
            first_bus,
        }
    }
}

impl<W> Stations<W> {
    /// The wake-up of a station.
    #[inline]
    pub fn resource(&self, station: u32) -> ResourceId {
        ResourceId(self.first.0 + station)
    }

    /// The wake-up of a channel.
    #[inline]
    pub fn bus_resource(&self, bus: u32) -> ResourceId {
        ResourceId(self.first_bus.0 + bus)
    }

    // ---- queueing --------------------------------------------------------------------------------

    /// Queues a transaction, from where it is issued before time moves on if the station is free.
    #[inline]
    pub fn enqueue<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        station: u32,
        index: u32,
        class: QueueClass,
        tracked: bool,
    ) {
        let (now, wake) = (run.now, self.resource(station));
        let unit = &mut self.all[station as usize];
        if tracked {
            let waits = unit.phase() != Phase::Free || unit.waiting != 0;
            if run.transactions.queued(index, now, waits) {
                run.transactions.begin_wait(index, wake, now, unit.ledger(now));
            } else {
                unit.unsnapped = index;
            }
        }
        self.join_queue(run, station, index, class);
    }

    /// The same of one whose waits are not told any more.
    #[inline]
    pub fn join_queue<Q: WakeQueue>(&mut self, run: &mut Run<Q>, station: u32, index: u32, class: QueueClass) {
        let wake = self.resource(station);
        let unit = &mut self.all[station as usize];
        run.transactions.push(&mut unit.queues[class as usize], index);
        unit.waiting |= 1 << class as u8;
        match unit.phase() {
            Phase::Free => self.touched.touch(station),
            // The transfer was to end without an event, because nothing waited.
            Phase::DataOut => run.queue.schedule(wake, unit.data_out_end),
            _ => {}
        }
    }

    /// What joined a queue last goes before what waits there, behind those in front that are of its source. Returns whether it
    /// passed any; nothing changes where it has not joined the queue yet.
    pub fn goes_first<Q>(&mut self, run: &mut Run<Q>, station: u32, index: u32, class: QueueClass) -> bool {
        let slab = &mut run.transactions.slab;
        let (source, queue) = (slab[index].source, &mut self.all[station as usize].queues[class as usize]);
        queue.tail() == index
            && queue.bring_last_forward(slab, |slab, other| slab[other].source == source, TransactionStore::link)
    }

    /// A station whose data transfer ended without an event is free.
    #[inline]
    pub fn free_after_data_out<Q: WakeQueue>(&mut self, run: &Run<Q>, station: u32) {
        let wake = self.resource(station);
        let unit = &mut self.all[station as usize];
        if unit.phase() == Phase::DataOut && unit.data_out_end <= run.now && run.queue.wake_time(wake) == Ns::NEVER {
            unit.goes_on(Phase::Free);
        }
    }

    /// Data that leave a station are followed by something: their end is an event.
    pub fn wake_after_data_out<Q: WakeQueue>(&mut self, run: &mut Run<Q>, station: u32) {
        let unit = &self.all[station as usize];
        if unit.phase() == Phase::DataOut && unit.data_out_end > run.now {
            run.queue.schedule(self.resource(station), unit.data_out_end);
        }
    }

    // ---- choosing --------------------------------------------------------------------------------

    /// A station may be given a command before time moves on.
    pub fn touch(&mut self, station: u32) {
        self.touched.touch(station);
    }

    /// The next station that may be given a command.
    #[inline]
    pub fn next_touched(&mut self) -> Option<u32> {
        self.touched.take_next()
    }

    /// The scheduler's choice among what waits. `urgent` says whether host writes wait for garbage collection.
    #[inline]
    pub fn pick<Q>(&mut self, run: &Run<Q>, station: u32, urgent: impl FnOnce() -> bool) -> Option<QueueClass> {
        let unit = &self.all[station as usize];
        if unit.waiting == 0 {
            return None;
        }
        let waiting = unit.waiting & !(1 << QueueClass::IdleRead as u8);
        // One class alone is no decision.
        if waiting == 1 << QueueClass::HostRead as u8 {
            return Some(QueueClass::HostRead);
        }
        if waiting == 0 {
            return Some(QueueClass::IdleRead);
        }
        let (queues, transactions) = (&unit.queues, &run.transactions.slab);
        self.scheduler.pick(&DieView { die: station, waiting, gc_is_urgent: urgent(), queues, transactions })
    }

    /// Of the classes of jobs that have something waiting in a queue, the one that goes first.
    pub fn prefers(&self, station: u32, queue: QueueClass, waiting: &dyn Fn(UrgencyClass) -> bool) -> UrgencyClass {
        self.scheduler.prefers(station, queue, waiting)
    }

    /// A station takes up something of a class.
    pub fn taken(&mut self, station: u32, queue: QueueClass, class: UrgencyClass) {
        self.scheduler.taken(station, queue, class);
    }

    /// Takes the first transaction of a class that waits.
    #[inline]
    pub fn take_first(&mut self, transactions: &mut TransactionStore, station: u32, class: QueueClass) -> u32 {
        let unit = &mut self.all[station as usize];
        let first = unit.queues[class as usize]
            .pop_front(&mut transactions.slab, TransactionStore::link)
            .expect("the scheduler picks a class that waits");
        unit.taken_from(class);
        first
    }

    /// When the first program of the host that waits anywhere was queued.
    pub fn oldest_host_program<Q>(&self, run: &Run<Q>) -> Option<Ns> {
        let with_program = self.all.iter().filter(|unit| unit.has_waiting(QueueClass::HostProgram));
        let heads = with_program.map(|unit| unit.queues[QueueClass::HostProgram as usize].head());
        heads.map(|head| run.transactions.slab[head].queued).min()
    }

    // ---- waits -----------------------------------------------------------------------------------

    /// A transaction that is queued elsewhere waits for a station from now on.
    pub fn begin_wait<Q>(&mut self, run: &mut Run<Q>, station: u32, index: u32) {
        let (now, wake) = (run.now, self.resource(station));
        run.transactions.queued(index, now, true);
        run.transactions.begin_wait(index, wake, now, self.all[station as usize].ledger(now));
    }

    /// A transaction leaves the queue: the difference of the ledger since it was queued is its wait, split by what held the
    /// station.
    #[inline]
    pub fn end_wait<Q>(&mut self, run: &mut Run<Q>, station: u32, index: u32) {
        let (now, wake) = (run.now, self.resource(station));
        let unit = &mut self.all[station as usize];
        if unit.unsnapped == index {
            unit.unsnapped = NONE;
        }
        run.transactions.end_wait(index, wake, now, unit.ledger(now));
    }

    /// A transaction leaves the queue without ever being issued.
    pub fn forget_wait(&mut self, station: u32, index: u32) {
        let unsnapped = &mut self.all[station as usize].unsnapped;
        if *unsnapped == index {
            *unsnapped = NONE;
        }
    }

    /// A transaction that was queued on the idle station at this instant and was not issued now has to wait: the ledger
    /// still stands where it stood then.
    #[inline]
    pub fn take_late_snapshot<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let wake = self.resource(station);
        let unit = &mut self.all[station as usize];
        let index = std::mem::replace(&mut unit.unsnapped, NONE);
        if index != NONE {
            run.transactions.begin_wait(index, wake, run.now, unit.ledger(run.now));
        }
    }

    // ---- channels --------------------------------------------------------------------------------

    /// The next channel that may be granted.
    #[inline]
    pub fn next_touched_bus(&mut self) -> Option<u32> {
        self.buses_touched.take_next()
    }

    /// A channel may be granted before time moves on.
    #[inline]
    pub fn touch_bus(&mut self, bus: u32) {
        self.buses_touched.touch(bus);
    }

    /// A station asks for its channel, for which it waits in the phase named; a `bare` command carries no data. It is
    /// granted before time moves on if it is free.
    #[inline]
    pub fn ask_for_bus(&mut self, now: Ns, station: u32, bus: u32, waits: Phase, bare: bool) {
        let unit = &mut self.all[station as usize];
        unit.bus_requested = now;
        unit.enter(now, waits, Occupancy::WaitingForChannel);
        let channel = &mut self.buses[bus as usize];
        let is_command = bare || (self.programs_are_commands && waits == Phase::WaitingToSend);
        let queue = if is_command { &mut channel.commands } else { &mut channel.data };
        queue.push_back(&mut self.all[..], station, bus_link);
        self.buses_touched.touch(bus);
    }

    /// The station that gets a channel now, and whether it had to wait for it. None while nobody wants it or it is busy: it
    /// wakes when it frees if some are left.
    #[inline]
    pub fn grant<Q: WakeQueue>(&mut self, run: &mut Run<Q>, bus: u32) -> Option<(u32, bool)> {
        let wake = self.bus_resource(bus);
        let channel = &mut self.buses[bus as usize];
        if channel.commands.is_empty() && channel.data.is_empty() {
            return None;
        }
        if channel.free_at > run.now {
            run.queue.schedule(wake, channel.free_at);
            return None;
        }
        let data_first = channel.commands.is_empty()
            || (!channel.data.is_empty()
                && self.arbitration.as_mut().is_some_and(|policy| {
                    let asked = |first: u32| self.all[first as usize].bus_requested;
                    policy.data_first(&ChannelView {
                        command_asked: asked(channel.commands.head()),
                        data_asked: asked(channel.data.head()),
                    })
                }));
        let queue = if data_first { &mut channel.data } else { &mut channel.commands };
        let station = queue.pop_front(&mut self.all[..], bus_link)?;
        Some((station, self.all[station as usize].bus_requested < run.now))
    }

    /// When the first of those that wait for a channel asked for it; none where nobody waits.
    pub fn first_asked(&self, bus: u32) -> Option<Ns> {
        let bus = &self.buses[bus as usize];
        let heads = [&bus.commands, &bus.data].into_iter().filter(|queue| !queue.is_empty()).map(Fifo::head);
        heads.map(|head| self.all[head as usize].bus_requested).min()
    }

    /// A channel is taken until then.
    #[inline]
    pub fn take_bus(&mut self, now: Ns, bus: u32, until: Ns) {
        self.buses[bus as usize].take(now, until);
    }

    // ---- phases ----------------------------------------------------------------------------------

    /// A station has no command any more.
    #[inline]
    pub fn set_free(&mut self, now: Ns, station: u32) {
        self.all[station as usize].enter(now, Phase::Free, Occupancy::Idle);
        self.touched.touch(station);
    }

    /// Data leave a station, which is held until then. Nobody has to decide anything at that time where nothing waits and
    /// it is not `awaited`: there is no event then.
    #[inline]
    pub fn leave<Q: WakeQueue>(&mut self, run: &mut Run<Q>, station: u32, held: Ns, awaited: bool) {
        let wake = self.resource(station);
        let unit = &mut self.all[station as usize];
        unit.enter_data_out(run.now, held);
        if awaited || unit.waiting != 0 {
            run.queue.schedule(wake, held);
        }
    }

    // ---- what was seen ---------------------------------------------------------------------------

    /// How many stations and channels there are.
    pub fn count(&self) -> usize {
        self.count + self.buses.len()
    }

    /// Stations that do something or have something waiting, besides those of which `busy` knows more.
    pub fn holders(&self, now: Ns, busy: impl Fn(u32) -> bool) -> impl Iterator<Item = (u32, Phase, u8)> {
        let all = self.all[..self.count].iter().zip(0_u32..);
        all.filter(move |(unit, index)| !unit.is_quiet(now) || busy(*index))
            .map(|(unit, index)| (index, unit.phase(), unit.waiting))
    }

    /// Measures from `now` on.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.all.iter_mut().for_each(|unit| unit.begin_measuring(now));
        self.buses.iter_mut().for_each(|bus| bus.begin_measuring(now));
    }

    /// What each station was occupied with since measuring began.
    pub fn ledgers(&mut self, now: Ns) -> impl Iterator<Item = DieLedger> {
        self.all[..self.count].iter_mut().map(move |unit| unit.measured(now))
    }

    /// How long each station, and then each channel, was busy since measuring began, `elapsed` ago [ns].
    pub fn busy(&mut self, now: Ns, elapsed: u64) -> impl Iterator<Item = u64> {
        let stations = self.all[..self.count].iter_mut().map(move |unit| busy_of_unit(&unit.measured(now), elapsed));
        stations.chain(self.buses.iter().map(move |bus| bus.busy_until(now).0))
    }

    /// How long each channel transferred since measuring began.
    pub fn transfers(&self, now: Ns) -> impl Iterator<Item = Ns> {
        self.buses.iter().map(move |bus| bus.busy_until(now))
    }

    /// Has another policy choose. For tests.
    #[cfg(test)]
    pub fn set_scheduler(&mut self, scheduler: Box<dyn TransactionScheduler>) {
        self.scheduler = scheduler;
    }
}
