"""Five policies of erase suspension: single collisions with an erase, and tails under two workloads.

The paper: Kim, Seo, Kim, "SSR: Smart Suspend/Resume Technique for High Capacity 3D NAND Flash Memory Based
Storage System", JKICS 50(9), 2025. This only simulates: what it comes to is worked out in `findings.py`, and
what was published is known to neither.
"""

from __future__ import annotations

import bisect
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ninescope
from ninescope import toml
from ninescope.papers import provenance
from ninescope.papers.experiment import Inferred, Point, Settings
from ninescope.result import Band, Latency

HERE = Path(__file__).resolve().parent
POLICIES = {
    "ssr-baseline": "baseline",
    "ssr-ies": "I-ES",
    "ssr-des": "D-ES",
    "ssr-static": "SSR(s)",
    "ssr-dynamic": "SSR(d)",
}
WORKLOADS = {"fio": "FIO 70/30", "tpcc-stand-in": "TPC-C stand-in"}
AUTHORS: dict[str, Any] = {"ftl.mapping_unit": "16KiB"}
"""What the simulator that the authors extended does otherwise than the presets, which are a modern drive: a
write of a part of a page takes a page of flash, and a program, of its own."""
PROGRAMS = {"scheduler.suspend.programs": True}
"""Policies that suspend erases suspend programs too, at their loops."""
SHARED_BUFFER = {"controller.buffered_pages": 16, "controller.shared_buffered_pages": 112}
"""That simulator bounds what all dies hold together, to a page for each of the 64 planes. Here up to 48 more
pages wait for the rest of their stripes, and no die takes more than a seventh."""
AUTHORS_CONTROLLER: dict[str, Any] = SHARED_BUFFER | {
    "tier.placement": {"policy": "rewritten"},
    "dram.capacity": "300MiB",
    "dram.cache": "256MiB",
    "dram.write_buffer": True,
    "dram.cut_through": True,
    "dram.rate": "200MB/s",
    "dram.access": "26ns",
    "nand.read_moves": "sectors",
    "nand.program_moves": "sectors",
    "ftl.merges": "sectors",
    "scheduler.channel": "read-data-first",
}
"""The rest of its controller, as `ninescope import mqsim --as mqsim` has it of the files that come with it:
a data cache of 256 MiB that keeps what is written again, behind a DRAM of the rate that its formula comes to;
data of sectors that move and are merged alone; and channels on which data that was read goes first."""
MODERN = "modern"
VARIANTS = {
    MODERN: "a modern drive",
    "buffer": "a shared write buffer",
    "controller": "the controller of the authors' simulator",
    "programs": "programs not suspended",
    "by-wear": "loops by wear",
    "own-rate": "the trace's own rate",
    "faster": "requests 2.5 % faster",
    "alone": "one request at a time",
    "recover": "recovering takes no time",
}
"""What the paper leaves open, decided otherwise, with as many requests as a quick run: under FIO, unless
`VARIED_UNDER` says more. The baseline of the modern drive, by which figure 1 is judged, has as many as the
others, and so has what comes faster: who falls behind does so slowly."""
VARIED_UNDER = {
    "buffer": ("fio", "tpcc-stand-in"),
    "controller": ("fio", "tpcc-stand-in"),
    "own-rate": ("tpcc-stand-in",),
    "faster": ("tpcc-stand-in",),
}
FULL_ONLY = tuple(variant for variant in VARIANTS if variant != MODERN)
"""Those that a quick run leaves out: no verdict rests on them."""
FASTER = 1.025
OWN_RATE = 51_273
"""Requests a second of the trace that comes with MQSim, which the stand-in is made after."""
FULL_SEEDS = 2
"""Runs of a full one that are put together: ten writes and more then lie beyond p99.9999."""
WARMUP_REQUESTS = 1_000_000
"""Left out: a drive that was just prepared collects garbage everywhere at once, under any policy."""
QUICK_REQUESTS = {"fio": 3_000_000, "tpcc-stand-in": 2_500_000}
FULL_REQUESTS = {"fio": 29_700_000, "tpcc-stand-in": 32_800_000}
"""As the job files have them: 2e7 reads behind the warm-up, so that 20 lie beyond p99.9999."""
PERCENTILES = ("50", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999")
PREFILL = "raw"
"""As in the paper: all flash, over-provisioning included, was written once."""
BRIEF_POLICIES = ("ssr-baseline", "ssr-des", "ssr-static", "ssr-dynamic")
"""Those that the claims of a quantity compare in long runs."""
BRIEF_SCENES = ("ssr-des", "ssr-static")
"""Those that they compare when a read meets an erase."""
WEAR_CYCLES = (50, 100, 200, 300, 500, 700, 1_000, 1_500)
"""P/E cycles of the blocks on which safe points are counted."""
WEAR_POLICIES = ("ssr-static", "ssr-dynamic")
ERROR_CYCLES = (100, 200, 500, 1_000)
ERROR_SUSPENSIONS = tuple(range(101))
"""Suspensions of one erase: as many as the paper tried."""

RATE = "rate of the TPC-C stand-in"
AERO = "table 1 is missing from the text at hand; the authors' simulator (AERO) has it"
INFERRED = (
    Inferred("nand.suspend_recover", "100 us", "section 3.1 says about 100 us"),
    Inferred("nand.resume_ramp", "100 us", "named and not given; taken as long as the recovery"),
    Inferred("nand.program", "350 us", f"{AERO}; section 1 speaks of 1 to 2 ms"),
    Inferred("nand.read", "40 us", AERO),
    Inferred(
        "nand.erase_loops",
        "3 loops (varied: 2 and 4)",
        "the example of figure 5; section 1 has 3.5 to 20 ms for an erase",
    ),
    Inferred("nand.initial_cycles", "100 P/E cycles", "the younger of the two examples of section 3.3"),
    Inferred(
        "scheduler.suspend.parked_max",
        "64 ms",
        "how long reads go first at a stop is not said; AERO's erase_timeout_delay",
    ),
    Inferred("geometry.blocks_per_plane", "64 blocks", "AERO has 497: scaled, so that a run fills the drive"),
    Inferred(
        "ftl.over_provisioning",
        "20 % of the flash",
        f"{AERO}, as a share of the flash, which is what is varied",
    ),
    Inferred(
        RATE,
        "40,000 requests a second",
        "no load is published: the most, in thousands, that the drive keeps up with under every policy",
    ),
)
"""Pages per block (576) and the link (3.2 GiB/s) follow from the paper's own numbers."""


def points(settings: Settings) -> list[Point]:
    """List ten long runs, the scenes with a single erase, and what is tried besides."""
    runs = [
        Point(f"{workload}/{policy}", {"kind": "run", "workload": workload, "policy": policy}, weight=100)
        for workload in WORKLOADS
        for policy in (BRIEF_POLICIES if settings.brief else POLICIES)
    ]
    scenes = [
        Point(f"scenes/{name}", {"kind": "scenes", "policy": policy, "cycles": cycles})
        for name, policy, cycles in scene_drives()
        if not settings.brief or name in BRIEF_SCENES
    ]
    if settings.brief:
        return [*runs, *scenes]
    wear = [
        Point(f"wear/{policy}/{cycles}", {"kind": "wear", "policy": policy, "cycles": cycles})
        for policy in WEAR_POLICIES
        for cycles in WEAR_CYCLES
    ]
    return [*runs, *variants(settings), *scenes, *wear, Point("bit-errors", {"kind": "bit-errors"})]


def variants(settings: Settings) -> list[Point]:
    """List the runs in which something is decided otherwise."""
    found = [
        Point(
            f"{variant}/{workload}/{policy}",
            {"kind": "run", "workload": workload, "policy": policy, "variant": variant},
            weight=10,
        )
        for variant in VARIANTS
        if not (settings.quick and variant in FULL_ONLY)
        for workload in VARIED_UNDER.get(variant, ("fio",))
        for policy in POLICIES
    ]
    practical = {"kind": "run", "workload": "fio", "policy": "ssr-baseline", "variant": "practical"}
    return [*found, Point("practical", practical, weight=10)]


def scene_drives() -> Iterator[tuple[str, str, int | None]]:
    """List the drives of the scenes: SSR(d) has its wear as a parameter."""
    for policy in POLICIES:
        yield policy, policy, None
    for cycles in (100, 1000):
        yield f"ssr-dynamic-at-{cycles}", "ssr-dynamic", cycles


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Simulate one of them."""
    parameters = point.parameters
    kind = parameters["kind"]
    if kind == "bit-errors":
        return bit_errors(settings)
    if kind == "wear":
        return safe_points(parameters["policy"], parameters["cycles"], settings)
    if kind == "scenes":
        return scenes(parameters["policy"], parameters["cycles"], settings)
    workload, policy, variant = parameters["workload"], parameters["policy"], parameters.get("variant")
    is_long = not settings.quick and (not variant or (variant, policy) == (MODERN, "ssr-baseline"))
    requests = (FULL_REQUESTS if is_long or (variant == "faster" and not settings.quick) else QUICK_REQUESTS)[
        workload
    ]
    seeds = [settings.seed + index for index in range(FULL_SEEDS if is_long else 1)]
    words = job(workload, settings, OWN_RATE if variant == "own-rate" else None)
    if variant == "faster":
        words["rate_iops"] = round(words["rate_iops"] * FASTER)
    if variant == "alone":
        words["iodepth"] = 1
    return long_runs(varied(policy, variant, settings), words, requests, seeds, settings)


# ---- drives ------------------------------------------------------------------------------------------


def drive(policy: str, settings: Settings, variant: str | None = None) -> ninescope.Drive:
    """Return the drive with a policy: the preset as the authors' simulator has it, or a variant."""
    changes: dict[str, Any] = {} if variant == MODERN else dict(AUTHORS)
    if variant == "buffer":
        changes |= SHARED_BUFFER
    if variant == "controller":
        changes |= AUTHORS_CONTROLLER
    if policy != "ssr-baseline" and variant not in (MODERN, "programs"):
        changes |= PROGRAMS
    varied = settings.varied
    # Two policies never let an erase stand still for long: they have no such limit.
    has_no_limit = varied == "scheduler.suspend.parked_max" and policy in ("ssr-baseline", "ssr-ies")
    if varied and varied != RATE and not has_no_limit:
        changes[varied] = inferred(settings)[varied]
    return ninescope.Drive.preset(policy).with_(changes)


def inferred(settings: Settings) -> dict[str, object]:
    """Return what the presets hold of what is inferred, or what it is varied to."""

    def microseconds(name: str, value: float) -> str:
        return f"{settings.varying(name, value):g}us"

    def whole(name: str, value: int) -> int:
        return round(settings.varying(name, value))

    share = settings.varying("ftl.over_provisioning", 0.2)
    return {
        "nand.suspend_recover": microseconds("nand.suspend_recover", 100),
        "nand.resume_ramp": microseconds("nand.resume_ramp", 100),
        "nand.program": [microseconds("nand.program", 350)] * 3,
        "nand.read": [microseconds("nand.read", 40)] * 3,
        "nand.erase_loops": whole("nand.erase_loops", 3),
        "nand.initial_cycles": whole("nand.initial_cycles", 100),
        "scheduler.suspend.parked_max": microseconds("scheduler.suspend.parked_max", 64_000),
        "geometry.blocks_per_plane": whole("geometry.blocks_per_plane", 64),
        # The key is a share of what is left to the host.
        "ftl.over_provisioning": share / (1 - share),
    }


def nand(drive: ninescope.Drive) -> dict[str, Any]:
    """Return what a drive says of its flash."""
    found: dict[str, Any] = toml.loads(drive.resolve())["nand"]
    return found


def varied(policy: str, variant: str | None, settings: Settings) -> ninescope.Drive:
    """Return the drive with a policy and what is decided otherwise."""
    chosen = drive(policy, settings, variant)
    if variant == "practical":
        return chosen.with_(scheduler__suspend="practical")
    if variant == "by-wear":
        # The drive that the authors published with an earlier paper, where blocks of 2,500 cycles take two to
        # four loops of 3.5 ms.
        aero = nand(ninescope.Drive.preset("aero"))
        keys = ("erase_loop", "erase_loops", "initial_cycles")
        return chosen.with_({f"nand.{key}": aero[key] for key in keys})
    if variant == "recover":
        return chosen.with_({"nand.suspend_recover": "0us"})
    return chosen


def bit_errors(settings: Settings) -> dict[str, Any]:
    """Return what suspensions of an erase of one loop add to the bit errors of its block."""
    added = drive("ssr-dynamic", settings).added_rber(ERROR_SUSPENSIONS, ERROR_CYCLES)
    return {"suspensions": ERROR_SUSPENSIONS, "cycles": ERROR_CYCLES, "added_rber": added.tolist()}


# ---- long runs ---------------------------------------------------------------------------------------


def job(workload: str, settings: Settings, rate: int | None = None) -> dict[str, Any]:
    """Return the words of a workload; of one that comes at a rate, at this one."""
    words = toml.loads((HERE / "workloads" / f"{workload}.toml").read_text(encoding="utf-8"))
    if "rate_iops" in words:
        words["rate_iops"] = round(settings.varying(RATE, rate or words["rate_iops"]))
    return words


def long_runs(
    drive: ninescope.Drive, words: Mapping[str, Any], requests: int, seeds: list[int], settings: Settings
) -> dict[str, Any]:
    """Run a workload on a drive that collects garbage from the first request on, once for each seed."""
    results = [
        drive.run(
            ninescope.Workload.job(**words),
            seed=seed,
            requests=settings.requests(requests),
            prefill=PREFILL,
            warmup=settings.requests(WARMUP_REQUESTS),
        )
        for seed in seeds
    ]
    documents = [result.document for result in results]
    found = {}
    for op in ("read", "write"):
        latency = Latency.merged(getattr(result.latency, op) for result in results)
        bands = [band for result in results for band in getattr(result.attribution, op)]
        behind = sum(document["suspension"]["behind_erase"].get(op, 0) for document in documents)
        share = {"behind_erase": behind / latency.count if latency.count else None}
        found[op] = latency_of(latency) | tail(bands) | share
    return {
        "seeds": {
            str(seed): {"provenance": provenance.of_run(document)}
            for seed, document in zip(seeds, documents, strict=True)
        },
        "latency": found,
        "waf": mean([result.waf.total for result in results]),
        "busy": mean([document["utilisation"]["dies"]["mean"] for document in documents]),
        "erases": sum(document["operations"]["erases"] for document in documents),
        "suspends": sum(document["counters"]["suspends"] for document in documents),
        "suspension": ledger([document["suspension"] for document in documents]),
    }


def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def ledger(each: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the suspensions of erases of several runs together."""
    added = ("erases", "suspensions", "over_limit_erases", "lost_ns")
    largest = ("suspensions_max", "added_rber_max")
    return {key: sum(one[key] for one in each) for key in added} | {
        key: max(one[key] for one in each) for key in largest
    }


def latency_of(latency: Latency) -> dict[str, Any]:
    """Return what is kept of a latency. None is what so few requests do not say."""
    histogram: list[list[int]] = []
    if latency.histogram is not None:
        bounds, counts = latency.histogram
        histogram = [[int(bounds[index]), int(counts[index])] for index in counts.nonzero()[0]]
    percentiles = {key: latency.percentile(float(key)) if latency.count else None for key in PERCENTILES}
    intervals = {
        key: list(latency.intervals_ns[key]) if key in latency.intervals_ns else None for key in PERCENTILES
    }
    return {
        "count": latency.count,
        "mean_ns": latency.mean_ns,
        "max_ns": latency.max_ns,
        "percentiles_ns": percentiles,
        "intervals_ns": intervals,
        "insufficient": list(latency.insufficient) if latency.count else list(PERCENTILES),
        "histogram": histogram,
    }


def tail(bands: list[Band]) -> dict[str, Any]:
    """Return what the requests beyond p99.99 waited for: mean by cause [ns]; none of a short run."""
    beyond = [band for band in bands if band.name in ("p99.999", "p99.9999", "max")]
    count = sum(band.count for band in beyond)
    sums: dict[str, float] = {}
    for band in beyond:
        for cause, time in band.parts_ns.items():
            sums[cause] = sums.get(cause, 0.0) + time * band.count
    parts = {cause: time / count for cause, time in sums.items()} if count else {}
    return {"tail_count": count, "tail_parts_ns": parts}


# ---- scenes with a single erase ----------------------------------------------------------------------

PAGE_SECTORS = 32
"""16 KiB."""
STEP_NS = 20_000_000
"""From one write to the next: longer than an erase."""
PROBE_LBA = 40 * 4 * PAGE_SECTORS
"""In a block that the writes do not reach."""
POINTS_PER_LOOP = 30
"""Arrivals just behind these many points of each erase loop: each policy stops at some of them."""
UNIFORM_ARRIVALS = 360
TRY_OUT = 0.1
"""Below this length of a run, a tenth of the arrivals is enough."""
READ_GAP_NS = 90_000
"""Shorter than a recovery, longer than a read: the die keeps up, and an erase finds no time."""
FLOOD_GAP_NS = 1_190
"""4 KiB at the rate of the link: more than one die can serve."""
FLOOD_PATIENCE = "2ms"
"""How long reads go first at each stop while they flood the die: shorter than the policies' own 64 ms, so
that the flood need not last for seconds."""
FLOOD_NS = 300_000_000
"""Longer than an erase and 90 stops of that length."""


class Stall(NamedTuple):
    """A read that meets the erase."""

    at_ns: int
    """When it comes, from the beginning of the erase."""
    wait_ns: int
    recovery_ns: int
    provenance: dict[str, Any]


class Scene:
    """One die, written until one erase of an empty block begins with no other work around."""

    def __init__(self, policy: str, cycles: int | None, settings: Settings, folder: Path) -> None:
        self._policy = policy
        self._trace = folder / "scene.trace"
        one_die = {
            "geometry.channels": 1,
            "geometry.packages_per_channel": 1,
            "geometry.dies_per_package": 1,
            "geometry.planes_per_die": 1,
            "geometry.blocks_per_plane": 64,
            "geometry.pages_per_block": 4,
            "ftl.frontier_planes": 1,
            "ftl.mapping_unit": "16KiB",
            "controller.write_completion": "program",
        }
        self._drive = drive(policy, settings).with_(
            one_die | ({} if cycles is None else {"nand.initial_cycles": cycles})
        )
        self._base = self._drive.with_(scheduler__suspend="none")
        self.loops: int = nand(self._drive)["erase_loops"]
        self._writes = self._find_erase()
        begun = (self._writes - 1) * STEP_NS
        # Without suspends: the last write's program ends, the erase begins, and a read waits for all of it.
        result = self._run(self._base, [(STEP_NS // 2, 1)])
        programmed = int(result.to_polars("requests")["latency_ns"][self._writes - 1])
        result = self._run(self._base, [(programmed + 1, 1)])
        self.erase_ns = int(parts(result)["die_erase"])
        self.erase_begins = programmed + 1
        self._begun = begun

    def _find_erase(self) -> int:
        """Return after how many writes the first erase comes."""

        def comes(writes: int) -> bool:
            self._writes = writes
            result = self._run(self._base, [(STEP_NS // 2, 1)])
            return bool(result.document["operations"]["erases"])

        # More writes than a drive of so many blocks can take without one.
        counts = range(1, 4 * 64)
        first = bisect.bisect_left(counts, True, key=comes)
        if first == len(counts):
            raise RuntimeError("the writes of the scene bring no erase about")
        return counts[first]

    def _run(self, drive: ninescope.Drive, requests: list[tuple[int, int]]) -> ninescope.Result:
        """Run the writes, then requests (time after the last write, 1 to read and 0 to write)."""
        rows = [(index * STEP_NS, index * PAGE_SECTORS, 0) for index in range(self._writes)]
        last = rows[-1][0]
        rows += [
            (last + at, PROBE_LBA if reads else self._writes * PAGE_SECTORS, reads) for at, reads in requests
        ]
        self._trace.write_text("".join(f"{at} 0 {lba} {PAGE_SECTORS} {reads}\n" for at, lba, reads in rows))
        workload = ninescope.Workload.trace(self._trace, format="mqsim")
        return drive.run(workload, prefill="full", log_requests=True)

    def stall(self, into_erase_ns: float) -> Stall:
        """Return how long a read waits for the erase, and for the recovery of voltages."""
        at = round(into_erase_ns)
        result = self._run(self._drive, [(self.erase_begins + at, 1)])
        if result.document["operations"]["erases"] != 1:
            raise RuntimeError("a scene needs exactly one erase")
        found = parts(result)
        return Stall(
            at,
            int(found.get("die_erase", 0)),
            int(found.get("die_suspend_overhead", 0)),
            provenance.of_run(result.document),
        )

    def just_behind(self, points: int, loops: int) -> list[Stall]:
        """Let reads come just behind so many points of each of the first loops."""
        loop = self.erase_ns / self.loops
        return [self.stall(loop * index / points + 1) for index in range(points * loops)]

    def siege(self) -> dict[str, Any]:
        """Let reads come that the die can serve, until no erase would be left."""
        return self.besieged(READ_GAP_NS, 40 * self.erase_ns // READ_GAP_NS)

    def besieged(self, gap_ns: int, count: int, *, patience: str | None = None) -> dict[str, Any]:
        """Let reads come at equal distances, and one write that has to wait for the erase."""
        reads = [(self.erase_begins + 1_000 + index * gap_ns, 1) for index in range(count)]
        requests = sorted([*reads, (self.erase_begins + 500, 0)])
        drive = self._drive
        if patience is not None and self._policy not in ("ssr-baseline", "ssr-ies"):
            drive = drive.with_({"scheduler.suspend.parked_max": patience})
        result = self._run(drive, requests)
        log = result.to_polars("requests").sort("submitted_ns")
        # The write that has to wait comes after the writes of the scene and before the reads.
        write = log.row(self._writes, named=True)
        done = write["submitted_ns"] + write["latency_ns"]
        last = int(log["submitted_ns"].max())  # type: ignore[arg-type]
        return {
            "provenance": provenance.of_run(result.document),
            "erases": result.document["operations"]["erases"],
            # Of the erase: programs are suspended too.
            "suspends": result.document["suspension"]["suspensions"],
            "write_done_before_last_read": done < last,
            "write_done_after_last_read_ns": done - last,
            "reads_ns": gap_ns * count,
            "erase_ns": result.document["suspension"]["erase_ns_max"],
        }


def parts(result: ninescope.Result) -> dict[str, float]:
    """Return where the time of the only read went."""
    [band] = [band for band in result.attribution.read if band.count]
    return dict(band.parts_ns)


def scenes(policy: str, cycles: int | None, settings: Settings) -> dict[str, Any]:
    """Let single reads, and many, meet an erase."""
    try_out = settings.length < TRY_OUT
    arrivals = UNIFORM_ARRIVALS // 10 if try_out else UNIFORM_ARRIVALS
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        scene = Scene(policy, cycles, settings, Path(folder))
        just_behind = scene.just_behind(POINTS_PER_LOOP, 1 if try_out else scene.loops)
        anywhere = [scene.stall(scene.erase_ns * (index + 0.5) / arrivals) for index in range(arrivals)]
        return {
            "erase_ns": scene.erase_ns,
            **longest(just_behind),
            "mean_wait_ns": sum(read.wait_ns for read in anywhere) / len(anywhere),
            "arrivals": {
                "at_ns": [read.at_ns for read in anywhere],
                "wait_ns": [read.wait_ns for read in anywhere],
                "recovery_ns": [read.recovery_ns for read in anywhere],
            },
            "siege": scene.siege(),
            "flood": scene.besieged(FLOOD_GAP_NS, FLOOD_NS // FLOOD_GAP_NS, patience=FLOOD_PATIENCE),
        }


def safe_points(policy: str, cycles: int, settings: Settings) -> dict[str, Any]:
    """Count the points at which an erase of a worn block stops, and find the longest wait for one."""
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        scene = Scene(policy, cycles, settings, Path(folder))
        siege = scene.siege()
        points = round(siege["suspends"] / scene.loops)
        # Any loop will do: each has its points at the same places.
        return {"points_per_loop": points, **longest(scene.just_behind(max(1, points), 1)), "siege": siege}


def longest(reads: list[Stall]) -> dict[str, Any]:
    """Return the longest waits, and which read had them."""
    slowest = max(reads, key=lambda read: read.wait_ns + read.recovery_ns)
    return {
        "max_wait_ns": max(read.wait_ns for read in reads),
        "max_wait_and_recovery_ns": slowest.wait_ns + slowest.recovery_ns,
        "longest": slowest._asdict(),
    }
