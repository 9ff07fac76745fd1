"""What figures say of parameters that are no numbers: which of their other values meet them as well.

A value meets the figures as well if, with everything else fitted anew, the sum of squares is above that of
the fit by no more than a number would raise it at the end of its 95 % interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ninescope.lab.calibrate.file import DeviceFile, middle
from ninescope.lab.calibrate.fit import Fit, Tried, is_smooth, place_of
from ninescope.lab.calibrate.linear import NORMAL
from ninescope.lab.calibrate.record import Other
from ninescope.lab.search.space import Design, Parameter, Raw

Half = Callable[[str], float | None]
"""Half the width of a number's interval, in places; None where it has none."""


def values_of(parameter: Parameter) -> list[Raw]:
    """Return all values of a parameter that is no number, in their order."""
    if parameter.kind == "choice":
        return list(parameter.labels)
    if parameter.kind == "ordered":
        return list(range(len(parameter.rows)))
    return list(range(int(parameter.low), int(parameter.high) + 1))


class Choices:
    """The values that a fit did not choose, each tried in its place."""

    def __init__(self, file: DeviceFile, fit: Fit, best: Tried, sigma: float, half: Half) -> None:
        self._file, self._fit, self._best, self._half = file, fit, best, half
        self._enough = best.cost + (NORMAL * sigma) ** 2
        self._count = sum(figure.use == "fit" for figure in file.figures)

    def all(self) -> dict[str, tuple[Other, ...]]:
        """Return what the other values come to, by the name of the parameter."""
        return {
            parameter.name: tuple(self._others(parameter))
            for parameter in self._file.space.parameters
            if parameter.name in self._best.design and not is_smooth(parameter)
        }

    def _others(self, parameter: Parameter) -> Iterator[Other]:
        """Try every other choice; on a scale those around the fit that meet the figures, and the next."""
        values = values_of(parameter)
        here = values.index(self._best.design[parameter.name])
        sides = [values[:here][::-1], values[here + 1 :]]
        found: dict[Raw, Other] = {}
        for side in sides:
            for value in side:
                found[value] = self._other(parameter, value)
                if parameter.kind != "choice" and not found[value].is_alike:
                    break
        yield from (found[value] for value in values if value in found)

    def _other(self, parameter: Parameter, value: Raw) -> Other:
        swapped = {**self._best.design, parameter.name: value}
        between = middle(self._file)
        design = self._file.space.design(
            lambda each: swapped.get(each.name, between.get(each.name, _first(each))), self._file.fixed()
        )
        found = self._fit.held(design, parameter.name, self._enough)
        error = None if None in found.misses else math.expm1(math.sqrt(found.cost / self._count))
        is_alike = found.cost <= self._enough
        moved = tuple(self._moved(parameter, found.design)) if is_alike else ()
        return Other(parameter.shown(value), is_alike, error, moved)

    def _moved(self, parameter: Parameter, design: Design) -> Iterator[tuple[str, str]]:
        """Yield what else is another then: numbers beyond their intervals, and other choices."""
        for each in self._file.space.parameters:
            if each is parameter or each.name not in design or each.name not in self._best.design:
                continue
            before, after = self._best.design[each.name], design[each.name]
            half = self._half(each.name)
            if half is None:
                is_moved = before != after
            else:
                is_moved = abs(place_of(each, after) - place_of(each, before)) > half
            if is_moved:
                yield each.name, each.shown(after)


def _first(parameter: Parameter) -> Raw:
    return parameter.low if is_smooth(parameter) else values_of(parameter)[0]
