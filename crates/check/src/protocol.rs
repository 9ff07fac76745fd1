//! What the host asked for, and the commands that the drive took in of it.

use std::collections::VecDeque;

use ninescope_engine::{ProtocolConfig, SimulationError};
use ninescope_kernel::Ns;
use ninescope_model::{Op, Request};

use crate::rule::require;

/// A request of the host that has not completed.
#[derive(Clone, Copy, Debug)]
struct Asked {
    whole: Request,
    /// Sectors that commands asked for so far.
    sectors: u64,
    /// Commands inside.
    inside: u32,
    /// Something of it was lost, or wrong.
    harm: [bool; 2],
}

/// All that the host asked for and that has not completed.
#[derive(Debug, Default)]
pub struct Protocol {
    config: ProtocolConfig,
    /// In the order in which they began; one that is over leaves a gap until all before it are.
    asked: VecDeque<Option<Asked>>,
    /// The number of the first of these.
    first: u64,
    /// By lane: the number of the request of which some is still to be taken in.
    begun: Vec<Option<u64>>,
    /// By slot: the number of its request.
    of_slot: Vec<u64>,
}

impl Protocol {
    pub fn started(&mut self, config: ProtocolConfig, lanes: usize) {
        self.config = config;
        self.begun = vec![None; lanes];
    }

    fn place(&self, number: u64) -> usize {
        (number - self.first) as usize
    }

    /// A command of a lane is taken in at a slot. Returns whether it is the first one of its request.
    pub fn fetched(&mut self, now: Ns, slot: u32, (id, lane): (u64, u16), part: &Request, whole: &Request) -> FirstOf {
        let begun = self.begun.get(lane as usize).copied().flatten();
        let place = begun.map_or(self.asked.len(), |number| self.place(number));
        if begun.is_none() {
            self.asked.push_back(Some(Asked { whole: *whole, sectors: 0, inside: 0, harm: [false; 2] }));
        }
        if self.of_slot.len() <= slot as usize {
            self.of_slot.resize(slot as usize + 1, 0);
        }
        self.of_slot[slot as usize] = self.first + place as u64;
        let Some(asked) = &mut self.asked[place] else { return Ok(true) };
        let most = self.config.max_transfer.filter(|_| matches!(whole.op, Op::Read | Op::Write));
        let left = u64::from(whole.sectors) - asked.sectors;
        let takes = most.map_or(left, |most| left.min(u64::from(most)));
        let is_next = part.lba.0 == whole.lba.0 + asked.sectors && u64::from(part.sectors) == takes;
        let same = (part.op, part.remark, part.submitted) == (whole.op, whole.remark, whole.submitted)
            && asked.whole == *whole;
        require!(
            is_next && same,
            RequestSplit,
            now,
            "command {id} is {part:?} of {whole:?}, of which {} sectors were taken in before",
            asked.sectors
        );
        asked.sectors += u64::from(part.sectors);
        asked.inside += 1;
        let wholly = asked.sectors == u64::from(whole.sectors);
        if let Some(of_lane) = self.begun.get_mut(lane as usize) {
            *of_lane = (!wholly).then_some(self.first + place as u64);
        }
        Ok(begun.is_none())
    }

    /// A command completes, of which something was lost, or wrong, and with which its request is said to be over or not. Returns
    /// the same of the request where it is.
    pub fn completed(&mut self, now: Ns, (slot, id): (u32, u64), harm: [bool; 2], last: bool) -> Harmed {
        let place = self.place(self.of_slot[slot as usize]);
        let Some(asked) = &mut self.asked[place] else { return Ok(None) };
        asked.inside -= 1;
        asked.harm = [asked.harm[0] | harm[0], asked.harm[1] | harm[1]];
        let Asked { whole, sectors, inside, harm } = *asked;
        let over = inside == 0 && sectors == u64::from(whole.sectors);
        require!(
            over == last,
            RequestSplit,
            now,
            "{whole:?} is said to be over: {last}, with command {id}; {inside} others are inside, {sectors} sectors were asked for"
        );
        if over {
            self.asked[place] = None;
            while self.asked.front().is_some_and(Option::is_none) {
                self.asked.pop_front();
                self.first += 1;
            }
        }
        Ok(over.then_some(harm))
    }
}

/// What was lost, or wrong, of a request that is over.
type Harmed = Result<Option<[bool; 2]>, SimulationError>;

/// Whether a command is the first one of its request.
type FirstOf = Result<bool, SimulationError>;

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_model::Lba;

    fn read(lba: u64, sectors: u32) -> Request {
        Request { lba: Lba(lba), sectors, op: Op::Read, ..Request::default() }
    }

    fn of_four() -> Protocol {
        let mut protocol = Protocol::default();
        protocol.started(ProtocolConfig { max_transfer: Some(4), ..ProtocolConfig::default() }, 1);
        protocol
    }

    #[test]
    fn a_gap_and_a_command_too_large_are_seen() {
        let whole = read(8, 10);
        let told = |parts: &[(u64, u32)]| {
            let mut protocol = of_four();
            let mut each = parts.iter().zip(0_u32..);
            each.try_for_each(|(&(lba, sectors), slot)| {
                let first = protocol.fetched(Ns(1), slot, (u64::from(slot), 0), &read(lba, sectors), &whole)?;
                require!(first == (slot == 0), RequestSplit, Ns(1), "the first of them");
                Ok(())
            })
            .is_ok()
        };
        assert!(told(&[(8, 4), (12, 4), (16, 2)]));
        assert!(!told(&[(8, 5)]) && !told(&[(8, 4), (13, 4)]) && !told(&[(8, 4), (12, 3)]));
    }

    #[test]
    fn a_request_is_over_with_the_last_of_its_commands() {
        let told = |over: [bool; 2]| {
            let mut protocol = of_four();
            for (slot, lba) in [(0, 0), (1, 4)] {
                protocol.fetched(Ns(1), slot, (u64::from(slot), 0), &read(lba, 4), &read(0, 8)).expect("they fit");
            }
            let mut each = [1, 0].into_iter().zip(over);
            each.try_for_each(|(slot, last)| protocol.completed(Ns(2), (slot, 0), [false; 2], last).map(drop)).is_ok()
        };
        assert!(told([false, true]));
        assert!(!told([true, true]) && !told([false, false]));
    }
}
