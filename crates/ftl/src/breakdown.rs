//! What breaks: which blocks are bad from the start, how many cycles each bears, which programs and erases fail.
//!
//! All of it is drawn, from streams of its own. What becomes of a block that broke is not known here.

use ninescope_kernel::{RandomStream, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::{BlockGroup, Geometry};
use serde::{Deserialize, Serialize};

use crate::policies::WearOutConfig;

/// How often blocks break.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakdownConfig {
    /// How many cycles a block bears; none: any number.
    pub wear_out: Option<WearOutConfig>,
    /// The chance that the program of a page fails in a block that is new.
    pub program_failures: f64,
    /// The same of the erase of a block.
    pub erase_failures: f64,
    /// By how much either grows in so many cycles; 1: they stay.
    pub rise: f64,
    /// These cycles [cycles].
    pub rise_cycles: u32,
    /// The share of blocks that are bad from the start.
    pub factory_bad_blocks: f64,
    /// Cycles that every block had behind it when the drive was made [cycles].
    pub initial_cycles: u32,
}

impl BreakdownConfig {
    /// Whether blocks break in use: then a group is wanted that nobody counted on, for what a program was to write, or in place of one
    /// that was to be free after its erase.
    pub fn breaks_in_use(&self) -> bool {
        self.wear_out.is_some() || self.program_failures + self.erase_failures > 0.0
    }
}

/// Why a group is not used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// An erase of it failed.
    Erase,
    /// One of its blocks has had as many cycles as it bears.
    WornOut,
}

/// The draws.
#[derive(Debug)]
pub struct Breakdown {
    config: BreakdownConfig,
    /// Blocks of a group.
    blocks: u32,
    /// By group: erases after which one of its blocks is worn out.
    endurance: Vec<u32>,
    programs: RandomStream,
    erases: RandomStream,
}

impl Breakdown {
    /// Blocks of this drive, each of which draws what it bears.
    pub fn new(config: &BreakdownConfig, geometry: &Geometry, seed: u64) -> Self {
        let blocks = geometry.frontier_planes;
        let mut stream = RandomStream::new(seed, "ftl", "endurance");
        let endurance = config.wear_out.as_ref().map_or_else(Vec::new, |law| {
            let group = |_| {
                let weakest = (0..blocks).map(|_| law.chosen().draw(&mut stream)).fold(f64::INFINITY, f64::min);
                // A cycle is used or is not; what it had behind it is counted.
                (weakest.max(0.0) as u32).saturating_sub(config.initial_cycles)
            };
            (0..geometry.groups()).map(group).collect()
        });
        Self {
            config: config.clone(),
            blocks,
            endurance,
            programs: RandomStream::new(seed, "ftl", "program failures"),
            erases: RandomStream::new(seed, "ftl", "erase failures"),
        }
    }

    /// The groups that hold a block that is bad from the start.
    pub fn bad_from_the_start(config: &BreakdownConfig, geometry: &Geometry, seed: u64) -> Vec<BlockGroup> {
        if config.factory_bad_blocks == 0.0 {
            return Vec::new();
        }
        let mut stream = RandomStream::new(seed, "ftl", "factory bad blocks");
        let mut is_bad = |_: &BlockGroup| {
            // Each block draws, whatever the others of its group did.
            (0..geometry.frontier_planes).fold(false, |bad, _| (stream.unit() < config.factory_bad_blocks) | bad)
        };
        (0..geometry.groups()).map(BlockGroup).filter(&mut is_bad).collect()
    }

    /// Erases after which a group is worn out; none where it never is.
    pub fn endurance(&self, group: BlockGroup) -> Option<u32> {
        self.endurance.get(group.index()).copied()
    }

    /// A chance that rises with wear.
    fn chance(&self, of_new: f64, erases: u32) -> f64 {
        if of_new == 0.0 || self.config.rise <= 1.0 {
            return of_new;
        }
        let cycles = f64::from(erases) + f64::from(self.config.initial_cycles);
        of_new * libm::pow(self.config.rise, cycles / f64::from(self.config.rise_cycles))
    }

    /// Whether the program of a page fails, in a group that was erased so often.
    pub fn program_fails(&mut self, erases: u32) -> bool {
        let chance = self.chance(self.config.program_failures, erases);
        chance > 0.0 && self.programs.unit() < chance
    }

    /// What broke with an erase that has ended, the one that makes `erases`; none where nothing did.
    pub fn erase_breaks(&mut self, group: BlockGroup, erases: u32) -> Option<Broken> {
        if self.endurance(group).is_some_and(|bears| erases >= bears) {
            return Some(Broken::WornOut);
        }
        let chance = self.chance(self.config.erase_failures, erases - 1);
        if chance == 0.0 {
            return None;
        }
        let failed = (0..self.blocks).fold(false, |failed, _| (self.erases.unit() < chance) | failed);
        failed.then_some(Broken::Erase)
    }
}

/// What blocks bear follows from the seed.
impl Snapshot for Breakdown {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.programs.save(to)?;
        self.erases.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.programs.load(from)?;
        self.erases.load(from)
    }
}
