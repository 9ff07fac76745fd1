"""The wait in the host, in words: who held the slots, what was busiest, whether the drive kept up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.result import Result
from ninescope.result.host_queue import HostQueue, Resource
from ninescope.text.causes import look
from ninescope.text.units import duration

SATURATED = 0.95
"""A resource that is busy for this share of the time is called saturated."""
_SHOWN_SHARE = 0.05
_SHOWN = 4


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield lines on what filled the queue, and on what was busiest; nothing where few requests waited.

    Requests that fall behind may wait within the drive alone.
    """
    queue = result.host_queue
    if queue is None or not (queue.matters or queue.overload or queue.undecided):
        return
    held = [
        f"{op} {look(cause).label} {share:.0%}"
        for (op, cause), share in queue.held_by().items()
        if share >= _SHOWN_SHARE
    ]
    if held:
        commands = sum(holder.commands for holder in queue.holders.values())
        gave = f"{commands:,} commands gave theirs to one that waited"
        yield "queue full", f"its slots were held by {', '.join(held[:_SHOWN])} ({gave})"
    yield from _busiest(queue, result)
    for left in queue.undecided:
        whose = "" if left.job is None else f"job {left.job}: "
        yield (
            "kept up",
            f"{whose}cannot be told: completions went on for {duration(left.drain_ns)} after "
            f"{duration(left.arrivals_ns)} of arrivals; a longer run may tell",
        )
    if queue.kept_up:
        yield "kept up", "yes: requests waited in bursts, which were worked off"


def _busiest(queue: HostQueue, result: Result) -> Iterator[tuple[str, str]]:
    # What was busy before requests fell behind says nothing of why they did.
    longest = min(queue.overload, key=lambda overload: overload.since_ns, default=None)
    fell_behind = longest is not None and bool(longest.resources)
    resources = longest.resources if longest is not None and fell_behind else queue.resources
    when = "while requests fell behind" if fell_behind else "over the whole run"
    saturated = [resource for resource in resources if resource.busy >= SATURATED]
    if saturated:
        during = f" {when}" if fell_behind else ""
        yield "saturated", ", ".join(map(_resource, saturated)) + during
    elif resources:
        said = f"{_resource(resources[0])}: nothing was saturated {when}"
        drive: Mapping[str, Any] = (result.document.get("config") or {}).get("drive") or {}
        depth = (drive.get("controller") or {}).get("queue_depth")
        if depth is not None and fell_behind:
            said += f", so that controller.queue_depth = {depth} or the spread over dies limits"
        yield "busiest", said


def _resource(resource: Resource) -> str:
    of_all = f", {resource.count} of them {resource.mean:.1%} on average" if resource.count > 1 else ""
    full = "full" if resource.kind == "write buffer" else "busy"
    return f"{resource.name} ({resource.busy:.1%} {full}{of_all})"
