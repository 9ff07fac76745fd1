//! Write amplification of garbage collection in the limit of a large drive.
//!
//! Notation of all functions: `spare_factor` is T/U, physical pages in the pool of collection candidates
//! over logical pages, that is 1 + over-provisioning; it must be above 1. The pool excludes the free
//! reserve, and the open block counts about half: at a spare factor of 1.07 one block more among 8192
//! shifts the result by 0.016. The result is programmed pages per host page, at least 1.

use crate::roots::bisect;

/// Upper end of the interval in which an implicit write amplification is sought.
const HIGHEST_WRITE_AMPLIFICATION: f64 = 1e6;

/// A class of logical pages that are written equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficClass {
    /// Part of all host writes that go to this class (0 to 1).
    pub write_share: f64,
    /// Part of all logical pages that belong to this class (0 to 1).
    pub data_share: f64,
}

/// A simulated write amplification of greedy collection with few blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteBlocksValue {
    /// Blocks in the pool of collection candidates.
    pub blocks: u32,
    /// Mean over four seeds of a brute-force program.
    pub write_amplification: f64,
    /// Absolute difference to allow one run: four standard deviations between seeds.
    pub tolerance: f64,
}

/// Spare factor at which [`GREEDY_FINITE_BLOCKS`] was measured.
pub const GREEDY_FINITE_BLOCKS_SPARE_FACTOR: f64 = 1.28;

/// Pages per block at which [`GREEDY_FINITE_BLOCKS`] was measured.
pub const GREEDY_FINITE_BLOCKS_PAGES_PER_BLOCK: u32 = 64;

/// How far greedy collection of uniform random writes stays below its limit ([`greedy`], here 2.4028)
/// when the drive has few blocks. Test with at least 4096 candidate blocks, or against this curve.
pub const GREEDY_FINITE_BLOCKS: [FiniteBlocksValue; 7] = [
    finite_blocks(64, 2.3205, 0.0020),
    finite_blocks(128, 2.3602, 0.0009),
    finite_blocks(256, 2.3813, 0.0018),
    finite_blocks(512, 2.3921, 0.0014),
    finite_blocks(1024, 2.3973, 0.0018),
    finite_blocks(4096, 2.4010, 0.0016),
    finite_blocks(16384, 2.4023, 0.0007),
];

const fn finite_blocks(blocks: u32, write_amplification: f64, tolerance: f64) -> FiniteBlocksValue {
    FiniteBlocksValue { blocks, write_amplification, tolerance }
}

/// The principal branch of the Lambert W function for `-1/e <= x <= 0`, by Halley's iteration.
fn lambert_w_of_negative(x: f64) -> f64 {
    let distance_from_branch_point = (1.0 + std::f64::consts::E * x).max(0.0);
    let p = (2.0 * distance_from_branch_point).sqrt();
    // Series at the branch point; good enough as a start over the whole interval.
    let mut w = -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p;
    for _ in 0..64 {
        let exponential = w.exp();
        let residual = w * exponential - x;
        let slope = exponential * (w + 1.0);
        let step = residual / (slope - (w + 2.0) * residual / (2.0 * w + 2.0));
        if !step.is_finite() {
            break;
        }
        w -= step;
        if step.abs() < 1e-16 {
            break;
        }
    }
    w
}

/// Collection in order of age (FIFO, circular log, least recently written), uniform random writes.
///
/// `a / (a + W0(-a e^-a))`; exact for any number of pages per block as the drive grows. Desnoyers,
/// SYSTOR 2012 and TOS 2014; Xiang and Kurkoski, arXiv 1110.4245.
pub fn fifo(spare_factor: f64) -> f64 {
    spare_factor / (spare_factor + lambert_w_of_negative(-spare_factor * (-spare_factor).exp()))
}

