//! The log on zones: by hand, and its write amplification against closed forms.

use ninescope_generators::zone_log::CleaningOrder;
use ninescope_generators::{ZoneLog, ZoneLogConfig, ZoneSpace, ZrwaSpace};
use ninescope_kernel::RandomStream;
use ninescope_model::units::Bytes;
use ninescope_model::{Arrival, Lba, Op, Request, Workload, WorkloadError, ZoneCommand};
use ninescope_oracles::write_amplification::{fifo, greedy};

const BLOCK: u64 = 4096;
const SECTORS: u64 = 8;

/// Requests from a function.
struct Made<F>(F);

impl<F: FnMut() -> Option<Request> + Send> Workload for Made<F> {
    fn arrival(&self) -> Arrival {
        Arrival::Closed
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok((self.0)())
    }
}

/// Zones of so many blocks, whose addresses span two more.
fn space(zones: u32, blocks: u64) -> ZoneSpace {
    ZoneSpace {
        zones,
        size: (blocks + 2) * SECTORS,
        capacity: blocks * SECTORS,
        unit: SECTORS,
        open: 4,
        bad: Vec::new(),
        zrwa: None,
        is_of_host: false,
    }
}

/// The same with random write areas of so many blocks, that are committed by so many.
fn space_with_areas(zones: u32, blocks: u64, (size, granularity): (u64, u64)) -> ZoneSpace {
    let zrwa = ZrwaSpace { size: size * SECTORS, granularity: granularity * SECTORS, zones: 2 };
    ZoneSpace { zrwa: Some(zrwa), ..space(zones, blocks) }
}

fn blocks(op: Op, block: u64, count: u64) -> Request {
    Request { op, lba: Lba(block * SECTORS), sectors: (count * SECTORS) as u32, ..Request::default() }
}

/// What the drive is asked: the operation, the zone, the block in it, and how many.
fn told(config: ZoneLogConfig, space: &ZoneSpace, requests: Vec<Request>) -> Vec<(&'static str, u64, u64, u64)> {
    let mut requests = requests.into_iter();
    let mut log = ZoneLog::new(config, space.clone(), Box::new(Made(move || requests.next()))).expect("a log");
    let mut out = Vec::new();
    while let Some(request) = log.next_request().expect("no errors") {
        let name =
            if request.remark.zone() == ZoneCommand::None { request.op.name() } else { request.remark.zone().name() };
        let (zone, offset) = (request.lba.0 / space.size, request.lba.0 % space.size / SECTORS);
        out.push((name, zone, offset, u64::from(request.sectors) / SECTORS));
    }
    out
}

#[test]
fn what_is_written_goes_to_the_end_of_the_log_and_is_read_there() {
    let config = ZoneLogConfig { size: Bytes(8 * BLOCK), full: false, free_zones: 1, ..ZoneLogConfig::default() };
    let requests = vec![
        blocks(Op::Read, 0, 2), // nothing is there
        blocks(Op::Write, 6, 2),
        blocks(Op::Write, 0, 3), // over the end of the zone
        blocks(Op::Read, 6, 2),
        blocks(Op::Read, 0, 3),
        Request { sectors: 1, ..blocks(Op::Write, 6, 1) }, // in part
        blocks(Op::Trim, 7, 1),
        blocks(Op::Read, 6, 2),
    ];
    let expected = [
        ("append", 0, 0, 2),
        ("append", 0, 2, 2),
        ("append", 1, 0, 1),
        ("read", 0, 0, 2),
        ("read", 0, 2, 2),
        ("read", 1, 0, 1),
        ("read", 0, 0, 1),
        ("append", 1, 1, 1),
        ("read", 1, 1, 1),
    ];
    assert_eq!(told(config, &space(8, 4), requests), expected);
}

