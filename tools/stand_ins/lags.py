"""How far apart the uses of an object are.

Classes of objects are used at very different rates, and all of them together have the published quantiles of
the rewrite interval. Of all ways to spread the rewrites of each class over intervals that have both the mean
interval of each class and the quantiles of the whole, the one of greatest entropy is taken: in each class,
intervals are exponentially tilted from one law that is even in the logarithm between the quantiles (iterative
proportional fitting). Where more is known of all uses, such as what LRU caches of a size miss, both are met.
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
# So small a share is not fitted: what the means leave of it may be less than any factor makes up for.
RARE = 0.002
# How far the shares between the quantiles may lie off before the constraint is called impossible.
SHARE_TOLERANCE = 0.15


@dataclass
class Row:
    """Further uses of one class."""

    # How much it counts in each of the pooled laws.
    weights: tuple[float, ...]
    mean: float
    # Whether the mean is the greatest that it may be, and not what it is.
    at_most: bool = False


@dataclass
class Pooled:
    """What is known of the intervals of all classes together: shares up to each mark."""

    # What it follows from, if it must be met; else it is met as nearly as can be.
    constraint: str
    marks: tuple[float, ...]
    within: tuple[float, ...]


def tilted(base: Array, grid: Array, means: Array, at_most: NDArray[np.bool_] | None = None) -> Array:
    """Each row of `base` times an exponential in `grid`, such that its mean is as right as it can be."""
    low = np.full(len(base), -80.0 / grid[0])
    high = np.full(len(base), 80.0 / grid[0])
    mass = base / base.sum(axis=1, keepdims=True)
    kept = np.zeros(len(base), dtype=bool)
    if at_most is not None:
        kept = at_most & (mass @ grid <= means)
    there = np.where(base > 0, 0.0, -np.inf)
    untilted = mass
    for _ in range(110):
        middle = (low + high) / 2
        exponent = -middle[:, None] * grid[None, :]
        mass = base * np.exp(exponent - (exponent + there).max(axis=1, keepdims=True))
        mass = mass / mass.sum(axis=1, keepdims=True)
        above = mass @ grid > means
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found: Array = np.where(kept[:, None], untilted, mass)
    return found


def grid_to(longest: float) -> Array:
    """Lags from one request to the longest, at equal ratios."""
    return np.geomspace(1.0, longest, BINS)


def spread(rows: list[Row], pooled: list[Pooled], longest: float) -> list[Array]:
    """The laws of the lags of each class, on `grid_to(longest)`; of all, the shares lie within the marks."""
    grid = grid_to(longest)
    groups = [np.searchsorted(np.array(each.marks), grid, side="left") for each in pooled]
    shares = [np.diff([0.0, *each.within, 1.0]) for each in pooled]
    sizes = [
        np.maximum(np.bincount(group, minlength=len(share)), 1)
        for group, share in zip(groups, shares, strict=True)
    ]
    scales = [share / size for share, size in zip(shares, sizes, strict=True)]
    weights = np.array([row.weights for row in rows])
    totals = np.maximum(weights.sum(axis=0), 1e-12)
    # How much of a class each pooled law is about.
    part = weights / np.maximum(weights.max(axis=1, keepdims=True), 1e-12)
    means = np.array([row.mean for row in rows])
    at_most = np.array([row.at_most for row in rows])
    laws: Array = np.zeros((len(rows), len(grid)))
    seen = [share.copy() for share in shares]
    for _ in range(ROUNDS):
        logarithm: Array = np.zeros((len(rows), len(grid)))
        for place, (scale, group) in enumerate(zip(scales, groups, strict=True)):
            logarithm += part[:, place : place + 1] * np.log(np.maximum(scale[group], 1e-30))[None, :]
        base = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        laws = tilted(base, grid, means, at_most)
        mixed = (weights / totals).T @ laws
        seen = [
            np.bincount(group, weights=law, minlength=len(share))
            for group, law, share in zip(groups, mixed, shares, strict=True)
        ]
        if all(
            float(np.abs(found / np.maximum(share, 1e-9) - 1)[share > RARE].max()) < 0.002
            for found, share in zip(seen, shares, strict=True)
        ):
            break
        for place, (found, share) in enumerate(zip(seen, shares, strict=True)):
            raised = np.where(share > RARE, share / np.maximum(found, 1e-12), 1.0)
            scale = scales[place] * np.clip(raised, 0.5, 2.0) ** (0.7 / len(pooled))
            scales[place] = scale / scale.max()
    for each, found, share in zip(pooled, seen, shares, strict=True):
        off = float(np.abs(np.cumsum(found)[:-1] - np.cumsum(share)[:-1]).max())
        if each.constraint and off > SHARE_TOLERANCE:
            below = [f"{value:.3f}" for value in np.cumsum(found)[:-1]]
            raise ImpossibleError(
                each.constraint,
                f"with these popularities {', '.join(below)} of the further uses come within them, not "
                + ", ".join(f"{value:.3f}" for value in each.within),
            )
    return list(laws)


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
