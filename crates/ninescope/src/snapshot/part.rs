//! What is not whole yet lies beside the file that it will be, under a name of its own.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How its name ends.
pub(super) const PART_SUFFIX: &str = "part";

/// A new file beside another: no other thread or process has it.
pub(super) fn new_part(path: &Path) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let part = part_of(path, NUMBER.fetch_add(1, Ordering::Relaxed));
        match File::create_new(&part) {
            // Of a process of the same number, elsewhere or long ago.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (part, file)),
        }
    }
}

/// A name beside a file for what is not whole yet.
fn part_of(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{number}.{PART_SUFFIX}", std::process::id()))
}
