//! What each die did, as stretches of time in which it did one thing, and how they nest.
//!
//! The stretches of a die follow one another without a gap, and each lies in one occupancy: those between two times
//! sum, by occupancy, to the difference of the die's ledger.

use std::collections::VecDeque;
use std::mem::take;

use ninescope_engine::View;
use ninescope_engine::meter::DieLedger;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{DieId, Occupancy};

use super::work::Work;

/// Stretches of all dies that are kept at most.
const STRETCHES_MAX: usize = 1 << 20;
/// Stretches of a die among which none is looked for that can be forgotten.
const STRETCHES_MIN: usize = 256;

/// What a die does at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing; perhaps an operation is parked.
    #[default]
    Idle,
    /// Its command, or the data it has read, waits for the channel.
    WaitingForChannel,
    /// It waits for power.
    WaitingForPower,
    /// The same while the drive is hot.
    ThrottledByHeat,
    /// Command, address and data of a program arrive.
    Sending,
    /// The array works; `done` is the pulse time that was done before [ns].
    Array {
        /// Pulse time before the stretch [ns].
        done: Ns,
    },
    /// Read data leave.
    DataOut,
    /// Voltages recover from a suspend.
    Recovering,
    /// Voltages ramp up to a resume.
    Ramping,
}

/// A time in which a die does one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The die.
    pub die: DieId,
    /// Its beginning [ns].
    pub from: Ns,
    /// Its end [ns].
    pub until: Ns,
    /// What the die does.
    pub doing: Doing,
    /// On which command; meaningless while idle.
    pub work: Work,
}

impl Stretch {
    /// What the die is occupied with.
    pub fn occupancy(&self) -> Occupancy {
        match self.doing {
            Doing::Idle => Occupancy::Idle,
            Doing::WaitingForChannel => Occupancy::WaitingForChannel,
            Doing::WaitingForPower => Occupancy::WaitingForPower,
            Doing::ThrottledByHeat => Occupancy::ThrottledByHeat,
            Doing::Sending | Doing::Array { .. } | Doing::DataOut => self.work.occupancy(),
            Doing::Recovering | Doing::Ramping => Occupancy::SuspendOverhead,
        }
    }

    /// Whether the die works for a request, or waits for its channel for it.
    pub fn is_for(&self, request: u64) -> bool {
        let for_host =
            matches!(self.occupancy(), Occupancy::WaitingForChannel | Occupancy::HostRead | Occupancy::HostProgram);
        for_host && self.work.own_of.ids().any(|id| id == request)
    }

    /// Its length [ns].
    pub fn length(&self) -> Ns {
        self.until - self.from
    }

    /// The first and last loop or pulse (from 1) it works in, where it works in any.
    pub fn segments(&self) -> Option<(u32, u32)> {
        match self.doing {
            Doing::Array { done } if self.work.segment().is_some() => {
                Some(self.work.segments_between(done, done + self.length()))
            }
            _ => None,
        }
    }

    /// "loops 1-2 of 3", where it works in any.
    pub fn segments_in_words(&self) -> Option<String> {
        let (first, last) = self.segments()?;
        let (name, of) = (self.work.segment()?, self.work.segments);
        Some(if first == last { format!("{name} {first} of {of}") } else { format!("{name}s {first}-{last} of {of}") })
    }

    /// The part of it that lies between two times, if any does.
    fn within(&self, from: Ns, until: Ns) -> Option<Self> {
        let (begin, end) = (self.from.max(from), self.until.min(until));
        let doing = match self.doing {
            Doing::Array { done } => Doing::Array { done: done + begin.saturating_since(self.from) },
            doing => doing,
        };
        (begin < end).then_some(Self { from: begin, until: end, doing, ..*self })
    }
}

/// What dies did in a stage of a request: the last stretches one by one, those before them in sum.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// The request.
    pub request: u64,
    /// The last stretches, oldest first.
    pub listed: VecDeque<Stretch>,
    /// What was before them and not for the request itself, by occupancy [ns].
    pub earlier: DieLedger,
    /// What was before them for the request itself [ns].
    pub earlier_own: Ns,
    /// How many are listed at most.
    pub most: usize,
}

impl Acts {
    fn add(&mut self, stretch: Stretch) {
        self.listed.push_back(stretch);
        if self.listed.len() > self.most
            && let Some(oldest) = self.listed.pop_front()
        {
            if oldest.is_for(self.request) {
                self.earlier_own += oldest.length();
            } else {
                self.earlier[oldest.occupancy() as usize] += oldest.length().0;
            }
        }
    }

