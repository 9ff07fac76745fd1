"""The timeline in Perfetto: its own trace processor reads it, and finds in it what was written."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import ninescope
import perfetto_processor
from conftest import NATIVE, ROOT

pytestmark = [
    pytest.mark.skipif(not NATIVE, reason="the engine is not built"),
    pytest.mark.skipif(
        bool(perfetto_processor.missing()),
        reason=f"THE TIMELINE WAS NOT READ BY PERFETTO: {perfetto_processor.missing()}",
    ),
]
SLICES = """
select slice.category, slice.name, slice.ts, slice.dur, slice.depth, thread.name
from slice left join thread_track on thread_track.id = slice.track_id left join thread using (utid)
"""


@pytest.fixture(scope="module")
def timeline() -> dict:
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").with_(
        {"scheduler.suspend": "between-loops", "nand.erase_loop": "1ms", "nand.erase_loops": 4}
    )
    job = ninescope.Workload.job(
        rw="randrw", bs="4k", rwmixread=40, rate_iops=40_000, size="2g", requests=14_500
    )
    result = drive.run(job, prefill="steady-uniform", trace_window=("350ms", "360ms"))
    assert result.timeline is not None
    return result.timeline


def found_in(document: dict) -> tuple[list[tuple], list[tuple]]:
    """Return the slices that Perfetto finds, and what it complains of."""
    slices, complaints = perfetto_processor.query(
        json.dumps(document).encode(), SLICES, perfetto_processor.STATS
    )
    return slices, complaints


def test_perfetto_finds_every_slice_where_and_when_it_was_written(timeline):
    slices, complaints = found_in(timeline)
    assert complaints == []
    lanes = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in timeline["traceEvents"]
        if event["name"] == "thread_name"
    }
    written = Counter(
        (
            event["cat"],
            event["name"],
            round(event["ts"] * 1e3),
            round(event["dur"] * 1e3),
            lanes[event["pid"], event["tid"]],
        )
        for event in timeline["traceEvents"]
        if event["ph"] == "X"
    )
    read = Counter((*each[:4], each[5]) for each in slices if each[0] != "request")
    assert read == written
    assert any(name.startswith("erase block") for _, name, *_ in written)
    began = Counter(event["name"] for event in timeline["traceEvents"] if event["ph"] == "b")
    assert Counter(each[1] for each in slices if each[0] == "request") == began


def test_phases_lie_within_their_commands(timeline):
    depths = {category: [each[4] for each in found_in(timeline)[0] if each[0] == category]
              for category in ("command", "die", "channel")}  # fmt: skip
    assert min(depths["command"]) == 0
    assert max(depths["command"]) >= 1, "a read runs while an erase is parked"
    assert min(depths["die"]) == 1, "never without a command around it"
    assert set(depths["channel"]) == {0}, "a channel moves one thing at a time"


def test_it_would_complain_of_a_slice_that_ends_nowhere(timeline):
    """The test of the test: what is no trace, or ends before it began, is not passed over."""
    broken = {**timeline, "traceEvents": [*timeline["traceEvents"][:200]]}
    last = max(event["ts"] for event in broken["traceEvents"])
    broken["traceEvents"].append({"name": "x", "ph": "X", "ts": last, "dur": -5, "pid": 2, "tid": 1})
    slices, complaints = found_in(broken)
    assert complaints or ("x", last) not in {(each[1], each[2] / 1e3) for each in slices if each[3] >= 0}
    with pytest.raises(AssertionError):
        perfetto_processor.query(b'{"traceEvents":[{"name":', SLICES)
