//! What a run measured, apart from its engine: tables that may be asked for long after the drive is gone.

use ninescope::{AnySimulation, Op};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::op_named;

/// One numpy column.
pub type Column<'py> = Bound<'py, PyArray1<u64>>;

/// `(upper bound [ns], count)` of the buckets of a histogram.
type Buckets = Vec<(u64, u64)>;

/// The latencies of one kind of command: of the whole run, and of each block of it.
struct Latencies {
    whole: Buckets,
    blocks: Vec<Buckets>,
}

/// The tables of a run. Columns are made when they are asked for, since only then numpy is imported.
#[pyclass(module = "ninescope._native", frozen)]
pub struct Measured {
    latencies: Vec<Latencies>,
    series: Vec<(&'static str, Vec<u64>)>,
}

impl Measured {
    /// Takes what a run has measured so far.
    pub fn of(run: &dyn AnySimulation) -> Self {
        let latencies = |op| Latencies { whole: run.histogram(op), blocks: run.latency_blocks(op) };
        Self { latencies: Op::ALL.into_iter().map(latencies).collect(), series: run.series() }
    }

    fn latencies(&self, op: &str) -> PyResult<&Latencies> {
        Ok(&self.latencies[op_named(op)? as usize])
    }
}

#[pymethods]
impl Measured {
    fn histogram<'py>(&self, python: Python<'py>, op: &str) -> PyResult<(Column<'py>, Column<'py>)> {
        Ok(columns(python, &self.latencies(op)?.whole))
    }

    fn latency_blocks<'py>(&self, python: Python<'py>, op: &str) -> PyResult<Vec<(Column<'py>, Column<'py>)>> {
        Ok(self.latencies(op)?.blocks.iter().map(|block| columns(python, block)).collect())
    }

    fn series<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(python);
        for (name, values) in &self.series {
            columns.set_item(name, values.clone().into_pyarray(python))?;
        }
        Ok(columns)
    }
}

/// Bounds and counts, a column each.
fn columns<'py>(python: Python<'py>, buckets: &Buckets) -> (Column<'py>, Column<'py>) {
    let (bounds, counts): (Vec<u64>, Vec<u64>) = buckets.iter().copied().unzip();
    (bounds.into_pyarray(python), counts.into_pyarray(python))
}
