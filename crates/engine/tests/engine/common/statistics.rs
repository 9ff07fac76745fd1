//! Random arrivals, and means with their uncertainty.

use ninescope_kernel::RandomStream;

/// Poisson arrivals: the next submission time [ns].
pub struct Poisson {
    stream: RandomStream,
    mean_gap: f64,
    time: f64,
}

impl Poisson {
    /// With this many nanoseconds between arrivals on average.
    pub fn new(seed: u64, mean_gap: f64) -> Self {
        Self { stream: RandomStream::new(seed, "tests", "arrivals"), mean_gap, time: 0.0 }
    }

    /// The next arrival [ns].
    pub fn next(&mut self) -> u64 {
        self.time += self.stream.exponential(self.mean_gap);
        self.time.round() as u64
    }
}

/// The mean of some times.
pub fn mean(times: &[u32]) -> f64 {
    times.iter().map(|&time| f64::from(time)).sum::<f64>() / times.len() as f64
}

/// Batches that [`batch_half_width`] makes.
const BATCHES: usize = 20;

/// Half-width of the interval around [`mean`] that holds the true mean with probability `1 - 2 p`, where `quantile` is
/// the one of Student's distribution with 19 degrees that `p` lies beyond: from the means of 20 batches, each far longer
/// than the memory of the queue.
pub fn batch_half_width(times: &[u32], quantile: f64) -> f64 {
    let means: Vec<f64> = times.chunks_exact(times.len() / BATCHES).take(BATCHES).map(mean).collect();
    let batches = means.len() as f64;
    let centre = means.iter().sum::<f64>() / batches;
    let variance = means.iter().map(|batch| (batch - centre).powi(2)).sum::<f64>() / (batches - 1.0);
    quantile * (variance / batches).sqrt()
}

/// Student's distribution with 19 degrees of freedom: 95 % lie within.
pub const STUDENT_95: f64 = 2.093;
/// Student's distribution with 19 degrees of freedom: 99.9 % lie within.
pub const STUDENT_99_9: f64 = 3.883;
