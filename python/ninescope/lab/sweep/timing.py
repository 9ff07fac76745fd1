"""How long points will take, from what a few of them were measured to take on this machine.

They are begun in as many worker processes as will run, at the same time, and their results are kept in a
lake of their own meanwhile, so that what workers and parent take from each other (processors, caches,
memory) is in what is measured. Of short points most of the time is none of a simulation: the start of this
process and of workers, preparing a drive, taking a result home, keeping it, and the table of all results at
the end are measured as well. `measured` measures, and all else is arithmetic with what it found.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import NamedTuple

from ninescope.lab import pool
from ninescope.lab.sweep import worker
from ninescope.lab.sweep.claims import Claims
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.point import Point, current_build
from ninescope.lab.sweep.prepared import OWN, PreparedDrives
from ninescope.lab.sweep.runner import kept
from ninescope.lab.sweep.worker import Done, Probed, Task

SECONDS = 1.0
"""So long is each point begun."""
ROUNDS = 2
"""So many points are begun in each worker, one after the other."""
MORE_SECONDS = 2.5
"""Until then further points are begun: of short ones many, since one of them says little about the others."""
MORE_ROUNDS = 12
"""So many of them in each worker at most."""
_GROUPS = 4
"""Points of so many workloads are begun in each worker before one workload has to stand for another."""
_UNSURE = 0.25
"""A second is not the run: it is off by so much at least, relatively."""
_UNSURE_AROUND = 0.4
"""The same of what is done once: start and end."""
_UNSTEADY = 0.4
"""Where others keep all processors busy, their load may be so much more, or less, during the run."""
_ROUGH = 0.5
"""The same where a second did not come to the run itself."""
_GOLDEN = (math.sqrt(5) - 1) / 2
_ERRORS = 2.0
"""So many standard errors of the mean of what was measured are allowed for."""


class Span(NamedTuple):
    """A time, and between which it probably lies [s]."""

    likely: float
    low: float
    high: float

    def around(self, seconds: float) -> Span:
        """Return it with what is done once, before and after it."""
        return Span(
            self.likely + seconds,
            self.low + seconds * (1 - _UNSURE_AROUND),
            self.high + seconds * (1 + _UNSURE_AROUND),
        )

    def beside_others(self, unsteady: float) -> Span:
        """Return it where the load of others may make all of it so much longer, relatively, or shorter."""
        return Span(self.likely, self.low / (1 + unsteady), self.high * (1 + unsteady))


@dataclasses.dataclass(frozen=True)
class Measured:
    """What was measured."""

    startup: float
    """From no worker to all of them ready [s]."""
    costs: Mapping[str, Probed]
    """Of the points that were begun, by their names."""
    workers: int
    """So many ran at the same time."""
    keeping: float = 0.0
    """What this process does with the result of a point, beside the workers [s]."""
    ending: float = 0.0
    """The table of the results that were kept here [s]."""
    reading: float = 0.0
    """What one more result adds to it [s]."""
    unsteady: float = 0.0
    """How much longer all may take under another load of the machine, relatively."""

    def around(self, points: int) -> float:
        """Return what is done once, before and after so many points [s]."""
        return self.startup + self.ending + self.reading * max(0, points - len(self.costs))


def measured(
    points: Sequence[Point],
    workers: int,
    drives: PreparedDrives | None = None,
    further: Iterable[Point] = (),
) -> Measured:
    """Begin points for a second each, so many at a time as will be run; `drives` says which are kept.

    As long as these take little, `further` ones follow them.
    """
    count = max(1, min(workers, len(points)))
    more = itertools.islice(further, MORE_ROUNDS * count)
    unsteady = unsteadiness()
    with tempfile.TemporaryDirectory() as folder, pool.local(count) as given:
        began = time.perf_counter()
        given.on_each(worker.ready, current_build())
        startup = time.perf_counter() - began
        lake = Lake.open(Path(folder, "lake"), create=True)

        def begin(point: Point) -> Future[Probed]:
            is_kept = drives is not None and drives.key(point) is not None
            return given.submit(worker.probe, Task.of(point, prepared=OWN if is_kept else None), SECONDS)

        costs, keeping = _begun(points, more, begin, lake)
        ending, reading = _end(lake)
    return Measured(startup, costs, count, keeping, ending, reading, unsteady)


def _begun(
    points: Sequence[Point], more: Iterator[Point], begin: Callable[[Point], Future[Probed]], lake: Lake
) -> tuple[dict[str, Probed], float]:
    """Begin points, keep what they come to, and return what they take, and what keeping one takes [s]."""
    costs: dict[str, Probed] = {}
    keeping = 0.0
    began = time.perf_counter()
    with Claims(lake.store) as claims:
        under_way = {begin(point): point for point in points}
        while under_way:
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                point, probed = under_way.pop(future), future.result()
                keeping += _keep(lake, claims, point, probed.answer)
                costs[point.id] = probed._replace(answer=None)
                if time.perf_counter() - began < MORE_SECONDS:
                    under_way |= {begin(another): another for another in itertools.islice(more, 1)}
    return costs, keeping / max(1, len(costs))


def _keep(lake: Lake, claims: Claims, point: Point, answer: Done | None) -> float:
    """Do with an answer what a runner does; return how long that takes [s]."""
    began = time.perf_counter()
    claims.take(point.id)
    if answer is not None:
        lake.put(kept(point, answer))
    claims.tell(())
    return time.perf_counter() - began


def _end(lake: Lake) -> tuple[float, float]:
    """Make the table of a lake; return how long that takes, and what each of its results adds to it [s]."""
    from ninescope.lab.sweep.dataset import refreshed

    began = time.perf_counter()
    points = refreshed(lake)["point"].to_list()
    ending = time.perf_counter() - began
    began = time.perf_counter()
    for point in points:
        lake.get(point)
    return ending, (time.perf_counter() - began) / max(1, len(points))


def unsteadiness() -> float:
    """Return how much longer what is measured now may take later, relatively, for the load of others."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return _UNSTEADY * min(1.0, load / pool.processors())


