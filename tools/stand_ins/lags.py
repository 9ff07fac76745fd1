"""How far apart the uses of an object are.

Classes of objects are used at very different rates, and all of them together have the published quantiles of
the rewrite interval. Of all ways to spread the rewrites of each class over intervals that have both the mean
interval of each class and the quantiles of the whole, the one of greatest entropy is taken: in each class,
intervals are exponentially tilted from one law that is even in the logarithm between the quantiles (iterative
proportional fitting).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from problem import ImpossibleError

Array = NDArray[np.float64]

BINS = 400
ROUNDS = 300
# What the median, p90 and p99 mean: shares up to each.
WITHIN = (0.5, 0.9, 0.99)
# Quantiles of a class of few or many uses.
FEW_POINTS = 9
MANY_POINTS = 25
MANY = 20_000
# How far the shares between the quantiles may lie off before the constraint is called impossible.
SHARE_TOLERANCE = 0.15


@dataclass
class Row:
    """Further uses of one class."""

    weight: float
    mean: float


def tilted(base: Array, grid: Array, mean: float) -> Array:
    """`base` times an exponential in `grid` such that its mean is `mean`, or as near to it as it can be."""
    low, high = -80.0 / grid[-1], 80.0 / grid[0]
    mass = base
    for _ in range(80):
        middle = (low + high) / 2
        exponent = -middle * grid
        mass = base * np.exp(exponent - exponent[base > 0].max())
        mass = mass / mass.sum()
        if float((mass * grid).sum()) > mean:
            low = middle
        else:
            high = middle
    return mass


def grid_to(longest: float) -> Array:
    """Lags from one request to the longest, at equal ratios."""
    return np.geomspace(1.0, longest, BINS)


def spread(
    rows: list[Row], marks: tuple[float, float, float], within: tuple[float, float, float], longest: float
) -> list[Array]:
    """The laws of the lags of each class, on `grid_to(longest)`; of all, the shares lie within the marks."""
    grid = grid_to(longest)
    group = np.searchsorted(np.array(marks), grid, side="left")
    shares = np.diff([0.0, *within, 1.0])
    sizes = np.array([max(int((group == place).sum()), 1) for place in range(len(shares))], dtype=float)
    scale = shares / sizes
    total = sum(row.weight for row in rows)
    laws: list[Array] = []
    seen = np.zeros(len(shares))
    for _ in range(ROUNDS):
        base: Array = scale[group]
        laws = [tilted(base, grid, row.mean) for row in rows]
        mixed: Array = np.zeros(len(grid))
        for row, law in zip(rows, laws, strict=True):
            mixed += (row.weight / total) * law
        seen = np.array([float(np.sum(mixed[group == place])) for place in range(len(shares))])
        if float(np.abs(seen / shares - 1).max()) < 0.002:
            break
        scale = scale * np.clip(shares / np.maximum(seen, 1e-12), 0.5, 2.0) ** 0.7
        scale = scale / scale.max()
    off = float(np.abs(np.cumsum(seen)[:3] - np.cumsum(shares)[:3]).max())
    if off > SHARE_TOLERANCE:
        below = [f"{share:.3f}" for share in np.cumsum(seen)[:3]]
        raise ImpossibleError(
            "rewrite_p50_s, rewrite_p90_s, rewrite_p99_s",
            f"with these popularities {', '.join(below)} of the rewrites come within them, not "
            + ", ".join(f"{share:.3f}" for share in within),
        )
    return laws


def mean_of(points: list[float]) -> float:
    """The mean of what is drawn from quantiles at equal steps, by ratio between two of them."""
    pairs = list(zip(points, points[1:], strict=False))
    return sum(
        low if high <= low * 1.0001 else (high - low) / np.log(high / low) for low, high in pairs
    ) / len(pairs)


def quantiles_of(law: Array, grid: Array, mean: float, count: float) -> list[int]:
    """Quantiles at equal steps, whose greatest is such that the mean is right."""
    points = MANY_POINTS if count > MANY else FEW_POINTS
    sums = np.cumsum(law)
    places = np.searchsorted(sums, np.linspace(0.002, 1.0, points) * 0.999)
    values = [max(float(grid[min(int(place), len(grid) - 1)]), 1.0) for place in places]
    low, high = values[-2], float(grid[-1])
    for _ in range(50):
        middle = (low * high) ** 0.5
        if mean_of([*values[:-1], middle]) > mean:
            high = middle
        else:
            low = middle
    values[-1] = low
    # What the last quantile cannot put right, all do.
    factor = mean / mean_of(values)
    if not 0.97 < factor < 1.03:
        values = [max(value * factor, 1.0) for value in values]
    rounded = [max(round(value), 1) if value < 1000 else int(float(f"{value:.3g}")) for value in values]
    return [max(rounded[: place + 1]) for place in range(len(rounded))]
