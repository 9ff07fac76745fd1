"""The whole of ninescope, from a request to a result. These need the real engine."""

from __future__ import annotations

import gzip
import json
import math
import re
import signal
import subprocess

import numpy as np
import polars as pl
import pytest

import ninescope
from conftest import ROOT, interrupted, quick_command, run_program, tomllib
from ninescope.text.facts import facts

MIX = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=16, rwmixread=70, size="256m", requests=20_000)
EXAMPLE_TRACE = ROOT / "examples/traces/pgbench.csv.zst"


@pytest.fixture(scope="module")
def result():
    return ninescope.Drive.preset("tlc").run(MIX, requests=20_000, log_requests=True)


def test_the_same_run_has_the_same_digest_and_the_same_document(result):
    again = ninescope.Drive.preset("tlc").run(MIX, requests=20_000, log_requests=True)
    assert again.digest == result.digest
    for key in ("latency", "attribution", "waf", "operations", "counters", "simulated_ns"):
        assert again.document.get(key) == result.document.get(key)


def test_another_seed_does_something_else(result):
    assert ninescope.Drive.preset("tlc").run(MIX, requests=20_000, seed=2).digest != result.digest


def test_another_process_has_the_same_digest(result):
    arguments = (
        "run --rw randrw --bs 4k --iodepth 16 --rwmixread 70 --size 256m --requests 2e4 --drive tlc --json"
    )
    code, out, err = run_program(*arguments.split())
    assert code == 0, err
    assert json.loads(out)["digest"] == result.digest


def test_the_document_has_what_the_contract_promises(result):
    document = result.document
    assert document.keys() >= {
        "ninescope", "complete", "requests", "digest", "seed", "simulated_ns", "throughput", "latency",
        "latency_without_host_queue", "attribution", "waf", "operations", "counters", "utilisation", "wear",
        "config", "workload", "build", "notes", "fio version", "jobs",
    }  # fmt: skip
    for op in ("read", "write"):
        latency = document["latency"][op]
        assert latency.keys() >= {"count", "min_ns", "mean_ns", "max_ns", "percentiles_ns", "insufficient"}
        assert latency["percentiles_ns"].keys() >= {"50", "90", "99", "99.9", "99.99", "99.999", "99.9999"}
    assert document["waf"].keys() >= {"total", "host", "gc", "wear", "padding", "map"}
    assert "99.999900" in document["jobs"][0]["read"]["clat_ns"]["percentile"]


def test_requests_add_up(result):
    latency = result.latency
    assert result.requests == 20_000 == latency.read.count + latency.write.count
    assert latency.read.count == pytest.approx(14_000, rel=0.03)
    for op, found in latency:
        assert int(found.histogram[1].sum()) == found.count
        assert sum(band.count for band in getattr(result.attribution, op)) == found.count
        assert result.throughput[op].requests == found.count


def test_percentiles_are_ordered_and_agree_with_the_histogram(result):
    for _, latency in result.latency:
        values = [latency.min_ns, *latency.percentiles_ns.values(), latency.max_ns]
        assert values == sorted(values)
        for key, value in latency.percentiles_ns.items():
            plain = ninescope.result.Latency(
                latency.count, latency.min_ns, latency.mean_ns, latency.max_ns, histogram=latency.histogram
            )
            assert plain.percentile(float(key)) == pytest.approx(value, rel=0.009)
        assert "99.9999" in latency.insufficient


def test_the_parts_explain_the_whole_latency(result):
    for op, bands in result.attribution:
        explained = sum(band.count * band.mean_ns for band in bands)
        latency = getattr(result.latency, op)
        assert explained == pytest.approx(latency.count * latency.mean_ns, rel=1e-6)


def test_the_request_log_has_a_row_per_request(result):
    log = result.to_polars("requests")
    assert log.height == result.requests
    assert result.to_polars("series").height > 0


def test_arrays_are_numpy_arrays(result):
    bounds, counts = result.latency.read.histogram
    assert bounds.dtype == counts.dtype == np.uint64
    assert len(bounds) == len(counts)


