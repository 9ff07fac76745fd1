"""What a sweep will take, before it runs: whether its points can be run at all, time, and memory.

Memory is the engine's own sum. Time is an estimate: a few points are begun in workers as they will be run,
and what they got done in a second is taken for the rest (`ninescope.lab.sweep.timing`).
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common.numbers import counted
from ninescope.lab.pool import Pool
from ninescope.lab.sweep import timing
from ninescope.lab.sweep.base import DRIVE, WORKLOAD, of_drive, of_setting, of_workload, plainly, without_line
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.plan import Plan, Row
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.prepared import OWN, PreparedDrives
from ninescope.lab.sweep.timing import Span
from ninescope.lab.sweep.worker import Task, request_of

CHECK_SECONDS = 5.0
"""So long are points checked with their workloads, those with new values first; the rest by their drives."""
SHARE_OF_AVAILABLE = 0.9
_SMALL_JOB = {"job": {"rw": "read", "requests": 1, "size": "4k"}}
_DRAWN = 2000
"""Requests of a profile that are drawn to check a point."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What the points that are left will take."""

    points: int
    seconds: Span | None
    """On so many workers; None where nothing was measured."""
    workers: int
    worker_bytes: int
    """What the largest point takes [B]."""
    all_bytes: int
    """What the largest points take that may run at once [B]."""
    how: str
    """Where the time comes from."""


def check(file: SweepFile, plan: Plan, *, seconds: float = CHECK_SECONDS) -> int:
    """Check points with their workloads, as the engine does before a run; return of how many rows.

    Those that differ most come first. What is wrong is said with its place in the file.
    """
    began = time.monotonic()
    checked = 0
    seen: set[tuple[str, int, str]] = set()
    for row in _covering(plan):
        point = row.point
        key = (point.config, id(point.workload), json.dumps(point.run, sort_keys=True))
        if key not in seen:
            if time.monotonic() - began > seconds:
                break
            seen.add(key)
            try:
                needs_of(point)
            except ConfigError as error:
                _refuse(file, str(error), plan.label(row), _workload_of(file, point))
        checked += 1
    return checked


def _workload_of(file: SweepFile, point: Point) -> str:
    """Return the name of a point's workload, whose words may be changed in it."""
    named = file.base.workloads.items()
    return next((name for name, source in named if source is point.workload), next(iter(file.base.workloads)))


def needs_of(point: Point) -> tuple[int | None, int]:
    """Return how many requests a point has, where that is known, and what its drive's tables take [B]."""
    _, requests, table_bytes, _ = _native.needs_of_run(json.dumps(_request(point, most=_DRAWN)))
    return requests, table_bytes


def lead_in_of(point: Point, requests: int) -> int:
    """Return how many of so many requests of a job are not measured because it leads in with them."""
    asked = {**_request(point, most=_DRAWN), "requests": requests}
    return _native.needs_of_run(json.dumps(asked))[3]


def table_bytes(points: Sequence[Point]) -> dict[str, int]:
    """Return what the tables of each point's drive take [B], by the point's name."""
    by_drive: dict[tuple[str, int], int] = {}
    found = {}
    for point in points:
        # A drive that is sized to its workload depends on that as well.
        key = (point.config, id(point.workload) if point.drive.source is None else 0)
        if key not in by_drive:
            if point.drive.source is None:
                by_drive[key] = needs_of(point)[1]
            else:
                small = {**point.drive.request(), "workload": _SMALL_JOB, "prefill": "none"}
                by_drive[key] = _native.needs_of_run(json.dumps(small))[2]
        found[point.id] = by_drive[key]
    return found


def refuse_too_large(plan: Plan, points: Sequence[Point], workers: Pool) -> None:
    """Refuse points that no worker may hold, before anything runs."""
    if workers.memory is None:
        return
    needed = table_bytes(points)
    too_large = [point for point, size in needed.items() if size > workers.memory]
    if too_large:
        worst = max(too_large, key=lambda point: needed[point])
        raise ConfigError(
            f"{len(too_large):,} of {counted(len(points), 'point')} need more memory than a worker may take "
            f"({_mib(workers.memory)}), up to {_mib(needed[worst])} ({plan.labels()[worst]}): use fewer "
            "workers (--jobs), allow more (--memory), or take a smaller drive"
        )


