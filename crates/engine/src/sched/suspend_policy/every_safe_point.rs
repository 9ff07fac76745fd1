//! Suspend at the next safe point whenever a read waits: the plainest policy that exercises the whole
//! die machine. It keeps no count and makes no promise about the operation's progress beyond one point
//! per resume.

use std::num::NonZeroU32;

use ninescope_media::nand::CommandKind;
use serde::{Deserialize, Serialize};

use super::{SuspendDecision, SuspendPolicy, SuspendQuestion};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EverySafePoint {
    /// Safe points in each erase loop, the loop's end among them.
    pub points_per_loop: NonZeroU32,
    /// Whether programs are suspended too, at the ends of their pulses.
    pub programs: bool,
}

impl Default for EverySafePoint {
    fn default() -> Self {
        Self { points_per_loop: NonZeroU32::new(10).expect("ten is not zero"), programs: false }
    }
}

impl SuspendPolicy for EverySafePoint {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, .. } = *question;
        match operation.command.kind {
            CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, self.points_per_loop.get())),
            CommandKind::Program if self.programs => SuspendDecision::At(operation.next_safe_point(now, 1)),
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }
}
