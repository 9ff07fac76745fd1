"""Tables and lists as lines of text, for terminals and pipes. Nothing is cut; nothing here knows results."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PAGE = 100
"""What has no width of its own gets sentences of so many letters; tables are as wide as they are."""
_WIDEST = 100_000
_ALL = 8
_FIRST = 6
Rows = Sequence[Sequence[str]]


def print_rows(
    heads: Sequence[str],
    rows: Rows,
    console: Console,
    *,
    right: Collection[int] = (),
    spare: Collection[int] = (),
) -> None:
    """Print rows under their heads, one to a line; columns in `right` are set to the right.

    What reads a pipe has no width. A terminal that is too narrow is spared the columns `spare`, then those
    that say the same in every row; where that is not enough, each row is a block, a line for each column.
    """
    columns = list(range(len(heads)))
    if is_too_wide(heads, rows, console, columns) and spare:
        columns = [index for index in columns if index not in spare]
        print(f"left out, for want of room: {', '.join(heads[index] for index in spare)} (--csv has all)")
    if is_too_wide(heads, rows, console, columns) and len(rows) > 1:
        same = [index for index in columns if len({row[index] for row in rows}) == 1]
        columns = [index for index in columns if index not in same]
        for index in same:
            print(f"the same in all: {heads[index]} = {rows[0][index]}")
    if is_too_wide(heads, rows, console, columns):
        _print_blocks(heads, rows, columns)
    else:
        _print_lines(heads, rows, console, columns, right)


def is_too_wide(
    heads: Sequence[str], rows: Rows, console: Console, columns: Sequence[int] | None = None
) -> bool:
    """Say whether lines would be longer than the terminal; where none is, nothing is."""
    widths = _widths(heads, rows)
    shown = range(len(heads)) if columns is None else columns
    return console.is_terminal and sum(widths[each] + 2 for each in shown) - 2 > console.width


def as_html(parts: Iterable[RenderableType], width: int = 110) -> str:
    """Return what rich draws as HTML with its colours, for notebooks; whatever is no markup is escaped."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, record=True, force_terminal=True, color_system="truecolor"
    )
    console.print(*parts, sep="\n", highlight=False)
    return console.export_html(
        inline_styles=True,
        code_format='<pre style="line-height:1.2;font-family:monospace">{code}</pre>',
    )


def plain_text(parts: Iterable[RenderableType], width: int = PAGE) -> str:
    """Return what rich draws as text for whoever reads no terminal: tables are never cut.

    Sentences are folded at `width`; a table takes what its words and its columns that do not wrap need.
    """
    from rich.console import Console

    file = io.StringIO()
    for part in parts:
        room = max(width, _least_width(part))
        Console(file=file, width=room, color_system=None).print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def print_whole(parts: Iterable[RenderableType], console: Console) -> None:
    """Print what rich draws, in colour where there is a terminal, and uncut where there is none.

    A table that a terminal is too narrow for is printed as where there is none: its lines are broken by the
    terminal, and no cell or column is lost.
    """
    for part in parts:
        if console.is_terminal and _least_width(part) <= console.width:
            console.print(part)
        else:
            text = plain_text([part], console.width)
            console.print(text, markup=False, highlight=False, soft_wrap=True)


def natural_width(table: Table) -> int:
    """Return how wide a table is where nothing of it is folded or cut."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=io.StringIO(), width=_WIDEST, color_system=None)
    return Measurement.get(console, console.options, table).maximum


def _least_width(part: RenderableType) -> int:
    """Return how wide a part has to be so that nothing of its tables is cut."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=io.StringIO(), width=_WIDEST, color_system=None)
    tables = list(_tables(part))
    for table in tables:
        _keep_whole(table, console)
    return Measurement.get(console, console.options, part).minimum if tables else 0


def _keep_whole(table: Table, console: Console) -> None:
    """Give each column of a table room for its longest word, or line where it does not wrap."""
    from rich.measure import Measurement

    for column in table.columns:
        if column.width is None:
            sizes = [
                Measurement.get(console, console.options, cell) for cell in (column.header, *column.cells)
            ]
            column.min_width = max(size.maximum if column.no_wrap else size.minimum for size in sizes)


def _tables(part: RenderableType) -> Iterator[Table]:
    """Yield the tables in a part, however deep."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    if isinstance(part, Table):
        yield part
    elif isinstance(part, Padding):
        yield from _tables(part.renderable)
    elif isinstance(part, Group):
        for each in part.renderables:
            yield from _tables(each)


def some(names: Iterable[str]) -> str:
    """List names; of many the first and the last."""
    given = list(names)
    return ", ".join(given) if len(given) <= _ALL else f"{', '.join(given[:_FIRST])}, … {given[-1]}"


def about(seconds: float) -> str:
    """Write a time that was estimated."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.2g} s" if 0 < seconds < 10 else f"{seconds:.0f} s"


def between(likely: float, low: float, high: float) -> str:
    """Write a time that was estimated, and between which it lies."""
    if about(low) == about(high):
        return f"about {about(likely)}"
    return f"about {about(likely)} ({about(low)} to {about(high)})"


def _print_lines(
    heads: Sequence[str], rows: Rows, console: Console, columns: Sequence[int], right: Collection[int]
) -> None:
    from rich.text import Text

    widths = _widths(heads, rows)
    for place, row in enumerate((heads, *rows)):
        cells = (f"{row[each]:{'>' if each in right else '<'}{widths[each]}}" for each in columns)
        console.print(Text("  ".join(cells).rstrip(), "" if place else "bold"), soft_wrap=True)


def _print_blocks(heads: Sequence[str], rows: Rows, columns: Sequence[int]) -> None:
    longest = max(len(heads[each]) for each in columns)
    for place, row in enumerate(rows):
        if place:
            print()
        for each in columns:
            print(f"{heads[each]:<{longest}}  {row[each]}".rstrip())


def _widths(heads: Sequence[str], rows: Rows) -> list[int]:
    return [max(map(len, each)) for each in zip(heads, *rows, strict=True)]
