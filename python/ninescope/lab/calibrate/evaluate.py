"""Designs become runs, runs become errors: by how much a drive misses each figure, in logarithms."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.lab.calibrate.figures import Figure
from ninescope.lab.calibrate.file import DeviceFile
from ninescope.lab.calibrate.record import Effort
from ninescope.lab.search.space import Design
from ninescope.lab.sweep.lake import Kept
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.runner import Outcome, Runner

Misses = list[float | None]
"""Logarithms of simulated over published, one a figure; None where nothing was measured."""
Say = Callable[[str], None]
BAD = 5.0
"""What stands for a figure that was not measured: it is missed by a factor of 150."""


@dataclasses.dataclass
class Evaluator:
    """Runs designs on a runner, and counts what it takes."""

    file: DeviceFile
    runner: Runner
    say: Say
    began: float = dataclasses.field(default_factory=time.monotonic)
    new: set[str] = dataclasses.field(default_factory=set)
    """Points that were run."""
    old: set[str] = dataclasses.field(default_factory=set)
    """Points that a lake had before."""
    run_seconds: float = 0.0
    """What the runs took, those that a lake had included."""
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why a figure was not measured, by its label."""

    def misses(
        self, designs: Sequence[Mapping[str, Any]], figures: Sequence[Figure], seeds: Sequence[int]
    ) -> list[list[Misses]]:
        """Return the misses of each design with each seed; they are run side by side."""
        wanted: list[list[list[Point | None]]] = [
            [[self._point(settings, figure, seed) for figure in figures] for seed in seeds]
            for settings in designs
        ]
        points = {
            point.id: point for of_seeds in wanted for each in of_seeds for point in each if point is not None
        }
        kept: dict[str, Kept] = {}
        for outcome in self.runner.run(points.values()):
            if outcome.kept is not None:
                kept[outcome.point.id] = outcome.kept
            self._count(outcome)
            if outcome.failure is not None:
                words = outcome.failure.error.strip().splitlines()[-1]
                self._reason([f for f in figures if self._is_of(f, outcome.point)], words)
        return [
            [
                [self._miss(point, figure, kept) for point, figure in zip(each, figures, strict=True)]
                for each in of_seeds
            ]
            for of_seeds in wanted
        ]

    def _count(self, outcome: Outcome) -> None:
        """Count each point once: later asks find it in the lake."""
        if outcome.point.id in self.new | self.old:
            return
        (self.new if outcome.is_new else self.old).add(outcome.point.id)
        self.run_seconds += outcome.kept.seconds if outcome.kept is not None else 0.0

    def effort(self) -> Effort:
        """Return what it took so far."""
        seconds = time.monotonic() - self.began
        return Effort(len(self.new), len(self.old), seconds, self.run_seconds, self.runner.workers)

    def _point(self, settings: Mapping[str, Any], figure: Figure, seed: int) -> Point | None:
        try:
            return self.file.base.point(figure.case.values(settings), seed=seed)
        except ConfigError as error:
            self._reason([figure], str(error))
            return None

    def _is_of(self, figure: Figure, point: Point) -> bool:
        return self.file.base.workloads[figure.case.workload].kind == point.workload.kind

    def _reason(self, figures: Sequence[Figure], words: str) -> None:
        for figure in figures:
            self.reasons.setdefault(figure.label, " ".join(words.split()))

    def _miss(self, point: Point | None, figure: Figure, kept: Mapping[str, Kept]) -> float | None:
        if point is None or point.id not in kept:
            return None
        value = kept[point.id].metrics.get(figure.metric)
        if not isinstance(value, int | float) or not value > 0:
            self._reason([figure], "the run has no such number (a percentile needs ten requests beyond it)")
            return None
        return math.log(value / figure.value)


def cost(misses: Misses) -> float:
    """Return the sum of squares."""
    return math.fsum((BAD if miss is None else miss) ** 2 for miss in misses)


def same(one: Design, other: Design) -> bool:
    """Say whether two designs are one."""
    return dict(one) == dict(other)
