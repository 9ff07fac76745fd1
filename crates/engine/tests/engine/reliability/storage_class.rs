//! Codes of storage-class memory: sectors through decoders, encoding and verifying before the bank is free, and pages
//! that migrations bring from one medium to the other.
//!
//! A sector of memory takes 1000 ns and 100 on its bus; the code adds 300 ns to a write, 500 to a read, 900 to one with
//! errors. Above flash, a page is 32 sectors, which takes 100 us to read or 1 ms to program, and 1 us of bus.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_ecc::policies::latency::fixed::Fixed;
use ninescope_ecc::{EccSchemeConfig, LatencyConfig};
use ninescope_engine::reliability::code::CodeCounters;
use ninescope_engine::reliability::{ReliabilityConfig, ReliabilityCounters, ScmReliability};
use ninescope_engine::{Device, EngineConfig, LaneConfig, NoProbe, RunLimits, ScmPart};
use ninescope_kernel::Rate;
use ninescope_media::health::ErrorModelConfig;
use ninescope_media::scm::program_verify::to_the_cap::ToTheCap;
use ninescope_media::scm::{ProgramVerify, ProgramVerifyConfig, Scm, ScmTiming, WrittenCells};
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Cause, Lpa, Op, Request, ScmGeometry};
use serde_json::json;

use crate::common::tiered::{TierBench, latencies, slots_in_use, symmetric};
use crate::common::{Bench, at, open, read, trim, write};
use crate::reliability::drives::{constant, never_corrected};
use crate::scenario::policy_with;

/// A sector in the array, and on the bus [ns].
const ARRAY: u64 = 1_000;
const BUS: u64 = 100;
const SECTOR: u64 = ARRAY + BUS;
const ENCODE: u64 = 300;
const CLEAN: u64 = 500;
const CORRUPTED: u64 = 900;

/// Corrects eight bits of a sector.
fn code() -> Bch {
    let latency = Fixed { encode: Duration(ENCODE), clean: Duration(CLEAN), corrupted: Duration(CORRUPTED) };
    Bch { user_data: Bytes(512), correctable: 8, latency: LatencyConfig::Fixed(latency), ..Bch::default() }
}

/// Every sector holds errors, and none more than this code corrects: 20 of 4096 + 13 x 60 bits in the mean, none with a
/// chance of e^-20, more than 60 with one of 1e-12.
fn always_corrected() -> (Bch, ErrorModelConfig) {
    (Bch { correctable: 60, ..code() }, constant(20.0 / 4_876.0))
}

fn of_medium(code: Bch, errors: Option<ErrorModelConfig>) -> ScmReliability {
    ScmReliability { ecc: Some(EccSchemeConfig::Bch(code).build().expect("a code")), errors }
}

/// A drive of memory alone.
#[derive(Clone)]
struct Memory {
    channels: u32,
    banks_per_channel: u32,
    code: Bch,
    errors: Option<ErrorModelConfig>,
    verify: Option<ProgramVerifyConfig>,
    timing: ScmTiming,
    link_rate: Rate,
}

impl Memory {
    /// One bank of 16 slots of 32 sectors.
    fn new() -> Self {
        Self {
            channels: 1,
            banks_per_channel: 1,
            code: code(),
            errors: None,
            verify: None,
            timing: symmetric(ARRAY, BUS),
            link_rate: Rate(0),
        }
    }

