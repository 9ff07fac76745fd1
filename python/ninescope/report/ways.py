"""The ways of single requests and what the dies did meanwhile, as lanes over time.

The way of a request is told by its stages, and the dies it waited for by what they did (`--explain-slowest`).
Where a timeline was recorded at that time (`--trace-window`), whole dies and channels are shown beside it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ninescope.report.document import GanttBlock, Lane, Part, Span, View
from ninescope.result import Result, SlowRequest, Stage
from ninescope.text.causes import LOOKS, look
from ninescope.text.names import occupancy_name, plural
from ninescope.text.slowest import deeds
from ninescope.text.units import binary, duration

SHOWN = 20
"""So many requests of an operation have a view."""
MOST_SLICES = 60_000
"""So many bars of a window are shown; what comes later in it is left out."""
_AROUND = 0.25
"""So much of a request's latency is shown before and after it, where a timeline tells of it."""
_TOP_CAUSES = 3
_ITSELF = "for the request itself"
_TRANSFER = "transfer on the channel"
_IN_QUEUE = "in a queue: see the die"
_QUEUES = ("die_queue", "bank_queue")
_SUMMED = "dies before that, in sum"
_DIE = re.compile(r"die (\d+)")
_IN_BRACKETS = re.compile(r"\(([^()]+)\)$")
_COLOURS: Mapping[str, str] = {
    _ITSELF: look("command_array").colour,
    _TRANSFER: look("transfer").colour,
    _IN_QUEUE: "#b9b4a8",
    **{shown.label: shown.colour for shown in LOOKS.values()},
    **{
        occupancy_name(cause.removeprefix("die_")): shown.colour
        for cause, shown in LOOKS.items()
        if cause.startswith("die_")
    },
}

LaneId = tuple[int, int]


class Slice(NamedTuple):
    """A bar of a recorded timeline: its lane, what it shows, and the requests that it worked for."""

    lane: LaneId
    span: Span
    requests: tuple[int, ...]


