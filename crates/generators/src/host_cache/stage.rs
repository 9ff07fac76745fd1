//! The cache as a stage of a workload: requests to the disk in, requests to the drive out.

use std::collections::VecDeque;

use ninescope_kernel::Ns;
use ninescope_model::{Arrival, CacheHint, HostCacheStatistics, Lba, Op, Request, Workload, WorkloadError};

use super::fallow::FallowClock;
use super::sets::{SetTable, State};
use super::{HostCacheConfig, HostCacheLayout};
use crate::JobError;

/// What is under way for a place, and when it ends.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    ends: Ns,
    place: u32,
}

/// A request to the disk that is being worked on, block by block.
#[derive(Clone, Copy, Debug)]
struct Input {
    at: Ns,
    op: Op,
    /// Its next sector, and the one after its last.
    next: u64,
    end: u64,
}

/// The next thing that happens; those of one instant happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Cleaned,
    Populated,
    FallowLook,
    Input,
}

/// A workload of disk requests behind a cache on the drive. Time stamps that come out never decrease, and all
/// memory but that of disk reads under way is taken at the start.
pub struct HostCache {
    disk: Box<dyn Workload>,
    arrival: Arrival,
    config: HostCacheConfig,
    layout: HostCacheLayout,
    table: SetTable,
    input: Option<Input>,
    /// The disk workload is over.
    ended: bool,
    /// Requests taken from it.
    taken: u64,
    now: Ns,
    /// Disk reads and write-backs under way, in the order of their ends.
    populates: VecDeque<UnderWay>,
    cleanings: VecDeque<UnderWay>,
    /// Sets with blocks to write back that wait for others to end, each once.
    waiting: VecDeque<u32>,
    is_waiting: Vec<bool>,
    fallow: Option<FallowClock>,
    /// Requests to the drive that are made and not yet asked for.
    out: VecDeque<Request>,
    statistics: HostCacheStatistics,
}

impl HostCache {
    /// The cache on a drive of `drive_bytes`, in front of the disk that `disk` asks.
    ///
    /// # Errors
    /// Names the key of `config` that has no meaning on such a drive.
    pub fn new(config: HostCacheConfig, drive_bytes: u64, disk: Box<dyn Workload>) -> Result<Self, JobError> {
        let layout = config.validate(drive_bytes)?;
        let table = SetTable::new(layout, config.replacement, config.initial);
        let statistics = HostCacheStatistics {
            blocks: u64::from(layout.blocks()),
            sets: u64::from(layout.sets),
            valid_blocks: u64::from(table.valid()),
            ..HostCacheStatistics::default()
        };
        Ok(Self {
            arrival: disk.arrival(),
            disk,
            layout,
            table,
            input: None,
            ended: false,
            taken: 0,
            now: Ns::ZERO,
            populates: VecDeque::with_capacity(1024),
            cleanings: VecDeque::with_capacity(config.clean_ios_total as usize),
            waiting: VecDeque::with_capacity(layout.sets as usize),
            is_waiting: vec![false; layout.sets as usize],
            fallow: FallowClock::new(Ns(config.fallow_delay.0), layout.sets),
            out: VecDeque::with_capacity(16),
            config,
            statistics,
        })
    }

    /// Where it lies on the drive.
    pub fn layout(&self) -> HostCacheLayout {
        self.layout
    }

    /// Takes the next request of the disk workload in, where none is being worked on.
    fn take_input(&mut self) -> Result<(), WorkloadError> {
        if self.input.is_some() || self.ended {
            return Ok(());
        }
        let Some(request) = self.disk.next_request()? else {
            self.ended = true;
            return Ok(());
        };
        let at = match self.arrival {
            Arrival::Open => request.submitted,
            Arrival::Closed => Ns((self.taken as f64 * (1e9 / self.config.nominal_iops)) as u64),
        };
        self.taken += 1;
        self.input = Some(Input { at, op: request.op, next: request.lba.0, end: request.end() });
        Ok(())
    }

    /// What happens next, and when. Nobody looks for fallow blocks after the last request.
    fn next_happening(&self) -> Option<(Ns, Happening)> {
        let looks = self.fallow.filter(|_| !self.ended && self.table.dirty() > 0);
        [
            self.cleanings.front().map(|cleaning| (cleaning.ends, Happening::Cleaned)),
            self.populates.front().map(|populate| (populate.ends, Happening::Populated)),
            looks.map(|fallow| (fallow.next_time(), Happening::FallowLook)),
            self.input.map(|input| (input.at, Happening::Input)),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Cleaned => self.cleaned(),
            Happening::Populated => self.populated(),
            Happening::FallowLook => self.look_for_fallow(),
            Happening::Input => self.next_block(),
        }
        self.statistics.valid_blocks = u64::from(self.table.valid());
        self.statistics.dirty_blocks = u64::from(self.table.dirty());
        self.statistics.dirty_blocks_max = self.statistics.dirty_blocks_max.max(self.statistics.dirty_blocks);
    }

