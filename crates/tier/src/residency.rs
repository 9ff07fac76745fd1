//! Which slot holds which page, and which of its sectors.

use std::collections::VecDeque;

use ninescope_kernel::{IdTable, Links, NONE, RecencyList};

use crate::policies::EvictionConfig;
use crate::policies::eviction::{CachedPage, USES_MAX};

/// What a slot is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotState {
    /// Nothing.
    #[default]
    Free,
    /// It holds a page.
    Resident,
    /// It holds a page whose dirty sectors are being copied down.
    Leaving,
    /// Its page is not looked for here any more; it is free when those that were to read it have.
    Draining,
}

/// A slot: one page of the upper medium.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The page it holds, `NONE` for none.
    pub page: u32,
    /// Sectors it holds, one bit each.
    pub valid: u32,
    /// Those of them that the lower medium does not hold as they are.
    pub dirty: u32,
    /// Those written since the copy that goes down was read.
    pub rewritten: u32,
    /// Accesses queued that read it.
    pub readers: u16,
    /// Accesses queued that write it.
    pub writers: u16,
    /// How often its content was forgotten (TRIM): what was under way for it then is void.
    pub forgotten: u16,
    /// What it is used for.
    pub state: SlotState,
    /// Its page was last written as part of a sequential request.
    pub sequential: bool,
    /// How often its page was used since it came, up to [`USES_MAX`]; where pages are told apart.
    pub uses: u8,
    /// The part of the medium that it belongs to.
    pub part: u8,
}

impl Slot {
    /// Dirty sectors that the copy on its way down does not make clean: where all are, nothing below is needed.
    #[inline]
    pub fn stays_dirty(&self) -> u32 {
        if self.state == SlotState::Leaving { self.rewritten } else { self.dirty }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            page: NONE,
            valid: 0,
            dirty: 0,
            rewritten: 0,
            readers: 0,
            writers: 0,
            forgotten: 0,
            state: SlotState::Free,
            sequential: false,
            uses: 0,
            part: 0,
        }
    }
}

/// All slots of the upper medium.
#[derive(Clone, Debug)]
pub struct Residency {
    /// By page: its slot.
    slot_of: IdTable<u32>,
    slots: Vec<Slot>,
    links: Vec<Links>,
    parts: Vec<Part>,
    order: EvictionConfig,
    /// The order tells classes of pages apart.
    by_class: bool,
    /// What is used is the last of its class to make way.
    use_renews: bool,
    /// Among so many a clean one makes way before others.
    clean_among: usize,
}

/// Slots that are given away and emptied for themselves.
#[derive(Clone, Debug)]
struct Part {
    /// How many there are.
    slots: u32,
    /// Resident slots, those that make way first in front: a list for each class.
    orders: Vec<RecencyList>,
    /// Free slots, the one free for longest first.
    free: VecDeque<u32>,
    /// Slots that wait for their last readers.
    draining: u32,
}

impl Residency {
    /// Empty slots for `pages` pages, in one part.
    pub fn new(slots: u32, pages: u32, order: &EvictionConfig) -> Self {
        Self::divided(&[slots], pages, order)
    }

    /// Empty slots for `pages` pages, so many in each part.
    pub fn divided(parts: &[u32], pages: u32, order: &EvictionConfig) -> Self {
        let classes = order.chosen().classes().max(1);
        let mut slots: Vec<Slot> = Vec::new();
        let part = |(number, &count): (usize, &u32)| {
            let first = slots.len() as u32;
            slots.resize((first + count) as usize, Slot { part: number as u8, ..Slot::default() });
            let orders = vec![RecencyList::default(); classes];
            Part { slots: count, orders, free: (first..first + count).collect(), draining: 0 }
        };
        let parts = parts.iter().enumerate().map(part).collect();
        Self {
            slot_of: IdTable::new(pages as usize),
            links: vec![Links::default(); slots.len()],
            slots,
            parts,
            by_class: classes > 1,
            use_renews: order.chosen().use_renews(),
            clean_among: order.chosen().clean_among(),
            order: order.clone(),
        }
    }

    /// Parts there are.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Slots of a part.
    pub fn slots_of(&self, part: usize) -> u32 {
        self.parts[part].slots
    }

    /// The part that a slot belongs to.
    #[inline]
    pub fn part_of(&self, slot: u32) -> usize {
        usize::from(self.slots[slot as usize].part)
    }

    /// Slots there are.
    pub fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Pages there are.
    pub fn pages(&self) -> u32 {
        self.slot_of.len() as u32
    }

    /// Slots that hold nothing.
    #[inline]
    pub fn free_slots(&self) -> u32 {
        self.parts.iter().map(|part| part.free.len() as u32).sum()
    }

