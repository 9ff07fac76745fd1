"""The figures of the latencies of a run: the percentiles, and the whole distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ninescope.figures.figure import Axis, Figure, Panel, Series
from ninescope.result import PERCENTILES, Latency
from ninescope.text.names import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray


OP_COLOURS = {"read": "#1f6fb4", "write": "#d9621e", "trim": "#6a8f3c", "flush": "#7a5aa0"}
_POINTS = 400
"""A curve is drawn through at most so many."""


def percentiles(columns: list[tuple[str, Latency]]) -> Figure | None:
    """Draw the trusted percentiles with their intervals."""
    keys = [key for key in PERCENTILES if any(trusted(latency, key) for _, latency in columns)]
    if len(keys) < 2:
        return None
    series = []
    for op, latency in columns:
        known = [trusted(latency, key) for key in keys]
        ends = [
            latency.intervals_ns.get(key) if each else None for key, each in zip(keys, known, strict=True)
        ]
        values = [
            latency.percentiles_ns[key] / 1e3 if each else None for key, each in zip(keys, known, strict=True)
        ]
        if not any(known):
            continue
        series.append(
            Series(
                plural(op),
                list(range(len(keys))),
                values,
                low=[end[0] / 1e3 if end else None for end in ends] if any(ends) else (),
                high=[end[1] / 1e3 if end else None for end in ends] if any(ends) else (),
                colour=OP_COLOURS[op],
            )
        )
    panel = Panel(
        "",
        Axis("percentile", categories=[f"p{key}" for key in keys]),
        Axis("latency [us]", log=True),
        series,
    )
    return Figure(
        "percentiles",
        "Percentiles of the latency",
        [panel],
        "Whiskers are 95% intervals, by bootstrap over blocks of the run. Percentiles that fewer than 10 "
        "requests lie beyond are left out.",
    )


def distribution(columns: list[tuple[str, Latency]]) -> Figure | None:
    """Draw which share of the requests was slower than what."""
    series = []
    for op, latency in columns:
        if latency.histogram is None or not len(latency.histogram[1]):
            continue
        at, slower = thinned(*survival(latency))
        series.append(
            Series(
                plural(op),
                [round(value / 1e3, 4) for value in at.tolist()],
                slower.tolist(),
                form="steps",
                colour=OP_COLOURS[op],
            )
        )
    if not series:
        return None
    most = max(latency.count for _, latency in columns)
    panel = Panel(
        "",
        Axis("latency [us]", log=True),
        Axis("share of the requests that were slower", log=True, low=0.5 / most, high=1.4),
        series,
        [("below: fewer than 10 samples", 10 / most)] if most > 100 else [],
    )
    return Figure(
        "survival",
        "Which share of the requests was slower than what",
        [panel],
        "Every decade down is another nine: 1% are slower than p99, 0.1% slower than p99.9.",
    )


def survival(latency: Latency) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return latencies [ns] and the share of requests slower than each, from 1 to 0."""
    assert latency.histogram is not None  # noqa: S101
    bounds, counts = latency.histogram
    used = np.flatnonzero(counts)
    steps = counts[used].astype(np.float64)
    fastest, slowest = max(latency.min_ns, 1), max(latency.max_ns, 1)
    at = np.clip(bounds[used].astype(np.float64), fastest, slowest)
    slower = np.clip(1 - np.cumsum(steps) / steps.sum(), 0, 1)
    slower[-1] = 0.0
    if at[0] > fastest:
        at, slower = np.concatenate(([float(fastest)], at)), np.concatenate(([1.0], slower))
    return at, slower


def thinned(
    at: NDArray[np.float64], slower: NDArray[np.float64], points: int = _POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out points of a curve where they are densest, as it is seen with logarithmic axes."""
    if len(at) <= points:
        return at, slower
    x = np.log10(at)
    y = np.log10(np.maximum(slower, slower[slower > 0].min() / 10))
    far = np.hypot(np.diff(x) / max(np.ptp(x), 1e-9), np.diff(y) / max(np.ptp(y), 1e-9))
    along = np.concatenate(([0.0], np.cumsum(far)))
    chosen = np.unique(np.searchsorted(along, np.linspace(0, along[-1], points)))
    chosen = np.unique(np.concatenate(([0], chosen[chosen < len(at)], [len(at) - 1])))
    return at[chosen], slower[chosen]


def trusted(latency: Latency, key: str) -> bool:
    """Say whether enough samples stand behind a percentile."""
    return key in latency.percentiles_ns and key not in latency.insufficient
