"""The slowest requests and the timeline: what is shown of them, and what the engine says of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE, ROOT

DEMO = ROOT / "examples/drives/demo.toml"
MIX = (
    "run",
    "--rw",
    "randrw",
    "--rwmixread",
    40,
    "--rate-iops",
    40_000,
    "--size",
    "2g",
    "--requests",
    20_000,
)
SETTINGS = ("scheduler.suspend=between-loops", "nand.erase_loop=1ms", "nand.erase_loops=4")
SETS = itertools.chain.from_iterable(("--set", setting) for setting in SETTINGS)
DRIVE = ("--drive", DEMO, "--prefill", "steady-uniform", *SETS)
needs_the_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


@pytest.fixture(scope="module")
def result():
    drive = ninescope.Drive.from_file(DEMO) if NATIVE else ninescope.Drive.preset("tlc")
    if NATIVE:
        drive = drive.with_({"scheduler.suspend": "between-loops"})
    job = ninescope.Workload.job(
        rw="randrw", bs="4k", rwmixread=40, rate_iops=40_000, size="2g", requests=20_000
    )
    prefill = "steady-uniform" if NATIVE else "footprint"
    return drive.run(job, prefill=prefill, explain_slowest=12, trace_window=("10ms", "14ms"))


def test_the_slowest_requests_are_sorted_and_their_parts_sum_to_their_latency(result):
    for op, requests in result.slowest:
        latencies = [request.latency_ns for request in requests]
        assert len(latencies) == 12
        assert latencies == sorted(latencies, reverse=True)
        assert latencies[0] == getattr(result.latency, op).max_ns
        for request in requests:
            assert sum(request.parts_ns.values()) == request.latency_ns
            assert request.completed_ns - request.submitted_ns == request.latency_ns


def test_stages_follow_one_another_and_the_wait_for_the_die_is_split_as_the_parts_are(result):
    for request in itertools.chain.from_iterable(requests for _, requests in result.slowest):
        edges = [request.submitted_ns, *(stage.until_ns for stage in request.stages)]
        assert [stage.from_ns for stage in request.stages] == edges[:-1]
        assert edges[-1] == request.completed_ns
        waited: dict[str, int] = {}
        for stage in request.stages:
            if stage.stage == "die_queue":
                for act in stage.die_did:
                    waited[act.cause] = waited.get(act.cause, 0) + act.until_ns - act.from_ns
                for occupancy, time in stage.die_did_earlier_ns.items():
                    waited[f"die_{occupancy}"] = waited.get(f"die_{occupancy}", 0) + time
        assert waited == {cause: time for cause, time in request.parts_ns.items() if cause.startswith("die_")}


@needs_the_engine
@pytest.mark.parametrize(
    ("drive", "stages"),
    [
        (ROOT / "examples/drives/dram-cache.toml", {"dram", "migration_wait", "die_queue"}),
        (ROOT / "examples/drives/one-dram.toml", {"dram", "die_queue"}),
        ("s-scm", {"bank_queue", "command_array"}),
        ("hybrid-wb", {"bank_queue", "die_queue"}),
    ],
    ids=["cache", "dram", "scm", "two-media"],
)
def test_behind_dram_and_storage_class_memory_stages_sum_to_the_parts(drive, stages, tmp_path):
    drive = ninescope.Drive.from_file(drive) if isinstance(drive, Path) else ninescope.Drive.preset(drive)
    job = ninescope.Workload.job(rw="randrw", bs="16k", iodepth=16, size="1m", requests=2_000)
    if "migration_wait" in stages:
        job = ninescope.Workload.job(rw="randrw", bs="16k", iodepth=32, size="512m", requests=12_000)
    result = drive.run(job, prefill="full", explain_slowest=20, trace_window=("0ms", "1ms"), check="cheap")
    seen: set[str] = set()
    for request in itertools.chain.from_iterable(requests for _, requests in result.slowest):
        assert sum(request.parts_ns.values()) == request.latency_ns
        edges = [request.submitted_ns, *(stage.until_ns for stage in request.stages)]
        assert [stage.from_ns for stage in request.stages] == edges[:-1]
        assert edges[-1] == request.completed_ns
        seen |= {stage.stage for stage in request.stages}
    assert stages <= seen
    assert "slowest reads, from submission to completion" in str(result)
    assert result.timeline["traceEvents"]
    result.plot.slowest(tmp_path / "slowest.png")


def test_the_slowest_requests_are_told_in_words_and_drawn(result, tmp_path):
    text = str(result)
    assert "The 12 slowest reads, from submission to completion" in text
    assert "in the queue of die" in text
    assert f"#{result.slowest.read[0].id}: " in text
    assert "the other 2 are in the JSON, under slowest.read" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    result.plot.slowest(tmp_path / "slowest.png")
    assert (tmp_path / "slowest.png").stat().st_size > 10_000


def test_a_result_without_them_says_how_to_get_them(result):
    plain = ninescope.Result({key: value for key, value in result.document.items() if key != "slowest"})
    assert list(plain.slowest) == []
    assert plain.timeline is None
    assert "slowest" not in str(plain).split("Where the time")[0]
    plain.plot.slowest()  # an empty figure that names the option


def test_what_is_saved_can_be_loaded(result, tmp_path):
    written = result.save(tmp_path / "run")
    assert tmp_path / "run/timeline.json" in written
    again = ninescope.Result.load(tmp_path / "run")
    assert again.slowest == result.slowest
    assert again.timeline == result.timeline
    del again.document["slowest"]
    ninescope.Result(again.document).save(tmp_path / "run")
    assert not (tmp_path / "run/timeline.json").exists(), "that of an earlier run is gone"


@pytest.mark.parametrize("window", ["1ms..2ms", ("1ms",), (1, 2), ("1", "2ms")])
def test_a_window_that_is_none_is_refused(window):
    job = ninescope.Workload.job(rw="randread", requests=10)
    with pytest.raises(ninescope.ConfigError, match="trace_window"):
        ninescope.Drive.preset("tlc").run(job, trace_window=window)


@needs_the_engine
def test_a_lone_write_waits_for_room_for_its_own_pages(tmp_path):
    # Of 31 MiB, beginning and ending within units, into a buffer that holds a small part of it.
    path = tmp_path / "lone.txt"
    path.write_text("0 0 1 63489 0\n")
    trace = ninescope.Workload.trace(path, format="mqsim")
    result = ninescope.Drive.from_file(DEMO).run(trace, prefill="full", explain_slowest=1)
    [request] = result.slowest.write
    stalls = [stage for stage in request.stages if stage.stage == "buffer_stall"]
    assert sum(stage.until_ns - stage.from_ns for stage in stalls) > request.latency_ns / 2
    assert not any(stage.behind_others for stage in request.stages)
    programs = [act for stage in stalls for act in stage.die_did if act.occupancy == "host_program"]
    assert programs
    assert all(act.own for act in programs if act.requests == (request.id,))
    text = str(result)
    assert "for its own pages" in text
    assert "behind other writes" not in text
    result.plot.slowest()


# ---- with the engine -----------------------------------------------------------------------------------


@needs_the_engine
@pytest.mark.parametrize("size", ["1m", "4m"])
def test_a_part_of_the_request_itself_has_one_name_in_lists_and_in_sums(size):
    """More than the 16 dies read at once: what the last part waits for are other parts of the request."""
    job = ninescope.Workload.job(rw="randread", bs=size, iodepth=1, size="256m", requests=20)
    result = ninescope.Drive.from_file(DEMO).run(job, prefill="full", explain_slowest=1)
    [request] = result.slowest.read
    acts = [act for stage in request.stages for act in stage.die_did]
    assert {act.own for act in acts} == {True}, "it is alone"
    assert all(act.what.startswith("own parts: host read of this request") for act in acts)
    told = str(result)[str(result).index("slowest read") :]
    assert "own parts" in told
    assert told.count("host read of this request") == told.count("own parts: host read of this request")


@needs_the_engine
def test_the_command_line_writes_a_timeline_that_viewers_accept(cli, tmp_path):
    out = tmp_path / "run"
    code, text, err = cli(
        *MIX, *DRIVE, "--trace-window", "100ms..110ms", "--explain-slowest", "5", "--out", out
    )
    assert code == 0, err
    assert "The 5 slowest reads" in text
    assert (out / "slowest.png").stat().st_size > 10_000
    document = json.loads((out / "timeline.json").read_text())
    events = document["traceEvents"]
    assert len(events) > 500
    for event in events:
        assert event.keys() >= {"name", "ph", "ts", "pid", "tid"}
        assert event["ph"] in ("X", "M", "b", "e")
        assert ("dur" in event) == (event["ph"] == "X")
        assert ("id" in event) == (event["ph"] in "be")
        assert event["ph"] == "M" or 100_000 <= event["ts"] <= 110_000
    threads = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert threads >= {"transfers", "die 0 (package 0)", "die 15 (package 1)"}
    names = {event["name"] for event in events}
    assert {"sensing", "data out", "read", "write"} <= names
    code, _, _ = cli(*MIX, *DRIVE, "--out", out)
    assert code == 0
    assert not (out / "timeline.json").exists()
    assert not (out / "slowest.png").exists()


@needs_the_engine
def test_a_suspended_erase_is_seen_in_the_timeline(cli, tmp_path):
    code, _, err = cli(*MIX, *DRIVE, "--trace-window", "300ms..330ms", "--out", tmp_path / "run")
    assert code == 0, err
    events = json.loads((tmp_path / "run/timeline.json").read_text())["traceEvents"]
    parked = [event for event in events if event["name"].startswith("parked: erase")]
    assert parked
    first = parked[0]
    track = [event for event in events if (event["pid"], event["tid"]) == (first["pid"], first["tid"])]
    beside = [
        event
        for event in track
        if event["name"].startswith("host read #")
        and first["ts"] <= event["ts"]
        and event["ts"] + event["dur"] <= first["ts"] + first["dur"] + 1e-6
    ]
    assert beside, "a read runs beside the parked erase"
    whole = [event for event in track if "suspended" in event["name"] and event["ts"] <= first["ts"]][-1]
    assert whole["args"]["suspensions"] >= 1
    assert whole["ts"] + whole["dur"] >= first["ts"] + first["dur"]


@needs_the_engine
def test_recording_and_checking_share_a_run_and_leave_the_digest_alone(cli, tmp_path):
    plain = json.loads(cli(*MIX, *DRIVE, "--json").out)
    assert "slowest" not in plain
    for check in ("off", "full"):
        arguments = (
            "--check",
            check,
            "--explain-slowest",
            "5",
            "--trace-window",
            "1ms..2ms",
            "--out",
            tmp_path / "o",
        )
        recorded = json.loads(cli(*MIX, *DRIVE, *arguments, "--json").out)
        assert recorded["digest"] == plain["digest"]
        assert [len(recorded["slowest"][op]) for op in ("read", "write")] == [5, 5]


@needs_the_engine
def test_a_window_beyond_the_end_of_the_run_is_said_to_be_empty(cli, tmp_path):
    code, text, _ = cli(*MIX, *DRIVE, "--trace-window", "1h..2h", "--out", tmp_path / "run")
    assert code == 0
    assert "is empty: the run ended at" in text
    assert json.loads((tmp_path / "run/timeline.json").read_text())["traceEvents"][0]["ph"] == "M"


@needs_the_engine
@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("12ms..10ms", "--trace-window 12ms..10ms: the window from 12ms to 10ms ends before it begins"),
        ("1s..1s", "holds no time"),
        ("1parsec..2ms", "--trace-window 1parsec..2ms: `1parsec` is not a duration"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_by_its_option(cli, tmp_path, window, message):
    code, out, err = cli(*MIX, *DRIVE, "--trace-window", window, "--out", tmp_path / "run")
    assert code == 2
    assert message in err
    assert out == ""
    assert not (tmp_path / "run").exists(), "nothing was written"
