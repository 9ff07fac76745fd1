"""The errors of a calibration, drawn."""

from __future__ import annotations

from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.lab.calibrate.record import Calibration, is_of

_MARKED = 20
"""So many figures at most have their number at the axis."""


def errors_figure(found: Calibration) -> Figure:
    """Draw simulated over published, figure by figure, fitted and held out apart."""
    series = []
    for use, called in (("fit", "fitted"), ("holdout", "held out")):
        rows = [(place, row) for place, row in enumerate(found.rows, 1) if row.use == use and row.simulated]
        if rows:
            ratios = [(row.simulated or 0.0) / row.published for _, row in rows]
            series.append(Series(called, [place for place, _ in rows], ratios, form="points"))
    every = -(-len(found.rows) // _MARKED)
    places = range(1, len(found.rows) + 1, every)
    panel = Panel(
        "",
        Axis("figure, in the order of the report", ticks=[(place, str(place)) for place in places]),
        Axis(f"simulated / {is_of(found.rows)}", log=True),
        series,
        lines=[("equal", 1.0)],
    )
    return Figure("errors", f"{found.device}: what is met", [panel], found.verdict(), columns=1)
