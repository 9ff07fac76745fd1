"""Drives of storage-class memory from a request to what is shown. These need the real engine."""

from __future__ import annotations

import json

import pytest

import ninescope
from conftest import run_program


def job(**words):
    return ninescope.Workload.job(**{"bs": "4k", "requests": 2_000} | words)


def latency(result, op):
    return result.document["latency"][op]


@pytest.mark.parametrize(("preset", "sector_ns"), [("m-scm", 100), ("s-scm", 1_000), ("scm-10us", 10_000)])
def test_alone_in_the_drive_a_request_takes_the_sum_of_its_stages(preset, sector_ns):
    # 1 us of controller, eight sectors of 400 ns on the bus, 4096 B over a link of 3.2 GiB/s: 1193 ns.
    drive = ninescope.Drive.preset(preset).with_(scm__wear_leveling="none", scm__capacity="4MiB")
    for rw, op in (("randread", "read"), ("randwrite", "write")):
        told = latency(drive.run(job(rw=rw, iodepth=1)), op)
        assert told["min_ns"] == told["max_ns"] == 1_000 + 8 * sector_ns + 3_200 + 1_193


def test_wear_levelling_shows_in_the_result():
    drive = ninescope.Drive.preset("s-scm").with_(scm__capacity="4MiB")
    hot = job(rw="randwrite", bs=512, size="32KiB", requests=40_000)
    plain = drive.with_(scm__wear_leveling="none").run(hot)
    ladder = drive.with_({"scm.wear_leveling": "ladder", "scm.wear_leveling.overwrites": 5}).run(hot)
    gap = drive.with_({"scm.wear_leveling": "start-gap", "scm.wear_leveling.psi": 10}).run(hot)
    # 64 sectors are written 625 times each; 8,192 and the spare ones could share that.
    assert plain.scm.wear.writes_max >= 625
    assert not plain.scm.copies_per_write
    assert ladder.scm.wear.writes_max < 625 / 10
    assert 0 < ladder.scm.copies_per_write <= 1 / 5
    # Each bank copies once in ten of its writes.
    assert gap.scm.copies_per_write == pytest.approx(1 / 10, abs=16 / 40_000)
    assert gap.scm.wear.sectors == 8_192 + 16
    for result, copies in ((plain, 0), (ladder, None), (gap, None)):
        counters = result.scm.counters
        written = result.scm.wear.writes_mean * result.scm.wear.sectors
        assert written == pytest.approx(counters["sectors_written"] + counters["sectors_copied"])
        assert copies is None or counters["sectors_copied"] == copies
        assert result.scm.wear.endurance_used == result.scm.wear.writes_max / 100_000


def test_copies_cross_the_bus_unless_the_memory_copies_by_itself():
    # Start-Gap makes the same copies either way, and writes of a sector to one bank make one in ten of them.
    sets = {"scm.capacity": "4MiB", "scm.wear_leveling": "start-gap", "scm.wear_leveling.psi": 10}
    drive = ninescope.Drive.preset("s-scm").with_(sets)
    hot = job(rw="randwrite", bs=512, size=512, iodepth=1, requests=1_000)
    through, inside = (
        drive.with_(scm__wear_leveling_copies=path).run(hot) for path in ("through-controller", "in-memory")
    )
    assert drive.run(hot).digest == through.digest != inside.digest
    assert through.scm.copies_per_write == inside.scm.copies_per_write == 1 / 10
    assert through.scm.wear == inside.scm.wear
    # A read and a write of 1 us each; 400 ns on the bus, out and in.
    plain, within, across = (
        latency(inside, "write")["min_ns"],
        latency(inside, "write")["max_ns"],
        latency(through, "write")["max_ns"],
    )
    assert (within - plain, across - plain) == (2_000, 2_800)


def test_verified_writes_take_their_cycles_and_leave_fewer_errors():
    base = ninescope.Drive.preset("m-scm").with_(scm__wear_leveling="none", scm__capacity="4MiB")
    plain = base.run(job(rw="randwrite", iodepth=1))
    assert plain.scm.verify is None
    assert plain.scm.counters["verify_cycles"] == 0
    capped = base.with_(scm__verify="to-the-cap").run(job(rw="randwrite", iodepth=1))
    assert capped.scm.verify == ninescope.result.scm.ScmVerify(20.0, 20.0, 0.51)
    # Eight sectors, twenty cycles each, a read and a pulse of 100 ns in each.
    assert latency(capped, "write")["min_ns"] == latency(plain, "write")["min_ns"] + 8 * 20 * 200
    assert capped.scm.wear.writes_max == plain.scm.wear.writes_max
    sets = {"scm.verify": "until-pass", "scm.verify.rber": 1e-3, "scm.verify.accept_bits": 3}
    lax = base.with_(sets).run(job(rw="randwrite", iodepth=1)).scm.verify
    assert 0 < lax.cycles_per_write < 20
    assert lax.cycles_per_write < lax.reads_per_write < lax.cycles_per_write + 1
    assert 0.51 < lax.ber_factor < 1


def test_a_drive_of_flash_has_no_such_section():
    result = ninescope.Drive.preset("tlc").run(job(rw="randread", size="64m"))
    assert result.scm is None
    assert "scm" not in result.document


def test_the_text_says_how_the_memory_wore():
    arguments = "run --drive m-scm --rw randrw --bs 4k --iodepth 8 --size 1MiB --requests 20000"
    code, out, err = run_program(*arguments.split())
    assert code == 0, err
    for words in ("SCM wear", "writes per sector since it was new", "SCM banks", "SCM channels"):
        assert words in out, out
    assert "SCM verify" not in out
    code, out, err = run_program(*arguments.split(), "--set", "scm.verify=to-the-cap")
    assert code == 0, err
    assert "20.00 cycles per sector written, 51.0% of the bit errors are left" in out, out


def test_a_checked_run_finds_nothing_and_changes_nothing():
    arguments = "run --drive s-scm --rw randrw --bs 8k --iodepth 16 --size 256KiB --requests 5000 --json"
    digests = set()
    for check in ("off", "cheap", "full"):
        code, out, err = run_program(*arguments.split(), f"--check={check}")
        assert code == 0, err
        digests.add(json.loads(out)["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "scm.channels=0"), "scm.channels must not be zero"),
        (("--set", "tier.placement=nand-only"), "the table [geometry] is missing"),
    ],
)
def test_what_cannot_be_is_one_error_with_exit_code_2(arguments, words):
    code, out, err = run_program("run", "--drive=m-scm", "--rw=randread", "--requests=10", *arguments)
    assert (code, out) == (2, ""), err
    assert words in err
