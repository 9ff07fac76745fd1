//! Slots, recent pages and the tier against naive models: vectors that are searched.

use ninescope_kernel::NONE;
use ninescope_model::units::Bytes;
use ninescope_tier::policies::placement::wo_dm::WoDm;
use ninescope_tier::{
    Eviction, EvictionConfig, OnRead, PlacementConfig, RecentPages, Residency, Slot, SlotState, Tier, WriteTo,
};
use proptest::prelude::*;

const PAGES: u32 = 24;

// ---- recent pages --------------------------------------------------------------------------------

proptest! {
    #[test]
    fn recent_pages_are_the_last_ones_used(entries in 0_usize..9, uses in prop::collection::vec(0..PAGES, 0..300)) {
        let mut recent = RecentPages::new(entries as u32, PAGES);
        // Page and uses, the one used longest ago first.
        let mut naive: Vec<(u32, u32)> = Vec::new();
        for page in uses {
            let before = naive.iter().position(|(other, _)| *other == page).map_or(0, |place| naive.remove(place).1);
            naive.push((page, before + 1));
            if naive.len() > entries {
                naive.remove(0);
            }
            recent.used(page);
            for page in 0..PAGES {
                let expected = naive.iter().find(|(other, _)| *other == page).map_or(0, |(_, uses)| *uses);
                prop_assert_eq!(recent.uses(page), expected, "page {}", page);
            }
        }
    }
}

// ---- slots ---------------------------------------------------------------------------------------

/// What somebody does to the slot of a page, or to a page without one.
#[derive(Clone, Copy, Debug)]
enum Step {
    Take,
    Touch,
    TouchWritten(bool),
    ReaderQueued,
    ReaderLeft,
    WriterQueued,
    WriterLeft,
    Written(u32),
    Filled(u32, bool),
    BeginLeaving,
    ReadToLeave,
    Left,
    DropClean,
    Forget,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Take),
        2 => Just(Step::Touch),
        3 => any::<bool>().prop_map(Step::TouchWritten),
        1 => Just(Step::ReaderQueued),
        2 => Just(Step::ReaderLeft),
        1 => Just(Step::WriterQueued),
        2 => Just(Step::WriterLeft),
        3 => (1_u32..256).prop_map(Step::Written),
        2 => (1_u32..256, any::<bool>()).prop_map(|(sectors, dirty)| Step::Filled(sectors, dirty)),
        2 => Just(Step::BeginLeaving),
        2 => Just(Step::ReadToLeave),
        3 => Just(Step::Left),
        1 => Just(Step::DropClean),
        1 => Just(Step::Forget),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NaiveSlot {
    page: u32,
    valid: u32,
    dirty: u32,
    rewritten: u32,
    readers: u16,
    writers: u16,
    state: SlotState,
    sequential: bool,
    /// Uses since its page came, with its coming; 16 are as many as there are.
    uses: u32,
}

const EMPTY: NaiveSlot = NaiveSlot {
    page: NONE,
    valid: 0,
    dirty: 0,
    rewritten: 0,
    readers: 0,
    writers: 0,
    state: SlotState::Free,
    sequential: false,
    uses: 0,
};

/// The order of that name.
fn order(name: &str) -> EvictionConfig {
    serde_json::from_value(serde_json::json!({ "policy": name })).expect("a name of the registry")
}

struct Naive {
    order: EvictionConfig,
    slots: Vec<NaiveSlot>,
    /// Free slots, the one free for longest first.
    free: Vec<usize>,
    /// Resident slots, the one used longest ago first.
    used: Vec<usize>,
}

impl Naive {
    fn slot_of(&self, page: u32) -> Option<usize> {
        let holds = |state| matches!(state, SlotState::Resident | SlotState::Leaving);
        self.slots.iter().position(|slot| slot.page == page && holds(slot.state))
    }

    fn by_class(&self) -> bool {
        self.order.name() == "sequential-first"
    }

    /// A slot is used.
    fn touch(&mut self, slot: usize) {
        self.slots[slot].uses = (self.slots[slot].uses + 1).min(16);
        self.come_last(slot);
    }

