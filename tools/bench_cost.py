"""How the cost of a request grows: `make bench-cost` renews the tables of docs/performance.md.

Of each point runs are made of few and of many requests; what is told is the difference, processor time per
request, the time of a run of one request, and the most memory of the process of few. Each run is a process of
its own, and of each point the fastest of some rounds counts.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
IMAGES = ROOT / "docs/images"
BEGIN, END = "<!-- make bench-cost writes from here -->", "<!-- to here -->"
FEW, MANY, ROUNDS = 50_000, 250_000, 4
BASE = {"geometry.packages_per_channel": 2, "ftl.over_provisioning": 0.1}
READS = {"rw": "randread", "bs": "4k", "iodepth": 32}
MIX = {"rw": "randrw", "rwmixread": 70, "bs": "4k", "iodepth": 32}
Point = tuple[str, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]
"""Name, settings of the drive, words of the job beside its pattern, options of the run."""

MEASURED = """
import json, resource, sys, time
from ninescope import Drive, Workload
from ninescope.simulation.run import Run, request
settings, job, options, requests = json.loads(sys.argv[1])
preset = settings.pop("preset", "tlc")
began = time.process_time()
drive = Drive.preset(preset).with_(settings)
run = Run(request(drive, Workload.job(**job), requests=requests, prefill="full", **options))
for _ in run.slices():
    pass
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([time.process_time() - began, memory]))
"""


def axes() -> dict[str, list[Point]]:
    """Return what is varied."""
    sizes = [(16, "4KiB", 1, 57), (128, "4KiB", 2, 228), (1_024, "4KiB", 4, 910), (4_096, "4KiB", 8, 1_820),
             (16_384, "16KiB", 16, 3_641)]  # fmt: skip
    capacity: list[Point] = [
        (f"{gib:,} GiB at {unit}",
         {"geometry.packages_per_channel": packages, "geometry.blocks_per_plane": blocks,
          "ftl.mapping_unit": unit}, {"bs": "4k" if unit == "4KiB" else "16k"}, {})
        for gib, unit, packages, blocks in sizes
    ]  # fmt: skip
    channels: list[Point] = [(str(n), {"geometry.channels": n}, {}, {}) for n in (1, 2, 4, 8, 16, 32, 64)]
    depths = (1, 4, 16, 64, 256, 1_024, 4_096)
    queue: list[Point] = [(f"{n:,}", {"controller.queue_depth": 4_096}, {"iodepth": n}, {}) for n in depths]
    size: list[Point] = [(bs, {}, {"bs": bs}, {}) for bs in ("4k", "16k", "64k", "256k", "1m")]
    suspending = {"scheduler.suspend": "every-safe-point", "nand.erase_loops": 3}
    code = {"nand.ecc": {"policy": "bch", "user_data": "1KiB", "correctable": 40},
            "nand.errors": {"policy": "constant", "rber": 1e-4}}  # fmt: skip
    features: list[Point] = [
        ("none", {}, {}, {}),
        ("suspension at safe points", suspending, {}, {}),
        ("BCH codes and failing bits", code, {}, {}),
        ("SCM above flash (hybrid-wo)", {"preset": "hybrid-wo"}, {}, {}),
        ("log of requests", {}, {}, {"log_requests": True}),
        ("the 100 slowest explained", {}, {}, {"explain_slowest": 100}),
        ("--check cheap", {}, {}, {"check": "cheap"}),
        ("--check full", {}, {}, {"check": "full"}),
    ]
    return {
        "capacity": capacity,
        "channels": channels,
        "requests in flight": queue,
        "size of requests": size,
        "features, one at a time": features,
    }


class RefusedError(Exception):
    """Nothing can be measured, or put on the page; the message says why."""


def measured(*asked: Any) -> Any:
    """Run a point once; return its processor time [s] and the most memory [KiB]."""
    words = json.dumps(asked)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", MEASURED, words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RefusedError(f"{words}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return json.loads(done.stdout)


def asked_of(
    point: Point, pattern: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return what a point asks for: settings of the drive, words of the job, options of the run."""
    _, settings, job, options = point
    drive = dict(settings) if "preset" in settings else {**BASE, **settings}
    return drive, {**pattern, **job}, dict(options)


def cost(point: Point, pattern: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return nanoseconds per request, seconds before the first, and mebibytes."""
    drive, words, options = asked_of(point, pattern)
    first = [measured(drive, words, options, 1) for _ in range(ROUNDS)]
    few = [measured(drive, words, options, FEW) for _ in range(ROUNDS)]
    many = [measured(drive, words, options, MANY) for _ in range(ROUNDS)]
    spent = min(run[0] for run in many) - min(run[0] for run in few)
    return spent / (MANY - FEW) * 1e9, min(run[0] for run in first), min(run[1] for run in few) / 1024


def table(name: str, points: Sequence[Point]) -> tuple[str, list[tuple[str, float, float]]]:
    """Measure an axis; return its table, and its points with reads and the mix [ns per request]."""
    lines = [f"| {name} | random reads [ns] | 70/30 [ns] | a run of one request | memory |",
             "| --- | ---: | ---: | ---: | ---: |"]  # fmt: skip
    found = []
    for point in points:
        reads, ready, memory = cost(point, READS)
        mix, _, _ = cost(point, MIX)
        lines.append(
            f"| {point[0]} | {reads:,.0f} | {mix:,.0f} | {ready * 1e3:,.0f} ms | {memory:,.0f} MiB |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
        found.append((point[0], reads, mix))
    return "\n".join(lines), found


def draw(found: Mapping[str, Sequence[tuple[str, float, float]]]) -> None:
    """Draw all axes into one figure."""
    from ninescope import pictures
    from ninescope.figures import Axis, Figure, Form, Panel, Series

    panels = []
    for name, points in found.items():
        places = [float(place) for place in range(len(points))]
        # Features have no order.
        form: Form = "points" if name.startswith("features") else "line"
        series = [
            Series("random reads", places, [reads for _, reads, _ in points], form=form),
            Series("70/30", places, [mix for _, _, mix in points], form=form),
        ]
        x = Axis(name, categories=[point[0] for point in points])
        panels.append(Panel(name, x, Axis("processor time per request [ns]", log=True), series))
    pictures.save(Figure("cost", "What a request costs", panels, columns=2), IMAGES, colours=pictures.SMALL)


def machine() -> str:
    """Return what it was measured on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model}, {platform.system()}, Python {platform.python_version()}, {date.today().isoformat()}"


def on_page(page: str, tables: Sequence[str] = ()) -> str:
    """Return a page with these tables between its marks, which must be there."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise RefusedError(f"{PAGE.name} lacks the marks {BEGIN} and {END}, one after the other")
    text = "\n\n".join(tables)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> int:
    """Measure everything, and put it on the page."""
    try:
        if sys.argv[1:]:
            raise RefusedError(f"takes no arguments, and was given {' '.join(sys.argv[1:])}")
        on_page(PAGE.read_text(encoding="utf-8"))  # before anything is measured for long
        tables, found = [f"Measured on one core of {machine()}."], {}
        for name, points in axes().items():
            text, found[name] = table(name, points)
            tables.append(text)
        draw(found)
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    except RefusedError as refused:
        print(f"bench_cost: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
