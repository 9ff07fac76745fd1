//! Profiles: what is drawn has the laws that it is drawn from, and a trace and its stand-in are alike.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_generators::profile::{
    AddressLaw, ArrivalLaw, Birth, Continuation, GapClass, ObjectLaw, Original, Part, PartLaw, Profile, ProfileBuilder,
    ProfileWorkload,
};
use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Lba, Op, Request, Workload};
use proptest::prelude::*;

const STRETCHES: usize = 16;

fn drawn(profile: &Profile, requests: Option<u64>, seed: u64) -> Vec<Request> {
    let mut workload = ProfileWorkload::new(profile, requests, seed).unwrap();
    std::iter::from_fn(|| workload.next_request().unwrap()).collect()
}

fn reduced(requests: &[Request]) -> Profile {
    let mut builder = ProfileBuilder::new();
    for request in requests {
        builder.add(request);
    }
    builder.finish("test", Vec::new())
}

/// A class of objects that are written first, in equal numbers all the time.
fn class(uses: u64, objects_per_stretch: u64, lags: &[u64], sizes: &[(u32, u64)]) -> ObjectLaw {
    let objects = objects_per_stretch * STRETCHES as u64;
    let whole = PartLaw { part: Part::Whole, after: vec![(Part::Whole, 1)], lags: lags.to_vec(), sizes: Vec::new() };
    ObjectLaw {
        op: Op::Write,
        uses,
        pages: 1,
        lag: lags.iter().sum::<u64>() / lags.len().max(1) as u64,
        total: uses * objects,
        births: vec![objects_per_stretch; STRETCHES],
        sizes: sizes.to_vec(),
        lie: vec![(Birth::Jump, 1)],
        next: Vec::new(),
        near: 0.0,
        follows: 0.0,
        ops: vec![(Op::Write, Op::Write, 1)],
        parts: if uses > 1 { vec![whole] } else { Vec::new() },
    }
}

fn profile(objects: Vec<ObjectLaw>, gaps: Vec<GapClass>, mean_gap_ns: u64) -> Profile {
    let requests: u64 = objects.iter().map(|law| law.total).sum();
    let duration = mean_gap_ns * (requests - 1);
    Profile {
        profile: 1,
        name: "made by hand".to_owned(),
        summary: String::new(),
        label: "profile".to_owned(),
        source: Vec::new(),
        original: Original {
            requests,
            duration: Duration(duration),
            footprint: Bytes(1 << 20),
            joins: 0,
            chains: 0,
            flushes: 0,
        },
        addresses: AddressLaw {
            span: Bytes(1 << 36),
            continues: Continuation::Again,
            phases: vec![(0, 1)],
            jumps: Vec::new(),
        },
        arrivals: ArrivalLaw { stretches: vec![duration], gaps },
        runs: Vec::new(),
        objects,
    }
}

/// Gaps of one length.
fn steady(gap_ns: u64) -> Vec<GapClass> {
    vec![GapClass { lengths: vec![gap_ns], mean: gap_ns as f64, next: vec![(0, 1)] }]
}

/// The distance of a sample from a distribution, as the share of the values that would have to move.
fn kolmogorov_smirnov(mut sample: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let count = sample.len() as f64;
    let step = |(rank, &value): (usize, &f64)| {
        let below = distribution(value);
        (below - rank as f64 / count).abs().max(((rank + 1) as f64 / count - below).abs())
    };
    sample.iter().enumerate().map(step).fold(0.0, f64::max)
}

#[test]
fn sizes_pass_a_chi_square_test_against_the_profile() {
    let sizes = [(8, 50), (16, 30), (24, 15), (64, 5)];
    let profile = profile(vec![class(1, 2_000, &[], &sizes)], steady(1_000), 1_000);
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    let requests = drawn(&profile, None, 3);
    for request in &requests {
        *counts.entry(request.sectors).or_default() += 1.0;
    }
    let expected = |weight: u64| requests.len() as f64 * weight as f64 / 100.0;
    let chi_square: f64 =
        sizes.iter().map(|&(size, weight)| (counts[&size] - expected(weight)).powi(2) / expected(weight)).sum();
    // Three degrees of freedom: 21.1 is the 99.99 % quantile.
    assert!(chi_square < 21.1, "chi-square {chi_square}");
    assert_eq!(counts.len(), sizes.len());
}

