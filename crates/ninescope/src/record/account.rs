//! One request described: its stages from submission to completion, without a gap, and what the dies that it waited
//! for did meanwhile.
//!
//! The stages are put together from the times of events; the request's parts come from the device's ledgers and
//! marks. Where both are right, the stages sum to the parts, cause by cause: [`Account::parts_of_stages`].

use std::collections::VecDeque;

use ninescope_engine::Access;
use ninescope_engine::meter::Parts;
use ninescope_kernel::Ns;
use ninescope_model::{Cause, DieId, Lpa, OCCUPANCIES, Op, Ppa, Request, Source};

use super::banks::BankVisit;
use super::dies::{Acts, DieBook};

/// A page access on its way through a die.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The die.
    pub die: DieId,
    /// On whose behalf.
    pub source: Source,
    /// The host command that a read is for.
    pub slot: u32,
    /// The unit written in part whose rest is read, the first one of several.
    pub lpa: Lpa,
    /// How many such units there are, which follow each other.
    pub rests: u8,
    /// The first unit that it accesses.
    pub ppa: Ppa,
    /// When it was asked for, before it was queued where the firmware takes time to decide that [ns].
    pub asked: Ns,
    /// When it was queued [ns].
    pub queued: Ns,
    /// When the die took it up [ns].
    pub dispatched: Ns,
    /// When it got the channel [ns].
    pub issued: Ns,
    /// When the array began [ns].
    pub sent: Ns,
    /// When the array ended [ns].
    pub ended: Ns,
    /// When its data began to leave, and had left [ns].
    pub data_from: Ns,
    /// When its data had left [ns].
    pub data_until: Ns,
    /// When its first decode began; 0 where nothing is decoded [ns].
    pub decoder_taken: Ns,
    /// When its first decode ended; 0 where nothing is decoded [ns].
    pub decoded: Ns,
    /// Of the rest of a unit written in part: when the controller had it, however often it was read; never until then [ns].
    pub there: Ns,
    /// It did not decode and is read again: what follows is told as one.
    pub repeats: bool,
    /// When the rest of its parity stripe was asked for; 0 where it was not [ns].
    pub degraded: Ns,
    /// It is being read again: its times are those of the first time.
    pub again: bool,
}

impl Default for Visit {
    fn default() -> Self {
        Self::begun(Ns::ZERO, DieId(0), &Access::default())
    }
}

impl Visit {
    /// One of what lay on a die that failed, which goes to no die now.
    pub fn missing(now: Ns, die: DieId, access: &Access) -> Self {
        Self {
            issued: now,
            sent: now,
            ended: now,
            data_from: now,
            data_until: now,
            decoder_taken: now,
            decoded: now,
            ..Self::begun(now, die, access)
        }
    }

    /// A visit that leaves the queue now.
    pub fn begun(now: Ns, die: DieId, access: &Access) -> Self {
        let Access { ppa, source, slot, lpa, rests, queued, .. } = *access;
        let later = Ns::ZERO;
        Self {
            die,
            source,
            slot,
            lpa,
            rests,
            ppa,
            asked: queued,
            queued,
            dispatched: now,
            issued: later,
            sent: later,
            ended: later,
            data_from: later,
            data_until: later,
            decoder_taken: later,
            decoded: later,
            there: Ns::NEVER,
            repeats: false,
            degraded: Ns::ZERO,
            again: false,
        }
    }

    /// What it is to each of the units written in part whose rests are read.
    pub fn of_each_rest(self) -> impl Iterator<Item = Self> {
        let first = self.lpa.0;
        (0..u32::from(self.rests)).map(move |number| Self { lpa: Lpa(first + number), rests: 1, ..self })
    }
}

/// A wait for a place, until a die had room.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its beginning [ns].
    pub from: Ns,
    /// Its end [ns].
    pub until: Ns,
    /// The die that had room then.
    pub die: DieId,
    /// The request that got the place.
    pub request: u64,
}

/// A part of a write that waits for places, unit after unit.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The unit that is placed next.
    pub next: Lpa,
    /// Since when that unit waits [ns].
    pub since: Ns,
    /// Why.
    pub cause: Cause,
    /// How long something was before it in the line, from and until [ns].
    pub in_line: Option<(Ns, Ns)>,
    /// Its waits at the head of the line, in order.
    pub steps: Vec<Step>,
    /// The rest of the unit was read again when its turn came.
    pub in_vain: bool,
}

