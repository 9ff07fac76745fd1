//! What needs no time: the instant driver beside a loop over the same tables, and drives in steady state.

use std::time::{Duration, Instant};

use ninescope::{DriveSource, RunRequest, Simulation, WorkloadSource};
use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa};
use serde_json::{Value, json};

use crate::figures::Figures;
use crate::reference_loop::ReferenceLoop;

/// Of the drive that is overwritten, physical over logical units.
const SPARE: f64 = 1.28;

/// The drive of all rows, in units.
fn drive(blocks: u32) -> FtlConfig {
    let geometry = Geometry::checked(8, 4, 2, 2, blocks, 256, 16_384, 4_096, 2).expect("a legal geometry");
    FtlConfig {
        logical_units: (f64::from(geometry.units()) / SPARE) as u32,
        reserve_groups: 1,
        seed: 1,
        ..FtlConfig::bare(geometry)
    }
}

/// Random overwriting of a drive that is full: twice as many units as it has, the second half measured. Returns units of
/// the host and programs per second.
fn overwritten(units: u32, mut write: impl FnMut(u32), programmed: impl Fn() -> u64) -> (f64, f64) {
    let mut stream = RandomStream::new(1, "bench", "overwrite");
    let mut pass = |write: &mut dyn FnMut(u32)| (0..units).for_each(|_| write(stream.below(u64::from(units)) as u32));
    pass(&mut write);
    let before = programmed();
    let begin = Instant::now();
    pass(&mut write);
    let seconds = begin.elapsed().as_secs_f64();
    (f64::from(units) / seconds, (programmed() - before) as f64 / seconds)
}

/// The instant driver beside the loop; returns what the loop programs in a second [units/s].
pub fn driver_beside_loop(blocks: u32, figures: &mut Figures) -> f64 {
    let config = drive(blocks);
    let (geometry, units) = (config.geometry, config.logical_units);
    let bytes_per_unit = FtlConfig::table_bytes(&geometry, units) as f64 / f64::from(geometry.units());
    println!("tables: {bytes_per_unit:.2} bytes per physical 4 KiB unit");
    let looped = std::cell::RefCell::new(ReferenceLoop::new(&geometry, units));
    (0..units).for_each(|unit| looped.borrow_mut().write(unit));
    let (host, of_loop) = overwritten(units, |unit| looped.borrow_mut().write(unit), || looped.borrow().programmed);
    print_rates("untimed loop over the same tables", host, of_loop);
    drop(looped);
    let mut ftl = Ftl::new(&config).expect("enough spare blocks");
    InstantDriver::new(&mut ftl).fill(0..units);
    let ftl = std::cell::RefCell::new(ftl);
    let write = |unit| {
        InstantDriver::new(&mut ftl.borrow_mut()).write(Lpa(unit)).expect("space");
    };
    let (host, of_driver) = overwritten(units, write, || ftl.borrow().counters().programmed_units());
    print_rates("instant driver", host, of_driver);
    println!("  programs per second: {:.2} of the untimed loop's", of_driver / of_loop);
    figures.keep("untimed loop [M programs/s]", of_loop / 1e6);
    figures.keep("instant driver: programs per second, of the untimed loop's", of_driver / of_loop);
    of_loop
}

fn print_rates(name: &str, host: f64, programs: f64) {
    println!(
        "{name}: random overwrite {:.2} M host writes/s, {:.2} M programs/s at WAF {:.2}",
        host / 1e6,
        programs / 1e6,
        programs / host
    );
}

/// How long a drive takes until it is steady under uniform random writes, composed.
pub fn steady_states(blocks: u32, figures: &mut Figures) {
    println!("\nsteady state, composed                   7 % spare            28 % spare");
    let victims: &[&str] = if crate::is_tried() { &["greedy"] } else { &["greedy", "fifo", "d-choices", "random"] };
    for victim in victims {
        // Fewer blocks have no 7 % to spare.
        let took = [0.07, 0.28].map(|spare| steady_state(blocks.max(64), victim, spare));
        let told = |(seconds, waf): (f64, f64)| format!("{seconds:.2} s at WAF {waf:.2}");
        println!("  {victim:<32} {:>20}  {:>20}", told(took[0]), told(took[1]));
        figures.keep(format!("steady state, {victim}, 7 % spare [s]"), took[0].0);
        figures.keep(format!("steady state, {victim}, 28 % spare [s]"), took[1].0);
    }
}