    /// Works on the next block of the present request, or on the part of one that it begins or ends with.
    fn next_block(&mut self) {
        let Some(input) = self.input else { return };
        let size = self.layout.block_sectors;
        let (block, within) = (input.next / size, input.next % size);
        let sectors = (size - within).min(input.end - input.next);
        let next = input.next + sectors;
        self.input = (next < input.end).then_some(Input { next, ..input });
        // A disk of more blocks than can be numbered is not cached there.
        let block = u32::try_from(block).ok().filter(|&block| block != u32::MAX);
        let whole = block.filter(|_| sectors == size);
        match (input.op, whole) {
            (Op::Flush, _) => {
                if self.config.flush {
                    self.emit(None, Op::Flush, CacheHint::None);
                }
            }
            (Op::Read, Some(block)) => self.read(block),
            (Op::Write, Some(block)) => self.write(block),
            (Op::Trim, Some(block)) => self.discard(block),
            (Op::Trim, None) => {}
            (op, None) => self.go_past(block, op),
        }
    }

    fn read(&mut self, block: u32) {
        self.statistics.reads += 1;
        if let Some(place) = self.table.find(block) {
            self.table.touch(place);
            let state = self.table.state(place);
            self.statistics.read_hits += 1;
            if state.has(State::PENDING) && !state.has(State::OVERTAKEN) {
                self.statistics.joined_reads += 1;
            } else {
                self.emit(Some(place), Op::Read, CacheHint::HostRead);
            }
            return;
        }
        self.statistics.disk_reads += 1;
        let Some(place) = self.make_room(block) else {
            self.statistics.uncached_reads += 1;
            return;
        };
        self.table.fill(place, block, State::VALID.with(State::PENDING));
        let ends = Ns(self.now.0.saturating_add(self.config.disk_read_latency.0));
        self.populates.push_back(UnderWay { ends, place });
    }

    fn write(&mut self, block: u32) {
        self.statistics.writes += 1;
        self.wake_fallow();
        if let Some(place) = self.table.find(block) {
            let state = self.table.state(place);
            self.statistics.write_hits += 1;
            self.statistics.dirty_rewrites += u64::from(state.has(State::DIRTY));
            let redirtied = if state.has(State::CLEANING) { State::REDIRTIED } else { State::DIRTY };
            let overtaken = if state.has(State::PENDING) { State::OVERTAKEN } else { State::DIRTY };
            self.table.set_state(place, state.with(State::DIRTY).with(redirtied).with(overtaken));
            self.table.touch(place);
            self.wrote_dirty(place);
        } else if let Some(place) = self.make_room(block) {
            self.table.fill(place, block, State::VALID.with(State::DIRTY));
            self.wrote_dirty(place);
        } else {
            self.statistics.uncached_writes += 1;
            self.statistics.disk_writes += 1;
        }
    }

    fn wrote_dirty(&mut self, place: u32) {
        self.statistics.dirty_writes += 1;
        self.emit(Some(place), Op::Write, CacheHint::DirtyWrite);
        self.clean_set(self.table.set_of_place(place));
    }

    /// The first dirty block sets the clock of fallow blocks going.
    fn wake_fallow(&mut self) {
        if self.table.dirty() == 0
            && let Some(fallow) = &mut self.fallow
        {
            fallow.skip_to(self.now);
        }
    }

    /// A place for a block, which another may have to leave.
    fn make_room(&mut self, block: u32) -> Option<u32> {
        let set = self.table.set_of_block(block);
        let Some((place, evicted)) = self.table.make_room(set) else {
            self.clean_set(set);
            return None;
        };
        if evicted {
            self.statistics.evictions += 1;
            self.let_go(place);
        }
        Some(place)
    }

    /// Forgets the block of a place.
    fn let_go(&mut self, place: u32) {
        self.table.forget(place);
        if self.config.trim {
            self.emit(Some(place), Op::Trim, CacheHint::None);
        }
    }

    fn discard(&mut self, block: u32) {
        if let Some(place) = self.table.find(block) {
            self.statistics.discarded += 1;
            self.let_go(place);
        }
    }

