//! Commands inside the device: each is taken in once and completes once.

use std::collections::VecDeque;

use ninescope_engine::meter::{Parts, SPLIT, Waits, is_split_whole};
use ninescope_engine::{Lower, View};
use ninescope_ftl::ZoneError;
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Lba, Lpa, Op, Request, ZoneCommand};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// A command from its fetch to its completion.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // independent facts of a command
pub struct Inside {
    /// Its number.
    pub id: u64,
    /// What it asks for.
    pub request: Request,
    /// Its place in the order of all fetches and completions.
    pub invocation: u64,
    /// Units of a write that were placed, or of a TRIM that were forgotten.
    units_done: u32,
    /// When the data of a write is in the controller [ns].
    data_in: Ns,
    /// The job it came from.
    pub lane: u16,
    /// When it was taken in [ns].
    fetched: Ns,
    /// Another command was inside during its life.
    company: bool,
    live: bool,
    /// A zone refused it, or it manages one and forgets nothing.
    pub is_void: bool,
    /// It is answered with an error.
    pub refused: bool,
}

/// Requests of one job.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    inside: u32,
    /// The most it may have inside.
    depth: u32,
    /// Completions since measuring began.
    completed: u64,
}

/// The units a request touches; of a TRIM those it covers.
pub fn units_of(request: &Request, sectors_per_unit: u32) -> std::ops::Range<u32> {
    let sectors = u64::from(sectors_per_unit);
    match request.op {
        Op::Flush => 0..0,
        Op::Trim => {
            let (first, end) = (request.lba.0.div_ceil(sectors), request.end() / sectors);
            first as u32..end.max(first) as u32
        }
        Op::Read | Op::Write => (request.lba.0 / sectors) as u32..request.end().div_ceil(sectors) as u32,
    }
}

/// How many sectors of a unit a request covers.
pub fn sectors_in(request: &Request, lpa: Lpa, sectors_per_unit: u32) -> u64 {
    let first = u64::from(lpa.0) * u64::from(sectors_per_unit);
    request.end().min(first + u64::from(sectors_per_unit)).saturating_sub(request.lba.0.max(first))
}

/// The sectors of a unit that a request covers, one bit each.
pub fn mask_of(request: &Request, lpa: Lpa, sectors_per_unit: u32) -> u32 {
    let (first, sectors) = (u64::from(lpa.0) * u64::from(sectors_per_unit), u64::from(sectors_per_unit));
    let from = request.lba.0.saturating_sub(first).min(sectors);
    let to = request.end().saturating_sub(first).min(sectors);
    if to <= from { 0 } else { (((1_u64 << (to - from)) - 1) << from) as u32 }
}

/// Sectors of a unit of the drive: a page where there are two media, a sector where there is no flash.
pub fn sectors_per_unit(view: &View<'_>) -> u32 {
    match view.tier {
        Some(_) => view.scm.layout().medium(0).sectors_per_slot,
        None => view.ftl.geometry().sectors_per_unit(),
    }
}

/// Whether TRIMs forget: memory that is overwritten in place does not.
pub fn forgets(view: &View<'_>) -> bool {
    view.scm.layout().banks() == 0 || view.tier.is_some_and(|part| part.lower() == Lower::Flash)
}

/// All commands inside, by slot.
#[derive(Debug, Default)]
pub struct Requests {
    slots: Vec<Inside>,
    lanes: Vec<Lane>,
    next_id: u64,
    /// Fetches and completions so far: an order finer than time.
    order: u64,
    inside: u64,
    /// The slot of the command that has been alone inside so far.
    alone: Option<u32>,
    /// Invocations in order, those of completed commands not yet taken out: `(invocation, slot)`.
    open: VecDeque<(u64, u32)>,
    /// Integral of the commands inside over time, up to `integrated` [command ns].
    integral: u128,
    integrated: Ns,
    /// Sum of submission to completion since measuring began [ns].
    latency_sum: u128,
    /// Sum of fetch to completion of the commands with which their requests completed [ns].
    device_sum: u128,
    /// A request was taken in as several commands.
    split: bool,
    completed: u64,
    warmed_up: bool,
}

