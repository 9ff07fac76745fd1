"""The picture of the slowest requests: a row for each, a bar for each thing it waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ninescope.figures.latency import OP_COLOURS
from ninescope.pictures.style import INK, new_figure, plain, say_empty, tick
from ninescope.result import Result, SlowRequest, Stage
from ninescope.text.causes import look, stacking_order
from ninescope.text.contrast import readable_on
from ninescope.text.names import drive_name, occupancy_name, workload_name
from ninescope.text.slowest import STALLS, Deed, deeds
from ninescope.text.units import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ninescope.pictures.style import Figure

ROWS = 15
"""So many requests of an operation fit a figure."""
_ROW_INCHES = 0.42
_CHARACTER_SHARE = 0.0082
"""The width of a small letter, as a share of the axes."""
_EDGED_SHARE = 0.006
"""A bar of a smaller share of the axes has no edge: nothing would be left of it."""


class _Bar(NamedTuple):
    """A piece of a row: from and to [ns] since the drive took the request in."""

    begin: float
    end: float
    cause: str
    text: str = ""
    low: bool = False
    """It lies under another one: what the die did during a stage that has a cause of its own."""


def draw(result: Result) -> Figure:
    """Draw the slowest requests of each operation."""
    panels = [(op, requests[:ROWS]) for op, requests in result.slowest]
    rows = sum(len(requests) for _, requests in panels)
    figure = new_figure(
        result,
        f"The slowest requests: {workload_name(result)} on {drive_name(result)}",
        12.0,
        1.5 + 0.8 * max(1, len(panels)) + _ROW_INCHES * max(3, rows),
    )
    if not panels:
        say_empty(
            figure, "the slowest requests were not explained: run with explain_slowest (--explain-slowest K)"
        )
        return figure
    axes = figure.subplots(
        len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": [len(part) + 1 for _, part in panels]}
    )
    causes: set[str] = set()
    for row, (op, requests) in enumerate(panels):
        bars = [list(_bars(request)) for request in requests]
        causes |= {bar.cause for request in bars for bar in request}
        _panel(axes[row][0], op, requests, bars, len(getattr(result.slowest, op)))
    order = stacking_order(causes)
    figure.legend(
        [Patch(facecolor=look(cause).colour, edgecolor="#999999", linewidth=0.4) for cause in order],
        [look(cause).label for cause in order],
        loc="outside right upper",
        frameon=False,
        fontsize=8.5,
    )
    return figure


def _bars(request: SlowRequest) -> Iterator[_Bar]:
    """Cut a request into bars. The host queue is not drawn: beside it nothing could be seen."""
    zero = request.submitted_ns + request.parts_ns.get("host_queue", 0)
    for stage in request.stages:
        if stage.stage == "host_queue":
            continue
        begin, end = float(stage.from_ns - zero), float(stage.until_ns - zero)
        did = deeds(stage.die_did)
        low = stage.stage not in ("die_queue", "bank_queue")
        if low:
            cause = "link" if stage.stage == "link_wait" else stage.stage
            yield _Bar(begin, end, cause, _stage_text(stage))
            if len(did) < 2 and stage.stage == "command_array":
                continue
        at = begin
        for occupancy, time in stage.die_did_earlier_ns.items():
            cause = occupancy if occupancy == "own_parts" else f"die_{occupancy}"
            yield _Bar(at, at + time, cause, f"{occupancy_name(occupancy)}, in sum", low)
            at += time
        for deed in did:
            yield _Bar(deed.from_ns - zero, deed.until_ns - zero, deed.act.cause, _short(deed), low)


def _short(deed: Deed) -> str:
    act = deed.act
    if act.occupancy in (
        "idle",
        "suspend_overhead",
        "waiting_for_channel",
        "waiting_for_power",
        "throttled_by_heat",
    ):
        return ""
    if act.own:
        return "own part"
    if act.requests and act.occupancy == "host_read":
        return f"read #{act.requests[0]}"
    loops = act.what.partition("(")[2].partition(",")[0].rstrip(")") if act.occupancy == "erase" else ""
    return " ".join([act.command, *map(str, act.blocks[:1]), *([f"({loops})"] if loops else [])])


def _stage_text(stage: Stage) -> str:
    if stage.behind_others:
        return f"{look(stage.stage).label}, behind other writes"
    if stage.stage in STALLS and stage.die is None:
        return f"{look(stage.stage).label}, behind its own pages"
    return look(stage.stage).label + ("" if stage.die is None else f", die {stage.die}")


def _panel(
    axes: Axes, op: str, requests: Sequence[SlowRequest], bars: Sequence[Sequence[_Bar]], count: int
) -> None:
    end = max(bar.end for row in bars for bar in row) if any(bars) else 1.0
    for row, (request, pieces) in enumerate(zip(requests, bars, strict=True)):
        for bar in pieces:
            _draw(axes, row, bar, end, any(piece.low for piece in pieces))
        last = max((bar.end for bar in pieces), default=0.0)
        waited = request.parts_ns.get("host_queue", 0)
        words = duration(request.latency_ns)
        if waited:
            words += f", of it {duration(waited)} in the host queue"
        axes.annotate(
            words,
            (last, row),
            textcoords="offset points",
            xytext=(5, 0),
            va="center",
            fontsize=7.5,
            color=INK,
        )
    axes.set_yticks(range(len(requests)), [_name(request) for request in requests], fontsize=8)
    axes.set_ylim(len(requests) - 0.4, -0.6)
    axes.set_xlim(0, end * (1.3 if any("host_queue" in request.parts_ns for request in requests) else 1.12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value) if value else "0"))
    axes.xaxis.set_major_locator(MaxNLocator(8))
    axes.set_xlabel("time since the drive took the request in", fontsize=8.5, color=INK)
    shown = f"the {len(requests)} slowest of {count} explained" if count > len(requests) else ""
    axes.set_title(f"{op}s  {shown}", loc="left", fontsize=11, color=OP_COLOURS[op])
    plain(axes)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.6)


def _name(request: SlowRequest) -> str:
    dies = {stage.die for stage in request.stages if stage.die is not None}
    return f"#{request.id}" + (f"  die {dies.pop()}" if len(dies) == 1 else "")


def _draw(axes: Axes, row: int, bar: _Bar, end: float, shared: bool) -> None:
    """Draw a bar; where what the die did has a row of its own, it takes the lower part."""
    look_of: Any = look(bar.cause)
    top, height = (row + 0.08, 0.28) if bar.low else (row - 0.36, 0.42 if shared else 0.72)
    axes.broken_barh(
        [(bar.begin, bar.end - bar.begin)],
        (top, height),
        facecolors=look_of.colour,
        edgecolor="white",
        linewidth=0.4 if (bar.end - bar.begin) / end > _EDGED_SHARE else 0,
    )
    size = 5.5 if bar.low else 6.5
    if bar.text and (bar.end - bar.begin) / end > (len(bar.text) + 1) * _CHARACTER_SHARE * size / 6.5:
        axes.text(
            (bar.begin + bar.end) / 2,
            top + height / 2,
            bar.text,
            ha="center",
            va="center",
            fontsize=size,
            color=readable_on(look_of.colour, dark=INK),
        )
