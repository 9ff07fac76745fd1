//! What was written into each partition of a drive whose jobs have channels of their own.

use std::collections::BTreeSet;

use ninescope_engine::Seen;
use ninescope_ftl::{FtlConfig, Partition};
use ninescope_model::Pool;
use serde_json::{Value, json};

/// Write amplification of a partition: units programmed there for each that the host wrote; none where it wrote nothing.
pub fn waf(device: &Seen<'_>, partition: u32) -> Option<f64> {
    let (host, programmed) = device.ftl.units_of_partition(partition);
    (host > 0).then(|| programmed as f64 / host as f64)
}

/// The section `partitions`; absent where the drive is one. `of_job` are the partitions of the jobs called so.
pub fn section(device: &Seen<'_>, ftl: &FtlConfig, jobs: &[String], of_job: &[u32]) -> Option<Value> {
    let entry = |(number, partition): (u32, &Partition)| {
        let (host_units, programmed_units) = device.ftl.units_of_partition(number);
        let geometry = &ftl.geometry;
        let pools = || partition.pools.iter().copied().map(Pool);
        let dies: BTreeSet<u32> = pools().map(|pool| geometry.die_of_pool(pool).0).collect();
        let channels: BTreeSet<u32> =
            pools().map(|pool| geometry.channel_of_die(geometry.die_of_pool(pool)).0).collect();
        let planes = pools().map(|pool| geometry.first_plane_of_pool(pool));
        let planes: BTreeSet<u32> = planes.flat_map(|first| first..first + geometry.frontier_planes).collect();
        let own = jobs.iter().zip(of_job).filter(|&(_, &of)| of == number).map(|(name, _)| name);
        let mut told = json!({
            "jobs": own.collect::<Vec<_>>(),
            "channels": channels,
            "dies": dies,
            "planes": planes,
            "logical_units": partition.unit_count_before(ftl.logical_units),
            "physical_units": geometry.units() / geometry.pools() * partition.pools.len() as u32,
            "host_units": host_units,
            "programmed_units": programmed_units,
            "units_per_host_unit": waf(device, number),
        });
        if ftl.translation_units > 0 {
            told["map_units"] = json!(device.ftl.map_units_of_partition(number));
        }
        told
    };
    (!ftl.partitions.is_empty()).then(|| (0..).zip(&ftl.partitions).map(entry).collect())
}
