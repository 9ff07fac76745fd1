//! From a trace to its profile, in one pass. Memory: some 100 bytes per object and 24 per use.

use std::collections::BTreeMap;

use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Op, PAGE_BYTES, Request, SECTOR_BYTES};

use super::arrivals::ArrivalBuilder;
use super::draw::Spread;
use super::extents::{Ends, Extents, PAGE_SECTORS, Piece, SIZE_CLASSES, size_class};
use super::laws::{AddressLaw, Continuation, JumpLaw, ObjectLaw, Original, PartLaw, Profile, RunLaw};
use super::{Birth, PROFILE_VERSION, Part, STRETCHES};

/// Sizes that are kept one by one.
const SIZES_KEPT: usize = 12;
/// Quantiles of a distribution of lags, and of one of fewer lags than [`MANY`].
const LAG_POINTS: usize = 17;
const FEW_POINTS: usize = 9;
const MANY: u64 = 256;
/// How far after an earlier use one lies that follows it [requests].
const FOLLOWS_WITHIN: u64 = 4;

/// What was seen of one object.
struct Object {
    op: Op,
    birth: Birth,
    start: u64,
    end: u64,
    born: u64,
    uses: u64,
    last_op: Op,
    last_index: u64,
    last_end: u64,
    last_part: Part,
    /// Further uses shortly after one of the object that was new before.
    followed: u64,
}

/// One use of an object after its first.
struct FurtherUse {
    object: u32,
    lag: u32,
    from: Op,
    to: Op,
    part: Part,
    part_before: Part,
    sectors: u32,
}

/// What was seen of new objects that lie by themselves.
#[derive(Default)]
struct Jumps {
    behind: u64,
    distances: Spread,
    ages: Spread,
}

impl Jumps {
    fn finish(self, op: Op) -> JumpLaw {
        let points = LAG_POINTS.min(self.ages.total as usize / 2 + 1).max(2);
        JumpLaw {
            op,
            behind: rounded(self.behind as f64 / self.ages.total.max(1) as f64),
            distances: self.distances.quantiles(points),
            ages: self.ages.quantiles(points),
        }
    }
}

/// A trace under way to its profile.
pub struct ProfileBuilder {
    extents: Extents,
    ends: Ends,
    pieces: Vec<Piece>,
    arrivals: ArrivalBuilder,
    /// At which of the latest ends of its operation a new object began.
    ends_taken: BTreeMap<Op, BTreeMap<u32, u64>>,
    objects: Vec<Object>,
    uses: Vec<FurtherUse>,
    phases: BTreeMap<u32, u64>,
    jumps: BTreeMap<Op, Jumps>,
    requests: u64,
    joins: u64,
    chains: u64,
    /// Where the latest requests ended.
    latest_ends: [u64; FOLLOWS_WITHIN as usize],
    flushes: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    end_sector: u64,
}

impl Object {
    /// The class of the mean lag between its uses, in powers of four from 1 on; 0 if it was used once.
    fn pace_class(&self) -> u32 {
        let mean = (self.last_index - self.born) / (self.uses - 1).max(1);
        if self.uses == 1 { 0 } else { 1 + mean.max(1).ilog2() / 2 }
    }
}

impl Default for ProfileBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ProfileBuilder {
    /// An empty trace.
    #[must_use]
    pub fn new() -> Self {
        Self {
            extents: Extents::default(),
            ends: Ends::default(),
            pieces: Vec::new(),
            arrivals: ArrivalBuilder::new(),
            ends_taken: BTreeMap::new(),
            objects: Vec::new(),
            uses: Vec::new(),
            phases: BTreeMap::new(),
            jumps: BTreeMap::new(),
            requests: 0,
            joins: 0,
            chains: 0,
            latest_ends: [u64::MAX; FOLLOWS_WITHIN as usize],
            flushes: 0,
            first_ns: None,
            last_ns: 0,
            end_sector: 0,
        }
    }

    /// Takes the next request; times do not decrease.
    pub fn add(&mut self, request: &Request) {
        self.arrivals.add(request.submitted.0);
        self.first_ns.get_or_insert(request.submitted.0);
        self.last_ns = request.submitted.0;
        if request.op == Op::Flush {
            self.flushes += 1;
        } else {
            let mut pieces = std::mem::take(&mut self.pieces);
            self.extents.split(request.lba.0, request.end(), &mut pieces);
            for (nth, piece) in pieces.iter().enumerate() {
                match piece.known {
                    Some(number) => self.add_use(request.op, piece, number as usize),
                    None => self.add_object(request.op, piece, nth > 0),
                }
            }
            self.joins += pieces.iter().skip(1).filter(|piece| piece.known.is_some()).count() as u64;
            let begins_object =
                pieces[0].known.is_some_and(|number| self.objects[number as usize].start == request.lba.0);
            self.chains += u64::from(begins_object && self.latest_ends.contains(&request.lba.0));
            self.latest_ends[(self.requests % FOLLOWS_WITHIN) as usize] = request.end();
            self.pieces = pieces;
            self.ends.go_on(request.op, request.lba.0, request.end());
            self.end_sector = self.end_sector.max(request.end());
        }
        self.requests += 1;
    }

