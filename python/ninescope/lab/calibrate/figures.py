"""Figures of a device: values that were published or measured, each with the run that is to meet it.

A set of figures is one workload with values (`values`), a table of them (`columns` and `rows`), or what a run
of fio measured (`fio`). Nothing here runs anything.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.calibrate.fio import Job, instead_of, jobs_of
from ninescope.lab.sweep.base import flattened
from ninescope.lab.sweep.source import JOB_WORDS
from ninescope.lab.sweep.values import shown
from ninescope.result.metrics import checked, names

Use = Literal["fit", "holdout"]
USES: tuple[Use, ...] = ("fit", "holdout")
KEYS = (
    "name", "source", "use", "workload", "run", "set", "values", "columns", "rows", "fio", "job", "metrics",
    "note",
)  # fmt: skip
WAYS = ("values", "columns", "fio")
"""Of these a set of figures has one."""
_UNITS: Mapping[str, Mapping[str, float]] = {
    "_ns": {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9},
    "bytes_per_second": {
        "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9,
        "KiB/s": 2**10, "MiB/s": 2**20, "GiB/s": 2**30,
    },
    "iops": {"": 1, "IOPS": 1, "kIOPS": 1e3},
    "_watts": {"W": 1, "mW": 1e-3},
    "_joules": {"J": 1, "mJ": 1e-3, "uJ": 1e-6},
    "_celsius": {"C": 1},
}  # fmt: skip
"""What a number may be written in, by the end of its name, and how many of its own unit that is."""
_COLUMN = re.compile(r"\s*([^\[\]\s]+)\s*(?:\[\s*([^\]]*?)\s*\])?\s*")
_VALUE = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?)\s*([A-Za-z/%]*)\s*")
MISSING = ("", "-")
"""What stands in a table where nothing was published."""

Refuse = Callable[..., NoReturn]


@dataclasses.dataclass(frozen=True)
class Case:
    """One run that figures are about."""

    workload: str
    """Its name among the workloads of the device."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Keys of a point: words of the workload and the run, keys of the drive."""
    label: str = ""
    """What tells it from the others of its set."""

    def values(self, design: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of its point on a design."""
        return {**design, **self.settings, "workload": self.workload}


@dataclasses.dataclass(frozen=True)
class Figure:
    """A value that was published, or measured with fio."""

    set: str
    """The set it is of."""
    case: Case
    metric: str
    """A number of `ninescope.result.metrics`, in its own unit."""
    value: float
    use: Use
    source: str
    where: tuple[str | int, ...] = ()
    of_fio: bool = False
    """It was taken out of an output of fio, and nobody says that it was published."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others of its device."""
        return self.set, self.case.label, self.metric

    @property
    def label(self) -> str:
        """What it is called."""
        return " ".join(word for word in (self.set, self.case.label, self.metric) if word)


@dataclasses.dataclass(frozen=True)
class Set:
    """A set of figures as it is written, and what was read of it."""

    name: str
    words: Mapping[str, Any]
    """Its workload."""
    figures: tuple[Figure, ...]
    note: str = ""


class SetReader:
    """Reads one `[[figures]]`."""

    def __init__(
        self, table: Mapping[str, Any], index: int, folder: Path, sources: Sequence[str], refuse: Refuse
    ) -> None:
        self._table, self._index, self._folder, self._sources = table, index, folder, sources
        self._refuse_at = refuse
        self.name = ""

    def read(self) -> list[Set]:
        """Return the sets: one, or of what fio measured one for each job."""
        table = self._table
        for word in table:
            if word not in KEYS:
                self._refuse(f"is no word of figures{did_you_mean(word, KEYS)}", word)
        self.name = self._text("name") or f"figures-{self._index + 1}"
        source = self._text("source")
        if not source:
            self._refuse("says not where the figures come from: `source` is wanted")
        if source not in self._sources:
            self._refuse(f"{source!r} is not in [sources]{did_you_mean(source, self._sources)}", "source")
        use = table.get("use", "holdout")
        if use not in USES:
            self._refuse(f"{use!r} is neither 'fit' nor 'holdout'", "use")
        ways = [way for way in WAYS if way in table]
        if len(ways) != 1:
            told = "only one of them" if ways else "one of them"
            self._refuse(f"a set of figures has values, columns and rows, or fio: {told}", *ways[1:2])
        for word, of in (("rows", "columns"), ("job", "fio"), ("metrics", "fio")):
            if word in table and of not in table:
                self._refuse(f"says something of `{of}`, which is not there", word)
        self._use: Use = use
        self._source = source
        if ways[0] == "fio":
            return self._fio()
        case = Case(self.name, self._settings())
        found = self._values(case) if ways[0] == "values" else self._rows(case)
        return [Set(self.name, self._words("workload"), tuple(found), self._text("note"))]

    # ---- words ----------------------------------------------------------------------------------------

    def _refuse(self, problem: str, *keys: str) -> NoReturn:
        self._refuse_at(problem, "figures", self._index, *keys)

    def _text(self, key: str) -> str:
        value = self._table.get(key, "")
        if not isinstance(value, str):
            self._refuse(f"a text is wanted, not {value!r}", key)
        return value

    def _words(self, key: str) -> Mapping[str, Any]:
        value = self._table.get(key, {})
        if not isinstance(value, Mapping):
            self._refuse("a table is wanted", key)
        return value

    def _settings(self) -> dict[str, Any]:
        run = {f"run.{key}": value for key, value in self._words("run").items()}
        return {**self._words("set"), **run}

    # ---- values ---------------------------------------------------------------------------------------

    def _values(self, case: Case) -> list[Figure]:
        found = []
        # `read_p99.9` without quotes is a table of TOML.
        for name, written in flattened(self._words("values")).items():
            metric = self._metric(name, "values")
            found.append(self._figure(case, metric, self._quantity(written, metric, "", "values"), "values"))
        if not found:
            self._refuse("no value is there", "values")
        return found

    def _rows(self, case: Case) -> list[Figure]:
        columns = [self._column(each) for each in self._list("columns")]
        if not any(is_metric for is_metric, *_ in columns):
            self._refuse("no column is a number of results, as iops or read_mean", "columns")
        found = []
        for number, row in enumerate(self._list("rows")):
            if not isinstance(row, list) or len(row) != len(columns):
                self._refuse(f"row {number + 1} is no list of {len(columns)} values, one a column", "rows")
            settings: dict[str, Any] = {}
            for (is_metric, key, _), value in zip(columns, row, strict=True):
                if not is_metric:
                    settings[key] = value
            label = " ".join(f"{key.rpartition('.')[2]}={shown(value)}" for key, value in settings.items())
            of_row = dataclasses.replace(case, settings={**case.settings, **settings}, label=label)
            for (is_metric, key, unit), value in zip(columns, row, strict=True):
                if is_metric and value not in MISSING:
                    found.append(self._figure(of_row, key, self._quantity(value, key, unit, "rows"), "rows"))
        if not found:
            self._refuse("no value is there", "rows")
        return found

    def _list(self, key: str) -> list[Any]:
        value = self._table.get(key)
        if not isinstance(value, list) or not value:
            self._refuse("a list is wanted", key)
        return value

    def _column(self, written: object) -> tuple[bool, str, str]:
        """Read the head of a column: a number with its unit, or a key that the rows change."""
        match = _COLUMN.fullmatch(written) if isinstance(written, str) else None
        if match is None:
            self._refuse(f"{written!r} is no head of a column, as iodepth or read_mean [us]", "columns")
        name, unit = match[1], match[2] or ""
        if name in names():
            metric = self._metric(name, "columns")
            if unit not in units_of(metric):
                self._refuse(_of_unit(name, unit, metric), "columns")
            return True, metric, unit
        if unit or not ("." in name or name in (*JOB_WORDS, "zone_command")):
            known = (*JOB_WORDS, *names())
            self._refuse(f"{name!r} is neither a word of a workload nor a number{_nearest(name, known)}",
                         "columns")  # fmt: skip
        return False, name if "." in name else f"workload.{name}", ""

    def _metric(self, name: str, key: str) -> str:
        try:
            return checked(name)
        except ConfigError as error:
            self._refuse(str(error), key)

    def _quantity(self, written: object, metric: str, unit: str, key: str) -> float:
        """Return a value in the unit of its number."""
        units = units_of(metric)
        if isinstance(written, str) and (match := _VALUE.fullmatch(written)):
            number, unit = float(match[1]), match[2] or unit
        elif isinstance(written, int | float) and not isinstance(written, bool):
            number = float(written)
        else:
            self._refuse(f"{metric}: a number is wanted, not {written!r}", key)
        if unit not in units:
            self._refuse(_of_unit(metric, unit, metric), key)
        if not (math.isfinite(number) and number > 0):
            self._refuse(f"{metric}: {number:g} has no ratio to anything; above 0 is wanted", key)
        return number * units[unit]

    def _figure(self, case: Case, metric: str, value: float, key: str) -> Figure:
        return Figure(self.name, case, metric, value, self._use, self._source, ("figures", self._index, key))

    # ---- fio ------------------------------------------------------------------------------------------

    def _fio(self) -> list[Set]:
        path = self._folder / self._text("fio")
        try:
            jobs = jobs_of(path)
        except ConfigError as error:
            self._refuse(str(error), "fio")
        wanted = self._text("job")
        known = [job.name for job in jobs]
        if wanted and wanted not in known:
            self._refuse(f"{path} has no job {wanted!r}{did_you_mean(wanted, known)}", "job")
        chosen = [job for job in jobs if wanted in ("", job.name)]
        return [self._of_job(job, path, len(chosen) > 1) for job in chosen]

    def _of_job(self, job: Job, path: Path, is_one_of_many: bool) -> Set:
        name = f"{self.name} {job.name}" if is_one_of_many else self.name
        changed = self._words("workload")
        if job.problem:
            self._refuse(f"{path}: job {job.name!r} {job.problem}", "fio")
        for option, value in job.left_out.items():
            if option not in changed and "job" not in changed:
                self._refuse(f"{path}: job {job.name!r} has {instead_of(option, value)}", "fio")
        if job.several and "job" not in changed:
            self._refuse(f"{path}: job {job.name!r} {job.several}", "fio")
        # Tables of jobs are the whole workload: nothing of one job is left beside them.
        words = dict(changed) if "job" in changed else {**job.words, **changed}
        case = Case(name, self._settings())
        metrics = list(job.metrics)
        if "metrics" in self._table:
            metrics = [self._metric(each, "metrics") for each in self._list("metrics")]
        found = []
        for metric in metrics:
            if metric not in job.metrics:
                self._refuse(f"{path}: job {job.name!r} has no {metric}", "metrics")
            figure = self._figure(case, metric, job.metrics[metric], "fio")
            found.append(dataclasses.replace(figure, set=name, of_fio=True))
        if not found:
            self._refuse(f"{path}: job {job.name!r} measured nothing", "fio")
        notes = [self._text("note")]
        if job.is_cached:
            notes.append(
                f"{path.name}: job {job.name!r} went through the page cache of its host, which no drive has: "
                "give fio direct=1"
            )
        return Set(name, words, tuple(found), "; ".join(note for note in notes if note))


def units_of(metric: str) -> Mapping[str, float]:
    """Return what a number may be written in; without a unit it is in its own."""
    for ending, units in _UNITS.items():
        if metric.endswith(ending):
            return units
    return {"": 1, "x": 1, "%": 0.01}


def unit_shown(metric: str) -> tuple[str, float]:
    """Return what a number is shown in, and what it is divided by for that."""
    for ending, shown_in in (("_ns", "us"), ("bytes_per_second", "MB/s"), ("iops", "IOPS")):
        if metric.endswith(ending):
            return shown_in, units_of(metric)[shown_in]
    own = next((unit for unit, scale in units_of(metric).items() if scale == 1 and unit != "x"), "")
    return own, 1.0


def _of_unit(name: str, unit: str, metric: str) -> str:
    known = [each for each in units_of(metric) if each]
    if unit:
        return f"{name}: {unit!r} is no unit of it; there is {', '.join(known)}"
    return f"{name}: a unit is wanted, as {name} [{known[0]}]"


def _nearest(name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return hint if hint.startswith("; did you mean") else ""
