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
        ("random_distribution = 'zipf:-1'", "uniform"),
        ("random_distribution = 'zipf:x'", "zipf:<theta>"),
        ("random_distribution = 'pareto:0.2'", "`pareto:0.2`"),
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
