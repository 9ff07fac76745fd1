"""What was in memory of a map that lies in flash: the section `map` of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class CachedMap:
    """What was in memory of a map that lies in flash, and what was read and written of it."""

    policy: str
    """What is cached: entries, pages or runs."""
    pages: int
    """Pages of the map [count]."""
    cache_bytes: int
    """What the cache took at the end [B]."""
    cache_bytes_max: int
    """What it may take [B]."""
    counters: Mapping[str, int]
    """What was counted, by name."""
    hit_ratio: float | None = None
    """The share of units looked up whose entry was in memory; None where none was looked up."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> CachedMap | None:
        """Read the map of a result; None where all of it is in memory."""
        stored = document.get("map")
        if not stored:
            return None
        known: CachedMap = known_keys(cls, stored)
        return known
