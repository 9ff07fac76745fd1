//! The channel: one transfer at a time. Bare commands (of reads and erases, which carry no data) go before data, unless a
//! policy has it otherwise (`policies/channel_arbitration`); within each kind, first come, first served.
//!
//! A transfer is a time stamp, not an event; a channel wakes only when somebody waits for it. Who gets it is decided when
//! everything else of an instant is done: a die freed at the instant at which its channel frees is not too late.

use ninescope_kernel::{Fifo, Ns};

/// One channel of dies or banks. Who waits for it is linked through [`Station`](super::Station).
#[derive(Debug, Default)]
pub struct Bus {
    /// When the present transfer ends.
    pub(super) free_at: Ns,
    /// Stations that wait to send a command without data (or any, if the policy says so), in the order of asking.
    pub(super) commands: Fifo,
    /// Stations that wait to move data, in the order of asking.
    pub(super) data: Fifo,
    /// Time spent transferring since the counters were cleared [ns].
    busy: Ns,
}

impl Bus {
    /// It is taken from `now` until then.
    #[inline]
    pub(super) fn take(&mut self, now: Ns, until: Ns) {
        self.busy += until - now;
        self.free_at = until;
    }

    /// Counts from `now` on: what is left of the present transfer belongs to the measured time.
    pub(super) fn begin_measuring(&mut self, now: Ns) {
        self.busy = self.free_at.saturating_since(now);
    }

    /// Time spent transferring until `now`.
    pub(super) fn busy_until(&self, now: Ns) -> Ns {
        self.busy.saturating_since(self.free_at.saturating_since(now))
    }
}
