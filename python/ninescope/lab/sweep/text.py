"""Plans and tables as text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ninescope.common.numbers import counted
from ninescope.lab.sweep.estimate import Estimate
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.plan import Plan
from ninescope.lab.sweep.steadiness import verdicts_of
from ninescope.lab.sweep.values import shown
from ninescope.result.metrics import NAMES, unit
from ninescope.text.lines import between, is_too_wide, print_rows, some

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from ninescope.lab.sweep.record import Record

COLUMNS = (
    "iops",
    "read_p99_ns",
    "read_p99.9_ns",
    "write_p99_ns",
    "write_p99.9_ns",
    "waf_total",
    "lifetime_years",
)
"""What a table shows where nobody chose, as far as it was measured."""


def plan_lines(file: SweepFile, plan: Plan, found: Estimate, checked: int, show: int) -> Iterator[str]:
    """Say what a sweep is made of."""
    yield f"{plan.name}{f': {plan.summary}' if plan.summary else ''}"
    for axis in file.axes:
        names = axis.labels or [shown(row[0]) for row in axis.rows]
        keys = " with ".join(axis.keys)
        yield f"  {len(axis.rows):>4}  {axis.label or keys}: {some(names)}"
    if len(file.seeds) > 1:
        yield f"  {len(file.seeds):>4}  seeds: {some([str(seed) for seed in file.seeds])}"
    points = counted(len(plan.points), "point")
    parts = [counted(plan.combinations, "combination")]
    if plan.left_out:
        parts.append(f"{plan.left_out:,} left out by conditions")
    same = plan.combinations - plan.left_out - len(plan.points)
    if same:
        parts.append(f"{same:,} the same as another")
    yield f"{points} ({', '.join(parts)})"
    for row in plan.rows[:show]:
        yield f"  {plan.label(row)}"
    if len(plan.rows) > show:
        yield f"  and {len(plan.rows) - show:,} more"
    yield from (f"note: {remark}" for remark in plan.remarks)
    if checked < len(plan.rows):
        yield f"checked with their workloads: {counted(checked, 'point')}; the others by their drives alone"
    if found.points < len(plan.points):
        yield f"done already: {counted(len(plan.points) - found.points, 'point')}"
    workers = counted(found.workers, "worker")
    if found.seconds is not None:
        yield f"time: {between(*found.seconds)} on {workers} ({found.how})"
    if found.points:
        yield f"memory: up to {_size(found.worker_bytes)} for a drive, {_size(found.all_bytes)} on {workers}"


def _size(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB" if count < 1 << 30 else f"{count / (1 << 30):,.1f} GiB"


def print_table(frame: pl.DataFrame, record: Record, console: Console, *, chosen: bool) -> None:
    """Print the rows of a sweep, with the numbers that say most where none were chosen.

    Of those that nobody chose, a narrow terminal shows as many as it has room for; where it has none for a
    single one, all of them in a block for each row.
    """
    if chosen:
        print_frame(frame, console)
        return
    measured = [name for name in COLUMNS if frame[name].is_not_null().any()]
    state = ["state"] if (frame["state"] != "done").any() else []
    extra = ["build"] if "build" in frame.columns else []
    kept = [*record.columns, *extra, *state, *verdicts_of(frame, ())]
    shown, left_out = list(measured), list[str]()
    while shown and is_too_wide(*_cells_of(frame.select(*kept, *shown)), console):
        left_out.insert(0, shown.pop())
    if not shown:
        shown, left_out = measured, []
    print_frame(frame.select(*kept, *shown), console)
    if left_out:
        print(f"left out, for want of room: {', '.join(left_out)}")


def print_frame(frame: pl.DataFrame, console: Console) -> None:
    """Print a table; numbers that are known by name in their units."""
    heads, rows = _cells_of(frame)
    right = [index for index, name in enumerate(frame.columns) if frame[name].dtype.is_numeric()]
    print_rows(heads, rows, console, right=right)


def _cells_of(frame: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    heads = [unit(name).label if name in NAMES else name for name in frame.columns]
    rows = [
        [_cell(name, value) for name, value in zip(frame.columns, row, strict=True)]
        for row in frame.iter_rows()
    ]
    return heads, rows


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in NAMES and isinstance(value, int | float):
        return number(value * unit(name).scale)
    return shown(value)


def number(value: float) -> str:
    """Write a number with four digits, and all those before the point."""
    if value and abs(value) < 1e-3:
        return f"{value:.3g}"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.4g}"
