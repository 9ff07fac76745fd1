"""How long points will take, from what a few of them were measured to take on this machine.

They are begun in as many worker processes as will run, at the same time, so that what workers take from
each other (processors, caches, memory) is in what is measured; so are the start of a worker, preparing a
drive, and what is done with a result. `measured` measures, and all else is arithmetic with what it found.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ninescope import pool
from ninescope.sweep import worker
from ninescope.sweep.point import Point, current_build
from ninescope.sweep.prepared import OWN, PreparedDrives
from ninescope.sweep.worker import Probed, Task

SECONDS = 1.0
"""So long is each point begun."""
ROUNDS = 2
"""So many points are begun in each worker, one after the other."""
_UNSURE = 0.1
"""A second is not the run: it is off by so much at least, relatively."""
_ROUGH = 0.5
"""The same where a second did not come to the run itself."""
_ERRORS = 2.0
"""So many standard errors of the mean of what was measured are allowed for."""


class Span(NamedTuple):
    """A time, and between which it probably lies [s]."""

    likely: float
    low: float
    high: float

    def plus(self, seconds: float) -> Span:
        """Return it with something before it."""
        return Span(*(each + seconds for each in self))


@dataclasses.dataclass(frozen=True)
class Measured:
    """What was measured."""

    startup: float
    """From no worker to all of them ready [s]."""
    costs: Mapping[str, Probed]
    """Of the points that were begun, by their names."""
    workers: int
    """So many ran at the same time."""


def measured(points: Sequence[Point], workers: int, drives: PreparedDrives | None = None) -> Measured:
    """Begin points for a second each, so many at a time as will be run; `drives` says which are kept."""
    count = max(1, min(workers, len(points)))
    with pool.local(count) as given:
        began = time.perf_counter()
        given.on_each(worker.other_build, current_build())
        startup = time.perf_counter() - began
        tasks = [
            Task.of(point, prepared=OWN if drives is not None and drives.key(point) is not None else None)
            for point in points
        ]
        found = [given.submit(worker.probe, task, SECONDS) for task in tasks]
        costs = {point.id: future.result() for point, future in zip(points, found, strict=True)}
    return Measured(startup, costs, count)


def sample(points: Sequence[Point], workers: int) -> list[Point]:
    """Choose points to begin: of each workload some that lie apart, and enough to keep all workers busy."""
    wanted = min(len(points), ROUNDS * max(1, min(workers, len(points))))
    groups = sorted(_by_workload(points).values(), key=len, reverse=True)
    each = math.ceil(wanted / len(groups))
    chosen = [[group[place] for place in _spread(len(group), each)] for group in groups]
    in_turn = [point for row in itertools.zip_longest(*chosen) for point in row if point is not None]
    return in_turn[:wanted]


def span(costs: Sequence[float], workers: int, error: float) -> Span:
    """Return how long points take that are given to workers as these become free.

    Whoever has them in whatever order needs no less than the sum over the workers, or the longest, and no
    more than the sum and what is left of the longest: Graham, "Bounds on multiprocessing timing anomalies",
    SIAM Journal on Applied Mathematics 17(2), 1969. `error` is how far costs are off, relatively.
    """
    if not costs:
        return Span(0.0, 0.0, 0.0)
    count = max(1, min(workers, len(costs)))
    even, longest = sum(costs) / count, max(costs)
    least, most = max(even, longest), even + longest * (1 - 1 / count)
    return Span((least + most) / 2, least * (1 - min(error, 0.9)), most * (1 + error))


def costs_of(points: Sequence[Point], found: Measured) -> list[float]:
    """Return what each point takes [s]; of those that share a prepared drive the first prepares it."""
    drives, prepared_for = PreparedDrives(OWN, points), set[str]()
    known = {key: _mean(group, found) for key, group in _by_workload(points).items()}
    every = [mean for mean in known.values() if mean is not None]
    costs = []
    for point in points:
        mean = known[id(point.workload)] or _Mean.over(every)
        key = drives.key(point)
        costs.append(mean.rest + mean.running * _share(point, mean.requests))
        if key not in prepared_for:
            costs[-1] += mean.preparing
        if key is not None:
            costs[-1] += mean.loading
            prepared_for.add(key)
    return costs


def error_of(points: Sequence[Point], found: Measured) -> float:
    """Return how far the sum of costs may be off, relatively: by what those that were begun differ."""
    known = [
        [found.costs[point.id].whole for point in group if point.id in found.costs]
        for group in _by_workload(points).values()
    ]
    errors = [_ERRORS * _relative_error(values) for values in known if len(values) > 1]
    rough = any(cost.is_rough for cost in found.costs.values())
    return max(_ROUGH if rough else _UNSURE, *errors, 0.0)


def error_among(values: Sequence[float]) -> float:
    """Return how far the mean of what points took may be off from that of others, relatively."""
    return max(_UNSURE, _ERRORS * _relative_error(values)) if len(values) > 1 else _ROUGH


def _relative_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean, relative to it."""
    mean = sum(values) / len(values)
    variance = sum((each - mean) ** 2 for each in values) / (len(values) - 1)
    return math.sqrt(variance / len(values)) / mean if mean > 0 else 0.0


def _by_workload(points: Sequence[Point]) -> dict[int, list[Point]]:
    groups: dict[int, list[Point]] = {}
    for point in points:
        groups.setdefault(id(point.workload), []).append(point)
    return groups


def _spread(count: int, wanted: int) -> list[int]:
    """Return places that lie as far apart as they can, the middle one first."""
    if wanted >= count:
        return list(range(count))
    return [count * (2 * place + 1) // (2 * wanted) for place in range(wanted)]


class _Mean(NamedTuple):
    """What points of a workload take on average [s]."""

    preparing: float
    loading: float
    running: float
    rest: float
    requests: int | None
    """What `running` is for, where points say."""

    @classmethod
    def over(cls, means: Sequence[_Mean]) -> _Mean:
        """Return what points of a workload take of which none was begun: as those of the others."""
        preparing, loading, running, rest = (
            sum(values) / len(means) for values in zip(*(each[:4] for each in means), strict=True)
        )
        return cls(preparing, loading, running, rest, None)


def _mean(points: Sequence[Point], found: Measured) -> _Mean | None:
    known = [(point, found.costs[point.id]) for point in points if point.id in found.costs]
    if not known:
        return None
    wanted = [point.run.get("requests") for point, _ in known]
    first = next((each for each in wanted if each), None)
    running = [cost.running / _share(point, first) for point, cost in known]
    return _Mean(
        sum(cost.preparing for _, cost in known) / len(known),
        sum(cost.loading for _, cost in known) / len(known),
        sum(running) / len(known),
        sum(cost.rest for _, cost in known) / len(known),
        first,
    )


def _share(point: Point, requests: int | None) -> float:
    """Return how many times as many requests a point has."""
    mine = point.run.get("requests")
    return mine / requests if mine and requests else 1.0
