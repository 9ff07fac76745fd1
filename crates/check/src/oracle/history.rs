//! Which versions a read may return: linearizability of every sector, judged as the run goes on.
//!
//! Every sector is a register whose writes have distinct versions. For such a register a history is
//! linearizable if and only if every version is read after it was written, and no two versions `v`, `w` of it
//! have `f(v) < s(w)` and `f(w) < s(v)`, where `f` is the first completion and `s` the last invocation
//! among the write of a version and its reads (Gibbons and Korach, "Testing Shared Memories", 1997, section 4:
//! forward zones do not overlap, and none contains a backward zone). Invocations and completions are numbered
//! in one order, so ties of simulated time do not matter.
//!
//! A version that no command still inside could return any more is forgotten; a read that returns it is
//! in breach.

use ninescope_kernel::{NONE, Slab};
use ninescope_model::Lpa;

use super::content::Version;

/// A version that some sectors of a unit hold or held.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Sectors.
    mask: u32,
    version: Version,
    /// `f`: [`u64::MAX`] until the write or a read of it completes.
    first_completion: u64,
    /// `s`.
    last_invocation: u64,
    next: u32,
}

impl Default for Entry {
    fn default() -> Self {
        Self { mask: 0, version: 0, first_completion: 0, last_invocation: 0, next: NONE }
    }
}

/// A breach: this version cannot have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Sectors of the unit.
    pub mask: u32,
    /// The version that excludes it; `None` when it was superseded for good, or never written.
    pub excluded_by: Option<Version>,
}

/// The versions in play of every unit.
#[derive(Debug)]
pub struct History {
    /// By unit, [`NONE`] while it was never written since the start: it holds its initial version alone.
    heads: Vec<u32>,
    entries: Slab<Entry>,
    all_sectors: u32,
}

impl History {
    /// Units of `sectors` sectors that hold their initial versions.
    pub fn new(units: u32, sectors: u32) -> Self {
        let all_sectors = if sectors == 32 { u32::MAX } else { (1 << sectors) - 1 };
        Self { heads: vec![NONE; units as usize], entries: Slab::with_capacity(0), all_sectors }
    }

    /// The mask of a whole unit.
    pub fn all_sectors(&self) -> u32 {
        self.all_sectors
    }

    fn push(&mut self, lpa: Lpa, entry: Entry) {
        let next = self.heads[lpa.index()];
        self.heads[lpa.index()] = self.entries.insert(Entry { next, ..entry });
    }

    /// Sectors of a unit got a version by a command invoked at `invocation`, which has not completed.
    /// `initial` is what the unit held at the start.
    pub fn written(&mut self, lpa: Lpa, mask: u32, version: Version, invocation: u64, initial: Version) {
        if self.heads[lpa.index()] == NONE {
            self.push(lpa, Entry { mask: self.all_sectors, version: initial, ..Entry::default() });
        }
        self.push(lpa, Entry { mask, version, first_completion: u64::MAX, last_invocation: invocation, next: NONE });
    }

