//! How many attempts reads took, by the age of what they read and by wear: counted by what the decoders said.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_engine::reliability::read_ages::ReadsOfClass;
use ninescope_kernel::Ns;
use ninescope_model::Ppa;

use crate::reliability::rates::Since;
use crate::reliability::reliability;
use crate::rule::{Checked, require};
use crate::stripes::group_of;

/// Where a class of age ends [s]; the last one goes on.
const SECONDS: [u64; 11] = [
    1,
    60,
    3_600,
    86_400,
    7 * 86_400,
    30 * 86_400,
    90 * 86_400,
    180 * 86_400,
    365 * 86_400,
    3 * 365 * 86_400,
    10 * 365 * 86_400,
];
/// Where one of wear does [count].
const CYCLES: [u64; 11] = [1, 10, 100, 300, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000];

/// The age of what a page holds, where it is as warm as ages are told, and the wear of its block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    age: Ns,
    cycles: u32,
}

impl Life {
    /// Of a page as it is now.
    pub(in crate::reliability) fn of(view: &View<'_>, ppa: Ppa, since: Since) -> Self {
        let part = reliability(view);
        let group = group_of(view.ftl.geometry(), ppa);
        let (by_clock, ageing) = part.age_at_start();
        let aged = |time: Ns| ageing.map_or(time, |ageing| Ns((time.0 as f64 * ageing.factor) as u64));
        let age = match since {
            Since::TheStart => Ns(ageing.map_or(by_clock, |ageing| ageing.initial).0.saturating_add(aged(view.now).0)),
            Since::Then(programmed) => aged(view.now - programmed),
        };
        Self { age, cycles: part.initial_cycles().saturating_add(view.ftl.group(group).erase_count) }
    }
}

/// Of a class: its reads by attempts, those that did not decode, and the sum of their ages or cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Class {
    attempts: BTreeMap<u32, u64>,
    undecoded: u64,
    sum: u128,
}

/// Reads since measuring began, by the numbers of classes of age and of wear.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    by_age: BTreeMap<usize, Class>,
    by_wear: BTreeMap<usize, Class>,
}

impl Ages {
    /// A read that is not repeated went through its decoder.
    pub fn count(&mut self, life: Life, attempts: u32, decoded: bool) {
        let of_age = SECONDS.iter().filter(|&&end| life.age.0 / 1_000_000_000 >= end).count();
        let of_wear = CYCLES.iter().filter(|&&end| u64::from(life.cycles) >= end).count();
        for (classes, class, of) in
            [(&mut self.by_age, of_age, u128::from(life.age.0)), (&mut self.by_wear, of_wear, u128::from(life.cycles))]
        {
            let class = classes.entry(class).or_default();
            *class.attempts.entry(attempts).or_default() += 1;
            class.undecoded += u64::from(!decoded);
            class.sum += of;
        }
    }

    /// The drive counted the same.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let said = reliability(view).reads_by_age();
        for (what, own, said) in [("age", &self.by_age, &said.by_age), ("wear", &self.by_wear, &said.by_wear)] {
            for (number, said) in said.iter().enumerate() {
                let (own, said) = (own.get(&number).cloned().unwrap_or_default(), as_told(said));
                require!(
                    own == said,
                    Ledger,
                    view.now,
                    "reads of class {number} of {what} are told to be {said:?}, seen were {own:?}"
                );
            }
        }
        Ok(())
    }
}

fn as_told(class: &ReadsOfClass) -> Class {
    let attempts = (0..).zip(class.by_attempts).filter(|&(_, reads)| reads > 0).collect();
    Class { attempts, undecoded: class.undecoded, sum: class.sum }
}