impl Requests {
    fn integrate(&mut self, now: Ns) {
        self.integral += u128::from(self.inside) * u128::from((now - self.integrated).0);
        self.integrated = now;
    }

    pub fn started(&mut self, lane_depths: &[u32]) {
        self.lanes = lane_depths.iter().map(|&depth| Lane { depth, ..Lane::default() }).collect();
    }

    /// One more request of a job is inside: it has room for it.
    fn enters_lane(&mut self, now: Ns, id: u64, lane: u16) -> Checked {
        let Some(entry) = self.lanes.get_mut(lane as usize) else {
            return Err(crate::Rule::LaneDepth.violated(now, format!("request {id} is of job {lane}, which is none")));
        };
        entry.inside += 1;
        let Lane { inside, depth, .. } = *entry;
        require!(
            inside <= depth,
            LaneDepth,
            now,
            "request {id} is number {inside} of job {lane}, whose depth is {depth}"
        );
        Ok(())
    }

    /// A command is taken in, the first one of its request or a later one.
    pub fn fetched(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (id, lane): (u64, u16),
        request: Request,
        first: bool,
    ) -> Checked {
        let now = view.now;
        if first {
            self.enters_lane(now, id, lane)?;
        } else {
            self.split = true;
        }
        require!(id == self.next_id, RequestLifecycle, now, "request {id} taken in where {} is next", self.next_id);
        require!(request.submitted <= now, RequestLifecycle, now, "request {id} taken in before {}", request.submitted);
        self.next_id += 1;
        self.integrate(now);
        self.inside += 1;
        if self.slots.len() <= slot as usize {
            self.slots.resize(slot as usize + 1, Inside::default());
        }
        self.order += 1;
        let company = self.inside > 1;
        if let Some(other) = self.alone.take() {
            self.slots[other as usize].company = true;
        }
        self.alone = (!company).then_some(slot);
        let entry = &mut self.slots[slot as usize];
        require!(!entry.live, RequestLifecycle, now, "request {id} takes slot {slot} of request {}", entry.id);
        *entry = Inside {
            id,
            request,
            invocation: self.order,
            units_done: 0,
            data_in: Ns::ZERO,
            lane,
            fetched: now,
            company,
            live: true,
            is_void: false,
            refused: false,
        };
        self.open.push_back((self.order, slot));
        Ok(())
    }

    /// The command of a slot.
    pub fn get(&self, view: &View<'_>, slot: u32) -> Result<&Inside, ninescope_engine::SimulationError> {
        match self.slots.get(slot as usize) {
            Some(inside) if inside.live => Ok(inside),
            _ => Err(crate::Rule::RequestLifecycle
                .violated(view.now, format!("work for slot {slot}, which holds no request"))),
        }
    }

    /// The data of a write crosses the link until then.
    pub fn data_crosses(&mut self, slot: u32, until: Ns) {
        if let Some(inside) = self.slots.get_mut(slot as usize) {
            inside.data_in = until;
        }
    }

    /// A unit was written or trimmed for a command: it asked for that, and its data had come.
    #[inline]
    pub fn unit_done(&mut self, view: &View<'_>, slot: u32, lpa: Lpa, op: Op) -> Checked {
        self.get(view, slot)?;
        let inside = &mut self.slots[slot as usize];
        let asked = units_of(&inside.request, sectors_per_unit(view));
        require!(
            inside.request.op == op && asked.contains(&lpa.0),
            MisdirectedData,
            view.now,
            "unit {lpa} is changed by a {op:?} of request {}, which is {:?}",
            inside.id,
            inside.request
        );
        require!(
            view.now >= inside.data_in,
            LostData,
            view.now,
            "unit {lpa} of request {} is placed before its data has come at {}",
            inside.id,
            inside.data_in
        );
        inside.units_done += 1;
        Ok(())
    }

