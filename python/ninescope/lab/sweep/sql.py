"""SQL over a lake, by polars."""

from __future__ import annotations

import re

import polars as pl

from ninescope._native import ConfigError
from ninescope.lab.sweep.dataset import HOUSEKEEPING, refreshed
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.record import KIND, Record, table
from ninescope.lab.sweep.values import listed, nearest
from ninescope.result.metrics import names

POINTS = "points"
SWEEP = "sweep"
_READING = ("select", "with", "from", "values", "show", "explain")
"""What queries begin with that only read."""
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def asked(lake: Lake, query: str, name: str | None = None) -> pl.DataFrame:
    """Answer a query.

    `points` are all results of the lake, of every build; each sweep is a table of its own name (with `_` for
    what SQL does not take in a name), and `sweep` is the one named, or the only one.
    """
    _refuse_changes(query)
    context = pl.SQLContext({POINTS: refreshed(lake).drop(HOUSEKEEPING)})
    sweeps = lake.records(KIND)
    for one in sweeps:
        frame = table(lake, Record.load(lake, one))
        context.register(_sql_name(one), frame)
        if one == name or (name is None and len(sweeps) == 1):
            context.register(SWEEP, frame)
    if name is not None:
        Record.load(lake, name)  # which says it, where there is no such sweep
    try:
        return context.execute(query, eager=True)
    except pl.exceptions.PolarsError as error:
        tables = listed(sorted(context.tables()))
        raise ConfigError(f"sql: {_told(error)} (tables: {tables})") from None


def _refuse_changes(query: str) -> None:
    """Refuse what is no question: a lake is read here, and a statement that changes would change nothing."""
    begin = _COMMENT.sub(" ", query).lstrip(" \t\r\n(")
    word = re.match(r"\w*", begin)
    if word is None or word[0].lower() not in _READING:
        raise ConfigError(f"sql: a query is wanted that reads ({', '.join(_READING)}), not {_cut(query)!r}")


def _cut(query: str) -> str:
    words = " ".join(query.split())
    return words if len(words) <= 40 else f"{words[:40]}…"


def _told(error: Exception) -> str:
    """Return what polars says, with the name that a number has as a column, and without a list of all."""
    told = str(error).partition("\n")[0]
    match = re.match(r'unable to find column "([^"]*)"(?:; valid columns: (\[.*\]))?', told)
    if match is None:
        return told
    word, columns = match[1], re.findall(r'"([^"]*)"', match[2] or "")
    meant = [name for name in names().get(word, ()) if name in columns]
    hint = f"; the column is {' or '.join(map(repr, meant))}" if meant else nearest(word, columns)
    return f"there is no column {word!r}{hint}"


def _sql_name(name: str) -> str:
    return re.sub(r"\W", "_", name)
