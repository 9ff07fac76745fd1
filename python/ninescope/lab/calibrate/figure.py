"""The errors of a calibration, drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ninescope.figures import NEUTRAL, PALETTE, Axis, Figure, Panel, Series
from ninescope.lab.calibrate.figures import unit_shown
from ninescope.lab.calibrate.record import Calibration, Row, is_of, metric_shown

_NAMED = 24
"""So many figures of a panel have their names at the axis; where there are more, some have numbers."""
_ASIDE = 0.4
"""So far before what it is simulated to a figure is drawn, of the way to the next one."""
_Numbered = Sequence[tuple[int, Row]]
_USES = (("fit", "fitted", PALETTE[0]), ("holdout", "held out", PALETTE[1]))


def errors_figure(found: Calibration) -> Figure:
    """Draw what every figure is and what it is simulated to, by unit, and below the ratio of the two."""
    # As the report has them: those that were fitted first.
    ordered = [row for use, _, _ in _USES for row in found.rows if row.use == use]
    measured = [(place, row) for place, row in enumerate(ordered, 1) if row.simulated is not None]
    units = list(dict.fromkeys(unit_shown(row.metric)[0] for _, row in measured))
    panels = [
        _values([each for each in measured if unit_shown(each[1].metric)[0] == unit], unit) for unit in units
    ]
    title = f"{found.device}: what is met"
    return Figure("errors", title, [*panels, _ratios(measured)], found.verdict(), columns=1)


def devices_figure(all_: Sequence[Calibration]) -> Figure:
    """Draw of several devices how far all their figures are missed."""
    series = []
    for use, called, colour in _USES:
        points = [
            (place, (row.simulated or 0.0) / row.published)
            for place, found in enumerate(all_)
            for row in found.of(use)  # type: ignore[arg-type]
        ]
        places, ratios = [place for place, _ in points], [ratio for _, ratio in points]
        series.append(Series(called, places, ratios, form="points", colour=colour))
    panel = Panel(
        "",
        Axis("", categories=[found.device for found in all_]),
        Axis("simulated / published", log=True),
        series,
        lines=[("equal", 1.0)],
    )
    return Figure("devices", "Every figure of every drive", [panel], columns=1)


def _values(numbered: _Numbered, unit: str) -> Panel:
    """Draw figures of one unit beside what the drive comes to."""
    rows = [row for _, row in numbered]
    # Names give series of a place room beside each other, numbers do not.
    aside = 0.0 if len(rows) <= _NAMED else _ASIDE
    known = Series(
        is_of(rows),
        [place - aside for place in range(len(rows))],
        [_shown(row.published, row) for row in rows],
        form="points",
        colour=NEUTRAL,
        hollow=[True] * len(rows),
    )
    series = _by_use(rows, lambda row: _shown(row.simulated or 0.0, row))
    return Panel(f"in {unit}" if unit else "", _places(numbered), Axis(unit, log=True), [known, *series])


def _ratios(numbered: _Numbered) -> Panel:
    """Draw simulated over what was to be met."""
    rows = [row for _, row in numbered]
    series = _by_use(rows, lambda row: (row.simulated or 0.0) / row.published)
    label = f"simulated / {is_of(rows)}" if rows else "simulated"
    return Panel("all of them", _places(numbered), Axis(label, log=True), series, lines=[("equal", 1.0)])


def _by_use(rows: Sequence[Row], value: Callable[[Row], float]) -> list[Series]:
    """Make a series of the fitted figures, and one of those that were held out."""
    return [
        Series(
            f"simulated, {called}",
            list(range(len(rows))),
            [value(row) if row.use == use else None for row in rows],
            form="points",
            colour=colour,
        )
        for use, called, colour in _USES
        if any(row.use == use for row in rows)
    ]


def _places(numbered: _Numbered) -> Axis:
    """Name the places of figures, or number them as they follow in the report."""
    if len(numbered) <= _NAMED:
        return Axis("", categories=[f"{_named(row)} {metric_shown(row.metric)}" for _, row in numbered])
    every = -(-len(numbered) // _NAMED)
    ticks = [(place, str(number)) for place, (number, _) in enumerate(numbered) if place % every == 0]
    return Axis("figure, in the order of the report", ticks=ticks)


def _named(row: Row) -> str:
    return " ".join(filter(None, (row.set.removesuffix(" (fitted)"), row.case)))


def _shown(value: float, row: Row) -> float:
    return value / unit_shown(row.metric)[1]