#[test]
fn the_cleaner_moves_what_counts_and_resets_the_zone() {
    // Eight blocks fill two of eight zones of four; the cleaner works where three zones are free when another one is opened.
    let config = ZoneLogConfig { size: Bytes(8 * BLOCK), append: false, free_zones: 3, ..ZoneLogConfig::default() };
    let writes = [(0, 4), (0, 4), (0, 3), (4, 1), (5, 1), (6, 1), (6, 1), (6, 1), (0, 1), (0, 3), (6, 1)];
    let requests = writes.map(|(block, count)| blocks(Op::Write, block, count)).to_vec();
    let expected = [
        ("write", 2, 0, 4),
        ("write", 3, 0, 4),
        ("write", 4, 0, 3),
        ("write", 4, 3, 1),
        // Nothing of the first zone counts.
        ("reset", 0, 0, 1),
        ("write", 5, 0, 1),
        ("write", 5, 1, 1),
        ("write", 5, 2, 1),
        ("write", 5, 3, 1),
        ("reset", 2, 0, 1),
        ("write", 6, 0, 1),
        ("write", 6, 1, 3),
        // One block of this one does, and goes to a zone of the cleaner's own, which is one free zone less.
        ("read", 1, 3, 1),
        ("write", 7, 0, 1),
        ("reset", 1, 0, 1),
        ("read", 3, 3, 1),
        ("write", 7, 1, 1),
        ("reset", 3, 0, 1),
        ("write", 0, 0, 1),
    ];
    assert_eq!(told(config, &space(8, 4), requests), expected);
}

#[test]
fn write_amplification_of_the_store_has_its_closed_form() {
    const ZONES: u32 = 2_048;
    const PER_ZONE: u32 = 64;
    for (order, spare_factor) in [
        (CleaningOrder::Greedy, 1.15),
        (CleaningOrder::Greedy, 1.4),
        (CleaningOrder::Fifo, 1.15),
        (CleaningOrder::Fifo, 1.4),
    ] {
        // Zones that are free, and those of the two logs, hold nothing that is cleaned.
        let candidates = (ZONES - 2 - 2) * PER_ZONE;
        let units = (f64::from(candidates) / spare_factor) as u32;
        let config =
            ZoneLogConfig { size: Bytes(u64::from(units) * BLOCK), cleaning: order, ..ZoneLogConfig::default() };
        let mut stream = RandomStream::new(1, "tests", "overwrites");
        let made = Made(move || Some(blocks(Op::Write, stream.below(units.into()), 1)));
        let mut log = ZoneLog::new(config, space(ZONES, PER_ZONE.into()), Box::new(made)).expect("a log");
        let mut run = |laps: u32| {
            let before = *log.zone_log().expect("a log");
            while log.zone_log().expect("a log").written_blocks < before.written_blocks + u64::from(laps * units) {
                log.next_request().expect("no errors");
            }
            let after = *log.zone_log().expect("a log");
            let written = after.written_blocks - before.written_blocks;
            (written + after.moved_blocks - before.moved_blocks) as f64 / written as f64
        };
        run(8);
        let measured = run(8);
        let spare_factor = f64::from(candidates) / f64::from(units);
        let expected = match order {
            CleaningOrder::Greedy => greedy(spare_factor, PER_ZONE),
            CleaningOrder::Fifo => fifo(spare_factor),
        };
        let error = measured / expected - 1.0;
        assert!(error.abs() < 0.005, "{order:?} at {spare_factor:.3}: {measured:.4}, the closed form {expected:.4}");
    }
}

