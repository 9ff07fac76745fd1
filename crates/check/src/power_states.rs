//! States of less power: when the drive rests, worked out from what is seen of its work, how long commands wait that find it in a state,
//! and how long it was in each.

use std::collections::BTreeMap;

use ninescope_engine::{Event, PowerConfig, PowerState, StateTimes, View};
use ninescope_kernel::Ns;
use ninescope_model::Cause;

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// The checker's own account.
#[derive(Debug, Default)]
pub struct RestBook {
    states: Vec<PowerState>,
    at_rest: u64,
    window: Ns,
    /// Commands of the host inside, by slot: since when.
    inside: BTreeMap<u32, Ns>,
    /// Commands of dies and banks that have not ended.
    working: u64,
    /// Until when something seen works, as far as its end is known.
    until: Ns,
    /// Since when the drive rests.
    rests: Option<Ns>,
    /// When it began with something of its own while it rested.
    disturbed: Option<Ns>,
    /// Nothing of the host is taken up before.
    awake_at: Ns,
    /// What is to be told next: that it wakes until then.
    owed: Option<Ns>,
    measured_since: Ns,
    times: Vec<StateTimes>,
    /// By number of the window since then: what was drawn less than at rest [fJ].
    saved: BTreeMap<u64, u128>,
}

impl RestBook {
    /// Of a drive with such states, if it has any.
    pub fn started(config: &PowerConfig) -> Option<Self> {
        let states = config.states.clone();
        (!states.is_empty()).then(|| Self {
            at_rest: config.at_rest,
            window: config.window,
            times: vec![StateTimes::default(); states.len()],
            states,
            ..Self::default()
        })
    }

    /// When the drive was awake last, or is.
    pub fn awake_at(&self) -> Ns {
        self.awake_at
    }

    /// What was drawn less than at rest, by window, and in all [fJ].
    pub fn saved(&self) -> (&BTreeMap<u64, u128>, u128) {
        (&self.saved, self.saved.values().sum())
    }

    /// From when on it draws always as much, if nothing comes.
    pub fn steady_from(&self) -> Ns {
        let last = self.states.last().zip(self.rests.filter(|_| self.disturbed.is_none()));
        last.map_or(Ns::ZERO, |(state, since)| since + state.after + state.enter)
    }

    /// What is drawn less than at rest between two times of the rest it is in [fJ].
    pub fn saves_between(&self, from: Ns, until: Ns) -> u128 {
        let Some(since) = self.rests else { return 0 };
        let until = self.disturbed.map_or(until, |at| at.min(until));
        let of_state = |index: usize| {
            let (begins, ends) = self.stay(since, index);
            let time = ends.min(until).saturating_since(begins.max(from));
            u128::from(self.at_rest - self.states[index].power) * u128::from(time.0)
        };
        (0..self.states.len()).map(of_state).sum()
    }

    /// From when until when it is in a state of a rest that lasts.
    fn stay(&self, since: Ns, index: usize) -> (Ns, Ns) {
        let PowerState { after, enter, .. } = self.states[index];
        (since + after + enter, self.states.get(index + 1).map_or(Ns::NEVER, |next| since + next.after))
    }

    pub fn sees(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        let now = view.now;
        if let Some(until) = self.owed.take() {
            let told = matches!(event, Event::Wakes { until: told } if *told == until);
            require!(told, PowerStates, now, "the drive wakes until {until}, and {event:?} is told");
            return Ok(());
        }
        // What it begins by itself is known to be the end of its rest when that instant is over.
        if let Some(at) = self.disturbed.filter(|&at| at < now) {
            self.rest_ends(at);
        }
        self.work_is_seen(now, event);
        match *event {
            Event::Fetched { slot, .. } => self.command_comes(now, slot, marks)?,
            Event::Wakes { until } => {
                require!(false, PowerStates, now, "the drive wakes until {until}, and was in no state");
            }
            Event::RestBegan => {
                require!(
                    self.inside.is_empty() && self.working == 0 && self.until <= now && self.rests.is_none(),
                    PowerStates,
                    now,
                    "the drive rests, and {} commands are inside, {} of dies and banks have not ended, something works until {}",
                    self.inside.len(),
                    self.working,
                    self.until
                );
                self.rests = Some(now);
            }
            Event::Completed { slot, parts, .. } => {
                let taken_in = self.inside.remove(&slot).unwrap_or(now);
                let (said, waited) = (parts.of(Cause::Waking), self.awake_at.saturating_since(taken_in).0);
                require!(
                    said == waited,
                    PowerStates,
                    now,
                    "slot {slot}, taken in at {taken_in}, waited {waited} ns until the drive was awake, and says {said} ns"
                );
            }
            Event::UnitRead { slot, .. }
            | Event::UnitWritten { slot, .. }
            | Event::UnitTrimmed { slot, .. }
            | Event::PageRead { slot, .. }
            | Event::PageWritten { slot, .. }
            | Event::WriteStalled { slot, .. } => {
                require!(
                    now >= self.awake_at,
                    PowerStates,
                    now,
                    "slot {slot} is served, and the drive wakes until {}",
                    self.awake_at
                );
            }
            Event::MeasuringBegan => {
                self.measured_since = now;
                self.saved.clear();
                self.times.fill(StateTimes::default());
            }
            _ => {}
        }
        Ok(())
    }

