"""Single runs compared by what varies within them: blocks of requests, and intervals of time.

What differs from seed to seed is not in such intervals; replications have it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ninescope.lab.compare.metrics import BUCKET, Metric
from ninescope.lab.statistics import (
    Contrast,
    Interval,
    Numbers,
    TooShortError,
    batch_length,
    batch_means,
    batched,
    paired,
    pseudo_values,
    unpaired,
)
from ninescope.lab.statistics.bootstrap import Blocks, compare_percentiles
from ninescope.result import DATA_OPS, PERCENTILES, Latency, Result

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, Numbers]

TAIL = 10
"""A percentile is trusted where so many requests lie beyond it."""
SAME_TIME = 1e-3
"""Runs of the same requests at the same times that differ in length by no more have the same rates."""
OF_BLOCKS = 8_192
"""So many requests of an operation are cut into as many blocks as say something of chance."""


class ByBlocks:
    """Percentiles of A and B by the blocks of their runs; several runs of one design are put together."""

    def __init__(self, a: Sequence[Result], b: Sequence[Result], *, same_requests: bool) -> None:
        self._a, self._b = tuple(a), tuple(b)
        self._same_requests = same_requests
        self._known: dict[str, Mapping[str, Contrast]] = {}

    def contrast(self, metric: Metric) -> Contrast:
        """Compare a percentile; `TooShortError` where too few requests stand behind it."""
        if metric.op not in DATA_OPS:
            raise TooShortError("no blocks are kept of it; runs with several seeds are needed")
        merged = [_merged(runs, metric.op) for runs in (self._a, self._b)]
        if not all(metric.percentile in each.percentiles_ns for each in merged):
            raise TooShortError("not measured in both")
        short = [
            name for name, each in zip("AB", merged, strict=True) if metric.percentile in each.insufficient
        ]
        if short:
            raise TooShortError(f"fewer than {TAIL} requests beyond it in {' and '.join(short)}")
        if metric.op not in self._known:
            self._known[metric.op] = self._contrasts(merged)
        return self._known[metric.op][metric.percentile]

    def _contrasts(self, merged: Sequence[Latency]) -> Mapping[str, Contrast]:
        """Compare all percentiles of an operation: they share their resamples."""
        short = [name for name, each in zip("AB", merged, strict=True) if not each.blocks]
        if short:
            raise TooShortError(
                f"{' and '.join(short)} too short for an interval: it takes {OF_BLOCKS:,} requests"
                if all(_has_tables(result) for result in (*self._a, *self._b))
                else "no blocks of the run: give its folder, not its JSON alone"
            )
        one, other = (
            Blocks.of(latency.blocks, least=latency.min_ns, most=latency.max_ns, resolution=BUCKET)
            for latency in merged
        )
        keys = [key for key in PERCENTILES if all(key in latency.percentiles_ns for latency in merged)]
        contrasts = compare_percentiles(
            one,
            other,
            [float(key) for key in keys],
            paired=self._same_requests and one.hold_the_same(other),
        )
        return dict(zip(keys, contrasts, strict=True))


def by_time(metric: Metric, a: Result, b: Result, *, same_arrivals: bool) -> Contrast:
    """Compare a rate or a mean latency by batches of the time series; `TooShortError` where it is too short.

    `same_arrivals`: requests come at the same times in both, so that what happens in an interval of time is
    about the same requests.
    """
    one, other = _columns(a), _columns(b)
    grid = _common_grid(one, other) if same_arrivals else None
    if grid is None:
        first, second = (
            batch_means(_observations(metric, columns)) for columns in (_whole(one), _whole(other))
        )
        return unpaired(_centred(first, metric, a), _centred(second, metric, b))
    first, second = (_observations(metric, columns) for columns in grid)
    # What has to be independent is what the intervals rest on: differences, absolute and relative.
    length = max(
        batch_length(second - first),
        batch_length(second / second.mean() - first / first.mean()),
    )
    # The rate of what comes at given times says when the run ended, and of the drive nothing else.
    whose = a if _is_given(metric, a, b) else b
    return paired(
        _centred(batched(first, length), metric, a), _centred(batched(second, length), metric, whose)
    )


def _is_given(metric: Metric, a: Result, b: Result) -> bool:
    """Say whether a rate differs by the end of the run alone: as many requests in all but the same time."""
    if metric.of_time == "mean":
        return False
    requests = [result.throughput[metric.op].requests for result in (a, b)]
    rates = [metric.read(result) or 0.0 for result in (a, b)]
    return requests[0] == requests[1] and math.isclose(*rates, rel_tol=SAME_TIME)


def interval_within(metric: Metric, result: Result) -> Interval | None:
    """Return a metric of one run with the interval that the run itself gives; None where it gives none."""
    value = metric.read(result)
    if value is None:
        return None
    if metric.percentile:
        latency: Latency = getattr(result.latency, metric.op)
        ends = latency.intervals_ns.get(metric.percentile)
        return None if ends is None or metric.percentile in latency.insufficient else Interval(value, *ends)
    if not metric.of_time:
        return None
    try:
        return metric.interval(
            _centred(batch_means(_observations(metric, _whole(_columns(result)))), metric, result)
        )
    except TooShortError:
        return None


def _merged(runs: Sequence[Result], op: str) -> Latency:
    latencies: list[Latency] = [getattr(result.latency, op) for result in runs]
    if len(latencies) == 1:
        return latencies[0]
    if any(latency.count and latency.histogram is None for latency in latencies):
        raise TooShortError("no histogram: give folders of runs, not their JSON alone")
    return Latency.merged(latencies)


def _has_tables(result: Result) -> bool:
    return any(latency.histogram is not None for _, latency in result.latency)


def _columns(result: Result) -> Columns:
    frame: pl.DataFrame = result.to_polars("series")
    if frame.width == 0:
        raise TooShortError(
            "one run of each, kept without its time series"
            if _has_tables(result)
            else "no time series: give the folder of the run, not its JSON alone"
        )
    if frame.height < 2:
        # The last one is left out: the run ended in it.
        raise TooShortError("no whole interval of time, and 16 are needed")
    return {name: frame[name].to_numpy().astype(np.float64) for name in frame.columns}


def _whole(columns: Columns) -> Columns:
    """Leave the last interval out: the run ended in it."""
    return {name: column[:-1] for name, column in columns.items()}


def _observations(metric: Metric, columns: Columns) -> Numbers:
    """Return what a metric was in each interval of time."""
    counts = columns.get(f"{metric.op}s")
    if counts is None or not counts.any():
        raise TooShortError("no time series of it")
    if metric.of_time == "mean":
        return pseudo_values(columns[f"{metric.op}_latency_sum_ns"], counts)
    # Per interval instead of per second: `_centred` brings it to its unit.
    return columns[f"{metric.op}_bytes"] if metric.of_time == "bandwidth" else counts


def _centred(values: Numbers, metric: Metric, result: Result) -> Numbers:
    """Scale batches so that their mean is what the result says: ends of the run are in it, too."""
    value = metric.read(result)
    assert value is not None  # noqa: S101
    scaled: Numbers = values * (value / values.mean())
    return scaled


def _common_grid(one: Columns, other: Columns) -> tuple[Columns, Columns] | None:
    """Return both series over the same intervals of time; None where they have none in common."""
    lengths = [columns["begin_ns"][1] - columns["begin_ns"][0] for columns in (one, other)]
    length = max(lengths)
    if abs(one["begin_ns"][0] - other["begin_ns"][0]) > length / 2:
        return None
    first, second = (
        _coarser(_whole(columns), round(length / each))
        for columns, each in zip((one, other), lengths, strict=True)
    )
    count = min(len(first["begin_ns"]), len(second["begin_ns"]))
    return _until(first, count), _until(second, count)


def _until(columns: Columns, count: int) -> Columns:
    return {name: column[:count] for name, column in columns.items()}


def _coarser(columns: Columns, factor: int) -> Columns:
    """Take so many neighbouring intervals together; sums and counts add up."""
    count = len(columns["begin_ns"]) // factor
    return {
        name: column[: count * factor].reshape(count, factor).sum(axis=1) for name, column in columns.items()
    }
