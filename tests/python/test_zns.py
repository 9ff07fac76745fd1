"""Zones: appends, a log of the host on them, what a result says, what is refused."""

from __future__ import annotations

import pytest

import ninescope
from conftest import ROOT

DRIVE = ROOT / "examples/drives/zns.toml"
LOG = ROOT / "examples/jobs/zone-log.toml"
AREAS = ROOT / "examples/drives/zrwa.toml"


def drive(**settings: object) -> ninescope.Drive:
    return ninescope.Drive.from_file(DRIVE).with_(**settings)


def job(**settings: object) -> ninescope.Workload:
    return ninescope.Workload.job(**settings)


def test_appends_fill_zones_and_amplify_nothing():
    result = drive().run(job(rw="write", bs="64k", iodepth=8, size="48MiB", zone_command="append"))
    zones = result.zns
    assert zones is not None
    # Sixteen plane groups of two planes, 48 pages of 16 KiB each: two zones are full.
    assert zones.zone_capacity_bytes == zones.zone_bytes == 16 * 2 * 48 * 16 * 1024
    assert (zones.commands["append"], zones.zones_filled, zones.states["full"]) == (768, 2, 2)
    assert not any(zones.errors.values())
    assert result.waf.total == pytest.approx(1)
    assert "zones" in str(result)


def test_what_a_zone_refuses_completes_with_an_error():
    result = drive().run(job(rw="write", bs="64k", size="24MiB", requests=500))
    zones = result.zns
    assert zones is not None
    # The 385th request begins the region again, whose zone is full.
    assert (zones.commands["write"], zones.errors["zone_is_full"]) == (384, 116)
    assert "zone errors" in str(result)


def test_a_log_of_the_host_moves_what_counts():
    result = drive().run(ninescope.Workload.job_file(LOG))
    log = result.document["zone_log"]
    assert result.waf.total == pytest.approx(1, abs=0.01)
    assert log["moved_blocks"] > 0
    assert log["write_amplification"] == pytest.approx(1 + log["moved_blocks"] / log["written_blocks"])
    assert result.zns is not None
    assert result.zns.commands["reset"] == log["cleaned_zones"]
    assert not any(result.zns.errors.values())


def test_a_log_overwrites_what_lies_in_the_area_of_its_zone():
    result = ninescope.Drive.from_file(AREAS).run(
        ninescope.Workload.job_file(ROOT / "examples/jobs/zrwa-log.toml")
    )
    log, zones = result.document["zone_log"], result.zns
    assert zones is not None
    assert zones.zrwa is not None
    # A block of the log is a unit of the drive four times over, and no command was refused.
    assert not any(zones.errors.values())
    assert zones.zrwa.overwritten_units == 4 * log["overwritten_blocks"] > 0
    # What was overwritten never came to flash; what is moved is written beside the areas.
    absorbed = zones.zrwa.overwritten_units / (result.document["waf"]["host_bytes"] / 4096)
    assert result.waf.total == pytest.approx(1 - absorbed, abs=0.01)
    # Of each zone of the log the last area is committed by the host.
    assert zones.commands["open_zrwa"] - zones.commands["commit"] in (0, 1)
    assert "random write areas" in str(result)


def test_a_job_that_overwrites_one_area_programs_nothing():
    job = ninescope.Workload.job_file(ROOT / "examples/jobs/zrwa.toml")
    result = ninescope.Drive.from_file(AREAS).run(job, prefill="none")
    assert result.zns is not None
    assert result.zns.zrwa is not None
    # 64 blocks of 16 KiB that are written in any order, and again.
    assert (result.zns.zrwa.written_units, result.zns.zrwa.overwritten_units) == (20_000, 20_000 - 256)
    assert (result.document["operations"]["programs"], result.waf.total) == (0, 0)


def test_a_log_needs_zones():
    with pytest.raises(ninescope.ConfigError, match=r"zone_log\.size"):
        ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").run(ninescope.Workload.job_file(LOG))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"zns__zone_width": 5}, r"zns\.zone_width is 5, it must divide the 16"),
        ({"zns__open_zones": 20}, "a zone that is open is active"),
        ({"ftl__streams": "sepbit"}, r"ftl\.streams does not go with zones"),
        ({"zns__zrwa_zones": 2}, r"zns\.zrwa_zones is given, and zns\.zrwa_size is not"),
        (
            {"zns__zrwa_size": "6KiB"},
            r"zns\.zrwa_size is 6KiB, it must be a multiple of zns\.zrwa_granularity",
        ),
    ],
)
def test_what_makes_no_zones_is_refused(told, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        drive(**told).run(job(rw="write", requests=1))
