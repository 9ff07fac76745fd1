//! Objects and when they are used: each has its uses for itself, drawn when it is born.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ninescope_kernel::{RandomStream, mixed};
use ninescope_model::Op;

use super::Part;
use super::draw::{Weighted, from_quantiles};
use super::extents::{Extents, PAGE_SECTORS};
use super::laws::{ObjectLaw, PartLaw};

/// Parts of a request in which places in the order of requests are counted.
const PARTS: u64 = 1 << 16;
/// Draws of an object's uses for some that end within the trace.
const SEEDS_TRIED: u64 = 4;
/// Of the room before the trace's end, what the uses of an object fill that had to be put closer together.
const FILLED: f64 = 0.98;
/// Objects that one request uses at most.
const JOINED_MAX: usize = 64;
/// Uses in one request with another that may be missing before slivers are left out, and before others are, as a share
/// of the requests.
const MISSING_SLIVERS: f64 = 8.0;
const MISSING_SHARE: f64 = 0.01;
/// How fast the window opens or closes in which the uses of neighbours become one request.
const WINDOW_STEP: f64 = 1.02;

/// An object that is alive.
#[derive(Clone, Copy)]
struct Object {
    class: u32,
    /// Uses to come, with the next.
    left: u32,
    /// Uses so far.
    done: u32,
    op: Op,
    start: u64,
    end: u64,
    /// Where the last use ended.
    last_end: u64,
    /// When it is used next, and which part.
    due: u64,
    part: Part,
    /// What its lags are drawn from.
    seed: u64,
    /// Factor on its lags.
    pace: f64,
}

/// What comes next.
pub(super) enum Step {
    /// An object of a class is used for the first time.
    Birth(Newborn),
    /// Known ones are used again, from a sector to a sector; `at_end` if the last of them to its end, `is_tail`
    /// if that is all.
    Use { start: u64, end: u64, op: Op, at_end: bool, is_tail: bool },
}

/// An object that has no place yet.
pub(super) struct Newborn {
    pub class: usize,
    /// Its place among the births of its class, from 0.
    pub number: u64,
    at: u64,
    seed: u64,
}

/// A class of objects, ready to draw from.
struct Class {
    law: ObjectLaw,
    /// Uses of each.
    mean_uses: f64,
    /// Weights of the operation after each.
    next_op: [Weighted; Op::ALL.len()],
    /// What is taken after each part, as places in the law's list.
    parts: [Weighted; Part::ALL.len()],
    sizes: Vec<Weighted>,
    born: u64,
}

/// A birth that is to come in this stretch.
#[derive(Clone, Copy)]
struct Planned {
    at: u64,
    class: u32,
    seed: u64,
}

/// All objects.
pub(super) struct Population {
    classes: Vec<Class>,
    objects: Vec<Object>,
    free: Vec<u32>,
    uses: BinaryHeap<Reverse<(u64, u32)>>,
    births: std::iter::Peekable<std::vec::IntoIter<Planned>>,
    /// Stretches whose births are planned; counted on through repetitions.
    planned: u64,
    stretches: u64,
    requests: u64,
    /// Uses behind another in the same request that a request should have, and those that there were too few.
    joins: f64,
    missing_joins: f64,
    /// New objects that went on behind another without it: as many uses to an end are too many.
    missing_tails: u64,
    /// How much too early a neighbour may be used in the same request [parts].
    window: f64,
    /// The same of requests that go on behind one that was just made.
    chains: f64,
    missing_chains: f64,
    chain_window: f64,
    /// Uses that were left out.
    pub left_out: u64,
    stream: RandomStream,
}

