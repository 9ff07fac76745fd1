//! Ledgers: every counter of the device against the events it counts.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Ppa, Request, Source};

use crate::blocks::group_of_block;
use crate::die_sets::parity_die;
use crate::requests::units_of;
use crate::rule::{Checked, require};
use crate::wordlines::pages_of;

/// Events since measuring began, by the names of the counters they must equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ledger {
    pub host_units: u64,
    pub host_sectors: u64,
    pub migrated_units: u64,
    pub healed_units: u64,
    pub map_units: u64,
    pub move_units: u64,
    pub padding_units: u64,
    pub trimmed_units: u64,
    pub moves_completed: u64,
    pub moves_dropped_after_read: u64,
    pub moves_dropped_after_program: u64,
    pub erased_groups: u64,
    pub units_from_controller: u64,
    pub units_from_nowhere: u64,
    pub suspends: u64,
    pub power_waits: u64,
    pub power_wakes: u64,
    pub loops_restarted: u64,
    pub resumes: u64,
    /// By source.
    page_reads: [u64; 8],
    commands: [u64; 3],
    multi_plane: [u64; 3],
    /// By stream.
    /// By what streams are of: what is written, and what is moved.
    pages_programmed: [u64; 2],
    /// Pages of parity that were programmed.
    parity_pages: u64,
    padded_pages: [u64; 2],
    trim_sectors_ignored: u64,
    pub fetches: u64,
    pub fetched_commands: u64,
    pub interrupts: u64,
    pub gathered_completions: u64,
    fua_writes: u64,
    split_requests: u64,
    split_commands: u64,
    /// Pages programmed since the beginning, warm-up included.
    pages_programmed_ever: u64,
    /// Units that were handed out and never programmed, because their zone was reset, since the beginning.
    dropped_ever: u64,
    /// Units handed out when measuring began.
    handed_out_before: u64,
    /// Units handed out and not programmed at the beginning.
    open_units_at_start: u64,
}

impl Ledger {
    pub fn started(&mut self, open_units: u64) {
        self.open_units_at_start = open_units;
    }

    #[inline]
    pub fn issued(&mut self, command: &FlashCommand) {
        self.commands[command.kind as usize] += 1;
        self.multi_plane[command.kind as usize] += u64::from(command.plane_count() > 1);
    }

    #[inline]
    pub fn ended(&mut self, view: &View<'_>, command: &FlashCommand) {
        if command.kind == CommandKind::Program {
            let pages = u64::from(pages_of(view, command));
            for plane in command.addressed_planes() {
                let group = group_of_block(view.ftl.geometry(), command.die, plane, command.block[plane]);
                if parity_die(view.ftl.geometry(), group) == Some(command.die) {
                    self.parity_pages += 1;
                    continue;
                }
                self.pages_programmed[usize::from(view.ftl.group(group).stream % 2)] += pages;
                self.pages_programmed_ever += pages;
            }
        }
    }

    /// An open page was filled up with so many units of padding, `whole` pages behind it among them that are programmed with it.
    pub fn padded(&mut self, view: &View<'_>, last: Ppa, units: u32, whole: u32) {
        let group = view.ftl.geometry().group_and_offset(last).0;
        let in_part = units > whole * view.ftl.geometry().units_per_page();
        self.padded_pages[usize::from(view.ftl.group(group).stream % 2)] += u64::from(in_part);
        self.padding_units += u64::from(units);
    }

    /// A TRIM completed: what lies outside of whole units was ignored.
    pub fn trimmed(&mut self, view: &View<'_>, request: &Request) {
        let sectors = view.ftl.geometry().sectors_per_unit();
        let covered = units_of(request, sectors).len() as u64 * u64::from(sectors);
        self.trim_sectors_ignored += u64::from(request.sectors) - covered;
    }

    /// A command is taken in for a request.
    pub fn taken_in(&mut self, part: &Request, whole: &Request) {
        self.fua_writes += u64::from(part.fua);
        let split = u64::from(part.sectors < whole.sectors);
        self.split_commands += split;
        self.split_requests += split * u64::from(part.lba == whole.lba);
    }

    #[inline]
    pub fn read_queued(&mut self, source: Source) {
        self.page_reads[source as usize] += 1;
    }

    /// So many units that were handed out are never programmed.
    pub fn dropped(&mut self, units: u32) {
        self.dropped_ever += u64::from(units);
    }