    /// Parts of the drive begin or end with something, or are known to work until then.
    fn work_is_seen(&mut self, now: Ns, event: &Event<'_>) {
        let until = match *event {
            Event::Dispatched { .. } | Event::BankCommandIssued { .. } => {
                self.working += 1;
                now
            }
            Event::CommandEnded { .. } | Event::BankCommandEnded { .. } => {
                self.working -= 1;
                self.until = self.until.max(now);
                return;
            }
            Event::DataOut { held, .. } | Event::BankDataOut { held, .. } => held,
            Event::StepTaken { until, .. } | Event::DramTaken { until, .. } => until,
            Event::MapPageAsked { .. } => now,
            Event::PageDecoded { until, .. }
            | Event::LinkIn { until, .. }
            | Event::MessageCrosses { until, .. }
            | Event::MapPageCrosses { until, .. } => {
                self.until = self.until.max(until);
                return;
            }
            Event::Completed { .. } | Event::Recovered { .. } | Event::Resumed { .. } => {
                self.until = self.until.max(now);
                return;
            }
            _ => return,
        };
        self.until = self.until.max(until);
        if self.rests.is_some() {
            self.disturbed.get_or_insert(now);
        }
    }

    /// A command of the host is taken in.
    fn command_comes(&mut self, now: Ns, slot: u32, marks: &mut Marks) -> Checked {
        let first = self.inside.is_empty();
        self.inside.insert(slot, now);
        let Some(since) = self.rests else {
            let quiet = first && self.working == 0 && self.until < now;
            require!(
                !quiet,
                PowerStates,
                now,
                "nothing was seen to work since {}, and the drive does not rest",
                self.until
            );
            return Ok(());
        };
        if let Some(state) = self.states.iter().rev().find(|state| since + state.after < now) {
            let entered = since + state.after + state.enter;
            if entered > now {
                marks.hit(Mark::WokenOnTheWayIn);
            }
            self.awake_at = entered.max(now) + state.leave;
            self.owed = Some(self.awake_at);
        }
        self.rest_ends(now);
        Ok(())
    }

    /// It rests no more, from then on: what it drew meanwhile.
    fn rest_ends(&mut self, at: Ns) {
        self.disturbed = None;
        let Some(since) = self.rests.take() else { return };
        self.lay(since, at);
    }

    fn lay(&mut self, since: Ns, at: Ns) {
        for index in 0..self.states.len() {
            let PowerState { after, power, .. } = self.states[index];
            let begins = since + after;
            if begins >= at {
                break;
            }
            self.times[index].entries += u64::from(begins >= self.measured_since);
            let (from, next) = self.stay(since, index);
            let (from, until) = (from.max(self.measured_since), next.min(at));
            self.times[index].time += until.saturating_since(from);
            self.save(u128::from(self.at_rest - power), from, until);
        }
    }

    /// So much less was drawn, window by window.
    fn save(&mut self, power: u128, mut from: Ns, until: Ns) {
        while from < until {
            let window = (from - self.measured_since).0 / self.window.0;
            let ends = until.min(self.measured_since + Ns((window + 1) * self.window.0));
            *self.saved.entry(window).or_default() += power * u128::from((ends - from).0);
            from = ends;
        }
    }

    /// The run is over: the same is told.
    pub fn finished(&mut self, view: &View<'_>) -> Checked {
        if let Some(since) = self.rests {
            self.lay(since, view.now);
        }
        let told = view.power.map(|power| power.times_in_states(view.now));
        require!(
            told.as_deref() == Some(&self.times[..]),
            PowerStates,
            view.now,
            "the drive was {:?} in its states, and {told:?} is told",
            self.times
        );
        Ok(())
    }
}
