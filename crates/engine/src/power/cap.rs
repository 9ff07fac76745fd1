//! A power that commands of dies may draw together: whoever finds too little of it left waits in line.

use std::collections::VecDeque;

/// What a die that asks for power is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It may go on.
    Granted {
        /// It was in line.
        waited: bool,
    },
    /// It is in line.
    Waits {
        /// It was not before.
        joined: bool,
    },
}

/// What is taken of a power, and who waits for some of it, the first come first.
#[derive(Clone, Debug)]
pub(super) struct Cap {
    /// All of it. Where it is less than it was, more may be taken than there is.
    power: u64,
    /// By all dies together.
    taken_by_all: u64,
    /// By die: what it has taken.
    taken: Vec<u64>,
    line: VecDeque<u32>,
    /// By die.
    in_line: Vec<bool>,
}

impl Cap {
    /// All of it is left.
    pub fn new(power: u64, dies: u32) -> Self {
        let (taken, in_line) = (vec![0; dies as usize], vec![false; dies as usize]);
        Self { power, taken_by_all: 0, taken, line: VecDeque::new(), in_line }
    }

    /// From now on there is so much. Nobody is taken from.
    pub fn set_power(&mut self, power: u64) {
        self.power = power;
    }

    fn left(&self) -> u64 {
        self.power.saturating_sub(self.taken_by_all)
    }

    /// A die is to draw so much more. Nobody goes before who waits.
    pub fn ask(&mut self, die: u32, power: u64) -> Asked {
        let waited = self.in_line[die as usize];
        let first = if waited { self.line.front() == Some(&die) } else { self.line.is_empty() };
        if first && power <= self.left() {
            self.wants_nothing(die);
            return Asked::Granted { waited };
        }
        if !waited {
            self.in_line[die as usize] = true;
            self.line.push_back(die);
        }
        Asked::Waits { joined: !waited }
    }

    /// A die leaves the line, if it is in it.
    pub fn wants_nothing(&mut self, die: u32) -> bool {
        let was_in_line = std::mem::take(&mut self.in_line[die as usize]);
        if was_in_line {
            self.line.retain(|&other| other != die);
        }
        was_in_line
    }

    pub fn takes(&mut self, die: u32, power: u64) {
        debug_assert!(power <= self.left() && self.taken[die as usize] == 0, "it was asked for");
        self.taken_by_all += power;
        self.taken[die as usize] = power;
    }

    pub fn gives_back(&mut self, die: u32) {
        self.taken_by_all -= std::mem::take(&mut self.taken[die as usize]);
    }

    /// Who waits, the first come first.
    pub fn line(&self) -> impl Iterator<Item = u32> {
        self.line.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRANTED: Asked = Asked::Granted { waited: false };

    #[test]
    fn whoever_finds_too_little_left_waits_and_nobody_goes_before_him() {
        let mut cap = Cap::new(100, 4);
        assert_eq!(cap.ask(0, 60), GRANTED);
        cap.takes(0, 60);
        assert_eq!(cap.ask(1, 50), Asked::Waits { joined: true });
        // There would be enough for this one.
        assert_eq!(cap.ask(2, 10), Asked::Waits { joined: true });
        assert_eq!(cap.ask(1, 50), Asked::Waits { joined: false });
        cap.gives_back(0);
        assert_eq!((cap.ask(2, 10), cap.line().next()), (Asked::Waits { joined: false }, Some(1)));
        assert_eq!(cap.ask(1, 50), Asked::Granted { waited: true });
        cap.takes(1, 50);
        assert_eq!(cap.ask(2, 50), Asked::Granted { waited: true });
        cap.takes(2, 50);
        assert_eq!((cap.ask(3, 0), cap.line().next()), (GRANTED, None));
    }

    #[test]
    fn less_power_than_is_taken_is_none_until_enough_came_back() {
        let mut cap = Cap::new(100, 3);
        cap.takes(0, 60);
        cap.takes(1, 40);
        cap.set_power(50);
        assert_eq!(cap.ask(2, 10), Asked::Waits { joined: true });
        cap.gives_back(1);
        assert_eq!(cap.ask(2, 10), Asked::Waits { joined: false }, "60 of 50 are taken");
        cap.gives_back(0);
        assert_eq!(cap.ask(2, 50), Asked::Granted { waited: true });
        cap.takes(2, 50);
        assert_eq!(cap.ask(0, 1), Asked::Waits { joined: true });
        cap.set_power(51);
        assert_eq!(cap.ask(0, 1), Asked::Granted { waited: true });
    }

    #[test]
    fn whoever_wants_nothing_any_more_is_in_nobodys_way() {
        let mut cap = Cap::new(100, 3);
        cap.takes(0, 100);
        cap.ask(1, 100);
        cap.ask(2, 30);
        assert!(cap.wants_nothing(1) && !cap.wants_nothing(1) && !cap.wants_nothing(0));
        cap.gives_back(0);
        assert_eq!(cap.ask(2, 30), Asked::Granted { waited: true });
    }
}
