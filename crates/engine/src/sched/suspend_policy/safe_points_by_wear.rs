//! SSR dynamic: the number of safe points in an erase loop follows the wear of the block, many while it is young
//! and can bear suspensions, few when it is worn.
//!
//! SSR (Kim, Seo, Kim, JKICS 50(9), 2025): 30 points at 100 P/E cycles, 10 at 1,000. What lies between is not
//! published; here the number falls linearly in the logarithm of the cycles, which meets both ends.

use ninescope_media::nand::CommandKind;
use serde::{Deserialize, Serialize};

use super::{SuspendDecision, SuspendPolicy, SuspendQuestion};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Unchecked", into = "Unchecked")]
pub struct SafePointsByWear {
    young: WearPoint,
    worn: WearPoint,
    programs: bool,
}

/// So many points per loop at so many P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WearPoint {
    cycles: u32,
    points: u32,
}

/// The parameters as they are written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Unchecked {
    /// P/E cycles up to which a block is young [count].
    young_cycles: u32,
    /// Safe points per loop of a young block [count].
    young_points: u32,
    /// P/E cycles from which a block is worn [count].
    worn_cycles: u32,
    /// Safe points per loop of a worn block [count].
    worn_points: u32,
    /// Whether programs are suspended too, at the ends of their pulses.
    programs: bool,
}

impl Default for Unchecked {
    fn default() -> Self {
        Self { young_cycles: 100, young_points: 30, worn_cycles: 1_000, worn_points: 10, programs: false }
    }
}

impl Default for SafePointsByWear {
    fn default() -> Self {
        Self::try_from(Unchecked::default()).expect("the published numbers are legal")
    }
}

impl TryFrom<Unchecked> for SafePointsByWear {
    type Error = String;

    fn try_from(unchecked: Unchecked) -> Result<Self, String> {
        let Unchecked { young_cycles, young_points, worn_cycles, worn_points, programs } = unchecked;
        for (key, value) in
            [("young_cycles", young_cycles), ("young_points", young_points), ("worn_points", worn_points)]
        {
            if value == 0 {
                return Err(format!("{key} must not be zero"));
            }
        }
        if worn_cycles <= young_cycles {
            return Err(format!("worn_cycles is {worn_cycles}, it must be more than young_cycles = {young_cycles}"));
        }
        let young = WearPoint { cycles: young_cycles, points: young_points };
        Ok(Self { young, worn: WearPoint { cycles: worn_cycles, points: worn_points }, programs })
    }
}

impl From<SafePointsByWear> for Unchecked {
    fn from(policy: SafePointsByWear) -> Self {
        Self {
            young_cycles: policy.young.cycles,
            young_points: policy.young.points,
            worn_cycles: policy.worn.cycles,
            worn_points: policy.worn.points,
            programs: policy.programs,
        }
    }
}

impl SafePointsByWear {
    /// Safe points per loop of a block with so many P/E cycles [count].
    pub fn points(&self, cycles: u32) -> u32 {
        let cycles = cycles.clamp(self.young.cycles, self.worn.cycles);
        let logarithm = |value: u32| libm::log(f64::from(value));
        let span = logarithm(self.worn.cycles) - logarithm(self.young.cycles);
        let share = (logarithm(cycles) - logarithm(self.young.cycles)) / span;
        let points = f64::from(self.young.points) * (1.0 - share) + f64::from(self.worn.points) * share;
        // A hair above: at the ends the sum is exact but for rounding.
        libm::floor(points + 1e-9).max(1.0) as u32
    }
}

impl SuspendPolicy for SafePointsByWear {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let SuspendQuestion { operation, now, erases } = *question;
        match operation.command.kind {
            CommandKind::Erase => SuspendDecision::At(operation.next_safe_point(now, self.points(erases))),
            CommandKind::Program if self.programs => SuspendDecision::At(operation.next_safe_point(now, 1)),
            CommandKind::Program | CommandKind::Read => SuspendDecision::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_fall_from_the_published_number_to_the_other() {
        let policy = SafePointsByWear::default();
        // 30 - 20 log10(cycles / 100), floored; by hand at the ends and in the middle (log10 3.1623 = 0.5).
        for (cycles, points) in
            [(0, 30), (99, 30), (100, 30), (101, 29), (316, 20), (317, 19), (999, 10), (1_000, 10), (9_999, 10)]
        {
            assert_eq!(policy.points(cycles), points, "{cycles} cycles");
        }
    }

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
