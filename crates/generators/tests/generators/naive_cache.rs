//! The rules of the host cache, written down once more in the simplest way: lists that are searched from one end to the
//! other, counts that are taken anew each time.

use ninescope_generators::HostCacheConfig;
use ninescope_generators::host_cache::{InitialContent, Replacement};
use ninescope_model::{CacheHint, Op, Request};

/// What comes out: time, operation, hint, place.
pub type Told = (u64, Op, CacheHint, u64);

#[derive(Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // the simplest way to say it
struct Line {
    block: Option<u64>,
    dirty: bool,
    writing_back: bool,
    written_meanwhile: bool,
    arriving: bool,
    overtaken: bool,
    looks: u8,
    used: u64,
}

impl Line {
    fn is_free(&self) -> bool {
        self.block.is_none() && !self.writing_back && !self.arriving
    }

    fn may_go(&self) -> bool {
        self.block.is_some() && !self.dirty && !self.writing_back && !self.arriving
    }

    fn can_be_written_back(&self) -> bool {
        self.dirty && !self.writing_back
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    WrittenBack,
    Arrived,
}

pub struct NaiveCache {
    config: HostCacheConfig,
    sets: Vec<Vec<Line>>,
    next_out: Vec<usize>,
    next_back: Vec<usize>,
    events: Vec<(u64, Kind, u64, usize, usize)>,
    waiting: Vec<usize>,
    looks: u64,
    steps: u64,
    ended: bool,
    pub out: Vec<Told>,
}

impl NaiveCache {
    pub fn new(config: &HostCacheConfig) -> Self {
        let blocks = config.size.expect("a size").0 / config.block.0;
        let ways = config.ways as usize;
        let sets = blocks as usize / ways;
        let line = |set: usize, way: usize| match config.initial {
            InitialContent::Empty => Line::default(),
            // Way 0 was used last: it stands at the newest end.
            InitialContent::Full => {
                Line { block: Some((set * ways + way) as u64), used: (ways - way) as u64, ..Line::default() }
            }
        };
        Self {
            config: config.clone(),
            sets: (0..sets).map(|set| (0..ways).map(|way| line(set, way)).collect()).collect(),
            next_out: vec![0; sets],
            next_back: vec![0; sets],
            events: Vec::new(),
            waiting: Vec::new(),
            looks: 0,
            steps: 1_000_000,
            ended: false,
            out: Vec::new(),
        }
    }

    pub fn run(&mut self, requests: &[Request]) {
        for request in requests {
            let size = self.config.block.0 / 512;
            let (begin, end) = (request.lba.0, request.lba.0 + u64::from(request.sectors));
            let now = request.submitted.0;
            let mut at = begin;
            while at < end {
                self.events_until(now);
                let next = (at / size + 1) * size;
                let whole = at % size == 0 && next <= end;
                self.block(now, request.op, at / size, whole);
                at = next;
            }
        }
        self.ended = true;
        self.events_until(u64::MAX);
    }

    fn events_until(&mut self, now: u64) {
        loop {
            let delay = u128::from(self.config.fallow_delay.0);
            let look = if delay == 0 || self.ended {
                u128::MAX
            } else {
                u128::from(self.looks + 1) * delay / self.sets.len() as u128
            };
            self.events.sort_unstable();
            let event = self.events.first().map(|event| u128::from(event.0));
            match event {
                Some(time) if time <= u128::from(now) && time <= look => {
                    let (time, kind, _, set, way) = self.events.remove(0);
                    match kind {
                        Kind::WrittenBack => self.written_back(time, set, way),
                        Kind::Arrived => self.arrived(time, set, way),
                    }
                }
                _ if look <= u128::from(now) => self.look(look as u64),
                _ => return,
            }
        }
    }

    fn tell(&mut self, now: u64, op: Op, hint: CacheHint, set: usize, way: usize) {
        self.out.push((now, op, hint, (set * self.config.ways as usize + way) as u64));
    }

    fn block(&mut self, now: u64, op: Op, block: u64, whole: bool) {
        let set = (block / u64::from(self.config.ways)) as usize % self.sets.len();
        let way = self.sets[set].iter().position(|line| line.block == Some(block));
        self.steps += 1;
        match (op, way) {
            (Op::Trim, Some(way)) if whole => self.drop_line(now, set, way),
            (Op::Trim | Op::Flush, _) | (_, None) if !whole || op == Op::Trim => {}
            (_, Some(way)) if !whole => {
                let line = &self.sets[set][way];
                if line.dirty && (!line.writing_back || line.written_meanwhile) {
                    self.tell(now, Op::Read, CacheHint::FlushRead, set, way);
                }
                self.drop_line(now, set, way);
            }
            (Op::Read, Some(way)) => {
                self.use_line(set, way);
                if !self.sets[set][way].arriving || self.sets[set][way].overtaken {
                    self.tell(now, Op::Read, CacheHint::HostRead, set, way);
                }
            }
            (Op::Read, None) => {
                if let Some(way) = self.room(now, set) {
                    self.sets[set][way] = Line { block: Some(block), arriving: true, ..Line::default() };
                    self.use_line(set, way);
                    let ends = now + self.config.disk_read_latency.0;
                    self.events.push((ends, Kind::Arrived, self.steps, set, way));
                }
            }
            (_, found) => {
                let Some(way) = found.or_else(|| self.room(now, set)) else { return };
                let line = &mut self.sets[set][way];
                line.block = Some(block);
                line.dirty = true;
                line.written_meanwhile = line.writing_back;
                line.overtaken = line.arriving;
                self.use_line(set, way);
                self.tell(now, Op::Write, CacheHint::DirtyWrite, set, way);
                self.write_back(now, set);
            }
        }
    }

