//! Choices of streams: what each says of small sequences, worked out by hand; what comes of them where theory says it, and in
//! which order where it does not; and that nothing gets stuck with the least spare there may be.

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::victim_selection::{fifo, greedy};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoice, StreamChoiceConfig, Told,
    VictimSelectionConfig, Written,
};
use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Ppa, Stream};
use ninescope_oracles::write_amplification as oracle;

const FIFO: VictimSelectionConfig = VictimSelectionConfig::Fifo(fifo::Fifo {});
const GREEDY: VictimSelectionConfig = VictimSelectionConfig::Greedy(greedy::Greedy {});

fn choice(told: serde_json::Value) -> StreamChoiceConfig {
    serde_json::from_value(told).expect("a policy of the registry")
}

fn built(told: serde_json::Value) -> Box<dyn StreamChoice> {
    choice(told).chosen().build(100, 10)
}

fn written(unit: u32, before: Option<Stream>) -> Written {
    Written { lpa: Lpa(unit), clean: false, told: Told::default(), before }
}

fn told(stream: u8, sectors: u32) -> Written {
    Written { told: Told { stream, sectors }, ..written(0, Some(Stream::of_writes(1))) }
}

#[test]
fn a_unit_that_is_moved_goes_a_generation_on() {
    let policy = built(serde_json::json!({ "policy": "generations", "generations": 3 }));
    assert_eq!((policy.kinds_of_writes(), policy.kinds_of_moves()), (1, 3));
    assert_eq!(policy.of_write(&written(7, Some(Stream::of_moves(2)))), 0, "what is written is new");
    let next = |from: Stream| policy.of_move(Lpa(7), false, from);
    let from = [Stream::HOST, Stream::of_moves(0), Stream::of_moves(1), Stream::of_moves(2)];
    assert_eq!(from.map(next), [0, 1, 2, 2]);
}

#[test]
fn a_write_heats_and_a_move_cools() {
    let policy = built(serde_json::json!({ "policy": "dac", "regions": 3 }));
    let heated = |before: Option<Stream>| policy.of_write(&written(7, before));
    let before = [None, Some(Stream::of_writes(0)), Some(Stream::of_moves(1)), Some(Stream::of_writes(2))];
    assert_eq!(before.map(heated), [0, 1, 2, 2]);
    let cooled = |from: u32| policy.of_move(Lpa(7), false, Stream::of_writes(from));
    assert_eq!([0, 1, 2].map(cooled), [0, 0, 1]);
}

/// Of a hundred units: what was written within half a drive write is heated, what was not for a whole one is cooled.
#[test]
fn temperatures_change_with_young_and_old_data_alone() {
    let mut policy =
        built(serde_json::json!({ "policy": "dac", "regions": 3, "hotter_within": 0.5, "colder_after": 1.0 }));
    let mut aged = |age: u32| {
        policy.written(Lpa(5), 0);
        (1..age).for_each(|_| policy.written(Lpa(0), 0));
        let before = Stream::of_writes(1);
        (policy.of_write(&written(5, Some(before))), policy.of_move(Lpa(5), false, before))
    };
    assert_eq!([49, 50, 99, 100].map(&mut aged), [(2, 1), (1, 1), (1, 1), (1, 0)]);
    assert_eq!(policy.of_write(&written(5, None)), 0, "what was not there is coldest");
}

#[test]
fn small_writes_lie_apart_and_stay_there() {
    let policy = built(serde_json::json!({ "policy": "by-size", "small": "8KiB" }));
    // 16 sectors are 8 KiB; what no command wrote has no size.
    assert_eq!([1, 16, 17, 0].map(|sectors| policy.of_write(&told(0, sectors))), [1, 1, 0, 0]);
    assert_eq!([0, 1].map(|kind| policy.of_move(Lpa(0), false, Stream::of_writes(kind))), [0, 1]);
}

#[test]
fn the_host_names_streams_and_moves_keep_or_leave_them() {
    let apart = built(serde_json::json!({ "policy": "hinted", "streams": 3 }));
    assert_eq!([0, 1, 2, 3, 255].map(|stream| apart.of_write(&told(stream, 8))), [0, 1, 2, 2, 2]);
    assert_eq!(apart.of_write(&told(2, 0)), 1, "what the drive writes by itself stays where it was");
    assert_eq!([0, 2].map(|kind| apart.of_move(Lpa(0), false, Stream::of_writes(kind))), [0, 2]);
    let together = built(serde_json::json!({ "policy": "hinted", "streams": 3, "moves_apart": false }));
    assert_eq!((together.kinds_of_writes(), together.kinds_of_moves()), (3, 1));
    assert_eq!(together.of_move(Lpa(0), false, Stream::of_writes(2)), 0);
}

