//! Shrinks a world while a condition holds: fewer requests first, then a plainer drive, then rounder numbers.

use super::{ArrivalKind, World};
use ninescope::{PrefillMode, PrefillOrder};
use ninescope_ftl::Partition;
use ninescope_kernel::Ns;

/// The smallest world found, by at most `attempts` trials of the condition.
pub fn shrink(world: &World, attempts: u32, holds: &mut dyn FnMut(&World) -> bool) -> World {
    let mut search = Search { best: world.clone(), left: attempts, holds };
    loop {
        let before = search.best.clone();
        search.fewer_requests();
        search.plainer_drive();
        search.plainer_run();
        if search.best == before || search.left == 0 {
            return search.best;
        }
    }
}

/// Partitions of as many units, those of each side by side.
fn in_one_piece(partitions: &[Partition]) -> Vec<Partition> {
    let mut end = 0;
    let piece = |partition: &Partition| {
        let start = end;
        end += partition.unit_count();
        Partition { units: std::iter::once(start..end).collect(), ..partition.clone() }
    };
    partitions.iter().map(piece).collect()
}

struct Search<'a> {
    best: World,
    left: u32,
    holds: &'a mut dyn FnMut(&World) -> bool,
}

impl Search<'_> {
    /// Tries a smaller world; it becomes the best if the condition holds for it.
    fn try_out(&mut self, candidate: World) -> bool {
        if self.left == 0 || candidate == self.best {
            return false;
        }
        self.left -= 1;
        let better = (self.holds)(&candidate);
        if better {
            self.best = candidate;
        }
        better
    }

    /// Leaves out runs of requests, from halves down to single ones.
    fn fewer_requests(&mut self) {
        let mut run = self.best.requests.len().div_ceil(2);
        while run > 0 {
            let mut begin = 0;
            while begin < self.best.requests.len() && self.left > 0 {
                let mut candidate = self.best.clone();
                let end = (begin + run).min(candidate.requests.len());
                candidate.requests.drain(begin..end);
                candidate.warmup = candidate.warmup.min((candidate.requests.len() as u64).saturating_sub(1));
                if !self.try_out(candidate) {
                    begin += run;
                }
            }
            run = if run == 1 { 0 } else { run.div_ceil(2) };
        }
    }

    /// Options to their plainest values, one by one.
    fn plainer_drive(&mut self) {
        self.try_out(World { partitions: Vec::new(), ..self.best.clone() });
        self.try_out(World { partitions: in_one_piece(&self.best.partitions), ..self.best.clone() });
        for (section, key, value) in plain_values() {
            self.change(|drive| {
                if let Some(table) = section_of(drive, section) {
                    table.insert(key.to_owned(), value.clone());
                }
            });
        }
        self.change(|drive| {
            if let Some(nand) = section_of(drive, "nand") {
                nand.remove("program_load");
                nand.remove("programs");
            }
        });
        for planes in [1, 2] {
            self.change(|drive| {
                for (section, key) in [("geometry", "planes_per_die"), ("ftl", "frontier_planes")] {
                    if let Some(table) = section_of(drive, section) {
                        table.insert(key.to_owned(), planes.into());
                    }
                }
            });
        }
        for (section, key) in [
            ("power", "states"),
            ("power", "heat"),
            ("controller", "page_timeout"),
            ("controller", "buffered_pages"),
            ("controller", "shared_buffered_pages"),
            ("ftl", "gc_pages_in_flight"),
            ("tier", "migrations_in_flight"),
            ("nand", "cache_read"),
            ("nand", "times"),
            ("nand", "program_load"),
        ] {
            self.change(|drive| {
                if let Some(table) = section_of(drive, section) {
                    table.remove(key);
                }
            });
        }
        self.one_value_for_all_pages();
        self.plainer_tier();
    }

    /// A page moves between two media as a whole: all that is as large as it changes at once.
    fn plainer_tier(&mut self) {
        self.change(|drive| {
            let of_a_page = [
                ("geometry", "page_size"),
                ("ftl", "mapping_unit"),
                ("scm", "slot_size"),
                ("storage_scm", "slot_size"),
            ];
            for (section, key) in of_a_page {
                if let Some(table) = section_of(drive, section) {
                    table.insert(key.to_owned(), "4KiB".into());
                }
            }
        });
        let plain: [(&str, toml::Value); 4] = [
            ("migration", "background".into()),
            ("victim", "lru".into()),
            ("evict_free", 0.0.into()),
            ("evict_stop", 0.0.into()),
        ];
        for (key, value) in plain {
            self.change(|drive| {
                let placement = section_of(drive, "tier").and_then(|tier| tier.get_mut("placement"));
                let Some(placement) = placement.and_then(toml::Value::as_table_mut) else { return };
                if placement.contains_key(key) {
                    placement.insert(key.to_owned(), value.clone());
                }
            });
        }
    }

    fn one_value_for_all_pages(&mut self) {
        self.change(|drive| {
            let Some(nand) = section_of(drive, "nand") else { return };
            for key in ["read", "program"] {
                if let Some(values) = nand.get_mut(key).and_then(toml::Value::as_array_mut) {
                    values.truncate(1);
                }
            }
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut toml::Table)) {
        let mut candidate = self.best.clone();
        change(&mut candidate.drive);
        self.try_out(candidate);
    }

    fn plainer_run(&mut self) {
        for prefill in [PrefillMode::None, PrefillMode::Footprint, PrefillMode::Full] {
            let candidate = World { prefill, ..self.best.clone() };
            if self.best.prefill == prefill || self.try_out(candidate) {
                break;
            }
        }
        let candidate = World { prefill_order: PrefillOrder::Ascending, ..self.best.clone() };
        self.try_out(candidate);
        let candidate = World { limit: None, ..self.best.clone() };
        self.try_out(candidate);
        let candidate = World { warmup: 0, ..self.best.clone() };
        self.try_out(candidate);
        if self.best.arrival == ArrivalKind::Closed {
            let candidate = World { queue_depth: 1, ..self.best.clone() };
            self.try_out(candidate);
        }
        let mut candidate = self.best.clone();
        candidate.requests.iter_mut().for_each(|line| line.0.submitted = Ns::ZERO);
        self.try_out(candidate);
        for index in 0..self.best.requests.len() {
            self.plainer_request(index);
        }
    }

    fn plainer_request(&mut self, index: usize) {
        let sectors = self.best.requests[index].0.sectors;
        for smaller in [1, sectors / 2] {
            if smaller > 0 && smaller < sectors {
                let mut candidate = self.best.clone();
                candidate.requests[index].0.sectors = smaller;
                if self.try_out(candidate) {
                    break;
                }
            }
        }
    }
}

