"""Search files: what stands in them, checked as far as it can be without running anything."""

from __future__ import annotations

import dataclasses
import os
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.kinds import SEARCH
from ninescope.lab.search.goals import (
    Constraint,
    Direction,
    Goals,
    Objective,
    constraint,
    contradiction,
    objective,
)
from ninescope.lab.search.space import Design, Kind, Parameter, Space, is_scale, ordered
from ninescope.lab.sweep.base import WORKLOAD, Base, KeyProblemError, of_drive, of_workload
from ninescope.lab.sweep.conditions import Condition
from ninescope.lab.sweep.estimate import CHECK_SECONDS, needs_of
from ninescope.lab.sweep.file import SEED, Reader, as_read, document_of, path_of, said, text_of_kind
from ninescope.lab.sweep.lines import line_of
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.values import UNITS, is_range, number_and_unit, shown

Sampler = Literal["tpe", "nsga2"]
SAMPLERS: tuple[Sampler, ...] = ("tpe", "nsga2")
KEYS = (
    "name", "summary", "drive", "workload", "run", "parameters", "zip", "minimise", "maximise",
    "constraints", "trials", "batch", "sampler", "seed", "pruning", "final",
)  # fmt: skip
PRUNING = ("short", "level", "margin", "seeds")
FINAL = ("seeds", "candidates", "choose", "steps")
KNEE = "knee"
_TABLE_WORDS = ("choices", "labels", "from", "to", "step", "count", "log", "if")
_TEXTS = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_DRAWN = 40
"""So many designs are drawn to see whether a value can be part of one."""


@dataclasses.dataclass(frozen=True)
class Pruning:
    """When a design is not run in full."""

    short: float = 0.1
    """The share of the requests that is run first; 0: everything is run in full."""
    level: float = 0.99
    """What the intervals of short runs cover."""
    margin: float = 0.1
    """By how much, relatively, an interval has to lie beyond a limit: a short run is not a long one."""
    seeds: int = 1
    """Of a short run; with three and more all numbers have intervals, not latencies alone."""


@dataclasses.dataclass(frozen=True)
class Final:
    """What is done with the designs that are left at the end."""

    seeds: int = 3
    """So often each is run, with seeds of its own."""
    candidates: int = 5
    """So many are looked at."""
    choose: str = KNEE
    """Which of them is the answer: the knee of the front, or the best by one objective."""
    steps: int = 3
    """So often the answer makes place for a neighbour that is shown to be better."""


