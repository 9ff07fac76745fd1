//! Codes by themselves: their mathematics over arrays of rates, their times, and real codewords.

use std::sync::OnceLock;

use ninescope::Error;
use ninescope::codes::{self, Codec};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::to_python;

/// Errors corrected and field degree of a BCH code.
type Chosen = (u32, u32);

/// User data and parity of a decoded codeword, and how many bits were corrected.
type Decoded<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<u32>);

/// A code with its codec.
#[pyclass(module = "ninescope._native", frozen)]
pub struct Code {
    scheme: codes::Scheme,
    /// The real codec, built where it is first asked for.
    codec: OnceLock<Codec>,
}

impl Code {
    fn code(&self) -> &codes::Code {
        self.scheme.code()
    }

    fn codec(&self) -> PyResult<&Codec> {
        if self.codec.get().is_none() {
            let codec = Codec::new(&self.scheme).map_err(to_python)?;
            let _ = self.codec.set(codec);
        }
        self.codec.get().ok_or_else(|| to_python(Error::Internal("a codec was not kept".to_owned())))
    }
}

#[pymethods]
impl Code {
    #[new]
    fn new(description_json: &str) -> PyResult<Self> {
        Ok(Self { scheme: codes::scheme(description_json).map_err(to_python)?, codec: OnceLock::new() })
    }

    #[getter]
    fn user_bits(&self) -> u32 {
        self.code().user_bits()
    }

    #[getter]
    fn parity_bits(&self) -> u32 {
        self.code().parity_bits()
    }

    #[getter]
    fn parity_bytes(&self) -> u32 {
        self.code().parity_bytes()
    }

    #[getter]
    fn codeword_bits(&self) -> u32 {
        self.code().codeword_bits()
    }

    #[getter]
    fn correctable(&self) -> u32 {
        self.code().correctable()
    }

    #[getter]
    fn field_degree(&self) -> Option<u32> {
        self.code().field_degree()
    }

    #[getter]
    fn rate(&self) -> f64 {
        self.code().rate()
    }

    #[getter]
    fn undetected(&self) -> f64 {
        self.scheme.undetected()
    }

    fn failure<'py>(&self, py: Python<'py>, rber: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        at_rbers(py, &rber, |rber| self.code().failure(rber))
    }

    fn uber<'py>(&self, py: Python<'py>, rber: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        at_rbers(py, &rber, |rber| self.code().uber(rber))
    }

    fn page_failure<'py>(
        &self,
        py: Python<'py>,
        rber: PyReadonlyArray1<'py, f64>,
        codewords: u32,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        at_rbers(py, &rber, |rber| self.code().page_failure(rber, codewords))
    }

    fn aber<'py>(&self, py: Python<'py>, uber: PyReadonlyArray1<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let abers = codes::at_ubers(self.code(), &uber.as_array().to_vec()).map_err(to_python)?;
        Ok(abers.into_pyarray(py))
    }

    fn codewords(&self, data: &str) -> PyResult<u32> {
        codes::codewords(&self.scheme, data).map_err(to_python)
    }

    fn encode_time(&self, codewords: u32) -> u64 {
        self.scheme.encode_time(codewords).0
    }

    fn decode_time(&self, codewords: u32, corrupted: u32) -> u64 {
        self.scheme.decode_time(codewords, corrupted).0
    }

    fn encode<'py>(&self, py: Python<'py>, user: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let parity = self.codec()?.encode(user).map_err(to_python)?;
        Ok(PyBytes::new(py, &parity))
    }

    fn decode<'py>(&self, py: Python<'py>, user: &[u8], parity: &[u8]) -> PyResult<Decoded<'py>> {
        let (mut user, mut parity) = (user.to_vec(), parity.to_vec());
        let corrected = self.codec()?.decode(&mut user, &mut parity).map_err(to_python)?;
        Ok((PyBytes::new(py, &user), PyBytes::new(py, &parity), corrected))
    }
}

fn at_rbers<'py>(
    py: Python<'py>,
    rbers: &PyReadonlyArray1<'py, f64>,
    of: impl Fn(f64) -> f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let values = codes::at_rbers(&rbers.as_array().to_vec(), of).map_err(to_python)?;
    Ok(values.into_pyarray(py))
}

fn chosen(code: &codes::Code) -> Chosen {
    (code.correctable(), code.field_degree().unwrap_or_default())
}

/// Errors corrected and field degree of the strongest BCH code of a rate.
#[pyfunction]
pub fn strongest_bch(user_data: &str, rate: f64, field_degree: Option<u32>) -> PyResult<Chosen> {
    codes::strongest_bch(user_data, rate, field_degree).map(|code| chosen(&code)).map_err(to_python)
}

/// The same of the weakest BCH code that meets a target UBER at a raw bit error rate.
#[pyfunction]
pub fn weakest_bch(user_data: &str, field_degree: Option<u32>, rber: f64, uber: f64) -> PyResult<Option<Chosen>> {
    let code = codes::weakest_bch(user_data, field_degree, rber, uber).map_err(to_python)?;
    Ok(code.as_ref().map(chosen))
}

/// The same for each number of verify cycles, with the raw bit error rate that they leave.
#[pyfunction]
pub fn joint_choices(
    user_data: &str,
    field_degree: Option<u32>,
    rber: f64,
    uber: f64,
    verify_cycles: u32,
) -> PyResult<Vec<(u32, f64, Option<Chosen>)>> {
    let choices = codes::joint_choices(user_data, field_degree, rber, uber, verify_cycles).map_err(to_python)?;
    Ok(choices.iter().map(|choice| (choice.verify_cycles, choice.rber, choice.code.as_ref().map(chosen))).collect())
}
