"""What blocks of one bit in a cell took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SlcCache:
    """What the host wrote to such blocks in the measured window, and what was folded out of them."""

    block_bytes: int
    """What a block takes with one bit in a cell [B]."""
    blocks_max: int
    """How many there may be on the drive [count]."""
    blocks_in_use: int
    """How many there are at the end [count]."""
    written_bytes: int
    """What the host wrote to them [B]."""
    past_bytes: int
    """What it wrote to others [B]."""
    folded_bytes: int
    """What was moved out of them [B]."""
    folded_blocks: int
    """How many were folded [count]."""


def slc_cache_of(document: Mapping[str, Any]) -> SlcCache | None:
    """Read what they took; None where a drive has none."""
    stored = document.get("slc_cache")
    return None if stored is None else SlcCache(**stored)
