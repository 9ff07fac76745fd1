"""What a map of blocks came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BlockMap:
    """What was merged in the measured window, and what such a map takes."""

    policy: str
    """The scheme: `block`, `bast` or `fast`."""
    switch_merges: int
    """Log blocks that took the place of the data block as they were [count]."""
    partial_merges: int
    """Log blocks that did so when they had been filled up from it [count]."""
    full_merges: int
    """Logical blocks whose pages were copied into a free block [count]."""
    pages_copied: int
    """Pages that merges copied [count]."""
    full_merges_per_log_block: float | None
    """Of `fast`: in how many logical blocks a random log block ended in the mean; None where none was."""
    map_bytes: int
    """What the map takes in memory [B]."""
    page_map_bytes: int
    """What a map by page would take [B]."""


def block_map_of(document: Mapping[str, Any]) -> BlockMap | None:
    """Read what was merged; None where the map is one of pages."""
    stored = document.get("block_map")
    if stored is None:
        return None
    merges = stored["merges"]
    return BlockMap(
        policy=stored["policy"],
        switch_merges=merges["switch"],
        partial_merges=merges["partial"],
        full_merges=merges["full"],
        pages_copied=stored["pages_copied"],
        full_merges_per_log_block=stored["full_merges_per_log_block"],
        map_bytes=stored["map_bytes"],
        page_map_bytes=stored["page_map_bytes"],
    )