def test_a_saved_drive_runs_alike(result, tmp_path):
    result.save(tmp_path)
    again = ninescope.Drive.from_file(tmp_path / "config.toml").run(MIX, requests=20_000)
    assert again.digest == result.digest


def test_a_resolved_drive_resolves_to_itself():
    text = ninescope.Drive.preset("tlc").resolve()
    assert ninescope.Drive.from_toml(text).resolve() == text
    for preset in ninescope.presets():
        assert tomllib.loads(ninescope.Drive.preset(preset.name).resolve())


def test_a_setting_reaches_the_configuration():
    text = ninescope.Drive.preset("tlc").with_(ftl__over_provisioning=0.21).resolve()
    assert "0.21" in text


def test_an_unknown_key_is_answered_with_the_nearest():
    with pytest.raises(ninescope.ConfigError, match="over_provisioning"):
        ninescope.Drive.preset("tlc").with_(ftl__over_provisionin=0.1).resolve()


def test_a_trace_runs_on_a_drive_sized_to_it(msr_trace):
    result = ninescope.Drive().run(ninescope.Workload.trace(msr_trace))
    assert result.requests == 2000
    assert result.latency.write.count == 1333


def test_compression_changes_nothing(msr_trace, tmp_path):
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(msr_trace.read_bytes()))
    digests = {ninescope.Drive().run(ninescope.Workload.trace(path)).digest for path in (msr_trace, packed)}
    assert len(digests) == 1


def test_stdin_is_a_trace_like_any_other(msr_trace):
    code, out, err = run_program("run", "-", "--json", stdin=msr_trace.read_bytes())
    assert code == 0, err
    assert json.loads(out)["digest"] == ninescope.Drive().run(ninescope.Workload.trace(msr_trace)).digest


def test_a_trace_loops_and_stops(msr_trace):
    trace = ninescope.Workload.trace(msr_trace, loop=3)
    assert ninescope.Drive().run(trace).requests == 6000
    assert ninescope.Drive().run(trace, requests=500).requests == 500


def test_a_broken_line_is_counted_or_refused(msr_trace, cli):
    with msr_trace.open("a") as file:
        file.write("this is not a request\n")
    code, out, _ = cli("run", msr_trace, "--json")
    assert code == 0
    assert json.loads(out)["workload"]["skipped_lines"] == 1
    code, _, err = cli("run", msr_trace, "--strict")
    assert code == 2
    assert "2001" in err


def test_every_verb_tells_discards_that_are_left_out_from_broken_lines(tmp_path, cli):
    # `check` counted them as requests, and the others called them lines that gave none.
    trace = tmp_path / "log.txt"
    rows = [f"909 D write {4096 * n} 4096 0.{n:03} 0.001 False\n" for n in range(200)]
    broken = "909 D read -4096 4096 0.201 0.001 False\n"
    discards = [f"909 D discard {4096 * n} 4096 0.3{n} 0.001 False\n" for n in range(3)]
    trace.write_text("".join([*rows, broken, *discards]))
    told = "3 discards were left out (--trims takes them)"
    line = "1 line of the trace gave no request and was skipped; the first broken one is number 201"
    verbs = (("run", trace), ("check", trace), ("trace", "stat", trace))
    for verb in verbs:
        out = " ".join(cli(*verb).out.split())
        assert "200 requests" in out
        assert told in out
        assert line in out
    converted = cli("trace", "convert", trace, tmp_path / "log.mqsim")
    assert told in converted.out
    assert json.loads(cli("trace", "stat", trace, "--json").out)["skipped_discards"] == 3
    workload = json.loads(cli("run", trace, "--json").out)["workload"]
    assert (workload["skipped_lines"], workload["skipped_discards"]) == (4, 3)
    for verb in (verbs[0], verbs[2]):
        out = " ".join(cli(*verb, "--trims").out.split())
        assert "203 requests" in out
        assert "discards" not in out
        assert line in out
    trace.write_text("".join(discards[:1] * 40))
    messages = {cli(*verb).err for verb in verbs}
    assert len(messages) == 1
    assert "none is broken; discards (--trims takes them): 40" in messages.pop()


