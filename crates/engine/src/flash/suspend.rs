//! Suspending and resuming: when the policy is asked, and what its answers do to a die.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::nand::{CommandKind, DieState};
use ninescope_model::{DieId, Occupancy};

use super::Flash;
use crate::policies::suspend::{SuspendDecision, SuspendQuestion};
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::QueueClass;

impl Flash {
    /// Asks the suspend policy, if there is one, about the operation that keeps a read waiting.
    #[inline]
    pub(super) fn consider_suspend<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) {
        if self.suspend_policy.is_some() {
            self.ask_suspend_policy(run, die);
        }
    }

    // The functions of this file are kept out of line: a drive that suspends nothing pays one comparison.
    #[inline(never)]
    fn ask_suspend_policy<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) {
        // A die that is to fail takes no reads up, and goes on to the end of what it has begun.
        if self.is_to_fail(die) {
            return;
        }
        let oldest_write_wait = self.watched_write_wait(run);
        let Some(policy) = self.suspend_policy.as_mut() else { return };
        if self.nand.state(die) != DieState::Busy {
            return;
        }
        let Some(operation) = self.nand.running(die) else { return };
        // A copyback goes on to its end as a read does: its page register is not free for another page.
        if operation.command.kind == CommandKind::Read || operation.command.copies {
            return;
        }
        let (now, started) = (run.now, operation.started);
        let (cycles, queued) = (self.nand.cycles_of(&operation.command), self.dies[die.0].queued());
        match policy.decide(&SuspendQuestion { operation, now, cycles, oldest_write_wait, queued }) {
            SuspendDecision::Continue => return,
            SuspendDecision::Now => self.nand.stop_at(die, now.max(started)),
            SuspendDecision::At(at) => self.nand.stop_at(die, at.max(started)),
            SuspendDecision::RestartLoop => self.nand.stop_and_restart_loop(die, now.max(started)),
        }
        let wake = self.nand.next_change(die);
        run.queue.schedule(self.dies.resource(die.0), wake);
    }

    /// Whether the policy takes the parked operation up again now, although reads wait.
    #[inline(never)]
    pub(super) fn parked_goes_before_reads<Q>(&mut self, run: &Run<Q>, die: DieId) -> bool {
        let oldest_write_wait = self.watched_write_wait(run);
        let (Some(policy), Some(operation)) = (self.suspend_policy.as_mut(), self.nand.parked(die)) else {
            return false;
        };
        let (now, cycles, queued) = (run.now, self.nand.cycles_of(&operation.command), self.dies[die.0].queued());
        policy.goes_before_reads(&SuspendQuestion { operation, now, cycles, oldest_write_wait, queued })
    }

    /// How long the host write has waited that has waited longest, if the policy wants to know; else 0 [ns].
    fn watched_write_wait<Q>(&self, run: &Run<Q>) -> Ns {
        if !self.suspend_policy.as_ref().is_some_and(|policy| policy.watches_writes()) {
            return Ns::ZERO;
        }
        let since = self.line.oldest_of_host().into_iter().chain(self.dies.oldest_host_program(run)).min();
        since.map_or(Ns::ZERO, |since| run.now - since)
    }

    /// The running operation stops; its voltages recover. Returns how much of its pulse time it has to repeat.
    #[inline(never)]
    pub fn stop_reached<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) -> Ns {
        let lost_before = self.nand.running(die).map_or(Ns::ZERO, |operation| operation.lost);
        let recovered_at = self.nand.stop_reached(die, run.now);
        let lost = self.nand.parked(die).map_or(Ns::ZERO, |operation| operation.lost) - lost_before;
        if self.dies[die.0].work.shared {
            self.close_shares(run, die.0, run.now);
        }
        self.next_draws(run, die, (self.dies[die.0].occupancy, Draws::Suspended));
        self.dies[die.0].enter(run.now, Phase::Recovering, Occupancy::SuspendOverhead);
        self.planes_follow(run, die);
        run.queue.schedule(self.dies.resource(die.0), recovered_at);
        run.counters.suspends += 1;
        run.counters.loops_restarted += u64::from(lost > Ns::ZERO);
        run.meter.suspensions.record_lost(lost.0);
        lost
    }

    /// The voltages have recovered: the die takes reads.
    #[inline(never)]
    pub fn recovered<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        self.nand.recovered(die, run.now);
        self.next_draws(run, die, (Occupancy::SuspendOverhead, Draws::Parked));
        self.dies.set_free(run.now, die.0);
        self.planes_follow(run, die);
    }

    /// Nothing that may run beside the parked operation waits, or it has waited long enough itself.
    #[inline(never)]
    pub fn resume_parked<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) {
        let ramped_at = self.nand.resume(die, run.now);
        if let (Some(power), Some(operation)) = (&mut run.power, self.nand.parked(die)) {
            power.takes(die, operation.command.kind);
        }
        self.next_draws(run, die, (Occupancy::SuspendOverhead, Draws::Suspended));
        self.dies[die.0].enter(run.now, Phase::Resuming, Occupancy::SuspendOverhead);
        self.planes_follow(run, die);
        run.queue.schedule(self.dies.resource(die.0), ramped_at);
        run.counters.resumes += 1;
    }

    /// The pulses of a resumed operation go on.
    #[inline(never)]
    pub fn ramp_ended<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) {
        let end = self.nand.resumed(die, run.now);
        self.next_draws(run, die, (Occupancy::SuspendOverhead, Draws::Working));
        debug_assert_eq!(self.nand.state(die), DieState::Busy, "a resumed operation runs");
        if let Some(operation) = self.nand.running(die) {
            self.dies[die.0].work.command = operation.command;
        }
        let occupancy = run.occupancy_of(&self.dies[die.0].work.command);
        let unit = &mut self.dies[die.0];
        unit.occupancy = occupancy;
        unit.enter(run.now, Phase::Array, occupancy);
        self.take_up_shares(run, die);
        self.planes_follow(run, die);
        run.queue.schedule(self.dies.resource(die.0), end);
        if self.dies[die.0].has_waiting(QueueClass::HostRead) {
            self.consider_suspend(run, die);
        }
    }

    /// What a die has drawn so far was for something, and is over; it goes on with its suspended operation.
    fn next_draws<Q>(&mut self, run: &mut Run<Q>, die: DieId, (was_for, next): (Occupancy, Draws)) {
        let (now, Some(power)) = (run.now, &mut run.power) else { return };
        power.die_rests(now, die, was_for);
        let operation = self.nand.parked(die).or_else(|| self.nand.running(die));
        let kind = operation.map(|operation| operation.command.kind);
        match (next, kind) {
            (Draws::Suspended, Some(kind)) => power.die_moves_voltages(now, die, kind),
            (Draws::Working, Some(kind)) => power.die_works(now, die, kind, now),
            _ => self.power_is_given_back(run, die),
        }
    }
}

/// What a die draws that has suspended an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draws {
    /// What its voltages take.
    Suspended,
    /// Nothing.
    Parked,
    /// What the operation does, which goes on.
    Working,
}
