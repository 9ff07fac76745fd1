"""How long a drive lasts under what was measured, and what its media cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.result.stored import known_keys

_MEDIA = {"nand": "flash", "scm": "storage-class memory", "storage_scm": "storage-type memory"}
"""What media are called in text; others by their keys."""
_YEAR_NS = 365 * 86_400e9
_OTHER_WAF = 1.25
"""A window whose WAF differs from the declared one by this factor says little of a lifetime."""


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
    """When it counts as worn out: "mean" or "most-worn"."""
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

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Endurance | None:
        """Read the section of a result; None where nothing was measured."""
        stored = document.get("endurance")
        if not stored:
            return None
        endurance: Endurance = known_keys(cls, stored)
        return dataclasses.replace(
            endurance,
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


def facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a result about lifetime and cost, as far as they say something."""
    from ninescope.text.result import quantity

    endurance: Mapping[str, Any] = document.get("endurance") or {}
    lifetime: Mapping[str, Any] = endurance.get("lifetime") or {}
    if lifetime.get("passes") is not None:
        yield "lifetime", "; ".join([_lifetime(endurance, lifetime), *_in_steady_state(document, lifetime)])
    elif "unknown" in (lifetime.get("reason") or ""):
        yield "lifetime", lifetime["reason"]
    cost: Mapping[str, Any] = document.get("cost") or {}
    if cost.get("total") is not None:
        words = f"as much as {quantity(cost['total'] * 1e9, 'B')} of TLC flash"
        if cost.get("per_logical_gb") is not None:
            words += f", {cost['per_logical_gb']:.3g} per GB for the host"
        if cost.get("iops_per_cost") is not None:
            words += f"; {quantity(cost['iops_per_cost'])} IOPS per GB of that"
        yield "cost", words


def _in_steady_state(document: Mapping[str, Any], lifetime: Mapping[str, Any]) -> Iterator[str]:
    """Say how long it would be at the declared WAF, where the window is too short to show that one."""
    from ninescope.text.result import quantity

    steady = document.get("steady_state")
    measured = (document.get("waf") or {}).get("total")
    is_short = not document.get("steady_state_measured")
    if not (isinstance(steady, Mapping) and steady.get("converged") and measured and is_short):
        return
    declared, years = steady["waf"], lifetime.get("years")
    has_one_medium = len((document.get("endurance") or {}).get("media") or {}) == 1
    is_other = not 1 / _OTHER_WAF < declared / measured < _OTHER_WAF
    if years and has_one_medium and is_other:
        then = quantity(years * measured / declared)
        yield (
            f"THE WINDOW IS TOO SHORT FOR ITS WAF ({measured:.2f}): {then} years at that of the steady "
            f"state, {declared:.2f}"
        )


def _lifetime(endurance: Mapping[str, Any], lifetime: Mapping[str, Any]) -> str:
    from ninescope.text.result import duration, quantity

    years = lifetime["years"]
    long = f"{quantity(years)} years" if years >= 1 else duration(years * _YEAR_NS)
    words = [f"{long} at the measured rate, {quantity(lifetime['passes'])} passes"]
    if lifetime.get("dwpd") is not None:
        dwpd, over = quantity(lifetime["dwpd"]), lifetime["dwpd_years"]
        written = quantity(lifetime["host_bytes"], "B")
        words.append(f"{written} of the host, {dwpd} drive writes per day over {over:g} years")
    media: Mapping[str, Mapping[str, Any]] = endurance.get("media") or {}
    if len(media) > 1:
        words.append(f"{_MEDIA.get(lifetime['limited_by'], lifetime['limited_by'])} is worn out first")
    words += [note for medium in media.values() for note in medium.get("notes") or ()]
    return "; ".join(words)