    /// A zone answers a command: an append goes where it says, and a reset is of all of it.
    pub fn zone_answered(&mut self, view: &View<'_>, slot: u32, command: ZoneCommand, answer: Result<Lpa, ZoneError>) {
        let per_unit = view.ftl.geometry().sectors_per_unit();
        let size = view.ftl.zones().map_or(0, |zones| zones.layout().size());
        let entry = &mut self.slots[slot as usize];
        let Ok(first) = answer else {
            entry.is_void = true;
            return;
        };
        entry.is_void = !matches!(command, ZoneCommand::None | ZoneCommand::Append | ZoneCommand::Reset);
        if !entry.is_void {
            entry.request.lba = Lba(u64::from(first.0) * u64::from(per_unit));
        }
        if command == ZoneCommand::Reset {
            entry.request.sectors = size * per_unit;
        }
    }

    /// Whether any command inside asks for such a thing.
    pub fn any_inside(&self, asks: impl Fn(&Request) -> bool) -> bool {
        self.slots.iter().any(|inside| inside.live && asks(&inside.request))
    }

    /// The number of the command that has been inside for longest.
    pub fn oldest_inside(&self) -> u64 {
        let live = self.open.iter().filter(|&&(invocation, slot)| {
            let entry = &self.slots[slot as usize];
            entry.live && entry.invocation == invocation
        });
        live.map(|&(_, slot)| self.slots[slot as usize].id).next().unwrap_or(u64::MAX)
    }

    /// A command erases the whole drive, whatever it was of.
    pub fn erases_all(&mut self, view: &View<'_>, slot: u32) -> Checked {
        self.get(view, slot)?;
        let sectors = view.ftl.logical_units().saturating_mul(sectors_per_unit(view));
        let request = &mut self.slots[slot as usize].request;
        (request.lba, request.sectors) = (Lba(0), sectors);
        Ok(())
    }

    /// A command is aborted: nothing is done for it.
    pub fn aborted(&mut self, slot: u32) {
        self.slots[slot as usize].is_void = true;
    }

    /// A command is to be answered with an error.
    pub fn refused(&mut self, slot: u32) {
        self.slots[slot as usize].refused = true;
    }

    /// The command that is or was last in a slot.
    pub fn last_of(&self, slot: u32) -> &Inside {
        &self.slots[slot as usize]
    }

    /// A command completed, the last one of its request or an earlier one. Returns its place in the order of fetches and
    /// completions.
    pub fn completed(
        &mut self,
        view: &View<'_>,
        (slot, id): (u32, u64),
        request: &Request,
        parts: &Parts,
        last: bool,
    ) -> Result<u64, ninescope_engine::SimulationError> {
        let now = view.now;
        let entry = *self.get(view, slot)?;
        let same = entry.id == id && entry.request == *request;
        if !same {
            let what =
                format!("slot {slot} completes request {id} {request:?}, it holds {} {:?}", entry.id, entry.request);
            return Err(crate::Rule::RequestLifecycle.violated(now, what));
        }
        let trims = request.op == Op::Trim && forgets(view);
        if (request.op == Op::Write || trims) && !entry.is_void {
            let asked = units_of(request, sectors_per_unit(view)).len();
            if entry.units_done as usize != asked && !entry.refused {
                let what =
                    format!("request {id} completes with {} of its {asked} units {:?}", entry.units_done, request.op);
                return Err(crate::Rule::LostData.violated(now, what));
            }
        }
        let latency = (now - request.submitted).0;
        let sum: u64 = parts.lanes().iter().sum();
        if sum != latency {
            let what = format!("the parts of request {id} sum to {sum} ns, its latency is {latency} ns");
            return Err(crate::Rule::Attribution.violated(now, what));
        }
        if self.alone == Some(slot) {
            self.alone = None;
        }
        let behind = parts.of(Cause::DieHostRead);
        require!(
            entry.company || behind == 0,
            Blame,
            now,
            "request {id} was alone in the device, and is behind the reads of others for {behind} ns"
        );
        self.integrate(now);
        self.inside -= 1;
        self.completed += 1;
        if last {
            self.latency_sum += u128::from(latency);
            self.device_sum += u128::from((now - entry.fetched).0);
            let lane = &mut self.lanes[entry.lane as usize];
            lane.inside -= 1;
            lane.completed += 1;
        }
        self.slots[slot as usize].live = false;
        self.order += 1;
        while let Some(&(invocation, slot)) = self.open.front() {
            let entry = &self.slots[slot as usize];
            if entry.live && entry.invocation == invocation {
                break;
            }
            self.open.pop_front();
        }
        Ok(self.order)
    }

