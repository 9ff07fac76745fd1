"""Which results of a sweep were measured while they still drifted: in tables, under figures.

A number of a window that drifts depends on where the window lies, and says less of its design than it seems
to.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ninescope.common.numbers import counted
from ninescope.lab.sweep.record import DONE, STATE
from ninescope.result.waf import STEADINESS

NOT_STEADY, UNTOLD = "not-steady", "cannot-be-told"


def drifting() -> pl.Expr:
    """Say of each row whether its measured window drifts."""
    return pl.col(STEADINESS).eq_missing(NOT_STEADY)


def verdicts_of(frame: pl.DataFrame, kept: Sequence[str]) -> list[str]:
    """Return the column of verdicts where a row is not steady and the columns that are kept lack it."""
    return [STEADINESS] if _counts(frame)[0] and STEADINESS not in kept else []


def are_not_steady(frame: pl.DataFrame) -> str:
    """Say how many results are not steady, and of how many there is no telling; nothing where all settled."""
    drift, untold = _counts(frame)
    of = counted(int((frame[STATE] == DONE).sum()), "result")
    if not drift:
        return f"of {untold:,} of {of} it cannot be told whether their windows drift" if untold else ""
    are = "is not steady, its window drifts" if drift == 1 else "are not steady, their windows drift"
    return f"{drift:,} of {of} {are}" + (f"; of {untold:,} it cannot be told" if untold else "")


def below_a_figure(frame: pl.DataFrame) -> str:
    """Say the same in sentences, with what markers show of it."""
    words = are_not_steady(frame)
    if not words:
        return ""
    return f"Hollow: {words}." if _counts(frame)[0] else f"{words[0].upper()}{words[1:]}."


def _counts(frame: pl.DataFrame) -> tuple[int, int]:
    """Return how many results are not steady, and of how many that cannot be told."""
    # A column without any verdict has no type.
    verdicts = frame[STEADINESS].cast(pl.String)
    return int((verdicts == NOT_STEADY).sum()), int((verdicts == UNTOLD).sum())
