//! A naive model of the three maps by block, for one pool: counts alone, from lists of pages. It knows nothing of groups, places and
//! frontiers, and shares no code with what it is compared with.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_ftl::block_map::BlockScheme;

/// Where the newest copy of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Newest {
    Data,
    /// The log block, and which of its pages: a page may be there several times.
    Log(usize, usize),
}

/// A log block.
#[derive(Debug)]
struct NaiveLog {
    number: usize,
    /// The logical block; none where it is of all.
    of: Option<u32>,
    pages: Vec<(u32, u32)>,
}

impl NaiveLog {
    /// Its pages are the first of its logical block, in their order.
    fn is_prefix(&self) -> bool {
        self.pages.iter().zip(0..).all(|(page, number)| page.1 == number)
    }

    fn takes(&mut self, page: (u32, u32)) -> Newest {
        self.pages.push(page);
        Newest::Log(self.number, self.pages.len() - 1)
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub copies: u64,
    pub padding: u64,
    pub switches: u64,
    pub partials: u64,
    pub fulls: u64,
    pub emptied: u64,
    pub erases: u64,
}

/// The model.
#[derive(Debug)]
pub struct NaiveMap {
    scheme: BlockScheme,
    pages: u32,
    logs_max: usize,
    /// Pages that the data block of a logical block has programmed.
    data: BTreeMap<u32, u32>,
    newest: BTreeMap<(u32, u32), Newest>,
    logs: Vec<NaiveLog>,
    sequential: Option<NaiveLog>,
    numbers: usize,
    pub counts: Counts,
}

impl NaiveMap {
    pub fn new(scheme: BlockScheme, pages: u32, logs_max: u32) -> Self {
        Self {
            scheme,
            pages,
            logs_max: logs_max as usize,
            data: BTreeMap::new(),
            newest: BTreeMap::new(),
            logs: Vec::new(),
            sequential: None,
            numbers: 0,
            counts: Counts::default(),
        }
    }

    fn offsets(&self, block: u32) -> BTreeSet<u32> {
        self.newest.range((block, 0)..=(block, u32::MAX)).map(|((_, offset), _)| *offset).collect()
    }

    fn new_log(&mut self, of: Option<u32>) -> NaiveLog {
        self.numbers += 1;
        NaiveLog { number: self.numbers, of, pages: Vec::new() }
    }

    pub fn trim(&mut self, block: u32, offset: u32) {
        self.newest.remove(&(block, offset));
    }

    pub fn write(&mut self, block: u32, offset: u32) {
        if self.data.get(&block).copied().unwrap_or(0) == offset {
            *self.data.entry(block).or_insert(0) += 1;
            self.newest.insert((block, offset), Newest::Data);
            return;
        }
        match self.scheme {
            BlockScheme::Block => self.write_in_place(block, offset),
            BlockScheme::Bast => self.write_to_own_log(block, offset),
            BlockScheme::Fast => self.write_to_shared_log(block, offset),
        }
    }

    /// All of a logical block is written into a fresh block, besides a page of the host that comes on the way.
    fn rewrite(&mut self, block: u32, host: Option<u32>) {
        let mut offsets = self.offsets(block);
        let copied = offsets.iter().filter(|offset| Some(**offset) != host).count() as u64;
        offsets.extend(host);
        let end = offsets.last().map_or(0, |last| last + 1);
        self.counts.copies += copied;
        self.counts.padding += u64::from(end) - offsets.len() as u64;
        let before = self.data.remove(&block).is_some();
        self.counts.erases += u64::from(before);
        // What was trimmed as a whole needs no block.
        self.counts.fulls += u64::from(end > 0 && (before || host.is_none()));
        if end > 0 {
            self.data.insert(block, end);
        }
        self.newest.extend(offsets.into_iter().map(|offset| ((block, offset), Newest::Data)));
    }

    fn write_in_place(&mut self, block: u32, offset: u32) {
        match self.data.get(&block).copied() {
            Some(end) if end < offset => {
                self.counts.padding += u64::from(offset - end);
                self.data.insert(block, offset + 1);
                self.newest.insert((block, offset), Newest::Data);
            }
            _ => self.rewrite(block, Some(offset)),
        }
    }

