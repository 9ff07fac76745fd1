//! Requests drawn from a profile.

use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::{Arrival, Lba, Op, Request, SECTOR_BYTES, TIME_MAX, Workload, WorkloadError};
use serde::Serialize;

use super::arrivals::Arrivals;
use super::draw::{Choice, Weighted, from_quantiles};
use super::extents::{Ends, Extents, PAGE_SECTORS};
use super::laws::{Continuation, JumpLaw, ObjectLaw};
use super::population::{Newborn, Population, Step};
use super::{Birth, Profile, ProfileError};

/// Draws of a place for a new object before it takes known addresses.
const PLACES_TRIED: usize = 32;
/// New objects that wait for a request to be joined to.
const WAITING_MAX: usize = 16;

/// How far the requests so far are what the profile asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GeneratorReport {
    /// Requests drawn.
    pub requests: u64,
    /// New objects that should have gone on with a run or with another object where there was none.
    pub replaced: u64,
    /// Uses that should have been in one request with another, found none, and were left out.
    pub left_out: u64,
    /// New objects that found the span too full for them and took known addresses.
    pub crowded: u64,
}

/// A new object that waits for the request that it is joined to.
struct Waiting {
    newborn: Newborn,
    op: Op,
    sectors: u32,
}

/// A stream of requests with a profile's laws. The same profile and seed give the same requests.
pub struct ProfileWorkload {
    population: Population,
    /// Which of the latest ends of each operation a run goes on from.
    ends_taken: [Weighted; Op::ALL.len()],
    /// How the new objects of each class lie.
    lie: Vec<Choice>,
    waiting: Vec<Waiting>,
    /// Sizes of new objects by class.
    sizes: Vec<Weighted>,
    phases: Weighted,
    span_pages: u64,
    extents: Extents,
    ends: Ends,
    /// Where what was joined to others ended.
    logs: Ends,
    /// Where objects lie, in the order in which they were new.
    born: Vec<(u64, u64)>,
    jumps: Vec<JumpLaw>,
    /// Where the objects of each class lie, if they come again.
    places: Option<Vec<Vec<(u64, u64)>>>,
    arrivals: Arrivals,
    flush_share: f64,
    wanted: u64,
    stream: RandomStream,
    report: GeneratorReport,
}

impl ProfileWorkload {
    /// `requests` of them, or as many as the original had.
    ///
    /// # Errors
    /// When the profile contradicts itself.
    pub fn new(profile: &Profile, requests: Option<u64>, seed: u64) -> Result<Self, ProfileError> {
        profile.validate()?;
        let stream = |purpose| RandomStream::new(seed, &profile.name, purpose);
        let original = &profile.original;
        let wanted = requests.unwrap_or(original.requests);
        let comes_again = wanted > original.requests && profile.addresses.continues == Continuation::Again;
        let addressed = original.requests - original.flushes;
        Ok(Self {
            population: Population::new(
                &profile.objects,
                addressed,
                original.joins,
                original.chains,
                stream("objects"),
            ),
            ends_taken: Op::ALL.map(|op| {
                let ends = profile.runs.iter().filter(|law| law.op == op).flat_map(|law| law.ends.iter().copied());
                Weighted::new(&ends.collect::<Vec<_>>())
            }),
            lie: profile.objects.iter().map(|law| Choice::new(births(law))).collect(),
            waiting: Vec::new(),
            sizes: profile.objects.iter().map(|law| Weighted::new(&law.sizes)).collect(),
            phases: Weighted::new(&profile.addresses.phases),
            span_pages: profile.addresses.span.0 / SECTOR_BYTES / PAGE_SECTORS,
            extents: Extents::default(),
            ends: Ends::default(),
            logs: Ends::default(),
            born: Vec::new(),
            jumps: profile.addresses.jumps.clone(),
            places: comes_again.then(|| vec![Vec::new(); profile.objects.len()]),
            arrivals: Arrivals::new(&profile.arrivals, original.requests, stream("arrivals")),
            flush_share: original.flushes as f64 / original.requests as f64,
            wanted,
            stream: stream("requests"),
            report: GeneratorReport::default(),
        })
    }

    /// How far the requests so far are what the profile asked for.
    pub fn report(&self) -> GeneratorReport {
        GeneratorReport { left_out: self.population.left_out, ..self.report }
    }

