"""What a drive drew: energy by what it was spent on, and power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class Heat:
    """How warm a drive was since measuring began, by the ends of windows, and how it was throttled."""

    celsius: float
    """At the end of the last window."""
    highest_celsius: float
    """The most of them, or as warm as it was when measuring began."""
    highest_at_ns: int = 0
    """When that was."""
    mean_celsius: float | None = None
    """In the mean over time; None where no window is over."""
    throttles: int = 0
    """Times it began to be throttled."""
    throttled_ns: int = 0
    """Time in which it was."""
    steps: Sequence[Mapping[str, float]] = ()
    """Of each step of its throttle, above what it begins (`above_celsius`), when it ends (`until_celsius`),
    what may be drawn in it (`cap_watts`), how often the drive came to it from a lower one or from none
    (`entries`), and for how long it was the one in force (`time_ns`)."""

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Heat | None:
        """Read the section of a result; None where the drive does not warm itself."""
        read: Heat | None = known_keys(cls, stored) if stored else None
        return read


@dataclass(frozen=True)
class Energy:
    """Energy and power of a drive since measuring began, until nothing was left to do."""

    joules: float
    """All of it."""
    by_cause: Mapping[str, float]
    """Joules by what they were spent on: `idle` is what all parts draw at any time, `dram` and `cores` what
    these take beside that, the others are what dies, channels and banks are occupied with."""
    by_part: Mapping[str, float]
    """Joules by where they were spent: `at_rest`, and beside that `dies`, `channels`, `banks`, `dram` and
    `cores`."""
    elapsed_ns: int = 0
    """In this time."""
    joules_per_request: float | None = None
    """For each request that was measured; None where there was none."""
    joules_per_byte: float | None = None
    """For each byte that the host read or wrote; None where there was none."""
    average_watts: float | None = None
    """Power in the mean; None where no time passed."""
    peak_watts: float | None = None
    """The most power of any window of time, in the mean of it."""
    peak_window_ns: int | None = None
    """How long such a window is."""
    peak_begins_ns: int | None = None
    """When the one began in which most was drawn."""

    cap_watts: float | None = None
    """What may be drawn at rest and by commands of dies together; None where that is any."""

    states: Sequence[Mapping[str, float]] = ()
    """Of each state of less power, how often the drive began to enter it (`entries`), how long it was in it
    (`time_ns`), and what it drew there (`joules`, `power_watts`)."""

    heat: Heat | None = None
    """How warm it got by all that; None where that is not followed."""

    @property
    def throttled_share(self) -> float | None:
        """Return the share of the time in which it was throttled; None where heat is not followed."""
        if self.heat is None or not self.elapsed_ns:
            return None
        return self.heat.throttled_ns / self.elapsed_ns

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Energy | None:
        """Read the section of a result; None where the drive does not tell what it draws."""
        stored = document.get("energy")
        if not stored:
            return None
        read: Energy = known_keys(cls, {**stored, "heat": Heat.of(stored.get("heat"))})
        return read