/// Number of valid pages around which greedy victims lie: the root `x` of
/// `b - x = (b/a) (H_b - H(x))`, with `H` the harmonic numbers joined by straight lines. Zero when
/// there is always an empty block to collect.
fn greedy_valid_pages(spare_factor: f64, pages_per_block: u32) -> f64 {
    let pages = f64::from(pages_per_block);
    let weight = pages / spare_factor;
    // The difference of the two sides is concave and zero at x = b, so walking down from b it stays
    // positive until the wanted root; `tail` is H_b - H_level.
    let mut tail = 0.0;
    for level in (1..=pages_per_block).rev() {
        let upper = f64::from(level);
        let lower_tail = tail + 1.0 / upper;
        if pages - (upper - 1.0) - weight * lower_tail <= 0.0 {
            // Inside (level - 1, level): pages - x = weight (tail + (upper - x) / upper).
            return (pages - weight * (tail + 1.0)) / (1.0 - weight / upper);
        }
        tail = lower_tail;
    }
    0.0
}

/// Greedy collection (fewest valid pages first), uniform random writes, many blocks of
/// `pages_per_block` pages.
///
/// Mean field; the same limit as Bux and Iliadis (Performance Evaluation 2010), Desnoyers (SYSTOR
/// 2012) and Van Houdt (SIGMETRICS 2013). With large blocks it approaches [`fifo`] from below.
pub fn greedy(spare_factor: f64, pages_per_block: u32) -> f64 {
    let pages = f64::from(pages_per_block);
    pages / (pages - greedy_valid_pages(spare_factor, pages_per_block))
}

/// Distribution of valid pages over the candidate blocks under greedy collection, uniform random writes:
/// entry `i` is the fraction of blocks with `i` valid pages (`0..=pages_per_block`).
///
/// Mean field as in [`greedy`]: above the victims' level the fraction falls as `1/i`; the rest sits
/// at that level. The mean is `pages_per_block / spare_factor`.
pub fn greedy_valid_distribution(spare_factor: f64, pages_per_block: u32) -> Vec<f64> {
    let pages = f64::from(pages_per_block);
    let victim_level = greedy_valid_pages(spare_factor, pages_per_block);
    let scale = pages / (spare_factor * (pages - victim_level));
    let lowest = victim_level.ceil() as usize;
    let mut fractions = vec![0.0; pages_per_block as usize + 1];
    let mut above = 0.0;
    for (valid, fraction) in fractions.iter_mut().enumerate().skip(lowest + 1) {
        *fraction = scale / valid as f64;
        above += *fraction;
    }
    fractions[lowest] = 1.0 - above;
    fractions
}

/// A victim drawn at random, uniform random writes: `a / (a - 1)`, for any number of pages per block.
///
/// Simulations approach it slowly: allow 1 %.
pub fn random(spare_factor: f64) -> f64 {
    spare_factor / (spare_factor - 1.0)
}

/// A victim drawn at random among the blocks that hold an invalid page, uniform random writes: `1 / (1 - (1 - 1/b) / a)`.
///
/// Mean field. A block rests until the first of its `b` pages is overwritten, and is drawn at a constant rate from then on. If
/// that is `m` times the rate at which a page is overwritten, each of the other `b - 1` pages is valid still with a chance of
/// `m / (1 + m)`; and the mean of valid pages over the lives of all blocks, `(m + b) / (1 + m)` over `(m + b) / m` of them,
/// comes to the same, and is `1 / a`. Large blocks approach [`random`].
pub fn random_invalid(spare_factor: f64, pages_per_block: u32) -> f64 {
    1.0 / (1.0 - (1.0 - 1.0 / f64::from(pages_per_block)) / spare_factor)
}

/// The best of `choices` blocks drawn at random, uniform random writes, many blocks.
///
/// Mean field, Van Houdt, SIGMETRICS 2013. One choice is [`random`], many choices approach
/// [`greedy`].
pub fn d_choices(spare_factor: f64, pages_per_block: u32, choices: u32) -> f64 {
    const GRID_POINTS: u32 = 120;
    let pages = f64::from(pages_per_block);
    // Excess of the host pages per collected block over the guess that led to them.
    let excess = |guess: f64| pages - mean_valid_of_victim(spare_factor, pages_per_block, choices, guess) - guess;
    let point = |index: u32| pages * (0.001 + (0.999 - 1e-9) * f64::from(index) / f64::from(GRID_POINTS));
    // A guess of all pages solves the equation trivially, so take the first change from plus to minus.
    for index in 0..GRID_POINTS {
        let (low, high) = (point(index), point(index + 1));
        if excess(low) > 0.0 && excess(high) <= 0.0 {
            return pages / bisect(low, high, excess);
        }
    }
    f64::NAN
}

