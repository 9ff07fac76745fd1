//! Which queue of a die goes next.

use ninescope::engine::QueueClass;
use ninescope::engine::policies::transaction_scheduler::{
    DieView, TransactionScheduler, TransactionSchedulerParameters,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Maker, Policy};

/// Queues of a die by the names that policies in Python know them by, in the order of the classes.
const NAMES: [&str; 6] = ["host-read", "host-program", "move-read", "move-program", "erase", "idle-read"];

fn class_named(name: &str) -> PyResult<QueueClass> {
    let known = NAMES.iter().position(|known| *known == name).map(|index| QueueClass::ALL[index]);
    known.ok_or_else(|| PyValueError::new_err(format!("no queue is named {name:?}; there is {}", NAMES.join(", "))))
}

/// What a number of each class is.
pub fn waiting_counts(count: impl Fn(QueueClass) -> u32) -> [u32; 6] {
    QueueClass::ALL.map(count)
}

/// How many wait in a queue.
pub fn queued_in(counts: &[u32; 6], class: &str) -> PyResult<u32> {
    class_named(class).map(|class| counts[class as usize])
}

/// What waits on a die.
#[pyclass(module = "ninescope._native", frozen)]
pub struct WaitingOnDie {
    #[pyo3(get)]
    die: u32,
    #[pyo3(get)]
    gc_is_urgent: bool,
    queued: [u32; 6],
    heads: [Option<u64>; 6],
}

#[pymethods]
impl WaitingOnDie {
    fn queued(&self, class_: &str) -> PyResult<u32> {
        queued_in(&self.queued, class_)
    }

    fn head_queued(&self, class_: &str) -> PyResult<Option<u64>> {
        class_named(class_).map(|class| self.heads[class as usize])
    }

    fn first_of(&self, classes: Vec<String>) -> PyResult<Option<String>> {
        for class in classes {
            if queued_in(&self.queued, &class)? > 0 {
                return Ok(Some(class));
            }
        }
        Ok(None)
    }
}

impl TransactionSchedulerParameters for Maker {
    fn build(&self) -> Box<dyn TransactionScheduler> {
        Box::new(Scheduler(self.policy(|python| Ok(PyDict::new(python)))))
    }
}

#[derive(Debug)]
struct Scheduler(Policy);

impl TransactionScheduler for Scheduler {
    fn pick(&mut self, view: &DieView) -> Option<QueueClass> {
        let waiting = WaitingOnDie {
            die: view.die,
            gc_is_urgent: view.gc_is_urgent,
            queued: waiting_counts(|class| view.queued(class)),
            heads: QueueClass::ALL.map(|class| view.head_queued(class).map(|time| time.0)),
        };
        let picked = self.0.ask("pick", |policy| {
            let name: Option<String> = policy.call_method1("pick", (waiting,))?.extract()?;
            name.as_deref().map(class_named).transpose()
        });
        if let Some(class) = picked.filter(|&class| !view.has(class)) {
            let problem = format!("pick returned {:?}, of which nothing waits", NAMES[class as usize]);
            self.0.refuse(&problem);
        }
        picked
    }

    fn dies(&mut self, count: u32) {
        self.0.ask("dies", |policy| policy.call_method1("dies", (count,)).map(drop));
    }
}
