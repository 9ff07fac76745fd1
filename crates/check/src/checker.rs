//! The checker: events in, a verdict out.

mod above;
mod breakage;
mod codes;
mod dram;
mod failed_dies;
mod firmware;
mod flash_commands;
mod host;
mod map;
mod measuring;
mod moves;
mod trims;
mod whole_erase;
mod zones;

use ninescope::CheckLevel;
use ninescope_engine::{Event, Interface, Probe, QueueClass, SimulationError, View, WriteCompletion};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op};

use crate::blame::Blame;
use crate::block_maps::BlockMapBook;
use crate::blocks::Blocks;
use crate::breakage::BadBlockBook;
use crate::cache_holders::CacheHolders;
use crate::classes::ClassBook;
use crate::copybacks::CopybackBook;
use crate::dies::Dies;
use crate::dram::DramBook;
use crate::failed_dies::FailedDieBook;
use crate::firmware::FirmwareBook;
use crate::forwarding::ForwardingBook;
use crate::groups::Groups;
use crate::homes::HomeBook;
use crate::intake::Intake;
use crate::interrupts::Interrupts;
use crate::ledger::Ledger;
use crate::leveling::LevelingBook;
use crate::map_holders::MapHolders;
use crate::mapping::MapBook;
use crate::marks::Marks;
use crate::messages::Messages;
use crate::namespaces::Namespaces;
use crate::one_shot::OneShotBook;
use crate::oracle::Oracle;
use crate::parity::ParityBook;
use crate::partitions::PartitionBook;
use crate::places::Places;
use crate::power::PowerBook;
use crate::protocol::Protocol;
use crate::queues::Queues;
use crate::reclaim_units::PlacementBook;
use crate::reliability::ReliabilityBook;
use crate::reliability::clean::CleanUnits;
use crate::reliability::reads::Taker;
use crate::requests::{Requests, mask_of, sectors_per_unit};
use crate::rule::{Checked, Rule, require};
use crate::scm::ScmBanks;
use crate::sectors::SectorBook;
use crate::slc_cache::SlcCacheBook;
use crate::space::Space;
use crate::streams::StreamBook;
use crate::throttle::Throttle;
use crate::tier::TierBook;
use crate::transfers::Transfers;
use crate::trigger::Trigger;
use crate::trims::TrimBook;
use crate::units::Units;
use crate::whole_erase::WholeEraseBook;
use crate::zones::ZoneBook;

/// Events between two walks over everything, at least.
const SWEEP_EVENTS_MIN: u64 = 200_000;
/// Events per unit of the drive between two walks: what a walk costs is spread thin.
const SWEEP_EVENTS_PER_UNIT: u64 = 2;

/// Walks beside a run.
#[derive(Debug)]
pub struct Checker {
    level: CheckLevel,
    sweep_events: Option<u64>,
    sweep_interval: u64,
    until_sweep: u64,
    now: Ns,
    requests: Requests,
    protocol: Protocol,
    interrupts: Interrupts,
    messages: Messages,
    queues: Queues,
    intake: Intake,
    places: Places,
    cache_holders: Option<CacheHolders>,
    map_holders: Option<MapHolders>,
    namespaces: Namespaces,
    groups: Groups,
    space: Space,
    trigger: Trigger,
    throttle: Option<Throttle>,
    trims: Option<TrimBook>,
    forwarding: ForwardingBook,
    whole_erase: WholeEraseBook,
    blocks: Blocks,
    dies: Dies,
    transfers: Transfers,
    ledger: Ledger,
    banks: Option<ScmBanks>,
    tier: Option<TierBook>,
    codes: Option<Box<ReliabilityBook>>,
    clean: Option<CleanUnits>,
    map: Option<MapBook>,
    partitions: Option<PartitionBook>,
    bad_blocks: Option<BadBlockBook>,
    leveling: Option<LevelingBook>,
    parity: Option<ParityBook>,
    failed_dies: Option<FailedDieBook>,
    streams: Option<StreamBook>,
    sectors: Option<SectorBook>,
    classes: Option<ClassBook>,
    copybacks: Option<CopybackBook>,
    one_shot: Option<OneShotBook>,
    homes: Option<HomeBook>,
    placement: Option<PlacementBook>,
    zones: Option<ZoneBook>,
    slc_cache: Option<SlcCacheBook>,
    block_map: Option<BlockMapBook>,
    dram: Option<DramBook>,
    firmware: Option<FirmwareBook>,
    power: Option<PowerBook>,
    blame: Option<Blame>,
    units: Option<Units>,
    oracle: Option<Oracle>,
    marks: Marks,
    events: u64,
    sweeps: u64,
}

