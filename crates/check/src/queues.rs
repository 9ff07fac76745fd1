//! Queues of the host: how much is in them, and how the drive reads commands out of them.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::meter::Parts;
use ninescope_engine::{Fetch, Interface, ProtocolConfig, View};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, DriveErase, Op, Request};

use crate::rule::{Checked, require};

/// Commands of SATA's one queue.
const NCQ_DEPTH: usize = 32;

/// A queue.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    lane: u16,
    commands: u32,
    /// When the drive last had as many of its commands as it may, and then one fewer.
    room_since: Ns,
}

/// A fetch: of which queue, since when, and the slots of its commands.
#[derive(Clone, Debug)]
struct Fetching {
    queue: u32,
    began: Ns,
    slots: BTreeSet<u32>,
}

/// All queues, and the fetches that are under way.
#[derive(Debug, Default)]
pub struct Queues {
    config: ProtocolConfig,
    /// By lane: commands of each of its queues that the drive has at a time, where the lane says so.
    of_lanes: Vec<Option<u32>>,
    by_number: BTreeMap<u32, Queue>,
    /// By slot: the queue of its command.
    of_slot: BTreeMap<u32, u32>,
    /// By slot: what commands inside the drive do, and whether they are to have it for themselves on SATA; those not counted of which
    /// the host is to be told.
    inside: BTreeMap<u32, (Op, bool)>,
    /// The one that began first in front.
    fetches: Vec<Fetching>,
    /// Commands that had the drive for themselves since measuring began.
    pub non_queued: u64,
    /// TRIMs that went beside others on SATA, since then.
    pub queued_trims: u64,
    /// Commands that entered when there was room for another one of their queue, and had waited, since then.
    pub waited: u64,
}

impl Queues {
    pub fn started(&mut self, config: ProtocolConfig, of_lanes: &[Option<u32>]) {
        self.config = config;
        self.of_lanes = of_lanes.to_vec();
    }

    /// Commands of each queue of a lane that the drive may have at a time.
    fn most_of(&self, lane: u16) -> u32 {
        let of_lane = self.of_lanes.get(lane as usize).copied().flatten();
        of_lane.or(self.config.commands_per_queue).unwrap_or(u32::MAX)
    }

    /// How long a command that entered was held because the drive had as many of its queue as it may.
    pub fn held(&self, queue: u32, submitted: Ns) -> Ns {
        self.by_number.get(&queue).map_or(Ns::ZERO, |queue| queue.room_since.saturating_since(submitted))
    }

    /// A command enters that does this. On SATA it goes beside others or not.
    pub fn goes_beside(&mut self, now: Ns, (slot, id): (u32, u64), request: &Request) -> Checked {
        let op = request.op;
        let sata = self.config.interface == Interface::Sata;
        let erases_all = request.remark.erase() != DriveErase::None;
        let own = op == Op::Flush || op == Op::Trim && (erases_all || !self.config.queued_trims);
        let alone = own || self.inside.values().any(|(_, alone)| *alone);
        require!(
            !sata || self.inside.is_empty() || (!alone && self.inside.len() < NCQ_DEPTH),
            NonQueued,
            now,
            "command {id} ({op:?}) enters beside {:?}",
            self.inside
        );
        self.queued_trims += u64::from(sata && op == Op::Trim && !self.inside.is_empty());
        self.inside.insert(slot, (op, own));
        self.non_queued += u64::from(sata && own);
        Ok(())
    }

    /// The queue of a command inside.
    pub fn of(&self, slot: u32) -> u32 {
        self.of_slot.get(&slot).copied().unwrap_or_default()
    }

    /// A command is done.
    pub fn done(&mut self, slot: u32) {
        self.inside.remove(&slot);
    }

    /// A command enters out of a queue, which the host submitted then.
    pub fn entered(&mut self, now: Ns, (slot, id): (u32, u64), (queue, lane): (u32, u16), submitted: Ns) -> Checked {
        let most = self.config.queue_entries.map_or(u32::MAX, |entries| entries - 1).min(self.most_of(lane));
        let entry = self.by_number.entry(queue).or_insert(Queue { lane, ..Queue::default() });
        entry.commands += 1;
        self.waited += u64::from(entry.room_since == now && submitted < now);
        require!(
            entry.lane == lane && entry.commands <= most,
            HostQueues,
            now,
            "command {id} of job {lane} is number {} of queue {queue} of job {}, which has room for {most}",
            entry.commands,
            entry.lane
        );
        self.of_slot.insert(slot, queue);
        let Some(Fetch { entries, in_flight, .. }) = self.config.fetch else { return Ok(()) };
        let last = self.fetches.last_mut().filter(|last| (last.queue, last.began) == (queue, now));
        match last.filter(|last| last.slots.len() < entries as usize) {
            Some(last) => drop(last.slots.insert(slot)),
            None => self.fetches.push(Fetching { queue, began: now, slots: BTreeSet::from([slot]) }),
        }
        require!(
            self.fetches.len() <= in_flight as usize,
            HostQueues,
            now,
            "command {id} of queue {queue} begins a fetch, of which {in_flight} may be under way: {:?}",
            self.fetches
        );
        Ok(())
    }

