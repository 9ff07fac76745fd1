"""Five policies of erase suspension: single collisions with an erase, and tails under two workloads.

The paper: Kim, Seo, Kim, "SSR: Smart Suspend/Resume Technique for High Capacity 3D NAND Flash Memory Based
Storage System", JKICS 50(9), 2025. Figures and acceptance live elsewhere; this only measures.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ninescope
from ninescope import toml
from ninescope.papers.experiment import Point, Settings, Summary, Table

HERE = Path(__file__).resolve().parent
POLICIES = {
    "ssr-baseline": "baseline",
    "ssr-ies": "I-ES",
    "ssr-des": "D-ES",
    "ssr-static": "SSR(s)",
    "ssr-dynamic": "SSR(d)",
}
WORKLOADS = {"fio": "FIO 70/30", "tpcc-stand-in": "TPC-C stand-in"}
VARIANTS = {
    "programs": "programs too",
    "by-wear": "loops by wear",
}
"""What the paper leaves open, decided otherwise: FIO with as many requests as a quick run."""
WARMUP_REQUESTS = 1_000_000
"""Left out: a drive that was just prepared collects garbage everywhere at once, under any policy."""
QUICK_REQUESTS = {"fio": 3_000_000, "tpcc-stand-in": 2_500_000}
PERCENTILES = ("50", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999")
TAIL = ("p99.99", "p99.9999")
PREFILL = "raw"
"""As in the paper: all flash, over-provisioning included, was written once."""

Results = Mapping[str, dict[str, Any]]


def points(settings: Settings) -> list[Point]:
    """List ten long runs and the scenes with a single erase."""
    runs = [
        Point(f"{workload}/{policy}", {"kind": "run", "workload": workload, "policy": policy}, weight=100)
        for workload in WORKLOADS
        for policy in POLICIES
    ]
    scenes = [
        Point(f"scenes/{name}", {"kind": "scenes", "policy": policy, "cycles": cycles})
        for name, policy, cycles in scene_drives()
    ]
    variants = [
        Point(
            f"{variant}/{policy}",
            {"kind": "run", "workload": "fio", "policy": policy, "variant": variant},
            weight=10,
        )
        for variant in VARIANTS
        for policy in POLICIES
    ]
    practical = {"kind": "run", "workload": "fio", "policy": "ssr-baseline", "variant": "practical"}
    return [*runs, *variants, Point("practical", practical, weight=10), *scenes]


def scene_drives() -> Iterator[tuple[str, str, int | None]]:
    """List the drives of the scenes: SSR(d) has its wear as a parameter."""
    for policy in POLICIES:
        yield policy, policy, None
    for cycles in (100, 1000):
        yield f"ssr-dynamic-at-{cycles}", "ssr-dynamic", cycles


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Simulate one of them."""
    parameters = point.parameters
    if parameters["kind"] == "scenes":
        return scenes(parameters["policy"], parameters["cycles"])
    variant = parameters.get("variant")
    return long_run(
        varied(parameters["policy"], variant),
        parameters["workload"],
        seed=settings.seed,
        requests=QUICK_REQUESTS[parameters["workload"]] if settings.quick or variant else None,
    )


def drive(policy: str) -> ninescope.Drive:
    """Return the drive with a policy."""
    return ninescope.Drive.preset(policy)


def varied(policy: str, variant: str | None) -> ninescope.Drive:
    """Return the drive with a policy and what is decided otherwise."""
    if variant == "practical":
        return drive(policy).with_(scheduler__suspend="practical")
    if variant == "programs" and policy != "ssr-baseline":
        return drive(policy).with_({"scheduler.suspend.programs": True})
    if variant == "by-wear":
        # The drive that the authors published with an earlier paper, where blocks of 2,500 cycles take two to
        # four loops of 3.5 ms.
        nand = toml.loads(drive("aero").resolve())["nand"]
        keys = ("erase_loop", "erase_loops", "initial_cycles")
        return drive(policy).with_({f"nand.{key}": nand[key] for key in keys})
    return drive(policy)


# ---- long runs ---------------------------------------------------------------------------------------


