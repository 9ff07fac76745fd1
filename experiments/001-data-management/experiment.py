"""Three placements of data in SCM and flash, by the kind of workload and by how much SCM there is.

The paper: Yamada, Okamoto, Sun, Hachiya, Takeuchi, "SCM/NAND flash hybrid SSD system that considers writes
and reads" (in Japanese). This only simulates: what it comes to is in `findings.py`, and what was published
and what would count as reproducing it are in files that nothing here may read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope import toml
from ninescope.common import catalogue
from ninescope.papers import provenance, stand_ins
from ninescope.papers.experiment import Inferred, Point, Settings

HERE = Path(__file__).resolve().parent
BASE = toml.loads((HERE / "drive.toml").read_text(encoding="utf-8"))

VOLUMES = {
    "prxy_0": 1,
    "proj_0": 2,
    "mds_0": 3,
    "src2_2": 4,
    "prxy_1": 5,
    "proj_3": 7,
    "src1_1": 8,
}
"""Stand-ins by the class that they stand for; the paper names those of 5 and 7."""
QUICK_REQUESTS = {
    "prxy_0": 3_000_000,
    "proj_0": 420_000,
    "mds_0": 300_000,
    "src2_2": 30_000,
    "prxy_1": 10_539_935,
    "proj_3": 300_000,
    "src1_1": 200_000,
}
"""Of prxy_1 all, as it was built: the data read hot is there from the beginning, while the footprint grows,
so that it is a larger share of what fewer requests touch. Of prxy_0 enough to be write-hot."""
FULL_REQUESTS = {
    "prxy_0": 6_000_000,
    "proj_0": 1_000_000,
    "mds_0": 1_211_034,
    "src2_2": 100_000,
    "prxy_1": 10_539_935,
    "proj_3": 2_244_644,
    "src1_1": 500_000,
}
FIRST_REQUESTS = {"prxy_0": 1_000_000, "prxy_1": 2_000_000, "proj_3": 300_000}
"""For what is decided otherwise, on which no verdict rests, and for what a quick run has beside the sweep."""
EVICT_FREE = 0.08
RANDOM_UP_TO = "15.5KiB"
"""Data is random if it is smaller than what flash writes at a time (section 2), which is a page of 16 KiB
here: a request of 31 sectors is. The border of 8 KiB is that of workloads (section 3.1)."""
PLACEMENTS: dict[str, dict[str, Any]] = {
    "wb": {"policy": "wb", "evict_free": 0.0, "migration": "foreground"},
    "wo-dm": {
        "policy": "wo-dm",
        "random_up_to": RANDOM_UP_TO,
        "evict_free": EVICT_FREE,
        "evict_stop": EVICT_FREE,
        "migration": "background",
    },
    "rwb-dm": {
        "policy": "rwb-dm",
        "random_up_to": RANDOM_UP_TO,
        "evict_free": 0.0,
        "migration": "foreground",
        "moves": "hot-or-random",
        "keep_copy": False,
    },
}
SHORT = {"wb": "WB", "wo-dm": "WO-DM", "rwb-dm": "RWB-DM", "nand-only": "NAND only"}
RATIOS = (1, 3, 5, 25, 75, 100)
"""SCM as a percentage of flash."""
TABLE_RATIOS = (3, 25, 75, 100)
"""Those of the paper's table; a quick run has the others for prxy_1 alone."""
SATURATION_RATIOS = (5, 100)
"""Those that say whether more SCM gains anything."""
SIBLING_RATIOS = (1, 2, 10)
EVICT_SWEEP = (0.01, 0.05, 0.08, 0.2, 0.35, 0.5)
LATENCIES = {"1us": ("1us", "1us"), "10us": ("10us", "10us")}
ASYMMETRIC = ("500ns", "5us")
MOVE_RULES: dict[str, dict[str, Any]] = {
    "hot-and-random": {"moves": "hot-and-random"},
    "with-a-copy": {"keep_copy": True},
}
"""Decided otherwise: what RWB-DM brings up, and whether a copy stays in flash."""
MOVING = ("prxy_1", "proj_3")
MOVE_RATIOS = (3, 25)
SKEWED = ("prxy_0", "prxy_1")

