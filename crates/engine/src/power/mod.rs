//! What a drive draws: energy by what it was spent on, the most power of any window of time, and how warm it gets.
//!
//! Told by who works when; knows nothing of why. All of it is whole numbers: a power [uW] for a time [ns] is an energy [fJ].

mod cap;
mod draw;
mod heat;
mod states;
mod windows;

use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_media::scm::ScmCommandKind;
use ninescope_model::{DieId, OCCUPANCIES, Occupancy, SECTOR_BYTES};

pub(crate) use cap::Asked;
pub use heat::{HeatConfig, HeatSeen, ThrottleStep, ThrottleTimes};
pub use states::{PowerState, StateTimes};

use cap::Cap;
use draw::Draw;
use heat::Heat;
use states::States;

/// What the parts of a drive draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerConfig {
    /// A die while its array works, beside its standby, in the order of [`CommandKind`] [uW].
    pub die: [u64; 3],
    /// The same while a suspended operation recovers or ramps up; `None`: as the operation [uW].
    pub die_suspend: Option<u64>,
    /// A byte over a channel of flash [fJ/B].
    pub channel_byte: u64,
    /// A byte over the bus of DRAM [fJ/B].
    pub dram_byte: u64,
    /// By medium of banks: a byte that is read, and one that is written [fJ/B].
    pub bank_bytes: [[u64; 2]; 2],
    /// A core of the controller at work [uW].
    pub core: u64,
    /// How long one takes for each command, before any decision of the firmware.
    pub command_cost: Ns,
    /// All parts together at any time, whatever they do [uW].
    pub at_rest: u64,
    /// Power is told as the mean of so long.
    pub window: Ns,
    /// What is drawn at rest and by commands of dies that are under way together is at most so much; `None`: any [uW].
    pub cap: Option<u64>,
    /// States of less power, into which the drive goes one after another while it has nothing to do.
    pub states: Vec<PowerState>,
    /// How warm what is drawn makes the drive, and what it does about it; `None`: that is not followed.
    pub heat: Option<HeatConfig>,
}

impl PowerConfig {
    /// What may be drawn by commands of dies that are under way beside what is at rest, where heat allows so much [uW].
    fn of_dies(&self, hot: Option<u64>) -> u64 {
        let cap = [self.cap, hot].into_iter().flatten().min();
        cap.map_or(u64::MAX, |cap| cap.saturating_sub(self.at_rest))
    }

    /// Whether dies have to wait for power, if only while the drive is hot.
    fn caps(&self) -> bool {
        self.cap.is_some() || self.heat.as_ref().is_some_and(|heat| !heat.throttle.is_empty())
    }

    /// What a die draws while a command of a kind is suspended or taken up again [uW].
    pub fn of_suspension(&self, kind: CommandKind) -> u64 {
        self.die_suspend.unwrap_or(self.die[kind as usize])
    }

    /// What a command of a bank takes for its sectors [fJ].
    pub fn of_sectors(&self, medium: usize, kind: ScmCommandKind, sectors: u32) -> u64 {
        let [read, write] = self.bank_bytes[medium];
        let of_byte = match kind {
            ScmCommandKind::Read | ScmCommandKind::CopyOut => read,
            ScmCommandKind::Write | ScmCommandKind::CopyIn => write,
            ScmCommandKind::Copy => read + write,
        };
        of_byte * u64::from(sectors) * SECTOR_BYTES
    }
}

/// Energy that was spent [fJ].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Energy {
    /// In the arrays of dies, by what these were occupied with.
    pub dies: [u128; OCCUPANCIES],
    /// On channels of flash, likewise.
    pub channels: [u128; OCCUPANCIES],
    /// In banks, likewise.
    pub banks: [u128; OCCUPANCIES],
    /// On the bus of DRAM.
    pub dram: u128,
    /// By cores at work.
    pub cores: u128,
}

impl Energy {
    /// All of it [fJ].
    pub fn sum(&self) -> u128 {
        let media = [&self.dies, &self.channels, &self.banks].into_iter().flatten().sum::<u128>();
        media + self.dram + self.cores
    }
}

/// The window in which most was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// When it began.
    pub since: Ns,
    /// How long it lasted.
    pub window: Ns,
    /// What was drawn in it [fJ].
    pub energy: u128,
}

/// Since when a die draws a power beside its standby.
#[derive(Clone, Copy, Debug, Default)]
struct AtWork {
    since: Ns,
    power: u64,
}

/// What a drive draws.
#[derive(Clone, Debug)]
pub struct Power {
    config: PowerConfig,
    /// By die.
    dies: Vec<AtWork>,
    spent: Energy,
    draw: Draw,
    since: Ns,
    cap: Option<Cap>,
    /// Where there are any.
    states: Option<States>,
}