    /// All that was not for the request itself, by occupancy [ns].
    pub fn sums(&self) -> DieLedger {
        let mut sums = self.earlier;
        let of_others = self.listed.iter().filter(|stretch| !stretch.is_for(self.request));
        of_others.for_each(|stretch| sums[stretch.occupancy() as usize] += stretch.length().0);
        sums
    }

    /// All that was for the request itself [ns].
    pub fn own(&self) -> Ns {
        let listed = self.listed.iter().filter(|stretch| stretch.is_for(self.request));
        listed.fold(self.earlier_own, |sum, stretch| sum + stretch.length())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sums() == DieLedger::default() && self.own() == Ns::ZERO
    }
}

/// What a slice of a die's track shows; where two have equal times, the later named one lies in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// An operation lies parked, and reads run beside it.
    Parked,
    /// A command from the moment the die takes it up to its end, however often it is suspended.
    Command,
    /// A stretch of a command.
    Stretch,
}

/// A slice of a die's track: what is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieSlice {
    /// What it shows.
    pub shows: Shows,
    /// When, and of which command. Of a command or of parked work, [`Stretch::doing`] says nothing.
    pub stretch: Stretch,
}

/// A command that a die has taken up.
#[derive(Clone, Copy, Debug, Default)]
struct TakenUp {
    /// When [ns].
    since: Ns,
    work: Work,
}

#[derive(Debug, Default)]
struct Die {
    /// What it does now, since `present.from`.
    present: Stretch,
    /// When and to what that changes by itself.
    next: Option<(Ns, Doing)>,
    running: TakenUp,
    parked: Option<TakenUp>,
    /// Since when the parked command lies parked [ns].
    parked_since: Ns,
    /// What it did, oldest first.
    past: VecDeque<Stretch>,
    /// How many stretches are kept before it is looked for some that nobody needs.
    look_at: usize,
}

/// What all dies do and did.
#[derive(Debug, Default)]
pub struct DieBook {
    dies: Vec<Die>,
    /// Stretches kept per die at most; 0: none is kept.
    kept: usize,
    /// Slices are handed out.
    sliced: bool,
    slices: Vec<DieSlice>,
    /// Dies that wait for power do so because the drive is hot.
    is_hot: bool,
}

impl DieBook {
    /// Begins; `remembers`: somebody asks for the past, `sliced`: somebody draws it.
    pub fn started(&mut self, dies: u32, remembers: bool, sliced: bool) {
        let die = || Die { look_at: STRETCHES_MIN, ..Die::default() };
        self.dies = (0..dies).map(|_| die()).collect();
        self.kept = if remembers { (STRETCHES_MAX / self.dies.len().max(1)).max(2 * STRETCHES_MIN) } else { 0 };
        self.sliced = sliced;
    }

    /// The slices that ended since the last call.
    pub fn drain(&mut self) -> Vec<DieSlice> {
        take(&mut self.slices)
    }

    /// Adds what a die did between two times to an account of it.
    pub fn between(&self, die: DieId, from: Ns, until: Ns, into: &mut Acts) {
        let Some(book) = self.dies.get(die.index()) else { return };
        let first = book.past.partition_point(|stretch| stretch.until <= from);
        let past = book.past.range(first..).take_while(|stretch| stretch.from < until);
        for stretch in past.chain(&book.open(until)) {
            if let Some(stretch) = stretch.within(from, until) {
                into.add(stretch);
            }
        }
    }

    /// Forgets what a die did before a time, now and then.
    pub fn forget_before(&mut self, die: DieId, time: impl FnOnce() -> Ns) {
        let book = &mut self.dies[die.index()];
        if book.past.len() < book.look_at {
            return;
        }
        let time = time();
        let known = book.past.partition_point(|stretch| stretch.until <= time);
        book.past.drain(..known);
        book.look_at = (2 * book.past.len()).max(STRETCHES_MIN);
    }

    // ---- what happens ----------------------------------------------------------------------------

    /// A command was taken up; it asks for the channel.
    pub fn dispatched(&mut self, now: Ns, die: DieId, work: Work) {
        self.enter(now, die, Doing::WaitingForChannel, work);
        self.dies[die.index()].running = TakenUp { since: now, work };
    }

    /// It begins to wait for power, or need not any more.
    pub fn for_power(&mut self, now: Ns, die: DieId, waits: bool) {
        self.enter(now, die, if waits { self.waits_for_power() } else { Doing::Idle }, Work::default());
    }

