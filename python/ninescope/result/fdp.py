"""What was written by each reclaim unit handle of a drive with flexible data placement, and what it logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class ReclaimUnits:
    """What became of reclaim units."""

    reclaim_units_begun: int = 0
    """Those that a handle refers to from then on."""
    reclaim_units_filled: int = 0
    """Those that were written to their capacity."""
    reclaim_units_erased: int = 0
    """Those that were erased."""
    reclaim_units_retired: int = 0
    """Those that are used no more, because a block of theirs broke."""
    padding_units: int = 0
    """Mapping units of padding in them."""
    rewritten_units: int = 0
    """Mapping units, padding among them, that were programmed once more, because a program failed."""


@dataclass(frozen=True)
class ReclaimUnitHandle(ReclaimUnits):
    """What was written by a handle."""

    handle: int = 0
    """Its number."""
    isolation: str = ""
    """"initially-isolated" or "persistently-isolated"."""
    host_units: int = 0
    """Mapping units that the host wrote by it."""
    own_units: int = 0
    """Units of it that the drive wrote by itself, other than by moving them."""
    moved_units: int = 0
    """Units of it that garbage collection moved."""
    units_per_host_unit: float | None = None
    """Write amplification of what was written by it; None where the host wrote nothing."""
    available_units: int = 0
    """Units that can still be written by it into the reclaim units that it refers to."""


@dataclass(frozen=True)
class Fdp:
    """Flexible data placement: statistics, events and handles of a drive."""

    handles: tuple[ReclaimUnitHandle, ...]
    """Each handle, by its number."""
    shared: ReclaimUnits
    """Reclaim units that hold what was moved of all handles that are initially isolated."""
    reclaim_unit_bytes: int
    """Bytes of a reclaim unit: a block group."""
    reclaim_units: int
    """How many there are."""
    host_bytes_written: int = 0
    """Bytes that the host wrote."""
    media_bytes_written: int = 0
    """Bytes that were written to the media."""
    media_bytes_erased: int = 0
    """Bytes of the reclaim units that were erased."""
    media_reallocated: int = 0
    """Events: a reclaim unit was emptied that held something valid."""
    invalid_placement_identifiers: int = 0
    """Events: units that the host wrote with a handle that there is not."""
    victims_passed: int = 0
    """Victims that were passed over: padding might have taken what they would have given."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Fdp | None:
        """Read the section of a result; None where the drive has no handles."""
        stored = document.get("fdp")
        if not stored:
            return None
        parts = {
            "handles": tuple(known_keys(ReclaimUnitHandle, handle) for handle in stored["handles"]),
            "shared": known_keys(ReclaimUnits, stored["shared"]),
        }
        logged = {**stored.get("statistics", {}), **stored.get("events", {})}
        read: Fdp = known_keys(cls, {**stored, **logged, **parts})
        return read