    fn run(&self, requests: Vec<Request>) -> Device {
        let shape = ScmGeometry::checked(self.channels, self.banks_per_channel, 16, 32, 0).expect("a legal shape");
        let mut media = Scm::new(&shape, &self.timing).expect("legal times");
        if let Some(verify) = &self.verify {
            let cells = WrittenCells { count: 4096, rber: Some(1e-3) };
            let policy: Box<dyn ProgramVerify> = verify.build(&cells).expect("a legal policy");
            media = media.with_verify(0, policy, 1);
        }
        let scm = ScmPart::new(&[(shape, Default::default())], media);
        let engine = EngineConfig { log_requests: true, link_rate: self.link_rate, ..Bench::tiny().engine };
        let lanes = vec![LaneConfig::new(Box::new(open(requests)), 64)];
        let mut device: Device = Device::of_scm(&engine, &RunLimits::default(), scm, lanes, NoProbe);
        device.set_reliability(&ReliabilityConfig {
            scm: vec![of_medium(self.code.clone(), self.errors.clone())],
            seed: 1,
            ..ReliabilityConfig::default()
        });
        device.run().expect("the run ends well");
        device
    }
}

fn counted(device: &Device) -> ReliabilityCounters {
    *device.seen().reliability.expect("a drive with codes").counters()
}

fn of_code(device: &Device, medium: usize) -> CodeCounters {
    device.seen().reliability.expect("a drive with codes").scm_code(medium).expect("a code").counters
}

fn parts(device: &Device, op: Op) -> Vec<(Cause, u64)> {
    let total = device.meter().ops[op as usize].attribution.total();
    Cause::ALL.into_iter().zip(total.lanes()).filter(|&(_, time)| time > 0).collect()
}

// ---- memory alone ----------------------------------------------------------------------------------------

#[test]
fn sectors_are_decoded_one_after_the_other_behind_the_bus() {
    let device = Memory::new().run(vec![read(8, 8)]);
    assert_eq!(
        parts(&device, Op::Read),
        [(Cause::CommandArray, 8 * ARRAY), (Cause::Transfer, 8 * BUS), (Cause::Decode, 8 * CLEAN)]
    );
    let code = of_code(&device, 0);
    assert_eq!((code.codewords, code.corrupted_codewords, code.decoder_busy_ns), (8, 0, 8 * CLEAN));
}

#[test]
fn sectors_with_errors_take_longer_and_are_corrected() {
    let (code, errors) = always_corrected();
    let device = Memory { code, errors: Some(errors), ..Memory::new() }.run(vec![read(0, 8)]);
    assert_eq!(latencies(&device), [8 * (SECTOR + CORRUPTED)]);
    let code = of_code(&device, 0);
    assert_eq!((code.corrupted_codewords, code.failed_codewords), (8, 0));
    assert!((160 - 64..160 + 64).contains(&code.corrected_bits), "20 in the mean: {}", code.corrected_bits);
}

#[test]
fn a_sector_that_does_not_decode_is_reported_and_nothing_crosses_the_link() {
    let mut memory = Memory { errors: Some(never_corrected()), ..Memory::new() };
    memory.link_rate = Rate(512_000_000);
    let device = memory.run(vec![read(0, 2), at(1_000_000, read(30, 4))]);
    // The second one reads two slots of one bank; the last two sectors are decoded behind all four.
    assert_eq!(latencies(&device), [2 * (SECTOR + CORRUPTED), 4 * SECTOR + 2 * CORRUPTED]);
    let counted = counted(&device);
    assert_eq!((counted.failed_reads, counted.reads_reported, counted.units_lost), (3, 2, 0));
}

#[test]
fn the_bank_waits_for_the_encoder() {
    let device = Memory::new().run(vec![write(0, 8), at(1, read(0, 1))]);
    assert_eq!(
        parts(&device, Op::Write),
        [(Cause::CommandArray, 8 * ARRAY), (Cause::Transfer, 8 * BUS), (Cause::Encode, 8 * ENCODE)]
    );
    let written = 8 * (SECTOR + ENCODE);
    assert_eq!(latencies(&device), [written, written - 1 + SECTOR + CLEAN]);
    assert_eq!(of_code(&device, 0).encoded_codewords, 8);
}

