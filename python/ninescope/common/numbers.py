"""Numbers as people write them in programs: 1e6 is a whole one."""

from __future__ import annotations

from typing import Any


def whole(number: Any) -> Any:
    """Return a float that is whole as an int; everything else is judged where it is read."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def counted(count: int, noun: str) -> str:
    """Write how many there are of something: `1 point`, `2 points`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
