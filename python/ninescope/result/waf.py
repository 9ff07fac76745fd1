"""Write amplification, and whether it had settled."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

Settled = Literal["no-drift-shown", "not-steady", "cannot-be-told"]
"""What may be said of a measured window: it shows no drift, it drifts, or it is too short to tell."""
STEADINESS = "steadiness"
"""What is no number, and every number hangs on: the key of a result's verdict, and its column in tables."""


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
class MeasuredWaf:
    """The measured write amplification beside the one that preparing declared."""

    as_declared: bool = False
    """Whether the two are apart by no more than both are uncertain, and 1 %."""
    waf: float = 0.0
    waf_low: float = 0.0
    waf_high: float = 0.0
    """The ends of its interval."""
    level: float = 0.995


@dataclasses.dataclass(frozen=True)
class SteadyState:
    """What preparing a drive to a steady state came to (`prefill="steady"`, `"steady-uniform"`).

    Whether the run itself was steady is another question: `Result.steadiness` answers that.
    """

    by: Literal["uniform", "workload"] = "uniform"
    """Who overwrote it: random writes, all addresses alike, or the workload's own."""
    converged: bool = False
    """Whether it settled; otherwise the limit of drive writes was reached."""
    drive_writes: float = 0.0
    """Overwrites, in multiples of the logical space."""
    replays: float | None = None
    """How often a trace was replayed for that; None for other workloads."""
    unreached: float = 0.0
    """The share of the garbage at the end that lies in blocks which overwriting never erased."""
    waf: float = 0.0
    """The write amplification that is declared."""
    waf_low: float = 0.0
    waf_high: float = 0.0
    """The ends of its 95 % interval."""
    window_waf: tuple[float, ...] = ()
    """Write amplification of each window of the overwriting."""
    measured: MeasuredWaf | None = None
    """What the run measured; None where the two cannot be compared."""


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


def steadiness_of(document: Mapping[str, Any]) -> Settled | None:
    """Return whether the measured window of a result had settled; None where it programmed nothing."""
    verdict: Settled | None = (document.get(STEADINESS) or {}).get("verdict")
    return verdict
