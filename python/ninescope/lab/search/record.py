"""A search in a lake: its trials, how it ended, and the tables that they make.

Nothing in it depends on who ran what, in which order, or how long it took.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ninescope import conveniences
from ninescope._native import ConfigError
from ninescope.lab.search import finish as finishing
from ninescope.lab.search.evaluate import best_of
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.finish import Finish
from ninescope.lab.search.goals import Constraint, Goals, Number, Objective, constraint, objective
from ninescope.lab.search.trial import FULL, Trial
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.point import current_build

KIND = "searches"


@dataclasses.dataclass(frozen=True)
class Record:
    """A search as it lies in a lake."""

    name: str
    summary: str
    build: str
    text: str
    """The file, as it was written."""
    workloads: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[str, ...]], ...]
    """Names of parameters, and what may be chosen in words."""
    directions: tuple[tuple[str, str], ...]
    """Objectives: direction and text."""
    constraints: tuple[str, ...]
    settings: Mapping[str, Any]
    """How it was searched: sampler, seed, batch, pruning, final."""
    wanted: int
    """How many designs were to be tried."""
    trials: tuple[Trial, ...] = ()
    shown: tuple[Mapping[str, str], ...] = ()
    """What the parameters of each trial are, in words."""
    importance: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    """By objective: the share that each parameter is behind."""
    ended: str = ""
    """Why no more designs are tried; empty where it was not finished."""
    finish: Finish = dataclasses.field(default_factory=Finish)

    @classmethod
    def of(cls, file: SearchFile, trials: Sequence[Trial], **rest: Any) -> Record:
        """Take what a lake has to know of a search."""
        parameters = tuple((each.name, tuple(_choices(each))) for each in file.space.parameters)
        settings = {
            "sampler": file.sampler,
            "seed": file.seed,
            "batch": file.batch,
            "pruning": dataclasses.asdict(file.pruning),
            "final": dataclasses.asdict(file.final),
        }
        return cls(
            file.name,
            file.summary,
            current_build(),
            file.text,
            file.workloads,
            parameters,
            tuple((of.direction, of.text) for of in file.goals.objectives),
            tuple(of.text for of in file.goals.constraints),
            settings,
            rest.pop("wanted", file.trials),
            tuple(trials),
            tuple(file.space.shown(trial.design) for trial in trials),
            **rest,
        )

    @property
    def goals(self) -> Goals:
        """Return what the search wanted."""
        return Goals(
            tuple(objective(direction, text, self.workloads) for direction, text in self.directions),  # type: ignore[arg-type]
            tuple(constraint(text, self.workloads) for text in self.constraints),
        )

    @property
    def front(self) -> list[Trial]:
        """Return the feasible trials that none dominates."""
        return best_of(self.trials, self.goals)

    @property
    def distinct(self) -> list[Trial]:
        """Return one trial of each design."""
        return [trial for trial in self.trials if trial.same_as is None]

    def count(self, state: str) -> int:
        """Count designs of a state."""
        return sum(trial.state == state for trial in self.distinct)

    def nearest(self) -> Trial | None:
        """Return the trial that misses its constraints by least, where none keeps them."""
        full = [trial for trial in self.distinct if trial.state == FULL]
        return min(full, key=lambda trial: (self.missed(trial), trial.number), default=None)

    def missed(self, trial: Trial) -> float:
        """Return by how much a trial misses its constraints, relatively and in sum."""
        return sum(max(0.0, of.violation(trial.bounded(of))) for of in self.goals.constraints)

    @classmethod
    def load(cls, lake: Lake, name: str | None = None) -> Record:
        """Read a search of a lake: the only one where none is named."""
        name, stored = lake.chosen_record(KIND, "search", name)
        try:
            return cls.of_json(stored)
        except (KeyError, TypeError, ValueError):
            raise ConfigError(
                f"{lake.store.label(f'{KIND}/{name}.json')}: is damaged; `search run` writes it again"
            ) from None

    def save(self, lake: Lake) -> None:
        """Write it, unless it is there as it is."""
        stored = json.loads(json.dumps(self.as_json(), allow_nan=False))
        if lake.record(KIND, self.name) != stored:
            lake.put_record(KIND, self.name, stored)

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **fields,
            "trials": [trial.as_json() for trial in self.trials],
            "finish": finishing.as_json(self.finish),
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Record:
        """Read what `as_json` made."""
        return cls(**{
            **stored,
            "workloads": tuple(stored["workloads"]),
            "parameters": tuple((name, tuple(values)) for name, values in stored["parameters"]),
            "directions": tuple((direction, text) for direction, text in stored["directions"]),
            "constraints": tuple(stored["constraints"]),
            "trials": tuple(Trial.of_json(trial) for trial in stored["trials"]),
            "shown": tuple(stored["shown"]),
            "finish": finishing.of_json(stored["finish"]),
        })  # fmt: skip

    def _repr_html_(self) -> str:
        return conveniences.search_as_html(self)


def _choices(parameter: Any) -> list[str]:
    if parameter.labels:
        return list(parameter.labels)
    ends = [parameter.shown(parameter.low), parameter.shown(parameter.high)]
    return [f"{ends[0]} to {ends[1]}{' (log)' if parameter.log else ''}"]


# ---- tables ---------------------------------------------------------------------------------------------


def column(of: Objective | Constraint) -> str:
    """Return what the column of a number is called, with its unit."""
    name = of.number.metrics[0] if len(of.number.metrics) == 1 else f"{of.number.name}_ns"
    return name + (f" on {of.workload}" if of.workload else "")


def numbers(goals: Goals) -> dict[str, Number]:
    """Return the columns of numbers that a table has: objectives, then what constraints bound."""
    return {column(of): of.number for of in goals.all}


def table(record: Record, *, front_only: bool = False) -> pl.DataFrame:
    """Return one row per design that was tried, or per design of the front."""
    goals = record.goals
    on_front = {trial.number for trial in record.front}
    shown = {trial.number: words for trial, words in zip(record.trials, record.shown, strict=True)}
    trials = [trial for trial in record.distinct if trial.number in on_front or not front_only]
    if front_only:
        trials = [trial for trial in record.front if trial.same_as is None]
    found: dict[str, pl.Series] = {
        "trial": pl.Series([trial.number for trial in trials], dtype=pl.Int64),
        "state": pl.Series([trial.state for trial in trials], dtype=pl.String),
    }
    for name, _ in record.parameters:
        found[name] = pl.Series([shown[trial.number].get(name) for trial in trials], dtype=pl.String)
    for of in goals.objectives:
        found[column(of)] = _column([trial.objective(of) for trial in trials])
    for bound in goals.constraints:
        if column(bound) not in found:
            found[column(bound)] = _column([trial.bounded(bound) for trial in trials])
    if goals.constraints:
        found["feasible"] = pl.Series(
            [trial.is_feasible(goals) if trial.state == FULL else None for trial in trials], dtype=pl.Boolean
        )
    if not front_only:
        found["front"] = pl.Series([trial.number in on_front for trial in trials], dtype=pl.Boolean)
        found["reason"] = pl.Series([trial.reason or None for trial in trials], dtype=pl.String)
    return pl.DataFrame(found)


def _column(values: Sequence[float | None]) -> pl.Series:
    """Make a column of numbers; a lifetime without limit is infinite."""
    return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)


def neighbour_table(record: Record) -> pl.DataFrame:
    """Return one row per neighbour of the chosen design: means, and what is shown."""
    goals = record.goals
    rows = []
    for neighbour in record.finish.neighbours:
        candidate = neighbour.candidate
        row: dict[str, Any] = {
            "parameter": neighbour.parameter,
            "value": candidate.shown.get(neighbour.parameter, ""),
        }
        each = [*zip(goals.objectives, candidate.objectives or [None] * len(goals.objectives), strict=True)]
        for of, found in each:
            mean = found.mean if found is not None else None
            row[column(of)] = mean if mean is None or math.isfinite(mean) else None
        row["effect"] = neighbour.effect
        rows.append(row)
    return pl.DataFrame(rows)
