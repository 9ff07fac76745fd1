"""Drives of two media from outside: presets on stand-ins, what the result says, and the figure."""

from __future__ import annotations

from pathlib import Path

import pytest

import ninescope
from ninescope.result.tier import CLASSES
from ninescope.text.result import as_text

HYBRIDS = ("hybrid-cde", "hybrid-wo", "hybrid-wb", "hybrid-rwb")


def small(preset: str) -> ninescope.Drive:
    """A drive of some 200 MB, so that pages have to leave."""
    drive = ninescope.Drive.preset(preset)
    if preset == "multi-scm":
        return drive.with_(storage_scm__capacity="256MiB", tier__scm_ratio=0.02)
    return drive.with_(geometry__blocks_per_plane=32, geometry__pages_per_block=32, tier__scm_ratio=0.02)


def mixed(size: str = "128MiB", **options: object) -> ninescope.Workload:
    """Reads and writes of 4 KiB, some places more often than others."""
    return ninescope.Workload.job(
        rw="randrw", bs="4k", size=size, requests=30_000, iodepth=4, random_distribution="zipf:1.1", **options
    )


@pytest.mark.parametrize("preset", [*HYBRIDS, "multi-scm"])
def test_every_preset_moves_pages_and_says_so(preset: str) -> None:
    result = small(preset).run(mixed())
    tier = result.tier
    assert tier is not None
    assert tier.hit_ratio is not None
    assert 0.2 < tier.hit_ratio < 1
    moved = tier.counters["evicted_dirty"] + tier.counters["evicted_clean"]
    assert moved > 50
    assert 0 < tier.slots_dirty <= tier.slots_holding <= tier.slots < tier.pages
    bytes_of = [tier.bytes[name] for name in CLASSES]
    total = sum(c.read_upper + c.read_lower + c.written_upper + c.written_lower for c in bytes_of)
    assert total == 30_000 * 4096
    text = as_text(result)
    for part in ("tier ", "in SCM", "pages ", "SCM wear"):
        assert part in text


def test_a_drive_of_one_medium_has_no_tier() -> None:
    result = ninescope.Drive.preset("m-scm").run(ninescope.Workload.job(rw="read", requests=10))
    assert result.tier is None
    assert "tier" not in result.document


def test_no_sector_leaves_the_upper_medium_where_it_holds_all() -> None:
    drive = small("hybrid-wb").with_(tier__scm_ratio=1.0)
    job = ninescope.Workload.job(rw="randwrite", bs="4k", size="64MiB", requests=20_000)
    tier = drive.run(job).tier
    assert tier is not None
    assert tier.counters["evicted_dirty"] == tier.counters["evicted_clean"] == 0
    assert tier.bytes["cold_random"].written_lower == 0


def test_a_larger_upper_medium_hits_more() -> None:
    ratios = []
    for ratio in (0.01, 0.04, 0.16):
        tier = small("hybrid-wb").with_(tier__scm_ratio=ratio).run(mixed()).tier
        assert tier is not None
        ratios.append(tier.hit_ratio)
    assert ratios == sorted(ratios)
    assert ratios[0] < ratios[-1]


def of_memory(**placement: object) -> ninescope.Result:
    """Two memories under `nv-wb`, with these of its parameters, one request after the other."""
    drive = small("multi-scm").with_(tier__placement={"policy": "nv-wb", **placement})
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="128MiB", requests=10_000, iodepth=1)
    return drive.run(job)


def test_dirty_sectors_go_down_or_whole_pages() -> None:
    for moves, per_page in ((False, 8), (True, 32)):
        write_back = "whole-pages" if moves else "dirty-sectors"
        result = of_memory(migration="foreground", fetch_on_write=moves, write_back=write_back)
        counters = result.document["tier"]["counters"]
        gone = counters["evicted_dirty"] + counters["evictions_kept"]
        written = result.document["storage_scm"]["counters"]["sectors_written"]
        assert gone > 1000
        if moves:
            assert written == per_page * gone
        else:
            # A request has eight sectors; a few pages were written twice before they left.
            assert per_page * gone <= written < 1.5 * per_page * gone


def test_a_request_waits_for_as_much_as_it_is_told_to() -> None:
    modes = ("background", "foreground-reads", "foreground")
    means = [of_memory(migration=mode).latency.read.mean_ns for mode in modes]
    assert means == sorted(means)
    assert means[0] < means[1] < means[2]


@pytest.mark.parametrize("key", ["migration", "write_back"])
def test_words_that_a_placement_does_not_know_are_refused_with_those_it_does(key: str) -> None:
    known = {"migration": "foreground-reads", "write_back": "whole-pages"}[key]
    with pytest.raises(ninescope.ConfigError, match=known):
        of_memory(**{key: "sometimes"})


def test_the_figure_is_drawn_and_goes_with_the_output(tmp_path: Path) -> None:
    result = small("hybrid-rwb").run(mixed())
    figure = result.plot.tier(tmp_path / "tier.png")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Who served which accesses", "What moved, and why", "Slots in time", "Hits in time"]
    assert (tmp_path / "tier.png").stat().st_size > 10_000
    # The legend lay within the axes, on whichever bars were long.
    figure.canvas.draw()
    legend = figure.axes[0].get_legend().get_window_extent()
    assert all(not legend.overlaps(axes.get_window_extent()) for axes in figure.axes)
    assert 0 <= legend.x0 <= legend.x1 <= figure.bbox.width
    series = result.to_polars("series")
    assert series["scm_slots_used"].max() <= result.tier.slots  # type: ignore[union-attr]
    assert series["scm_page_accesses_total"].max() == result.tier.counters["page_accesses"]  # type: ignore[union-attr]
    one = ninescope.Drive.preset("tlc").run(ninescope.Workload.job(rw="read", requests=10))
    assert "scm_slots_used" not in one.to_polars("series").columns


@pytest.mark.parametrize("preset", [*HYBRIDS, "multi-scm"])
@pytest.mark.parametrize("volume", ["prxy_0", "hm_0", "proj_3"])
def test_the_presets_run_on_stand_ins(preset: str, volume: str) -> None:
    import subprocess
    import sys

    command = [
        sys.executable,
        "-m",
        "ninescope",
        "run",
        volume,
        "--requests",
        "20000",
        "--addresses",
        "compact",
    ]
    done = subprocess.run(
        [*command, "--drive", preset, "--check", "cheap"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "20,000 requests" in done.stdout
    assert "no invariant violated" in done.stdout