    fn use_line(&mut self, set: usize, way: usize) {
        self.sets[set][way].used = self.steps;
        self.sets[set][way].looks = 0;
    }

    fn drop_line(&mut self, now: u64, set: usize, way: usize) {
        let line = &mut self.sets[set][way];
        let (writing_back, arriving) = (line.writing_back, line.arriving);
        *line = Line { writing_back, arriving, ..Line::default() };
        if self.config.trim {
            self.tell(now, Op::Trim, CacheHint::None, set, way);
        }
    }

    /// The ways of a set in the order in which they leave.
    fn order(&self, set: usize, from: usize) -> Vec<usize> {
        let ways = self.config.ways as usize;
        let mut order: Vec<usize> = (0..ways).map(|index| (from + index) % ways).collect();
        if self.config.replacement == Replacement::Lru {
            order.sort_by_key(|&way| self.sets[set][way].used);
        }
        order
    }

    fn room(&mut self, now: u64, set: usize) -> Option<usize> {
        if let Some(way) = self.sets[set].iter().position(Line::is_free) {
            return Some(way);
        }
        let found = self.order(set, self.next_out[set]).into_iter().find(|&way| self.sets[set][way].may_go());
        let Some(way) = found else {
            self.write_back(now, set);
            return None;
        };
        self.next_out[set] = (way + 1) % self.config.ways as usize;
        self.drop_line(now, set, way);
        Some(way)
    }

    fn write_back(&mut self, now: u64, set: usize) {
        while !self.ended {
            let lines = &self.sets[set];
            let all = self.sets.iter().flatten().filter(|line| line.writing_back).count();
            let here = lines.iter().filter(|line| line.writing_back).count();
            let here_and_dirty = lines.iter().filter(|line| line.dirty).count();
            let fallow = |line: &Line| line.can_be_written_back() && line.looks >= 2;
            let any_fallow = lines.iter().any(fallow);
            let most = lines.len() * usize::from(self.config.dirty_threshold) / 100;
            if here_and_dirty.saturating_sub(here) <= most && !any_fallow {
                return;
            }
            if here >= self.config.clean_ios_set as usize {
                return;
            }
            if all >= self.config.clean_ios_total as usize {
                if !self.waiting.contains(&set) {
                    self.waiting.push(set);
                }
                return;
            }
            let wanted = |line: &Line| if any_fallow { fallow(line) } else { line.can_be_written_back() };
            let order = self.order(set, self.next_back[set]);
            let Some(way) = order.into_iter().find(|&way| wanted(&self.sets[set][way])) else { return };
            self.next_back[set] = (way + 1) % self.config.ways as usize;
            self.sets[set][way].writing_back = true;
            self.steps += 1;
            self.events.push((now + self.config.disk_write_latency.0, Kind::WrittenBack, self.steps, set, way));
            self.tell(now, Op::Read, CacheHint::FlushRead, set, way);
        }
    }

    fn written_back(&mut self, now: u64, set: usize, way: usize) {
        let line = &mut self.sets[set][way];
        line.writing_back = false;
        if !std::mem::take(&mut line.written_meanwhile) {
            line.dirty = false;
            line.looks = 0;
        }
        self.write_back(now, set);
        loop {
            let all = self.sets.iter().flatten().filter(|line| line.writing_back).count();
            if all >= self.config.clean_ios_total as usize || self.waiting.is_empty() {
                return;
            }
            let set = self.waiting.remove(0);
            self.write_back(now, set);
        }
    }

    fn arrived(&mut self, now: u64, set: usize, way: usize) {
        let line = &mut self.sets[set][way];
        line.arriving = false;
        let overtaken = std::mem::take(&mut line.overtaken);
        if line.block.is_some() && !overtaken {
            self.tell(now, Op::Write, CacheHint::CleanWrite, set, way);
        }
    }

    fn look(&mut self, now: u64) {
        let set = (self.looks % self.sets.len() as u64) as usize;
        self.looks += 1;
        for line in self.sets[set].iter_mut().filter(|line| line.dirty) {
            line.looks = (line.looks + 1).min(2);
        }
        if self.sets[set].iter().any(|line| line.dirty) {
            self.write_back(now, set);
        }
    }
}
