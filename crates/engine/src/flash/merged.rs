//! Units of writes that wait and are merged with what lies on the media, found by their addresses: when such a unit is moved,
//! whoever waits with its content follows, however long the line is.
//!
//! Buckets by the lowest bits of the address, with chains: there are at least as many buckets as units, so that a chain has about
//! one. Who waits, and for what, is not known here.

use ninescope_ftl::Residence;
use ninescope_kernel::{NONE, Slab};
use ninescope_model::Lpa;

#[derive(Clone, Copy, Debug)]
struct Merged {
    lpa: Lpa,
    with: Residence,
    /// The next one of its bucket.
    next: u32,
}

impl Default for Merged {
    fn default() -> Self {
        Self { lpa: Lpa(0), with: Residence::NONE, next: NONE }
    }
}

/// The units, each by the number that it was given.
#[derive(Debug)]
pub(super) struct MergedUnits {
    units: Slab<Merged>,
    /// The first one of each bucket; their number is a power of two.
    buckets: Vec<u32>,
}

impl MergedUnits {
    /// None, with room for so many before it grows.
    pub fn with_capacity(units: usize) -> Self {
        Self { units: Slab::with_capacity(units), buckets: vec![NONE; units.next_power_of_two()] }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    fn bucket(&self, lpa: Lpa) -> usize {
        lpa.0 as usize & (self.buckets.len() - 1)
    }

    /// A unit is merged with what lies there. Returns its number.
    pub fn insert(&mut self, lpa: Lpa, with: Residence) -> u32 {
        if self.units.len() as usize >= self.buckets.len() {
            self.grow();
        }
        let bucket = self.bucket(lpa);
        let unit = self.units.insert(Merged { lpa, with, next: self.buckets[bucket] });
        self.buckets[bucket] = unit;
        unit
    }

    /// What a unit is merged with by now.
    pub fn with(&self, unit: u32) -> Residence {
        self.units[unit].with
    }

    /// It waits no more.
    pub fn remove(&mut self, unit: u32) {
        let Merged { lpa, next, .. } = self.units[unit];
        let bucket = self.bucket(lpa);
        if self.buckets[bucket] == unit {
            self.buckets[bucket] = next;
        } else {
            let mut before = self.buckets[bucket];
            while self.units[before].next != unit {
                before = self.units[before].next;
            }
            self.units[before].next = next;
        }
        self.units.remove(unit);
    }

    /// What lay at one place lies at another.
    #[inline]
    pub fn follow(&mut self, lpa: Lpa, from: Residence, to: Residence) {
        if self.is_empty() {
            return;
        }
        let mut unit = self.buckets[self.bucket(lpa)];
        while unit != NONE {
            let merged = &mut self.units[unit];
            if merged.lpa == lpa && merged.with == from {
                merged.with = to;
            }
            unit = merged.next;
        }
    }

    /// Twice as many buckets.
    fn grow(&mut self) {
        let heads = std::mem::take(&mut self.buckets);
        self.buckets = vec![NONE; 2 * heads.len()];
        for mut unit in heads {
            while unit != NONE {
                let Merged { lpa, next, .. } = self.units[unit];
                let bucket = self.bucket(lpa);
                self.units[unit].next = std::mem::replace(&mut self.buckets[bucket], unit);
                unit = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ninescope_kernel::mixed;
    use ninescope_model::Ppa;

    use super::*;

    fn at(place: u64) -> Residence {
        Residence { place: Ppa(place as u32), ..Residence::NONE }
    }

    /// Beside a table that is searched from end to end: whoever is merged with what moves follows, and nobody else.
    #[test]
    fn whoever_is_merged_with_what_moves_follows() {
        let (mut merged, mut naive) = (MergedUnits::with_capacity(2), BTreeMap::new());
        let (mut followed, mut largest) = (0, 0);
        for turn in 0..20_000 {
            let drawn = mixed(turn);
            // Few addresses and places, so that several wait for one, and many buckets more than addresses at times.
            let (lpa, from, to) = (Lpa((drawn >> 8 & 63) as u32), at(drawn >> 16 & 3), at(drawn >> 24 & 3));
            match drawn & 7 {
                0..3 => {
                    let unit = merged.insert(lpa, from);
                    assert!(naive.insert(unit, (lpa, from)).is_none(), "the number is of another one, too");
                }
                3..5 => {
                    if let Some(&unit) = naive.keys().nth(drawn as usize >> 32 & 15) {
                        merged.remove(unit);
                        naive.remove(&unit);
                    }
                }
                _ => {
                    merged.follow(lpa, from, to);
                    for (_, with) in naive.values_mut().filter(|(unit, with)| (*unit, *with) == (lpa, from)) {
                        *with = to;
                        followed += 1;
                    }
                }
            }
            largest = largest.max(naive.len());
            assert_eq!(merged.is_empty(), naive.is_empty());
        }
        assert!(naive.iter().all(|(&unit, &(_, with))| merged.with(unit) == with));
        assert!(followed > 1_000 && largest > 100, "{followed} followed, {largest} at once");
    }
}
