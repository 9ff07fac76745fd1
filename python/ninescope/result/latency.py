"""Latencies: by operation, with percentiles, their intervals and histograms; those of several runs merged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ninescope.result.stored import known_keys
from ninescope.result.when_asked import Made

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPS = ("read", "write", "trim", "flush")
DATA_OPS = OPS[:2]
PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")
Histogram: TypeAlias = "tuple[NDArray[np.uint64], NDArray[np.uint64]]"
BLOCKS_REQUESTS = 8 * 1024
"""Blocks of fewer requests of an operation say nothing of chance."""
_ENOUGH_BEYOND = 10
"""A percentile is trusted when at least so many samples lie beyond it."""


@dataclasses.dataclass(frozen=True)
class Latency:
    """The latency of one operation [ns]."""

    count: int = 0
    min_ns: int = 0
    mean_ns: float = 0.0
    max_ns: int = 0
    percentiles_ns: Mapping[str, int] = dataclasses.field(default_factory=dict)
    insufficient: tuple[str, ...] = ()
    """The percentiles that too few samples stand behind."""
    intervals_ns: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    """Where each percentile lies in 95 % of the runs put together from blocks of this one."""
    histogram: Made[Histogram | None] = Made(None)  # noqa: RUF009 (a descriptor)
    """Upper bounds [ns] and counts of the buckets."""
    blocks: Made[tuple[Histogram, ...]] = Made(())  # noqa: RUF009 (a descriptor)
    """The same for each block of the run; none of so few requests that blocks say nothing of chance. The
    table `latency_blocks` has them nevertheless."""

    @classmethod
    def merged(cls, latencies: Iterable[Latency]) -> Latency:
        """Put the latencies of several runs together, as if one run had measured all of them.

        Intervals are those of all blocks together, so that runs of other seeds make them narrower.
        """
        from ninescope import _native

        parts = [latency for latency in latencies if latency.count]
        if not parts:
            return cls()
        if any(latency.histogram is None for latency in parts):
            raise ValueError("a latency without its histogram cannot be merged (it is in latency.parquet)")
        histogram = _added(latency.histogram for latency in parts if latency.histogram is not None)
        count = sum(latency.count for latency in parts)
        merged = cls(
            count=count,
            min_ns=min(latency.min_ns for latency in parts),
            mean_ns=sum(latency.mean_ns * latency.count for latency in parts) / count,
            max_ns=max(latency.max_ns for latency in parts),
            histogram=histogram,
            blocks=tuple(block for latency in parts for block in latency.blocks),
        )
        keys = tuple(dict.fromkeys(key for latency in parts for key in latency.percentiles_ns))
        needed = {key: _ENOUGH_BEYOND / (1 - float(key) / 100) for key in keys}
        complete = all(latency.blocks for latency in parts)
        bounds = (
            _native.bootstrap(list(merged.blocks), [round(float(key) * 1e7) for key in keys])
            if complete
            else []
        )
        within = [
            tuple(min(max(bound, merged.min_ns), merged.max_ns) for bound in interval) for interval in bounds
        ]
        return dataclasses.replace(
            merged,
            percentiles_ns={key: merged.percentile(float(key)) for key in keys},
            insufficient=tuple(key for key in keys if count < needed[key] * (1 - 1e-9)),
            intervals_ns={key: (low, high) for key, (low, high) in zip(keys, within, strict=bool(within))},
        )

    def interval(self, percent: float) -> tuple[int, int]:
        """Return where the percentile [ns] lies in 95 % of the runs put together from blocks of this one."""
        key = _percentile_key(percent)
        if key not in self.intervals_ns:
            known = ", ".join(self.intervals_ns) or "none: the run is too short"
            raise ValueError(f"there is no interval of the {key}th percentile (there is {known})")
        return self.intervals_ns[key]

    def percentile(self, percent: float) -> int:
        """Return the latency [ns] that so many percent of the requests did not exceed."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
        if not self.count:
            raise ValueError("no request of this kind was measured")
        key = _percentile_key(percent)
        if key in self.percentiles_ns:
            return self.percentiles_ns[key]
        if self.histogram is None or not len(self.histogram[1]):
            known = ", ".join(self.percentiles_ns)
            raise ValueError(f"the {key}th percentile is not stored (only {known}) and there is no histogram")
        import numpy as np

        bounds, counts = self.histogram
        if percent == 0:
            return self.min_ns
        rank = max(1, int(np.ceil(percent / 100 * int(counts.sum()))))
        bucket = int(np.searchsorted(np.cumsum(counts), rank))
        return min(max(int(bounds[bucket]), self.min_ns), self.max_ns)


@dataclasses.dataclass(frozen=True)
class Latencies:
    """Latency by operation."""

    read: Latency = Latency()
    write: Latency = Latency()
    trim: Latency = Latency()
    flush: Latency = Latency()

    def __iter__(self) -> Iterator[tuple[str, Latency]]:
        """Go through the operations that occurred."""
        for op in OPS:
            latency: Latency = getattr(self, op)
            if latency.count:
                yield op, latency


def latency_of(
    stored: Mapping[str, Any],
    histogram: Callable[[], Histogram | None] | None = None,
    blocks: Callable[[], tuple[Histogram, ...]] = tuple,
) -> Latency:
    """Read the latency of an operation, buckets when asked for; of few requests there are no blocks."""
    latency: Latency = known_keys(Latency, stored)
    return dataclasses.replace(
        latency,
        insufficient=tuple(latency.insufficient),
        intervals_ns={key: (low, high) for key, (low, high) in latency.intervals_ns.items()},
        histogram=histogram,
        blocks=blocks if latency.count >= BLOCKS_REQUESTS else (),
    )


def _percentile_key(percent: float) -> str:
    return f"{percent:.10f}".rstrip("0").rstrip(".")


def _added(histograms: Iterable[Histogram]) -> Histogram:
    import numpy as np

    counts: dict[int, int] = {}
    for histogram in histograms:
        for bound, count in zip(*(column.tolist() for column in histogram), strict=True):
            counts[bound] = counts.get(bound, 0) + count
    bounds = sorted(counts)
    return np.array(bounds, dtype=np.uint64), np.array([counts[bound] for bound in bounds], dtype=np.uint64)
