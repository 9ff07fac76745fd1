//! Channels, dies and planes that jobs have for themselves: which partitions the drive falls into, and what lies in each.
//!
//! A job's region lies in the planes that the job names. Jobs that name the same planes share them; what no job names is for the
//! jobs that name nothing. Addresses of no job go where there is room, so that every partition holds about its share of the
//! drive, and has the over-provisioning of the whole. How a partition is written is not known here.

use std::ops::Range;

use ninescope_ftl::{FtlConfig, Partition};
use ninescope_generators::{JobConfig, JobError};
use ninescope_model::units::Bytes;
use ninescope_model::{DieId, Geometry, Pool};

use super::disjoint;
use crate::assembly::Assembly;
use crate::precondition::PrefillMode;

/// A job with the units of its region.
pub(super) type Tenant<'a> = (&'a JobConfig, Range<u32>);

/// The partitions of a drive, and of each job the number of its own.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OfJobs {
    pub partitions: Vec<Partition>,
    /// Empty where no job names anything.
    pub of_job: Vec<u32>,
}

/// What is wrong with a job of that number.
type Refused = (usize, JobError);

/// Whether a job names what it wants for itself.
pub(super) fn names_planes(job: &JobConfig) -> Option<&'static str> {
    let named = [("channels", &job.channels), ("dies", &job.dies), ("planes", &job.planes)];
    named.into_iter().find(|(_, list)| list.is_some()).map(|(key, _)| key)
}

/// What a drive, or how it is prepared, does not go with.
///
/// # Errors
/// The rest of a sentence that begins with the key.
pub(super) fn check_drive(prefill: PrefillMode, assembly: &Assembly) -> Result<(), &'static str> {
    if assembly.timing.is_none() {
        return Err("only a drive with flash has channels that lie apart for jobs");
    }
    if assembly.ftl.zones.is_some() {
        return Err("do not go with zones ([zns]), which have dies of their own (zns.zone_width)");
    }
    if assembly.ftl.block_map.is_some() {
        return Err("do not go with a map of blocks (ftl.map), whose logical blocks go to all planes in turn");
    }
    if !assembly.ftl.homes.is_empty() {
        return Err("do not go with channels that streams have for themselves (ftl.stream_channels)");
    }
    if prefill == PrefillMode::SteadyComposed {
        return Err(
            "make pools unlike each other, and `steady-composed` makes all of them alike: take `steady-uniform`",
        );
    }
    Ok(())
}

