//! Waiting times of the classic queues: one die is one server, a page operation one service.
//!
//! Times may be in any unit as long as one call uses the same unit throughout; rates are per that unit.
//! "Wait" is the time before service starts, "sojourn" includes the service. All mean values hold for
//! Poisson arrivals in the stationary state, load below 1. Finite samples of a queue are correlated:
//! compare with confidence intervals from batch means, percentiles within 2 % for millions of requests.

use crate::roots::bisect;

/// A stream of Poisson arrivals with its service time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceClass {
    /// Arrivals per unit of time.
    pub arrival_rate: f64,
    /// Mean service time.
    pub mean_service: f64,
    /// Mean of the squared service time (`mean_service` squared if it is constant).
    pub mean_square_service: f64,
}

impl ServiceClass {
    /// A class whose service always takes the same time.
    pub fn constant(arrival_rate: f64, service: f64) -> Self {
        Self { arrival_rate, mean_service: service, mean_square_service: service * service }
    }

    /// Part of the time the server works for this class.
    pub fn load(&self) -> f64 {
        self.arrival_rate * self.mean_service
    }
}

/// Mean work in service that an arrival finds: sum of `lambda E[S^2] / 2`.
fn mean_residual_work(classes: &[ServiceClass]) -> f64 {
    classes.iter().map(|class| class.arrival_rate * class.mean_square_service / 2.0).sum()
}

/// M/D/1: mean wait with a constant `service` time at load `rho`, `rho D / (2 (1 - rho))`.
pub fn md1_mean_wait(rho: f64, service: f64) -> f64 {
    rho * service / (2.0 * (1.0 - rho))
}

/// M/D/c: mean wait at `servers` equal servers with a constant `service` time, each at load `rho` (below 1).
///
/// `D sum_i (P[X_i >= ic] - P[X_i > ic] / rho)` over i from 1, `X_i` Poisson with mean `i c rho`. C. D. Crommelin, "Delay
/// probability formulae when the holding times are constant", Post Office Electrical Engineers Journal 25, 1932.
pub fn mdc_mean_wait(servers: u32, rho: f64, service: f64) -> f64 {
    let mut ln_factorial = 0.0;
    let mut sum = 0.0;
    for period in 1_u32.. {
        let (most_served, mean) = (period * servers, f64::from(period * servers) * rho);
        ln_factorial += (most_served - servers + 1..=most_served).map(|count| f64::from(count).ln()).sum::<f64>();
        let at_most_served = (f64::from(most_served) * mean.ln() - mean - ln_factorial).exp();
        let (mut more, mut term, mut count) =
            (0.0, at_most_served * mean / f64::from(most_served + 1), most_served + 1);
        while term > more * f64::EPSILON {
            more += term;
            count += 1;
            term *= mean / f64::from(count);
        }
        let waits = at_most_served + more - more / rho;
        sum += waits;
        if waits < sum * f64::EPSILON {
            break;
        }
    }
    sum * service
}

/// The stationary wait of the M/D/1 queue, by a recursion without subtractions.
///
/// The textbook series alternates in sign and needs some sixty digits. This one
/// goes through the number of customers in the system (balance of flow across each level of the queue at
/// departures), then `P(W <= kD - u) = sum_j Q(k-1-j) (lambda u)^j / j! e^(-lambda u)`, `0 <= u < D`,
/// where Q(m) is the probability of at most m+1 customers: every term is positive. G. J. Franx, "A
/// simple solution for the M/D/c waiting time distribution", Operations Research Letters 29, 2001.
#[derive(Clone, Debug)]
pub struct Md1Wait {
    rho: f64,
    service: f64,
    /// Entry n: probability of n customers in the system.
    customers: Vec<f64>,
    /// Entry n: probability of at most n customers.
    at_most: Vec<f64>,
    /// Entry n: probability of n arrivals during a service.
    arrivals: Vec<f64>,
    /// Entry n: probability of more than n arrivals during a service.
    more_arrivals: Vec<f64>,
}

