"""Levers as a reader sees them in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ninescope.lab.compare.text import ratio
from ninescope.lab.compare.values import shown
from ninescope.lab.levers.intervals import enough, has_interval, without_interval
from ninescope.lab.levers.pull import Levers, Pulled
from ninescope.text.lines import print_whole, some

if TYPE_CHECKING:
    from rich.console import Console

_NUMBERS = ("of that now", "cost", "causes took")


def print_levers(levers: Levers, console: Console) -> None:
    """Print what each lever buys, those first that buy most."""
    metric, base = levers.metric, levers.base
    value = metric.read(base.first)
    console.print(
        f" {base.title}: {metric.label} {'not measured' if value is None else shown(value, metric.unit)}"
    )
    console.print(f" {_runs(levers)}\n", style="dim")
    print_whole([_table(levers)], console)
    notes = [
        " cost: what the media cost by the byte, of that now; -: the same, and what else it costs is unknown",
        " causes took: their share of the time of these requests",
    ]
    if any(each.is_short for each in levers.pulled):
        notes.append(" short: short runs showed that it buys nothing, or the contrary")
    for note in [*_missing(levers), *notes]:
        console.print(note, style="dim", highlight=False)
    for each in levers.pulled:
        if each.disagreement:
            console.print(f" {each.lever.name}: {each.disagreement}", highlight=False)
    for each in levers.pulled:
        if each.lever.price:
            console.print(f" {each.lever.name} costs, besides the media: {each.lever.price}", highlight=False)
    for each in levers.pulled:
        if each.error:
            console.print(f" {each.lever.name}: cannot be run: {each.error}", highlight=False)
    if any(each.lever.is_bound for each in levers.pulled):
        console.print(" bound: nobody can make it, and it says what there is to gain", style="dim")


def _table(levers: Levers) -> Table:
    """Return the rows; the last column alone is folded: two that give way at once lose ends of words."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 1))
    for name in ("lever", "of that now", "", "cost", "causes took"):
        table.add_column(name, justify="right" if name in _NUMBERS else "left", no_wrap=True)
    table.add_column("")
    for each in levers.pulled:
        table.add_row(*cells(each))
    return table


def cells(each: Pulled) -> tuple[str, ...]:
    """Return a row: name, ratio with its interval, verdict in a word, cost, promise, what is changed."""
    says = f"{'bound: ' if each.lever.is_bound else ''}{each.lever.says}"
    if each.row is None:
        return (each.lever.name, "", "cannot be run", "", "", says)
    cost = "-" if each.cost is None else f"{each.cost:.2f}"
    promised = "" if each.promised is None else f"{1 - each.promised:.0%}"
    return (each.lever.name, ratio(each.row) or "equal", _word(each), cost, promised, says)


def _word(each: Pulled) -> str:
    """Say in a word what is shown."""
    assert each.row is not None  # noqa: S101
    kind = each.row.verdict.kind
    short = " (short)" if each.is_short else ""
    if kind not in ("lower", "higher"):
        return f"{'the same' if each.row.verdict.words.startswith('the same') else 'not shown'}{short}"
    return f"{'better' if kind == each.row.metric.better else 'worse'}{short}"


def _missing(levers: Levers) -> list[str]:
    """Say of which levers there is no interval, why, and how many requests would do."""
    reasons = without_interval(levers)
    notes = [f" no interval of {some(names)}: {reason}" for reason, names in reasons.items()]
    wanted = enough(levers) if reasons else None
    if wanted is not None:
        notes.append(f" --requests {wanted} would do for {levers.metric.label}")
    return notes


def _runs(levers: Levers) -> str:
    seeds = levers.base.seeds
    runs = f"{levers.requests:,} requests, " + (
        f"seeds {', '.join(map(str, seeds))}, each paired with the drive as it is"
        if len(seeds) > 1
        else f"seed {seeds[0]}"
        + (": intervals are by blocks of the run" if any(map(has_interval, levers.pulled)) else "")
    )
    shown = any(map(has_interval, levers.pulled))
    return f"{runs}{'; ratios with 95 % intervals' if shown else ''}"
