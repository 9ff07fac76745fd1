"""Results made up for comparisons: of processes whose truth is known, without a simulation."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ninescope.result import PERCENTILES, Result

BLOCK = 1_024
INTERVAL_NS = 1_000_000

DRIVE = {"summary": "made up", "ftl": {"victim": {"policy": "greedy"}, "over_provisioning": 0.15}}
JOB = {"rw": "randread", "bs": "4KiB", "iodepth": 4, "requests": 20_000}


def bucket(values: np.ndarray) -> np.ndarray:
    """The upper bounds of the engine's buckets: 128 for each octave."""
    whole = values.astype(np.int64)
    octave = np.maximum(np.floor(np.log2(np.maximum(whole, 1))).astype(np.int64) - 7, 0)
    return (((whole >> octave) + 1) << octave) - 1


def histogram(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    bounds, counts = np.unique(bucket(values), return_counts=True)
    return bounds.astype(np.uint64), counts.astype(np.uint64)


def measured(values: np.ndarray) -> dict[str, Any]:
    """What a result says of these latencies."""
    ordered = np.sort(values)
    found = {key: int(np.percentile(ordered, float(key), method="inverted_cdf")) for key in PERCENTILES}
    bounded = {key: min(int(bucket(np.array([value]))[0]), int(ordered[-1])) for key, value in found.items()}
    return {
        "count": len(values),
        "min_ns": int(ordered[0]),
        "mean_ns": float(values.mean()),
        "max_ns": int(ordered[-1]),
        "percentiles_ns": bounded,
        "insufficient": [
            key for key in PERCENTILES if len(values) * (1 - float(key) / 100) < 10 * (1 - 1e-9)
        ],
        "intervals_ns": {},
    }


def document(seed: int = 1, **changes: Any) -> dict[str, Any]:
    """A result without measurements; `changes` replace sections."""
    whole = {
        "ninescope": "0.1.0",
        "build": {"version": "0.1.0", "profile": "release", "target": "x86_64"},
        "complete": True,
        "requests": 20_000,
        "digest": f"digest-{seed}",
        "seed": seed,
        "simulated_ns": 10**9,
        "workload": {"kind": "synthetic", "path": None, "hash": None, "job": JOB},
        "config": {
            "name": "demo",
            "drive": DRIVE,
            "run": {"seed": seed, "prefill": "full", "requests": 20_000, "duration": None, "warmup": 0},
        },
        "notes": [],
    }
    return copy.deepcopy(whole | changes)


def of_latencies(
    values: np.ndarray,
    *,
    seed: int = 1,
    blocks: bool = True,
    gaps_ns: np.ndarray | None = None,
    **changes: Any,
) -> Result:
    """A run that read with these latencies one after the other, or after the given gaps (open loop)."""
    values = np.maximum(values, 1).round()
    ends = np.cumsum(values if gaps_ns is None else gaps_ns)
    seconds = ends[-1] / 1e9
    place = (ends // INTERVAL_NS).astype(np.int64)
    intervals = int(place[-1]) + 1
    zeros = np.zeros(intervals, dtype=np.uint64)
    reads = np.bincount(place, minlength=intervals).astype(np.uint64)
    series = {
        "begin_ns": np.arange(intervals, dtype=np.uint64) * INTERVAL_NS,
        "reads": reads,
        "writes": zeros,
        "read_bytes": reads * 4_096,
        "write_bytes": zeros,
        "read_latency_sum_ns": np.bincount(place, values, minlength=intervals).astype(np.uint64),
        "write_latency_sum_ns": zeros,
    }
    whole = document(
        seed,
        **{
            "requests": len(values),
            "latency": {"read": measured(values)},
            "throughput": {
                "read": {
                    "requests": len(values),
                    "bytes": 4_096 * len(values),
                    "iops": len(values) / seconds,
                    "bytes_per_second": 4_096 * len(values) / seconds,
                }
            },
        }
        | changes,
    )
    cut = [values[begin : begin + BLOCK] for begin in range(0, len(values), BLOCK)]
    return Result(
        whole,
        histograms={"read": histogram(values)},
        blocks={"read": tuple(map(histogram, cut)) if blocks and len(cut) > 8 else ()},
        series=series,
    )


def of_numbers(
    random: np.random.Generator, *, seed: int, common: Mapping[str, float] | None = None, slower: float = 1.0
) -> Result:
    """A run of which only the numbers are there; `common` is what it shares with others of its seed."""
    shared = common or {}

    def normal(name: str, mean: float, deviation: float) -> float:
        return float(random.normal(mean + shared.get(name, 0.0), deviation))

    mean = normal("mean", 100_000, 2_000) * slower
    percentiles = {
        key: int(mean * factor * random.lognormal(0, 0.03))
        for key, factor in zip(PERCENTILES, (0.8, 1.5, 4, 10, 20, 30, 40), strict=True)
    }
    return Result(
        document(
            seed,
            latency={
                "read": {
                    "count": 20_000,
                    "min_ns": 1_000,
                    "mean_ns": mean,
                    "max_ns": 10**8,
                    "percentiles_ns": percentiles,
                    "insufficient": ["99.99", "99.999", "99.9999"],
                }
            },
            throughput={
                "read": {
                    "requests": 20_000,
                    "bytes": 81_920_000,
                    "iops": normal("iops", 40_000, 500) / slower,
                    "bytes_per_second": normal("iops", 40_000, 500) * 4_096 / slower,
                }
            },
            waf={"total": normal("waf", 3, 0.05), "host": 1.0, "gc": 2.0},
            operations={"erases": int(random.poisson(900))},
            utilisation={"dies": {"mean": normal("busy", 0.5, 0.01)}, "channels": {"mean": 0.1}},
            endurance={
                "method": "",
                "window_ns": 1,
                "host_bytes": 1,
                "media": {},
                "lifetime": {"years": normal("years", 4, 0.1), "dwpd": normal("dwpd", 1, 0.02)},
            },
            cost={"media": {}, "total": 4.8, "per_logical_gb": 1.15, "iops_per_cost": normal("", 9e3, 100)},
        )
    )


def one_left_out(values: Sequence[float]) -> list[float]:
    """The jackknife of the logarithm of a mean, term by term: n log(m) - (n - 1) log(m without it)."""
    whole, count = math.log(sum(values) / len(values)), len(values)
    rest = [math.log((sum(values) - each) / (count - 1)) for each in values]
    return [count * whole - (count - 1) * each for each in rest]
