//! The time constants of a NAND part, and the durations that follow from them.

use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Geometry, PLANES_MAX};

use super::erase_loops::EraseLoops;
use super::page_types::PageTypes;
use super::time_factors::{FactorTable, ONE, TimeFactors, scaled};
use super::{CommandKind, FlashCommand, MeanTimes};

/// The most bits a cell stores, hence the most page types of a wordline.
pub(super) const PAGE_TYPES_MAX: usize = 4;

/// What a command says of pages of blocks that hold one bit in each cell: a type beyond those that pages of a block have by their
/// places.
pub const SLC_PAGE_TYPE: u8 = PAGE_TYPES_MAX as u8;

/// Types there may be, with that one.
const TYPES: usize = PAGE_TYPES_MAX + 1;

/// What pages take of blocks that hold one bit in each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlcTimes {
    /// tR [ns].
    pub read: Ns,
    /// tPROG [ns].
    pub program: Ns,
}

/// No array phase may be longer: a longer one is a slip of the unit, and below it sums of times
/// cannot overflow.
const ARRAY_TIME_MAX: Ns = Ns(3_600_000_000_000);

/// What the datasheet says about time.
#[derive(Clone, Debug, PartialEq)]
pub struct NandTiming {
    /// tR by page type: one entry for SLC, up to four for QLC [ns].
    pub read: Vec<Ns>,
    /// tPROG by page type, as many entries as `read` [ns].
    pub program: Vec<Ns>,
    /// The same of blocks that hold one bit in each cell, where the part has such.
    pub slc: Option<SlcTimes>,
    /// In which order the page types of a block come.
    pub page_types: PageTypes,
    /// Program pulses (each with its verify) a page program consists of [count].
    pub program_pulses: u32,
    /// Where the pages of a wordline are programmed in one go: how long a plane is busy with a page that has come before it takes the
    /// next one of its wordline (tPBSY) [ns].
    pub program_load: Ns,
    /// One erase loop: pulse and verify [ns].
    pub erase_loop: Ns,
    /// Loops an erase consists of.
    pub erase_loops: EraseLoops,
    /// Channel time of the command and address cycles of one addressed plane [ns].
    pub command_address: Ns,
    /// From stopping a program or an erase until the die takes a read: voltages recover [ns].
    pub suspend_recover: Ns,
    /// From the resume command until pulses go on: voltages ramp up [ns].
    pub resume_ramp: Ns,
    /// Data rate of the channel [B/s]; zero moves data in no time.
    pub channel_rate: Rate,
    /// Whether a multi-plane read may address a different block in each plane.
    pub read_any_block: bool,
    /// Whether a multi-plane read or program may address a different page, of any block, in each plane.
    pub any_page: bool,
    /// Planes that one command may address [count].
    pub planes_per_command: u32,
    /// Which planes these are.
    pub plane_groups: PlaneGroups,
    /// Whether planes of a die read each by itself.
    pub plane_reads: PlaneReads,
    /// Cache reads: what a page takes from the register it was sensed into to that from which it leaves (tRCBSY), where the part has
    /// a second one in each plane and the array senses the next page meanwhile [ns].
    pub cache_read: Option<Ns>,
    /// By how much reads, programs and erases take longer by layer and by wear.
    pub times: TimeFactors,
}

/// How planes of a die read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaneReads {
    /// A die does one command at a time; a read of several planes is one.
    #[default]
    Together,
    /// Each plane senses a page of its own, begun at a time of its own, beside reads of other planes.
    Independently,
}

/// Which planes of a die one command may address, where that is not all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaneGroups {
    /// Neighbours: the first so many of a die, the next so many, and so on.
    #[default]
    Neighbours,
    /// Those as far from each other as there are groups: of four planes in pairs the first and the third.
    Interleaved,
}

impl PlaneGroups {
    /// The planes that a command may address which addresses this one of so many, `together` of them: a bit each.
    fn group_of(self, plane: u32, planes: u32, together: u32) -> u8 {
        let groups = planes.div_ceil(together);
        let group = |plane: u32| match self {
            Self::Neighbours => plane / together,
            Self::Interleaved => plane % groups,
        };
        (0..planes).filter(|&other| group(other) == group(plane)).fold(0, |mask, other| mask | 1 << other)
    }
}

