"""TRIMs that are put off or take time, formats and sanitizes: what a result says, what is refused."""

from __future__ import annotations

import pytest

import ninescope
from conftest import ROOT

DRIVE = ROOT / "examples/drives/lazy-trims.toml"
MILLISECOND = 1_000_000


def drive(**settings: object) -> ninescope.Drive:
    return ninescope.Drive.from_file(DRIVE).with_(**settings)


def job(**settings: object) -> ninescope.Workload:
    return ninescope.Workload.job(**settings)


def test_a_trim_takes_its_time_for_each_entry():
    def latency(told: object) -> float:
        trims = job(rw="trim", bs="1m", iodepth=1, requests=10)
        document = drive(ftl__trim=told).run(trims, prefill="full").document
        return float(document["latency"]["trim"]["max_ns"])

    # A megabyte is 256 units of 4 KiB.
    added = latency({"policy": "at-once", "entry_time": "100ns"}) - latency("at-once")
    assert added == pytest.approx(256 * 100)


def test_a_format_takes_the_erases_of_all_dies():
    told = {"nand__erase_loop": "3ms", "nand__erase_loops": 1, "nand__command_address": "0ns"}
    erase = job(rw="trim", requests=1, erase_drive="format")
    document = drive(**told).run(erase, prefill="full").document
    # Of 96 groups of each of four dies 96 / 1.28 hold what the host can address; planes are erased together.
    assert document["counters"]["erase_commands"] == 4 * 75
    assert document["counters"]["whole_erase_ns"] == 75 * 3 * MILLISECOND
    assert document["ftl"]["trimmed_units"] == 4 * 75 * 192 * 4


def test_what_comes_while_the_drive_is_erased_is_aborted():
    jobs = ninescope.Workload.jobs(
        {"name": "erase", "rw": "trim", "requests": 1, "erase_drive": "sanitize"},
        {"name": "reads", "rw": "randread", "bs": "16k", "rate_iops": 1000, "requests": 300},
    )
    document = drive().run(jobs, prefill="full").document
    counters = document["counters"]
    assert counters["whole_erases"] == 1
    assert 0 < counters["aborted_commands"] < 300
    # Behind it nothing is left to be read.
    assert counters["host_page_reads"] == 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"ftl__map": "entries"}, r"ftl\.trim is \"lazy\", which does not go with a map in flash"),
        ({"ftl__trim": {"policy": "lazy", "rest": "2000000s"}}, r"ftl\.trim\.rest is 2000000s, at most"),
        ({"ftl__trim": {"policy": "at-once", "entry_time": "2ms"}}, r"entry_time is 2ms, at most 1ms"),
        ({"ftl__trim": {"policy": "lazy", "reads": "ones"}}, "ones"),
    ],
)
def test_trims_that_cannot_be_handled_so_are_refused(told, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        drive(**told).run(job(rw="trim", requests=1))


@pytest.mark.parametrize(
    ("settings", "told", "words"),
    [
        ({"rw": "write"}, {}, r"erase_drive.*is asked for with trims"),
        ({"requests": None, "io_size": "1m"}, {}, r"erase_drive.*give requests = 1"),
        (
            {},
            {"ftl__trim": "at-once", "ftl__map": "entries"},
            r"erase_drive.*not erased as a whole with a map in flash",
        ),
        ({}, {"ftl__parity": {"stripe": 4}}, r"erase_drive.*not erased as a whole with parity"),
    ],
)
def test_erases_that_cannot_be_are_refused(settings, told, words):
    asked = {"rw": "trim", "requests": 1, "erase_drive": "format"} | settings
    asked = {key: value for key, value in asked.items() if value is not None}
    with pytest.raises(ninescope.ConfigError, match=words):
        drive(**told).run(job(**asked))
