"""A number of a sweep's results over one of its axes."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ninescope._native import ConfigError
from ninescope.figures import MOST_TOLD_APART, Axis, Figure, Panel, Series
from ninescope.lab.sweep.base import WORKLOAD
from ninescope.lab.sweep.conditions import plain
from ninescope.lab.sweep.file import SEED
from ninescope.lab.sweep.record import DONE, STATE, Record
from ninescope.lab.sweep.steadiness import below_a_figure, not_steady
from ninescope.lab.sweep.values import listed, nearest, shown
from ninescope.result.metrics import checked, unit
from ninescope.text.lines import some

MOST_LINES = MOST_TOLD_APART
"""More have no look of their own."""
MOST_PANELS = 30
_IN_A_ROW = 3
"""Panels of one facet stand so many side by side."""
_MARKED = 8
"""An axis of no more values has a tick at each of them, written as the file has it."""
_NAMED = 2
"""So many results that have no such number are named: words below a figure are beside its point."""
_PERCENTILE = re.compile(r"_p[0-9]")
_MARGIN = 0.05
"""Between what is drawn and the ends of an axis that panels have in common, as a share of it."""


def figure(
    frame: pl.DataFrame,
    record: Record,
    x: str,
    y: str,
    *,
    by: str | None = None,
    facet: Sequence[str] = (),
    log_x: bool = False,
    log_y: bool = False,
) -> Figure:
    """Describe the figure: a line for each value of `by`, or of all other axes together.

    Over values that are no numbers it is points instead.
    A facet makes a panel for each of its values; of two the first makes rows, the second columns. Of several
    seeds, and of axes that nothing tells apart, the mean is drawn, with the least and the most around it.
    Workloads are always told apart: a mean over them is of nothing. What a result that is not steady is part
    of is marked.
    """
    facets = list(facet)
    axes = [name for name in record.columns if name != SEED]
    _refuse_axes(record, axes, x, by, facets)
    y = checked(y)
    done = frame.filter(pl.col(y).is_not_null())
    missing = withheld(frame, axes, y)
    if not done.height:
        raise ConfigError(f"no result of {record.name} has a {y}{_why(y) if missing else ''}")
    different = [name for name in axes if name not in (x, *facets) and done[name].n_unique() > 1]
    others = different if by is None else [by, *(name for name in different if name == WORKLOAD != by)]
    scale = unit(y)
    places, axis = _places(done, x, log_x)
    panels = [
        Panel(
            name,
            axis,
            Axis(scale.label, log=log_y),
            [
                dataclasses.replace(
                    _line(_words(others, key), each, x, y, places, scale.scale),
                    # Between names there is nothing that a line could lead over.
                    form="points" if axis.categories else "line",
                )
                for key, each in _lines(part, others)
            ],
        )
        for name, part in _panels(done, facets)
    ]
    _refuse_too_many(len({line.label for panel in panels for line in panel.series}), len(panels))
    if len(panels) > 1:
        panels = _with_common_ends(panels)
    unseen = [name for name in different if name not in others]
    caption = " ".join(filter(None, (_caption(done, axes, unseen), missing, below_a_figure(done))))
    columns = done[facets[1]].n_unique() if len(facets) > 1 else min(_IN_A_ROW, len(panels))
    title = record.summary or record.name
    return Figure("sweep", title, panels, caption, columns=columns, hollow="not steady")


def withheld(frame: pl.DataFrame, axes: Sequence[str], y: str) -> str:
    """Say which results are not in a figure for want of such a number, and why; nothing where all have it.

    Where they are all that some values of an axis have, these name them; otherwise the first are named.
    """
    y = checked(y)
    done = frame.filter(pl.col(STATE) == DONE)
    gone = done.filter(pl.col(y).is_null())
    if not gone.height:
        return ""
    told = [name for name in axes if name != SEED and done[name].n_unique() > 1]
    begin = f"Left out, {gone.height} of {done.height} results have no {y}{_why(y)}"
    if axis := _told_by(done, gone, told):
        values = [shown(value) for value in gone[axis].unique(maintain_order=True)]
        return f"{begin}: all of {axis}={some(values)}."
    keys = gone.select(told).unique(maintain_order=True).rows() if told else []
    words = [_words(told, key) for key in keys]
    more = f"; and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    named = f": {'; '.join(words[:_NAMED])}{more}" if words else ""
    return f"{begin}{named}."


def _told_by(done: pl.DataFrame, gone: pl.DataFrame, axes: Sequence[str]) -> str:
    """Return the axis some values of which are those of all that is left out, and of nothing else."""
    for axis in axes:
        values = set(gone[axis].to_list())
        if sum(value in values for value in done[axis].to_list()) == gone.height < done.height:
            return axis
    return ""


def _why(y: str) -> str:
    return " (fewer than ten samples lie beyond it)" if _PERCENTILE.search(y) else ""


def _refuse_axes(record: Record, axes: Sequence[str], x: str, by: str | None, facets: Sequence[str]) -> None:
    """Refuse what is no axis, what is asked for twice, and a third dimension of panels."""
    asked = [x, *([by] if by is not None else []), *facets]
    for name in asked:
        if name not in axes:
            raise ConfigError(f"{name!r} is no axis of {record.name}{nearest(name, axes)}")
    if len(facets) > 2:
        raise ConfigError("--facet: one axis makes panels, and two make rows and columns; three are too many")
    for name in facets:
        if asked.count(name) > 1:
            raise ConfigError(
                f"--facet {name}: it is asked for twice, and makes either panels, places or lines"
            )


def _refuse_too_many(lines: int, panels: int) -> None:
    if lines > MOST_LINES:
        raise ConfigError(
            f"{lines} lines are too many to tell apart (up to {MOST_LINES}): choose one axis with --by, "
            "panels with --facet, or rows with --where"
        )
    if panels > MOST_PANELS:
        raise ConfigError(f"{panels} panels are too many (up to {MOST_PANELS}): choose rows with --where")


def _panels(frame: pl.DataFrame, facets: Sequence[str]) -> list[tuple[str, pl.DataFrame]]:
    """Return what each panel shows, row by row; combinations that there are not are empty."""
    if not facets:
        return [("", frame)]
    values = [_in_size(frame[name].unique(maintain_order=True).to_list()) for name in facets]
    return [
        (
            _words(list(facets), key),
            frame.filter(
                pl.all_horizontal(pl.col(name) == one for name, one in zip(facets, key, strict=True))
            ),
        )
        for key in itertools.product(*values)
    ]


def _in_size(values: Sequence[Any]) -> list[Any]:
    """Put values into the order of their sizes, where all have one of the same kind."""
    sizes = [plain(value) for value in values]
    kinds = {size[0] if isinstance(size, tuple) else None for size in sizes}
    if len(kinds) > 1 or None in kinds:
        return list(values)
    return [value for _, value in sorted(zip(sizes, values, strict=True), key=lambda pair: pair[0])]


def _lines(part: pl.DataFrame, others: Sequence[str]) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
    return list(part.group_by(others, maintain_order=True)) if others else [((), part)] if part.height else []


def _with_common_ends(panels: Sequence[Panel]) -> list[Panel]:
    """Let all panels reach from the least to the most that one of them shows: they are to be compared."""
    return [
        dataclasses.replace(
            panel,
            x=panel.x if panel.x.categories else _reaching(panel.x, panels, ("x",)),
            y=_reaching(panel.y, panels, ("y", "low", "high")),
        )
        for panel in panels
    ]


def _reaching(axis: Axis, panels: Sequence[Panel], names: Sequence[str]) -> Axis:
    values = [
        float(value)
        for panel in panels
        for series in panel.series
        for name in names
        for value in getattr(series, name)
        if value is not None and (value > 0 or not axis.log)
    ]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        return axis
    if axis.log:
        room = (high / low) ** _MARGIN
        return dataclasses.replace(axis, low=low / room, high=high * room)
    room = (high - low) * _MARGIN
    return dataclasses.replace(axis, low=low - room, high=high + room)


def _caption(done: pl.DataFrame, axes: list[str], unseen: list[str]) -> str:
    """Say what means are taken over."""
    over = [f"the {done[name].n_unique()} values of {name}" for name in unseen]
    least, most = _seeds(done, axes)
    if most > 1:
        over.append(f"{most} seeds" if least == most else f"{least} to {most} seeds")
    if not over:
        return ""
    words = f"{', '.join(over[:-1])} and {over[-1]}" if len(over) > 1 else over[0]
    return f"Mean {'over' if unseen else 'of'} {words}; bars from the least to the most."


def _seeds(done: pl.DataFrame, axes: list[str]) -> tuple[int, int]:
    """Return how many seeds a design has at least and at most: conditions may have left some of them out."""
    if SEED not in done.columns:
        return 1, 1
    counts = done.group_by(axes).agg(pl.col(SEED).n_unique())[SEED].to_list()
    return min(counts), max(counts)


_SCALES = {
    "time": (1e-3, " [us]"),
    "size": (2.0**-10, " [KiB]"),
    "share": (100.0, " [%]"),
    "rate": (1e-6, " [MB/s]"),
    "power": (1e-6, " [W]"),
    "energy": (1e-3, " [pJ]"),
}
"""How many of what an axis counts a value's smallest unit is."""