// Kept out of line: who tells of it pays a comparison where there is none.
impl Power {
    /// A drive at rest.
    pub fn new(config: &PowerConfig, dies: u32) -> Self {
        let mut draw = Draw::new(Ns::ZERO, config.window, config.heat.as_ref().map(Heat::new));
        draw.rises(Ns::ZERO, config.at_rest, Ns::ZERO);
        Self {
            config: config.clone(),
            dies: vec![AtWork::default(); dies as usize],
            spent: Energy::default(),
            draw,
            since: Ns::ZERO,
            cap: config.caps().then(|| Cap::new(config.of_dies(None), dies)),
            states: (!config.states.is_empty()).then(|| States::new(&config.states)),
        }
    }

    /// What it was made with.
    pub fn config(&self) -> &PowerConfig {
        &self.config
    }

    // ---- dies --------------------------------------------------------------------------------------

    /// The array of a die is to work on a command of a kind from `begins` on, until it is told to rest.
    #[inline(never)]
    pub(crate) fn die_works(&mut self, now: Ns, die: DieId, kind: CommandKind, begins: Ns) {
        self.die_draws(now, die, self.config.die[kind as usize], begins);
    }

    /// A die recovers from a suspension of a command of a kind, or ramps up to go on with it.
    #[inline(never)]
    pub(crate) fn die_moves_voltages(&mut self, now: Ns, die: DieId, kind: CommandKind) {
        self.die_draws(now, die, self.config.of_suspension(kind), now);
    }

    fn die_draws(&mut self, now: Ns, die: DieId, power: u64, since: Ns) {
        self.dies[die.index()] = AtWork { since, power };
        self.settle(now);
        self.draw.rises(now, power, since);
    }

    /// That is over, whatever it was: it was for what occupied the die.
    #[inline(never)]
    pub(crate) fn die_rests(&mut self, now: Ns, die: DieId, occupancy: Occupancy) {
        let AtWork { since, power } = std::mem::take(&mut self.dies[die.index()]);
        let measured = now.saturating_since(since.max(self.since));
        self.spent.dies[occupancy as usize] += u128::from(power) * u128::from(measured.0);
        self.draw.falls(now, power);
    }

    /// Bytes begin to cross a channel of flash.
    #[inline(never)]
    pub(crate) fn bytes_cross(&mut self, now: Ns, bytes: u64, occupancy: Occupancy) {
        let energy = u128::from(bytes) * u128::from(self.config.channel_byte);
        self.spent.channels[occupancy as usize] += energy;
        self.takes_at_once(now, energy);
    }

    // ---- a cap -------------------------------------------------------------------------------------

    /// Whether dies have to wait for power.
    pub(crate) fn is_capped(&self) -> bool {
        self.cap.is_some()
    }

    /// What a die wants to do next draws so much at most. Returns whether it may, or has to wait in line and has joined that now.
    pub(crate) fn ask(&mut self, die: DieId, power: u64) -> Asked {
        self.cap.as_mut().map_or(Asked::Granted { waited: false }, |cap| cap.ask(die.0, power))
    }

    /// A die wants nothing any more. Returns whether it was in line.
    pub(crate) fn wants_nothing(&mut self, die: DieId) -> bool {
        self.cap.as_mut().is_some_and(|cap| cap.wants_nothing(die.0))
    }

    /// A die takes a command of a kind up, or goes on with it.
    pub(crate) fn takes(&mut self, die: DieId, kind: CommandKind) {
        if let Some(cap) = &mut self.cap {
            cap.takes(die.0, self.config.die[kind as usize]);
        }
    }

    /// What a die has taken up is over, or parked.
    pub(crate) fn gives_back(&mut self, die: DieId) {
        if let Some(cap) = &mut self.cap {
            cap.gives_back(die.0);
        }
    }

    /// The die that is the first in line.
    pub(crate) fn first_in_line(&self) -> Option<DieId> {
        self.line().next()
    }

    /// Dies that wait for power, the first come first.
    pub(crate) fn line(&self) -> impl Iterator<Item = DieId> {
        self.cap.iter().flat_map(Cap::line).map(DieId)
    }

    // ---- heat --------------------------------------------------------------------------------------

    /// Whether the drive is throttled when it is hot.
    pub(crate) fn has_throttle(&self) -> bool {
        self.config.heat.as_ref().is_some_and(|heat| !heat.throttle.is_empty())
    }

