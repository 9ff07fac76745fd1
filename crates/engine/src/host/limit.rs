//! How many commands and bytes of a lane are taken in per second at most: a token bucket, kept as the time at which it would be
//! full again, so that nothing has to happen while tokens come in.

use ninescope_kernel::Ns;

/// What a lane is limited to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Commands per second [1/s]; `None`: any number.
    pub iops: Option<f64>,
    /// Bytes that are read or written per second [B/s]; `None`: any number.
    pub bytes_per_second: Option<u64>,
    /// So much time's worth of either is saved up while nothing is taken in.
    pub burst: Ns,
}

/// Fractions of a nanosecond that are kept, so that rates hold over years.
const FRACTION: u32 = 32;

/// When tokens are back, in fractions of a nanosecond.
type Ticks = u128;

fn ticks(at: Ns) -> Ticks {
    Ticks::from(at.0) << FRACTION
}

/// How much of its limit a lane has used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// What a command costs, and what a byte does; nothing where that is not limited.
    of_command: Ticks,
    bytes_per_second: Option<u64>,
    burst: Ticks,
    /// When all commands, and all bytes, that were taken in are paid for.
    commands_paid: Ticks,
    bytes_paid: Ticks,
}

impl Bucket {
    /// A full one.
    pub fn new(limit: &Limit) -> Self {
        let second = ticks(Ns(1_000_000_000));
        Self {
            of_command: limit.iops.map_or(0, |iops| (second as f64 / iops) as Ticks),
            bytes_per_second: limit.bytes_per_second,
            burst: ticks(limit.burst),
            commands_paid: 0,
            bytes_paid: 0,
        }
    }

    /// A command of so many bytes is taken in. Returns from when on the next one may be.
    pub fn take(&mut self, now: Ns, bytes: u64) -> Ns {
        let now = ticks(now);
        let of_bytes = match self.bytes_per_second {
            Some(rate) => Ticks::from(bytes) * ticks(Ns(1_000_000_000)) / Ticks::from(rate),
            None => 0,
        };
        self.commands_paid = paid_by(self.commands_paid, now) + self.of_command;
        self.bytes_paid = paid_by(self.bytes_paid, now) + of_bytes;
        let opens = self.commands_paid.max(self.bytes_paid).saturating_sub(self.burst);
        // The first whole nanosecond at which it is paid.
        Ns(opens.div_ceil(1 << FRACTION).min(Ticks::from(Ns::NEVER.0 - 1)) as u64)
    }
}

/// From when on what comes now is paid: nothing is saved up, but for the rest of the nanosecond that time has gone on to.
fn paid_by(paid: Ticks, now: Ticks) -> Ticks {
    if now.saturating_sub(paid) < ticks(Ns(1)) { paid } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_apart_by_what_one_costs_over_any_time() {
        let mut bucket = Bucket::new(&Limit { iops: Some(300_000.0), ..Limit::default() });
        let mut at = Ns::ZERO;
        for _ in 0..300_000 {
            at = bucket.take(at, 4_096);
        }
        assert_eq!(at, Ns(1_000_000_000), "a third of a nanosecond is not lost each time");
    }

    #[test]
    fn bytes_cost_what_their_rate_says_and_the_tighter_limit_holds() {
        let both = Limit { iops: Some(1e6), bytes_per_second: Some(1_000_000_000), burst: Ns::ZERO };
        let mut bucket = Bucket::new(&both);
        assert_eq!(bucket.take(Ns(0), 512), Ns(1_000), "the commands");
        assert_eq!(bucket.take(Ns(1_000), 4_096), Ns(5_096), "the bytes");
        assert_eq!(bucket.take(Ns(9_000), 0), Ns(10_000), "nothing is saved up");
    }

    #[test]
    fn a_burst_is_saved_up_and_no_more() {
        let mut bucket = Bucket::new(&Limit { iops: Some(1e6), burst: Ns(3_000), ..Limit::default() });
        let at_once = |bucket: &mut Bucket, now: Ns| (1..9).find(|_| bucket.take(now, 0) > now);
        assert_eq!(at_once(&mut bucket, Ns(1_000_000)), Some(4));
        assert_eq!(at_once(&mut bucket, Ns(1_001_000)), Some(1));
        assert_eq!(at_once(&mut bucket, Ns(5_000_000)), Some(4));
    }
}
