//! What can be wrong with a job's keys, alone, together, and on a drive.

use ninescope_model::units::Bytes;
use ninescope_model::{
    Op, QUEUES_MAX, REQUEST_SECTORS_MAX, SECTOR_BYTES, TIME_MAX, UrgencyClass, WEIGHT_MAX, ZoneCommand,
};

use super::config::{AccessPattern, JobConfig, RateProcess};
use super::error::JobError;
use super::region::{Grid, JobRegion, sectors};

/// The least limit of bytes [B/s]: below it a request of a GiB waits for weeks.
const BANDWIDTH_MIN: u64 = 1_000;
/// The longest time whose worth of a limit may be saved up [ns].
const BURST_MAX: u64 = 3_600_000_000_000;

impl JobConfig {
    /// Checks every key and lays the job out on a drive of `drive_bytes`.
    ///
    /// # Errors
    /// Names the first key that has no meaning, or none on such a drive.
    pub fn validate(&self, drive_bytes: u64) -> Result<JobRegion, JobError> {
        self.validate_numbers()?;
        self.validate_rate()?;
        self.validate_thinking()?;
        self.validate_turns()?;
        self.validate_queues()?;
        self.validate_limits()?;
        self.validate_zone_command()?;
        self.validate_erase_drive()?;
        let (least, most) = self.sizes(self.rw.ops());
        let too_large = || JobError::new("bs", format!("{most} is too large, at most 1GiB is one request"));
        let request_sectors = u32::try_from(sectors("bs", most)?).map_err(|_| too_large())?;
        sectors("blockalign", self.blockalign.filter(|_| self.rw.is_random()).unwrap_or(least))?;
        if !self.offset.0.is_multiple_of(SECTOR_BYTES) {
            return Err(JobError::new("offset", format!("{} is not a multiple of 512 bytes", self.offset)));
        }
        let begin = self.begin(drive_bytes);
        let region_bytes = self.region_bytes(drive_bytes, begin, least)?;
        if region_bytes < most.0 {
            let key = match (self.size, self.size_percent) {
                (Some(_), _) => "size",
                (None, Some(_)) => "size_percent",
                (None, None) => "bs",
            };
            let problem = format!("a region of {} does not hold a request of {most}", Bytes(region_bytes));
            return Err(JobError::new(key, problem));
        }
        if let Some(zones) = self.random_distribution.zones_bytes().filter(|zones| zones.0 > region_bytes) {
            let problem =
                format!("its zones have {} together, and the region {}", zones.told(), Bytes(region_bytes).told());
            return Err(JobError::new("random_distribution", problem));
        }
        if request_sectors > REQUEST_SECTORS_MAX {
            return Err(too_large());
        }
        let (Grid { stride_sectors, places }, of_writes) = self.grids(region_bytes)?;
        let first_sector = begin / SECTOR_BYTES;
        let sectors = region_bytes / SECTOR_BYTES;
        Ok(JobRegion { first_sector, sectors, request_sectors, stride_sectors, places, of_writes })
    }

    fn validate_zone_command(&self) -> Result<(), JobError> {
        let (needed, what) = match self.zone_command {
            ZoneCommand::None => return Ok(()),
            ZoneCommand::Append => (Op::Write, "writes"),
            _ => (Op::Trim, "trims (rw = \"trim\")"),
        };
        if self.rw.ops().contains(&needed) {
            return Ok(());
        }
        Err(JobError::new("zone_command", format!("\"{}\" is asked for with {what}", self.zone_command.name())))
    }

    fn validate_erase_drive(&self) -> Result<(), JobError> {
        if self.erase_drive.is_none() {
            return Ok(());
        }
        let name = self.erase_drive.name();
        if self.rw.ops() != [Op::Trim] {
            return Err(JobError::new("erase_drive", format!("\"{name}\" is asked for with trims (rw = \"trim\")")));
        }
        if self.requests.is_none() {
            return Err(JobError::new(
                "erase_drive",
                format!("\"{name}\" is asked for without end; give requests = 1"),
            ));
        }
        Ok(())
    }