    /// How many steps of its throttle a drive is in as warm as it is by now, and since when, where that was not told yet; what may be
    /// drawn is so from now on. And how often it began to be throttled since this was asked.
    pub(crate) fn warms(&mut self, now: Ns) -> (Option<(usize, Ns)>, u64) {
        self.settle(now);
        let Some(heat) = self.draw.heat(now) else { return (None, 0) };
        let (step, begun) = (heat.tell().then(|| heat.step()), heat.count());
        if step.is_some() {
            let power = self.config.of_dies(heat.cap());
            self.cap.iter_mut().for_each(|cap| cap.set_power(power));
        }
        (step, begun)
    }

    /// Steps of its throttle that are in force, as far as something was told.
    pub(crate) fn throttle_step(&self) -> usize {
        self.draw.heat_before().map_or(0, |heat| heat.step().0)
    }

    /// When dies that wait may have more power, or less, without anything else; `None`: at no time.
    pub(crate) fn measured_next(&self) -> Option<Ns> {
        let heat = self.draw.heat_before().filter(|_| self.has_throttle() && self.first_in_line().is_some())?;
        Some(heat.measured_next())
    }

    // ---- other parts -------------------------------------------------------------------------------

    /// A bank begins with a command.
    pub(crate) fn bank_works(
        &mut self,
        now: Ns,
        (medium, kind): (usize, ScmCommandKind),
        sectors: u32,
        occupancy: Occupancy,
    ) {
        let energy = u128::from(self.config.of_sectors(medium, kind, sectors));
        self.spent.banks[occupancy as usize] += energy;
        self.takes_at_once(now, energy);
    }

    /// Bytes begin to cross the bus of DRAM.
    pub(crate) fn dram_works(&mut self, now: Ns, bytes: u64) {
        let energy = u128::from(bytes) * u128::from(self.config.dram_byte);
        self.spent.dram += energy;
        self.takes_at_once(now, energy);
    }

    /// A core begins with what takes it so long.
    pub(crate) fn core_works(&mut self, now: Ns, time: Ns) {
        let energy = u128::from(time.0) * u128::from(self.config.core);
        self.spent.cores += energy;
        self.takes_at_once(now, energy);
    }

    fn takes_at_once(&mut self, now: Ns, energy: u128) {
        self.settle(now);
        self.draw.takes(now, energy);
    }

    /// A command of the host is taken in, which a core looks at. Returns when it can be taken up, where the drive is to leave a state
    /// of less power before.
    pub(crate) fn command_comes(&mut self, now: Ns) -> Option<Ns> {
        self.settle(now);
        let present = self.states.as_ref().and_then(States::present);
        let awake = self.states.as_mut().and_then(|states| states.command_comes(now));
        self.draws_at_rest(now, present, None);
        self.core_works(now, self.config.command_cost);
        awake
    }

    // ---- states of less power ----------------------------------------------------------------------

    /// Whether the drive goes into any while it has nothing to do.
    pub(crate) fn has_states(&self) -> bool {
        self.states.is_some()
    }

    /// All of an instant is done, and something is `under_way` or nothing. Returns whether the drive begins to rest.
    pub(crate) fn instant_is_over(&mut self, now: Ns, under_way: bool) -> bool {
        match self.states.as_ref().map(States::rests) {
            // What it does of its own accord finds it awake.
            Some(true) if under_way => {
                self.settle(now);
                let present = self.states.as_ref().and_then(States::present);
                self.states.iter_mut().for_each(|states| states.ends_rest(now));
                self.draws_at_rest(now, present, None);
                false
            }
            Some(false) if !under_way => {
                self.states.iter_mut().for_each(|states| states.begin_to_rest(now));
                true
            }
            _ => false,
        }
    }

    /// What became of a drive at rest before now.
    fn settle(&mut self, now: Ns) {
        while let Some(states) = &mut self.states {
            let before = states.present();
            let Some((at, state)) = states.next_change(now) else { break };
            self.draws_at_rest(at, before, state);
        }
    }

