"""The table of latencies: operations side by side, or below each other where there is no room."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.result import PERCENTILES, Latencies, Latency, Result
from ninescope.text.lines import natural_width
from ninescope.text.units import duration, quantity

_UNCERTAIN = ("99.9", "99.99", "99.999", "99.9999")
"""The percentiles that are shown with their intervals."""


def latency_table(result: Result, width: int | None) -> RenderableType:
    """Show the latency, operations side by side.

    `width` is that of a terminal; where that is too narrow the operations stand below each other, and where
    it still is, each number stands on a line of its own. No name or number is cut.
    """
    table, remarks = _latencies_side_by_side(result)
    shown: list[RenderableType] = [table]
    if width is not None and natural_width(table) > width:
        shown = list(_latencies_stacked(table, width))
    return Group(*shown, *(Text(f"  {remark}", "dim") for remark in remarks))


def _latencies_stacked(wide: Table, width: int) -> Iterator[RenderableType]:
    """Yield the columns of a table of latencies one below the other, each with the names of its rows."""
    names, *columns = ([str(cell) for cell in column.cells] for column in wide.columns)
    for head, cells in zip((str(column.header) for column in wide.columns[1:]), columns, strict=True):
        table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 2, 0, 1))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        rows = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell.strip()]
        for row in rows:
            table.add_row(*row)
        yield Text(f" {head}", "bold")
        if natural_width(table) <= width:
            yield table
        else:
            yield from (Padding(Text(f"{name} {cell.strip()}"), (0, 0, 0, 3)) for name, cell in rows)


def _latencies_side_by_side(result: Result) -> tuple[Table, list[str]]:
    """Return the table, and what is to be said below it."""
    table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 2, 0, 1))
    table.add_column("", no_wrap=True)
    columns: list[tuple[str, Latency]] = []
    for op, latency in result.latency:
        columns.append((op, latency))
        table.add_column(op, justify="right", no_wrap=True)
    device = worth_showing(result.latency, result.latency_without_host_queue)
    for op, _ in device:
        table.add_column(f"{op}, in device", justify="right", no_wrap=True, style="dim")
    blank = [""] * len(device)
    table.add_row("requests", *(f"{latency.count:,}" for _, latency in columns), *blank)
    moved = [result.throughput.get(op) for op, _ in columns]
    if any(m and m.failed for m in moved):
        table.add_row("failed", *(f"{m.failed:,}" if m and m.failed else "" for m in moved), *blank)
    if any(moved):
        table.add_row("IOPS", *(quantity(m.iops) if m else "" for m in moved), *blank)
        rates = [quantity(m.bytes_per_second, "B/s") if m and m.bytes else "" for m in moved]
        if any(rates):
            table.add_row("throughput", *rates, *blank)
    columns += device
    table.add_row("mean", *(duration(latency.mean_ns) for _, latency in columns))
    untrusted = [key for key in PERCENTILES if all(key in latency.insufficient for _, latency in columns)]
    for key in PERCENTILES:
        if key not in untrusted and any(key in latency.percentiles_ns for _, latency in columns):
            table.add_row(f"p{key}", *(percentile(latency, key) for _, latency in columns))
    table.add_row("max", *(duration(latency.max_ns) for _, latency in columns))
    remarks = []
    if any(m and m.failed for m in moved):
        remarks.append("failed: answered with an error; latencies have these, rates have not")
    shown = {key for key in PERCENTILES if key not in untrusted}
    if any(shown & set(latency.insufficient) for _, latency in columns):
        remarks.append("* too few samples: fewer than 10 requests were slower")
    if any(set(_UNCERTAIN) & latency.intervals_ns.keys() - set(untrusted) for _, latency in columns):
        remarks.append("[low, high]: 95 % interval, by bootstrap over blocks of the run")
    if untrusted:
        beyond = f"p{untrusted[0]}" + (" and beyond" if len(untrusted) > 1 else "")
        remarks.append(f"{beyond}: too few samples to show (they are in the JSON)")
    return table, remarks


def percentile(latency: Latency, key: str) -> Text:
    """Write a percentile: with its interval, or with a mark where too few samples stand behind it."""
    if key not in latency.percentiles_ns:
        return Text("")
    text = duration(latency.percentiles_ns[key])
    if key in latency.insufficient:
        return Text(f"{text}*", "dim")
    low, high = latency.intervals_ns.get(key, (0, 0))
    if key in _UNCERTAIN and low < high:
        return Text.assemble((f"[{duration(low)}, {duration(high)}] ", "dim"), f"{text} ")
    return Text(f"{text} ")


def worth_showing(total: Latencies, device: Latencies) -> list[tuple[str, Latency]]:
    """Return the view without host queueing where it says something else."""
    differs = any(latency.mean_ns < 0.99 * getattr(total, op).mean_ns for op, latency in device)
    return list(device) if differs else []