#[test]
fn what_lies_in_the_area_of_a_log_is_overwritten_there() {
    let config = ZoneLogConfig {
        size: Bytes(8 * BLOCK),
        full: false,
        free_zones: 1,
        append: false,
        zrwa: true,
        ..ZoneLogConfig::default()
    };
    let requests = vec![
        blocks(Op::Write, 0, 2),
        blocks(Op::Write, 0, 1), // in the area
        blocks(Op::Write, 5, 1), // commits the first block
        blocks(Op::Write, 0, 1), // to the end of the log, and of the zone
        blocks(Op::Write, 0, 1), // the zone is full: to the next one
        blocks(Op::Write, 5, 1),
        blocks(Op::Read, 0, 1),
    ];
    let expected = [
        ("open-zrwa", 0, 0, 1),
        ("write", 0, 0, 2),
        ("write", 0, 0, 1),
        ("write", 0, 2, 1),
        ("write", 0, 3, 1),
        ("commit", 0, 0, 4),
        ("open-zrwa", 1, 0, 1),
        ("write", 1, 0, 1),
        ("write", 1, 1, 1),
        ("read", 1, 0, 1),
    ];
    assert_eq!(told(config, &space_with_areas(8, 4, (2, 1)), requests), expected);
    let refused = |config: ZoneLogConfig, space: ZoneSpace| {
        ZoneLog::new(config, space, Box::new(Made(|| None))).err().expect("refused").key
    };
    let config = ZoneLogConfig { size: Bytes(8 * BLOCK), append: false, zrwa: true, ..ZoneLogConfig::default() };
    assert_eq!(refused(config.clone(), space(8, 4)), "zone_log.zrwa", "there are none");
    let areas = space_with_areas(8, 4, (2, 1));
    assert_eq!(refused(ZoneLogConfig { append: true, ..config.clone() }, areas.clone()), "zone_log.zrwa");
    assert_eq!(refused(ZoneLogConfig { logs: 3, ..config.clone() }, areas.clone()), "zone_log.zrwa");
    assert_eq!(refused(ZoneLogConfig { block: Bytes(4 * BLOCK), ..config }, areas), "zone_log.zrwa");
}

/// What uniform writes overwrite in an area of `area` blocks, of `blocks` in all, where a zone takes `per_zone`: each write finds its
/// block there with the share that the area holds of all, so that a zone with k blocks, of which the last `area` may be overwritten,
/// takes 1 / (1 - min(k, area) / blocks) writes until it has one more.
fn absorbed(blocks: u32, per_zone: u32, area: u32) -> f64 {
    let writes: f64 = (0..per_zone).map(|k| 1.0 / (1.0 - f64::from(k.min(area)) / f64::from(blocks))).sum();
    1.0 - f64::from(per_zone) / writes
}

#[test]
fn what_areas_absorb_of_uniform_writes_has_its_closed_form() {
    const PER_ZONE: u32 = 256;
    for (blocks_of_store, area) in [(4_096, 64), (1_024, 128), (512, 255)] {
        let config = ZoneLogConfig {
            size: Bytes(u64::from(blocks_of_store) * BLOCK),
            append: false,
            zrwa: true,
            ..ZoneLogConfig::default()
        };
        let mut stream = RandomStream::new(1, "tests", "overwrites");
        let made = Made(move || Some(blocks(Op::Write, stream.below(blocks_of_store.into()), 1)));
        let space = space_with_areas(64, PER_ZONE.into(), (area, 1));
        let mut log = ZoneLog::new(config, space, Box::new(made)).expect("a log");
        while log.zone_log().expect("a log").written_blocks < 400_000 {
            log.next_request().expect("no errors");
        }
        let told = *log.zone_log().expect("a log");
        let measured = told.overwritten_blocks as f64 / told.written_blocks as f64;
        let expected = absorbed(blocks_of_store, PER_ZONE, area as u32);
        // Four standard deviations of as many draws.
        let error = (measured - expected).abs();
        let deviation = (expected * (1.0 - expected) / 400_000.0).sqrt();
        assert!(error < 4.0 * deviation, "{blocks_of_store} blocks, areas of {area}: {measured:.5}, {expected:.5}");
    }
}

#[test]
fn what_makes_no_log_is_named() {
    let refused = |config: ZoneLogConfig, space: ZoneSpace| {
        let none = Made(|| None);
        ZoneLog::new(config, space, Box::new(none)).err().expect("refused").key
    };
    let config = |size: u64| ZoneLogConfig { size: Bytes(size * BLOCK), ..ZoneLogConfig::default() };
    assert_eq!(refused(config(0), space(8, 4)), "zone_log.size");
    assert_eq!(
        refused(config(13), space(8, 4)),
        "zone_log.size",
        "five of eight zones are the logs' and the cleaner's"
    );
    assert_eq!(refused(ZoneLogConfig { block: Bytes(2048), ..config(8) }, space(8, 4)), "zone_log.block");
    assert_eq!(refused(ZoneLogConfig { logs: 4, ..config(8) }, space(8, 4)), "zone_log.logs");
    assert_eq!(refused(ZoneLogConfig { free_zones: 0, ..config(8) }, space(8, 4)), "zone_log.free_zones");
}