    fn limit(&self) -> u64 {
        self.span_pages * PAGE_SECTORS
    }

    /// First sector, end and operation of the next request that has an address.
    fn draw(&mut self) -> Option<(u64, u64, Op)> {
        loop {
            match self.population.step(&self.extents)? {
                Step::Use { start, end, op, at_end, .. } => {
                    let end = if at_end { self.join_waiting(end, op) } else { end };
                    return Some((start, end, op));
                }
                Step::Birth(newborn) => {
                    if let Some(request) = self.bear(newborn) {
                        return Some(request);
                    }
                }
            }
        }
    }

    /// A new object gets its place, or the one it had in an earlier repetition; or it waits for a request to join.
    fn bear(&mut self, newborn: Newborn) -> Option<(u64, u64, Op)> {
        let law = self.population.law(newborn.class);
        let (op, objects) = (law.op, law.objects().max(1));
        let known =
            self.places.as_ref().and_then(|places| places[newborn.class].get((newborn.number % objects) as usize));
        if newborn.number >= objects
            && let Some(&(start, end)) = known
        {
            let number = self.population.settle(&newborn, start, end);
            self.extents.renumber(start, end, number);
            return Some((start, end, op));
        }
        let sectors = self.sizes[newborn.class].draw(&mut self.stream).unwrap_or(PAGE_SECTORS as u32);
        let birth = self.lie[newborn.class].draw(&mut self.stream).map_or(Birth::Jump, |place| Birth::ALL[place]);
        let found = match birth {
            Birth::Joined => {
                if let Some((start, tail)) = self.behind_log(&newborn, op, sectors) {
                    let end = self.settle(&newborn, tail, sectors);
                    self.logs.go_on(op, tail, end);
                    return Some((start, end, op));
                }
                self.waiting.push(Waiting { newborn, op, sectors });
                return if self.waiting.len() > WAITING_MAX { Some(self.stop_waiting()) } else { None };
            }
            Birth::Run => {
                let found = self.place_in_run(op, sectors);
                self.report.replaced += u64::from(found.is_none());
                found
            }
            Birth::Jump => None,
        };
        let start = found.unwrap_or_else(|| self.place_anew(op, sectors));
        let end = self.settle(&newborn, start, sectors);
        Some((start, end, op))
    }

    /// Where a request begins and ends that goes on with a log: what was joined to others last. A log begins again in
    /// its last page, if that is still to be used.
    fn behind_log(&mut self, newborn: &Newborn, op: Op, sectors: u32) -> Option<(u64, u64)> {
        let (limit, sectors) = (self.limit(), u64::from(sectors));
        let fits = |&end: &u64| end + sectors <= limit && self.extents.room(end, sectors) == sectors;
        let end = self.logs.latest(op).find(fits)?;
        let start = self.population.use_tail(newborn, end, op, &self.extents);
        if start.is_none() {
            self.population.miss_tail();
        }
        Some((start.unwrap_or(end), end))
    }

    /// A new object that waits is joined to a request of its operation that ends where there is room.
    fn join_waiting(&mut self, end: u64, op: Op) -> u64 {
        let limit = self.limit();
        let room = limit.saturating_sub(end).min(u64::from(u32::MAX));
        let room = if self.waiting.is_empty() { 0 } else { self.extents.room(end, room) };
        let fits = |waiting: &Waiting| waiting.op == op && u64::from(waiting.sectors) <= room;
        let Some(place) = self.waiting.iter().position(fits) else { return end };
        let waiting = self.waiting.remove(place);
        let joined = self.settle(&waiting.newborn, end, waiting.sectors);
        self.logs.go_on(op, end, joined);
        joined
    }

    /// The object that waited longest gets a request of its own.
    fn stop_waiting(&mut self) -> (u64, u64, Op) {
        let Waiting { newborn, op, sectors } = self.waiting.remove(0);
        self.report.replaced += 1;
        self.population.miss_tail();
        let start = self.place_in_run(op, sectors).unwrap_or_else(|| self.place_anew(op, sectors));
        let end = self.settle(&newborn, start, sectors);
        self.logs.go_on(op, start, end);
        (start, end, op)
    }

