//! What dies, banks and channels did for each command that has several parts, so that the wait of a part behind another
//! part of its own command is told from a wait behind somebody else.
//!
//! A *share* is what one resource did for one command. It grows as the ledger of a die does, and is read as that is: at
//! the beginning of a wait and at its end. Commands of one part have no share, and cost nothing.
//!
//! Knows nothing of why a resource works.

use ninescope_kernel::{NONE, Ns, ResourceId, Slab};
use ninescope_model::Occupancy;

use super::DieLedger;

/// The lanes of a die's ledger in which the parts of host commands run.
pub(super) const LANES: [Occupancy; 3] = [Occupancy::WaitingForChannel, Occupancy::HostRead, Occupancy::HostProgram];
/// Of these, the lane in which the data of reads leave.
const READ_LANE: usize = 1;

/// Time by these lanes [ns].
pub(super) type HeldLanes = [u64; LANES.len()];

/// Time by the lanes in which the parts of host commands run [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held(HeldLanes);

impl Held {
    /// These lanes of a ledger.
    pub(super) fn of(ledger: &DieLedger) -> Self {
        Self(LANES.map(|lane| ledger[lane as usize]))
    }

    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    /// Lane by lane.
    pub(super) fn lanes(self) -> HeldLanes {
        self.0
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] - earlier.0[lane]))
    }

    /// Takes it out of the same lanes of a ledger.
    pub fn take_out_of(self, ledger: &mut DieLedger) {
        LANES.iter().zip(self.0).for_each(|(&lane, held)| ledger[lane as usize] -= held);
    }

    /// Sum over the lanes.
    #[must_use]
    pub fn total(self) -> Ns {
        Ns(self.0.iter().sum())
    }
}

/// A share that is looked for by one who may outlive its command.
#[derive(Clone, Copy, Debug)]
pub struct LastingShare {
    share: u32,
    serial: u32,
}

impl LastingShare {
    /// None.
    pub const NONE: Self = Self { share: NONE, serial: 0 };
}

/// What one die, bank or channel did for one command.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Its number among all that were ever made; 0 when its command has completed.
    serial: u32,
    /// The command; `NONE` when it has completed.
    command: u32,
    resource: ResourceId,
    /// Of a die or bank: the share of the same command in its channel.
    channel: u32,
    /// The next share of the command.
    next: u32,
    /// What it did in all, up to `until` where that is to come. Of a channel all is in the first lane.
    held: Held,
    /// The ledger when it began with what it does now, if it is `open`.
    mark: Held,
    open: bool,
    /// When what it does now ends, where that is known before.
    until: Ns,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            serial: 0,
            command: NONE,
            resource: ResourceId(NONE),
            channel: NONE,
            next: NONE,
            held: Held::default(),
            mark: Held::default(),
            open: false,
            until: Ns::ZERO,
        }
    }
}

/// The shares of all commands inside.
#[derive(Debug)]
pub struct OwnParts {
    shares: Slab<Share>,
    /// By resource: the share that was asked for last.
    latest: Vec<u32>,
    /// How many shares were made; it may begin anew.
    made: u32,
}

impl OwnParts {
    /// No shares, for so many resources. Allocates only beyond `shares` of them.
    pub fn new(resources: usize, shares: usize) -> Self {
        Self { shares: Slab::with_capacity(shares), latest: vec![NONE; resources], made: 0 }
    }

    /// The share of a command in a die or bank on a channel. `first` is the first share of the command, which may change.
    /// Who splits a command in one go says so: what is not the latest of its die then does not exist yet, and need not be
    /// looked for.
    pub fn join(&mut self, command: u32, first: &mut u32, [die, channel]: [ResourceId; 2], splitting: bool) -> u32 {
        if let Some(share) = self.find(command, *first, die, splitting) {
            return share;
        }
        let channel = self.find(command, *first, channel, splitting).unwrap_or_else(|| {
            let share = Share { command, resource: channel, next: *first, ..Share::default() };
            self.insert(share, first)
        });
        self.insert(Share { command, resource: die, channel, next: *first, ..Share::default() }, first)
    }