    fn add_object(&mut self, op: Op, piece: &Piece, is_joined: bool) {
        let end = self.ends.latest(op).position(|end| end == piece.start);
        let birth = match end {
            _ if is_joined => Birth::Joined,
            Some(_) => Birth::Run,
            None => Birth::Jump,
        };
        if let (Birth::Run, Some(end)) = (birth, end) {
            *self.ends_taken.entry(op).or_default().entry(end as u32 + 1).or_default() += 1;
        }
        if birth == Birth::Jump {
            if let Some((number, distance, behind)) = self.extents.nearest(piece.start, piece.end) {
                let jumps = self.jumps.entry(op).or_default();
                jumps.behind += u64::from(behind);
                jumps.distances.add(distance / PAGE_SECTORS);
                jumps.ages.add(self.objects.len() as u64 - u64::from(number));
            }
            *self.phases.entry((piece.start % PAGE_SECTORS) as u32).or_default() += 1;
        }
        self.extents.insert(piece.start, piece.end, self.objects.len() as u32);
        self.objects.push(Object {
            op,
            birth,
            start: piece.start,
            end: piece.end,
            born: self.requests,
            uses: 1,
            last_op: op,
            last_index: self.requests,
            last_end: piece.end,
            last_part: Part::Whole,
            followed: 0,
        });
    }

    fn add_use(&mut self, op: Op, piece: &Piece, number: usize) {
        let before = number.checked_sub(1).map(|before| self.objects[before].last_index);
        let object = &mut self.objects[number];
        let part = match (piece.start == object.start, piece.end == object.end) {
            (true, true) => Part::Whole,
            (true, false) => Part::Start,
            (false, true) => Part::End,
            (false, false) if piece.start == object.last_end => Part::On,
            (false, false) => Part::Inside,
        };
        let is_near = |index: u64| self.requests - index <= FOLLOWS_WITHIN && index > object.last_index;
        self.uses.push(FurtherUse {
            object: number as u32,
            lag: u32::try_from(self.requests - object.last_index).unwrap_or(u32::MAX),
            from: object.last_op,
            to: op,
            part,
            part_before: std::mem::replace(&mut object.last_part, part),
            sectors: (piece.end - piece.start) as u32,
        });
        object.followed += u64::from(before.is_some_and(is_near));
        object.uses += 1;
        (object.last_op, object.last_index, object.last_end) = (op, self.requests, piece.end);
    }

    /// The profile of what was added, under `name`.
    #[must_use]
    pub fn finish(self, name: &str, source: Vec<String>) -> Profile {
        let span = self.end_sector.div_ceil(PAGE_SECTORS) * PAGE_SECTORS * SECTOR_BYTES;
        let objects = object_laws(&self.objects, &self.uses, self.requests);
        Profile {
            profile: PROFILE_VERSION,
            name: name.to_owned(),
            summary: String::new(),
            label: "profile".to_owned(),
            source,
            original: Original {
                requests: self.requests,
                duration: Duration(self.last_ns - self.first_ns.unwrap_or_default()),
                footprint: Bytes(self.extents.pages() * PAGE_BYTES),
                joins: self.joins,
                chains: self.chains,
                flushes: self.flushes,
            },
            addresses: AddressLaw {
                span: Bytes(span),
                continues: Continuation::Again,
                phases: self.phases.into_iter().collect(),
                jumps: self.jumps.into_iter().map(|(op, jumps)| jumps.finish(op)).collect(),
            },
            arrivals: self.arrivals.finish(),
            runs: self
                .ends_taken
                .into_iter()
                .map(|(op, ends)| RunLaw { op, ends: ends.into_iter().collect() })
                .collect(),
            objects,
        }
    }
}

/// What was seen of further uses that take one part.
#[derive(Default)]
struct PartSeen {
    after: BTreeMap<Part, u64>,
    lags: Spread,
    sizes: BTreeMap<u32, u64>,
}

/// What was seen of a class of objects.
#[derive(Default)]
struct Class {
    total: u64,
    births: Vec<u64>,
    sizes: BTreeMap<u32, u64>,
    followed: u64,
    lie: BTreeMap<Birth, u64>,
    next: BTreeMap<ClassKey, u64>,
    near: u64,
    ops: BTreeMap<(Op, Op), u64>,
    parts: BTreeMap<Part, PartSeen>,
}