    /// Puts a new object in its place; returns its end.
    fn settle(&mut self, newborn: &Newborn, start: u64, sectors: u32) -> u64 {
        let end = (start + u64::from(sectors)).min(self.limit());
        let room = self.extents.room(start, end - start);
        let number = self.population.settle(newborn, start, end);
        if room == end - start {
            self.extents.insert(start, end, number);
        } else {
            self.report.crowded += 1;
        }
        self.born.push((start, end));
        if let Some(places) = &mut self.places {
            places[newborn.class].push((start, end));
        }
        end
    }

    fn place_anew(&mut self, op: Op, sectors: u32) -> u64 {
        let phase = u64::from(self.phases.draw(&mut self.stream).unwrap_or_default());
        let pages = (phase + u64::from(sectors)).div_ceil(PAGE_SECTORS);
        let places = self.span_pages.saturating_sub(pages) + 1;
        let wanted = u64::from(sectors);
        for _ in 0..PLACES_TRIED {
            let Some(page) = self.draw_page(op, pages) else { continue };
            let start = page * PAGE_SECTORS + phase;
            if page < places && self.extents.room(start, wanted) == wanted {
                return start;
            }
        }
        let mut drawn = (0..PLACES_TRIED).map(|_| self.stream.below(places) * PAGE_SECTORS + phase);
        let found = drawn.find(|&start| self.extents.room(start, wanted) == wanted);
        found.unwrap_or_else(|| self.stream.below(places) * PAGE_SECTORS)
    }

    /// The first page of a new object of `pages`: as far from a known one as the law says.
    fn draw_page(&mut self, op: Op, pages: u64) -> Option<u64> {
        let law = self.jumps.iter().find(|law| law.op == op)?;
        let distance = from_quantiles(&law.distances, self.stream.unit()) as u64;
        let age = from_quantiles(&law.ages, self.stream.unit()) as usize;
        let (start, end) = *self.born.get(self.born.len().checked_sub(age.max(1))?)?;
        if self.stream.unit() < law.behind {
            end.div_ceil(PAGE_SECTORS).checked_add(distance)
        } else {
            (start / PAGE_SECTORS).checked_sub(distance)?.checked_sub(pages)
        }
    }

    /// A place where an earlier request ended and there is room, as far back as is wanted or nearly.
    fn place_in_run(&mut self, op: Op, sectors: u32) -> Option<u64> {
        let wanted = self.ends_taken[op as usize].draw(&mut self.stream).unwrap_or(1) as usize;
        let (limit, sectors) = (self.limit(), u64::from(sectors));
        let fits = |end: u64| end + sectors <= limit && self.extents.room(end, sectors) == sectors;
        let ends = self.ends.latest(op).zip(1..).filter(|&(end, _)| fits(end));
        ends.min_by_key(|&(_, nth): &(u64, usize)| nth.abs_diff(wanted)).map(|(end, _)| end)
    }
}

/// Weights of [`Birth::ALL`].
fn births(law: &ObjectLaw) -> impl Iterator<Item = f64> + '_ {
    Birth::ALL.into_iter().map(|birth| {
        let weights = law.lie.iter().filter(|entry| entry.0 == birth).map(|entry| entry.1);
        weights.sum::<u64>() as f64
    })
}

impl Workload for ProfileWorkload {
    fn arrival(&self) -> Arrival {
        Arrival::Open
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.report.requests >= self.wanted {
            return Ok(None);
        }
        let submitted = Ns(self.arrivals.next() as u64);
        if submitted > TIME_MAX {
            self.wanted = self.report.requests;
            let error = ProfileError::new("arrivals", "the requests asked for reach beyond 73 years");
            return Err(WorkloadError::new(error));
        }
        self.report.requests += 1;
        let flush = Request { submitted, op: Op::Flush, ..Request::default() };
        if self.flush_share > 0.0 && self.stream.unit() < self.flush_share {
            return Ok(Some(flush));
        }
        let Some((start, end, op)) = self.draw() else { return Ok(Some(flush)) };
        self.ends.go_on(op, start, end);
        let sectors = (end - start) as u32;
        Ok(Some(Request { submitted, lba: Lba(start), sectors, op, ..Request::default() }))
    }
}
