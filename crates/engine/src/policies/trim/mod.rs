//! What a TRIM comes to, and when: whether the map forgets its units before it completes, or later.

use std::fmt::Debug;

use ninescope_kernel::Ns;
use ninescope_model::policy_registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a read returns of a unit that was trimmed and that the map has not forgotten yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrimmedReads {
    /// Zeros, without a read of flash: deterministic (NVMe's DLFEAT 1, ATA's RZAT).
    #[default]
    Zeros,
    /// What flash still holds, until the map has forgotten the unit: not deterministic (NVMe's DLFEAT 0).
    OldData,
}

/// How what TRIMs ask for is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferral {
    /// The map forgets when the host has had nothing inside the drive for so long [ns].
    pub rest: Ns,
    /// One unit after another, each of which takes so long; no time: all at once [ns].
    pub entry_time: Ns,
    /// All are forgotten before garbage collection goes on.
    pub before_collection: bool,
    /// What reads return until then.
    pub reads: TrimmedReads,
}

/// What handles TRIMs, as it was told.
pub trait TrimParameters: Debug {
    /// How they are put off; `None`: they are not.
    fn deferral(&self) -> Option<Deferral>;

    /// Time of the controller for each entry of the map that a TRIM itself changes [ns].
    fn entry_time(&self) -> Ns;

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)>;
}

policy_registry! {
    /// What a TRIM comes to, and when.
    TrimConfig as dyn TrimParameters;
    "at-once" => at_once::AtOnce, "the map forgets its units before it completes";
    "lazy" => lazy::Lazy, "it completes at once, and the map forgets its units when the drive rests, or before it collects";
}
