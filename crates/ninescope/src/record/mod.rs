//! Recording: what happened on each die and channel and to each host request, written down while a run goes on, for
//! people who want to see it with their own eyes.
//!
//! The [`Recorder`] is a [probe](ninescope_engine::Probe): it receives events and changes nothing. It keeps what two
//! questions need: the [slowest](slowest) requests of a run, and the [timeline](timeline) of a window of simulated
//! time. It must not know how anything is decided: all that it says comes from the events and from the times they
//! carry. Its memory is bounded: of each die as much of the past as the oldest request inside the drive has seen.

mod account;
mod banks;
mod chrome;
mod dies;
mod json;
mod requests;
mod slowest;
mod timeline;
mod work;

use std::collections::BTreeMap;

use ninescope_engine::{Decision, DramUse, Event, Probe, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_model::{Geometry, Op};
use serde_json::Value;

pub use account::{Account, Stage};
pub use dies::{Acts, Doing, Stretch};
pub use work::Work;

use dies::DieBook;
use requests::RequestBook;
use slowest::Slowest;
use timeline::Timeline;

/// What is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordSettings {
    /// How many of the slowest reads, and of the slowest writes, are explained [count].
    pub slowest: usize,
    /// The window of simulated time of which a timeline is kept, from and until [ns].
    pub window: Option<(Ns, Ns)>,
}

impl RecordSettings {
    /// Whether anything is recorded.
    pub fn any(&self) -> bool {
        self.slowest > 0 || self.window.is_some()
    }
}

/// Writes down what two questions need; see the module.
#[derive(Debug)]
pub struct Recorder {
    dies: DieBook,
    requests: RequestBook,
    slowest: [Slowest; 2],
    timeline: Option<Timeline>,
    /// By slot: requests that are done and of which the host is told later.
    gathered: BTreeMap<u32, Account>,
    geometry: Option<Geometry>,
    /// Simulated time of the last event [ns].
    now: Ns,
}

impl Recorder {
    /// An empty record.
    pub fn new(settings: RecordSettings) -> Self {
        Self {
            dies: DieBook::default(),
            requests: RequestBook::default(),
            slowest: [Slowest::new(settings.slowest), Slowest::new(settings.slowest)],
            timeline: settings.window.map(|(from, until)| Timeline::new(from, until)),
            gathered: BTreeMap::new(),
            geometry: None,
            now: Ns::ZERO,
        }
    }

    /// The slowest measured requests of an operation, slowest first; of equal ones the first submitted.
    pub fn slowest(&self, op: Op) -> Vec<&Account> {
        match op {
            Op::Read | Op::Write => self.slowest[op as usize].ranked(),
            Op::Trim | Op::Flush => Vec::new(),
        }
    }

    /// The slowest reads and writes for the result, `None` if they were not asked for.
    pub fn slowest_json(&self) -> Option<Value> {
        let [read, write] = &self.slowest;
        read.is_wanted().then(|| serde_json::json!({ "read": json::accounts(read), "write": json::accounts(write) }))
    }

    /// The timeline in Chrome's trace-event format, `None` if it was not asked for.
    pub fn timeline_json(&self) -> Option<String> {
        self.timeline.as_ref().map(|timeline| chrome::document(timeline, self.geometry.as_ref()))
    }

    fn started(&mut self, geometry: &Geometry) {
        self.geometry = Some(*geometry);
        self.dies.started(geometry.dies(), self.slowest[0].is_wanted(), self.timeline.is_some());
    }

    /// A request is complete: it is described if somebody wants it.
    fn completed(&mut self, view: &View<'_>, event: &Event<'_>) {
        let Event::Completed { slot, id, request, parts, transaction, last, .. } = *event else { return };
        let latency = view.now - request.submitted;
        // Requests of the warm-up are not in the meter.
        let measured = view.meter.ops[request.op as usize].latency.count() > 0;
        // Of a request of several commands the last one is what it waited for.
        let ranked = matches!(request.op, Op::Read | Op::Write) && measured && last;
        let slowest = ranked && self.slowest[request.op as usize].takes(latency, id);
        let shown = self.timeline.as_ref().is_some_and(|timeline| timeline.takes(request.submitted, view.now));
        if slowest || shown {
            let account = if let Some(account) = self.gathered.remove(&slot) {
                account.told(self.requests.completion_of(slot), view.now, parts)
            } else {
                let dies = slowest.then(|| (&self.dies, self.slowest[request.op as usize].stretches()));
                self.requests.account(view, slot, parts, transaction, dies)
            };
            if let Some(timeline) = self.timeline.as_mut().filter(|_| shown) {
                timeline.request(view.now, &account);
            }
            if slowest {
                self.slowest[request.op as usize].add(account);
            }
        }
        self.gathered.remove(&slot);
        self.requests.left(slot);
    }

    /// Tells the timeline what became of the dies since it was told last.
    fn pass_on(&mut self, now: Ns) {
        let Some(timeline) = &mut self.timeline else { return };
        for slice in self.dies.drain() {
            timeline.die(now, slice);
        }
    }
}

