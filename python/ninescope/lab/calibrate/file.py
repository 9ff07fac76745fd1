"""Device files: a drive, what is not known of it, and figures, fitted or held out."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.kinds import DEVICE
from ninescope.lab.calibrate.figures import Figure, Set, SetReader
from ninescope.lab.search.file import SearchReader
from ninescope.lab.search.space import Raw, Space
from ninescope.lab.sweep.base import WORKLOAD, Base, KeyProblemError, flattened, of_workload
from ninescope.lab.sweep.estimate import needs_of
from ninescope.lab.sweep.file import document_of, path_of, said, text_of_kind
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.values import shown
from ninescope.simulation.validated import kind_of

KEYS = (
    "name", "summary", "drive", "run", "parameters", "zip", "figures", "sources", "trials", "batch", "rounds",
    "seeds", "seed", "accuracy", "notes", "derived",
)  # fmt: skip
_NUMBERED = re.compile(r"^workload\.(\d+)$")


@dataclasses.dataclass(frozen=True)
class DeviceFile:
    """A device as it is written."""

    name: str
    summary: str
    base: Base
    space: Space
    sets: tuple[Set, ...]
    sources: Mapping[str, str]
    trials: int = 24
    """Designs that are tried before the best is made better step by step."""
    batch: int = 4
    rounds: int = 6
    """Steps at most."""
    seeds: int = 3
    """Of intervals, and of the errors in the end."""
    seed: int = 1
    accuracy: float = 0.02
    """What figures are good for, as a share of each."""
    notes: tuple[str, ...] = ()
    derived: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Keys whose values name parameters: these are no keys themselves."""
    path: str = ""
    text: str = dataclasses.field(default="", repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> DeviceFile:
        """Read a device file. What is wrong is named by file, line and key."""
        return cls.parse(*text_of_kind(path, DEVICE, "device file"))

    @classmethod
    def parse(cls, text: str, path: str = "device", folder: str | os.PathLike[str] = ".") -> DeviceFile:
        """Take a device written as TOML; relative paths in it start at `folder`."""
        return DeviceReader(path, text, Path(folder)).device(document_of(text, path))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, in their order."""
        return tuple(figure for one in self.sets for figure in one.figures)

    def fixed(self) -> dict[str, Any]:
        """Return what is set for all designs, for conditions."""
        return dict(self.base.set_)

    def settings(self, design: Mapping[str, Raw]) -> dict[str, Any]:
        """Return the keys of points that a design sets."""
        values = self.space.settings(design)
        found = {key: value for key, value in values.items() if not self.is_named(key)}
        return found | {key: _filled(value, values) for key, value in self.derived.items()}

    def is_named(self, name: str) -> bool:
        """Say whether a parameter is a name that derived keys use, and no key itself."""
        return any(name in _texts(value) for value in self.derived.values())

    def keys_of(self, name: str) -> tuple[str, ...]:
        """Return the keys that a parameter sets."""
        derived = [key for key, value in self.derived.items() if name in _texts(value)]
        return tuple(derived) or self.space[name].keys

    def kinds_of(self, figure: Figure) -> list[str]:
        """Return of which kinds the jobs are that a figure is about; none of a trace."""
        source = self.base.workloads[figure.case.workload]
        words = {
            key.removeprefix("workload."): value
            for key, value in figure.case.settings.items()
            if key.startswith("workload.")
        }
        jobs = source.what if isinstance(source.what, tuple) else (source.what,)
        prefill = figure.case.settings.get("run.prefill", self.base.run.get("prefill"))
        found = [kind_of({**job, **words}, prefill) for job in jobs if isinstance(job, Mapping)]
        return [kind for kind in found if kind is not None]

    def refuse(self, problem: str, *where: str | int) -> ConfigError:
        """Return an error with the line of what is wrong."""
        return ConfigError(said(self.path, self.text, problem, where))


class DeviceReader(SearchReader):
    """Turns a document into a device, and knows on which line a key stands."""

    def device(self, document: Mapping[str, Any]) -> DeviceFile:
        """Read the document, and look at all that can be looked at without running anything."""
        for key in document:
            if key not in KEYS:
                self._refuse(f"is no key of a device{did_you_mean(key, KEYS)}", key)
        sources = self._sources(document)
        sets = self._sets(document, sources)
        base = self._base(document, sets)
        found = DeviceFile(
            self._name(document),
            self._text_of(document, "summary"),
            base,
            self._space(document, base),
            tuple(sets),
            sources,
            self._count(document, "trials", DeviceFile.trials),
            self._count(document, "batch", DeviceFile.batch),
            self._count(document, "rounds", DeviceFile.rounds, least=0),
            self._count(document, "seeds", DeviceFile.seeds),
            self._count(document, "seed", DeviceFile.seed),
            self._accuracy(document),
            self._notes(document),
            self._derived(document),
            self._path,
            self._text,
        )
        self._check(found)
        return found

    def _sources(self, document: Mapping[str, Any]) -> dict[str, str]:
        table = document.get("sources", {})
        if not isinstance(table, Mapping) or not all(isinstance(each, str) for each in table.values()):
            self._refuse("a table of texts is wanted: where figures come from", "sources")
        return dict(table)

    def _notes(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        written = document.get("notes", [])
        if not isinstance(written, list) or not all(isinstance(each, str) for each in written):
            self._refuse("a list of texts is wanted", "notes")
        return tuple(written)

    def _derived(self, document: Mapping[str, Any]) -> dict[str, Any]:
        table = document.get("derived", {})
        if not isinstance(table, Mapping):
            self._refuse("a table is wanted: [derived]", "derived")
        found = flattened(table)
        names = document.get("parameters", {})
        for key, value in found.items():
            if not any(text in names for text in _texts(value)):
                self._refuse(f"{shown(value)} names no parameter", "derived", key)
        return found

    def _accuracy(self, document: Mapping[str, Any]) -> float:
        value = document.get("accuracy", DeviceFile.accuracy)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            self._refuse(f"a share between 0 and 1 is wanted, not {value!r}", "accuracy")
        return float(value)

    def _sets(self, document: Mapping[str, Any], sources: Mapping[str, str]) -> list[Set]:
        found: list[Set] = []
        for index, table in enumerate(self._tables(document, "figures")):
            for one in SetReader(table, index, self._folder, tuple(sources), self._refuse).read():
                if one.name in [other.name for other in found]:
                    self._refuse(f"two sets of figures are called {one.name!r}", "figures", index, "name")
                found.append(one)
        if not any(figure.use == "fit" for one in found for figure in one.figures):
            self._refuse('no figure is there to fit to: [[figures]] with use = "fit" are wanted')
        return found

    def _base(self, document: Mapping[str, Any], sets: list[Set]) -> Base:
        workloads: dict[str, Source] = {}
        for one in sets:
            where = one.figures[0].where[:2]
            try:
                workloads[one.name] = Source.of(one.words, self._folder)
            except ConfigError as error:
                self._refuse(str(error), *where, WORKLOAD)
        any_job = {"rw": "randread"}
        asked = {key: value for key, value in document.items() if key in ("drive", "run")}
        try:
            base = Base.of({**asked, WORKLOAD: any_job}, self._folder)
        except KeyProblemError as error:
            self._refuse(error.problem, *path_of(error.key))
        return dataclasses.replace(base, workloads=workloads)

    # ---- all together ---------------------------------------------------------------------------------

    def _check(self, found: DeviceFile) -> None:
        """Refuse figures that no run meets in the middle of all parameters, and values that none may have."""
        keys = {key for each in found.space.parameters for key in found.keys_of(each.name)}
        uses: dict[tuple[str, str], Figure] = {}
        middle = found.settings(found.space.design(_middle, found.fixed()))
        for end in _corners(found):
            self._built(found, end)
        for figure in found.figures:
            clash = keys & set(figure.case.settings)
            if clash:
                self._refuse(f"{sorted(clash)[0]} is a parameter, and figures do not set it", *figure.where)
            try:
                point = found.base.point(figure.case.values(middle))
                needs_of(point)
            except ConfigError as error:
                word, problem = of_workload(str(error))
                if word:
                    self._refuse(problem, *figure.where[:2], WORKLOAD, word)
                self._refuse(f"{figure.label}: {problem}", *figure.where)
            other = uses.setdefault((point.design, figure.metric), figure)
            if other.use != figure.use:
                self._refuse(
                    f"{figure.label} is the same as {other.label}: of one number, one cannot be fitted and "
                    "the other be held out",
                    *figure.where,
                )

    def _built(self, found: DeviceFile, chosen: tuple[str, dict[str, Any]]) -> None:
        """Refuse an end of a parameter that no drive can have."""
        name, settings = chosen
        try:
            found.base.point(settings)
        except KeyProblemError as error:
            is_own = error.key in found.keys_of(name)
            told = error.problem if error.key == name else str(error)
            self._refuse(told, *(found.space[name].where if is_own else ("drive",)))
        except ConfigError as error:
            self._refuse(str(error), *found.space[name].where)


def _middle(parameter: Any) -> Any:
    """Return the middle of what a parameter may be."""
    if parameter.kind == "choice":
        return parameter.labels[0]
    if parameter.kind == "ordered":
        return (len(parameter.rows) - 1) // 2
    low, high = parameter.low, parameter.high
    middle = parameter.rounded((low * high) ** 0.5 if parameter.log else (low + high) / 2)
    return int(middle) if parameter.kind == "whole" else middle


def _corners(file: DeviceFile) -> list[tuple[str, dict[str, Any]]]:
    """Return designs with one parameter at an end of its own, the others in their middle."""
    found = []
    space, fixed = file.space, file.fixed()
    for parameter in space.parameters:
        ends: list[Any] = list(parameter.labels) if parameter.kind == "choice" else []
        if parameter.kind == "ordered":
            ends = [0, len(parameter.rows) - 1]
        elif not ends:
            whole = parameter.kind == "whole"
            ends = [int(end) if whole else end for end in (parameter.low, parameter.high)]
        for end in ends:
            design = space.design(
                lambda each, end=end, name=parameter.name: end if each.name == name else _middle(each),  # type: ignore[misc]
                fixed,
            )
            found.append((parameter.name, file.settings(design)))
    return found


def _texts(value: object) -> list[str]:
    """Return the texts in a value."""
    if isinstance(value, str):
        return [value]
    each = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for one in each for text in _texts(one)]


def _filled(value: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a value with the values of parameters in the places of their names."""
    if isinstance(value, str):
        return parameters.get(value, value)
    if isinstance(value, Mapping):
        return {key: _filled(each, parameters) for key, each in value.items()}
    return [_filled(each, parameters) for each in value] if isinstance(value, list) else value


def middle(file: DeviceFile) -> dict[str, Any]:
    """Return the design in the middle of all that is open."""
    return file.space.design(_middle, file.fixed())
