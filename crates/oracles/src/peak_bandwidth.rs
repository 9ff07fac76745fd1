//! Peak sequential bandwidth of a drive from its parts, without cache read or cache program
//! operations: the least of what the host link, the channels and the dies can move.
//!
//! The channel is occupied by command, address and data of each page; a die by these phases of all its
//! planes plus one array operation. The bounds are reached when enough requests are outstanding to keep
//! each die supplied, and when nothing else (mapping reads, collection, suspends) uses the flash.

/// The rates and counts that bound sequential bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveRates {
    /// User bytes per second over the host link, protocol overhead already taken off.
    pub link_bytes_per_second: f64,
    /// Number of flash channels.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die that work together in one array operation.
    pub planes_per_die: u32,
    /// User bytes in a page.
    pub page_user_bytes: u32,
    /// Bytes of a page on the channel: user bytes plus spare area as far as it is transferred.
    pub page_transferred_bytes: u32,
    /// Bytes per second over one channel during a data phase.
    pub channel_bytes_per_second: f64,
    /// Time of the command and address cycles of one page on the channel, in nanoseconds.
    pub command_address_nanoseconds: f64,
    /// Time of one array read (all planes), in nanoseconds.
    pub read_nanoseconds: f64,
    /// Time of one array program (all planes), in nanoseconds.
    pub program_nanoseconds: f64,
}

/// The three bounds, in user bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeakBandwidth {
    /// Bound by the host link.
    pub link: f64,
    /// Bound by all channels.
    pub channels: f64,
    /// Bound by all dies.
    pub dies: f64,
}

impl PeakBandwidth {
    /// The bound that holds, in user bytes per second.
    pub fn minimum(&self) -> f64 {
        self.link.min(self.channels).min(self.dies)
    }
}

impl DriveRates {
    /// Time one page occupies its channel, in nanoseconds.
    pub fn page_on_channel_nanoseconds(&self) -> f64 {
        self.command_address_nanoseconds + f64::from(self.page_transferred_bytes) * 1e9 / self.channel_bytes_per_second
    }

    fn bounds(&self, array_nanoseconds: f64) -> PeakBandwidth {
        let page = f64::from(self.page_user_bytes) * 1e9;
        let channels = f64::from(self.channels);
        let planes = f64::from(self.planes_per_die);
        let page_time = self.page_on_channel_nanoseconds();
        let die_cycle = planes * page_time + array_nanoseconds;
        PeakBandwidth {
            link: self.link_bytes_per_second,
            channels: channels * page / page_time,
            dies: channels * f64::from(self.dies_per_channel) * planes * page / die_cycle,
        }
    }

    /// Bounds of sequential reads.
    pub fn sequential_read(&self) -> PeakBandwidth {
        self.bounds(self.read_nanoseconds)
    }

    /// Bounds of sequential writes, at a write amplification of 1.
    pub fn sequential_write(&self) -> PeakBandwidth {
        self.bounds(self.program_nanoseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 channels of 4 dies, 16 KiB pages, 1.6 GB/s channels: 10 240 ns of data and 760 ns of
    /// commands are 11 000 ns on the channel.
    fn drive() -> DriveRates {
        DriveRates {
            link_bytes_per_second: 7e9,
            channels: 8,
            dies_per_channel: 4,
            planes_per_die: 2,
            page_user_bytes: 16_384,
            page_transferred_bytes: 16_384,
            channel_bytes_per_second: 1.6e9,
            command_address_nanoseconds: 760.0,
            read_nanoseconds: 50_000.0,
            program_nanoseconds: 500_000.0,
        }
    }

    fn assert_relative(computed: f64, expected: f64) {
        assert!((computed / expected - 1.0).abs() < 1e-12, "computed {computed}, expected {expected}");
    }

    #[test]
    fn bounds_follow_from_counts_and_times() {
        let read = drive().sequential_read();
        assert_relative(read.link, 7e9);
        assert_relative(read.channels, 8.0 * 16_384.0 / 11e-6);
        assert_relative(read.dies, 64.0 * 16_384.0 / 72e-6);
        let write = drive().sequential_write();
        assert_relative(write.channels, read.channels);
        assert_relative(write.dies, 64.0 * 16_384.0 / 522e-6);
    }

    #[test]
    fn each_part_can_be_the_bottleneck() {
        assert_relative(drive().sequential_read().minimum(), 7e9);
        assert_relative(drive().sequential_write().minimum(), drive().sequential_write().dies);
        let slow_channels = DriveRates { channel_bytes_per_second: 2e8, ..drive() };
        let read = slow_channels.sequential_read();
        assert_relative(read.minimum(), read.channels);
    }

    #[test]
    fn spare_bytes_and_commands_cost_bandwidth_but_do_not_count() {
        let with_spare = DriveRates { page_transferred_bytes: 18_432, ..drive() };
        assert_relative(with_spare.page_on_channel_nanoseconds(), 760.0 + 11_520.0);
        assert!(with_spare.sequential_read().channels < drive().sequential_read().channels);
    }
}
