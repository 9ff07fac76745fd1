"""Memory-type SCM above storage-type SCM: how much of it pays, and which of the two needs wear levelling.

The source: Kinoshita, Matsui, Takeuchi, "Maximizing Performance/cost of SSD Composed of Memory-type and
Storage-type SCMs", Flash Memory Summit (slides). This says what is simulated, and knows neither what was
published nor what its answers are made into: that is in findings.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope import toml
from ninescope.papers import arrangements, provenance, stand_ins
from ninescope.papers.experiment import Inferred, Point, Settings
from ninescope.papers.stand_ins import StandIn

HERE = Path(__file__).resolve().parent
BASE = toml.loads((HERE / "drive.toml").read_text(encoding="utf-8"))

QUICK_REQUESTS = {"prxy_0": 3_000_000, "hm_0": 400_000, "prxy_1": 10_539_935, "proj_3": 400_000}
"""Of prxy_1 all, as it was built: the data read hot is there from the beginning, while the footprint grows,
so that it is a larger share of what fewer requests touch."""
FULL_REQUESTS = {"prxy_0": 12_518_968, "hm_0": 3_993_316, "prxy_1": 10_539_935, "proj_3": 2_244_644}
OTHER_REQUESTS = 1_000_000
"""Of what no claim asks for: the sweep of the buses, and what is decided otherwise."""
VOLUMES = tuple(QUICK_REQUESTS)
QUICK_SHARES = (1, 2, 5, 8, 10, 20)
QUICK_SHARES_OF_ALL_REQUESTS = (2, 5, 20)
FULL_SHARES = (1, 2, 3, 5, 8, 10, 15, 20, 30)
"""M-SCM as a percentage of all memory."""
LADDER: dict[str, Any] = {"policy": "ladder", "overwrites": 5}
WEAK: dict[str, Any] = {"policy": "weak-ladder", "overwrites": 100}
NONE: dict[str, Any] = {"policy": "none"}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "case-1": (LADDER, LADDER),
    "case-2": (LADDER, NONE),
    "case-3": (NONE, LADDER),
    "case-4": (NONE, NONE),
    "weak": (WEAK, NONE),
}
"""Wear levelling of M and of S. The slides call the last one `only M-SCM with weak wear levelling`."""
CASE_WORDS = {
    "case-1": "1: both",
    "case-2": "2: M only",
    "case-3": "3: S only",
    "case-4": "4: none",
    "weak": "M only, weak",
}
CASE_SHARE = 5
QUICK_PASSES = 2
FULL_PASSES = 3
"""How often wear is measured over the requests of a volume, in one run: the same for all of them. In one pass
the most worn sector of S has a few writes, and a hot page one slot of M; it comes back into another."""
BUSES = {"0.2": "2560MB/s", "0.4": "1280MB/s", "0.5": "1024MB/s", "0.57": "898.25MB/s", "1.28": "400MB/s"}
"""Time of one sector on the bus [us]."""
BUS_VOLUMES = ("prxy_0", "prxy_1")
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "queue depth 8": {"iodepth": 8},
    "8 banks of S": {"changes": {"storage_scm.banks_per_channel": 8}},
    "copies in the foreground": {"changes": {"tier.placement.migration": "foreground"}},
    "no fetch, and dirty sectors alone go down": {
        "changes": {"tier.placement.fetch_on_write": False, "tier.placement.write_back": "dirty-sectors"}
    },
    "pages are fetched, and dirty sectors alone go down": {
        "changes": {"tier.placement.write_back": "dirty-sectors"}
    },
    "one copy at a time": {"changes": {"tier.migrations_in_flight": 1}},
}
"""What the slides leave open, decided otherwise; only with a full run, and no verdict rests on it."""
PLACED_VOLUME = "hm_0"
PLACED_SHARES = (1, 3, 5, 8, 10, 15, 20, 30)
PLACEMENTS = (
    "as drawn",
    "by first use",
    "by popularity",
    "distances alone, scattered",
    "distances alone, by first use",
)
"""Where pages lie, and the volume and shares of M-SCM that each is measured with; only with a full run."""
WITHOUT_PAUSES = "busy pages without pauses"
ARRANGEMENTS: Mapping[str, Callable[[StandIn], StandIn]] = {
    "as drawn": lambda stand_in: stand_in,
    "by first use": arrangements.in_order_of_first_use,
    "by popularity": arrangements.in_order_of_popularity,
    "distances alone, scattered": functools.partial(arrangements.by_distances, scattered=True),
    "distances alone, by first use": functools.partial(arrangements.by_distances, scattered=False),
    WITHOUT_PAUSES: arrangements.without_pauses,
}
"""The requests of a stand-in with what no published statistic fixes decided otherwise."""
UNPAUSED_CASES = dict.fromkeys(VOLUMES, ("case-3", "case-4")) | {"prxy_1": ("case-3", "case-4", "weak")}
"""What wear is measured of where busy pages are used from the beginning to the end; only with a full run."""
WEAK_VOLUME = "prxy_1"
INTERVALS = (10, 20, 50, 200)
"""Overwrites from one levelling of M to the next that a figure goes through in a full run, beside those of
cases."""
BRIEF_SHARES = {"prxy_0": (8,), "hm_0": (10,), "prxy_1": (5,), "proj_3": QUICK_SHARES}
"""Shares that quantitative claims name; of proj_3 all, because the best of them is asked for."""
BRIEF_CASES = dict.fromkeys(VOLUMES, ("case-1", "case-3")) | {"prxy_1": ("case-1", "weak")}
SECTOR = 512
BUS_US = 0.4
"""Time of a sector on each bus, as in drive.toml."""
SPARE = 0.01
"""Sectors that wear levelling has beyond those in use, as a share of them."""

BUS_TIME = "bus time of a sector"
COPIES = "tier.migrations_in_flight"
SPARE_SECTORS = "spare sectors of wear levelling"
WEAK_INTERVAL = "weak interval"
WARMUP = "warm-up share"
DRAWN = "requests drawn of a volume"
INFERRED = (
    Inferred(
        BUS_TIME,
        f"{BUS_US} us, {BASE['scm']['channel_rate']}, of both memories",
        "a search of the prototype; at most 0.57 us follow from the gains of the slides",
    ),
    Inferred(
        COPIES,
        f"{BASE['tier']['migrations_in_flight']} copies of a page wait at most, some 600 us",
        "a search of the prototype: that S-SCM is busy meanwhile is inferred as well",
    ),
    Inferred(
        SPARE_SECTORS, f"{SPARE} of the sectors in use", "customary; the slides show some, without a number"
    ),
    Inferred(
        WEAK_INTERVAL,
        f"{WEAK['overwrites']} overwrites",
        "chosen: the slides say that it is larger than the default of 5",
    ),
    Inferred(WARMUP, f"the first {stand_ins.WARMUP} of the requests", "chosen: M-SCM is empty at first"),
    Inferred(
        DRAWN,
        ", ".join(f"{volume} {requests:,}" for volume, requests in QUICK_REQUESTS.items()),
        "chosen: the slides give the data of a volume, and of prxy_1 less than the whole trace touches;"
        " a full run draws more of three volumes",
    ),
)


def points(settings: Settings) -> list[Point]:
    """List groups of runs: each draws its stand-in once."""
    groups = []
    for volume in VOLUMES:
        requests = (QUICK_REQUESTS if settings.quick else FULL_REQUESTS)[volume]
        groups.append(group(volume, volume, requests, volume_runs(volume, settings)))
        if not settings.brief:
            # A point of its own: with those above it would be the longest by far.
            runs = [wear_of(run, settings) for run in worn_runs(volume, settings)]
            groups.append(group(f"{volume}/wear", volume, requests, runs))
    if settings.brief:
        return groups
    for volume in BUS_VOLUMES:
        runs = [run for bus in BUSES for run in bus_runs(bus)]
        groups.append(Point(f"{volume}/buses", {"volume": volume, "requests": OTHER_REQUESTS, "runs": runs}))
    if not settings.quick:
        for volume in VOLUMES:
            runs = [run for variant in VARIANTS for run in variant_runs(variant)]
            words = {"volume": volume, "requests": OTHER_REQUESTS, "runs": runs}
            groups.append(Point(f"{volume}/variants", words))
        groups += arranged_points(settings)
    return groups


def group(name: str, volume: str, requests: int, runs: Sequence[Mapping[str, Any]]) -> Point:
    """Make a point of runs; it takes as long as all their passes."""
    weight = requests * sum(run.get("passes", 1) for run in runs)
    return Point(name, {"volume": volume, "requests": requests, "runs": list(runs)}, weight=weight)


def arranged_points(settings: Settings) -> list[Point]:
    """List stand-ins with what no statistic fixes decided otherwise."""
    requests = FULL_REQUESTS[PLACED_VOLUME]
    runs = [alone_of("s", LADDER, "levelled"), *(multi(share, "case-1") for share in PLACED_SHARES)]
    words: dict[str, Any] = {"volume": PLACED_VOLUME, "requests": requests, "runs": runs}
    found = [Point(f"{PLACED_VOLUME}/{how}", {**words, "arrangement": how}) for how in PLACEMENTS]
    for volume, of_volume in UNPAUSED_CASES.items():
        runs = [wear_of(multi(CASE_SHARE, case), settings) for case in of_volume]
        words = {"volume": volume, "requests": FULL_REQUESTS[volume], "runs": runs}
        found.append(Point(f"{volume}/{WITHOUT_PAUSES}", {**words, "arrangement": WITHOUT_PAUSES}))
    return found


def volume_runs(volume: str, settings: Settings) -> list[dict[str, Any]]:
    """Say what is run of a volume: shares of M-SCM, one memory alone, and cases of wear levelling."""
    runs = [multi(share, "case-1") for share in shares(volume, settings)]
    runs += [alone_of("s", LADDER, "levelled")]
    if not settings.brief:
        runs += [alone_of("s", NONE, "plain"), alone_of("m", NONE, "plain")]
    names = {run["name"] for run in runs}
    return runs + [run for run in worn_runs(volume, settings) if run["name"] not in names]


def worn_runs(volume: str, settings: Settings) -> list[dict[str, Any]]:
    """Say what is run of a volume by what is levelled, and how often."""
    runs = [multi(CASE_SHARE, case) for case in cases(volume, settings)]
    if volume == WEAK_VOLUME and not settings.quick:
        runs += [multi(CASE_SHARE, "weak", str(interval), interval=interval) for interval in INTERVALS]
    return runs


def wear_of(run: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Say the same run over several passes, for its wear."""
    return {**run, "name": f"{run['name']}/wear", "passes": passes(settings)}