    /// Slots that hold nothing, or will as soon as those have read them that are about to.
    #[inline]
    pub fn free_soon(&self) -> u32 {
        (0..self.parts.len()).map(|part| self.free_soon_of(part)).sum()
    }

    /// The same of a part.
    #[inline]
    pub fn free_soon_of(&self, part: usize) -> u32 {
        let part = &self.parts[part];
        part.free.len() as u32 + part.draining
    }

    /// One slot.
    #[inline]
    pub fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// Where a page is looked for.
    #[inline]
    pub fn slot_of(&self, page: u32) -> Option<u32> {
        let slot = self.slot_of.get(page as usize);
        (slot != NONE).then_some(slot)
    }

    /// Gives a page a slot of a part, in which nothing is valid yet. `None` if none is free.
    pub fn take(&mut self, page: u32, part: usize) -> Option<u32> {
        let slot = self.parts[part].free.pop_front()?;
        let Slot { forgotten, part, .. } = self.slots[slot as usize];
        self.slots[slot as usize] = Slot { page, state: SlotState::Resident, forgotten, part, ..Slot::default() };
        self.slot_of.put(page as usize, slot);
        self.list(slot);
        Some(slot)
    }

    /// Which list a slot belongs in.
    #[inline]
    fn class_of(&self, slot: u32) -> usize {
        if !self.by_class {
            return 0;
        }
        let Slot { uses, sequential, .. } = self.slots[slot as usize];
        self.order.chosen().class_of(&CachedPage { uses, sequential })
    }

    fn list(&mut self, slot: u32) {
        let (part, class) = (self.part_of(slot), self.class_of(slot));
        self.parts[part].orders[class].push_newest(&mut self.links, slot);
    }

    fn unlist(&mut self, slot: u32) {
        let (part, class) = (self.part_of(slot), self.class_of(slot));
        self.parts[part].orders[class].remove(&mut self.links, slot);
    }

    /// A page was used.
    #[inline]
    pub fn touch(&mut self, slot: u32) {
        let sequential = self.slots[slot as usize].sequential;
        self.touch_written(slot, sequential);
    }

    /// A page is written as part of a sequential request, or at random; that is a use too.
    #[inline]
    pub fn touch_written(&mut self, slot: u32, sequential: bool) {
        if self.by_class {
            return self.touch_by_class(slot, sequential);
        }
        self.slots[slot as usize].sequential = sequential;
        if self.use_renews && self.slots[slot as usize].state == SlotState::Resident {
            let part = self.part_of(slot);
            self.parts[part].orders[0].touch(&mut self.links, slot);
        }
    }

    fn touch_by_class(&mut self, slot: u32, sequential: bool) {
        let before = self.class_of(slot);
        let record = &mut self.slots[slot as usize];
        record.uses = (record.uses + 1).min(USES_MAX);
        record.sequential = sequential;
        let listed = record.state == SlotState::Resident;
        let after = self.class_of(slot);
        if listed && (self.use_renews || before != after) {
            let part = self.part_of(slot);
            self.parts[part].orders[before].remove(&mut self.links, slot);
            self.parts[part].orders[after].push_newest(&mut self.links, slot);
        }
    }

    /// The slot of a part to empty next: of those that make way first the first that nobody is about to write, a clean one where
    /// the order prefers that. A few of each class are looked at.
    pub fn victim(&self, part: usize) -> Option<u32> {
        const LOOKED_AT: usize = 16;
        let may_go = |slot: &u32| self.slots[*slot as usize].writers == 0;
        let is_clean = |slot: &u32| self.slots[*slot as usize].dirty == 0;
        self.parts[part].orders.iter().find_map(|order| {
            let among = |count: usize| self.by_use(*order).take(count).filter(may_go);
            among(self.clean_among).find(is_clean).or_else(|| among(LOOKED_AT).next())
        })
    }

    /// Adds the slots that hold something dirty which nobody is about to write, in the order in which they would be emptied.
    pub fn dirty_in_order(&self, into: &mut VecDeque<u32>) {
        let dirty = |slot: &u32| self.slots[*slot as usize].dirty != 0 && self.slots[*slot as usize].writers == 0;
        let orders = self.parts.iter().flat_map(|part| &part.orders);
        into.extend(orders.flat_map(|order| self.by_use(*order)).filter(dirty));
    }

    /// The slots of an order, the one used longest ago first.
    fn by_use(&self, order: RecencyList) -> impl Iterator<Item = u32> {
        std::iter::successors(order.oldest(), |&slot| RecencyList::newer_than(&self.links, slot))
    }

    // ---- accesses --------------------------------------------------------------------------------

    /// An access that reads the slot is queued.
    #[inline]
    pub fn reader_queued(&mut self, slot: u32) {
        self.slots[slot as usize].readers += 1;
    }

