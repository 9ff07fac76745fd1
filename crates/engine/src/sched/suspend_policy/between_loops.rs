//! Deferred erase suspension (D-ES): the running loop is finished, then the reads that wait are served. An erase of
//! n loops is suspended at most n - 1 times, and a read waits for one loop at most.
//!
//! Baseline of SSR (Kim, Seo, Kim, JKICS 50(9), 2025).

use ninescope_media::nand::CommandKind;
use serde::{Deserialize, Serialize};

use super::{SuspendDecision, SuspendPolicy, SuspendQuestion};

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BetweenLoops {
    /// Whether programs are suspended too, at the ends of their pulses.
    pub programs: bool,
}

impl SuspendPolicy for BetweenLoops {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, .. } = *question;
        match operation.command.kind {
            CommandKind::Read => SuspendDecision::Continue,
            CommandKind::Program if !self.programs => SuspendDecision::Continue,
            CommandKind::Program | CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, 1)),
        }
    }
}
