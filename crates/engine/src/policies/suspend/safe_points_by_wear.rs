//! SSR dynamic: the number of safe points in an erase loop follows the wear of the block, many while it is young
//! and can bear suspensions, few when it is worn.
//!
//! SSR (Kim, Seo, Kim, JKICS 50(9), 2025): 30 points at 100 P/E cycles, 10 at 1,000. What lies between is not
//! published; here the number falls linearly in the logarithm of the cycles, which meets both ends.

use ninescope_media::health::{LimitByWear, WearPoint};
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
#[serde(deny_unknown_fields, try_from = "Unchecked", into = "Unchecked")]
pub struct SafePointsByWear {
    /// A loop has as many safe points as it bears suspensions.
    limit: LimitByWear,
    programs: bool,
    parked_max: Duration,
}

/// The parameters as they are written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Unchecked {
    /// P/E cycles up to which a block is young [count].
    #[schemars(transform = above_zero)]
    young_cycles: u32,
    /// Safe points per loop of a young block [count].
    #[schemars(transform = above_zero)]
    young_points: u32,
    /// P/E cycles from which a block is worn [count].
    #[schemars(transform = above_zero)]
    worn_cycles: u32,
    /// Safe points per loop of a worn block [count].
    #[schemars(transform = above_zero)]
    worn_points: u32,
    /// Whether programs are suspended too, at the ends of their pulses.
    programs: bool,
    /// How long a parked operation lets reads go first that never cease [ns].
    #[schemars(transform = above_zero)]
    parked_max: Duration,
}

impl Default for Unchecked {
    fn default() -> Self {
        Self {
            young_cycles: 100,
            young_points: 30,
            worn_cycles: 1_000,
            worn_points: 10,
            programs: false,
            parked_max: PARKED_MAX,
        }
    }
}

impl Default for SafePointsByWear {
    fn default() -> Self {
        Self::try_from(Unchecked::default()).expect("the published numbers are legal")
    }
}

impl SuspendPolicyParameters for SafePointsByWear {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        no_patience("parked_max", self.parked_max)
    }

    fn needs_wear(&self) -> bool {
        true
    }
}

impl TryFrom<Unchecked> for SafePointsByWear {
    type Error = String;

    fn try_from(unchecked: Unchecked) -> Result<Self, String> {
        let young = WearPoint { cycles: unchecked.young_cycles, per_loop: unchecked.young_points };
        let worn = WearPoint { cycles: unchecked.worn_cycles, per_loop: unchecked.worn_points };
        let limit = LimitByWear::new(young, worn).map_err(|error| {
            let key = match error.parameter {
                "young.cycles" => "young_cycles",
                "young.per_loop" => "young_points",
                "worn.cycles" => "worn_cycles",
                _ => "worn_points",
            };
            format!("{key}: {}", error.problem)
        })?;
        Ok(Self { limit, programs: unchecked.programs, parked_max: unchecked.parked_max })
    }
}

impl From<SafePointsByWear> for Unchecked {
    fn from(policy: SafePointsByWear) -> Self {
        let (young, worn) = (policy.limit.young(), policy.limit.worn());
        Self {
            young_cycles: young.cycles,
            young_points: young.per_loop,
            worn_cycles: worn.cycles,
            worn_points: worn.per_loop,
            programs: policy.programs,
            parked_max: policy.parked_max,
        }
    }
}

impl SuspendPolicy for SafePointsByWear {
    fn watches_writes(&self) -> bool {
        false
    }

    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, cycles, .. } = *question;
        match operation.command.kind {
            CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, self.limit.per_loop(cycles))),
            CommandKind::Program if self.programs => SuspendDecision::At(operation.next_safe_point(now, 1)),
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }

    fn goes_before_reads(&mut self, question: &SuspendQuestion<'_>) -> bool {
        parked_too_long(question, self.parked_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_meaning_are_refused_by_name() {
        for (text, word) in [
            (r#"{"young_points": 0}"#, "young_points"),
            (r#"{"worn_points": 0}"#, "worn_points"),
            (r#"{"young_cycles": 0}"#, "young_cycles"),
            (r#"{"worn_cycles": 100}"#, "worn_cycles"),
            (r#"{"points": 3}"#, "points"),
        ] {
            let message = serde_json::from_str::<SafePointsByWear>(text).expect_err(text).to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
