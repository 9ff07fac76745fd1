"""Blocks that broke, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class BadBlocks:
    """What failed in the measured window, which blocks are left out, and whether the drive takes writes."""

    program_failures: int = 0
    """Page programs that failed [count]."""
    erase_failures: int = 0
    """Erases of block groups that failed [count]."""
    worn_out_groups: int = 0
    """Block groups of which a block had as many cycles as it bears [count]."""
    retired_blocks: int = 0
    """Blocks that were retired, for whatever reason [count]."""
    blocks_of_group: int = 1
    """Blocks that are retired together [count]."""
    bad_blocks: int = 0
    """Blocks in the table of bad blocks, those that were bad from the start included [count]."""
    spare_blocks_left: int = 0
    """Blocks that the plane group with fewest to spare may lose before the drive is read-only [count]."""
    pages_programmed_again: int = 0
    """Pages that were programmed elsewhere, because a program of their block had failed [count]."""
    pages_kept: int = 0
    """Pages that found no place to be programmed again, and stay in the controller [count]."""
    refused_commands: int = 0
    """Commands that were answered with an error, because the drive takes no more writes [count]."""
    read_only: bool = False
    """The drive takes no more writes."""
    table: tuple[tuple[int, int, int], ...] = ()
    """The table of bad blocks: die, plane within it, and number within the plane."""


def bad_blocks_of(document: Mapping[str, Any]) -> BadBlocks | None:
    """Read what broke; None where nothing can."""
    stored = document.get("bad_blocks")
    if stored is None:
        return None
    table = tuple((die, plane, block) for die, plane, block in stored.get("table") or ())
    read: BadBlocks = known_keys(BadBlocks, {**stored, "table": table})
    return read
