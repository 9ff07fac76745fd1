//! What a run has measured so far, in numbers by themselves: latencies and the time series.

use ninescope_engine::Kind;
use ninescope_engine::meter::{Histogram, Sample, Written};
use ninescope_model::Op;

use super::Simulation;

impl<K: Kind> Simulation<K> {
    /// `(upper bound [ns], count)` of the latency buckets of one kind of command.
    pub fn histogram(&self, op: Op) -> Vec<(u64, u64)> {
        self.device().map(|device| device.meter().ops[op as usize].latency.nonempty().collect()).unwrap_or_default()
    }

    /// The latencies of one kind of command by block of the run, each as `(upper bound [ns], count)`: of few commands
    /// one block holds all.
    pub fn latency_blocks(&self, op: Op) -> Vec<Vec<(u64, u64)>> {
        let Some(device) = self.device() else { return Vec::new() };
        let meter = &device.meter().ops[op as usize];
        let bounded = |(bucket, count)| (Histogram::upper_bound(bucket), count);
        meter.blocks.rows(&meter.latency).into_iter().map(|row| row.into_iter().map(bounded).collect()).collect()
    }

    /// The time series so far, by column; one row per interval of equal length.
    pub fn series(&self) -> Vec<(&'static str, Vec<u64>)> {
        let Some(device) = self.device() else { return Vec::new() };
        let series = &device.meter().series;
        let (since, interval) = (device.meter().since.0, series.interval().0);
        let column = |value: fn(&Sample) -> u64| series.samples().iter().map(value).collect::<Vec<u64>>();
        let written = series.written(device.written());
        let of_written = |value: fn(&Written) -> u64| written.iter().map(value).collect::<Vec<u64>>();
        let mut columns = vec![
            ("begin_ns", (0..series.samples().len() as u64).map(|index| since + index * interval).collect()),
            ("reads", column(|sample| sample.reads)),
            ("writes", column(|sample| sample.writes)),
            ("read_bytes", column(|sample| sample.read_bytes)),
            ("write_bytes", column(|sample| sample.write_bytes)),
            ("read_latency_sum_ns", column(|sample| sample.read_latency_sum)),
            ("write_latency_sum_ns", column(|sample| sample.write_latency_sum)),
            ("read_latency_max_ns", column(|sample| sample.read_latency_max)),
            ("write_latency_max_ns", column(|sample| sample.write_latency_max)),
            ("host_written_bytes", of_written(|written| written.host)),
            ("flash_programmed_bytes", of_written(|written| written.flash)),
            ("flash_erased_bytes", of_written(|written| written.erased)),
        ];
        if device.seen().tier.is_some() {
            columns.extend([
                ("scm_slots_used", column(|sample| sample.tier.slots_used)),
                ("scm_page_accesses_total", column(|sample| sample.tier.page_accesses)),
                ("scm_page_hits_total", column(|sample| sample.tier.page_hits)),
                ("scm_evictions_total", column(|sample| sample.tier.evictions)),
                ("scm_fills_total", column(|sample| sample.tier.fills)),
            ]);
        }
        columns
    }
}
