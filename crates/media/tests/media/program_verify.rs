//! Verified writes seen from outside: what they take, by hand and as sums over their sectors, and what they spare the
//! code.

use ninescope_kernel::{Ns, Rate};
use ninescope_media::scm::{
    BankState, CopyPath, IllegalScmCommand, ProgramVerifyConfig, PulseOrder, Scm, ScmCommand, ScmCommandKind as Kind,
    ScmTiming, Verified, WrittenCells,
};
use ninescope_model::{BankId, ScmGeometry};

const BANK: BankId = BankId(1);
const TIMING: ScmTiming = ScmTiming {
    read: Ns(100),
    set: Ns(70),
    reset: Ns(110),
    pulse_order: PulseOrder::Together,
    command_address: Ns(10),
    channel_rate: Rate(1_280_000_000),
    copies: CopyPath::InMemory,
};

fn scm(policy: &str, timing: &ScmTiming, seed: u64) -> Scm {
    let geometry = ScmGeometry::checked(2, 1, 64, 32, 0).expect("a legal shape");
    let config: ProgramVerifyConfig = toml::from_str(policy).expect("readable");
    let policy = config.build(&WrittenCells { count: 4096, rber: None }).expect("legal");
    Scm::new(&geometry, timing).expect("legal times").with_verify(0, policy, seed)
}

/// The array time of a command on so many sectors, and how each was verified.
fn run(scm: &mut Scm, kind: Kind, sectors: u32) -> (Ns, Vec<Verified>) {
    for sector in 0..sectors {
        if kind == Kind::Write { scm.pulse(BANK, sector) } else { scm.pulse_copy(BANK, sector) }
    }
    assert!(scm.verifies(BANK));
    let verified = (0..sectors).map(|_| scm.verify(BANK, kind)).collect();
    let end = scm.begin_array(&ScmCommand { kind, bank: BANK, sectors }, Ns(7)).expect("an idle bank");
    scm.end_array(BANK, end).expect("its end");
    (end - Ns(7), verified)
}

#[test]
fn a_write_to_the_cap_takes_a_verify_read_and_pulses_per_cycle() {
    let in_turn = ScmTiming { pulse_order: PulseOrder::InTurn, ..TIMING };
    for (policy, timing, sector) in [
        // t_w + V (t_r + t_w): 110 + 3 x (100 + 110).
        ("policy = 'to-the-cap'\ncycles = 3", TIMING, 740),
        ("policy = 'to-the-cap'\ncycles = 0", TIMING, 110),
        // A verify read of its own: 110 + 3 x (40 + 110).
        ("policy = 'to-the-cap'\ncycles = 3\nverify_read = '40ns'", TIMING, 560),
        // Two cycles of both pulses, and two with set pulses alone: 110 + 2 x 210 + 2 x (100 + 70).
        ("policy = 'to-the-cap'\ncycles_set = 4\ncycles_reset = 2", TIMING, 870),
        // The same one after the other: 180 + 2 x (100 + 180) + 2 x (100 + 70).
        ("policy = 'to-the-cap'\ncycles_set = 4\ncycles_reset = 2", in_turn, 1080),
        // Resets alone are verified: 110 + 20 x (100 + 110).
        ("policy = 'to-the-cap'\ncycles_set = 0", TIMING, 4310),
    ] {
        let mut scm = scm(policy, &timing, 1);
        let cap = scm.verify_cycles_max(BANK);
        let (time, verified) = run(&mut scm, Kind::Write, 3);
        assert_eq!(time, Ns(3 * sector), "{policy}");
        assert_eq!(verified, [Verified { cycles: cap, reads: cap }; 3]);
        // A copy reads the sector before, and its write is verified too.
        assert_eq!(run(&mut scm, Kind::Copy, 2).0, Ns(2 * (sector + 100)), "{policy}");
        // Through the controller what comes back is verified.
        let through = ScmTiming { copies: CopyPath::ThroughController, ..timing };
        let mut through = self::scm(policy, &through, 1);
        assert_eq!(run(&mut through, Kind::CopyIn, 2).0, Ns(2 * sector), "{policy}");
        assert_eq!(scm.sector_time(BANK, Kind::Read, 0), Ns(100));
        let wear: u32 = scm.wear().iter().sum();
        assert_eq!(wear, 5, "wear counts writes, not cycles");
    }
}

