"""Figures as pictures, for files and print: what `ninescope.figures` describes, drawn with matplotlib."""

from __future__ import annotations

import dataclasses
import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from ninescope.common.files import written_whole
from ninescope.figures import Axis, Figure, Key, Panel, Series, Style, Value, styles, words_on_hidden
from ninescope.pictures.style import INK, plain
from ninescope.pictures.style import Figure as Picture

_GREY = "#666666"
_LEVEL = "#999999"
_MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle": "^", "triangle-down": "v", "plus": "P",
    "cross": "X", "star": "*",
}  # fmt: skip
_LARGER = {"star": 1.5, "plus": 1.15, "cross": 1.15, "diamond": 0.9}
"""Markers that need another size to be as large as the others."""
_HOLLOW: dict[str, Any] = {
    "linestyle": "none",
    "markersize": 6.5,
    "markerfacecolor": "white",
    "markeredgewidth": 1.3,
}
"""Markers of values that are doubtful."""
_HATCHES = ("////", "....", "xxxx", "----", "||||", "++++")
_MARKED = 7
"""A line of more places shows so many of them, where there are others to tell it from."""
_HANDLE = 3.4
"""A line of the legend is so long [letters]: the dash is seen."""
_FEW_PLACES = 40
"""A line of no more places shows each of them."""
_BAR_SHARE = 0.8
"""Of the distance of two places, taken by all the bars of one."""
_PANEL_INCHES = (6.0, 3.9)
_INCHES_PER_LETTER = 0.066
"""Of the words of a legend, about."""
_INCHES_PER_LETTER_OF_TITLE = 0.105
_INCHES_PER_LETTER_OF_TICK = 0.07
_ROWS_OF_TICKS = 4
_STEPS = 64
"""So many places of a piece of a line, and of a panel's height, are looked at for what words would cover."""
_EDGE = 0.005
"""Of a panel, between its sides and words at the end of a level."""
_PLACES_OF_WORDS = 25
"""So many places along a level are tried for its words."""
_POINTS_OFF_LEVEL = (2, 5)
"""How far words are from their level: where markers lie on it, the farther clears them."""
_POINTS_PER_INCH = 72
_HALF_MARKER = 0.04
"""How far a marker, or the cap of an interval, reaches from its place [inches]."""
_BESIDE_INCHES = 0.9
"""Of a panel's width, taken by what stands beside its axes, about."""
_LETTERS_PER_INCH = 17
"""Of a caption, about."""
_LETTERS_OF_PLACES = 68
"""So many of the names of places have room under one panel."""
_PLAIN, _PLAIN_LOG = (1e-4, 1e8), (1e-2, 1e6)
"""Numbers between these two are written without a power of ten, on linear and on logarithmic axes."""
_FEW_DECADES = 0.7
"""A logarithmic axis of fewer is nearly linear, and has the ticks of a linear one."""
_ONE_PLACE, _ROOM = 1e-3, 1.1
"""A logarithmic axis of fewer decades shows one place alone, and so much room on its sides."""
_LETTER_OF_POINT = (0.058, 0.13)
"""Width and height of a letter beside a point [inches], about."""
_SPREAD = 0.3
"""How far apart the series of a place of categories are drawn, all together: intervals hide each other."""

_SMALL_PANEL_INCHES = (4.2, 3.1)
"""Of more than two panels in a row."""

Numbers = NDArray[np.float64]
Looks = Mapping[Key, Style]


