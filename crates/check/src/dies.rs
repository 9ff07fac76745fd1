//! Dies: one command at a time, pulse time conserved over suspensions, every nanosecond in one ledger.

use ninescope_engine::{Utilization, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand, SLC_PAGE_TYPE};
use ninescope_model::{DieId, Occupancy};

use crate::marks::{Mark, Marks};
use crate::page_types::PageTypesBook;
use crate::part::{erase_time, page_time, planes_fit};
use crate::planes::PlaneBook;
use crate::registers::RegisterBook;
use crate::rule::{Checked, require};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Takes a command.
    #[default]
    Free,
    /// A command is sent or in the array.
    Array,
    /// Read data wait in the registers.
    Sensed,
    /// Read data leave until `data_out_until`.
    DataOut,
    /// Voltages recover after a stop.
    Recovering,
    /// Voltages ramp up before a resume.
    Resuming,
}

/// What names a command among those of its die, and the cells it works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    kind: CommandKind,
    planes: u8,
    page: [u32; 4],
    /// The issuer's number of its first plane.
    transaction: u32,
    block: [u32; 4],
    /// The type that it says its pages are of.
    page_type: Option<u8>,
}

impl Work {
    #[inline]
    fn of(command: &FlashCommand) -> Self {
        let FlashCommand { kind, planes, page, block, page_type, .. } = *command;
        let transaction = command.transaction[planes.trailing_zeros() as usize & 3];
        Self { kind, planes, page, transaction, block, page_type }
    }

    /// Whether it is a program, and not of blocks of one bit in a cell.
    fn is_of_wordline(&self) -> bool {
        self.kind == CommandKind::Program && self.page_type != Some(SLC_PAGE_TYPE)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    work: Work,
    /// Array time it needs [ns].
    total: Ns,
    /// Pulses or loops this consists of.
    segments: u32,
    /// Array time of the stretches that are over [ns].
    done: Ns,
    /// When the present stretch began [ns].
    began: Ns,
    suspensions: u32,
}

impl Operation {
    /// What is lost is what was done of the loop, no more and no less.
    fn begin_loop_anew(&mut self, now: Ns, id: DieId, lost: Ns) -> Checked {
        let (total, segments) = (u128::from(self.total.0), u128::from(self.segments));
        let ends_of_loops = (0..=segments).map(|end| Ns((total * end / segments) as u64));
        let begin = ends_of_loops.filter(|&end| end <= self.done).max().unwrap_or(Ns::ZERO);
        let kind = self.work.kind;
        require!(
            kind == CommandKind::Erase && self.done.saturating_since(begin) == lost,
            PulseTime,
            now,
            "die {id}: a {kind:?} stopped after {} of {} in {segments} loops loses {lost}, not what it did of its loop",
            self.done,
            self.total
        );
        self.done = begin;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    phase: Phase,
    running: Operation,
    parked: Option<Operation>,
    data_out_until: Ns,
    /// Since when it works, or its voltages move [ns].
    since: Ns,
    /// Sending, working in the array and moving data out, since measuring began [ns].
    working: u64,
    /// Recovering and ramping, since measuring began [ns].
    overhead: u64,
    /// Since when it waits for power, if it does, and how long it has since measuring began [ns].
    power_awaited: Option<Ns>,
    without_power: u64,
    /// The same while the drive was hot.
    throttled: u64,
}

impl Die {
    /// It waited for power until now, if it did.
    fn waited_for_power(&mut self, now: Ns, hot: bool) {
        if let Some(since) = self.power_awaited {
            *if hot { &mut self.throttled } else { &mut self.without_power } += (now - since).0;
            self.power_awaited = Some(now);
        }
    }
}

/// All dies.
#[derive(Debug, Default)]
pub struct Dies {
    each: Vec<Die>,
    /// Planes that read each by itself, where they do.
    planes: Option<PlaneBook>,
    /// Second registers, where pages leave from them.
    registers: Option<RegisterBook>,
    page_types: PageTypesBook,
    /// The drive is throttled because it is hot.
    is_hot: bool,
    /// Pages of a wordline are programmed in one go.
    one_shot: bool,
}

impl Dies {
    pub fn started(&mut self, view: &View<'_>) {
        self.each = vec![Die::default(); view.ftl.geometry().dies() as usize];
        self.planes = PlaneBook::started(view);
        self.registers = RegisterBook::started(view);
        self.one_shot = view.ftl.geometry().pages_per_program > 1;
    }

