"""The fit: designs that the search's optimiser proposes, then steps from the best of them (Gauss and Newton).

What is found depends on the file, its seed and the results: who runs the points changes nothing, and a fit
that was interrupted takes its runs from the lake.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ninescope._native import ConfigError
from ninescope.lab.calibrate.evaluate import Evaluator, Misses, cost
from ninescope.lab.calibrate.file import DeviceFile, middle
from ninescope.lab.search.optimiser import Optimiser
from ninescope.lab.search.space import Design, Parameter

STEP = 0.04
"""Slopes are taken over so much of a parameter's range to either side."""
DAMPINGS = (1e-3, 3e-2, 0.3, 3.0)
"""Steps that are tried at once: nearly the whole one, and shorter ones."""
GAIN = 0.01
"""A step that takes less than this share of the sum of squares away is the last."""
STARTS = 3
"""From so many of the best designs steps are taken: the nearest valley need not be the deepest."""
GOOD_ENOUGH = 1e-6
"""A sum of squares below which nothing is left to fit: a thousandth a figure."""
FINE = 16
"""Whole numbers with so many values and more are taken for any number."""
_SEED = 1

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Tried:
    """A design, and what it came to."""

    design: Design
    misses: Misses

    @property
    def cost(self) -> float:
        """The sum of squares."""
        return cost(self.misses)


def is_smooth(parameter: Parameter) -> bool:
    """Say whether steps of any size can be taken."""
    return parameter.kind == "real" or (parameter.kind == "whole" and parameter.high - parameter.low >= FINE)


def place_of(parameter: Parameter, raw: object) -> float:
    """Return where a value lies between the ends, from 0 to 1."""
    value, low, high = float(str(raw)), parameter.low, parameter.high
    if parameter.log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def value_at(parameter: Parameter, place: float) -> float | int:
    """Return the value at a place."""
    low, high, place = parameter.low, parameter.high, min(max(place, 0.0), 1.0)
    number = low * (high / low) ** place if parameter.log else low + (high - low) * place
    number = parameter.rounded(number)
    return int(number) if parameter.kind == "whole" else number