impl Md1Wait {
    /// The queue at load `rho` (above 0, below 1) with a constant `service` time.
    pub fn new(rho: f64, service: f64) -> Self {
        assert!(rho > 0.0 && rho < 1.0, "load must be between 0 and 1, got {rho}");
        let no_arrival = (-rho).exp();
        Self {
            rho,
            service,
            customers: vec![1.0 - rho],
            at_most: vec![1.0 - rho],
            arrivals: vec![no_arrival],
            more_arrivals: vec![-(-rho).exp_m1()],
        }
    }

    /// Probabilities of up to `count` customers, extending the tables as needed.
    fn extend_to(&mut self, count: usize) {
        while self.customers.len() <= count {
            let next = self.customers.len();
            let last = self.arrivals[next - 1];
            self.arrivals.push(last * self.rho / next as f64);
            self.more_arrivals.push(self.poisson_tail(next));
            // Flow up across the cut below `next` equals the flow down, from `next` without arrival.
            let from_others: f64 =
                (1..next).map(|customers| self.customers[customers] * self.more_arrivals[next - customers]).sum();
            let flow_up = self.customers[0] * self.more_arrivals[next - 1] + from_others;
            let probability = flow_up / self.arrivals[0];
            self.customers.push(probability);
            self.at_most.push(self.at_most[next - 1] + probability);
        }
    }

    /// Probability of more than `count` arrivals during a service, summed from its largest term.
    fn poisson_tail(&self, count: usize) -> f64 {
        let mut term = self.arrivals[count] * self.rho / (count as f64 + 1.0);
        let mut sum = 0.0;
        let mut index = count as f64 + 1.0;
        while term > sum * f64::EPSILON {
            sum += term;
            index += 1.0;
            term *= self.rho / index;
        }
        sum
    }

    /// Probability that the wait is at most `time`.
    pub fn cumulative(&mut self, time: f64) -> f64 {
        if time < 0.0 {
            return 0.0;
        }
        let services = time / self.service;
        let whole = services.floor() as usize + 1;
        let mean = self.rho * (whole as f64 - services);
        self.extend_to(whole);
        let mut weight = (-mean).exp();
        let mut sum = 0.0;
        for index in 0..whole {
            sum += self.at_most[whole - index] * weight;
            weight *= mean / (index as f64 + 1.0);
        }
        sum
    }

    /// The wait that a share `probability` (below 1) of the customers does not exceed; good to about
    /// `1 - 1e-12`.
    pub fn percentile(&mut self, probability: f64) -> f64 {
        if probability <= 1.0 - self.rho {
            return 0.0;
        }
        let mut high = self.service;
        while self.cumulative(high) < probability {
            high *= 2.0;
        }
        bisect(0.0, high, |time| self.cumulative(time) - probability)
    }
}

/// M/D/1: the wait that a share `probability` of the customers does not exceed (0.99 for p99), with a
/// constant `service` time at load `rho`. See [`Md1Wait`].
pub fn md1_wait_percentile(rho: f64, service: f64, probability: f64) -> f64 {
    Md1Wait::new(rho, service).percentile(probability)
}

/// M/G/1: mean wait, `lambda E[S^2] / (2 (1 - rho))` (Pollaczek and Khinchine). Takes all classes that
/// share the server first come, first served.
pub fn mg1_mean_wait(classes: &[ServiceClass]) -> f64 {
    let load: f64 = classes.iter().map(ServiceClass::load).sum();
    mean_residual_work(classes) / (1.0 - load)
}

/// Mean wait of each class under non-preemptive priority, the first class the most urgent.
///
/// `R / ((1 - s_(k-1)) (1 - s_k))`, R the mean residual work of all classes, `s_k` the load of the
/// classes up to k. Cobham, Operations Research 2, 1954.
pub fn cobham(classes: &[ServiceClass]) -> Vec<f64> {
    let residual = mean_residual_work(classes);
    let mut load = 0.0;
    classes
        .iter()
        .map(|class| {
            let more_urgent = load;
            load += class.load();
            residual / ((1.0 - more_urgent) * (1.0 - load))
        })
        .collect()
}

