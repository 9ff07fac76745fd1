//! What a prepared drive depends on, and nothing else: the name under which it can be found again.
//!
//! Preparing is given the translation layer's configuration and a recipe. Both go into the shape whole, so that a new key of
//! either is part of it by itself; latencies, rates, codes, errors, schedulers and the host never reach preparing, and
//! a workload only with its writes where they wear the drive in, so drives that differ in these alone share a shape.

use ninescope_ftl::FtlConfig;
use ninescope_kernel::RunDigest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::assembly::Shelf;
use crate::error::Error;
use crate::precondition::{PrefillMode, Recipe};
use crate::version::VERSION;

/// The format of files. It is raised when their layout changes, and when preparing the same shape gives another drive.
pub const FORMAT: u32 = 6;

/// What a prepared drive depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// See [`FORMAT`].
    pub format: u32,
    /// The version of ninescope that prepared it.
    pub ninescope: String,
    /// What it was asked to hold.
    pub prefill: PrefillMode,
    /// Its translation layer: geometry, over-provisioning, policies, seed.
    pub ftl: FtlConfig,
    /// What was done to it.
    pub recipe: Recipe,
    /// Where it lay since: a run that names the file takes it with that, and none finds it by its shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shelves: Vec<Shelf>,
}

impl Shape {
    /// The shape of a drive that this program prepares.
    pub fn new(prefill: PrefillMode, recipe: Recipe, ftl: FtlConfig) -> Self {
        Self { format: FORMAT, ninescope: VERSION.to_owned(), prefill, ftl, recipe, shelves: Vec::new() }
    }

    /// As text: the same for the same shape.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be written.
    pub fn text(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::Internal(error.to_string()))
    }

    /// Its hash, 32 hexadecimal digits.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be written.
    pub fn hash(&self) -> Result<String, Error> {
        Ok(RunDigest::of_text(&self.text()?).to_hex())
    }

    /// Where another shape differs from this one, in words; `None` where it does not.
    pub fn difference(&self, other: &Self) -> Option<String> {
        const SHOWN: usize = 3;
        let mut differences = Vec::new();
        let of_shape = |shape: &Self| serde_json::to_value(shape).unwrap_or_default();
        compare("", &of_shape(self), &of_shape(other), &mut differences);
        let more = differences.len().saturating_sub(SHOWN);
        differences.truncate(SHOWN);
        if more > 0 {
            differences.push(format!("{more} more"));
        }
        (!differences.is_empty()).then(|| differences.join(", "))
    }
}

/// Lists what differs between two documents, each by the path of its key.
fn compare(path: &str, wanted: &Value, found: &Value, differences: &mut Vec<String>) {
    match (wanted, found) {
        (Value::Object(one), Value::Object(other)) => {
            let new = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |document: &serde_json::Map<String, Value>| document.get(key).cloned().unwrap_or_default();
                compare(&path, &of(one), &of(other), differences);
            }
        }
        _ if wanted == found => {}
        _ => differences.push(format!("{path} is {found} there and {wanted} here")),
    }
}
