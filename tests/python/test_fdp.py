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
