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

/// What whoever stands in front of the drive knows about a request: a cache, whether the data has another copy behind it; a log on
/// zones, for whom it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CacheHint {
    /// Nobody stands there, or says nothing.
    #[default]
    None,
    /// Data that lies nowhere else until it is flushed.
    DirtyWrite,
    /// Data that was read from the disk behind the cache, and lies there still.
    CleanWrite,
    /// A read for the host.
    HostRead,
    /// A read of dirty data on its way to the disk: it has another copy from then on.
    FlushRead,
    /// A read for the host out of a log on zones.
    LogRead,
    /// A write of the host's into one.
    LogWrite,
    /// A read of what is moved out of a zone of it.
    CleanerRead,
    /// The write of what was moved.
    CleanerWrite,
}

impl CacheHint {
    /// All hints, in index order.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::DirtyWrite,
        Self::CleanWrite,
        Self::HostRead,
        Self::FlushRead,
        Self::LogRead,
        Self::LogWrite,
        Self::CleanerRead,
        Self::CleanerWrite,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::DirtyWrite => "dirty_write",
            Self::CleanWrite => "clean_write",
            Self::HostRead => "host_read",
            Self::FlushRead => "flush_read",
            Self::LogRead => "log_read",
            Self::LogWrite => "log_write",
            Self::CleanerRead => "cleaner_read",
            Self::CleanerWrite => "cleaner_write",
        }
    }
}

/// What a command asks of a zone, beyond reading it and writing it at its write pointer. A command of management is a TRIM that
/// says so: it moves no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ZoneCommand {
    /// Nothing: a read, a write at the write pointer, a TRIM.
    #[default]
    None,
    /// Of a write: the drive says where in the zone it goes (Zone Append).
    Append,
    /// The zone holds nothing from now on.
    Reset,
    /// The zone is full, whatever was written.
    Finish,
    /// The zone stays open until it is closed.
    Open,
    /// The zone needs no resources of an open one.
    Close,
    /// The zone is opened with a random write area (Open Zone with ZRWA Allocate).
    OpenZrwa,
    /// The write pointer of a zone with a random write area goes to the end of what the command is of (Flush Explicit ZRWA Range).
    Commit,
}

impl ZoneCommand {
    /// All of them, in index order.
    pub const ALL: [Self; 8] =
        [Self::None, Self::Append, Self::Reset, Self::Finish, Self::Open, Self::Close, Self::OpenZrwa, Self::Commit];

    /// The word for it in jobs and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Append => "append",
            Self::Reset => "reset",
            Self::Finish => "finish",
            Self::Open => "open",
            Self::Close => "close",
            Self::OpenZrwa => "open-zrwa",
            Self::Commit => "commit",
        }
    }

    /// Whether it is what nobody need say.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// What a command asks of all that the drive holds. Such a command is a TRIM that says so, wherever it is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum DriveErase {
    /// Nothing.
    #[default]
    None,
    /// All blocks that hold anything are erased, and the command completes then (Format NVM with a user data erase).
    Format,
    /// The same, and the command completes when that begins (Sanitize, block erase).
    Sanitize,
    /// The key is changed, so that nothing can be read any more (Sanitize, crypto erase).
    SanitizeCrypto,
}

impl DriveErase {
    /// All of them, in index order.
    pub const ALL: [Self; 4] = [Self::None, Self::Format, Self::Sanitize, Self::SanitizeCrypto];

    /// The word for it in jobs.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Format => "format",
            Self::Sanitize => "sanitize",
            Self::SanitizeCrypto => "sanitize-crypto",
        }
    }

    /// Whether it is what nobody need say.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// What a request says beside its operation and its place: the hint of who stands in front of the drive, what it asks of a zone, or,
/// of an append that a log on zones makes, both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Remark {
    /// Nothing.
    #[default]
    None,
    /// [`CacheHint::DirtyWrite`].
    DirtyWrite,
    /// [`CacheHint::CleanWrite`].
    CleanWrite,
    /// [`CacheHint::HostRead`].
    HostRead,
    /// [`CacheHint::FlushRead`].
    FlushRead,
    /// [`CacheHint::LogRead`].
    LogRead,
    /// [`CacheHint::LogWrite`].
    LogWrite,
    /// [`CacheHint::CleanerRead`].
    CleanerRead,
    /// [`CacheHint::CleanerWrite`].
    CleanerWrite,
    /// [`CacheHint::LogWrite`], and [`ZoneCommand::Append`].
    LogAppend,
    /// [`CacheHint::CleanerWrite`], and [`ZoneCommand::Append`].
    CleanerAppend,
    /// [`ZoneCommand::Append`].
    Append,
    /// [`ZoneCommand::Reset`].
    Reset,
    /// [`ZoneCommand::Finish`].
    Finish,
    /// [`ZoneCommand::Open`].
    Open,
    /// [`ZoneCommand::Close`].
    Close,
    /// [`ZoneCommand::OpenZrwa`].
    OpenZrwa,
    /// [`ZoneCommand::Commit`].
    Commit,
    /// [`DriveErase::Format`].
    Format,
    /// [`DriveErase::Sanitize`].
    Sanitize,
    /// [`DriveErase::SanitizeCrypto`].
    SanitizeCrypto,
}