impl Wait {
    /// The next unit got its place on a die. It was at the head of the line since `head`. Returns how it waited there.
    pub fn placed(&mut self, now: Ns, (die, request): (DieId, u64), head: Ns) -> Option<Step> {
        self.next = Lpa(self.next.0.wrapping_add(1));
        if self.since < head {
            self.in_line = Some((self.since, head));
        }
        let step = Step { from: self.since.max(head), until: now, die, request };
        self.since = now;
        if step.from == step.until {
            return None;
        }
        self.steps.push(step);
        Some(step)
    }
}

/// A time that a request spent in one place.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What it is called: a cause's name, or one of those for waits (`die_queue`, `bank_queue`, `link_wait`).
    pub name: &'static str,
    /// The cause it counts for; `None`: what `held` says, occupancy by occupancy.
    pub cause: Option<Cause>,
    /// Its beginning [ns].
    pub from: Ns,
    /// Its end [ns].
    pub until: Ns,
    /// The die that the request waits for or works on.
    pub die: Option<DieId>,
    /// Of a wait for a place: writes of other requests waited before it. Where no die is named, `acts` are those of the dies
    /// that what was before it waited for.
    pub behind_others: bool,
    /// What that die did meanwhile.
    pub acts: Acts,
}

/// A completed request.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its number, from 0 in the order of submission.
    pub id: u64,
    /// What was asked; `submitted` is when.
    pub request: Request,
    /// When it completed [ns].
    pub completed: Ns,
    /// Where its latency went: the device's own account.
    pub parts: Parts,
    /// Its stages in order, those that took no time left out.
    pub stages: Vec<Stage>,
}

/// All that was seen of a request.
pub struct Journey<'a> {
    pub now: Ns,
    pub id: u64,
    pub request: Request,
    pub fetched: Ns,
    pub entry: Option<Ns>,
    pub link_in: Option<(Ns, Ns)>,
    pub link_out: Ns,
    /// How long it was in DRAM before it set out [ns].
    pub in_dram: Ns,
    /// How long the firmware decided what it asks for, and then about its units [ns].
    pub decided: [Ns; 2],
    /// Of a write: how its last unit waited for a place.
    pub wait: Option<&'a Wait>,
    /// The waits of all writes at the head of the line, in order.
    pub line: &'a VecDeque<Step>,
    /// Of a write: the reads of the rest of that unit, one after the other.
    pub partial: Vec<&'a Visit>,
    /// Of a write: how that unit waited for a place before it was read again, wait by wait.
    pub waits_before: Vec<&'a Wait>,
    /// The page access it waited for last.
    pub visit: Option<&'a Visit>,
    /// The same where that was an access of a slot.
    pub bank: Option<BankVisit>,
    pub parts: &'a Parts,
    /// What the dies did, if that is wanted.
    pub dies: Option<&'a DieBook>,
    /// How many stretches of dies may be listed.
    pub most: usize,
}

impl Account {
    /// From submission to completion [ns].
    pub fn latency(&self) -> Ns {
        self.completed - self.request.submitted
    }

    /// The same with the wait until the host was told, of which its completion was on the link until then.
    #[must_use]
    pub fn told(mut self, crossed: Option<Ns>, now: Ns, parts: &Parts) -> Self {
        let mut from = self.completed;
        for (cause, until) in [(Cause::Link, crossed.unwrap_or(from)), (Cause::Interrupt, now)] {
            if until > from {
                let (name, cause, acts) = (cause.name(), Some(cause), Acts { request: self.id, ..Acts::default() });
                self.stages.push(Stage { name, cause, from, until, die: None, behind_others: false, acts });
                from = until;
            }
        }
        Self { completed: now, parts: *parts, ..self }
    }

    /// The parts again, summed over the stages and what held the dies. Of the waits for a channel the device alone says how
    /// much of them was its own doing.
    pub fn parts_of_stages(&self) -> Parts {
        let (mut parts, mut own) = (Parts::default(), Ns::ZERO);
        for stage in &self.stages {
            if stage.cause == Some(Cause::OwnParts) {
                own += stage.until - stage.from;
            } else if let Some(cause) = stage.cause {
                parts.add(cause, stage.until - stage.from);
            } else {
                parts.add_die_wait(&stage.acts.sums());
                own += stage.acts.own();
            }
        }
        let own_of_channel = Ns(self.parts.of(Cause::OwnParts)).saturating_since(own);
        parts.take(Cause::Channel, own_of_channel.min(Ns(parts.of(Cause::Channel))));
        parts.add(Cause::OwnParts, own + own_of_channel);
        parts
    }