    /// The earliest fetch of a command that is still inside, in the order of fetches and completions.
    pub fn oldest_invocation(&self) -> u64 {
        self.open.front().map_or(u64::MAX, |&(invocation, _)| invocation)
    }

    /// The place of the latest fetch or completion in their order.
    pub fn order(&self) -> u64 {
        self.order
    }

    /// Commands taken in so far.
    pub fn taken_in(&self) -> u64 {
        self.next_id
    }

    /// Of a request of one of several tenants: whom it waited for sums to what it waited for.
    pub fn waited_behind(
        &self,
        view: &View<'_>,
        (id, tenant): (u64, u16),
        (parts, behind): (&Parts, &[Waits]),
        marks: &mut Marks,
    ) -> Checked {
        let holders = if self.lanes.len() > 1 { self.lanes.len() + 1 } else { 0 };
        let (now, told) = (view.now, behind.len());
        require!(told == holders, Tenants, now, "request {id} waited behind {told} holders, there are {holders}");
        if behind.is_empty() {
            return Ok(());
        }
        for (at, cause) in SPLIT.into_iter().enumerate() {
            let (said, sum) = (parts.of(cause), behind.iter().map(|waits| waits[at]).sum::<u64>());
            // In the processor and on the link a request spends time of its own, too.
            let fits = if is_split_whole(at) { sum == said } else { sum <= said };
            require!(
                fits,
                Tenants,
                now,
                "request {id} spent {said} ns on {}, of which {sum} ns are said to be behind somebody",
                cause.name()
            );
            let mark = match cause {
                Cause::DieMigration => Some(Mark::BehindMigration),
                Cause::DieMapping | Cause::MappingRead => Some(Mark::BehindMap),
                Cause::DieGcRead | Cause::DieGcProgram | Cause::DieErase => Some(Mark::BehindGarbage),
                Cause::AllocationStall => Some(Mark::BehindFullPools),
                _ => None,
            };
            let mut of_others = (0..self.lanes.len()).zip(behind).filter(|&(holder, _)| holder != usize::from(tenant));
            if let (Some(mark), true) = (mark, of_others.any(|(_, waits)| waits[at] > 0)) {
                marks.hit(mark);
            }
        }
        Ok(())
    }

    /// Commands completed so far.
    pub fn completed_count(&self) -> u64 {
        self.completed
    }

    pub fn measuring_began(&mut self) {
        self.latency_sum = 0;
        self.lanes.iter_mut().for_each(|lane| lane.completed = 0);
        self.warmed_up = true;
    }

    /// Nothing is inside, and Little's law holds between what was seen and what the device metered.
    pub fn finished(&mut self, view: &View<'_>) -> Checked {
        let now = view.now;
        self.integrate(now);
        require!(self.inside == 0, Leftover, now, "{} requests never completed", self.inside);
        let meter = view.meter;
        require!(
            meter.latency_sum == self.latency_sum,
            LittlesLaw,
            now,
            "the latencies seen sum to {} ns, those metered to {} ns",
            self.latency_sum,
            meter.latency_sum
        );
        for (index, (seen, metered)) in self.lanes.iter().zip(&meter.lanes).enumerate() {
            let metered: u64 = metered.ops.iter().map(|op| op.latency.count()).sum();
            let seen = seen.completed;
            require!(
                seen == metered,
                LaneDepth,
                now,
                "{seen} requests of job {index} completed, {metered} are metered"
            );
        }
        if !self.warmed_up {
            let metered: u128 = meter.ops.iter().map(|op| op.device_latency.sum()).sum();
            require!(
                metered == self.device_sum,
                LittlesLaw,
                now,
                "the last commands of requests were inside for {} ns, metered are {metered} ns",
                self.device_sum
            );
            require!(
                self.split || metered == self.integral,
                LittlesLaw,
                now,
                "commands inside the device integrate to {} command ns, their times in it sum to {metered} ns",
                self.integral
            );
        }
        Ok(())
    }
}