    /// A slot is the one used last. Where first in is first out, it is taken or kept once and stays in its place.
    fn come_last(&mut self, slot: usize) {
        let stays = self.order.name() == "fifo" && self.used.contains(&slot);
        if self.slots[slot].state == SlotState::Resident && !stays {
            self.used.retain(|other| *other != slot);
            self.used.push(slot);
        }
    }

    fn leave(&mut self, slot: usize) {
        self.used.retain(|other| *other != slot);
        self.slots[slot].state = SlotState::Draining;
        self.free_drained();
    }

    fn free_drained(&mut self) {
        for (slot, record) in self.slots.iter_mut().enumerate() {
            if record.state == SlotState::Draining && record.readers == 0 {
                (record.state, record.page) = (SlotState::Free, NONE);
                self.free.push(slot);
            }
        }
    }

    /// The first of a class that nobody is about to write, of the 16 used longest ago; one that is clean before, if `clean`.
    fn first_of(&self, clean: bool, is_of_class: impl Fn(&NaiveSlot) -> bool) -> Option<usize> {
        let slots = self.used.iter().copied().filter(|&slot| is_of_class(&self.slots[slot])).take(16);
        let may_go: Vec<usize> = slots.filter(|&slot| self.slots[slot].writers == 0).collect();
        let first_clean = may_go.iter().copied().find(|&slot| clean && self.slots[slot].dirty == 0);
        first_clean.or(may_go.first().copied())
    }

    /// Sequential ones first, or those used least, where that matters; 16 of each are looked at for one that nobody is about
    /// to write.
    fn victim(&self) -> Option<usize> {
        match self.order.name() {
            // Taking a slot is counted as its first use here.
            "lfu" => (1..=16).find_map(|uses| self.first_of(false, |slot| slot.uses == uses)),
            "clean-first" => self.first_of(true, |_| true),
            _ => self.victim_by_class(),
        }
    }

    fn victim_by_class(&self) -> Option<usize> {
        let of_class = |sequential: bool| {
            let slots = self.used.iter().copied();
            let mut slots =
                slots.filter(|&slot| !self.by_class() || self.slots[slot].sequential == sequential).take(16);
            slots.find(|&slot| self.slots[slot].writers == 0)
        };
        if self.by_class() { of_class(true).or_else(|| of_class(false)) } else { of_class(false) }
    }

    /// Does a step to a page if it is legal; returns what the same step is to be done to.
    fn step(&mut self, page: u32, step: Step) -> Option<usize> {
        let slot = self.slot_of(page);
        if let Step::Take = step {
            if slot.is_some() || self.free.is_empty() {
                return None;
            }
            let slot = self.free.remove(0);
            self.slots[slot] = NaiveSlot { page, state: SlotState::Resident, ..EMPTY };
            self.touch(slot);
            return Some(slot);
        }
        if let Step::ReaderLeft = step {
            // A slot may be read after its page has left.
            let slot = self.slots.iter().position(|slot| slot.page == page && slot.readers > 0)?;
            self.slots[slot].readers -= 1;
            self.free_drained();
            return Some(slot);
        }
        let slot = slot?;
        self.step_of_slot(slot, step).then_some(slot)
    }

    fn step_of_slot(&mut self, slot: usize, step: Step) -> bool {
        let record = self.slots[slot];
        let resident = record.state == SlotState::Resident;
        match step {
            Step::Touch => self.touch(slot),
            Step::TouchWritten(sequential) => {
                self.slots[slot].sequential = sequential;
                self.touch(slot);
            }
            Step::ReaderQueued => self.slots[slot].readers += 1,
            Step::WriterQueued => self.slots[slot].writers += 1,
            Step::WriterLeft if record.writers > 0 => self.slots[slot].writers -= 1,
            Step::Written(sectors) => self.mark(slot, sectors, true),
            Step::Filled(sectors, dirty) if sectors & record.valid == 0 => self.mark(slot, sectors, dirty),
            Step::BeginLeaving if resident => {
                self.used.retain(|other| *other != slot);
                self.slots[slot].state = SlotState::Leaving;
            }
            Step::ReadToLeave if !resident => self.slots[slot].rewritten = 0,
            Step::Left if !resident => {
                self.slots[slot].dirty &= record.rewritten;
                if self.slots[slot].dirty != 0 || record.writers > 0 {
                    self.slots[slot].state = SlotState::Resident;
                    self.come_last(slot);
                } else {
                    self.leave(slot);
                }
            }
            Step::DropClean if resident && record.writers == 0 => self.leave(slot),
            Step::Forget => {
                let slot_record = &mut self.slots[slot];
                (slot_record.valid, slot_record.dirty, slot_record.rewritten) = (0, 0, 0);
                if resident && record.writers == 0 {
                    self.leave(slot);
                }
            }
            _ => return false,
        }
        true
    }

