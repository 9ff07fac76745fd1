"""Write amplification, and whether it had settled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ninescope.result.stored import known_keys

Settled = Literal["no-drift-shown", "not-steady", "cannot-be-told"]
"""What may be said of a measured window: it shows no drift, it is not steady, or it is too short to tell."""
Reason = Literal["drift", "free-blocks", "emptied-blocks", "read-only"]
"""Why a window is not steady: its write amplification drifts, the drive programs blocks that were free and
erases fewer, or it erases more than it programs."""
STEADINESS = "steadiness"
"""What is no number, and every number hangs on: the key of a result's verdict, and its column in tables."""
REASONS = "steadiness_reasons"
"""The column of tables that says why a result is not steady."""
NOT_STEADY, UNTOLD = "not-steady", "cannot-be-told"
_LEAST_CHANGE = 0.01
"""A smaller change of write amplification is none, as the engine has it."""


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
    failed_programs: float = 0.0
    """What was programmed again, because the program had failed."""
    parity: float = 0.0
    """Pages of parity over dies."""
    rebuild: float = 0.0
    """Pages that lay on a die that failed and were written again."""


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

    @property
    def is_one(self) -> bool:
        """Say whether it is more than chance, and more than nothing."""
        return not self.low <= 0 <= self.high and abs(self.change) > _LEAST_CHANGE


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
    composed: bool = False
    """One pool was overwritten and all others were made like it: what is said is said of that pool."""


@dataclasses.dataclass(frozen=True)
class Steadiness:
    """Whether the measured window had settled."""

    verdict: Settled = "cannot-be-told"
    reasons: tuple[Reason, ...] = ()
    """Why it is not steady, all that holds; empty where it is not told to be so."""
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
        return None if self.verdict == UNTOLD else self.verdict != NOT_STEADY

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Steadiness:
        """Read it as a result stores it."""
        parts: dict[str, Any] = {"waf": tuple(stored.get("waf") or ())}
        parts |= {key: known_keys(Change, stored[key]) for key in ("drift", "start") if stored.get(key)}
        told: Steadiness = known_keys(cls, {**stored, **parts, "reasons": tuple(stored.get("reasons") or ())})
        if told.verdict == NOT_STEADY and not told.reasons:
            return dataclasses.replace(told, reasons=tuple(told._unstored()) or ("drift",))
        return told

    def _unstored(self) -> Iterator[Reason]:
        """Yield why it is not steady, of a result of a ninescope that said so in words alone."""
        if self.words.startswith("the drive "):
            yield "free-blocks" if self.erased_bytes < self.programmed_bytes else "emptied-blocks"
        if any(change is not None and change.is_one for change in (self.drift, self.start)):
            yield "drift"


def steadiness_of(document: Mapping[str, Any]) -> Settled | None:
    """Return whether the measured window of a result had settled; None where it programmed nothing."""
    verdict: Settled | None = (document.get(STEADINESS) or {}).get("verdict")
    return verdict


def is_read_only(document: Mapping[str, Any]) -> bool:
    """Say whether a result is of a drive that took no more writes, and refused some."""
    return "read-only" in Steadiness.of(document.get(STEADINESS) or {}).reasons


def reasons_of(document: Mapping[str, Any]) -> str | None:
    """Return why the measured window of a result is not steady, as tables have it; None where it is not so.

    All that holds is named: `free-blocks and drift`.
    """
    return " and ".join(Steadiness.of(document.get(STEADINESS) or {}).reasons) or None
