"""The slowest requests in words: what each waited for, stage by stage, and what its die did meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from ninescope.result import DieAct, Result, SlowRequest, Stage
from ninescope.text.causes import look
from ninescope.text.names import occupancy_name
from ninescope.text.units import binary, duration

STALLS = ("buffer_stall", "allocation_stall")
_TOLD = 10
"""So many requests of an operation are told in a terminal; the JSON has all."""
_DEEDS = 6
"""So many things that a die did are listed one by one; more of them are summed by kind."""
_DIES = 6
_REQUESTS = 4
"""So many dies, and requests that dies worked for, are named."""


@dataclasses.dataclass(frozen=True)
class Deed:
    """What a die did for one command, without a break."""

    from_ns: int
    until_ns: int
    act: DieAct
    """The longest of its acts."""

    @property
    def length_ns(self) -> int:
        """How long it took."""
        return self.until_ns - self.from_ns


def deeds(acts: Sequence[DieAct]) -> list[Deed]:
    """Join the acts of a die that follow one another and belong to one command and one occupancy."""
    joined: list[Deed] = []
    for act in acts:
        last = joined[-1] if joined else None
        if last is not None and _whose(last.act) == _whose(act):
            longest = max((last.act, act), key=lambda part: part.until_ns - part.from_ns)
            joined[-1] = Deed(last.from_ns, act.until_ns, longest)
        else:
            joined.append(Deed(act.from_ns, act.until_ns, act))
    return joined


def _whose(act: DieAct) -> tuple[object, ...]:
    return act.die, act.occupancy, act.own, act.command, act.blocks, act.requests, act.suspensions


def told(result: Result) -> Iterator[RenderableType]:
    """Yield the slowest requests of each operation, as far as they were asked for."""
    for op, requests in result.slowest:
        yield ""
        many = f"{len(requests)} slowest {op}s" if len(requests) > 1 else f"slowest {op}"
        yield Text(f"  The {many}, from submission to completion", "bold")
        for request in requests[:_TOLD]:
            yield _headline(request)
            # A write may wait for many dies in turn: that is told at once.
            for (name, _), stages in groupby(
                request.stages, lambda stage: (stage.stage, stage.behind_others)
            ):
                together = list(stages)
                if name in STALLS:
                    yield from _told(together, request.submitted_ns)
                else:
                    for stage in together:
                        yield from _told([stage], request.submitted_ns)
        if len(requests) > _TOLD:
            yield Text(f"  the other {len(requests) - _TOLD} are in the JSON, under slowest.{op}", "dim")


def _headline(request: SlowRequest) -> Text:
    return Text.assemble(
        "  ",
        (f"#{request.id}: {duration(request.latency_ns)}", "bold"),
        f", {binary(request.sectors * 512)} at sector {request.lba:,}, "
        f"submitted at {request.submitted_ns / 1e6:,.3f} ms",
    )


def _told(stages: Sequence[Stage], submitted_ns: int) -> Iterator[Text]:
    """Tell one stage, or stalls that follow one another."""
    first, last = stages[0], stages[-1]
    start = f"{duration(first.from_ns - submitted_ns):>10}"
    length = f"{duration(last.until_ns - first.from_ns):>10}"
    did = [deed for stage in stages for deed in deeds(stage.die_did)]
    earlier = any(stage.die_did_earlier_ns for stage in stages)
    words = _in_words(stages)
    if len(did) == 1 and not earlier:
        yield Text.assemble((start, "dim"), f"  {length}  {words}: {did[0].act.what}")
        return
    yield Text.assemble((start, "dim"), f"  {length}  {words}{', meanwhile:' if did or earlier else ''}")
    listed = len(did) <= _DEEDS and not earlier
    rows = [(deed.length_ns, deed.act.what) for deed in did] if listed else _summed(stages, did)
    for time, what in rows:
        yield Text(f"{'':24}{duration(time):>10}  {what}")


def _in_words(stages: Sequence[Stage]) -> str:
    stage = stages[0]
    label = look(stage.stage).label
    if stage.behind_others:
        return f"{label}, behind other writes that waited for room"
    dies = list(dict.fromkeys(die for stage in stages for die in _dies(stage)))
    if not dies:
        waits = {"link_wait": "waits for the host link", "bank_queue": "in the queue of its bank"}
        return waits.get(stage.stage, label)
    named = ", ".join(map(str, dies[:_DIES])) + (", ..." if len(dies) > _DIES else "")
    where = f"die{'' if len(dies) == 1 else 's'} {named}"
    if stage.stage in STALLS:
        own = " for its own pages" if any(stage.die is None for stage in stages) else ""
        return f"{label}, until {where} had room{own}"
    match stage.stage:
        case "die_queue":
            return f"in the queue of {where}"
        case "read_modify_write":
            return f"{label}: reads the rest from {where}"
    return f"{label}, {where}"


def _dies(stage: Stage) -> tuple[int, ...]:
    """Return the dies that a stage was about."""
    if stage.die is not None:
        return (stage.die,)
    return tuple(act.die for act in stage.die_did if act.die is not None)


def _summed(stages: Sequence[Stage], did: Sequence[Deed]) -> list[tuple[int, str]]:
    """Sum what dies did by kind, longest first."""
    sums: dict[str, int] = {}
    requests: dict[int, None] = {}
    for deed in did:
        name = "own_parts" if deed.act.own else deed.act.occupancy
        sums[name] = sums.get(name, 0) + deed.length_ns
        if name == "host_read":
            requests |= dict.fromkeys(deed.act.requests)
    for stage in stages:
        for occupancy, time in stage.die_did_earlier_ns.items():
            sums[occupancy] = sums.get(occupancy, 0) + time
    rows = sorted(sums.items(), key=lambda row: (-row[1], row[0]))
    return [
        (time, occupancy_name(name) + (_of(list(requests)) if name == "host_read" else ""))
        for name, time in rows
    ]


def _of(requests: Sequence[int]) -> str:
    named = ", ".join(f"#{request}" for request in requests[:_REQUESTS])
    more = ", ..." if len(requests) > _REQUESTS else ""
    return f" of request{'' if len(requests) == 1 else 's'} {named}{more}" if requests else ""