def age() -> float:
    """Return how long this process has been running [s], its start included where the system tells it."""
    try:
        after_name = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        return max(0.0, uptime - int(after_name[19]) / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return time.process_time()


def sample(points: Sequence[Point], workers: int) -> list[Point]:
    """Choose points to begin: of each workload some that lie apart, and enough to keep all workers busy."""
    groups = sorted(_by_workload(points).values(), key=len, reverse=True)
    count = max(1, min(workers, len(points)))
    wanted = min(len(points), max(ROUNDS * count, min(len(groups), _GROUPS * count)))
    each = math.ceil(wanted / len(groups))
    chosen = [[group[place] for place in _spread(len(group), each)] for group in groups]
    in_turn = [point for row in itertools.zip_longest(*chosen) for point in row if point is not None]
    return in_turn[:wanted]


def further(points: Sequence[Point], begun: Sequence[Point]) -> list[Point]:
    """Return the other points, in an order in which those that follow each other lie apart."""
    known = {point.id for point in begun}
    left = [point for point in points if point.id not in known]
    # Steps of the golden section reach all places, and no two that follow each other are neighbours.
    return [left[at] for at in sorted(range(len(left)), key=lambda at: at * _GOLDEN % 1)]


def span(costs: Sequence[float], workers: int, error: float, keeping: float = 0.0) -> Span:
    """Return how long points take that are given to workers as these become free.

    Whoever has them in whatever order needs no less than the sum over the workers, or the longest, and no
    more than the sum and what is left of the longest: Graham, "Bounds on multiprocessing timing anomalies",
    SIAM Journal on Applied Mathematics 17(2), 1969. `error` is how far costs are off, relatively. What the
    parent does to keep the result of each takes its time at least; at most none of it is done while workers
    are at work, as where there is no processor left for it.
    """
    if not costs:
        return Span(0.0, 0.0, 0.0)
    count = max(1, min(workers, len(costs)))
    even, longest = sum(costs) / count, max(costs)
    serial = keeping * len(costs)
    least, most = max(even, longest, serial), even + longest * (1 - 1 / count) + serial
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
        costs.append(mean.of(point) - mean.preparing)
        if key not in prepared_for:
            costs[-1] += mean.preparing
        if key is not None:
            costs[-1] += mean.loading
            prepared_for.add(key)
    return costs


def error_of(points: Sequence[Point], found: Measured) -> float:
    """Return how far the sum of costs may be off, relatively: by what those that were begun differ."""
    groups = list(_by_workload(points).values())
    known = {id(group): _mean(group, found) for group in groups}
    errors = [_error_within(group, found, mean) for group in groups if (mean := known[id(group)])]
    rough = any(cost.is_rough for cost in found.costs.values())
    unknown = [group for group in groups if known[id(group)] is None]
    between = _error_between([mean.whole for mean in known.values() if mean], len(unknown))
    share = sum(map(len, unknown)) / max(1, len(points))
    return max(_ROUGH if rough else _UNSURE, *errors, 0.0) + between * share


def _error_within(points: Sequence[Point], found: Measured, mean: _Mean) -> float:
    """Return how far the sum over points of a workload may be off: what was begun of them, and the model."""
    pairs = [(found.costs[point.id].whole, mean.of(point)) for point in points if point.id in found.costs]
    if len(pairs) < 2:
        return 0.0
    spread = math.sqrt(sum((cost - guess) ** 2 for cost, guess in pairs) * len(pairs) / (len(pairs) - 1))
    whole = sum(guess for _, guess in pairs)
    return _ERRORS * spread / whole if whole > 0 else 0.0


def _error_between(means: Sequence[float], unknown: int) -> float:
    """Return how far the mean of workloads that were begun may be off from that of so many others."""
    if not unknown:
        return 0.0
    if len(means) < 2:
        return _ROUGH
    # The standard error of the difference of two means.
    return _ERRORS * _relative_error(means) * math.sqrt(1 + len(means) / unknown)


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

    @property
    def whole(self) -> float:
        """All that a point takes that prepares its own drive."""
        return self.preparing + self.running + self.rest

    def of(self, point: Point) -> float:
        """Return the same of a point that may have another number of requests."""
        return self.preparing + self.rest + self.running * _share(point, self.requests)

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
    # Of short runs little is in their requests: the long ones among them say what a request takes.
    running = sum(cost.running for _, cost in known) / sum(_share(point, first) for point, _ in known)
    return _Mean(
        sum(cost.preparing for _, cost in known) / len(known),
        sum(cost.loading for _, cost in known) / len(known),
        running,
        sum(cost.rest for _, cost in known) / len(known),
        first,
    )


def _share(point: Point, requests: int | None) -> float:
    """Return how many times as many requests a point has."""
    mine = point.run.get("requests")
    return mine / requests if mine and requests else 1.0
