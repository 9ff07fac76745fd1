//! Page reads of flash between the page register and whoever asked.

use ninescope_ecc::RberLevel;
use ninescope_ftl::Residence;
use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_model::{ChannelId, DieId, Lpa, Ppa, SECTOR_BYTES, Source};

use crate::device::Device;
use crate::error::SimulationError;
use crate::host::LinkJob;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::code::{Asked, Decoded};
use crate::reliability::read_retry::Attempt;
use crate::reliability::timetable::Appointment;
use crate::reliability::{Harm, HarmedUnit, NandCode, Reliability, Sensed};
use crate::sched::DiePhase;
use crate::transaction::{Coding, QueueClass, Transaction, UnitRecord};

impl<K: Kind> Device<K> {
    // ---- sensing ---------------------------------------------------------------------------------

    /// A page is in its die's register: draws what its decoder will find. The group is there still, and is not erased
    /// before this is done.
    #[inline(never)]
    pub(crate) fn draw_what_was_sensed(&mut self, index: u32) {
        let transaction = self.transactions.slab[index];
        let code = self.nand_code_of(transaction.ppa());
        let decoded = if transaction.attempts > 0 {
            self.draw_attempt(index, transaction.attempts - 1)
        } else {
            self.draw_page(&transaction, code)
        };
        // What it holds matters only where something is wrong with it, and looking costs a cache miss.
        let harmed = decoded.failed | decoded.undetected;
        let from = if harmed == 0 { Residence::NONE } else { self.ftl.residence(transaction.ppa()) };
        *self.sensed(index) = Sensed { decoded, code, from, ..Sensed::default() };
        if harmed != 0 && transaction.source != Source::GarbageCollection {
            self.note_harmed_units(index, transaction.ppa(), harmed);
        }
    }

    /// Notes what the units hold of which the decoder will find something, while it is known for sure.
    fn note_harmed_units(&mut self, index: u32, first: Ppa, harmed: u32) {
        let Reliability { harmed_units, .. } = self.reliability.as_mut().expect("a drive with codes").as_mut();
        harmed_units.retain(|unit| unit.transaction != index);
        for number in ones(harmed) {
            let lpa = self.ftl.content(Ppa(first.0 + number));
            harmed_units.push(HarmedUnit { transaction: index, number, lpa });
        }
    }

    /// What a transaction brought; there are as many as there ever were transactions at a time.
    pub(super) fn sensed(&mut self, index: u32) -> &mut Sensed {
        let sensed = &mut self.reliable().sensed;
        if sensed.len() <= index as usize {
            sensed.resize(index as usize + 1, Sensed::default());
        }
        &mut sensed[index as usize]
    }

    fn draw_page(&mut self, transaction: &Transaction, code: NandCode) -> Decoded {
        let level = self.levels_of(transaction.ppa())[code as usize];
        let asked = self.sectors_asked(transaction);
        let part = self.reliable();
        let Some(of_code) = &mut part.nand[code as usize] else { return Decoded::default() };
        if part.corruption.is_some() || of_code.spans_units() {
            return self.draw_units(transaction, (code, asked), level);
        }
        of_code.draw(level, u32::from(transaction.units), 0, asked)
    }

    /// Which sectors of its units a page access asks for: each codeword is decoded by itself, so that others need not be.
    fn sectors_asked(&self, transaction: &Transaction) -> Asked {
        let Transaction { asked_of_first, sectors, units, .. } = *transaction;
        if asked_of_first == 0 {
            return Asked::ALL;
        }
        let per_unit = self.geometry.sectors_per_unit();
        let mask = |sectors: u32| ((1_u64 << sectors) - 1) as u32;
        let first = if asked_of_first == mask(per_unit) { u32::MAX } else { asked_of_first };
        if units == 1 {
            return Asked { first, last: u32::MAX };
        }
        let of_last = u32::from(sectors) - asked_of_first.count_ones() - (u32::from(units) - 2) * per_unit;
        Asked { first, last: if of_last == per_unit { u32::MAX } else { mask(of_last) } }
    }

