"""Percentiles of two runs compared by the blocks that they were cut into.

A run keeps histograms of blocks of consecutive requests (decision 13). Runs put together from blocks at
random say how far a percentile may be off; two runs put together at once say it of the difference. Where the
blocks of both hold the same requests, the same blocks are taken for both: what both meet alike then cancels.

Nothing here knows results. Values are in the unit of the histograms' bounds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ninescope.lab.statistics import student
from ninescope.lab.statistics.intervals import LEVEL, Contrast, Interval, Numbers, difference_beside

RESAMPLES = 3_999
"""Runs put together; one more is a multiple of 40, so that tails of 2.5 % end at one."""
_COUNTED = 10
"""A tail with fewer resamples in it is not counted but continued as that of a normal distribution."""
_AT_ONCE = 500
"""Resamples that are in memory together."""
_BILLION = 1_000_000_000


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Histograms of the blocks of one run, over the same values."""

    values: Numbers
    """Largest value of each bucket, in order."""
    lowest: Numbers
    """Smallest value of each bucket."""
    counts: Numbers
    """One row per block."""

    @classmethod
    def of(
        cls,
        histograms: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint64]]],
        *,
        least: float,
        most: float,
        resolution: float,
    ) -> Blocks:
        """Put the histograms of blocks (upper bounds and counts) next to each other.

        No value of the run lies outside `least` and `most`; those of a bucket reach down to `1 - resolution`
        of its bound.
        """
        bounds = np.unique(np.concatenate([bounds for bounds, _ in histograms]))
        counts = np.zeros((len(histograms), len(bounds)))
        for row, (places, each) in zip(counts, histograms, strict=True):
            row[np.searchsorted(bounds, places)] = each
        values = bounds.astype(np.float64)
        return cls(np.clip(values, least, most), np.clip(values * (1 - resolution), least, most), counts)

    def __len__(self) -> int:
        return len(self.counts)

    def hold_the_same(self, other: Blocks) -> bool:
        """Say whether each block holds as many requests as that of another run."""
        return len(self) == len(other) and bool((self.counts.sum(axis=1) == other.counts.sum(axis=1)).all())

    def percentiles(self, weights: Numbers, parts_per_billion: Sequence[int]) -> NDArray[np.intp]:
        """Return the buckets of percentiles of runs put together: one row per row of weights.

        Each is looked for by halving, for all rows at once: of a few buckets alone the counts are needed.
        """
        below = np.cumsum(self.counts, axis=1).T
        totals = (weights @ below[-1]).astype(np.int64)
        found = np.empty((len(weights), len(parts_per_billion)), dtype=np.intp)
        for column, parts in enumerate(parts_per_billion):
            # ceil(total * parts / 1e9), in whole numbers that do not overflow.
            ranks = np.maximum(totals // _BILLION * parts - (-(totals % _BILLION) * parts // _BILLION), 1)
            first, last = np.zeros(len(weights), dtype=np.intp), np.full(len(weights), len(below) - 1)
            while (first < last).any():
                middle = (first + last) // 2
                reached = np.einsum("ij,ij->i", weights, below[middle]) >= ranks
                first, last = np.where(reached, first, middle + 1), np.where(reached, middle, last)
            found[:, column] = first
        return found


def compare_percentiles(
    a: Blocks, b: Blocks, percents: Sequence[float], *, paired: bool, level: float = LEVEL
) -> list[Contrast]:
    """Compare percentiles (50, 99.9, ...) of two runs by the block bootstrap.

    Blocks that do not overlap: Carlstein, Annals of Statistics 14(3), 1986. The interval is the percentile
    interval, expanded for the number of blocks as Student's is for few samples: Hesterberg, "What teachers
    should know about the bootstrap", The American Statistician 69(4), 2015, section 4.2. `paired` takes the
    same blocks of both; they have to hold the same requests.
    """
    if paired and not a.hold_the_same(b):
        raise ValueError("blocks of other requests cannot be paired")
    fewest = min(len(a), len(b))
    if fewest < 2:
        raise ValueError("a run of a single block says nothing about chance")
    parts = [round(percent * 1e7) for percent in percents]
    drawn = [
        (a.percentiles(first, parts), b.percentiles(second, parts))
        for first, second in _weights(a, b, paired)
    ]
    resampled_a, resampled_b = (np.concatenate(each) for each in zip(*drawn, strict=True))
    whole_a = a.percentiles(np.ones((1, len(a))), parts)[0]
    whole_b = b.percentiles(np.ones((1, len(b))), parts)[0]
    kind = f"{len(a)} paired blocks" if paired else f"{len(a)} and {len(b)} blocks"
    return [
        _contrast(
            _Ends(a.values[resampled_a[:, column]], a.lowest[resampled_a[:, column]]),
            _Ends(b.values[resampled_b[:, column]], b.lowest[resampled_b[:, column]]),
            _Ends(a.values[whole_a[[column]]], a.lowest[whole_a[[column]]]),
            _Ends(b.values[whole_b[[column]]], b.lowest[whole_b[[column]]]),
            blocks=(len(a), len(b)),
            paired=paired,
            method=f"bootstrap over {kind} of the runs",
            level=level,
        )
        for column in range(len(parts))
    ]


@dataclasses.dataclass(frozen=True)
class _Ends:
    """What a percentile may be at most and at least: the ends of its bucket."""

    top: Numbers
    bottom: Numbers


def _weights(a: Blocks, b: Blocks, paired: bool) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield how often each block is taken, for some resamples at a time, for A and for B.

    Who is called A changes nothing of what is drawn for either, so that the ratio of B to A is the reciprocal
    of that of A to B, to the last digit.
    """
    # Unlike default_rng, RandomState draws the same in every version of NumPy.
    random = np.random.RandomState(0)
    is_turned = _order(b) < _order(a)
    first, second = (len(b), len(a)) if is_turned else (len(a), len(b))
    for begin in range(0, RESAMPLES, _AT_ONCE):
        rows = min(_AT_ONCE, RESAMPLES - begin)
        one = _drawn(random, rows, first)
        other = one if paired else _drawn(random, rows, second)
        yield (other, one) if is_turned else (one, other)


def _order(blocks: Blocks) -> tuple[int, bytes, bytes]:
    """Return what two runs are put in order by, whatever they are called."""
    return len(blocks), blocks.values.tobytes(), blocks.counts.tobytes()


def _drawn(random: np.random.RandomState, rows: int, blocks: int) -> Numbers:
    """Draw as many blocks as there are, with replacement, and count each of them: row by row."""
    chosen = random.randint(0, blocks, (rows, blocks)) + np.arange(rows)[:, None] * blocks
    return np.bincount(chosen.ravel(), minlength=rows * blocks).reshape(rows, blocks).astype(np.float64)


def _contrast(
    a: _Ends,
    b: _Ends,
    whole_a: _Ends,
    whole_b: _Ends,
    *,
    blocks: tuple[int, int],
    paired: bool,
    method: str,
    level: float,
) -> Contrast:
    fewest = min(blocks)
    expanded = math.sqrt(fewest / (fewest - 1)) * student.quantile(level, fewest - 1)
    tail = max(1, int((RESAMPLES + 1) * NormalDist().cdf(-expanded)))
    low, high = np.sort(b.bottom - a.top), np.sort(b.top - a.bottom)
    one, other = float(whole_a.top[0]), float(whole_b.top[0])
    off = Interval(other - one, float(low[tail - 1]), float(high[-tail]))
    ratio = None
    if (a.bottom > 0).all() and (b.bottom > 0).all():
        ratios = np.sort(b.bottom / a.top), np.sort(b.top / a.bottom)
        ratio = Interval(other / one, float(ratios[0][tail - 1]), float(ratios[1][-tail]))
    return Contrast(
        difference=difference_beside(ratio, one, off),
        ratio=ratio,
        p=_p(low, high, float(whole_b.bottom[0]) - one, other - float(whole_a.bottom[0]), fewest),
        method=method,
        samples=blocks,
        paired=paired,
    )


def _p(low: Numbers, high: Numbers, least: float, most: float, blocks: int) -> float:
    """Return the level at which the interval begins to hold 0, as a probability of chance.

    `low` and `high` are what the difference of resamples is at least and at most, `least` and `most` the same
    of the runs themselves.
    """
    if least <= 0 <= most:
        return 1.0
    far, resampled = (least, low) if least > 0 else (-most, -high)
    across = int((resampled <= 0).sum())
    deviation = NormalDist().inv_cdf(1 - max(across, _COUNTED) / (RESAMPLES + 1))
    if across < _COUNTED:
        error = float(resampled.std())
        deviation = max(deviation, far / error if error > 0 else math.inf)
    # A tail of more than a half is no evidence at all.
    return student.two_sided_tail(max(0.0, deviation) * math.sqrt((blocks - 1) / blocks), blocks - 1)
