//! What a job file of fio comes to.

use ninescope_model::Op;
use ninescope_model::units::{Bytes, Duration};

use crate::{AccessPattern, AddressDistribution, EachPass, JobConfig};

/// What was read of a file.
#[derive(Debug)]
struct Read {
    jobs: Vec<JobConfig>,
    notes: Vec<String>,
}

fn read(text: &str) -> Result<Read, String> {
    let file = super::read(text).map_err(|error| error.to_string())?;
    Ok(Read { jobs: file.sections.into_iter().flat_map(|section| section.jobs).collect(), notes: file.notes })
}

#[test]
fn a_job_takes_what_the_global_section_says_and_changes_it() {
    let text = "; a comment\n[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=8\n\n[mix]\nrw=randrw\nrwmixwrite=30\n\
        iodepth = 32\nsize=64m\nio_size=1g\nruntime=5\nrandom_distribution=zipf\nfsync=10\ngroup_reporting\n";
    let Read { jobs, notes } = read(text).expect("is legal");
    let expected = JobConfig {
        name: "mix".to_owned(),
        rw: AccessPattern::RandRw,
        rwmixread: 70.0,
        iodepth: 32,
        size: Some(Bytes(64 << 20)),
        requests: Some(1 << 18),
        each_pass: Some(EachPass::Anew),
        duration: Some(Duration(5_000_000_000)),
        random_distribution: AddressDistribution::Zipf(1.1),
        flush_every: Some(10),
        ..JobConfig::default()
    };
    assert_eq!(jobs, [expected]);
    assert!(notes.iter().any(|note| note.starts_with("direct: there is no page cache")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("change nothing here: group_reporting")), "{notes:?}");
}

#[test]
fn sizes_by_direction_and_ends_are_as_in_fio() {
    let job = |text: &str| read(&format!("[a]\n{text}")).expect(text).jobs.remove(0);
    let two = job("rw=randrw\nbs=4k,8k");
    assert_eq!((two.mean_bytes(Op::Read) as u64, two.mean_bytes(Op::Write) as u64), (4096, 8192));
    assert_eq!(job("rw=randrw\nbssplit=8k/100"), job("rw=randrw\nbs=8k"), "a split of one size");
    assert!(job("rw=randrw\nbssplit=4k/100,8k/100").bssplit.is_some());
    let based = job("rw=read\nsize=1m\nruntime=2m\ntime_based");
    assert_eq!((based.requests, based.duration), (None, Some(Duration(120_000_000_000))));
    assert_eq!(job("rw=read\nsize=1m\nruntime=60").requests, Some(256));
    assert_eq!(job("rw=read\nsize=1m\nloops=3").requests, Some(768));
    assert_eq!(job("rw=read\nnumber_ios=10").requests, Some(10));
    assert_eq!(job("rw=read\nsize=1m").requests, None);
    // The size, too, ends a job, and each loop has its own number.
    assert_eq!(job("rw=read\nsize=64k\nnumber_ios=100").requests, Some(16));
    assert_eq!(job("rw=read\nsize=64k\nnumber_ios=10\nloops=2").requests, Some(20));
    assert_eq!(job("rw=read\nsize=64k\nio_size=10k").requests, Some(3));
    assert_eq!(job("rw=read\nsize=64k\nnumber_ios=10\nruntime=1\ntime_based").requests, None);
    let split = job("rw=read\nsize=64k\nbssplit=4k/50:8k/50\nloops=2\nnorandommap");
    assert_eq!((split.requests, split.io_size), (None, Some(Bytes(128 << 10))));
}

/// Bytes of `rw=rw size=1m` with these options that fio 3.33 made with `null` at a depth of 1, with seed after seed.
#[test]
fn passes_of_a_sequential_mix_end_with_one_direction_and_that_is_noted() {
    for (text, issued) in [
        ("bs=4k\nio_size=5m\nloops=2", 5_996_544),
        ("bs=4k\nio_size=3m\nloops=3\nrwmixread=30", 4_534_272),
        ("bs=4k\nio_size=2m\nloops=2\nrwmixread=90", 2_326_528),
    ] {
        let file = read(&format!("[a]\nioengine=null\nrw=rw\nsize=1m\n{text}\n")).expect("is legal");
        let bytes = file.jobs[0].requests.expect("is known") * 4096;
        assert!((bytes as f64 / f64::from(issued) - 1.0).abs() < 0.06, "{text}: {bytes}");
        assert!(file.notes.iter().any(|note| note.contains("each pass where one direction is through")), "{text}");
    }
    // What ends within a pass is as in fio, and nothing is said.
    for text in ["io_size=1536k\nloops=2", "io_size=512k\nloops=4", "io_size=5m", "loops=3"] {
        let file = read(&format!("[a]\nioengine=null\nrw=rw\nbs=4k\nsize=1m\n{text}\n")).expect("is legal");
        assert!(!file.notes.iter().any(|note| note.contains("one direction is through")), "{text}");
    }
    let deeper =
        read("[a]\nioengine=libaio\niodepth=2\nrw=rw\nbs=4k\nsize=1m\nio_size=5m\nloops=2\n").expect("is legal");
    assert!(deeper.notes.iter().all(|note| !note.contains("one direction is through")));
}

