"""How well one trace stands in for another: both side by side, as they are and as a drive serves them."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ninescope.simulation.drive import Drive
from ninescope.simulation.traces import trace_stat
from ninescope.simulation.workload import Workload
from ninescope.text.units import binary, duration, quantity
from ninescope.toml import loads

QUEUE_DEPTH = 16
"""Requests in flight when a drive is asked how fast it serves the traces."""
FEW_TAIL = 1000
"""Requests below which a 99th percentile says little."""
TIMES = 10
"""Differences from here on are written as a factor."""
ROOM = 1.25
"""What a drive holds that is sized to a trace, in footprints of it."""
LEAST_BLOCKS = 64
"""Blocks per plane that a drive needs to collect garbage."""
FEW_REWRITES = 100
"""Rewritten pages below which their intervals say little."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One property of two traces."""

    name: str
    original: float | None
    other: float | None
    is_share: bool = False
    """Whether they are shares, whose difference counts as it is."""
    few: bool = False
    """Whether there are too few events behind it."""

    @property
    def difference(self) -> float | None:
        """The difference: relative, of shares absolute; None where there is none to tell."""
        if self.original is None or self.other is None:
            return None
        if self.is_share:
            return self.other - self.original
        return None if self.original == 0 else self.other / self.original - 1


def compare(
    original: str | os.PathLike[str], other: str | os.PathLike[str], *, drive: Drive | None = None
) -> list[Row]:
    """Compare two traces; with a `drive`, also what it makes of them.

    The drive is sized to the original and serves both in a closed loop with `QUEUE_DEPTH` requests in flight.
    It is full at first, and what they touch lies next to each other.
    """
    one, two = trace_stat(original), trace_stat(other)
    rows = _properties(one, two)
    if drive is not None:
        rows += _served(original, other, sized(drive, one["footprint_bytes"]))
    return rows


def _properties(one: dict[str, Any], two: dict[str, Any]) -> list[Row]:
    few = min(stat["rewrite_interval"]["count"] for stat in (one, two)) < FEW_REWRITES
    total = (
        "requests",
        "duration_ns",
        "read_bytes",
        "write_bytes",
        "footprint_bytes",
        "written_footprint_bytes",
    )
    rows = [Row(key, one[key], two[key]) for key in total]
    rows.append(Row("rewrite_ratio", one["rewrite_ratio"], two["rewrite_ratio"], is_share=True))
    share = "top_1_percent_write_share"
    rows.append(Row(share, one[share], two[share], is_share=True))
    for quantile in ("p50_ns", "p90_ns", "p99_ns"):
        first, second = (stat["rewrite_interval"][quantile] for stat in (one, two))
        rows.append(Row(f"rewrite_interval_{quantile}", first, second, few=few))
    rows.append(Row("rewrite_interval_gap", 0.0, _gap(*_intervals(one, two)), is_share=True, few=few))
    rows.append(Row("lru_miss_ratio_gap", 0.0, _gap(*_miss_ratios(one, two)), is_share=True))
    return rows


