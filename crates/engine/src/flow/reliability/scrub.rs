//! The scrubber: a pass reads every page under the detecting code (every page, where there is one code alone), so that
//! what is corrupt is found before the host asks for it.

use ninescope_ftl::GroupState;
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{NandCode, ScrubPass};
use crate::transaction::Transaction;

impl<K: Kind> Device<K> {
    /// It is time for a pass.
    pub(super) fn begin_scrub_pass(&mut self) -> Result<(), SimulationError> {
        if !self.goes_on()? {
            return Ok(());
        }
        let began = self.now;
        self.reliable().pass = ScrubPass { running: true, began, turn: 0, reads: 0 };
        observe!(self, Event::ScrubPassBegan);
        for pool in 0..self.geometry.pools() {
            let first = self.end_of_pool(Pool(pool)) - self.end_of_pool(Pool(0));
            self.reliable().scrub_cursors[pool as usize] = first;
        }
        self.pump_scrub()
    }

    /// Reads on, as far as the policy lets it.
    fn pump_scrub(&mut self) -> Result<(), SimulationError> {
        loop {
            let part = self.reliable();
            let most = part.scrub.as_ref().map_or(0, |scrub| scrub.pages_in_flight());
            let ScrubPass { running, reads, .. } = part.pass;
            if !running || part.host_ended || reads >= most {
                return Ok(());
            }
            let Some(first) = self.next_page_to_scrub() else {
                return if reads == 0 { self.end_scrub_pass() } else { Ok(()) };
            };
            self.reliable().pass.reads += 1;
            self.reliable().counters.scrub_page_reads += 1;
            self.queue_read(Transaction::scrub_read(first, self.geometry.units_per_page() as u8))?;
        }
    }

    /// The next page that holds something under the code that is looked after, pools taking turns.
    fn next_page_to_scrub(&mut self) -> Option<Ppa> {
        let pools = self.geometry.pools();
        for _ in 0..pools {
            let pass = &mut self.reliable().pass;
            let pool = pass.turn;
            pass.turn = (pool + 1) % pools;
            if let Some(page) = self.next_page_of_pool(Pool(pool)) {
                return Some(page);
            }
        }
        None
    }

    fn next_page_of_pool(&mut self, pool: Pool) -> Option<Ppa> {
        let units_per_page = self.geometry.units_per_page();
        let detects = self.reliable().nand[NandCode::Edc as usize].is_some();
        let end = self.end_of_pool(pool);
        let mut cursor = self.reliable().scrub_cursors[pool.index()];
        let mut found = None;
        while let Some(unit) = self.ftl.next_valid(Ppa(cursor)).filter(|unit| unit.0 < end) {
            let (group, _) = self.geometry.group_and_offset(unit);
            if !self.is_to_scrub(group, detects) {
                cursor = self.geometry.first_unit(group).0 + self.geometry.units_per_group();
                continue;
            }
            let first = self.geometry.first_unit_of_page(unit);
            cursor = first.0 + units_per_page;
            if !self.ftl.is_in_flight(Ppa(cursor - 1)) {
                found = Some(first);
                break;
            }
        }
        self.reliable().scrub_cursors[pool.index()] = if found.is_some() { cursor } else { end };
        found
    }

    fn end_of_pool(&self, pool: Pool) -> u32 {
        (pool.0 + 1) * self.geometry.blocks_per_plane * self.geometry.units_per_group()
    }

    fn is_to_scrub(&self, group: BlockGroup, detects: bool) -> bool {
        let record = self.ftl.group(group);
        let rests = !matches!(record.state, GroupState::Draining | GroupState::Erasing | GroupState::Free);
        rests && (!detects || Stream(u32::from(record.stream)).is_of_clean_data())
    }

    fn end_scrub_pass(&mut self) -> Result<(), SimulationError> {
        let now = self.now;
        let part = self.reliable();
        part.pass.running = false;
        part.counters.scrub_passes += 1;
        let next = part.scrub.as_ref().map(|scrub| (part.pass.began + scrub.period()).max(now));
        if let Some(at) = next.filter(|_| !self.reliable().host_ended) {
            self.note(at, Appointment::ScrubPass);
        }
        observe!(self, Event::ScrubPassEnded);
        Ok(())
    }

    /// A page that the scrubber read is decoded.
    pub(crate) fn scrub_page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        self.transactions.slab.remove(transaction);
        self.reliable().pass.reads -= 1;
        self.pump_scrub()
    }
}
