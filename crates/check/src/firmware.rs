//! Cores of the firmware: which decisions must be made is worked out from requests, page accesses and moves, each once, and how long
//! it takes; cores are laid beside one another anew, in the order of asking.

use std::collections::BTreeMap;

use ninescope_engine::meter::Parts;
use ninescope_engine::{
    Access, Dealing, Decision, FirmwareConfig, FirmwareCounters, SimulationError, Step, Utilization, View,
};
use ninescope_kernel::{NONE, Ns};
use ninescope_model::{Cause, Lpa, Op, Request, Source, ZoneCommand};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};
use crate::transfers::compare;

/// A command inside.
#[derive(Clone, Debug, Default)]
struct Command {
    request: Request,
    /// How long its own decisions took, waits for cores among that [ns], and when the last one ends.
    spent: u64,
    until: Ns,
    /// What was decided about it.
    made: [bool; 3],
    /// By unit written in part: how long the reads of its rest waited to be scheduled [ns].
    rests: BTreeMap<u32, u64>,
}

/// An access that was scheduled.
#[derive(Clone, Copy, Debug, Default)]
struct Scheduled {
    asked: Ns,
    until: Ns,
    /// It is read again, which nobody schedules.
    again: bool,
}

/// What a request has looked up, and how many places it has chosen: of units each, and of zones those that it is about and the place of the
/// first unit.
fn things_of(view: &View<'_>, request: &Request) -> [u32; 2] {
    let per_unit = u64::from(view.ftl.geometry().sectors_per_unit());
    let (first, last) = (request.lba.0 / per_unit, (request.lba.0 + u64::from(request.sectors.max(1)) - 1) / per_unit);
    let things = |size: u64| (last / size - first / size + 1) as u32;
    match (view.ftl.zones().map(|zones| u64::from(zones.layout().size())), request.op) {
        (_, Op::Flush) => [0, 0],
        (None, Op::Write) => [things(1), things(1)],
        (None, _) => [things(1), 0],
        (Some(size), Op::Read) => [things(size), 0],
        (Some(_), Op::Write) => [1, 1],
        (Some(_), Op::Trim) => [1, u32::from(request.remark.zone() == ZoneCommand::Commit)],
    }
}

/// The checker's own account.
#[derive(Debug)]
pub struct FirmwareBook {
    config: FirmwareConfig,
    /// When each core is free.
    free_at: Vec<Ns>,
    busy: Vec<u64>,
    /// By queue: when the step that began last was asked for.
    asked: Vec<Ns>,
    commands: Vec<Command>,
    accesses: BTreeMap<u32, Scheduled>,
    /// By pool: when the choice of its next victim was, or will be, made.
    choices: BTreeMap<u32, Ns>,
    /// Units that were decided about, and those that were placed or dropped.
    units_decided: u64,
    units_moved: u64,
    /// Of a page of moves that stays in the controller: units that are to be given up yet, which were placed before.
    units_kept: u32,
    counted: FirmwareCounters,
}