/// Why time constants cannot be used. `key` is the configuration key at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {message}")]
pub struct TimingError {
    /// The field at fault.
    pub key: &'static str,
    /// What is wrong with it, the rest of a sentence that begins with the key.
    pub message: String,
}

impl NandTiming {
    /// Checks that the constants describe a part that can work.
    ///
    /// # Errors
    /// Names the first constant that is missing, zero where time must pass, or absurdly large.
    pub fn check(&self) -> Result<(), TimingError> {
        let error = |key, message: String| Err(TimingError { key, message });
        let types = self.read.len();
        if types == 0 || types > PAGE_TYPES_MAX {
            return error("read", format!("has {types} entries, it needs one per page type: 1 to {PAGE_TYPES_MAX}"));
        }
        if self.program.len() != types {
            return error("program", format!("has {} entries, it needs {types} like read", self.program.len()));
        }
        if let Some(problem) = self.page_types.problem(types) {
            return error("page_types", problem);
        }
        if self.program_pulses == 0 {
            return error("program_pulses", "must not be zero".into());
        }
        if self.planes_per_command == 0 {
            return error("planes_per_command", "must not be zero".into());
        }
        if let Some(problem) = self.erase_loops.problem() {
            return error("erase_loops", problem);
        }
        if let Some((key, problem)) = self.times.problem() {
            return error(key, problem);
        }
        self.check_durations()?;
        self.check_factors()
    }

    fn check_durations(&self) -> Result<(), TimingError> {
        let reads = self.read.iter().map(|&time| ("read", time, Ns(1)));
        let programs = self.program.iter().map(|&time| ("program", time, Ns(u64::from(self.program_pulses))));
        let rest = [
            ("erase_loop", self.erase_loop, Ns(1)),
            ("erase_loops", self.erase_time_max(), Ns(1)),
            ("program_load", self.program_load, Ns::ZERO),
            ("command_address", self.command_address, Ns::ZERO),
            ("suspend_recover", self.suspend_recover, Ns::ZERO),
            ("resume_ramp", self.resume_ramp, Ns::ZERO),
        ];
        let of_slc = self.slc.iter().flat_map(|times| {
            [("slc_read", times.read, Ns(1)), ("slc_program", times.program, Ns(u64::from(self.program_pulses)))]
        });
        if let Some(time) = self.cache_read
            && let Some(&longest) = self.read.iter().max().filter(|&&longest| time > longest)
        {
            let message =
                format!("is {time}, and a page is read in {longest} (nand.read): it would be there sooner without");
            return Err(TimingError { key: "cache_read", message });
        }
        for (key, time, least) in reads.chain(programs).chain(of_slc).chain(rest) {
            if time < least {
                // A pulse shorter than a nanosecond would make two pulse boundaries coincide.
                let pulses = if key.ends_with("program") { " for the pulses of nand.program_pulses" } else { "" };
                return Err(TimingError { key, message: format!("is {time}, it must be at least {least}{pulses}") });
            }
            if time > ARRAY_TIME_MAX {
                return Err(TimingError { key, message: format!("makes {time}, more than {ARRAY_TIME_MAX}") });
            }
        }
        Ok(())
    }

    /// The same with the factors of layers and wear: a pulse or loop takes a nanosecond at least, and nothing takes too long.
    fn check_factors(&self) -> Result<(), TimingError> {
        let of_slc = |time: fn(&SlcTimes) -> Ns| self.slc.iter().map(time);
        let reads: Vec<Ns> = self.read.iter().copied().chain(of_slc(|times| times.read)).collect();
        let programs: Vec<Ns> = self.program.iter().copied().chain(of_slc(|times| times.program)).collect();
        let erases = vec![Ns(self.erase_loop.0), self.erase_time_max()];
        let pulses = Ns(u64::from(self.program_pulses));
        let [of_reads, of_programs, of_erases] = self.times.extremes();
        let of_program = if self.times.program_layers.is_empty() { "times.wear" } else { "times.program_layers" };
        for (key, times, (least, most), parts) in [
            ("times.read_layers", reads, of_reads, Ns(1)),
            (of_program, programs, of_programs, pulses),
            ("times.wear", erases, of_erases, Ns(1)),
        ] {
            let times = || times.iter().map(|time| u128::from(time.0));
            let (one, error) = (u128::from(ONE), |message| Err(TimingError { key, message }));
            let longest = times().max().unwrap_or(0) * u128::from(most) / one;
            if longest > u128::from(ARRAY_TIME_MAX.0) {
                return error(format!("makes {} s of a time, more than {ARRAY_TIME_MAX}", longest / 1_000_000_000));
            }
            let shortest = times().min().unwrap_or(0) * u128::from(least) / one;
            if shortest < u128::from(parts.0) {
                return error(format!("makes {shortest} ns of a time, it must be at least {parts}"));
            }
        }
        Ok(())
    }

