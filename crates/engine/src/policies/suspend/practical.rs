//! Practical erase suspension: a controller that cannot go on in the middle of a loop. It stops at once, the
//! interrupted loop begins again on resume, and the last loop is never interrupted. So that neither an erase nor a
//! write starves, nothing is suspended, and what is parked goes on before all reads, once a host write or the
//! erase itself has waited too long.
//!
//! Kim et al., "Practical Erase Suspension for Modern Low-latency SSDs", USENIX ATC 2019, as the authors of AERO
//! simulate it (MQSim fork, branch `impl_lazy_erase`: `erase_timeout_delay` of 64 ms, with host writes alone). That the
//! erase's own wait counts too is added here: without it reads alone could hold an erase up for ever.

use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion, no_patience};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Practical {
    /// How long a host write or the erase may have waited when something is suspended [ns].
    #[schemars(transform = above_zero)]
    pub timeout: Duration,
    /// Whether programs are suspended too, at the ends of their pulses.
    pub programs: bool,
}

impl Default for Practical {
    fn default() -> Self {
        Self { timeout: Duration(64_000_000), programs: false }
    }
}

impl SuspendPolicyParameters for Practical {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        no_patience("timeout", self.timeout)
    }

    fn needs_loops(&self) -> bool {
        true
    }
}

impl Practical {
    fn is_overdue(&self, question: &SuspendQuestion<'_>) -> bool {
        let own_wait = question.now.saturating_since(question.operation.began);
        own_wait.max(question.oldest_write_wait) >= Ns(self.timeout.0)
    }
}

impl SuspendPolicy for Practical {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, .. } = *question;
        let is_last = operation.segment_at(now) + 1 == operation.segments;
        match operation.command.kind {
            _ if self.is_overdue(question) => SuspendDecision::Continue,
            CommandKind::Erase if is_last => SuspendDecision::Continue,
            CommandKind::Erase => SuspendDecision::RestartLoop,
            CommandKind::Program if self.programs => SuspendDecision::At(operation.next_safe_point(now, 1)),
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }

    fn goes_before_reads(&mut self, question: &SuspendQuestion<'_>) -> bool {
        self.is_overdue(question)
    }
}

#[cfg(test)]
mod tests {
    use ninescope_media::nand::{FlashCommand, Operation};

    use super::*;
    use crate::transaction::CLASSES;

    #[test]
    fn nothing_is_suspended_once_a_write_or_the_erase_has_waited_for_the_timeout() {
        let command = FlashCommand { kind: CommandKind::Erase, planes: 1, ..FlashCommand::default() };
        let operation = Operation { command, total: Ns(3_000), segments: 3, ..Operation::default() };
        let mut policy = Practical { timeout: Duration(500), programs: false };
        for (now, oldest_write_wait, decision) in [
            (100, 0, SuspendDecision::RestartLoop),
            (100, 499, SuspendDecision::RestartLoop),
            (100, 500, SuspendDecision::Continue),
            (499, 0, SuspendDecision::RestartLoop),
            (500, 0, SuspendDecision::Continue),
        ] {
            let oldest_write_wait = Ns(oldest_write_wait);
            let (now, queued) = (Ns(now), [0; CLASSES]);
            let question = SuspendQuestion { operation: &operation, now, cycles: 0, oldest_write_wait, queued };
            assert_eq!(policy.decide(&question), decision, "at {now}, a write has waited for {oldest_write_wait}");
            let goes_on = decision == SuspendDecision::Continue;
            assert_eq!(policy.goes_before_reads(&question), goes_on);
        }
    }
}
