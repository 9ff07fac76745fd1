//! Which queue of a die goes next.

use std::fmt::Debug;

use ninescope_kernel::{Fifo, Ns, Slab};
use ninescope_model::{UrgencyClass, policy_registry};

use reads_first::ReadsFirst;

use crate::transaction::{CLASSES, QueueClass, Transaction};

/// What waits on a die. A policy asks for what it needs of it.
#[derive(Clone, Copy, Debug)]
pub struct DieView<'a> {
    /// Which die it is.
    pub die: u32,
    /// Bit `c` is set when class `c` has transactions waiting; at least one is.
    pub waiting: u8,
    /// Host writes wait for garbage collection on this die.
    pub gc_is_urgent: bool,
    pub(crate) queues: &'a [Fifo; CLASSES],
    pub(crate) transactions: &'a Slab<Transaction>,
}

impl DieView<'_> {
    /// Whether transactions of a class wait.
    #[inline]
    pub fn has(&self, class: QueueClass) -> bool {
        self.waiting >> (class as u8) & 1 == 1
    }

    /// When the first transaction of a class was queued; `None` where none waits.
    #[inline]
    pub fn head_queued(&self, class: QueueClass) -> Option<Ns> {
        let queue = &self.queues[class as usize];
        (!queue.is_empty()).then(|| self.transactions[queue.head()].queued)
    }

    /// How many transactions of a class are queued [count].
    #[inline]
    pub fn queued(&self, class: QueueClass) -> u32 {
        self.queues[class as usize].len()
    }

    /// The first of `order` that has something waiting.
    #[inline]
    pub fn first_of(&self, order: &[QueueClass]) -> Option<QueueClass> {
        order.iter().copied().find(|&class| self.has(class))
    }
}

/// Chooses queues. Asked when a die is free and something waits.
pub trait TransactionScheduler: Debug + Send {
    /// The class to serve next, which must have something waiting; `None` leaves the die idle until
    /// something else is queued on it.
    fn pick(&mut self, view: &DieView) -> Option<QueueClass>;

    /// Told once how many dies there are.
    fn dies(&mut self, _count: u32) {}

    /// Of the jobs' classes that have something waiting in a queue of reads or programs, the one that goes first. Asked where it knows
    /// classes, and perhaps more than once before one is taken.
    fn prefers(&self, _die: u32, _queue: QueueClass, _waiting: &dyn Fn(UrgencyClass) -> bool) -> UrgencyClass {
        UrgencyClass::Urgent
    }

    /// A die takes up something of a class.
    fn taken(&mut self, _die: u32, _queue: QueueClass, _class: UrgencyClass) {}
}

/// What a scheduler can be told.
pub trait TransactionSchedulerParameters {
    /// The policy.
    fn build(&self) -> Box<dyn TransactionScheduler>;

    /// Whether the classes of jobs say what is first in a queue.
    fn knows_classes(&self) -> bool {
        false
    }

    /// What is wrong with its parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// Which queue of a die goes next.
    TransactionSchedulerConfig as dyn TransactionSchedulerParameters;
    "reads-first" => reads_first::ReadsFirst, "reads before writes before garbage collection, which passes writes when they wait for it";
    "fifo" => fifo::Fifo, "in the order of arrival, whatever it is";
    "by-class" => by_class::ByClass, "reads first, and among reads, and among programs, by the classes of the jobs that they are for";
    "in-turns" => in_turns::InTurns, "as reads-first, and garbage collection that writes wait for passes them for some accesses at a time";
}

impl TransactionSchedulerConfig {
    pub(crate) fn build(&self) -> Box<dyn TransactionScheduler> {
        self.chosen().build()
    }
}