#[test]
fn rests_behind_the_last_request_are_noted_where_one_is_in_flight() {
    let notes = |text: &str| read(&format!("[a]\nrw=read\nsize=1m\nthinktime=5ms\n{text}")).expect("is legal").notes;
    let is_said = |notes: Vec<String>| notes.iter().any(|note| note.contains("also rests behind the last one"));
    assert!(is_said(notes("")) && is_said(notes("ioengine=libaio\niodepth=1\n")));
    assert!(!is_said(notes("ioengine=libaio\niodepth=2\n")));
}

/// What fio 3.33 issued for `rw=write bs=64k size=4m` with these `io_size` and `loops` [MiB].
#[test]
fn bytes_and_loops_end_a_job_where_they_end_it_in_fio() {
    for (io_size, loops, issued) in
        [(10, 3, 12), (20, 3, 20), (1, 3, 3), (3, 2, 6), (10, 1, 10), (5, 2, 8), (2, 5, 10), (4, 2, 8), (16, 3, 16)]
    {
        let text = format!("[a]\nrw=write\nbs=64k\nsize=4m\nio_size={io_size}m\nloops={loops}\n");
        let job = read(&text).expect("is legal").jobs.remove(0);
        assert_eq!(job.requests, Some(issued * 16), "{text}");
        assert_eq!(job.each_pass, (issued > 4).then_some(EachPass::Same), "{text}");
    }
    let requests = |text: &str| read(&format!("[a]\nrw=write\nbs=4k\n{text}")).expect(text).jobs[0].requests;
    // A rest that holds no request begins no pass, and `loops` of them are whole.
    assert_eq!(requests("size=64k\nio_size=66k"), Some(16));
    assert_eq!(requests("size=64k\nio_size=70k"), Some(18));
    assert_eq!(requests("size=64k\nio_size=74k\nloops=2"), Some(32));
    assert_eq!(requests("size=10k\nio_size=20k"), Some(5));
    assert_eq!(requests("size=10k\nio_size=21k"), Some(6));
    assert_eq!(requests("size=64k\nnumber_ios=9\nio_size=32k\nloops=2"), Some(16));
    assert_eq!(requests("size=64k\nnumber_ios=20\nloops=3"), Some(48));
}

/// How many requests fio 3.33 issued for `bs=12k size=1000k`, with `psync` and with `libaio`.
#[test]
fn a_part_of_a_request_is_made_where_fio_makes_it() {
    for (text, issued) in [
        ("rw=read", 83),
        ("rw=rw\nrwmixread=100", 83),
        ("rw=randwrite", 83),
        ("rw=randrw", 83),
        ("rw=randread\nnorandommap\nrandom_generator=lfsr", 83),
        ("rw=read\nloops=3", 249),
        ("rw=randread\nloops=3", 249),
        ("rw=randread\nio_size=2500k", 209),
        ("rw=rw", 84),
        ("rw=rw\nrwmixread=90\noffset=1m", 84),
        ("rw=randread\nnorandommap", 84),
        ("rw=randrw\nnorandommap", 84),
        ("rw=randread\nblockalign=4k", 84),
        ("rw=randread\nrandom_distribution=zipf:1.1", 84),
        ("rw=randread\nrandom_distribution=zoned:60/10:40/90", 84),
        ("rw=rw\nnumber_ios=200", 84),
        ("rw=rw\nio_size=500k", 42),
        ("rw=rw\nio_size=500k\nloops=3", 125),
        ("rw=rw\nloops=3", 250),
        ("rw=rw\nio_size=2500k", 209),
        ("rw=randread\nnorandommap\nloops=3", 250),
        ("rw=randwrite\nnorandommap\nio_size=2500k\nloops=2", 417),
    ] {
        for engine in ["psync", "libaio"] {
            let file = format!("[a]\nioengine={engine}\nbs=12k\nsize=1000k\n{text}\n");
            let job = read(&file).expect(&file).jobs.remove(0);
            let region = job.validate(1 << 30).expect(&file);
            assert_eq!(job.requests_in_all(&region), Some(issued), "{file}");
        }
    }
    // A pass of these, too, is 84 requests.
    let pass = |text: &str| {
        let text = format!("[a]\nioengine=libaio\nbs=12k\nsize=1000k\nloops=3\n{text}\n");
        read(&text).expect(&text).jobs[0].pass_size
    };
    assert_eq!(pass("rw=rw"), Some(Bytes(84 * 12 * 1024)));
    assert_eq!(pass("rw=randread\nnorandommap"), Some(Bytes(84 * 12 * 1024)));
    assert_eq!(pass("rw=randread"), None);
}