    /// The same unit by unit: for codewords of several units, all of which are read, and for units that are corrupt.
    fn draw_units(
        &mut self,
        transaction: &Transaction,
        (code, sectors): (NandCode, Asked),
        level: Option<RberLevel>,
    ) -> Decoded {
        let asked = self.units_asked(transaction);
        let first = self.geometry.first_unit_of_page(transaction.ppa()).0;
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Some(code) = &mut part.nand[code as usize] else { return Decoded::default() };
        let read = code.whole_codewords(asked);
        let places = || ones(read).map(|unit| Ppa(first + unit)).enumerate();
        let injected = part.corruption.as_ref().map_or(0, |corruption| {
            places().fold(0, |mask, (number, place)| mask | u32::from(corruption.is_corrupt(place)) << number)
        });
        let injected = code.injected_in(injected, read.count_ones(), sectors);
        let decoded = code.draw(level, read.count_ones(), injected, sectors);
        let corrected = injected & !(decoded.failed | decoded.undetected);
        for (_, place) in places().filter(|(number, _)| corrected >> number & 1 == 1) {
            part.counters.corruptions_corrected += u64::from(part.meet_corruption(place));
        }
        let (failed, undetected) = (of_asked(decoded.failed, read, asked), of_asked(decoded.undetected, read, asked));
        Decoded { failed, undetected, ..decoded }
    }

    /// The raw bit error rate of a place's group as a level of each code; none where bits do not fail by themselves.
    fn levels_of(&mut self, ppa: Ppa) -> [Option<RberLevel>; 2] {
        let now = self.now;
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Some(health) = &mut part.health else { return [None; 2] };
        if let Some(levels) = health.always() {
            return levels;
        }
        let group = self.geometry.group_and_offset(ppa).0;
        let record = self.ftl.group(group);
        let (reads, cycles) = (record.reads_since_erase, record.erase_count);
        if let Some(levels) = health.levels(group, now, reads) {
            return levels;
        }
        let age = part.ages.age(group, now);
        // What too many suspensions add is known to the model, or to the limit that they exceeded.
        let suspended = self.nand.added_rber(health.suspensions(group));
        let rber = health.rber(group, age, reads, part.initial_cycles.saturating_add(cycles)) + suspended;
        let levels = [0, 1].map(|code: usize| part.nand[code].as_ref().and_then(|code| code.level(rber)));
        health.keep(group, now, age, reads, levels);
        levels
    }

    /// Which units of its page an access asks for, a bit each; those of a move ascend.
    pub(super) fn units_asked(&self, transaction: &Transaction) -> u32 {
        let first = self.geometry.first_unit_of_page(transaction.ppa()).0;
        if transaction.source != Source::GarbageCollection {
            return (((1_u64 << transaction.units) - 1) << (transaction.ppa().0 - first)) as u32;
        }
        let (mut asked, mut record) = (0, transaction.records());
        while record != NONE {
            let UnitRecord { taken_from, next, .. } = self.transactions.units[record];
            asked |= 1 << (taken_from.place.0 - first);
            record = next;
        }
        asked
    }

    fn record_of_unit(&self, head: u32, number: u32) -> Option<UnitRecord> {
        let mut index = head;
        for _ in 0..number {
            index = if index == NONE { NONE } else { self.transactions.units[index].next };
        }
        (index != NONE).then(|| self.transactions.units[index])
    }

    /// What a unit of a page access holds of which the decoder finds something.
    pub(super) fn unit_of_access(&self, index: u32, number: u32) -> (Lpa, Residence) {
        let transaction = self.transactions.slab[index];
        if transaction.source == Source::GarbageCollection {
            let record = self.record_of_unit(transaction.records(), number).unwrap_or_default();
            return (record.lpa, record.taken_from);
        }
        let Some(part) = &self.reliability else { return (Lpa::NONE, Residence::NONE) };
        let from = part.sensed.get(index as usize).map_or(Residence::NONE, |sensed| sensed.from);
        // Neighbours in a page need not be neighbours to the host.
        let is_it = |unit: &&HarmedUnit| (unit.transaction, unit.number) == (index, number);
        let lpa = part.harmed_units.iter().find(is_it).map_or(Lpa::NONE, |unit| unit.lpa);
        (lpa, Residence { place: Ppa(from.place.0 + number), ..from })
    }