    fn mark(&mut self, slot: usize, sectors: u32, dirty: bool) {
        let record = &mut self.slots[slot];
        record.valid |= sectors;
        if dirty {
            record.dirty |= sectors;
            record.rewritten |= sectors;
        }
    }
}

/// The same step of the slots under test.
fn apply(residency: &mut Residency, slot: u32, page: u32, step: Step) {
    // What is on its way down stays dirty as far as it was written since.
    let stays_dirty = |record: &Slot| {
        if record.state == SlotState::Leaving { record.dirty & record.rewritten } else { record.dirty }
    };
    let before = stays_dirty(residency.slot(slot));
    match step {
        Step::Take => assert_eq!(residency.take(page, 0), Some(slot)),
        Step::Touch => residency.touch(slot),
        Step::TouchWritten(sequential) => residency.touch_written(slot, sequential),
        Step::ReaderQueued => residency.reader_queued(slot),
        Step::ReaderLeft => {
            let freed = residency.reader_left(slot);
            assert_eq!(freed, residency.slot(slot).state == SlotState::Free);
        }
        Step::WriterQueued => residency.writer_queued(slot),
        Step::WriterLeft => residency.writer_left(slot),
        Step::Written(sectors) => {
            let newly_whole = residency.written(slot, sectors, 255);
            assert_eq!(newly_whole, before != 255 && before | sectors == 255);
        }
        Step::Filled(sectors, dirty) => residency.filled(slot, sectors, dirty),
        Step::BeginLeaving => residency.begin_leaving(slot),
        Step::ReadToLeave => residency.read_to_leave(slot),
        Step::Left => {
            let freed = residency.left(slot);
            assert_eq!(freed, residency.slot(slot).state == SlotState::Free);
        }
        Step::DropClean => {
            let freed = residency.drop_clean(slot);
            assert_eq!(freed, residency.slot(slot).state == SlotState::Free);
        }
        Step::Forget => {
            let forgotten = residency.slot(slot).forgotten;
            let gone = residency.forget(page);
            assert_eq!(gone.is_some(), residency.slot_of(page).is_none());
            assert_ne!(residency.slot(slot).forgotten, forgotten);
        }
    }
}

fn compare(residency: &Residency, naive: &Naive) -> Result<(), TestCaseError> {
    let draining = naive.slots.iter().filter(|slot| slot.state == SlotState::Draining).count();
    prop_assert_eq!(residency.free_slots() as usize, naive.free.len());
    prop_assert_eq!(residency.free_soon() as usize, naive.free.len() + draining);
    for page in 0..PAGES {
        prop_assert_eq!(residency.slot_of(page), naive.slot_of(page).map(|slot| slot as u32), "page {}", page);
    }
    for (slot, expected) in naive.slots.iter().enumerate() {
        let got = residency.slot(slot as u32);
        prop_assert_eq!((got.state, got.readers), (expected.state, expected.readers));
        if expected.state == SlotState::Free {
            continue;
        }
        let got = (got.page, got.valid, got.dirty, got.rewritten, got.writers, got.sequential);
        let NaiveSlot { page, valid, dirty, rewritten, writers, sequential, .. } = *expected;
        prop_assert_eq!(got, (page, valid, dirty, rewritten, writers, sequential));
        prop_assert_eq!(dirty & !valid, 0, "what is dirty is valid");
        let lacking = residency.sectors_to_fill(slot as u32, 255);
        prop_assert_eq!(lacking, 255 & !valid);
    }
    prop_assert_eq!(residency.victim(0), naive.victim().map(|slot| slot as u32));
    Ok(())
}

