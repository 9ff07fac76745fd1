//! Where the jobs of a file of fio work: each file that it names, or that fio would make, is a part of the drive.
//!
//! fio gives every job and every copy that `numjobs` makes a file of its own; jobs of one `filename` share it. Here the
//! files lie one after another from the drive's beginning on. One file alone is the drive.

use super::Problem;
use super::sections::Section;
use crate::JobConfig;

/// Files begin at multiples of this [B], as in file systems.
const BLOCK: u64 = 4096;

/// A file, as fio calls it.
#[derive(PartialEq)]
struct File<'a> {
    directory: &'a str,
    /// Its name, or the job and the copy that it is made for.
    name: (&'a str, Option<usize>),
}

/// Puts the jobs of each section into its files. Returns what there is to be said.
pub fn lay_out(sections: &[Section<'_>], jobs: &mut [Vec<JobConfig>]) -> Result<Option<String>, Problem> {
    let mut files: Vec<(File<'_>, u64)> = Vec::new();
    let mut users = Vec::new();
    for (index, section) in sections.iter().enumerate() {
        for copy in 0..jobs[index].len() {
            let file = file_of(section, copy)?;
            let at = files.iter().position(|(other, _)| *other == file).unwrap_or(files.len());
            if at == files.len() {
                files.push((file, 0));
            }
            users.push((index, copy, at));
        }
    }
    if files.len() < 2 {
        return Ok(None);
    }
    for &(index, copy, at) in &users {
        let end = end_in_file(&sections[index], &jobs[index][copy])?;
        files[at].1 = files[at].1.max(end);
    }
    let mut begins = vec![0_u64];
    for (_, length) in &files {
        let before = begins.last().copied().unwrap_or_default();
        begins.push(before.saturating_add(length.next_multiple_of(BLOCK)));
    }
    for (index, copy, at) in users {
        let offset = &mut jobs[index][copy].offset.0;
        *offset = offset.saturating_add(begins[at]);
    }
    let note = format!(
        "{} files, one after another on the drive: jobs without filename= have files of their own",
        files.len()
    );
    Ok(Some(note))
}

fn file_of<'a>(section: &Section<'a>, copy: usize) -> Result<File<'a>, Problem> {
    let one = |key: &str| match section.setting(key) {
        Some(setting) if setting.value.replace("\\:", "").contains(':') => {
            Err((setting.line, format!("{key}: `{}` is more than one, and a job works on one file", setting.value)))
        }
        setting => Ok(setting.map(|setting| setting.value)),
    };
    let directory = one("directory")?.unwrap_or_default();
    let name = one("filename")?.map_or((section.name, Some(copy)), |name| (name, None));
    Ok(File { directory, name })
}

/// Where the job's part of its file ends [B].
fn end_in_file(section: &Section<'_>, job: &JobConfig) -> Result<u64, Problem> {
    if job.offset_percent.is_some() {
        let line = section.setting("offset").map_or(section.line, |setting| setting.line);
        let problem = "give it in bytes: a share is of the whole drive, and jobs have files of their own, which lie one after \
                       another; with filename= they share one";
        return Err((line, format!("offset: {problem}")));
    }
    let Some(size) = job.size else {
        let line = section.setting("size").map_or(section.line, |setting| setting.line);
        let problem = "give it in bytes: jobs have files of their own, which lie one after another; with filename= they \
                       share one";
        return Err((line, format!("size: {problem}")));
    };
    let end = size.0.checked_add(job.offset.0).filter(|end| *end <= u64::MAX - BLOCK);
    end.ok_or_else(|| (section.line, format!("size: {size} from {} on is beyond any drive", job.offset)))
}
