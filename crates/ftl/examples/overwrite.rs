//! Overwrites a drive of one pool at random under the instant driver: what its garbage collection takes is counted with valgrind,
//! as the difference of two runs (`docs/collection.md`).
//!
//! `overwrite VICTIM GROUPS UNITS_PER_GROUP WRITES`: at 28 % spare, WRITES of the host after as many as the drive has units.

use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{Geometry, Lpa};

/// Physical units over logical ones.
const SPARE: f64 = 1.28;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [victim, groups, pages, writes] = &arguments[..] else {
        panic!("overwrite VICTIM GROUPS UNITS_PER_GROUP WRITES");
    };
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let victim: VictimSelectionConfig =
        serde_json::from_value(serde_json::json!({ "policy": victim })).expect("a victim policy");
    let geometry = Geometry::checked(1, 1, 1, 1, number(groups), number(pages), 4096, 4096, 1).expect("legal");
    let config = FtlConfig {
        logical_units: (f64::from(geometry.units()) / SPARE) as u32,
        reserve_groups: 1,
        victim_selection: victim,
        seed: 1,
        ..FtlConfig::bare(geometry)
    };
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let units = config.logical_units;
    let mut stream = RandomStream::new(1, "example", "overwrite");
    let mut driver = InstantDriver::new(&mut ftl);
    driver.fill(0..units);
    for _ in 0..units + number(writes) {
        driver.write(Lpa(stream.below(u64::from(units)) as u32)).expect("space");
    }
    println!("write amplification {:.4}", ftl.counters().write_amplification());
}
