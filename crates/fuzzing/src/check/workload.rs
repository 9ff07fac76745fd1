//! Traces and jobs.

use std::error::Error;
use std::io::{Cursor, Read};
use std::path::Path;

use ninescope::config::{parse_fio, parse_jobs};
use ninescope::{AddressPolicy, DriveSource, PrefillMode, RunRequest, WorkloadSource};
use ninescope_generators::JobConfig;
use ninescope_kernel::Ns;
use ninescope_model::{Op, Request, SECTOR_BYTES, Workload, WorkloadError};
use ninescope_traces::{TraceFormat, TraceHealth, TraceOptions, TraceReader, TraceStatistics, TraceSummary};

use super::{refusal, run};

/// Requests looked at of one trace: a small archive may hold very many.
const REQUESTS_MAX: u64 = 20_000;

/// A trace, compressed or not, gives requests in order of time or an error that says why; it gives the same from
/// memory, in small pieces and from a file; its summary agrees; and it replays on a drive it fits on.
///
/// # Panics
/// When any of these does not hold.
pub fn trace(input: &[u8]) {
    let files = run::Files::new();
    let path = files.file("trace", input);
    // As what it is, and as something it may not be.
    let other = TraceFormat::ALL[input.len() % TraceFormat::ALL.len()];
    reads(input, &path, &[None, Some(other)]);
}

/// A description of columns, which is the first line of the input, is refused with a reason or reads back as it is
/// written, and what follows it is a trace in those columns.
///
/// # Panics
/// When any of these does not hold.
pub fn columns(input: &[u8]) {
    let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    let Ok(description) = std::str::from_utf8(&input[..end]) else { return };
    let format: TraceFormat = match format!("csv:{description}").parse() {
        Ok(format) => format,
        Err(error) => return drop(words(error)),
    };
    let written = format.to_string();
    assert_eq!(written.parse::<TraceFormat>().ok(), Some(format), "{written}");
    let content = &input[(end + 1).min(input.len())..];
    let files = run::Files::new();
    let path = files.file("columns", content);
    reads(content, &path, &[Some(format)]);
}

/// What must hold for a trace that is read as each of `formats`.
fn reads(input: &[u8], path: &Path, formats: &[Option<TraceFormat>]) {
    for &format in formats {
        let options = |strict| TraceOptions {
            format,
            strict,
            reorder_window: 4,
            requests: Some(REQUESTS_MAX),
            trims: input.len().is_multiple_of(2),
            ..TraceOptions::default()
        };
        let lenient = read(whole(input), options(false));
        // How much of a damaged archive could be read depends on the pieces.
        assert_eq!(
            lenient.as_ref().ok(),
            read(in_pieces(input), options(false)).as_ref().ok(),
            "pieces change nothing"
        );
        let strict = read(whole(input), options(true));
        if let Ok((requests, health)) = &strict {
            assert_eq!((health.broken_lines, health.reordered, health.clamped), (0, 0, 0), "strict lets nothing pass");
            assert_eq!(lenient.as_ref().ok().map(|(requests, _)| requests), Some(requests));
        }
        summary_agrees(path, &options(false), &lenient);
        loops(path, &options(false), &lenient);
        if format.is_none() {
            replays(path, &lenient, input.len());
        }
    }
}

type Reading = Result<(Vec<Request>, TraceHealth), String>;

fn whole(input: &[u8]) -> Box<dyn Read + Send> {
    Box::new(Cursor::new(input.to_vec()))
}

/// The input a few bytes at a time, as a pipe may give it.
fn in_pieces(input: &[u8]) -> Box<dyn Read + Send> {
    struct Pieces(Cursor<Vec<u8>>, usize);
    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = self.1 % 61 + 1;
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }
    Box::new(Pieces(Cursor::new(input.to_vec()), 0))
}

/// Every request of a trace, each of which must be sound.
fn read(source: Box<dyn Read + Send>, options: TraceOptions) -> Reading {
    let mut reader = TraceReader::from_source("memory", source, options).map_err(words)?;
    let requests = drain(&mut reader)?;
    Ok((requests, reader.health().clone()))
}

fn drain(reader: &mut TraceReader) -> Result<Vec<Request>, String> {
    let mut requests: Vec<Request> = Vec::new();
    while let Some(request) = reader.next_request().map_err(words)? {
        assert!(request.sectors > 0 || request.op == Op::Flush, "{request:?}");
        assert!(request.end().checked_mul(SECTOR_BYTES).is_some(), "{request:?}");
        assert!(request.submitted >= requests.last().map_or(Ns::ZERO, |last| last.submitted), "{request:?}");
        requests.push(request);
    }
    assert_eq!(requests.first().map(|first| first.submitted), Some(Ns::ZERO), "a trace begins at zero");
    Ok(requests)
}

fn words<E: Error + Into<ninescope::Error>>(error: E) -> String {
    let text = error.to_string();
    assert!(!text.trim().is_empty(), "an error says what is wrong");
    refusal(&error.into())
}