def passes(settings: Settings) -> int:
    """Return how many passes wear is measured over."""
    return QUICK_PASSES if settings.quick else FULL_PASSES


def shares(volume: str, settings: Settings) -> tuple[int, ...]:
    """Return the shares of M-SCM that a volume is measured with."""
    if settings.brief:
        return BRIEF_SHARES[volume]
    if not settings.quick:
        return FULL_SHARES
    return QUICK_SHARES_OF_ALL_REQUESTS if volume == "prxy_1" else QUICK_SHARES


def cases(volume: str, settings: Settings) -> tuple[str, ...]:
    """Return the cases of wear levelling that a volume is measured with."""
    return BRIEF_CASES[volume] if settings.brief else tuple(CASES)


def multi(share: float, case: str, name: str = "", **others: Any) -> dict[str, Any]:
    """Say what a run of both memories is."""
    words = f"{share}/{case}" + (f"/{name}" if name else "")
    return {"name": words, "kind": "multi", "share": share, "case": case, "changes": {}, **others}


def alone_of(memory: str, wear_leveling: Mapping[str, Any], name: str, **others: Any) -> dict[str, Any]:
    """Say what a run of one memory alone is."""
    words = {"name": f"all-{memory}/{name}", "kind": memory, "wear_leveling": dict(wear_leveling)}
    return {**words, "changes": {}, **others}


