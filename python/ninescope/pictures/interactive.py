"""Figures to look into in a notebook: values under the pointer, zoomed and scrolled. plotly draws them.

Whatever is a figure as data (`ninescope.figures`) can be drawn; `Interactive` has those of a result.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.figures.figure import Axis, Figure, Key, Panel, Series, Style, Value, styles
from ninescope.figures.latency import distribution, percentiles
from ninescope.figures.series import in_time
from ninescope.result import Band, Result
from ninescope.text.causes import look
from ninescope.text.names import band_ranges, drive_name, plural, workload_name
from ninescope.text.units import duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    __all__ = ["Interactive", "PlotlyFigure", "picture"]  # the lab names in its types what is drawn

NEEDED = "interactive figures need the package plotly: pip install 'ninescope[notebook]'"
_ROW = 320
"""How high a row of panels is [pixels]."""
_TOLD = 5
"""So many causes are told of a percentile."""
_SYMBOLS = {"triangle": "triangle-up", "plus": "cross", "cross": "x"}
"""Markers that plotly calls otherwise."""


class Interactive:
    """The interactive figures of a result; each method returns a figure of plotly, which shows itself."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def percentiles(self) -> PlotlyFigure:
        """Draw the percentiles with their intervals; the pointer says what requests there waited for."""
        found = percentiles(list(self._result.latency))
        if found is None:
            raise ConfigError("the result has fewer than two percentiles that can be trusted")
        drawn = picture(self._titled(found))
        told = {plural(op): _causes(bands) for op, bands in self._result.attribution}
        for trace in drawn.data:
            trace.customdata = [told[trace.name].get(key, "") for key in trace.x]
            trace.hovertemplate = "%{x}: %{y:.4g} us<br>%{customdata}<extra>%{fullData.name}</extra>"
        return drawn

    def cdf(self) -> PlotlyFigure:
        """Draw which share of the requests was slower than what (the complementary CDF)."""
        found = distribution(list(self._result.latency))
        if found is None:
            raise ConfigError("the result has no latency histogram (it is in latency.parquet of its folder)")
        return picture(self._titled(found))

    def time(self) -> PlotlyFigure:
        """Draw requests, their latency and write amplification in the course of the run."""
        found = list(in_time(self._result))
        if not found:
            raise ConfigError("the result has no time series, or the run was too short for one")
        panels = [panel for each in found for panel in each.panels]
        whole = Figure("time", "In the course of the run", panels, columns=1)
        return picture(self._titled(whole))

    def _titled(self, figure: Figure) -> Figure:
        what = f"{figure.title}: {workload_name(self._result)} on {drive_name(self._result)}"
        return dataclasses.replace(figure, title=what)


