"""Which rows of a sweep's table are wanted, as `--where` says.

`KEY=VALUE`, `KEY!=VALUE`, `KEY<VALUE` and so on, with a value as tables show it (`nand.read<=40us`,
`ftl.victim=greedy`); or a condition as sweep files have them after `if`
(`ftl.over_provisioning < 0.1 or workload == "oltp"`). Keys are axes, numbers by whatever name they have, and
`steadiness`, which says whether a result's measured window had settled, with `steadiness_reasons`, why not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from ninescope._native import ConfigError
from ninescope.lab.sweep.conditions import Condition, compared
from ninescope.lab.sweep.record import Record
from ninescope.lab.sweep.values import in_unit_of, nearest, shown
from ninescope.result.metrics import checked, is_steadiness
from ninescope.result.metrics import names as names_of_numbers
from ninescope.result.waf import REASONS, STEADINESS

_PAIR = re.compile(r"""\s*([\w.-]+)\s*(==|!=|<=|>=|=|<|>)\s*([^"'=<>\s][^"'=<>]*?)\s*""")
"""A key, how it is compared, and a value without quotes."""
_WORDS = re.compile(r"(?<![\w-])(and|or|not|in)(?![\w-])")
"""What makes a condition of more than a key and a value; no part of a value such as `not-steady`."""


def filtered(frame: pl.DataFrame, record: Record, where: Sequence[str]) -> pl.DataFrame:
    """Return the rows of which all conditions hold; what holds of none is refused."""
    for text in where:
        pair = _PAIR.fullmatch(text)
        is_pair = pair is not None and not _WORDS.search(pair[3])
        kept = _by_pair(frame, record, text, *pair.groups()) if pair and is_pair else _by(frame, record, text)
        if not kept.height:
            raise ConfigError(
                f"--where {text!r}: no row of {record.name} is left{_there(frame, pair, is_pair)}"
            )
        frame = kept
    return frame


def _by_pair(
    frame: pl.DataFrame, record: Record, text: str, key: str, operator: str, value: str
) -> pl.DataFrame:
    column = _column(record, text, key)
    sign = "==" if operator == "=" else operator
    wanted = value if column in record.columns else _in_unit(column, value)
    keep = [_holds(text, sign, each, wanted) for each in frame[column].to_list()]
    return frame.filter(pl.Series(keep, dtype=pl.Boolean))


def _holds(text: str, operator: str, given: object, value: str) -> bool:
    try:
        # What is compared as a number may be written as one.
        return compared(operator, given, value) or (operator == "==" and shown(given) == value)
    except TypeError:
        raise ConfigError(f"--where {text!r}: {shown(given)} and {value} cannot be compared") from None


def _in_unit(number: str, value: str) -> str:
    """Write a quantity in the unit that a number is kept in: a time in nanoseconds, a rate in B/s."""
    found = in_unit_of(number, value)
    return value if found is None else str(found)


def _by(frame: pl.DataFrame, record: Record, text: str) -> pl.DataFrame:
    condition = Condition(text)
    columns = {key: _column(record, text, key) for key in condition.keys}
    keep = [
        condition.holds({key: row[column] for key, column in columns.items()})
        for row in frame.iter_rows(named=True)
    ]
    return frame.filter(pl.Series(keep, dtype=pl.Boolean))


def _column(record: Record, text: str, key: str) -> str:
    """Return the column that a key means: an axis, a number, or the verdict on steadiness."""
    if key in record.columns or key == REASONS:
        return key
    if is_steadiness(key):
        return STEADINESS
    if key in names_of_numbers():
        return checked(key)
    raise ConfigError(f"--where {text!r}: {key!r} is no axis of {record.name}{nearest(key, record.columns)}")


def _there(frame: pl.DataFrame, pair: re.Match[str] | None, is_pair: bool) -> str:
    """Say which values there are, where one was asked for."""
    if pair is None or not is_pair or pair[1] not in frame.columns:
        return ""
    values = [shown(value) for value in frame[pair[1]].unique(maintain_order=True).to_list()]
    return f"; {pair[1]} is never that{nearest(pair[3], values)}" if "=" in pair[2] else ""
