//! What crosses the link for each command beside data, and data of reads that cross it together, where the drive has that.

use std::collections::BTreeMap;

use ninescope_engine::meter::Parts;
use ninescope_engine::{LinkCarries, LinkMessage, LinkReads, ProtocolConfig, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op};

use crate::rule::{Checked, require};

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Taken in then: its entry is to be asked for.
    TakenIn(Ns),
    /// Its entry was asked for.
    Asked(Ns),
    /// Its entry is in the controller from then on.
    Known(Ns),
    /// What it writes was asked for.
    DataAsked,
    /// It is done since then: the completion is to cross.
    Done(Ns),
}

/// A command inside.
#[derive(Clone, Copy, Debug)]
struct Inside {
    op: Op,
    stage: Stage,
    /// How long entry and completion were on their way [ns].
    on_way: Ns,
}

/// What crosses the link for all commands.
#[derive(Debug, Default)]
pub struct Messages {
    carries: LinkCarries,
    reads: LinkReads,
    by_slot: BTreeMap<u32, Inside>,
    /// By message: how long it is on the link.
    times: BTreeMap<u8, Ns>,
    /// The read whose data crossed last, and until when.
    crossed_last: Option<(u32, Ns)>,
    /// By command: data of its that crossed.
    of_reads: BTreeMap<u32, u32>,
    /// What crossed since measuring began.
    pub seen: u64,
}

impl Messages {
    pub fn started(&mut self, protocol: &ProtocolConfig) {
        (self.carries, self.reads) = (protocol.link_carries, protocol.link_reads);
    }

    /// Whether the host is told of a command by a completion on the link.
    pub fn are_sent(&self) -> bool {
        self.carries == LinkCarries::Commands
    }

    pub fn taken_in(&mut self, now: Ns, slot: u32, op: Op) {
        self.of_reads.remove(&slot);
        if self.are_sent() {
            self.by_slot.insert(slot, Inside { op, stage: Stage::TakenIn(now), on_way: Ns::ZERO });
        }
    }

    /// One is on the link between these times, towards the host until now.
    pub fn crosses(&mut self, now: Ns, slot: u32, message: LinkMessage, (from, until): (Ns, Ns)) -> Checked {
        let time = *self.times.entry(message as u8).or_insert(until - from);
        let Some(inside) = self.by_slot.get_mut(&slot) else {
            return Err(crate::Rule::Messages.violated(now, format!("{message:?} of slot {slot}, which has none")));
        };
        let next = match (message, inside.stage) {
            (LinkMessage::EntryRequest, Stage::TakenIn(since)) if from >= since && until == now => Stage::Asked(since),
            (LinkMessage::Entry, Stage::Asked(since)) if from >= now => {
                inside.on_way = until - since;
                Stage::Known(until)
            }
            (LinkMessage::DataRequest, Stage::Known(since)) if inside.op == Op::Write && from >= since => {
                Stage::DataAsked
            }
            (LinkMessage::Completion, Stage::Done(since)) if from >= since && until == now => {
                inside.on_way += now - since;
                inside.stage
            }
            _ => {
                let seen = *inside;
                return Err(Self::out_of_order(now, slot, &format!("{message:?} from {from} until {until}"), seen));
            }
        };
        inside.stage = next;
        self.seen += 1;
        require!(
            until - from == time,
            Messages,
            now,
            "{message:?} of slot {slot} is on the link for {}, others are for {time}",
            until - from
        );
        Ok(())
    }

    fn out_of_order(now: Ns, slot: u32, what: &str, seen: Inside) -> SimulationError {
        crate::Rule::Messages.violated(now, format!("{what} of slot {slot}, of which {seen:?} is known"))
    }

    /// What a command writes crosses the link from then on.
    pub fn data_cross(&self, now: Ns, slot: u32) -> Checked {
        match self.by_slot.get(&slot) {
            Some(&seen) if seen.stage != Stage::DataAsked => Err(Self::out_of_order(now, slot, "data", seen)),
            _ => Ok(()),
        }
    }