class Timeline:
    """What dies and channels did in a window, out of Chrome's trace events."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        window = document["otherData"]
        self.from_ns, self.until_ns = int(window["window_from_ns"]), int(window["window_until_ns"])
        self.names: dict[LaneId, str] = {}
        self.slices: list[Slice] = []
        channels: dict[int, str] = {}
        for event in document["traceEvents"]:
            lane = (int(event["pid"]), int(event["tid"]))
            if event["ph"] == "M" and event["name"] == "process_name":
                channels[lane[0]] = str(event["args"]["name"])
            elif event["ph"] == "M" and event["name"] == "thread_name":
                name = str(event["args"]["name"])
                self.names[lane] = channels[lane[0]] if name == "transfers" else name
            elif event["ph"] == "X":
                self.slices.append(_slice(lane, event))
        self.slices.sort(key=lambda each: each.span.from_ns)

    @classmethod
    def of(cls, result: Result) -> Timeline | None:
        """Return the timeline of a result; None where none was recorded."""
        return None if result.timeline is None else cls(result.timeline)

    def covers(self, request: SlowRequest) -> bool:
        """Say whether all of a request lies in the window."""
        return self.from_ns <= request.submitted_ns and request.completed_ns <= self.until_ns

    def about(self, dies: set[int]) -> list[LaneId]:
        """Return the lanes of dies, and of their channels."""
        found = [
            lane
            for lane, name in self.names.items()
            if (is_die := _DIE.match(name)) and int(is_die.group(1)) in dies
        ]
        channels = {lane[0] for lane in found}
        transfers = [
            lane for lane, name in self.names.items() if lane[0] in channels and not _DIE.match(name)
        ]
        return [*found, *transfers]

    def shown(
        self, lanes: Sequence[LaneId], from_ns: int, until_ns: int, whose: int | None = None
    ) -> list[Lane]:
        """Return lanes with what reaches into a stretch of time; what worked for a request is marked."""
        spans: dict[LaneId, list[Span]] = {lane: [] for lane in lanes}
        for lane, span, requests in self.slices:
            if lane in spans and span.until_ns > from_ns and span.from_ns < until_ns:
                own = whose in requests and not span.low
                spans[lane].append(dataclasses.replace(span, part=_ITSELF) if own else span)
        return [Lane(self.names[lane], found) for lane, found in spans.items()]

    def whole(self) -> View:
        """Return a view of every die and every channel, as far as they can be drawn."""
        kept = self.slices[:MOST_SLICES]
        until = self.until_ns if kept == self.slices else self.slices[MOST_SLICES].span.from_ns
        words = f"{self.from_ns / 1e6:,.3f} ms to {until / 1e6:,.3f} ms of simulated time"
        if until < self.until_ns:
            words += f"; what follows up to {self.until_ns / 1e6:,.3f} ms is in timeline.json"
        lanes = self.shown(list(self.names), self.from_ns, until)
        return View("all dies and channels", words, self.from_ns, until, self.from_ns, lanes)


def _slice(lane: LaneId, event: Mapping[str, Any]) -> Slice:
    begin = round(float(event["ts"]) * 1e3)
    until = begin + round(float(event["dur"]) * 1e3)
    arguments: Mapping[str, Any] = event.get("args") or {}
    part = _TRANSFER if event.get("cat") == "channel" else str(arguments.get("command") or "other")
    words, low = str(event["name"]), event.get("cat") == "die"
    if low and words.startswith(part) and (phase := _IN_BRACKETS.search(words)):
        words = phase[1]  # the bar above it has the name of the command
    span = Span(begin, until, part, words, low=low)
    return Slice(lane, span, tuple(arguments.get("requests") or ()))


def gantt_of_requests(result: Result, timeline: Timeline | None, name: str) -> GanttBlock | None:
    """Return the ways of the slowest requests; None where none were told."""
    views = [_view(op, request, timeline) for op, requests in result.slowest for request in requests[:SHOWN]]
    if not views:
        return None
    cut = [
        f"the {SHOWN} slowest of {len(requests)} {plural(op)}"
        for op, requests in result.slowest
        if len(requests) > SHOWN
    ]
    remarks = [
        "The uppermost lane is the way of the request, stage by stage; the lanes below are the dies it "
        "waited for and what they did.",
        *([f"Shown are {' and '.join(cut)}; `result.json` has all."] if cut else []),
    ]
    return GanttBlock(name, "The slowest requests, and their dies", views, parts_of(views), " ".join(remarks))


def gantt_of_window(timeline: Timeline, name: str) -> GanttBlock | None:
    """Return the whole timeline; None where nothing happened in it."""
    view = timeline.whole()
    if not any(lane.spans for lane in view.lanes):
        return None
    note = (
        "Commands have the upper part of a lane, their phases the lower one. The same is in `timeline.json`, "
        "which https://ui.perfetto.dev opens, with the requests that were under way."
    )
    return GanttBlock(name, "Every die and every channel in the window", [view], parts_of([view]), note)


def window_around(request: SlowRequest) -> str:
    """Return the value of `--trace-window` that tells all of a request, and what came before it."""
    margin = max(1_000_000, request.latency_ns // 4)
    begin = max(0, request.submitted_ns - margin) // 1000
    until = -(-(request.completed_ns + margin) // 1000)
    return f"{begin}us..{until}us"


def parts_of(views: Sequence[View]) -> list[Part]:
    """Return the parts of views, in the order in which they are met."""
    names = dict.fromkeys(span.part for view in views for lane in view.lanes for span in lane.spans)
    return [Part(name, _COLOURS.get(name, "#444444")) for name in names]


def _view(op: str, request: SlowRequest, timeline: Timeline | None) -> View:
    causes = ", ".join(
        f"{look(cause).label} {time / request.latency_ns:.0%}"
        for cause, time in list(request.parts_ns.items())[:_TOP_CAUSES]
        if time
    )
    words = (
        f"{duration(request.latency_ns)}, {binary(request.sectors * 512)} at sector {request.lba:,}, "
        f"submitted at {request.submitted_ns / 1e6:,.3f} ms: {causes}"
    )
    way = Lane(f"request #{request.id}", [_of_stage(stage) for stage in request.stages])
    begin, until = request.submitted_ns, request.completed_ns
    if timeline is not None and timeline.covers(request):
        around = round(_AROUND * request.latency_ns)
        begin, until = max(timeline.from_ns, begin - around), min(timeline.until_ns, until + around)
        lanes = timeline.shown(timeline.about(_dies(request)), begin, until, request.id)
    else:
        lanes = list(_told(request.stages))
    return View(f"{op} #{request.id}", words, begin, until, request.submitted_ns, [way, *lanes])


def _of_stage(stage: Stage) -> Span:
    where = "" if stage.die is None else f", die {stage.die}"
    if stage.stage in _QUEUES:
        what = "in the queue of its bank" if stage.stage == "bank_queue" else f"in the queue{where}"
        return Span(stage.from_ns, stage.until_ns, _IN_QUEUE, what)
    label = look("link" if stage.stage == "link_wait" else stage.stage).label
    what = f"waits for the {label}" if stage.stage == "link_wait" else f"{label}{where}"
    if stage.behind_others:
        what += ", behind other writes that waited for room"
    return Span(stage.from_ns, stage.until_ns, label, what)


def _dies(request: SlowRequest) -> set[int]:
    named = {stage.die for stage in request.stages}
    named |= {act.die for stage in request.stages for act in stage.die_did}
    return {die for die in named if die is not None}


def _told(stages: Sequence[Stage]) -> Iterator[Lane]:
    """Yield the dies as far as the request itself tells of them, in the order in which it waited."""
    lanes: dict[str, list[Span]] = {}
    for stage in stages:
        own = "" if stage.die is None else f"die {stage.die}"
        at = stage.from_ns
        for occupancy, time in stage.die_did_earlier_ns.items():
            part = look("own_parts").label if occupancy == "own_parts" else occupancy_name(occupancy)
            span = Span(at, at + time, part, f"{part}, in sum, in whatever order")
            lanes.setdefault(own or _SUMMED, []).append(span)
            at += time
        for deed in deeds(stage.die_did):
            act = deed.act
            part = look("own_parts").label if act.own else occupancy_name(act.occupancy)
            name = own if act.die is None else f"die {act.die}"
            lanes.setdefault(name or "a die", []).append(Span(deed.from_ns, deed.until_ns, part, act.what))
    for name, spans in lanes.items():
        yield Lane(name, spans)
