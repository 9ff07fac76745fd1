//! The plan of requests that a program made.

use ninescope_engine::{LaneConfig, Limit};
use ninescope_ftl::Partition;
use ninescope_generators::JobConfig;
use ninescope_kernel::Ns;
use ninescope_model::{Arrival, Lba, Op, Request, SECTOR_BYTES, Turns, UrgencyClass, Workload, WorkloadError};

use super::limits::limits;
use super::partitions::{check_drive, give_map_pages};
use super::preconditioning::preconditioning;
use super::{OnDrive, Tenants, check_tenants, disjoint};
use super::{buffer_parts, cache_parts};
use crate::assembly::Assembly;
use crate::error::Error;
use crate::precondition::WearIn;
use crate::request::RunRequest;
use crate::result::WorkloadReport;

/// Requests of a list.
struct Listed {
    requests: std::vec::IntoIter<Request>,
    arrival: Arrival,
}

impl Workload for Listed {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.requests.next())
    }
}

/// The requests where the namespace of their tenant lies: the first one goes into the last, and addresses beyond its end begin anew.
fn in_namespaces(requests: &[Request], tenants: usize, assembly: &Assembly) -> Vec<Request> {
    let count = assembly.config.namespaces.len();
    let placed = |(index, request): (usize, &Request)| {
        let number = (count - index % tenants % count.max(1)).max(1) as u32;
        let bytes = assembly.namespace(number).filter(|_| count > 0 && request.op != Op::Flush);
        let Some(bytes) = bytes else { return *request };
        let (begin, end) = (bytes.start / SECTOR_BYTES, bytes.end / SECTOR_BYTES);
        let lba = begin + request.lba.0 % (end - begin);
        Request { lba: Lba(lba), sectors: u64::from(request.sectors).min(end - lba) as u32, ..*request }
    };
    requests.iter().enumerate().map(placed).collect()
}

/// Tenants of all classes, so that arbitrations have something to decide.
fn urgency(tenant: usize) -> UrgencyClass {
    [UrgencyClass::High, UrgencyClass::Medium, UrgencyClass::Urgent, UrgencyClass::Low][tenant % 4]
}

/// The run of a list, dealt in turn to so many tenants, the first of which may be limited; a footprint is every unit that it reads.
pub(super) fn on_drive(
    request: &RunRequest,
    requests: &[Request],
    (arrival, queue_depth): (Arrival, u32),
    (tenants, limit): (usize, Option<Limit>),
    mut partitions: Vec<Partition>,
) -> Result<OnDrive, Error> {
    let drive = request.load_drive()?;
    let mut assembly = Assembly::new(&drive, request.seed, request.log_requests)?;
    check_tenants(&drive, tenants)?;
    if !partitions.is_empty() {
        let refused = |problem: &dyn std::fmt::Display| Error::Input(format!("partitions: {problem}"));
        check_drive(request.prefill, &assembly).map_err(|problem| refused(&problem))?;
        give_map_pages(&mut partitions, &assembly.ftl);
        assembly.ftl.partitions = partitions;
        assembly.ftl.check().map_err(|error| refused(&error))?;
    }
    let mut alike = vec![JobConfig::default(); tenants];
    if let Some(shared) = assembly.engine.shared_buffered_pages.filter(|_| tenants > 1) {
        // Where that fits the last one has a part of the write buffer.
        alike[tenants - 1].buffer_pages = Some((shared / 3).max(1));
        if buffer_parts::divide(&mut assembly, &alike.iter().collect::<Vec<_>>()).is_err() {
            alike[tenants - 1].buffer_pages = None;
        }
    }
    cache_parts::divide(&mut assembly, &alike.iter().collect::<Vec<_>>())
        .map_err(|refused| Error::Input(format!("tenants: {refused:?}")))?;
    let requests = &in_namespaces(requests, tenants, &assembly)[..];
    let sectors = u64::from(assembly.geometry.sectors_per_unit());
    let units = |request: &Request| {
        (request.lba.0 / sectors) as u32..(request.end().div_ceil(sectors) as u32).min(assembly.ftl.logical_units)
    };
    let ranges = disjoint(requests.iter().filter(|request| request.op == Op::Read).map(units).collect());
    let own = || Ok(WearIn::Uniform("a list of requests is no workload"));
    let (preconditioning, note) = preconditioning(request, || ranges, &assembly, own)?;
    let total = requests.len() as u64;
    let duration = request.duration.map(|duration| Ns(duration.0));
    let limits = limits(request, Some(total), request.requests, duration, queue_depth)?;
    let report = WorkloadReport::of_list(total);
    let lane = |tenant: usize| {
        let own: Vec<Request> = requests.iter().skip(tenant).step_by(tenants).copied().collect();
        let turns = Turns { class: urgency(tenant), weight: (tenant % 2 == 1).then_some(1 + tenant as u32) };
        let protocol = &assembly.engine.protocol;
        let queues = if protocol.has_queues() { 1 + tenant as u32 % 3 } else { 1 };
        // Every other one has more of each than the drive says.
        let commands_per_queue = protocol.commands_per_queue.filter(|_| tenant % 2 == 1).map(|commands| commands + 1);
        let limit = limit.filter(|_| tenant == 0);
        LaneConfig {
            turns,
            queues,
            commands_per_queue,
            limit,
            ..LaneConfig::new(Box::new(Listed { requests: own.into_iter(), arrival }), queue_depth)
        }
    };
    let lanes: Vec<LaneConfig> = (0..tenants).map(lane).collect();
    let names = (0..tenants).filter(|_| tenants > 1).map(|tenant| format!("tenant-{tenant}")).collect();
    let tenants = Tenants { names, ..Tenants::default() };
    let (total_requests, notes) = (Some(total), note.into_iter().collect());
    Ok(OnDrive { assembly, lanes, tenants, total_requests, limits, preconditioning, report, notes })
}
