//! Workloads of a file system: the personalities of filebench (fileserver, webserver, varmail, oltp), on files that
//! lie on a disk, behind the operating system's page cache. What comes out are requests to the disk.
//!
//! Each operation takes the mix and the sizes of the personality; which requests it causes follows from where the file
//! lies and what the page cache holds. Threads are not told apart: their operations are one stream.

mod config;
mod disk;
mod files;
mod flow;
mod page_cache;
mod pages;

pub use config::{FileSystemConfig, Personality};
pub use flow::{FileOperations, FileSystem};

/// A block of the file system, and a page of the cache [B].
pub(crate) const BLOCK_BYTES: u64 = 4096;
