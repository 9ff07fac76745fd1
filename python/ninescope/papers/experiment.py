"""What an `experiment.py` is made of.

    def points(settings: Settings) -> list[Point]: ...        # what has to be simulated
    def simulate(point: Point, settings: Settings) -> dict:   # one of them, in a process of its own
    def summarise(results: dict[str, dict], settings: Settings) -> Summary: ...
    def draw(results: dict[str, dict], directory: Path, settings: Settings) -> list[Path]: ...   # optional

`results` are the answers of `simulate` by the name of the point; they hold what JSON can hold, and nothing
that depends on the wall clock. The same settings give the same results, byte for byte.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

Cell = str | float | int | None


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a run is made: all that an experiment is told."""

    quick: bool = True
    """Fewer requests: an answer within two to three minutes, and some percentiles out of reach."""
    seed: int = 1


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
class Summary:
    """What an experiment measured.

    `measured` is a tree of numbers. A claim names one by its path, "fio/read/p99.99/ssr-static". A leaf is a
    number, a truth value, None (not measured with these settings), or a table with `value` and, where they
    are known, `interval` (95 % confidence: [low, high]) and `insufficient` (True: too few samples).
    """

    measured: Mapping[str, Any]
    tables: Sequence[Table] = ()


class Experiment(Protocol):
    """The functions of an `experiment.py`; `draw` may be missing."""

    def points(self, settings: Settings) -> list[Point]:
        """Say what has to be simulated."""

    def simulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """Simulate one point."""

    def summarise(self, results: Mapping[str, dict[str, Any]], settings: Settings) -> Summary:
        """Reduce all results to named values and tables."""

    def draw(self, results: Mapping[str, dict[str, Any]], directory: Path, settings: Settings) -> list[Path]:
        """Draw figures into a directory; say which."""