#[test]
fn what_fio_does_at_a_part_of_a_request_alone_is_said() {
    let said = |text: &str| read(&format!("[a]\nbs=12k\nsize=1000k\n{text}")).expect(text).notes.join("\n");
    for text in ["rw=read\nfilename=x", "rw=write\nfilename=x\nioengine=libaio", "rw=rw\nrwmixread=0\nfilename=x"] {
        assert!(said(text).contains("where the file reaches further"), "{text}");
    }
    for text in [
        "rw=read",
        "rw=rw\nfilename=x",
        "rw=read\nfilename=x\nioengine=null",
        "rw=randread\nfilename=x",
        "rw=read\nfilename=x\nsize=996k",
        "rw=read\nfilename=x\nio_size=500k",
    ] {
        assert!(!said(text).contains("no multiple of bs"), "{text}");
    }
    for text in ["rw=randread\nrandom_distribution=zipf:1.1", "rw=randwrite\npercentage_random=50"] {
        assert!(said(text).contains("at the first request that would reach beyond size"), "{text}");
        assert!(!said(&format!("{text}\nsize=996k")).contains("no multiple of bs"), "{text}");
    }
}

/// fio's map has blocks of the smallest size of all directions, also of those that the job does not use.
#[test]
fn a_map_finer_than_the_requests_is_said_to_end_a_job_of_fio() {
    let said = |text: &str| read(&format!("[a]\nsize=4m\n{text}")).expect(text).notes.join("\n");
    for text in [
        "rw=randwrite\nbs=4k,8k",
        "rw=randread\nbs=8k,4k",
        "rw=randread\nbs=8k,8k,4k",
        "rw=randrw\nbs=8k,8k,4k",
        "rw=randtrim\nbs=4k,8k,16k",
        "rw=randwrite\nbssplit=4k/100,8k/100",
        "rw=randwrite\nbsrange=4k-8k,8k-16k",
    ] {
        assert!(said(text).contains("fio ends such a job early"), "{text}: {}", said(text));
        let register = said(&format!("{text}\nrandom_generator=lfsr"));
        assert!(register.contains("fio ends a job of lfsr") && !register.contains("such a job early"), "{register}");
        assert!(!said(&format!("{text}\nnorandommap")).contains("fio ends"), "{text}");
        // Such a job goes on with the same pass.
        for beyond in ["io_size=40m", "time_based\nruntime=1"] {
            let repeated = said(&format!("{text}\nsize=4m\n{beyond}"));
            assert!(
                repeated.contains("the next pass is the same") && !repeated.contains("fio ends such a job early"),
                "{repeated}"
            );
        }
        assert!(said(&format!("{text}\nsize=4m\nio_size=2m")).contains("fio ends such a job early"), "{text}");
    }
    for text in [
        "rw=randwrite\nbs=8k,4k",
        "rw=randread\nbs=4k,8k",
        "rw=write\nbs=4k,8k",
        "rw=randwrite\nbs=4k,8k\npercentage_random=50",
        "rw=randwrite\nbs=4k,8k\nrandom_distribution=zoned:60/10:40/90",
        "rw=randwrite\nbs=4k,8k\nblockalign=4k",
    ] {
        assert!(!said(text).contains("fio ends"), "{text}: {}", said(text));
    }
}

#[test]
fn passes_are_the_same_unless_fio_draws_anew() {
    let passes = |text: &str| {
        let text = format!("[a]\nioengine=libaio\nrw=randwrite\nbs=4k\nsize=4m\n{text}");
        let job = read(&text).expect(&text).jobs.remove(0);
        (job.each_pass, job.pass_size.map(|size| size.0 >> 20))
    };
    for text in ["loops=2", "io_size=9m", "loops=2\nrandrepeat=1", "loops=2\nnorandommap", "rw=randrw\nloops=2"] {
        assert_eq!(passes(text), (Some(EachPass::Same), None), "{text}");
    }
    for text in ["randrepeat=0", "allrandrepeat=1\nrandrepeat=0", "random_distribution=zipf"] {
        assert_eq!(passes(&format!("loops=2\n{text}")), (Some(EachPass::Anew), None), "{text}");
    }
    for text in ["", "io_size=2m", "io_size=9m\nnorandommap", "loops=2\nruntime=1\ntime_based", "number_ios=99"] {
        assert_eq!(passes(text), (None, None), "{text}");
    }
    assert_eq!(passes("io_size=9m\nnorandommap\nloops=2"), (Some(EachPass::Same), Some(9)));
    assert_eq!(passes("rw=randread\nio_size=9m\nnorandommap"), (Some(EachPass::Same), None));
    // What fio 3.33 does with engines that complete a request before they take the next: a full map alone ends a pass.
    for text in ["loops=2", "random_generator=lfsr\nnorandommap\nloops=3", "rw=write\nio_size=9m"] {
        assert_eq!(passes(&format!("ioengine=psync\n{text}")), (Some(EachPass::Same), None), "{text}");
        assert_eq!(passes(&format!("ioengine=null\n{text}")), (Some(EachPass::Same), None), "{text}");
    }
    for text in
        ["norandommap", "percentage_random=50", "random_distribution=zoned:60/10:40/90", "rw=rw", "blockalign=8k"]
    {
        assert_eq!(passes(&format!("ioengine=psync\nloops=3\n{text}")), (None, None), "{text}");
        assert_eq!(passes(&format!("ioengine=null\nloops=3\n{text}")), (None, None), "{text}");
    }
    assert_eq!(passes("ioengine=null\niodepth=4\nloops=3\nnorandommap"), (Some(EachPass::Same), None));
    let long = read("[a]\nrw=randread\nnorandommap\nbs=4k\nsize=4m\nio_size=10m\nloops=3\n").expect("is legal");
    assert_eq!(long.jobs[0].requests, Some(7680));
    assert_eq!(passes("random_generator=lfsr\nruntime=1\ntime_based"), (Some(EachPass::Same), None));
}