    /// A fetch brought so many commands, which could begin then.
    pub fn came(&mut self, now: Ns, (queue, from, begins): (u32, Ns, Ns), commands: u32) -> Checked {
        let time = self.config.fetch.map(|fetch| fetch.time);
        let is_it = |first: &Fetching| {
            (first.queue, first.began, first.slots.len() as u32) == (queue, from, commands)
                && Some(now - begins) == time
        };
        require!(
            self.fetches.first().is_some_and(is_it),
            HostQueues,
            now,
            "{commands} commands of queue {queue} come that were fetched since {from}, under way are {:?}",
            self.fetches
        );
        self.fetches.remove(0);
        Ok(())
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters.non_queued_commands, self.non_queued);
        require!(said == seen, Ledger, view.now, "engine.non_queued_commands is {said}, {seen} were seen");
        let (said, seen) = (view.counters.queued_trims, self.queued_trims);
        require!(said == seen, Ledger, view.now, "engine.queued_trims is {said}, {seen} were seen");
        let (said, seen) = (view.counters.full_queue_waits, self.waited);
        require!(said == seen, Ledger, view.now, "engine.full_queue_waits is {said}, {seen} were seen");
        Ok(())
    }

    /// The host is told of a command.
    pub fn left(&mut self, now: Ns, (slot, id): (u32, u64), parts: &Parts) -> Checked {
        self.inside.remove(&slot);
        let expected = self.config.fetch.map_or(0, |fetch| fetch.time.0);
        let said = parts.of(Cause::Fetch);
        require!(
            said == expected && !self.fetches.iter().any(|fetch| fetch.slots.contains(&slot)),
            HostQueues,
            now,
            "command {id} was fetched for {said} ns, a fetch takes {expected} ns"
        );
        let Some(number) = self.of_slot.remove(&slot) else { return Ok(()) };
        let most = self.by_number.get(&number).map_or(0, |queue| self.most_of(queue.lane));
        if let Some(queue) = self.by_number.get_mut(&number) {
            if queue.commands == most {
                queue.room_since = now;
            }
            queue.commands -= 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_three_entries() -> Queues {
        let mut queues = Queues::default();
        let fetch = Some(Fetch { time: Ns(10), entries: 2, in_flight: 1 });
        queues.started(ProtocolConfig { queue_entries: Some(3), fetch, ..ProtocolConfig::default() }, &[]);
        queues
    }

    /// Whether commands of these queues at these times break nothing, each fetched before the next time.
    fn told(commands: &[(u64, u32)]) -> bool {
        let mut queues = of_three_entries();
        let mut each = commands.iter().zip(0_u32..);
        each.try_for_each(|(&(at, queue), slot)| {
            if let Some(first) = queues.fetches.first().filter(|first| first.began + Ns(10) <= Ns(at)).cloned() {
                queues.came(first.began + Ns(10), (first.queue, first.began, first.began), first.slots.len() as u32)?;
            }
            queues.entered(Ns(at), (slot, 0), (queue, queue as u16), Ns(at))
        })
        .is_ok()
    }

    #[test]
    fn a_full_queue_and_a_fetch_of_too_much_are_seen() {
        assert!(told(&[(5, 0), (5, 0), (15, 1)]));
        assert!(!told(&[(5, 0), (5, 0), (15, 0)]), "two of three entries are all");
        assert!(!told(&[(5, 0), (5, 1)]), "of two queues at a time");
        assert!(!told(&[(5, 0), (5, 0), (5, 0)]), "three at a time");
        assert!(!told(&[(5, 0), (14, 0)]), "while another one is under way");
    }

    #[test]
    fn a_queue_of_which_the_drive_has_too_much_is_seen() {
        let told = |lanes: &[u16]| {
            let mut queues = Queues::default();
            let config = ProtocolConfig { commands_per_queue: Some(2), ..ProtocolConfig::default() };
            queues.started(config, &[None, Some(1)]);
            let mut each = lanes.iter().zip(0_u32..);
            each.try_for_each(|(&lane, slot)| queues.entered(Ns(1), (slot, 0), (u32::from(lane), lane), Ns(1))).is_ok()
        };
        assert!(told(&[0, 0, 1]));
        assert!(!told(&[0, 0, 0]) && !told(&[1, 1]));
    }

    #[test]
    fn company_of_a_flush_is_seen_on_sata() {
        let told_with = |queued_trims: bool, interface: Interface, ops: &[Op]| {
            let mut queues = Queues::default();
            queues.started(ProtocolConfig { interface, queued_trims, ..ProtocolConfig::default() }, &[]);
            let of = |op: Op| Request { op, ..Request::default() };
            let mut each = ops.iter().zip(0_u32..);
            each.try_for_each(|(&op, slot)| queues.goes_beside(Ns(1), (slot, 0), &of(op))).is_ok()
        };
        let told = |interface, ops: &[Op]| told_with(false, interface, ops);
        assert!(told(Interface::Sata, &[Op::Read, Op::Write]) && told(Interface::Sata, &[Op::Flush]));
        assert!(!told(Interface::Sata, &[Op::Read, Op::Flush]) && !told(Interface::Sata, &[Op::Trim, Op::Read]));
        assert!(told_with(true, Interface::Sata, &[Op::Read, Op::Trim, Op::Write, Op::Trim]));
        assert!(!told_with(true, Interface::Sata, &[Op::Trim, Op::Flush]));
        assert!(!told(Interface::Sata, &[Op::Read; 33]) && told(Interface::Nvme, &[Op::Flush; 33]));
    }

    #[test]
    fn the_time_of_a_fetch_is_held() {
        let came = |at: u64, said: u64| {
            let mut queues = of_three_entries();
            queues.entered(Ns(5), (0, 0), (1, 0), Ns(5)).expect("it fits");
            queues.came(Ns(at), (1, Ns(5), Ns(5)), 1)?;
            let mut parts = Parts::default();
            parts.add(Cause::Fetch, Ns(said));
            queues.left(Ns(40), (0, 0), &parts)
        };
        assert!(came(15, 10).is_ok() && came(14, 10).is_err() && came(15, 9).is_err());
    }
}
