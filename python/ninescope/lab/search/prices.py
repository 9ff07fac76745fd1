"""What designs cost: it follows from their configuration, and limits that none keeps are refused at once.

Where there are too many designs to look at all of them some are drawn, and what they come to is only said.
Nothing here knows results of runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ninescope.lab.search.evaluate import Evaluator
from ninescope.lab.search.evidence import EXACT
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.goals import Constraint
from ninescope.lab.search.space import Design
from ninescope.lab.sweep.point import Point

_ALL = 1_000
"""So many designs are all looked at: a ms or so each on a small drive."""
_DRAWN = 64

Costs = Mapping[str, Mapping[str, float | None]]
"""What a design costs, by workload and by number: what it is sized for may change it."""


def priced(file: SearchFile) -> list[str]:
    """Refuse limits of cost that no design keeps; name those that none of some keeps."""
    limits = [of for of in file.goals.constraints if set(of.number.metrics) <= set(EXACT)]
    if not limits:
        return []
    size = file.space.size(file.fixed(), _ALL)
    known = list(_costs(file, file.drawn(_DRAWN) if size is None else file.space.all_designs(file.fixed())))
    doubts = []
    for of in limits:
        values = [value for costs in known if (value := _of(file, of, costs)) is not None]
        if not values or any(of.holds(value) for value in values):
            continue
        nearest = f"the cheapest comes to {_beside(of, min(values))}"
        if not of.is_upper:
            nearest = f"the dearest comes to {_beside(of, max(values))}"
        if size is not None and len(values) == len(known):
            file.refuse_goal(of, f"no design keeps {of.text}: {nearest}")
        doubts.append(f"none of {len(values)} designs that were looked at keeps {of.text}: {nearest}")
    return doubts


def _beside(of: Constraint, value: float) -> str:
    """Write a value so that it can be told from the limit."""
    written = of.number.written(value)
    return f"{value:.9g}" if written == of.number.written(of.limit) and value != of.limit else written


def _costs(file: SearchFile, designs: Iterator[Design]) -> Iterator[Costs]:
    """Yield what designs cost that can be built; each drive is looked at once."""
    evaluator = Evaluator(file, None)
    seen: dict[str, Mapping[str, float | None]] = {}
    for design in designs:
        try:
            points = evaluator.points(design)
            yield {workload: _cost(of_workload[0], seen) for workload, of_workload in points.items()}
        except ValueError:  # no such design can be built: none of its runs begins
            continue


def _cost(point: Point, seen: dict[str, Mapping[str, float | None]]) -> Mapping[str, float | None]:
    """Return what a drive costs, which a run of a single request says as well as a long one."""
    from ninescope.simulation.workload import Workload

    if point.drive.source is None:  # sized to its workload, which may take long to read
        return {}
    if point.config not in seen:
        cost = point.drive.run(Workload.job(rw="read", requests=1, size="4k"), prefill="none").cost
        seen[point.config] = {
            "cost_total": None if cost is None else cost.total,
            "cost_per_logical_gb": None if cost is None else cost.per_logical_gb,
        }
    return seen[point.config]


def _of(file: SearchFile, of: Constraint, costs: Costs) -> float | None:
    """Return the number that has to keep a limit; None where it is not known."""
    where: Sequence[str] = file.workloads if of.workload is None else (of.workload,)
    return of.number.worst(costs[workload].get(metric) for workload in where for metric in of.number.metrics)
