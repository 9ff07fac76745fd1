//! Weighted round robin with an urgent class (NVM Express Base Specification, section on command arbitration): urgent queues
//! before all others, in turn among themselves; the others in rounds, in each of which a queue has as many commands taken in as
//! its weight says, up to a burst at a time. There, weights belong to classes of queues; here each job has its own, and its
//! class gives the one that it has by default.

use ninescope_model::schema::above_zero;
use ninescope_model::{Turns, UrgencyClass, WEIGHT_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HostArbitration, HostArbitrationParameters};

/// The longest burst: as many commands as a queue has.
const BURST_MAX: u32 = 65_535;

/// How long a job has its turn, and the weights of classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeightedRoundRobin {
    /// Commands that a job has taken in before the next has its turn [count].
    #[schemars(transform = above_zero)]
    pub burst: u32,
    /// The weight of a job of `priority` high that has none of its own [count].
    #[schemars(transform = above_zero)]
    pub high: u32,
    /// Of medium, which is that of jobs that say nothing [count].
    #[schemars(transform = above_zero)]
    pub medium: u32,
    /// Of low [count].
    #[schemars(transform = above_zero)]
    pub low: u32,
}

impl Default for WeightedRoundRobin {
    fn default() -> Self {
        Self { burst: 1, high: 4, medium: 2, low: 1 }
    }
}

impl HostArbitrationParameters for WeightedRoundRobin {
    fn build(&self, lanes: &[Turns]) -> Option<Box<dyn HostArbitration>> {
        let weight = |lane: &Turns| {
            let of_class = match lane.class {
                UrgencyClass::Urgent => 0,
                UrgencyClass::High => self.high,
                UrgencyClass::Medium => self.medium,
                UrgencyClass::Low => self.low,
            };
            if lane.class == UrgencyClass::Urgent { 0 } else { lane.weight.unwrap_or(of_class) }
        };
        let weights: Vec<u32> = lanes.iter().map(weight).collect();
        Some(Box::new(Rounds {
            credits: weights.clone(),
            weights,
            urgent: Turn::before_first(lanes.len()),
            others: Turn::before_first(lanes.len()),
            burst: self.burst,
        }))
    }

    fn knows_weights(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let each =
            [("burst", self.burst, BURST_MAX), ("high", self.high, WEIGHT_MAX), ("medium", self.medium, WEIGHT_MAX)];
        let mut each = each.into_iter().chain([("low", self.low, WEIGHT_MAX)]);
        let of = |(key, value, most): (&'static str, u32, u32)| match value {
            0 => Some((key, "must not be zero".to_owned())),
            _ if value > most => Some((key, format!("is {value}, at most {most} is supported"))),
            _ => None,
        };
        each.find_map(of)
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
struct Turn {
    lane: usize,
    /// Commands that it may go on with.
    left: u32,
}

impl Turn {
    fn before_first(lanes: usize) -> Self {
        Self { lane: lanes.saturating_sub(1), left: 0 }
    }

    /// The lane that is next: the one that has its turn, if it may go on, and then the others behind it.
    fn next(self, lanes: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let first = usize::from(self.left == 0);
        (first..first + lanes).map(|behind| (self.lane + behind) % lanes).find(|&lane| may(lane))
    }

    fn taken(&mut self, lane: usize, burst: u32) {
        *self = match self.left {
            left if lane == self.lane && left > 0 => Self { lane, left: left - 1 },
            _ => Self { lane, left: burst - 1 },
        };
    }
}

/// How far each lane is in its round.
#[derive(Debug)]
struct Rounds {
    /// Commands in a round; none of urgent lanes, which have no rounds.
    weights: Vec<u32>,
    /// Commands left of this one.
    credits: Vec<u32>,
    urgent: Turn,
    others: Turn,
    burst: u32,
}

impl HostArbitration for Rounds {
    fn next(&self, ready: &dyn Fn(usize) -> bool) -> Option<usize> {
        let lanes = self.weights.len();
        let urgent = || self.urgent.next(lanes, |lane| self.weights[lane] == 0 && ready(lane));
        let in_round = || self.others.next(lanes, |lane| self.credits[lane] > 0 && ready(lane));
        // Nobody who has something left of this round has a command: a new one begins.
        let behind = Turn { left: 0, ..self.others };
        let anew = || behind.next(lanes, |lane| self.weights[lane] > 0 && ready(lane));
        urgent().or_else(in_round).or_else(anew)
    }

    fn taken(&mut self, lane: usize) {
        if self.weights[lane] == 0 {
            self.urgent.taken(lane, self.burst);
            return;
        }
        if self.credits[lane] == 0 {
            self.credits.copy_from_slice(&self.weights);
        }
        self.credits[lane] -= 1;
        self.others.taken(lane, self.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(class: UrgencyClass, weight: Option<u32>) -> Turns {
        Turns { class, weight }
    }

    /// Who is taken in, with everybody of these always ready.
    fn taken(policy: &WeightedRoundRobin, lanes: &[Turns], ready: &[usize], count: usize) -> Vec<usize> {
        let mut rounds = policy.build(lanes).expect("a policy");
        let next = |_| {
            let lane = rounds.next(&|lane| ready.contains(&lane)).expect("somebody is ready");
            rounds.taken(lane);
            lane
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_round_has_as_many_commands_of_each_as_its_weight() {
        let lanes = [turns(UrgencyClass::Medium, Some(3)), turns(UrgencyClass::Medium, Some(1))];
        let one = WeightedRoundRobin::default();
        assert_eq!(taken(&one, &lanes, &[0, 1], 8), [0, 1, 0, 0, 1, 0, 0, 0]);
        let long = WeightedRoundRobin { burst: 8, ..one };
        assert_eq!(taken(&long, &lanes, &[0, 1], 8), [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(taken(&one, &lanes, &[1], 3), [1, 1, 1], "nobody waits for who has nothing to do");
    }

    #[test]
    fn classes_give_weights_and_urgent_lanes_have_none() {
        let classes = [UrgencyClass::High, UrgencyClass::Medium, UrgencyClass::Low, UrgencyClass::Urgent];
        let lanes = classes.map(|class| turns(class, None));
        let policy = WeightedRoundRobin::default();
        let shares = taken(&policy, &lanes, &[0, 1, 2], 7_000);
        let count = |lane: usize| shares.iter().filter(|&&taken| taken == lane).count();
        assert_eq!([count(0), count(1), count(2)], [4_000, 2_000, 1_000]);
        assert_eq!(taken(&policy, &lanes, &[0, 1, 2, 3], 4), [3; 4]);
        let urgent = [turns(UrgencyClass::Urgent, None); 2];
        assert_eq!(taken(&policy, &urgent, &[0, 1], 4), [0, 1, 0, 1]);
    }
}
