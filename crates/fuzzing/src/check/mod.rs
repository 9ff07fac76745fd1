//! What must hold for an input of each kind. A check panics when something does not.
//!
//! `workload` reads traces and jobs, `profile` profiles, `drive` reads drive descriptions and run requests, `snapshot`
//! prepared drives, `run` takes what was
//! accepted through a simulation to its end, within bounds.

mod drive;
mod profile;
mod run;
mod snapshot;
mod workload;

pub use drive::{drive, request};
pub use profile::profile;
pub use snapshot::snapshot;
pub use workload::{columns, job, trace};

use ninescope::Error;

/// A refusal must be the caller's fault and say something; the message comes back.
///
/// # Panics
/// When it does not.
fn refusal(error: &Error) -> String {
    match error {
        Error::Input(message) => {
            assert!(!message.trim().is_empty(), "a refusal says why");
            message.clone()
        }
        Error::Internal(message) => panic!("bad input is no internal error: {message}"),
    }
}
