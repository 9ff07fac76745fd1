//! Dies ask for power before they begin with something, where there is a cap, and give it back when that is over.

use ninescope_kernel::WakeQueue;
use ninescope_media::nand::{CommandKind, DieState};
use ninescope_model::{DieId, Occupancy};

use super::Flash;
use crate::power::Asked;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::QueueClass;

/// Whether a die may go on with what it would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForPower {
    /// It need not wait.
    Goes,
    /// It has waited, and need not any more.
    GoesOn,
    /// It has waited, and has nothing to do any more.
    Leaves,
    /// It waits.
    Waits,
    /// The same from now on.
    BeginsToWait,
}

impl Flash {
    /// A die that may be given a command asks for the power that this draws, whatever is chosen of what waits.
    pub fn ask_for_power<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) -> ForPower {
        if !run.power.as_ref().is_some_and(|power| power.is_capped()) {
            return ForPower::Goes;
        }
        self.dies.free_after_data_out(run, die.0);
        let answer = self.answer_for_power(run, die);
        Self::await_measuring(run);
        answer
    }

    fn answer_for_power<Q>(&mut self, run: &mut Run<Q>, die: DieId) -> ForPower {
        let wanted = self.power_wanted(run, die);
        let Some(power) = &mut run.power else { return ForPower::Goes };
        let Some(wanted) = wanted else {
            let waited = power.wants_nothing(die);
            if waited {
                self.dies[die.0].enter(run.now, Phase::Free, Occupancy::Idle);
                self.next_in_line(run);
            }
            return if waited { ForPower::Leaves } else { ForPower::Goes };
        };
        match power.ask(die, wanted) {
            Asked::Granted { waited } => {
                if waited {
                    self.dies[die.0].enter(run.now, Phase::Free, Occupancy::Idle);
                }
                self.next_in_line(run);
                if waited { ForPower::GoesOn } else { ForPower::Goes }
            }
            Asked::Waits { joined: false } => ForPower::Waits,
            Asked::Waits { joined: true } => {
                run.counters.power_waits += 1;
                let occupancy = waits_as(power.throttle_step());
                self.dies[die.0].enter(run.now, Phase::Free, occupancy);
                ForPower::BeginsToWait
            }
        }
    }

    /// While dies wait, they may be given more power, or less, when the drive is found to be cooler or warmer.
    pub fn await_measuring<Q: WakeQueue>(run: &mut Run<Q>) {
        let Some(power) = run.power.as_ref().filter(|power| power.has_throttle()) else { return };
        match power.measured_next() {
            Some(at) => run.queue.schedule(run.resources.heat(), at),
            None => run.queue.cancel(run.resources.heat()),
        }
    }

    /// The drive is in another step of its throttle: whoever waits does so for another reason, or need not any more.
    pub fn throttle_changes<Q>(&mut self, run: &Run<Q>, step: usize) {
        for die in run.power.iter().flat_map(|power| power.line()) {
            self.dies[die.0].enter(run.now, Phase::Free, waits_as(step));
        }
        self.next_in_line(run);
    }

    /// What the most draws of what a die may do next; `None` where it does nothing.
    fn power_wanted<Q>(&self, run: &Run<Q>, die: DieId) -> Option<u64> {
        let unit = &self.dies[die.0];
        if unit.phase() != Phase::Free || !matches!(self.nand.state(die), DieState::Idle | DieState::Suspended { .. }) {
            return None;
        }
        let config = run.power.as_ref()?.config();
        let parked = self.nand.parked(die).map(|operation| operation.command.kind);
        let waits =
            |class: &QueueClass| unit.has_waiting(*class) && (parked.is_none() || *class == QueueClass::HostRead);
        let kinds = QueueClass::ALL.iter().filter(|class| waits(class)).map(|class| match class {
            QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead => CommandKind::Read,
            QueueClass::HostProgram | QueueClass::MoveProgram => CommandKind::Program,
            QueueClass::Erase => CommandKind::Erase,
        });
        kinds.chain(parked).map(|kind| config.die[kind as usize]).max()
    }

    /// What a die has taken up draws nothing any more.
    pub(super) fn power_is_given_back<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        if let Some(power) = &mut run.power {
            power.gives_back(die);
            self.next_in_line(run);
        }
    }

    /// Who is first in line may go on before time does.
    fn next_in_line<Q>(&mut self, run: &Run<Q>) {
        if let Some(die) = run.power.as_ref().and_then(|power| power.first_in_line()) {
            self.dies.touch(die.0);
        }
    }
}

/// What a die is occupied with that waits for power in a step of the throttle.
fn waits_as(step: usize) -> Occupancy {
    if step > 0 { Occupancy::ThrottledByHeat } else { Occupancy::WaitingForPower }
}