def test_an_unknown_format_is_refused(msr_trace, cli):
    code, _, err = cli("run", msr_trace, "--format", "bogus")
    assert code == 2
    assert "msr" in err


def test_an_empty_trace_is_refused(tmp_path, cli):
    (tmp_path / "empty.csv").write_text("")
    code, _, err = cli("run", tmp_path / "empty.csv")
    assert code == 2
    assert "empty.csv" in err


@pytest.mark.parametrize(("word", "value"), [("rw", "randomread"), ("bs", "4q"), ("iodepth", 0)])
def test_a_job_with_a_bad_word_is_refused(word, value):
    with pytest.raises(ninescope.ConfigError, match=f"job: {word}"):
        ninescope.Workload.job(**{"rw": "randread", "requests": 10} | {word: value})


@pytest.mark.parametrize("reads", [0, 50, 97, 100])
def test_the_blocks_hold_every_request_of_every_operation(tmp_path, reads):
    # Writes were left out where they were fewer than eight blocks of 1,024.
    job = ninescope.Workload.job(
        rw="randrw", rwmixread=reads, bs="4k", iodepth=8, size="64m", requests=12_000
    )
    result = ninescope.Drive.preset("tlc").run(job)
    result.save(tmp_path / "out")
    for known in (result, ninescope.Result.load(tmp_path / "out")):
        blocks, whole = known.to_polars("latency_blocks"), known.to_polars("latency")
        summed = blocks.group_by("op", "upper_ns").agg(pl.col("count").sum()).sort("op", "upper_ns")
        assert summed.equals(whole.sort("op", "upper_ns"))
        for op in ("read", "write"):
            latency = getattr(known.latency, op)
            assert latency.count == whole.filter(pl.col("op") == op)["count"].sum()
            # Few of them say nothing of chance: there is no interval, and nothing to make one from.
            assert bool(latency.blocks) == bool(latency.intervals_ns) == (latency.count >= 8 * 1_024)


def keys_of(schema: dict, node: dict, before: str = "") -> set[str]:
    """The keys of a schema with their tables, four deep."""
    node = schema["$defs"].get(node.get("$ref", "").rpartition("/")[2], node)
    found = set()
    for way in (node, *(schema["$defs"].get(each.get("$ref", "").rpartition("/")[2], each)
                        for each in (*node.get("anyOf", ()), *node.get("oneOf", ())))):  # fmt: skip
        for key, inner in way.get("properties", {}).items():
            found |= {before + key}
            if before.count(".") < 3:
                found |= keys_of(schema, inner, f"{before}{key}.")
    return found


