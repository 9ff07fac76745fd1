"""What storage-class memory did and how it wore: the sections `scm` and `storage_scm` of a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ninescope.result.stored import known_keys


@dataclasses.dataclass(frozen=True)
class ScmWear:
    """Writes per sector of storage-class memory since the drive was new, spare sectors included."""

    sectors: int = 0
    sectors_written: int = 0
    writes_min: int = 0
    writes_mean: float = 0.0
    writes_max: int = 0
    writes_max_over_mean: float | None = None
    endurance_writes: int | None = None
    endurance_used: float | None = None


@dataclasses.dataclass(frozen=True)
class ScmVerify:
    """What verifying writes took, and what it left of the bit errors."""

    cycles_per_write: float | None = None
    """Further pulses per sector that was written or copied, each after a verify read."""
    reads_per_write: float | None = None
    ber_factor: float = 1.0
    """Bit errors as a share of those without verifying."""


@dataclasses.dataclass(frozen=True)
class Scm:
    """What storage-class memory did in the measured time, and how it wore."""

    wear: ScmWear
    copies_per_write: float | None
    """Sectors that wear levelling copied, per sector that the host wrote."""
    counters: Mapping[str, int]
    verify: ScmVerify | None = None
    """None where writes are not verified."""

    @classmethod
    def of(cls, document: Mapping[str, Any], key: str) -> Scm | None:
        """Read a section of a result; None where it has none."""
        stored = document.get(key)
        if not stored:
            return None
        wear: ScmWear = known_keys(ScmWear, stored.get("wear") or {})
        verified = stored.get("verify")
        verify: ScmVerify | None = known_keys(ScmVerify, verified) if verified else None
        return cls(wear, stored.get("copies_per_write"), stored.get("counters") or {}, verify)
