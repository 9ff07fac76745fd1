//! How long one codec takes for the codewords of one access.
//!
//! This module must not know which law the times came from, nor that somebody waits for a decoder.

use ninescope_kernel::Ns;

/// The times of one codeword in an encoder and in the stages of a decoder.
///
/// Every codeword passes the first stage, where its syndromes are computed: a clean one is done there. The others
/// solve the key equation and search for the errors' places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodecTiming {
    /// Encoding.
    pub encode: Ns,
    /// Computing the syndromes.
    pub syndromes: Ns,
    /// Solving the key equation.
    pub key_equation: Ns,
    /// Searching for the errors' places.
    pub search: Ns,
    /// Whether a codeword enters a stage when the one before has left it, or only when that is done.
    pub pipelined: bool,
}

impl CodecTiming {
    /// Encoding so many codewords, one after the other.
    pub fn encoding(&self, codewords: u32) -> Ns {
        times(codewords, self.encode)
    }

    /// Decoding so many codewords of which so many hold errors.
    ///
    /// In a pipeline the corrupted ones are taken as the last to come, which is the longest it can take: then the
    /// slowest stage sets the pace of all but one of them.
    pub fn decoding(&self, codewords: u32, corrupted: u32) -> Ns {
        let corrupted = corrupted.min(codewords);
        let syndromes = times(codewords, self.syndromes);
        let rest = Ns(self.key_equation.0 + self.search.0);
        if corrupted == 0 || !self.pipelined {
            return Ns(syndromes.0.saturating_add(times(corrupted, rest).0));
        }
        let slowest = self.syndromes.max(self.key_equation).max(self.search);
        let waits = times(corrupted - 1, slowest - self.syndromes);
        Ns(syndromes.0.saturating_add(rest.0).saturating_add(waits.0))
    }
}

fn times(count: u32, span: Ns) -> Ns {
    Ns(span.0.saturating_mul(u64::from(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(stages: [u64; 3], pipelined: bool) -> CodecTiming {
        let [syndromes, key_equation, search] = stages.map(Ns);
        CodecTiming { encode: Ns(7), syndromes, key_equation, search, pipelined }
    }

    #[test]
    fn without_a_pipeline_times_add_up() {
        let timing = timing([10, 4, 9], false);
        assert_eq!(timing.encoding(8), Ns(56));
        assert_eq!(timing.decoding(8, 0), Ns(80));
        assert_eq!(timing.decoding(8, 3), Ns(80 + 3 * 13));
        assert_eq!(timing.decoding(2, 9), timing.decoding(2, 2));
        assert_eq!(timing.decoding(0, 0), Ns(0));
    }

    /// The pipeline step by step: a codeword enters a stage when it left the one before and the stage is free.
    fn step_by_step(stages: [u64; 3], codewords: u32, corrupted: u32) -> u64 {
        let mut free = [0_u64; 3];
        let mut end = 0;
        for index in 0..codewords {
            let passed = if index < codewords - corrupted { 1 } else { 3 };
            let mut now = 0;
            for stage in 0..passed {
                now = free[stage].max(now) + stages[stage];
                free[stage] = now;
            }
            end = end.max(now);
        }
        end
    }

    #[test]
    fn a_pipeline_is_as_fast_as_its_slowest_stage() {
        for stages in [[10, 4, 9], [4, 10, 9], [4, 9, 10], [5, 5, 5], [10, 25, 0], [10, 0, 0]] {
            for codewords in 0..6 {
                for corrupted in 0..=codewords {
                    let expected = step_by_step(stages, codewords, corrupted);
                    assert_eq!(timing(stages, true).decoding(codewords, corrupted), Ns(expected), "{stages:?}");
                }
            }
        }
    }
}
