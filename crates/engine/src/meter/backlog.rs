//! Whether a drive keeps up with arrivals that do not wait for it, and what its queue was full of.
//!
//! A request that is served at a rate below that of the arrivals completes later and later: over the run its age at
//! completion grows by the same step again and again, and one second of arrivals takes more than one second of
//! completions. A burst does not do that: the age grows once, or grows and falls. So the run is cut into blocks of as
//! many completions each, and the steps of the mean age from block to block are asked whether they are steps in one
//! direction. That needs no knowledge of what the drive can do, and holds wherever the requests wait: in the host
//! or, with a deep queue, in the drive.
//!
//! Steps may be of very different sizes, where garbage is collected now and then or reads go first, and chance alone
//! explains few large ones. So ages that rise from nearly every block to the next (Kendall's tau) are told too, where
//! completions go on long after the last arrival also such as rise by and large, and many requests that are open at the
//! last arrival. Where none is so, and requests got older and did not get younger again, the run does not tell.

use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op};

use super::Parts;

/// The most blocks; when a run outgrows them, neighbours are merged and blocks are twice as long from then on.
const BLOCKS: usize = 64;
/// Fewer blocks say nothing.
const BLOCKS_MIN: usize = 16;
/// How many times its standard error the mean step of the ages has to be. Ages of a queue at a load of exactly 1 are a
/// random walk, whose steps between means of blocks (correlated by 1/4) reach 4 in one run of a thousand.
const STANDARD_ERRORS: f64 = 4.0;
/// The least excess of arrivals over completions that is told: less is a trend of the latency, not of the queue.
const EXCESS_MIN: f64 = 0.01;
/// Completions that go on for this share of the time of the arrivals after the last of them: no burst within a run.
const DRAIN_LONG: f64 = 0.1;
/// As long as that, and a run is too short to say that the drive kept up.
const DRAIN_NOTED: f64 = 0.02;
/// Kendall's tau of ages that rise: three of four pairs of blocks are in their order.
const TAU_RISING: f64 = 0.5;
/// The same of ages that rise all along. Of 200 queues at a load of exactly 1 one comes to that and to [`EXCESS_MIN`],
/// and none at 0.98, whose services are 1, 100 or 2000 times as long as their mean gap (simulated, 20,000 and 100,000
/// arrivals).
const TAU_ALL_ALONG: f64 = 0.9;
/// Requests that got older by this share of the time of the arrivals, and not younger again, may go on doing so.
const EXCESS_NOTED: f64 = 0.002;
/// This share of the requests that is still to be completed when the last one arrives is no burst.
const OPEN_MANY: f64 = 0.25;
/// Of fewer requests the service of a single one is as long as that.
const REQUESTS_MIN: u64 = 100;
/// Requests are as little behind as ever up to this share of what they are behind at the last.
const AS_LITTLE: f64 = 0.02;

/// How arrivals of one lane compare with its completions over the course of the run.
#[derive(Clone, Debug)]
pub struct Backlog {
    /// Requests of a closed block.
    length: u64,
    closed: Vec<Block>,
    open: Block,
    /// When the first request arrived.
    first: Ns,
    /// When the request arrived that came last, and its age at its completion.
    last: (Ns, Ns),
    /// When the last one completed.
    completed: Ns,
}

/// Completions went on for long after the last arrival, or requests got older to the last, and no overload shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// From the first arrival to the last.
    pub arrivals: Ns,
    /// From the last arrival to the last completion.
    pub drain: Ns,
}

/// So many requests that completed after each other.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    count: u64,
    /// Sum of the times of submission [ns].
    submitted: u128,
    /// Sum of the times from submission to completion [ns].
    age: u128,
}

/// Arrivals that a drive did not keep up with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Arrivals per completion while requests fell behind. `None`: they arrived at one
    /// instant.
    pub load: Option<f64>,
    /// Arrivals in that time [1/s], on the same condition.
    pub arrivals_per_second: Option<f64>,
    /// The time from which on they fell behind.
    pub since: Ns,
    /// When the last of them arrived.
    pub until: Ns,
    /// How old that was when it completed.
    pub age: Ns,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            length: 1,
            closed: Vec::with_capacity(BLOCKS),
            open: Block::default(),
            first: Ns(u64::MAX),
            last: (Ns::ZERO, Ns::ZERO),
            completed: Ns::ZERO,
        }
    }
}

