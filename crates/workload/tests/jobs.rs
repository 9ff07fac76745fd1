//! Synthetic jobs: their description and what they draw.

mod common;

use common::drain;
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Op, Request};
use ninescope_workload::{AccessPattern, AddressDistribution, Arrival, JobConfig, RateProcess, SyntheticJob, Workload};

const DRIVE_SECTORS: u64 = 1 << 21;

fn job(text: &str) -> JobConfig {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn draw(text: &str) -> Vec<Request> {
    draw_seeded(text, 7)
}

fn draw_seeded(text: &str, seed: u64) -> Vec<Request> {
    let mut job = SyntheticJob::new(job(text), DRIVE_SECTORS, seed).unwrap_or_else(|error| panic!("{text}: {error}"));
    drain(&mut job).expect("a job cannot fail")
}

#[test]
fn a_job_file_speaks_fio() {
    let read = job("name = 'a'\nrw = 'randrw'\nbs = '16k'\nrwmixread = 70\niodepth = 32\n\
        random_distribution = 'zipf:1.2'\noffset = '1MiB'\nsize = '64MiB'\nnumber_ios = 1000\nduration = '5s'\n\
        rate_iops = 2e4\nrate_process = 'poisson'\nblockalign = 4096\nflush_every = 10");
    let expected = JobConfig {
        name: "a".to_owned(),
        rw: AccessPattern::RandRw,
        bs: Bytes(16_384),
        bssplit: None,
        percentage_random: 100,
        rwmixread: 70,
        iodepth: 32,
        random_distribution: AddressDistribution::Zipf(1.2),
        offset: Bytes(1 << 20),
        size: Some(Bytes(64 << 20)),
        requests: Some(1000),
        duration: Some(Duration(5_000_000_000)),
        rate_iops: Some(2e4),
        rate_process: RateProcess::Poisson,
        blockalign: Some(Bytes(4096)),
        flush_every: Some(10),
    };
    assert_eq!(read, expected);
    let text = toml::to_string(&expected).expect("is plain data");
    assert_eq!(job(&text), expected, "{text}");
    assert_eq!(job(&toml::to_string(&JobConfig::default()).expect("is plain data")), JobConfig::default());
}

#[test]
fn what_has_no_meaning_is_named_by_its_key() {
    let cases = [
        ("rwmixread = 101", "rwmixread: 101"),
        ("bs = 0", "bs: 0B"),
        ("bs = 1000", "bs: 1KB is not a positive multiple of 512"),
        ("bs = '4TiB'", "bs: 4TiB is too large"),
        ("bs = '2GiB'", "bs: a region of 1GiB does not hold a request of 2GiB"),
        ("iodepth = 0", "iodepth: 0"),
        ("percentage_random = 101", "percentage_random: 101"),
        ("offset = 100", "offset: 100B"),
        ("offset = '1GiB'", "offset: 1GiB lies beyond the drive of 1GiB"),
        ("size = '2GiB'", "size: 2GiB is more than the 1GiB"),
        ("size = '1KiB'", "size: a region of 1KiB does not hold"),
        ("requests = 0", "requests: 0"),
        ("flush_every = 0", "flush_every: 0"),
        ("rate_iops = 0.0", "rate_iops: 0"),
        ("rate_iops = nan", "rate_iops: NaN"),
        ("rw = 'randread'\nblockalign = 100", "blockalign: 100B"),
        ("duration = '1000000h'", "duration: is longer than 73 years"),
        ("rate_iops = 0.001\nrequests = 2_400_000", "requests: 2400000 requests at 0.001 per second take more than"),
    ];
    for (text, message) in cases {
        let error = job(text).validate(DRIVE_SECTORS * 512).expect_err(text).to_string();
        assert!(error.starts_with(message), "{error}");
    }
    for (text, message) in [
        ("random_distribution = 'zipf:-1'", "range of theta"),
        ("random_distribution = 'zoned:60/10'", "share out 100 %"),
        ("random_distribution = 'zoned:60/10:40/90,50/50:50/50'", "each direction"),
        ("random_distribution = 'zoned:100/0:0/100'", "zone without blocks"),
        ("random_distribution = 'hotcold:101/10'", "more than 100 %"),
        ("bssplit = '4k/60:8k/60'", "120 %"),
        ("bssplit = '4k/60:8k/30'", "90 %"),
        ("bssplit = '5k1'", "bssplit: `5k1`"),
        ("bssplit = '1k,1k,1k,1k'", "three directions"),
        ("random_distribution = 'zipf:x'", "zipf:<theta>"),
        ("random_distribution = 'pareto:2'", "`pareto:2` lies outside"),
        ("rw = 'sideways'", "randrw"),
        ("block = 4096", "blockalign"),
        ("bs = '4x'", "`4x`"),
    ] {
        let error = toml::from_str::<JobConfig>(text).expect_err(text).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_sequential_job_wraps_at_the_end_of_its_region() {
    let all = draw("rw = 'write'\nbs = '8k'\noffset = '4k'\nsize = '28k'\nrequests = 5");
    assert_eq!(all.iter().map(|request| request.lba.0).collect::<Vec<_>>(), [8, 24, 40, 8, 24]);
    assert!(all.iter().all(|request| request.op == Op::Write && request.sectors == 16 && request.submitted.0 == 0));
    assert_eq!(draw("rw = 'trim'\nsize = '28k'").len(), 7, "without a limit the region is covered once");
}

#[test]
fn a_mixed_sequential_job_has_one_position_per_direction() {
    let all = draw("rw = 'rw'\nrwmixread = 30\nrequests = 1000");
    for op in [Op::Read, Op::Write] {
        let places: Vec<u64> = all.iter().filter(|request| request.op == op).map(|request| request.lba.0 / 8).collect();
        assert!(places.iter().copied().eq(0..places.len() as u64));
    }
}

#[test]
fn a_random_job_stays_in_its_region_on_its_grid() {
    let all = draw("rw = 'randread'\nbs = '4k'\nblockalign = 512\noffset = '1M'\nsize = '10k'\nrequests = 10000");
    let places: std::collections::BTreeSet<u64> = all.iter().map(|request| request.lba.0).collect();
    assert!(places.into_iter().eq(2048..2048 + 13), "every sector from which 4 KiB fit into 10 KiB");
    let aligned = draw("rw = 'randwrite'\nbs = '16k'\nrequests = 10000");
    assert!(aligned.iter().all(|request| request.lba.0.is_multiple_of(32) && request.end() <= DRIVE_SECTORS));
}

#[test]
fn the_mix_is_drawn_with_its_chance() {
    for (percent, low, high) in [(0, 0, 0), (70, 69_300, 70_700), (100, 100_000, 100_000)] {
        let all = draw(&format!("rw = 'randrw'\nrwmixread = {percent}\nrequests = 100000"));
        let reads = all.iter().filter(|request| request.op == Op::Read).count();
        // The standard deviation at 70 % is 145.
        assert!((low..=high).contains(&reads), "{reads} reads at {percent} %");
    }
}

#[test]
fn a_flush_follows_every_so_many_writes() {
    let all = draw("rw = 'randwrite'\nrequests = 6\nflush_every = 2\nrate_iops = 1000.0");
    let ops: Vec<Op> = all.iter().map(|request| request.op).collect();
    assert!(ops.chunks(3).all(|chunk| chunk == [Op::Write, Op::Write, Op::Flush]) && ops.len() == 9);
    assert!(all.windows(2).all(|pair| pair[0].submitted <= pair[1].submitted));
    assert!(all.iter().filter(|request| request.op == Op::Flush).all(|flush| flush.sectors == 0));
}

#[test]
fn linear_arrivals_do_not_drift() {
    let all = draw("requests = 3001\nrate_iops = 3000.0");
    assert_eq!([0, 1, 2, 3, 3000].map(|index| all[index].submitted.0), [0, 333_333, 666_667, 1_000_000, 1_000_000_000]);
}

#[test]
fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
    let config = "rw = 'randread'\nrequests = 200000\nrate_iops = 50000.0\nrate_process = 'poisson'";
    let all = draw(config);
    let gaps: Vec<f64> =
        all.windows(2).map(|pair| (pair[1].submitted.0 - pair[0].submitted.0) as f64 / 20_000.0).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
    // Both are 1; their standard deviations are 0.0022 and 0.0063.
    assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "mean {mean}, variance {variance}");
    let open = SyntheticJob::new(job(config), DRIVE_SECTORS, 7).expect("is valid");
    assert_eq!(open.arrival(), Arrival::Open);
    assert_eq!(SyntheticJob::new(JobConfig::default(), 1024, 7).map(|job| job.arrival()), Ok(Arrival::Closed));
}

#[test]
fn a_zipf_job_has_hot_blocks_that_are_spread_over_the_region() {
    let all = draw("rw = 'randread'\nrequests = 300000\nrandom_distribution = 'zipf:1.0'\nsize = '40000KiB'");
    let mut counts = vec![0_u32; 10_000];
    for request in &all {
        counts[(request.lba.0 / 8) as usize] += 1;
    }
    let mut hottest: Vec<usize> = (0..counts.len()).collect();
    hottest.sort_unstable_by_key(|&block| std::cmp::Reverse(counts[block]));
    // The share of rank 1 is 1 / H(10000) = 1 / 9.7876; the first 100 ranks have 5.1874 / 9.7876.
    let share =
        |ranks: usize| hottest[..ranks].iter().map(|&block| f64::from(counts[block])).sum::<f64>() / all.len() as f64;
    assert!((share(1) - 0.1022).abs() < 0.003, "{}", share(1));
    assert!((share(100) - 0.530).abs() < 0.01, "{}", share(100));
    let in_first_half = hottest[..100].iter().filter(|&&block| block < 5_000).count();
    assert!((30..=70).contains(&in_first_half), "{in_first_half} of the 100 hottest lie in the first half");
}

#[test]
fn seeds_and_names_change_the_draws_and_nothing_else_does() {
    let text = "rw = 'randrw'\nrequests = 100";
    assert_eq!(draw_seeded(text, 1), draw_seeded(text, 1));
    assert_ne!(draw_seeded(text, 1), draw_seeded(text, 2));
    assert_ne!(draw_seeded(text, 1), draw_seeded(&format!("{text}\nname = 'other'"), 1));
    let addresses = |text: &str| draw(text).iter().map(|request| request.lba.0).collect::<Vec<_>>();
    let skewed_mix = format!("{text}\nrwmixread = 10\nrate_iops = 1000.0\nrate_process = 'poisson'");
    assert_eq!(addresses(text), addresses(&skewed_mix), "mix and arrivals have streams of their own");
}

#[test]
fn a_job_with_a_duration_goes_on_until_the_engine_ends_it() {
    let config = job("rw = 'randread'\nsize = '8k'\nduration = '1s'");
    let mut endless = SyntheticJob::new(config, DRIVE_SECTORS, 7).expect("is valid");
    assert!((0..1000).all(|_| endless.next_request().expect("a job cannot fail").is_some()));
}

/// The share of the requests that begin in the first so many percent of the region of 100 blocks.
fn share_below(all: &[Request], percent: u64) -> f64 {
    all.iter().filter(|request| request.lba.0 / 8 < percent).count() as f64 / all.len() as f64
}

#[test]
fn zones_get_their_share_of_the_accesses() {
    let all = draw(
        "rw = 'randread'\nrequests = 100000\nsize = '400KiB'\nrandom_distribution = 'zoned:60/10:30/20:8/30:2/40'",
    );
    for (percent, expected) in [(10, 0.6), (30, 0.9), (60, 0.98), (100, 1.0)] {
        assert!((share_below(&all, percent) - expected).abs() < 0.01, "{percent}");
    }
}

#[test]
fn a_hot_zone_is_spread_over_the_region() {
    let all = draw("rw = 'randwrite'\nrequests = 100000\nsize = '400KiB'\nrandom_distribution = 'hotcold:90/10'");
    let mut counts = [0_u32; 100];
    for request in &all {
        counts[(request.lba.0 / 8) as usize] += 1;
    }
    let hot: Vec<usize> = (0..100).filter(|&block| counts[block] > 4_000).collect();
    assert_eq!(hot.len(), 10, "{counts:?}");
    assert!(hot.iter().any(|&block| block >= 50) && hot.iter().any(|&block| block < 50), "{hot:?}");
}

#[test]
fn pareto_sends_all_but_the_share_h_to_the_share_h() {
    let all = draw("rw = 'randread'\nrequests = 200000\nsize = '4000KiB'\nrandom_distribution = 'pareto:0.2'");
    let mut counts = vec![0_u32; 1000];
    for request in &all {
        counts[(request.lba.0 / 8) as usize] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hot = f64::from(counts[..200].iter().sum::<u32>()) / 200_000.0;
    assert!((hot - 0.8).abs() < 0.02, "{hot}");
}

#[test]
fn sizes_come_with_their_shares_by_direction() {
    let text = "rw = 'randrw'\nrequests = 100000\nsize = '64MiB'\nbssplit = '4k/10:64k/50:32k/40,8k'";
    let all = draw(text);
    let share = |op, sectors| {
        let of_op = || all.iter().filter(move |request| request.op == op);
        of_op().filter(|request| request.sectors == sectors).count() as f64 / of_op().count() as f64
    };
    for (op, sectors, expected) in [(Op::Read, 8, 0.1), (Op::Read, 128, 0.5), (Op::Read, 64, 0.4), (Op::Write, 16, 1.0)]
    {
        assert!((share(op, sectors) - expected).abs() < 0.01, "{op:?} {sectors}");
    }
    assert!(all.iter().all(|request| request.lba.0.is_multiple_of(8) && request.end() <= 131_072));
    let config = job(text);
    assert_eq!(job(&toml::to_string(&config).expect("is plain data")), config);
}

#[test]
fn sequential_requests_of_different_sizes_follow_each_other() {
    let all = draw("rw = 'write'\nrequests = 1000\nsize = '1MiB'\nbssplit = '4k/50:12k/50'");
    for pair in all.windows(2) {
        assert!(pair[1].lba.0 == pair[0].end() || pair[1].lba.0 == 0, "{pair:?}");
        assert!(pair[1].end() <= 2048);
    }
}

#[test]
fn percentage_random_is_the_chance_of_a_jump() {
    let all = draw("rw = 'randread'\nrequests = 100000\npercentage_random = 20");
    let follow = all.windows(2).filter(|pair| pair[1].lba.0 == pair[0].end()).count() as f64 / 99_999.0;
    assert!((follow - 0.8).abs() < 0.01, "{follow}");
}
