//! Draws from a profile and says in JSON what the requests are like, at the lengths asked for and at the end:
//! `stand_in PROFILE.toml SEED [LENGTH | SECONDS's']...`; of lengths of time it says what share of the rewrites comes
//! within them. `tools/stand_ins` calls it.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use ninescope_generators::profile::{Profile, ProfileWorkload};
use ninescope_model::{Op, PAGE_BYTES, Request, SECTOR_BYTES, Workload};
use ninescope_traces::LruStack;
use serde_json::{Value, json};

const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// Pages that are kept side by side.
const CHUNK: u64 = 512;
/// Buckets per power of two of the intervals.
const BUCKET_BITS: u32 = 8;
/// Sizes of LRU caches, in thousandths of the addresses at which requests begin: those of which miss ratios are published.
const LRU_PERMILLE: [u32; 8] = [1, 3, 10, 30, 100, 200, 400, 800];
/// Reads, and writes, of a window in which is counted how close together pages lie: of as many there are excerpts.
const WINDOWS: [u64; 2] = [5_820, 1_000];

#[derive(Clone, Copy, Default)]
struct Page {
    reads: u32,
    writes: u32,
    written_ns: u64,
}

/// How many other addresses were used since an address was used last: what an LRU cache of as many holds.
#[derive(Default)]
struct StackDistances {
    /// The addresses in the order in which they were new.
    numbers: BTreeMap<u64, usize>,
    stack: LruStack,
    /// Requests by their distance; new addresses are in none.
    counts: Vec<u64>,
    requests: u64,
}

impl StackDistances {
    fn add(&mut self, address: u64) {
        self.requests += 1;
        let new = self.numbers.len();
        let number = *self.numbers.entry(address).or_insert(new);
        let Some(distance) = self.stack.touch(number) else { return };
        let distance = distance as usize;
        if self.counts.len() <= distance {
            self.counts.resize(distance + 1, 0);
        }
        self.counts[distance] += 1;
    }

    /// The share of the requests that an LRU cache of a part of all addresses misses.
    fn missed(&self, permille: u32) -> f64 {
        let held = self.numbers.len() * permille as usize / 1_000;
        let hits: u64 = self.counts.iter().take(held).sum();
        1.0 - hits as f64 / self.requests.max(1) as f64
    }
}

/// How close together the requests of one operation lie that come within a window: how many pages they touch of each
/// 16 KiB that they touch, and how many they would if no two of them touched the same 16 KiB.
#[derive(Default)]
struct Closeness {
    window: u64,
    requests: u64,
    seen: Vec<(u64, u64)>,
    /// Pages and areas, of all together and of each by itself, over all windows.
    together: [u64; 2],
    apart: [u64; 2],
}

impl Closeness {
    const AREA_PAGES: u64 = 4;

    fn add(&mut self, pages: Range<u64>) {
        self.seen.push((pages.start, pages.end));
        self.requests += 1;
        if self.requests.is_multiple_of(self.window) {
            self.close_window();
        }
    }

    fn close_window(&mut self) {
        self.seen.sort_unstable();
        self.seen.dedup();
        let area = |page: u64| page / Self::AREA_PAGES;
        let (mut next_page, mut next_area) = (0, 0);
        for (start, end) in self.seen.drain(..) {
            self.apart[0] += end - start;
            self.apart[1] += area(end - 1) + 1 - area(start);
            // They come in order: what lies before the end of those before was counted.
            self.together[0] += end.saturating_sub(start.max(next_page));
            self.together[1] += (area(end - 1) + 1).saturating_sub(area(start).max(next_area));
            next_page = next_page.max(end);
            next_area = next_area.max(area(end - 1) + 1);
        }
    }

    /// Times as many pages of an area as requests by themselves touch.
    fn factor(&self) -> f64 {
        let density = |[pages, areas]: [u64; 2]| pages as f64 / areas.max(1) as f64;
        density(self.together) / density(self.apart).max(f64::MIN_POSITIVE)
    }
}

#[derive(Default)]
struct Measures {
    chunks: Vec<Option<Box<[Page]>>>,
    intervals: BTreeMap<u64, u64>,
    interval_sum: f64,
    requests: [u64; Op::ALL.len()],
    sectors: [u64; Op::ALL.len()],
    pages: [u64; Op::ALL.len()],
    multiple: u64,
    unaligned: u64,
    sequential: u64,
    last_end: u64,
    highest_end: u64,
    now_ns: u64,
    addresses: StackDistances,
    closeness: [Closeness; 2],
}

impl Measures {
    fn add(&mut self, request: &Request) {
        let (start, end, op) = (request.lba.0, request.end(), request.op as usize);
        self.now_ns = request.submitted.0;
        self.requests[op] += 1;
        self.sectors[op] += u64::from(request.sectors);
        let pages = start / PAGE_SECTORS..end.div_ceil(PAGE_SECTORS);
        self.pages[op] += pages.end - pages.start;
        self.multiple += u64::from(pages.end - pages.start > 1);
        self.unaligned += u64::from(!start.is_multiple_of(PAGE_SECTORS) || !end.is_multiple_of(PAGE_SECTORS));
        self.sequential += u64::from(start == self.last_end);
        self.last_end = end;
        self.highest_end = self.highest_end.max(end);
        self.addresses.add(start);
        self.closeness[usize::from(request.op == Op::Write)].add(pages.clone());
        for page in pages {
            self.touch(page, request.op == Op::Write);
        }
    }

