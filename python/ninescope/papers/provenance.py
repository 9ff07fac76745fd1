"""Where a measured number comes from: what an experiment keeps of each run beside its numbers.

An experiment puts `of_run(document)` into what `simulate` answers, under the key `provenance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ninescope.result.identity import of_run

__all__ = ["KEY", "Run", "of_run", "runs"]

KEY = "provenance"


class Run(NamedTuple):
    """One simulation."""

    name: str
    """The point, and where in its answer the run stands."""
    digest: str
    """What the device did."""
    workload: str
    """Hash of the requests, or of the words of a job and its seed."""
    config: str
    """Hash of the resolved configuration, its first 16 digits."""
    requests: int


def runs(results: Mapping[str, Any], before: str = "") -> Iterator[Run]:
    """List all runs in the answers of an experiment."""
    for key, node in results.items():
        if not isinstance(node, Mapping):
            continue
        if key == KEY:
            yield Run(before.rstrip("/"), **node)
        else:
            yield from runs(node, f"{before}{key}/")
