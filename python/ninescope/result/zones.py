"""What was asked of the zones of a drive, what they refused, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class Zones:
    """The zones of a drive (NVMe ZNS)."""

    zones: int
    """How many there are."""
    zone_bytes: int
    """From the beginning of one to that of the next."""
    zone_capacity_bytes: int
    """What each takes."""
    open_zones_max: int
    """How many may be open at a time."""
    active_zones_max: int
    """How many may be open or closed at a time."""
    commands: Mapping[str, int] = field(default_factory=dict)
    """Commands that were taken: write, append, reset, finish, open, close."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Commands that completed with an error, by its name."""
    states: Mapping[str, int] = field(default_factory=dict)
    """How many zones are in each state at the end."""
    implicit_opens: int = 0
    """Zones that a write opened."""
    implicit_closes: int = 0
    """Zones that the drive closed, to open another one."""
    zones_filled: int = 0
    """Zones that were written to their end."""
    dropped_units: int = 0
    """Mapping units that were in the controller when their zone was reset, and never came to the media."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Zones | None:
        """Read the section of a result; None where the drive has no zones."""
        stored = document.get("zns")
        if not stored:
            return None
        read: Zones = known_keys(cls, stored)
        return read
