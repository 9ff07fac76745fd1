//! Patience: an erase is suspended at its next safe point once so many reads wait for it, and not for fewer.

use ninescope::engine::policies::suspend::{SuspendDecision, SuspendPolicy, SuspendPolicyParameters, SuspendQuestion};
use ninescope::engine::{QueueClass, SuspendPolicyConfig};
use ninescope::media::nand::CommandKind;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Patience {
    reads: u32, // that wait for the die
}

impl SuspendPolicyParameters for Patience {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        Some(Box::new(*self))
    }
}

impl SuspendPolicy for Patience {
    fn decide(&mut self, question: &SuspendQuestion<'_>) -> SuspendDecision {
        let operation = question.operation;
        if operation.command.kind == CommandKind::Erase && question.queued(QueueClass::HostRead) >= self.reads {
            SuspendDecision::At(operation.next_safe_point(question.now, 10)) // ten in each loop
        } else {
            SuspendDecision::Continue
        }
    }
}

fn main() -> Result<(), ninescope::Error> {
    SuspendPolicyConfig::add::<Patience>("patience");
    for suspend in ["none", "every-safe-point", "{ policy = 'patience', reads = 3 }"] {
        let result = ninescope_check::run(&serde_json::json!({
            "drive": {"file": "examples/drives/small.toml"}, "set": [format!("scheduler.suspend={suspend}")],
            "workload": {"job": {"rw": "randrw", "rwmixread": 70, "bs": "4k", "iodepth": 16}},
            "prefill": "steady-uniform", "requests": 50_000, "check": "cheap",
        }))?;
        let reads = &result["latency"]["read"]["percentiles_ns"]["99.9"];
        println!("{reads} ns at p99.9 of reads, suspended {} times: {suspend}", result["counters"]["suspends"]);
    }
    Ok(())
}