def long_run(drive: ninescope.Drive, workload: str, *, seed: int, requests: int | None) -> dict[str, Any]:
    """Run a workload on a drive whose garbage collection is at work from the first request on."""
    result = drive.run(
        ninescope.Workload.job_file(HERE / "workloads" / f"{workload}.toml"),
        seed=seed,
        requests=requests,
        prefill=PREFILL,
        warmup=WARMUP_REQUESTS,
    )
    document = result.document
    operations = {}
    for op in ("read", "write"):
        latency = getattr(result.latency, op)
        bounds, counts = latency.histogram
        used = counts.nonzero()[0]
        operations[op] = {
            "count": latency.count,
            "mean_ns": latency.mean_ns,
            "max_ns": latency.max_ns,
            "percentiles_ns": {key: latency.percentile(float(key)) for key in PERCENTILES},
            "intervals_ns": {key: list(latency.interval(float(key))) for key in PERCENTILES},
            "insufficient": list(latency.insufficient),
            "histogram": [[int(bounds[index]), int(counts[index])] for index in used],
            "tail_parts_ns": tail_parts(getattr(result.attribution, op)),
        }
    return {
        "digest": result.digest,
        "latency": operations,
        "waf": result.waf.total,
        "busy": document["utilisation"]["dies"]["mean"],
        "erases": document["operations"]["erases"],
        "suspends": document["counters"]["suspends"],
        "suspension": document["suspension"],
    }


def tail_parts(bands: Any) -> dict[str, float]:
    """Return what the requests beyond p99.99 waited for: mean by cause [ns]."""
    beyond = [band for band in bands if band.name in ("p99.999", "p99.9999", "max")]
    count = sum(band.count for band in beyond)
    sums: dict[str, float] = {}
    for band in beyond:
        for cause, time in band.parts_ns.items():
            sums[cause] = sums.get(cause, 0.0) + time * band.count
    return {cause: time / count for cause, time in sums.items()}


# ---- scenes with a single erase ----------------------------------------------------------------------

PAGE_SECTORS = 32
"""16 KiB."""
STEP_NS = 20_000_000
"""From one write to the next: longer than an erase."""
PROBE_LBA = 40 * 4 * PAGE_SECTORS
"""In a block that the writes do not reach."""
POINTS_PER_ERASE = 90
"""Arrivals just behind these many points of the erase: each policy stops at some of them."""
UNIFORM_ARRIVALS = 360
READ_GAP_NS = 90_000
"""Shorter than a recovery, longer than a read: the die keeps up, and an erase finds no time."""
FLOOD_GAP_NS = 1_190
"""4 KiB at the rate of the link: more than one die can serve."""
FLOOD_PATIENCE = "2ms"
"""How long reads go first at each stop while they flood the die: shorter than the policies' own 64 ms, so
that the flood need not last for seconds."""
FLOOD_NS = 300_000_000
"""Longer than an erase and 90 stops of that length."""


