"""Flexible data placement: a cache with handles and without, what a result says, what is refused."""

from __future__ import annotations

import pytest

import ninescope
from conftest import ROOT

DRIVE = ROOT / "examples/drives/fdp.toml"
JOBS = ROOT / "examples/jobs/flash-cache.toml"


def handles(*types: str) -> dict[str, object]:
    return {"policy": "fdp", "handles": [f"{name}-isolated" for name in types]}


def cache(streams: object = None, **settings: object) -> ninescope.Result:
    drive = ninescope.Drive.from_file(DRIVE).with_(**settings)
    if streams is not None:
        drive = drive.with_(ftl__streams=streams)
    return drive.run(ninescope.Workload.job_file(JOBS), prefill="steady")


def test_handles_keep_a_cache_near_one():
    apart, together = cache(), cache("single")
    assert together.fdp is None
    assert together.waf.total is not None
    assert apart.waf.total is not None
    assert together.waf.total > 2.5
    assert apart.waf.total < 1.15
    fdp = apart.fdp
    assert fdp is not None
    large, small = fdp.handles
    assert (large.isolation, large.handle, small.handle) == ("initially-isolated", 0, 1)
    assert fdp.reclaim_unit_bytes == 512 * 1024
    # What a run counts from its beginning on is whole units there.
    assert (large.host_units + small.host_units) * 4096 == fdp.host_bytes_written
    moved = large.moved_units + small.moved_units
    padding = large.padding_units + small.padding_units + fdp.shared.padding_units
    programmed = large.host_units + small.host_units + moved + padding
    assert programmed * 4096 == fdp.media_bytes_written
    erased = large.reclaim_units_erased + small.reclaim_units_erased + fdp.shared.reclaim_units_erased
    assert erased * fdp.reclaim_unit_bytes == fdp.media_bytes_erased
    assert large.units_per_host_unit is not None
    assert small.units_per_host_unit is not None
    assert large.units_per_host_unit < small.units_per_host_unit < 1.2
    assert "handles" in str(apart)


def test_isolation_for_good_shares_nothing():
    fdp = cache(handles("persistently", "persistently")).fdp
    assert fdp is not None
    assert fdp.shared.reclaim_units_begun == 0
    assert fdp.handles[1].moved_units > 0


def test_what_breaks_is_told_of_the_handle_whose_it_is():
    broken = {"nand__program_failures": 1e-3, "nand__erase_failures": 1e-3}
    more = {"geometry__blocks_per_plane": 160, "ftl__over_provisioning": 0.3, "ftl__gc_reserve_blocks": 2}
    result = cache(handles("initially", "persistently"), **broken, **more)
    fdp, bad = result.fdp, result.bad_blocks
    assert fdp is not None
    assert bad is not None
    parts = [*fdp.handles, fdp.shared]
    assert bad.program_failures > 0
    assert bad.erase_failures > 0
    assert sum(part.reclaim_units_retired for part in parts) > bad.erase_failures
    assert sum(part.rewritten_units for part in fdp.handles) > 0
    # All that was written to the media is somebody's: by its handle, or as padding or once more.
    units = sum(handle.host_units + handle.own_units + handle.moved_units for handle in fdp.handles)
    units += sum(part.padding_units + part.rewritten_units for part in parts)
    assert units * 4096 == fdp.media_bytes_written
    erased = sum(part.reclaim_units_erased for part in parts)
    assert erased * fdp.reclaim_unit_bytes == fdp.media_bytes_erased


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (handles("initially"), "handles"),
        (handles(*["initially"] * 9), "are 9, and there may be 2 to 8"),
        (handles("never", "initially"), "never-isolated"),
        (handles(*["persistently"] * 8), "blocks per plane are enough"),
    ],
)
def test_what_makes_no_handles_is_refused(told, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        cache(told, ftl__over_provisioning=0.1)


COLUMNS = "csv:time=1[us],op=2,offset=3[B],size=4[B]"


def writes(path, streams=None):
    """Write a trace of 64 writes of 4 KiB, behind each the number of its stream if there are any."""
    rows = [
        f"{10 * number},W,{4096 * number},4096" + ("" if streams is None else f",{streams[number]}")
        for number in range(64)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def of_handles(result: ninescope.Result) -> list[int]:
    assert result.fdp is not None
    return [handle.host_units for handle in result.fdp.handles]


def test_a_column_of_a_trace_names_handles(tmp_path):
    path = writes(tmp_path / "trace.csv", [int(number % 4 == 3) for number in range(64)])
    trace = ninescope.Workload.trace(path, format=f"{COLUMNS},stream=5")
    assert of_handles(ninescope.Drive.from_file(DRIVE).run(trace)) == [48, 16]


def test_a_trace_has_a_handle_where_it_names_none(tmp_path):
    path = writes(tmp_path / "trace.csv")
    drive = ninescope.Drive.from_file(DRIVE)
    assert of_handles(drive.run(ninescope.Workload.trace(path, format=COLUMNS, stream=1))) == [0, 64]
    # 0 in the column names none.
    some = writes(tmp_path / "some.csv", [0] * 32 + [1] * 32)
    trace = ninescope.Workload.trace(some, format=f"{COLUMNS},stream=5", stream=1)
    assert of_handles(drive.run(trace)) == [0, 64]


def test_traces_beside_each_other_have_handles_of_their_own(tmp_path):
    writes(tmp_path / "a.csv")
    writes(tmp_path / "b.csv")
    jobs = tmp_path / "two.toml"
    of_each = 'format = "' + COLUMNS + '"\n'
    jobs.write_text(
        f'[[traces]]\ntrace = "a.csv"\n{of_each}'
        f'[[traces]]\ntrace = "b.csv"\nstream = 1\noffset = "1MiB"\n{of_each}'
    )
    result = ninescope.Drive.from_file(DRIVE).run(ninescope.Workload.job_file(jobs))
    assert of_handles(result) == [64, 64]


@pytest.mark.parametrize(
    ("stream", "drive", "note"),
    [
        (
            1,
            {"ftl__streams": "single"},
            "`stream` (the trace) changes nothing on a drive whose ftl.streams is single",
        ),
        (7, {}, "`stream` of the trace is 7, and ftl.streams has 0 to 1"),
    ],
)
def test_a_stream_that_nothing_hears_is_noted(tmp_path, stream, drive, note):
    trace = ninescope.Workload.trace(writes(tmp_path / "trace.csv"), format=COLUMNS, stream=stream)
    result = ninescope.Drive.from_file(DRIVE).with_(**drive).run(trace)
    assert any(note in each for each in result.document["notes"])


def test_what_a_column_of_streams_holds_is_a_number(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("0,W,0,4096,256\n")
    trace = ninescope.Workload.trace(path, format=f"{COLUMNS},stream=5", strict=True)
    with pytest.raises(ninescope.ConfigError, match="stream"):
        ninescope.Drive.from_file(DRIVE).run(trace)
