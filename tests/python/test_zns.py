"""Zones: appends, a log of the host on them, what a result says, what is refused."""

from __future__ import annotations

import re

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


def test_a_log_needs_zones_or_segments():
    with pytest.raises(ninescope.ConfigError, match=r"zone_log\.segment"):
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


def test_a_trace_goes_through_a_log_of_the_host(tmp_path):
    # 96 MiB of blocks in order, twice: a zone of 24 MiB dies as a whole, so that nothing is moved.
    blocks = [16_384 * index for index in range(6144)] * 2
    rows = "".join(f"{1000 * number},W,{offset},16384\n" for number, offset in enumerate(blocks))
    path = tmp_path / "trace.csv"
    path.write_text(rows)
    columns = "csv:time=1[us],op=2,offset=3[B],size=4[B]"
    log = tmp_path / "log.toml"
    log.write_text('[zone_log]\nsize = "96MiB"\nblock = "16k"\nfull = false\n')
    trace = ninescope.Workload.trace(path, format=columns, zone_log=log)
    result = drive().run(trace)
    found = result.document["zone_log"]
    assert (found["written_blocks"], found["moved_blocks"]) == (12_288, 0)
    assert found["write_amplification"] == 1
    assert result.zone_log is not None
    assert (result.zone_log.written_blocks, result.zone_log.write_amplification) == (12_288, 1)
    assert result.hints["log_write"].latency.count == 12_288
    assert result.hints["log_write"].latency.mean_ns == result.document["hints"]["log_write"]["mean_ns"]
    assert result.zns is not None
    assert (result.zns.commands["append"], result.zns.commands["write"]) == (12_288, 0)
    assert not any(result.zns.errors.values())
    assert result.document["hints"]["log_write"]["count"] == 12_288
    assert result.document["workload"]["zone_log"]["size"] == "96MiB"
    assert "zone log" in str(result)


@pytest.mark.parametrize(
    ("logs", "named", "note"),
    [
        (1, 1, "changes nothing of a log on zones that is one"),
        (2, 9, "`stream` of the trace is 9, and zone_log.logs has 0 to 1, which takes it"),
        (2, 1, ""),
    ],
)
def test_streams_that_a_log_does_not_have_are_noted(tmp_path, cli, logs, named, note):
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{1000 * at},W,{at * 4096},4096,{named * (at % 2)}\n" for at in range(64)))
    columns = "csv:time=1[us],op=2,offset=3[B],size=4[B],stream=5"
    log = tmp_path / "log.toml"
    log.write_text(f'[zone_log]\nsize = "1MiB"\nblock = "4k"\nfull = false\nlogs = {logs}\n')
    notes = drive().run(ninescope.Workload.trace(path, format=columns, zone_log=log)).document["notes"]
    found = [each for each in notes if "stream" in each]
    assert [note in each for each in found] == ([True] if note else [])
    told = cli("trace", "stat", path, "--format", columns).out
    assert f"32 writes name one, at most {named}" in told


def test_a_log_that_is_only_read_has_no_write_amplification(tmp_path):
    log = tmp_path / "log.toml"
    log.write_text(
        '[job]\nrw = "randread"\nbs = "16k"\nrequests = 500\n[zone_log]\nsize = "200MiB"\nblock = "16k"\n'
    )
    result = drive().run(ninescope.Workload.job_file(log))
    assert result.zone_log is not None
    assert (result.zone_log.read_blocks, result.zone_log.write_amplification) == (500, None)
    assert "zone log" not in str(result)


def test_blocks_written_in_part_are_told(tmp_path):
    log = tmp_path / "log.toml"
    log.write_text(
        '[job]\nrw = "randwrite"\nbs = "4k"\nrequests = 500\n[zone_log]\nsize = "200MiB"\nblock = "16k"\n'
    )
    result = drive().run(ninescope.Workload.job_file(log))
    assert result.zone_log is not None
    assert result.zone_log.merged_blocks == 500
    assert "500 blocks written (500 in part, and read first)" in " ".join(str(result).split())


FDP = ROOT / "examples/drives/fdp.toml"


def segments(tmp_path, **words: object) -> ninescope.Workload:
    table = {"size": "180MiB", "block": "16k", "segment": "512KiB", "free_zones": 2} | words
    told = "".join(
        f"{key} = {str(value).lower() if isinstance(value, bool | int) else repr(value)}\n"
        for key, value in table.items()
    )
    path = tmp_path / "log.toml"
    path.write_text(
        '[job]\nrw = "randwrite"\nbs = "16k"\niodepth = 4\nrequests = 12000\n'
        f'random_distribution = "zipf:0.9"\n[zone_log]\n{told}'
    )
    return ninescope.Workload.job_file(path)


def test_a_log_lies_on_segments_of_a_drive_without_zones(tmp_path):
    result = ninescope.Drive.from_file(FDP).run(segments(tmp_path), check="full")
    log = result.zone_log
    assert log is not None
    assert log.cleaned_zones > 100
    assert log.moved_blocks > 0
    # What the host writes and what its cleaner moves come to handles of their own, and segments are trimmed.
    assert result.fdp is not None
    written = [handle.host_units for handle in result.fdp.handles]
    per_block = 4
    assert written == [log.written_blocks * per_block, log.moved_blocks * per_block]
    assert result.throughput["trim"].requests == log.cleaned_zones
    assert result.throughput["trim"].bytes == log.cleaned_zones * 512 * 1024
    # Segments of a reclaim unit are spread over four dies; those of four reclaim units die as a whole.
    whole = ninescope.Drive.from_file(FDP).run(segments(tmp_path, segment="2MiB"))
    together = (
        ninescope.Drive.from_file(FDP).with_(ftl__streams="single").run(segments(tmp_path, segment="2MiB"))
    )
    assert whole.waf.total is not None
    assert together.waf.total is not None
    assert result.waf.total is not None
    assert 1.0 < whole.waf.total < together.waf.total < result.waf.total
    assert whole.waf.total < 1.1


