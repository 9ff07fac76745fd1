"""A figure's values: as tables for whoever reads them, as JSON for the script that draws them.

Both hold the same values. This module knows figures, and nothing of documents and pages.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ninescope.figures import Axis, Figure, Form, Key, Panel, Series, Style, Value, styles

OUTLINES = {
    "circle": "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
    "square": "M-.9-.9h1.8v1.8h-1.8z",
    "diamond": "M0-1.3 1.3 0 0 1.3-1.3 0z",
    "triangle": "M0-1.2 1.2.9h-2.4z",
    "triangle-down": "M0 1.2 1.2-.9h-2.4z",
    "plus": "M-.42-1.25h.84v.83h.83v.84h-.83v.83h-.84v-.83h-.83v-.84h.83z",
    "cross": "M-1.2-.6-.6-1.2 0-.6.6-1.2 1.2-.6.6 0 1.2.6.6 1.2 0 .6-.6 1.2-1.2.6-.6 0z",
    "star": "M0-1.5.36-.48 1.43-.46.58.19.88 1.21 0 .6-.88 1.21-.58.19-1.43-.46-.36-.48z",
}
"""The markers of series as paths of SVG, about their middle, some 1 in size."""
_DIGITS = 6
"""Significant digits that a value keeps."""


@dataclasses.dataclass(frozen=True)
class ValueTable:
    """Series of a panel that have their places in common."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of the legend: all series of a figure with the same label."""

    label: str
    style: Style
    published: bool
    form: Form
    source: str


def number(value: Value) -> str:
    """Write a value as it stands in a table."""
    if value is None or not math.isfinite(value):
        return "\u2013"
    if isinstance(value, int) or (value == int(value) and 1e4 <= abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:.{_DIGITS}g}"


def tables(figure: Figure) -> Iterator[ValueTable]:
    """Yield all values: for each panel a table for each group of series over the same places."""
    for panel in figure.panels:
        groups: list[list[Series]] = []
        for series in panel.series:
            group = next((group for group in groups if list(group[0].x) == list(series.x)), None)
            if group is None:
                groups.append([series])
            else:
                group.append(series)
        for group in groups:
            alone = len(groups) == 1
            title = panel.name if alone else f"{panel.name}: {', '.join(_called(one) for one in group)}"
            rows = [
                [_place(panel.x, place), *(_with_interval(series, index) for series in group)]
                for index, place in enumerate(group[0].x)
            ]
            unit = f" ({panel.y.label})" if panel.y.label else ""
            yield ValueTable(
                f"{title}{unit}", [panel.x.label or "place", *(_called(one) for one in group)], rows
            )
        if panel.lines:
            levels = [[words, number(level)] for words, level in panel.lines]
            yield ValueTable(f"{panel.name}: levels", ["level", panel.y.label or "value"], levels)
        if panel.borders:
            borders = [[words, number(place)] for words, place in panel.borders]
            yield ValueTable(f"{panel.name}: borders", ["border", panel.x.label or "place"], borders)


def legend(figure: Figure) -> list[Entry]:
    """Return what the looks of a figure mean: a label has one, in all its panels."""
    found = styles(figure)
    entries: dict[Key, Entry] = {}
    for panel in figure.panels:
        for series in panel.series:
            key = (series.label, series.published)
            # So is it drawn.
            form: Form = "line" if panel.is_across(series) else series.form
            earlier = entries.get(key)
            if earlier is None:
                entries[key] = Entry(series.label, found[key], series.published, form, series.source)
            elif series.source and series.source not in earlier.source.split(", "):
                together = ", ".join(filter(None, (earlier.source, series.source)))
                entries[key] = dataclasses.replace(earlier, source=together)
    return list(entries.values())


def as_json(figure: Figure) -> str:
    """Return what the script of a page needs to draw a figure, safe inside a script element."""
    entries = legend(figure)
    places = {(entry.label, entry.published): index for index, entry in enumerate(entries)}
    panels = [_panel(panel, places) for panel in figure.panels]
    data = {"legend": [_look(entry) for entry in entries], "panels": panels}
    return script_safe(data)


def _look(entry: Entry) -> list[Any]:
    """Return how the script draws a series: label, colour, dash, marker, and the pattern of its bars."""
    style = entry.style
    return [
        _legend_label(entry), style.colour, list(style.dash), OUTLINES[style.marker],
        0 if entry.published else style.pattern,
    ]  # fmt: skip


def script_safe(data: Any) -> str:
    """Write JSON in which no markup can begin or end."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _panel(panel: Panel, places: dict[tuple[str, bool], int]) -> dict[str, Any]:
    return {
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "series": [_series(one, places) for one in panel.series],
        "lines": [[words, _rounded(level)] for words, level in panel.lines],
        "borders": [[words, _rounded(place)] for words, place in panel.borders],
        "named": panel.named,
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": axis.label,
        "log": axis.log,
        "categories": list(axis.categories),
        "low": _rounded(axis.low),
        "high": _rounded(axis.high),
    }


def _series(series: Series, places: dict[tuple[str, bool], int]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "entry": places[series.label, series.published],
        # The entry of the series that it stands over.
        "of": places.get((series.of or series.label, False)) if series.published else None,
        "form": series.form,
        "published": series.published,
        "x": [_rounded(value) for value in series.x],
        "y": [_rounded(value) for value in series.y],
    }
    for name, ends in (("low", series.low), ("high", series.high)):
        if ends:
            # Around a gap there is no interval.
            data[name] = [None if y is None else _rounded(end) for y, end in zip(series.y, ends, strict=True)]
    return data


def _rounded(value: Value) -> Value:
    if value is None or not math.isfinite(value):
        return None
    if isinstance(value, int) or value == int(value):
        return int(value)
    return float(f"{value:.{_DIGITS}g}")


def _place(axis: Axis, place: float | int) -> str:
    index = round(place)
    if axis.categories and index == place and 0 <= index < len(axis.categories):
        return axis.categories[index]
    return number(place)


def _with_interval(series: Series, index: int) -> str:
    text = number(series.y[index])
    if series.y[index] is None:
        return text
    low = series.low[index] if series.low else None
    high = series.high[index] if series.high else None
    if low is None and high is None:
        return text
    return f"{text} ({number(low)} to {number(high)})"


def _called(series: Series) -> str:
    return f"{series.label} (published)" if series.published else series.label


def _legend_label(entry: Entry) -> str:
    return f"{entry.label} (published)" if entry.published else entry.label
