//! How many of a drive's units each of its pools holds, when all of them are overwritten at random and pools take their turns.
//!
//! In each round of turns a pool gets one unit, and loses one for each of its `V` that is among the round's writes: of a
//! share of `u` that is `V / u` on average, with a variance of one. Such a walk is drawn back by `(V - u) / u` a round, so `V`
//! is normal about `u` with a variance of `u / 2`.

use ninescope_kernel::RandomStream;

/// A pool, by its stripe position, and how many units it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub position: u32,
    pub units: u32,
}

/// The shares of so many pools in so many units, none further than `limit` from the mean, in an order in which one follows
/// another that holds nearly as much: from the mean to the least, and from there to the most.
pub fn drawn(units: u32, pools: u32, limit: u32, stream: &mut RandomStream) -> Vec<Share> {
    let mean = f64::from(units) / f64::from(pools);
    let drawn: Vec<f64> = (0..pools).map(|_| (mean / 2.0).sqrt() * normal(stream)).collect();
    // Together they hold the drive's units.
    let excess = drawn.iter().sum::<f64>() / f64::from(pools);
    let limit = f64::from(limit);
    let mut held: Vec<u32> =
        drawn.iter().map(|away| (mean + (away - excess).clamp(-limit, limit)).round() as u32).collect();
    // What clamping and rounding took from all of them, or gave, goes back one by one.
    let (least, most) = ((mean - limit.max(1.0)).ceil() as u32, (mean + limit.max(1.0)).floor() as u32);
    let mut missing = i64::from(units) - held.iter().map(|&share| i64::from(share)).sum::<i64>();
    while missing != 0 {
        for share in &mut held {
            let step = i64::from(missing > 0 && *share < most) - i64::from(missing < 0 && *share > least);
            *share = (i64::from(*share) + step) as u32;
            missing -= step;
        }
    }
    held.sort_unstable();
    let half = held.len() / 2;
    let down = (0..half).rev().step_by(2);
    let up = (0..half).rev().skip(1).step_by(2).collect::<Vec<_>>().into_iter().rev();
    let visited = down.chain(up).chain(half..held.len()).map(|index| held[index]);
    let mut positions: Vec<u32> = (0..pools).collect();
    super::shuffle(&mut positions, stream);
    positions.into_iter().zip(visited).map(|(position, units)| Share { position, units }).collect()
}

/// A number of the standard normal distribution, but for what is beyond six deviations: twelve uniform ones have its variance.
fn normal(stream: &mut RandomStream) -> f64 {
    (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> RandomStream {
        RandomStream::new(7, "prepare", "shares")
    }

    #[test]
    fn they_scatter_as_the_walk_has_it_and_hold_all_units() {
        let (units, pools) = (8_000_003, 800);
        let shares = drawn(units, pools, u32::MAX, &mut stream());
        assert_eq!(shares.iter().map(|share| share.units).sum::<u32>(), units);
        let mean = f64::from(units) / f64::from(pools);
        let variance =
            shares.iter().map(|share| (f64::from(share.units) - mean).powi(2)).sum::<f64>() / f64::from(pools);
        // Five standard errors of the variance of 800 draws.
        assert!((variance / (mean / 2.0) - 1.0).abs() < 0.25, "{variance} about {mean}");
    }

    #[test]
    fn a_walk_of_pools_comes_to_the_variance() {
        // The naive model: pools get a unit in turn, and a unit drawn at random leaves its pool.
        let (pools, share) = (50_u32, 400_u32);
        let mut stream = stream();
        let mut pool_of: Vec<u32> = (0..pools * share).map(|unit| unit % pools).collect();
        let mut sums = (0.0, 0.0);
        for round in 0..20 * share {
            for pool in 0..pools {
                pool_of[stream.below(u64::from(pools * share)) as usize] = pool;
            }
            if round > 5 * share && round % 100 == 0 {
                let mut held = vec![0_u32; pools as usize];
                for &pool in &pool_of {
                    held[pool as usize] += 1;
                }
                let away = held.iter().map(|&held| (f64::from(held) - f64::from(share)).powi(2));
                sums = (sums.0 + away.sum::<f64>() / f64::from(pools), sums.1 + 1.0);
            }
        }
        let variance = sums.0 / sums.1;
        assert!((variance / (f64::from(share) / 2.0) - 1.0).abs() < 0.1, "{variance}");
    }

    #[test]
    fn each_position_has_one_and_neighbours_are_alike() {
        for pools in [1, 2, 3, 64, 65] {
            let shares = drawn(pools * 10_000 + 1, pools, u32::MAX, &mut stream());
            let mut positions: Vec<u32> = shares.iter().map(|share| share.position).collect();
            positions.sort_unstable();
            assert_eq!(positions, (0..pools).collect::<Vec<_>>());
            let (least, most) = shares
                .iter()
                .fold((u32::MAX, 0), |(least, most), share| (least.min(share.units), most.max(share.units)));
            let steps: u32 = shares.windows(2).map(|pair| pair[0].units.abs_diff(pair[1].units)).sum();
            // From within it to the least, and from there to the most.
            assert!(steps <= 2 * (most - least), "{pools}: {steps}");
        }
    }

    #[test]
    fn none_is_beyond_the_limit() {
        assert!(drawn(64_040, 64, 0, &mut stream()).iter().all(|share| (1_000..=1_001).contains(&share.units)));
        let shares = drawn(64_000, 64, 5, &mut stream());
        assert!(shares.iter().all(|share| share.units.abs_diff(1_000) <= 5), "{shares:?}");
        assert_eq!(shares.iter().map(|share| share.units).sum::<u32>(), 64_000);
    }
}
