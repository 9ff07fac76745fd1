//! Measures how long a draw takes, how long a sampler takes to build, and the real codec.

use std::hint::black_box;
use std::time::Instant;

use ninescope_ecc::codec::BchCodec;
use ninescope_ecc::{Code, ErrorSampler};
use ninescope_kernel::RandomStream;

fn main() {
    for (bits, most) in [(4551, 35), (8752, 40), (72_812, 428), (32_800, 0)] {
        draws(bits, most);
    }
    for (user_bytes, correctable) in [(512, 35), (1024, 40), (8192, 428)] {
        codec(user_bytes, correctable);
    }
}

fn draws(bits: u32, most: u32) {
    let start = Instant::now();
    let sampler = ErrorSampler::new(bits, most);
    println!("n = {bits}, most = {most}: built in {:?}", start.elapsed());
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
        println!("  RBER {rber:e}: {each:.1} ns per level and draw, mean {mean:.6} of {:.6}", f64::from(bits) * rber);
    }
}

fn codec(user_bytes: u32, correctable: u32) {
    let code = Code::bch(8 * user_bytes, correctable, None).expect("a code");
    let start = Instant::now();
    let codec = BchCodec::new(&code).expect("a codec");
    println!("{user_bytes} B, t = {correctable}: built in {:?}", start.elapsed());
    let mut stream = RandomStream::new(1, "codec", "example");
    let user: Vec<u8> = (0..user_bytes).map(|_| stream.bits() as u8).collect();
    let rounds = 50;
    let start = Instant::now();
    let mut parity = Vec::new();
    for _ in 0..rounds {
        parity = codec.encode(black_box(&user));
    }
    println!("  encode {:?}", start.elapsed() / rounds);
    for errors in [0, 1, correctable / 2, correctable, correctable + 1] {
        let mut wrong = user.clone();
        let mut places = Vec::new();
        while (places.len() as u32) < errors {
            let place = stream.below(8 * u64::from(user_bytes)) as usize;
            if !places.contains(&place) {
                places.push(place);
                wrong[place / 8] ^= 1 << (place % 8);
            }
        }
        let start = Instant::now();
        let mut result = Ok(0);
        for _ in 0..rounds {
            result = codec.decode(&mut wrong.clone(), &mut parity.clone());
        }
        println!("  decode {errors} errors {:?}: {result:?}", start.elapsed() / rounds);
    }
}
