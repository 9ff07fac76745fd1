//! What a drive draws: counted anew from commands, accesses and steps, by part and by what it was for, and laid out in windows of time.

use std::collections::{BTreeMap, VecDeque};

use ninescope_engine::{Access, Event, PowerConfig, QueueClass, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_media::scm::ScmCommandKind;
use ninescope_model::{DieId, OCCUPANCIES, Occupancy, SECTOR_BYTES, Source};

use crate::heat::HeatBook;
use crate::marks::{Mark, Marks};
use crate::power_states::RestBook;
use crate::rule::{Checked, require};

/// What a command is, and what it is for.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    kind: CommandKind,
    lane: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    present: Work,
    parked: Work,
    /// What it draws, and since when.
    power: u64,
    since: Ns,
    /// What it has taken of what may be drawn.
    taken: u64,
}

/// The checker's own account.
#[derive(Debug)]
pub struct PowerBook {
    config: PowerConfig,
    dies: Vec<Die>,
    /// By bank: for whom its access is.
    sources: Vec<Source>,
    since: Ns,
    of_dies: [u128; OCCUPANCIES],
    of_channels: [u128; OCCUPANCIES],
    of_banks: [u128; OCCUPANCIES],
    of_dram: u128,
    of_cores: u128,
    /// By number of the window since measuring began.
    windows: BTreeMap<u64, u128>,
    /// Dies that wait for power, the first come first.
    line: VecDeque<DieId>,
    /// The one of them that has power now.
    comes: Option<DieId>,
    /// The time of the last event.
    at: Ns,
    /// States of less power, where there are any.
    rest: Option<RestBook>,
    /// How warm it is, where that is followed.
    heat: Option<HeatBook>,
}