    /// A command is taken up, for which nothing was to be sent yet.
    pub fn dispatched(&mut self, view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Checked {
        if let Some(registers) = &mut self.registers {
            let die = &mut self.each[command.die.index()];
            if die.phase != Phase::Sensed {
                return registers.require_none(view.now, command.die, "a command");
            }
            // What it has sensed is in the other register from now on.
            die.phase = Phase::Free;
            return registers.followed(view.now, command, die.running.work.transaction);
        }
        let Some(planes) = &mut self.planes else { return Ok(()) };
        if command.kind != CommandKind::Read {
            return planes.require_none(view.now, command.die, "a command that takes all of it");
        }
        planes.dispatched(view.now, command)?;
        if planes.reads_beside(command) {
            marks.hit(Mark::ReadBesideRead);
        }
        Ok(())
    }

    /// A plane that reads by itself is given a read: its die has nothing to do for itself, but perhaps something that is parked.
    fn plane_issued(&mut self, view: &View<'_>, command: &FlashCommand, begins: Ns, marks: &mut Marks) -> Checked {
        let (now, id) = (view.now, command.die);
        let die = &self.each[id.index()];
        require!(
            die.phase == Phase::Free,
            DieDoubleBooked,
            now,
            "die {id} is given {command:?} while it is {:?} with {:?}",
            die.phase,
            die.running.work
        );
        if let Some(parked) = &die.parked {
            beside_parked(view, command, &parked.work, marks)?;
        }
        self.page_types.issued(view, command, marks)?;
        let (plane, needed) = (command.planes.trailing_zeros(), page_time(view, command, marks));
        let total = view.nand.plane_read(id, plane).map_or(Ns::ZERO, |read| read.total);
        require!(
            total == needed,
            PulseTime,
            now,
            "die {id}, plane {plane}: a read of page {} is to take {total}, and its type takes {needed}",
            command.first_page()
        );
        match &mut self.planes {
            Some(planes) => planes.issued(view, command, (begins, needed)),
            None => Ok(()),
        }
    }

    /// Whether a command is a read of a plane by itself.
    fn is_of_plane(&self, command: &FlashCommand) -> bool {
        self.planes.is_some() && command.kind == CommandKind::Read
    }

    /// The command of a die is sent then. Returns for how long a page moves to a second register before the array begins.
    pub fn page_moves_first(&mut self, die: DieId, sent: Ns) -> Ns {
        self.registers.as_mut().map_or(Ns::ZERO, |registers| registers.issued(die, sent))
    }

    /// A page moves to a second register until then.
    pub fn page_moves(&mut self, now: Ns, command: &FlashCommand, until: Ns) -> Checked {
        if let Some(registers) = &mut self.registers {
            return registers.moves(now, command, until);
        }
        require!(false, SecondRegister, now, "{command:?} moves to a register that its die has not");
        Ok(())
    }

    /// Whether the data of a read leave from a second register.
    pub fn leaves_from_register(&self, command: &FlashCommand) -> bool {
        self.registers.as_ref().is_some_and(|registers| registers.has(command))
    }

    #[inline]
    pub fn issued(&mut self, view: &View<'_>, command: &FlashCommand, begins: Ns, marks: &mut Marks) -> Checked {
        if self.is_of_plane(command) {
            return self.plane_issued(view, command, begins, marks);
        }
        let (now, id) = (view.now, command.die);
        if let Some(planes) = &mut self.planes {
            planes.require_none(now, id, "a command that takes all of it")?;
        }
        let die = &mut self.each[id.index()];
        let free = die.phase == Phase::Free || (die.phase == Phase::DataOut && die.data_out_until <= now);
        require!(
            free,
            DieDoubleBooked,
            now,
            "die {id} is given {command:?} while it is {:?} with {:?} (data leave until {})",
            die.phase,
            die.running.work,
            die.data_out_until
        );
        if let Some(parked) = &die.parked {
            beside_parked(view, command, &parked.work, marks)?;
        }
        let (total, segments) =
            view.nand.running(id).map_or((Ns::ZERO, 1), |operation| (operation.total, operation.segments));
        let work = Work::of(command);
        planes_fit(view, command, marks)?;
        self.page_types.issued(view, command, marks)?;
        let (least, most) = if command.kind == CommandKind::Erase {
            erase_time(view, command, segments)
        } else {
            let needed = page_time(view, command, marks);
            (needed, needed)
        };
        require!(
            (least..=most).contains(&total),
            PulseTime,
            now,
            "die {id}: {:?} of page {} is to take {total} in the array, and by type, layer and wear it takes {least} to {most}",
            command.kind,
            command.first_page()
        );
        die.running = Operation { work, total, segments, done: Ns::ZERO, began: begins, suspensions: 0 };
        die.phase = Phase::Array;
        die.since = now;
        Ok(())
    }

    #[inline]
    pub fn ended(&mut self, now: Ns, command: &FlashCommand, marks: &mut Marks) -> Checked {
        if let (CommandKind::Read, Some(planes)) = (command.kind, &mut self.planes) {
            return planes.ended(now, command);
        }
        let die = &mut self.each[command.die.index()];
        let running = &die.running;
        require!(
            die.phase == Phase::Array && running.work == Work::of(command),
            DieDoubleBooked,
            now,
            "die {} ends {command:?} while it is {:?} with {:?}",
            command.die,
            die.phase,
            running.work
        );
        let done = running.done + now.saturating_since(running.began);
        require!(
            done == running.total && now >= running.began,
            PulseTime,
            now,
            "die {}: {:?} of page {} ends after {done} of array time, it needs {} ({} suspensions)",
            command.die,
            command.kind,
            command.first_page(),
            running.total,
            running.suspensions
        );
        die.working += (now - die.since).0;
        die.phase = if command.kind == CommandKind::Read { Phase::Sensed } else { Phase::Free };
        if self.registers.as_ref().is_some_and(|registers| registers.is_taken(now, command.die)) {
            marks.hit(Mark::WaitsForRegister);
        }
        Ok(())
    }

    #[inline]
    pub fn data_out(&mut self, now: Ns, command: &FlashCommand, held: Ns) -> Checked {
        if let Some(planes) = &mut self.planes {
            return planes.data_out(now, command, held);
        }
        if let Some(registers) = &mut self.registers
            && registers.data_out(now, command, held)?
        {
            return Ok(());
        }
        let die = &mut self.each[command.die.index()];
        require!(
            die.phase == Phase::Sensed && die.running.work == Work::of(command),
            DieDoubleBooked,
            now,
            "die {} sends data of {command:?} while it is {:?} with {:?}",
            command.die,
            die.phase,
            die.running.work
        );
        die.phase = Phase::DataOut;
        die.data_out_until = held;
        die.working += (held - now).0;
        Ok(())
    }

    // ---- suspending -------------------------------------------------------------------------------

    fn enter(&mut self, now: Ns, id: DieId, from: Phase, parked: bool, to: Phase) -> Checked {
        let die = &mut self.each[id.index()];
        require!(
            die.phase == from && die.parked.is_some() == parked,
            SuspendOrder,
            now,
            "die {id} goes to {to:?} from {:?}, {} operation parked",
            die.phase,
            if die.parked.is_some() { "an" } else { "no" }
        );
        die.phase = to;
        Ok(())
    }

    pub fn suspended(&mut self, now: Ns, id: DieId, lost: Ns, marks: &mut Marks) -> Checked {
        self.enter(now, id, Phase::Array, false, Phase::Recovering)?;
        let die = &mut self.each[id.index()];
        let mut operation = die.running;
        let kind = operation.work.kind;
        operation.done += now.saturating_since(operation.began);
        operation.suspensions += 1;
        require!(
            kind != CommandKind::Read && now >= operation.began && operation.done < operation.total,
            SuspendOrder,
            now,
            "die {id}: a {kind:?} is suspended after {} of {}",
            operation.done,
            operation.total
        );
        if lost > Ns::ZERO {
            operation.begin_loop_anew(now, id, lost)?;
            marks.hit(Mark::RestartedLoop);
        }
        marks.hit(if kind == CommandKind::Erase { Mark::SuspendedErase } else { Mark::SuspendedHostProgram });
        if self.one_shot && operation.work.is_of_wordline() {
            marks.hit(Mark::SuspendedWordline);
        }
        if operation.suspensions > 1 {
            marks.hit(Mark::SuspendedTwice);
        }
        die.parked = Some(operation);
        die.working += (now - die.since).0;
        die.since = now;
        Ok(())
    }

    pub fn recovered(&mut self, now: Ns, id: DieId) -> Checked {
        self.enter(now, id, Phase::Recovering, true, Phase::Free)?;
        let die = &mut self.each[id.index()];
        die.overhead += (now - die.since).0;
        Ok(())
    }

    pub fn resume_began(&mut self, now: Ns, id: DieId) -> Checked {
        if let Some(planes) = &mut self.planes {
            planes.require_none(now, id, "to resume")?;
        }
        let die = &mut self.each[id.index()];
        if die.phase == Phase::DataOut && die.data_out_until <= now {
            die.phase = Phase::Free;
        }
        self.enter(now, id, Phase::Free, true, Phase::Resuming)?;
        self.each[id.index()].since = now;
        Ok(())
    }

    pub fn resumed(&mut self, now: Ns, id: DieId) -> Checked {
        self.enter(now, id, Phase::Resuming, true, Phase::Array)?;
        let die = &mut self.each[id.index()];
        die.overhead += (now - die.since).0;
        if let Some(parked) = die.parked.take() {
            die.running = Operation { began: now, ..parked };
        }
        die.since = now;
        Ok(())
    }

    /// A die begins to wait for power, or need not any more.
    pub fn for_power(&mut self, now: Ns, id: DieId, waits: bool) -> Checked {
        let is_hot = self.is_hot;
        let die = &mut self.each[id.index()];
        let is_free = die.phase == Phase::Free || (die.phase == Phase::DataOut && die.data_out_until <= now);
        require!(
            is_free && die.power_awaited.is_some() != waits,
            DieDoubleBooked,
            now,
            "die {id} waits for power, or need not any more, while it is {:?}",
            die.phase
        );
        die.waited_for_power(now, is_hot);
        die.power_awaited = waits.then_some(now);
        Ok(())
    }

    /// The drive is hot, or is not any more.
    pub fn throttled(&mut self, now: Ns, is_hot: bool) {
        let was_hot = std::mem::replace(&mut self.is_hot, is_hot);
        self.each.iter_mut().for_each(|die| die.waited_for_power(now, was_hot));
    }

    // ---- time -------------------------------------------------------------------------------------

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        if let Some(registers) = &self.registers {
            registers.compare(view)?;
        }
        self.planes.as_ref().map_or(Ok(()), |planes| planes.compare(view))
    }