/// Seconds, and the write amplification that is declared.
fn steady_state(blocks: u32, victim: &str, spare: f64) -> (f64, f64) {
    let set = [format!("ftl.victim={victim}"), format!("ftl.over_provisioning={spare}")];
    let text = json!({"seed": 1, "prefill": "steady-composed", "set": set}).to_string();
    let mut request = RunRequest::from_json(&text).expect("a legal request");
    request.drive = Some(DriveSource::Toml(crate::drive_of(blocks, spare)));
    let job = json!({"rw": "randread", "bs": "4k", "requests": 1});
    request.workload = Some(WorkloadSource { job: Some(job), ..WorkloadSource::default() });
    let mut simulation = Simulation::new(&request).expect("a legal run");
    while !simulation.run_slice(Duration::from_secs(3600)).expect("a run without faults").finished {}
    let result: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
    let number = |value: &Value| value.as_f64().expect("a number");
    (number(&result["performance"]["prepare_seconds"]), number(&result["steady_state"]["waf"]))
}

/// What a write of the host costs under the instant driver on one pool, by the victim policy and how many block groups there are:
/// small groups, of which a victim is chosen every few writes.
pub fn victims(figures: &mut Figures) {
    const UNITS: u32 = 16;
    let sizes: &[u32] = if crate::is_tried() { &[64] } else { &[1_024, 16_384, 262_144] };
    let heads: Vec<String> = sizes.iter().map(|groups| format!("{groups:>12} groups")).collect();
    println!("\nhost write, one pool of groups of {UNITS} units {}", heads.join(""));
    for (victim, _) in VictimSelectionConfig::LIST {
        let took: Vec<f64> = sizes.iter().map(|&groups| write_of(victim, groups, UNITS)).collect();
        let told: Vec<String> = took.iter().map(|took| format!("{took:>16.0} ns")).collect();
        println!("  {victim:<40} {}", told.join(""));
        for (groups, took) in sizes.iter().zip(&took) {
            figures.keep(format!("host write, {victim}, {groups} groups [ns]"), *took);
        }
    }
}

/// Nanoseconds for a write, once each unit was overwritten once on average.
fn write_of(victim: &str, groups: u32, units_per_group: u32) -> f64 {
    let mut begin = Instant::now();
    let count =
        overwritten_for_a_while(json!({ "policy": victim }), groups, units_per_group, || begin = Instant::now());
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

/// Overwrites a drive of one pool until each unit was overwritten once on average, says that it has `begun`, and goes on for so
/// many writes as are returned.
pub fn overwritten_for_a_while(victim: Value, groups: u32, units_per_group: u32, begun: impl FnOnce()) -> u32 {
    let geometry = Geometry::checked(1, 1, 1, 1, groups, units_per_group, 4_096, 4_096, 1).expect("a legal geometry");
    let config = FtlConfig {
        geometry,
        logical_units: (f64::from(geometry.units()) / SPARE) as u32,
        victim_selection: serde_json::from_value(victim).expect("a victim policy"),
        ..drive(32)
    };
    let mut ftl = Ftl::new(&config).expect("enough spare blocks");
    let mut stream = RandomStream::new(1, "bench", "victims");
    let mut driver = InstantDriver::new(&mut ftl);
    driver.fill(0..config.logical_units);
    let mut write = |count: u32| {
        for _ in 0..count {
            driver.write(Lpa(stream.below(u64::from(config.logical_units)) as u32)).expect("space");
        }
    };
    write(config.logical_units);
    begun();
    let count = if crate::is_tried() { 100 } else { 400_000 };
    write(count);
    count
}