#[test]
fn a_direction_that_is_left_out_keeps_its_size() {
    let sizes = |text: &str| {
        let job = read(&format!("[global]\nbs=16k\n[a]\nrw=rw\n{text}")).expect(text).jobs.remove(0);
        [Op::Read, Op::Write].map(|op| job.mean_bytes(op) as u64 >> 10)
    };
    assert_eq!(sizes("bs=,8k"), [16, 8]);
    assert_eq!(sizes("bs=8k,"), [8, 16]);
    assert_eq!(sizes("bs=4k\nbs=,8k"), [4, 8]);
    assert_eq!(sizes("bs=,0x2000"), [16, 8]);
    assert_eq!(sizes("bsrange=,4k-12k"), [16, 8]);
    assert_eq!(sizes("bssplit=,4k/50:12k/50\nbs=4k"), [4, 8]);
    let error = read("[a]\nrw=rw\nbs=4k,4k,4k,\n").expect_err("four directions");
    assert!(error.contains("line 3"), "{error}");
}

#[test]
fn comments_stand_behind_anything() {
    let job = |text: &str| read(text).expect(text).jobs.remove(0);
    assert_eq!(job("[a] # c\nrw=read;c\nbs=8k # c ; d\nnorandommap # c\n"), job("[a]\nrw=read\nbs=8k\nnorandommap\n"));
}

#[test]
fn jobs_of_one_name_share_its_file_and_draw_their_own_numbers() {
    let Read { jobs, notes } =
        read("[a]\nsize=64k\n[a]\nsize=32k\n[a-2]\nsize=4k\n[a]\nsize=8k\nnumjobs=2\n").expect("fio takes them");
    let facts: Vec<(&str, u64)> = jobs.iter().map(|job| (job.name.as_str(), job.offset.0 >> 10)).collect();
    assert_eq!(facts, [("a", 0), ("a-3", 0), ("a-2", 64), ("a.0", 0), ("a.1", 68)]);
    assert!(notes.iter().any(|note| note == "another job `a` is called `a-3` here"), "{notes:?}");
}

#[test]
fn notes_call_jobs_of_one_name_as_they_are_called_here() {
    let Read { notes, .. } =
        read("[a]\nrw=randread\nsize=64k\n[a]\nrw=randwrite\nsize=64k\nbuffered=1\n[b]\nsize=4k\n")
            .expect("fio takes them");
    assert!(notes.iter().any(|note| note.starts_with("job a-2: buffered")), "{notes:?}");
    assert!(!notes.iter().any(|note| note.starts_with("job a: ")), "{notes:?}");
}

#[test]
fn a_range_says_the_sizes_wherever_bs_stands_and_what_is_said_last_holds() {
    let job = |text: &str| read(&format!("[a]\nrw=randrw\n{text}")).expect(text).jobs.remove(0);
    for text in ["bsrange=8k-16k\nbs=4k", "bs=4k\nbsrange=8k-16k"] {
        assert_eq!(job(text).mean_bytes(Op::Read) as u64, 12_288, "{text}");
    }
    assert_eq!(job("bs=1000\nbs=4k").bs, Bytes(4096));
    assert_eq!(job("bs=4k,8k\nbs=16k").mean_bytes(Op::Write) as u64, 16_384);
    let error = read("[a]\nbs=4k\n[b]\nbs=4k\nbs=1000\n").expect_err("odd");
    assert!(error.contains("line 5"), "{error}");
}

#[test]
fn synchronous_engines_have_a_depth_of_1() {
    for (text, depth) in [
        ("ioengine=libaio\niodepth=16", 16),
        ("iodepth=16\nioengine=io_uring", 16),
        ("ioengine=psync\niodepth=16", 1),
        ("iodepth=16\nioengine=sync", 1),
        ("ioengine=mmap\niodepth=16", 1),
        ("iodepth=16", 1),
    ] {
        let loaded = read(&format!("[a]\nrw=read\n{text}")).expect(text);
        assert_eq!(loaded.jobs[0].iodepth, depth, "{text}");
        assert_eq!(loaded.notes.iter().any(|note| note.contains("iodepth 16 comes to 1")), depth == 1, "{text}");
    }
}

#[test]
fn each_job_and_copy_has_a_file_of_its_own_unless_they_name_one() {
    let offsets =
        |text: &str| -> Vec<u64> { read(text).expect(text).jobs.iter().map(|job| job.offset.0 >> 10).collect() };
    let two = "[global]\nsize=64k\n[a]\nnumjobs=2\n[b]\nsize=30k\noffset=2k\n[c]\n";
    assert_eq!(offsets(two), [0, 64, 128 + 2, 160]);
    assert_eq!(offsets(&two.replace("size=64k", "size=64k\nfilename=x")), [0, 0, 2, 0]);
    let some = "[global]\nsize=64k\n[a]\nfilename=x\n[b]\n[c]\nfilename=x\noffset=64k\n[d]\ndirectory=d\nfilename=x\n";
    assert_eq!(offsets(some), [0, 128, 64, 192], "a file reaches as far as any of its jobs");
    let increment = "[a]\nsize=64k\nnumjobs=3\noffset_increment=16k\n";
    assert_eq!(offsets(increment), [0, 64 + 16, 64 + 80 + 32]);
    assert_eq!(offsets("[a]\nnumjobs=2\nfilename=x\noffset_increment=16k\n"), [0, 16]);
}

