//! When which set is looked through for dirty blocks that nobody touches.

use ninescope_kernel::Ns;

/// Each set is looked at once in a fallow delay, one after the other at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct FallowClock {
    delay_ns: u128,
    sets: u128,
    /// Looks so far.
    looks: u128,
}

impl FallowClock {
    /// `None` where the delay is 0: no block is fallow then.
    pub fn new(delay: Ns, sets: u32) -> Option<Self> {
        (delay > Ns::ZERO).then(|| Self { delay_ns: u128::from(delay.0), sets: u128::from(sets), looks: 0 })
    }

    /// When the next look is; [`Ns::NEVER`] beyond the end of time.
    pub fn next_time(&self) -> Ns {
        // From the number and not by adding up, so that rounding does not drift.
        Ns(u64::try_from((self.looks + 1) * self.delay_ns / self.sets).unwrap_or(u64::MAX))
    }

    /// Makes the next look; returns its set.
    pub fn look(&mut self) -> u32 {
        let set = (self.looks % self.sets) as u32;
        self.looks += 1;
        set
    }

    /// Leaves out the looks before `now`, at which there was nothing to see.
    pub fn skip_to(&mut self, now: Ns) {
        self.looks = self.looks.max(u128::from(now.0) * self.sets / self.delay_ns);
    }
}
