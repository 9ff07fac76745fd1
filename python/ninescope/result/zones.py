"""What was asked of the zones of a drive, what they refused, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class RandomWriteAreas:
    """The random write areas of zones (ZRWA)."""

    size_bytes: int
    """What each spans behind the write pointer of its zone."""
    granularity_bytes: int
    """Write pointers move by multiples of this."""
    zones_max: int
    """How many zones may have one at a time."""
    written_units: int = 0
    """Mapping units that were written into areas."""
    overwritten_units: int = 0
    """Of these, those that took the place of what had not been committed, and never came to the media."""
    implicit_commits: int = 0
    """Writes that moved a write pointer; `Zones.commands["commit"]` counts the explicit ones."""
    committed_units: int = 0
    """Units that went from areas to the media."""
    dropped_units: int = 0
    """Units that were in an area when their zone was reset."""


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
    """Commands that were taken: write, append, reset, finish, open, close, open_zrwa, commit."""
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
    zrwa: RandomWriteAreas | None = None
    """The random write areas of zones; None where no zone can have one."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Zones | None:
        """Read the section of a result; None where the drive has no zones."""
        stored = document.get("zns")
        if not stored:
            return None
        areas = stored.get("zrwa")
        told = dict(stored) | {"zrwa": known_keys(RandomWriteAreas, areas) if areas else None}
        read: Zones = known_keys(cls, told)
        return read
