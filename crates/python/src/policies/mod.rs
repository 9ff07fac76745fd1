//! Policies that are Python classes: each trait of a policy, answered by an object of a program's own.
//!
//! What a policy is told and what it may answer is written at the classes of `ninescope.extension`, which also read its
//! parameters. Here questions become Python values, and answers are handed on as they are: the engine treats them as those of
//! any other policy.

mod allocation;
mod placement;
mod scheduler;
mod streams;
mod suspend;
mod victims;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use ninescope::kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope::model::Geometry;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value};

use super::ConfigError;

pub use placement::Access;
pub use scheduler::WaitingOnDie;
pub use streams::Written;
pub use suspend::Suspendable;
pub use victims::Candidates;

/// An error of a policy's own, on its way through the engine: it ends the run, and is raised where the run was asked for.
fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(error))
}

/// A policy as messages name it: its class, and the file that it stands in.
fn name_of(policy: &Bound<'_, PyAny>) -> String {
    let class = policy.get_type();
    let file = || -> PyResult<String> {
        let modules = policy.py().import("sys")?.getattr("modules")?;
        modules.get_item(class.getattr("__module__")?)?.getattr("__file__")?.extract()
    };
    let name = class.qualname().map_or_else(|_| String::new(), |name| format!(" {name}"));
    file().map_or_else(|_| format!("policy{name}"), |file| format!("policy{name} of {file}"))
}

/// An error behind a question. Where an answer could not be read, nobody raised it: it becomes one of the input. What a policy
/// raised by itself stays what it is, and says of which policy it is in its attribute `policy`.
fn of_policy(policy: &Bound<'_, PyAny>, asked: &str, error: PyErr) -> PyErr {
    let python = policy.py();
    if error.traceback(python).is_some() {
        // Of an exception that takes no attributes the traceback has to do.
        let _ = error.value(python).setattr("policy", format!("{}, asked {asked}", name_of(policy)));
        return error;
    }
    let problem = ConfigError::new_err(format!("{}, asked {asked}: {}", name_of(policy), error.value(python)));
    problem.set_cause(python, Some(error));
    problem
}

/// The error of a policy's own behind what ended a call.
pub fn raised(payload: Box<dyn Any + Send>) -> Result<PyErr, Box<dyn Any + Send>> {
    payload.downcast::<PyErr>().map(|error| *error)
}

/// Works without the interpreter. What a policy raised is raised here.
pub fn detached<T: Send>(python: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = python.detach(|| catch_unwind(AssertUnwindSafe(work)));
    done.map_err(|payload| raised(payload).unwrap_or_else(|panic| resume_unwind(panic)))
}

/// A class with its parameters: what makes a policy of it, once for each device.
pub struct Maker(Py<PyAny>);

impl Maker {
    /// A policy, told of the drive that it is for.
    fn policy(&self, begin: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyDict>>) -> Policy {
        let made = Python::attach(|python| self.0.call(python, (), Some(&begin(python)?)));
        Policy(made.unwrap_or_else(|error| raise(error)))
    }

    /// What a policy says of itself before it is told of any drive.
    fn says<T>(&self, key: &str) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.policy(|python| Ok(PyDict::new(python))).says(key)
    }
}

/// A policy: an object of one of the classes of `ninescope.extension`.
struct Policy(Py<PyAny>);

impl Policy {
    /// Asks it something, by the name of what it is asked.
    fn ask<T>(&self, asked: &str, question: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|python| {
            let policy = self.0.bind(python);
            question(policy).unwrap_or_else(|error| raise(of_policy(policy, asked, error)))
        })
    }

    /// Refuses an answer.
    fn refuse(&self, problem: &str) -> ! {
        Python::attach(|python| raise(ConfigError::new_err(format!("{}: {problem}", name_of(self.0.bind(python))))))
    }

    /// What it says of itself.
    fn says<T>(&self, key: &str) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
    {
        self.ask(key, |policy| policy.getattr(key)?.extract())
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// A policy that remembers something gives it as bytes, and takes it from there.
impl Snapshot for Policy {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        let state: Vec<u8> = self.ask("save", |policy| policy.call_method0("save")?.extract());
        to.u64(state.len() as u64)?;
        to.bytes(&state)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let mut state = Vec::new();
        // Byte by byte: a damaged length must not ask for more memory than there is.
        for _ in 0..from.u64()? {
            let mut byte = [0];
            from.bytes(&mut byte)?;
            state.push(byte[0]);
        }
        let loaded = Python::attach(|python| self.0.call_method1(python, "load", (PyBytes::new(python, &state),)));
        loaded.map(drop).map_err(|error| SnapshotError::Impossible(error.to_string()))
    }
}

/// The shape of the flash, by the names that it has in a drive's file.
fn shape<'py>(python: Python<'py>, geometry: &Geometry) -> PyResult<Bound<'py, PyDict>> {
    let shape = PyDict::new(python);
    let facts = [
        ("channels", geometry.channels),
        ("dies", geometry.dies()),
        ("planes_per_die", geometry.planes_per_die),
        ("pools", geometry.pools()),
        ("blocks_per_plane", geometry.blocks_per_plane),
        ("pages_per_block", geometry.pages_per_block),
        ("page_bytes", geometry.page_bytes),
        ("unit_bytes", geometry.unit_bytes),
        ("units_per_page", geometry.units_per_page()),
        ("units_per_stripe", geometry.units_per_stripe()),
        ("units_per_group", geometry.units_per_group()),
        ("groups", geometry.groups()),
    ];
    for (name, value) in facts {
        shape.set_item(name, value)?;
    }
    Ok(shape)
}

/// What the program's reader makes of a table: all parameters, and what makes a policy by them.
fn read_by(reader: &Py<PyAny>, table: &Value) -> Result<(Map<String, Value>, Arc<Maker>), String> {
    let read = Python::attach(|python| -> PyResult<(String, Py<PyAny>)> {
        reader.call1(python, (table.to_string(),))?.extract(python)
    });
    let (told, maker) = read.map_err(|error| Python::attach(|python| error.value(python).to_string()))?;
    let told = serde_json::from_str(&told).map_err(|error| error.to_string())?;
    Ok((told, Arc::new(Maker(maker))))
}

/// Adds a policy to a registry, by its name there. `reader` is given the table of its parameters as JSON, and returns all of
/// them as JSON with a function that makes the policy.
#[pyfunction]
pub fn add_policy(registry: &str, name: &str, reader: Py<PyAny>) -> PyResult<()> {
    use ninescope::engine::{SuspendPolicyConfig, TransactionSchedulerConfig};
    use ninescope::ftl::policies::{PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig};
    use ninescope::tier::PlacementConfig;

    let read = move |table: Value| read_by(&reader, &table);
    // Names of policies live as long as the process.
    let name: &'static str = name.to_owned().leak();
    let added = match registry {
        "ftl.victim" => VictimSelectionConfig::add_read_by(name, read),
        "ftl.streams" => StreamChoiceConfig::add_read_by(name, read),
        "ftl.page_allocation" => PageAllocationConfig::add_read_by(name, read),
        "scheduler.suspend" => SuspendPolicyConfig::add_read_by(name, read),
        "scheduler.transactions" => TransactionSchedulerConfig::add_read_by(name, read),
        "tier.placement" => PlacementConfig::add_read_by(name, read),
        other => Err(format!("`{other}` takes no policies in Python")),
    };
    added.map_err(ConfigError::new_err)
}