def _intervals(*stats: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the distributions of rewrite intervals as steps: where, and the share up to there."""
    steps = []
    for stat in stats:
        points = np.array(stat["rewrite_interval"]["cumulative"], dtype=float).reshape(-1, 2)
        steps.append((points[:, 0], points[:, 1] / max(stat["rewrite_interval"]["count"], 1)))
    return steps


def _miss_ratios(*stats: dict[str, Any]) -> list[tuple[Any, Any]]:
    curves = [np.array(stat["reuse"]["miss_ratio"], dtype=float).reshape(-1, 2) for stat in stats]
    return [(curve[:, 0], 1 - curve[:, 1]) for curve in curves]


def _gap(one: tuple[Any, Any], two: tuple[Any, Any]) -> float | None:
    """Return the largest distance between two rising step functions."""
    places = np.union1d(one[0], two[0])
    if not len(one[0]) or not len(two[0]):
        return None

    def at(steps: tuple[Any, Any]) -> Any:
        index = np.searchsorted(steps[0], places, side="right")
        return np.concatenate([[0.0], steps[1]])[index]

    return float(np.max(np.abs(at(one) - at(two))))


def _served(original: str | os.PathLike[str], other: str | os.PathLike[str], drive: Drive) -> list[Row]:
    results = []
    for trace in (original, other):
        workload = Workload.trace(trace, closed_loop=True, iodepth=QUEUE_DEPTH, addresses="compact")
        results.append(drive.run(workload, prefill="full"))
    one, two = (sum(moved.iops for moved in result.throughput.values()) for result in results)
    rows = [Row("simulated_iops", one, two)]
    for op in ("read", "write"):
        first, second = (getattr(result.latency, op) for result in results)
        few = min(first.count, second.count) < FEW_TAIL
        if min(first.count, second.count):
            rows.append(Row(f"simulated_{op}_p99_ns", first.percentile(99), second.percentile(99), few=few))
    rows.append(Row("simulated_waf", results[0].waf.total, results[1].waf.total))
    return rows


def sized(drive: Drive, footprint_bytes: int) -> Drive:
    """Give a drive the blocks for a footprint and a quarter of it, so that a larger stand-in fits too."""
    resolved = loads(drive.resolve())
    geometry, ftl = resolved["geometry"], resolved["ftl"]
    planes = math.prod(
        geometry[key] for key in ("channels", "packages_per_channel", "dies_per_package", "planes_per_die")
    )
    block = planes * geometry["pages_per_block"] * _bytes(geometry["page_size"])
    blocks = math.ceil(ROOM * footprint_bytes * (1 + ftl["over_provisioning"]) / block)
    return drive.with_({"geometry.blocks_per_plane": max(blocks, LEAST_BLOCKS)})


def _bytes(size: int | str) -> int:
    """Read a size as a resolved drive writes it."""
    text = str(size)
    return int(text.removesuffix("KiB")) << 10 if text.endswith("KiB") else int(text)


NAMES = {
    "requests": "requests",
    "duration_ns": "duration",
    "read_bytes": "read",
    "write_bytes": "written",
    "footprint_bytes": "footprint",
    "written_footprint_bytes": "footprint written",
    "rewrite_ratio": "rewrite ratio",
    "top_1_percent_write_share": "writes to top 1 % of pages",
    "rewrite_interval_p50_ns": "rewrite interval p50",
    "rewrite_interval_p90_ns": "rewrite interval p90",
    "rewrite_interval_p99_ns": "rewrite interval p99",
    "rewrite_interval_gap": "rewrite intervals, largest gap",
    "lru_miss_ratio_gap": "LRU miss ratio, largest gap",
    "simulated_iops": "IOPS served",
    "simulated_read_p99_ns": "read p99 served",
    "simulated_write_p99_ns": "write p99 served",
    "simulated_waf": "WAF",
}
"""What the properties of two traces are called."""


def as_text(rows: Iterable[Row], original: str, other: str) -> str:
    """Write two traces side by side."""
    lines = [("", original, other, "difference"), *(_line(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    text = [
        f" {line[0]:<{widths[0]}}  " + "  ".join(f"{line[i]:>{widths[i]}}" for i in (1, 2, 3))
        for line in lines
    ]
    if any(row.few for row in rows):
        text.append("  * too few events to compare")
    return "\n".join(line.rstrip() for line in text)


def _line(row: Row) -> tuple[str, str, str, str]:
    difference = row.difference
    shown = "" if difference is None else difference_as_text(row)
    is_gap = row.name.endswith("_gap")
    one, two = ("" if is_gap else _value(row.name, value) for value in (row.original, row.other))
    return NAMES.get(row.name, row.name), one, two, shown + ("*" if row.few else "")


def difference_as_text(row: Row) -> str:
    """Write a difference: in percent, that of shares in points."""
    if row.difference is None:
        return "-"
    if row.is_share:
        return f"{row.difference * 100:+.1f} points"
    return f"{row.difference:+.1%}" if row.difference < TIMES else f"{row.difference + 1:.3g} x"


def _value(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name.endswith("_ns"):
        return duration(value)
    if "bytes" in name:
        return binary(int(value))
    if name in ("rewrite_ratio", "top_1_percent_write_share"):
        return f"{value:.1%}"
    return quantity(value) if value >= 1000 else f"{value:.3g}"
