"""Which results of a sweep were measured before they had settled, and why: in tables, under figures.

A number of such a window depends on where the window lies, and says less of its design than it seems to.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ninescope.common.numbers import counted
from ninescope.lab.sweep.record import DONE, STATE
from ninescope.result.waf import NOT_STEADY, REASONS, STEADINESS, UNTOLD

_WORDS = {
    "drift": ("window drifts", "windows drift"),
    "free-blocks": ("drive lives on blocks that were free", "drives live on blocks that were free"),
    "emptied-blocks": ("drive empties blocks", "drives empty blocks"),
    "read-only": ("drive became read-only", "drives became read-only"),
}
"""Why one is not steady, and several."""


def not_steady() -> pl.Expr:
    """Say of each row whether its measured window is not steady."""
    return pl.col(STEADINESS).eq_missing(NOT_STEADY)


def verdicts_of(frame: pl.DataFrame, kept: Sequence[str]) -> list[str]:
    """Return the column of verdicts where a row is not steady and the columns that are kept lack it."""
    return [STEADINESS] if _counts(frame)[0] and STEADINESS not in kept else []


def are_not_steady(frame: pl.DataFrame) -> str:
    """Say how many results are not steady and why, and of how many there is no telling; nothing of others."""
    unsteady, untold = _counts(frame)
    of = counted(int((frame[STATE] == DONE).sum()), "result")
    if not unsteady:
        return f"of {untold:,} of {of} it cannot be told whether their windows drift" if untold else ""
    are = "is not steady" if unsteady == 1 else "are not steady"
    told = f"{unsteady:,} of {of} {are}{_why(frame.filter(not_steady())[REASONS].to_list())}"
    return told + (f"; of {untold:,} it cannot be told" if untold else "")


def _why(reasons: Sequence[str]) -> str:
    """Say why results are not steady: of all of them where one thing holds of all, else of how many what."""
    each = [reason.split(" and ") for reason in reasons]
    one = len(each) == 1
    if all(held == each[0] for held in each):
        whose = "its" if one else "their"
        return ", " + " and ".join(f"{whose} {_WORDS[reason][0 if one else 1]}" for reason in each[0])
    counts = {reason: sum(reason in held for held in each) for reason in _WORDS}
    words = (f"in {count:,} the {_WORDS[reason][0]}" for reason, count in counts.items() if count)
    both = sum(len(held) > 1 for held in each)
    several = "both" if sum(count > 0 for count in counts.values()) == 2 else "several of these"
    return ": " + ", ".join(words) + (f" (in {both:,} of them {several})" if both else "")


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
