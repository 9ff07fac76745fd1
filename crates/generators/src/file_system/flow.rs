//! The flow of operations of a personality, as in filebench's workload files, and what each does to files and pages.

use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::{Arrival, Request, SECTOR_BYTES, Workload, WorkloadError};

use super::BLOCK_BYTES;
use super::config::{Figures, FileSystemConfig, Personality};
use super::disk::{Disk, File};
use super::files::FileSet;
use super::page_cache::PageCache;
use super::pages::Pages;
use crate::JobError;

/// Inodes of 256 B in a block of the inode table.
const INODES_PER_BLOCK: u32 = 16;
/// Blocks of a journal record: descriptor, inode, commit.
const JOURNAL_RECORD: u32 = 3;
/// Of oltp: reads between two bursts of the database writers and between two writes of the log, writers, writes of
/// each in a burst, and bytes of a write of the log (`semblock` values, `ndbwriters`, `iters`, `iosize` of oltp.f).
const READS_PER_BURST: u64 = 1000;
const READS_PER_LOG_WRITE: u64 = 3200;
const BURST_WRITES: u32 = 10 * 100;
const LOG_WRITE_BYTES: u64 = 256 << 10;
/// A workload is over when so many operations in a row ask the disk for nothing.
const QUIET_OPERATIONS_MAX: u64 = 10_000_000;

/// One operation of a flow. Those on "the file" mean the one that was created or opened last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flowop {
    Create,
    Open,
    WriteWhole,
    ReadWhole,
    Append,
    Sync,
    Delete,
    Stat,
    AppendLog,
    /// The next operation of oltp's processes.
    Database,
}

impl Personality {
    fn flow(self) -> &'static [Flowop] {
        use Flowop::{Append, AppendLog, Create, Database, Delete, Open, ReadWhole, Stat, Sync, WriteWhole};
        const WEB: [Flowop; 21] = {
            let mut flow = [Open; 21];
            let mut index = 1;
            while index < 21 {
                flow[index] = ReadWhole;
                index += 2;
            }
            flow[20] = AppendLog;
            flow
        };
        match self {
            Self::FileServer => &[Create, WriteWhole, Open, Append, Open, ReadWhole, Delete, Stat],
            Self::WebServer => &WEB,
            Self::VarMail => &[Delete, Create, Append, Sync, Open, ReadWhole, Append, Sync, Open, ReadWhole],
            Self::Oltp => &[Database],
        }
    }
}

/// Operations made so far, and the bytes that they moved between files and programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the flowops' names
pub struct FileOperations {
    pub creates: u64,
    pub deletes: u64,
    pub stats: u64,
    pub whole_writes: u64,
    pub whole_reads: u64,
    pub appends: u64,
    pub syncs: u64,
    pub log_writes: u64,
    pub random_reads: u64,
    pub random_writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// What one thread's flow is about.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    step: usize,
    /// The file that was created or opened last.
    file: Option<u32>,
    /// Of oltp: reads so far, and writes due in the present burst.
    reads: u64,
    writes_due: u32,
    log_is_due: bool,
}

/// Of oltp: the blocks of its files and of its log in their order, none of which grows or shrinks.
#[derive(Debug, Default)]
struct Database {
    files: Vec<Box<[u32]>>,
    log: Box<[u32]>,
}

/// A personality at work. The same description and seed give the same requests.
pub struct FileSystem {
    config: FileSystemConfig,
    figures: Figures,
    disk: Disk,
    set: FileSet,
    log: File,
    database: Database,
    pages: Pages,
    /// The journal, and where its next record goes.
    journal: std::ops::Range<u32>,
    journal_next: u32,
    position: Position,
    choices: RandomStream,
    arrivals: RandomStream,
    now_ns: f64,
    operations: FileOperations,
}

impl FileSystem {
    /// The personality with its files laid out, of which no page is in the cache unless it is warm.
    ///
    /// # Errors
    /// Names the key of `config` that has no meaning.
    pub fn new(config: FileSystemConfig, seed: u64) -> Result<Self, JobError> {
        config.validate()?;
        let figures = config.figures();
        let stream = |purpose| RandomStream::new(seed, &format!("job {}", config.name), purpose);
        let blocks = (config.disk_size.0 / BLOCK_BYTES) as u32;
        let inodes = figures.files.div_ceil(INODES_PER_BLOCK);
        let journal = inodes..inodes + (config.journal_size.0 / BLOCK_BYTES) as u32;
        let pages = (config.page_cache.0 / BLOCK_BYTES).min(u64::from(blocks)) as u32;
        let dirty_max = (u64::from(pages) * u64::from(config.dirty_background) / 100) as u32;
        let mut made = Self {
            disk: Disk::new(blocks, journal.end),
            set: FileSet::new(&figures, stream("size")),
            log: File::default(),
            database: Database::default(),
            pages: Pages::new(
                PageCache::new(blocks, pages, dirty_max, Ns(config.dirty_expire.0)),
                blocks,
                figures.io_bytes,
            ),
            journal_next: journal.start,
            journal,
            position: Position::default(),
            choices: stream("choice"),
            arrivals: stream("arrival"),
            now_ns: 0.0,
            operations: FileOperations::default(),
            figures,
            config,
        };
        made.lay_out()?;
        Ok(made)
    }