@dataclasses.dataclass(frozen=True)
class SearchFile:
    """A search as it is written."""

    name: str
    summary: str
    base: Base
    space: Space
    goals: Goals
    trials: int = 60
    batch: int = 4
    """So many designs are asked for at once; none of them knows of the others."""
    sampler: Sampler = "tpe"
    seed: int = 1
    pruning: Pruning = dataclasses.field(default_factory=Pruning)
    final: Final = dataclasses.field(default_factory=Final)
    path: str = ""
    text: str = dataclasses.field(default="", repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SearchFile:
        """Read a search file. What is wrong is named by file, line and key."""
        return cls.parse(*text_of_kind(path, SEARCH, "search file"))

    @classmethod
    def parse(cls, text: str, path: str = "search", folder: str | os.PathLike[str] = ".") -> SearchFile:
        """Take a search written as TOML; relative paths in it start at `folder`."""
        return cls._checked(SearchReader(path, text, Path(folder)).search(document_of(text, path)))

    @classmethod
    def of(cls, document: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> SearchFile:
        """Take a search as the values that its TOML would be read to; what is wrong is named by its key."""
        return cls._checked(SearchReader("search", "", Path(folder)).search(as_read(document)))

    @classmethod
    def _checked(cls, found: SearchFile) -> SearchFile:
        found.check()
        return found

    @property
    def workloads(self) -> tuple[str, ...]:
        """Return the names of the workloads that every design is run on."""
        return tuple(self.base.workloads)

    def fixed(self) -> dict[str, Any]:
        """Return what is set for all designs, for conditions."""
        values = self.base.values(self.workloads[0])
        return {key: value for key, value in values.items() if key != WORKLOAD}

    def drawn(self, count: int) -> Iterator[Design]:
        """Draw designs at random, the same ones each time."""
        generator = random.Random(0)  # noqa: S311
        for _ in range(count):
            yield self.space.design(lambda each: each.draw(generator), self.fixed())

    def check(self) -> None:
        """Refuse values that no design can have: each has to be part of one that can be built."""
        random_ = random.Random(0)  # noqa: S311
        until = time.monotonic() + CHECK_SECONDS
        for parameter in self.space.parameters:
            for value in _ends(parameter):
                self._check_value(parameter, value, random_, until)

    def _check_value(self, parameter: Parameter, value: Any, random_: random.Random, until: float) -> None:
        problem: KeyProblemError | None = None
        for _ in range(_DRAWN):
            design = self.space.design(
                lambda each: value if each.name == parameter.name else each.draw(random_), self.fixed()
            )
            if parameter.name not in design:
                continue
            try:
                point = self.base.point(self.space.settings(design))
                if time.monotonic() < until:
                    _ask_engine(point, parameter)
                return
            except KeyProblemError as error:
                # What is wrong with the key itself says more than what another key makes of it.
                problem = error if problem is None or error.key in parameter.keys else problem
                if error.key in parameter.keys and "is no" in error.problem:
                    break
        if problem is None:
            condition = parameter.condition.text if parameter.condition else ""
            self._refuse(f"is never there: {condition!r} holds for no design", *parameter.where)
        owner = next((each for each in self.space.parameters if problem.key in each.keys), None)
        if owner is not None and owner is not parameter:
            self._refuse(problem.problem, *owner.where)
        told = f"{problem.key}: " if problem.key and owner is None else ""
        self._refuse(f"{parameter.shown(value)}: {told}{problem.problem}", *parameter.where)

    def refuse_goal(self, of: Objective | Constraint, problem: str) -> NoReturn:
        """Refuse an objective or a constraint where it stands."""
        key = of.direction if isinstance(of, Objective) else "constraints"
        raise ConfigError(_said_of(self.path, self.text, key, of.text, problem))

    def refuse_workload(self, workload: str, message: str) -> NoReturn:
        """Refuse a workload where it stands, for what the engine has against it."""
        word, problem = of_workload(message)
        self._refuse(problem if word else f"{workload}: {problem}", *self.base.place_of(workload, word))

    def _refuse(self, problem: str, *where: str | int) -> NoReturn:
        raise ConfigError(said(self.path, self.text, problem, where))


def _said_of(path: str, text: str, key: str, written: object, problem: str) -> str:
    """Write an error with the line of a text in a list, which may be many lines long."""
    first = line_of(text, key)
    for number, line in enumerate(text.splitlines()[max(0, first - 1) :], max(1, first)):
        texts = (" ".join((one or other).split()) for one, other in _TEXTS.findall(line))
        if isinstance(written, str) and " ".join(written.split()) in texts:
            return f"{path}, line {number}: {key}: {problem}"
    return said(path, text, problem, (key,))


def _ask_engine(point: Point, parameter: Parameter) -> None:
    """Have the engine look at a drive; refuse what it finds wrong with a parameter's own keys."""
    try:
        needs_of(point)
    except ConfigError as error:
        key, problem = of_drive(str(error))
        if key in parameter.keys:
            raise KeyProblemError(key, problem.removeprefix(f"{key} ").removeprefix(f"{key}: ")) from None


def _ends(parameter: Parameter) -> Sequence[Any]:
    """Return the values that are checked: all that are listed, and the ends of the others."""
    if parameter.kind == "choice":
        return parameter.labels
    if parameter.kind == "ordered":
        return range(len(parameter.rows))
    return (parameter.low, parameter.high)


class SearchReader(Reader):
    """Turns a document into a search, and knows on which line a key stands."""

    def search(self, document: Mapping[str, Any]) -> SearchFile:
        """Read the document."""
        for key in document:
            if key not in KEYS:
                self._refuse(f"is no key of a search{did_you_mean(key, KEYS)}", key)
        try:
            base = Base.of(document, self._folder)
        except KeyProblemError as error:
            self._refuse(error.problem, *path_of(error.key))
        workloads = tuple(base.workloads)
        objectives = self._objectives(document, workloads)
        sampler = document.get("sampler", "tpe")
        if sampler not in SAMPLERS:
            self._refuse(f"{sampler!r} is no sampler{did_you_mean(str(sampler), SAMPLERS)}", "sampler")
        found = SearchFile(
            self._name(document),
            self._text_of(document, "summary"),
            base,
            self._space(document, base),
            Goals(objectives, self._constraints(document, workloads)),
            self._count(document, "trials", 60),
            self._count(document, "batch", 4),
            sampler,
            self._count(document, "seed", 1, least=0),
            self._pruning(document.get("pruning", {})),
            self._final(document.get("final", {}), objectives),
            self._path,
            self._text,
        )
        warmup = base.run.get("warmup", 0)
        if found.pruning.short and isinstance(warmup, int) and warmup >= 1:
            self._refuse(
                'for short runs a share is wanted, as "20%"; or no short runs (pruning = false)',
                "run",
                "warmup",
            )
        return found

    # ---- goals ----------------------------------------------------------------------------------------

    def _objectives(self, document: Mapping[str, Any], workloads: Sequence[str]) -> tuple[Objective, ...]:
        found: list[Objective] = []
        directions: tuple[Direction, ...] = ("minimise", "maximise")
        for direction in directions:
            written = document.get(direction, [])
            for each in written if isinstance(written, list) else [written]:
                try:
                    read = objective(direction, each, workloads)
                except ConfigError as error:
                    self._refuse_one(str(error), direction, each)
                if any((other.number.metrics, other.workload) == (read.number.metrics, read.workload)
                       for other in found):  # fmt: skip
                    self._refuse(f"{read.text} is an objective already", direction)
                found.append(read)
        if not found:
            self._refuse('nothing is to become better: minimise = ["cost"], or maximise = ["iops"]')
        # In the order of the file: the first one matters most to whoever wrote it.
        lines = {direction: self._text.find(direction) for direction in directions}
        return tuple(sorted(found, key=lambda each: lines[each.direction]))

    def _constraints(self, document: Mapping[str, Any], workloads: Sequence[str]) -> tuple[Constraint, ...]:
        written = document.get("constraints", [])
        if not isinstance(written, list):
            self._refuse('a list is wanted, as constraints = ["p99.99 < 500us"]', "constraints")
        found = []
        for each in written:
            try:
                found.append(constraint(each, workloads))
            except ConfigError as error:
                self._refuse_one(str(error), "constraints", each)
        if clash := contradiction(found):
            *first, last = (repr(of.text) for of in clash)
            how = "both hold" if len(clash) == 2 else "hold together"
            self._refuse_one(f"{', '.join(first)} and {last} cannot {how}", "constraints", clash[-1].text)
        return tuple(found)

    def _refuse_one(self, problem: str, key: str, written: object) -> NoReturn:
        raise ConfigError(_said_of(self._path, self._text, key, written, problem))

    # ---- parameters -----------------------------------------------------------------------------------

    def _space(self, document: Mapping[str, Any], base: Base) -> Space:
        table = document.get("parameters", {})
        if not isinstance(table, Mapping):
            self._refuse("a table is wanted: [parameters]", "parameters")
        found = [self._parameter(key, written) for key, written in _written(table).items()]
        for index, zipped in enumerate(self._tables(document, "zip")):
            found.append(self._bundle(index, zipped))
        if not found:
            self._refuse("nothing can be chosen: a table [parameters] is wanted")
        seen: dict[str, Parameter] = {}
        for parameter in found:
            for key in dict.fromkeys((parameter.name, *parameter.keys)):
                if key in (SEED, WORKLOAD):
                    words = (
                        "seeds are no parameter" if key == SEED else "every design is run on all workloads"
                    )
                    self._refuse(words, *parameter.where)
                if key in seen:
                    self._refuse(f"{key} is a parameter already", *parameter.where)
                seen[key] = parameter
        in_order = ordered(found)
        if isinstance(in_order, Parameter):
            self._refuse("its condition asks for itself, or in a circle", *in_order.where)
        known = [*base.values(next(iter(base.workloads))), *seen]
        for parameter in in_order:
            if parameter.condition is not None:
                try:
                    parameter.condition.check(known)
                except ConfigError as error:
                    self._refuse(str(error), *parameter.where)
        return Space(tuple(in_order))

    def _parameter(self, key: str, written: object) -> Parameter:
        where = ("parameters", key)
        if isinstance(written, list):
            return self._listed(key, written, (), None, where)
        if not isinstance(written, Mapping):
            self._refuse(
                f"{shown(written)} is no choice: a list or a range is wanted (what is the same for all "
                "designs stands in [drive.set] or [run])",
                *where,
            )
        for word in written:
            if word not in _TABLE_WORDS:
                self._refuse(f"{word}: is no word of a parameter{did_you_mean(word, _TABLE_WORDS)}", *where)
        condition = self._condition(written.get("if"), where)
        if "choices" in written:
            if is_range(written):
                self._refuse("`choices` or a range, not both", *where)
            labels = written.get("labels", ())
            choices = written["choices"]
            if not isinstance(choices, list):
                self._refuse(f"choices: a list is wanted, not {choices!r}", *where)
            return self._listed(key, choices, labels, condition, where)
        if "labels" in written:
            self._refuse("labels are those of `choices`", *where)
        if not is_range(written):
            self._refuse("`choices` or a range are wanted: { from = 1, to = 10 }", *where)
        words = {word: value for word, value in written.items() if word != "if"}
        return self._ranged(key, words, condition, where)

    def _listed(
        self,
        key: str,
        values: Sequence[Any],
        labels: object,
        condition: Condition | None,
        where: tuple[str | int, ...],
    ) -> Parameter:
        if len(values) < 2:
            self._refuse("no choices are left" if not values else "one value is no choice", *where)
        names = [shown(value) for value in values]
        kind: Kind = "choice"
        if labels:
            if not isinstance(labels, list) or [type(each) for each in labels] != [str] * len(values):
                self._refuse("labels: as many texts as choices are wanted", *where)
            names = list(labels)
        elif is_scale(values):
            kind = "ordered"
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            self._refuse(f"{twice} is there twice", *where)
        rows = tuple((value,) for value in values)
        return Parameter(key, (key,), kind, rows, tuple(names), condition=condition, where=where)

    def _ranged(
        self,
        key: str,
        written: Mapping[str, Any],
        condition: Condition | None,
        where: tuple[str | int, ...],
    ) -> Parameter:
        ends = [written.get("from"), written.get("to")]
        try:
            (low, unit), (high, other) = (
                number_and_unit(end, name) for end, name in zip(ends, ("from", "to"), strict=True)
            )
        except ConfigError as error:
            self._refuse(str(error), *where)
        if unit != other and unit and other and UNITS[unit][0] == UNITS[other][0]:
            high, other = high * UNITS[other][1] / UNITS[unit][1], unit
        if unit == other and low >= high:
            self._refuse(
                f"from {shown(ends[0])} to {shown(ends[1])}: the lower end is not below the upper", *where
            )
        if "step" in written or "count" in written:
            rows = self._values(dict(written), *where)
            return self._listed(key, rows, (), condition, where)
        if unit != other:
            self._refuse(f"from {ends[0]!r} to {ends[1]!r}: two units that do not fit", *where)
        is_log = written.get("log", False)
        if not isinstance(is_log, bool):
            self._refuse(f"log: true or false are wanted, not {is_log!r}", *where)
        if is_log and low <= 0:
            self._refuse("log: both ends must be greater than 0", *where)
        is_whole = all(isinstance(end, int) for end in ends)
        return Parameter(
            key,
            (key,),
            "whole" if is_whole else "real",
            low=float(low),
            high=float(high),
            log=is_log,
            unit=unit,
            whole_units=(bool(unit) and UNITS[unit][0] == "size") or unit in ("ns", "uW", "fJ"),
            condition=condition,
            where=where,
        )

    def _bundle(self, index: int, table: Mapping[str, Any]) -> Parameter:
        """Read keys that change together, as in a sweep; they need a name."""
        where = ("zip", index)
        condition = self._condition(table.get("if"), where)
        axis = self._zip(index, {key: value for key, value in table.items() if key != "if"})
        if not axis.label:
            self._refuse("`name` and `labels` say what is chosen", *where)
        if len(axis.rows) < 2:
            self._refuse("one value is no choice", *where)
        return Parameter(
            axis.label, axis.keys, "choice", axis.rows, axis.labels, condition=condition, where=where
        )

    def _condition(self, written: object, where: tuple[str | int, ...]) -> Condition | None:
        if written is None:
            return None
        if not isinstance(written, str):
            self._refuse("if: a condition is wanted, as \"ftl.victim == 'd-choices'\"", *where)
        try:
            return Condition(written)
        except ConfigError as error:
            self._refuse(f"if: {error}", *where)

    # ---- how it is searched ---------------------------------------------------------------------------

    def _count(
        self, table: Mapping[str, Any], key: str, default: int, *, least: int = 1, before: str = ""
    ) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self._refuse(
                f"a number from {least} on is wanted, not {value!r}", *([before] if before else []), key
            )
        return value

    def _share(self, table: Mapping[str, Any], key: str, default: float, below: float) -> float:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < below:
            self._refuse(f"a share from 0 to below {below:g} is wanted, not {value!r}", "pruning", key)
        return float(value)

    def _words(self, table: object, name: str, known: Sequence[str]) -> Mapping[str, Any]:
        if not isinstance(table, Mapping):
            self._refuse(f"a table is wanted: [{name}]", name)
        for word in table:
            if word not in known:
                self._refuse(f"is no word of {name}{did_you_mean(word, known)}", name, word)
        return table

    def _pruning(self, written: object) -> Pruning:
        if written is False:
            return Pruning(short=0.0)
        table = self._words(written, "pruning", PRUNING)
        level = self._share(table, "level", Pruning.level, 1)
        if level < 0.5:
            self._refuse(f"an interval covers more than a half, not {level:g}", "pruning", "level")
        return Pruning(
            self._share(table, "short", Pruning.short, 1),
            level,
            self._share(table, "margin", Pruning.margin, 10),
            self._count(table, "seeds", Pruning.seeds, before="pruning"),
        )

    def _final(self, written: object, objectives: Sequence[Objective]) -> Final:
        table = self._words(written, "final", FINAL)
        known = [KNEE, *(each.text for each in objectives)]
        choose = table.get("choose", Final.choose)
        if choose not in known:
            self._refuse(f"{choose!r} is no objective{did_you_mean(str(choose), known)}", "final", "choose")
        return Final(
            self._count(table, "seeds", Final.seeds, before="final"),
            self._count(table, "candidates", Final.candidates, before="final"),
            choose,
            self._count(table, "steps", Final.steps, least=0, before="final"),
        )


def _written(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return parameters by their keys with dots: tables that say what may be chosen are not taken apart."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{before}{key}"
        is_one = not isinstance(value, Mapping) or "." in key or any(word in value for word in _TABLE_WORDS)
        found |= {path: value} if is_one else _written(value, f"{path}.")
    return found