    /// Data of a read crossed the link from then until now.
    pub fn read_crossed(&mut self, now: Ns, slot: u32, from: Ns) -> Checked {
        let before = *self.of_reads.entry(slot).and_modify(|parts| *parts += 1).or_insert(1) - 1;
        let last = self.crossed_last.replace((slot, now));
        require!(
            self.reads == LinkReads::ByPage || before == 0 || last == Some((slot, from)),
            Messages,
            now,
            "data of slot {slot} cross from {from} after {before} others of that read, the last to cross were of {last:?}"
        );
        match self.by_slot.get(&slot) {
            Some(&seen) if !matches!(seen.stage, Stage::Known(_)) => Err(Self::out_of_order(now, slot, "data", seen)),
            _ => Ok(()),
        }
    }

    /// A command is done, of which the host is told later.
    pub fn done(&mut self, now: Ns, slot: u32) -> Checked {
        let Some(inside) = self.by_slot.get_mut(&slot) else { return Ok(()) };
        let seen = *inside;
        inside.stage = Stage::Done(now);
        let may = match seen.op {
            Op::Write => matches!(seen.stage, Stage::DataAsked | Stage::Known(_)),
            _ => matches!(seen.stage, Stage::Known(since) if since <= now),
        };
        if may { Ok(()) } else { Err(Self::out_of_order(now, slot, "the end", seen)) }
    }

    /// The host is told of a command, whose entry and completion took their part of what it says of the link.
    pub fn told(&mut self, now: Ns, (slot, id): (u32, u64), parts: &Parts) -> Result<bool, SimulationError> {
        let Some(Inside { op, on_way, .. }) = self.by_slot.remove(&slot) else { return Ok(false) };
        let said = parts.of(Cause::Link);
        let with_data = matches!(op, Op::Read | Op::Write);
        require!(
            said == on_way.0 || with_data && said > on_way.0,
            Messages,
            now,
            "command {id} ({op:?}) says {said} ns of the link, its entry and its completion took {on_way}"
        );
        Ok(true)
    }

    pub fn finished(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters.link_messages, self.seen);
        require!(said == seen, Ledger, view.now, "engine.link_messages is {said}, {seen} were seen");
        require!(self.by_slot.is_empty(), Leftover, view.now, "on the link are {:?}", self.by_slot);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Messages {
        let mut messages = Messages::default();
        messages.started(&ProtocolConfig { link_carries: LinkCarries::Commands, ..ProtocolConfig::default() });
        messages
    }

    /// A write whose entry comes at 12, whose data are asked for until 25, and which is done at 30 and told at 35.
    fn write(asked: bool, completion: (u64, u64)) -> Result<(), SimulationError> {
        let mut messages = sent();
        messages.taken_in(Ns(0), 3, Op::Write);
        messages.crosses(Ns(5), 3, LinkMessage::EntryRequest, (Ns(0), Ns(5)))?;
        messages.crosses(Ns(5), 3, LinkMessage::Entry, (Ns(5), Ns(12)))?;
        if asked {
            messages.crosses(Ns(25), 3, LinkMessage::DataRequest, (Ns(20), Ns(25)))?;
        }
        messages.data_cross(Ns(25), 3)?;
        messages.done(Ns(30), 3)?;
        messages.crosses(Ns(35), 3, LinkMessage::Completion, (Ns(completion.0), Ns(completion.1)))?;
        let mut parts = Parts::default();
        parts.add(Cause::Link, Ns(12 + 5 + 5));
        messages.told(Ns(35), (3, 0), &parts).map(drop)
    }

    #[test]
    fn messages_that_come_out_of_order_are_seen() {
        assert!(write(true, (30, 35)).is_ok());
        assert!(write(false, (30, 35)).is_err(), "data that nobody asked for");
        assert!(write(true, (29, 35)).is_err(), "a completion before the end");
        assert!(write(true, (30, 34)).is_err(), "and one that is told of after it");
    }

    #[test]
    fn data_of_another_read_between_those_of_one_are_seen() {
        let crossed = |reads: LinkReads, slots: &[u32]| {
            let mut messages = Messages::default();
            messages.started(&ProtocolConfig { link_reads: reads, ..ProtocolConfig::default() });
            let mut each = (1_u64..).zip(slots);
            each.try_for_each(|(at, &slot)| messages.read_crossed(Ns(at), slot, Ns(at - 1))).is_ok()
        };
        assert!(crossed(LinkReads::Whole, &[1, 1, 2, 2]) && !crossed(LinkReads::Whole, &[1, 2, 1]));
        assert!(crossed(LinkReads::ByPage, &[1, 2, 1]));
    }
}
