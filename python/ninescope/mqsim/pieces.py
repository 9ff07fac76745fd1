"""How much of a page requests have whose sizes are drawn or in a trace, and how many requests a trace has."""

from __future__ import annotations

import collections
import json
import math
import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ninescope import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 1 << 16
_WRITE = 1
"""The number of writes in the engine."""


def sizes(mean: int, deviation: float) -> dict[int, float]:
    """Return the shares of requests of so many sectors, drawn from a normal distribution and rounded up."""
    if deviation == 0:
        return {mean: 1.0}
    law = statistics.NormalDist(mean, deviation)
    most = math.ceil(mean + 6 * deviation)
    below = [0.0, *(law.cdf(sectors) for sectors in range(1, most + 1))]
    return {sectors: below[sectors] - below[sectors - 1] for sectors in range(1, most + 1)}


def of_sizes(shares: dict[int, float], unit: int, page: int) -> float:
    """Return the mean for requests of such sizes that begin at multiples of `unit`."""
    begins = range(0, page, math.gcd(unit, page))
    touched = {
        sectors: sum((begin + sectors - 1) // page + 1 for begin in begins) / len(begins)
        for sectors in shares
    }
    moved = sum(share * sectors for sectors, share in shares.items())
    return moved / sum(share * touched[sectors] for sectors, share in shares.items())


def requests_of(path: str) -> int:
    """Count the requests of a trace."""
    return sum(len(ops) for ops, _, _ in _batches(path))


def writes_of(path: str) -> int:
    """Count the writes of a trace."""
    return sum(int((ops == _WRITE).sum()) for ops, _, _ in _batches(path))


def of_trace(path: str, page: int) -> float | None:
    """Return the mean for the writes of a trace; None where it has none."""
    sectors = pages = 0
    for ops, lbas, sizes in _batches(path):
        written = ops == _WRITE
        first, size = lbas[written].astype("int64"), sizes[written].astype("int64")
        sectors += int(size.sum())
        pages += int(((first + size - 1) // page - first // page + 1).sum())
    return sectors / pages if pages else None


def sizes_of_trace(path: str) -> dict[int, float]:
    """Return the shares of the writes of a trace of so many sectors; none where it has none."""
    found: collections.Counter[int] = collections.Counter()
    for ops, _, sizes in _batches(path):
        found.update(sizes[ops == _WRITE].tolist())
    return {sectors: count / found.total() for sectors, count in found.items()}


def _batches(path: str) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield operations, first sectors and sizes."""
    batches = _native.TraceBatches(path, json.dumps({"format": "mqsim"}))
    while len((batch := batches.next(_BATCH))[0]):
        yield batch[1:]
