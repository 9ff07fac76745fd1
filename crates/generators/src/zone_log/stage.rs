//! The store as a stage of a workload: requests for blocks in, requests to zones out.

use std::collections::VecDeque;

use ninescope_model::{Arrival, Lba, Op, Remark, Request, SECTOR_BYTES, Workload, WorkloadError, ZoneLogStatistics};

use super::config::{ZoneLogConfig, ZoneSpace, ZrwaSpace};
use super::log::Log;
use crate::JobError;

/// A workload whose requests go to a log on the zones of a drive. What a write takes of cleaning is asked for before it, at its time.
pub struct ZoneLog {
    workload: Box<dyn Workload>,
    config: ZoneLogConfig,
    space: ZoneSpace,
    log: Log,
    block_sectors: u64,
    /// By log, but for the cleaner's: the random write area of its open zone.
    areas: Vec<Option<Area>>,
    /// Requests to the drive that are made and not yet asked for.
    out: VecDeque<Request>,
    statistics: ZoneLogStatistics,
}

/// The random write area of the open zone of a log.
#[derive(Clone, Copy, Debug)]
struct Area {
    zone: u32,
    /// Where it begins: the write pointer, when all that was asked for is done [512 B from the beginning of the zone].
    pointer: u64,
}

/// For whom a request to the drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Host,
    Cleaner,
}

impl ZoneLog {
    /// The store on these zones, to which the requests of `workload` go.
    ///
    /// # Errors
    /// Names the key of `config` that has no meaning on such a drive.
    pub fn new(config: ZoneLogConfig, space: ZoneSpace, workload: Box<dyn Workload>) -> Result<Self, JobError> {
        let (blocks, per_zone) = config.validate(&space)?;
        let log = Log::new(blocks, per_zone, config.logs, config.cleaning, &space, config.full);
        let statistics = ZoneLogStatistics {
            blocks: blocks.into(),
            blocks_per_zone: per_zone.into(),
            ..ZoneLogStatistics::default()
        };
        Ok(Self {
            workload,
            log,
            block_sectors: config.block.0 / SECTOR_BYTES,
            areas: vec![None; config.logs as usize],
            config,
            space,
            out: VecDeque::with_capacity(64),
            statistics,
        })
    }

    /// Bytes of the drive that hold something when the run begins, from the first zone on: whole zones.
    pub fn filled_zones(&self) -> Vec<u32> {
        let blocks = self.config.size.0 / self.config.block.0;
        let count = if self.config.full { blocks.div_ceil(self.log.per_zone().into()) } else { 0 };
        (0..self.space.zones).filter(|zone| !self.space.bad.contains(zone)).take(count as usize).collect()
    }

    /// The sector of a place.
    fn sector(&self, place: u32) -> u64 {
        let (zone, offset) = (place / self.log.per_zone(), place % self.log.per_zone());
        u64::from(zone) * self.space.size + u64::from(offset) * self.block_sectors
    }

    /// Asks the drive for a block, with the one asked for before it where they lie side by side in one zone.
    fn emit(&mut self, like: &Request, op: Op, place: u32, by: By) {
        let remark = match (op, by) {
            (Op::Read, By::Host) => Remark::LogRead,
            (Op::Read, By::Cleaner) => Remark::CleanerRead,
            (_, By::Host) if self.appends() => Remark::LogAppend,
            (_, By::Cleaner) if self.appends() => Remark::CleanerAppend,
            (_, By::Host) => Remark::LogWrite,
            (_, By::Cleaner) => Remark::CleanerWrite,
        };
        let (sector, sectors) = (self.sector(place), self.block_sectors as u32);
        let follows = !place.is_multiple_of(self.log.per_zone());
        // What the host asks for stays as large as it was, and an area takes as much as it spans at a time.
        let area = self.areas_told().filter(|_| op == Op::Write).map_or(u64::MAX, |areas| areas.size);
        let most = u64::from(like.sectors).max(self.block_sectors).min(area);
        if let Some(last) = self.out.back_mut()
            && follows
            && (last.op, last.remark) == (op, remark)
            && last.end() == sector
            && u64::from(last.sectors + sectors) <= most
        {
            last.sectors += sectors;
            return;
        }
        self.out.push_back(Request { lba: Lba(sector), sectors, op, remark, fua: false, ..*like });
    }

    /// Whether the drive says where writes go.
    fn appends(&self) -> bool {
        self.config.append && !self.space.is_of_host
    }

    /// A block goes to the end of a log, which may take cleaning first.
    fn append(&mut self, like: &Request, log: usize, block: u32) {
        let opens = self.log.needs_zone(log);
        if opens {
            while self.log.free_zones() <= self.config.free_zones as usize && self.clean(like) {}
        }
        let Some(place) = self.log.append(log, block) else { return };
        let Some(told) = self.areas_told() else { return self.emit(like, Op::Write, place, By::Host) };
        let zone = place / self.log.per_zone();
        if opens {
            self.manage(like, zone, Remark::OpenZrwa, self.space.unit);
            self.areas[log] = Some(Area { zone, pointer: 0 });
        }
        self.emit(like, Op::Write, place, By::Host);
        let end = u64::from(place % self.log.per_zone() + 1) * self.block_sectors;
        if end == self.space.capacity {
            // The last of a zone is committed by nobody else.
            self.manage(like, zone, Remark::Commit, self.space.capacity);
            self.areas[log] = None;
        } else if let Some(area) = &mut self.areas[log] {
            let least = end.saturating_sub(told.size).next_multiple_of(told.granularity);
            area.pointer = area.pointer.max(least);
        }
    }

