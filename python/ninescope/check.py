"""Saying what is wrong with a file: a drive, a job or a trace, told apart by name and content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from ninescope import _native, catalogue
from ninescope._native import ConfigError
from ninescope.toml import loads

_DRIVE_KEYS = frozenset(
    ("base", "geometry", "nand", "scm", "tier", "ftl", "controller", "scheduler", "sources", "summary")
)
_JOB_KEYS = frozenset(
    ("rw", "readwrite", "bs", "blocksize", "iodepth", "job", "jobs", "requests", "size", "rwmixread")
)
_SMALL_JOB = {"rw": "read", "requests": 1}


class Verdict(NamedTuple):
    """A file that is right: what it is, and what is to be said about it."""

    kind: str
    notes: list[str]


def check(path: str, *, strict: bool = False) -> Verdict:
    """Say what a file is; a ConfigError says what is wrong with it.

    `strict` refuses a trace with lines that cannot be read, which are otherwise told.
    """
    suffix = Path(path).suffix
    if suffix == ".fio":
        return Verdict("job", _check_run({"workload": {"job_file": path}}))
    if suffix == ".toml":
        if _is_drive(path):
            return Verdict("drive", _check_run({"drive": {"file": path}, "workload": {"job": _SMALL_JOB}}))
        return Verdict("job", _check_run({"workload": {"job_file": path}}))
    return _trace(path, strict=strict)


def _check_run(request: dict[str, object]) -> list[str]:
    return [note for note in _native.check_run(json.dumps(request)) if note != "synthetic workload"]


def _is_drive(path: str) -> bool:
    """Tell a drive from a job by the keys at the top; what is neither is looked at as a drive."""
    try:
        keys = loads(Path(path).read_text(encoding="utf-8")).keys()
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not a text file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except ValueError:  # the engine says it, with its line
        return True
    return bool(keys & _DRIVE_KEYS) or not keys & _JOB_KEYS


def _trace(path: str, *, strict: bool) -> Verdict:
    stat = catalogue.trace_stat(path, strict=strict)
    if not stat["requests"]:
        raise ConfigError(f"{path}: no request could be read; it is neither a drive, a job nor a trace")
    notes = [f"{stat['requests']:,} requests"]
    for key, words in (
        ("skipped_lines", "lines that could not be read were skipped"),
        ("reordered", "requests were not in the order of their times"),
    ):
        if stat.get(key):
            notes.append(f"{stat[key]:,} {words}")
    if stat.get("first_skipped"):
        notes.append(f"the first: {stat['first_skipped']}")
    return Verdict(f"trace ({stat['format']})", notes)
