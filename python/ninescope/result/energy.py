"""What a drive drew: energy by what it was spent on, and power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


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

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Energy | None:
        """Read the section of a result; None where the drive does not tell what it draws."""
        stored = document.get("energy")
        if not stored:
            return None
        read: Energy = known_keys(cls, stored)
        return read
