//! Requests of a trace in batches of columns, and columns to the text of a trace: conversions are put together
//! from the two in Python, batch by batch.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ninescope::{Error, TraceOptions, TraceReader, TraceWriter, Workload, checked_request};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{ConfigError, to_python};

/// Times [ns], operations by index, first sectors, counts of sectors.
pub type Columns<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// The requests of a trace.
#[pyclass(module = "ninescope._native")]
pub struct TraceBatches {
    reader: Mutex<TraceReader>,
}

#[pymethods]
impl TraceBatches {
    #[new]
    fn new(path: PathBuf, options_json: &str) -> PyResult<Self> {
        let options: TraceOptions = ninescope::trace_options(options_json).map_err(to_python)?;
        let reader = TraceReader::open(&path, options).map_err(|error| to_python(Error::from(error)))?;
        Ok(Self { reader: Mutex::new(reader) })
    }

    fn next<'py>(&mut self, python: Python<'py>, limit: usize) -> PyResult<Columns<'py>> {
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        next_columns(reader, python, limit)
    }

    fn health_json(&self) -> PyResult<String> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        ninescope::trace_health_json(&reader).map_err(to_python)
    }
}

/// The next requests of a workload, at most `limit`.
pub fn next_columns<'py, W: Workload>(workload: &mut W, python: Python<'py>, limit: usize) -> PyResult<Columns<'py>> {
    let read = python.detach(|| {
        let mut requests = Vec::new();
        while requests.len() < limit {
            match workload.next_request() {
                Ok(Some(request)) => requests.push(request),
                Ok(None) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(requests)
    });
    let requests = read.map_err(|error| to_python(Error::from(error)))?;
    let submitted: Vec<u64> = requests.iter().map(|request| request.submitted.0).collect();
    let ops: Vec<u8> = requests.iter().map(|request| request.op as u8).collect();
    let lbas: Vec<u64> = requests.iter().map(|request| request.lba.0).collect();
    let sectors: Vec<u32> = requests.iter().map(|request| request.sectors).collect();
    Ok((
        submitted.into_pyarray(python),
        ops.into_pyarray(python),
        lbas.into_pyarray(python),
        sectors.into_pyarray(python),
    ))
}

/// Columns of requests to the text of a trace.
#[pyclass(module = "ninescope._native")]
pub struct TraceEncoder {
    writer: Mutex<Option<TraceWriter>>,
    rows: u64,
}

impl TraceEncoder {
    fn writer(&mut self) -> PyResult<&mut TraceWriter> {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        writer.as_mut().ok_or_else(|| ConfigError::new_err("the trace is finished already"))
    }
}

fn failed(error: std::io::Error) -> PyErr {
    to_python(Error::Internal(format!("the compressor failed: {error}")))
}

#[pymethods]
impl TraceEncoder {
    #[new]
    fn new(to: &str, compression: &str) -> PyResult<Self> {
        let input = |error| to_python(Error::from(error));
        let format = to.parse().map_err(input)?;
        let writer = TraceWriter::new(format, compression.parse().map_err(input)?).map_err(failed)?;
        Ok(Self { writer: Mutex::new(Some(writer)), rows: 0 })
    }

    fn add<'py>(
        &mut self,
        python: Python<'py>,
        submitted_ns: PyReadonlyArray1<'py, u64>,
        op: PyReadonlyArray1<'py, u8>,
        lba: PyReadonlyArray1<'py, u64>,
        sectors: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let first_row = self.rows;
        let times = submitted_ns.as_array();
        let rows = times.iter().zip(op.as_array()).zip(lba.as_array()).zip(sectors.as_array());
        let writer = self.writer()?;
        let mut written = 0;
        for (((&submitted_ns, &op), &lba), &sectors) in rows {
            written += 1;
            let request = checked_request(submitted_ns, u64::from(op), lba, sectors)
                .map_err(|problem| ConfigError::new_err(format!("row {}: {problem}", first_row + written)))?;
            writer.add(&request).map_err(failed)?;
        }
        let bytes = writer.take();
        self.rows += written;
        Ok(PyBytes::new(python, &bytes))
    }

    fn finish<'py>(&mut self, python: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.writer()?;
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let bytes = writer.map_or_else(|| Ok(Vec::new()), TraceWriter::finish).map_err(failed)?;
        Ok(PyBytes::new(python, &bytes))
    }

    fn report_json(&mut self) -> PyResult<String> {
        let report = self.writer()?.report();
        ninescope::write_report_json(report).map_err(to_python)
    }
}
