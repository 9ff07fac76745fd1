"""Where the time of each band went: the table of bands by causes, and the tail in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.result import PERCENTILES, Band
from ninescope.text.causes import look, stacking_order
from ninescope.text.contrast import readable_on
from ninescope.text.lines import natural_width
from ninescope.text.names import band_ranges
from ninescope.text.units import duration, percent

_BAR_CELLS = 16
_CAUSE_CELLS = 10
_SMALL_SHARE = 0.01
_MANY_REQUESTS = 100
_MISSHAPEN = 0.1
"""A band that differs by more than this share of the requests from what its name says is pointed out."""
_TAIL_REQUESTS = 30
"""The slowest requests are explained in words where so many of them stand behind the words."""


def misshapen_band(bands: tuple[Band, ...]) -> str:
    """Say so where a band holds far more or fewer requests than its name says; else nothing."""
    total = sum(band.count for band in bands)
    if total < _MANY_REQUESTS:
        return ""
    edges = {"min": 0.0, "max": 100.0} | {f"p{key}": float(key) for key in PERCENTILES}
    worst, text = _MISSHAPEN, ""
    for band, reach in zip(bands, band_ranges(bands), strict=True):
        start, end = reach.split("-")
        off = abs(band.count / total - (edges.get(end, 100.0) - edges.get(start, 0.0)) / 100)
        if off > worst:
            worst = off
            text = f"{reach} holds {percent(band.count / total)}"
    return f"bands end where buckets of the histogram end: {text} of the requests" if text else ""


def empty_bands(bands: tuple[Band, ...]) -> str:
    """Name the bands before the last one that are not shown, because there is no request in them."""
    shown = {band.name for band in bands}
    names = [f"p{key}" for key in PERCENTILES]
    last = bands[-1].name if bands else ""
    missing: list[tuple[str, str]] = []
    for start, end in pairwise(["min", *names[: names.index(last) if last in names else None]]):
        if end in shown:
            continue
        goes_on = missing and missing[-1][1] == start
        missing.append((missing.pop()[0] if goes_on else start, end))
    if not missing or not bands:
        return ""
    ends = "both its ends lie" if len(missing) == 1 else "both ends of each lie"
    listed = " and in ".join("-".join(each) for each in missing)
    return f"no request in {listed}: {ends} in one bucket of the histogram"


def tail_in_words(bands: tuple[Band, ...]) -> Iterator[RenderableType]:
    """Yield what the slowest requests waited for; nothing where they are too few to speak of."""
    tail = tail_band(bands)
    if tail is None:
        return
    yield Text(
        f"  The slowest {tail.name} ({tail.count:,} requests) took {duration(tail.mean_ns)} on average:"
    )
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", width=7)
    grid.add_column()
    for cause, time in tail.top(3):
        share = time / tail.mean_ns
        if share < 0.05:
            break
        meaning = Text.assemble((look(cause).label, "bold"), f": {look(cause).meaning}")
        grid.add_row(f"{share * 100:.0f}%", meaning)
    if grid.row_count:
        yield grid


def tail_band(bands: tuple[Band, ...]) -> Band | None:
    """Join the slowest bands: as few as still hold enough requests to speak of."""
    total, count, parts = sum(band.count for band in bands), 0, dict[str, float]()
    for band in reversed(bands[1:]):
        count += band.count
        for cause, time in band.parts_ns.items():
            parts[cause] = parts.get(cause, 0.0) + time * band.count
        if count >= _TAIL_REQUESTS:
            means = {cause: time / count for cause, time in parts.items()}
            return dataclasses.replace(
                band, name=percent(count / total), count=count, upper_ns=bands[-1].upper_ns, parts_ns=means
            )
    return None


class CauseTable:
    """The table of bands by causes, with as many causes as fit the width."""

    def __init__(self, title: str, bands: tuple[Band, ...], bars: bool) -> None:
        self._title = title
        self._bands = bands
        self._bars = bars

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = self._bars and options.max_width >= 100
        ranges = band_ranges(self._bands)
        times = [duration(band.mean_ns) for band in self._bands]
        counts = [f"{band.count:,}" for band in self._bands]
        taken = sum(1 + max(8, *map(len, cells)) for cells in (ranges, counts, times)) + len("other") + 2
        taken += _BAR_CELLS + 1 if bars else 0
        room = max(2, (options.max_width - taken) // (_CAUSE_CELLS + 1))
        present = {
            cause
            for band in self._bands
            for cause in band.parts_ns
            if band.share(cause) >= _SMALL_SHARE / 2  # it shows as 1 % somewhere
        }
        largest = sorted(present, key=lambda cause: (-max(band.share(cause) for band in self._bands), cause))
        shown = stacking_order(largest[:room])
        rest = [1 - sum(band.share(cause) for cause in shown) for band in self._bands]
        with_rest = any(share >= _SMALL_SHARE / 2 for share in rest)
        table = Table(box=None, header_style="bold", padding=(0, 0, 0, 1))
        for name in (" band", "requests", "mean"):
            table.add_column(name, justify="left" if name == " band" else "right", no_wrap=True)
        if bars:
            table.add_column("", no_wrap=True)
        for cause in shown:
            table.add_column(_head(cause, bars), justify="right", width=_CAUSE_CELLS, overflow="fold")
        if with_rest:
            table.add_column("other", justify="right")
        for index, (band, other) in enumerate(zip(self._bands, rest, strict=True)):
            cells: list[RenderableType] = [f" {ranges[index]}", counts[index], times[index]]
            if bars:
                cells.append(_bar(band))
            cells += [_cell(band.share(cause)) for cause in shown]
            if with_rest:
                cells.append(_cell(other))
            table.add_row(*cells)
        # A title of the table's would be folded at the table's width.
        yield Text(f"  {self._title}", "bold")
        if natural_width(table) > options.max_width:
            yield from self._in_words(ranges, counts, times)
            return
        yield table
        folded = largest[room:]
        if folded:
            names = (
                f"{look(cause).label} ({percent(max(band.share(cause) for band in self._bands))} at most)"
                for cause in folded
            )
            yield Padding(Text(f"other, for want of room: {', '.join(names)}", "dim"), (0, 0, 0, 2))

    def _in_words(self, ranges: list[str], counts: list[str], times: list[str]) -> Iterator[RenderableType]:
        """Yield each band with its causes as sentences, for whoever has no room for columns."""
        for band, reach, count, time in zip(self._bands, ranges, counts, times, strict=True):
            yield Padding(Text(f"{reach}: {count} requests, mean {time}", "bold"), (0, 0, 0, 2))
            named = [
                cause for cause in stacking_order(band.parts_ns) if band.share(cause) >= _SMALL_SHARE / 2
            ]
            words = ", ".join(f"{look(cause).label} {percent(band.share(cause))}" for cause in named)
            yield Padding(Text(words), (0, 0, 0, 4))


def _head(cause: str, bars: bool) -> Text:
    """Return the name of a cause, where there are bars on its colour: as letters, a pale one is not read."""
    colour = look(cause).colour
    style = f"bold {readable_on(colour, dark='#000000')} on {colour}".replace("white", "#ffffff")
    return Text(look(cause).label, style if bars else "bold")


def _cell(share: float) -> Text:
    if share < _SMALL_SHARE / 2:
        return Text("-", "dim")
    return Text(f"{share * 100:.0f}%", "bold" if share >= 0.25 else "")


def _bar(band: Band) -> Text:
    """Draw the shares of a band as a bar; every cell belongs to the cause that holds its middle."""
    bar, filled, before = Text(), 0, 0.0
    for cause in stacking_order(band.parts_ns):
        before += band.share(cause)
        cells = round(before * _BAR_CELLS) - filled
        bar.append("\u2588" * cells, look(cause).colour)
        filled += cells
    return bar