#[test]
fn addresses_come_once_where_fio_keeps_a_map_of_them() {
    let mapped = |text: &str| read(&format!("[a]\nrw=randread\n{text}")).expect(text).jobs[0].random_map;
    for text in ["", "norandommap=0", "norandommap\nrandom_generator=lfsr", "bs=8k\nblockalign=8k"] {
        assert!(mapped(text), "{text}");
    }
    for text in ["norandommap", "random_distribution=zipf", "blockalign=8k", "rw=read"] {
        assert!(!mapped(text), "{text}");
    }
    for text in ["bsrange=4k-8k", "percentage_random=50"] {
        let loaded = read(&format!("[a]\nrw=randread\n{text}")).expect(text);
        assert!(!loaded.jobs[0].random_map);
        assert!(loaded.notes.iter().any(|note| note.contains("drawn anew")), "{text}: {:?}", loaded.notes);
    }
}

#[test]
fn a_job_thinks_in_microseconds() {
    let job =
        read("[a]\nrw=read\nthinktime=50\nthinktime_blocks=4\nthinktime_spin=10\n").expect("is legal").jobs.remove(0);
    assert_eq!((job.thinktime, job.thinktime_blocks), (Some(Duration(50_000)), Some(4)));
}

#[test]
fn sections_are_jobs_that_share_what_is_global_before_them() {
    let text = "[global]\nbs=8k\nexitall\n[a]\nrw=randread\nnorandommap\n[global]\niodepth=4\n[b]\nrw=write\nnumjobs=3\n\
        offset_increment=1m\nstonewall\nstartdelay=2\nbsrange=4k-16k,8k-8k\n";
    let text = text.replace("exitall\n", "").replace("bs=8k\n", "bs=8k\nsize=1m\nioengine=libaio\n");
    let Read { jobs, notes } = read(&text).expect("is legal");
    let [a, b, .., last] = &jobs[..] else { panic!("two jobs and copies: {jobs:?}") };
    assert_eq!((a.name.as_str(), a.bs.0, a.iodepth, a.stonewall, a.startdelay), ("a", 8192, 1, false, None));
    assert_eq!((b.name.as_str(), b.iodepth, b.stonewall), ("b.0", 4, true));
    assert_eq!((last.name.as_str(), last.iodepth, last.stonewall), ("b.2", 4, false));
    assert_eq!((b.startdelay, b.offset), (Some(Duration(2_000_000_000)), Bytes(1 << 20)));
    assert_eq!((b.bs, &b.bsrange), (Bytes(8192), &None), "it only writes");
    assert_eq!(notes[1..], [""; 0]);
    assert!(notes[0].starts_with("4 files"), "{notes:?}");
    let alone = read("[a]\nexitall\noffset_increment=1m\n").expect("one job exits alone");
    assert_eq!(alone.jobs[0].offset_increment, None);
}

#[test]
fn rates_are_held_by_direction_and_shares_are_of_the_drive() {
    let job = |text: &str| read(&format!("[a]\n{text}")).expect(text).jobs.remove(0);
    let rates = |text: &str| (job(text).rate_iops, job(text).write_rate_iops);
    assert_eq!(rates("rw=randrw\nrate_iops=500"), (Some(500.0), Some(500.0)));
    assert_eq!(rates("rw=rw\nrate_iops=500,20"), (Some(500.0), Some(20.0)));
    assert_eq!(rates("rw=write\nrate_iops=500,20"), (Some(20.0), None));
    assert_eq!(rates("rw=randtrim\nrate_iops=500,20,7"), (Some(7.0), None));
    let share = job("rw=randread\nsize=25%\nruntime=5\ntime_based\nramp_time=2");
    assert_eq!((share.size, share.size_percent, share.requests), (None, Some(25.0), None));
    assert_eq!((share.duration, share.ramp_time), (Some(Duration(5_000_000_000)), Some(Duration(2_000_000_000))));
    assert_eq!(job("size=25%\nsize=1m").size_percent, None, "what is said last holds");
    // A region that the drive alone knows, of 1,024 blocks here: its passes end a job as well as its time and its requests.
    let on_a_drive = |text: &str| {
        let job = job(text);
        let region = job.validate(16 << 20).expect(text);
        let job = job.ended_by_passes(&region);
        (job.requests_in_all(&region), job.duration.is_some(), job.each_pass.is_some())
    };
    assert_eq!(on_a_drive("rw=randread\nsize=25%\nruntime=5"), (Some(1_024), true, false));
    assert_eq!(on_a_drive("rw=randread\nsize=25%\nruntime=5\nnumber_ios=100"), (Some(100), true, false));
    assert_eq!(on_a_drive("rw=read\nsize=25%\nloops=3"), (Some(3_072), false, true));
    assert_eq!(on_a_drive("rw=read\nruntime=5\nramp_time=1"), (Some(4_096), true, false));
    assert_eq!(on_a_drive("rw=randread\nsize=25%\nloops=2\nbssplit=4k/50:8k/50").0, Some(1_366), "8 MiB, 6 KiB each");
    assert_eq!(on_a_drive("rw=randread\nsize=25%\nruntime=5\ntime_based"), (None, true, false));
    assert_eq!(on_a_drive("rw=randread\nsize=25%"), (Some(1_024), false, false));
    let begin = |text: &str| (job(text).offset, job(text).offset_percent);
    assert_eq!(begin("offset=25%"), (Bytes(0), Some(25.0)));
    assert_eq!((begin("offset=25%\noffset=1m"), begin("offset=0%")), ((Bytes(1 << 20), None), (Bytes(0), None)));
    let jumps = |text: &str| job(&format!("{text}\nnorandommap")).percentage_random;
    let of_one = ["rw=randread\npercentage_random=50,30", "rw=randwrite\npercentage_random=30,50"];
    assert_eq!(of_one.map(jumps), [50, 50], "of the direction that there is");
    assert_eq!(
        ["50", "50,50", "50,50,9"].map(|share| jumps(&format!("rw=randrw\npercentage_random={share}"))),
        [50; 3]
    );
}

