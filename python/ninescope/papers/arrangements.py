"""The requests of a stand-in with what no published statistic fixes decided otherwise.

Where pages lie, when busy ones are used, and requests of which nothing is kept but how far apart uses are.
What a claim comes to with each shows what it hangs on. Replayed in a closed loop: the times of requests stay.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ninescope
from ninescope.papers.stand_ins import StandIn
from ninescope.simulation.traces import convert

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Numbers = np.ndarray[Any, np.dtype[np.float64]]

SECTOR = 512
SECTORS_OF_A_PAGE = 8
"""Of 4 KiB, of which stand-ins are made."""
BUSY = 1_000
"""So many requests that begin in a page make it a busy one."""


def in_order_of_first_use(stand_in: StandIn) -> StandIn:
    """Put pages that are used for the first time one after the other next to each other.

    As files lie whose data is written together. Pages that were neighbours stay neighbours, so that requests
    stay whole.
    """
    return _with_stretches(stand_in, lambda stretches: stretches.first_use)


def in_order_of_popularity(stand_in: StandIn) -> StandIn:
    """Put the pages that are used most next to each other; neighbours stay neighbours."""
    return _with_stretches(stand_in, lambda stretches: -stretches.uses_of_a_page)


def without_pauses(stand_in: StandIn) -> StandIn:
    """Spread the requests of each busy page from the beginning to the end, in the same order of its own.

    As drawn, even a page that is used every hundred requests is left alone in the first and the last percent.
    """
    import numpy as np
    import polars as pl

    rows = _rows(stand_in)
    page = rows["lba"].to_numpy().astype(np.int64) // SECTORS_OF_A_PAGE
    _, which, uses = np.unique(page, return_inverse=True, return_counts=True)
    place = np.arange(len(page), dtype=float)
    first = np.full(len(uses), np.inf)
    last = np.zeros(len(uses))
    np.minimum.at(first, which, place)
    np.maximum.at(last, which, place)
    # From half a gap behind the beginning to half a gap before the end.
    gap = (last - first) / np.maximum(uses - 1, 1)
    stretched = (place - first[which] + gap[which] / 2) / np.maximum(last - first + gap, 1)[which] * len(page)
    order = np.argsort(np.where(uses[which] >= BUSY, stretched, place), kind="stable")
    # Times stay where they are: replayed in a closed loop, they do not matter.
    shuffled = rows.drop("submitted_ns")[order].with_columns(pl.Series("submitted_ns", rows["submitted_ns"]))
    return _with_rows(stand_in, shuffled.select(rows.columns))


def by_distances(stand_in: StandIn, *, scattered: bool) -> StandIn:
    """Draw requests anew of which nothing is kept but how far apart the uses of an address are.

    The distances are those of the first pages of requests: an LRU cache of any size misses as many of both.
    They come in any order, so that nothing pauses and nothing is used in runs. What a request does is that of
    the request in its place; an address is always asked for as a whole, as the request in whose place it came
    up first asked. Addresses lie next to each other in the order of their first use, or `scattered`, so that
    neighbours have nothing to do with each other.
    """
    import numpy as np
    import polars as pl

    rows = _rows(stand_in)
    random = np.random.default_rng(_SEED)
    address = np.array(_of_a_stack(_depths(rows, random)), dtype=np.int64)
    _, first_use = np.unique(address, return_index=True)
    lba = rows["lba"].to_numpy().astype(np.int64)[first_use] % SECTORS_OF_A_PAGE
    sectors = rows["sectors"].to_numpy().astype(np.int64)[first_use]
    pages = (lba + sectors - 1) // SECTORS_OF_A_PAGE + 1
    order = random.permutation(len(pages)) if scattered else np.arange(len(pages))
    places = np.empty(len(pages), dtype=np.int64)
    places[order] = np.cumsum(pages[order]) - pages[order]
    lba += places * SECTORS_OF_A_PAGE
    drawn = rows.with_columns(
        lba=pl.Series(lba[address], dtype=rows["lba"].dtype),
        sectors=pl.Series(sectors[address], dtype=rows["sectors"].dtype),
    )
    footprint = int(pages.sum()) * SECTORS_OF_A_PAGE * SECTOR
    return dataclasses.replace(_with_rows(stand_in, drawn), footprint=footprint)


NEW = -1
"""In the place of a depth: an address that was not used before."""


def _depths(rows: pl.DataFrame, random: np.random.Generator) -> list[int]:
    """Draw how many other addresses were used since the same one was, or NEW; as many as there are rows."""
    import numpy as np
    import polars as pl

    page = pl.col("lba") // SECTORS_OF_A_PAGE * SECTORS_OF_A_PAGE
    firsts = rows.with_columns(lba=page, sectors=pl.lit(SECTORS_OF_A_PAGE, dtype=rows["sectors"].dtype))
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        path = Path(folder, "firsts.parquet")
        firsts.write_parquet(path)
        reuse = ninescope.trace_stat(path)["reuse"]
    curve = np.array(reuse["miss_ratio"], dtype=float).reshape(-1, 2)
    # A cache of so many pages has hits up to just below that depth.
    begins = np.concatenate([[0], curve[:, 0] // (SECTORS_OF_A_PAGE * SECTOR)]).astype(np.int64)
    missed = np.concatenate([[1.0], curve[:, 1]])
    which = np.searchsorted(1 - missed, random.random(len(rows)), side="right") - 1
    ends = np.append(begins[1:], begins[-1] + 1)
    depth = begins[which] + (random.random(len(rows)) * (ends - begins)[which]).astype(np.int64)
    found: list[int] = np.where(which == len(missed) - 1, NEW, depth).tolist()
    return found


_SEED = 1
_BLOCK = 1_024
"""Addresses of a block of the stack, which is split at twice as many."""


def _of_a_stack(depths: list[int]) -> list[int]:
    """Return which address is used each time, counted from 0 in the order of first use.

    The stack has the latest address on top. Deeper than it is, as long as it fills, means its last one.
    """
    # From the top: blocks, each with its latest address at its end.
    blocks: list[list[int]] = [[]]
    used: list[int] = []
    there = 0
    for depth in depths:
        if depth == NEW or not there:
            address = there
            there += 1
        else:
            left = min(depth, there - 1)
            place = 0
            while left >= len(blocks[place]):
                left -= len(blocks[place])
                place += 1
            block = blocks[place]
            address = block.pop(len(block) - 1 - left)
            if not block and place:
                del blocks[place]
        top = blocks[0]
        top.append(address)
        if len(top) > 2 * _BLOCK:
            blocks[0:1] = [top[_BLOCK:], top[:_BLOCK]]
            if len(blocks) > 8 + 3 * there // _BLOCK:
                blocks = _of_one_size(blocks)
        used.append(address)
    return used


def _of_one_size(blocks: list[list[int]]) -> list[list[int]]:
    """Return blocks with the same addresses in the same order, as few as may be."""
    found: list[list[int]] = []
    for block in reversed(blocks):
        if found and len(found[-1]) + len(block) <= _BLOCK:
            found[-1] += block
        else:
            found.append(block)
    return found[::-1]


@dataclasses.dataclass(frozen=True)
class _Stretches:
    """Pages next to each other that are all used, in order of addresses."""

    first_use: Integers
    """The first page of a request that touches it, counted over all requests."""
    uses_of_a_page: Integers
    """In thousandths of a use."""


def _with_stretches(stand_in: StandIn, key: Callable[[_Stretches], Integers]) -> StandIn:
    """Put stretches of neighbours in the order of a key."""
    import numpy as np
    import polars as pl

    rows = _rows(stand_in)
    lba = rows["lba"].to_numpy().astype(np.int64)
    sectors = rows["sectors"].to_numpy().astype(np.int64)
    begin, end = lba // SECTORS_OF_A_PAGE, (lba + sectors - 1) // SECTORS_OF_A_PAGE + 1
    count = end - begin
    before = np.cumsum(count) - count
    touched = np.repeat(begin - before, count) + np.arange(count.sum())
    pages, first_use, uses = np.unique(touched, return_index=True, return_counts=True)

    begins = np.concatenate([[True], np.diff(pages) != 1])
    stretch = np.cumsum(begins) - 1
    sizes = np.bincount(stretch)
    firsts = np.full(len(sizes), len(touched))
    np.minimum.at(firsts, stretch, first_use)
    busy = (1000 * np.bincount(stretch, weights=uses) / sizes).astype(np.int64)

    order = np.argsort(key(_Stretches(firsts, busy)), kind="stable")
    places = np.empty(len(sizes), dtype=np.int64)
    places[order] = np.cumsum(sizes[order]) - sizes[order]
    of_request = stretch[np.searchsorted(pages, begin)]
    moved = (
        places[of_request] + begin - pages[begins][of_request]
    ) * SECTORS_OF_A_PAGE + lba % SECTORS_OF_A_PAGE
    return _with_rows(stand_in, rows.with_columns(lba=pl.Series(moved, dtype=pl.UInt64)))


def _rows(stand_in: StandIn) -> pl.DataFrame:
    """Read the requests of a stand-in."""
    import polars as pl

    words = stand_in.workload.words
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        path = str(Path(folder, "drawn.parquet"))
        convert(words["trace"], path, format=words["format"])
        return pl.read_parquet(path)


def _with_rows(stand_in: StandIn, rows: pl.DataFrame) -> StandIn:
    """Return a stand-in with other requests, which touch as much."""
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        path = Path(folder, "arranged.parquet")
        rows.write_parquet(path)
        # A workload of a Parquet file keeps a copy.
        workload = ninescope.Workload.trace(path, closed_loop=True, iodepth=1, addresses="compact")
    return dataclasses.replace(stand_in, workload=workload)