    /// A part of a block is the disk's business. A cached block that it touches is written back and let go.
    fn go_past(&mut self, block: Option<u32>, op: Op) {
        if op == Op::Read {
            self.statistics.uncached_reads += 1;
            self.statistics.disk_reads += 1;
        } else {
            self.statistics.uncached_writes += 1;
            self.statistics.disk_writes += 1;
        }
        let Some(place) = block.and_then(|block| self.table.find(block)) else { return };
        let state = self.table.state(place);
        if state.has(State::DIRTY) && (!state.has(State::CLEANING) || state.has(State::REDIRTIED)) {
            self.statistics.flush_reads += 1;
            self.statistics.disk_writes += 1;
            self.emit(Some(place), Op::Read, CacheHint::FlushRead);
        }
        self.let_go(place);
    }

    /// Begins to write back what a set has too much of, as far as the limits allow.
    fn clean_set(&mut self, set: u32) {
        if self.ended {
            return;
        }
        loop {
            let counts = self.table.counts(set);
            let idle = u32::from(counts.dirty).saturating_sub(u32::from(counts.cleaning));
            if idle <= self.layout.dirty_max && counts.due == 0 {
                return;
            }
            if u32::from(counts.cleaning) >= self.config.clean_ios_set {
                return; // taken up again when one of them ends
            }
            if self.cleanings.len() >= self.config.clean_ios_total as usize {
                if !std::mem::replace(&mut self.is_waiting[set as usize], true) {
                    self.waiting.push_back(set);
                }
                return;
            }
            let Some(place) = self.table.next_to_clean(set) else { return };
            self.begin_cleaning(place);
        }
    }

    fn begin_cleaning(&mut self, place: u32) {
        let state = self.table.state(place);
        self.statistics.flush_reads += 1;
        self.statistics.fallow_flush_reads += u64::from(state.has(State::FALLOW));
        self.statistics.disk_writes += 1;
        self.table.set_state(place, state.with(State::CLEANING));
        let ends = Ns(self.now.0.saturating_add(self.config.disk_write_latency.0));
        self.cleanings.push_back(UnderWay { ends, place });
        self.emit(Some(place), Op::Read, CacheHint::FlushRead);
    }

    /// A block has reached the disk: it is clean, unless it was written meanwhile.
    fn cleaned(&mut self) {
        let Some(UnderWay { place, .. }) = self.cleanings.pop_front() else { return };
        let state = self.table.state(place);
        let written_meanwhile = State::CLEANING.with(State::REDIRTIED);
        let clean = written_meanwhile.with(State::DIRTY).with(State::IDLE).with(State::FALLOW);
        let over = if state.has(State::REDIRTIED) { written_meanwhile } else { clean };
        self.table.set_state(place, state.without(over));
        self.clean_set(self.table.set_of_place(place));
        while self.cleanings.len() < self.config.clean_ios_total as usize
            && let Some(set) = self.waiting.pop_front()
        {
            self.is_waiting[set as usize] = false;
            self.clean_set(set);
        }
    }

    /// What the disk brought is written to the drive, unless a write came before it.
    fn populated(&mut self) {
        let Some(UnderWay { place, .. }) = self.populates.pop_front() else { return };
        let state = self.table.state(place);
        self.table.set_state(place, state.without(State::PENDING.with(State::OVERTAKEN)));
        if state.has(State::VALID) && !state.has(State::OVERTAKEN) {
            self.statistics.clean_writes += 1;
            self.emit(Some(place), Op::Write, CacheHint::CleanWrite);
        } else {
            self.statistics.overtaken_reads += 1;
        }
    }

    /// Dirty blocks that nobody touched since the last look but one are written back.
    fn look_for_fallow(&mut self) {
        let Some(fallow) = &mut self.fallow else { return };
        let set = fallow.look();
        if self.table.counts(set).dirty == 0 {
            return;
        }
        for place in self.table.places(set) {
            let state = self.table.state(place);
            if state.has(State::DIRTY) {
                let mark = if state.has(State::IDLE) { State::FALLOW } else { State::IDLE };
                self.table.set_state(place, state.with(mark));
            }
        }
        self.clean_set(set);
    }

    /// Asks the drive for the block of a place, or for no block in particular.
    fn emit(&mut self, place: Option<u32>, op: Op, hint: CacheHint) {
        let size = self.layout.block_sectors;
        self.out.push_back(Request {
            submitted: if self.arrival == Arrival::Open { self.now } else { Ns::ZERO },
            lba: Lba(place.map_or(0, |place| u64::from(place) * size)),
            sectors: place.map_or(0, |_| size as u32),
            op,
            remark: hint.into(),
            ..Request::default()
        });
    }
}

impl Workload for HostCache {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some(request) = self.out.pop_front() {
                return Ok(Some(request));
            }
            self.take_input()?;
            let Some((at, happening)) = self.next_happening() else { return Ok(None) };
            self.now = at;
            self.happen(happening);
        }
    }

    fn host_cache(&self) -> Option<&HostCacheStatistics> {
        Some(&self.statistics)
    }
}