impl Checker {
    /// A checker for one run.
    pub fn new(level: CheckLevel) -> Self {
        Self {
            level,
            sweep_events: None,
            sweep_interval: u64::MAX,
            until_sweep: u64::MAX,
            now: Ns::ZERO,
            requests: Requests::default(),
            protocol: Protocol::default(),
            interrupts: Interrupts::default(),
            messages: Messages::default(),
            queues: Queues::default(),
            intake: Intake::default(),
            places: Places::default(),
            cache_holders: None,
            map_holders: None,
            namespaces: Namespaces::default(),
            groups: Groups::default(),
            space: Space::default(),
            trigger: Trigger::default(),
            throttle: None,
            trims: None,
            forwarding: ForwardingBook::default(),
            whole_erase: WholeEraseBook::default(),
            blocks: Blocks::default(),
            dies: Dies::default(),
            transfers: Transfers::default(),
            ledger: Ledger::default(),
            banks: None,
            tier: None,
            codes: None,
            clean: None,
            map: None,
            partitions: None,
            bad_blocks: None,
            leveling: None,
            parity: None,
            failed_dies: None,
            streams: None,
            sectors: None,
            classes: None,
            copybacks: None,
            one_shot: None,
            homes: None,
            placement: None,
            zones: None,
            slc_cache: None,
            block_map: None,
            dram: None,
            firmware: None,
            power: None,
            blame: None,
            units: None,
            oracle: None,
            marks: Marks::default(),
            events: 0,
            sweeps: 0,
        }
    }

    /// Walks over everything every `events` events.
    #[must_use]
    pub fn sweeping_every(mut self, events: u64) -> Self {
        self.sweep_events = Some(events.max(1));
        self
    }

    /// The drive has namespaces of so many bytes, and its jobs go into these, by their numbers.
    #[must_use]
    pub fn in_namespaces(mut self, bytes: &[u64], of_lane: Vec<u32>) -> Self {
        self.namespaces = Namespaces::new(bytes, of_lane);
        self
    }

    /// The situations it has met.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Events seen.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Walks over everything.
    pub fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// Commands taken in and completed.
    pub fn position(&self) -> (u64, u64) {
        (self.requests.taken_in(), self.requests.completed_count())
    }

    /// When the drive was last out of a state of less power, or is.
    fn awake_at(&self) -> Ns {
        self.power.as_ref().map_or(Ns::ZERO, PowerBook::awake_at)
    }

