"""What each operation moved, and what each of several jobs did."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ninescope.result.latency import OPS, Latencies, latency_of
from ninescope.result.stored import known_keys


@dataclasses.dataclass(frozen=True)
class Throughput:
    """What one operation moved."""

    requests: int = 0
    bytes: int = 0
    iops: float = 0.0
    """Requests per second, without those that failed."""
    bytes_per_second: float = 0.0
    failed: int = 0
    """Requests that were answered with an error, and nothing was done for them."""


@dataclasses.dataclass(frozen=True)
class WaitedFor:
    """Whom requests of a job waited for, in the mean [ns]."""

    count: int = 0
    mean_ns: float = 0.0
    """Their latency, all of which is in `parts_ns`."""
    parts_ns: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Where their time went, by cause."""
    behind_ns: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    """How much of that was a wait behind each job, by cause; a job behind which nobody waited is left out."""
    behind_drive_ns: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """How much was a wait behind what the drive did for itself, by cause."""

    def share(self, job: str | None) -> float:
        """Return the share of their time in which they waited for a job; None is the drive itself."""
        waits = self.behind_drive_ns if job is None else self.behind_ns.get(job) or {}
        return sum(waits.values()) / self.mean_ns if self.mean_ns else 0.0


@dataclasses.dataclass(frozen=True)
class WaitBand(WaitedFor):
    """The same of requests whose latency lies between two percentiles."""

    band: str = ""
    """Name of the upper end."""
    lower_ns: int = 0
    upper_ns: int = 0


@dataclasses.dataclass(frozen=True)
class JobWaits(WaitedFor):
    """The same of all requests of one operation."""

    beyond_p99: WaitBand | None = None
    """Of the slowest hundredth; None with more than 16 jobs."""
    bands: tuple[WaitBand, ...] = ()
    """By band, in the order of latency; none with more than 16 jobs."""


@dataclasses.dataclass(frozen=True)
class Arbitration:
    """How a job fared where the drive's policy chose among jobs."""

    taken_in: int = 0
    """Its commands."""
    out_of_turn: int = 0
    """Those of them before one of another job that was ready and whose turn it was."""


@dataclasses.dataclass(frozen=True)
class JobAlone:
    """What a job did alone on the drive as it was prepared for all of them."""

    requests: int = 0
    mean_ns: float = 0.0
    """Mean latency of all its requests."""
    throughput: Mapping[str, Throughput] = dataclasses.field(default_factory=dict)
    latency: Latencies = dataclasses.field(default_factory=Latencies)
    """Without histograms and intervals."""


@dataclasses.dataclass(frozen=True)
class JobResult:
    """What one of several jobs did."""

    name: str
    requests: int = 0
    bytes: int = 0
    iops: float = 0.0
    """Requests per second of `measured_ns`."""
    began_ns: int | None = None
    """When it began, or measuring did; None where it never began."""
    measured_ns: int = 0
    """The time from then to its last completion."""
    throughput: Mapping[str, Throughput] = dataclasses.field(default_factory=dict)
    """What each of its operations moved."""
    latency: Latencies = dataclasses.field(default_factory=Latencies)
    """Latency from submission to completion, without histograms and intervals."""
    waits: Mapping[str, JobWaits] = dataclasses.field(default_factory=dict)
    """Whom its requests waited for, by operation."""
    arbitration: Arbitration | None = None
    """What came of its priority and weight, on a drive that knows them."""
    partition: int | None = None
    """The number of its own among `Result.partitions`, where jobs have planes of their own."""
    waf: float | None = None
    """Write amplification in its planes; None where they are not its own, or nothing was written there."""
    alone: JobAlone | None = None
    """What it did alone on the drive, where the run was compared with that."""
    slowdown: float | None = None
    """How many times as long its requests took as they did alone; None of a starved job, too."""
    slowdown_of: str | None = None
    """By mean "latency", or by the "rate" of requests, of a closed loop that waits to be let in."""
    starved: bool = False
    """Alone it completed requests, and together not one: its slowdown is infinite."""


def waits_of(stored: Mapping[str, Any]) -> JobWaits:
    """Read whom the requests of one operation of a job waited for."""
    waits: JobWaits = known_keys(JobWaits, stored)
    tail = stored.get("beyond_p99")
    return dataclasses.replace(
        waits,
        beyond_p99=known_keys(WaitBand, tail) if tail else None,
        bands=tuple(known_keys(WaitBand, band) for band in stored.get("bands") or ()),
    )


def _throughput_of(stored: Mapping[str, Any]) -> dict[str, Throughput]:
    return {op: known_keys(Throughput, values) for op, values in stored["throughput"].items()}


def _latency_of(stored: Mapping[str, Any]) -> Latencies:
    return Latencies(**{op: latency_of(stored["latency"].get(op) or {}) for op in OPS})


def _alone_of(stored: Mapping[str, Any]) -> JobAlone:
    alone: JobAlone = known_keys(JobAlone, stored)
    return dataclasses.replace(alone, throughput=_throughput_of(stored), latency=_latency_of(stored))


def job_of(stored: Mapping[str, Any]) -> JobResult:
    """Read a job of a result."""
    job: JobResult = known_keys(JobResult, stored)
    return dataclasses.replace(
        job,
        throughput=_throughput_of(stored),
        latency=_latency_of(stored),
        arbitration=Arbitration(**stored["arbitration"]) if stored.get("arbitration") else None,
        alone=_alone_of(stored["alone"]) if stored.get("alone") else None,
        waits={op: waits_of(values) for op, values in (stored.get("waits") or {}).items()},
    )