def bus_runs(bus: str) -> list[dict[str, Any]]:
    """Say what is run with one speed of the buses."""
    rate = BUSES[bus]
    both = {"scm.channel_rate": rate, "storage_scm.channel_rate": rate}
    return [
        alone_of("s", LADDER, f"levelled/{bus}", changes=both),
        alone_of("s", NONE, f"plain/{bus}", changes=both),
        alone_of("m", NONE, f"plain/{bus}", changes=both),
        multi(CASE_SHARE, "case-1", bus, changes=both),
    ]


def variant_runs(variant: str) -> list[dict[str, Any]]:
    """Say what a variant runs."""
    words = VARIANTS[variant]
    return [
        alone_of("s", LADDER, f"levelled/{variant}", **words),
        multi(CASE_SHARE, "case-1", variant, **words),
        multi(CASE_SHARE, "case-3", variant, **words),
    ]


# ---- runs --------------------------------------------------------------------------------------------


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Draw a stand-in and run it on one drive after the other."""
    requests = settings.requests(round(settings.varying(DRAWN, point.parameters["requests"])))
    stand_in = stand_ins.take(point.parameters["volume"], requests, settings)
    if "arrangement" in point.parameters:
        stand_in = ARRANGEMENTS[point.parameters["arrangement"]](stand_in)
    return {
        "stand_in": stand_in.as_row(),
        "runs": {words["name"]: measure(stand_in, words, settings) for words in point.parameters["runs"]},
    }


def measure(stand_in: StandIn, words: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Run it once."""
    workload = stand_in.workload
    if "iodepth" in words:
        workload = stand_ins.deeper(stand_in, words["iodepth"])
    if "passes" in words:
        workload = stand_ins.repeated(stand_in, words["passes"])
    drive = stand_ins.drive(describe(stand_in.footprint, words, settings))
    warmup = settings.varying(WARMUP, stand_ins.WARMUP)
    document = drive.run(workload, seed=settings.seed, warmup=warmup).document
    media = {"m": document.get("scm"), "s": document.get("storage_scm")}
    if words["kind"] == "s":
        media = {"m": None, "s": media["m"]}
    return {
        "iops": sum(document["throughput"][op]["iops"] for op in ("read", "write")),
        "wear": {name: medium["wear"] for name, medium in media.items() if medium},
        "copies": {name: medium["copies_per_write"] for name, medium in media.items() if medium},
        "tier": document.get("tier", {}).get("counters", {}),
        "provenance": provenance.of_run(document),
    }