def picture(figure: Figure) -> PlotlyFigure:
    """Draw a figure that is data: what it shows is what the figure holds, value by value."""
    graph_objects, subplots = _plotly()
    columns = max(1, min(figure.columns, len(figure.panels)))
    rows = -(-len(figure.panels) // columns)
    drawn = subplots.make_subplots(
        rows=rows, cols=columns, subplot_titles=[panel.name for panel in figure.panels]
    )
    looks = styles(figure)
    named: set[Key] = set()
    for number, panel in enumerate(figure.panels):
        row, column = number // columns + 1, number % columns + 1
        for series in panel.series:
            key = (series.label, series.published)
            trace = _trace(graph_objects, panel, series, looks[key], is_named=key not in named)
            named.add(key)
            drawn.add_trace(trace, row=row, col=column)
        _lines(drawn, panel, row, column)
        drawn.update_xaxes(**_axis(panel.x), row=row, col=column)
        drawn.update_yaxes(**_axis(panel.y), row=row, col=column)
    drawn.update_layout(
        title=figure.title,
        template="plotly_white",
        height=_ROW * rows + 120,
        hovermode="closest",
        barmode="group",
    )
    return drawn


def _lines(drawn: Any, panel: Panel, row: int, column: int) -> None:
    """Draw level and upright lines with their words, which plotly puts by the logarithm on such an axis."""
    around = {"showarrow": False, "row": row, "col": column}
    for words, level in panel.lines:
        drawn.add_hline(level, line_dash="dot", row=row, col=column)
        at = math.log10(level) if panel.y.log else level
        drawn.add_annotation(
            text=words, x=1, xref="x domain", xanchor="right", y=at, yanchor="bottom", **around
        )
    for words, place in panel.borders:
        drawn.add_vline(place, line_dash="dot", row=row, col=column)
        at = math.log10(place) if panel.x.log else place
        drawn.add_annotation(text=words, x=at, xanchor="left", y=1, yref="y domain", yanchor="top", **around)


def _trace(graph_objects: Any, panel: Panel, series: Series, style: Style, *, is_named: bool) -> Any:
    """Return a series as plotly has it."""
    label = f"{series.label} (published)" if series.published else series.label
    words = {
        "x": _places(panel, series.x),
        "y": list(series.y),
        "name": label,
        "legendgroup": label,
        "showlegend": is_named,
        "error_y": _whiskers(series),
    }
    if series.form == "bars":
        return graph_objects.Bar(**words, marker={"color": style.colour})
    mode = "markers" if series.form == "points" else "lines" if series.form == "steps" else "lines+markers"
    symbol = _SYMBOLS.get(style.marker, style.marker)
    symbols = [f"{symbol}-open" if doubtful else symbol for doubtful in series.hollow] or symbol
    line = {"color": style.colour, "dash": _dash(style.dash)}
    if series.form == "steps":
        line["shape"] = "hv"
    return graph_objects.Scatter(
        **words, mode=mode, line=line, marker={"color": style.colour, "symbol": symbols, "size": 7}
    )


def _places(panel: Panel, x: Sequence[float | int]) -> list[Any]:
    """Return places, or the names of those that have some."""
    return [panel.x.categories[int(place)] for place in x] if panel.x.categories else list(x)


def _whiskers(series: Series) -> dict[str, Any] | None:
    """Return an interval around each value as plotly has it: how far it reaches up and down."""
    if not series.low or not series.high:
        return None
    ends = list(zip(series.y, series.low, series.high, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [_apart(high, value) for value, _, high in ends],
        "arrayminus": [_apart(value, low) for value, low, _ in ends],
        "thickness": 1,
    }


def _apart(high: Value, low: Value) -> float:
    return 0.0 if high is None or low is None else max(0.0, float(high) - float(low))


def _dash(dash: Sequence[float]) -> str:
    return ",".join(f"{2 * length:g}px" for length in dash) if dash else "solid"


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"title_text": axis.label}
    if axis.categories:
        return {**found, "type": "category", "categoryorder": "array", "categoryarray": list(axis.categories)}
    if axis.ticks:
        places, names = zip(*axis.ticks, strict=True)
        found |= {"tickvals": list(places), "ticktext": list(names)}
    if axis.log:
        return {**found, "type": "log"}
    if axis.low is not None or axis.high is not None:
        found["range" if None not in (axis.low, axis.high) else "autorangeoptions"] = (
            [axis.low, axis.high] if None not in (axis.low, axis.high) else _half_open(axis)
        )
    return found


def _half_open(axis: Axis) -> dict[str, float]:
    return {"minallowed": axis.low} if axis.low is not None else {"maxallowed": axis.high or 0.0}


# ---- what the pointer says of a percentile -------------------------------------------------------------


def _causes(bands: tuple[Band, ...]) -> dict[str, str]:
    """Say for each percentile where the time went of the requests that end with it."""
    told = {}
    for reach, band in zip(band_ranges(bands), bands, strict=True):
        lines = [f"{reach}: {band.count:,} requests, {duration(band.mean_ns)} in the mean"]
        lines += [f"{band.share(cause):.0%} {look(cause).label}" for cause, _ in band.top(_TOLD)]
        told[band.name] = "<br>".join(lines)
    return told


def _plotly() -> tuple[Any, Any]:
    """Import plotly, or say what is missing."""
    try:
        from plotly import graph_objects, subplots
    except ImportError:
        raise ConfigError(NEEDED) from None
    return graph_objects, subplots
