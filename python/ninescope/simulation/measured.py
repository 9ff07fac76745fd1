"""What two runs of the same measured, key by key: all figures but those that depend on where it was run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_ELSEWHERE = ("build", "ninescope", "fio version", "performance", "notes")
"""Of the build and the machine; and of what else was looked at, which notes tell."""
_OF_RUN = ("config.run.check", "config.run.set", "workload.path")
"""How it was asked for: the drive of a bundle has its `--set` within, and its files lie elsewhere."""
_OF_FILE = (
    "clamped",
    "columns",
    "devices",
    "distinct_times",
    "first_skipped",
    "format",
    "reordered",
    "skipped_discards",
    "skipped_lines",
    "time_resolution_ns",
    "unaligned",
    "volumes",
)
"""Words of a trace's file, of which another may hold the same requests; their hash says whether it does."""


class Absent:
    """The value of a key that is not there."""


class Differing(NamedTuple):
    """A key with another value on either side."""

    key: str
    was: Any
    now: Any


def differing(was: Mapping[str, Any], now: Mapping[str, Any], *, other_file: bool) -> Iterator[Differing]:
    """Yield the keys in which two documents of results differ, in their order.

    Equal input gives equal figures on every machine, to the last digit. `other_file`: the trace may have come
    from another file with the same requests.
    """
    left_out = {*_ELSEWHERE, *_OF_RUN}
    if other_file:
        left_out |= {f"workload.{key}" for key in _OF_FILE}
    # Through JSON, as the other one came: there a key is a text, and a tuple a list.
    return _between("", was, json.loads(json.dumps(now)), left_out)


def _between(key: str, was: Any, now: Any, left_out: set[str]) -> Iterator[Differing]:
    if key in left_out:
        return
    head = f"{key}." if key else ""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for name in sorted({*was, *now}):
            yield from _between(f"{head}{name}", was.get(name, Absent), now.get(name, Absent), left_out)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, pair in enumerate(zip(was, now, strict=True)):
            yield from _between(f"{head}{index}", *pair, left_out)
    elif was != now or isinstance(was, bool) != isinstance(now, bool):
        yield Differing(key, was, now)
