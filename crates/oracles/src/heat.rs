//! A body that warms itself, is as warm throughout, and gives heat to the air through a resistance: Newton's law of cooling.
//!
//! `C dT/dt = P - (T - ambient) / R`, so that a temperature goes to `ambient + P R` as `exp(-t / RC)` does to zero. A thermostat that
//! knows two powers, one above and one below, makes it go to and fro between two temperatures. Holds for powers that are constant
//! meanwhile; from any text book on heat transfer (lumped capacitance).

/// The temperature after a time, on the way to the one that it would have in the end. Any units, times in the same one.
pub fn after(from: f64, to: f64, time: f64, time_constant: f64) -> f64 {
    to + (from - to) * (-time / time_constant).exp()
}

/// How long it takes to another temperature on this way.
///
/// # Panics
/// If that does not lie on it.
pub fn time_until(from: f64, to: f64, reached: f64, time_constant: f64) -> f64 {
    let share = (to - from) / (to - reached);
    assert!(share >= 1.0, "{reached} does not lie between {from} and {to}");
    time_constant * share.ln()
}

/// The mean temperature over a time on the way.
pub fn mean_until(from: f64, to: f64, time: f64, time_constant: f64) -> f64 {
    to - (after(from, to, time, time_constant) - from) * time_constant / time
}

/// Of a thermostat that has the body go to `hot` until it is at `above`, and to `cool` until it is at `until`: how long the first takes,
/// and the second.
pub fn cycle((above, until): (f64, f64), (hot, cool): (f64, f64), time_constant: f64) -> (f64, f64) {
    (time_until(until, hot, above, time_constant), time_until(above, cool, until, time_constant))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the equation itself in small steps: the temperature, and its mean.
    fn in_steps(from: f64, to: f64, time: f64, time_constant: f64) -> (f64, f64) {
        let steps = 1_000_000;
        let step = time / f64::from(steps);
        let (mut at, mut sum) = (from, 0.0);
        for _ in 0..steps {
            // By the middle of the step, as Heun does.
            let slope = (to - at) / time_constant;
            let next = at + step * (slope + (to - at - step * slope) / time_constant) / 2.0;
            sum += step * (at + next) / 2.0;
            at = next;
        }
        (at, sum / time)
    }

    #[test]
    fn the_closed_form_is_where_small_steps_lead() {
        for (from, to, time) in [(25.0, 85.0, 30.0), (90.0, 40.0, 200.0), (-10.0, 5.0, 5.0)] {
            let (at, mean) = in_steps(from, to, time, 60.0);
            assert!((after(from, to, time, 60.0) - at).abs() < 1e-6, "{from} to {to}");
            assert!((mean_until(from, to, time, 60.0) - mean).abs() < 1e-6, "{from} to {to}");
            let there = after(from, to, time, 60.0);
            assert!((time_until(from, to, there, 60.0) - time).abs() < 1e-6);
        }
    }

    /// 63.2 % of the way in a time constant, half of it in ln 2 of one.
    #[test]
    fn a_time_constant_is_63_percent_of_the_way() {
        assert!((after(0.0, 100.0, 1.0, 1.0) - 63.212).abs() < 1e-3);
        assert!((time_until(0.0, 100.0, 50.0, 60.0) - 41.589).abs() < 1e-3);
    }

    #[test]
    fn a_cycle_is_the_way_up_and_the_way_down() {
        // As far above as below: both take as long.
        let (up, down) = cycle((60.0, 40.0), (100.0, 0.0), 10.0);
        assert!((up - down).abs() < 1e-12 && (up - 10.0 * 1.5_f64.ln()).abs() < 1e-12);
    }
}