/// Mean sojourn of each class under preemptive-resume priority (suspend and resume at no cost), the
/// first class the most urgent.
///
/// `S_k / (1 - s_(k-1)) + R_k / ((1 - s_(k-1)) (1 - s_k))`, `R_k` the residual work of the classes up to
/// k. Kleinrock, Queueing Systems, volume 2, chapter 3.
pub fn preemptive_resume(classes: &[ServiceClass]) -> Vec<f64> {
    let mut load = 0.0;
    classes
        .iter()
        .enumerate()
        .map(|(index, class)| {
            let more_urgent = load;
            load += class.load();
            let residual = mean_residual_work(&classes[..=index]);
            class.mean_service / (1.0 - more_urgent) + residual / ((1.0 - more_urgent) * (1.0 - load))
        })
        .collect()
}

/// M/G/1 whose server, when idle, takes vacations back to back (erases in the background): mean wait,
/// that of [`mg1_mean_wait`] plus `E[V^2] / (2 E[V])`.
pub fn vacations(classes: &[ServiceClass], mean_vacation: f64, mean_square_vacation: f64) -> f64 {
    mg1_mean_wait(classes) + mean_square_vacation / (2.0 * mean_vacation)
}

/// Batches (`M^[X]/D/1`): mean wait of a page when requests of X pages arrive at one die.
///
/// `rho D / (2 (1 - rho)) + E[X] D / (2 E[X] (1 - rho))`. `request_rate` in requests per unit of
/// time, `mean_pages` is `E[X]`, `mean_page_pairs` is `E[X ]`, `service` the constant time of a page.
pub fn batch_md1_page_wait(request_rate: f64, mean_pages: f64, mean_page_pairs: f64, service: f64) -> f64 {
    let rho = request_rate * mean_pages * service;
    md1_mean_wait(rho, service) + mean_page_pairs * service / (2.0 * mean_pages * (1.0 - rho))
}

/// Throughput of a closed loop of `queue_depth` requests over `dies` dies, each request to a die
/// at random, exponential service at rate `service_rate` per die: `c mu n / (n + c - 1)` (product form).
pub fn closed_product_form(dies: u32, service_rate: f64, queue_depth: u32) -> f64 {
    let (dies, queue_depth) = (f64::from(dies), f64::from(queue_depth));
    dies * service_rate * queue_depth / (queue_depth + dies - 1.0)
}

/// Lower and upper bound of the throughput of the loop of [`closed_product_form`] when the service
/// time is constant, `1 / service_rate`: the product form, and all requests or all dies busy.
pub fn closed_deterministic_bounds(dies: u32, service_rate: f64, queue_depth: u32) -> (f64, f64) {
    (closed_product_form(dies, service_rate, queue_depth), f64::from(dies.min(queue_depth)) * service_rate)
}

/// Mean number of busy dies when `requests` at once go to dies at random: `c (1 - (1 - 1/c)^n)`.
pub fn batch_busy_dies(dies: u32, requests: u32) -> f64 {
    let dies = f64::from(dies);
    dies * (1.0 - (1.0 - 1.0 / dies).powf(f64::from(requests)))
}

/// M/M/c: probability that a request waits, `offered_load` (arrival rate times mean service) below
/// `servers`. Erlang C through the stable Erlang B recursion.
pub fn erlang_c(servers: u32, offered_load: f64) -> f64 {
    let blocked = (1..=servers)
        .fold(1.0, |blocked, server| offered_load * blocked / (f64::from(server) + offered_load * blocked));
    let servers = f64::from(servers);
    servers * blocked / (servers - offered_load * (1.0 - blocked))
}

/// M/M/c: mean wait for a mean service time of `mean_service`, see [`erlang_c`].
pub fn mmc_mean_wait(servers: u32, offered_load: f64, mean_service: f64) -> f64 {
    erlang_c(servers, offered_load) * mean_service / (f64::from(servers) - offered_load)
}