def test_a_key_that_no_drive_has_is_refused_where_it_is_given():
    # It was refused by run() alone, far from where it was written.
    drive = ninescope.Drive.preset("tlc")
    with pytest.raises(ninescope.ConfigError, match="did you mean `ftl__over_provisioning`"):
        drive.with_(ftl__over_provisoning=0.1)
    with pytest.raises(ninescope.ConfigError, match="`d` is a parameter of d-choices, not of greedy"):
        drive.with_({"ftl.victim.d": 3})
    assert drive.with_({"ftl.victim": "d-choices", "ftl.victim.d": 3}).run(MIX, requests=10).requests == 10
    schema = json.loads(ninescope.common.catalogue.schemas()["drive"])
    known = keys_of(schema, schema)
    assert {"ftl.over_provisioning", "nand.read", "scheduler.suspend"} < known
    for key in known:
        with pytest.raises(ninescope.ConfigError):
            drive.with_({f"{key}x": 1})


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ninescope.Drive.from_file("drvie.toml"), "'drvie.toml' does not exist"),
        (lambda: ninescope.Drive.from_toml('base = "tcl"'), "Did you mean `tlc`"),
        (lambda: ninescope.Workload.job(rww="read"), "did you mean `rw`"),
        (lambda: ninescope.Workload.jobs({"name": "a", "rw": "read"}, {"name": "b", "iodept": 3}), "iodept"),
        (lambda: ninescope.Workload.job_file("mixed.fio"), "'mixed.fio' does not exist"),
        (lambda: ninescope.Workload.preset("varmial"), "Did you mean `varmail`"),
        (lambda: ninescope.Workload.trace("pgbench.csv"), "'pgbench.csv' does not exist"),
        (lambda: ninescope.Workload.trace(EXAMPLE_TRACE, format="mrs"), "`mrs` is not a trace format"),
        (lambda: ninescope.Workload.trace(EXAMPLE_TRACE, addresses="wrp"), "did you mean `wrap`"),
        (lambda: ninescope.Workload.trace(EXAMPLE_TRACE, volumes="map:a"), "volumes"),
    ],
)
def test_what_cannot_be_run_anywhere_is_refused_where_it_is_given(made, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        made()


def test_what_a_drive_has_no_room_for_is_seen_when_it_is_run():
    job = ninescope.Workload.job(rw="read", size="64g", requests=10)
    with pytest.raises(ninescope.ConfigError):
        ninescope.Drive.from_file(ROOT / "examples/drives/small.toml").run(job)


def test_warmup_is_left_out():
    result = ninescope.Drive.preset("tlc").run(MIX, requests=20_000, warmup=5000)
    assert result.requests == 15_000


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_job_leads_in_on_a_drive_prepared_without_time(seed):
    """What preparing leaves free costs no moves, and under load is not there any more."""
    job = ninescope.Workload.job(rw="randwrite", random_distribution="hotcold:90/10", requests=30_000)
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/small.toml")
    whole, led_in = (drive.run(job, seed=seed, prefill="steady", warmup=warmup) for warmup in (0, None))

    def start(result):
        first, *others = result.steadiness.waf
        return first / (sum(others) / len(others))

    assert start(whole) < 0.9
    # A tenth scatters by a few per cent.
    assert start(led_in) == pytest.approx(1, abs=0.08)
    # Two rounds of 4 pools' groups of 128 units.
    assert (whole.requests, led_in.requests) == (30_000, 30_000 - 2 * 4 * 128)
    assert any("the first 1024 requests are not measured" in note for note in led_in.document["notes"])
    assert whole.digest == led_in.digest
    # Of a drive that is not worn in everything is measured.
    assert drive.run(job, prefill="full").requests == 30_000


def test_several_jobs_are_measured_from_the_first_request():
    """One may be done before another has written: nothing says whose requests use up what is free."""
    readers = {"name": "a", "rw": "randread", "requests": 500}
    writers = {"name": "b", "rw": "randwrite", "requests": 20_000}
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/small.toml")
    for jobs in ((readers, writers), (readers, writers | {"stonewall": True})):
        result = drive.run(ninescope.Workload.jobs(*jobs), prefill="steady")
        assert result.requests == 20_500
    copies = ninescope.Workload.job(rw="randwrite", requests=5_000, numjobs=4)
    assert drive.run(copies, prefill="steady").requests == 20_000 - 1_024


def test_writes_in_passes_are_said_to_follow_the_pass():
    """What is declared is the mean over passes. Of a third of one that is not what is measured."""
    job = ninescope.Workload.job(rw="randwrite", random_map=True, rate_iops=200, requests=60_000)
    result = ninescope.Drive.from_file(ROOT / "examples/drives/small.toml").run(
        job, prefill="steady", warmup=40_000
    )
    notes = " ".join(result.notes)
    assert "only whole passes show its mean" in notes
    assert not result.document["steady_state_measured"]["as_declared"]
    assert "norandommap" in notes
    assert "--warmup" not in notes
    assert "had not settled" not in notes


@pytest.mark.parametrize("prefill", ["none", "footprint", "full"])
def test_prefills(prefill):
    job = ninescope.Workload.job(rw="randread", size="256m", requests=500)
    assert ninescope.Drive.preset("tlc").run(job, requests=500, prefill=prefill).requests == 500


@pytest.mark.parametrize("preset", [preset.name for preset in ninescope.presets()])
def test_every_preset_runs(preset):
    job = ninescope.Workload.job(rw="randrw", size="64m", requests=500)
    assert ninescope.Drive.preset(preset).run(job).requests == 500


def test_measuring_may_begin_under_load():
    job = ninescope.Workload.job(rw="randrw", size="256m", iodepth=32, requests=20_000)
    result = ninescope.Drive.preset("tlc").run(job, warmup=0.5, prefill="none")
    assert result.requests == 10_000
    for _, bands in result.attribution:
        assert all(part >= 0 for band in bands for part in band.parts_ns.values())
    occupancy = result.document["utilisation"]["dies"]["occupancy"]
    assert sum(occupancy.values()) == pytest.approx(1)


READERS = {"name": "readers", "rw": "randread", "size": "64m", "iodepth": 4, "duration": "20ms"}
# It begins after the last completion, and its first request would come when it is over.
SILENT = {
    **READERS,
    "name": "silent",
    "startdelay": "40ms",
    "rate_iops": 1,
    "rate_process": "poisson",
    "duration": "1ms",
}


@pytest.mark.parametrize(
    ("jobs", "limits"),
    [
        pytest.param([READERS], {"retention": "10ms", "period": "15ms"}, id="noticed-by-a-completion"),
        pytest.param([READERS, SILENT], {"retention": "10ms", "period": "15ms"}, id="noticed-by-a-timer"),
        pytest.param([READERS, SILENT], {"reads": 8}, id="noticed-at-the-end"),
    ],
)
def test_rates_end_with_the_last_completion_where_a_drive_works_on(jobs, limits):
    drive = ninescope.Drive.preset("bch-ssd").with_({"refresh": {"policy": "limits", **limits}})
    result = drive.run(ninescope.Workload.jobs(*jobs), log_requests=True)
    log = result.to_polars("requests")
    last = int((log["submitted_ns"] + log["latency_ns"]).max())
    document = result.document
    assert 20_000_000 <= last < 25_000_000
    assert document["worked_on_ns"] == document["simulated_ns"] - last > 10_000_000
    assert document["throughput"]["read"]["iops"] == pytest.approx(result.requests * 1e9 / last)
    assert any("worked on by itself" in note for note in document["notes"])


def test_rates_and_busy_times_end_with_the_last_completion_where_garbage_is_collected_after_it():
    """Little's law: with one request in flight, requests times their mean latency are the measured time."""
    drive = ninescope.Drive.preset("tlc").with_(
        geometry__channels=2,
        geometry__packages_per_channel=1,
        geometry__dies_per_package=1,
        geometry__planes_per_die=1,
        geometry__blocks_per_plane=64,
        ftl__frontier_planes=1,
    )
    job = ninescope.Workload.job(rw="randwrite", bs="16k", iodepth=1, requests=1_000)
    document = drive.run(job, prefill="steady", log_requests=True).document
    assert document["worked_on_ns"] > document["measured_ns"] / 20
    throughput, latency = document["throughput"]["write"], document["latency"]["write"]
    assert throughput["iops"] * latency["mean_ns"] / 1e9 == pytest.approx(1, rel=0.001)
    assert document["measured_ns"] + document["worked_on_ns"] == document["simulated_ns"]
    assert any("worked on by itself" in note for note in document["notes"])


def test_other_operations_are_shown():
    result = ninescope.Drive.preset("tlc").run(
        ninescope.Workload.job(rw="randtrim", size="64m", requests=500), prefill="full"
    )
    assert result.latency.trim.count == 500
    assert "trim" in str(result)


def test_the_series_sums_to_the_write_amplification_and_says_what_it_was_when():
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").with_(geometry__blocks_per_plane=64)
    job = ninescope.Workload.job(rw="randwrite", bs="6k", iodepth=16, requests=120_000)
    result = drive.run(job, prefill="full", warmup=10_000)
    waf, series = result.document["waf"], result.to_polars("series")
    assert series["host_written_bytes"].sum() == waf["host_bytes"]
    assert series["flash_programmed_bytes"].sum() == waf["flash_bytes"] == sum(waf["bytes"].values())
    # 6 KiB on units of 4 KiB: two units, a third of the second or the first of which is not the host's.
    assert result.waf.host == 1
    assert result.waf.partial_writes == pytest.approx(1 / 3, abs=1e-3)
    assert result.waf.total == pytest.approx(waf["flash_bytes"] / waf["host_bytes"], rel=1e-12)
    # A full drive is not worn in: it lives on free blocks at first, and the figure over time shows it.
    first = series.head(series.height // 30)
    assert first["flash_erased_bytes"].sum() == 0 < first["flash_programmed_bytes"].sum()
    told = result.steadiness
    assert told is not None
    assert told.is_steady is False
    assert told.reasons == ("free-blocks",)
    assert ("steady", f"no: {told.words}") in list(facts(result))


def test_a_drive_worn_in_by_the_workload_is_steady_under_it():
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    # So slow that the drive is done with one write before the next, as preparing takes them.
    job = ninescope.Workload.job(rw="randwrite", bs="16k", rate_iops=500, requests=300_000)
    result = drive.run(job, prefill="steady")
    steady, told = result.steady_state, result.steadiness
    assert steady is not None
    assert (steady.by, steady.converged) == ("workload", True)
    assert steady.waf_low <= steady.waf <= steady.waf_high
    assert steady.measured is not None
    assert (steady.measured.as_declared, steady.measured.waf) == (True, result.waf.total)
    assert told is not None
    assert told.is_steady, told.words
    assert result.waf.total == pytest.approx(steady.waf, rel=0.05)


def test_the_demo_drive_collects_garbage():
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    result = drive.run(ninescope.Workload.trace(EXAMPLE_TRACE), prefill="steady-uniform")
    assert result.waf.gc > 0.5
    assert result.document["operations"]["erases"] > 100
    slowest = result.attribution.read[-2]
    gc = ("die_gc_read", "die_gc_program", "die_erase")
    assert sum(slowest.share(cause) for cause in gc) > 0.2
    assert "GC" in str(result)


@pytest.mark.parametrize("job", sorted((ROOT / "examples/jobs").glob("*.toml")), ids=lambda job: job.stem)
def test_the_example_jobs_run(job):
    # Some are for a drive of their own, and those of zones for one with zones.
    of_zones = {"zone-": "zns.toml", "zrwa": "zrwa.toml"}
    names = [name for begin, name in of_zones.items() if job.stem.startswith(begin)]
    own = ROOT / "examples/drives" / (names[0] if names else job.name)
    demo = ninescope.Drive.from_file(own if own.exists() else ROOT / "examples/drives/demo.toml")
    assert demo.run(ninescope.Workload.job_file(job), requests=2000).requests == 2000


def test_an_interrupt_while_the_drive_is_prepared_gives_a_result_without_measurements(tmp_path):
    job = "run --rw randwrite --drive tlc --set geometry.blocks_per_plane=512 --prefill steady --json"
    arguments = [*job.split(), "--out", str(tmp_path / "out")]
    ended = interrupted(arguments, "preparing the drive", signal.SIGINT, tmp_path / "stdout")
    assert ended.code == 130, ended.shown
    assert "the drive was still being prepared" in ended.shown
    document = json.loads(ended.out)
    assert (document["complete"], document["requests"]) == (False, 0)
    again = ninescope.Result.load(tmp_path / "out")
    assert "nothing was measured" in str(again)
    assert "nothing was run" in repr(again)
    assert again.to_polars().height == 1


@pytest.mark.parametrize(
    ("lines", "arguments", "place", "message"),
    [
        ('base = "tlc"\n[geometry]\nchanels = 4\n', (), "line 3, column 1", "did you mean `channels`"),
        ('base = "tlc"\n[nand]\nread = ["34 parsecs"]\n', (), "line 3, column 1", "34 parsecs"),
        ('base = "tlc"\n[ftl]\nover_provisioning = -1.0\n', (), "line 3, column 1", "greater than 0"),
        ('base = "tcl"\n', (), "drive.toml", "`tlc`"),
        ("", (), "drive.toml", "is empty"),
        ('base = "tlc"\n', ("--set", "ftl.over_provisioning=-1"), "--set ftl.over", "greater than 0"),
        ('base = "tlc"\n', ("--set", "nand.read=45uss"), "--set nand.read", "45uss"),
        ('base = "tlc"\n', ("--set", "ftl.victim=greedi"), "--set ftl.victim", "did you mean `greedy`"),
        (
            'base = "tlc"\n[geometry]\nblocks_per_plane = 64\nchannels = 1\n',
            ("--size", "1t"),
            "job: size",
            "more than",
        ),
    ],
)
def test_a_mistake_in_a_drive_is_pointed_at(tmp_path, cli, lines, arguments, place, message):
    (tmp_path / "drive.toml").write_text(lines)
    code, out, err = cli("run", "--rw", "read", "--drive", tmp_path / "drive.toml", *arguments)
    assert (code, out) == (2, "")
    assert place in err
    assert message in err


def test_a_single_value_stands_for_a_list(cli):
    text = ninescope.Drive.preset("tlc").with_(nand__read="45us").resolve()
    assert len(tomllib.loads(text)["nand"]["read"]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('rw = "randread"\niodpeth = 3\n', "did you mean `iodepth`"),
        ('rw = "randraed"\n', "did you mean `randread`"),
        ('rw = "randread"\nbs = "4q"\n', "4q"),
        ("", "is empty"),
    ],
)
def test_a_mistake_in_a_job_file_is_pointed_at(tmp_path, cli, text, message):
    (tmp_path / "job.toml").write_text(text)
    code, _, err = cli("run", tmp_path / "job.toml")
    assert code == 2
    assert "job.toml" in err
    assert message in err


def test_a_mistyped_word_of_a_job_is_answered_with_the_nearest(cli):
    assert "did you mean `randread`" in cli("run", "--rw", "randraed").err


def test_a_trace_beyond_its_drive_is_refused(tmp_path, msr_trace, cli):
    with msr_trace.open("a") as file:
        file.write(f"128166372999999999,host,0,Read,{1 << 40},4096,500\n")
    code, _, err = cli("run", msr_trace, "--drive", "slc")
    assert code == 2
    assert "1024.00 GiB" in err
    assert "small.csv" in err


def test_a_truncated_archive_is_refused(tmp_path, msr_trace, cli):
    whole = gzip.compress(msr_trace.read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    code, _, err = cli("run", tmp_path / "cut.csv.gz")
    assert code == 2
    assert "cut.csv.gz" in err
    assert "truncated" in err


def test_a_header_and_carriage_returns_are_survived(tmp_path, msr_trace, cli):
    header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
    odd = tmp_path / "odd.csv"
    odd.write_bytes((header + msr_trace.read_text()).replace("\n", "\r\n").encode())
    code, out, _ = cli("run", odd)
    assert code == 0
    assert "2,000 requests" in out
    assert "1 line of the trace gave no request" in out


@pytest.mark.parametrize("verb", [("run",), ("trace", "stat")])
def test_messages_about_stdin_do_not_name_the_temporary_copy(verb):
    code, _, err = run_program(*verb, "-", stdin=b"hello\n")
    assert code == 2
    assert "standard input" in err
    assert "tmp" not in err


def test_a_time_scale_of_zero_is_refused(msr_trace, cli):
    code, _, err = cli("run", msr_trace, "--time-scale", "0")
    assert code == 2
    assert "--time-scale" in err


@pytest.mark.parametrize("duration", ["0s", "0.0ms", "-5s"])
def test_a_duration_of_nothing_is_refused(cli, duration):
    code, out, err = cli("run", "--rw", "randread", "--duration", duration)
    assert (code, out) == (2, "")
    assert "duration" in err


def test_the_default_drive_is_the_preset_that_is_marked():
    from ninescope.common.catalogue import DEFAULT_PRESET

    job = ninescope.Workload.job(rw="randread", size="64m", requests=100)
    assert ninescope.Drive().run(job).document["config"]["name"] == DEFAULT_PRESET


def test_a_closed_loop_keeps_a_queue_depth(msr_trace):
    shallow, deep = (
        ninescope.Drive().run(ninescope.Workload.trace(msr_trace, closed_loop=True, iodepth=depth))
        for depth in (1, 64)
    )
    assert shallow.simulated_ns > 2 * deep.simulated_ns


def test_trace_stat_counts_what_is_there(msr_trace):
    stat = ninescope.trace_stat(msr_trace)
    assert (stat["requests"], stat["reads"], stat["writes"]) == (2000, 667, 1333)
    assert stat["format"] == "msr"
    assert stat["skipped_lines"] == 0


def test_the_example_trace_runs():
    code, out, err = run_program("run", EXAMPLE_TRACE, "--json")
    assert code == 0, err
    assert json.loads(out)["requests"] > 0


def test_the_request_log_names_its_operations(result):
    operations = result.to_polars("requests")["op"]
    assert set(operations.unique()) == {"read", "write"}
    assert (operations == "read").sum() == result.latency.read.count


@pytest.mark.parametrize("format_", [[], ["--json"]])
def test_an_output_that_cannot_be_written_is_one_clear_error(format_):
    arguments = ["run", "--rw", "randread", "--size", "64m", "--requests", "100", *format_]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*quick_command(), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "ninescope: error: cannot write the output: No space left on device"
    )


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--duration", "0s"], "duration"),
        (["--time-scale", "nan"], "--time-scale"),
        (["--log-requests"], "--out"),
    ],
)
def test_options_that_would_do_nothing_are_refused(options, wanted):
    code, _, err = run_program("run", str(EXAMPLE_TRACE), "--requests", "10", *options)
    assert code == 2
    assert wanted in err


