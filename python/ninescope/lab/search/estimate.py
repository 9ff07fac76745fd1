"""What a search will take, before it runs: time and memory, as the estimate of a sweep has them of points.

Which designs will be tried nobody knows: some are drawn at random, and a few of their runs are begun. Nothing
is kept of them.
"""

from __future__ import annotations

import dataclasses

from ninescope._native import ConfigError
from ninescope.lab.search.evaluate import Evaluator
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.space import Design
from ninescope.lab.sweep import estimate as of_sweeps
from ninescope.lab.sweep import timing
from ninescope.lab.sweep.plan import Plan
from ninescope.lab.sweep.timing import Span

SIZED = 8
"""So many designs are drawn to see what memory they take."""
_ATTEMPTS = 64
_OTHER_DESIGNS = 0.5
"""By so much, relatively, the designs that are tried may take longer than the one that was begun."""
_NOTHING = Plan("", "", (), (), 0, 0, 0)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a search will take from its beginning to its end."""

    runs: int
    """At most, as long as no neighbour turns out to be better."""
    seconds: Span | None
    """On so many workers, if nothing is pruned; None where nothing was begun."""
    begun: int
    """How many runs were begun for that."""
    workers: int
    worker_bytes: int
    """What the largest of the drawn designs takes [B]."""
    all_bytes: int
    """What the largest of them take that may run at once [B]."""


def estimate(file: SearchFile, workers: int, *, probe: bool = True, before: float = 0.0) -> Estimate:
    """Estimate what a search takes on so many workers, and `before` it [s]: see that of sweeps."""
    evaluator = Evaluator(file, None)
    drawn = _drawn(file, evaluator)
    sizes = of_sweeps.estimate(
        _NOTHING,
        [point for design in drawn for points in evaluator.points(design).values() for point in points],
        workers,
        probe=False,
    )
    tried = tries(file)
    first = drawn[0]
    after = file.final.seeds * (
        file.final.candidates + sum(1 for _ in file.space.neighbours(first, file.fixed()))
    )
    short = tried * file.pruning.seeds if file.pruning.short else 0
    each = len(file.workloads)
    seconds, begun = None, 0
    if probe:
        full = [points[0] for points in evaluator.points(first).values()]
        brief = [points[0] for points in evaluator.points(first, short=True).values()] if short else []
        at_once = min(workers, file.batch * each)
        found = timing.measured([*full, *brief], at_once)
        # Searches prepare each drive anew.
        costs = [found.costs[point.id].whole for point in full] * (tried + after)
        costs += [found.costs[point.id].whole for point in brief] * short
        seconds = timing.span(costs, at_once, _OTHER_DESIGNS, found.keeping)
        seconds = seconds.around(before + found.around(len(costs))).beside_others(found.unsteady)
        begun = len(full) + len(brief)
    return Estimate(
        (short + tried + after) * each, seconds, begun, workers, sizes.worker_bytes, sizes.all_bytes
    )


def tries(file: SearchFile) -> int:
    """Return how many designs are tried: all, where there are no more than that."""
    size = file.space.size(file.fixed())
    return file.trials if size is None else min(size, file.trials)


def _drawn(file: SearchFile, evaluator: Evaluator) -> list[Design]:
    """Draw designs that can be built, at least one."""
    found: list[Design] = []
    problem: ConfigError | None = None
    for design in file.drawn(_ATTEMPTS):
        try:
            for points in evaluator.points(design).values():
                of_sweeps.needs_of(points[0])
        except ConfigError as error:
            problem = error
            continue
        found.append(design)
        if len(found) == SIZED:
            break
    if not found and problem is not None:
        raise problem
    return found
