//! Bounds of storage-class memory that is overwritten in place: what a serial sector costs, what a bus lets through,
//! and what wear levelling adds.
//!
//! Times are in nanoseconds. Published for the multi-SCM drive (Kinoshita, Matsui and Takeuchi, FMS slides) as ratios;
//! the arithmetic is here.

/// How much faster a serial drive gets when all of its memory takes `fast` instead of `slow` per sector, where
/// `overhead` per sector (the bus) stays: `(overhead + slow) / (overhead + fast)`. No caching between the two media can
/// gain more.
pub fn gain_of_faster_memory(overhead: f64, slow: f64, fast: f64) -> f64 {
    (overhead + slow) / (overhead + fast)
}

/// The most overhead per sector with which [`gain_of_faster_memory`] still reaches `gain`: the gain solved for it.
pub fn overhead_that_allows(gain: f64, slow: f64, fast: f64) -> f64 {
    (slow - gain * fast) / (gain - 1.0)
}

/// Sectors per second that `channels` buses let through at `overhead` per sector, however many banks are behind them.
pub fn bus_bound(channels: u32, overhead: f64) -> f64 {
    f64::from(channels) * 1e9 / overhead
}

/// Sectors per second that `banks` banks serve that are busy for `held` per sector, however fast the buses are.
pub fn bank_bound(banks: u32, held: f64) -> f64 {
    f64::from(banks) * 1e9 / held
}

/// Copying a sector within the memory: it is read and written.
pub fn copy_in_memory(read: f64, write: f64) -> f64 {
    read + write
}

/// Copying a sector through the controller: between the two it crosses the bus out and, behind a command, back in.
pub fn copy_through_controller(read: f64, write: f64, bus: f64, command: f64) -> f64 {
    copy_in_memory(read, write) + 2.0 * bus + command
}

/// The most that the threshold ladder adds to a write: one copy per `overwrites` writes.
pub fn ladder_overhead_max(overwrites: u32, copy: f64) -> f64 {
    copy / f64::from(overwrites)
}

/// What Start-Gap adds to a write on average: a move of one sector every `psi` writes (Qureshi et al., MICRO 2009).
pub fn start_gap_overhead(psi: u32, copy: f64) -> f64 {
    copy / f64::from(psi)
}

/// The most that a write on a serial drive can gain when the ladder is left out: `bus + write` is what it takes by
/// itself.
pub fn gain_without_ladder_max(overwrites: u32, copy: f64, bus: f64, write: f64) -> f64 {
    1.0 + ladder_overhead_max(overwrites, copy) / (bus + write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_gain_needs_a_bus_of_900_megabytes_per_second() {
        // A gain of 134 % requires at most 0.57 us per 512 B, that is 900 MB/s.
        let overhead = overhead_that_allows(2.34, 1000.0, 100.0);
        assert!((overhead - 571.6).abs() < 0.1, "{overhead}");
        assert!((512.0 / overhead * 1e3 - 896.0).abs() < 1.0);
        assert!((gain_of_faster_memory(overhead, 1000.0, 100.0) - 2.34).abs() < 1e-12);
        // A bus of 400 MB/s, 1.28 us per sector, allows +65 %.
        assert!((gain_of_faster_memory(1280.0, 1000.0, 100.0) - 1.652).abs() < 1e-3);
    }

    #[test]
    fn the_ladders_worst_case_is_that_of_the_slides() {
        // + 0.4 us per write of 1 us at C_ow = 5, + 0.04 us in the fast memory.
        assert!((ladder_overhead_max(5, copy_in_memory(1000.0, 1000.0)) - 400.0).abs() < 1e-9);
        assert!((ladder_overhead_max(5, copy_in_memory(100.0, 100.0)) - 40.0).abs() < 1e-9);
        assert!((start_gap_overhead(100, copy_in_memory(1000.0, 1000.0)) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn levelling_the_fast_memory_costs_what_is_published_only_if_its_copies_cross_the_bus() {
        // Published for prxy_0, which nearly only writes: +14 % when the fast memory is not levelled. At 0.4 us of bus
        // a write takes 0.5 us, and an in-memory copy in every five of them 0.04 us a write.
        let in_memory = gain_without_ladder_max(5, copy_in_memory(100.0, 100.0), 400.0, 100.0);
        assert!((in_memory - 1.08).abs() < 1e-9, "{in_memory}");
        let through = gain_without_ladder_max(5, copy_through_controller(100.0, 100.0, 400.0, 0.0), 400.0, 100.0);
        assert!((through - 1.4).abs() < 1e-9, "{through}");
        assert!((in_memory..through).contains(&1.14));
    }

    #[test]
    fn buses_and_banks_bound_each_for_itself() {
        assert!((bus_bound(2, 400.0) - 5e6).abs() < 1e-6);
        assert!((bank_bound(8, 1600.0) - 5e6).abs() < 1e-6);
    }
}