    /// Describes a request.
    pub fn of(journey: &Journey<'_>) -> Self {
        let Journey { id, request, now, parts, .. } = *journey;
        let mut stages = Stages { journey, list: Vec::new(), reached: request.submitted, most: journey.most };
        stages.until(journey.fetched, Cause::HostQueue);
        stages.until(stages.reached + stages.part(Cause::Waking), Cause::Waking);
        stages.until(journey.entry.unwrap_or_default(), Cause::Link);
        stages.until(stages.reached + stages.part(Cause::Fetch), Cause::Fetch);
        stages.until(stages.reached + stages.part(Cause::CommandProcessing), Cause::CommandProcessing);
        stages.until(stages.reached + journey.decided[0], Cause::Firmware);
        match request.op {
            Op::Read => stages.read(),
            Op::Write => stages.write(),
            Op::Flush => stages.until(now, Cause::ProgramWait),
            Op::Trim => stages.until(stages.reached + journey.decided[1], Cause::Firmware),
        }
        let stages = stages.list;
        Self { id, request, completed: now, parts: *parts, stages }
    }
}

/// Stages that are put one behind the other.
struct Stages<'a> {
    journey: &'a Journey<'a>,
    list: Vec<Stage>,
    /// The end of the last one.
    reached: Ns,
    /// How many more stretches of dies may be listed.
    most: usize,
}

