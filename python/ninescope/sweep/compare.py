"""Two designs of a sweep side by side: pairs of rows that differ in nothing but the design."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import polars as pl

from ninescope._native import ConfigError
from ninescope.catalogue import did_you_mean
from ninescope.metrics import NAMES, unit
from ninescope.sweep.record import DONE, POINT, STATE, Record
from ninescope.sweep.values import shown

if TYPE_CHECKING:
    from rich.console import Console


@dataclasses.dataclass(frozen=True)
class Difference:
    """One number, of A and of B: means over the pairs."""

    name: str
    a: float
    b: float
    low: float | None
    """The least and the most of B / A - 1 over the pairs; None where A is 0."""
    high: float | None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What two designs came to."""

    a: str
    b: str
    pairs: int
    differences: tuple[Difference, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return dataclasses.asdict(self)


def compared(frame: pl.DataFrame, record: Record, a: str, b: str) -> Comparison:
    """Compare the rows that `a` and `b` name, pair by pair where the rest of the axes is the same."""
    first, names_a = _chosen(frame, record, a)
    second, names_b = _chosen(frame, record, b)
    by = [name for name in record.columns if name not in {*names_a, *names_b}]
    if by:
        pairs = first.join(second, on=by, how="inner", suffix=" of B", maintain_order="left")
    elif first.height == second.height == 1:
        pairs = first.join(second, how="cross", suffix=" of B")
    else:
        pairs = first.head(0).join(second.head(0), how="cross", suffix=" of B")
    if not pairs.height:
        raise ConfigError(f"{a} and {b} have no rows that differ in nothing else")
    found = []
    for name in NAMES:
        both = pairs.filter(pl.col(name).is_not_null() & pl.col(f"{name} of B").is_not_null())
        if both.height == pairs.height:
            found.append(_difference(name, both))
    return Comparison(a, b, pairs.height, tuple(found))


def _difference(name: str, pairs: pl.DataFrame) -> Difference:
    of_a, of_b = pairs[name].to_list(), pairs[f"{name} of B"].to_list()
    ratios = [b / a - 1 for a, b in zip(of_a, of_b, strict=True) if a]
    complete = len(ratios) == len(of_a)
    return Difference(
        name,
        sum(of_a) / len(of_a),
        sum(of_b) / len(of_b),
        min(ratios) if complete else None,
        max(ratios) if complete else None,
    )


def _chosen(frame: pl.DataFrame, record: Record, words: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows that `key=value,key=value` names, or the one of a point, and the axes that it names."""
    done = frame.filter(pl.col(STATE) == DONE)
    if "=" not in words:
        rows = done.filter(pl.col(POINT).str.starts_with(words))
        if rows.height != 1:
            raise ConfigError(f"{words!r} names no single point (values do: {', '.join(record.columns)}=…)")
        return rows, list(record.columns)
    names = []
    for word in words.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in record.columns:
            raise ConfigError(f"{name!r} is no axis of {record.name}{did_you_mean(name, record.columns)}")
        known = {shown(one): one for one in frame[name].unique(maintain_order=True).to_list()}
        if value not in known:
            raise ConfigError(f"{name} is never {value!r}{did_you_mean(value, known)}")
        done = done.filter(pl.col(name) == known[value])
        names.append(name)
    if not done.height:
        raise ConfigError(f"{words} has no results")
    return done, names


def print_comparison(found: Comparison, console: Console) -> None:
    """Print both columns, and by how much B differs."""
    from rich.table import Table
    from rich.text import Text

    from ninescope.sweep.text import number

    pairs = f"{found.pairs} pair{'s' if found.pairs > 1 else ''} of runs"
    console.print(Text(f"A  {found.a}\nB  {found.b}\n{pairs}\n"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "A", "B", "B - A", *(["from", "to"] if found.pairs > 1 else [])):
        table.add_column(name, justify="right" if name else "left")
    for one in found.differences:
        scale = unit(one.name)
        mean = f"{one.b / one.a - 1:+.1%}" if one.a else "-"
        spread = [f"{bound:+.1%}" if bound is not None else "-" for bound in (one.low, one.high)]
        cells = (number(one.a * scale.scale), number(one.b * scale.scale), mean)
        table.add_row(Text(scale.label), *cells, *(spread if found.pairs > 1 else ()))
    console.print(table)
