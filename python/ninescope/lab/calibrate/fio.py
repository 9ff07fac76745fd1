"""What fio measured, taken out of its JSON output: each job's workload, and its numbers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.result.metrics import OPS, PERCENTILES

_TAKEN = ("rw", "bs", "iodepth", "rwmixread", "rate_iops", "random_distribution", "size")
"""Words of a job that say what a drive is asked."""
_SAME = {"readwrite": "rw", "blocksize": "bs"}
_SYNCHRONOUS = ("psync", "sync", "pvsync", "pvsync2", "mmap")
"""Engines that have one request under way whatever `iodepth` says; the first is what fio takes by itself."""
_ENOUGH = 10
"""So many requests have to be slower than a percentile."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of fio: what it asked, and what it measured."""

    name: str
    words: Mapping[str, Any]
    metrics: Mapping[str, float]
    """By the names of `ninescope.result.metrics`, in their units."""


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
        found = [_job(each, general, path) for each in written]
    except ConfigError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: is no JSON of fio (`fio --output-format=json`): {error!r}") from None
    if not found:
        raise ConfigError(f"{path}: no job is there")
    twice = next((job.name for job in found if [one.name for one in found].count(job.name) > 1), None)
    if twice is not None:
        raise ConfigError(
            f"{path}: {twice!r} is there more than once: percentiles of several copies cannot be put "
            "together; run fio with group_reporting"
        )
    return found


def _job(written: Mapping[str, Any], general: Mapping[str, Any], path: Path) -> Job:
    name = str(written["jobname"])
    options = {_SAME.get(key, key): value for key, value in {**general, **written["job options"]}.items()}
    metrics: dict[str, float] = {}
    for op in OPS:
        metrics |= _measured(written.get(op) or {}, op)
    return Job(name, _words(options, name, path), metrics)


def _words(options: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    words = {key: options[key] for key in _TAKEN if options.get(key) not in (None, "")}
    words.setdefault("rw", "read")
    words.setdefault("bs", "4k")
    depth = int(words.get("iodepth", 1))
    if options.get("ioengine", _SYNCHRONOUS[0]) in _SYNCHRONOUS:
        depth = 1
    copies = int(options.get("numjobs", 1))
    if copies > 1 and "rand" not in str(words["rw"]):
        raise ConfigError(
            f"{path}: job {name!r} has {copies} copies that go through the drive in order: write such "
            "figures out (`values`)"
        )
    words["iodepth"] = depth * copies
    if "rwmixread" in words:
        words["rwmixread"] = int(words["rwmixread"])
    if str(words.get("size", "")).endswith("%"):
        del words["size"]  # of another drive
    return words


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
