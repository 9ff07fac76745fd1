//! By the time that data will live, as it is inferred from the time that it lived before (Wang, Li, Lee et al., "Separating Data
//! via Block Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage", FAST 2022, algorithm 1).
//!
//! Time is counted in units written. What replaces data that lived for less than a threshold is expected to be short-lived too, and
//! has a class of its own; the rest of what is written has another. What is moved out of the class of the short-lived has a class;
//! what else is moved has three, by its age: under 4 thresholds, under 16, beyond. The threshold is how long the last sixteen
//! collected groups of the short-lived had been there.

use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold, zeroed};
use ninescope_model::{BlockGroup, Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written};

/// Groups of the short-lived class whose lives a threshold is the mean of (`n_c` is 16 in the paper).
const GROUPS_OF_A_THRESHOLD: u32 = 16;
/// Ages in thresholds at which what is moved changes classes.
const AGES: [u64; 2] = [4, 16];

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sepbit {}

impl StreamChoiceParameters for Sepbit {
    fn build(&self, units: u32, groups: u32) -> Box<dyn StreamChoice> {
        Box::new(ByLifetime {
            now: 0,
            threshold: None,
            seen: 0,
            lived: 0,
            written_at: zeroed(units as usize),
            opened_at: vec![0; groups as usize],
        })
    }
}

/// What is known of lives.
#[derive(Debug)]
struct ByLifetime {
    /// Units written so far, modulo 2^32.
    now: u32,
    /// How long the short-lived live [units written]; none before sixteen groups of them were collected: for ever.
    threshold: Option<u64>,
    /// Of the next threshold: groups seen, and how long all of them had been there.
    seen: u32,
    lived: u64,
    /// By unit: when it was written last.
    written_at: Vec<u32>,
    /// By group: when the short-lived class opened it last.
    opened_at: Vec<u32>,
}

/// Of writes: what is expected to be short-lived.
const SHORT: u32 = 0;
/// Of writes: the rest.
const LONG: u32 = 1;

impl ByLifetime {
    fn age(&self, since: u32) -> u64 {
        u64::from(self.now.wrapping_sub(since))
    }
}

impl StreamChoice for ByLifetime {
    fn kinds_of_writes(&self) -> u32 {
        2
    }

    fn kinds_of_moves(&self) -> u32 {
        4
    }

    fn remembers(&self) -> bool {
        true
    }

    fn of_write(&self, unit: &Written) -> u32 {
        let lived = unit.before.map(|_| self.age(self.written_at[unit.lpa.index()]));
        let short = lived.is_some_and(|lived| self.threshold.is_none_or(|threshold| lived < threshold));
        if short { SHORT } else { LONG }
    }

    fn of_move(&self, lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        if from == Stream::of_writes(SHORT) {
            return 0;
        }
        let age = self.age(self.written_at[lpa.index()]);
        let older = |&times: &u64| self.threshold.is_some_and(|threshold| age >= times * threshold);
        1 + AGES.iter().filter(|times| older(times)).count() as u32
    }

    fn written(&mut self, lpa: Lpa, _kind: u32) {
        self.written_at[lpa.index()] = self.now;
        self.now = self.now.wrapping_add(1);
    }

    fn opened(&mut self, group: BlockGroup, by: Stream) {
        if by == Stream::of_writes(SHORT) {
            self.opened_at[group.index()] = self.now;
        }
    }

    fn erased(&mut self, group: BlockGroup, of: Stream) {
        if of != Stream::of_writes(SHORT) {
            return;
        }
        self.seen += 1;
        self.lived += self.age(self.opened_at[group.index()]);
        if self.seen == GROUPS_OF_A_THRESHOLD {
            self.threshold = Some(self.lived / u64::from(GROUPS_OF_A_THRESHOLD));
            (self.seen, self.lived) = (0, 0);
        }
    }
}

impl Snapshot for ByLifetime {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u32(self.now)?;
        to.u64(self.threshold.unwrap_or(u64::MAX))?;
        to.u32(self.seen)?;
        to.u64(self.lived)?;
        to.column(self.written_at.iter().copied())?;
        to.column(self.opened_at.iter().copied())
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.now = from.u32()?;
        let threshold = from.u64()?;
        self.threshold = (threshold != u64::MAX).then_some(threshold);
        (self.seen, self.lived) = (from.u32()?, from.u64()?);
        must_hold(self.seen < GROUPS_OF_A_THRESHOLD && self.lived <= u64::from(self.seen) << u32::BITS, || {
            format!("{} groups lived for {} units written", self.seen, self.lived)
        })?;
        must_hold(self.threshold.is_none_or(|threshold| u32::try_from(threshold).is_ok()), || {
            "lives are longer than can be counted".to_owned()
        })?;
        from.column(&mut self.written_at, |at| at)?;
        from.column(&mut self.opened_at, |at| at)
    }
}