impl Block {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.submitted += other.submitted;
        self.age += other.age;
    }

    fn mean_submitted(&self) -> f64 {
        self.submitted as f64 / self.count as f64
    }

    fn mean_age(&self) -> f64 {
        self.age as f64 / self.count as f64
    }
}

impl Backlog {
    /// Takes a completion in.
    #[inline]
    pub fn record(&mut self, submitted: Ns, age: Ns) {
        let block = &mut self.open;
        block.count += 1;
        block.submitted += u128::from(submitted.0);
        block.age += u128::from(age.0);
        self.first = self.first.min(submitted);
        self.completed = self.completed.max(Ns(submitted.0 + age.0));
        if submitted >= self.last.0 {
            self.last = (submitted, age);
        }
        if block.count == self.length {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.closed.len() == BLOCKS {
            for pair in 0..BLOCKS / 2 {
                let mut block = self.closed[2 * pair];
                block.merge(&self.closed[2 * pair + 1]);
                self.closed[pair] = block;
            }
            self.closed.truncate(BLOCKS / 2);
            // The block that ends here is half of one now.
            self.length *= 2;
            return;
        }
        self.closed.push(std::mem::take(&mut self.open));
    }

    /// Requests that completed.
    fn count(&self) -> u64 {
        self.closed.iter().map(|block| block.count).sum::<u64>() + self.open.count
    }

    /// From the first arrival to the last, and from there to the last completion.
    fn span(&self) -> Undecided {
        let (last, _) = self.last;
        Undecided { arrivals: last.saturating_since(self.first), drain: self.completed.saturating_since(last) }
    }

    /// Whether completions went on after the last arrival for that share of the time of the arrivals.
    fn drains_for(&self, share: f64) -> bool {
        let Undecided { arrivals, drain } = self.span();
        self.count() >= REQUESTS_MIN && drain.0 as f64 >= share * arrivals.0 as f64
    }

    /// How many had completed at a time, between the middles of blocks by a straight line.
    fn completed_by(&self, time: f64) -> f64 {
        let (mut at, mut done, mut before) = (self.first.0 as f64, 0.0, 0.0);
        for block in &self.closed {
            let count = block.count as f64;
            let (middle, half_done) = (block.mean_submitted() + block.mean_age(), before + count / 2.0);
            if middle > time {
                return done + (half_done - done) * (time - at) / (middle - at);
            }
            (at, done, before) = (middle, half_done, before + count);
        }
        self.count() as f64
    }

    /// The same where most completions lie behind the last arrival, when other work has ended and the queue drains
    /// fast: ages fall there, and hide that they rose. What was open when the last request arrived tells.
    fn left_behind(&self) -> Option<Overload> {
        let (count, arrivals) = (self.count() as f64, self.span().arrivals.0);
        let in_time = self.completed_by(self.last.0.0 as f64);
        let is_overload = arrivals > 0 && in_time > 0.0 && count - in_time >= OPEN_MANY * count;
        (is_overload && self.drains_for(DRAIN_LONG)).then(|| Overload {
            load: Some(count / in_time),
            arrivals_per_second: Some(count * 1e9 / arrivals as f64),
            since: self.first,
            until: self.last.0,
            age: self.last.1,
        })
    }

    /// Says that the run is too short to say whether the drive kept up.
    pub fn undecided(&self) -> Option<Undecided> {
        ((self.drains_for(DRAIN_NOTED) || self.got_older()) && self.overload().is_none()).then(|| self.span())
    }

    /// Whether requests got older by and large, and the last ones are not young again.
    fn got_older(&self) -> bool {
        let ages = self.ages();
        let Some(&last) = ages.last().filter(|_| ages.len() >= BLOCKS_MIN && self.count() >= REQUESTS_MIN) else {
            return false;
        };
        let (least, most) =
            ages.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &age| (least.min(age), most.max(age)));
        let by = (last - least) / self.span().arrivals.0 as f64;
        tau(&ages) >= TAU_RISING && last > most / 2.0 && by > EXCESS_NOTED
    }