BACKGROUND = {"migration": "background", "evict_free": EVICT_FREE, "evict_stop": EVICT_FREE}
FOREGROUND = {"migration": "foreground", "evict_free": 0.0, "evict_stop": 0.0}
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "queue depth 8": {"iodepth": 8},
    "queue depth 32": {"iodepth": 32},
    "1 die": {"changes": {"geometry.channels": 1, "geometry.dies_per_package": 1}},
    "16 dies": {"changes": {"geometry.dies_per_package": 4, "geometry.pages_per_block": 32}},
    "MLC": {"changes": {"nand.read": "85us", "nand.program": "1.7ms", "nand.erase_loop": "8.5ms"}},
    "flash of 1.67 footprints": {"capacity": 1.25 / 0.75},
    "writes end in flash": {"changes": {"controller.write_completion": "program"}},
    "WB evicts in the background": {"placement": {"wb": BACKGROUND}},
    "WB waits for what it evicts to be read": {"placement": {"wb": {"migration": "foreground-reads"}}},
    "RWB-DM evicts in the background": {"placement": {"rwb-dm": BACKGROUND}},
    "20 % kept free": {"placement": {"wo-dm": {"evict_free": 0.2, "evict_stop": 0.2}}},
    "a copy stays in flash": {"placement": {"rwb-dm": {"keep_copy": True}}},
    "random up to 8 KiB": {"placement": {name: {"random_up_to": "8KiB"} for name in ("wo-dm", "rwb-dm")}},
    "sequential pages leave first": {
        "placement": {name: {"victim": "sequential-first"} for name in ("wo-dm", "rwb-dm")}
    },
}
"""What the paper leaves open, decided otherwise, on whole volumes; only with a full run, and no verdict rests
on it."""
VARIANT_VOLUMES = ("prxy_0", "prxy_1", "proj_3")
VARIANT_RATIO = 3
SEARCHED = (
    "queue depth 8",
    "queue depth 32",
    "MLC",
    "writes end in flash",
    "WB evicts in the background",
    "RWB-DM evicts in the background",
    "WB waits for what it evicts to be read",
    "a copy stays in flash",
)
"""Those that decide which placement is best: each is tried over the ratios as well."""
SEARCHED_RATIOS = (1, 5, 100)
APART: dict[str, dict[str, Any]] = {
    "all evict in the background": {"wb": BACKGROUND, "rwb-dm": BACKGROUND},
    "all evict in the foreground": {"wo-dm": FOREGROUND},
    "WB alone evicts in the foreground": {"rwb-dm": BACKGROUND},
    "RWB-DM moves what is hot and random": {"rwb-dm": {"moves": "hot-and-random"}},
    "WB copies nothing that is read": {"wb": {"copy_reads": False}},
}
"""One by one, what sets the placements apart is taken away: which of it puts one ahead of the others."""
APART_RATIOS = (3, 25)
OPEN_LOOP = "open loop"

INFERRED = (
    Inferred("dies", "8", "the paper names no shape; a prototype on other stand-ins recommends 8 to 16"),
    Inferred("nand.read", "45 us", "no latency is published; fast NAND, as a prototype recommends"),
    Inferred(
        "nand.program and nand.erase_loop",
        "660 us and 3.5 ms",
        "no latency is published; fast NAND, as a prototype recommends; varied together",
    ),
    Inferred("scm.read, scm.set, scm.reset", "100 ns a sector", "customary, no source confirms it"),
    Inferred(
        "scm.channel_rate",
        "0.4 us a sector (1280 MB/s)",
        "derived from a bound in paper 004, of the same group; the time is varied, not the rate",
    ),
    Inferred(
        "flash beyond the footprint",
        "0.25 of the footprint",
        "a prototype on other stand-ins: with two thirds nearly everything favours WB; what is touched stays",
    ),
    Inferred(
        "tier.placement.evict_free",
        "8 % of the slots, for WO-DM",
        "the least of the 8 to 20 % of reference [1] of the paper; WB and RWB-DM keep none",
    ),
    Inferred(
        "controller.buffered_pages",
        "4 programs that wait for a die",
        "chosen, so that what is done in the background lags by a bounded time",
    ),
    Inferred(
        "requests left out at the beginning",
        "0.3 of all",
        "chosen: memory is empty at first, and what is touched for the first time says nothing about a cache",
    ),
)
"""What the paper does not say; each is varied where it enters, in `base` and `hybrid` and `measure`."""
DIES = 8
BEYOND = 0.25
"""Flash beyond the footprint, as a share of it."""
BUS_US = 0.4
"""Of a sector of SCM on its bus."""
SPARE_BLOCKS = 4
"""Blocks on each plane that the engine asks for beside those that are full of data."""
OF_OTHERS = ("tpcc",)
"""Stand-ins for no volume of the paper's."""


