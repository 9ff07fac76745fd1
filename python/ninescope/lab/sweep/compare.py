"""Two designs of a sweep side by side: which runs face each other, setting by setting.

A setting is what the rest of the axes say. Within one, runs differ in their seeds alone, and are
replications. What may be said of them is the business of `ninescope.lab.compare`, which knows no sweeps: here
nothing is computed but the range of its ratios over several settings, which are no replications.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ninescope._native import ConfigError
from ninescope.common.numbers import counted
from ninescope.lab.compare.comparison import Comparison, Row
from ninescope.lab.compare.judging import compare_each
from ninescope.lab.compare.sides import Side
from ninescope.lab.compare.verdict import SAME
from ninescope.lab.sweep.file import SEED
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.point import point_id
from ninescope.lab.sweep.record import DONE, POINT, STATE, Record, table
from ninescope.lab.sweep.values import nearest, shown

if TYPE_CHECKING:
    from rich.console import Console

VERSION = 2
"""Of the document. The first held means over all pairs, without intervals."""
_FEW_SEEDS = 5
_OUTER_COMMA = re.compile(r",(?![^(\[{]*[)\]}])")
"""One that is in no value: `ftl.victim=d-choices(d=4, x=1),seed=2`."""
_SAME = "the same"
"""What is said where chance has no part, and a difference not shown is none."""
_VERDICTS = {"lower": "lower", "higher": "higher", "none": "no difference shown"}
"""What else may be said of a metric of one setting."""
_ORDER = (_SAME, *_VERDICTS.values())
"""In which settings are counted."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A and B where the rest of the axes says the same."""

    values: Mapping[str, Any]
    """What that is."""
    comparison: Comparison

    @property
    def label(self) -> str:
        """What it is called: `workload.iodepth=4`."""
        return ", ".join(f"{name}={shown(value)}" for name, value in self.values.items())


@dataclasses.dataclass(frozen=True)
class Range:
    """A metric over several settings: what B / A was at the least and at the most, and where."""

    label: str
    low: float | None
    """None where A is 0, or one was not measured."""
    low_at: int
    """The setting, by its number from 0."""
    high: float | None
    high_at: int
    verdicts: Mapping[str, int]
    """In how many settings what may be said."""


@dataclasses.dataclass(frozen=True)
class Compared:
    """What two designs came to, in each setting."""

    a: str
    b: str
    settings: tuple[Setting, ...]
    left_out: int
    """Settings of which only one side has results."""

    @property
    def equal(self) -> list[str]:
        """The labels of metrics that both measured alike in every pair of runs of every setting."""
        return [
            label
            for label, rows in self._shown().items()
            if all(self.settings[at].comparison.is_equal_throughout(row) for at, row in rows)
        ]

    def ranges(self) -> list[Range]:
        """Return the range of each metric that is not equal throughout."""
        equal = self.equal
        return [_range(label, rows) for label, rows in self._shown().items() if label not in equal]

    def _shown(self) -> dict[str, list[tuple[int, Row]]]:
        """Return the rows of each metric, with their settings: those that enough samples stand behind."""
        found: dict[str, list[tuple[int, Row]]] = {}
        for at, setting in enumerate(self.settings):
            for row in setting.comparison.rows:
                if row.is_trusted or not row.metric.percentile:
                    found.setdefault(row.metric.label, []).append((at, row))
        return found

    def as_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold: each setting with the document of its comparison."""
        return {
            "sweep_comparison": VERSION,
            "a": self.a,
            "b": self.b,
            "left_out": self.left_out,
            "settings": [
                {"setting": dict(setting.values), **setting.comparison.document()}
                for setting in self.settings
            ],
        }


def compared(lake: Lake, record: Record, a: str, b: str) -> Compared:
    """Compare the rows that `a` and `b` name, in each setting that both have results of."""
    frame = table(lake, record).with_row_index("place")
    first, names_a = _chosen(frame, record, a)
    second, names_b = _chosen(frame, record, b)
    rest = [name for name in record.columns if name not in {*names_a, *names_b} and name != SEED]
    _refuse_open(first, a, names_a, names_b)
    _refuse_open(second, b, names_b, names_a)
    sides = [_by_setting(chosen, rest) for chosen in (first, second)]
    both = [key for key in sides[0] if key in sides[1]]
    if not both:
        raise ConfigError(f"{a} and {b} have no rows that differ in nothing else")
    pairs = [
        (_side(lake, record, "A", a, sides[0][key]), _side(lake, record, "B", b, sides[1][key]))
        for key in both
    ]
    settings = tuple(
        Setting(dict(zip(rest, key, strict=True)), comparison)
        for key, comparison in zip(both, compare_each(pairs), strict=True)
    )
    return Compared(a, b, settings, len(sides[0].keys() ^ sides[1].keys()))


def _range(label: str, rows: Sequence[tuple[int, Row]]) -> Range:
    known = [(row.b.value / row.a.value, at) for at, row in rows if row.a and row.b and row.a.value]
    (low, low_at), (high, high_at) = (
        (min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0]))
        if len(known) == len(rows)
        else ((None, 0), (None, 0))
    )
    counts = collections.Counter(_word(row) for _, row in rows)
    order = [*(word for word in _ORDER if word in counts), *counts]
    return Range(label, low, low_at, high, high_at, {word: counts[word] for word in order})


def _word(row: Row) -> str:
    """Return what settings are counted by."""
    if row.verdict.kind == "none" and (row.metric.exact or row.verdict is SAME):
        return _SAME
    return _VERDICTS.get(row.verdict.kind, row.verdict.words)


def _by_setting(rows: pl.DataFrame, rest: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Return the places of rows by what the rest of the axes says."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault(tuple(row[name] for name in rest), []).append(row["place"])
    return found


def _side(lake: Lake, record: Record, name: str, words: str, places: Sequence[int]) -> Side:
    """Read the results of one side in a setting, one for each seed."""
    results = []
    for place in places:
        point = point_id(record.rows[place][0], record.build)
        kept = lake.get(point)
        if kept is None:
            raise ConfigError(
                f"{lake.store.label()}: {point}: was damaged just now; `sweep run` runs it again"
            )
        results.append(kept.result())
    return Side.of(name, results, words)


def _refuse_open(rows: pl.DataFrame, words: str, names: Sequence[str], other: Sequence[str]) -> None:
    """Refuse a side that leaves an axis open which the other names: one would face many."""
    for name in other:
        if name not in names and name != SEED and rows[name].n_unique() > 1:
            raise ConfigError(f"{words} leaves {name} open, and the other side names it: name it in both")


def _chosen(frame: pl.DataFrame, record: Record, words: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows that `key=value,key=value` names, or the one of a point, and the axes that it names."""
    done = frame.filter(pl.col(STATE) == DONE)
    if "=" not in words:
        rows = done.filter(pl.col(POINT).str.starts_with(words))
        if rows.height != 1:
            raise ConfigError(f"{words!r} names no single point (values do: {', '.join(record.columns)}=…)")
        return rows, list(record.columns)
    names = []
    for word in _OUTER_COMMA.split(words):
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in record.columns:
            raise ConfigError(f"{name!r} is no axis of {record.name}{nearest(name, record.columns)}")
        known = {shown(one): one for one in frame[name].unique(maintain_order=True).to_list()}
        value = next((text for text, one in known.items() if _is_number(value, one)), value)
        if value not in known:
            raise ConfigError(f"{name} is never {value!r}{nearest(value, known)}")
        done = done.filter(pl.col(name) == known[value])
        names.append(name)
    if not done.height:
        raise ConfigError(f"{words} has no results")
    return done, names


