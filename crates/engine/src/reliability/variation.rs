//! By how much bits of one page fail more often than those of another: by the page's place in its block, and by its block.

use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, PhysicalUnit, Ppa};

use super::sense::Ground;

/// Factors of the raw bit error rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariationConfig {
    /// Of each page of a block: those of its type and of its layer.
    pub pages: Vec<f64>,
    /// Of each page of a block of one bit in a cell: that of its layer.
    pub slc_pages: Vec<f64>,
    /// The standard deviation of the logarithm of a block's factor, the mean of which is 1.
    pub blocks: f64,
}

/// The same with the factor of each block.
#[derive(Clone, Debug)]
pub struct Variation {
    config: VariationConfig,
    /// By block of the drive; empty where they are alike.
    blocks: Vec<f64>,
}

impl Variation {
    /// Draws the factors of blocks, which they keep for life.
    pub fn new(config: &VariationConfig, geometry: &Geometry, seed: u64) -> Self {
        let count = geometry.dies() * geometry.planes_per_die * geometry.blocks_per_plane;
        let mut stream = RandomStream::new(seed, "nand", "error rates of blocks");
        let sigma = config.blocks;
        let draws = if sigma > 0.0 { count } else { 0 };
        let blocks = (0..draws).map(|_| libm::exp(sigma * normal(&mut stream) - sigma * sigma / 2.0)).collect();
        Self { config: config.clone(), blocks }
    }

    /// The factors of pages, and how blocks were drawn.
    pub fn config(&self) -> &VariationConfig {
        &self.config
    }

    /// The factor of a block: the planes of a die follow each other, and the blocks of a plane.
    pub fn of_block(&self, block: usize) -> f64 {
        self.blocks.get(block).copied().unwrap_or(1.0)
    }

    /// The factor of the page that a unit, or parity, lies in.
    pub(super) fn factor(&self, ground: Ground<'_>, ppa: Ppa) -> f64 {
        let geometry = ground.ftl.geometry();
        let PhysicalUnit { group, page, plane_in_group, .. } = geometry.locate(ppa);
        let pages = if ground.ftl.is_slc(group) { &self.config.slc_pages } else { &self.config.pages };
        let of_page = pages.get(page as usize).copied().unwrap_or(1.0);
        if self.blocks.is_empty() {
            return of_page;
        }
        let (pool, block) = geometry.pool_and_block(group);
        let plane =
            geometry.die_of(ppa).0 * geometry.planes_per_die + geometry.first_plane_of_pool(pool) + plane_in_group;
        of_page * self.of_block((plane * geometry.blocks_per_plane + block) as usize)
    }
}

/// Box and Muller; the second of the pair is not kept.
fn normal(stream: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry::checked(2, 1, 2, 2, 2_500, 6, 16_384, 4_096, 2).expect("a legal geometry")
    }

    #[test]
    fn factors_of_blocks_are_lognormal_with_a_mean_of_1() {
        let config = VariationConfig { blocks: 0.4, ..VariationConfig::default() };
        let variation = Variation::new(&config, &geometry(), 5);
        let count = 20_000;
        assert_eq!(variation.blocks.len(), count);
        let n = count as f64;
        let moment = |of: &dyn Fn(f64) -> f64| variation.blocks.iter().map(|&factor| of(factor)).sum::<f64>() / n;
        // Mean 1 and variance exp(0.16) - 1 of the factors; of their logarithms -0.08 and 0.16.
        let (mean, variance) = (moment(&|factor| factor), libm::expm1(0.16));
        assert!((mean - 1.0).abs() < 4.0 * (variance / n).sqrt(), "{mean}");
        let (log, square) = (moment(&libm::log), moment(&|factor| (libm::log(factor) + 0.08).powi(2)));
        assert!((log + 0.08).abs() < 4.0 * 0.4 / n.sqrt(), "{log}");
        // The variance of a square of a normal draw is twice the square of its variance.
        assert!((square - 0.16).abs() < 4.0 * 0.16 * (2.0 / n).sqrt(), "{square}");
        // Half of them lie below the median, exp(-0.08).
        let below = variation.blocks.iter().filter(|&&factor| factor < libm::exp(-0.08)).count() as f64;
        assert!((below - n / 2.0).abs() < 4.0 * (n / 4.0).sqrt(), "{below}");
    }

    #[test]
    fn a_seed_is_a_drive_and_blocks_may_be_alike() {
        let config = VariationConfig { blocks: 0.4, ..VariationConfig::default() };
        let factors = |seed| Variation::new(&config, &geometry(), seed).blocks;
        assert_eq!(factors(5), factors(5));
        assert_ne!(factors(5), factors(6));
        assert_eq!(
            Variation::new(&VariationConfig::default(), &geometry(), 5).of_block(7).to_bits(),
            1.0_f64.to_bits()
        );
    }
}