    fn validate_numbers(&self) -> Result<(), JobError> {
        if !(0.0..=100.0).contains(&self.rwmixread) {
            let problem = format!("{} is not a percentage (0 to 100)", self.rwmixread);
            return Err(JobError::new("rwmixread", problem));
        }
        if self.iodepth == 0 {
            return Err(JobError::new("iodepth", "0 requests outstanding do no work; write at least 1"));
        }
        if self.size_percent.is_some_and(|percent| !(percent > 0.0 && percent <= 100.0)) {
            let problem =
                format!("{} is not a share in percent, above 0 and up to 100", self.size_percent.unwrap_or_default());
            return Err(JobError::new("size_percent", problem));
        }
        if self.offset_percent.is_some_and(|percent| !(0.0..100.0).contains(&percent)) {
            let problem =
                format!("{} is not a share in percent, from 0 and below 100", self.offset_percent.unwrap_or_default());
            return Err(JobError::new("offset_percent", problem));
        }
        if self.size_percent.is_some() && self.size.is_some() {
            return Err(JobError::new("size_percent", "`size` says how long the region is already"));
        }
        if self.bsrange.is_some() && self.bssplit.is_some() {
            return Err(JobError::new("bsrange", "`bssplit` says already which sizes there are"));
        }
        if let Some(other) = self.bsnormal.as_ref().and_then(|_| self.key_of_drawn_sizes()) {
            let problem = format!("`{other}` says already which sizes there are");
            return Err(JobError::new("bsnormal", problem));
        }
        if self.offset_increment.is_some() && self.numjobs == 1 {
            return Err(JobError::new("offset_increment", "there is one job of this kind; `numjobs` makes several"));
        }
        if self.requests == Some(0) {
            return Err(JobError::new("requests", "0 is not a number of requests; write at least 1"));
        }
        if self.passes == Some(0) {
            return Err(JobError::new("passes", "0 passes make no request; write at least 1"));
        }
        if self.io_size == Some(Bytes(0)) {
            return Err(JobError::new("io_size", "0 bytes are no request; write at least 512"));
        }
        if self.pass_size == Some(Bytes(0)) {
            return Err(JobError::new("pass_size", "0 bytes are no request; write at least 512"));
        }
        if self.pass_size.is_some() && self.each_pass.is_none() {
            let problem = "says how long a pass is, and no `each_pass` says what a pass draws (anew or same)";
            return Err(JobError::new("pass_size", problem));
        }
        if self.flush_every == Some(0) {
            return Err(JobError::new("flush_every", "0 is not a number of writes; leave it out for no flushes"));
        }
        if !(0.0..=1.0).contains(&self.fua) {
            return Err(JobError::new("fua", format!("{} is not a share of the writes (0 to 1)", self.fua)));
        }
        if self.percentage_random > 100 {
            let problem = format!("{} is not a percentage (0 to 100)", self.percentage_random);
            return Err(JobError::new("percentage_random", problem));
        }
        if self.shared_position && self.rw != AccessPattern::Rw {
            let problem = "is for sequential mixes (rw = \"rw\"): others have one position, or none".to_owned();
            return Err(JobError::new("shared_position", problem));
        }
        if self.random_map && !self.can_be_mapped() {
            let problem = "is for random jobs of uniform addresses and requests of one size, all of which jump";
            return Err(JobError::new("random_map", problem));
        }
        if let Some(problem) = self.random_distribution.problem() {
            let problem = format!("`{}` {problem}", self.random_distribution);
            return Err(JobError::new("random_distribution", problem));
        }
        Ok(())
    }