/// Mean valid pages of the victim when each collected block takes `host_pages` new host pages: sweep
/// the balance of flows between the levels of valid pages from full blocks downwards.
fn mean_valid_of_victim(spare_factor: f64, pages_per_block: u32, choices: u32, host_pages: f64) -> f64 {
    let power = f64::from(choices);
    let per_page = host_pages * spare_factor / f64::from(pages_per_block);
    let mut blocks_above = 0.0_f64;
    let mut inflow = 1.0;
    let mut mean_valid = 0.0;
    for level in (0..=pages_per_block).rev() {
        let valid = f64::from(level);
        let rate = per_page * valid;
        let base = blocks_above.powf(power);
        let excess = |fraction: f64| rate * fraction + (blocks_above + fraction).powf(power) - base - inflow;
        let mut high = 1.0;
        while excess(high) < 0.0 {
            high *= 2.0;
        }
        let fraction = if inflow > 0.0 { bisect(0.0, high, excess) } else { 0.0 };
        mean_valid += valid * ((blocks_above + fraction).powf(power) - base);
        blocks_above += fraction;
        inflow = rate * fraction;
    }
    mean_valid
}

/// The chance of each number (`0..=count`) of successes among `count` trials.
fn binomial(count: u32, chance: f64) -> Vec<f64> {
    let (hit, miss) = (chance.ln(), (-chance).ln_1p());
    let mut choose = 0.0_f64;
    let of = |hits: u32, choose: f64| {
        // No hit of a chance of 0 is certain, although its logarithm is infinite.
        let hits_too = if hits == 0 { 0.0 } else { f64::from(hits) * hit };
        let misses_too = if hits == count { 0.0 } else { f64::from(count - hits) * miss };
        (choose + hits_too + misses_too).exp()
    };
    (0..=count)
        .map(|hits| {
            let share = of(hits, choose);
            choose += f64::from(count - hits).ln() - f64::from(hits + 1).ln();
            share
        })
        .collect()
}

/// Collection of the block with the fewest valid pages among a share (0 to 1) of the blocks, those that were filled first; uniform
/// random writes, many blocks, and as many in the window.
///
/// Mean field. A block waits for `t` (in times after which a page is overwritten on average once) until it comes into the window,
/// with `K` of its `b` pages valid, binomial with a chance of `exp(-t)`. There it is collected at once where `K` is below a level `x`,
/// else when it has fallen to that, after `H(K) - H(x)` on average with harmonic numbers joined by straight lines, as in
/// [`greedy`]. With `R` blocks collected in that time, of `n`: `n (1 - window) = R t` wait outside, `n window = R E[H(K) - H(x)]+`
/// inside, and `n b / a = R (b - E[min(K, x)])` pages are overwritten. No window is [`fifo`], one of all blocks is [`greedy`].
pub fn windowed_greedy(spare_factor: f64, pages_per_block: u32, window: f64) -> f64 {
    if window >= 1.0 {
        return greedy(spare_factor, pages_per_block);
    }
    let pages = f64::from(pages_per_block);
    // Host pages per collected block, by what is waited outside.
    let host_pages = |wait: f64| pages * wait / (spare_factor * (1.0 - window));
    // Blocks in the window above what there is room for, by the wait outside. A long wait leaves little to wait for inside.
    let too_many = |wait: f64| {
        let valid = binomial(pages_per_block, (-wait).exp());
        let collected_at = |level: f64| -> f64 {
            valid.iter().enumerate().map(|(count, share)| share * (count as f64).min(level)).sum()
        };
        let wanted = pages - host_pages(wait);
        if wanted >= collected_at(pages) {
            // Even FIFO would leave fewer valid pages than that: the wait outside is too short.
            return f64::INFINITY;
        }
        let level = bisect(0.0, pages, |level| collected_at(level) - wanted);
        let mut harmonic = level.ceil() - level;
        harmonic = if harmonic > 0.0 { harmonic / level.ceil() } else { 0.0 };
        let mut inside = 0.0;
        for (count, share) in valid.iter().enumerate().skip(level.ceil() as usize) {
            if count as f64 > level.ceil() {
                harmonic += 1.0 / count as f64;
            }
            inside += share * harmonic;
        }
        // Of the blocks outside, `wait` for each collected one, a share of `window / (1 - window)`.
        wait * window / (1.0 - window) - inside
    };
    let longest = spare_factor * (1.0 - window);
    if too_many(longest) >= 0.0 {
        // There is always an empty block to collect.
        return 1.0;
    }
    let wait = bisect(longest * 1e-9, longest, too_many);
    pages / host_pages(wait)
}