    /// The drive is in another state, or in none.
    fn draws_at_rest(&mut self, at: Ns, before: Option<usize>, state: Option<usize>) {
        if let Some(states) = self.states.as_ref().filter(|_| before != state) {
            let power = |state: Option<usize>| state.map_or(self.config.at_rest, |index| states.power_of(index));
            let (before, after) = (power(before), power(state));
            self.draw.falls(at, before);
            self.draw.rises(at, after, at);
        }
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// Counts from `now` on: what is left of an array's work belongs to the measured time.
    pub(crate) fn begin_measuring(&mut self, now: Ns) {
        self.settle(now);
        self.since = now;
        self.spent = Energy::default();
        self.draw.begin_measuring(now);
        self.states.iter_mut().for_each(|states| states.begin_measuring(now));
    }

    /// What was spent since measuring began beside what all parts draw at any time; of an operation in an array when that is over.
    pub fn spent(&self) -> &Energy {
        &self.spent
    }

    /// What all parts drew until now, whatever they did [fJ].
    pub fn spent_at_rest(&self, now: Ns) -> u128 {
        let in_states = self.times_in_states(now);
        let time_in_states = in_states.iter().fold(Ns::ZERO, |sum, times| sum + times.time);
        let active = u128::from(self.config.at_rest) * u128::from((now - self.since - time_in_states).0);
        active + self.spent_in_states(&in_states).sum::<u128>()
    }

    /// What the drive drew in each state of less power, in which it was so long [fJ].
    pub fn spent_in_states<'a>(&'a self, times: &'a [StateTimes]) -> impl Iterator<Item = u128> + 'a {
        let powers = self.config.states.iter().map(|state| u128::from(state.power));
        powers.zip(times).map(|(power, times)| power * u128::from(times.time.0))
    }

    /// How often and how long the drive was in each of these since measuring began, until now.
    pub fn times_in_states(&self, now: Ns) -> Vec<StateTimes> {
        let mut seen = self.states.clone();
        seen.as_mut().map_or_else(Vec::new, |states| {
            while states.next_change(now).is_some() {}
            states.times(now)
        })
    }

    /// The window until now in which most was drawn, of those that follow each other since measuring began; where none is over, the
    /// time since then. `None`: no time has passed.
    pub fn peak(&self, now: Ns) -> Option<Peak> {
        self.until(now).draw.peak(now)
    }

    /// How warm it was since then; `None` where that is not followed.
    pub fn heat(&self, now: Ns) -> Option<HeatSeen> {
        self.until(now).draw.heat(now).map(|heat| heat.seen(now))
    }

    /// What became of it until now.
    fn until(&self, now: Ns) -> Self {
        let mut seen = self.clone();
        seen.settle(now);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> PowerConfig {
        PowerConfig {
            die: [80, 100, 60],
            die_suspend: None,
            channel_byte: 3,
            dram_byte: 7,
            bank_bytes: [[1, 5], [2, 9]],
            core: 40,
            command_cost: Ns(10),
            at_rest: 11,
            window: Ns(1_000),
            cap: None,
            states: Vec::new(),
            heat: None,
        }
    }

    #[test]
    fn what_is_drawn_before_measuring_began_does_not_count() {
        let mut power = Power::new(&config(), 2);
        power.die_works(Ns(0), DieId(1), CommandKind::Program, Ns(200));
        power.begin_measuring(Ns(300));
        power.die_rests(Ns(1_000), DieId(1), Occupancy::GcProgram);
        power.die_works(Ns(1_000), DieId(0), CommandKind::Read, Ns(1_100));
        power.die_rests(Ns(1_200), DieId(0), Occupancy::HostRead);
        assert_eq!(power.spent().dies[Occupancy::GcProgram as usize], 100 * 700);
        assert_eq!(power.spent().dies[Occupancy::HostRead as usize], 80 * 100);
        assert_eq!(power.spent_at_rest(Ns(1_300)), 11 * 1_000);
        let peak = power.peak(Ns(1_300)).expect("a window");
        assert_eq!((peak.since, peak.energy), (Ns(300), 100 * 700 + 80 * 100 + 11 * 1_000));
    }

    #[test]
    fn each_part_has_its_energy() {
        let mut power = Power::new(&config(), 1);
        power.bytes_cross(Ns(0), 4_096, Occupancy::HostRead);
        power.dram_works(Ns(0), 64);
        power.command_comes(Ns(0));
        power.core_works(Ns(5), Ns(90));
        for (medium, kind) in [(0, ScmCommandKind::Read), (1, ScmCommandKind::CopyIn), (1, ScmCommandKind::Copy)] {
            power.bank_works(Ns(7), (medium, kind), 2, Occupancy::Migration);
        }
        let spent = power.spent();
        assert_eq!(spent.channels[Occupancy::HostRead as usize], 3 * 4_096);
        assert_eq!((spent.dram, spent.cores), (7 * 64, 40 * 100));
        assert_eq!(spent.banks[Occupancy::Migration as usize], (1 + 9 + 11) * 1_024);
        let sum = 3 * 4_096 + 7 * 64 + 40 * 100 + 21 * 1_024;
        assert_eq!((spent.sum(), power.peak(Ns(50)).map(|peak| peak.energy)), (sum, Some(sum + 11 * 50)));
    }

    #[test]
    fn a_suspension_draws_what_is_said_of_it_or_what_its_operation_does() {
        assert_eq!(config().of_suspension(CommandKind::Erase), 60);
        assert_eq!(PowerConfig { die_suspend: Some(5), ..config() }.of_suspension(CommandKind::Erase), 5);
    }
}