    /// The list or the range of sizes that a job has.
    fn key_of_drawn_sizes(&self) -> Option<&'static str> {
        let split = self.bssplit.as_ref().map(|_| "bssplit");
        split.or_else(|| self.bsrange.as_ref().map(|_| "bsrange"))
    }

    fn validate_thinking(&self) -> Result<(), JobError> {
        let refused = |key, problem: &str| Err(JobError::new(key, problem));
        match (self.thinktime, self.thinktime_blocks) {
            (Some(_), _) if self.is_paced() => {
                let key = if self.rate.is_some() { "rate" } else { "rate_iops" };
                refused("thinktime", &format!("is for closed loops, and `{key}` says when requests arrive"))
            }
            (Some(time), _) if time.0 > TIME_MAX.0 / 2 => refused("thinktime", "is longer than 36 years"),
            (None, Some(_)) => refused("thinktime_blocks", "says how often there is a `thinktime`, and there is none"),
            (_, Some(0)) => refused("thinktime_blocks", "0 is not a number of requests; write at least 1"),
            _ => Ok(()),
        }
    }

    fn validate_turns(&self) -> Result<(), JobError> {
        let refused = |problem: String| Err(JobError::new("weight", problem));
        match self.weight {
            Some(0) => refused("0 would never have its turn; write at least 1".to_owned()),
            Some(weight) if weight > WEIGHT_MAX => refused(format!("{weight} is too large, at most {WEIGHT_MAX}")),
            Some(_) if self.priority == Some(UrgencyClass::Urgent) => {
                refused("an urgent job goes before all others and has no weight".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn validate_queues(&self) -> Result<(), JobError> {
        for (key, value) in [("queues", self.queues), ("commands_per_queue", self.commands_per_queue)] {
            let problem = match value {
                Some(0) => "0 would have no commands; write at least 1".to_owned(),
                Some(value) if value > QUEUES_MAX => {
                    format!("{value} are too many, at most {QUEUES_MAX} are supported, as by NVMe")
                }
                _ => continue,
            };
            return Err(JobError::new(key, problem));
        }
        Ok(())
    }

    fn validate_limits(&self) -> Result<(), JobError> {
        if let Some(rate) = self.iops_max.filter(|rate| !(1e-3..=1e9).contains(rate)) {
            return Err(JobError::new("iops_max", format!("{rate} is not a rate from 0.001 to 1e9 per second")));
        }
        if let Some(rate) = self.bandwidth_max.filter(|rate| rate.0 < BANDWIDTH_MIN) {
            let problem = format!("{rate} is too little, at least {BANDWIDTH_MIN} B/s");
            return Err(JobError::new("bandwidth_max", problem));
        }
        match self.limit_burst {
            Some(_) if self.iops_max.is_none() && self.bandwidth_max.is_none() => {
                let problem = "is of a limit, and there is neither `iops_max` nor `bandwidth_max`";
                Err(JobError::new("limit_burst", problem))
            }
            Some(time) if time.0 > BURST_MAX => Err(JobError::new("limit_burst", "is longer than an hour")),
            _ => Ok(()),
        }
    }

    fn validate_rate(&self) -> Result<(), JobError> {
        // From one request in a quarter of an hour to one each nanosecond, the clock's tick.
        for (key, time) in [("duration", self.duration), ("ramp_time", self.ramp_time), ("startdelay", self.startdelay)]
        {
            if time.is_some_and(|time| time.0 > TIME_MAX.0 / 2) {
                return Err(JobError::new(key, "is longer than 36 years, and no more than 73 can be simulated"));
            }
        }
        if self.write_rate_iops.is_some() && (self.rw.ops().len() == 1 || self.rate_iops.is_none()) {
            let problem = "belongs to a mixed job whose reads have the rate `rate_iops`";
            return Err(JobError::new("write_rate_iops", problem));
        }
        if self.rate_by_bytes && (self.rate_iops.is_none() || self.rate_process != RateProcess::Linear) {
            let problem = "is for jobs with `rate_iops` and the `rate_process` linear";
            return Err(JobError::new("rate_by_bytes", problem));
        }
        if self.rate_by_bytes && self.rw.ops().len() > 1 && self.write_rate_iops.is_none() {
            let problem = "wants a `write_rate_iops` of a mixed job: reads and writes are paced each by themselves";
            return Err(JobError::new("rate_by_bytes", problem));
        }
        match self.rate_iops {
            _ if self.write_rate_iops.is_some_and(|rate| !(1e-3..=1e9).contains(&rate)) => {
                let rate = self.write_rate_iops.unwrap_or_default();
                Err(JobError::new("write_rate_iops", format!("{rate} is not a rate from 0.001 to 1e9 per second")))
            }
            Some(rate) if !(1e-3..=1e9).contains(&rate) => {
                Err(JobError::new("rate_iops", format!("{rate} is not a rate from 0.001 to 1e9 per second")))
            }
            _ => self.validate_rate_in_bytes(),
        }?;
        let rate = self.pace().map(|pace| self.requests_per_second(pace, self.rw.ops()[0]));
        match (rate, self.requests) {
            (Some(rate), Some(requests)) if requests as f64 / rate > TIME_MAX.0 as f64 / 1e9 => {
                let problem = format!("{requests} requests at {rate} per second take more than 73 years");
                Err(JobError::new("requests", problem))
            }
            _ => Ok(()),
        }
    }

    fn validate_rate_in_bytes(&self) -> Result<(), JobError> {
        if self.rate.is_some() && (self.rate_iops.is_some() || self.write_rate_iops.is_some()) {
            return Err(JobError::new("rate", "`rate_iops` says already when requests arrive"));
        }
        if self.write_rate.is_some() && (self.rw.ops().len() == 1 || self.rate.is_none()) {
            let problem = "belongs to a mixed job whose reads have the rate `rate`";
            return Err(JobError::new("write_rate", problem));
        }
        let (first, second) = (self.rw.ops()[0], Op::Write);
        for (key, rate, op) in [("rate", self.rate, first), ("write_rate", self.write_rate, second)] {
            let Some(rate) = rate else { continue };
            let (mean, per_second) = (self.mean_paced(op), 1e-3..=1e9);
            // Of sizes that are none something else is said.
            if mean > 0.0 && !per_second.contains(&(rate.0 as f64 / mean)) {
                let problem = format!("{rate} is not a rate from 0.001 to 1e9 requests per second");
                return Err(JobError::new(key, problem));
            }
        }
        Ok(())
    }
}
