//! Snapshots: prepared drives in files, so that what was prepared once need not be prepared again. Who prepares them, and
//! which run asks for them, is not known here.
//!
//! ```text
//! container: sections with checksums       shape: what a prepared drive depends on
//! prepared: the drive to and from a file   folder: a directory of such files, by shape
//! shelf: drives whose data grew older
//! ```
//!
//! Only what preparing changes is kept, and that is the translation layer: memory that is overwritten in place needs no
//! preparing, tiers begin empty, and what a block is like follows from the seed. A file is refused unless every byte of
//! it is the one that was written, its shape is the one asked for, and its content can be.

mod container;
mod describe;
mod folder;
mod part;
mod prepared;
mod shape;
mod shelf;

pub use describe::{check_snapshot, describe_snapshot, snapshot_report_json};
pub(crate) use folder::SnapshotPlace;
pub use folder::{SnapshotReport, Snapshots};
pub use prepared::{PreparedDrive, Refusal};
pub use shape::{FORMAT, Shape};
pub use shelf::shelve_snapshot;
