//! What the tests of trace readers share: traces made in memory and in temporary files.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ninescope_model::{Request, Workload, WorkloadError};
use ninescope_traces::{TraceError, TraceOptions, TraceReader};

/// A reader of `content`, called "memory" in messages.
pub fn reader(content: &[u8], options: TraceOptions) -> Result<TraceReader, TraceError> {
    TraceReader::from_source("memory", Box::new(Cursor::new(content.to_vec())), options)
}

/// All requests of a workload.
pub fn drain(workload: &mut dyn Workload) -> Result<Vec<Request>, WorkloadError> {
    std::iter::from_fn(|| workload.next_request().transpose()).collect()
}

/// All requests of `content`.
pub fn requests(content: &[u8], options: TraceOptions) -> Result<Vec<Request>, WorkloadError> {
    drain(&mut reader(content, options)?)
}

/// The text of the error that reading `content` ends with.
pub fn error_of(content: &[u8], options: TraceOptions) -> String {
    requests(content, options).expect_err("the trace is bad").to_string()
}

/// Options that differ from the default only in being strict.
pub fn strict() -> TraceOptions {
    TraceOptions { strict: true, ..TraceOptions::default() }
}

/// A file that goes away with its owner.
pub struct TemporaryFile(pub PathBuf);

impl TemporaryFile {
    pub fn new(name: &str, content: &[u8]) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ninescope-{}-{number}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("the temporary directory can be written");
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One vSCSI version 1 record.
pub fn vscsi_record(command: u8, bytes: u32, lba: u64, microseconds: u64) -> Vec<u8> {
    let mut record = vec![0; 4];
    record.extend(bytes.to_le_bytes());
    record.extend(1_u32.to_le_bytes());
    record.extend([command, 0, 0, 1]);
    record.extend(lba.to_le_bytes());
    record.extend(microseconds.to_le_bytes());
    record
}
