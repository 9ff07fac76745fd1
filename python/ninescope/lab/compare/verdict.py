"""Verdicts in words: what a reader may say of a difference, and what not."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from ninescope.lab.compare.metrics import Unit
from ninescope.lab.compare.values import shown, signed
from ninescope.lab.statistics import Contrast, Interval, is_same

Kind = Literal["lower", "higher", "none", "untold"]
CHANCE = 0.05
"""A difference is shown where chance alone makes one as large less often, of all that is compared."""
_TIMES = 2.0
"""From here on a ratio is told as one, and not in percent."""
_MANY_TIMES = 10.0
"""What may be so many times as much is told as a ratio at both ends: percents do not say how far down."""
_NOTHING = 1e-10
"""So many percent are what rounding makes of 0."""


class Verdict(NamedTuple):
    """What became of a metric."""

    kind: Kind
    """Where B lies; "none": no difference is shown; "untold": there is no telling."""
    words: str

    @property
    def reason(self) -> str:
        """Why there is no telling."""
        return self.words.removeprefix(_UNTOLD).removesuffix(")")


_UNTOLD = "cannot be told ("

SAME = Verdict("none", "the same (equal digests)")
"""What is said of runs in which both devices did the same: chance has no part."""


def untold(reason: str) -> Verdict:
    """Say that nothing can be said, and why."""
    return Verdict("untold", f"{_UNTOLD}{reason})")


def without_chance(a: float, b: float, why: str, unit: Unit = "") -> Verdict:
    """Judge values in which chance has no part."""
    if is_same(a, b):
        return Verdict("none", f"the same ({why})")
    ratio = Interval(b / a, b / a, b / a) if a > 0 else None
    off = Interval(b - a, b - a, b - a)
    words = _stated(off, ratio, unit, with_interval=False)
    return Verdict("lower" if b < a else "higher", f"{words} ({why})")


def by_chance(contrast: Contrast, corrected: float, compared: int, unit: Unit = "") -> Verdict:
    """Judge values by how often chance alone makes such a difference, corrected for all that is compared."""
    off, ratio = contrast.difference, contrast.ratio
    if corrected <= CHANCE:
        return Verdict("lower" if off.value < 0 else "higher", _stated(off, ratio, unit))
    reach = _reach(off, ratio, unit)
    if contrast.p <= CHANCE:
        reach += f"; alone it would be, but it is one of {compared} compared"
    return Verdict("none", f"no difference shown ({reach})")


def _stated(off: Interval, ratio: Interval | None, unit: Unit, *, with_interval: bool = True) -> str:
    """Say by how much B lies lower or higher."""
    where = "lower" if off.value < 0 else "higher"
    if ratio is None or ratio.value <= 0:
        value, low, high = (shown(end, unit) for end in (_turned(off) if where == "lower" else off))
        return f"B is {where} by {value}" + (f" ({low} to {high})" if with_interval else "")
    if ratio.value >= _TIMES:
        value, low, high = _numbers(ratio)
        return f"B is {value} times as high" + (f" ({low} to {high})" if with_interval else "")
    value, low, high = _percents(ratio, turned=where == "lower")
    return f"B is {where} by {value} %" + (f" ({low} to {high})" if with_interval else "")


def _reach(off: Interval, ratio: Interval | None, unit: Unit) -> str:
    """Say between which ends the difference lies."""
    if off.low == off.high == 0:
        return "equal"
    if ratio is None or ratio.value <= 0:
        return f"{signed(off.low, unit)} to {signed(off.high, unit)}"
    if ratio.high >= _MANY_TIMES:
        return f"{ratio.low:.2g} to {ratio.high:,.3g} times"
    _, low, high = _percents(ratio)
    return f"{_plus(low)} to {_plus(high)} %"


def _percents(ratio: Interval, *, turned: bool = False) -> tuple[str, str, str]:
    """Write by how many percent B is higher, or `turned` lower, and the ends of that.

    What is left of something is never rounded to nothing: a ratio above 0 is no 100 % lower.
    """
    off = Interval(*(100 * (end - 1) for end in ratio))
    decimals = _decimals(off)

    def written(end: float, percent: float) -> str:
        is_all = end > 0 and round(percent, decimals) == -100
        enough = -math.floor(math.log10(100 * end)) if is_all else 0
        return _rounded(-percent if turned else percent, max(decimals, enough))

    value, low, high = (written(*each) for each in zip(ratio, off, strict=True))
    return (value, high, low) if turned else (value, low, high)


def _plus(number: str) -> str:
    return f"+{number}" if float(number.replace(",", "")) > 0 else number


def _turned(interval: Interval) -> Interval:
    return Interval(-interval.value, -interval.high, -interval.low)


def _numbers(interval: Interval) -> tuple[str, str, str]:
    """Write value and ends with as many decimals as the width of the interval is worth.

    None of them becomes 0 by it: whether 0 lies outside is what is asked.
    """
    decimals = _decimals(interval)
    value, low, high = (_rounded(end, decimals) for end in interval)
    return value, low, high


def _decimals(interval: Interval) -> int:
    """Return how many decimals the width of an interval is worth."""
    width = interval.high - interval.low or abs(interval.value) / 10 or 1.0
    return min(9, max(0, -math.floor(math.log10(width / 3)))) if math.isfinite(width) else 0


def _rounded(value: float, decimals: int) -> str:
    rounded = round(value, decimals) + 0.0
    if rounded == 0 and abs(value) > _NOTHING:
        return f"{value:.1g}"
    return f"{rounded:,.{decimals}f}"
