//! A synthetic job as a workload.

use ninescope_kernel::{Ns, RandomStream, Zipf};
use ninescope_model::{Arrival, Lba, Op, Remark, Request, SECTOR_BYTES, Workload, WorkloadError};

use super::distribution::{Extent, Zone};
use super::order::Order;
use super::region::Grid;
use super::requests::Pace;
use super::scramble::Scramble;
use super::{AccessPattern, AddressDistribution, EachPass, JobConfig, JobError, JobRegion, RateProcess};

/// A chance that is not whole percents, or is a share, is drawn in so many parts.
const PARTS: u64 = 100_000_000;

/// A synthetic job on one drive. The same description, drive and seed give the same requests.
pub struct SyntheticJob {
    config: JobConfig,
    region: JobRegion,
    draws: Draws,
    passes: Option<Box<Passes>>,
    arrivals: ArrivalLaw,
    /// Requests still to come; `u64::MAX` for a job that bytes or its duration alone end.
    remaining: u64,
    /// Sectors still to come; `u64::MAX` for a job that no bytes end.
    remaining_sectors: u64,
    writes_to_flush: u64,
    latest: Ns,
}

/// What is drawn of each request, and from which state on.
#[derive(Clone)]
struct Draws {
    operations: OperationLaw,
    addresses: AddressLaw,
    /// Of writes, where their grid is not that of the reads.
    of_writes: Option<Box<AddressLaw>>,
    runs: Option<Runs>,
    /// Where sizes are drawn.
    sizes: Option<RandomStream>,
    /// Which writes ask to be on the media, where some do.
    forced: Option<Forced>,
}

/// Which writes ask to be on the media.
#[derive(Clone)]
enum Forced {
    All,
    /// So many of [`PARTS`], by chance.
    Some(u64, RandomStream),
}

/// The passes of a job that has them.
struct Passes {
    /// Of each pass.
    sectors: u64,
    /// Of this one, still to come.
    left: u64,
    /// What each begins with, where all draw the same.
    first: Option<Draws>,
}

/// Which operation comes next.
#[derive(Clone)]
enum OperationLaw {
    Always(Op),
    /// So many `reads` of so many requests `of` all, by chance.
    Mixed {
        reads: u64,
        of: u64,
        stream: RandomStream,
    },
    /// The one whose request arrives first.
    FirstToArrive,
}

/// Where requests go on that follow the one before them: one position per operation [sectors of the region].
#[derive(Clone)]
struct Runs {
    positions: [u64; Op::ALL.len()],
    /// All operations go on from each other.
    shared: bool,
    /// Which of them do: all, or those that a random job draws.
    chance: Option<RandomStream>,
}

/// Which place of the region comes next.
#[derive(Clone)]
enum AddressLaw {
    /// The one after the last.
    Sequential,
    Uniform(RandomStream),
    /// Each place once, and then each once again in another order.
    Mapped {
        order: Order,
        /// Places that have come in this order.
        come: u64,
        stream: RandomStream,
    },
    Pareto {
        /// Exponent of the uniform number that is drawn.
        power: f64,
        scramble: Scramble,
        stream: RandomStream,
    },
    Zoned {
        /// Share of the accesses [percent], first place and places of each zone.
        zones: Vec<(u64, u64, u64)>,
        /// Zones lie spread over the region.
        scramble: Option<Scramble>,
        stream: RandomStream,
    },
    Zipf {
        law: Zipf,
        scramble: Scramble,
        stream: RandomStream,
    },
}

/// When the next request is submitted.
enum ArrivalLaw {
    /// Whenever the engine wants one.
    Closed,
    Linear {
        gap_ns: f64,
        index: u64,
    },
    /// Each request takes the time of its sectors, which so many had before.
    Paced {
        sector_ns: f64,
        passed: u64,
    },
    /// `fraction` is what rounding to whole nanoseconds left over so far.
    Poisson {
        mean_gap_ns: f64,
        now_ns: u64,
        fraction: f64,
        stream: RandomStream,
    },
    /// Reads and writes by laws of their own, each with the next arrival.
    ByDirection(Box<[(ArrivalLaw, Ns); 2]>),
}