impl Remark {
    /// What whoever stands in front of the drive says.
    #[inline]
    pub fn hint(self) -> CacheHint {
        match self {
            Self::DirtyWrite => CacheHint::DirtyWrite,
            Self::CleanWrite => CacheHint::CleanWrite,
            Self::HostRead => CacheHint::HostRead,
            Self::FlushRead => CacheHint::FlushRead,
            Self::LogRead => CacheHint::LogRead,
            Self::LogWrite | Self::LogAppend => CacheHint::LogWrite,
            Self::CleanerRead => CacheHint::CleanerRead,
            Self::CleanerWrite | Self::CleanerAppend => CacheHint::CleanerWrite,
            _ => CacheHint::None,
        }
    }

    /// What is asked of a zone.
    #[inline]
    pub fn zone(self) -> ZoneCommand {
        match self {
            Self::Append | Self::LogAppend | Self::CleanerAppend => ZoneCommand::Append,
            Self::Reset => ZoneCommand::Reset,
            Self::Finish => ZoneCommand::Finish,
            Self::Open => ZoneCommand::Open,
            Self::Close => ZoneCommand::Close,
            Self::OpenZrwa => ZoneCommand::OpenZrwa,
            Self::Commit => ZoneCommand::Commit,
            _ => ZoneCommand::None,
        }
    }

    /// What is asked of all that the drive holds.
    #[inline]
    pub fn erase(self) -> DriveErase {
        match self {
            Self::Format => DriveErase::Format,
            Self::Sanitize => DriveErase::Sanitize,
            Self::SanitizeCrypto => DriveErase::SanitizeCrypto,
            _ => DriveErase::None,
        }
    }
}

impl From<DriveErase> for Remark {
    fn from(erase: DriveErase) -> Self {
        match erase {
            DriveErase::None => Self::None,
            DriveErase::Format => Self::Format,
            DriveErase::Sanitize => Self::Sanitize,
            DriveErase::SanitizeCrypto => Self::SanitizeCrypto,
        }
    }
}

impl From<CacheHint> for Remark {
    fn from(hint: CacheHint) -> Self {
        match hint {
            CacheHint::None => Self::None,
            CacheHint::DirtyWrite => Self::DirtyWrite,
            CacheHint::CleanWrite => Self::CleanWrite,
            CacheHint::HostRead => Self::HostRead,
            CacheHint::FlushRead => Self::FlushRead,
            CacheHint::LogRead => Self::LogRead,
            CacheHint::LogWrite => Self::LogWrite,
            CacheHint::CleanerRead => Self::CleanerRead,
            CacheHint::CleanerWrite => Self::CleanerWrite,
        }
    }
}

impl From<ZoneCommand> for Remark {
    fn from(command: ZoneCommand) -> Self {
        match command {
            ZoneCommand::None => Self::None,
            ZoneCommand::Append => Self::Append,
            ZoneCommand::Reset => Self::Reset,
            ZoneCommand::Finish => Self::Finish,
            ZoneCommand::Open => Self::Open,
            ZoneCommand::Close => Self::Close,
            ZoneCommand::OpenZrwa => Self::OpenZrwa,
            ZoneCommand::Commit => Self::Commit,
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
    /// What a cache in front of the drive knows about it, or what it asks of a zone, on a drive that has zones.
    pub remark: Remark,
    /// Of a write: it completes when what it writes is on the media (force unit access).
    pub fua: bool,
    /// Of a write: the number of the stream that the host names for it (NVMe's stream identifier, FDP's placement handle), 0 for
    /// none.
    pub stream: u8,
}

const _: () = assert!(size_of::<Request>() == 24, "what is read ahead and handed on of each request");

impl Request {
    /// The sector after the last one.
    pub fn end(&self) -> u64 {
        self.lba.0 + u64::from(self.sectors)
    }
}

/// On whose behalf a flash transaction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum Source {
    /// A host command.
    #[default]
    Host,
    /// The read half of a host write that covers a unit in part.
    ReadModifyWrite,
    /// Garbage collection.
    GarbageCollection,
    /// Data moving between tiers.
    Migration,
    /// Reads that see whether data at rest is good, and writes of what was fetched again because it was not.
    Scrub,
    /// The map, where it lies in flash.
    Mapping,
    /// Parity over dies.
    Parity,
    /// What lay on a die that failed, and is written again.
    Rebuild,
}
