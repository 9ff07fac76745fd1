"""Tables and lists as lines of text, for terminals and pipes. Nothing is cut; nothing here knows results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

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