impl SyntheticJob {
    /// The job on a drive of `drive_sectors`.
    ///
    /// # Errors
    /// Names the key of `config` that has no meaning on such a drive.
    pub fn new(config: JobConfig, drive_sectors: u64, seed: u64) -> Result<Self, JobError> {
        let region = config.validate(drive_sectors.saturating_mul(SECTOR_BYTES))?;
        let config = config.ended_by_passes(&region);
        let component = format!("job {}", config.name);
        let stream = |purpose: &'static str| RandomStream::new(seed, &component, purpose);
        let draws = Draws::new(&config, &region, stream);
        let passes = config.pass_sectors(&region).map(|sectors| {
            let first = (config.each_pass == Some(EachPass::Same)).then(|| draws.clone());
            Box::new(Passes { sectors, left: sectors, first })
        });
        let arrivals = ArrivalLaw::of_job(&config, stream);
        let remaining = config.requests_at_most(&region).unwrap_or(u64::MAX);
        let remaining_sectors = config.io_size.map_or(u64::MAX, |bytes| bytes.0.div_ceil(SECTOR_BYTES));
        let writes_to_flush = config.flush_every.unwrap_or(0);
        Ok(Self {
            config,
            region,
            draws,
            passes,
            arrivals,
            remaining,
            remaining_sectors,
            writes_to_flush,
            latest: Ns::ZERO,
        })
    }

    /// The job's description.
    pub fn config(&self) -> &JobConfig {
        &self.config
    }

    /// The part of the drive it works on.
    pub fn region(&self) -> JobRegion {
        self.region
    }

    /// Begins the next pass where one is through.
    #[inline]
    fn enter_pass(&mut self) {
        let Some(passes) = self.passes.as_mut().filter(|passes| passes.left == 0) else { return };
        passes.left = passes.sectors;
        match &passes.first {
            Some(first) => self.draws.clone_from(first),
            None => self.draws.begin_anew(&self.region),
        }
    }

    /// Whether a flush is due now; counts it as made.
    #[inline]
    fn take_flush(&mut self) -> bool {
        match self.config.flush_every {
            Some(every) if self.writes_to_flush == 0 => {
                self.writes_to_flush = every;
                true
            }
            _ => false,
        }
    }
}

impl Workload for SyntheticJob {
    fn arrival(&self) -> Arrival {
        if matches!(self.arrivals, ArrivalLaw::Closed) { Arrival::Closed } else { Arrival::Open }
    }

    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.remaining == 0 || self.remaining_sectors == 0 {
            return Ok(None);
        }
        if self.take_flush() {
            return Ok(Some(Request {
                submitted: self.latest,
                lba: Lba(0),
                sectors: 0,
                op: Op::Flush,
                ..Request::default()
            }));
        }
        if self.remaining != u64::MAX {
            self.remaining -= 1;
        }
        self.enter_pass();
        let op = self.draws.operations.next(&self.arrivals);
        let sectors = self.draws.next_size(op, &self.config, &self.region);
        if self.remaining_sectors != u64::MAX {
            self.remaining_sectors = self.remaining_sectors.saturating_sub(u64::from(sectors));
        }
        if let Some(passes) = &mut self.passes {
            passes.left = passes.left.saturating_sub(u64::from(sectors));
        }
        let position = self.draws.next_position(op, sectors, &self.config, &self.region);
        self.latest = self.arrivals.next_of(op, sectors);
        self.writes_to_flush = self.writes_to_flush.saturating_sub(u64::from(op == Op::Write));
        Ok(Some(Request {
            submitted: self.latest,
            lba: Lba(self.region.first_sector + position),
            sectors,
            op,
            fua: op == Op::Write && self.draws.is_forced(),
            stream: self.config.stream,
            remark: self.remark(op),
        }))
    }
}

impl SyntheticJob {
    /// What a request asks beside its operation.
    fn remark(&self, op: Op) -> Remark {
        match op {
            Op::Read => Remark::None,
            Op::Trim if !self.config.erase_drive.is_none() => self.config.erase_drive.into(),
            _ => self.config.zone_command.into(),
        }
    }
}