#[test]
fn lags_between_uses_follow_their_quantiles() {
    // Uniform from 100 to 300 by ratio: 16 equal steps of a geometric row.
    let lags: Vec<u64> = (0..=16).map(|step| (100.0 * libm::pow(3.0, f64::from(step) / 16.0)) as u64).collect();
    let profile = profile(vec![class(2, 1_000, &lags, &[(8, 1)])], steady(1_000), 1_000);
    let mut last: BTreeMap<u64, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, request) in drawn(&profile, None, 5).iter().enumerate() {
        if let Some(before) = last.insert(request.lba.0, index) {
            found.push((index - before) as f64);
        }
    }
    assert!(found.len() > 15_500, "{} of 16,000 objects are used again", found.len());
    let distance = kolmogorov_smirnov(found, |lag| (libm::log(lag / 100.0) / libm::log(3.0)).clamp(0.0, 1.0));
    // A place in the order of requests is not one in time: neighbours crowd by the square root of their number.
    assert!(distance < 0.06, "distance {distance}");
}

#[test]
fn each_class_of_objects_is_used_as_often_as_the_profile_says() {
    let laws = vec![
        class(1, 500, &[], &[(8, 1)]),
        class(4, 50, &[10, 100, 1_000], &[(16, 1)]),
        class(64, 2, &[5, 20, 300], &[(24, 1)]),
    ];
    let profile = profile(laws.clone(), steady(1_000), 1_000);
    let mut uses: BTreeMap<(u64, u32), u64> = BTreeMap::new();
    for request in drawn(&profile, None, 7) {
        *uses.entry((request.lba.0, request.sectors)).or_default() += 1;
    }
    for law in &laws {
        let sectors = law.sizes[0].0;
        let of_class: Vec<u64> = uses.iter().filter(|(key, _)| key.1 == sectors).map(|(_, &count)| count).collect();
        assert_eq!(of_class.len() as u64, law.objects(), "objects of {sectors} sectors");
        assert!(of_class.iter().all(|&count| count == law.uses), "{sectors} sectors: {of_class:?}");
    }
}

#[test]
fn gaps_follow_the_chain_of_their_classes() {
    // Bursts: a short gap follows a short one nine times in ten, a long one a long one half of the time. The share of
    // long gaps is 0.1 / (0.1 + 0.5).
    let gaps = vec![
        GapClass { lengths: vec![1_000, 2_000], mean: 1_442.7, next: vec![(0, 9), (1, 1)] },
        GapClass { lengths: vec![100_000, 200_000], mean: 144_270.0, next: vec![(0, 1), (1, 1)] },
    ];
    let mean = (1_442.7 * 5.0 + 144_270.0) / 6.0;
    let mut profile = profile(vec![class(1, 4_000, &[], &[(8, 1)])], gaps, mean as u64);
    // No stretches: gaps are what the chain draws, and nothing scales them.
    profile.arrivals.stretches = Vec::new();
    let requests = drawn(&profile, None, 11);
    let gaps: Vec<f64> = requests.windows(2).map(|pair| (pair[1].submitted.0 - pair[0].submitted.0) as f64).collect();
    let is_long: Vec<bool> = gaps.iter().map(|&gap| gap > 50_000.0).collect();
    let share = |of: &dyn Fn(&[bool]) -> bool, when: &dyn Fn(&[bool]) -> bool| {
        let met: Vec<&[bool]> = is_long.windows(2).filter(|pair| when(pair)).collect();
        met.iter().filter(|pair| of(pair)).count() as f64 / met.len() as f64
    };
    let after_short = share(&|pair| pair[1], &|pair| !pair[0]);
    let after_long = share(&|pair| pair[1], &|pair| pair[0]);
    // Five standard deviations of 53,000 and 10,600 draws.
    assert!((after_short - 0.1).abs() < 0.007, "long after short: {after_short}");
    assert!((after_long - 0.5).abs() < 0.025, "long after long: {after_long}");
    let long: Vec<f64> = gaps.iter().copied().filter(|&gap| gap > 50_000.0).collect();
    let distance = kolmogorov_smirnov(long, |gap| libm::log2(gap / 100_000.0).clamp(0.0, 1.0));
    // 1.95 / sqrt(10,600) is the 99.9 % quantile of the statistic.
    assert!(distance < 0.02, "distance {distance}");
}

