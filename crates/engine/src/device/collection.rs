//! Garbage collection is carried out: moves are read, placed and programmed, groups erased.

use ninescope_kernel::NONE;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Pool, Ppa, Stream};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::firmware::Decision;
use crate::flash::CollectionStep;
use crate::probe::{Event, observe};
use crate::transaction::UnitRecord;

impl<K: Kind> Device<K> {
    /// Carries out what is to be done in a pool, as far as it goes now.
    pub(super) fn pump_gc(&mut self, pool: Pool) -> Result<(), SimulationError> {
        while let Some(step) = self.next_step(pool)? {
            match step {
                CollectionStep::Read { first, mask } => {
                    let read = self.flash.begin_move(&mut self.run, pool, first, mask);
                    self.queue_read(read)?;
                }
                CollectionStep::Copy { first } => self.copy_page(pool, first)?,
                CollectionStep::Erase(group) => {
                    self.flash.queue_erase(&mut self.run, group);
                    self.flash.send_copies_of(&mut self.run, pool, group);
                }
                CollectionStep::Padded { last } => observe!(self, Event::Padded { last }),
                CollectionStep::Retired(group) => self.group_retired(group)?,
                CollectionStep::Rest { released } => {
                    if released {
                        observe!(self, Event::HostReleased { pool });
                    }
                    if self.flash.blocks_break() {
                        self.tell_read_only()?;
                    }
                    return Ok(());
                }
                CollectionStep::SendOpenMoves => return self.send_open_moves(pool),
                CollectionStep::FillOpenMoves { clean_first } => {
                    if clean_first && self.send_moves_apart(pool)? {
                        return Ok(());
                    }
                    if !self.flash.fill_from_next_victim(pool) {
                        return self.send_open_moves(pool);
                    }
                }
            }
        }
        Ok(())
    }

    /// What is done next, of which a probe is told where it begins with a victim.
    #[inline]
    fn next_step(&mut self, pool: Pool) -> Result<Option<CollectionStep>, SimulationError> {
        let fills = self.flash.fills_open_moves(pool);
        let victims = if K::ACTIVE { self.flash.ftl().counters().gc_victims } else { 0 };
        self.forget_before_collection(pool)?;
        let step = self.flash.next_step(&mut self.run, pool);
        if K::ACTIVE && self.flash.ftl().counters().gc_victims != victims {
            let group = match step {
                // Nothing of it was valid.
                Some(CollectionStep::Erase(group)) => Some(group),
                _ => self.flash.ftl().victim(pool),
            };
            if let Some(group) = group {
                observe!(self, Event::VictimChosen { group, fills });
            }
        }
        Ok(step)
    }

    /// Pads the open pages of moves and sends them to their die.
    fn send_open_moves(&mut self, pool: Pool) -> Result<(), SimulationError> {
        self.pad_and_send(pool, Stream::GC)?;
        self.send_moves_apart(pool).map(drop)
    }

    /// The same of the moves of kinds that are kept apart. Returns whether there were any.
    fn send_moves_apart(&mut self, pool: Pool) -> Result<bool, SimulationError> {
        let mut any = false;
        for kind in 1..self.flash.ftl().kinds() {
            any |= self.pad_and_send(pool, Stream::of_moves(kind))?;
        }
        Ok(any)
    }

