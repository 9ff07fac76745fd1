"""Sweep files: what stands in them, checked as far as it can be without making points."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ninescope import toml
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.files import existing, text_of
from ninescope.common.kinds import SWEEP, Kind, refuse_others
from ninescope.lab.sweep.base import WORKLOAD, Base, KeyProblemError, flattened
from ninescope.lab.sweep.conditions import Condition
from ninescope.lab.sweep.lines import line_of
from ninescope.lab.sweep.values import values_of
from ninescope.result.metrics import NAMES
from ninescope.result.waf import STEADINESS

KEYS = ("name", "summary", "drive", "workload", "run", "axes", "zip", "when", "seeds")
SEED = "seed"
RESERVED = (*NAMES, SEED, WORKLOAD, STEADINESS, "state", "point", "build", "row")
"""What an axis cannot be called."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LABEL_WORDS = ("name", "labels")
_WHEN_WORDS = ("if", "skip", "set")


@dataclasses.dataclass(frozen=True)
class Axis:
    """Keys that change together, and the values they take."""

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    label: str = ""
    """What the rows are called together: a column of its own."""
    labels: tuple[str, ...] = ()
    where: tuple[str | int, ...] = ()
    """Where it stands in the file."""


@dataclasses.dataclass(frozen=True)
class When:
    """What is done with the points of which a condition is true."""

    condition: Condition
    skip: bool
    set_: Mapping[str, Any]
    where: tuple[str | int, ...]


