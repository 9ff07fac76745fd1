//! Metadata apart: the first units of the drive, where a file system keeps its tables, have streams of their own.

use ninescope::ftl::policies::StreamChoiceConfig;
use ninescope::ftl::policies::stream_choice::{StreamChoice, StreamChoiceParameters, Written};
use ninescope::{kernel::Snapshot, model::Lpa, model::Stream};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct MetadataApart {
    first: u32, // so many units
}

impl StreamChoiceParameters for MetadataApart {
    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for MetadataApart {
    fn kinds_of_writes(&self) -> u32 {
        2
    }
    fn kinds_of_moves(&self) -> u32 {
        2
    }
    fn of_write(&self, unit: &Written) -> u32 {
        u32::from(unit.lpa.0 < self.first)
    }
    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        from.kind() // what is moved stays among its like
    }
}

impl Snapshot for MetadataApart {} // it remembers nothing from unit to unit

fn main() -> Result<(), ninescope::Error> {
    StreamChoiceConfig::add::<MetadataApart>("metadata-apart");
    for streams in ["single", "{ policy = 'metadata-apart', first = 11_000 }"] {
        let set = [format!("ftl.streams={streams}"), "ftl.victim=cost-benefit".to_owned()];
        let result = ninescope_check::run(&serde_json::json!({
            "drive": {"file": "examples/drives/small.toml"}, "set": set,
            "workload": {"job": {"rw": "randwrite", "bs": "4k", "random_distribution": "zoned:90/10:10/90"}},
            "prefill": "steady", "requests": 100_000, "check": "cheap",
        }))?;
        println!("{} written for 1: {streams}", result["waf"]["total"]);
    }
    Ok(())
}