class Fit:
    """A fit under way."""

    def __init__(self, file: DeviceFile, evaluator: Evaluator) -> None:
        self._file, self._evaluator = file, evaluator
        self._figures = [figure for figure in file.figures if figure.use == "fit"]
        self.tried: list[Tried] = []

    def best(self) -> Tried:
        """Return the design that meets the figures best."""
        self._propose()
        for start in sorted(self.tried, key=lambda tried: tried.cost)[:STARTS]:
            self._descend(start)
        self._refuse_unmeasured()
        return self.top

    def again(self) -> Tried:
        """Take steps from the best design that was tried since, and return the best."""
        self._descend(self.top)
        return self.top

    def held(self, design: Design, name: str, enough: float) -> Tried:
        """Return the best design with one value held; a sum of squares that is enough ends the steps."""

        def best() -> Tried:
            same = (tried for tried in self.tried if tried.design.get(name) == design[name])
            return min(same, key=lambda tried: tried.cost)

        known = next((tried for tried in self.tried if tried.design == design), None)
        starts = [known or self._run([design])[0], best()]
        for start in starts if starts[0] is not starts[1] else starts[:1]:
            found = self._descend(start, held=name, enough=enough)
            if found.cost <= enough:
                return found
        return best()

    def _descend(self, here: Tried, held: str = "", enough: float = 0.0) -> Tried:
        """Take steps for as long as they lead down; one parameter may be held."""
        for round_ in range(self._file.rounds):
            if here.cost <= max(enough, GOOD_ENOUGH):
                break
            before = here.cost
            here = min([here, *self._newton(here)], key=lambda tried: tried.cost)
            here = min([here, *self._aside(here, held)], key=lambda tried: tried.cost)
            holding = f" with {name_held(self._file, here, held)}" if held else ""
            self._evaluator.say(f"step {round_ + 1}{holding}: root mean square error {self._share(here):.2%}")
            if here.cost > before * (1 - GAIN):
                break
        return here

    def _refuse_unmeasured(self) -> None:
        """Refuse a figure that no design came to: more of them would not either."""
        for index, figure in enumerate(self._figures):
            if all(tried.misses[index] is None for tried in self.tried):
                reason = self._evaluator.reasons.get(figure.label, "no design that was tried has it")
                raise self._file.refuse(f"{figure.label} cannot be measured: {reason}", *figure.where)

    def _share(self, tried: Tried) -> float:
        return math.expm1(math.sqrt(tried.cost / len(self._figures)))

    @property
    def top(self) -> Tried:
        """The best design that was tried so far."""
        return min(self.tried, key=lambda tried: tried.cost)

    def _run(self, designs: Sequence[Design]) -> list[Tried]:
        settings = [self._file.settings(design) for design in designs]
        found = [
            Tried(design, misses[0])
            for design, misses in zip(
                designs, self._evaluator.misses(settings, self._figures, (_SEED,)), strict=True
            )
        ]
        self.tried += found
        return found

    def _propose(self) -> None:
        file = self._file
        with Optimiser(
            None, file.space, file.fixed(), directions=["minimise"], sampler="tpe", seed=file.seed
        ) as optimiser:
            number = 0
            while number < file.trials:
                count = min(file.batch, file.trials - number)
                designs = [
                    optimiser.ask(number + each, middle(file) if number + each == 0 else None)
                    for each in range(count)
                ]
                for each, tried in enumerate(self._run(designs)):
                    optimiser.tell(number + each, [tried.cost], [])
                number += count
                self._refuse_unmeasured()
                self._evaluator.say(
                    f"{number} of {file.trials} designs: root mean square error {self._share(self.top):.1%}"
                )

    def _newton(self, from_: Tried) -> list[Tried]:
        """Try steps that slopes propose, all from one design."""
        smooth = [
            each for each in self._file.space.parameters if is_smooth(each) and each.name in from_.design
        ]
        if not smooth or None in from_.misses:
            return []
        designs, spans = [], []
        for parameter in smooth:
            low, high = beside(parameter, from_.design)
            designs += [low, high]
            spans.append(place_of(parameter, high[parameter.name]) - place_of(parameter, low[parameter.name]))
        found = self._run(designs)
        columns = []
        for index, span in enumerate(spans):
            low_, high_ = found[2 * index].misses, found[2 * index + 1].misses
            if None in low_ or None in high_ or span <= 0:
                columns.append(np.zeros(len(self._figures)))
            else:
                columns.append((np.array(high_, float) - np.array(low_, float)) / span)
        steps = newton_steps(np.array(columns).T, np.array(from_.misses, float))
        further = [stepped(from_.design, smooth, step) for step in steps]
        return [*found, *self._run(distinct(further, self.tried))]

    def _aside(self, from_: Tried, held: str = "") -> list[Tried]:
        """Try the neighbours of whatever is no number."""
        designs = [
            design
            for name, design in self._file.space.neighbours(from_.design, self._file.fixed())
            if name != held and not is_smooth(self._file.space[name])
        ]
        return self._run(distinct(designs, self.tried))


def name_held(file: DeviceFile, tried: Tried, name: str) -> str:
    """Write the value that is held."""
    return f"{name}={file.space[name].shown(tried.design[name])}"


def beside(parameter: Parameter, design: Design, step: float = STEP) -> tuple[Design, Design]:
    """Return the designs a little below and above in one parameter; at an end one of them is the design."""
    place = place_of(parameter, design[parameter.name])
    low, high = max(0.0, place - step), min(1.0, place + step)
    return (
        {**design, parameter.name: value_at(parameter, low)},
        {**design, parameter.name: value_at(parameter, high)},
    )


def newton_steps(slopes: Array, misses: Array) -> list[Array]:
    """Return the steps that take misses away if slopes hold, by Levenberg's and Marquardt's dampings."""
    square = slopes.T @ slopes
    found = []
    for damping in DAMPINGS:
        damped = square + damping * (np.diag(np.diag(square)) + 1e-3 * np.eye(len(square)))
        found.append(-np.linalg.solve(damped + 1e-9 * np.eye(len(square)), slopes.T @ misses))
    return found


def stepped(design: Design, parameters: Sequence[Parameter], step: Array) -> Design:
    """Return a design after a step."""
    found = dict(design)
    for parameter, far in zip(parameters, step, strict=True):
        place = place_of(parameter, design[parameter.name]) + float(far)
        found[parameter.name] = value_at(parameter, place)
    return found


def distinct(designs: Sequence[Design], tried: Sequence[Tried]) -> list[Design]:
    """Leave out what was tried, and what is there twice."""
    found: list[Design] = []
    for design in designs:
        if design not in found and all(design != each.design for each in tried):
            found.append(design)
    return found


def refuse_without_optimiser() -> None:
    """Say what is missing before anything is run."""
    from ninescope.lab.search.optimiser import optuna

    optuna()


__all__ = ["STEP", "ConfigError", "Fit", "Tried", "beside", "is_smooth", "place_of", "value_at"]