#[test]
fn verified_writes_are_encoded_first() {
    // Three cycles of a verify read and a pulse behind the first pulse: 7 us for each sector.
    let verify = Some(ProgramVerifyConfig::ToTheCap(ToTheCap { cycles: 3, ..ToTheCap::default() }));
    let device = Memory { verify, ..Memory::new() }.run(vec![write(0, 8)]);
    assert_eq!(
        parts(&device, Op::Write),
        [(Cause::CommandArray, 8 * 7 * ARRAY), (Cause::Transfer, 8 * BUS), (Cause::Encode, 8 * ENCODE)]
    );
    assert_eq!((device.scm().counters(0).verify_cycles, of_code(&device, 0).encoded_codewords), (24, 8));
}

#[test]
fn verifying_cuts_the_errors_that_reads_find() {
    // The law of a verify cycle (`curve.rs`): after v of 20 cycles 0.49 (1 - e^(-v/5)) / (1 - e^-4) of the errors are
    // gone.
    let corrected = |cycles: u32| {
        let verify = Some(ProgramVerifyConfig::ToTheCap(ToTheCap { cycles, ..ToTheCap::default() }));
        let memory = Memory { verify, errors: Some(constant(1e-4)), ..Memory::new() };
        let device = memory.run((0..5_000).map(|index| at(index * 100_000, read(index % 16 * 32, 32))).collect());
        of_code(&device, 0).corrected_bits as f64
    };
    // 4096 + 13 x 8 bits of 160,000 sectors.
    let bits = 4_200.0 * 160_000.0 * 1e-4;
    for (cycles, share) in [(0, 1.0), (5, 1.0 - 0.49 * libm::expm1(-1.0) / libm::expm1(-4.0)), (20, 0.51)] {
        let (measured, expected) = (corrected(cycles), bits * share);
        assert!((measured - expected).abs() < 4.0 * expected.sqrt(), "{cycles}: {measured} for {expected}");
    }
}

#[test]
fn banks_of_a_channel_queue_at_its_decoder_and_channels_do_not() {
    let two_slots = |memory: &Memory| {
        let device = memory.run(vec![read(0, 1), read(32, 1)]);
        (latencies(&device), of_code(&device, 0).decoder_wait_ns)
    };
    // Slots lie on banks in turn, on channels first.
    let alone = SECTOR + CLEAN;
    assert_eq!(two_slots(&Memory { channels: 2, ..Memory::new() }), (vec![alone, alone], 0));
    let one_channel = Memory { banks_per_channel: 2, ..Memory::new() };
    assert_eq!(two_slots(&one_channel), (vec![alone, alone + CLEAN], CLEAN - BUS));
    let two_decoders = Memory { code: Bch { decoders: 2, ..code() }, ..one_channel };
    assert_eq!(two_slots(&two_decoders), (vec![alone, alone + BUS], 0));
    let shared = Memory { channels: 2, code: Bch { shared: true, ..code() }, ..Memory::new() };
    assert_eq!(two_slots(&shared), (vec![alone, alone + CLEAN], CLEAN));
}

#[test]
fn shared_decoders_of_banks_serve_in_the_order_of_arrival() {
    // Slot 0 has four sectors on the bus from 4 us on, slot 1 one, from 4.1 us on: it is there first.
    let memory = Memory { channels: 2, code: Bch { shared: true, ..code() }, ..Memory::new() };
    let device = memory.run(vec![read(0, 4), at(3_100, read(32, 1))]);
    let (four, one) = (4 * SECTOR, 3_100 + SECTOR);
    assert!(4 * ARRAY < 3_100 + ARRAY && one < four);
    assert_eq!(latencies(&device), [one + CLEAN + 4 * CLEAN, SECTOR + CLEAN]);
}

#[test]
fn a_decode_holds_its_bank_where_it_is_told_to() {
    let reads = || vec![read(0, 4), read(4, 4)];
    let device = Memory::new().run(reads());
    assert_eq!(latencies(&device), [4 * (SECTOR + CLEAN), 8 * SECTOR + 4 * CLEAN]);
    let device = Memory { code: Bch { holds_die: true, ..code() }, ..Memory::new() }.run(reads());
    assert_eq!(latencies(&device), [4 * (SECTOR + CLEAN), 8 * (SECTOR + CLEAN)]);
    assert!(parts(&device, Op::Read).contains(&(Cause::DieHostRead, 4 * (SECTOR + CLEAN))));
}

