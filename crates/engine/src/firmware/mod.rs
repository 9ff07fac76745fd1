//! The firmware's cores, as those see them who have a decision to make: each decision is a step that takes cycles of a core, the
//! first asked for first.
//!
//! Knows how long a step takes and who waited for it, not what is decided: whoever asks is told when its step has ended.

mod cores;

use ninescope_kernel::{NONE, Ns, Rate};
use ninescope_model::BlockGroup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use cores::Cores;

/// Pages that are given to their dies by one decision, at most: those of a stripe.
const PAGES_MAX: usize = 4;
/// The stripe of what is none.
const NO_STRIPE: (BlockGroup, u32) = (BlockGroup(NONE), NONE);

/// How steps are dealt to cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dealing {
    /// From one queue, to whichever core is free.
    #[default]
    Shared,
    /// Each role has its core: host commands, the map, flash, collection. With fewer cores than roles these begin anew with the
    /// first core.
    ByRole,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Decision {
    /// What a host command asks for.
    Command,
    /// Where the units of a command lie.
    LookUp,
    /// Where the units of a write are to lie.
    Allocation,
    /// When a page is read or programmed, or a group erased: it goes to its die.
    Transaction,
    /// Which group is emptied.
    Victim,
    /// Whether units that were read for collection are still to be moved, and where to.
    Move,
}

/// Number of decisions.
pub const DECISIONS: usize = 6;

impl Decision {
    /// Who makes it, where each role has its core.
    pub fn role(self) -> u32 {
        match self {
            Self::Command => 0,
            Self::LookUp | Self::Allocation => 1,
            Self::Transaction => 2,
            Self::Victim | Self::Move => 3,
        }
    }
}

/// The cores of a drive, and what decisions take of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmwareConfig {
    /// Cores [count].
    pub cores: u32,
    /// Cycles of each per second [1/s].
    pub clock: Rate,
    /// How steps are dealt to them.
    pub dealing: Dealing,
    /// Cycles of each decision, in the order of [`Decision`]: of a look-up, an allocation and a move for each unit.
    pub cycles: [u32; DECISIONS],
}

impl FirmwareConfig {
    /// How long a core takes for a decision about so many things.
    pub fn time(&self, decision: Decision, count: u32) -> Ns {
        let count = if decision == Decision::Transaction { 1 } else { count };
        self.clock.burst(u64::from(self.cycles[decision as usize]) * u64::from(count))
    }
}

/// A decision that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is decided.
    pub decision: Decision,
    /// About which command, pool, or page that was read; of transactions the first.
    pub number: u32,
    /// Units that it is about; of transactions these.
    pub count: u32,
    /// Page accesses, or an erase, that are given to their die together.
    pub accesses: [u32; PAGES_MAX],
    /// Of programs, which stripe of which group they are of; `NONE` for none.
    pub stripe: (BlockGroup, u32),
    /// When it was asked for.
    pub asked: Ns,
}

impl Step {
    /// One about so many units.
    pub fn of(decision: Decision, number: u32, count: u32, asked: Ns) -> Self {
        Self { decision, number, count, accesses: [NONE; PAGES_MAX], stripe: NO_STRIPE, asked }
    }

    /// One about an access.
    pub fn of_access(access: u32, stripe: (BlockGroup, u32), asked: Ns) -> Self {
        let mut accesses = [NONE; PAGES_MAX];
        accesses[0] = access;
        Self { accesses, stripe, ..Self::of(Decision::Transaction, access, 1, asked) }
    }

    /// The accesses that it is about.
    pub fn accesses(&self) -> &[u32] {
        let count = if self.decision == Decision::Transaction { self.count as usize } else { 0 };
        &self.accesses[..count]
    }

    /// Takes in another program of the stripe that goes out at this instant. Returns whether it fits.
    fn takes_in(&mut self, other: &Self) -> bool {
        let fits = self.stripe != NO_STRIPE
            && (self.stripe, self.asked) == (other.stripe, other.asked)
            && (self.count as usize) < PAGES_MAX;
        if fits {
            self.accesses[self.count as usize] = other.number;
            self.count += 1;
        }
        fits
    }
}

