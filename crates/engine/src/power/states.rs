//! States of less power that a drive goes into while it has nothing to do: when it gets in, and when it is out again.
//!
//! All of it follows from when the drive began to rest, so that nothing is done until that is over.

use ninescope_kernel::Ns;

/// A state of less power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// It is entered when the drive has rested for so long.
    pub after: Ns,
    /// How long it takes to get in.
    pub enter: Ns,
    /// How long it takes to get out.
    pub leave: Ns,
    /// What the drive as a whole draws in it [uW].
    pub power: u64,
}

/// How often a drive was in a state, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateTimes {
    /// Times it began to enter it.
    pub entries: u64,
    /// Time in it, without entering and leaving.
    pub time: Ns,
}

/// From when on a drive is in a state, or in none.
pub(super) type Change = (Ns, Option<usize>);

/// How far a drive is.
#[derive(Clone, Debug)]
pub(super) struct States {
    list: Vec<PowerState>,
    times: Vec<StateTimes>,
    measured_since: Ns,
    /// When it began to rest, if it does.
    rests_since: Option<Ns>,
    /// Changes since then: that it begins to enter a state, and that it is in it, are two.
    changes: usize,
    /// The state that it is in, and since when.
    present: Option<(usize, Ns)>,
}

impl States {
    pub fn new(states: &[PowerState]) -> Self {
        Self {
            list: states.to_vec(),
            times: vec![StateTimes::default(); states.len()],
            measured_since: Ns::ZERO,
            rests_since: None,
            changes: 0,
            present: None,
        }
    }

    pub fn rests(&self) -> bool {
        self.rests_since.is_some()
    }

    /// It has nothing to do from now on.
    pub fn begin_to_rest(&mut self, now: Ns) {
        self.rests_since = Some(now);
    }

    /// The next change before now, which is made.
    pub fn next_change(&mut self, now: Ns) -> Option<Change> {
        let (since, index) = (self.rests_since?, self.changes / 2);
        let state = self.list.get(index)?;
        let is_in = self.changes % 2 == 1;
        let at = since + state.after + if is_in { state.enter } else { Ns::ZERO };
        if at >= now {
            return None;
        }
        self.changes += 1;
        self.out(at);
        if is_in {
            self.present = Some((index, at));
            return Some((at, Some(index)));
        }
        self.times[index].entries += u64::from(at >= self.measured_since);
        Some((at, None))
    }

    /// It is in no state from then on.
    fn out(&mut self, at: Ns) {
        if let Some((index, since)) = self.present.take() {
            self.times[index].time += at.saturating_since(since.max(self.measured_since));
        }
    }

    /// A command has come, all changes before now being made. Returns when it can be taken up, if the drive was on its way into a
    /// state or in one: it gets in before it gets out.
    pub fn command_comes(&mut self, now: Ns) -> Option<Ns> {
        let (since, changes) = (self.rests_since?, self.changes);
        let entered = changes.checked_sub(1).map(|last| self.list[last / 2]);
        self.ends_rest(now);
        entered.map(|state| now.max(since + state.after + state.enter) + state.leave)
    }

    /// The drive has something to do, all changes before now being made.
    pub fn ends_rest(&mut self, now: Ns) {
        self.out(now);
        (self.rests_since, self.changes) = (None, 0);
    }

    /// The state that it is in.
    pub fn present(&self) -> Option<usize> {
        self.present.map(|(index, _)| index)
    }

    pub fn power_of(&self, index: usize) -> u64 {
        self.list[index].power
    }

    /// Counts from now on, all changes before being made.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.measured_since = now;
        self.times.fill(StateTimes::default());
    }

    /// By state: how often and how long the drive was in it since then, all changes before now being made.
    pub fn times(&self, now: Ns) -> Vec<StateTimes> {
        let mut until_now = self.clone();
        until_now.out(now);
        until_now.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> States {
        let state = |after, enter, leave| PowerState { after: Ns(after), enter: Ns(enter), leave: Ns(leave), power: 0 };
        States::new(&[state(100, 10, 5), state(1_000, 20, 200)])
    }

    /// When a command is taken up that comes at that time to a drive that rests since 50, and what was counted.
    fn comes_at(now: u64) -> (Option<u64>, [(u64, u64); 2]) {
        let mut states = two();
        states.begin_to_rest(Ns(50));
        while states.next_change(Ns(now)).is_some() {}
        let awake = states.command_comes(Ns(now)).map(|at| at.0);
        assert!(!states.rests() && states.present().is_none());
        let times = states.times(Ns(now));
        (awake, [0, 1].map(|index: usize| (times[index].entries, times[index].time.0)))
    }

    #[test]
    fn a_command_waits_until_the_state_is_entered_and_left() {
        assert_eq!(comes_at(60), (None, [(0, 0), (0, 0)]));
        assert_eq!(comes_at(150), (None, [(0, 0), (0, 0)]), "it rested for no longer than that");
        assert_eq!(comes_at(151), (Some(160 + 5), [(1, 0), (0, 0)]));
        assert_eq!(comes_at(160), (Some(160 + 5), [(1, 0), (0, 0)]));
        assert_eq!(comes_at(300), (Some(300 + 5), [(1, 140), (0, 0)]));
        assert_eq!(comes_at(1_050), (Some(1_050 + 5), [(1, 890), (0, 0)]));
        assert_eq!(comes_at(1_051), (Some(1_070 + 200), [(1, 890), (1, 0)]));
        assert_eq!(comes_at(5_000), (Some(5_000 + 200), [(1, 890), (1, 3_930)]));
    }

    #[test]
    fn what_was_before_measuring_began_does_not_count() {
        let mut states = two();
        states.begin_to_rest(Ns::ZERO);
        while states.next_change(Ns(500)).is_some() {}
        states.begin_measuring(Ns(500));
        assert_eq!(states.times(Ns(700))[0], StateTimes { entries: 0, time: Ns(200) });
        states.ends_rest(Ns(700));
        assert_eq!(states.times(Ns(900))[0], StateTimes { entries: 0, time: Ns(200) });
    }
}