type ClassKey = (Op, u32, u8, u32);

fn object_laws(objects: &[Object], uses: &[FurtherUse], requests: u64) -> Vec<ObjectLaw> {
    let key = |object: &Object| {
        (object.op, object.uses.ilog2(), size_class(object.end - object.start) as u8, object.pace_class())
    };
    let mut classes: BTreeMap<ClassKey, Class> = BTreeMap::new();
    let mut before: Option<&Object> = None;
    for object in objects {
        if let Some(before) = before {
            *classes.entry(key(before)).or_default().next.entry(key(object)).or_default() += 1;
        }
        let class = classes.entry(key(object)).or_default();
        class.births.resize(STRETCHES, 0);
        class.births[(u128::from(object.born) * STRETCHES as u128 / u128::from(requests)) as usize] += 1;
        class.total += object.uses;
        class.followed += object.followed;
        *class.lie.entry(object.birth).or_default() += 1;
        *class.sizes.entry((object.end - object.start) as u32).or_default() += 1;
        class.near += u64::from(before.is_some_and(|before| object.born - before.born <= FOLLOWS_WITHIN));
        before = Some(object);
    }
    for further in uses {
        let class = classes.entry(key(&objects[further.object as usize])).or_default();
        *class.ops.entry((further.from, further.to)).or_default() += 1;
        let part = class.parts.entry(further.part).or_default();
        part.lags.add(u64::from(further.lag));
        *part.after.entry(further.part_before).or_default() += 1;
        if further.part != Part::Whole {
            *part.sizes.entry(further.sectors).or_default() += 1;
        }
    }
    let keys: Vec<ClassKey> = classes.keys().copied().collect();
    classes.into_iter().map(|(key, class)| class.finish(key, &keys)).collect()
}

impl Class {
    fn finish(self, (op, uses, size, pace): ClassKey, keys: &[ClassKey]) -> ObjectLaw {
        let place = |key: &ClassKey| keys.binary_search(key).unwrap_or_default() as u32;
        let objects: u64 = self.births.iter().sum();
        ObjectLaw {
            op,
            uses: 1 << uses,
            pages: SIZE_CLASSES[size as usize],
            lag: if pace == 0 { 0 } else { 1 << (2 * (pace - 1)) },
            total: self.total,
            lie: self.lie.into_iter().collect(),
            next: self.next.iter().map(|(key, &count)| (place(key), count)).collect(),
            near: rounded(self.near as f64 / objects.max(1) as f64),
            births: self.births,
            sizes: joined_sizes(&self.sizes),
            follows: rounded(self.followed as f64 / (self.total - objects).max(1) as f64),
            ops: self.ops.into_iter().map(|((from, to), count)| (from, to, count)).collect(),
            parts: self.parts.into_iter().map(|(part, seen)| seen.finish(part)).collect(),
        }
    }
}

impl PartSeen {
    fn finish(self, part: Part) -> PartLaw {
        let points = if self.lags.total < MANY { FEW_POINTS } else { LAG_POINTS };
        let points = points.min(self.lags.total as usize / 2 + 1).max(2);
        PartLaw {
            part,
            after: self.after.into_iter().collect(),
            lags: self.lags.quantiles(points),
            sizes: joined_sizes(&self.sizes),
        }
    }
}

/// A share, to four digits.
fn rounded(share: f64) -> f64 {
    libm::round(share * 1e4) / 1e4
}

/// The sizes, the rarer ones joined to one per power of two that keeps their sum.
fn joined_sizes(sizes: &BTreeMap<u32, u64>) -> Vec<(u32, u64)> {
    if sizes.len() <= SIZES_KEPT {
        return sizes.iter().map(|(&size, &count)| (size, count)).collect();
    }
    let mut by_count: Vec<(u32, u64)> = sizes.iter().map(|(&size, &count)| (size, count)).collect();
    by_count.sort_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
    let rest = by_count.split_off(SIZES_KEPT / 2);
    let mut octaves: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (size, count) in rest {
        let (sectors, requests) = octaves.entry(size.ilog2()).or_default();
        *sectors += u64::from(size) * count;
        *requests += count;
    }
    for (sectors, requests) in octaves.into_values() {
        let mean = ((sectors + requests / 2) / requests) as u32;
        match by_count.iter_mut().find(|(size, _)| *size == mean) {
            Some((_, count)) => *count += requests,
            None => by_count.push((mean, requests)),
        }
    }
    by_count.sort_unstable();
    by_count
}