def test_intervals_hold_their_percentiles_and_survive_a_round_trip(tmp_path):
    result = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").run(
        ninescope.Workload.job(rw="randrw", bs="4k", iodepth=16, requests=60_000), prefill="full"
    )
    read = result.latency.read
    for key in ("50", "99", "99.9"):
        low, high = read.interval(float(key))
        assert low <= read.percentiles_ns[key] <= high
    assert sum(int(counts.sum()) for _, counts in read.blocks) == read.count
    result.save(tmp_path)
    again = ninescope.Result.load(tmp_path).latency.read
    assert again.intervals_ns == read.intervals_ns
    assert [counts.tolist() for _, counts in again.blocks] == [counts.tolist() for _, counts in read.blocks]
    with pytest.raises(ValueError, match=r"no interval of the 12th"):
        read.interval(12)


def test_latencies_of_several_runs_merge_as_if_one_run_had_measured_them():
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    job = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=16, requests=30_000)
    runs = [drive.run(job, prefill="full", seed=seed).latency.read for seed in (1, 2, 3)]
    merged = ninescope.Latency.merged(runs)
    assert merged.count == sum(run.count for run in runs)
    assert merged.max_ns == max(run.max_ns for run in runs)
    assert merged.mean_ns * merged.count == pytest.approx(sum(run.mean_ns * run.count for run in runs))
    everything = sorted(
        bound for run in runs for bound, count in zip(*run.histogram, strict=True) for _ in range(int(count))
    )
    for key, value in merged.percentiles_ns.items():
        rank = math.ceil(merged.count * float(key) / 100 - 1e-9)
        assert value == min(int(everything[rank - 1]), merged.max_ns)
        low, high = merged.intervals_ns[key]
        assert low <= value <= high
    assert "99.9" not in merged.insufficient
    assert "99.9999" in merged.insufficient


@pytest.mark.parametrize("preset", [preset.name for preset in ninescope.presets("jobs")])
def test_shipped_jobs_run_by_name(preset):
    code, out, err = run_program("run", preset, "--requests", "2000", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["workload"]["path"] == preset
    assert sum(hint["count"] for hint in document["hints"].values()) == 2000


def test_the_text_tells_of_the_host_cache():
    drive = ninescope.Drive.preset("tlc")
    text = str(drive.run(ninescope.Workload.preset("r75"), requests=2000, prefill="none"))
    assert re.search(r"host read +1,[45]\d\d \(7\d\.\d%\)", text), text
    assert "found their block" in text
