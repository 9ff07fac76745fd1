"""What a log of the host on the zones of a drive did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class ZoneLog:
    """A log-structured store on zones, from the first request on. All but zones is counted in blocks."""

    blocks: int
    """Blocks of the store [count]."""
    blocks_per_zone: int
    """Blocks of a zone [count]."""
    read_blocks: int
    """What the host read [count]."""
    written_blocks: int
    """What the host wrote [count]."""
    merged_blocks: int
    """Of these, those that were written in part, so that the rest was read [count]."""
    overwritten_blocks: int
    """Of those that were written, those overwritten in the random write area of their zone [count]."""
    moved_blocks: int
    """What the cleaner moved [count]."""
    cleaned_zones: int
    """Zones that the cleaner reset [count]."""
    write_amplification: float | None = None
    """Blocks that the log wrote for each of the host's, times the drive's WAF; None without writes."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> ZoneLog | None:
        """Read the section of a result; None where no requests went to a log on zones."""
        stored = document.get("zone_log")
        if not stored:
            return None
        read: ZoneLog = known_keys(cls, stored)
        return read
