"""The figure of levers, as data."""

from __future__ import annotations

from collections.abc import Sequence

from ninescope.figures import PALETTE, Axis, Figure, Panel, Series
from ninescope.lab.levers.intervals import has_interval, without_interval
from ninescope.lab.levers.pull import Levers, Pulled
from ninescope.text.lines import some

_GREY = "#888888"


def figure(levers: Levers) -> Figure:
    """Draw the ratio of each lever with its interval, and what its causes took."""
    known = [each for each in levers.pulled if each.ratio is not None]
    series = [
        _ratios("a difference is shown", known, PALETTE[1], shown=True),
        _ratios("no difference shown", known, _GREY, shown=False),
        Series(
            "without its causes (attribution)",
            list(range(len(known))),
            [each.promised for each in known],
            form="points",
            colour=PALETTE[0],
            hollow=[True] * len(known),
        ),
    ]
    label = levers.metric.label
    panel = Panel(
        "",
        Axis(
            "", categories=[f"{each.lever.name}{' (bound)' if each.lever.is_bound else ''}" for each in known]
        ),
        # Half as much and twice as much lie as far from 1.
        Axis(f"{label}, of that now", log=True),
        [one for one in series if any(value is not None for value in one.y)],
        [("as it is", 1.0)],
    )
    return Figure("levers", f"What single changes buy of {label}", [panel], _caption(levers), columns=1)


def _caption(levers: Levers) -> str:
    """Say what whiskers are where there are any, and why there are none."""
    sentences = []
    if any(map(has_interval, levers.pulled)):
        sentences.append(
            "Whiskers are 95% intervals of each lever by itself; what is called shown is corrected for all "
            "of them being looked at."
        )
    sentences += [f"No interval of {some(names)}: {why}." for why, names in without_interval(levers).items()]
    return " ".join(sentences)


def _ratios(label: str, known: Sequence[Pulled], colour: str, *, shown: bool) -> Series:
    chosen = [each if _is_shown(each) == shown else None for each in known]
    ends = [None if each is None else _ends(each) for each in chosen]
    return Series(
        label,
        list(range(len(known))),
        [None if each is None else each.ratio for each in chosen],
        form="points",
        low=[None if each is None else each[0] for each in ends],
        high=[None if each is None else each[1] for each in ends],
        colour=colour,
    )


def _is_shown(each: Pulled) -> bool:
    return each.row is not None and each.row.verdict.kind in ("lower", "higher")


def _ends(each: Pulled) -> tuple[float | None, float | None]:
    """Return the interval of a ratio; the ratio itself where there is none."""
    contrast = None if each.row is None else each.row.contrast
    if contrast is None or contrast.ratio is None:
        return each.ratio, each.ratio
    return contrast.ratio.low, contrast.ratio.high