@dataclasses.dataclass(frozen=True)
class SweepFile:
    """A sweep as it is written."""

    name: str
    summary: str
    base: Base
    axes: tuple[Axis, ...]
    whens: tuple[When, ...]
    seeds: tuple[int, ...]
    path: str = ""
    text: str = dataclasses.field(default="", repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SweepFile:
        """Read a sweep file. What is wrong is named by file, line and key."""
        return cls.parse(*text_of_kind(path, SWEEP, "sweep file"))

    @classmethod
    def parse(cls, text: str, path: str = "sweep", folder: str | os.PathLike[str] = ".") -> SweepFile:
        """Take a sweep written as TOML; relative paths in it start at `folder`."""
        return Reader(path, text, Path(folder)).read(document_of(text, path))

    @classmethod
    def of(cls, document: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> SweepFile:
        """Take a sweep as the values that its TOML would be read to; what is wrong is named by its key."""
        return Reader("sweep", "", Path(folder)).read(as_read(document))

    def refuse(self, problem: str, *where: str | int) -> NoReturn:
        """Raise a ConfigError that names file, line and key."""
        raise ConfigError(said(self.path, self.text, problem, where))

    def refuse_key(self, error: KeyProblemError, *before: str | int) -> NoReturn:
        """Say where a key that is wrong stands: among the axes, in a condition, or set for all."""
        raise ConfigError(said(self.path, self.text, error.problem, self.where_is(error.key) or before))

    def where_is(self, key: str) -> tuple[str | int, ...]:
        """Return where a key of points stands in the file; nothing where it does not."""
        for axis in self.axes:
            if key in axis.keys:
                return (*axis.where, key)
        for axis in self.axes:
            # A workload as a whole is no table that a word of it stands in.
            if any(key.startswith(f"{of}.") for of in axis.keys if of != WORKLOAD):
                return axis.where
        for when in self.whens:
            if key in when.set_:
                return (*when.where, "set", key)
        if any(key == of or key.startswith(f"{of}.") or of.startswith(f"{key}.") for of in self.base.set_):
            return ("drive", "set", key)
        return tuple(key.split(".")) if key.split(".", maxsplit=1)[0] in KEYS else ()


def text_of_kind(path: str | os.PathLike[str], kind: Kind, called: str) -> tuple[str, str, Path]:
    """Return the text of a file of a kind, its name, and the folder where relative paths in it start."""
    given = existing(os.fspath(path), called)
    refuse_others(given, kind)
    return text_of(given), given, Path(given).parent


def document_of(text: str, path: str) -> dict[str, Any]:
    """Read TOML; what is none is told with the name of the file."""
    try:
        return toml.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def as_read(value: Any) -> Any:
    """Return values of Python as TOML would be read to: tuples, ranges and arrays are lists."""
    if isinstance(value, Mapping):
        return {str(key): as_read(each) for key, each in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value.item() if hasattr(value, "item") else value
    return [as_read(each) for each in value]


def said(path: str, text: str, problem: str, where: Sequence[str | int]) -> str:
    """Write an error with file, line and key."""
    line = line_of(text, *where) if where else 0
    named = ".".join(_bracketed(where))
    return f"{path}{f', line {line}' if line else ''}: {f'{named}: ' if named else ''}{problem}"


def _bracketed(where: Sequence[str | int]) -> list[str]:
    """Write the place in a file as people say it: `when[1].if`."""
    words: list[str] = []
    for part in where:
        if isinstance(part, int) or (part.isdigit() and words):
            words[-1] += f"[{part}]"
        else:
            words.append(part)
    return words


class Reader:
    """Turns the document into a sweep, and knows on which line a key stands."""

    def __init__(self, path: str, text: str, folder: Path) -> None:
        self._path, self._text, self._folder = path, text, folder

    def read(self, document: Mapping[str, Any]) -> SweepFile:
        """Read a sweep."""
        for key in document:
            if key not in KEYS:
                self._refuse(f"is no key of a sweep{did_you_mean(key, KEYS)}", key)
        try:
            base = Base.of(document, self._folder)
        except KeyProblemError as error:
            self._refuse(error.problem, *path_of(error.key))
        axes = self._axes(document, base)
        whens = tuple(self._when(index, table) for index, table in enumerate(self._tables(document, "when")))
        return SweepFile(
            self._name(document),
            self._text_of(document, "summary"),
            base,
            axes,
            whens,
            self._seeds(document.get("seeds", 1)),
            self._path,
            self._text,
        )

    def _name(self, document: Mapping[str, Any]) -> str:
        name = self._text_of(document, "name") or Path(self._path).stem
        if not _NAME.fullmatch(name):
            if "name" in document:
                self._refuse("letters, digits, '.', '_' and '-' make a name", "name")
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "sweep"
        return name

    def _text_of(self, document: Mapping[str, Any], key: str) -> str:
        value = document.get(key, "")
        if not isinstance(value, str):
            self._refuse(f"a text is wanted, not {value!r}", key)
        return value

    def _seeds(self, written: object) -> tuple[int, ...]:
        if isinstance(written, int) and not isinstance(written, bool) and written >= 1:
            return tuple(range(1, written + 1))
        seeds = written if isinstance(written, list) else []
        if not seeds or not all(isinstance(seed, int) and 0 <= seed < 1 << 64 for seed in seeds):
            self._refuse("a number of seeds is wanted, or a list of them", "seeds")
        if len(set(seeds)) < len(seeds):
            self._refuse("a seed is there twice, and would give the same result twice", "seeds")
        return tuple(int(seed) for seed in seeds)

    # ---- axes -----------------------------------------------------------------------------------------

    def _axes(self, document: Mapping[str, Any], base: Base) -> tuple[Axis, ...]:
        axes = []
        if len(base.workloads) > 1:
            axes.append(Axis((WORKLOAD,), tuple((name,) for name in base.workloads), where=(WORKLOAD,)))
        table = document.get("axes", {})
        if not isinstance(table, Mapping):
            self._refuse("a table is wanted: [axes]", "axes")
        for key, written in flattened(table).items():
            values = self._values(written, "axes", key)
            axes.append(Axis((key,), tuple((value,) for value in values), where=("axes",)))
        for index, zipped in enumerate(self._tables(document, "zip")):
            axes.append(self._zip(index, zipped))
        seen: dict[str, Axis] = {}
        for axis in axes:
            for key in (*axis.keys, *([axis.label] if axis.label else [])):
                if key == SEED or key.startswith(f"{SEED}."):
                    self._refuse(
                        "seeds are no axis: `seeds = 3` or `seeds = [1, 2]` stand at the top",
                        *axis.where,
                        key,
                    )
                if key in seen:
                    self._refuse("is an axis already", *axis.where, key)
                seen[key] = axis
        return tuple(axes)

    def _zip(self, index: int, table: Mapping[str, Any]) -> Axis:
        where = ("zip", index)
        label, labels = table.get("name", ""), table.get("labels", [])
        if not isinstance(label, str):
            self._refuse(f"a text is wanted, not {label!r}", *where, "name")
        if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
            self._refuse("a list of texts is wanted", *where, "labels")
        if label in RESERVED:
            self._refuse(f"{label!r} is a column of every table", *where, "name")
        if len(set(labels)) < len(labels):
            self._refuse("two rows are called the same", *where, "labels")
        if bool(label) != bool(labels):
            self._refuse("`name` and `labels` stand together: a column, and what its rows are called", *where)
        keys = flattened({key: value for key, value in table.items() if key not in _LABEL_WORDS})
        if not keys:
            self._refuse("no key moves", *where)
        columns = {key: self._values(written, *where, key) for key, written in keys.items()}
        sizes = {key: len(values) for key, values in columns.items()} | (
            {"labels": len(labels)} if labels else {}
        )
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{key} has {size}" for key, size in sizes.items())
            self._refuse(f"axes that move together have as many values: {told}", *where)
        rows = tuple(zip(*columns.values(), strict=True))
        return Axis(tuple(columns), rows, label, tuple(labels), where)

    def _values(self, written: object, *where: str | int) -> list[Any]:
        try:
            values = values_of(written)
        except ConfigError as error:
            self._refuse(str(error), *where)
        if not values:
            self._refuse("an axis without values leaves no point", *where)
        return values

    # ---- conditions -----------------------------------------------------------------------------------

    def _when(self, index: int, table: Mapping[str, Any]) -> When:
        where = ("when", index)
        for word in table:
            if word not in _WHEN_WORDS:
                self._refuse(f"is no word of a condition{did_you_mean(word, _WHEN_WORDS)}", *where, word)
        text, skip, settings = table.get("if"), table.get("skip", False), table.get("set", {})
        if not isinstance(text, str):
            self._refuse('a condition is wanted, as if = "run.requests > 1000"', *where, "if")
        if not isinstance(skip, bool):
            self._refuse(f"true or false are wanted, not {skip!r}", *where, "skip")
        if not isinstance(settings, Mapping):
            self._refuse("a table is wanted", *where, "set")
        if skip == bool(settings):
            self._refuse("either `skip = true` or `set` says what becomes of such points", *where)
        try:
            return When(Condition(text), skip, flattened(settings), where)
        except ConfigError as error:
            self._refuse(str(error), *where, "if")

    def _tables(self, document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        tables = document.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._refuse(f"tables are wanted: [[{key}]]", key)
        return tables

    def _refuse(self, problem: str, *where: str | int) -> NoReturn:
        raise ConfigError(said(self._path, self._text, problem, where))


def path_of(key: str) -> tuple[str | int, ...]:
    """Return the place in a file that a key with dots names."""
    return tuple(int(part) if part.isdigit() else part for part in key.split(".")) if key else ()
