"""The figures of a comparison, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ninescope.figures import PALETTE, Axis, Figure, Panel, Series, Value
from ninescope.figures.latency import survival, thinned
from ninescope.result import OPS, Latency
from ninescope.text.names import plural

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison, Row
    from ninescope.lab.compare.sides import Side
    from ninescope.lab.statistics import Interval

_COLOURS = (PALETTE[0], PALETTE[1])
_WIDE = 3.0


def figures(comparison: Comparison) -> Iterator[Figure]:
    """Yield the figures for which there is something to show."""
    for figure in (_relative(comparison), _percentiles(comparison), _survival(comparison)):
        if figure is not None:
            yield figure


def _relative(comparison: Comparison) -> Figure | None:
    """Draw B over A for every metric in which chance has a part."""
    known = [
        (row, row.contrast.ratio)
        for row in comparison.rows
        if row.contrast is not None and row.contrast.ratio is not None and row.contrast.ratio.value > 0
    ]
    if not known:
        return None
    series = [
        _ratios(label, kinds, colour, known)
        for label, kinds, colour in (
            ("a difference is shown", ("lower", "higher"), PALETTE[1]),
            ("no difference shown", ("none",), "#888888"),
        )
    ]
    panel = Panel(
        "",
        Axis("", categories=[row.metric.label for row, _ in known]),
        Axis("B / A", log=_wide([ratio for _, ratio in known])),
        [one for one in series if any(value is not None for value in one.y)],
        [("no difference", 1.0)],
    )
    return Figure(
        "relative",
        "B relative to A",
        [panel],
        "Whiskers are 95% intervals of each metric by itself; what is called shown is corrected for all of "
        "them being looked at.",
        columns=1,
    )


def _wide(ratios: Sequence[Interval]) -> bool:
    """Say whether ratios, with their intervals, reach so far that only their logarithms can be told apart."""
    low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
    return bool(low > 0 and (high > _WIDE or low < 1 / _WIDE))


def _ratios(label: str, kinds: Sequence[str], colour: str, known: Sequence[tuple[Row, Interval]]) -> Series:
    chosen = [ratio if row.verdict.kind in kinds else None for row, ratio in known]
    return Series(
        label,
        list(range(len(known))),
        [ratio.value if ratio else None for ratio in chosen],
        form="points",
        low=[ratio.low if ratio else None for ratio in chosen],
        high=[ratio.high if ratio else None for ratio in chosen],
        colour=colour,
    )


def _percentiles(comparison: Comparison) -> Figure | None:
    """Draw the trusted percentiles of both with their intervals."""
    panels = []
    for op in OPS:
        rows = [
            row
            for row in comparison.rows
            if row.metric.op == op and row.metric.percentile and row.is_trusted and row.a and row.b
        ]
        if len(rows) < 2:
            continue
        both = (("A", [row.a for row in rows]), ("B", [row.b for row in rows]))
        panels.append(
            Panel(
                plural(op),
                Axis("percentile", categories=[f"p{row.metric.percentile}" for row in rows]),
                Axis("latency [us]", log=True),
                [
                    _values(name, values, colour)
                    for (name, values), colour in zip(both, _COLOURS, strict=True)
                ],
            )
        )
    if not panels:
        return None
    return Figure(
        "percentiles",
        "Percentiles of the latency",
        panels,
        "Whiskers are 95% intervals of each value; whether both differ is not seen from them where runs are "
        "paired, but from the figure of B relative to A.",
    )


def _values(label: str, intervals: Sequence[Interval | None], colour: str) -> Series:
    def in_us(end: float | None) -> Value:
        return None if end is None else end / 1e3

    return Series(
        label,
        list(range(len(intervals))),
        [in_us(each.value if each else None) for each in intervals],
        low=[in_us(each.low if each else None) for each in intervals],
        high=[in_us(each.high if each else None) for each in intervals],
        colour=colour,
    )


def _survival(comparison: Comparison) -> Figure | None:
    """Draw which share of the requests was slower than what, for both."""
    panels = []
    for op in OPS:
        both = [(side.name, _merged(side, op)) for side in (comparison.a, comparison.b)]
        latencies = [latency for _, latency in both if latency is not None]
        if len(latencies) < 2 or all(latency.min_ns == latency.max_ns for latency in latencies):
            continue  # what always took the same is no curve
        most = max(latency.count for latency in latencies)
        panels.append(
            Panel(
                plural(op),
                Axis("latency [us]", log=True),
                Axis("share of the requests that were slower", log=True, low=0.5 / most, high=1.4),
                [
                    _curve(name, latency, colour)
                    for (name, latency), colour in zip(both, _COLOURS, strict=True)
                    if latency is not None
                ],
                [("below: fewer than 10 samples", 10 / most)] if most > 100 else [],
            )
        )
    if not panels:
        return None
    return Figure(
        "survival",
        "Which share of the requests was slower than what",
        panels,
        "Every decade down is another nine: 1% are slower than p99, 0.1% slower than p99.9.",
    )


def _merged(side: Side, op: str) -> Latency | None:
    """Put the latencies of all runs of a side together; None where they have no histograms."""
    known: list[Latency] = [getattr(result.latency, op) for result in side.results]
    if not all(latency.histogram is not None and latency.histogram[1].any() for latency in known):
        return None
    return Latency.merged(known) if len(known) > 1 else known[0]


def _curve(label: str, latency: Latency, colour: str) -> Series:
    at, slower = thinned(*survival(latency))
    x = [round(value / 1e3, 4) for value in at.tolist()]
    return Series(label, x, slower.tolist(), form="steps", colour=colour)
