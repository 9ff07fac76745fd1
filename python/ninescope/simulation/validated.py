"""Of which kinds the runs were that a drive was validated on, and whether a run is of one of them.

A calibrated drive says the kinds in the source of its summary, in words that are read here again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_BEGINS = "; figures are of "
_SEPARATOR = ", "
_PATTERNS = {"rand": "random", "": "sequential"}
_OPS = {"read": "reads", "write": "writes", "rw": "mixes", "readwrite": "mixes"}
_HELD = {
    "none": "to an erased drive",
    "footprint": "to a region that was written once",
    "full": "to a full drive",
}
_WORN_IN = "to a worn-in drive"


def kind_of(job: Mapping[str, Any], prefill: str | None) -> str | None:
    """Name the kind of a job: operations, their order, and of writes to what; None where it has none."""
    asked = str(job.get("rw") or job.get("readwrite") or "read").partition(":")[0]
    pattern = "rand" if asked.startswith("rand") else ""
    op = _OPS.get(asked.removeprefix("rand"))
    if op is None:
        return None
    kind = f"{_PATTERNS[pattern]} {op}"
    if op == "reads":
        return kind
    held = prefill or "footprint"
    is_all = job.get("size") in (None, "100%") and job.get("size_percent") in (None, 100)
    if held == "raw" or (held == "footprint" and is_all):
        held = "full"
    return f"{kind} {_HELD.get(held, _WORN_IN)}"


def with_kinds(verdict: str, kinds: Iterable[str]) -> str:
    """Write the kinds behind what a drive was validated on."""
    told = _SEPARATOR.join(sorted(set(kinds)))
    return f"{verdict}{_BEGINS}{told}" if told else verdict


def kinds_in(summary: str) -> tuple[str, ...]:
    """Read the kinds that a drive was validated on; none where nothing says it."""
    _, found, told = summary.partition(_BEGINS)
    return tuple(re.split(_SEPARATOR, told)) if found else ()


def notes_of(document: Mapping[str, Any]) -> list[str]:
    """Say of a result whose jobs are of a kind that no figure of its drive is of."""
    drive = document.get("config", {}).get("drive") or {}
    known = kinds_in((drive.get("sources") or {}).get("summary") or "")
    if not known:
        return []
    workload, prefill = document.get("workload") or {}, (document["config"].get("run") or {}).get("prefill")
    jobs: Sequence[Mapping[str, Any]] = workload.get("jobs") or [workload.get("job") or {}]
    kinds = [kind_of(job, prefill) for job in jobs if job]
    missing = list(dict.fromkeys(kind for kind in kinds if kind is not None and kind not in known))
    if not missing:
        return []
    return [
        f"no figure that this drive was validated on is of {' or '.join(missing)}: what comes of them here, "
        "write amplification too, was held against nothing"
    ]
