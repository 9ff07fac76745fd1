"""Figures as data: what is drawn, without saying by what.

The same figure becomes a picture (`ninescope.pictures`) and a part of a report that shows values under the
pointer (`ninescope.report`). A series says whether it was measured or published; nothing here knows papers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

Form = Literal["line", "points", "bars", "steps"]
Value = float | int | None

PALETTE = ("#1f6fb4", "#d9621e", "#34a664", "#5a1a66", "#d99e00", "#555555", "#c9649c", "#8c2d04")
"""Colours of series that name none, in their order; told apart on light and on dark ground, and by whoever is
blind to red, to green or to blue."""
DASHES: tuple[tuple[float, ...], ...] = ((), (5.0, 2.0), (1.2, 1.6), (7.0, 2.0, 1.2, 2.0))
"""Line and gap by turns, in widths of the line; none is a solid line."""
MARKERS = ("circle", "square", "diamond", "triangle", "triangle-down", "plus", "cross", "star")
MOST_TOLD_APART = len(PALETTE) * len(DASHES)
"""So many series have a look of their own; no two of them have both dash and marker in common, so that
colours are not needed."""
_PUBLISHED_DASHES = ((5.0, 2.0), (1.0, 1.4), (7.0, 2.0, 1.2, 2.0), (9.0, 3.0), (3.0, 1.0, 1.0, 1.0, 1.0, 1.0))
"""What is published is never solid."""
NEUTRAL = "#666666"
"""The colour of what is published and belongs to no measured series."""


@dataclasses.dataclass(frozen=True)
class Axis:
    """An axis. One with categories has whole places from 0, a name for each."""

    label: str = ""
    log: bool = False
    categories: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    ticks: Sequence[tuple[float, str]] = ()
    """The places that a picture marks, and what it writes there; where there are none, round numbers."""


@dataclasses.dataclass(frozen=True)
class Series:
    """Values over places. None is a gap; `low` and `high` are the ends of an interval around each value."""

    label: str
    x: Sequence[float | int]
    y: Sequence[Value]
    form: Form = "line"
    low: Sequence[Value] = ()
    high: Sequence[Value] = ()
    colour: str = ""
    published: bool = False
    """From a paper, not measured: drawn otherwise, and called so."""
    source: str = ""
    """Where in the paper it stands."""
    of: str = ""
    """The label of the measured series that a published one is about: it has its colour, and stands over its
    bars."""
    hollow: Sequence[bool] = ()
    """Which values are doubtful, for the reason that the figure gives: their markers are hollow."""

    def __post_init__(self) -> None:
        for name in ("y", "low", "high", "hollow"):
            values = getattr(self, name)
            if values and len(values) != len(self.x):
                raise ValueError(f"series {self.label!r}: {len(self.x)} places and {len(values)} of {name}")


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    name: str
    """Its title; a published series names its panel by it."""
    x: Axis
    y: Axis
    series: Sequence[Series] = ()
    lines: Sequence[tuple[str, float]] = ()
    """Level lines: what each means, and where it is."""
    borders: Sequence[tuple[str, float]] = ()
    """Upright lines: what each means, and at which place it is."""
    named: bool = False
    """Each series of points has its label beside its points: more of them than colours can tell apart."""

    def is_across(self, series: Series) -> bool:
        """Say whether published values are about no bar of their places more than about another."""
        bars = [one.label for one in self.series if one.form == "bars"]
        return bool(bars) and series.published and series.form == "points" and series.of not in bars


Key = tuple[str, bool]
"""What a series is in a legend, in all panels: its label, and whether it is published."""


class Style(NamedTuple):
    """How a series is told from the others of its figure."""

    colour: str
    dash: tuple[float, ...]
    marker: str
    pattern: int
    """Of bars: 0 is plain, others are patterns, which any number may be."""


def _style(place: int, colour: str) -> Style:
    """Return the look of a measured series by its place in the legend.

    The first eight differ in colour and marker. Those that share a colour differ in dash and marker, and of
    each pair of dash and marker there is one.
    """
    turn, column = divmod(place, len(PALETTE))
    return Style(
        colour or PALETTE[column],
        DASHES[turn % len(DASHES)],
        MARKERS[(column + turn) % len(MARKERS)],
        turn,
    )


def styles(figure: Figure) -> dict[Key, Style]:
    """Return the looks of all series of a figure.

    A label has one look in all panels; what is published has the colour of the measured series it is about.
    """
    every = [series for panel in figure.panels for series in panel.series]
    found: dict[Key, Style] = {}
    for series in every:
        if not series.published and (series.label, False) not in found:
            found[series.label, False] = _style(len(found), series.colour)
    measured = len(found)
    for series in every:
        if series.published and (series.label, True) not in found:
            place = len(found) - measured
            about = found.get((series.of or series.label, False))
            found[series.label, True] = Style(
                series.colour or (about.colour if about else NEUTRAL),
                _PUBLISHED_DASHES[place % len(_PUBLISHED_DASHES)],
                MARKERS[place % len(MARKERS)],
                place,
            )
    return found


_PIXEL = 1 / 400
"""Of the height of a panel: values that are no further apart are drawn at one place."""


def lies_under(panel: Panel, one: Series, other: Series) -> bool:
    """Say whether all of a series is drawn where another one is as well.

    Over categories whoever differs at all is drawn aside; elsewhere a pixel tells two series apart.
    """
    if panel.x.categories:
        return all(
            tuple(getattr(one, key)) == tuple(getattr(other, key)) for key in ("x", "y", "low", "high")
        )
    low, high = _ends(panel)
    there = {place: value for place, value in zip(other.x, other.y, strict=True) if value is not None}
    pairs = [
        (value, there.get(place)) for place, value in zip(one.x, one.y, strict=True) if value is not None
    ]

    def height(value: float) -> float:
        if panel.y.log:
            return math.log(value / low) / math.log(high / low) if value > 0 and high > low else 0.0
        return (value - low) / (high - low) if high > low else 0.0

    return bool(pairs) and all(
        below is not None and abs(height(value) - height(below)) <= _PIXEL for value, below in pairs
    )


def _ends(panel: Panel) -> tuple[float, float]:
    """Return from where to where a panel reaches, but for its margin."""
    values = [
        float(value)
        for series in panel.series
        for key in ("y", "low", "high")
        for value in getattr(series, key)
        if value is not None and (value > 0 or not panel.y.log)
    ]
    low, high = min(values, default=1.0), max(values, default=1.0)
    return (
        low if panel.y.low is None else panel.y.low,
        high if panel.y.high is None else panel.y.high,
    )


def _all_of(labels: Sequence[str]) -> str:
    *others, last = labels
    return f"{', '.join(others)} and {last}" if others else last


def _where(panels: Sequence[str], figure: Figure) -> str:
    return "" if len(panels) == len(figure.panels) else f" (in {'; '.join(panels)})"


def words_on_hidden(figure: Figure) -> str:
    """Say which measured series cannot be seen because others are drawn over all of them."""
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for panel in figure.panels:
        drawn = [one for one in panel.series if one.form != "bars" and not one.published]
        over: dict[str, list[str]] = {}
        for number, one in enumerate(drawn):
            later = [
                other
                for other in drawn[number + 1 :]
                if other.form == one.form and lies_under(panel, one, other)
            ]
            if later:
                over.setdefault(later[-1].label, []).append(one.label)
        for above, below in over.items():
            found.setdefault((tuple(below), above), []).append(panel.name)
    return " ".join(
        f"{_all_of(below)} {'lies' if len(below) == 1 else 'lie'} under {above}{_where(panels, figure)}."
        for (below, above), panels in found.items()
    )


@dataclasses.dataclass(frozen=True)
class Figure:
    """Panels under one title."""

    name: str
    """Unique among the figures of a document; the stem of its files: `figure-3`."""
    title: str
    panels: Sequence[Panel]
    caption: str = ""
    """What a reader has to know: what is synthetic, scaled or inferred."""
    columns: int = 2
    """Panels in a row, where there is room."""
    hollow: str = ""
    """What hollow markers mean, for the legend: all panels have it in common."""

    def with_published(self, panel: str, series: Series) -> Figure:
        """Return it with one more series in a panel."""
        found = [one.name for one in self.panels]
        if panel not in found:
            raise ValueError(f"figure {self.name!r} has no panel {panel!r}; it has {', '.join(found)}")
        panels = [
            dataclasses.replace(one, series=[*one.series, series]) if one.name == panel else one
            for one in self.panels
        ]
        return dataclasses.replace(self, panels=panels)
