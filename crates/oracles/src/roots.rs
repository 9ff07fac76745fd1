//! One-dimensional root finding for the implicit equations of the other modules.

/// Halvings after which an `f64` interval cannot shrink any further in practice.
const MAXIMUM_HALVINGS: u32 = 200;

/// The point in `[low, high]` where `function` changes sign, by bisection to the last bit.
///
/// # Panics
/// If `function` has the same sign at both ends.
pub(crate) fn bisect(mut low: f64, mut high: f64, mut function: impl FnMut(f64) -> f64) -> f64 {
    let low_is_positive = function(low) > 0.0;
    assert_ne!(low_is_positive, function(high) > 0.0, "no sign change between {low} and {high}");
    for _ in 0..MAXIMUM_HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if (function(middle) > 0.0) == low_is_positive {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::bisect;

    #[test]
    fn finds_the_square_root_of_two_from_either_direction() {
        for sign in [1.0, -1.0] {
            let root = bisect(0.0, 2.0, |x| sign * (x * x - 2.0));
            assert!((root - 2.0_f64.sqrt()).abs() < 1e-15);
        }
    }

    #[test]
    #[should_panic(expected = "no sign change")]
    fn refuses_an_interval_without_a_root() {
        bisect(1.0, 2.0, |x| x);
    }
}
