"""A design that was tried, and what became of it. Nothing here knows who proposed it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ninescope.lab.search.evidence import is_measured
from ninescope.lab.search.goals import Constraint, Goals, Number, Objective
from ninescope.lab.search.space import Design
from ninescope.lab.sweep.lake import Kept

FULL = "full"
"""Run in full on all workloads."""
PRUNED = "pruned"
"""A short run showed enough."""
REFUSED = "refused"
"""No such drive can be built, or it cannot be run."""
UNLIMITED = "unlimited"
"""How a lifetime without limit is written down."""

Metrics = Mapping[str, float | int | None]
ByWorkload = Mapping[str, Metrics]
Runs = Mapping[str, Sequence[Kept]]
"""By workload one run for each seed."""


@dataclasses.dataclass
class Trial:
    """A design, the numbers of its run on each workload, and the verdict."""

    number: int
    design: Design
    state: str = ""
    reason: str = ""
    """Why it was pruned or refused."""
    metrics: dict[str, dict[str, float | int | None]] = dataclasses.field(default_factory=dict)
    """By workload; of a pruned one, of its short run."""
    points: dict[str, str] = dataclasses.field(default_factory=dict)
    """The designs (`Point.design`) of these runs, by workload."""
    same_as: int | None = None
    """An earlier trial of the same design."""
    requests: int = 0
    """Requests that were simulated for it, short runs included."""
    short_runs: Runs = dataclasses.field(default_factory=dict, repr=False, compare=False)
    full_runs: Runs = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """Its runs, while others may be compared with it. They are large, and in the lake: no record has them."""

    def objective(self, of: Objective) -> float | None:
        """Return the value of an objective: of the worst workload, or of the one that is named."""
        found = [value_of(of.number, metrics) for metrics in _chosen(self.metrics, of.workload)]
        if not found or any(value is None for value in found):
            return None
        pick = max if of.direction == "minimise" else min
        return pick(value for value in found if value is not None)

    def bounded(self, of: Constraint) -> float | None:
        """Return the value that is furthest beyond a constraint, or nearest to its limit."""
        found = [value_of(of.number, metrics) for metrics in _chosen(self.metrics, of.workload)]
        if not found or any(value is None for value in found):
            return None
        pick = max if of.is_upper else min
        return pick(value for value in found if value is not None)

    def values(self, goals: Goals) -> list[float] | None:
        """Return all objectives, of which less is better; None where one was not measured."""
        found = [self.objective(of) for of in goals.objectives]
        if any(value is None for value in found):
            return None
        return [
            of.oriented(value) for of, value in zip(goals.objectives, found, strict=True) if value is not None
        ]

    def is_feasible(self, goals: Goals) -> bool:
        """Say whether it was run in full, and keeps all constraints."""
        return self.state == FULL and all(of.holds(self.bounded(of)) for of in goals.constraints)

    def forget_runs(self) -> None:
        """Let go of what only comparisons with one of the best need."""
        self.short_runs, self.full_runs = {}, {}

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        fields = [each.name for each in dataclasses.fields(self) if not each.name.endswith("_runs")]
        stored: dict[str, Any] = {name: getattr(self, name) for name in fields}
        stored["metrics"] = {
            workload: {name: UNLIMITED if value == math.inf else value for name, value in metrics.items()}
            for workload, metrics in self.metrics.items()
        }
        return stored

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Trial:
        """Read what `as_json` made."""
        metrics = {
            workload: {name: math.inf if value == UNLIMITED else value for name, value in each.items()}
            for workload, each in stored["metrics"].items()
        }
        return cls(**{**stored, "metrics": metrics})


def value_of(number: Number, metrics: Metrics) -> float | None:
    """Return a number of one run; of several operations the worst of those that there were."""
    found = [metrics.get(metric) for metric in number.metrics if is_measured(metric, metrics)]
    return number.worst([None if value is None else float(value) for value in found])


def _chosen(metrics: ByWorkload, workload: str | None) -> list[Metrics]:
    return (
        [metrics[workload]]
        if workload in metrics and workload is not None
        else (list(metrics.values()) if workload is None else [])
    )