def describe(footprint: int, words: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Describe the drive of a run. S holds all that is touched; M comes on top."""
    base = stand_ins.with_changes(base_drive(settings), words["changes"])
    slot = stand_ins.size(base["storage_scm"]["slot_size"])
    slots = math.ceil(footprint / slot / 8) * 8
    capacity = f"{slots * slot // 1024}KiB"
    if words["kind"] == "multi":
        share = words["share"] / 100
        of_m, of_s = CASES[words["case"]]
        if words["case"] == "weak":
            of_m = {**of_m, "overwrites": words.get("interval", weak_interval(settings))}
        changes = {
            "storage_scm.capacity": capacity,
            "tier.scm_ratio": share / (1 - share),
            "scm.wear_leveling": with_spare(of_m, settings),
            "storage_scm.wear_leveling": with_spare(of_s, settings),
        }
        return stand_ins.with_changes(base, changes)
    memory = base["scm" if words["kind"] == "m" else "storage_scm"]
    wear_leveling = with_spare(words["wear_leveling"], settings)
    changes = {
        "scm": {**memory, "capacity": capacity, "wear_leveling": wear_leveling},
        "storage_scm": None,
        "tier": {"placement": "scm-only"},
    }
    return stand_ins.with_changes(base, changes)


def base_drive(settings: Settings) -> dict[str, Any]:
    """Return the drive of drive.toml, with an inferred value varied if one is."""
    rate = f"{SECTOR / settings.varying(BUS_TIME, BUS_US):.10g}MB/s"
    changes = {
        "scm.channel_rate": rate,
        "storage_scm.channel_rate": rate,
        COPIES: round(settings.varying(COPIES, BASE["tier"]["migrations_in_flight"])),
    }
    return stand_ins.with_changes(BASE, changes)


def with_spare(wear_leveling: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return wear levelling with its spare sectors; none has none."""
    if wear_leveling["policy"] == "none":
        return dict(wear_leveling)
    return {**wear_leveling, "spare": settings.varying(SPARE_SECTORS, SPARE)}


def weak_interval(settings: Settings) -> int:
    """Return the overwrites from one weak levelling to the next."""
    return round(settings.varying(WEAK_INTERVAL, WEAK["overwrites"]))
