//! Whom requests waited for that waited for an upper medium: whose pages had its slots, and whose were on their way.
//!
//! The device keeps sums of places times time. Here each stay of a page is kept with its two ends, and waits are laid over them.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::meter::{Parts, REMEMBERED, SPLIT, Waits};
use ninescope_engine::policies::back_pressure::BackPressureConfig;
use ninescope_engine::{Event, MigrationKind, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_model::{Cause, Op, SlotId};

use crate::rule::{Checked, require};

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A slot of a part.
    Slot(usize),
    /// A place among those that go down from a part.
    Down(usize),
    /// A place among those that come up.
    Up,
}

/// A page holds something for a tenant between two times; the end is not known yet, or is.
#[derive(Clone, Copy, Debug)]
struct Stay {
    place: Place,
    tenant: u16,
    from: Ns,
    until: Ns,
}

/// A command inside.
#[derive(Clone, Debug, Default)]
struct Inside {
    tenant: u16,
    since: Ns,
    /// When its writes of slots were queued there.
    queued: Vec<Ns>,
}

/// Shares a wait out by what each held, or as one's `own` where nobody held anything; to the nanosecond.
pub fn share_out(held: &[u128], wait: Ns, own: u16) -> Vec<u64> {
    let (wait, all) = (u128::from(wait.0), held.iter().sum::<u128>());
    let up_to = |holders: usize| match held[..holders].iter().sum::<u128>() {
        _ if all == 0 => wait * u128::from(holders > own as usize),
        held => held * wait / all,
    };
    (0..held.len()).map(|holder| (up_to(holder + 1) - up_to(holder)) as u64).collect()
}

/// Who holds what.
#[derive(Debug, Default)]
pub struct CacheHolders {
    tenants: usize,
    over: Vec<Stay>,
    /// By slot: since when it has a page, and for whom.
    slots: BTreeMap<u32, (u16, Ns)>,
    /// By migration.
    moves: BTreeMap<u32, Stay>,
    /// By page: the tenants that asked for it.
    asked: BTreeMap<u32, BTreeSet<u16>>,
    last_reader: u16,
    inside: BTreeMap<u32, Inside>,
}

impl CacheHolders {
    /// Of a drive with an upper medium that several tenants share.
    pub fn started(view: &View<'_>, tenants: usize) -> Option<Self> {
        (tenants > 1 && view.tier.is_some()).then(|| Self { tenants, ..Self::default() })
    }

    pub fn fetched(&mut self, now: Ns, slot: u32, tenant: u16) {
        self.inside.insert(slot, Inside { tenant, since: now, queued: Vec::new() });
    }

    /// A request of a tenant asks for a page.
    fn asks(&mut self, command: u32, page: u32, reads: bool) {
        let tenant = self.inside[&command].tenant;
        self.asked.entry(page).or_default().insert(tenant);
        if reads {
            self.last_reader = tenant;
        }
    }

    /// A bank takes up a write of a command, which was queued there then.
    pub fn writes(&mut self, command: u32, queued: Ns) {
        self.inside.entry(command).or_default().queued.push(queued);
    }

    /// What a tier does.
    pub fn told(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        match *event {
            Event::PageRead { slot, page, .. } => self.asks(slot, page, true),
            Event::PageWritten { slot, page, .. } => self.asks(slot, page, false),
            Event::SlotTaken { page, slot, tenant } => self.taken(view.now, (page, slot), tenant)?,
            Event::PageLeft { slot, .. } => self.left(view, slot),
            Event::MigrationBegan { migration } => self.move_began(view, migration)?,
            Event::MigrationEnded { migration } => self.move_ended(view.now, migration),
            _ => {}
        }
        Ok(())
    }

    fn part_of(view: &View<'_>, slot: u32) -> usize {
        view.tier.map_or(0, |part| part.tier().residency().part_of(slot))
    }

    /// A page got a slot for a tenant.
    fn taken(&mut self, now: Ns, (page, slot): (u32, SlotId), tenant: u16) -> Checked {
        let asked = self.asked.get(&page).is_some_and(|tenants| tenants.contains(&tenant));
        require!(asked, Tenants, now, "page {page} gets slot {slot} for tenant {tenant}, who never asked for it");
        self.slots.insert(slot.0, (tenant, now));
        Ok(())
    }

    /// A page left its slot.
    fn left(&mut self, view: &View<'_>, slot: SlotId) {
        let Some((tenant, from)) = self.slots.remove(&slot.0) else { return };
        let place = Place::Slot(Self::part_of(view, slot.0));
        self.over.push(Stay { place, tenant, from, until: view.now });
        self.forget();
    }

    /// A page sets out.
    fn move_began(&mut self, view: &View<'_>, migration: u32) -> Checked {
        let Some(part) = view.tier else { return Ok(()) };
        let said = part.migration(migration);
        let (place, tenant) = match said.kind {
            MigrationKind::Evict => {
                let tenant = self.slots.get(&said.slot).map_or(0, |&(tenant, _)| tenant);
                (Place::Down(Self::part_of(view, said.slot)), tenant)
            }
            MigrationKind::CopyUp | MigrationKind::MoveUp => {
                let asked = self.asked.entry(said.page).or_default();
                let is_his = asked.contains(&said.tenant) || said.tenant == self.last_reader;
                asked.insert(said.tenant);
                require!(
                    is_his,
                    Tenants,
                    view.now,
                    "page {} comes up for tenant {}, who never asked for it",
                    said.page,
                    said.tenant
                );
                (Place::Up, said.tenant)
            }
        };
        self.moves.insert(migration, Stay { place, tenant, from: view.now, until: Ns::NEVER });
        Ok(())
    }

