//! How old the data of each block group is, and its raw bit error rate as it ages and is read.
//!
//! Asking the error model takes powers and logarithms. A group's answer is kept until its reads or the age of its data
//! have grown by a 64th, so that the model is asked some hundred times in the life of a group's data, whatever the load.

use ninescope_ecc::RberLevel;
use ninescope_kernel::Ns;
use ninescope_media::health::{ErrorModel, Health};
use ninescope_model::BlockGroup;

/// By how much reads or age grow before the model is asked anew: a 64th.
const GROWTH_SHIFT: u32 = 6;
/// No model tells ages apart that differ by less: 1 ms.
const AGE_STEP: u64 = 1_000_000;

/// How fast data ages where that is not what the clock says, because ages are told at another temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ageing {
    /// How old data is that was there at the start, at that temperature [ns].
    pub initial: Ns,
    /// By how much an hour of the run ages data: 2 for two hours.
    pub factor: f64,
}

/// When the data of each group was programmed.
#[derive(Debug)]
pub struct GroupAges {
    /// Of data that was there at the start: none.
    programmed: Vec<Option<Ns>>,
    /// How old data was at the start [ns].
    initial: Ns,
    /// None: as the clock says.
    ageing: Option<Ageing>,
}

impl GroupAges {
    /// Groups whose data is `initial` old at the start by the clock; how fast it ages, where that is another matter.
    pub fn new(groups: u32, initial: Ns, ageing: Option<Ageing>) -> Self {
        Self { programmed: vec![None; groups as usize], initial, ageing }
    }

    /// How old data was at the start by the clock, and how fast data ages.
    pub fn at_start(&self) -> (Ns, Option<Ageing>) {
        (self.initial, self.ageing)
    }

    /// How old the oldest data of a group is by the clock.
    pub fn age(&self, group: BlockGroup, now: Ns) -> Ns {
        match self.programmed[group.index()] {
            Some(programmed) => now - programmed,
            None => now + self.initial,
        }
    }

    /// How old the oldest data of a group is at the temperature at which ages are told.
    pub fn retention(&self, group: BlockGroup, now: Ns) -> Ns {
        let Some(Ageing { initial, factor }) = self.ageing else { return self.age(group, now) };
        match self.programmed[group.index()] {
            Some(programmed) => scaled(now - programmed, factor),
            None => Ns(initial.0.saturating_add(scaled(now, factor).0)),
        }
    }

    /// When the oldest data of a group will be older by a 64th, or by what no model tells apart.
    pub fn grows_until(&self, group: BlockGroup, now: Ns) -> Ns {
        let growth = Ns((self.retention(group, now).0 >> GROWTH_SHIFT).max(AGE_STEP));
        let takes = self.ageing.map_or(growth, |ageing| scaled(growth, 1.0 / ageing.factor));
        Ns(now.0.saturating_add(takes.0))
    }

    /// The first page of a group was programmed.
    pub fn programmed(&mut self, group: BlockGroup, now: Ns) {
        self.programmed[group.index()] = Some(now);
    }
}

/// A time that is so many times as long, as far as there are times.
fn scaled(time: Ns, factor: f64) -> Ns {
    Ns((time.0 as f64 * factor) as u64)
}

/// A group's answer and how long it holds.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Raw bit error rate.
    rber: f64,
    /// The same as a level of each code.
    levels: [Option<RberLevel>; 2],
    /// Page reads since the erase from which on it is asked anew [count].
    until_reads: u32,
    /// Suspensions of the last erase beyond what it bears [count].
    suspensions: u32,
    /// When the age has grown so far [ns].
    until: Ns,
}

/// The raw bit error rate of each group.
#[derive(Debug)]
pub struct GroupHealth {
    model: Box<dyn ErrorModel>,
    groups: Vec<Group>,
    /// By code, where the rate never changes and no group was suspended too often.
    always: Option<[Option<RberLevel>; 2]>,
}

impl GroupHealth {
    /// Groups whose last erase was not suspended too often.
    pub fn new(model: Box<dyn ErrorModel>, groups: u32) -> Self {
        Self { model, groups: vec![Group::default(); groups as usize], always: None }
    }

    /// The model.
    pub fn model(&self) -> &dyn ErrorModel {
        self.model.as_ref()
    }

    /// The rate is the same whatever the groups go through: these are its levels, by code.
    pub fn never_changes(&mut self, levels: [Option<RberLevel>; 2]) {
        self.always = Some(levels);
    }

    /// The levels of every group, by code, if they are all the same.
    #[inline]
    pub fn always(&self) -> Option<[Option<RberLevel>; 2]> {
        self.always
    }

    /// What was known of a group is void: its data is new.
    pub fn forget(&mut self, group: BlockGroup) {
        self.groups[group.index()].until_reads = 0;
    }

    /// A group was erased, with so many suspensions more than it bears.
    pub fn erased(&mut self, group: BlockGroup, suspensions: u32) {
        self.groups[group.index()] = Group { suspensions, ..Group::default() };
        if suspensions > 0 {
            self.always = None;
        }
    }

    /// The levels of a group, by code, as they were last asked for; `None` if they must be asked for anew.
    #[inline]
    pub fn levels(&self, group: BlockGroup, now: Ns, reads: u32) -> Option<[Option<RberLevel>; 2]> {
        self.kept(group, now, reads).map(|kept| kept.levels)
    }

    /// The same as a rate.
    pub fn kept_rber(&self, group: BlockGroup, now: Ns, reads: u32) -> Option<f64> {
        self.kept(group, now, reads).map(|kept| kept.rber)
    }

    #[inline]
    fn kept(&self, group: BlockGroup, now: Ns, reads: u32) -> Option<&Group> {
        let group = &self.groups[group.index()];
        (reads < group.until_reads && now < group.until).then_some(group)
    }

    /// Suspensions of a group's last erase beyond what it bears [count].
    pub fn suspensions(&self, group: BlockGroup) -> u32 {
        self.groups[group.index()].suspensions
    }

    /// The raw bit error rate of a group.
    pub fn rber(&self, group: BlockGroup, retention: Ns, reads: u32, cycles: u32) -> f64 {
        let suspensions = self.groups[group.index()].suspensions;
        self.model.rber(&Health { cycles, retention, reads, suspensions, verify_cycles: 0 })
    }

    /// Keeps the rate of a group and its levels until its reads have grown by a 64th, or until a time.
    pub fn keep(&mut self, group: BlockGroup, until: Ns, reads: u32, (rber, levels): (f64, [Option<RberLevel>; 2])) {
        let group = &mut self.groups[group.index()];
        group.rber = rber;
        group.levels = levels;
        group.until_reads = reads.saturating_add((reads >> GROWTH_SHIFT) + 1);
        group.until = until;
    }
}
