//! What must hold for any input whatsoever, and ways of making bad input from good.
//!
//! Each [`Target`] is one kind of input: `check` takes bytes and panics when something is broken, `mutate` makes
//! a new input from two others, knowing its grammar. The coverage-guided fuzzers in `fuzz/` and the tests of this
//! crate, which need no extra tool, run the same targets; docs/fuzzing.md says how. Nothing here is part of the
//! product, and this crate must not know how anything is simulated.

mod check;
mod mutate;

use ninescope_kernel::RandomStream;

pub use mutate::Rng;

/// One kind of input.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: the folder of its corpus, and the fuzzer's.
    pub name: &'static str,
    /// Panics when the input breaks something.
    pub check: fn(&[u8]),
    /// A changed version of the first input, perhaps with pieces of the second.
    pub mutate: fn(&mut Rng, &[u8], &[u8]) -> Vec<u8>,
}

/// Every kind of input that comes from outside.
pub const TARGETS: [Target; 8] = [
    Target { name: "trace", check: check::trace, mutate: mutate::trace },
    Target { name: "archive", check: check::trace, mutate: mutate::archive },
    Target { name: "columns", check: check::columns, mutate: mutate::trace },
    Target { name: "drive", check: check::drive, mutate: mutate::toml },
    Target { name: "job", check: check::job, mutate: mutate::toml },
    Target { name: "profile", check: check::profile, mutate: mutate::toml },
    Target { name: "request", check: check::request, mutate: mutate::json },
    Target { name: "snapshot", check: check::snapshot, mutate: mutate::snapshot },
];

/// The target of a name.
///
/// # Panics
/// When there is none.
pub fn target(name: &str) -> Target {
    TARGETS.into_iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target `{name}`"))
}

impl Target {
    /// Mutation number `number` of one of `corpus`: the same input each time.
    pub fn case(&self, corpus: &[Vec<u8>], number: u64) -> Vec<u8> {
        let mut rng = Rng::new(RandomStream::new(number, self.name, "mutation"));
        let (first, second) = (rng.pick(corpus).clone(), rng.pick(corpus));
        let mut input = first;
        for _ in 0..=rng.below(3) {
            input = (self.mutate)(&mut rng, &input, second);
        }
        input
    }
}