impl PowerBook {
    /// Of a drive that tells what it draws, if it is one.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let config = view.power?.config().clone();
        Some(Self {
            rest: RestBook::started(&config),
            heat: HeatBook::started(config.heat.as_ref()),
            config,
            dies: vec![Die::default(); view.ftl.geometry().dies() as usize],
            sources: vec![Source::Host; view.scm.layout().banks() as usize],
            since: Ns::ZERO,
            of_dies: [0; OCCUPANCIES],
            of_channels: [0; OCCUPANCIES],
            of_banks: [0; OCCUPANCIES],
            of_dram: 0,
            of_cores: 0,
            windows: BTreeMap::new(),
            line: VecDeque::new(),
            comes: None,
            at: Ns::ZERO,
        })
    }

    pub fn sees(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        let now = view.now;
        if now > self.at {
            self.time_passes(view)?;
            self.at = now;
        }
        if self.heat.is_some() {
            self.heat_is_told(view, event, marks)?;
        }
        if self.is_capped() {
            self.cap_holds(view, event, marks)?;
        }
        if let Some(rest) = &mut self.rest {
            rest.sees(view, event, marks)?;
        }
        match *event {
            Event::Dispatched { command, class, accesses } => {
                self.dies[command.die.index()].present = Work { kind: command.kind, lane: lane_of(class, accesses) };
            }
            Event::CommandIssued { command, begins, .. } => {
                if command.kind == CommandKind::Program {
                    self.bytes_cross(now, command);
                }
                self.draws(command.die.index(), self.config.die[command.kind as usize], begins);
            }
            Event::CommandEnded { command } => self.over(now, command.die.index(), None),
            Event::DataOut { command, .. } => self.bytes_cross(now, command),
            Event::Suspended { die, .. } => {
                self.over(now, die.index(), None);
                let die = &mut self.dies[die.index()];
                (die.parked, die.power, die.since) = (die.present, of_voltages(&self.config, die.present.kind), now);
            }
            Event::Recovered { die } => self.over(now, die.index(), Some(Occupancy::SuspendOverhead)),
            Event::ResumeBegan { die } => {
                let power = of_voltages(&self.config, self.dies[die.index()].parked.kind);
                self.draws(die.index(), power, now);
            }
            Event::Resumed { die } => {
                self.over(now, die.index(), Some(Occupancy::SuspendOverhead));
                let die = &mut self.dies[die.index()];
                (die.present, die.since) = (die.parked, now);
                die.power = self.config.die[die.present.kind as usize];
            }
            Event::SlotDispatched { slot, source, .. } => {
                self.sources[view.scm.layout().bank_of_slot(slot).index()] = source;
            }
            Event::BankCommandIssued { command, .. } => {
                let medium = view.scm.layout().medium_of_bank(command.bank);
                self.sectors(now, medium, (command.bank.index(), command.kind), command.sectors);
            }
            Event::DramTaken { access, .. } => {
                let energy = u128::from(access.bytes) * u128::from(self.config.dram_byte);
                self.of_dram += energy;
                self.at_once(now, energy);
            }
            Event::StepTaken { until, .. } => self.core(now, until - now),
            Event::Fetched { .. } => self.core(now, self.config.command_cost),
            Event::MeasuringBegan => {
                self.since = now;
                for lanes in [&mut self.of_dies, &mut self.of_channels, &mut self.of_banks] {
                    *lanes = [0; OCCUPANCIES];
                }
                (self.of_dram, self.of_cores) = (0, 0);
                self.windows.clear();
                self.heat.iter_mut().for_each(|heat| heat.measuring_began(now));
            }
            Event::Finished { .. } => {
                if let Some(rest) = &mut self.rest {
                    rest.finished(view)?;
                }
                if let Some(heat) = &mut self.heat {
                    heat.finished(view)?;
                }
                return self.compare(view);
            }
            _ => {}
        }
        Ok(())
    }

    /// When the drive was last out of a state of less power, or is.
    pub fn awake_at(&self) -> Ns {
        self.rest.as_ref().map_or(Ns::ZERO, RestBook::awake_at)
    }

    // ---- a cap -------------------------------------------------------------------------------------

    /// What may still be drawn by commands of dies [uW].
    fn left(&self) -> u64 {
        let taken: u64 = self.dies.iter().map(|die| die.taken).sum();
        let hot = self.heat.as_ref().and_then(HeatBook::cap);
        let cap = [self.config.cap, hot].into_iter().flatten().min();
        cap.unwrap_or(u64::MAX).saturating_sub(self.config.at_rest + taken)
    }

    /// Whether dies ask for power.
    fn is_capped(&self) -> bool {
        self.config.cap.is_some() || self.heat.as_ref().is_some_and(HeatBook::has_throttle)
    }

    /// Time has moved on: nobody waits for nothing, and the drive is as warm as what it drew meanwhile makes it.
    fn time_passes(&mut self, view: &View<'_>) -> Checked {
        let (now, most) = (view.now, self.config.die.into_iter().max().unwrap_or_default());
        // Whatever it is to do.
        let needless = self.line.front().filter(|_| self.is_capped() && most <= self.left());
        require!(needless.is_none(), PowerCap, now, "die {needless:?} waits for power, and there is enough of it");
        let (dies, rest, at_rest) = (&self.dies, &self.rest, u128::from(self.config.at_rest));
        let Some(heat) = &mut self.heat else { return Ok(()) };
        if !self.line.is_empty() {
            heat.is_known(now)?;
        }
        let of_dies = |from: Ns, until: Ns| -> u128 {
            dies.iter()
                .map(|die| u128::from(die.power) * u128::from(until.saturating_since(from.max(die.since)).0))
                .sum()
        };
        let drawn = |from: Ns, until: Ns| {
            let saved = rest.as_ref().map_or(0, |rest| rest.saves_between(from, until));
            at_rest * u128::from((until - from).0) + of_dies(from, until) - saved
        };
        let steady = dies.iter().filter(|die| die.power > 0).map(|die| die.since);
        let steady = steady.chain(rest.as_ref().map(RestBook::steady_from)).max().unwrap_or_default();
        heat.passes(view, drawn, steady, !self.line.is_empty())
    }

    /// The device knows how warm it is when a die asks for power.
    fn heat_is_told(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        let (now, waits) = (view.now, !self.line.is_empty());
        let Some(heat) = &mut self.heat else { return Ok(()) };
        match *event {
            Event::Throttled { step, since } => {
                heat.said(now, step, since)?;
                if waits && step == 0 {
                    marks.hit(Mark::ThrottleEnds);
                }
            }
            Event::PowerAwaited { .. } => {
                heat.is_known(now)?;
                if heat.step() > 0 {
                    marks.hit(Mark::ThrottledByHeat);
                }
            }
            Event::PowerComes { .. } | Event::Dispatched { .. } | Event::ResumeBegan { .. } => heat.is_known(now)?,
            _ => {}
        }
        Ok(())
    }

    /// Commands of dies draw no more than may be drawn, whoever waits does so for a reason, and the first come goes first.
    fn cap_holds(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        let (now, most) = (view.now, self.config.die.into_iter().max().unwrap_or_default());
        match *event {
            Event::Dispatched { command, .. } => self.take(view, command.die, command.kind)?,
            Event::ResumeBegan { die } => {
                let kind = self.dies[die.index()].parked.kind;
                self.take(view, die, kind)?;
            }
            Event::CommandEnded { command } => self.dies[command.die.index()].taken = 0,
            Event::Recovered { die } => self.dies[die.index()].taken = 0,
            Event::PowerAwaited { die } => {
                let left = self.left();
                require!(
                    !self.line.contains(&die) && (most > left || !self.line.is_empty()),
                    PowerCap,
                    now,
                    "die {die} waits for power, of which {left} uW are left, behind {:?}",
                    self.line
                );
                if view.nand.parked(die).is_some() {
                    marks.hit(Mark::ParkedWithoutPower);
                }
                self.line.push_back(die);
            }
            Event::PowerComes { die, goes_on } => {
                let first = self.line.front() == Some(&die);
                require!(!goes_on || first, PowerCap, now, "die {die} goes before others in {:?}", self.line);
                self.line.retain(|&other| other != die);
                self.comes = goes_on.then_some(die);
            }
            _ => {}
        }
        Ok(())
    }

    /// A die takes up a command of a kind, or goes on with one.
    fn take(&mut self, view: &View<'_>, die: DieId, kind: CommandKind) -> Checked {
        let (power, left) = (self.config.die[kind as usize], self.left());
        require!(
            power <= left && self.dies[die.index()].taken == 0,
            PowerCap,
            view.now,
            "die {die} begins with a {kind:?}, which draws {power} uW, and {left} uW are left of {:?}",
            self.config.cap
        );
        // Who waits already goes before who comes now.
        require!(
            self.comes.take() == Some(die) || self.line.is_empty(),
            PowerCap,
            view.now,
            "die {die} begins with a {kind:?} before those who wait for power: {:?}",
            self.line
        );
        self.dies[die.index()].taken = power;
        Ok(())
    }

    // ---- dies --------------------------------------------------------------------------------------

    fn draws(&mut self, die: usize, power: u64, since: Ns) {
        (self.dies[die].power, self.dies[die].since) = (power, since);
    }

    /// What a die did so far is over: the pulses of its command, or something else.
    fn over(&mut self, now: Ns, die: usize, other: Option<Occupancy>) {
        let Die { present, power, since, .. } = self.dies[die];
        self.dies[die].power = 0;
        let lane = other.map_or(present.lane, |occupancy| occupancy as usize);
        let (power, mut at) = (u128::from(power), since.max(self.since));
        self.of_dies[lane] += power * u128::from(now.saturating_since(at).0);
        // Window by window.
        while at < now {
            let window = (at - self.since).0 / self.config.window.0;
            let until = now.min(self.since + Ns((window + 1) * self.config.window.0));
            *self.windows.entry(window).or_default() += power * u128::from((until - at).0);
            at = until;
        }
    }

    fn bytes_cross(&mut self, now: Ns, command: &FlashCommand) {
        let bytes: u64 = command.addressed_planes().map(|plane| u64::from(command.bytes[plane])).sum();
        let energy = u128::from(bytes) * u128::from(self.config.channel_byte);
        self.of_channels[self.dies[command.die.index()].present.lane] += energy;
        self.at_once(now, energy);
    }

    // ---- others ------------------------------------------------------------------------------------

    fn sectors(&mut self, now: Ns, medium: usize, (bank, kind): (usize, ScmCommandKind), sectors: u32) {
        let [read, write] = self.config.bank_bytes[medium];
        let (of_byte, copies) = match kind {
            ScmCommandKind::Read => (read, false),
            ScmCommandKind::Write => (write, false),
            ScmCommandKind::CopyOut => (read, true),
            ScmCommandKind::CopyIn => (write, true),
            ScmCommandKind::Copy => (read + write, true),
        };
        let occupancy = match (self.sources[bank], kind) {
            _ if copies => Occupancy::WearLeveling,
            (Source::Migration, _) => Occupancy::Migration,
            (_, ScmCommandKind::Read) => Occupancy::HostRead,
            _ => Occupancy::HostProgram,
        };
        let energy = u128::from(of_byte) * u128::from(sectors) * u128::from(SECTOR_BYTES);
        self.of_banks[occupancy as usize] += energy;
        self.at_once(now, energy);
    }

    fn core(&mut self, now: Ns, time: Ns) {
        let energy = u128::from(self.config.core) * u128::from(time.0);
        self.of_cores += energy;
        self.at_once(now, energy);
    }

    /// An energy that is taken at once.
    fn at_once(&mut self, now: Ns, energy: u128) {
        self.heat.iter_mut().for_each(|heat| heat.takes(energy));
        *self.windows.entry((now - self.since).0 / self.config.window.0).or_default() += energy;
    }

    // ---- at the end --------------------------------------------------------------------------------

    fn compare(&self, view: &View<'_>) -> Checked {
        let (now, Some(power)) = (view.now, view.power) else { return Ok(()) };
        let told = power.spent();
        for (part, told, seen) in [
            ("dies", &told.dies, &self.of_dies),
            ("channels", &told.channels, &self.of_channels),
            ("banks", &told.banks, &self.of_banks),
        ] {
            // What is read of a stripe for a rebuild is parity here.
            let (parity, rebuild) = (Occupancy::Parity as usize, Occupancy::Rebuild as usize);
            for occupancy in Occupancy::ALL {
                let lane = occupancy as usize;
                let of = |lanes: &[u128; OCCUPANCIES]| match lane {
                    _ if lane == rebuild => 0,
                    _ if lane == parity => lanes[parity] + lanes[rebuild],
                    _ => lanes[lane],
                };
                let (told, seen) = (of(told), of(seen));
                require!(told == seen, Energy, now, "{part} took {seen} fJ for {occupancy:?}, and {told} fJ are told");
            }
        }
        let (told, seen) = ([told.dram, told.cores], [self.of_dram, self.of_cores]);
        require!(told == seen, Energy, now, "DRAM and cores took {seen:?} fJ, and {told:?} are told");
        let elapsed = (now - self.since).0;
        let saved = self.rest.as_ref().map_or(0, |rest| rest.saved().1);
        let at_rest = u128::from(self.config.at_rest) * u128::from(elapsed) - saved;
        let told = power.spent_at_rest(now);
        require!(told == at_rest, Energy, now, "{at_rest} fJ were drawn at rest in {elapsed} ns, and {told} are told");
        self.compare_peak(view, elapsed)
    }

    fn compare_peak(&self, view: &View<'_>, elapsed: u64) -> Checked {
        let window = self.config.window.0;
        let over = elapsed / window;
        let saved =
            |window: u64| self.rest.as_ref().and_then(|rest| rest.saved().0.get(&window).copied()).unwrap_or_default();
        let at_rest = |length: u64| u128::from(self.config.at_rest) * u128::from(length);
        let of_window =
            |number: u64| self.windows.get(&number).copied().unwrap_or_default() + at_rest(window) - saved(number);
        let (length, seen) = match over {
            0 => (elapsed, self.windows.values().sum::<u128>() + at_rest(elapsed) - saved(0)),
            _ if self.rest.is_some() => (window, (0..over).map(of_window).max().unwrap_or_default()),
            _ => (
                window,
                self.windows.range(..over).map(|(_, energy)| *energy).max().unwrap_or_default() + at_rest(window),
            ),
        };
        let peak = view.power.and_then(|power| power.peak(view.now));
        let told = peak.map(|peak| (peak.window.0, peak.energy));
        require!(
            told == (elapsed > 0).then_some((length, seen)),
            Energy,
            view.now,
            "{seen} fJ are the most of any {length} ns, and {peak:?} is told"
        );
        Ok(())
    }
}

