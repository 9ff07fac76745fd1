//! At once: the map forgets the units of a TRIM before that completes. The controller may take time for each entry that changes, in
//! which it takes up no other command.

use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deferral, TrimParameters};

/// The longest time for an entry [ns]: beyond it is a slip.
pub(super) const ENTRY_TIME_MAX: u64 = 1_000_000;

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtOnce {
    /// Time of the controller for each entry of the map that a TRIM changes; other commands wait behind it.
    pub entry_time: Duration,
}

impl TrimParameters for AtOnce {
    fn deferral(&self) -> Option<Deferral> {
        None
    }

    fn entry_time(&self) -> Ns {
        Ns(self.entry_time.0)
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        too_long(self.entry_time)
    }
}

/// What is wrong with a time for each entry.
pub(super) fn too_long(entry_time: Duration) -> Option<(&'static str, String)> {
    let most = Duration(ENTRY_TIME_MAX);
    (entry_time > most).then(|| ("entry_time", format!("is {entry_time}, at most {most} is allowed")))
}