#[test]
fn synchronous_writes_ask_to_be_on_the_media() {
    let share =
        |text: &str| (100.0 * read(&format!("[a]\nrw=write\nsize=64m\n{text}")).expect(text).jobs[0].fua) as u32;
    assert_eq!(["sync=1", "sync=sync", "sync=dsync", "ioengine=sg\nwritefua=1"].map(share), [100; 4]);
    assert_eq!(["", "sync=0", "sync=none", "writefua=0", "readfua=1"].map(share), [0; 5]);
    assert!(read("[a]\nrw=write\nsize=64m\nsync=2").is_err_and(|error| error.contains("sync: `2`")));
}

#[test]
fn what_switches_an_option_off_is_taken_and_counts_have_suffixes() {
    let job = |text: &str| read(&format!("[a]\nrw=randwrite\nsize=64m\n{text}")).expect(text).jobs.remove(0);
    for off in ["verify=0", "rate=0", "sync=0", "zonemode=none", "rate=1m\nrate=0", "rate_iops=0", "fill_fs=0"] {
        assert_eq!(job(off), job(""), "{off}");
    }
    for off in
        ["rate=0k,0", "latency_target=0us", "sync=none", "io_size=0", "rate_iops=9,0", "buffered=0", "end_fsync=0"]
    {
        assert_eq!(job(off), job(""), "{off}");
    }
    assert_eq!(job("rate_iops=,9").rate_iops, Some(9.0));
    assert_eq!((job("rate_iops=1k").rate_iops, job("number_ios=1k").requests), (Some(1024.0), Some(1024)));
    assert_eq!(job("ioengine=libaio\niodepth=1k").iodepth, 1024);
}

#[test]
fn a_rate_is_one_of_bytes_or_of_the_smallest_requests_of_a_poisson_process() {
    let rates = |text: &str| {
        let job = read(&format!("[a]\n{text}")).expect(text).jobs[0].clone();
        (job.rate.map(|rate| rate.0), job.write_rate.map(|rate| rate.0), job.rate_iops, job.write_rate_iops)
    };
    assert_eq!(rates("rate=1m"), (Some(1 << 20), None, None, None));
    assert_eq!(rates("rw=write\nrate=1m,500k"), (Some(500 << 10), None, None, None));
    assert_eq!(rates("rw=randrw\nrate=1m"), (Some(1 << 20), Some(1 << 20), None, None));
    assert_eq!(rates("rw=randrw\nrate=1m,2m"), (Some(1 << 20), Some(2 << 20), None, None));
    let poisson = "rw=randrw\nbsrange=4k-8k,16k-32k\nrate_process=poisson\nrate=1m";
    assert_eq!(rates(poisson), (None, None, Some(256.0), Some(64.0)));
    assert_eq!(rates("rate=0\nrate_iops=7"), (None, None, Some(7.0), None));
}

#[test]
fn a_linear_rate_of_several_sizes_is_one_of_bytes() {
    let by_bytes = |text: &str| read(&format!("[a]\nrw=randrw\n{text}")).expect(text).jobs[0].rate_by_bytes;
    for text in ["rate_iops=5\nbssplit=4k/50:8k/50", "rate_iops=5\nbsrange=4k-8k"] {
        assert!(by_bytes(text), "{text}");
        assert!(!by_bytes(&format!("{text}\nrate_process=poisson")), "{text}");
    }
    assert!(by_bytes("rate_iops=5\nbs=4k,8k\nbssplit=4k,4k/50:8k/50"), "of one direction");
    for text in ["rate_iops=5", "rate_iops=5\nbs=4k,8k", "bssplit=4k/50:8k/50", "rate_iops=0\nbsrange=4k-8k"] {
        assert!(!by_bytes(text), "{text}");
    }
}

