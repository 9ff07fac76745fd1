//! How much dies have to do: for allocations that choose by it, and only where they are about to choose.

use ninescope_ftl::policies::page_allocation::Load;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand, Nand};
use ninescope_model::{DieId, Geometry, Lpa, Pool};

use super::Flash;
use crate::sched::Phase;
use crate::transaction::{CLASSES, QueueClass};

/// What loads are measured with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loads {
    measure: Load,
    /// What an access of each class takes on a die, channel included [ns].
    times: [u64; CLASSES],
    /// What a page takes on the channel [ns].
    transfer: u64,
}

impl Loads {
    /// None where the allocation asks for none.
    pub fn new(measure: Option<Load>, geometry: &Geometry, nand: &Nand) -> Option<Self> {
        let measure = measure?;
        let command = nand.command_address_time(&FlashCommand { planes: 1, ..FlashCommand::default() });
        let page = command + nand.data_time(u64::from(geometry.page_bytes));
        let mean = nand.mean_times();
        // The pages of a wordline that is programmed in one go are one access.
        let pages = u64::from(geometry.pages_per_program);
        let loads = nand.timing().program_load.0 * (pages - 1);
        let times = QueueClass::ALL.map(|class| match class {
            QueueClass::HostProgram | QueueClass::MoveProgram => page.0 * pages + loads + mean.program.0,
            QueueClass::Erase => (command + mean.erase).0,
            QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead => (page + mean.read).0,
        });
        Some(Self { measure, times, transfer: page.0 })
    }
}

/// A class of accesses that take as long as a command.
fn class_of(kind: CommandKind) -> QueueClass {
    match kind {
        CommandKind::Read => QueueClass::HostRead,
        CommandKind::Program => QueueClass::HostProgram,
        CommandKind::Erase => QueueClass::Erase,
    }
}

impl Flash {
    /// Tells the allocation how much dies have to do, if it is about to choose one for a unit.
    #[inline]
    pub(super) fn tell_loads(&mut self, now: Ns, lpa: Lpa) {
        if let Some(loads) = self.loads
            && self.ftl.asks_for_loads(lpa)
        {
            self.tell_loads_by(loads, now);
        }
    }

    #[inline(never)]
    fn tell_loads_by(&mut self, loads: Loads, now: Ns) {
        for die in (0..self.geometry.dies()).map(DieId) {
            let load = match loads.measure {
                Load::Queued => self.accesses_on(die, now),
                Load::FreeAt => self.free_at(die, now, &loads),
            };
            for pool in self.geometry.pools_of_die(die) {
                self.ftl.load_is(Pool(pool), load);
            }
        }
    }

    /// Accesses that wait on a die, run there or are suspended [count].
    fn accesses_on(&self, die: DieId, now: Ns) -> u64 {
        let unit = &self.dies[die.0];
        let waiting: u32 = unit.queued().iter().sum();
        let works =
            u64::from(!unit.is_through(now)) + u64::from(self.planes_reading(die) + self.pages_in_register(die));
        u64::from(waiting) + works + u64::from(self.nand.parked(die).is_some())
    }

    /// When a die will be through with what waits, runs and is suspended there [ns].
    fn free_at(&self, die: DieId, now: Ns, loads: &Loads) -> u64 {
        let unit = &self.dies[die.0];
        let waiting: u64 = unit.queued().iter().zip(&loads.times).map(|(&count, time)| u64::from(count) * time).sum();
        let (kind, transfer) = (unit.work.command.kind, loads.transfer);
        let runs_until = match unit.phase() {
            _ if unit.is_through(now) => self.planes_sense_until(die, now.0),
            Phase::DataOut => unit.data_out_end().0,
            Phase::Array => self.nand.end_time(die).max(now).0 + if kind == CommandKind::Read { transfer } else { 0 },
            Phase::WaitingToSend => now.0 + loads.times[class_of(kind) as usize],
            Phase::Sensed | Phase::WaitingForDataOut => now.0 + transfer,
            // Its voltages change for what is suspended, or goes on.
            _ => now.0,
        };
        let parked = self.nand.parked(die).map_or(0, |operation| operation.total.0 - operation.done.0);
        runs_until + waiting + parked
    }
}
