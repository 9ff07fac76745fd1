//! Storage-class memory seen from outside: durations are sums over sectors, wear counts every pulse, and illegal
//! commands are refused by name.

use ninescope_kernel::{Ns, Rate};
use ninescope_media::scm::{
    BankState, CopyPath, IllegalScmCommand, PulseOrder, Scm, ScmCommand, ScmCommandKind as Kind, ScmTiming,
};
use ninescope_model::{BankId, ScmGeometry};

const BANK: BankId = BankId(1);

fn timing() -> ScmTiming {
    ScmTiming {
        read: Ns(100),
        set: Ns(70),
        reset: Ns(110),
        pulse_order: PulseOrder::Together,
        command_address: Ns(10),
        channel_rate: Rate(1_280_000_000),
        copies: CopyPath::InMemory,
    }
}

fn scm(timing: &ScmTiming) -> Scm {
    let geometry = ScmGeometry::checked(2, 1, 8, 4, 1).expect("a legal shape");
    Scm::new(&geometry, timing).expect("legal times")
}

fn command(kind: Kind, sectors: u32) -> ScmCommand {
    ScmCommand { kind, bank: BANK, sectors }
}

#[test]
fn the_time_of_a_command_is_the_sum_over_its_sectors() {
    let sectors = |mut scm: Scm, kind: Kind, count: u32| {
        for sector in 0..count {
            match kind {
                Kind::Read => {}
                Kind::Write => scm.pulse(BANK, sector),
                Kind::Copy | Kind::CopyOut | Kind::CopyIn => scm.pulse_copy(BANK, sector),
            }
        }
        scm.begin_array(&command(kind, count), Ns(50)).expect("an idle bank") - Ns(50)
    };
    // The longer pulse decides: 110 ns a sector; a copy reads first.
    let together = || scm(&timing());
    assert_eq!(sectors(together(), Kind::Read, 3), Ns(300));
    assert_eq!(sectors(together(), Kind::Write, 3), Ns(330));
    assert_eq!(sectors(together(), Kind::Copy, 2), Ns(420));
    let through = || scm(&ScmTiming { copies: CopyPath::ThroughController, ..timing() });
    assert_eq!((sectors(through(), Kind::CopyOut, 2), sectors(through(), Kind::CopyIn, 2)), (Ns(200), Ns(220)));
    let in_turn = || scm(&ScmTiming { pulse_order: PulseOrder::InTurn, ..timing() });
    assert_eq!(sectors(in_turn(), Kind::Write, 3), Ns(540));
    assert_eq!(sectors(in_turn(), Kind::Copy, 2), Ns(560));
    let together = together();
    // 512 B at 1.28 GB/s are 400 ns, and a burst is rounded up once.
    assert_eq!(together.data_time(BankId(0), 512), Ns(400));
    assert_eq!(scm(&ScmTiming { channel_rate: Rate(900_000_000), ..timing() }).data_time(BankId(0), 1024), Ns(1138));
}

#[test]
fn every_pulse_wears_its_sector_and_no_other() {
    let mut scm = scm(&timing());
    for (round, sector) in [3, 3, 16].into_iter().enumerate() {
        scm.pulse(BANK, sector);
        let begin = Ns(round as u64 * 1000);
        let end = scm.begin_array(&command(Kind::Write, 1), begin).expect("an idle bank");
        assert_eq!(end, begin + Ns(110));
        assert!(matches!(scm.state(BANK), BankState::Busy { .. }));
        assert_eq!(scm.end_array(BANK, end).expect("its end"), command(Kind::Write, 1));
    }
    let mut expected = [0; 17];
    (expected[3], expected[16]) = (2, 1);
    assert_eq!(scm.wear_of(BANK), expected);
    assert_eq!(scm.wear_of(BankId(0)), [0; 17]);
    assert_eq!(scm.wear().iter().sum::<u32>(), 3);
}

#[test]
fn reading_wears_nothing() {
    let mut scm = scm(&timing());
    let end = scm.begin_array(&command(Kind::Read, 4), Ns(50)).expect("an idle bank");
    assert_eq!(end, Ns(450));
    scm.end_array(BANK, end).expect("its end");
    assert!(scm.wear().iter().all(|&wear| wear == 0));
}

