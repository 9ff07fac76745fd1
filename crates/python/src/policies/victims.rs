//! Which group is emptied.

use ninescope::ftl::policies::VictimSelection;
use ninescope::ftl::policies::victim_selection::{CandidateView, VictimSelectionParameters};
use ninescope::kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope::model::{BlockGroup, Geometry, Pool};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;

use super::{Maker, Policy, shape};

type Column<T> = Py<PyArray1<T>>;

/// The groups of a pool, a row each.
#[pyclass(module = "ninescope._native", frozen, get_all)]
pub struct Candidates {
    pool: u32,
    units_per_group: u32,
    /// -1 where a group is no candidate.
    valid_units: Column<i64>,
    age: Column<i64>,
    erases: Column<i64>,
    stream: Column<i64>,
    fewest_valid: Option<u32>,
}

impl Candidates {
    fn of(python: Python<'_>, view: &CandidateView<'_>) -> Self {
        let column =
            |value: &dyn Fn(u32) -> i64| (0..view.len()).map(value).collect::<Vec<i64>>().to_pyarray(python).unbind();
        Self {
            pool: view.pool.0,
            units_per_group: view.units_per_group,
            valid_units: column(&|index| view.valid_units(index).map_or(-1, i64::from)),
            age: column(&|index| i64::from(view.age(index))),
            erases: column(&|index| i64::from(view.erases(index))),
            stream: column(&|index| i64::from(view.stream(index).0)),
            fewest_valid: view.fewest_valid(),
        }
    }
}

impl VictimSelectionParameters for Maker {
    fn build(&self, geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        Box::new(Victims(self.policy(|python| {
            let told = shape(python, geometry)?;
            told.set_item("seed", seed)?;
            Ok(told)
        })))
    }

    fn follows_from_groups(&self) -> bool {
        self.says("follows_from_groups")
    }
}

#[derive(Debug)]
struct Victims(Policy);

impl VictimSelection for Victims {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let chosen: Option<u32> = self.0.ask("select", |policy| {
            let candidates = Candidates::of(policy.py(), view);
            policy.call_method1("select", (candidates,))?.extract()
        });
        let is_candidate = |index: u32| index < view.len() && view.valid_units(index).is_some();
        if let Some(other) = chosen.filter(|&index| !is_candidate(index)) {
            let problem = format!("select returned {other}, which is no candidate");
            self.0.refuse(&problem);
        }
        chosen
    }

    fn closed(&mut self, pool: Pool, group: BlockGroup) {
        self.0.ask("closed", |policy| policy.call_method1("closed", (pool.0, group.0)).map(drop));
    }

    fn taken(&mut self, pool: Pool, group: BlockGroup) {
        self.0.ask("taken", |policy| policy.call_method1("taken", (pool.0, group.0)).map(drop));
    }
}

impl Snapshot for Victims {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.0.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.0.load(from)
    }
}