class Scene:
    """One die, written until one erase of an empty block begins with no other work around."""

    def __init__(self, policy: str, cycles: int | None, folder: Path) -> None:
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
        self._drive = drive(policy).with_(
            one_die | ({} if cycles is None else {"nand.initial_cycles": cycles})
        )
        self._base = self._drive.with_(scheduler__suspend="none")
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
        for count in range(1, 4 * 64):
            self._writes = count
            result = self._run(self._base, [(STEP_NS // 2, 1)])
            if result.document["operations"]["erases"]:
                return count
        raise RuntimeError("the writes of the scene bring no erase about")

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

    def stall(self, into_erase_ns: float) -> tuple[int, int]:
        """Return how long a read waits for the erase, and for the recovery of voltages [ns]."""
        result = self._run(self._drive, [(self.erase_begins + round(into_erase_ns), 1)])
        if result.document["operations"]["erases"] != 1:
            raise RuntimeError("a scene needs exactly one erase")
        found = parts(result)
        return int(found.get("die_erase", 0)), int(found.get("die_suspend_overhead", 0))

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
            "erases": result.document["operations"]["erases"],
            "suspends": result.document["counters"]["suspends"],
            "write_done_before_last_read": done < last,
            "write_done_after_last_read_ns": done - last,
            "reads_ns": gap_ns * count,
            "erase_ns": result.document["suspension"]["erase_ns_max"],
        }


def parts(result: ninescope.Result) -> dict[str, float]:
    """Return where the time of the only read went."""
    [band] = [band for band in result.attribution.read if band.count]
    return dict(band.parts_ns)


def scenes(policy: str, cycles: int | None) -> dict[str, Any]:
    """Let single reads, and many, meet an erase."""
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        scene = Scene(policy, cycles, Path(folder))
        just_behind = [
            scene.stall(scene.erase_ns * index / POINTS_PER_ERASE + 1) for index in range(POINTS_PER_ERASE)
        ]
        anywhere = [
            scene.stall(scene.erase_ns * (index + 0.5) / UNIFORM_ARRIVALS)
            for index in range(UNIFORM_ARRIVALS)
        ]
        return {
            "erase_ns": scene.erase_ns,
            "max_wait_ns": max(wait for wait, _ in just_behind),
            "max_wait_and_recovery_ns": max(wait + recovery for wait, recovery in just_behind),
            "mean_wait_ns": sum(wait for wait, _ in anywhere) / len(anywhere),
            "siege": scene.besieged(READ_GAP_NS, 40 * scene.erase_ns // READ_GAP_NS),
            "flood": scene.besieged(FLOOD_GAP_NS, FLOOD_NS // FLOOD_GAP_NS, patience=FLOOD_PATIENCE),
        }


# ---- what it comes to --------------------------------------------------------------------------------


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    measured: dict[str, Any] = {workload: tails(results, workload) for workload in WORKLOADS}
    for workload in WORKLOADS:
        for policy in POLICIES:
            run = results[f"{workload}/{policy}"]
            suspensions_max = run["suspension"]["suspensions_max"]
            measured[workload].setdefault("suspensions_max", {})[policy] = suspensions_max
    measured |= single_erase(results)
    measured["improvement"] = {
        "des_over_static": largest_ratio(measured, "ssr-des", "ssr-static"),
        "baseline_over_dynamic": largest_ratio(measured, "ssr-baseline", "ssr-dynamic"),
    }
    fio = results["fio/ssr-baseline"]["latency"]["read"]["percentiles_ns"]
    intervals = results["fio/ssr-baseline"]["latency"]["read"]["intervals_ns"]
    (low_tail, high_tail), (low_body, high_body) = intervals["99.99"], intervals["90"]
    knee = {"value": fio["99.99"] / fio["90"], "interval": [low_tail / high_body, high_tail / low_body]}
    measured["knee"] = {"p99.99_over_p90": knee}
    tables = [
        *(latency_table(results, op) for op in ("read", "write")),
        *(interval_table(results, op) for op in ("read", "write")),
        drive_table(results),
        lifetime_table(results),
        cause_table(results),
        variant_table(results),
        scene_table(results),
    ]
    return Summary(measured, tables)


def tails(results: Results, workload: str) -> dict[str, Any]:
    """Return percentiles [us] by operation, percentile and policy."""
    tree: dict[str, Any] = {}
    for policy in POLICIES:
        for op, latency in results[f"{workload}/{policy}"]["latency"].items():
            of_op = tree.setdefault(op, {})
            for key, value in latency["percentiles_ns"].items():
                of_op.setdefault(f"p{key}", {})[policy] = {
                    "value": value / 1e3,
                    "interval": [end / 1e3 for end in latency["intervals_ns"][key]],
                    "insufficient": key in latency["insufficient"],
                }
            of_op.setdefault("mean", {})[policy] = latency["mean_ns"] / 1e3
            of_op.setdefault("max", {})[policy] = latency["max_ns"] / 1e3
    return tree


def largest_ratio(measured: Mapping[str, Any], slow: str, fast: str) -> float | None:
    """Return the largest ratio of two policies' read tails, where there are enough samples."""
    ratios = []
    for workload in WORKLOADS:
        for percentile in TAIL:
            tail = measured[workload]["read"][percentile]
            if not (tail[slow]["insufficient"] or tail[fast]["insufficient"]):
                ratios.append(tail[slow]["value"] / tail[fast]["value"])
    return max(ratios, default=None)


def single_erase(results: Results) -> dict[str, Any]:
    """Return what the scenes measured."""
    tree: dict[str, Any] = {}
    for name, _, _ in scene_drives():
        scene = results[f"scenes/{name}"]
        siege = scene["siege"]
        # What was left of the erase when the last read had come, it did afterwards.
        left = max(0, siege["write_done_after_last_read_ns"]) / scene["erase_ns"]
        values = {
            "max_wait_us": scene["max_wait_ns"] / 1e3,
            "max_wait_and_recovery_us": scene["max_wait_and_recovery_ns"] / 1e3,
            "mean_wait_us": scene["mean_wait_ns"] / 1e3,
            "suspensions_of_one_erase": siege["suspends"],
            "erased_between_reads": 1 - min(left, 1.0),
            "erase_ends_in_flood": scene["flood"]["erase_ns"] < scene["flood"]["reads_ns"],
        }
        for key, value in values.items():
            tree.setdefault(key, {})[name] = value
    waits = tree["mean_wait_us"]
    tree["mean_wait_ratio"] = {"des_over_static": waits["ssr-des"] / waits["ssr-static"]}
    return tree


def latency_table(results: Results, op: str) -> Table:
    """Tabulate the tails."""
    rows = []
    for workload, words in WORKLOADS.items():
        for policy, short in POLICIES.items():
            latency = results[f"{workload}/{policy}"]["latency"][op]
            cells = [
                microseconds(latency["percentiles_ns"][key]) + ("*" if key in latency["insufficient"] else "")
                for key in PERCENTILES
            ]
            rows.append([words, short, *cells, microseconds(latency["max_ns"])])
    return Table(
        f"Latency of {op}s [us]",
        ["workload", "policy", *(f"p{key}" for key in PERCENTILES), "max"],
        rows,
        note="* fewer than ten samples beyond",
    )


def interval_table(results: Results, op: str) -> Table:
    """Tabulate the intervals that decide orders."""
    keys = ("99.9", "99.99", "99.999", "99.9999")
    rows: list[list[Any]] = []
    for workload, words in WORKLOADS.items():
        for policy, short in POLICIES.items():
            latency = results[f"{workload}/{policy}"]["latency"][op]
            cells = [
                "-".join(microseconds(end) for end in latency["intervals_ns"][key])
                + ("*" if key in latency["insufficient"] else "")
                for key in keys
            ]
            rows.append([words, short, *cells])
    columns = ["workload", "policy", *(f"p{key}" for key in keys)]
    return Table(f"95 % intervals of {op}s [us]", columns, rows, note="* fewer than ten samples beyond")


def drive_table(results: Results) -> Table:
    """Tabulate what the drive did."""
    rows: list[list[Any]] = []
    for workload, words in WORKLOADS.items():
        for policy, short in POLICIES.items():
            run = results[f"{workload}/{policy}"]
            counts = [run["latency"][op]["count"] for op in ("read", "write")]
            counts += [run["erases"], run["suspends"]]
            cells = [f"{count:,}" for count in counts]
            rows.append([words, short, f"{run['waf']:.2f}", f"{run['busy']:.0%}", *cells])
    columns = ["workload", "policy", "WAF", "busy", "reads", "writes", "erases", "suspends"]
    return Table("What the drive did", columns, rows)


def lifetime_table(results: Results) -> Table:
    """Tabulate how often erases were suspended, and what it did to their blocks."""
    rows: list[list[Any]] = []
    for workload, words in WORKLOADS.items():
        for policy, short in POLICIES.items():
            ledger = results[f"{workload}/{policy}"]["suspension"]
            mean = ledger["suspensions"] / max(1, ledger["erases"])
            cells = [f"{ledger['erases']:,}", f"{mean:.3g}", f"{ledger['suspensions_max']:,}"]
            cells += [f"{ledger['over_limit_erases']:,}", f"{ledger['added_rber_max']:.2g}"]
            rows.append([words, short, *cells])
    columns = [
        "workload",
        "policy",
        "erases",
        "suspended on average",
        "at most",
        "over the limit",
        "added RBER",
    ]
    return Table(
        "Suspensions of an erase",
        columns,
        rows,
        note=(
            "over the limit: erases suspended more often than their block bears. added RBER: at most, by a "
            "law of which the trend alone is published (inferred)."
        ),
    )


def cause_table(results: Results) -> Table:
    """Tabulate what the slowest of 10,000 reads waited for."""
    from ninescope.causes import look

    rows: list[list[Any]] = []
    for workload, words in WORKLOADS.items():
        for policy, short in POLICIES.items():
            found = results[f"{workload}/{policy}"]["latency"]["read"]["tail_parts_ns"]
            total = sum(found.values())
            top = sorted(found.items(), key=lambda part: -part[1])[:3]
            said = ", ".join(f"{time / total:.0%} {look(cause).label}" for cause, time in top if time > 0)
            rows.append([words, short, microseconds(total), said])
    columns = ["workload", "policy", "mean", "where the time went"]
    return Table("Reads beyond p99.99 [us]", columns, rows)


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    names = {"fio": "as it is", **VARIANTS}
    for variant, words in names.items():
        for policy, short in POLICIES.items():
            rows.append([words, short, *variant_cells(results[f"{variant}/{policy}"])])
    rows.append(["as it is", "practical", *variant_cells(results["practical"])])
    columns = ["FIO", "policy", "read p99.99", "p99.999", "write p99.99", "at most", "lost [ms]"]
    return Table(
        "Decided otherwise [us]",
        columns,
        rows,
        note=(
            "programs too: suspended at their pulses. loops by wear: AERO's table at 2,500 cycles, 3.5 ms "
            "each. at most: suspensions of an erase. lost: pulse time of erase loops that began anew."
        ),
    )


def variant_cells(run: Mapping[str, Any]) -> list[Any]:
    """Write the tails of one run, and what suspending took."""
    cells = []
    for op, key in (("read", "99.99"), ("read", "99.999"), ("write", "99.99")):
        latency = run["latency"][op]
        few = "*" if key in latency["insufficient"] else ""
        cells.append(microseconds(latency["percentiles_ns"][key]) + few)
    ledger = run["suspension"]
    return [*cells, ledger["suspensions_max"], f"{ledger['lost_ns'] / 1e6:,.0f}"]


def scene_table(results: Results) -> Table:
    """Tabulate the scenes."""
    rows: list[list[Any]] = []
    for name, policy, cycles in scene_drives():
        scene = results[f"scenes/{name}"]
        words = POLICIES[policy] + (f" at {cycles:,} P/E" if cycles else "")
        waits = [scene["max_wait_ns"], scene["max_wait_and_recovery_ns"], scene["mean_wait_ns"]]
        siege = scene["siege"]
        in_time = "yes" if siege["write_done_before_last_read"] else "no"
        flood = scene["flood"]
        in_flood = f"yes, {flood['suspends']} suspends" if flood["erase_ns"] < flood["reads_ns"] else "no"
        cells = [siege["suspends"], in_time, in_flood]
        rows.append([words, *(microseconds(wait) for wait in waits), *cells])
    return Table(
        "One erase [us]",
        [
            "policy",
            "longest wait",
            "and recovery",
            "mean wait",
            "suspends",
            "ends in time",
            "ends in a flood",
        ],
        rows,
        note=(
            f"suspends, ends in time: while reads come each {READ_GAP_NS / 1e3:g} us, which the die can "
            f"serve. In a flood, each {FLOOD_GAP_NS / 1e3:g} us, it cannot: reads wait at all times, and a "
            f"policy other than I-ES lets them go first for {FLOOD_PATIENCE} at each stop (64ms by default)."
        ),
    )


def microseconds(ns: float) -> str:
    """Write a time without a unit."""
    return f"{ns / 1e3:,.0f}" if ns >= 1e5 else f"{ns / 1e3:.3g}"


# ---- figures -----------------------------------------------------------------------------------------

COLOURS = {
    "ssr-baseline": "#444444",
    "ssr-ies": "#d9621e",
    "ssr-des": "#7a5aa0",
    "ssr-static": "#1f6fb4",
    "ssr-dynamic": "#2a9d5c",
}


def draw(results: Results, directory: Path, settings: Settings) -> list[Path]:
    """Draw the tails."""
    from matplotlib.figure import Figure

    survival = Figure(figsize=(11, 8), dpi=140, layout="constrained", facecolor="white")
    bars = Figure(figsize=(11, 7), dpi=140, layout="constrained", facecolor="white")
    grid, places = survival.subplots(2, 2), bars.subplots(2, 2)
    for row, (workload, words) in enumerate(WORKLOADS.items()):
        for column, op in enumerate(("read", "write")):
            draw_survival(grid[row][column], results, workload, op)
            draw_bars(places[row][column], results, workload, op)
            for axes in (grid[row][column], places[row][column]):
                axes.set_title(f"{words}: {op}s", loc="left", fontsize=10, fontweight="bold")
                axes.spines[["top", "right"]].set_visible(False)
                axes.grid(color="#e6e6e6", linewidth=0.6)
                axes.set_axisbelow(True)
    survival.suptitle("Share of requests slower than", x=0.01, ha="left", fontweight="bold")
    bars.suptitle(
        "Tail latency with 95 % intervals (pale: fewer than ten samples beyond)",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    grid[0][0].legend(frameon=False, fontsize=8)
    limits = draw_limits()
    written = [directory / "tails.png", directory / "percentiles.png", directory / "added_rber.png"]
    for figure, path in zip((survival, bars, limits), written, strict=True):
        figure.savefig(path)
    return written


def draw_limits() -> Any:
    """Draw what suspensions do to bit errors (the shape of figure 7) and how many an erase bears."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), dpi=140, layout="constrained", facecolor="white")
    errors, limits = figure.subplots(1, 2)
    suspensions, cycles = list(range(101)), [100, 200, 500, 1_000]
    added = drive("ssr-dynamic").added_rber(suspensions, cycles)
    for row, count, shade in zip(added, cycles, ("#9ecae1", "#6baed6", "#2171b5", "#08306b"), strict=True):
        errors.plot(suspensions, row, color=shade, label=f"{count:,} P/E cycles")
    errors.set(xlabel="suspensions in an erase of one loop", ylabel="added raw bit error rate")
    errors.set_title("The law is inferred: the trend alone is published", loc="left", fontsize=10)
    errors.legend(frameon=False, fontsize=8)
    wear = list(range(50, 2_001, 10))
    born = (drive("ssr-dynamic").added_rber(suspensions, wear) == 0).sum(axis=1) - 1
    limits.step(wear, born, where="post", color=COLOURS["ssr-dynamic"], label="SSR(d)")
    limits.axhline(born[-1], color=COLOURS["ssr-static"], label="SSR(s)")
    limits.set(xlabel="P/E cycles", ylabel="safe points in a loop", ylim=(0, None))
    limits.set_title("Suspensions that an erase loop bears", loc="left", fontsize=10)
    limits.legend(frameon=False, fontsize=8)
    for axes in (errors, limits):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", linewidth=0.6)
    return figure


def draw_survival(axes: Any, results: Results, workload: str, op: str) -> None:
    """Draw complementary distribution functions."""
    for policy, short in POLICIES.items():
        histogram = results[f"{workload}/{policy}"]["latency"][op]["histogram"]
        total = slower = sum(count for _, count in histogram)
        at, share = [], []
        for bound, count in histogram:
            at.append(bound / 1e3)
            slower -= count
            share.append(max(slower / total, 1e-9))
        axes.step(at, share, where="post", label=short, color=COLOURS[policy], linewidth=1.4)
    axes.set(xscale="log", yscale="log", ylim=(0.5 / total, 1), xlabel="latency [us]")
    if op == "read":
        axes.set_xlim(left=20)  # what is answered from the buffer takes less


def draw_bars(axes: Any, results: Results, workload: str, op: str) -> None:
    """Draw two percentiles of each policy with their intervals; a logarithmic axis has no base for bars."""
    for group, key in enumerate(("99.99", "99.9999")):
        for index, (policy, short) in enumerate(POLICIES.items()):
            latency = results[f"{workload}/{policy}"]["latency"][op]
            value = latency["percentiles_ns"][key] / 1e3
            low, high = (end / 1e3 for end in latency["intervals_ns"][key])
            few = key in latency["insufficient"]
            axes.errorbar(
                group + (index - 2) * 0.16,
                value,
                yerr=[[max(value - low, 0)], [max(high - value, 0)]],
                fmt="o",
                color=COLOURS[policy],
                alpha=0.35 if few else 1,
                label=short if not group else None,
                elinewidth=1.5,
                capsize=4,
            )
    axes.set(yscale="log", ylabel="latency [us]")
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom / 2, top * 2)
    axes.set_xticks([0, 1], ["p99.99", "p99.9999"])
    if workload == "fio" and op == "read":
        axes.legend(frameon=False, fontsize=8, ncols=5, loc="lower left", bbox_to_anchor=(0, 1.06))