@pytest.mark.parametrize(
    ("words", "drive_file", "message"),
    [
        ({"segment": "5000B"}, FDP, "zone_log.segment"),
        ({"segment": "512KiB"}, DRIVE, "zone_log.segment"),
        ({"logs": 0}, FDP, "zone_log.logs"),
        ({"size": "1TiB"}, FDP, "zone_log.size"),
    ],
)
def test_segments_that_make_no_sense_are_refused_by_their_key(tmp_path, words, drive_file, message):
    with pytest.raises(ninescope.ConfigError, match=re.escape(message)):
        ninescope.Drive.from_file(drive_file).run(segments(tmp_path, **words))


def test_logs_that_there_are_not_are_refused_for_a_trace(tmp_path):
    path, log = tmp_path / "trace.csv", tmp_path / "log.toml"
    path.write_text("".join(f"{1000 * at},W,{at * 4096},4096,1\n" for at in range(64)))
    log.write_text('[zone_log]\nsize = "1MiB"\nblock = "4k"\nlogs = 0\nfull = false\n')
    columns = "csv:time=1[us],op=2,offset=3[B],size=4[B],stream=5"
    with pytest.raises(ninescope.ConfigError, match=re.escape("zone_log.logs")):
        drive().run(ninescope.Workload.trace(path, format=columns, zone_log=log))


def test_a_job_for_zones_is_checked_with_its_drive(cli, tmp_path):
    refused = cli("check", LOG)
    assert refused.code == 2
    assert "zones" in refused.err
    assert cli("check", LOG, "--drive", DRIVE).out == f"{LOG}: job, OK\n"
    alone = tmp_path / "log.toml"
    alone.write_text('[zone_log]\nsize = "1MiB"\nblock = "16k"\n')
    assert cli("check", alone, "--drive", DRIVE).out == f"{alone}: log on zones, OK\n"
    assert "zone_log.logs" in cli("check", alone, "--drive", DRIVE, "--set", "zns.open_zones=1").err
    wrong = cli("check", DRIVE, "--drive", DRIVE)
    assert (wrong.code, "--drive is for a job" in wrong.err) == (2, True)


def test_the_cleaner_of_a_log_is_told_apart():
    result = drive().run(ninescope.Workload.job_file(LOG))
    hints, log = result.document["hints"], result.document["zone_log"]
    assert set(hints) == {"log_read", "log_write", "cleaner_read", "cleaner_write"}
    block = 16_384
    # What is read for the host lies somewhere but for what was never written.
    assert hints["log_write"]["bytes"] == log["written_blocks"] * block
    assert hints["cleaner_write"]["bytes"] == hints["cleaner_read"]["bytes"] == log["moved_blocks"] * block
    reads = hints["log_read"]["count"] + hints["cleaner_read"]["count"]
    assert reads == result.latency.read.count


@pytest.mark.parametrize(
    ("log", "words", "message"),
    [
        ('[zone_log]\nsize = "32KiB"\nblock = "16k"\n', {}, "beyond the log's 32KiB (zone_log.size)"),
        ('[zone_log]\nsize = "1MiB"\nblock = "5k"\n', {}, "zone_log.block"),
        ('[host_cache]\nsize = "1MiB"\n', {}, "has no table [zone_log]"),
        (
            '[zone_log]\nsize = "1MiB"\n[host_cache]\nsize = "1MiB"\n',
            {"both": True},
            "both take the requests",
        ),
    ],
)
def test_a_log_that_a_trace_cannot_go_through_is_named(tmp_path, log, words, message):
    trace, path = tmp_path / "trace.csv", tmp_path / "log.toml"
    trace.write_text("0,W,0,4096\n1,W,1048576,4096\n" if "32KiB" in log else "0,W,0,4096\n")
    path.write_text(log)
    both = {"host_cache": path} if words else {}
    workload = ninescope.Workload.trace(
        trace, format="csv:time=1[us],op=2,offset=3[B],size=4[B]", zone_log=path, **both
    )
    with pytest.raises(ninescope.ConfigError, match=re.escape(message)):
        drive().run(workload)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"nand__program_failures": 1e-4}, "nand.program_failures"),
        ({"nand__erase_failures": 1e-4}, "nand.erase_failures"),
        ({"nand__factory_bad_blocks": 0.01}, "nand.factory_bad_blocks"),
        ({"nand__wear_out": {"policy": "fixed", "cycles": 100}}, "nand.wear_out"),
    ],
)
def test_blocks_that_break_do_not_go_with_zones(settings, key):
    with pytest.raises(ninescope.ConfigError, match=re.escape(key)):
        drive(**settings).run(job(rw="write", bs="64k", size="24MiB"))


@pytest.mark.parametrize("prefill", ["none", "full"])
def test_a_log_says_itself_what_its_zones_hold(prefill):
    with pytest.raises(ninescope.ConfigError, match=r"zone_log\.full"):
        drive().run(ninescope.Workload.job_file(LOG), prefill=prefill)


def test_a_log_of_a_trace_says_how_much_it_holds(tmp_path):
    trace, path = tmp_path / "trace.csv", tmp_path / "log.toml"
    trace.write_text("0,W,0,4096\n")
    path.write_text('[zone_log]\nblock = "16k"\n')
    workload = ninescope.Workload.trace(
        trace, format="csv:time=1[us],op=2,offset=3[B],size=4[B]", zone_log=path
    )
    with pytest.raises(ninescope.ConfigError, match=r"zone_log\.size is absent"):
        drive().run(workload)
