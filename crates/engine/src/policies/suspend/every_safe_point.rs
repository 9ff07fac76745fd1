//! SSR static: suspend at the next of so many equally spaced points of a loop whenever a read waits. The
//! operation reaches at least the next point after each resume, so that it is suspended no more often than there
//! are points.
//!
//! SSR (Kim, Seo, Kim, JKICS 50(9), 2025), section 3.3: ten points.

use std::num::NonZeroU32;

use ninescope_media::nand::CommandKind;
use ninescope_model::schema::above_zero;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    PARKED_MAX, SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion, no_patience, parked_too_long,
};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EverySafePoint {
    /// Safe points in each erase loop, the loop's end among them.
    pub points_per_loop: NonZeroU32,
    /// Whether programs are suspended too, at the ends of their pulses.
    pub programs: bool,
    /// How long a parked operation lets reads go first that never cease [ns].
    #[schemars(transform = above_zero)]
    pub parked_max: Duration,
}

impl Default for EverySafePoint {
    fn default() -> Self {
        Self { points_per_loop: NonZeroU32::new(10).expect("ten is not zero"), programs: false, parked_max: PARKED_MAX }
    }
}

impl SuspendPolicyParameters for EverySafePoint {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        no_patience("parked_max", self.parked_max)
    }
}

impl SuspendPolicy for EverySafePoint {
    fn watches_writes(&self) -> bool {
        false
    }

    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, .. } = *question;
        match operation.command.kind {
            CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, self.points_per_loop.get())),
            CommandKind::Program if self.programs => SuspendDecision::At(operation.next_safe_point(now, 1)),
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }

    fn goes_before_reads(&mut self, question: &SuspendQuestion<'_>) -> bool {
        parked_too_long(question, self.parked_max)
    }
}
