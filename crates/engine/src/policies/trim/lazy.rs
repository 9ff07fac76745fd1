//! Lazy: a TRIM notes its units and completes. The map forgets them when the host has left the drive in peace for a while, or before
//! garbage collection goes on, or when they are written; until then they count as valid.

use ninescope_kernel::Ns;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::at_once::too_long;
use super::{Deferral, TrimParameters, TrimmedReads};

/// The longest rest [ns]: beyond it is a slip.
const REST_MAX: u64 = 3_600_000_000_000;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lazy {
    /// How long the host has to have nothing inside the drive until the map forgets what was trimmed.
    pub rest: Duration,
    /// Time for each entry of the map that changes then; 0: all change at once.
    pub entry_time: Duration,
    /// Whether all are forgotten before garbage collection goes on, so that nothing is moved that was trimmed.
    pub before_collection: bool,
    /// What reads return of a unit that was trimmed and not forgotten yet.
    pub reads: TrimmedReads,
}

impl Default for Lazy {
    fn default() -> Self {
        Self {
            rest: Duration(1_000_000),
            entry_time: Duration(0),
            before_collection: true,
            reads: TrimmedReads::default(),
        }
    }
}

impl TrimParameters for Lazy {
    fn deferral(&self) -> Option<Deferral> {
        Some(Deferral {
            rest: Ns(self.rest.0),
            entry_time: Ns(self.entry_time.0),
            before_collection: self.before_collection,
            reads: self.reads,
        })
    }

    fn entry_time(&self) -> Ns {
        Ns::ZERO
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let most = Duration(REST_MAX);
        let rest = (self.rest > most).then(|| ("rest", format!("is {}, at most {most} is allowed", self.rest)));
        rest.or_else(|| too_long(self.entry_time))
    }
}