/// The exact waits, in integer nanoseconds, of given requests at `servers` equal servers, first come,
/// first served: Lindley's recursion for one server, the vector of Kiefer and Wolfowitz for more.
///
/// `arrivals` are (time, service) pairs, times not decreasing. A simulated die without background work
/// must give these waits to the last nanosecond.
pub fn first_come_first_served_waits(servers: usize, arrivals: &[(u64, u64)]) -> Vec<u64> {
    assert!(servers > 0, "at least one server");
    let mut free_at = vec![0_u64; servers];
    let mut previous = 0;
    arrivals
        .iter()
        .map(|&(time, service)| {
            assert!(time >= previous, "arrivals must be sorted by time");
            previous = time;
            // Kept sorted: the first server is the next to be free.
            let start = free_at[0].max(time);
            free_at[0] = start + service;
            free_at.sort_unstable();
            start - time
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(computed: f64, expected: f64, tolerance: f64) {
        assert!((computed - expected).abs() <= tolerance, "computed {computed}, expected {expected}");
    }

    #[test]
    fn mean_waits_match_the_published_values() {
        for (rho, wait) in [(0.3, 0.21429), (0.5, 0.5), (0.7, 1.16667), (0.9, 4.5)] {
            assert_close(md1_mean_wait(rho, 1.0), wait, 5e-6);
            assert_close(mg1_mean_wait(&[ServiceClass::constant(rho, 1.0)]), wait, 5e-6);
        }
        // Nine services of 1 to one of 10.
        for (rho, wait) in [(0.3, 1.22932), (0.7, 6.69298)] {
            let mix = ServiceClass { arrival_rate: rho / 1.9, mean_service: 1.9, mean_square_service: 10.9 };
            assert_close(mg1_mean_wait(&[mix]), wait, 5e-6);
        }
    }

    #[test]
    fn several_servers_of_constant_time_wait_as_one_does_and_as_kiefer_and_wolfowitz_say() {
        for rho in [0.3, 0.5, 0.7, 0.9, 0.97] {
            assert_close(mdc_mean_wait(1, rho, 3.0), md1_mean_wait(rho, 3.0), 1e-9);
            // Half as variable as exponential service: about half the wait, less so the more servers there are.
            let half = mmc_mean_wait(4, 4.0 * rho, 1.0) / 2.0;
            assert!((0.9..1.35).contains(&(mdc_mean_wait(4, rho, 1.0) / half)), "{rho}");
        }
        let mut state = 1_u64;
        let mut time = 0.0;
        let arrivals: Vec<(u64, u64)> = (0..400_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                time -= ((state >> 11) as f64 / (1_u64 << 53) as f64).max(1e-300).ln() * 10_000.0 / (3.0 * 0.8);
                (time as u64, 10_000)
            })
            .collect();
        let waits = first_come_first_served_waits(3, &arrivals);
        let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
        let expected = mdc_mean_wait(3, 0.8, 10_000.0);
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
    }

    #[test]
    fn wait_percentiles_match_the_alternating_series_in_150_digits() {
        let table = [
            (0.3, [0.837_714_760_9, 1.890_873_401_4, 3.023_113_722_4, 6.368_380_739_3]),
            (0.5, [1.515_744_841_4, 3.336_255_957_0, 5.168_385_031_0, 10.666_327_751_5]),
            (0.8, [5.011_511_498_4, 10.355_886_792_0, 15.700_268_194_1, 31.733_412_398_9]),
            (0.95, [22.302_228_861_1, 44.937_765_508_4, 67.573_302_155_7, 135.479_912_097_6]),
        ];
        for (rho, waits) in table {
            for (probability, wait) in [0.9, 0.99, 0.999, 0.999_999].into_iter().zip(waits) {
                assert_close(md1_wait_percentile(rho, 1.0, probability), wait, 1e-6);
            }
        }
    }

    #[test]
    fn wait_distribution_starts_at_the_idle_share_and_scales_with_the_service() {
        assert_close(Md1Wait::new(0.6, 1.0).cumulative(0.0), 0.4, 1e-15);
        assert_close(md1_wait_percentile(0.6, 1.0, 0.4), 0.0, 0.0);
        let scaled = md1_wait_percentile(0.6, 50_000.0, 0.99);
        assert_close(scaled / 50_000.0, md1_wait_percentile(0.6, 1.0, 0.99), 1e-9);
    }

    #[test]
    fn wait_distribution_has_the_right_mean() {
        // E[W] is the integral of 1 - P(W <= t); midpoint rule with steps of 1/200 of a service.
        let mut wait = Md1Wait::new(0.7, 1.0);
        let step = 0.005;
        let tail: f64 = (0..16_000).map(|index| 1.0 - wait.cumulative((f64::from(index) + 0.5) * step)).sum();
        assert_close(tail * step, md1_mean_wait(0.7, 1.0), 1e-4);
    }

    #[test]
    fn priorities_match_the_published_values() {
        let reads_and_writes = [ServiceClass::constant(0.3, 1.0), ServiceClass::constant(0.05, 8.0)];
        let waits = cobham(&reads_and_writes);
        assert_close(waits[0], 2.5, 5e-5);
        assert_close(waits[1], 8.3333, 5e-5);
        let sojourns = preemptive_resume(&reads_and_writes);
        assert_close(sojourns[0], 1.21429, 5e-6);
        assert_close(sojourns[1], 19.7619, 5e-5);
    }

    #[test]
    fn cobham_keeps_the_conservation_law() {
        let classes =
            [ServiceClass::constant(0.2, 1.0), ServiceClass::constant(0.1, 2.0), ServiceClass::constant(0.02, 10.0)];
        let load: f64 = classes.iter().map(ServiceClass::load).sum();
        let weighted: f64 = classes.iter().zip(cobham(&classes)).map(|(class, wait)| class.load() * wait).sum();
        assert_close(weighted, load * mg1_mean_wait(&classes), 1e-12);
    }

    #[test]
    fn background_erases_and_batches_match_the_published_values() {
        for (rate, wait) in [(0.02, 10.0102), (0.3, 10.2143)] {
            let reads = [ServiceClass::constant(rate, 1.0)];
            assert_close(vacations(&reads, 20.0, 400.0), wait, 5e-5);
        }
        assert_close(batch_md1_page_wait(0.15, 4.0, 12.0, 1.0), 4.5, 1e-12);
    }

    #[test]
    fn closed_loops_and_batches_over_dies_match_the_published_values() {
        assert_close(closed_product_form(8, 1.0, 1), 1.0, 1e-12);
        assert_close(closed_product_form(8, 1.0, 8), 4.26667, 5e-6);
        assert_close(closed_product_form(8, 1.0, 32), 6.5641, 5e-6);
        assert_close(closed_product_form(64, 1.0, 64), 32.252, 5e-4);
        assert_eq!(closed_deterministic_bounds(1, 2.0, 5), (2.0, 2.0));
        let (low, high) = closed_deterministic_bounds(8, 1.0, 32);
        assert!(low < high);
        assert_close(high, 8.0, 0.0);
        for (dies, requests, busy) in [(8, 8, 5.25113), (64, 64, 40.64086), (64, 256, 62.86424)] {
            assert_close(batch_busy_dies(dies, requests), busy, 5e-6);
        }
    }

    #[test]
    fn a_shared_queue_matches_the_published_values() {
        assert_close(erlang_c(8, 6.0), 0.356_981, 5e-7);
        assert_close(mmc_mean_wait(8, 6.0, 1.0), 0.178_491, 5e-7);
        // One server: M/M/1 waits with probability rho.
        assert_close(erlang_c(1, 0.7), 0.7, 1e-12);
    }

    #[test]
    fn exact_waits_follow_lindley_and_kiefer_wolfowitz() {
        let arrivals = [(0, 10), (3, 4), (5, 1), (40, 2), (41, 2)];
        assert_eq!(first_come_first_served_waits(1, &arrivals), [0, 7, 9, 0, 1]);
        assert_eq!(first_come_first_served_waits(2, &arrivals), [0, 0, 2, 0, 0]);
    }
}
