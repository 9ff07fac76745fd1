"""What large sweeps cost beside their simulations: planned, kept, looked at."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import workers

from ninescope.lab.sweep import record
from ninescope.lab.sweep.lake import Kept, Lake
from ninescope.lab.sweep.plan import Plan
from ninescope.lab.sweep.point import current_build
from ninescope.lab.sweep.sql import asked
from ninescope.lab.sweep.sweep import Sweep, status

GRID = """
name = "grid"
seeds = {seeds}
[drive]
file = "{drive}"
[workload]
rw = "randrw"
size = "16m"
[run]
requests = 60_000
[axes]
"nand.read" = {{ from = "20us", to = "119us", count = 100 }}
"workload.iodepth" = [1, 2, 4, 8, 16]
"""


def measure(folder: Path, sizes: Sequence[int]) -> dict[str, Any]:
    """Measure sweeps of several sizes. The first of all warms up, and does not count."""
    _of_size(folder / "warm-up", 100)
    return {str(size): _of_size(folder / f"grid-{size}", size) for size in sizes}


def _of_size(folder: Path, size: int) -> dict[str, float]:
    """Plan a sweep, keep a result of each of its points, and look at them."""
    took: dict[str, float] = {}
    folder.mkdir()
    grid = GRID if size >= 500 else GRID.replace("count = 100", "count = 20")
    seeds = size // (500 if size >= 500 else 100)
    file = folder / "grid.toml"
    file.write_text(grid.format(seeds=seeds, drive=workers.SMALL))
    sweep = Sweep.from_file(file)
    plan = _timed(took, "plan", sweep.plan)
    if len(plan.points) != size:
        raise SystemExit(f"a grid of {size} points has {len(plan.points)}")
    lake = Lake.open(folder / "lake", create=True)
    rows = record.Record.of(plan)
    _timed(took, "rows", lambda: rows.save(lake))
    kept = _one(folder, sweep)
    _timed(took, "kept", lambda: _keep(lake, kept, plan))
    _timed(took, "first_table", lambda: record.table(lake, rows))
    table = _timed(took, "table", lambda: record.table(lake, rows))
    if table["state"].to_list() != [record.DONE] * size:
        raise SystemExit("a table lacks results")
    _timed(took, "csv", lambda: record.as_bytes(table, "csv"))
    _timed(took, "status", lambda: status(lake, rows))
    query = "select avg(waf_total) from points"
    _timed(took, "sql", lambda: asked(lake, query, None))
    with ThreadPoolExecutor(1) as threads:
        _timed(took, "resume", lambda: sweep.run(folder / "lake", executor=threads))
    took["bytes"] = float(sum(path.stat().st_size for path in (folder / "lake/points").iterdir()))
    took["dataset_bytes"] = float(sum(path.stat().st_size for path in (folder / "lake/dataset").iterdir()))
    return took


def _one(folder: Path, sweep: Sweep) -> Kept:
    """Run the first point, so that what is kept is as large as results are."""
    from ninescope.lab.pool import Pool
    from ninescope.lab.sweep.runner import Runner

    lake = Lake.open(folder / "one", create=True)
    with ThreadPoolExecutor(1) as threads:
        [outcome] = Runner(lake, Pool(threads, 1)).run(sweep.plan().points[:1])
    if outcome.kept is None:
        raise SystemExit("a point cannot be run")
    return outcome.kept


def _keep(lake: Lake, kept: Kept, plan: Plan) -> None:
    for point in plan.points:
        lake.put(dataclasses.replace(kept, id=point.id, design=point.design, build=current_build()))


def _timed(took: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    found = work()
    took[name] = time.perf_counter() - began
    return found