proptest! {
    #[test]
    fn slots_are_what_a_vector_of_slots_is(
        slots in 1_u32..22,
        order in prop::sample::select(EvictionConfig::LIST).prop_map(|(name, _)| order(name)),
        steps in prop::collection::vec((0..PAGES, any_step()), 0..400)
    ) {
        let mut residency = Residency::new(slots, PAGES, &order);
        let mut naive = Naive {
            order, slots: vec![EMPTY; slots as usize], free: (0..slots as usize).collect(), used: Vec::new(),
        };
        compare(&residency, &naive)?;
        for (page, step) in steps {
            if let Some(slot) = naive.step(page, step) {
                apply(&mut residency, slot as u32, page, step);
                compare(&residency, &naive)?;
            }
        }
    }
}

#[test]
fn sixteen_slots_are_looked_at_for_a_victim() {
    let mut residency = Residency::new(20, PAGES, &EvictionConfig::default());
    for page in 0..20 {
        let slot = residency.take(page, 0).expect("a free slot");
        assert_eq!(residency.victim(0), (slot < 16).then_some(slot), "those before are about to be written");
        residency.writer_queued(slot);
    }
    residency.writer_left(15);
    assert_eq!(residency.victim(0), Some(15));
}

// ---- the tier ------------------------------------------------------------------------------------

#[test]
fn whole_shares_of_the_slots_are_exact() {
    for percent in 1..100 {
        let share = f64::from(percent) / 100.0;
        let wo_dm = WoDm { evict_free: share, evict_stop: None, ..WoDm::default() };
        for hundreds in [1, 3, 7] {
            let tier = Tier::new(&PlacementConfig::WoDm(wo_dm.clone()), 100 * hundreds, PAGES, 8).expect("two media");
            assert_eq!(tier.reserve(0), percent * hundreds + 1, "{percent} % of {hundreds} hundred");
        }
    }
}

/// An access of the host, and how many evictions under way end after it.
#[derive(Clone, Copy, Debug)]
struct Action {
    writes: bool,
    page: u32,
    sectors: u32,
    request_sectors: u32,
    ends: usize,
}

fn any_action() -> impl Strategy<Value = Action> {
    (any::<bool>(), 0..PAGES, 1_u32..256, 1_u32..40, 0_usize..4).prop_map(
        |(writes, page, sectors, request_sectors, ends)| Action { writes, page, sectors, request_sectors, ends },
    )
}

/// A tier and the evictions that it began and nobody ended.
struct Driven {
    tier: Tier,
    leaving: Vec<u32>,
    /// Whether eviction goes on until more than `evict_stop` is free.
    evicting: bool,
    share: (f64, f64),
}

impl Driven {
    fn coming(&self) -> u32 {
        self.tier.residency().free_soon() + self.leaving.len() as u32
    }

    /// Eviction begins while free <= `evict_free` and, once begun, goes on until free > `evict_stop`.
    fn wants_eviction(&mut self, waiting: u32) -> bool {
        let slots = f64::from(self.tier.residency().slots());
        let at_most = |share: f64| share > 0.0 && f64::from(self.coming()) <= share * slots + 1e-9;
        if at_most(self.share.0) {
            self.evicting = true;
        } else if !at_most(self.share.1) {
            self.evicting = false;
        }
        self.evicting || self.coming() < waiting
    }

    fn pump(&mut self, waiting: u32) -> Result<(), TestCaseError> {
        loop {
            let wants = self.wants_eviction(waiting);
            let victim = self.tier.residency().victim(0);
            let eviction = self.tier.next_eviction(0, waiting);
            prop_assert_eq!(eviction.is_some(), wants && victim.is_some(), "{} come free", self.coming());
            match eviction {
                None => return Ok(()),
                Some(Eviction::Dropped { slot, page }) => {
                    prop_assert_eq!(Some(slot.0), victim);
                    prop_assert_eq!(self.tier.residency().slot_of(page), None);
                }
                Some(Eviction::CopyDown(slot)) => {
                    prop_assert_eq!(Some(slot.0), victim);
                    prop_assert!(self.tier.slot(slot.0).dirty != 0);
                    self.tier.residency_mut().read_to_leave(slot.0);
                    self.leaving.push(slot.0);
                }
            }
        }
    }

