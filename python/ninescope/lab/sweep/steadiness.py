"""Which results of a sweep were measured while they still drifted: in tables, under figures.

A number of a window that drifts depends on where the window lies, and says less of its design than it seems
to.
"""

from __future__ import annotations

import polars as pl

from ninescope.lab.sweep.record import DONE, STATE
from ninescope.result.waf import STEADINESS

NOT_STEADY, UNTOLD = "not-steady", "cannot-be-told"


def drifting() -> pl.Expr:
    """Say of each row whether its measured window drifts."""
    return pl.col(STEADINESS).eq_missing(NOT_STEADY)


def are_not_steady(frame: pl.DataFrame) -> str:
    """Say how many results are not steady, and of how many there is no telling; nothing where none drifts."""
    counts = dict(frame[STEADINESS].drop_nulls().value_counts().iter_rows())
    if not counts.get(NOT_STEADY):
        return ""
    done = int((frame[STATE] == DONE).sum())
    are = (
        "is not steady, its window drifts"
        if counts[NOT_STEADY] == 1
        else "are not steady, their windows drift"
    )
    untold = f"; of {counts[UNTOLD]:,} it cannot be told" if counts.get(UNTOLD) else ""
    return f"{counts[NOT_STEADY]:,} of {done:,} results {are}{untold}"
