//! How long commands and page accesses were in DRAM, and whom they waited for there where several tenants share the drive.
//!
//! Knows nothing of what they are but their numbers.

use std::collections::VecDeque;

use ninescope_kernel::Ns;

/// Times by number.
#[derive(Debug)]
pub(super) struct Spent {
    /// Holders that waits are told apart by; 1: they are not.
    holders: usize,
    times: Vec<Ns>,
    /// By number and holder: of the time, what was behind that one [ns].
    behind: Vec<u64>,
}

impl Spent {
    pub fn new(holders: usize) -> Self {
        Self { holders, times: Vec::new(), behind: Vec::new() }
    }

    fn make_room(&mut self, index: u32) {
        let count = index as usize + 1;
        if self.times.len() < count {
            self.times.resize(count, Ns::ZERO);
            if self.holders > 1 {
                self.behind.resize(count * self.holders, 0);
            }
        }
    }

    /// Nothing yet.
    pub fn forget(&mut self, index: u32) {
        self.make_room(index);
        self.times[index as usize] = Ns::ZERO;
        if self.holders > 1 {
            self.behind[index as usize * self.holders..][..self.holders].fill(0);
        }
    }

    pub fn add(&mut self, index: u32, time: Ns) {
        self.make_room(index);
        self.times[index as usize] += time;
    }

    pub fn add_behind(&mut self, index: u32, holder: u16, time: Ns) {
        self.behind[index as usize * self.holders + holder as usize] += time.0;
    }

    pub fn time(&self, index: u32) -> Ns {
        self.times.get(index as usize).copied().unwrap_or(Ns::ZERO)
    }

    pub fn behind(&self, index: u32, holder: usize) -> u64 {
        self.behind.get(index as usize * self.holders + holder).copied().unwrap_or(0)
    }
}

/// A stretch in which the bus was taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    from: Ns,
    until: Ns,
    holder: u16,
}

/// What the bus did last, as long as somebody may have waited through it.
#[derive(Debug)]
pub(super) struct Moved {
    is_kept: bool,
    stretches: VecDeque<Taken>,
}

impl Moved {
    pub fn new(is_kept: bool) -> Self {
        Self { is_kept, stretches: VecDeque::new() }
    }

    /// The bus is taken for a holder. Whoever comes later has not asked before `oldest`.
    pub fn add(&mut self, from: Ns, until: Ns, holder: u16, oldest: Ns) {
        if !self.is_kept {
            return;
        }
        while self.stretches.front().is_some_and(|taken| taken.until <= oldest) {
            self.stretches.pop_front();
        }
        self.stretches.push_back(Taken { from, until, holder });
    }

    /// Tells for whom the bus was taken between two times.
    pub fn behind(&self, from: Ns, until: Ns, mut tell: impl FnMut(u16, Ns)) {
        for taken in self.stretches.iter().rev().take_while(|taken| taken.until > from) {
            tell(taken.holder, taken.until.min(until).saturating_since(taken.from.max(from)));
        }
    }
}