def picture(figure: Figure) -> MatplotlibFigure:
    """Draw a figure."""
    looks = styles(figure)
    columns = max(1, min(figure.columns, len(figure.panels)))
    rows = max(1, math.ceil(len(figure.panels) / columns))
    panel_inches = _PANEL_INCHES if columns < 3 else _SMALL_PANEL_INCHES
    width = max(panel_inches[0] * columns, 7.5)
    words = " ".join(filter(None, (figure.caption, words_on_hidden(figure))))
    caption = textwrap.wrap(words, round((width - 0.3) * _LETTERS_PER_INCH))
    handles, across = _legend(figure, looks, width)
    title = textwrap.wrap(figure.title, round(width / _INCHES_PER_LETTER_OF_TITLE))
    head = 0.14 + 0.22 * len(title)
    top = head + 0.06 + 0.2 * math.ceil(len(handles) / across)
    bottom = 0.12 + 0.155 * len(caption)
    height = top + panel_inches[1] * rows + bottom
    room = (0.005, bottom / height, 0.99, 1 - (top + bottom) / height)
    layout = ConstrainedLayoutEngine(rect=room, hspace=0.04, wspace=0.03)
    drawn = Picture(figsize=(width, height), dpi=150, layout=layout, facecolor="white")
    left = 0.1 / width
    drawn.text(left, 1 - 0.1 / height, "\n".join(title), va="top", fontsize=13, fontweight="bold", color=INK)
    drawn.text(
        left, 0.08 / height, "\n".join(caption), va="bottom", fontsize=8, color=_GREY, linespacing=1.25
    )
    if handles:
        drawn.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0.05 / width, 1 - head / height),
            ncols=across,
            frameon=False,
            fontsize=8.5,
            borderaxespad=0.2,
            labelcolor=INK,
            handlelength=_HANDLE,
        )
    grid = drawn.subplots(rows, columns, squeeze=False)
    for axes, panel in itertools.zip_longest(grid.flat, figure.panels):
        if panel is None:
            axes.set_visible(False)
        else:
            _panel(axes, panel, looks)
    return drawn


SMALL = 64
"""Colours of a picture that is kept with the code: a third of the bytes, and no difference to be seen."""


def save(
    figure: Figure, directory: Path, formats: Sequence[str] = ("png",), *, colours: int | None = None
) -> list[Path]:
    """Draw a figure into files; each is named like the figure.

    A PNG has so many `colours` at most, where that is said.
    """
    # Neither the hour nor chance goes into a file: the same figure makes the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": figure.name}):
        drawn = picture(figure)
        written = []
        for form in formats:
            path = directory / f"{figure.name}.{form}"
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
            with written_whole(path) as temporary:
                drawn.savefig(temporary, format=form, metadata=dates)
                if form == "png" and colours is not None:
                    reduce_colours(temporary, colours)
            written.append(path)
    return written


def reduce_colours(path: Path, colours: int) -> None:
    """Leave so many colours in a PNG, in place."""
    from PIL import Image

    with Image.open(path) as drawn:
        reduced = drawn.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    reduced.save(path, format="PNG", optimize=True)


# ---- what all panels have in common ----------------------------------------------------------------------


def _key(series: Series) -> Key:
    """Return what a series is in the legend: the same in all panels."""
    return series.label, series.published


def _legend(figure: Figure, looks: Looks, width: float) -> tuple[list[Artist], int]:
    """Return what the legend shows, and how many of it stand side by side.

    A series without a name is all that there is in its panel: it needs no entry.
    """
    forms: dict[Key, Series] = {}
    for panel in figure.panels:
        for series in panel.series:
            if series.label:
                forms.setdefault(_key(series), series)
    across = {_key(one) for panel in figure.panels for one in panel.series if panel.is_across(one)}
    shown = {
        key: dataclasses.replace(series, form="line", x=(), y=()) if key in across else series
        for key, series in forms.items()
    }
    handles = [_handle(series, looks[key], alone=len(looks) < 2) for key, series in shown.items()]
    words = [_words(series) for series in forms.values()]
    if figure.hollow and any(any(series.hollow) for panel in figure.panels for series in panel.series):
        handles.append(Line2D([], [], label=figure.hollow, **_HOLLOW, color=_GREY, marker="o"))
        words.append(figure.hollow)
    longest = max(map(len, words), default=0)
    return handles, max(1, int(width / (longest * _INCHES_PER_LETTER + 0.65)))


def _words(series: Series) -> str:
    return f"published: {series.label}" if series.published else series.label


def _handle(series: Series, look: Style, *, alone: bool) -> Artist:
    if series.form == "bars":
        return Patch(label=_words(series), **_bar_style(series, look))
    return Line2D([], [], label=_words(series), **_line_style(series, look, alone=alone))


