//! What goes on by itself: the timetable, passes of the scrubber, refresh, and what is injected in the other direction.

use ninescope_ftl::{Ftl, GroupState};
use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use super::corruption::Corruption;
use super::timetable::Appointment;
use super::{Ground, NandCode, Reliability, ScrubPass};
use crate::policies::refresh::RefreshReason;
use crate::run::Run;

/// What the scrubber does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrubStep {
    /// It reads the page that begins there.
    Read(Ppa),
    /// Its pass has read everything.
    PassEnds,
    /// It waits for its reads, or rests.
    Wait,
}

impl Reliability {
    // ---- the timetable -----------------------------------------------------------------------------

    /// Notes something that will happen.
    pub(crate) fn note<Q: WakeQueue>(&mut self, run: &mut Run<Q>, at: Ns, what: Appointment) {
        if self.timetable.note(at, what) {
            run.queue.schedule(run.resources.timetable(), at);
        }
    }

    /// The next thing whose time has come. Sets the wake-up for the one after it if none has.
    pub(crate) fn due<Q: WakeQueue>(&mut self, run: &mut Run<Q>) -> Option<Appointment> {
        let due = self.timetable.due(run.now);
        if let (None, Some(next)) = (due, self.timetable.next()) {
            run.queue.schedule(run.resources.timetable(), next);
        }
        due
    }

