"""Under which conditions two results came about: what differs, and whether both met the same requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ninescope.result import Result

_DRIVE_NOT = ("sources", "summary")
"""Words about a drive, of which nothing depends."""
_RUN_NOT = ("seed", "set", "check")
_CUTS = ("requests", "duration", "warmup")
"""What of the way something was run says which of the workload's requests were measured."""
_WORKLOAD_NOT = ("path", "hash")
"""Two files may hold the same requests, and one hash stands for all of their statistics."""

_OF_TRACE = (
    "kind",
    "hash",
    "requests",
    "reads",
    "writes",
    "loop",
    "time_scale",
    "closed_loop",
    "addresses",
    "volumes",
    "host_cache",
    "zone_log",
    "stream",
)
_OF_PROFILE = ("kind", "path", "format", "requests", "loop", "time_scale", "closed_loop", "addresses")
_DRAWN = "profile"
"""The format of a trace that is drawn from a profile: another one with each seed."""


class Difference(NamedTuple):
    """A key with another value on either side; None: not there."""

    key: str
    a: str | None
    b: str | None


def differing(a: Result, b: Result) -> list[Difference]:
    """Return what differs between two runs, but for the seed: workload, drive, build, and how it was run."""
    pairs = (
        ("workload", _workload(a), _workload(b)),
        ("run", _run(a), _run(b)),
        ("", _drive(a), _drive(b)),
        ("", {"build": build(a)}, {"build": build(b)}),
    )
    return [difference for head, one, other in pairs for difference in _between(head, one, other)]


def same_workload(a: Result, b: Result) -> bool:
    """Say whether both ran the same trace or the same jobs, cut to the same length.

    What the drive held before, and whatever else is not the workload's, is no difference of workloads.
    """
    runs = ({key: _run(each).get(key) for key in _CUTS} for each in (a, b))
    return not [*_between("workload", _workload(a), _workload(b)), *_between("run", *runs)]


def same_requests(a: Result, b: Result) -> bool:
    """Say whether both met the same requests: those of a trace, or of a job with the same seed."""
    is_trace = _is_recorded(_words(a, "workload"))
    same_seed = a.document.get("seed") == b.document.get("seed")
    return same_workload(a, b) and (is_trace or same_seed)


def arrivals_are_given(result: Result) -> bool:
    """Say whether requests come at their own times (open loop), and not when earlier ones are done."""
    workload = _words(result, "workload")
    if workload.get("kind") == "trace":
        return not workload.get("closed_loop")
    traces = workload.get("traces") or []
    jobs = workload.get("jobs") or ([] if traces and not workload.get("job") else [workload.get("job") or {}])
    if any(trace.get("closed_loop") for trace in traces):
        return False
    return all(job.get("rate_iops") or job.get("rate") for job in jobs)


def build(result: Result) -> str:
    """Name the ninescope that made a result."""
    words = _words(result, "build")
    rest = " ".join(str(value) for key, value in words.items() if key != "version")
    return f"{result.document.get('ninescope', 'unknown')} {rest}".strip()


def _is_recorded(workload: Mapping[str, Any]) -> bool:
    """Say whether the requests are the same whatever the seed."""
    return bool(workload.get("hash")) and workload.get("format") != _DRAWN


def _words(result: Result, key: str) -> Mapping[str, Any]:
    return result.document.get(key) or {}


def _workload(result: Result) -> dict[str, Any]:
    workload = dict(_words(result, "workload"))
    if _is_recorded(workload):
        # What counts of a trace is which requests it holds, and how they are replayed.
        return {key: workload.get(key) for key in _OF_TRACE}
    if workload.get("format") == _DRAWN:
        return {key: workload.get(key) for key in _OF_PROFILE}
    return {key: value for key, value in workload.items() if key not in _WORKLOAD_NOT}


def _drive(result: Result) -> dict[str, Any]:
    drive: Mapping[str, Any] = _words(result, "config").get("drive") or {}
    return {key: value for key, value in drive.items() if key not in _DRIVE_NOT}


def _run(result: Result) -> dict[str, Any]:
    run: Mapping[str, Any] = _words(result, "config").get("run") or {}
    return {key: value for key, value in run.items() if key not in _RUN_NOT}


def _between(head: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    first, second = dict(_flat(head, one)), dict(_flat(head, other))
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            yield Difference(key, first.get(key), second.get(key))


def _flat(head: str, node: Any) -> Iterator[tuple[str, str]]:
    """Yield all values below a node with their dotted keys; what is None is not there."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _flat(f"{head}.{key}" if head else str(key), value)
    elif isinstance(node, list):
        texts = [text for item in node for _, text in _flat("", item)]
        yield head, ", ".join(texts)
    elif node is not None:
        yield head, str(node)