    fn end_one(&mut self) -> Result<(), TestCaseError> {
        if self.leaving.is_empty() {
            return Ok(());
        }
        let slot = self.leaving.remove(0);
        let rewritten = self.tier.slot(slot).rewritten;
        prop_assert_eq!(self.tier.left(slot), rewritten == 0, "what was written meanwhile stays");
        Ok(())
    }

    /// Writes to the slot of a page, for which others leave if need be.
    fn write_above(&mut self, action: &Action) -> Result<(), TestCaseError> {
        let whole = self.tier.whole();
        while self.tier.residency().slot_of(action.page).is_none() {
            if self.tier.residency_mut().take(action.page, 0).is_none() {
                self.pump(1)?;
                self.end_one()?;
            }
        }
        let slot = self.tier.residency().slot_of(action.page).unwrap_or_default();
        let sequential = self.tier.is_sequential(action.request_sectors);
        prop_assert_eq!(sequential, action.request_sectors > 16);
        self.tier.residency_mut().touch_written(slot, sequential);
        self.tier.residency_mut().written(slot, action.sectors, whole);
        Ok(())
    }
}

fn placement() -> impl Strategy<Value = WoDm> {
    (0_u32..60, 0_u32..30, any::<bool>(), 1_u32..4).prop_map(|(free, more, by_class, hot_uses)| WoDm {
        evict_free: f64::from(free) / 100.0,
        evict_stop: Some(f64::from(free + more) / 100.0),
        victim: order(if by_class { "sequential-first" } else { "lru" }),
        hot_uses,
        random_up_to: Bytes(8192),
        ..WoDm::default()
    })
}

proptest! {
    /// WO-DM as its pseudo-code says, with evictions that end late; slots come free as the two thresholds say, and
    /// every sector and page is counted once.
    #[test]
    fn the_tier_places_evicts_and_counts_as_the_rules_say(
        slots in 4_u32..16, wo_dm in placement(), actions in prop::collection::vec(any_action(), 0..250)
    ) {
        let tier = Tier::new(&PlacementConfig::WoDm(wo_dm.clone()), slots, PAGES, 8).expect("two media");
        let share = (wo_dm.evict_free, wo_dm.evict_stop.unwrap_or_default());
        let mut driven = Driven { tier, leaving: Vec::new(), evicting: false, share };
        let mut recent = RecentPages::new(slots, PAGES);
        let (mut accesses, mut hits, mut sectors) = (0, 0, 0);
        for action in actions {
            let Action { writes, page, sectors: mask, request_sectors, ends } = action;
            let (hot, random) = (recent.uses(page) >= wo_dm.hot_uses, request_sectors <= 16);
            let slot = driven.tier.residency().slot_of(page);
            (accesses, sectors) = (accesses + 1, sectors + u64::from(mask.count_ones()));
            recent.used(page);
            if writes {
                let to = driven.tier.write(page, mask, request_sectors);
                let above = hot || random || slot.is_some();
                prop_assert_eq!(to, if above { WriteTo::Upper } else { WriteTo::Lower });
                hits += u64::from(slot.is_some());
                if above {
                    driven.write_above(&action)?;
                }
            } else {
                let above = slot.map_or(0, |slot| driven.tier.slot(slot).valid & mask);
                prop_assert_eq!(driven.tier.read(page, mask, above, request_sectors), OnRead::Stay);
                hits += u64::from(above == mask);
            }
            driven.pump(0)?;
            for _ in 0..ends {
                driven.end_one()?;
                driven.pump(0)?;
            }
        }
        let counters = driven.tier.counters();
        prop_assert_eq!((counters.page_accesses, counters.page_hits), (accesses, hits));
        let classes = [counters.hot_random, counters.hot_sequential, counters.cold_random, counters.cold_sequential];
        let counted = classes.iter().map(|c| c.read_upper + c.read_lower + c.written_upper + c.written_lower);
        prop_assert_eq!(counted.sum::<u64>(), sectors);
        let cold_sequential_above = counters.cold_sequential.written_upper > 0;
        prop_assert!(!cold_sequential_above || hits > 0, "only where the page had a slot");
    }
}