/// A uniform number in `[0, 1)`: the `nth` of an object.
#[inline]
fn unit(seed: u64, nth: u64) -> f64 {
    (mixed(seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

impl Population {
    /// `requests` are those of the original that had an address; `joins` of its uses were in one request with another,
    /// `chains` right behind one.
    pub fn new(laws: &[ObjectLaw], requests: u64, joins: u64, chains: u64, stream: RandomStream) -> Self {
        Self {
            classes: laws.iter().map(Class::new).collect(),
            objects: Vec::new(),
            free: Vec::new(),
            uses: BinaryHeap::new(),
            births: Vec::new().into_iter().peekable(),
            planned: 0,
            stretches: laws.first().map_or(1, |law| law.births.len() as u64).max(1),
            requests,
            joins: joins as f64 / requests.max(1) as f64,
            missing_joins: 0.0,
            missing_tails: 0,
            window: PARTS as f64,
            chains: chains as f64 / requests.max(1) as f64,
            missing_chains: 0.0,
            chain_window: PARTS as f64,
            left_out: 0,
            stream,
        }
    }

    /// The law of a class.
    pub fn law(&self, class: usize) -> &ObjectLaw {
        &self.classes[class].law
    }

    /// What comes next; `None` if there is nothing at all.
    pub fn step(&mut self, extents: &Extents) -> Option<Step> {
        let mut empty = 0;
        loop {
            let (use_at, birth_at) = (self.next_use(), self.births.peek().map(|next| next.at));
            let end = self.stretch_end(self.planned);
            match (use_at, birth_at) {
                (Some(at), birth) if at < end && birth.is_none_or(|birth| at < birth) => {
                    let Reverse((at, slot)) = self.uses.pop()?;
                    let step = self.use_from(at, slot, extents);
                    if !self.is_superfluous(&step) {
                        return Some(step);
                    }
                }
                (_, Some(_)) => return self.births.next().map(|planned| self.bear(&planned)),
                _ if empty > self.stretches && use_at.is_none() => return None,
                _ => {
                    empty += 1;
                    self.plan_stretch();
                }
            }
        }
    }

    /// Whether a use is left out: it should have been in one request with another, and found none. Slivers of a page
    /// go first, as requests off the boundaries of others leave them; of other uses only what would make the trace
    /// end before its time.
    fn is_superfluous(&mut self, step: &Step) -> bool {
        let Step::Use { start, end, is_tail, .. } = step else { return false };
        if *is_tail && self.missing_tails > 0 {
            self.missing_tails -= 1;
            self.left_out += 1;
            return true;
        }
        let is_sliver = end - start < PAGE_SECTORS;
        let most = if is_sliver { MISSING_SLIVERS } else { MISSING_SHARE * self.requests as f64 };
        let is_left_out = self.missing_joins > most;
        if is_left_out {
            self.missing_joins -= 1.0 + self.joins;
            self.left_out += 1;
        }
        is_left_out
    }

    /// When the next use is due; what neighbours took along before its time is forgotten.
    fn next_use(&mut self) -> Option<u64> {
        while let Some(&Reverse((at, slot))) = self.uses.peek() {
            let object = &self.objects[slot as usize];
            if object.left > 0 && object.due == at {
                return Some(at);
            }
            self.uses.pop();
        }
        None
    }

    /// A new object is joined to a known one that ends at `end`, if its last sectors are to be used next. Returns
    /// where the use begins.
    pub fn use_tail(&mut self, newborn: &Newborn, end: u64, op: Op, extents: &Extents) -> Option<u64> {
        let slot = extents.ending_at(end)?;
        let object = self.objects.get_mut(slot as usize)?;
        if object.end != end || object.left == 0 || object.part != Part::End {
            return None;
        }
        let class = &self.classes[object.class as usize];
        if object.op != op && !class.next_op[object.op as usize].holds(op as u32) {
            return None;
        }
        object.op = op;
        object.last_end = end;
        let (start, _) = class.piece(object, &mut self.stream);
        self.used(slot, newborn.at);
        Some(start)
    }

    /// A new object goes on behind another that is not used with it, as it should have been.
    pub fn miss_tail(&mut self) {
        self.missing_tails += 1;
    }

    /// A new object's place is found. Returns the number it is known by.
    pub fn settle(&mut self, newborn: &Newborn, start: u64, end: u64) -> u32 {
        let class = &self.classes[newborn.class];
        let whole = class.mean_uses as u32;
        let uses = (whole + u32::from(unit(newborn.seed, u64::MAX) < class.mean_uses - f64::from(whole))).max(1);
        if uses == 1 {
            return u32::MAX;
        }
        let round_end = (newborn.at / PARTS / self.requests + 1) * self.requests * PARTS;
        let (seed, pace) = class.paced(newborn.seed, uses - 1, (round_end - newborn.at) as f64 / PARTS as f64);
        let object = Object {
            class: newborn.class as u32,
            left: uses,
            done: 0,
            op: class.law.op,
            start,
            end,
            last_end: end,
            due: 0,
            part: Part::Whole,
            seed,
            pace,
        };
        let slot = self.free.pop().unwrap_or(self.objects.len() as u32);
        if slot as usize == self.objects.len() {
            self.objects.push(object);
        } else {
            self.objects[slot as usize] = object;
        }
        self.used(slot, newborn.at);
        slot
    }

    /// An object was used: its next use is due.
    fn used(&mut self, slot: u32, at: u64) {
        let object = &mut self.objects[slot as usize];
        object.left -= 1;
        if object.left == 0 {
            self.free.push(slot);
            return;
        }
        let (part, lag) = self.classes[object.class as usize].next(object.seed, object.done, object.part);
        let lag = lag * object.pace;
        object.part = part;
        object.done += 1;
        object.due = at + ((lag * PARTS as f64) as u64).max(1);
        self.uses.push(Reverse((object.due, slot)));
    }

    /// The use of an object, and of those behind it that are due about now.
    fn use_from(&mut self, at: u64, slot: u32, extents: &Extents) -> Step {
        let object = &mut self.objects[slot as usize];
        let class = &self.classes[object.class as usize];
        if let Some(op) = class.next_op[object.op as usize].draw(&mut self.stream) {
            object.op = Op::ALL[op as usize];
        }
        let op = object.op;
        let (start, mut end) = class.piece(object, &mut self.stream);
        let mut at_end = end == object.end;
        let mut is_tail = object.part == Part::End;
        object.last_end = end;
        self.used(slot, at);
        let mut joined = 0;
        while at_end && joined < JOINED_MAX {
            let Some(neighbour) = self.due_neighbour(end, at, op, self.window, extents) else { break };
            joined += 1;
            let object = &mut self.objects[neighbour as usize];
            let class = &self.classes[object.class as usize];
            object.op = op;
            (_, end) = class.piece(object, &mut self.stream);
            at_end = end == object.end;
            is_tail = false;
            object.last_end = end;
            self.used(neighbour, at);
        }
        self.missing_joins += self.joins - joined as f64;
        self.window *= if self.missing_joins > 0.0 { WINDOW_STEP } else { 1.0 / WINDOW_STEP };
        self.window = self.window.clamp(1.0, (self.requests * PARTS) as f64);
        self.missing_chains += self.chains;
        if at_end {
            self.chain(end, at, op, extents);
        }
        self.chain_window *= if self.missing_chains > 0.0 { WINDOW_STEP } else { 1.0 / WINDOW_STEP };
        self.chain_window = self.chain_window.clamp(1.0, (self.requests * PARTS) as f64);
        Step::Use { start, end, op, at_end, is_tail }
    }

    /// What lies behind a request that was made is used next, if it is due within the window: runs stay runs.
    fn chain(&mut self, start: u64, at: u64, op: Op, extents: &Extents) {
        let Some(slot) = self.due_neighbour(start, at, op, self.chain_window, extents) else { return };
        self.missing_chains -= 1.0;
        let object = &mut self.objects[slot as usize];
        if object.due > at + PARTS {
            object.due = at + PARTS;
            self.uses.push(Reverse((object.due, slot)));
        }
    }

    /// The object that begins at `start`, if it is to be used within the window.
    fn due_neighbour(&self, start: u64, at: u64, op: Op, window: f64, extents: &Extents) -> Option<u32> {
        let slot = extents.beginning_at(start)?;
        let object = self.objects.get(slot as usize)?;
        let class = &self.classes[object.class as usize];
        let is_alive = object.start == start && object.left > 0 && matches!(object.part, Part::Whole | Part::Start);
        let is_due = (object.due.saturating_sub(at)) as f64 <= window;
        let may_be = object.op == op || class.next_op[object.op as usize].holds(op as u32);
        (is_alive && is_due && may_be).then_some(slot)
    }

    fn bear(&mut self, planned: &Planned) -> Step {
        let class = &mut self.classes[planned.class as usize];
        let number = class.born;
        class.born += 1;
        self.missing_joins += self.joins;
        Step::Birth(Newborn { class: planned.class as usize, number, at: planned.at, seed: planned.seed })
    }

    /// Where a stretch, counted from 1, ends.
    fn stretch_end(&self, stretch: u64) -> u64 {
        (u128::from(stretch) * u128::from(self.requests) * u128::from(PARTS) / u128::from(self.stretches)) as u64
    }

    /// Decides which objects are born in the next stretch, and when. Classes follow each other as they did; what
    /// came right after another comes right after it, and may share the random numbers of its uses with it, so that
    /// what was made together is used together.
    fn plan_stretch(&mut self) {
        let (start, end) = (self.stretch_end(self.planned), self.stretch_end(self.planned + 1));
        let stretch = (self.planned % self.stretches) as usize;
        self.planned += 1;
        let birth = |class: &Class| class.law.births.get(stretch).copied().unwrap_or_default();
        let mut left: Vec<u64> = self.classes.iter().map(birth).collect();
        let mut order: Vec<u32> = (0..).zip(&left).flat_map(|(class, &count)| (0..count).map(move |_| class)).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, self.stream.below(place as u64 + 1) as usize);
        }
        let mut births: Vec<Planned> = Vec::with_capacity(order.len());
        let mut waiting = order.into_iter();
        let total = left.iter().sum::<u64>() as usize;
        let (mut chains, mut drawn): (Vec<std::ops::Range<usize>>, usize) = (Vec::new(), 0);
        while births.len() < total {
            let followed = births.last().and_then(|before| self.draw_next(before.class as usize, &left));
            let Some(class) = followed.or_else(|| waiting.find(|&class| left[class as usize] > 0)) else { break };
            left[class as usize] -= 1;
            drawn += 1;
            let law = &self.classes[class as usize].law;
            let (near, follows) = (self.stream.unit() < law.near, self.stream.unit() < law.follows);
            let own = Planned { at: start + self.stream.below((end - start).max(1)), class, seed: self.stream.bits() };
            match (births.last(), chains.last_mut()) {
                (Some(before), Some(chain)) if near => {
                    chain.end = drawn;
                    let seed = if follows { before.seed } else { own.seed };
                    births.push(Planned { at: (before.at + PARTS).min(end - 1), seed, class });
                }
                _ => {
                    chains.push(drawn - 1..drawn);
                    births.push(own);
                }
            }
        }
        // One chain after the other: runs that were made one by one do not mix.
        chains.sort_by_key(|chain| births[chain.start].at);
        let mut ordered: Vec<Planned> = Vec::with_capacity(births.len());
        for planned in chains.into_iter().flatten().map(|place| births[place]) {
            let at = ordered.last().map_or(planned.at, |before| planned.at.max(before.at));
            ordered.push(Planned { at, ..planned });
        }
        self.births = ordered.into_iter().peekable();
    }

    /// The class that follows `class`, of those of which some are left.
    fn draw_next(&mut self, class: usize, left: &[u64]) -> Option<u32> {
        let next = &self.classes[class].law.next;
        let weight = |&(class, weight): &(u32, u64)| if left[class as usize] > 0 { weight } else { 0 };
        let total: u64 = next.iter().map(weight).sum();
        if total == 0 {
            return None;
        }
        let mut drawn = self.stream.below(total);
        next.iter()
            .find(|entry| {
                let here = drawn < weight(entry);
                drawn = drawn.saturating_sub(weight(entry));
                here
            })
            .map(|&(class, _)| class)
    }
}

impl Class {
    fn new(law: &ObjectLaw) -> Self {
        let next_op = Op::ALL.map(|op| {
            let next: Vec<(u32, u64)> =
                law.ops.iter().filter(|&&(from, ..)| from == op).map(|&(_, to, weight)| (to as u32, weight)).collect();
            Weighted::new(&next)
        });
        let parts = Part::ALL.map(|before| {
            let weight = |law: &PartLaw| law.after.iter().filter(|after| after.0 == before).map(|after| after.1).sum();
            let next: Vec<(u32, u64)> = (0..).zip(&law.parts).map(|(place, law)| (place, weight(law))).collect();
            Weighted::new(&next)
        });
        Self {
            mean_uses: law.total as f64 / law.objects().max(1) as f64,
            next_op,
            parts,
            sizes: law.parts.iter().map(|part| Weighted::new(&part.sizes)).collect(),
            law: law.clone(),
            born: 0,
        }
    }

    /// The sectors that the next use of an object takes.
    fn piece(&self, object: &Object, stream: &mut RandomStream) -> (u64, u64) {
        let length = object.end - object.start;
        let place = self.law.parts.iter().position(|law| law.part == object.part);
        let drawn = place.and_then(|place| self.sizes[place].draw(stream));
        let sectors = drawn.map_or(length, |sectors| u64::from(sectors).min(length));
        let start = match object.part {
            Part::End => object.end - sectors,
            Part::On if object.last_end < object.end => object.last_end,
            Part::On | Part::Inside if length > sectors => object.start + 1 + stream.below(length - sectors),
            _ => object.start,
        };
        (start, (start + sectors).min(object.end))
    }

    /// Part and lag of the `nth` further use of an object, after a use of `part`.
    #[inline]
    fn next(&self, seed: u64, nth: u32, part: Part) -> (Part, f64) {
        let place = self.parts[part as usize].at(unit(seed, 2 * u64::from(nth)));
        let law = self.law.parts.get(place.unwrap_or_default() as usize);
        law.map_or((Part::Whole, 1.0), |law| (law.part, from_quantiles(&law.lags, unit(seed, 2 * u64::from(nth) + 1))))
    }

    /// The seed of an object's lags and the factor on them, such that all its uses come within `room` requests.
    fn paced(&self, seed: u64, lags: u32, room: f64) -> (u64, f64) {
        let total = |seed: u64| {
            let mut part = Part::Whole;
            let mut sum = 0.0;
            for nth in 0..lags {
                let (next, lag) = self.next(seed, nth, part);
                (part, sum) = (next, sum + lag);
            }
            sum
        };
        let mut tried = (0..SEEDS_TRIED).map(|turn| if turn == 0 { seed } else { mixed(seed.wrapping_add(turn)) });
        match tried.find(|&seed| total(seed) < room) {
            Some(seed) => (seed, 1.0),
            None => (seed, room * FILLED / total(seed)),
        }
    }
}
