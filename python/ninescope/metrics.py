"""The numbers of a result by name: columns of tables, axes of plots, what a search minimises or bounds.

Names end with their unit, as in `Result.to_polars()`: `read_p99.9_ns`, `waf_total`, `lifetime_years`. What
was not measured is None, and so is a percentile that too few samples stand behind. No number depends on the
wall clock.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ninescope.catalogue import did_you_mean

if TYPE_CHECKING:
    from ninescope.result import Latency, Result

Metrics = dict[str, float | int | None]

OPS = ("read", "write")
PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")
_WAF = ("total", "host", "migration", "gc", "wear", "padding", "map")

NAMES: tuple[str, ...] = (
    "requests",
    "simulated_ns",
    "iops",
    "bytes_per_second",
    *(
        f"{op}_{name}"
        for op in OPS
        for name in (
            "iops",
            "bytes_per_second",
            "mean_ns",
            *(f"p{percent}_ns" for percent in PERCENTILES),
            "max_ns",
        )
    ),
    *(f"waf_{part}" for part in _WAF),
    "erases",
    "suspensions",
    "die_utilisation",
    "hit_ratio",
    "failed_codewords",
    "lifetime_years",
    "lifetime_passes",
    "dwpd",
    "cost_total",
    "cost_per_logical_gb",
    "iops_per_cost",
)
"""All of them, in the order of columns."""


@dataclasses.dataclass(frozen=True)
class Unit:
    """How a number is shown."""

    label: str
    scale: float = 1.0
    """What it is multiplied with for that."""


def metrics_of(result: Result) -> Metrics:
    """Return every number of a result, in the order of `NAMES`."""
    document = result.document
    found: Metrics = dict.fromkeys(NAMES)
    found["requests"] = result.requests
    found["simulated_ns"] = result.simulated_ns
    moved = result.throughput
    found["iops"] = sum(of.iops for of in moved.values())
    found["bytes_per_second"] = sum(of.bytes_per_second for of in moved.values())
    for op in OPS:
        if op in moved:
            found[f"{op}_iops"] = moved[op].iops
            found[f"{op}_bytes_per_second"] = moved[op].bytes_per_second
        found |= _latency(op, getattr(result.latency, op))
    waf: Mapping[str, Any] = document.get("waf") or {}
    found |= {f"waf_{part}": waf.get(part) for part in _WAF}
    found["erases"] = (document.get("operations") or {}).get("erases")
    found["suspensions"] = (document.get("suspension") or {}).get("suspensions")
    found["die_utilisation"] = ((document.get("utilisation") or {}).get("dies") or {}).get("mean")
    if result.tier is not None:
        found["hit_ratio"] = result.tier.hit_ratio
    if result.reliability is not None:
        found["failed_codewords"] = sum(use.failed_codewords for use in result.reliability.codes.values())
    if result.endurance is not None:
        life = result.endurance.lifetime
        found |= {"lifetime_years": life.years, "lifetime_passes": life.passes, "dwpd": life.dwpd}
    if result.cost is not None:
        cost = result.cost
        found["cost_total"] = cost.total
        found["cost_per_logical_gb"] = cost.per_logical_gb
        found["iops_per_cost"] = cost.iops_per_cost
    return {name: value if value is None or math.isfinite(value) else None for name, value in found.items()}


def _latency(op: str, latency: Latency) -> Metrics:
    if not latency.count:
        return {}
    enough = {key: value for key, value in latency.percentiles_ns.items() if key not in latency.insufficient}
    return {
        f"{op}_mean_ns": latency.mean_ns,
        f"{op}_max_ns": latency.max_ns,
        **{f"{op}_p{key}_ns": enough.get(key) for key in PERCENTILES},
    }


def checked(name: str) -> str:
    """Return the name of a number; a mistyped one is answered with the nearest."""
    from ninescope._native import ConfigError

    if name not in NAMES:
        raise ConfigError(f"no result has a number {name!r}{did_you_mean(name, NAMES)}")
    return name


def unit(name: str) -> Unit:
    """Say how a number is shown: times in microseconds, shares in percent."""
    words = name.replace("_", " ").replace("waf", "WAF").replace("iops", "IOPS").replace(" gb", " GB")
    if name == "simulated_ns":
        return Unit("simulated time [s]", 1e-9)
    if name.endswith("_ns"):
        return Unit(f"{words.removesuffix(' ns')} [us]", 1e-3)
    if name.endswith("bytes_per_second"):
        return Unit(f"{words.removesuffix('bytes per second')}throughput [MB/s]", 1e-6)
    if name.endswith("_years"):
        return Unit(f"{words.removesuffix(' years')} [years]")
    if name in ("die_utilisation", "hit_ratio"):
        return Unit(f"{words} [%]", 100)
    return Unit(words)