/// Collection in order of age, where a block of which more than a share of the pages is valid goes to the end of the line once; uniform
/// random writes, many blocks.
///
/// Mean field. Coming up takes `t`, in times after which a page is overwritten on average once, with `K` of `b` pages valid then,
/// binomial with a chance of `exp(-t)`. A share `p` of the blocks, with more than the bound, takes the same time again and is
/// collected with a part `exp(-t)` of what it had: `n = R t (1 + p)` blocks are in line for `R` that are collected, each with `v` valid
/// pages on average, and `n b / a = R (b - v)`. A bound of all pages is [`fifo`].
pub fn second_chance(spare_factor: f64, pages_per_block: u32, above: f64) -> f64 {
    const GRID_POINTS: u32 = 4_000;
    let pages = f64::from(pages_per_block);
    let most = (above * pages).floor() as usize;
    let host_pages = |time: f64| {
        let left = (-time).exp();
        let valid = binomial(pages_per_block, left);
        let of = |range: &[f64], first: usize| -> f64 {
            range.iter().enumerate().map(|(count, share)| share * (first + count) as f64).sum()
        };
        let (low, high) = valid.split_at((most + 1).min(valid.len()));
        (pages - of(low, 0) - left * of(high, low.len()), high.iter().sum::<f64>())
    };
    let excess = |time: f64| {
        let (gained, passed) = host_pages(time);
        gained - pages / spare_factor * time * (1.0 + passed)
    };
    // No time at all solves the equation trivially: the longest time is wanted.
    let point = |index: u32| spare_factor * f64::from(index) / f64::from(GRID_POINTS);
    for index in (1..=GRID_POINTS).rev() {
        let (low, high) = (point(index - 1).max(1e-9), point(index));
        if excess(low) > 0.0 && excess(high) <= 0.0 {
            return pages / host_pages(bisect(low, high, excess)).0;
        }
    }
    f64::NAN
}

/// FIFO collection, classes of different temperature mixed in one log.
///
/// The root of `W = sum p / (1 - exp(-p a / (f W)))` over the classes with write share p and data
/// share f; exact as the drive grows.
pub fn fifo_hot_cold(spare_factor: f64, classes: &[TrafficClass]) -> f64 {
    let excess = |amplification: f64| {
        let sum: f64 = classes
            .iter()
            .map(|class| {
                let exponent = class.write_share * spare_factor / (class.data_share * amplification);
                class.write_share / -(-exponent).exp_m1()
            })
            .sum();
        sum - amplification
    };
    bisect(1.0, HIGHEST_WRITE_AMPLIFICATION, excess)
}

/// FIFO collection, logical page number i (from 1) written with a probability proportional to
/// `i^-exponent`. The sum of [`fifo_hot_cold`] page by page.
pub fn fifo_zipf(spare_factor: f64, logical_pages: u32, exponent: f64) -> f64 {
    let weights: Vec<f64> = (1..=logical_pages).map(|page| f64::from(page).powf(-exponent)).collect();
    let total: f64 = weights.iter().sum();
    let data_share = 1.0 / f64::from(logical_pages);
    let classes: Vec<TrafficClass> =
        weights.iter().map(|weight| TrafficClass { write_share: weight / total, data_share }).collect();
    fifo_hot_cold(spare_factor, &classes)
}

