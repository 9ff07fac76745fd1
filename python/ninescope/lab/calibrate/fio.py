"""What fio measured, taken out of its JSON output: each job's workload, and its numbers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.result.metrics import OPS, PERCENTILES

_TAKEN = ("rw", "bs", "iodepth", "rwmixread", "rate_iops", "random_distribution", "size")
"""Words of a job that say what a drive is asked."""
_SAME = {"readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "ba": "blockalign"}
_NOT_TAKEN = (
    "bssplit", "bsrange", "blockalign", "percentage_random", "rwmixcycle", "rate", "rate_process",
    "thinktime", "fsync", "fdatasync", "sync", "iodepth_low", "zonemode", "latency_target",
    "trim_percentage", "read_iolog",
)  # fmt: skip
"""Options that have a drive be asked otherwise, and that no word here is made of."""
_OFF = ("", "0", "none", "linear")
"""What they say where they say nothing."""
_NO_PAGE_CACHE = ("null", "sg", "io_uring_cmd", "nvme")
"""Engines past the page cache, whatever `direct` says; and those of SPDK."""
_SYNCHRONOUS = ("psync", "sync", "pvsync", "pvsync2", "mmap")
"""Engines that have one request under way whatever `iodepth` says; the first is what fio takes by itself."""
OUT = "write such figures out (`values`)"
"""What is left to do with figures of a job that cannot be taken over."""
_TWICE = (
    "is there more than once: percentiles of several copies cannot be put together; run fio with "
    "group_reporting"
)
_RATES = {"k": "KiB/s", "m": "MiB/s", "g": "GiB/s"}
_SAID: Mapping[str, Callable[[str], str]] = {
    "bssplit": json.dumps,
    "bsrange": json.dumps,
    "blockalign": json.dumps,
    "rate_process": json.dumps,
    "percentage_random": str,
    "fsync": str,
    "thinktime": lambda value: json.dumps(f"{value}us" if value.isdigit() else value),
    "rate": lambda value: json.dumps(
        value[:-1] + _RATES[value[-1].lower()] if value[-1:].lower() in _RATES else f"{value}B/s"
    ),
}
"""Options that jobs have here as well, and how their values are written in TOML."""
_ENOUGH = 10
"""So many requests have to be slower than a percentile."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of fio: what it asked, and what it measured."""

    name: str
    words: Mapping[str, Any]
    metrics: Mapping[str, float]
    """By the names of `ninescope.result.metrics`, in their units."""
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Options by which it asked something else than `words` say."""
    problem: str = ""
    """Why its numbers are none of a drive that is asked in such words."""
    is_cached: bool = False
    """Whether it went through the page cache of its host."""
    several: str = ""
    """Why it is several jobs at once, which `words` do not say."""


def instead_of(option: str, value: str) -> str:
    """Say why an option is not taken over, and what can be written instead."""
    told = f"{option}={value}, which is not taken over by itself: a drive is asked otherwise by it. "
    if option in _SAID:
        return f"{told}Say it in `workload`, as {option} = {_SAID[option](value)}, or {OUT}"
    nearest = "beside the `workload` that comes nearest"
    return f"{told}Jobs have no such word here: measure without it, or {OUT} {nearest}"


def _several(name: str, copies: int, options: Mapping[str, Any]) -> str:
    """Say why copies that go through the drive in order are no deeper queue, and what to write instead."""
    words = {key: value for key, value in _words({**options, "numjobs": 1}).items() if key != "size"}
    depth, one = words["iodepth"], {"name": f"{name}-1", **words}
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.items())
    return (
        f"has {copies} copies that go through the drive in order, each by itself: {copies} places at once "
        f"move on, {depth} requests deep each, and one queue of {copies} x {depth} has one place. Say so in "
        f"`workload`, as {{ job = [{{ {table} }}, ...] }} with a table and a name for each copy (and its "
        f"`offset`, where fio was given offset_increment), or {OUT}"
    )


def jobs_of(path: Path) -> list[Job]:
    """Return the jobs of a JSON output file of fio."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is no text") from None
    try:
        # Warnings of fio may stand before the document.
        document = json.loads(text[max(0, text.find("{")) :])
        written = document["jobs"]
        general = document.get("global options", {})
        found = [_job(each, general) for each in written]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: is no JSON of fio (`fio --output-format=json`): {error!r}") from None
    if not found:
        raise ConfigError(f"{path}: no job is there")
    names = [job.name for job in found]
    return [dataclasses.replace(job, problem=_TWICE) if names.count(job.name) > 1 else job for job in found]


def _job(written: Mapping[str, Any], general: Mapping[str, Any]) -> Job:
    name = str(written["jobname"])
    options = {_SAME.get(key, key): value for key, value in {**general, **written["job options"]}.items()}
    metrics: dict[str, float] = {}
    for op in OPS:
        metrics |= _measured(written.get(op) or {}, op)
    left_out = {key: str(options[key]) for key in _NOT_TAKEN if str(options.get(key, "")) not in _OFF}
    copies = int(options.get("numjobs", 1))
    in_order = copies > 1 and "rand" not in str(options.get("rw", "read"))
    several = _several(name, copies, options) if in_order else ""
    return Job(name, _words(options), metrics, left_out, "", _is_cached(options), several)


def _words(options: Mapping[str, Any]) -> dict[str, Any]:
    words = {key: options[key] for key in _TAKEN if options.get(key) not in (None, "")}
    words.setdefault("rw", "read")
    words.setdefault("bs", "4k")
    depth = int(words.get("iodepth", 1))
    if options.get("ioengine", _SYNCHRONOUS[0]) in _SYNCHRONOUS:
        depth = 1
    words["iodepth"] = depth * int(options.get("numjobs", 1))
    if "rwmixread" not in words and options.get("rwmixwrite") not in (None, ""):
        words["rwmixread"] = 100 - int(options["rwmixwrite"])
    if "rwmixread" in words:
        words["rwmixread"] = int(words["rwmixread"])
    if str(words.get("size", "")).endswith("%"):
        del words["size"]  # of another drive
    return words


def _is_cached(options: Mapping[str, Any]) -> bool:
    """Say whether requests go through the page cache, as they do unless fio is told otherwise."""
    engine = str(options.get("ioengine", _SYNCHRONOUS[0]))
    if engine in _NO_PAGE_CACHE or "spdk" in engine:
        return False
    # An option without a value is on.
    return str(options.get("direct", "0")) == "0" and str(options.get("buffered", "1")) != "0"


def _measured(of: Mapping[str, Any], op: str) -> dict[str, float]:
    """Return the numbers of reads or writes."""
    count = int(of.get("total_ios") or 0)
    if not count:
        return {}
    found = {f"{op}_iops": float(of["iops"])}
    mean, scale = _times(of, "lat")
    if mean.get("mean"):
        found[f"{op}_mean_ns"] = float(mean["mean"]) * scale
    completion, scale = _times(of, "clat")
    if "percentile" not in completion:
        completion, scale = _times(of, "lat")
    known = {float(key): float(value) for key, value in (completion.get("percentile") or {}).items()}
    for percentile in PERCENTILES:
        value = known.get(float(percentile))
        if value and count * (1 - float(percentile) / 100) >= _ENOUGH:
            found[f"{op}_p{percentile}_ns"] = value * scale
    return found


def _times(of: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], float]:
    """Return a table of times, and how many ns its unit is: fio before 3.0 wrote microseconds."""
    return (of[f"{name}_ns"], 1.0) if f"{name}_ns" in of else (of.get(name) or {}, 1e3)
