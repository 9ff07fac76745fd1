"""The slowest requests, one by one: the way of each through the drive."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ninescope.result.stored import known_keys

if TYPE_CHECKING:
    pass
from ninescope.result.latency import DATA_OPS


@dataclasses.dataclass(frozen=True)
class DieAct:
    """A time in which a die did one thing."""

    from_ns: int
    until_ns: int
    occupancy: str
    """What it was occupied with, as in the causes: "erase", "host_read", "suspend_overhead"."""
    what: str
    """The same in words: "erase of block 17 (loops 1-2 of 3, suspended 1x)"."""
    command: str = ""
    blocks: tuple[int, ...] = ()
    suspensions: int = 0
    """How often the command had been suspended by then."""
    requests: tuple[int, ...] = ()
    """The requests it worked for, as far as they are known."""
    die: int | None = None
    """The die, where the stage is not about a single one."""
    own: bool = False
    """It worked for the request itself: in a queue, for another part of it."""

    @property
    def cause(self) -> str:
        """The cause that a request which waits for the die counts this time for."""
        return "own_parts" if self.own else f"die_{self.occupancy}"


@dataclasses.dataclass(frozen=True)
class Stage:
    """A time that a request spent in one place."""

    stage: str
    """A cause, or "die_queue" or "bank_queue" (split by what the die or bank did) or "link_wait"."""
    from_ns: int
    until_ns: int
    die: int | None = None
    behind_others: bool = False
    """Of a stall: other writes waited before it; `die_did` is what the dies did that those waited for."""
    die_did: tuple[DieAct, ...] = ()
    """What the die did meanwhile."""
    die_did_earlier_ns: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """What it did before that, in sum by occupancy, where it was too much to list."""


@dataclasses.dataclass(frozen=True)
class SlowRequest:
    """The way of one request from submission to completion."""

    id: int
    lba: int
    """The first sector [512 B]."""
    sectors: int
    submitted_ns: int
    completed_ns: int
    latency_ns: int
    parts_ns: Mapping[str, int]
    """Where the latency went, largest first; they sum to it."""
    stages: tuple[Stage, ...] = ()


@dataclasses.dataclass(frozen=True)
class Slowest:
    """The slowest requests, slowest first."""

    read: tuple[SlowRequest, ...] = ()
    write: tuple[SlowRequest, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, tuple[SlowRequest, ...]]]:
        """Go through the operations that occurred."""
        for op in DATA_OPS:
            requests: tuple[SlowRequest, ...] = getattr(self, op)
            if requests:
                yield op, requests


def slow_request_of(stored: Mapping[str, Any]) -> SlowRequest:
    """Read one of the slowest requests of a result."""
    request: SlowRequest = known_keys(SlowRequest, stored)
    return dataclasses.replace(request, stages=tuple(_stage(stage) for stage in stored.get("stages") or []))


def _stage(stored: Mapping[str, Any]) -> Stage:
    stage: Stage = known_keys(Stage, stored)
    return dataclasses.replace(stage, die_did=tuple(_die_act(act) for act in stored.get("die_did") or []))


def _die_act(stored: Mapping[str, Any]) -> DieAct:
    act: DieAct = known_keys(DieAct, stored)
    return dataclasses.replace(act, blocks=tuple(act.blocks), requests=tuple(act.requests))
