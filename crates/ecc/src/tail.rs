//! Tails of the binomial law in logarithms: as exact at 1e-300 as near the mean.
//!
//! Single terms come from Loader, "Fast and accurate computation of binomial probabilities" (2000), whose parts are
//! small numbers where a difference of log-gammas cancels; tails are sums of ratios of neighbouring terms. This
//! module must not know what is counted.

use std::f64::consts::PI;

/// Terms of a tail below this share of its sum are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// ln P[X = k] of X ~ Binomial(n, p), for p in [0, 1).
pub fn ln_mass(n: u32, k: u32, p: f64) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    if p <= 0.0 {
        return if k == 0 { 0.0 } else { f64::NEG_INFINITY };
    }
    let (trials, hits, misses) = (f64::from(n), f64::from(k), f64::from(n - k));
    if k == 0 {
        return trials * libm::log1p(-p);
    }
    if k == n {
        return trials * libm::log(p);
    }
    let stirling = stirling_error(trials) - stirling_error(hits) - stirling_error(misses);
    let deviance = deviance(hits, trials * p) + deviance(misses, trials * (1.0 - p));
    stirling - deviance + 0.5 * libm::log(trials / (2.0 * PI * hits * misses))
}

/// ln P[X > t] of X ~ Binomial(n, p), for p in [0, 1).
pub fn ln_above(n: u32, t: u32, p: f64) -> f64 {
    if t >= n || p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let first = t + 1;
    if f64::from(first) < (f64::from(n) + 1.0) * p {
        return libm::log1p(-libm::exp(ln_at_most(n, t, p)));
    }
    let odds = p / (1.0 - p);
    let ratio = |k: u32| f64::from(n - k) / f64::from(k + 1) * odds;
    ln_mass(n, first, p) + libm::log(sum_of_ratios((first..n).map(ratio)))
}

/// ln P[X <= t] of X ~ Binomial(n, p), for p in [0, 1).
pub fn ln_at_most(n: u32, t: u32, p: f64) -> f64 {
    if t >= n || p <= 0.0 {
        return 0.0;
    }
    if f64::from(t) >= (f64::from(n) + 1.0) * p {
        return libm::log1p(-libm::exp(ln_above(n, t, p)));
    }
    let odds = (1.0 - p) / p;
    let ratio = |k: u32| f64::from(k) / f64::from(n - k + 1) * odds;
    ln_mass(n, t, p) + libm::log(sum_of_ratios((1..=t).rev().map(ratio)))
}

/// 1 + r1 + r1 r2 + …, for ratios that fall.
fn sum_of_ratios(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        // What follows is less than a geometric series of this ratio.
        if term < NEGLIGIBLE * (1.0 - ratio) * sum {
            break;
        }
    }
    sum
}

/// ln n! - ln(sqrt(2 pi n) (n/e)^n).
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        // Factorials up to 15! are exact.
        let factorial: f64 = (2..=n as u32).map(f64::from).product();
        return libm::log(factorial) - 0.5 * libm::log(2.0 * PI * n) - n * libm::log(n) + n;
    }
    let square = n * n;
    let terms = [1.0 / 1188.0, 1.0 / 1680.0, 1.0 / 1260.0, 1.0 / 360.0, 1.0 / 12.0];
    terms.iter().fold(0.0, |rest, term| term - rest / square) / n
}

/// x ln(x / mean) + mean - x.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * libm::log(x / mean) - difference;
    }
    // The series of the logarithm in v = (x - mean) / (x + mean), where the difference above would cancel.
    let v = difference / (x + mean);
    let square = v * v;
    let (mut sum, mut power) = (difference * v, 2.0 * x * v);
    for odd in (3..).step_by(2) {
        power *= square;
        let next = sum + power / f64::from(odd);
        if next.to_bits() == sum.to_bits() {
            break;
        }
        sum = next;
    }
    sum
}
