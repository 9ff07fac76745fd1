//! Reduces a trace to its profile and draws as many requests from it: `profile TRACE OUT.toml OUT.csv [SEED]`.

use std::fs;
use std::path::Path;

use ninescope_generators::profile::{ProfileBuilder, ProfileWorkload};
use ninescope_model::Workload;
use ninescope_traces::{Compression, TraceOptions, TraceReader, TraceWriter, WrittenFormat};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut reader = TraceReader::open(Path::new(&arguments[1]), TraceOptions::default())?;
    let mut builder = ProfileBuilder::new();
    while let Some(request) = reader.next_request()? {
        builder.add(&request);
    }
    let profile = builder.finish("example", Vec::new());
    fs::write(&arguments[2], toml::to_string(&profile)?)?;
    let seed = arguments.get(4).map_or(Ok(1), |seed| seed.parse())?;
    let mut workload = ProfileWorkload::new(&profile, None, seed)?;
    let mut writer = TraceWriter::new(WrittenFormat::MqSim, Compression::None)?;
    while let Some(request) = workload.next_request()? {
        writer.add(&request)?;
    }
    eprintln!("{:?}", workload.report());
    fs::write(&arguments[3], writer.finish()?)?;
    Ok(())
}