FORMS = ("png", "svg", "pdf")


def save(drawn: Figure, path: Path) -> Path:
    """Write the figure to a file, in the form that its ending says; return its path."""
    from ninescope import pictures
    from ninescope.common.files import output_directory

    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise ConfigError(f"{path}: a figure is {listed(FORMS)}, by the ending of its name")
    with output_directory(path.parent, shared=True):
        pictures.save(dataclasses.replace(drawn, name=path.stem), path.parent, (form,))
    return path


def _places(frame: pl.DataFrame, x: str, is_log: bool) -> tuple[dict[Any, float], Axis]:
    """Return where each value of the axis lies: by its size where it has one, else one beside the other."""
    values = frame[x].unique(maintain_order=True).to_list()
    sizes = {value: plain(value) for value in values}
    kinds = {size[0] for size in sizes.values() if isinstance(size, tuple)}
    if len(kinds) == 1 and all(isinstance(size, tuple) for size in sizes.values()):
        [kind] = kinds
        scale, words = _SCALES.get(kind, (1.0, ""))
        places = {value: float(size[1]) * scale for value, size in sizes.items()}
        lost = [value for value, place in places.items() if place <= 0]
        if is_log and lost:
            raise ConfigError(f"--log-x: a logarithmic axis has no place for the {shown(lost[0])} of {x}")
        ticks = sorted({place: shown(value) for value, place in reversed(places.items())}.items())
        if len(ticks) > _MARKED:
            return places, Axis(f"{x}{words}", log=is_log)
        return places, Axis(x, log=is_log, ticks=ticks)  # its values have their units
    if is_log:
        raise ConfigError(f"--log-x: {x} has values that are no numbers")
    return {value: float(index) for index, value in enumerate(values)}, Axis(
        x, categories=[shown(one) for one in values]
    )


def _line(label: str, part: pl.DataFrame, x: str, y: str, places: dict[Any, float], scale: float) -> Series:
    means = part.group_by(x, maintain_order=True).agg(
        pl.col(y).mean().alias("mean"),
        pl.col(y).min().alias("low"),
        pl.col(y).max().alias("high"),
        pl.len(),
        not_steady().any().alias("hollow"),
    )
    rows = sorted(means.iter_rows(named=True), key=lambda row: places[row[x]])
    several = any(row["len"] > 1 for row in rows)
    return Series(
        label,
        [places[row[x]] for row in rows],
        [row["mean"] * scale for row in rows],
        low=[row["low"] * scale for row in rows] if several else (),
        high=[row["high"] * scale for row in rows] if several else (),
        hollow=[row["hollow"] for row in rows] if any(row["hollow"] for row in rows) else (),
    )


def _words(names: list[str], key: tuple[Any, ...]) -> str:
    if len(names) == 1:
        return f"{names[0]} {shown(key[0])}"
    return ", ".join(f"{name} {shown(value)}" for name, value in zip(names, key, strict=True))