/// The summary counts what the reader gives, or fails where the reader fails.
fn summary_agrees(path: &Path, options: &TraceOptions, read: &Reading) {
    match (TraceSummary::scan(path, options).map_err(words), read) {
        (Ok(summary), Ok((requests, _))) => {
            assert_eq!(summary.requests, requests.len() as u64);
            let highest =
                requests.iter().filter(|request| request.op != Op::Flush).map(Request::end).max().unwrap_or(0);
            assert_eq!(summary.max_address, highest * SECTOR_BYTES);
            assert!((0.0..=1.0).contains(&summary.rewrite_ratio) && (0.0..=1.0).contains(&summary.sequential_share));
            serde_json::to_string(&summary).expect("a summary can be written");
            statistics_agree(path, options, &summary);
        }
        (Err(_), Err(_)) => {}
        (summary, _) => panic!("the summary and the reader disagree: {summary:?} against {read:?}"),
    }
}

/// The statistics hold the same summary, whether they follow all pages or few.
fn statistics_agree(path: &Path, options: &TraceOptions, summary: &TraceSummary) {
    for pages_max in [usize::MAX, 8] {
        let statistics = TraceStatistics::scan_following(path, options, pages_max).expect("the summary was read");
        assert_eq!(statistics.summary, *summary);
        assert!(statistics.reuse.miss_ratio.is_sorted_by(|one, other| one.0 < other.0 && one.1 >= other.1));
        serde_json::to_string(&statistics).expect("statistics can be written");
    }
}

/// Two passes with stretched time give each request twice, in order of time, or say why not.
fn loops(path: &Path, options: &TraceOptions, read: &Reading) {
    let Ok((once, _)) = read else { return };
    for time_scale in [0.3, 1e6] {
        let options = TraceOptions { time_scale, loop_count: 2, requests: None, ..options.clone() };
        let Ok(mut reader) = TraceReader::open(path, options) else { continue };
        let Ok(twice) = drain_some(&mut reader) else { continue };
        assert!(twice.is_sorted_by_key(|request| request.submitted));
        assert!(twice.len() == 2 * once.len() || once.len() as u64 >= REQUESTS_MAX / 2);
    }
}

fn drain_some(reader: &mut TraceReader) -> Result<Vec<Request>, WorkloadError> {
    std::iter::from_fn(|| reader.next_request().transpose()).take(REQUESTS_MAX as usize).collect()
}

/// A short trace runs to its end on a small drive, or is refused.
fn replays(path: &Path, read: &Reading, choice: usize) {
    let Ok((requests, _)) = read else { return };
    if requests.len() > 200 {
        return;
    }
    let mut request = RunRequest::from_json("{}").expect("an empty request is one");
    request.drive = Some(DriveSource::Toml(run::SMALL_DRIVE.to_owned()));
    let policies = [AddressPolicy::Refuse, AddressPolicy::Wrap, AddressPolicy::Compact];
    request.workload = Some(WorkloadSource {
        trace: Some(path.to_owned()),
        addresses: Some(policies[choice % policies.len()]),
        trims: choice.is_multiple_of(2),
        ..WorkloadSource::default()
    });
    let _ = run::to_the_end(&request);
}

/// Jobs in TOML, and those of fio, are refused with a reason, or read back as they are written and run to their end.
///
/// # Panics
/// When neither holds.
pub fn job(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match parse_jobs(Path::new("job.toml"), text) {
        Ok(loaded) => jobs_hold(&loaded.jobs),
        Err(error) => drop(refusal(&error)),
    }
    match parse_fio(Path::new("job.fio"), text) {
        Ok(loaded) => jobs_hold(&loaded.jobs),
        Err(error) => drop(refusal(&error)),
    }
}

fn jobs_hold(jobs: &[JobConfig]) {
    for job in jobs {
        let written = toml::to_string(job).expect("an accepted job can be written");
        let again = parse_jobs(Path::new("written.toml"), &written);
        assert!(
            !numbers(job).all(|number| !number.is_nan()) || again.is_ok_and(|again| again.jobs == [job.clone()]),
            "{written}"
        );
    }
    // JSON has no infinity and nothing that is not a number.
    if !jobs.iter().flat_map(numbers).all(f64::is_finite) {
        return;
    }
    for prefill in [PrefillMode::None, PrefillMode::Full] {
        let mut request = RunRequest::from_json("{}").expect("an empty request is one");
        request.drive = Some(DriveSource::Toml(run::SMALL_DRIVE.to_owned()));
        let value = serde_json::to_value(jobs).expect("an accepted job can be written");
        request.workload = Some(WorkloadSource { job: Some(value), ..WorkloadSource::default() });
        request.prefill = prefill;
        let drive = request.load_drive().expect("the small drive is one");
        if let Some((request, _files)) = run::bounded(request, &drive) {
            let _ = run::to_the_end(&request);
        }
    }
}

/// What a job gives that may be no number.
fn numbers(job: &JobConfig) -> impl Iterator<Item = f64> + use<> {
    [Some(job.rwmixread), job.size_percent, job.offset_percent, job.rate_iops, job.write_rate_iops]
        .into_iter()
        .flatten()
}