#[test]
fn a_write_until_it_passes_takes_the_sum_over_its_sectors() {
    let policy = "policy = 'until-pass'\ncycles = 9\naccept_bits = 2\nrber = 1e-3";
    let mut memory = scm(policy, &TIMING, 11);
    let (mut seen, mut first) = ([0_u32; 10], Vec::new());
    for _ in 0..200 {
        let (time, verified) = run(&mut memory, Kind::Write, 32);
        // Each cycle a read and a pulse; a sector that passes before the cap was read once more.
        let sector = |verified: &Verified| {
            assert_eq!(verified.reads, 9.min(verified.cycles + 1));
            110 + 110 * u64::from(verified.cycles) + 100 * u64::from(verified.reads)
        };
        assert_eq!(time.0, verified.iter().map(sector).sum::<u64>());
        for verified in &verified {
            seen[verified.cycles as usize] += 1;
        }
        first.extend(verified);
    }
    assert!(seen.iter().all(|&sectors| sectors > 20), "{seen:?}");
    // The seed decides, and nothing else.
    let again = |seed| run(&mut scm(policy, &TIMING, seed), Kind::Write, 32).1;
    assert_eq!(again(11), first[..32]);
    assert_ne!(again(12), first[..32]);
}

#[test]
fn each_medium_verifies_as_it_is_told() {
    let shape = ScmGeometry::checked(1, 1, 8, 4, 0).expect("a legal shape");
    let cells = WrittenCells { count: 4096, rber: None };
    let config: ProgramVerifyConfig = toml::from_str("policy = 'to-the-cap'").expect("readable");
    let policy = config.build(&cells).expect("legal");
    let scm = Scm::of_media(&[(shape, TIMING), (shape, TIMING)]).expect("legal").with_verify(1, policy, 1);
    assert_eq!((scm.ber_factor(0).to_bits(), scm.ber_factor(1).to_bits()), (1.0_f64.to_bits(), 0.51_f64.to_bits()));
    assert_eq!((scm.verify_cycles_max(BankId(0)), scm.verify_cycles_max(BankId(1))), (0, 20));
    assert_eq!((scm.verifies(BankId(0)), scm.verifies(BankId(1))), (false, true));
}

#[test]
fn a_write_begins_when_all_its_sectors_know_their_cycles() {
    let mut scm = scm("policy = 'to-the-cap'\ncycles = 1", &TIMING, 1);
    let write = ScmCommand { kind: Kind::Write, bank: BANK, sectors: 2 };
    scm.pulse(BANK, 0);
    scm.pulse(BANK, 1);
    scm.verify(BANK, Kind::Write);
    let early = scm.begin_array(&write, Ns(0)).expect_err("one is missing");
    assert_eq!(early, IllegalScmCommand::VerifyCount { bank: BANK, kind: Kind::Write, sectors: 2, verified: 1 });
    assert_eq!(scm.state(BANK), BankState::Idle);
    scm.verify(BANK, Kind::Write);
    assert_eq!(scm.begin_array(&write, Ns(0)).expect("both"), Ns(2 * 320));
}

/// The chance that more than `correctable` of `bits` bits fail, per user bit: the tail is summed from its largest term.
fn uber(bits: u32, correctable: u32, user_bits: u32, rber: f64) -> f64 {
    let factorial = |number: u32| libm::lgamma(f64::from(number) + 1.0);
    let first = correctable + 1;
    let logarithm = factorial(bits) - factorial(first) - factorial(bits - first)
        + f64::from(first) * libm::log(rber)
        + f64::from(bits - first) * libm::log1p(-rber);
    let (mut term, mut sum) = (1.0, 0.0);
    for failing in first..=bits {
        sum += term;
        term *= f64::from(bits - failing) / f64::from(failing + 1) * rber / (1.0 - rber);
    }
    libm::exp(logarithm) * sum / f64::from(user_bits)
}

/// A BCH code on a sector of 512 B, of 13 parity bits per bit it corrects.
fn sector_uber(correctable: u32, rber: f64) -> f64 {
    uber(4096 + 13 * correctable, correctable, 4096, rber)
}

/// The highest rate that a code for `correctable` bits bears at 1e-15 errors per bit.
fn acceptable_rber(correctable: u32) -> f64 {
    let (mut good, mut bad) = (1e-12, 0.01);
    for _ in 0..100 {
        let middle = f64::midpoint(good, bad);
        *(if sector_uber(correctable, middle) <= 1e-15 { &mut good } else { &mut bad }) = middle;
    }
    good
}

/// By the binomial law of a codeword: a cut of 49 % lowers the bits a code has to correct from 35 to 25, 30 to 22 and
/// so on.
#[test]
fn twenty_cycles_spare_the_code_a_third_of_its_strength() {
    let factor = scm("policy = 'to-the-cap'\ncycles = 20", &TIMING, 1).ber_factor(0);
    // What 35 bits bear in the same paper.
    assert!((acceptable_rber(35) / 1.92e-3 - 1.0).abs() < 0.01, "{}", acceptable_rber(35));
    for (without, with) in [(35, 25), (30, 22), (25, 19), (20, 15), (15, 12), (10, 9), (5, 5)] {
        let rber = acceptable_rber(without) * factor;
        let needed = (1..=without).find(|&correctable| acceptable_rber(correctable) >= rber);
        assert_eq!(needed, Some(with), "{without} bits without verifying");
    }
}
