//! Little's law on integer nanoseconds: over a run that starts and ends empty, the sum of all times in
//! the system equals the integral of the number in the system, to the last nanosecond.

/// Integrates the number of requests in the system as they come and go in order of time.
#[derive(Clone, Debug, Default)]
pub struct OccupancyIntegral {
    last_nanoseconds: u64,
    in_system: u64,
    area: u128,
}

impl OccupancyIntegral {
    /// An empty system at time 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// A request enters at this time.
    ///
    /// # Panics
    /// If time goes backwards.
    pub fn arrive(&mut self, at_nanoseconds: u64) {
        self.advance(at_nanoseconds);
        self.in_system += 1;
    }

    /// A request leaves at this time.
    ///
    /// # Panics
    /// If time goes backwards or the system is empty.
    pub fn depart(&mut self, at_nanoseconds: u64) {
        self.advance(at_nanoseconds);
        assert!(self.in_system > 0, "a departure from an empty system");
        self.in_system -= 1;
    }

    /// Request-nanoseconds so far, up to the latest arrival or departure.
    pub fn request_nanoseconds(&self) -> u128 {
        self.area
    }

    /// Requests in the system now.
    pub fn in_system(&self) -> u64 {
        self.in_system
    }

    fn advance(&mut self, now: u64) {
        assert!(now >= self.last_nanoseconds, "time goes backwards to {now}");
        self.area += u128::from(self.in_system) * u128::from(now - self.last_nanoseconds);
        self.last_nanoseconds = now;
    }
}

/// Both sides of Little's law for one finished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LittleSides {
    /// Sum of completion minus submission over all requests, in nanoseconds.
    pub sum_of_times: u128,
    /// Integral of the number of requests in the system over time, in nanoseconds.
    pub integral_of_number: u128,
}

impl LittleSides {
    /// Computes both sides independently from (submission, completion) pairs in nanoseconds, in any
    /// order. A pair that completes before its submission panics.
    ///
    /// On such pairs the sides are always equal: compare `sum_of_times` with the *simulator's* own
    /// integral, or `integral_of_number` with the simulator's own sum.
    pub fn of(requests: &[(u64, u64)]) -> Self {
        let sum_of_times = requests
            .iter()
            .map(|&(submitted, completed)| {
                assert!(completed >= submitted, "completed {completed} before {submitted}");
                u128::from(completed - submitted)
            })
            .sum();
        let mut submissions: Vec<u64> = requests.iter().map(|request| request.0).collect();
        let mut completions: Vec<u64> = requests.iter().map(|request| request.1).collect();
        submissions.sort_unstable();
        completions.sort_unstable();
        let mut integral = OccupancyIntegral::new();
        let mut next_submission = submissions.into_iter().peekable();
        for completion in completions {
            while let Some(submission) = next_submission.next_if(|time| *time <= completion) {
                integral.arrive(submission);
            }
            integral.depart(completion);
        }
        Self { sum_of_times, integral_of_number: integral.request_nanoseconds() }
    }
}

/// Mean number in the system from throughput (requests per second) and mean time in nanoseconds.
pub fn mean_number(requests_per_second: f64, mean_nanoseconds: f64) -> f64 {
    requests_per_second * mean_nanoseconds / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree_for_overlapping_and_instant_requests() {
        let requests = [(0, 100), (30, 60), (30, 30), (60, 250), (1_000, 1_001)];
        let sides = LittleSides::of(&requests);
        assert_eq!(sides.sum_of_times, 100 + 30 + 190 + 1);
        assert_eq!(sides.integral_of_number, sides.sum_of_times);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        let requests = vec![(0, u64::MAX); 3];
        let sides = LittleSides::of(&requests);
        assert_eq!(sides.sum_of_times, 3 * u128::from(u64::MAX));
        assert_eq!(sides.integral_of_number, sides.sum_of_times);
    }

    #[test]
    fn the_integral_counts_what_is_still_inside() {
        let mut integral = OccupancyIntegral::new();
        integral.arrive(10);
        integral.arrive(20);
        integral.depart(50);
        assert_eq!(integral.request_nanoseconds(), 10 + 60);
        assert_eq!(integral.in_system(), 1);
    }

    #[test]
    #[should_panic(expected = "empty system")]
    fn a_departure_too_many_is_refused() {
        OccupancyIntegral::new().depart(5);
    }

    #[test]
    fn mean_number_is_throughput_times_time() {
        // 100 000 requests per second of 80 microseconds each.
        assert!((mean_number(100_000.0, 80_000.0) - 8.0).abs() < 1e-12);
    }
}
