//! The streams that a world is drawn from: one for its shape, one for each registry of policies, so that a registry that
//! joins leaves what there is of other worlds as it was.

use ninescope_kernel::RandomStream;
use ninescope_model::units::{BytesPerSecond, Duration};

/// Draws of a world.
pub(super) struct Dice {
    seed: u64,
    stream: RandomStream,
}

impl Dice {
    /// Those of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, stream: RandomStream::new(seed, "worlds", "world") }
    }

    /// Those of the same seed for something named, whatever else is drawn.
    pub fn of(&self, what: &str) -> Self {
        Self { seed: self.seed, stream: RandomStream::new(self.seed, "worlds", what) }
    }

    /// One of a registry's policies, each as likely as another. One that joins is drawn in worlds of its own: what was drawn
    /// in the others stays.
    pub fn policy<'a>(&self, key: &str, policies: &[(&'a str, &str)]) -> &'a str {
        let weight = |name: &str| self.of(&format!("{key}={name}")).stream.below(1 << 62);
        policies.iter().map(|&(name, _)| name).max_by_key(|name| weight(name)).unwrap_or_default()
    }

    /// `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.stream.below(high - low + 1)
    }

    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        self.between(u64::from(low), u64::from(high)) as u32
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.stream.below(100) < percent
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.stream.below(choices.len() as u64) as usize]
    }

    /// A duration of any order of magnitude below 10^`digits` ns, at least `least`.
    pub fn time(&mut self, least: u64, digits: u32) -> Duration {
        let scale = 10_u64.pow(self.small(0, digits));
        Duration(self.between(least, (scale * 9).max(least)))
    }

    /// 1 MB/s to 1 TB/s.
    pub fn rate(&mut self) -> BytesPerSecond {
        BytesPerSecond(10_u64.pow(self.small(6, 11)) * self.between(1, 9))
    }
}