/// The threshold is the mean life of sixteen groups of the short-lived; classes of moves begin at 4 and 16 of it.
#[test]
fn lives_are_inferred_from_those_before() {
    let mut policy = built(serde_json::json!({ "policy": "sepbit" }));
    let short = Stream::of_writes(0);
    assert_eq!(policy.of_write(&written(1, None)), 1, "what was never there has no life");
    policy.written(Lpa(1), 0);
    assert_eq!(policy.of_write(&written(1, Some(short))), 0, "without a threshold all lives are short");
    assert_eq!(policy.of_move(Lpa(1), false, Stream::of_writes(1)), 1, "and all ages young");
    // Sixteen groups that are there for 10 units each; others do not count.
    for _ in 0..16 {
        policy.opened(BlockGroup(3), short);
        policy.opened(BlockGroup(4), Stream::of_writes(1));
        (0..10).for_each(|_| policy.written(Lpa(0), 0));
        policy.erased(BlockGroup(4), Stream::of_writes(1));
        policy.erased(BlockGroup(3), short);
    }
    // Unit 5 is written, and `age` others behind it.
    let mut aged = |age: u32| {
        policy.written(Lpa(5), 0);
        (1..age).for_each(|_| policy.written(Lpa(0), 0));
        (policy.of_write(&written(5, Some(short))), policy.of_move(Lpa(5), false, Stream::of_writes(1)))
    };
    assert_eq!([9, 10, 39, 40, 159, 160].map(&mut aged), [(0, 1), (1, 1), (1, 1), (1, 2), (1, 2), (1, 3)]);
    assert_eq!(policy.of_move(Lpa(5), false, short), 0, "what the short-lived leave has a class of its own");
}

// ---- write amplification ---------------------------------------------------------------------------------

const GROUPS: u32 = 2048;
const PAGES: u32 = 16;
/// Beyond the reserve: moves open groups of their kinds while some are.
const BEYOND_RESERVE: u32 = 6;
/// Free at any time: the reserve, those beyond, and one more that collection goes on to.
const FREE: u32 = 1 + BEYOND_RESERVE + 1;

/// A drive of which hot writes go to a tenth of the units, and what comes of it.
struct Skewed {
    ftl: Ftl,
    stream: RandomStream,
}

impl Skewed {
    fn new(streams: StreamChoiceConfig, victim_selection: VictimSelectionConfig) -> Self {
        let geometry = Geometry::checked(1, 1, 1, 1, GROUPS, PAGES, 4096, 4096, 1).expect("legal");
        let config = FtlConfig {
            logical_units: (f64::from(GROUPS * PAGES) / 1.28) as u32,
            reserve_groups: 1,
            page_allocation: PageAllocationConfig::default(),
            stream_choice: streams,
            free_block_choice: FreeBlockChoiceConfig::default(),
            gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: BEYOND_RESERVE }),
            victim_selection,
            seed: 1,
            ..FtlConfig::bare(geometry)
        };
        Self { ftl: Ftl::new(&config).expect("enough spare groups"), stream: RandomStream::new(1, "tests", "skewed") }
    }

    fn write(&mut self, writes: u64) {
        let units = u64::from(self.ftl.logical_units());
        let hot_units = units / 10;
        let mut driver = InstantDriver::new(&mut self.ftl);
        for _ in 0..writes {
            let hot = self.stream.below(10) < 9;
            let unit =
                if hot { self.stream.below(hot_units) } else { hot_units + self.stream.below(units - hot_units) };
            let told = Told { stream: u8::from(hot), sectors: if hot { 8 } else { 64 } };
            driver.write_told(Lpa(unit as u32), told).expect("collection goes on");
        }
    }

    /// Write amplification over some turns of the drive after others.
    fn amplification(mut self, before: u64, measured: u64) -> f64 {
        let units = u64::from(self.ftl.logical_units());
        (0..units).for_each(|unit| {
            let told = Told { stream: u8::from(unit < units / 10), sectors: if unit < units / 10 { 8 } else { 64 } };
            InstantDriver::new(&mut self.ftl).write_told(Lpa(unit as u32), told).map(drop).expect("it fills");
        });
        self.write(before * units);
        self.ftl.clear_counters();
        self.write(measured * units);
        let counters = self.ftl.counters();
        let by_stream: u64 = counters.streams.iter().sum();
        assert!(by_stream == 0 || by_stream == counters.programmed_units(), "each unit has its stream");
        counters.write_amplification()
    }
}