    fn started(&mut self, view: &View<'_>, completes_at_program: bool, lanes: usize) -> Checked {
        let geometry = view.ftl.geometry();
        self.dies.started(view);
        self.transfers.started(geometry.channels);
        self.blocks.started(view);
        self.groups.started(view);
        self.banks = ScmBanks::started(view, self.level == CheckLevel::Full);
        self.tier = TierBook::started(view, self.level == CheckLevel::Full);
        self.codes = ReliabilityBook::started(view, self.level == CheckLevel::Full).map(Box::new);
        self.clean = CleanUnits::started(view);
        self.map = MapBook::started(view);
        self.partitions = PartitionBook::started(view);
        self.bad_blocks = BadBlockBook::started(view);
        self.leveling = LevelingBook::started(view);
        self.parity = ParityBook::started(view);
        self.failed_dies = FailedDieBook::started(view);
        self.streams = StreamBook::started(view);
        self.homes = HomeBook::started(view);
        self.placement = PlacementBook::started(view);
        self.zones = ZoneBook::started(view);
        self.slc_cache = SlcCacheBook::started(view);
        self.block_map = BlockMapBook::started(view);
        self.dram = DramBook::started(view, completes_at_program, lanes, self.level == CheckLevel::Full);
        self.firmware = FirmwareBook::started(view);
        self.power = PowerBook::started(view);
        if self.level == CheckLevel::Full && (self.banks.is_none() || self.tier.is_some()) {
            self.blame = Some(Blame::started(view, completes_at_program, lanes));
            let units = self.units.insert(Units::default());
            units.started(view);
            self.oracle = Some(Oracle::new(view, completes_at_program));
            let spread = u64::from(geometry.units()) * SWEEP_EVENTS_PER_UNIT;
            self.sweep_interval = self.sweep_events.unwrap_or(spread.max(SWEEP_EVENTS_MIN));
        }
        self.until_sweep = self.sweep_interval;
        let open = self.sweep(view)?;
        self.ledger.started(open);
        Ok(())
    }
}