    // ---- random write areas ------------------------------------------------------------------------

    /// What is told of random write areas, where the store uses them.
    fn areas_told(&self) -> Option<ZrwaSpace> {
        self.space.zrwa.filter(|_| self.config.zrwa)
    }

    /// Overwrites a block that lies in the random write area of a log. Returns whether it does.
    fn overwrite(&mut self, like: &Request, block: u32) -> bool {
        let Some(place) = self.log.place_of(block) else { return false };
        let (zone, offset) = (place / self.log.per_zone(), place % self.log.per_zone());
        let sector = u64::from(offset) * self.block_sectors;
        let lies_there = self.areas.iter().flatten().any(|area| area.zone == zone && area.pointer <= sector);
        if lies_there {
            self.statistics.overwritten_blocks += 1;
            self.emit(like, Op::Write, place, By::Host);
        }
        lies_there
    }

    /// Asks that a zone is managed, by a command of so many sectors from its beginning on.
    fn manage(&mut self, like: &Request, zone: u32, remark: Remark, sectors: u64) {
        let lba = Lba(u64::from(zone) * self.space.size);
        self.out.push_back(Request { lba, op: Op::Trim, remark, sectors: sectors as u32, fua: false, ..*like });
    }

    // ---- cleaning ----------------------------------------------------------------------------------

    /// Moves what counts of one zone to the cleaner's log, and resets it. Returns whether there was one.
    fn clean(&mut self, like: &Request) -> bool {
        let Some(victim) = self.log.take_victim() else { return false };
        let moved: Vec<(u32, u32)> = self.log.held_in(victim).collect();
        // Copies go in pieces of a large request.
        let stream = self.config.logs as u8;
        let like = Request { sectors: (COPY_BLOCKS * self.block_sectors) as u32, stream, ..*like };
        for &(_, place) in &moved {
            self.emit(&like, Op::Read, place, By::Cleaner);
        }
        let cleaner = self.log.cleaner();
        for &(block, _) in &moved {
            if let Some(place) = self.log.append(cleaner, block) {
                self.emit(&like, Op::Write, place, By::Cleaner);
            }
        }
        self.statistics.moved_blocks += moved.len() as u64;
        self.statistics.cleaned_zones += 1;
        self.log.is_free(victim);
        let (remark, sectors) =
            if self.space.is_of_host { (Remark::None, self.space.size) } else { (Remark::Reset, self.space.unit) };
        self.manage(&like, victim, remark, sectors);
        true
    }

    /// Turns a request of the host into requests to zones: none where it asks for nothing that lies there.
    fn take(&mut self, request: &Request) {
        let blocks = (self.config.size.0 / self.config.block.0) as u32;
        let first = (request.lba.0 / self.block_sectors) as u32;
        let end = (request.end().div_ceil(self.block_sectors) as u32).min(blocks);
        match request.op {
            Op::Flush => self.out.push_back(*request),
            Op::Read => {
                for block in first..end {
                    self.statistics.read_blocks += 1;
                    if let Some(place) = self.log.place_of(block) {
                        self.emit(request, Op::Read, place, By::Host);
                    }
                }
            }
            Op::Trim => (first..end).for_each(|block| self.log.forget(block)),
            Op::Write => {
                let log = usize::from(request.stream).min(self.config.logs as usize - 1);
                // A drive without zones hears by its stream which log it is; one with zones hears none.
                let request = &Request { stream: log as u8, ..*request };
                for block in first..end {
                    let begin = u64::from(block) * self.block_sectors;
                    let is_whole = request.lba.0 <= begin && begin + self.block_sectors <= request.end();
                    if let Some(place) = self.log.place_of(block).filter(|_| !is_whole) {
                        self.statistics.merged_blocks += 1;
                        self.emit(request, Op::Read, place, By::Host);
                    }
                    self.statistics.written_blocks += 1;
                    if !self.overwrite(request, block) {
                        self.append(request, log, block);
                    }
                }
            }
        }
    }
}

/// Blocks that the cleaner reads and writes with one request at most.
const COPY_BLOCKS: u64 = 32;

impl Workload for ZoneLog {
    fn arrival(&self) -> Arrival {
        self.workload.arrival()
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        while self.out.is_empty() {
            let Some(request) = self.workload.next_request()? else { return Ok(None) };
            self.take(&request);
        }
        Ok(self.out.pop_front())
    }

    fn zone_log(&self) -> Option<&ZoneLogStatistics> {
        Some(&self.statistics)
    }
}