/// Segments of a drive without zones, of so many blocks each.
fn segments(config: &ZoneLogConfig, count: u64, blocks: u64) -> (ZoneLogConfig, ZoneSpace) {
    let config = ZoneLogConfig { segment: Some(Bytes(blocks * SECTORS * 512)), ..config.clone() };
    let space = ZoneSpace::of_segments(&config, count * blocks * SECTORS + SECTORS, SECTORS).expect("segments");
    (config, space)
}

#[test]
fn on_a_drive_without_zones_segments_are_written_in_order_and_trimmed_before_they_are_written_again() {
    let plain =
        ZoneLogConfig { size: Bytes(20 * SECTORS * 512), block: Bytes(SECTORS * 512), ..ZoneLogConfig::default() };
    let plain = ZoneLogConfig { logs: 2, free_zones: 1, ..plain };
    let mut dice = RandomStream::new(7, "test", "segments");
    let requests: Vec<Request> =
        (0..2_000).map(|_| Request { stream: dice.below(4) as u8, ..blocks(Op::Write, dice.below(20), 1) }).collect();
    let (config, space) = segments(&plain, 12, 4);
    assert_eq!((space.zones, space.capacity), (12, 4 * SECTORS));
    let mut given = requests.clone().into_iter();
    let mut log = ZoneLog::new(config, space.clone(), Box::new(Made(move || given.next()))).expect("a log");
    // What a drive has to see: by segment how far it is written, and by which stream.
    let mut written: Vec<(u64, Option<u8>)> = vec![(4, None); 5];
    written.resize(12, (0, None));
    let (mut trims, mut of_cleaner) = (0, 0);
    while let Some(request) = log.next_request().expect("no errors") {
        assert_eq!(request.remark.zone(), ZoneCommand::None, "a drive without zones takes plain commands");
        let (segment, offset) = ((request.lba.0 / space.size) as usize, request.lba.0 % space.size / SECTORS);
        let (end, stream) = &mut written[segment];
        match request.op {
            Op::Trim => {
                assert_eq!((offset, u64::from(request.sectors), *end), (0, space.size, 4), "a full one as a whole");
                (*end, *stream) = (0, None);
                trims += 1;
            }
            Op::Write => {
                assert_eq!(*end, offset, "in order, and not before it is trimmed");
                assert!(stream.is_none_or(|stream| stream == request.stream), "each log has segments of its own");
                assert!(request.stream <= 2, "two logs, and the cleaner");
                of_cleaner += u32::from(request.stream == 2);
                *stream = Some(request.stream);
                *end += u64::from(request.sectors) / SECTORS;
            }
            _ => assert!(offset < *end, "what was written is read"),
        }
    }
    let told = log.zone_log().expect("statistics");
    assert_eq!((told.written_blocks, told.cleaned_zones), (2_000, trims));
    assert!(trims > 100 && of_cleaner > 100, "{trims} {of_cleaner}");
    // The same moves as on zones of as many blocks.
    let zoned = ZoneSpace { open: 17, ..self::space(12, 4) };
    let mut given = requests.into_iter();
    let mut on_zones = ZoneLog::new(plain, zoned, Box::new(Made(move || given.next()))).expect("a log");
    while on_zones.next_request().expect("no errors").is_some() {}
    assert_eq!(log.zone_log(), on_zones.zone_log());
}

#[test]
fn a_segment_that_makes_no_sense_is_refused_by_its_key() {
    let config = ZoneLogConfig { size: Bytes(1 << 20), segment: Some(Bytes(1 << 20)), ..ZoneLogConfig::default() };
    let key = |error: ninescope_generators::JobError| error.to_string();
    let on_zones = config.validate(&space(9, 256)).expect_err("zones are there");
    assert!(key(on_zones).contains("zone_log.segment"));
    for segment in [None, Some(Bytes(0)), Some(Bytes(5000))] {
        let wrong = ZoneLogConfig { segment, ..config.clone() };
        let error = ZoneSpace::of_segments(&wrong, 1 << 20, SECTORS).expect_err("it makes no sense");
        assert!(key(error).contains("zone_log.segment"), "{segment:?}");
    }
}
