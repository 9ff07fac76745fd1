"""How much of a page a write has: of requests of one size by their alignment, of a trace by its rows."""

from __future__ import annotations

import json
import math

from ninescope import _native

_BATCH = 1 << 16
_WRITE = 1
"""The number of a write in the engine."""


def of_size(sectors: int, unit: int, page: int) -> float:
    """Return the mean for requests of so many sectors that begin at multiples of `unit`."""
    begins = range(0, page, math.gcd(unit, page))
    pages = sum((begin + sectors - 1) // page + 1 for begin in begins)
    return sectors * len(begins) / pages


def of_trace(path: str, page: int) -> float | None:
    """Return the mean for the writes of a trace; None where it has none."""
    batches = _native.TraceBatches(path, json.dumps({"format": "mqsim"}))
    sectors = pages = 0
    while len((batch := batches.next(_BATCH))[0]):
        _, ops, lbas, sizes = batch
        written = ops == _WRITE
        first, size = lbas[written].astype("int64"), sizes[written].astype("int64")
        sectors += int(size.sum())
        pages += int(((first + size - 1) // page - first // page + 1).sum())
    return sectors / pages if pages else None