impl FirmwareBook {
    /// Of a drive whose decisions take cores, if it is one.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let config = *view.firmware?.config();
        let cores = config.cores as usize;
        Some(Self {
            config,
            free_at: vec![Ns::ZERO; cores],
            busy: vec![0; cores],
            asked: vec![Ns::ZERO; cores],
            commands: Vec::new(),
            accesses: BTreeMap::new(),
            choices: BTreeMap::new(),
            units_decided: 0,
            units_moved: 0,
            units_kept: 0,
            counted: FirmwareCounters::default(),
        })
    }

    fn takes_time(&self, decision: Decision) -> bool {
        self.config.cycles[decision as usize] > 0
    }

    // ---- cores -------------------------------------------------------------------------------------

    /// The cores that may take up a decision.
    fn cores_for(&self, decision: Decision) -> std::ops::Range<usize> {
        let cores = self.free_at.len();
        if self.config.dealing == Dealing::Shared {
            return 0..cores;
        }
        // Host commands, the map, flash, collection.
        let role = match decision {
            Decision::Command => 0,
            Decision::LookUp | Decision::Allocation => 1,
            Decision::Transaction => 2,
            Decision::Victim | Decision::Move => 3,
        };
        role % cores..role % cores + 1
    }

    /// A core takes up a step.
    pub fn taken(&mut self, view: &View<'_>, step: &Step, (core, until): (u32, Ns), marks: &mut Marks) -> Checked {
        let (now, cores) = (view.now, self.cores_for(step.decision));
        let earliest = self.free_at[cores.clone()].iter().copied().min().unwrap_or_default();
        let (queue, begins) = (cores.start, step.asked.max(earliest));
        require!(
            cores.contains(&(core as usize)) && self.free_at[core as usize] <= now,
            FirmwareCores,
            now,
            "{step:?} is on core {core}, of cores {cores:?} that are free at {:?}",
            self.free_at
        );
        require!(
            now == begins && step.asked >= self.asked[queue],
            FirmwareCores,
            now,
            "{step:?} begins, where it was to begin at {begins} behind what was asked for at {}",
            self.asked[queue]
        );
        let things = match step.decision {
            Decision::LookUp | Decision::Allocation | Decision::Move => u128::from(step.count),
            Decision::Command | Decision::Transaction | Decision::Victim => 1,
        };
        let cycles = u128::from(self.config.cycles[step.decision as usize]) * things;
        let time = (cycles * 1_000_000_000).div_ceil(u128::from(self.config.clock.0)) as u64;
        require!(
            (until - now).0 == time && cycles > 0,
            FirmwareCores,
            now,
            "{step:?} takes {} ns, {cycles} cycles take {time} ns",
            (until - now).0
        );
        if step.asked < now {
            marks.hit(Mark::WaitForCore);
        }
        self.free_at[core as usize] = until;
        self.busy[core as usize] += time;
        self.asked[queue] = step.asked;
        self.count(step, now);
        self.decides(view, step, until)
    }

    fn count(&mut self, step: &Step, now: Ns) {
        let counted = &mut self.counted;
        *match step.decision {
            Decision::Command => &mut counted.commands,
            Decision::LookUp => &mut counted.look_ups,
            Decision::Allocation => &mut counted.allocations,
            Decision::Transaction => &mut counted.transactions,
            Decision::Victim => &mut counted.victims,
            Decision::Move => &mut counted.moves,
        } += 1;
        counted.waits += u64::from(step.asked < now);
    }

    // ---- decisions ---------------------------------------------------------------------------------

    /// What a step is about is to be decided, and was not before.
    fn decides(&mut self, view: &View<'_>, step: &Step, until: Ns) -> Checked {
        match step.decision {
            Decision::Command | Decision::LookUp | Decision::Allocation => self.about_command(view, step, until),
            Decision::Transaction => {
                for &access in step.accesses() {
                    self.accesses.insert(access, Scheduled { asked: step.asked, until, again: false });
                }
                Ok(())
            }
            Decision::Victim => {
                let before = self.choices.insert(step.number, until);
                let pool = step.number;
                require!(before.is_none(), FirmwareAccount, view.now, "a victim of pool {pool} is chosen twice");
                Ok(())
            }
            Decision::Move => {
                self.units_decided += u64::from(step.count);
                Ok(())
            }
        }
    }

    fn about_command(&mut self, view: &View<'_>, step: &Step, until: Ns) -> Checked {
        let command = &mut self.commands[step.number as usize];
        let request = command.request;
        let [looked_up, placed] = things_of(view, &request);
        let (at, fits) = match step.decision {
            Decision::Command => (0, step.count == 1),
            Decision::LookUp => (1, step.count == looked_up && looked_up > 0),
            _ => (2, step.count == placed && placed > 0),
        };
        let is_first = !std::mem::replace(&mut command.made[at], true);
        require!(
            fits && is_first && step.asked >= command.until,
            FirmwareAccount,
            view.now,
            "{step:?} is about {request:?}, of {looked_up} things to look up and {placed} places, of which something was decided until {}",
            command.until
        );
        command.spent += (until - step.asked).0;
        command.until = until;
        Ok(())
    }

    pub fn fetched(&mut self, slot: u32, request: &Request) {
        if self.commands.len() <= slot as usize {
            self.commands.resize(slot as usize + 1, Command::default());
        }
        self.commands[slot as usize] = Command { request: *request, ..Command::default() };
    }

    /// A unit of a command is found, placed or forgotten: all was decided before.
    pub fn sets_out(&self, view: &View<'_>, slot: u32) -> Checked {
        let command = &self.commands[slot as usize];
        let [looked_up, placed] = things_of(view, &command.request);
        let wanted = [(Decision::Command, 1), (Decision::LookUp, looked_up), (Decision::Allocation, placed)];
        let mut wanted = wanted.iter().filter(|(decision, things)| *things > 0 && self.takes_time(*decision));
        let missing = wanted.find(|(decision, _)| !command.made[*decision as usize]);
        require!(
            missing.is_none() && command.until <= view.now,
            FirmwareAccount,
            view.now,
            "{:?} sets out, {missing:?} was not decided, or later: {}",
            command.request,
            command.until
        );
        Ok(())
    }

    /// An access is to be read again.
    pub fn repeats(&mut self, access: u32) {
        if let Some(scheduled) = self.accesses.get_mut(&access) {
            scheduled.again = true;
        }
    }

    /// A die takes up accesses: each was queued when it had been scheduled.
    pub fn dispatched(&mut self, view: &View<'_>, accesses: &[Access]) -> Checked {
        if !self.takes_time(Decision::Transaction) {
            return Ok(());
        }
        for access in accesses {
            let Some(scheduled) = self.accesses.get(&access.transaction).copied() else {
                require!(false, FirmwareAccount, view.now, "{access:?} was not scheduled");
                continue;
            };
            if scheduled.again {
                continue;
            }
            require!(
                access.queued == scheduled.until,
                FirmwareAccount,
                view.now,
                "{access:?} was queued, and scheduled until {}",
                scheduled.until
            );
            if access.source == Source::ReadModifyWrite {
                let rests = &mut self.commands[access.slot as usize].rests;
                for Lpa(unit) in access.units_in_part() {
                    *rests.entry(unit).or_default() += (scheduled.until - scheduled.asked).0;
                }
            }
        }
        Ok(())
    }

    /// A group of a pool is to be emptied because of its space.
    pub fn victim_chosen(&mut self, view: &View<'_>, pool: u32) -> Checked {
        if self.takes_time(Decision::Victim) {
            let made = self.choices.remove(&pool);
            require!(
                made.is_some_and(|made| made <= view.now),
                FirmwareAccount,
                view.now,
                "a victim of pool {pool} is chosen, the choice was to be made by {made:?}"
            );
        }
        Ok(())
    }

    /// A unit that was read to be moved was placed, or dropped.
    pub fn unit_moved(&mut self, view: &View<'_>) -> Checked {
        self.units_moved += 1;
        require!(
            !self.takes_time(Decision::Move) || self.units_moved <= self.units_decided,
            FirmwareAccount,
            view.now,
            "{} units were moved, {} were decided about",
            self.units_moved,
            self.units_decided
        );
        Ok(())
    }

    /// A page finds no other place than where its program failed, and so many moves are given up with it.
    pub fn page_kept(&mut self, moves: u32) {
        self.units_kept += moves;
    }

    /// A unit is not moved: it finds no place, or no other one.
    pub fn unit_given_up(&mut self, view: &View<'_>) -> Checked {
        match self.units_kept.checked_sub(1) {
            Some(left) => {
                self.units_kept = left;
                Ok(())
            }
            None => self.unit_moved(view),
        }
    }

    /// A command is over, with this access as its last.
    pub fn completed(&self, view: &View<'_>, slot: u32, parts: &Parts, access: u32) -> Checked {
        let command = &self.commands[slot as usize];
        if command.request.op != Op::Flush {
            self.sets_out(view, slot)?;
        }
        let of_access = match access {
            NONE => 0,
            access => self.accesses.get(&access).map_or(0, |scheduled| (scheduled.until - scheduled.asked).0),
        };
        let (said, own) = (parts.of(Cause::Firmware), command.spent + of_access);
        // Of a unit written in part, the read of its rest was scheduled too, where the command ended with that unit.
        let with_rest = command.rests.values().any(|rest| said == own + rest);
        require!(
            said == own || with_rest,
            FirmwareAccount,
            view.now,
            "the command of slot {slot} was decided about for {own} ns and {:?}, {said} ns are told",
            command.rests
        );
        Ok(())
    }

    // ---- the whole ---------------------------------------------------------------------------------

    pub fn measuring_began(&mut self, now: Ns) {
        self.counted = FirmwareCounters::default();
        for (busy, free_at) in self.busy.iter_mut().zip(&self.free_at) {
            *busy = free_at.saturating_since(now).0;
        }
    }

    pub fn finished(&self, view: &View<'_>, used: &Utilization) -> Result<(), SimulationError> {
        let now = view.now;
        require!(
            self.free_at.iter().all(|free_at| *free_at <= now),
            Leftover,
            now,
            "cores work until {:?}",
            self.free_at
        );
        let (decided, moved) = (self.units_decided, self.units_moved);
        require!(
            !self.takes_time(Decision::Move) || decided == moved,
            FirmwareAccount,
            now,
            "{decided} units were decided about, {moved} were moved"
        );
        let said = view.firmware.map(|firmware| *firmware.counters()).unwrap_or_default();
        require!(said == self.counted, Ledger, now, "firmware counted {said:?}, seen was {:?}", self.counted);
        require!(used.cores.len() == self.busy.len(), Ledger, now, "{} cores are told of", used.cores.len());
        for (&busy, &told) in self.busy.iter().zip(&used.cores) {
            compare(now, "a core", busy, told, used.elapsed)?;
        }
        Ok(())
    }
}
