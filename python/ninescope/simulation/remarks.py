"""What a reader must know of a workload: lines of a trace skipped, times mended, words that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope.common.numbers import counted
from ninescope.toml import loads

_WITHOUT_WRITES = ("read", "trim", "randread", "randtrim")
_OF_ONE_DIRECTION = ("read", "write", "trim", "randread", "randwrite", "randtrim")


def job_remarks(job: Mapping[str, Any], *, option: str = "") -> Iterator[str]:
    """Say which words of a job say nothing beside its others; `option` is what stands before words: `--`."""

    def told(word: str) -> str:
        return f"--{word.replace('_', '-')}" if option else f"`{word}`"

    rw = str(job.get("rw") or job.get("readwrite") or "read")
    of = f"{told('rw')} {rw}"
    if rw in _OF_ONE_DIRECTION and job.get("rwmixread") is not None:
        yield f"{told('rwmixread')} says nothing of {of}, which is of one direction"
    if rw in _WITHOUT_WRITES and job.get("fua"):
        yield f"{told('fua')} says nothing of {of}, which writes nothing"
    if not rw.startswith("rand") and job.get("random_distribution") is not None:
        yield f"{told('random_distribution')} says nothing of {of}, whose addresses follow each other"
    paced = any(job.get(word) for word in ("rate_iops", "write_rate_iops", "rate", "write_rate"))
    if job.get("rate_process") is not None and not paced:
        yield f"{told('rate_process')} says nothing without {told('rate_iops')}: the job is a closed loop"


def jobs_remarks(jobs: Mapping[str, Any] | Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Say the same of a job, or of several, which are called `name` where they stand."""
    if isinstance(jobs, Mapping):
        yield from job_remarks(jobs)
        return
    for index, job in enumerate(jobs):
        yield from (f"{name}[{index}]: {remark}" for remark in job_remarks(job))


def replay_remarks(words: Mapping[str, Any]) -> Iterator[str]:
    """Say which words of the replay of a trace say nothing beside its others."""
    if words.get("iodepth") is not None and not (
        words.get("closed_loop") or words.get("host_cache") or words.get("zone_log")
    ):
        yield "`iodepth` says nothing without `closed_loop`: requests arrive as in the trace"


def file_remarks(path: str) -> Iterator[str]:
    """Say the same of the jobs of a TOML file; those of a job file of fio are in the notes of its result."""
    if not path.endswith(".toml"):
        return
    document = loads(Path(path).read_text(encoding="utf-8-sig"))
    several = document.get("jobs")
    if "traces" in document:
        several = several or []
        for index, trace in enumerate(document["traces"]):
            yield from (f"traces[{index}]: {remark}" for remark in replay_remarks(trace))
    yield from jobs_remarks(several if isinstance(several, list) else document.get("job", document), "jobs")


def trace_remarks(trace: Mapping[str, Any]) -> Iterator[str]:
    """Say what a trace reader assumed, and what it had to skip or mend."""
    yield from trace.get("remarks") or ()
    discards = trace.get("skipped_discards") or 0
    if discards:
        were, them = ("was", "it") if discards == 1 else ("were", "them")
        yield f"{counted(discards, 'discard')} {were} left out (--trims takes {them})"
    skipped = (trace.get("skipped_lines") or 0) - discards
    if skipped:
        first = trace.get("first_skipped") or {}
        where = f"; the first broken one is {broken_line(first)}" if first else ""
        were = "was" if skipped == 1 else "were"
        yield f"{counted(skipped, 'line')} of the trace gave no request and {were} skipped{where}"
    for key, words in (
        ("reordered", "out of order in time and put right"),
        ("clamped", "far out of order and given the time of the one before"),
        ("unaligned", "not aligned to sectors and widened"),
    ):
        if trace.get(key):
            yield f"{trace[key]:,} {'request was' if trace[key] == 1 else 'requests were'} {words}"


def broken_line(first: Mapping[str, Any]) -> str:
    """Tell the first broken line of a trace by its number; the names of columns are told as such."""
    if is_header(first.get("text", "")):
        return f"number {first['line']}, which looks like a header: {first['text']}"
    return f"number {first['line']}: {first['reason']}"


def is_header(line: str) -> bool:
    """Say whether a line of a trace names columns: words alone, and one of them what every trace has."""
    words = [word.strip().strip("\"'").lower() for word in re.split(r"[,;\t]", line)]
    named = any(name in word for word in words for name in ("time", "offset", "size", "lba", "address"))
    return len(words) > 1 and named and all(re.match(r"[a-z_]", word) for word in words)
