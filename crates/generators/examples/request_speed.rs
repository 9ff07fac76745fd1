//! Measures how fast requests are made: `cargo run --release -p ninescope-generators --example request_speed [TRACE]`.
//!
//! Without a trace it writes five million MSR rows to a temporary file and reads those.

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use ninescope_generators::{JobConfig, SyntheticJob};
use ninescope_model::Workload;
use ninescope_traces::{TraceOptions, TraceReader, TraceSummary};

const ROWS: u64 = 5_000_000;
const DRIVE_SECTORS: u64 = 1 << 31;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::args_os().nth(1) {
        return measure_trace(Path::new(&path));
    }
    for (name, text) in [
        ("uniform", "random_distribution = 'uniform'\nrw = 'randread'"),
        ("uniform mixed", "random_distribution = 'uniform'\nrw = 'randrw'"),
        ("zipf", "random_distribution = 'zipf:1.1'\nrw = 'randread'"),
        ("sequential", "rw = 'read'"),
        ("uniform Poisson", "rw = 'randread'\nrate_iops = 1e6\nrate_process = 'poisson'"),
    ] {
        let config = JobConfig { requests: Some(50_000_000), ..toml::from_str(text)? };
        measure(name, &mut SyntheticJob::new(config, DRIVE_SECTORS, 1)?)?;
    }
    let path = std::env::temp_dir().join(format!("ninescope-speed-{}.csv", std::process::id()));
    let result = write_rows(&path).and_then(|()| measure_trace(&path));
    std::fs::remove_file(&path)?;
    result
}

fn measure_trace(path: &Path) -> Result<(), Box<dyn Error>> {
    measure("trace", &mut TraceReader::open(path, TraceOptions::default())?)?;
    let start = Instant::now();
    let summary = TraceSummary::scan(path, &TraceOptions::default())?;
    report("summary", summary.requests, start);
    Ok(())
}

fn measure(name: &str, workload: &mut dyn Workload) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let (mut count, mut sum) = (0_u64, 0_u64);
    while let Some(request) = workload.next_request()? {
        count += 1;
        sum = sum.wrapping_add(request.lba.0);
    }
    report(name, count, start);
    std::hint::black_box(sum);
    Ok(())
}

fn report(name: &str, count: u64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {count} requests in {seconds:.3} s, {:.1} M/s", count as f64 / seconds / 1e6);
}

fn write_rows(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for row in 0..ROWS {
        let (ticks, offset) = (128_166_372_003_061_629 + row * 1000, row * 7919 % 10_000_000 * 4096);
        let kind = if row % 3 == 0 { "Read" } else { "Write" };
        writeln!(file, "{ticks},hm,1,{kind},{offset},4096,41286")?;
    }
    Ok(file.flush()?)
}