    /// The command that wrote `version` completed.
    pub fn write_completed(&mut self, lpa: Lpa, version: Version, completion: u64, oldest_invocation: u64) {
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let entry = &mut self.entries[index];
            if entry.version == version {
                entry.first_completion = entry.first_completion.min(completion);
            }
            index = entry.next;
        }
        self.forget(lpa, oldest_invocation);
    }

    /// A read invoked at `invocation` and completed at `completion` returned `version` for the sectors of `mask`.
    ///
    /// # Errors
    /// When no order of the commands explains it.
    pub fn read(
        &mut self,
        lpa: Lpa,
        mask: u32,
        version: Version,
        (invocation, completion): (u64, u64),
        initial: Version,
        oldest_invocation: u64,
    ) -> Result<(), Stale> {
        if self.heads[lpa.index()] == NONE {
            return if version == initial { Ok(()) } else { Err(Stale { mask, excluded_by: None }) };
        }
        let mut left = mask;
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let entry = self.entries[index];
            let covered = entry.mask & mask;
            if entry.version == version && covered != 0 {
                left &= !covered;
                self.split(lpa, index, covered);
                let entry = &mut self.entries[index];
                entry.first_completion = entry.first_completion.min(completion);
                entry.last_invocation = entry.last_invocation.max(invocation);
                let entry = *entry;
                self.check_against_others(lpa, &entry)?;
            }
            index = entry.next;
        }
        if left != 0 {
            return Err(Stale { mask: left, excluded_by: None });
        }
        self.forget(lpa, oldest_invocation);
        Ok(())
    }

    /// Cuts the sectors outside of `kept` off an entry.
    fn split(&mut self, lpa: Lpa, index: u32, kept: u32) {
        let entry = self.entries[index];
        if entry.mask != kept {
            self.push(lpa, Entry { mask: entry.mask & !kept, ..entry });
            self.entries[index].mask = kept;
        }
    }

    fn check_against_others(&self, lpa: Lpa, entry: &Entry) -> Result<(), Stale> {
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let other = &self.entries[index];
            let shared = other.mask & entry.mask;
            if other.version != entry.version
                && shared != 0
                && other.first_completion < entry.last_invocation
                && entry.first_completion < other.last_invocation
            {
                return Err(Stale { mask: shared, excluded_by: Some(other.version) });
            }
            index = other.next;
        }
        Ok(())
    }

    /// Forgets versions that no command inside or to come can return without a breach.
    fn forget(&mut self, lpa: Lpa, oldest_invocation: u64) {
        let mut previous = NONE;
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let entry = self.entries[index];
            let mask = entry.mask & !self.superseded(lpa, &entry, oldest_invocation);
            self.entries[index].mask = mask;
            if mask != 0 {
                previous = index;
            } else {
                if previous == NONE {
                    self.heads[lpa.index()] = entry.next;
                } else {
                    self.entries[previous].next = entry.next;
                }
                self.entries.remove(index);
            }
            index = entry.next;
        }
    }

    /// Sectors of an entry for which every read still to complete is invoked too late.
    fn superseded(&self, lpa: Lpa, entry: &Entry, oldest_invocation: u64) -> u32 {
        let mut superseded = 0;
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let other = &self.entries[index];
            if other.version != entry.version
                && entry.first_completion < other.last_invocation
                && other.first_completion < oldest_invocation
            {
                superseded |= other.mask;
            }
            index = other.next;
        }
        superseded
    }

    /// Whether a version of a unit has not completed and not been read yet.
    pub fn is_open(&self, lpa: Lpa, except: Version) -> bool {
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            let entry = &self.entries[index];
            if entry.first_completion == u64::MAX && entry.version != except {
                return true;
            }
            index = entry.next;
        }
        false
    }

    #[cfg(test)]
    /// Versions kept of a unit, its initial one not counted while it is the only one.
    pub fn versions_kept(&self, lpa: Lpa) -> usize {
        let mut count = 0;
        let mut index = self.heads[lpa.index()];
        while index != NONE {
            count += 1;
            index = self.entries[index].next;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_kernel::RandomStream;

    const INITIAL: Version = 0;

    /// One command of a history: it writes `version`, or it is a read that returned it.
    #[derive(Clone, Copy, Debug)]
    struct Command {
        writes: bool,
        version: Version,
        invocation: u64,
        completion: u64,
    }

    /// Whether some order of the commands that respects time explains every read: by trying all of them.
    fn has_an_order(left: &[Command], value: Version) -> bool {
        if left.is_empty() {
            return true;
        }
        let first_completion = left.iter().map(|command| command.completion).min().unwrap_or(0);
        (0..left.len()).any(|index| {
            let command = left[index];
            // It may come next if nothing else had completed before it was invoked.
            let may_come = command.invocation < first_completion && (command.writes || command.version == value);
            let mut rest = left.to_vec();
            rest.remove(index);
            may_come && has_an_order(&rest, if command.writes { command.version } else { value })
        })
    }

    /// What the history says when it hears of the commands as a run goes on.
    fn judged(commands: &[Command]) -> bool {
        let mut history = History::new(1, 1);
        let end = commands.iter().map(|command| command.completion).max().unwrap_or(0);
        for order in 0..=end {
            for command in commands {
                if command.writes && command.invocation == order {
                    history.written(Lpa(0), 1, command.version, order, INITIAL);
                }
                if command.completion != order {
                    continue;
                }
                // Those inside, and the one that is being judged.
                let inside = commands.iter().filter(|other| other.invocation <= order && other.completion >= order);
                let oldest = inside.map(|other| other.invocation).min().unwrap_or(u64::MAX);
                if command.writes {
                    history.write_completed(Lpa(0), command.version, order, oldest);
                } else {
                    let span = (command.invocation, order);
                    if history.read(Lpa(0), 1, command.version, span, INITIAL, oldest).is_err() {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// A history of `count` commands with distinct invocations and completions, at random; order 0 is the start.
    fn random_history(stream: &mut RandomStream, count: usize) -> Vec<Command> {
        let mut moments: Vec<u64> = (1..=2 * count as u64).collect();
        let mut take = |stream: &mut RandomStream| moments.swap_remove(stream.below(moments.len() as u64) as usize);
        (0..count)
            .map(|index| {
                let (one, other) = (take(stream), take(stream));
                let writes = stream.below(2) == 0;
                let version = if writes { index as Version + 1 } else { stream.below(count as u64 + 1) as Version };
                Command { writes, version, invocation: one.min(other), completion: one.max(other) }
            })
            .collect()
    }

    #[test]
    fn it_accepts_exactly_the_histories_that_some_order_explains() {
        let mut stream = RandomStream::new(1, "tests", "histories");
        let (mut explained, mut breaches) = (0, 0);
        while explained < 3_000 || breaches < 3_000 {
            let count = 2 + stream.below(5) as usize;
            let history = random_history(&mut stream, count);
            // Reads of versions that nobody writes are breaches at once; keep to the interesting ones.
            let written =
                |version| version == INITIAL || history.iter().any(|other| other.writes && other.version == version);
            if !history.iter().all(|command| written(command.version)) {
                continue;
            }
            let explains = has_an_order(&history, INITIAL);
            assert_eq!(judged(&history), explains, "{history:?}");
            *(if explains { &mut explained } else { &mut breaches }) += 1;
        }
    }

    #[test]
    fn versions_that_nobody_can_return_are_forgotten() {
        let mut history = History::new(1, 8);
        for round in 0..100 {
            let (version, begin) = (round + 1, u64::from(round) * 2 + 1);
            history.written(Lpa(0), 0xff, version, begin, INITIAL);
            history.write_completed(Lpa(0), version, begin + 1, u64::MAX);
        }
        assert_eq!(history.versions_kept(Lpa(0)), 1);
        assert!(history.read(Lpa(0), 0xff, 100, (300, 301), INITIAL, u64::MAX).is_ok());
        let stale = history.read(Lpa(0), 0x0f, 99, (302, 303), INITIAL, u64::MAX);
        assert_eq!(stale, Err(Stale { mask: 0x0f, excluded_by: None }));
    }

    #[test]
    fn sectors_of_a_unit_are_judged_one_by_one() {
        let mut history = History::new(1, 8);
        history.written(Lpa(0), 0x0f, 1, 1, INITIAL);
        history.write_completed(Lpa(0), 1, 2, u64::MAX);
        assert!(history.read(Lpa(0), 0x0f, 1, (3, 4), INITIAL, u64::MAX).is_ok());
        assert!(history.read(Lpa(0), 0xf0, INITIAL, (5, 6), INITIAL, u64::MAX).is_ok());
        let stale = history.read(Lpa(0), 0xff, INITIAL, (7, 8), INITIAL, u64::MAX);
        assert_eq!(stale, Err(Stale { mask: 0x0f, excluded_by: None }));
    }
}