    /// What accesses take, whichever page and block they are of, where blocks have so many P/E cycles behind them [ns].
    pub(super) fn mean_times(&self, cycles: u32) -> MeanTimes {
        let mean = |times: &[Ns]| Ns(times.iter().map(|time| time.0).sum::<u64>() / times.len().max(1) as u64);
        let (read, program, erase) = (mean(&self.read), mean(&self.program), self.erase_time_max());
        if !self.times.is_used() {
            return MeanTimes { read, program, erase };
        }
        let of_layers = |layers: &[u32]| {
            let sum: u64 = layers.iter().map(|&factor| u64::from(factor)).sum();
            sum.checked_div(layers.len() as u64).map_or(ONE, |mean| mean as u32)
        };
        let worn = self.times.of_wear(cycles);
        MeanTimes {
            read: scaled(read, [of_layers(&self.times.read_layers), ONE]),
            program: scaled(program, [of_layers(&self.times.program_layers), worn.program]),
            erase: scaled(erase, [worn.erase, ONE]),
        }
    }

    /// One loop of an erase where it takes least time [ns].
    pub fn shortest_erase_loop(&self) -> Ns {
        let [.., (least, _)] = self.times.extremes();
        Ns((u128::from(self.erase_loop.0) * u128::from(least) / u128::from(ONE)) as u64)
    }

    fn erase_time_max(&self) -> Ns {
        Ns(self.erase_loop.0.saturating_mul(u64::from(self.erase_loops.most())))
    }
}

/// [`NandTiming`] laid out for the hot path: fixed arrays, and a type for each page instead of a division.
#[derive(Clone, Debug)]
pub(super) struct Durations {
    read: [Ns; TYPES],
    program: [Ns; TYPES],
    /// By layer and wear, where anything depends on them.
    pub(super) factors: Option<Box<FactorTable>>,
    /// Commands may say the type of their pages.
    types_are_told: bool,
    /// Which bit of its cells each page of a block is.
    page_types: Box<[u8]>,
    erase_loop: Ns,
    pub(super) program_pulses: u32,
    /// Pages of each plane that a program is of, those of a wordline, and what lies between them.
    pages_per_program: u32,
    program_load: Ns,
    command_address: Ns,
    channel_rate: Rate,
    pub(super) suspend_recover: Ns,
    pub(super) resume_ramp: Ns,
    pub(super) read_any_block: bool,
    pub(super) any_page: bool,
    pub(super) planes_per_command: u32,
    /// By plane: those that one command may address with it, a bit each.
    pub(super) together: [u8; PLANES_MAX as usize],
}

impl Durations {
    pub(super) fn new(timing: &NandTiming, geometry: &Geometry) -> Result<Self, TimingError> {
        timing.check()?;
        let by_type = |times: &[Ns], slc: Option<Ns>| {
            let mut table = [Ns::ZERO; TYPES];
            table[..times.len()].copy_from_slice(times);
            table[usize::from(SLC_PAGE_TYPE)] = slc.unwrap_or_default();
            table
        };
        Ok(Self {
            read: by_type(&timing.read, timing.slc.map(|times| times.read)),
            program: by_type(&timing.program, timing.slc.map(|times| times.program)),
            factors: FactorTable::new(&timing.times, geometry.pages_per_block),
            types_are_told: timing.any_page || timing.slc.is_some(),
            page_types: timing.page_types.of_block(geometry.pages_per_block, timing.read.len()),
            erase_loop: timing.erase_loop,
            program_pulses: timing.program_pulses,
            pages_per_program: geometry.pages_per_program,
            program_load: timing.program_load,
            command_address: timing.command_address,
            channel_rate: timing.channel_rate,
            suspend_recover: timing.suspend_recover,
            resume_ramp: timing.resume_ramp,
            read_any_block: timing.read_any_block,
            any_page: timing.any_page,
            planes_per_command: timing.planes_per_command,
            together: std::array::from_fn(|plane| {
                timing.plane_groups.group_of(plane as u32, geometry.planes_per_die, timing.planes_per_command)
            }),
        })
    }

