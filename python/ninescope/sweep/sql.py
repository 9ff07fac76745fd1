"""SQL over a lake, by polars."""

from __future__ import annotations

import re

import polars as pl

from ninescope._native import ConfigError
from ninescope.sweep.dataset import HOUSEKEEPING, refreshed
from ninescope.sweep.lake import Lake
from ninescope.sweep.record import KIND, Record, table

POINTS = "points"
SWEEP = "sweep"


def asked(lake: Lake, query: str, name: str | None = None) -> pl.DataFrame:
    """Answer a query.

    `points` are all results of the lake, of every build; each sweep is a table of its own name (with `_` for
    what SQL does not take in a name), and `sweep` is the one named, or the only one.
    """
    context = pl.SQLContext({POINTS: refreshed(lake).drop(HOUSEKEEPING)})
    names = lake.records(KIND)
    for one in names:
        frame = table(lake, Record.load(lake, one))
        context.register(_sql_name(one), frame)
        if one == name or (name is None and len(names) == 1):
            context.register(SWEEP, frame)
    if name is not None:
        Record.load(lake, name)  # which says it, where there is no such sweep
    try:
        return context.execute(query, eager=True)
    except pl.exceptions.PolarsError as error:
        told = str(error).partition("\n")[0]
        tables = ", ".join(sorted(context.tables()))
        raise ConfigError(f"sql: {told} (tables: {tables})") from None


def _sql_name(name: str) -> str:
    return re.sub(r"\W", "_", name)
