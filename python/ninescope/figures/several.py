"""The same figure of several results as one: their series side by side, each named after its result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from ninescope.figures.figure import Axis, Figure, Panel, Series


def together(figures: Mapping[str, Figure]) -> Figure:
    """Return one figure of those that were drawn alike, by the names of what they are of."""
    if len(figures) == 1:
        return next(iter(figures.values()))
    first = next(iter(figures.values()))
    names = dict.fromkeys(panel.name for figure in figures.values() for panel in figure.panels)
    panels = [
        _panel(
            {who: panel for who, figure in figures.items() for panel in figure.panels if panel.name == name}
        )
        for name in names
    ]
    captions = {who: figure.caption for who, figure in figures.items()}
    return dataclasses.replace(first, panels=panels, caption=_captions(captions))


def _captions(captions: Mapping[str, str]) -> str:
    if len(set(captions.values())) == 1:
        return next(iter(captions.values()))
    return " ".join(f"{who}: {caption}" for who, caption in captions.items() if caption)


def _panel(panels: Mapping[str, Panel]) -> Panel:
    first = next(iter(panels.values()))
    longest = max((panel.x.categories for panel in panels.values()), key=len)
    categories = list(dict.fromkeys([*longest, *(name for p in panels.values() for name in p.x.categories)]))
    return dataclasses.replace(
        first,
        x=dataclasses.replace(first.x, categories=categories),
        y=_reach([panel.y for panel in panels.values()]),
        series=[
            _renamed(who, series, panel.x.categories, categories)
            for who, panel in panels.items()
            for series in panel.series
        ],
        lines=_levels((who, line) for who, panel in panels.items() for line in panel.lines),
        borders=[(f"{who}: {words}", at) for who, panel in panels.items() for words, at in panel.borders],
    )


def _reach(axes: Sequence[Axis]) -> Axis:
    lows, highs = [axis.low for axis in axes], [axis.high for axis in axes]
    known_lows, known_highs = ([end for end in ends if end is not None] for ends in (lows, highs))
    return dataclasses.replace(
        axes[0],
        low=min(known_lows) if len(known_lows) == len(axes) else None,
        high=max(known_highs) if len(known_highs) == len(axes) else None,
    )


def _renamed(who: str, series: Series, own: Sequence[str], categories: Sequence[str]) -> Series:
    """Return a series under the name of its result; places among categories are those of all."""
    x = [categories.index(own[int(place)]) for place in series.x] if own else series.x
    return dataclasses.replace(series, label=f"{who}: {series.label}", x=x, colour="")


def _levels(lines: Iterable[tuple[str, tuple[str, float]]]) -> list[tuple[str, float]]:
    """Return level lines; those that all results have at one place are there once."""
    places: dict[tuple[str, float], list[str]] = {}
    for who, line in lines:
        places.setdefault(line, []).append(who)
    alone = len(places) == 1
    return [(words if alone else f"{', '.join(whose)}: {words}", at) for (words, at), whose in places.items()]