def _line_style(series: Series, look: Style, *, alone: bool) -> dict[str, Any]:
    """Return how a series looks that is no bars; one that is `alone` has no others to be told from."""
    points = series.form == "points"
    few = series.form == "line" and len(series.x) <= _FEW_PLACES
    marked = points or few or not alone
    return {
        "color": look.colour,
        "linestyle": "none" if points else _dash(look),
        "linewidth": 1.3 if series.published else 1.6,
        "marker": _MARKERS[look.marker] if marked and (points or not series.published) else "none",
        "markersize": (6.5 if points and series.published else 5 if points else 4.2)
        * _LARGER.get(look.marker, 1.0),
        # Over a bar of its colour a published point is seen by what is within it.
        "markerfacecolor": "white" if series.published else look.colour,
        "zorder": 3 if series.published else 2,
        "markeredgewidth": 1.3 if series.published else 0.8,
    }


def _bar_style(series: Series, look: Style) -> dict[str, Any]:
    if series.published:
        hatch = _HATCHES[look.pattern % len(_HATCHES)]
        return {"facecolor": "none", "edgecolor": look.colour, "hatch": hatch, "linewidth": 1}
    hatch = _HATCHES[(look.pattern - 1) % len(_HATCHES)] if look.pattern else ""
    return {"facecolor": look.colour, "edgecolor": "white", "linewidth": 0.4, "hatch": hatch}


