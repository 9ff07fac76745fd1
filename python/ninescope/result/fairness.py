"""How fair a drive is to jobs that share it, by how much slower each is than alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Fairness:
    """How alike the slowdowns of the jobs are."""

    jain: float | None = None
    """Jain's index: 1 where all are slowed down alike, 1 / n where one of n bears it all."""
    least_over_most: float | None = None
    """The least slowdown over the largest one, as FLIN defines fairness: 1 where all are alike."""


def jain(slowdowns: Sequence[float]) -> float | None:
    """Return Jain's index: the square of the sum over n times the sum of the squares.

    Beside infinite slowdowns, which grow alike, all others are nothing: it is their share of n.
    """
    if math.inf in slowdowns:
        slowdowns = [float(slowdown == math.inf) for slowdown in slowdowns]
    squares = sum(slowdown * slowdown for slowdown in slowdowns)
    return sum(slowdowns) ** 2 / (len(slowdowns) * squares) if squares else None


def least_over_most(slowdowns: Sequence[float]) -> float | None:
    """Return the least over the largest; None where all are infinite."""
    least = min(slowdowns, default=math.inf)
    return least / max(slowdowns) if least < math.inf else None


def mean_latency(latency: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the mean over the requests of all operations [ns]; 0 where there are none."""
    count = sum(of["count"] for of in latency.values())
    return float(sum(of["mean_ns"] * of["count"] for of in latency.values()) / count) if count else 0.0


def rate_of(throughput: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the requests per second of all operations."""
    return float(sum(of["iops"] for of in throughput.values()))