#[test]
fn parity_crosses_the_bus_with_its_sectors() {
    // 13 x 8 bits: 13 B more, 525 of them at 5.12 B/ns: 102.54 for one, 820.3 for eight.
    let device = Memory { code: Bch { moves_parity: true, ..code() }, ..Memory::new() }.run(vec![
        read(0, 1),
        at(100_000, read(0, 8)),
        at(200_000, write(0, 8)),
    ]);
    let burst = [103, 821, 821];
    assert_eq!(
        latencies(&device),
        [ARRAY + burst[0] + CLEAN, 8 * ARRAY + burst[1] + 8 * CLEAN, 8 * (ARRAY + ENCODE) + burst[2]]
    );
}

#[test]
fn a_sector_that_was_written_often_fails_more_often() {
    // A rate of 1e-6 for each write of the first sector of a slot.
    let model = policy_with(&json!({
        "policy": "power-law", "floor": 0.0, "cycles_factor": 1e-6, "cycles_exponent": 1.0,
        "retention_factor": 0.0, "reads_factor": 0.0,
    }));
    let memory = Memory { errors: Some(model), ..Memory::new() };
    let writes = |count: u64| (0..count).map(|index| at(index * 10_000, write(0, 1)));
    let run = |count: u64| {
        let reads = (0..10_000).map(|index| at(100_000_000 + index * 10_000, read(0, 1)));
        of_code(&memory.run(writes(count).chain(reads).collect()), 0).corrected_bits as f64
    };
    assert!(run(0).abs() < 1e-9, "never written");
    for count in [10, 100] {
        let (measured, expected) = (run(count), 4_200.0 * 1e-6 * count as f64 * 10_000.0);
        assert!((measured - expected).abs() < 4.0 * expected.sqrt(), "{count}: {measured} for {expected}");
    }
}

// ---- two media -------------------------------------------------------------------------------------------

/// A page of memory, on its way from a bank; of flash, read or programmed.
const PAGE: u64 = 32 * SECTOR;
const FLASH_READ: u64 = 101_000;
const FLASH_PROGRAM: u64 = 1_001_000;

/// The drive of two media of `tier_mechanisms`, with these codes of its memory.
fn two_media(placement: &serde_json::Value, scm: Vec<ScmReliability>, slots: u32) -> TierBench2 {
    let mut bench = TierBench::round(placement);
    (bench.slots.0, bench.depth) = (slots, 8);
    TierBench2 { bench, reliability: ReliabilityConfig { scm, seed: 1, ..ReliabilityConfig::default() } }
}

struct TierBench2 {
    bench: TierBench,
    reliability: ReliabilityConfig,
}

impl TierBench2 {
    /// The same with a code of its flash, of one codeword to a page, nothing of which can be read from the start on.
    fn with_unreadable_flash(mut self) -> Self {
        let drive = crate::reliability::drives::old_data_is_lost(crate::scenario::Drive::default());
        self.reliability.nand = drive.reliability.nand;
        let code = Bch { user_data: Bytes(16_384), ..crate::reliability::drives::bch() };
        self.reliability.nand.ecc = Some(EccSchemeConfig::Bch(code).build().expect("a code"));
        self
    }

    fn run(&self, requests: Vec<Request>) -> Device {
        let mut device = self.bench.device(Box::new(open(requests)));
        device.set_reliability(&self.reliability);
        device.run().expect("the run ends well");
        device
    }
}

fn wb() -> serde_json::Value {
    json!({ "policy": "wb", "migration": "background" })
}

/// The same, which brings nothing up that is read.
fn wb_of_writes() -> serde_json::Value {
    json!({ "policy": "wb", "migration": "background", "copy_reads": false })
}

