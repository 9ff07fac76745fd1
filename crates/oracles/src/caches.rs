//! Hit ratios of caches under the independent reference model: every access goes to item `i`
//! with probability `p_i`, whatever came before.

use crate::roots::bisect;

/// The hit ratio of `slots` slots by Che's approximation: an item is in the cache if it was asked for within a
/// characteristic time `t`, which solves `sum (1 - exp(-p_i t)) = slots`.
///
/// Source: Che, Tung and Wang, IEEE JSAC 20(7), 2002; Fricker, Robert and Roberts (arXiv 1202.3974) explain why it
/// is accurate for many items. In [0, 1].
///
/// # Panics
/// If there are not more items than slots, or no slots.
pub fn che_lru(popularity: &[f64], slots: usize) -> f64 {
    assert!(0 < slots && slots < popularity.len(), "{slots} slots for {} items", popularity.len());
    let held = |time: f64| popularity.iter().map(|p| -(-p * time).exp_m1()).sum::<f64>();
    let mut late = 1.0;
    while held(late) < slots as f64 {
        late *= 2.0;
    }
    let time = bisect(0.0, late, |time| held(time) - slots as f64);
    popularity.iter().map(|p| p * -(-p * time).exp_m1()).sum()
}

/// The exact hit ratio of `slots` slots: the sum over what the cache may hold, in the order of the latest use, of
/// the probability of that state times the probability of asking for one of its items. For few items only: the time
/// grows as their number to the power of `slots`.
///
/// Source: King, "Analysis of demand paging algorithms", IFIP Congress 1971.
pub fn king_lru(popularity: &[f64], slots: usize) -> f64 {
    let mut held = vec![false; popularity.len()];
    states(popularity, slots, &mut held, 1.0, 0.0)
}

/// The share of hits in the states that begin with `held`, which has `probability` and is asked for with `asked`.
fn states(popularity: &[f64], free: usize, held: &mut [bool], probability: f64, asked: f64) -> f64 {
    if free == 0 {
        return probability * asked;
    }
    let mut hits = 0.0;
    for item in 0..popularity.len() {
        if !held[item] {
            held[item] = true;
            let p = popularity[item];
            hits += states(popularity, free - 1, held, probability * p / (1.0 - asked), asked + p);
            held[item] = false;
        }
    }
    hits
}

/// The exact hit ratio of `slots` slots under first in, first out, which is also that of random replacement: the cache
/// holds a set of items with a probability in proportion to the product of theirs. For few items only.
///
/// Source: Gelenbe, "A unified approach to the evaluation of a class of replacement algorithms", IEEE Transactions on
/// Computers C-22(6), 1973.
pub fn gelenbe_fifo(popularity: &[f64], slots: usize) -> f64 {
    let (mut weights, mut hits) = (0.0, 0.0);
    for held in (0_u32..1 << popularity.len()).filter(|held| held.count_ones() as usize == slots) {
        let items = || popularity.iter().enumerate().filter(|(item, _)| held >> item & 1 == 1).map(|(_, p)| p);
        let weight: f64 = items().product();
        weights += weight;
        hits += weight * items().sum::<f64>();
    }
    hits / weights
}

/// Zipf's law: item `i` of `items` (from 1) is asked for in proportion to `i^-exponent`.
pub fn zipf(items: usize, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=items).map(|rank| (rank as f64).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of an independent program, and of simulations of 10 000 items.
    #[test]
    fn they_equal_values_computed_elsewhere() {
        assert!((king_lru(&zipf(6, 1.0), 3) - 0.637_815_028).abs() < 1e-9);
        assert!((che_lru(&zipf(6, 1.0), 3) - 0.636_16).abs() < 1e-5);
        for (exponent, slots, hit) in
            [(0.8, 100, 0.156_62), (0.8, 1000, 0.436_66), (1.0, 1000, 0.675_60), (1.2, 100, 0.656_34)]
        {
            assert!((che_lru(&zipf(10_000, exponent), slots) - hit).abs() < 1e-5, "{exponent} {slots}");
        }
    }

    /// One slot holds item `i` with probability `p_i`; two of three by hand: pairs weigh ab, ac and bc.
    #[test]
    fn first_in_first_out_by_hand() {
        let (a, b, c) = (0.5, 0.3, 0.2);
        assert!((gelenbe_fifo(&[a, b, c], 1) - (a * a + b * b + c * c)).abs() < 1e-12);
        let two = (a * b * (a + b) + a * c * (a + c) + b * c * (b + c)) / (a * b + a * c + b * c);
        assert!((gelenbe_fifo(&[a, b, c], 2) - two).abs() < 1e-12);
    }

    #[test]
    fn equal_popularity_hits_as_often_as_the_cache_is_large() {
        let equal = vec![0.125; 8];
        assert!((gelenbe_fifo(&equal, 3) - 0.375).abs() < 1e-12);
        assert!((king_lru(&equal, 3) - 0.375).abs() < 1e-12 && (che_lru(&equal, 3) - 0.375).abs() < 1e-12);
    }
}