/// The partitions that jobs ask for.
///
/// # Errors
/// The number of the job at fault, with its key.
pub(super) fn of_jobs(tenants: &[Tenant<'_>], ftl: &FtlConfig) -> Result<OfJobs, Refused> {
    if tenants.iter().all(|(job, _)| names_planes(job).is_none()) {
        return Ok(OfJobs::default());
    }
    let geometry = &ftl.geometry;
    let mut partitions: Vec<(Vec<u32>, &'static str)> = Vec::new();
    let mut of_job = vec![None; tenants.len()];
    for (index, (job, _)) in tenants.iter().enumerate() {
        let Some(key) = names_planes(job) else { continue };
        let pools = pools_of(job, geometry).map_err(|error| (index, error))?;
        let known = partitions.iter().position(|(others, _)| *others == pools);
        let other = partitions.iter().position(|(others, _)| others.iter().any(|pool| pools.contains(pool)));
        if let (None, Some(other)) = (known, other) {
            let name = &tenants[first_of(other, &of_job)].0.name;
            let problem =
                format!("are on this drive shared with job `{name}` in part: name the same ones for both, or others");
            return Err((index, JobError::new(key, problem)));
        }
        of_job[index] = Some(known.unwrap_or(partitions.len()) as u32);
        if known.is_none() {
            partitions.push((pools, key));
        }
    }
    let rest: Vec<u32> =
        (0..geometry.pools()).filter(|pool| !partitions.iter().any(|(pools, _)| pools.contains(pool))).collect();
    let of_rest = partitions.len() as u32;
    if let Some(index) = of_job.iter().position(Option::is_none).filter(|_| rest.is_empty()) {
        let problem =
            "names none, and other jobs have all that the drive has: name those that it is to have, or to share";
        return Err((index, JobError::new(partitions[0].1, problem)));
    }
    if !rest.is_empty() {
        partitions.push((rest, "channels"));
    }
    let of_job: Vec<u32> = of_job.into_iter().map(|partition| partition.unwrap_or(of_rest)).collect();
    let mut partitions: Vec<Partition> =
        partitions.into_iter().map(|(pools, _)| Partition { pools, units: Vec::new() }).collect();
    place_regions(tenants, &of_job, &mut partitions)?;
    deal_rest(&mut partitions, ftl);
    give_map_pages(&mut partitions, ftl);
    check_room(tenants, &of_job, &partitions, ftl)?;
    Ok(OfJobs { partitions, of_job })
}

/// The first job of a partition.
fn first_of(partition: usize, of_job: &[Option<u32>]) -> usize {
    of_job.iter().position(|&of| of == Some(partition as u32)).unwrap_or_default()
}

/// The pools of the channels, dies and planes that a job names.
fn pools_of(job: &JobConfig, geometry: &Geometry) -> Result<Vec<u32>, JobError> {
    let lists = [
        ("channels", "channel", &job.channels, geometry.channels),
        ("dies", "die", &job.dies, geometry.dies()),
        ("planes", "plane", &job.planes, geometry.planes_per_die),
    ];
    for (key, what, list, count) in lists {
        let Some(list) = list else { continue };
        if list.is_empty() {
            return Err(JobError::new(key, format!("is empty, and the job would have no {what} to write to")));
        }
        if let Some(number) = list.iter().find(|&&number| number >= count) {
            let there = if count == 1 { "only 0".to_owned() } else { format!("0 to {}", count - 1) };
            return Err(JobError::new(key, format!("there is no {what} {number}, the drive has {there}")));
        }
        let second = (1..list.len()).find(|&at| list[..at].contains(&list[at]));
        if let Some(at) = second {
            return Err(JobError::new(key, format!("{what} {} is named twice", list[at])));
        }
    }
    if let (Some((key, ..)), true) = (lists.iter().find(|(.., list, _)| list.is_some()), geometry.spans_dies()) {
        let what =
            if geometry.parity.is_some() { "stripes of parity (ftl.parity)" } else { "super-blocks (ftl.superblock)" };
        let problem = format!("{what} lie on several dies, which are no job's own: a drive has one of the two");
        return Err(JobError::new(key, problem));
    }
    if job.channels.is_some() && job.dies.is_some() {
        let problem = "names dies, and `channels` names all of their channels; give one of the two";
        return Err(JobError::new("dies", problem));
    }
    let named = |list: &Option<Vec<u32>>, number: u32| list.as_ref().is_none_or(|list| list.contains(&number));
    let mut pools = Vec::new();
    for pool in (0..geometry.pools()).map(Pool) {
        let DieId(die) = geometry.die_of_pool(pool);
        if !named(&job.dies, die) || !named(&job.channels, geometry.channel_of_die(DieId(die)).0) {
            continue;
        }
        let first = geometry.first_plane_of_pool(pool);
        let planes = first..first + geometry.frontier_planes;
        let there = planes.clone().filter(|&plane| named(&job.planes, plane)).count() as u32;
        if there != 0 && there != geometry.frontier_planes {
            let problem = format!(
                "planes {first} to {} of a die of this drive are written together (ftl.frontier_planes is {}): name all of them, or none",
                planes.end - 1,
                geometry.frontier_planes
            );
            return Err(JobError::new("planes", problem));
        }
        if there > 0 {
            pools.push(pool.0);
        }
    }
    Ok(pools)
}

/// The regions of jobs lie in their partitions.
fn place_regions(tenants: &[Tenant<'_>], of_job: &[u32], partitions: &mut [Partition]) -> Result<(), Refused> {
    for (index, (job, units)) in tenants.iter().enumerate() {
        let overlaps = |other: &usize| {
            let (_, others) = &tenants[*other];
            of_job[*other] != of_job[index] && units.start < others.end && others.start < units.end
        };
        if let Some(other) = (0..index).find(overlaps) {
            let key = if job.offset_percent.is_some() { "offset_percent" } else { "offset" };
            let problem = format!(
                "begins or ends in the region of job `{}`, which lies in other planes: one address has one place",
                tenants[other].0.name
            );
            return Err((index, JobError::new(key, problem)));
        }
        partitions[of_job[index] as usize].units.push(units.clone());
    }
    for partition in partitions {
        partition.units = joined(std::mem::take(&mut partition.units));
    }
    Ok(())
}

/// What lies in no region goes to partitions that hold less than their share of the drive, in the order of addresses.
fn deal_rest(partitions: &mut [Partition], ftl: &FtlConfig) {
    let taken = disjoint(partitions.iter().flat_map(|partition| partition.units.iter().cloned()).collect());
    let ends = std::iter::once(0).chain(taken.iter().map(|range| range.end));
    let begins = taken.iter().map(|range| range.start).chain(std::iter::once(ftl.logical_units));
    let mut gaps: Vec<Range<u32>> = ends.zip(begins).map(|(start, end)| start..end).collect();
    gaps.retain(|gap| !gap.is_empty());
    gaps.reverse();
    for partition in partitions {
        let pools = partition.pools.len() as u64;
        let share = (u64::from(ftl.logical_units) * pools).div_ceil(u64::from(ftl.geometry.pools())) as u32;
        let mut room = share.saturating_sub(partition.unit_count());
        while room > 0
            && let Some(gap) = gaps.last_mut()
        {
            let end = gap.end.min(gap.start + room);
            room -= end - gap.start;
            partition.units.push(gap.start..end);
            gap.start = end;
            if gap.start == gap.end {
                gaps.pop();
            }
        }
        partition.units = joined(std::mem::take(&mut partition.units));
    }
}

/// Pages of a map that lies in flash lie in the partitions whose units they tell of, where there is such a map.
pub(super) fn give_map_pages(partitions: &mut [Partition], ftl: &FtlConfig) {
    ninescope_ftl::give_map(partitions, ftl.logical_units, ftl.translation_units, ftl.translation_entries);
}

/// Ranges that do not overlap, in their order, those that touch made one.
fn joined(ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in disjoint(ranges) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// Each partition has room for what lies there.
fn check_room(
    tenants: &[Tenant<'_>],
    of_job: &[u32],
    partitions: &[Partition],
    ftl: &FtlConfig,
) -> Result<(), Refused> {
    for (partition, number) in partitions.iter().zip(0..) {
        let (units, most) = (partition.unit_count(), ftl.units_that_fit(partition.pools.len() as u32));
        if units <= most {
            continue;
        }
        let jobs: Vec<usize> = (0..of_job.len()).filter(|&job| of_job[job] == number).collect();
        let told = |units: u32| Bytes(u64::from(units) * u64::from(ftl.geometry.unit_bytes)).told();
        let largest = jobs.iter().copied().max_by_key(|&job| tenants[job].1.len()).unwrap_or_default();
        let (takes, planes) = match jobs.len() {
            0 => ("what no job names", "left for it"),
            1 => ("the region", "that the job has"),
            _ => ("the region and what else lies there", "that the job has"),
        };
        let map = if ftl.translation_units > 0 { ", with its pages of the map," } else { "" };
        let problem = format!(
            "{takes}{map} takes {}, and the planes of the drive {planes} hold {} at most, with spare blocks for \
             garbage collection",
            told(units),
            told(most)
        );
        return Err((largest, JobError::new("size", problem)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of two dies of one plane, 12 blocks of 8 units each: 384 units, 200 of them the host's.
    fn ftl() -> FtlConfig {
        let geometry = Geometry::checked(2, 1, 2, 1, 12, 8, 4_096, 4_096, 1).expect("legal");
        FtlConfig { logical_units: 200, reserve_groups: 1, seed: 1, ..FtlConfig::bare(geometry) }
    }

    fn job(name: &str, channels: Option<&[u32]>, dies: Option<&[u32]>) -> JobConfig {
        let list = |list: Option<&[u32]>| list.map(<[u32]>::to_vec);
        JobConfig { name: name.to_owned(), channels: list(channels), dies: list(dies), ..JobConfig::default() }
    }

    #[test]
    fn what_no_job_touches_fills_each_partition_up_to_its_share() {
        let jobs = [job("a", Some(&[1]), None), job("b", None, Some(&[0]))];
        let tenants = [(&jobs[0], 10..30), (&jobs[1], 100..140)];
        let of = of_jobs(&tenants, &ftl()).expect("they fit");
        assert_eq!(of.of_job, [0, 1]);
        let pools: Vec<&[u32]> = of.partitions.iter().map(|partition| &partition.pools[..]).collect();
        assert_eq!(pools, [&[2, 3][..], &[0], &[1]], "channel 1, die 0, and what is left");
        // 200 units by shares of two, one and one quarters: 20 + 80, 40 + 10, 50.
        assert_eq!(of.partitions[0].units, std::slice::from_ref(&(0..100)));
        assert_eq!(of.partitions[1].units, std::slice::from_ref(&(100..150)));
        assert_eq!(of.partitions[2].units, std::slice::from_ref(&(150..200)));
        let config = FtlConfig { partitions: of.partitions, ..ftl() };
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn jobs_that_name_the_same_share_and_others_have_what_is_left() {
        let jobs = [job("a", Some(&[1]), None), job("b", None, Some(&[3, 2])), job("c", None, None)];
        let tenants = [(&jobs[0], 0..10), (&jobs[1], 5..20), (&jobs[2], 40..50)];
        let of = of_jobs(&tenants, &ftl()).expect("they fit");
        assert_eq!(of.of_job, [0, 0, 1]);
        assert_eq!(of.partitions[0].units, [0..40, 50..110], "20 units of jobs and 80 others");
        assert_eq!(of.partitions[1].units, [40..50, 110..200]);
    }

    #[test]
    fn pages_of_the_map_lie_and_take_room_where_the_units_do_that_they_tell_of() {
        // Pages of 512 B tell of 128 units each, of which there are 200.
        let geometry = Geometry::checked(2, 1, 2, 1, 16, 8, 512, 512, 1).expect("legal");
        let ftl = FtlConfig { geometry, translation_units: 2, translation_entries: 128, ..ftl() };
        let jobs = [job("a", Some(&[1]), None), job("b", Some(&[0]), None)];
        let of = |regions: [Range<u32>; 2]| {
            let [a, b] = regions;
            of_jobs(&[(&jobs[0], a), (&jobs[1], b)], &ftl)
        };
        let apart = of([100..140, 0..60]).expect("they fit").partitions;
        // Each has its 100 units, and the page of the first of them; unit 128 is that of channel 1.
        assert_eq!([&apart[0].units[..], &apart[1].units], [&[60..160, 201..202][..], &[0..60, 160..200, 200..201]]);
        let config = FtlConfig { partitions: apart, ..ftl.clone() };
        assert_eq!(config.check(), Ok(()));
        // Channel 1 has 32 blocks, 12 of which are spare: two frontiers more in each plane. It holds 160 units, one of which is a page.
        assert!(of([0..128, 128..200]).is_ok());
        let (job, error) = of([0..160, 160..200]).expect_err("a page too many");
        assert_eq!((job, error.key), (0, "size"));
        assert!(error.problem.contains("with its pages of the map, takes 81KiB"), "{}", error.problem);
        assert!(error.problem.contains("hold 80KiB at most"), "{}", error.problem);
    }

    #[test]
    fn what_cannot_be_is_said_of_the_job_and_its_key() {
        let refused = |jobs: &[JobConfig], units: &[Range<u32>]| {
            let tenants: Vec<Tenant<'_>> = jobs.iter().zip(units.iter().cloned()).collect();
            let (job, error) = of_jobs(&tenants, &ftl()).expect_err("it is refused");
            (job, error.key, error.problem)
        };
        let apart = [0..10, 10..20];
        let one = |channels: &[u32]| refused(&[job("a", Some(channels), None)], &apart[..1]);
        assert_eq!(one(&[]).1, "channels");
        assert!(one(&[]).2.contains("is empty"));
        assert!(one(&[0, 2]).2.contains("there is no channel 2, the drive has 0 to 1"));
        assert!(one(&[1, 1]).2.contains("named twice"));
        let both = refused(&[job("a", Some(&[0]), Some(&[0]))], &apart[..1]);
        assert_eq!((both.0, both.1), (0, "dies"));
        let part = refused(&[job("a", Some(&[0]), None), job("b", None, Some(&[1, 2]))], &apart);
        assert_eq!((part.0, part.1), (1, "dies"));
        let nothing = refused(&[job("a", Some(&[0, 1]), None), job("b", None, None)], &apart);
        assert_eq!((nothing.0, nothing.1), (1, "channels"));
        let over = refused(&[job("a", Some(&[0]), None), job("b", Some(&[1]), None)], &[0..10, 9..20]);
        assert_eq!((over.0, over.1), (1, "offset"));
        // Two dies have 24 blocks, eight of which are spare: 128 units.
        let large = refused(&[job("a", Some(&[0]), None)], std::slice::from_ref(&(0..130)));
        assert_eq!((large.0, large.1), (0, "size"));
        assert!(large.2.contains("takes 520KiB") && large.2.contains("hold 512KiB at most"), "{}", large.2);
    }
}