def fair_share(jobs: int) -> int | None:
    """Return what each of so many processes here may take [B]; None where the system does not say."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        [available] = [int(line.split()[1]) for line in text.splitlines() if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        return None
    return int(available * 1024 * SHARE_OF_AVAILABLE / jobs)


def estimate(
    plan: Plan,
    left: Sequence[Point],
    workers: int,
    *,
    known: Mapping[str, float] | None = None,
    probe: bool = True,
    before: float = 0.0,
) -> Estimate:
    """Estimate what points take. `known` says how long points took that were run before [s].

    `before` is what is done before workers are started [s]: to start a process, and to read, plan and check.
    """
    sizes = sorted(table_bytes(left).values(), reverse=True) if left else []
    seconds, how = None, "not estimated"
    if not left:
        seconds, how = Span(0.0, 0.0, 0.0), "all is done"
    elif known:
        took = list(known.values())
        costs = [sum(took) / len(took)] * (len(left) - 1) + [max(took)]
        seconds = timing.span(costs, workers, timing.error_among(took))
        seconds = seconds.around(2 * before)  # workers start as this process did
        seconds = seconds.beside_others(timing.unsteadiness())
        how = f"as long as {counted(len(known), 'point')} done before"
    elif probe:
        begun = timing.sample(left, workers)
        found = timing.measured(begun, workers, PreparedDrives(OWN, left), timing.further(left, begun))
        costs = timing.costs_of(left, found)
        seconds = timing.span(costs, workers, timing.error_of(left, found), found.keeping)
        seconds = seconds.around(before + found.around(len(left))).beside_others(found.unsteady)
        how = f"an estimate: {counted(len(found.costs), 'point')} begun for a second"
    return Estimate(len(left), seconds, workers, max(sizes, default=0), sum(sizes[:workers]), how)


def _request(point: Point, most: int | None = None) -> dict[str, Any]:
    request = request_of(
        Task.of(point), {file.content: file.path for file in point.workload.files}, most=most
    )
    request["workload"].pop("copied_from", None)
    return request


def _covering(plan: Plan) -> Iterator[Row]:
    """Yield the rows that have a value no row before them had, then the others."""
    seen: set[tuple[int, str]] = set()
    others = []
    for row in plan.rows:
        cells = {(index, repr(value)) for index, value in enumerate(row.values)}
        if cells <= seen:
            others.append(row)
        else:
            seen |= cells
            yield row
    yield from others


def _refuse(file: SweepFile, message: str, label: str, workload: str) -> NoReturn:
    """Say what the engine has against a point, with the place in the file that it is about."""
    message = without_line(message)
    first = message.partition(": ")[0]
    word, problem = of_workload(message)
    if word:
        is_axis = any(f"{WORKLOAD}.{word}" in axis.keys for axis in file.axes)
        written = file.where_is(f"{WORKLOAD}.{word}") if is_axis else file.base.place_of(workload, word)
        file.refuse(f"{problem} (at {label})", *written)
    if first == DRIVE:
        key, problem = of_drive(message)
        written = file.where_is(key) if key else ()
        problem = problem.removeprefix(f"{key} ").removeprefix(f"{key}: ") if written else problem
        file.refuse(f"{problem} (at {label})", *(written or (("axes",) if file.axes else ("drive",))))
    if message.startswith("--set "):
        key, problem = of_setting(message)
        file.refuse(f"{problem} (at {label})", *file.where_is(key))
    is_key = first.replace(".", "").replace("_", "").isalnum()
    file.refuse(f"{plainly(message)} (at {label})", *(file.where_is(first) if is_key else ()))


def _mib(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB"
