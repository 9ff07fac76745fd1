"""What drives, workloads, operations and bands are called, everywhere the same.

Nothing here knows how a name is shown.
"""

from __future__ import annotations

from typing import Any

from ninescope.result import PERCENTILES, Band, Result


def drive_name(result: Result) -> str:
    """Name the drive of a result."""
    config: dict[str, Any] = result.document.get("config") or {}
    return str(config.get("name") or "the configured drive")


def workload_name(result: Result) -> str:
    """Name the workload of a result."""
    workload: dict[str, Any] = result.document.get("workload") or {}
    path = workload.get("path")
    if path:
        return "standard input" if path == "-" else str(path).rsplit("/", 1)[-1]
    if workload.get("jobs"):
        return f"{len(workload['jobs'])} jobs"
    job: dict[str, Any] | None = workload.get("job")
    if not job:
        return "workload"
    reads = f" {job['rwmixread']}% reads" if job.get("rw") in ("rw", "readwrite", "randrw") else ""
    how = f"{job['rate_iops']:g} IOPS" if job.get("rate_iops") else f"qd{job.get('iodepth', 1)}"
    how = str(job.get("rate") or how)
    return f"{job.get('rw')}{reads} {job.get('bs')} {how}"


def plural(op: str) -> str:
    """Name the requests of an operation."""
    return f"{op}es" if op == "flush" else f"{op}s"


def band_ranges(bands: tuple[Band, ...]) -> list[str]:
    """Say from which percentile to which the bands reach; the last one reaches to the slowest request."""
    edges = ["min", *(f"p{key}" for key in PERCENTILES)]
    starts = dict(zip([*edges[1:], "max"], edges, strict=True))
    ends = [*(band.name for band in bands[:-1]), "max"]
    return [f"{starts.get(band.name, '')}-{end}" for band, end in zip(bands, ends, strict=True)]


def reaches(bands: tuple[Band, ...]) -> dict[str, str]:
    """Return from where to where each band reaches, by its name."""
    return dict(zip((band.name for band in bands), band_ranges(bands), strict=True))


def occupancy_name(name: str) -> str:
    """Write what a die is occupied with."""
    return name.replace("_", " ").replace("gc ", "GC ")
