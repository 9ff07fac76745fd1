//! Requests that are larger than a command may be: the driver of the host makes several commands of them, side by side, and the
//! request completes with the last of these.

use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request};

use super::{OfCommand, Protocol};
use crate::host::HostCommand;

/// A request some of whose commands are not taken in or have not completed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenRequest {
    /// Which, from 0 in the order of submission.
    id: u64,
    whole: Request,
    /// Since when it waits for a place alone.
    pub waited_since: Ns,
    /// Commands that are inside, and one more while some are still to be taken in.
    pending: u32,
    reported: bool,
    wrong: bool,
}

/// What is still to be taken in of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub request: u32,
    lba: Lba,
    sectors: u32,
}

/// A command of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub request: Request,
    /// It is the first one.
    pub first: bool,
    /// There are others.
    pub of_several: bool,
    /// Since when it waits for a place alone.
    pub waited_since: Ns,
}

impl Protocol {
    /// The host begins with a request of a lane.
    pub(super) fn begins(&mut self, lane: usize, id: u64, whole: Request, waited_since: Ns) {
        let open = OpenRequest { id, whole, waited_since, pending: 1, reported: false, wrong: false };
        let request = self.requests.insert(open);
        self.rests[lane].push_back(Rest { request, lba: whole.lba, sectors: whole.sectors });
        self.lane_commands[lane] += u64::from(whole.sectors.div_ceil(self.most(&whole)).max(1));
    }

    /// Whether a request of a lane is not wholly taken in.
    pub(super) fn has_rest(&self, lane: usize) -> bool {
        !self.rests[lane].is_empty()
    }

    /// Whether one of any lane is.
    pub(super) fn has_rests(&self) -> bool {
        self.rests.iter().any(|rests| !rests.is_empty())
    }

    /// Whether the queues of a lane have an entry for another command.
    pub(super) fn has_entry(&self, lane: usize) -> bool {
        self.lane_commands[lane] < self.lane_entries[lane]
    }

    /// Sectors of a command of a request at most.
    fn most(&self, whole: &Request) -> u32 {
        match (whole.op, self.config.max_transfer) {
            (Op::Read | Op::Write, Some(most)) => most,
            // Commands without data are as long as they like.
            _ => u32::MAX,
        }
    }

    /// The request that is begun of which the next command of a lane is.
    pub(super) fn next_request(&self, lane: usize) -> Option<Request> {
        Some(self.requests[self.rests[lane].front()?.request].whole)
    }

    /// What the next command of a lane would ask for of the request that is begun.
    pub(super) fn next_part(&self, lane: usize) -> Option<(u32, Part)> {
        let Rest { request, lba, sectors } = *self.rests[lane].front()?;
        let OpenRequest { whole, waited_since, .. } = self.requests[request];
        let most = self.most(&whole);
        let part = Request { lba, sectors: sectors.min(most), ..whole };
        Some((request, Part { request: part, first: lba == whole.lba, of_several: whole.sectors > most, waited_since }))
    }

    /// The next command of a queue was taken in at `slot`.
    pub(super) fn part_taken_in(&mut self, queue: usize, slot: u32, part: &Part) {
        let lane = self.lane_of(queue);
        let Some(rest) = self.rests[lane].front_mut() else { return };
        let request = rest.request;
        (rest.lba.0, rest.sectors) = (part.request.end(), rest.sectors - part.request.sectors);
        if rest.sectors == 0 {
            self.rests[lane].pop_front();
        } else {
            self.requests[request].pending += 1;
        }
        self.of_command.resize(self.of_command.len().max(slot as usize + 1), OfCommand::default());
        self.of_command[slot as usize] = OfCommand { request, queue: queue as u32 };
        self.queues[queue].commands += 1;
        self.commands += 1;
    }

    /// The request of a command inside.
    pub fn request_of(&self, slot: u32) -> Request {
        self.requests[self.of_command[slot as usize].request].whole
    }

    /// A command completed. Returns its request, as one command, where that was the last one of it.
    pub(super) fn part_completed(&mut self, now: Ns, slot: u32, part: &HostCommand) -> Option<HostCommand> {
        let OfCommand { request: index, queue } = self.of_command[slot as usize];
        let queue = &mut self.queues[queue as usize];
        if queue.commands == queue.most {
            queue.room_since = now;
        }
        queue.commands -= 1;
        self.lane_commands[part.lane as usize] -= 1;
        let open = &mut self.requests[index];
        open.reported |= part.reported;
        open.wrong |= part.wrong;
        open.pending -= 1;
        if open.pending > 0 {
            return None;
        }
        let OpenRequest { id, whole, reported, wrong, .. } = *open;
        self.requests.remove(index);
        Some(HostCommand { id, lba: whole.lba.0, sectors: whole.sectors, reported, wrong, ..*part })
    }
}