    /// An access that reads the slot has done so. Returns whether that made it free.
    #[inline]
    pub fn reader_left(&mut self, slot: u32) -> bool {
        self.slots[slot as usize].readers -= 1;
        self.slots[slot as usize].state == SlotState::Draining && self.free_drained(slot)
    }

    /// An access that writes the slot is queued.
    #[inline]
    pub fn writer_queued(&mut self, slot: u32) {
        self.slots[slot as usize].writers += 1;
    }

    /// An access that writes the slot has ended, or is not wanted any more.
    #[inline]
    pub fn writer_left(&mut self, slot: u32) {
        self.slots[slot as usize].writers -= 1;
    }

    /// Sectors are being overwritten with what the host wrote. Returns whether from now on all of `whole` are dirty for
    /// good, and were not before.
    #[inline]
    pub fn written(&mut self, slot: u32, sectors: u32, whole: u32) -> bool {
        let record = &mut self.slots[slot as usize];
        let before = record.stays_dirty();
        record.valid |= sectors;
        record.dirty |= sectors;
        record.rewritten |= sectors;
        record.stays_dirty() == whole && before != whole
    }

    /// Sectors that are not valid are being filled with what the lower medium holds; returns which.
    pub fn sectors_to_fill(&self, slot: u32, sectors: u32) -> u32 {
        sectors & !self.slots[slot as usize].valid
    }

    /// They are: clean, or `dirty` because the page moves up.
    pub fn filled(&mut self, slot: u32, sectors: u32, dirty: bool) {
        let record = &mut self.slots[slot as usize];
        record.valid |= sectors;
        if dirty {
            record.dirty |= sectors;
            record.rewritten |= sectors;
        }
    }

    // ---- leaving ---------------------------------------------------------------------------------

    /// The dirty sectors of a slot are to be copied down.
    pub fn begin_leaving(&mut self, slot: u32) {
        debug_assert_eq!(self.slots[slot as usize].state, SlotState::Resident, "a slot leaves once");
        self.unlist(slot);
        self.slots[slot as usize].state = SlotState::Leaving;
    }

    /// The copy that goes down is read now. What is written later stays behind.
    pub fn read_to_leave(&mut self, slot: u32) {
        self.slots[slot as usize].rewritten = 0;
    }

    /// The copy is on the lower medium. The slot stays if anything was written since it was read, or is about to be;
    /// else its page is not looked for here any more. Returns whether the slot is free.
    pub fn left(&mut self, slot: u32) -> bool {
        let record = &mut self.slots[slot as usize];
        debug_assert_eq!(record.state, SlotState::Leaving, "a slot leaves once");
        record.dirty &= record.rewritten;
        if record.dirty != 0 || record.writers != 0 {
            self.stay(slot);
            return false;
        }
        self.unlink(slot)
    }

    /// A slot that was to leave does not.
    pub fn stay(&mut self, slot: u32) {
        self.slots[slot as usize].state = SlotState::Resident;
        self.list(slot);
    }

    /// The page of a resident slot without dirty sectors and writers is not looked for here any more. Returns whether
    /// the slot is free.
    pub fn drop_clean(&mut self, slot: u32) -> bool {
        debug_assert!(self.slots[slot as usize].writers == 0, "somebody is about to write it");
        self.unlist(slot);
        self.unlink(slot)
    }

    /// Forgets what a page holds. Returns the slot that it does not have any more.
    pub fn forget(&mut self, page: u32) -> Option<u32> {
        let slot = self.slot_of(page)?;
        let record = &mut self.slots[slot as usize];
        (record.valid, record.dirty, record.rewritten) = (0, 0, 0);
        record.forgotten = record.forgotten.wrapping_add(1);
        self.drop_if_empty(slot).then_some(slot)
    }

    /// Gives up a resident slot in which nothing is valid and which nobody is about to write. Returns whether.
    pub fn drop_if_empty(&mut self, slot: u32) -> bool {
        let record = &self.slots[slot as usize];
        let empty = record.state == SlotState::Resident && record.valid == 0 && record.writers == 0;
        if empty {
            self.drop_clean(slot);
        }
        empty
    }

    fn unlink(&mut self, slot: u32) -> bool {
        let record = &mut self.slots[slot as usize];
        self.slot_of.put(record.page as usize, NONE);
        record.state = SlotState::Draining;
        self.parts[usize::from(record.part)].draining += 1;
        self.free_drained(slot)
    }

    fn free_drained(&mut self, slot: u32) -> bool {
        let record = &mut self.slots[slot as usize];
        if record.readers != 0 {
            return false;
        }
        (record.state, record.page) = (SlotState::Free, NONE);
        let part = &mut self.parts[usize::from(record.part)];
        part.draining -= 1;
        part.free.push_back(slot);
        true
    }
}
