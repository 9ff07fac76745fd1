//! The state machine of one die.
//!
//! ```text
//! Idle --begin--> Busy --end--> Idle
//! Busy --stop reached--> Recovering --recovered--> Suspended --resume--> Resuming --resumed--> Busy
//! Suspended --begin read--> Suspended + foreground --end--> Suspended
//! ```
//!
//! At most one operation is parked. Times are stamps that the caller brings back as `now`; the machine
//! has no clock.

use ninescope_kernel::Ns;

use super::{CommandKind, FlashCommand, Operation};

/// What a die does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DieState {
    /// Nothing runs and nothing is parked.
    #[default]
    Idle,
    /// An operation is, or will be from its start on, in the array.
    Busy,
    /// An operation was stopped; voltages recover and the die takes nothing.
    Recovering,
    /// An operation is parked.
    Suspended {
        /// Whether a read runs beside the parked operation.
        foreground: bool,
    },
    /// The parked operation goes on as soon as voltages have ramped up.
    Resuming,
}

/// A command whose array phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The command.
    pub command: FlashCommand,
    /// How often it was suspended [count].
    pub suspensions: u32,
    /// Program pulses or erase loops it took, 1 for a read; those begun again count once [count].
    pub segments: u32,
    /// When its first stretch began [ns].
    pub began: Ns,
    /// Suspensions beyond what an erase of such a block bears [count].
    pub excess_suspensions: u32,
}

/// One die. `running` and `parked` hold leftovers where the state does not use them.
#[derive(Clone, Debug)]
pub(super) struct Die {
    pub(super) state: DieState,
    running: Operation,
    parked: Operation,
    /// When the running operation is to be stopped, `Ns::NEVER` when it is not.
    stop: Ns,
    /// Whether the stopped loop begins again.
    restart: bool,
    /// When the present phase (array, recovery or ramp) ends, `Ns::NEVER` when none passes.
    phase_end: Ns,
}

impl Default for Die {
    fn default() -> Self {
        Self {
            state: DieState::Idle,
            running: Operation::default(),
            parked: Operation::default(),
            stop: Ns::NEVER,
            restart: false,
            phase_end: Ns::NEVER,
        }
    }
}

impl Die {
    /// Puts a legal command into the array at `at`; returns when its phase ends.
    #[inline]
    pub(super) fn begin(&mut self, command: &FlashCommand, at: Ns, total: Ns, segments: u32) -> Ns {
        self.running = Operation {
            command: *command,
            started: at,
            total,
            done: Ns::ZERO,
            segments,
            suspensions: 0,
            run_until_at_least: Ns::ZERO,
            began: at,
            stopped: Ns::ZERO,
            lost: Ns::ZERO,
        };
        self.state = match self.state {
            DieState::Suspended { .. } => DieState::Suspended { foreground: true },
            _ => DieState::Busy,
        };
        self.stop = Ns::NEVER;
        self.phase_end = at + total;
        self.phase_end
    }

    /// The running operation is over.
    #[inline]
    pub(super) fn end(&mut self) -> Ended {
        self.state = match self.state {
            DieState::Suspended { .. } => DieState::Suspended { foreground: false },
            _ => DieState::Idle,
        };
        self.stop = Ns::NEVER;
        self.phase_end = Ns::NEVER;
        let Operation { command, suspensions, segments, began, .. } = self.running;
        Ended { command, suspensions, segments, began, excess_suspensions: 0 }
    }

    #[inline]
    pub(super) fn running(&self) -> Option<&Operation> {
        matches!(self.state, DieState::Busy | DieState::Suspended { foreground: true }).then_some(&self.running)
    }

    #[inline]
    pub(super) fn parked(&self) -> Option<&Operation> {
        match self.state {
            DieState::Idle | DieState::Busy => None,
            DieState::Recovering | DieState::Suspended { .. } | DieState::Resuming => Some(&self.parked),
        }
    }

    #[inline]
    pub(super) fn end_time(&self) -> Ns {
        if self.running().is_some() { self.phase_end } else { Ns::NEVER }
    }

    #[inline]
    pub(super) fn stop_time(&self) -> Option<Ns> {
        (self.stop != Ns::NEVER).then_some(self.stop)
    }

    #[inline]
    pub(super) fn next_change(&self) -> Ns {
        self.stop.min(self.phase_end)
    }

    pub(super) fn stop_at(&mut self, at: Ns, restart: bool) {
        debug_assert!(self.can_stop(), "a stop of a die that runs no program or erase");
        if !self.can_stop() {
            return;
        }
        // A pulse once begun is finished and verified; an erase loop can be left and taken up again.
        let stop = match self.running.command.kind {
            CommandKind::Program => self.running.next_safe_point(at, 1),
            CommandKind::Read | CommandKind::Erase => self.running.next_stop(at),
        };
        self.stop = if stop < self.phase_end { stop } else { Ns::NEVER };
        self.restart = restart && self.running.command.kind == CommandKind::Erase;
    }

    fn can_stop(&self) -> bool {
        self.state == DieState::Busy && self.running.command.kind != CommandKind::Read
    }

    pub(super) fn clear_stop(&mut self) {
        self.stop = Ns::NEVER;
    }

    pub(super) fn require_progress(&mut self, pulse_time: Ns) {
        let operation = if self.state == DieState::Busy { &mut self.running } else { &mut self.parked };
        operation.run_until_at_least = operation.run_until_at_least.max(pulse_time);
    }

    pub(super) fn stop_reached(&mut self, now: Ns, suspend_recover: Ns) -> Ns {
        debug_assert!(self.state == DieState::Busy && self.stop == now, "a stop that was not requested for now");
        let reached = self.running.progress(now);
        let done = if self.restart { self.running.segment_begin(now) } else { reached };
        self.parked = Operation {
            done,
            stopped: now,
            lost: self.running.lost + (reached - done),
            suspensions: self.running.suspensions + 1,
            // Each stretch moves on, so that suspending for ever still ends and no instant repeats itself.
            run_until_at_least: self.running.run_until_at_least.max(done + Ns(1)),
            ..self.running
        };
        self.state = DieState::Recovering;
        self.stop = Ns::NEVER;
        self.phase_end = now + suspend_recover;
        self.phase_end
    }

    pub(super) fn recovered(&mut self, now: Ns) {
        debug_assert!(self.state == DieState::Recovering && self.phase_end == now, "recovery does not end now");
        self.state = DieState::Suspended { foreground: false };
        self.phase_end = Ns::NEVER;
    }

    pub(super) fn resume(&mut self, now: Ns, resume_ramp: Ns) -> Ns {
        debug_assert!(self.state == DieState::Suspended { foreground: false }, "nothing to resume");
        self.state = DieState::Resuming;
        self.phase_end = now + resume_ramp;
        self.phase_end
    }

    pub(super) fn resumed(&mut self, now: Ns) -> Ns {
        debug_assert!(self.state == DieState::Resuming && self.phase_end == now, "the ramp does not end now");
        self.running = Operation { started: now, ..self.parked };
        self.state = DieState::Busy;
        self.phase_end = self.running.end();
        self.phase_end
    }
}
