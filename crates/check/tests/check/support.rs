//! Running a request with its checker.

use std::time::Duration;

use ninescope::RunRequest;
use serde_json::Value;

/// The result of a request, whose run must break no invariant.
pub fn result(request: &Value) -> Value {
    let request = RunRequest::from_json(&request.to_string()).unwrap_or_else(|error| panic!("{request}: {error}"));
    let mut run = ninescope_check::simulation(&request).unwrap_or_else(|error| panic!("{request:?}: {error}"));
    loop {
        match run.run_slice(Duration::from_secs(1)) {
            Ok(progress) if progress.finished => break,
            Ok(_) => {}
            Err(error) => panic!("{request:?}: {error}"),
        }
    }
    serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON")
}