    fn ages(&self) -> Vec<f64> {
        self.closed.iter().map(Block::mean_age).collect()
    }

    /// Says whether requests fell behind to the end of the run, and by how much.
    pub fn overload(&self) -> Option<Overload> {
        let blocks = &self.closed[..];
        if blocks.len() < BLOCKS_MIN {
            return None;
        }
        let ages = self.ages();
        let least_tau = if self.drains_for(DRAIN_LONG) { TAU_RISING } else { TAU_ALL_ALONG };
        let fell_behind = steps_point_upwards(&ages) || tau(&ages) >= least_tau;
        if !fell_behind {
            return self.left_behind();
        }
        let last = blocks.len() - 1;
        // They fall behind from the last time on at which they were as little behind as ever.
        let least = ages.iter().copied().fold(f64::INFINITY, f64::min);
        let before = ages.iter().rposition(|&age| age <= least + (ages[last] - least) * AS_LITTLE)?;
        // Of that block or the next, a part arrived before: the rates are those of the blocks after them.
        let first = if before == 0 { 0 } else { (before + 2).min(last.checked_sub(1)?) };
        let arrivals = blocks[last].mean_submitted() - blocks[first].mean_submitted();
        let excess = ages[last] - ages[first];
        // From block `first` back to where the age was the least, by as much per time as after it.
        let growth = excess / arrivals;
        let began = blocks[first].mean_submitted() - (ages[first] - least).max(0.0) / growth;
        let counts = blocks[first + 1..=last].iter().map(|block| block.count);
        (excess > arrivals * EXCESS_MIN).then(|| Overload {
            load: (arrivals > 0.0).then_some(1.0 + growth),
            arrivals_per_second: (arrivals > 0.0).then(|| counts.sum::<u64>() as f64 * 1e9 / arrivals),
            since: Ns(began.max(blocks[before].mean_submitted()) as u64),
            until: self.last.0,
            age: self.last.1,
        })
    }
}

/// Whether the mean step between values is above zero by more than chance: Student's t of the steps.
fn steps_point_upwards(values: &[f64]) -> bool {
    let count = (values.len() - 1) as f64;
    let mean = (values[values.len() - 1] - values[0]) / count;
    let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0] - mean).powi(2)).sum();
    // mean > t * sqrt(squares / (count - 1) / count), without a root.
    mean > 0.0 && mean * mean * count * (count - 1.0) > STANDARD_ERRORS * STANDARD_ERRORS * squares
}

/// How far values rise, by however different steps: Kendall's tau of them and their places.
fn tau(values: &[f64]) -> f64 {
    let pairs = (0..values.len()).flat_map(|at| values[..at].iter().map(move |before| (before, &values[at])));
    let (mut ordered, mut count) = (0_i64, 0_i64);
    for (before, after) in pairs {
        ordered += i64::from(after > before) - i64::from(after < before);
        count += 1;
    }
    ordered as f64 / count.max(1) as f64
}

/// What the commands were busy with that held the slots of a full queue.
///
/// Many may complete at one instant, and fewer requests may wait: so a command that completes leaves its slot, and the
/// first that left is counted as soon as a request that waited takes one, at the same instant.
#[derive(Clone, Debug, Default)]
pub struct QueueHolders {
    /// Commands that completed while a request waited in the host for their slot, by operation.
    pub commands: [u64; Op::ALL.len()],
    /// Where the time of these commands in the device went [ns].
    pub parts: [Parts; Op::ALL.len()],
    /// Commands that left a slot at `left_at`, in their order; `taken` of their slots were taken.
    left: Vec<(Op, Parts)>,
    left_at: Ns,
    taken: usize,
}

impl QueueHolders {
    /// A command leaves its slot, of `slots`, while a request waits. `parts` are all of its own.
    #[inline]
    pub fn slot_left(&mut self, now: Ns, slots: u32, op: Op, parts: &Parts) {
        if self.left_at != now {
            self.left.clear();
            (self.left_at, self.taken) = (now, 0);
        }
        if self.left.is_empty() {
            self.left.reserve(slots as usize);
        }
        self.left.push((op, *parts));
    }

