//! Where an object lies when it is used for the first time, and which part of it a further use takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a new object lies to what was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Birth {
    /// By itself.
    Jump,
    /// It begins where an earlier request of its operation ended.
    Run,
    /// It goes on behind a known object in the same request.
    Joined,
}

impl Birth {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jump, Self::Run, Self::Joined];
}

/// Which part of an object is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All of it.
    Whole,
    /// From its beginning.
    Start,
    /// To its end.
    End,
    /// From where the use before ended.
    On,
    /// From elsewhere.
    Inside,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Whole, Self::Start, Self::End, Self::On, Self::Inside];
}