    fn insert(&mut self, share: Share, first: &mut u32) -> u32 {
        self.made = self.made.wrapping_add(1).max(1);
        *first = self.shares.insert(Share { serial: self.made, ..share });
        self.latest[share.resource.0 as usize] = *first;
        *first
    }

    fn find(&mut self, command: u32, first: u32, resource: ResourceId, splitting: bool) -> Option<u32> {
        let is_it = |share: &Share| share.command == command && share.resource == resource;
        let latest = self.latest[resource.0 as usize];
        if latest != NONE && is_it(&self.shares[latest]) {
            return Some(latest);
        }
        let mut at = if splitting { NONE } else { first };
        while at != NONE && !is_it(&self.shares[at]) {
            at = self.shares[at].next;
        }
        if at == NONE {
            return None;
        }
        self.latest[resource.0 as usize] = at;
        Some(at)
    }

    /// A command completed: its shares are no more.
    pub fn release(&mut self, first: u32) {
        let mut at = first;
        while at != NONE {
            let share = &mut self.shares[at];
            (share.command, share.serial) = (NONE, 0);
            let next = share.next;
            self.shares.remove(at);
            at = next;
        }
    }

    /// A share by a name that holds no other one once its command has completed.
    pub fn lasting(&self, share: u32) -> LastingShare {
        LastingShare { share, serial: self.shares[share].serial }
    }

    /// The share of that name, `NONE` where its command has completed.
    pub fn of_lasting(&self, LastingShare { share, serial }: LastingShare) -> u32 {
        if share != NONE && self.shares[share].serial == serial { share } else { NONE }
    }

    /// What the die of a share did for its command until now; `ledger` is the die's, up to now.
    pub fn held(&self, share: u32, now: Ns, ledger: &DieLedger) -> Held {
        let Share { held, mark, open, until, .. } = self.shares[share];
        let mut so_far = if open { held.plus(Held::of(ledger).since(mark)) } else { held };
        so_far.0[READ_LANE] -= until.saturating_since(now).0;
        so_far
    }

    /// The die begins to work for the command, or goes on with it.
    pub fn open(&mut self, share: u32, ledger: &DieLedger) {
        let share = &mut self.shares[share];
        if !share.open {
            (share.open, share.mark) = (true, Held::of(ledger));
        }
    }

    /// What the die does for the command ends; the data of a read leave from now `until` then.
    pub fn close(&mut self, share: u32, now: Ns, until: Ns, ledger: &DieLedger) {
        let share = &mut self.shares[share];
        if share.open {
            share.open = false;
            share.held = share.held.plus(Held::of(ledger).since(share.mark));
            share.held.0[READ_LANE] += (until - now).0;
            share.until = until;
        }
    }

    /// What the channel of a die's share did for its command until now.
    pub fn channel_held(&self, share: u32, now: Ns) -> Ns {
        let Share { held, until, .. } = self.shares[self.shares[share].channel];
        Ns(held.0[0] - until.saturating_since(now).0)
    }

    /// The channel of a die's share moves something for the command, from now `until` then. Telling it again for the same
    /// time changes nothing.
    pub fn channel_taken(&mut self, share: u32, now: Ns, until: Ns) {
        let channel = self.shares[share].channel;
        let share = &mut self.shares[channel];
        if share.until < until {
            share.held.0[0] += (until - now).0;
            share.until = until;
        }
    }

    // ---- by whom a resource works for --------------------------------------------------------------

    /// A share, and its number among all that were ever made.
    pub(super) fn name(&self, share: u32) -> (u32, u32) {
        (share, self.shares[share].serial)
    }

    /// The command of a share, and its channel; `NONE` where that has completed.
    pub fn command_and_channel(&self, share: u32) -> (u32, ResourceId) {
        let Share { command, channel, .. } = self.shares[share];
        (command, self.shares[channel].resource)
    }

    /// The resource of a share.
    pub fn resource_of(&self, share: u32) -> ResourceId {
        self.shares[share].resource
    }

    /// The share of the same command in the channel of a die's share.
    pub fn channel_of(&self, share: u32) -> u32 {
        self.shares[share].channel
    }

    /// The number of a share among all that were ever made.
    pub fn serial_of(&self, share: u32) -> u32 {
        self.shares[share].serial
    }

