"""How much of a page requests have that are of one size or in a trace, and how many requests a trace has."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ninescope import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 1 << 16
_READ, _WRITE = 0, 1
"""The numbers of reads and writes in the engine."""


def of_size(sectors: int, unit: int, page: int) -> float:
    """Return the mean for requests of so many sectors that begin at multiples of `unit`."""
    begins = range(0, page, math.gcd(unit, page))
    pages = sum((begin + sectors - 1) // page + 1 for begin in begins)
    return sectors * len(begins) / pages


def requests_of(path: str) -> int:
    """Count the requests of a trace."""
    return sum(len(ops) for ops, _, _ in _batches(path))


def of_trace(path: str, page: int, *, reads: bool = False) -> float | None:
    """Return the mean for the writes of a trace, with `reads` for both; None where it has none."""
    sectors = pages = 0
    for ops, lbas, sizes in _batches(path):
        written = (ops == _WRITE) | ((ops == _READ) & reads)
        first, size = lbas[written].astype("int64"), sizes[written].astype("int64")
        sectors += int(size.sum())
        pages += int(((first + size - 1) // page - first // page + 1).sum())
    return sectors / pages if pages else None


def _batches(path: str) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Yield operations, first sectors and sizes."""
    batches = _native.TraceBatches(path, json.dumps({"format": "mqsim"}))
    while len((batch := batches.next(_BATCH))[0]):
        yield batch[1:]