    /// A request that waited takes a slot.
    #[inline]
    pub fn slot_taken(&mut self, now: Ns) {
        if self.left_at != now || self.taken == self.left.len() {
            return;
        }
        let (op, parts) = self.left[self.taken];
        self.taken += 1;
        self.commands[op as usize] += 1;
        let sums = &mut self.parts[op as usize];
        sums.add_all(&parts);
        sums.take(Cause::HostQueue, Ns(sums.of(Cause::HostQueue)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of a fixed service time, first come first served.
    fn served(arrivals: impl IntoIterator<Item = u64>, service: u64) -> Backlog {
        served_in(arrivals, |_, _| service)
    }

    /// The same of a service time by the number of a request and the time at which the one before it was served: Lindley's
    /// recursion.
    fn served_in(arrivals: impl IntoIterator<Item = u64>, service: impl Fn(u64, u64) -> u64) -> Backlog {
        let (mut backlog, mut free) = (Backlog::default(), 0_u64);
        for (number, arrival) in (0..).zip(arrivals) {
            free = free.max(arrival) + service(number, free);
            backlog.record(Ns(arrival), Ns(free - arrival));
        }
        backlog
    }

    #[test]
    fn arrivals_at_a_fixed_rate_fall_behind_by_the_difference_of_the_rates() {
        for requests in [16, 100, 1_000, 65_536, 100_001] {
            let overload = served((0..requests).map(|number| number * 800), 1_000).overload().expect("too fast");
            assert!((overload.load.expect("they take time") - 1.25).abs() < 1e-9, "{requests}: {overload:?}");
            // The last of them arrives after all gaps, and is served when all have been.
            let last = (requests - 1) * 800;
            assert_eq!((overload.until, overload.age), (Ns(last), Ns(requests * 1_000 - last)), "{requests}");
        }
        assert_eq!(served((0..10_000).map(|number| number * 1_000), 1_000).overload(), None, "just kept up with");
    }

    /// A server at a load of 2 that stands still now and then for as long as hundreds of services, as one that collects
    /// garbage does: few large steps, whose standard error is as large as their mean.
    #[test]
    fn a_lumpy_overload_is_told_by_what_is_left_at_the_last_arrival() {
        let pause = |number| if matches!(number, 7_000 | 13_000 | 19_000) { 6_000_000 } else { 0 };
        let backlog = served_in((0..20_000).map(|number| number * 1_000), |number, _| 1_000 + pause(number));
        let ages: Vec<f64> = backlog.closed.iter().map(Block::mean_age).collect();
        assert!(!steps_point_upwards(&ages), "{ages:?}");
        let load = backlog.overload().expect("18 ms are left after 20").load.expect("they take time");
        assert!((1.5..2.5).contains(&load), "{load}");
        assert_eq!(backlog.undecided(), None);
    }

    /// A server that is half a percent too slow and stands still three times: nearly all of what it is behind by is
    /// three steps, and requests are older from block to block all the same.
    #[test]
    fn ages_that_rise_all_along_are_an_overload_however_unlike_their_steps_are() {
        let pause = |number| if matches!(number, 30_000 | 60_000 | 90_000) { 700_000 } else { 0 };
        let backlog = served_in((0..100_000).map(|number| number * 1_000), |number, _| 1_005 + pause(number));
        let ages = backlog.ages();
        assert!(!steps_point_upwards(&ages), "{ages:?}");
        assert!(!backlog.drains_for(DRAIN_LONG));
        // Half a percent and 2.1 ms, over some 84 ms: in the first 16 they are behind by a fiftieth of the whole or so.
        let load = backlog.overload().expect("requests are older and older").load.expect("they take time");
        assert!((load - 1.030).abs() < 0.002, "{load}");
    }

    /// Behind by half a percent at the end, and never less behind than before: neither worked off nor an overload.
    #[test]
    fn requests_that_get_older_by_little_are_undecided() {
        let slowly = (0..100_000_u64).map(|number| number * 995);
        let backlog = served(slowly, 1_000);
        assert_eq!(backlog.overload(), None);
        assert!(backlog.undecided().is_some());
        // The same, until they stop coming for a while.
        let worked_off = (0..100_000_u64).map(|number| number * 995 + if number < 90_000 { 0 } else { 2_000_000 });
        assert_eq!(served(worked_off, 1_000).undecided(), None);
    }

    /// A server that another job leaves a twelfth of, until that is over: then all that waits is served within a third
    /// of the time.
    #[test]
    fn an_overload_that_drains_fast_behind_the_last_arrival_is_told() {
        let shared = |free| free < 8_000_000_000;
        let arrivals = (0..160_000).map(|number| number * 50_000);
        let backlog = served_in(arrivals, |_, free| if shared(free) { 600_000 } else { 22_000 });
        let overload = backlog.overload().expect("nine of ten are open at the last arrival");
        let load = overload.load.expect("they take time");
        assert!((load / 12.0 - 1.0).abs() < 0.15, "{load}");
        assert_eq!(backlog.undecided(), None);
    }

    /// A tenth of the requests come at once at the last instant: no more than that they are worked off is known.
    #[test]
    fn what_a_burst_at_the_end_leaves_is_undecided() {
        let arrivals = (0..10_000_u64).map(|number| number.min(9_000) * 1_500);
        let backlog = served(arrivals, 1_000);
        assert_eq!(backlog.overload(), None);
        let undecided = backlog.undecided().expect("1 ms of 13.5");
        assert_eq!((undecided.arrivals, undecided.drain), (Ns(13_500_000), Ns(1_000_000)));
        assert_eq!(served((0..10_000).map(|number| number * 1_500), 1_000).undecided(), None);
        assert_eq!(served((0..50).map(|number| number * 1_000), 9_000).undecided(), None, "too few to say anything");
    }

    #[test]
    fn requests_of_one_instant_have_no_rate() {
        let overload = served(std::iter::repeat_n(7_000, 5_000), 1_000).overload().expect("all at once");
        assert_eq!((overload.load, overload.since), (None, Ns(7_000)));
    }

    /// 30,000 requests at a fiftieth of the rate of the server, then as many at four times its rate: a thousandth of
    /// the time of the run, and less than one block of the slow ones.
    #[test]
    fn a_short_overload_after_a_long_idle_time_has_its_own_factor() {
        const SLOW: u64 = 30_000;
        // The slow ones are not all served in the same time.
        let service = |number: u64, _| 1_000 + number * 7 % 13;
        let arrivals = (0..2 * SLOW).map(|number| number.min(SLOW) * 50_000 + number.saturating_sub(SLOW) * 250);
        let backlog = served_in(arrivals, service);
        let overload = backlog.overload().expect("too fast");
        let load = overload.load.expect("they take time");
        assert!((load - 1.006 * 4.0).abs() < 0.02, "{overload:?}");
        let arrivals = overload.arrivals_per_second.expect("they take time");
        assert!((arrivals - 4e6).abs() < 1e4, "{overload:?}");
        assert!(overload.since.0.abs_diff(SLOW * 50_000) < 1_024 * 250, "{overload:?}");
    }

    /// One burst, at the beginning, in the middle or at the end, and one per second: all are worked off but the last
    /// one.
    #[test]
    fn bursts_are_no_overload() {
        const COUNT: u64 = 20_000;
        for burst in [0, COUNT / 2, COUNT - COUNT / 20] {
            let arrivals = (0..COUNT).map(|number| {
                let late = number.saturating_sub(burst);
                number.min(burst) * 2_000 + if late < COUNT / 20 { 0 } else { late * 2_000 }
            });
            assert_eq!(served(arrivals, 1_000).overload(), None, "a burst from request {burst} on");
        }
        assert_eq!(served((0..COUNT).map(|number| number / 500 * 1_000_000), 1_000).overload(), None);
    }

    #[test]
    fn a_second_half_that_is_too_fast_is_told_with_its_own_factor_and_its_beginning() {
        let arrivals =
            (0..10_000_u64).map(|number| if number < 5_000 { number * 2_000 } else { 5_000_000 + number * 1_000 });
        let overload = served(arrivals.map(|time| time * 4 / 5), 1_000).overload().expect("too fast");
        // To a block of 256 requests, half of which may still have been in time.
        assert!((overload.load.expect("they take time") - 1.25).abs() < 0.03, "{overload:?}");
        assert!(overload.since.0.abs_diff(8_000_000) < 256 * 1_600 + 256 * 800, "{overload:?}");
    }
}
