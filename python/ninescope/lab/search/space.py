"""Parameters of a search: what each may be, when it is there, and what lies one step aside.

A parameter is one key of a point, or several that change together. Its values are a choice of what is
listed, places of a range, or any number between two ends. Nothing here knows objectives, runs or Optuna.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from ninescope.lab.sweep.conditions import Condition, plain
from ninescope.lab.sweep.values import shown

Kind = Literal["choice", "ordered", "whole", "real"]
Raw = int | float | str
"""What an optimiser deals in: a label, a place, or a number."""
Design = dict[str, Raw]
"""Names of parameters that are there, and what they are."""
DIGITS = 4
"""Numbers between two ends are tried to so many digits: finer ones tell no designs apart."""
MANY = 10_000
"""So many designs are counted."""
STEP = 0.1
"""What one step aside is where nothing says it: a share of the range."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What may be changed."""

    name: str
    keys: tuple[str, ...]
    kind: Kind
    rows: tuple[tuple[Any, ...], ...] = ()
    """Values of the keys, of a choice or of ordered places."""
    labels: tuple[str, ...] = ()
    """What the rows are called."""
    low: float = 0.0
    high: float = 0.0
    """Ends of numbers."""
    log: bool = False
    unit: str = ""
    """Of numbers: what is written after them."""
    whole_units: bool = False
    """Numbers are whole in their unit."""
    condition: Condition | None = None
    """Without it the parameter is always there."""
    where: tuple[str | int, ...] = ()

    @property
    def count(self) -> int | None:
        """How many values there are; None where there is no saying."""
        if self.kind == "whole":
            return int(self.high) - int(self.low) + 1
        return len(self.rows) if self.rows else None

    def settings(self, raw: Raw) -> dict[str, Any]:
        """Return the keys of a point that a value sets."""
        if self.kind == "choice":
            return dict(zip(self.keys, self.rows[self.labels.index(str(raw))], strict=True))
        if self.kind == "ordered":
            return dict(zip(self.keys, self.rows[int(raw)], strict=True))
        return {self.keys[0]: self._number(raw)}

    def shown(self, raw: Raw) -> str:
        """Write a value."""
        if self.kind == "choice":
            return str(raw)
        return self.labels[int(raw)] if self.kind == "ordered" else shown(self._number(raw))

    def seen(self, raw: Raw) -> Any:
        """Return what conditions compare: the label where somebody gave one, or the value itself."""
        value = self.settings(raw)[self.keys[0]]
        is_named = self.name not in self.keys or (self.rows and self.shown(raw) != shown(value))
        return self.shown(raw) if is_named else _compared(value)

    def _number(self, raw: Raw) -> Any:
        number = self.rounded(float(raw))
        if self.kind == "whole":
            return int(number)
        if not self.unit:
            return number
        return f"{int(number) if number == int(number) else number}{self.unit}"

    def rounded(self, number: float) -> float:
        """Return the number that is tried for one that was proposed."""
        if self.kind == "whole" or self.whole_units:
            number = float(round(number))
        else:
            number = float(f"{number:.{DIGITS}g}")
        return min(max(number, self.low), self.high)

    def aside(self, raw: Raw) -> list[Raw]:
        """Return the values one step aside: the places before and after, or every other choice."""
        if self.kind == "choice":
            return [label for label in self.labels if label != raw]
        if self.kind == "ordered":
            return [place for place in (int(raw) - 1, int(raw) + 1) if 0 <= place < len(self.rows)]
        here = self.rounded(float(raw))
        if self.log:
            ratio = (self.high / self.low) ** STEP
            below, above = here / ratio, here * ratio
        else:
            step = (self.high - self.low) * STEP
            below, above = here - step, here + step
        if self.kind == "whole" or self.whole_units:
            below, above = min(below, here - 1), max(above, here + 1)
        found = dict.fromkeys(self.rounded(number) for number in (below, above))
        return [int(number) if self.kind == "whole" else number for number in found if number != here]

    def draw(self, random: Any) -> Raw:
        """Draw a value."""
        if self.kind == "choice":
            return str(random.choice(self.labels))
        if self.kind == "ordered":
            return int(random.randrange(len(self.rows)))
        if self.kind == "whole":
            return int(random.randint(int(self.low), int(self.high)))
        return self.rounded(float(random.uniform(self.low, self.high)))