    /// Returns whether this was the beginning of the run.
    pub(crate) fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    /// Notes the first timers of scrubber and refresh.
    pub(crate) fn note_first_timers<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        let first_pass = self.scrub.as_ref().map(|scrub| scrub.first_pass());
        if let Some(at) = first_pass {
            self.note(run, at, Appointment::ScrubPass);
        }
        self.note_refresh_check(run);
    }

    /// Whether nothing will happen but timers, for ever.
    pub(crate) fn has_only_timers(&self) -> bool {
        self.timetable.has_only_timers()
    }

    /// The host may be over. Behind its last command nothing is waited for that only time brings. Returns whether it is.
    pub(crate) fn host_is_over(&mut self, over: bool) -> bool {
        self.host_ended |= over;
        over
    }

    /// Timers are void.
    pub(crate) fn drop_timers<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        self.timetable.drop_timers();
        match self.timetable.next() {
            Some(next) => run.queue.schedule(run.resources.timetable(), next),
            None => run.queue.cancel(run.resources.timetable()),
        }
    }

    // ---- the scrubber ------------------------------------------------------------------------------

    /// A pass begins: it reads every page under the detecting code (every page, where there is one code alone), so that what
    /// is corrupt is found before the host asks for it.
    pub(crate) fn begin_scrub_pass(&mut self, now: Ns, ftl: &Ftl) {
        self.pass = ScrubPass { running: true, began: now, turn: 0, reads: 0 };
        for pool in 0..ftl.geometry().pools() {
            self.scrub_cursors[pool as usize] = end_of_pool(ftl, Pool(pool)) - end_of_pool(ftl, Pool(0));
        }
    }

    /// Whether the scrubber reads.
    pub(crate) fn is_scrubbing(&self) -> bool {
        self.pass.reads > 0
    }

    /// What the scrubber does next, as far as the policy lets it.
    pub(crate) fn next_scrub(&mut self, ftl: &Ftl) -> ScrubStep {
        let most = self.scrub.as_ref().map_or(0, |scrub| scrub.pages_in_flight());
        let ScrubPass { running, reads, .. } = self.pass;
        if !running || self.host_ended || reads >= most {
            return ScrubStep::Wait;
        }
        let Some(first) = self.next_page_to_scrub(ftl) else {
            return if reads == 0 { ScrubStep::PassEnds } else { ScrubStep::Wait };
        };
        self.pass.reads += 1;
        self.counters.scrub_page_reads += 1;
        ScrubStep::Read(first)
    }

    /// The next page that holds something under the code that is looked after, pools taking turns.
    fn next_page_to_scrub(&mut self, ftl: &Ftl) -> Option<Ppa> {
        let pools = ftl.geometry().pools();
        for _ in 0..pools {
            let pool = self.pass.turn;
            self.pass.turn = (pool + 1) % pools;
            if let Some(page) = self.next_page_of_pool(ftl, Pool(pool)) {
                return Some(page);
            }
        }
        None
    }

    fn next_page_of_pool(&mut self, ftl: &Ftl, pool: Pool) -> Option<Ppa> {
        let geometry = ftl.geometry();
        let units_per_page = geometry.units_per_page();
        let detects = self.nand[NandCode::Edc as usize].is_some();
        let end = end_of_pool(ftl, pool);
        let mut cursor = self.scrub_cursors[pool.index()];
        let mut found = None;
        while let Some(unit) = ftl.next_valid(Ppa(cursor)).filter(|unit| unit.0 < end) {
            let (group, _) = geometry.group_and_offset(unit);
            if !is_to_scrub(ftl, group, detects) {
                cursor = geometry.first_unit(group).0 + geometry.units_per_group();
                continue;
            }
            let first = geometry.first_unit_of_page(unit);
            cursor = first.0 + units_per_page;
            if !ftl.is_in_flight(Ppa(cursor - 1)) {
                found = Some(first);
                break;
            }
        }
        self.scrub_cursors[pool.index()] = if found.is_some() { cursor } else { end };
        found
    }

    /// A page that the scrubber read is decoded.
    pub(crate) fn scrub_read_ended(&mut self) {
        self.pass.reads -= 1;
    }

    /// A pass has read everything that it is there for.
    pub(crate) fn end_scrub_pass<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        self.pass.running = false;
        self.counters.scrub_passes += 1;
        let next = self.scrub.as_ref().map(|scrub| (self.pass.began + scrub.period()).max(run.now));
        if let Some(at) = next.filter(|_| !self.host_ended) {
            self.note(run, at, Appointment::ScrubPass);
        }
    }

    // ---- refresh -----------------------------------------------------------------------------------

    /// Whether a group is to be refreshed that was read so often since its erase.
    pub(crate) fn is_due_by_reads(&self, group: BlockGroup, reads: u32) -> bool {
        let due = self.refresh.as_ref().is_some_and(|refresh| refresh.is_due_by_reads(reads));
        due && !self.refresh_asked.get(group.index())
    }

    /// The same of one that holds something, by the age of that.
    pub(crate) fn is_due_by_age(&self, group: BlockGroup, now: Ns) -> bool {
        let age = self.ages.age(group, now);
        let due = self.refresh.as_ref().is_some_and(|refresh| refresh.is_due_by_age(age));
        due && !self.refresh_asked.get(group.index())
    }

    /// The same by the share of its bits that is expected to fail.
    pub(crate) fn is_due_by_rate(&self, ground: Ground<'_>, group: BlockGroup) -> bool {
        let Some(refresh) = self.refresh.as_ref().filter(|refresh| refresh.goes_by_rate()) else { return false };
        let due = self.rber_of(ground, group).is_some_and(|rber| refresh.is_due_by_rate(rber));
        due && !self.refresh_asked.get(group.index())
    }

    /// Garbage collection will empty a group.
    pub(crate) fn refresh_asked(&mut self, group: BlockGroup, reason: RefreshReason) {
        self.refresh_asked.set(group.index());
        *match reason {
            RefreshReason::Reads => &mut self.counters.refreshes_by_reads,
            RefreshReason::Age => &mut self.counters.refreshes_by_age,
            RefreshReason::Rate => &mut self.counters.refreshes_by_rate,
        } += 1;
    }

    /// Notes when all groups are looked at next.
    pub(crate) fn note_refresh_check<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        let period = self.refresh.as_ref().and_then(|refresh| refresh.check_period());
        if let Some(period) = period {
            self.note(run, run.now + period, Appointment::RefreshCheck);
        }
    }

    /// The first page of a group was programmed: its data is new.
    pub(crate) fn group_begun(&mut self, group: BlockGroup, now: Ns) {
        self.ages.programmed(group, now);
        if let Some(health) = &mut self.health {
            health.forget(group);
        }
    }

    /// The erase of a group ended, with so many suspensions more than it bears.
    pub(crate) fn group_erased(&mut self, ftl: &Ftl, group: BlockGroup, excess_suspensions: u32) {
        let (first, count) = (ftl.geometry().first_unit(group), ftl.geometry().units_per_group());
        self.refresh_asked.clear(group.index());
        if let Some(corruption) = &mut self.corruption {
            self.counters.corruptions_erased += corruption.erased(first, count);
        }
        if let Some(health) = &mut self.health {
            health.erased(group, excess_suspensions);
        }
        if !self.copied.is_empty() {
            let units = ftl.geometry().units_per_page();
            self.copied[(first.0 / units) as usize..((first.0 + count) / units) as usize].fill(0.0);
        }
    }

    // ---- injection ---------------------------------------------------------------------------------

    /// When units go wrong at once, or begin to.
    pub(crate) fn corruption_begins(&self) -> Option<Ns> {
        self.corruption.as_ref().map(|corruption| corruption.at)
    }

    /// Draws which units go wrong over time, and when. Returns false where they go wrong at once, if any do.
    pub(crate) fn draw_corruption(&mut self) -> bool {
        let Some(corruption) = self.corruption.as_mut().filter(|corruption| corruption.takes_time()) else {
            return false;
        };
        corruption.draw_times();
        true
    }

    /// Whether a unit goes wrong among those that do at once.
    pub(crate) fn goes_wrong_at_once(&mut self) -> bool {
        self.corruption.as_mut().is_some_and(Corruption::draw_initial)
    }

    /// Notes when the next unit goes wrong of those whose times were drawn.
    pub(crate) fn note_timed_corruption<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        let next = self.corruption.as_ref().and_then(Corruption::next_time);
        if let Some(at) = next {
            self.note(run, at, Appointment::TimedCorruption);
        }
    }

    /// The next of these whose time has come.
    pub(crate) fn next_timed_corruption(&mut self, now: Ns) -> Option<Ppa> {
        self.corruption.as_mut()?.due(now)
    }

    /// Notes when something in the array goes wrong next.
    pub(crate) fn note_next_corruption<Q: WakeQueue>(&mut self, run: &mut Run<Q>) {
        let interval = self.corruption.as_mut().and_then(Corruption::next_interval);
        if let Some(interval) = interval {
            self.note(run, run.now + interval, Appointment::Corruption);
        }
    }

    /// The unit whose turn it is then.
    pub(crate) fn draw_corrupt_unit(&mut self) -> Option<Ppa> {
        self.corruption.as_mut().map(Corruption::draw_unit)
    }

    /// A unit goes wrong; returns whether it was good.
    pub(crate) fn corrupt(&mut self, ftl: &Ftl, ppa: Ppa) -> bool {
        let edc = self.code_of(ftl, ppa) == NandCode::Edc;
        let corrupted = self.corruption.as_mut().is_some_and(|injector| injector.corrupt(ppa));
        self.counters.corruptions += u64::from(corrupted);
        self.counters.corruptions_under_edc += u64::from(corrupted && edc);
        corrupted
    }
}

fn end_of_pool(ftl: &Ftl, pool: Pool) -> u32 {
    let geometry = ftl.geometry();
    (pool.0 + 1) * geometry.blocks_per_plane * geometry.units_per_group()
}

fn is_to_scrub(ftl: &Ftl, group: BlockGroup, detects: bool) -> bool {
    let record = ftl.group(group);
    let rests = !matches!(record.state, GroupState::Draining | GroupState::Erasing | GroupState::Free);
    rests && (!detects || Stream(u32::from(record.stream)).is_apart())
}
