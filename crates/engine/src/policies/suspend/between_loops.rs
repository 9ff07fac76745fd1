//! Deferred erase suspension (D-ES): the running loop is finished, then the reads that wait are served. An erase of
//! n loops is suspended at most n - 1 times, and a read waits for one loop at most.
//!
//! Baseline of SSR (Kim, Seo, Kim, JKICS 50(9), 2025).

use ninescope_media::nand::CommandKind;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    PARKED_MAX, SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion, no_patience, parked_too_long,
};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BetweenLoops {
    /// Whether programs are suspended too, at the ends of their pulses.
    pub programs: bool,
    /// How long a parked operation lets reads go first that never cease [ns].
    #[schemars(transform = above_zero)]
    pub parked_max: Duration,
}

impl Default for BetweenLoops {
    fn default() -> Self {
        Self { programs: false, parked_max: PARKED_MAX }
    }
}

impl SuspendPolicyParameters for BetweenLoops {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        no_patience("parked_max", self.parked_max)
    }

    fn needs_loops(&self) -> bool {
        true
    }
}

impl SuspendPolicy for BetweenLoops {
    fn watches_writes(&self) -> bool {
        false
    }

    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, .. } = *question;
        match operation.command.kind {
            CommandKind::Read => SuspendDecision::Continue,
            CommandKind::Program if !self.programs => SuspendDecision::Continue,
            CommandKind::Program | CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, 1)),
        }
    }

    fn goes_before_reads(&mut self, question: &SuspendQuestion<'_>) -> bool {
        parked_too_long(question, self.parked_max)
    }
}
