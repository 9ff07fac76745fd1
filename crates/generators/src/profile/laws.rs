//! The profile as it stands in its file.

use ninescope_model::Op;
use ninescope_model::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArrivalLaw, Birth, PROFILE_VERSION, Part};

/// What a trace is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The version of the format, [`super::PROFILE_VERSION`].
    #[schemars(extend("const" = PROFILE_VERSION))]
    pub profile: u32,
    /// What it stands for.
    pub name: String,
    /// One line about it, for lists.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What a result calls requests drawn from it: "profile", or "stand-in" where the original was never seen.
    pub label: String,
    /// Where its numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<String>,
    /// What it was made of.
    pub original: Original,
    /// Where requests lie.
    pub addresses: AddressLaw,
    /// When requests come.
    pub arrivals: ArrivalLaw,
    /// Where new objects begin that go on behind others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunLaw>,
    /// Objects that are used about equally often, are about equally long, and begin with the same operation.
    pub objects: Vec<ObjectLaw>,
}

/// The trace that a profile was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Original {
    /// Its requests: as many are drawn where no number is asked for.
    #[schemars(range(min = 1))]
    pub requests: u64,
    /// From its first request to its last.
    pub duration: Duration,
    /// Its 4 KiB pages.
    pub footprint: Bytes,
    /// Further uses of objects behind another in the same request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub joins: u64,
    /// Requests that use a known object again right behind one of the few requests before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub chains: u64,
    /// Its flushes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flushes: u64,
}

/// What is drawn beyond the requests of the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Continuation {
    /// The same objects once more: the footprint stays.
    #[default]
    Again,
    /// Other objects like them: the footprint grows, until the span is full.
    Anew,
}

/// Where requests lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressLaw {
    /// Requests end at or before this address.
    pub span: Bytes,
    /// What is drawn beyond the requests of the original.
    #[serde(default)]
    pub continues: Continuation,
    /// `[sectors beyond a 4 KiB boundary, weight]` of objects that lie by themselves.
    pub phases: Vec<(u32, u64)>,
    /// How far from known objects they lie; where nothing is said, they lie anywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jumps: Vec<JumpLaw>,
}

/// How far from known objects new ones of one operation lie that lie by themselves. What is used together lies together:
/// files, journals, tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JumpLaw {
    /// The operation.
    pub op: Op,
    /// Share that lies behind the known object, not before it.
    pub behind: f64,
    /// Pages between it and the nearest known object: least, greatest and quantiles at equal steps between.
    pub distances: Vec<u64>,
    /// How many objects ago that one was new: least, greatest and quantiles at equal steps between.
    pub ages: Vec<u64>,
}

/// Where objects of one operation begin that go on behind others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunLaw {
    /// The operation.
    pub op: Op,
    /// `[end, weight]`: at which of the ends of earlier requests of the operation, 1 the latest.
    pub ends: Vec<(u32, u64)>,
}

/// Objects that are alike. An object is what one request touched for the first time, in one piece: objects do not
/// overlap, and a request uses one object or several that lie next to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectLaw {
    /// The operation that uses them first.
    pub op: Op,
    /// How often one of them is used: this often at least, and less than twice as often.
    pub uses: u64,
    /// Its length in 4 KiB pages: this many at least, and fewer than the next of 1, 2, 4, 16, 64.
    pub pages: u64,
    /// Requests from one use of it to the next, on average: this many at least, and fewer than four times as many;
    /// 0 of objects that are used once.
    pub lag: u64,
    /// Uses of all of them.
    pub total: u64,
    /// How many are used first in each of 16 stretches of equal numbers of requests.
    #[schemars(length(min = 1))]
    pub births: Vec<u64>,
    /// `[sectors, weight]` of their lengths.
    pub sizes: Vec<(u32, u64)>,
    /// `[birth, weight]`: how they lie to what was used before.
    pub lie: Vec<(Birth, u64)>,
    /// `[class, weight]`: the class of the object that is new next, as a place in the list, from 0.
    pub next: Vec<(u32, u64)>,
    /// Share of the objects that come right after the object that was new before.
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0, max = 1))]
    pub near: f64,
    /// Share of the further uses that come shortly after one of the object that was new before.
    #[serde(default, skip_serializing_if = "is_nothing")]
    #[schemars(range(min = 0, max = 1))]
    pub follows: f64,
    /// `[from, to, weight]`: operations of one use and the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<(Op, Op, u64)>,
    /// The further uses by the part that they take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartLaw>,
}

/// Further uses of objects that take the same part of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartLaw {
    /// The part.
    pub part: Part,
    /// `[part, weight]`: what the use before took; the first use takes the whole.
    pub after: Vec<(Part, u64)>,
    /// Requests since the use before: least, greatest and quantiles at equal steps between.
    #[schemars(length(min = 1))]
    pub lags: Vec<u64>,
    /// `[sectors, weight]`; of the whole there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<(u32, u64)>,
}

impl ObjectLaw {
    /// How many there are.
    pub fn objects(&self) -> u64 {
        self.births.iter().sum()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_nothing(share: &f64) -> bool {
    *share <= 0.0
}