/// Data that lie in groups of the same age have the same share of valid units there whether or not they lie apart: first in,
/// first out gains nothing by streams, and comes to the mixture's closed form with them too.
#[test]
fn streams_gain_nothing_where_the_oldest_group_is_collected() {
    let streams = choice(serde_json::json!({ "policy": "hinted", "streams": 2 }));
    let drive = Skewed::new(streams, FIFO);
    let units = f64::from(drive.ftl.logical_units());
    // Two frontiers more than without, half full.
    let spare_factor = f64::from((GROUPS - FREE - 2) * PAGES) / units;
    let classes = [
        oracle::TrafficClass { write_share: 0.9, data_share: 0.1 },
        oracle::TrafficClass { write_share: 0.1, data_share: 0.9 },
    ];
    let expected = oracle::fifo_hot_cold(spare_factor, &classes);
    let measured = drive.amplification(20, 30);
    assert!((measured / expected - 1.0).abs() < 0.005, "{measured}, expected {expected}");
}

#[test]
fn what_lies_apart_by_its_life_is_collected_for_less() {
    let waf = |told: serde_json::Value| Skewed::new(choice(told), GREEDY).amplification(20, 15);
    let single = waf(serde_json::json!({ "policy": "single" }));
    let named = waf(serde_json::json!({ "policy": "hinted", "streams": 2 }));
    // Small writes are the hot ones here: what a size says is what the host says.
    assert_eq!(waf(serde_json::json!({ "policy": "by-size" })).to_bits(), named.to_bits());
    assert!(named < 0.9 * single, "{named}, in one stream {single}");
    let with_ages = serde_json::json!({ "policy": "dac", "regions": 2, "hotter_within": 0.5, "colder_after": 1.0 });
    let inferred = ["sepbit", "generations", "dac"].map(|policy| serde_json::json!({ "policy": policy }));
    for (told, gains) in inferred.into_iter().chain([with_ages]).zip([0.05, 0.02, 0.01, 0.08]) {
        let (policy, inferred) = (told.to_string(), waf(told));
        assert!(inferred < (1.0 - gains) * single, "{policy}: {inferred}, in one stream {single}");
        assert!(inferred > named, "{policy}: {inferred}, as the host knows it {named}");
    }
}

// ---- the least spare -------------------------------------------------------------------------------------

#[test]
fn no_choice_gets_stuck_with_the_least_spare() {
    let mut stream = RandomStream::new(1, "tests", "least spare");
    for policy in ["by-size", "hinted", "generations", "dac", "sepbit"] {
        for world in 0..150_u64 {
            let mut draw = |least: u64, most: u64| least + stream.below(most - least + 1);
            let (channels, pages, units_per_page) = (draw(1, 2) as u32, draw(1, 6) as u32, 1 << draw(0, 3));
            let (data_groups, reserve) = (draw(1, 6) as u32, draw(1, 3) as u32);
            let geometry = |blocks| {
                let page = 4_096 * units_per_page;
                Geometry::checked(channels, 1, 1, 1, blocks, pages, page, 4_096, 1).expect("a legal shape")
            };
            let mut config = FtlConfig {
                logical_units: data_groups * pages * units_per_page * channels,
                reserve_groups: reserve,
                page_allocation: PageAllocationConfig::default(),
                stream_choice: choice(serde_json::json!({ "policy": policy })),
                free_block_choice: FreeBlockChoiceConfig::default(),
                gc_trigger: GcTriggerConfig::default(),
                victim_selection: [GREEDY, FIFO][world as usize % 2].clone(),
                seed: world,
                ..FtlConfig::bare(geometry(1))
            };
            config.geometry = geometry(data_groups + config.spare_groups_needed());
            let mut ftl = Ftl::new(&config).expect("as much as the check asks");
            let units = u64::from(config.logical_units);
            for step in 0..2_000 {
                let unit = if step < units { step } else { draw(0, units - 1) };
                let told = Told { stream: draw(0, 5) as u8, sectors: 8 << draw(0, 4) };
                let mut driver = InstantDriver::new(&mut ftl);
                if let Err(error) = driver.write_told(Lpa(unit as u32), told) {
                    panic!("{policy}, world {world}, step {step}: {error}");
                }
            }
            let mapped = (0..config.logical_units).filter(|&unit| ftl.translate(Lpa(unit)) != Ppa::UNMAPPED).count();
            assert_eq!(mapped as u64, units.min(2_000));
        }
    }
}