impl Draws {
    fn new(config: &JobConfig, region: &JobRegion, stream: impl Fn(&'static str) -> RandomStream) -> Self {
        let law = |grid: Grid, purpose: &'static str| AddressLaw::new(config, grid, || stream(purpose));
        let grid = Grid { stride_sectors: region.stride_sectors, places: region.places };
        Self {
            operations: OperationLaw::new(config, || stream("mix")),
            addresses: law(grid, "address"),
            of_writes: region.of_writes.map(|grid| Box::new(law(grid, "address of writes"))),
            runs: Runs::new(config, || stream("run")),
            sizes: config.sizes_differ().then(|| stream("size")),
            forced: match config.fua {
                0.0 => None,
                1.0 => Some(Forced::All),
                share => Some(Forced::Some(libm::round(share * PARTS as f64) as u64, stream("fua"))),
            },
        }
    }

    /// Whether a write asks to be on the media.
    #[inline]
    fn is_forced(&mut self) -> bool {
        match &mut self.forced {
            None => false,
            Some(Forced::All) => true,
            Some(Forced::Some(share, stream)) => stream.below(PARTS) < *share,
        }
    }

    /// From the region's beginning on, by numbers that have not come.
    fn begin_anew(&mut self, region: &JobRegion) {
        if let Some(runs) = &mut self.runs {
            runs.positions = [0; Op::ALL.len()];
        }
        if let AddressLaw::Mapped { come, .. } = &mut self.addresses {
            *come = region.places;
        }
    }

    #[inline]
    fn next_size(&mut self, op: Op, config: &JobConfig, region: &JobRegion) -> u32 {
        let Some(stream) = &mut self.sizes else { return region.request_sectors };
        match (&config.bssplit, &config.bsrange, &config.bsnormal) {
            (Some(split), ..) => split.draw(op, stream),
            (None, Some(range), _) => range.draw(op, stream),
            (None, None, Some(normal)) => normal.draw(op, stream),
            (None, None, None) => region.request_sectors,
        }
    }

    /// Where the next request of `sectors` begins in the region [sectors].
    #[inline]
    fn next_position(&mut self, op: Op, sectors: u32, config: &JobConfig, region: &JobRegion) -> u64 {
        let goes_on = self.runs.as_mut().is_some_and(|runs| runs.goes_on(config.percentage_random));
        let position = match &mut self.runs {
            Some(runs) if goes_on => *runs.position(op),
            _ => self.next_place(op, region),
        };
        let Some(runs) = &mut self.runs else { return position };
        // Back to the beginning where it does not fit; the region holds every request.
        let position = if position + u64::from(sectors) > region.sectors { 0 } else { position };
        *runs.position(op) = position + u64::from(sectors);
        position
    }

    /// A place that does not follow the one before it [sectors].
    #[inline]
    fn next_place(&mut self, op: Op, region: &JobRegion) -> u64 {
        match (&mut self.of_writes, region.of_writes) {
            (Some(law), Some(grid)) if op == Op::Write => law.next(grid.places) * grid.stride_sectors,
            _ => self.addresses.next(region.places) * region.stride_sectors,
        }
    }
}

impl OperationLaw {
    fn new(config: &JobConfig, stream: impl FnOnce() -> RandomStream) -> Self {
        match config.rw {
            AccessPattern::Read | AccessPattern::RandRead => Self::Always(Op::Read),
            AccessPattern::Write | AccessPattern::RandWrite => Self::Always(Op::Write),
            AccessPattern::Trim | AccessPattern::RandTrim => Self::Always(Op::Trim),
            AccessPattern::Rw | AccessPattern::RandRw if config.writes_are_paced() => Self::FirstToArrive,
            AccessPattern::Rw | AccessPattern::RandRw => {
                let whole = config.rwmixread.fract() == 0.0;
                let of = if whole { 100 } else { PARTS };
                let reads = libm::round(config.rwmixread / 100.0 * of as f64) as u64;
                Self::Mixed { reads, of, stream: stream() }
            }
        }
    }

