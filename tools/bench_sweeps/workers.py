"""How workers add up, and what a point costs beside its simulation."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hosts

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("client.py")
TRACE = ROOT / "examples" / "traces" / "pgbench.csv.zst"
DRIVE = ROOT / "examples" / "drives" / "demo.toml"
SMALL = ROOT / "examples" / "drives" / "small.toml"

LONG = """
name = "long"
[drive]
file = "{drive}"
[workload]
trace = "{trace}"
loop = 100_000
closed_loop = true
iodepth = 16
[run]
requests = {requests}
[axes]
"nand.read" = {{ from = "30us", to = "60us", count = {points} }}
"""
SHORT = """
name = "short"
[drive]
file = "{drive}"
[workload]
rw = "randread"
size = "1m"
[run]
requests = 100
[axes]
"nand.read" = {{ from = "20us", to = "90us", count = {points} }}
"""


class Scale(NamedTuple):
    """How much is measured."""

    seconds: float
    """Of a long point."""
    points: int
    short_points: int
    rounds: int


FULL = Scale(2.8, 20, 200, 3)
BRIEF = Scale(0.3, 4, 20, 1)

Way = Callable[[Path, Path], dict[str, Any]]


def measure(folder: Path, scale: Scale) -> dict[str, Any]:
    """Run the same sweep in every way, in turn."""
    trace = folder / TRACE.name
    shutil.copy(TRACE, trace)
    probe = _written(folder / "probe.toml", LONG, drive=DRIVE, trace=trace, requests=200_000, points=2)
    seconds = min(_local(1)(probe, folder / "probe")["seconds"])
    requests = int(200_000 * scale.seconds / seconds)
    long = _written(
        folder / "long.toml", LONG, drive=DRIVE, trace=trace, requests=requests, points=scale.points
    )
    short = _written(folder / "short.toml", SHORT, drive=SMALL, points=scale.short_points)
    cores = len(os.sched_getaffinity(0))
    ways: dict[str, Way] = {
        "1 local process": _local(1),
        **{f"{count} local processes": _local(count) for count in sorted({2, cores})},
        "Dask, 1 worker": _dask(1),
        **{f"Dask, {count} workers": _dask(count) for count in sorted({2, cores})},
        f"Dask, {cores} workers, each on a host of its own": _dask_on_hosts(cores),
    }
    runs: dict[str, list[dict[str, Any]]] = {}
    impossible = {}
    for number in range(scale.rounds):
        for name, way in ways.items():
            if name in impossible:
                continue
            try:
                runs.setdefault(name, []).append(
                    way(long, folder / f"long-{number}-{name.replace(' ', '-')}")
                )
            except hosts.ImpossibleError as problem:
                impossible[name] = str(problem)
    overheads = {
        name: overhead(ways[name](short, folder / f"short-{name.replace(' ', '-')}"))
        for name in ways
        if name not in impossible
    }
    return {
        "cores": cores,
        "requests": requests,
        "ways": {name: [_shortened(run) for run in of_way] for name, of_way in runs.items()},
        "impossible": impossible,
        "overhead_s": overheads,
        "same_tables": len({run["table"] for of_way in runs.values() for run in of_way}) == 1,
    }


def overhead(run: dict[str, Any]) -> float:
    """Return what a point costs its worker beside the simulation [s], once all of them are at work."""
    ends, seconds = run["ends_s"], run["seconds"]
    begin = len(ends) // 4
    span = ends[-1] - ends[begin - 1]
    beside: float = span * run["workers"] - sum(seconds[begin:])
    return beside / len(seconds[begin:])


def _shortened(run: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key not in ("ends_s", "seconds")} | {
        "point_s": statistics.median(run["seconds"])
    }


def _written(path: Path, text: str, **words: object) -> Path:
    path.write_text(text.format(**words))
    return path


def _local(count: int) -> Way:
    return lambda file, lake: _client([], file, lake, str(count))


def _dask(count: int) -> Way:
    def run(file: Path, lake: Path) -> dict[str, Any]:
        with hosts.processes(_folder(lake), count) as address:
            return _client([], file, lake, address)

    return run


def _dask_on_hosts(count: int) -> Way:
    def run(file: Path, lake: Path) -> dict[str, Any]:
        # Workers do not see the sweep, its trace, or the lake; their own files lie elsewhere.
        with hosts.namespaces(_folder(lake), file.parent, count) as (address, before):
            return _client(before, file, lake, address)

    return run


def _folder(lake: Path) -> Path:
    folder = lake.with_name(f"{lake.name}-cluster")
    folder.mkdir()
    return folder


def _client(before: Sequence[str], file: Path, lake: Path, on: str) -> dict[str, Any]:
    """Run a sweep in a process of its own."""
    done = subprocess.run(
        [*before, sys.executable, str(CLIENT), str(file), str(lake), on],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{file.name} on {on}: {done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