    pub fn measuring_began(&mut self, now: Ns) {
        if let Some(planes) = &mut self.planes {
            planes.measuring_began(now);
        }
        if let Some(registers) = &mut self.registers {
            registers.measuring_began();
        }
        for die in &mut self.each {
            die.working = if die.phase == Phase::DataOut { die.data_out_until.saturating_since(now).0 } else { 0 };
            (die.overhead, die.without_power, die.throttled) = (0, 0, 0);
            die.power_awaited = die.power_awaited.map(|_| now);
            die.since = now;
        }
    }

    pub fn finished(&mut self, view: &View<'_>, used: &Utilization) -> Checked {
        let now = view.now;
        for index in 0..self.each.len() {
            if let Some(registers) = &self.registers {
                registers.require_none(now, DieId(index as u32), "nothing, at the end,")?;
            }
            if let Some(planes) = &mut self.planes {
                planes.require_none(now, DieId(index as u32), "nothing, at the end,")?;
                self.each[index].working += planes.working(now, index);
            }
        }
        for (index, (die, ledger)) in self.each.iter().zip(&used.dies).enumerate() {
            let idle = die.phase == Phase::Free || (die.phase == Phase::DataOut && die.data_out_until <= now);
            require!(
                idle && die.parked.is_none(),
                Leftover,
                now,
                "die {index} is {:?} with {:?} at the end, parked: {}",
                die.phase,
                die.running.work,
                die.parked.is_some()
            );
            let total: u64 = ledger.iter().sum();
            require!(
                total == used.elapsed.0,
                BusyTime,
                now,
                "die {index}: the lanes of its ledger sum to {total} ns of {} ns",
                used.elapsed.0
            );
            let lane = |occupancy: Occupancy| ledger[occupancy as usize];
            let overhead = lane(Occupancy::SuspendOverhead);
            let (without_power, throttled) = (lane(Occupancy::WaitingForPower), lane(Occupancy::ThrottledByHeat));
            let held = overhead + without_power + throttled + lane(Occupancy::WaitingForChannel);
            let working = total - held - lane(Occupancy::Idle);
            require!(
                (working, overhead, without_power, throttled)
                    == (die.working, die.overhead, die.without_power, die.throttled),
                BusyTime,
                now,
                "die {index} worked {} ns, spent {} ns on suspending and waited {} ns for power and {} ns while it was hot, its ledger says {working}, {overhead}, {without_power} and {throttled} ns",
                die.working,
                die.overhead,
                die.without_power,
                die.throttled
            );
        }
        Ok(())
    }
}

/// Beside a parked operation only reads run, and none of the cells it left half written.
fn beside_parked(view: &View<'_>, command: &FlashCommand, parked: &Work, marks: &mut Marks) -> Checked {
    let (now, die) = (view.now, command.die);
    let pages = if parked.is_of_wordline() { view.ftl.geometry().pages_per_program } else { 1 };
    require!(
        command.kind == CommandKind::Read,
        SuspendOrder,
        now,
        "die {die} is given a {:?} beside a parked {:?}",
        command.kind,
        parked.kind
    );
    marks.hit(if parked.kind == CommandKind::Erase { Mark::ReadBesideErase } else { Mark::ReadBesideProgram });
    for plane in command.addressed_planes() {
        let same_block = parked.planes >> plane & 1 == 1 && parked.block[plane] == command.block[plane];
        let is_programmed = (parked.page[plane]..parked.page[plane] + pages).contains(&command.page[plane]);
        let same_cells = same_block && (parked.kind == CommandKind::Erase || is_programmed);
        require!(
            !same_cells,
            SuspendOrder,
            now,
            "die {die}, plane {plane}, block {}: page {} is read while its {:?} is suspended",
            command.block[plane],
            command.page[plane],
            parked.kind
        );
        if same_block {
            marks.hit(Mark::ReadOfParkedGroup);
        }
    }
    Ok(())
}
