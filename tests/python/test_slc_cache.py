"""Blocks of one bit in a cell: where a burst falls off the cliff, what is folded, what is refused."""

from __future__ import annotations

import re

import pytest

import ninescope
from conftest import ROOT

DRIVE = ROOT / "examples/drives/slc-cache.toml"
DIES = 16
BLOCK = 96 // 3 * 16 * 1024
"""What a block takes with one bit in a cell: a page of 16 KiB for each of its wordlines."""


def drive(**settings: object) -> ninescope.Drive:
    return ninescope.Drive.from_file(DRIVE).with_(**settings)


def burst(**words: object) -> ninescope.Workload:
    return ninescope.Workload.job(rw="write", bs="128k", iodepth=8, size="3GiB", requests=8_000, **words)


def test_a_burst_is_taken_as_far_as_fixed_blocks_reach():
    result = drive(ftl__slc_cache__borrowed_blocks=0).run(burst(), prefill="none")
    cache = result.slc_cache
    assert cache is not None
    # Two of each pair of planes, on sixteen dies.
    assert (cache.block_bytes, cache.blocks_max) == (BLOCK, DIES * 2 * 2)
    assert cache.written_bytes == DIES * 2 * 2 * BLOCK
    assert cache.written_bytes + cache.past_bytes == 8_000 * 128 * 1024
    assert (cache.folded_bytes, cache.blocks_in_use) == (0, DIES * 2 * 2)
    assert "SLC cache" in str(result)


def test_borrowed_blocks_move_the_cliff():
    result = drive().run(burst(), prefill="none")
    cache = result.slc_cache
    assert cache is not None
    # 22 of each pair of planes; the last ones may still be filling.
    most = DIES * 22 * 2 * BLOCK
    assert most * 0.98 < cache.written_bytes <= most


@pytest.mark.parametrize(("name", "blocks", "bits"), [("client-tlc", 88, 3), ("client-qlc", 76, 4)])
def test_client_presets_have_their_cliff_where_their_blocks_end(name: str, blocks: int, bits: int) -> None:
    preset = ninescope.Drive.preset(name).with_(geometry__blocks_per_plane=blocks * 2)
    words = {"rw": "write", "bs": "1m", "iodepth": 4, "size": "14GiB", "requests": 12_000}
    result = preset.run(ninescope.Workload.job(**words), prefill="none")
    cache = result.slc_cache
    assert cache is not None
    # Of each of 32 planes; a block holds so many times fewer pages. The last ones may still be filling.
    pages = {"client-tlc": 576, "client-qlc": 1152}[name] // bits
    most = 32 * blocks * pages * 16 * 1024
    assert most * 0.98 < cache.written_bytes <= most
    assert cache.past_bytes > 0
    assert result.energy is not None


def test_a_burst_in_the_cache_runs_at_its_program_time():
    def rate(**settings: object) -> float:
        job = ninescope.Workload.job(rw="write", bs="128k", iodepth=64, size="128MiB", requests=1_000)
        result = drive(controller__link_rate="64GB/s", nand__channel_rate="16GB/s", **settings).run(
            job, prefill="none"
        )
        return float(result.document["throughput"]["write"]["bytes_per_second"])

    # Sixteen dies that program 32 KiB at a time.
    ideal = DIES * 32 * 1024 / 200e-6
    assert 0.85 * ideal < rate() < 1.05 * ideal


def test_a_drive_that_rests_is_empty_when_the_next_burst_comes():
    words = {"rw": "write", "bs": "128k", "iodepth": 8, "requests": 600, "size": "512MiB"}
    jobs = ninescope.Workload.jobs(
        {"name": "first", **words}, {"name": "second", **words, "offset": "1GiB", "startdelay": "10s"}
    )
    # A block of the cache that is not full stays: two of each die's pair of planes take what comes.
    settings = {"ftl__slc_cache__borrowed_blocks": 0, "ftl__slc_cache__fixed_blocks": 6}
    rested = drive(**settings).run(jobs, prefill="none").slc_cache
    awake = drive(**settings, ftl__slc_cache__fold_after="1h").run(jobs, prefill="none").slc_cache
    assert rested is not None
    assert awake is not None
    assert rested.past_bytes == 0
    assert rested.folded_bytes > 0
    assert awake.past_bytes > 0
    assert awake.folded_bytes == 0


def test_what_waits_is_written_twice():
    settings = {"ftl__slc_cache__when_full": "wait", "ftl__slc_cache__borrowed_blocks": 0}
    result = drive(**settings).run(burst(), prefill="none")
    cache = result.slc_cache
    assert cache is not None
    assert cache.past_bytes == 0
    assert result.waf.total == pytest.approx(1 + cache.folded_bytes / cache.written_bytes, abs=0.002)
    assert 1.9 < result.waf.total < 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ftl__slc_cache__fixed_blocks": 0, "ftl__slc_cache__borrowed_blocks": 0}, "has no blocks"),
        ({"ftl__slc_cache__fixed_blocks": 97}, "ftl.slc_cache.fixed_blocks"),
        ({"ftl__slc_cache__when_full": "stop"}, "when_full"),
        ({"ftl__slc_cache__fold_after": "-1ms"}, "fold_after"),
        ({"nand__slc_read": "0ns"}, "nand.slc_read"),
        ({"nand__cell": "slc"}, "nand.cell"),
        ({"ftl__streams": "sepbit"}, "ftl.streams"),
        ({"ftl__superblock": {"dies": 2}}, "ftl.superblock"),
        ({"ftl__gc_copybacks": 2}, "ftl.gc_copybacks"),
        ({"ftl__gc_trigger": {"policy": "foreground", "gain": 1}}, "ftl.gc_trigger"),
        ({"nand__program_failures": 1e-4}, "nand.program_failures"),
    ],
)
def test_what_does_not_go_with_them_is_named(settings, message):
    with pytest.raises(ninescope.ConfigError, match=re.escape(message)):
        drive(**settings).run(burst(), prefill="none")


def test_times_of_such_pages_without_such_blocks_are_refused():
    with pytest.raises(ninescope.ConfigError, match=r"nand\.slc_read"):
        ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").with_(nand__slc_read="20us").run(
            burst()
        )


def test_a_block_of_the_cache_takes_a_cycle_for_a_third_of_the_bytes():
    result = drive(ftl__slc_cache__when_full="wait", nand__endurance_cycles=3000).run(burst(), prefill="none")
    cache, endurance = result.slc_cache, result.endurance
    assert cache is not None
    assert endurance is not None
    flash = result.document["waf"]["flash_bytes"]
    raw = 16 * 2 * 96 * 96 * 16 * 1024
    passes = 3000 * raw / (flash + 2 * cache.written_bytes)
    assert endurance.lifetime.passes == pytest.approx(passes, rel=1e-6)


def test_a_run_does_not_wait_for_dies_to_rest_when_the_host_is_done():
    job = ninescope.Workload.job(rw="randread", bs="4k", iodepth=4, size="1GiB", requests=2_000)
    soon, late = (drive(ftl__slc_cache__fold_after=time).run(job, prefill="full") for time in ("1ms", "10s"))
    # What the last read leaves is less than a microsecond of the link.
    assert (soon.document["worked_on_ns"], late.document["worked_on_ns"]) == (0, 0)
    assert late.document["simulated_ns"] < 1e9