    #[inline]
    fn next(&mut self, arrivals: &ArrivalLaw) -> Op {
        match self {
            Self::Always(op) => *op,
            Self::Mixed { reads, of, stream } => {
                if stream.below(*of) < *reads {
                    Op::Read
                } else {
                    Op::Write
                }
            }
            Self::FirstToArrive => arrivals.first(),
        }
    }
}

impl AddressLaw {
    fn new(config: &JobConfig, grid: Grid, stream: impl FnOnce() -> RandomStream) -> Self {
        let places = grid.places;
        match &config.random_distribution {
            _ if !config.rw.is_random() => Self::Sequential,
            AddressDistribution::Uniform if config.random_map => {
                Self::Mapped { order: Order::new(places, 0), come: places, stream: stream() }
            }
            AddressDistribution::Uniform => Self::Uniform(stream()),
            AddressDistribution::Zipf(theta) => {
                Self::Zipf { law: Zipf::new(places, *theta), scramble: Scramble::new(places), stream: stream() }
            }
            AddressDistribution::Pareto(share) => Self::Pareto {
                power: libm::log(*share) / libm::log(1.0 - share),
                scramble: Scramble::new(places),
                stream: stream(),
            },
            AddressDistribution::Zoned(zones) => {
                Self::Zoned { zones: laid_out(zones, places), scramble: None, stream: stream() }
            }
            AddressDistribution::ZonedAbs(zones) => {
                Self::Zoned { zones: laid_out_in_bytes(zones, grid), scramble: None, stream: stream() }
            }
            AddressDistribution::HotCold(hot) => Self::Zoned {
                zones: laid_out(&hot.with_the_rest().unwrap_or([*hot; 2]), places),
                scramble: Some(Scramble::new(places)),
                stream: stream(),
            },
        }
    }

    /// The next of `places` places.
    #[inline]
    fn next(&mut self, places: u64) -> u64 {
        match self {
            Self::Sequential => 0,
            Self::Pareto { power, scramble, stream } => {
                let rank = (places as f64 * libm::pow(stream.unit(), *power)) as u64;
                scramble.apply(rank.min(places - 1))
            }
            Self::Zoned { zones, scramble, stream } => {
                let place = draw_zoned(zones, stream);
                scramble.map_or(place, |scramble| scramble.apply(place))
            }
            Self::Uniform(stream) => stream.below(places),
            Self::Mapped { order, come, stream } => {
                if *come == places {
                    (*order, *come) = (Order::new(places, stream.bits()), 0);
                }
                *come += 1;
                order.at(*come - 1)
            }
            Self::Zipf { law, scramble, stream } => scramble.apply(law.draw(stream)),
        }
    }
}

/// Zones in places: share of the accesses, first place, number of places. A zone of accesses has at least one.
fn laid_out(zones: &[Zone], places: u64) -> Vec<(u64, u64, u64)> {
    let at = |percent: u64| (u128::from(places) * u128::from(percent) / 100) as u64;
    let mut before = 0;
    zones
        .iter()
        .map(|zone| {
            let (begin, end) = (at(before), at(before + u64::from(zone.blocks)));
            before += u64::from(zone.blocks);
            let begin = begin.min(places - 1);
            (u64::from(zone.accesses), begin, (end.saturating_sub(begin)).max(1))
        })
        .collect()
}

/// The same of zones whose lengths are given; the region holds them all.
fn laid_out_in_bytes(zones: &[Extent], grid: Grid) -> Vec<(u64, u64, u64)> {
    let at = |bytes: u64| (bytes / SECTOR_BYTES / grid.stride_sectors).min(grid.places);
    let mut before = 0;
    zones
        .iter()
        .map(|zone| {
            let (begin, end) = (at(before).min(grid.places - 1), at(before + zone.bytes.0));
            before += zone.bytes.0;
            (u64::from(zone.accesses), begin, end.saturating_sub(begin).max(1))
        })
        .collect()
}

fn draw_zoned(zones: &[(u64, u64, u64)], stream: &mut RandomStream) -> u64 {
    let mut left = stream.below(100);
    for &(accesses, begin, places) in zones {
        if left < accesses {
            return begin + stream.below(places);
        }
        left -= accesses;
    }
    0 // not reached: the shares sum to 100
}

impl Runs {
    /// Of jobs in which requests follow each other.
    fn new(config: &JobConfig, stream: impl FnOnce() -> RandomStream) -> Option<Self> {
        let sometimes = config.rw.is_random() && config.percentage_random < 100;
        let always = !config.rw.is_random();
        let (positions, shared) = ([0; Op::ALL.len()], config.shared_position);
        (sometimes || always).then(|| Self { positions, shared, chance: sometimes.then(stream) })
    }