fn section_of<'a>(drive: &'a mut toml::Table, section: &str) -> Option<&'a mut toml::Table> {
    drive.get_mut(section).and_then(toml::Value::as_table_mut)
}

/// The plainest values of options: table, key, value.
fn plain_values() -> [(&'static str, &'static str, toml::Value); 37] {
    [
        ("geometry", "channels", 1.into()),
        ("geometry", "packages_per_channel", 1.into()),
        ("geometry", "dies_per_package", 1.into()),
        ("geometry", "blocks_per_plane", 6.into()),
        ("geometry", "pages_per_block", 2.into()),
        ("geometry", "page_size", "4KiB".into()),
        ("ftl", "mapping_unit", "4KiB".into()),
        ("ftl", "gc_reserve_blocks", 1.into()),
        ("ftl", "page_allocation", "static".into()),
        ("ftl", "free_block_choice", "fifo".into()),
        ("ftl", "victim", "greedy".into()),
        ("ftl", "used_at_start", toml::Value::Array(Vec::new())),
        ("ftl", "merges", "units".into()),
        ("controller", "forwards", "all".into()),
        ("nand", "cell", "slc".into()),
        ("nand", "read_any_block", false.into()),
        ("nand", "any_page", false.into()),
        ("nand", "planes_per_command", 4.into()),
        ("nand", "plane_reads", "together".into()),
        ("nand", "read_moves", "units".into()),
        ("nand", "program_moves", "pages".into()),
        ("nand", "program_pulses", 1.into()),
        ("nand", "erase_loops", 1.into()),
        ("nand", "command_address", "0ns".into()),
        ("controller", "command_cost", "0ns".into()),
        ("controller", "queue_depth", 64.into()),
        ("controller", "write_completion", "buffer".into()),
        ("scheduler", "transactions", "reads-first".into()),
        ("scheduler", "suspend", "none".into()),
        ("scheduler", "merge_by", "page".into()),
        ("scheduler", "multi_plane", false.into()),
        ("scm", "wear_leveling", "none".into()),
        ("scm", "wear_leveling_copies", "in-memory".into()),
        ("scm", "command_address", "0ns".into()),
        ("storage_scm", "wear_leveling", "none".into()),
        ("storage_scm", "wear_leveling_copies", "in-memory".into()),
        ("storage_scm", "command_address", "0ns".into()),
    ]
}

#[cfg(test)]
mod tests {
    use ninescope::{DriveSource, Plan, RunRequest};

    use super::*;

    /// What a drive does not know is refused as such; whether values go together is another matter.
    #[test]
    fn plain_values_are_values_of_drives() {
        for (section, key, value) in plain_values() {
            let base = if section.contains("scm") { "multi-scm" } else { "tlc" };
            let text = format!("base = \"{base}\"\n[{section}]\n{key} = {value}\n");
            let job = serde_json::json!({ "workload": { "job": { "rw": "read", "size": "4k" } } });
            let mut request = RunRequest::from_json(&job.to_string()).expect("a legal request");
            request.drive = Some(DriveSource::Toml(text.clone()));
            let refused = Plan::new(&request).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!refused.contains("unknown") && !refused.contains("wanted"), "{text}: {refused}");
        }
    }
}