fn is_lost(device: &Device, page: u32) -> bool {
    device.seen().reliability.expect("a drive with codes").damage().is_lost(Lpa(page))
}

#[test]
fn an_eviction_passes_the_decoder_of_its_slot() {
    // One slot: page 0 goes down for page 1. Its slot is read and decoded, its page programmed.
    let drive = two_media(&wb(), vec![of_medium(code(), None)], 1);
    let device = drive.run(vec![write(0, 32), at(100_000, write(32, 1))]);
    let evicted = PAGE + 32 * CLEAN + FLASH_PROGRAM;
    assert_eq!(latencies(&device), [PAGE + 32 * ENCODE, evicted + SECTOR + ENCODE]);
    let code = of_code(&device, 0);
    assert_eq!((code.codewords, code.encoded_codewords), (32, 33));
}

#[test]
fn a_request_that_waits_for_reads_waits_for_their_decoders() {
    // Two slots, one of which is to be free: page 0, of which one sector is above, leaves for page 1.
    let description = json!({
        "policy": "wb", "migration": "foreground-reads", "copy_reads": false, "evict_free": 0.4, "evict_stop": 0.4,
    });
    let drive = two_media(&description, vec![of_medium(code(), None)], 2);
    let device = drive.run(vec![write(0, 1), at(10_000_000, write(32, 1))]);
    // Written; its slot read and decoded; then flash, which has no code, read; the program goes on behind.
    let written = SECTOR + ENCODE;
    assert_eq!(latencies(&device), [written, written + SECTOR + CLEAN + FLASH_READ]);
}

#[test]
fn a_page_that_is_copied_up_is_encoded_for_its_slot() {
    let drive = two_media(&json!({ "policy": "wb", "migration": "foreground" }), vec![of_medium(code(), None)], 1);
    let device = drive.run(vec![read(0, 1), at(1_000_000, read(1, 1))]);
    assert_eq!(latencies(&device), [FLASH_READ + PAGE + 32 * ENCODE, SECTOR + CLEAN]);
}

#[test]
fn storage_type_memory_has_a_code_of_its_own() {
    // The lower memory takes 10 us for a sector. Page 0 goes down into it as soon as it is written, so that a slot is
    // free; page 1 waits for that. A read of page 0 has it come up again.
    let slow = Bch {
        latency: LatencyConfig::Fixed(Fixed { encode: Duration(7), clean: Duration(11), corrupted: Duration(11) }),
        ..code()
    };
    let scm = vec![of_medium(code(), None), of_medium(slow, None)];
    let drive = two_media(&json!({ "policy": "nv-wb", "migration": "background" }), scm, 1);
    let device = drive.run(vec![write(0, 32), at(100_000, write(32, 1)), at(10_000_000, read(0, 1))]);
    let down = PAGE + 32 * CLEAN + 32 * (10_000 + BUS + 7);
    let written = PAGE + 32 * ENCODE;
    assert_eq!(latencies(&device)[..2], [written, written + down - 100_000 + SECTOR + ENCODE]);
    assert_eq!(latencies(&device)[2], 10_000 + BUS + 11);
    assert_eq!((of_code(&device, 1).encoded_codewords, of_code(&device, 1).codewords), (32 + 1, 1 + 32));
}

#[test]
fn a_page_whose_slot_cannot_be_read_is_lost_on_its_way_down() {
    let drive = two_media(&wb_of_writes(), vec![of_medium(code(), Some(never_corrected()))], 1);
    let device = drive.run(vec![
        write(0, 32),
        at(100_000, write(32, 1)),
        at(10_000_000, read(0, 1)),   // from flash, where it is worthless
        at(20_000_000, write(0, 32)), // repaired, at the price of page 1, which goes down for it
    ]);
    assert_eq!((counted(&device).units_lost, counted(&device).reads_reported), (2, 1));
    assert_eq!((is_lost(&device, 0), is_lost(&device, 1)), (false, true));
}