/// What voltages of a die take that suspends a command, or goes on with it.
fn of_voltages(config: &PowerConfig, kind: CommandKind) -> u64 {
    match config.die_suspend {
        Some(power) => power,
        None => config.die[kind as usize],
    }
}

/// What a command is for: what reads or writes the map, or parity, and something of the host counts as the host's.
fn lane_of(class: QueueClass, accesses: &[Access]) -> usize {
    let beside = |access: &&Access| !matches!(access.source, Source::Mapping | Source::Parity | Source::Rebuild);
    let first = accesses.iter().find(beside).or(accesses.first());
    let source = first.map_or(Source::Host, |access| access.source);
    let occupancy = match (source, class) {
        (Source::Migration, _) => Occupancy::Migration,
        (Source::Scrub, _) => Occupancy::Scrub,
        (Source::Mapping, _) => Occupancy::Mapping,
        (Source::Parity | Source::Rebuild, _) => Occupancy::Parity,
        (_, QueueClass::HostRead) => Occupancy::HostRead,
        (_, QueueClass::HostProgram) => Occupancy::HostProgram,
        (_, QueueClass::MoveRead) => Occupancy::GcRead,
        (_, QueueClass::MoveProgram) => Occupancy::GcProgram,
        (_, QueueClass::Erase) => Occupancy::Erase,
        (_, QueueClass::IdleRead) => Occupancy::Scrub,
    };
    occupancy as usize
}
