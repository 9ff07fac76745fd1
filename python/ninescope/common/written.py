"""What ninescope writes and takes no workload from: told by what stands in it, with who reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ninescope._native import ConfigError
from ninescope.common.files import COMPARISON, CONFIG, LAKE_MARK, OF_PAPERS, RESULT, TABLES, existing


class Written(NamedTuple):
    """A kind of file that is no workload."""

    name: str
    """With its article."""
    readers: str
    """Who reads it, in words."""


RESULTS = Written(
    "a result", "`ninescope report`, `ninescope compare` and, of Python, `ninescope.Result.load` read it"
)
_ALONE = "nothing reads it again"
COMPARISONS = Written("a comparison", _ALONE)
_JUDGED = Written("a report of papers", "`ninescope report` reads its folder")
_SEVERAL = Written("a folder of results", "`ninescope compare` reads those of one design with several seeds")
_TABLE = Written("a table of a result", "`ninescope.Result.load` of Python reads its folder")
_OF_JSON: Mapping[str, Written] = {
    "sweep_comparison": Written("a comparison of a sweep", _ALONE),
    "comparison": COMPARISONS,
    "traceEvents": Written("a timeline, for ui.perfetto.dev", _ALONE),
}
"""By a key that all of a kind have."""
_LAKE = Written("a lake of results", "`ninescope sweep` and `ninescope search` read it")
_LOG_LINE = re.compile(rb"\d+, *\d+, *[012], *\d+(, *\S+){0,3}\s*")
"""Of fio's logs of averages: time [ms], value, direction, size, and what later versions add."""
_VALUES = {
    "bw": "bandwidth [KiB/s]",
    "iops": "IOPS",
    "lat": "latency [ns]",
    "clat": "completion latency [ns]",
    "slat": "submission latency [ns]",
}
_LOG_NAME = re.compile(r"_(bw|iops|lat|clat|slat)(\.\d+)?\.log$")
_NO_TRACES = frozenset(TABLES) - {"requests.parquet"}
"""Tables of a result; that of its requests is a trace as well."""
_HEAD = 1 << 16
"""So much of a log is looked at [B]."""


def json_kind(document: Any) -> Written | None:
    """Return what a JSON document is that ninescope wrote; None where it wrote no such."""
    keys = document.keys() if isinstance(document, dict) else frozenset()
    if {"requests", "latency"} <= keys:
        return RESULTS
    if {"paper", "claims", "mode"} <= keys:
        return _JUDGED
    return next((kind for key, kind in _OF_JSON.items() if key in keys), None)


def log_kind(path: Path) -> Written | None:
    """Return what a log of averages is, as fio and `run --fio-logs` write it; None where it is none."""
    if path.suffix != ".log":
        return None
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    lines = head.splitlines()[: -1 if len(head) == _HEAD else None]
    name = _LOG_NAME.search(path.name)
    if not (lines or name) or not all(_LOG_LINE.fullmatch(line) for line in lines):
        return None
    of = f" of {_VALUES[name[1]]}" if name else ""
    return Written(
        f"a log{of}, as fio writes it", "fio2gnuplot and fio_generate_plots draw it, no command here"
    )


def folder_kind(folder: Path) -> Written | None:
    """Return what a folder is by the file that makes it that; None where ninescope wrote no such."""
    files = {RESULT: RESULTS, LAKE_MARK: _LAKE, COMPARISON: COMPARISONS, OF_PAPERS: _JUDGED}
    for name, kind in files.items():
        if (folder / name).is_file():
            return kind
    for name, kind in ((RESULT, _SEVERAL), (OF_PAPERS, _JUDGED)):
        if any((each / name).is_file() for each in folder.iterdir()):
            return kind
    return None


def _kind_of(path: Path) -> Written | None:
    """Return what a file or folder is that ninescope wrote and that is no input; None: it may be one."""
    try:
        if path.is_dir():
            return folder_kind(path)
        if path.suffix == ".json":
            return json_kind(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):  # whoever reads it next says it
        return None
    if path.name in _NO_TRACES and (path.parent / RESULT).is_file():
        return _TABLE
    return log_kind(path)


def refuse_as_workload(path: Path) -> None:
    """Say of what is no workload what it is, and who reads it."""
    kind = _kind_of(path)
    if kind is not None:
        raise ConfigError(f"{path}: is {kind.name}, and no workload; {kind.readers}")


def refuse_as_drive(path: Path) -> None:
    """Say of what is no drive what it is, and who reads it."""
    if path.suffix == ".fio":
        raise ConfigError(f"{path}: is a job file, not a drive; `ninescope run {path}` runs it")
    kind = _kind_of(path)
    if kind is RESULTS:
        folder = path if path.is_dir() else path.parent
        raise ConfigError(f"{path}: is a result, not a drive; {folder / CONFIG} is that of its drive")
    if kind is not None:
        raise ConfigError(f"{path}: is {kind.name}, and no drive; {kind.readers}")


def refuse_as_result(path: Path) -> None:
    """Say of what is another thing than a result, or several, what it is, and who reads it."""
    kind = _kind_of(path)
    if kind not in (None, RESULTS):
        raise ConfigError(f"{path}: is {kind.name}, and no result; {kind.readers}")


def trace_file(path: str) -> str:
    """Return the path of a trace that can be read; what is known to be none is told by what it is."""
    refuse_as_workload(Path(path))
    return existing(path, "trace")
