"""A result as a reader sees it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.common.numbers import counted
from ninescope.result import Result
from ninescope.result.attribution import bands_in_device
from ninescope.simulation.remarks import trace_remarks
from ninescope.text.bands import CauseTable, empty_bands, misshapen_band, tail_in_words
from ninescope.text.facts import facts
from ninescope.text.jobs import job_table, slowdowns_in_words, waits_in_words
from ninescope.text.latency import latency_table
from ninescope.text.lines import PAGE, plain_text, print_whole
from ninescope.text.lines import as_html as lines_as_html
from ninescope.text.names import drive_name, plural, workload_name
from ninescope.text.units import duration


def as_text(result: Result, width: int = PAGE) -> str:
    """Return a result as plain text."""
    return plain_text(render(result, bars=False), width)


def as_html(result: Result) -> str:
    """Return a result as HTML, for notebooks."""
    return lines_as_html(render(result, bars=True))


def print_result(result: Result, console: Console) -> None:
    """Print a result, in colour where there is a terminal."""
    bars = console.is_terminal and console.color_system is not None
    width = console.width if console.is_terminal else None
    print_whole(render(result, bars=bars, width=width), console)


def render(result: Result, *, bars: bool, width: int | None = None) -> Iterator[RenderableType]:
    """Yield the parts of the view: headline, latency, causes, slowest requests, drive, notes.

    `width` is that of the terminal; what has none gets tables as wide as they are.
    """
    yield _headline(result)
    if any(True for _ in result.latency):
        yield ""
        yield latency_table(result, width)
    if result.jobs:
        yield ""
        yield job_table(result, width)
        yield from waits_in_words(result)
        yield from slowdowns_in_words(result)
    for op, bands in result.attribution:
        yield ""
        yield CauseTable(f"Where the time of {plural(op)} went", bands, bars)
        inside = bands_in_device(bands)
        if inside:
            yield CauseTable(f"Where the time of {plural(op)} in the device went", inside, bars)
        for remark in filter(None, (misshapen_band(bands), empty_bands(bands))):
            yield Text(f"  {remark}", "dim")
        yield from tail_in_words(bands)
    if result.document.get("slowest"):
        from ninescope.text.slowest import told

        yield from told(result)
    known = list(facts(result))
    if known:
        yield ""
        yield _grid(known)
    said = list(notes(result))
    if said:
        yield ""
        yield Padding(Group(*(Text.assemble(("note ", "bold yellow"), note) for note in said)), (0, 0, 0, 1))


def _grid(rows: list[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return Padding(grid, (0, 0, 0, 1), expand=False)


def _headline(result: Result) -> RenderableType:
    lines = [Text.assemble((workload_name(result), "bold"), " on ", (drive_name(result), "bold"))]
    speed = [counted(result.requests, "request"), f"{duration(result.simulated_ns)} simulated"]
    if result.wall_seconds:
        speed.append(f"{duration(result.wall_seconds * 1e9)} of wall time")
    lines.append(Text(", ".join(speed)))
    seed = result.document.get("seed")
    what = [f"digest {result.digest}" if result.digest else "nothing was run"]
    lines.append(Text("  ".join(what + ([f"seed {seed}"] if seed is not None else [])), "dim"))
    if not result.complete:
        state = "this is the part that was run" if result.requests else "nothing was measured yet"
        lines.append(Text(f"INTERRUPTED: {state}", "bold red"))
    return Group(*(Text(" ") + line for line in lines))


def notes(result: Result) -> Iterator[str]:
    """Yield what a reader of a result must know, beyond what its headline says."""
    for note in result.notes:
        # What the headline says already.
        if note != "synthetic workload" and not note.startswith("partial result"):
            yield note
    workload: Mapping[str, Any] = result.document.get("workload") or {}
    yield from trace_remarks(workload)
