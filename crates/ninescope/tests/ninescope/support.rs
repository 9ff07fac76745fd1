//! Runs of the library from JSON requests, and the small drive and trace of `tests/data`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ninescope::{Error, RunRequest, Simulation};
use serde_json::{Value, json};

/// A file of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The text of a file of `tests/data`.
pub fn data_text(name: &str) -> String {
    std::fs::read_to_string(data(name)).expect("a file of tests/data")
}

/// A file in a folder of its own that ends with the test.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new folder; `name` is the test's.
    pub fn new(name: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ninescope-test-{}-{number}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Self(folder)
    }

    /// Writes a file into it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a temporary file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The request to replay the small trace on the small drive, with changes of the drive.
pub fn tiny_request(sets: &[&str]) -> Value {
    json!({
        "drive": { "file": data("tiny.toml") },
        "workload": { "trace": data("tiny.csv") },
        "set": sets,
        "seed": 1,
    })
}

/// A simulation ready to run.
pub fn simulation(request: &Value) -> Result<Simulation, Error> {
    Simulation::new(&RunRequest::from_json(&request.to_string())?)
}

/// Runs a request to its end.
pub fn finished(request: &Value) -> Result<Simulation, Error> {
    let mut simulation = simulation(request)?;
    while !simulation.run_slice(Duration::from_secs(1))?.finished {}
    Ok(simulation)
}

/// The result of a request that is run to its end.
pub fn result_of(request: &Value) -> Result<Value, Error> {
    let text = finished(request)?.result_json(true)?;
    Ok(serde_json::from_str(&text).expect("the result is JSON"))
}

/// The message of the bad input that a request is.
pub fn input_error(request: &Value) -> String {
    match result_of(request) {
        Err(Error::Input(message)) => message,
        Err(Error::Internal(message)) => panic!("bad input is no internal error: {message}\n{request}"),
        Ok(_) => panic!("this must be refused: {request}"),
    }
}

/// The message of the bad input that a request is has all these parts.
pub fn expect(request: &Value, wanted: &[&str]) {
    let message = input_error(request);
    for part in wanted {
        assert!(message.contains(part), "`{part}` is missing in: {message}\nfor {request}");
    }
}
