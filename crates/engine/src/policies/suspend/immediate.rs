//! Immediate erase suspension (I-ES): stop at once whenever a read waits, as often as reads come. It makes no promise
//! about the erase: reads that come faster than voltages recover and ramp keep it from ever ending.
//!
//! Baseline of SSR (Kim, Seo, Kim, JKICS 50(9), 2025).

use ninescope_media::nand::CommandKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion};

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Immediate {
    /// Whether programs are suspended too, at the end of the pulse that runs.
    pub programs: bool,
}

impl SuspendPolicyParameters for Immediate {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }
}

impl SuspendPolicy for Immediate {
    fn watches_writes(&self) -> bool {
        false
    }

    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        match question.operation.command.kind {
            CommandKind::Erase => SuspendDecision::Now,
            CommandKind::Program if self.programs => SuspendDecision::Now,
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }
}
