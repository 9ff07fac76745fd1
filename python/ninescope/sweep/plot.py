"""A number of a sweep's results over one of its axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from ninescope._native import ConfigError
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.metrics import checked, unit
from ninescope.sweep.base import WORKLOAD
from ninescope.sweep.conditions import plain
from ninescope.sweep.file import SEED
from ninescope.sweep.record import Record
from ninescope.sweep.values import listed, nearest, shown

MOST_LINES = 12


def figure(
    frame: pl.DataFrame,
    record: Record,
    x: str,
    y: str,
    *,
    by: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
) -> Figure:
    """Describe the figure: a line for each value of `by`, or of all other axes together.

    Of several seeds, and of axes that no line tells apart, the mean is drawn, with the least and the most
    around it. Workloads always have lines of their own: a mean over them is of nothing.
    """
    axes = [name for name in record.columns if name != SEED]
    for name in (x, *([by] if by is not None else [])):
        if name not in axes:
            raise ConfigError(f"{name!r} is no axis of {record.name}{nearest(name, axes)}")
    y = checked(y)
    done = frame.filter(pl.col(y).is_not_null())
    if not done.height:
        raise ConfigError(f"no result of {record.name} has a {y}")
    different = [name for name in axes if name != x and done[name].n_unique() > 1]
    others = different if by is None else [by, *(name for name in different if name == WORKLOAD != by)]
    groups = done.group_by(others, maintain_order=True) if others else [((), done)]
    scale = unit(y)
    places, axis = _places(done, x, log_x)
    lines = [_line(_words(others, key), part, x, y, places, scale.scale) for key, part in groups]
    if len(lines) > MOST_LINES:
        raise ConfigError(f"{len(lines)} lines are too many to tell apart: choose one axis with --by")
    panel = Panel("", axis, Axis(scale.label, log=log_y), lines)
    caption = _caption(done, [name for name in different if name not in others])
    return Figure("sweep", record.summary or record.name, [panel], caption)


def _caption(done: pl.DataFrame, unseen: list[str]) -> str:
    """Say what means are taken over."""
    seeds = done[SEED].n_unique() if SEED in done.columns else 1
    over = [f"the {done[name].n_unique()} values of {name}" for name in unseen]
    if seeds > 1:
        over.append(f"{seeds} seeds")
    if not over:
        return ""
    words = f"{', '.join(over[:-1])} and {over[-1]}" if len(over) > 1 else over[0]
    return f"Mean {'over' if unseen else 'of'} {words}; bars from the least to the most."


FORMS = ("png", "svg", "pdf")


def save(drawn: Figure, path: Path) -> Path:
    """Write the figure to a file, in the form that its ending says; return its path."""
    import dataclasses

    from ninescope import pictures
    from ninescope.files import output_directory

    form = path.suffix.removeprefix(".")
    if form not in FORMS:
        raise ConfigError(f"{path}: a figure is {listed(FORMS)}, by the ending of its name")
    with output_directory(path.parent):
        pictures.save(dataclasses.replace(drawn, name=path.stem), path.parent, (form,))
    return path


def _places(frame: pl.DataFrame, x: str, is_log: bool) -> tuple[dict[Any, float], Axis]:
    """Return where each value of the axis lies: by its size where it has one, else one beside the other."""
    values = frame[x].unique(maintain_order=True).to_list()
    sizes = {value: plain(value) for value in values}
    kinds = {size[0] for size in sizes.values() if isinstance(size, tuple)}
    if len(kinds) == 1 and all(isinstance(size, tuple) for size in sizes.values()):
        [kind] = kinds
        scale, words = {"time": (1e-3, " [us]"), "size": (2.0**-10, " [KiB]"), "share": (100, " [%]")}.get(
            kind, (1.0, "")
        )
        return {value: float(size[1]) * scale for value, size in sizes.items()}, Axis(
            f"{x}{words}", log=is_log
        )
    if is_log:
        raise ConfigError(f"--log-x: {x} has values that are no numbers")
    return {value: float(index) for index, value in enumerate(values)}, Axis(
        x, categories=[shown(one) for one in values]
    )


def _line(label: str, part: pl.DataFrame, x: str, y: str, places: dict[Any, float], scale: float) -> Series:
    means = part.group_by(x, maintain_order=True).agg(
        pl.col(y).mean().alias("mean"), pl.col(y).min().alias("low"), pl.col(y).max().alias("high"), pl.len()
    )
    rows = sorted(means.iter_rows(named=True), key=lambda row: places[row[x]])
    several = any(row["len"] > 1 for row in rows)
    return Series(
        label,
        [places[row[x]] for row in rows],
        [row["mean"] * scale for row in rows],
        low=[row["low"] * scale for row in rows] if several else (),
        high=[row["high"] * scale for row in rows] if several else (),
    )


def _words(names: list[str], key: tuple[Any, ...]) -> str:
    if len(names) == 1:
        return f"{names[0]} {shown(key[0])}"
    return ", ".join(f"{name} {shown(value)}" for name, value in zip(names, key, strict=True))
