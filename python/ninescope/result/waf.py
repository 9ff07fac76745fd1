"""Write amplification, and whether it had settled."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

Settled = Literal["no-drift-shown", "not-steady", "cannot-be-told"]
"""What may be said of a measured window: it shows no drift, it drifts, or it is too short to tell."""
VERDICTS: tuple[Settled, ...] = get_args(Settled)


@dataclasses.dataclass(frozen=True)
class Waf:
    """Write amplification: bytes programmed to flash per byte that the host wrote, by who asked for them."""

    total: float = 0.0
    """The sum of the others."""
    host: float = 0.0
    """What the host wrote itself: 1, and less where a tier above flash took some of it."""
    partial_writes: float = 0.0
    """What else is in the mapping units that it wrote in part."""
    migration: float = 0.0
    gc: float = 0.0
    scrub: float = 0.0
    wear: float = 0.0
    padding: float = 0.0
    map: float = 0.0


@dataclasses.dataclass(frozen=True)
class Change:
    """By how much a number changed: 0.1 is 10 % more."""

    change: float = 0.0
    low: float = 0.0
    high: float = 0.0
    """The ends of its interval."""
    level: float = 0.995
    """The level of the interval: that at which a drift is told."""
    p: float = 1.0
    """How often chance alone shows as much."""


@dataclasses.dataclass(frozen=True)
class Steadiness:
    """Whether the measured window had settled."""

    verdict: Settled = "cannot-be-told"
    words: str = ""
    """In a sentence, with the trend."""
    drift: Change | None = None
    """Of write amplification from beginning to end; None where the window is too short for that."""
    start: Change | None = None
    """From its first tenth to the others."""
    waf: tuple[float, ...] = ()
    """Write amplification of each tenth of what the host wrote."""
    programmed_bytes: int = 0
    erased_bytes: int = 0

    @property
    def is_steady(self) -> bool | None:
        """Say whether no drift shows; None where that cannot be told."""
        return None if self.verdict == "cannot-be-told" else self.verdict != "not-steady"