    /// What reading a page again brings. Its worst codeword decides for all that did not decode.
    fn draw_attempt(&mut self, index: u32, attempt: u8) -> Decoded {
        let transaction = self.transactions.slab[index];
        let asked = self.sectors_asked(&transaction);
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Sensed { decoded, code, .. } = part.sensed[index as usize];
        let (Some(retry), Some(code)) = (&part.retry, &mut part.nand[code as usize]) else { return decoded };
        let correctable = code.scheme().correctable();
        code.counters.codewords += u64::from(decoded.codewords);
        code.counters.corrupted_codewords += u64::from(decoded.corrupted);
        match retry.attempt(u32::from(attempt), decoded.worst, correctable, &mut part.retry_stream) {
            Attempt::Decoded => {
                code.counters.corrected_bits += u64::from(decoded.worst.min(correctable));
                let corrected = code.injected_in(decoded.failed, transaction.units.into(), asked);
                self.count_corrected(index, corrected);
                Decoded { failed: 0, ..decoded }
            }
            Attempt::Failed(worst) => {
                code.counters.failed_codewords += 1;
                Decoded { worst, ..decoded }
            }
        }
    }

    /// Counts the corrupt units among those of an access that are good by now.
    fn count_corrected(&mut self, index: u32, units: u32) {
        if self.reliable().corruption.is_none() {
            return;
        }
        for number in ones(units) {
            let place = self.unit_of_access(index, number).1.place;
            let part = self.reliable();
            part.counters.corruptions_corrected += u64::from(part.meet_corruption(place));
        }
    }

    /// Whether an access whose data was just drawn will be read again, so that its group must stay as it is.
    pub(crate) fn will_be_read_again(&self, index: u32) -> bool {
        let Some(part) = &self.reliability else { return false };
        let Some(Sensed { decoded, code, .. }) = part.sensed.get(index as usize) else { return false };
        let attempts = u32::from(self.transactions.slab[index].attempts);
        let may = part.retry.as_ref().is_some_and(|retry| attempts < retry.attempts());
        // What the detecting code refuses is fetched, not read again.
        decoded.failed != 0 && may && *code == NandCode::Ecc
    }

    // ---- leaving the die -------------------------------------------------------------------------

