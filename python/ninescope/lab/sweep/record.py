"""What a lake knows of a sweep: its rows, and which point each is; and the table they make.

Nothing in a table depends on who ran what, in which order, or how long it took.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ninescope._native import ConfigError
from ninescope.lab.sweep.dataset import refreshed
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.plan import Plan
from ninescope.lab.sweep.point import current_build, point_id
from ninescope.lab.sweep.values import shown
from ninescope.result.metrics import NAMES, is_steadiness, meant
from ninescope.result.waf import REASONS, STEADINESS

KIND = "sweeps"
DONE, FAILED, LEFT = "done", "failed", "left"
STATE = "state"
BUILD = "build"
POINT = "point"
"""A row's design: the same whichever build ran it."""
_STEADY = (STEADINESS, REASONS)


@dataclasses.dataclass(frozen=True)
class Record:
    """A sweep in a lake."""

    name: str
    summary: str
    build: str
    """That which planned it."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]
    """The design of each, and what its columns say."""

    @classmethod
    def of(cls, plan: Plan) -> Record:
        """Take what a lake has to know of a plan."""
        rows = tuple((row.point.design, row.values) for row in plan.rows)
        return cls(plan.name, plan.summary, current_build(), plan.columns, rows)

    @classmethod
    def load(cls, lake: Lake, name: str | None = None) -> Record:
        """Read a sweep of a lake: the only one where none is named."""
        name, stored = lake.chosen_record(KIND, "sweep", name)
        try:
            rows = tuple((str(design), tuple(values)) for design, values in stored["rows"])
            return cls(stored["name"], stored["summary"], stored["build"], tuple(stored["columns"]), rows)
        except (KeyError, TypeError, ValueError):
            raise ConfigError(
                f"{lake.store.label(f'{KIND}/{name}.json')}: is damaged; `sweep run` writes it again"
            ) from None

    def save(self, lake: Lake) -> None:
        """Write it, unless it is there as it is."""
        stored = json.loads(json.dumps(dataclasses.asdict(self)))
        if lake.record(KIND, self.name) != stored:
            lake.put_record(KIND, self.name, stored)

    def ids(self, build: str | None = None) -> tuple[str, ...]:
        """Return the name of each row's point, as a build calls it; by default that which planned it."""
        return tuple(point_id(design, build or self.build) for design, _ in self.rows)


def table(lake: Lake, record: Record, *, all_builds: bool = False) -> pl.DataFrame:
    """Return one row per row of the sweep: its columns, its state, and the numbers of its result.

    With `all_builds` results of other builds are rows as well, told apart by a column.
    """
    results = refreshed(lake)
    failed = lake.quarantined()
    state = [FAILED if point in failed else LEFT for point in record.ids()]
    frame = pl.DataFrame(
        {
            "row": pl.Series(range(len(record.rows)), dtype=pl.UInt32),
            **{
                name: _column(name, [row[1][index] for row in record.rows])
                for index, name in enumerate(record.columns)
            },
            STATE: pl.Series(state, dtype=pl.String),
            POINT: pl.Series([design for design, _ in record.rows], dtype=pl.String),
        }
    )
    numbers = results.select(pl.col("design").alias(POINT), pl.col("build").alias(BUILD), *_STEADY, *NAMES)
    mine = frame.join(
        numbers.filter(pl.col(BUILD) == record.build), on=POINT, how="left", maintain_order="left"
    ).with_columns(
        pl.when(pl.col(BUILD).is_not_null()).then(pl.lit(DONE)).otherwise(pl.col(STATE)).alias(STATE)
    )
    mine = mine.with_columns(pl.lit(record.build).alias(BUILD))
    if all_builds:
        others = frame.join(numbers.filter(pl.col(BUILD) != record.build), on=POINT, how="inner")
        others = others.with_columns(pl.lit(DONE).alias(STATE)).select(mine.columns)
        mine = pl.concat([mine, others]).sort("row", BUILD)
    # A point is the last column: it is long, and says nothing to a reader.
    shown_columns = [*record.columns, *([BUILD] if all_builds else []), STATE, *_STEADY, *NAMES, POINT]
    return mine.select(shown_columns)


def of_other_builds(lake: Lake, record: Record) -> int:
    """Count results of the sweep's rows that other builds left."""
    results = refreshed(lake)
    designs = {design for design, _ in record.rows}
    return results.filter((pl.col("build") != record.build) & pl.col("design").is_in(list(designs))).height


def is_of_this_build(record: Record) -> bool:
    """Say whether the sweep was planned by this ninescope."""
    return record.build == current_build()


def as_bytes(frame: pl.DataFrame, form: str) -> bytes:
    """Write a table as csv, json or parquet: the same table, the same bytes."""
    content = io.BytesIO()
    if form == "csv":
        frame.write_csv(content)
    elif form == "parquet":
        frame.write_parquet(content)
    else:
        rows = frame.to_dicts()
        content.write(json.dumps({"rows": rows}, allow_nan=False, indent=1).encode() + b"\n")
    return content.getvalue()


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Make a column of what an axis says: of numbers where all are, else of texts."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        fits = all(-(1 << 63) <= value < 1 << 63 for value in values)
        return pl.Series(name, values, dtype=pl.Int64 if fits else pl.UInt64)
    if kinds <= {int, float}:
        return pl.Series(name, [float(value) for value in values], dtype=pl.Float64)
    return pl.Series(name, [shown(_plain(value)) for value in values], dtype=pl.String)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def columns_of(frame: pl.DataFrame, wanted: Sequence[str], record: Record) -> list[str]:
    """Return the axes and the columns that are wanted: of the names that numbers have, any will do."""
    found = list(record.columns)
    for name in wanted:
        if name in frame.columns or is_steadiness(name):
            found.append(name if name in frame.columns else STEADINESS)
        else:
            found += meant(name, [*record.columns, STEADINESS])
    return list(dict.fromkeys(found))
