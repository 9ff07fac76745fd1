//! Drive descriptions and run requests.

use ninescope::config::{LoadedDrive, load_drive};
use ninescope::{DriveSource, PrefillMode, RunRequest, WorkloadSource};

use super::{refusal, run};

/// A drive description in TOML is refused with a reason, or reads back as it is written and runs a job to its end.
///
/// # Panics
/// When none of these holds.
pub fn drive(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let loaded = match load_drive("drive", text, &[]) {
        Ok(loaded) => loaded,
        Err(error) => return drop(refusal(&error)),
    };
    reads_back(&loaded);
    if !run::is_small(&loaded.config) {
        return;
    }
    for prefill in [PrefillMode::None, PrefillMode::Steady] {
        let job =
            serde_json::json!({ "rw": "randrw", "rwmixread": 30, "iodepth": 8, "requests": 48, "flush_every": 16 });
        let mut request = RunRequest::from_json("{}").expect("an empty request is one");
        request.drive = Some(DriveSource::Toml(text.to_owned()));
        request.workload = Some(WorkloadSource { job: Some(job), ..WorkloadSource::default() });
        request.prefill = prefill;
        if run::to_the_end(&request).is_err() {
            return;
        }
    }
}

/// What is written of an accepted drive loads as the same drive.
fn reads_back(loaded: &LoadedDrive) {
    let written = toml::to_string(&loaded.config).expect("an accepted drive can be written");
    let again = match load_drive("written", &written, &[]) {
        Ok(again) => again,
        Err(error) => panic!("what was written is refused: {error}\n{written}"),
    };
    // Not a number is equal to nothing, and refused when the drive is built.
    assert!(again.config == loaded.config || loaded.config.ftl.over_provisioning.is_nan(), "{written}");
}

/// A run request in JSON is refused with a reason, or runs to its end, the same way each time.
///
/// # Panics
/// When neither holds.
pub fn request(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut request = match RunRequest::from_json(text) {
        Ok(request) => request,
        Err(error) => return drop(refusal(&error)),
    };
    // Nothing is read from where an input points.
    if let Some(DriveSource::File(_)) = request.drive {
        request.drive = None;
    }
    let loaded = match request.load_drive() {
        Ok(loaded) => loaded,
        Err(error) => return drop(refusal(&error)),
    };
    reads_back(&loaded);
    if let Some((request, _files)) = run::bounded(request, &loaded) {
        let first = run::to_the_end(&request);
        assert_eq!(first, run::to_the_end(&request), "the same request gives the same run");
    }
}