/// Whether a command sets out when such an access to DRAM has ended. What is cut through comes in beside what the command does.
fn is_before_setting_out(view: &View<'_>, usage: DramUse) -> bool {
    let cut_through = || view.dram.is_some_and(|dram| dram.config().cut_through);
    usage == DramUse::LookUp || usage == DramUse::WriteIn && !cut_through()
}

impl Probe for Recorder {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        self.now = view.now;
        match event {
            Event::Started { .. } => self.started(view.ftl.geometry()),
            Event::Fetched { slot, id, request, .. } => self.requests.fetched(view.now, slot, id, request),
            Event::LinkIn { slot, from, until } => self.requests.link_in(slot, from, until),
            Event::MessageCrosses { slot, message, until, .. } => self.requests.message(slot, message, until),
            Event::LinkOut { slot, from } => self.requests.link_out(slot, from),
            Event::DramTaken { access, until } if is_before_setting_out(view, access.usage) => {
                self.requests.in_dram(access.command, until - access.asked);
            }
            Event::StepTaken { step, until, .. } => match step.decision {
                Decision::Command => self.requests.decided(step.number, false, until - step.asked),
                Decision::LookUp | Decision::Allocation => {
                    self.requests.decided(step.number, true, until - step.asked);
                }
                Decision::Transaction => self.requests.scheduled(step.accesses(), step.asked),
                Decision::Victim | Decision::Move => {}
            },
            Event::UnitWritten { slot, lpa, new, .. } => self.requests.unit_written(view, slot, lpa, new),
            Event::UnitHealed { new, .. } => self.requests.unit_healed(view, new),
            Event::WriteStalled { slot, lpa, cause } => self.requests.stalled(view.now, slot, lpa, cause),
            Event::SlotDispatched { transaction, slot, queued, .. } => {
                self.requests.banks.dispatched(view, transaction, slot, queued);
            }
            Event::BankCommandIssued { command, sent, .. } => self.requests.banks.issued(view.now, command, sent),
            Event::BankCommandEnded { command } => self.requests.banks.ended(view.now, command),
            Event::BankDataOut { bank, until, .. } => self.requests.banks.data_out(view.now, bank, until),
            Event::Dispatched { command, class, accesses } => {
                let work = self.requests.dispatched(view, command, class, accesses);
                self.dies.dispatched(view.now, command.die, work);
                self.dies.forget_before(command.die, || self.requests.oldest());
            }
            Event::CommandIssued { command, sent, begins } => {
                self.requests.issued(view.now, command, sent);
                self.dies.issued(view, command.die, begins);
                if let Some(timeline) = &mut self.timeline {
                    timeline.transfer(view.now, sent, command, false);
                }
            }
            Event::CommandEnded { command } => {
                self.requests.ended(view.now, command);
                self.dies.ended(view.now, command);
            }
            Event::PageRewritten { from, to, .. } => self.requests.page_rewritten(from, to),
            Event::PageKept { ppa, .. } => self.requests.page_kept(Some(ppa)),
            Event::ReadOnlyBegan { .. } => self.requests.page_kept(None),
            Event::UnitRefused { slot, lpa } => self.requests.unit_refused(view.now, slot, lpa),
            Event::ReadWillRepeat { transaction } => self.requests.repeats(transaction),
            Event::PageDecoded { transaction, begins, until, failed, .. } => {
                self.requests.decoded(transaction, (begins, until), failed == 0);
            }
            Event::PageMissing { access, .. } => self.requests.missing(view, access),
            Event::ReadDegraded { transaction, source, .. } => {
                self.requests.degraded(transaction, source, view.now);
            }
            Event::ReadRebuilt { transaction, .. } | Event::ReadGivenUp { transaction, .. } => {
                self.requests.decoded(transaction, (view.now, view.now), true);
            }
            Event::DataOut { command, until, held } => {
                self.requests.data_out(view, command);
                self.dies.data_out(view.now, command.die, held);
                if let Some(timeline) = &mut self.timeline {
                    timeline.transfer(view.now, until, command, true);
                }
            }
            Event::PowerAwaited { die } => self.dies.for_power(view.now, die, true),
            Event::PowerComes { die, .. } => self.dies.for_power(view.now, die, false),
            Event::Throttled { step, .. } => self.dies.throttled(view.now, step > 0),
            Event::Suspended { die, .. } => self.dies.suspended(view.now, die),
            Event::Recovered { die } => self.dies.recovered(view.now, die),
            Event::ResumeBegan { die } => self.dies.resume_began(view.now, die),
            Event::Resumed { die } => self.dies.resumed(view, die),
            Event::Gathered { slot, op, parts, transaction, .. } => {
                let stretches =
                    self.slowest.get(op as usize).filter(|slowest| slowest.is_wanted()).map(Slowest::stretches);
                let dies = stretches.map(|most| (&self.dies, most));
                self.gathered.insert(slot, self.requests.account(view, slot, parts, transaction, dies));
            }
            Event::Completed { .. } => self.completed(view, &event),
            Event::MeasuringBegan => self.slowest.iter_mut().for_each(Slowest::clear),
            _ => {}
        }
        self.pass_on(view.now);
        Ok(())
    }

    /// Contents are nobody's business here.
    fn follows_data(&self) -> bool {
        false
    }

    fn notes(&self) -> Vec<String> {
        self.timeline.iter().filter_map(|timeline| timeline.note(self.now)).collect()
    }
}
