//! What the drive drew: energy by what it was spent on, and power.

use ninescope_engine::{
    Energy, HeatConfig, HeatSeen, Power, PowerState, Seen, StateTimes, ThrottleStep, ThrottleTimes,
};
use ninescope_kernel::Ns;
use ninescope_model::{OCCUPANCIES, Occupancy, Op};
use serde_json::{Map, Value, json};

/// Energy and power since measuring began, with what the drive did by itself behind the last completion.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    let power = device.power?;
    let elapsed = device.now - device.meter.since;
    let (spent, at_rest) = (power.spent(), power.spent_at_rest(device.now));
    let whole = spent.sum() + at_rest;
    let (requests, bytes) = moved(device);
    let of_each = |number: u64| (number > 0).then(|| joules(whole) / number as f64);
    let peak = power.peak(device.now);
    Some(json!({
        "elapsed_ns": elapsed.0,
        "joules": joules(whole),
        "joules_per_request": of_each(requests),
        "joules_per_byte": of_each(bytes),
        "average_watts": watts(whole, elapsed),
        "peak_watts": peak.and_then(|peak| watts(peak.energy, peak.window)),
        "peak_window_ns": peak.map(|peak| peak.window.0),
        "peak_begins_ns": peak.map(|peak| peak.since.0),
        "cap_watts": power.config().cap.map(|cap| cap as f64 / 1e6),
        "by_cause": by_cause(spent, at_rest),
        "by_part": by_part(power, at_rest),
        "states": states(power, device.now),
        "heat": power.config().heat.as_ref().zip(power.heat(device.now)).map(heat),
    }))
}

/// Requests that were measured, and the bytes that they read and wrote.
fn moved(device: &Seen<'_>) -> (u64, u64) {
    let requests = device.meter.ops.iter().map(|op| op.latency.count()).sum();
    let bytes = [Op::Read, Op::Write].into_iter().map(|op| device.meter.ops[op as usize].bytes).sum();
    (requests, bytes)
}

/// What all parts draw at any time is `idle`; of the others what took anything.
fn by_cause(spent: &Energy, at_rest: u128) -> Value {
    let mut causes = Map::new();
    causes.insert(Occupancy::Idle.name().to_owned(), json!(joules(at_rest)));
    for occupancy in Occupancy::ALL {
        let lane = occupancy as usize;
        let energy = spent.dies[lane] + spent.channels[lane] + spent.banks[lane];
        if energy > 0 {
            causes.insert(occupancy.name().to_owned(), json!(joules(energy)));
        }
    }
    for (name, energy) in [("dram", spent.dram), ("cores", spent.cores)] {
        if energy > 0 {
            causes.insert(name.to_owned(), json!(joules(energy)));
        }
    }
    Value::Object(causes)
}

/// How often and how long the drive was in each state of less power, and what it drew there.
fn states(power: &Power, now: Ns) -> Value {
    let times = power.times_in_states(now);
    let of = |((state, times), energy): ((&PowerState, &StateTimes), u128)| {
        json!({
            "power_watts": state.power as f64 / 1e6,
            "entries": times.entries,
            "time_ns": times.time.0,
            "joules": joules(energy),
        })
    };
    power.config().states.iter().zip(&times).zip(power.spent_in_states(&times)).map(of).collect()
}

/// How warm it was, and how long each step of its throttle was in force.
fn heat((config, seen): (&HeatConfig, HeatSeen)) -> Value {
    let celsius = |millionths: i64| millionths as f64 / 1e6;
    let of = |(step, times): (&ThrottleStep, &ThrottleTimes)| {
        json!({
            "above_celsius": celsius(step.above),
            "until_celsius": celsius(step.until),
            "cap_watts": step.cap as f64 / 1e6,
            "entries": times.entries,
            "time_ns": times.time.0,
        })
    };
    json!({
        "celsius": seen.celsius,
        "highest_celsius": seen.highest,
        "highest_at_ns": seen.highest_at.0,
        "mean_celsius": seen.mean,
        "throttles": seen.begun,
        "throttled_ns": seen.times.iter().map(|times| times.time.0).sum::<u64>(),
        "steps": config.throttle.iter().zip(&seen.times).map(of).collect::<Value>(),
    })
}

fn by_part(power: &Power, at_rest: u128) -> Value {
    let spent = power.spent();
    let sum = |lanes: &[u128; OCCUPANCIES]| joules(lanes.iter().sum());
    json!({
        "at_rest": joules(at_rest),
        "dies": sum(&spent.dies),
        "channels": sum(&spent.channels),
        "banks": sum(&spent.banks),
        "dram": joules(spent.dram),
        "cores": joules(spent.cores),
    })
}

/// Femtojoules are told in joules.
fn joules(energy: u128) -> f64 {
    energy as f64 / 1e15
}

/// A femtojoule in each nanosecond is a microwatt.
fn watts(energy: u128, time: Ns) -> Option<f64> {
    (time > Ns::ZERO).then(|| energy as f64 / time.0 as f64 / 1e6)
}
