"""What a reader must know of how a trace was read: lines skipped, times and addresses mended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any


def trace_remarks(trace: Mapping[str, Any]) -> Iterator[str]:
    """Say what a trace reader had to skip or mend."""
    skipped = trace.get("skipped_lines")
    if skipped:
        first = trace.get("first_skipped") or {}
        where = f"; the first broken one is {broken_line(first)}" if first else ""
        were = "was" if skipped == 1 else "were"
        yield f"{_lines(skipped)} of the trace gave no request and {were} skipped{where}"
    for key, words in (
        ("reordered", "requests were out of order in time and put right"),
        ("clamped", "requests were far out of order; their time was raised to that of the one before"),
        ("unaligned", "requests were not aligned to sectors and were widened"),
    ):
        if trace.get(key):
            yield f"{trace[key]:,} {words}"


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


def _lines(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"
