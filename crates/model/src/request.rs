//! What the host asks for, and on whose behalf the media works.

use ninescope_kernel::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Lba;

/// The operation of a host command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Read sectors.
    #[default]
    Read,
    /// Write sectors.
    Write,
    /// Deallocate sectors.
    Trim,
    /// Make everything written so far durable on the media.
    Flush,
}

impl Op {
    /// All operations, in index order.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

/// One host request as a workload produces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When the host submits it [ns since the start of the workload]. Closed-loop workloads leave it 0.
    pub submitted: Ns,
    /// First sector.
    pub lba: Lba,
    /// Sectors; 0 only for [`Op::Flush`].
    pub sectors: u32,
    /// What to do.
    pub op: Op,
}

impl Request {
    /// The sector after the last one.
    pub fn end(&self) -> u64 {
        self.lba.0 + u64::from(self.sectors)
    }
}

/// On whose behalf a flash transaction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// A host command.
    #[default]
    Host,
    /// The read half of a host write that covers a unit in part.
    ReadModifyWrite,
    /// Garbage collection.
    GarbageCollection,
}
