//! Windows of time that follow each other, and what is drawn in them.

use ninescope_kernel::Ns;

/// Windows in a row that are over, in each of which as much was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Over {
    /// When the first of them began.
    pub since: Ns,
    pub count: u64,
    /// What was drawn in each [fJ].
    pub energy: u128,
}

/// Those from a time on.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    since: Ns,
    window: Ns,
    /// All that was drawn before is in them.
    until: Ns,
    /// What was drawn in the present one [fJ].
    present: u128,
}

impl Windows {
    pub fn new(since: Ns, window: Ns) -> Self {
        Self { since, window, until: since, present: 0 }
    }

    pub fn window(&self) -> Ns {
        self.window
    }

    /// All that there was until now, as one.
    pub fn whole(&self) -> (Ns, Ns) {
        (self.since, self.until - self.since)
    }

    /// What was drawn in the present one [fJ].
    pub fn present(&self) -> u128 {
        self.present
    }

    /// When the present one ends.
    pub fn ends(&self) -> Ns {
        self.end_of(self.index(self.until))
    }

    /// An energy is taken in no time [fJ].
    pub fn takes(&mut self, energy: u128) {
        self.present += energy;
    }

    /// As much is drawn until then [uW]. Returns the present window if it is over, and behind it those that are alike.
    pub fn draw(&mut self, power: u64, until: Ns) -> [Option<Over>; 2] {
        let energy = |from: Ns, until: Ns| u128::from(power) * u128::from((until - from).0);
        let (first, last) = (self.index(self.until), self.index(until));
        let from = std::mem::replace(&mut self.until, until);
        if first == last {
            self.present += energy(from, until);
            return [None; 2];
        }
        let ends = self.end_of(first);
        let closed = Over { since: ends - self.window, count: 1, energy: self.present + energy(from, ends) };
        let alike = Over { since: ends, count: last - first - 1, energy: energy(Ns::ZERO, self.window) };
        self.present = energy(self.end_of(last - 1), until);
        [Some(closed), Some(alike).filter(|alike| alike.count > 0)]
    }

    fn index(&self, at: Ns) -> u64 {
        (at - self.since).0 / self.window.0
    }

    fn end_of(&self, index: u64) -> Ns {
        self.since + Ns(self.window.0 * (index + 1))
    }
}