    fn touch(&mut self, page: u64, is_write: bool) {
        let (chunk, place) = ((page / CHUNK) as usize, (page % CHUNK) as usize);
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let chunk = self.chunks[chunk].get_or_insert_with(|| vec![Page::default(); CHUNK as usize].into());
        let page = &mut chunk[place];
        if !is_write {
            page.reads += 1;
            return;
        }
        if page.writes > 0 {
            let interval = self.now_ns - page.written_ns;
            let dropped = u64::BITS.saturating_sub(interval.leading_zeros() + BUCKET_BITS + 1);
            *self.intervals.entry(interval >> dropped << dropped).or_default() += 1;
            self.interval_sum += interval as f64;
        }
        page.writes += 1;
        page.written_ns = self.now_ns;
    }

    fn interval_s(&self, share: f64) -> f64 {
        let total: u64 = self.intervals.values().sum();
        let wanted = (total as f64 * share).ceil() as u64;
        let mut seen = 0;
        let found = self.intervals.iter().find(|&(_, &count)| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0.0, |(&interval, _)| interval as f64 / 1e9)
    }

    /// The share of the rewrites that come within so many seconds.
    fn share_within(&self, seconds: f64) -> f64 {
        let total: u64 = self.intervals.values().sum();
        let within: u64 = self.intervals.range(..(seconds * 1e9) as u64).map(|(_, &count)| count).sum();
        within as f64 / total.max(1) as f64
    }

    fn finish(&self, seconds: &[f64]) -> Value {
        let touched = || self.chunks.iter().flatten().flat_map(|chunk| chunk.iter()).filter(|p| p.reads + p.writes > 0);
        let mut counts: Vec<u32> = touched().map(|page| page.writes).filter(|&writes| writes > 0).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let sum = |counts: &[u32]| counts.iter().copied().map(u64::from).sum::<u64>();
        let rewrites: u64 = self.intervals.values().sum();
        let [reads, writes, ..] = self.requests;
        let all = (reads + writes) as f64;
        let [read_bytes, write_bytes, ..] = self.sectors.map(|sectors| (sectors * SECTOR_BYTES) as f64);
        let page_writes = self.pages[Op::Write as usize];
        let mut found = json!({
            "requests": reads + writes,
            "reads": reads,
            "writes": writes,
            "write_share": writes as f64 / all,
            "mean_request_bytes": (read_bytes + write_bytes) / all,
            "mean_read_bytes": read_bytes / reads as f64,
            "mean_write_bytes": write_bytes / writes as f64,
            "bytes": read_bytes + write_bytes,
            "page_reads": self.pages[Op::Read as usize],
            "page_writes": page_writes,
            "pages": touched().count(),
            "read_pages": touched().filter(|page| page.reads > 0).count(),
            "written_pages": counts.len(),
            "rewritten_pages": counts.iter().filter(|&&writes| writes > 1).count(),
            "rewrite_ratio": 1.0 - counts.len() as f64 / page_writes.max(1) as f64,
            "top_1_percent_write_share": sum(&counts[..counts.len().div_ceil(100)]) as f64 / page_writes.max(1) as f64,
            "max_writes_to_a_page": counts.first(),
            "rewrite_p50_s": self.interval_s(0.5),
            "rewrite_p90_s": self.interval_s(0.9),
            "rewrite_p99_s": self.interval_s(0.99),
            "rewrites_within": seconds.iter().map(|&seconds| self.share_within(seconds)).collect::<Vec<f64>>(),
            "rewrite_mean_s": self.interval_sum / rewrites.max(1) as f64 / 1e9,
            "multiple_share": self.multiple as f64 / all,
            "unaligned_share": self.unaligned as f64 / all,
            "sequential_share": self.sequential as f64 / all,
            "duration_s": self.now_ns as f64 / 1e9,
            "span_bytes": self.highest_end * SECTOR_BYTES,
            "first_addresses": self.addresses.numbers.len(),
        });
        for (name, closeness) in ["read", "written"].into_iter().zip(&self.closeness) {
            found[format!("{name}_closeness")] = closeness.factor().into();
        }
        for permille in LRU_PERMILLE {
            found[format!("lru_missed_{permille}_permille")] = self.addresses.missed(permille).into();
        }
        found
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let profile: Profile = toml::from_str(&fs::read_to_string(&arguments[1])?)?;
    let (seconds, lengths): (Vec<&String>, Vec<&String>) = arguments[3..].iter().partition(|text| text.ends_with('s'));
    let lengths: Vec<u64> = lengths.iter().map(|length| length.parse()).collect::<Result<_, _>>()?;
    let seconds: Vec<f64> = seconds.iter().map(|text| text.trim_end_matches('s').parse()).collect::<Result<_, _>>()?;
    let mut workload = ProfileWorkload::new(&profile, None, arguments[2].parse()?)?;
    let closeness = WINDOWS.map(|window| Closeness { window, ..Closeness::default() });
    let mut measures = Measures { closeness, ..Measures::default() };
    let (mut drawn, mut seen) = (0, serde_json::Map::new());
    while let Some(request) = workload.next_request()? {
        measures.add(&request);
        drawn += 1;
        if lengths.contains(&drawn) {
            seen.insert(drawn.to_string(), measures.finish(&seconds));
        }
    }
    seen.insert("whole".to_owned(), measures.finish(&seconds));
    seen.insert("report".to_owned(), serde_json::to_value(workload.report())?);
    println!("{}", Value::Object(seen));
    Ok(())
}