def points(settings: Settings) -> list[Point]:
    """List groups of runs: each draws its stand-in once."""
    if settings.brief:
        return [*saturation(settings), *ten_percent(settings), kept_free(settings)]
    return [
        *table_and_sweep(settings),
        *ten_percent(settings),
        kept_free(settings),
        caches(settings),
        *([] if settings.quick else [*beyond_verdicts(settings), *whole_stand_ins(settings)]),
    ]


def table_and_sweep(settings: Settings) -> list[Point]:
    """Run each volume under each placement over the ratios, and on flash alone."""
    groups = []
    for volume in VOLUMES:
        for placement in PLACEMENTS:
            runs = [run(placement, ratio) for ratio in ratios(volume, settings)]
            groups.append(group(volume, placement, runs, requests_of(settings)))
        if settings.quick or volume not in SKEWED:  # those have it beside their hybrids of 10 %
            groups.append(group(volume, "nand-only", [run("nand-only", 0)], requests_of(settings)))
    return groups


def saturation(settings: Settings) -> list[Point]:
    """Run the ends of what is said to gain nothing: of the sweep over the ratios, no more."""
    requests = requests_of(settings)
    return [
        group("prxy_1", placement, [run(placement, ratio) for ratio in SATURATION_RATIOS], requests)
        for placement in PLACEMENTS
    ]


def ten_percent(settings: Settings) -> list[Point]:
    """Compare hybrids that have 10 % of SCM, some of it slower, with flash alone."""
    groups = []
    for volume in SKEWED:
        ten = [run("nand-only", 0), *(run(placement, 10) for placement in PLACEMENTS)]
        ten += [run(placement, 10, "asymmetric", changes=latency(*ASYMMETRIC)) for placement in PLACEMENTS]
        ten += [run("wo-dm", 10, name, changes=latency(*times)) for name, times in LATENCIES.items()]
        groups.append(group(volume, "at 10 %", ten, requests_beside(settings)))
    return groups


def kept_free(settings: Settings) -> Point:
    """Keep more and more of SCM free."""
    sweep = [
        run("wo-dm", 3, f"{free:g}", placement_changes={"evict_free": free, "evict_stop": free})
        for free in EVICT_SWEEP
    ]
    # Of the first requests nothing is collected that more of SCM kept free would not spare.
    requests = requests_beside(settings) if settings.brief else requests_of(settings)
    return group("prxy_0", "kept free", sweep, requests)


def caches(settings: Settings) -> Point:
    """Let WB copy what is read, or not."""
    sibling = [
        run("wb", ratio, name, placement_changes={"copy_reads": copies})
        for ratio in SIBLING_RATIOS
        for name, copies in (("write-cache", False), ("read-write-cache", True))
    ]
    return group("prxy_1", "caches", sibling, requests_beside(settings))


def move_rules(settings: Settings) -> list[Point]:
    """Bring pages up by other rules."""
    groups = []
    for volume in MOVING:
        rules = [
            run(placement, ratio, name, placement_changes=rule)
            for ratio in MOVE_RATIOS
            for placement, name, rule in (
                *((placement, "", {}) for placement in PLACEMENTS),
                *(("rwb-dm", name, rule) for name, rule in MOVE_RULES.items()),
            )
        ]
        groups.append(group(volume, "move rules", rules, scaled(FIRST_REQUESTS, settings)))
    return groups


def beyond_verdicts(settings: Settings) -> list[Point]:
    """Decide otherwise what the paper leaves open, and let requests come at their own times, in full."""
    requests = requests_of(settings)
    return [
        *move_rules(settings),
        *(
            group(volume, variant, variant_runs(variant, volume), requests)
            for volume in VARIANT_VOLUMES
            for variant in VARIANTS
        ),
        *(
            group(
                volume, OPEN_LOOP, [run(name, VARIANT_RATIO, is_open=True) for name in PLACEMENTS], requests
            )
            for volume in VARIANT_VOLUMES
        ),
        *(group(volume, "apart", apart_runs(), requests) for volume in VOLUMES),
    ]


