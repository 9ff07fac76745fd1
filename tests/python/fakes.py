"""A stand-in for the native module, so that the Python face can be tested before the engine is built.

`install()` puts it in place of `ninescope._native`; `python fakes.py ARGUMENTS` is the command line on it.
The documents it makes keep to the contract of the real ones; the numbers in them are invented.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")
OPS = ("read", "write")
TLC = """name = "tlc"

[ftl]
over_provisioning = 0.07
"""


class ConfigError(ValueError):
    pass


class SimulationError(RuntimeError):
    pass


class Simulation:
    def __init__(self, request_json: str) -> None:
        request = json.loads(request_json)
        self._request = request
        resolve_drive(request_json)
        workload = request["workload"]
        if "trace" in workload:
            if not Path(workload["trace"]).exists():
                raise ConfigError(f"trace {workload['trace']!r}: no such file")
            if b"bad line" in Path(workload["trace"]).read_bytes():
                raise ConfigError(f"{workload['trace']}:1: not a request")
        elif "job" in workload and not {"rw", "requests"} <= workload["job"].keys() | {"requests"}:
            raise ConfigError("a job needs rw")
        self._total = int(request["requests"] or 5000)
        self._done = 0
        seed = int(hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:8], 16)
        self._random = np.random.default_rng(seed)
        kind = str(workload.get("job", {}).get("rw", "randrw"))
        self._read_share = (
            0.0 if kind in ("write", "randwrite") else 1.0 if kind in ("read", "randread") else 0.7
        )
        self._latencies: dict[str, np.ndarray] | None = None

    def run_slice(self, milliseconds: int) -> bool:
        self._done = min(self._total, self._done + 400_000)
        if self._done < self._total:
            time.sleep(milliseconds / 1000)
        return self._done == self._total

    def progress(self) -> dict[str, int | str | None]:
        return {"phase": "run", "done": self._done, "total": self._total, "simulated_ns": self._done * 10_000}

    def snapshot_json(self) -> str | None:
        return None

    def result_json(self, complete: bool) -> str:
        return json.dumps(result_document(self._samples(), self._request, complete=complete))

    def measured(self) -> Simulation:
        return self

    def histogram(self, op: str) -> tuple[np.ndarray, np.ndarray]:
        return histogram(self._samples().get(op, np.array([])))

    def latency_blocks(self, op: str) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            histogram(np.sort(block)) for block in np.array_split(self._samples().get(op, np.array([])), 8)
        ]

    def series(self) -> dict[str, np.ndarray]:
        times = np.arange(10, dtype=np.uint64) * np.uint64(1_000_000)
        return {"time_ns": times, "reads": np.full(10, 7, np.uint64), "writes": np.full(10, 3, np.uint64)}

    def request_log(self) -> dict[str, np.ndarray]:
        if not self._request["log_requests"]:
            return {}
        latency = np.concatenate([self._samples()[op] for op in OPS])
        op = np.repeat(np.arange(len(OPS), dtype=np.uint8), [len(self._samples()[op]) for op in OPS])
        columns = {"id": np.arange(len(latency)), "latency_ns": latency}
        return {name: column.astype(np.uint64) for name, column in columns.items()} | {"op": op}

    def timeline_json(self) -> str | None:
        if not self._request.get("trace_window"):
            return None
        event = {
            "name": "erase block 17",
            "ph": "X",
            "ts": 1.5,
            "dur": 3500.0,
            "pid": 2,
            "tid": 2,
            "args": {},
        }
        return json.dumps({"displayTimeUnit": "ns", "otherData": {}, "traceEvents": [event]})

    def _samples(self) -> dict[str, np.ndarray]:
        if self._latencies is None:
            reads = int(self._done * self._read_share)
            self._latencies = {
                "read": latencies(self._random, reads, 60_000),
                "write": latencies(self._random, self._done - reads, 12_000),
            }
        return self._latencies


def latencies(random: np.random.Generator, count: int, typical_ns: float) -> np.ndarray:
    body = typical_ns * random.lognormal(0, 0.25, count)
    waits = np.where(random.random(count) < 0.04, random.exponential(600_000, count), 0)
    stalls = np.where(random.random(count) < 0.0008, random.uniform(2e6, 9e6, count), 0)
    return np.sort(body + waits + stalls).astype(np.int64)


def histogram(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(samples):
        return np.array([], np.uint64), np.array([], np.uint64)
    bounds = np.unique(np.ceil(2 ** (np.arange(0, 40 * 128) / 128)).astype(np.uint64))
    counts = np.bincount(np.searchsorted(bounds, samples), minlength=len(bounds)).astype(np.uint64)
    return bounds, counts


def result_document(
    samples: dict[str, np.ndarray], request: dict[str, Any], *, complete: bool
) -> dict[str, Any]:
    workload = request["workload"]
    path = workload.get("trace") or workload.get("job_file")
    count = sum(len(values) for values in samples.values())
    most = request.get("explain_slowest") or 0
    slowest = {
        op: [slow_request(i, int(v[-1 - i])) for i in range(min(most, len(v)))] for op, v in samples.items()
    }
    latency = {op: _latency(values) for op, values in samples.items()}
    return ({"slowest": slowest} if most else {}) | {
        "ninescope": version(),
        "complete": complete,
        "requests": count,
        "digest": hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:16],
        "seed": request["seed"],
        "simulated_ns": count * 10_000,
        "throughput": {
            op: {
                "requests": len(v),
                "bytes": len(v) * 4096,
                "iops": len(v) * 10.0,
                "bytes_per_second": len(v) * 4e4,
            }
            for op, v in samples.items()
        },
        "latency": latency,
        "latency_without_host_queue": latency,
        "attribution": {op: _bands(values, op) for op, values in samples.items()},
        "waf": {
            "total": 1.83,
            "host": 1.0,
            "partial_writes": 0.0,
            "migration": 0.0,
            "gc": 0.8,
            "scrub": 0.0,
            "wear": 0.0,
            "padding": 0.03,
            "map": 0.0,
            "host_bytes": 4_096_000,
            "flash_bytes": 7_495_680,
        },
        "steadiness": {
            "verdict": "not-steady",
            "words": "WAF rises by 9.0 % over the window (99.5 %: +2.0 to +16.0 %)",
            "drift": {"change": 0.09, "low": 0.02, "high": 0.16, "level": 0.995, "p": 0.001},
            "start": {"change": 0.01, "low": -0.05, "high": 0.07, "level": 0.995, "p": 0.7},
            "waf": [1.7, 1.75, 1.8, 1.8, 1.85, 1.85, 1.85, 1.9, 1.9, 1.9],
            "programmed_bytes": 7_495_680,
            "erased_bytes": 7_495_000,
        },
        "operations": {
            "host_reads": 1200,
            "gc_reads": 300,
            "gc_programs": 290,
            "programs": 900,
            "erases": 12,
        },
        "counters": {"forwarded_units": 5, "buffer_stalls": 7},
        "utilisation": {
            "dies": {
                "mean": 0.34,
                "min": 0.12,
                "max": 0.61,
                "occupancy": {"idle": 0.66, "host_read": 0.2, "gc_program": 0.1, "erase": 0.04},
            },
            "channels": {"mean": 0.08},
            "link": {"in": 0.01, "out": 0.03},
        },
        "wear": {"erases_min": 0, "erases_mean": 3.1, "erases_max": 12},
        "workload": _workload(workload, path),
        "notes": [] if request["drive"] else ["default drive, enlarged to hold the trace"],
        "prefill": request.get("prefill", "footprint"),
        "steady_state": None,
        "config": {
            "name": (request["drive"] or {}).get("preset", "tlc"),
            "drive": {"ftl": {"mapping_unit": "4KiB"}},
            "drive_toml": '[ftl]\nmapping_unit = "4KiB"\n',
            "logical_bytes": 1 << 33,
            "raw_bytes": 9 << 30,
            "run": {},
        },
        "build": {"version": version()},
        "performance": {"prepare_seconds": 0.01, "run_seconds": 0.011},
        "fio version": "fio-3.33",
        "jobs": [],
    }


def slow_request(number: int, latency: int) -> dict[str, Any]:
    """A read that waited behind an erase which was suspended once."""
    edges = [0, latency // 3, latency * 4 // 5, latency * 9 // 10, latency]
    queue, held, array, done = [1_000_000 + edge for edge in edges[:1] + edges[2:]]
    act = {"command": "erase", "blocks": [17], "suspensions": 1}
    did = [
        {"from_ns": queue, "until_ns": queue + edges[1], "occupancy": "erase", **act, "suspensions": 0}
        | {"what": "erase of block 17 (loop 2 of 3)"},
        {"from_ns": queue + edges[1], "until_ns": held, "occupancy": "suspend_overhead", **act}
        | {"what": "recovery after suspending the erase of block 17 (suspended 1x)"},
    ]
    return {
        "id": number,
        "lba": 8 * number,
        "sectors": 8,
        "submitted_ns": queue,
        "completed_ns": done,
        "latency_ns": latency,
        "parts_ns": {
            "die_erase": edges[1],
            "die_suspend_overhead": edges[2] - edges[1],
            "command_array": edges[3] - edges[2],
            "transfer": edges[4] - edges[3],
        },
        "stages": [
            {"stage": "die_queue", "from_ns": queue, "until_ns": held, "die": 3, "die_did": did},
            {"stage": "command_array", "from_ns": held, "until_ns": array, "die": 3},
            {"stage": "transfer", "from_ns": array, "until_ns": done, "die": 3},
        ],
    }


def _workload(words: dict[str, Any], path: str | None) -> dict[str, Any]:
    if "job" in words:
        job = {"rw": "randread", "bs": "4KiB", "iodepth": 1, "rwmixread": 50} | words["job"]
        return {"kind": "synthetic", "path": None, "hash": None, "job": job}
    name = words.get("name") or (path and Path(path).name)
    return {"kind": "trace", "path": name, "hash": "0", "skipped_lines": 0}


def _latency(values: np.ndarray) -> dict[str, Any]:
    if not len(values):
        return {"count": 0, "min_ns": 0, "mean_ns": 0, "max_ns": 0, "percentiles_ns": {}, "insufficient": []}
    ranks = {key: max(1, int(np.ceil(float(key) / 100 * len(values)))) for key in PERCENTILES}
    return {
        "count": len(values),
        "min_ns": int(values[0]),
        "mean_ns": float(values.mean()),
        "max_ns": int(values[-1]),
        "percentiles_ns": {key: int(values[rank - 1]) for key, rank in ranks.items()},
        "insufficient": [key for key in PERCENTILES if len(values) * (100 - float(key)) / 100 < 10 - 1e-6],
    }


def _bands(values: np.ndarray, op: str) -> list[dict[str, Any]]:
    bands, start = [], 0
    own = {
        "read": {"command_array": 45.0, "transfer": 9.0},
        "write": {"link": 4.0, "command_processing": 3.0},
    }[op]
    waits = {
        "die_host_read": 2.0,
        "die_host_program": 6.0,
        "die_gc_program": 1.0,
        "die_erase": 0.2,
        "channel": 1.5,
    }
    for index, name in enumerate([*(f"p{key}" for key in PERCENTILES), "max"]):
        end = len(values) if name == "max" else int(np.ceil(float(name[1:]) / 100 * len(values)))
        part = values[start:end]
        if len(part):
            growth = {cause: 4.8 if "gc" in cause or "erase" in cause else 2.0 for cause in waits}
            weights = own | {cause: weight * growth[cause] ** index for cause, weight in waits.items()}
            if op == "write":
                weights["buffer_stall"] = 3.0**index
            mean = float(part.mean())
            total = sum(weights.values())
            bands.append(
                {
                    "band": name,
                    "count": len(part),
                    "lower_ns": int(part[0]),
                    "upper_ns": int(part[-1]),
                    "parts_ns": {cause: mean * weight / total for cause, weight in weights.items()},
                }
            )
        start = end
    return bands


def bootstrap(blocks: list[Any], parts_per_billion: list[int]) -> list[tuple[int, int]]:
    return [(0, 1 << 40) for _ in parts_per_billion if blocks]


def added_rber(request_json: str, loops: int, cycles: list[int], suspensions: list[int]) -> list[list[float]]:
    return [[max(0, count - 10 * loops) * 1e-6 for count in suspensions] for _ in cycles]


def presets(kind: str = "drives") -> list[tuple[str, str, str]]:
    if kind == "jobs":
        return [("varmail", "mails", "summary = 'mails'")]
    return [("tlc", "a TLC drive", TLC), ("qlc", "a QLC drive", TLC.replace("tlc", "qlc"))]


def check_run(request_json: str) -> list[str]:
    json.loads(request_json)
    return []


def resolve_drive(request_json: str) -> str:
    request = json.loads(request_json)
    for setting in request.get("set", []):
        if not setting.startswith("ftl."):
            raise ConfigError(f"--set {setting}: unknown key")
    drive = request["drive"] or {"preset": "tlc"}
    return {name: text for name, _, text in presets()}[drive["preset"]] if "preset" in drive else TLC


def trace_stat(path: str, options_json: str) -> str:
    json.loads(options_json)
    return json.dumps(
        {
            "requests": 10,
            "reads": 7,
            "writes": 3,
            "trims": 0,
            "flushes": 0,
            "read_bytes": 28672,
            "write_bytes": 12288,
            "footprint_bytes": 40960,
            "written_footprint_bytes": 12288,
            "rewrite_ratio": 0.0,
            "sequential_share": 0.1,
            "duration_ns": 1_000_000,
            "max_address": 1 << 30,
            "format": "msr",
            "skipped_lines": 0,
        }
    )


def policies() -> str:
    return json.dumps({"ftl.victim": [{"name": "greedy", "summary": "the fewest valid units"}]})


def version() -> str:
    return "0.0.0-fake"


def install() -> None:
    import ninescope

    native = types.ModuleType("ninescope._native")
    for name in (
        "ConfigError",
        "Simulation",
        "SimulationError",
        "added_rber",
        "bootstrap",
        "policies",
        "presets",
        "check_run",
        "resolve_drive",
        "trace_stat",
        "version",
    ):
        setattr(native, name, globals()[name])
    sys.modules["ninescope._native"] = native
    ninescope._native = native


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    install()
    from ninescope.cli import main

    main()
