"""Values of axes: lists, ranges, and quantities with units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean

RANGE_KEYS = ("from", "to", "step", "count", "log")
MANY = 1_000_000
"""More values than this are a mistake."""
_LISTED = 12
"""Longer lists say less."""
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%][A-Za-z/]*)?\s*")
UNITS: Mapping[str, tuple[str, Decimal]] = {
    **{name: ("time", Decimal(scale)) for name, scale in
       (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9), ("min", 60 * 10**9), ("h", 3600 * 10**9),
        ("d", 86400 * 10**9))},
    **{name: ("size", Decimal(scale)) for name, scale in
       (("B", 1), ("k", 2**10), ("m", 2**20), ("g", 2**30), ("t", 2**40),
        ("K", 2**10), ("M", 2**20), ("G", 2**30), ("T", 2**40),
        ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40),
        ("kB", 10**3), ("KB", 10**3), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12))},
    **{name: ("rate", Decimal(scale)) for name, scale in
       (("B/s", 1), ("kB/s", 10**3), ("MB/s", 10**6), ("GB/s", 10**9))},
    **{name: ("power", Decimal(scale)) for name, scale in
       (("uW", 1), ("mW", 10**3), ("W", 10**6), ("kW", 10**9))},
    **{name: ("energy", Decimal(scale)) for name, scale in
       (("fJ", 1), ("pJ", 10**3), ("nJ", 10**6), ("uJ", 10**9), ("mJ", 10**12), ("J", 10**15))},
    "%": ("share", Decimal("0.01")),
}  # fmt: skip
"""Of what kind a unit is, and how many of the smallest of its kind."""
OF_NUMBERS: Mapping[str, tuple[str, Decimal]] = {
    "_ns": ("time", Decimal(1)),
    "bytes_per_second": ("rate", Decimal(1)),
    "_watts": ("power", Decimal(10**6)),
    "_joules": ("energy", Decimal(10**15)),
}
"""By the end of a number's name: of what kind it is, and how many of the smallest unit are one of it."""


def values_of(written: object) -> list[Any]:
    """Return the values of an axis: those of a list, those of a range, or one alone."""
    if isinstance(written, list):
        return list(written)
    if isinstance(written, Mapping) and is_range(written):
        return _range(written)
    return [written]


def is_range(table: Mapping[str, Any]) -> bool:
    """Tell a range from other tables."""
    return "from" in table or "to" in table


def _range(table: Mapping[str, Any]) -> list[Any]:
    for key in table:
        if key not in RANGE_KEYS:
            raise ConfigError(f"{key}: is no word of a range{did_you_mean(key, RANGE_KEYS)}")
    for key in ("from", "to"):
        if key not in table:
            raise ConfigError(f"a range needs {key!r}")
    is_log = table.get("log", False)
    if not isinstance(is_log, bool):
        raise ConfigError(f"log: true or false are wanted, not {is_log!r}")
    low, unit = number_and_unit(table["from"], "from")
    high, other = number_and_unit(table["to"], "to")
    if unit != other and (not unit or not other or UNITS[unit][0] != UNITS[other][0]):
        raise ConfigError(f"from {table['from']!r} to {table['to']!r}: two units that do not fit")
    if unit != other:
        high *= UNITS[other][1] / UNITS[unit][1]
    if ("step" in table) == ("count" in table):
        raise ConfigError("a range needs either 'step' or 'count'")
    if "step" in table:
        if is_log:
            raise ConfigError("a range with log = true has a count, not a step")
        places = _stepped(low, high, table["step"], unit)
    else:
        places = _counted(low, high, table["count"], is_log)
        places = [*places[:1], *(_whole(place, unit) for place in places[1:-1]), *places[1:][-1:]]
    is_whole = all(isinstance(table[key], int) for key in ("from", "to", "step") if key in table)
    if is_whole and (is_log or all(place == int(place) for place in places)):
        return list(dict.fromkeys(int(place.to_integral_value()) for place in places))
    return list(dict.fromkeys(_written(place, unit) for place in places))