    /// A log that is the beginning of its logical block gets the rest of it.
    fn complete(&mut self, log: &NaiveLog) {
        let (block, begin) = (log.of.unwrap(), log.pages.len() as u32);
        let rest: Vec<u32> = self.offsets(block).into_iter().filter(|&offset| offset >= begin).collect();
        let end = rest.last().map_or(begin, |last| last + 1);
        let filled = u64::from(end - begin);
        self.counts.copies += rest.len() as u64;
        self.counts.padding += filled - rest.len() as u64;
        *(if filled == 0 { &mut self.counts.switches } else { &mut self.counts.partials }) += 1;
        self.counts.erases += u64::from(self.data.insert(block, end).is_some());
        for (_, newest) in self.newest.range_mut((block, 0)..=(block, u32::MAX)) {
            *newest = Newest::Data;
        }
    }

    fn write_to_own_log(&mut self, block: u32, offset: u32) {
        if let Some(at) = self.logs.iter().position(|log| log.of == Some(block)) {
            let log = self.logs.remove(at);
            if log.pages.len() as u32 == self.pages {
                self.counts.erases += 1;
                self.rewrite(block, None);
                // What is behind the last page may be free now.
                return self.write(block, offset);
            }
            self.logs.push(log);
        } else {
            if self.logs.len() == self.logs_max {
                let log = self.logs.remove(0);
                if log.is_prefix() {
                    self.complete(&log);
                } else {
                    self.counts.erases += 1;
                    self.rewrite(log.of.unwrap(), None);
                }
            }
            let log = self.new_log(Some(block));
            self.logs.push(log);
        }
        let log = self.logs.last_mut().unwrap();
        self.newest.insert((block, offset), log.takes((block, offset)));
        if log.pages.len() as u32 == self.pages && log.is_prefix() {
            let log = self.logs.pop().unwrap();
            self.complete(&log);
        }
    }

    fn write_to_shared_log(&mut self, block: u32, offset: u32) {
        if let Some(mut log) = self.sequential.take() {
            let own = log.of == Some(block);
            if own && log.pages.len() as u32 == offset {
                self.newest.insert((block, offset), log.takes((block, offset)));
                if log.pages.len() as u32 == self.pages {
                    self.complete(&log);
                } else {
                    self.sequential = Some(log);
                }
                return;
            }
            if own || offset == 0 {
                self.complete(&log);
                // The page may be the next of its data block by now.
                return self.write(block, offset);
            }
            self.sequential = Some(log);
        }
        if offset == 0 {
            let mut log = self.new_log(Some(block));
            self.newest.insert((block, 0), log.takes((block, 0)));
            self.sequential = Some(log);
            if self.pages == 1 {
                let log = self.sequential.take().unwrap();
                self.complete(&log);
            }
            return;
        }
        if self.logs.last().is_none_or(|log| log.pages.len() as u32 == self.pages) {
            if self.logs.len() + 1 == self.logs_max && self.empty_oldest(block, offset) {
                return self.write(block, offset);
            }
            let log = self.new_log(None);
            self.logs.push(log);
        }
        let log = self.logs.last_mut().unwrap();
        self.newest.insert((block, offset), log.takes((block, offset)));
    }

    /// Returns whether the page that waits can go elsewhere before all of the log is empty.
    fn empty_oldest(&mut self, block: u32, offset: u32) -> bool {
        loop {
            let log = &self.logs[0];
            let newest = |at: &usize| self.newest.get(&log.pages[*at]) == Some(&Newest::Log(log.number, *at));
            let Some(next) = (0..log.pages.len()).find(newest).map(|at| log.pages[at].0) else { break };
            self.rewrite(next, None);
            if let Some(log) = self.sequential.take_if(|log| log.of == Some(next)) {
                drop(log);
                self.counts.erases += 1;
            }
            if self.data.get(&block).copied().unwrap_or(0) == offset {
                return true;
            }
        }
        self.logs.remove(0);
        self.counts.erases += 1;
        self.counts.emptied += 1;
        false
    }
}
