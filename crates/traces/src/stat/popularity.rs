//! How unevenly accesses spread over pages.

use serde::Serialize;

/// How the accesses of one kind spread over the pages that they touch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Popularity {
    /// Pages touched (of the sample, where there is one).
    pub pages: u64,
    /// Accesses to them.
    pub accesses: u64,
    /// Accesses to the busiest page.
    pub max_accesses: u64,
    /// Share of the accesses that go to the busiest hundredth of the pages (rounded up to whole pages).
    pub top_1_percent_share: Option<f64>,
    /// The same for a tenth.
    pub top_10_percent_share: Option<f64>,
    /// (share of the pages, the busiest first; share of the accesses).
    pub curve: Vec<(f64, f64)>,
}

impl Popularity {
    /// Of the accesses to each page; pages without any do not count.
    pub(super) fn of(accesses: impl Iterator<Item = u64>) -> Self {
        let mut counts: Vec<u64> = accesses.filter(|&count| count > 0).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let pages = counts.len();
        if pages == 0 {
            return Self::default();
        }
        let mut sum = 0;
        let sums: Vec<u64> = counts
            .iter()
            .map(|count| {
                sum += count;
                sum
            })
            .collect();
        let share = |top: usize| sums[top.max(1) - 1] as f64 / sum as f64;
        let tops = std::iter::successors(Some(1), |&top| (top < pages).then_some((top + 1 + top / 4).min(pages)));
        Self {
            pages: pages as u64,
            accesses: sum,
            max_accesses: counts[0],
            top_1_percent_share: Some(share(pages.div_ceil(100))),
            top_10_percent_share: Some(share(pages.div_ceil(10))),
            curve: tops.map(|top| (top as f64 / pages as f64, share(top))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_hundredth_is_rounded_up() {
        let popularity = Popularity::of((0..150).map(|page| if page == 7 { 51 } else { 1 }).chain([0, 0]));
        assert_eq!((popularity.pages, popularity.accesses, popularity.max_accesses), (150, 200, 51));
        assert_eq!((popularity.top_1_percent_share, popularity.top_10_percent_share), (Some(0.26), Some(0.325)));
        assert_eq!(popularity.curve.last(), Some(&(1.0, 1.0)));
        assert_eq!(Popularity::of([0].into_iter()), Popularity::default());
    }
}