    /// What it did so far.
    pub fn operations(&self) -> FileOperations {
        self.operations
    }

    /// Sectors of the disk.
    pub fn disk_sectors(&self) -> u64 {
        u64::from(self.disk.blocks()) * (BLOCK_BYTES / SECTOR_BYTES)
    }

    /// Files that exist.
    pub fn existing_files(&self) -> u32 {
        self.set.existing()
    }

    /// The files that exist at the beginning, and the log of those that write into one that is there.
    fn lay_out(&mut self) -> Result<(), JobError> {
        let (pages, warm) = (&mut self.pages, self.config.warm);
        let mut hold = |block, _| {
            if warm {
                pages.hold(block);
            }
        };
        let inodes = self.journal.start;
        (0..inodes).for_each(|block| hold(block, true));
        for _ in 0..self.figures.existing {
            let Some(file) = self.set.create(&mut self.choices) else { break };
            let bytes = self.set.draw_size();
            grow(&mut self.disk, &mut self.set.files[file as usize], bytes, &mut hold)?;
        }
        let log = match self.config.personality {
            Personality::Oltp => self.config.log_size.0,
            _ => 0,
        };
        grow(&mut self.disk, &mut self.log, log, &mut hold)?;
        if self.config.personality == Personality::Oltp {
            let files = self.set.files.iter().map(|file| file.blocks_in_order(&self.disk)).collect();
            self.database = Database { files, log: self.log.blocks_in_order(&self.disk) };
        }
        Ok(())
    }

    fn operate(&mut self) -> Result<(), JobError> {
        let flow = self.config.personality.flow();
        let flowop = flow[self.position.step];
        self.position.step = (self.position.step + 1) % flow.len();
        self.pages.now = self.next_time(flowop);
        match flowop {
            Flowop::Create => self.create(),
            Flowop::Open => self.position.file = self.set.pick(&mut self.choices),
            Flowop::WriteWhole => self.write_whole()?,
            Flowop::ReadWhole => self.read_whole(),
            Flowop::Append => self.append()?,
            Flowop::Sync => self.sync(),
            Flowop::Delete => self.delete(),
            Flowop::Stat => {
                self.operations.stats += 1;
                if let Some(file) = self.set.pick(&mut self.choices) {
                    self.pages.read(file / INODES_PER_BLOCK);
                }
            }
            Flowop::AppendLog => self.append_log()?,
            Flowop::Database => self.work_on_database(),
        }
        self.pages.settle();
        Ok(())
    }

    /// When the next operation is. Opening a file takes no time of its own.
    fn next_time(&mut self, flowop: Flowop) -> Ns {
        if flowop != Flowop::Open {
            self.now_ns += match self.config.rate_ops {
                Some(rate) => self.arrivals.exponential(1e9 / rate),
                None => 1e9 / self.config.nominal_ops,
            };
        }
        Ns(self.now_ns as u64)
    }

    fn create(&mut self) {
        self.position.file = self.set.create(&mut self.choices);
        if let Some(file) = self.position.file {
            self.operations.creates += 1;
            self.touch_inode(file);
        }
    }

    /// A changed inode is written with its block, whenever that goes to the disk.
    fn touch_inode(&mut self, file: u32) {
        self.pages.write(file / INODES_PER_BLOCK, false);
    }

    fn write_whole(&mut self) -> Result<(), JobError> {
        let Some(file) = self.position.file else { return Ok(()) };
        let bytes = self.set.draw_size();
        self.operations.whole_writes += 1;
        self.extend(file, bytes)
    }

    fn append(&mut self) -> Result<(), JobError> {
        let Some(file) = self.position.file else { return Ok(()) };
        let bytes = 1 + self.choices.below(self.figures.append_bytes);
        self.operations.appends += 1;
        self.extend(file, bytes)
    }

    fn extend(&mut self, file: u32, bytes: u64) -> Result<(), JobError> {
        self.operations.written_bytes += bytes;
        let pages = &mut self.pages;
        grow(&mut self.disk, &mut self.set.files[file as usize], bytes, |block, whole| pages.write(block, whole))?;
        self.touch_inode(file);
        Ok(())
    }

    fn append_log(&mut self) -> Result<(), JobError> {
        if self.log.bytes >= self.config.log_size.0 {
            free(&mut self.disk, &mut self.log, &mut self.pages, self.config.discard);
        }
        let bytes = 1 + self.choices.below(self.figures.append_bytes);
        self.operations.appends += 1;
        self.operations.written_bytes += bytes;
        let pages = &mut self.pages;
        grow(&mut self.disk, &mut self.log, bytes, |block, whole| pages.write(block, whole))
    }

