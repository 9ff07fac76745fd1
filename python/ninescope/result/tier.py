"""What lay where on a drive of two media, and what moved: the section `tier` of a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass


CLASSES = ("hot_random", "hot_sequential", "cold_random", "cold_sequential")
"""Classes of accesses: of hot or cold pages, in random or sequential requests."""
MIGRATIONS = {
    "evicted_dirty": "copied down",
    "evicted_clean": "dropped clean",
    "evictions_kept": "copied down and kept, because they were written meanwhile",
    "copied_up": "copied up",
    "moved_up": "moved up",
    "fetched_on_write": "completed after a write",
    "fetched_ahead": "fetched ahead of a read",
    "evicted_at_rest": "copied down as the host rested",
}
"""What happened to pages, by counter."""


@dataclasses.dataclass(frozen=True)
class ClassBytes:
    """Host bytes of one class of accesses, by operation and medium."""

    read_upper: int = 0
    read_lower: int = 0
    written_upper: int = 0
    written_lower: int = 0

    @property
    def upper_share(self) -> float | None:
        """The share that the upper medium served; None without any bytes."""
        total = self.read_upper + self.read_lower + self.written_upper + self.written_lower
        return (self.read_upper + self.written_upper) / total if total else None


@dataclasses.dataclass(frozen=True)
class Tier:
    """The upper medium of a drive of two, in the measured time."""

    placement: str
    slots: int
    pages: int
    """Pages of the host."""
    slots_holding: int
    """Slots that held a page at the end."""
    slots_dirty: int
    hit_ratio: float | None
    """Pages of host requests that were found above, of all."""
    bytes: Mapping[str, ClassBytes]
    counters: Mapping[str, Any]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Tier | None:
        """Read the tier of a result; None for a drive of one medium."""
        stored = document.get("tier")
        if not stored:
            return None
        by_class = {name: ClassBytes(**stored["bytes"][name]) for name in CLASSES}
        return cls(
            placement=stored["placement"],
            slots=stored["slots"],
            pages=stored["pages"],
            slots_holding=stored["slots_holding"],
            slots_dirty=stored["slots_dirty"],
            hit_ratio=stored["hit_ratio"],
            bytes=by_class,
            counters=stored["counters"],
        )
