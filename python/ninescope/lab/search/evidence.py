"""What a run already shows: whether a number lies beyond a limit by more than chance.

| number | interval |
| --- | --- |
| cost | none: it follows from the configuration |
| percentiles of latency | of the share of slower requests, over the blocks of the run |
| mean latency | of the mean, over the blocks of the run |
| any number of three seeds or more | Student's interval of the logarithm of the seeds' mean |
| any other | nothing is shown |

To ask how many requests are slower than the limit needs far fewer of them than to know the percentile: of
ten thousand requests none says what p99.99 is, but a hundred that are slower than 500 us say that p99.99 is
not below.

What is slow now is often slow a moment later: blocks are not taken for independent
(`ninescope.lab.statistics.correlated_interval`). Where the limit is what another design was measured to have,
it is as uncertain as what is held against it, and among many designs the best looks better than it is: `end`
gives the far end of its interval, and `worse_by_seeds` compares seed by seed, by the ratio.

Intervals are two-sided; what is shown is wrong half as often as they miss. Nothing here knows parameters.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ninescope.lab.search.goals import Number
from ninescope.lab.statistics import (
    Interval,
    Numbers,
    correlated_interval,
    mean_interval,
    pseudo_values,
    ratio_of_pairs,
    within,
)
from ninescope.lab.sweep.lake import Kept

BLOCKS_MIN = 8
"""Of fewer blocks no interval is made (see `ninescope.lab.statistics.correlated_interval`)."""
REPLICATIONS_MIN = 3
EXACT = ("cost_total", "cost_per_logical_gb")
"""They follow from the configuration: chance has no part in them."""
COUNTED = 10
_ROUNDING = 1e-9
_BUCKET = 1 / 128
"""A latency lies at most this share below the bound of its bucket."""

Blocks = Sequence[Sequence[Sequence[int]]]
"""Upper bounds [ns] and counts of the buckets that hold something, block by block."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """That a number lies beyond a limit."""

    metric: str
    words: str
    """Why, with numbers."""


def beyond(number: Number, runs: Sequence[Kept], limit: float, *, above: bool, level: float) -> Shown | None:
    """Say whether runs of one design and workload show a number above (or below) a limit; None: not shown.

    Of a number of several metrics the worst counts: it is above where one is, and below where all are.
    """
    measured = [metric for metric in number.metrics if is_measured(metric, runs[0].metrics)]
    shown = [_beyond(metric, number, runs, limit, above=above, level=level) for metric in measured]
    found = [each for each in shown if each is not None]
    if above:
        return found[0] if found else None
    return found[0] if found and len(found) == len(shown) else None


def is_measured(metric: str, metrics: Mapping[str, float | int | None]) -> bool:
    """Say whether there was anything to measure: of an operation, whether the workload has it."""
    op = metric.partition("_")[0]
    return op not in ("read", "write") or metrics.get(f"{op}_mean_ns") is not None


def _beyond(
    metric: str, number: Number, runs: Sequence[Kept], limit: float, *, above: bool, level: float
) -> Shown | None:
    if metric in EXACT:
        value = runs[0].metrics.get(metric)
        if value is None or not (value > limit if above else value < limit):
            return None
        return Shown(metric, f"{metric} is {number.written(value)} by the configuration")
    op, _, what = metric.partition("_")
    blocks = runs[0].blocks.get(op) or []
    if len(runs) >= REPLICATIONS_MIN:
        return _by_seeds(metric, number, runs, limit, above, level)
    if len(blocks) < BLOCKS_MIN:
        return None
    if number.percentile:
        return _by_share(metric, number, blocks, limit, above, level)
    return _by_mean(metric, number, runs[0], limit, above, level) if what == "mean_ns" else None


def end(number: Number, run: Kept, level: float) -> float | None:
    """Return what a latency of a run is below, by its blocks; None where they do not say, or it is none."""
    measured = [metric for metric in number.metrics if is_measured(metric, run.metrics)]
    ends = [
        _end(metric, number, run.blocks.get(metric.partition("_")[0]) or [], level) for metric in measured
    ]
    return number.worst(ends)


def _end(metric: str, number: Number, blocks: Blocks, level: float) -> float | None:
    if len(blocks) < BLOCKS_MIN:
        return None
    if number.percentile:
        return _percentile_end(number, blocks, level)
    return _mean(blocks, level).high if metric.endswith("_mean_ns") else None


def _percentile_end(number: Number, blocks: Blocks, level: float) -> float | None:
    """Return the least bound of which blocks show that no more requests than may be are slower."""
    bounds, counts = _table(blocks)
    total = counts.sum(axis=1)
    # By bound: how many requests of each block are slower.
    slower = total[:, None] - counts.cumsum(axis=1)
    allowed = _allowed(number)

    def is_below(place: int) -> bool:
        return correlated_interval(pseudo_values(slower[:, place], total), level).high < allowed

    first, last = 0, len(bounds) - 1  # none is slower than the last
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if is_below(middle) else (middle + 1, last)
    return float(bounds[first]) if slower[:, first].sum() >= COUNTED else None


def _table(blocks: Blocks) -> tuple[Numbers, Numbers]:
    """Return the bounds of all buckets of blocks, in order, and what each block has in them, row by row."""
    bounds = np.unique(np.concatenate([np.asarray(block[0], dtype=np.float64) for block in blocks]))
    counts = np.zeros((len(blocks), len(bounds)))
    for row, block in zip(counts, blocks, strict=True):
        row[np.searchsorted(bounds, block[0])] = block[1]
    return bounds, counts


def slower_share(blocks: Blocks, limit: float, level: float, *, above: bool) -> Interval:
    """Return which share of the requests is slower than a limit [ns], with its interval, by blocks.

    A request counts as slower only where all of its bucket is, to show that a limit is missed (`above`), and
    where any of it is to show that it is kept.
    """
    counts = np.array([sum(block[1]) for block in blocks], dtype=np.float64)
    slower = []
    for bounds, numbers in blocks:
        least = np.asarray(bounds, dtype=np.float64) * ((1 - _BUCKET) if above else 1.0)
        slower.append(float(np.asarray(numbers, dtype=np.float64)[least > limit].sum()))
    return within(correlated_interval(pseudo_values(slower, counts), level), 0.0, 1.0)


def _allowed(number: Number) -> float:
    """Return which share of the requests may be slower than a percentile."""
    return round(1 - float(number.percentile) / 100, 9)


def _by_share(
    metric: str,
    number: Number,
    blocks: Blocks,
    limit: float,
    above: bool,
    level: float,
) -> Shown | None:
    allowed = _allowed(number)
    share = slower_share(blocks, limit, level, above=above)
    # That none of a thousand was slower says nothing about a thousandth.
    enough = above or share.value * sum(sum(block[1]) for block in blocks) >= COUNTED
    is_beyond = share.low > allowed * (1 + _ROUNDING) if above else enough and share.high < allowed
    if not is_beyond:
        return None
    ends = f"{_percent(share.low)} to {_percent(share.high)}"
    return Shown(
        metric,
        f"{_percent(share.value)} ({ends}) of the {metric.partition('_')[0]}s took more than "
        f"{number.written(limit)}, and {_percent(allowed)} may",
    )


def _by_mean(metric: str, number: Number, run: Kept, limit: float, above: bool, level: float) -> Shown | None:
    found = _mean(run.blocks[metric.partition("_")[0]], level)
    return _outside(metric, number, found, limit, above)


def _mean(blocks: Blocks, level: float) -> Interval:
    counts = [float(sum(block[1])) for block in blocks]
    # Half a bucket below its bound is the middle.
    sums = [float(np.dot(block[0], block[1])) * (1 - _BUCKET / 2) for block in blocks]
    return within(correlated_interval(pseudo_values(sums, counts), level), 0.0, math.inf)


def _by_seeds(
    metric: str, number: Number, runs: Sequence[Kept], limit: float, above: bool, level: float
) -> Shown | None:
    values = [value for run in runs if (value := run.metrics.get(metric)) is not None]
    if len(values) < len(runs):
        return None
    return _outside(metric, number, number.interval([float(value) for value in values], level), limit, above)


def worse_by_seeds(
    number: Number,
    mine: Sequence[float | None],
    others: Sequence[float | None],
    *,
    factor: float,
    above: bool,
    level: float,
) -> Shown | None:
    """Say whether a number is above (or below) `factor` times that of another design, seed by seed.

    Both met the same chance with the same seed, and both runs are short: what that does it does to both.
    """
    pairs = [
        (one, other)
        for one, other in zip(mine, others, strict=True)
        if one is not None and other is not None and math.isfinite(one) and math.isfinite(other)
    ]
    if len(pairs) < max(REPLICATIONS_MIN, len(mine)):
        return None
    one_side, other_side = ([pair[side] for pair in pairs] for side in (0, 1))
    found = ratio_of_pairs(other_side, one_side, level)
    if found is None:  # one of them may as well be 0, and there is no ratio
        off = mean_interval([one - other * factor for one, other in pairs], level)
        is_worse = off.low > 0 if above else off.high < 0
    else:
        is_worse = found.low > factor if above else found.high < factor
    if not is_worse:
        return None
    first, second = (sum(side) / len(pairs) for side in (one_side, other_side))
    return Shown(
        number.metrics[0],
        f"{number.name} is {number.written(first)}, and {number.written(second)} there with the "
        f"same {len(pairs)} seeds, both in short runs",
    )


def _outside(metric: str, number: Number, found: Interval, limit: float, above: bool) -> Shown | None:
    if not (found.low > limit if above else found.high < limit):
        return None
    ends = f"{number.written(found.low)} to {number.written(found.high)}"
    return Shown(
        metric, f"{metric} is {number.written(found.value)} ({ends}), beyond {number.written(limit)}"
    )


def _percent(share: float) -> str:
    text = f"{100 * share:.3g}" if math.isfinite(share) else str(share)
    return f"{text} %"