@dataclasses.dataclass(frozen=True)
class Space:
    """All parameters, those before others on which the others' conditions depend."""

    parameters: tuple[Parameter, ...]

    def __getitem__(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def design(self, value: Callable[[Parameter], Raw], fixed: Mapping[str, Any]) -> Design:
        """Make a design: ask for the value of each parameter that is there.

        `fixed` are the values of keys that no parameter changes, for conditions.
        """
        found: Design = {}
        seen = dict(fixed)
        for parameter in self.parameters:
            for key in (parameter.name, *parameter.keys):
                seen.setdefault(key, None)
            if parameter.condition is None or parameter.condition.holds(seen):
                raw = value(parameter)
                found[parameter.name] = raw
                settings = parameter.settings(raw)
                seen |= {key: _compared(each) for key, each in settings.items()}
                seen[parameter.name] = parameter.seen(raw)
        return found

    def settings(self, design: Mapping[str, Raw]) -> dict[str, Any]:
        """Return the keys of points that a design sets."""
        found: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.name in design:
                found |= parameter.settings(design[parameter.name])
        return found

    def shown(self, design: Mapping[str, Raw]) -> dict[str, str]:
        """Write the values of a design, by parameter."""
        return {
            parameter.name: parameter.shown(design[parameter.name])
            for parameter in self.parameters
            if parameter.name in design
        }

    def label(self, design: Mapping[str, Raw]) -> str:
        """Write a design in a line."""
        return " ".join(f"{name}={value}" for name, value in self.shown(design).items())

    def neighbours(self, design: Mapping[str, Raw], fixed: Mapping[str, Any]) -> Iterator[tuple[str, Design]]:
        """Yield designs that differ from one in one parameter, by a step, with the parameter's name.

        What comes to be there by that takes the first of its values, or its lower end.
        """
        for parameter in self.parameters:
            if parameter.name not in design:
                continue
            for other in parameter.aside(design[parameter.name]):
                changed = {**design, parameter.name: other}
                yield (
                    parameter.name,
                    self.design(lambda each, changed=changed: changed.get(each.name, _first(each)), fixed),  # type: ignore[misc]
                )

    def size(self, fixed: Mapping[str, Any], most: int = MANY) -> int | None:
        """Count the designs there are; None where they cannot be counted, or are more than `most`."""
        product = math.prod(parameter.count or most + 1 for parameter in self.parameters)
        if product > most:
            return None
        return sum(1 for _ in self.all_designs(fixed)) if self._is_conditional else product

    @property
    def _is_conditional(self) -> bool:
        return any(parameter.condition is not None for parameter in self.parameters)

    def all_designs(self, fixed: Mapping[str, Any]) -> Iterator[Design]:
        """Yield every design of a space that can be counted."""
        yield from self._from(0, {}, fixed)

    def _from(self, index: int, chosen: Design, fixed: Mapping[str, Any]) -> Iterator[Design]:
        if index == len(self.parameters):
            design = self.design(lambda each: chosen[each.name], fixed)
            if len(design) == len(chosen):
                yield design
            return
        parameter = self.parameters[index]
        present = self._is_there(parameter, chosen, fixed)
        if not present:
            yield from self._from(index + 1, chosen, fixed)
            return
        for raw in _all_values(parameter):
            yield from self._from(index + 1, {**chosen, parameter.name: raw}, fixed)

    def _is_there(self, parameter: Parameter, chosen: Design, fixed: Mapping[str, Any]) -> bool:
        before = Space(self.parameters[: self.parameters.index(parameter) + 1])
        found = before.design(lambda each: chosen.get(each.name, _first(each)), fixed)
        return parameter.name in found


def ordered(parameters: Sequence[Parameter]) -> list[Parameter] | Parameter:
    """Put parameters behind those that their conditions ask for; return one that waits for itself."""
    left = list(parameters)
    done: list[Parameter] = []
    while left:
        waiting = {key for each in left for key in (each.name, *each.keys)}
        ready = [
            each
            for each in left
            if each.condition is None
            or not any(key in waiting - {each.name} or key == each.name for key in each.condition.keys)
        ]
        if not ready:
            return left[0]
        done += ready
        left = [each for each in left if each not in ready]
    return done


def _first(parameter: Parameter) -> Raw:
    if parameter.kind == "choice":
        return parameter.labels[0]
    if parameter.kind == "ordered":
        return 0
    return int(parameter.low) if parameter.kind == "whole" else parameter.low


def _all_values(parameter: Parameter) -> Sequence[Raw]:
    if parameter.kind == "choice":
        return parameter.labels
    if parameter.kind == "ordered":
        return range(len(parameter.rows))
    return range(int(parameter.low), int(parameter.high) + 1)


def _compared(value: Any) -> Any:
    """Return what conditions compare: of a policy with parameters, its name."""
    return value.get("policy") if isinstance(value, Mapping) else value


def is_scale(values: Sequence[Any]) -> bool:
    """Say whether listed values lie on a scale, and in its order: then neighbours are next to each other."""
    sizes = [plain(value) for value in values]
    if len(sizes) < 2 or not all(isinstance(size, tuple) for size in sizes):
        return False
    kinds = {size[0] for size in sizes}
    amounts = [size[1] for size in sizes]
    return len(kinds) == 1 and (amounts == sorted(amounts) or amounts == sorted(amounts, reverse=True))
