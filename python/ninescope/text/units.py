"""Numbers with the unit that fits them: times, sizes, shares. Nothing here knows what they are of."""

from __future__ import annotations


def duration(ns: float) -> str:
    """Write a time with the unit that fits it."""
    for unit, size in (("d", 86400e9), ("h", 3600e9)):
        if ns >= 2 * size:
            return f"{_three_digits(ns / size)} {unit}"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def quantity(value: float, unit: str = "") -> str:
    """Write a number with its prefix."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{_three_digits(value / size)} {prefix}{unit}"
    return f"{_three_digits(value)} {unit}".rstrip()


def binary(value: float) -> str:
    """Write a size in units of 1024, as sizes of requests and drives are given."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{_three_digits(value / size)} {unit}"
    return f"{value:.0f} B"


def percent(share: float) -> str:
    """Write a share in percent, small ones with the digits that they need."""
    if 0 < share < 0.001:
        return f"{share * 100:.1g}%"
    return f"{share * 100:.1f}%" if share < 0.0995 else f"{share * 100:.0f}%"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 or not value else f"{value:.2g}"