/// Steps that were made since measuring began, by what was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FirmwareCounters {
    /// Host commands that were taken up.
    pub commands: u64,
    /// Commands whose units were looked up.
    pub look_ups: u64,
    /// Writes whose units were given places.
    pub allocations: u64,
    /// Times that page accesses, or an erase, were given to a die.
    pub transactions: u64,
    /// Choices of a group to be emptied.
    pub victims: u64,
    /// Pages read for collection that were decided about.
    pub moves: u64,
    /// Steps that had to wait for a core.
    pub waits: u64,
}

impl FirmwareCounters {
    fn count(&mut self, step: &Step, waited: bool) {
        *match step.decision {
            Decision::Command => &mut self.commands,
            Decision::LookUp => &mut self.look_ups,
            Decision::Allocation => &mut self.allocations,
            Decision::Transaction => &mut self.transactions,
            Decision::Victim => &mut self.victims,
            Decision::Move => &mut self.moves,
        } += 1;
        self.waits += u64::from(waited);
    }
}

/// The firmware of a drive.
#[derive(Debug)]
pub struct Firmware {
    config: FirmwareConfig,
    cores: Cores,
    counters: FirmwareCounters,
    /// By command inside: its steps, waits for cores among that [ns].
    of_command: Vec<Ns>,
    /// By transaction: the same of its step [ns].
    of_access: Vec<Ns>,
}

impl Firmware {
    /// Cores at rest.
    pub fn new(config: &FirmwareConfig) -> Self {
        Self {
            config: *config,
            cores: Cores::new(config),
            counters: FirmwareCounters::default(),
            of_command: Vec::new(),
            of_access: Vec::new(),
        }
    }

    /// What it was made with.
    pub fn config(&self) -> &FirmwareConfig {
        &self.config
    }

    // ---- steps -------------------------------------------------------------------------------------

    /// Whether a decision takes any time.
    #[inline]
    pub(crate) fn takes_time(&self, decision: Decision) -> bool {
        self.config.cycles[decision as usize] > 0
    }

    /// A decision is asked for now.
    pub(crate) fn ask(&mut self, step: Step) {
        self.cores.push(step);
    }

    /// The next step that has ended by now.
    pub(crate) fn next_ended(&mut self, now: Ns) -> Option<Step> {
        let step = self.cores.next_ended(now)?;
        let time = now - step.asked;
        match step.decision {
            Decision::Command | Decision::LookUp | Decision::Allocation => {
                *row(&mut self.of_command, step.number) += time;
            }
            Decision::Transaction => {
                for &access in step.accesses() {
                    *row(&mut self.of_access, access) = time;
                }
            }
            Decision::Victim | Decision::Move => {}
        }
        Some(step)
    }

    /// The next step that a core takes up now, with that core and when it ends.
    pub(crate) fn next_begun(&mut self, now: Ns) -> Option<(Step, u32, Ns)> {
        let (step, core, until) = self.cores.next_begun(now, |step| self.config.time(step.decision, step.count))?;
        self.counters.count(&step, step.asked < now);
        Some((step, core, until))
    }

    /// What was to be programmed in a group has another place: decisions about its programs are not waited for any more. Returns these
    /// programs, in their order.
    #[cold]
    pub(crate) fn take_back(&mut self, group: BlockGroup) -> Vec<u32> {
        let mut taken = Vec::new();
        self.cores.take_back(group, |step| taken.extend_from_slice(step.accesses()));
        for &access in &taken {
            *row(&mut self.of_access, access) = Ns::ZERO;
        }
        taken
    }

    /// When the next step ends.
    pub(crate) fn next_end(&self) -> Option<Ns> {
        self.cores.next_end()
    }

