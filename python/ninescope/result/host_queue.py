"""The wait in the host: what the drive's queue was full of, what was busiest, whether the drive kept up.

It is the section `host_queue` of a result. The wait itself has no cause inside the drive; what the commands
were busy with that held the queue's slots meanwhile, and which resource was saturated, has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ninescope.result.stored import known_keys

CAUSE = "host_queue"
_MATTERS = 0.1


@dataclasses.dataclass(frozen=True)
class Holder:
    """The commands of one operation that completed while a request waited in the host for their slot."""

    commands: int = 0
    mean_ns: float = 0.0
    """How long one of them was in the device."""
    parts_ns: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Mean time of one of them in the device, by cause."""


@dataclasses.dataclass(frozen=True)
class Resource:
    """The busiest of one kind of resource, over the measured time or that of an overload."""

    kind: str
    """One of die, channel, SCM bank, SCM channel, host link in, host link out, controller, write buffer."""
    busy: float
    """The share of the time in which it was busy; of the write buffer, in which a write found no room."""
    mean: float
    """The same of all of its kind, on average."""
    count: int = 1
    """How many there are of its kind."""
    index: int | None = None
    """Which of them it is."""

    @property
    def name(self) -> str:
        """Its kind and its number."""
        return self.kind if self.index is None else f"{self.kind} {self.index}"


@dataclasses.dataclass(frozen=True)
class Overload:
    """Arrivals that the drive did not keep up with, to the end of the run."""

    load: float | None = None
    """Arrivals per completion; None where all arrived at one instant."""
    arrivals_per_second: float | None = None
    completions_per_second: float | None = None
    since_ns: int = 0
    """When requests began to fall behind, in simulated time."""
    until_ns: int = 0
    """When the last of them arrived."""
    age_ns: int = 0
    """How old those were when they completed."""
    time_scale: float | None = None
    """The time scale of the trace that would bring the load to 0.9; None of jobs, and of one instant."""
    rate_iops: float | None = None
    """The rate of the job that would do so; None of what has no rate of its own."""
    write_rate_iops: float | None = None
    """The same of its writes, where they have a rate of their own."""
    rate: float | None = None
    """The same of a rate in bytes [B/s]."""
    write_rate: float | None = None
    job: str | None = None
    """The job whose requests they were, where there are several."""
    resources: tuple[Resource, ...] = ()
    """The busiest of each kind from `since_ns` to the last completions, busiest first."""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Overload:
        """Read an entry of a result."""
        resources = tuple(known_keys(Resource, resource) for resource in stored.get("resources", ()))
        overload: Overload = known_keys(cls, {**stored, "resources": resources})
        return overload


@dataclasses.dataclass(frozen=True)
class Undecided:
    """Completions that went on for long after the last arrival, of a run in which no overload shows."""

    arrivals_ns: int
    """From the first arrival to the last."""
    drain_ns: int
    """From the last arrival to the last completion."""
    job: str | None = None
    """The job whose requests they were, where there are several."""


@dataclasses.dataclass(frozen=True)
class HostQueue:
    """What there is to know of the wait in the host."""

    share: Mapping[str, float]
    """Its share of the time of all requests, by operation."""
    holders: Mapping[str, Holder]
    """Who held the slots that others waited for, by operation; empty where nobody waited."""
    resources: tuple[Resource, ...]
    """The busiest of each kind, busiest first."""
    overload: tuple[Overload, ...]
    """The arrivals that the drive did not keep up with; empty where none are known."""
    undecided: tuple[Undecided, ...] = ()
    """Those of which the run is too short to say whether the drive kept up."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> HostQueue | None:
        """Read the section of a result; None where nothing was run."""
        stored = document.get("host_queue")
        if not stored:
            return None
        return cls(
            share=stored["share"],
            holders={op: known_keys(Holder, holder) for op, holder in stored["holders"].items()},
            resources=tuple(known_keys(Resource, resource) for resource in stored["resources"]),
            overload=tuple(map(Overload.of, stored["overload"])),
            undecided=tuple(known_keys(Undecided, left) for left in stored.get("undecided", ())),
        )

    @property
    def kept_up(self) -> bool:
        """Whether the drive kept up with its arrivals, as far as the run tells."""
        return not self.overload and not self.undecided

    @property
    def matters(self) -> bool:
        """Whether requests of some operation spent a tenth of their time in the host's queue."""
        return any(share >= _MATTERS for share in self.share.values())

    def held_by(self) -> dict[tuple[str, str], float]:
        """Return who held the awaited slots: shares of the time by operation and cause, largest first."""
        times = {
            (op, cause): holder.commands * time
            for op, holder in self.holders.items()
            for cause, time in holder.parts_ns.items()
        }
        total = sum(times.values())
        ordered = sorted(times.items(), key=lambda entry: (-entry[1], entry[0]))
        return {who: time / total for who, time in ordered if total}
