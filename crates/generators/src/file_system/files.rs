//! The set of files of a personality: which there are, and how large new ones become.

use ninescope_kernel::RandomStream;

use super::config::Figures;
use super::disk::File;

/// Files by number. The first ones of `order` exist, the others are names to be used.
#[derive(Debug)]
pub struct FileSet {
    pub files: Vec<File>,
    order: Vec<u32>,
    existing: u32,
    sizes: SizeLaw,
}

impl FileSet {
    /// A set in which no file exists.
    pub fn new(figures: &Figures, sizes: RandomStream) -> Self {
        Self {
            files: vec![File::default(); figures.files as usize],
            order: (0..figures.files).collect(),
            existing: 0,
            sizes: SizeLaw { mean: figures.mean_bytes as f64, shape: figures.gamma, stream: sizes },
        }
    }

    /// How many exist.
    pub fn existing(&self) -> u32 {
        self.existing
    }

    /// One of those that exist, all alike.
    pub fn pick(&self, stream: &mut RandomStream) -> Option<u32> {
        (self.existing > 0).then(|| self.order[stream.below(u64::from(self.existing)) as usize])
    }

    /// A file that did not exist and does now.
    pub fn create(&mut self, stream: &mut RandomStream) -> Option<u32> {
        let unused = self.order.len() as u32 - self.existing;
        if unused == 0 {
            return None;
        }
        let position = self.existing + stream.below(u64::from(unused)) as u32;
        self.order.swap(self.existing as usize, position as usize);
        self.existing += 1;
        Some(self.order[self.existing as usize - 1])
    }

    /// One that exists and does not from now on.
    pub fn delete(&mut self, stream: &mut RandomStream) -> Option<u32> {
        if self.existing == 0 {
            return None;
        }
        let position = stream.below(u64::from(self.existing)) as usize;
        self.existing -= 1;
        self.order.swap(position, self.existing as usize);
        Some(self.order[self.existing as usize])
    }

    /// The size of a new file [B]; at least one.
    pub fn draw_size(&mut self) -> u64 {
        self.sizes.draw()
    }
}

/// The gamma law of file sizes.
#[derive(Debug)]
struct SizeLaw {
    mean: f64,
    /// 0: always the mean.
    shape: f64,
    stream: RandomStream,
}

impl SizeLaw {
    /// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000; for shapes from 1.
    fn draw(&mut self) -> u64 {
        if self.shape == 0.0 {
            return self.mean as u64;
        }
        let d = self.shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let normal = self.normal();
            let cube = 1.0 + c * normal;
            if cube <= 0.0 {
                continue;
            }
            let v = cube * cube * cube;
            let accepted = 0.5 * normal * normal + d * (1.0 - v + libm::log(v));
            if libm::log(1.0 - self.stream.unit()) < accepted {
                return ((d * v / self.shape * self.mean) as u64).max(1);
            }
        }
    }

    /// Box and Muller; the second of the pair is not kept.
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.stream.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.stream.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_mean_and_the_variance_of_the_gamma_law() {
        for shape in [1.0, 1.5, 8.0] {
            let mut law = SizeLaw { mean: 16_384.0, shape, stream: RandomStream::new(3, "test", "sizes") };
            let draws: Vec<f64> = (0..200_000).map(|_| law.draw() as f64).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / draws.len() as f64;
            assert!((mean / 16_384.0 - 1.0).abs() < 0.01, "shape {shape}: mean {mean}");
            let expected = 16_384.0 * 16_384.0 / shape;
            assert!((variance / expected - 1.0).abs() < 0.03, "shape {shape}: variance {variance} and {expected}");
        }
        // Of shape 1 the law is exponential: e^-1 of the files are larger than the mean.
        let mut law = SizeLaw { mean: 1e6, shape: 1.0, stream: RandomStream::new(4, "test", "sizes") };
        let larger = (0..100_000).filter(|_| law.draw() > 1_000_000).count() as f64 / 1e5;
        assert!((larger - 0.367_88).abs() < 0.006, "{larger}");
    }
}
