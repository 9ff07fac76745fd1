"""Saying what is wrong with a file: a drive, a job, a trace or a snapshot, told apart by name and content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ninescope import _native, catalogue
from ninescope._native import ConfigError
from ninescope.files import text_of
from ninescope.profiles import is_profile
from ninescope.snapshots import SUFFIX, in_words, is_snapshot
from ninescope.snapshots import check as check_snapshot
from ninescope.toml import loads

_DRIVE_KEYS = frozenset(
    (
        "base",
        "geometry",
        "nand",
        "scm",
        "storage_scm",
        "tier",
        "ftl",
        "controller",
        "scheduler",
        "backing_store",
        "scrub",
        "refresh",
        "endurance",
        "sources",
    )
)
_JOB_KEYS = frozenset(
    (
        "rw",
        "readwrite",
        "bs",
        "blocksize",
        "iodepth",
        "job",
        "jobs",
        "requests",
        "size",
        "rwmixread",
        "host_cache",
        "file_system",
    )
)
DAMAGED = 0.05
"""The share of broken lines, or of times out of order, from which on a trace is not right."""
_SMALL_JOB = {"rw": "read", "requests": 1}


class Verdict(NamedTuple):
    """A file that is right: what it is, and what is to be said about it."""

    kind: str
    notes: list[str]


def check(path: str, *, strict: bool = False, format: str | None = None) -> Verdict:  # noqa: A002
    """Say what a file is; a ConfigError says what is wrong with it.

    `strict` refuses a trace with lines that cannot be read, which are otherwise told. `format` says that the
    file is a trace, and of which format.
    """
    if format is not None:
        return _trace(path, strict=strict, format=format)
    suffix = Path(path).suffix
    if suffix == SUFFIX or is_snapshot(path):
        return Verdict("snapshot", [f"{name}: {text}" for name, text in in_words(check_snapshot(path))])
    if suffix == ".fio":
        return _job(path)
    if suffix == ".toml":
        return _toml(path)
    return _trace(path, strict=strict, format=None)


def _toml(path: str) -> Verdict:
    if is_profile(path):
        text = Path(path).read_text(encoding="utf-8-sig")
        profile = _native.ProfileBatches(path, text, None, 1)
        return Verdict("profile", [f"{profile.original_requests:,} requests, {profile.label}"])
    if _is_drive(path):
        return Verdict("drive", _check_run({"drive": {"file": path}, "workload": {"job": _SMALL_JOB}}))
    return _job(path)


def _job(path: str) -> Verdict:
    return Verdict("job", _check_run({"workload": {"job_file": path}}))


def _check_run(request: dict[str, object]) -> list[str]:
    return [note for note in _native.check_run(json.dumps(request)) if note != "synthetic workload"]


def _is_drive(path: str) -> bool:
    """Tell a drive from a job by the keys at the top; what is neither is looked at as a drive."""
    text = text_of(path)
    try:
        keys = loads(text).keys()
    except ValueError:  # the engine says it, with its line
        return True
    return bool(keys & _DRIVE_KEYS) or not keys & _JOB_KEYS


def _trace(path: str, *, strict: bool, format: str | None) -> Verdict:  # noqa: A002
    from ninescope.text import trace_remarks

    stat = catalogue.trace_stat(path, strict=strict, format=format, trims=True)
    _refuse_damage(path, stat)
    return Verdict(f"trace ({stat['format']})", [f"{stat['requests']:,} requests", *trace_remarks(stat)])


def _refuse_damage(path: str, stat: dict[str, Any]) -> None:
    """Refuse a trace of which so much had to be skipped or mended that it is another one."""
    lost, clamped, kept = stat.get("broken_lines", 0), stat.get("clamped", 0), stat["requests"]
    skipped = stat.get("first_skipped") or {}
    if lost > DAMAGED * (lost + kept):
        where = f"; the first is number {skipped['line']}: {skipped['reason']}" if skipped else ""
        raise ConfigError(
            f"{path}: {lost:,} of {lost + kept:,} lines give no request{where} (--strict stops at the first)"
        )
    if clamped > DAMAGED * kept:
        raise ConfigError(
            f"{path}: {clamped:,} of {kept:,} requests lie too far before earlier ones to be put in order; "
            "sort the trace by time"
        )