    /// The drive begins to be throttled because it is hot, or is not any more.
    pub fn throttled(&mut self, now: Ns, is_hot: bool) {
        let before = self.waits_for_power();
        self.is_hot = is_hot;
        let waiting = |book: &(usize, &Die)| book.1.present.doing == before;
        let dies: Vec<usize> = self.dies.iter().enumerate().filter(waiting).map(|(die, _)| die).collect();
        for die in dies {
            self.enter(now, DieId(die as u32), self.waits_for_power(), Work::default());
        }
    }

    fn waits_for_power(&self) -> Doing {
        if self.is_hot { Doing::ThrottledByHeat } else { Doing::WaitingForPower }
    }

    /// The channel is the command's, and the array works from `begins` on.
    pub fn issued(&mut self, view: &View<'_>, die: DieId, begins: Ns) {
        let mut work = self.dies[die.index()].running.work;
        if let Some(operation) = view.nand.running(die) {
            (work.segments, work.total) = (operation.segments, operation.total);
        }
        self.dies[die.index()].running.work = work;
        self.enter(view.now, die, Doing::Sending, work);
        self.dies[die.index()].next = Some((begins, Doing::Array { done: Ns::ZERO }));
    }

    /// The array phase is over.
    pub fn ended(&mut self, now: Ns, command: &FlashCommand) {
        let running = self.dies[command.die.index()].running;
        if command.kind == CommandKind::Read {
            return self.enter(now, command.die, Doing::WaitingForChannel, running.work);
        }
        self.enter(now, command.die, Doing::Idle, running.work);
        self.slice(command.die, Shows::Command, running, now);
    }

    /// Read data leave, or are kept for the decoder, until `until`; nobody need tell that the die is free then.
    pub fn data_out(&mut self, now: Ns, die: DieId, until: Ns) {
        let running = self.dies[die.index()].running;
        self.enter(now, die, Doing::DataOut, running.work);
        self.dies[die.index()].next = Some((until, Doing::Idle));
        self.slice(die, Shows::Command, running, until);
    }

    /// The running command was stopped.
    pub fn suspended(&mut self, now: Ns, die: DieId) {
        let mut parked = self.dies[die.index()].running;
        parked.work.suspensions += 1;
        self.enter(now, die, Doing::Recovering, parked.work);
        self.dies[die.index()].parked = Some(parked);
    }

    /// The die takes reads.
    pub fn recovered(&mut self, now: Ns, die: DieId) {
        self.enter(now, die, Doing::Idle, Work::default());
        self.dies[die.index()].parked_since = now;
    }

    /// The parked command begins to be taken up again.
    pub fn resume_began(&mut self, now: Ns, die: DieId) {
        let book = &self.dies[die.index()];
        let (parked, since) = (book.parked.unwrap_or_default(), book.parked_since);
        self.enter(now, die, Doing::Ramping, parked.work);
        self.slice(die, Shows::Parked, TakenUp { since, ..parked }, now);
    }

    /// Its pulses go on.
    pub fn resumed(&mut self, view: &View<'_>, die: DieId) {
        let running = self.dies[die.index()].parked.take().unwrap_or_default();
        let done = view.nand.running(die).map_or(Ns::ZERO, |operation| operation.done);
        self.dies[die.index()].running = running;
        self.enter(view.now, die, Doing::Array { done }, running.work);
    }

    // ---- keeping ---------------------------------------------------------------------------------

    fn enter(&mut self, now: Ns, die: DieId, doing: Doing, work: Work) {
        let Some(book) = self.dies.get_mut(die.index()) else { return };
        let over = book.open(now);
        book.present = Stretch { die, from: now, until: now, doing, work };
        book.next = None;
        for stretch in over.into_iter().filter(|stretch| stretch.from < stretch.until) {
            if self.kept > 0 {
                if book.past.len() == self.kept {
                    book.past.pop_front();
                }
                book.past.push_back(stretch);
            }
            if self.sliced && stretch.doing != Doing::Idle {
                self.slices.push(DieSlice { shows: Shows::Stretch, stretch });
            }
        }
    }

    fn slice(&mut self, die: DieId, shows: Shows, command: TakenUp, until: Ns) {
        if self.sliced {
            let stretch = Stretch { die, from: command.since, until, doing: Doing::Idle, work: command.work };
            self.slices.push(DieSlice { shows, stretch });
        }
    }
}

impl Die {
    /// What it has been doing since its last change, up to `now`: two stretches where it changed by itself.
    fn open(&self, now: Ns) -> [Stretch; 2] {
        let present = Stretch { until: now, ..self.present };
        match self.next {
            Some((at, doing)) if at <= now => {
                [Stretch { until: at, ..present }, Stretch { from: at, doing, ..present }]
            }
            _ => [present, Stretch { from: now, ..present }],
        }
    }
}
