//! Measures how long a draw takes, and how long a sampler takes to build.

use std::hint::black_box;
use std::time::Instant;

use ninescope_ecc::ErrorSampler;
use ninescope_kernel::RandomStream;

fn main() {
    for (bits, most) in [(4551, 35), (8752, 40), (72_812, 428), (32_800, 0)] {
        let start = Instant::now();
        let sampler = ErrorSampler::new(bits, most);
        let built = start.elapsed();
        println!("n = {bits}, most = {most}: built in {built:?}");
        let mut stream = RandomStream::new(1, "draws", "example");
        for rber in [1e-13, 1e-9, 1e-6, 1e-4, 1e-3, 5e-3] {
            let draws = 20_000_000_u32;
            let start = Instant::now();
            let mut sum = 0_u64;
            for _ in 0..draws {
                let level = sampler.level(black_box(rber));
                sum += u64::from(sampler.draw(level, &mut stream));
            }
            let each = start.elapsed().as_nanos() as f64 / f64::from(draws);
            let mean = sum as f64 / f64::from(draws);
            println!(
                "  RBER {rber:e}: {each:.1} ns per level and draw, mean {mean:.6} of {:.6}",
                f64::from(bits) * rber
            );
        }
    }
}
