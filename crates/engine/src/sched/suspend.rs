//! Suspending and resuming: when the policy is asked, and what its answers do to a die.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::nand::{CommandKind, DieState};
use ninescope_model::{DieId, Occupancy, Source};

use super::DiePhase;
use super::suspend_policy::{SuspendDecision, SuspendQuestion};
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::transaction::QueueClass;

impl<K: Kind> Device<K> {
    /// Asks the suspend policy, if there is one, about the operation that keeps a read waiting.
    #[inline]
    pub(crate) fn consider_suspend(&mut self, die: DieId) {
        if self.suspend_policy.is_some() {
            self.ask_suspend_policy(die);
        }
    }

    // The functions of this file are kept out of line: a drive that suspends nothing pays one comparison.
    #[inline(never)]
    fn ask_suspend_policy(&mut self, die: DieId) {
        let oldest_write_wait = self.watched_write_wait();
        let Some(policy) = self.suspend_policy.as_mut() else { return };
        if self.nand.state(die) != DieState::Busy {
            return;
        }
        let Some(operation) = self.nand.running(die) else { return };
        if operation.command.kind == CommandKind::Read {
            return;
        }
        let (now, started) = (self.now, operation.started);
        let cycles = self.nand.cycles_of(&operation.command);
        match policy.decide(&SuspendQuestion { operation, now, cycles, oldest_write_wait }) {
            SuspendDecision::Continue => return,
            SuspendDecision::Now => self.nand.stop_at(die, now.max(started)),
            SuspendDecision::At(at) => self.nand.stop_at(die, at.max(started)),
            SuspendDecision::RestartLoop => self.nand.stop_and_restart_loop(die, now.max(started)),
        }
        let wake = self.nand.next_change(die);
        self.queue.schedule(self.resources.die(die), wake);
    }

    /// Whether the policy takes the parked operation up again now, although reads wait.
    #[inline(never)]
    pub(super) fn parked_goes_before_reads(&mut self, die: DieId) -> bool {
        let oldest_write_wait = self.watched_write_wait();
        let (Some(policy), Some(operation)) = (self.suspend_policy.as_mut(), self.nand.parked(die)) else {
            return false;
        };
        let cycles = self.nand.cycles_of(&operation.command);
        policy.goes_before_reads(&SuspendQuestion { operation, now: self.now, cycles, oldest_write_wait })
    }

    /// How long the host write has waited that has waited longest, if the policy wants to know; else 0 [ns].
    fn watched_write_wait(&self) -> Ns {
        if !self.suspend_policy.as_ref().is_some_and(|policy| policy.watches_writes()) {
            return Ns::ZERO;
        }
        // A migration that waits for a place names no command.
        let of_host = self.stalled.iter().find(|entry| entry.source == Source::Host);
        let stalled = of_host.map(|entry| self.commands[entry.command].mark);
        let programs = self.dies.iter().filter(|die| die.has_waiting(QueueClass::HostProgram)).map(|die| {
            let first = die.queues[QueueClass::HostProgram as usize].head();
            self.transactions.slab[first].queued
        });
        let since = stalled.into_iter().chain(programs).min();
        since.map_or(Ns::ZERO, |since| self.now - since)
    }

    #[inline(never)]
    pub(super) fn stop_reached(&mut self, die: DieId) -> Result<(), SimulationError> {
        let lost_before = self.nand.running(die).map_or(Ns::ZERO, |operation| operation.lost);
        let recovered_at = self.nand.stop_reached(die, self.now);
        let lost = self.nand.parked(die).map_or(Ns::ZERO, |operation| operation.lost) - lost_before;
        if self.dies[die.index()].shared {
            self.close_shares(die, self.now);
        }
        let unit = &mut self.dies[die.index()];
        unit.phase = DiePhase::Recovering;
        unit.ledger.enter(self.now, Occupancy::SuspendOverhead);
        self.queue.schedule(self.resources.die(die), recovered_at);
        self.counters.suspends += 1;
        self.counters.loops_restarted += u64::from(lost > Ns::ZERO);
        self.meter.suspensions.record_lost(lost.0);
        observe!(self, Event::Suspended { die, lost });
        Ok(())
    }

    #[inline(never)]
    pub(super) fn recovered(&mut self, die: DieId) -> Result<(), SimulationError> {
        self.nand.recovered(die, self.now);
        self.set_free(die);
        observe!(self, Event::Recovered { die });
        Ok(())
    }

    /// Nothing that may run beside the parked operation waits, or it has waited long enough itself.
    #[inline(never)]
    pub(super) fn resume_parked(&mut self, die: DieId) -> Result<(), SimulationError> {
        let ramped_at = self.nand.resume(die, self.now);
        let unit = &mut self.dies[die.index()];
        unit.phase = DiePhase::Resuming;
        unit.ledger.enter(self.now, Occupancy::SuspendOverhead);
        self.queue.schedule(self.resources.die(die), ramped_at);
        self.counters.resumes += 1;
        observe!(self, Event::ResumeBegan { die });
        Ok(())
    }

    #[inline(never)]
    pub(super) fn ramp_ended(&mut self, die: DieId) -> Result<(), SimulationError> {
        let end = self.nand.resumed(die, self.now);
        debug_assert_eq!(self.nand.state(die), DieState::Busy, "a resumed operation runs");
        let unit = &mut self.dies[die.index()];
        unit.phase = DiePhase::Array;
        if let Some(operation) = self.nand.running(die) {
            unit.command = operation.command;
        }
        let occupancy = self.occupancy_of(die);
        let unit = &mut self.dies[die.index()];
        unit.occupancy = occupancy;
        unit.ledger.enter(self.now, unit.occupancy);
        self.take_up_shares(die);
        self.queue.schedule(self.resources.die(die), end);
        if self.dies[die.index()].has_waiting(QueueClass::HostRead) {
            self.consider_suspend(die);
        }
        observe!(self, Event::Resumed { die });
        Ok(())
    }

    /// The occupancy of the die's command, from the class of its first transaction.
    fn occupancy_of(&self, die: DieId) -> Occupancy {
        let command = &self.dies[die.index()].command;
        let plane = command.planes.trailing_zeros() as usize;
        let transaction = &self.transactions.slab[command.transaction[plane]];
        transaction.class.occupancy(transaction.source)
    }
}
