//! The raw bit error rate of each block group, as its data ages and is read.
//!
//! Asking the error model takes powers and logarithms. A group's answer is kept until its reads or the age of its data
//! have grown by a 64th, so that the model is asked some hundred times in the life of a group's data, whatever the load.

use ninescope_ecc::RberLevel;
use ninescope_kernel::Ns;
use ninescope_media::health::{ErrorModel, Health};
use ninescope_model::BlockGroup;

/// A group's answer and how long it holds.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// By code.
    levels: [Option<RberLevel>; 2],
    /// Page reads since the erase from which on it is asked anew [count].
    until_reads: u32,
    /// Suspensions of the last erase beyond what it bears [count].
    suspensions: u32,
    /// When the age has grown so far [ns].
    until: Ns,
    /// When the group's data was programmed, of data that was there at the start the start [ns].
    programmed: Ns,
    /// How old it was then [ns].
    age: Ns,
}

/// What is known of the flash whose bits fail.
#[derive(Debug)]
pub struct GroupHealth {
    model: Box<dyn ErrorModel>,
    groups: Vec<Group>,
}

/// By how much reads or age grow before the model is asked anew: a 64th.
const GROWTH_SHIFT: u32 = 6;

impl GroupHealth {
    /// Groups whose data is `initial_age` old at the start.
    pub fn new(model: Box<dyn ErrorModel>, groups: u32, initial_age: Ns) -> Self {
        let group = Group {
            levels: [None; 2],
            until_reads: 0,
            suspensions: 0,
            until: Ns::ZERO,
            programmed: Ns::ZERO,
            age: initial_age,
        };
        Self { model, groups: vec![group; groups as usize] }
    }

    /// How old the data of a group is.
    pub fn age(&self, group: BlockGroup, now: Ns) -> Ns {
        let group = &self.groups[group.index()];
        group.age + now.saturating_since(group.programmed)
    }

    /// The first page of a group was programmed.
    pub fn programmed(&mut self, group: BlockGroup, now: Ns) {
        let group = &mut self.groups[group.index()];
        (group.programmed, group.age, group.until_reads) = (now, Ns::ZERO, 0);
    }

    /// A group was erased, with so many suspensions more than it bears.
    pub fn erased(&mut self, group: BlockGroup, now: Ns, suspensions: u32) {
        let group = &mut self.groups[group.index()];
        (group.programmed, group.age, group.until_reads, group.suspensions) = (now, Ns::ZERO, 0, suspensions);
    }

    /// The levels of a group, by code, as they were last asked for; `None` if they must be asked for anew.
    #[inline]
    pub fn levels(&self, group: BlockGroup, now: Ns, reads: u32) -> Option<[Option<RberLevel>; 2]> {
        let group = &self.groups[group.index()];
        (reads < group.until_reads && now < group.until).then_some(group.levels)
    }

    /// The RBER of a group now.
    pub fn rber(&self, group: BlockGroup, now: Ns, reads: u32, cycles: u32) -> f64 {
        let suspensions = self.groups[group.index()].suspensions;
        let retention = self.age(group, now);
        self.model.rber(&Health { cycles, retention, reads, suspensions, verify_cycles: 0 })
    }

    /// Keeps the levels of a group.
    pub fn keep(&mut self, group: BlockGroup, now: Ns, reads: u32, levels: [Option<RberLevel>; 2]) {
        let age = self.age(group, now);
        let group = &mut self.groups[group.index()];
        group.levels = levels;
        group.until_reads = reads.saturating_add((reads >> GROWTH_SHIFT) + 1);
        group.until = Ns(now.0.saturating_add((age.0 >> GROWTH_SHIFT).max(1)));
    }
}