def _sparse(places: int, number: int) -> tuple[int, int]:
    """Return the first place that a long line marks and how many there are to the next, aside of others'."""
    every = max(1, places // _MARKED)
    return number * every // _MARKED % every, every


def _dash(look: Style) -> Any:
    return (0, look.dash) if look.dash else "solid"


# ---- one panel -------------------------------------------------------------------------------------------


def _panel(axes: Axes, panel: Panel, looks: Looks) -> None:
    axes.set_title(panel.name, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(panel.x.label, fontsize=9, color=INK)
    axes.set_ylabel(panel.y.label, fontsize=9, color=INK)
    axes.set_xscale("log" if panel.x.log else "linear")
    axes.set_yscale("log" if panel.y.log else "linear")
    bars = [series for series in panel.series if series.form == "bars"]
    width = _BAR_SHARE * _distance(bars) / max(1, len(bars))
    base = _base(panel)
    aside = _aside(panel)
    for number, series in enumerate(panel.series):
        look = looks[_key(series)]
        x, y = np.array(series.x, dtype=np.float64), _numbers(series.y, panel.y)
        if series.form == "bars":
            x = x + _beside(bars, series) * width
            # A logarithm has no zero for bars to stand on.
            axes.bar(x, y - base, width * 0.94, bottom=base, **_bar_style(series, look))
        else:
            style = _line_style(series, look, alone=len(looks) < 2)
            if series.form != "points" and len(x) > _FEW_PLACES:
                style["markevery"] = _sparse(len(x), list(looks).index(_key(series)))
            x = x + aside.get(number, 0.0)
            under = next((one for one in bars if series.published and one.label == series.of), None)
            if under is not None and series.form == "points":
                x = x + _beside(bars, under) * width
            elif panel.is_across(series):
                ends = (x - _BAR_SHARE / 2, x + _BAR_SHARE / 2)
                axes.hlines(y, *ends, color=look.colour, linewidth=1.3, linestyle=_dash(look), zorder=3)
                continue
            axes.plot(x, y, drawstyle="steps-post" if series.form == "steps" else "default", **style)
        _interval(axes, series, x, y, look, panel)
        if any(series.hollow):
            # Over the interval, which would go through what is hollow.
            doubtful = np.array(series.hollow)
            marker = {"color": look.colour, "marker": _MARKERS[look.marker], "zorder": 4, **_HOLLOW}
            axes.plot(x[doubtful], y[doubtful], **marker)
    plain(axes)
    _limits(axes, panel, base if bars else None)
    _ticks(axes, panel)
    for words, level in panel.lines:
        _level(axes, words, level, panel)
    for words, place in panel.borders:
        _border(axes, words, place)
    if panel.named:
        _names_of_points(axes, panel)
    if not any(value is not None for series in panel.series for value in series.y):
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", color=_GREY)


def _numbers(values: Sequence[Value], axis: Axis) -> Numbers:
    """Return numbers, NaN where there is a gap and where the axis has no place for one."""
    found = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    return np.where(found > 0, found, math.nan) if axis.log else found


def _beside(bars: Sequence[Series], series: Series) -> float:
    """Return how many bars a series' bar is right of the middle of its place."""
    return bars.index(series) - (len(bars) - 1) / 2


def _distance(bars: Sequence[Series]) -> float:
    """Return how far places with bars are from each other."""
    places = np.unique([place for series in bars for place in series.x])
    return float(np.diff(places).min()) if len(places) > 1 else 1.0


def _aside(panel: Panel) -> dict[int, float]:
    """Return how far beside its places a measured series is drawn, by its number in the panel."""
    found = [
        number
        for number, series in enumerate(panel.series)
        if panel.x.categories and series.form in ("line", "points") and not series.published
    ]
    places = [
        place
        for number in found
        for place, value in zip(panel.series[number].x, panel.series[number].y, strict=True)
        if value is not None
    ]

    # What is equal stays where it is, one beneath the other: side by side it would look like several.
    def values(number: int) -> tuple[tuple[Value, ...], ...]:
        series = panel.series[number]
        return tuple(tuple(each) for each in (series.x, series.y, series.low, series.high))

    different = list(dict.fromkeys(map(values, found)))
    if len(set(places)) == len(places) or len(different) < 2:
        return {}
    step = _SPREAD / (len(different) - 1)
    return {number: step * different.index(values(number)) - _SPREAD / 2 for number in found}


def _base(panel: Panel) -> float:
    """Return where bars stand."""
    if not panel.y.log:
        return 0.0
    if panel.y.low is not None:
        return panel.y.low
    ends = [value for series in panel.series for value in (*series.y, *series.low) if value and value > 0]
    return min(ends, default=1.0) / 2


def _interval(axes: Axes, series: Series, x: Numbers, y: Numbers, look: Style, panel: Panel) -> None:
    if not series.low or not series.high:
        return
    low, high = _numbers(series.low, Axis()), _numbers(series.high, Axis())
    if panel.y.log:
        low = np.where(low <= 0, np.minimum(y, _base(panel)), low)
    # A histogram's value may lie a hair outside of its interval.
    arms = np.vstack([np.fmax(y - low, 0), np.fmax(high - y, 0)])
    known = np.isfinite(y) & np.isfinite(low) & np.isfinite(high)
    colour = INK if series.form == "bars" else look.colour
    axes.errorbar(
        x[known],
        y[known],
        yerr=arms[:, known],
        fmt="none",
        ecolor=colour,
        elinewidth=1,
        capsize=2.5,
        alpha=0.8,
    )


def _limits(axes: Axes, panel: Panel, base: float | None) -> None:
    if panel.x.categories:
        axes.set_xlim(-0.6, len(panel.x.categories) - 0.4)
    if panel.x.low is not None:
        axes.set_xlim(left=panel.x.low)
    if panel.x.high is not None:
        axes.set_xlim(right=panel.x.high)
    if base is not None and panel.y.log:
        axes.set_ylim(bottom=base)
    if panel.y.low is not None:
        axes.set_ylim(bottom=panel.y.low)
    if panel.y.high is not None:
        axes.set_ylim(top=panel.y.high)


def _ticks(axes: Axes, panel: Panel) -> None:
    for axis, described in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        if described.log:
            low, high = sorted(axis.get_view_interval())
            decades = math.log10(high / low) if low > 0 else math.inf
            if decades < _ONE_PLACE:
                # The ticks of a linear axis would leave no room between its ends.
                set_ends = axes.set_xlim if axis is axes.xaxis else axes.set_ylim
                set_ends(low / _ROOM, high * _ROOM)
            if decades < _FEW_DECADES:
                axis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
                axis.set_minor_locator(NullLocator())
            else:
                axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.2 else (1,), numticks=12))
            axis.set_minor_formatter(NullFormatter())
        # Where one tick of a logarithmic axis is written as a power of ten, all are.
        low, high = sorted(axis.get_view_interval())
        is_far = described.log and (low < _PLAIN_LOG[0] or high >= _PLAIN_LOG[1])
        plainly = (math.inf, math.inf) if is_far else _PLAIN_LOG if described.log else _PLAIN
        axis.set_major_formatter(FuncFormatter(lambda value, _, ends=plainly: tick(value, *ends)))
    if not panel.x.log:
        axes.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    if panel.x.categories:
        _names(axes, panel.x.categories)
    elif panel.x.ticks:
        _own_ticks(axes, panel.x)


