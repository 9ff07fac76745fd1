"""The numbers of a result by name: columns of tables, axes of plots, what a search minimises or bounds.

Names end with their unit, as in `Result.to_polars()`: `read_p99.9_ns`, `waf_total`, `lifetime_years`. What
was not measured is None, and so is a percentile that too few samples stand behind. No number depends on the
wall clock. People may leave units out, and write some of them shorter: `read_p99`, `waf`, `lifetime`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.result.waf import STEADINESS

if TYPE_CHECKING:
    from ninescope.result.latency import Latency
    from ninescope.result.result import Result

Metrics = dict[str, float | int | None]

OPS = ("read", "write")
PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")
_WAF = (
    *("total", "host", "partial_writes", "migration", "gc", "scrub", "wear", "padding", "map"),
    *("failed_programs", "parity", "rebuild"),
)

NAMES: tuple[str, ...] = (
    "requests",
    "simulated_ns",
    "iops",
    "bytes_per_second",
    "failed_requests",
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
    "zone_log_waf",
    "bad_blocks",
    "erases",
    "suspensions",
    "die_utilisation",
    "hit_ratio",
    "map_hit_ratio",
    "failed_codewords",
    "lifetime_years",
    "lifetime_passes",
    "dwpd",
    "cost_total",
    "cost_per_logical_gb",
    "iops_per_cost",
    "energy_joules",
    "energy_per_request_joules",
    "power_mean_watts",
    "power_peak_watts",
    "temperature_max_celsius",
    "throttled_share",
)
"""All of them, in the order of columns."""
_STEADINESS_TOO = (STEADINESS, "steady", "steady_state")
"""What people call it: as in the JSON, as in a summary, and as what `--prefill steady` is to bring about."""
OF_BOTH = ("mean", *(f"p{percent}" for percent in PERCENTILES), "max")
"""Latencies that every operation has."""
SHARES = ("die_utilisation", "hit_ratio", "map_hit_ratio", "throttled_share")
"""Numbers from 0 to 1."""
_SHORT: Mapping[str, str] = {"waf": "waf_total", "cost": "cost_total", "throughput": "bytes_per_second"}
_USUAL = ("iops", "throughput", "read_mean", "read_p99", "write_p99", "waf", "erases", "lifetime", "cost")


@dataclasses.dataclass(frozen=True)
class Unit:
    """How a number is shown."""

    label: str
    scale: float = 1.0
    """What it is multiplied with for that."""


_SHOWN: Mapping[str, tuple[str, float]] = {
    "_ns": ("us", 1e-3),
    "_years": ("years", 1.0),
    "_joules": ("J", 1.0),
    "_watts": ("W", 1.0),
    "_celsius": ("C", 1.0),
}
"""By their units: what numbers are shown in, and what they are multiplied with for that."""
_UNLIKE: Mapping[str, Unit] = {
    "simulated_ns": Unit("simulated time [s]", 1e-9),
    "energy_per_request_joules": Unit("energy per request [uJ]", 1e6),
}
"""Numbers that are shown in a unit of their own."""


def metrics_of(result: Result) -> Metrics:
    """Return every number of a result, in the order of `NAMES`."""
    document = result.document
    found: Metrics = dict.fromkeys(NAMES)
    found["requests"] = result.requests
    found["simulated_ns"] = result.simulated_ns
    moved = result.throughput
    found["iops"] = sum(of.iops for of in moved.values())
    # A trim moves no data.
    found["bytes_per_second"] = sum(of.bytes_per_second for op, of in moved.items() if op in OPS)
    for op in OPS:
        if op in moved:
            found[f"{op}_iops"] = moved[op].iops
            found[f"{op}_bytes_per_second"] = moved[op].bytes_per_second
        found |= _latency(op, getattr(result.latency, op))
    found["failed_requests"] = sum(of.failed for of in moved.values())
    if result.zone_log is not None:
        found["zone_log_waf"] = result.zone_log.write_amplification
    if result.bad_blocks is not None:
        found["bad_blocks"] = result.bad_blocks.bad_blocks
    waf: Mapping[str, Any] = document.get("waf") or {}
    found |= {f"waf_{part}": waf.get(part) for part in _WAF}
    found["erases"] = (document.get("operations") or {}).get("erases")
    found["suspensions"] = (document.get("suspension") or {}).get("suspensions")
    found["die_utilisation"] = ((document.get("utilisation") or {}).get("dies") or {}).get("mean")
    if result.tier is not None:
        found["hit_ratio"] = result.tier.hit_ratio
    if result.cached_map is not None:
        found["map_hit_ratio"] = result.cached_map.hit_ratio
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
    if result.energy is not None:
        energy = result.energy
        found["energy_joules"] = energy.joules
        found["energy_per_request_joules"] = energy.joules_per_request
        found["power_mean_watts"] = energy.average_watts
        found["power_peak_watts"] = energy.peak_watts
        found["throttled_share"] = energy.throttled_share
        if energy.heat is not None:
            found["temperature_max_celsius"] = energy.heat.highest_celsius
    return {name: value if value is None or math.isfinite(value) else None for name, value in found.items()}


def is_steadiness(name: str) -> bool:
    """Say whether a name means the verdict on steadiness, by whatever word people call it."""
    return name in _STEADINESS_TOO


def _latency(op: str, latency: Latency) -> Metrics:
    if not latency.count:
        return {}
    enough = {key: value for key, value in latency.percentiles_ns.items() if key not in latency.insufficient}
    return {
        f"{op}_mean_ns": latency.mean_ns,
        f"{op}_max_ns": latency.max_ns,
        **{f"{op}_p{key}_ns": enough.get(key) for key in PERCENTILES},
    }


def names() -> dict[str, tuple[str, ...]]:
    """Return all names that people may write for numbers, and what each is made of.

    Units may be left out (`read_p99`, `lifetime`), some are known by a word (`waf`, `cost`), and latencies
    without an operation (`p99`, `mean`) are of reads and of writes.
    """
    found: dict[str, tuple[str, ...]] = {each: tuple(f"{op}_{each}_ns" for op in OPS) for each in OF_BOTH}
    for name in NAMES:
        found[name] = (name,)
        for ending in _SHOWN:
            if name.endswith(ending):
                found[name.removesuffix(ending)] = (name,)
    return found | {short: (name,) for short, name in _SHORT.items()}


def meant(name: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the numbers that a name means; a mistyped one is answered with the nearest, of `others` too."""
    known = names()
    if name in known:
        return known[name]
    if is_steadiness(name):
        raise ConfigError(
            f"{name!r} is a word and no number: tables have it as the column {STEADINESS}, and figures mark "
            "points that are not steady"
        )
    hint = did_you_mean(name, [*others, *known])
    if not hint.startswith("; did you mean"):  # all of them are too many to read
        hint = f"; there is {', '.join(_USUAL)} and more (`ninescope sweep table DIR --columns all`)"
    raise ConfigError(f"no result has a number {name!r}{hint}")


def checked(name: str) -> str:
    """Return the one number that a name means."""
    found = meant(name)
    if len(found) > 1:
        raise ConfigError(f"{name!r} is of reads and of writes: name one, {' or '.join(found)}")
    return found[0]


def unit(name: str) -> Unit:
    """Say how a number is shown: times in microseconds, shares in percent."""
    words = name.replace("_", " ").replace("waf", "WAF").replace("iops", "IOPS").replace(" gb", " GB")
    if name in _UNLIKE:
        return _UNLIKE[name]
    if name.endswith("bytes_per_second"):
        return Unit(f"{words.removesuffix('bytes per second')}throughput [MB/s]", 1e-6)
    for ending, (shown, scale) in _SHOWN.items():
        if name.endswith(ending):
            return Unit(f"{words[: -len(ending)]} [{shown}]", scale)
    if name in SHARES:
        return Unit(f"{words} [%]", 100)
    return Unit(words)