#[test]
fn illegal_commands_are_refused_and_change_nothing() {
    let mut scm = scm(&timing());
    let refused = |scm: &mut Scm, command: ScmCommand| scm.begin_array(&command, Ns::ZERO).expect_err("refused");
    assert_eq!(
        refused(&mut scm, ScmCommand { bank: BankId(2), ..command(Kind::Read, 1) }),
        IllegalScmCommand::NoSuchBank { bank: BankId(2) }
    );
    assert_eq!(refused(&mut scm, command(Kind::Read, 0)), IllegalScmCommand::SectorCount { bank: BANK, sectors: 0 });
    assert_eq!(refused(&mut scm, command(Kind::Read, 33)), IllegalScmCommand::SectorCount { bank: BANK, sectors: 33 });
    let unnamed = IllegalScmCommand::PulseCount { bank: BANK, kind: Kind::Write, sectors: 2, to_pulse: 0 };
    assert_eq!(refused(&mut scm, command(Kind::Write, 2)), unnamed);
    scm.pulse(BANK, 0);
    let too_many = IllegalScmCommand::PulseCount { bank: BANK, kind: Kind::Read, sectors: 1, to_pulse: 1 };
    assert_eq!(refused(&mut scm, command(Kind::Read, 1)), too_many);
    assert_eq!(scm.state(BANK), BankState::Idle);
    let end = scm.begin_array(&command(Kind::Write, 1), Ns::ZERO).expect("now it is legal");
    assert!(matches!(refused(&mut scm, command(Kind::Read, 1)), IllegalScmCommand::BankNotReady { .. }));
    let early = scm.end_array(BANK, Ns(end.0 - 1)).expect_err("too early");
    assert!(matches!(early, IllegalScmCommand::NothingEnds { .. }), "{early}");
    scm.end_array(BANK, end).expect("its end");
    assert!(matches!(scm.end_array(BANK, end), Err(IllegalScmCommand::NothingEnds { .. })));
}

#[test]
fn copies_take_the_way_that_the_memory_has() {
    let refused = |scm: &mut Scm, kind: Kind, to_pulse: u32| {
        let error = scm.begin_array(&command(kind, 2), Ns::ZERO).expect_err("refused");
        assert_eq!(error, IllegalScmCommand::PulseCount { bank: BANK, kind, sectors: 2, to_pulse });
    };
    let mut in_memory = scm(&timing());
    (0..2).for_each(|sector| in_memory.pulse_copy(BANK, sector));
    refused(&mut in_memory, Kind::CopyOut, 0);
    refused(&mut in_memory, Kind::CopyIn, 0);
    in_memory.begin_array(&command(Kind::Copy, 2), Ns::ZERO).expect("its way");

    let mut through = scm(&ScmTiming { copies: CopyPath::ThroughController, ..timing() });
    refused(&mut through, Kind::CopyOut, 0);
    (0..2).for_each(|sector| through.pulse_copy(BANK, sector));
    refused(&mut through, Kind::Copy, 0);
    refused(&mut through, Kind::Read, 2);
    let read = through.begin_array(&command(Kind::CopyOut, 2), Ns::ZERO).expect("its way");
    assert_eq!(through.wear_of(BANK)[..3], [1, 1, 0], "what is copied out wears where it is copied in");
    through.end_array(BANK, read).expect("its end");
    let written = through.begin_array(&command(Kind::CopyIn, 2), read).expect("its way back");
    through.end_array(BANK, written).expect("its end");
    refused(&mut through, Kind::CopyIn, 0);
}

#[test]
fn times_that_cannot_be_are_refused_by_key() {
    let key = |timing: ScmTiming| timing.check().expect_err("refused").key;
    assert_eq!(key(ScmTiming { read: Ns::ZERO, ..timing() }), "read");
    assert_eq!(key(ScmTiming { set: Ns::ZERO, ..timing() }), "set");
    assert_eq!(key(ScmTiming { reset: Ns(u64::MAX), ..timing() }), "reset");
    assert_eq!(key(ScmTiming { command_address: Ns(u64::MAX), ..timing() }), "command_address");
    assert!(timing().check().is_ok());
}