impl Stages<'_> {
    fn part(&self, cause: Cause) -> Ns {
        Ns(self.journey.parts.of(cause))
    }

    fn until(&mut self, until: Ns, cause: Cause) {
        self.named(cause.name(), Some(cause), until, None, false);
    }

    fn no_acts(&self) -> Acts {
        Acts { request: self.journey.id, most: self.most, ..Acts::default() }
    }

    /// A stage that ends at `until`; with `looks` it says what the die did meanwhile.
    fn named(&mut self, name: &'static str, cause: Option<Cause>, until: Ns, die: Option<DieId>, looks: bool) {
        let from = self.reached;
        if until <= from {
            return;
        }
        self.reached = until;
        let mut acts = self.no_acts();
        if let (true, Some(die), Some(dies)) = (looks, die, self.journey.dies) {
            dies.between(die, from, until, &mut acts);
        }
        self.most -= acts.listed.len();
        self.list.push(Stage { name, cause, from, until, die, behind_others: false, acts });
    }

    /// A wait behind what was before it in the line. Where that is of other writes, the stage says so; where it is of the
    /// request itself, that waited for room for its own pages.
    fn in_line(&mut self, until: Ns, cause: Cause) {
        let line = self.journey.line;
        let first = line.partition_point(|step| step.until <= self.reached);
        let steps: Vec<Step> = line.range(first..).take_while(|step| step.from < until).copied().collect();
        let is_own = |step: &Step| step.request == self.journey.id;
        let runs: Vec<&[Step]> = steps.chunk_by(|one, next| is_own(one) == is_own(next)).collect();
        for (position, run) in runs.iter().enumerate() {
            let last = position + 1 == runs.len();
            let end = run.last().filter(|_| !last).map_or(until, |step| step.until);
            self.behind(run, end, cause);
        }
        if runs.is_empty() {
            self.behind(&[], until, cause);
        }
    }

    /// A wait for the dies that the writes before it waited for, one after the other.
    fn behind(&mut self, steps: &[Step], until: Ns, cause: Cause) {
        let from = self.reached;
        self.reached = until;
        let mut acts = self.no_acts();
        for step in steps {
            if let Some(dies) = self.journey.dies {
                dies.between(step.die, step.from.max(from), step.until.min(until), &mut acts);
            }
        }
        self.most -= acts.listed.len();
        let behind_others = steps.first().is_none_or(|step| step.request != self.journey.id);
        let (name, cause) = (cause.name(), Some(cause));
        self.list.push(Stage { name, cause, from, until, die: None, behind_others, acts });
    }

    /// Its data come into DRAM and its entries of the map are looked up there, and those that are missing are read.
    fn sets_out(&mut self) {
        self.until(self.reached + self.journey.in_dram, Cause::Dram);
        self.until(self.reached + self.journey.decided[1], Cause::Firmware);
        self.until(self.reached + self.part(Cause::MappingRead), Cause::MappingRead);
    }

    /// How long the data of what it ended with were in DRAM: of a read before they left, of a write before they were sent.
    fn data_in_dram(&self) -> Ns {
        self.part(Cause::Dram).saturating_since(self.journey.in_dram)
    }

    fn read(&mut self) {
        let Journey { visit, link_out, now, .. } = *self.journey;
        self.sets_out();
        if let Some(bank) = &self.journey.bank {
            self.at_bank(bank);
        } else if let Some(visit) = visit {
            let die = Some(visit.die);
            self.until(self.reached + (visit.queued - visit.asked), Cause::Firmware);
            self.named("die_queue", None, visit.dispatched, die, true);
            self.named("channel", Some(Cause::Channel), visit.issued, die, false);
            self.named("command_array", Some(Cause::CommandArray), visit.ended, die, false);
            self.named("channel", Some(Cause::Channel), visit.data_from, die, false);
            self.named("transfer", Some(Cause::Transfer), visit.data_until, die, false);
            for cause in [Cause::DecoderWait, Cause::Decode, Cause::Retry, Cause::Refetch, Cause::DegradedRead] {
                self.until(self.reached + self.part(cause), cause);
            }
        }
        // What it has moved up, where it waits for that and has no data from below.
        self.until(self.reached + self.part(Cause::MigrationWait), Cause::MigrationWait);
        self.until(self.reached + self.data_in_dram(), Cause::Dram);
        self.named("link_wait", Some(Cause::Link), link_out, None, false);
        self.until(now, Cause::Link);
    }

    /// An access of a slot, which ends a read but for its way to the host, and a write.
    fn at_bank(&mut self, bank: &BankVisit) {
        self.until(bank.queued, Cause::MigrationWait);
        if bank.in_dram {
            // All else that a bank of a cache does and waits for is one cause, which is told with what follows.
            self.until(self.reached + self.part(Cause::OwnParts), Cause::OwnParts);
            self.until(self.reached + self.part(Cause::Encode), Cause::Encode);
        } else {
            self.at_storage_class_memory(bank);
        }
        for cause in [Cause::DecoderWait, Cause::Decode, Cause::Retry, Cause::Refetch] {
            self.until(self.reached + self.part(cause), cause);
        }
    }

    fn at_storage_class_memory(&mut self, bank: &BankVisit) {
        self.bank_queue(bank);
        self.until(bank.issued, Cause::Channel);
        if bank.data_until == Ns::ZERO {
            self.until(Ns(bank.sent.0 - self.part(Cause::Transfer).0), Cause::CommandArray);
            self.until(bank.sent, Cause::Transfer);
            self.until(self.reached + self.part(Cause::Encode), Cause::Encode);
        }
        self.until(bank.ended, Cause::CommandArray);
        self.until(bank.data_from, Cause::Channel);
        self.until(bank.data_until, Cause::Transfer);
    }

    /// The wait for a bank, with the copies that it makes before a write. What held it meanwhile the device's own account says.
    fn bank_queue(&mut self, bank: &BankVisit) {
        let from = self.reached;
        if bank.asked <= from {
            return;
        }
        let lanes = self.journey.parts.lanes();
        let mut acts = self.no_acts();
        acts.earlier.copy_from_slice(&lanes[..OCCUPANCIES]);
        let behind_others = Ns(acts.earlier.iter().sum());
        acts.earlier_own = (bank.asked - from).saturating_since(behind_others);
        self.reached = bank.asked;
        let (name, until) = ("bank_queue", bank.asked);
        self.list.push(Stage { name, cause: None, from, until, die: None, behind_others: false, acts });
    }

    fn write(&mut self) {
        let Journey { visit, link_in, now, .. } = *self.journey;
        if let Some((from, until)) = link_in {
            self.named("link_wait", Some(Cause::Link), from, None, false);
            self.until(until, Cause::Link);
        }
        self.sets_out();
        if let Some(bank) = &self.journey.bank {
            self.at_bank(bank);
            self.until(self.reached + self.data_in_dram(), Cause::Dram);
            return;
        }
        if visit.is_none() && self.part(Cause::MigrationWait) + self.part(Cause::ProgramWait) > Ns::ZERO {
            // It went through a cache, or waited for what it moved.
            self.until(self.reached + self.part(Cause::MigrationWait), Cause::MigrationWait);
            self.until(now, Cause::ProgramWait);
            return;
        }
        // It may have ended with data that came into DRAM: beside all else, or when they had got their place in the buffer.
        let came_in = if visit.is_none() { self.data_in_dram() } else { Ns::ZERO };
        if came_in > Ns::ZERO && now <= self.reached + came_in {
            return self.until(now, Cause::Dram);
        }
        for rest in &self.journey.partial {
            self.read_of_rest(rest);
        }
        let (asked, die) = (visit.map_or(Ns(now.0 - came_in.0), |visit| visit.asked), visit.map(|visit| visit.die));
        self.stalls(Ns(asked.0 - self.part(Cause::ProgramFailure).0), die);
        // Its page was queued before, and went elsewhere because a program failed.
        self.named(Cause::ProgramFailure.name(), Some(Cause::ProgramFailure), asked, die, true);
        let Some(visit) = visit else { return self.until(now, Cause::Dram) };
        self.until(visit.queued, Cause::Firmware);
        self.named("die_queue", None, visit.dispatched, die, true);
        self.until(self.reached + self.data_in_dram(), Cause::Dram);
        self.named("channel", Some(Cause::Channel), visit.issued, die, false);
        let data_from = Ns(visit.sent.0 - self.part(Cause::Transfer).0);
        self.named("command_array", Some(Cause::CommandArray), data_from, die, false);
        self.named("transfer", Some(Cause::Transfer), visit.sent, die, false);
        self.until(self.reached + self.part(Cause::Encode), Cause::Encode);
        // A program may be suspended: what its die did meanwhile says so.
        self.named("command_array", Some(Cause::CommandArray), now, die, true);
    }

    /// The rest of a unit written in part is read.
    fn read_of_rest(&mut self, visit: &Visit) {
        if let Some(wait) = self.journey.waits_before.iter().find(|wait| wait.since == self.reached) {
            self.until(visit.asked, wait.cause);
        }
        self.until(self.reached + (visit.queued - visit.asked), Cause::Firmware);
        let (die, itself) = (Some(visit.die), Some(Cause::ReadModifyWrite));
        self.named("die_queue", None, visit.dispatched, die, true);
        self.named("channel", Some(Cause::Channel), visit.issued, die, false);
        self.named("read_modify_write", itself, visit.ended, die, false);
        self.named("channel", Some(Cause::Channel), visit.data_from, die, false);
        self.named("read_modify_write", itself, visit.data_until, die, false);
        if visit.decoded == Ns::ZERO {
            // What stays in the controller is there when the data of all planes have left.
            self.named("channel", Some(Cause::Channel), visit.there, die, false);
            return;
        }
        self.until(visit.decoder_taken, Cause::DecoderWait);
        self.until(visit.decoded, Cause::Decode);
        // Read twice, the unit may have been clean once, and then dirty: each read has a recovery of its own.
        if visit.degraded != Ns::ZERO {
            self.until(visit.degraded, Cause::Retry);
            self.until(visit.there, Cause::DegradedRead);
            return;
        }
        let recovery = if visit.repeats { Cause::Retry } else { Cause::Refetch };
        self.until(visit.there, recovery);
    }

    /// Waits for places up to `until`. What is left of the time at the end was a wait for `last`, if for anyone.
    fn stalls(&mut self, until: Ns, last: Option<DieId>) {
        let [of_allocation, of_buffer] =
            [Cause::AllocationStall, Cause::BufferStall].map(|cause| self.part(cause) > Ns::ZERO);
        let cause = match self.journey.wait {
            Some(wait) if of_allocation && of_buffer => wait.cause,
            _ if of_allocation => Cause::AllocationStall,
            _ => Cause::BufferStall,
        };
        if let Some(wait) = self.journey.wait {
            if let Some((_, end)) = wait.in_line.filter(|&(from, end)| from == self.reached && end <= until) {
                self.in_line(end, cause);
            }
            // A step that began before another unit's time was counted is not the request's.
            for step in &wait.steps {
                if step.from == self.reached && step.until <= until {
                    self.named(cause.name(), Some(cause), step.until, Some(step.die), true);
                }
            }
        }
        self.named(cause.name(), Some(cause), until, last, true);
    }
}
