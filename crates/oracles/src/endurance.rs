//! How long a drive lasts, and what it costs.
//!
//! Notation: `flash_bytes` is T, all bytes of the flash with over-provisioning; `cycles` are the rated P/E cycles;
//! `waf` is W, bytes programmed per byte of the host; `spare_factor` is a = T/U, physical over logical bytes. Years
//! have 365 days. The formulas hold where wear is level: every block has the mean number of erases.

const DAYS_PER_YEAR: f64 = 365.0;

/// What the host can write until the flash is worn out, in bytes: `T PE / W`.
pub fn host_bytes(flash_bytes: f64, cycles: f64, waf: f64) -> f64 {
    flash_bytes * cycles / waf
}

/// Drive writes per day over `years`, in logical capacities: `PE a / (W 365 years)`.
pub fn drive_writes_per_day(cycles: f64, spare_factor: f64, waf: f64, years: f64) -> f64 {
    cycles * spare_factor / (waf * DAYS_PER_YEAR * years)
}

/// Erases per block and day when the host writes `host_bytes_per_day`: that times `W / T`.
pub fn erases_per_block_day(host_bytes_per_day: f64, flash_bytes: f64, waf: f64) -> f64 {
    host_bytes_per_day * waf / flash_bytes
}

/// Years until the flash is worn out when the host writes `host_bytes_per_day`.
pub fn years(flash_bytes: f64, cycles: f64, waf: f64, host_bytes_per_day: f64) -> f64 {
    host_bytes(flash_bytes, cycles, waf) / host_bytes_per_day / DAYS_PER_YEAR
}

/// How often a workload can be repeated on memory that is overwritten in place until the sector that it writes most,
/// `writes` times in each pass, has had its `rated` writes.
pub fn passes_of_a_sector(rated: f64, writes: f64) -> f64 {
    rated / writes
}

/// Cost per GB of a mix of two media, of which the first has `share` of the bytes: `x c1 + (1 - x) c2`.
pub fn cost_of_mix(share: f64, first: f64, second: f64) -> f64 {
    share * first + (1.0 - share) * second
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 TB of flash for 0.8 TB of data, 3,000 cycles, write amplification 2.5.
    const DRIVE: (f64, f64, f64) = (1e12, 3_000.0, 2.5);

    #[test]
    fn a_drive_by_hand() {
        let (flash, cycles, waf) = DRIVE;
        // 3,000 TB can be programmed, 1,200 TB of them for the host.
        assert!((host_bytes(flash, cycles, waf) - 1.2e15).abs() < 1.0);
        // 1,500 times 0.8 TB in 1,825 days.
        assert!((drive_writes_per_day(cycles, 1.25, waf, 5.0) - 1_500.0 / 1_825.0).abs() < 1e-12);
        // 0.8 TB a day program 2 TB: every block twice.
        assert!((erases_per_block_day(0.8e12, flash, waf) - 2.0).abs() < 1e-12);
        assert!((years(flash, cycles, waf, 0.8e12) - 1_500.0 / 365.0).abs() < 1e-12);
    }

    #[test]
    fn one_drive_write_per_day_lasts_as_many_years_as_it_says() {
        let (flash, cycles, waf) = DRIVE;
        let dwpd = drive_writes_per_day(cycles, 1.25, waf, 3.0);
        assert!((years(flash, cycles, waf, dwpd * flash / 1.25) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_published_mixes_cost_what_the_slides_say() {
        // Bit costs of 20 and 6: 5, 8 and 10 % of M-SCM (20) beside S-SCM (6) cost 1.117, 1.187 and 1.233 of S-SCM
        // alone.
        for (share, relative) in [(0.05, 1.117), (0.08, 1.187), (0.10, 1.233)] {
            assert!((cost_of_mix(share, 20.0, 6.0) / 6.0 - relative).abs() < 5e-4, "{share}");
        }
    }

    #[test]
    fn a_hammered_sector_lasts_its_rating_over_its_writes() {
        assert!((passes_of_a_sector(1e5, 400.0) - 250.0).abs() < 1e-12);
    }
}
