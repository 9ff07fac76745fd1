//! The parts of a drive description about failing bits that are no policy's parameters.

use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Errors that are injected into data at rest and stay until it is written anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CorruptionSection {
    /// Chance that a bit of what is written goes wrong at one time, at the start unless `at` says otherwise, or from then
    /// on `until` another time.
    #[schemars(range(min = 0, max = 0.5))]
    pub initial_rber: f64,
    /// When that is [ns].
    pub at: Duration,
    /// Where it is given, errors come one after another from `at` on: each mapping unit goes wrong at a time of its own, all
    /// times up to this one alike [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Chance per hour that a bit becomes wrong.
    #[schemars(range(min = 0, max = 0.5))]
    pub hourly_rber: f64,
}

impl Default for CorruptionSection {
    fn default() -> Self {
        Self { initial_rber: 0.0, at: Duration(0), until: None, hourly_rber: 0.0 }
    }
}

/// How warm a drive is: it stays so, whatever it does. Data ages by the law of Arrhenius.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemperatureSection {
    /// During the run [C].
    #[schemars(range(min = -55, max = 150))]
    pub running: f64,
    /// Before it, while data that was there at the start grew as old as `nand.initial_age` says; absent: as during the run [C].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -55, max = 150))]
    pub stored: Option<f64>,
    /// At which the ages of `nand.errors` and `nand.retry` are told [C].
    #[schemars(range(min = -55, max = 150))]
    pub reference: f64,
    /// How much faster data ages where it is warmer [eV].
    #[schemars(range(min = 0, max = 2))]
    pub activation_energy: f64,
}

impl Default for TemperatureSection {
    /// JEDEC's drives of clients run at 40 C; 1.1 eV are what bakes of flash are planned with.
    fn default() -> Self {
        Self { running: 40.0, stored: None, reference: 40.0, activation_energy: 1.1 }
    }
}

/// By how much the raw bit error rate of a page differs from what `nand.errors` says: by the product of these factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VariationSection {
    /// Of pages of each type, one for each bit of the cell; absent: 1. Pages of blocks of one bit in a cell have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub page_types: Vec<f64>,
    /// From the first page of a block to its last, each of as many pages; absent: 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<f64>,
    /// Standard deviation of the logarithm of each block's factor, whose mean is 1; absent: all are 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3))]
    pub blocks: Option<f64>,
}

/// A die that fails as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DieFailureSection {
    /// Its number, from 0 on: those of the first channel come first.
    pub die: u32,
    /// When it fails, from the start of the run [ns]; what it works on then ends first.
    #[serde(default)]
    pub at: Duration,
}

/// The store behind a drive that serves as a cache: clean data can be fetched from it again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BackingStoreSection {
    /// Reading a mapping unit [ns].
    pub read: Duration,
    /// Reads that it serves side by side [count].
    #[schemars(range(min = 1))]
    pub parallel: u32,
}

impl Default for BackingStoreSection {
    /// A disk of 7200 rpm; inferred.
    fn default() -> Self {
        Self { read: Duration(8_000_000), parallel: 1 }
    }
}
