//! Student's t, and the interval of a mean that cannot be negative.

/// The interval of a write amplification by the scatter of its parts, at the level that Student's `t` of one degree less than
/// parts has: that of its logarithm, with the error that the jackknife finds, as of every mean of what cannot be negative.
/// Less than 1 is possible only where writes meet before they reach the flash, which parts show.
pub fn interval_of_mean(waf: f64, parts: &[f64], t: f64) -> (f64, f64) {
    let (count, sum) = (parts.len() as f64, parts.iter().sum::<f64>());
    let without_one = || parts.iter().map(|part| libm::log(((sum - part) / (count - 1.0)).max(f64::MIN_POSITIVE)));
    let level = mean(without_one());
    let squares: f64 = without_one().map(|log| (log - level) * (log - level)).sum();
    let factor = libm::exp(t * libm::sqrt(squares * (count - 1.0) / count));
    let least = parts.iter().copied().fold(waf.min(1.0), f64::min);
    ((waf / factor).max(least), waf * factor)
}

/// How often Student's t of an even number of degrees of freedom is so far from zero (Abramowitz and Stegun, 26.7.4).
pub fn two_sided(t: f64, degrees: u32) -> f64 {
    if !t.is_finite() {
        return 0.0;
    }
    let degrees_of_freedom = f64::from(degrees);
    let sine = t / libm::sqrt(degrees_of_freedom + t * t);
    let cosine_squared = 1.0 - sine * sine;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..degrees / 2 {
        term *= f64::from(2 * k - 1) / f64::from(2 * k) * cosine_squared;
        sum += term;
    }
    (1.0 - sine * sum).max(0.0)
}

/// How far from zero Student's t of an even number of degrees of freedom is so often.
pub fn t_of(often: f64, degrees: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, degrees) > often {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The mean of values.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}