def whole_stand_ins(settings: Settings) -> list[Point]:
    """Draw all requests of each stand-in for a volume, and run none: the class is that of the whole."""
    groups = []
    for name, profile in catalogue.shipped_profiles().items():
        original = toml.loads(profile.toml)
        if original["label"] == "stand-in" and name not in OF_OTHERS:
            requests = {name: settings.requests(original["original"]["requests"])}
            groups.append(group(name, "whole", [], requests))
    return groups


def requests_of(settings: Settings) -> dict[str, int]:
    """Return how many requests of each volume are run."""
    return scaled(QUICK_REQUESTS if settings.quick else FULL_REQUESTS, settings)


def requests_beside(settings: Settings) -> dict[str, int]:
    """Return how many are run for claims that are not about the table; in a quick run the first ones do."""
    return scaled(FIRST_REQUESTS, settings) if settings.quick else requests_of(settings)


def scaled(requests: Mapping[str, int], settings: Settings) -> dict[str, int]:
    """Return as many requests as are asked for."""
    return {volume: settings.requests(count) for volume, count in requests.items()}


def group(volume: str, name: str, runs: list[dict[str, Any]], requests: Mapping[str, int]) -> Point:
    """Make a point; those with the same requests follow each other, so that a worker draws them once."""
    words = {"volume": volume, "requests": requests[volume], "runs": runs}
    return Point(f"{volume}/{name}", words, weight=requests[volume])


def ratios(volume: str, settings: Settings) -> tuple[int, ...]:
    """Return the shares of SCM that a volume is measured with."""
    return TABLE_RATIOS if settings.quick and volume != "prxy_1" else RATIOS


