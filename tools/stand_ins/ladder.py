"""How popular pages are: a curve of two power laws that has the published numbers, cut into rungs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from problem import ImpossibleError

# Counts within a rung differ by this factor at most.
RUNG_TOP = 6.0
RUNG_BODY = 5.0


@dataclass
class Rung:
    """Pages that are used about equally often."""

    pages: float
    # Uses of each.
    uses: float
    kind: str = "body"


@dataclass
class Popularity:
    """What is known of the writes of pages."""

    written: float
    rewritten: float
    page_writes: float
    top_share: float
    busiest: float


def bisect(function: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a falling function has the wanted value."""
    for _ in range(60):
        middle = (low + high) / 2
        if function(middle) > wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def ladder(known: Popularity, cuts: list[float]) -> list[Rung]:
    """The rungs, the most popular first; `cuts` are ranks at which one rung ends in any case."""
    top = max(int(np.ceil(known.written / 100)), 1)
    rewritten = max(int(known.rewritten), top + 1)
    written = max(int(known.written), rewritten)
    ranks = np.arange(1, rewritten + 1, dtype=float)
    top_writes = known.top_share * known.page_writes
    if known.busiest * top < top_writes:
        raise ImpossibleError(
            "top_1_percent_write_share",
            f"{top} pages of at most {known.busiest:.0f} writes have "
            f"{known.busiest * top / known.page_writes:.3f} of all, not {known.top_share:.3f}",
        )
    if known.busiest > top_writes:
        raise ImpossibleError(
            "max_writes_to_a_page",
            f"{known.busiest:.0f} are {known.busiest - top_writes:.0f} more than the busiest hundredth has",
        )
    curve = known.busiest * ranks[:top]
    slope = bisect(lambda slope: float((known.busiest * ranks[:top] ** -slope).sum()), top_writes, 0.0, 12.0)
    curve = np.maximum(known.busiest * ranks[:top] ** -slope, 2.0)
    body = known.page_writes - top_writes - (written - rewritten)
    least, most = 2.0 * (rewritten - top), float(curve[-1]) * (rewritten - top)
    if body < least * 0.999:
        raise ImpossibleError(
            "page_writes",
            f"{written} pages, {rewritten} of them written again, take {least - body:.0f} more",
        )
    if body > most:
        raise ImpossibleError(
            "top_1_percent_write_share",
            f"the other pages have {body:.0f} writes, {body - most:.0f} more than they can have if each is "
            "written less often than the busiest hundredth",
        )
    edge = float(curve[-1])

    def tail(slope: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        values: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.maximum(
            edge * (ranks[top:] / top) ** -slope, 2.0
        )
        return values

    slope = bisect(lambda slope: float(tail(slope).sum()), body, 0.0, 40.0)
    counts = np.concatenate([curve, tail(slope)])
    rungs = [Rung(1.0, float(counts[0]), "peak")]
    begin = 1
    marks = sorted({top, rewritten, *(int(cut) for cut in cuts if 1 < cut < rewritten)})
    while begin < rewritten:
        ratio = RUNG_TOP if begin < top else RUNG_BODY
        falls = int(np.searchsorted(-counts, -counts[begin] / ratio, side="right"))
        mark = next(mark for mark in marks if mark > begin)
        end = min(max(falls, begin + 1), mark)
        # No splinter before a mark.
        if mark - end < 0.25 * (end - begin):
            end = mark
        rungs.append(
            Rung(float(end - begin), float(counts[begin:end].mean()), "top" if end <= top else "body")
        )
        begin = end
    if written > rewritten:
        rungs.append(Rung(float(written - rewritten), 1.0, "once"))
    return rungs
