"""Each drive of examples/drives runs, and what it is an example of is seen at work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ninescope

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

Document = dict[str, Any]
Seen = Callable[[Document], bool]


def job(rw: str, bs: str, requests: int, **more: Any) -> dict[str, Any]:
    """Return a job of so many requests, eight of them in flight."""
    return {"rw": rw, "bs": bs, "requests": requests, "iodepth": 8} | more


def some(*path: str) -> Seen:
    """Return whether the number that lies there is more than nothing."""

    def seen(document: Document) -> bool:
        value: Any = document
        for key in path:
            value = value[key]
        return bool(value > 0)

    return seen


def one_link_both_ways(document: Document) -> bool:
    """Reads and writes of a SATA drive share a link that is full."""
    link = document["utilisation"]["link"]
    return bool(min(link.values()) > 0.4 and 0.95 < sum(link.values()) <= 1)


def as_weights_say(document: Document) -> bool:
    """Three commands of weight 3 go in to each of weight 1, and the limit holds its job to 100 MB/s."""
    jobs = {each["name"]: each for each in document["by_job"]}
    rate = {name: each["throughput"]["read"]["iops"] for name, each in jobs.items() if name != "limited"}
    limited = jobs["limited"]["throughput"]["write"]["bytes_per_second"]
    return bool(
        abs(rate["three"] / rate["one"] - 3) < 0.05
        and limited < 103e6
        and all(each["arbitration"]["out_of_turn"] for each in document["by_job"] if each["name"] == "urgent")
    )


def lower_pages_alone(document: Document) -> bool:
    """The first two pages of each block are lower ones, which take 850 us."""
    return bool(document["latency"]["write"]["max_ns"] < 1_000_000)


def first_layer_is_slower(document: Document) -> bool:
    """Pages of the first quarter of a block are programmed in 1.1 of 350 us, when the drive is new."""
    return bool(document["latency"]["write"]["min_ns"] >= 385_000)


def on_own_channels(document: Document) -> bool:
    """What the host says of two kinds decides where they go, and hardly any of it goes elsewhere."""
    ftl = document["ftl"]
    return bool(
        all(kind["written"] for kind in ftl["streams"][1:]) and ftl["away_units"] < ftl["host_units"] / 10
    )


def two_planes_a_command(document: Document) -> bool:
    """What a command programs are two planes of the four of a die."""
    counters = document["counters"]
    return bool(counters["host_page_programs"] == 2 * counters["program_commands"] > 0)


def twelve_pages_a_command(document: Document) -> bool:
    """What a command programs are the three pages of a wordline in each of the four planes of a die."""
    counters = document["counters"]
    return bool(counters["host_page_programs"] == 12 * counters["one_shot_programs"])


def erased_on_four_dies(document: Document) -> bool:
    """Each group is erased by four commands, and one may be under way at the end."""
    commands, groups = (document["counters"][name] for name in ("erase_commands", "group_erases"))
    return bool(groups and 3.5 < commands / groups < 4.5)


def only_the_array(document: Document) -> bool:
    """A read takes 40 us of the array, and next to nothing of channel, link and controller."""
    read = document["latency"]["read"]
    return bool(read["min_ns"] >= 40_000 and read["max_ns"] <= 40_010)


SHOWN: dict[str, tuple[dict[str, Any] | str, str, list[Seen]]] = {
    "by-address": (job("read", "64k", 500, size="32m"), "full", [some("counters", "multi_plane_reads")]),
    "cache-that-pushes-back": (
        job("randwrite", "16k", 4000, iodepth=128),
        "none",
        [some("tier", "counters", "writes_held")],
    ),
    "cache-in-parts": ("quiet-and-noisy", "none", [some("tier", "hit_ratio")]),
    "cache-reads": (
        job("read", "64k", 4000, iodepth=64),
        "full",
        [some("counters", "cached_reads")],
    ),
    "channels-of-a-stream": ("hot-and-cold-apart", "steady", [on_own_channels]),
    "demo": (job("randwrite", "16k", 4000), "steady", [some("counters", "gc_page_programs")]),
    "copyback": (
        job("randwrite", "16k", 12000),
        "steady",
        [some("counters", name) for name in ("copybacks", "copybacks_at_limit")],
    ),
    "map-of-blocks": (
        job("randwrite", "4k", 400),
        "full",
        [some("block_map", "merges", "full"), some("block_map", "pages_copied")],
    ),
    "degraded-reads": (
        job("randread", "4k", 4000),
        "full",
        [some("reliability", "counters", name) for name in ("degraded_reads", "units_rebuilt")]
        + [some("ftl", "healed_units")],
    ),
    "femu-blackbox": (job("randread", "4k", 500, iodepth=1, size="16m"), "footprint", [only_the_array]),
    "die-fails": (
        job("randrw", "4k", 8000),
        "full",
        [
            some("reliability", "counters", name)
            for name in ("die_failures", "degraded_reads", "pages_rebuilt", "rebuild_page_reads")
        ]
        + [some("waf", "rebuild"), some("utilisation", "dies", "occupancy", "rebuild")],
    ),
    "dram-cache": (job("randwrite", "4k", 4000, size="8m"), "none", [some("tier", "hit_ratio")]),
    "fdp": ("flash-cache", "steady", [some("fdp", "statistics", "media_bytes_written")]),
    "firmware-cores": (job("randread", "4k", 4000), "none", [some("firmware", "counters", "waits")]),
    "in-turns": (job("randwrite", "16k", 4000), "steady", [some("counters", "channel_waits")]),
    "layers-and-wear": (job("write", "16k", 60, iodepth=1, fua=1.0), "none", [first_layer_is_slower]),
    "lazy-trims": (
        "writes-and-trims",
        "steady",
        [some("counters", name) for name in ("deferred_trims", "trims_at_rest", "trimmed_units_moved")],
    ),
    "levels-wear": (job("randwrite", "16k", 8000), "steady", [some("ftl", "leveled_units")]),
    "link-commands": (
        job("randread", "64k", 2000),
        "full",
        [some("counters", name) for name in ("link_messages", "whole_reads")],
    ),
    "nvme-queues": (
        job("randread", "128k", 2000),
        "none",
        [some("counters", name) for name in ("split_commands", "fetched_commands", "gathered_completions")],
    ),
    "one-dram": (
        job("randrw", "4k", 4000, size="16m"),
        "full",
        [
            some("dram", "bus", name)
            for name in ("writes_in", "pages_out", "reads_in", "map_look_ups", "waits")
        ]
        + [
            some("dram", "counters", "host_sectors_taken"),
            some("map", "hit_ratio"),
            some("tier", "hit_ratio"),
        ],
    ),
    "one-shot": (
        job("randrw", "16k", 4000, iodepth=16),
        "full",
        [some("counters", "one_shot_programs"), twelve_pages_a_command],
    ),
    "parity": (
        job("randwrite", "16k", 4000),
        "steady-uniform",
        [some("counters", "parity_page_programs")],
    ),
    "plane-reads": (
        job("randread", "4k", 4000, iodepth=64),
        "full",
        [some("counters", "reads_beside_reads")],
    ),
    "power": (
        job("randwrite", "16k", 4000),
        "steady",
        [
            some("energy", "by_cause", name)
            for name in ("host_program", "gc_read", "gc_program", "erase", "cores")
        ]
        + [some("energy", "peak_watts")],
    ),
    "power-cap": (job("randread", "4k", 4000), "full", [some("counters", "power_waits")]),
    "heats-up": (
        job("randread", "4k", 10_000, iodepth=64),
        "full",
        [some("counters", "thermal_throttles"), some("energy", "heat", "throttled_ns")],
    ),
    "power-states": (
        job("randread", "4k", 300, rate_iops=20),
        "full",
        [some("counters", "power_wakes"), some("energy", "average_watts")],
    ),
    "read-ahead": (
        job("read", "16k", 2000, iodepth=1),
        "full",
        [some("tier", "counters", "fetched_ahead"), some("tier", "counters", "copied_up")],
    ),
    "programs-wait": (job("randwrite", "16k", 4000), "full", [some("map", "counters", "programs_held")]),
    "sata": (job("randrw", "16k", 4000, iodepth=32), "none", [one_link_both_ways]),
    "sata-trims": ("writes-and-trims", "steady", [some("counters", "queued_trims")]),
    "sectors": (
        job("randwrite", "512", 4000),
        "full",
        [some("counters", "read_modify_write_unmapped"), two_planes_a_command],
    ),
    "senses-what-waits": (
        job("randrw", "4k", 4000, size="1m", iodepth=16),
        "full",
        [some("counters", "sensed_while_waiting")],
    ),
    "shared-buffer": (
        "shared-buffer",
        "none",
        [some("counters", "buffer_stalls"), some("counters", "part_stalls")],
    ),
    "slows-down": (job("randwrite", "16k", 4000), "steady", [some("counters", "throttled_units")]),
    "small": (job("randwrite", "4k", 4000), "steady", [some("counters", "erase_commands")]),
    "staggered": (job("write", "16k", 60, iodepth=1, fua=1.0), "none", [lower_pages_alone]),
    "streams": ("hot-and-cold-apart", "steady", [some("ftl", "host_units")]),
    "slc-cache": (
        job("write", "128k", 12_000, size="3GiB"),
        "none",
        [some("slc_cache", "written_bytes"), some("slc_cache", "past_bytes")],
    ),
    "superblocks": (job("randwrite", "16k", 8000), "steady", [erased_on_four_dies]),
    "two-namespaces": ("two-namespaces", "footprint", [lambda found: len(found["by_namespace"]) == 2]),
    "wears-out": (job("randwrite", "16k", 9000), "full", [some("wear", "erases_max")]),
    "weights-and-limits": ("weights-and-limits", "none", [as_weights_say]),
    "without-dram": (job("randread", "4k", 4000), "full", [some("counters", "map_page_reads")]),
    "without-zones": (job("randwrite", "16k", 4000), "steady", [some("ftl", "gc_victims")]),
    "zns": ("zone-append", "none", [some("ftl", "host_units")]),
    "zrwa": (
        "zrwa-log",
        "footprint",
        [
            some("zns", "zrwa", "overwritten_units"),
            some("zns", "zrwa", "implicit_commits"),
            some("zns", "commands", "commit"),
        ],
    ),
}
"""Of each drive a job or the name of an example's, what the drive holds before, and what is to be seen."""


@pytest.mark.parametrize("drive", sorted((EXAMPLES / "drives").glob("*.toml")), ids=lambda path: path.stem)
def test_an_example_drive_shows_what_it_is_an_example_of(drive: Path) -> None:
    words, prefill, seen = SHOWN[drive.stem]
    workload = (
        ninescope.Workload.job_file(EXAMPLES / "jobs" / f"{words}.toml")
        if isinstance(words, str)
        else ninescope.Workload.job(**words)
    )
    result = ninescope.Drive.from_file(drive).run(workload, prefill=prefill)
    for index, one in enumerate(seen):
        assert one(result.document), f"{index} is not to be seen"
