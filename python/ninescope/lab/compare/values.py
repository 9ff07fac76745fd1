"""Values of metrics in words, with their units."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ninescope.lab.compare.metrics import Unit
from ninescope.text.units import duration, quantity

_YEAR_NS = 365 * 86_400e9
MINUS = "\u2212"


def shown(value: float, unit: Unit) -> str:
    """Write a value with its unit."""
    return _WRITTEN[unit](value)


def signed(value: float, unit: Unit, minus: str = "-") -> str:
    """Write a difference with its sign and its unit."""
    sign = minus if value < 0 else "+" if value > 0 else ""
    return f"{sign}{shown(abs(value), unit)}"


def _years(value: float) -> str:
    return f"{quantity(value)} years" if value >= 1 else duration(value * _YEAR_NS)


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}" if abs(value) < 1e5 else quantity(value)


_WRITTEN: Mapping[Unit, Callable[[float], str]] = {
    "ns": duration,
    "1/s": quantity,
    "B/s": lambda value: quantity(value, "B/s"),
    "share": lambda value: f"{value * 100:.3g}%",
    "years": _years,
    "": _number,
}