/// FIFO collection, each class in its own static pool (streams, placement handles): the mean of
/// [`fifo`] weighted by write share. Takes pairs of write share and the pool's own spare factor.
///
/// With the same spare factor in each pool this is [`fifo`] of it: separation removes the penalty of
/// skew exactly (Desnoyers, TOS 2014).
pub fn fifo_separated(pools: &[(f64, f64)]) -> f64 {
    pools.iter().map(|(write_share, spare_factor)| write_share * fifo(*spare_factor)).sum()
}

/// Mean part of the logical pages in use when a share `trim_share` (below one half) of the commands
/// trims a random page in use and the others write a random page.
///
/// `(1 - 2q) / (1 - q)`, with a variance of `U (1 - s)` pages. Frankie et al., arXiv 1208.1794.
pub fn trim_occupancy(trim_share: f64) -> f64 {
    (1.0 - 2.0 * trim_share) / (1.0 - trim_share)
}

/// FIFO collection, uniform random writes mixed with trims as in [`trim_occupancy`]: [`fifo`] of the
/// spare factor over the occupancy.
pub fn fifo_with_trim(spare_factor: f64, trim_share: f64) -> f64 {
    fifo(spare_factor / trim_occupancy(trim_share))
}

/// BAST (a log block by logical block) with one log block, under uniform random writes of single pages none of which is the first of its
/// logical block: each write of another logical block than the one before has all pages of that one copied. In the limit of many logical
/// blocks: that a log block becomes full by writes of one logical block alone is left out.
pub fn bast_of_one_log_block(logical_blocks: u32, pages_per_block: u32) -> f64 {
    1.0 + f64::from(pages_per_block) * (1.0 - 1.0 / f64::from(logical_blocks))
}