    /// Read data of each plane in turn, through the decoder.
    #[inline(never)]
    pub(crate) fn send_coded_data_out(&mut self, die: DieId, channel: ChannelId) -> Result<(), SimulationError> {
        let now = self.now;
        let command = self.dies[die.index()].command;
        let (mut left, mut held) = (now, now);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let begins = left;
            left += self.nand.data_time(u64::from(command.bytes[plane]));
            if self.transactions.slab[index].tracked {
                let own_before = self.own_data_before(&command, plane);
                let track = &mut self.transactions.tracks[index as usize];
                track.channel += begins - track.mark - own_before;
                track.own_parts += own_before;
                track.transfer = left - begins;
            }
            held = held.max(self.page_left(index, channel, left)?);
        }
        let held = held.max(left);
        let unit = &mut self.channels[channel.index()];
        unit.busy += left - now;
        unit.free_at = left;
        if self.dies[die.index()].shared {
            self.end_shared_channel_wait(die, left);
            self.close_shares(die, held);
        }
        let unit = &mut self.dies[die.index()];
        unit.ledger.enter_until(now, unit.occupancy, held);
        unit.phase = DiePhase::DataOut;
        unit.data_out_end = held;
        // Whoever waits for the data is told by the timetable.
        unit.staying_planes = 0;
        if unit.waiting != 0 || self.nand.parked(die).is_some() {
            self.queue.schedule(self.resources.die(die), held);
        }
        observe!(self, Event::DataOut { command: &command, until: left, held });
        Ok(())
    }

    /// A page `arrives` in the controller. Returns until when its die keeps it.
    fn page_left(&mut self, index: u32, channel: ChannelId, arrives: Ns) -> Result<Ns, SimulationError> {
        let code = self.reliable().sensed.get(index as usize).map_or(NandCode::Ecc, |sensed| sensed.code);
        let Some(code) = &self.reliable().nand[code as usize] else {
            self.deliver(index, arrives, Coding::default());
            return Ok(arrives);
        };
        let (shared, holds_die) = (code.scheme().shared(), code.scheme().holds_die());
        if shared {
            // Pages of other channels may come before it.
            self.note(arrives, Appointment::AtDecoder { transaction: index });
            return Ok(arrives);
        }
        let decoded = self.decode_page(index, channel.index(), arrives)?;
        Ok(if holds_die { decoded } else { arrives })
    }

    /// Gives a page that `arrives` to a decoder. Returns when it is decoded, for better or worse.
    pub(super) fn decode_page(&mut self, index: u32, channel: usize, arrives: Ns) -> Result<Ns, SimulationError> {
        let transaction = self.transactions.slab[index];
        let part = self.reliability.as_mut().expect("a drive with codes");
        let Sensed { decoded, code: which, .. } = part.sensed[index as usize];
        let Some(code) = &mut part.nand[which as usize] else { return Ok(arrives) };
        let more = match (&part.retry, transaction.attempts.checked_sub(1)) {
            (Some(retry), Some(attempt)) => retry.more_decoding(u32::from(attempt)),
            _ => Ns::ZERO,
        };
        let time = code.scheme().decode_time(decoded.codewords, decoded.corrupted) + more;
        let begins = code.take_decoder(channel, arrives, time);
        let until = begins + time;
        observe!(
            self,
            Event::PageDecoded {
                transaction: index,
                source: transaction.source,
                code: which,
                attempt: u32::from(transaction.attempts),
                arrived: arrives,
                begins,
                until,
                codewords: decoded.codewords,
                corrupted: decoded.corrupted,
                failed: decoded.failed,
                undetected: decoded.undetected,
            }
        );
        let coding = Coding { wait: begins - arrives, time, ..Coding::default() };
        if decoded.failed == 0 {
            self.deliver(index, until, coding);
        } else {
            if transaction.attempts == 0 {
                self.transactions.tracks[index as usize].coding = coding;
            }
            self.note(until, Appointment::Failed { transaction: index });
        }
        if decoded.undetected != 0 && transaction.source == Source::Host {
            for number in ones(decoded.undetected) {
                let lpa = self.unit_of_access(index, number).0;
                self.pass_wrong(transaction.command(), lpa)?;
            }
            if let Some(migration) = transaction.brings_up().get() {
                self.tiered().migrations[migration].harm_in_flash = Some(Harm::Wrong);
            }
        }
        Ok(until)
    }

    /// The data of a page access is good, as far as anybody knows, when it is `ready`.
    pub(super) fn deliver(&mut self, index: u32, ready: Ns, coding: Coding) {
        let transaction = self.transactions.slab[index];
        let Transaction { source, sectors, attempts, class, .. } = transaction;
        if class == QueueClass::HostRead {
            let track = &mut self.transactions.tracks[index as usize];
            if attempts == 0 {
                track.coding = coding;
            } else {
                // Everything since the first decode failed.
                track.coding.retry = ready - track.mark;
            }
        }
        if source != Source::Host {
            self.note(ready, Appointment::Decoded { transaction: index });
            return;
        }
        if let Some(migration) = transaction.brings_up().get() {
            self.note(ready, Appointment::BroughtUp { migration });
        }
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        self.queue_link_out(LinkJob { ready, bytes, command: transaction.command(), transaction: index });
    }
}

/// The bits of a mask that are set, by their numbers.
pub(super) fn ones(mask: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |bit| mask >> bit & 1 == 1)
}

/// Of a mask of the units `read`, in their order, the part of those that were `asked` for, in theirs.
fn of_asked(mask: u32, read: u32, asked: u32) -> u32 {
    let asked_of_read = ones(read).enumerate().filter(|(_, unit)| asked >> unit & 1 == 1);
    asked_of_read.enumerate().fold(0, |found, (number, (of_read, _))| found | (mask >> of_read & 1) << number)
}