    pub fn measuring_began(&mut self, handed_out: u64) {
        *self = Self {
            dropped_ever: self.dropped_ever,
            pages_programmed_ever: self.pages_programmed_ever,
            open_units_at_start: self.open_units_at_start,
            handed_out_before: handed_out,
            ..Self::default()
        };
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (ftl, engine) = (view.ftl.counters(), view.counters);
        let same = |name: &str, counted: u64, seen: u64| equal(view.now, name, counted, seen);
        same("ftl.host_units", ftl.host_units, self.host_units)?;
        same("engine.host_sectors_placed", engine.host_sectors_placed, self.host_sectors)?;
        same("ftl.migrated_units", ftl.migrated_units, self.migrated_units)?;
        same("ftl.healed_units", ftl.healed_units, self.healed_units)?;
        same("ftl.map_units", ftl.map_units, self.map_units)?;
        same("engine.map_page_reads", engine.map_page_reads, self.page_reads[Source::Mapping as usize])?;
        same("ftl.gc_units", ftl.gc_units, self.move_units)?;
        same("ftl.padding_units", ftl.padding_units, self.padding_units)?;
        same("ftl.trimmed_units", ftl.trimmed_units, self.trimmed_units)?;
        same("ftl.moves_completed", ftl.moves_completed, self.moves_completed)?;
        same("ftl.moves_dropped_after_read", ftl.moves_dropped_after_read, self.moves_dropped_after_read)?;
        same("ftl.moves_dropped_after_program", ftl.moves_dropped_after_program, self.moves_dropped_after_program)?;
        same("ftl.erased_groups", ftl.erased_groups, self.erased_groups)?;
        same("engine.group_erases", engine.group_erases, self.erased_groups)?;
        same("engine.forwarded_units", engine.forwarded_units, self.units_from_controller)?;
        same("engine.unmapped_units", engine.unmapped_units, self.units_from_nowhere)?;
        same("engine.suspends", engine.suspends, self.suspends)?;
        same("engine.power_waits", engine.power_waits, self.power_waits)?;
        same("engine.power_wakes", engine.power_wakes, self.power_wakes)?;
        same("engine.loops_restarted", engine.loops_restarted, self.loops_restarted)?;
        same("engine.resumes", engine.resumes, self.resumes)?;
        same("engine.host_page_reads", engine.host_page_reads, self.page_reads[Source::Host as usize])?;
        let merges = self.page_reads[Source::ReadModifyWrite as usize];
        same("engine.read_modify_write_reads", engine.read_modify_write_reads, merges)?;
        same("engine.gc_page_reads", engine.gc_page_reads, self.page_reads[Source::GarbageCollection as usize])?;
        let for_host = engine.host_page_programs + engine.migration_page_programs + engine.map_page_programs;
        same(
            "engine.host_page_programs, migration_page_programs and map_page_programs",
            for_host,
            self.pages_programmed[0],
        )?;
        same("engine.migration_page_reads", engine.migration_page_reads, self.page_reads[Source::Migration as usize])?;
        same("engine.gc_page_programs", engine.gc_page_programs, self.pages_programmed[1])?;
        same("engine.parity_page_programs", engine.parity_page_programs, self.parity_pages)?;
        same("engine.padded_pages", engine.padded_pages, self.padded_pages[0])?;
        same("engine.gc_padded_pages", engine.gc_padded_pages, self.padded_pages[1])?;
        same("engine.trim_sectors_ignored", engine.trim_sectors_ignored, self.trim_sectors_ignored)?;
        same("engine.fetches", engine.fetches, self.fetches)?;
        same("engine.fetched_commands", engine.fetched_commands, self.fetched_commands)?;
        same("engine.interrupts", engine.interrupts, self.interrupts)?;
        same("engine.gathered_completions", engine.gathered_completions, self.gathered_completions)?;
        same("engine.fua_writes", engine.fua_writes, self.fua_writes)?;
        same("engine.split_requests", engine.split_requests, self.split_requests)?;
        same("engine.split_commands", engine.split_commands, self.split_commands)?;
        let kinds = [
            ("read", engine.read_commands, engine.multi_plane_reads),
            ("program", engine.program_commands, engine.multi_plane_programs),
            ("erase", engine.erase_commands, engine.multi_plane_erases),
        ];
        for (kind, (name, commands, multi_plane)) in kinds.into_iter().enumerate() {
            same(&format!("engine.{name}_commands"), commands, self.commands[kind])?;
            same(&format!("engine.multi_plane_{name}s"), multi_plane, self.multi_plane[kind])?;
        }
        Ok(())
    }

    /// Units handed out (`handed_out` over the whole run) are units programmed or still open, and those of the measured
    /// time are the lanes of the write amplification: the host, a tier above, the map, moves, healing, padding.
    pub fn programs_balance(&self, view: &View<'_>, handed_out: u64, open_units: u64) -> Checked {
        let programmed = self.pages_programmed_ever * u64::from(view.ftl.geometry().units_per_page());
        require!(
            self.open_units_at_start + handed_out == programmed + open_units + self.dropped_ever,
            Ledger,
            view.now,
            "{handed_out} units were handed out and {} were open before; {programmed} are programmed and {open_units} open",
            self.open_units_at_start
        );
        let counters = view.ftl.counters();
        let lanes = counters.programmed_units() - counters.parity_units - counters.rebuilt_units;
        let since = handed_out - self.handed_out_before;
        require!(
            lanes == since,
            Ledger,
            view.now,
            "the lanes of the write amplification sum to {lanes} units, {since} were handed out to be programmed"
        );
        let host = view.ftl.counters().host_units * u64::from(view.ftl.geometry().sectors_per_unit());
        let placed = view.counters.host_sectors_placed;
        require!(placed <= host, Ledger, view.now, "the host wrote {placed} sectors into units of {host}");
        Ok(())
    }
}

fn equal(now: Ns, name: &str, counted: u64, seen: u64) -> Checked {
    require!(counted == seen, Ledger, now, "{name} is {counted}, {seen} were seen");
    Ok(())
}