#[test]
fn each_stretch_lasts_as_long_as_it_did() {
    let gaps = vec![
        GapClass { lengths: vec![1_000], mean: 1_000.0, next: vec![(0, 9), (1, 1)] },
        GapClass { lengths: vec![50_000, 150_000], mean: 91_000.0, next: vec![(0, 9), (1, 1)] },
    ];
    let mut profile = profile(vec![class(1, 4_000, &[], &[(8, 1)])], gaps, 10_000);
    let stretches = [100_000_000, 300_000_000, 50_000_000, 190_000_000];
    profile.arrivals.stretches = stretches.to_vec();
    let requests = drawn(&profile, None, 13);
    let quarter = requests.len() / 4;
    let mut begin = 0;
    for (number, &expected) in stretches.iter().enumerate() {
        let end = requests[((number + 1) * quarter).min(requests.len() - 1)].submitted.0;
        let lasted = (end - begin) as f64;
        assert!((lasted / expected as f64 - 1.0).abs() < 0.02, "stretch {number}: {lasted} for {expected}");
        begin = end;
    }
}

#[test]
fn beyond_the_original_the_same_objects_come_again_or_others() {
    let mut profile = profile(vec![class(2, 100, &[50, 100], &[(8, 1)])], steady(1_000), 1_000);
    let pages = |requests: &[Request]| requests.iter().map(|request| request.lba.0).collect::<BTreeSet<_>>().len();
    let once = drawn(&profile, None, 1);
    let again = drawn(&profile, Some(3 * once.len() as u64), 1);
    assert_eq!(again[..once.len()], once, "a longer trace begins as the shorter one");
    assert_eq!((pages(&once), pages(&again)), (1_600, 1_600));
    profile.addresses.continues = Continuation::Anew;
    let anew = drawn(&profile, Some(3 * once.len() as u64), 1);
    assert_eq!(pages(&anew), 4_800);
    assert_eq!(drawn(&profile, Some(10), 1), anew[..10]);
}

#[test]
fn the_seed_alone_decides() {
    let profile = profile(vec![class(4, 100, &[1, 10, 100], &[(8, 3), (32, 1)])], steady(500), 500);
    assert_eq!(drawn(&profile, None, 1), drawn(&profile, None, 1));
    assert_ne!(drawn(&profile, None, 1), drawn(&profile, None, 2));
}

/// A log that is appended to off page boundaries, a table that is read in runs, and hot pages that are updated.
fn original(requests: usize) -> Vec<Request> {
    let mut stream = RandomStream::new(1, "test", "original");
    let (mut now, mut log, mut scan) = (0, 1_000_000, 0);
    let mut trace = Vec::new();
    while trace.len() < requests {
        now += if stream.below(10) == 0 { 1_000_000 } else { 20_000 };
        let (op, lba, sectors) = match stream.below(10) {
            0 | 1 => {
                log += 12;
                (Op::Write, log - 4, 16)
            }
            2..=4 => {
                scan = (scan + 64) % 128_000;
                (Op::Read, 10_000_000 + scan, 64)
            }
            _ => (Op::Write, 8 * (stream.below(60) * stream.below(60)), 8),
        };
        trace.push(Request { submitted: Ns(now), lba: Lba(lba), sectors, op, ..Request::default() });
    }
    trace
}

/// Footprint, footprint written and page writes.
fn pages_of(trace: &[Request]) -> (f64, f64, f64) {
    let (mut touched, mut written, mut writes) = (BTreeSet::new(), BTreeSet::new(), 0);
    for request in trace {
        for page in request.lba.0 / 8..request.end().div_ceil(8) {
            touched.insert(page);
            if request.op == Op::Write {
                written.insert(page);
                writes += 1;
            }
        }
    }
    (touched.len() as f64, written.len() as f64, f64::from(writes))
}

#[test]
fn a_trace_and_its_stand_in_are_alike() {
    let trace = original(40_000);
    let profile = reduced(&trace);
    let stand_in = drawn(&profile, None, 2);
    assert_eq!(stand_in.len(), trace.len());
    let (expected, found) = (pages_of(&trace), pages_of(&stand_in));
    for (name, expected, found) in [
        ("footprint", expected.0, found.0),
        ("written footprint", expected.1, found.1),
        ("page writes", expected.2, found.2),
        ("duration", trace[39_999].submitted.0 as f64, stand_in[39_999].submitted.0 as f64),
    ] {
        assert!((found / expected - 1.0).abs() < 0.05, "{name}: {found} for {expected}");
    }
    let reads = |trace: &[Request]| trace.iter().filter(|request| request.op == Op::Read).count() as f64;
    assert!((reads(&stand_in) / reads(&trace) - 1.0).abs() < 0.05);
    assert!(toml::to_string(&profile).unwrap().len() < 64 << 10, "a profile is small");
}