def _own_ticks(axes: Axes, axis: Axis) -> None:
    """Mark the places that an axis names; words that are too near to others stand below them."""
    grid = axes.get_gridspec()
    width = axes.figure.get_size_inches()[0] / (grid.ncols if grid else 1) - _BESIDE_INCHES  # type: ignore[union-attr]
    low, high = axes.get_xlim()
    words, ends = [], [-math.inf] * _ROWS_OF_TICKS
    for place, text in axis.ticks:
        middle = _share(place, low, high, log=axis.log) * width
        half = (len(text) + 1) * _INCHES_PER_LETTER_OF_TICK / 2
        row = next((row for row, end in enumerate(ends) if middle - half >= end), None)
        words.append("" if row is None else "\n" * row + text)
        if row is not None:
            ends[row] = middle + half
    axes.set_xticks([place for place, _ in axis.ticks], words)
    axes.xaxis.set_minor_locator(NullLocator())


def _names(axes: Axes, names: Sequence[str]) -> None:
    """Write the names of places: in several lines where they are long, else aslant."""
    room = max(6, _LETTERS_OF_PLACES // len(names))
    wrapped = [textwrap.wrap(name, room, break_long_words=False) for name in names]
    if any(len(lines) > 3 or any(len(line) > room + 1 for line in lines) for lines in wrapped):
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(range(len(names)), ["\n".join(lines) for lines in wrapped])
    axes.tick_params(axis="x", length=0)
    axes.xaxis.set_minor_locator(NullLocator())


def tick(value: float, least: float, most: float) -> str:
    """Write a number of an axis, short; what is not between these two with a power of ten."""
    if not value or least <= abs(value) < most:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
    mantissa, exponent = f"{value:.6e}".split("e")
    power = rf"10^{{{int(exponent)}}}"
    return f"${power}$" if float(mantissa) == 1 else rf"${float(mantissa):g} \cdot {power}$"


def _level(axes: Axes, words: str, level: float, panel: Panel) -> None:
    """Draw a level with its words, where they cover least: at its ends if there is room, else along it."""
    axes.axhline(level, color=_LEVEL, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    at = _share(level, *axes.get_ylim(), log=panel.y.log)
    inch_across, inch_up = _shares_of_inch(axes)
    letter, line = _LETTER_OF_POINT
    width, height = len(words) * letter * inch_across, 1.3 * line * inch_up
    margin_across, margin_up = _HALF_MARKER * inch_across, _HALF_MARKER * inch_up
    drawn = _drawn(axes, panel)
    ends = [1 - width - _EDGE, _EDGE]
    along = np.linspace(ends[0], ends[1], _PLACES_OF_WORDS)[1:-1].tolist() if ends[0] > ends[1] else []
    places = [
        (left, side, points)
        for lefts in (ends, along)
        for points in _POINTS_OFF_LEVEL
        for side in ("bottom", "top")
        for left in lefts
        if points == _POINTS_OFF_LEVEL[0]
        or 0 < _base_of_words(at, side, points, inch_up, height) < 1 - height
    ]

    def covered(place: tuple[float, str, int]) -> int:
        left, side, points = place
        base = _base_of_words(at, side, points, inch_up, height)
        inside = (drawn[0] >= left - margin_across) & (drawn[0] <= left + width + margin_across)
        return int((inside & (drawn[1] >= base - margin_up) & (drawn[1] <= base + height + margin_up)).sum())

    left, side, points = min(places, key=covered)
    is_at_right = left == ends[0]
    axes.annotate(
        words,
        (left + width if is_at_right else left, level),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, points if side == "bottom" else -points),
        textcoords="offset points",
        ha="right" if is_at_right else "left",
        va=side,
        fontsize=7.5,
        color=_GREY,
        # Where there is no room at all, what is drawn goes over them.
        zorder=1.5,
        bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
    )


def _base_of_words(at: float, side: str, points: int, inch_up: float, height: float) -> float:
    """Return where words so many points off a level have their lower end, as a share of the panel."""
    off = points / _POINTS_PER_INCH * inch_up
    return at + off if side == "bottom" else at - off - height


def _shares_of_inch(axes: Axes) -> tuple[float, float]:
    """Return how much of a panel an inch takes, across and up, about."""
    grid = axes.get_gridspec()
    assert grid is not None and axes.figure is not None  # noqa: S101, PT018
    width, height = axes.figure.get_size_inches()  # type: ignore[union-attr]
    return 1 / (width / grid.ncols - _BESIDE_INCHES), grid.nrows / (height - 1)


def _drawn(axes: Axes, panel: Panel) -> tuple[Numbers, Numbers]:
    """Return places on lines, points and intervals, as shares of the panel."""
    across, up = [np.zeros(0)], [np.zeros(0)]
    aside = _aside(panel)
    steps = np.linspace(0, 1, _STEPS)
    for number, series in enumerate(panel.series):
        places = np.array(series.x, dtype=np.float64) + aside.get(number, 0.0)
        x = _shares(places, axes.get_xlim(), panel.x)
        y = _shares(_numbers(series.y, panel.y), axes.get_ylim(), panel.y)
        if series.form == "points" or len(x) < 2:
            across.append(x)
            up.append(y)
        else:
            across.append((x[:-1, None] + np.diff(x)[:, None] * steps).ravel())
            up.append((y[:-1, None] + np.diff(y)[:, None] * steps).ravel())
        if series.low and series.high:
            low, high = (
                _shares(_numbers(ends, panel.y), axes.get_ylim(), panel.y)
                for ends in (series.low, series.high)
            )
            # As many places as it is long: one that is short is no more than its ends.
            crossed = (steps > low[:, None]) & (steps < high[:, None])
            across += [x, x, np.broadcast_to(x[:, None], crossed.shape)[crossed]]
            up += [low, high, np.broadcast_to(steps, crossed.shape)[crossed]]
    return np.concatenate(across), np.concatenate(up)


def _shares(values: Numbers, ends: tuple[float, float], axis: Axis) -> Numbers:
    """Return how far along an axis values are; NaN where it has no place for one."""
    if axis.log:
        values = np.log(np.where(values > 0, values, math.nan))
        ends = (math.log(ends[0]), math.log(ends[1]))
    return (values - ends[0]) / (ends[1] - ends[0])


def _border(axes: Axes, words: str, place: float) -> None:
    axes.axvline(place, color=_LEVEL, linewidth=1, linestyle=(0, (1, 2)), zorder=1)
    axes.annotate(
        words,
        (place, 0.01),
        xycoords=axes.get_xaxis_transform(),
        xytext=(3, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=7.5,
        color=_GREY,
    )


def _names_of_points(axes: Axes, panel: Panel) -> None:
    """Write labels beside points, each on the side where there is room."""
    width, height = _LETTER_OF_POINT
    # Where things will be, about: the layout is made when all is drawn.
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    places = []
    for series in panel.series:
        for x, y in zip(series.x, series.y, strict=True):
            if series.form == "points" and not series.published and y is not None:
                across = _share(x, left, right, log=panel.x.log) * _PANEL_INCHES[0]
                up = _share(y, low, high, log=panel.y.log) * _PANEL_INCHES[1]
                places.append((series.label, x, y, across, up))
    taken = [(across - 0.05, up - 0.05, across + 0.05, up + 0.05) for *_, across, up in places]
    for _, place in panel.borders:
        across = _share(place, left, right, log=panel.x.log) * _PANEL_INCHES[0]
        taken.append((across, 0.0, across, _PANEL_INCHES[1]))
    for label, x, y, across, up in places:
        wide = width * len(label)
        sides = {
            (6, 0, "left", "center"): (across + 0.09, up - height / 2),
            (-6, 0, "right", "center"): (across - 0.09 - wide, up - height / 2),
            (0, 6, "center", "bottom"): (across - wide / 2, up + 0.08),
            (0, -6, "center", "top"): (across - wide / 2, up - 0.08 - height),
        }
        boxes = {side: (at, base, at + wide, base + height) for side, (at, base) in sides.items()}
        inside = {side: box for side, box in boxes.items() if box[0] > 0 and box[2] < _PANEL_INCHES[0]}
        free = (side for side, box in inside.items() if not any(_overlap(box, other) for other in taken))
        side = next(free, next(iter(inside), next(iter(boxes))))
        taken.append(boxes[side])
        axes.annotate(
            label,
            (x, y),
            (side[0], side[1]),
            textcoords="offset points",
            ha=side[2],
            va=side[3],
            fontsize=7.5,
        )


def _share(value: float, low: float, high: float, *, log: bool) -> float:
    """Return how far along an axis a value is."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / (high - low)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Say whether two boxes (left, bottom, right, top) have a part in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