    /// How many steps wait or are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.cores.under_way()
    }

    // ---- where time goes ---------------------------------------------------------------------------

    /// How long a command that ends was here by itself, and with the access that it ended with, `NONE` for none.
    pub(crate) fn time_of(&self, command: u32, access: u32) -> Ns {
        self.of_command.get(command as usize).copied().unwrap_or_default() + self.time_of_access(access)
    }

    /// How long an access was here before it was queued on its die, nothing if it is here.
    pub(crate) fn time_of_access(&self, access: u32) -> Ns {
        self.of_access.get(access as usize).copied().unwrap_or_default()
    }

    /// A command is no more.
    pub(crate) fn forget(&mut self, command: u32) {
        *row(&mut self.of_command, command) = Ns::ZERO;
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// What was counted since measuring began.
    pub fn counters(&self) -> &FirmwareCounters {
        &self.counters
    }

    /// Counts from `now` on.
    pub(crate) fn begin_measuring(&mut self, now: Ns) {
        self.counters = FirmwareCounters::default();
        self.cores.begin_measuring(now);
    }

    /// How long each core was busy until `now`.
    pub fn busy_until(&self, now: Ns) -> impl Iterator<Item = Ns> + '_ {
        self.cores.busy_until(now)
    }
}

/// The row of a thing in a table that grows to hold it.
fn row(table: &mut Vec<Ns>, index: u32) -> &mut Ns {
    if table.len() <= index as usize {
        table.resize(index as usize + 1, Ns::ZERO);
    }
    &mut table[index as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firmware(cores: u32, dealing: Dealing) -> Firmware {
        let cycles = [100, 10, 20, 50, 1_000, 5];
        Firmware::new(&FirmwareConfig { cores, clock: Rate(500_000_000), dealing, cycles })
    }

    fn begun(firmware: &mut Firmware, now: u64) -> Vec<(u32, u32, u64)> {
        let next = || firmware.next_begun(Ns(now)).map(|(step, core, until)| (step.number, core, until.0));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn steps_are_taken_up_in_the_order_of_asking_by_whichever_core_is_free() {
        let mut firmware = firmware(2, Dealing::Shared);
        for (number, decision) in [(1, Decision::Command), (2, Decision::LookUp), (3, Decision::Command)] {
            firmware.ask(Step::of(decision, number, 1, Ns(0)));
        }
        assert_eq!(begun(&mut firmware, 0), [(1, 0, 200), (2, 1, 20)]);
        assert_eq!(firmware.next_end(), Some(Ns(20)));
        assert_eq!(firmware.next_ended(Ns(20)).map(|step| step.number), Some(2));
        assert!(firmware.next_ended(Ns(20)).is_none());
        assert_eq!(begun(&mut firmware, 20), [(3, 1, 220)]);
        assert_eq!((firmware.counters().commands, firmware.counters().waits), (2, 1));
        assert_eq!(firmware.busy_until(Ns(120)).collect::<Vec<_>>(), [Ns(120), Ns(120)]);
    }

    #[test]
    fn by_role_a_step_waits_for_its_core_though_others_are_free() {
        let mut firmware = firmware(2, Dealing::ByRole);
        for (number, decision) in [(1, Decision::Command), (2, Decision::Transaction), (3, Decision::Victim)] {
            firmware.ask(Step::of(decision, number, 1, Ns(0)));
        }
        // With two cores flash shares that of host commands, and collection that of the map.
        assert_eq!(begun(&mut firmware, 0), [(1, 0, 200), (3, 1, 2_000)]);
        assert_eq!(firmware.next_ended(Ns(200)).map(|step| step.number), Some(1));
        assert_eq!(begun(&mut firmware, 200), [(2, 0, 300)]);
    }

    #[test]
    fn pages_of_a_stripe_that_go_out_together_are_one_step() {
        let mut firmware = firmware(1, Dealing::Shared);
        for (access, page) in [(4, 7), (5, 7), (6, 8), (9, NONE), (10, NONE)] {
            let stripe = if page == NONE { NO_STRIPE } else { (BlockGroup(1), page) };
            firmware.ask(Step::of_access(access, stripe, Ns(0)));
        }
        let mut steps = Vec::new();
        for _ in 0..4 {
            let (step, _, until) =
                firmware.next_begun(steps.last().map_or(Ns(0), |(_, until)| *until)).expect("a step");
            firmware.next_ended(until);
            steps.push((step.accesses().to_vec(), until));
        }
        let expected = [(vec![4, 5], Ns(100)), (vec![6], Ns(200)), (vec![9], Ns(300)), (vec![10], Ns(400))];
        assert_eq!(steps, expected);
        assert_eq!((firmware.time_of_access(5), firmware.time_of_access(10)), (Ns(100), Ns(400)));
    }
}
