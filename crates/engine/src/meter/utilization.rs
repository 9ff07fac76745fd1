//! How the time of the drive's resources was used.

use ninescope_kernel::Ns;
use ninescope_model::Occupancy;

use super::DieLedger;

/// How the time of the drive's resources was used since measuring began.
#[derive(Clone, Debug, Default)]
pub struct Utilization {
    /// Measured time [ns].
    pub elapsed: Ns,
    /// Per die: time by occupancy [ns].
    pub dies: Vec<DieLedger>,
    /// Per channel: time spent transferring [ns].
    pub channels: Vec<Ns>,
    /// Per bank of SCM: time by occupancy [ns].
    pub banks: Vec<DieLedger>,
    /// Per channel of SCM: time spent transferring [ns].
    pub bank_channels: Vec<Ns>,
    /// The controller's processor [ns].
    pub processor: Ns,
    /// The time in which a write found the write buffer full, or no free page [ns].
    pub write_stalls: Ns,
    /// Host link towards the device [ns].
    pub link_in: Ns,
    /// Host link towards the host [ns].
    pub link_out: Ns,
    /// The bus of the controller's DRAM, where there is one [ns].
    pub dram: Vec<Ns>,
    /// Per core of the firmware, where it has any [ns].
    pub cores: Vec<Ns>,
}

impl Utilization {
    /// How long each resource was busy [ns], by kind in the order of the fields.
    pub fn busy(&self) -> [Vec<u64>; 10] {
        let of_units = |units: &[DieLedger]| units.iter().map(|unit| busy_of_unit(unit, self.elapsed.0)).collect();
        let of_times = |times: &[Ns]| times.iter().map(|time| time.0).collect();
        [
            of_units(&self.dies),
            of_times(&self.channels),
            of_units(&self.banks),
            of_times(&self.bank_channels),
            vec![self.processor.0],
            vec![self.write_stalls.0],
            vec![self.link_in.0],
            vec![self.link_out.0],
            of_times(&self.dram),
            of_times(&self.cores),
        ]
    }
}

/// How long a die or bank was busy [ns].
pub fn busy_of_unit(unit: &DieLedger, elapsed: u64) -> u64 {
    elapsed.saturating_sub(unit[Occupancy::Idle as usize])
}
