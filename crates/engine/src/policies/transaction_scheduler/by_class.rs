//! Reads first, and among what waits in one queue of a die by the class of the job that it is for: urgent ones first, the others in
//! rounds, in each of which a class that has something waiting is served as often as its weight says. So MQSim orders what waits in
//! a chip (Tavakkol et al., FAST 2018), with weights of 4, 2 and 1, and so do controllers that take the classes of NVMe's queues
//! down to the media. What the drive does by itself counts as urgent.

use ninescope_model::schema::above_zero;
use ninescope_model::{UrgencyClass, WEIGHT_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DieView, ReadsFirst, TransactionScheduler, TransactionSchedulerParameters};
use crate::transaction::QueueClass;

/// The weights of classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ByClass {
    /// Accesses of jobs of `priority` high in a round [count].
    #[schemars(transform = above_zero)]
    pub high: u32,
    /// Of medium, which is that of jobs that say nothing [count].
    #[schemars(transform = above_zero)]
    pub medium: u32,
    /// Of low [count].
    #[schemars(transform = above_zero)]
    pub low: u32,
}

impl Default for ByClass {
    fn default() -> Self {
        Self { high: 4, medium: 2, low: 1 }
    }
}

impl TransactionSchedulerParameters for ByClass {
    fn build(&self) -> Box<dyn TransactionScheduler> {
        Box::new(Rounds { weights: [self.high, self.medium, self.low], left: Vec::new() })
    }

    fn knows_classes(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let of = |(key, value): (&'static str, u32)| match value {
            0 => Some((key, "must not be zero".to_owned())),
            _ if value > WEIGHT_MAX => Some((key, format!("is {value}, at most {WEIGHT_MAX} is supported"))),
            _ => None,
        };
        [("high", self.high), ("medium", self.medium), ("low", self.low)].into_iter().find_map(of)
    }
}

/// How far each queue is in its round.
#[derive(Debug)]
struct Rounds {
    weights: [u32; 3],
    /// By die, of reads and of programs: what is left of the round for each class but the urgent one.
    left: Vec<[[u32; 3]; 2]>,
}

/// The classes that have rounds, the most urgent first.
const IN_ROUNDS: [UrgencyClass; 3] = [UrgencyClass::High, UrgencyClass::Medium, UrgencyClass::Low];

fn number(queue: QueueClass) -> usize {
    usize::from(queue != QueueClass::HostRead)
}

impl TransactionScheduler for Rounds {
    fn dies(&mut self, count: u32) {
        self.left = vec![[self.weights; 2]; count as usize];
    }

    fn pick(&mut self, view: &DieView) -> Option<QueueClass> {
        ReadsFirst {}.pick(view)
    }

    fn prefers(&self, die: u32, queue: QueueClass, waiting: &dyn Fn(UrgencyClass) -> bool) -> UrgencyClass {
        let left = &self.left[die as usize][number(queue)];
        let in_round = || (0..3).find(|&class| left[class] > 0 && waiting(IN_ROUNDS[class]));
        let anew = || (0..3).find(|&class| waiting(IN_ROUNDS[class]));
        if waiting(UrgencyClass::Urgent) {
            return UrgencyClass::Urgent;
        }
        in_round().or_else(anew).map_or(UrgencyClass::Urgent, |class| IN_ROUNDS[class])
    }

    fn taken(&mut self, die: u32, queue: QueueClass, class: UrgencyClass) {
        let Some(class) = IN_ROUNDS.iter().position(|&of| of == class) else { return };
        let left = &mut self.left[die as usize][number(queue)];
        if left[class] == 0 {
            *left = self.weights;
        }
        left[class] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UrgencyClass::{High, Low, Medium, Urgent};

    #[test]
    fn a_round_has_as_many_of_each_as_its_weight_and_urgent_ones_have_none() {
        let mut rounds = ByClass { high: 3, medium: 2, low: 1 }.build();
        rounds.dies(2);
        let mut take = |die: u32, waiting: &[UrgencyClass]| {
            let class = rounds.prefers(die, QueueClass::HostRead, &|class| waiting.contains(&class));
            rounds.taken(die, QueueClass::HostRead, class);
            class
        };
        let all = [High, Medium, Low];
        let order = [(); 7].map(|()| take(0, &all));
        assert_eq!(order, [High, High, High, Medium, Medium, Low, High]);
        // Each die counts for itself, nobody waits for who has nothing, and a round ends when nobody has anything left of it.
        assert_eq!([take(1, &[Low]), take(1, &[Low]), take(1, &all)], [Low, Low, High]);
        assert_eq!([take(1, &[Urgent, High]), take(1, &[Low, Urgent])], [Urgent; 2]);
    }
}