def _stepped(low: Decimal, high: Decimal, written: object, unit: str) -> list[Decimal]:
    step, other = number_and_unit(written, "step")
    if unit != other:
        if not unit or not other or UNITS[unit][0] != UNITS[other][0]:
            raise ConfigError(f"step {written!r}: its unit does not fit")
        step *= UNITS[other][1] / UNITS[unit][1]
    if step == 0 or (high - low) / step < 0:
        raise ConfigError(f"step {written!r}: does not lead from {low} to {high}")
    count = int((high - low) / step)
    if count >= MANY:
        raise ConfigError(f"the range has {count + 1:,} values; {MANY:,} are the most")
    return [low + step * index for index in range(count + 1)]


def _counted(low: Decimal, high: Decimal, count: object, is_log: bool) -> list[Decimal]:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MANY:
        raise ConfigError(f"count: a number of values is wanted, not {count!r}")
    if count == 1:
        if low != high:
            raise ConfigError("count: one value cannot be at both ends")
        return [low]
    if is_log:
        if low <= 0 or high <= 0:
            raise ConfigError("log: both ends must be greater than 0")
        ratio = math.log(high / low)
        inner = [float(low) * math.exp(ratio * index / (count - 1)) for index in range(1, count - 1)]
    else:
        inner = [float(low + (high - low) * index / (count - 1)) for index in range(1, count - 1)]
    # Six digits say where between two ends a value is.
    return [low, *(Decimal(f"{value:.6g}") for value in inner), high]


def _whole(place: Decimal, unit: str) -> Decimal:
    """Round a quantity to its smallest unit: a time to nanoseconds, a power to microwatts."""
    kind, scale = UNITS.get(unit, ("number", Decimal(1)))
    if kind in ("number", "share") or place * scale == (place * scale).to_integral_value():
        return place
    return (place * scale).to_integral_value() / scale


def _written(place: Decimal, unit: str) -> Any:
    """Write a value as a person would."""
    number = float(f"{place:.15g}")
    if not unit:
        return number
    return f"{int(number) if number == int(number) else number}{unit}"


def number_and_unit(written: object, key: str) -> tuple[Decimal, str]:
    """Split a quantity into a number and its unit, which may be none."""
    if isinstance(written, int | float) and not isinstance(written, bool):
        return Decimal(repr(written)), ""
    match = _QUANTITY.fullmatch(written) if isinstance(written, str) else None
    if match is None or (match[2] and match[2] not in UNITS):
        raise ConfigError(f"{key}: a number is wanted, with a unit or without, not {written!r}")
    return Decimal(match[1]), match[2] or ""


def quantity(written: object) -> tuple[str, Decimal] | None:
    """Read a text as a quantity: of what kind, and how much in its smallest unit; None where it is none."""
    if not isinstance(written, str):
        return None
    try:
        number, unit = number_and_unit(written, "")
    except (ConfigError, InvalidOperation):
        return None
    kind, scale = UNITS.get(unit, ("number", Decimal(1)))
    return kind, number * scale


def in_unit_of(number: str, written: str) -> Decimal | None:
    """Return a quantity in the unit that a number is kept in; None where it is of another kind."""
    found = quantity(written)
    kinds = (of for end, of in OF_NUMBERS.items() if number.endswith(end))
    kind, scale = next(kinds, ("", Decimal(1)))
    return found[1] / scale if found is not None and found[0] == kind else None


def shown(value: object) -> str:
    """Write a value for a table or a name."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        policy = value.get("policy")
        rest = ", ".join(f"{key}={shown(item)}" for key, item in value.items() if key != "policy")
        return (f"{policy}({rest})" if rest else str(policy)) if policy is not None else f"{{{rest}}}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    return str(value)


def listed(names: Iterable[str]) -> str:
    """List names, a dozen of them at most."""
    known = list(names)
    more = len(known) - _LISTED
    return ", ".join(known[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the nearest known word, or what there is, cut to a dozen."""
    known = list(known)
    said = did_you_mean(word, known)
    return f"; there is {listed(known)}" if said.startswith("; there is") else said
