//! The timeline of a window of simulated time: slices of dies and channels, and the requests that touch it.
//!
//! Whatever lies in the window in part is cut to it when the timeline is written. There is a limit; where the window
//! holds more, it ends where the limit was reached, and a note says so.

use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::DieId;

use super::account::Account;
use super::dies::{Acts, DieSlice};

/// Events that a timeline holds at most, but for those under way when it is full.
const EVENTS_MAX: usize = 200_000;

/// A transfer on a channel.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Its beginning [ns].
    pub from: Ns,
    /// Its end [ns].
    pub until: Ns,
    /// The die at the other end.
    pub die: DieId,
    /// Which command it belongs to.
    pub kind: CommandKind,
    /// Data leave the die.
    pub out: bool,
}

/// What happened in a window.
#[derive(Debug)]
pub struct Timeline {
    from: Ns,
    until: Ns,
    asked: Ns,
    most: usize,
    events: usize,
    dies: Vec<DieSlice>,
    transfers: Vec<Transfer>,
    requests: Vec<Account>,
}

impl Timeline {
    /// An empty timeline from one time until another.
    pub fn new(from: Ns, until: Ns) -> Self {
        Self {
            from,
            until,
            asked: until,
            most: EVENTS_MAX,
            events: 0,
            dies: Vec::new(),
            transfers: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Whether something that lasts from one time until another touches the window.
    pub fn takes(&self, from: Ns, until: Ns) -> bool {
        from < self.until && until > self.from
    }

    /// The window, as far as it is filled, from and until [ns].
    pub fn window(&self) -> (Ns, Ns) {
        (self.from, self.until)
    }

    /// The slices of dies, in the order in which they ended.
    pub fn dies(&self) -> &[DieSlice] {
        &self.dies
    }

    /// The transfers of all channels.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// The requests, in the order of their completion.
    pub fn requests(&self) -> &[Account] {
        &self.requests
    }

    /// Counts events; the window ends at `now` when there are too many.
    fn count(&mut self, now: Ns, events: usize) {
        self.events += events;
        if self.events >= self.most {
            self.until = self.until.min(now);
        }
    }

    /// A slice of a die's track is over.
    pub fn die(&mut self, now: Ns, slice: DieSlice) {
        if self.takes(slice.stretch.from, slice.stretch.until) {
            self.dies.push(slice);
            self.count(now, 1);
        }
    }

    /// A channel is taken until `until`.
    pub fn transfer(&mut self, now: Ns, until: Ns, command: &FlashCommand, out: bool) {
        if self.takes(now, until) {
            self.transfers.push(Transfer { from: now, until, die: command.die, kind: command.kind, out });
            self.count(now, 1);
        }
    }

    /// A request completed.
    pub fn request(&mut self, now: Ns, account: &Account) {
        // What the dies did is on their own tracks.
        let mut account = account.clone();
        account.stages.iter_mut().for_each(|stage| stage.acts = Acts::default());
        let events = 2 * (account.stages.len() + 1);
        self.requests.push(account);
        self.count(now, events);
    }

    /// What a reader must know: that the window is empty, or fuller than what was kept of it.
    pub fn note(&self, now: Ns) -> Option<String> {
        let (from, asked) = (self.from, self.asked);
        if now <= from {
            return Some(format!("the timeline from {from} to {asked} is empty: the run ended at {now}"));
        }
        if self.events == 0 {
            return Some(format!("the timeline from {from} to {asked} is empty: nothing happened then"));
        }
        (self.until < asked).then(|| {
            format!(
                "the timeline from {from} to {asked} ends at {}: there were {} events by then, and no more are kept; \
                 ask for a shorter window",
                self.until, self.events
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_holds_too_much_ends_early_and_says_so() {
        let mut timeline = Timeline { most: 3, ..Timeline::new(Ns(100), Ns(1_000)) };
        let command = FlashCommand::default();
        assert!(timeline.note(Ns(90)).is_some_and(|note| note.contains("the run ended at 90 ns")));
        assert!(timeline.note(Ns(990)).is_some_and(|note| note.contains("nothing happened")));
        for at in [0, 50, 200, 300, 400, 500, 600] {
            timeline.transfer(Ns(at), Ns(at + 60), &command, false);
        }
        // The one at 50 reaches into the window; that at 300 is the last.
        assert_eq!(timeline.transfers().len(), 3);
        assert_eq!(timeline.window(), (Ns(100), Ns(300)));
        assert!(timeline.note(Ns(990)).is_some_and(|note| note.contains("ends at 300 ns")));
    }
}
