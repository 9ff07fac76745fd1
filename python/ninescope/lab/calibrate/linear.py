"""What figures say of parameters near the fit: intervals, and what they cannot tell apart.

Logarithms of the fitted figures are taken for linear in the places of parameters within their bounds. Before
any figure a parameter is anywhere between its bounds; figures narrow that by what they are good for. A
direction that stays half as wide as it was, or wider, is one of which the figures say nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PRIOR = 1 / 12
"""The variance of what is anywhere between 0 and 1."""
WIDE = 0.5
"""A direction keeps so much of its width: figures do not determine it."""
PART = 0.1
"""A parameter that has so much of such a direction is part of it."""
ALONE = 0.95
"""A parameter that has so much of them is not determined by itself."""
NORMAL = 1.96


@dataclasses.dataclass(frozen=True)
class Said:
    """What figures say of parameters, in places from 0 to 1."""

    half: tuple[float, ...]
    """Half the width of each 95 % interval."""
    singular: tuple[float, ...]
    """Singular values of the slopes, the largest first: by how much figures move, in logarithms, along
    directions as long as a whole range."""
    correlation: tuple[tuple[float, ...], ...]
    undetermined: tuple[int, ...]
    """Parameters of which no figure says anything."""
    together: tuple[tuple[int, ...], ...]
    """Parameters that the figures do not tell apart."""
    sigma: float
    """What stands for the error of a figure, as a share."""


def said(slopes: Array, misses: Sequence[float], noise: float, accuracy: float) -> Said:
    """Say what figures with these slopes (a row each) and misses say of parameters (a column each).

    `noise` is the spread of a figure between seeds, as a share.
    """
    figures, parameters = slopes.shape
    least = math.hypot(accuracy, noise)
    spare = figures - parameters
    left = math.sqrt(math.fsum(miss**2 for miss in misses) / spare) if spare > 0 else 0.0
    sigma = max(least, left)
    known = slopes.T @ slopes / sigma**2
    covariance = np.linalg.inv(known + np.eye(parameters) / PRIOR)
    widths = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(widths, widths)
    undetermined, together = _weak(known)
    return Said(
        tuple(float(NORMAL * width) for width in widths),
        tuple(float(value) for value in np.linalg.svd(slopes, compute_uv=False)),
        tuple(tuple(float(value) for value in row) for row in correlation),
        undetermined,
        together,
        sigma,
    )


def _weak(known: Array) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return the parameters in directions that figures do not determine: by themselves, and together."""
    values, vectors = np.linalg.eigh(known)
    # The width that is left is (known + 1 / prior) ^ -1/2; as a share of the prior's it is WIDE or more.
    weak = vectors[:, values * PRIOR <= 1 / WIDE**2 - 1]
    shares = weak @ weak.T
    count = len(known)
    alone = tuple(index for index in range(count) if shares[index, index] >= ALONE)
    left = [index for index in range(count) if index not in alone and shares[index, index] >= PART]
    groups: list[set[int]] = []
    for index in left:
        near = {other for other in left if other == index or abs(shares[index, other]) >= PART}
        joined = [group for group in groups if group & near]
        groups = [group for group in groups if group not in joined] + [near.union(*joined)]
    return alone, tuple(tuple(sorted(group)) for group in groups if len(group) > 1)