impl Probe for Checker {
    #[allow(clippy::too_many_lines)] // a table: an arm for each event
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        self.events += 1;
        self.until_sweep = self.until_sweep.saturating_sub(1);
        require!(view.now >= self.now, Time, view.now, "it was {} before", self.now);
        self.now = view.now;
        if self.tier.is_some() {
            self.settle_tier(view, &event)?;
        }
        if let Some(codes) = &mut self.codes {
            codes.settle(view, &event)?;
        }
        if let Event::Started { slc_fold_after, .. } = event {
            self.trigger.started(view, slc_fold_after);
        }
        self.trigger.sees(view, &event)?;
        if self.bad_blocks.is_some() {
            self.blocks_break(view, &event)?;
        }
        if let Some(book) = &mut self.leveling {
            book.sees(view, &event, &mut self.marks)?;
        }
        if let Some(book) = &mut self.power {
            book.sees(view, &event, &mut self.marks)?;
        }
        match event {
            Event::Started {
                write_completion,
                forwards,
                sectors,
                protocol,
                lane_depths,
                queue_commands,
                limits,
                buffer,
                buffer_parts,
                throttle,
                trim,
                classes,
                copybacks,
                slc_fold_after: _,
                page_timeout,
            } => {
                self.one_shot = OneShotBook::started(view, page_timeout, write_completion == WriteCompletion::Program);
                self.forwarding = ForwardingBook::started(forwards);
                self.copybacks = CopybackBook::started(copybacks);
                self.classes = classes.map(ClassBook::started);
                self.sectors = SectorBook::started(view, sectors);
                self.throttle = Throttle::started(view, throttle);
                self.trims = TrimBook::started(view, trim);
                self.requests.started(lane_depths);
                self.protocol.started(protocol, lane_depths.len());
                self.interrupts.started(protocol.interrupts);
                self.messages.started(&protocol);
                self.queues.started(protocol, queue_commands);
                if protocol.interface == Interface::Sata {
                    self.transfers.has_one_link();
                }
                self.intake.started(limits);
                self.places.started(limits.iter().map(Option::is_some).collect());
                self.cache_holders = CacheHolders::started(view, limits.len());
                self.map_holders = MapHolders::started(view, limits.len()).filter(|_| self.level == CheckLevel::Full);
                self.space.started(view, buffer, buffer_parts);
                self.started(view, write_completion == WriteCompletion::Program, lane_depths.len())
            }
            Event::Fetched { slot, id, lane, queue, request, whole } => {
                self.ledger.taken_in(&request, &whole);
                self.messages.taken_in(view.now.max(self.awake_at()), slot, request.op);
                self.sweep_when_due(view)?;
                self.queues.entered(view.now, (slot, id), (queue, lane), request.submitted)?;
                self.queues.goes_beside(view.now, (slot, id), &request)?;
                self.fetched(view, slot, (id, lane, queue), (request, whole))
            }
            Event::EntriesFetched { queue, from, commands } => {
                self.ledger.fetches += 1;
                self.ledger.fetched_commands += u64::from(commands);
                self.queues.came(view.now, (queue, from, from.max(self.awake_at())), commands)
            }
            Event::LinkIn { slot, from, until } => {
                self.requests.data_crosses(slot, until);
                self.messages.data_cross(view.now, slot)?;
                self.transfers.link_in(view, slot, from, until)
            }
            Event::LinkOut { slot, from } => {
                if let Some(codes) = &mut self.codes {
                    codes.link_out(view, slot, from)?;
                }
                self.messages.read_crossed(view.now, slot, from)?;
                self.transfers.link_out(view, slot, from)
            }
            Event::MessageCrosses { slot, message, from, until } => {
                self.message_crosses(view, slot, message, (from, until))
            }
            Event::UnitRead { slot, lpa, from } => self.unit_read(view, slot, lpa, from),
            Event::UnitWritten { slot, lpa, old, new, merged_with } => {
                if let Some(throttle) = &mut self.throttle {
                    throttle.written(view, lpa, new)?;
                }
                self.unit_written(view, slot, lpa, (old, new), merged_with)
            }
            Event::UnitTrimmed { slot, lpa, old } => self.unit_trimmed(view, slot, lpa, old),
            Event::WholeEraseBegan { slot, what } => self.whole_erase_began(view, slot, what),
            Event::WholeEraseEnded => self.whole_erase.ended(view),
            Event::CommandAborted { slot } => self.command_aborted(view, slot),
            Event::TrimNoted { slot, lpa } => self.trim_noted(view, slot, lpa),
            Event::UnitForgotten { lpa, old, why } => self.unit_forgotten(view, (lpa, old), why),
            Event::ZoneAnswered { slot, lpa, units, command, answer } => {
                self.zone_answered(view, slot, (command, lpa, units), answer)
            }
            Event::UnitCommitted { slot, lpa, new, is_written } => {
                self.unit_committed(view, slot, (lpa, new), is_written)
            }
            Event::ZoneDropped { dropped } => self.zone_dropped(view, &dropped),
            Event::Padded { last } => {
                let padding = self.groups.padded(view, last)?;
                let whole = self.wordline_padded(view, last, padding)?;
                if let Some(book) = &mut self.zones {
                    book.padded(view, last, padding)?;
                    self.space.zone_padded(view, last, padding);
                }
                if let Some(book) = &mut self.block_map {
                    book.padded(view, last, &mut self.marks)?;
                    self.space.zone_padded(view, last, padding);
                }
                self.ledger.padded(view, last, padding, whole);
                if let Some(book) = &mut self.placement {
                    book.padded(view, last, padding);
                }
                self.space.padded(view, last, padding, whole);
                Ok(())
            }
            Event::ReadQueued { ppa, source, class } => self.read_queued(view, ppa, (source, class)),
            Event::HostUnitsSensed { slot, ppa, units, brings_up } => {
                self.host_units_sensed(view, slot, (ppa, units), brings_up)
            }
            Event::MergeSensed { slot, lpa, ppa } => {
                if let Some(oracle) = &mut self.oracle {
                    oracle.merge_sensed(slot, lpa, ppa);
                }
                if let Some(book) = &mut self.sectors {
                    let request = self.requests.get(view, slot)?.request;
                    book.rest_sensed(view, lpa, mask_of(&request, lpa, sectors_per_unit(view)), &mut self.marks)?;
                }
                self.coded_unit_sensed(view, ppa, lpa, Taker::Merge(slot, lpa));
                Ok(())
            }
            Event::RestIsEmpty { slot, lpa } => {
                if let Some(oracle) = &mut self.oracle {
                    oracle.rest_is_empty(slot, lpa);
                }
                let request = self.requests.get(view, slot)?.request;
                let mask = mask_of(&request, lpa, sectors_per_unit(view));
                if let Some(book) = &self.sectors {
                    book.rest_is_empty(view, lpa, mask, &mut self.marks)
                } else {
                    let message = format!("the rest of unit {lpa} is not read, and not known by sector");
                    Err(Rule::SectorMoves.violated(view.now, message))
                }
            }
            Event::MoveSensed { record, lpa, from } => {
                self.coded_unit_sensed(view, from, lpa, Taker::Move(record));
                match &mut self.oracle {
                    Some(oracle) => oracle.move_sensed(view, record, lpa, from),
                    None => Ok(()),
                }
            }
            Event::MovePlaced { record, lpa, from, to } => self.move_placed(view, record, lpa, (from, to)),
            Event::CopybackBegan { from } => self.copyback_began(view, from),
            Event::MoveCopied { lpa, from, to } => self.move_copied(view, lpa, (from, to)),
            Event::MoveDropped { record, lpa, .. } => self.move_dropped(view, record, lpa),
            Event::MoveEnded { lpa, from, to, current } => self.move_ended(view, lpa, from, to, current),
            Event::Dispatched { command, class, accesses } => {
                self.dies.dispatched(view, command, &mut self.marks)?;
                match (class, &mut self.map) {
                    (QueueClass::HostRead, Some(book)) => book.read_dispatched(view, command, accesses)?,
                    (QueueClass::HostProgram, Some(book)) => book.programs_dispatched(view, accesses)?,
                    _ => {}
                }
                if let Some(book) = &mut self.classes {
                    let requests = &self.requests;
                    book.dispatched(view.now, command, accesses, |slot| requests.last_of(slot).lane)?;
                }
                if let Some(blame) = &mut self.blame {
                    blame.dispatched(view, command, (class, accesses), self.map_holders.as_ref());
                }
                self.dram_dispatched(view, command, accesses);
                if let Some(book) = &mut self.parity {
                    book.dispatched(view, command, accesses, (&self.groups, &mut self.marks))?;
                }
                if let Some(book) = &mut self.failed_dies {
                    book.dispatched(view, command, accesses)?;
                }
                if let Some(book) = &mut self.sectors {
                    book.dispatched(view, command, accesses, &mut self.marks)?;
                }
                if let Some(book) = &mut self.firmware {
                    book.dispatched(view, accesses)?;
                }
                match &mut self.codes {
                    Some(codes) => codes.dispatched(view, command, accesses),
                    None => Ok(()),
                }
            }
            Event::WriteStalled { slot, lpa, cause } => {
                if cause == Cause::BufferStall {
                    self.space.waits_for_buffer(self.requests.last_of(slot).lane);
                }
                if let Some(book) = &self.partitions {
                    book.stalled(view, lpa, &mut self.marks);
                }
                Ok(())
            }
            Event::CommandIssued { command, sent, begins } => self.command_issued(view, command, sent, begins),
            Event::CommandEnded { command } => self.command_ended(view, command),
            Event::PageMoves { command, until } => {
                if let Some(oracle) = &mut self.oracle {
                    oracle.page_moves(command.die);
                }
                if let Some(blame) = &mut self.blame {
                    blame.page_moves(view, command, until);
                }
                self.dies.page_moves(view.now, command, until)
            }
            Event::DataOut { command, until, held } => {
                self.transfers.channel_taken(view, command.die, until)?;
                if let Some(oracle) = &mut self.oracle {
                    oracle.data_leave(view, command, self.dies.leaves_from_register(command));
                }
                if let Some(blame) = &mut self.blame {
                    blame.data_out(view, command, (until, held));
                }
                if let Some(codes) = &mut self.codes {
                    codes.data_out(view, command, (until, held))?;
                }
                self.dies.data_out(view.now, command, held)
            }
            Event::Wakes { .. } => {
                self.ledger.power_wakes += 1;
                Ok(())
            }
            Event::Throttled { step, .. } => {
                if let Some(blame) = &mut self.blame {
                    blame.throttled(view.now, step > 0);
                }
                self.dies.throttled(view.now, step > 0);
                Ok(())
            }
            Event::PowerAwaited { die } | Event::PowerComes { die, .. } => {
                let waits = matches!(event, Event::PowerAwaited { .. });
                self.ledger.power_waits += u64::from(waits);
                if let Some(blame) = &mut self.blame {
                    blame.for_power(view.now, die, waits);
                }
                self.dies.for_power(view.now, die, waits)
            }
            Event::Suspended { die, lost } => {
                self.ledger.suspends += 1;
                self.ledger.loops_restarted += u64::from(lost > Ns::ZERO);
                if let Some(blame) = &mut self.blame {
                    blame.suspended(view.now, die);
                }
                self.dies.suspended(view.now, die, lost, &mut self.marks)
            }
            Event::Recovered { die } => self.dies.recovered(view.now, die),
            Event::ResumeBegan { die } => {
                self.ledger.resumes += 1;
                self.dies.resume_began(view.now, die)
            }
            Event::Resumed { die } => {
                if let Some(blame) = &mut self.blame {
                    blame.resumed(view.now, die);
                }
                self.dies.resumed(view.now, die)
            }
            Event::Erased { group } => {
                self.ledger.erased_groups += 1;
                if let Some(book) = &mut self.parity {
                    book.erased(view, group, &mut self.marks)?;
                }
                if let Some(codes) = &mut self.codes {
                    codes.erased(view, group);
                }
                if let Some(book) = &mut self.streams {
                    book.erased();
                }
                if let Some(book) = &mut self.placement {
                    book.erased(group);
                }
                if let Some(book) = &mut self.zones {
                    book.erased(view, group)?;
                }
                if let Some(book) = &mut self.block_map {
                    book.erased(view, group)?;
                }
                if let Some(book) = &mut self.copybacks {
                    book.erased(view, group);
                }
                if let Some(book) = &mut self.slc_cache {
                    book.erased(view, group);
                }
                self.space.erased(view, group);
                self.groups.erased(view.now, group)
            }
            Event::RestBegan
            | Event::DieRests { .. }
            | Event::LevelingChosen { .. }
            | Event::ProgramFailed { .. }
            | Event::PageRewritten { .. }
            | Event::PageKept { .. }
            | Event::GroupFailed { .. }
            | Event::EraseBroke { .. }
            | Event::GroupRetired { .. }
            | Event::ReadOnlyBegan { .. }
            | Event::MoveGivenUp { .. }
            | Event::CommandRefused { .. }
            | Event::UnitRefused { .. } => Ok(()),
            Event::VictimChosen { group, .. } => {
                if let Some(book) = &mut self.placement {
                    book.victim(view, group);
                }
                if let Some(book) = &self.trims {
                    book.victim(view)?;
                }
                self.victim_chosen(view, group)
            }
            Event::HostReleased { pool } => self.space.released(view, pool),
            Event::SlotDispatched { .. }
            | Event::SectorCopied { .. }
            | Event::SectorPlaced { .. }
            | Event::SectorVerified { .. }
            | Event::BankCommandIssued { .. }
            | Event::BankCommandEnded { .. }
            | Event::BankDataOut { .. } => self.bank_event(view, &event),
            Event::SlotTaken { .. }
            | Event::PageLeft { .. }
            | Event::PageForgotten { .. }
            | Event::PageRead { .. }
            | Event::WriteHeld { .. }
            | Event::PageWritten { .. }
            | Event::MigrationBegan { .. }
            | Event::MigrationUnitSensed { .. }
            | Event::EvictionPlaced { .. }
            | Event::UnitSuperseded { .. }
            | Event::MigrationEnded { .. } => self.tier_event(view, &event),
            Event::UnitHealed { new, .. } => {
                if let Some(blame) = &mut self.blame {
                    blame.unit_healed(view, new);
                }
                if let Some(book) = &mut self.sectors {
                    book.page_gets(view, new, view.ftl.geometry().sectors_per_unit());
                }
                self.coded_event(view, &event)
            }
            Event::DieFailed { .. }
            | Event::PageMissing { .. }
            | Event::PageRebuilt { .. }
            | Event::DieRebuilt { .. } => self.failed_die_event(view, &event),
            Event::PageDecoded { .. }
            | Event::ReadWillBeRebuilt { .. }
            | Event::ReadDegraded { .. }
            | Event::StripeSensed { .. }
            | Event::ReadRebuilt { .. }
            | Event::SectorsDecoded { .. }
            | Event::ReadGivenUp { .. }
            | Event::CorruptionDrawn
            | Event::UnitCorrupted { .. }
            | Event::UnitFetched { .. }
            | Event::HealDropped { .. }
            | Event::UnitLost { .. }
            | Event::UnitMadeWrong { .. }
            | Event::UnitRepaired { .. }
            | Event::ReadWrong { .. }
            | Event::UnitFlushed { .. }
            | Event::ScrubSensed { .. }
            | Event::ErrorsDrawn { .. }
            | Event::ScrubPassBegan
            | Event::ScrubPassEnded
            | Event::RefreshAsked { .. } => self.coded_event(view, &event),
            Event::ReadReported { slot, .. } => {
                if let Some(book) = &mut self.dram {
                    book.reported(slot);
                }
                self.coded_event(view, &event)
            }
            Event::ReadWillRepeat { transaction } => {
                if let Some(book) = &mut self.firmware {
                    book.repeats(transaction);
                }
                self.coded_event(view, &event)
            }
            Event::StepTaken { step, core, until } => match &mut self.firmware {
                Some(book) => book.taken(view, step, (core, until), &mut self.marks),
                None => Ok(()),
            },
            Event::DramTaken { access, until } => self.dram_taken(view, access, until),
            Event::EntryLookedUp { .. }
            | Event::MapPageSensed { .. }
            | Event::MapPageLost { .. }
            | Event::MapPageFetched { .. }
            | Event::MapPageRebuilt { .. }
            | Event::MapPageAsked { .. }
            | Event::MapPageCrosses { .. }
            | Event::MapPageArrived { .. }
            | Event::MapCacheChanged { .. }
            | Event::MapPageWritten { .. } => self.map_event(view, &event),
            Event::Gathered { slot, id, queue, op, parts, behind, transaction } => {
                if self.messages.are_sent() {
                    self.messages.done(view.now, slot)?;
                } else {
                    self.interrupts.gathered(view.now, (slot, queue))?;
                }
                self.places.left(view.now, slot);
                self.queues.done(slot);
                if let Some(book) = &mut self.zones {
                    book.done(view, slot)?;
                }
                let inside = self.requests.get(view, slot)?;
                if op == Op::Trim && !inside.refused && !inside.is_void {
                    let request = inside.request;
                    self.trim_done(view, &request);
                }
                if let Some(book) = &mut self.dram {
                    book.completed(view, slot, (parts, behind, transaction))?;
                }
                if let Some(book) = &mut self.sectors {
                    book.completed(view, slot, &mut self.marks)?;
                }
                if let Some(holders) = &mut self.cache_holders {
                    holders.completed(view, slot, op, (parts, behind, transaction))?;
                }
                if let Some(holders) = &mut self.map_holders {
                    holders.completed(view.now, slot, behind)?;
                }
                if let Some(book) = &self.firmware {
                    book.completed(view, slot, parts, transaction)?;
                }
                match &mut self.blame {
                    Some(blame) => blame.completed(view, slot, id, (op, parts, behind, transaction)),
                    None => Ok(()),
                }
            }
            Event::Interrupted { queue, completions } => {
                self.ledger.interrupts += 1;
                self.ledger.gathered_completions += u64::from(completions);
                self.interrupts.raised(view.now, (queue, completions))
            }
            Event::Completed { slot, id, request, parts, behind, transaction, last } => {
                self.completed(view, (slot, id, last), &request, (parts, behind, transaction))
            }
            Event::MeasuringBegan => {
                self.measuring_began(view);
                Ok(())
            }
            Event::Finished { utilization } => self.finished(view, utilization),
        }
    }

    fn follows_data(&self) -> bool {
        self.oracle.is_some()
    }

    fn notes(&self) -> Vec<String> {
        let level = self.level.name();
        vec![format!(
            "checked ({level}): {} events and {} walks over everything, no invariant violated",
            self.events, self.sweeps
        )]
    }
}
