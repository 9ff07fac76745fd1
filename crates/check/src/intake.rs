//! What is taken in of jobs that have limits.
//!
//! Between any two requests of a job lies the time that those from the first to before the second cost, less what may be saved
//! up. With the cost of all before each and its time, the difference of the two is at most that much above the least so far.

use ninescope_engine::Limit;
use ninescope_kernel::Ns;
use ninescope_model::{Op, Request, SECTOR_BYTES};

use crate::rule::{Checked, require};

/// Nanoseconds in picoseconds, in which costs are counted; each is rounded by less than one.
const PER_NS: i128 = 1_000;

/// What was taken in of one kind, commands or bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Paid {
    /// The cost of all before [ps].
    before: i128,
    /// The least difference of cost and time so far [ps].
    least: Option<i128>,
    taken: i128,
}

impl Paid {
    /// Whether one that costs so much may be taken in.
    fn fits(&mut self, now: Ns, cost: i128, burst: Ns) -> bool {
        let ahead = self.before - i128::from(now.0) * PER_NS;
        let least = self.least.map_or(ahead, |least| least.min(ahead));
        self.least = Some(least);
        self.before += cost;
        self.taken += 1;
        // The rest of a nanosecond that time had gone on to, and what rounding adds up to.
        ahead - least <= i128::from(burst.0) * PER_NS + PER_NS + self.taken
    }
}

/// By job, its limit and what was taken in.
#[derive(Debug, Default)]
pub struct Intake(Vec<(Option<Limit>, [Paid; 2])>);

impl Intake {
    pub fn started(&mut self, limits: &[Option<Limit>]) {
        self.0 = limits.iter().map(|&limit| (limit, Default::default())).collect();
    }

    /// A request of a job is taken in.
    pub fn fetched(&mut self, now: Ns, (id, lane): (u64, u16), request: &Request) -> Checked {
        let Some((Some(limit), [commands, bytes])) = self.0.get_mut(lane as usize) else { return Ok(()) };
        let moved = match request.op {
            Op::Read | Op::Write => i128::from(request.sectors) * i128::from(SECTOR_BYTES),
            Op::Trim | Op::Flush => 0,
        };
        let second = 1_000_000_000 * PER_NS;
        let of_command = limit.iops.map(|iops| (second as f64 / iops) as i128);
        let of_bytes = limit.bytes_per_second.map(|rate| moved * second / i128::from(rate));
        for (paid, cost, what) in [(commands, of_command, "requests"), (bytes, of_bytes, "bytes")] {
            let fits = cost.is_none_or(|cost| paid.fits(now, cost, limit.burst));
            require!(
                fits,
                Limit,
                now,
                "request {id} of job {lane} is taken in beyond the limit of its {what} {limit:?}"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_early_is_seen() {
        let limit = Limit { iops: Some(1e6), bytes_per_second: Some(1_000_000_000), burst: Ns(1_000) };
        let read = |sectors| Request { sectors, op: Op::Read, ..Request::default() };
        let told = |times: &[(u64, u32)]| {
            let mut intake = Intake::default();
            intake.started(&[None, Some(limit)]);
            let mut each = times.iter().zip(0..);
            each.try_for_each(|(&(at, sectors), id)| intake.fetched(Ns(at), (id, 1), &read(sectors))).is_ok()
        };
        assert!(told(&[(5_000, 1), (5_000, 1), (6_000, 1), (9_000, 1), (9_000, 1), (10_000, 1)]));
        assert!(!told(&[(5_000, 1), (5_000, 1), (5_998, 1)]), "a third within what two cost");
        assert!(told(&[(0, 8), (3_096, 8)]) && !told(&[(0, 8), (3_094, 8)]), "4096 bytes cost 4096 ns");
    }
}
