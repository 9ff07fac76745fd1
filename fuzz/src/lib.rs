//! Ties the targets of `ninescope_fuzzing` to libFuzzer. Half of the mutations are libFuzzer's own, half know the
//! grammar of the target.

pub use libfuzzer_sys;

use ninescope_fuzzing::{Rng, Target};

/// Defines the fuzzer of a target.
#[macro_export]
macro_rules! fuzzer {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::check($name, input));
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate($name, data, size, max_size, seed)
        });
    };
}

/// Checks one input.
pub fn check(name: &str, input: &[u8]) {
    (ninescope_fuzzing::target(name).check)(input);
}

/// Changes the input in the first `size` bytes of `data`; returns its new size.
pub fn mutate(name: &str, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut rng = Rng::of_seed(seed);
    if rng.one_in(2) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let Target { mutate, .. } = ninescope_fuzzing::target(name);
    let input = data[..size].to_vec();
    let changed = mutate(&mut rng, &input, &input);
    let size = changed.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&changed[..size]);
    size
}
