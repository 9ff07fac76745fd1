"""What each operation moved, and what each of several jobs did."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ninescope.result.stored import known_keys

if TYPE_CHECKING:
    pass
from ninescope.result.latency import OPS, Latencies, latency_of


@dataclasses.dataclass(frozen=True)
class Throughput:
    """What one operation moved."""

    requests: int = 0
    bytes: int = 0
    iops: float = 0.0
    bytes_per_second: float = 0.0


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


def job_of(stored: Mapping[str, Any]) -> JobResult:
    """Read a job of a result."""
    job: JobResult = known_keys(JobResult, stored)
    return dataclasses.replace(
        job,
        throughput={op: known_keys(Throughput, values) for op, values in stored["throughput"].items()},
        latency=Latencies(**{op: latency_of(stored["latency"].get(op) or {}) for op in OPS}),
    )
