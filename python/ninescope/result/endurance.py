"""How long a drive lasts under what was measured, and what its media cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ninescope.result.stored import known_keys


@dataclasses.dataclass(frozen=True)
class Spread:
    """Erases per block, or writes per sector, in the measured window."""

    min: int = 0
    mean: float = 0.0
    p50: int = 0
    p90: int = 0
    p99: int = 0
    max: int = 0
    max_over_mean: float | None = None
    """How uneven it is: 1 is level; None where nothing is worn."""


@dataclasses.dataclass(frozen=True)
class MediumEndurance:
    """How long one medium bears the measured window, repeated from new."""

    unit: str = ""
    """What wears out as one: "block" (by its erases) or "sector" (by its writes)."""
    units: int = 0
    raw_bytes: int = 0
    rated: int | None = None
    """Rated P/E cycles of a block or writes of a sector."""
    bytes_written: int = 0
    """What was written to it in the window, for whatever reason."""
    write_amplification: float | None = None
    """The same per byte that the host wrote to the drive."""
    per_unit_day: float | None = None
    """Mean P/E cycles of a block or writes of a sector in a day at the measured rate."""
    wear: Spread = Spread()
    used: float | None = None
    """What the most worn unit has used up of its rating since it was new."""
    life_by: str = ""
    """When it counts as worn out: "mean", "most-worn", or "read-only" where each block bears its own."""
    passes: float | None = None
    """How often the window can be repeated until then; None with a `reason`."""
    passes_of_mean: float | None = None
    passes_of_most_worn: float | None = None
    years: float | None = None
    """How long `passes` take at the measured rate."""
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> MediumEndurance:
        """Read the entry of a medium."""
        read: MediumEndurance = known_keys(cls, stored)
        wear: Spread = known_keys(Spread, stored["wear"])
        return dataclasses.replace(read, wear=wear, notes=tuple(stored["notes"]))


@dataclasses.dataclass(frozen=True)
class Lifetime:
    """How long the drive lasts: as long as the first of its media."""

    limited_by: str | None = None
    """The medium that is worn out first."""
    passes: float | None = None
    """How often the measured window can be repeated until then; None with a `reason`."""
    years: float | None = None
    """How long that takes at the measured rate."""
    host_bytes: float | None = None
    """What the host can write until then."""
    dwpd: float | None = None
    """How often the host can write the whole drive on each day of `dwpd_years`."""
    dwpd_years: float = 5.0
    reason: str | None = None

    def dwpd_over(self, years: float) -> float | None:
        """Return drive writes per day over so many years instead of `dwpd_years`."""
        return None if self.dwpd is None else self.dwpd * self.dwpd_years / years


@dataclasses.dataclass(frozen=True)
class WearOut:
    """What the cycles that its blocks bear make of a drive, where wear is level."""

    first_cycles: int = 0
    """Cycles that the weakest block group bears."""
    read_only_cycles: int = 0
    """Cycles of the good blocks when the drive has too few of them left for more writes."""
    passes_to_first: float | None = None
    """How often the measured window can be repeated until the first block is worn out."""
    passes_to_read_only: float | None = None
    """How often until the drive takes no more writes."""
    years_to_read_only: float | None = None
    """How long that takes at the measured rate."""


@dataclasses.dataclass(frozen=True)
class Endurance:
    """How long the drive lasts under the measured workload, by medium and in all."""

    method: str
    """How the figures come about."""
    window_ns: int
    """The measured time."""
    host_bytes: int
    """What the host wrote in it."""
    media: Mapping[str, MediumEndurance]
    lifetime: Lifetime
    wear_out: WearOut | None = None
    """Of a drive each of whose blocks bears its own number of cycles."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Endurance | None:
        """Read the section of a result; None where nothing was measured."""
        stored = document.get("endurance")
        if not stored:
            return None
        endurance: Endurance = known_keys(cls, stored)
        wear_out = stored.get("wear_out")
        return dataclasses.replace(
            endurance,
            wear_out=None if wear_out is None else known_keys(WearOut, wear_out),
            media={name: MediumEndurance.of(entry) for name, entry in stored["media"].items()},
            lifetime=known_keys(Lifetime, stored["lifetime"]),
        )


@dataclasses.dataclass(frozen=True)
class MediumCost:
    """What one medium costs."""

    raw_bytes: int = 0
    """Bytes that are paid for, over-provisioning and spare sectors included."""
    bit_cost: float | None = None
    """Cost of a bit, that of TLC flash being 1."""
    cost: float | None = None
    """In GB of TLC flash."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What the drive's media cost, in GB (1e9 B) of TLC flash, and what they give for it."""

    media: Mapping[str, MediumCost]
    total: float | None = None
    per_logical_gb: float | None = None
    """Per GB that the host can address."""
    iops_per_cost: float | None = None
    """Requests per second of the measured time, per unit of cost."""
    reason: str | None = None
    """Why there is no `total`."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Cost | None:
        """Read the section of a result; None where nothing was measured."""
        stored = document.get("cost")
        if not stored:
            return None
        media = {name: known_keys(MediumCost, medium) for name, medium in stored["media"].items()}
        cost: Cost = known_keys(cls, stored | {"media": media})
        return cost
