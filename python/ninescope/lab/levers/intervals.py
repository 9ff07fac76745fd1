"""Why levers have no interval, and how many requests would give them one."""

from __future__ import annotations

import math

from ninescope.lab.compare.within import OF_BLOCKS, TAIL
from ninescope.lab.levers.pull import Levers, Pulled
from ninescope.result import DATA_OPS, Latency

_SPARE = 1.05
"""A random mix has in some runs fewer of an operation than its share."""


def has_interval(each: Pulled) -> bool:
    """Say whether its ratio has an interval."""
    return each.row is not None and each.row.contrast is not None and each.row.contrast.ratio is not None


def without_interval(levers: Levers) -> dict[str, list[str]]:
    """Return why ratios have no interval, and of which levers."""
    found: dict[str, list[str]] = {}
    for each in levers.pulled:
        if each.row is not None and each.row.verdict.kind == "untold":
            reason = each.row.verdict.reason.replace("A and B", "runs are")
            reason = reason.replace("one run of each", "it takes several seeds")
            found.setdefault(reason, []).append(each.lever.name)
    return found


def enough(levers: Levers) -> int | None:
    """Return how many requests of each run would give a percentile an interval.

    None where there are as many, or where it is no percentile: how long series of time must be only they say.
    """
    metric, first = levers.metric, levers.base.first
    if not metric.percentile or metric.op not in DATA_OPS:
        return None
    latency: Latency = getattr(first.latency, metric.op)
    if not latency.count:
        return None
    beyond = TAIL / (1 - float(metric.percentile) / 100) / len(levers.base.results)
    wanted = max(OF_BLOCKS, beyond) * first.requests / latency.count * _SPARE
    step = 10 ** (math.floor(math.log10(wanted)) - 1)
    rounded = math.ceil(wanted / step) * step
    return rounded if rounded > levers.requests else None