    /// Where an operation goes on.
    #[inline]
    fn position(&mut self, op: Op) -> &mut u64 {
        &mut self.positions[if self.shared { 0 } else { op as usize }]
    }

    #[inline]
    fn goes_on(&mut self, percentage_random: u8) -> bool {
        self.chance.as_mut().is_none_or(|stream| stream.below(100) >= u64::from(percentage_random))
    }
}

impl ArrivalLaw {
    fn of_job(config: &JobConfig, stream: impl Fn(&'static str) -> RandomStream) -> Self {
        let linear = config.rate_process == RateProcess::Linear;
        let law = |op: Op, pace: Pace, purpose| match pace {
            Pace::Smallest(rate) => {
                let of_least = config.least_bytes(op).0 as f64 / SECTOR_BYTES as f64;
                Self::Paced { sector_ns: 1e9 / rate / of_least, passed: 0 }
            }
            Pace::Bytes(rate) if linear => {
                Self::Paced { sector_ns: 1e9 * SECTOR_BYTES as f64 / rate.0 as f64, passed: 0 }
            }
            Pace::Bytes(_) | Pace::Requests(_) => {
                Self::new(config.requests_per_second(pace, op), config.rate_process, || stream(purpose))
            }
        };
        let with_first = |mut law: Self| {
            let first = law.next();
            (law, first)
        };
        match (config.pace(), config.pace_of_writes()) {
            (None, _) => Self::Closed,
            (Some(rate), None) => law(config.rw.ops()[0], rate, "arrival"),
            (Some(reads), Some(writes)) => Self::ByDirection(Box::new([
                with_first(law(Op::Read, reads, "arrival")),
                with_first(law(Op::Write, writes, "arrival of writes")),
            ])),
        }
    }

    fn new(rate_iops: f64, process: RateProcess, stream: impl FnOnce() -> RandomStream) -> Self {
        let gap_ns = 1e9 / rate_iops;
        match process {
            RateProcess::Linear => Self::Linear { gap_ns, index: 0 },
            RateProcess::Poisson => Self::Poisson { mean_gap_ns: gap_ns, now_ns: 0, fraction: 0.0, stream: stream() },
        }
    }

    /// The direction whose next request arrives first; of two at once the read.
    fn first(&self) -> Op {
        match self {
            Self::ByDirection(laws) if laws[1].1 < laws[0].1 => Op::Write,
            _ => Op::Read,
        }
    }

    /// When the next request of a kind arrives, which has so many sectors.
    #[inline]
    fn next_of(&mut self, op: Op, sectors: u32) -> Ns {
        let Self::ByDirection(laws) = self else {
            let next = self.next();
            self.pass(sectors);
            return next;
        };
        let (law, next) = &mut laws[usize::from(op == Op::Write)];
        law.pass(sectors);
        let after = law.next();
        std::mem::replace(next, after)
    }

    #[inline]
    fn pass(&mut self, sectors: u32) {
        if let Self::Paced { passed, .. } = self {
            *passed = passed.saturating_add(u64::from(sectors));
        }
    }

    #[inline]
    fn next(&mut self) -> Ns {
        match self {
            // Those of a job with rates by direction are drawn by `next_of`.
            Self::Closed | Self::ByDirection(_) => Ns::ZERO,
            Self::Linear { gap_ns, index } => {
                // From the index and not by adding up, so that rounding does not drift.
                let time_ns = libm::round(*index as f64 * *gap_ns) as u64;
                *index += 1;
                Ns(time_ns)
            }
            Self::Paced { sector_ns, passed } => Ns(libm::round(*passed as f64 * *sector_ns) as u64),
            Self::Poisson { mean_gap_ns, now_ns, fraction, stream } => {
                let exact = stream.exponential(*mean_gap_ns) + *fraction;
                let whole = libm::floor(exact);
                *fraction = exact - whole;
                *now_ns = now_ns.saturating_add(whole as u64);
                Ns(*now_ns)
            }
        }
    }
}