#[test]
fn a_page_that_was_trimmed_on_its_way_down_is_not_lost() {
    let drive = two_media(&wb(), vec![of_medium(code(), Some(never_corrected()))], 1);
    let device =
        drive.run(vec![write(0, 32), at(100_000, write(32, 1)), at(110_000, trim(0, 32)), at(10_000_000, read(0, 1))]);
    assert_eq!((counted(&device).units_lost, counted(&device).reads_reported), (0, 0));
}

#[test]
fn a_page_that_was_rewritten_on_its_way_down_is_not_lost() {
    // Its slot holds all of it anew when the copy that could not be read would have gone down.
    let drive = two_media(&wb(), vec![of_medium(code(), Some(never_corrected()))], 1);
    let device = drive.run(vec![write(0, 32), at(100_000, write(32, 1)), at(110_000, write(0, 32))]);
    let [lost, reported] = [counted(&device).units_lost, counted(&device).reads_reported];
    // The second time it goes down it cannot be read either.
    assert_eq!((lost, reported), (1, 0));
    let first_down = 100_000 + PAGE + 32 * CORRUPTED + FLASH_PROGRAM;
    assert!(device.now().0 > first_down + FLASH_PROGRAM, "it went down twice");
}

#[test]
fn of_flash_the_codewords_are_decoded_that_hold_what_is_not_above() {
    // A page of four codewords. The second one lies above: it is not decoded, unless the page goes up as a whole.
    for (placement, codewords) in [(wb_of_writes(), 3), (wb(), 4)] {
        let mut drive = two_media(&placement, vec![of_medium(code(), None)], 4);
        let of_flash = crate::reliability::drives::bch();
        drive.reliability.nand.ecc = Some(EccSchemeConfig::Bch(of_flash).build().expect("a code"));
        let device = drive.run(vec![write(8, 8), at(100_000, read(0, 32))]);
        let decoded = codewords * crate::reliability::drives::CLEAN;
        assert_eq!(latencies(&device), [8 * (SECTOR + ENCODE), FLASH_READ + decoded]);
        let part = device.seen().reliability.expect("a drive with codes");
        let counted = part.nand_code(ninescope_engine::reliability::NandCode::Ecc).expect("a code").counters;
        assert_eq!(counted.codewords, codewords);
    }
}

#[test]
fn a_page_that_was_trimmed_on_its_way_up_is_not_lost() {
    let drive = two_media(&wb(), vec![of_medium(code(), None)], 4).with_unreadable_flash();
    // The host's read finds the error; what it brings goes up, unless the page is forgotten by then.
    let requests = |change: Request| vec![read(0, 1), at(50_000, change), at(10_000_000, read(0, 1))];
    let device = drive.run(requests(trim(0, 32)));
    assert_eq!((counted(&device).units_lost, counted(&device).reads_reported), (0, 1));
    let device = drive.run(requests(write(0, 32)));
    assert_eq!((counted(&device).units_lost, counted(&device).reads_reported), (0, 1));
    let device = drive.run(requests(trim(32, 32)));
    assert_eq!((counted(&device).units_lost, counted(&device).reads_reported), (1, 2));
    assert_eq!(slots_in_use(&device)[0].0, 0);
}

#[test]
fn a_page_that_is_completed_from_flash_which_cannot_be_read_is_lost() {
    // One sector of page 0 is above; the rest is to come from flash, when it goes down for page 1.
    let drive = two_media(&wb_of_writes(), vec![of_medium(code(), None)], 1).with_unreadable_flash();
    let device = drive.run(vec![write(0, 1), at(100_000, write(32, 1)), at(10_000_000, read(0, 1))]);
    assert_eq!(
        (counted(&device).units_lost, counted(&device).failed_reads, counted(&device).reads_reported),
        (1, 1, 1)
    );
    assert!(is_lost(&device, 0));
}