/// FAST (log blocks of all) with one random log block, under the same writes: all pages of each logical block are copied that the log block
/// has pages of when it is full, as many as of so many boxes are hit by so many balls.
pub fn fast_of_one_random_log_block(logical_blocks: u32, pages_per_block: u32) -> f64 {
    let boxes = f64::from(logical_blocks);
    let missed = (f64::from(pages_per_block) * (-1.0 / boxes).ln_1p()).exp();
    1.0 + boxes * (1.0 - missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a unit of the fourth decimal place.
    const PRINTED: f64 = 0.000_051;

    fn assert_printed(computed: f64, printed: f64) {
        assert!((computed - printed).abs() < PRINTED, "computed {computed}, expected {printed}");
    }

    #[test]
    fn uniform_random_writes_match_the_published_table() {
        // Over-provisioning, FIFO, random, greedy with 4, 16, 64 and 256 pages per block.
        let table = [
            (0.07, 7.8172, 15.2857, [3.1600, 5.3281, 7.0099, 7.5969]),
            (0.10, 5.6775, 11.0000, [2.8000, 4.3338, 5.2471, 5.5617]),
            (0.15, 4.0160, 7.6667, [2.2000, 3.2847, 3.8005, 3.9596]),
            (0.20, 3.1878, 6.0000, [1.9200, 2.7168, 3.0528, 3.1530]),
            (0.28, 2.4814, 4.5714, [1.7280, 2.2024, 2.4028, 2.4610]),
            (0.40, 1.9569, 3.5000, [1.4400, 1.7797, 1.9102, 1.9449]),
            (0.50, 1.7158, 3.0000, [1.3043, 1.5853, 1.6808, 1.7069]),
            (1.00, 1.2550, 2.0000, [1.0435, 1.1965, 1.2389, 1.2509]),
        ];
        for (over_provisioning, fifo_value, random_value, greedy_values) in table {
            let spare_factor = 1.0 + over_provisioning;
            assert_printed(fifo(spare_factor), fifo_value);
            assert_printed(random(spare_factor), random_value);
            for (pages_per_block, value) in [4, 16, 64, 256].into_iter().zip(greedy_values) {
                assert_printed(greedy(spare_factor, pages_per_block), value);
            }
        }
    }

    #[test]
    fn fifo_solves_its_fixed_point_also_near_the_branch_point() {
        for spare_factor in [1.0001, 1.001, 1.01, 1.07, 1.5, 3.0, 20.0] {
            let valid = 1.0 - 1.0 / fifo(spare_factor);
            let expected = (-spare_factor * (1.0 - valid)).exp();
            assert!((valid - expected).abs() < 1e-9, "spare factor {spare_factor}");
        }
    }

    #[test]
    fn greedy_with_much_spare_space_never_copies() {
        assert_printed(greedy(3.0, 4), 1.0);
    }

    #[test]
    fn greedy_distribution_is_normalised_and_holds_all_data() {
        for (spare_factor, pages_per_block) in [(1.07, 64), (1.28, 16), (1.28, 256), (2.0, 4)] {
            let fractions = greedy_valid_distribution(spare_factor, pages_per_block);
            let total: f64 = fractions.iter().sum();
            let mean: f64 = fractions.iter().enumerate().map(|(i, f)| i as f64 * f).sum();
            assert!((total - 1.0).abs() < 1e-12);
            assert!((mean - f64::from(pages_per_block) / spare_factor).abs() < 1e-9);
            assert!(fractions.iter().all(|fraction| *fraction >= 0.0));
        }
    }

    #[test]
    fn random_among_those_with_an_invalid_page_lies_between_nothing_moved_and_random() {
        // One page to a block: what is drawn holds nothing.
        assert_printed(random_invalid(1.28, 1), 1.0);
        // Two pages: a block is drawn with its other page valid in 1 / 1.28 of the cases; 1 / (1 - 0.5 / 1.28).
        assert_printed(random_invalid(1.28, 2), 1.6410);
        assert!((random_invalid(1.28, 1 << 20) / random(1.28) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn random_choices_match_the_published_values() {
        let table = [
            (1.10, 64, [11.0000, 7.5061, 5.8312, 5.4502]),
            (1.10, 16, [11.0000, 7.0245, 5.0916, 4.6329]),
            (1.28, 64, [4.5714, 3.2453, 2.6122, 2.4711]),
            (1.28, 16, [4.5714, 3.1442, 2.4610, 2.3002]),
        ];
        for (spare_factor, pages_per_block, values) in table {
            for (choices, value) in [1, 2, 5, 10].into_iter().zip(values) {
                assert_printed(d_choices(spare_factor, pages_per_block, choices), value);
            }
        }
    }

    #[test]
    fn a_window_leads_from_fifo_to_greedy() {
        for (spare_factor, pages_per_block) in [(1.07, 64), (1.28, 16), (1.28, 256), (2.0, 4)] {
            let (highest, lowest) = (fifo(spare_factor), greedy(spare_factor, pages_per_block));
            let mut previous = windowed_greedy(spare_factor, pages_per_block, 1e-9);
            assert!((previous / highest - 1.0).abs() < 1e-6, "{previous} without a window, FIFO {highest}");
            for window in [0.01, 0.1, 0.3, 0.6, 0.9, 0.999] {
                let value = windowed_greedy(spare_factor, pages_per_block, window);
                assert!(value <= previous + 1e-9, "{value} after {previous} with {window} at {spare_factor}");
                previous = value;
            }
            assert!((previous / lowest - 1.0).abs() < 1e-3, "{previous} with nearly all, greedy {lowest}");
        }
    }

    #[test]
    fn one_page_to_a_block_is_collected_when_it_is_invalid_if_the_window_has_one() {
        // Of twice as many blocks as pages half are empty, and more than half of those outside hold their page.
        assert_printed(windowed_greedy(2.0, 1, 0.5), 1.0);
        assert_printed(windowed_greedy(2.0, 1, 0.0), fifo(2.0));
    }

    #[test]
    fn a_second_chance_for_none_is_fifo_and_for_all_is_fifo_of_two_turns() {
        for (spare_factor, pages_per_block) in [(1.07, 64), (1.28, 16), (1.28, 256), (2.0, 4)] {
            let none = second_chance(spare_factor, pages_per_block, 1.0);
            assert!((none / fifo(spare_factor) - 1.0).abs() < 1e-9);
            // All pass once, so that what is collected is what was filled first, of as many blocks.
            let all = second_chance(spare_factor, pages_per_block, 0.0);
            assert!((all / fifo(spare_factor) - 1.0).abs() < 0.08, "{all}");
            let best = second_chance(spare_factor, pages_per_block, 0.75);
            assert!(best >= greedy(spare_factor, pages_per_block) - 1e-9, "{best}");
        }
    }

    #[test]
    fn binomial_chances_are_those_of_counting() {
        let halves = binomial(4, 0.5);
        for (share, sixteenths) in halves.iter().zip([1.0, 4.0, 6.0, 4.0, 1.0]) {
            assert!((share - sixteenths / 16.0).abs() < 1e-12);
        }
        assert_eq!(binomial(3, 1.0), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn more_choices_lead_from_random_to_greedy() {
        for (spare_factor, pages_per_block) in [(1.03, 32), (1.07, 256), (1.5, 16), (2.0, 4)] {
            let mut previous = random(spare_factor) + 1e-9;
            for choices in [1, 2, 3, 10, 100] {
                let value = d_choices(spare_factor, pages_per_block, choices);
                assert!(value <= previous, "{choices} choices at {spare_factor}: {value} after {previous}");
                previous = value;
            }
            let limit = greedy(spare_factor, pages_per_block);
            assert!(previous > limit && previous < limit * 1.02);
        }
    }

    #[test]
    fn hot_and_cold_data_match_the_published_values() {
        let table = [
            (0.80, 0.20, 8.1818, 2.8196),
            (0.90, 0.10, 8.8660, 3.2961),
            (0.95, 0.05, 9.9576, 3.7881),
            (0.99, 0.01, 13.3128, 4.3917),
        ];
        for (write_share, data_share, with_little_spare, with_more_spare) in table {
            let classes = [
                TrafficClass { write_share, data_share },
                TrafficClass { write_share: 1.0 - write_share, data_share: 1.0 - data_share },
            ];
            assert_printed(fifo_hot_cold(1.07, &classes), with_little_spare);
            assert_printed(fifo_hot_cold(1.28, &classes), with_more_spare);
            assert_printed(fifo_separated(&[(write_share, 1.28), (1.0 - write_share, 1.28)]), 2.4814);
        }
    }

    #[test]
    fn one_class_is_plain_fifo() {
        let whole = TrafficClass { write_share: 1.0, data_share: 1.0 };
        for spare_factor in [1.05, 1.28, 2.0] {
            assert!((fifo_hot_cold(spare_factor, &[whole]) - fifo(spare_factor)).abs() < 1e-9);
        }
    }

    #[test]
    fn zipf_writes_match_the_published_values() {
        for (exponent, value) in [(0.6, 2.7480), (0.8, 3.1136), (0.99, 3.5964), (1.2, 4.0764)] {
            assert_printed(fifo_zipf(1.28, 51_200, exponent), value);
        }
    }

    #[test]
    fn trims_match_the_published_values() {
        for (trim_share, occupancy, value) in [(0.1, 0.8889, 3.1421), (0.2, 0.7500, 1.8812), (0.3, 0.5714, 1.3188)] {
            assert_printed(trim_occupancy(trim_share), occupancy);
            assert_printed(fifo_with_trim(1.07, trim_share), value);
        }
    }

    #[test]
    fn few_blocks_stay_below_the_limit_and_approach_it() {
        let limit = greedy(GREEDY_FINITE_BLOCKS_SPARE_FACTOR, GREEDY_FINITE_BLOCKS_PAGES_PER_BLOCK);
        for pair in GREEDY_FINITE_BLOCKS.windows(2) {
            assert!(pair[0].blocks < pair[1].blocks);
            assert!(pair[0].write_amplification < pair[1].write_amplification);
        }
        let largest = GREEDY_FINITE_BLOCKS[GREEDY_FINITE_BLOCKS.len() - 1];
        assert!((limit - largest.write_amplification).abs() < 0.0005 + PRINTED);
        assert!(largest.write_amplification < limit);
    }
}
