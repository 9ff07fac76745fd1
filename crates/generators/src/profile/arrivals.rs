//! When requests come: a Markov chain over classes of gaps, and how busy each stretch of the trace is.
//!
//! Classes are a factor of four wide, so that bursts of any scale keep their lengths: a short gap is followed by
//! another as often as it was. Slow changes, which no chain of gaps holds, are the durations of the stretches: the
//! long gaps of a stretch are scaled so that it lasts as long as it did.

use ninescope_kernel::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::{Spread, Weighted, from_quantiles};

/// Stretches of equal numbers of requests whose durations are known.
const ACTIVITY_STRETCHES: usize = 64;
const CLASSES: usize = 33;
const POINTS: usize = 9;

/// Gaps up to which the classes hold at most this share of all time are short, and are not scaled.
const SHORT_SHARE: f64 = 0.1;

/// What may be missing of a stretch's time at its end.
const MISSING_SHARE: f64 = 0.1;

/// Against a stretch that ends a rounding too late [requests].
const ROUNDING: f64 = 1e-9;

/// When requests come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalLaw {
    /// How long each stretch of equally many requests lasted [ns].
    pub stretches: Vec<u64>,
    /// The gaps, by length.
    pub gaps: Vec<GapClass>,
}

/// Gaps of about the same length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapClass {
    /// Least, greatest and quantiles at equal steps between [ns].
    #[schemars(length(min = 1))]
    pub lengths: Vec<u64>,
    /// Their mean [ns].
    #[schemars(range(min = 0))]
    pub mean: f64,
    /// `[entry, weight]`: the class of the gap after this one, as a place in the list, from 0.
    pub next: Vec<(u32, u64)>,
}

fn class_of(gap_ns: u64) -> usize {
    if gap_ns == 0 { 0 } else { 1 + gap_ns.ilog2() as usize / 2 }
}

/// The gaps of a trace under way.
pub(super) struct ArrivalBuilder {
    spreads: Vec<Spread>,
    follows: Vec<[u64; CLASSES]>,
    previous: Option<u64>,
    previous_class: Option<usize>,
    times: Vec<u64>,
    /// A time is kept of every so many requests.
    every: u64,
    requests: u64,
}

impl ArrivalBuilder {
    pub fn new() -> Self {
        Self {
            spreads: vec![Spread::default(); CLASSES],
            follows: vec![[0; CLASSES]; CLASSES],
            previous: None,
            previous_class: None,
            times: Vec::new(),
            every: 1,
            requests: 0,
        }
    }

    pub fn add(&mut self, time_ns: u64) {
        if let Some(previous) = self.previous.replace(time_ns) {
            let gap = time_ns - previous;
            let class = class_of(gap);
            self.spreads[class].add(gap);
            if let Some(before) = self.previous_class.replace(class) {
                self.follows[before][class] += 1;
            }
        }
        if self.requests.is_multiple_of(self.every) {
            self.times.push(time_ns);
            // As fine as needed and no finer: between 32 and 64 times per stretch.
            if self.times.len() > 64 * ACTIVITY_STRETCHES {
                let mut nth = 0;
                self.times.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.every *= 2;
            }
        }
        self.requests += 1;
    }

    pub fn finish(mut self) -> ArrivalLaw {
        self.times.extend(self.previous);
        let known: Vec<usize> = (0..CLASSES).filter(|&class| self.spreads[class].total > 0).collect();
        let place = |class: usize| known.iter().position(|&known| known == class).unwrap_or_default() as u32;
        let gaps = known.iter().map(|&class| {
            let spread = &self.spreads[class];
            let follows = self.follows[class].iter().enumerate().filter(|&(_, &count)| count > 0);
            GapClass {
                lengths: spread.quantiles(POINTS.min(spread.total as usize + 1)),
                mean: spread.sum / spread.total as f64,
                next: follows.map(|(class, &count)| (place(class), count)).collect(),
            }
        });
        let gaps = gaps.collect();
        let last = self.times.len().saturating_sub(1);
        let edge = |stretch: usize| self.times.get(stretch * last / ACTIVITY_STRETCHES).copied().unwrap_or_default();
        let stretches = (0..ACTIVITY_STRETCHES.min(last.max(1))).map(|stretch| {
            if last < ACTIVITY_STRETCHES { self.step(stretch, last) } else { edge(stretch + 1) - edge(stretch) }
        });
        ArrivalLaw { stretches: stretches.collect(), gaps }
    }

    /// A short trace has a stretch for each gap.
    fn step(&self, stretch: usize, last: usize) -> u64 {
        self.times[(stretch + 1).min(last)] - self.times[stretch]
    }
}

