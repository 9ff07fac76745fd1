//! Synthetic jobs: their description and what they draw.

use ninescope_generators::{AccessPattern, AddressDistribution, EachPass, JobConfig, RateProcess, SyntheticJob};
use ninescope_model::units::{Bytes, BytesPerSecond, Duration};
use ninescope_model::{Arrival, Op, Request, Workload};

const DRIVE_SECTORS: u64 = 1 << 21;

fn job(text: &str) -> JobConfig {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn drain(job: &mut SyntheticJob) -> Vec<Request> {
    std::iter::from_fn(|| job.next_request().expect("a job cannot fail")).collect()
}

fn draw(text: &str) -> Vec<Request> {
    draw_seeded(text, 7)
}

fn draw_seeded(text: &str, seed: u64) -> Vec<Request> {
    let mut job = SyntheticJob::new(job(text), DRIVE_SECTORS, seed).unwrap_or_else(|error| panic!("{text}: {error}"));
    drain(&mut job)
}

#[test]
fn a_job_file_speaks_fio() {
    let read = job("name = 'a'\nrw = 'randrw'\nbs = '16k'\nrwmixread = 70\niodepth = 32\n\
        random_distribution = 'zipf:1.2'\noffset = '1MiB'\nsize = '64MiB'\nnumber_ios = 1000\nduration = '5s'\n\
        rate_iops = 2e4\nrate_process = 'poisson'\nblockalign = 4096\nflush_every = 10\n\
        each_pass = 'anew'\npass_size = '16MiB'\nfua = 0.25\nstream = 3");
    let expected = JobConfig {
        name: "a".to_owned(),
        rw: AccessPattern::RandRw,
        bs: Bytes(16_384),
        bssplit: None,
        bsrange: None,
        bsnormal: None,
        percentage_random: 100,
        shared_position: false,
        random_map: false,
        rwmixread: 70.0,
        iodepth: 32,
        random_distribution: AddressDistribution::Zipf(1.2),
        offset: Bytes(1 << 20),
        size: Some(Bytes(64 << 20)),
        offset_percent: None,
        size_percent: None,
        requests: Some(1000),
        io_size: None,
        passes: None,
        each_pass: Some(EachPass::Anew),
        pass_size: Some(Bytes(16 << 20)),
        duration: Some(Duration(5_000_000_000)),
        ramp_time: None,
        startdelay: None,
        stonewall: false,
        numjobs: 1,
        offset_increment: None,
        rate_iops: Some(2e4),
        write_rate_iops: None,
        rate_by_bytes: false,
        rate: None,
        write_rate: None,
        thinktime: None,
        thinktime_blocks: None,
        priority: None,
        weight: None,
        iops_max: None,
        bandwidth_max: None,
        limit_burst: None,
        channels: None,
        dies: None,
        planes: None,
        cache_size: None,
        buffer_pages: None,
        queues: None,
        commands_per_queue: None,
        namespace: None,
        rate_process: RateProcess::Poisson,
        blockalign: Some(Bytes(4096)),
        flush_every: Some(10),
        fua: 0.25,
        stream: 3,
        zone_command: Default::default(),
        erase_drive: Default::default(),
    };
    assert_eq!(read, expected);
    let text = toml::to_string(&expected).expect("is plain data");
    assert_eq!(job(&text), expected, "{text}");
    assert_eq!(job(&toml::to_string(&JobConfig::default()).expect("is plain data")), JobConfig::default());
}

#[test]
fn a_rate_that_has_no_meaning_is_named_by_its_key() {
    let cases = [
        ("thinktime = '1ms'\nrate_iops = 5", "thinktime: is for closed loops"),
        ("rate_iops = 0.0", "rate_iops: 0"),
        ("rate_iops = nan", "rate_iops: NaN"),
        ("rate = '0B/s'", "rate: 0B/s is not a rate"),
        ("rate = '4B/s'", "rate: 4B/s is not a rate from 0.001"),
        ("rate = '1MB/s'\nrate_iops = 5", "rate: `rate_iops` says"),
        ("rate = '1MB/s'\nwrite_rate = '1MB/s'", "write_rate: belongs to a mixed job"),
        ("rw = 'rw'\nwrite_rate = '1MB/s'", "write_rate: belongs to a mixed job"),
        ("rw = 'rw'\nrate = '1MB/s'\nwrite_rate = '0B/s'", "write_rate: 0B/s is not"),
        ("rw = 'rw'\nrate = '1MB/s'\nwrite_rate_iops = 5", "write_rate_iops: belongs to"),
        ("rate = '1MB/s'\nrate_by_bytes = true", "rate_by_bytes: is for jobs with `rate_iops`"),
        ("rate = '1MB/s'\nthinktime = '1ms'", "thinktime: is for closed loops, and `rate` says"),
        ("bs = '4k'\nrate = '5B/s'\nrequests = 3_000_000", "requests: 3000000 requests at 0.001"),
        ("rate_by_bytes = true", "rate_by_bytes: is for jobs with `rate_iops`"),
        ("rw = 'rw'\nrate_iops = 5\nrate_by_bytes = true", "rate_by_bytes: wants a `write_rate_iops`"),
        ("rw = 'rw'\nwrite_rate_iops = 5", "write_rate_iops: belongs to a mixed job"),
        ("rw = 'read'\nrate_iops = 1\nwrite_rate_iops = 5", "write_rate_iops: belongs to a mixed job"),
        ("rw = 'rw'\nrate_iops = 1\nwrite_rate_iops = 0", "write_rate_iops: 0 is not a rate"),
        ("rate_iops = 0.001\nrequests = 2_400_000", "requests: 2400000 requests at 0.001 per second take more than"),
    ];
    for (text, message) in cases {
        let error = job(text).validate(DRIVE_SECTORS * 512).expect_err(text).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn what_has_no_meaning_is_named_by_its_key() {
    let cases = [
        ("rwmixread = 101", "rwmixread: 101"),
        ("bs = 0", "bs: 0 bytes are"),
        ("bs = 1000", "bs: 1000 bytes are no positive multiple of 512"),
        ("bs = '4TiB'", "bs: 4TiB is too large"),
        ("bs = '2GiB'", "bs: a region of 1GiB does not hold a request of 2GiB"),
        ("iodepth = 0", "iodepth: 0"),
        ("percentage_random = 101", "percentage_random: 101"),
        ("rw = 'read'\nshared_position = true", "shared_position: is for sequential mixes"),
        ("rw = 'randrw'\nshared_position = true", "shared_position: is for sequential mixes"),
        ("offset = 100", "offset: 100B"),
        ("offset = '1GiB'", "offset: 1GiB lies beyond the drive of 1GiB"),
        ("size = '2GiB'", "size: 2GiB is more than the 1GiB"),
        ("size = '1KiB'", "size: a region of 1KiB does not hold"),
        ("requests = 0", "requests: 0"),
        ("flush_every = 0", "flush_every: 0"),
        ("fua = 1.1", "fua: 1.1 is not a share of the writes (0 to 1)"),
        ("fua = nan", "fua: NaN is not a share"),
        ("io_size = 0", "io_size: 0"),
        ("each_pass = 'same'\npass_size = 0", "pass_size: 0"),
        ("pass_size = '1MiB'", "pass_size: says how long a pass is"),
        ("random_map = true", "random_map: is for random jobs"),
        ("rw = 'randread'\nrandom_map = true\nrandom_distribution = 'zipf:1'", "random_map: is for random jobs"),
        ("rw = 'randread'\nrandom_map = true\nbssplit = '4k/50:8k/50'", "random_map: is for random jobs"),
        ("rw = 'randread'\nrandom_map = true\npercentage_random = 5", "random_map: is for random jobs"),
        ("thinktime = '1ms'\nthinktime_blocks = 0", "thinktime_blocks: 0"),
        ("thinktime_blocks = 2", "thinktime_blocks: says how often"),
        ("iops_max = 0", "iops_max: 0 is not a rate"),
        ("bandwidth_max = '999B/s'", "bandwidth_max: 999B/s is too little"),
        ("limit_burst = '1ms'", "limit_burst: is of a limit"),
        ("iops_max = 5\nlimit_burst = '2h'", "limit_burst: is longer"),
        ("weight = 0", "weight: 0 would never have its turn"),
        ("weight = 257", "weight: 257 is too large, at most 256"),
        ("priority = 'urgent'\nweight = 3", "weight: an urgent job"),
        ("rw = 'randread'\nblockalign = 100", "blockalign: 100 bytes are"),
        ("duration = '1000000h'", "duration: is longer than 36 years"),
        ("rwmixread = nan", "rwmixread: NaN"),
        ("startdelay = '1000000h'", "startdelay: is longer"),
        ("ramp_time = '1000000h'", "ramp_time: is longer"),
        ("size_percent = 0", "size_percent: 0 is not a share"),
        ("offset_percent = -1", "offset_percent: -1 is not a share"),
        ("offset_percent = 100", "offset_percent: 100 is not a share"),
        ("offset_percent = 75\nsize = '300MiB'", "size: 300MiB is more than the 256MiB from the offset"),
        ("size_percent = 100.5", "size_percent: 100.5 is not a share"),
        ("size_percent = 50\nsize = '1MiB'", "size_percent: `size` says"),
        ("size_percent = 1e-6", "size_percent: a region of 0B does not hold"),
        ("bsrange = '4k-8k'\nbssplit = '4k/100'", "bsrange: `bssplit` says"),
        ("bsnormal = '8k/2k'\nbssplit = '4k/100'", "bsnormal: `bssplit` says"),
        ("bsnormal = '8k/2k'\nbsrange = '4k-8k'", "bsnormal: `bsrange` says"),
        ("size = '8k'\nbsnormal = '8k/2k'", "size: a region of 8KiB does not hold a request of 20KiB"),
        ("rw = 'randread'\nrandom_map = true\nbsnormal = '8k/2k'", "random_map: is for random jobs"),
        ("offset_increment = '1MiB'", "offset_increment: there is one job"),
        (
            "size = '1MiB'\nrandom_distribution = 'zoned_abs:60/1MiB:40/1MiB'",
            "random_distribution: its zones have 2MiB together, and the region 1MiB",
        ),
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
        ("random_distribution = 'zoned_abs:100/0:0/1m'", "zone without blocks"),
        ("random_distribution = 'zoned_abs:90/1m:9/1m'", "share out 100 % of the accesses"),
        ("random_distribution = 'zoned_abs:100/1x'", "list zones as <% of accesses>/<size>"),
        ("random_distribution = 'zoned_abs:100'", "list zones as <% of accesses>/<size>"),
        ("random_distribution = 'hotcold:101/10'", "more than 100 %"),
        (
            "random_distribution = 'hotcold:99.5/1'",
            "whole percents, as <% of accesses>/<% of region>, such as hotcold:90/10",
        ),
        ("random_distribution = 'zoned:99.5/1:0.5/99'", "list zones in whole percents"),
        ("bssplit = '4k/60:8k/60'", "120 %"),
        ("bssplit = '4k/60:8k/30'", "90 %"),
        ("bssplit = '5k1'", "bssplit: `5k1`"),
        ("bsrange = '4k'", "is not a range"),
        ("bsnormal = '4k'", "is not a mean and a standard deviation"),
        ("bsnormal = '4k/x'", "bsnormal: `4k/x`"),
        ("bsnormal = '500/0'", "less than a sector"),
        ("bsnormal = '4k/1GiB'", "more than the 1GiB"),
        ("bsnormal = '4k/0,4k/0,4k/0,4k/0'", "three directions"),
        ("bsrange = '4k-10k'", "10KiB is not a multiple of 4KiB"),
        ("bsrange = '8k-4k'", "4KiB is not a multiple of 8KiB"),
        ("bsrange = '1000-2000'", "multiples of 512"),
        ("bsrange = '1k-2k,1k-2k,1k-2k,1k-2k'", "three directions"),
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

/// By the law itself: so many requests of the smallest size per second, whatever the sizes are.
#[test]
fn a_rate_by_bytes_gives_each_request_the_time_of_its_size() {
    let paced = |text: &str, op: Op, least: u64, rate: f64| {
        let mut before = 0_u64;
        for request in draw(text).iter().filter(|request| request.op == op) {
            let at = before as f64 * 512.0 / least as f64 / rate * 1e9;
            assert!((request.submitted.0 as f64 - at).abs() <= 1.0, "{text}: {request:?} at {at}");
            before += u64::from(request.sectors);
        }
        assert!(before > 0);
    };
    let alone = "rw = 'randwrite'\nbssplit = '16k/50:4k/50'\nrate_iops = 500\nrate_by_bytes = true\nrequests = 400";
    paced(alone, Op::Write, 4096, 500.0);
    let mixed = "rw = 'randrw'\nbsrange = '8k-32k,4k-16k'\nrate_iops = 500\nwrite_rate_iops = 90\n\
        rate_by_bytes = true\nrequests = 400";
    paced(mixed, Op::Read, 8192, 500.0);
    paced(mixed, Op::Write, 4096, 90.0);
    // Larger requests arrive less often: by the means of 20 and 10 KiB at 500 * 8 and 90 * 4 KiB/s.
    let reads = job(mixed).read_share();
    assert!((reads - 200.0 / 236.0).abs() < 1e-9, "{reads}");
}

#[test]
fn a_flush_follows_every_so_many_writes() {
    let all = draw("rw = 'randwrite'\nrequests = 6\nflush_every = 2\nrate_iops = 1000.0");
    let ops: Vec<Op> = all.iter().map(|request| request.op).collect();
    let (write, flush) = (Op::Write, Op::Flush);
    assert_eq!(ops, [write, write, flush, write, write, flush, write, write], "none after the last, as in fio");
    assert!(all.windows(2).all(|pair| pair[0].submitted <= pair[1].submitted));
    assert!(all.iter().filter(|request| request.op == Op::Flush).all(|flush| flush.sectors == 0));
}

#[test]
fn a_share_of_the_writes_asks_to_be_on_the_media() {
    let asked = |text: &str| {
        let all = draw(&format!("rw = 'randrw'\nrequests = 4000\n{text}"));
        assert!(all.iter().all(|request| !request.fua || request.op == Op::Write), "{text}");
        let of_writes = all.iter().filter(|request| request.op == Op::Write).map(|request| request.fua);
        of_writes.collect::<Vec<_>>()
    };
    let (none, all) = (asked(""), asked("fua = 1"));
    assert!(!none.contains(&true) && all.iter().all(|&asks| asks));
    // Five standard deviations of some 2000 draws.
    let quarter = asked("fua = 0.25");
    let share = quarter.iter().filter(|&&asks| asks).count() as f64 / quarter.len() as f64;
    assert!((share - 0.25).abs() < 5.0 * (0.25 * 0.75 / quarter.len() as f64).sqrt(), "{share}");
    // The other draws of the job are what they are without.
    assert_eq!((quarter.len(), all.len()), (none.len(), none.len()));
}

#[test]
fn passes_that_are_the_same_repeat_the_first_one() {
    let of_pass = |text: &str, pass: usize| -> Vec<Vec<(Op, u64, u32)>> {
        let all = draw(text);
        all.chunks(pass).map(|pass| pass.iter().map(|one| (one.op, one.lba.0, one.sectors)).collect()).collect()
    };
    let same = "size = '1MiB'\nrequests = 1024\neach_pass = 'same'\n";
    for text in [
        "rw = 'randwrite'\nrandom_map = true",
        "rw = 'randrw'",
        "rw = 'rw'\nrwmixread = 30",
        "rw = 'randread'\npercentage_random = 40",
        "rw = 'randread'\nrandom_distribution = 'zipf:1.1'",
    ] {
        let passes = of_pass(&format!("{same}{text}"), 256);
        assert!(passes.iter().all(|pass| *pass == passes[0]) && passes.len() == 4, "{text}");
        assert!(passes[0].iter().any(|one| one.1 != passes[0][0].1));
    }
    // So many bytes, in whole requests of 8 sectors: 100 KiB are 25, and a region of 10 KiB holds 2.
    let short = of_pass(&format!("{same}pass_size = '100KiB'\nrw = 'randread'"), 25);
    assert!(short[..40].iter().all(|pass| *pass == short[0]));
    let tiny = draw("rw = 'write'\nsize = '10KiB'\neach_pass = 'same'\nrequests = 6");
    assert!(tiny.iter().map(|one| one.lba.0).eq([0, 8, 0, 8, 0, 8]));
}

#[test]
fn passes_that_are_drawn_anew_begin_at_the_region_in_each_direction() {
    let text = "rw = 'rw'\nsize = '1MiB'\nrequests = 1024\neach_pass = 'anew'";
    let all = draw(text);
    let kinds: Vec<Vec<Op>> = all.chunks(256).map(|pass| pass.iter().map(|one| one.op).collect()).collect();
    assert!(kinds.windows(2).all(|pair| pair[0] != pair[1]), "the mix is drawn on");
    for (pass, op) in all.chunks(256).flat_map(|pass| [(pass, Op::Read), (pass, Op::Write)]) {
        let places = pass.iter().filter(|one| one.op == op).map(|one| one.lba.0 / 8);
        assert!(places.clone().eq(0..places.count() as u64), "{op:?}: one after another from the first place on");
    }
    // Without passes each direction runs on to the region's end.
    let on = draw("rw = 'rw'\nsize = '1MiB'\nrequests = 1024");
    assert!(on.iter().filter(|one| one.op == Op::Read).take(256).map(|one| one.lba.0 / 8).eq(0..256));
}

#[test]
fn random_addresses_of_a_direction_are_multiples_of_its_smallest_size() {
    for sizes in ["bssplit = '4k/100,16k/100'", "bsrange = '4k-8k,16k-32k'", "bssplit = '4k/50:8k/50,16k/50:64k/50'"] {
        for law in ["uniform", "zipf:0.5", "zoned:60/10:40/90"] {
            let text = format!("rw = 'randrw'\nsize = '1MiB'\nrequests = 4000\n{sizes}\nrandom_distribution = '{law}'");
            let all = draw(&text);
            let of = |op: Op| all.iter().filter(move |one| one.op == op);
            assert!(of(Op::Write).all(|one| one.lba.0 % 32 == 0), "{text}");
            assert!(of(Op::Read).any(|one| one.lba.0 % 32 == 8), "{text}");
            assert!(all.iter().all(|one| one.end() <= 2048), "{text}");
            // Each direction reaches its own last place: 1 MiB less its largest request.
            let least = [4_u64, 16].map(|size| size * 2);
            let largest = [Op::Read, Op::Write].map(|op| of(op).map(|one| u64::from(one.sectors)).max().unwrap_or(0));
            for (index, op) in [Op::Read, Op::Write].into_iter().enumerate() {
                let last = (2048 - largest[index]) / least[index] * least[index];
                assert_eq!(of(op).map(|one| one.lba.0).max(), Some(last), "{text}");
            }
        }
    }
    let aligned = draw("rw = 'randrw'\nsize = '1MiB'\nrequests = 999\nbssplit = '4k,8k'\nblockalign = 16384");
    assert!(aligned.iter().all(|one| one.lba.0 % 32 == 0), "of both, where it is given");
}

#[test]
fn a_random_map_covers_the_region_in_each_of_its_passes() {
    let text = "rw = 'randrw'\nsize = '4MiB'\noffset = '1MiB'\nrandom_map = true\nrequests = 3072";
    let all = draw(text);
    let passes: Vec<Vec<u64>> =
        all.chunks(1024).map(|pass| pass.iter().map(|request| request.lba.0 / 8).collect()).collect();
    for pass in &passes {
        let mut sorted = pass.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(256..1280), "each block once");
        // Of random neighbours in order, one in 1024 follows the block before it, and half go forward.
        let follow = pass.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        let forward = pass.windows(2).filter(|pair| pair[1] > pair[0]).count();
        assert!(follow < 8 && (440..584).contains(&forward), "{follow} {forward}");
    }
    assert!(passes[0] != passes[1] && passes[1] != passes[2], "each pass has an order of its own");
    let other = draw_seeded(text, 8);
    assert_ne!(all[0..9], other[0..9], "and so has each seed");
}

#[test]
fn an_order_of_a_map_is_like_one_drawn() {
    // The distance between neighbours of a random order, modulo the length, is uniform: chi-square of 16 classes.
    for places in [4096_u64, 5000, 32_768] {
        let all =
            draw(&format!("rw = 'randread'\nsize = {}\nrandom_map = true\nrequests = {}", places * 4096, 4 * places));
        for lag in [1, 2, 3, 64, 100, 2048] {
            let mut classes = [0_f64; 16];
            let places_of: Vec<u64> = all.iter().map(|request| request.lba.0 / 8).collect();
            for (from, to) in places_of.iter().zip(&places_of[lag..]) {
                classes[((to + places - from) % places * 16 / places) as usize] += 1.0;
            }
            let expected = classes.iter().sum::<f64>() / 16.0;
            let square: f64 = classes.iter().map(|count| (count - expected).powi(2) / expected).sum();
            assert!(square < 45.0, "{square} at lag {lag} of {places}: beyond 1 in 10,000 of 15 degrees of freedom");
        }
    }
}

#[test]
fn bytes_end_a_job_with_the_request_that_reaches_them() {
    let sizes = |text: &str| draw(text).iter().map(|request| u64::from(request.sectors) * 512).collect::<Vec<_>>();
    assert_eq!(sizes("size = '1MiB'\nio_size = '10KiB'"), [4096; 3]);
    let drawn = sizes("rw = 'randread'\nsize = '64MiB'\nio_size = '8MiB'\nbssplit = '4k/50:64k/50'");
    let in_all: u64 = drawn.iter().sum();
    assert!(in_all >= 8 << 20 && in_all - drawn[drawn.len() - 1] < 8 << 20, "{in_all}");
    assert_eq!(sizes("size = '1MiB'\nio_size = '1MiB'\nrequests = 5").len(), 5, "whichever comes first");
}

/// Mean and variance of sizes [sectors].
fn moments(all: &[Request], op: Op) -> (f64, f64) {
    let sizes: Vec<f64> =
        all.iter().filter(|request| request.op == op).map(|request| f64::from(request.sectors)).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    (mean, sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / sizes.len() as f64)
}

/// Rounding to whole sectors adds a twelfth to the variance of a normal law (Sheppard).
#[test]
fn normal_sizes_have_their_mean_and_their_variance() {
    let text = "rw = 'randrw'\nbsnormal = '8k/2k,64k/1k'\nblockalign = '4k'\nrequests = 400000";
    let all = draw(text);
    // Of 200,000 draws the standard deviations are 0.009 and 0.05 of reads, 0.0045 and 0.013 of writes.
    for (op, mean, variance, slack) in [(Op::Read, 16.0, 16.0, (0.03, 0.16)), (Op::Write, 128.0, 4.0, (0.015, 0.04))] {
        let (drawn, spread) = moments(&all, op);
        assert!((drawn - mean).abs() < slack.0, "{op:?}: {drawn}");
        assert!((spread - variance - 1.0 / 12.0).abs() < slack.1, "{op:?}: {spread}");
        assert!((job(text).mean_bytes(op) / 512.0 - mean).abs() < 1e-3);
    }
    // Of 8 KiB and 2 KiB, two of three lie within one standard deviation: from 12 sectors to 20, with their halves.
    let reads: Vec<&Request> = all.iter().filter(|request| request.op == Op::Read).collect();
    let within = reads.iter().filter(|request| (12..=20).contains(&request.sectors)).count() as f64;
    let expected = libm::erf(4.5 / 4.0 * std::f64::consts::FRAC_1_SQRT_2);
    assert!((within / reads.len() as f64 - expected).abs() < 0.004, "{within} of {}", reads.len());
    assert!(all.iter().all(|request| request.lba.0 % 8 == 0 && request.end() <= DRIVE_SECTORS));
}

/// A mean of two sectors with a standard deviation of four: 45 % of the draws lie below a sector and a half.
#[test]
fn normal_sizes_are_one_sector_at_least() {
    let text = "rw = 'randwrite'\nbsnormal = '1k/2k'\nrequests = 200000";
    let all = draw(text);
    let least = all.iter().filter(|request| request.sectors == 1).count() as f64 / all.len() as f64;
    let below = libm::erfc(0.125 * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
    assert!((least - below).abs() < 0.004, "{least}, {below}");
    let (mean, _) = moments(&all, Op::Write);
    assert!((mean / (job(text).mean_bytes(Op::Write) / 512.0) - 1.0).abs() < 0.01, "{mean}");
    assert!(all.iter().any(|request| request.lba.0 % 8 != 0), "addresses are multiples of a sector");
    let same = draw("rw = 'write'\nbsnormal = '3k/0'\nrequests = 9");
    assert!(same.iter().all(|request| request.sectors == 6));
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

/// Of 100 blocks the first 10 take 70 %, the next 30 take 30 %, and what no zone covers takes nothing.
#[test]
fn zones_of_given_lengths_leave_the_rest_of_the_region_alone() {
    let zones = "rw = 'randread'\nrequests = 100000\nrandom_distribution = 'zoned_abs:70/40KiB:0/20k:30/100k'";
    let all = draw(&format!("{zones}\nsize = '400KiB'"));
    for (percent, expected) in [(10, 0.7), (15, 0.7), (40, 1.0)] {
        // Three standard deviations are 0.0044.
        assert!((share_below(&all, percent) - expected).abs() < 0.005, "{percent}");
    }
    let uniform = all.iter().filter(|request| request.lba.0 / 8 < 5).count() as f64 / all.len() as f64;
    assert!((uniform - 0.35).abs() < 0.005, "all blocks of a zone alike: {uniform}");
    let mixed = draw(&format!("{zones}\nsize = '160KiB'").replace("randread", "randrw"));
    assert!(mixed.iter().all(|request| request.lba.0 < 320 && !(80..120).contains(&request.lba.0)));
}

/// As MQSim has it of a hot region of 10 %: 90 % of the requests to its first tenth.
#[test]
fn a_hot_region_is_two_zones() {
    let all = draw("rw = 'randrw'\nrequests = 200000\nsize = '400KiB'\nrandom_distribution = 'zoned:90/10:10/90'");
    // The standard deviation is 0.0007 of all, and 0.001 of reads alone.
    assert!((share_below(&all, 10) - 0.9).abs() < 0.003);
    let reads: Vec<Request> = all.into_iter().filter(|request| request.op == Op::Read).collect();
    assert!((share_below(&reads, 10) - 0.9).abs() < 0.004, "of each direction");
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
fn reads_and_writes_of_a_mix_share_a_position_where_they_are_told_to() {
    let (apart, together) =
        ("rw = 'rw'\nbs = '4k'\nrequests = 1000", "rw = 'rw'\nbs = '4k'\nrequests = 1000\nshared_position = true");
    let places = |text: &str, op: Option<Op>| {
        let of = draw(text).into_iter().filter(|request| op.is_none_or(|op| request.op == op));
        of.map(|request| request.lba.0 / 8).collect::<Vec<_>>()
    };
    let in_order = |places: &[u64]| (0..).zip(places).all(|(index, &place)| place == index);
    assert!(in_order(&places(together, None)));
    assert!(!in_order(&places(apart, None)));
    assert!(in_order(&places(apart, Some(Op::Read))) && in_order(&places(apart, Some(Op::Write))));
}

#[test]
fn percentage_random_is_the_chance_of_a_jump() {
    let all = draw("rw = 'randread'\nrequests = 100000\npercentage_random = 20");
    let follow = all.windows(2).filter(|pair| pair[1].lba.0 == pair[0].end()).count() as f64 / 99_999.0;
    assert!((follow - 0.8).abs() < 0.01, "{follow}");
}

/// Counts by value.
fn shares<T: Ord + Copy>(values: impl Iterator<Item = T>) -> std::collections::BTreeMap<T, u64> {
    let mut counts = std::collections::BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

#[test]
fn a_range_of_sizes_is_uniform_over_the_multiples_of_its_least() {
    let text = "rw = 'randrw'\nrequests = 200000\nsize = '64MiB'\nbsrange = '4k-16k,8k-24k'";
    let all = draw(text);
    for (op, sizes) in [(Op::Read, &[8, 16, 24, 32][..]), (Op::Write, &[16, 32, 48])] {
        let counts = shares(all.iter().filter(|request| request.op == op).map(|request| request.sectors));
        assert!(counts.keys().eq(sizes), "{counts:?}");
        let expected = counts.values().sum::<u64>() as f64 / sizes.len() as f64;
        // Chi-square of 2 or 3 degrees of freedom beyond 18 has a chance below 0.0005.
        let chi_square: f64 = counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        assert!(chi_square < 18.0, "{counts:?}");
    }
    assert!(all.iter().all(|request| request.lba.0.is_multiple_of(8) && request.end() <= 131_072));
    let config = job(text);
    assert_eq!(job(&toml::to_string(&config).expect("is plain data")), config);
    assert!(
        (config.mean_bytes(Op::Read) - 10_240.0).abs() < 1e-9 && (config.mean_bytes(Op::Write) - 16_384.0).abs() < 1e-9
    );
    // One pass: 64 MiB in requests of 13 KiB in the mean.
    assert_eq!(draw("rw = 'randrw'\nsize = '64MiB'\nbsrange = '4k-16k,8k-24k'").len(), (65_536 / 13) as usize);
}

#[test]
fn a_mix_may_be_a_fraction_of_percents() {
    let text = "rw = 'randrw'\nrwmixread = 62.625\nrequests = 1000000";
    let reads = draw(text).iter().filter(|request| request.op == Op::Read).count();
    // The standard deviation is 484.
    assert!((624_300..=628_200).contains(&reads), "{reads}");
    assert!(toml::to_string(&job(text)).expect("is plain data").contains("rwmixread = 62.625\n"));
    assert!(toml::to_string(&job("rwmixread = 70.0")).expect("is plain data").contains("rwmixread = 70\n"));
    assert_eq!(
        draw("rw = 'randrw'\nrwmixread = 70.0\nrequests = 500"),
        draw("rw = 'randrw'\nrwmixread = 70\nrequests = 500")
    );
}

/// Bytes and time of all that comes: what is offered in a second [B].
fn offered(all: &[Request]) -> f64 {
    let bytes: u64 = all.iter().map(|request| u64::from(request.sectors) * 512).sum();
    bytes as f64 / (all[all.len() - 1].submitted.0 as f64 / 1e9)
}

#[test]
fn a_rate_in_bytes_is_what_is_offered() {
    let mixed = "rw = 'randrw'\nrwmixread = 30\nbssplit = '4k/50:16k/50,64k/100'\nrequests = 400000\nrate = '200MB/s'";
    // By the law itself: each request comes after the time of the bytes before it, of both directions.
    let mut before = 0_u64;
    for request in draw(mixed) {
        assert!((request.submitted.0 as f64 - before as f64 * 5.0).abs() <= 1.0, "{request:?} behind {before} bytes");
        before += u64::from(request.sectors) * 512;
    }
    assert!(
        (job(mixed).arrivals_per_second().expect("is linear") - 2e8 / (0.3 * 10_240.0 + 0.7 * 65_536.0)).abs() < 1e-6
    );
    // Of 400,000 exponential gaps the mean is known to 0.16 %, that of the sizes to 0.09 %.
    let poisson = format!("{mixed}\nrate_process = 'poisson'");
    assert!((offered(&draw(&poisson)) / 2e8 - 1.0).abs() < 0.006, "{}", offered(&draw(&poisson)));
    let normal = "rw = 'randwrite'\nbsnormal = '8k/2k'\nrequests = 400000\nrate = '200MB/s'\nrate_process = 'poisson'";
    assert!((offered(&draw(normal)) / 2e8 - 1.0).abs() < 0.006, "{}", offered(&draw(normal)));
    let one_size = draw("rw = 'randread'\nbs = '4k'\nrequests = 9\nrate = '4096MB/s'");
    assert!(one_size.iter().zip(0..).all(|(request, index)| request.submitted.0 == index * 1000));
}

#[test]
fn directions_are_offered_at_rates_of_their_own() {
    let text = "rw = 'randrw'\nrwmixread = 99\nbssplit = '4k/50:16k/50,64k/100'\nrequests = 200000\n\
        rate = '100MB/s'\nwrite_rate = '300MB/s'";
    let expected = (1e8 / 10_240.0) / (1e8 / 10_240.0 + 3e8 / 65_536.0);
    assert!((job(text).read_share() - expected).abs() < 1e-12);
    for text in [text.to_owned(), format!("{text}\nrate_process = 'poisson'")] {
        let all = draw(&text);
        assert!(all.windows(2).all(|pair| pair[0].submitted <= pair[1].submitted));
        for (op, rate) in [(Op::Read, 1e8), (Op::Write, 3e8)] {
            let of: Vec<Request> = all.iter().filter(|request| request.op == op).copied().collect();
            assert!((offered(&of) / rate - 1.0).abs() < 0.02, "{text} {op:?}: {}", offered(&of));
        }
    }
    let config = job("rate = '1.5GB/s'");
    assert_eq!(config.rate, Some(BytesPerSecond(1_500_000_000)));
    assert_eq!(job(&toml::to_string(&config).expect("is plain data")), config);
}

#[test]
fn directions_arrive_at_rates_of_their_own() {
    let all = draw("rw = 'randrw'\nrwmixread = 99\nrequests = 5000\nrate_iops = 4000.0\nwrite_rate_iops = 1000.0");
    assert!(all.windows(2).all(|pair| pair[0].submitted <= pair[1].submitted));
    for (op, count, gap) in [(Op::Read, 4000, 250_000), (Op::Write, 1000, 1_000_000)] {
        let times: Vec<u64> =
            all.iter().filter(|request| request.op == op).map(|request| request.submitted.0).collect();
        assert!(times.into_iter().eq((0..count).map(|index| index * gap)), "{op:?}");
    }
    let poisson = draw(
        "rw = 'randrw'\nrequests = 300000\nrate_iops = 4000.0\nwrite_rate_iops = 2000.0\nrate_process = 'poisson'",
    );
    let writes = poisson.iter().filter(|request| request.op == Op::Write).count() as f64;
    // The standard deviation of the share is 0.0009; merged arrivals are a Poisson process of both rates.
    assert!((writes / 300_000.0 - 1.0 / 3.0).abs() < 0.004, "{writes}");
    let mean = poisson[299_999].submitted.0 as f64 / 299_999.0;
    assert!((mean / (1e9 / 6000.0) - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_share_of_the_drive_is_of_the_whole_drive_and_ends_with_it() {
    let places = |text: &str| job(text).validate(DRIVE_SECTORS * 512).expect(text).places;
    let drive = DRIVE_SECTORS / 8;
    assert_eq!(places("size_percent = 10"), drive / 10);
    assert_eq!(places("size_percent = 12.5"), drive / 8);
    assert_eq!(places("size_percent = 100\noffset = '512MiB'"), drive / 2, "cut off at the end");
    assert_eq!(places("size_percent = 100\noffset_percent = 50"), drive / 2, "the same in percent");
}

/// As fio 3.33 begins at `offset=33%` of a file of 1 MiB: at the next request.
#[test]
fn an_offset_in_percent_is_of_the_whole_drive_and_begins_at_a_request() {
    let region = |text: &str| job(text).validate(DRIVE_SECTORS * 512).expect(text);
    let begin = |text: &str| region(text).first_sector * 512;
    let drive = DRIVE_SECTORS * 512;
    assert_eq!(begin("offset_percent = 25"), drive / 4);
    assert_eq!(region("offset_percent = 25").sectors, 3 * DRIVE_SECTORS / 4, "to the drive's end");
    assert_eq!(begin("offset_percent = 33"), (drive / 100 * 33).next_multiple_of(4096));
    assert_eq!(begin("bs = '64k'\noffset_percent = 33"), (drive / 100 * 33).next_multiple_of(65_536));
    assert_eq!(begin("offset_percent = 25\noffset = '1MiB'"), drive / 4 + (1 << 20), "both add up");
    // What a drive must hold, so that a quarter and the region fit.
    let needed = job("offset_percent = 25\nsize = '768MiB'").drive_bytes();
    assert!((1 << 30..(1 << 30) + 8192).contains(&needed), "{needed}");
    assert_eq!(job("offset = '1MiB'\nsize = '1MiB'").drive_bytes(), 2 << 20);
}

#[test]
fn copies_have_names_and_draws_of_their_own() {
    let many = job(
        "name = 'x'\nrw = 'randread'\nrequests = 50\nsize = '1MiB'\nnumjobs = 3\noffset_increment = '2MiB'\nstonewall = true",
    );
    let copies = many.copies(8).expect("three are few");
    let facts: Vec<(&str, u64, bool)> =
        copies.iter().map(|copy| (copy.name.as_str(), copy.offset.0 >> 20, copy.stonewall)).collect();
    assert_eq!(facts, [("x.0", 0, true), ("x.1", 2, false), ("x.2", 4, false)]);
    let places = |copy: &JobConfig| {
        let mut job = SyntheticJob::new(copy.clone(), DRIVE_SECTORS, 7).expect("is valid");
        drain(&mut job).iter().map(|request| request.lba.0 % 4096).collect::<Vec<_>>()
    };
    assert_ne!(places(&copies[0]), places(&copies[1]));
    assert_eq!(job("name = 'x'").copies(8).expect("is one"), [job("name = 'x'")]);
    assert!(many.copies(2).expect_err("3 are more").to_string().starts_with("numjobs: 3 jobs are more than the 2"));
    assert!(job("numjobs = 0").copies(8).expect_err("none").to_string().starts_with("numjobs: 0"));
}