    /// For whom the page of a slot came.
    pub fn of_slot(&self, slot: u32) -> u16 {
        self.slots.get(&slot).map_or(0, |&(tenant, _)| tenant)
    }

    /// Whose page a migration under way moves.
    pub fn mover(&self, migration: u32) -> u16 {
        self.moves.get(&migration).map_or(0, |stay| stay.tenant)
    }

    /// It is over.
    fn move_ended(&mut self, now: Ns, migration: u32) {
        if let Some(record) = self.moves.remove(&migration) {
            self.over.push(Stay { until: now, ..record });
        }
    }

    /// Forgets what ended before anybody inside came.
    fn forget(&mut self) {
        if self.over.len().is_multiple_of(1_024) {
            let oldest = self.inside.values().map(|inside| inside.since).min().unwrap_or(Ns::NEVER);
            self.over.retain(|stay| stay.until >= oldest);
        }
    }

    // ---- waits -------------------------------------------------------------------------------------

    /// By holder, the share of a wait between two times that whoever held such places then had; none where more is asked than the
    /// device remembers.
    fn shares(
        &self,
        view: &View<'_>,
        (from, until): (Ns, Ns),
        own: u16,
        is_such: impl Fn(Place) -> bool,
    ) -> Option<Vec<u64>> {
        let in_slots = self.slots.iter().map(|(&slot, &(tenant, from))| Stay {
            place: Place::Slot(Self::part_of(view, slot)),
            tenant,
            from,
            until: Ns::NEVER,
        });
        let stays = self.over.iter().chain(self.moves.values()).copied().chain(in_slots);
        let (mut held, mut changes) = (vec![0_u128; self.tenants + 1], 0);
        for stay in stays.filter(|stay| is_such(stay.place)) {
            held[stay.tenant as usize] += u128::from(stay.until.min(until).saturating_since(stay.from.max(from)).0);
            changes += usize::from(stay.from >= from) + usize::from(stay.until >= from);
        }
        let is_remembered = (changes + 2) * held.len() <= REMEMBERED;
        is_remembered.then(|| share_out(&held, until - from, own))
    }

    /// A command completes: behind whom it is said to have waited for slots, pages on their way and programs. What a FLUSH waited
    /// for is not followed.
    pub fn completed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        op: Op,
        (parts, behind, transaction): (&Parts, &[Waits], u32),
    ) -> Checked {
        let Some(Inside { tenant, queued, .. }) = self.inside.remove(&slot) else { return Ok(()) };
        let [for_slot, for_program] = [Cause::MigrationWait, Cause::ProgramWait].map(|cause| Ns(parts.of(cause)));
        if op == Op::Flush || for_slot + for_program == Ns::ZERO {
            return Ok(());
        }
        let (now, part) = (view.now, view.tier.map_or(0, |part| part.part_of(tenant)));
        let by_moves =
            view.tier.is_some_and(|part| matches!(part.back_pressure(), BackPressureConfig::PagesInFlight(_)));
        let of_slot = |until: Ns| {
            let place = if by_moves { Place::Down(part) } else { Place::Slot(part) };
            self.shares(view, (until - for_slot, until), tenant, |held| held == place)
        };
        let goes_down = |place: Place| matches!(place, Place::Down(_));
        let nothing = || Some(vec![0; self.tenants + 1]);
        let expected: Vec<_> = if transaction != NONE {
            // Which of its pages it ended with is not told.
            queued.iter().filter(|&&queued| queued >= for_slot).map(|&queued| [of_slot(queued), nothing()]).collect()
        } else if for_program > Ns::ZERO {
            let has_slot = now - for_program;
            vec![[of_slot(has_slot), self.shares(view, (has_slot, now), tenant, goes_down)]]
        } else {
            let moves = |place: Place| goes_down(place) || place == Place::Up;
            vec![[self.shares(view, (now - for_slot, now), tenant, moves), nothing()]]
        };
        let said = [Cause::MigrationWait, Cause::ProgramWait].map(|cause| {
            let at = SPLIT.iter().position(|split| *split == cause).unwrap_or_default();
            behind.iter().map(|waits| waits[at]).collect::<Vec<_>>()
        });
        let is_so = |[slots, programs]: &[Option<Vec<u64>>; 2]| {
            slots.as_ref().is_none_or(|slots| *slots == said[0])
                && programs.as_ref().is_none_or(|programs| *programs == said[1])
        };
        require!(
            expected.iter().any(is_so),
            Tenants,
            now,
            "the command of slot {slot} waited for a cache behind the tenants for {said:?} ns, by whose pages were there for {expected:?} ns"
        );
        Ok(())
    }
}