    /// Which bit of its cells a page is; a page that no block has is of the first type, and refused elsewhere.
    #[inline]
    pub(super) fn page_type(&self, page: u32) -> usize {
        self.page_types.get(page as usize).map_or(0, |&page_type| usize::from(page_type))
    }

    /// The type of a page of a command, and whether that is of a block of one bit in a cell.
    pub(super) fn type_of(&self, command: &FlashCommand, page: u32) -> (usize, bool) {
        match command.page_type.filter(|_| self.types_are_told) {
            Some(page_type) => (usize::from(page_type) % TYPES, page_type == SLC_PAGE_TYPE),
            None => (self.page_type(page), false),
        }
    }

    pub(super) fn read_of(&self, page_type: usize) -> Ns {
        self.read[page_type]
    }

    pub(super) fn program_of(&self, page_type: usize) -> Ns {
        self.program[page_type]
    }

    pub(super) fn erase_of(&self, loops: u32) -> Ns {
        Ns(self.erase_loop.0 * u64::from(loops))
    }

    /// Pages of each plane that a command is of: those of a wordline where they are programmed in one go.
    #[inline]
    pub(super) fn pages_of(&self, command: &FlashCommand) -> u32 {
        if self.pages_per_program == 1 {
            return 1;
        }
        // A wordline of one bit in a cell is a page.
        let is_wordline = command.kind == CommandKind::Program && command.page_type != Some(SLC_PAGE_TYPE);
        if is_wordline { self.pages_per_program } else { 1 }
    }

    /// A copyback is sent two commands, to read and to program; a wordline one for each of its pages.
    #[inline]
    pub(super) fn command_address_time(&self, command: &FlashCommand) -> Ns {
        let commands = (command.plane_count() << u32::from(command.copies)) * self.pages_of(command);
        Ns(self.command_address.0 * u64::from(commands))
    }

    /// What the data of a program take over the channel, page by page.
    #[inline]
    pub(super) fn data_in_time(&self, command: &FlashCommand) -> Ns {
        let pages = self.pages_of(command);
        let of_plane = |plane: usize| match pages {
            1 => self.data_time(u64::from(command.bytes[plane])),
            _ => Ns(self.data_time(u64::from(command.bytes[plane] / pages)).0 * u64::from(pages)),
        };
        command.addressed_planes().map(of_plane).fold(Ns::ZERO, |sum, time| sum + time)
    }

    /// How long planes are busy with the pages of a wordline that have come, before they take the next ones.
    #[inline]
    pub(super) fn load_time(&self, command: &FlashCommand) -> Ns {
        Ns(self.program_load.0 * u64::from(self.pages_of(command) - 1))
    }

    #[inline]
    pub(super) fn data_time(&self, bytes: u64) -> Ns {
        self.channel_rate.burst(bytes)
    }

    /// Array time, and the pulses or loops it consists of; an erase takes `erase_loops` of them.
    #[inline]
    pub(super) fn array_phase(&self, command: &FlashCommand, erase_loops: u32) -> (Ns, u32) {
        match command.kind {
            CommandKind::Read => {
                let senses = u64::from(command.more_senses) + 1;
                (Ns(self.slowest(&self.read, command).0 * senses), 1)
            }
            CommandKind::Program => (self.slowest(&self.program, command), self.program_pulses),
            CommandKind::Erase => (Ns(self.erase_loop.0 * u64::from(erase_loops)), erase_loops),
        }
    }

    /// The longest of the times that its pages take by their types.
    // Reads and programs ask: it would be inlined into neither.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn slowest(&self, times: &[Ns; TYPES], command: &FlashCommand) -> Ns {
        let of_plane = |plane: usize| times[self.page_type(command.page[plane])];
        // Planes of one page are of one type: most commands are such.
        if self.types_are_told {
            if let Some(page_type) = command.page_type {
                return times[usize::from(page_type) % TYPES];
            }
            command.addressed_planes().map(of_plane).max().unwrap_or_default()
        } else {
            of_plane(command.first_plane())
        }
    }

    /// Pages are sensed and then programmed, in one piece: the register is needed until the end.
    #[cold]
    pub(super) fn copyback(&self, from: u32, to: u32) -> (Ns, u32) {
        (self.read[self.page_type(from)] + self.program[self.page_type(to)], 1)
    }
}
