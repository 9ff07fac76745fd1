"""A comparison as a reader sees it in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.lab.compare.values import shown
from ninescope.lab.compare.within import TAIL
from ninescope.text.lines import PAGE, plain_text, print_whole
from ninescope.text.lines import as_html as lines_as_html

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison, Row
    from ninescope.lab.compare.sides import Side

_DIFFERENCES = 12
"""So many keys that differ are listed."""
_DIGITS_OF_A_HASH = 12
"""As many as tell two workloads apart; both hashes and two columns between them fit a line."""
_COLOURS = {True: "green", False: "red"}


def ratio(row: Row) -> str:
    """Write B / A with its interval."""
    if row.contrast is None or row.contrast.ratio is None:
        if row.a is None or row.b is None or not row.a.value:
            return ""
        return f"{row.b.value / row.a.value:.3f}"
    value, low, high = row.contrast.ratio
    width = high - low
    decimals = 3 if not 0 < width < math.inf else min(5, max(1, 1 - math.floor(math.log10(width))))
    if low < 10.0**-decimals:  # it would be written as 0, and no ratio is
        return f"{value:.3g} [{low:.2g}, {high:,.3g}]"
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def too_few(comparison: Comparison) -> list[Row]:
    """Return the percentiles that too few requests lie beyond on both sides; tables leave them out."""
    return [row for row in comparison.rows if row.metric.percentile and not row.is_trusted]


def equal(comparison: Comparison) -> list[Row]:
    """Return what both measured alike in every pair of runs, of what a table shows."""
    left_out = too_few(comparison)
    return [row for row in comparison.rows if row not in left_out and comparison.is_equal_throughout(row)]


def as_text(comparison: Comparison, width: int = PAGE, *, with_equal: bool = True) -> str:
    """Return a comparison as plain text."""
    return plain_text(render(comparison, with_equal=with_equal), width)


def as_html(comparison: Comparison) -> str:
    """Return a comparison as HTML, for notebooks."""
    return lines_as_html(render(comparison))


def print_comparison(comparison: Comparison, console: Console, *, with_equal: bool = True) -> None:
    """Print a comparison, in colour where there is a terminal; what is equal may be counted alone."""
    print_whole(render(comparison, with_equal=with_equal), console)


def render(comparison: Comparison, *, with_equal: bool = True) -> Iterator[RenderableType]:
    """Yield the parts of the view: what is compared, what differs, the table, remarks."""
    left_out = [] if with_equal else equal(comparison)
    yield Group(*(_side(side) for side in (comparison.a, comparison.b)))
    yield Text(f" {comparison.design}", "dim")
    yield ""
    yield _differences(comparison)
    yield ""
    hidden = [*too_few(comparison), *left_out]
    yield _table(comparison, hidden) if len(hidden) < len(comparison.rows) else " no number differs"
    yield from _below(comparison)
    if left_out:
        yield Text(f"  {are_equal(len(left_out))}", "dim")
    if comparison.remarks:
        yield ""
        notes = (Text.assemble(("note ", "bold yellow"), remark) for remark in comparison.remarks)
        yield Padding(Group(*notes), (0, 0, 0, 1))


def are_equal(count: int) -> str:
    """Say how many numbers a table leaves out because nothing differs in them."""
    return f"{count} number{' is' if count == 1 else 's are'} equal in every pair, and left out"


def _side(side: Side) -> Text:
    source = f" ({side.source})" if side.source else ""
    return Text.assemble((f" {side.name}  ", "bold"), side.title, (source, "dim"))


def _differences(comparison: Comparison) -> RenderableType:
    found = comparison.differences
    if not found:
        return Text(" workload, drive and build are the same")
    grid = Table.grid(padding=(0, 2))
    for index in range(3):
        grid.add_column(style="bold" if index == 0 else "", overflow="fold")
    grid.add_row(Text("differs", "dim"), Text("A", "dim"), Text("B", "dim"))
    for key, a, b in found[:_DIFFERENCES]:
        grid.add_row(key, *(_condition(key, value) for value in (a, b)))
    if len(found) > _DIFFERENCES:
        grid.add_row(Text(f"and {len(found) - _DIFFERENCES} more (they are in the JSON)", "dim"))
    return Padding(grid, (0, 0, 0, 1), expand=False)


def _condition(key: str, value: str | None) -> str:
    if value is None:
        return "-"
    return value[:_DIGITS_OF_A_HASH] if key.endswith("hash") else value  # all of it is in the JSON


def _table(comparison: Comparison, left_out: list[Row]) -> RenderableType:
    table = Table(box=None, header_style="bold", padding=(0, 1), collapse_padding=True)
    table.add_column("", no_wrap=True)
    for name in ("A", "B", "B / A [95 %]"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", ratio=1)
    for row in comparison.rows:
        if row in left_out:
            continue
        values = ("" if each is None else shown(each.value, row.metric.unit) for each in (row.a, row.b))
        words = row.verdict.words.removeprefix("B is ")  # or lines are too long
        table.add_row(row.metric.label, *values, ratio(row), Text(words, _style(row)))
    return table


def _style(row: Row) -> str:
    if row.verdict.kind in ("lower", "higher"):
        return _COLOURS[row.verdict.kind == row.metric.better] if row.metric.better else "bold"
    return "dim"


def _below(comparison: Comparison) -> Iterator[RenderableType]:
    judged = [row for row in comparison.rows if row.p_corrected is not None]
    if judged:
        yield _sentence(
            f"[low, high]: 95 % interval of each metric by itself; verdicts are corrected for "
            f"{len(judged)} of them at once (Holm)"
        )
    names = [row.metric.label for row in too_few(comparison)]
    if names:
        yield _sentence(f"fewer than {TAIL} requests beyond: {', '.join(names)} (they are in the JSON)")


def _sentence(words: str) -> RenderableType:
    """Set in all lines of a sentence below the table."""
    return Padding(Text(words, "dim"), (0, 0, 0, 2))