    /// The units of a page are in the controller: those that are still current get their new place.
    pub(super) fn move_page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let units = u32::from(self.run.transactions.slab[transaction].units);
        if self.run.firmware.is_some() && self.run.decides_later(Decision::Move, transaction, units) {
            return Ok(());
        }
        self.place_moves(transaction)
    }

    /// It is decided where they go.
    pub(super) fn place_moves(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let access = self.run.transactions.slab[transaction];
        self.run.transactions.slab.remove(transaction);
        let pool = self.flash.pool_of(access.ppa());
        self.flash.move_arrived(pool);
        let (mut unit, mut number) = (access.records(), 0);
        while unit != NONE {
            let record = self.run.transactions.units[unit];
            if self.flash.move_is_current(&record) {
                self.move_harms(transaction, number, record.lpa)?;
                self.place_move(pool, unit, &record)?;
            } else {
                self.run.transactions.units.remove(unit);
                observe!(self, Event::MoveDropped { record: unit, lpa: record.lpa, from: record.taken_from.place });
            }
            unit = record.next;
            number += 1;
        }
        Ok(())
    }

    fn place_move(&mut self, pool: Pool, unit: u32, record: &UnitRecord) -> Result<(), SimulationError> {
        let Some(placed) = self.flash.place_move(pool, record) else {
            return self.move_finds_no_place(pool, unit, record);
        };
        let (lpa, from) = (record.lpa, record.taken_from.place);
        observe!(self, Event::MovePlaced { record: unit, lpa, from, to: placed.new });
        self.count_move(from, placed.new);
        self.run.counters.trimmed_units_moved += u64::from(self.flash.is_noted_trim(lpa));
        self.flash.move_placed(&mut self.run, pool, unit, &placed);
        Ok(())
    }

    /// A whole page is moved within its plane: its die copies it.
    #[inline(never)]
    fn copy_page(&mut self, pool: Pool, first: Ppa) -> Result<(), SimulationError> {
        let group = self.flash.read_queued(first);
        self.group_read(group)?;
        let mut unit = self.flash.begin_copyback(&mut self.run, first).head;
        observe!(self, Event::CopybackBegan { from: first });
        while unit != NONE {
            let record = self.run.transactions.units[unit];
            let placed = self.flash.place_move(pool, &record).expect("room for what is handed out was counted");
            let (lpa, from) = (record.lpa, record.taken_from.place);
            observe!(self, Event::MoveCopied { lpa, from, to: placed.new });
            self.count_move(from, placed.new);
            self.run.counters.trimmed_units_moved += u64::from(self.flash.is_noted_trim(lpa));
            self.flash.move_placed(&mut self.run, pool, unit, &placed);
            unit = record.next;
        }
        Ok(())
    }

    /// What dies copied is on the media: it has the errors of what was copied, which nothing corrected.
    #[cold]
    pub(super) fn copybacks_ended(&mut self, command: &FlashCommand) {
        for plane in command.addressed_planes() {
            let copied = self.flash.copyback_ended(&mut self.run, command.transaction[plane]);
            if let Some((from, to)) = copied {
                self.errors_go_along(from, to);
            }
        }
    }

    /// A page of moves is on the media.
    pub(super) fn finish_moves(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let access = self.run.transactions.slab[transaction];
        let (mut unit, mut number) = (access.records(), 0);
        while unit != NONE {
            let to = self.flash.geometry().unit_of_program(access.ppa(), number);
            let record = self.run.transactions.units[unit];
            self.run.transactions.units.remove(unit);
            let current = self.flash.moved(&record, to);
            observe!(self, Event::MoveEnded { lpa: record.lpa, from: record.taken_from.place, to, current });
            if current {
                self.unit_lies_elsewhere(record.lpa)?;
            }
            number += 1;
            unit = record.next;
        }
        self.flash.move_program_ended(self.flash.pool_of(access.ppa()));
        Ok(())
    }

    /// The erase of a group ended, with so many suspensions more than it bears: it is free.
    pub(super) fn group_erased(&mut self, transaction: u32, excess_suspensions: u32) -> Result<(), SimulationError> {
        let group = self.flash.geometry().locate(self.run.transactions.slab[transaction].ppa()).group;
        self.run.transactions.slab.remove(transaction);
        if !self.flash.is_erased(group) {
            return Ok(());
        }
        self.group_is_empty(group, excess_suspensions);
        let pool = self.flash.geometry().pool_and_block(group).0;
        let leveled = if K::ACTIVE { self.flash.ftl().leveled_group(pool) } else { None };
        self.erased_for_all();
        match self.flash.erased(&mut self.run, group) {
            None => observe!(self, Event::Erased { group }),
            Some(broken) => {
                observe!(self, Event::EraseBroke { group, broken });
                self.tell_read_only()?;
            }
        }
        if K::ACTIVE {
            let chosen = self.flash.ftl().leveled_group(pool).filter(|&chosen| Some(chosen) != leveled);
            if let Some(group) = chosen {
                observe!(self, Event::LevelingChosen { group });
            }
        }
        Ok(())
    }
}