#[test]
fn no_address_of_the_trace_stands_in_its_profile() {
    let trace = original(5_000);
    let text = toml::to_string(&reduced(&trace)).unwrap();
    let numbers: BTreeSet<&str> = text.split(|letter: char| !letter.is_ascii_digit()).collect();
    let large: Vec<u64> = trace.iter().map(|request| request.lba.0).filter(|&lba| lba > 10_000_000).collect();
    assert!(large.iter().all(|lba| !numbers.contains(lba.to_string().as_str())));
}

type Change = fn(&mut Profile);

#[test]
fn an_impossible_constraint_is_named_with_what_it_lacks() {
    let good = profile(vec![class(2, 100, &[50, 100], &[(8, 1)])], steady(1_000), 1_000);
    good.validate().unwrap();
    let cases: [(Change, &str); 17] = [
        (|profile| profile.original.joins = 4_000, "original.joins: 4000 are 800 more than all uses of objects"),
        (|profile| profile.original.duration = Duration(1), "original.duration: 1ns is 3198999 ns off the sum"),
        (|profile| profile.arrivals.gaps[0].mean = 2e3, "arrivals.gaps[0].mean: 2000 lies outside the lengths, 1000"),
        (|profile| profile.profile = 2, "profile: version 2 is not 1"),
        (
            |profile| profile.original.requests += 5,
            "original.requests: 3205 are 5 more than all uses less joins and all flushes are, 3200",
        ),
        (
            |profile| profile.original.footprint = Bytes((1 << 36) + 4096),
            "original.footprint: 67108868KiB do not fit into addresses.span = 64GiB: 4096 bytes too many",
        ),
        (|profile| profile.original.flushes = 4_000, "original.flushes: 800 more than there are requests"),
        (|profile| profile.objects[0].total = 3_000, "objects[0].total: 3000 are 200 fewer than 1600 objects need"),
        (|profile| profile.objects[0].total = 5_000, "objects[0].total: 5000 are 200 more than 1600 objects take"),
        (|profile| profile.objects[0].uses = 3, "objects[0].uses: 3 is no power of two"),
        (|profile| profile.objects[0].near = 1.5, "objects[0].near: 1.5 is no share from 0 to 1"),
        (|profile| profile.objects[0].births.clear(), "objects[0].births: 0 stretches where the first class has 0"),
        (|profile| profile.objects[0].sizes[0].0 = 0, "objects[0].sizes: 0 lies outside 1 to 2097152 sectors"),
        (|profile| profile.objects[0].parts.clear(), "objects[0].parts: objects are used again, but no part"),
        (
            |profile| profile.objects[0].parts[0].lags = vec![9, 3],
            "objects[0].parts[0].lags: 9 is followed by 3; they ascend",
        ),
        (|profile| profile.addresses.phases = vec![(8, 1)], "addresses.phases: 8 is not below 8 sectors"),
        (|profile| profile.arrivals.gaps[0].next = vec![(1, 1)], "arrivals.gaps[0].next: there is no entry 1"),
    ];
    for (change, expected) in cases {
        let mut bad = good.clone();
        change(&mut bad);
        let message = bad.validate().unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
        assert!(ProfileWorkload::new(&bad, None, 1).is_err());
    }
}

fn any_request() -> impl Strategy<Value = (u64, u8, u64, u32)> {
    (prop_oneof![Just(0), 1_u64..100, 1_u64 << 30..1 << 34], 0_u8..4, 0_u64..5_000, 1_u32..300)
}

proptest! {
    #[test]
    fn every_trace_has_a_profile_to_draw_from(rows in prop::collection::vec(any_request(), 1..300), seed in any::<u64>()) {
        let mut now = 0;
        let trace: Vec<Request> = rows.iter().map(|&(gap, op, lba, sectors)| {
            now += gap;
            let op = Op::ALL[op as usize];
            let (lba, sectors) = if op == Op::Flush { (0, 0) } else { (lba, sectors) };
            Request { submitted: Ns(now), lba: Lba(lba), sectors, op, ..Request::default() }
        }).collect();
        let profile = reduced(&trace);
        prop_assert_eq!(profile.validate(), Ok(()));
        let text = toml::to_string(&profile).unwrap();
        prop_assert_eq!(&toml::from_str::<Profile>(&text).unwrap(), &profile);
        let stand_in = drawn(&profile, Some(2 * trace.len() as u64), seed);
        prop_assert_eq!(stand_in.len(), 2 * trace.len());
        prop_assert!(stand_in.is_sorted_by_key(|request| request.submitted));
        for request in &stand_in {
            prop_assert!(request.end() <= profile.addresses.span.0 / 512);
            prop_assert_eq!(request.sectors == 0, request.op == Op::Flush);
        }
    }
}