#[test]
fn a_note_about_some_of_the_jobs_names_them() {
    let notes = |text: &str| read(text).expect(text).notes.join("\n");
    let some = notes("[global]\nsize=1m\n[a]\nrw=randread\n[b]\nrw=randread\nbsrange=4k-8k\n[c]\ntime_based\n");
    assert!(some.contains("job b: addresses are drawn anew"), "{some}");
    assert!(some.contains("job c: time_based does nothing without runtime"), "{some}");
    let two = notes("[global]\niodepth=4\nsize=1m\n[a]\n[b]\n[c]\nioengine=libaio\n");
    assert!(two.contains("jobs a, b: ioengine psync"), "{two}");
    let ramp = notes("[global]\nsize=1m\nramp_time=1\n[a]\nnumber_ios=9\n[b]\n");
    assert!(ramp.contains("job a: number_ios counts what is submitted during ramp_time"), "{ramp}");
    let effects =
        notes("[global]\nsize=1m\nthread\n[a]\nend_fsync=1\n[b]\nend_fsync=1\nprio=2\n[c]\nverify=0\nnice=1\n");
    assert!(effects.contains("jobs a, b: end_fsync: no flush follows"), "{effects}");
    assert!(effects.contains("job b: prio: priorities of fio do not reach the drive"), "{effects}");
    assert!(effects.contains("job c: fio options that change nothing here: verify, nice"), "{effects}");
    assert!(effects.contains("\nfio options that change nothing here: thread"), "{effects}");
    let off = notes("[global]\nend_fsync=1\nsize=1m\n[a]\nend_fsync=0\n");
    assert!(
        !off.contains("no flush follows") && off.contains("nothing here: end_fsync"),
        "what is said last holds: {off}"
    );
    let based = notes("[a]\nsize=1m\nramp_time=1\nruntime=1\ntime_based\nnumber_ios=9\n");
    assert!(!based.contains("number_ios counts"), "its time alone ends it: {based}");
    let all = notes("[global]\niodepth=4\nsize=1m\n[a]\n[b]\n");
    assert!(all.contains("\nioengine psync"), "{all}");
}

/// fio 3.33 issued 246 syncs of a mix with 25 % reads, where there are 184 here.
#[test]
fn what_fio_does_with_a_mix_is_noted_of_mixes_alone() {
    let notes = |text: &str| read(&format!("[a]\nsize=1m\n{text}")).expect(text).notes.join("; ");
    let often = |mix: u32| notes(&format!("rw=randrw\nrwmixread={mix}\nfsync=3"));
    assert!(often(25).contains("fsync: one flush follows every 3 writes, as in fio from 3.38 on"), "{}", often(25));
    assert!(often(25).contains("1.3 times as many") && often(90).contains("10.0 times as many"), "{}", often(90));
    assert!(notes("rw=rw\nfdatasync=2").contains("fdatasync: one flush"), "of either");
    for text in ["rw=write\nfsync=3", "rw=randrw\nrwmixread=0\nfsync=3", "rw=randrw\nfsync=0", "rw=randrw"] {
        assert!(!notes(text).contains("flush"), "{text}: {}", notes(text));
    }
    // Held against fio: 848 flushes of 799, with one pass 15 of 15.
    for text in ["loops=50", "io_size=2m", "time_based\nruntime=1"] {
        let noted = notes(&format!("rw=write\nfsync=1\n{text}"));
        assert!(noted.contains("fsync: of a flush that is due where a pass ends"), "{text}: {noted}");
    }
    assert!(!notes("rw=write\nloops=50").contains("flush"), "there are none");
    assert!(notes("rw=randread\nrwmixread=70").contains("rwmixread says nothing of a job of reads alone"));
    assert!(notes("rw=write\nrwmixwrite=70").contains("rwmixwrite says nothing of a job of writes alone"));
    assert!(!notes("rw=rw\nrwmixread=70").contains("says nothing"));
    // No request is smaller than a block of the map.
    for (split, most) in [("4k/50:8k/50", "1.5"), ("4k/60:16k/30:64k/10", "3.4"), ("8k/50:16k/50", "1.5")] {
        let notes = notes(&format!("rw=randread\nbssplit={split}"));
        assert!(notes.contains(&format!("up to {most} times as many")), "{split}: {notes}");
    }
}