# ---- in a terminal --------------------------------------------------------------------------------------


def print_compared(found: Compared, console: Console) -> None:
    """Print one setting as `ninescope compare` does, of several the range over them."""
    from ninescope.lab.compare.text import print_comparison

    if len(found.settings) == 1:
        [setting] = found.settings
        if setting.values:
            console.print(f" both with {setting.label}", markup=False, soft_wrap=True)
        print_comparison(setting.comparison, console, with_equal=False)
    else:
        _print_ranges(found, console)
    for line in _remarks(found):
        console.print(f" note {line}", markup=False, soft_wrap=True)


def _print_ranges(found: Compared, console: Console) -> None:
    from ninescope.lab.compare.text import are_equal

    count = len(found.settings)
    axes = ", ".join(found.settings[0].values)
    print(f" A  {found.a}\n B  {found.b}\n {count} settings ({axes}), each compared by itself:")
    for words, times in collections.Counter(each.comparison.design for each in found.settings).items():
        print(f"   {f'in {times}: ' if times < count else ''}{words}")
    ranges = found.ranges()
    if ranges:
        _print_table(ranges, found, console)
    if found.equal:
        print(f" {are_equal(len(found.equal))}: {', '.join(found.equal)}")


def _print_table(ranges: Sequence[Range], found: Compared, console: Console) -> None:
    from ninescope.text.lines import print_rows

    print("\n B / A over the settings, from the least to the most: a range, and no interval, because other")
    print(" settings are no replications\n")
    heads = ("", "from", "at", "to", "at", f"of {len(found.settings)} settings")
    print_rows(heads, [_cells(one) for one in ranges], console, right=(1, 2, 3, 4))
    named = sorted({at for one in ranges if one.low is not None for at in (one.low_at, one.high_at)})
    print()
    for at in named:
        print(f" #{at + 1}  {found.settings[at].label}")


def _cells(one: Range) -> tuple[str, ...]:
    counts = ", ".join(f"{words} in {count}" for words, count in one.verdicts.items())
    if one.low is None or one.high is None:
        return one.label, "-", "", "-", "", counts
    return one.label, f"{one.low:.3f}", f"#{one.low_at + 1}", f"{one.high:.3f}", f"#{one.high_at + 1}", counts


def _remarks(found: Compared) -> Iterator[str]:
    """Yield what a reader should know of the pairs, and what would say more."""
    comparisons = [setting.comparison for setting in found.settings]
    if found.left_out:
        yield f"left out: {counted(found.left_out, 'setting')} of which only one side has results"
    if len(comparisons) > 1:
        judged = sum(row.p_corrected is not None for one in comparisons for row in one.rows)
        if judged:
            yield f"verdicts are corrected for all {judged} intervals at once (Holm)"
        remarks = collections.Counter(remark for one in comparisons for remark in one.remarks)
        for remark, times in remarks.items():
            yield f"in {times} settings: {remark}" if times < len(comparisons) else remark
        yield "a setting with its intervals: name it on both sides, or take --json"
    seeds = min(len(one.a.seeds) for one in comparisons)
    if seeds == 1:
        yield (
            f"one seed alone: no interval over seeds can be made; `seeds = {_FEW_SEEDS}` in the sweep file "
            "gives every number one"
        )


def _is_number(written: str, value: object) -> bool:
    """Say whether somebody wrote a number, in whatever form: 0.10 is 0.1."""
    try:
        return isinstance(value, int | float) and float(written) == value
    except ValueError:
        return False
