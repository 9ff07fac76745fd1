"""What the folder of an experiment is made of.

`experiment.py` says what is simulated:

    INFERRED: tuple[Inferred, ...]                             # optional: what the paper leaves open
    VOLUMES: tuple[str, ...]                                   # optional: published volumes that it runs
    def points(settings: Settings) -> list[Point]: ...         # what has to be simulated
    def simulate(point: Point, settings: Settings) -> dict:    # one of them, in a process of its own

`further.py` beside it, where there is one, has the same two functions for what is simulated besides: a change
of it makes no result of `experiment.py` another one. Its `INFERRED` are values that no run of `experiment.py`
hangs on. `findings.py` says what all that comes to (`from
experiment import ...` is the file above; a small experiment may have these two in it as well):

    def summarise(results: dict[str, dict], settings: Settings) -> Summary: ...
    def figures(results: dict[str, dict], settings: Settings) -> list[Figure]: ...             # optional

`results` are the answers of `simulate` by the name of the point; they hold what JSON can hold, and nothing
that depends on the wall clock. The same settings give the same results, byte for byte.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ninescope.figures import Figure

Cell = str | float | int | None


@dataclasses.dataclass(frozen=True)
class Inferred:
    """A value that the paper does not give, and that somebody therefore chose."""

    name: str
    """Unique in the experiment: `scm.read`, `requests of a flood`."""
    value: str
    """What was chosen, with its unit."""
    why: str
    """Where it comes from."""


@dataclasses.dataclass(frozen=True)
class RealVolume:
    """A volume that somebody has."""

    name: str
    file: str
    requests: int
    hash: str
    known: str
    """How it was recognised."""
    class_number: int
    """Of 8, at a border of 8 KB between random and sequential."""


def as_rows(volumes: Sequence[RealVolume]) -> list[dict[str, Any]]:
    """Return what results say of them: not where they lie."""
    return [
        {key: value for key, value in dataclasses.asdict(one).items() if key != "file"} for one in volumes
    ]


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a run is made: all that an experiment is told."""

    quick: bool = True
    """Fewer requests: an answer within two to three minutes, and some percentiles out of reach."""
    seed: int = 1
    length: float = 1.0
    """Requests of each run, as a multiple of what they are otherwise. Below 1 it is a try-out."""
    brief: bool = False
    """Leave out what no quantitative claim asks for: what is measured then may lack the rest."""
    varied: str = ""
    """The inferred value that is not what was chosen, by its name."""
    factor: float = 1.0
    """The multiple that it is."""
    volumes: Sequence[RealVolume] = ()
    """Real volumes that somebody has: they take the places of their stand-ins."""

    def varying(self, name: str, value: float) -> float:
        """Return an inferred value: as it was chosen, or varied."""
        return value * self.factor if name == self.varied else value

    def as_words(self) -> dict[str, Any]:
        """Return what a result depends on: of real volumes not where they lie."""
        return {**dataclasses.asdict(self), "volumes": as_rows(self.volumes)}

    def requests(self, count: int) -> int:
        """Return how many requests a run has that has so many otherwise."""
        return max(1, round(count * self.length))


@dataclasses.dataclass(frozen=True)
class Point:
    """Something to simulate."""

    name: str
    """Unique in the experiment; shown while it runs."""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    weight: float = 1.0
    """How long it takes compared with the others: the heaviest start first."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of measured values."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Where the time of some requests went, for several configurations."""

    name: str
    """Unique in the experiment: `tail-fio`."""
    title: str
    rows: Sequence[tuple[str, int, Mapping[str, float]]]
    """A configuration, how many requests, and their mean time by cause [ns]."""
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Summary:
    """What an experiment measured.

    `measured` is a tree of numbers. A claim names one by its path, "fio/read/p99.99/ssr-static". A leaf is a
    number, a truth value, None (not measured with these settings), or a table with `value` and, where they
    are known, `interval` (95 % confidence: [low, high]) and `insufficient` (True: too few samples).
    """

    measured: Mapping[str, Any]
    tables: Sequence[Table] = ()
    attributions: Sequence[Attribution] = ()


class Experiment(Protocol):
    """The functions of a folder; `figures` and `INFERRED` may be missing."""

    INFERRED: Sequence[Inferred]

    def points(self, settings: Settings) -> list[Point]:
        """Say what has to be simulated."""

    def simulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """Simulate one point."""


class Findings(Protocol):
    """The functions of `findings.py`; `figures` may be missing."""

    def summarise(self, results: Mapping[str, dict[str, Any]], settings: Settings) -> Summary:
        """Reduce all results to named values and tables."""

    def figures(self, results: Mapping[str, dict[str, Any]], settings: Settings) -> list[Figure]:
        """Say what the figures of the paper look like here."""