def run(
    placement: str,
    ratio: float,
    name: str = "",
    *,
    changes: Mapping[str, Any] | None = None,
    placement_changes: Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Say what one run is, with a name that is its own within the group."""
    words = f"{placement}/{ratio}" + (f"/{name}" if name else "")
    return {
        "name": words,
        "placement": placement,
        "ratio": ratio,
        "changes": dict(changes or {}),
        "placement_changes": dict(placement_changes or {}),
        **others,
    }


def latency(read: str, write: str) -> dict[str, Any]:
    """Change how long one sector of SCM takes."""
    return {"scm.read": read, "scm.set": write, "scm.reset": write}


def variant_runs(variant: str, volume: str) -> list[dict[str, Any]]:
    """Say what a variant runs."""
    words = dict(VARIANTS[variant])
    by_placement = words.pop("placement", {})
    more = SEARCHED_RATIOS if volume == "prxy_1" and variant in SEARCHED else ()
    return [
        run(placement, ratio, placement_changes=by_placement.get(placement), **words)
        for ratio in (VARIANT_RATIO, *more)
        for placement in PLACEMENTS
    ]


def apart_runs() -> list[dict[str, Any]]:
    """Say what is run of the placements that differ; the others are those of the table."""
    return [
        run(placement, ratio, name, placement_changes=changes)
        for name, changed in APART.items()
        for placement, changes in changed.items()
        for ratio in APART_RATIOS
    ]


# ---- runs --------------------------------------------------------------------------------------------


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Draw a stand-in and run it on one drive after the other."""
    volume = point.parameters["volume"]
    stand_in = stand_ins.take(volume, point.parameters["requests"], settings)
    return {
        "stand_in": stand_in.as_row(),
        "runs": {words["name"]: measure(stand_in, words, settings) for words in point.parameters["runs"]},
    }


def measure(stand_in: stand_ins.StandIn, words: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Run it once."""
    description = hybrid(stand_in.footprint, words, settings)
    workload = stand_in.workload
    if "iodepth" in words:
        workload = stand_ins.deeper(stand_in, words["iodepth"])
    if "is_open" in words:
        workload = stand_ins.at_own_times(stand_in)
    warmup = warmup_share(settings)
    result = stand_ins.drive(description).run(workload, seed=settings.seed, warmup=warmup)
    document = result.document
    return {
        "iops": sum(of["iops"] for op, of in document["throughput"].items() if op in ("read", "write")),
        "mean_us": mean_us(document),
        "scm_over_footprint": scm_share(document, stand_in.footprint),
        "waf": result.waf.total,
        "erases": document["operations"]["erases"],
        "scm": document.get("scm", {}).get("counters", {}),
        "tier": document.get("tier", {}).get("counters", {}),
        provenance.KEY: provenance.of_run(document),
    }


def mean_us(document: Mapping[str, Any]) -> float:
    """Return how long a request takes on average."""
    latency = [of for op, of in document["latency"].items() if op in ("read", "write")]
    count = sum(each["count"] for each in latency)
    total_ns: float = sum(each["count"] * (each["mean_ns"] or 0) for each in latency)
    return total_ns / (1e3 * max(int(count), 1))


def warmup_share(settings: Settings) -> float:
    """Return which share of the requests is left out."""
    return settings.varying("requests left out at the beginning", stand_ins.WARMUP)


def hybrid(footprint: int, words: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Describe the drive of a run."""
    capacity = words.get("capacity", 1 + settings.varying("flash beyond the footprint", BEYOND))
    name = words["placement"]
    if name == "nand-only":
        changes = {"tier": None, "scm": None, **words["changes"]}
    else:
        placement = {**kept_free_varied(PLACEMENTS[name], settings), **words["placement_changes"]}
        changes = {"tier": {"placement": placement, "scm_ratio": words["ratio"] / 100}, **words["changes"]}
    base = varied_base(settings)
    return stand_ins.flash_sized(base, footprint, roomy(base, footprint, capacity, changes), changes)


def varied_base(settings: Settings) -> dict[str, Any]:
    """Return the drive that all are made from, with the inferred values of its parts."""
    nand = {key: time_ns(BASE["nand"][key]) for key in ("read", "program", "erase_loop")}
    slow = "nand.program and nand.erase_loop"
    scm = {
        f"scm.{key}": ns(settings.varying("scm.read, scm.set, scm.reset", time_ns(BASE["scm"][key])))
        for key in ("read", "set", "reset")
    }
    bus_us = settings.varying("scm.channel_rate", BUS_US)
    dies = settings.varying("dies", DIES)
    changes = {
        "geometry.dies_per_package": max(1, round(dies / BASE["geometry"]["channels"])),
        "nand.read": ns(settings.varying("nand.read", nand["read"])),
        "nand.program": ns(settings.varying(slow, nand["program"])),
        "nand.erase_loop": ns(settings.varying(slow, nand["erase_loop"])),
        **scm,
        "scm.channel_rate": f"{512 / bus_us:g}MB/s",
        "controller.buffered_pages": round(
            settings.varying("controller.buffered_pages", BASE["controller"]["buffered_pages"])
        ),
    }
    return stand_ins.with_changes(BASE, changes)


def kept_free_varied(placement: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return a placement with the share of SCM that it keeps free."""
    shares = {
        key: settings.varying("tier.placement.evict_free", placement[key])
        for key in ("evict_free", "evict_stop")
        if key in placement
    }
    return {**placement, **shares}


def roomy(base: Mapping[str, Any], footprint: int, capacity: float, changes: Mapping[str, Any]) -> float:
    """Return the capacity, or the least with which flash can collect garbage.

    Only what is drawn for a try-out touches so little.
    """
    geometry = stand_ins.with_changes(base, changes)["geometry"]
    page = stand_ins.size(geometry["page_size"])
    row = math.prod(int(geometry[key]) for key in stand_ins.PLANES) * geometry["pages_per_block"] * page
    least = math.ceil((footprint + page) / row) + SPARE_BLOCKS
    # Half a block less: it is rounded up.
    least_capacity: float = (least - 0.5) * row / footprint
    return max(capacity, least_capacity)


def time_ns(text: str) -> float:
    """Read a time of the drive's description."""
    for unit, factor in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(text)


def ns(time: float) -> str:
    """Write a time."""
    return f"{round(time)}ns"


def scm_share(document: Mapping[str, Any], footprint: int) -> float:
    """Return how much of what the workload touches fits into SCM, whose capacity comes in whole slots."""
    scm = document["config"]["drive"].get("scm")
    return stand_ins.size(scm["capacity"]) / footprint if scm else 0.0