    /// What was done for a share, and what is to come of it, without what is open.
    pub fn closed(&self, share: u32) -> Held {
        self.shares[share].held
    }

    /// What the die of a share did for its command until now beyond what is [`closed`](Self::closed), which wraps where that
    /// reaches into the future.
    pub(super) fn under_way(&self, share: u32, now: Ns, ledger: &DieLedger) -> HeldLanes {
        let (held, closed) = (self.held(share, now, ledger), self.closed(share));
        std::array::from_fn(|lane| held.0[lane].wrapping_sub(closed.0[lane]))
    }

    /// The same of the share of a channel.
    pub(super) fn channel_under_way(&self, channel: u32, now: Ns) -> HeldLanes {
        let to_come = self.shares[channel].until.saturating_since(now).0;
        let mut lanes = HeldLanes::default();
        lanes[0] = 0_u64.wrapping_sub(to_come);
        lanes
    }

    /// Commands that hold shares have all been released.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_model::OCCUPANCIES;

    fn ledger(waiting: u64, read: u64, erase: u64) -> DieLedger {
        let mut ledger = [0; OCCUPANCIES];
        ledger[Occupancy::WaitingForChannel as usize] = waiting;
        ledger[Occupancy::HostRead as usize] = read;
        ledger[Occupancy::Erase as usize] = erase;
        ledger
    }

    #[test]
    fn a_share_grows_while_its_die_works_for_its_command() {
        let (mut own, mut first) = (OwnParts::new(4, 4), NONE);
        let die = [ResourceId(0), ResourceId(2)];
        let share = own.join(7, &mut first, die, true);
        assert_eq!(own.join(7, &mut first, die, true), share, "one share of a die");
        own.open(share, &ledger(0, 100, 40));
        assert_eq!(own.held(share, Ns(160), &ledger(5, 115, 40)).total(), Ns(20));
        // Data leave from 160 to 190.
        own.close(share, Ns(160), Ns(190), &ledger(5, 115, 40));
        assert_eq!(own.held(share, Ns(170), &ledger(5, 125, 40)).total(), Ns(20 + 10));
        let all = own.held(share, Ns(300), &ledger(5, 145, 140));
        assert_eq!(all.total(), Ns(20 + 30));
        let mut waited = ledger(5, 145, 140);
        all.take_out_of(&mut waited);
        assert_eq!(waited, ledger(0, 100, 140), "what is left is of others");
    }

    #[test]
    fn a_channel_is_counted_once_for_a_transfer_of_several_pages() {
        let (mut own, mut first) = (OwnParts::new(4, 4), NONE);
        let share = own.join(7, &mut first, [ResourceId(0), ResourceId(2)], true);
        let other = own.join(7, &mut first, [ResourceId(1), ResourceId(2)], true);
        own.channel_taken(share, Ns(10), Ns(30));
        own.channel_taken(share, Ns(10), Ns(30));
        assert_eq!(own.channel_held(other, Ns(15)), Ns(5), "the other die is on the same channel");
        assert_eq!(own.channel_held(other, Ns(99)), Ns(20));
    }

    #[test]
    fn shares_are_found_among_those_of_other_commands_and_not_after_their_end() {
        let mut own = OwnParts::new(4, 4);
        let die = [ResourceId(0), ResourceId(2)];
        let (mut one, mut other) = (NONE, NONE);
        let share = own.join(1, &mut one, die, true);
        let of_other = own.join(2, &mut other, die, true);
        assert_ne!(share, of_other);
        assert_eq!(own.join(1, &mut one, die, false), share, "not the latest, but there");
        own.open(share, &ledger(0, 0, 0));
        let lasting = own.lasting(share);
        assert_eq!(own.of_lasting(lasting), share);
        own.release(one);
        assert_eq!(own.of_lasting(lasting), NONE);
        own.release(other);
        assert!(own.is_empty());
        let mut again = NONE;
        let fresh = own.join(1, &mut again, die, true);
        assert_eq!(own.of_lasting(lasting), NONE, "nor found by its old name");
        assert_eq!(own.of_lasting(own.lasting(fresh)), fresh);
        assert_eq!(own.held(fresh, Ns(9), &ledger(9, 9, 9)).total(), Ns(0), "nothing is inherited");
    }
}