#[test]
fn blanks_beside_numbers_and_in_names_are_read_as_by_fio() {
    let of = |text: &str| format!("{:?}", read(text).expect("legal").jobs);
    let plain = of("[a]\nfilename=a b\nbs=4096\niodepth=4\nsize=1048576\nioengine=libaio\n");
    assert_eq!(of("[a]\nfilename = a b\n  bs =4096 \niodepth= 4\nsize =  1048576\nioengine =libaio\n"), plain);
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    for (text, words) in [
        ("[a]\nrw=randread\nthinktime_iotime=5\n", vec!["line 3", "thinktime_iotime"]),
        ("[a]\nrw=randread\nthinktime=5\niodepth=4\nioengine=libaio\nthinktime_blocks_type=issue\n", vec!["line 6"]),
        ("[a]\nioengine=net\n", vec!["line 2", "ioengine", "`net`"]),
        ("[a]\nfilename=a:b\nsize=1m\n", vec!["line 2", "filename", "more than one"]),
        ("[a]\nsize=1m\n[b]\nsize=10%\n", vec!["line 4", "size", "filename="]),
        ("[a]\nsize=1m\n[b]\nbs=4k\n", vec!["line 3", "size", "filename="]),
        ("[a]\nnrfiles=2\n", vec!["line 2", "nrfiles"]),
        ("[a]\ninclude other.fio\n", vec!["line 2", "include"]),
        ("[a]\nrw=randread\niodept=5\n", vec!["line 3", "did you mean `iodepth`"]),
        ("[a]\nbsrange=4k-10k\n", vec!["line 2", "bsrange", "10KiB is not a multiple of 4KiB"]),
        ("[a]\nbsrange=4k\n", vec!["line 2", "is not a range"]),
        ("[a]\nrandom_distribution=hotcold:90/10\n", vec!["line 2", "fio has no such distribution"]),
        ("[a]\nrandom_distribution=zipf:1.0\n", vec!["line 2", "zipf:1.0", "refuses a theta of 1"]),
        ("[a]\nramp_time=5x\n", vec!["line 2", "5x"]),
        ("[a]\nrw=randrw\nrate_iops=100,0\n", vec!["line 3", "rate_iops", "100 for reads and 0 for writes"]),
        ("[a]\nrandom_distribution=zoned:60/10:40/90,50/50:50/50\n", vec!["line 2", "each direction"]),
        ("[a]\nstartdelay=1-5\n", vec!["line 2", "startdelay", "1-5"]),
        ("[a]\nrw=sideways\n", vec!["line 2", "sideways", "randrw"]),
        ("[a]\nbs=4ki\n", vec!["line 2", "power of 1000"]),
        ("[a]\nsize=0x10k\n", vec!["line 2", "hexadecimal", "no suffix"]),
        ("[a]\nsize=0%\n", vec!["line 2", "share of the drive"]),
        ("[a]\noffset=100%\n", vec!["line 2", "offset", "share of the drive"]),
        ("[a]\nio_size=10%\n", vec!["line 2", "for size and offset alone"]),
        ("[a]\nsize=1m\n[b]\nsize=1m\noffset=10%\n", vec!["line 5", "offset: give it in bytes", "filename="]),
        (
            "[a]\nrw=randrw\npercentage_random=50,30\n",
            vec!["line 3", "percentage_random: 50 for reads and 30 for writes", "give a job for each direction"],
        ),
        ("[a]\npercentage_random=50,130\n", vec!["line 2", "`130` is not a percentage"]),
        ("[a]\nsize=${SIZE}\n", vec!["line 2", "${SIZE}", "not read"]),
        ("[a]\nbs=$pagesize\n", vec!["line 2", "$pagesize", "not read"]),
        // fio reads a bare number behind a blank: 1 request a second, 8 bytes; of words nothing.
        ("[a]\nrate_iops = 1k\n", vec!["line 2", "`rate_iops = 1k`", "`rate_iops=1k`"]),
        ("[a]\nbs=4k, 8k\n", vec!["line 2", "begins with a blank", "`bs=4k,8k`"]),
        ("[a]\nbssplit=4k/50: 8k/50\n", vec!["line 2", "`bssplit=4k/50:8k/50`"]),
        ("[a]\nrw = randread\n", vec!["line 2", "`rw=randread`"]),
        ("[a]\nbs=\n", vec!["line 2", "bs: fio wants a value"]),
        ("[a]\nstonewall=\n", vec!["line 2", "stonewall: fio wants a value"]),
        ("[a]\nbs\n", vec!["line 2", "bs: fio wants a value"]),
        ("[a]\n[b]\nthinktime_iotime=1m\n", vec!["line 3", "thinktime_blocks"]),
        ("[a]\nrate=1m\nrate_iops=5\n", vec!["line 2", "rate: rate_iops says already"]),
        ("[a]\nrw=rw\nrate=1m,0\n", vec!["line 3", "rate of 0"]),
        ("[a]\nrate=4000\nrate_process=poisson\n", vec!["line 2", "less than one request of 4KiB"]),
        ("[global]\nexitall\n[a]\n[b]\n", vec!["line 2", "exitall", "runtime"]),
        ("[a]\nnumjobs=0\n", vec!["line 2", "numjobs", "1 to 256"]),
        ("[a]\nnumjobs=257\n", vec!["line 2", "1 to 256"]),
        ("[a]\nrw=randrw\nrate_iops=5,0\n", vec!["line 3", "rate_iops", "rate of 0"]),
        ("[a]\nrate_iops=1,2,3,4\n", vec!["line 2", "three directions"]),
        ("[a]\nruntime=99999999999d\n", vec!["too long"]),
        ("rw=read\n", vec!["line 1", "before the first section"]),
        ("[a\n", vec!["line 1", "no section"]),
        ("[global]\nrw=read\n", vec!["no job section"]),
        ("", vec!["no job section"]),
    ] {
        let error = read(text).expect_err(text);
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }
}