    fn read_whole(&mut self) {
        let Some(file) = self.position.file else { return };
        let file = self.set.files[file as usize];
        self.operations.whole_reads += 1;
        self.operations.read_bytes += file.bytes;
        let mut chain = file.chain();
        while let Some(block) = chain.next(&self.disk) {
            self.pages.read(block);
        }
    }

    /// The file's dirty pages go to the disk, then a record of the journal, then a flush.
    fn sync(&mut self) {
        let Some(file) = self.position.file else { return };
        self.operations.syncs += 1;
        let mut chain = self.set.files[file as usize].chain();
        while let Some(block) = chain.next(&self.disk) {
            self.pages.sync(block);
        }
        if !self.journal.is_empty() {
            for _ in 0..JOURNAL_RECORD {
                self.pages.write_past(self.journal_next);
                self.journal_next += 1;
                if self.journal_next == self.journal.end {
                    self.journal_next = self.journal.start;
                }
            }
        }
        self.pages.flush();
    }

    fn delete(&mut self) {
        if let Some(file) = self.set.delete(&mut self.choices) {
            self.operations.deletes += 1;
            free(&mut self.disk, &mut self.set.files[file as usize], &mut self.pages, self.config.discard);
            self.touch_inode(file);
        }
    }

    /// A write of the database writers or of the log where they are due, else a read.
    fn work_on_database(&mut self) {
        if std::mem::take(&mut self.position.log_is_due) {
            self.operations.log_writes += 1;
            self.access_at_random(None, LOG_WRITE_BYTES.min(self.config.log_size.0), true);
        } else if self.position.writes_due > 0 {
            self.position.writes_due -= 1;
            self.operations.random_writes += 1;
            let file = self.set.pick(&mut self.choices);
            self.access_at_random(file, self.figures.io_bytes, true);
        } else {
            self.position.reads += 1;
            self.operations.random_reads += 1;
            self.position.log_is_due = self.position.reads.is_multiple_of(READS_PER_LOG_WRITE);
            if self.position.reads.is_multiple_of(READS_PER_BURST) {
                self.position.writes_due = BURST_WRITES;
            }
            let file = self.set.pick(&mut self.choices);
            self.access_at_random(file, self.figures.io_bytes, false);
        }
    }

    /// Reads, or writes synchronously, at a multiple of `bytes` in a file of the database, of `None` in its log.
    fn access_at_random(&mut self, file: Option<u32>, bytes: u64, write: bool) {
        let (length, blocks) = match file {
            Some(file) => (self.set.files[file as usize].bytes, &self.database.files[file as usize]),
            None => (self.log.bytes, &self.database.log),
        };
        let bytes = bytes.min(length);
        if bytes == 0 {
            return;
        }
        let begin = self.choices.below(length / bytes) * bytes;
        let end = begin + bytes;
        if write {
            self.operations.written_bytes += bytes;
        } else {
            self.operations.read_bytes += bytes;
        }
        for index in begin / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let (block, at) = (blocks[index as usize], index * BLOCK_BYTES);
            if write {
                self.pages.write_through(block, begin <= at && at + BLOCK_BYTES <= end);
            } else {
                self.pages.read(block);
            }
        }
    }
}

/// Adds bytes to the end of a file. `write` is told each block that they reach, and whether nothing older is in it.
fn grow(disk: &mut Disk, file: &mut File, bytes: u64, mut write: impl FnMut(u32, bool)) -> Result<(), JobError> {
    if !file.bytes.is_multiple_of(BLOCK_BYTES)
        && let Some(last) = file.last()
        && bytes > 0
    {
        write(last, false);
    }
    file.bytes += bytes;
    while u64::from(file.blocks) * BLOCK_BYTES < file.bytes {
        let block = disk.grow(file).ok_or_else(|| {
            JobError::new("file_system.disk_size", "the file system is full: give it more room or fewer files")
        })?;
        write(block, true);
    }
    Ok(())
}

/// Frees all blocks of a file; what of it was not written yet never will be.
fn free(disk: &mut Disk, file: &mut File, pages: &mut Pages, discard: bool) {
    while let Some(block) = disk.shrink(file) {
        pages.forget(block, discard);
    }
}

impl Workload for FileSystem {
    fn arrival(&self) -> Arrival {
        if self.config.rate_ops.is_some() { Arrival::Open } else { Arrival::Closed }
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        for _ in 0..QUIET_OPERATIONS_MAX {
            if let Some(request) = self.pages.out.pop_front() {
                let submitted = if self.config.rate_ops.is_some() { request.submitted } else { Ns::ZERO };
                return Ok(Some(Request { submitted, ..request }));
            }
            self.operate().map_err(WorkloadError::new)?;
        }
        let problem = format!("holds everything: {QUIET_OPERATIONS_MAX} operations asked the disk for nothing");
        Err(WorkloadError::new(JobError::new("file_system.page_cache", problem)))
    }
}