/// Times drawn from an [`ArrivalLaw`].
pub(super) struct Arrivals {
    lengths: Vec<Vec<u64>>,
    next: Vec<Weighted>,
    /// When each stretch ends [ns].
    ends: Vec<f64>,
    /// Requests of a stretch.
    per_stretch: f64,
    /// Classes from here on are long.
    first_long: usize,
    /// Time per request in short gaps, and in long ones [ns].
    short_ns: f64,
    long_ns: f64,
    class: Option<usize>,
    start: Weighted,
    now_ns: f64,
    drawn: u64,
    stretch: usize,
    stream: RandomStream,
}

impl Arrivals {
    /// For a trace of `requests`.
    pub fn new(law: &ArrivalLaw, requests: u64, stream: RandomStream) -> Self {
        let weight = |class: &GapClass| class.next.iter().map(|&(_, weight)| weight).sum::<u64>().max(1);
        let gaps: f64 = law.gaps.iter().map(|class| weight(class) as f64).sum::<f64>().max(1.0);
        let time_of = |class: &GapClass| weight(class) as f64 * class.mean / gaps;
        let mean_ns: f64 = law.gaps.iter().map(time_of).sum();
        let mut short_ns = 0.0;
        let first_long = law.gaps.iter().position(|class| {
            let is_long = short_ns + time_of(class) > mean_ns * SHORT_SHARE;
            short_ns += if is_long { 0.0 } else { time_of(class) };
            is_long
        });
        let places: Vec<(u32, u64)> = law.gaps.iter().zip(0..).map(|(class, place)| (place, weight(class))).collect();
        let mut end_ns = 0.0;
        let ends = law.stretches.iter().map(|&duration| {
            end_ns += duration as f64;
            end_ns
        });
        Self {
            ends: ends.collect(),
            per_stretch: requests.saturating_sub(1).max(1) as f64 / law.stretches.len().max(1) as f64,
            lengths: law.gaps.iter().map(|class| class.lengths.clone()).collect(),
            next: law.gaps.iter().map(|class| Weighted::new(&class.next)).collect(),
            start: Weighted::new(&places),
            first_long: first_long.unwrap_or(law.gaps.len()),
            short_ns,
            long_ns: mean_ns - short_ns,
            class: None,
            now_ns: 0.0,
            drawn: 0,
            stretch: 0,
            stream,
        }
    }

    /// The time of the next request [ns]; the first comes at 0.
    pub fn next(&mut self) -> f64 {
        self.drawn += 1;
        if self.drawn == 1 || self.lengths.is_empty() {
            return self.now_ns;
        }
        let law = self.class.and_then(|class| self.next[class].draw(&mut self.stream));
        let class = law.or_else(|| self.start.draw(&mut self.stream)).unwrap_or_default() as usize;
        self.class = Some(class);
        let gap = from_quantiles(&self.lengths[class], self.stream.unit());
        self.now_ns += if class < self.first_long { gap } else { self.long_gap(gap) };
        self.keep_up();
        self.now_ns
    }

    /// The stretch of the gap before the request that is drawn, counted on through repetitions, and when it ends.
    fn stretch_end(&self, stretch: usize) -> f64 {
        let (round, place) = (stretch / self.ends.len(), stretch % self.ends.len());
        let whole = self.ends.last().copied().unwrap_or_default();
        round as f64 * whole + self.ends[place]
    }

    /// At the end of a stretch in which too few long gaps were drawn, the time that is missing passes at once.
    fn keep_up(&mut self) {
        let stretch = ((self.drawn - 1) as f64 / self.per_stretch + ROUNDING) as usize;
        if stretch > self.stretch && !self.ends.is_empty() {
            self.stretch = stretch;
            let end_ns = self.stretch_end(stretch - 1);
            let begin_ns = stretch.checked_sub(2).map_or(0.0, |before| self.stretch_end(before));
            if end_ns - self.now_ns > MISSING_SHARE * (end_ns - begin_ns) {
                self.now_ns = end_ns;
            }
        }
    }

    /// A long gap, scaled so that what is left of the stretch fills what is left of its time.
    fn long_gap(&self, gap: f64) -> f64 {
        if self.ends.is_empty() {
            return gap;
        }
        let done = (self.drawn - 2) as f64;
        let stretch = (done / self.per_stretch + ROUNDING) as usize;
        let to_come = ((stretch + 1) as f64 * self.per_stretch - done).max(1.0);
        let left_ns = (self.stretch_end(stretch) - self.now_ns - to_come * self.short_ns).max(0.0);
        (gap * left_ns / (to_come * self.long_ns)).min(left_ns)
    }
}
