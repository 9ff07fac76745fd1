"""From a sweep to its points, before anything runs."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.numbers import counted
from ninescope.lab.sweep.base import WORKLOAD, KeyProblemError, remarks_of
from ninescope.lab.sweep.file import SEED, Axis, SweepFile, When
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.values import shown

MANY_POINTS = 1_000_000
"""More are refused: they would not end in a lifetime, and are a mistake."""

Values = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a sweep's table: what its columns say, and the point that it is."""

    values: tuple[Any, ...]
    point: Point


@dataclasses.dataclass(frozen=True)
class Plan:
    """All points of a sweep."""

    name: str
    summary: str
    columns: tuple[str, ...]
    """What tells rows from each other: axes, and the seed where there are several."""
    rows: tuple[Row, ...]
    combinations: int
    """Of the values of all axes and the seeds."""
    left_out: int
    """By conditions."""
    merged: int
    """Combinations that are the same in every column."""
    remarks: tuple[str, ...] = ()
    """Words of workloads that say nothing in any point."""

    @functools.cached_property
    def points(self) -> tuple[Point, ...]:
        """What has to be run: each once, though several rows may be the same run."""
        return tuple({row.point.id: row.point for row in self.rows}.values())

    def label(self, row: Row) -> str:
        """Return what a row is called: `nand.read=40us seed=2`."""
        pairs = zip(self.columns, row.values, strict=True)
        return " ".join(f"{name}={shown(value)}" for name, value in pairs) or row.point.workload.name

    def labels(self) -> dict[str, str]:
        """Return what points are called, by their names."""
        found: dict[str, str] = {}
        for row in self.rows:
            found.setdefault(row.point.id, self.label(row))
        return found


def plan_of(sweep: SweepFile) -> Plan:
    """Make all points of a sweep; what is wrong with one of them is said with its place in the file."""
    combinations = math.prod(len(axis.rows) for axis in sweep.axes) * len(sweep.seeds)
    if combinations > MANY_POINTS:
        sweep.refuse(f"the grid has {combinations:,} points; {MANY_POINTS:,} are the most", "axes")
    columns = _columns(sweep)
    _check_conditions(sweep)
    rows: dict[tuple[Any, ...], Row] = {}
    left_out = 0
    uses = [0] * len(sweep.whens)
    sources: dict[str, list[Source]] = {name: [] for name in sweep.base.workloads}
    for values, seed in _grid(sweep):
        changed = _changed(sweep, values, seed, uses)
        if changed is None:
            left_out += 1
            continue
        cells = tuple(changed[key] if key != SEED else seed for key in columns)
        identity = tuple(shown(cell) for cell in cells)
        if identity not in rows:
            point = _point(sweep, changed, seed)
            rows[identity] = Row(cells, point)
            sources[changed.get(WORKLOAD, next(iter(sources)))].append(point.workload)
    for when, used in zip(sweep.whens, uses, strict=True):
        if not used:
            sweep.refuse(f"{when.condition.text!r} is true of no point", *when.where, "if")
    if not rows:
        sweep.refuse(f"the conditions leave out all of {counted(combinations, 'point')}", "when", 0)
    merged = combinations - left_out - len(rows)
    remarks = remarks_of(sources)
    return Plan(
        sweep.name, sweep.summary, columns, tuple(rows.values()), combinations, left_out, merged, remarks
    )


def _columns(sweep: SweepFile) -> tuple[str, ...]:
    # What has a name says more than the keys that it stands for.
    columns = [key for axis in sweep.axes for key in ([axis.label] if axis.label else axis.keys)]
    return (*columns, *([SEED] if len(sweep.seeds) > 1 else []))


def _check_conditions(sweep: SweepFile) -> None:
    known = {*_columns(sweep), *(key for axis in sweep.axes for key in axis.keys), SEED}
    for source in sweep.base.workloads:
        known |= set(sweep.base.values(source))
    for when in sweep.whens:
        try:
            when.condition.check(sorted(known))
        except ConfigError as error:
            # What is no key at all is told first: the condition may be right, and the axis mistyped.
            values, seed = next(_grid(sweep))
            _point(sweep, values, seed)
            sweep.refuse(str(error), *when.where, "if")


def _grid(sweep: SweepFile) -> Iterator[tuple[Values, int]]:
    """Combine the values of all axes; the last axis changes fastest, seeds faster still."""
    for chosen in itertools.product(*(_of_axis(axis) for axis in sweep.axes)):
        values: Values = {}
        for part in chosen:
            values |= part
        for seed in sweep.seeds:
            yield values, seed


def _of_axis(axis: Axis) -> list[Values]:
    found = []
    for index, row in enumerate(axis.rows):
        label = {axis.label: axis.labels[index]} if axis.label else {}
        found.append({**label, **dict(zip(axis.keys, row, strict=True))})
    return found


def _changed(sweep: SweepFile, values: Values, seed: int, uses: list[int]) -> Values | None:
    """Apply conditions; None where one leaves the point out. All look at the values as they were."""
    if not sweep.whens:
        return values
    workload = values.get("workload", next(iter(sweep.base.workloads)))
    seen = {**sweep.base.values(workload), **values, SEED: seed}
    changed = dict(values)
    by: dict[str, When] = {}
    is_left_out = False
    for index, when in enumerate(sweep.whens):
        try:
            holds = when.condition.holds(seen)
        except ConfigError as error:
            sweep.refuse(str(error), *when.where, "if")
        if not holds:
            continue
        uses[index] += 1
        is_left_out = is_left_out or when.skip
        for key, value in when.set_.items():
            if key in by and changed[key] != value:
                other = f"{by[key].condition.text!r} sets it to {shown(changed[key])}"
                sweep.refuse(f"sets {key} to {shown(value)}, and {other}", *when.where)
            by[key], changed[key] = when, value
    return None if is_left_out else changed


def _point(sweep: SweepFile, values: Mapping[str, Any], seed: int) -> Point:
    labels = {axis.label for axis in sweep.axes if axis.label}
    settings = {key: value for key, value in values.items() if key not in labels}
    try:
        return sweep.base.point(settings, seed=seed)
    except KeyProblemError as error:
        if sweep.where_is(error.key):
            sweep.refuse_key(error)
        sweep.refuse(f"{error} (at {_at(settings)})", *_first_place(sweep))


def _at(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={shown(value)}" for key, value in values.items()) or "every point"


def _first_place(sweep: SweepFile) -> Sequence[str | int]:
    return ("axes",) if sweep.axes else ()
